//! Whether a `PrimFunc` is pure (PRIMFUNC.PURE). Its whole body counts, including unreachable parts.

use rustc_hash::FxHashMap;

use crate::book::Erratum;
use crate::grammar::tir::{
    Block, Buffer, CallEffect, Decl, Expr, Extern, For, Param, PrimFunc, Range, Region, Stmt, Store, effect_of,
};
use crate::grammar::{DataType, GlobalFunc, IrModule, Name};
use crate::judge::{Cx, with_stack};

/// PRIMFUNC.PURE.STORE, PRIMFUNC.PURE.EFFECT, PRIMFUNC.PURE.OTHERWISE: `IsPureFunction`.
pub(super) fn is_pure_function(cx: &mut Cx, module: &IrModule, func: &PrimFunc) -> bool {
    let mut analysis = Analysis { cx, module, open: Vec::new(), known: FxHashMap::default() };
    let pure = analysis.function(func);
    // PURE.ATTR.REPR: only the attribute states it.
    cx.conclude(rule!("PURE.ATTR.REPR"), pure)
}

struct Analysis<'c, 'm> {
    cx: &'c mut Cx,
    module: &'m IrModule,
    /// The functions under analysis, the innermost last, by their addresses.
    open: Vec<usize>,
    /// The results for functions by address, because several functions may call the same one. A function that calls one
    /// under analysis counts as impure. It is also called by that one, so the result does not depend on the order.
    known: FxHashMap<usize, bool>,
}

impl<'m> Analysis<'_, 'm> {
    fn function(&mut self, func: &'m PrimFunc) -> bool {
        let mut walk = PurityWalk { found: BodyEffects::default(), names: Vec::new() };
        walk.function(func);
        let found = walk.found;
        let stores = found.stores_elsewhere || self.counts_as_store(&found);
        let acts = found.updates || self.reads(&found) || self.calls(func, &found.calls);
        self.cx.by_cases((
            &[(rule!("PRIMFUNC.PURE.STORE"), stores, false), (rule!("PRIMFUNC.PURE.EFFECT"), acts, false)],
            (rule!("PRIMFUNC.PURE.OTHERWISE"), true),
        ))
    }

    /// PRIMFUNC.PURE.LOCAL: stores to the function's own memory do not count.
    ///
    /// Errata: M08, literally memory that a block allocates is not its own, and neither is memory under another name.
    fn counts_as_store(&mut self, found: &BodyEffects) -> bool {
        let by_another_name = found.stores_to_alias && self.cx.literal(Erratum::M08);
        let own =
            (found.stores_to_own || found.stores_to_alias) && self.cx.conclude(rule!("PRIMFUNC.PURE.LOCAL"), false);
        by_another_name || own
    }

    /// Errata: M09, literally it does not matter that a call reads state outside the arguments.
    fn reads(&self, found: &BodyEffects) -> bool {
        found.reads_state && !self.cx.literal(Erratum::M09)
    }

    /// Errata: M07, literally a call of another `PrimFunc` is not a call of an operator and does not count.
    fn calls(&mut self, func: &'m PrimFunc, callees: &[Name]) -> bool {
        if callees.is_empty() || self.cx.literal(Erratum::M07) {
            return false;
        }
        self.open.push(std::ptr::from_ref(func) as usize);
        let impure = callees.iter().any(|callee| !self.is_pure_callee(callee));
        self.open.pop();
        impure
    }

    /// Whether a callee is pure. A function that calls itself, directly or not, is not known to be pure.
    fn is_pure_callee(&mut self, callee: &str) -> bool {
        match self.module.get(callee) {
            Some(GlobalFunc::PrimFunc(func)) => {
                let place = std::ptr::from_ref::<PrimFunc>(func) as usize;
                if let Some(known) = self.known.get(&place) {
                    return *known;
                }
                let pure = !self.open.contains(&place) && with_stack(|| self.function(func));
                self.known.insert(place, pure);
                pure
            }
            Some(GlobalFunc::Function(_) | GlobalFunc::ExternFunc(_)) | None => false,
        }
    }
}

/// The effects in a body.
#[derive(Default)]
struct BodyEffects {
    stores_elsewhere: bool,
    stores_to_own: bool,
    stores_to_alias: bool,
    updates: bool,
    reads_state: bool,
    /// The called functions of the module.
    calls: Vec<Name>,
}

