//! Normalization: `layer_norm`, `rms_norm`, `group_norm`, `instance_norm`, `batch_norm`.

use kernels::{Arithmetic, Normalization};
use ndarray::{ArrayD, IxDyn};

use crate::grammar::{Call, DataType, PrimExpr, StructInfo, TensorStructInfo};
use crate::judge::{Cx, Proof};
use crate::ops::infer::{
    Domain, TensorDims, arity, axes, axis, bool_attr, float_attr, given_int, given_ints, indivisible, tensor,
};
use crate::ops::kernel::array::{floats, mean, of_floats, sizes, spread};
use crate::ops::kernel::floats::all as all_floats;
use crate::ops::kernel::reals::{max_float, min_float};
use crate::ops::kernel::{self, fail, lanes};
use crate::ops::tensor::normalization::of_ring;
use crate::ops::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::shape::prove_equal;
use crate::value::{Elements, Held, Host, Kernels, Stop, Tensor, Value};

const EPSILON: OpParam = OpParam::Attr(Attr::float("epsilon", 1e-5));
const CENTER: OpParam = OpParam::Attr(Attr::bool("center", true));
const SCALE: OpParam = OpParam::Attr(Attr::bool("scale", true));
const AXES: OpParam = OpParam::Attr(Attr::required("axes", AttrKind::Ints));
const CHANNEL_AXIS: OpParam = OpParam::Attr(Attr::required("channel_axis", AttrKind::Int));

pub(in crate::ops) const OPS: &[OpDef] = &[
    operator!(
        "nn.layer_norm",
        [rule!("OPS.nn.layer_norm.infer"), rule!("OPS.nn.layer_norm.value"), rule!("OPS.nn.layer_norm.attrs")],
        [OpParam::Arg("data"), OpParam::Arg("gamma"), OpParam::Arg("beta"), AXES, EPSILON, CENTER, SCALE],
        infer_layer_norm,
        Accumulated,
        layer_norm
    ),
    operator!(
        "nn.rms_norm",
        [rule!("OPS.nn.rms_norm.infer"), rule!("OPS.nn.rms_norm.value"), rule!("OPS.nn.rms_norm.attrs")],
        [OpParam::Arg("data"), OpParam::Arg("weight"), OpParam::Attr(Attr::ints("axes", &[-1])), EPSILON],
        infer_rms_norm,
        Accumulated,
        rms_norm
    ),
    operator!(
        "nn.group_norm",
        [rule!("OPS.nn.group_norm.infer"), rule!("OPS.nn.group_norm.value"), rule!("OPS.nn.group_norm.attrs")],
        [
            OpParam::Arg("data"),
            OpParam::Arg("gamma"),
            OpParam::Arg("beta"),
            OpParam::Attr(Attr::required("num_groups", AttrKind::Int)),
            CHANNEL_AXIS,
            AXES,
            EPSILON,
            CENTER,
            SCALE
        ],
        infer_group_norm,
        Accumulated,
        group_norm
    ),
    operator!(
        "nn.instance_norm",
        [rule!("OPS.nn.instance_norm.infer"), rule!("OPS.nn.instance_norm.value"), rule!("OPS.nn.instance_norm.attrs")],
        [OpParam::Arg("data"), OpParam::Arg("gamma"), OpParam::Arg("beta"), CHANNEL_AXIS, AXES, EPSILON, CENTER, SCALE],
        infer_instance_norm,
        Accumulated,
        instance_norm
    ),
    operator!(
        "nn.batch_norm",
        [rule!("OPS.nn.batch_norm.infer"), rule!("OPS.nn.batch_norm.value"), rule!("OPS.nn.batch_norm.attrs")],
        [
            OpParam::Arg("data"),
            OpParam::Arg("gamma"),
            OpParam::Arg("beta"),
            OpParam::Arg("moving_mean"),
            OpParam::Arg("moving_var"),
            OpParam::Attr(Attr::required("axis", AttrKind::Int)),
            EPSILON,
            CENTER,
            SCALE,
            OpParam::Attr(Attr::float("momentum", 0.1)),
            OpParam::Attr(Attr::bool("training", true))
        ],
        infer_batch_norm,
        Accumulated,
        batch_norm
    ),
];

