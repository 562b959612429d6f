//! From text to the abstract syntax.

mod annotation;
mod attrs;
mod block;
mod branch;
mod broken;
mod calls;
mod computed;
mod constant;
mod dims;
mod expr;
mod factory;
pub(super) mod fault;
mod file;
mod function;
mod inline;
mod known;
mod known_infos;
mod module;
mod numpy_array;
mod python_library;
mod replace;
mod scalars;
mod scope;
mod signature;
mod static_value;
mod var_len;

use std::borrow::Cow;
use std::cell::OnceCell;

use rustc_hash::{FxHashMap, FxHashSet};

pub(super) use self::attrs::attr_in;
pub(in crate::syntax) use self::attrs::names_dtype;
use self::broken::Readable;
pub(in crate::syntax) use self::calls::{dps_output, whole_output};
use self::fault::{ReadFault, ReadResult};
use self::file::{FUNCTIONS, File, Unit};
pub(super) use self::function::implied_annotation;
pub(super) use self::inline::put;
use self::scope::Identities;
pub(in crate::syntax) use self::signature::{PythonParam, is_filled_in, signature};
pub(in crate::syntax) use self::var_len::{PLACES, VAR_LEN};
use super::guard;
use super::metadata::Metadata;
use super::unstated::{Silent, say_pure};
use crate::book::{Rule, RuleSet};
use crate::grammar::source::{MAX_NESTING, SyntaxError};
use crate::grammar::{AttrValue, Attrs, IrModule, Name, Span, StructInfo, VDevice, Var};
use crate::judge::Cx;

/// The maximum number of reported errors. Each needs a search for its line.
const MAX_ERRORS: usize = 100;

/// Reads a module.
///
/// # Errors
///
/// The first part that is not TVMScript, with its position and what was expected.
pub fn parse_module(text: &str) -> Result<IrModule, SyntaxError> {
    parse_module_all(text).map_err(|errors| {
        let nowhere = || SyntaxError::at(text, Span::NONE, "unreadable");
        errors.into_iter().next().unwrap_or_else(nowhere)
    })
}

/// Reads a module, and continues after each statement that cannot be read.
///
/// # Errors
///
/// The errors in the order of the text; at least one, and at most 100.
pub fn parse_module_all(text: &str) -> Result<IrModule, Vec<SyntaxError>> {
    read(text).map(|(module, _)| module)
}

/// Reads a module, and applies the rules of the notation that it uses.
///
/// # Errors
///
/// The first part that is not TVMScript.
pub fn parse_module_in(cx: &mut Cx, text: &str) -> Result<IrModule, SyntaxError> {
    let (module, uses) = read(text).map_err(|mut errors| {
        let mut first =
            if errors.is_empty() { SyntaxError::at(text, Span::NONE, "unreadable") } else { errors.remove(0) };
        // Without its rule it is still an error, but no rule is named.
        first.rule = first.rule.filter(|rule| !cx.premise(*rule, 1, false));
        first
    })?;
    match uses.into_iter().find(|(rule, _)| !cx.conclude(*rule, true)) {
        None => Ok(module),
        Some((rule, span)) => Err(SyntaxError::at(text, span, format!("a spelling that {rule} does not admit"))),
    }
}

/// Rules of the notation, each with its first use.
type RuleUses = Vec<(Rule, Span)>;

/// The selection of modules of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which<'n> {
    /// All modules.
    All,
    /// The only module.
    Only,
    /// The module with this name: that of its class, optionally with the names of the enclosing functions and classes,
    /// separated by dots.
    Named(&'n str),
}

/// The contents of a Python file.
#[derive(Debug)]
pub struct PythonFile {
    /// The selected modules, each with its name, in order; at least one.
    pub modules: Vec<(String, IrModule)>,
    /// The first of the statements that are not part of any module and are not imports or constants, with their number.
    pub skipped: Option<(Span, usize)>,
    /// The faults of selected modules that cannot be read and are missing here, and of parts that are left out.
    pub faults: Vec<SyntaxError>,
}

/// Reads modules of a Python file. Constants and imports around them are used, and all other code is skipped.
///
/// # Errors
///
/// The errors in the selected modules, in the order of the text; or it is not clear which module is meant. If all are
/// selected and some can be read, there is no error.
pub fn parse_file(text: &str, which: Which<'_>) -> Result<PythonFile, Vec<SyntaxError>> {
    parse_file_with(text, None, which)
}

