//! Arguments that try to reach a side that no choice of a program took yet: other sizes in turn, other magnitudes, and
//! the integers in the programs.

use std::collections::{BTreeMap, BTreeSet};

use super::{ArgumentSource, Draw};
use crate::grammar::{Function, PrimExpr, ShapeVar, StructInfo, TensorData, TensorShape};
use crate::judge::with_stack;
use crate::value::{Scalar, Tensor, ValueSpec};

/// A way to change arguments.
#[derive(Clone, PartialEq, Debug)]
enum Way {
    /// Sets a size.
    Size(ShapeVar, i64),
    /// Multiplies all floats, or those of one argument.
    Scale(Option<usize>, f64),
    /// Sets all integers of one argument.
    Int(usize, i64),
}

/// The draws that are changed: fractions of both signs, and positive numbers.
const BASES: [Draw; 2] = [Draw { index: 1, attempt: 0 }, Draw { index: 4, attempt: 0 }];
/// How many arguments are changed one by one, and how many constants are used.
const EACH: usize = 8;
const CONSTANTS: usize = 16;
/// The factors for floats: a bound may apply to a product or a sum.
const FACTORS: [f64; 8] = [1e3, 1e6, -1e3, 1e9, 1e-3, 1e-6, -1e6, 1e-9];
/// Integers beyond most bounds.
const FAR: [i64; 4] = [1_000_003, -1_000_003, (1 << 40) + 7, -(1 << 40) - 7];
/// The maximum number of elements of a tensor whose size is chosen here.
const MAX_SIZE: i64 = 1 << 20;

impl ArgumentSource {
    /// Arguments for the function that reach other sides, one list after the other.
    pub fn directed<'a>(&'a self, func: &'a Function) -> impl Iterator<Item = Vec<ValueSpec>> + 'a {
        let ways = self.ways(func);
        let made = move |base: Draw, way: &Way| match way {
            Way::Size(var, size) => self.for_function(func, &BTreeMap::from([(var.clone(), *size)]), base),
            Way::Scale(nth, factor) => self.changed(func, base, *nth, &|x| scaled(x, *factor)),
            Way::Int(nth, value) => self.changed(func, base, Some(*nth), &|x| replaced(x, *value)),
        };
        BASES.into_iter().flat_map(move |base| ways.clone().into_iter().filter_map(move |way| made(base, &way)))
    }

    fn ways(&self, func: &Function) -> Vec<Way> {
        let params = func.params.len().min(EACH);
        let (vars, sizes) = (shape_vars(func), self.sizes_to_try());
        let sized = vars.iter().take(EACH).flat_map(|var| sizes.iter().map(move |size| Way::Size(var.clone(), *size)));
        let all = FACTORS.into_iter().map(|factor| Way::Scale(None, factor));
        let each = (0..params).flat_map(|nth| FACTORS.into_iter().map(move |factor| Way::Scale(Some(nth), factor)));
        let each = each.filter(|_| params > 1);
        let constants = self.constants.integers().iter().take(CONSTANTS).flat_map(|x| [*x, x.saturating_add(1)]);
        let integers = FAR.into_iter().chain(constants);
        let ints = (0..params).flat_map(move |nth| integers.clone().map(move |value| Way::Int(nth, value)));
        sized.chain(all).chain(each).chain(ints).collect()
    }

    /// The sizes 0, 1, several, and the constants of the programs, each also plus 1.
    fn sizes_to_try(&self) -> Vec<i64> {
        let constants = self.constants.sizes().chain(self.constants.integers().iter().copied());
        let mut seen = BTreeSet::new();
        let constants = constants.filter(|size| (2..MAX_SIZE).contains(size) && seen.insert(*size)).take(CONSTANTS);
        [0, 1, 2].into_iter().chain(constants.flat_map(|size| [size + 1, size])).collect()
    }

    /// The arguments of a draw with the elements of all arguments or of one changed; `None` if nothing changes.
    fn changed(
        &self,
        func: &Function,
        base: Draw,
        nth: Option<usize>,
        change: &dyn Fn(Scalar) -> Option<Scalar>,
    ) -> Option<Vec<ValueSpec>> {
        let mut args = self.for_function(func, &BTreeMap::new(), base)?;
        let mut any = false;
        for (_, arg) in args.iter_mut().enumerate().filter(|(i, _)| nth.is_none_or(|nth| nth == *i)) {
            any |= change_in(arg, change);
        }
        any.then_some(args).and_then(|args| self.mended(func, args))
    }
}

/// The variables in the sizes of the parameters.
fn shape_vars(func: &Function) -> Vec<ShapeVar> {
    fn of_dims(dims: &[PrimExpr], vars: &mut Vec<ShapeVar>) {
        dims.iter().for_each(|dim| {
            dim.for_each_var(|var| {
                if !vars.contains(var) {
                    vars.push(var.clone());
                }
            });
        });
    }
    fn of(info: &StructInfo, vars: &mut Vec<ShapeVar>) {
        match info {
            StructInfo::Tensor(t) => match &t.shape {
                Some(TensorShape::Dims(dims)) => of_dims(dims, vars),
                Some(TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_)) | None => {}
            },
            StructInfo::Shape(s) => s.values.iter().for_each(|values| of_dims(values, vars)),
            StructInfo::Tuple(fields) => with_stack(|| fields.iter().for_each(|field| of(field, vars))),
            StructInfo::Object | StructInfo::Prim(_) | StructInfo::Func(_) => {}
        }
    }
    let mut vars = Vec::new();
    func.params.iter().flat_map(|param| &param.annotation).for_each(|info| of(info, &mut vars));
    vars
}

fn scaled(x: Scalar, factor: f64) -> Option<Scalar> {
    match x {
        Scalar::Float(x) => Some(Scalar::Float(x * factor)),
        Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) | Scalar::Ring(_) => None,
    }
}

fn replaced(x: Scalar, value: i64) -> Option<Scalar> {
    match x {
        Scalar::Int(_) => Some(Scalar::Int(value)),
        Scalar::UInt(_) => u64::try_from(value).ok().map(Scalar::UInt),
        Scalar::Bool(_) | Scalar::Float(_) | Scalar::Ring(_) => None,
    }
}

/// Changes the elements in a value. Returns whether any changed.
fn change_in(value: &mut ValueSpec, change: &dyn Fn(Scalar) -> Option<Scalar>) -> bool {
    if let ValueSpec::Tensor(data) = value {
        match changed_tensor(data, change) {
            Some(changed) => {
                *data = changed;
                true
            }
            None => false,
        }
    } else if let ValueSpec::Tuple(fields) = value {
        // All fields, whatever the result for the first.
        with_stack(|| fields.iter_mut().filter_map(|field| change_in(field, change).then_some(())).count() > 0)
    } else {
        false
    }
}

fn changed_tensor(data: &TensorData, change: &dyn Fn(Scalar) -> Option<Scalar>) -> Option<TensorData> {
    let tensor = Tensor::from_data(data).ok()?;
    let changed: Vec<Scalar> = (0..tensor.len()).map(|i| tensor.get(i).and_then(change)).collect::<Option<_>>()?;
    tensor.fill(|i| changed.get(i).copied().ok_or(())).ok()?;
    let held = |i: usize| !matches!(tensor.get(i), Some(Scalar::Float(x)) if !x.is_finite());
    (!tensor.is_empty() && (0..tensor.len()).all(held)).then(|| tensor.to_data())
}
