//! Straight-line code on lanes: the rounds of a nest that are computed at once. A register holds a value for each lane.

use super::super::arithmetic::Arithmetic;
use super::super::memory::{Memory, MemoryElements};
use super::super::scalar::{Compare, FloatOp, IntOp, Repr, Test, compare_floats, float_binary, of_int, test};
use super::noise::NoiseOfLanes;
use crate::grammar::DataType;
use crate::number::FloatType;
use crate::number::real::{BinaryFunction, Function};
use crate::value::Side;

/// The number of a register.
pub(super) type Reg = usize;

/// An element of a buffer for each lane.
pub(super) struct LanePlace {
    pub memory: usize,
    /// If all indices are proved to be inside: the affine position in the memory.
    pub at: Option<usize>,
    /// Otherwise the index, the extent and the stride of each dimension, and the position of the first element.
    pub dims: Vec<(Reg, i64, i64)>,
    pub offset: i64,
}

/// A sum, a difference or a product of integers.
#[derive(Clone, Copy)]
pub(super) enum NestIntOp {
    Plus,
    Minus,
    Times,
}

/// An operation on floats that gives a value for all operands.
#[derive(Clone, Copy)]
pub(super) enum Field {
    Plus,
    Minus,
    Times,
    Over,
}

/// A function of one integer.
#[derive(Clone, Copy)]
pub(super) enum IntFunction {
    Not,
    BitNot,
    Popcount,
    LeadingZeros,
    Wrap,
    Nonzero,
}

/// An instruction. A mask is a register; only the lanes in which it is not 0 can fail, are recorded, or take numbers of
/// noise.
pub(super) enum Step {
    Affine {
        to: Reg,
        of: usize,
    },
    LoadInt {
        to: Reg,
        from: LanePlace,
        mask: Option<Reg>,
    },
    LoadFloat {
        to: Reg,
        from: LanePlace,
        mask: Option<Reg>,
    },
    StoreInt {
        to: LanePlace,
        value: Reg,
        mask: Option<Reg>,
    },
    StoreFloat {
        to: LanePlace,
        value: Reg,
        mask: Option<Reg>,
    },
    Whole {
        to: Reg,
        op: NestIntOp,
        a: Reg,
        b: Reg,
        repr: Repr,
    },
    IntBinary {
        to: Reg,
        op: IntOp,
        a: Reg,
        b: Reg,
        repr: Repr,
        mask: Option<Reg>,
    },
    Shift {
        to: Reg,
        left: bool,
        a: Reg,
        b: Reg,
        repr: Repr,
        dtype: DataType,
        mask: Option<Reg>,
    },
    Compare {
        to: Reg,
        op: Compare,
        a: Reg,
        b: Reg,
        repr: Repr,
    },
    CompareFloats {
        to: Reg,
        op: Compare,
        a: Reg,
        b: Reg,
        mask: Option<Reg>,
    },
    And {
        to: Reg,
        a: Reg,
        b: Reg,
    },
    Or {
        to: Reg,
        a: Reg,
        b: Reg,
    },
    IntFunction {
        to: Reg,
        function: IntFunction,
        a: Reg,
        repr: Repr,
    },
    SelectInt {
        to: Reg,
        condition: Reg,
        a: Reg,
        b: Reg,
    },
    SelectFloat {
        to: Reg,
        condition: Reg,
        a: Reg,
        b: Reg,
    },
    Truncate {
        to: Reg,
        a: Reg,
        repr: Repr,
        dtype: DataType,
        mask: Option<Reg>,
    },
    Test {
        to: Reg,
        test: Test,
        a: Reg,
        mask: Option<Reg>,
    },
    Field {
        to: Reg,
        op: Field,
        a: Reg,
        b: Reg,
        float: FloatType,
        mask: Option<Reg>,
    },
    FloatBinary {
        to: Reg,
        op: FloatOp,
        a: Reg,
        b: Reg,
        float: FloatType,
        mask: Option<Reg>,
    },
    FromInt {
        to: Reg,
        a: Reg,
        repr: Repr,
        float: FloatType,
    },
    Cast {
        to: Reg,
        a: Reg,
        from: FloatType,
        float: FloatType,
        mask: Option<Reg>,
    },
    Function {
        to: Reg,
        function: Function,
        a: Reg,
        float: FloatType,
        mask: Option<Reg>,
    },
    FunctionOfTwo {
        to: Reg,
        function: BinaryFunction,
        a: Reg,
        b: Reg,
        float: FloatType,
        mask: Option<Reg>,
    },
    /// Records the sides that a condition takes.
    NoteCondition {
        choice: usize,
        a: Reg,
        mask: Option<Reg>,
    },
    /// Records which of two operands is chosen.
    NoteInts {
        choice: usize,
        a: Reg,
        b: Reg,
        picked: Reg,
        mask: Option<Reg>,
    },
    NoteFloats {
        choice: usize,
        a: Reg,
        b: Reg,
        picked: Reg,
        mask: Option<Reg>,
    },
}

