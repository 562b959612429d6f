//! Pooling: the maximum or the mean of a window, and means over a given number of regions.

use ndarray::{ArrayD, Dimension, IxDyn};

use crate::grammar::{BinaryOp, Call, PrimExpr, StructInfo};
use crate::judge::Cx;
use crate::ops::infer::{Domain, TensorDims, arity, bool_attr, constant, dim, held_by_all, ints_attr, of_held, tensor};
use crate::ops::kernel::array::{of_scalars, sizes};
use crate::ops::kernel::elementwise::number;
use crate::ops::kernel::reals::{RealOp, max_float, no_ring};
use crate::ops::kernel::window::{OUT_LAYOUT, Packed, Window, data_axes, inside, per_axis, windows};
use crate::ops::kernel::{self, fail, zero};
use crate::ops::tensor::convolution::{of_rank, ranked};
use crate::ops::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Kernels, Scalar, Stop, Value, count};

macro_rules! pool {
    ($name:literal, $rules:tt, $spatial:literal, $ones:expr, $zeros:expr, $include:literal, $layout:literal, $domain:ident, $f:expr) => {
        operator!(
            $name,
            $rules,
            [
                OpParam::Arg("data"),
                OpParam::Attr(Attr::ints("pool_size", $ones)),
                OpParam::Attr(Attr::ints("strides", $ones)),
                OpParam::Attr(Attr::ints("padding", $zeros)),
                OpParam::Attr(Attr::ints("dilation", $ones)),
                OpParam::Attr(Attr::bool("ceil_mode", false)),
                OpParam::Attr(Attr::bool("count_include_pad", $include)),
                OpParam::Attr(Attr::str("layout", &[], $layout)),
                OUT_LAYOUT
            ],
            |_, a| infer_pool::<$spatial>(a, Domain::$domain),
            Accumulated,
            |m, a| pool::<$spatial>(m, a, $f)
        )
    };
}

macro_rules! adaptive {
    ($name:literal, $rules:tt, $spatial:literal, $layout:literal) => {
        operator!(
            $name,
            $rules,
            [
                OpParam::Arg("data"),
                OpParam::Attr(Attr::optional("output_size", AttrKind::Ints)),
                OpParam::Attr(Attr::str("layout", &[], $layout)),
                OUT_LAYOUT
            ],
            infer_adaptive::<$spatial>,
            Accumulated,
            adaptive_mean::<$spatial>
        )
    };
}

pub(in crate::ops) const OPS: &[OpDef] = &[
    pool!(
        "nn.max_pool1d",
        [rule!("OPS.nn.max_pool1d.infer"), rule!("OPS.nn.max_pool1d.value"), rule!("OPS.nn.max_pool1d.attrs")],
        1,
        &[1],
        &[0, 0],
        false,
        "NCW",
        Numbers,
        max
    ),
    pool!(
        "nn.max_pool2d",
        [rule!("OPS.nn.max_pool2d.infer"), rule!("OPS.nn.max_pool2d.value"), rule!("OPS.nn.max_pool2d.attrs")],
        2,
        &[1, 1],
        &[0, 0, 0, 0],
        false,
        "NCHW",
        Numbers,
        max
    ),
    pool!(
        "nn.max_pool3d",
        [rule!("OPS.nn.max_pool3d.infer"), rule!("OPS.nn.max_pool3d.value"), rule!("OPS.nn.max_pool3d.attrs")],
        3,
        &[1, 1, 1],
        &[0, 0, 0, 0, 0, 0],
        false,
        "NCDHW",
        Numbers,
        max
    ),
    pool!(
        "nn.avg_pool1d",
        [rule!("OPS.nn.avg_pool1d.infer"), rule!("OPS.nn.avg_pool1d.value"), rule!("OPS.nn.avg_pool1d.attrs")],
        1,
        &[1],
        &[0, 0],
        true,
        "NCW",
        Floats,
        mean
    ),
    pool!(
        "nn.avg_pool2d",
        [rule!("OPS.nn.avg_pool2d.infer"), rule!("OPS.nn.avg_pool2d.value"), rule!("OPS.nn.avg_pool2d.attrs")],
        2,
        &[1, 1],
        &[0, 0, 0, 0],
        false,
        "NCHW",
        Floats,
        mean
    ),
    pool!(
        "nn.avg_pool3d",
        [rule!("OPS.nn.avg_pool3d.infer"), rule!("OPS.nn.avg_pool3d.value"), rule!("OPS.nn.avg_pool3d.attrs")],
        3,
        &[1, 1, 1],
        &[0, 0, 0, 0, 0, 0],
        true,
        "NCDHW",
        Floats,
        mean
    ),
    adaptive!(
        "nn.adaptive_avg_pool1d",
        [
            rule!("OPS.nn.adaptive_avg_pool1d.infer"),
            rule!("OPS.nn.adaptive_avg_pool1d.value"),
            rule!("OPS.nn.adaptive_avg_pool1d.attrs")
        ],
        1,
        "NCW"
    ),
    adaptive!(
        "nn.adaptive_avg_pool2d",
        [
            rule!("OPS.nn.adaptive_avg_pool2d.infer"),
            rule!("OPS.nn.adaptive_avg_pool2d.value"),
            rule!("OPS.nn.adaptive_avg_pool2d.attrs")
        ],
        2,
        "NCHW"
    ),
    adaptive!(
        "nn.adaptive_avg_pool3d",
        [
            rule!("OPS.nn.adaptive_avg_pool3d.infer"),
            rule!("OPS.nn.adaptive_avg_pool3d.value"),
            rule!("OPS.nn.adaptive_avg_pool3d.attrs")
        ],
        3,
        "NCDHW"
    ),
];

