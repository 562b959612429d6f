//! Shape matching as in the RFC (chapter RFC 0089: shapes): a `MatchCast` to sizes.

use super::machine::Machine;
use super::match_cast::lone;
use crate::grammar::{PrimExpr, ShapeVar, StructInfo, TensorShape};
use crate::value::{Stop, Value};

/// The pattern of a match of shapes: the sizes of a tensor, or of a shape.
fn pattern(info: &StructInfo) -> Option<&[PrimExpr]> {
    match info {
        StructInfo::Tensor(t) => match &t.shape {
            Some(TensorShape::Dims(dims)) => Some(dims),
            Some(TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_)) | None => None,
        },
        StructInfo::Shape(s) => s.values.as_deref(),
        StructInfo::Object | StructInfo::Prim(_) | StructInfo::Tuple(_) | StructInfo::Func(_) => None,
    }
}

impl Machine<'_> {
    /// Performs the match of a binding. R89.MATCHSHAPE.FAIL: sizes that differ from the pattern end the run.
    pub(super) fn match_pattern(&mut self, value: &Value, info: &StructInfo) -> Result<(), Stop> {
        let Some(pattern) = pattern(info) else { return self.match_value(value, info) };
        let mut new: Vec<ShapeVar> = pattern.iter().filter_map(lone).cloned().collect();
        let known = pattern.len() - new.len();
        new.retain(|var| self.activation.shape_var(var).is_none());
        let compared = known + pattern.iter().filter_map(lone).filter(|var| !new.contains(var)).count();
        match self.match_value(value, info) {
            Ok(()) => {
                self.sizes_bound(new, compared);
                Ok(())
            }
            error @ Err(Stop::Error(_)) => self.cx.conclude(rule!("R89.MATCHSHAPE.FAIL"), error),
            stop @ Err(Stop::OutOfFuel | Stop::Unspecified(_) | Stop::Unknown(_)) => stop,
        }
    }

    /// R89.MATCHSHAPE.FIRST: the match binds variables that were not bound. R89.MATCHSHAPE.MIXED: it may compare other
    /// sizes at the same time.
    fn sizes_bound(&mut self, new: Vec<ShapeVar>, compared: usize) {
        for var in new {
            let Some(size) = self.activation.shape_var(&var) else { continue };
            let mut bound = self.cx.conclude(rule!("R89.MATCHSHAPE.FIRST"), size);
            if compared > 0 {
                bound = self.cx.conclude(rule!("R89.MATCHSHAPE.MIXED"), bound);
            }
            if bound != size {
                self.activation.shape_vars.bind(var, bound);
            }
        }
    }

    /// R89.MATCHSHAPE.TENSOR, R89.MATCHSHAPE.SHAPE: the matched value is the result.
    pub(super) fn shape_matched(&mut self, value: Value, info: &StructInfo) -> Value {
        if pattern(info).is_none() {
            return value;
        }
        let is_tensor = value.as_tensor().is_some();
        let rule = if is_tensor { rule!("R89.MATCHSHAPE.TENSOR") } else { rule!("R89.MATCHSHAPE.SHAPE") };
        self.cx.conclude(rule, value)
    }
}
