//! Samples of an image at given positions: `image.grid_sample`; the positions of an affine map: `image.affine_grid`.

use super::resize::size_arg;
use super::taps::{Tap, cubic, linear, weighted};
use crate::book::Erratum;
use crate::grammar::{Call, PrimExpr, StructInfo};
use crate::judge::Cx;
use crate::ops::infer::{Domain, TensorDims, arity, bool_attr, constant, differ, shape, str_attr, tensor};
use crate::ops::kernel::window::{AxisOrder, data_axes};
use crate::ops::kernel::{self, at, fail, tabulate_out};
use crate::ops::tensor::convolution::of_rank;
use crate::ops::{Attr, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Element, Host, Scalar, Stop, Tensor, Value, count};

pub(in crate::ops) const OPS: &[OpDef] = &[
    operator!(
        "image.grid_sample",
        [
            rule!("OPS.image.grid_sample.infer"),
            rule!("OPS.image.grid_sample.value"),
            rule!("OPS.image.grid_sample.attrs")
        ],
        [
            OpParam::Arg("data"),
            OpParam::Arg("grid"),
            OpParam::Attr(Attr::str("method", &["nearest", "bilinear", "bicubic"], "bilinear")),
            OpParam::Attr(Attr::str("layout", &[], "NCHW")),
            OpParam::Attr(Attr::str("padding_mode", &["zeros", "border", "reflection"], "zeros")),
            OpParam::Attr(Attr::bool("align_corners", false)),
        ],
        infer_sample,
        Accumulated,
        sample,
    ),
    operator!(
        "image.affine_grid",
        [
            rule!("OPS.image.affine_grid.infer"),
            rule!("OPS.image.affine_grid.value"),
            rule!("OPS.image.affine_grid.attrs")
        ],
        [OpParam::Arg("data"), OpParam::ShapeArg("size"), OpParam::Attr(Attr::bool("align_corners", true))],
        infer_grid,
        Accumulated,
        affine_grid,
    ),
];

// grid_sample

#[derive(Clone, Copy, PartialEq, Eq)]
enum SampleMethod {
    Nearest,
    Linear,
    Cubic,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Padding {
    Zeros,
    Border,
    Reflection,
}

/// The attributes, checked.
struct Sampling {
    layout: AxisOrder,
    spatial: usize,
    method: SampleMethod,
    padding: Padding,
    aligned: bool,
}

impl Sampling {
    fn read(call: &Call) -> Result<Sampling, InferError> {
        let layout = str_attr(call, "layout")?;
        let spatial = if layout.len() > 4 { 3 } else { 2 };
        let method = match str_attr(call, "method")? {
            "nearest" => SampleMethod::Nearest,
            "bilinear" => SampleMethod::Linear,
            _ => SampleMethod::Cubic,
        };
        if method == SampleMethod::Cubic && spatial == 3 {
            return Err(InferError::op("bicubic samples are those of an image of two dimensions"));
        }
        Ok(Sampling {
            layout: AxisOrder::parse(layout, data_axes(spatial))?,
            spatial,
            method,
            padding: match str_attr(call, "padding_mode")? {
                "zeros" => Padding::Zeros,
                "border" => Padding::Border,
                _ => Padding::Reflection,
            },
            aligned: bool_attr(call, "align_corners")?,
        })
    }

    /// The coordinates of the image's borders.
    fn borders(&self, size: i64) -> (f64, f64) {
        let size = size as f64;
        if self.aligned { (0.0, size - 1.0) } else { (-0.5, size - 0.5) }
    }

    /// The elements that contribute to a coordinate, which is normalized to -1 .. 1.
    fn taps(&self, normalized: f64, size: i64) -> Result<Vec<Tap>, Stop> {
        let (low, high) = self.borders(size);
        let x = low + (normalized + 1.0) / 2.0 * (high - low);
        if !x.is_finite() {
            return Err(Stop::unspecified("a coordinate that is no finite number"));
        }
        let x = if self.method == SampleMethod::Nearest { x.round_ties_even() } else { x };
        let x = match self.padding {
            Padding::Border if x < low || x > high => x.clamp(0.0, (size - 1) as f64),
            Padding::Reflection => reflected(x, low, high),
            Padding::Zeros | Padding::Border => x,
        };
        let found = match self.method {
            SampleMethod::Nearest => vec![(x as i64, 1.0)],
            SampleMethod::Linear => linear(x),
            SampleMethod::Cubic => cubic(x, -0.75),
        };
        Ok(found.into_iter().map(|(place, weight)| Tap { place: self.inside(place, size), weight }).collect())
    }