pub(in crate::ops) fn layouts<const N: usize>(call: &Call) -> Result<(Packed, Packed), InferError> {
    let layout = Packed::read(call, "layout", data_axes(N), &Packed::canonical(N + 2))?;
    let out = Packed::read(call, "out_layout", data_axes(N), &layout)?;
    Ok((layout, out))
}

// Windows of a fixed size.

pub(in crate::ops) fn infer_pool<const N: usize>(a: &InferArgs<'_>, domain: Domain) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let data = tensor(a, 0)?;
    domain.demand(data.dtype)?;
    let (layout, out) = layouts::<N>(a.call)?;
    of_rank(data, layout.rank())?;
    let windows = windows(a.call, N)?;
    let pool_size = per_axis(a.call, "pool_size", N, 1)?;
    let TensorDims::Known(dims) = TensorDims::of(data) else {
        return Ok(TensorDims::of_rank(out.rank()).tensor(data.dtype));
    };
    let pooled = pooled(a.call, &layout.whole(&dims)?, &windows, &pool_size)?;
    Ok(TensorDims::from(out.divided(&pooled)?).tensor(data.dtype))
}

fn pooled(call: &Call, dims: &[PrimExpr], windows: &[Window], pool_size: &[i64]) -> Result<Vec<PrimExpr>, InferError> {
    let ceil = bool_attr(call, "ceil_mode")?;
    let (outer, spatial) = dims.split_at(2.min(dims.len()));
    let sizes = spatial.iter().zip(windows).zip(pool_size).map(|((input, window), size)| {
        if ceil { rounded_up(window, input, *size) } else { window.places(input.clone(), constant(*size)) }
    });
    Ok(outer.iter().cloned().chain(sizes).collect())
}

/// With `ceil_mode` a last window that does not fit counts if it starts in the data or in the padding before it.
fn rounded_up(window: &Window, input: &PrimExpr, size: i64) -> PrimExpr {
    let up = |room: PrimExpr| {
        let room = dim(BinaryOp::Add, room, constant(window.stride - 1));
        if window.stride == 1 { room } else { dim(BinaryOp::FloorDiv, room, constant(window.stride)) }
    };
    let fitting = dim(BinaryOp::Add, up(window.room(input.clone(), constant(size))), constant(1));
    let beginning = up(dim(BinaryOp::Add, input.clone(), constant(window.before)));
    match (&fitting, &beginning) {
        (PrimExpr::IntImm(a), PrimExpr::IntImm(b)) => constant(*a.min(b)),
        // If the extent of the window is at least the padding after the data plus the stride, such a window always
        // starts inside.
        (_, _) if (size - 1).saturating_mul(window.dilation) >= window.after.saturating_add(window.stride) => fitting,
        (_, _) => dim(BinaryOp::Min, fitting, beginning),
    }
}

/// Reduces a window: its elements, and the number of its positions in the padded data.
type OfWindow = fn(&[Scalar], usize) -> Result<Scalar, Stop>;

fn pool<const N: usize>(m: &mut dyn Host, a: &EvalArgs<'_>, f: OfWindow) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let (layout, out) = layouts::<N>(a.call)?;
    let windows = windows(a.call, N)?;
    let pool_size = per_axis(a.call, "pool_size", N, 1)?;
    let shape = out.whole_sizes(&kernel::out(a)?.shape);
    let _held = kernel::beside(m, count(&shape).saturating_add(x.len() as u64))?;
    m.spend(count(&shape).saturating_mul(count(&pool_size)))?;
    let data = ranked(x, &layout)?;
    let counted = bool_attr(a.call, "count_include_pad")?;
    let mut result = ArrayD::from_elem(IxDyn(&sizes(&shape)?), zero(x.dtype()));
    let (pool_size, of_window) =
        (sizes(&pool_size)?, |found: &[Scalar], padded| f(found, if counted { padded } else { found.len() }));
    match m.kernels() {
        Kernels::Plain => element_by_element(&mut result, &data, &windows, &pool_size, of_window)?,
        // Of several windows that fail, the definition tells of the first.
        Kernels::Fast | Kernels::Native(_) => place_by_place(&mut result, &data, &windows, &pool_size, of_window)
            .or_else(|_| element_by_element(&mut result, &data, &windows, &pool_size, of_window))?,
    }
    of_scalars(m, x.dtype(), &out.packed(result)?)
}

