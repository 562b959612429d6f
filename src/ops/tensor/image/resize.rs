//! Resizing of images: `image.resize2d`, `image.resize3d`.

use super::layout::ImageLayout;
use super::taps::{Tap, cubic, linear, weighted};
use crate::grammar::{Call, PrimExpr, StructInfo};
use crate::judge::Cx;
use crate::ops::infer::{
    Domain, TensorDims, arity, boxed_int, dtype_attr, float_attr, floats_attr, given_int, shape, str_attr, tensor,
};
use crate::ops::kernel::{self, at, fail, tabulate_out};
use crate::ops::tensor::convolution::of_rank;
use crate::ops::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Scalar, Stop, Tensor, Value, count};

macro_rules! resize {
    ($name:literal, $rules:tt, $spatial:literal, $roi:expr, $layout:literal, $rounding:literal) => {
        operator!(
            $name,
            $rules,
            [
                OpParam::Arg("data"),
                OpParam::ShapeArg("size"),
                OpParam::Attr(Attr::floats("roi", $roi)),
                OpParam::Attr(Attr::str("layout", &[], $layout)),
                OpParam::Attr(Attr::str("method", &["nearest_neighbor", "linear", "cubic"], "linear")),
                OpParam::Attr(Attr::str("coordinate_transformation_mode", MODES, "half_pixel")),
                OpParam::Attr(Attr::str("rounding_method", ROUNDINGS, $rounding)),
                OpParam::Attr(Attr::float("cubic_alpha", -0.75)),
                OpParam::Attr(Attr::int("cubic_exclude", 0)),
                OpParam::Attr(Attr::float("extrapolation_value", 0.0)),
                OpParam::Attr(Attr::optional("out_dtype", AttrKind::DataType)),
            ],
            infer::<$spatial>,
            Accumulated,
            evaluate::<$spatial>
        )
    };
}

const MODES: &[&str] =
    &["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn", "tf_crop_and_resize"];

const ROUNDINGS: &[&str] = &["round", "floor", "ceil", "round_prefer_floor", "round_prefer_ceil", ""];

pub(in crate::ops) const OPS: &[OpDef] = &[
    resize!(
        "image.resize2d",
        [rule!("OPS.image.resize2d.infer"), rule!("OPS.image.resize2d.value"), rule!("OPS.image.resize2d.attrs")],
        2,
        &[0.0; 4],
        "NCHW",
        "round"
    ),
    resize!(
        "image.resize3d",
        [rule!("OPS.image.resize3d.infer"), rule!("OPS.image.resize3d.value"), rule!("OPS.image.resize3d.attrs")],
        3,
        &[0.0; 6],
        "NCDHW",
        ""
    ),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum ResizeMethod {
    Nearest(ResizeRounding),
    Linear,
    Cubic { exclude: bool },
}

/// The rounding to the nearest integer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ResizeRounding {
    Even,
    Down,
    Up,
    HalfDown,
    HalfUp,
}

/// The mapping from positions in the result to positions in the data.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    HalfPixel,
    AlignCorners,
    Asymmetric,
    PytorchHalfPixel,
    TfHalfPixel,
    Crop,
}

/// The attributes, checked.
struct Resize {
    layout: ImageLayout,
    method: ResizeMethod,
    mode: Mode,
    /// The region of interest along each spatial axis.
    roi: Vec<(f64, f64)>,
    alpha: f64,
    beyond: f64,
}

impl Resize {
    fn read<const N: usize>(call: &Call) -> Result<Resize, InferError> {
        let mode = match str_attr(call, "coordinate_transformation_mode")? {
            "half_pixel" => Mode::HalfPixel,
            "align_corners" => Mode::AlignCorners,
            "asymmetric" => Mode::Asymmetric,
            "pytorch_half_pixel" => Mode::PytorchHalfPixel,
            "tf_half_pixel_for_nn" => Mode::TfHalfPixel,
            _ => Mode::Crop,
        };
        let method = match str_attr(call, "method")? {
            "nearest_neighbor" => ResizeMethod::Nearest(ResizeRounding::read(call, mode)?),
            "linear" => ResizeMethod::Linear,
            _ => ResizeMethod::Cubic { exclude: given_int(call, "cubic_exclude")? != 0 },
        };
        let roi = floats_attr(call, "roi", 2 * N)?;
        let (starts, ends) = roi.split_at(N.min(roi.len()));
        Ok(Resize {
            layout: ImageLayout::read(call, "layout", if N == 2 { "HW" } else { "DHW" })?,
            method,
            mode,
            roi: starts.iter().copied().zip(ends.iter().copied()).collect(),
            alpha: float_attr(call, "cubic_alpha")?,
            beyond: float_attr(call, "extrapolation_value")?,
        })
    }

