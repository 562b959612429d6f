//! Attribute values in messages, in the spelling of TVMScript.

use std::fmt;

use super::ty::comma_separated;
use super::{AttrValue, IndexMap};
use crate::judge::with_stack;

impl fmt::Display for AttrValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        with_stack(|| match self {
            AttrValue::None => f.write_str("None"),
            AttrValue::Bool(true) => f.write_str("True"),
            AttrValue::Bool(false) => f.write_str("False"),
            AttrValue::Int(i) => i.fmt(f),
            // The point or exponent distinguishes it from an integer.
            AttrValue::Float(x) => write!(f, "{:?}", x.get()),
            AttrValue::Str(text) => write!(f, "{:?}", &**text),
            AttrValue::DataType(dtype) => write!(f, "\"{dtype}\""),
            AttrValue::Prim(e) => e.fmt(f),
            AttrValue::List(items) => {
                f.write_str("[")?;
                comma_separated(f, items)?;
                f.write_str("]")
            }
            AttrValue::Dict(items) => {
                f.write_str("{")?;
                for (nth, (name, item)) in items.iter().enumerate() {
                    write!(f, "{}\"{name}\": {item}", if nth == 0 { "" } else { ", " })?;
                }
                f.write_str("}")
            }
            AttrValue::StructInfo(info) => info.fmt(f),
            AttrValue::IndexMap(map) => map.fmt(f),
            AttrValue::Made(made) => write!(f, "{}(..)", made.name),
        })
    }
}

impl fmt::Display for IndexMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("lambda ")?;
        comma_separated(f, &self.params)?;
        f.write_str(": (")?;
        comma_separated(f, &self.results)?;
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::{DataType, FloatBits, PrimExpr};

    #[test]
    fn a_value_is_shown_as_it_is_written() {
        let values = vec![
            AttrValue::Prim(PrimExpr::var("n")),
            AttrValue::Float(FloatBits::new(1.0)),
            AttrValue::Str("NCHW".into()),
            AttrValue::DataType(DataType::FLOAT32),
            AttrValue::List(vec![AttrValue::Bool(true), AttrValue::None]),
        ];
        assert_eq!(AttrValue::List(values).to_string(), "[n, 1.0, \"NCHW\", \"float32\", [True, None]]");
    }
}
