//! Productions for trees that were not read from data: each node fires the rule of its production.

use std::collections::BTreeSet;

use super::attrs::storable;
use super::data_type::by_name;
use super::reader::{DataReader, DataResult};
use crate::book::Rule;
use crate::grammar::visit::{
    Visitor, walk_block, walk_call, walk_expr, walk_function, walk_match_cast, walk_module, walk_struct_info,
    walk_var_binding, walk_var_def,
};
use crate::grammar::{
    AttrValue, Attrs, Binder, Binding, BindingBlock, BlockKind, Call, DataType, Expr, Function, GlobalFunc, IrModule,
    PrimExpr, Span, StructInfo, TensorStructInfo, VarKind,
};
use crate::judge::{Cx, with_stack};

/// GRAM: fires the productions that build a program.
///
/// # Errors
///
/// A production is not in the grammar.
pub fn recognize(cx: &mut Cx, module: &IrModule) -> DataResult<()> {
    let mut visitor = Productions { r: DataReader::new(cx), so_far: Ok(()) };
    visitor.by(rule!("GRAM.PROGRAM"));
    for (_, func) in &module.funcs {
        match func {
            GlobalFunc::Function(_) => {}
            GlobalFunc::ExternFunc(_) => visitor.by(rule!("GRAM.EXPR.EXTERNFUNC")),
            GlobalFunc::PrimFunc(_) => {
                visitor.by(rule!("GRAM.PROGRAM"));
                visitor.by(rule!("GRAM.PRIMFUNC"));
            }
        }
    }
    walk_module(&mut visitor, module);
    visitor.values(&module.attrs);
    visitor.so_far?;
    one_function_a_name(cx, module)
}

/// GRAM.PROGRAM: a program maps global variables to functions, and no key occurs twice.
///
/// # Errors
///
/// Two functions have the same name.
pub fn one_function_a_name(cx: &mut Cx, module: &IrModule) -> DataResult<()> {
    let mut names = BTreeSet::new();
    for (gv, _) in &module.funcs {
        let first = names.insert(&gv.name);
        let message = || format!("the module binds `{}` twice", gv.name);
        DataReader::new(cx).premise(gv.span, rule!("GRAM.PROGRAM"), 2, first, message)?;
    }
    Ok(())
}

struct Productions<'c> {
    r: DataReader<'c>,
    so_far: DataResult<()>,
}

impl Productions<'_> {
    /// Runs a check unless an earlier one failed.
    fn check(&mut self, production: impl FnOnce(&mut DataReader<'_>) -> DataResult<()>) {
        if self.so_far.is_ok() {
            self.so_far = production(&mut self.r);
        }
    }

    fn by(&mut self, rule: Rule) {
        self.check(|r| r.by(rule));
    }

    fn data_type(&mut self, dtype: DataType) {
        self.check(|r| by_name(r, dtype));
    }

    fn values(&mut self, attrs: &Attrs) {
        attrs.values().for_each(|value| self.value(value));
    }

    fn value(&mut self, value: &AttrValue) {
        for leaf in value.leaves() {
            if let AttrValue::DataType(dtype) = leaf {
                self.data_type(*dtype);
            } else if let AttrValue::Prim(expr) = leaf {
                self.visit_prim_expr(expr);
            } else if let AttrValue::StructInfo(info) = leaf {
                self.visit_struct_info(info);
            }
        }
    }

    /// The rule of an expression and the productions of its parts that are not expressions.
    fn expr(&mut self, expr: &Expr) {
        let rule = match expr {
            Expr::Constant(_) => rule!("GRAM.EXPR.CONSTANT"),
            Expr::Var(_) => rule!("GRAM.EXPR.VAR"),
            Expr::DataflowVar(_) => rule!("GRAM.EXPR.DATAFLOWVAR"),
            Expr::GlobalVar(_) => rule!("GRAM.EXPR.GLOBALVAR"),
            Expr::Tuple(_) => rule!("GRAM.EXPR.TUPLE"),
            Expr::SeqExpr(_) => rule!("GRAM.EXPR.SEQEXPR"),
            Expr::PrimValue(_) => rule!("PR14148.EXPR.PRIMVALUE"),
            Expr::StringImm(_) => rule!("PR14148.EXPR.STRINGIMM"),
            Expr::DataTypeImm(_) => rule!("PR14148.EXPR.DATATYPEIMM"),
            Expr::Function(_) => rule!("GRAM.EXPR.FUNCTION"),
            Expr::If(_) => rule!("GRAM.EXPR.IF"),
            Expr::ExternFunc(_) => rule!("GRAM.EXPR.EXTERNFUNC"),
            Expr::Call(_) => rule!("GRAM.EXPR.CALL"),
            Expr::ShapeExpr(_) => rule!("GRAM.EXPR.SHAPEEXPR"),
            Expr::TupleGetItem(_) => rule!("GRAM.EXPR.TUPLEGETITEM"),
            Expr::Op(_) => rule!("GRAM.EXPR.OP"),
        };
        let at = expr.span();
        self.holds(at, rule!("GRAM.PRIM.POSITION"));
        self.holds(at, rule!("GRAM.PRIM.SHAPEVAR-ONLY-IN-PRIM"));
        self.by(rule);
    }

    /// A premise that no tree can break, because the tree cannot represent a violation.
    fn holds(&mut self, at: Span, rule: Rule) {
        self.check(|r| r.premise(at, rule, 1, true, String::new));
    }
}

