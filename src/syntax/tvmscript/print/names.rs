//! Identities become names: distinct variables of a function, including shape variables, get distinct names.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::grammar::visit::{Visitor, walk_block};
use crate::grammar::{Binding, BindingBlock, Function, Name, PrimExpr, ShapeVar, Var, VarKind};

/// Names with another meaning in TVMScript.
const RESERVED: [&str; 9] = ["R", "T", "I", "cls", "Module", "relax", "tir", "tirx", "metadata"];

/// The keywords of Python, and `float`, which is used to spell infinities. Sorted.
const KEYWORDS: [&str; 36] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "float", "for", "from", "global", "if", "import", "in", "is", "lambda",
    "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// The name of an unused variable.
const BLANK: &str = "_";

/// The variables called `_` that a function uses.
#[derive(Default)]
struct UsedBlanks(FxHashSet<Var>);

impl Visitor for UsedBlanks {
    fn visit_var(&mut self, var: &Var, _: VarKind) {
        if &*var.name == BLANK {
            self.0.insert(var.clone());
        }
    }

    /// The outputs of a block are named at its end.
    fn visit_dataflow_block(&mut self, block: &BindingBlock) {
        let given = block.bindings.iter().filter_map(Binding::binder).filter(|binder| binder.kind == VarKind::Var);
        given.for_each(|binder| self.visit_var(&binder.var, VarKind::Var));
        walk_block(self, block);
    }
}

/// The names of one global function.
#[derive(Default)]
pub(super) struct PrintedNames<'f> {
    /// The function, if it is a whole one.
    function: Option<&'f Function>,
    used: FxHashSet<Name>,
    vars: FxHashMap<Var, Name>,
    dims: FxHashMap<ShapeVar, Name>,
    /// The shape variables, in the order of their first appearance.
    order: Vec<Name>,
    /// The shape variables that are also scalars, and have their names.
    scalars: FxHashSet<ShapeVar>,
    /// The variables called `_` that are used, and so need distinct names; found when the first one is printed.
    used_blanks: Option<UsedBlanks>,
    /// For each base name, the next suffix to try.
    next: FxHashMap<Name, u32>,
}

impl<'f> PrintedNames<'f> {
    /// The names of this function.
    pub fn of(function: &'f Function) -> PrintedNames<'f> {
        PrintedNames { function: Some(function), ..PrintedNames::default() }
    }

    pub fn var(&mut self, var: &Var) -> Name {
        if let Some(name) = self.vars.get(var) {
            return name.clone();
        }
        if &*var.name == BLANK && !self.uses_blank(var) {
            return var.name.clone();
        }
        let name = self.unique(&var.name);
        self.vars.insert(var.clone(), name.clone());
        name
    }

    /// Whether a variable called `_` is used, and so needs a distinct name.
    fn uses_blank(&mut self, var: &Var) -> bool {
        let used = self.used_blanks.get_or_insert_with(|| {
            let mut used = UsedBlanks::default();
            self.function.iter().for_each(|function| used.visit_function(function));
            used
        });
        used.0.contains(var)
    }

    /// Like [`PrintedNames::var`], but never `_`, which would not bind a variable there.
    pub fn var_not_blank(&mut self, var: &Var) -> Name {
        if &*var.name == BLANK && !self.vars.contains_key(var) {
            let name = self.unique(&"_match".into());
            self.vars.insert(var.clone(), name);
        }
        self.var(var)
    }

    pub fn dim(&mut self, dim: &ShapeVar) -> Name {
        if let Some(name) = self.dims.get(dim) {
            return name.clone();
        }
        let name = self.unique(&dim.name);
        self.dims.insert(dim.clone(), name.clone());
        self.order.push(name.clone());
        name
    }

    /// The name of a scalar that is also a dimension: one name for both.
    pub fn scalar(&mut self, var: &Var, dim: &ShapeVar) -> Name {
        let name = match self.dims.get(dim) {
            Some(known) => {
                let known = known.clone();
                self.vars.insert(var.clone(), known.clone());
                known
            }
            None => self.var(var),
        };
        self.order.retain(|other| *other != name);
        self.dims.insert(dim.clone(), name.clone());
        self.scalars.insert(dim.clone());
        name
    }

    /// Whether a shape variable is also a scalar.
    pub fn is_scalar(&self, dim: &ShapeVar) -> bool {
        self.scalars.contains(dim)
    }

    /// Whether a shape variable has a name already.
    pub fn knows(&self, dim: &ShapeVar) -> bool {
        self.dims.contains_key(dim)
    }

    /// Whether a dimension contains only scalars, so that their names are known already.
    pub fn is_of_scalars(&self, dim: &PrimExpr) -> bool {
        let mut all = true;
        dim.for_each_var(|var| all &= self.scalars.contains(var));
        all
    }

    /// A name that no variable has.
    pub fn unique(&mut self, base: &Name) -> Name {
        let base = if is_name(base) { base.clone() } else { identifier(base).into() };
        if self.used.insert(base.clone()) {
            return base;
        }
        let next = self.next.entry(base.clone()).or_insert(1);
        loop {
            let name: Name = format!("{base}_{next}").into();
            *next += 1;
            if self.used.insert(name.clone()) {
                return name;
            }
        }
    }

    /// The shape variables of the function.
    pub fn dims_in_order(&self) -> &[Name] {
        &self.order
    }
}

/// The name itself if Python accepts it as a variable name, or a similar one.
pub(super) fn identifier(name: &str) -> String {
    let mut text: String = name.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if text.is_empty() || text.starts_with(|c: char| !(c.is_alphabetic() || c == '_')) {
        text.insert(0, 'v');
    }
    if RESERVED.contains(&text.as_str()) || is_keyword(&text) {
        text.push('_');
    }
    text
}

/// Whether a word can be written before `=` in a call.
pub(super) fn is_identifier(word: &str) -> bool {
    word.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
        && word.bytes().next().is_some_and(|c| !c.is_ascii_digit())
        && !is_keyword(word)
}

/// Whether it can be written as the name of a variable.
fn is_name(word: &str) -> bool {
    is_identifier(word) && !RESERVED.contains(&word)
}

fn is_keyword(word: &str) -> bool {
    // Most names end with a number, and no keyword does.
    word.ends_with(|c: char| c.is_ascii_alphabetic()) && KEYWORDS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_if_python_takes_them() {
        assert!(KEYWORDS.is_sorted());
        for name in ["lv0", "_", "_x", "R", "lambda", "float", "x.y", "0", "", "größe"] {
            assert!(!is_name(name) || identifier(name) == name, "{name}");
        }
        assert!(is_name("lv0") && !is_name("R") && !is_name("yield") && !is_name("False"));
    }
}
