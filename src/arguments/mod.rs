//! Arguments for functions: values on which different programs differ. They depend only on the programs, a seed and a
//! number.

mod boundaries;
mod casts;
mod constants;
mod directed;
mod known;
mod numbers;
mod random;
mod related;
mod sizes;
mod upstream;

use std::collections::BTreeMap;

use boundaries::with_ascending_boundaries;
use casts::Casts;
use constants::Constants;
pub use known::{KnownArgument, KnownArguments, KnownRange, are_ordinary};
use numbers::{ElementGenerator, FilledTensor, Integers, NumberProfile};
use random::Random;
use sizes::SizeDraw;
use upstream::upstream;

use crate::grammar::{
    AttrValue, Binder, DataType, FloatBits, Function, GlobalFunc, IrModule, Name, Ndim, PrimExpr, ShapeVar, StructInfo,
    TensorData, TensorShape, TensorStructInfo,
};
use crate::judge::with_stack;
use crate::value::ValueSpec;

/// A source of arguments for functions of some programs.
#[derive(Clone, Debug)]
pub struct ArgumentSource {
    constants: Constants,
    seed: u64,
    /// The maximum number of bytes of the arguments of one call.
    memory: u64,
    /// The known properties of the arguments.
    known: KnownArguments,
}

/// Identifies a list of arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Draw {
    /// The number of the list; it determines the kind of its sizes and elements.
    pub index: usize,
    /// How often a list of this number was unsuitable: each time, sizes and indices become more ordinary.
    pub attempt: usize,
}

/// The externally linked function of a name.
pub fn linked<'m>(module: &'m IrModule, entry: &str) -> Option<&'m Function> {
    let is_entry = |f: &Function| match f.attrs.get("global_symbol") {
        Some(AttrValue::Str(symbol)) => **symbol == *entry,
        Some(_) | None => false,
    };
    module.funcs.iter().find_map(|(_, func)| match func {
        GlobalFunc::Function(f) if is_entry(f) => Some(&**f),
        GlobalFunc::Function(_) | GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => None,
    })
}

/// The floats in a program, including those of its `PrimFunc`s and the defaults of attributes.
pub(crate) fn float_constants(module: &IrModule) -> Vec<f64> {
    Constants::of(&[module]).floats().to_vec()
}

/// Those of types with fewer digits than float32.
pub(crate) fn float_constants_of_few_digits(module: &IrModule) -> Vec<f64> {
    Constants::of(&[module]).of_few_digits().to_vec()
}

impl ArgumentSource {
    /// Arguments near the constants of these programs, with at most this many bytes.
    pub fn of(modules: &[&IrModule], seed: u64, memory: u64) -> ArgumentSource {
        ArgumentSource { constants: Constants::of(modules), seed, memory, known: KnownArguments::default() }
    }

    /// The floats in the programs, and their integers as floats.
    pub fn floats(&self) -> &[f64] {
        self.constants.floats()
    }

    /// The same, with these known properties of the arguments.
    pub fn knowing(self, known: &KnownArguments) -> ArgumentSource {
        ArgumentSource { known: known.clone(), ..self }
    }

    /// The arguments, changed as little as possible to have the known properties; `None` if that is impossible.
    pub fn mended(&self, func: &Function, args: Vec<ValueSpec>) -> Option<Vec<ValueSpec>> {
        self.known.mend(func, args, &self.constants)
    }

    /// The parameter whose argument does not have the known properties, and what is wrong with it.
    pub fn broken(&self, func: &Function, args: &[ValueSpec]) -> Option<(Name, String)> {
        self.known.broken(func, args, &self.constants)
    }

