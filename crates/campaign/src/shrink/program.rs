//! Candidates for programs that are smaller than a given one. The checks decide whether they are well-formed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use super::bindings::{ProgramExtent, bindings, without};
use super::body::Body;
use super::sizes::fixed;
use super::{Candidates, Pass, halves};
use crate::questions::function_of;
use relax_spec::book::{Edition, Rule};
use relax_spec::check::{CheckReport, check_program};
use relax_spec::grammar::visit::{Visitor, walk_function};
use relax_spec::grammar::{Attrs, Binding, Expr, Function, GlobalFunc, GlobalVar, IrModule, Name, ShapeVar, Var};
use relax_spec::judge::Cx;

/// How many operands of a value are tried as the replacement of its variable.
const OPERANDS: usize = 3;

/// A program, and the function that is started.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Program {
    pub(crate) edition: Edition,
    pub(crate) module: IrModule,
    pub(crate) entry: Name,
    /// Sizes with which it runs.
    pub(crate) sizes: BTreeMap<ShapeVar, i64>,
}

/// The passes on programs, in order: passes with few candidates first, single bindings when few are left.
pub(crate) fn passes<'p>() -> Vec<Pass<'p, Program>> {
    vec![
        Pass::new("entry", entries),
        Pass::new("block", blocks),
        Pass::new("constant", constants),
        Pass::new("bindings", parts),
        Pass::new("branch", branches),
        Pass::new("result", results),
        Pass::new("parameter", parameters),
        Pass::new("value", values),
    ]
}

/// Keeps the function and those that it calls, directly or not; also with another function as the entry.
fn entries(program: &Program, from: usize) -> Candidates<'_, Program> {
    let Some(own) = program.function() else { return Box::new(std::iter::empty()) };
    Box::new(program.module.funcs.iter().skip(from).map(move |(gv, func)| match func {
        GlobalFunc::Function(_) if gv.name == program.entry => Some(program.with_function(own.clone())),
        GlobalFunc::Function(other) => {
            Some(program.with_function(Function { attrs: own.attrs.clone(), ..(**other).clone() }))
        }
        GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => None,
    }))
}

/// Turns `DataflowBlock`s into ordinary blocks, and flattens nested sequences, so that more bindings can be removed
/// later.
fn blocks(program: &Program, from: usize) -> Candidates<'_, Program> {
    let plainer: [fn(Body) -> Option<Body>; 2] = [Body::without_dataflow, Body::unnested];
    Box::new(plainer.into_iter().skip(from).map(|plainer| program.with_body(plainer(program.body()?)?)))
}

/// Fixes the sizes.
fn constants(program: &Program, from: usize) -> Candidates<'_, Program> {
    let is_open = !program.sizes.is_empty();
    let fixed = move || is_open.then(|| program.with_module(fixed(&program.module, &program.sizes)));
    Box::new(std::iter::once(()).skip(from).map(move |()| fixed()))
}

/// Removes ranges of the bindings, at any depth.
fn parts(program: &Program, from: usize) -> Candidates<'_, Program> {
    let rest = |range: Range<usize>| {
        (!range.is_empty()).then(|| program.with_module(without(program.edition, &program.module, range, None)))
    };
    Box::new(halves(bindings(&program.module), from).map(rest))
}

/// Replaces an `If` by one of its branches.
fn branches(program: &Program, from: usize) -> Candidates<'_, Program> {
    let numbers = 0..2 * program.body().map_or(0, |body| body.bindings.len());
    Box::new(numbers.skip(from).map(|n| program.with_body(program.body()?.inlined(n / 2, n % 2 == 0)?.swept())))
}

/// Keeps half of the results, or returns an intermediate value.
fn results(program: &Program, from: usize) -> Candidates<'_, Program> {
    let others = program.body().map(|body| body.other_results()).unwrap_or_default();
    let with = |result: Expr| program.with_body(Body { result, ..program.body()? }.swept());
    Box::new(others.into_iter().skip(from).map(with))
}

/// Removes unused parameters, then turns ranges of bindings into parameters.
fn parameters(program: &Program, from: usize) -> Candidates<'_, Program> {
    let Some(body) = program.body() else { return Box::new(std::iter::empty()) };
    let report = program.report();
    let ranges = std::iter::once(0..0).chain(halves(body.bindings.len(), 0));
    Box::new(ranges.skip(from).map(move |range| program.with_body(body.clone().cut(range, &report.derived).swept())))
}

