//! Replaces names by their meaning in the code around a module, before the module is read.

use std::cell::RefCell;

use ruff_python_ast as py;
use ruff_python_ast::visitor::transformer::{Transformer, walk_expr, walk_stmt};
use ruff_python_ast::visitor::{self, Visitor};
use ruff_text_size::Ranged;
use rustc_hash::FxHashSet;

use super::fault::span_of;
use super::known::{KnownNames, Unknown};
use super::static_value::name;
use crate::grammar::Span;
use crate::judge::with_stack;

/// A use of a name whose meaning the file does not determine.
#[derive(Clone, Debug)]
pub(super) struct Stray {
    pub name: String,
    pub span: Span,
    pub why: Unknown,
}

/// Replaces constants and imported names in a definition, and returns the names that cannot be replaced.
pub(super) fn replace(statement: &mut py::Stmt, known: &KnownNames) -> Vec<Stray> {
    let strays = RefCell::default();
    if !known.is_empty() {
        Replacer { known, shadowed: FxHashSet::default(), strays: &strays }.visit_stmt(statement);
    }
    strays.into_inner()
}

/// The names that statements bind.
pub(super) fn bound(statements: &[py::Stmt]) -> FxHashSet<String> {
    let mut names = BoundNames::default();
    statements.iter().for_each(|statement| names.visit_stmt(statement));
    names.0
}

/// The names that a function binds, including its parameters.
pub(super) fn bound_in(def: &py::StmtFunctionDef) -> FxHashSet<String> {
    let mut names = bound(&def.body);
    names.extend(def.parameters.iter().map(|parameter| parameter.name().to_string()));
    names
}

/// The names that functions bind outside of themselves: `global N`, `nonlocal N`.
pub(super) fn bound_outside(statement: &py::Stmt) -> FxHashSet<String> {
    let mut names = OuterNames::default();
    names.visit_stmt(statement);
    names.0
}

#[derive(Default)]
struct OuterNames(FxHashSet<String>);

impl<'a> Visitor<'a> for OuterNames {
    fn visit_stmt(&mut self, statement: &'a py::Stmt) {
        match statement {
            py::Stmt::Global(py::StmtGlobal { names, .. }) | py::Stmt::Nonlocal(py::StmtNonlocal { names, .. }) => {
                self.0.extend(names.iter().map(ToString::to_string));
            }
            other => with_stack(|| visitor::walk_stmt(self, other)),
        }
    }

    fn visit_expr(&mut self, _: &'a py::Expr) {}
}

#[derive(Default)]
struct BoundNames(FxHashSet<String>);

impl<'a> Visitor<'a> for BoundNames {
    fn visit_stmt(&mut self, statement: &'a py::Stmt) {
        match statement {
            // Inner bindings belong to the inner function.
            py::Stmt::FunctionDef(def) => {
                self.0.insert(def.name.to_string());
            }
            py::Stmt::ClassDef(def) => {
                self.0.insert(def.name.to_string());
            }
            py::Stmt::Import(import) => {
                for alias in &import.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
                    self.0.extend(name.split('.').next().map(str::to_string));
                }
            }
            py::Stmt::ImportFrom(import) => {
                self.0
                    .extend(import.names.iter().map(|alias| alias.asname.as_ref().unwrap_or(&alias.name).to_string()));
            }
            other => with_stack(|| visitor::walk_stmt(self, other)),
        }
    }

    fn visit_expr(&mut self, e: &'a py::Expr) {
        match e {
            py::Expr::Name(name) if !name.ctx.is_load() => {
                self.0.insert(name.id.to_string());
            }
            // Its names are local.
            py::Expr::Lambda(_) => {}
            other => with_stack(|| visitor::walk_expr(self, other)),
        }
    }
}

struct Replacer<'k> {
    known: &'k KnownNames,
    /// Names with a different meaning here.
    shadowed: FxHashSet<String>,
    strays: &'k RefCell<Vec<Stray>>,
}

