//! Python functions that make functions of a dialect from their parameters. They are read with the arguments of the
//! calls in the file.

use ruff_python_ast as py;
use ruff_python_ast::visitor::{self, Visitor};
use rustc_hash::{FxHashMap, FxHashSet};

use super::computed::Locals;
use super::fault::span_of;
use super::known::{KnownNames, Unknown, destructure};
use super::replace::bound_in;
use super::static_value::StaticValue;
use crate::judge::with_stack;

/// The maximum number of argument lists for which a function is read.
const MAX_VERSIONS: usize = 16;

/// The calls of the functions that a file defines, by name, in the order of the text.
#[derive(Default)]
pub(super) struct Calls(FxHashMap<String, Vec<CallSite>>);

/// A call, with the loops around it: the target of each, and its items.
struct CallSite {
    arguments: py::Arguments,
    loops: Vec<(py::Expr, py::Expr)>,
}

/// Finds the calls in the statements of a file.
pub(super) fn calls_of(statements: &[py::Stmt]) -> Calls {
    let mut found = Found::default();
    statements.iter().for_each(|statement| found.visit_stmt(statement));
    let Found { defined, mut calls, loops: _ } = found;
    calls.0.retain(|name, _| defined.contains(name));
    calls
}

#[derive(Default)]
struct Found {
    /// Functions with parameters and without decorators. Those of a dialect have decorators.
    defined: FxHashSet<String>,
    calls: Calls,
    /// The loops around the place that is visited.
    loops: Vec<(py::Expr, py::Expr)>,
}

impl Found {
    fn within(&mut self, loops: impl IntoIterator<Item = (py::Expr, py::Expr)>, visit: impl FnOnce(&mut Found)) {
        let outside = self.loops.len();
        self.loops.extend(loops);
        with_stack(|| visit(self));
        self.loops.truncate(outside);
    }
}

impl<'a> Visitor<'a> for Found {
    fn visit_stmt(&mut self, statement: &'a py::Stmt) {
        match statement {
            py::Stmt::FunctionDef(def) if def.decorator_list.is_empty() => {
                if !def.parameters.is_empty() {
                    self.defined.insert(def.name.to_string());
                }
                with_stack(|| def.body.iter().for_each(|statement| self.visit_stmt(statement)));
            }
            py::Stmt::For(each) => {
                self.visit_expr(&each.iter);
                let around = ((*each.target).clone(), (*each.iter).clone());
                self.within([around], |found| each.body.iter().for_each(|statement| found.visit_stmt(statement)));
                each.orelse.iter().for_each(|statement| self.visit_stmt(statement));
            }
            // Calls inside functions of a dialect are not Python calls.
            py::Stmt::FunctionDef(_) | py::Stmt::ClassDef(_) => {}
            other => with_stack(|| visitor::walk_stmt(self, other)),
        }
    }

    fn visit_expr(&mut self, e: &'a py::Expr) {
        if let py::Expr::Call(call) = e
            && let py::Expr::Name(name) = &*call.func
        {
            let site = CallSite { arguments: call.arguments.clone(), loops: self.loops.clone() };
            self.calls.0.entry(name.id.to_string()).or_default().push(site);
        }
        match e {
            py::Expr::ListComp(py::ExprListComp { elt, generators, .. })
            | py::Expr::Generator(py::ExprGenerator { elt, generators, .. }) => {
                let around = generators.iter().map(|each| (each.target.clone(), each.iter.clone()));
                self.within(around.collect::<Vec<_>>(), |found| found.visit_expr(elt));
            }
            other => with_stack(|| visitor::walk_expr(self, other)),
        }
    }
}

