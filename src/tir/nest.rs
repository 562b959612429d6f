//! Nests of loops that run fast: several rounds at once, as lanes of straight-line code.
//!
//! When a loop is entered, the nest that begins with it is compiled with the sizes, strides and variables of that
//! moment. Indices that are affine in the numbers of rounds are computed once for all strips of lanes. Bounds and
//! declared regions are proved for all rounds, from the exact ranges of affine expressions; bounds that are not proved
//! are checked in each lane. The result is that of the rounds in order, bit for bit, with the same steps. Lanes are
//! computed together only if no round of a strip reads what another one writes. If all that they do is to combine
//! elements with values, that is done in order. If a lane fails, its round is run by the interpreter of the
//! tree, which reports the error.
//!
//! With noise each lane varies as its round does in the tree.
//!
//! Not here: rounds that may run at once, and statements other than stores and variables.

mod affine;
mod compile;
mod fold;
mod lanes;
mod native;
mod noise;

use std::rc::Rc;

use super::arithmetic::Arithmetic;
use super::code::ForCode;
use super::error::TirResult;
use super::run::Machine;
use crate::value::{Noise, Side};
use compile::{Guard, MOST_LANES, Nest, NestCompiler, Refusal};
use lanes::{Fails, Lanes, Offsets};
use noise::{NoiseOfLanes, RoundStatements};

/// How often the nest of a loop may turn out to be impossible before it is no longer tried.
const MOST_REFUSALS: u8 = 3;

/// The place in a nest where a strip begins.
struct Strip {
    /// The number of the round of each level.
    numbers: Vec<i64>,
    /// How many lanes there are for each round of the level where strips are cut.
    inside: i64,
    lanes: usize,
}

/// The lanes in which reductions start, for the values of the expressions that decide it at the start of a strip.
type Firsts = Vec<(Vec<i64>, usize, Rc<[usize]>)>;

impl<'p, N: Arithmetic> Machine<'p, N> {
    /// Runs a loop as a nest. Returns whether it was possible.
    pub(super) fn nest(&mut self, f: &'p ForCode) -> TirResult<bool> {
        let refused = self.refused.get(f.slot).copied().unwrap_or(MOST_REFUSALS);
        if refused >= MOST_REFUSALS || f.beside.is_some() || self.rounds.inside() {
            return Ok(false);
        }
        let nest = match NestCompiler::nest(self, f) {
            Ok(nest) => nest,
            Err(Refusal::Small) => return Ok(false),
            Err(Refusal::Unknown) => {
                self.refused[f.slot] = refused + 1;
                return Ok(false);
            }
        };
        if !self.natively(&nest) {
            self.strips(&nest)?;
        }
        for level in &nest.space.levels {
            self.note(level.choice, Side::of_rounds(level.count.unsigned_abs()));
        }
        Ok(true)
    }

    fn strips(&mut self, nest: &Nest<'p, N>) -> TirResult<()> {
        let levels = &nest.space.levels;
        let inside: i64 = levels[nest.cut + 1..].iter().map(|level| level.count).product();
        let (all, most) = (levels[nest.cut].count, MOST_LANES / inside);
        let mut strip = Strip { numbers: vec![0; levels.len()], inside, lanes: 0 };
        let mut lanes = prepared(nest, inside, all.min(most), self.noise.clone());
        let mut firsts = Firsts::new();
        loop {
            let rounds = most.min(all - strip.numbers[nest.cut]);
            strip.lanes = (rounds * inside) as usize;
            for ((_, base), affine) in lanes.affine.iter_mut().zip(&nest.affine) {
                let steps = affine.steps.iter().zip(&strip.numbers).take(nest.cut + 1);
                *base = steps.fold(affine.base, |at, (step, n)| at.wrapping_add(step.wrapping_mul(*n)));
            }
            self.spend(strip_cost(nest, &strip));
            let starts = starts(nest, &lanes, strip.lanes, &mut firsts);
            self.strip(nest, &mut lanes, &strip, &starts)?;
            strip.numbers[nest.cut] += rounds;
            if !advance(nest, &mut strip.numbers) {
                return Ok(());
            }
        }
    }

    fn spend(&mut self, steps: u64) {
        self.fuel = self.fuel.saturating_sub(steps);
    }

    fn strip(&mut self, nest: &Nest<'p, N>, lanes: &mut Lanes<N>, strip: &Strip, starts: &[usize]) -> TirResult<()> {
        let uniform = nest.fold.is_some() || starts.is_empty() || starts.len() == strip.lanes;
        if uniform && !nest.one_by_one {
            return self.lanes(nest, lanes, strip, (0, strip.lanes), starts);
        }
        let mut nth = 0;
        for lane in 0..strip.lanes {
            let is_first = starts.get(nth) == Some(&lane);
            nth += usize::from(is_first);
            self.lanes(nest, lanes, strip, (lane, 1), &[0][..usize::from(is_first)])?;
        }
        Ok(())
    }

