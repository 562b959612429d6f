//! Expressions, bindings and blocks, in the order of the table "All nodes" of the chapter Grammar.

use super::Node;
use super::dim::is_dim_node;
use super::reader::{DataReader, DataResult, FromData, NamedVariants as _};
use super::record::{choice, record, word, write_record};
use crate::book::{Edition, Erratum};
use crate::grammar::{
    Attrs, Binder, Binding, BindingBlock, BlockKind, Call, Constant, DataType, DataTypeImm, Expr, ExternFunc, Function,
    If, MatchCast, Op, PrimExpr, PrimValue, SeqExpr, ShapeExpr, Span, StringImm, Tuple, TupleGetItem, Type, VarBinding,
    VarKind,
};
use crate::struct_info::wrap_type;

record! { Constant, "Constant" by rule!("GRAM.EXPR.CONSTANT"), { data: one, span: place } }
record! { Tuple, "Tuple" by rule!("GRAM.EXPR.TUPLE"), { fields: many, span: place } }
record! { SeqExpr, "SeqExpr" by rule!("GRAM.EXPR.SEQEXPR"), { blocks: many, body: one, span: place } }
record! { PrimValue, "PrimValue" by rule!("PR14148.EXPR.PRIMVALUE"), {
    value: one,
    dtype: or(DataType::INT64),
    float: unless(None),
    span: place,
} }
record! { StringImm, "StringImm" by rule!("PR14148.EXPR.STRINGIMM"), { value: one, span: place } }
record! { DataTypeImm, "DataTypeImm" by rule!("PR14148.EXPR.DATATYPEIMM"), { value: one, span: place } }
/// GRAM.EXPR.FUNCTION. In 2024-04 the attributes are mandatory.
///
/// Errata: M12. Read literally, they must be written even if there are none.
impl FromData for Function {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<Function> {
        let rule = rule!("GRAM.EXPR.FUNCTION");
        r.by(rule)?;
        let fields = r.fields(node, "Function", Some(rule))?;
        let (params, body) = (fields.many(r, "params")?, fields.one(r, "body")?);
        let (ret_struct_info, pure) = (fields.or(r, "ret_struct_info", || None)?, fields.or(r, "pure", || None)?);
        let attrs_left_out = r.cx.edition() >= Edition::E2024_04 && fields.get("attrs").is_none();
        if attrs_left_out && r.cx.literal(Erratum::M12) {
            r.refuse(node, Some(rule), "the function has no attributes".to_string())?;
        }
        let attrs = fields.ruled(r, "attrs", rule!("GRAM.EXPR.FUNCTION.ATTRS"), Attrs::new)?;
        Ok(Function { params, body, ret_struct_info, pure, attrs, span: fields.span() })
    }
}

write_record! { Function, {
    params: many,
    body: one,
    ret_struct_info: unless(None),
    pure: unless(None),
    attrs: unless(Attrs::new()),
    span: place,
} }
record! { ExternFunc, "ExternFunc" by rule!("GRAM.EXPR.EXTERNFUNC"), { global_symbol: one, span: place } }
record! { ShapeExpr, "ShapeExpr" by rule!("GRAM.EXPR.SHAPEEXPR"), { values: many, span: place } }
record! { TupleGetItem, "TupleGetItem" by rule!("GRAM.EXPR.TUPLEGETITEM"), { tuple_value: one, index: literal, span: place } }
record! { Op, "Op" by rule!("GRAM.EXPR.OP"), { op_name: one, span: place } }

choice! { Expr, "an expression" first no_dimension {
    Constant(e),
    Var by rule!("GRAM.EXPR.VAR") (v),
    DataflowVar by rule!("GRAM.EXPR.DATAFLOWVAR") (v),
    GlobalVar by rule!("GRAM.EXPR.GLOBALVAR") (g),
    Tuple(e),
    SeqExpr(e),
    PrimValue(e),
    StringImm(e),
    DataTypeImm(e),
    Function(e),
    If(e),
    ExternFunc(e),
    Call(e),
    ShapeExpr(e),
    TupleGetItem(e),
    Op(e),
} }

fn is_dim(node: &Node<'_>) -> bool {
    node.as_number().is_some() || node.as_variant().is_some_and(|(name, _)| is_dim_node(name))
}

