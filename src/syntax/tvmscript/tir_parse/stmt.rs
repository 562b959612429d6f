//! Statements.

use std::rc::Rc;

use ruff_python_ast as py;
use ruff_text_size::Ranged;

use super::args::{TirCallArguments, elements, meta_var, t_call, t_name};
use super::{ParseResult, ParsedName, Parser};
use crate::grammar::tir::{
    Assert, AttrStmt, Buffer, BufferVar, Decl, Expr, If, LaunchThread, Let, Stmt, Store, Var, While, lanes,
};
use crate::grammar::{BinaryOp, DataType, Span};

impl Parser<'_> {
    /// A body in a new scope.
    pub(super) fn body(&mut self, at: &impl Ranged, stmts: &[py::Stmt]) -> ParseResult<Vec<Stmt>> {
        self.scoped(at, |p| {
            let mut body = Vec::new();
            p.sequence(stmts, &mut body)?;
            Ok(body)
        })
    }

    /// A statement. Returns true if the statements after it belong to it too.
    pub(super) fn stmt(&mut self, stmt: &py::Stmt, after: &[py::Stmt], out: &mut Vec<Stmt>) -> ParseResult<bool> {
        match stmt {
            py::Stmt::Assign(assign) => return self.assign(assign, after, out),
            py::Stmt::Expr(e) => return self.expr_stmt(e, after, out),
            py::Stmt::AnnAssign(assign) => self.ann_assign(assign, out)?,
            py::Stmt::AugAssign(assign) => out.push(self.aug_assign(assign)?),
            py::Stmt::For(stmt) => out.push(self.for_stmt(stmt)?),
            py::Stmt::With(stmt) => self.with(stmt, out)?,
            py::Stmt::If(stmt) => out.push(self.if_stmt(stmt)?),
            py::Stmt::While(stmt) if stmt.orelse.is_empty() => {
                let condition = self.condition(&stmt.test)?;
                let body = self.body(stmt, &stmt.body)?;
                out.push(Stmt::While(While { condition, body, span: self.span(stmt.range) }));
            }
            py::Stmt::Assert(stmt) => out.push(self.assert(stmt)?),
            py::Stmt::Pass(_) => {}
            py::Stmt::Return(stmt) => {
                let value = self.return_stmt(stmt)?;
                out.push(Stmt::Evaluate(value));
            }
            py::Stmt::Break(_) => out.push(Stmt::Break),
            py::Stmt::Continue(_) => out.push(Stmt::Continue),
            _ => return self.error(stmt, "expected a statement of TIR"),
        }
        Ok(false)
    }

    fn assign(&mut self, assign: &py::StmtAssign, after: &[py::Stmt], out: &mut Vec<Stmt>) -> ParseResult<bool> {
        let [target] = assign.targets.as_slice() else {
            return self.error(assign, "expected one target");
        };
        match (target, t_call(&assign.value)) {
            (py::Expr::Subscript(target), _) => out.push(self.store(target, &assign.value, assign)?),
            (py::Expr::Name(target), Some(("launch_thread", call))) => {
                out.push(self.launch_thread(target, call, after)?);
                return Ok(true);
            }
            (py::Expr::Name(target), Some(("decl_buffer" | "Buffer", call))) => self.decl(target, call, out)?,
            (py::Expr::Name(target), Some((name, call))) if is_alloc(name) => {
                let buffer = self.alloc(target, call)?;
                out.push(Stmt::Alloc(buffer));
            }
            (py::Expr::Name(target), Some(("match_buffer", call))) => {
                let buffer = self.match_param(target, call)?;
                self.define(&buffer.name.clone(), ParsedName::Buffer(Rc::new(buffer)));
            }
            (py::Expr::Name(target), _) if meta_var(&assign.value).is_some() => {
                if let Some(value) = meta_var(&assign.value) {
                    let value = self.expr(value)?;
                    self.define(&target.id.as_str().into(), ParsedName::Meta(value));
                }
            }
            (py::Expr::Name(target), _) if view(&assign.value).is_some() => out.push(self.view(target, &assign.value)?),
            (py::Expr::Name(_) | py::Expr::Tuple(_), _) if self.declare(assign)? => {}
            (py::Expr::Name(target), _) if is_slice(&assign.value) => out.push(self.slice(target, &assign.value)?),
            (py::Expr::Name(target), _) => self.assign_name(target, &assign.value, None, assign, out)?,
            (py::Expr::Tuple(targets), _) => self.assign_each(&targets.elts, &assign.value, assign, out)?,
            (target, _) => return self.error(target, "expected a variable or an element of a buffer"),
        }
        Ok(false)
    }

    fn store(&mut self, target: &py::ExprSubscript, value: &py::Expr, at: &impl Ranged) -> ParseResult<Stmt> {
        let buffer = self.buffer_use(&target.value)?;
        let indices = self.indices(&target.slice, &buffer)?;
        let value = match lanes(&indices) {
            1 => self.expr_as(value, buffer.dtype)?,
            lanes => self.expr_as(value, DataType { lanes, ..buffer.dtype })?,
        };
        let var = buffer.var(self.span(target.value.range()));
        Ok(Stmt::Store(Store { buffer: var, indices, value, span: self.span(at.range()) }))
    }

    /// `m, n = A.shape`, `i, j = 0, 1`: a variable for each of them.
    fn assign_each(
        &mut self,
        targets: &[py::Expr],
        value: &py::Expr,
        at: &py::StmtAssign,
        out: &mut Vec<Stmt>,
    ) -> ParseResult<()> {
        let values = self.parts(value)?;
        if targets.len() != values.len() {
            return self.error(at, format!("there are {} values for {} variables", values.len(), targets.len()));
        }
        for (target, value) in targets.iter().zip(&values) {
            match target {
                py::Expr::Name(target) => self.assign_name(target, value, None, at, out)?,
                target => return self.error(target, "expected a variable"),
            }
        }
        Ok(())
    }

    /// The members of a tuple, or the dimensions `A.shape[i]` of a shape.
    fn parts(&mut self, e: &py::Expr) -> ParseResult<Vec<py::Expr>> {
        match e {
            py::Expr::Tuple(_) | py::Expr::List(_) => Ok(elements(e).to_vec()),
            py::Expr::Attribute(attribute) if attribute.attr.as_str() == "shape" => {
                let (rank, range) = (self.buffer_use(&attribute.value)?.shape.len(), e.range());
                let number = |at: usize| {
                    let value = py::Number::Int((at as u64).into());
                    py::Expr::NumberLiteral(py::ExprNumberLiteral {
                        node_index: py::AtomicNodeIndex::NONE,
                        range,
                        value,
                    })
                };
                let dim = |at| {
                    py::Expr::Subscript(py::ExprSubscript {
                        node_index: py::AtomicNodeIndex::NONE,
                        range,
                        value: e.clone().into(),
                        slice: number(at).into(),
                        ctx: py::ExprContext::Load,
                    })
                };
                Ok((0..rank).map(dim).collect())
            }
            _ => self.error(e, "expected a tuple, or the shape of a buffer"),
        }
    }

    /// `x = value`: a store to the only element of the buffer `x`, which is created if it does not exist.
    fn assign_name(
        &mut self,
        target: &py::ExprName,
        value: &py::Expr,
        dtype: Option<DataType>,
        at: &impl Ranged,
        out: &mut Vec<Stmt>,
    ) -> ParseResult<()> {
        let span = self.span(at.range());
        if let (None, Some(ParsedName::Buffer(buffer))) = (dtype, self.lookup(&target.id)) {
            let buffer = Rc::clone(buffer);
            let value = self.expr_as(value, buffer.dtype)?;
            return match buffer.shape.as_slice() {
                [Expr::Int(1, index)] => {
                    out.push(scalar_store(&buffer, *index, value, span));
                    Ok(())
                }
                _ => self.error(target, format!("expected an index after the buffer `{}`", target.id)),
            };
        }
        let value = match dtype {
            Some(dtype) => self.expr_as(value, dtype)?,
            None => self.expr(value)?,
        };
        let buffer = self.scalar(target, value.dtype());
        out.push(Stmt::Alloc(buffer.clone()));
        out.push(scalar_store(&buffer, DataType::INT32, value, span));
        Ok(())
    }

    /// Defines a mutable scalar, that is, a local buffer with one element.
    fn scalar(&mut self, target: &py::ExprName, dtype: DataType) -> Buffer {
        let mut buffer = Buffer::new(&target.id, vec![Expr::Int(1, DataType::INT32)], dtype);
        buffer.scope = "local".into();
        buffer.span = self.span(target.range);
        self.define(&buffer.name, ParsedName::Buffer(Rc::new(buffer.clone())));
        buffer
    }

    /// `x: T.let[T.int32] = value`, or `x: T.int32 = value` for a mutable scalar.
    fn ann_assign(&mut self, assign: &py::StmtAnnAssign, out: &mut Vec<Stmt>) -> ParseResult<()> {
        let py::Expr::Name(target) = &*assign.target else {
            return self.error(assign, "expected a variable");
        };
        let (immutable, dtype) = match &*assign.annotation {
            annotation if t_name(annotation) == Some("let") => (true, None),
            py::Expr::Subscript(s) if t_name(&s.value) == Some("let") => (true, Some(self.dtype_annotation(&s.slice)?)),
            annotation => (false, Some(self.dtype_annotation(annotation)?)),
        };
        match (&assign.value, dtype, immutable) {
            (Some(value), dtype, true) => {
                let value = match dtype {
                    Some(dtype) => self.expr_as(value, dtype)?,
                    None => self.expr(value)?,
                };
                let var = Var { name: target.id.as_str().into(), dtype: value.dtype(), span: self.span(target.range) };
                self.define(&var.name, ParsedName::Var(var.dtype));
                out.push(Stmt::Let(Let { var, value, span: self.span(assign.range) }));
            }
            (Some(value), Some(dtype), false) => self.assign_name(target, value, Some(dtype), assign, out)?,
            (None, Some(dtype), false) => {
                let buffer = self.scalar(target, dtype);
                out.push(Stmt::Alloc(buffer));
            }
            (_, None, _) | (None, _, true) => return self.error(assign, "expected a value"),
        }
        Ok(())
    }

    /// `T.int32`, `T.int32()` or `T.handle("float32")`.
    pub(super) fn dtype_annotation(&self, e: &py::Expr) -> ParseResult<DataType> {
        match t_call(e) {
            Some((name, _)) => name.parse().or_else(|_| self.error(e, "expected a data type such as `T.int32`")),
            None => self.dtype(e),
        }
    }

    fn aug_assign(&mut self, assign: &py::StmtAugAssign) -> ParseResult<Stmt> {
        let span = self.span(assign.range);
        let (buffer, indices) = match &*assign.target {
            py::Expr::Subscript(target) => {
                let buffer = self.buffer_use(&target.value)?;
                let indices = self.indices(&target.slice, &buffer)?;
                (buffer, indices)
            }
            target => {
                let buffer = self.buffer_use(target)?;
                (buffer, vec![Expr::Int(0, DataType::INT32)])
            }
        };
        if buffer.shape.len() != indices.len() {
            return self.error(assign, format!("expected an index after the buffer `{}`", buffer.name));
        }
        let var = buffer.var(self.span(assign.target.range()));
        let load = Expr::Load(crate::grammar::tir::Load { buffer: var.clone(), indices: indices.clone(), span });
        let value = self.augmented(assign, load)?;
        let value = if value.dtype() == buffer.dtype { value } else { Expr::Cast(buffer.dtype, Box::new(value)) };
        Ok(Stmt::Store(Store { buffer: var, indices, value, span }))
    }

    fn decl(&mut self, target: &py::ExprName, call: &py::ExprCall, out: &mut Vec<Stmt>) -> ParseResult<()> {
        let data = match TirCallArguments::new(self, call)?.get("data", 2) {
            None | Some(py::Expr::NoneLiteral(_)) => None,
            Some(data) => Some(match self.expr(data)? {
                Expr::Data(source) => source,
                Expr::Var(Var { name, dtype, span }) => BufferVar { name, dtype, span },
                value if value.dtype() == DataType::HANDLE => {
                    // A computed pointer gets a name.
                    let span = self.span(call.range());
                    let var = Var { name: format!("{}_data", target.id).as_str().into(), dtype: value.dtype(), span };
                    self.define(&var.name, ParsedName::Var(var.dtype));
                    let pointer = BufferVar { name: var.name.clone(), dtype: var.dtype, span };
                    out.push(Stmt::Let(Let { var, value, span }));
                    pointer
                }
                _ => return self.error(data, "expected the memory of a buffer, `A.data`, or a pointer"),
            }),
        };
        let buffer = self.alloc(target, call)?;
        out.push(match data {
            // A declaration without memory allocates.
            None => Stmt::Alloc(buffer),
            Some(data) => Stmt::Decl(Decl { buffer, data }),
        });
        Ok(())
    }

    /// `D = C.view(256)`: the same memory in another shape.
    fn view(&mut self, target: &py::ExprName, value: &py::Expr) -> ParseResult<Stmt> {
        let Some((source, call)) = view(value) else { return self.error(value, "expected a view of a buffer") };
        let source = self.buffer_use(source)?;
        if !source.strides.is_empty() {
            return self.error(value, "a view of a buffer with strides has no meaning here");
        }
        let args = TirCallArguments::new(self, call)?;
        if let Some(keyword) = args.unknown_keyword(&["layout"]) {
            return self.error(keyword, "a view takes its dimensions, or a data type, and nothing else");
        }
        if let Some(layout) = args.named("layout").filter(|layout| !layout.is_none_literal_expr()) {
            return self.error(layout, "the layout of a view is not supported");
        }
        let mut buffer = Buffer { name: target.id.as_str().into(), span: self.span(target.range), ..(*source).clone() };
        if let Some(offset) = &source.elem_offset {
            buffer.elem_offset = Some(self.spliced(value, &source.name, offset)?);
        }
        match args.positional() {
            [dtype @ py::Expr::StringLiteral(_)] => {
                let dtype = self.dtype(dtype)?;
                buffer.shape = self.spliced_all(value, &source.name, &source.shape)?;
                recast(&mut buffer, dtype).or_else(|why| self.error(value, why))?;
            }
            dims => {
                let dims: Vec<Expr> = dims.iter().map(|e| self.expr(e)).collect::<ParseResult<_>>()?;
                buffer.shape = whole_view(dims, &source.shape).or_else(|why| self.error(value, why))?;
            }
        }
        self.define(&buffer.name, ParsedName::Buffer(Rc::new(buffer.clone())));
        Ok(Stmt::Decl(Decl { buffer, data: source.var(self.span(value.range())) }))
    }

    /// `D = C[1:6]`: a view of part of a buffer.
    fn slice(&mut self, target: &py::ExprName, value: &py::Expr) -> ParseResult<Stmt> {
        let region = self.region(value)?;
        let Some(source) = self.compact(&region.buffer.name) else {
            return self.error(value, "only a part of a compact buffer can be named");
        };
        let one = |e: &Expr| Expr::Int(1, e.dtype());
        let mut buffer = Buffer::new(&target.id, Vec::new(), source.dtype);
        (buffer.scope, buffer.span) = (source.scope.clone(), self.span(target.range));
        let mut offset: Option<Expr> = None;
        for (range, extent) in region.ranges.into_iter().zip(&source.shape) {
            let stop = range.stop.unwrap_or_else(|| folded(BinaryOp::Add, range.start.clone(), one(&range.start)));
            buffer.shape.push(folded(BinaryOp::Sub, stop, range.start.clone()));
            offset = Some(match offset {
                None => range.start,
                Some(before) => {
                    let scaled = folded(BinaryOp::Mul, before, extent.clone());
                    folded(BinaryOp::Add, scaled, range.start)
                }
            });
        }
        buffer.elem_offset = offset;
        self.define(&buffer.name, ParsedName::Buffer(Rc::new(buffer.clone())));
        Ok(Stmt::Decl(Decl { buffer, data: region.buffer }))
    }

    fn launch_thread(&mut self, target: &py::ExprName, call: &py::ExprCall, body: &[py::Stmt]) -> ParseResult<Stmt> {
        let [thread, extent] = call.arguments.args.as_ref() else {
            return self.error(call, "expected a thread axis and an extent");
        };
        let (thread, extent) = (self.string(thread)?, self.expr(extent)?);
        let var = Var { name: target.id.as_str().into(), dtype: extent.dtype(), span: self.span(target.range) };
        let span = self.span(call.range());
        self.define(&var.name, ParsedName::Var(var.dtype));
        let body = self.body(call, body)?;
        Ok(Stmt::LaunchThread(LaunchThread { var, thread, extent, body, span }))
    }

    fn expr_stmt(&mut self, stmt: &py::StmtExpr, after: &[py::Stmt], out: &mut Vec<Stmt>) -> ParseResult<bool> {
        match t_call(&stmt.value) {
            Some(("attr", call)) => {
                let body = self.body(call, after)?;
                out.push(self.attr_stmt(call, body)?);
                return Ok(true);
            }
            Some(("evaluate", call)) => match call.arguments.args.as_ref() {
                [value] => {
                    let value = self.expr(value)?;
                    out.push(Stmt::Evaluate(value));
                }
                _ => return self.error(call, "expected one expression"),
            },
            Some(("continue_loop", _)) => out.push(Stmt::Continue),
            Some(("break_loop", _)) => out.push(Stmt::Break),
            Some(("func_attr", call)) => return self.error(call, "expected this before all other statements"),
            Some((name @ ("reads" | "writes" | "where" | "sblock_attr" | "block_attr"), call)) => {
                return self.error(call, format!("`T.{name}` belongs at the start of a block"));
            }
            Some(_) => {
                let value = self.expr(&stmt.value)?;
                out.push(Stmt::Evaluate(value));
            }
            None if stmt.value.is_string_literal_expr() => {}
            None => return self.error(stmt, "expected a statement of TIR"),
        }
        Ok(false)
    }

    /// `T.attr({key: value})` or `T.attr(node, key, value)`.
    fn attr_stmt(&mut self, call: &py::ExprCall, body: Vec<Stmt>) -> ParseResult<Stmt> {
        let span = self.span(call.range());
        let (node, key, value) = match call.arguments.args.as_ref() {
            [py::Expr::Dict(dict)] => {
                let mut body = body;
                for item in dict.items.iter().rev() {
                    let Some(key) = &item.key else { return self.error(dict, "expected a key") };
                    let (key, value) = (self.string(key)?, self.expr(&item.value)?);
                    let node = Expr::Int(0, DataType::INT32);
                    body = vec![Stmt::Attr(AttrStmt { node, key, value, body, span })];
                }
                return match body.pop() {
                    Some(stmt @ Stmt::Attr(_)) if body.is_empty() && !dict.items.is_empty() => Ok(stmt),
                    Some(_) | None => self.error(call, "expected at least one attribute"),
                };
            }
            [node, key, value] => (self.attr_node(node)?, self.string(key)?, self.expr(value)?),
            _ => return self.error(call, "expected a node, a key and a value"),
        };
        Ok(Stmt::Attr(AttrStmt { node, key, value, body, span }))
    }

    /// The subject of an attribute. The name of a buffer stands for its memory.
    fn attr_node(&mut self, e: &py::Expr) -> ParseResult<Expr> {
        match e {
            py::Expr::Name(name) => match self.lookup(&name.id) {
                Some(ParsedName::Buffer(buffer)) => Ok(Expr::Data(buffer.var(self.span(name.range)))),
                Some(_) | None => self.expr(e),
            },
            _ => self.expr(e),
        }
    }

    fn if_stmt(&mut self, stmt: &py::StmtIf) -> ParseResult<Stmt> {
        let condition = self.condition(&stmt.test)?;
        let then = self.body(stmt, &stmt.body)?;
        let otherwise = self.else_clauses(&stmt.elif_else_clauses)?;
        Ok(Stmt::If(If { condition, then, otherwise, span: self.span(stmt.range) }))
    }

    fn else_clauses(&mut self, clauses: &[py::ElifElseClause]) -> ParseResult<Vec<Stmt>> {
        let [first, rest @ ..] = clauses else { return Ok(Vec::new()) };
        let Some(test) = &first.test else { return self.body(first, &first.body) };
        self.nested(first, |p| {
            let condition = p.condition(test)?;
            let then = p.body(first, &first.body)?;
            let otherwise = p.else_clauses(rest)?;
            Ok(vec![Stmt::If(If { condition, then, otherwise, span: p.span(first.range) })])
        })
    }

    fn assert(&mut self, stmt: &py::StmtAssert) -> ParseResult<Stmt> {
        let condition = self.condition(&stmt.test)?;
        let (kind, message) = match stmt.msg.as_deref() {
            Some(py::Expr::Tuple(t)) => match t.elts.as_slice() {
                [kind, message] => (self.string(kind)?, message),
                _ => return self.error(t, "expected the kind of the error and its message"),
            },
            Some(message) => ("RuntimeError".into(), message),
            None => {
                let span = self.span(stmt.range);
                return Ok(Stmt::Assert(Assert { condition, kind: "RuntimeError".into(), message: Vec::new(), span }));
            }
        };
        let message = elements(message).iter().map(|e| self.string(e)).collect::<ParseResult<_>>()?;
        Ok(Stmt::Assert(Assert { condition, kind, message, span: self.span(stmt.range) }))
    }

    fn with(&mut self, stmt: &py::StmtWith, out: &mut Vec<Stmt>) -> ParseResult<()> {
        let [item] = stmt.items.as_slice() else {
            return self.error(stmt, "expected one `with` item");
        };
        let target = item.optional_vars.as_deref();
        match (t_call(&item.context_expr), target) {
            (Some(("sblock" | "block", call)), None) => out.push(self.block(call, stmt)?),
            (Some(("attr", call)), None) => {
                let body = self.body(stmt, &stmt.body)?;
                out.push(self.attr_stmt(call, body)?);
            }
            (Some(("launch_thread", call)), Some(py::Expr::Name(target))) => {
                let launch = self.scoped(stmt, |p| p.launch_thread(target, call, &stmt.body))?;
                out.push(launch);
            }
            // Loops were once written with `with`.
            (Some(("grid" | "serial" | "parallel" | "vectorized" | "unroll", _)), Some(target)) => {
                out.push(self.loops(&item.context_expr, elements(target), stmt, &stmt.body)?);
            }
            (Some(("init", _)), _) => return self.error(stmt, "`T.init` belongs directly into a block"),
            _ => return self.error(item, "expected `T.sblock(..)`, `T.init()`, `T.attr(..)` or `T.launch_thread(..)`"),
        }
        Ok(())
    }
}

