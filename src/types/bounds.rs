//! Bounds: `find_glb` and `find_lub`, which call each other on the arguments of functions.

use std::sync::Arc;

use super::equality::{Known, first_difference};
use crate::book::{Erratum, Rule};
use crate::grammar::{DataType, DynTensorType, FuncType, Ndim, ShapeType, Type};
use crate::judge::{Conclusion, Cx, GlbPurity};

/// GLB: the greatest lower bound of two types, or `None` where there is none.
///
/// 2023-02, Subtyping. Literal A06: the comparison that stands where an assignment is meant is a comparison, and
/// a known field clashes with an unknown one on the right. [`Cx::glb_purity`] decides on A27.
pub fn find_glb(cx: &mut Cx, t1: &Type, t2: &Type) -> Option<Type> {
    glb(cx, t1, t2, Known::Nothing)
}

/// LUB: the least upper bound of two types, which always exists.
///
/// 2023-02, Subtyping.
pub fn find_lub(cx: &mut Cx, t1: &Type, t2: &Type) -> Type {
    lub(cx, t1, t2, Known::Nothing)
}

struct Bound(Option<Type>);

impl Conclusion for Bound {
    fn conclude(&self) -> String {
        self.0.as_ref().map_or_else(|| "none".to_string(), Type::to_string)
    }
}

/// Whether two types are not both tensors, both tuples, and so on.
///
/// Literal E36: one of "not both tensors", "not both tuples" and so on is true of every pair.
fn different_kinds(cx: &Cx, t1: &Type, t2: &Type) -> bool {
    std::mem::discriminant(t1) != std::mem::discriminant(t2) || cx.literal(Erratum::E36)
}

fn glb(cx: &mut Cx, t1: &Type, t2: &Type, known: Known) -> Option<Type> {
    let inputs = || vec![t1.to_string(), t2.to_string()];
    let body = |cx: &mut Cx| match known {
        Known::Same => Bound(glb_cases(cx, t1, t2, true, known)),
        Known::DifferAt(_) => Bound(glb_cases(cx, t1, t2, false, known)),
        Known::Nothing => match first_difference(t1, t2) {
            None => Bound(glb_cases(cx, t1, t2, true, Known::Same)),
            Some(path) => Bound(glb_cases(cx, t1, t2, false, Known::DifferAt(&path))),
        },
    };
    cx.judge("find_glb", inputs, body).0
}

fn glb_cases(cx: &mut Cx, t1: &Type, t2: &Type, equal: bool, known: Known) -> Option<Type> {
    if cx.rule(rule!("GLB.EQ"), equal) {
        return Some(t2.clone());
    }
    if cx.rule(rule!("GLB.OBJ-L"), *t1 == Type::Object) {
        return Some(t2.clone());
    }
    if cx.rule(rule!("GLB.OBJ-R"), *t2 == Type::Object) {
        return Some(t1.clone());
    }
    let different = different_kinds(cx, t1, t2);
    if cx.rule(rule!("GLB.KIND"), different) {
        return None;
    }
    match (t1, t2) {
        (Type::Shape(t1), Type::Shape(t2)) => glb_shape(cx, t1, t2),
        (Type::Tensor(t1), Type::Tensor(t2)) => glb_tensor(cx, t1, t2),
        (Type::Tuple(t1), Type::Tuple(t2)) => glb_tuple(cx, t1, t2, known),
        (Type::Func(t1), Type::Func(t2)) => glb_func(cx, t1, t2, known),
        // Only reached where the rules above are masked: no case is left.
        (Type::PackedFunc, Type::PackedFunc) => None,
        (
            Type::Object | Type::Shape(_) | Type::Tensor(_) | Type::Tuple(_) | Type::Func(_) | Type::PackedFunc,
            Type::Object | Type::Shape(_) | Type::Tensor(_) | Type::Tuple(_) | Type::Func(_) | Type::PackedFunc,
        ) => Some(t1.clone()),
    }
}

/// The text writes `ret_ndim == T2.ndim`, a comparison without effect; literally the rank stays unknown (A06).
fn fill_ndim(cx: &mut Cx, rule: Rule, ndim1: Ndim, ndim2: Ndim) -> Ndim {
    if cx.fire(rule) && ndim1.is_unknown() && !cx.literal(Erratum::A06) { ndim2 } else { ndim1 }
}

