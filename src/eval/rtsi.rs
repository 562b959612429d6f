//! Run-time structural information of closures (`VAL.CLOSURE.RTSI`).

use std::sync::Arc;

use super::machine::Machine;
use crate::grammar::{FuncStructInfo, Function, PrimExpr, Replacement, ShapeVar, StructInfo, TensorShape, Var};
use crate::judge::{Compatibility, Cx};
use crate::struct_info::check_compatibility;
use crate::value::{Closure, Value};

/// Whether information of a closure implies the target (A19). A cast is a definitive check: nothing examines the
/// function again after it.
pub(super) fn verified(cx: &mut Cx, rtsi: &StructInfo, target: &StructInfo) -> bool {
    match check_compatibility(cx, rtsi, target) {
        Compatibility::Compatible => true,
        Compatibility::Possibly | Compatibility::Incompatible => false,
    }
}

impl Machine<'_> {
    /// VAL.CLOSURE.RTSI: the information in the closure's signature, with captured variables replaced by their values.
    /// `None` for a closure from outside, since nothing is known about it.
    ///
    /// Without a return annotation the result has the information that was derived for it, if any.
    pub(super) fn run_time_struct_info(&mut self, closure: &Closure) -> Option<StructInfo> {
        let func = closure.func.as_ref()?;
        let object = || StructInfo::Object;
        let with_purity = self.purity_counts();
        let signature = StructInfo::Func(Arc::new(FuncStructInfo {
            params: Some(func.params.iter().map(|param| param.annotation.clone().unwrap_or_else(object)).collect()),
            ret: func.ret_struct_info.clone().or_else(|| closure.result.clone()).unwrap_or_else(object),
            derive_func: None,
            pure: with_purity.then(|| func.pure.unwrap_or(true)),
        }));
        let sizes = |v: &ShapeVar| closure.captured_shape_vars.get(v).copied();
        let shapes = |v: &Var| closure.captured.get(v).and_then(Value::as_shape).map(|dims| dims.to_vec());
        let known = Some(signature.replaced(&RuntimeSubstitution { sizes: &sizes, shapes: &shapes, with_purity }));
        self.cx.conclude(rule!("VAL.CLOSURE.RTSI"), known)
    }

    /// The information derived for the result of a definition without return annotation, under the current sizes.
    pub(super) fn inferred_result(&self, func: &Arc<Function>) -> Option<StructInfo> {
        let inferred = self.options.results.as_ref().filter(|_| func.ret_struct_info.is_none())?;
        inferred.get(&(Arc::as_ptr(func) as usize)).map(|info| self.close_over(info))
    }

    /// Replaces the variables of the current scope in the information by their values.
    pub(super) fn close_over(&self, s: &StructInfo) -> StructInfo {
        let sizes = |v: &ShapeVar| self.activation.shape_var(v);
        let shapes = |v: &Var| self.activation.var(v).and_then(|value| value.as_shape().map(|dims| dims.to_vec()));
        s.replaced(&RuntimeSubstitution { sizes: &sizes, shapes: &shapes, with_purity: self.purity_counts() })
    }

    /// Whether the declared purity of a function is part of its run-time information, as in later editions.
    fn purity_counts(&self) -> bool {
        self.cx.has(rule!("PURITY.FIELD"))
    }
}

/// Run-time values for shape variables, and for variables used as shapes.
struct RuntimeSubstitution<'s> {
    sizes: &'s dyn Fn(&ShapeVar) -> Option<i64>,
    shapes: &'s dyn Fn(&Var) -> Option<Vec<i64>>,
    with_purity: bool,
}

impl Replacement for RuntimeSubstitution<'_> {
    fn dim(&self, dim: &PrimExpr) -> PrimExpr {
        dim.with_vars(&|v| (self.sizes)(v).map_or_else(|| PrimExpr::Var(v.clone()), PrimExpr::IntImm))
    }

    fn shape(&self, shape: &TensorShape) -> TensorShape {
        match shape {
            TensorShape::Var(v) | TensorShape::DataflowVar(v) => match (self.shapes)(v) {
                Some(sizes) => TensorShape::Dims(sizes.into_iter().map(PrimExpr::IntImm).collect()),
                None => shape.clone(),
            },
            TensorShape::Dims(_) | TensorShape::Other(_) => shape.clone(),
        }
    }

    /// In the first edition a closure has information about its parameters and its result only, so no purity can
    /// contradict it.
    fn purity(&self, pure: Option<bool>) -> Option<bool> {
        pure.filter(|_| self.with_purity)
    }
}
