//! From data to the tree: which production builds each node.

use std::collections::BTreeSet;

use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use super::productions::{BINDER, BLOCK, Category, Content, Field, PROGRAM, Production, TENSOR_DATA, named, noun};
use super::{DecodeError, Profile};
use crate::book::Rule;
use crate::grammar::{StructInfo, Type};
use crate::judge::{Cx, with_stack};
use crate::struct_info::wrap_type;

pub(super) type Read = Result<Value, DecodeError>;

/// The data of a program, as the typed reader takes it.
pub(super) fn program(cx: &mut Cx, profile: Profile, value: Value) -> Read {
    Decoder { cx, profile, path: Vec::new() }.at_category(Category::Program, value)
}

pub(super) fn type_data(cx: &mut Cx, value: Value) -> Read {
    Decoder { cx, profile: Profile::Merged, path: Vec::new() }.at_category(Category::Type, value)
}

pub(super) struct Decoder<'c> {
    pub cx: &'c mut Cx,
    pub profile: Profile,
    path: Vec<String>,
}

impl Decoder<'_> {
    fn at_category(&mut self, category: Category, value: Value) -> Read {
        with_stack(|| match category {
            Category::Program => self.module(value),
            Category::Entry => self.entry(value),
            Category::GlobalFunc | Category::StructInfo => self.node(category, value),
            Category::Type => self.type_node(value),
            Category::Expr => self.expr(value),
            Category::Block => self.block(value),
            Category::Binding => self.node(category, value),
            Category::Binder => self.binder(value),
            Category::TensorShape => self.tensor_shape(value),
            Category::DataType => self.data_type(value),
            Category::Dim => self.dim(value),
            Category::Attrs => self.attrs(value),
            Category::AttrValue => self.attr_value(value),
            Category::TensorData => self.tensor_data(value),
            Category::Index => self.index(value),
            Category::Plain => Ok(value),
        })
    }

    pub(super) fn error(&self, rule: Option<Rule>, message: impl Into<String>) -> DecodeError {
        DecodeError { rule, path: self.path.join("/"), message: message.into() }
    }

    /// A premise of a rule of the grammar; without the rule anything goes.
    pub(super) fn premise(
        &mut self,
        rule: Rule,
        n: usize,
        holds: bool,
        message: impl FnOnce() -> String,
    ) -> Result<(), DecodeError> {
        if self.cx.premise(rule, n, holds) { Ok(()) } else { Err(self.error(Some(rule), message())) }
    }

    /// Builds a node by a production.
    pub(super) fn by(&mut self, rule: Rule, name: &str) -> Result<(), DecodeError> {
        if self.cx.fire(rule) { Ok(()) } else { Err(self.error(None, format!("there is no `{name}` without {rule}"))) }
    }

    fn inside<T>(
        &mut self,
        step: String,
        body: impl FnOnce(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        self.path.push(step);
        let result = body(self);
        self.path.pop();
        result
    }

    fn unexpected(&self, category: Category, value: &Value) -> DecodeError {
        let found: String = value.to_string().chars().take(40).collect();
        self.error(None, format!("expected {}, found `{found}`", noun(category)))
    }

    /// A node of a category that is a choice.
    fn node(&mut self, category: Category, value: Value) -> Read {
        let Some(production) = variant_name(&value).and_then(|name| named(category, name)) else {
            return Err(self.unexpected(category, &value));
        };
        self.by(production.rule, production.name)?;
        self.inside(production.name.to_string(), |d| d.content(production, content_of(value)))
    }

    fn content(&mut self, production: &Production, content: Value) -> Read {
        let name = production.name;
        let content = match &production.content {
            Content::Nothing => {
                self.premise(production.rule, 1, content.is_null(), || format!("`{name}` has no fields"))?;
                return Ok(Value::String(name.to_string()));
            }
            Content::One(category) => self.at_category(*category, content)?,
            Content::Many(category) => self.list(production.rule, name, *category, content)?,
            Content::Fields(fields) => {
                let map = self.map(production.rule, name, content)?;
                let map = if name == "Call" { self.call_fields(map)? } else { map };
                let mut map = self.fields(production.rule, name, fields, map)?;
                if let Some(types) = map.remove("type_args") {
                    map.insert("sinfo_args".to_string(), self.wrapped(types)?);
                }
                Value::Object(map)
            }
        };
        Ok(json!({ name: content }))
    }

    fn map(&mut self, rule: Rule, name: &str, content: Value) -> Result<Map<String, Value>, DecodeError> {
        match content {
            Value::Object(map) => Ok(map),
            // A node without any field that is given.
            Value::Null => Ok(Map::new()),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                self.premise(rule, 1, false, || format!("the fields of `{name}` are named"))?;
                Ok(Map::new())
            }
        }
    }

    fn fields(
        &mut self,
        rule: Rule,
        name: &str,
        fields: &[Field],
        mut map: Map<String, Value>,
    ) -> Result<Map<String, Value>, DecodeError> {
        for field in fields {
            let Some(value) = map.remove(field.name).filter(|value| !value.is_null()) else {
                let missing = || format!("`{name}` needs the field `{}`", field.name);
                self.premise(rule, 1, !field.mandatory, missing)?;
                continue;
            };
            let value = self.inside(field.name.to_string(), |d| match field.many {
                true => d.list(rule, name, field.category, value),
                false => d.at_category(field.category, value),
            })?;
            map.insert(field.name.to_string(), value);
        }
        Ok(map)
    }

    fn list(&mut self, rule: Rule, name: &str, category: Category, value: Value) -> Read {
        let Value::Array(items) = value else {
            self.premise(rule, 1, false, || format!("`{name}` has a list here"))?;
            return Ok(value);
        };
        let read = |(i, item)| self.inside(format!("[{i}]"), |d: &mut Self| d.at_category(category, item));
        Ok(Value::Array(items.into_iter().enumerate().map(read).collect::<Result<Vec<Value>, DecodeError>>()?))
    }

    /// GRAM.PROGRAM: a map from global variables to functions, of which no key occurs twice.
    fn module(&mut self, value: Value) -> Read {
        self.by(rule!("GRAM.PROGRAM"), "IRModule")?;
        let map = self.map(rule!("GRAM.PROGRAM"), "IRModule", value)?;
        let map = self.fields(rule!("GRAM.PROGRAM"), "IRModule", PROGRAM, map)?;
        let mut names = BTreeSet::new();
        for entry in map.get("funcs").and_then(Value::as_array).into_iter().flatten() {
            let name = entry.get(0).and_then(Value::as_str).unwrap_or_default();
            let first = names.insert(name);
            self.premise(rule!("GRAM.PROGRAM"), 2, first, || format!("the module binds `{name}` twice"))?;
        }
        Ok(Value::Object(map))
    }

    fn entry(&mut self, value: Value) -> Read {
        match value {
            Value::Array(items) => match <[Value; 2]>::try_from(items) {
                Ok([name, func]) => Ok(json!([name, self.at_category(Category::GlobalFunc, func)?])),
                Err(items) => Err(self.unexpected(Category::Entry, &Value::Array(items))),
            },
            value => Err(self.unexpected(Category::Entry, &value)),
        }
    }

    /// GRAM.PRIM.POSITION, GRAM.PRIM.SHAPEVAR-ONLY-IN-PRIM: what stands for a dimension is no expression.
    fn expr(&mut self, value: Value) -> Read {
        let is_dim = value.is_number() || variant_name(&value).is_some_and(|name| named(Category::Dim, name).is_some());
        self.premise(rule!("GRAM.PRIM.POSITION"), 1, !is_dim, || "a dimension stands for an expression".to_string())?;
        let message = || format!("the shape variable {value} stands for an expression");
        self.premise(rule!("GRAM.PRIM.SHAPEVAR-ONLY-IN-PRIM"), 1, !value.is_string(), message)?;
        self.node(Category::Expr, value)
    }

    /// PR14148.CALL.SINFO_ARGS, and the attributes of a call.
    fn call_fields(&mut self, map: Map<String, Value>) -> Result<Map<String, Value>, DecodeError> {
        let has = |name: &str| map.get(name).is_some_and(|value| !value.is_null());
        let both = has("sinfo_args") && has("type_args");
        if has("sinfo_args") || both {
            let message = || "a call has `sinfo_args` or `type_args`, not both".to_string();
            self.premise(rule!("PR14148.CALL.SINFO_ARGS"), 1, !both, message)?;
        }
        if has("attrs") {
            self.by(rule!("GRAM.EXPR.CALL.ATTRS"), "attrs")?;
        }
        Ok(map)
    }

    /// GRAM.EXPR.CALL (C01): type arguments as structural information.
    fn wrapped(&mut self, types: Value) -> Read {
        let types: Vec<Type> = Vec::deserialize(types).map_err(|error| self.error(None, error.to_string()))?;
        let infos: Vec<StructInfo> = types.iter().map(|t| wrap_type(self.cx, t)).collect();
        serde_json::to_value(infos).map_err(|error| self.error(None, error.to_string()))
    }

    /// PR14148.NOTYPES.GRAMMAR: the later revision has no types.
    fn type_node(&mut self, value: Value) -> Read {
        if self.profile == Profile::Pr14148 {
            let message = || "the grammar of the later revision has no types".to_string();
            self.premise(rule!("PR14148.NOTYPES.GRAMMAR"), 1, false, message)?;
        }
        self.node(Category::Type, value)
    }

    /// GRAM.BLOCK.BINDING, GRAM.BLOCK.DATAFLOW.
    fn block(&mut self, value: Value) -> Read {
        let dataflow = value.get("kind").and_then(Value::as_str) == Some("Dataflow");
        let (rule, name) = match dataflow {
            true => (rule!("GRAM.BLOCK.DATAFLOW"), "DataflowBlock"),
            false => (rule!("GRAM.BLOCK.BINDING"), "BindingBlock"),
        };
        self.by(rule, name)?;
        let map = self.map(rule, name, value)?;
        Ok(Value::Object(self.fields(rule, name, BLOCK, map)?))
    }

    /// A parameter, or the left side of a binding: a `Var` or a `DataflowVar`.
    fn binder(&mut self, value: Value) -> Read {
        let dataflow = value.get("kind").and_then(Value::as_str) == Some("DataflowVar");
        let (rule, name) = match dataflow {
            true => (rule!("GRAM.EXPR.DATAFLOWVAR"), "DataflowVar"),
            false => (rule!("GRAM.EXPR.VAR"), "Var"),
        };
        let other = variant_name(&value).and_then(|name| named(Category::Expr, name));
        let message = || format!("a {} is bound where a variable is", other.map_or("value", |other| other.name));
        self.premise(rule!("GRAM.BIND.VARBINDING"), 2, other.is_none(), message)?;
        self.by(rule, name)?;
        let map = self.map(rule, name, value)?;
        Ok(Value::Object(self.fields(rule, name, BINDER, map)?))
    }

    /// A list of dimensions, a variable, or any other expression, which the grammar permits (WF.13.FORM does not).
    fn tensor_shape(&mut self, value: Value) -> Read {
        match value {
            Value::Array(_) => self.list(rule!("GRAM.SI.TENSOR"), "Tensor", Category::Dim, value),
            Value::Object(mut map) if map.contains_key("Expr") => {
                let expr = map.remove("Expr").unwrap_or_default();
                Ok(json!({"Expr": self.at_category(Category::Expr, expr)?}))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => Ok(value),
        }
    }

    /// GRAM.PRIM.VAR, GRAM.PRIM.INTIMM, or a node. A text that is more than a name is an expression as on paper.
    fn dim(&mut self, value: Value) -> Read {
        match &value {
            Value::String(_) => {
                self.by(rule!("GRAM.PRIM.VAR"), "Var")?;
                Ok(value)
            }
            Value::Number(number) => {
                let fits = number.as_i64().is_some();
                self.premise(rule!("GRAM.PRIM.INTIMM"), 1, fits, || format!("{number} is not an int64"))?;
                Ok(value)
            }
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                self.within_extension(&value)?;
                self.node(Category::Dim, value)
            }
        }
    }

    /// GRAM.PRIM.EXTENSIBLE: the documents alone do not have the extension set.
    fn within_extension(&mut self, value: &Value) -> Result<(), DecodeError> {
        let production = variant_name(value).and_then(|name| named(Category::Dim, name));
        match production.filter(|production| production.rule == rule!("GRAM.PRIM.EXTENSIBLE")) {
            Some(Production { name, rule, .. }) if self.profile == Profile::Pr14148 => {
                self.premise(*rule, 1, false, || format!("`{name}` is of the extension set, which the documents lack"))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// GRAM.EXPR.FUNCTION.ATTRS: a map, whose unknown keys are kept.
    fn attrs(&mut self, value: Value) -> Read {
        let Value::Object(map) = value else { return Err(self.unexpected(Category::Attrs, &value)) };
        let in_function = self.path.iter().rev().nth(1).is_some_and(|step| step == "Function");
        if in_function {
            self.by(rule!("GRAM.EXPR.FUNCTION.ATTRS"), "attrs")?;
        }
        let read = |(name, value): (String, Value)| {
            let value = self.inside(name.clone(), |d| d.at_category(Category::AttrValue, value))?;
            Ok((name, value))
        };
        Ok(Value::Object(map.into_iter().map(read).collect::<Result<Map<String, Value>, DecodeError>>()?))
    }

    fn attr_value(&mut self, value: Value) -> Read {
        let (name, category) = match variant_name(&value) {
            Some("DataType") => ("DataType", Category::DataType),
            Some("StructInfo") => ("StructInfo", Category::StructInfo),
            Some("Prim") => ("Prim", Category::Dim),
            Some(_) => return Ok(value),
            None => return Err(self.unexpected(Category::AttrValue, &value)),
        };
        Ok(json!({ name: self.at_category(category, content_of(value))? }))
    }

    fn tensor_data(&mut self, value: Value) -> Read {
        let map = self.map(rule!("GRAM.EXPR.CONSTANT"), "Constant", value)?;
        let map = self.fields(rule!("GRAM.EXPR.CONSTANT"), "Constant", TENSOR_DATA, map)?;
        self.storable(map.get("dtype"))?;
        Ok(Value::Object(map))
    }

    /// GRAM.EXPR.TUPLEGETITEM: the index is a literal.
    fn index(&mut self, value: Value) -> Read {
        let literal = value.is_i64() || value.is_u64();
        self.premise(rule!("GRAM.EXPR.TUPLEGETITEM"), 1, literal, || "an index is a literal integer".to_string())?;
        Ok(value)
    }
}

/// The name of a variant, which is a text or a map with one key.
pub(super) fn variant_name(value: &Value) -> Option<&str> {
    match value {
        Value::String(name) => Some(name),
        Value::Object(map) if map.len() == 1 => map.keys().next().map(String::as_str),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// What a variant holds; null if nothing.
pub(super) fn content_of(value: Value) -> Value {
    match value {
        Value::Object(map) => map.into_iter().next().map(|(_, content)| content).unwrap_or_default(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Value::Null,
    }
}
