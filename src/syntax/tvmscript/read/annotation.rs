//! Structural information as annotations: `R.Tensor((n, 4), "float32")`, `R.Callable(..)`, `R.Tensor[_, "f32"]`.

use std::borrow::Cow;
use std::sync::Arc;

use ruff_python_ast as py;
use ruff_text_size::Ranged;

use super::ModuleReader;
use super::dims::Unbound;
use super::fault::{Prefix, ReadFault, ReadResult, integer, members, qualified, span_of, string};
use crate::grammar::{
    AttrValue, DataType, DeriveFunc, Expr, FuncStructInfo, Ndim, PrimStructInfo, ShapeStructInfo, StructInfo,
    TensorShape, TensorStructInfo, VDevice,
};
use crate::judge::with_stack;

/// The arguments of a call, taken one by one by position or by name.
pub(super) struct ArgumentCursor<'a> {
    positional: &'a [py::Expr],
    next: usize,
    keywords: Vec<&'a py::Keyword>,
}

impl<'a> ArgumentCursor<'a> {
    pub fn of(call: &'a py::ExprCall) -> ArgumentCursor<'a> {
        ArgumentCursor { positional: &call.arguments.args, next: 0, keywords: call.arguments.keywords.iter().collect() }
    }

    fn none() -> ArgumentCursor<'a> {
        ArgumentCursor { positional: &[], next: 0, keywords: Vec::new() }
    }

    /// The number of positional arguments that remain.
    pub fn left(&self) -> usize {
        self.positional.len().saturating_sub(self.next)
    }

    /// The next positional argument, or else the keyword argument with one of these names.
    pub fn take(&mut self, names: &[&str]) -> Option<&'a py::Expr> {
        match self.positional.get(self.next) {
            Some(arg) => {
                self.next += 1;
                Some(arg)
            }
            None => self.keyword(names),
        }
    }

    /// The next positional argument, if it is of this form.
    pub fn take_if(&mut self, is_meant: impl FnOnce(&py::Expr) -> bool) -> Option<&'a py::Expr> {
        let arg = self.positional.get(self.next).filter(|arg| is_meant(arg))?;
        self.next += 1;
        Some(arg)
    }

    /// The keyword argument with one of these names.
    pub fn keyword(&mut self, names: &[&str]) -> Option<&'a py::Expr> {
        let is_named = |keyword: &&py::Keyword| keyword.arg.as_ref().is_some_and(|arg| names.contains(&arg.as_str()));
        let at = self.keywords.iter().position(is_named)?;
        Some(&self.keywords.remove(at).value)
    }

    /// The remaining positional arguments.
    pub fn rest(&mut self) -> &'a [py::Expr] {
        let rest = self.positional.get(self.next..).unwrap_or_default();
        self.next = self.positional.len();
        rest
    }

    /// The remaining keyword arguments.
    pub fn keywords(&mut self) -> Vec<&'a py::Keyword> {
        std::mem::take(&mut self.keywords)
    }

    /// Fails if an argument remains.
    pub fn finish(self) -> ReadResult<()> {
        if let Some(arg) = self.positional.get(self.next) {
            return Err(ReadFault::new(arg, "one argument too many"));
        }
        match self.keywords.first() {
            Some(keyword) => Err(ReadFault::new(*keyword, "there is no argument of this name here")),
            None => Ok(()),
        }
    }
}

/// The reason why a program with tensors distributed over several devices is not read.
pub(super) const DISTRIBUTED: &str = "programs of distributed tensors are not read: no edition of the text knows R.DTensor, \
                                      device meshes and placements; print the module behind LowerDistIR, where tensors are plain";

