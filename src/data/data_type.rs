//! Data types: the constructors of both documents, and the names of data types.

use super::reader::{DataReader, DataResult, FromData, Profile, Write};
use super::{DataError, Node};
use crate::book::{Edition, Rule};
use crate::grammar::{DataType, TypeCode};

impl FromData for DataType {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<DataType> {
        let nothing = Node::from(super::NodeData::Null);
        let Some((name, content)) = node.as_variant() else { return r.unexpected(node, "a datatype") };
        let content = content.unwrap_or(&nothing);
        match name {
            "Bool" => abbreviation(r, rule!("GRAM.DTYPE.BOOL"), rule!("PR14148.DTYPE.BOOL"), DataType::BOOL),
            "Void" => abbreviation(r, rule!("GRAM.DTYPE.VOID"), rule!("PR14148.DTYPE.VOID"), DataType::VOID),
            "Int" => constructor(r, node, TypeCode::Int, Some(rule!("GRAM.DTYPE.INT")), content),
            "UInt" => constructor(r, node, TypeCode::UInt, None, content),
            "Float" => constructor(r, node, TypeCode::Float, Some(rule!("GRAM.DTYPE.FLOAT")), content),
            "Handle" => constructor(r, node, TypeCode::Handle, None, content),
            name => written(r, node, name),
        }
    }
}

/// `Bool()` and `Void()`, which exist in both documents.
fn abbreviation(r: &mut DataReader<'_>, older: Rule, later: Rule, dtype: DataType) -> DataResult<DataType> {
    let rule = match r.profile {
        Profile::Merged => older,
        Profile::Pr14148 => later,
    };
    r.by(rule)?;
    Ok(dtype)
}

/// A constructor: `(bits, lanes)`, or only the width in the older form.
fn constructor(
    r: &mut DataReader<'_>,
    node: &Node<'_>,
    code: TypeCode,
    older: Option<Rule>,
    content: &Node<'_>,
) -> DataResult<DataType> {
    let rule = if r.cx.edition() < Edition::E2023_12 { rule_of(code) } else { own_rule_of(code) };
    let number = |node: &Node<'_>| node.as_number().and_then(|number| number.parse().ok());
    let field = |name: &str| content.get(name).and_then(number);
    if let (Some(bits), Some(lanes)) = (field("bits"), field("lanes")) {
        by_code(r, code)?;
        return Ok(DataType { code, bits, lanes });
    }
    // Later editions do not have the older form.
    let profile = if r.cx.edition() < Edition::E2023_12 { r.profile } else { Profile::Pr14148 };
    match (field("bitwidth").or_else(|| number(content)), older, profile) {
        (Some(bits), Some(older), Profile::Merged) => one_lane(r, node, older, code, bits),
        (Some(_) | None, Some(_) | None, Profile::Merged | Profile::Pr14148) => {
            r.refuse(node, Some(rule), "a datatype has `bits` and `lanes`".to_string())
        }
    }
}

/// GRAM.DTYPE.INT, GRAM.DTYPE.FLOAT: one lane with a nonzero width.
fn one_lane(r: &mut DataReader<'_>, node: &Node<'_>, rule: Rule, code: TypeCode, bits: u16) -> DataResult<DataType> {
    r.premise(node.span, rule, 1, bits != 0, || "a datatype has no bits".to_string())?;
    r.by(rule)?;
    Ok(DataType::new(code, bits))
}

/// Reads the name of a data type, in the long form or, by AST22.SYN.F32, in the short one.
fn written(r: &mut DataReader<'_>, node: &Node<'_>, name: &str) -> DataResult<DataType> {
    let Ok(dtype) = name.parse::<DataType>() else {
        return Err(DataError::at(node.span, format!("`{name}` is not a datatype, such as `float32` or `int64`")));
    };
    by_name(r, dtype)?;
    if name != dtype.to_string() && !dtype.is_void() {
        r.by(rule!("AST22.SYN.F32"))?;
    }
    Ok(dtype)
}

/// Fires the production of a data type that is written as its name.
pub(super) fn by_name(r: &mut DataReader<'_>, dtype: DataType) -> DataResult<()> {
    match dtype {
        DataType::BOOL => r.by(rule!("PR14148.DTYPE.BOOL")),
        DataType::VOID => r.by(rule!("PR14148.DTYPE.VOID")),
        DataType { code: TypeCode::BFloat | TypeCode::Small(_), .. } => Ok(()),
        DataType { code, .. } => by_code(r, code),
    }
}

/// Fires the rule of the constructor `(bits, lanes)`. In later editions it is a rule of the grammar itself.
fn by_code(r: &mut DataReader<'_>, code: TypeCode) -> DataResult<()> {
    r.by(rule_of(code))?;
    if r.cx.edition() < Edition::E2023_12 {
        return Ok(());
    }
    r.by(own_rule_of(code))
}

/// The rule of a constructor in later editions.
fn own_rule_of(code: TypeCode) -> Rule {
    match code {
        TypeCode::Int => rule!("GRAM.DTYPE.INT"),
        TypeCode::UInt => rule!("GRAM.DTYPE.UINT"),
        TypeCode::Float | TypeCode::BFloat | TypeCode::Small(_) => rule!("GRAM.DTYPE.FLOAT"),
        TypeCode::Handle => rule!("GRAM.DTYPE.HANDLE"),
    }
}

/// The rule of a constructor.
fn rule_of(code: TypeCode) -> Rule {
    match code {
        TypeCode::Int => rule!("PR14148.DTYPE.INT"),
        TypeCode::UInt => rule!("PR14148.DTYPE.UINT"),
        TypeCode::Float | TypeCode::BFloat | TypeCode::Small(_) => rule!("PR14148.DTYPE.FLOAT"),
        TypeCode::Handle => rule!("PR14148.DTYPE.HANDLE"),
    }
}

impl Write for DataType {
    fn write(&self) -> Node<'_> {
        Node::text(self.to_string())
    }
}
