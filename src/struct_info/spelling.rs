//! The forms of joined function types in the variables of their join. A parameter is compared with its join. With its
//! original variables, each inner function type would have to be renamed once more.

use std::sync::Arc;

use crate::book::Erratum;
use crate::grammar::{FuncStructInfo, StructInfo};
use crate::judge::{Cx, Once, with_stack};

type SpelledFunc = Arc<FuncStructInfo>;

/// The key of the notes in the judgement.
const SPELLED: &str = "spelt as in the join";

/// Notes the forms of two function types, each original and renamed, in the variables of their join, including their
/// parts. Notes about the parts made after `since` are no longer needed and are removed.
pub(super) fn note_spelling(cx: &mut Cx, since: usize, functions: [[&SpelledFunc; 2]; 2]) {
    if goes_by_name(cx) {
        return;
    }
    let spelled = functions.map(|[written, renamed]| (written, as_joined(cx, since, written, renamed)));
    cx.forget_notes(since);
    for (written, spelled) in spelled {
        cx.note_of(SPELLED, written, spelled);
    }
}

fn as_joined(cx: &Cx, since: usize, written: &SpelledFunc, renamed: &SpelledFunc) -> Option<SpelledFunc> {
    let renamed_only = || (!Arc::ptr_eq(written, renamed)).then(|| renamed.clone());
    if cx.notes() == since {
        return renamed_only();
    }
    let params = renamed.params.as_ref().and_then(|params| spelled_all(cx, params));
    let ret = spelled_as_joined(cx, &renamed.ret);
    if params.is_none() && ret.is_none() {
        return renamed_only();
    }
    let (params, ret) = (params.or_else(|| renamed.params.clone()), ret.unwrap_or_else(|| renamed.ret.clone()));
    Some(Arc::new(FuncStructInfo { params, ret, ..(**renamed).clone() }))
}

/// The form of information in the variables of its join; `None` if it does not change.
pub(super) fn spelled_as_joined(cx: &Cx, s: &StructInfo) -> Option<StructInfo> {
    if cx.notes() == 0 { None } else { spelled(cx, s, &Once::default()) }
}

fn spelled(cx: &Cx, s: &StructInfo, known: &Once<StructInfo, Option<StructInfo>>) -> Option<StructInfo> {
    match s {
        StructInfo::Func(func) => cx.noted_of::<_, SpelledFunc>(SPELLED, func).map(StructInfo::Func),
        StructInfo::Tuple(fields) => known.of(fields, || {
            let new: Vec<Option<StructInfo>> =
                fields.iter().map(|field| with_stack(|| spelled(cx, field, known))).collect();
            replaced(fields, new).map(StructInfo::Tuple)
        }),
        StructInfo::Object | StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Prim(_) => None,
    }
}

fn spelled_all(cx: &Cx, infos: &[StructInfo]) -> Option<Arc<[StructInfo]>> {
    let new = infos.iter().map(|info| spelled_as_joined(cx, info)).collect();
    replaced(infos, new)
}

/// The parts with the new ones in place; `None` if none is new.
fn replaced(parts: &[StructInfo], new: Vec<Option<StructInfo>>) -> Option<Arc<[StructInfo]>> {
    if new.iter().all(Option::is_none) {
        return None;
    }
    Some(parts.iter().zip(new).map(|(old, new)| new.unwrap_or_else(|| old.clone())).collect())
}

#[cfg(test)]
thread_local! {
    static AS_WRITTEN: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Runs a test in which parameters are compared with the join as they are written.
#[cfg(test)]
pub(super) fn as_written<T>(ask: impl FnOnce() -> T) -> T {
    AS_WRITTEN.set(true);
    let answer = ask();
    AS_WRITTEN.set(false);
    answer
}

/// In these literal readings the order goes by names, so one form cannot replace the other.
fn goes_by_name(cx: &Cx) -> bool {
    #[cfg(test)]
    if AS_WRITTEN.get() {
        return true;
    }
    cx.literal_any(&[Erratum::A11, Erratum::A58, Erratum::E55, Erratum::E80])
}