impl ModuleReader<'_> {
    /// An annotation. `None` is the empty tuple, as in TVM.
    pub(super) fn struct_info(&mut self, e: &py::Expr, unbound: Unbound) -> ReadResult<StructInfo> {
        with_stack(|| match e {
            py::Expr::NoneLiteral(_) => Ok(StructInfo::tuple([])),
            py::Expr::Call(call) => {
                let name = self.annotation_name(&call.func).ok_or_else(|| self.not_struct_info(e))?;
                self.annotation(&name, e, ArgumentCursor::of(call), unbound)
            }
            py::Expr::Subscript(subscript) => match self.annotation_name(&subscript.value).as_deref() {
                Some("Tensor") => self.bracketed_tensor(&subscript.slice, unbound),
                Some("Tuple") => Ok(StructInfo::tuple(self.struct_infos(&subscript.slice, unbound)?)),
                Some(_) | None => Err(self.not_struct_info(e)),
            },
            py::Expr::Attribute(_) if self.annotated(e).is_some() => {
                self.annotated(e).cloned().ok_or_else(|| self.not_struct_info(e))
            }
            py::Expr::Name(_) | py::Expr::Attribute(_) => {
                let name = self.annotation_name(e).ok_or_else(|| self.not_struct_info(e))?;
                if name == "Shape" {
                    self.by(rule!("R89.SYN.SHAPE"), span_of(e));
                }
                self.annotation(&name, e, ArgumentCursor::none(), unbound)
            }
            _ => Err(self.not_struct_info(e)),
        })
    }

    /// Structural information, or several in a list or tuple.
    pub(super) fn struct_infos(&mut self, e: &py::Expr, unbound: Unbound) -> ReadResult<Vec<StructInfo>> {
        match members(e) {
            Some(members) => members.iter().map(|member| self.struct_info(member, unbound)).collect(),
            None => Ok(vec![self.struct_info(e, unbound)?]),
        }
    }

    /// `Tensor` for `R.Tensor`; a datatype for `T.int64`.
    fn annotation_name<'a>(&self, e: &'a py::Expr) -> Option<Cow<'a, str>> {
        match (qualified(e), e) {
            (Some((_, name)), _) => Some(name),
            (None, py::Expr::Name(name)) => Some(name.id.as_str().into()),
            (None, _) => None,
        }
    }

    fn annotation(
        &mut self,
        name: &str,
        e: &py::Expr,
        mut args: ArgumentCursor<'_>,
        unbound: Unbound,
    ) -> ReadResult<StructInfo> {
        let struct_info = match name {
            "Object" | "Any" | "StringType" | "String" => StructInfo::Object,
            "Tensor" => self.tensor(&mut args, unbound)?,
            "Shape" => self.shape_info(&mut args, unbound)?,
            "Prim" => self.prim(&mut args, unbound, e)?,
            "Tuple" => match args.rest() {
                [one] if members(one).is_some() => StructInfo::tuple(self.struct_infos(one, unbound)?),
                fields => {
                    let fields: ReadResult<Vec<_>> =
                        fields.iter().map(|field| self.struct_info(field, unbound)).collect();
                    StructInfo::tuple(fields?)
                }
            },
            "Callable" => self.callable(&mut args, unbound)?,
            "DTensor" => return Err(ReadFault::new(e, DISTRIBUTED)),
            dtype => match (qualified(e), dtype.parse::<DataType>()) {
                (Some((Prefix::Tir, _)), Ok(dtype)) => StructInfo::prim(dtype),
                _ => return Err(self.not_struct_info(e)),
            },
        };
        args.finish()?;
        Ok(struct_info)
    }

    /// `R.Tensor[(n, k), "f32"]`, with `_` for unknown parts.
    fn bracketed_tensor(&mut self, slice: &py::Expr, unbound: Unbound) -> ReadResult<StructInfo> {
        let (shape, dtype) = match slice {
            py::Expr::Tuple(pair) if !pair.parenthesized => match pair.elts.as_slice() {
                [shape, dtype] => (shape, Some(dtype)),
                _ => return Err(ReadFault::expected(self.text, slice, "a shape and a data type")),
            },
            shape => (shape, None),
        };
        let rank = self.rank_alone(shape);
        let is_unknown = rank.is_some() || self.is_unknown(shape);
        let shape = if is_unknown { None } else { Some(self.tensor_shape(shape, unbound)?) };
        let dtype = dtype.map_or(Ok(DataType::VOID), |dtype| self.dtype(dtype))?;
        let ndim = rank.unwrap_or(Ndim::implied_by(shape.as_ref()));
        Ok(StructInfo::Tensor(TensorStructInfo { shape, dtype, ndim, vdevice: None }))
    }

    fn tensor(&mut self, args: &mut ArgumentCursor<'_>, unbound: Unbound) -> ReadResult<StructInfo> {
        let mut shape = args.take(&["shape"]);
        let mut dtype = args.take(&["dtype"]);
        if let (Some(text), None) = (shape, dtype)
            && string(text).is_some()
        {
            (shape, dtype) = (None, Some(text));
        }
        let rank = shape.and_then(|shape| self.rank_alone(shape));
        let shape = match shape {
            Some(shape) if rank.is_none() && !self.is_unknown(shape) => Some(self.tensor_shape(shape, unbound)?),
            Some(_) | None => None,
        };
        let dtype = dtype.map_or(Ok(DataType::VOID), |dtype| self.dtype(dtype))?;
        let vdevice = match args.take(&["vdevice"]) {
            Some(device) => self.vdevice(device)?,
            None => None,
        };
        let ndim = self.ndim(args)?.or(rank).unwrap_or(Ndim::implied_by(shape.as_ref()));
        Ok(StructInfo::Tensor(TensorStructInfo { shape, dtype, ndim, vdevice }))
    }

    /// The device of a tensor: one that the module lists, by name (`"llvm:0"`), or one that is made here.
    fn vdevice(&mut self, e: &py::Expr) -> ReadResult<Option<Arc<VDevice>>> {
        if let py::Expr::NoneLiteral(_) = e {
            return Ok(None);
        }
        if let Some(name) = string(e) {
            return Ok(Some(VDevice::named(name, &self.devices).into()));
        }
        let made = VDevice::made_by(&self.attr("vdevice", e)?);
        made.map_or_else(
            || Err(ReadFault::expected(self.text, e, "a virtual device")),
            |device| Ok(Some(device.into())),
        )
    }

    /// R89.SYN.TENSOR.UNKNOWN: `_` stands for an unknown part.
    fn is_unknown(&mut self, e: &py::Expr) -> bool {
        if matches!(e, py::Expr::Name(_)) && is_blank(e) {
            self.by(rule!("R89.SYN.TENSOR.UNKNOWN"), span_of(e));
        }
        is_blank(e)
    }

    /// `(_, _)` states the number of dimensions. If only some of them are unknown, the others cannot be kept.
    fn rank_alone(&mut self, e: &py::Expr) -> Option<Ndim> {
        let dims = members(e).filter(|dims| dims.iter().any(is_blank))?;
        self.by(rule!("R89.SYN.TENSOR.UNKNOWN"), span_of(e));
        Some(Ndim::of_len(dims.len()))
    }

    /// R89.SYN.TENSOR: the dimensions of a tensor, in brackets or in parentheses.
    fn tensor_shape(&mut self, e: &py::Expr, unbound: Unbound) -> ReadResult<TensorShape> {
        if integer(e).is_some() {
            let quoted = self.text.get(e.range().start().to_usize()..e.range().end().to_usize()).unwrap_or_default();
            let message = format!("a shape is a tuple, and `({quoted})` is a number: write `({quoted},)`");
            return Err(ReadFault::new(&e.range(), message));
        }
        if let Some(dims) = self.annotated_dims(e) {
            return Ok(TensorShape::Dims(dims.into()));
        }
        if members(e).is_some() {
            self.by(rule!("R89.SYN.TENSOR"), span_of(e));
            return Ok(TensorShape::Dims(self.dims(e, unbound)?.into()));
        }
        match self.expr(e)? {
            Expr::Var(v) => Ok(TensorShape::Var(v.into())),
            Expr::DataflowVar(v) => Ok(TensorShape::DataflowVar(v.into())),
            Expr::ShapeExpr(shape) => Ok(TensorShape::Dims(shape.values)),
            other => Ok(TensorShape::Other(other.into())),
        }
    }

    fn shape_info(&mut self, args: &mut ArgumentCursor<'_>, unbound: Unbound) -> ReadResult<StructInfo> {
        let values = match args.take(&["values"]) {
            Some(values) if !is_blank(values) => Some(self.dims(values, unbound)?),
            Some(_) | None => None,
        };
        let implied = values.as_ref().map_or(Ndim::Unknown, |values| Ndim::of_len(values.len()));
        let ndim = self.ndim(args)?.unwrap_or(implied);
        Ok(StructInfo::Shape(ShapeStructInfo { values: values.map(Into::into), ndim }))
    }

    fn ndim(&self, args: &mut ArgumentCursor<'_>) -> ReadResult<Option<Ndim>> {
        let Some(ndim) = args.keyword(&["ndim"]) else { return Ok(None) };
        match integer(ndim) {
            Some(-1) => Ok(Some(Ndim::Unknown)),
            Some(n) => match u32::try_from(n) {
                Ok(n) => Ok(Some(Ndim::Known(n))),
                Err(_) => Err(ReadFault::expected(self.text, ndim, "a number of dimensions (-1 for unknown)")),
            },
            None => Err(ReadFault::expected(self.text, ndim, "a number of dimensions (-1 for unknown)")),
        }
    }

    /// `R.Prim("int64")`, `R.Prim(value=n)`.
    fn prim(&mut self, args: &mut ArgumentCursor<'_>, unbound: Unbound, e: &py::Expr) -> ReadResult<StructInfo> {
        let dtype = args.take(&["dtype"]).map(|dtype| self.dtype(dtype)).transpose()?;
        let Some(value) = args.keyword(&["value"]) else {
            return match dtype {
                Some(dtype) => Ok(StructInfo::prim(dtype)),
                None => Err(ReadFault::new(e, "expected a data type or a value: R.Prim(\"int64\"), R.Prim(value=n)")),
            };
        };
        // A value that is not int64 states no more than its datatype, because dimensions are int64.
        if let Some((dtype, value)) = self.immediate(value)? {
            let value = if dtype == DataType::INT64 { Some(value) } else { None };
            return Ok(StructInfo::Prim(PrimStructInfo { dtype, value }));
        }
        let value = Some(self.dim(value, unbound)?);
        Ok(StructInfo::Prim(PrimStructInfo { dtype: dtype.unwrap_or(DataType::INT64), value }))
    }

    fn callable(&mut self, args: &mut ArgumentCursor<'_>, unbound: Unbound) -> ReadResult<StructInfo> {
        let params = match args.take(&["params"]) {
            Some(py::Expr::NoneLiteral(_)) | None => None,
            Some(params) => Some(self.struct_infos(params, unbound)?.into()),
        };
        let ret = match args.take(&["ret"]) {
            Some(ret) => self.struct_info(ret, unbound)?,
            None => StructInfo::Object,
        };
        let pure = match args.take(&["purity"]) {
            Some(purity) => self.optional_bool(purity)?,
            None => None,
        };
        let derive_func = match args.take(&["derive_func"]) {
            Some(py::Expr::NoneLiteral(_)) => None,
            Some(name) => Some(derive_func(
                string(name).ok_or_else(|| ReadFault::expected(self.text, name, "the name of a derive_func"))?,
            )),
            // The result of `wrap_type` for a packed function.
            None => params.is_none().then_some(DeriveFunc::DefaultDerive),
        };
        Ok(StructInfo::Func(FuncStructInfo { params, ret, derive_func, pure }.into()))
    }

    pub(super) fn optional_bool(&self, e: &py::Expr) -> ReadResult<Option<bool>> {
        match e {
            py::Expr::BooleanLiteral(b) => Ok(Some(b.value)),
            py::Expr::NoneLiteral(_) => Ok(None),
            other => Err(ReadFault::expected(self.text, other, "`True` or `False`")),
        }
    }

    /// A datatype: a string, `T.float32`, `None` or `_` for unknown.
    pub(super) fn dtype(&mut self, e: &py::Expr) -> ReadResult<DataType> {
        let name = match e {
            py::Expr::StringLiteral(s) => s.value.to_str().into(),
            py::Expr::NoneLiteral(_) => "".into(),
            py::Expr::Attribute(_) if self.annotated_dtype(e).is_some() => {
                return Ok(self.annotated_dtype(e).unwrap_or(DataType::VOID));
            }
            py::Expr::Name(name) if let Some(dtype) = self.literal_dtype(name.id.as_str()) => return Ok(dtype),
            _ if self.is_unknown(e) => "".into(),
            _ => super::fault::tir_name(e).ok_or_else(|| ReadFault::expected(self.text, e, "a data type"))?,
        };
        let dtype: DataType = name
            .parse()
            .map_err(|error: crate::grammar::DataTypeError| ReadFault::new(&e.range(), error.to_string()))?;
        if !dtype.is_void() && dtype.to_string() != name {
            self.by(rule!("AST22.SYN.F32"), span_of(e));
        }
        Ok(dtype)
    }

    /// The datatype that a variable in scope is bound to.
    fn literal_dtype(&self, name: &str) -> Option<DataType> {
        match self.scope.var(name).and_then(|(var, _)| self.literals.get(&var))? {
            AttrValue::DataType(dtype) => Some(*dtype),
            AttrValue::Str(text) => text.parse().ok(),
            _ => None,
        }
    }

    fn not_struct_info(&self, e: &py::Expr) -> ReadFault {
        let expected =
            || ReadFault::expected(self.text, e, "structural information such as R.Tensor((n, 4), \"float32\")");
        self.unannotated(e).unwrap_or_else(expected)
    }
}

/// Whether this is `_`, which stands for an unknown part.
pub(super) fn is_blank(e: &py::Expr) -> bool {
    match e {
        py::Expr::Name(name) => name.id.as_str() == "_",
        py::Expr::NoneLiteral(_) => true,
        _ => false,
    }
}

/// The name under which TVM registers the macro `default_derive`.
pub(in crate::syntax::tvmscript) const INFER_BY_SINFO_ARGS: &str = "tvm.relax.struct_info.infer_by_sinfo_args";

fn derive_func(name: &str) -> DeriveFunc {
    match name {
        "default_derive" | INFER_BY_SINFO_ARGS => DeriveFunc::DefaultDerive,
        "empty_derive" => DeriveFunc::EmptyDerive,
        other => DeriveFunc::Named(other.into()),
    }
}
