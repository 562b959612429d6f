//! Visitors: recursive descent over the abstract syntax, with a method for every kind of node (chapter The 2022
//! Abstract Syntax).
//!
//! The default of each method descends into the node with the `walk_*` function of the same name. An analysis overrides
//! some methods, and calls that function to continue the descent. Blocks are walked binding by binding without
//! recursion, and any nesting depth is allowed.
//!
//! ```
//! use relax_spec::grammar::visit::{Visitor, count_vardef};
//! use relax_spec::grammar::Binder;
//!
//! /// Collects the names of the dataflow variables that are defined.
//! #[derive(Default)]
//! struct DataflowDefs(Vec<String>);
//!
//! impl Visitor for DataflowDefs {
//!     fn visit_dataflow_var_def(&mut self, binder: &Binder) {
//!         self.0.push(binder.var.to_string());
//!     }
//! }
//!
//! let text = r#"
//! @R.function
//! def main(x: R.Tensor((2,), "float32")):
//!     with R.dataflow():
//!         t = R.add(x, x)
//!         u = R.exp(t)
//!         R.output(u)
//!     return u
//! "#;
//! let module = relax_spec::syntax::tvmscript::parse_module(text)?;
//! # let Some(relax_spec::grammar::GlobalFunc::Function(main)) = module.get("main") else { panic!() };
//! let mut defs = DataflowDefs::default();
//! defs.visit_function(main);
//! assert_eq!(defs.0, ["t"]);
//! assert_eq!(count_vardef(main), 3);
//! # Ok::<(), relax_spec::grammar::source::SyntaxError>(())
//! ```

use super::{
    AttrValue, Attrs, Binder, Binding, BindingBlock, BlockKind, Call, Expr, Function, GlobalFunc, GlobalVar, IrModule,
    MatchCast, PrimExpr, SeqExpr, ShapeVar, StructInfo, TensorShape, Var, VarBinding, VarKind,
};
use crate::judge::with_stack;

/// An analysis of programs.
pub trait Visitor {
    /// A function, global or local.
    fn visit_function(&mut self, function: &Function) {
        walk_function(self, function);
    }

    /// An expression of any kind.
    fn visit_expr(&mut self, expr: &Expr) {
        walk_expr(self, expr);
    }

    /// A sequence: its blocks, then its body.
    fn visit_seq_expr(&mut self, seq: &SeqExpr) {
        walk_seq_expr(self, seq);
    }

    /// A block of either kind; by default [`Visitor::visit_binding_block`] or [`Visitor::visit_dataflow_block`].
    fn visit_block(&mut self, block: &BindingBlock) {
        match block.kind {
            BlockKind::Binding => self.visit_binding_block(block),
            BlockKind::Dataflow => self.visit_dataflow_block(block),
        }
    }

    /// A BindingBlock.
    fn visit_binding_block(&mut self, block: &BindingBlock) {
        walk_block(self, block);
    }

    /// A `DataflowBlock` is handled like a `BindingBlock` by default.
    fn visit_dataflow_block(&mut self, block: &BindingBlock) {
        self.visit_binding_block(block);
    }

    /// A binding of either kind; by default [`Visitor::visit_var_binding`] or [`Visitor::visit_match_cast`].
    fn visit_binding(&mut self, binding: &Binding) {
        match binding {
            Binding::VarBinding(binding) => self.visit_var_binding(binding),
            Binding::MatchCast(cast) => self.visit_match_cast(cast),
        }
    }

    /// A binding of an expression.
    fn visit_var_binding(&mut self, binding: &VarBinding) {
        walk_var_binding(self, binding);
    }

    /// A `MatchCast` binding.
    fn visit_match_cast(&mut self, cast: &MatchCast) {
        walk_match_cast(self, cast);
    }

    /// A call, including its callee.
    fn visit_call(&mut self, call: &Call) {
        walk_call(self, call);
    }

    /// The definition of a variable: a parameter or the left-hand side of a binding. By default it calls one of the
    /// next two methods.
    fn visit_var_def(&mut self, binder: &Binder) {
        match binder.kind {
            VarKind::Var => self.visit_ordinary_var_def(binder),
            VarKind::DataflowVar => self.visit_dataflow_var_def(binder),
        }
    }

    /// A definition of a Var.
    fn visit_ordinary_var_def(&mut self, binder: &Binder) {
        walk_var_def(self, binder);
    }

    /// A definition of a DataflowVar.
    fn visit_dataflow_var_def(&mut self, binder: &Binder) {
        walk_var_def(self, binder);
    }

    /// The use of a variable, in an expression or as the shape in an annotation.
    fn visit_var(&mut self, _var: &Var, _kind: VarKind) {}

    /// A use of a global variable.
    fn visit_global_var(&mut self, _gv: &GlobalVar) {}

    /// Structural information in an annotation, a cast or a call.
    fn visit_struct_info(&mut self, info: &StructInfo) {
        walk_struct_info(self, info);
    }

    /// A dimension, or a scalar value.
    fn visit_prim_expr(&mut self, expr: &PrimExpr) {
        walk_prim_expr(self, expr);
    }

