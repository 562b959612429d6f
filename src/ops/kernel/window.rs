//! Sliding windows over the spatial axes of an image: layouts, and the common parts of convolution and pooling.

use ndarray::{ArrayD, IxDyn};

use crate::grammar::{BinaryOp, Call, PrimExpr};
use crate::ops::infer::{constant, dim, given_int, given_ints, str_attr};
use crate::ops::kernel::{array::permuted, fail};
use crate::ops::{Attr, AttrKind, InferError, OpParam, attr};
use crate::value::Stop;

/// The order of axes in a layout, given by letters. It is stored as indices into the canonical order of the rules.
#[derive(Clone, Debug)]
pub(in crate::ops) struct AxisOrder(Vec<usize>);

/// The canonical order: batch and channel, then the spatial axes.
pub(in crate::ops) fn data_axes(spatial: usize) -> &'static str {
    match spatial {
        1 => "NCW",
        2 => "NCHW",
        _ => "NCDHW",
    }
}

impl AxisOrder {
    /// Reads a layout that has each letter of `canonical` once.
    pub(in crate::ops) fn parse(text: &str, canonical: &str) -> Result<AxisOrder, InferError> {
        let places: Option<Vec<usize>> = canonical.chars().map(|axis| text.find(axis)).collect();
        let places = places.filter(|_| text.len() == canonical.len());
        let wrong = || InferError::op(format!("the layout `{text}` does not order the axes {canonical}"));
        places.map(AxisOrder).ok_or_else(wrong)
    }

    /// For each axis in canonical order, its index in the layout.
    pub(in crate::ops) fn axes(&self) -> &[usize] {
        &self.0
    }

    /// Rearranges items from this layout into canonical order.
    pub(in crate::ops) fn forward<T: Clone>(&self, items: &[T]) -> Vec<T> {
        self.0.iter().filter_map(|place| items.get(*place).cloned()).collect()
    }

    /// The inverse of [`AxisOrder::forward`].
    pub(in crate::ops) fn backward<T: Clone>(&self, items: &[T]) -> Vec<T> {
        self.inverse().iter().filter_map(|place| items.get(*place).cloned()).collect()
    }

    /// For each axis of the layout, its index in canonical order.
    pub(in crate::ops) fn inverse(&self) -> Vec<usize> {
        (0..self.0.len()).filter_map(|place| self.0.iter().position(|p| *p == place)).collect()
    }
}

/// A layout in which some axes are divided into blocks, which are axes of their own: `NCHW16c` has blocks of 16
/// channels as the innermost axis. The blocks must be full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::ops) struct Packed {
    /// The kind of each axis of the layout.
    places: Vec<LayoutAxis>,
    /// The number of axes without blocks.
    rank: usize,
}

/// An axis of a layout, given by its index in canonical order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LayoutAxis {
    /// The axis itself. For a divided axis it is the index of the block.
    Outer(usize),
    /// The position within a block of the given size.
    Block(usize, i64),
}

impl Packed {
    /// Reads the layout in an attribute; `otherwise` is the default for an absent or empty one.
    pub(in crate::ops) fn read(
        call: &Call,
        name: &str,
        canonical: &str,
        otherwise: &Packed,
    ) -> Result<Packed, InferError> {
        match attr(call, name) {
            None => Ok(otherwise.clone()),
            Some(_) => match str_attr(call, name)? {
                "" => Ok(otherwise.clone()),
                text => Packed::parse(text, canonical)
                    .ok_or_else(|| InferError::op(format!("the layout `{text}` does not order the axes {canonical}"))),
            },
        }
    }

    /// Reads a layout with each letter of `canonical` once. A block has its size before a lower-case letter.
    fn parse(text: &str, canonical: &str) -> Option<Packed> {
        let axis = |letter: char| canonical.chars().position(|axis| axis == letter);
        let mut places: Vec<LayoutAxis> = Vec::new();
        let mut number = String::new();
        for letter in text.chars() {
            let place = match (letter.is_ascii_digit(), number.parse::<i64>()) {
                (true, _) => {
                    number.push(letter);
                    continue;
                }
                (false, Ok(size @ 1..)) => LayoutAxis::Block(axis(letter.to_ascii_uppercase())?, size),
                (false, Ok(..=0)) => return None,
                (false, Err(_)) => LayoutAxis::Outer(axis(letter)?),
            };
            let is_block = matches!(place, LayoutAxis::Block(..));
            let same = |other: &LayoutAxis| match (*other, place) {
                (LayoutAxis::Outer(a), LayoutAxis::Outer(b)) | (LayoutAxis::Block(a, _), LayoutAxis::Block(b, _)) => {
                    a == b
                }
                (LayoutAxis::Outer(_), LayoutAxis::Block(..)) | (LayoutAxis::Block(..), LayoutAxis::Outer(_)) => false,
            };
            if is_block != letter.is_ascii_lowercase() || places.iter().any(same) {
                return None;
            }
            number.clear();
            places.push(place);
        }
        let rank = canonical.chars().count();
        let whole = (0..rank).all(|axis| places.contains(&LayoutAxis::Outer(axis)));
        Some(Packed { places, rank }).filter(|_| whole && number.is_empty())
    }

