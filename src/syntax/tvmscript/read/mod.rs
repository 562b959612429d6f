//! From text to the abstract syntax.

mod annotation;
mod attrs;
mod block;
mod branch;
mod calls;
mod constant;
mod dims;
mod expr;
mod fault;
mod function;
mod module;
mod scalars;
mod scope;
mod signature;

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

use ruff_python_ast as py;
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

pub(super) use self::attrs::attr_in;
pub(in crate::syntax) use self::attrs::names_dtype;
pub(in crate::syntax) use self::calls::dps_output;
use self::fault::{Fault, Read, span_of};
pub(super) use self::fault::{integer, string};
use self::scope::Identities;
pub(in crate::syntax) use self::signature::{Param, signature};
use super::guard;
use super::metadata::Metadata;
use super::unstated::{Silent, say_pure};
use crate::book::Rule;
use crate::grammar::source::{MAX_NESTING, SyntaxError};
use crate::grammar::{Attrs, IrModule, Name, Span, StructInfo, Var};
use crate::judge::Cx;

/// How many errors are reported at most: each costs a search for its line.
const MAX_ERRORS: usize = 100;

/// Reads a module.
///
/// # Errors
///
/// The first thing that is not TVMScript, with its place and what was expected.
pub fn parse_module(text: &str) -> Result<IrModule, SyntaxError> {
    parse_module_all(text).map_err(|errors| {
        let nowhere = || SyntaxError::at(text, Span::NONE, "unreadable");
        errors.into_iter().next().unwrap_or_else(nowhere)
    })
}

/// Reads a module, and goes on behind each statement that cannot be read.
///
/// # Errors
///
/// What is wrong, in the order of the text; at least one error, and at most 100.
pub fn parse_module_all(text: &str) -> Result<IrModule, Vec<SyntaxError>> {
    read(text).map(|(module, _)| module)
}

/// Reads a module, and applies the rules of the notation that it makes use of.
///
/// # Errors
///
/// The first thing that is not TVMScript.
pub fn parse_module_in(cx: &mut Cx, text: &str) -> Result<IrModule, SyntaxError> {
    let (module, older) = read(text).map_err(|mut errors| {
        let mut first =
            if errors.is_empty() { SyntaxError::at(text, Span::NONE, "unreadable") } else { errors.remove(0) };
        // Without its rule it is an error all the same, but nothing says why.
        first.rule = first.rule.filter(|rule| !cx.premise(*rule, 1, false));
        first
    })?;
    match older.into_iter().find(|(rule, _)| !cx.conclude(*rule, true)) {
        None => Ok(module),
        Some((rule, span)) => Err(SyntaxError::at(text, span, format!("a spelling that {rule} does not admit"))),
    }
}

/// Rules about older spellings, each with its first use.
type Older = Vec<(Rule, Span)>;

/// A module, and the older spellings in it.
fn read(text: &str) -> Result<(IrModule, Older), Vec<SyntaxError>> {
    let mut faults = Vec::new();
    let text = &*named_lambdas(text);
    match python(text) {
        Ok(statements) => {
            let mut reader = Reader::new(text);
            let module = reader.module(&statements);
            match (module, reader.faults.is_empty()) {
                (Ok(mut module), true) => {
                    say_pure(&mut module, &reader.silent);
                    return Ok((module, reader.older));
                }
                (Ok(_), false) => {}
                (Err(fault), _) => reader.fault(fault),
            }
            faults.append(&mut reader.faults);
        }
        Err(mut found) => faults.append(&mut found),
    }
    faults.sort_by_key(|fault| fault.span.start);
    Err(faults.into_iter().take(MAX_ERRORS).map(|fault| fault.into_error(text)).collect())
}

/// TVM prints a function that was made from a lambda under the name `<lambda>`, which Python cannot read. Another name of
/// the same length leaves all places where they are.
fn named_lambdas(text: &str) -> Cow<'_, str> {
    const PRINTED: &str = "<lambda>";
    if !text.contains("def <lambda>") {
        return Cow::Borrowed(text);
    }
    let mut named = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(PRINTED) {
        named.push_str(before);
        let is_name = before.ends_with("def ") || before.ends_with('.');
        named.push_str(if is_name { "_lambda_" } else { PRINTED });
        rest = after;
    }
    named.push_str(rest);
    Cow::Owned(named)
}

