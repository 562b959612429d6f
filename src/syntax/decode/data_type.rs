//! Datatypes: the constructors of both documents, and the names under which datatypes are written.

use serde_json::Value;

use super::walk::{Decoder, Read, content_of, variant_name};
use super::{DecodeError, Profile};
use crate::book::Rule;
use crate::grammar::{DataType, TypeCode};

impl Decoder<'_> {
    /// A datatype as the typed reader takes it, which is its name.
    pub(super) fn data_type(&mut self, value: Value) -> Read {
        match variant_name(&value) {
            Some("Bool") => self.abbreviation(rule!("GRAM.DTYPE.BOOL"), rule!("PR14148.DTYPE.BOOL"), DataType::BOOL),
            Some("Void") => self.abbreviation(rule!("GRAM.DTYPE.VOID"), rule!("PR14148.DTYPE.VOID"), DataType::VOID),
            Some("Int") => self.constructor(TypeCode::Int, Some(rule!("GRAM.DTYPE.INT")), content_of(value)),
            Some("UInt") => self.constructor(TypeCode::UInt, None, content_of(value)),
            Some("Float") => self.constructor(TypeCode::Float, Some(rule!("GRAM.DTYPE.FLOAT")), content_of(value)),
            Some("Handle") => self.constructor(TypeCode::Handle, None, content_of(value)),
            Some(_) | None => self.written(value),
        }
    }

    /// `Bool()` and `Void()`, which both documents have.
    fn abbreviation(&mut self, older: Rule, later: Rule, dtype: DataType) -> Read {
        let rule = if self.profile == Profile::Merged { older } else { later };
        self.by(rule, &dtype.to_string())?;
        Ok(Value::String(dtype.to_string()))
    }

    /// A constructor: `(bits, lanes)`, or in the older form the width alone.
    fn constructor(&mut self, code: TypeCode, older: Option<Rule>, content: Value) -> Read {
        let rule = rule_of(code);
        let field = |name: &str| content.get(name).and_then(Value::as_u64).and_then(|n| u16::try_from(n).ok());
        if let (Some(bits), Some(lanes)) = (field("bits"), field("lanes")) {
            self.by(rule, "DataType")?;
            return Ok(Value::String(DataType { code, bits, lanes }.to_string()));
        }
        let width = field("bitwidth").or_else(|| content.as_u64().and_then(|n| u16::try_from(n).ok()));
        match (width, older) {
            (Some(bits), Some(older)) if self.profile == Profile::Merged => self.older(older, code, bits),
            (Some(_) | None, Some(_) | None) => {
                self.premise(rule, 1, false, || "a datatype has `bits` and `lanes`".to_string())?;
                Ok(content)
            }
        }
    }

    /// GRAM.DTYPE.INT, GRAM.DTYPE.FLOAT: one lane of a width that is not zero.
    fn older(&mut self, rule: Rule, code: TypeCode, bits: u16) -> Read {
        self.premise(rule, 1, bits != 0, || "a datatype has no bits".to_string())?;
        self.by(rule, "DataType")?;
        Ok(Value::String(DataType::new(code, bits).to_string()))
    }

    /// The name of a datatype, in the long form or, by AST22.SYN.F32, in the short one.
    fn written(&mut self, value: Value) -> Read {
        let Some(dtype) = value.as_str().and_then(|text| text.parse::<DataType>().ok()) else {
            return Err(self.error(None, format!("{value} is not a datatype")));
        };
        match dtype {
            DataType::BOOL => self.by(rule!("PR14148.DTYPE.BOOL"), "bool")?,
            DataType::VOID => self.by(rule!("PR14148.DTYPE.VOID"), "void")?,
            DataType { code: TypeCode::BFloat, .. } => {}
            DataType { code, .. } => self.by(rule_of(code), "DataType")?,
        }
        let long = dtype.to_string();
        if value.as_str() != Some(&long) && !dtype.is_void() {
            self.by(rule!("AST22.SYN.F32"), "DataType")?;
        }
        Ok(Value::String(long))
    }

    /// PR14148.DTYPE.VOID.MEANING and the limits of datatypes, for the elements of a constant.
    pub(super) fn storable(&mut self, dtype: Option<&Value>) -> Result<(), DecodeError> {
        let dtype = dtype.and_then(Value::as_str).and_then(|text| text.parse::<DataType>().ok());
        let Some(dtype) = dtype else { return Ok(()) };
        if dtype.is_void() {
            let message = || "the elements of a constant have no datatype".to_string();
            self.premise(rule!("PR14148.DTYPE.VOID.MEANING"), 1, false, message)?;
        }
        match dtype.inadmissible() {
            None => Ok(()),
            Some(rule) => self.premise(rule, 1, false, || format!("Relax has no datatype {dtype}")),
        }
    }
}

/// The rule of a constructor.
fn rule_of(code: TypeCode) -> Rule {
    match code {
        TypeCode::Int => rule!("PR14148.DTYPE.INT"),
        TypeCode::UInt => rule!("PR14148.DTYPE.UINT"),
        TypeCode::Float | TypeCode::BFloat => rule!("PR14148.DTYPE.FLOAT"),
        TypeCode::Handle => rule!("PR14148.DTYPE.HANDLE"),
    }
}