impl Step {
    /// Whether it rounds floats, or decides between them.
    pub fn rounds(&self) -> bool {
        matches!(
            self,
            Step::Field { .. }
                | Step::FloatBinary { .. }
                | Step::Cast { .. }
                | Step::Function { .. }
                | Step::FunctionOfTwo { .. }
        )
    }
}

/// The lane that fails.
pub(super) struct Fails(pub usize);

type Done = Result<(), Fails>;

/// The part of an affine expression that is the same in all strips.
#[derive(PartialEq, Eq)]
pub(super) enum Offsets {
    /// None of the lanes differs.
    Same,
    /// Each is one more than the lane before.
    Next,
    Each(Vec<i64>),
}

impl Offsets {
    pub fn of(offsets: Vec<i64>) -> Offsets {
        if offsets.iter().all(|offset| *offset == 0) {
            return Offsets::Same;
        }
        if offsets.iter().zip(0..).all(|(offset, lane)| *offset == lane) {
            return Offsets::Next;
        }
        Offsets::Each(offsets)
    }

    pub fn is_same(&self) -> bool {
        matches!(self, Offsets::Same)
    }

    #[inline]
    pub fn at(&self, lane: usize) -> i64 {
        match self {
            Offsets::Same => 0,
            Offsets::Next => lane as i64,
            Offsets::Each(offsets) => offsets[lane],
        }
    }
}

/// The registers, and the positions of the current strip.
pub(super) struct Lanes<N> {
    pub ints: Vec<Vec<i64>>,
    pub floats: Vec<Vec<N>>,
    /// The offsets of each affine expression, and its value in the first lane of the strip.
    pub affine: Vec<(usize, i64)>,
    pub offsets: Vec<Offsets>,
    /// The sides that were taken, until the lanes are done.
    pub noted: Vec<(usize, Side)>,
    /// The lanes of the strip that are computed: the first one and their number.
    pub first: usize,
    pub count: usize,
    /// The noise in the floats that are rounded.
    pub noise: Option<NoiseOfLanes>,
}

#[inline]
pub(super) fn masked(mask: Option<&[i64]>, lane: usize) -> bool {
    mask.is_none_or(|mask| mask[lane] != 0)
}

impl<N: Arithmetic> Lanes<N> {
    /// Runs code. If it fails, what it stored is in the lanes before the one that is returned.
    pub fn run(&mut self, code: &[Step], memory: &mut [Memory<N>]) -> Done {
        code.iter().try_for_each(|step| {
            let stores = matches!(step, Step::StoreInt { .. } | Step::StoreFloat { .. });
            self.step(step, memory).map_err(|Fails(lane)| Fails(if stores { lane } else { 0 }))
        })
    }

