//! `PrimFunc`s. Names are made unique within a function, because only names distinguish variables here.

use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::{Graph, GraphResult, Id, NodeFields, float_of};
use crate::grammar::tir::{
    Assert, AttrStmt, Block, Buffer, BufferVar, Call, Conditional, Decl, Expr, Extern, For, ForKind, If, Intrinsic,
    Iter, IterKind, LaunchThread, Let, LetExpr, Load, MatchRegion, Param, PrimFunc, Ramp, Range, Region, Shuffle, Stmt,
    Store, Var, While,
};
use crate::grammar::{AttrValue, Attrs, BinaryOp, DataType, FloatBits, Name, ObjectCall, PrimExpr, Span};
use crate::judge::with_stack;

/// The default alignment of a buffer in TVM.
const USUAL_ALIGN: i64 = 64;

/// Reads a function with the name `name` in the module.
pub(super) fn prim_func(graph: &Graph<'_>, id: Id, name: &Name) -> GraphResult<PrimFunc> {
    let mut reader = TirReader {
        graph,
        taken: FxHashSet::default(),
        numbers: FxHashMap::default(),
        trail: Vec::new(),
        names: FxHashMap::default(),
        buffers: FxHashMap::default(),
        memory: FxHashMap::default(),
    };
    reader.prim_func(id, name)
}

struct TirReader<'g, 't> {
    graph: &'g Graph<'t>,
    /// The names in use at the current position.
    taken: FxHashSet<Name>,
    /// The number of names made from each.
    numbers: FxHashMap<Name, u32>,
    /// The same names in order. When a scope ends, its names may be used again, as in the text.
    trail: Vec<Name>,
    names: FxHashMap<Id, Name>,
    buffers: FxHashMap<Id, Buffer>,
    /// The buffers whose memory is in variables.
    memory: FxHashMap<Id, BufferVar>,
}

impl TirReader<'_, '_> {
    fn prim_func(&mut self, id: Id, name: &Name) -> GraphResult<PrimFunc> {
        let fields = self.graph.fields(id)?;
        let mut attrs = match fields.optional("attrs") {
            Some(attrs) => self.attrs(self.graph.fields(attrs)?.node("__dict__")?)?,
            None => Attrs::new(),
        };
        let s_tir = matches!(attrs.remove("s_tir"), Some(AttrValue::Bool(true) | AttrValue::Int(1)));
        let private = !attrs.contains_key("global_symbol");
        if attrs.get("global_symbol") == Some(&AttrValue::Str(name.clone())) {
            attrs.remove("global_symbol");
        }
        let matched: FxHashMap<Id, Id> = match fields.optional("buffer_map") {
            Some(map) => self.graph.map(map)?.into_iter().collect(),
            None => FxHashMap::default(),
        };
        let mut params = Vec::new();
        for param in fields.list("params")? {
            params.push(match matched.get(&param) {
                Some(buffer) => Param::Buffer(self.define_buffer(*buffer)?),
                None if self.is_buffer(param)? => Param::Buffer(self.define_buffer(param)?),
                None => {
                    let var = self.var(param)?;
                    if var.dtype == DataType::HANDLE { Param::Handle(var) } else { Param::Scalar(var) }
                }
            });
        }
        let (allocs, body) = self.root(fields.node("body")?)?;
        let ret = self.returned_type(&fields)?;
        Ok(PrimFunc { params, attrs, ret, private, s_tir, allocs, body, span: Span::NONE })
    }

    /// The body, without an outer block that has no content of its own.
    fn root(&mut self, id: Id) -> GraphResult<(Vec<Buffer>, Vec<Stmt>)> {
        if self.graph.short(id) == "SBlockRealize" {
            let realize = self.graph.fields(id)?;
            let block = self.graph.fields(realize.node("block")?)?;
            let is_empty = |name: &str| block.list(name).is_ok_and(|list| list.is_empty());
            let says_nothing =
                ["iter_vars", "reads", "writes", "annotations", "match_buffers"].into_iter().all(is_empty)
                    && block.optional("init").is_none();
            if says_nothing && &*block.text("name_hint")? == "root" {
                let allocs = self.define_buffers(&block.list("alloc_buffers")?)?;
                return Ok((allocs, self.body(block.node("body")?)?));
            }
        }
        Ok((Vec::new(), self.body(id)?))
    }

