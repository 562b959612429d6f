//! Convolution over one, two or three spatial axes, and its transpose.

mod patches;

use ndarray::{ArrayD, Dimension, IxDyn};

use crate::grammar::{BinaryOp, Call, DataType, PrimExpr, StructInfo, TensorStructInfo};
use crate::judge::Cx;
use crate::number::ring::RingNumber;
use crate::ops::infer::{
    Domain, TensorDims, arity, common_dtype, constant, differ, dim, dtype_attr, indivisible, tensor,
};
use crate::ops::kernel::array::{of_scalars, scalars, sizes};
use crate::ops::kernel::lanes::{self, in_lanes};
use crate::ops::kernel::window::{OUT_LAYOUT, Packed, Window, data_axes, groups, inside, per_axis, windows};
use crate::ops::kernel::{self, fail, multiply_add, summands, zero};
use crate::ops::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Scalar, Stop, Tensor, Value, count};

const DATA: OpParam = OpParam::Arg("data");
const WEIGHT: OpParam = OpParam::Arg("weight");
const GROUPS: OpParam = OpParam::Attr(Attr::int("groups", 1));
const OUT_DTYPE: OpParam = OpParam::Attr(Attr::optional("out_dtype", AttrKind::DataType));

macro_rules! convolution {
    ($name:literal, $rules:tt, $spatial:literal, $ones:expr, $zeros:expr, $data:literal, $kernel:literal) => {
        operator!(
            $name,
            $rules,
            [
                DATA,
                WEIGHT,
                OpParam::Attr(Attr::ints("strides", $ones)),
                OpParam::Attr(Attr::ints("padding", $zeros)),
                OpParam::Attr(Attr::ints("dilation", $ones)),
                GROUPS,
                OpParam::Attr(Attr::str("data_layout", &[], $data)),
                OpParam::Attr(Attr::str("kernel_layout", &[], $kernel)),
                OUT_LAYOUT,
                OUT_DTYPE
            ],
            infer::<$spatial, false>,
            Accumulated,
            evaluate::<$spatial, false>
        )
    };
}

macro_rules! transposed {
    ($name:literal, $rules:tt, $spatial:literal, $ones:expr, $none:expr, $zeros:expr, $data:literal, $kernel:literal) => {
        operator!(
            $name,
            $rules,
            [
                DATA,
                WEIGHT,
                OpParam::Attr(Attr::ints("strides", $ones)),
                OpParam::Attr(Attr::ints("padding", $zeros)),
                OpParam::Attr(Attr::ints("output_padding", $none)),
                OpParam::Attr(Attr::ints("dilation", $ones)),
                GROUPS,
                OpParam::Attr(Attr::str("data_layout", &[], $data)),
                OpParam::Attr(Attr::str("kernel_layout", &[], $kernel)),
                OUT_LAYOUT,
                OUT_DTYPE
            ],
            infer::<$spatial, true>,
            Accumulated,
            evaluate::<$spatial, true>
        )
    };
}

