//! A Python file: its modules, and the code around them.

use std::borrow::Cow;

use ruff_python_ast as py;
use rustc_hash::{FxHashMap, FxHashSet};

use super::factory::Calls;
use super::fault::{dotted, span_of, string};
use super::inline::inline;
use super::known::{KnownNames, Unknown};
use super::replace::{Stray, bound, bound_outside, replace};
use crate::grammar::Span;
use crate::judge::with_stack;
use crate::syntax::tvmscript::metadata;

/// A module of a file, not yet read.
pub(super) struct Unit {
    /// The name of the class, prefixed by its enclosing functions and classes; `functions` for functions without a
    /// class.
    pub name: String,
    /// The span of the class, or of the first function.
    pub span: Span,
    /// The class, or the functions.
    pub statements: Vec<py::Stmt>,
    /// The names in them whose meaning the file does not determine.
    pub strays: Vec<Stray>,
    /// The global symbols that functions without a class state.
    symbols: Vec<String>,
}

impl Unit {
    /// Whether a function belongs to another module, because its name or its symbol exists already.
    fn has_another(&self, name: &str, symbol: Option<&str>) -> bool {
        self.statements.iter().any(|other| defines(other, name)) || self.symbols.iter().any(|s| Some(&**s) == symbol)
    }
}

/// The parts of a file.
#[derive(Default)]
pub(super) struct File {
    pub units: Vec<Unit>,
    /// Metadata and type variables.
    pub around: Vec<py::Stmt>,
    /// The first import.
    pub imported: Option<Span>,
    /// The outermost statements that belong to no module, in order.
    pub skipped: Vec<Span>,
    /// Whether a class is a model that Python builds a module from.
    pub has_model: bool,
}

/// The module name of functions without a class.
pub(super) const FUNCTIONS: &str = "functions";

impl File {
    /// Finds the modules among the statements of a file. If there is none, the only class or function counts as one, so
    /// that its error can be reported.
    pub fn of(statements: Vec<py::Stmt>, is_type_var: &dyn Fn(&py::Expr) -> bool) -> File {
        let calls = super::factory::calls_of(&statements);
        let mut walk = FileWalk {
            file: File::default(),
            rest: Vec::new(),
            later: Vec::new(),
            found: Vec::new(),
            is_type_var,
            calls,
            templates: Vec::new(),
        };
        let mut known = KnownNames::default();
        for statement in statements {
            walk.statement(Cow::Owned(statement), &mut known, "");
        }
        walk.later(&known);
        let FileWalk { mut file, rest, mut found, templates, .. } = walk;
        found.sort_unstable();
        let holds_none = |span: &Span| {
            let after = found.partition_point(|start| *start < span.start);
            found.get(after).is_none_or(|start| *start >= span.end)
        };
        file.skipped = rest.iter().map(span_of).filter(holds_none).collect();
        match file.units.is_empty() {
            true => file.units = templates,
            false => file.skipped.extend(templates.iter().map(|unit| unit.span)),
        }
        if file.units.is_empty() {
            file.has_model = rest.iter().any(is_model);
            let mut definitions: Vec<py::Stmt> = rest.into_iter().filter(is_meant).collect();
            if definitions.len() == 1 {
                let (span, statements) = (Span::NONE, definitions.split_off(0));
                let (strays, symbols) = (Vec::new(), Vec::new());
                file.units.push(Unit { name: FUNCTIONS.into(), span, statements, strays, symbols });
            }
            return file;
        }
        file.units.sort_by_key(|unit| unit.span.start);
        file.number_names();
        file
    }

    /// Adds a number to repeated names.
    fn number_names(&mut self) {
        let mut seen: FxHashMap<String, usize> = FxHashMap::default();
        for unit in &mut self.units {
            let count = seen.entry(unit.name.clone()).or_default();
            *count += 1;
            if *count > 1 {
                unit.name = format!("{}#{count}", unit.name);
            }
        }
    }
}

/// Traverses the statements of a file in order.
struct FileWalk<'a> {
    file: File,
    /// The outermost statements outside of modules.
    rest: Vec<py::Stmt>,
    /// Python functions that are not searched yet. They run when everything around them is known.
    later: Vec<(py::StmtFunctionDef, String)>,
    /// The start positions of the classes and functions of modules.
    found: Vec<u32>,
    is_type_var: &'a dyn Fn(&py::Expr) -> bool,
    /// The calls of functions that the file defines.
    calls: Calls,
    /// Modules that depend on parameters of functions that the file never calls.
    templates: Vec<Unit>,
}

