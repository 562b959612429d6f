//! Statements as text.

use super::expr::{Declarations, ExprPrinter, NameRole, attrs, buffer_arguments, find, for_each_var};
use super::quote;
use crate::grammar::tir::{AttrStmt, Block, Buffer, Expr, For, ForKind, If, Iter, IterKind, LaunchThread, Stmt};
use crate::grammar::{DataType, Name};
use crate::judge::with_stack;

pub(super) struct Printer {
    out: String,
    indent: usize,
    scope: Declarations,
}

impl Printer {
    pub fn new(indent: usize) -> Printer {
        Printer { out: String::new(), indent, scope: Vec::new() }
    }

    pub fn finish(self) -> String {
        self.out
    }

    pub fn line(&mut self, text: impl AsRef<str>) {
        self.out.push_str(&"    ".repeat(self.indent));
        self.out.push_str(text.as_ref());
        self.out.push('\n');
    }

    pub fn define(&mut self, name: &Name, kind: NameRole) {
        self.scope.push((name.clone(), kind));
    }

    pub fn indented(&mut self, body: impl FnOnce(&mut Printer)) {
        self.indent += 1;
        let mark = self.scope.len();
        body(self);
        self.scope.truncate(mark);
        self.indent -= 1;
    }

    /// A line made from expressions, after the declarations that they need.
    fn expr_line(&mut self, make: impl FnOnce(&mut ExprPrinter) -> String) {
        let mut exprs = ExprPrinter { scope: &self.scope, lets: Vec::new() };
        let text = make(&mut exprs);
        let lets = exprs.lets;
        for var in lets {
            self.line(format!("{} = T.{}()", var.name, var.dtype));
        }
        self.line(text);
    }

    /// A body on separate lines; its text is never empty.
    pub fn body(&mut self, body: &[Stmt]) {
        if body.is_empty() {
            self.line("pass");
        }
        self.sequence(body);
    }

    fn nested(&mut self, body: &[Stmt]) {
        self.indented(|p| p.body(body));
    }

    fn sequence(&mut self, body: &[Stmt]) {
        with_stack(|| {
            for (i, stmt) in body.iter().enumerate() {
                self.stmt(stmt, i + 1 == body.len());
            }
        });
    }

    fn stmt(&mut self, stmt: &Stmt, last: bool) {
        match stmt {
            Stmt::For(f) => self.for_stmt(f),
            Stmt::While(w) => {
                self.expr_line(|e| format!("while {}:", e.expr(&w.condition)));
                self.nested(&w.body);
            }
            Stmt::Block(b) => self.block(b),
            Stmt::If(i) => self.if_stmt(i),
            Stmt::Store(s) => {
                self.expr_line(|e| format!("{} = {}", e.element(&s.buffer.name, &s.indices), e.expr(&s.value)));
            }
            Stmt::Let(l) => {
                self.expr_line(|e| format!("{}: T.let[T.{}] = {}", l.var.name, l.var.dtype, e.expr(&l.value)));
                self.define(&l.var.name, NameRole::Other);
            }
            Stmt::Alloc(buffer) if is_scalar(buffer) => {
                self.line(format!("{}: T.{}", buffer.name, buffer.dtype));
                self.define(&buffer.name, NameRole::Scalar);
            }
            Stmt::Alloc(buffer) => {
                self.line(format!("{} = T.alloc_buffer({})", buffer.name, buffer_arguments(buffer)));
                self.define(&buffer.name, NameRole::Other);
            }
            Stmt::Decl(d) => {
                let arguments = buffer_arguments(&d.buffer);
                // A pointer is a variable, as opposed to the memory of a buffer.
                let memory = if d.data.dtype == DataType::HANDLE { "" } else { ".data" };
                self.line(format!("{} = T.decl_buffer({arguments}, data={}{memory})", d.buffer.name, d.data.name));
                self.define(&d.buffer.name, NameRole::Other);
            }
            Stmt::Attr(a) => self.attr(a, last),
            Stmt::LaunchThread(l) => self.launch_thread(l, last),
            Stmt::Assert(a) => {
                let message: Vec<String> = a.message.iter().map(|m| quote(m)).collect();
                let report = format!("({}, [{}])", quote(&a.kind), message.join(", "));
                self.expr_line(|e| format!("assert {}, {report}", e.expr(&a.condition)));
            }
            Stmt::Evaluate(Expr::Extern(call)) if &*call.op == "ret" && !call.of_module => {
                self.expr_line(|e| match call.args.as_slice() {
                    [value] => format!("return {}", e.expr(value)),
                    _ => "return".to_string(),
                });
            }
            Stmt::Evaluate(value) => self.expr_line(|e| format!("T.evaluate({})", e.expr(value))),
            Stmt::Break => self.line("break"),
            Stmt::Continue => self.line("continue"),
        }
    }

