//! The parameters that are the boundaries of `bucketize`, whose result is unspecified unless they ascend.

use super::known::KnownArgument;
use crate::grammar::visit::{Visitor, walk_call};
use crate::grammar::{Call, Expr, Function, Var, VarKind};
use crate::value::ValueSpec;

/// OPS.bucketize.value: sorts the arguments that a function takes as boundaries.
pub(super) fn with_ascending_boundaries(func: &Function, args: &mut [ValueSpec]) -> Option<()> {
    let mut found = Boundaries::default();
    found.visit_expr(&func.body);
    let ascending = KnownArgument { sorted: true, ..KnownArgument::default() };
    let params = func.params.iter().map(|param| &param.var).zip(args);
    params.filter(|(param, _)| found.0.contains(param)).try_for_each(|(_, arg)| ascending.mend(arg, None))
}

#[derive(Default)]
struct Boundaries(Vec<Var>);

impl Visitor for Boundaries {
    fn visit_call(&mut self, call: &Call) {
        if let (Expr::Op(op), [_, boundaries]) = (&call.op, call.args.as_slice())
            && *op.op_name == *"relax.bucketize"
        {
            let mut used = Used::default();
            used.visit_expr(boundaries);
            self.0.append(&mut used.0);
        }
        walk_call(self, call);
    }
}

/// The variables in an expression.
#[derive(Default)]
struct Used(Vec<Var>);

impl Visitor for Used {
    fn visit_var(&mut self, var: &Var, _kind: VarKind) {
        self.0.push(var.clone());
    }
}
