//! Rounds that combine one element with many values, in order.

use super::super::arithmetic::Arithmetic;
use super::super::memory::{Memory, MemoryElements};
use super::super::scalar::{FloatOp, IntOp, Repr, float_binary};
use super::lanes::{Fails, Field, Lanes, NestIntOp, Reg};
use crate::number::FloatType;
use crate::value::Side;

/// How an element is combined with a value.
#[derive(Clone, Copy)]
pub(super) enum FoldOp {
    Whole(NestIntOp, Repr),
    Int(IntOp, Repr),
    Field(Field, FloatType),
    Float(FloatOp, FloatType),
}

/// A statement that combines an element with a value.
pub(super) struct Fold {
    pub memory: usize,
    /// The number of the position.
    pub at: usize,
    pub op: FoldOp,
    /// Whether the element is the left operand.
    pub left: bool,
    pub value: Reg,
    /// The choice between the two operands, if its sides are recorded.
    pub choice: Option<usize>,
    /// The value at the start of a reduction.
    pub start: Option<Reg>,
    pub mask: Option<Reg>,
}

/// The values of the lanes, and where they begin anew.
struct Series<'a, T> {
    values: &'a [T],
    starts: Option<&'a [T]>,
    mask: Option<&'a [i64]>,
    /// The lanes in which a reduction starts, in order.
    firsts: &'a [usize],
}

impl<N: Arithmetic> Lanes<N> {
    /// Combines the values of the lanes. `firsts` are the lanes in which a reduction starts.
    pub fn fold(&mut self, fold: &Fold, firsts: &[usize], memory: &mut [Memory<N>]) -> Result<(), Fails> {
        let mut noted = std::mem::take(&mut self.noted);
        let result = self.fold_into(fold, firsts, memory, &mut noted);
        self.noted = noted;
        result
    }

    fn fold_into(
        &self,
        fold: &Fold,
        firsts: &[usize],
        memory: &mut [Memory<N>],
        noted: &mut Vec<(usize, Side)>,
    ) -> Result<(), Fails> {
        let Some(memory) = memory.get_mut(fold.memory) else { return Err(Fails(0)) };
        let mask = fold.mask.map(|mask| &self.ints[mask][..self.count]);
        let mut note = |a_is_b: bool, first: bool| {
            if let Some(choice) = fold.choice.filter(|_| !a_is_b) {
                noted.push((choice, if first { Side::First } else { Side::Second }));
            }
        };
        let mut marks = Vec::new();
        let written = memory.written.as_deref();
        let result = match (&mut memory.data, fold.op) {
            (MemoryElements::Int(data), FoldOp::Whole(op, repr)) => {
                let starts = fold.start.map(|start| self.ints[start].as_slice());
                let series = Series { values: &self.ints[fold.value][..self.count], starts, mask, firsts };
                self.runs(fold, data, written, &mut marks, &series, |mut acc, values| {
                    for x in values {
                        let (a, b) = if fold.left { (acc, *x) } else { (*x, acc) };
                        acc = repr.wrap(match op {
                            NestIntOp::Plus => a.wrapping_add(b),
                            NestIntOp::Minus => a.wrapping_sub(b),
                            NestIntOp::Times => a.wrapping_mul(b),
                        });
                    }
                    Ok(acc)
                })
            }
            (MemoryElements::Int(data), FoldOp::Int(op, repr)) => {
                let starts = fold.start.map(|start| self.ints[start].as_slice());
                let series = Series { values: &self.ints[fold.value][..self.count], starts, mask, firsts };
                self.runs(fold, data, written, &mut marks, &series, |mut acc, values| {
                    for (lane, x) in values.iter().enumerate() {
                        let (a, b) = if fold.left { (acc, *x) } else { (*x, acc) };
                        acc = repr.binary(op, a, b).map_err(|_| (acc, lane))?;
                        note(a == b, acc == a);
                    }
                    Ok(acc)
                })
            }
            (MemoryElements::Float(data), FoldOp::Field(op, float)) => {
                let starts = fold.start.map(|start| self.floats[start].as_slice());
                let series = Series { values: &self.floats[fold.value][..self.count], starts, mask, firsts };
                self.runs(fold, data, written, &mut marks, &series, |acc, values| {
                    Ok(match op {
                        Field::Plus => acc.accumulated(values, float),
                        Field::Times => values.iter().fold(acc, |acc, x| acc.times(*x).rounded(|x| float.round(x))),
                        Field::Minus | Field::Over => values.iter().fold(acc, |acc, x| {
                            let (a, b) = if fold.left { (acc, *x) } else { (*x, acc) };
                            let value = if let Field::Minus = op { a.minus(b) } else { a.over(b) };
                            value.rounded(|x| float.round(x))
                        }),
                    })
                })
            }
            (MemoryElements::Float(data), FoldOp::Float(op, float)) => {
                let starts = fold.start.map(|start| self.floats[start].as_slice());
                let series = Series { values: &self.floats[fold.value][..self.count], starts, mask, firsts };
                self.runs(fold, data, written, &mut marks, &series, |mut acc, values| {
                    for (lane, x) in values.iter().enumerate() {
                        let (a, b) = if fold.left { (acc, *x) } else { (*x, acc) };
                        acc = float_binary(float, op, a, b).map_err(|_| (acc, lane))?;
                        note(a == b, acc == a);
                    }
                    Ok(acc)
                })
            }
            (MemoryElements::Int(_) | MemoryElements::Float(_), _) => Err(Fails(0)),
        };
        marks.into_iter().for_each(|at| memory.mark(at));
        result
    }

