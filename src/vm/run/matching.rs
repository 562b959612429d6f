//! Matches for operators (`cast`, the results of `call_tir`). They work like those of instructions, but no variable
//! stays bound.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::{Machine, check};
use crate::book::Erratum;
use crate::grammar::{Ndim, PrimExpr, PrimStructInfo, ShapeVar, StructInfo, TensorShape, TensorStructInfo, Var};
use crate::judge::{place, with_stack};
use crate::value::{Stop, Tensor, TupleObj, Value};
use crate::vm::executable::DimensionUse;
use crate::vm::substitute::DimensionSubstitution;

/// The sizes bound so far in a match.
type MatchedSizes = BTreeMap<ShapeVar, i64>;

/// The addresses of the tuples and field lists that are known to match.
type Matched = FxHashSet<(*const TupleObj, usize)>;

impl Machine<'_> {
    /// Matches a value; the variables that it binds are forgotten afterwards.
    pub(super) fn matches(&mut self, v: &Value, s: &StructInfo) -> Result<(), Stop> {
        self.match_info(v, s, &mut MatchedSizes::new(), &mut FxHashSet::default())
    }

    fn match_info(
        &mut self,
        v: &Value,
        s: &StructInfo,
        bound: &mut MatchedSizes,
        matched: &mut Matched,
    ) -> Result<(), Stop> {
        with_stack(|| match s {
            StructInfo::Object => Ok(()),
            StructInfo::Tensor(t) => self.match_tensor(v, t, bound),
            StructInfo::Shape(s) => {
                let sizes = check::shape(v, s.ndim.to_i64())?;
                match s.values.as_deref() {
                    None => Ok(()),
                    Some(dims) if s.ndim == Ndim::of_len(dims.len()) => self.match_dims(sizes, dims, false, bound),
                    Some(_) => Err(Stop::unspecified("a ShapeStructInfo has more or fewer values than its ndim says")),
                }
            }
            StructInfo::Prim(p) => self.match_prim(v, p, bound),
            StructInfo::Tuple(fields) => {
                let tuple = check::tuple(v, fields.len() as i64)?;
                let places = (std::ptr::from_ref(tuple), place(fields));
                if !matched.contains(&places) {
                    let mut pairs = tuple.fields().iter().zip(fields.iter());
                    pairs.try_for_each(|(value, field)| self.match_info(value, field, bound, matched))?;
                    matched.insert(places);
                }
                Ok(())
            }
            StructInfo::Func(f) => {
                let closed = with_bound(s, bound);
                self.check_func(v, f, &closed)
            }
        })
    }

    fn match_tensor(&mut self, v: &Value, t: &TensorStructInfo, bound: &mut MatchedSizes) -> Result<(), Stop> {
        let tensor = check::tensor(v, t.ndim.to_i64(), Some(t.dtype).filter(|dtype| !dtype.is_void()))?;
        match &t.shape {
            None => Ok(()),
            Some(TensorShape::Var(shape) | TensorShape::DataflowVar(shape)) => match self.value_of(shape) {
                Some(shape) => check::same_shape(v, &shape),
                None => Err(Stop::unspecified(format!("the variable {shape}, used as a shape, is not in scope"))),
            },
            Some(TensorShape::Dims(dims)) => self.match_sizes(tensor, dims, bound),
            Some(TensorShape::Other(_)) => {
                Err(Stop::unspecified("the shape of a TensorStructInfo is neither a variable nor a ShapeExpr"))
            }
        }
    }

    /// PR14148.SI.PRIM.VALUE, in the same way as the instructions do it.
    fn match_prim(&mut self, v: &Value, p: &PrimStructInfo, bound: &mut MatchedSizes) -> Result<(), Stop> {
        check::prim(v, p.dtype)?;
        let Some(dim) = p.value.as_ref().filter(|_| !self.cx.literal(Erratum::A74)) else { return Ok(()) };
        let found = check::integer(v)?;
        match dim {
            PrimExpr::Var(var) if !bound.contains_key(var) && self.size_of(var).is_none() => {
                bound.insert(var.clone(), found);
                Ok(())
            }
            PrimExpr::Var(_) | PrimExpr::IntImm(_) | PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..) => {
                let expected = self.settled(&dim_with_bound(dim, bound), DimensionUse::PrimValue)?;
                check::same_integer(expected, found)
            }
        }
    }

    fn match_sizes(&mut self, tensor: &Tensor, dims: &[PrimExpr], bound: &mut MatchedSizes) -> Result<(), Stop> {
        check::length(tensor.shape().len(), dims.len() as i64)?;
        self.match_dims(tensor.shape(), dims, true, bound)
    }

    fn match_dims(
        &mut self,
        sizes: &[i64],
        dims: &[PrimExpr],
        of_tensor: bool,
        bound: &mut MatchedSizes,
    ) -> Result<(), Stop> {
        let context = if of_tensor { DimensionUse::TensorSize } else { DimensionUse::ShapeSize };
        for (index, (size, dim)) in sizes.iter().zip(dims).enumerate() {
            if let PrimExpr::Var(v) = dim
                && !bound.contains_key(v)
                && self.size_of(v).is_none()
            {
                bound.insert(v.clone(), *size);
                continue;
            }
            let expected = self.settled(&dim_with_bound(dim, bound), context)?;
            check::size(index, expected, *size, of_tensor)?;
        }
        Ok(())
    }
}

fn substitute<T>(bound: &MatchedSizes, then: impl FnOnce(&DimensionSubstitution<'_>) -> T) -> T {
    let size = |v: &ShapeVar| bound.get(v).map_or_else(|| PrimExpr::Var(v.clone()), |size| PrimExpr::IntImm(*size));
    let shape = |v: &Var| TensorShape::Var(v.clone().into());
    then(&DimensionSubstitution::new(&size, &shape))
}

fn with_bound(s: &StructInfo, bound: &MatchedSizes) -> StructInfo {
    substitute(bound, |substitution| substitution.struct_info(s))
}

fn dim_with_bound(dim: &PrimExpr, bound: &MatchedSizes) -> PrimExpr {
    substitute(bound, |substitution| substitution.dim(dim))
}