    /// The element for a position; `None` means zero.
    fn inside(&self, place: i64, size: i64) -> Option<i64> {
        match self.padding {
            Padding::Zeros => (0..size).contains(&place).then_some(place),
            Padding::Border => Some(place.clamp(0, size - 1)),
            Padding::Reflection => {
                let (low, high) = self.borders(size);
                Some((reflected(place as f64, low, high) as i64).clamp(0, size - 1))
            }
        }
    }
}

/// A coordinate, reflected at the borders until it is between them.
fn reflected(x: f64, low: f64, high: f64) -> f64 {
    let width = high - low;
    if width <= 0.0 || (low..=high).contains(&x) {
        return if width <= 0.0 { low } else { x };
    }
    let beyond = if x < low { low - x } else { x - high };
    let turns = (beyond / width).floor();
    let rest = beyond - turns * width;
    if (x < low) == (turns % 2.0 == 0.0) { low + rest } else { high - rest }
}

/// The axis of the grid with the coordinates. It is the second, as in the result of `affine_grid`; read literally, it
/// is the last.
fn coordinates_axis(cx: &Cx, spatial: usize) -> usize {
    if cx.literal(Erratum::A70) { spatial + 1 } else { 1 }
}

fn infer_sample(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    let (data, grid) = (tensor(a, 0)?, tensor(a, 1)?);
    let sampling = Sampling::read(a.call)?;
    if sampling.method != SampleMethod::Nearest {
        Domain::Floats.demand(data.dtype)?;
    }
    Domain::Floats.demand(grid.dtype)?;
    let rank = sampling.spatial + 2;
    of_rank(data, rank)?;
    of_rank(grid, rank)?;
    let unknown = TensorDims::of_rank(rank).tensor(data.dtype);
    let TensorDims::Known(places) = TensorDims::of(grid) else { return Ok(unknown) };
    let mut places = places.to_vec();
    let axis = coordinates_axis(cx, sampling.spatial).min(places.len().saturating_sub(1));
    let coordinates = places.remove(axis);
    if differ(cx, &coordinates, &constant(sampling.spatial as i64)) {
        let message = format!("a place has {} coordinates, there are {coordinates}", sampling.spatial);
        return Err(InferError::op(message));
    }
    let TensorDims::Known(dims) = TensorDims::of(data) else { return Ok(unknown) };
    let dims = sampling.layout.forward(&dims);
    let (Some((batch, places)), [of_data, channels, ..]) = (places.split_first(), dims.as_slice()) else {
        return Ok(unknown);
    };
    if differ(cx, batch, of_data) {
        return Err(InferError::op(format!("the batch of the data is {of_data}, that of the grid {batch}")));
    }
    let dims: Vec<PrimExpr> = [of_data, channels].into_iter().chain(places).cloned().collect();
    Ok(TensorDims::from(sampling.layout.backward(&dims)).tensor(data.dtype))
}

fn sample(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (x, grid) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?);
    let sampling = Sampling::read(a.call)?;
    let axis = coordinates_axis(m.cx(), sampling.spatial);
    if let Some(empty) = kernel::empty_out(m, a)? {
        return Ok(empty);
    }
    let shape = kernel::out(a)?.shape;
    m.spend(count(&shape).saturating_mul(if sampling.method == SampleMethod::Cubic { 16 } else { 8 }))?;
    let sizes = sampling.layout.forward(x.shape());
    if sizes.iter().skip(2).any(|size| *size == 0) {
        return Err(Stop::unspecified("an image without elements has no samples"));
    }
    tabulate_out(m, a, |index| {
        sampling.element(x, index, |component| {
            let mut place = sampling.layout.forward(index);
            if place.len() > 1 {
                place.remove(1);
            }
            place.insert(axis.min(place.len()), component);
            at(grid, &place).map(Element::from_scalar)
        })
    })
}