/// Like [`parse_file`], with the metadata that [`super::take_metadata`] has removed from the text.
///
/// # Errors
///
/// The same as there.
pub fn parse_file_with(text: &str, metadata: Option<&str>, which: Which<'_>) -> Result<PythonFile, Vec<SyntaxError>> {
    let Units { modules, skipped, faults } = read_units(text, metadata, which)?;
    let modules = modules.into_iter().map(|(name, module, _)| (name, module)).collect();
    Ok(PythonFile { modules, skipped, faults })
}

/// A module, with the rules of the notation that it uses.
fn read(text: &str) -> Result<(IrModule, RuleUses), Vec<SyntaxError>> {
    let file = read_units(text, None, Which::Only)?;
    file.modules.into_iter().next().map(|(_, module, uses)| (module, uses)).ok_or_else(Vec::new)
}

/// The selected modules, the skipped statements, and further faults.
struct Units<F> {
    modules: Vec<(String, IrModule, RuleUses)>,
    skipped: Option<(Span, usize)>,
    faults: Vec<F>,
}

fn read_units(text: &str, metadata: Option<&str>, which: Which<'_>) -> Result<Units<SyntaxError>, Vec<SyntaxError>> {
    let text = &*named_lambdas(text);
    let told = |mut faults: Vec<ReadFault>| {
        faults.sort_by_key(|fault| fault.span.start);
        faults.into_iter().take(MAX_ERRORS).map(|fault| fault.into_error(text)).collect()
    };
    let Units { modules, skipped, faults } = units(text, metadata, which).map_err(told)?;
    Ok(Units { modules, skipped, faults: told(faults) })
}

fn units(text: &str, metadata: Option<&str>, which: Which<'_>) -> Result<Units<ReadFault>, Vec<ReadFault>> {
    let Readable { statements, mut faults, without_a_function } = python(text)?;
    if which == Which::Only && !faults.is_empty() {
        return Err(faults);
    }
    let count = statements.len();
    let declares = ModuleReader::new(text);
    let mut file = File::of(statements, &|value| declares.is_type_var(value));
    if without_a_function {
        file.units.retain(|unit| unit.name != FUNCTIONS);
    }
    let units = match meant(text, &file, count, which) {
        Ok(units) => units,
        Err(fault) if faults.is_empty() => return Err(vec![fault]),
        // The parts that cannot be read are the reason.
        Err(_) => return Err(faults),
    };
    let mut modules = Vec::new();
    for unit in units {
        match module_of(ModuleReader { apart: metadata, ..ModuleReader::new(text) }, &file, unit) {
            Ok((module, uses)) => modules.push((unit.name.clone(), module, uses)),
            Err(mut found) => faults.append(&mut found),
        }
    }
    let skipped = file.skipped.first().map(|first| (*first, file.skipped.len()));
    if modules.is_empty() { Err(faults) } else { Ok(Units { modules, skipped, faults }) }
}

/// The module of a unit. A name with an unknown meaning is reported, and not read as something else.
fn module_of<'t>(
    mut reader: ModuleReader<'t>,
    file: &'t File,
    unit: &'t Unit,
) -> Result<(IrModule, RuleUses), Vec<ReadFault>> {
    let text = reader.text;
    if let Some(import) = file.imported {
        reader.by(rule!("R89.SYN.COMMENTS"), import);
    }
    match reader.module(&file.around, &unit.statements) {
        Ok(mut module) if reader.faults.is_empty() && unit.strays.is_empty() => {
            let silent = std::mem::take(&mut reader.silent).of_referred(&reader.referred);
            say_pure(&mut module, &silent);
            return Ok((module, reader.uses));
        }
        Ok(_) => {}
        Err(fault) => reader.fault(fault),
    }
    let strays = unit.strays.iter().take(MAX_ERRORS);
    let mut faults: Vec<ReadFault> =
        strays.map(|stray| ReadFault::at(stray.span, stray.why.reason(text, &stray.name))).collect();
    let is_told = |span: Span| {
        let mut strays = unit.strays.iter().take(MAX_ERRORS).map(|stray| stray.span);
        strays.any(|stray| span.start <= stray.start && stray.start < span.end.max(span.start + 1))
    };
    faults.extend(reader.faults.into_iter().filter(|fault| !is_told(fault.span)));
    Err(faults)
}

