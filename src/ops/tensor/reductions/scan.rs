//! Sums and products of all elements up to each position: `cumsum`, `cumprod`.

use crate::book::Erratum;
use crate::grammar::{Call, DataType, StructInfo};
use crate::judge::Cx;
use crate::ops::infer::{
    Domain, TensorDims, arity, axis, bool_attr, dtype_attr, int_attr, product, tensor, with_dtype,
};
use crate::ops::kernel::{self, at, convert, fresh, tabulate};
use crate::ops::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Scalar, Stop, Value};

macro_rules! scan {
    ($name:literal, $rules:tt, $one:literal, $int:expr, $uint:expr, $float:expr) => {
        operator!(
            $name,
            $rules,
            [
                OpParam::Arg("data"),
                OpParam::Attr(Attr::optional("axis", AttrKind::Int)),
                OpParam::Attr(Attr::optional("dtype", AttrKind::DataType)),
                OpParam::Attr(Attr::bool("exclusive", false)),
            ],
            infer_scan,
            Accumulated,
            |m, a| scan(m, a, $one, |x, y| crate::ops::kernel::elementwise::number(x, y, $int, $uint, $float)),
        )
    };
}

pub(in crate::ops) const OPS: &[OpDef] = &[
    scan!(
        "cumsum",
        [rule!("OPS.cumsum.infer"), rule!("OPS.cumsum.value"), rule!("OPS.cumsum.attrs")],
        0,
        i64::wrapping_add,
        u64::wrapping_add,
        |x, y| x + y
    ),
    scan!(
        "cumprod",
        [rule!("OPS.cumprod.infer"), rule!("OPS.cumprod.value"), rule!("OPS.cumprod.attrs")],
        1,
        i64::wrapping_mul,
        u64::wrapping_mul,
        |x, y| x * y
    ),
];

fn dtype_of(call: &Call, own: DataType) -> Result<DataType, InferError> {
    Ok(dtype_attr(call, "dtype")?.filter(|dtype| !dtype.is_void()).unwrap_or(own))
}

/// Without an axis the tensor is flattened.
fn infer_scan(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let x = tensor(a, 0)?;
    let dtype = dtype_of(a.call, x.dtype)?;
    Domain::Numbers.demand(dtype)?;
    match (int_attr(a.call, "axis")?, TensorDims::of(x)) {
        (Some(given), dims) => {
            dims.rank().map(|rank| axis(given, rank)).transpose()?;
            Ok(with_dtype(x, dtype))
        }
        (None, TensorDims::Known(dims)) => Ok(TensorDims::from(vec![product(dims.iter())]).tensor(dtype)),
        (None, TensorDims::Rank(_) | TensorDims::Unknown) => Ok(TensorDims::of_rank(1).tensor(dtype)),
    }
}

fn scan(
    m: &mut dyn Host,
    a: &EvalArgs<'_>,
    neutral: i64,
    f: impl Fn(Scalar, Scalar) -> Result<Scalar, Stop>,
) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let kernel::Out { dtype, shape } = kernel::out(a)?;
    let exclusive = bool_attr(a.call, "exclusive")?;
    // Literal A67: the first element is omitted.
    let without_first = exclusive && m.cx().literal(Erratum::A67);
    let along = int_attr(a.call, "axis")?.map_or(Ok(0), |given| axis(given, shape.len()))?;
    let _held = kernel::beside(m, (x.len() as u64).saturating_mul(4))?;
    m.spend(x.len() as u64)?;
    let source = kernel::in_shape(m, x, &shape)?;
    let neutral = convert(Scalar::Int(neutral), dtype)?;
    let size = shape.get(along).copied().unwrap_or(0);
    // The partial result of each line is kept until the line is complete.
    let mut lines: std::collections::BTreeMap<Vec<i64>, Scalar> = Default::default();
    m.spend(x.len() as u64)?;
    fresh(tabulate(m, dtype, &shape, |index| {
        let line: Vec<i64> = index.iter().enumerate().map(|(a, i)| if a == along { size } else { *i }).collect();
        let before = lines.get(&line).copied().unwrap_or(neutral);
        let after = match without_first && index.get(along) == Some(&0) {
            true => before,
            false => convert(f(before, convert(at(&source, index)?, dtype)?)?, dtype)?,
        };
        lines.insert(line, after);
        Ok::<Scalar, Stop>(if exclusive && !without_first { before } else { after })
    })?)
}
