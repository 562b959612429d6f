//! From the abstract syntax to text.

mod block;
mod calls;
mod dims;
mod expr;
mod literal;
mod names;
mod sinfo;

use rustc_hash::FxHashMap;

pub(super) use self::literal::{index_map, non_finite};
use self::names::PrintedNames;
use super::unstated::Silent;
use super::{Dialect, tir_print};
use crate::grammar::{AttrValue, Function, GlobalFunc, IrModule, Var};

/// Writes a module in the spelling of a version of TVM.
///
/// The text reads back as the same module up to the numbers of variables, and exactly if the variables of each function
/// have distinct names. Some trees have no exact text. Adjacent blocks of the same kind are merged, except dataflow
/// blocks. A body that is not a `SeqExpr` becomes one. Functions and conditionals inside other expressions are bound to
/// variables first.
pub fn print_module(module: &IrModule, dialect: Dialect) -> String {
    print_module_with(module, dialect, &|_| None)
}

/// Like [`print_module`], with comments after the bindings of variables for which there is a remark.
pub fn print_module_with(module: &IrModule, dialect: Dialect, remark: &dyn Fn(&Var) -> Option<&'static str>) -> String {
    let mut out = String::from("# from tvm.script import ir as I\n# from tvm.script import tirx as T\n");
    out.push_str("# from tvm.script import relax as R\n\n@I.ir_module\nclass Module:\n");
    if !module.attrs.is_empty() {
        let attrs = Printer::new(dialect, &Silent::default()).attr_dict(&module.attrs);
        out.push_str(&format!("    I.module_attrs({attrs})\n"));
    }
    if !module.global_infos.is_empty() {
        let infos = Printer::new(dialect, &Silent::default()).attr_dict(&module.global_infos);
        out.push_str(&format!("    I.module_global_infos({infos})\n"));
    }
    if module.funcs.is_empty() {
        out.push_str("    pass\n");
    }
    let silent = Silent::pure_in(module);
    for (i, (gv, function)) in module.funcs.iter().enumerate() {
        out.push_str(if i > 0 { "\n" } else { "" });
        let name = names::identifier(&gv.name);
        match function {
            GlobalFunc::Function(function) => {
                let printer = Printer { remark, ..Printer::new(dialect, &silent) };
                out.push_str(&printer.global_function(&gv.name, &name, function));
            }
            GlobalFunc::ExternFunc(function) => {
                out.push_str(&format!("    {name} = R.ExternFunc({})\n", literal::string(&function.global_symbol)));
            }
            GlobalFunc::PrimFunc(function) => {
                out.push_str(&tir_print::print_prim_func(function, &name, 1, dialect));
            }
        }
    }
    out
}

/// The state of writing one global function.
struct Printer<'s> {
    dialect: Dialect,
    /// The functions that would be read as pure without a stated purity.
    silent: &'s Silent,
    names: PrintedNames<'s>,
    /// The lines of the function so far.
    out: String,
    /// The operators met so far: whether `R.name` means each.
    operators: FxHashMap<String, bool>,
    /// Empty, with the room that the value of a binding takes.
    spare: String,
    indent: usize,
    /// Dimensions in the signature of a global function are strings, because their names are not declared yet.
    in_signature: bool,
    uses_module: bool,
    /// The remark on the binding of a variable.
    remark: &'s dyn Fn(&Var) -> Option<&'static str>,
}

impl<'s> Printer<'s> {
    fn new(dialect: Dialect, silent: &'s Silent) -> Printer<'s> {
        Printer {
            dialect,
            silent,
            names: PrintedNames::default(),
            out: String::new(),
            operators: FxHashMap::default(),
            spare: String::new(),
            indent: 2,
            in_signature: false,
            uses_module: false,
            remark: &|_| None,
        }
    }

    fn line(&mut self, text: &str) {
        self.line_of(&[text]);
    }

    /// A line of several parts.
    fn line_of(&mut self, parts: &[&str]) {
        for _ in 0..self.indent {
            self.out.push_str("    ");
        }
        parts.iter().for_each(|part| self.out.push_str(part));
        self.out.push('\n');
    }

    fn global_function(mut self, symbol: &str, name: &str, function: &'s Function) -> String {
        self.names = PrintedNames::of(function);
        self.in_signature = true;
        let header = self.header(name, function);
        self.in_signature = false;
        let mut attrs = function.attrs.clone();
        let global_symbol = attrs.get("global_symbol").cloned();
        if global_symbol == Some(AttrValue::Str(symbol.into())) {
            attrs.remove("global_symbol");
        }
        let attrs = (!attrs.is_empty()).then(|| self.attr_dict(&attrs));
        self.body(&function.body);
        let mut head = Printer::new(self.dialect, self.silent);
        head.indent = 1;
        head.line(&decorator(global_symbol.is_none(), function.pure, self.silent.globals.contains(symbol)));
        head.line(&header);
        head.indent = 2;
        for dim in self.names.dims_in_order() {
            head.line(&format!("{dim} = T.int64()"));
        }
        if let Some(attrs) = attrs {
            head.line(&format!("R.func_attr({attrs})"));
        }
        if self.uses_module {
            head.line("cls = Module");
        }
        head.out.push_str(&self.out);
        head.out
    }
}

/// `@R.function(..)`. `pure` says whether the function would be read as pure without a stated purity.
fn decorator(private: bool, said: Option<bool>, pure: bool) -> String {
    let mut arguments = Vec::new();
    if private {
        arguments.push("private=True".to_string());
    }
    match said {
        Some(said) => arguments.push(format!("pure={}", literal::bool(said))),
        None if pure => arguments.push("pure=None".to_string()),
        None => {}
    }
    match arguments.as_slice() {
        [] => "@R.function".into(),
        arguments => format!("@R.function({})", arguments.join(", ")),
    }
}