    /// A name that is unique in the function.
    fn unique(&mut self, base: &Name) -> Name {
        let mut name = base.clone();
        while !self.taken.insert(name.clone()) {
            // Lower numbers were tried already, even if their names are free again.
            let number = self.numbers.entry(base.clone()).or_insert(0);
            *number += 1;
            name = format!("{base}_{number}").as_str().into();
        }
        self.trail.push(name.clone());
        name
    }

    /// Reads a part with its own scope.
    fn scoped<T>(&mut self, read: impl FnOnce(&mut Self) -> GraphResult<T>) -> GraphResult<T> {
        let mark = self.trail.len();
        let result = with_stack(|| read(self));
        for name in self.trail.drain(mark..) {
            self.taken.remove(&name);
        }
        result
    }

    fn name(&mut self, id: Id) -> GraphResult<Name> {
        if let Some(known) = self.names.get(&id) {
            return Ok(known.clone());
        }
        let hint = printable(&self.graph.fields(id)?.text("name")?);
        let name = self.unique(&hint);
        self.names.insert(id, name.clone());
        Ok(name)
    }

    fn var(&mut self, id: Id) -> GraphResult<Var> {
        let dtype = self.graph.dtype_of(&self.graph.fields(id)?)?;
        Ok(Var { name: self.name(id)?, dtype, span: Span::NONE })
    }

    /// Whether a variable is a buffer, as in 0.27.
    fn is_buffer(&self, id: Id) -> GraphResult<bool> {
        Ok(self.graph.fields(id)?.optional("ty").is_some_and(|ty| self.graph.short(ty) == "BufferType"))
    }

    /// A buffer at its definition.
    fn define_buffer(&mut self, id: Id) -> GraphResult<Buffer> {
        if let Some(known) = self.buffers.get(&id) {
            return Ok(known.clone());
        }
        let fields = self.graph.fields(id)?;
        let of_type = fields.optional("ty").map(|ty| self.graph.fields(ty)).transpose()?;
        let parts = of_type.as_ref().unwrap_or(&fields);
        let name = self.name(id)?;
        let dtype = match parts.dtype("dtype") {
            Ok(dtype) => dtype,
            Err(_) => self.graph.data_type(parts.node("dtype")?)?,
        };
        let mut buffer = Buffer::new(&name, Vec::new(), dtype);
        buffer.shape = self.exprs(&parts.list("shape")?)?;
        buffer.strides = self.exprs(&parts.list("strides")?)?;
        buffer.elem_offset = match parts.optional("elem_offset") {
            // A new variable only says that the buffer may start anywhere, and is not printed.
            Some(offset) if self.is_fresh_var(offset) => None,
            Some(offset) => Some(self.expr(offset)?).filter(|offset| !matches!(offset, Expr::Int(0, _))),
            None => None,
        };
        let scope = match (parts.has("storage_scope"), fields.optional("data")) {
            (true, _) => parts.text("storage_scope")?,
            (false, Some(data)) => self.scope_of(data)?,
            (false, None) => "".into(),
        };
        buffer.scope = if scope.is_empty() { "global".into() } else { scope };
        buffer.align = Some(parts.int("data_alignment")?).filter(|align| *align > 0 && *align != USUAL_ALIGN);
        buffer.offset_factor = Some(parts.int("offset_factor")?).filter(|factor| *factor > 1);
        if let Some(data) = fields.optional("data") {
            self.memory.entry(data).or_insert_with(|| buffer.var(Span::NONE));
        }
        self.buffers.insert(id, buffer.clone());
        Ok(buffer)
    }