/// Reduces the window of each element of the result. `f` gets the elements of the window, and the number of its
/// positions in the padded data.
fn element_by_element(
    result: &mut ArrayD<Scalar>,
    data: &ArrayD<Scalar>,
    windows: &[Window],
    pool_size: &[usize],
    f: impl Fn(&[Scalar], usize) -> Result<Scalar, Stop>,
) -> Result<(), Stop> {
    let elements = ndarray::indices(pool_size);
    for (index, slot) in result.indexed_iter_mut() {
        let index = index.slice();
        let (mut found, mut places) = (Vec::new(), 0);
        for element in elements.clone() {
            let place = Cell::of(data.shape(), windows, index, element.slice());
            found.extend(place.element(data));
            places += usize::from(place.padded);
        }
        *slot = f(&found, places)?;
    }
    Ok(())
}

/// The same, with the positions under a window determined once for all channels.
fn place_by_place(
    result: &mut ArrayD<Scalar>,
    data: &ArrayD<Scalar>,
    windows: &[Window],
    pool_size: &[usize],
    f: impl Fn(&[Scalar], usize) -> Result<Scalar, Stop>,
) -> Result<(), Stop> {
    // There may be many places without a channel.
    if result.is_empty() {
        return Ok(());
    }
    let (sizes, out_sizes) = (data.shape().to_vec(), result.shape().to_vec());
    let spatial = |sizes: &[usize]| sizes.iter().skip(2).copied().collect::<Vec<usize>>();
    let (per_line, per_line_out): (usize, usize) =
        (spatial(&sizes).iter().product(), spatial(&out_sizes).iter().product());
    let data = data.as_standard_layout();
    let (Some(data), Some(result)) = (data.as_slice(), result.as_slice_mut()) else {
        return Err(fail("a window lies outside its tensor"));
    };
    let mut found = Vec::new();
    for (number, place) in ndarray::indices(spatial(&out_sizes)).into_iter().enumerate() {
        let index: Vec<usize> = [0, 0].iter().chain(place.slice()).copied().collect();
        let cells = ndarray::indices(pool_size).into_iter().map(|e| Cell::of(&sizes, windows, &index, e.slice()));
        let cells: Vec<Cell> = cells.collect();
        let padded = cells.iter().filter(|cell| cell.padded).count();
        let flat = |index: &Vec<usize>| index.iter().zip(&sizes).fold(0, |flat, (i, size)| flat * size + i);
        let under: Vec<usize> = cells.iter().filter_map(|cell| cell.index.as_ref().map(flat)).collect();
        for (line, slot) in result.iter_mut().skip(number).step_by(per_line_out.max(1)).enumerate() {
            found.clear();
            found.extend(under.iter().filter_map(|place| data.get(line * per_line + place)).copied());
            *slot = f(&found, padded)?;
        }
    }
    Ok(())
}

/// The position of an element of a window.
pub(in crate::ops) struct Cell {
    /// Its index in the data; `None` if it is in the padding or beyond.
    pub(in crate::ops) index: Option<Vec<usize>>,
    /// Whether it is in the data or its padding.
    pub(in crate::ops) padded: bool,
}

impl Cell {
    pub(in crate::ops) fn of(sizes: &[usize], windows: &[Window], out: &[usize], element: &[usize]) -> Cell {
        let (outer, spatial) = out.split_at(2.min(out.len()));
        let mut index = Some(outer.to_vec());
        let mut padded = true;
        let sizes = sizes.iter().skip(2);
        for (((window, size), out), element) in windows.iter().zip(sizes).zip(spatial).zip(element) {
            let place = window.place(*out, *element);
            padded &= place < (*size as i64).saturating_add(window.after);
            index = index.zip(inside(place, *size)).map(|(mut index, place)| {
                index.push(place);
                index
            });
        }
        Cell { index, padded }
    }

    fn element(&self, data: &ArrayD<Scalar>) -> Option<Scalar> {
        self.index.as_ref().and_then(|index| data.get(IxDyn(index))).copied()
    }
}

