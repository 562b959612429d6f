//! The productions of the grammar as a table: the one under "All nodes" of the chapter, with the rule of each node.

use crate::book::Rule;

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

const GLOBAL_FUNCS: &[Production] = &[
    node("Function", rule!("GRAM.EXPR.FUNCTION"), Fields(FUNCTION)),
    node("PrimFunc", rule!("GRAM.PROGRAM"), One(C::Plain)),
];

const EXPRS: &[Production] = &[
    node("Constant", rule!("GRAM.EXPR.CONSTANT"), Fields(&[one("data", C::TensorData)])),
    node("Var", rule!("GRAM.EXPR.VAR"), One(C::Plain)),
    node("DataflowVar", rule!("GRAM.EXPR.DATAFLOWVAR"), One(C::Plain)),
    node("GlobalVar", rule!("GRAM.EXPR.GLOBALVAR"), One(C::Plain)),
    node("Tuple", rule!("GRAM.EXPR.TUPLE"), Fields(&[many("fields", C::Expr)])),
    node("SeqExpr", rule!("GRAM.EXPR.SEQEXPR"), Fields(&[many("blocks", C::Block), one("body", C::Expr)])),
    node(
        "PrimValue",
        rule!("PR14148.EXPR.PRIMVALUE"),
        Fields(&[one("value", C::Dim), maybe("dtype", C::DataType), maybe("float", C::Plain)]),
    ),
    node("StringImm", rule!("PR14148.EXPR.STRINGIMM"), Fields(&[one("value", C::Plain)])),
    node("DataTypeImm", rule!("PR14148.EXPR.DATATYPEIMM"), Fields(&[one("value", C::DataType)])),
    node("Function", rule!("GRAM.EXPR.FUNCTION"), Fields(FUNCTION)),
    node(
        "If",
        rule!("GRAM.EXPR.IF"),
        Fields(&[one("cond", C::Expr), one("true_branch", C::Expr), one("false_branch", C::Expr)]),
    ),
    node("ExternFunc", rule!("GRAM.EXPR.EXTERNFUNC"), Fields(&[one("global_symbol", C::Plain)])),
    node(
        "Call",
        rule!("GRAM.EXPR.CALL"),
        Fields(&[
            one("op", C::Expr),
            many("args", C::Expr),
            many("sinfo_args", C::StructInfo),
            many("type_args", C::Type),
            maybe("attrs", C::Attrs),
        ]),
    ),
    node("ShapeExpr", rule!("GRAM.EXPR.SHAPEEXPR"), Fields(&[many("values", C::Dim)])),
    node(
        "TupleGetItem",
        rule!("GRAM.EXPR.TUPLEGETITEM"),
        Fields(&[one("tuple_value", C::Expr), one("index", C::Index)]),
    ),
    node("Op", rule!("GRAM.EXPR.OP"), Fields(&[one("op_name", C::Plain)])),
];

const BINDINGS: &[Production] = &[
    node("VarBinding", rule!("GRAM.BIND.VARBINDING"), Fields(&[one("var", C::Binder), one("value", C::Expr)])),
    node(
        "MatchCast",
        rule!("GRAM.BIND.MATCHCAST"),
        Fields(&[maybe("var", C::Binder), one("struct_info", C::StructInfo), one("value", C::Expr)]),
    ),
];

const STRUCT_INFOS: &[Production] = &[
    node("Object", rule!("GRAM.SI.OBJECT"), Nothing),
    node(
        "Tensor",
        rule!("GRAM.SI.TENSOR"),
        Fields(&[maybe("shape", C::TensorShape), maybe("dtype", C::DataType), maybe("ndim", C::Plain)]),
    ),
    node("Shape", rule!("GRAM.SI.SHAPE"), Fields(&[many("values", C::Dim), maybe("ndim", C::Plain)])),
    node("Prim", rule!("PR14148.SI.PRIM"), Fields(&[one("dtype", C::DataType), maybe("value", C::Dim)])),
    node("Tuple", rule!("GRAM.SI.TUPLE"), Many(C::StructInfo)),
    node(
        "Func",
        rule!("GRAM.SI.FUNC"),
        Fields(&[
            many("params", C::StructInfo),
            one("ret", C::StructInfo),
            maybe("derive_func", C::Plain),
            maybe("pure", C::Plain),
        ]),
    ),
];

const TYPES: &[Production] = &[
    node("Object", rule!("GRAM.TYPE.OBJECT"), Nothing),
    node("Tensor", rule!("GRAM.TYPE.DYNTENSOR"), Fields(&[one("ndim", C::Plain), one("dtype", C::DataType)])),
    node("Shape", rule!("GRAM.TYPE.SHAPE"), Fields(&[one("ndim", C::Plain)])),
    node("Tuple", rule!("GRAM.TYPE.TUPLE"), Many(C::Type)),
    node(
        "Func",
        rule!("GRAM.TYPE.FUNC"),
        Fields(&[many("arg_types", C::Type), one("ret_type", C::Type), maybe("pure", C::Plain)]),
    ),
    node("PackedFunc", rule!("GRAM.TYPE.PACKED"), Nothing),
];

const DIMS: &[Production] = &[
    node("Add", rule!("GRAM.PRIM.ADD"), Many(C::Dim)),
    node("Sub", rule!("GRAM.PRIM.SUB"), Many(C::Dim)),
    node("Mul", rule!("GRAM.PRIM.MUL"), Many(C::Dim)),
    node("Div", rule!("GRAM.PRIM.DIV"), Many(C::Dim)),
    node("Min", rule!("GRAM.PRIM.MIN"), Many(C::Dim)),
    node("Max", rule!("GRAM.PRIM.MAX"), Many(C::Dim)),
    node("Not", rule!("GRAM.PRIM.NOT"), Many(C::Dim)),
    node("And", rule!("GRAM.PRIM.AND"), Many(C::Dim)),
    node("Or", rule!("GRAM.PRIM.OR"), Many(C::Dim)),
    node("Select", rule!("GRAM.PRIM.SELECT"), Many(C::Dim)),
    node("Mod", rule!("GRAM.PRIM.EXTENSIBLE"), Many(C::Dim)),
    node("FloorDiv", rule!("GRAM.PRIM.EXTENSIBLE"), Many(C::Dim)),
    node("FloorMod", rule!("GRAM.PRIM.EXTENSIBLE"), Many(C::Dim)),
    node("EQ", rule!("GRAM.PRIM.EXTENSIBLE"), Many(C::Dim)),
    node("NE", rule!("GRAM.PRIM.EXTENSIBLE"), Many(C::Dim)),
    node("LT", rule!("GRAM.PRIM.EXTENSIBLE"), Many(C::Dim)),
    node("LE", rule!("GRAM.PRIM.EXTENSIBLE"), Many(C::Dim)),
    node("GT", rule!("GRAM.PRIM.EXTENSIBLE"), Many(C::Dim)),
    node("GE", rule!("GRAM.PRIM.EXTENSIBLE"), Many(C::Dim)),
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
