//! Structural information as annotations.

use std::fmt::Write as _;

use super::Printer;
use crate::grammar::{
    DeriveFunc, FuncStructInfo, Ndim, PrimStructInfo, ShapeStructInfo, StructInfo, TensorShape, TensorStructInfo,
};
use crate::judge::with_stack;
use crate::syntax::tvmscript::Dialect;

impl Printer<'_> {
    pub(super) fn struct_info(&mut self, info: &StructInfo, out: &mut String) {
        with_stack(|| match info {
            StructInfo::Object => out.push_str(match self.dialect {
                Dialect::Tvm025 => "R.Object",
                Dialect::Tvm027 => "R.Any",
            }),
            StructInfo::Tensor(t) => self.tensor(t, out),
            StructInfo::Shape(ShapeStructInfo { values: None, ndim }) => {
                let _ = write!(out, "R.Shape(ndim={ndim})");
            }
            StructInfo::Shape(ShapeStructInfo { values: Some(values), ndim }) => {
                out.push_str("R.Shape([");
                self.dim_list(values, out);
                out.push(']');
                odd_ndim(*ndim, Ndim::of_len(values.len()), out);
                out.push(')');
            }
            StructInfo::Prim(PrimStructInfo { dtype, value: None }) => {
                let _ = write!(out, "R.Prim(\"{dtype}\")");
            }
            StructInfo::Prim(PrimStructInfo { dtype, value: Some(value) }) => {
                let _ = write!(out, "R.Prim(\"{dtype}\", value=");
                self.value_in_box(*dtype, value, out);
                out.push(')');
            }
            StructInfo::Tuple(fields) if fields.is_empty() => out.push_str("R.Tuple"),
            StructInfo::Tuple(fields) => {
                out.push_str("R.Tuple(");
                self.struct_info_list(fields, out);
                out.push(')');
            }
            StructInfo::Func(func) => self.callable(func, out),
        })
    }

    /// `a, b`.
    pub(super) fn struct_info_list(&mut self, infos: &[StructInfo], out: &mut String) {
        for (i, info) in infos.iter().enumerate() {
            out.push_str(if i > 0 { ", " } else { "" });
            self.struct_info(info, out);
        }
    }

    /// `(a, b)`, `(a,)`.
    pub(super) fn struct_info_tuple(&mut self, infos: &[StructInfo], out: &mut String) {
        out.push('(');
        self.struct_info_list(infos, out);
        out.push_str(if infos.len() == 1 { ",)" } else { ")" });
    }

    pub(super) fn tensor(&mut self, t: &TensorStructInfo, out: &mut String) {
        let mut parts = Vec::new();
        let implied = match &t.shape {
            Some(shape) => {
                let mut text = String::new();
                let implied = self.tensor_shape(shape, &mut text);
                parts.push(text);
                implied
            }
            None => Ndim::Unknown,
        };
        if !t.dtype.is_void() {
            parts.push(format!("dtype=\"{}\"", t.dtype));
        }
        if t.ndim != implied {
            parts.push(format!("ndim={}", t.ndim));
        }
        if let Some(device) = &t.vdevice {
            parts.push(format!("vdevice={}", self.attr("vdevice", &device.to_attr())));
        }
        match parts.as_slice() {
            [] => out.push_str("R.Tensor"),
            parts => {
                let _ = write!(out, "R.Tensor({})", parts.join(", "));
            }
        }
    }

    /// Writes the shape, and returns the rank that follows from it.
    fn tensor_shape(&mut self, shape: &TensorShape, out: &mut String) -> Ndim {
        match shape {
            TensorShape::Dims(dims) => {
                self.dim_tuple(dims, out);
                return Ndim::of_len(dims.len());
            }
            TensorShape::Var(v) | TensorShape::DataflowVar(v) => out.push_str(&self.names.var(v)),
            TensorShape::Other(e) => self.expr(e, out),
        }
        Ndim::Unknown
    }

    /// `(n, 4)`, `(n,)`.
    pub(super) fn dim_tuple(&mut self, dims: &[crate::grammar::PrimExpr], out: &mut String) {
        out.push('(');
        self.dim_list(dims, out);
        out.push_str(if dims.len() == 1 { ",)" } else { ")" });
    }

    fn callable(&mut self, func: &FuncStructInfo, out: &mut String) {
        let mut parts = Vec::new();
        if let Some(params) = &func.params {
            let mut text = String::new();
            self.struct_info_tuple(params, &mut text);
            parts.push(text);
        }
        if func.params.is_some() || func.ret != StructInfo::Object {
            let mut text = String::from(if func.params.is_some() { "" } else { "ret=" });
            self.struct_info(&func.ret, &mut text);
            parts.push(text);
        }
        if let Some(pure) = func.pure {
            let keyword = if func.params.is_some() { "" } else { "purity=" };
            parts.push(format!("{keyword}{}", super::literal::bool(pure)));
        }
        match (&func.derive_func, func.params.is_some()) {
            // The default of TVM for a packed function, and the meaning of no derivation there.
            (Some(DeriveFunc::DefaultDerive), false) | (None, true) => {}
            (None, false) => parts.push("derive_func=None".into()),
            (Some(DeriveFunc::DefaultDerive), true) => parts.push("derive_func=\"default_derive\"".into()),
            (Some(DeriveFunc::EmptyDerive), _) => parts.push("derive_func=\"empty_derive\"".into()),
            (Some(DeriveFunc::Named(name)), _) => parts.push(format!("derive_func={}", super::literal::string(name))),
        }
        match parts.as_slice() {
            [] => out.push_str("R.Callable"),
            parts => {
                let _ = write!(out, "R.Callable({})", parts.join(", "));
            }
        }
    }
}

/// Writes a rank that contradicts the number of dimensions.
fn odd_ndim(ndim: Ndim, implied: Ndim, out: &mut String) {
    if ndim != implied {
        let _ = write!(out, ", ndim={ndim}");
    }
}
