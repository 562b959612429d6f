//! Unknown names: of operators, of their attributes, and of data types.
//!
//! Read literally, the text accepts all of them: an operator without inference gives an object
//! (SI.DERIVE.CALL.OP-DEFAULT), a call may have any attribute, and a data type may have any width. In a user's program
//! an unknown name is probably a typing error. This module reports it; no judgement of the text depends on it.

use crate::book::did_you_mean;
use crate::findings::{Diagnostic, NodePath};
use crate::grammar::visit::{Visitor, walk_call, walk_expr, walk_struct_info, walk_var_binding, walk_var_def};
use crate::grammar::{
    AttrValue, Binder, Call, DataType, Expr, Function, GlobalFunc, IrModule, Name, Op, Span, StructInfo, TypeCode,
    VarBinding,
};
use crate::judge::with_stack;
use crate::ops::{self, Clauses, OpDef};

/// How to report an unknown operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum UnknownOps {
    /// As an error.
    #[default]
    Errors,
    /// As a warning: its results are objects, as the text says literally.
    Objects,
}

/// The unknown names in a program, in the order of the text.
pub fn unknown_names(module: &IrModule, unknown: UnknownOps) -> Vec<Diagnostic> {
    let mut names =
        UnknownOpVisitor { unknown, function: "".into(), place: Span::NONE, in_result: false, found: Vec::new() };
    for (gv, func) in &module.funcs {
        match func {
            GlobalFunc::Function(function) => {
                names.function = gv.name.clone();
                names.place = gv.span;
                names.visit_function(function);
            }
            GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => {}
        }
    }
    names.found
}

struct UnknownOpVisitor {
    unknown: UnknownOps,
    function: Name,
    /// The nearest known place around a node that has no place itself.
    place: Span,
    /// Whether the walk is in the annotation of a function's result.
    in_result: bool,
    found: Vec<Diagnostic>,
}

impl UnknownOpVisitor {
    fn path(&self) -> NodePath {
        NodePath(format!("{}{}", self.function, if self.in_result { "/ret_struct_info" } else { "" }))
    }

    fn at(&self, span: Span) -> Span {
        if span.is_none() { self.place } else { span }
    }

    fn unknown_operator(&mut self, op: &Op, call: &Call) {
        let message = format!("there is no operator `{}`", op.op_name);
        let (path, span) = (self.path(), self.at(if op.span.is_none() { call.span } else { op.span }));
        let rule = rule!("SI.DERIVE.CALL.OP-DEFAULT");
        let finding = match self.unknown {
            UnknownOps::Errors => Diagnostic::error(rule, path, span, message),
            UnknownOps::Objects => {
                Diagnostic::warning(rule, path, span, format!("{message}; nothing is known of what it gives"))
            }
        };
        let known = did_you_mean(&op.op_name, ops::known());
        let hint = known.unwrap_or_else(|| "--allow-unknown-ops takes its results for objects".into());
        self.found.push(finding.with_hint(hint));
    }

    fn attributes(&mut self, def: &OpDef, call: &Call) {
        self.inside(call.span, |names| {
            for value in call.attrs.values().flat_map(AttrValue::leaves) {
                if let AttrValue::DataType(dtype) = value {
                    names.data_type(*dtype);
                }
            }
        });
        // Dialects give attributes to the operators of the language itself, so only tensor operators are checked.
        let Clauses::Tensor(clauses) = def.clauses else { return };
        let names = || def.attrs().map(|attr| attr.name);
        for name in call.attrs.keys().filter(|name| !COMMON.contains(&&***name) && !names().any(|own| own == &***name))
        {
            let message = format!("`{}` has no attribute `{name}`", def.name);
            let rule = clauses.attrs.unwrap_or(clauses.infer);
            let finding = Diagnostic::error(rule, self.path(), self.at(call.span), message);
            let list = || match names().collect::<Vec<_>>().as_slice() {
                [] => "it has none".to_string(),
                own => format!("it has {}", own.join(", ")),
            };
            self.found.push(finding.with_hint(did_you_mean(name, names()).unwrap_or_else(list)));
        }
    }

