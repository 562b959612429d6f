//! Mutators: rewriting programs through the hooks of a visitor (chapter The 2022 Abstract Syntax).
//!
//! A mutator goes through the bindings of a sequence one after the other and emits what it makes of each into the block
//! under construction: none, one or several, through a [`BlockBuilder`], which normalizes and derives them.
//!
//! ```
//! use relax_spec::builder::{Mutator, mutate_module};
//! use relax_spec::grammar::{Expr, Op};
//!
//! /// Subtraction in place of addition.
//! struct Subtract;
//!
//! impl Mutator for Subtract {
//!     fn mutate_op(&mut self, op: &Op) -> Expr {
//!         Expr::op(if &*op.op_name == "relax.add" { "relax.subtract" } else { &op.op_name })
//!     }
//! }
//!
//! let module = relax_spec::syntax::tvmscript::parse_module(r#"
//! @R.function
//! def main(x: R.Tensor((2,), "float32")):
//!     y = R.add(x, x)
//!     return y
//! "#)?;
//! let module = mutate_module(&mut Subtract, &module)?;
//! let text = relax_spec::syntax::tvmscript::print_module(&module, Default::default());
//! assert!(text.contains("R.subtract(x, x)"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::Arc;

use crate::builder::{BlockBuilder, BuildError};
use crate::grammar::{
    Binder, Binding, BindingBlock, BlockKind, Call, Expr, Function, GlobalFunc, If, IrModule, MatchCast, Op, SeqExpr,
    Tuple, TupleGetItem, Var, VarBinding, VarKind,
};
use crate::judge::with_stack;

/// A rewriting of programs. Every hook keeps its node by default and goes on into the parts.
pub trait Mutator {
    /// A block of either kind; by default one of the next two.
    fn mutate_block(&mut self, builder: &mut BlockBuilder, block: &BindingBlock) -> Result<(), BuildError> {
        match block.kind {
            BlockKind::Binding => self.mutate_binding_block(builder, block),
            BlockKind::Dataflow => self.mutate_dataflow_block(builder, block),
        }
    }

    /// Rewrites the bindings of a block, one by one. The block itself is begun already.
    fn mutate_binding_block(&mut self, builder: &mut BlockBuilder, block: &BindingBlock) -> Result<(), BuildError> {
        mutate_bindings(self, builder, block)
    }

    /// What handles a `BindingBlock` handles a `DataflowBlock` too, unless it says otherwise here.
    fn mutate_dataflow_block(&mut self, builder: &mut BlockBuilder, block: &BindingBlock) -> Result<(), BuildError> {
        self.mutate_binding_block(builder, block)
    }

    /// Rewrites a binding by its kind.
    fn mutate_binding(&mut self, builder: &mut BlockBuilder, binding: &Binding) -> Result<(), BuildError> {
        match binding {
            Binding::VarBinding(binding) => self.mutate_var_binding(builder, binding),
            Binding::MatchCast(cast) => self.mutate_match_cast(builder, cast),
        }
    }

    /// Rewrites the value, and emits the binding with it.
    fn mutate_var_binding(&mut self, builder: &mut BlockBuilder, binding: &VarBinding) -> Result<(), BuildError> {
        let value = match &binding.value {
            Expr::Function(function) => self.mutate_function(builder, function, Some(&binding.var))?,
            value => self.mutate_expr(builder, value)?,
        };
        builder.emit_normalized(Binding::VarBinding(VarBinding { value, ..binding.clone() }))
    }

    /// Rewrites the value, and emits the cast with it; the structural information stays.
    fn mutate_match_cast(&mut self, builder: &mut BlockBuilder, cast: &MatchCast) -> Result<(), BuildError> {
        let value = self.mutate_expr(builder, &cast.value)?;
        builder.emit_normalized(Binding::MatchCast(MatchCast { value, ..cast.clone() }))
    }

    /// Rewrites an expression: its parts, by default.
    fn mutate_expr(&mut self, builder: &mut BlockBuilder, expr: &Expr) -> Result<Expr, BuildError> {
        mutate_parts(self, builder, expr)
    }

    /// A function literal, and the variable that it is bound to, if it is, by which it may call itself.
    fn mutate_function(
        &mut self,
        builder: &mut BlockBuilder,
        function: &Function,
        bound_to: Option<&Binder>,
    ) -> Result<Expr, BuildError> {
        let start = builder.begin_literal(function, bound_to)?;
        let body = mutate_sequence(self, builder, &function.body)?;
        builder.end_literal(start);
        Ok(Expr::Function(Arc::new(Function { body, ..function.clone() })))
    }

