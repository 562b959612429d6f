//! Sizes: pairwise different, so that exchanged axes show; 0 and 1; and around the constants of the programs, where tiles
//! have tails and casts hold or fail.

use std::collections::BTreeMap;

use super::constants::Constants;
use super::random::Random;
use super::{Draw, MAX_ELEMENTS};
use crate::grammar::{Ndim, PrimExpr, ShapeVar};
use crate::judge::Cx;

/// Sizes from which most are taken.
const SMALL: [i64; 6] = [2, 3, 5, 4, 7, 6];
/// The largest rank where the signature leaves it open.
const MAX_RANK: u32 = 3;

/// What the sizes of a draw are like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Small and pairwise different.
    Different,
    /// One is at or beside a constant of the programs.
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
pub(super) struct Sizes<'c> {
    constants: &'c Constants,
    kind: Kind,
    assigned: BTreeMap<ShapeVar, i64>,
    /// Sizes that were given.
    taken: Vec<i64>,
    /// The sizes of the last tensor whose sizes the signature leaves open.
    last: Vec<i64>,
    /// Whether such a tensor has the sizes of the one before.
    alike: bool,
    /// Which size is the special one, counted from the first.
    special: usize,
    /// What it is.
    special_size: i64,
}

impl<'c> Sizes<'c> {
    pub(super) fn new(
        constants: &'c Constants,
        assigned: BTreeMap<ShapeVar, i64>,
        draw: Draw,
        random: &mut Random,
    ) -> Sizes<'c> {
        let kind = kind_of(draw, random);
        // Three of eight draws are around a constant.
        let nth = draw.index / 8 * 3 + draw.index % 8 / 3;
        let special_size = match kind {
            Kind::Zero => 0,
            Kind::One => 1,
            Kind::Around => constants.around(nth, random),
            Kind::Equal | Kind::Constants => constants.size(random),
            Kind::Different => 2,
        };
        let alike = match draw.attempt {
            0 => !draw.index.is_multiple_of(3),
            _ => !random.one_in(4),
        };
        let special = match (draw.attempt, kind) {
            (0, Kind::Around) => (draw.index / 8 + draw.index / 3) % 2,
            (0, Kind::Zero) => draw.index / 24 % 3,
            (0, Kind::One) => draw.index / 8 % 3,
            (_, Kind::Around) => random.below(2),
            (_, Kind::Different | Kind::Constants | Kind::One | Kind::Zero | Kind::Equal) => random.below(3),
        };
        Sizes { constants, kind, assigned, taken: Vec::new(), last: Vec::new(), alike, special, special_size }
    }

    /// Sizes for dimensions; a variable that has none yet is given one.
    pub(super) fn of_dims(&mut self, dims: &[PrimExpr], random: &mut Random) -> Option<Vec<i64>> {
        for dim in dims {
            dim.for_each_var(|v| {
                if !self.assigned.contains_key(v) {
                    let size = self.any_size(random);
                    self.assigned.insert(v.clone(), size);
                }
            });
        }
        let size = |dim| crate::shape::evaluate(&mut Cx::new(), dim, &|v| self.assigned.get(v).copied()).ok();
        dims.iter().map(|dim| size(dim).map(|size| size.max(0))).collect()
    }

    /// Sizes where the signature leaves them open.
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

    /// A size that nothing determines.
    pub(super) fn any_size(&mut self, random: &mut Random) -> i64 {
        let is_special = self.taken.len() == self.special;
        let volume = self.taken.iter().fold(1i64, |volume, size| volume.saturating_mul(*size));
        let fits = volume.max(1).saturating_mul(self.special_size) <= MAX_ELEMENTS;
        let size = match self.kind {
            Kind::Equal => self.special_size,
            Kind::Constants => self.constants.size(random),
            Kind::Zero | Kind::One | Kind::Around if is_special && fits => self.special_size,
            Kind::Different | Kind::Around | Kind::One | Kind::Zero => self.small(random),
        };
        self.taken.push(size);
        size
    }

    /// A small size that was not given yet, if there is one.
    fn small(&self, random: &mut Random) -> i64 {
        let free: Vec<i64> = SMALL.into_iter().filter(|size| !self.taken.contains(size)).collect();
        random.pick(&free, 11)
    }
}

fn kind_of(draw: Draw, random: &mut Random) -> Kind {
    const CYCLE: [Kind; 8] = [
        Kind::Different,
        Kind::Around,
        Kind::Different,
        Kind::One,
        Kind::Constants,
        Kind::Around,
        Kind::Different,
        Kind::Around,
    ];
    const TRIED: [Kind; 4] = [Kind::Constants, Kind::Equal, Kind::Different, Kind::Constants];
    match draw.attempt {
        4.. if random.one_in(2) => Kind::Equal,
        0 if draw.index % 24 == 11 => Kind::Zero,
        0 => CYCLE.get(draw.index % CYCLE.len()).copied().unwrap_or(Kind::Different),
        _ => random.pick(&TRIED, Kind::Different),
    }
}
