//! Importing programs of the abstract syntax of 2022 (chapter The 2022 Abstract Syntax).
//!
//! The form is RON or JSON as for present programs, marked by `"ast": "2022-06"` beside `funcs`, and with the nodes and fields
//! of the time where they differ:
//!
//! * a binder has `vid`, and `type_annotation` or `checked_type_` and `shape_` in place of `annotation` (C07, C10);
//! * a shape is a list of dimensions, an expression, or `"RuntimeDepShape"`, which means that it is unknown (C09); an
//!   expression other than a variable or a `ShapeExpr` is bound to a variable first (C08);
//! * a function has `ret_type` (C11), a call `type_args`;
//! * `MatchShape(value, pattern, var)` is a `MatchCast` (C05).
//!
//! `checked_type_` and `shape_` of other expressions are dropped, since they are derived again.

use std::collections::HashMap;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::decode::{self, DecodeError};
use crate::book::Rule;
use crate::grammar::{DataType, DynTensorType, Ndim, ShapeType, StructInfo, Type};
use crate::judge::{Cx, with_stack};
use crate::struct_info::wrap_type;

/// The mark of a program to be imported.
pub const AST_2022: &str = "2022-06";

/// Why a program is not imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It is not JSON, or not of the form of the syntax tree of 2022.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// Without the mark it could be of another version of the tree.
    #[error("it is not marked as `\"ast\": \"{AST_2022}\"`")]
    Unmarked,
    /// The type and the shape of a variable have different ranks.
    #[error("`{var}` has a type of rank {of_type} and a shape of {of_shape} dimensions ({rule})", rule = rule!("WF.9"))]
    Ranks {
        /// The variable.
        var: String,
        /// The rank that its type says.
        of_type: String,
        /// The number of dimensions of its shape.
        of_shape: usize,
    },
    /// A variable that is no tensor has a shape.
    #[error("`{var}` has a shape, but its type is {of_type} ({rule})", rule = rule!("WF.9"))]
    Shapeless {
        /// The variable.
        var: String,
        /// Its type.
        of_type: Type,
    },
    /// A MatchShape is not of the form of 2022.
    #[error("a MatchShape has a value, a pattern and a variable ({})", rule!("AST22.MATCHSHAPE"))]
    MatchShape,
    /// A parameter has a shape that is computed.
    #[error("a parameter has a shape that is neither a variable nor a ShapeExpr ({})", rule!("WF.13.FORM"))]
    ParameterShape,
    /// The kind that stands where a binding is expected.
    #[error("a binding is a VarBinding or a MatchShape, not a {0} ({rule})", rule = rule!("AST22.BINDING"))]
    Binding(String),
    /// A type is not written as one.
    #[error("{0}")]
    Type(#[from] DecodeError),
}

impl ImportError {
    /// The rule that is broken, where one is.
    pub fn rule(&self) -> Option<Rule> {
        match self {
            ImportError::Json(_) | ImportError::Unmarked => None,
            ImportError::Ranks { .. } | ImportError::Shapeless { .. } => Some(rule!("WF.9")),
            ImportError::MatchShape => Some(rule!("AST22.MATCHSHAPE")),
            ImportError::ParameterShape => Some(rule!("WF.13.FORM")),
            ImportError::Binding(_) => Some(rule!("AST22.BINDING")),
            ImportError::Type(error) => error.rule,
        }
    }
}

/// Whether data is marked as a program of 2022.
pub(super) fn is_marked(program: &Value) -> bool {
    program.get("ast").and_then(Value::as_str) == Some(AST_2022)
}

/// Reads a program of 2022, as data of the present form. `text` is what it was read from.
///
/// # Errors
///
/// It is not marked as such a program, or a variable has a type and a shape of different ranks (WF.9, A51).
pub(super) fn import_value(cx: &mut Cx, mut program: Value, text: &str) -> Result<Value, ImportError> {
    if !is_marked(&program) {
        return Err(ImportError::Unmarked);
    }
    if let Some(fields) = program.as_object_mut() {
        fields.remove("ast");
    }
    Importer { cx, text, shapes: HashMap::new(), before: Vec::new() }.node(program)
}

fn decode<T: DeserializeOwned>(value: Value) -> Result<T, ImportError> {
    Ok(T::deserialize(serde_stacker::Deserializer::new(value))?)
}

struct Importer<'t> {
    cx: &'t mut Cx,
    text: &'t str,
    /// Whether each variable met is a shape, where its type says so.
    shapes: HashMap<String, bool>,
    /// The bindings of shapes, to stand in front of the binding that is being read.
    before: Vec<Value>,
}