/// Removes one binding, and uses an operand of its value in place of its variable.
fn values(program: &Program, from: usize) -> Candidates<'_, Program> {
    let count = bindings(&program.module);
    Box::new((from..count * OPERANDS).map(move |number| {
        let (at, operand) = (count - 1 - number / OPERANDS, number % OPERANDS);
        Some(program.with_module(without(program.edition, &program.module, at..at + 1, Some(operand))))
    }))
}

impl Program {
    pub(crate) fn function(&self) -> Option<&Function> {
        function_of(&self.module, &self.entry)
    }

    fn report(&self) -> CheckReport {
        check_program(&mut Cx::new().with_edition(self.edition), &self.module)
    }

    /// The rules that it breaks.
    pub(crate) fn broken(&self) -> Vec<Rule> {
        rules_of(&self.report())
    }

    fn body(&self) -> Option<Body> {
        Body::of(self.function()?)
    }

    fn with_module(&self, module: IrModule) -> Program {
        Program { module, ..self.clone() }
    }

    fn with_body(&self, body: Body) -> Option<Program> {
        Some(self.with_function(body.function()))
    }

    /// The program with this version of a function: its result is derived anew, and functions that are no longer
    /// mentioned are removed.
    fn with_function(&self, function: Function) -> Program {
        let open = Function { ret_struct_info: None, attrs: symbol(&function.attrs), ..function };
        let put = |function: Function| {
            let mut module = self.putting(function).module;
            module.funcs = mentioned(&module, &self.entry);
            self.with_module(module)
        };
        let report = put(open.clone()).report();
        let info = report.derived.info_of_function(&self.entry).and_then(|info| info.as_func());
        put(Function { ret_struct_info: info.map(|func| func.ret.clone()), ..open })
    }

    /// The program with another function in the place of its own.
    fn putting(&self, function: Function) -> Program {
        let (mut module, function) = (self.module.clone(), GlobalFunc::Function(Arc::new(function)));
        let own = module.funcs.iter_mut().filter(|(gv, _)| gv.name == self.entry);
        own.for_each(|(_, func)| func.clone_from(&function));
        self.with_module(module)
    }

    /// The program that returns one of the variables of the function, without the bindings after it. None if the
    /// function binds no such variable outside of branches.
    pub(crate) fn ending_with(&self, var: &Var) -> Option<Program> {
        let mut body = self.body()?;
        let binds = |(_, binding): &(_, Binding)| binding.binder().is_some_and(|binder| binder.var == *var);
        let at = body.bindings.iter().position(binds)?;
        body.bindings.truncate(at + 1);
        body.result = body.bindings.last()?.1.binder()?.to_expr();
        Some(self.putting(Function { ret_struct_info: None, ..body.function() }))
    }

    /// The size to minimize: bindings, functions and parameters; then open sizes; then sequences and blocks.
    pub(crate) fn size(&self) -> (usize, usize, usize) {
        let extent = ProgramExtent::of(&self.module);
        let params = self.function().map_or(0, |function| function.params.len());
        let whole = extent.bindings * 100 + self.module.funcs.len() * 10 + params;
        (whole, extent.dims.len(), extent.sequences)
    }
}

/// Only the attribute with the name by which a function is linked.
fn symbol(attrs: &Attrs) -> Attrs {
    let is_symbol = |name: &str| name == "global_symbol";
    attrs.iter().filter(|(name, _)| is_symbol(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The functions that the entry point calls, directly or not.
fn mentioned(module: &IrModule, entry: &str) -> Vec<(GlobalVar, GlobalFunc)> {
    struct GlobalMentions(BTreeSet<String>);
    impl Visitor for GlobalMentions {
        fn visit_global_var(&mut self, gv: &GlobalVar) {
            self.0.insert(gv.name.to_string());
        }
    }
    let mut known = GlobalMentions(BTreeSet::from([entry.to_string()]));
    loop {
        let before = known.0.clone();
        before.iter().filter_map(|name| function_of(module, name)).for_each(|func| walk_function(&mut known, func));
        if known.0 == before {
            return module.funcs.iter().filter(|(gv, _)| before.contains(&*gv.name)).cloned().collect();
        }
    }
}

/// The rules that a program breaks according to the checks, each once.
pub(crate) fn rules_of(report: &CheckReport) -> Vec<Rule> {
    let fatal: BTreeSet<Rule> = report.diagnostics.iter().filter(|f| f.is_fatal()).map(|f| f.rule).collect();
    fatal.into_iter().collect()
}
