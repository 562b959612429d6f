//! Laws that only later editions state: two levels of one order, and the purity, values and devices of structural
//! information.

use std::sync::Arc;

use relax_spec::book::Erratum::{N18, N19, N32, N35};
use relax_spec::grammar::{FuncStructInfo, PrimStructInfo, StructInfo, TensorStructInfo, VDevice};
use relax_spec::judge::Compatibility::{Compatible, Incompatible, Possibly};
use relax_spec::judge::Cx;
use relax_spec::rule;
use relax_spec::struct_info as si;
use relax_spec::types::erase_struct_info;

use super::{FIELDS, LEVELS, Law, always, has_function, only_n, order};

pub fn laws() -> Vec<Law<StructInfo>> {
    let mut laws = laws_of_levels();
    laws.extend(laws_of_purity());
    laws.extend(laws_of_fields());
    laws
}

fn possibly(cx: &mut Cx, s1: &StructInfo, s2: &StructInfo) -> bool {
    si::is_possibly_more_specific(cx, s1, s2)
}

fn is_closure(s: &StructInfo) -> bool {
    s.as_func().is_some_and(|func| func.params.is_some())
}

/// Whether it contains packed functions, for which compatibility is more precise than the order (A43).
pub fn has_packed(s: &StructInfo) -> bool {
    match s {
        StructInfo::Func(func) => match &func.params {
            Some(params) => params.iter().any(has_packed) || has_packed(&func.ret),
            None => true,
        },
        StructInfo::Tuple(fields) => fields.iter().any(has_packed),
        StructInfo::Object | StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Prim(_) => false,
    }
}

fn with_purity(s: &StructInfo, pure: bool) -> StructInfo {
    match s {
        StructInfo::Func(f) => StructInfo::Func(Arc::new(FuncStructInfo { pure: Some(pure), ..(**f).clone() })),
        other => other.clone(),
    }
}

/// The information without the parts that erasing drops and that the first edition lacks.
fn bare(s: &StructInfo) -> StructInfo {
    match s {
        StructInfo::Tensor(t) => StructInfo::Tensor(TensorStructInfo { vdevice: None, ..t.clone() }),
        StructInfo::Prim(p) => StructInfo::Prim(PrimStructInfo { value: None, ..p.clone() }),
        StructInfo::Tuple(fields) => StructInfo::tuple(fields.iter().map(bare)),
        StructInfo::Func(f) => {
            let params = f.params.as_ref().map(|params| params.iter().map(bare).collect());
            StructInfo::Func(Arc::new(FuncStructInfo { params, ret: bare(&f.ret), pure: None, ..(**f).clone() }))
        }
        StructInfo::Object | StructInfo::Shape(_) => s.clone(),
    }
}

/// The devices of its tensors, except those in function types.
fn devices(s: &StructInfo) -> Vec<Option<Arc<VDevice>>> {
    match s {
        StructInfo::Tensor(t) => vec![t.vdevice.clone()],
        StructInfo::Tuple(fields) => fields.iter().flat_map(devices).collect(),
        StructInfo::Object | StructInfo::Shape(_) | StructInfo::Prim(_) | StructInfo::Func(_) => Vec::new(),
    }
}

/// Whether the first leaves datatype, rank or device open and the second does not.
fn leaves_open(t1: &TensorStructInfo, t2: &TensorStructInfo) -> bool {
    (t1.dtype.is_void() && !t2.dtype.is_void())
        || (t1.ndim.is_unknown() && !t2.ndim.is_unknown())
        || (t1.vdevice.is_none() && t2.vdevice.is_some())
}

fn laws_of_levels() -> Vec<Law<StructInfo>> {
    vec![
        Law {
            name: "SUBSI.LEVELS what is definite is possible",
            rests_on: rule!("SUBSI.LEVELS"),
            elsewhere: Some(LEVELS),
            arity: 2,
            applies: always,
            holds: |cx, s| !order(cx, s[0], s[1]) || possibly(cx, s[0], s[1]),
            explained: &[],
        },
        Law {
            // The converse does not hold: [3] is below an unknown shape, which is possibly [4].
            name: "SUBSI.COMPONENTWISE possible, then definite",
            rests_on: rule!("SUBSI.COMPONENTWISE"),
            elsewhere: Some(LEVELS),
            arity: 3,
            applies: |s| !s.iter().any(|s| has_function(s)),
            holds: |cx, s| !(possibly(cx, s[0], s[1]) && order(cx, s[1], s[2])) || possibly(cx, s[0], s[2]),
            explained: &[],
        },
        Law {
            name: "SI.COMPAT the levels of the order (N34), without packed functions",
            rests_on: rule!("SUBSI.LEVELS"),
            elsewhere: Some(LEVELS),
            arity: 2,
            applies: |s| !s.iter().any(|s| has_packed(s)),
            holds: |cx, s| {
                let by_order = match (order(cx, s[0], s[1]), possibly(cx, s[0], s[1])) {
                    (true, _) => Compatible,
                    (false, true) => Possibly,
                    (false, false) => Incompatible,
                };
                si::check_compatibility(cx, s[0], s[1]) == by_order
            },
            explained: &[N35],
        },
        Law {
            name: "SI.COMPAT.TENSOR.STEP8 what leaves open what the other knows",
            rests_on: rule!("SI.COMPAT.TENSOR.STEP8"),
            elsewhere: Some(LEVELS),
            arity: 2,
            applies: |s| matches!((s[0], s[1]), (StructInfo::Tensor(t1), StructInfo::Tensor(t2)) if leaves_open(t1, t2)),
            holds: |cx, s| si::check_compatibility(cx, s[0], s[1]) != Compatible,
            explained: &[],
        },
    ]
}