// Inference.

/// The arguments of a normalization. The first is the data; the parameters have the same data type.
fn normalized<'a, const N: usize>(a: &InferArgs<'a>) -> Result<[&'a TensorStructInfo; N], InferError> {
    arity::<N>(a)?;
    let first = tensor(a, 0)?;
    let mut infos = [first; N];
    for (i, slot) in infos.iter_mut().enumerate() {
        *slot = tensor(a, i)?;
    }
    match infos.iter().find(|info| info.dtype != first.dtype) {
        Some(other) => Err(InferError::op(format!("the data types {} and {} differ", first.dtype, other.dtype))),
        None => Ok(infos),
    }
}

/// Checks that each parameter has the dimensions of the data at the axes, and rejects provably different sizes. Returns
/// whether all are provably equal.
fn fit(cx: &mut Cx, infos: &[&TensorStructInfo], along: Option<&[usize]>, count: usize) -> Result<bool, InferError> {
    let Some((data, parameters)) = infos.split_first() else { return Ok(true) };
    let mut known: Vec<Vec<PrimExpr>> = Vec::new();
    if let (TensorDims::Known(dims), Some(along)) = (TensorDims::of(data), along) {
        known.push(along.iter().filter_map(|i| dims.get(*i).cloned()).collect());
    }
    for parameter in parameters {
        if TensorDims::of(parameter).rank() != Some(count) {
            return Err(InferError::op(format!(
                "a parameter must have rank {count}, it is of rank {}",
                parameter.ndim
            )));
        }
        if let TensorDims::Known(dims) = TensorDims::of(parameter) {
            known.push(dims.to_vec());
        }
    }
    let mut same = true;
    let pairs =
        known.iter().enumerate().flat_map(|(i, dims)| known.iter().skip(i + 1).map(move |others| (dims, others)));
    for (size, other) in pairs.flat_map(|(dims, others)| dims.iter().zip(others)) {
        match prove_equal(cx, size, other) {
            Proof::Different => {
                return Err(InferError::op(format!("a parameter has the size {other} where {size} is normalized")));
            }
            Proof::Unknown => same = false,
            Proof::Equal => {}
        }
    }
    Ok(same)
}

/// The axes to normalize, if the rank of the data is known.
fn axes_of(call: &Call, data: &TensorStructInfo) -> Result<Option<Vec<usize>>, InferError> {
    let given = given_ints(call, "axes")?;
    TensorDims::of(data).rank().map(|rank| axes(&given, rank)).transpose()
}

fn infer_axes_norm<const N: usize>(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let infos = normalized::<N>(a)?;
    let count = given_ints(a.call, "axes")?.len();
    let data = tensor(a, 0)?;
    Domain::Floats.demand(data.dtype)?;
    let along = axes_of(a.call, data)?;
    Ok(known_if(fit(cx, &infos, along.as_deref(), count)?, data))
}

/// The information of a tensor, or only its rank.
fn known_if(shape: bool, t: &TensorStructInfo) -> StructInfo {
    if shape { StructInfo::Tensor(t.clone()) } else { TensorDims::of_ndim(t.ndim).tensor(t.dtype) }
}

fn infer_layer_norm(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    infer_axes_norm::<3>(cx, a)
}

fn infer_rms_norm(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    infer_axes_norm::<2>(cx, a)
}

/// The channel axis, if the rank of the data is known. It must not be among the normalized axes.
fn channel_axis(call: &Call, data: &TensorStructInfo) -> Result<Option<usize>, InferError> {
    let given = given_int(call, "channel_axis")?;
    let channel = TensorDims::of(data).rank().map(|rank| axis(given, rank)).transpose()?;
    if let (Some(channel), Some(along)) = (channel, axes_of(call, data)?)
        && along.contains(&channel)
    {
        return Err(InferError::op("the channel axis is among the axes"));
    }
    Ok(channel)
}