    /// Whether this is a variable that was not met before.
    fn is_fresh_var(&self, id: Id) -> bool {
        matches!(self.graph.short(id), "Var" | "SizeVar") && !self.names.contains_key(&id)
    }

    fn define_buffers(&mut self, ids: &[Id]) -> GraphResult<Vec<Buffer>> {
        ids.iter().map(|id| self.define_buffer(*id)).collect()
    }

    /// The kind of memory that a pointer refers to.
    fn scope_of(&self, data: Id) -> GraphResult<Name> {
        let fields = self.graph.fields(data)?;
        let Some(of_type) = fields.optional("type_annotation").or_else(|| fields.optional("ty")) else {
            return Ok("".into());
        };
        let of_type = self.graph.fields(of_type)?;
        if of_type.has("storage_scope") { of_type.text("storage_scope") } else { Ok("".into()) }
    }

    fn buffer(&mut self, id: Id) -> GraphResult<BufferVar> {
        Ok(self.define_buffer(id)?.var(Span::NONE))
    }

    fn body(&mut self, id: Id) -> GraphResult<Vec<Stmt>> {
        let mut stmts = Vec::new();
        self.scoped(|r| r.stmt(id, &mut stmts))?;
        Ok(stmts)
    }

    fn stmt(&mut self, id: Id, out: &mut Vec<Stmt>) -> GraphResult<()> {
        let fields = self.graph.fields(id)?;
        let span = Span::NONE;
        match self.graph.short(id) {
            "SeqStmt" => {
                for stmt in fields.list("seq")? {
                    with_stack(|| self.stmt(stmt, out))?;
                }
            }
            "For" => out.push(self.scoped(|r| r.for_stmt(&fields))?),
            "While" => out.push(self.while_stmt(&fields)?),
            "SBlockRealize" | "BlockRealize" => out.push(self.scoped(|r| r.block(&fields))?),
            "IfThenElse" => out.push(self.if_stmt(&fields)?),
            "BufferStore" => out.push(self.store(&fields)?),
            "Bind" | "LetStmt" => {
                let value = self.expr(fields.node("value")?)?;
                let var = self.var(fields.node("var")?)?;
                out.push(Stmt::Let(Let { var, value, span }));
                if let Some(body) = fields.optional("body") {
                    self.stmt(body, out)?;
                }
            }
            "AllocBuffer" => {
                let buffer = self.define_buffer(fields.node("buffer")?)?;
                out.push(Stmt::Alloc(buffer));
            }
            "DeclBuffer" => self.decl(&fields, out)?,
            "AttrStmt" => out.push(self.scoped(|r| r.attr_stmt(&fields))?),
            "AssertStmt" => out.push(self.assert_stmt(&fields)?),
            "Evaluate" => match self.expr(fields.node("value")?)? {
                // The remains of removed statements.
                Expr::Int(0, DataType::INT32) => {}
                value => out.push(Stmt::Evaluate(value)),
            },
            "Return" => {
                let value = fields.optional("value").map(|value| self.expr(value)).transpose()?;
                out.push(Stmt::Evaluate(returned(value)));
            }
            "Break" => out.push(Stmt::Break),
            "Continue" => out.push(Stmt::Continue),
            _ => return self.graph.wrong(id, "expected a statement of TIR"),
        }
        Ok(())
    }

    fn while_stmt(&mut self, fields: &NodeFields<'_, '_>) -> GraphResult<Stmt> {
        let condition = self.expr(fields.node("condition")?)?;
        let body = self.body(fields.node("body")?)?;
        Ok(Stmt::While(While { condition, body, span: Span::NONE }))
    }

    fn if_stmt(&mut self, fields: &NodeFields<'_, '_>) -> GraphResult<Stmt> {
        let condition = self.expr(fields.node("condition")?)?;
        let then = self.body(fields.node("then_case")?)?;
        let otherwise = fields.optional("else_case").map_or(Ok(Vec::new()), |id| self.body(id))?;
        Ok(Stmt::If(If { condition, then, otherwise, span: Span::NONE }))
    }

