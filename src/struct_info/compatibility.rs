//! Checking compatibility: may a value described by `S1` stand where `S2` is expected?

use std::collections::BTreeSet;
use std::sync::Arc;

use super::derive_func::same_derive_func;
use super::mapping::{Found, introduced_around, is_identity, matched, owned, params_of};
use super::same_shape::{Compared, compare_dims, compare_shapes, is_var};
use super::substitute::substitute;
use super::surroundings::{Introduced, Nowhere, Scope, Surroundings};
use crate::book::{Erratum, Rule};
use crate::grammar::{FuncStructInfo, PrimStructInfo, ShapeStructInfo, StructInfo, TensorShape, TensorStructInfo};
use crate::judge::Compatibility::{self, Compatible, Incompatible, Possibly};
use crate::judge::{Cx, Proof};

/// SI.COMPAT: may a value described by `s1` stand where `s2` is expected? Nothing is in scope.
///
/// 2023-02, Checking Compatibility.
pub fn check_compatibility(cx: &mut Cx, s1: &StructInfo, s2: &StructInfo) -> Compatibility {
    check_compatibility_in(cx, s1, s2, &Nowhere)
}

/// As [`check_compatibility`], at a place where the variables of `scope` are bound.
pub fn check_compatibility_in(
    cx: &mut Cx,
    s1: &StructInfo,
    s2: &StructInfo,
    scope: &dyn Surroundings,
) -> Compatibility {
    check(cx, s1, s2, &Scope::new(scope))
}

fn check(cx: &mut Cx, s1: &StructInfo, s2: &StructInfo, scope: &Scope) -> Compatibility {
    cx.judge(
        "check_compatibility",
        || vec![s1.to_string(), s2.to_string()],
        |cx| match (s1, s2) {
            (_, StructInfo::Object) if cx.fire(rule!("SI.COMPAT.OBJECT")) => Compatible,
            (StructInfo::Tuple(fields1), StructInfo::Tuple(fields2)) => tuple(cx, fields1, fields2, scope),
            (StructInfo::Shape(s1), StructInfo::Shape(s2)) => shape(cx, s1, s2),
            (StructInfo::Tensor(t1), StructInfo::Tensor(t2)) => tensor(cx, t1, t2, scope),
            (StructInfo::Func(f1), StructInfo::Func(f2)) => func(cx, f1, f2, scope),
            (StructInfo::Prim(p1), StructInfo::Prim(p2)) => prim(cx, p1, p2),
            (
                StructInfo::Object
                | StructInfo::Tensor(_)
                | StructInfo::Shape(_)
                | StructInfo::Prim(_)
                | StructInfo::Tuple(_)
                | StructInfo::Func(_),
                StructInfo::Object
                | StructInfo::Tensor(_)
                | StructInfo::Shape(_)
                | StructInfo::Prim(_)
                | StructInfo::Tuple(_)
                | StructInfo::Func(_),
            ) => kind(cx),
        },
    )
}

/// Masked, a mismatch of kinds raises no objection.
fn kind(cx: &mut Cx) -> Compatibility {
    if cx.fire(rule!("SI.COMPAT.KIND")) { Incompatible } else { Compatible }
}

fn tuple(cx: &mut Cx, fields1: &[StructInfo], fields2: &[StructInfo], scope: &Scope) -> Compatibility {
    if cx.rule(rule!("SI.COMPAT.TUPLE.LEN"), fields1.len() != fields2.len()) {
        return Incompatible;
    }
    let mut worst = Compatible;
    for (field1, field2) in fields1.iter().zip(fields2) {
        worst = worst.max(check(cx, field1, field2, scope));
    }
    if cx.rule(rule!("SI.COMPAT.TUPLE.INCOMPAT"), worst == Incompatible) {
        return Incompatible;
    }
    if cx.rule(rule!("SI.COMPAT.TUPLE.POSSIBLE"), worst == Possibly) {
        return Possibly;
    }
    if cx.fire(rule!("SI.COMPAT.TUPLE.ALL")) { Compatible } else { Possibly }
}

