//! Evaluates the Python code that runs while a function is read. Names of lists, strings and annotations are replaced
//! by their values, and lists are written out.

use std::cell::{Cell, RefCell};

use ruff_python_ast as py;
use ruff_python_ast::visitor::transformer::{Transformer, walk_expr, walk_stmt};
use ruff_python_ast::visitor::{self, Visitor};
use rustc_hash::{FxHashMap, FxHashSet};

use super::calls::is_struct_info;
use super::constant::numpy_array;
use super::fault::{dotted, integer, is_word, members, tir_name};
use super::static_value::StaticValue;
use crate::judge::with_stack;

/// The maximum number of nodes to insert for names. Lists of lists could grow without limit.
const MAX_NODES: usize = 100_000;

/// Writes out the values that a definition computes from lists and their names.
pub(super) fn inline(statement: &mut py::Stmt) {
    let budget = Cell::new(MAX_NODES);
    Inliner { values: RefCell::default(), bound: FxHashMap::default(), in_relax: false, budget: &budget }
        .visit_stmt(statement);
}

/// Replaces a name by an expression.
pub(in crate::syntax::tvmscript) fn put(name: &str, value: &py::Expr, body: &mut [py::Stmt]) {
    let budget = Cell::new(MAX_NODES);
    let inliner = Inliner::of(name, value, &budget);
    body.iter_mut().for_each(|statement| inliner.visit_stmt(statement));
}

struct Inliner<'b> {
    values: RefCell<FxHashMap<String, py::Expr>>,
    /// The number of bindings of each name in the current function.
    bound: FxHashMap<String, usize>,
    /// Whether the current function is a Relax function. In TIR, a call is a statement, and a string an argument.
    in_relax: bool,
    budget: &'b Cell<usize>,
}