fn infer_channel_norm(cx: &mut Cx, a: &InferArgs<'_>) -> Result<Option<PrimExpr>, InferError> {
    let infos = normalized::<3>(a)?;
    let data = tensor(a, 0)?;
    let channel = channel_axis(a.call, data)?;
    fit(cx, &infos, channel.as_ref().map(std::slice::from_ref), 1)?;
    Ok(match (TensorDims::of(data), channel) {
        (TensorDims::Known(dims), Some(channel)) => dims.get(channel).cloned(),
        (TensorDims::Known(_) | TensorDims::Rank(_) | TensorDims::Unknown, _) => None,
    })
}

fn infer_group_norm(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    Domain::Floats.demand(tensor(a, 0)?.dtype)?;
    let groups = given_int(a.call, "num_groups")?;
    if groups < 1 {
        return Err(InferError::op(format!("the number of groups must be positive, it is {groups}")));
    }
    let channels = infer_channel_norm(cx, a)?;
    if let Some(channels) = channels
        && indivisible(cx, &channels, groups)
    {
        return Err(InferError::op(format!("{channels} channels cannot be put into {groups} equal groups")));
    }
    Ok(StructInfo::Tensor(tensor(a, 0)?.clone()))
}

fn infer_instance_norm(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    Domain::Floats.demand(tensor(a, 0)?.dtype)?;
    infer_channel_norm(cx, a)?;
    Ok(StructInfo::Tensor(tensor(a, 0)?.clone()))
}

/// The normalized data, and the updated mean and variance.
fn infer_batch_norm(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let infos = normalized::<5>(a)?;
    let [data, _, _, mean, variance] = infos;
    Domain::Floats.demand(data.dtype)?;
    let given = given_int(a.call, "axis")?;
    let along = TensorDims::of(data).rank().map(|rank| axis(given, rank)).transpose()?;
    let known = fit(cx, &infos, along.as_ref().map(std::slice::from_ref), 1)?;
    Ok(StructInfo::tuple([data, mean, variance].map(|t| known_if(known, t))))
}

// Evaluation.

