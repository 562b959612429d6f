//! Loops and blocks.

use ruff_python_ast as py;
use ruff_text_size::Ranged;

use super::args::{TirCallArguments, axis_call, elements, t_call, t_name};
use super::{ParseResult, ParsedName, Parser};
use crate::grammar::tir::{Block, Expr, For, ForKind, Iter, IterKind, Stmt, Var};
use crate::grammar::{Attrs, Name};
use crate::syntax::tvmscript::read::put;

/// A variable of a loop nest, with its bounds.
struct LoopAxis {
    start: Expr,
    stop: Expr,
    step: Option<Expr>,
}

/// `for i in T.grid(4, 4)`: a single name for the tuple of the variables, which TVM calls `i_0`, `i_1`.
fn one_for_all(name: &py::ExprName, count: usize, body: &[py::Stmt]) -> (Vec<py::Expr>, Vec<py::Stmt>) {
    let numbered = |at: usize| py::ExprName { id: format!("{}_{at}", name.id).as_str().into(), ..name.clone() };
    let elts: Vec<py::Expr> = (0..count).map(numbered).map(py::Expr::Name).collect();
    let tuple = py::ExprTuple {
        node_index: py::AtomicNodeIndex::NONE,
        range: name.range,
        elts: elts.clone(),
        ctx: py::ExprContext::Load,
        parenthesized: true,
    };
    let mut body = body.to_vec();
    put(name.id.as_str(), &py::Expr::Tuple(tuple), &mut body);
    (elts, body)
}

