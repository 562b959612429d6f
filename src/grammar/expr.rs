//! Expressions, bindings and binding blocks.

use std::sync::Arc;

use super::{AttrValue, Attrs, DataType, Name, PrimExpr, Span, StructInfo, TensorData, Var};

/// A Relax expression.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Expr {
    /// `GRAM.EXPR.CONSTANT`: a tensor literal.
    Constant(Constant),
    /// A use of a variable scoped to a function or `SeqExpr`.
    Var(Var),
    /// A use of a variable scoped to a `DataflowBlock`.
    DataflowVar(Var),
    /// `GRAM.EXPR.GLOBALVAR`: a use of a global variable.
    GlobalVar(GlobalVar),
    /// `GRAM.EXPR.TUPLE`: a new tuple.
    Tuple(Arc<Tuple>),
    /// `GRAM.EXPR.SEQEXPR`: blocks of bindings, and a body in which they are visible.
    SeqExpr(Arc<SeqExpr>),
    /// `PR14148.EXPR.PRIMVALUE`: a scalar.
    PrimValue(PrimValue),
    /// `PR14148.EXPR.STRINGIMM`: a string.
    StringImm(StringImm),
    /// `PR14148.EXPR.DATATYPEIMM`: a data type as a value.
    DataTypeImm(DataTypeImm),
    /// `GRAM.EXPR.FUNCTION`: a closure, or the definition of a global function.
    Function(Arc<Function>),
    /// `GRAM.EXPR.IF`: a choice between two branches.
    If(Arc<If>),
    /// `GRAM.EXPR.EXTERNFUNC`: a packed function, by its global name.
    ExternFunc(ExternFunc),
    /// `GRAM.EXPR.CALL`: a call of an operator or a function.
    Call(Arc<Call>),
    /// `GRAM.EXPR.SHAPEEXPR`: a shape of computed dimensions.
    ShapeExpr(ShapeExpr),
    /// `GRAM.EXPR.TUPLEGETITEM`: a field of a tuple.
    TupleGetItem(Arc<TupleGetItem>),
    /// `GRAM.EXPR.OP`: an operator, used as a callee.
    Op(Op),
}

/// `Constant(data)`: a tensor literal.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Constant {
    /// Shape, data type and elements.
    pub data: TensorData,
    /// The position in the source.
    pub span: Span,
}

/// `GlobalVar(name_hint)`: bound by the module; identified by its name.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct GlobalVar {
    /// The name, without the leading `@`.
    pub name: Name,
    /// The position in the source.
    pub span: Span,
}

/// `Tuple(fields)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Tuple {
    /// The fields from left to right; empty for the unit value.
    pub fields: Vec<Expr>,
    /// The position in the source.
    pub span: Span,
}

/// `SeqExpr(blocks, body)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SeqExpr {
    /// Run in order, before the body.
    pub blocks: Vec<BindingBlock>,
    /// The result of the sequence. The bindings of the blocks are visible in it.
    pub body: Expr,
    /// The position in the source.
    pub span: Span,
}

/// `PrimValue(value)`. The value is an int64 expression unless `dtype` says otherwise.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PrimValue {
    /// The scalar.
    pub value: PrimExpr,
    /// Its data type.
    pub dtype: DataType,
    /// The bits of a floating-point value; `value` is then the constant 0.
    pub float: Option<super::FloatBits>,
    /// The position in the source.
    pub span: Span,
}

/// `StringImm(value)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct StringImm {
    /// The characters.
    pub value: Name,
    /// The position in the source.
    pub span: Span,
}

/// `DataTypeImm(value)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct DataTypeImm {
    /// The data type.
    pub value: DataType,
    /// The position in the source.
    pub span: Span,
}

/// `Function(params, body, ret_struct_info, attrs)`.
///
/// `pure` is the declared purity: `None` leaves it to inference.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Function {
    /// The parameters, in the order of the arguments.
    pub params: Vec<Binder>,
    /// The result of a call. The parameters are visible in it.
    pub body: Expr,
    /// The annotation of the result, if there is one.
    pub ret_struct_info: Option<StructInfo>,
    /// The declared purity; `None` leaves it to inference.
    pub pure: Option<bool>,
    /// Attributes by name, such as `global_symbol` (`GRAM.EXPR.FUNCTION.ATTRS`).
    pub attrs: Attrs,
    /// The position in the source.
    pub span: Span,
}

