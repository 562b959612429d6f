//! Bounds: `find_glb` and `find_lub`, which call each other on the arguments of functions.

use std::sync::Arc;

use super::equality::same;
use super::kinds::TypePair;
use crate::book::Erratum;
use crate::grammar::{DataType, DynTensorType, FuncType, Ndim, ShapeType, Type};
use crate::judge::{Conclusion, Cx, GlbPurity, MemoQuery};

/// GLB: the greatest lower bound of two types, or `None` if there is none.
///
/// 2023-02, Subtyping. Literal A06: a comparison written where an assignment is meant stays a comparison, and a known
/// field clashes with an unknown one on the right. [`Cx::glb_purity`] decides on A27.
pub fn find_glb(cx: &mut Cx, t1: &Type, t2: &Type) -> Option<Type> {
    cx.judge("find_glb", MemoQuery::both(t1, t2), |cx| TypeBound(glb(cx, t1, t2))).0
}

/// LUB: the least upper bound of two types, which always exists.
///
/// 2023-02, Subtyping.
pub fn find_lub(cx: &mut Cx, t1: &Type, t2: &Type) -> Type {
    cx.judge("find_lub", MemoQuery::both(t1, t2), |cx| lub(cx, t1, t2))
}

#[derive(Clone)]
struct TypeBound(Option<Type>);

impl Conclusion for TypeBound {
    fn conclude(&self) -> String {
        self.0.as_ref().map_or_else(|| "none".to_string(), Type::to_string)
    }
}

fn is_object(t: &Type) -> bool {
    matches!(t, Type::Object)
}

/// The kinds of two types.
///
/// Literal E36: one of "not both tensors", "not both tuples" and so on is true of every pair.
fn kinds_of<'a>(cx: &Cx, t1: &'a Type, t2: &'a Type) -> TypePair<'a> {
    if cx.literal(Erratum::E36) { TypePair::Different } else { TypePair::of(t1, t2) }
}

fn glb(cx: &mut Cx, t1: &Type, t2: &Type) -> Option<Type> {
    let equal = same(cx, t1, t2);
    let by_form = cx.by_cases(&[
        (rule!("GLB.EQ"), equal, t2),
        (rule!("GLB.OBJ-L"), is_object(t1), t2),
        (rule!("GLB.OBJ-R"), is_object(t2), t1),
    ]);
    if let Some(bound) = by_form {
        return Some(bound.clone());
    }
    match kinds_of(cx, t1, t2) {
        TypePair::Shapes(t1, t2) => glb_shape(cx, t1, t2),
        TypePair::Tensors(t1, t2) => glb_tensor(cx, t1, t2),
        TypePair::Tuples(t1, t2) => glb_tuple(cx, t1, t2),
        TypePair::Funcs(t1, t2) => glb_func(cx, t1, t2),
        TypePair::Objects | TypePair::PackedFuncs | TypePair::Different => cx.by_kind(rule!("GLB.KIND"), None),
    }
}

/// The rank of the first, or that of the second if the first is unknown. The text writes `ret_ndim == T2.ndim`, a
/// comparison without effect. Literally the rank stays unknown (A06).
fn filled_ndim(cx: &Cx, ndim1: Ndim, ndim2: Ndim) -> Ndim {
    if ndim1.is_unknown() && !cx.literal(Erratum::A06) { ndim2 } else { ndim1 }
}

/// Whether two ranks clash. Literally the right side clashes whenever it differs from the rank found, even if it is -1
/// (A06).
fn ndim_clashes(cx: &Cx, ret_ndim: Ndim, ndim2: Ndim) -> bool {
    let differ = !ret_ndim.is_unknown() && ndim2 != ret_ndim;
    differ && (cx.literal(Erratum::A06) || !ndim2.is_unknown())
}

/// Like [`ndim_clashes`], for datatypes.
fn dtype_clashes(cx: &Cx, ret_dtype: DataType, dtype2: DataType) -> bool {
    let differ = !ret_dtype.is_void() && dtype2 != ret_dtype;
    differ && (cx.literal(Erratum::A06) || !dtype2.is_void())
}

