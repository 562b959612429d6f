//! Arguments for an entry point, and for a closure that it returns, made from the signature. The sizes come from the constants of the programs, so that
//! checks against constants are met as well as missed.

use std::collections::{BTreeMap, BTreeSet};

use crate::grammar::visit::{Visitor, walk_module};
use crate::grammar::{
    AttrValue, DataType, FloatBits, Function, GlobalFunc, IrModule, Ndim, PrimExpr, ShapeVar, StructInfo, TensorData,
    TensorShape, TensorStructInfo,
};
use crate::judge::Cx;
use crate::refine::RefineError;
use crate::value::{Closure, ValueSpec};

/// A source of arguments; the same programs always give the same ones.
pub(super) struct Inputs {
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

/// The externally linked function of a name.
fn linked<'m>(module: &'m IrModule, entry: &str) -> Option<&'m Function> {
    let is_entry = |f: &Function| match f.attrs.get("global_symbol") {
        Some(AttrValue::Str(symbol)) => **symbol == *entry,
        Some(_) | None => false,
    };
    module.funcs.iter().find_map(|(_, func)| match func {
        GlobalFunc::Function(f) if is_entry(f) => Some(&**f),
        GlobalFunc::Function(_) | GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => None,
    })
}

impl Inputs {
    pub(super) fn of(source: &IrModule, target: &IrModule) -> Inputs {
        let mut sizes = Constants([0, 1, 2, 3].into_iter().collect());
        walk_module(&mut sizes, source);
        walk_module(&mut sizes, target);
        Inputs { sizes: sizes.0.into_iter().collect(), random: fastrand::Rng::with_seed(0) }
    }

    /// That many lists of arguments for an entry point.
    pub(super) fn for_entry(
        &mut self,
        module: &IrModule,
        entry: &str,
        runs: usize,
    ) -> Result<Vec<Vec<ValueSpec>>, RefineError> {
        let func = linked(module, entry).ok_or_else(|| RefineError::Entry(entry.to_string()))?;
        let arguments = || RefineError::Arguments(entry.to_string());
        (0..runs).map(|_| self.arguments(func, BTreeMap::new()).ok_or_else(arguments)).collect()
    }

    /// That many lists of arguments for a closure; `None` if it cannot be looked into, or no argument can be made.
    pub(super) fn for_closure(&mut self, closure: &Closure, calls: usize) -> Option<Vec<Vec<ValueSpec>>> {
        let func = closure.func.as_ref()?;
        (0..calls).map(|_| self.arguments(func, closure.captured_shape_vars.clone())).collect()
    }

    fn arguments(&mut self, func: &Function, mut assigned: BTreeMap<ShapeVar, i64>) -> Option<Vec<ValueSpec>> {
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