fn laws_of_purity() -> Vec<Law<StructInfo>> {
    vec![
        Law {
            name: "SUBSI.FUNC.PURITY pure below impure, not conversely",
            rests_on: rule!("SUBSI.FUNC.PURITY"),
            elsewhere: Some(FIELDS),
            arity: 1,
            applies: |s| is_closure(s[0]),
            holds: |cx, s| {
                let (pure, impure) = (with_purity(s[0], true), with_purity(s[0], false));
                order(cx, &pure, &impure) && !possibly(cx, &impure, &pure)
            },
            explained: &[],
        },
        Law {
            name: "SI.UNIFY.FUNC.PURITY pure only if both are",
            rests_on: rule!("SI.UNIFY.FUNC.PURITY"),
            elsewhere: Some(FIELDS),
            arity: 2,
            applies: |s| is_closure(s[0]) && is_closure(s[1]),
            holds: |cx, s| match (si::unify_struct_info(cx, s[0], s[1]), s[0].as_func(), s[1].as_func()) {
                (StructInfo::Func(join), Some(f1), Some(f2)) => join.purity() == (f1.purity() && f2.purity()),
                (_, _, _) => true,
            },
            explained: &[],
        },
        Law {
            name: "SI.UNIFY.LUB the least of a pure and an impure function",
            rests_on: rule!("SI.UNIFY.FUNC.PURITY"),
            elsewhere: Some(FIELDS),
            arity: 1,
            applies: |s| is_closure(s[0]),
            holds: |cx, s| {
                let (pure, impure) = (with_purity(s[0], true), with_purity(s[0], false));
                [(&pure, &impure), (&impure, &pure)].into_iter().all(|(f1, f2)| {
                    let join = si::unify_struct_info(cx, f1, f2);
                    order(cx, &join, &impure) && order(cx, &impure, &join)
                })
            },
            explained: &[N32],
        },
        Law {
            name: "SI.ERASE_WD.FUNC.PURITY kept",
            rests_on: rule!("SI.ERASE_WD.FUNC.PURITY"),
            elsewhere: Some(FIELDS),
            arity: 1,
            applies: |s| is_closure(s[0]),
            holds: |cx, s| {
                let erased = si::erase_to_well_defined(cx, s[0], &only_n());
                erased.as_func().map(|func| func.purity()) == s[0].as_func().map(|func| func.purity())
            },
            explained: &[N19],
        },
    ]
}

fn laws_of_fields() -> Vec<Law<StructInfo>> {
    vec![
        Law {
            name: "SI.UNIFY.REFL",
            rests_on: rule!("SI.UNIFY.REFL"),
            elsewhere: Some("in the first edition the join of equals is not said to be the same information"),
            arity: 1,
            applies: always,
            holds: |cx, s| si::unify_struct_info(cx, s[0], s[0]) == *s[0],
            explained: &[N32],
        },
        Law {
            name: "SI.UNIFY.TENSOR.VDEVICE the common one",
            rests_on: rule!("SI.UNIFY.TENSOR.VDEVICE"),
            elsewhere: Some(FIELDS),
            arity: 2,
            applies: |s| matches!((s[0], s[1]), (StructInfo::Tensor(_), StructInfo::Tensor(_))),
            holds: |cx, s| match (s[0], s[1], si::unify_struct_info(cx, s[0], s[1])) {
                (StructInfo::Tensor(t1), StructInfo::Tensor(t2), StructInfo::Tensor(join)) => {
                    join.vdevice == t1.vdevice.clone().filter(|device| t2.vdevice.as_ref() == Some(device))
                }
                (_, _, _) => false,
            },
            explained: &[N32],
        },
        Law {
            name: "SI.ERASE_WD.TENSOR keeps devices",
            rests_on: rule!("GRAM.VDEVICE"),
            elsewhere: Some(FIELDS),
            arity: 1,
            applies: |s| devices(s[0]).iter().any(Option::is_some),
            holds: |cx, s| devices(&si::erase_to_well_defined(cx, s[0], &only_n())) == devices(s[0]),
            explained: &[N18],
        },
        Law {
            name: "TYPE.ERASE forgets devices, values and purity",
            rests_on: rule!("TYPE.ERASE.PRIM"),
            elsewhere: Some(FIELDS),
            arity: 1,
            applies: always,
            holds: |cx, s| erase_struct_info(cx, s[0]) == erase_struct_info(cx, &bare(s[0])),
            explained: &[],
        },
    ]
}