    fn step(&mut self, step: &Step, memory: &mut [Memory<N>]) -> Done {
        match step {
            Step::Affine { to, of } => self.affine(*to, *of),
            Step::LoadInt { to, from, mask } => return self.load_ints(*to, from, *mask, memory),
            Step::LoadFloat { to, from, mask } => return self.load_floats(*to, from, *mask, memory),
            Step::StoreInt { to, value, mask } => {
                let values = std::mem::take(&mut self.ints[*value]);
                let done = self.store(to, *mask, memory, &values, |data| match data {
                    MemoryElements::Int(elements) => Some(elements),
                    MemoryElements::Float(_) => None,
                });
                self.ints[*value] = values;
                return done;
            }
            Step::StoreFloat { to, value, mask } => {
                let values = std::mem::take(&mut self.floats[*value]);
                let done = self.store(to, *mask, memory, &values, |data| match data {
                    MemoryElements::Float(elements) => Some(elements),
                    MemoryElements::Int(_) => None,
                });
                self.floats[*value] = values;
                return done;
            }
            Step::NoteCondition { .. } | Step::NoteInts { .. } | Step::NoteFloats { .. } => self.note(step),
            Step::Field { .. }
            | Step::FloatBinary { .. }
            | Step::FromInt { .. }
            | Step::Cast { .. }
            | Step::Function { .. }
            | Step::FunctionOfTwo { .. }
            | Step::SelectFloat { .. } => return self.float_step(step),
            Step::Whole { .. }
            | Step::IntBinary { .. }
            | Step::Shift { .. }
            | Step::Compare { .. }
            | Step::CompareFloats { .. }
            | Step::And { .. }
            | Step::Or { .. }
            | Step::IntFunction { .. }
            | Step::SelectInt { .. }
            | Step::Truncate { .. }
            | Step::Test { .. } => return self.int_step(step),
        }
        Ok(())
    }

    fn int_step(&mut self, step: &Step) -> Done {
        match *step {
            Step::Whole { to, op, a, b, repr } => match op {
                NestIntOp::Plus => self.ints2(to, a, b, |a, b| repr.wrap(a.wrapping_add(b))),
                NestIntOp::Minus => self.ints2(to, a, b, |a, b| repr.wrap(a.wrapping_sub(b))),
                NestIntOp::Times => self.ints2(to, a, b, |a, b| repr.wrap(a.wrapping_mul(b))),
            },
            Step::IntBinary { to, op, a, b, repr, mask } => {
                return self.tried(to, mask, |lanes, k| repr.binary(op, lanes.ints[a][k], lanes.ints[b][k]).ok());
            }
            Step::Shift { to, left, a, b, repr, dtype, mask } => {
                return self
                    .tried(to, mask, |lanes, k| repr.shift(left, lanes.ints[a][k], lanes.ints[b][k], dtype).ok());
            }
            Step::Compare { to, op, a, b, repr } => self.ints2(to, a, b, |a, b| repr.compare(op, a, b).into()),
            Step::CompareFloats { to, op, a, b, mask } => {
                return self.tried(to, mask, |lanes, k| {
                    compare_floats(op, lanes.floats[a][k], lanes.floats[b][k]).ok().map(i64::from)
                });
            }
            Step::And { to, a, b } => self.ints2(to, a, b, |a, b| (a != 0 && b != 0).into()),
            Step::Or { to, a, b } => self.ints2(to, a, b, |a, b| (a != 0 || b != 0).into()),
            Step::IntFunction { to, function, a, repr } => match function {
                IntFunction::Not => self.ints2(to, a, a, |a, _| (a == 0).into()),
                IntFunction::BitNot => self.ints2(to, a, a, |a, _| repr.wrap(!a)),
                IntFunction::Popcount => self.ints2(to, a, a, |a, _| repr.popcount(a)),
                IntFunction::LeadingZeros => self.ints2(to, a, a, |a, _| repr.leading_zeros(a)),
                IntFunction::Wrap => self.ints2(to, a, a, |a, _| repr.wrap(a)),
                IntFunction::Nonzero => self.ints2(to, a, a, |a, _| (a != 0).into()),
            },
            Step::SelectInt { to, condition, a, b } => {
                let mut out = std::mem::take(&mut self.ints[to]);
                let sides = self.ints[a].iter().zip(&self.ints[b]);
                for ((out, holds), (a, b)) in out.iter_mut().zip(&self.ints[condition]).zip(sides).take(self.count) {
                    *out = if *holds != 0 { *a } else { *b };
                }
                self.ints[to] = out;
            }
            Step::Truncate { to, a, repr, dtype, mask } => {
                return self.tried(to, mask, |lanes, k| repr.truncate(lanes.floats[a][k].near(), dtype).ok());
            }
            Step::Test { to, test: t, a, mask } => {
                return self.tried(to, mask, |lanes, k| test(t, lanes.floats[a][k]).ok().map(i64::from));
            }
            _ => {}
        }
        Ok(())
    }