impl Parser<'_> {
    pub(super) fn for_stmt(&mut self, stmt: &py::StmtFor) -> ParseResult<Stmt> {
        if !stmt.orelse.is_empty() {
            return self.error(stmt, "a loop of TIR has no `else`");
        }
        self.loops(&stmt.iter, elements(&stmt.target), stmt, &stmt.body)
    }

    /// A nest of loops over `iter` with these targets.
    pub(super) fn loops(
        &mut self,
        iter: &py::Expr,
        targets: &[py::Expr],
        at: &impl Ranged,
        body: &[py::Stmt],
    ) -> ParseResult<Stmt> {
        let (kind, axes, annotations) = self.iteration(iter)?;
        let mut names = Vec::new();
        for target in targets {
            match target {
                py::Expr::Name(name) => names.push(name),
                other => return self.error(other, "expected a variable"),
            }
        }
        if let ([name], [_, _, ..]) = (names.as_slice(), axes.as_slice()) {
            let (targets, body) = one_for_all(name, axes.len(), body);
            return self.loops(iter, &targets, at, &body);
        }
        if names.len() != axes.len() {
            let (expected, found) = (axes.len(), names.len());
            return self.error(at, format!("expected {expected} loop variables, found {found}"));
        }
        self.scoped(at, |p| {
            let span = p.span(at.range());
            let mut heads = Vec::new();
            for (name, axis) in names.into_iter().zip(axes) {
                let dtype = axis.stop.dtype();
                let var = Var { name: name.id.as_str().into(), dtype, span: p.span(name.range) };
                p.define(&var.name, ParsedName::Loop(dtype, axis.start.clone(), axis.stop.clone()));
                heads.push((var, axis));
            }
            let mut body = p.body(at, body)?;
            for (var, LoopAxis { start, stop, step }) in heads.into_iter().rev() {
                let (kind, annotations) = (kind.clone(), annotations.clone());
                body = vec![Stmt::For(Box::new(For { var, start, stop, step, kind, annotations, body, span }))];
            }
            match body.pop() {
                Some(stmt) => Ok(stmt),
                None => p.error(at, "expected at least one loop variable"),
            }
        })
    }

    /// The iteration of a `for`.
    fn iteration(&mut self, iter: &py::Expr) -> ParseResult<(ForKind, Vec<LoopAxis>, Attrs)> {
        let expected = "expected `range`, `T.grid`, `T.serial`, `T.parallel`, `T.vectorized`, `T.unroll` or \
                        `T.thread_binding`";
        let py::Expr::Call(call) = iter else { return self.error(iter, expected) };
        let args = TirCallArguments::starred(self, call)?;
        let name = match (&*call.func, t_name(&call.func)) {
            (py::Expr::Name(name), _) if name.id == "range" => "serial",
            (_, Some(name)) => name,
            (_, None) => return self.error(iter, expected),
        };
        let kind = match name {
            "grid" => {
                let mut axes = Vec::new();
                for e in args.positional() {
                    match e {
                        py::Expr::Starred(starred) => axes.extend(self.extents(&starred.value)?),
                        e => axes.push(self.grid_axis(e)?),
                    }
                }
                return Ok((ForKind::Serial, axes, Attrs::new()));
            }
            "serial" => ForKind::Serial,
            "parallel" => ForKind::Parallel,
            "vectorized" => ForKind::Vectorized,
            "unroll" | "unrolled" => ForKind::Unroll,
            "thread_binding" => match args.named("thread") {
                Some(thread) => ForKind::ThreadBinding(self.string(thread)?),
                None => return self.error(iter, "expected `thread=` with a thread axis"),
            },
            _ => return self.error(iter, expected),
        };
        let annotations = args.named("annotations").map_or(Ok(Attrs::new()), |e| self.attrs(e))?;
        Ok((kind, vec![self.axis(call, &args)?], annotations))
    }

    fn grid_axis(&mut self, e: &py::Expr) -> ParseResult<LoopAxis> {
        match e {
            py::Expr::Tuple(t) => match t.elts.as_slice() {
                [start, stop] => {
                    let (start, stop) = self.pair(start, stop)?;
                    Ok(LoopAxis { start, stop, step: None })
                }
                _ => self.error(e, "expected a start and a stop"),
            },
            _ => self.extent(e),
        }
    }

    fn axis(&mut self, call: &py::ExprCall, args: &TirCallArguments) -> ParseResult<LoopAxis> {
        let step = args.get("step", 2);
        let mut axis = match (args.get("start", 0), args.get("stop", 1)) {
            (Some(start), Some(stop)) => {
                let (start, stop) = self.pair(start, stop)?;
                LoopAxis { start, stop, step: None }
            }
            (Some(stop), None) => self.extent(stop)?,
            (None, _) => return self.error(call, "expected the bounds of the loop"),
        };
        axis.step = step.map(|e| self.expr_as(e, axis.stop.dtype())).transpose()?;
        Ok(axis)
    }

    /// The loops of `*A.shape`, or of the elements of a tuple.
    fn extents(&mut self, e: &py::Expr) -> ParseResult<Vec<LoopAxis>> {
        match e {
            py::Expr::Attribute(attribute) if attribute.attr.as_str() == "shape" => {
                let buffer = self.buffer_use(&attribute.value)?;
                let axis = |stop: &Expr| LoopAxis { start: Expr::Int(0, stop.dtype()), stop: stop.clone(), step: None };
                Ok(buffer.shape.iter().map(axis).collect())
            }
            py::Expr::Tuple(_) | py::Expr::List(_) => elements(e).iter().map(|e| self.grid_axis(e)).collect(),
            _ => self.error(e, "expected the shape of a buffer, `*A.shape`"),
        }
    }

    fn extent(&mut self, e: &py::Expr) -> ParseResult<LoopAxis> {
        let stop = self.expr(e)?;
        Ok(LoopAxis { start: Expr::Int(0, stop.dtype()), stop, step: None })
    }

    pub(super) fn block(&mut self, call: &py::ExprCall, stmt: &py::StmtWith) -> ParseResult<Stmt> {
        self.blocks = true;
        let name = match call.arguments.args.as_ref() {
            [] => "".into(),
            [name] => self.string(name)?,
            _ => return self.error(call, "expected the name of the block"),
        };
        let mut block = Block {
            name,
            iters: Vec::new(),
            predicate: None,
            reads: None,
            writes: None,
            attrs: Attrs::new(),
            allocs: Vec::new(),
            matches: Vec::new(),
            init: None,
            body: Vec::new(),
            span: self.span(call.range()),
        };
        self.scoped(stmt, |p| {
            let mut rest = stmt.body.as_slice();
            while let [first, after @ ..] = rest {
                if !p.block_header(first, &mut block)? {
                    break;
                }
                rest = after;
            }
            p.sequence(rest, &mut block.body)?;
            Ok(Stmt::Block(Box::new(block)))
        })
    }

    /// Whether the statement belongs to a block's header.
    fn block_header(&mut self, stmt: &py::Stmt, block: &mut Block) -> ParseResult<bool> {
        match stmt {
            py::Stmt::Assign(assign) => self.block_header_assign(assign, block),
            py::Stmt::Expr(e) => {
                let Some((name, call)) = t_call(&e.value) else { return Ok(e.value.is_string_literal_expr()) };
                match name {
                    "reads" => block.reads = Some(self.regions(call)?),
                    "writes" => block.writes = Some(self.regions(call)?),
                    "where" => match call.arguments.args.as_ref() {
                        [predicate] => block.predicate = Some(self.condition(predicate)?),
                        _ => return self.error(call, "expected one condition"),
                    },
                    "sblock_attr" | "block_attr" => block.attrs.extend(self.attrs_argument(call)?),
                    _ => return Ok(false),
                }
                Ok(true)
            }
            py::Stmt::With(with) => match with.items.as_slice() {
                [item] if matches!(t_call(&item.context_expr), Some(("init", _))) => {
                    if block.init.is_some() {
                        return self.error(with, "a block has one `T.init`");
                    }
                    block.init = Some(self.body(with, &with.body)?);
                    Ok(true)
                }
                _ => Ok(false),
            },
            _ => Ok(false),
        }
    }

    fn block_header_assign(&mut self, assign: &py::StmtAssign, block: &mut Block) -> ParseResult<bool> {
        let [target] = assign.targets.as_slice() else { return Ok(false) };
        if let Some((kind, call)) = axis_call(&assign.value) {
            self.iters(kind, call, elements(target), block)?;
            return Ok(true);
        }
        if self.declare(assign)? {
            return Ok(true);
        }
        let (py::Expr::Name(target), Some((name, call))) = (target, t_call(&assign.value)) else { return Ok(false) };
        match name {
            "sblock_alloc_buffer" => {
                let buffer = self.alloc(target, call)?;
                block.allocs.push(buffer);
                Ok(true)
            }
            "match_buffer" => {
                let matched = self.match_region(target, call)?;
                block.matches.push(matched);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// `T.axis.spatial(domain, value)` and similar calls, or `T.axis.remap(kinds, values)`.
    fn iters(&mut self, kind: &str, call: &py::ExprCall, targets: &[py::Expr], block: &mut Block) -> ParseResult<()> {
        let args = TirCallArguments::new(self, call)?;
        let mut specs = Vec::new();
        match (kind, args.positional()) {
            ("remap", [kinds, values]) => self.remap(call, kinds, values, &mut specs)?,
            (_, [domain, value, ..]) => {
                let Some(kind) = iter_kind(kind) else {
                    return self.error(call, "expected `T.axis.spatial`, `reduce`, `scan`, `opaque` or `remap`");
                };
                let LoopAxis { start, stop, .. } = self.grid_axis(domain)?;
                specs.push((kind, start, stop, self.expr(value)?));
            }
            (_, _) => return self.error(call, "expected a domain and a value"),
        }
        if specs.len() != targets.len() {
            let (expected, found) = (specs.len(), targets.len());
            return self.error(call, format!("expected {expected} variables, found {found}"));
        }
        for (target, (kind, start, stop, value)) in targets.iter().zip(specs) {
            let py::Expr::Name(name) = target else { return self.error(target, "expected a variable") };
            let span = self.span(name.range);
            let var = Var { name: Name::from(name.id.as_str()), dtype: stop.dtype(), span };
            self.define(&var.name, ParsedName::Var(var.dtype));
            block.iters.push(Iter { var, kind, start, stop, value, span: self.span(call.range()) });
        }
        Ok(())
    }

    fn remap(
        &mut self,
        call: &py::ExprCall,
        kinds: &py::Expr,
        values: &py::Expr,
        specs: &mut Vec<(IterKind, Expr, Expr, Expr)>,
    ) -> ParseResult<()> {
        let letters = self.string(kinds)?;
        let values = elements(values);
        if letters.chars().count() != values.len() {
            return self.error(call, "expected one letter for each loop variable");
        }
        for (letter, value) in letters.chars().zip(values) {
            let kind = match letter {
                'S' => IterKind::Spatial,
                'R' => IterKind::Reduce,
                _ => return self.error(kinds, "expected `S` for spatial or `R` for reduce"),
            };
            let py::Expr::Name(name) = value else { return self.error(value, "expected a loop variable") };
            let Some(ParsedName::Loop(_, start, stop)) = self.lookup(&name.id) else {
                return self.error(value, format!("`{}` is not the variable of a loop", name.id));
            };
            let (start, stop) = (start.clone(), stop.clone());
            specs.push((kind, start, stop, self.expr(value)?));
        }
        Ok(())
    }
}

fn iter_kind(name: &str) -> Option<IterKind> {
    match name {
        "spatial" | "S" => Some(IterKind::Spatial),
        "reduce" | "R" => Some(IterKind::Reduce),
        "scan" => Some(IterKind::Scan),
        "opaque" => Some(IterKind::Opaque),
        _ => None,
    }
}
