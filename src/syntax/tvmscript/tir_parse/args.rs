//! Calls of `T.` functions with their arguments; literals and attributes.

use ruff_python_ast as py;

use super::{ParseResult, Parser};
use crate::grammar::source::SyntaxError;
use crate::grammar::{AttrValue, Attrs, DataType, FloatBits, Name, PrimExpr};
use crate::syntax::tvmscript::metadata::{ABSENT, MetadataEntry, reference};
use crate::syntax::tvmscript::read::attr_in;

/// The name after `T.`.
pub(super) fn t_name(e: &py::Expr) -> Option<&str> {
    match e {
        py::Expr::Attribute(a) => match &*a.value {
            py::Expr::Name(module) if module.id == "T" => Some(a.attr.as_str()),
            _ => None,
        },
        _ => None,
    }
}

/// `ptx.mma` for `T.ptx.mma`.
pub(super) fn t_path(e: &py::Expr) -> Option<String> {
    let mut words = Vec::new();
    let mut e = e;
    while let py::Expr::Attribute(a) = e {
        words.push(a.attr.as_str());
        e = &a.value;
    }
    match e {
        py::Expr::Name(module) if module.id == "T" && words.len() > 1 => {
            words.reverse();
            Some(words.join("."))
        }
        _ => None,
    }
}

/// `T.meta_var(e)` and `I.meta_var(e)`: another name for the expression inside.
pub(super) fn meta_var(e: &py::Expr) -> Option<&py::Expr> {
    let py::Expr::Call(call) = e else { return None };
    let py::Expr::Attribute(callee) = &*call.func else { return None };
    let py::Expr::Name(module) = &*callee.value else { return None };
    match (module.id.as_str(), callee.attr.as_str(), &*call.arguments.args) {
        ("T" | "I", "meta_var", [one]) => Some(one),
        (_, _, _) => None,
    }
}

/// `T.name(..)`.
pub(super) fn t_call(e: &py::Expr) -> Option<(&str, &py::ExprCall)> {
    match e {
        py::Expr::Call(call) => t_name(&call.func).map(|name| (name, call)),
        _ => None,
    }
}

/// `T.axis.name(..)`.
pub(super) fn axis_call(e: &py::Expr) -> Option<(&str, &py::ExprCall)> {
    let py::Expr::Call(call) = e else { return None };
    match &*call.func {
        py::Expr::Attribute(a) if t_name(&a.value) == Some("axis") => Some((a.attr.as_str(), call)),
        _ => None,
    }
}

/// The elements of a tuple or list. Any other expression is a single element.
pub(super) fn elements(e: &py::Expr) -> &[py::Expr] {
    match e {
        py::Expr::Tuple(t) => &t.elts,
        py::Expr::List(l) => &l.elts,
        _ => std::slice::from_ref(e),
    }
}

/// The arguments of a call.
pub(super) struct TirCallArguments<'a> {
    positional: &'a [py::Expr],
    keywords: &'a [py::Keyword],
}

impl<'a> TirCallArguments<'a> {
    /// The arguments of a call in which `*A.shape` may stand for several.
    pub fn starred(parser: &Parser, call: &'a py::ExprCall) -> ParseResult<TirCallArguments<'a>> {
        match call.arguments.args.iter().any(py::Expr::is_starred_expr) {
            true => Ok(TirCallArguments { positional: &call.arguments.args, keywords: &call.arguments.keywords }),
            false => TirCallArguments::new(parser, call),
        }
    }

    pub fn new(parser: &Parser, call: &'a py::ExprCall) -> ParseResult<TirCallArguments<'a>> {
        if let Some(starred) = call.arguments.args.iter().find(|e| e.is_starred_expr()) {
            return parser.error(starred, "a starred argument is not supported");
        }
        if let Some(keyword) = call.arguments.keywords.iter().find(|k| k.arg.is_none()) {
            return parser.error(keyword, "a starred argument is not supported");
        }
        Ok(TirCallArguments { positional: &call.arguments.args, keywords: &call.arguments.keywords })
    }

    /// The arguments in `T.Buffer[..]`: only the shape, or the shape and the datatype.
    pub fn subscript(slice: &'a py::Expr) -> TirCallArguments<'a> {
        let positional = match slice {
            py::Expr::Tuple(t) if matches!(t.elts.get(1), Some(py::Expr::StringLiteral(_))) => t.elts.as_slice(),
            _ => std::slice::from_ref(slice),
        };
        TirCallArguments { positional, keywords: &[] }
    }

    pub fn positional(&self) -> &'a [py::Expr] {
        self.positional
    }

    pub fn named(&self, name: &str) -> Option<&'a py::Expr> {
        let keyword = self.keywords.iter().find(|k| k.arg.as_ref().is_some_and(|arg| arg.as_str() == name));
        keyword.map(|k| &k.value)
    }

    /// An argument by name or by position.
    pub fn get(&self, name: &str, position: usize) -> Option<&'a py::Expr> {
        self.named(name).or_else(|| self.positional.get(position))
    }

