//! The known names of a Python file: constants, and imports under other names.

use ruff_python_ast as py;
use rustc_hash::{FxHashMap, FxHashSet};

use super::computed::{Locals, computed};
use super::fault::{dotted, span_of};
use super::static_value::{StaticValue, binary};
use crate::grammar::Span;
use crate::judge::with_stack;

/// The names with a known meaning.
#[derive(Clone, Default)]
pub(super) struct KnownNames {
    constants: FxHashMap<String, StaticValue>,
    /// Functions of Python that are maps of indices.
    maps: FxHashMap<String, py::ExprLambda>,
    /// `rx` for `tvm.script.relax`.
    imports: FxHashMap<String, String>,
    /// Names that the file binds to unknown values.
    unknown: FxHashMap<String, Unknown>,
    /// Names that are bound more than once, each with its last position.
    several: FxHashMap<String, Span>,
}

/// The reason why the meaning of a name is unknown, with the position of its binding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unknown {
    /// It is bound to a call, by a loop, as a parameter, ..
    NoLiteral(Span),
    /// It comes from another file.
    Imported(Span),
    /// It is bound several times. A function of the file may run before or after any of the bindings.
    Several(Span),
}

/// The names in the dialects for paths of TVM.
const DIALECTS: [(&str, &str); 14] = [
    ("tvm.script.ir_module", "I.ir_module"),
    ("tvm.script.parser.ir_module", "I.ir_module"),
    ("tvm.script.relax", "R"),
    ("tvm.script.parser.relax", "R"),
    ("tvm.script.tir", "T"),
    ("tvm.script.tirx", "T"),
    ("tvm.script.parser.tir", "T"),
    ("tvm.script.parser.tirx", "T"),
    ("tvm.script.ir", "I"),
    ("tvm.script.parser.ir", "I"),
    ("tvm.tir", "T"),
    ("tvm.tirx", "T"),
    // The operators by their Python names.
    ("tvm.relax.op", "R.op"),
    ("tvm.relax", "relax"),
];

impl KnownNames {
    /// Whether no name is bound.
    pub fn is_empty(&self) -> bool {
        let KnownNames { constants, maps, imports, unknown, several: _ } = self;
        constants.is_empty() && maps.is_empty() && imports.is_empty() && unknown.is_empty()
    }

    /// Forgets a name, because it now has a meaning that readers know.
    pub fn forget(&mut self, name: &str) {
        self.constants.remove(name);
        self.maps.remove(name);
        self.imports.remove(name);
        self.unknown.remove(name);
    }

