//! `PrimFunc`s as TVMScript: the text that current versions of TVM print, and older spellings of it.
//!
//! The meaning is that of TVM. A number without a datatype takes that of its context, or int32 or float32 if there is
//! none. Operands of different datatypes are cast to the wider one, and a stored value to that of its buffer. Unlike in
//! TVM, nothing is folded except arithmetic between plain numbers.

mod args;
mod block;
mod buffer;
mod builtin;
mod call;
mod expr;
mod splice;
mod stmt;
mod vector;

use std::collections::HashMap;
use std::rc::Rc;

use ruff_python_ast as py;
use ruff_text_size::{Ranged, TextRange};

use super::metadata::Metadata;
use crate::grammar::source::{MAX_DEPTH, SyntaxError};
use crate::grammar::tir::{Buffer, Expr, Param, PrimFunc, Stmt, Var};
use crate::grammar::{Attrs, DataType, Name, Span};
use crate::judge::with_stack;
use crate::scope::Context;
use args::{TirCallArguments, t_call, t_name};
pub(super) use builtin::{Gives, gives};

type ParseResult<T> = Result<T, SyntaxError>;

/// Reads a `PrimFunc` from its definition in a parsed Python text.
///
/// Shape variables without a declaration have datatype int64.
pub fn parse_prim_func(def: &py::StmtFunctionDef, text: &str) -> ParseResult<PrimFunc> {
    Parser::new(text, None).function(def)
}

/// Like [`parse_prim_func`], for a text that refers to metadata.
pub(super) fn parse_with<'t>(
    def: &py::StmtFunctionDef,
    text: &'t str,
    metadata: Option<&'t Metadata<'t>>,
) -> ParseResult<PrimFunc> {
    Parser::new(text, metadata).function(def)
}

/// The meaning of a name.
#[derive(Clone)]
enum ParsedName {
    Var(DataType),
    /// The variable of a loop over `start..stop`.
    Loop(DataType, Expr, Expr),
    Buffer(Rc<Buffer>),
    /// A parameter that can be matched with a buffer: its position.
    Handle(usize),
    /// Another name for an expression.
    Meta(Expr),
}