    fn store(&mut self, fields: &NodeFields<'_, '_>) -> GraphResult<Stmt> {
        let buffer = self.buffer(fields.node("buffer")?)?;
        let value = self.expr(fields.node("value")?)?;
        let indices = self.exprs(&fields.list("indices")?)?;
        Ok(Stmt::Store(Store { buffer, indices, value, span: Span::NONE }))
    }

    fn assert_stmt(&mut self, fields: &NodeFields<'_, '_>) -> GraphResult<Stmt> {
        let condition = self.expr(fields.node("condition")?)?;
        let kind = self.imm_text(fields.node("error_kind")?)?;
        let parts = fields.list("message_parts")?;
        let message = parts.into_iter().map(|part| self.imm_text(part)).collect::<GraphResult<_>>()?;
        Ok(Stmt::Assert(Assert { condition, kind, message, span: Span::NONE }))
    }

    fn imm_text(&self, id: Id) -> GraphResult<Name> {
        if self.graph.kind(id) == "ffi.String" { self.graph.text(id) } else { self.graph.fields(id)?.text("value") }
    }

    fn for_stmt(&mut self, fields: &NodeFields<'_, '_>) -> GraphResult<Stmt> {
        let var = self.var(fields.node("loop_var")?)?;
        let start = self.expr(fields.node("min")?)?;
        let stop = sum(start.clone(), self.expr(fields.node("extent")?)?);
        let step = fields.optional("step").map(|step| self.expr(step)).transpose()?;
        let kind = match (fields.int("kind")?, fields.optional("thread_binding")) {
            (_, Some(thread)) => ForKind::ThreadBinding(self.graph.fields(thread)?.text("thread_tag")?),
            (1, None) => ForKind::Parallel,
            (2, None) => ForKind::Vectorized,
            (3, None) => ForKind::Unroll,
            (_, None) => ForKind::Serial,
        };
        let annotations = self.attrs(fields.node("annotations")?)?;
        let body = self.body(fields.node("body")?)?;
        Ok(Stmt::For(Box::new(For { var, start, stop, step, kind, annotations, body, span: Span::NONE })))
    }

    fn block(&mut self, realize: &NodeFields<'_, '_>) -> GraphResult<Stmt> {
        let fields = self.graph.fields(realize.node("block")?)?;
        let span = Span::NONE;
        let values = self.exprs(&realize.list("iter_values")?)?;
        let predicate = self.expr(realize.node("predicate")?)?;
        let mut iters = Vec::new();
        for (id, value) in fields.list("iter_vars")?.into_iter().zip(values) {
            let iter = self.graph.fields(id)?;
            let (start, stop) = self.range(iter.node("dom")?)?;
            let kind = match iter.int("iter_type")? {
                2 => IterKind::Reduce,
                3 => IterKind::Scan,
                4 => IterKind::Opaque,
                _ => IterKind::Spatial,
            };
            iters.push(Iter { var: self.var(iter.node("var")?)?, kind, start, stop, value, span });
        }
        let allocs = self.define_buffers(&fields.list("alloc_buffers")?)?;
        let reads = self.regions(&fields.list("reads")?)?;
        let writes = self.regions(&fields.list("writes")?)?;
        let mut matches = Vec::new();
        for id in fields.list("match_buffers")? {
            let matched = self.graph.fields(id)?;
            let source = self.region(matched.node("source")?)?;
            matches.push(MatchRegion { buffer: self.define_buffer(matched.node("buffer")?)?, source });
        }
        Ok(Stmt::Block(Box::new(Block {
            name: fields.text("name_hint")?,
            iters,
            predicate: Some(predicate).filter(|predicate| *predicate != Expr::bool(true)),
            reads: Some(reads),
            writes: Some(writes),
            attrs: self.attrs(fields.node("annotations")?)?,
            allocs,
            matches,
            init: fields.optional("init").map(|init| self.body(init)).transpose()?,
            body: self.body(fields.node("body")?)?,
            span,
        })))
    }

