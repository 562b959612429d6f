//! The values of dimensions during a run.

use super::machine::Machine;
use crate::grammar::{PrimExpr, ShapeVar};
use crate::judge::RuntimeError;
use crate::shape;
use crate::value::Stop;

impl Machine<'_> {
    /// SI.DIM.EVAL: the value of a dimension under the current values of the shape variables.
    pub fn eval_dim(&mut self, e: &PrimExpr) -> Result<i64, Stop> {
        let activation = &self.activation;
        let lookup = |v: &ShapeVar| activation.shape_var(v);
        shape::evaluate(self.cx, e, &lookup).map_err(dim_error)
    }

    /// SI.DIM.SHAPEEXPR-ERR: the value of a dimension of a `ShapeExpr`; it must not be negative.
    pub(super) fn eval_shape_dim(&mut self, e: &PrimExpr) -> Result<i64, Stop> {
        let activation = &self.activation;
        let lookup = |v: &ShapeVar| activation.shape_var(v);
        shape::evaluate::dimension(self.cx, e, &lookup).map_err(dim_error)
    }
}

/// Static checks exclude variables without a value (`SI.DIM.UNBOUND-ERR` is never a run-time error), so the text does
/// not define this case.
fn dim_error(error: RuntimeError) -> Stop {
    if error.rule == rule!("SI.DIM.UNBOUND-ERR") { Stop::Unspecified(error.to_string()) } else { Stop::Error(error) }
}
