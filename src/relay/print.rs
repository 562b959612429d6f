//! Prints Relay in either notation. The text reads back as the same tree.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::read::CONSTANT;
use super::tree::{
    BaseType, Call, Definition, Expr, ExprKind, Function, INFIX, Kind, Param, Program, RelayDim, RelayNotation, Shape,
    TensorTypeExpr, TypeExpr, TypeKind, TypeParam,
};
use crate::grammar::{AttrValue, Attrs, DataType, TensorData};
use crate::judge::{Cx, with_stack};
use crate::syntax::tensor_to_save;
use crate::value;

/// The text of a program in a notation.
pub fn print(cx: &mut Cx, program: &Program, notation: RelayNotation) -> String {
    let mut printer = Printer { cx, notation, text: String::new(), indent: 0, constants: Vec::new() };
    printer.program(program);
    printer.section();
    printer.text
}

/// The text of a type in a notation.
pub(super) fn type_text(ty: &TypeExpr, notation: RelayNotation) -> String {
    let mut printer = Printer { cx: &mut Cx::new(), notation, text: String::new(), indent: 0, constants: Vec::new() };
    printer.ty(ty);
    printer.text
}

/// The text of the value of an attribute.
pub(super) fn attr_text(value: &AttrValue) -> String {
    match value {
        AttrValue::Dict(_) | AttrValue::StructInfo(_) | AttrValue::IndexMap(_) | AttrValue::Made(_) => {
            "None".to_string()
        }
        AttrValue::None
        | AttrValue::Bool(_)
        | AttrValue::Int(_)
        | AttrValue::Float(_)
        | AttrValue::Str(_)
        | AttrValue::DataType(_)
        | AttrValue::Prim(_)
        | AttrValue::List(_) => value.to_string(),
    }
}

struct Printer<'c> {
    cx: &'c mut Cx,
    notation: RelayNotation,
    text: String,
    indent: usize,
    /// The saved form of the tensors in the section after the program.
    constants: Vec<String>,
}