impl Sampling {
    fn element(
        &self,
        x: &Tensor,
        index: &[i64],
        coordinate: impl Fn(i64) -> Result<f64, Stop>,
    ) -> Result<Scalar, Stop> {
        // The first coordinate belongs to the last axis.
        let spatial = self.layout.axes().iter().copied().skip(2);
        let mut taps = Vec::with_capacity(self.spatial);
        for (axis, component) in spatial.zip((0..self.spatial as i64).rev()) {
            let size = x.shape().get(axis).copied().unwrap_or(0);
            taps.push((axis, self.taps(coordinate(component)?, size)?));
        }
        let mut place = index.to_vec();
        if self.method == SampleMethod::Nearest {
            for (axis, taps) in &taps {
                match (place.get_mut(*axis), taps.first().and_then(|tap| tap.place)) {
                    (Some(slot), Some(found)) => *slot = found,
                    (_, _) => return Ok(kernel::zero(x.dtype())),
                }
            }
            return at(x, &place);
        }
        let taps: Vec<(usize, &[Tap])> = taps.iter().map(|(axis, taps)| (*axis, taps.as_slice())).collect();
        weighted(x, &mut place, &taps).map(Scalar::Float)
    }
}

// affine_grid

fn infer_grid(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    let data = tensor(a, 0)?;
    Domain::Floats.demand(data.dtype)?;
    of_rank(data, 3)?;
    let boxed = matches!(a.args.get(1), Some(StructInfo::Prim(_)));
    let spatial = if boxed { Some(2) } else { TensorDims::of_shape(shape(a, 1)?).rank() };
    if let Some(rank) = spatial.filter(|rank| ![2, 3].contains(rank)) {
        return Err(InferError::op(format!("a grid has two or three dimensions, not {rank}")));
    }
    let dims = TensorDims::of(data);
    if let (TensorDims::Known(dims), Some(spatial)) = (&dims, spatial) {
        for (dim, expected) in dims.iter().skip(1).zip([spatial, spatial + 1]) {
            if differ(cx, dim, &constant(expected as i64)) {
                return Err(InferError::op(format!("the map must be {spatial} x {}", spatial + 1)));
            }
        }
    }
    let Some(spatial) = spatial else { return Ok(TensorDims::Unknown.tensor(data.dtype)) };
    match (dims, size_arg(a, 1, spatial)?) {
        (TensorDims::Known(dims), Some(size)) => {
            let batch = dims.first().cloned().into_iter();
            let dims: Vec<PrimExpr> = batch.chain([constant(spatial as i64)]).chain(size).collect();
            Ok(TensorDims::from(dims).tensor(data.dtype))
        }
        (TensorDims::Known(_) | TensorDims::Rank(_) | TensorDims::Unknown, _) => {
            Ok(TensorDims::of_rank(spatial + 2).tensor(data.dtype))
        }
    }
}

/// The position `i` of `size`, normalized to -1 .. 1.
fn normalized(i: i64, size: i64, aligned: bool) -> Result<f64, Stop> {
    let (i, size) = (i as f64, size as f64);
    match aligned {
        true if size <= 1.0 => Err(Stop::unspecified("one place cannot lie at both corners")),
        true => Ok(2.0 * i / (size - 1.0) - 1.0),
        false => Ok((2.0 * i + 1.0) / size - 1.0),
    }
}

fn affine_grid(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let data = kernel::tensor(a, 0)?;
    let aligned = bool_attr(a.call, "align_corners")?;
    let shape = kernel::out(a)?.shape;
    m.spend(count(&shape).saturating_mul(4))?;
    tabulate_out(m, a, |index| {
        let ([batch, row, place @ ..], [_, _, sizes @ ..]) = (index, shape.as_slice()) else {
            return Err(fail("a grid has a batch and coordinates"));
        };
        let entry = |column: usize| at(data, &[*batch, *row, column as i64]).map(Element::from_scalar);
        let mut sum: f64 = entry(place.len())?;
        // The first column belongs to the last axis.
        for (column, (i, size)) in place.iter().zip(sizes).rev().enumerate() {
            let factor: f64 = entry(column)?;
            sum += factor * normalized(*i, *size, aligned)?;
        }
        Ok(Scalar::Float(sum))
    })
}
