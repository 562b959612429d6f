//! Windows of signals: `hamming_window`.

use crate::grammar::{PrimExpr, StructInfo};
use crate::judge::Cx;
use crate::ops::infer::{Domain, TensorDims, arity, boxed_int, prim, required_dtype};
use crate::ops::kernel::{self, fail, fresh, tabulate};
use crate::ops::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Element, Host, Prim, Scalar, Stop, Value};

pub(in crate::ops) const OPS: &[OpDef] = &[operator!(
    "hamming_window",
    [rule!("OPS.hamming_window.infer"), rule!("OPS.hamming_window.value"), rule!("OPS.hamming_window.attrs")],
    [
        OpParam::Arg("window_size"),
        OpParam::Arg("periodic"),
        OpParam::Arg("alpha"),
        OpParam::Arg("beta"),
        OpParam::Attr(Attr::required("dtype", AttrKind::DataType)),
    ],
    infer_hamming_window,
    Absolute,
    hamming_window
)];

fn infer_hamming_window(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<4>(a)?;
    let dtype = required_dtype(a.call, "dtype")?;
    Domain::Floats.demand(dtype)?;
    if let Some(PrimExpr::IntImm(..0 | 2..)) = prim(a, 1)? {
        return Err(InferError::op("whether a window is periodic is a Boolean"));
    }
    (2..4).try_for_each(|i| prim(a, i).map(|_| ()))?;
    match boxed_int(a, 0)? {
        Some(PrimExpr::IntImm(..=0)) => Err(InferError::op("a window has at least one place")),
        Some(size) => Ok(TensorDims::from(vec![size.clone()]).tensor(dtype)),
        None => Ok(TensorDims::of_rank(1).tensor(dtype)),
    }
}

fn boxed(a: &EvalArgs<'_>, i: usize) -> Result<f64, Stop> {
    match a.values.get(i) {
        Some(Value::Prim(Prim { value, .. })) => Ok(Element::from_scalar(*value)),
        Some(_) | None => Err(fail(format!("argument {i} must be a boxed scalar"))),
    }
}

/// `alpha - beta * cos(2 pi i / n)`, where n is the number of elements, or one less if the window is symmetric.
fn hamming_window(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (size, periodic, alpha, beta) = (kernel::int(a, 0)?, boxed(a, 1)? != 0.0, boxed(a, 2)?, boxed(a, 3)?);
    let steps = if periodic { size } else { size.saturating_sub(1) } as f64;
    fresh(tabulate(m, required_dtype(a.call, "dtype")?, &[size], |index| {
        let turn = index.first().copied().unwrap_or(0) as f64 / steps;
        let window = alpha - beta * libm::cos(std::f64::consts::TAU * turn);
        Ok(Scalar::Float(if size == 1 { 1.0 } else { window }))
    })?)
}