/// Whether this is a part of a buffer, as opposed to an element of it.
fn is_slice(e: &py::Expr) -> bool {
    match e {
        py::Expr::Subscript(s) => elements(&s.slice).iter().any(py::Expr::is_slice_expr),
        _ => false,
    }
}

/// The operation, computed immediately for constants.
fn folded(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    let constant = match (&a, &b) {
        (Expr::Int(x, dtype), Expr::Int(y, _)) => match op {
            BinaryOp::Add => x.checked_add(*y),
            BinaryOp::Sub => x.checked_sub(*y),
            BinaryOp::Mul => x.checked_mul(*y),
            _ => None,
        }
        .map(|value| Expr::Int(value, *dtype)),
        _ => None,
    };
    constant.unwrap_or_else(|| Expr::binary(op, a, b, Span::NONE))
}

/// A buffer on the same memory with elements of another datatype. It has the same number of bits, with the last
/// dimension in terms of the new elements.
fn recast(buffer: &mut Buffer, dtype: DataType) -> Result<(), &'static str> {
    let from = std::mem::replace(&mut buffer.dtype, dtype);
    let Some(last) = buffer.shape.last_mut() else { return Err("a scalar has no view of another data type") };
    let uneven = "so many elements of the buffer are no whole number of elements of this data type";
    *last = in_terms_of(last.clone(), from, dtype).ok_or(uneven)?;
    if let Some(offset) = &mut buffer.elem_offset {
        *offset = in_terms_of(offset.clone(), from, dtype).ok_or(uneven)?;
    }
    Ok(())
}