/// The owner of the memory behind a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MemoryOwner {
    /// The memory comes from an `Allocate` of the function.
    Own,
    /// A block allocates the memory, or it is another name for the function's own memory.
    Alias,
    /// Any other memory.
    Foreign,
}

struct PurityWalk {
    found: BodyEffects,
    /// The owners by name, the innermost last.
    names: Vec<(Name, MemoryOwner)>,
}

impl PurityWalk {
    fn function(&mut self, func: &PrimFunc) {
        for param in &func.params {
            let name = match param {
                Param::Buffer(buffer) => &buffer.name,
                Param::Scalar(var) | Param::Handle(var) => &var.name,
            };
            self.define(name, MemoryOwner::Foreign);
        }
        func.allocs.iter().for_each(|buffer| self.define(&buffer.name, MemoryOwner::Alias));
        self.body(&func.body);
    }

    fn define(&mut self, name: &Name, memory: MemoryOwner) {
        self.names.push((name.clone(), memory));
    }

    fn memory_of(&self, name: &str) -> MemoryOwner {
        let known = self.names.iter().rev().find(|(known, _)| **known == *name);
        known.map_or(MemoryOwner::Foreign, |(_, memory)| *memory)
    }

    /// The owner, for another name of the same memory.
    fn alias_of(&self, name: &str) -> MemoryOwner {
        match self.memory_of(name) {
            MemoryOwner::Own | MemoryOwner::Alias => MemoryOwner::Alias,
            MemoryOwner::Foreign => MemoryOwner::Foreign,
        }
    }