fn shape(cx: &mut Cx, s1: &ShapeStructInfo, s2: &ShapeStructInfo) -> Compatibility {
    if cx.rule(rule!("SI.COMPAT.SHAPE.ANYRANK"), s2.ndim.is_unknown()) {
        return Compatible;
    }
    if cx.rule(rule!("SI.COMPAT.SHAPE.RANK"), s1.ndim != s2.ndim) {
        return Incompatible;
    }
    let Some(values2) = &s2.values else {
        return if cx.fire(rule!("SI.COMPAT.SHAPE.NOVALUES")) { Compatible } else { Possibly };
    };
    let Some(values1) = &s1.values else {
        return if cx.fire(rule!("SI.COMPAT.SHAPE.S1NOVALUES")) { Possibly } else { Compatible };
    };
    let compared = compare_dims(cx, values1, values2);
    let rules = [rule!("SI.COMPAT.SHAPE.NEQ"), rule!("SI.COMPAT.SHAPE.EQ"), rule!("SI.COMPAT.SHAPE.UNKNOWN")];
    verdict(cx, compared, rules)
}

/// The answer that a comparison of dimensions gives, by the rules for different, equal and undecided.
fn verdict(cx: &mut Cx, compared: Compared, [different, equal, unknown]: [Rule; 3]) -> Compatibility {
    // Masked, a proof beyond the minimum would not bind the answer.
    let sound = !compared.advanced || cx.fire(rule!("SI.COMPAT.BESTEFFORT"));
    match (compared.proof, sound) {
        (Proof::Different, true) if cx.fire(different) => Incompatible,
        (Proof::Equal, true) if cx.fire(equal) => Compatible,
        (Proof::Unknown, true) if cx.fire(unknown) => Possibly,
        // Masked: the cautious answer, and for the cautious rule itself another one.
        (Proof::Different | Proof::Equal, true) => Possibly,
        (Proof::Different, false) => Compatible,
        (Proof::Equal, false) | (Proof::Unknown, true | false) => Incompatible,
    }
}

fn tensor(cx: &mut Cx, t1: &TensorStructInfo, t2: &TensorStructInfo, scope: &Scope) -> Compatibility {
    if cx.rule(rule!("SI.COMPAT.TENSOR.DTYPE"), !t2.dtype.is_void() && t1.dtype != t2.dtype) {
        return Incompatible;
    }
    if cx.rule(rule!("SI.COMPAT.TENSOR.NDIM"), !t2.ndim.is_unknown() && t1.ndim != t2.ndim) {
        return Incompatible;
    }
    let Some(shape2) = &t2.shape else {
        return if cx.fire(rule!("SI.COMPAT.TENSOR.NOSHAPE")) { Compatible } else { Possibly };
    };
    let Some(shape1) = &t1.shape else {
        return if cx.fire(rule!("SI.COMPAT.TENSOR.S1NOSHAPE")) { Possibly } else { Compatible };
    };
    tensor_shapes(cx, shape1, shape2, scope)
}

fn tensor_shapes(cx: &mut Cx, shape1: &TensorShape, shape2: &TensorShape, scope: &Scope) -> Compatibility {
    let compared = compare_shapes(cx, shape1, shape2, scope);
    let rules = if is_var(shape1) || is_var(shape2) {
        [rule!("SI.COMPAT.TENSOR.VAR.NEQ"), rule!("SI.COMPAT.TENSOR.VAR.EQ"), rule!("SI.COMPAT.TENSOR.VAR.UNKNOWN")]
    } else {
        [rule!("SI.COMPAT.TENSOR.DIMS.NEQ"), rule!("SI.COMPAT.TENSOR.DIMS.EQ"), rule!("SI.COMPAT.TENSOR.DIMS.UNKNOWN")]
    };
    verdict(cx, compared, rules)
}

fn func(cx: &mut Cx, f1: &Arc<FuncStructInfo>, f2: &FuncStructInfo, scope: &Scope) -> Compatibility {
    if cx.rule(rule!("SI.COMPAT.FUNC.FORM"), f1.params.is_some() != f2.params.is_some()) {
        return Incompatible;
    }
    let (Some(params1), Some(params2)) = (&f1.params, &f2.params) else {
        return packed(cx, f1, f2);
    };
    if cx.rule(rule!("SI.COMPAT.FUNC.ARITY"), params1.len() != params2.len()) {
        return Incompatible;
    }
    // An impure function where a pure one is demanded, if the infos have the optional field (A18).
    if f2.pure == Some(true)
        && !cx.literal(Erratum::A18)
        && !cx.premise(rule!("SI.COMPAT.INVARIANT"), 1, f1.pure == f2.pure)
    {
        return Incompatible;
    }
    closures(cx, f1, f2, params2, scope)
}