pub(in crate::ops) const OPS: &[OpDef] = &[
    convolution!(
        "nn.conv1d",
        [rule!("OPS.nn.conv1d.infer"), rule!("OPS.nn.conv1d.value"), rule!("OPS.nn.conv1d.attrs")],
        1,
        &[1],
        &[0, 0],
        "NCW",
        "OIW"
    ),
    convolution!(
        "nn.conv2d",
        [rule!("OPS.nn.conv2d.infer"), rule!("OPS.nn.conv2d.value"), rule!("OPS.nn.conv2d.attrs")],
        2,
        &[1, 1],
        &[0, 0, 0, 0],
        "NCHW",
        "OIHW"
    ),
    convolution!(
        "nn.conv3d",
        [rule!("OPS.nn.conv3d.infer"), rule!("OPS.nn.conv3d.value"), rule!("OPS.nn.conv3d.attrs")],
        3,
        &[1, 1, 1],
        &[0, 0, 0, 0, 0, 0],
        "NCDHW",
        "OIDHW"
    ),
    transposed!(
        "nn.conv1d_transpose",
        [
            rule!("OPS.nn.conv1d_transpose.infer"),
            rule!("OPS.nn.conv1d_transpose.value"),
            rule!("OPS.nn.conv1d_transpose.attrs")
        ],
        1,
        &[1],
        &[0],
        &[0, 0],
        "NCW",
        "IOW"
    ),
    transposed!(
        "nn.conv2d_transpose",
        [
            rule!("OPS.nn.conv2d_transpose.infer"),
            rule!("OPS.nn.conv2d_transpose.value"),
            rule!("OPS.nn.conv2d_transpose.attrs")
        ],
        2,
        &[1, 1],
        &[0, 0],
        &[0, 0, 0, 0],
        "NCHW",
        "IOHW"
    ),
    transposed!(
        "nn.conv3d_transpose",
        [
            rule!("OPS.nn.conv3d_transpose.infer"),
            rule!("OPS.nn.conv3d_transpose.value"),
            rule!("OPS.nn.conv3d_transpose.attrs")
        ],
        3,
        &[1, 1, 1],
        &[0, 0, 0],
        &[0, 0, 0, 0, 0, 0],
        "NCDHW",
        "IODHW"
    ),
];

/// The attributes of a convolution, checked.
struct Convolution {
    data: Packed,
    kernel: Packed,
    out: Packed,
    windows: Vec<Window>,
    output_padding: Vec<i64>,
    groups: i64,
}

impl Convolution {
    fn read<const N: usize, const T: bool>(call: &Call) -> Result<Convolution, InferError> {
        let kernel_axes = if T { "IO".to_owned() } else { "OI".to_owned() } + data_axes(N).trim_start_matches("NC");
        let rank = Packed::canonical(N + 2);
        let data = Packed::read(call, "data_layout", data_axes(N), &rank)?;
        let windows = windows(call, N)?;
        let output_padding = if T { per_axis(call, "output_padding", N, i64::MIN)? } else { vec![0; N] };
        if let Some((padding, window)) = output_padding.iter().zip(&windows).find(|(p, w)| T && **p >= w.stride) {
            let message = format!("the output padding {padding} is not less than the stride {}", window.stride);
            return Err(InferError::op(message));
        }
        Ok(Convolution {
            kernel: Packed::read(call, "kernel_layout", &kernel_axes, &rank)?,
            out: Packed::read(call, "out_layout", data_axes(N), &data)?,
            data,
            windows,
            output_padding,
            groups: groups(call)?,
        })
    }

    /// The coordinate of the data along a spatial axis under an element of the window, where there is one.
    fn under<const T: bool>(&self, axis: usize, out: usize, element: usize, size: usize) -> Option<usize> {
        let window = self.windows.get(axis)?;
        if !T {
            return inside(window.place(out, element), size);
        }
        let back = (element as i64).saturating_mul(window.dilation);
        let distance = (out as i64).saturating_add(window.before).saturating_sub(back);
        let hit = distance.checked_rem(window.stride) == Some(0);
        inside(if hit { distance / window.stride } else { -1 }, size)
    }

    /// The size of the result along a spatial axis of a transposed convolution.
    fn spread(&self, axis: usize, input: PrimExpr, size: PrimExpr) -> PrimExpr {
        let (Some(window), Some(padding)) = (self.windows.get(axis), self.output_padding.get(axis)) else {
            return input;
        };
        let last = dim(BinaryOp::Sub, input, constant(1));
        let reached = dim(BinaryOp::Add, dim(BinaryOp::Mul, last, constant(window.stride)), window.reach(size));
        let around = window.before.saturating_add(window.after);
        dim(BinaryOp::Add, reached, constant(padding.saturating_add(1).saturating_sub(around)))
    }
}

// Inference.