impl Printer<'_> {
    fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn line(&mut self) {
        self.text.push('\n');
        (0..self.indent).for_each(|_| self.text.push_str("  "));
    }

    fn separated<T>(&mut self, items: &[T], item: impl Fn(&mut Self, &T)) {
        for (i, one) in items.iter().enumerate() {
            self.put(if i == 0 { "" } else { ", " });
            item(self, one);
        }
    }

    fn program(&mut self, program: &Program) {
        if let (RelayNotation::Printed, Some(version)) = (self.notation, &program.version) {
            let _ = writeln!(self.text, "#[version = \"{version}\"]");
        } else if self.notation == RelayNotation::Printed {
            self.put("#[version = \"0.0.5\"]\n");
        }
        for (i, definition) in program.definitions.iter().enumerate() {
            self.put(if i == 0 { "" } else { "\n" });
            self.definition(definition);
        }
    }

    /// The tensors that are not scalars, in a section after the program.
    fn section(&mut self) {
        if self.constants.is_empty() {
            return;
        }
        let count = self.constants.len();
        let constants =
            (0..count).map(|number| json!({"type_key": CONSTANT, "attrs": {"data": number.to_string(), "span": "0"}}));
        let list = json!({"type_key": "Array", "data": (3..count + 3).collect::<Vec<usize>>()});
        let root = json!({"type_key": "Map", "keys": [CONSTANT], "data": [2]});
        let nodes: Vec<Value> = [json!({"type_key": ""}), root, list].into_iter().chain(constants).collect();
        let section = json!({"root": 1, "nodes": nodes, "b64ndarrays": self.constants});
        let _ = write!(self.text, "\n#[metadata]\n{section:#}\n");
    }

    fn definition(&mut self, definition: &Definition) {
        if let Some(attributes) = &definition.attributes {
            let _ = writeln!(self.text, "attributes {} {{", definition.name);
            for (key, value) in &attributes.values {
                let _ = writeln!(self.text, "  {key}: {}", attr_text(value));
            }
            self.put("}\n\n");
        }
        let _ = write!(self.text, "def @{}", definition.name);
        self.function(&definition.function);
        self.put("\n");
    }

    fn function(&mut self, function: &Function) {
        self.type_params(&function.type_params);
        self.put("(");
        self.separated(&function.params, |p, param| p.param(param));
        self.attrs(&function.attrs, function.params.is_empty());
        self.put(")");
        if let Some(result) = &function.result {
            self.put(" -> ");
            self.ty(result);
        }
        self.put(" ");
        self.braced(&function.body);
    }

    fn type_params(&mut self, params: &[TypeParam]) {
        if params.is_empty() {
            return;
        }
        let (open, close) = match self.notation {
            RelayNotation::Introduced => ("<", ">"),
            RelayNotation::Printed => ("[", "]"),
        };
        self.put(open);
        self.separated(params, |p, param| {
            let _ = match (p.notation, param.kind) {
                (RelayNotation::Printed, Kind::Type) => write!(p.text, "{}", param.name),
                (_, kind) => write!(p.text, "{}: {}", param.name, kind.name()),
            };
        });
        self.put(close);
    }

    fn param(&mut self, param: &Param) {
        let _ = write!(self.text, "%{}", param.name);
        if let Some(annotation) = &param.annotation {
            self.put(": ");
            self.ty(annotation);
        }
    }

    fn braced(&mut self, body: &Expr) {
        self.put("{");
        self.indent += 1;
        self.line();
        with_stack(|| self.block(body));
        self.indent -= 1;
        self.line();
        self.put("}");
    }

    fn block(&mut self, body: &Expr) {
        let ExprKind::Let(bindings, result) = &body.kind else { return self.expr(body, 0) };
        for binding in bindings {
            self.put("let ");
            self.param(&binding.var);
            self.put(" = ");
            self.expr(&binding.value, 0);
            self.put(";");
            self.line();
        }
        match &result.kind {
            ExprKind::Let(..) => self.expr(result, 1),
            _ => self.expr(result, 0),
        }
    }

    /// Prints an expression. `binds` is the precedence of its surroundings.
    fn expr(&mut self, expr: &Expr, binds: u8) {
        with_stack(|| match &expr.kind {
            ExprKind::Local(name) => drop(write!(self.text, "%{name}")),
            ExprKind::Global(name) => drop(write!(self.text, "@{name}")),
            ExprKind::Operator(name) => self.operator(name),
            ExprKind::Constant(data) => self.constant(data),
            ExprKind::Tuple(fields) => {
                self.put("(");
                self.separated(fields, |p, field| p.expr(field, 0));
                self.put(if fields.len() == 1 { ",)" } else { ")" });
            }
            ExprKind::Project(tuple, index) => {
                self.expr(tuple, TIGHTEST);
                let _ = write!(self.text, ".{index}");
            }
            ExprKind::Let(..) => {
                self.put("(");
                self.block(expr);
                self.put(")");
            }
            ExprKind::If(e) => self.parenthesized(binds > 0, |p| {
                p.put("if (");
                p.expr(&e.condition, 0);
                p.put(") ");
                p.braced(&e.then);
                p.put(" else ");
                p.braced(&e.otherwise);
            }),
            ExprKind::Function(f) => self.parenthesized(binds > 0, |p| {
                p.put("fn ");
                p.function(f);
            }),
            ExprKind::Call(call) => self.call(call, binds),
        });
    }

    fn parenthesized(&mut self, needed: bool, body: impl FnOnce(&mut Self)) {
        self.put(if needed { "(" } else { "" });
        body(self);
        self.put(if needed { ")" } else { "" });
    }

    /// RELAY.OP.PRINT: prints an operator without a sigil.
    fn operator(&mut self, name: &str) {
        let sigil = if self.cx.fire(rule!("RELAY.OP.PRINT")) { "" } else { "@" };
        let _ = write!(self.text, "{sigil}{name}");
    }

    fn call(&mut self, call: &Call, binds: u8) {
        if let (ExprKind::Operator(name), [a, b]) = (&call.callee.kind, call.args.as_slice())
            && let Some((symbol, _, own)) = INFIX.iter().find(|(_, known, _)| **known == **name)
            && call.attrs.is_empty()
        {
            return self.parenthesized(binds > *own, |p| {
                p.expr(a, *own);
                let _ = write!(p.text, " {symbol} ");
                p.expr(b, own + 1);
            });
        }
        self.expr(&call.callee, TIGHTEST);
        self.put("(");
        self.separated(&call.args, |p, arg| p.expr(arg, 0));
        self.attrs(&call.attrs, call.args.is_empty());
        self.put(")");
    }

    fn attrs(&mut self, attrs: &Attrs, first: bool) {
        for (i, (key, value)) in attrs.iter().enumerate() {
            let comma = if i == 0 && first { "" } else { ", " };
            let _ = write!(self.text, "{comma}{key}={}", attr_text(value));
        }
    }

    /// Prints a constant, with the suffix of its datatype if the digits alone would mean a different one.
    fn constant(&mut self, data: &TensorData) {
        if !data.shape.is_empty() {
            let _ = write!(self.text, "meta[{CONSTANT}][{}]", self.constants.len());
            self.constants.push(tensor_to_save(data));
            return;
        }
        let scalar = value::Tensor::from_data(data).ok().and_then(|tensor| tensor.get(0));
        let digits = scalar.map(|scalar| scalar.to_string()).unwrap_or_default();
        let text = match data.dtype {
            DataType::BOOL if digits == "true" => "True".to_string(),
            DataType::BOOL => "False".to_string(),
            DataType::INT32 => digits,
            DataType::FLOAT32 if digits.contains(['.', 'e']) => digits,
            DataType::FLOAT32 => format!("{digits}f"),
            other => {
                let suffix = other.to_string().replace("uint", "u").replace("int", "i").replace("float", "f");
                format!("{digits}{suffix}")
            }
        };
        self.put(&text);
    }

    fn ty(&mut self, ty: &TypeExpr) {
        with_stack(|| match &ty.kind {
            TypeKind::Tensor(tensor) => self.tensor(tensor),
            TypeKind::Param(name) => self.put(name),
            TypeKind::Tuple(fields) => {
                self.put("(");
                self.separated(fields, Self::ty);
                self.put(if fields.len() == 1 { ",)" } else { ")" });
            }
            TypeKind::Function(params, result) => {
                self.put("fn (");
                self.separated(params, Self::ty);
                self.put(") -> ");
                self.ty(result);
            }
        });
    }

    fn tensor(&mut self, tensor: &TensorTypeExpr) {
        let base = match (&tensor.base, self.notation) {
            (BaseType::Param(name), _) => name.to_string(),
            (BaseType::Known(DataType::FLOAT32), RelayNotation::Introduced) => "Float".to_string(),
            (BaseType::Known(dtype), _) => dtype.to_string(),
        };
        let dims = match &tensor.shape {
            Shape::Param(name) => Err(name.to_string()),
            Shape::Dims(dims) => Ok(dims.iter().map(|dim| dim_text(*dim, self.notation)).collect::<Vec<String>>()),
        };
        let text = match (self.notation, dims) {
            (RelayNotation::Introduced, Err(name)) => format!("Tensor<{base}, {name}>"),
            (RelayNotation::Introduced, Ok(dims)) => format!("Tensor<{}>", [vec![base], dims].concat().join(", ")),
            (RelayNotation::Printed, Err(name)) => format!("Tensor[{name}, {base}]"),
            (RelayNotation::Printed, Ok(dims)) => match dims.as_slice() {
                [one] => format!("Tensor[({one},), {base}]"),
                dims => format!("Tensor[({}), {base}]", dims.join(", ")),
            },
        };
        self.put(&text);
    }
}

fn dim_text(dim: RelayDim, notation: RelayNotation) -> String {
    match (dim, notation) {
        (RelayDim::Known(size), _) => size.to_string(),
        (RelayDim::Any, RelayNotation::Introduced) => "Any".to_string(),
        (RelayDim::Any, RelayNotation::Printed) => "?".to_string(),
    }
}

/// A higher precedence than that of every infix symbol.
const TIGHTEST: u8 = 9;
