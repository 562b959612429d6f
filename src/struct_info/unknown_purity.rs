//! Purity with three values (chapter The Proposal on Unknown Purity), where `None` is unknown. Each of these functions
//! has the clause of the editions and that of the proposal; only one of them is in force.

use super::order::ShapeRelation;
use crate::book::Erratum;
use crate::grammar::FuncStructInfo;
use crate::judge::{Compatibility, Cx};

/// PURITY3.FIELD: the purity in the information, which may be unknown. In the editions a missing purity has the default
/// of GRAM.SI.FUNC.
pub fn purity_of(cx: &mut Cx, func: &FuncStructInfo) -> Option<bool> {
    if cx.fire(rule!("PURITY3.FIELD")) { func.pure } else { Some(func.purity()) }
}

/// SUBSI.FUNC.PURITY, or PURITY3.SUB: whether the purity of a closure allows it where the other one is expected.
pub(super) fn purity_is_below(cx: &mut Cx, relation: ShapeRelation, p1: Option<bool>, p2: Option<bool>) -> bool {
    let by_value = p1 == Some(true) || p2 != Some(true);
    let by_proposal = is_below(cx, relation, p1, p2);
    cx.holds(&[(rule!("SUBSI.FUNC.PURITY"), 1, by_value), (rule!("PURITY3.SUB"), 1, by_proposal)])
}

/// PURITY3.SUB.
///
/// Errata: U01, literally unknown is definitely below pure. U02, literally only unknown itself is below unknown.
fn is_below(cx: &Cx, relation: ShapeRelation, p1: Option<bool>, p2: Option<bool>) -> bool {
    match (p1, p2) {
        (Some(pure1), Some(pure2)) => pure1 || !pure2,
        (None, Some(true)) => relation == ShapeRelation::Possible || cx.literal(Erratum::U01),
        (None, Some(false) | None) => true,
        (Some(_), None) => !cx.literal(Erratum::U01) && !cx.literal(Erratum::U02),
    }
}

/// PURITY3.UNIFY: the purity of the join.
pub(super) fn joined(cx: &mut Cx, f1: &FuncStructInfo, f2: &FuncStructInfo) -> Option<bool> {
    let (p1, p2) = (purity_of(cx, f1), purity_of(cx, f2));
    cx.by_cases((
        &[
            (rule!("PURITY3.UNIFY"), p1 == Some(false) || p2 == Some(false), Some(false)),
            (rule!("PURITY3.UNIFY"), p1 == Some(true) && p2 == Some(true), Some(true)),
        ],
        (rule!("PURITY3.UNIFY"), None),
    ))
}

/// SI.COMPAT.FUNC.PURITY, or PURITY3.COMPAT: the best answer that the purities of closures allow.
pub(super) fn compatible_purity(cx: &mut Cx, f1: &FuncStructInfo, f2: &FuncStructInfo) -> Compatibility {
    let (p1, p2) = (purity_of(cx, f1), purity_of(cx, f2));
    if !cx.holds(&[(rule!("SI.COMPAT.FUNC.PURITY"), 1, p1 == Some(true) || p2 != Some(true))]) {
        return Compatibility::Incompatible;
    }
    let by_proposal = cx.by_cases(&[
        (rule!("PURITY3.COMPAT"), p1 == Some(false) && p2 == Some(true), Compatibility::Incompatible),
        (rule!("PURITY3.COMPAT"), p1.is_none() && p2 == Some(true), Compatibility::Possibly),
        (rule!("PURITY3.COMPAT"), true, Compatibility::Compatible),
    ]);
    by_proposal.unwrap_or(Compatibility::Compatible)
}