    fn float_step(&mut self, step: &Step) -> Done {
        if self.noise.is_some() && step.rounds() {
            return self.varied(step);
        }
        match *step {
            Step::Field { to, op, a, b, float, mask: _ } => match op {
                Field::Plus => self.rounded2(to, a, b, float, |a, b| a.plus(b)),
                Field::Minus => self.rounded2(to, a, b, float, |a, b| a.minus(b)),
                Field::Times => self.rounded2(to, a, b, float, |a, b| a.times(b)),
                Field::Over => self.rounded2(to, a, b, float, |a, b| a.over(b)),
            },
            Step::FloatBinary { to, op, a, b, float, mask } => {
                let mut out = std::mem::take(&mut self.floats[to]);
                let mask = mask.map(|mask| self.ints[mask].as_slice());
                let mut fails = None;
                let sides = self.floats[a].iter().zip(&self.floats[b]);
                for (lane, (out, (a, b))) in out.iter_mut().zip(sides).take(self.count).enumerate() {
                    match float_binary(float, op, *a, *b) {
                        Ok(value) => *out = value,
                        Err(_) if !masked(mask, lane) => *out = N::default(),
                        Err(_) => {
                            fails = Some(Fails(lane));
                            break;
                        }
                    }
                }
                self.floats[to] = out;
                return fails.map_or(Ok(()), Err);
            }
            Step::FromInt { to, a, repr, float } => {
                let mut out = std::mem::take(&mut self.floats[to]);
                for (out, a) in out.iter_mut().zip(&self.ints[a]).take(self.count) {
                    *out = of_int(float, *a, repr);
                }
                self.floats[to] = out;
            }
            Step::Cast { to, a, from, float, mask: _ } => self.floats2(to, a, a, |a, _| a.cast(from, float)),
            Step::Function { to, function, a, float, mask: _ } => {
                self.floats2(to, a, a, |a, _| a.applied(function).rounded(|value| float.round(value)));
            }
            Step::FunctionOfTwo { to, function, a, b, float, mask: _ } => {
                self.floats2(to, a, b, |a, b| a.applied_to(b, function).rounded(|value| float.round(value)));
            }
            Step::SelectFloat { to, condition, a, b } => {
                let mut out = std::mem::take(&mut self.floats[to]);
                let sides = self.floats[a].iter().zip(&self.floats[b]);
                for ((out, holds), (a, b)) in out.iter_mut().zip(&self.ints[condition]).zip(sides).take(self.count) {
                    *out = if *holds != 0 { *a } else { *b };
                }
                self.floats[to] = out;
            }
            _ => {}
        }
        Ok(())
    }

    #[inline]
    fn ints2(&mut self, to: Reg, a: Reg, b: Reg, f: impl Fn(i64, i64) -> i64) {
        let mut out = std::mem::take(&mut self.ints[to]);
        let count = self.count;
        let operands = self.ints[a][..count].iter().zip(&self.ints[b][..count]);
        for (out, (a, b)) in out[..count].iter_mut().zip(operands) {
            *out = f(*a, *b);
        }
        self.ints[to] = out;
    }

    #[inline]
    fn floats2(&mut self, to: Reg, a: Reg, b: Reg, f: impl Fn(N, N) -> N) {
        let mut out = std::mem::take(&mut self.floats[to]);
        let count = self.count;
        let operands = self.floats[a][..count].iter().zip(&self.floats[b][..count]);
        for (out, (a, b)) in out[..count].iter_mut().zip(operands) {
            *out = f(*a, *b);
        }
        self.floats[to] = out;
    }

