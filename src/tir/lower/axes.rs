//! Loops over threads, analysed before lowering: whether a function has its own barriers.

use super::super::beside::Beside;
use super::super::memory::MemoryScope;
use crate::grammar::Name;
use crate::grammar::tir::{Expr, ForKind, Stmt};
use crate::judge::with_stack;

/// The thread axes of a function.
#[derive(Default)]
pub(super) struct ThreadAxes {
    barriers: bool,
    /// Whether a loop over an axis is inside of another one over the same axis, which is the same thread.
    nested: bool,
    open: Vec<Name>,
}

impl ThreadAxes {
    pub fn of(body: &[Stmt]) -> ThreadAxes {
        let mut axes = ThreadAxes::default();
        axes.body(body);
        axes
    }

    fn body(&mut self, body: &[Stmt]) {
        with_stack(|| body.iter().for_each(|stmt| self.stmt(stmt)));
    }

    fn along(&mut self, axis: &Name, body: &[Stmt]) {
        self.nested |= self.open.contains(axis);
        self.open.push(axis.clone());
        self.body(body);
        self.open.pop();
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::For(each) => match &each.kind {
                ForKind::ThreadBinding(axis) => self.along(axis, &each.body),
                ForKind::Serial | ForKind::Parallel | ForKind::Vectorized | ForKind::Unroll => self.body(&each.body),
            },
            Stmt::LaunchThread(launch) => self.along(&launch.thread, &launch.body),
            Stmt::While(each) => self.body(&each.body),
            Stmt::Block(block) => {
                block.init.iter().for_each(|init| self.body(init));
                self.body(&block.body);
            }
            Stmt::If(choice) => {
                self.body(&choice.then);
                self.body(&choice.otherwise);
            }
            Stmt::Attr(attr) => self.body(&attr.body),
            Stmt::Evaluate(e) => self.barriers |= is_barrier(e),
            Stmt::Store(_)
            | Stmt::Let(_)
            | Stmt::Alloc(_)
            | Stmt::Decl(_)
            | Stmt::Assert(_)
            | Stmt::Break
            | Stmt::Continue => {}
        }
    }

    /// Who shares memory of this scope. If a function has no barriers, the compiler inserts them around shared memory.
    pub fn scope(&self, name: &str) -> MemoryScope {
        match name.split('.').next().unwrap_or_default() {
            "shared" if self.barriers && !self.nested => MemoryScope::Block,
            "shared" | "warp" => MemoryScope::Unguarded,
            "local" => MemoryScope::Thread,
            _ => MemoryScope::Allocated,
        }
    }
}

/// Whether all threads of the block wait for each other here.
pub(super) fn is_barrier(e: &Expr) -> bool {
    let of_block = |args: &[Expr]| match args {
        [] => true,
        [Expr::Str(scope), ..] => scope.starts_with("shared"),
        _ => false,
    };
    matches!(e, Expr::Extern(call) if &*call.op == "tvm_storage_sync" && !call.of_module && of_block(&call.args))
}

/// The kind of the rounds of a loop, if they may run at once.
pub(super) fn beside(kind: &ForKind) -> Option<Beside> {
    match kind {
        ForKind::Parallel => Some(Beside::Tasks),
        ForKind::Vectorized => Some(Beside::Lanes),
        ForKind::ThreadBinding(axis) => of_axis(axis),
        ForKind::Serial | ForKind::Unroll => None,
    }
}

/// The same for an axis; virtual threads run one after the other.
pub(super) fn of_axis(axis: &str) -> Option<Beside> {
    let (kind, letter) = axis.split_once('.')?;
    let number = letter.bytes().next()?;
    match kind {
        "blockIdx" => Some(Beside::Blocks(number)),
        "threadIdx" => Some(Beside::Threads(number)),
        _ => None,
    }
}