    /// Computes some lanes of a strip, and runs the rounds of those that it cannot compute. `starts` are relative to
    /// the first of the lanes.
    fn lanes(
        &mut self,
        nest: &Nest<'p, N>,
        lanes: &mut Lanes<N>,
        strip: &Strip,
        (first, count): (usize, usize),
        starts: &[usize],
    ) -> TirResult<()> {
        (lanes.first, lanes.count) = (first, count);
        lanes.noted.clear();
        let (statement, from) = match self.computed(nest, lanes, starts) {
            Ok(()) => {
                for (choice, side) in &lanes.noted {
                    self.note(Some(*choice), *side);
                }
                self.spend(lanes_cost(nest, lanes, starts, count, nest.statements.len()));
                self.note_guard(nest, starts, count);
                self.begun = lanes.noise.as_ref().map_or(self.begun, |noise| noise.begun);
                return Ok(());
            }
            Err((statement, Fails(lane))) => (statement, lane),
        };
        // Statements after others fail only where lanes are computed one by one.
        self.spend(match statement {
            0 => lanes_cost(nest, lanes, starts, from, nest.statements.len()),
            _ => lanes_cost(nest, lanes, starts, count, statement),
        });
        self.note_guard(nest, starts, from);
        let begun = lanes.noise.as_ref().and_then(|noise| noise.begun_before(from, statement));
        self.begun = begun.unwrap_or(self.begun);
        for lane in from..count {
            self.round(nest, lanes, strip, first + lane, statement)?;
        }
        Ok(())
    }

    /// Records the sides that the condition of a guard took in the first lanes.
    fn note_guard(&mut self, nest: &Nest<'p, N>, starts: &[usize], count: usize) {
        let Some(Guard { choice }) = nest.guard else { return };
        let begun = starts.iter().filter(|lane| **lane < count).count();
        if begun > 0 {
            self.note(choice, Side::of_condition(true));
        }
        if begun < count {
            self.note(choice, Side::of_condition(false));
        }
    }

    /// The statement in which a lane fails, and the first lane whose round has not been run.
    fn computed(&mut self, nest: &Nest<'p, N>, lanes: &mut Lanes<N>, starts: &[usize]) -> Result<(), (usize, Fails)> {
        let memory = &mut self.memory;
        // Nothing was stored.
        let anew = |_| (0, Fails(0));
        lanes.begin_anew();
        lanes.run(&nest.prelude, memory).map_err(anew)?;
        lanes.begin(self.begun, statements_of(nest), starts);
        if let Some(fold) = &nest.fold {
            lanes.run(&nest.init, memory).map_err(anew)?;
            // It is the last one, behind variables.
            lanes.begin_statement(numbered(nest).saturating_sub(1));
            nest.body.iter().try_for_each(|code| lanes.run(code, memory)).map_err(anew)?;
            return lanes.fold(fold, starts, memory).map_err(|fails| (0, fails));
        }
        if !starts.is_empty() {
            lanes.run(&nest.init, memory).map_err(anew)?;
        }
        for (statement, code) in nest.body.iter().enumerate() {
            lanes.begin_statement(statement);
            lanes.run(code, memory).map_err(|fails| (statement, fails))?;
        }
        Ok(())
    }

    /// Runs the round of a lane in the tree, from a statement on.
    #[cold]
    fn round(
        &mut self,
        nest: &Nest<'p, N>,
        lanes: &Lanes<N>,
        strip: &Strip,
        lane: usize,
        statement: usize,
    ) -> TirResult<()> {
        let mut rest = lane as i64;
        for (n, level) in nest.space.levels.iter().enumerate().rev() {
            let number = match n.cmp(&nest.cut) {
                std::cmp::Ordering::Greater => {
                    let number = rest % level.count;
                    rest /= level.count;
                    number
                }
                std::cmp::Ordering::Equal => strip.numbers[n] + rest,
                std::cmp::Ordering::Less => strip.numbers[n],
            };
            self.ints[level.slot] = level.start + number * level.step;
        }
        if statement == 0 {
            return self.sequence(nest.inner).map(|_| ());
        }
        if let Some(block) = nest.block {
            for iter in &block.iters {
                self.ints[iter.slot] = self.int(&iter.value)?;
            }
            self.enter(&block.declared);
        }
        nest.lets.iter().for_each(|(slot, reg)| self.ints[*slot] = lanes.ints[*reg][0]);
        nest.float_lets.iter().for_each(|(slot, reg)| self.floats[*slot] = lanes.floats[*reg][0]);
        let rest = nest.statements.get(statement..).unwrap_or_default();
        let done = self.sequence(rest);
        if nest.block.is_some() {
            self.touched.pop();
        }
        done.map(|_| ())
    }
}

