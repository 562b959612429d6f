//! Arguments for an entry point, made from its signature. The sizes come from the constants of the programs, so that
//! checks against constants are met as well as missed.

use std::collections::{BTreeMap, BTreeSet};

use crate::grammar::visit::{Visitor, walk_module};
use crate::grammar::{
    AttrValue, DataType, FloatBits, Function, GlobalFunc, IrModule, Ndim, PrimExpr, ShapeVar, StructInfo, TensorData,
    TensorShape, TensorStructInfo,
};
use crate::judge::Cx;
use crate::refine::RefineError;
use crate::value::ValueSpec;

/// A source of arguments; the same programs always give the same ones.
pub(super) struct Inputs<'m> {
    entry: &'m str,
    func: &'m Function,
    sizes: Vec<i64>,
    random: fastrand::Rng,
}

/// The largest size taken from the constants of a program.
const MAX_SIZE: i64 = 16;
/// The largest number of elements of one tensor.
const MAX_ELEMENTS: i64 = 4096;
/// The largest rank where the signature leaves it open.
const MAX_RANK: u32 = 3;

/// The sizes that stand in the dimensions of a program.
struct Constants(BTreeSet<i64>);

impl Visitor for Constants {
    fn visit_prim_expr(&mut self, expr: &PrimExpr) {
        if let PrimExpr::IntImm(size) = expr
            && (0..=MAX_SIZE).contains(size)
        {
            self.0.insert(*size);
        }
    }
}

impl<'m> Inputs<'m> {
    pub(super) fn of(source: &'m IrModule, target: &IrModule, entry: &'m str) -> Result<Inputs<'m>, RefineError> {
        let linked = |f: &Function| match f.attrs.get("global_symbol") {
            Some(AttrValue::Str(symbol)) => **symbol == *entry,
            Some(_) | None => false,
        };
        let func = source.funcs.iter().find_map(|(_, func)| match func {
            GlobalFunc::Function(f) if linked(f) => Some(&**f),
            GlobalFunc::Function(_) | GlobalFunc::PrimFunc(_) => None,
        });
        let func = func.ok_or_else(|| RefineError::Entry(entry.to_string()))?;
        let mut sizes = Constants([0, 1, 2, 3].into_iter().collect());
        walk_module(&mut sizes, source);
        walk_module(&mut sizes, target);
        Ok(Inputs { entry, func, sizes: sizes.0.into_iter().collect(), random: fastrand::Rng::with_seed(0) })
    }

    /// That many lists of arguments.
    pub(super) fn take(&mut self, runs: usize) -> Result<Vec<Vec<ValueSpec>>, RefineError> {
        (0..runs).map(|_| self.arguments().ok_or_else(|| RefineError::Arguments(self.entry.to_string()))).collect()
    }

    fn arguments(&mut self) -> Option<Vec<ValueSpec>> {
        let mut assigned = BTreeMap::new();
        let func = self.func;
        func.params
            .iter()
            .map(|param| self.value(param.annotation.as_ref().unwrap_or(&StructInfo::Object), &mut assigned))
            .collect()
    }

    /// A value of the structural information; `None` where none can be made from outside.
    fn value(&mut self, info: &StructInfo, assigned: &mut BTreeMap<ShapeVar, i64>) -> Option<ValueSpec> {
        match info {
            StructInfo::Object => self.tensor(&[], DataType::FLOAT32),
            StructInfo::Tensor(t) => {
                let dims = self.dims_of(t, assigned)?;
                self.tensor(&dims, if t.dtype.is_void() { DataType::FLOAT32 } else { t.dtype })
            }
            StructInfo::Shape(s) => Some(ValueSpec::Shape(match &s.values {
                Some(values) => self.dims(values, assigned)?,
                None => self.any_dims(s.ndim),
            })),
            StructInfo::Prim(p) if p.dtype.is_bool() => Some(ValueSpec::Bool(self.random.bool())),
            StructInfo::Prim(p) if p.dtype == DataType::INT64 => Some(ValueSpec::Int(self.size())),
            StructInfo::Prim(p) if p.dtype == DataType::FLOAT64 => Some(ValueSpec::Float(FloatBits::new(1.5))),
            StructInfo::Tuple(fields) => {
                fields.iter().map(|field| self.value(field, assigned)).collect::<Option<_>>().map(ValueSpec::Tuple)
            }
            StructInfo::Func(f) if f.derive_func.is_some() => Some(ValueSpec::PackedFunc("relax_spec.log".into())),
            StructInfo::Prim(_) | StructInfo::Func(_) => None,
        }
    }

    fn dims_of(&mut self, t: &TensorStructInfo, assigned: &mut BTreeMap<ShapeVar, i64>) -> Option<Vec<i64>> {
        match &t.shape {
            Some(TensorShape::Dims(dims)) => self.dims(dims, assigned),
            None => Some(self.any_dims(t.ndim)),
            Some(TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_)) => None,
        }
    }

    /// Sizes for dimensions; a variable that has none yet is given one.
    fn dims(&mut self, dims: &[PrimExpr], assigned: &mut BTreeMap<ShapeVar, i64>) -> Option<Vec<i64>> {
        for dim in dims {
            dim.for_each_var(|v| {
                if !assigned.contains_key(v) {
                    assigned.insert(v.clone(), self.size());
                }
            });
        }
        let size = |dim| crate::shape::evaluate(&mut Cx::new(), dim, &|v| assigned.get(v).copied()).ok();
        dims.iter().map(|dim| size(dim).map(|size| size.max(0))).collect()
    }

    fn any_dims(&mut self, ndim: Ndim) -> Vec<i64> {
        let rank = match ndim {
            Ndim::Known(rank) => rank,
            Ndim::Unknown => self.random.u32(0..=MAX_RANK),
        };
        (0..rank).map(|_| self.size()).collect()
    }

    fn size(&mut self) -> i64 {
        self.random.choice(&self.sizes).copied().unwrap_or(1)
    }

    /// Small integers, which every operation on every data type keeps exact.
    fn tensor(&mut self, dims: &[i64], dtype: DataType) -> Option<ValueSpec> {
        let count = dims.iter().try_fold(1i64, |n, d| n.checked_mul(*d)).filter(|n| *n <= MAX_ELEMENTS)?;
        let limit = if dtype.is_bool() { 2 } else { 5 };
        let values: Vec<f64> = (0..count).map(|_| f64::from(self.random.u8(0..limit))).collect();
        let shape: Vec<u64> = dims.iter().map(|d| d.unsigned_abs()).collect();
        TensorData::from_values(dtype, &shape, &values).ok().map(ValueSpec::Tensor)
    }
}