impl FileWalk<'_> {
    /// Searches the functions that were postponed to the end of their scope.
    fn later(&mut self, known: &KnownNames) {
        let later = std::mem::take(&mut self.later);
        if later.is_empty() {
            return;
        }
        let outside = known.at_any_time();
        for (def, path) in later {
            let before = self.file.units.len();
            for mut known in self.calls.as_called(&def, &outside) {
                with_stack(|| {
                    self.all(&def.body, &mut known, &inside(&path, def.name.as_str()));
                    self.later(&known);
                });
            }
            if self.calls.has_none(&def) {
                let names: FxHashSet<&str> = def.parameters.iter().map(|parameter| parameter.name().as_str()).collect();
                let depends = |unit: &mut Unit| unit.strays.iter().any(|stray| names.contains(stray.name.as_str()));
                self.templates.extend(self.file.units.extract_if(before.., depends));
            }
        }
    }

    fn all(&mut self, statements: &[py::Stmt], known: &mut KnownNames, path: &str) {
        with_stack(|| {
            for statement in statements {
                self.statement(Cow::Borrowed(statement), known, path);
            }
        });
    }

    fn statement(&mut self, statement: Cow<'_, py::Stmt>, known: &mut KnownNames, path: &str) {
        if statement.is_import_stmt() || statement.is_import_from_stmt() {
            self.file.imported.get_or_insert(span_of(&*statement));
        }
        match &*statement {
            py::Stmt::ClassDef(def) if is_module(&def.decorator_list, known) || has_functions(def, known) => {
                let (name, span) = (inside(path, def.name.as_str()), span_of(&def.name));
                known.forget(def.name.as_str());
                let (class, strays) = self.taken(statement, known);
                self.file.units.push(Unit { name, span, statements: vec![class], strays, symbols: Vec::new() });
            }
            py::Stmt::FunctionDef(def) if in_dialect(&def.decorator_list, known) => {
                let name = def.name.clone();
                self.function(&name, statement, known, path);
            }
            py::Stmt::Import(import) => known.import(import),
            py::Stmt::ImportFrom(import) => known.import_from(import),
            py::Stmt::Pass(_) => {}
            py::Stmt::Expr(e) if e.value.is_string_literal_expr() => {}
            py::Stmt::Assign(assign) if metadata::definition(assign).is_some() || (self.is_type_var)(&assign.value) => {
                bound(std::slice::from_ref(&*statement)).iter().for_each(|name| known.forget(name));
                if path.is_empty() {
                    self.file.around.push(statement.into_owned());
                }
            }
            py::Stmt::Assign(assign) if known.define(&assign.targets.iter().collect::<Vec<_>>(), &assign.value) => {}
            py::Stmt::Assign(py::StmtAssign { targets, value, .. })
                if matches!((targets.as_slice(), &**value), ([py::Expr::Name(_)], py::Expr::Lambda(_))) =>
            {
                if let ([py::Expr::Name(name)], py::Expr::Lambda(lambda)) = (targets.as_slice(), &**value) {
                    known.lose(&bound(std::slice::from_ref(&*statement)), Unknown::NoLiteral(span_of(name)));
                    known.give_map(name.id.as_str(), lambda);
                }
            }
            py::Stmt::AnnAssign(py::StmtAnnAssign { target, value: Some(value), .. })
                if known.define(&[target], value) => {}
            py::Stmt::AugAssign(assign) if known.augment(assign) => {}
            py::Stmt::If(choice) if known.chosen(choice).is_some() => {
                self.inner(&statement, known, path);
                let chosen = known.chosen(choice).unwrap_or_default().to_vec();
                chosen.iter().for_each(|statement| settle(statement, known));
                self.beside(statement, path);
            }
            py::Stmt::FunctionDef(def) => {
                self.python_function(def, &statement, known, path);
                self.beside(statement, path);
            }
            _ => self.unknown_statement(statement, known, path),
        }
    }

    /// A statement whose effect on the names is not known.
    fn unknown_statement(&mut self, statement: Cow<'_, py::Stmt>, known: &mut KnownNames, path: &str) {
        self.inner(&statement, known, path);
        let mut names = bound(std::slice::from_ref(&*statement));
        names.extend(bound_outside(&statement));
        known.lose(&names, Unknown::NoLiteral(span_of(&*statement)));
        if let py::Stmt::ClassDef(class) = &*statement
            && let Some(attributes) = known.record(class)
        {
            known.give(class.name.as_str(), attributes);
        }
        self.beside(statement, path);
    }

    /// A function of a module whose functions stand alone.
    fn function(&mut self, own: &py::Identifier, statement: Cow<'_, py::Stmt>, known: &mut KnownNames, path: &str) {
        known.forget(own.as_str());
        let (name, span) = (inside(path, FUNCTIONS), span_of(own));
        let (function, mut strays) = self.taken(statement, known);
        let symbol = stated_symbol(&function).map(str::to_string);
        // A function with an existing name or symbol begins another module.
        let with = self.file.units.iter_mut().rev().find(|unit| unit.name == name);
        match with.filter(|unit| !unit.has_another(own.as_str(), symbol.as_deref())) {
            Some(unit) => {
                unit.statements.push(function);
                unit.strays.append(&mut strays);
                unit.symbols.extend(symbol);
            }
            None => {
                let (statements, symbols) = (vec![function], symbol.into_iter().collect());
                self.file.units.push(Unit { name, span, statements, strays, symbols });
            }
        }
    }

    /// A function of Python, which may be called where it is known, and may make modules.
    fn python_function(&mut self, def: &py::StmtFunctionDef, statement: &py::Stmt, known: &mut KnownNames, path: &str) {
        known.lose(&bound_outside(statement), Unknown::NoLiteral(span_of(&def.name)));
        known.lose(&bound(std::slice::from_ref(statement)), Unknown::NoLiteral(span_of(&def.name)));
        if let Some(lambda) = super::factory::as_lambda(def) {
            known.give_map(def.name.as_str(), &lambda);
        }
        self.later.push((def.clone(), path.to_string()));
    }

    /// A part of a module, with its unknown names.
    fn taken(&mut self, statement: Cow<'_, py::Stmt>, known: &KnownNames) -> (py::Stmt, Vec<Stray>) {
        let mut statement = statement.into_owned();
        self.found.push(span_of(&statement).start);
        let strays = replace(&mut statement, known);
        inline(&mut statement);
        (statement, strays)
    }

    /// Records a statement that belongs to no module. It may be needed for an error message if there is none.
    fn beside(&mut self, statement: Cow<'_, py::Stmt>, path: &str) {
        if let (true, Cow::Owned(statement)) = (path.is_empty(), statement) {
            self.rest.push(statement);
        }
    }

    /// The modules inside a statement.
    fn inner(&mut self, statement: &py::Stmt, known: &KnownNames, path: &str) {
        let mut known = known.clone();
        let here = if path.is_empty() { "." } else { path };
        match statement {
            py::Stmt::ClassDef(def) => self.all(&def.body, &mut known, &inside(path, def.name.as_str())),
            py::Stmt::If(choice) => {
                self.all(&choice.body, &mut known.clone(), here);
                choice.elif_else_clauses.iter().for_each(|clause| self.all(&clause.body, &mut known.clone(), here));
            }
            py::Stmt::With(with) => self.all(&with.body, &mut known, here),
            py::Stmt::Try(attempt) => {
                self.all(&attempt.body, &mut known, here);
                for py::ExceptHandler::ExceptHandler(handler) in &attempt.handlers {
                    self.all(&handler.body, &mut known.clone(), here);
                }
                self.all(&attempt.orelse, &mut known, here);
                self.all(&attempt.finalbody, &mut known, here);
            }
            py::Stmt::For(each) if !known.rounds(each).is_empty() => {
                for mut known in known.rounds(each) {
                    self.all(&each.body, &mut known, here);
                }
            }
            py::Stmt::For(py::StmtFor { body, .. }) | py::Stmt::While(py::StmtWhile { body, .. }) => {
                known.lose(&bound(std::slice::from_ref(statement)), Unknown::NoLiteral(span_of(statement)));
                self.all(body, &mut known, here);
            }
            _ => {}
        }
    }
}