/// Literally the right side clashes whenever it is not the rank found, -1 included (A06).
fn ndim_clashes(cx: &Cx, ret_ndim: Ndim, ndim2: Ndim) -> bool {
    let differ = !ret_ndim.is_unknown() && ndim2 != ret_ndim;
    differ && (cx.literal(Erratum::A06) || !ndim2.is_unknown())
}

/// As [`ndim_clashes`], for datatypes.
fn dtype_clashes(cx: &Cx, ret_dtype: DataType, dtype2: DataType) -> bool {
    let differ = !ret_dtype.is_void() && dtype2 != ret_dtype;
    differ && (cx.literal(Erratum::A06) || !dtype2.is_void())
}

fn glb_shape(cx: &mut Cx, t1: &ShapeType, t2: &ShapeType) -> Option<Type> {
    let ret_ndim = fill_ndim(cx, rule!("GLB.SHAPE.FILL"), t1.ndim, t2.ndim);
    let clash = ndim_clashes(cx, ret_ndim, t2.ndim);
    if cx.rule(rule!("GLB.SHAPE.CLASH"), clash) {
        return None;
    }
    cx.fire(rule!("GLB.SHAPE.RET")).then_some(Type::Shape(ShapeType { ndim: ret_ndim }))
}

fn glb_tensor(cx: &mut Cx, t1: &DynTensorType, t2: &DynTensorType) -> Option<Type> {
    let ret_ndim = fill_ndim(cx, rule!("GLB.TENSOR.FILL-NDIM"), t1.ndim, t2.ndim);
    let fill_dtype = cx.fire(rule!("GLB.TENSOR.FILL-DTYPE")) && t1.dtype.is_void();
    let ret_dtype = if fill_dtype { t2.dtype } else { t1.dtype };
    let ndim_clash = ndim_clashes(cx, ret_ndim, t2.ndim);
    if cx.rule(rule!("GLB.TENSOR.CLASH-NDIM"), ndim_clash) {
        return None;
    }
    let dtype_clash = dtype_clashes(cx, ret_dtype, t2.dtype);
    if cx.rule(rule!("GLB.TENSOR.CLASH-DTYPE"), dtype_clash) {
        return None;
    }
    cx.fire(rule!("GLB.TENSOR.RET")).then_some(Type::Tensor(DynTensorType { ndim: ret_ndim, dtype: ret_dtype }))
}

fn glb_tuple(cx: &mut Cx, t1: &[Type], t2: &[Type], known: Known) -> Option<Type> {
    if cx.rule(rule!("GLB.TUPLE.LEN"), t1.len() != t2.len()) {
        return None;
    }
    let mut fields = Vec::with_capacity(t1.len());
    for (i, (field1, field2)) in t1.iter().zip(t2).enumerate() {
        let bound = glb(cx, field1, field2, known.component(i));
        if cx.rule(rule!("GLB.TUPLE.FIELD-NONE"), bound.is_none()) {
            return None;
        }
        fields.push(bound.unwrap_or(Type::Object));
    }
    cx.fire(rule!("GLB.TUPLE.RET")).then_some(Type::Tuple(fields.into()))
}

/// GLB.FUNC.PURITY and GLB.FUNC.PURITY-KEEP: the purity of the result, or `None` where there is no lower bound.
fn glb_purity(cx: &mut Cx, pure1: bool, pure2: bool) -> Option<bool> {
    if pure1 == pure2 {
        return Some(if cx.fire(rule!("GLB.FUNC.PURITY-KEEP")) { pure1 } else { !pure1 });
    }
    match (cx.fire(rule!("GLB.FUNC.PURITY")), cx.glb_purity) {
        (false, _) | (true, GlbPurity::Min) => Some(true),
        (true, GlbPurity::Literal) => None,
    }
}