    /// The use of a variable.
    fn mutate_var(&mut self, var: &Var, kind: VarKind) -> Expr {
        match kind {
            VarKind::Var => Expr::Var(var.clone()),
            VarKind::DataflowVar => Expr::DataflowVar(var.clone()),
        }
    }

    /// What stands for an operator: itself, by default.
    fn mutate_op(&mut self, op: &Op) -> Expr {
        Expr::Op(op.clone())
    }
}

/// Every Relax function of a module in normal form, in the order of the module. Calls are known by the annotations of
/// the functions that are called.
///
/// # Errors
///
/// The builder rejects what the mutator emits.
pub fn mutate_module<M: Mutator + ?Sized>(mutator: &mut M, module: &IrModule) -> Result<IrModule, BuildError> {
    let mut result = module.clone();
    let mut builder = BlockBuilder::new(module.clone());
    for (index, (_, func)) in module.funcs.iter().enumerate() {
        let GlobalFunc::Function(function) = func else { continue };
        builder.begin_body(function)?;
        let body = mutate_sequence(mutator, &mut builder, &function.body)?;
        builder.end_body();
        if let Some((_, slot)) = result.funcs.get_mut(index) {
            *slot = GlobalFunc::Function(Arc::new(Function { body, ..(**function).clone() }));
        }
    }
    Ok(result)
}

/// AST22.MUTATOR.NOMEMO: one binding after the other.
pub fn mutate_bindings<M: Mutator + ?Sized>(
    mutator: &mut M,
    builder: &mut BlockBuilder,
    block: &BindingBlock,
) -> Result<(), BuildError> {
    builder.begin_block(block.kind)?;
    block.bindings.iter().try_for_each(|binding| mutator.mutate_binding(builder, binding))?;
    builder.end_block()
}

/// A sequence, or an expression in its place, as a sequence of its own.
fn mutate_sequence<M: Mutator + ?Sized>(
    mutator: &mut M,
    builder: &mut BlockBuilder,
    expr: &Expr,
) -> Result<Expr, BuildError> {
    builder.begin_sequence()?;
    let body = match expr {
        Expr::SeqExpr(seq) => {
            let SeqExpr { blocks, body, .. } = &**seq;
            blocks.iter().try_for_each(|block| mutator.mutate_block(builder, block))?;
            mutator.mutate_expr(builder, body)?
        }
        other => mutator.mutate_expr(builder, other)?,
    };
    builder.end_sequence(&body)
}

