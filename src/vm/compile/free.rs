//! The free variables of a function (`VAL.CLOSURE.FREE`).
//!
//! The evaluator has its own algorithm (`eval::capture`), and this one repeats it on purpose. The machine shares no
//! code of evaluation, so a mistake in one of the two shows as a difference.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::Compiler;
use crate::book::Erratum;
use crate::grammar::{
    AttrValue, Binding, Call, Expr, Function, PrimExpr, SeqExpr, ShapeVar, StructInfo, TensorShape, Var,
};
use crate::judge::with_stack;
use crate::scope::Context;

/// The free variables of a function. All its shape variables are included: the bound ones have a different identity
/// from those outside (A03).
#[derive(Debug, Default)]
pub(super) struct ClosureFreeVariables {
    pub(super) vars: BTreeSet<Var>,
    /// Uses of `DataflowVar`s from outside the function (`EVAL.FUNC.NO-DFVAR`).
    pub(super) dataflow_vars: BTreeSet<Var>,
    pub(super) shape_vars: BTreeSet<ShapeVar>,
}

impl ClosureFreeVariables {
    /// Computes them once for each function.
    pub(super) fn of(f: &Arc<Function>, compiler: &mut Compiler<'_>) -> Rc<ClosureFreeVariables> {
        let address = Arc::as_ptr(f) as usize;
        if let Some(known) = compiler.free.get(&address) {
            return known.clone();
        }
        // A45: literally annotations do not count.
        let annotations = !compiler.cx.literal(Erratum::A45);
        let (bound, seen, free) = (Context::new(), FxHashSet::default(), ClosureFreeVariables::default());
        let mut search = FreeVariableSearch { compiler: &mut *compiler, bound, seen, free };
        search.function(f, annotations);
        let found = Rc::new(search.free);
        compiler.free.insert(address, found.clone());
        found
    }
}

struct FreeVariableSearch<'s, 'c> {
    compiler: &'s mut Compiler<'c>,
    bound: Context<Var, ()>,
    /// The visited operands of dimensions, by address.
    seen: FxHashSet<usize>,
    free: ClosureFreeVariables,
}

impl FreeVariableSearch<'_, '_> {
    fn function(&mut self, f: &Function, annotations: bool) {
        for param in &f.params {
            if let Some(annotation) = param.annotation.as_ref().filter(|_| annotations) {
                self.info(annotation);
            }
            self.bound.enter(param.var.clone(), ());
        }
        if let Some(ret) = f.ret_struct_info.as_ref().filter(|_| annotations) {
            self.info(ret);
        }
        self.expr(&f.body);
    }

    fn expr(&mut self, e: &Expr) {
        with_stack(|| match e {
            Expr::Var(v) => self.var(v),
            Expr::DataflowVar(v) if self.bound.contains(v) => {}
            Expr::DataflowVar(v) => {
                self.free.dataflow_vars.insert(v.clone());
            }
            Expr::Tuple(t) => t.fields.iter().for_each(|field| self.expr(field)),
            Expr::SeqExpr(seq) => self.seq(seq),
            Expr::PrimValue(p) => self.dim(&p.value),
            Expr::Function(f) => self.nested(f),
            Expr::If(e) => [&e.cond, &e.true_branch, &e.false_branch].into_iter().for_each(|part| self.expr(part)),
            Expr::Call(call) => self.call(call),
            Expr::ShapeExpr(shape) => shape.values.iter().for_each(|dim| self.dim(dim)),
            Expr::TupleGetItem(t) => self.expr(&t.tuple_value),
            Expr::Constant(_)
            | Expr::GlobalVar(_)
            | Expr::StringImm(_)
            | Expr::DataTypeImm(_)
            | Expr::ExternFunc(_)
            | Expr::Op(_) => {}
        });
    }

    fn seq(&mut self, seq: &SeqExpr) {
        let scope = self.bound.mark();
        seq.blocks.iter().flat_map(|block| &block.bindings).for_each(|binding| self.binding(binding));
        self.expr(&seq.body);
        self.bound.leave(scope);
    }

