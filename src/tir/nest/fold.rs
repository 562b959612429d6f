//! Rounds that combine one element with many values, in order.

use super::super::arithmetic::Arithmetic;
use super::super::memory::{Memory, MemoryElements};
use super::super::scalar::{FloatOp, IntOp, Repr, float_binary};
use super::lanes::{Fails, Field, Lanes, NestIntOp, Reg};
use super::noise::of_field;
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

impl<T: Copy> Series<'_, T> {
    fn is_active(&self, lane: usize) -> bool {
        self.mask.is_none_or(|mask| mask[lane] != 0)
    }

    /// An element combined with the values of lanes.
    fn combined(
        &self,
        from: usize,
        to: usize,
        element: T,
        combine: &mut impl FnMut(T, &[T], usize) -> Result<T, (T, usize)>,
    ) -> Result<T, (T, usize)> {
        if self.mask.is_none() {
            return combine(element, &self.values[from..to], from);
        }
        (from..to).filter(|lane| self.is_active(*lane)).try_fold(element, |acc, lane| {
            let one = std::slice::from_ref(&self.values[lane]);
            combine(acc, one, lane).map_err(|(acc, _)| (acc, lane - from))
        })
    }
}

/// The elements that values are combined with.
struct FoldedElements<'a, T> {
    data: &'a mut [T],
    written: Option<&'a [bool]>,
    /// Those that get a value.
    marks: &'a mut Vec<usize>,
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
        let note = |a_is_b: bool, first: bool| {
            if let Some(choice) = fold.choice.filter(|_| !a_is_b) {
                noted.push((choice, if first { Side::First } else { Side::Second }));
            }
        };
        memory.stored = true;
        let mut marks = Vec::new();
        let written = memory.written.as_deref();
        let result = match &mut memory.data {
            MemoryElements::Int(data) => {
                self.fold_ints(fold, FoldedElements { data, written, marks: &mut marks }, firsts, note)
            }
            MemoryElements::Float(data) => {
                self.fold_floats(fold, FoldedElements { data, written, marks: &mut marks }, firsts, note)
            }
        };
        marks.into_iter().for_each(|at| memory.mark(at));
        result
    }

    fn series<'a, T>(&'a self, fold: &Fold, registers: &'a [Vec<T>], firsts: &'a [usize]) -> Series<'a, T> {
        Series {
            values: &registers[fold.value][..self.count],
            starts: fold.start.map(|start| registers[start].as_slice()),
            mask: fold.mask.map(|mask| &self.ints[mask][..self.count]),
            firsts,
        }
    }

    fn fold_ints(
        &self,
        fold: &Fold,
        to: FoldedElements<i64>,
        firsts: &[usize],
        mut note: impl FnMut(bool, bool),
    ) -> Result<(), Fails> {
        let series = self.series(fold, &self.ints, firsts);
        let operands = |acc, x| if fold.left { (acc, x) } else { (x, acc) };
        match fold.op {
            FoldOp::Whole(op, repr) => self.runs(fold, to, &series, |mut acc, values, _| {
                for x in values {
                    let (a, b) = operands(acc, *x);
                    acc = repr.wrap(match op {
                        NestIntOp::Plus => a.wrapping_add(b),
                        NestIntOp::Minus => a.wrapping_sub(b),
                        NestIntOp::Times => a.wrapping_mul(b),
                    });
                }
                Ok(acc)
            }),
            FoldOp::Int(op, repr) => self.runs(fold, to, &series, |mut acc, values, _| {
                for (lane, x) in values.iter().enumerate() {
                    let (a, b) = operands(acc, *x);
                    acc = repr.binary(op, a, b).map_err(|_| (acc, lane))?;
                    note(a == b, acc == a);
                }
                Ok(acc)
            }),
            FoldOp::Field(..) | FoldOp::Float(..) => Err(Fails(0)),
        }
    }

    fn fold_floats(
        &self,
        fold: &Fold,
        to: FoldedElements<N>,
        firsts: &[usize],
        mut note: impl FnMut(bool, bool),
    ) -> Result<(), Fails> {
        let series = self.series(fold, &self.floats, firsts);
        let operands = |acc, x| if fold.left { (acc, x) } else { (x, acc) };
        match (fold.op, &self.noise) {
            (FoldOp::Field(op, float), Some(noise)) => self.runs(fold, to, &series, |mut acc, values, from| {
                let (mut noise, states) = noise.series(float);
                for (x, mut state) in values.iter().zip(states.iter().skip(from).copied()) {
                    let (a, b) = operands(acc, *x);
                    acc = of_field(&mut noise, &mut state, op, a, b);
                }
                noise.note();
                Ok(acc)
            }),
            (FoldOp::Field(op, float), None) => self.runs(fold, to, &series, |acc, values, _| {
                Ok(match op {
                    Field::Plus => acc.accumulated(values, float),
                    Field::Times => values.iter().fold(acc, |acc, x| acc.times(*x).rounded(|x| float.round(x))),
                    Field::Minus | Field::Over => values.iter().fold(acc, |acc, x| {
                        let (a, b) = operands(acc, *x);
                        let value = if let Field::Minus = op { a.minus(b) } else { a.over(b) };
                        value.rounded(|x| float.round(x))
                    }),
                })
            }),
            (FoldOp::Float(op, float), noise) => self.runs(fold, to, &series, |mut acc, values, _| {
                for (lane, x) in values.iter().enumerate() {
                    let (a, b) = operands(acc, *x);
                    let decided = match noise {
                        Some(noise) => noise.binary(float, op, a, b),
                        None => float_binary(float, op, a, b),
                    };
                    acc = decided.map_err(|_| (acc, lane))?;
                    note(a == b, acc == a);
                }
                Ok(acc)
            }),
            (FoldOp::Whole(..) | FoldOp::Int(..), _) => Err(Fails(0)),
        }
    }

    /// Goes through the runs of lanes that have the same element. `combine` gives an element combined with values, the
    /// first of which is that of the given lane; if it fails, what it was before that, and at which of the values.
    fn runs<T: Copy>(
        &self,
        fold: &Fold,
        to: FoldedElements<T>,
        series: &Series<T>,
        mut combine: impl FnMut(T, &[T], usize) -> Result<T, (T, usize)>,
    ) -> Result<(), Fails> {
        let (offsets, base) = self.affine[fold.at];
        let offsets = &self.offsets[offsets];
        let FoldedElements { data, written, marks } = to;
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
                    if let Some(starts) = series.starts.filter(|_| series.is_active(from)) {
                        (acc, known) = (starts[from], true);
                    }
                }
                let to = series.firsts.get(nth).map_or(end, |next| end.min(*next));
                if !known {
                    if let Some(lane) = (from..to).find(|lane| series.is_active(*lane)) {
                        return Err(Fails(lane));
                    }
                    from = to;
                    continue;
                }
                match series.combined(from, to, acc, &mut combine) {
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
