//! Checking compatibility: may a value described by `S1` stand where `S2` is expected?

use std::collections::BTreeSet;

use super::derive_func::same_derive_func;
use super::mapping::{Mapping, extend_mapping, introduced_shape_vars};
use super::same_shape::{compare_dims, compare_shapes, is_var};
use super::substitute::substitute;
use super::surroundings::{Inside, Nowhere, Surroundings};
use crate::cx::Cx;
use crate::erratum::Erratum;
use crate::grammar::{FuncStructInfo, PrimStructInfo, ShapeStructInfo, StructInfo, TensorShape, TensorStructInfo};
use crate::rule::Rule;
use crate::verdict::Compatibility::{self, Compatible, Incompatible, Possibly};
use crate::verdict::Proof;

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
    cx.judge(
        "check_compatibility",
        || vec![s1.to_string(), s2.to_string()],
        |cx| match (s1, s2) {
            (_, StructInfo::Object) if cx.fire(Rule::SiCompatObject) => Compatible,
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
    if cx.fire(Rule::SiCompatKind) { Incompatible } else { Compatible }
}

fn tuple(cx: &mut Cx, fields1: &[StructInfo], fields2: &[StructInfo], scope: &dyn Surroundings) -> Compatibility {
    if cx.rule(Rule::SiCompatTupleLen, fields1.len() != fields2.len()) {
        return Incompatible;
    }
    let mut worst = Compatible;
    for (field1, field2) in fields1.iter().zip(fields2) {
        let answer = check_compatibility_in(cx, field1, field2, scope);
        if cx.rule(Rule::SiCompatTupleIncompat, answer == Incompatible) {
            return Incompatible;
        }
        worst = worst.max(answer);
    }
    if cx.rule(Rule::SiCompatTuplePossible, worst == Possibly) {
        return Possibly;
    }
    if cx.fire(Rule::SiCompatTupleAll) { Compatible } else { Possibly }
}

fn shape(cx: &mut Cx, s1: &ShapeStructInfo, s2: &ShapeStructInfo) -> Compatibility {
    if cx.rule(Rule::SiCompatShapeAnyrank, s2.ndim.is_unknown()) {
        return Compatible;
    }
    if cx.rule(Rule::SiCompatShapeRank, s1.ndim != s2.ndim) {
        return Incompatible;
    }
    let Some(values2) = &s2.values else {
        return if cx.fire(Rule::SiCompatShapeNovalues) { Compatible } else { Possibly };
    };
    let Some(values1) = &s1.values else {
        return if cx.fire(Rule::SiCompatShapeS1novalues) { Possibly } else { Compatible };
    };
    let proof = compare_dims(cx, values1, values2);
    let rules = [Rule::SiCompatShapeNeq, Rule::SiCompatShapeEq, Rule::SiCompatShapeUnknown];
    verdict(cx, proof, rules)
}

/// The answer that a comparison of dimensions gives, by the rules for different, equal and undecided.
fn verdict(cx: &mut Cx, proof: Proof, [different, equal, unknown]: [Rule; 3]) -> Compatibility {
    match proof {
        Proof::Different if cx.fire(different) => Incompatible,
        Proof::Equal if cx.fire(equal) => Compatible,
        Proof::Unknown if cx.fire(unknown) => Possibly,
        // Masked: the cautious answer, and for the cautious rule itself the other one.
        Proof::Different | Proof::Equal => Possibly,
        Proof::Unknown => Incompatible,
    }
}

fn tensor(cx: &mut Cx, t1: &TensorStructInfo, t2: &TensorStructInfo, scope: &dyn Surroundings) -> Compatibility {
    if cx.rule(Rule::SiCompatTensorDtype, !t2.dtype.is_void() && t1.dtype != t2.dtype) {
        return Incompatible;
    }
    if cx.rule(Rule::SiCompatTensorNdim, !t2.ndim.is_unknown() && t1.ndim != t2.ndim) {
        return Incompatible;
    }
    let Some(shape2) = &t2.shape else {
        return if cx.fire(Rule::SiCompatTensorNoshape) { Compatible } else { Possibly };
    };
    let Some(shape1) = &t1.shape else {
        return if cx.fire(Rule::SiCompatTensorS1noshape) { Possibly } else { Compatible };
    };
    tensor_shapes(cx, shape1, shape2, scope)
}

fn tensor_shapes(cx: &mut Cx, shape1: &TensorShape, shape2: &TensorShape, scope: &dyn Surroundings) -> Compatibility {
    let proof = compare_shapes(cx, shape1, shape2, scope);
    let rules = if is_var(shape1) || is_var(shape2) {
        [Rule::SiCompatTensorVarNeq, Rule::SiCompatTensorVarEq, Rule::SiCompatTensorVarUnknown]
    } else {
        [Rule::SiCompatTensorDimsNeq, Rule::SiCompatTensorDimsEq, Rule::SiCompatTensorDimsUnknown]
    };
    verdict(cx, proof, rules)
}

fn func(cx: &mut Cx, f1: &FuncStructInfo, f2: &FuncStructInfo, scope: &dyn Surroundings) -> Compatibility {
    if cx.rule(Rule::SiCompatFuncForm, f1.params.is_some() != f2.params.is_some()) {
        return Incompatible;
    }
    let (Some(params1), Some(params2)) = (&f1.params, &f2.params) else {
        return packed(cx, f1, f2);
    };
    if cx.rule(Rule::SiCompatFuncArity, params1.len() != params2.len()) {
        return Incompatible;
    }
    // An impure function where a pure one is demanded, if the infos have the optional field (A18).
    if f2.pure == Some(true) && !cx.literal(Erratum::A18) && !cx.premise(Rule::SiCompatInvariant, 1, f1.pure == f2.pure)
    {
        return Incompatible;
    }
    closures(cx, f1, params1, f2, params2, scope)
}

fn packed(cx: &mut Cx, f1: &FuncStructInfo, f2: &FuncStructInfo) -> Compatibility {
    if same_derive_func(cx, f1.derive_func.as_ref(), f2.derive_func.as_ref()) {
        return if cx.fire(Rule::SiCompatFuncPackedSame) { Compatible } else { Possibly };
    }
    if cx.fire(Rule::SiCompatFuncPackedDiff) { Possibly } else { Incompatible }
}

/// SI.COMPAT.FUNC.MAP: `s1` in the variables that `params2` introduces, and the scope inside `s2`.
pub(super) fn in_terms_of<'a>(
    cx: &mut Cx,
    f1: &FuncStructInfo,
    params1: &[StructInfo],
    params2: &[StructInfo],
    scope: &'a dyn Surroundings,
) -> (FuncStructInfo, Inside<'a>) {
    let mut mapping = Mapping::new();
    for (param1, param2) in params1.iter().zip(params2) {
        extend_mapping(cx, &mut mapping, param1, param2, scope);
    }
    let replace = |cx: &mut Cx, s: &StructInfo| substitute(cx, s, &mapping, scope);
    let whole = StructInfo::Func(std::sync::Arc::new(f1.clone()));
    let replaced = match replace(cx, &whole) {
        StructInfo::Func(func) => (*func).clone(),
        StructInfo::Object
        | StructInfo::Tensor(_)
        | StructInfo::Shape(_)
        | StructInfo::Prim(_)
        | StructInfo::Tuple(_) => f1.clone(),
    };
    let mut shape_vars: BTreeSet<_> = params2.iter().flat_map(introduced_shape_vars).collect();
    shape_vars.extend(replaced.params.iter().flat_map(|params| params.iter()).flat_map(introduced_shape_vars));
    (replaced, Inside { outer: scope, shape_vars })
}

