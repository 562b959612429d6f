//! The regions that an open block may access.

/// A part of a buffer: a range in each dimension.
#[derive(Clone)]
pub(super) struct BufferPart {
    pub buffer: usize,
    pub ranges: Vec<(i64, i64)>,
}

/// The regions that an open block may access; `None` where they are not known.
#[derive(Clone)]
pub(super) struct Touched {
    pub reads: Option<Vec<BufferPart>>,
    pub writes: Option<Vec<BufferPart>>,
    pub own: usize,
}

impl Touched {
    /// Whether the block may access an element. A block may also read the elements that it may write, as reductions do.
    pub fn admits(&self, buffer: usize, indices: &[i64], write: bool) -> bool {
        let within = |parts: &Vec<BufferPart>| parts.iter().any(|part| part.holds(buffer, indices));
        let written = self.writes.as_ref().is_none_or(within);
        buffer >= self.own || if write { written } else { self.reads.as_ref().is_none_or(within) || written }
    }
}

impl BufferPart {
    fn holds(&self, buffer: usize, indices: &[i64]) -> bool {
        self.buffer == buffer && self.ranges.iter().zip(indices).all(|((from, to), index)| from <= index && index < to)
    }
}
