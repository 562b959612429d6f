//! Dimensions: an integer, the name of a shape variable, or a map with the name of a node: `{"Add": ["n", 1]}`. A text
//! may also be an expression in mathematical notation, `"n + 1"`.

use std::sync::Arc;

use super::reader::{DataReader, DataResult, FromData, Profile, Write};
use super::simple::{MapKey, read_key};
use super::{BorrowedText, DataError, Node, NodeData};
use crate::book::Rule;
use crate::grammar::notation::parse_prim_expr;
use crate::grammar::{BinaryOp, PrimExpr, ShapeVar, Var};

impl FromData for PrimExpr {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<PrimExpr> {
        if let Some(number) = node.as_number() {
            let value = number.parse();
            let message = || format!("{number} is not an int64");
            r.premise(node.span, rule!("GRAM.PRIM.INTIMM"), 1, value.is_ok(), message)?;
            return value.map_or_else(|_| r.unexpected(node, "an int64"), |value| Ok(PrimExpr::IntImm(value)));
        }
        if let Some(text) = node.as_text() {
            return written(r, node, text);
        }
        let Some((name, rule, operands)) =
            node.as_variant().and_then(|(name, content)| Some((name, rule_of(name)?, content?)))
        else {
            return r.unexpected(node, "a dimension");
        };
        within_extension(r, node, name, rule)?;
        r.by(rule)?;
        let operands = r.items(operands, name, Some(rule))?;
        let operands = operands.iter().map(|operand| r.read(operand)).collect::<DataResult<Vec<Arc<PrimExpr>>>>()?;
        match (name, operands.as_slice()) {
            ("Not", [a]) => Ok(PrimExpr::Not(a.clone())),
            ("Select", [c, t, e]) => Ok(PrimExpr::Select(c.clone(), t.clone(), e.clone())),
            (name, [a, b]) if let Some(op) = BinaryOp::from_name(name) => {
                Ok(PrimExpr::Binary(op, a.clone(), b.clone()))
            }
            (_, operands) => {
                Err(DataError::at(node.span, format!("no `{name}` of dimensions has {} operands", operands.len())))
            }
        }
    }
}

/// GRAM.PRIM.VAR: a name. A text that is more than a name is an expression in mathematical notation.
fn written(r: &mut DataReader<'_>, node: &Node<'_>, text: &str) -> DataResult<PrimExpr> {
    r.by(rule!("GRAM.PRIM.VAR"))?;
    if let Some(var) = lone_name(text).and_then(ShapeVar::parse) {
        return Ok(PrimExpr::Var(var.at(node.span)));
    }
    parse_prim_expr(text).map_err(|error| DataError::at(node.span, format!("`{text}` is not a dimension: {error}")))
}

/// The text itself if it is a single name, which is by far the most frequent dimension.
fn lone_name(text: &str) -> Option<&str> {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '#');
    (text.chars().all(word) && !text.starts_with(|c: char| c.is_ascii_digit())).then_some(text)
}

/// GRAM.PRIM.EXTENSIBLE: the grammar of the documents alone does not have the extension set.
fn within_extension(r: &mut DataReader<'_>, node: &Node<'_>, name: &str, rule: Rule) -> DataResult<()> {
    match (r.profile, rule == rule!("GRAM.PRIM.EXTENSIBLE")) {
        (Profile::Pr14148, true) => r.premise(node.span, rule, 1, false, || {
            format!("`{name}` is of the extension set, which the documents lack")
        }),
        (Profile::Pr14148, false) | (Profile::Merged, _) => Ok(()),
    }
}

/// Whether a node with this name is a dimension.
pub(super) fn is_dim_node(name: &str) -> bool {
    rule_of(name).is_some()
}

/// The production of a node with this name.
fn rule_of(name: &str) -> Option<Rule> {
    match name {
        "Not" => Some(rule!("GRAM.PRIM.NOT")),
        "Select" => Some(rule!("GRAM.PRIM.SELECT")),
        name => BinaryOp::from_name(name).map(BinaryOp::rule),
    }
}

impl Write for PrimExpr {
    fn write(&self) -> Node<'_> {
        crate::judge::with_stack(|| match self {
            PrimExpr::Var(var) => var.write(),
            PrimExpr::IntImm(value) => value.write(),
            PrimExpr::Binary(op, a, b) => operation(op.name(), &[a, b]),
            PrimExpr::Not(a) => operation("Not", &[a]),
            PrimExpr::Select(c, t, e) => operation("Select", &[c, t, e]),
        })
    }
}

fn operation<'e>(name: &'static str, operands: &[&'e PrimExpr]) -> Node<'e> {
    Node::entry(name, NodeData::List(operands.iter().map(|operand| operand.write()).collect()).into())
}

macro_rules! variables {
    ($($type:ident, $noun:literal;)*) => {
        $(
            impl MapKey for $type {
                const NOUN: &'static str = $noun;

                fn from_text(text: &str) -> Option<$type> {
                    $type::parse(text)
                }

                fn to_text(&self) -> BorrowedText<'_> {
                    match self.id {
                        0 => (&*self.name).into(),
                        _ => self.to_string().into(),
                    }
                }
            }

            impl FromData for $type {
                fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<$type> {
                    read_key::<$type>(r, node).map(|var| var.at(node.span))
                }
            }

            impl Write for $type {
                fn write(&self) -> Node<'_> {
                    Node::text(self.to_text())
                }
            }
        )*
    };
}

variables! {
    Var, "a variable (`name` or `name#number`)";
    ShapeVar, "a shape variable (`name` or `name#number`)";
}
