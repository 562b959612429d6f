//! Imports programs of the abstract syntax of 2022 (chapter The 2022 Abstract Syntax).
//!
//! The form is RON or JSON as for current programs, marked by `"ast": "2022-06"` beside `funcs`, with the nodes and
//! fields of that time:
//!
//! * a binder has `vid`, and `type_annotation` or `checked_type_` and `shape_` in place of `annotation` (C07, C10);
//! * a shape is a list of dimensions, an expression, or `"RuntimeDepShape"` if it is unknown (C09); an expression other
//!   than a variable or a `ShapeExpr` is bound to a variable first (C08);
//! * a function has `ret_type` (C11), a call `type_args`;
//! * `MatchShape(value, pattern, var)` is a `MatchCast` (C05).
//!
//! `checked_type_` and `shape_` of other expressions are dropped, because they are derived again.

use std::collections::HashMap;

use crate::data::{BorrowedText, DataError, DataReader, DataResult, FromData, Node, NodeData};
use crate::grammar::{DataType, DynTensorType, Ndim, ShapeType, Span, StructInfo, Type};
use crate::judge::{Cx, with_stack};
use crate::struct_info::wrap_type;

/// The mark of a program that must be imported.
pub const AST_2022: &str = "2022-06";

/// The fields of a node by name.
type Entries<'t> = Vec<(BorrowedText<'t>, Node<'t>)>;

/// Whether data is marked as a program of 2022.
pub(super) fn is_marked(program: &Node<'_>) -> bool {
    program.get("ast").and_then(Node::as_text) == Some(AST_2022)
}

/// Converts a program of 2022 to data of the current form. `text` is its source.
///
/// # Errors
///
/// It has the wrong form, or a variable has a type and a shape of different ranks (WF.9, A51).
pub(super) fn import<'t>(cx: &mut Cx, mut program: Node<'t>, text: &'t str) -> DataResult<Node<'t>> {
    if let NodeData::Map(fields) | NodeData::Struct(fields) = &mut program.data {
        take(fields, "ast");
    }
    Importer { cx, text, shapes: HashMap::new(), before: Vec::new() }.node(program)
}

/// Removes and returns a field.
fn take<'t>(fields: &mut Entries<'t>, name: &str) -> Option<Node<'t>> {
    let at = fields.iter().position(|(key, _)| key == name)?;
    Some(fields.remove(at).1)
}

fn has(fields: &Entries<'_>, name: &str) -> bool {
    fields.iter().any(|(key, _)| key == name)
}

/// The content of an alternative with this name.
fn content<'n, 't>(node: &'n Node<'t>, name: &str) -> Option<&'n Node<'t>> {
    node.as_variant().filter(|(found, _)| *found == name).and_then(|(_, content)| content)
}

struct Importer<'t, 'c> {
    cx: &'c mut Cx,
    text: &'t str,
    /// For each variable met so far, whether it is a shape, if its type says so.
    shapes: HashMap<String, bool>,
    /// The bindings of shapes, which come before the binding that is being read.
    before: Vec<Node<'t>>,
}