    /// The start and the stop of a range.
    fn range(&mut self, id: Id) -> GraphResult<(Expr, Expr)> {
        let fields = self.graph.fields(id)?;
        let start = self.expr(fields.node("min")?)?;
        let extent = self.expr(fields.node("extent")?)?;
        Ok((start.clone(), sum(start, extent)))
    }

    fn regions(&mut self, ids: &[Id]) -> GraphResult<Vec<Region>> {
        ids.iter().map(|id| self.region(*id)).collect()
    }

    fn region(&mut self, id: Id) -> GraphResult<Region> {
        let fields = self.graph.fields(id)?;
        let buffer = self.buffer(fields.either(&["buffer", "source"])?)?;
        let mut ranges = Vec::new();
        for range in fields.list("region")? {
            let parts = self.graph.fields(range)?;
            let start = self.expr(parts.node("min")?)?;
            ranges.push(match self.expr(parts.node("extent")?)? {
                Expr::Int(1, _) => Range { start, stop: None },
                extent => Range { stop: Some(sum(start.clone(), extent)), start },
            });
        }
        Ok(Region { buffer, ranges })
    }

    /// A view of existing memory, or new memory.
    fn decl(&mut self, fields: &NodeFields<'_, '_>, out: &mut Vec<Stmt>) -> GraphResult<()> {
        let id = fields.node("buffer")?;
        let data = fields.optional("data").or(self.graph.fields(id)?.optional("data"));
        let memory = match data {
            None => None,
            Some(data) => match (self.memory.get(&data), self.names.get(&data)) {
                (Some(owner), _) => Some(owner.clone()),
                (None, Some(_)) => {
                    let Var { name, dtype, span } = self.var(data)?;
                    Some(BufferVar { name, dtype, span })
                }
                (None, None) if fields.has("data") => match self.expr(data)? {
                    Expr::Data(owner) => Some(owner),
                    value => {
                        // A computed pointer gets a name.
                        let hint = printable(&format!("{}_data", self.graph.fields(id)?.text("name")?));
                        let var = Var { name: self.unique(&hint), dtype: value.dtype(), span: Span::NONE };
                        let memory = BufferVar { name: var.name.clone(), dtype: var.dtype, span: Span::NONE };
                        out.push(Stmt::Let(Let { var, value, span: Span::NONE }));
                        Some(memory)
                    }
                },
                (None, None) => None,
            },
        };
        let buffer = self.define_buffer(id)?;
        out.push(match memory {
            Some(data) => Stmt::Decl(Decl { buffer, data }),
            None => Stmt::Alloc(buffer),
        });
        Ok(())
    }

    fn attr_stmt(&mut self, fields: &NodeFields<'_, '_>) -> GraphResult<Stmt> {
        let span = Span::NONE;
        let (node, key) = (fields.node("node")?, fields.text("attr_key")?);
        let value = self.expr(fields.node("value")?)?;
        if &*key == "thread_extent" && self.graph.short(node) == "IterVar" {
            let iter = self.graph.fields(node)?;
            let var = self.var(iter.node("var")?)?;
            let thread = iter.text("thread_tag")?;
            let body = self.body(fields.node("body")?)?;
            return Ok(Stmt::LaunchThread(LaunchThread { var, thread, extent: value, body, span }));
        }
        let node = match self.graph.short(node) {
            "Buffer" => Expr::Data(self.buffer(node)?),
            "String" => Expr::Str(self.graph.text(node)?),
            "int" => Expr::Int(self.graph.int(node)?, DataType::INT32),
            _ => self.expr(node)?,
        };
        let body = self.body(fields.node("body")?)?;
        Ok(Stmt::Attr(AttrStmt { node, key, value, body, span }))
    }

    fn exprs(&mut self, ids: &[Id]) -> GraphResult<Vec<Expr>> {
        ids.iter().map(|id| self.expr(*id)).collect()
    }

