//! Regions of an image in a grid of bins: `vision.roi_align`, `vision.roi_pool`.

use crate::grammar::{AttrValue, Call, PrimExpr, StructInfo};
use crate::judge::Cx;
use crate::ops::infer::{
    Domain, TensorDims, arity, bool_attr, constant, differ, float_attr, given_int, given_ints, str_attr, tensor,
};
use crate::ops::kernel::reals::max_float;
use crate::ops::kernel::window::AxisOrder;
use crate::ops::kernel::{self, at, fail, tabulate_out};
use crate::ops::tensor::convolution::of_rank;
use crate::ops::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, OpParam, attr};
use crate::value::{Element, Held, Host, Scalar, Stop, Tensor, Value, count};

const POOLED_SIZE: OpParam = OpParam::Attr(Attr::required("pooled_size", AttrKind::Ints));
const SPATIAL_SCALE: OpParam = OpParam::Attr(Attr::required("spatial_scale", AttrKind::Float));

pub(in crate::ops) const OPS: &[OpDef] = &[
    operator!(
        "vision.roi_align",
        [rule!("OPS.vision.roi_align.infer"), rule!("OPS.vision.roi_align.value"), rule!("OPS.vision.roi_align.attrs")],
        [
            OpParam::Arg("data"),
            OpParam::Arg("rois"),
            POOLED_SIZE,
            SPATIAL_SCALE,
            OpParam::Attr(Attr::int("sample_ratio", -1)),
            OpParam::Attr(Attr::bool("aligned", false)),
            OpParam::Attr(Attr::str("layout", &["NCHW", "NHWC"], "NCHW")),
            OpParam::Attr(Attr::str("mode", &["avg", "max"], "avg")),
        ],
        infer,
        Accumulated,
        roi_align,
    ),
    operator!(
        "vision.roi_pool",
        [rule!("OPS.vision.roi_pool.infer"), rule!("OPS.vision.roi_pool.value"), rule!("OPS.vision.roi_pool.attrs")],
        [
            OpParam::Arg("data"),
            OpParam::Arg("rois"),
            POOLED_SIZE,
            SPATIAL_SCALE,
            OpParam::Attr(Attr::str("layout", &["NCHW"], "NCHW")),
        ],
        infer,
        Exact,
        roi_pool,
    ),
];

fn layout(call: &Call) -> Result<AxisOrder, InferError> {
    AxisOrder::parse(str_attr(call, "layout")?, "NCHW")
}

/// The number of bins along height and width.
fn pooled_size(call: &Call) -> Result<[i64; 2], InferError> {
    let given = given_ints(call, "pooled_size")?;
    let listed = matches!(attr(call, "pooled_size"), Some(AttrValue::List(_)));
    match given.as_slice() {
        [size] if !listed => Ok([*size, *size]),
        [height, width] => Ok([*height, *width]),
        _ => Err(InferError::op(format!("`pooled_size` is one integer or two, it is {given:?}"))),
    }
}

fn infer(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    let (data, rois) = (tensor(a, 0)?, tensor(a, 1)?);
    Domain::Floats.demand(data.dtype)?;
    Domain::Floats.demand(rois.dtype)?;
    let layout = layout(a.call)?;
    let pooled = pooled_size(a.call)?.map(constant);
    of_rank(data, 4)?;
    of_rank(rois, 2)?;
    let rois = TensorDims::of(rois);
    if let TensorDims::Known(dims) = &rois
        && let [_, width] = &**dims
        && differ(cx, width, &constant(5))
    {
        return Err(InferError::op(format!("a region is an image and two corners, 5 numbers, not {width}")));
    }
    let (TensorDims::Known(dims), TensorDims::Known(rois)) = (TensorDims::of(data), rois) else {
        return Ok(TensorDims::of_rank(4).tensor(data.dtype));
    };
    let dims = layout.forward(&dims);
    let outer = rois.first().into_iter().chain(dims.get(1)).cloned();
    let dims: Vec<PrimExpr> = outer.chain(pooled).collect();
    Ok(TensorDims::from(layout.backward(&dims)).tensor(data.dtype))
}

/// A region: the image and its corners, in elements of the data along height and width.
struct RegionOfInterest {
    image: i64,
    start: [f64; 2],
    end: [f64; 2],
}

impl RegionOfInterest {
    fn read(rois: &Tensor, i: i64, images: i64, scale: f64) -> Result<RegionOfInterest, Stop> {
        let number = |j: i64| at(rois, &[i, j]).map(<f64 as Element>::from_scalar);
        let numbers = [number(0)?, number(1)?, number(2)?, number(3)?, number(4)?];
        if numbers.iter().any(|x| !x.is_finite()) {
            return Err(Stop::unspecified("a region whose corners are no finite numbers"));
        }
        let [image, left, top, right, bottom] = numbers;
        let image = image.trunc() as i64;
        if !(0..images).contains(&image) {
            return Err(Stop::unspecified(format!("there is no image {image} for a region")));
        }
        Ok(RegionOfInterest { image, start: [top * scale, left * scale], end: [bottom * scale, right * scale] })
    }
}

