//! The productions of the grammar as a table: the one under "All nodes" of the chapter, with the rule of each node.

use crate::rule::Rule;

/// What may stand in a place of a tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Category {
    Program,
    Entry,
    GlobalFunc,
    Expr,
    Block,
    Binding,
    Binder,
    StructInfo,
    TensorShape,
    Type,
    DataType,
    Dim,
    Attrs,
    AttrValue,
    TensorData,
    /// A literal integer.
    Index,
    /// Names, numbers and flags, and the inside of a `PrimFunc`: nothing to check here.
    Plain,
}

/// A node: its name, its rule and what it is made of.
pub(super) struct Production {
    pub name: &'static str,
    pub rule: Rule,
    pub content: Content,
}

pub(super) enum Content {
    Nothing,
    One(Category),
    Many(Category),
    Fields(&'static [Field]),
}

/// A field of a node.
pub(super) struct Field {
    pub name: &'static str,
    pub category: Category,
    pub many: bool,
    pub mandatory: bool,
}

const fn one(name: &'static str, category: Category) -> Field {
    Field { name, category, many: false, mandatory: true }
}

const fn maybe(name: &'static str, category: Category) -> Field {
    Field { name, category, many: false, mandatory: false }
}

/// A list. An empty one may be left out.
const fn many(name: &'static str, category: Category) -> Field {
    Field { name, category, many: true, mandatory: false }
}

const fn node(name: &'static str, rule: Rule, content: Content) -> Production {
    Production { name, rule, content }
}

use Category as C;
use Content::{Fields, Many, Nothing, One};

pub(super) const PROGRAM: &[Field] = &[many("funcs", C::Entry), maybe("version", C::Plain), maybe("attrs", C::Attrs)];

const FUNCTION: &[Field] = &[
    many("params", C::Binder),
    one("body", C::Expr),
    maybe("ret_struct_info", C::StructInfo),
    maybe("pure", C::Plain),
    maybe("attrs", C::Attrs),
];

pub(super) const BINDER: &[Field] =
    &[one("var", C::Plain), maybe("kind", C::Plain), maybe("annotation", C::StructInfo)];

pub(super) const BLOCK: &[Field] = &[many("bindings", C::Binding), maybe("kind", C::Plain)];

pub(super) const TENSOR_DATA: &[Field] = &[one("dtype", C::DataType)];

const GLOBAL_FUNCS: &[Production] =
    &[node("Function", Rule::GramExprFunction, Fields(FUNCTION)), node("PrimFunc", Rule::GramProgram, One(C::Plain))];

const EXPRS: &[Production] = &[
    node("Constant", Rule::GramExprConstant, Fields(&[one("data", C::TensorData)])),
    node("Var", Rule::GramExprVar, One(C::Plain)),
    node("DataflowVar", Rule::GramExprDataflowvar, One(C::Plain)),
    node("GlobalVar", Rule::GramExprGlobalvar, One(C::Plain)),
    node("Tuple", Rule::GramExprTuple, Fields(&[many("fields", C::Expr)])),
    node("SeqExpr", Rule::GramExprSeqexpr, Fields(&[many("blocks", C::Block), one("body", C::Expr)])),
    node(
        "PrimValue",
        Rule::Pr14148ExprPrimvalue,
        Fields(&[one("value", C::Dim), maybe("dtype", C::DataType), maybe("float", C::Plain)]),
    ),
    node("StringImm", Rule::Pr14148ExprStringimm, Fields(&[one("value", C::Plain)])),
    node("DataTypeImm", Rule::Pr14148ExprDatatypeimm, Fields(&[one("value", C::DataType)])),
    node("Function", Rule::GramExprFunction, Fields(FUNCTION)),
    node(
        "If",
        Rule::GramExprIf,
        Fields(&[one("cond", C::Expr), one("true_branch", C::Expr), one("false_branch", C::Expr)]),
    ),
    node("ExternFunc", Rule::GramExprExternfunc, Fields(&[one("global_symbol", C::Plain)])),
    node(
        "Call",
        Rule::GramExprCall,
        Fields(&[
            one("op", C::Expr),
            many("args", C::Expr),
            many("sinfo_args", C::StructInfo),
            many("type_args", C::Type),
            maybe("attrs", C::Attrs),
        ]),
    ),
    node("ShapeExpr", Rule::GramExprShapeexpr, Fields(&[many("values", C::Dim)])),
    node("TupleGetItem", Rule::GramExprTuplegetitem, Fields(&[one("tuple_value", C::Expr), one("index", C::Index)])),
    node("Op", Rule::GramExprOp, Fields(&[one("op_name", C::Plain)])),
];

const BINDINGS: &[Production] = &[
    node("VarBinding", Rule::GramBindVarbinding, Fields(&[one("var", C::Binder), one("value", C::Expr)])),
    node(
        "MatchCast",
        Rule::GramBindMatchcast,
        Fields(&[maybe("var", C::Binder), one("struct_info", C::StructInfo), one("value", C::Expr)]),
    ),
];

const STRUCT_INFOS: &[Production] = &[
    node("Object", Rule::GramSiObject, Nothing),
    node(
        "Tensor",
        Rule::GramSiTensor,
        Fields(&[maybe("shape", C::TensorShape), maybe("dtype", C::DataType), maybe("ndim", C::Plain)]),
    ),
    node("Shape", Rule::GramSiShape, Fields(&[many("values", C::Dim), maybe("ndim", C::Plain)])),
    node("Prim", Rule::Pr14148SiPrim, Fields(&[one("dtype", C::DataType), maybe("value", C::Dim)])),
    node("Tuple", Rule::GramSiTuple, Many(C::StructInfo)),
    node(
        "Func",
        Rule::GramSiFunc,
        Fields(&[
            many("params", C::StructInfo),
            one("ret", C::StructInfo),
            maybe("derive_func", C::Plain),
            maybe("pure", C::Plain),
        ]),
    ),
];

const TYPES: &[Production] = &[
    node("Object", Rule::GramTypeObject, Nothing),
    node("Tensor", Rule::GramTypeDyntensor, Fields(&[one("ndim", C::Plain), one("dtype", C::DataType)])),
    node("Shape", Rule::GramTypeShape, Fields(&[one("ndim", C::Plain)])),
    node("Tuple", Rule::GramTypeTuple, Many(C::Type)),
    node(
        "Func",
        Rule::GramTypeFunc,
        Fields(&[many("arg_types", C::Type), one("ret_type", C::Type), maybe("pure", C::Plain)]),
    ),
    node("PackedFunc", Rule::GramTypePacked, Nothing),
];

const DIMS: &[Production] = &[
    node("Add", Rule::GramPrimAdd, Many(C::Dim)),
    node("Sub", Rule::GramPrimSub, Many(C::Dim)),
    node("Mul", Rule::GramPrimMul, Many(C::Dim)),
    node("Div", Rule::GramPrimDiv, Many(C::Dim)),
    node("Min", Rule::GramPrimMin, Many(C::Dim)),
    node("Max", Rule::GramPrimMax, Many(C::Dim)),
    node("Not", Rule::GramPrimNot, Many(C::Dim)),
    node("And", Rule::GramPrimAnd, Many(C::Dim)),
    node("Or", Rule::GramPrimOr, Many(C::Dim)),
    node("Select", Rule::GramPrimSelect, Many(C::Dim)),
    node("Mod", Rule::GramPrimExtensible, Many(C::Dim)),
    node("FloorDiv", Rule::GramPrimExtensible, Many(C::Dim)),
    node("FloorMod", Rule::GramPrimExtensible, Many(C::Dim)),
    node("EQ", Rule::GramPrimExtensible, Many(C::Dim)),
    node("NE", Rule::GramPrimExtensible, Many(C::Dim)),
    node("LT", Rule::GramPrimExtensible, Many(C::Dim)),
    node("LE", Rule::GramPrimExtensible, Many(C::Dim)),
    node("GT", Rule::GramPrimExtensible, Many(C::Dim)),
    node("GE", Rule::GramPrimExtensible, Many(C::Dim)),
];

/// The nodes of a category that is a choice.
pub(super) fn of(category: Category) -> &'static [Production] {
    match category {
        C::GlobalFunc => GLOBAL_FUNCS,
        C::Expr => EXPRS,
        C::Binding => BINDINGS,
        C::StructInfo => STRUCT_INFOS,
        C::Type => TYPES,
        C::Dim => DIMS,
        C::Program
        | C::Entry
        | C::Block
        | C::Binder
        | C::TensorShape
        | C::DataType
        | C::Attrs
        | C::AttrValue
        | C::TensorData
        | C::Index
        | C::Plain => &[],
    }
}

/// The node of a category that has a name.
pub(super) fn named(category: Category, name: &str) -> Option<&'static Production> {
    of(category).iter().find(|production| production.name == name)
}

/// What a category is called in a message.
pub(super) fn noun(category: Category) -> &'static str {
    match category {
        C::Program => "a module",
        C::Entry => "an entry of the module, [name, function]",
        C::GlobalFunc => "a Function or a PrimFunc",
        C::Expr => "an expression",
        C::Block => "a block",
        C::Binding => "a binding",
        C::Binder => "a variable with its annotation",
        C::StructInfo => "structural information",
        C::TensorShape => "the shape of a tensor",
        C::Type => "a type",
        C::DataType => "a datatype",
        C::Dim => "a dimension",
        C::Attrs => "attributes",
        C::AttrValue => "the value of an attribute",
        C::TensorData => "tensor data",
        C::Index => "a literal integer",
        C::Plain => "a value",
    }
}
