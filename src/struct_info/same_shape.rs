//! Comparison of lists of dimensions, and of shapes that may be variables.

use std::sync::Arc;

use super::surroundings::Surroundings;
use crate::grammar::{Ndim, PrimExpr, ShapeStructInfo, StructInfo, TensorShape, TensorStructInfo, Var};
use crate::judge::{Cx, Once, Proof, VisitedTuples, is_new, with_stack};
use crate::shape::prove_equal_briefly;

/// The outcome of comparing lists of dimensions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Compared {
    pub(super) proof: Proof,
    /// Whether a definite outcome needed more than the minimum of every prover.
    pub(super) advanced: bool,
}

impl Compared {
    fn at_once(proof: Proof) -> Compared {
        Compared { proof, advanced: false }
    }
}

/// Definitely equal if every pair is, definitely different if one pair is. All pairs are compared.
pub(super) fn compare_dims(cx: &mut Cx, dims1: &[PrimExpr], dims2: &[PrimExpr]) -> Compared {
    if dims1.len() != dims2.len() {
        return Compared::at_once(Proof::Different);
    }
    let mut all = Compared::at_once(Proof::Equal);
    for (dim1, dim2) in dims1.iter().zip(dims2) {
        let (proof, advanced) = prove_equal_briefly(cx, dim1, dim2);
        let next = Compared { proof, advanced };
        all = match (all.proof, proof) {
            (Proof::Different, Proof::Different) if all.advanced => next,
            (Proof::Different, Proof::Equal | Proof::Different | Proof::Unknown) => all,
            (Proof::Equal | Proof::Unknown, Proof::Different) => next,
            (Proof::Equal, Proof::Equal) => Compared { advanced: all.advanced || next.advanced, ..all },
            (Proof::Equal | Proof::Unknown, Proof::Unknown) | (Proof::Unknown, Proof::Equal) => {
                Compared::at_once(Proof::Unknown)
            }
        };
    }
    all
}

/// Like [`compare_dims`]. Nothing can be proven about unknown values.
pub(super) fn compare_values(cx: &mut Cx, values1: Option<&[PrimExpr]>, values2: Option<&[PrimExpr]>) -> Compared {
    match (values1, values2) {
        (Some(values1), Some(values2)) => compare_dims(cx, values1, values2),
        (Some(_) | None, Some(_) | None) => Compared::at_once(Proof::Unknown),
    }
}

/// The known part of a shape: its dimensions, or their number.
enum KnownShape {
    Dims(Arc<[PrimExpr]>),
    Ndim(Ndim),
}

fn look_through(shape: &TensorShape, scope: &dyn Surroundings) -> KnownShape {
    let of_var = |var: &Var| match scope.struct_info_of(var) {
        Some(StructInfo::Shape(ShapeStructInfo { values: Some(values), .. })) => KnownShape::Dims(values),
        Some(StructInfo::Shape(ShapeStructInfo { values: None, ndim })) => KnownShape::Ndim(ndim),
        Some(
            StructInfo::Object
            | StructInfo::Tensor(_)
            | StructInfo::Prim(_)
            | StructInfo::Tuple(_)
            | StructInfo::Func(_),
        )
        | None => KnownShape::Ndim(Ndim::Unknown),
    };
    match shape {
        TensorShape::Dims(dims) => KnownShape::Dims(dims.clone()),
        TensorShape::Var(var) | TensorShape::DataflowVar(var) => of_var(var),
        TensorShape::Other(_) => KnownShape::Ndim(Ndim::Unknown),
    }
}

/// The same information with shape variables of tensors replaced by the known dimensions, or their number.
pub fn seen_through(info: StructInfo, scope: &dyn Surroundings) -> StructInfo {
    if holds_shape_var(&info, &mut VisitedTuples::default()) { through(&info, scope, &Once::default()) } else { info }
}