/// `If(cond, true_branch, false_branch)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct If {
    /// A Boolean tensor scalar.
    pub cond: Expr,
    /// The result if the condition is true.
    pub true_branch: Expr,
    /// The result if the condition is false.
    pub false_branch: Expr,
    /// The position in the source.
    pub span: Span,
}

/// `ExternFunc(global_symbol)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ExternFunc {
    /// The name under which the packed function is registered.
    pub global_symbol: Name,
    /// The position in the source.
    pub span: Span,
}

/// `Call(op, args, sinfo_args, attrs)` (C01).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Call {
    /// The callee: an operator, or any expression whose value is a function (`GRAM.CALL.CALLEE`).
    pub op: Expr,
    /// The arguments from left to right.
    pub args: Vec<Expr>,
    /// Structural information for the callee, such as that of the result.
    pub sinfo_args: Vec<StructInfo>,
    /// Attributes by name (`GRAM.EXPR.CALL.ATTRS`).
    pub attrs: Attrs,
    /// The position in the source.
    pub span: Span,
}

/// `ShapeExpr(values)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ShapeExpr {
    /// The dimensions, outermost first.
    pub values: Arc<[PrimExpr]>,
    /// The position in the source.
    pub span: Span,
}

/// `TupleGetItem(tuple_value, index)`; the index counts from zero.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TupleGetItem {
    /// The tuple.
    pub tuple_value: Expr,
    /// The index of the field, from zero. A negative one is representable, so that a check can reject it.
    pub index: i64,
    /// The position in the source.
    pub span: Span,
}

/// `Op(op_name)`, with the name as registered, for example `relax.add`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Op {
    /// The registered name, for example `relax.add`.
    pub op_name: Name,
    /// The position in the source.
    pub span: Span,
}

/// The kind of variable that a binding introduces.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum VarKind {
    /// Visible until the scope of its sequence ends.
    #[default]
    Var,
    /// Visible only in its DataflowBlock (`SCOPE.DF.EXIT`).
    DataflowVar,
}

/// The place where a variable is bound: its identity, its kind and its annotation.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Binder {
    /// The variable.
    pub var: Var,
    /// The kind of variable.
    pub kind: VarKind,
    /// The annotation, `struct_info_annotation` in the text.
    pub annotation: Option<StructInfo>,
}

/// A sequence of bindings. Ordinary (`BindingBlock`) or restricted to pure dataflow (`DataflowBlock`).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BindingBlock {
    /// The kind of block.
    pub kind: BlockKind,
    /// The bindings in the order of evaluation. Each sees those before it.
    pub bindings: Vec<Binding>,
    /// The position in the source.
    pub span: Span,
}

/// The two kinds of binding block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum BlockKind {
    /// `GRAM.BLOCK.BINDING`: no restriction.
    #[default]
    Binding,
    /// `GRAM.BLOCK.DATAFLOW`: no control flow and no visible effect.
    Dataflow,
}

/// A binding.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Binding {
    /// `GRAM.BIND.VARBINDING`: a variable is bound to a value.
    VarBinding(VarBinding),
    /// `GRAM.BIND.MATCHCAST`: a value is checked at run time.
    MatchCast(Box<MatchCast>),
}

/// `VarBinding(var, value)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct VarBinding {
    /// The variable.
    pub var: Binder,
    /// The value.
    pub value: Expr,
    /// The position in the source.
    pub span: Span,
}

/// `MatchCast(var, struct_info, value)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MatchCast {
    /// The variable. A cast without one only checks, and binds shape variables (`SI.MATCHCAST.NOVAR`).
    pub var: Option<Binder>,
    /// The information that the value must match at run time. The match binds its free shape variables.
    pub struct_info: StructInfo,
    /// The value.
    pub value: Expr,
    /// The position in the source.
    pub span: Span,
}

impl GlobalVar {
    /// The global variable with this name, without a source position.
    pub fn new(name: &str) -> GlobalVar {
        GlobalVar { name: name.into(), span: Span::NONE }
    }
}

impl Binder {
    /// An ordinary variable without annotation.
    pub fn var(var: Var) -> Binder {
        Binder { var, kind: VarKind::Var, annotation: None }
    }

