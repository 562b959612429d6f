//! Expressions, bindings and binding blocks.

use std::sync::Arc;

use super::{Attrs, DataType, Name, PrimExpr, Span, StructInfo, TensorData, Var};

/// A Relax expression.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Expr {
    Constant(Constant),
    /// A use of a variable scoped to a function or `SeqExpr`.
    Var(Var),
    /// A use of a variable scoped to a `DataflowBlock`.
    DataflowVar(Var),
    GlobalVar(GlobalVar),
    Tuple(Arc<Tuple>),
    SeqExpr(Arc<SeqExpr>),
    PrimValue(PrimValue),
    StringImm(StringImm),
    DataTypeImm(DataTypeImm),
    Function(Arc<Function>),
    If(Arc<If>),
    ExternFunc(ExternFunc),
    Call(Arc<Call>),
    ShapeExpr(ShapeExpr),
    TupleGetItem(Arc<TupleGetItem>),
    Op(Op),
}

/// `Constant(data)`: a tensor literal.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Constant {
    pub data: TensorData,
    pub span: Span,
}

/// `GlobalVar(name_hint)`: bound by the module; identified by its name.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct GlobalVar {
    pub name: Name,
    pub span: Span,
}

/// `Tuple(fields)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Tuple {
    pub fields: Vec<Expr>,
    pub span: Span,
}

/// `SeqExpr(blocks, body)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SeqExpr {
    pub blocks: Vec<BindingBlock>,
    pub body: Expr,
    pub span: Span,
}

/// `PrimValue(value)`. The value is an int64 expression unless `dtype` says otherwise.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PrimValue {
    pub value: PrimExpr,
    pub dtype: DataType,
    /// The bits of a floating-point value; `value` is then the constant 0.
    pub float: Option<super::FloatBits>,
    pub span: Span,
}

/// `StringImm(value)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct StringImm {
    pub value: Name,
    pub span: Span,
}

/// `DataTypeImm(value)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct DataTypeImm {
    pub value: DataType,
    pub span: Span,
}

/// `Function(params, body, ret_struct_info, attrs)`.
///
/// `pure` is what the surface says of purity: `None` leaves it to inference.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Function {
    pub params: Vec<Binder>,
    pub body: Expr,
    pub ret_struct_info: Option<StructInfo>,
    pub pure: Option<bool>,
    pub attrs: Attrs,
    pub span: Span,
}

/// `If(cond, true_branch, false_branch)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct If {
    pub cond: Expr,
    pub true_branch: Expr,
    pub false_branch: Expr,
    pub span: Span,
}

/// `ExternFunc(global_symbol)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ExternFunc {
    pub global_symbol: Name,
    pub span: Span,
}

/// `Call(op, args, sinfo_args, attrs)` (C01).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Call {
    pub op: Expr,
    pub args: Vec<Expr>,
    pub sinfo_args: Vec<StructInfo>,
    pub attrs: Attrs,
    pub span: Span,
}

/// `ShapeExpr(values)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ShapeExpr {
    pub values: Arc<[PrimExpr]>,
    pub span: Span,
}

/// `TupleGetItem(tuple_value, index)`, counting from zero.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TupleGetItem {
    pub tuple_value: Expr,
    pub index: i64,
    pub span: Span,
}

/// `Op(op_name)`, with the name as registered, for example `relax.add`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Op {
    pub op_name: Name,
    pub span: Span,
}

/// What kind of variable a binding introduces.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum VarKind {
    #[default]
    Var,
    DataflowVar,
}

/// The place where a variable is bound: its identity, its kind and its annotation.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Binder {
    pub var: Var,
    pub kind: VarKind,
    /// `struct_info_annotation`.
    pub annotation: Option<StructInfo>,
}

/// A sequence of bindings. Ordinary (`BindingBlock`) or restricted to pure dataflow (`DataflowBlock`).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BindingBlock {
    pub kind: BlockKind,
    pub bindings: Vec<Binding>,
    pub span: Span,
}

/// The two kinds of binding block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum BlockKind {
    #[default]
    Binding,
    Dataflow,
}

/// A binding.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Binding {
    VarBinding(VarBinding),
    MatchCast(MatchCast),
}

/// `VarBinding(var, value)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct VarBinding {
    pub var: Binder,
    pub value: Expr,
    pub span: Span,
}

/// `MatchCast(var, struct_info, value)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MatchCast {
    pub var: Option<Binder>,
    pub struct_info: StructInfo,
    pub value: Expr,
    pub span: Span,
}

impl GlobalVar {
    pub fn new(name: &str) -> GlobalVar {
        GlobalVar { name: name.into(), span: Span::NONE }
    }
}

