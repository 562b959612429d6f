//! `PrimFunc`s written as TVMScript.
//!
//! The text reads back to the same AST, here and in TVM. If TVM has a short and a general form, such as `T.Buffer`
//! parameters for shapes without variables, the short one is used if all releases read it in the same way.

mod expr;
mod stmt;

use std::collections::HashSet;
use std::fmt::Write as _;

use super::Dialect;
use crate::grammar::Name;
use crate::grammar::tir::{Buffer, Expr, Param, PrimFunc, Var};
use expr::{NameRole, attrs, buffer_arguments, for_each_var};
use stmt::Printer;

/// The definition of `f` as a function `name`, indented by `indent` levels of four spaces, with a newline at the end.
///
/// The dialect has no effect yet: all releases read this text.
pub fn print_prim_func(f: &PrimFunc, name: &str, indent: usize, dialect: Dialect) -> String {
    match dialect {
        Dialect::Tvm025 | Dialect::Tvm027 => print(f, name, indent),
    }
}

fn print(f: &PrimFunc, name: &str, indent: usize) -> String {
    let mut p = Printer::new(indent);
    let handles = handles(f);
    p.line(decorator(f));
    let params: Vec<String> = f.params.iter().zip(&handles).map(|(param, handle)| signature(param, handle)).collect();
    let ret = f.ret.map(|dtype| format!(" -> T.{dtype}")).unwrap_or_default();
    p.line(format!("def {name}({}){ret}:", params.join(", ")));
    p.indented(|p| {
        if !f.attrs.is_empty() {
            p.line(format!("T.func_attr({})", attrs(&f.attrs)));
        }
        for param in &f.params {
            match param {
                Param::Scalar(var) | Param::Handle(var) => p.define(&var.name, NameRole::Other),
                Param::Buffer(buffer) => p.define(&buffer.name, NameRole::Other),
            }
        }
        for var in shape_vars(f) {
            p.line(format!("{} = T.{}()", var.name, var.dtype));
            p.define(&var.name, NameRole::Other);
        }
        for (param, handle) in f.params.iter().zip(&handles) {
            if let (Param::Buffer(buffer), Some(handle)) = (param, handle) {
                p.line(format!("{} = T.match_buffer({handle}, {})", buffer.name, buffer_arguments(buffer)));
            }
        }
        for buffer in &f.allocs {
            p.line(format!("{} = T.sblock_alloc_buffer({})", buffer.name, buffer_arguments(buffer)));
            p.define(&buffer.name, NameRole::Other);
        }
        p.body(&f.body);
    });
    p.finish()
}

fn decorator(f: &PrimFunc) -> String {
    let flags: Vec<&str> = [("private=True", f.private), ("s_tir=True", f.s_tir)]
        .into_iter()
        .filter_map(|(text, on)| on.then_some(text))
        .collect();
    match flags.as_slice() {
        [] => "@T.prim_func".into(),
        flags => format!("@T.prim_func({})", flags.join(", ")),
    }
}

fn signature(param: &Param, handle: &Option<String>) -> String {
    match (param, handle) {
        (Param::Scalar(var), _) => format!("{}: T.{}", var.name, var.dtype),
        (Param::Handle(var), _) => format!("{}: T.handle", var.name),
        (Param::Buffer(_), Some(handle)) => format!("{handle}: T.handle"),
        (Param::Buffer(buffer), None) => format!("{}: T.Buffer({})", buffer.name, buffer_arguments(buffer)),
    }
}

/// For each buffer parameter with variables in its description, a name for its handle.
fn handles(f: &PrimFunc) -> Vec<Option<String>> {
    let mut taken: HashSet<Name> = HashSet::new();
    for param in &f.params {
        match param {
            Param::Scalar(var) | Param::Handle(var) => taken.insert(var.name.clone()),
            Param::Buffer(buffer) => taken.insert(buffer.name.clone()),
        };
    }
    taken.extend(shape_vars(f).into_iter().map(|var| var.name));
    let mut handle = |buffer: &Buffer| {
        let mut name = format!("var_{}", buffer.name);
        while !taken.insert(name.as_str().into()) {
            name.push('_');
        }
        name
    };
    let symbolic = |buffer: &Buffer| parts(buffer).any(|e| !matches!(e, Expr::Int(..)));
    f.params
        .iter()
        .map(|param| match param {
            Param::Buffer(buffer) if symbolic(buffer) => Some(handle(buffer)),
            Param::Buffer(_) | Param::Scalar(_) | Param::Handle(_) => None,
        })
        .collect()
}

/// The expressions in the description of a buffer.
fn parts(buffer: &Buffer) -> impl Iterator<Item = &Expr> {
    buffer.shape.iter().chain(&buffer.strides).chain(&buffer.elem_offset)
}

/// The variables that are bound by matching the parameters, in the order of their first use.
fn shape_vars(f: &PrimFunc) -> Vec<Var> {
    let mut seen: HashSet<Name> = HashSet::new();
    for param in &f.params {
        if let Param::Scalar(var) = param {
            seen.insert(var.name.clone());
        }
    }
    let mut vars = Vec::new();
    for param in &f.params {
        let Param::Buffer(buffer) = param else { continue };
        for e in parts(buffer) {
            for_each_var(e, &mut |var| {
                if seen.insert(var.name.clone()) {
                    vars.push(var.clone());
                }
            });
        }
    }
    vars
}

/// A Python string literal.
fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            c if c.is_control() => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