fn regions(rois: &Tensor, images: i64, scale: f64) -> Result<Vec<RegionOfInterest>, Stop> {
    (0..rois.shape().first().copied().unwrap_or(0)).map(|i| RegionOfInterest::read(rois, i, images, scale)).collect()
}

/// The input of both operators: the sizes of the data in canonical order, and the regions. Their cost is already
/// charged.
struct RoiOperands<'a> {
    x: &'a Tensor,
    layout: AxisOrder,
    sizes: [i64; 4],
    bins: [i64; 2],
    regions: Vec<RegionOfInterest>,
    _held: Held,
}

fn given<'a>(m: &mut dyn Host, a: &EvalArgs<'a>) -> Result<RoiOperands<'a>, Stop> {
    let (x, rois) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?);
    let layout = layout(a.call)?;
    let &[batch, channels, height, width] = layout.forward(x.shape()).as_slice() else {
        return Err(fail("an image has batch, channels, height and width"));
    };
    m.spend(rois.len() as u64)?;
    let held = kernel::beside(m, rois.len() as u64)?;
    let regions = regions(rois, batch, float_attr(a.call, "spatial_scale")?)?;
    Ok(RoiOperands {
        x,
        layout,
        sizes: [batch, channels, height, width],
        bins: pooled_size(a.call)?,
        regions,
        _held: held,
    })
}

impl RoiOperands<'_> {
    /// The region, the channel and the bin of an index of the result.
    fn at(&self, index: &[i64]) -> Result<(usize, i64, [usize; 2]), Stop> {
        let parts = self.layout.forward(index);
        let number = |i: &i64| usize::try_from(*i).ok();
        let found = match parts.as_slice() {
            [region, channel, row, column] => {
                number(region).zip(number(row)).zip(number(column)).map(|((r, i), j)| (r, *channel, [i, j]))
            }
            [] | [_] | [_, _] | [_, _, _] | [_, _, _, _, _, ..] => None,
        };
        found.ok_or_else(|| fail("a place of the result has four coordinates"))
    }

    fn element(&self, image: i64, channel: i64, row: i64, column: i64) -> Result<f64, Stop> {
        at(self.x, &self.layout.backward(&[image, channel, row, column])).map(Element::from_scalar)
    }
}

// roi_align

/// The samples along an axis within a bin: the two neighbouring elements and the weight of the second. `None` outside
/// the image.
type Samples = Vec<Option<(i64, i64, f64)>>;

/// The bins of a region along an axis.
fn sampled(start: f64, extent: f64, bins: i64, per_bin: i64, size: i64) -> Vec<Samples> {
    let bin = extent / bins as f64;
    let sample = |p: i64, i: i64| {
        let x = start + p as f64 * bin + (i as f64 + 0.5) * bin / per_bin as f64;
        if !(-1.0..=size as f64).contains(&x) {
            return None;
        }
        let x = x.clamp(0.0, (size - 1) as f64);
        let low = x.floor() as i64;
        Some((low, (low + 1).min(size - 1), x - x.floor()))
    };
    (0..bins).map(|p| (0..per_bin).map(|i| sample(p, i)).collect()).collect()
}

/// The number of samples in a bin along an axis.
fn per_bin(ratio: i64, extent: f64, bins: i64) -> i64 {
    if ratio > 0 { ratio } else { (extent / bins as f64).ceil().max(0.0) as i64 }
}

