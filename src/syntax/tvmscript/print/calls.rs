//! Calls, the reverse of reading them.

use super::Printer;
use super::literal::string;
use super::names::is_identifier;
use crate::grammar::{AttrValue, Attrs, Call, Expr, StructInfo, TensorShape, TensorStructInfo};
use crate::syntax::tvmscript::Dialect;
use crate::syntax::tvmscript::read::{PLACES, PythonParam, VAR_LEN, is_filled_in, signature};

/// Functions of `R` that build something other than a call of the operator of that name.
const NOT_OPERATORS: [&str; 24] = [
    "const",
    "shape",
    "ShapeExpr",
    "prim_value",
    "PrimValue",
    "str",
    "StringImm",
    "dtype",
    "DataTypeImm",
    "tuple",
    "Tuple",
    "TupleGetItem",
    "ExternFunc",
    "Op",
    "Call",
    "call_packed",
    "emit_with_sinfo",
    "emit_with_ty",
    "emit_with_type",
    "match_cast",
    "match_shape",
    "output",
    "outputs",
    "func_attr",
];

impl Printer<'_> {
    pub(super) fn call(&mut self, call: &Call, out: &mut String) {
        let is_written = match &call.op {
            Expr::Op(op) => match op.op_name.strip_prefix("relax.") {
                Some(name) => self.operator(name, call, out),
                None => false,
            },
            Expr::ExternFunc(f) if has_plain_attrs(&call.attrs, &["func"]) => {
                out.push_str("R.call_packed(");
                let name = string(&f.global_symbol);
                self.arguments(Some(name), &call.args, call, out);
                true
            }
            Expr::ExternFunc(_) => false,
            callee if has_plain_attrs(&call.attrs, &[]) => {
                self.expr(callee, out);
                out.push('(');
                self.arguments(None, &call.args, call, out);
                true
            }
            _ => false,
        };
        if !is_written {
            self.call_by_parts(call, out);
        }
    }

    /// The arguments, the attributes as keywords, the type arguments, and the closing parenthesis.
    fn arguments(&mut self, first: Option<String>, args: &[Expr], call: &Call, out: &mut String) {
        out.push_str(first.as_deref().unwrap_or_default());
        let separator = |any: bool| if any { ", " } else { "" };
        for (i, arg) in args.iter().enumerate() {
            out.push_str(separator(i > 0 || first.is_some()));
            self.expr(arg, out);
        }
        for (i, keyword) in self.keywords(call).iter().enumerate() {
            out.push_str(separator(i > 0 || !args.is_empty() || first.is_some()));
            out.push_str(keyword);
        }
        out.push(')');
    }

    fn keywords(&mut self, call: &Call) -> Vec<String> {
        if call.attrs.is_empty() && call.sinfo_args.is_empty() {
            return Vec::new();
        }
        let mut parts: Vec<String> =
            call.attrs.iter().map(|(name, value)| format!("{name}={}", self.attr(name, value))).collect();
        if !call.sinfo_args.is_empty() {
            let mut text = format!("{}=", self.sinfo_args_keyword());
            self.struct_info_tuple(&call.sinfo_args, &mut text);
            parts.push(text);
        }
        parts
    }

    fn sinfo_args_keyword(&self) -> &'static str {
        match self.dialect {
            Dialect::Tvm025 => "sinfo_args",
            Dialect::Tvm027 => "ty_args",
        }
    }

    fn expr_text(&mut self, e: &Expr) -> String {
        let mut text = String::new();
        self.expr(e, &mut text);
        text
    }

    /// `R.name(..)`, if that reads back as this call.
    fn operator(&mut self, name: &str, call: &Call, out: &mut String) -> bool {
        match name {
            "call_tir" | "call_tir_inplace" | "call_tir_with_grad" | "dist.call_tir_local_view" | "call_dps_packed" => {
                match self.call_dps(name, call) {
                    Some(text) => {
                        out.push_str(&text);
                        true
                    }
                    None => false,
                }
            }
            "call_pure_packed" | "call_inplace_packed" | "call_builtin_with_ctx" => {
                self.call_with_extern(name, call, out)
            }
            "print" | "assert_op" => self.formatted(name, call, out),
            "hint_on_device" => self.hint_on_device(call, out),
            name => self.plain_operator(name, call, out),
        }
    }

    /// `R.hint_on_device(x, R.device(device_type=1, index=0), "global")`.
    fn hint_on_device(&mut self, call: &Call, out: &mut String) -> bool {
        let known = ["device_type", "index", "memory_scope"];
        let ([x], true) = (call.args.as_slice(), call.attrs.keys().all(|name| known.contains(&&**name))) else {
            return false;
        };
        if !call.sinfo_args.is_empty() {
            return false;
        }
        let device: Vec<String> = (call.attrs.iter().filter(|(name, _)| &***name != "memory_scope"))
            .map(|(name, value)| format!("{name}={}", self.attr(name, value)))
            .collect();
        let mut parts = vec![self.expr_text(x)];
        if !device.is_empty() {
            parts.push(format!("R.device({})", device.join(", ")));
        }
        if let Some(scope) = call.attrs.get("memory_scope") {
            parts.push(format!("memory_scope={}", self.attr("memory_scope", scope)));
        }
        out.push_str(&format!("R.hint_on_device({})", parts.join(", ")));
        true
    }

    fn plain_operator(&mut self, name: &str, call: &Call, out: &mut String) -> bool {
        let params = signature(name);
        let inputs = params.clone().take_while(|param| !matches!(param, PythonParam::Attr(_))).count();
        let keyword = |param| match param {
            PythonParam::Input(word)
            | PythonParam::Flag(word, _)
            | PythonParam::Shape(word)
            | PythonParam::Dtype(word) => Some(word),
            PythonParam::Attr(_) => None,
        };
        let has_plain_attrs = call.attrs.is_empty()
            || has_plain_attrs(&call.attrs, &params.clone().filter_map(keyword).collect::<Vec<&str>>());
        // Further inputs would be read as attributes.
        let is_regular = inputs == params.clone().count() || call.args.len() <= inputs;
        let takes_tuples = call
            .args
            .iter()
            .zip(params.clone())
            .all(|(arg, param)| !matches!((arg, param), (Expr::Tuple(_), PythonParam::Shape(_))));
        let is_name = self.is_operator(name);
        // Readers would insert the omitted inputs.
        let lacks = params.skip(call.args.len()).any(|param| match param {
            PythonParam::Input(word) | PythonParam::Shape(word) | PythonParam::Dtype(word) => is_filled_in(name, word),
            PythonParam::Flag(..) | PythonParam::Attr(_) => false,
        });
        // Readers choose the operator by the number of inputs.
        let is_itself = match name {
            "nn.attention" => call.args.len() == 3,
            "nn.attention_bias" => call.args.len() == 4,
            VAR_LEN => call.args.len() == PLACES.len(),
            _ => true,
        };
        if !(is_regular && !lacks && takes_tuples && is_name && is_itself && has_plain_attrs) {
            return false;
        }
        ["R.", name, "("].iter().for_each(|part| out.push_str(part));
        match name {
            VAR_LEN => {
                let placed: Vec<Expr> = PLACES.iter().filter_map(|place| call.args.get(*place).cloned()).collect();
                self.arguments(None, &placed, call, out);
            }
            _ => self.arguments(None, &call.args, call, out),
        }
        true
    }

    /// Whether `R.name` can be written, and means the operator. Each name is looked at once.
    fn is_operator(&mut self, name: &str) -> bool {
        if let Some(known) = self.operators.get(name) {
            return *known;
        }
        let is_operator = name.split('.').all(is_identifier) && !NOT_OPERATORS.contains(&name);
        self.operators.insert(name.to_string(), is_operator);
        is_operator
    }

    /// Operators whose first input is a packed function, written as its name.
    fn call_with_extern(&mut self, name: &str, call: &Call, out: &mut String) -> bool {
        let Some((callee, args)) = call.args.split_first() else { return false };
        if !has_plain_attrs(&call.attrs, &["func"]) {
            return false;
        }
        let callee = self.callee_text(callee);
        out.push_str(&format!("R.{name}("));
        self.arguments(Some(callee), args, call, out);
        true
    }

    fn callee_text(&mut self, callee: &Expr) -> String {
        match callee {
            Expr::ExternFunc(f) => string(&f.global_symbol),
            other => self.expr_text(other),
        }
    }

    /// `R.print(x, format="..")`, `R.assert_op(c, x, format="..")`.
    fn formatted(&mut self, name: &str, call: &Call, out: &mut String) -> bool {
        let at = usize::from(name == "assert_op");
        let (Some(format), true) = (call.args.get(at), has_plain_attrs(&call.attrs, &["format"])) else {
            return false;
        };
        if at == 1 && call.args.iter().skip(2).any(|arg| matches!(arg, Expr::Tuple(_))) {
            return false;
        }
        let mut parts = Vec::new();
        for (i, arg) in call.args.iter().enumerate() {
            if i != at {
                parts.push(self.expr_text(arg));
            }
        }
        parts.push(format!("format={}", self.expr_text(format)));
        parts.extend(self.keywords(call));
        out.push_str(&format!("R.{name}({})", parts.join(", ")));
        true
    }

    /// The canonical form of a call in destination-passing style, with the shapes in the annotation again (C14).
    fn call_dps(&mut self, name: &str, call: &Call) -> Option<String> {
        let (callee, rest) = call.args.split_first()?;
        let (shape, inputs) = rest.split_last()?;
        let [info] = call.sinfo_args.as_slice() else { return None };
        let reserved =
            ["out_sinfo", "out_ty", "shape", "output_shape", "output_dtype", "dtype", "args", "func", "gvar"];
        if !has_plain_attrs(&call.attrs, &reserved) || matches!(callee, Expr::StringImm(_)) {
            return None;
        }
        // 0.27 only has inputs, which come before the outputs. These integers come after the outputs.
        if self.dialect == Dialect::Tvm027 && call.attrs.contains_key("tir_vars") {
            return None;
        }
        let mut outputs = String::new();
        match (shape, info) {
            (Expr::Tuple(shapes), StructInfo::Tuple(infos)) if shapes.fields.len() == infos.len() => {
                let infos = shapes.fields.iter().zip(infos.iter()).map(|(shape, info)| with_shape(shape, info));
                let infos = infos.collect::<Option<Vec<_>>>()?;
                let (open, close) = if infos.len() > 1 { ("[", "]") } else { ("R.Tuple(", ")") };
                outputs.push_str(open);
                self.struct_info_list(&infos, &mut outputs);
                outputs.push_str(close);
            }
            (shape, info) => self.struct_info(&with_shape(shape, info)?, &mut outputs),
        }
        let callee = if name == "call_dps_packed" { self.callee_text(callee) } else { self.expr_text(callee) };
        let mut tuple = String::new();
        self.tuple(inputs, &mut tuple);
        let keyword = match self.dialect {
            Dialect::Tvm025 => "out_sinfo",
            Dialect::Tvm027 => "out_ty",
        };
        let mut text = format!("R.{name}({callee}, {tuple}, {keyword}={outputs}");
        for (attr, value) in &call.attrs {
            let value = match self.tir_vars(attr, value) {
                Some(vars) => vars,
                None if &**attr == "tir_vars" => return None,
                None => self.attr(attr, value),
            };
            text.push_str(&format!(", {attr}={value}"));
        }
        text.push(')');
        Some(text)
    }

    /// `R.shape([n])` for the attribute `tir_vars`.
    fn tir_vars(&mut self, name: &str, value: &AttrValue) -> Option<String> {
        let values = value.as_list()?;
        if name != "tir_vars" {
            return None;
        }
        let mut dims = Vec::new();
        for value in values {
            let dim = value.as_prim()?;
            dims.push(dim.clone());
        }
        let mut text = String::from("R.shape([");
        self.dim_list(&dims, &mut text);
        text.push_str("])");
        Some(text)
    }

    /// Any call, by its parts. TVM only knows the first of the two forms.
    fn call_by_parts(&mut self, call: &Call, out: &mut String) {
        let mut args = String::new();
        if call.args.is_empty() {
            args.push_str("()");
        } else {
            self.tuple(&call.args, &mut args);
        }
        let mut infos = String::new();
        self.struct_info_tuple(&call.sinfo_args, &mut infos);
        let name = match (&call.op, self.dialect) {
            (Expr::Op(op), Dialect::Tvm025) => format!("R.emit_with_sinfo({}", string(&op.op_name)),
            (Expr::Op(op), Dialect::Tvm027) => format!("R.emit_with_ty({}", string(&op.op_name)),
            (other, _) => format!("R.Call({}", self.expr_text(other)),
        };
        out.push_str(&format!("{name}, {args}, {infos}"));
        if !call.attrs.is_empty() {
            out.push_str(&format!(", attrs={}", self.attr_dict(&call.attrs)));
        }
        out.push(')');
    }
}

/// Whether the attributes can be written as keywords, and are then read as attributes.
fn has_plain_attrs(attrs: &Attrs, reserved: &[&str]) -> bool {
    let taken = ["sinfo_args", "ty_args", "type_args"];
    attrs.keys().all(|name| is_identifier(name) && !taken.contains(&&**name) && !reserved.contains(&&**name))
}

/// The information of an output, with the shape from a separate argument.
fn with_shape(shape: &Expr, info: &StructInfo) -> Option<StructInfo> {
    let StructInfo::Tensor(TensorStructInfo { shape: None, dtype, ndim, vdevice }) = info else { return None };
    let shape = match shape {
        Expr::ShapeExpr(shape) => TensorShape::Dims(shape.values.clone()),
        Expr::Var(v) => TensorShape::Var(v.clone().into()),
        Expr::DataflowVar(v) => TensorShape::DataflowVar(v.clone().into()),
        _ => return None,
    };
    let vdevice = vdevice.clone();
    Some(StructInfo::Tensor(TensorStructInfo { shape: Some(shape), dtype: *dtype, ndim: *ndim, vdevice }))
}
