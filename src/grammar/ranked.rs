//! The rank of a tensor whose shape is a variable (E25).

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{FuncStructInfo, Function, Ndim, StructInfo, TensorShape, TensorStructInfo, Var};
use crate::judge::{Once, VisitedTuples, is_new, with_stack};

/// The parameters of a function that stand for shapes, with their ranks. Empty in the literal reading, where parameters
/// do not determine each other's ranks.
#[derive(Clone, Default, Debug)]
pub struct Ranks<'f>(FxHashMap<&'f Var, Ndim>);

impl Function {
    /// The ranks that the parameters give to each other and to the result.
    pub fn ranks(&self) -> Ranks<'_> {
        let rank = |info: Option<&StructInfo>| info.map_or(Ndim::Unknown, StructInfo::rank_of_shape);
        // If two have the same spelling, the first counts.
        Ranks(self.params.iter().rev().map(|param| (&param.var, rank(param.annotation.as_ref()))).collect())
    }
}

impl Function {
    /// Whether the signature leaves the rank of a tensor to the variable that is its shape.
    pub fn leaves_ranks_open(&self) -> bool {
        let params = self.params.iter().filter_map(|param| param.annotation.as_ref());
        let mut seen = VisitedTuples::default();
        params.chain(&self.ret_struct_info).any(|info| leaves_open(info, &mut seen))
    }
}

impl Ranks<'_> {
    /// Whether a variable is one of the parameters.
    pub fn has(&self, var: &Var) -> bool {
        self.0.contains_key(var)
    }

    /// Information in the signature, with the ranks that the parameters determine.
    pub fn in_info<'s>(&self, info: &'s StructInfo) -> Cow<'s, StructInfo> {
        info.ranked(&|var| self.0.get(var).copied().unwrap_or(Ndim::Unknown))
    }
}

impl StructInfo {
    /// Fills in unknown ranks of tensors from the known ranks of the variables that are their shapes.
    pub fn ranked(&self, rank_of: &dyn Fn(&Var) -> Ndim) -> Cow<'_, StructInfo> {
        if leaves_open(self, &mut VisitedTuples::default()) {
            Cow::Owned(ranked(self, rank_of, &Once::default()))
        } else {
            Cow::Borrowed(self)
        }
    }

    /// The rank of the shapes that this information describes.
    pub fn rank_of_shape(&self) -> Ndim {
        self.as_shape().map_or(Ndim::Unknown, |shape| shape.ndim)
    }
}

/// The variable that is a tensor's shape, if the tensor's rank is unknown.
fn open(tensor: &TensorStructInfo) -> Option<&Var> {
    match &tensor.shape {
        Some(TensorShape::Var(var) | TensorShape::DataflowVar(var)) if tensor.ndim.is_unknown() => Some(var),
        Some(TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Dims(_) | TensorShape::Other(_))
        | None => None,
    }
}

fn leaves_open(info: &StructInfo, seen: &mut VisitedTuples) -> bool {
    match info {
        StructInfo::Object | StructInfo::Shape(_) | StructInfo::Prim(_) => false,
        StructInfo::Tensor(tensor) => open(tensor).is_some(),
        StructInfo::Tuple(fields) => {
            is_new(fields, seen) && with_stack(|| fields.iter().any(|field| leaves_open(field, seen)))
        }
        StructInfo::Func(func) => {
            let mut parts = func.params.iter().flat_map(|params| params.iter()).chain([&func.ret]);
            with_stack(|| parts.any(|part| leaves_open(part, seen)))
        }
    }
}

fn ranked(info: &StructInfo, rank_of: &dyn Fn(&Var) -> Ndim, known: &Once<StructInfo, StructInfo>) -> StructInfo {
    with_stack(|| match info {
        StructInfo::Object | StructInfo::Shape(_) | StructInfo::Prim(_) => info.clone(),
        StructInfo::Tensor(tensor) => {
            let ndim = open(tensor).map_or(tensor.ndim, rank_of);
            StructInfo::Tensor(TensorStructInfo { ndim, ..tensor.clone() })
        }
        StructInfo::Tuple(fields) => {
            known.of(fields, || StructInfo::Tuple(fields.iter().map(|field| ranked(field, rank_of, known)).collect()))
        }
        StructInfo::Func(func) => StructInfo::Func(Arc::new(FuncStructInfo {
            params: func
                .params
                .as_ref()
                .map(|params| params.iter().map(|param| ranked(param, rank_of, known)).collect()),
            ret: ranked(&func.ret, rank_of, known),
            derive_func: func.derive_func.clone(),
            pure: func.pure,
        })),
    })
}