fn packed(cx: &mut Cx, f1: &FuncStructInfo, f2: &FuncStructInfo) -> Compatibility {
    if same_derive_func(cx, f1.derive_func.as_ref(), f2.derive_func.as_ref()) {
        return if cx.fire(rule!("SI.COMPAT.FUNC.PACKED.SAME")) { Compatible } else { Possibly };
    }
    if cx.fire(rule!("SI.COMPAT.FUNC.PACKED.DIFF")) { Possibly } else { Incompatible }
}

/// SI.COMPAT.FUNC.MAP: a function info in the variables that the parameters of another introduce, if that changes
/// it, and these variables in scope.
pub(super) fn in_terms_of<'s>(
    cx: &mut Cx,
    f1: &Arc<FuncStructInfo>,
    f2: &FuncStructInfo,
    scope: &'s Scope,
) -> (Option<Arc<FuncStructInfo>>, Introduced<'s>) {
    let mapping = matched(cx, params_of(f1).iter().zip(params_of(f2)), scope);
    let replaced = replaced(cx, f1, &mapping, scope);
    let introduced = introduced_around(replaced.as_ref().unwrap_or(f1), f2);
    (replaced, scope.introduce(introduced))
}

/// The function with the mapping applied, if that changes it.
fn replaced(cx: &mut Cx, f1: &Arc<FuncStructInfo>, mapping: &Found, scope: &Scope) -> Option<Arc<FuncStructInfo>> {
    if is_identity(mapping) {
        // Nothing is replaced, and a mapping without entries is not even applied.
        let _ = cx.rule(rule!("SI.MAPPING.SUBST"), !mapping.is_empty());
        return None;
    }
    match substitute(cx, &StructInfo::Func(f1.clone()), &owned(mapping), scope) {
        StructInfo::Func(func) if !Arc::ptr_eq(&func, f1) => Some(func),
        StructInfo::Func(_)
        | StructInfo::Object
        | StructInfo::Tensor(_)
        | StructInfo::Shape(_)
        | StructInfo::Prim(_)
        | StructInfo::Tuple(_) => None,
    }
}

fn closures(
    cx: &mut Cx,
    f1: &Arc<FuncStructInfo>,
    f2: &FuncStructInfo,
    params2: &[StructInfo],
    scope: &Scope,
) -> Compatibility {
    let (replaced, _introduced) = if cx.fire(rule!("SI.COMPAT.FUNC.MAP")) {
        in_terms_of(cx, f1, f2, scope)
    } else {
        (None, scope.introduce(BTreeSet::new()))
    };
    let f1 = replaced.as_ref().unwrap_or(f1);
    // Parameters in reverse, then results forward.
    let reversed = params2.iter().zip(params_of(f1));
    let mut worst = Compatible;
    for (known, demanded) in reversed.chain([(&f1.ret, &f2.ret)]) {
        worst = worst.max(check(cx, known, demanded, scope));
    }
    if cx.rule(rule!("SI.COMPAT.FUNC.INCOMPAT"), worst == Incompatible) {
        return Incompatible;
    }
    if cx.rule(rule!("SI.COMPAT.FUNC.POSSIBLE"), worst == Possibly) {
        return Possibly;
    }
    if cx.fire(rule!("SI.COMPAT.FUNC.ALL")) { Compatible } else { Possibly }
}

