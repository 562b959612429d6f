//! Attributes: `{"k": 1, "axes": [0, 1]}`, keyword arguments of operators.

use std::collections::BTreeMap;

use ruff_python_ast as py;

use super::ModuleReader;
use super::calls::is_struct_info;
use super::dims::Unbound;
use super::fault::{
    Prefix, ReadFault, ReadResult, dotted, float, integer, members, qualified, relax_name, span_of, string, tir_name,
};
use crate::grammar::{AttrValue, Attrs, DataType, FloatBits, IndexMap, Name, ObjectCall, ShapeVar, Span};
use crate::judge::with_stack;

impl ModuleReader<'_> {
    /// A dictionary with strings as keys.
    pub(super) fn attrs(&mut self, e: &py::Expr) -> ReadResult<Attrs> {
        let py::Expr::Dict(dict) = e else {
            return Err(ReadFault::expected(self.text, e, "a dictionary of attributes"));
        };
        let mut attrs = BTreeMap::new();
        for item in &dict.items {
            let key =
                item.key.as_ref().and_then(string).ok_or_else(|| ReadFault::new(e, "expected strings as keys"))?;
            let value = self.attr(key, &item.value)?;
            if attrs.insert(Name::from(key), value).is_some() {
                return Err(ReadFault::new(&item.value, format!("the attribute `{key}` is given twice")));
            }
        }
        Ok(attrs)
    }

    /// Keyword arguments as attributes.
    pub(super) fn keyword_attrs(&mut self, keywords: Vec<&py::Keyword>) -> ReadResult<Attrs> {
        let mut attrs = BTreeMap::new();
        for keyword in keywords {
            let Some(name) = &keyword.arg else {
                return Err(ReadFault::new(keyword, "expected an argument with a name"));
            };
            let value = self.attr(name.as_str(), &keyword.value)?;
            if attrs.insert(Name::from(name.as_str()), value).is_some() {
                return Err(ReadFault::new(keyword, format!("the argument `{name}` is given twice")));
            }
        }
        Ok(attrs)
    }

    /// The value of the attribute `name`. A string is a datatype if the name indicates it, as in TVM.
    pub(super) fn attr(&mut self, name: &str, e: &py::Expr) -> ReadResult<AttrValue> {
        if let Some(text) = string(e) {
            return match text.parse::<DataType>() {
                Ok(dtype) if names_dtype(name) => Ok(AttrValue::DataType(dtype)),
                Err(error) if names_dtype(name) => Err(ReadFault::new(e, error.to_string())),
                Ok(_) | Err(_) => Ok(AttrValue::Str(text.into())),
            };
        }
        if let Some(i) = integer(e) {
            return i64::try_from(i).map(AttrValue::Int).map_err(|_| ReadFault::new(e, "expected an int64"));
        }
        if let Some(f) = float(e) {
            return Ok(AttrValue::Float(FloatBits::new(f)));
        }
        with_stack(|| match e {
            py::Expr::NoneLiteral(_) => Ok(AttrValue::None),
            py::Expr::BooleanLiteral(b) => Ok(AttrValue::Bool(b.value)),
            py::Expr::List(list) => self.attr_list(&list.elts),
            py::Expr::Tuple(tuple) => self.attr_list(&tuple.elts),
            py::Expr::Dict(_) => Ok(AttrValue::Dict(self.attrs(e)?)),
            py::Expr::Call(call) => self.attr_call(e, call),
            py::Expr::Lambda(lambda) => Ok(AttrValue::IndexMap(self.index_map(lambda, None)?.into())),
            py::Expr::Attribute(_) if relax_name(e).is_some() => {
                Ok(AttrValue::StructInfo(self.struct_info(e, Unbound::Leave)?))
            }
            py::Expr::Attribute(_) if self.annotated_dtype(e).is_some() => {
                Ok(self.annotated_dtype(e).map_or(AttrValue::None, AttrValue::DataType))
            }
            py::Expr::Attribute(_) if self.annotated(e).is_some() => {
                Ok(AttrValue::StructInfo(self.struct_info(e, Unbound::Leave)?))
            }
            py::Expr::Name(name) if self.literal(name.id.as_str()).is_some() => {
                Ok(self.literal(name.id.as_str()).cloned().unwrap_or(AttrValue::None))
            }
            py::Expr::Name(name) if self.scope.var(name.id.as_str()).is_some() => {
                Err(ReadFault::new(e, format!("expected an attribute, but `{}` is a Relax variable", name.id)))
            }
            _ => Ok(AttrValue::Prim(self.dim(e, Unbound::Leave)?)),
        })
    }

    /// The literal that a variable in scope is bound to.
    fn literal(&self, name: &str) -> Option<&AttrValue> {
        self.scope.var(name).and_then(|(var, _)| self.literals.get(&var))
    }

    fn attr_list(&mut self, members: &[py::Expr]) -> ReadResult<AttrValue> {
        let members: ReadResult<Vec<_>> = members.iter().map(|member| self.attr("", member)).collect();
        Ok(AttrValue::List(members?))
    }

    fn attr_call(&mut self, e: &py::Expr, call: &py::ExprCall) -> ReadResult<AttrValue> {
        let args = &*call.arguments.args;
        match (relax_name(&call.func).as_deref(), args) {
            (Some("str"), [text]) => match string(text) {
                Some(text) => Ok(AttrValue::Str(text.into())),
                None => Err(ReadFault::expected(self.text, text, "a string")),
            },
            (Some("dtype"), [dtype]) => Ok(AttrValue::DataType(self.dtype(dtype)?)),
            (Some("shape"), [dims]) => {
                let dims = self.dims(dims, Unbound::Leave)?;
                Ok(AttrValue::List(dims.into_iter().map(AttrValue::Prim).collect()))
            }
            (Some("prim_value"), [value]) => match (float(value), value) {
                (Some(f), _) => Ok(AttrValue::Float(FloatBits::new(f))),
                (None, py::Expr::Call(inner)) if tir_name(&inner.func).is_some() => self.attr_call(value, inner),
                (None, _) => Ok(AttrValue::Prim(self.dim(value, Unbound::Leave)?)),
            },
            (Some(_), _) if is_struct_info(e) => Ok(AttrValue::StructInfo(self.struct_info(e, Unbound::Leave)?)),
            (Some(_), _) => self.made(call),
            (None, _) if qualified(&call.func).is_some_and(|(prefix, _)| prefix == Prefix::Module) => self.made(call),
            (None, _) => match (tir_name(&call.func).as_deref(), args) {
                (Some("index_map"), [py::Expr::Lambda(map), inverse @ ..]) => {
                    let named = call.arguments.keywords.first().map(|keyword| &keyword.value);
                    Ok(AttrValue::IndexMap(self.index_map(map, inverse.first().or(named))?.into()))
                }
                (Some("target" | "Target"), _) => self.made(call),
                (Some("bool"), [py::Expr::BooleanLiteral(b)]) => Ok(AttrValue::Bool(b.value)),
                (Some("float16" | "bfloat16" | "float32" | "float64"), [value]) => match (float(value), integer(value))
                {
                    (Some(f), _) => Ok(AttrValue::Float(FloatBits::new(f))),
                    (None, Some(i)) => Ok(AttrValue::Float(FloatBits::new(i as f64))),
                    (None, None) => Err(ReadFault::expected(self.text, value, "a number")),
                },
                (Some("int32"), [value]) => self.attr("", value),
                (Some("IntImm" | "FloatImm"), [_, value]) => self.attr("", value),
                _ => Ok(AttrValue::Prim(self.dim(e, Unbound::Leave)?)),
            },
        }
    }

    /// An object that is kept as written.
    pub(super) fn made(&mut self, call: &py::ExprCall) -> ReadResult<AttrValue> {
        let words = dotted(&call.func).ok_or_else(|| ReadFault::expected(self.text, &*call.func, "a name"))?;
        let name = words.join(".").into();
        let args = call.arguments.args.iter().map(|arg| self.attr("", arg)).collect::<ReadResult<Vec<_>>>()?;
        let named = self.keyword_attrs(call.arguments.keywords.iter().collect())?;
        Ok(AttrValue::Made(ObjectCall { name, args, named }.into()))
    }

    /// `lambda i, j: (i, j // 4, j % 4)`. Its parameters are local variables, even if their names exist outside.
    pub(super) fn index_map(&self, lambda: &py::ExprLambda, inverse: Option<&py::Expr>) -> ReadResult<IndexMap> {
        let mut inner = ModuleReader::new(self.text);
        let mut params = Vec::new();
        if let Some(parameters) = &lambda.parameters {
            if let Some(other) = parameters.vararg.as_ref().or(parameters.kwarg.as_ref()) {
                return Err(ReadFault::new(&**other, "an index map has a fixed number of indices"));
            }
            params.extend(parameters.iter_non_variadic_params().map(|p| ShapeVar::new(p.parameter.name.as_str())));
        }
        let results = match members(&lambda.body) {
            Some(members) => {
                members.iter().map(|member| inner.dim(member, Unbound::Leave)).collect::<ReadResult<Vec<_>>>()?
            }
            None => vec![inner.dim(&lambda.body, Unbound::Leave)?],
        };
        let inverse = match inverse {
            None | Some(py::Expr::NoneLiteral(_)) => None,
            Some(py::Expr::Lambda(back)) => Some(self.index_map(back, None)?.into()),
            Some(py::Expr::Call(call)) => match &*call.arguments.args {
                [py::Expr::Lambda(back)] => Some(self.index_map(back, None)?.into()),
                _ => return Err(ReadFault::expected(self.text, call, "an index map")),
            },
            Some(other) => return Err(ReadFault::expected(self.text, other, "an index map")),
        };
        Ok(IndexMap { params, results, inverse })
    }

    /// The shape variables of `tir_vars=R.shape([n])`.
    pub(super) fn tir_vars(&mut self, e: &py::Expr) -> ReadResult<AttrValue> {
        let dims = match e {
            py::Expr::Call(call) if relax_name(&call.func).as_deref() == Some("shape") => match &*call.arguments.args {
                [dims] => self.dims(dims, Unbound::Leave)?,
                _ => return Err(ReadFault::at(span_of(e), "expected R.shape([..])")),
            },
            _ => self.dims(e, Unbound::Leave)?,
        };
        Ok(AttrValue::List(dims.into_iter().map(AttrValue::Prim).collect()))
    }
}

/// Attributes whose strings are datatypes: `dtype`, `out_dtype`.
pub(in crate::syntax) fn names_dtype(name: &str) -> bool {
    name == "dtype" || name.ends_with("_dtype")
}

/// An attribute of a PrimFunc or a part of it, read like those of Relax.
pub(in crate::syntax::tvmscript) fn attr_in(text: &str, e: &py::Expr) -> Result<AttrValue, (Span, String)> {
    ModuleReader::new(text).attr("", e).map_err(|fault| (fault.span, fault.message))
}
