//! `grad.max_pool2d_backward` and `grad.avg_pool2d_backward`.

use ndarray::{ArrayD, Dimension, IxDyn};

use super::{belongs, forward};
use crate::grammar::StructInfo;
use crate::judge::Cx;
use crate::ops::infer::{Domain, arity, bool_attr, tensor};
use crate::ops::kernel::array::{floats, of_floats, sizes};
use crate::ops::kernel::window::{OUT_LAYOUT, per_axis, windows};
use crate::ops::kernel::{self, beside};
use crate::ops::tensor::pooling::{Cell, infer_pool, layouts};
use crate::ops::{Attr, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Stop, Value, count};

macro_rules! pool_backward {
    ($name:literal, $rules:tt, $share:expr) => {
        operator!(
            $name,
            $rules,
            [
                OpParam::Arg("output_grad"),
                OpParam::Arg("data"),
                OpParam::Attr(Attr::ints("pool_size", &[1, 1])),
                OpParam::Attr(Attr::ints("strides", &[1, 1])),
                OpParam::Attr(Attr::ints("padding", &[0, 0, 0, 0])),
                OpParam::Attr(Attr::ints("dilation", &[1, 1])),
                OpParam::Attr(Attr::bool("ceil_mode", false)),
                OpParam::Attr(Attr::bool("count_include_pad", false)),
                OpParam::Attr(Attr::str("layout", &[], "NCHW")),
                OUT_LAYOUT
            ],
            infer_pool_backward,
            Accumulated,
            |m, a| pool_backward(m, a, $share)
        )
    };
}

pub(in crate::ops) const OPS: &[OpDef] = &[
    pool_backward!(
        "grad.max_pool2d_backward",
        [
            rule!("OPS.grad.max_pool2d_backward.infer"),
            rule!("OPS.grad.max_pool2d_backward.value"),
            rule!("OPS.grad.max_pool2d_backward.attrs")
        ],
        to_largest
    ),
    pool_backward!(
        "grad.avg_pool2d_backward",
        [
            rule!("OPS.grad.avg_pool2d_backward.infer"),
            rule!("OPS.grad.avg_pool2d_backward.value"),
            rule!("OPS.grad.avg_pool2d_backward.attrs")
        ],
        to_all
    ),
];

fn infer_pool_backward(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    let (gradient, data) = (tensor(a, 0)?, tensor(a, 1)?);
    let pooled = infer_pool::<2>(&forward(a), Domain::Floats)?;
    Domain::Floats.demand(gradient.dtype)?;
    belongs(cx, gradient, &pooled)?;
    Ok(StructInfo::Tensor(data.clone()))
}

/// Distributes the gradient of a window over its elements, given the elements and the number of positions that count.
type Share = fn(&[f64], usize) -> Result<Vec<f64>, Stop>;

/// The first maximal element gets all of it.
fn to_largest(found: &[f64], _: usize) -> Result<Vec<f64>, Stop> {
    let beaten = |best: f64, x: f64| x > best || (x.is_nan() && !best.is_nan());
    let best = found.iter().enumerate().fold(None, |best: Option<(usize, f64)>, (i, x)| match best {
        Some((_, largest)) if !beaten(largest, *x) => best,
        Some(_) | None => Some((i, *x)),
    });
    let (best, _) = best.ok_or_else(|| Stop::unspecified("a window lies in the padding alone"))?;
    Ok((0..found.len()).map(|i| if i == best { 1.0 } else { 0.0 }).collect())
}

/// All elements get the same share.
fn to_all(found: &[f64], places: usize) -> Result<Vec<f64>, Stop> {
    match places {
        0 => Err(Stop::unspecified("a window lies in the padding alone")),
        places => Ok(vec![1.0 / places as f64; found.len()]),
    }
}

fn pool_backward(m: &mut dyn Host, a: &EvalArgs<'_>, share: Share) -> Result<Value, Stop> {
    let (gradient, x) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?);
    let (layout, out) = layouts::<2>(a.call)?;
    let windows = windows(a.call, 2)?;
    let pool_size = per_axis(a.call, "pool_size", 2, 1)?;
    m.spend((gradient.len() as u64).saturating_mul(count(&pool_size)))?;
    let both = (gradient.len() as u64).saturating_add((x.len() as u64).saturating_mul(2));
    let _held = beside(m, both.saturating_add(count(&pool_size).saturating_mul(2)))?;
    let data = layout.unpacked(floats(x)?)?;
    let gradient = out.unpacked(floats(gradient)?)?;
    let counted = bool_attr(a.call, "count_include_pad")?;
    let elements = ndarray::indices(sizes(&pool_size)?);
    let mut result = ArrayD::zeros(data.raw_dim());
    for (index, of_result) in gradient.indexed_iter() {
        let cells: Vec<Cell> = elements
            .clone()
            .into_iter()
            .map(|element| Cell::of(data.shape(), &windows, index.slice(), element.slice()))
            .collect();
        let padded = cells.iter().filter(|cell| cell.padded).count();
        let inside: Vec<Vec<usize>> = cells.into_iter().filter_map(|cell| cell.index).collect();
        let found: Vec<f64> = inside.iter().filter_map(|index| data.get(IxDyn(index))).copied().collect();
        let shares = share(&found, if counted { padded } else { found.len() })?;
        for (index, share) in inside.iter().zip(shares) {
            if let Some(slot) = result.get_mut(IxDyn(index)) {
                *slot += of_result * share;
            }
        }
    }
    of_floats(m, x.dtype(), &layout.packed(result)?)
}