    fn expr(&mut self, id: Id) -> GraphResult<Expr> {
        with_stack(|| self.expr_inner(id))
    }

    fn boxed(&mut self, id: Id) -> GraphResult<Box<Expr>> {
        self.expr(id).map(Box::new)
    }

    fn expr_inner(&mut self, id: Id) -> GraphResult<Expr> {
        match self.graph.kind(id) {
            "ffi.String" => return self.graph.text(id).map(Expr::Str),
            "ffi.Array" => return self.graph.wrong(id, "expected one expression"),
            _ => {}
        }
        let fields = self.graph.fields(id)?;
        let span = Span::NONE;
        let kind = self.graph.short(id);
        if fields.has("a") && fields.has("b") {
            return self.binary(id, &fields);
        }
        match kind {
            "Var" | "SizeVar" => self.var_or_buffer(id),
            "IntImm" => Ok(Expr::Int(self.graph.int_imm(&fields)?, self.graph.dtype_of(&fields)?)),
            "FloatImm" => {
                let value =
                    fields.get("value").and_then(float_of).ok_or_else(|| self.graph.error(id, "expected a number"))?;
                Ok(Expr::Float(FloatBits::new(value), self.graph.dtype_of(&fields)?))
            }
            "StringImm" => fields.text("value").map(Expr::Str),
            "Not" => self.boxed(fields.node("a")?).map(Expr::Not),
            "Cast" => Ok(Expr::Cast(self.graph.dtype_of(&fields)?, self.boxed(fields.node("value")?)?)),
            "Select" => self.select(&fields),
            "BufferLoad" | "TensorLoad" => {
                let buffer = self.buffer(fields.either(&["buffer", "source"])?)?;
                let indices = self.exprs(&fields.list("indices")?)?;
                Ok(Expr::Load(Load { buffer, indices, span }))
            }
            "Let" => self.let_expr(&fields),
            "Ramp" => {
                let (base, stride) = (self.expr(fields.node("base")?)?, self.expr(fields.node("stride")?)?);
                Ok(Expr::Ramp(Box::new(Ramp { base, stride, lanes: self.lanes(&fields)? })))
            }
            "Broadcast" => Ok(Expr::Broadcast(self.boxed(fields.node("value")?)?, self.lanes(&fields)?)),
            "Shuffle" => {
                let vectors = self.exprs(&fields.list("vectors")?)?;
                let indices = self.exprs(&fields.list("indices")?)?;
                Ok(Expr::Shuffle(Shuffle { vectors, indices, span }))
            }
            "Call" => self.call(&fields),
            _ => self.graph.wrong(id, "expected an expression of TIR"),
        }
    }

    /// An operator on two operands.
    fn binary(&mut self, id: Id, fields: &NodeFields<'_, '_>) -> GraphResult<Expr> {
        let kind = self.graph.short(id);
        let (a, b) = (self.expr(fields.node("a")?)?, self.expr(fields.node("b")?)?);
        match (BinaryOp::from_name(kind), bitwise(kind)) {
            (Some(op), _) => Ok(Expr::binary(op, a, b, Span::NONE)),
            (None, Some(op)) => Ok(Expr::Call(Call { op, dtype: a.dtype(), args: vec![a, b], span: Span::NONE })),
            (None, None) => self.graph.wrong(id, "expected an operator"),
        }
    }

    /// A variable, which may stand for the memory of a buffer.
    fn var_or_buffer(&mut self, id: Id) -> GraphResult<Expr> {
        if self.is_buffer(id)? {
            return self.buffer(id).map(Expr::Data);
        }
        match self.memory.get(&id) {
            Some(owner) if !self.names.contains_key(&id) => Ok(Expr::Data(owner.clone())),
            Some(_) | None => self.var(id).map(Expr::Var),
        }
    }

