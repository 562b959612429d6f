//! The packed functions of TVM's runtime that sort: `tvm.contrib.sort.sort`, `argsort` and `topk`, for the lines of a
//! buffer along an axis, and `tvm.contrib.thrust.sort`, for those along the last axis.

use std::cmp::Ordering;

use super::arithmetic::Arithmetic;
use super::code::{Int, SortCode, Sorted};
use super::error::{TirError, TirResult};
use super::memory::{BufferView, MemoryElements, StridedDim};
use super::run::Machine;
use crate::number::FloatType;

/// An element of a buffer of either kind.
#[derive(Clone, Copy)]
pub(super) enum SortKey<N> {
    Int(i64),
    Float(N),
}

/// The order that operators use: zeros of both signs are equal, and NaN comes last.
fn order<N: Arithmetic>(a: SortKey<N>, b: SortKey<N>, unsigned: bool) -> Ordering {
    match (a, b) {
        (SortKey::Int(a), SortKey::Int(b)) if unsigned => (a as u64).cmp(&(b as u64)),
        (SortKey::Int(a), SortKey::Int(b)) => a.cmp(&b),
        (SortKey::Float(a), SortKey::Float(b)) => {
            let (a, b) = (a.near(), b.near());
            a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
        }
        (SortKey::Int(_), SortKey::Float(_)) | (SortKey::Float(_), SortKey::Int(_)) => Ordering::Equal,
    }
}

impl<'p, N: Arithmetic> Machine<'p, N> {
    /// Sorts the lines of a buffer. The ring does not order numbers that are nearly equal, so it does not sort.
    pub(super) fn sort(&mut self, code: &'p SortCode) -> TirResult<()> {
        self.of_floats(N::default(), "a sort")?;
        let arrays = code.outputs.iter().map(|(buffer, shape, _)| (*buffer, shape));
        let before = self.in_shape(arrays.chain([&code.input].map(|i| (i.0, &i.1))))?;
        self.sort_lines(code)?;
        self.views = before;
        Ok(())
    }

    fn sort_lines(&mut self, code: &'p SortCode) -> TirResult<()> {
        let input = self.views[code.input.0].clone();
        let rank = input.dims.len() as i64;
        let axis = self.int(&code.axis)?;
        let axis = usize::try_from(if axis < 0 { axis.saturating_add(rank) } else { axis }).unwrap_or(usize::MAX);
        let Some(along) = input.dims.get(axis).copied() else { return Err(unfit("an axis that is none")) };
        let ascending = self.int(&code.ascending)? != 0;
        let shape = input.shape();
        let lines = shape.iter().enumerate().filter(|(at, _)| *at != axis).map(|(_, size)| *size).product::<i64>();
        for line in 0..lines {
            drop(self.pay(along.extent.unsigned_abs().into())?);
            let start = start_of(line, &shape, axis);
            let keys = (0..along.extent)
                .map(|at| self.key(code.input.0, &with(&start, axis, at)))
                .collect::<TirResult<Vec<SortKey<N>>>>()?;
            let mut places: Vec<usize> = (0..keys.len()).collect();
            places.sort_by(|a, b| match (keys.get(*a), keys.get(*b)) {
                (Some(a), Some(b)) if ascending => order(*a, *b, code.unsigned),
                (Some(a), Some(b)) => order(*b, *a, code.unsigned),
                (_, _) => Ordering::Equal,
            });
            for (buffer, _, what) in &code.outputs {
                let wanted = self.views[*buffer].dims.get(axis).map_or(0, |dim| dim.extent);
                for (at, place) in (0..wanted).zip(&places) {
                    let value = match what {
                        Sorted::Values => keys.get(*place).copied(),
                        Sorted::Places => Some(SortKey::Int(*place as i64)),
                    };
                    self.set(*buffer, &with(&start, axis, at), value)?;
                }
            }
        }
        Ok(())
    }