impl Binder {
    /// An ordinary variable without annotation.
    pub fn var(var: Var) -> Binder {
        Binder { var, kind: VarKind::Var, annotation: None }
    }

    pub fn dataflow(var: Var) -> Binder {
        Binder { var, kind: VarKind::DataflowVar, annotation: None }
    }

    pub fn annotated(mut self, annotation: StructInfo) -> Binder {
        self.annotation = Some(annotation);
        self
    }

    /// The expression that uses the bound variable.
    pub fn to_expr(&self) -> Expr {
        match self.kind {
            VarKind::Var => Expr::Var(self.var.clone()),
            VarKind::DataflowVar => Expr::DataflowVar(self.var.clone()),
        }
    }
}

impl Binding {
    pub fn span(&self) -> Span {
        match self {
            Binding::VarBinding(b) => b.span,
            Binding::MatchCast(b) => b.span,
        }
    }

    /// The variable bound, if any.
    pub fn binder(&self) -> Option<&Binder> {
        match self {
            Binding::VarBinding(b) => Some(&b.var),
            Binding::MatchCast(b) => b.var.as_ref(),
        }
    }

    pub fn value(&self) -> &Expr {
        match self {
            Binding::VarBinding(b) => &b.value,
            Binding::MatchCast(b) => &b.value,
        }
    }
}

impl Expr {
    pub fn constant(data: TensorData) -> Expr {
        Expr::Constant(Constant { data, span: Span::NONE })
    }

    /// A use of the variable `name` with number 0.
    pub fn var(name: &str) -> Expr {
        Expr::Var(Var::new(name))
    }

    pub fn tuple(fields: Vec<Expr>) -> Expr {
        Expr::Tuple(Arc::new(Tuple { fields, span: Span::NONE }))
    }

    pub fn seq(blocks: Vec<BindingBlock>, body: Expr) -> Expr {
        Expr::SeqExpr(Arc::new(SeqExpr { blocks, body, span: Span::NONE }))
    }

    pub fn shape(values: impl IntoIterator<Item = PrimExpr>) -> Expr {
        Expr::ShapeExpr(ShapeExpr { values: values.into_iter().collect(), span: Span::NONE })
    }

    pub fn op(name: &str) -> Expr {
        Expr::Op(Op { op_name: name.into(), span: Span::NONE })
    }

    pub fn extern_func(symbol: &str) -> Expr {
        Expr::ExternFunc(ExternFunc { global_symbol: symbol.into(), span: Span::NONE })
    }

    /// A call without `sinfo_args` and attributes.
    pub fn call(op: Expr, args: Vec<Expr>) -> Expr {
        Expr::Call(Arc::new(Call { op, args, sinfo_args: Vec::new(), attrs: Attrs::new(), span: Span::NONE }))
    }

    pub fn tuple_get_item(tuple_value: Expr, index: i64) -> Expr {
        Expr::TupleGetItem(Arc::new(TupleGetItem { tuple_value, index, span: Span::NONE }))
    }

    /// Where the expression was written.
    pub fn span(&self) -> Span {
        match self {
            Expr::Constant(e) => e.span,
            Expr::Var(v) | Expr::DataflowVar(v) => v.span,
            Expr::GlobalVar(e) => e.span,
            Expr::Tuple(e) => e.span,
            Expr::SeqExpr(e) => e.span,
            Expr::PrimValue(e) => e.span,
            Expr::StringImm(e) => e.span,
            Expr::DataTypeImm(e) => e.span,
            Expr::Function(e) => e.span,
            Expr::If(e) => e.span,
            Expr::ExternFunc(e) => e.span,
            Expr::Call(e) => e.span,
            Expr::ShapeExpr(e) => e.span,
            Expr::TupleGetItem(e) => e.span,
            Expr::Op(e) => e.span,
        }
    }

    /// The name of the node, as in the grammar.
    pub fn node_name(&self) -> &'static str {
        match self {
            Expr::Constant(_) => "Constant",
            Expr::Var(_) => "Var",
            Expr::DataflowVar(_) => "DataflowVar",
            Expr::GlobalVar(_) => "GlobalVar",
            Expr::Tuple(_) => "Tuple",
            Expr::SeqExpr(_) => "SeqExpr",
            Expr::PrimValue(_) => "PrimValue",
            Expr::StringImm(_) => "StringImm",
            Expr::DataTypeImm(_) => "DataTypeImm",
            Expr::Function(_) => "Function",
            Expr::If(_) => "If",
            Expr::ExternFunc(_) => "ExternFunc",
            Expr::Call(_) => "Call",
            Expr::ShapeExpr(_) => "ShapeExpr",
            Expr::TupleGetItem(_) => "TupleGetItem",
            Expr::Op(_) => "Op",
        }
    }
}