    /// A shape variable in any position.
    fn visit_shape_var(&mut self, _var: &ShapeVar) {}

    /// The attributes of a function or of a call.
    fn visit_attrs(&mut self, attrs: &Attrs) {
        walk_attrs(self, attrs);
    }
}

/// AST22.VISIT.EXPORT: the number of variables that a function defines, including parameters and the variables of
/// nested functions (A56).
pub fn count_vardef(function: &Function) -> usize {
    struct CountVarDef(usize);
    impl Visitor for CountVarDef {
        fn visit_var_def(&mut self, binder: &Binder) {
            self.0 += 1;
            walk_var_def(self, binder);
        }
    }
    let mut count = CountVarDef(0);
    count.visit_function(function);
    count.0
}

/// Every Relax function of a module.
pub fn walk_module<V: Visitor + ?Sized>(visitor: &mut V, module: &IrModule) {
    for (_, func) in &module.funcs {
        match func {
            GlobalFunc::Function(function) => visitor.visit_function(function),
            GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => {}
        }
    }
}

/// The parameters, the annotation of the result, the body, the attributes.
pub fn walk_function<V: Visitor + ?Sized>(visitor: &mut V, function: &Function) {
    function.params.iter().for_each(|param| visitor.visit_var_def(param));
    if let Some(info) = &function.ret_struct_info {
        visitor.visit_struct_info(info);
    }
    visitor.visit_expr(&function.body);
    visitor.visit_attrs(&function.attrs);
}

/// The parts of an expression, by its kind.
pub fn walk_expr<V: Visitor + ?Sized>(visitor: &mut V, expr: &Expr) {
    match expr {
        Expr::Constant(_) | Expr::StringImm(_) | Expr::DataTypeImm(_) | Expr::ExternFunc(_) | Expr::Op(_) => {}
        Expr::Var(var) => visitor.visit_var(var, VarKind::Var),
        Expr::DataflowVar(var) => visitor.visit_var(var, VarKind::DataflowVar),
        Expr::GlobalVar(gv) => visitor.visit_global_var(gv),
        Expr::PrimValue(prim) => visitor.visit_prim_expr(&prim.value),
        Expr::ShapeExpr(shape) => shape.values.iter().for_each(|dim| visitor.visit_prim_expr(dim)),
        // Only what holds expressions needs room to descend.
        Expr::Tuple(tuple) => with_stack(|| tuple.fields.iter().for_each(|field| visitor.visit_expr(field))),
        Expr::SeqExpr(seq) => with_stack(|| visitor.visit_seq_expr(seq)),
        Expr::Function(function) => with_stack(|| visitor.visit_function(function)),
        Expr::If(branch) => with_stack(|| {
            visitor.visit_expr(&branch.cond);
            visitor.visit_expr(&branch.true_branch);
            visitor.visit_expr(&branch.false_branch);
        }),
        Expr::Call(call) => with_stack(|| visitor.visit_call(call)),
        Expr::TupleGetItem(get) => with_stack(|| visitor.visit_expr(&get.tuple_value)),
    }
}

/// The callee, the arguments, the structural information, the attributes.
pub fn walk_call<V: Visitor + ?Sized>(visitor: &mut V, call: &Call) {
    visitor.visit_expr(&call.op);
    call.args.iter().for_each(|arg| visitor.visit_expr(arg));
    call.sinfo_args.iter().for_each(|info| visitor.visit_struct_info(info));
    visitor.visit_attrs(&call.attrs);
}

/// The blocks, then the body.
pub fn walk_seq_expr<V: Visitor + ?Sized>(visitor: &mut V, seq: &SeqExpr) {
    seq.blocks.iter().for_each(|block| visitor.visit_block(block));
    visitor.visit_expr(&seq.body);
}

/// The bindings, in order.
pub fn walk_block<V: Visitor + ?Sized>(visitor: &mut V, block: &BindingBlock) {
    block.bindings.iter().for_each(|binding| visitor.visit_binding(binding));
}

/// The value, then the variable, which is not visible in the value.
pub fn walk_var_binding<V: Visitor + ?Sized>(visitor: &mut V, binding: &VarBinding) {
    visitor.visit_expr(&binding.value);
    visitor.visit_var_def(&binding.var);
}

/// The value, then the structural information, then the variable if there is one.
pub fn walk_match_cast<V: Visitor + ?Sized>(visitor: &mut V, cast: &MatchCast) {
    visitor.visit_expr(&cast.value);
    visitor.visit_struct_info(&cast.struct_info);
    cast.var.iter().for_each(|binder| visitor.visit_var_def(binder));
}

/// The annotation, if there is one.
pub fn walk_var_def<V: Visitor + ?Sized>(visitor: &mut V, binder: &Binder) {
    binder.annotation.iter().for_each(|info| visitor.visit_struct_info(info));
}

