//! Purity where it is declared: which calls are impure, and where that is an error (PURITY).

use crate::book::Erratum;
use crate::grammar::Function;
use crate::judge::Cx;
use crate::ops::OpDef;

/// What a call goes to, as far as purity is concerned.
#[derive(Clone, Copy, Debug)]
pub(super) enum DerivedCallee {
    /// An operator, if the registry knows it.
    Op(Option<&'static OpDef>),
    /// What has a `derive_func`.
    Packed,
    /// What has parameters; of unknown purity only under a proposal.
    Closure { pure: Option<bool> },
}

/// Whether calls of a callee are pure: by FPurity of an operator, never of a packed function, and by the information of any other.
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

/// PURITY.FIELD, PURITY.DEFAULT-TRUE: what a function says of itself. Nothing is inferred (PURITY.NO-INFER), or by the proposal what it leaves
/// out is (PURITY3.INFER), and then it says nothing.
///
/// Errata: U06, literally absent is true all the same.
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

/// Where a call stands, as far as it matters whether it is pure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct PurityContext {
    /// The innermost function around it is declared pure.
    pub in_pure: bool,
    /// That function is forced to count as what it is declared.
    pub forced: bool,
    /// A `DataflowBlock` of that function is around it.
    pub in_dataflow: bool,
}

impl PurityContext {
    /// The body of a function.
    pub fn body_of(cx: &mut Cx, function: &Function) -> PurityContext {
        // PURE.ATTR.REPR: the attribute that is mapped to true counts.
        let mapped = function.force_pure() && cx.conclude(rule!("PURE.ATTR.REPR"), true);
        let forced = mapped && cx.conclude(rule!("PURE.FORCE"), true);
        PurityContext { in_pure: declared_purity(cx, function) == Some(true), forced, in_dataflow: false }
    }

    /// PURITY.WHERE: whether an impure call is an error here. PURITY.FORCE.CHECK, PURITY.FORCE.NOT-DF: a function that is forced may
    /// make them, but not in a `DataflowBlock`.
    ///
    /// Errata: N56, literally there too.
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
}