fn glb_shape(cx: &mut Cx, t1: &ShapeType, t2: &ShapeType) -> Option<Type> {
    let ret_ndim = filled_ndim(cx, t1.ndim, t2.ndim);
    let ret_ndim = cx.conclude(rule!("GLB.SHAPE.FILL"), ret_ndim);
    let bound = cx.by_cases((
        &[(rule!("GLB.SHAPE.CLASH"), ndim_clashes(cx, ret_ndim, t2.ndim), None)],
        (rule!("GLB.SHAPE.RET"), Some(ShapeType { ndim: ret_ndim })),
    ));
    bound.map(Type::Shape)
}

fn glb_tensor(cx: &mut Cx, t1: &DynTensorType, t2: &DynTensorType) -> Option<Type> {
    let ret_ndim = filled_ndim(cx, t1.ndim, t2.ndim);
    let ret_ndim = cx.conclude(rule!("GLB.TENSOR.FILL-NDIM"), ret_ndim);
    let ret_dtype = if t1.dtype.is_void() { t2.dtype } else { t1.dtype };
    let ret_dtype = cx.conclude(rule!("GLB.TENSOR.FILL-DTYPE"), ret_dtype);
    let bound = cx.by_cases((
        &[
            (rule!("GLB.TENSOR.CLASH-NDIM"), ndim_clashes(cx, ret_ndim, t2.ndim), None),
            (rule!("GLB.TENSOR.CLASH-DTYPE"), dtype_clashes(cx, ret_dtype, t2.dtype), None),
        ],
        (rule!("GLB.TENSOR.RET"), Some(DynTensorType { ndim: ret_ndim, dtype: ret_dtype })),
    ));
    bound.map(Type::Tensor)
}

fn glb_tuple(cx: &mut Cx, t1: &[Type], t2: &[Type]) -> Option<Type> {
    if let Some(bound) = cx.by_cases(&[(rule!("GLB.TUPLE.LEN"), t1.len() != t2.len(), None)]) {
        return bound;
    }
    let pairs = t1.iter().zip(t2);
    let fields = all(pairs.map(|(field1, field2)| find_glb(cx, field1, field2)));
    let (rule, conclusion) = match fields {
        None => (rule!("GLB.TUPLE.FIELD-NONE"), None),
        Some(fields) => (rule!("GLB.TUPLE.RET"), Some(Type::Tuple(fields))),
    };
    cx.by_kind(rule, conclusion)
}

/// The bounds, or `None` as soon as one does not exist. Space for all of them is reserved at once.
fn all(bounds: impl ExactSizeIterator<Item = Option<Type>>) -> Option<Arc<[Type]>> {
    let count = bounds.len();
    let mut found = Vec::with_capacity(count);
    found.extend(bounds.map_while(|bound| bound));
    (found.len() == count).then(|| found.into())
}

/// GLB.FUNC.PURITY and GLB.FUNC.PURITY-KEEP: the purity of the result, or `None` if there is no lower bound.
fn glb_purity(cx: &mut Cx, pure1: bool, pure2: bool) -> Option<bool> {
    let of_different = match cx.glb_purity {
        GlbPurity::Min => Some(true),
        GlbPurity::Literal => None,
    };
    cx.by_cases((
        &[(rule!("GLB.FUNC.PURITY-KEEP"), pure1 == pure2, Some(pure1))],
        (rule!("GLB.FUNC.PURITY"), of_different),
    ))
}

fn glb_func(cx: &mut Cx, t1: &FuncType, t2: &FuncType) -> Option<Type> {
    let pure = glb_purity(cx, t1.pure, t2.pure)?;
    let arity = t1.arg_types.len();
    if let Some(bound) = cx.by_cases(&[(rule!("GLB.FUNC.ARITY"), arity != t2.arg_types.len(), None)]) {
        return bound;
    }
    let pairs = t1.arg_types.iter().zip(t2.arg_types.iter());
    let arg_types: Arc<[Type]> = pairs.map(|(arg1, arg2)| find_lub(cx, arg1, arg2)).collect();
    let arg_types = cx.conclude(rule!("GLB.FUNC.ARGS"), arg_types);
    let (rule, conclusion) = match find_glb(cx, &t1.ret_type, &t2.ret_type) {
        None => (rule!("GLB.FUNC.RET-NONE"), None),
        Some(ret_type) => (rule!("GLB.FUNC.RET"), Some(func_type(arg_types, ret_type, pure))),
    };
    cx.by_kind(rule, conclusion)
}