    fn if_stmt(&mut self, i: &If) {
        self.expr_line(|e| format!("if {}:", e.expr(&i.condition)));
        self.nested(&i.then);
        if !i.otherwise.is_empty() {
            self.line("else:");
            self.nested(&i.otherwise);
        }
    }

    fn for_stmt(&mut self, f: &For) {
        let nest = grid(f);
        let names: Vec<&str> = nest.iter().map(|f| &*f.var.name).collect();
        self.expr_line(|e| match nest.as_slice() {
            [_] => format!("for {} in {}:", f.var.name, iteration(e, f)),
            nest => {
                let stops: Vec<String> = nest.iter().map(|f| e.expr(&f.stop)).collect();
                format!("for {} in T.grid({}):", names.join(", "), stops.join(", "))
            }
        });
        self.indented(|p| {
            for f in &nest {
                p.define(&f.var.name, NameRole::Loop(f.start.clone(), f.stop.clone()));
            }
            let innermost = nest.last().map_or(&f.body, |f| &f.body);
            p.body(innermost);
        });
    }

    /// `T.attr({..})` for the rest of the sequence, or `with T.attr(..)`.
    fn attr(&mut self, a: &AttrStmt, last: bool) {
        if last && a.node == Expr::Int(0, DataType::INT32) {
            self.expr_line(|e| format!("T.attr({{{}: {}}})", quote(&a.key), e.expr(&a.value)));
            self.sequence(&a.body);
        } else {
            let key = quote(&a.key);
            self.expr_line(|e| format!("with T.attr({}, {key}, {}):", e.expr(&a.node), e.expr(&a.value)));
            self.nested(&a.body);
        }
    }

    fn launch_thread(&mut self, l: &LaunchThread, last: bool) {
        let (name, thread) = (&l.var.name, quote(&l.thread));
        if last {
            self.expr_line(|e| format!("{name} = T.launch_thread({thread}, {})", e.expr(&l.extent)));
            self.define(name, NameRole::Other);
            self.sequence(&l.body);
        } else {
            self.expr_line(|e| format!("with T.launch_thread({thread}, {}) as {name}:", e.expr(&l.extent)));
            self.indented(|p| {
                p.define(name, NameRole::Other);
                p.body(&l.body);
            });
        }
    }

    fn block(&mut self, b: &Block) {
        self.line(format!("with T.sblock({}):", quote(&b.name)));
        self.indented(|p| {
            p.iters(&b.iters);
            if let Some(predicate) = &b.predicate {
                p.expr_line(|e| format!("T.where({})", e.expr(predicate)));
            }
            for (name, regions) in [("reads", &b.reads), ("writes", &b.writes)] {
                if let Some(regions) = regions {
                    p.expr_line(|e| {
                        let regions: Vec<String> = regions.iter().map(|r| e.region(r)).collect();
                        format!("T.{name}({})", regions.join(", "))
                    });
                }
            }
            if !b.attrs.is_empty() {
                p.line(format!("T.sblock_attr({})", attrs(&b.attrs)));
            }
            for buffer in &b.allocs {
                p.line(format!("{} = T.sblock_alloc_buffer({})", buffer.name, buffer_arguments(buffer)));
                p.define(&buffer.name, NameRole::Other);
            }
            for m in &b.matches {
                p.declare_unbound(&m.buffer);
                let arguments = buffer_arguments(&m.buffer);
                p.expr_line(|e| format!("{} = T.match_buffer({}, {arguments})", m.buffer.name, e.region(&m.source)));
                p.define(&m.buffer.name, NameRole::Other);
            }
            if let Some(init) = &b.init {
                p.line("with T.init():");
                p.nested(init);
            }
            p.body(&b.body);
        });
    }

    /// Declares the variables that are bound by matching part of a buffer.
    fn declare_unbound(&mut self, buffer: &Buffer) {
        for e in buffer.strides.iter().chain(&buffer.elem_offset) {
            for_each_var(e, &mut |var| {
                if find(&self.scope, &var.name).is_none() {
                    self.line(format!("{} = T.{}()", var.name, var.dtype));
                    self.define(&var.name, NameRole::Other);
                }
            });
        }
    }

