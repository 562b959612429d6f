//! Whether some value may satisfy two pieces of information.

use std::sync::Arc;

use super::kinds::{InfoPair, is_object};
use super::own::Own;
use super::same_shape::seen_through;
use super::surroundings::{JudgementScope, Surroundings};
use crate::grammar::{FuncStructInfo, PrimExpr, ShapeStructInfo, StructInfo, TensorShape, TensorStructInfo};
use crate::judge::{Cx, Once, Proof, with_stack};
use crate::shape::prove_equal;

/// SI.ORDER.MEANING: whether some value may satisfy both infos. If not, a cast from one to the other cannot succeed.
/// One info may be below the other, or each may state a property that is unknown in the other.
pub fn may_overlap(cx: &mut Cx, s1: &StructInfo, s2: &StructInfo, scope: &dyn Surroundings) -> bool {
    Overlap { scope: JudgementScope::new(scope), seen: Once::default() }.of(
        cx,
        &seen_through(s1.clone(), scope),
        &seen_through(s2.clone(), scope),
    )
}

struct Overlap<'a> {
    /// The scope. Nothing is known about variables that function types introduce.
    scope: JudgementScope<'a>,
    /// The results for shared tuples.
    seen: Once<StructInfo, bool>,
}

impl Overlap<'_> {
    fn of(&self, cx: &mut Cx, s1: &StructInfo, s2: &StructInfo) -> bool {
        if is_object(s1) || is_object(s2) {
            return true;
        }
        with_stack(|| match InfoPair::of(s1, s2) {
            InfoPair::Tensors(t1, t2) => self.tensors(cx, t1, t2),
            InfoPair::Shapes(s1, s2) => self.shapes(cx, s1, s2),
            InfoPair::Tuples(fields1, fields2) => {
                let fieldwise = || {
                    let mut fields = fields1.iter().zip(fields2.iter());
                    fields1.len() == fields2.len() && fields.all(|(field1, field2)| self.of(cx, field1, field2))
                };
                self.seen.of_both(fields1, fields2, fieldwise)
            }
            InfoPair::Funcs(f1, f2) => self.funcs(cx, f1, f2),
            InfoPair::Prims(p1, p2) => {
                p1.dtype == p2.dtype && p1.value.iter().zip(&p2.value).all(|(v1, v2)| self.sizes(cx, v1, v2))
            }
            InfoPair::Objects => true,
            InfoPair::Different => false,
        })
    }

    fn tensors(&self, cx: &mut Cx, t1: &TensorStructInfo, t2: &TensorStructInfo) -> bool {
        let dtypes = t1.dtype == t2.dtype || t1.dtype.is_void() || t2.dtype.is_void();
        let ranks = t1.ndim == t2.ndim || t1.ndim.is_unknown() || t2.ndim.is_unknown();
        let shapes = match (&t1.shape, &t2.shape) {
            (Some(TensorShape::Dims(dims1)), Some(TensorShape::Dims(dims2))) => self.dims(cx, dims1, dims2),
            (
                Some(TensorShape::Dims(_) | TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_))
                | None,
                Some(TensorShape::Dims(_) | TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_))
                | None,
            ) => true,
        };
        dtypes && ranks && shapes
    }

    fn shapes(&self, cx: &mut Cx, s1: &ShapeStructInfo, s2: &ShapeStructInfo) -> bool {
        let ranks = s1.ndim == s2.ndim || s1.ndim.is_unknown() || s2.ndim.is_unknown();
        ranks && s1.values.iter().zip(&s2.values).all(|(values1, values2)| self.dims(cx, values1, values2))
    }

    fn dims(&self, cx: &mut Cx, dims1: &[PrimExpr], dims2: &[PrimExpr]) -> bool {
        dims1.len() == dims2.len() && dims1.iter().zip(dims2).all(|(dim1, dim2)| self.sizes(cx, dim1, dim2))
    }

    fn sizes(&self, cx: &mut Cx, size1: &PrimExpr, size2: &PrimExpr) -> bool {
        self.varies(size1) || self.varies(size2) || prove_equal(cx, size1, size2) != Proof::Different
    }

    /// Whether a size differs between calls of the enclosing function.
    fn varies(&self, size: &PrimExpr) -> bool {
        let mut varies = false;
        size.for_each_var(|var| varies |= self.scope.is_introduced(var));
        varies
    }

    /// Whether a closure may satisfy both. Its parameters can always accept the arguments of either, so only the
    /// results matter. For packed functions a cast does not look at the result.
    fn funcs(&self, cx: &mut Cx, f1: &Arc<FuncStructInfo>, f2: &Arc<FuncStructInfo>) -> bool {
        match (&f1.params, &f2.params) {
            (Some(params1), Some(params2)) => {
                let own = |func: &FuncStructInfo| Own::of(func, &self.scope).to_set();
                let introduced = self.scope.introduce(own(f1).into_iter().chain(own(f2)).collect());
                self.seen.forget();
                let result = |func: &FuncStructInfo| seen_through(func.ret.clone(), &self.scope);
                let overlap = params1.len() == params2.len() && self.of(cx, &result(f1), &result(f2));
                drop(introduced);
                self.seen.forget();
                overlap
            }
            (None, None) => true,
            (None, Some(_)) | (Some(_), None) => false,
        }
    }
}