/// Takes the names that a statement binds into account, where it only runs as part of another.
fn settle(statement: &py::Stmt, known: &mut KnownNames) {
    let defined = match statement {
        py::Stmt::Assign(assign) => known.define(&assign.targets.iter().collect::<Vec<_>>(), &assign.value),
        py::Stmt::AnnAssign(py::StmtAnnAssign { target, value: Some(value), .. }) => known.define(&[target], value),
        py::Stmt::AugAssign(assign) => known.augment(assign),
        _ => false,
    };
    if !defined {
        known.lose(&bound(std::slice::from_ref(statement)), Unknown::NoLiteral(span_of(statement)));
    }
}

/// Whether a statement defines a function of this name.
fn defines(statement: &py::Stmt, name: &str) -> bool {
    matches!(statement, py::Stmt::FunctionDef(def) if def.name.as_str() == name)
}

/// The qualified name of a definition in a function or a class.
fn inside(path: &str, name: &str) -> String {
    match path.trim_start_matches('.') {
        "" => name.to_string(),
        path => format!("{path}.{name}"),
    }
}

/// Whether a class or function may be a module without its decorator. A derived class is ordinary Python.
fn is_meant(statement: &py::Stmt) -> bool {
    match statement {
        py::Stmt::ClassDef(def) => def.arguments.as_ref().is_none_or(|bases| bases.args.is_empty()),
        other => other.is_function_def_stmt(),
    }
}

