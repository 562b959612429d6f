//! The two fields of an expression in RFC 0089 (chapter RFC 0089: shapes), its type and its shape, which later became
//! its structural information. There are three generations of shapes.

use std::sync::Arc;

use super::erase_struct_info;
use crate::grammar::{DynTensorType, Expr, PrimExpr, StructInfo, TensorShape, TensorStructInfo, Type};
use crate::judge::Cx;

/// `checked_type_` and `shape_`.
#[derive(Clone, PartialEq, Debug)]
pub struct TwoFields {
    /// The type of the value, without dimensions.
    pub checked_type: Type,
    /// Its shape; only tensors have one (`R89.SHAPE.FIELD`).
    pub shape: Option<Generation>,
}

/// The forms of the shape of a tensor, by generation.
#[derive(Clone, PartialEq, Debug)]
pub enum Generation {
    /// A `ShapeExpr` (`R89.SHAPE.V0`).
    V0(Arc<[PrimExpr]>),
    /// Any expression that gives a shape (`R89.SHAPE.V1`).
    V1(Arc<Expr>),
    /// `RuntimeDepShape` (`R89.SHAPE.V2`).
    V2,
}

impl TwoFields {
    /// The fields that state the same as structural information. For a value that is not a tensor, the type states all.
    pub fn of(cx: &mut Cx, info: &StructInfo) -> TwoFields {
        let checked_type = erase_struct_info(cx, info);
        let shape =
            if let StructInfo::Tensor(tensor) = info { Some(Generation::of(tensor.shape.as_ref())) } else { None };
        TwoFields { checked_type, shape }
    }

    /// The structural information of a tensor with these fields; `None` for other values, whose information follows
    /// from the type alone (`SI.WRAP.TENSOR` and its kin).
    pub fn tensor_info(&self) -> Option<StructInfo> {
        let (Type::Tensor(DynTensorType { ndim, dtype }), Some(generation)) = (&self.checked_type, &self.shape) else {
            return None;
        };
        Some(StructInfo::Tensor(TensorStructInfo {
            shape: generation.as_field(),
            dtype: *dtype,
            ndim: *ndim,
            vdevice: None,
        }))
    }
}

impl Generation {
    fn of(shape: Option<&TensorShape>) -> Generation {
        match shape {
            None => Generation::V2,
            Some(TensorShape::Dims(dims)) => Generation::V0(dims.clone()),
            Some(TensorShape::Var(var)) => Generation::V1(Expr::Var(var.as_ref().clone()).into()),
            Some(TensorShape::DataflowVar(var)) => Generation::V1(Expr::DataflowVar(var.as_ref().clone()).into()),
            Some(TensorShape::Other(e)) => Generation::V1(e.clone()),
        }
    }

    /// The shape field of `TensorStructInfo`. An expression that is not a variable must first be bound to one (C08).
    fn as_field(&self) -> Option<TensorShape> {
        match self {
            Generation::V0(dims) => Some(TensorShape::Dims(dims.clone())),
            Generation::V1(e) => Some(match &**e {
                Expr::Var(var) => TensorShape::Var(var.clone().into()),
                Expr::DataflowVar(var) => TensorShape::DataflowVar(var.clone().into()),
                Expr::Constant(_)
                | Expr::GlobalVar(_)
                | Expr::Tuple(_)
                | Expr::SeqExpr(_)
                | Expr::PrimValue(_)
                | Expr::StringImm(_)
                | Expr::DataTypeImm(_)
                | Expr::Function(_)
                | Expr::If(_)
                | Expr::ExternFunc(_)
                | Expr::Op(_)
                | Expr::Call(_)
                | Expr::ShapeExpr(_)
                | Expr::TupleGetItem(_) => TensorShape::Other(e.clone()),
            }),
            Generation::V2 => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::notation::parse_struct_info;

    fn fields(text: &str) -> TwoFields {
        TwoFields::of(&mut Cx::new(), &parse_struct_info(text).unwrap())
    }

    #[test]
    fn there_and_back() {
        for text in ["Tensor((n, 4), float32)", "Tensor(ndim=2, float32)", "Tensor(ndim=-1, int8)", "Tensor((n * 4))"] {
            let info = parse_struct_info(text).unwrap();
            assert_eq!(fields(text).tensor_info(), Some(info), "{text}");
        }
        assert!(matches!(fields("Tensor((n, 4), float32)").shape, Some(Generation::V0(dims)) if dims.len() == 2));
        assert_eq!(fields("Tensor(ndim=2, float32)").shape, Some(Generation::V2));
        for text in ["Shape((n))", "Object", "Tuple(Tensor((n)))"] {
            assert_eq!((fields(text).shape, fields(text).tensor_info()), (None, None), "{text}");
        }
    }

    #[test]
    fn a_variable_is_a_shape_of_the_second_generation() {
        let var = crate::grammar::Var::new("s");
        let shape = Some(TensorShape::Var(var.clone().into()));
        let info = StructInfo::Tensor(TensorStructInfo {
            shape,
            dtype: crate::grammar::DataType::FLOAT32,
            ndim: crate::grammar::Ndim::Known(2),
            vdevice: None,
        });
        let fields = TwoFields::of(&mut Cx::new(), &info);
        assert_eq!(fields.shape, Some(Generation::V1(Expr::Var(var).into())));
        assert_eq!(fields.tensor_info(), Some(info));
    }
}