    fn select(&mut self, fields: &NodeFields<'_, '_>) -> GraphResult<Expr> {
        let condition = self.expr(fields.node("condition")?)?;
        let then = self.expr(fields.node("true_value")?)?;
        let otherwise = self.expr(fields.node("false_value")?)?;
        Ok(Expr::Select(Box::new(Conditional { condition, then, otherwise })))
    }

    fn let_expr(&mut self, fields: &NodeFields<'_, '_>) -> GraphResult<Expr> {
        let value = self.expr(fields.node("value")?)?;
        let var = self.var(fields.node("var")?)?;
        let body = self.expr(fields.node("body")?)?;
        Ok(Expr::Let(Box::new(LetExpr { var, value, body })))
    }

    /// The declared datatype of a function's result; `None` if it is a pointer, or nothing.
    fn returned_type(&self, fields: &NodeFields<'_, '_>) -> GraphResult<Option<DataType>> {
        let named = ["ret_type", "ret_ty"].iter().find_map(|name| fields.optional(name));
        let Some(id) = named.filter(|id| self.graph.short(*id) == "PrimType") else { return Ok(None) };
        let dtype = self.graph.fields(id)?.dtype("dtype")?;
        Ok((!dtype.is_void()).then_some(dtype))
    }

    fn lanes(&mut self, fields: &NodeFields<'_, '_>) -> GraphResult<u16> {
        match self.expr(fields.node("lanes")?)? {
            Expr::Int(lanes, _) if lanes > 0 => {
                u16::try_from(lanes).map_err(|_| self.graph.error(fields.id, "too many lanes"))
            }
            _ => self.graph.wrong(fields.id, "expected a number of lanes"),
        }
    }

    fn call(&mut self, fields: &NodeFields<'_, '_>) -> GraphResult<Expr> {
        let op = fields.node("op")?;
        let (whole, of_module) = match self.graph.kind(op) {
            "ir.Op" => (self.graph.text(op)?, false),
            "ir.GlobalVar" => (self.graph.fields(op)?.text("name_hint")?, true),
            _ => return self.graph.wrong(op, "expected a function"),
        };
        let name = ["tirx.", "tir.", "prim."].iter().find_map(|prefix| whole.strip_prefix(prefix)).unwrap_or(&whole);
        // The printed form.
        let name = match name {
            "tvm_call_packed" => "call_packed",
            "tvm_call_cpacked" => "call_cpacked",
            "tvm_call_packed_lowered" => "call_packed_lowered",
            "tvm_call_cpacked_lowered" => "call_cpacked_lowered",
            name => name,
        };
        let dtype = self.graph.dtype_of(fields)?;
        let args = self.exprs(&fields.list("args")?)?;
        let span = Span::NONE;
        if of_module {
            return Ok(Expr::Extern(Extern { op: whole, of_module, dtype, args, span }));
        }
        match (name, Intrinsic::from_name(name)) {
            ("if_then_else", _) => {
                let mut parts = args.into_iter();
                match (parts.next(), parts.next(), parts.next()) {
                    (Some(condition), Some(then), Some(otherwise)) => {
                        Ok(Expr::IfThenElse(Box::new(Conditional { condition, then, otherwise })))
                    }
                    (_, _, _) => self.graph.wrong(fields.id, "expected a condition and two values"),
                }
            }
            ("ret", _) => Ok(returned(args.into_iter().next())),
            // `A.data` is a call in 0.27.
            ("buffer_data", _) => match args.into_iter().next() {
                Some(Expr::Data(buffer)) => Ok(Expr::Data(buffer)),
                Some(_) | None => self.graph.wrong(fields.id, "expected a buffer"),
            },
            (_, Some(op)) => Ok(Expr::Call(Call { op, dtype, args, span })),
            (name, None) => Ok(Expr::Extern(Extern { op: name.into(), of_module, dtype, args, span })),
        }
    }

    fn attrs(&mut self, id: Id) -> GraphResult<Attrs> {
        let entries = self.graph.dict(id)?;
        entries.into_iter().map(|(name, id)| Ok((name, self.attr(id)?))).collect()
    }