    /// Visits statements in a new scope.
    fn body(&mut self, stmts: &[Stmt]) {
        let mark = self.names.len();
        stmts.iter().for_each(|stmt| with_stack(|| self.stmt(stmt)));
        self.names.truncate(mark);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::For(f) => self.counted(f),
            Stmt::While(w) => {
                self.expr(&w.condition);
                self.body(&w.body);
            }
            Stmt::Block(b) => self.block(b),
            Stmt::If(i) => {
                self.expr(&i.condition);
                self.body(&i.then);
                self.body(&i.otherwise);
            }
            Stmt::Store(s) => self.store(s),
            Stmt::Let(l) => {
                self.expr(&l.value);
                let memory = self.pointed_to(&l.value);
                self.define(&l.var.name, memory);
            }
            Stmt::Alloc(buffer) => {
                self.buffer(buffer);
                self.define(&buffer.name, MemoryOwner::Own);
            }
            Stmt::Decl(d) => self.declared(d),
            Stmt::Attr(a) => {
                self.exprs([&a.node, &a.value]);
                self.body(&a.body);
            }
            Stmt::LaunchThread(l) => {
                self.expr(&l.extent);
                self.body(&l.body);
            }
            // A possible failure does not count (PURE.ERR-EXEMPT).
            Stmt::Assert(a) => self.expr(&a.condition),
            Stmt::Evaluate(e) => self.expr(e),
            Stmt::Break | Stmt::Continue => {}
        }
    }

    fn counted(&mut self, f: &For) {
        self.exprs([&f.start, &f.stop].into_iter().chain(&f.step));
        self.body(&f.body);
    }

    /// The declared buffer shares the data of the other one.
    fn declared(&mut self, d: &Decl) {
        self.buffer(&d.buffer);
        let memory = self.memory_of(&d.data.name);
        self.define(&d.buffer.name, memory);
    }

    fn store(&mut self, s: &Store) {
        match self.memory_of(&s.buffer.name) {
            MemoryOwner::Own => self.found.stores_to_own = true,
            MemoryOwner::Alias => self.found.stores_to_alias = true,
            MemoryOwner::Foreign => self.found.stores_elsewhere = true,
        }
        self.exprs(s.indices.iter().chain([&s.value]));
    }

    fn block(&mut self, block: &Block) {
        let mark = self.names.len();
        for iter in &block.iters {
            self.exprs([&iter.start, &iter.stop, &iter.value]);
        }
        self.exprs(&block.predicate);
        for buffer in &block.allocs {
            self.buffer(buffer);
            self.define(&buffer.name, MemoryOwner::Alias);
        }
        for part in &block.matches {
            self.region(&part.source);
            let memory = self.alias_of(&part.source.buffer.name);
            self.define(&part.buffer.name, memory);
        }
        block.init.iter().for_each(|init| self.body(init));
        self.body(&block.body);
        self.names.truncate(mark);
    }

    fn region(&mut self, region: &Region) {
        let Region { buffer: _, ranges } = region;
        for Range { start, stop } in ranges {
            self.exprs([start].into_iter().chain(stop));
        }
    }

    fn buffer(&mut self, buffer: &Buffer) {
        self.exprs(buffer.shape.iter().chain(&buffer.strides).chain(&buffer.elem_offset));
    }

    /// The owner of the memory that a pointer refers to.
    fn pointed_to(&self, value: &Expr) -> MemoryOwner {
        match value {
            Expr::Data(buffer) => self.alias_of(&buffer.name),
            Expr::Var(var) => self.alias_of(&var.name),
            Expr::Cast(_, value) => with_stack(|| self.pointed_to(value)),
            Expr::Int(..)
            | Expr::Float(..)
            | Expr::Str(_)
            | Expr::Binary(_)
            | Expr::Not(_)
            | Expr::Select(_)
            | Expr::IfThenElse(_)
            | Expr::Load(_)
            | Expr::Let(_)
            | Expr::Call(_)
            | Expr::Extern(_)
            | Expr::Ramp(_)
            | Expr::Broadcast(..)
            | Expr::Shuffle(_) => MemoryOwner::Foreign,
        }
    }

    fn exprs<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) {
        exprs.into_iter().for_each(|e| self.expr(e));
    }

    fn expr(&mut self, e: &Expr) {
        with_stack(|| match e {
            Expr::Var(_) | Expr::Int(..) | Expr::Float(..) | Expr::Str(_) | Expr::Data(_) => {}
            Expr::Binary(b) => self.exprs([&b.a, &b.b]),
            Expr::Not(e) | Expr::Cast(_, e) | Expr::Broadcast(e, _) => self.expr(e),
            Expr::Select(c) | Expr::IfThenElse(c) => self.exprs([&c.condition, &c.then, &c.otherwise]),
            Expr::Load(l) => self.exprs(&l.indices),
            Expr::Let(l) => self.exprs([&l.value, &l.body]),
            // The functions with a known meaning are arithmetic.
            Expr::Call(c) => self.exprs(&c.args),
            Expr::Extern(c) => self.call(c),
            Expr::Ramp(r) => self.exprs([&r.base, &r.stride]),
            Expr::Shuffle(s) => self.exprs(s.vectors.iter().chain(&s.indices)),
        });
    }

    fn call(&mut self, call: &Extern) {
        self.exprs(&call.args);
        if call.of_module {
            self.found.calls.push(call.op.clone());
            return;
        }
        match effect_of(&call.op) {
            CallEffect::Pure | CallEffect::Harmless => {}
            CallEffect::ReadState => self.found.reads_state |= !self.reads_argument(call),
            CallEffect::UpdateState => self.found.updates = true,
        }
    }

    /// Whether a call reads memory that the function received or has made.
    fn reads_argument(&self, call: &Extern) -> bool {
        match call.args.first() {
            Some(Expr::Var(var)) => {
                var.dtype.code == DataType::HANDLE.code && self.names.iter().any(|(name, _)| *name == var.name)
            }
            Some(Expr::Data(_)) => true,
            Some(_) | None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::Edition;
    use crate::check::check_program;
    use crate::syntax::tvmscript::parse_module;

    /// A chain of functions that each call the previous one twice. With `round`, the first also calls the last.
    fn ladder(rungs: usize, round: bool) -> String {
        let first = if round { format!("Module.g{}(n)", rungs - 1) } else { "0".to_string() };
        let mut text = "@I.ir_module\nclass Module:\n".to_string();
        for k in 0..rungs {
            let called = if k == 0 { first.clone() } else { format!("Module.g{}(n)", k - 1) };
            text += &format!("    @T.prim_func(private=True)\n    def g{k}(n: T.int64):\n");
            text += &format!("        T.evaluate({called})\n        T.evaluate({called})\n");
        }
        let called = rungs / 2;
        text + &format!(
            "    @R.function\n    def main(k: R.Prim(\"int64\")):\n        with R.dataflow():\n            r = Module.g{called}(k)\n            \
             R.output(r)\n        return k\n"
        )
    }

    #[test]
    fn a_function_that_many_call_is_looked_at_once_and_in_a_circle_all_are_impure() {
        for (round, pure) in [(false, true), (true, false)] {
            let module = parse_module(&ladder(60, round)).unwrap();
            let mut cx = Cx::new().with_edition(Edition::E2024_04);
            let report = check_program(&mut cx, &module);
            assert_eq!(report.diagnostics.iter().all(|finding| !finding.is_fatal()), pure, "{round}");
        }
    }
}