impl<'b> Inliner<'b> {
    fn of(name: &str, value: &py::Expr, budget: &'b Cell<usize>) -> Inliner<'b> {
        let values = RefCell::new(FxHashMap::from_iter([(name.to_string(), value.clone())]));
        Inliner { values, bound: FxHashMap::default(), in_relax: false, budget }
    }

    fn function(&self, def: &mut py::StmtFunctionDef) {
        self.visit_parameters(&mut def.parameters);
        if let Some(returns) = &mut def.returns {
            self.visit_annotation(returns);
        }
        let mut values = self.values.borrow().clone();
        // Most functions give no name to a Python value, and then it does not matter how often each is bound.
        let names_values = !values.is_empty() || NamedValues::in_function(def);
        let bound = if names_values { Bindings::of(def).count } else { FxHashMap::default() };
        values.retain(|name, _| !bound.contains_key(name));
        let in_relax = !def.decorator_list.iter().any(|decorator| is_prim_func(&decorator.expression));
        Inliner { values: RefCell::new(values), bound, in_relax, budget: self.budget }.visit_body(&mut def.body);
    }

    /// Whether an assignment gives a name to a Python value, which is kept.
    fn keeps(&self, assign: &py::StmtAssign) -> bool {
        let [py::Expr::Name(name)] = assign.targets.as_slice() else { return false };
        let is_once = self.bound.get(name.id.as_str()) == Some(&1);
        let is_kept = is_once && is_value(&assign.value, self.in_relax) && self.is_fixed(&assign.value);
        if is_kept {
            self.values.borrow_mut().insert(name.id.to_string(), (*assign.value).clone());
        }
        is_kept
    }

    /// Whether all names in it keep their current meaning.
    fn is_fixed(&self, e: &py::Expr) -> bool {
        let mut bindings = Bindings::default();
        bindings.visit_expr(e);
        bindings.used.iter().all(|name| self.bound.get(name).is_none_or(|count| *count == 1))
    }

    /// The value of a name, if it is not too large.
    fn value(&self, name: &str) -> Option<py::Expr> {
        let values = self.values.borrow();
        let value = values.get(name)?;
        self.pay(nodes(value)).then(|| value.clone())
    }

    fn pay(&self, nodes: usize) -> bool {
        let left = self.budget.get().checked_sub(nodes);
        left.inspect(|left| self.budget.set(*left)).is_some()
    }

    /// The value of a list expression.
    fn listed(&self, e: &py::Expr) -> Option<Vec<py::Expr>> {
        with_stack(|| match e {
            py::Expr::BinOp(b) => match (b.op, members(&b.left), members(&b.right)) {
                (py::Operator::Mult, _, _) => {
                    let (list, times) = match (integer(&b.left), integer(&b.right)) {
                        (None, Some(times)) => (&b.left, times),
                        (Some(times), None) => (&b.right, times),
                        (_, _) => return None,
                    };
                    let list = self.display(list)?;
                    let times = usize::try_from(times.max(0)).ok()?;
                    let size: usize = list.iter().map(nodes).sum();
                    self.pay(size.checked_mul(times)?).then(|| (0..times).flat_map(|_| list.clone()).collect())
                }
                (py::Operator::Add, _, _) => {
                    let (mut left, right) = (self.display(&b.left)?, self.display(&b.right)?);
                    left.extend(right);
                    Some(left)
                }
                (_, _, _) => None,
            },
            py::Expr::ListComp(py::ExprListComp { elt, generators, .. })
            | py::Expr::Generator(py::ExprGenerator { elt, generators, .. }) => self.comprehended(elt, generators),
            _ => None,
        })
    }

    /// The members of a list that is written out, or can be.
    fn display(&self, e: &py::Expr) -> Option<Vec<py::Expr>> {
        members(e).map(<[py::Expr]>::to_vec).or_else(|| self.listed(e))
    }

    /// `[R.Tensor((i,), "float32") for i in range(3)]`.
    fn comprehended(&self, element: &py::Expr, generators: &[py::Comprehension]) -> Option<Vec<py::Expr>> {
        let [py::Comprehension { target: py::Expr::Name(name), iter, ifs, .. }] = generators else { return None };
        if !ifs.is_empty() {
            return None;
        }
        let of = |value: &py::Expr| {
            let mut element = element.clone();
            self.pay(nodes(&element)).then(|| {
                Inliner::of(name.id.as_str(), value, self.budget).visit_expr(&mut element);
                element
            })
        };
        self.range(iter).or_else(|| self.display(iter))?.iter().map(of).collect()
    }

    /// `range(3)` and `range(1, 4)` as lists.
    fn range(&self, e: &py::Expr) -> Option<Vec<py::Expr>> {
        let call = e.as_call_expr().filter(|call| is_word(&call.func, "range"))?;
        let (start, stop) = match &*call.arguments.args {
            [stop] => (0, integer(stop)?),
            [start, stop] => (integer(start)?, integer(stop)?),
            _ => return None,
        };
        let length = usize::try_from((stop - start).max(0)).ok()?;
        self.pay(length).then(|| (start..stop).filter_map(|i| StaticValue::Int(i).literal(call_range(call))).collect())
    }

    /// Replaces `*[a, b]` by its members.
    fn spread(&self, items: &mut Vec<py::Expr>) {
        if items.iter().any(py::Expr::is_starred_expr) {
            let taken = std::mem::take(items);
            for item in taken {
                match item.as_starred_expr().and_then(|starred| self.display(&starred.value)) {
                    Some(members) => items.extend(members),
                    None => items.push(item),
                }
            }
        }
    }
}

fn call_range(call: &py::ExprCall) -> ruff_text_size::TextRange {
    ruff_text_size::Ranged::range(call)
}

impl Transformer for Inliner<'_> {
    fn visit_stmt(&self, statement: &mut py::Stmt) {
        with_stack(|| {
            if let py::Stmt::FunctionDef(def) = statement {
                return self.function(def);
            }
            walk_stmt(self, statement);
            if let py::Stmt::Assign(assign) = statement
                && self.keeps(assign)
            {
                *statement =
                    py::Stmt::Pass(py::StmtPass { range: assign.range, node_index: py::AtomicNodeIndex::NONE });
            }
        });
    }

    fn visit_expr(&self, e: &mut py::Expr) {
        if let py::Expr::Name(name) = &*e {
            if name.ctx.is_load()
                && let Some(value) = self.value(name.id.as_str())
            {
                *e = value;
            }
            return;
        }
        if let py::Expr::Attribute(attribute) = e
            && attribute.value.is_name_expr()
        {
            return self.visit_expr(&mut attribute.value);
        }
        with_stack(|| walk_expr(self, e));
        match e {
            py::Expr::Tuple(tuple) => self.spread(&mut tuple.elts),
            py::Expr::List(list) => self.spread(&mut list.elts),
            py::Expr::Call(call) if call.arguments.args.iter().any(py::Expr::is_starred_expr) => {
                let mut args = std::mem::take(&mut call.arguments.args).into_vec();
                self.spread(&mut args);
                call.arguments.args = args.into();
            }
            py::Expr::Subscript(subscript) => {
                if let (Some(list), Some(at)) = (members(&subscript.value), integer(&subscript.slice))
                    && let Some(member) = usize::try_from(at).ok().and_then(|at| list.get(at))
                {
                    *e = member.clone();
                }
            }
            py::Expr::BinOp(_) | py::Expr::ListComp(_) => {
                if let Some(elts) = self.listed(e) {
                    let (range, ctx) = (ruff_text_size::Ranged::range(e), py::ExprContext::Load);
                    *e = py::Expr::List(py::ExprList { node_index: py::AtomicNodeIndex::NONE, range, elts, ctx });
                }
            }
            _ => {}
        }
    }
}