/// The registers, and the offsets of all lanes.
fn prepared<N: Arithmetic>(nest: &Nest<'_, N>, inside: i64, rounds: i64, noise: Option<Rc<Noise>>) -> Lanes<N> {
    let count = (rounds * inside) as usize;
    let mut lanes = Lanes {
        ints: nest.ints.iter().map(|value| vec![value.unwrap_or(0); count]).collect(),
        floats: nest.floats.iter().map(|value| vec![value.unwrap_or_default(); count]).collect(),
        affine: Vec::new(),
        offsets: Vec::new(),
        noted: Vec::new(),
        first: 0,
        count: 0,
        noise: noise.map(|noise| NoiseOfLanes::new(noise, count)),
    };
    for affine in &nest.affine {
        let mut offsets = vec![0i64];
        for (n, level) in nest.space.levels.iter().enumerate().skip(nest.cut) {
            let rounds = if n == nest.cut { rounds } else { level.count };
            let step = affine.steps[n];
            let further = |offset: i64| (0..rounds).map(move |n| offset.wrapping_add(step.wrapping_mul(n)));
            offsets = offsets.into_iter().flat_map(further).collect();
        }
        let offsets = Offsets::of(offsets);
        let known = lanes.offsets.iter().position(|known| *known == offsets);
        let known = known.unwrap_or_else(|| {
            lanes.offsets.push(offsets);
            lanes.offsets.len() - 1
        });
        lanes.affine.push((known, 0));
    }
    lanes
}

/// The steps of the loops around the innermost one that begin in a strip, and of its own rounds.
fn strip_cost<N>(nest: &Nest<'_, N>, strip: &Strip) -> u64 {
    let levels = &nest.space.levels;
    let mut cost = strip.lanes as u64;
    // A round of an outer loop and the loop in it are a step each.
    let mut rounds = strip.lanes as u64 / strip.inside.unsigned_abs();
    for (n, level) in levels.iter().enumerate().skip(nest.cut) {
        if n > nest.cut {
            rounds *= level.count.unsigned_abs();
        }
        if n + 1 < levels.len() {
            cost += 2 * rounds;
        }
    }
    if strip.numbers[nest.cut] == 0 {
        for number in strip.numbers[..nest.cut].iter().rev() {
            cost += 2;
            if *number != 0 {
                break;
            }
        }
    }
    cost
}

fn statements_of<N>(nest: &Nest<'_, N>) -> RoundStatements {
    let of_init = nest.of_init.unwrap_or_default() as u64;
    RoundStatements { of_init, of_body: numbered(nest) as u64, predicate: nest.predicate }
}

/// How many statements of a round have a sequence of noise of their own.
fn numbered<N>(nest: &Nest<'_, N>) -> usize {
    nest.statements.len() - usize::from(nest.guard.is_some())
}

/// The steps of the first `count` lanes, each up to a statement.
fn lanes_cost<N>(nest: &Nest<'_, N>, lanes: &Lanes<N>, starts: &[usize], count: usize, statements: usize) -> u64 {
    let active = |lane: &usize| nest.predicate.is_none_or(|predicate| lanes.ints[predicate][*lane] != 0);
    let rounds = match nest.predicate {
        None => count,
        Some(_) => (0..count).filter(active).count(),
    } as u64;
    let begun = starts.iter().filter(|lane| **lane < count && active(lane)).count() as u64;
    let of_init = statements_of(nest).of_init;
    let blocks = if nest.block.is_some() { count as u64 } else { 0 };
    blocks + rounds * statements as u64 + begun * of_init
}

/// The lanes of a strip in which a reduction starts.
fn starts<N>(nest: &Nest<'_, N>, lanes: &Lanes<N>, count: usize, known: &mut Firsts) -> Rc<[usize]> {
    if nest.of_init.is_none() {
        return Rc::from([]);
    }
    let bases: Vec<i64> = nest.starts.iter().map(|affine| lanes.affine[*affine].1).collect();
    if let Some((_, _, found)) = known.iter().find(|(of, lanes, _)| *of == bases && *lanes == count) {
        return found.clone();
    }
    let is_first = |lane: &usize| {
        nest.starts.iter().zip(&bases).all(|(affine, base)| {
            let (offsets, _) = lanes.affine[*affine];
            base.wrapping_add(lanes.offsets[offsets].at(*lane)) == 0
        })
    };
    let found: Rc<[usize]> = (0..count).filter(is_first).collect();
    if known.len() > 64 {
        known.clear();
    }
    known.push((bases, count, found.clone()));
    found
}

/// Goes to the next strip; the level where strips are cut has advanced.
fn advance<N>(nest: &Nest<'_, N>, numbers: &mut [i64]) -> bool {
    let mut level = nest.cut;
    while numbers[level] >= nest.space.levels[level].count {
        numbers[level] = 0;
        let Some(outer) = level.checked_sub(1) else { return false };
        level = outer;
        numbers[level] += 1;
    }
    true
}

#[cfg(test)]
mod tests;