    /// A list of arguments for a function. `known` gives the values of some shape variables. `None` if the signature
    /// requires a value that cannot be made outside of the program.
    pub fn for_function(&self, func: &Function, known: &BTreeMap<ShapeVar, i64>, draw: Draw) -> Option<Vec<ValueSpec>> {
        let mut random = Random::new(self.seed, draw.index, draw.attempt);
        let casts = match draw {
            Draw { attempt: 0, index } if index % 5 == 4 => Casts::default(),
            Draw { attempt: 0, index } if index % 2 == 1 => Casts::of(func).only(index / 2),
            Draw { .. } => Casts::of(func),
        };
        let known = casts.sizes(func).into_iter().chain(known.clone()).collect();
        let sizes = SizeDraw::new(&self.constants, known, draw, &mut random);
        let mut sizes = sizes.up_to(largest_size(func)).within_bounds_of(func);
        let own = |param: &Binder| param.annotation.clone().unwrap_or(StructInfo::Object);
        let infos: Vec<StructInfo> =
            func.params.iter().enumerate().map(|(nth, param)| casts.annotation(nth, &param.var, own(param))).collect();
        let outlines: Option<Vec<Outline>> = infos.iter().map(|info| outline(info, &mut sizes, &mut random)).collect();
        let outlines = outlines?;
        let limits = self.constants.limits(outlines.iter().flat_map(Outline::dims));
        let about = NumberProfile::of(draw.index) == NumberProfile::SmallBefore;
        let flows = if about { upstream(func, &self.constants, draw.index / 10) } else { None };
        let place = FilledTensor { index: draw.index, nth: 0, of: outlines.iter().map(Outline::tensors).sum() };
        let memory = self.memory;
        let indices = self.known.indices_in_range;
        let constants = &self.constants;
        let mut filling = Filling { constants, memory, limits, indices, draw, place, flows: None, random };
        let fill = |(nth, outline)| {
            filling.flows = flows.as_ref().and_then(|flows| flows.get(nth).copied());
            filling.fill(outline)
        };
        let mut args: Vec<ValueSpec> = outlines.into_iter().enumerate().map(fill).collect::<Option<_>>()?;
        if draw.attempt > 0 {
            with_ascending_boundaries(func, &mut args)?;
        }
        self.mended(func, args)
    }
}

/// Whether the numbers of a draw are chosen around the constants of the programs.
pub(crate) fn is_around_constants(index: usize) -> bool {
    NumberProfile::of(index) == NumberProfile::Edges
}

/// From this many elements on, the arguments whose sizes are given make large sizes too expensive.
const MANY_ELEMENTS: i64 = 1 << 18;
/// How many elements the given sizes have, times a chosen one, at most.
const MOST_PRODUCTS: i64 = 5 << 19;

/// The largest size that is chosen for a function: a run takes about as many multiplications as its weights have
/// elements, times the size. `None` if the sizes of its arguments are few, or all are given.
pub fn largest_size(func: &Function) -> Option<i64> {
    let infos = || func.params.iter().filter_map(|param| param.annotation.as_ref());
    let given = infos().fold(0i64, |count, info| count.saturating_add(given_elements(info)));
    let chooses = given >= MANY_ELEMENTS && infos().any(has_chosen_size);
    chooses.then(|| (MOST_PRODUCTS / given).max(2))
}

/// How many elements the tensors in a value have whose sizes are given.
fn given_elements(info: &StructInfo) -> i64 {
    let all = |dims: &[PrimExpr]| {
        let size = |dim: &PrimExpr| if let PrimExpr::IntImm(size) = dim { Some(*size) } else { None };
        dims.iter().try_fold(1i64, |count, dim| Some(count.saturating_mul(size(dim)?)))
    };
    if let StructInfo::Tensor(TensorStructInfo { shape: Some(TensorShape::Dims(dims)), .. }) = info {
        all(dims).unwrap_or(0)
    } else if let StructInfo::Tuple(fields) = info {
        with_stack(|| fields.iter().fold(0i64, |count, field| count.saturating_add(given_elements(field))))
    } else {
        0
    }
}

/// Whether a size in a value is chosen.
fn has_chosen_size(info: &StructInfo) -> bool {
    if let StructInfo::Tensor(t) = info {
        extent_of(t) == Extent::Chosen
    } else if let StructInfo::Tuple(fields) = info {
        with_stack(|| fields.iter().any(has_chosen_size))
    } else {
        false
    }
}