/// A function that returns an expression of its parameters, as the map of indices that it is where one is asked for.
pub(super) fn as_lambda(def: &py::StmtFunctionDef) -> Option<py::ExprLambda> {
    let is_documentation =
        |statement: &py::Stmt| matches!(statement, py::Stmt::Expr(e) if e.value.is_string_literal_expr());
    let mut body = def.body.iter().skip_while(|statement| is_documentation(statement));
    match (def.decorator_list.is_empty(), body.next(), body.next()) {
        (true, Some(py::Stmt::Return(py::StmtReturn { value: Some(value), .. })), None) => Some(py::ExprLambda {
            node_index: Default::default(),
            range: def.range,
            parameters: Some(def.parameters.clone()),
            body: value.clone(),
        }),
        (_, _, _) => None,
    }
}

impl Calls {
    /// Whether a function has parameters, and the file never calls it.
    pub fn has_none(&self, def: &py::StmtFunctionDef) -> bool {
        !def.parameters.is_empty() && !self.0.contains_key(def.name.as_str())
    }

    /// The known names inside a function, once for each call that determines all its parameters. Without such a call,
    /// the parameters are unknown.
    pub fn as_called(&self, def: &py::StmtFunctionDef, outside: &KnownNames) -> Vec<KnownNames> {
        let mut inside = outside.clone();
        inside.lose(&bound_in(def), Unknown::NoLiteral(span_of(&def.name)));
        let calls = self.0.get(def.name.as_str()).map(Vec::as_slice).unwrap_or_default();
        let mut versions: Vec<Vec<(&str, StaticValue)>> = Vec::new();
        for call in calls {
            for locals in call.rounds(outside) {
                let given = given(def, &call.arguments, outside, &locals);
                versions.extend(given.filter(|given| !versions.contains(given) && versions.len() < MAX_VERSIONS));
            }
        }
        if versions.is_empty() {
            return vec![inside];
        }
        let with = |version: Vec<(&str, StaticValue)>| {
            let mut known = inside.clone();
            version.into_iter().for_each(|(name, value)| known.give(name, value));
            known
        };
        versions.into_iter().map(with).collect()
    }
}

impl CallSite {
    /// The names of the loops around the call in each round, as far as these are known.
    fn rounds(&self, known: &KnownNames) -> Vec<Locals> {
        let mut rounds = vec![Locals::default()];
        for (target, iter) in &self.loops {
            let each = |locals: Locals| {
                let values = known.value_with(iter, &locals).and_then(|value| value.items()).unwrap_or_default();
                let mut inner = Vec::new();
                for value in values.iter().take(MAX_VERSIONS) {
                    let mut named = Vec::new();
                    if destructure(target, value, &mut named) {
                        let mut locals = locals.clone();
                        locals.extend(named.into_iter().map(|(name, _, value)| (name, value)));
                        inner.push(locals);
                    }
                }
                // A call must not depend on the items of the loop.
                if inner.is_empty() { vec![locals] } else { inner }
            };
            rounds = rounds.into_iter().flat_map(each).take(MAX_VERSIONS).collect();
        }
        rounds
    }
}

/// The values of the parameters in a call, if all are given.
fn given<'d>(
    def: &'d py::StmtFunctionDef,
    call: &py::Arguments,
    known: &KnownNames,
    locals: &Locals,
) -> Option<Vec<(&'d str, StaticValue)>> {
    if def.parameters.vararg.is_some() || def.parameters.kwarg.is_some() || def.parameters.is_empty() {
        return None;
    }
    let value = |e: &py::Expr| known.value_with(e, locals);
    let by_place = def.parameters.posonlyargs.iter().chain(&def.parameters.args).count();
    if call.args.len() > by_place || call.args.iter().any(py::Expr::is_starred_expr) {
        return None;
    }
    let parameters = def.parameters.iter_non_variadic_params().enumerate();
    parameters
        .map(|(at, parameter)| {
            let name = parameter.parameter.name.as_str();
            let placed = call.args.get(at).filter(|_| at < by_place);
            let named = || call.find_keyword(name).map(|keyword| &keyword.value);
            let e = placed.or_else(named).or(parameter.default.as_deref())?;
            Some((name, value(e)?))
        })
        .collect()
}
