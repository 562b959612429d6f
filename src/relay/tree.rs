//! The syntax of Relay as data, the same for both notations.

use std::sync::Arc;

use crate::grammar::{Attrs, DataType, Name, Span, TensorData};

/// The two notations of Relay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RelayNotation {
    /// The notation of the introduction: `Tensor<Float, 10, 10>`, `attributes`.
    #[default]
    Introduced,
    /// The notation that Relay printed later: `#[version = ..]`, `Tensor[(10, 10), float32]`.
    Printed,
}

/// A program, which consists of functions (`RELAY.PROGRAM`). The host provides the registry of operators.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// The notation of the source text.
    pub notation: RelayNotation,
    /// The version in the first line.
    pub version: Option<Name>,
    /// The definitions, in the order of the text.
    pub definitions: Vec<Definition>,
}

/// A named global function (`RELAY.DEF.PARTS`).
#[derive(Clone, PartialEq, Debug)]
pub struct Definition {
    /// The name, without the sigil.
    pub name: Name,
    /// Type parameters, parameters, result and body.
    pub function: Arc<Function>,
    /// The attributes before it (`RELAY.ATTR.SYN`).
    pub attributes: Option<Attributes>,
    /// The position of the name.
    pub span: Span,
}

/// Metadata before a definition.
#[derive(Clone, PartialEq, Debug)]
pub struct Attributes {
    /// The values by name.
    pub values: Attrs,
    /// The position of the block.
    pub span: Span,
}

/// A function literal, or the function of a definition.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// `<s: Shape>` or `[s]`.
    pub type_params: Vec<TypeParam>,
    /// The parameters, in the order of the arguments.
    pub params: Vec<Param>,
    /// `Inline=1` among the parameters, in the later notation.
    pub attrs: Attrs,
    /// The annotation of the result.
    pub result: Option<TypeExpr>,
    /// One expression (`RELAY.BODY.EXPR`).
    pub body: Expr,
}

/// A variable for types of a kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeParam {
    /// The name, as it is used in types.
    pub name: Name,
    /// The kind of types that it stands for.
    pub kind: Kind,
    /// The position in the text.
    pub span: Span,
}

/// The kind of a type parameter (`RELAY.KINDS`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The shape of a tensor.
    Shape,
    /// The type of its elements.
    BaseType,
    /// Any type; only in the later notation.
    Type,
}

/// A local variable with an optional type (`RELAY.PARAM`).
#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    /// The name, without the sigil.
    pub name: Name,
    /// The type after the colon.
    pub annotation: Option<TypeExpr>,
    /// The position in the text.
    pub span: Span,
}

/// A type as written.
#[derive(Clone, PartialEq, Debug)]
pub struct TypeExpr {
    /// The form.
    pub kind: TypeKind,
    /// The position in the text.
    pub span: Span,
}

/// The forms of types.
#[derive(Clone, PartialEq, Debug)]
pub enum TypeKind {
    /// `Tensor<bt, s>` (`RELAY.TYPE.TENSOR`).
    Tensor(TensorTypeExpr),
    /// A type parameter.
    Param(Name),
    /// `(a, b)`.
    Tuple(Vec<TypeExpr>),
    /// `fn(a, b) -> c`.
    Function(Vec<TypeExpr>, Box<TypeExpr>),
}

/// A tensor type as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorTypeExpr {
    /// The type of the elements.
    pub base: BaseType,
    /// The dimensions.
    pub shape: Shape,
}

/// The type of the elements of a tensor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BaseType {
    /// `Float` is float32 (A57).
    Known(DataType),
    /// A type parameter of kind BaseType.
    Param(Name),
}

/// The shape of a tensor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// A shape of known rank.
    Dims(Vec<RelayDim>),
    /// A type parameter of kind Shape.
    Param(Name),
}

/// A dimension in a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RelayDim {
    /// A number.
    Known(i64),
    /// Unknown until the program runs (`RELAY.ANY`).
    Any,
}

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// The form.
    pub kind: ExprKind,
    /// The position in the text.
    pub span: Span,
}

/// The forms of expressions.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// `%x` (`RELAY.SIGIL.LOCAL`).
    Local(Name),
    /// `@f` (`RELAY.SIGIL.GLOBAL`).
    Global(Name),
    /// `add` (`RELAY.SIGIL.OP`).
    Operator(Name),
    /// A scalar tensor.
    Constant(TensorData),
    /// `(a, b)`.
    Tuple(Vec<Expr>),
    /// `t.0`.
    Project(Box<Expr>, usize),
    /// `let %x = a; b`: bindings, each with those before it in scope, and a result (`RELAY.LET`).
    Let(Vec<Binding>, Box<Expr>),
    /// `if (c) { a } else { b }`.
    If(Box<If>),
    /// `fn (%x) { b }`.
    Function(Arc<Function>),
    /// `f(a, b, axis=1)`.
    Call(Box<Call>),
}

/// A variable with its value.
#[derive(Clone, PartialEq, Debug)]
pub struct Binding {
    /// The variable.
    pub var: Param,
    /// Its value.
    pub value: Expr,
}

/// A conditional.
#[derive(Clone, PartialEq, Debug)]
pub struct If {
    /// A truth value.
    pub condition: Expr,
    /// The value if it is true.
    pub then: Expr,
    /// The value if it is false.
    pub otherwise: Expr,
}

/// A call of an operator or a function.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    /// The callee.
    pub callee: Expr,
    /// The arguments, in order.
    pub args: Vec<Expr>,
    /// The attributes, by name.
    pub attrs: Attrs,
}

impl Program {
    /// The definition of this name.
    pub fn get(&self, name: &str) -> Option<&Definition> {
        self.definitions.iter().find(|definition| &*definition.name == name)
    }
}

impl Expr {
    /// An expression without a position.
    pub fn new(kind: ExprKind) -> Expr {
        Expr { kind, span: Span::NONE }
    }

    /// A call of an operator.
    pub fn operator(name: &str, args: Vec<Expr>, attrs: Attrs) -> Expr {
        let callee = Expr::new(ExprKind::Operator(name.into()));
        Expr::new(ExprKind::Call(Box::new(Call { callee, args, attrs })))
    }

    /// A use of a local variable.
    pub fn local(name: &str) -> Expr {
        Expr::new(ExprKind::Local(name.into()))
    }
}

impl TypeExpr {
    /// A type without a position.
    pub fn new(kind: TypeKind) -> TypeExpr {
        TypeExpr { kind, span: Span::NONE }
    }

    /// A tensor of known element type and shape.
    pub fn tensor(dtype: DataType, dims: Vec<RelayDim>) -> TypeExpr {
        TypeExpr::new(TypeKind::Tensor(TensorTypeExpr { base: BaseType::Known(dtype), shape: Shape::Dims(dims) }))
    }
}

impl Kind {
    /// The name, as it is written.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Shape => "Shape",
            Kind::BaseType => "BaseType",
            Kind::Type => "Type",
        }
    }
}

/// Operators that are written between their arguments, with their precedence. Only the first is in the text (A57).
pub(super) const INFIX: &[(&str, &str, u8)] = &[
    ("+", "add", 2),
    ("-", "subtract", 2),
    ("*", "multiply", 3),
    ("/", "divide", 3),
    ("==", "equal", 1),
    ("!=", "not_equal", 1),
    ("<=", "less_equal", 1),
    (">=", "greater_equal", 1),
    ("<", "less", 1),
    (">", "greater", 1),
];
