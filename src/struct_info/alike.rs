//! Judgements visit shared tuples once. The results equal those of the plain clauses, which a derivation shows one by
//! one.

use super::{
    InScope, Mapping, Nowhere, check_compatibility_in, closed, erase_to_well_defined, get_shape_var_mapping,
    is_more_specific, is_possibly_more_specific, names_among, shown, unify_struct_info_in, wrap_type,
};
use crate::book::{Edition, Reading};
use crate::generate::{Tape, struct_info_pair};
use crate::grammar::{DataType, PrimExpr, ShapeVar, StructInfo, Type};
use crate::judge::Cx;
use crate::types::{erase_struct_info, find_glb, find_lub, is_subtype};

const NAMES: [&str; 3] = ["n", "m", "k"];

/// Two random pieces of information in which parts are repeated in tuples and in function types.
fn drawn(seed: u64) -> (StructInfo, StructInfo) {
    let mut tape = Tape::from_seed(seed, 512);
    let (mut s1, mut s2) = struct_info_pair(&mut tape, 2, &NAMES.map(ShapeVar::new));
    for _ in 0..=tape.choose(4) {
        let (t1, t2) = (s1.clone(), s2.clone());
        (s1, s2) = match tape.choose(6) {
            0 => (StructInfo::func([s1.clone()], s1), StructInfo::func([s2.clone()], s2)),
            1 => (StructInfo::tuple([s1.clone(), s2.clone(), s1]), StructInfo::tuple([s2.clone(), s2.clone(), s2])),
            2 => (StructInfo::tuple([s1.clone(), s2.clone()]), StructInfo::tuple([s1, s2])),
            _ => (StructInfo::tuple([s1, t1]), StructInfo::tuple([s2, t2])),
        };
    }
    (s1, s2)
}

/// The same tree without sharing.
fn apart(s: &StructInfo) -> StructInfo {
    match s {
        StructInfo::Tuple(fields) => StructInfo::tuple(fields.iter().map(apart)),
        StructInfo::Func(func) => {
            let params = func.params.as_ref().map(|params| params.iter().map(apart).collect());
            StructInfo::Func(crate::grammar::FuncStructInfo { params, ret: apart(&func.ret), ..(**func).clone() }.into())
        }
        StructInfo::Object | StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Prim(_) => s.clone(),
    }
}

/// The results of all judgements on two pieces of information, as text, with the used rules.
fn asked(mut cx: Cx, s1: &StructInfo, s2: &StructInfo) -> Vec<String> {
    let cx = &mut cx;
    let inside = InScope::new(&[], &[ShapeVar::new("n")]);
    let mut found = vec![
        format!("{:?}", erase_to_well_defined(cx, s1, &inside)),
        format!("{:?}", erase_to_well_defined(cx, s1, &Nowhere)),
        format!("{:?}", check_compatibility_in(cx, s1, s2, &Nowhere)),
        format!("{:?}", unify_struct_info_in(cx, s1, s2, &inside)),
        format!("{:?}", is_more_specific(cx, s1, s2)),
        format!("{:?}", is_possibly_more_specific(cx, s1, s2)),
        format!("{:?}", get_shape_var_mapping(cx, s1, s2, &Nowhere)),
        format!("{:?}", closed(cx, s1, &Nowhere)),
        format!("{:?}", shown(&closed(cx, s1, &Nowhere), &Nowhere)),
    ];
    let (t1, t2): (Type, Type) = (erase_struct_info(cx, s1), erase_struct_info(cx, s2));
    found.extend([
        format!("{:?}", (wrap_type(cx, &t1), is_subtype(cx, &t1, &t2), t1 == t2, s1 == s2)),
        format!("{:?}", (find_lub(cx, &t1, &t2), find_glb(cx, &t1, &t2), &t1)),
    ]);
    found.push(format!("{:?}", cx.recorded().iter().collect::<Vec<_>>()));
    found
}

#[test]
fn what_is_held_in_common_is_judged_as_if_it_were_not() {
    let mut long = 0;
    for seed in 0..1_500 {
        let (s1, s2) = drawn(seed);
        for reading in [Reading::corrected(), Reading::literal()] {
            let cx = || Cx::new().with_edition(Edition::default()).with_reading(reading.clone());
            let plain = asked(cx().with_trace(), &apart(&s1), &apart(&s2));
            assert_eq!(asked(cx(), &s1, &s2), plain, "seed {seed}: {s1} and {s2}");
        }
        long += usize::from(s1.to_string().len() > 200);
    }
    assert!(long > 200, "{long}");
}