/// The way from a class of `relax.frontend.nn` to a module.
const OF_A_MODEL: &str = "a model becomes one by its method `export_tvm(..)`, or by an importer such as \
                          `from_exported_program`, and `mod.script(show_meta=True)` prints it";

/// The selected modules of a file with this many statements.
fn meant<'u>(text: &str, file: &'u File, statements: usize, which: Which<'_>) -> ReadResult<Vec<&'u Unit>> {
    let units = &file.units;
    let line = |span: Span| {
        let before = usize::try_from(span.start).ok().and_then(|start| text.get(..start));
        before.map_or(1, |before| before.matches('\n').count() + 1)
    };
    let names = || {
        let names = units.iter().map(|unit| format!("{} (line {})", unit.name, line(unit.span)));
        names.collect::<Vec<String>>().join(", ")
    };
    let (first, second) = (units.first(), units.get(1));
    let Some(first) = first else {
        let what = "expected a module: a class with @I.ir_module, or a function with @R.function";
        let message = format!("{what}; none of the {statements} statements of this Python file is one or holds one");
        let message = if file.has_model { format!("{message}; {OF_A_MODEL}") } else { message };
        return Err(ReadFault::at(Span::NONE, message));
    };
    match (which, second) {
        (Which::All, _) => Ok(units.iter().collect()),
        (Which::Only, None) => Ok(vec![first]),
        (Which::Only, Some(second)) => {
            Err(ReadFault::at(second.span, format!("expected one module, found {}: {}", units.len(), names())))
        }
        (Which::Named(name), _) => {
            let last = |unit: &&Unit| unit.name.rsplit('.').next() == Some(name);
            let whole = units.iter().find(|unit| unit.name == name);
            let parts: Vec<&Unit> = units.iter().filter(last).collect();
            match (whole, parts.as_slice()) {
                (Some(unit), _) => Ok(vec![unit]),
                (None, [unit]) => Ok(vec![*unit]),
                (None, []) => {
                    Err(ReadFault::at(Span::NONE, format!("there is no module `{name}`; there are: {}", names())))
                }
                (None, [_, _, ..]) => Err(ReadFault::at(
                    Span::NONE,
                    format!("`{name}` may be more than one module; there are: {}", names()),
                )),
            }
        }
    }
}

/// TVM prints a function that was made from a lambda under the name `<lambda>`, which Python cannot read. A different
/// name of the same length keeps all positions.
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
fn python(text: &str) -> Result<Readable, Vec<ReadFault>> {
    let fault = |span: Span, message: &str| vec![ReadFault::at(span, message)];
    if u32::try_from(text.len()).is_err() {
        return Err(fault(Span::NONE, "the text is larger than 4 GiB"));
    }
    if let Some(at) = text.find('\0') {
        return Err(fault(at_offset(at), "the text contains a NUL byte"));
    }
    if let Some(at) = guard::too_deep(text) {
        return Err(fault(at_offset(at), &format!("the nesting is deeper than {MAX_NESTING}")));
    }
    broken::statements(text)
}

fn at_offset(at: usize) -> Span {
    let at = u32::try_from(at).unwrap_or(u32::MAX);
    Span::new(at, at)
}

/// The state of reading one module.
pub(super) struct ModuleReader<'t> {
    text: &'t str,
    /// The metadata, if the text has an empty literal in its place.
    apart: Option<&'t str>,
    /// The objects that the text only refers to.
    metadata: Option<Metadata<'t>>,
    /// Names for the module: the class, and variables it was assigned to.
    aliases: FxHashSet<String>,
    /// The functions of the module.
    globals: FxHashSet<String>,
    /// The functions without a class whose symbol differs from their name.
    symbols: FxHashMap<Name, Name>,
    /// The functions of the module whose results are annotated as tuples.
    give_tuples: FxHashSet<Name>,
    /// The functions of the module that are Python functions, and opaque.
    pyfuncs: FxHashSet<String>,
    /// The global functions that the text refers to.
    referred: FxHashSet<Name>,
    scope: Identities,
    /// The virtual devices that the module lists.
    devices: Vec<VDevice>,
    /// The operators met so far, by their names in the text.
    ops: FxHashMap<Name, Name>,
    /// Variables that are shapes according to the text. This determines the meaning of `R.match_shape`.
    shapes: FxHashSet<Var>,
    /// Variables that are annotated as scalars, `n: T.int64`; true for those that are also dimensions.
    scalars: FxHashMap<Var, bool>,
    /// The names that the current function uses as dimensions.
    dim_names: FxHashSet<String>,
    spellings: Spellings,
    /// The annotations of variables, for references such as `x.struct_info`.
    infos: FxHashMap<Var, StructInfo>,
    /// Variables that are bound to literals, which may stand for attributes.
    literals: FxHashMap<Var, AttrValue>,
    /// Variables that are tuples according to the text. Such a variable provides all inputs of an `R.call_tir`.
    tuples: FxHashSet<Var>,
    /// The attributes from `R.func_attr` in the current function.
    function_attrs: Attrs,
    /// The result from `R.func_ret_struct_info` in the current function.
    function_ret: Option<StructInfo>,
    /// The functions without a stated purity.
    silent: Silent,
    depth: usize,
    faults: Vec<ReadFault>,
    /// The rules of the notation that were applied.
    applied: RuleSet,
    uses: RuleUses,
}

