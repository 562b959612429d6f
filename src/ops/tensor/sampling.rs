//! Random sampling whose randomness is an argument: `multinomial_from_uniform` and `nn.dropout`.

use crate::grammar::{DataType, PrimExpr, StructInfo};
use crate::judge::Cx;
use crate::ops::infer::{Domain, TensorDims, arity, differ, required_dtype, tensor};
use crate::ops::kernel::elementwise::float;
use crate::ops::kernel::{self, at, constant_one, convert, fail, held, tabulate, tabulate_out};
use crate::ops::tensor::indexing::gather::coordinate;
use crate::ops::{Attr, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Stop, Value};

pub(in crate::ops) const OPS: &[OpDef] = &[
    operator!(
        "multinomial_from_uniform",
        [
            rule!("OPS.multinomial_from_uniform.infer"),
            rule!("OPS.multinomial_from_uniform.value"),
            rule!("OPS.multinomial_from_uniform.attrs")
        ],
        [
            OpParam::Arg("prob"),
            OpParam::Arg("uniform_sample"),
            OpParam::Arg("sample_indices"),
            OpParam::Attr(Attr::dtype("dtype", DataType::INT64)),
        ],
        infer_multinomial,
        Exact,
        multinomial
    ),
    operator!(
        "nn.dropout",
        [rule!("OPS.nn.dropout.infer"), rule!("OPS.nn.dropout.value"), rule!("OPS.nn.dropout.attrs")],
        [OpParam::Arg("data"), OpParam::Attr(Attr::float("rate", 0.5))],
        infer_dropout,
        Exact,
        dropout
    ),
];

// multinomial_from_uniform

/// A matrix with one column. Returns the number of its rows if it is known.
fn column(cx: &mut Cx, a: &InferArgs<'_>, i: usize) -> Result<Option<PrimExpr>, InferError> {
    let Some([rows, columns]) = matrix(a, i)? else { return Ok(None) };
    if differ(cx, &columns, &PrimExpr::IntImm(1)) {
        return Err(InferError::op(format!("argument {i} must have one column, it has {columns}")));
    }
    Ok(Some(rows))
}

fn matrix(a: &InferArgs<'_>, i: usize) -> Result<Option<[PrimExpr; 2]>, InferError> {
    match TensorDims::of(tensor(a, i)?) {
        TensorDims::Known(dims) if dims.len() == 2 => Ok(<[PrimExpr; 2]>::try_from(dims.to_vec()).ok()),
        TensorDims::Rank(2) | TensorDims::Unknown => Ok(None),
        TensorDims::Known(_) | TensorDims::Rank(_) => Err(InferError::op(format!("argument {i} must be a matrix"))),
    }
}

fn infer_multinomial(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<3>(a)?;
    matrix(a, 0)?;
    Domain::Floats.demand(tensor(a, 0)?.dtype)?;
    Domain::Floats.demand(tensor(a, 1)?.dtype)?;
    Domain::Integers.demand(tensor(a, 2)?.dtype)?;
    let dtype = required_dtype(a.call, "dtype")?;
    Domain::Integers.demand(dtype)?;
    let (samples, rows) = (column(cx, a, 1)?, column(cx, a, 2)?);
    if let (Some(samples), Some(rows)) = (&samples, &rows)
        && differ(cx, samples, rows)
    {
        return Err(InferError::op(format!("{samples} samples are drawn by {rows} rows")));
    }
    match samples.or(rows) {
        Some(count) => Ok(TensorDims::from(vec![count, PrimExpr::IntImm(1)]).tensor(dtype)),
        None => Ok(TensorDims::of_rank(2).tensor(dtype)),
    }
}

/// The first class at which the cumulative probability of the row exceeds the sample.
fn multinomial(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (prob, samples, rows) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?, kernel::tensor(a, 2)?);
    let &[batch, classes] = prob.shape() else { return Err(fail("the probabilities must be a matrix")) };
    let dtype = required_dtype(a.call, "dtype")?;
    m.spend((rows.len() as u64).saturating_mul(classes.unsigned_abs()))?;
    tabulate_out(m, a, |index| {
        let (row, sample) = (coordinate(at(rows, index)?, batch)?, float(at(samples, index)?)?);
        let mut sum = 0.0;
        for class in 0..classes {
            let own = float(at(prob, &[row, class])?)?;
            if own.is_nan() || own < 0.0 {
                return Err(Stop::unspecified(format!("{own} is no probability")));
            }
            sum += own;
            if sample < sum {
                return held(class, dtype);
            }
        }
        match classes {
            0 => Err(fail("of no class there is no sample")),
            _ => held(classes - 1, dtype),
        }
    })
}

// nn.dropout

fn infer_dropout(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let data = StructInfo::Tensor(tensor(a, 0)?.clone());
    Ok(StructInfo::tuple([data.clone(), data]))
}

/// Nothing is dropped outside of training.
fn dropout(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let kept = tabulate(m, x.dtype(), x.shape(), |index| at(x, index))?;
    let one = convert(constant_one(kernel::zero(x.dtype())), x.dtype())?;
    let mask = tabulate(m, x.dtype(), x.shape(), |_| Ok(one))?;
    Ok(Value::tuple(vec![Value::Tensor(kept), Value::Tensor(mask)]))
}