fn infer<const N: usize, const T: bool>(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    let (data, weight) = (tensor(a, 0)?, tensor(a, 1)?);
    let convolution = Convolution::read::<N, T>(a.call)?;
    of_rank(data, convolution.data.rank())?;
    of_rank(weight, convolution.kernel.rank())?;
    let dtype = match dtype_attr(a.call, "out_dtype")? {
        Some(dtype) if !dtype.is_void() => dtype,
        Some(_) | None => common_dtype(data.dtype, weight.dtype)?,
    };
    [data.dtype, weight.dtype, dtype].into_iter().try_for_each(|dtype| Domain::Numbers.demand(dtype))?;
    let (TensorDims::Known(data), TensorDims::Known(weight)) = (TensorDims::of(data), TensorDims::of(weight)) else {
        return Ok(TensorDims::of_rank(convolution.out.rank()).tensor(dtype));
    };
    let (data, weight) = (convolution.data.whole(&data)?, convolution.kernel.whole(&weight)?);
    let dims = result_dims::<T>(cx, &convolution, &data, &weight)?;
    Ok(TensorDims::from(convolution.out.divided(&dims)?).tensor(dtype))
}

/// Checks that a known rank equals that of the layout.
pub(in crate::ops) fn of_rank(t: &TensorStructInfo, rank: usize) -> Result<(), InferError> {
    match TensorDims::of(t).rank() {
        Some(found) if found != rank => Err(InferError::op(format!("the layout has rank {rank}, the tensor {found}"))),
        Some(_) | None => Ok(()),
    }
}

/// The dimensions of the result, batch and channel first. Rejects channels that provably do not match.
fn result_dims<const T: bool>(
    cx: &mut Cx,
    convolution: &Convolution,
    data: &[PrimExpr],
    weight: &[PrimExpr],
) -> Result<Vec<PrimExpr>, InferError> {
    let ([batch, channels, data @ ..], [first, second, weight @ ..]) = (data, weight) else {
        return Err(InferError::op("a convolution needs a batch and a channel axis"));
    };
    let groups = constant(convolution.groups);
    let (expected, divided, made) = if T {
        (first.clone(), first, dim(BinaryOp::Mul, second.clone(), groups))
    } else {
        (dim(BinaryOp::Mul, second.clone(), groups), first, first.clone())
    };
    if differ(cx, channels, &expected) {
        return Err(InferError::op(format!("the data has {channels} channels, the weight takes {expected}")));
    }
    if indivisible(cx, divided, convolution.groups) {
        return Err(InferError::op(format!("{divided} channels do not make {} equal groups", convolution.groups)));
    }
    let sizes = convolution.windows.iter().enumerate().zip(data.iter().zip(weight)).map(|((axis, window), (x, w))| {
        if T { convolution.spread(axis, x.clone(), w.clone()) } else { window.places(x.clone(), w.clone()) }
    });
    Ok([batch.clone(), made].into_iter().chain(sizes).collect())
}

// Evaluation.

fn evaluate<const N: usize, const T: bool>(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let convolution = Convolution::read::<N, T>(a.call)?;
    let out = kernel::out(a)?;
    let (x, w) = (summands(m, kernel::tensor(a, 0)?, &out)?, summands(m, kernel::tensor(a, 1)?, &out)?);
    let (x, w) = (&*x, &*w);
    let kernel::Out { dtype, shape } = out;
    let shape = convolution.out.whole_sizes(&shape);
    let steps = shape.iter().skip(2).fold(w.len() as u64, |n, size| n.saturating_mul(size.unsigned_abs()));
    lanes::spend_on_sums(m, steps.saturating_mul(shape.first().copied().unwrap_or(1).unsigned_abs()))?;
    let _held = kernel::beside(m, count(&shape).saturating_add(x.len() as u64).saturating_add(w.len() as u64))?;
    m.spend(count(&shape))?;
    if let Some(sums) = lanes::sums(m, dtype, [x, w])
        && let Some(result) = in_lanes!(sums, Lane => in_patches::<Lane, T>(m, &convolution, x, w, dtype, &shape)?)
    {
        return Ok(result);
    }
    let (data, weight) = (ranked(x, &convolution.data)?, ranked(w, &convolution.kernel)?);
    let mut out = ArrayD::from_elem(IxDyn(&sizes(&shape)?), zero(dtype));
    for (index, slot) in out.indexed_iter_mut() {
        let sum = Sum { convolution: &convolution, data: &data, weight: &weight, zero: zero(x.dtype()) };
        *slot = sum.at::<T>(index.slice(), zero(dtype))?;
    }
    of_scalars(m, dtype, &convolution.out.packed(out)?)
}