/// Which spellings the whole text has. A search takes its time, and most readers of an attribute need none.
#[derive(Default)]
struct Spellings {
    of_scalars: OnceCell<bool>,
    of_the_rfc: OnceCell<bool>,
    to_infos: OnceCell<bool>,
}

/// Spellings that only the RFC and the notes of 2022 have.
const OF_THE_RFC: [&str; 3] = ["R.Tensor[", "R.outputs(", "R.match_shape("];

/// Spellings that refer to the information of a variable.
const TO_INFOS: [&str; 5] = [".struct_info", ".ty", ".shape", ".dtype", "match_shape("];

impl<'t> ModuleReader<'t> {
    fn new(text: &'t str) -> ModuleReader<'t> {
        ModuleReader {
            text,
            apart: None,
            metadata: None,
            aliases: FxHashSet::from_iter(["cls".to_string()]),
            globals: FxHashSet::default(),
            symbols: FxHashMap::default(),
            give_tuples: FxHashSet::default(),
            pyfuncs: FxHashSet::default(),
            referred: FxHashSet::default(),
            scope: Identities::default(),
            devices: Vec::new(),
            ops: FxHashMap::default(),
            shapes: FxHashSet::default(),
            scalars: FxHashMap::default(),
            dim_names: FxHashSet::default(),
            spellings: Spellings::default(),
            infos: FxHashMap::default(),
            literals: FxHashMap::default(),
            tuples: FxHashSet::default(),
            function_attrs: Attrs::new(),
            function_ret: None,
            silent: Silent::default(),
            depth: 0,
            faults: Vec::new(),
            applied: RuleSet::new(),
            uses: Vec::new(),
        }
    }

    /// Whether the text may contain scalar annotations.
    fn may_have_scalars(&self) -> bool {
        *self.spellings.of_scalars.get_or_init(|| self.text.contains("T."))
    }

    /// Whether the text is in the spelling of the RFC, which trusts annotations (C17).
    fn trusts_annotations(&self) -> bool {
        *self.spellings.of_the_rfc.get_or_init(|| OF_THE_RFC.iter().any(|spelling| self.text.contains(spelling)))
    }

    /// Whether the text may refer to the information of a variable.
    fn refers_to_infos(&self) -> bool {
        *self.spellings.to_infos.get_or_init(|| TO_INFOS.iter().any(|spelling| self.text.contains(spelling)))
    }

    /// Records the use of a rule of the notation.
    fn by(&mut self, rule: Rule, span: Span) {
        if !self.applied.contains(rule) {
            self.applied.insert(rule);
            self.uses.push((rule, span));
        }
    }

    fn fault(&mut self, fault: ReadFault) {
        // The missing support for distributed programs is reported once.
        let is_said = fault.message == annotation::DISTRIBUTED
            && self.faults.iter().any(|said| said.message == annotation::DISTRIBUTED);
        if self.faults.len() < MAX_ERRORS && !is_said {
            self.faults.push(fault);
        }
    }

    /// Counts the levels that are not visible in the indentation of the text.
    fn nested<T>(&mut self, span: Span, body: impl FnOnce(&mut Self) -> ReadResult<T>) -> ReadResult<T> {
        if self.depth >= MAX_NESTING {
            return Err(ReadFault::at(span, format!("the nesting is deeper than {MAX_NESTING}")));
        }
        self.depth += 1;
        let result = crate::judge::with_stack(|| body(self));
        self.depth -= 1;
        result
    }
}