    pub(in crate::ops) fn canonical(rank: usize) -> Packed {
        Packed { places: (0..rank).map(LayoutAxis::Outer).collect(), rank }
    }

    /// The number of axes in the layout.
    pub(in crate::ops) fn rank(&self) -> usize {
        self.places.len()
    }

    /// The size of the blocks of an axis; 1 if it is not divided.
    fn block(&self, axis: usize) -> i64 {
        let size = |place: &LayoutAxis| match place {
            LayoutAxis::Block(of, size) if *of == axis => Some(*size),
            LayoutAxis::Block(..) | LayoutAxis::Outer(_) => None,
        };
        self.places.iter().find_map(size).unwrap_or(1)
    }

    fn is_divided(&self) -> bool {
        self.places.len() != self.rank
    }

    /// Dimensions in this layout, rearranged into canonical order with blocks merged.
    pub(in crate::ops) fn whole(&self, dims: &[PrimExpr]) -> Result<Vec<PrimExpr>, InferError> {
        for (place, found) in self.places.iter().zip(dims) {
            match (place, found) {
                (LayoutAxis::Block(_, size), PrimExpr::IntImm(found)) if size != found => {
                    return Err(InferError::op(format!("the layout has blocks of {size}, the tensor of {found}")));
                }
                (LayoutAxis::Block(..) | LayoutAxis::Outer(_), _) => {}
            }
        }
        let outer = |axis: usize| {
            let place = self.places.iter().position(|place| *place == LayoutAxis::Outer(axis));
            place.and_then(|place| dims.get(place)).cloned()
        };
        let sizes = (0..self.rank).map(|axis| Some(dim(BinaryOp::Mul, outer(axis)?, constant(self.block(axis)))));
        sizes.collect::<Option<_>>().ok_or_else(|| InferError::op("the layout has other axes than the tensor"))
    }

    /// The inverse of [`Packed::whole`]. Rejects a size that provably does not fill its blocks.
    pub(in crate::ops) fn divided(&self, dims: &[PrimExpr]) -> Result<Vec<PrimExpr>, InferError> {
        let mut out = Vec::with_capacity(self.places.len());
        for place in &self.places {
            out.push(match place {
                LayoutAxis::Block(_, size) => constant(*size),
                LayoutAxis::Outer(axis) => {
                    let (size, block) = (dims.get(*axis).cloned().unwrap_or_else(|| constant(1)), self.block(*axis));
                    if let PrimExpr::IntImm(size) = &size
                        && size % block != 0
                    {
                        return Err(InferError::op(format!("{size} places do not fill blocks of {block}")));
                    }
                    if block == 1 { size } else { dim(BinaryOp::FloorDiv, size, constant(block)) }
                }
            });
        }
        Ok(out)
    }

    /// [`Packed::whole`] for known sizes.
    pub(in crate::ops) fn whole_sizes(&self, sizes: &[i64]) -> Vec<i64> {
        let outer = |axis: usize| self.places.iter().position(|place| *place == LayoutAxis::Outer(axis));
        let size = |axis: usize| outer(axis).and_then(|place| sizes.get(place)).copied().unwrap_or(1);
        (0..self.rank).map(|axis| size(axis).saturating_mul(self.block(axis))).collect()
    }

    /// Rearranges an array in this layout into canonical order.
    pub(in crate::ops) fn unpacked<T: Clone>(&self, x: ArrayD<T>) -> Result<ArrayD<T>, Stop> {
        if !self.is_divided() {
            return permuted(x, &self.order());
        }
        let sizes: Vec<i64> = x.shape().iter().map(|size| *size as i64).collect();
        let shape: Vec<usize> = self.whole_sizes(&sizes).into_iter().map(|size| size.unsigned_abs() as usize).collect();
        gathered(&x, &shape, |index| {
            let place = |place: &LayoutAxis| match place {
                LayoutAxis::Outer(axis) => index.get(*axis).map(|i| i / self.block(*axis) as usize),
                LayoutAxis::Block(axis, size) => index.get(*axis).map(|i| i % *size as usize),
            };
            self.places.iter().map(place).collect()
        })
    }