/// GRAM.PRIM.POSITION, GRAM.PRIM.SHAPEVAR-ONLY-IN-PRIM: a dimension cannot be used as an expression.
fn no_dimension(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<()> {
    r.premise(node.span, rule!("GRAM.PRIM.POSITION"), 1, !is_dim(node), || {
        "a dimension stands for an expression".to_string()
    })?;
    let message = || format!("the shape variable {} stands for an expression", node.describe());
    r.premise(node.span, rule!("GRAM.PRIM.SHAPEVAR-ONLY-IN-PRIM"), 1, node.as_text().is_none(), message)
}

/// GRAM.EXPR.IF: three expressions, all mandatory. In 2024-04 the condition may be an expression over shape variables,
/// which is stored as a boxed value.
impl FromData for If {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<If> {
        let rule = rule!("GRAM.EXPR.IF");
        r.by(rule)?;
        let fields = r.fields(node, "If", Some(rule))?;
        let bare = fields.get("cond").filter(|cond| r.cx.has(rule!("EVAL.IF.PRIMEXPR")) && is_dim(cond));
        let cond = match bare {
            Some(value) => {
                let (value, span): (PrimExpr, Span) = (r.read(value)?, value.span);
                let dtype = if value.is_truth_value() { DataType::BOOL } else { DataType::INT64 };
                Expr::PrimValue(PrimValue { value, dtype, float: None, span })
            }
            None => fields.one(r, "cond")?,
        };
        let (true_branch, false_branch) = (fields.one(r, "true_branch")?, fields.one(r, "false_branch")?);
        Ok(If { cond, true_branch, false_branch, span: fields.span() })
    }
}

write_record! { If, { cond: one, true_branch: one, false_branch: one, span: place } }

/// GRAM.EXPR.CALL (C01). Instead of `sinfo_args` a call may have the older `type_args`, which are converted.
impl FromData for Call {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<Call> {
        let rule = rule!("GRAM.EXPR.CALL");
        r.by(rule)?;
        let fields = r.fields(node, "Call", Some(rule))?;
        if let Some(sinfo_args) = fields.get("sinfo_args") {
            let both = fields.get("type_args").is_some();
            let message = || "a call has `sinfo_args` or `type_args`, not both".to_string();
            r.premise(sinfo_args.span, rule!("PR14148.CALL.SINFO_ARGS"), 1, !both, message)?;
        }
        if let (Some(older), true) = (fields.get("type_args"), r.cx.has(rule!("GRAM.TYPE.PRIM"))) {
            let message = || "a call has `sinfo_args`, and no types".to_string();
            r.premise(older.span, rule!("PR14148.NOTYPES.GRAMMAR"), 1, false, message)?;
        }
        let (op, args) = (fields.one(r, "op")?, fields.many(r, "args")?);
        let older: Option<Vec<Type>> = fields.maybe_many(r, "type_args")?;
        let sinfo_args = match older {
            Some(types) => types.iter().map(|t| wrap_type(r.cx, t)).collect(),
            None => fields.many(r, "sinfo_args")?,
        };
        let attrs = fields.ruled(r, "attrs", rule!("GRAM.EXPR.CALL.ATTRS"), Attrs::new)?;
        Ok(Call { op, args, sinfo_args, attrs, span: fields.span() })
    }
}

write_record! { Call, {
    op: one,
    args: many,
    sinfo_args: unless(Vec::new()),
    attrs: unless(Attrs::new()),
    span: place,
} }

choice! { Binding, "a binding" { VarBinding(b), MatchCast(b) } }

record! { VarBinding, "VarBinding" by rule!("GRAM.BIND.VARBINDING"), { var: one, value: one, span: place } }
record! { MatchCast, "MatchCast" by rule!("GRAM.BIND.MATCHCAST"), {
    var: unless(None),
    struct_info: one,
    value: one,
    span: place,
} }

word! { VarKind, "`Var` or `DataflowVar`" { Var, DataflowVar } }
word! { BlockKind, "`Binding` or `Dataflow`" { Binding, Dataflow } }

/// A parameter or the left-hand side of a binding: a `Var` or a `DataflowVar`.
impl FromData for Binder {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<Binder> {
        let (rule, name) = match node.get("kind").and_then(Node::as_variant) {
            Some(("DataflowVar", None)) => (rule!("GRAM.EXPR.DATAFLOWVAR"), "DataflowVar"),
            Some(_) | None => (rule!("GRAM.EXPR.VAR"), "Var"),
        };
        let other = node.as_variant().map(|(name, _)| name).filter(|name| Expr::NAMES.contains(name));
        let message = || format!("a {} is bound where a variable is", other.unwrap_or("value"));
        r.premise(node.span, rule!("GRAM.BIND.VARBINDING"), 2, other.is_none(), message)?;
        r.by(rule)?;
        let fields = r.fields(node, name, Some(rule))?;
        Ok(Binder {
            var: fields.one(r, "var")?,
            kind: fields.or(r, "kind", VarKind::default)?,
            annotation: fields.one(r, "annotation")?,
        })
    }
}

write_record! { Binder, { var: one, kind: unless(VarKind::Var), annotation: unless(None) } }

/// GRAM.BLOCK.BINDING, GRAM.BLOCK.DATAFLOW.
impl FromData for BindingBlock {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<BindingBlock> {
        let (rule, name) = match node.get("kind").and_then(Node::as_variant) {
            Some(("Dataflow", None)) => (rule!("GRAM.BLOCK.DATAFLOW"), "DataflowBlock"),
            Some(_) | None => (rule!("GRAM.BLOCK.BINDING"), "BindingBlock"),
        };
        r.by(rule)?;
        let fields = r.fields(node, name, Some(rule))?;
        Ok(BindingBlock {
            kind: fields.or(r, "kind", BlockKind::default)?,
            bindings: fields.many(r, "bindings")?,
            span: fields.span(),
        })
    }
}

write_record! { BindingBlock, { kind: unless(BlockKind::Binding), bindings: many, span: place } }
