//! What a block says that it reads and writes, and whether it keeps to that.

use super::code::{Declared, RegionCode};
use super::run::Machine;

/// A part of a buffer: from where to where in each dimension.
struct Part {
    buffer: usize,
    ranges: Vec<(i64, i64)>,
}

/// What an open block may touch; `None` where that is not known.
pub(super) struct Touched {
    reads: Option<Vec<Part>>,
    writes: Option<Vec<Part>>,
    own: usize,
}

impl Touched {
    /// Whether the block may access an element. What it may write it may also read, as reductions do.
    pub fn admits(&self, buffer: usize, indices: &[i64], write: bool) -> bool {
        let within = |parts: &Vec<Part>| parts.iter().any(|part| part.holds(buffer, indices));
        let written = self.writes.as_ref().is_none_or(within);
        buffer >= self.own || if write { written } else { self.reads.as_ref().is_none_or(within) || written }
    }
}

impl Part {
    fn holds(&self, buffer: usize, indices: &[i64]) -> bool {
        self.buffer == buffer && self.ranges.iter().zip(indices).all(|((from, to), index)| from <= index && index < to)
    }
}

impl<'p> Machine<'p> {
    /// A block begins, its iteration variables bound.
    pub fn enter(&mut self, declared: &'p Declared) {
        // What the surroundings declare says nothing of how this block describes itself.
        let around = std::mem::take(&mut self.touched);
        let reads = declared.reads.as_ref().and_then(|regions| self.parts(regions));
        let writes = declared.writes.as_ref().and_then(|regions| self.parts(regions));
        self.touched = around;
        self.touched.push(Touched { reads, writes, own: declared.own });
    }

    /// A description that cannot be evaluated, as by an index that is out of bounds, describes nothing.
    fn parts(&mut self, regions: &'p [RegionCode]) -> Option<Vec<Part>> {
        let mut parts = Vec::with_capacity(regions.len());
        for region in regions {
            let mut ranges = Vec::with_capacity(region.ranges.len());
            for (from, to) in &region.ranges {
                let from = self.int(from).ok()?;
                let to = match to {
                    Some(to) => self.int(to).ok()?,
                    None => from.saturating_add(1),
                };
                ranges.push((from, to));
            }
            parts.push(Part { buffer: region.buffer, ranges });
        }
        Some(parts)
    }
}