    /// Marks names as unknown, because they now have another meaning.
    pub fn lose<'n>(&mut self, names: impl IntoIterator<Item = &'n String>, why: Unknown) {
        for name in names {
            self.again(name, why.span());
            self.forget(name);
            self.unknown.insert(name.clone(), why);
        }
    }

    /// Records a binding of a name, which may not be the first.
    fn again(&mut self, name: &str, span: Span) {
        if self.constants.contains_key(name) || self.unknown.contains_key(name) {
            self.several.insert(name.to_string(), span);
        }
    }

    /// The names that are known at any call of a function of the file: all that are bound once.
    pub fn at_any_time(&self) -> KnownNames {
        let mut known = self.clone();
        let several: Vec<(String, Span)> = known.several.drain().collect();
        for (name, span) in several {
            known.forget(&name);
            known.unknown.insert(name, Unknown::Several(span));
        }
        known
    }

    /// `import tvm.script.relax as rx`, `import tvm`.
    pub fn import(&mut self, import: &py::StmtImport) {
        for alias in &import.names {
            let path = alias.name.as_str();
            match &alias.asname {
                Some(name) => self.bring(name.as_str(), path),
                None => {
                    let root = path.split('.').next().unwrap_or(path);
                    self.bring(root, root);
                }
            }
        }
    }

    /// `from tvm.script import relax as rx`.
    pub fn import_from(&mut self, import: &py::StmtImportFrom) {
        let module = import.module.as_ref().map(|module| module.as_str()).unwrap_or_default();
        for alias in &import.names {
            let name = alias.asname.as_ref().unwrap_or(&alias.name);
            self.bring(name.as_str(), &format!("{module}.{}", alias.name.as_str()));
            if module.split('.').next() != Some("tvm") && name.as_str() != "TypeVar" {
                self.unknown.insert(name.to_string(), Unknown::Imported(span_of(alias)));
            }
        }
    }

    fn bring(&mut self, name: &str, path: &str) {
        self.forget(name);
        // Imports that readers know anyway, or do not need.
        let same = matches!(
            (name, path),
            ("R" | "relax", "tvm.script.relax") | ("T" | "tir", "tvm.script.tir") | ("I", "tvm.script.ir")
        );
        if matches!(path.split('.').next(), Some("tvm" | "math" | "numpy" | "types")) && !same {
            self.imports.insert(name.to_string(), path.to_string());
        }
    }

    /// Sets a parameter of a function to the value in a call.
    pub fn give(&mut self, name: &str, value: StaticValue) {
        self.forget(name);
        self.constants.insert(name.to_string(), value);
    }

    /// A name for a map of indices, of which nothing else is known.
    pub fn give_map(&mut self, name: &str, map: &py::ExprLambda) {
        self.maps.insert(name.to_string(), map.clone());
    }

    /// The map of indices that a name stands for.
    pub fn map(&self, name: &str, shadowed: &FxHashSet<String>) -> Option<&py::ExprLambda> {
        self.maps.get(name).filter(|_| !shadowed.contains(name))
    }

    /// `N = 4 * 16`, `H, W = 3, 4`, `N: int = 4`. Returns whether the meaning of these names is now known.
    pub fn define(&mut self, targets: &[&py::Expr], value: &py::Expr) -> bool {
        let Some((value, _)) = self.value(value, &FxHashSet::default()) else { return false };
        self.set(targets, &value)
    }

    /// `N += 1`.
    pub fn augment(&mut self, assign: &py::StmtAugAssign) -> bool {
        let known = |e| self.value(e, &FxHashSet::default()).map(|(value, _)| value);
        let (Some(left), Some(right)) = (known(&assign.target), known(&assign.value)) else { return false };
        binary(assign.op, left, right).is_some_and(|value| self.set(&[&assign.target], &value))
    }

    fn set(&mut self, targets: &[&py::Expr], value: &StaticValue) -> bool {
        let mut named = Vec::new();
        if !targets.iter().all(|target| destructure(target, value, &mut named)) {
            return false;
        }
        for (name, span, value) in named {
            if self.constants.get(&name) != Some(&value) {
                self.again(&name, span);
            }
            self.forget(&name);
            self.constants.insert(name, value);
        }
        true
    }

    /// The reason why the meaning of a name is unknown, although the file binds it.
    pub fn unknown(&self, name: &str) -> Option<Unknown> {
        self.unknown.get(name).copied()
    }

    /// The dialect's name for an imported name: `rx.function` is `R.function`.
    pub fn in_dialect(&self, e: &py::Expr, shadowed: &FxHashSet<String>) -> Option<String> {
        let words = dotted(e)?;
        let (root, rest) = words.split_first()?;
        let path = self.imports.get(*root).filter(|_| !shadowed.contains(*root))?;
        let path = rest.iter().fold(path.clone(), |path, word| path + "." + word);
        DIALECTS.iter().find_map(|(prefix, name)| match path.strip_prefix(prefix)? {
            "" => Some((*name).to_string()),
            rest if rest.starts_with('.') => Some(format!("{name}{rest}")),
            _ => None,
        })
    }

    /// The value of a constant.
    pub fn constant(&self, name: &str) -> Option<&StaticValue> {
        self.constants.get(name)
    }

    /// The path of an imported name. A name that the file does not bind is Python's own. NumPy's usual name is known
    /// without its import.
    pub fn imported(&self, name: &str) -> Option<String> {
        if let Some(path) = self.imports.get(name) {
            return Some(path.clone());
        }
        let is_bound =
            self.constants.contains_key(name) || self.maps.contains_key(name) || self.unknown.contains_key(name);
        let path = if name == "np" { "numpy" } else { name };
        (!is_bound).then(|| path.to_string())
    }

    /// The value of an expression that the text determines, with whether it needs more than literals.
    pub fn value(&self, e: &py::Expr, shadowed: &FxHashSet<String>) -> Option<(StaticValue, bool)> {
        computed(self, e, shadowed, Locals::default())
    }

    /// The value of an expression where these names have values of their own.
    pub fn value_with(&self, e: &py::Expr, locals: &Locals) -> Option<StaticValue> {
        computed(self, e, &FxHashSet::default(), locals.clone()).map(|(value, _)| value)
    }

    /// The attributes of a class that has nothing else but methods.
    pub fn record(&self, class: &py::StmtClassDef) -> Option<StaticValue> {
        let is_plain = class.arguments.as_ref().is_none_or(|bases| bases.args.is_empty() && bases.keywords.is_empty());
        let is_dataclass = |decorator: &py::Decorator| {
            let e = decorator.expression.as_call_expr().map_or(&decorator.expression, |call| &*call.func);
            dotted(e).is_some_and(|words| words.last() == Some(&"dataclass"))
        };
        if !is_plain || !class.decorator_list.iter().all(is_dataclass) {
            return None;
        }
        let mut fields = Locals::default();
        for statement in &class.body {
            match statement {
                py::Stmt::Assign(py::StmtAssign { targets, value, .. }) => {
                    let [py::Expr::Name(name)] = targets.as_slice() else { return None };
                    fields.insert(name.id.to_string(), self.value_with(value, &fields)?);
                }
                py::Stmt::AnnAssign(py::StmtAnnAssign { target, value: Some(value), .. }) => {
                    let py::Expr::Name(name) = &**target else { return None };
                    fields.insert(name.id.to_string(), self.value_with(value, &fields)?);
                }
                py::Stmt::AnnAssign(_) | py::Stmt::Pass(_) => {}
                py::Stmt::Expr(e) if e.value.is_string_literal_expr() => {}
                py::Stmt::FunctionDef(method) if !method.name.as_str().starts_with("__") => {}
                _ => return None,
            }
        }
        Some(StaticValue::Record(fields.into_iter().collect()))
    }

    /// The names in each round of a loop through few known values; none if it is another loop.
    pub fn rounds(&self, each: &py::StmtFor) -> Vec<KnownNames> {
        const MAX_ROUNDS: usize = 16;
        let items = self.value_with(&each.iter, &Locals::default()).and_then(|value| value.items()).unwrap_or_default();
        if items.len() > MAX_ROUNDS {
            return Vec::new();
        }
        let with = |value: &StaticValue| {
            let (mut known, mut named) = (self.clone(), Vec::new());
            let fits = destructure(&each.target, value, &mut named);
            named.into_iter().for_each(|(name, _, value)| known.give(&name, value));
            fits.then_some(known)
        };
        items.iter().map(with).collect::<Option<Vec<_>>>().unwrap_or_default()
    }

    /// The branch that runs, if the tests are known.
    pub fn chosen<'s>(&self, choice: &'s py::StmtIf) -> Option<&'s [py::Stmt]> {
        let holds = |test: &py::Expr| self.value_with(test, &Locals::default())?.truth();
        if holds(&choice.test)? {
            return Some(&choice.body);
        }
        for clause in &choice.elif_else_clauses {
            if clause.test.as_ref().map_or(Some(true), holds)? {
                return Some(&clause.body);
            }
        }
        Some(&[])
    }
}

