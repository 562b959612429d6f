//! The free variables of a function, which its closure captures (`VAL.CLOSURE.FREE`).
//!
//! The compiler for the virtual machine computes them separately (`vm::compile::free`). The two ways to run a program
//! intentionally share no semantics, so that a mistake in one of them shows as a difference between the two.

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::free::FreeVariables;
use super::machine::Machine;
use super::scope::Scopes;
use crate::book::Erratum;
use crate::grammar::{AttrValue, Binding, Call, Expr, Function, PrimExpr, SeqExpr, StructInfo, TensorShape, Var};
use crate::judge::with_stack;

impl Machine<'_> {
    /// The free variables of a function, computed once and cached.
    pub(super) fn free_of(&mut self, func: &Arc<Function>) -> Rc<FreeVariables> {
        let key = Arc::as_ptr(func) as usize;
        if let Some(free) = self.free_variables.get(&key) {
            return free.clone();
        }
        // A45: the text considers only the body.
        let annotations = !self.cx.literal(Erratum::A45);
        let mut walk = CaptureWalk {
            machine: self,
            bound: Scopes::new(),
            seen: FxHashSet::default(),
            free: FreeVariables::default(),
        };
        walk.function(func, annotations);
        let free = Rc::new(walk.free);
        self.free_variables.insert(key, free.clone());
        free
    }
}

struct CaptureWalk<'w, 'm> {
    machine: &'w mut Machine<'m>,
    bound: Scopes<Var, ()>,
    /// The addresses of dimension operands that were already visited. Shared operands are visited once.
    seen: FxHashSet<usize>,
    free: FreeVariables,
}

impl CaptureWalk<'_, '_> {
    fn function(&mut self, func: &Function, annotations: bool) {
        for param in &func.params {
            if annotations && let Some(annotation) = &param.annotation {
                self.struct_info(annotation);
            }
            self.bound.bind(param.var.clone(), ());
        }
        if annotations && let Some(ret) = &func.ret_struct_info {
            self.struct_info(ret);
        }
        self.expr(&func.body);
    }

    fn expr(&mut self, e: &Expr) {
        with_stack(|| match e {
            Expr::Var(v) => self.var(v),
            Expr::DataflowVar(v) => {
                if self.bound.get(v).is_none() {
                    self.free.dataflow_vars.insert(v.clone());
                }
            }
            Expr::Tuple(t) => t.fields.iter().for_each(|field| self.expr(field)),
            Expr::SeqExpr(seq) => self.seq_expr(seq),
            Expr::PrimValue(p) => self.dim(&p.value),
            Expr::Function(f) => self.nested_function(f),
            Expr::If(e) => [&e.cond, &e.true_branch, &e.false_branch].into_iter().for_each(|e| self.expr(e)),
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

    fn seq_expr(&mut self, seq: &SeqExpr) {
        let mark = self.bound.push();
        for binding in seq.blocks.iter().flat_map(|block| &block.bindings) {
            self.binding(binding);
        }
        self.expr(&seq.body);
        self.bound.pop(mark);
    }

    fn binding(&mut self, binding: &Binding) {
        match binding {
            // A bound function sees its own name (EVAL.FUNC.RECBIND).
            Binding::VarBinding(b) if matches!(b.value, Expr::Function(_)) => {
                self.bound.bind(b.var.var.clone(), ());
                self.expr(&b.value);
            }
            Binding::VarBinding(b) => {
                self.expr(&b.value);
                self.bound.bind(b.var.var.clone(), ());
            }
            Binding::MatchCast(b) => {
                self.expr(&b.value);
                self.struct_info(&b.struct_info);
                if let Some(binder) = &b.var {
                    self.bound.bind(binder.var.clone(), ());
                }
            }
        }
    }

    /// If a nested function captures a variable, the function around it must capture it too.
    fn nested_function(&mut self, func: &Arc<Function>) {
        let inner = self.machine.free_of(func);
        inner.vars.iter().for_each(|v| self.var(v));
        self.free.shape_vars.extend(inner.shape_vars.iter().cloned());
    }

    fn call(&mut self, call: &Call) {
        self.expr(&call.op);
        call.args.iter().for_each(|arg| self.expr(arg));
        call.sinfo_args.iter().for_each(|info| self.struct_info(info));
        call.attrs.values().for_each(|value| self.attr(value));
    }

    fn attr(&mut self, value: &AttrValue) {
        for leaf in value.leaves() {
            if let AttrValue::Prim(dim) = leaf {
                self.dim(dim);
            } else if let AttrValue::StructInfo(info) = leaf {
                self.struct_info(info);
            }
        }
    }

    fn struct_info(&mut self, info: &StructInfo) {
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
            StructInfo::Tuple(fields) => fields.iter().for_each(|field| self.struct_info(field)),
            StructInfo::Func(f) => {
                f.params.iter().flat_map(|params| params.iter()).for_each(|param| self.struct_info(param));
                self.struct_info(&f.ret);
            }
        });
    }

    fn var(&mut self, v: &Var) {
        if self.bound.get(v).is_none() {
            self.free.vars.insert(v.clone());
        }
    }

    fn dim(&mut self, dim: &PrimExpr) {
        dim.for_each_var_once(&mut self.seen, |v| {
            self.free.shape_vars.insert(v.clone());
        });
    }
}