    /// Writes iteration variables. Those with the values of loops over their domains share one `T.axis.remap`, and the
    /// others are written one by one.
    fn iters(&mut self, iters: &[Iter]) {
        let mut rest = iters;
        while let [first, after @ ..] = rest {
            let run = rest.iter().take_while(|iter| self.remap_letter(iter).is_some()).count();
            match rest.get(..run) {
                Some(group @ [_, _, ..]) => {
                    self.remap(group);
                    rest = rest.get(run..).unwrap_or_default();
                }
                Some(_) | None => {
                    self.iter(first);
                    rest = after;
                }
            }
        }
    }

    fn remap(&mut self, group: &[Iter]) {
        let letters: String = group.iter().filter_map(|iter| self.remap_letter(iter)).collect();
        let names: Vec<&str> = group.iter().map(|iter| &*iter.var.name).collect();
        self.expr_line(|e| {
            let values: Vec<String> = group.iter().map(|iter| e.expr(&iter.value)).collect();
            format!("{} = T.axis.remap(\"{letters}\", [{}])", names.join(", "), values.join(", "))
        });
        self.scope.extend(group.iter().map(|iter| (iter.var.name.clone(), NameRole::Other)));
    }

    fn iter(&mut self, iter: &Iter) {
        let kind = match iter.kind {
            IterKind::Spatial => "spatial",
            IterKind::Reduce => "reduce",
            IterKind::Scan => "scan",
            IterKind::Opaque => "opaque",
        };
        self.expr_line(|e| {
            let stop = e.expr(&iter.stop);
            let domain =
                if is_zero(&iter.start, &iter.stop) { stop } else { format!("({}, {stop})", e.expr(&iter.start)) };
            format!("{} = T.axis.{kind}({domain}, {})", iter.var.name, e.expr(&iter.value))
        });
        self.define(&iter.var.name, NameRole::Other);
    }

    /// The letter for an iteration variable in `T.axis.remap`, if it can be written there.
    fn remap_letter(&self, iter: &Iter) -> Option<char> {
        let Expr::Var(value) = &iter.value else { return None };
        let Some(NameRole::Loop(start, stop)) = find(&self.scope, &value.name) else { return None };
        let letter = match iter.kind {
            IterKind::Spatial => 'S',
            IterKind::Reduce => 'R',
            IterKind::Scan | IterKind::Opaque => return None,
        };
        (*start == iter.start && *stop == iter.stop).then_some(letter)
    }
}

/// Whether a buffer has the form that `x: T.int32` creates.
fn is_scalar(buffer: &Buffer) -> bool {
    let plain = buffer.strides.is_empty() && buffer.elem_offset.is_none();
    let shape = buffer.shape.as_slice() == [Expr::Int(1, DataType::INT32)];
    shape && plain && &*buffer.scope == "local" && buffer.align.is_none() && buffer.offset_factor.is_none()
}

/// Whether a range has the default start, so that the text can give only its end.
fn is_zero(start: &Expr, stop: &Expr) -> bool {
    *start == Expr::Int(0, stop.dtype())
}

/// The loops that one `T.grid` can express, at least the outermost.
fn grid(f: &For) -> Vec<&For> {
    let mut nest = vec![f];
    let mut inner = f;
    while is_plain(inner) {
        let [Stmt::For(next)] = inner.body.as_slice() else { break };
        let mut free = is_plain(next) && !nest.iter().any(|f| f.var.name == next.var.name);
        for_each_var(&next.stop, &mut |var| free &= !nest.iter().any(|f| f.var.name == var.name));
        if !free {
            break;
        }
        nest.push(next);
        inner = next;
    }
    nest
}

fn is_plain(f: &For) -> bool {
    f.kind == ForKind::Serial && is_zero(&f.start, &f.stop) && f.step.is_none() && f.annotations.is_empty()
}

/// The iteration of a single loop.
fn iteration(e: &mut ExprPrinter, f: &For) -> String {
    let mut bounds = e.expr(&f.stop);
    if f.step.is_some() || !is_zero(&f.start, &f.stop) {
        bounds = format!("{}, {bounds}", e.expr(&f.start));
    }
    if let Some(step) = &f.step {
        bounds = format!("{bounds}, step={}", e.expr(step));
    }
    if !f.annotations.is_empty() {
        bounds = format!("{bounds}, annotations={}", attrs(&f.annotations));
    }
    match &f.kind {
        ForKind::Serial if f.annotations.is_empty() && f.step.is_none() => format!("range({bounds})"),
        ForKind::Serial => format!("T.serial({bounds})"),
        ForKind::Parallel => format!("T.parallel({bounds})"),
        ForKind::Vectorized => format!("T.vectorized({bounds})"),
        ForKind::Unroll => format!("T.unroll({bounds})"),
        ForKind::ThreadBinding(thread) => format!("T.thread_binding({bounds}, thread={})", quote(thread)),
    }
}
