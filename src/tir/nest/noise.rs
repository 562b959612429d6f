//! Noise in lanes: what a lane computes varies as in the tree, where its rounds run one after the other. For that each
//! statement begins a sequence of its own, and each lane goes on with the sequence of its statement.

use std::rc::Rc;

use super::super::arithmetic::Arithmetic;
use super::super::scalar::{FloatOp, float_binary};
use super::lanes::{Fails, Field, Lanes, Reg, Step, masked};
use crate::number::FloatType;
use crate::number::real::Unordered;
use crate::value::{Noise, NoiseSeries};

/// The noise of a run, and where each lane is in it.
pub(super) struct NoiseOfLanes {
    noise: Rc<Noise>,
    /// The state of the sequence of each lane.
    states: Vec<u64>,
    /// How many statements have begun before the round of each lane, and before its body.
    rounds: Vec<(u64, u64)>,
    /// How many have begun when all lanes are done.
    pub begun: u64,
}

/// How many statements a round has.
#[derive(Clone, Copy)]
pub(super) struct RoundStatements {
    pub of_init: u64,
    pub of_body: u64,
    /// The register that says whether a lane runs them.
    pub predicate: Option<Reg>,
}

impl NoiseOfLanes {
    pub fn new(noise: Rc<Noise>, lanes: usize) -> NoiseOfLanes {
        NoiseOfLanes { noise, states: vec![0; lanes], rounds: Vec::new(), begun: 0 }
    }

    /// How many statements have begun before the tree runs the round of a lane from a statement on.
    pub fn begun_before(&self, lane: usize, statement: usize) -> Option<u64> {
        let (round, body) = *self.rounds.get(lane)?;
        Some(if statement == 0 { round } else { body.wrapping_add(statement as u64) })
    }

    /// A series of operations, the last ones of the statements of lanes, and the state of each of these.
    pub fn series(&self, float: FloatType) -> (NoiseSeries<'_>, &[u64]) {
        (self.noise.series(float), &self.states)
    }

    /// A minimum or another operation. It is open which of two operands is larger if one is NaN, and the tree decides.
    pub fn binary<N: Arithmetic>(&self, float: FloatType, op: FloatOp, a: N, b: N) -> Result<N, Unordered> {
        self.noise.compute();
        match op {
            FloatOp::Min | FloatOp::Max if a.near().is_nan() || b.near().is_nan() => Err(Unordered),
            _ => float_binary(float, op, a, b),
        }
    }
}

/// The result of an operation on two numbers, with noise from a state of its sequence on.
#[inline]
pub(super) fn of_field<N: Arithmetic>(noise: &mut NoiseSeries<'_>, state: &mut u64, op: Field, a: N, b: N) -> N {
    match op {
        Field::Plus => a.plus(b).rounded(|_| noise.sum(state, a.near(), b.near())),
        Field::Minus => a.minus(b).rounded(|_| noise.sum(state, a.near(), b.negated().near())),
        Field::Times => a.times(b).rounded(|value| noise.rounded(state, value)),
        Field::Over => a.over(b).rounded(|value| noise.rounded(state, value)),
    }
}

impl<N: Arithmetic> Lanes<N> {
    /// Begins the rounds of the lanes. `begun` statements have begun before, and reductions start in the lanes
    /// `starts`.
    pub fn begin(&mut self, begun: u64, statements: RoundStatements, starts: &[usize]) {
        let Some(noise) = &mut self.noise else { return };
        let predicate = statements.predicate.map(|predicate| self.ints[predicate].as_slice());
        let (mut at, mut nth) = (begun, 0);
        for lane in 0..self.count {
            let (is_first, runs) = (starts.get(nth) == Some(&lane), masked(predicate, lane));
            nth += usize::from(is_first);
            let body = at.wrapping_add(if is_first && runs { statements.of_init } else { 0 });
            noise.rounds.push((at, body));
            at = body.wrapping_add(if runs { statements.of_body } else { 0 });
        }
        noise.begun = at;
    }

    /// Forgets the rounds of the lanes before.
    pub fn begin_anew(&mut self) {
        if let Some(noise) = &mut self.noise {
            noise.rounds.clear();
        }
    }

