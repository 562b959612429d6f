//! Structural information and types.

use super::Node;
use super::reader::{DataReader, DataResult, FromData, Profile, Write};
use super::record::{choice, record, write_record};
use crate::grammar::{
    DataType, DeriveFunc, DynTensorType, FuncStructInfo, FuncType, Ndim, PrimStructInfo, PrimType, ShapeStructInfo,
    ShapeType, StructInfo, TensorShape, TensorStructInfo, Type, Var,
};

choice! { StructInfo, "structural information" {
    Object by rule!("GRAM.SI.OBJECT"),
    Tensor(t),
    Shape(s),
    Prim by rule!("GRAM.SI.PRIM") (p),
    Tuple by rule!("GRAM.SI.TUPLE") [fields],
    Func(f),
} }

record! { PrimStructInfo, "PrimStructInfo" by rule!("PR14148.SI.PRIM"), { dtype: one, value: unless(None) } }

choice! { DeriveFunc, "DefaultDerive, EmptyDerive or Named(..)" { DefaultDerive, EmptyDerive, Named(name) } }

/// The default of the rank is the number of dimensions of a literal shape, or else unknown. The default of the data
/// type is `Void`.
impl FromData for TensorStructInfo {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<TensorStructInfo> {
        let rule = rule!("GRAM.SI.TENSOR");
        r.by(rule)?;
        let fields = r.fields(node, "TensorStructInfo", Some(rule))?;
        let shape: Option<TensorShape> = fields.one(r, "shape")?;
        let dtype = fields.or(r, "dtype", || DataType::VOID)?;
        let implied = match &shape {
            Some(TensorShape::Dims(dims)) => Ndim::of_len(dims.len()),
            None | Some(TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_)) => Ndim::Unknown,
        };
        let vdevice = fields.one(r, "vdevice")?;
        Ok(TensorStructInfo { ndim: fields.or(r, "ndim", || implied)?, shape, dtype, vdevice })
    }
}

write_record! { TensorStructInfo, { shape: unless(None), dtype: one, ndim: one, vdevice: unless(None) } }

/// A list of dimensions, a variable, or any other expression, which the grammar permits (WF.13.FORM does not).
impl FromData for TensorShape {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<TensorShape> {
        if let Some(var) = node.as_text() {
            let var = Var::parse(var).map(|var| TensorShape::Var(var.at(node.span).into()));
            return var.map_or_else(|| r.unexpected(node, "a variable"), Ok);
        }
        match node.as_variant() {
            Some(("DataflowVar", Some(var))) => r.read(var).map(TensorShape::DataflowVar),
            Some(("Expr", Some(expr))) => r.read(expr).map(TensorShape::Other),
            Some(_) => {
                r.unexpected(node, "a list of dimensions, a variable, or `DataflowVar` or `Expr` with its content")
            }
            None => {
                r.items(node, "Tensor", Some(rule!("GRAM.SI.TENSOR")))?;
                r.read(node).map(TensorShape::Dims)
            }
        }
    }
}

impl Write for TensorShape {
    fn write(&self) -> Node<'_> {
        match self {
            TensorShape::Dims(dims) => dims.write(),
            TensorShape::Var(var) => var.write(),
            TensorShape::DataflowVar(var) => Node::entry("DataflowVar", var.write()),
            TensorShape::Other(expr) => Node::entry("Expr", expr.write()),
        }
    }
}

/// The default of the rank is the number of values, or else unknown.
impl FromData for ShapeStructInfo {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<ShapeStructInfo> {
        let rule = rule!("GRAM.SI.SHAPE");
        r.by(rule)?;
        let fields = r.fields(node, "ShapeStructInfo", Some(rule))?;
        let values: Option<std::sync::Arc<[_]>> = fields.maybe_many(r, "values")?;
        let implied = values.as_ref().map_or(Ndim::Unknown, |values| Ndim::of_len(values.len()));
        Ok(ShapeStructInfo { ndim: fields.or(r, "ndim", || implied)?, values })
    }
}

write_record! { ShapeStructInfo, { values: unless(None), ndim: one } }

/// A packed function has no parameters. Its result may be omitted, since the text ignores it.
impl FromData for FuncStructInfo {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<FuncStructInfo> {
        // The proposal restates the production.
        let by_proposal = r.cx.has(rule!("PURITY3.FIELD"));
        let rule = if by_proposal { rule!("PURITY3.FIELD") } else { rule!("GRAM.SI.FUNC") };
        r.by(rule)?;
        let fields = r.fields(node, "FuncStructInfo", Some(rule))?;
        let params: Option<_> = fields.maybe_many(r, "params")?;
        let ret = match params {
            Some(_) => fields.one(r, "ret")?,
            None => fields.or(r, "ret", || StructInfo::Object)?,
        };
        Ok(FuncStructInfo { params, ret, derive_func: fields.one(r, "derive_func")?, pure: fields.one(r, "pure")? })
    }
}

write_record! { FuncStructInfo, { params: unless(None), ret: one, derive_func: unless(None), pure: unless(None) } }

impl FromData for Ndim {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<Ndim> {
        match r.read::<i64>(node)? {
            -1 => Ok(Ndim::Unknown),
            n => u32::try_from(n).map_or_else(|_| r.unexpected(node, "a rank (-1 or more)"), |n| Ok(Ndim::Known(n))),
        }
    }
}

impl Write for Ndim {
    fn write(&self) -> Node<'_> {
        Node::number(self)
    }
}

choice! { Type, "a type" first there_are_types {
    Object by rule!("GRAM.TYPE.OBJECT"),
    Tensor(t),
    Shape(t),
    Prim(t),
    Tuple by rule!("GRAM.TYPE.TUPLE") [fields],
    Func(t),
    PackedFunc by rule!("GRAM.TYPE.PACKED"),
} }

record! { DynTensorType, "DynTensorType" by rule!("GRAM.TYPE.DYNTENSOR"), { ndim: one, dtype: one } }
record! { ShapeType, "ShapeType" by rule!("GRAM.TYPE.SHAPE"), { ndim: one } }
record! { PrimType, "PrimType" by rule!("GRAM.TYPE.PRIM"), { dtype: one } }
record! { FuncType, "FuncType" by rule!("GRAM.TYPE.FUNC"), { arg_types: many, ret_type: one, pure: or(false) } }

/// PR14148.NOTYPES.GRAMMAR: the later revision has no types. Boxed scalars have one only if GRAM.TYPE.PRIM says so.
fn there_are_types(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<()> {
    if node.as_variant().is_some_and(|(name, _)| name == "Prim") && !r.cx.has(rule!("GRAM.TYPE.PRIM")) {
        return r.unexpected(node, "a type");
    }
    let message = || "the grammar of the later revision has no types".to_string();
    match r.profile {
        Profile::Merged => Ok(()),
        Profile::Pr14148 => r.premise(node.span, rule!("PR14148.NOTYPES.GRAMMAR"), 1, false, message),
    }
}