    fn attr(&mut self, id: Id) -> GraphResult<AttrValue> {
        with_stack(|| self.attr_inner(id))
    }

    fn attr_inner(&mut self, id: Id) -> GraphResult<AttrValue> {
        let graph = self.graph;
        if let Some(plain) = graph.plain_attr(id)? {
            return Ok(plain);
        }
        match graph.kind(id) {
            "ffi.String" | "ir.EnvFunc" => return graph.text(id).map(AttrValue::Str),
            "ffi.Map" => return self.attrs(id).map(AttrValue::Dict),
            "ffi.Array" => {
                let members = graph.list(id)?;
                return members.into_iter().map(|id| self.attr(id)).collect::<GraphResult<_>>().map(AttrValue::List);
            }
            _ => {}
        }
        let fields = graph.fields(id)?;
        match graph.short(id) {
            "StringImm" => fields.text("value").map(AttrValue::Str),
            "Target" => {
                let mut attrs = fields.optional("attrs").map_or(Ok(Attrs::new()), |attrs| self.attrs(attrs))?;
                attrs.insert("kind".into(), AttrValue::Str(fields.text("kind")?));
                attrs.insert("tag".into(), AttrValue::Str(fields.text("tag")?));
                let keys = fields.list("keys")?.into_iter().map(|key| self.attr(key)).collect::<GraphResult<_>>()?;
                attrs.insert("keys".into(), AttrValue::List(keys));
                if let Some(host) = fields.optional("host")
                    && let AttrValue::Made(host) = self.attr(host)?
                    && let [dict] = host.args.as_slice()
                {
                    attrs.insert("host".into(), dict.clone());
                }
                let args = vec![AttrValue::Dict(attrs)];
                Ok(AttrValue::Made(ObjectCall { name: "T.target".into(), args, named: Attrs::new() }.into()))
            }
            // Schedules refer to buffers by name.
            "Buffer" | "Var" => Ok(AttrValue::Prim(PrimExpr::var(&self.name(id)?))),
            _ => graph.wrong(id, "expected the value of an attribute"),
        }
    }
}

/// The name as TVM prints it, with only characters that Python allows in a name.
pub(super) fn printable(hint: &str) -> Name {
    let text: String = hint.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if text.is_empty() || text.starts_with(|c: char| c.is_numeric()) {
        format!("v{text}").as_str().into()
    } else {
        text.as_str().into()
    }
}

/// The end of a function, with its result.
fn returned(value: Option<Expr>) -> Expr {
    let dtype = value.as_ref().map_or(DataType::VOID, Expr::dtype);
    Expr::Extern(Extern {
        op: "ret".into(),
        of_module: false,
        dtype,
        args: value.into_iter().collect(),
        span: Span::NONE,
    })
}

/// The operators on bits, which are nodes in 0.27 and functions in earlier releases.
fn bitwise(kind: &str) -> Option<Intrinsic> {
    match kind {
        "BitwiseAnd" => Some(Intrinsic::BitwiseAnd),
        "BitwiseOr" => Some(Intrinsic::BitwiseOr),
        "BitwiseXor" => Some(Intrinsic::BitwiseXor),
        "LShift" | "ShiftLeft" => Some(Intrinsic::ShiftLeft),
        "RShift" | "ShiftRight" => Some(Intrinsic::ShiftRight),
        _ => None,
    }
}

/// The end of a range, computed immediately if its start and extent are constants.
fn sum(start: Expr, extent: Expr) -> Expr {
    match (&start, &extent) {
        (Expr::Int(0, _), _) => extent,
        (Expr::Int(a, dtype), Expr::Int(b, _)) => match a.checked_add(*b) {
            Some(sum) => Expr::Int(sum, *dtype),
            None => Expr::binary(BinaryOp::Add, start, extent, Span::NONE),
        },
        (_, _) => Expr::binary(BinaryOp::Add, start, extent, Span::NONE),
    }
}