    /// Begins a statement of the body in all lanes.
    pub fn begin_statement(&mut self, statement: usize) {
        let Some(NoiseOfLanes { noise, states, rounds, .. }) = &mut self.noise else { return };
        for (state, (_, body)) in states.iter_mut().zip(rounds) {
            *state = noise.state_at(body.wrapping_add(statement as u64 + 1));
        }
    }

    /// An instruction that rounds, with noise.
    pub fn varied(&mut self, step: &Step) -> Result<(), Fails> {
        match *step {
            Step::Field { to, op, a, b, float, mask } => self.vary_field(to, (a, b), mask, (op, float)),
            Step::Cast { to, a, float, mask, .. } => {
                self.vary(to, (a, a), mask, |noise, a, _| a.rounded(|value| noise.converted(float, value)));
            }
            Step::Function { to, function, a, float, mask } => self.vary(to, (a, a), mask, |noise, a, _| {
                a.applied(function).rounded(|_| noise.function(float, a.near(), function.float))
            }),
            Step::FunctionOfTwo { to, function, a, b, float, mask } => self.vary(to, (a, b), mask, |noise, a, b| {
                let of = |x| (function.float)(x, b.near());
                a.applied_to(b, function).rounded(|_| noise.function(float, a.near(), of))
            }),
            Step::FloatBinary { to, op, a, b, float, mask } => return self.decided(to, (a, b), mask, (op, float)),
            _ => {}
        }
        Ok(())
    }

    fn vary_field(&mut self, to: Reg, (a, b): (Reg, Reg), mask: Option<Reg>, (op, float): (Field, FloatType)) {
        let mut out = std::mem::take(&mut self.floats[to]);
        let mask = mask.map(|mask| self.ints[mask].as_slice());
        if let Some(NoiseOfLanes { noise, states, .. }) = &mut self.noise {
            let mut series = noise.series(float);
            let operands = self.floats[a].iter().zip(&self.floats[b]);
            let lanes = out.iter_mut().zip(states.iter_mut()).zip(operands).take(self.count);
            for (lane, ((out, state), (a, b))) in lanes.enumerate() {
                *out = match masked(mask, lane) {
                    true => of_field(&mut series, state, op, *a, *b),
                    false => N::default(),
                };
            }
            series.note();
        }
        self.floats[to] = out;
    }

    fn vary(&mut self, to: Reg, (a, b): (Reg, Reg), mask: Option<Reg>, op: impl Fn(&Noise, N, N) -> N) {
        let mut out = std::mem::take(&mut self.floats[to]);
        let mask = mask.map(|mask| self.ints[mask].as_slice());
        if let Some(NoiseOfLanes { noise, states, .. }) = &mut self.noise {
            let operands = self.floats[a].iter().zip(&self.floats[b]);
            let lanes = out.iter_mut().zip(states.iter_mut()).zip(operands).take(self.count);
            for (lane, ((out, state), (a, b))) in lanes.enumerate() {
                if masked(mask, lane) {
                    noise.resume(*state);
                    *out = op(noise, *a, *b);
                    *state = noise.state();
                } else {
                    *out = N::default();
                }
            }
        }
        self.floats[to] = out;
    }

    fn decided(
        &mut self,
        to: Reg,
        (a, b): (Reg, Reg),
        mask: Option<Reg>,
        (op, float): (FloatOp, FloatType),
    ) -> Result<(), Fails> {
        let mut out = std::mem::take(&mut self.floats[to]);
        let mut done = Ok(());
        let mask = mask.map(|mask| self.ints[mask].as_slice());
        if let Some(noise) = &self.noise {
            let operands = self.floats[a].iter().zip(&self.floats[b]);
            for (lane, (out, (a, b))) in out.iter_mut().zip(operands).take(self.count).enumerate() {
                if !masked(mask, lane) {
                    *out = N::default();
                    continue;
                }
                match noise.binary(float, op, *a, *b) {
                    Ok(value) => *out = value,
                    Err(Unordered) => {
                        done = Err(Fails(lane));
                        break;
                    }
                }
            }
        }
        self.floats[to] = out;
        done
    }
}