/// The number of elements of one datatype that take as many bits as a number of another one, if that is known to be an
/// integer.
fn in_terms_of(count: Expr, from: DataType, to: DataType) -> Option<Expr> {
    let (from, to) = (bits_in_memory(from), bits_in_memory(to));
    let dtype = count.dtype();
    match count {
        count if from == to => Some(count),
        count if from.checked_rem(to) == Some(0) => {
            Some(folded(BinaryOp::Mul, count, Expr::Int((from / to).into(), dtype)))
        }
        Expr::Int(count, _) if to.checked_rem(from) == Some(0) && count % i64::from(to / from) == 0 => {
            Some(Expr::Int(count / i64::from(to / from), dtype))
        }
        _ => None,
    }
}

fn bits_in_memory(dtype: DataType) -> u16 {
    if dtype.code == DataType::BOOL.code && dtype.bits == DataType::BOOL.bits { 8 } else { dtype.bits }
}

/// The shape of a view, in which -1 stands for the rest of the elements; or the reason why it is invalid. A view may
/// have fewer elements than its buffer, because TVM uses this form for every declaration that starts where the buffer
/// does.
fn whole_view(mut shape: Vec<Expr>, source: &[Expr]) -> Result<Vec<Expr>, &'static str> {
    if !shape.iter().all(|dim| matches!(dim.dtype(), DataType::INT32 | DataType::INT64)) {
        return Err("expected dimensions, of the data type int32 or int64");
    }
    if shape.iter().filter_map(size).any(|size| size < -1) {
        return Err("a dimension is not negative, but for -1, which stands for what is left of the elements");
    }
    let rests = shape.iter().filter(|dim| size(dim) == Some(-1)).count();
    let (of_source, of_others) = (elements_in(source), elements_in(shape.iter().filter(|dim| size(dim) != Some(-1))));
    match (rests, of_source, of_others) {
        (0, _, _) => Ok(shape),
        (1, Some(all), Some(others)) => {
            let divides = others != 0 && all % others == 0;
            let rest = divides.then(|| i64::try_from(all / others).ok()).flatten();
            let rest = rest.ok_or("the elements of the buffer cannot be divided among these dimensions")?;
            for dim in shape.iter_mut().filter(|dim| size(dim) == Some(-1)) {
                *dim = Expr::Int(rest, dim.dtype());
            }
            Ok(shape)
        }
        (1, _, _) => Err("expected dimensions, one of which may be -1 where all others are known"),
        (_, _, _) => Err("only one dimension can be what is left of the elements"),
    }
}