fn glb_func(cx: &mut Cx, t1: &FuncType, t2: &FuncType, known: Known) -> Option<Type> {
    let pure = glb_purity(cx, t1.pure, t2.pure)?;
    let arity = t1.arg_types.len();
    if cx.rule(rule!("GLB.FUNC.ARITY"), arity != t2.arg_types.len()) {
        return None;
    }
    let arg_types = glb_func_args(cx, t1, t2, known);
    let bound = glb(cx, &t1.ret_type, &t2.ret_type, known.component(arity));
    if cx.rule(rule!("GLB.FUNC.RET-NONE"), bound.is_none()) {
        return None;
    }
    let ret_type = bound.unwrap_or(Type::Object);
    cx.fire(rule!("GLB.FUNC.RET")).then_some(Type::Func(Arc::new(FuncType { arg_types, ret_type, pure })))
}

fn glb_func_args(cx: &mut Cx, t1: &FuncType, t2: &FuncType, known: Known) -> Arc<[Type]> {
    let least = cx.fire(rule!("GLB.FUNC.ARGS"));
    let pairs = t1.arg_types.iter().zip(t2.arg_types.iter()).enumerate();
    pairs.map(|(i, (arg1, arg2))| if least { lub(cx, arg1, arg2, known.component(i)) } else { arg1.clone() }).collect()
}

fn lub(cx: &mut Cx, t1: &Type, t2: &Type, known: Known) -> Type {
    let inputs = || vec![t1.to_string(), t2.to_string()];
    let body = |cx: &mut Cx| match known {
        Known::Same => lub_cases(cx, t1, t2, true, known),
        Known::DifferAt(_) => lub_cases(cx, t1, t2, false, known),
        Known::Nothing => match first_difference(t1, t2) {
            None => lub_cases(cx, t1, t2, true, Known::Same),
            Some(path) => lub_cases(cx, t1, t2, false, Known::DifferAt(&path)),
        },
    };
    cx.judge("find_lub", inputs, body)
}

fn lub_cases(cx: &mut Cx, t1: &Type, t2: &Type, equal: bool, known: Known) -> Type {
    if cx.rule(rule!("LUB.EQ"), equal) {
        return t1.clone();
    }
    if cx.rule(rule!("LUB.OBJ"), *t1 == Type::Object || *t2 == Type::Object) {
        return Type::Object;
    }
    let different = different_kinds(cx, t1, t2);
    if cx.rule(rule!("LUB.KIND"), different) {
        return Type::Object;
    }
    match (t1, t2) {
        (Type::Shape(t1), Type::Shape(t2)) => lub_shape(cx, t1, t2),
        (Type::Tensor(t1), Type::Tensor(t2)) => lub_tensor(cx, t1, t2),
        (Type::Tuple(t1), Type::Tuple(t2)) => lub_tuple(cx, t1, t2, known),
        (Type::Func(t1), Type::Func(t2)) => lub_func(cx, t1, t2, known),
        // Only reached where the rules above are masked: no case is left.
        (Type::PackedFunc, Type::PackedFunc) => Type::Object,
        (
            Type::Object | Type::Shape(_) | Type::Tensor(_) | Type::Tuple(_) | Type::Func(_) | Type::PackedFunc,
            Type::Object | Type::Shape(_) | Type::Tensor(_) | Type::Tuple(_) | Type::Func(_) | Type::PackedFunc,
        ) => t1.clone(),
    }
}

/// The common rank, or -1.
fn common_ndim(cx: &mut Cx, rule: Rule, ndim1: Ndim, ndim2: Ndim) -> Ndim {
    if cx.fire(rule) && ndim1 != ndim2 { Ndim::Unknown } else { ndim1 }
}

fn lub_shape(cx: &mut Cx, t1: &ShapeType, t2: &ShapeType) -> Type {
    Type::Shape(ShapeType { ndim: common_ndim(cx, rule!("LUB.SHAPE"), t1.ndim, t2.ndim) })
}

fn lub_tensor(cx: &mut Cx, t1: &DynTensorType, t2: &DynTensorType) -> Type {
    let ndim = common_ndim(cx, rule!("LUB.TENSOR.NDIM"), t1.ndim, t2.ndim);
    let differ = cx.fire(rule!("LUB.TENSOR.DTYPE")) && t1.dtype != t2.dtype;
    let dtype = if differ { DataType::VOID } else { t1.dtype };
    Type::Tensor(DynTensorType { ndim, dtype })
}