fn closures(
    cx: &mut Cx,
    f1: &FuncStructInfo,
    params1: &[StructInfo],
    f2: &FuncStructInfo,
    params2: &[StructInfo],
    scope: &dyn Surroundings,
) -> Compatibility {
    let (f1, inside) = if cx.fire(Rule::SiCompatFuncMap) {
        in_terms_of(cx, f1, params1, params2, scope)
    } else {
        (f1.clone(), Inside { outer: scope, shape_vars: BTreeSet::new() })
    };
    let params1 = f1.params.iter().flat_map(|params| params.iter());
    // Parameters in reverse, then results forward.
    let reversed = params2.iter().zip(params1);
    let mut worst = Compatible;
    for (known, demanded) in reversed.chain([(&f1.ret, &f2.ret)]) {
        let answer = check_compatibility_in(cx, known, demanded, &inside);
        if cx.rule(Rule::SiCompatFuncIncompat, answer == Incompatible) {
            return Incompatible;
        }
        worst = worst.max(answer);
    }
    if cx.rule(Rule::SiCompatFuncPossible, worst == Possibly) {
        return Possibly;
    }
    if cx.fire(Rule::SiCompatFuncAll) { Compatible } else { Possibly }
}

/// Boxed scalars are related to their own datatype only (A53); a known value is compared as a dimension is.
fn prim(cx: &mut Cx, p1: &PrimStructInfo, p2: &PrimStructInfo) -> Compatibility {
    if !cx.premise(Rule::Pr14148SiPrimRules, 1, p1.dtype == p2.dtype) {
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
