//! Matching shape variables of one structural information with dimensions of another.

use std::collections::{BTreeMap, BTreeSet};

use super::surroundings::Surroundings;
use crate::cx::{Conclusion, Cx, with_stack};
use crate::erratum::Erratum;
use crate::grammar::{FuncStructInfo, PrimExpr, ShapeStructInfo, ShapeVar, StructInfo, TensorShape, TensorStructInfo};
use crate::rule::Rule;
use crate::shape::alpha_equal;

/// What shape variables are to be replaced by.
pub type Mapping = BTreeMap<ShapeVar, PrimExpr>;

struct Shown(Mapping);

impl Conclusion for Shown {
    fn conclude(&self) -> String {
        let entries: Vec<String> = self.0.iter().map(|(v, e)| format!("{v}: {e}")).collect();
        format!("{{{}}}", entries.join(", "))
    }
}

/// SI.MAPPING: the map from unbound shape variables of `s1` to dimensions of `s2` that a structural match finds.
///
/// `scope` says which variables are bound. 2023-02, Substituting Free Shape Variables. Literal A11: a variable of a
/// shape is mapped to itself.
pub fn get_shape_var_mapping(cx: &mut Cx, s1: &StructInfo, s2: &StructInfo, scope: &dyn Surroundings) -> Mapping {
    let mut mapping = Mapping::new();
    extend_mapping(cx, &mut mapping, s1, s2, scope);
    mapping
}

/// SI.MAPPING.UNION: unites into `mapping` what the match of two infos gives; the leftmost entry counts (A10).
pub fn extend_mapping(cx: &mut Cx, mapping: &mut Mapping, s1: &StructInfo, s2: &StructInfo, scope: &dyn Surroundings) {
    let found = std::mem::take(mapping);
    let inputs = || vec![s1.to_string(), s2.to_string()];
    let united = cx.judge("get_shape_var_mapping", inputs, |cx| {
        let mut united = found;
        match_infos(cx, &mut united, s1, s2, scope);
        Shown(united)
    });
    *mapping = united.0;
}

fn match_infos(cx: &mut Cx, mapping: &mut Mapping, s1: &StructInfo, s2: &StructInfo, scope: &dyn Surroundings) {
    match (s1, s2) {
        (StructInfo::Tuple(fields1), StructInfo::Tuple(fields2)) => match_tuples(cx, mapping, fields1, fields2, scope),
        (StructInfo::Func(f1), StructInfo::Func(f2)) => match_funcs(cx, mapping, f1, f2, scope),
        (StructInfo::Shape(s1), StructInfo::Shape(s2)) => match_shapes(cx, mapping, s1, s2, scope),
        (StructInfo::Tensor(t1), StructInfo::Tensor(t2)) => match_tensors(cx, mapping, t1, t2, scope),
        // Nothing to search in objects and scalars; of two forms nothing corresponds.
        (StructInfo::Object, StructInfo::Object) | (StructInfo::Prim(_), StructInfo::Prim(_)) => {}
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
        ) => different_kinds(cx, mapping, s1, s2, scope),
    }
}

/// SI.MAPPING.KIND: nothing is mapped. Masked, a tensor's dimensions and a shape's values would correspond.
fn different_kinds(cx: &mut Cx, mapping: &mut Mapping, s1: &StructInfo, s2: &StructInfo, scope: &dyn Surroundings) {
    if cx.fire(Rule::SiMappingKind) {
        return;
    }
    let dims = |s: &StructInfo| match s {
        StructInfo::Tensor(TensorStructInfo { shape: Some(TensorShape::Dims(dims)), .. }) => Some(dims.clone()),
        StructInfo::Shape(ShapeStructInfo { values, .. }) => values.clone(),
        StructInfo::Object
        | StructInfo::Tensor(_)
        | StructInfo::Prim(_)
        | StructInfo::Tuple(_)
        | StructInfo::Func(_) => None,
    };
    if let (Some(dims1), Some(dims2)) = (dims(s1), dims(s2)) {
        match_dims(cx, mapping, &dims1, &dims2, scope);
    }
}

fn match_tuples(
    cx: &mut Cx,
    mapping: &mut Mapping,
    fields1: &[StructInfo],
    fields2: &[StructInfo],
    scope: &dyn Surroundings,
) {
    if cx.rule(Rule::SiMappingTupleLen, fields1.len() != fields2.len()) || !cx.fire(Rule::SiMappingTuple) {
        return;
    }
    for (field1, field2) in fields1.iter().zip(fields2) {
        extend_mapping(cx, mapping, field1, field2, scope);
    }
}