/// Data and parameters as arrays.
fn arrays<const N: usize>(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<([ArrayD<f64>; N], DataType, Held), Stop> {
    let dtype = kernel::tensor(a, 0)?.dtype();
    m.spend(kernel::tensor(a, 0)?.len() as u64)?;
    // The parameters are repeated along the other axes of the data.
    let held = kernel::beside(m, (kernel::tensor(a, 0)?.len() as u64).saturating_mul(2))?;
    let mut arrays = [const { None }; N];
    for (i, slot) in arrays.iter_mut().enumerate() {
        *slot = Some(floats(kernel::tensor(a, i)?)?);
    }
    Ok((arrays.map(Option::unwrap_or_default), dtype, held))
}

fn epsilon(call: &Call) -> Result<f64, Stop> {
    Ok(float_attr(call, "epsilon")?)
}

/// The operation on each element of the data and the element of a parameter for its position along the axes. The fast
/// implementation takes the data line by line; the plain one repeats the parameter to the shape of the data.
fn combined(
    kernels: Kernels,
    operation: Arithmetic,
    mut x: ArrayD<f64>,
    parameter: &ArrayD<f64>,
    along: &[usize],
) -> ArrayD<f64> {
    if kernels.is_fast()
        && let Some(length) = line_length(x.shape(), along, parameter.len())
        && let (Some(x), Some(parameter)) = (x.as_slice_mut(), parameter.as_slice())
    {
        kernels::arithmetic_by_line(operation, x, length, parameter);
    } else {
        let parameter = spread(parameter, &x, along);
        match operation {
            Arithmetic::Sum => x += &parameter,
            Arithmetic::Difference => x -= &parameter,
            Arithmetic::Product => x *= &parameter,
            Arithmetic::Quotient => x /= &parameter,
            Arithmetic::Larger => x.zip_mut_with(&parameter, |x, y| *x = max_float(*x, *y)),
            Arithmetic::Smaller => x.zip_mut_with(&parameter, |x, y| *x = min_float(*x, *y)),
        }
    }
    x
}

/// The number of elements in a line with the same element of the parameter, if the axes follow each other and the
/// parameter has `count` elements for them.
fn line_length(shape: &[usize], along: &[usize], count: usize) -> Option<usize> {
    let (first, after) = match along {
        [] => (0, 0),
        [first, ..] => (*first, first + along.len()),
    };
    let sizes = shape.get(first..after)?;
    let follows = along.iter().copied().eq(first..after);
    (follows && sizes.iter().product::<usize>() == count).then(|| shape.iter().skip(after).product())
}

/// The mean over axes, without these axes, and the other axes.
fn mean_of_others(x: &ArrayD<f64>, along: &[usize]) -> Result<(ArrayD<f64>, Vec<usize>), Stop> {
    let others: Vec<usize> = (0..x.ndim()).filter(|axis| !along.contains(axis)).collect();
    let sizes: Vec<usize> = others.iter().filter_map(|axis| x.shape().get(*axis).copied()).collect();
    let means = mean(x, along).iter().copied().collect();
    let mean = ArrayD::from_shape_vec(IxDyn(&sizes), means).map_err(|error| fail(error.to_string()))?;
    Ok((mean, others))
}

/// The data with mean 0 and variance 1 over the axes, apart from `epsilon`.
fn standardized(kernels: Kernels, x: ArrayD<f64>, along: &[usize], epsilon: f64) -> Result<ArrayD<f64>, Stop> {
    let (mean, others) = mean_of_others(&x, along)?;
    let centered = combined(kernels, Arithmetic::Difference, x, &mean, &others);
    let (variance, others) = mean_of_others(&(&centered * &centered), along)?;
    let deviation = variance.mapv_into(|v| (v + epsilon).sqrt());
    Ok(combined(kernels, Arithmetic::Quotient, centered, &deviation, &others))
}

/// `x * gamma + beta`, each part only if `scale` or `center` is set.
fn transformed(
    kernels: Kernels,
    call: &Call,
    mut x: ArrayD<f64>,
    (gamma, beta): (&ArrayD<f64>, &ArrayD<f64>),
    along: &[usize],
) -> Result<ArrayD<f64>, Stop> {
    if bool_attr(call, "scale")? {
        x = combined(kernels, Arithmetic::Product, x, gamma, along);
    }
    if bool_attr(call, "center")? {
        x = combined(kernels, Arithmetic::Sum, x, beta, along);
    }
    Ok(x)
}

/// The same result for the same steps, line by line: the last axis of float32 is normalized. `None` if it is another
/// one, or an argument does not fit. `terms` and `factors` are the arguments with them, if they are wanted.
fn of_lines(
    m: &mut dyn Host,
    a: &EvalArgs<'_>,
    is_centered: bool,
    [factors, terms]: [Option<usize>; 2],
) -> Result<Option<Value>, Stop> {
    let (x, along) = (kernel::tensor(a, 0)?, given_ints(a.call, "axes")?);
    let last = x.shape().len().checked_sub(1);
    let is_last = axes(&along, x.shape().len()).is_ok_and(|along| along.iter().copied().eq(last));
    let length = x.shape().last().and_then(|length| usize::try_from(*length).ok()).unwrap_or(0);
    // A line of one element is not added in the order of longer ones.
    let fits = is_last && length > 1 && lanes::are_wanted(m) && (0..a.values.len()).all(|i| is_of(a, i, length));
    if !fits {
        return Ok(None);
    }
    m.spend(x.len() as u64)?;
    let _held = m.account().hold((length as u64).saturating_mul(32))?;
    let parameter = |i: Option<usize>| i.map(|i| kernel::tensor(a, i).map(all_floats)).transpose();
    let (factors, terms, epsilon) = (parameter(factors)?, parameter(terms)?, epsilon(a.call)?);
    let normalization =
        Normalization { length, is_centered, epsilon, factors: factors.as_deref(), terms: terms.as_deref() };
    let result = kernel::zeros(m, x.dtype(), x.shape())?;
    let x = x.elements();
    result.rewrite(None, |out| {
        if let (Elements::Float32(x), Elements::Float32(out)) = (&*x, out)
            && let (Some(x), Some(out)) = (x.as_slice(), out.as_slice_mut())
        {
            normalization.of_f32(x, out);
        }
    });
    Ok(Some(Value::Tensor(result)))
}

/// Whether an argument is of float32; parameters have one element for each element of a line.
fn is_of(a: &EvalArgs<'_>, i: usize, length: usize) -> bool {
    let fits = |t: &Tensor| t.dtype() == DataType::FLOAT32 && (i == 0 || t.shape() == [length as i64]);
    a.values.get(i).and_then(Value::as_tensor).is_some_and(fits)
}

fn layer_norm(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    if of_ring::are_wanted(m) {
        return of_ring::layer_norm(m, a);
    }
    let (is_scaled, is_moved) = (bool_attr(a.call, "scale")?, bool_attr(a.call, "center")?);
    if let Some(value) = of_lines(m, a, true, [is_scaled.then_some(1), is_moved.then_some(2)])? {
        return Ok(value);
    }
    let ([x, gamma, beta], dtype, _held) = arrays::<3>(m, a)?;
    let kernels = m.kernels();
    let along = axes(&given_ints(a.call, "axes")?, x.ndim())?;
    let normal = standardized(kernels, x, &along, epsilon(a.call)?)?;
    of_floats(m, dtype, &transformed(kernels, a.call, normal, (&gamma, &beta), &along)?)
}

/// `x / sqrt(mean of x * x + epsilon) * weight`.
fn rms_norm(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    if of_ring::are_wanted(m) {
        return of_ring::rms_norm(m, a);
    }
    if let Some(value) = of_lines(m, a, false, [Some(1), None])? {
        return Ok(value);
    }
    let ([x, weight], dtype, _held) = arrays::<2>(m, a)?;
    let kernels = m.kernels();
    let along = axes(&given_ints(a.call, "axes")?, x.ndim())?;
    let epsilon = epsilon(a.call)?;
    let (mean, others) = mean_of_others(&(&x * &x), &along)?;
    let scale = mean.mapv_into(|square| (square + epsilon).sqrt());
    let scaled = combined(kernels, Arithmetic::Quotient, x, &scale, &others);
    of_floats(m, dtype, &combined(kernels, Arithmetic::Product, scaled, &weight, &along))
}

fn instance_norm(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    if of_ring::are_wanted(m) {
        return of_ring::instance_norm(m, a);
    }
    let ([x, gamma, beta], dtype, _held) = arrays::<3>(m, a)?;
    let kernels = m.kernels();
    let along = axes(&given_ints(a.call, "axes")?, x.ndim())?;
    let channel = axis(given_int(a.call, "channel_axis")?, x.ndim())?;
    let normal = standardized(kernels, x, &along, epsilon(a.call)?)?;
    of_floats(m, dtype, &transformed(kernels, a.call, normal, (&gamma, &beta), &[channel])?)
}

/// Divides the channels into groups. Each group is normalized over its channels and the axes.
fn group_norm(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let shape = sizes(kernel::tensor(a, 0)?.shape())?;
    let channel = axis(given_int(a.call, "channel_axis")?, shape.len())?;
    let mut along = vec![channel + 1];
    for axis in axes(&given_ints(a.call, "axes")?, shape.len())? {
        along.push(if axis > channel { axis + 1 } else { axis });
    }
    let grouped = grouped_shape(a.call, &shape, channel)?;
    if of_ring::are_wanted(m) {
        return of_ring::group_norm(m, a, &grouped, &along);
    }
    let ([x, gamma, beta], dtype, _held) = arrays::<3>(m, a)?;
    let kernels = m.kernels();
    let reshape = |x: ArrayD<f64>, shape: &[usize]| {
        x.into_shape_with_order(IxDyn(shape)).map_err(|error| fail(error.to_string()))
    };
    let groups = standardized(kernels, reshape(x, &grouped)?, &along, epsilon(a.call)?)?;
    let normal = reshape(groups, &shape)?;
    of_floats(m, dtype, &transformed(kernels, a.call, normal, (&gamma, &beta), &[channel])?)
}

/// The shape with the channel axis split into groups and the channels of a group.
fn grouped_shape(call: &Call, shape: &[usize], channel: usize) -> Result<Vec<usize>, Stop> {
    let groups = usize::try_from(given_int(call, "num_groups")?).unwrap_or(0);
    let size = shape.get(channel).copied().unwrap_or(0);
    let per_group = size.checked_div(groups).unwrap_or(0);
    let mut grouped = shape.to_vec();
    grouped.splice(channel..=channel, [groups, per_group]);
    Ok(grouped)
}

/// With `training` the data is normalized by its own mean and variance over all axes but one. The moving statistics are
/// updated towards these and keep the fraction `momentum` of their old values. Otherwise the data is normalized by the
/// moving statistics, which stay the same.
fn batch_norm(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    if of_ring::are_wanted(m) {
        return of_ring::batch_norm(m, a);
    }
    let ([x, gamma, beta, old_mean, old_variance], dtype, _held) = arrays::<5>(m, a)?;
    let (kernels, channel) = (m.kernels(), [axis(given_int(a.call, "axis")?, x.ndim())?]);
    let epsilon = epsilon(a.call)?;
    let deviation = |variance: &ArrayD<f64>| variance.mapv(|v| (v + epsilon).sqrt());
    if !bool_attr(a.call, "training")? {
        let centered = combined(kernels, Arithmetic::Difference, x, &old_mean, &channel);
        let normal = combined(kernels, Arithmetic::Quotient, centered, &deviation(&old_variance), &channel);
        let copy = |m: &mut dyn Host, i| {
            let data = kernel::tensor(a, i).map(Tensor::to_data)?;
            m.account().tensor(&data)?.map(Value::Tensor).map_err(|error| fail(error.to_string()))
        };
        let normal = of_floats(m, dtype, &transformed(kernels, a.call, normal, (&gamma, &beta), &channel)?)?;
        return Ok(Value::tuple(vec![normal, copy(m, 3)?, copy(m, 4)?]));
    }
    let others: Vec<usize> = (0..x.ndim()).filter(|axis| !channel.contains(axis)).collect();
    let (own_mean, _) = mean_of_others(&x, &others)?;
    let centered = combined(kernels, Arithmetic::Difference, x, &own_mean, &channel);
    let (own_variance, _) = mean_of_others(&(&centered * &centered), &others)?;
    let normal = combined(kernels, Arithmetic::Quotient, centered, &deviation(&own_variance), &channel);
    let normal = of_floats(m, dtype, &transformed(kernels, a.call, normal, (&gamma, &beta), &channel)?)?;
    let momentum = float_attr(a.call, "momentum")?;
    let moved = |m: &mut dyn Host, old: ArrayD<f64>, new: ArrayD<f64>| {
        let moved = old.iter().zip(new.iter()).map(|(old, new)| momentum * old + (1.0 - momentum) * new).collect();
        let moved = ArrayD::from_shape_vec(old.raw_dim(), moved).map_err(|error| fail(error.to_string()))?;
        of_floats(m, dtype, &moved)
    };
    Ok(Value::tuple(vec![normal, moved(m, old_mean, own_mean)?, moved(m, old_variance, own_variance)?]))
}
