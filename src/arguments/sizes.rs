//! Sizes: pairwise different ones, so that exchanged axes are visible; 0 and 1; and sizes near the constants of the
//! programs, where tiles have remainders, and casts succeed or fail.

use std::collections::BTreeMap;

use super::constants::Constants;
use super::random::Random;
use super::{Draw, MAX_ELEMENTS};
use crate::grammar::{AttrValue, Function, Name, Ndim, PrimExpr, ShapeVar};
use crate::judge::Cx;

/// Most sizes are taken from these.
const SMALL: [i64; 6] = [2, 3, 5, 4, 7, 6];
/// The largest rank if the signature leaves it open.
const MAX_RANK: u32 = 3;

/// The strategy for the sizes of a draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SizeStrategy {
    /// Small and pairwise different.
    Different,
    /// One is at or next to a constant of the programs.
    Around,
    /// Each is a constant of the programs.
    Constants,
    /// One is 1.
    One,
    /// One is 0.
    Zero,
    /// All are the same.
    Equal,
}

/// The sizes of one draw.
pub(super) struct SizeDraw<'c> {
    constants: &'c Constants,
    kind: SizeStrategy,
    assigned: BTreeMap<ShapeVar, i64>,
    /// The sizes used so far.
    taken: Vec<i64>,
    /// The sizes of the last tensor whose sizes the signature leaves open.
    last: Vec<i64>,
    /// Whether such a tensor gets the sizes of the one before.
    alike: bool,
    /// The position of the special size.
    special: usize,
    /// The special size itself.
    special_size: i64,
    /// The largest size that may be chosen.
    most: i64,
    /// The upper bounds that a function states for its shape variables.
    bounds: BTreeMap<Name, i64>,
}

