//! Layouts of images, in which batch and channel may be split.

use crate::grammar::{Call, PrimExpr};
use crate::judge::Cx;
use crate::ops::InferError;
use crate::ops::infer::{differ, str_attr};

/// The positions of the spatial axes in a layout, and the sizes of split axes.
pub(super) struct ImageLayout {
    /// The position of each spatial axis.
    pub(super) spatial: Vec<usize>,
    /// The positions of split axes, with their sizes.
    split: Vec<(usize, i64)>,
    /// The number of axes.
    pub(super) rank: usize,
}

impl ImageLayout {
    /// Reads the layout in an attribute: each spatial axis once, N and C once, and optionally a part of N or C with its
    /// size.
    pub(super) fn read(call: &Call, name: &str, spatial: &str) -> Result<ImageLayout, InferError> {
        let text = str_attr(call, name)?;
        let wrong = || InferError::op(format!("the layout `{text}` does not order the axes NC{spatial}"));
        let axes = axes(text).ok_or_else(wrong)?;
        let place = |letter: char| match axes.iter().filter(|axis| axis.0 == letter).count() {
            1 => axes.iter().position(|axis| axis.0 == letter),
            _ => None,
        };
        let spatial: Option<Vec<usize>> = spatial.chars().map(place).collect();
        let spatial = spatial.filter(|_| ['N', 'C'].into_iter().all(|axis| place(axis).is_some())).ok_or_else(wrong)?;
        let parts = ['n', 'c'].map(|part| axes.iter().filter(|axis| axis.0 == part).count());
        let others = axes.len().saturating_sub(spatial.len() + 2);
        if parts.iter().any(|count| *count > 1) || parts.iter().sum::<usize>() != others {
            return Err(wrong());
        }
        let split = axes.iter().enumerate().filter_map(|(i, (_, size))| size.map(|size| (i, size))).collect();
        Ok(ImageLayout { spatial, split, rank: axes.len() })
    }

    /// The dimensions, where the parts of split axes have the sizes in the layout.
    pub(super) fn fitted(&self, cx: &mut Cx, dims: &[PrimExpr]) -> Result<Vec<PrimExpr>, InferError> {
        let mut dims = dims.to_vec();
        for (place, size) in &self.split {
            let Some(dim) = dims.get_mut(*place) else { continue };
            if differ(cx, dim, &PrimExpr::IntImm(*size)) {
                return Err(InferError::op(format!("the layout has {size} at axis {place}, the tensor {dim}")));
            }
            *dim = PrimExpr::IntImm(*size);
        }
        Ok(dims)
    }
}

/// The letters of a layout. A lower-case letter is a part of an axis and has its size before it.
fn axes(text: &str) -> Option<Vec<(char, Option<i64>)>> {
    let (mut found, mut digits) = (Vec::new(), String::new());
    for letter in text.chars() {
        match (letter.is_ascii_digit(), letter.is_ascii_lowercase(), digits.is_empty()) {
            (true, _, _) => digits.push(letter),
            (false, true, false) => {
                let size: i64 = digits.parse().ok().filter(|size| *size > 0)?;
                digits.clear();
                found.push((letter, Some(size)));
            }
            (false, false, true) => found.push((letter, None)),
            (false, true, true) | (false, false, false) => return None,
        }
    }
    digits.is_empty().then_some(found)
}
