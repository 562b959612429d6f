//! The two forms of the arguments in a call of a `PrimFunc`.

use crate::grammar::{StructInfo, TensorShape};
use crate::value::Value;

/// The form in which the call gives its inputs and the shapes of its results (C14).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallForm {
    /// `[f, a1, .., an, shape]`, with one structural information that gives the data types.
    Flat,
    /// `[f, (a1, .., an)]`, or `[f, (a1, .., an), ints]`, with shapes and data types in the structural information.
    Tupled,
}

impl CallForm {
    /// `inputs` says whether the second argument is a tuple that is not one of shapes.
    fn of(args: usize, tuple_of_inputs: bool, sinfo_args: &[StructInfo]) -> CallForm {
        if matches!(args, 2 | 3) && tuple_of_inputs && sinfo_args.iter().all(has_dims) {
            CallForm::Tupled
        } else {
            CallForm::Flat
        }
    }

    /// The form of a call whose arguments have the given structural information.
    pub fn infer(args: &[StructInfo], sinfo_args: &[StructInfo]) -> CallForm {
        let tupled = if let Some(StructInfo::Tuple(fields)) = args.get(1) {
            fields.is_empty() || !fields.iter().all(|f| matches!(f, StructInfo::Shape(_)))
        } else {
            false
        };
        CallForm::of(args.len(), tupled, sinfo_args)
    }

    pub(in crate::ops) fn of_values(values: &[Value], sinfo_args: &[StructInfo]) -> CallForm {
        let tuple = values.get(1).and_then(Value::as_tuple);
        let tupled = tuple.is_some_and(|t| t.is_empty() || !t.fields().iter().all(|f| f.as_shape().is_some()));
        CallForm::of(values.len(), tupled, sinfo_args)
    }
}

/// Whether structural information gives every size of its tensors.
fn has_dims(info: &StructInfo) -> bool {
    match info {
        StructInfo::Tensor(t) => matches!(t.shape, Some(TensorShape::Dims(_))),
        StructInfo::Tuple(fields) => fields.iter().all(has_dims),
        StructInfo::Object | StructInfo::Shape(_) | StructInfo::Prim(_) | StructInfo::Func(_) => false,
    }
}