    /// For each position of the result along an axis, the elements that contribute. `None` if it is outside the image.
    fn taps(&self, axis: usize, input: i64, output: i64) -> Vec<Option<Vec<Tap>>> {
        let (start, end) = self.roi.get(axis).copied().unwrap_or_default();
        let coordinate = |place| self.mode.coordinate(place, input, output, start, end);
        (0..output).map(|place| self.taps_at(coordinate(place), input)).collect()
    }

    fn taps_at(&self, x: f64, input: i64) -> Option<Vec<Tap>> {
        let last = input - 1;
        if self.mode == Mode::Crop && !(0.0..=last as f64).contains(&x) {
            return None;
        }
        let mut found = match self.method {
            ResizeMethod::Nearest(rounding) => vec![(rounding.apply(x) as i64, 1.0)],
            ResizeMethod::Linear => linear(x),
            ResizeMethod::Cubic { .. } => cubic(x, self.alpha),
        };
        if self.method == (ResizeMethod::Cubic { exclude: true }) {
            found.retain(|(place, _)| (0..=last).contains(place));
            let sum: f64 = found.iter().map(|(_, weight)| weight).sum();
            found.iter_mut().for_each(|(_, weight)| *weight /= sum);
        }
        let tap = |(place, weight): (i64, f64)| Tap { place: Some(place.clamp(0, last)), weight };
        Some(found.into_iter().map(tap).collect())
    }
}

impl ResizeRounding {
    fn read(call: &Call, mode: Mode) -> Result<ResizeRounding, InferError> {
        Ok(match str_attr(call, "rounding_method")? {
            "round" => ResizeRounding::Even,
            "floor" => ResizeRounding::Down,
            "ceil" => ResizeRounding::Up,
            "round_prefer_floor" => ResizeRounding::HalfDown,
            "round_prefer_ceil" => ResizeRounding::HalfUp,
            _ if mode == Mode::AlignCorners => ResizeRounding::Even,
            _ => ResizeRounding::Down,
        })
    }

    fn apply(self, x: f64) -> f64 {
        match self {
            ResizeRounding::Even => x.round_ties_even(),
            ResizeRounding::Down => x.floor(),
            ResizeRounding::Up => x.ceil(),
            ResizeRounding::HalfDown => (x - 0.5).ceil(),
            ResizeRounding::HalfUp => (x + 0.5).floor(),
        }
    }
}

impl Mode {
    /// The coordinate in the data for a position of the result. A single division keeps integer coordinates exact.
    fn coordinate(self, place: i64, input: i64, output: i64, start: f64, end: f64) -> f64 {
        let (x, from, to) = (place as f64, input as f64, output as f64);
        match self {
            Mode::PytorchHalfPixel | Mode::AlignCorners if output == 1 => 0.0,
            Mode::HalfPixel | Mode::PytorchHalfPixel => ((2.0 * x + 1.0) * from - to) / (2.0 * to),
            Mode::AlignCorners => x * (from - 1.0) / (to - 1.0),
            Mode::Asymmetric => x * from / to,
            Mode::TfHalfPixel => (2.0 * x + 1.0) * from / (2.0 * to),
            Mode::Crop if output == 1 => 0.5 * (start + end) * (from - 1.0),
            Mode::Crop => ((to - 1.0 - x) * start + x * end) * (from - 1.0) / (to - 1.0),
        }
    }
}

// Inference.