struct Parser<'t> {
    text: &'t str,
    metadata: Option<&'t Metadata<'t>>,
    /// The definitions of each name, the innermost last, each with a serial number.
    defs: Context<Name, (usize, ParsedName)>,
    /// The number of definitions so far.
    definitions: usize,
    /// The number of nodes inserted in place of names.
    spliced: usize,
    params: Vec<Param>,
    /// The datatypes that the body declares for variables.
    declared: HashMap<Name, DataType>,
    /// The datatype of the shape variable that an unknown name defines, if that is allowed.
    implicit: Option<DataType>,
    /// The position of the string whose content is being read as an expression.
    quoted: Option<Span>,
    depth: usize,
    /// Whether a block was read.
    blocks: bool,
    /// The declared datatype of the function's result.
    returns: Option<DataType>,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, metadata: Option<&'t Metadata<'t>>) -> Parser<'t> {
        Parser {
            text,
            metadata,
            defs: Context::new(),
            definitions: 0,
            spliced: 0,
            params: Vec::new(),
            declared: HashMap::new(),
            implicit: None,
            quoted: None,
            depth: 0,
            blocks: false,
            returns: None,
        }
    }

    fn span(&self, range: TextRange) -> Span {
        self.quoted.unwrap_or_else(|| Span::new(range.start().into(), range.end().into()))
    }

    fn error<T>(&self, at: &impl Ranged, message: impl Into<String>) -> ParseResult<T> {
        Err(SyntaxError::at(self.text, self.span(at.range()), message))
    }

    /// Runs `body` in a new scope, one level deeper.
    fn scoped<T>(&mut self, at: &impl Ranged, body: impl FnOnce(&mut Self) -> ParseResult<T>) -> ParseResult<T> {
        let mark = self.defs.mark();
        let result = self.nested(at, body);
        self.defs.leave(mark);
        result
    }

    /// Runs `body` one level deeper, with enough stack.
    fn nested<T>(&mut self, at: &impl Ranged, body: impl FnOnce(&mut Self) -> ParseResult<T>) -> ParseResult<T> {
        if self.depth >= MAX_DEPTH {
            return self.error(at, format!("nested more than {MAX_DEPTH} deep"));
        }
        self.depth += 1;
        let result = with_stack(|| body(self));
        self.depth -= 1;
        result
    }

    fn function(&mut self, def: &py::StmtFunctionDef) -> ParseResult<PrimFunc> {
        self.declared = declarations(&def.body);
        let (private, s_tir) = self.decorator(def)?;
        for param in def.parameters.iter_source_order() {
            self.param(param)?;
        }
        self.returns = self.result(def)?;
        let mut root = Root { attrs: Attrs::new(), allocs: Vec::new() };
        let mut body = Vec::new();
        let rest = self.header(&def.body, &mut root)?;
        self.sequence(rest, &mut body)?;
        Ok(PrimFunc {
            params: std::mem::take(&mut self.params),
            attrs: root.attrs,
            ret: self.returns,
            private,
            s_tir: s_tir.unwrap_or(self.blocks || !root.allocs.is_empty()),
            allocs: root.allocs,
            body,
            span: self.span(def.range),
        })
    }

    /// The datatype after `->`, unless that is `None`.
    fn result(&self, def: &py::StmtFunctionDef) -> ParseResult<Option<DataType>> {
        match def.returns.as_deref() {
            None | Some(py::Expr::NoneLiteral(_)) => Ok(None),
            Some(annotation) => self.dtype_annotation(annotation).map(Some),
        }
    }

    /// `@T.prim_func` with or without `private` and `s_tir`.
    fn decorator(&self, def: &py::StmtFunctionDef) -> ParseResult<(bool, Option<bool>)> {
        let [decorator] = def.decorator_list.as_slice() else {
            return self.error(&def.name, "expected one decorator, `@T.prim_func`");
        };
        if t_name(&decorator.expression) == Some("prim_func") {
            return Ok((false, None));
        }
        let Some(("prim_func", call)) = t_call(&decorator.expression) else {
            return self.error(decorator, "expected `@T.prim_func`");
        };
        let args = TirCallArguments::new(self, call)?;
        let flag = |name| args.named(name).map(|e| self.boolean(e)).transpose();
        Ok((flag("private")?.unwrap_or(false), flag("s_tir")?))
    }

    fn param(&mut self, param: py::AnyParameterRef) -> ParseResult<()> {
        let py::AnyParameterRef::NonVariadic(with_default) = param else {
            return self.error(&param, "a PrimFunc has a fixed number of parameters");
        };
        let param = &with_default.parameter;
        let (Some(annotation), None) = (&param.annotation, &with_default.default) else {
            return self.error(param, "expected a parameter with an annotation and without a default");
        };
        let name: Name = param.name.as_str().into();
        let span = self.span(param.name.range);
        let param = match self.param_type(annotation)? {
            ParamType::Buffer(args) => {
                let buffer = self.implicitly(|p| p.buffer(&name, span, &args, &buffer::BUFFER))?;
                self.define(&name, ParsedName::Buffer(Rc::new(buffer.clone())));
                Param::Buffer(buffer)
            }
            ParamType::Handle => {
                self.define(&name, ParsedName::Handle(self.params.len()));
                Param::Handle(Var { name, dtype: DataType::HANDLE, span })
            }
            ParamType::Scalar(dtype) => {
                // A buffer to the left may have used the variable in its shape already.
                if !matches!(self.lookup(&name), Some(ParsedName::Var(_))) {
                    self.define(&name, ParsedName::Var(dtype));
                }
                Param::Scalar(Var { name, dtype, span })
            }
        };
        self.params.push(param);
        Ok(())
    }

    fn param_type<'a>(&self, annotation: &'a py::Expr) -> ParseResult<ParamType<'a>> {
        let expected = "expected `T.Buffer(..)`, `T.handle` or a scalar type such as `T.int64`";
        match annotation {
            py::Expr::Subscript(subscript) if t_name(&subscript.value) == Some("Buffer") => {
                Ok(ParamType::Buffer(TirCallArguments::subscript(&subscript.slice)))
            }
            _ => match (t_name(annotation), t_call(annotation)) {
                (Some("handle"), _) | (_, Some(("handle" | "Ptr", _))) => Ok(ParamType::Handle),
                (_, Some(("Buffer", call))) => Ok(ParamType::Buffer(TirCallArguments::new(self, call)?)),
                (_, Some(("var", call))) => match call.arguments.args.as_ref() {
                    [dtype] => Ok(ParamType::Scalar(self.dtype(dtype)?)),
                    _ => self.error(annotation, expected),
                },
                (Some(name), _) | (_, Some((name, _))) => match name.parse() {
                    Ok(dtype) => Ok(ParamType::Scalar(dtype)),
                    Err(_) => self.error(annotation, expected),
                },
                (None, None) => self.error(annotation, expected),
            },
        }
    }

    /// Runs `body` so that unknown names define shape variables.
    fn implicitly<T>(&mut self, body: impl FnOnce(&mut Self) -> ParseResult<T>) -> ParseResult<T> {
        self.implicit = Some(DataType::INT64);
        let result = body(self);
        self.implicit = None;
        result
    }

    /// Reads the statements at the start that belong to the function itself, and returns the rest.
    fn header<'a>(&mut self, body: &'a [py::Stmt], root: &mut Root) -> ParseResult<&'a [py::Stmt]> {
        let mut rest = body;
        while let [first, after @ ..] = rest {
            if !self.header_stmt(first, root)? {
                break;
            }
            rest = after;
        }
        Ok(rest)
    }

    /// Whether the statement belongs to the function's header.
    fn header_stmt(&mut self, stmt: &py::Stmt, root: &mut Root) -> ParseResult<bool> {
        match stmt {
            py::Stmt::Expr(e) if matches!(&*e.value, py::Expr::StringLiteral(_)) => Ok(true),
            py::Stmt::Expr(e) => match t_call(&e.value) {
                Some(("func_attr", call)) => {
                    root.attrs = self.attrs_argument(call)?;
                    Ok(true)
                }
                // The regions of the root block follow from those of the inner blocks.
                Some(("reads" | "writes", _)) => Ok(true),
                Some(_) | None => Ok(false),
            },
            py::Stmt::Assign(assign) => self.header_assign(assign, root),
            _ => Ok(false),
        }
    }

    fn header_assign(&mut self, assign: &py::StmtAssign, root: &mut Root) -> ParseResult<bool> {
        if self.declare(assign)? {
            return Ok(true);
        }
        let ([py::Expr::Name(target)], Some((name, call))) = (assign.targets.as_slice(), t_call(&assign.value)) else {
            return Ok(false);
        };
        match name {
            "match_buffer" => {
                let buffer = self.match_param(target, call)?;
                self.define(&buffer.name.clone(), ParsedName::Buffer(Rc::new(buffer)));
                Ok(true)
            }
            "sblock_alloc_buffer" => {
                let buffer = self.alloc(target, call)?;
                root.allocs.push(buffer);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// `n = T.int64()`, or several of these in tuples. Returns whether the statement has this form.
    fn declare(&mut self, assign: &py::StmtAssign) -> ParseResult<bool> {
        let declared = declared_by(assign);
        for (name, dtype) in &declared {
            match self.lookup(name) {
                // A shape has used it already.
                Some(ParsedName::Var(known)) if known == dtype => {}
                Some(ParsedName::Var(known)) => {
                    return self.error(assign, format!("`{name}` has the data type {known} already"));
                }
                Some(ParsedName::Loop(..) | ParsedName::Buffer(_) | ParsedName::Handle(_) | ParsedName::Meta(_))
                | None => {
                    self.define(name, ParsedName::Var(*dtype));
                }
            }
        }
        Ok(!declared.is_empty())
    }

    /// `A = T.match_buffer(a, ..)` for a parameter `a`, which it replaces.
    fn match_param(&mut self, target: &py::ExprName, call: &py::ExprCall) -> ParseResult<Buffer> {
        let args = TirCallArguments::new(self, call)?;
        let param = match args.get("param", 0) {
            Some(py::Expr::Name(name)) => match self.lookup(&name.id) {
                Some(ParsedName::Handle(index)) => *index,
                Some(ParsedName::Var(_) | ParsedName::Loop(..) | ParsedName::Buffer(_) | ParsedName::Meta(_))
                | None => {
                    return self.error(name, "expected a parameter that is a handle, not matched yet");
                }
            },
            Some(_) | None => return self.error(call, "expected a parameter to match with"),
        };
        let (name, span) = (Name::from(target.id.as_str()), self.span(target.range));
        let buffer = self.implicitly(|p| p.buffer(&name, span, &args, &buffer::MATCH))?;
        match self.params.get_mut(param) {
            Some(slot @ Param::Handle(_)) => {
                *slot = Param::Buffer(buffer.clone());
                Ok(buffer)
            }
            Some(Param::Buffer(_) | Param::Scalar(_)) | None => {
                self.error(call, "this parameter is matched with a buffer already")
            }
        }
    }

    /// A sequence of statements, in the scope that the caller opened.
    fn sequence(&mut self, stmts: &[py::Stmt], out: &mut Vec<Stmt>) -> ParseResult<()> {
        let mut rest = stmts;
        while let [first, after @ ..] = rest {
            rest = after;
            if self.stmt(first, after, out)? {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// The results of the function's header.
struct Root {
    attrs: Attrs,
    allocs: Vec<Buffer>,
}

enum ParamType<'a> {
    Scalar(DataType),
    Buffer(TirCallArguments<'a>),
    Handle,
}

/// The variables and datatypes that the statements of a body declare.
fn declarations(body: &[py::Stmt]) -> HashMap<Name, DataType> {
    let assigns = body.iter().filter_map(|stmt| match stmt {
        py::Stmt::Assign(assign) => Some(assign),
        _ => None,
    });
    assigns.flat_map(declared_by).collect()
}

/// `n = T.int64()`, `n, m = T.int64(), T.int64()`, `n = T.var("int64")`: the names and datatypes; empty for any other
/// statement.
fn declared_by(assign: &py::StmtAssign) -> Vec<(Name, DataType)> {
    let [target] = assign.targets.as_slice() else { return Vec::new() };
    let pairs: Vec<(&py::Expr, &py::Expr)> = match (target, &*assign.value) {
        (py::Expr::Tuple(t), py::Expr::Tuple(v)) if t.elts.len() == v.elts.len() => {
            t.elts.iter().zip(v.elts.iter()).collect()
        }
        (target, value) => vec![(target, value)],
    };
    let declared: Option<Vec<_>> = pairs.into_iter().map(|(target, value)| declaration(target, value)).collect();
    declared.unwrap_or_default()
}

fn declaration(target: &py::Expr, value: &py::Expr) -> Option<(Name, DataType)> {
    let (py::Expr::Name(target), Some((name, call))) = (target, t_call(value)) else { return None };
    let dtype = match (name, call.arguments.args.as_ref()) {
        ("handle", _) => return None,
        ("var", [py::Expr::StringLiteral(dtype)]) => dtype.value.to_str().parse().ok()?,
        (dtype, []) => dtype.parse().ok()?,
        (_, [_, ..]) => return None,
    };
    Some((target.id.as_str().into(), dtype))
}

#[cfg(test)]
mod tests;