fn lub_tuple(cx: &mut Cx, t1: &[Type], t2: &[Type], known: Known) -> Type {
    if cx.rule(rule!("LUB.TUPLE.LEN"), t1.len() != t2.len()) || !cx.fire(rule!("LUB.TUPLE.RET")) {
        return Type::Object;
    }
    let pairs = t1.iter().zip(t2).enumerate();
    Type::Tuple(pairs.map(|(i, (field1, field2))| lub(cx, field1, field2, known.component(i))).collect())
}

fn lub_func(cx: &mut Cx, t1: &FuncType, t2: &FuncType, known: Known) -> Type {
    let pure = if cx.fire(rule!("LUB.FUNC.PURITY")) { t1.pure && t2.pure } else { t1.pure || t2.pure };
    let arity = t1.arg_types.len();
    if cx.rule(rule!("LUB.FUNC.ARITY"), arity != t2.arg_types.len()) {
        return Type::Object;
    }
    let mut arg_types = Vec::with_capacity(arity);
    for (i, (arg1, arg2)) in t1.arg_types.iter().zip(t2.arg_types.iter()).enumerate() {
        let bound = glb(cx, arg1, arg2, known.component(i));
        if cx.rule(rule!("LUB.FUNC.ARG-NONE"), bound.is_none()) {
            return Type::Object;
        }
        arg_types.push(bound.unwrap_or(Type::Object));
    }
    let ret_type = lub(cx, &t1.ret_type, &t2.ret_type, known.component(arity));
    if !cx.fire(rule!("LUB.FUNC.RET")) {
        return Type::Object;
    }
    Type::Func(Arc::new(FuncType { arg_types: arg_types.into(), ret_type, pure }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::Reading;

    const F32: DataType = DataType::FLOAT32;
    const VOID: DataType = DataType::VOID;

    fn literal() -> Cx {
        Cx::new().with_reading(Reading::literal_only(&[Erratum::A06]))
    }

    #[test]
    fn unknown_fields_are_filled_from_either_side() {
        let mut cx = Cx::new();
        assert_eq!(find_glb(&mut cx, &Type::shape(-1), &Type::shape(3)), Some(Type::shape(3)));
        assert_eq!(find_glb(&mut cx, &Type::shape(3), &Type::shape(-1)), Some(Type::shape(3)));
        let (left, right) = (Type::tensor(2, VOID), Type::tensor(-1, F32));
        assert_eq!(find_glb(&mut cx, &left, &right), Some(Type::tensor(2, F32)));
        assert_eq!(find_glb(&mut cx, &Type::tensor(2, F32), &Type::tensor(3, F32)), None);
    }

    #[test]
    fn the_literal_comparison_is_no_assignment() {
        let mut cx = literal();
        assert_eq!(find_glb(&mut cx, &Type::shape(-1), &Type::shape(3)), Some(Type::shape(-1)));
        assert_eq!(find_glb(&mut cx, &Type::shape(3), &Type::shape(-1)), None);
        assert_eq!(find_glb(&mut cx, &Type::tensor(2, F32), &Type::tensor(2, VOID)), None);
        // The datatype is assigned even literally.
        assert_eq!(find_glb(&mut cx, &Type::tensor(2, VOID), &Type::tensor(2, F32)), Some(Type::tensor(2, F32)));
    }

    #[test]
    fn functions_meet_their_arguments() {
        let f = |arg, ret| Type::func([Type::tensor(arg, F32)], Type::tensor(ret, F32), false);
        let expected = Type::func([Type::tensor(2, F32)], Type::tensor(-1, F32), false);
        assert_eq!(find_lub(&mut Cx::new(), &f(2, 2), &f(-1, 3)), expected);
        assert_eq!(find_lub(&mut literal(), &f(2, 2), &f(-1, 3)), Type::Object);
        assert_eq!(find_lub(&mut literal(), &f(-1, 3), &f(2, 2)), f(-1, -1));
    }

    #[test]
    fn purity_of_a_lower_bound() {
        let f = |pure| Type::func([], Type::Object, pure);
        assert_eq!(find_glb(&mut Cx::new(), &f(true), &f(false)), None);
        let mut min = Cx::new();
        min.glb_purity = GlbPurity::Min;
        assert_eq!(find_glb(&mut min, &f(true), &f(false)), Some(f(true)));
        assert_eq!(find_lub(&mut Cx::new(), &f(true), &f(false)), f(false));
    }
}