    /// Goes through the runs of lanes that have the same element. `combine` gives an element combined with values; if
    /// it fails, what it was before that, and at which of the values.
    fn runs<T: Copy>(
        &self,
        fold: &Fold,
        data: &mut [T],
        written: Option<&[bool]>,
        marks: &mut Vec<usize>,
        series: &Series<T>,
        mut combine: impl FnMut(T, &[T]) -> Result<T, (T, usize)>,
    ) -> Result<(), Fails> {
        let (offsets, base) = self.affine[fold.at];
        let offsets = &self.offsets[offsets];
        let active = |lane: usize| series.mask.is_none_or(|mask| mask[lane] != 0);
        let (mut from, mut nth) = (0, 0);
        while from < self.count {
            let offset = offsets.at(self.first + from);
            let same = |lane: &usize| offsets.at(self.first + lane) == offset;
            let end = if offsets.is_same() { self.count } else { (from..self.count).take_while(same).count() + from };
            let at = base.wrapping_add(offset) as usize;
            let Some(element) = data.get_mut(at) else { return Err(Fails(from)) };
            let mut known = written.is_none_or(|written| written[at]) || marks.contains(&at);
            let mut acc = *element;
            while from < end {
                if series.firsts.get(nth) == Some(&from) {
                    nth += 1;
                    if let Some(starts) = series.starts.filter(|_| active(from)) {
                        (acc, known) = (starts[from], true);
                    }
                }
                let to = series.firsts.get(nth).map_or(end, |next| end.min(*next));
                let values = &series.values[from..to];
                if !known {
                    match (from..to).find(|lane| active(*lane)) {
                        Some(lane) => return Err(Fails(lane)),
                        None => {
                            from = to;
                            continue;
                        }
                    }
                }
                let done = match series.mask {
                    None => combine(acc, values),
                    Some(_) => (from..to).filter(|lane| active(*lane)).try_fold(acc, |acc, lane| {
                        let one = std::slice::from_ref(&series.values[lane]);
                        combine(acc, one).map_err(|(acc, _)| (acc, lane - from))
                    }),
                };
                match done {
                    Ok(value) => acc = value,
                    Err((before, lane)) => {
                        *element = before;
                        marks.push(at);
                        return Err(Fails(from + lane));
                    }
                }
                from = to;
            }
            if known {
                *element = acc;
                if written.is_some_and(|written| !written[at]) {
                    marks.push(at);
                }
            }
        }
        Ok(())
    }
}