impl<'t> Importer<'t, '_> {
    fn node(&mut self, node: Node<'t>) -> DataResult<Node<'t>> {
        let span = node.span;
        let data = with_stack(|| match node.data {
            NodeData::List(items) => Ok(NodeData::List(self.nodes(items)?)),
            NodeData::Tuple(items) => Ok(NodeData::Tuple(self.nodes(items)?)),
            NodeData::Map(fields) | NodeData::Struct(fields) if has(&fields, "vid") => self.binder(span, fields),
            NodeData::Map(mut fields) => match take(&mut fields, "MatchShape") {
                Some(cast) => self.match_shape(cast),
                None => self.fields(span, fields).map(NodeData::Map),
            },
            NodeData::Struct(fields) => self.fields(span, fields).map(NodeData::Struct),
            NodeData::Variant(name, Some(cast)) if name == "MatchShape" => self.match_shape(*cast),
            NodeData::Variant(name, Some(content)) => Ok(NodeData::Variant(name, Some(Box::new(self.node(*content)?)))),
            leaf @ (NodeData::Null
            | NodeData::Bool(_)
            | NodeData::Number(_)
            | NodeData::Text(_)
            | NodeData::Variant(_, None)) => Ok(leaf),
        })?;
        Ok(Node { span, data })
    }

    fn nodes(&mut self, items: Vec<Node<'t>>) -> DataResult<Vec<Node<'t>>> {
        items.into_iter().map(|item| self.node(item)).collect()
    }

    fn fields(&mut self, span: Span, mut fields: Entries<'t>) -> DataResult<Entries<'t>> {
        take(&mut fields, "checked_type_");
        take(&mut fields, "shape_");
        let mut result = Vec::new();
        if let Some(ret) = take(&mut fields, "ret_type")
            && self.cx.fire(rule!("AST22.FUNCTION"))
        {
            let ret: Type = self.read(&ret)?;
            result.push(("ret_struct_info".into(), owned(&wrap_type(self.cx, &ret))));
        }
        // Parameters come into scope before the body, whatever the order of the fields.
        if let Some(params) = take(&mut fields, "params") {
            result.push(("params".into(), self.node(params)?));
            if !self.before.is_empty() {
                let message = "a parameter has a shape that is neither a variable nor a ShapeExpr";
                return Err(DataError { rule: Some(rule!("WF.13.FORM")), ..DataError::at(span, message) });
            }
        }
        // Blocks come before the body in the same way.
        for key in ["blocks", "bindings"] {
            let Some(items) = take(&mut fields, key) else { continue };
            let items = if key == "bindings" { self.bindings(items)? } else { self.node(items)? };
            result.push((key.into(), items));
        }
        for (key, value) in fields {
            self.has_no_runtime_dep_shape(&key, &value)?;
            result.push((key, self.node(value)?));
        }
        self.dps_call(&mut result);
        Ok(result)
    }

    /// R89.AST.RUNTIMEDEPSHAPE: it stands for a shape, and is not an expression elsewhere.
    fn has_no_runtime_dep_shape(&mut self, key: &str, value: &Node<'t>) -> DataResult<()> {
        let exprs = match key {
            "value" | "body" | "tuple_value" | "cond" | "true_branch" | "false_branch" => std::slice::from_ref(value),
            "args" | "fields" => value.as_items().unwrap_or_default(),
            _ => &[],
        };
        let Some(stray) = exprs.iter().find(|e| is_runtime_dep_shape(e)) else { return Ok(()) };
        let message = || "RuntimeDepShape stands in the place of a shape only".to_string();
        self.premise(stray.span, rule!("R89.AST.RUNTIMEDEPSHAPE"), 1, false, message)
    }

    /// R89.CALLTIR.AST, R89.CALLDPS.AST (C14): the inputs one by one, then the shape; the datatype becomes a type
    /// argument.
    fn dps_call(&mut self, call: &mut Entries<'t>) {
        let name =
            call.iter().find(|(key, _)| key == "op").and_then(|(_, op)| content(op, "Op")?.get("op_name")?.as_text());
        let rule = match name {
            Some("relax.call_tir") => rule!("R89.CALLTIR.AST"),
            Some("relax.call_dps_packed") => rule!("R89.CALLDPS.AST"),
            Some(_) | None => return,
        };
        let args = call.iter().find(|(key, _)| key == "args").and_then(|(_, args)| flat_args(args));
        if let Some((args, target)) = args
            && self.cx.fire(rule)
        {
            take(call, "args");
            call.push(("args".into(), NodeData::List(args).into()));
            call.push(("sinfo_args".into(), NodeData::List(vec![target]).into()));
        }
    }

    fn bindings(&mut self, list: Node<'t>) -> DataResult<Node<'t>> {
        let Node { span, data: NodeData::List(items) } = list else { return Ok(list) };
        let mut result = Vec::with_capacity(items.len());
        for item in items {
            self.is_binding(&item)?;
            let outer = std::mem::take(&mut self.before);
            let item = self.node(item)?;
            // The shape may be used after the block, through the variable that has it.
            result.extend(std::mem::replace(&mut self.before, outer));
            result.push(item);
        }
        Ok(Node { span, data: NodeData::List(result) })
    }

    /// AST22.BINDING: there are two kinds of binding.
    fn is_binding(&mut self, item: &Node<'t>) -> DataResult<()> {
        let kind = item.as_variant().map_or("", |(name, _)| name);
        let is_one = matches!(kind, "VarBinding" | "MatchShape");
        let message = || format!("a binding is a VarBinding or a MatchShape, not {}", item.describe());
        self.premise(item.span, rule!("AST22.BINDING"), 1, is_one, message)
    }

    fn premise(
        &mut self,
        at: Span,
        rule: crate::book::Rule,
        n: usize,
        holds: bool,
        message: impl FnOnce() -> String,
    ) -> DataResult<()> {
        DataReader::new(self.cx).premise(at, rule, n, holds, message)
    }

    fn read<T: FromData>(&mut self, node: &Node<'t>) -> DataResult<T> {
        DataReader::new(self.cx).read(node)
    }

    /// AST22.VAR (C07, C10): combines two annotations into one.
    fn binder(&mut self, span: Span, mut fields: Entries<'t>) -> DataResult<NodeData<'t>> {
        let vid = take(&mut fields, "vid").unwrap_or(NodeData::Null.into());
        let name = vid.as_text().unwrap_or_default().to_string();
        let checked = take(&mut fields, "checked_type_");
        let ty = take(&mut fields, "type_annotation").or(checked).map(|ty| self.read::<Type>(&ty)).transpose()?;
        let ty = ty.map(|ty| self.dyn_tensor_type(ty));
        let shape = take(&mut fields, "shape_");
        if let Some(ty) = &ty {
            self.shapes.insert(name.clone(), matches!(ty, Type::Shape(_)));
        }
        let shape = shape.map(|shape| self.shape(&name, shape)).transpose()?.flatten();
        if self.cx.fire(rule!("AST22.VAR"))
            && let Some(info) = self.merge(span, &name, ty, shape)?
        {
            fields.push(("annotation".into(), owned(&info)));
        }
        fields.push(("var".into(), vid));
        Ok(NodeData::Struct(fields))
    }

    /// R89.TYPE.DYNTENSOR: the type of a tensor keeps its rank and its datatype.
    fn dyn_tensor_type(&mut self, ty: Type) -> Type {
        match ty {
            Type::Tensor(_) => self.cx.conclude(rule!("R89.TYPE.DYNTENSOR"), ty),
            Type::Object | Type::Shape(_) | Type::Prim(_) | Type::Tuple(_) | Type::Func(_) | Type::PackedFunc => ty,
        }
    }

    /// A shape as a field of `TensorStructInfo`, by its generation; nothing if it is unknown.
    fn shape(&mut self, name: &str, shape: Node<'t>) -> DataResult<Option<Node<'t>>> {
        if is_runtime_dep_shape(&shape) {
            // R89.SHAPE.V2: nothing is known.
            return Ok(if self.cx.fire(rule!("R89.SHAPE.V2")) {
                None
            } else {
                Some(NodeData::List(Vec::new()).into())
            });
        }
        let values = content(&shape, "ShapeExpr").and_then(|shape| shape.get("values"));
        if let Some(values) = values.or(shape.as_items().map(|_| &shape)) {
            // R89.SHAPE.V0: a list of dimensions.
            return Ok(if self.cx.fire(rule!("R89.SHAPE.V0")) { Some(values.clone()) } else { None });
        }
        // R89.SHAPE.V1: an expression that gives a shape.
        let bound = self.bound_shape(name, shape)?;
        Ok(if self.cx.fire(rule!("R89.SHAPE.V1")) { Some(bound) } else { None })
    }

    /// The variable that holds a shape. An expression that is not itself a shape is bound first (C08).
    fn bound_shape(&mut self, name: &str, shape: Node<'t>) -> DataResult<Node<'t>> {
        if let Some(var) = content(&shape, "Var") {
            return Ok(var.clone());
        }
        if content(&shape, "DataflowVar").is_some() {
            return Ok(shape);
        }
        let (span, fresh) = (shape.span, self.fresh(name));
        let value = self.node(shape)?;
        let var = NodeData::Struct(vec![("var".into(), Node { span, data: NodeData::Text(fresh.clone().into()) })]);
        let binding = NodeData::Struct(vec![("var".into(), var.into()), ("value".into(), value)]);
        self.before.push(Node::variant("VarBinding", binding.into()));
        Ok(Node { span, data: NodeData::Text(fresh.into()) })
    }

    /// A name that does not occur in the program.
    fn fresh(&self, name: &str) -> String {
        let stem = format!("shape_of_{}", name.replace('#', "_"));
        let taken = |name: &String| self.text.contains(name.as_str());
        let mut candidates = (1u64..).map(|n| format!("{stem}_{n}"));
        if taken(&stem) { candidates.find(|name| !taken(name)).unwrap_or_default() } else { stem }
    }

    /// AST22.MATCHSHAPE: the pattern is that of a shape if the value is known to be one, else that of a tensor.
    fn match_shape(&mut self, cast: Node<'t>) -> DataResult<NodeData<'t>> {
        let span = cast.span;
        let (NodeData::Map(mut cast) | NodeData::Struct(mut cast)) = cast.data else {
            return self.incomplete(span);
        };
        let (value, pattern, var) = (take(&mut cast, "value"), take(&mut cast, "pattern"), take(&mut cast, "var"));
        let complete = value.is_some() && pattern.is_some() && var.is_some();
        let message = || "a MatchShape has a value, a pattern and a variable".to_string();
        self.premise(span, rule!("AST22.MATCHSHAPE"), 1, complete, message)?;
        let (Some(value), Some(pattern @ Node { data: NodeData::List(_), .. })) = (value, pattern) else {
            return self.incomplete(span);
        };
        // AST22.MATCHSHAPE.SHAPE, AST22.MATCHSHAPE.TENSOR: the kind of the value decides.
        let rows = [(rule!("AST22.MATCHSHAPE.SHAPE"), self.is_shape(&value), true)];
        let is_shape = self.cx.by_cases((&rows, (rule!("AST22.MATCHSHAPE.TENSOR"), false)));
        if let Some(vid) = var.as_ref().and_then(|var| var.get("vid")).and_then(Node::as_text) {
            self.shapes.insert(vid.to_string(), is_shape);
        }
        // The pattern determines the rank.
        let info = match is_shape {
            true => Node::variant("Shape", NodeData::Struct(vec![("values".into(), pattern)]).into()),
            false => {
                let fields = vec![("shape".into(), pattern), ("dtype".into(), owned(&DataType::VOID))];
                Node::variant("Tensor", NodeData::Struct(fields).into())
            }
        };
        let mut fields = vec![("struct_info".into(), info), ("value".into(), self.node(value)?)];
        if let Some(var) = var {
            fields.push(("var".into(), self.node(var)?));
        }
        Ok(NodeData::Variant("MatchCast".into(), Some(Box::new(Node { span, data: NodeData::Struct(fields) }))))
    }

    fn incomplete<T>(&self, span: Span) -> DataResult<T> {
        let message = "a MatchShape has a value, a list as its pattern and a variable";
        Err(DataError { rule: Some(rule!("AST22.MATCHSHAPE")), ..DataError::at(span, message) })
    }

    fn is_shape(&self, value: &Node<'t>) -> bool {
        let var = content(value, "Var").or_else(|| content(value, "DataflowVar")).and_then(Node::as_text);
        let callee = content(value, "Call").and_then(|call| call.get("op"));
        let callee = callee.and_then(|op| content(op, "Op")).and_then(|op| op.get("op_name")).and_then(Node::as_text);
        content(value, "ShapeExpr").is_some()
            || callee == Some("relax.shape_of")
            || var.is_some_and(|var| self.shapes.get(var).copied().unwrap_or(false))
    }

    /// WF.9 (A51): combines a type and a shape of the same rank into structural information.
    fn merge(
        &mut self,
        at: Span,
        var: &str,
        ty: Option<Type>,
        shape: Option<Node<'t>>,
    ) -> DataResult<Option<StructInfo>> {
        let Some(shape) = shape else {
            return Ok(ty.map(|ty| wrap_type(self.cx, &ty)));
        };
        let dims = shape.as_items().map(<[Node<'t>]>::len);
        let (ndim, dtype) = match ty {
            None => (Ndim::Unknown, DataType::VOID),
            Some(Type::Tensor(DynTensorType { ndim, dtype })) => (ndim, dtype),
            Some(of_type @ Type::Shape(ShapeType { ndim })) => {
                let Some(dims) = dims else { return self.shapeless(at, var, &of_type) };
                self.agree(at, var, ndim, dims)?;
                let values = NodeData::Struct(vec![("values".into(), shape)]);
                return self.read(&Node::variant("Shape", values.into())).map(Some);
            }
            Some(of_type @ (Type::Object | Type::Prim(_) | Type::Tuple(_) | Type::Func(_) | Type::PackedFunc)) => {
                return self.shapeless(at, var, &of_type);
            }
        };
        let ndim = match dims {
            Some(dims) => {
                self.agree(at, var, ndim, dims)?;
                Ndim::of_len(dims)
            }
            None => ndim,
        };
        let fields =
            vec![("shape".into(), shape), ("dtype".into(), owned(&dtype)), ("ndim".into(), Node::number(ndim))];
        self.read(&Node::variant("Tensor", NodeData::Struct(fields).into())).map(Some)
    }

    fn agree(&mut self, at: Span, var: &str, of_type: Ndim, of_shape: usize) -> DataResult<()> {
        let agrees = of_type.is_unknown() || of_type == Ndim::of_len(of_shape);
        let message = || format!("`{var}` has a type of rank {of_type} and a shape of {of_shape} dimensions");
        self.premise(at, rule!("WF.9"), 1, agrees, message)
    }

    /// A value that is neither a tensor nor a shape has no shape.
    fn shapeless(&mut self, at: Span, var: &str, of_type: &Type) -> DataResult<Option<StructInfo>> {
        let message = || format!("`{var}` has a shape, but its type is {of_type}");
        let refused = self.premise(at, rule!("WF.9"), 2, false, message);
        // R89.SHAPE.FIELD: only tensors and shapes have the field.
        self.cx.conclude(rule!("R89.SHAPE.FIELD"), refused).map(|()| None)
    }
}

fn is_runtime_dep_shape(node: &Node<'_>) -> bool {
    node.as_variant() == Some(("RuntimeDepShape", None))
}

/// Flattens the arguments of a call in destination-passing style with its inputs in a tuple, its shape and its
/// datatype. Also returns the information that the datatype and the rank of the shape give about the result.
fn flat_args<'t>(args: &Node<'t>) -> Option<(Vec<Node<'t>>, Node<'t>)> {
    let [callee, inputs, shape, dtype] = args.as_items()? else { return None };
    let inputs = content(inputs, "Tuple")?.get("fields")?.as_items()?;
    let dtype = content(dtype, "DataTypeImm")?.get("value")?.clone();
    let ndim = content(shape, "ShapeExpr").and_then(|shape| shape.get("values")?.as_items());
    let ndim = ndim.map_or(Ndim::Unknown, |values| Ndim::of_len(values.len()));
    let target = NodeData::Struct(vec![("dtype".into(), dtype), ("ndim".into(), Node::number(ndim))]);
    let flat = [callee].into_iter().chain(inputs).chain([shape]).cloned().collect();
    Some((flat, Node::variant("Tensor", target.into())))
}

/// The data form of a temporary value.
fn owned(value: &impl crate::data::Write) -> Node<'static> {
    value.write().into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::data::{DataNotation, Profile};
    use crate::grammar::{Binding, Expr, Function, GlobalFunc};
    use crate::syntax::decode::decode;

    fn import(function: Value) -> DataResult<Function> {
        let text = json!({"ast": AST_2022, "funcs": [["f", {"Function": function}]]}).to_string();
        let module = decode(&mut Cx::new(), DataNotation::Json, &text, Profile::Merged)?;
        let Some(GlobalFunc::Function(function)) = module.get("f") else { panic!("{module:?}") };
        Ok((**function).clone())
    }

    fn param(fields: Value) -> DataResult<Option<StructInfo>> {
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
        assert_eq!(wrong.to_string(), "`x` has a type of rank 1 and a shape of 2 dimensions (WF.9)");
        let shapeless = param(json!({"vid": "x", "type_annotation": "Object", "shape_": ["n"]}));
        assert_eq!(shapeless.unwrap_err().to_string(), "`x` has a shape, but its type is Object (WF.9)");
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
        assert_eq!(import(json!({"body": body})).unwrap_err().rule, Some(rule!("AST22.MATCHSHAPE")));
    }

    #[test]
    fn other_shapes_are_bound_first() {
        let shape = json!({"Call": {"op": {"Op": {"op_name": "relax.shape_of"}}, "args": [{"Var": "x"}]}});
        let var = json!({"vid": "y", "type_annotation": tensor(-1), "shape_": shape});
        let found = bindings(json!([{"VarBinding": {"var": var, "value": {"Var": "x"}}}]));
        assert_eq!(found[0].binder().unwrap().var.to_string(), "shape_of_y");
        let Some(StructInfo::Tensor(info)) = &found[1].binder().unwrap().annotation else { panic!("{found:?}") };
        assert_eq!(info.shape, Some(crate::grammar::TensorShape::Var(crate::grammar::Var::new("shape_of_y").into())));
        let parameter = param(json!({"vid": "y", "type_annotation": tensor(-1), "shape_": shape}));
        assert_eq!(parameter.unwrap_err().rule, Some(rule!("WF.13.FORM")));
    }
}