/// The parts of an expression.
pub fn mutate_parts<M: Mutator + ?Sized>(
    mutator: &mut M,
    builder: &mut BlockBuilder,
    expr: &Expr,
) -> Result<Expr, BuildError> {
    with_stack(|| {
        Ok(match expr {
            Expr::Constant(_)
            | Expr::GlobalVar(_)
            | Expr::PrimValue(_)
            | Expr::StringImm(_)
            | Expr::DataTypeImm(_)
            | Expr::ExternFunc(_)
            | Expr::ShapeExpr(_) => expr.clone(),
            Expr::Function(function) => mutator.mutate_function(builder, function, None)?,
            Expr::Op(op) => mutator.mutate_op(op),
            Expr::Var(var) => mutator.mutate_var(var, VarKind::Var),
            Expr::DataflowVar(var) => mutator.mutate_var(var, VarKind::DataflowVar),
            Expr::SeqExpr(_) => mutate_sequence(mutator, builder, expr)?,
            Expr::Tuple(tuple) => {
                let fields: Result<_, BuildError> =
                    tuple.fields.iter().map(|f| mutator.mutate_expr(builder, f)).collect();
                Expr::Tuple(Arc::new(Tuple { fields: fields?, span: tuple.span }))
            }
            Expr::If(branch) => Expr::If(Arc::new(If {
                cond: mutator.mutate_expr(builder, &branch.cond)?,
                true_branch: mutate_sequence(mutator, builder, &branch.true_branch)?,
                false_branch: mutate_sequence(mutator, builder, &branch.false_branch)?,
                span: branch.span,
            })),
            Expr::Call(call) => {
                let op = mutator.mutate_expr(builder, &call.op)?;
                let args: Result<_, BuildError> =
                    call.args.iter().map(|arg| mutator.mutate_expr(builder, arg)).collect();
                Expr::Call(Arc::new(Call { op, args: args?, ..(**call).clone() }))
            }
            Expr::TupleGetItem(get) => Expr::TupleGetItem(Arc::new(TupleGetItem {
                tuple_value: mutator.mutate_expr(builder, &get.tuple_value)?,
                ..(**get).clone()
            })),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Cx;
    use crate::syntax::tvmscript::parse_module;

    const TEXT: &str = r#"
@R.function
def main(x: R.Tensor((2,), "float32"), c: R.Tensor((), "bool")):
    with R.dataflow():
        t = R.add(x, x)
        u = R.exp(t)
        R.output(u)
    if c:
        w = R.add(u, u)
    else:
        w = R.exp(u)
    return w
"#;

    struct Keep;
    impl Mutator for Keep {}

    fn normal() -> IrModule {
        crate::normal_form::normalize(&mut Cx::new(), &parse_module(TEXT).unwrap())
    }

    #[test]
    fn without_hooks_nothing_changes() {
        let module = normal();
        assert_eq!(mutate_module(&mut Keep, &module).unwrap(), module);
    }

    /// Computes the exponential of the doubled argument in dataflow blocks: several bindings for one.
    struct Double;
    impl Mutator for Double {
        fn mutate_dataflow_block(
            &mut self,
            builder: &mut BlockBuilder,
            block: &BindingBlock,
        ) -> Result<(), BuildError> {
            builder.begin_dataflow_block()?;
            for binding in &block.bindings {
                if let (Binding::VarBinding(b), Expr::Call(call)) = (binding, binding.value())
                    && call.op == Expr::op("relax.exp")
                {
                    let arg = call.args[0].clone();
                    let sum = builder.emit(&Expr::call(Expr::op("relax.add"), vec![arg.clone(), arg]))?;
                    let value = Expr::call(Expr::op("relax.exp"), vec![sum]);
                    builder.emit_normalized(Binding::VarBinding(VarBinding { value, ..b.clone() }))?;
                } else {
                    self.mutate_binding(builder, binding)?;
                }
            }
            builder.end_block()
        }
    }

    #[test]
    fn a_dataflow_block_is_rewritten_and_the_rest_stays() {
        let module = normal();
        let changed = mutate_module(&mut Double, &module).unwrap();
        let blocks = |module: &IrModule| {
            let Some(GlobalFunc::Function(function)) = module.get("main") else { panic!() };
            let Expr::SeqExpr(seq) = &function.body else { panic!() };
            seq.blocks.clone()
        };
        let (before, after) = (blocks(&module), blocks(&changed));
        assert_eq!((before[0].bindings.len(), after[0].bindings.len()), (2, 3));
        assert_eq!(before[1..], after[1..]);
        assert!(crate::check::check_program(&mut Cx::new(), &changed).accepts());
    }

    /// Subtraction in place of addition, wherever it stands.
    struct Subtract;
    impl Mutator for Subtract {
        fn mutate_op(&mut self, op: &Op) -> Expr {
            Expr::op(if &*op.op_name == "relax.add" { "relax.subtract" } else { &op.op_name })
        }
    }

    #[test]
    fn function_literals_are_rewritten_too() {
        let text = r#"
@R.function(pure=False)
def main(x: R.Tensor((2,), "float32"), c: R.Tensor((), "bool")):
    @R.function(pure=False)
    def g(b: R.Tensor((), "bool"), y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        z = R.add(y, x)
        if b:
            r = g(c, z)
        else:
            r = R.add(z, z)
        return r
    w = g(c, x)
    return w
"#;
        let module = crate::normal_form::normalize(&mut Cx::new(), &parse_module(text).unwrap());
        assert_eq!(mutate_module(&mut Keep, &module).unwrap(), module);
        let changed = mutate_module(&mut Subtract, &module).unwrap();
        let expected = parse_module(&text.replace("R.add", "R.subtract")).unwrap();
        assert_eq!(changed, crate::normal_form::normalize(&mut Cx::new(), &expected));
    }

    #[test]
    fn generated_programs_are_kept() {
        for seed in 0..40 {
            let mut tape = crate::generate::Tape::from_seed(seed, 300);
            let module = crate::generate::module(&mut tape, &crate::generate::ProgramOptions::default());
            let normal = crate::normal_form::normalize(&mut Cx::new(), &module);
            assert_eq!(mutate_module(&mut Keep, &normal).unwrap(), normal);
        }
    }

    #[test]
    fn long_blocks_take_no_stack() {
        let lines: String = (0..20_000).map(|i| format!("    x{} = R.exp(x{i})\n", i + 1)).collect();
        let text = format!("@R.function\ndef main(x0: R.Tensor((2,), \"float32\")):\n{lines}    return x20000\n");
        let module = parse_module(&text).unwrap();
        assert!(mutate_module(&mut Keep, &module).unwrap() == module);
    }

    #[test]
    fn what_is_emitted_is_checked() {
        struct Wrong;
        impl Mutator for Wrong {
            fn mutate_var(&mut self, _: &Var, _: VarKind) -> Expr {
                Expr::var("nowhere")
            }
        }
        assert!(matches!(mutate_module(&mut Wrong, &normal()), Err(BuildError::Rejected(_))));
    }
}
