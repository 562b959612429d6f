//! The parameters that flow into the small constants of a function: an epsilon in the middle of a program matters only
//! if everything before it is small, and nothing after it is.

use super::constants::Constants;
use crate::grammar::visit::{Visitor, walk_call};
use crate::grammar::{Call, Expr, Function, Var, VarKind};

/// The maximum number of constants.
const MAX_CONSTANTS: usize = 64;

/// The parameters that are used before each small constant, in the order of the text.
struct Upstream<'a> {
    constants: &'a Constants,
    params: Vec<&'a Var>,
    used: Vec<bool>,
    before: Vec<Vec<bool>>,
}

/// Whether each parameter flows into the small constant with this number, as far as the order of the text shows; `None`
/// if there is at most one such constant.
pub(super) fn upstream(func: &Function, constants: &Constants, number: usize) -> Option<Vec<bool>> {
    let params: Vec<&Var> = func.params.iter().map(|param| &param.var).collect();
    let used = vec![false; params.len()];
    let mut found = Upstream { constants, params, used, before: Vec::new() };
    found.visit_expr(&func.body);
    let before = found.before;
    if before.len() > 1 { before.get(number % before.len()).cloned() } else { None }
}

impl Upstream<'_> {
    fn use_of(&mut self, var: &Var) {
        for (used, param) in self.used.iter_mut().zip(&self.params) {
            *used |= *param == var;
        }
    }
}

impl Visitor for Upstream<'_> {
    fn visit_call(&mut self, call: &Call) {
        if self.before.len() < MAX_CONSTANTS && self.constants.is_small_in(call) {
            // The other operand of an addition of the constant comes first among the arguments.
            let own = self.used.clone();
            if let Some(Expr::Var(var)) = call.args.first() {
                self.use_of(var);
            }
            let before = std::mem::replace(&mut self.used, own);
            if before.contains(&true) && self.before.last() != Some(&before) {
                self.before.push(before);
            }
        }
        walk_call(self, call);
    }

    fn visit_var(&mut self, var: &Var, _kind: VarKind) {
        self.use_of(var);
    }
}
