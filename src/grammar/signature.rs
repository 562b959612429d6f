//! The information that a function literal's annotations give about it as a value.

use std::sync::Arc;

use super::{AttrValue, FuncStructInfo, Function, Ranks, StructInfo, TensorShape, TensorStructInfo};
use crate::judge::with_stack;

impl Function {
    /// The attribute `force_pure` in either spelling. If both are present, the text's spelling counts.
    pub fn force_pure_attr(&self) -> Option<&AttrValue> {
        self.attrs.get("force_pure").or_else(|| self.attrs.get("relax.force_pure"))
    }

    /// Whether the function counts as pure, whatever it calls (PURE.FORCE).
    pub fn force_pure(&self) -> bool {
        self.force_pure_attr() == Some(&AttrValue::Bool(true))
    }

    /// The structural information that a function's annotations give to a variable bound to it. A missing annotation
    /// counts as `Object` (A38).
    ///
    /// A shape that is a parameter is omitted, since the parameter is not in scope outside the function.
    pub fn signature(&self) -> StructInfo {
        let ranks = self.ranks();
        let of = |info: Option<&StructInfo>| info.map_or(StructInfo::Object, |info| without_params(info, &ranks));
        let params = self.params.iter().map(|param| of(param.annotation.as_ref())).collect();
        let ret = of(self.ret_struct_info.as_ref());
        StructInfo::Func(Arc::new(FuncStructInfo { params: Some(params), ret, derive_func: None, pure: self.pure }))
    }
}

fn without_params(info: &StructInfo, params: &Ranks) -> StructInfo {
    with_stack(|| match info {
        StructInfo::Tensor(tensor) => {
            let own = match &tensor.shape {
                Some(TensorShape::Var(var) | TensorShape::DataflowVar(var)) => params.has(var),
                None | Some(TensorShape::Dims(_) | TensorShape::Other(_)) => false,
            };
            let shape = if own { None } else { tensor.shape.clone() };
            let ranked = params.in_info(info);
            let ndim = if let StructInfo::Tensor(ranked) = &*ranked { ranked.ndim } else { tensor.ndim };
            StructInfo::Tensor(TensorStructInfo { shape, ndim, ..tensor.clone() })
        }
        StructInfo::Tuple(fields) => {
            StructInfo::Tuple(fields.iter().map(|field| without_params(field, params)).collect())
        }
        StructInfo::Func(func) => StructInfo::Func(Arc::new(FuncStructInfo {
            params: func.params.as_ref().map(|taken| taken.iter().map(|param| without_params(param, params)).collect()),
            ret: without_params(&func.ret, params),
            derive_func: func.derive_func.clone(),
            pure: func.pure,
        })),
        StructInfo::Object | StructInfo::Shape(_) | StructInfo::Prim(_) => info.clone(),
    })
}