impl<'c> SizeDraw<'c> {
    pub(super) fn new(
        constants: &'c Constants,
        assigned: BTreeMap<ShapeVar, i64>,
        draw: Draw,
        random: &mut Random,
    ) -> SizeDraw<'c> {
        let kind = kind_of(draw, random);
        // Three of eight draws use a size near a constant.
        let nth = draw.index / 8 * 3 + draw.index % 8 / 3;
        let special_size = match kind {
            SizeStrategy::Zero => 0,
            SizeStrategy::One => 1,
            SizeStrategy::Around => constants.around(nth, random),
            SizeStrategy::Equal | SizeStrategy::Constants => constants.size(random),
            SizeStrategy::Different => 2,
        };
        let alike = match draw.attempt {
            0 => !draw.index.is_multiple_of(3),
            _ => !random.one_in(4),
        };
        let special = match (draw.attempt, kind) {
            (0, SizeStrategy::Around) => (draw.index / 8 + draw.index / 3) % 2,
            (0, SizeStrategy::Zero) => draw.index / 24 % 3,
            (0, SizeStrategy::One) => draw.index / 8 % 3,
            (_, SizeStrategy::Around) => random.below(2),
            (
                _,
                SizeStrategy::Different
                | SizeStrategy::Constants
                | SizeStrategy::One
                | SizeStrategy::Zero
                | SizeStrategy::Equal,
            ) => random.below(3),
        };
        let (taken, last, most, bounds) = (Vec::new(), Vec::new(), i64::MAX, BTreeMap::new());
        SizeDraw { constants, kind, assigned, taken, last, alike, special, special_size, most, bounds }
    }

    /// The same, within the bounds that the function states for its shape variables. Its memory may be planned for
    /// them.
    pub(super) fn within_bounds_of(self, func: &Function) -> SizeDraw<'c> {
        let Some(AttrValue::Dict(stated)) = func.attrs.get("tir_var_upper_bound") else { return self };
        let bound = |value: &AttrValue| match value {
            AttrValue::Int(bound) | AttrValue::Prim(PrimExpr::IntImm(bound)) => Some(*bound),
            _ => None,
        };
        let stated = stated.iter().filter_map(|(name, value)| Some((name.clone(), bound(value)?)));
        let bounds: BTreeMap<Name, i64> = stated.collect();
        let mut assigned = self.assigned;
        for (var, size) in &mut assigned {
            *size = bounds.get(&var.name).map_or(*size, |bound| (*size).min(*bound));
        }
        SizeDraw { bounds, assigned, ..self }
    }

    /// The same, with sizes up to this one.
    pub(super) fn up_to(self, most: Option<i64>) -> SizeDraw<'c> {
        SizeDraw { most: most.unwrap_or(i64::MAX), ..self }
    }

    /// Sizes for dimensions; a variable without a value gets one.
    pub(super) fn of_dims(&mut self, dims: &[PrimExpr], random: &mut Random) -> Option<Vec<i64>> {
        for dim in dims {
            dim.for_each_var(|v| {
                if !self.assigned.contains_key(v) {
                    let bound = self.bounds.get(&v.name).copied().unwrap_or(i64::MAX);
                    let size = self.any_size(random).min(bound);
                    self.assigned.insert(v.clone(), size);
                }
            });
        }
        let size = |dim| crate::shape::evaluate(&mut Cx::new(), dim, &|v| self.assigned.get(v).copied()).ok();
        dims.iter().map(|dim| size(dim).map(|size| size.max(0))).collect()
    }

    /// Sizes for a tensor whose signature leaves them open.
    pub(super) fn any(&mut self, ndim: Ndim, random: &mut Random) -> Vec<i64> {
        let rank = match ndim {
            Ndim::Known(rank) => rank,
            Ndim::Unknown => random.between(0, i64::from(MAX_RANK)) as u32,
        };
        if !(self.alike && self.last.len() == rank as usize) {
            self.last = (0..rank).map(|_| self.any_size(random)).collect();
        }
        self.last.clone()
    }

    /// A free size.
    pub(super) fn any_size(&mut self, random: &mut Random) -> i64 {
        let is_special = self.taken.len() == self.special;
        let volume = self.taken.iter().fold(1i64, |volume, size| volume.saturating_mul(*size));
        let fits = volume.max(1).saturating_mul(self.special_size) <= MAX_ELEMENTS;
        let size = match self.kind {
            SizeStrategy::Equal => self.special_size,
            SizeStrategy::Constants => self.constants.size(random),
            SizeStrategy::Zero | SizeStrategy::One | SizeStrategy::Around if is_special && fits => self.special_size,
            SizeStrategy::Different | SizeStrategy::Around | SizeStrategy::One | SizeStrategy::Zero => {
                self.small(random)
            }
        };
        let size = if size > self.most { self.small(random) } else { size };
        self.taken.push(size);
        size
    }

    /// A small size that was not used yet, if there is one.
    fn small(&self, random: &mut Random) -> i64 {
        let few = || SMALL.into_iter().filter(|size| *size <= self.most);
        let free: Vec<i64> = few().filter(|size| !self.taken.contains(size)).collect();
        if self.most < 11 && free.is_empty() {
            return random.pick(&few().collect::<Vec<_>>(), 1);
        }
        random.pick(&free, 11)
    }
}

fn kind_of(draw: Draw, random: &mut Random) -> SizeStrategy {
    const CYCLE: [SizeStrategy; 8] = [
        SizeStrategy::Different,
        SizeStrategy::Around,
        SizeStrategy::Different,
        SizeStrategy::One,
        SizeStrategy::Constants,
        SizeStrategy::Around,
        SizeStrategy::Different,
        SizeStrategy::Around,
    ];
    const TRIED: [SizeStrategy; 4] =
        [SizeStrategy::Constants, SizeStrategy::Equal, SizeStrategy::Different, SizeStrategy::Constants];
    match draw.attempt {
        4.. if random.one_in(2) => SizeStrategy::Equal,
        0 if draw.index % 24 == 11 => SizeStrategy::Zero,
        0 => CYCLE.get(draw.index % CYCLE.len()).copied().unwrap_or(SizeStrategy::Different),
        _ => random.pick(&TRIED, SizeStrategy::Different),
    }
}