/// Whether the sizes of a tensor are given by the signature, or chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Extent {
    Fixed,
    Chosen,
}

fn extent_of(t: &TensorStructInfo) -> Extent {
    match &t.shape {
        Some(TensorShape::Dims(dims)) if dims.iter().all(|dim| matches!(dim, PrimExpr::IntImm(_))) => Extent::Fixed,
        Some(TensorShape::Dims(_) | TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_))
        | None => Extent::Chosen,
    }
}

/// A value without its elements.
enum Outline {
    Tensor(DataType, Vec<i64>, Extent),
    Tuple(Vec<Outline>),
    Made(ValueSpec),
    Scalar(DataType),
}

impl Outline {
    /// How many tensors and scalars are in it.
    fn tensors(&self) -> usize {
        match self {
            Outline::Tensor(..) | Outline::Scalar(_) => 1,
            Outline::Tuple(fields) => with_stack(|| fields.iter().map(Outline::tensors).sum()),
            Outline::Made(_) => 0,
        }
    }

    /// The sizes of all tensors in it.
    fn dims(&self) -> Vec<i64> {
        match self {
            Outline::Tensor(_, dims, _) => dims.clone(),
            Outline::Tuple(fields) => with_stack(|| fields.iter().flat_map(Outline::dims).collect()),
            Outline::Made(_) | Outline::Scalar(_) => Vec::new(),
        }
    }
}

/// A value of the structural information, without elements; `None` if no such value can be made outside of the program.
fn outline(info: &StructInfo, sizes: &mut SizeDraw<'_>, random: &mut Random) -> Option<Outline> {
    match info {
        StructInfo::Object => Some(Outline::Tensor(DataType::FLOAT32, Vec::new(), Extent::Fixed)),
        StructInfo::Tensor(t) => Some(Outline::Tensor(dtype_of(t), dims_of(t, sizes, random)?, extent_of(t))),
        StructInfo::Shape(s) if s.values.is_none() && has_many_axes(s.ndim) => None,
        StructInfo::Shape(s) => Some(Outline::Made(ValueSpec::Shape(match &s.values {
            Some(values) => sizes.of_dims(values, random)?,
            None => sizes.any(s.ndim, random),
        }))),
        StructInfo::Prim(p) if p.dtype == DataType::INT64 => Some(Outline::Made(ValueSpec::Int(match &p.value {
            Some(value) => *sizes.of_dims(std::slice::from_ref(value), random)?.first()?,
            None => sizes.any_size(random),
        }))),
        StructInfo::Prim(p) if p.dtype.is_bool() || p.dtype == DataType::FLOAT64 => Some(Outline::Scalar(p.dtype)),
        StructInfo::Tuple(fields) => {
            let fields: Option<Vec<Outline>> =
                fields.iter().map(|field| with_stack(|| outline(field, sizes, random))).collect();
            fields.map(Outline::Tuple)
        }
        StructInfo::Func(f) if f.derive_func.is_some() => {
            Some(Outline::Made(ValueSpec::PackedFunc("relax_spec.log".into())))
        }
        StructInfo::Prim(_) | StructInfo::Func(_) => None,
    }
}

/// The data type; float32 if it is unknown.
fn dtype_of(t: &TensorStructInfo) -> DataType {
    if t.dtype.is_void() { DataType::FLOAT32 } else { t.dtype }
}

fn dims_of(t: &TensorStructInfo, sizes: &mut SizeDraw<'_>, random: &mut Random) -> Option<Vec<i64>> {
    match &t.shape {
        Some(TensorShape::Dims(dims)) => sizes.of_dims(dims, random),
        None if has_many_axes(t.ndim) => None,
        None => Some(sizes.any(t.ndim, random)),
        Some(TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_)) => None,
    }
}

/// Whether a tensor has more axes than any realistic one; all their sizes would be chosen one by one.
fn has_many_axes(ndim: Ndim) -> bool {
    matches!(ndim, Ndim::Known(rank) if rank > 64)
}

