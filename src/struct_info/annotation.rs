//! Variables as the shapes of annotated tensors.

use super::surroundings::Surroundings;
use crate::book::{Erratum, Rule};
use crate::grammar::{Ndim, StructInfo, TensorShape, TensorStructInfo, Var};
use crate::judge::{Cx, with_stack};

/// The broken rule, with a message.
pub type AnnotationFault = (Rule, String);

/// SI.DEF.TENSOR.SHAPE-TYPE: the faults of the variables that an annotation uses as shapes. Each must hold a shape, and
/// must have the annotated rank if both ranks are known (in later editions by SI.TENSOR-INV.VAR). Variables unknown to
/// `scope` are not judged.
pub fn shape_var_faults(cx: &mut Cx, annotation: &StructInfo, scope: &dyn Surroundings) -> Vec<AnnotationFault> {
    let mut faults = Vec::new();
    collect(cx, annotation, scope, &mut faults);
    faults
}

fn collect(cx: &mut Cx, s: &StructInfo, scope: &dyn Surroundings, faults: &mut Vec<AnnotationFault>) {
    with_stack(|| match s {
        StructInfo::Tensor(tensor) => faults.extend(fault(cx, tensor, scope)),
        StructInfo::Tuple(fields) => fields.iter().for_each(|field| collect(cx, field, scope, faults)),
        StructInfo::Func(func) => {
            let params = func.params.iter().flat_map(|params| params.iter());
            params.chain([&func.ret]).for_each(|part| collect(cx, part, scope, faults));
        }
        StructInfo::Object | StructInfo::Shape(_) | StructInfo::Prim(_) => {}
    })
}

fn fault(cx: &mut Cx, tensor: &TensorStructInfo, scope: &dyn Surroundings) -> Option<AnnotationFault> {
    let (TensorShape::Var(var) | TensorShape::DataflowVar(var)) = tensor.shape.as_ref()? else { return None };
    match scope.struct_info_of(var)? {
        StructInfo::Shape(shape) => other_rank(cx, var, shape.ndim, tensor.ndim),
        other @ (StructInfo::Object
        | StructInfo::Tensor(_)
        | StructInfo::Prim(_)
        | StructInfo::Tuple(_)
        | StructInfo::Func(_)) => {
            let rule = rule!("SI.DEF.TENSOR.SHAPE-TYPE");
            let holds = cx.premise(rule, 1, false);
            (!holds).then(|| (rule, format!("`{var}` is given as a shape, but is {other}")))
        }
    }
}

/// Literal E25: the text compares `ndim` only with a `ShapeExpr`.
fn other_rank(cx: &mut Cx, var: &Var, held: Ndim, annotated: Ndim) -> Option<AnnotationFault> {
    let agree = held == annotated || held.is_unknown() || annotated.is_unknown() || cx.literal(Erratum::E25);
    let own = rule!("SI.TENSOR-INV.VAR");
    let (rule, n) = if cx.has(own) { (own, 1) } else { (rule!("SI.DEF.TENSOR.SHAPE-TYPE"), 2) };
    let holds = cx.holds(&[(rule, n, agree)]);
    (!holds).then(|| (rule, format!("`{var}` is a shape of rank {held}, where the tensor has rank {annotated}")))
}