    /// Gives the arrays the shapes that a call states, which may be those of buffers before these were made flat. The
    /// result is the views as they were.
    pub(super) fn in_shape(
        &mut self,
        arrays: impl Iterator<Item = (usize, &'p Vec<Int>)>,
    ) -> TirResult<Vec<BufferView>> {
        let before = self.views.clone();
        for (buffer, shape) in arrays {
            let shape = self.values(shape)?;
            let view = &mut self.views[buffer];
            if shape != view.shape() {
                let fits = is_compact(view) && count(&shape).is_some_and(|all| Some(all) == count(&view.shape()));
                if !fits {
                    return Err(unfit("an array of another shape than its buffer"));
                }
                view.dims = compact(&shape);
            }
        }
        Ok(before)
    }

    /// The memory of an element, and its index there.
    fn place(&self, buffer: usize, index: &[i64]) -> TirResult<(usize, usize)> {
        let view = &self.views[buffer];
        if view.dims.len() != index.len() || view.dims.iter().zip(index).any(|(dim, i)| !(0..dim.extent).contains(i)) {
            return Err(unfit("arrays that do not fit each other"));
        }
        let at =
            view.dims.iter().zip(index).fold(view.offset, |at, (dim, i)| at.wrapping_add(i.wrapping_mul(dim.stride)));
        usize::try_from(at).map(|at| (view.memory, at)).map_err(|_| unfit("an array that begins before its memory"))
    }

    pub(super) fn key(&self, buffer: usize, index: &[i64]) -> TirResult<SortKey<N>> {
        let (memory, at) = self.place(buffer, index)?;
        let memory = self.memory.get(memory).ok_or_else(|| unfit("an array without memory"))?;
        if memory.written.as_ref().is_some_and(|written| written.get(at) != Some(&true)) {
            let buffer = self.program.buffers[buffer].clone();
            return Err(Box::new(TirError::Uninitialized { buffer, indices: index.to_vec() }));
        }
        let key = match &memory.data {
            MemoryElements::Int(elements) => elements.get(at).copied().map(SortKey::Int),
            MemoryElements::Float(elements) => elements.get(at).copied().map(SortKey::Float),
        };
        key.ok_or_else(|| unfit("an array beyond its memory"))
    }

    pub(super) fn set(&mut self, buffer: usize, index: &[i64], value: Option<SortKey<N>>) -> TirResult<()> {
        let (memory, at) = self.place(buffer, index)?;
        let memory = self.memory.get_mut(memory).ok_or_else(|| unfit("an array without memory"))?;
        let done = match (&mut memory.data, value) {
            (MemoryElements::Int(elements), Some(SortKey::Int(value))) => elements.get_mut(at).map(|e| *e = value),
            (MemoryElements::Float(elements), Some(SortKey::Float(value))) => elements.get_mut(at).map(|e| *e = value),
            (MemoryElements::Float(elements), Some(SortKey::Int(value))) => {
                elements.get_mut(at).map(|e| *e = N::of_int(value.into(), FloatType::Float64))
            }
            (MemoryElements::Int(_), Some(SortKey::Float(_))) | (_, None) => None,
        };
        memory.mark(at);
        done.ok_or_else(|| unfit("an array of another data type"))
    }
}

/// The number of elements; `None` if it is no number of elements.
fn count(shape: &[i64]) -> Option<i64> {
    shape.iter().try_fold(1i64, |all, size| (*size >= 0).then(|| all.checked_mul(*size)).flatten())
}

/// The dimensions of elements that lie one behind the other.
fn compact(shape: &[i64]) -> Vec<StridedDim> {
    let mut dims: Vec<StridedDim> = Vec::with_capacity(shape.len());
    let mut stride = 1i64;
    for extent in shape.iter().rev() {
        dims.push(StridedDim { extent: *extent, stride });
        stride = stride.saturating_mul(*extent);
    }
    dims.reverse();
    dims
}

fn is_compact(view: &BufferView) -> bool {
    let steps = |dims: &[StridedDim]| dims.iter().map(|dim| dim.stride).collect::<Vec<i64>>();
    steps(&view.dims) == steps(&compact(&view.shape()))
}

pub(super) fn unfit(what: &str) -> Box<TirError> {
    Box::new(TirError::Unsupported(format!("a sort or a scan of {what}")))
}

/// The first index of a line, which is given by its number among the indices of all other axes.
pub(super) fn start_of(line: i64, shape: &[i64], axis: usize) -> Vec<i64> {
    let mut rest = line;
    let mut index = vec![0; shape.len()];
    for (at, size) in shape.iter().enumerate().rev() {
        if at != axis
            && let Some(place) = index.get_mut(at)
        {
            *place = rest.checked_rem(*size).unwrap_or(0);
            rest = rest.checked_div(*size).unwrap_or(0);
        }
    }
    index
}

pub(super) fn with(start: &[i64], axis: usize, at: i64) -> Vec<i64> {
    start.iter().enumerate().map(|(i, place)| if i == axis { at } else { *place }).collect()
}