fn infer<const N: usize>(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    let data = tensor(a, 0)?;
    let resize = Resize::read::<N>(a.call)?;
    if !matches!(resize.method, ResizeMethod::Nearest(_)) {
        Domain::Numbers.demand(data.dtype)?;
    }
    of_rank(data, resize.layout.rank)?;
    let size = size_arg(a, 1, N)?;
    let dtype = match dtype_attr(a.call, "out_dtype")? {
        Some(dtype) if !dtype.is_void() => dtype,
        Some(_) | None => data.dtype,
    };
    let unknown = TensorDims::of_rank(resize.layout.rank).tensor(dtype);
    let TensorDims::Known(dims) = TensorDims::of(data) else { return Ok(unknown) };
    let mut dims = resize.layout.fitted(cx, &dims)?;
    let Some(size) = size else { return Ok(unknown) };
    for (place, size) in resize.layout.spatial.iter().zip(size) {
        if let Some(slot) = dims.get_mut(*place) {
            *slot = size;
        }
    }
    Ok(TensorDims::from(dims).tensor(dtype))
}

/// The requested sizes, one per spatial axis, if they are known. A boxed integer applies to all axes.
pub(super) fn size_arg(a: &InferArgs<'_>, i: usize, spatial: usize) -> Result<Option<Vec<PrimExpr>>, InferError> {
    if let Some(StructInfo::Prim(_)) = a.args.get(i) {
        return Ok(boxed_int(a, i)?.map(|size| vec![size.clone(); spatial]));
    }
    let size = TensorDims::of_shape(shape(a, i)?);
    match (size.rank(), &size) {
        (Some(rank), _) if rank != spatial => {
            Err(InferError::op(format!("{spatial} sizes are needed, there are {rank}")))
        }
        (_, TensorDims::Known(sizes)) => Ok(Some(sizes.to_vec())),
        (_, TensorDims::Rank(_) | TensorDims::Unknown) => Ok(None),
    }
}

// Evaluation.

fn evaluate<const N: usize>(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let resize = Resize::read::<N>(a.call)?;
    if let Some(empty) = kernel::empty_out(m, a)? {
        return Ok(empty);
    }
    let shape = kernel::out(a)?.shape;
    let of = |sizes: &[i64]| resize.layout.spatial.iter().filter_map(|axis| sizes.get(*axis).copied()).collect();
    let (inputs, outputs): (Vec<i64>, Vec<i64>) = (of(x.shape()), of(&shape));
    let per_axis: u64 = match resize.method {
        ResizeMethod::Nearest(_) => 1,
        ResizeMethod::Linear => 2,
        ResizeMethod::Cubic { .. } => 4,
    };
    let lines = outputs.iter().fold(0u64, |sum, size| sum.saturating_add(count(&[*size])));
    m.spend(count(&shape).saturating_mul(per_axis.pow(N as u32)))?;
    let _held = kernel::beside(m, lines.saturating_mul(2))?;
    m.spend(lines)?;
    if inputs.contains(&0) {
        return Err(Stop::unspecified("an image without elements has nothing to interpolate"));
    }
    let sizes = inputs.iter().zip(&outputs).enumerate();
    let taps: Vec<Vec<Option<Vec<Tap>>>> =
        sizes.map(|(axis, (input, output))| resize.taps(axis, *input, *output)).collect();
    tabulate_out(m, a, |index| resize.element(x, index, &taps))
}

impl Resize {
    fn element(&self, x: &Tensor, index: &[i64], taps: &[Vec<Option<Vec<Tap>>>]) -> Result<Scalar, Stop> {
        let mut axes: Vec<(usize, &[Tap])> = Vec::with_capacity(taps.len());
        for (axis, taps) in self.layout.spatial.iter().zip(taps) {
            let place = index.get(*axis).and_then(|place| usize::try_from(*place).ok());
            match place.and_then(|place| taps.get(place)) {
                Some(Some(taps)) => axes.push((*axis, taps)),
                Some(None) => return Ok(Scalar::Float(self.beyond)),
                None => return Err(fail("a place lies outside of the result")),
            }
        }
        let mut place = index.to_vec();
        if let ResizeMethod::Nearest(_) = self.method {
            // The element itself, in its data type.
            for (axis, taps) in &axes {
                if let (Some(slot), Some(tap)) = (place.get_mut(*axis), taps.first()) {
                    *slot = tap.place.unwrap_or(0);
                }
            }
            return at(x, &place);
        }
        weighted(x, &mut place, &axes).map(Scalar::Float)
    }
}