    /// The choice of the rounding is outside of the loop.
    #[inline]
    fn rounded2(&mut self, to: Reg, a: Reg, b: Reg, float: FloatType, f: impl Fn(N, N) -> N) {
        match float {
            FloatType::Float64 => self.floats2(to, a, b, f),
            FloatType::Float32 => {
                self.floats2(to, a, b, |a, b| f(a, b).rounded(|value| f64::from(value as f32)));
            }
            FloatType::Float16 | FloatType::BFloat16 => {
                self.floats2(to, a, b, |a, b| f(a, b).rounded(|value| float.round(value)));
            }
        }
    }

    /// An operation that fails for some operands.
    fn tried(&mut self, to: Reg, mask: Option<Reg>, f: impl Fn(&Lanes<N>, usize) -> Option<i64>) -> Done {
        let mut out = std::mem::take(&mut self.ints[to]);
        let mut done = Ok(());
        for (lane, out) in out.iter_mut().enumerate().take(self.count) {
            match f(self, lane) {
                Some(value) => *out = value,
                None if mask.is_some_and(|mask| self.ints[mask][lane] == 0) => *out = 0,
                None => {
                    done = Err(Fails(lane));
                    break;
                }
            }
        }
        self.ints[to] = out;
        done
    }

    fn affine(&mut self, to: Reg, of: usize) {
        let (offsets, base) = self.affine[of];
        let (offsets, first, count) = (&self.offsets[offsets], self.first, self.count);
        let out = &mut self.ints[to][..count];
        match offsets {
            Offsets::Same => out.fill(base),
            Offsets::Next => {
                for (n, out) in out.iter_mut().enumerate() {
                    *out = base.wrapping_add((first + n) as i64);
                }
            }
            Offsets::Each(offsets) => {
                for (out, offset) in out.iter_mut().zip(&offsets[first..first + count]) {
                    *out = base.wrapping_add(*offset);
                }
            }
        }
    }

    /// The position for a lane, if it is inside of the memory.
    #[inline]
    fn position(&self, place: &LanePlace, lane: usize) -> Option<usize> {
        let at = match place.at {
            Some(affine) => {
                let (offsets, base) = self.affine[affine];
                base.wrapping_add(self.offsets[offsets].at(self.first + lane))
            }
            None => {
                let mut at = place.offset;
                for (index, extent, stride) in &place.dims {
                    let index = self.ints[*index][lane];
                    if index < 0 || index >= *extent {
                        return None;
                    }
                    at = at.wrapping_add(index.wrapping_mul(*stride));
                }
                at
            }
        };
        usize::try_from(at).ok()
    }

    fn load_ints(&mut self, to: Reg, from: &LanePlace, mask: Option<Reg>, memory: &[Memory<N>]) -> Done {
        let mut out = std::mem::take(&mut self.ints[to]);
        let done = match memory.get(from.memory) {
            Some(Memory { data: MemoryElements::Int(data), written, .. }) => {
                self.load(&mut out, from, mask, data, written.as_deref())
            }
            Some(_) | None => Err(Fails(0)),
        };
        self.ints[to] = out;
        done
    }

    fn load_floats(&mut self, to: Reg, from: &LanePlace, mask: Option<Reg>, memory: &[Memory<N>]) -> Done {
        let mut out = std::mem::take(&mut self.floats[to]);
        let done = match memory.get(from.memory) {
            Some(Memory { data: MemoryElements::Float(data), written, .. }) => {
                self.load(&mut out, from, mask, data, written.as_deref())
            }
            Some(_) | None => Err(Fails(0)),
        };
        self.floats[to] = out;
        done
    }