/// Whether a tensor outside of function types has a variable for its shape.
fn holds_shape_var(info: &StructInfo, seen: &mut VisitedTuples) -> bool {
    match info {
        StructInfo::Tensor(TensorStructInfo { shape, .. }) => shape.as_ref().is_some_and(is_var),
        StructInfo::Tuple(fields) => {
            is_new(fields, seen) && with_stack(|| fields.iter().any(|field| holds_shape_var(field, seen)))
        }
        StructInfo::Object | StructInfo::Shape(_) | StructInfo::Prim(_) | StructInfo::Func(_) => false,
    }
}

fn through(info: &StructInfo, scope: &dyn Surroundings, known: &Once<StructInfo, StructInfo>) -> StructInfo {
    match info {
        StructInfo::Tensor(TensorStructInfo { shape: Some(shape), dtype, ndim, vdevice }) if is_var(shape) => {
            let (shape, ndim) = match look_through(shape, scope) {
                KnownShape::Dims(dims) => (TensorShape::Dims(dims.clone()), Ndim::of_len(dims.len())),
                KnownShape::Ndim(Ndim::Known(rank)) => (shape.clone(), Ndim::Known(rank)),
                KnownShape::Ndim(Ndim::Unknown) => (shape.clone(), *ndim),
            };
            let vdevice = vdevice.clone();
            StructInfo::Tensor(TensorStructInfo { shape: Some(shape), dtype: *dtype, ndim, vdevice })
        }
        StructInfo::Tuple(fields) => known
            .of(fields, || with_stack(|| StructInfo::tuple(fields.iter().map(|field| through(field, scope, known))))),
        StructInfo::Object
        | StructInfo::Tensor(_)
        | StructInfo::Shape(_)
        | StructInfo::Prim(_)
        | StructInfo::Func(_) => info.clone(),
    }
}

/// Whether a shape is a variable.
pub(super) fn is_var(shape: &TensorShape) -> bool {
    match shape {
        TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_) => true,
        TensorShape::Dims(_) => false,
    }
}

/// Like [`compare_shapes`]. Nothing can be proven about unknown shapes.
pub(super) fn compare_known_shapes(
    cx: &mut Cx,
    shape1: Option<&TensorShape>,
    shape2: Option<&TensorShape>,
    scope: &dyn Surroundings,
) -> Compared {
    match (shape1, shape2) {
        (Some(shape1), Some(shape2)) => compare_shapes(cx, shape1, shape2, scope),
        (Some(_) | None, Some(_) | None) => Compared::at_once(Proof::Unknown),
    }
}

/// Compares two shapes, and looks through variables as far as `scope` knows them.
pub(super) fn compare_shapes(
    cx: &mut Cx,
    shape1: &TensorShape,
    shape2: &TensorShape,
    scope: &dyn Surroundings,
) -> Compared {
    match (shape1, shape2) {
        (TensorShape::Dims(dims1), TensorShape::Dims(dims2)) => return compare_dims(cx, dims1, dims2),
        (TensorShape::Var(v) | TensorShape::DataflowVar(v), TensorShape::Var(w) | TensorShape::DataflowVar(w))
            if v == w =>
        {
            return Compared::at_once(Proof::Equal);
        }
        (
            TensorShape::Dims(_) | TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_),
            TensorShape::Dims(_) | TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_),
        ) => {}
    }
    match (look_through(shape1, scope), look_through(shape2, scope)) {
        (KnownShape::Dims(dims1), KnownShape::Dims(dims2)) => compare_dims(cx, &dims1, &dims2),
        (KnownShape::Ndim(Ndim::Known(n)), KnownShape::Ndim(Ndim::Known(m))) if n != m => {
            Compared::at_once(Proof::Different)
        }
        (KnownShape::Dims(dims), KnownShape::Ndim(Ndim::Known(n)))
        | (KnownShape::Ndim(Ndim::Known(n)), KnownShape::Dims(dims))
            if Ndim::of_len(dims.len()) != Ndim::Known(n) =>
        {
            Compared::at_once(Proof::Different)
        }
        (KnownShape::Dims(_) | KnownShape::Ndim(_), KnownShape::Dims(_) | KnownShape::Ndim(_)) => {
            Compared::at_once(Proof::Unknown)
        }
    }
}
