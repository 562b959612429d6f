//! Answers that are equal up to names.

use std::collections::BTreeSet;

use relax_spec::grammar::{PrimExpr, ShapeVar, StructInfo, TensorShape};
use relax_spec::struct_info::Mapping;
use relax_spec::struct_info::substitute::substitute_dim;

/// Whether two infos have the same structure, with a one-to-one correspondence of shape variables. Those in `same`
/// correspond to themselves.
pub fn alike(s1: &StructInfo, s2: &StructInfo, same: &BTreeSet<ShapeVar>) -> bool {
    Alike(same.iter().map(|var| (var.clone(), var.clone())).collect()).infos(s1, s2)
}

struct Alike(Vec<(ShapeVar, ShapeVar)>);

impl Alike {
    fn infos(&mut self, s1: &StructInfo, s2: &StructInfo) -> bool {
        match (s1, s2) {
            (StructInfo::Tensor(a), StructInfo::Tensor(b)) => {
                let shapes = match (&a.shape, &b.shape) {
                    (Some(TensorShape::Dims(a)), Some(TensorShape::Dims(b))) => self.dims(a, b),
                    (Some(_), Some(_)) => true,
                    (a, b) => a.is_none() && b.is_none(),
                };
                shapes && a.dtype == b.dtype && a.ndim == b.ndim && a.vdevice == b.vdevice
            }
            (StructInfo::Shape(a), StructInfo::Shape(b)) => {
                let values = match (&a.values, &b.values) {
                    (Some(a), Some(b)) => self.dims(a, b),
                    (a, b) => a.is_none() && b.is_none(),
                };
                values && a.ndim == b.ndim
            }
            (StructInfo::Prim(a), StructInfo::Prim(b)) => {
                a.dtype == b.dtype && self.dims(a.value.as_slice(), b.value.as_slice())
            }
            (StructInfo::Tuple(a), StructInfo::Tuple(b)) => self.all(a, b),
            (StructInfo::Func(a), StructInfo::Func(b)) => {
                let known = self.0.len();
                let params = match (&a.params, &b.params) {
                    (Some(a), Some(b)) => self.all(a, b),
                    (a, b) => a.is_none() && b.is_none(),
                };
                let ret = self.infos(&a.ret, &b.ret);
                // Variables inside may be the function's own, and have a different meaning elsewhere.
                self.0.truncate(known);
                params && ret && a.derive_func == b.derive_func && a.pure == b.pure
            }
            (a, b) => a == b,
        }
    }

    fn all(&mut self, a: &[StructInfo], b: &[StructInfo]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.infos(a, b))
    }

    fn dims(&mut self, a: &[PrimExpr], b: &[PrimExpr]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.dim(a, b))
    }

    fn dim(&mut self, a: &PrimExpr, b: &PrimExpr) -> bool {
        let (mut vars1, mut vars2) = (Vec::new(), Vec::new());
        a.for_each_var(|var| vars1.push(var.clone()));
        b.for_each_var(|var| vars2.push(var.clone()));
        let pairs = vars1.len() == vars2.len() && vars1.into_iter().zip(vars2).all(|(v, w)| self.pair(v, w));
        let there: Mapping = self.0.iter().map(|(v, w)| (v.clone(), PrimExpr::Var(w.clone()))).collect();
        pairs && substitute_dim(a, &there) == *b
    }

    fn pair(&mut self, v: ShapeVar, w: ShapeVar) -> bool {
        if self.0.iter().any(|pair| *pair == (v.clone(), w.clone())) {
            return true;
        }
        let new = !self.0.iter().any(|(known1, known2)| *known1 == v || *known2 == w);
        self.0.push((v, w));
        new
    }
}