    #[inline]
    fn load<T: Copy + Default>(
        &self,
        out: &mut [T],
        from: &LanePlace,
        mask: Option<Reg>,
        data: &[T],
        written: Option<&[bool]>,
    ) -> Done {
        let out = &mut out[..self.count];
        if let (Some(affine), None) = (from.at, written) {
            return self.gather(out, affine, data);
        }
        let mask = mask.map(|mask| self.ints[mask].as_slice());
        for (lane, out) in out.iter_mut().enumerate() {
            let known = |at: &usize| written.is_none_or(|written| written.get(*at) == Some(&true));
            match self.position(from, lane).filter(known).and_then(|at| data.get(at)) {
                Some(value) => *out = *value,
                None if !masked(mask, lane) => *out = T::default(),
                None => return Err(Fails(lane)),
            }
        }
        Ok(())
    }

    /// Elements that are proved to exist.
    #[inline]
    fn gather<T: Copy>(&self, out: &mut [T], affine: usize, data: &[T]) -> Done {
        let (offsets, base) = self.affine[affine];
        let first = self.first;
        match &self.offsets[offsets] {
            Offsets::Same => out.fill(*data.get(base as usize).ok_or(Fails(0))?),
            Offsets::Next => {
                let start = base as usize + first;
                out.copy_from_slice(data.get(start..start + out.len()).ok_or(Fails(0))?);
            }
            Offsets::Each(offsets) => {
                for (lane, (out, offset)) in out.iter_mut().zip(&offsets[first..]).enumerate() {
                    match data.get(base.wrapping_add(*offset) as usize) {
                        Some(value) => *out = *value,
                        None => return Err(Fails(lane)),
                    }
                }
            }
        }
        Ok(())
    }

    fn store<T: Copy>(
        &self,
        to: &LanePlace,
        mask: Option<Reg>,
        memory: &mut [Memory<N>],
        values: &[T],
        elements: impl FnOnce(&mut MemoryElements<N>) -> Option<&mut Vec<T>>,
    ) -> Done {
        let Some(memory) = memory.get_mut(to.memory) else { return Err(Fails(0)) };
        let mask = mask.map(|mask| self.ints[mask].as_slice());
        let mut done = Ok(());
        memory.stored = true;
        let Some(data) = elements(&mut memory.data) else { return Err(Fails(0)) };
        let mut marks = Vec::new();
        for (lane, value) in values[..self.count].iter().enumerate() {
            if !masked(mask, lane) {
                continue;
            }
            let at = self.position(to, lane).filter(|at| *at < data.len());
            let Some(at) = at else {
                done = Err(Fails(lane));
                break;
            };
            data[at] = *value;
            if memory.written.is_some() {
                marks.push(at);
            }
        }
        marks.into_iter().for_each(|at| memory.mark(at));
        done
    }

    fn note(&mut self, step: &Step) {
        let (choice, mask) = match step {
            Step::NoteCondition { choice, mask, .. }
            | Step::NoteInts { choice, mask, .. }
            | Step::NoteFloats { choice, mask, .. } => (*choice, *mask),
            _ => return,
        };
        let mask = mask.map(|mask| self.ints[mask].as_slice());
        let side = |first| if first { Side::First } else { Side::Second };
        let mut sides = [None; 2];
        for lane in (0..self.count).filter(|lane| masked(mask, *lane)) {
            let taken = match *step {
                Step::NoteCondition { a, .. } => Some(Side::of_condition(self.ints[a][lane] != 0)),
                Step::NoteInts { a, b, picked, .. } => {
                    let (a, b, picked) = (self.ints[a][lane], self.ints[b][lane], self.ints[picked][lane]);
                    (a != b).then(|| side(picked == a))
                }
                Step::NoteFloats { a, b, picked, .. } => {
                    let (a, b, picked) = (self.floats[a][lane], self.floats[b][lane], self.floats[picked][lane]);
                    (a != b).then(|| side(picked == a))
                }
                _ => None,
            };
            let Some(taken) = taken else { continue };
            if sides[0].is_none_or(|side| side == taken) {
                sides[0] = Some(taken);
            } else {
                sides[1] = Some(taken);
                break;
            }
        }
        self.noted.extend(sides.into_iter().flatten().map(|side| (choice, side)));
    }
}