/// The text as a Python module.
fn python(text: &str) -> Result<Vec<py::Stmt>, Vec<Fault>> {
    let fault = |span: Span, message: &str| vec![Fault::at(span, message)];
    if u32::try_from(text.len()).is_err() {
        return Err(fault(Span::NONE, "the text is larger than 4 GiB"));
    }
    if let Some(at) = text.find('\0') {
        return Err(fault(at_offset(at), "the text contains a NUL byte"));
    }
    if let Some(at) = guard::too_deep(text) {
        return Err(fault(at_offset(at), &format!("the nesting is deeper than {MAX_NESTING}")));
    }
    let parsed = parse_unchecked(text, ParseOptions::from(Mode::Module));
    if !parsed.errors().is_empty() {
        let errors = parsed.errors().iter().take(MAX_ERRORS);
        return Err(errors.map(|e| Fault::at(span_of(&e.location), e.error.to_string())).collect());
    }
    match parsed.into_syntax() {
        py::Mod::Module(module) => Ok(module.body.into_iter().collect()),
        py::Mod::Expression(_) => Err(fault(Span::NONE, "expected a module")),
    }
}

fn at_offset(at: usize) -> Span {
    let at = u32::try_from(at).unwrap_or(u32::MAX);
    Span::new(at, at)
}

/// The state of reading one module.
pub(super) struct Reader<'t> {
    text: &'t str,
    /// What the text says of objects that it only refers to.
    metadata: Option<Metadata<'t>>,
    /// Names that stand for the module: the class and what it was assigned to.
    aliases: FxHashSet<String>,
    /// The functions of the module.
    globals: FxHashSet<String>,
    scope: Identities,
    /// The operators met so far, by the names that the text gives them.
    ops: FxHashMap<Name, Name>,
    /// Variables that the text says are shapes, which decides what `R.match_shape` of them means.
    shapes: FxHashSet<Var>,
    /// Variables that are annotated as scalars, `n: T.int64`; true of those that are dimensions too.
    scalars: FxHashMap<Var, bool>,
    /// The names that the function at hand uses as dimensions.
    dim_names: FxHashSet<String>,
    /// Whether the text may annotate scalars at all.
    may_have_scalars: bool,
    /// Variables that the text says are tuples, which are all inputs of an `R.call_tir` that is given one.
    tuples: FxHashSet<Var>,
    /// From `R.func_attr` in the function at hand.
    function_attrs: Attrs,
    /// From `R.func_ret_struct_info` in the function at hand.
    function_ret: Option<StructInfo>,
    /// The functions without a word on their purity.
    silent: Silent,
    depth: usize,
    faults: Vec<Fault>,
    older: Older,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Reader<'t> {
        Reader {
            text,
            metadata: None,
            aliases: FxHashSet::from_iter(["cls".to_string()]),
            globals: FxHashSet::default(),
            scope: Identities::default(),
            ops: FxHashMap::default(),
            shapes: FxHashSet::default(),
            scalars: FxHashMap::default(),
            dim_names: FxHashSet::default(),
            may_have_scalars: text.contains("T."),
            tuples: FxHashSet::default(),
            function_attrs: Attrs::new(),
            function_ret: None,
            silent: Silent::default(),
            depth: 0,
            faults: Vec::new(),
            older: Vec::new(),
        }
    }

    fn older_spelling(&mut self, rule: Rule, span: Span) {
        if self.older.iter().all(|(known, _)| *known != rule) {
            self.older.push((rule, span));
        }
    }

    fn fault(&mut self, fault: Fault) {
        if self.faults.len() < MAX_ERRORS {
            self.faults.push(fault);
        }
    }

    /// Counts the levels that the indentation of the text does not show.
    fn nested<T>(&mut self, span: Span, body: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= MAX_NESTING {
            return Err(Fault::at(span, format!("the nesting is deeper than {MAX_NESTING}")));
        }
        self.depth += 1;
        let result = crate::judge::with_stack(|| body(self));
        self.depth -= 1;
        result
    }
}