fn func_type(arg_types: Arc<[Type]>, ret_type: Type, pure: bool) -> Type {
    Type::Func(Arc::new(FuncType { arg_types, ret_type, pure }))
}

fn lub(cx: &mut Cx, t1: &Type, t2: &Type) -> Type {
    let equal = same(cx, t1, t2);
    let by_form =
        cx.by_cases(&[(rule!("LUB.EQ"), equal, t1), (rule!("LUB.OBJ"), is_object(t1) || is_object(t2), &Type::Object)]);
    if let Some(bound) = by_form {
        return bound.clone();
    }
    match kinds_of(cx, t1, t2) {
        TypePair::Shapes(t1, t2) => lub_shape(cx, t1, t2),
        TypePair::Tensors(t1, t2) => lub_tensor(cx, t1, t2),
        TypePair::Tuples(t1, t2) => lub_tuple(cx, t1, t2),
        TypePair::Funcs(t1, t2) => lub_func(cx, t1, t2),
        TypePair::Objects | TypePair::PackedFuncs | TypePair::Different => cx.by_kind(rule!("LUB.KIND"), Type::Object),
    }
}

/// The common rank, or -1.
fn common_ndim(ndim1: Ndim, ndim2: Ndim) -> Ndim {
    if ndim1 == ndim2 { ndim1 } else { Ndim::Unknown }
}

/// The common datatype, or `Void`.
fn common_dtype(dtype1: DataType, dtype2: DataType) -> DataType {
    if dtype1 == dtype2 { dtype1 } else { DataType::VOID }
}

fn lub_shape(cx: &mut Cx, t1: &ShapeType, t2: &ShapeType) -> Type {
    Type::Shape(ShapeType { ndim: cx.conclude(rule!("LUB.SHAPE"), common_ndim(t1.ndim, t2.ndim)) })
}

fn lub_tensor(cx: &mut Cx, t1: &DynTensorType, t2: &DynTensorType) -> Type {
    let ndim = cx.conclude(rule!("LUB.TENSOR.NDIM"), common_ndim(t1.ndim, t2.ndim));
    let dtype = cx.conclude(rule!("LUB.TENSOR.DTYPE"), common_dtype(t1.dtype, t2.dtype));
    Type::Tensor(DynTensorType { ndim, dtype })
}

fn lub_tuple(cx: &mut Cx, t1: &[Type], t2: &[Type]) -> Type {
    if let Some(bound) = cx.by_cases(&[(rule!("LUB.TUPLE.LEN"), t1.len() != t2.len(), &Type::Object)]) {
        return bound.clone();
    }
    let pairs = t1.iter().zip(t2);
    let fields = pairs.map(|(field1, field2)| find_lub(cx, field1, field2)).collect();
    cx.conclude(rule!("LUB.TUPLE.RET"), Type::Tuple(fields))
}

fn lub_func(cx: &mut Cx, t1: &FuncType, t2: &FuncType) -> Type {
    let pure = cx.conclude(rule!("LUB.FUNC.PURITY"), t1.pure && t2.pure);
    let arity = t1.arg_types.len();
    if let Some(bound) = cx.by_cases(&[(rule!("LUB.FUNC.ARITY"), arity != t2.arg_types.len(), &Type::Object)]) {
        return bound.clone();
    }
    let pairs = t1.arg_types.iter().zip(t2.arg_types.iter());
    let arg_types = all(pairs.map(|(arg1, arg2)| find_glb(cx, arg1, arg2)));
    let (rule, conclusion) = match arg_types {
        None => (rule!("LUB.FUNC.ARG-NONE"), Type::Object),
        Some(arg_types) => {
            let ret_type = find_lub(cx, &t1.ret_type, &t2.ret_type);
            (rule!("LUB.FUNC.RET"), func_type(arg_types, ret_type, pure))
        }
    };
    cx.by_kind(rule, conclusion)
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