/// A function type in a parameter is not searched for variables, but the same one outside of the parameter is.
#[test]
fn what_is_not_searched_in_a_parameter_is_searched_beside_it() {
    let vector = |name: &str| StructInfo::tensor([PrimExpr::var(name)], DataType::FLOAT32);
    let taking = |param: StructInfo| StructInfo::func([param], StructInfo::Object);
    let given = |name: &str| {
        let held = StructInfo::tuple([taking(vector(name))]);
        StructInfo::tuple([taking(held.clone()), held])
    };
    for (s1, s2) in [(given("n"), given("m")), (apart(&given("n")), apart(&given("m")))] {
        let mapping = get_shape_var_mapping(&mut Cx::new(), &s1, &s2, &Nowhere);
        assert_eq!(mapping, [(ShapeVar::new("n"), PrimExpr::var("m"))].into(), "{s1} and {s2}");
    }
}

/// The names in a result are those of the whole signature, whatever parts are shared.
#[test]
fn names_are_found_whatever_is_held_in_common() {
    let vector = |name: &str| StructInfo::tuple([StructInfo::tensor([PrimExpr::var(name)], DataType::FLOAT32)]);
    let twice = |s: StructInfo, t: StructInfo| StructInfo::tuple([s.clone(), t.clone(), s, t]);
    let (these, others) = (twice(vector("n"), vector("k")), twice(vector("a"), vector("b")));
    let expected = Mapping::from([("n", "a"), ("k", "b")].map(|(v, w)| (ShapeVar::new(v), PrimExpr::var(w))));
    // One half is shared here in the first, and the other half in the second.
    let half = |s: &StructInfo, which: usize| {
        let StructInfo::Tuple(fields) = s else { panic!("{s}") };
        StructInfo::tuple(fields.iter().enumerate().map(|(i, f)| if i % 2 == which { f.clone() } else { apart(f) }))
    };
    for these in [these.clone(), apart(&these), half(&these, 0)] {
        for others in [others.clone(), apart(&others), half(&others, 1)] {
            assert_eq!(names_among([(&these, &others)]), expected);
        }
    }
    assert_eq!(names_among([(&vector("n"), &StructInfo::tuple([StructInfo::Object]))]), Mapping::new());
}

#[test]
fn chains_of_pairs_are_judged_as_they_are_written() {
    let chain = |last: StructInfo| (0..200).fold(last, |s, _| StructInfo::tuple([s.clone(), s]));
    let vector = |name: &str| StructInfo::shape([PrimExpr::var(name)]);
    for (s1, s2) in [("n", "n"), ("n", "m"), ("m", "n")].map(|(a, b)| (chain(vector(a)), chain(vector(b)))) {
        let taken = |s: &StructInfo| StructInfo::func([s.clone()], StructInfo::Object);
        let (taken1, taken2) = (taken(&s1), taken(&s2));
        for (s1, s2) in
            [(s1.clone(), s2.clone()), (StructInfo::func([], s1), StructInfo::func([], s2)), (taken1, taken2)]
        {
            for reading in [Reading::corrected(), Reading::literal()] {
                let mut cx = Cx::new().with_reading(reading);
                let inside = InScope::new(&[], &[ShapeVar::new("n")]);
                erase_to_well_defined(&mut cx, &s1, &inside);
                check_compatibility_in(&mut cx, &s1, &s2, &Nowhere);
                unify_struct_info_in(&mut cx, &s1, &s2, &inside);
                is_more_specific(&mut cx, &s1, &s2);
                is_possibly_more_specific(&mut cx, &s1, &s2);
                get_shape_var_mapping(&mut cx, &s1, &s2, &Nowhere);
                shown(&closed(&cx, &s1, &Nowhere), &Nowhere);
                super::may_overlap(&mut cx, &s1, &s2, &Nowhere);
                let (t1, t2) = (erase_struct_info(&mut cx, &s1), erase_struct_info(&mut cx, &s2));
                wrap_type(&mut cx, &t1);
                find_lub(&mut cx, &t1, &t2);
                find_glb(&mut cx, &t1, &t2);
                assert!(is_subtype(&mut cx, &t1, &t2));
                assert_eq!(t1, t2);
            }
        }
    }
}