    fn data_type(&mut self, dtype: DataType) {
        let (known, rule) = match dtype.code {
            TypeCode::Int => (INTEGERS.contains(&dtype.bits), rule!("GRAM.DTYPE.INT")),
            TypeCode::UInt => (INTEGERS.contains(&dtype.bits), rule!("PR14148.DTYPE.UINT")),
            TypeCode::Float => ([16, 32, 64].contains(&dtype.bits), rule!("GRAM.DTYPE.FLOAT")),
            TypeCode::BFloat => (dtype.bits == 16, rule!("GRAM.DTYPE.FLOAT")),
            TypeCode::Small(_) => (true, rule!("GRAM.DTYPE.FLOAT")),
            TypeCode::Handle => (true, rule!("PR14148.DTYPE.HANDLE")),
        };
        if known || dtype.is_void() {
            return;
        }
        let text = dtype.to_string();
        let finding = Diagnostic::error(rule, self.path(), self.place, format!("there is no data type `{text}`"));
        self.found.push(match did_you_mean(&text, DataType::USUAL) {
            Some(hint) => finding.with_hint(hint),
            None => finding,
        });
    }

    /// Walks the inside of a place.
    fn inside(&mut self, place: Span, walk: impl FnOnce(&mut Self)) {
        let place = self.at(place);
        let around = std::mem::replace(&mut self.place, place);
        walk(self);
        self.place = around;
    }
}

/// Attributes that any call may have.
const COMMON: [&str; 2] = ["pure", "attrs_type_key"];

/// The integer widths that at least one implementation supports.
const INTEGERS: [u16; 8] = [0, 1, 2, 4, 8, 16, 32, 64];

impl Visitor for UnknownOpVisitor {
    fn visit_expr(&mut self, expr: &Expr) {
        self.inside(expr.span(), |names| {
            if let Expr::Constant(constant) = expr {
                names.data_type(constant.data.dtype);
            } else if let Expr::PrimValue(prim) = expr {
                names.data_type(prim.dtype);
            } else if let Expr::DataTypeImm(imm) = expr {
                names.data_type(imm.value);
            }
            walk_expr(names, expr);
        });
    }

    fn visit_call(&mut self, call: &Call) {
        if let Expr::Op(op) = &call.op {
            match ops::lookup(&op.op_name) {
                Some(def) => self.attributes(def, call),
                None => self.unknown_operator(op, call),
            }
        }
        walk_call(self, call);
    }

    fn visit_function(&mut self, function: &Function) {
        function.params.iter().for_each(|param| self.visit_var_def(param));
        if let Some(info) = &function.ret_struct_info {
            self.in_result = true;
            self.visit_struct_info(info);
            self.in_result = false;
        }
        self.visit_expr(&function.body);
        self.visit_attrs(&function.attrs);
    }

    fn visit_var_binding(&mut self, binding: &VarBinding) {
        let annotation = binding.var.annotation.as_ref();
        match &binding.value {
            // The annotation repeats the function's signature, and the function reports it.
            Expr::Function(function) if annotation == Some(&function.signature()) => {
                self.inside(binding.var.var.span, |names| with_stack(|| names.visit_function(function)));
            }
            _ => self.inside(binding.span, |names| walk_var_binding(names, binding)),
        }
    }

    fn visit_var_def(&mut self, binder: &Binder) {
        self.inside(binder.var.span, |names| walk_var_def(names, binder));
    }

    fn visit_struct_info(&mut self, info: &StructInfo) {
        match info {
            StructInfo::Tensor(tensor) => self.data_type(tensor.dtype),
            StructInfo::Prim(prim) => self.data_type(prim.dtype),
            StructInfo::Object | StructInfo::Shape(_) | StructInfo::Tuple(_) | StructInfo::Func(_) => {}
        }
        walk_struct_info(self, info);
    }
}
