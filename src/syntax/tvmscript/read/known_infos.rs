//! The annotation of a variable, where the text refers to it: `x.struct_info`, `x.struct_info.shape[0]`,
//! `x.dtype.bits`.

use ruff_python_ast as py;

use super::ModuleReader;
use super::fault::{ReadFault, ReadResult, integer};
use super::scope::use_of;
use crate::grammar::{
    Attrs, Call, DataType, Expr, PrimExpr, ShapeExpr, Span, StructInfo, TensorShape, TensorStructInfo,
};

/// The names of this property in TVM's releases.
const INFO: [&str; 3] = ["struct_info", "struct_info_", "ty"];

impl ModuleReader<'_> {
    /// The annotation in `x.struct_info`.
    pub(super) fn annotated(&self, e: &py::Expr) -> Option<&StructInfo> {
        let py::Expr::Attribute(property) = e else { return None };
        let py::Expr::Name(name) = &*property.value else { return None };
        if !self.refers_to_infos() || !INFO.contains(&property.attr.as_str()) {
            return None;
        }
        self.infos.get(&self.scope.var(name.id.as_str())?.0)
    }

    /// The tensor in `x` or `x.struct_info` before `.word`.
    fn tensor_with(&self, e: &py::Expr, word: &str) -> Option<&TensorStructInfo> {
        let py::Expr::Attribute(property) = e else { return None };
        if !self.refers_to_infos() || property.attr.as_str() != word {
            return None;
        }
        let info = match &*property.value {
            py::Expr::Name(name) => self.infos.get(&self.scope.var(name.id.as_str())?.0),
            other => self.annotated(other),
        };
        info.and_then(StructInfo::as_tensor)
    }

    /// The dimensions in `x.struct_info.shape`.
    pub(super) fn annotated_dims(&self, e: &py::Expr) -> Option<Vec<PrimExpr>> {
        match &self.tensor_with(e, "shape")?.shape {
            Some(TensorShape::Dims(dims)) => Some(dims.to_vec()),
            Some(_) | None => None,
        }
    }

    /// The shape `x.struct_info.shape`; `x.shape` is the shape of `x` when the program runs.
    pub(super) fn annotated_shape(&self, e: &py::Expr, span: Span) -> Option<Expr> {
        let is_of_info = matches!(e, py::Expr::Attribute(property) if property.value.is_attribute_expr());
        let values = self.annotated_dims(e).filter(|_| is_of_info)?.into();
        Some(Expr::ShapeExpr(ShapeExpr { values, span }))
    }

    /// The complaint about `x.struct_info` where the text does not say it.
    pub(super) fn unannotated(&self, e: &py::Expr) -> Option<ReadFault> {
        let (words, base) = properties(e)?;
        let is_asked = words.first().is_some_and(|word| INFO.contains(word));
        let (var, _) = self.scope.var(base.id.as_str()).filter(|_| is_asked)?;
        (!self.infos.contains_key(&var)).then(|| {
            ReadFault::new(
                e,
                format!("`{}` has no annotation that says its structural information: write one", base.id),
            )
        })
    }

    /// The dimension in `x.struct_info.shape[0]`.
    pub(super) fn annotated_dim(&self, e: &py::Expr) -> Option<PrimExpr> {
        let py::Expr::Subscript(member) = e else { return None };
        let dims = self.annotated_dims(&member.value)?;
        let at = integer(&member.slice)?;
        let at = if at < 0 { at + dims.len() as i128 } else { at };
        dims.into_iter().nth(usize::try_from(at).ok()?)
    }

    /// The datatype in `x.struct_info.dtype`.
    pub(super) fn annotated_dtype(&self, e: &py::Expr) -> Option<DataType> {
        self.tensor_with(e, "dtype").map(|tensor| tensor.dtype).filter(|dtype| !dtype.is_void())
    }

    /// A property of a tensor at run time: `x.dtype.bits`, `x.ndim`; and the shape, `x.shape`.
    pub(super) fn property(&mut self, e: &py::Expr, span: Span) -> Option<Expr> {
        let (words, base) = properties(e)?;
        let name = match words.as_slice() {
            ["shape"] => "shape_of",
            ["ndim"] => "inspect.tensor_ndim",
            ["byte_offset"] => "inspect.tensor_byte_offset",
            ["elem_offset"] => "inspect.tensor_elem_offset",
            ["dtype", "bits"] => "inspect.tensor_dtype_bits",
            ["dtype", "code"] => "inspect.tensor_dtype_code",
            ["dtype", "lanes"] => "inspect.tensor_dtype_lanes",
            _ => return None,
        };
        let tensor = self.variable(base)?;
        Some(self.looked_at(name, vec![tensor], span))
    }

    /// `x.shape[i]` and `x.strides[i]`.
    pub(super) fn property_at(&mut self, e: &py::ExprSubscript, span: Span) -> Option<ReadResult<Expr>> {
        let (words, base) = properties(&e.value)?;
        let name = match words.as_slice() {
            ["shape"] => "inspect.tensor_shape_i",
            ["strides"] => "inspect.tensor_stride_i",
            _ => return None,
        };
        let tensor = self.variable(base)?;
        Some(self.expr(&e.slice).map(|at| self.looked_at(name, vec![tensor, at], span)))
    }

    fn variable(&self, name: &py::ExprName) -> Option<Expr> {
        self.scope.var(name.id.as_str()).map(|(var, kind)| use_of(var.at(super::fault::span_of(name)), kind))
    }

    fn looked_at(&mut self, name: &str, args: Vec<Expr>, span: Span) -> Expr {
        let (op, attrs) = (self.op(name, span), Attrs::new());
        Expr::Call(Call { op, args, sinfo_args: Vec::new(), attrs, span }.into())
    }
}

/// The words after a name.
fn properties(e: &py::Expr) -> Option<(Vec<&str>, &py::ExprName)> {
    let (mut words, mut e) = (Vec::new(), e);
    while let py::Expr::Attribute(property) = e {
        words.push(property.attr.as_str());
        e = &property.value;
    }
    words.reverse();
    e.as_name_expr().map(|name| (words, name))
}