impl Importer<'_> {
    fn node(&mut self, value: Value) -> Result<Value, ImportError> {
        with_stack(|| match value {
            Value::Array(items) => items.into_iter().map(|item| self.node(item)).collect(),
            Value::Object(fields) if fields.contains_key("vid") => self.binder(fields),
            Value::Object(fields) => self.object(fields),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(value),
        })
    }

    fn object(&mut self, mut fields: Map<String, Value>) -> Result<Value, ImportError> {
        fields.remove("checked_type_");
        fields.remove("shape_");
        if let Some(ret) = fields.remove("ret_type")
            && self.cx.fire(rule!("AST22.FUNCTION"))
        {
            let ret = self.ty(ret)?;
            fields.insert("ret_struct_info".into(), serde_json::to_value(wrap_type(self.cx, &ret))?);
        }
        if let Some(Value::Object(cast)) = fields.remove("MatchShape") {
            return self.match_shape(cast);
        }
        // Parameters come into scope before the body, whatever the order of the fields.
        let mut result = Map::new();
        if let Some(params) = fields.remove("params") {
            result.insert("params".into(), self.node(params)?);
            if !self.before.is_empty() {
                return Err(ImportError::ParameterShape);
            }
        }
        // Blocks come before the body likewise.
        for key in ["blocks", "bindings"] {
            let Some(items) = fields.remove(key) else { continue };
            let items = if key == "bindings" { self.bindings(items)? } else { self.node(items)? };
            result.insert(key.into(), items);
        }
        for (key, value) in fields {
            let value = self.node(value)?;
            result.insert(key, value);
        }
        Ok(Value::Object(result))
    }

    fn bindings(&mut self, items: Value) -> Result<Value, ImportError> {
        let Value::Array(items) = items else { return Ok(items) };
        let mut result = Vec::with_capacity(items.len());
        for item in items {
            self.is_binding(&item)?;
            let outer = std::mem::take(&mut self.before);
            let item = self.node(item)?;
            // The shape may be used after the block, with the variable that has it.
            result.extend(std::mem::replace(&mut self.before, outer));
            result.push(item);
        }
        Ok(Value::Array(result))
    }

    /// AST22.BINDING: there are two kinds of binding.
    fn is_binding(&mut self, item: &Value) -> Result<(), ImportError> {
        let kind = item.as_object().and_then(|fields| fields.keys().next()).map_or("", String::as_str);
        if self.cx.premise(rule!("AST22.BINDING"), 1, matches!(kind, "VarBinding" | "MatchShape")) {
            return Ok(());
        }
        Err(ImportError::Binding(kind.to_string()))
    }

    /// A type, whose datatypes may be in the older form.
    fn ty(&mut self, value: Value) -> Result<Type, ImportError> {
        decode(decode::type_data(self.cx, value)?)
    }

    /// AST22.VAR (C07, C10): one annotation in place of two.
    fn binder(&mut self, mut fields: Map<String, Value>) -> Result<Value, ImportError> {
        let vid = fields.remove("vid").unwrap_or_default();
        let name = vid.as_str().unwrap_or_default().to_string();
        let checked = fields.remove("checked_type_");
        let ty = fields.remove("type_annotation").or(checked).map(|ty| self.ty(ty)).transpose()?;
        let shape = fields.remove("shape_");
        if let Some(ty) = &ty {
            self.shapes.insert(name.clone(), matches!(ty, Type::Shape(_)));
        }
        let shape = shape.map(|shape| self.shape(&name, shape)).transpose()?.flatten();
        if self.cx.fire(rule!("AST22.VAR"))
            && let Some(info) = self.merge(&name, ty, shape)?
        {
            fields.insert("annotation".into(), info);
        }
        fields.insert("var".into(), vid);
        Ok(Value::Object(fields))
    }

    /// A shape as a field of `TensorStructInfo`, or nothing if it is unknown.
    fn shape(&mut self, name: &str, shape: Value) -> Result<Option<Value>, ImportError> {
        if shape.as_str() == Some("RuntimeDepShape") {
            return Ok(None);
        }
        if let Some(values) = shape.pointer("/ShapeExpr/values") {
            return Ok(Some(values.clone()));
        }
        if let Some(var) = shape.get("Var") {
            return Ok(Some(var.clone()));
        }
        if shape.is_array() || shape.get("DataflowVar").is_some() {
            return Ok(Some(shape));
        }
        let fresh = self.fresh(name);
        let value = self.node(shape)?;
        self.before.push(json!({"VarBinding": {"var": {"var": fresh}, "value": value}}));
        Ok(Some(Value::String(fresh)))
    }

    /// A name that the program does not mention.
    fn fresh(&self, name: &str) -> String {
        let stem = format!("shape_of_{}", name.replace('#', "_"));
        let taken = |name: &String| self.text.contains(name.as_str());
        let mut candidates = (1u64..).map(|n| format!("{stem}_{n}"));
        if taken(&stem) { candidates.find(|name| !taken(name)).unwrap_or_default() } else { stem }
    }

    /// AST22.MATCHSHAPE: the pattern of a shape where the value is known to be one, else that of a tensor.
    fn match_shape(&mut self, mut cast: Map<String, Value>) -> Result<Value, ImportError> {
        let (value, pattern, var) = (cast.remove("value"), cast.remove("pattern"), cast.remove("var"));
        let complete =
            self.cx.premise(rule!("AST22.MATCHSHAPE"), 1, value.is_some() && pattern.is_some() && var.is_some());
        let (true, Some(value), Some(Value::Array(pattern))) = (complete, value, pattern) else {
            return Err(ImportError::MatchShape);
        };
        // AST22.MATCHSHAPE.SHAPE, AST22.MATCHSHAPE.TENSOR: by what the value is.
        let is_shape = match self.is_shape(&value) {
            true => self.cx.fire(rule!("AST22.MATCHSHAPE.SHAPE")),
            false => !self.cx.fire(rule!("AST22.MATCHSHAPE.TENSOR")),
        };
        if let Some(vid) = var.as_ref().and_then(|var| var.get("vid")).and_then(Value::as_str) {
            self.shapes.insert(vid.to_string(), is_shape);
        }
        let info = if is_shape {
            json!({"Shape": {"values": pattern}})
        } else {
            json!({"Tensor": {"shape": pattern, "dtype": "void"}})
        };
        // Reading fills in the rank.
        let info: StructInfo = decode(info)?;
        let (value, var) = (self.node(value)?, var.map(|var| self.node(var)).transpose()?);
        Ok(json!({"MatchCast": {"var": var, "struct_info": info, "value": value}}))
    }

    fn is_shape(&self, value: &Value) -> bool {
        let var = value.get("Var").or_else(|| value.get("DataflowVar")).and_then(Value::as_str);
        let callee = value.pointer("/Call/op/Op/op_name").and_then(Value::as_str);
        value.get("ShapeExpr").is_some()
            || callee == Some("relax.shape_of")
            || var.is_some_and(|var| self.shapes.get(var).copied().unwrap_or(false))
    }

    /// WF.9 (A51): a type and a shape of one rank make one structural information.
    fn merge(&mut self, var: &str, ty: Option<Type>, shape: Option<Value>) -> Result<Option<Value>, ImportError> {
        let info = |info: &StructInfo| serde_json::to_value(info).map(Some).map_err(ImportError::from);
        let Some(shape) = shape else {
            return ty.map_or(Ok(None), |ty| info(&wrap_type(self.cx, &ty)));
        };
        let (ndim, dtype) = match ty {
            None => (Ndim::Unknown, DataType::VOID),
            Some(Type::Tensor(DynTensorType { ndim, dtype })) => (ndim, dtype),
            Some(of_type @ Type::Shape(ShapeType { ndim })) => {
                let Value::Array(values) = &shape else { return self.shapeless(var, of_type) };
                self.agree(var, ndim, values.len())?;
                return info(&decode(json!({"Shape": {"values": values}}))?);
            }
            Some(of_type @ (Type::Object | Type::Tuple(_) | Type::Func(_) | Type::PackedFunc)) => {
                return self.shapeless(var, of_type);
            }
        };
        let ndim = match &shape {
            Value::Array(values) => {
                self.agree(var, ndim, values.len())?;
                Ndim::of_len(values.len())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => ndim,
        };
        info(&decode(json!({"Tensor": {"shape": shape, "dtype": dtype, "ndim": ndim}}))?)
    }

    fn agree(&mut self, var: &str, of_type: Ndim, of_shape: usize) -> Result<(), ImportError> {
        let agrees = of_type.is_unknown() || of_type == Ndim::of_len(of_shape);
        if self.cx.premise(rule!("WF.9"), 1, agrees) {
            return Ok(());
        }
        Err(ImportError::Ranks { var: var.into(), of_type: of_type.to_string(), of_shape })
    }

    /// A value that is neither a tensor nor a shape has no shape.
    fn shapeless(&mut self, var: &str, of_type: Type) -> Result<Option<Value>, ImportError> {
        if self.cx.premise(rule!("WF.9"), 2, false) {
            return Ok(None);
        }
        Err(ImportError::Shapeless { var: var.into(), of_type })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::{Binding, Expr, Function, GlobalFunc, IrModule};

    fn import(function: Value) -> Result<Function, ImportError> {
        let program = json!({"ast": AST_2022, "funcs": [["f", {"Function": function}]]});
        let text = program.to_string();
        let module: IrModule = decode(import_value(&mut Cx::new(), program, &text)?)?;
        let Some(GlobalFunc::Function(function)) = module.get("f") else { panic!("{module:?}") };
        Ok((**function).clone())
    }

    fn param(fields: Value) -> Result<Option<StructInfo>, ImportError> {
        let function = import(json!({"params": [fields], "body": {"Var": "x"}}))?;
        Ok(function.params[0].annotation.clone())
    }

    fn tensor(ndim: i64) -> Value {
        json!({"Tensor": {"ndim": ndim, "dtype": "float32"}})
    }

    fn bindings(items: Value) -> Vec<Binding> {
        let params = json!([{"vid": "x", "checked_type_": tensor(-1), "shape_": "RuntimeDepShape"},
                            {"vid": "s", "type_annotation": {"Shape": {"ndim": -1}}}]);
        let body = json!({"SeqExpr": {"blocks": [{"bindings": items}], "body": {"Var": "y"}}});
        let Expr::SeqExpr(seq) = import(json!({"params": params, "body": body})).unwrap().body else { panic!() };
        seq.blocks[0].bindings.clone()
    }

    #[test]
    fn two_annotations_become_one() {
        let dims = || [crate::grammar::PrimExpr::Var(crate::grammar::ShapeVar::new("n")), 3.into()];
        let expected = StructInfo::tensor(dims(), DataType::FLOAT32);
        for ndim in [2, -1] {
            let given = json!({"vid": "x", "type_annotation": tensor(ndim), "shape_": ["n", 3]});
            assert_eq!(param(given).unwrap(), Some(expected.clone()));
        }
        let shape = json!({"vid": "x", "checked_type_": {"Shape": {"ndim": 2}}, "shape_": ["n", 3]});
        assert_eq!(param(shape).unwrap(), Some(StructInfo::shape(dims())));
        let unknown = json!({"vid": "x", "type_annotation": tensor(2), "shape_": "RuntimeDepShape"});
        assert_eq!(param(unknown).unwrap(), Some(StructInfo::tensor_ndim(2, DataType::FLOAT32)));
        assert_eq!(param(json!({"vid": "x"})).unwrap(), None);
    }

    #[test]
    fn ranks_must_agree() {
        let wrong = param(json!({"vid": "x", "type_annotation": tensor(1), "shape_": ["n", 3]})).unwrap_err();
        assert!(matches!(&wrong, ImportError::Ranks { of_shape: 2, .. }), "{wrong}");
        assert!(wrong.to_string().contains("WF.9"));
        let shapeless = param(json!({"vid": "x", "type_annotation": "Object", "shape_": ["n"]}));
        assert!(matches!(shapeless, Err(ImportError::Shapeless { .. })));
    }

    #[test]
    fn return_types_are_wrapped() {
        let function = import(json!({"body": {"Var": "x"}, "ret_type": {"Shape": {"ndim": 2}}})).unwrap();
        assert_eq!(function.ret_struct_info, Some(StructInfo::shape_ndim(2)));
    }

    #[test]
    fn a_match_shape_is_a_match_cast() {
        let cast = |value: &str| json!({"MatchShape": {"value": {"Var": value}, "pattern": [2], "var": {"vid": "y"}}});
        let target = |binding: &Binding| match binding {
            Binding::MatchCast(cast) => cast.struct_info.clone(),
            Binding::VarBinding(binding) => panic!("{binding:?}"),
        };
        assert_eq!(target(&bindings(json!([cast("x")]))[0]), StructInfo::tensor([2.into()], DataType::VOID));
        assert_eq!(target(&bindings(json!([cast("s")]))[0]), StructInfo::shape([2.into()]));
        let incomplete = json!({"MatchShape": {"value": {"Var": "x"}, "pattern": [2]}});
        let body = json!({"SeqExpr": {"blocks": [{"bindings": [incomplete]}], "body": {"Var": "x"}}});
        assert!(matches!(import(json!({"body": body})), Err(ImportError::MatchShape)));
    }

    #[test]
    fn other_shapes_are_bound_first() {
        let shape = json!({"Call": {"op": {"Op": {"op_name": "relax.shape_of"}}, "args": [{"Var": "x"}]}});
        let var = json!({"vid": "y", "type_annotation": tensor(-1), "shape_": shape});
        let found = bindings(json!([{"VarBinding": {"var": var, "value": {"Var": "x"}}}]));
        assert_eq!(found[0].binder().unwrap().var.to_string(), "shape_of_y");
        let Some(StructInfo::Tensor(info)) = &found[1].binder().unwrap().annotation else { panic!("{found:?}") };
        assert_eq!(info.shape, Some(crate::grammar::TensorShape::Var(crate::grammar::Var::new("shape_of_y"))));
        let parameter = param(json!({"vid": "y", "type_annotation": tensor(-1), "shape_": shape}));
        assert!(matches!(parameter, Err(ImportError::ParameterShape)));
    }

    #[test]
    fn the_mark_is_needed() {
        assert!(matches!(import_value(&mut Cx::new(), json!({"funcs": []}), ""), Err(ImportError::Unmarked)));
    }
}
