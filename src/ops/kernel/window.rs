//! Windows that slide over the spatial axes of an image: layouts, and what convolution and pooling share.

use crate::grammar::{BinaryOp, Call, PrimExpr};
use crate::ops::infer::{dim, given_int, given_ints, str_attr};
use crate::ops::{Attr, AttrKind, InferError, Param, attr};

/// The order of axes that a layout names by letters, as places in the order that the rules are written in.
#[derive(Clone, Debug)]
pub(in crate::ops) struct Layout(Vec<usize>);

/// Batch and channel, then the spatial axes.
pub(in crate::ops) fn data_axes(spatial: usize) -> &'static str {
    match spatial {
        1 => "NCW",
        2 => "NCHW",
        _ => "NCDHW",
    }
}

impl Layout {
    /// The layout of an attribute; `otherwise` where it is absent or empty.
    pub(in crate::ops) fn read(
        call: &Call,
        name: &str,
        canonical: &str,
        otherwise: &Layout,
    ) -> Result<Layout, InferError> {
        match attr(call, name) {
            None => Ok(otherwise.clone()),
            Some(_) => match str_attr(call, name)? {
                "" => Ok(otherwise.clone()),
                text => Layout::parse(text, canonical),
            },
        }
    }

    /// Each letter of `canonical` once.
    pub(in crate::ops) fn parse(text: &str, canonical: &str) -> Result<Layout, InferError> {
        let places: Option<Vec<usize>> = canonical.chars().map(|axis| text.find(axis)).collect();
        let places = places.filter(|_| text.len() == canonical.len());
        let wrong = || InferError::op(format!("the layout `{text}` does not order the axes {canonical}"));
        places.map(Layout).ok_or_else(wrong)
    }

    pub(in crate::ops) fn canonical(rank: usize) -> Layout {
        Layout((0..rank).collect())
    }

    /// For each axis in the order of the rules, where the layout has it.
    pub(in crate::ops) fn axes(&self) -> &[usize] {
        &self.0
    }

    /// What stands in this layout, in the order of the rules.
    pub(in crate::ops) fn forward<T: Clone>(&self, items: &[T]) -> Vec<T> {
        self.0.iter().filter_map(|place| items.get(*place).cloned()).collect()
    }

    /// The inverse of [`Layout::forward`].
    pub(in crate::ops) fn backward<T: Clone>(&self, items: &[T]) -> Vec<T> {
        self.inverse().iter().filter_map(|place| items.get(*place).cloned()).collect()
    }

    /// For each axis of the layout, its place in the order of the rules.
    pub(in crate::ops) fn inverse(&self) -> Vec<usize> {
        (0..self.0.len()).filter_map(|place| self.0.iter().position(|p| *p == place)).collect()
    }
}

/// How a window moves along one spatial axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::ops) struct Window {
    pub stride: i64,
    pub dilation: i64,
    pub before: i64,
    pub after: i64,
}

/// The windows along the spatial axes, from the attributes `strides`, `padding` and `dilation`.
pub(in crate::ops) fn windows(call: &Call, spatial: usize) -> Result<Vec<Window>, InferError> {
    let strides = per_axis(call, "strides", spatial, 1)?;
    let dilations = per_axis(call, "dilation", spatial, 1)?;
    let (before, after) = padding(call, spatial)?;
    let axes = strides.into_iter().zip(dilations).zip(before.into_iter().zip(after));
    Ok(axes.map(|((stride, dilation), (before, after))| Window { stride, dilation, before, after }).collect())
}

/// A list with one number for each spatial axis, or one for all of them.
pub(in crate::ops) fn per_axis(call: &Call, name: &str, spatial: usize, least: i64) -> Result<Vec<i64>, InferError> {
    let given = given_ints(call, name)?;
    if given.iter().any(|n| *n < least) {
        return Err(InferError::op(format!("the attribute `{name}` must be at least {least}, it is {given:?}")));
    }
    match given.as_slice() {
        [single] => Ok(vec![*single; spatial]),
        several if several.len() == spatial => Ok(given),
        _ => Err(InferError::op(format!("the attribute `{name}` must have {spatial} elements, it is {given:?}"))),
    }
}

/// One number for every side, one for each axis, or those before all axes followed by those after.
fn padding(call: &Call, spatial: usize) -> Result<(Vec<i64>, Vec<i64>), InferError> {
    let given = given_ints(call, "padding")?;
    match given.as_slice() {
        [single] => Ok((vec![*single; spatial], vec![*single; spatial])),
        several if several.len() == spatial => Ok((given.clone(), given)),
        several if several.len() == 2 * spatial => {
            let (before, after) = several.split_at(spatial);
            Ok((before.to_vec(), after.to_vec()))
        }
        _ => Err(InferError::op(format!("the padding {given:?} does not fit {spatial} axes"))),
    }
}

/// The number of groups, which is positive.
pub(in crate::ops) fn groups(call: &Call) -> Result<i64, InferError> {
    match given_int(call, "groups")? {
        groups if groups > 0 => Ok(groups),
        groups => Err(InferError::op(format!("the number of groups must be positive, it is {groups}"))),
    }
}

impl Window {
    /// How far the window reaches beyond its first element: `dilation * (size - 1)`.
    pub(in crate::ops) fn reach(&self, size: PrimExpr) -> PrimExpr {
        dim(BinaryOp::Mul, PrimExpr::IntImm(self.dilation), dim(BinaryOp::Sub, size, PrimExpr::IntImm(1)))
    }

    /// The last place, beyond the first, at which a window of the given size fits.
    pub(in crate::ops) fn room(&self, input: PrimExpr, size: PrimExpr) -> PrimExpr {
        let padded = dim(BinaryOp::Add, input, PrimExpr::IntImm(self.before.saturating_add(self.after)));
        dim(BinaryOp::Sub, dim(BinaryOp::Sub, padded, self.reach(size)), PrimExpr::IntImm(1))
    }

    /// The number of places at which a window fits: `room // stride + 1`.
    pub(in crate::ops) fn places(&self, input: PrimExpr, size: PrimExpr) -> PrimExpr {
        let room = self.room(input, size);
        let steps = match self.stride {
            1 => room,
            stride => dim(BinaryOp::FloorDiv, room, PrimExpr::IntImm(stride)),
        };
        dim(BinaryOp::Add, steps, PrimExpr::IntImm(1))
    }

    /// The coordinate in the input of an element of the window; it may lie in the padding.
    pub(in crate::ops) fn place(&self, out: usize, element: usize) -> i64 {
        let first = (out as i64).saturating_mul(self.stride).saturating_sub(self.before);
        first.saturating_add((element as i64).saturating_mul(self.dilation))
    }
}

/// An optional layout of the result.
pub(in crate::ops) const OUT_LAYOUT: Param = Param::Attr(Attr::optional("out_layout", AttrKind::Str(&[])));

/// A coordinate inside of an axis of the given size.
pub(in crate::ops) fn inside(place: i64, size: usize) -> Option<usize> {
    usize::try_from(place).ok().filter(|place| *place < size)
}