impl Replacer<'_> {
    fn within(&self, names: &FxHashSet<String>) -> Replacer<'_> {
        Replacer { known: self.known, shadowed: &self.shadowed | names, strays: self.strays }
    }

    /// The replacement of an expression.
    fn meaning(&self, e: &py::Expr) -> Option<py::Expr> {
        match e {
            py::Expr::Attribute(_) => match self.known.in_dialect(e, &self.shadowed) {
                Some(path) => Some(name(&path, e.range())),
                None => self.constant(e),
            },
            py::Expr::Name(word) if !word.ctx.is_load() => None,
            py::Expr::Name(_) => match self.known.in_dialect(e, &self.shadowed) {
                Some(path) => Some(name(&path, e.range())),
                None => self.constant(e).or_else(|| self.map(e)),
            },
            py::Expr::UnaryOp(_)
            | py::Expr::BinOp(_)
            | py::Expr::Subscript(_)
            | py::Expr::Call(_)
            | py::Expr::FString(_)
            | py::Expr::If(_) => self.constant(e),
            _ => None,
        }
    }

    /// The map of indices that a name stands for.
    fn map(&self, e: &py::Expr) -> Option<py::Expr> {
        let py::Expr::Name(word) = e else { return None };
        self.known.map(word.id.as_str(), &self.shadowed).map(|map| py::Expr::Lambda(map.clone()))
    }

    /// A single literal stays as it is written.
    fn constant(&self, e: &py::Expr) -> Option<py::Expr> {
        let (value, used) = self.known.value(e, &self.shadowed)?;
        if used { value.literal(e.range()) } else { None }
    }

    /// Replaces `*SHAPE` by its members.
    fn spread(&self, items: &mut Vec<py::Expr>) {
        let members = |item: &py::Expr| {
            let py::Expr::Starred(starred) = item else { return None };
            let value = self.known.value(&starred.value, &self.shadowed)?.0;
            value.members()?.iter().map(|member| member.literal(item.range())).collect::<Option<Vec<py::Expr>>>()
        };
        if items.iter().any(py::Expr::is_starred_expr) {
            let taken = std::mem::take(items);
            items.extend(taken.into_iter().flat_map(|item| members(&item).unwrap_or_else(|| vec![item])));
        }
    }

    /// Records the use of a name that the file binds to an unknown value.
    fn stray(&self, word: &py::ExprName) {
        let name = word.id.as_str();
        if !word.ctx.is_load() || self.shadowed.contains(name) {
            return;
        }
        if let Some(why) = self.known.unknown(name) {
            self.strays.borrow_mut().push(Stray { name: name.to_string(), span: span_of(word), why });
        }
    }

    /// The part before a member or a call. An import may be a library of operators, which readers know by their full
    /// names.
    fn prefix(&self, e: &mut py::Expr) {
        match e {
            py::Expr::Name(word) if matches!(self.known.unknown(word.id.as_str()), Some(Unknown::Imported(_))) => {}
            other => self.visit_expr(other),
        }
    }

    /// A function. Its signature is read in the outer scope, and its body with its own names.
    fn function(&self, def: &mut py::StmtFunctionDef) {
        self.decorators(&mut def.decorator_list);
        self.visit_parameters(&mut def.parameters);
        if let Some(returns) = &mut def.returns {
            self.visit_annotation(returns);
        }
        self.within(&bound_in(def)).visit_body(&mut def.body);
    }

    /// Replaces constants in decorators. Other parts are left to Python.
    fn decorators(&self, decorators: &mut [py::Decorator]) {
        let strays = RefCell::default();
        let replacer = Replacer { known: self.known, shadowed: self.shadowed.clone(), strays: &strays };
        decorators.iter_mut().for_each(|decorator| replacer.visit_decorator(decorator));
    }
}

impl Transformer for Replacer<'_> {
    fn visit_stmt(&self, statement: &mut py::Stmt) {
        with_stack(|| match statement {
            py::Stmt::FunctionDef(def) => self.function(def),
            py::Stmt::ClassDef(def) => {
                self.decorators(&mut def.decorator_list);
                self.within(&bound(&def.body)).visit_body(&mut def.body);
            }
            other => walk_stmt(self, other),
        });
    }

    fn visit_expr(&self, e: &mut py::Expr) {
        if let Some(meaning) = self.meaning(e) {
            *e = meaning;
            return;
        }
        with_stack(|| match e {
            py::Expr::Name(word) => self.stray(word),
            py::Expr::Attribute(attribute) => self.prefix(&mut attribute.value),
            py::Expr::Call(call) => {
                self.prefix(&mut call.func);
                self.visit_arguments(&mut call.arguments);
            }
            py::Expr::Lambda(lambda) => {
                let names = lambda.parameters.iter().flat_map(|all| all.iter()).map(|p| p.name().to_string()).collect();
                walk_expr(&self.within(&names), e);
            }
            other => {
                match other {
                    py::Expr::Tuple(tuple) => self.spread(&mut tuple.elts),
                    py::Expr::List(list) => self.spread(&mut list.elts),
                    _ => {}
                }
                walk_expr(self, other);
            }
        });
    }
}