/// Its dimensions, variables and parts.
pub fn walk_struct_info<V: Visitor + ?Sized>(visitor: &mut V, info: &StructInfo) {
    match info {
        StructInfo::Object => {}
        StructInfo::Tensor(tensor) => match &tensor.shape {
            None => {}
            Some(TensorShape::Dims(dims)) => dims.iter().for_each(|dim| visitor.visit_prim_expr(dim)),
            Some(TensorShape::Var(var)) => visitor.visit_var(var, VarKind::Var),
            Some(TensorShape::DataflowVar(var)) => visitor.visit_var(var, VarKind::DataflowVar),
            Some(TensorShape::Other(expr)) => visitor.visit_expr(expr),
        },
        StructInfo::Shape(shape) => {
            shape.values.iter().flat_map(|dims| dims.iter()).for_each(|dim| visitor.visit_prim_expr(dim));
        }
        StructInfo::Prim(prim) => prim.value.iter().for_each(|value| visitor.visit_prim_expr(value)),
        StructInfo::Tuple(fields) => with_stack(|| fields.iter().for_each(|field| visitor.visit_struct_info(field))),
        StructInfo::Func(func) => with_stack(|| {
            func.params.iter().flat_map(|params| params.iter()).for_each(|param| visitor.visit_struct_info(param));
            visitor.visit_struct_info(&func.ret);
        }),
    }
}

/// The shape variables.
pub fn walk_prim_expr<V: Visitor + ?Sized>(visitor: &mut V, expr: &PrimExpr) {
    expr.for_each_var(|var| visitor.visit_shape_var(var));
}

/// The structural information and the dimensions among the attributes.
pub fn walk_attrs<V: Visitor + ?Sized>(visitor: &mut V, attrs: &Attrs) {
    attrs.values().for_each(|value| walk_attr(visitor, value));
}

fn walk_attr<V: Visitor + ?Sized>(visitor: &mut V, value: &AttrValue) {
    for leaf in value.leaves() {
        if let AttrValue::Prim(expr) = leaf {
            visitor.visit_prim_expr(expr);
        } else if let AttrValue::StructInfo(info) = leaf {
            visitor.visit_struct_info(info);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::{Span, Tuple};

    /// The number of visited nodes of each kind.
    #[derive(Default)]
    struct Census {
        exprs: usize,
        defs: usize,
        uses: usize,
    }

    impl Visitor for Census {
        fn visit_expr(&mut self, expr: &Expr) {
            self.exprs += 1;
            walk_expr(self, expr);
        }
        fn visit_var_def(&mut self, _: &Binder) {
            self.defs += 1;
        }
        fn visit_var(&mut self, _: &Var, _: VarKind) {
            self.uses += 1;
        }
    }

    /// The visitor as the text states it: the count restarts whenever an expression is entered (A56).
    #[derive(Default)]
    struct LiteralCount(usize);

    impl Visitor for LiteralCount {
        fn visit_expr(&mut self, expr: &Expr) {
            self.0 = 0;
            walk_expr(self, expr);
        }
        fn visit_var_def(&mut self, _: &Binder) {
            self.0 += 1;
        }
    }

    #[test]
    fn the_sample_visitor_of_the_text_loses_its_count() {
        let mut literal = LiteralCount::default();
        literal.visit_function(&sample());
        // The body of the sequence is an expression, and it comes last.
        assert_eq!(literal.0, 0);
        assert!(count_vardef(&sample()) > 0);
    }

    fn sample() -> Function {
        let bind = |var, value| Binding::VarBinding(VarBinding { var, value, span: Span::NONE });
        let add = Expr::call(Expr::op("relax.add"), vec![Expr::var("a"), Expr::var("a")]);
        let block = BindingBlock {
            kind: BlockKind::Dataflow,
            bindings: vec![
                bind(Binder::dataflow(Var::new("t")), add),
                bind(Binder::var(Var::new("u")), Expr::DataflowVar(Var::new("t"))),
            ],
            span: Span::NONE,
        };
        Function {
            params: vec![Binder::var(Var::new("a"))],
            body: Expr::seq(vec![block], Expr::var("u")),
            ret_struct_info: None,
            pure: None,
            attrs: Attrs::new(),
            span: Span::NONE,
        }
    }

    #[test]
    fn every_occurrence_is_met_once() {
        let mut census = Census::default();
        census.visit_function(&sample());
        // SeqExpr, Call, Op, a, a, t, u.
        assert_eq!((census.exprs, census.defs, census.uses), (7, 3, 4));
    }

    #[test]
    fn definitions_are_dispatched_by_kind() {
        #[derive(Default)]
        struct DataflowDefs(Vec<String>);
        impl Visitor for DataflowDefs {
            fn visit_dataflow_var_def(&mut self, binder: &Binder) {
                self.0.push(binder.var.to_string());
            }
        }
        let mut defs = DataflowDefs::default();
        defs.visit_function(&sample());
        assert_eq!(defs.0, ["t"]);
    }

    #[test]
    fn depth_is_no_obstacle() {
        let mut deep = Expr::var("x");
        for _ in 0..20_000 {
            deep = Expr::Tuple(Tuple { fields: vec![deep], span: Span::NONE }.into());
        }
        let mut census = Census::default();
        census.visit_expr(&deep);
        assert_eq!(census.exprs, 20_001);
        // Leaving the scope would drop the tree recursively.
        std::mem::forget(deep);
    }
}