fn match_funcs(cx: &mut Cx, mapping: &mut Mapping, f1: &FuncStructInfo, f2: &FuncStructInfo, scope: &dyn Surroundings) {
    let (Some(params1), Some(params2)) = (&f1.params, &f2.params) else {
        if !cx.fire(Rule::SiMappingFuncElse) {
            extend_mapping(cx, mapping, &f1.ret, &f2.ret, scope);
        }
        return;
    };
    if cx.rule(Rule::SiMappingFuncElse, params1.len() != params2.len()) || !cx.fire(Rule::SiMappingFunc) {
        return;
    }
    for (param1, param2) in params1.iter().zip(params2.iter()) {
        extend_mapping(cx, mapping, param1, param2, scope);
    }
    if !cx.fire(Rule::SiMappingFuncNoret) {
        extend_mapping(cx, mapping, &f1.ret, &f2.ret, scope);
    }
}

fn match_shapes(
    cx: &mut Cx,
    mapping: &mut Mapping,
    s1: &ShapeStructInfo,
    s2: &ShapeStructInfo,
    scope: &dyn Surroundings,
) {
    let (Some(values1), Some(values2)) = (&s1.values, &s2.values) else {
        let _ = cx.fire(Rule::SiMappingShapeElse);
        return;
    };
    if cx.rule(Rule::SiMappingShapeElse, values1.len() != values2.len()) || !cx.fire(Rule::SiMappingShape) {
        return;
    }
    // The text assigns `S1.values[i]` to itself (A11).
    let values2 = if cx.literal(Erratum::A11) { values1 } else { values2 };
    match_dims(cx, mapping, values1, values2, scope);
}

fn match_tensors(
    cx: &mut Cx,
    mapping: &mut Mapping,
    t1: &TensorStructInfo,
    t2: &TensorStructInfo,
    scope: &dyn Surroundings,
) {
    let (Some(TensorShape::Dims(dims1)), Some(TensorShape::Dims(dims2))) = (&t1.shape, &t2.shape) else {
        let _ = cx.fire(Rule::SiMappingTensorElse);
        return;
    };
    if cx.rule(Rule::SiMappingTensorElse, dims1.len() != dims2.len()) || !cx.fire(Rule::SiMappingTensor) {
        return;
    }
    match_dims(cx, mapping, dims1, dims2, scope);
}

fn match_dims(cx: &mut Cx, mapping: &mut Mapping, dims1: &[PrimExpr], dims2: &[PrimExpr], scope: &dyn Surroundings) {
    for (dim1, dim2) in dims1.iter().zip(dims2) {
        let PrimExpr::Var(v) = dim1 else { continue };
        let bound = scope.has_shape_var(v);
        if cx.rule(Rule::SiMappingNotbound, bound) {
            continue;
        }
        let taken = mapping.get(v).is_some_and(|earlier| !alpha_equal(earlier, dim2));
        if !cx.rule(Rule::SiMappingUnion, taken) {
            mapping.insert(v.clone(), dim2.clone());
        }
    }
}

/// The shape variables that an info introduces where it stands in a binding position: its lone dimensions, also
/// inside tuples. Those of a function type belong to that type (A44).
pub fn introduced_shape_vars(s: &StructInfo) -> BTreeSet<ShapeVar> {
    let mut found = BTreeSet::new();
    collect(s, false, &mut |dim| {
        if let PrimExpr::Var(v) = dim {
            found.insert(v.clone());
        }
    });
    found
}

/// Every shape variable that an info mentions anywhere.
pub(super) fn all_shape_vars(s: &StructInfo) -> BTreeSet<ShapeVar> {
    let mut found = BTreeSet::new();
    collect(s, true, &mut |dim| {
        dim.for_each_var(|v| {
            found.insert(v.clone());
        })
    });
    found
}

fn collect(s: &StructInfo, into_functions: bool, visit: &mut dyn FnMut(&PrimExpr)) {
    with_stack(|| match s {
        StructInfo::Object => {}
        StructInfo::Tensor(TensorStructInfo { shape: Some(TensorShape::Dims(dims)), .. }) => {
            dims.iter().for_each(visit);
        }
        // A shape given by any other expression mentions no shape variable that anyone could match.
        StructInfo::Tensor(_) => {}
        StructInfo::Shape(shape) => shape.values.iter().flat_map(|values| values.iter()).for_each(visit),
        StructInfo::Prim(prim) => prim.value.iter().for_each(visit),
        StructInfo::Tuple(fields) => fields.iter().for_each(|field| collect(field, into_functions, visit)),
        StructInfo::Func(func) if into_functions => {
            let params = func.params.iter().flat_map(|params| params.iter());
            params.chain([&func.ret]).for_each(|part| collect(part, into_functions, visit));
        }
        StructInfo::Func(_) => {}
    })
}