/// The maximum. The padding is ignored.
fn max(found: &[Scalar], _: usize) -> Result<Scalar, Stop> {
    match found {
        [] => Err(Stop::unspecified("a window lies in the padding alone")),
        [first, rest @ ..] => rest.iter().try_fold(*first, |a, b| match (a, *b) {
            (Scalar::Float(a), Scalar::Float(b)) => Ok(Scalar::Float(max_float(a, b))),
            (a @ Scalar::Ring(_), b) => number(a, b, i64::max, u64::max, RealOp::Larger),
            (Scalar::Int(a), Scalar::Int(b)) => Ok(Scalar::Int(a.max(b))),
            (Scalar::UInt(a), Scalar::UInt(b)) => Ok(Scalar::UInt(a.max(b))),
            (Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_), _) => {
                Err(fail("pooling is not defined on this data type"))
            }
        }),
    }
}

/// The sum divided by the number of positions that count.
fn mean(found: &[Scalar], places: usize) -> Result<Scalar, Stop> {
    if found.is_empty() && places == 0 {
        return Err(Stop::unspecified("a window lies in the padding alone"));
    }
    let mut sum = 0.0;
    for element in found {
        match element {
            Scalar::Float(x) => sum += x,
            Scalar::Ring(_) => return Err(no_ring()),
            Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) => {
                return Err(fail("the mean is defined on floating-point data types"));
            }
        }
    }
    Ok(Scalar::Float(sum / places.max(1) as f64))
}

// A given number of regions.

/// The sizes of the result. The default is the size of the data.
fn output_size<const N: usize>(call: &Call) -> Result<Option<Vec<i64>>, InferError> {
    match ints_attr(call, "output_size")? {
        Some(_) => per_axis(call, "output_size", N, 0).map(Some),
        None => Ok(None),
    }
}

fn infer_adaptive<const N: usize>(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let data = tensor(a, 0)?;
    Domain::Floats.demand(data.dtype)?;
    let (layout, out) = layouts::<N>(a.call)?;
    of_rank(data, layout.rank())?;
    let size = output_size::<N>(a.call)?;
    let TensorDims::Known(dims) = TensorDims::of(data) else {
        // With the same size and layout it has the same shape.
        let held = held_by_all([data]).filter(|_| size.is_none() && out == layout);
        return Ok(of_held(held, TensorDims::of_rank(out.rank()), data.dtype));
    };
    let mut dims = layout.whole(&dims)?;
    if let Some(size) = size {
        dims.truncate(2);
        dims.extend(size.into_iter().map(constant));
    }
    Ok(TensorDims::from(out.divided(&dims)?).tensor(data.dtype))
}

/// Region `i` of `n` extends from `floor(i * size / n)` to `ceil((i + 1) * size / n)`.
fn region(i: usize, n: usize, size: usize) -> std::ops::Range<usize> {
    let n = n.max(1);
    (i * size / n)..((i + 1) * size).div_ceil(n)
}

fn adaptive_mean<const N: usize>(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let (layout, out) = layouts::<N>(a.call)?;
    let shape = out.whole_sizes(&kernel::out(a)?.shape);
    let spatial = shape.iter().copied().zip(layout.whole_sizes(x.shape())).skip(2);
    // Along an axis a region has at most its share of elements plus two partial ones.
    let largest = spatial.map(|(regions, size)| size.min(size.checked_div(regions).unwrap_or(0).saturating_add(2)));
    let _held = kernel::beside(m, count(&shape).saturating_add(x.len() as u64))?;
    m.spend(count(&shape).saturating_mul(count(&largest.collect::<Vec<i64>>())))?;
    let (data, shape) = (ranked(x, &layout)?, sizes(&shape)?);
    let mut result = ArrayD::from_elem(IxDyn(&shape), zero(x.dtype()));
    for (index, slot) in result.indexed_iter_mut() {
        let index = index.slice();
        let spatial = index.iter().zip(&shape).zip(data.shape()).skip(2);
        let regions: Vec<_> = spatial.map(|((i, n), size)| region(*i, *n, *size)).collect();
        let lengths: Vec<usize> = regions.iter().map(|region| region.len()).collect();
        let found: Vec<Scalar> = ndarray::indices(lengths)
            .into_iter()
            .filter_map(|offset| {
                let starts = index.iter().take(2).copied();
                let offset = offset.slice().to_vec();
                let inner = regions.iter().zip(offset).map(|(region, offset)| region.start + offset);
                data.get(IxDyn(&starts.chain(inner).collect::<Vec<_>>())).copied()
            })
            .collect();
        *slot = mean(&found, found.len())?;
    }
    of_scalars(m, x.dtype(), &out.packed(result)?)
}
