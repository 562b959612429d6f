//! What an expression may do besides giving a value, as far as hoisting is concerned (NF.PRESERVES).

use rustc_hash::{FxHashMap, FxHashSet};

use crate::book::Erratum;
use crate::grammar::{BinaryOp, Binding, Expr, GlobalFunc, GlobalVar, IrModule, PrimExpr, ShapeVar};
use crate::judge::{Cx, with_stack};

/// Which expressions may have a visible effect. Remembers its answers, so that asking at every level of a deep
/// program stays linear.
#[derive(Default)]
pub(super) struct Effects {
    known: FxHashMap<usize, bool>,
    /// Whether to fail counts as an effect.
    failures: bool,
}

impl Effects {
    /// What counts as an effect behind which no leaf is left that may fail.
    ///
    /// Errata: A75, literally failures count as well, so that of two the same is the first.
    pub(super) fn of_reading(cx: &Cx) -> Effects {
        if cx.literal(Erratum::A75) { Effects::and_failures() } else { Effects::default() }
    }

    /// As if to fail, or not to end, were an effect, too.
    pub(super) fn and_failures() -> Effects {
        Effects { failures: true, ..Effects::default() }
    }

    /// Whether evaluating the expression may have a visible effect: it calls something that is not marked pure.
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

/// The identity of a shared node. The program outlives the answers, so an address names one node.
fn address<T>(node: &std::sync::Arc<T>) -> usize {
    std::sync::Arc::as_ptr(node) as usize
}

/// Whether anything of an expression is hoisted that may fail.
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

/// What a leaf fails by depends on.
pub(super) struct FailureContext<'k> {
    pub(super) module: &'k IrModule,
    /// The shape variables that a boxed scalar may bind, to a number that is no size.
    pub(super) boxed: &'k FxHashSet<ShapeVar>,
}

impl FailureContext<'_> {
    /// Whether evaluating an expression that is left in place may fail.
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

    /// Whether a global variable stands for an `ExternFunc`, which is looked up where it is used.
    fn is_looked_up(&self, gv: &GlobalVar) -> bool {
        match self.module.get(&gv.name) {
            Some(GlobalFunc::ExternFunc(_)) => true,
            Some(GlobalFunc::Function(_) | GlobalFunc::PrimFunc(_)) | None => false,
        }
    }

    /// A dimension fails when it divides by zero, overflows, or is negative; a variable alone stands for a size, as a rule.
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