/// A dimension that is a literal number.
fn size(dim: &Expr) -> Option<i64> {
    if let Expr::Int(size, _) = dim { Some(*size) } else { None }
}

/// The number of elements, if all dimensions are literal numbers.
fn elements_in<'e>(dims: impl IntoIterator<Item = &'e Expr>) -> Option<i128> {
    dims.into_iter().try_fold(1i128, |all, dim| all.checked_mul(size(dim)?.into()))
}

/// `A.view(..)` as the buffer and the call.
fn view(e: &py::Expr) -> Option<(&py::Expr, &py::ExprCall)> {
    let py::Expr::Call(call) = e else { return None };
    match &*call.func {
        py::Expr::Attribute(callee) if callee.attr.as_str() == "view" && callee.value.is_name_expr() => {
            Some((&callee.value, call))
        }
        _ => None,
    }
}

fn is_alloc(name: &str) -> bool {
    matches!(name, "alloc_buffer" | "alloc_local" | "alloc_shared" | "sblock_alloc_buffer")
}

fn scalar_store(buffer: &Buffer, index: DataType, value: Expr, span: Span) -> Stmt {
    let var: BufferVar = buffer.var(span);
    Stmt::Store(Store { buffer: var, indices: vec![Expr::Int(0, index)], value, span })
}
