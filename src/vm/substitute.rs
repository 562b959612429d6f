//! Substitution of variables in structural information and attributes.

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::grammar::{AttrValue, FuncStructInfo, PrimExpr, Replacement, ShapeVar, StructInfo, TensorShape, Var};
use crate::judge::with_stack;

/// An operand, with its replacement.
type Met = (Arc<PrimExpr>, Arc<PrimExpr>);

/// The replacements of shape variables, and of variables used as shapes.
pub(super) struct DimensionSubstitution<'s> {
    size: &'s dyn Fn(&ShapeVar) -> PrimExpr,
    shape: &'s dyn Fn(&Var) -> TensorShape,
    /// The replaced operands of dimensions, by address, so that shared operands stay shared. The originals are kept
    /// alive so that no other object gets their address.
    met: RefCell<FxHashMap<usize, Met>>,
}

impl<'s> DimensionSubstitution<'s> {
    pub(super) fn new(
        size: &'s dyn Fn(&ShapeVar) -> PrimExpr,
        shape: &'s dyn Fn(&Var) -> TensorShape,
    ) -> DimensionSubstitution<'s> {
        DimensionSubstitution { size, shape, met: RefCell::default() }
    }
}

impl DimensionSubstitution<'_> {
    pub(super) fn struct_info(&self, s: &StructInfo) -> StructInfo {
        s.replaced(self)
    }

    pub(super) fn dim(&self, dim: &PrimExpr) -> PrimExpr {
        with_stack(|| match dim {
            PrimExpr::Var(v) => (self.size)(v),
            PrimExpr::IntImm(i) => PrimExpr::IntImm(*i),
            PrimExpr::Binary(op, a, b) => PrimExpr::Binary(*op, self.operand(a), self.operand(b)),
            PrimExpr::Not(a) => PrimExpr::Not(self.operand(a)),
            PrimExpr::Select(c, t, f) => PrimExpr::Select(self.operand(c), self.operand(t), self.operand(f)),
        })
    }

    /// Replaces an operand of a dimension, once.
    fn operand(&self, old: &Arc<PrimExpr>) -> Arc<PrimExpr> {
        if let PrimExpr::Var(_) | PrimExpr::IntImm(_) = **old {
            return Arc::new(self.dim(old));
        }
        let address = Arc::as_ptr(old) as usize;
        if let Some((_, new)) = self.met.borrow().get(&address) {
            return new.clone();
        }
        let new = Arc::new(self.dim(old));
        self.met.borrow_mut().insert(address, (old.clone(), new.clone()));
        new
    }

    pub(super) fn attr(&self, value: &AttrValue) -> AttrValue {
        value.with_leaves(&|leaf| {
            if let AttrValue::StructInfo(info) = leaf {
                return Some(AttrValue::StructInfo(self.struct_info(info)));
            }
            leaf.as_prim().map(|dim| AttrValue::Prim(self.dim(dim)))
        })
    }
}

impl Replacement for DimensionSubstitution<'_> {
    fn dim(&self, dim: &PrimExpr) -> PrimExpr {
        DimensionSubstitution::dim(self, dim)
    }

    fn shape(&self, shape: &TensorShape) -> TensorShape {
        match shape {
            TensorShape::Var(v) | TensorShape::DataflowVar(v) => (self.shape)(v),
            TensorShape::Dims(_) | TensorShape::Other(_) => shape.clone(),
        }
    }
}

/// The information without the purity of function types, where the information of closures does not include it.
pub(super) fn without_purity(s: &StructInfo) -> StructInfo {
    with_stack(|| match s {
        StructInfo::Tuple(fields) => StructInfo::Tuple(fields.iter().map(without_purity).collect()),
        StructInfo::Func(f) => StructInfo::Func(Arc::new(FuncStructInfo {
            params: f.params.as_ref().map(|params| params.iter().map(without_purity).collect()),
            ret: without_purity(&f.ret),
            derive_func: f.derive_func.clone(),
            pure: None,
        })),
        StructInfo::Object | StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Prim(_) => s.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::BinaryOp;

    /// As a tree the result would have 2^61 parts.
    #[test]
    fn what_is_shared_stays_shared() {
        let doubled = (0..60).fold(PrimExpr::var("n"), |e, _| {
            let e = Arc::new(e);
            PrimExpr::Binary(BinaryOp::Add, e.clone(), e)
        });
        let size = |_: &ShapeVar| PrimExpr::IntImm(1);
        let shape = |v: &Var| TensorShape::Var(v.clone().into());
        let mut now = DimensionSubstitution::new(&size, &shape).dim(&doubled);
        // The last operands are variables. Making them is cheaper than looking them up.
        for level in 0..60 {
            let PrimExpr::Binary(BinaryOp::Add, a, b) = now else { panic!("{level} levels") };
            assert!(level == 59 || Arc::ptr_eq(&a, &b));
            now = (*a).clone();
        }
        assert_eq!(now, PrimExpr::IntImm(1));
    }
}
