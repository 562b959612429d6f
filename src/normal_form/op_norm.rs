//! Rules for the form of operator calls (NF.5.OPNORM), from edition 2023-12 on: the inputs of `call_tir` and similar
//! operators are written as a tuple, not as a variable that holds one.

use rustc_hash::FxHashMap;

use crate::book::Erratum;
use crate::grammar::{Binder, Binding, Call, Expr, StructInfo, Var};
use crate::judge::Cx;

/// The operators whose second argument is the tuple of inputs.
const WITH_INPUTS: &[&str] = &[CALL_TIR, "relax.call_tir_inplace", "relax.call_dps_packed"];

const CALL_TIR: &str = "relax.call_tir";

/// The variables that the program text shows to hold tuples. For each it has the number of fields, and the fields
/// themselves if the variable is bound to a tuple expression.
#[derive(Default)]
pub(super) struct Tuples {
    /// Whether such rules apply.
    in_force: bool,
    known: FxHashMap<Var, KnownTuple>,
}

struct KnownTuple {
    fields: usize,
    literal: Option<Vec<Expr>>,
}

impl Tuples {
    pub(super) fn of(cx: &Cx) -> Tuples {
        Tuples { in_force: cx.has(rule!("NF.5.OPNORM")), known: FxHashMap::default() }
    }

    /// The knowledge of a normalizer. Errata: N16. Read literally, it has none, since the number of fields is part of
    /// structural information, which is derived from normal programs only.
    pub(super) fn for_normalizer(cx: &Cx) -> Tuples {
        let known = Tuples::of(cx);
        Tuples { in_force: known.in_force && !cx.literal(Erratum::N16), ..known }
    }

    /// Adds a variable with its annotation and its value.
    pub(super) fn enter(&mut self, binder: &Binder, value: Option<&Expr>) {
        if !self.in_force {
            return;
        }
        let literal = value.and_then(Expr::as_tuple).map(|tuple| tuple.fields.clone());
        let annotated = binder.annotation.as_ref().and_then(number_of_fields);
        if let Some(fields) = literal.as_ref().map(Vec::len).or(annotated) {
            self.known.insert(binder.var.clone(), KnownTuple { fields, literal });
        }
    }

    pub(super) fn enter_binding(&mut self, binding: &Binding) {
        self.enter_normal(binding, binding);
    }

    /// Adds a binding, given in its source form and in normal form, in which the fields are leaves.
    pub(super) fn enter_normal(&mut self, source: &Binding, normal: &Binding) {
        match (source, normal) {
            (_, _) if !self.in_force => {}
            (Binding::VarBinding(binding), normal) => self.enter(&binding.var, Some(normal.value())),
            (Binding::MatchCast(cast), _) => {
                let Some(binder) = &cast.var else { return };
                self.enter(binder, None);
                if let Some(fields) = number_of_fields(&cast.struct_info) {
                    self.known.entry(binder.var.clone()).or_insert(KnownTuple { fields, literal: None });
                }
            }
        }
    }

    /// The variable that a call uses for the tuple of its inputs, if it is known to hold one.
    ///
    /// Errata: N60. Read literally, only `call_tir` has this rule.
    pub(super) fn inputs_elsewhere(&self, cx: &Cx, call: &Call) -> Option<Var> {
        let op = call.op.as_op()?;
        let Some(Expr::Var(var) | Expr::DataflowVar(var)) = call.args.get(1) else { return None };
        let has_inputs = WITH_INPUTS.contains(&&*op.op_name) && self.known.contains_key(var);
        (has_inputs && (&*op.op_name == CALL_TIR || !cx.literal(Erratum::N60))).then(|| var.clone())
    }

    pub(super) fn fields_of(&self, var: &Var) -> usize {
        self.known.get(var).map_or(0, |known| known.fields)
    }

    /// The fields of the tuple that the variable is bound to.
    pub(super) fn literal_of(&self, var: &Var) -> Option<Vec<Expr>> {
        self.known.get(var).and_then(|known| known.literal.clone())
    }
}

fn number_of_fields(info: &StructInfo) -> Option<usize> {
    info.as_tuple().map(|fields| fields.len())
}