    /// The first keyword that is not in this list.
    pub fn unknown_keyword(&self, known: &[&str]) -> Option<&'a py::Keyword> {
        self.keywords.iter().find(|k| !k.arg.as_ref().is_some_and(|arg| known.contains(&arg.as_str())))
    }
}

impl Parser<'_> {
    pub(super) fn string(&self, e: &py::Expr) -> ParseResult<Name> {
        match e {
            py::Expr::StringLiteral(s) => Ok(s.value.to_str().into()),
            py::Expr::Subscript(subscript) if reference(subscript).is_some() => match self.metadata_entry(subscript)? {
                MetadataEntry::Text(text) => Ok(text),
                MetadataEntry::Tensor(_) | MetadataEntry::DataType(_) => self.error(e, "expected a string"),
            },
            _ => self.error(e, "expected a string"),
        }
    }

    /// The entry of the metadata under a number.
    pub(super) fn metadata_entry(&self, subscript: &py::ExprSubscript) -> ParseResult<MetadataEntry> {
        match (self.metadata, reference(subscript)) {
            (Some(metadata), Some((list, number))) => {
                metadata.entry(list, number).or_else(|error| self.error(subscript, error.to_string()))
            }
            (_, _) => self.error(subscript, ABSENT),
        }
    }

    pub(super) fn boolean(&self, e: &py::Expr) -> ParseResult<bool> {
        match e {
            py::Expr::BooleanLiteral(b) => Ok(b.value),
            _ => self.error(e, "expected `True` or `False`"),
        }
    }

    /// `"float32"` or `T.float32`. `A.dtype` is that of a buffer, `T.handle("float32").ty` that of a pointer.
    pub(super) fn dtype(&self, e: &py::Expr) -> ParseResult<DataType> {
        if let py::Expr::Attribute(attribute) = e {
            match (attribute.attr.as_str(), &*attribute.value) {
                ("dtype", buffer) => return self.buffer_use(buffer).map(|buffer| buffer.dtype),
                ("ty", made) if t_call(made).is_some() => return self.dtype_annotation(made),
                (_, _) => {}
            }
        }
        let text = match (e, t_name(e)) {
            (py::Expr::StringLiteral(s), _) => s.value.to_str(),
            (_, Some(name)) => name,
            (_, None) => return self.error(e, "expected a data type such as \"float32\""),
        };
        text.parse().or_else(|error: crate::grammar::DataTypeError| self.error(e, error.to_string()))
    }

    /// An integer constant.
    pub(super) fn integer(&self, e: &py::Expr) -> ParseResult<i64> {
        if let AttrValue::Int(i) = self.attr(e)? { Ok(i) } else { self.error(e, "expected an integer") }
    }

    /// The only argument of a call, a dictionary.
    pub(super) fn attrs_argument(&self, call: &py::ExprCall) -> ParseResult<Attrs> {
        match call.arguments.args.as_ref() {
            [dict] => self.attrs(dict),
            _ => self.error(call, "expected one argument, a dictionary"),
        }
    }

    pub(super) fn attrs(&self, e: &py::Expr) -> ParseResult<Attrs> {
        let py::Expr::Dict(dict) = e else { return self.error(e, "expected a dictionary") };
        let mut attrs = Attrs::new();
        for item in &dict.items {
            let Some(key) = &item.key else { return self.error(&item.value, "expected a key") };
            if attrs.insert(self.string(key)?, self.attr(&item.value)?).is_some() {
                return self.error(key, "this key occurs twice");
            }
        }
        Ok(attrs)
    }

    /// The value of an attribute: a literal, or a constant such as `T.int64(1)`.
    pub(super) fn attr(&self, e: &py::Expr) -> ParseResult<AttrValue> {
        match e {
            py::Expr::NoneLiteral(_) => Ok(AttrValue::None),
            py::Expr::BooleanLiteral(b) => Ok(AttrValue::Bool(b.value)),
            py::Expr::StringLiteral(s) => Ok(AttrValue::Str(s.value.to_str().into())),
            py::Expr::NumberLiteral(_) | py::Expr::UnaryOp(_) => self.number_attr(e),
            py::Expr::Tuple(_) | py::Expr::List(_) => {
                elements(e).iter().map(|e| self.attr(e)).collect::<ParseResult<_>>().map(AttrValue::List)
            }
            py::Expr::Dict(_) => self.attrs(e).map(AttrValue::Dict),
            // Schedules refer to buffers by name.
            py::Expr::Name(name) => Ok(AttrValue::Prim(PrimExpr::var(&name.id))),
            _ => match t_call(e).map(|(name, call)| (name, call.arguments.args.as_ref())) {
                Some((name, [value])) if name.parse::<DataType>().is_ok() => self.attr(value),
                Some(_) | None => self.other_attr(e),
            },
        }
    }

    /// An object, a function between indices, an expression.
    fn other_attr(&self, e: &py::Expr) -> ParseResult<AttrValue> {
        if let py::Expr::Subscript(subscript) = e
            && reference(subscript).is_some()
        {
            return self.string(e).map(AttrValue::Str);
        }
        attr_in(self.text, e).map_err(|(span, message)| SyntaxError::at(self.text, span, message))
    }

    fn number_attr(&self, e: &py::Expr) -> ParseResult<AttrValue> {
        match number(e) {
            Some(UntypedNumber::Int(i)) => match i64::try_from(i) {
                Ok(i) => Ok(AttrValue::Int(i)),
                Err(_) => self.error(e, "this integer does not fit into 64 bits"),
            },
            Some(UntypedNumber::Float(f)) => Ok(AttrValue::Float(FloatBits::new(f))),
            None => self.error(e, "expected a number"),
        }
    }
}