/// The maximum number of elements of a tensor with chosen sizes: some hundred such tensors fit into the memory of a
/// run.
const MAX_ELEMENTS: i64 = 1 << 20;

/// The attempt from which on all numbers of a draw are ordinary.
const TAME: usize = 5;

/// Fills outlines with elements.
struct Filling<'a> {
    constants: &'a Constants,
    /// How many bytes are left.
    memory: u64,
    /// The upper bounds of indices, the smallest first.
    limits: Vec<i64>,
    /// Whether integers are known to be indices.
    indices: bool,
    draw: Draw,
    /// The next tensor.
    place: FilledTensor,
    /// Whether the argument flows into the small constant that this draw tests, if it tests one.
    flows: Option<bool>,
    random: Random,
}

impl<'a> Filling<'a> {
    fn fill(&mut self, outline: Outline) -> Option<ValueSpec> {
        match outline {
            Outline::Tensor(dtype, dims, extent) => self.tensor(dtype, &dims, extent),
            Outline::Tuple(fields) => with_stack(|| {
                fields.into_iter().map(|field| self.fill(field)).collect::<Option<_>>().map(ValueSpec::Tuple)
            }),
            Outline::Made(value) => Some(value),
            Outline::Scalar(dtype) if dtype.is_bool() => Some(ValueSpec::Bool(self.random.one_in(2))),
            Outline::Scalar(_) => {
                let value = self.numbers(DataType::FLOAT64, 1).floats(1, &mut self.random).first().copied();
                value.map(|value| ValueSpec::Float(FloatBits::new(value)))
            }
        }
    }

    /// The generator for the elements of the next tensor.
    fn numbers(&mut self, dtype: DataType, count: usize) -> ElementGenerator<'a> {
        let place = self.place;
        self.place.nth += 1;
        // Of extreme numbers the text may not say what they become.
        let profile = match self.draw.attempt < TAME {
            true => NumberProfile::of_argument(place, self.flows, &mut self.random),
            false => NumberProfile::tame(&mut self.random),
        };
        let usual = ElementGenerator { constants: self.constants, profile, integers: self.integers(), dtype, place };
        // A single number often decides a branch, and is rarely an index.
        if count == 1 && place.is_at_edge() && self.draw.attempt < 3 && !profile.is_boundless() {
            return ElementGenerator { profile: NumberProfile::Edges, integers: Integers::Values, ..usual };
        }
        usual
    }

    /// Integers may be indices, which becomes visible only when the program runs.
    fn integers(&self) -> Integers {
        let Draw { index, attempt } = self.draw;
        let limit = |n: usize| self.limits.get(n % self.limits.len().max(1)).copied().unwrap_or(1).max(1);
        match attempt {
            // Every second time that a profile is used.
            0 if NumberProfile::nth(index).is_multiple_of(2) && !self.indices => Integers::Values,
            0 => Integers::Below(limit(index / 2)),
            1 => Integers::Below(limit(self.limits.len().saturating_sub(1))),
            n if n - 2 < self.limits.len() => Integers::Below(limit(self.limits.len() - 1 - (n - 2))),
            _ => Integers::Below(1 + (index as i64 % 2)),
        }
    }

    fn tensor(&mut self, dtype: DataType, dims: &[i64], extent: Extent) -> Option<ValueSpec> {
        let count = dims.iter().try_fold(1i64, |n, d| n.checked_mul(*d))?;
        let count = usize::try_from(count).ok().filter(|_| extent == Extent::Fixed || count <= MAX_ELEMENTS)?;
        self.memory = self.memory.checked_sub((count as u64).checked_mul(dtype.bytes() as u64)?)?;
        let shape: Vec<u64> = dims.iter().map(|d| d.unsigned_abs()).collect();
        let mut random = self.random.fork();
        let bytes = self.numbers(dtype, count).bytes(count, &mut random)?;
        TensorData::new(dtype, &shape, bytes).ok().map(ValueSpec::Tensor)
    }
}

#[cfg(test)]
mod tests;
