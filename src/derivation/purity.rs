//! Declared purity: which calls are impure, and where they are errors (PURITY).

use crate::book::Erratum;
use crate::grammar::Function;
use crate::judge::Cx;
use crate::ops::OpDef;

/// The kind of callee, as far as purity is concerned.
#[derive(Clone, Copy, Debug)]
pub(super) enum DerivedCallee {
    /// An operator, with its definition if the registry knows it.
    Op(Option<&'static OpDef>),
    /// A callee whose information has a `derive_func`.
    Packed,
    /// A callee whose information has parameters. Only under a proposal its purity may be unknown.
    Closure { pure: Option<bool> },
}

/// Whether calls of a callee are pure. For an operator FPurity decides, a packed function never is, and for any other
/// callee its information decides.
pub(super) fn callee_is_pure(cx: &mut Cx, callee: DerivedCallee) -> bool {
    match callee {
        DerivedCallee::Op(Some(def)) => {
            let registered = def.is_pure(cx);
            cx.conclude(rule!("PURITY.FPURITY"), registered)
        }
        DerivedCallee::Op(None) => cx.conclude(rule!("PURE.DEFAULT-IMPURE"), false),
        DerivedCallee::Packed => cx.conclude(rule!("PURITY.EXTERN"), false),
        DerivedCallee::Closure { pure } => cx.conclude(rule!("PURITY.CLOSURE"), pure == Some(true)),
    }
}

/// PURITY.FIELD, PURITY.DEFAULT-TRUE: the purity that a function declares. Nothing is inferred (PURITY.NO-INFER). Under
/// the proposal an omitted purity is inferred (PURITY3.INFER), and the result is `None`.
///
/// Errata: U06. Read literally, an omitted purity is true under the proposal, too.
pub(super) fn declared_purity(cx: &mut Cx, function: &Function) -> Option<bool> {
    let infers = cx.has(rule!("PURITY3.INFER")) && !cx.literal(Erratum::U06);
    match function.pure {
        None if infers => (!cx.fire(rule!("PURITY3.INFER"))).then_some(true),
        None => {
            let declared = cx.by_kind(rule!("PURITY.DEFAULT-TRUE"), true);
            Some(cx.conclude(rule!("PURITY.NO-INFER"), declared))
        }
        Some(said) => {
            let declared = cx.by_kind(rule!("PURITY.FIELD"), said);
            Some(cx.conclude(rule!("PURITY.NO-INFER"), declared))
        }
    }
}

/// The context of a call, as far as its purity matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct PurityContext {
    /// Whether the innermost function around it is declared pure.
    pub in_pure: bool,
    /// Whether that function is forced to count as pure.
    pub forced: bool,
    /// Whether a `DataflowBlock` of that function is around it.
    pub in_dataflow: bool,
}

impl PurityContext {
    /// The context of a function's body.
    pub fn body_of(cx: &mut Cx, function: &Function) -> PurityContext {
        // PURE.ATTR.REPR: the attribute counts if it is mapped to true.
        let mapped = function.force_pure() && cx.conclude(rule!("PURE.ATTR.REPR"), true);
        let forced = mapped && cx.conclude(rule!("PURE.FORCE"), true);
        PurityContext { in_pure: declared_purity(cx, function) == Some(true), forced, in_dataflow: false }
    }

    /// PURITY.WHERE: whether an impure call is an error here. PURITY.FORCE.CHECK, PURITY.FORCE.NOT-DF: a forced
    /// function may make impure calls outside of `DataflowBlock`s.
    ///
    /// Errata: N56. Read literally, it may make them there, too.
    pub fn bars_effects(self, cx: &mut Cx) -> bool {
        let forced = self.forced && self.in_pure;
        cx.by_cases((
            &[
                (rule!("PURITY.FORCE.NOT-DF"), self.in_dataflow && forced && !cx.literal(Erratum::N56), true),
                (rule!("PURITY.FORCE.CHECK"), forced, false),
                (rule!("PURITY.WHERE"), self.in_dataflow || self.in_pure, true),
            ],
            (rule!("PURITY.WHERE"), false),
        ))
    }

    /// How the program could be changed so that the impure call is legal.
    pub fn remedy(self) -> &'static str {
        match (self.in_dataflow, self.in_pure) {
            (true, true) => {
                "move the call into an ordinary BindingBlock of a function that is impure: `@R.function(pure=False)`"
            }
            (true, false) => "move the call into an ordinary BindingBlock",
            (false, _) => "declare the function impure: `@R.function(pure=False)`",
        }
    }
}