/// Whether TVM's parser leaves an expression to Python: lists, dictionaries, and functions of indices; in Relax also
/// strings, annotations and explicitly made scalars.
fn is_value(e: &py::Expr, in_relax: bool) -> bool {
    match e {
        py::Expr::List(_) | py::Expr::Dict(_) => true,
        // A function of indices, not a value.
        py::Expr::Lambda(lambda) => lambda.parameters.is_some(),
        py::Expr::StringLiteral(_) => in_relax,
        py::Expr::Call(call) => {
            let made = || matches!(tir_name(&call.func).as_deref(), Some("FloatImm" | "IntImm" | "index_map"));
            in_relax && (is_struct_info(e) || made() || numpy_array(e).is_some())
        }
        py::Expr::Attribute(a) => in_relax && matches!(a.attr.as_str(), "struct_info" | "ty") && a.value.is_name_expr(),
        _ => false,
    }
}

/// Looks for assignments that may give a name to a Python value, before anything is written out.
#[derive(Default)]
struct NamedValues {
    found: bool,
}

impl NamedValues {
    fn in_function(def: &py::StmtFunctionDef) -> bool {
        let mut names = NamedValues::default();
        names.visit_body(&def.body);
        names.found
    }
}

impl<'a> Visitor<'a> for NamedValues {
    fn visit_stmt(&mut self, statement: &'a py::Stmt) {
        if let py::Stmt::Assign(assign) = statement {
            self.found |= is_value(&assign.value, true) || may_become_list(&assign.value);
        }
        if !self.found {
            with_stack(|| visitor::walk_stmt(self, statement));
        }
    }

    /// An expression contains no assignment.
    fn visit_expr(&mut self, _: &'a py::Expr) {}
}

/// Whether an expression may be a list, or a member of one, when it is written out.
fn may_become_list(e: &py::Expr) -> bool {
    match e {
        py::Expr::BinOp(_) | py::Expr::ListComp(_) => true,
        // A name that stands for no value is not replaced.
        py::Expr::Subscript(subscript) => !subscript.value.is_name_expr(),
        _ => false,
    }
}

fn is_prim_func(decorator: &py::Expr) -> bool {
    let e = decorator.as_call_expr().map_or(decorator, |call| &*call.func);
    dotted(e).is_some_and(|words| words.last() == Some(&"prim_func"))
}

/// The number of bindings of each name in a function, and the used names.
#[derive(Default)]
struct Bindings {
    count: FxHashMap<String, usize>,
    used: FxHashSet<String>,
}

impl Bindings {
    fn of(def: &py::StmtFunctionDef) -> Bindings {
        let mut bindings = Bindings::default();
        def.parameters.iter().for_each(|parameter| bindings.bind(parameter.name().as_str()));
        def.body.iter().for_each(|statement| bindings.visit_stmt(statement));
        bindings
    }

    fn bind(&mut self, name: &str) {
        *self.count.entry(name.to_string()).or_default() += 1;
    }
}

impl<'a> Visitor<'a> for Bindings {
    fn visit_stmt(&mut self, statement: &'a py::Stmt) {
        if let py::Stmt::FunctionDef(def) = statement {
            self.bind(def.name.as_str());
            def.parameters.iter().for_each(|parameter| self.bind(parameter.name().as_str()));
        }
        with_stack(|| visitor::walk_stmt(self, statement));
    }

    fn visit_expr(&mut self, e: &'a py::Expr) {
        match e {
            py::Expr::Name(name) if name.ctx.is_load() => {
                self.used.insert(name.id.to_string());
            }
            py::Expr::Name(name) => self.bind(name.id.as_str()),
            other => with_stack(|| visitor::walk_expr(self, other)),
        }
    }
}

struct Nodes(usize);

impl<'a> Visitor<'a> for Nodes {
    fn visit_expr(&mut self, e: &'a py::Expr) {
        self.0 += 1;
        with_stack(|| visitor::walk_expr(self, e));
    }
}

fn nodes(e: &py::Expr) -> usize {
    let mut nodes = Nodes(0);
    nodes.visit_expr(e);
    nodes.0
}
