//! The reads and writes that a block declares, and the check that it makes no others.

use super::arithmetic::Arithmetic;
use super::code::{Declared, RegionCode};
use super::run::Machine;
use super::touched::{BufferPart, Touched};

impl<'p, N: Arithmetic> Machine<'p, N> {
    /// Starts a block, after its iteration variables were bound.
    pub fn enter(&mut self, declared: &'p Declared) {
        // The declarations of enclosing blocks do not apply to what this block declares itself.
        let around = std::mem::take(&mut self.touched);
        let reads = declared.reads.as_ref().and_then(|regions| self.parts(regions));
        let writes = declared.writes.as_ref().and_then(|regions| self.parts(regions));
        self.touched = around;
        self.touched.push(Touched { reads, writes, own: declared.own });
    }

    /// The declared regions. A declaration that cannot be evaluated, for instance because an index is out of bounds,
    /// declares nothing.
    fn parts(&mut self, regions: &'p [RegionCode]) -> Option<Vec<BufferPart>> {
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
            parts.push(BufferPart { buffer: region.buffer, ranges });
        }
        Some(parts)
    }
}