fn roi_align(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    if let Some(empty) = kernel::empty_out(m, a)? {
        return Ok(empty);
    }
    let given = given(m, a)?;
    let [_, channels, height, width] = given.sizes;
    let (ratio, largest) = (given_int(a.call, "sample_ratio")?, str_attr(a.call, "mode")? == "max");
    let least = if bool_attr(a.call, "aligned")? { f64::NEG_INFINITY } else { 1.0 };
    let mut samples: Vec<[Vec<Samples>; 2]> = Vec::new();
    let mut held = Vec::new();
    if height == 0 || width == 0 {
        return Err(Stop::unspecified("an image without elements has no regions"));
    }
    for region in &given.regions {
        let extents = [0, 1].map(|axis| extent(region, axis).max(least));
        let counts = [0, 1].map(|axis: usize| per_bin(ratio, part(extents, axis), part(given.bins, axis)));
        // A bin without samples still costs a step.
        let lines = [0, 1].map(|axis: usize| count(&[part(counts, axis).max(1), part(given.bins, axis)]));
        held.push(kernel::beside(m, part(lines, 0).saturating_add(part(lines, 1)))?);
        m.spend(part(lines, 0).saturating_mul(part(lines, 1)).saturating_mul(count(&[channels, 4])))?;
        let along = |axis: usize, size: i64| {
            sampled(part(region.start, axis), part(extents, axis), part(given.bins, axis), part(counts, axis), size)
        };
        samples.push([along(0, height), along(1, width)]);
    }
    tabulate_out(m, a, |index| {
        let (region, channel, [row, column]) = given.at(index)?;
        let (Some(at), Some([rows, columns])) = (given.regions.get(region), samples.get(region)) else {
            return Err(fail("a region is missing"));
        };
        let (Some(rows), Some(columns)) = (rows.get(row), columns.get(column)) else {
            return Err(fail("a bin is missing"));
        };
        let mut found = None;
        for row in rows {
            for column in columns {
                let sample = given.sample(at.image, channel, *row, *column)?;
                found = Some(match found {
                    None => sample,
                    Some(found) if largest => max_float(found, sample),
                    Some(found) => found + sample,
                });
            }
        }
        match (largest, found) {
            (true, None) => Err(Stop::unspecified("a bin without samples has no largest")),
            (true, Some(found)) => Ok(Scalar::Float(found)),
            (false, None) => Ok(Scalar::Float(0.0)),
            (false, Some(sum)) => Ok(Scalar::Float(sum / (rows.len() as f64 * columns.len() as f64))),
        }
    })
}

fn extent(region: &RegionOfInterest, axis: usize) -> f64 {
    part(region.end, axis) - part(region.start, axis)
}

/// The entry for height or width.
fn part<T: Copy>([height, width]: [T; 2], axis: usize) -> T {
    if axis == 0 { height } else { width }
}

impl RoiOperands<'_> {
    fn sample(
        &self,
        image: i64,
        channel: i64,
        row: Option<(i64, i64, f64)>,
        column: Option<(i64, i64, f64)>,
    ) -> Result<f64, Stop> {
        let (Some((top, bottom, t)), Some((left, right, s))) = (row, column) else { return Ok(0.0) };
        let line = |row: i64| {
            let (a, b) = (self.element(image, channel, row, left)?, self.element(image, channel, row, right)?);
            Ok::<f64, Stop>(a * (1.0 - s) + b * s)
        };
        Ok(line(top)? * (1.0 - t) + line(bottom)? * t)
    }
}

// roi_pool

/// The element ranges of a region's bins along an axis. The end is excluded.
fn bounds(start: f64, end: f64, bins: i64, size: i64) -> Vec<(i64, i64)> {
    let whole = |x: f64| (x + 0.5).floor() as i64;
    let (first, last) = (whole(start), whole(end));
    let extent = i128::from(last.saturating_sub(first).saturating_add(1).max(1));
    let bound = |x: i128| (x + i128::from(first)).clamp(0, i128::from(size)) as i64;
    let bins = i128::from(bins);
    let bin = |p: i128| (bound(p * extent / bins), bound(((p + 1) * extent + bins - 1) / bins));
    (0..bins).map(bin).collect()
}

fn roi_pool(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    if let Some(empty) = kernel::empty_out(m, a)? {
        return Ok(empty);
    }
    let given = given(m, a)?;
    let [_, channels, height, width] = given.sizes;
    let of_bins: u64 = given.bins.iter().map(|bins| count(&[*bins])).fold(0, u64::saturating_add);
    let _held = kernel::beside(m, of_bins.saturating_mul(given.regions.len() as u64))?;
    m.spend(of_bins.saturating_mul(given.regions.len() as u64))?;
    let mut all: Vec<[Vec<(i64, i64)>; 2]> = Vec::new();
    for region in &given.regions {
        let along = |axis: usize, size: i64| {
            bounds(part(region.start, axis), part(region.end, axis), part(given.bins, axis), size)
        };
        let found = [along(0, height), along(1, width)];
        let lengths =
            found.each_ref().map(|bins| bins.iter().fold(0u64, |n, (a, b)| n.saturating_add(count(&[(b - a).max(0)]))));
        m.spend(part(lengths, 0).saturating_mul(part(lengths, 1)).saturating_mul(count(&[channels])))?;
        all.push(found);
    }
    tabulate_out(m, a, |index| {
        let (region, channel, [row, column]) = given.at(index)?;
        let (Some(at), Some([rows, columns])) = (given.regions.get(region), all.get(region)) else {
            return Err(fail("a region is missing"));
        };
        let (Some((top, bottom)), Some((left, right))) = (rows.get(row), columns.get(column)) else {
            return Err(fail("a bin is missing"));
        };
        let mut largest = None;
        for row in *top..*bottom {
            for column in *left..*right {
                let element = given.element(at.image, channel, row, column)?;
                largest = Some(largest.map_or(element, |found| max_float(found, element)));
            }
        }
        Ok(Scalar::Float(largest.unwrap_or(0.0)))
    })
}