impl Unknown {
    /// The position of the binding.
    fn span(self) -> Span {
        match self {
            Unknown::NoLiteral(span) | Unknown::Imported(span) | Unknown::Several(span) => span,
        }
    }

    /// The reason, in words.
    pub fn reason(self, text: &str, name: &str) -> String {
        let start = usize::try_from(self.span().start).unwrap_or(usize::MAX);
        let line = text.get(..start).map_or(0, |before| before.matches('\n').count()) + 1;
        match self {
            Unknown::NoLiteral(_) => format!(
                "`{name}` is not known: line {line} binds it outside of the module to what is not computed from literals"
            ),
            Unknown::Imported(_) => {
                format!("`{name}` is not known: line {line} imports it, and no other file is read")
            }
            Unknown::Several(_) => format!(
                "`{name}` is not known: line {line} binds it anew, and the function around the module may run before or after it"
            ),
        }
    }
}

/// The names of a target, each with its part of the value.
pub(super) fn destructure(
    target: &py::Expr,
    value: &StaticValue,
    named: &mut Vec<(String, Span, StaticValue)>,
) -> bool {
    match (target, value) {
        (py::Expr::Name(name), value) => {
            named.push((name.id.to_string(), span_of(name), value.clone()));
            true
        }
        (
            py::Expr::Tuple(py::ExprTuple { elts, .. }) | py::Expr::List(py::ExprList { elts, .. }),
            StaticValue::Tuple(values) | StaticValue::List(values) | StaticValue::Range(values),
        ) => {
            elts.len() == values.len()
                && elts.iter().zip(values).all(|(target, value)| with_stack(|| destructure(target, value, named)))
        }
        _ => false,
    }
}