/// A plain number without a datatype.
#[derive(Clone, Copy)]
pub(super) enum UntypedNumber {
    Int(i128),
    Float(f64),
}

/// A number literal with its signs.
pub(super) fn number(e: &py::Expr) -> Option<UntypedNumber> {
    match e {
        py::Expr::NumberLiteral(literal) => match &literal.value {
            py::Number::Int(i) => i.as_u64().map(|u| UntypedNumber::Int(u.into())),
            py::Number::Float(f) => Some(UntypedNumber::Float(*f)),
            py::Number::Complex { .. } => None,
        },
        py::Expr::UnaryOp(unary) => match (unary.op, &*unary.operand) {
            (py::UnaryOp::USub, py::Expr::NumberLiteral(_)) => number(&unary.operand).map(UntypedNumber::negate),
            (py::UnaryOp::UAdd, py::Expr::NumberLiteral(_)) => number(&unary.operand),
            (py::UnaryOp::Invert | py::UnaryOp::Not | py::UnaryOp::USub | py::UnaryOp::UAdd, _) => None,
        },
        _ => None,
    }
}

impl UntypedNumber {
    pub fn negate(self) -> UntypedNumber {
        match self {
            UntypedNumber::Int(i) => UntypedNumber::Int(-i),
            UntypedNumber::Float(f) => UntypedNumber::Float(-f),
        }
    }
}
