//! Whether some value may be as two informations say.

use super::kinds::{Kinds, is_object};
use super::order::{Relation, is_more_specific_in};
use super::same_shape::{compare_known_shapes, compare_values};
use super::surroundings::{Scope, Surroundings};
use crate::grammar::{ShapeStructInfo, StructInfo, TensorStructInfo};
use crate::judge::{Cx, Proof, with_stack};

/// SI.ORDER.MEANING: whether a value that the one describes may be one that the other describes; if not, a cast from the one to the
/// other cannot succeed. One may be below the other, or each may say what the other leaves open.
pub fn may_overlap(cx: &mut Cx, s1: &StructInfo, s2: &StructInfo, scope: &dyn Surroundings) -> bool {
    if is_object(s1) || is_object(s2) {
        return true;
    }
    with_stack(|| match Kinds::of(s1, s2) {
        Kinds::Tensors(t1, t2) => tensors(cx, t1, t2, scope),
        Kinds::Shapes(s1, s2) => shapes(cx, s1, s2),
        Kinds::Tuples(fields1, fields2) => {
            fields1.len() == fields2.len()
                && fields1.iter().zip(fields2).all(|(field1, field2)| may_overlap(cx, field1, field2, scope))
        }
        // Of functions and boxed scalars nothing is left open that only the other says.
        Kinds::Funcs(..) | Kinds::Prims(..) => {
            is_more_specific_in(cx, Relation::Possible, s1, s2, scope)
                || is_more_specific_in(cx, Relation::Possible, s2, s1, scope)
        }
        Kinds::Objects => true,
        Kinds::Different => false,
    })
}

fn tensors(cx: &mut Cx, t1: &TensorStructInfo, t2: &TensorStructInfo, scope: &dyn Surroundings) -> bool {
    let dtypes = t1.dtype == t2.dtype || t1.dtype.is_void() || t2.dtype.is_void();
    let ranks = t1.ndim == t2.ndim || t1.ndim.is_unknown() || t2.ndim.is_unknown();
    let shapes = match (&t1.shape, &t2.shape) {
        (Some(shape1), Some(shape2)) => {
            compare_known_shapes(cx, Some(shape1), Some(shape2), &Scope::new(scope)).proof != Proof::Different
        }
        (Some(_) | None, Some(_) | None) => true,
    };
    dtypes && ranks && shapes
}

fn shapes(cx: &mut Cx, s1: &ShapeStructInfo, s2: &ShapeStructInfo) -> bool {
    let ranks = s1.ndim == s2.ndim || s1.ndim.is_unknown() || s2.ndim.is_unknown();
    ranks && compare_values(cx, s1.values.as_deref(), s2.values.as_deref()).proof != Proof::Different
}
