//! The rules by which operators have their calls written (NF.5.OPNORM), from the edition 2023-12 on: `call_tir` and its like want
//! their inputs as a tuple, not as a variable that holds one.

use rustc_hash::FxHashMap;

use crate::book::Erratum;
use crate::grammar::{Binder, Binding, Call, Expr, StructInfo, Var};
use crate::judge::Cx;

/// The operators whose second argument is the tuple of inputs.
const WITH_INPUTS: &[&str] = &[CALL_TIR, "relax.call_tir_inplace", "relax.call_dps_packed"];

const CALL_TIR: &str = "relax.call_tir";

/// What the text says of the variables that hold tuples: how many fields, and which, where they are bound to a tuple as it is written.
#[derive(Default)]
pub(super) struct Tuples {
    /// Whether operators have such rules.
    in_force: bool,
    /// The operators that have one.
    with_inputs: &'static [&'static str],
    known: FxHashMap<Var, KnownTuple>,
}

struct KnownTuple {
    fields: usize,
    literal: Option<Vec<Expr>>,
}

impl Tuples {
    /// Errata: N60, literally only `call_tir` is named.
    pub(super) fn of(cx: &Cx) -> Tuples {
        let with_inputs: &'static [&'static str] = if cx.literal(Erratum::N60) { &[CALL_TIR] } else { WITH_INPUTS };
        Tuples { in_force: cx.has(rule!("NF.5.OPNORM")), with_inputs, known: FxHashMap::default() }
    }

    /// As a normalizer knows them. Errata: N16, literally not at all: how many fields there are, structural information says, which
    /// is derived from normal programs only.
    pub(super) fn for_normalizer(cx: &Cx) -> Tuples {
        let known = Tuples::of(cx);
        Tuples { in_force: known.in_force && !cx.literal(Erratum::N16), ..known }
    }

    /// A variable with its annotation, and what it is bound to.
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

    /// As it is written, and in normal form, of which the fields are leaves.
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

    /// The variable that a call has for the tuple of its inputs, where it is known to hold one.
    pub(super) fn inputs_elsewhere(&self, call: &Call) -> Option<Var> {
        let op = call.op.as_op()?;
        let has_inputs = self.with_inputs.contains(&&*op.op_name);
        match call.args.get(1) {
            Some(Expr::Var(var) | Expr::DataflowVar(var)) if has_inputs && self.known.contains_key(var) => {
                Some(var.clone())
            }
            Some(_) | None => None,
        }
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