/// The same result as a product of matrices, if it is one.
fn in_patches<L: lanes::Lane, const T: bool>(
    m: &mut dyn Host,
    convolution: &Convolution,
    x: &Tensor,
    w: &Tensor,
    dtype: DataType,
    shape: &[i64],
) -> Result<Option<Value>, Stop> {
    let (data, weight) =
        (convolution.data.unpacked(lanes::array::<L>(x)?)?, convolution.kernel.unpacked(lanes::array::<L>(w)?)?);
    let Some(out) = patches::convolved::<L, T>(convolution, &data, &weight, &sizes(shape)?)? else { return Ok(None) };
    let out = convolution.out.packed(out)?;
    let shape: Vec<i64> = out.shape().iter().map(|size| *size as i64).collect();
    let elements: Vec<L> = out.iter().copied().collect();
    lanes::tensor(m, dtype, &shape, &elements).map(Some)
}

/// A tensor rearranged into canonical order.
pub(in crate::ops) fn ranked(t: &Tensor, layout: &Packed) -> Result<ArrayD<Scalar>, Stop> {
    layout.unpacked(scalars(t)?)
}

/// An element of the result: a sum over input channels and the elements of the window.
struct Sum<'a> {
    convolution: &'a Convolution,
    data: &'a ArrayD<Scalar>,
    weight: &'a ArrayD<Scalar>,
    zero: Scalar,
}

impl Sum<'_> {
    fn at<const T: bool>(&self, index: &[usize], start: Scalar) -> Result<Scalar, Stop> {
        let ([batch, made, place @ ..], [first, second, window @ ..]) = (index, self.weight.shape()) else {
            return Err(fail("a convolution needs a batch and a channel axis"));
        };
        let groups = usize::try_from(self.convolution.groups).unwrap_or(1);
        // The channels of the input that belong to the group of this channel.
        let (taken, per_group) = if T { (first / groups.max(1), *second) } else { (*second, first / groups.max(1)) };
        let group = made / per_group.max(1);
        let mut sum = start;
        for channel in 0..taken {
            let input = group * taken + channel;
            let factor = if T { [input, made % per_group.max(1)] } else { [*made, channel] };
            for element in ndarray::indices(window) {
                let element = element.slice();
                let Some(x) = self.data_at::<T>(*batch, input, place, element) else { continue };
                let at: Vec<usize> = factor.iter().chain(element).copied().collect();
                let w = self.weight.get(IxDyn(&at)).copied().ok_or_else(|| fail("the weight has no such element"))?;
                sum = multiply_add(sum, x, w)?;
            }
        }
        Ok(sum)
    }

    /// The element of the data under an element of the window. It is zero in the padding of a convolution, and `None`
    /// where the transpose has no element.
    fn data_at<const T: bool>(
        &self,
        batch: usize,
        channel: usize,
        place: &[usize],
        element: &[usize],
    ) -> Option<Scalar> {
        let mut index = vec![batch, channel];
        let spatial = self.data.shape().iter().skip(2);
        for (axis, ((size, out), element)) in spatial.zip(place).zip(element).enumerate() {
            match self.convolution.under::<T>(axis, *out, *element, *size) {
                Some(found) => index.push(found),
                None => return (!T).then_some(self.zero),
            }
        }
        self.data.get(IxDyn(&index)).copied()
    }
}
