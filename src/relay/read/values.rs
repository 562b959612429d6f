//! Numbers, and the values of attributes.

use super::metadata::CONSTANT;
use super::{RelayFault, RelayReader, RelayResult, Token, slice};
use crate::grammar::{AttrValue, DataType, FloatBits, Span, TensorData};

/// A number as written: its digits, and the datatype of its suffix.
struct SuffixedNumeral<'t> {
    digits: &'t str,
    dtype: Option<DataType>,
}

fn numeral(text: &str) -> SuffixedNumeral<'_> {
    let split = text.find(['f', 'i', 'u']).unwrap_or(text.len());
    let (digits, suffix) = text.split_at(split);
    let dtype = match suffix {
        "" => None,
        "f" => Some(DataType::FLOAT32),
        "i" => Some(DataType::INT32),
        "u" => Some("uint32".parse().unwrap_or(DataType::INT32)),
        other => other.parse().ok(),
    };
    SuffixedNumeral { digits, dtype }
}

impl RelayReader<'_, '_> {
    /// A scalar tensor: int32 without a point and float32 with one, unless a suffix says otherwise.
    pub(super) fn number(&mut self, negative: bool) -> RelayResult<TensorData> {
        let span = self.expect(Token::Number, "a number")?.span;
        let SuffixedNumeral { digits, dtype } = numeral(slice(self.text, span));
        let is_float = digits.contains(['.', 'e', 'E']);
        let dtype = dtype.unwrap_or(if is_float { DataType::FLOAT32 } else { DataType::INT32 });
        let signed = if negative { format!("-{digits}") } else { digits.to_string() };
        match TensorData::nearest_to_numerals(dtype, &[], &[signed]) {
            Ok(data) => Ok(data),
            Err(error) => self.fault(RelayFault::syntax(span, error.to_string())),
        }
    }

    /// A truth value.
    pub(super) fn truth(&mut self, value: bool) -> RelayResult<TensorData> {
        let span = self.next().span;
        match TensorData::new(DataType::BOOL, &[], vec![u8::from(value)]) {
            Ok(data) => Ok(data),
            Err(error) => self.fault(RelayFault::syntax(span, error.to_string())),
        }
    }

    /// `meta[relay.Constant][0]`: a tensor from the section after the program.
    pub(super) fn constant_of_section(&mut self) -> RelayResult<TensorData> {
        let start = self.next().span;
        self.expect(Token::OpenBracket, "`[`")?;
        let list = self.expect(Token::Word, "`relay.Constant`")?;
        self.expect(Token::CloseBracket, "`]`")?;
        self.expect(Token::OpenBracket, "`[`")?;
        let number = self.expect(Token::Number, "the number of a constant")?;
        self.expect(Token::CloseBracket, "`]`")?;
        let span = self.since(start);
        if slice(self.text, list.span) != CONSTANT {
            let message = format!("of the section behind the program only {CONSTANT} is read");
            return self.fault(RelayFault::syntax(list.span, message));
        }
        let number: Option<usize> = slice(self.text, number.span).parse().ok();
        match number.and_then(|number| self.constants.get(number)).cloned() {
            Some(Ok(data)) => Ok(data),
            Some(Err(error)) => self.fault(RelayFault::syntax(span, error)),
            None => {
                let message = "the text has no such constant: a section `#[metadata]` behind the program holds them, which TVM \
                               writes with `mod.astext(show_meta_data=True)`";
                self.fault(RelayFault::syntax(span, message))
            }
        }
    }

    /// The value of an attribute.
    pub(super) fn value(&mut self) -> RelayResult<AttrValue> {
        self.nested(|r| {
            let lexeme = r.nth(0);
            match lexeme.token {
                Token::OpenBracket => {
                    r.next();
                    Ok(AttrValue::List(r.list(Token::CloseBracket, "`]`", Self::value)?))
                }
                Token::Open => {
                    r.next();
                    Ok(AttrValue::List(r.list(Token::Close, "`)`", Self::value)?))
                }
                Token::Text => {
                    r.next();
                    r.unescaped(lexeme.span)
                }
                Token::Infix | Token::Number => r.attribute_number(),
                Token::Word => {
                    r.next();
                    Ok(word_value(slice(r.text, lexeme.span)))
                }
                _ => r.expected("the value of an attribute"),
            }
        })
    }

    fn unescaped(&mut self, span: Span) -> RelayResult<AttrValue> {
        let quoted = slice(self.text, span);
        let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(quoted);
        let (mut text, mut chars) = (String::new(), inner.chars());
        while let Some(c) = chars.next() {
            match (c, if c == '\\' { chars.next() } else { None }) {
                ('\\', Some('n')) => text.push('\n'),
                ('\\', Some('t')) => text.push('\t'),
                ('\\', Some(other)) => text.push(other),
                (c, _) => text.push(c),
            }
        }
        Ok(AttrValue::Str(text.as_str().into()))
    }

    fn attribute_number(&mut self) -> RelayResult<AttrValue> {
        let negative = self.eat_infix("-");
        let span = self.expect(Token::Number, "a number")?.span;
        let SuffixedNumeral { digits, dtype } = numeral(slice(self.text, span));
        let signed = if negative { format!("-{digits}") } else { digits.to_string() };
        let is_float = digits.contains(['.', 'e', 'E']) || dtype.is_some_and(|dtype| dtype.float_type().is_some());
        let value = match is_float {
            true => signed.parse::<f64>().ok().map(|x| AttrValue::Float(FloatBits::new(x))),
            false => signed.parse::<i64>().ok().map(AttrValue::Int),
        };
        match value {
            Some(value) => Ok(value),
            None => self.fault(RelayFault::syntax(span, format!("`{signed}` is no number of 64 bits"))),
        }
    }
}

fn word_value(word: &str) -> AttrValue {
    match word {
        "true" | "True" => AttrValue::Bool(true),
        "false" | "False" => AttrValue::Bool(false),
        "None" => AttrValue::None,
        other => AttrValue::Str(other.into()),
    }
}
