//! What the annotations of a function literal say of it as a value.

use std::sync::Arc;

use super::{FuncStructInfo, Function, Ndim, StructInfo, TensorShape, TensorStructInfo, Var};
use crate::judge::with_stack;

impl Function {
    /// The structural information that the function's own annotations give a variable bound to it: `Object` where
    /// one is missing (A38).
    ///
    /// A shape that a parameter stands for is left out, because outside the function it is not in scope.
    pub fn signature(&self) -> StructInfo {
        let of = |info: Option<&StructInfo>| info.map_or(StructInfo::Object, |info| without_params(info, self));
        let params = self.params.iter().map(|param| of(param.annotation.as_ref())).collect();
        let ret = of(self.ret_struct_info.as_ref());
        StructInfo::Func(Arc::new(FuncStructInfo { params: Some(params), ret, derive_func: None, pure: self.pure }))
    }
}

fn without_params(info: &StructInfo, function: &Function) -> StructInfo {
    with_stack(|| match info {
        StructInfo::Tensor(tensor) => {
            let own = match &tensor.shape {
                Some(TensorShape::Var(var) | TensorShape::DataflowVar(var)) => {
                    function.params.iter().any(|param| param.var == *var)
                }
                None | Some(TensorShape::Dims(_) | TensorShape::Other(_)) => false,
            };
            let shape = if own { None } else { tensor.shape.clone() };
            let ranked = info.ranked(&|var| rank_of_param(var, function));
            let ndim = if let StructInfo::Tensor(ranked) = &*ranked { ranked.ndim } else { tensor.ndim };
            StructInfo::Tensor(TensorStructInfo { shape, dtype: tensor.dtype, ndim })
        }
        StructInfo::Tuple(fields) => {
            StructInfo::Tuple(fields.iter().map(|field| without_params(field, function)).collect())
        }
        StructInfo::Func(func) => StructInfo::Func(Arc::new(FuncStructInfo {
            params: func
                .params
                .as_ref()
                .map(|params| params.iter().map(|param| without_params(param, function)).collect()),
            ret: without_params(&func.ret, function),
            derive_func: func.derive_func.clone(),
            pure: func.pure,
        })),
        StructInfo::Object | StructInfo::Shape(_) | StructInfo::Prim(_) => info.clone(),
    })
}

fn rank_of_param(var: &Var, function: &Function) -> Ndim {
    let param = function.params.iter().find(|param| param.var == *var);
    param.and_then(|param| param.annotation.as_ref()).map_or(Ndim::Unknown, StructInfo::rank_of_shape)
}