    /// The inverse of [`Packed::unpacked`].
    pub(in crate::ops) fn packed<T: Clone>(&self, x: ArrayD<T>) -> Result<ArrayD<T>, Stop> {
        if !self.is_divided() {
            let order = self.order();
            let inverse: Vec<usize> =
                (0..order.len()).filter_map(|place| order.iter().position(|p| *p == place)).collect();
            return permuted(x, &inverse);
        }
        let size = |place: &LayoutAxis| match place {
            LayoutAxis::Outer(axis) => x.shape().get(*axis).map(|size| size / self.block(*axis) as usize),
            LayoutAxis::Block(_, size) => Some(*size as usize),
        };
        let shape: Option<Vec<usize>> = self.places.iter().map(size).collect();
        let shape = shape.ok_or_else(|| fail("the layout has other axes than the tensor"))?;
        gathered(&x, &shape, |index| {
            let part =
                |wanted: LayoutAxis| self.places.iter().position(|place| *place == wanted).map(|place| index[place]);
            let whole = |axis: usize| {
                let block = self.block(axis);
                let within = if block == 1 { Some(0) } else { part(LayoutAxis::Block(axis, block)) };
                Some(part(LayoutAxis::Outer(axis))? * block as usize + within.unwrap_or(0))
            };
            (0..self.rank).map(whole).collect()
        })
    }

    /// For each axis in canonical order, its index in the layout.
    fn order(&self) -> Vec<usize> {
        (0..self.rank)
            .filter_map(|axis| self.places.iter().position(|place| *place == LayoutAxis::Outer(axis)))
            .collect()
    }
}

/// An array of this shape. `place` maps each of its indices to an index in `x`.
fn gathered<T: Clone>(
    x: &ArrayD<T>,
    shape: &[usize],
    from: impl Fn(&[usize]) -> Option<Vec<usize>>,
) -> Result<ArrayD<T>, Stop> {
    let indices = ndarray::indices(IxDyn(shape));
    let elements: Option<Vec<T>> = indices
        .into_iter()
        .map(|index| from(ndarray::Dimension::slice(&index)).and_then(|place| x.get(IxDyn(&place)).cloned()))
        .collect();
    let outside = || fail("the layout leads outside of the tensor");
    ArrayD::from_shape_vec(IxDyn(shape), elements.ok_or_else(outside)?).map_err(|error| fail(error.to_string()))
}

/// The movement of a window along one spatial axis.
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

/// A list with one number per spatial axis. A single number applies to all axes.
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

/// The padding: one number for all sides, one per axis, or those before all axes followed by those after.
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

/// The number of groups, which must be positive.
pub(in crate::ops) fn groups(call: &Call) -> Result<i64, InferError> {
    match given_int(call, "groups")? {
        groups if groups > 0 => Ok(groups),
        groups => Err(InferError::op(format!("the number of groups must be positive, it is {groups}"))),
    }
}

impl Window {
    /// The distance from the first to the last element of the window: `dilation * (size - 1)`.
    pub(in crate::ops) fn reach(&self, size: PrimExpr) -> PrimExpr {
        dim(BinaryOp::Mul, PrimExpr::IntImm(self.dilation), dim(BinaryOp::Sub, size, PrimExpr::IntImm(1)))
    }

    /// The last position, counted from the first, at which a window of the given size fits.
    pub(in crate::ops) fn room(&self, input: PrimExpr, size: PrimExpr) -> PrimExpr {
        let padded = dim(BinaryOp::Add, input, PrimExpr::IntImm(self.before.saturating_add(self.after)));
        dim(BinaryOp::Sub, dim(BinaryOp::Sub, padded, self.reach(size)), PrimExpr::IntImm(1))
    }

    /// The number of positions at which a window fits: `room // stride + 1`.
    pub(in crate::ops) fn places(&self, input: PrimExpr, size: PrimExpr) -> PrimExpr {
        let room = self.room(input, size);
        let steps = match self.stride {
            1 => room,
            stride => dim(BinaryOp::FloorDiv, room, PrimExpr::IntImm(stride)),
        };
        dim(BinaryOp::Add, steps, PrimExpr::IntImm(1))
    }

    /// The coordinate in the input of an element of the window. It may be in the padding.
    pub(in crate::ops) fn place(&self, out: usize, element: usize) -> i64 {
        let first = (out as i64).saturating_mul(self.stride).saturating_sub(self.before);
        first.saturating_add((element as i64).saturating_mul(self.dilation))
    }
}

/// An optional layout of the result.
pub(in crate::ops) const OUT_LAYOUT: OpParam = OpParam::Attr(Attr::optional("out_layout", AttrKind::Str(&[])));

/// A coordinate as an index, if it is within an axis of the given size.
pub(in crate::ops) fn inside(place: i64, size: usize) -> Option<usize> {
    usize::try_from(place).ok().filter(|place| *place < size)
}