    fn binding(&mut self, binding: &Binding) {
        match binding {
            Binding::VarBinding(b) => {
                // A bound function sees its own name.
                let sees_itself = matches!(b.value, Expr::Function(_));
                if sees_itself {
                    self.bound.enter(b.var.var.clone(), ());
                }
                self.expr(&b.value);
                if !sees_itself {
                    self.bound.enter(b.var.var.clone(), ());
                }
            }
            Binding::MatchCast(b) => {
                self.expr(&b.value);
                self.info(&b.struct_info);
                if let Some(binder) = &b.var {
                    self.bound.enter(binder.var.clone(), ());
                }
            }
        }
    }

    /// A function must capture everything that the functions inside it capture.
    fn nested(&mut self, f: &Arc<Function>) {
        let inner = ClosureFreeVariables::of(f, self.compiler);
        inner.vars.iter().for_each(|v| self.var(v));
        self.free.shape_vars.extend(inner.shape_vars.iter().cloned());
    }

    fn call(&mut self, call: &Call) {
        self.expr(&call.op);
        call.args.iter().for_each(|arg| self.expr(arg));
        call.sinfo_args.iter().for_each(|info| self.info(info));
        call.attrs.values().for_each(|value| self.attr(value));
    }

    fn attr(&mut self, value: &AttrValue) {
        for leaf in value.leaves() {
            if let AttrValue::Prim(dim) = leaf {
                self.dim(dim);
            } else if let AttrValue::StructInfo(info) = leaf {
                self.info(info);
            }
        }
    }

    fn info(&mut self, info: &StructInfo) {
        with_stack(|| match info {
            StructInfo::Object => {}
            StructInfo::Tensor(t) => match &t.shape {
                None => {}
                Some(TensorShape::Dims(dims)) => dims.iter().for_each(|dim| self.dim(dim)),
                Some(TensorShape::Var(v) | TensorShape::DataflowVar(v)) => self.var(v),
                Some(TensorShape::Other(e)) => self.expr(e),
            },
            StructInfo::Shape(s) => s.values.iter().flat_map(|values| values.iter()).for_each(|dim| self.dim(dim)),
            StructInfo::Prim(p) => p.value.iter().for_each(|value| self.dim(value)),
            StructInfo::Tuple(fields) => fields.iter().for_each(|field| self.info(field)),
            StructInfo::Func(f) => {
                f.params.iter().flat_map(|params| params.iter()).for_each(|param| self.info(param));
                self.info(&f.ret);
            }
        });
    }

    fn var(&mut self, v: &Var) {
        if !self.bound.contains(v) {
            self.free.vars.insert(v.clone());
        }
    }

    fn dim(&mut self, dim: &PrimExpr) {
        dim.for_each_var_once(&mut self.seen, |v| {
            self.free.shape_vars.insert(v.clone());
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::CompileStage;
    use super::*;
    use crate::grammar::{Attrs, BinaryOp, IrModule, ShapeExpr, Span};
    use crate::judge::Cx;

    /// As a tree the dimension would have 2^61 parts.
    #[test]
    fn what_is_shared_is_searched_once() {
        let doubled = (0..60).fold(PrimExpr::var("n"), |e, _| PrimExpr::binary(BinaryOp::Add, e.clone(), e));
        let body = Expr::ShapeExpr(ShapeExpr { values: [doubled].into(), span: Span::NONE });
        let f = Arc::new(Function {
            params: Vec::new(),
            body,
            ret_struct_info: None,
            pure: None,
            attrs: Attrs::new(),
            span: Span::NONE,
        });
        let (mut cx, module) = (Cx::new(), IrModule::default());
        let free = ClosureFreeVariables::of(&f, &mut Compiler::new(&mut cx, &module, None, CompileStage::Sized));
        assert_eq!(free.shape_vars, [ShapeVar::new("n")].into());
    }
}