impl Visitor for Productions<'_> {
    fn visit_function(&mut self, function: &Function) {
        self.by(rule!("GRAM.EXPR.FUNCTION"));
        if !function.attrs.is_empty() {
            self.by(rule!("GRAM.EXPR.FUNCTION.ATTRS"));
        }
        walk_function(self, function);
    }

    fn visit_expr(&mut self, expr: &Expr) {
        self.expr(expr);
        if let Expr::Constant(constant) = expr {
            self.data_type(constant.data.dtype);
            self.check(|r| storable(r, constant.span, constant.data.dtype));
        } else if let Expr::PrimValue(prim) = expr {
            self.data_type(prim.dtype);
        } else if let Expr::DataTypeImm(imm) = expr {
            self.data_type(imm.value);
        }
        walk_expr(self, expr);
    }

    fn visit_call(&mut self, call: &Call) {
        if !call.sinfo_args.is_empty() {
            self.holds(call.span, rule!("PR14148.CALL.SINFO_ARGS"));
        }
        if !call.attrs.is_empty() {
            self.by(rule!("GRAM.EXPR.CALL.ATTRS"));
        }
        walk_call(self, call);
    }

    fn visit_block(&mut self, block: &BindingBlock) {
        match block.kind {
            BlockKind::Binding => self.by(rule!("GRAM.BLOCK.BINDING")),
            BlockKind::Dataflow => self.by(rule!("GRAM.BLOCK.DATAFLOW")),
        }
        walk_block(self, block);
    }

    fn visit_binding(&mut self, binding: &Binding) {
        match binding {
            Binding::VarBinding(binding) => {
                self.by(rule!("GRAM.BIND.VARBINDING"));
                walk_var_binding(self, binding);
            }
            Binding::MatchCast(cast) => {
                self.by(rule!("GRAM.BIND.MATCHCAST"));
                walk_match_cast(self, cast);
            }
        }
    }

    fn visit_var_def(&mut self, binder: &Binder) {
        let at = binder.var.span;
        self.check(|r| r.premise(at, rule!("GRAM.BIND.VARBINDING"), 2, true, String::new));
        match binder.kind {
            VarKind::Var => self.by(rule!("GRAM.EXPR.VAR")),
            VarKind::DataflowVar => self.by(rule!("GRAM.EXPR.DATAFLOWVAR")),
        }
        walk_var_def(self, binder);
    }

    fn visit_struct_info(&mut self, info: &StructInfo) {
        let (rule, dtype) = match info {
            StructInfo::Object => (rule!("GRAM.SI.OBJECT"), None),
            StructInfo::Tensor(TensorStructInfo { dtype, .. }) => (rule!("GRAM.SI.TENSOR"), Some(*dtype)),
            StructInfo::Shape(_) => (rule!("GRAM.SI.SHAPE"), None),
            StructInfo::Prim(prim) => (rule!("PR14148.SI.PRIM"), Some(prim.dtype)),
            StructInfo::Tuple(_) => (rule!("GRAM.SI.TUPLE"), None),
            StructInfo::Func(_) => (rule!("GRAM.SI.FUNC"), None),
        };
        self.by(rule);
        if let StructInfo::Prim(_) = info {
            self.by(rule!("GRAM.SI.PRIM"));
        }
        if let StructInfo::Func(_) = info {
            self.by(rule!("PURITY3.FIELD"));
        }
        if let StructInfo::Tensor(TensorStructInfo { vdevice: Some(_), .. }) = info {
            self.by(rule!("GRAM.VDEVICE"));
            self.by(rule!("GRAM.TARGET"));
        }
        if let Some(dtype) = dtype {
            self.data_type(dtype);
        }
        walk_struct_info(self, info);
    }

    fn visit_prim_expr(&mut self, expr: &PrimExpr) {
        with_stack(|| match expr {
            PrimExpr::Var(_) => self.by(rule!("GRAM.PRIM.VAR")),
            PrimExpr::IntImm(_) => self.holds(Span::NONE, rule!("GRAM.PRIM.INTIMM")),
            PrimExpr::Binary(op, a, b) => {
                self.by(op.rule());
                self.visit_prim_expr(a);
                self.visit_prim_expr(b);
            }
            PrimExpr::Not(a) => {
                self.by(rule!("GRAM.PRIM.NOT"));
                self.visit_prim_expr(a);
            }
            PrimExpr::Select(c, t, e) => {
                self.by(rule!("GRAM.PRIM.SELECT"));
                [c, t, e].into_iter().for_each(|operand| self.visit_prim_expr(operand));
            }
        });
    }

    fn visit_attrs(&mut self, attrs: &Attrs) {
        self.values(attrs);
    }
}