    /// A DataflowVar without an annotation.
    pub fn dataflow(var: Var) -> Binder {
        Binder { var, kind: VarKind::DataflowVar, annotation: None }
    }

    /// The binder with an annotation.
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
    /// The position in the source.
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

    /// The value that is bound or matched.
    pub fn value(&self) -> &Expr {
        match self {
            Binding::VarBinding(b) => &b.value,
            Binding::MatchCast(b) => &b.value,
        }
    }
}

impl Call {
    /// Whether its attribute says that this call has no effect (`PURE.ATTR.REPR`).
    pub fn is_marked_pure(&self) -> bool {
        self.attrs.get("pure") == Some(&AttrValue::Bool(true))
    }
}

impl Expr {
    /// Its direct subexpressions, from left to right. For a sequence the list is empty, since its blocks have their own
    /// order.
    pub fn parts_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Expr::Tuple(tuple) => Arc::make_mut(tuple).fields.iter_mut().collect(),
            Expr::TupleGetItem(get) => vec![&mut Arc::make_mut(get).tuple_value],
            Expr::Function(function) => vec![&mut Arc::make_mut(function).body],
            Expr::If(branch) => {
                let branch = Arc::make_mut(branch);
                vec![&mut branch.cond, &mut branch.true_branch, &mut branch.false_branch]
            }
            Expr::Call(call) => {
                let call = Arc::make_mut(call);
                std::iter::once(&mut call.op).chain(&mut call.args).collect()
            }
            Expr::SeqExpr(_)
            | Expr::Constant(_)
            | Expr::Var(_)
            | Expr::DataflowVar(_)
            | Expr::GlobalVar(_)
            | Expr::PrimValue(_)
            | Expr::StringImm(_)
            | Expr::DataTypeImm(_)
            | Expr::ExternFunc(_)
            | Expr::ShapeExpr(_)
            | Expr::Op(_) => Vec::new(),
        }
    }

    /// Whether it is an expression over shape variables, stored in a box. As the condition of an `If` it needs no box
    /// in the text of 2024-04.
    pub fn is_over_shape_vars(&self) -> bool {
        matches!(self, Expr::PrimValue(prim) if prim.float.is_none() && !matches!(prim.value, PrimExpr::IntImm(_)))
    }

    /// A tensor literal.
    pub fn constant(data: TensorData) -> Expr {
        Expr::Constant(Constant { data, span: Span::NONE })
    }

    /// A use of the variable `name` with number 0.
    pub fn var(name: &str) -> Expr {
        Expr::Var(Var::new(name))
    }

    /// A tuple of these fields.
    pub fn tuple(fields: Vec<Expr>) -> Expr {
        Expr::Tuple(Arc::new(Tuple { fields, span: Span::NONE }))
    }

    /// A sequence of these blocks and this body.
    pub fn seq(blocks: Vec<BindingBlock>, body: Expr) -> Expr {
        Expr::SeqExpr(Arc::new(SeqExpr { blocks, body, span: Span::NONE }))
    }

    /// A shape with these dimensions.
    pub fn shape(values: impl IntoIterator<Item = PrimExpr>) -> Expr {
        Expr::ShapeExpr(ShapeExpr { values: values.into_iter().collect(), span: Span::NONE })
    }

    /// An operator by its registered name, for example `relax.add`.
    pub fn op(name: &str) -> Expr {
        Expr::Op(Op { op_name: name.into(), span: Span::NONE })
    }

    /// A packed function by its global name.
    pub fn extern_func(symbol: &str) -> Expr {
        Expr::ExternFunc(ExternFunc { global_symbol: symbol.into(), span: Span::NONE })
    }

    /// A call without `sinfo_args` and attributes.
    pub fn call(op: Expr, args: Vec<Expr>) -> Expr {
        Expr::Call(Arc::new(Call { op, args, sinfo_args: Vec::new(), attrs: Attrs::new(), span: Span::NONE }))
    }

    /// A field of a tuple, counting from zero.
    pub fn tuple_get_item(tuple_value: Expr, index: i64) -> Expr {
        Expr::TupleGetItem(Arc::new(TupleGetItem { tuple_value, index, span: Span::NONE }))
    }

    /// The position of the expression in the source.
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