/// Boxed scalars are related to their own datatype only (A53); a known value is compared as a dimension is.
fn prim(cx: &mut Cx, p1: &PrimStructInfo, p2: &PrimStructInfo) -> Compatibility {
    if !cx.premise(rule!("PR14148.SI.PRIM.RULES"), 1, p1.dtype == p2.dtype) {
        return Incompatible;
    }
    match (&p1.value, &p2.value) {
        (_, None) => Compatible,
        (None, Some(_)) => Possibly,
        (Some(value1), Some(value2)) => match crate::shape::prove_equal(cx, value1, value2) {
            Proof::Equal => Compatible,
            Proof::Different => Incompatible,
            Proof::Unknown => Possibly,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Tape, struct_info_pair};
    use crate::grammar::{BinaryOp, DataType, Ndim, PrimExpr, ShapeVar, Var};
    use crate::struct_info::is_more_specific;

    fn v(name: &str) -> StructInfo {
        StructInfo::tensor([PrimExpr::var(name)], DataType::FLOAT32)
    }

    fn check(s1: &StructInfo, s2: &StructInfo) -> Compatibility {
        check_compatibility(&mut Cx::new(), s1, s2)
    }

    #[test]
    fn nested_functions_introduce_their_own_variables() {
        let f = |outer: &str, inner: &str| StructInfo::func([v(outer)], StructInfo::func([v(inner)], v(inner)));
        assert_eq!(check(&f("n", "k"), &f("m", "j")), Compatible);
    }

    #[test]
    fn a_nested_function_may_demand_a_size_of_the_outer_one() {
        // The first returns a function for vectors of the one size n; the second promises one for any size.
        let returning =
            |outer: &str, inner: &str| StructInfo::func([v(outer)], StructInfo::func([v(inner)], StructInfo::Object));
        assert_eq!(check(&returning("n", "n"), &returning("m", "k")), Possibly);
    }

    #[test]
    fn a_variable_that_finds_no_match_is_no_variable_of_the_other_side() {
        let next = PrimExpr::binary(BinaryOp::Add, PrimExpr::var("n"), 1.into());
        let s1 = StructInfo::func([v("n"), v("m")], StructInfo::tensor([next], DataType::FLOAT32));
        let unknown = StructInfo::tensor_ndim(1, DataType::FLOAT32);
        // The `n` of the first side is free: its result may well have the size that the second calls `n`.
        assert_eq!(check(&s1, &StructInfo::func([unknown, v("n")], v("n"))), Possibly);
    }

    struct HoldsFour;

    impl Surroundings for HoldsFour {
        fn has_var(&self, _: &Var) -> bool {
            true
        }
        fn has_shape_var(&self, _: &ShapeVar) -> bool {
            false
        }
        fn struct_info_of(&self, var: &Var) -> Option<StructInfo> {
            (&*var.name == "s").then(|| StructInfo::shape([4.into()]))
        }
    }

    #[test]
    fn a_variable_is_looked_through() {
        let held = |name: &str| {
            let shape = Some(TensorShape::Var(Var::new(name)));
            StructInfo::Tensor(TensorStructInfo { shape, dtype: DataType::FLOAT32, ndim: Ndim::Known(1) })
        };
        let vector = |size: i64| StructInfo::tensor([size.into()], DataType::FLOAT32);
        let check = |s1: &StructInfo, s2: &StructInfo| check_compatibility_in(&mut Cx::new(), s1, s2, &HoldsFour);
        assert_eq!(check(&vector(4), &held("s")), Compatible);
        assert_eq!(check(&vector(3), &held("s")), Incompatible);
        assert_eq!(check(&vector(3), &held("t")), Possibly);
        assert_eq!(check(&held("t"), &held("t")), Compatible);
    }

    /// A function info with one parameter more.
    fn with_param(s: &StructInfo, param: StructInfo) -> StructInfo {
        let StructInfo::Func(func) = s else { panic!("{s}") };
        let params = params_of(func).iter().cloned().chain([param]).collect();
        StructInfo::Func(Arc::new(FuncStructInfo { params: Some(params), ..(**func).clone() }))
    }

    #[test]
    fn what_is_left_out_for_speed_changes_no_answer() {
        let vars = ["n", "m"].map(ShapeVar::new);
        let nothing = || StructInfo::func([], StructInfo::Object);
        let mut asked = 0;
        for seed in 0..4_000 {
            let (s1, s2) = struct_info_pair(&mut Tape::from_seed(seed, 128), 3, &vars);
            let (StructInfo::Func(f1), StructInfo::Func(f2)) = (&s1, &s2) else { continue };
            if f1.params.is_none() || f2.params.is_none() {
                continue;
            }
            asked += 1;
            // A function inside, because of which the variables are brought into scope; and a variable that must be
            // replaced, because of which the others are as well. Both are compatible with their counterparts.
            let inside = [with_param(&s1, nothing()), with_param(&s2, nothing())];
            let replaced = [with_param(&s1, v("left")), with_param(&s2, v("right"))];
            for [long1, long2] in [inside, replaced] {
                assert_eq!(check(&s1, &s2), check(&long1, &long2), "{s1} and {s2}");
                let ordered = |s1: &StructInfo, s2: &StructInfo| is_more_specific(&mut Cx::new(), s1, s2);
                assert_eq!(ordered(&s1, &s2), ordered(&long1, &long2), "{s1} and {s2}");
            }
        }
        assert!(asked > 300, "{asked}");
    }
}
