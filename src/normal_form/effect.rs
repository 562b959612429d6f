//! Effects of an expression, as far as hoisting is concerned (NF.PRESERVES).

use rustc_hash::{FxHashMap, FxHashSet};

use crate::book::Erratum;
use crate::grammar::{BinaryOp, Binding, Expr, GlobalFunc, GlobalVar, IrModule, PrimExpr, ShapeVar};
use crate::judge::{Cx, with_stack};

/// Finds the expressions that may have a visible effect. It caches its answers, so that queries at every level of a
/// deep program take linear time in total.
#[derive(Default)]
pub(super) struct Effects {
    known: FxHashMap<usize, bool>,
    /// Whether a failure counts as an effect.
    failures: bool,
}

impl Effects {
    /// The effects that a leaf which may fail must not be moved behind.
    ///
    /// Errata: A75. Read literally, failures count as well, so that of two failures the same one comes first.
    pub(super) fn of_reading(cx: &Cx) -> Effects {
        if cx.literal(Erratum::A75) { Effects::and_failures() } else { Effects::default() }
    }

    /// Failures and nontermination count as effects, too.
    pub(super) fn and_failures() -> Effects {
        Effects { failures: true, ..Effects::default() }
    }

    /// Whether evaluating the expression may have a visible effect, because it calls a function that is not marked
    /// pure.
    pub(super) fn possible(&mut self, expr: &Expr) -> bool {
        if self.failures {
            return hoisted_may_fail(expr);
        }
        with_stack(|| match expr {
            Expr::Call(call) => self.remember(address(call), |e| {
                !crate::purity::callee_is_pure_operator(&call.op) || call.args.iter().any(|arg| e.possible(arg))
            }),
            Expr::Tuple(tuple) => self.remember(address(tuple), |e| tuple.fields.iter().any(|f| e.possible(f))),
            Expr::TupleGetItem(get) => self.remember(address(get), |e| e.possible(&get.tuple_value)),
            Expr::If(branch) => self.remember(address(branch), |e| {
                [&branch.cond, &branch.true_branch, &branch.false_branch].into_iter().any(|b| e.possible(b))
            }),
            Expr::SeqExpr(seq) => self.remember(address(seq), |e| {
                let mut values = seq.blocks.iter().flat_map(|block| block.bindings.iter().map(Binding::value));
                values.any(|value| e.possible(value)) || e.possible(&seq.body)
            }),
            Expr::Constant(_)
            | Expr::Var(_)
            | Expr::DataflowVar(_)
            | Expr::GlobalVar(_)
            | Expr::PrimValue(_)
            | Expr::StringImm(_)
            | Expr::DataTypeImm(_)
            | Expr::Function(_)
            | Expr::ExternFunc(_)
            | Expr::ShapeExpr(_)
            | Expr::Op(_) => false,
        })
    }

    fn remember(&mut self, key: usize, find: impl FnOnce(&mut Self) -> bool) -> bool {
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let found = find(self);
        self.known.insert(key, found);
        found
    }
}

/// The identity of a shared node. The program outlives the answers, so an address identifies one node.
fn address<T>(node: &std::sync::Arc<T>) -> usize {
    std::sync::Arc::as_ptr(node) as usize
}

/// Whether a hoisted part of an expression may fail.
fn hoisted_may_fail(expr: &Expr) -> bool {
    match expr {
        Expr::Call(_) | Expr::TupleGetItem(_) | Expr::If(_) | Expr::SeqExpr(_) | Expr::ExternFunc(_) => true,
        Expr::Tuple(tuple) => with_stack(|| tuple.fields.iter().any(hoisted_may_fail)),
        Expr::Constant(_)
        | Expr::Var(_)
        | Expr::DataflowVar(_)
        | Expr::GlobalVar(_)
        | Expr::PrimValue(_)
        | Expr::StringImm(_)
        | Expr::DataTypeImm(_)
        | Expr::Function(_)
        | Expr::ShapeExpr(_)
        | Expr::Op(_) => false,
    }
}

/// The facts that decide whether a leaf may fail.
pub(super) struct FailureContext<'k> {
    pub(super) module: &'k IrModule,
    /// The shape variables that a boxed scalar may bind to a number that is not a size.
    pub(super) boxed: &'k FxHashSet<ShapeVar>,
}

impl FailureContext<'_> {
    /// Whether an expression may fail if it stays in place.
    pub(super) fn may_fail(&self, expr: &Expr) -> bool {
        match expr {
            Expr::ShapeExpr(shape) => shape.values.iter().any(|dim| self.dim_may_fail(dim, true)),
            Expr::PrimValue(prim) => self.dim_may_fail(&prim.value, false),
            Expr::ExternFunc(_) => true,
            Expr::GlobalVar(gv) => self.is_looked_up(gv),
            Expr::Constant(_)
            | Expr::Var(_)
            | Expr::DataflowVar(_)
            | Expr::StringImm(_)
            | Expr::DataTypeImm(_)
            | Expr::Tuple(_)
            | Expr::SeqExpr(_)
            | Expr::Function(_)
            | Expr::If(_)
            | Expr::Call(_)
            | Expr::TupleGetItem(_)
            | Expr::Op(_) => false,
        }
    }

    /// Whether a global variable denotes an `ExternFunc`, which is looked up at each use.
    fn is_looked_up(&self, gv: &GlobalVar) -> bool {
        match self.module.get(&gv.name) {
            Some(GlobalFunc::ExternFunc(_)) => true,
            Some(GlobalFunc::Function(_) | GlobalFunc::PrimFunc(_)) | None => false,
        }
    }

    /// Whether a dimension may divide by zero, overflow or be negative. A variable alone usually denotes a size.
    fn dim_may_fail(&self, dim: &PrimExpr, is_size: bool) -> bool {
        match dim {
            PrimExpr::Var(var) => is_size && self.boxed.contains(var),
            PrimExpr::IntImm(value) => is_size && *value < 0,
            PrimExpr::Binary(BinaryOp::Min | BinaryOp::Max, a, b) => {
                with_stack(|| self.dim_may_fail(a, is_size) || self.dim_may_fail(b, is_size))
            }
            PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..) => true,
        }
    }
}