/// Whether it is a class that Python builds a module from: `class Model(nn.Module)`.
fn is_model(statement: &py::Stmt) -> bool {
    let py::Stmt::ClassDef(def) = statement else { return false };
    let bases = def.arguments.iter().flat_map(|arguments| &arguments.args);
    bases.filter_map(dotted).any(|words| words.last() == Some(&"Module"))
}

/// Whether a class is a module by its decorators.
fn is_module(decorators: &[py::Decorator], known: &KnownNames) -> bool {
    paths(decorators, known)
        .any(|path| matches!(path.rsplit('.').next(), Some("ir_module" | "rewriter")) || is_dialect(&path))
}

/// Whether a class would be a module if it had the decorator. The reader reports that it has none.
fn has_functions(class: &py::StmtClassDef, known: &KnownNames) -> bool {
    let is_one =
        |member: &py::Stmt| matches!(member, py::Stmt::FunctionDef(def) if in_dialect(&def.decorator_list, known));
    class.body.iter().any(is_one)
}

/// Whether a function belongs to a dialect by its decorators, whatever their arguments. Macros and Python functions do
/// not.
fn in_dialect(decorators: &[py::Decorator], known: &KnownNames) -> bool {
    let other = |path: &str| matches!(path.rsplit('.').next(), Some("macro" | "inline" | "pyfunc"));
    paths(decorators, known).any(|path| is_dialect(&path) && !other(&path))
}

/// Whether a path is a name of a dialect. Deeper paths, such as `relax.transform.function_pass`, belong to Python's
/// library.
fn is_dialect(path: &str) -> bool {
    let words: Vec<&str> = path.split('.').collect();
    match words.as_slice() {
        ["R" | "relax" | "T" | "tir" | "tirx" | "I", word] => !word.starts_with("register"),
        ["T" | "tir" | "tirx", "func", _] => true,
        _ => path.starts_with("tvm.script."),
    }
}

/// The global symbol that a function states: `R.func_attr({"global_symbol": "main"})`.
pub(super) fn stated_symbol(statement: &py::Stmt) -> Option<&str> {
    let py::Stmt::FunctionDef(def) = statement else { return None };
    let stated = def.body.iter().find_map(|statement| {
        let py::Expr::Call(call) = &*statement.as_expr_stmt()?.value else { return None };
        let is_attr = dotted(&call.func).is_some_and(|words| words.last() == Some(&"func_attr"));
        call.arguments.args.first().filter(|_| is_attr)?.as_dict_expr()
    })?;
    let is_symbol = |item: &&py::DictItem| item.key.as_ref().and_then(string) == Some("global_symbol");
    stated.items.iter().find(is_symbol).and_then(|item| string(&item.value))
}

/// The names of decorators, translated to the dialects if they are imported from them.
fn paths<'a>(decorators: &'a [py::Decorator], known: &'a KnownNames) -> impl Iterator<Item = String> + 'a {
    decorators.iter().filter_map(|decorator| {
        let e = match &decorator.expression {
            py::Expr::Call(call) => &*call.func,
            other => other,
        };
        known.in_dialect(e, &FxHashSet::default()).or_else(|| Some(dotted(e)?.join(".")))
    })
}
