//! Tests whether the checks are sound: a program that they accept is run, and the structural information derived for
//! each variable is compared with every value bound to it.

use relax_spec::rule;
use std::cell::{Cell, RefCell};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::generate::nodes::{holds_function, with_purity};
use crate::generate::{Tape, module_of_functions};
use relax_spec::arguments::{ArgumentSource, Draw, linked};
use relax_spec::book::{Edition, Rule};
use relax_spec::check::{CheckReport, check_program};
use relax_spec::derivation::{DeriveReport, inferred_results};
use relax_spec::eval::{EvalOptions, RunObserver, evaluate};
use relax_spec::findings::Severity;
use relax_spec::grammar::visit::{Visitor, walk_function, walk_match_cast, walk_module, walk_var_binding};
use relax_spec::grammar::{
    DataType, Expr, Function, GlobalFunc, IrModule, MatchCast, PrimExpr, PrimStructInfo, ShapeVar, StructInfo, Var,
    VarBinding,
};
use relax_spec::judge::{Cx, Ending, RuntimeError};
use relax_spec::value::{Host, Prim, Scalar, Stop, Tensor, Value, ValueSpec, from_specs};

/// The result for one program.
#[derive(Clone, PartialEq, Debug)]
pub enum SoundnessTrial {
    /// The checks reject it, by these rules.
    Rejected(Vec<Rule>),
    /// Accepted, but not tested: either a warning says that an assumption is not checked, or no arguments fit its
    /// signature.
    Unheld,
    /// Accepted and run, and the derived information is true; with or without warnings.
    Sound {
        /// Whether there was a warning.
        warned: bool,
    },
    /// It is accepted, and should not have been, or not with this information; what shows it.
    Unsound(String),
}

/// The program of a seed, with the constructs of an edition.
pub fn program(edition: Edition, seed: u64) -> IrModule {
    module_of_functions(edition, &mut Tape::from_seed(seed, 600))
}

/// The rules by which programs are checked and run. If both are the same, and none is wrong, no program is unsound.
#[derive(Clone, Default)]
pub struct SoundnessContexts {
    /// The context of the checks.
    pub checks: Cx,
    /// The context of the runs.
    pub runs: Cx,
}

impl SoundnessContexts {
    /// Both by the rules of an edition.
    pub fn of(edition: Edition) -> SoundnessContexts {
        let cx = || Cx::new().with_edition(edition);
        SoundnessContexts { checks: cx(), runs: cx() }
    }
}

/// Checks a program, and if it is accepted, runs it on inputs that fit its signature.
pub fn try_program(by: &SoundnessContexts, module: &IrModule) -> SoundnessTrial {
    let report = check_program(&mut by.checks.clone(), module);
    if !report.accepts() {
        return SoundnessTrial::Rejected(found(&report, Severity::Error));
    }
    let warnings = found(&report, Severity::Warning);
    let views = warnings.contains(&rule!("SI.DERIVE.CALL.ARGS.WARN")) && sees_functions_otherwise(module);
    if views || warnings.iter().any(|rule| UNCHECKED.contains(rule)) {
        return SoundnessTrial::Unheld;
    }
    let sizes = [[5, 3], [4, 6]];
    let inputs = sizes.into_iter().flat_map(|sizes| [true, false].map(|truth| (sizes, truth)));
    let mut trial = SoundnessTrial::Unheld;
    for (sizes, truth) in inputs {
        let Some(args) = arguments(&report.module, sizes, truth) else { continue };
        if let Some(fault) = run(by, &report, args, warnings.is_empty()) {
            return SoundnessTrial::Unsound(fault);
        }
        trial = SoundnessTrial::Sound { warned: !warnings.is_empty() };
    }
    trial
}

/// The warnings about assumptions that no check at run time covers (A41, A49).
const UNCHECKED: [Rule; 2] = [rule!("SI.DERIVE.VB.ANNOT.WARN"), rule!("SI.DERIVE.MC.ANNOT.OK")];

/// Whether a function may get other structural information than that of its signature, through a cast, an annotation, a
/// parameter or a result. No check at run time covers the additional requirements of such information on arguments.
fn sees_functions_otherwise(module: &IrModule) -> bool {
    let mut views = Views(false);
    walk_module(&mut views, module);
    views.0
}

struct Views(bool);

impl Views {
    fn see(&mut self, info: Option<&StructInfo>) {
        self.0 |= info.is_some_and(holds_function);
    }
}

impl Visitor for Views {
    fn visit_function(&mut self, function: &Function) {
        function.params.iter().for_each(|param| self.see(param.annotation.as_ref()));
        self.see(function.ret_struct_info.as_ref());
        walk_function(self, function);
    }

    fn visit_var_binding(&mut self, binding: &VarBinding) {
        // The same information without purity, which requires nothing of arguments.
        let of_any_purity = |info: &StructInfo| with_purity(info, None);
        let own = if let Expr::Function(own) = &binding.value { Some(of_any_purity(&own.signature())) } else { None };
        if binding.var.annotation.as_ref().map(of_any_purity) != own {
            self.see(binding.var.annotation.as_ref());
        }
        walk_var_binding(self, binding);
    }

    fn visit_match_cast(&mut self, cast: &MatchCast) {
        self.see(Some(&cast.struct_info));
        walk_match_cast(self, cast);
    }
}

/// In how many runs other information than the derived one has to be true.
const RUNS: usize = 40;

/// Whether information about a variable is true in generated runs from an entry point, at least one of which binds the
/// variable.
pub fn is_true_of(edition: Edition, module: &IrModule, entry: &str, var: &Var, info: &StructInfo) -> bool {
    let Some(GlobalFunc::Function(function)) = module.get(entry) else { return false };
    // A variable that is not in scope would be bound by the comparison.
    if !shape_vars(info).is_subset(&shape_vars_of(function)) {
        return false;
    }
    let said = [(var.clone(), info.clone())];
    matches!(try_information(&Cx::new().with_edition(edition), module, entry, &said, RUNS), Ok(bound) if bound > 0)
}

/// Information that a run shows to be false.
#[derive(Clone, Debug)]
pub struct FalseInformation {
    /// The variable, what is said of it, and its value.
    pub message: String,
    /// The arguments of the run.
    pub args: Vec<ValueSpec>,
}

/// Runs a function on generated arguments. The result is how many values were compared with what is said of their
/// variables, or the first one of which it is not true.
pub fn try_information(
    cx: &Cx,
    module: &IrModule,
    entry: &str,
    said: &[(Var, StructInfo)],
    runs: usize,
) -> Result<usize, FalseInformation> {
    let Some(function) = linked(module, entry) else { return Ok(0) };
    let source = ArgumentSource::of(&[module], 0, EvalOptions::default().memory);
    let mut bound = 0;
    for index in 0..runs {
        let given = source.for_function(function, &BTreeMap::new(), Draw { index, attempt: 1 });
        let Some((given, args)) =
            given.and_then(|given| Some((from_specs(&given, &EvalOptions::default().registry).ok()?, given)))
        else {
            continue;
        };
        let held = Rc::new(BindingMonitor::of(said.iter().cloned()));
        let options =
            EvalOptions { watch: Some(held.clone()), fuel: 100_000, max_depth: 200, ..EvalOptions::default() };
        evaluate(&mut cx.clone(), module, entry, given, &options);
        if let Some(message) = held.found.borrow_mut().take() {
            return Err(FalseInformation { message, args });
        }
        bound += held.bound.get();
    }
    Ok(bound)
}

fn shape_vars(info: &StructInfo) -> BTreeSet<ShapeVar> {
    let mut seen = ShapeVars::default();
    seen.visit_struct_info(info);
    seen.0
}

fn shape_vars_of(function: &Function) -> BTreeSet<ShapeVar> {
    let mut seen = ShapeVars::default();
    seen.visit_function(function);
    seen.0
}

#[derive(Default)]
struct ShapeVars(BTreeSet<ShapeVar>);

impl Visitor for ShapeVars {
    fn visit_shape_var(&mut self, var: &ShapeVar) {
        self.0.insert(var.clone());
    }
}

fn found(report: &CheckReport, severity: Severity) -> Vec<Rule> {
    let findings = report.diagnostics.iter().filter(|finding| finding.severity == severity);
    findings.map(|finding| finding.rule).collect()
}

fn run(by: &SoundnessContexts, report: &CheckReport, args: Vec<Value>, certain: bool) -> Option<String> {
    let held = Rc::new(BindingMonitor::new(&report.derived));
    let options = EvalOptions {
        watch: Some(held.clone()),
        results: inferred_results(&by.runs, &report.module),
        fuel: 100_000,
        max_depth: 200,
        ..EvalOptions::default()
    };
    let run = evaluate(&mut by.runs.clone(), &report.module, "main", args, &options);
    let found = held.found.borrow_mut().take();
    found.or_else(|| match run.outcome {
        Ending::Value(_) | Ending::OutOfFuel | Ending::Unknown(_) => None,
        Ending::Error(error) => (certain && is_stuck(&error)).then(|| format!("stuck: {error}")),
        Ending::Unspecified(reason) => Some(format!("stuck: {reason}")),
    })
}

/// Whether the error is not one that an accepted program may still raise: errors of casts, checks at the boundaries of
/// functions, operators, and dimensions (002:1103-1105).
fn is_stuck(error: &RuntimeError) -> bool {
    error.rule.id().starts_with("EVAL.") || error.rule.id().starts_with("VAL.")
}

/// Arguments for `main`: vectors of these sizes where its signature leaves the sizes open, a Boolean, and boxed
/// scalars.
fn arguments(module: &IrModule, sizes: [i64; 2], truth: bool) -> Option<Vec<Value>> {
    let Some(GlobalFunc::Function(main)) = module.get("main") else { return None };
    let mut chosen: BTreeMap<ShapeVar, i64> = BTreeMap::new();
    let mut sizes = sizes.into_iter();
    main.params.iter().map(|param| argument(param.annotation.as_ref()?, &mut sizes, &mut chosen, truth)).collect()
}

fn argument(
    info: &StructInfo,
    sizes: &mut impl Iterator<Item = i64>,
    chosen: &mut BTreeMap<ShapeVar, i64>,
    truth: bool,
) -> Option<Value> {
    if let StructInfo::Prim(prim) = info {
        return boxed(prim, truth);
    }
    let tensor = info.as_tensor()?;
    let dims = tensor.shape.as_ref()?.as_dims()?;
    let mut shape = Vec::new();
    for dim in dims.iter() {
        shape.push(match dim {
            PrimExpr::IntImm(size) => *size,
            PrimExpr::Var(var) => match chosen.entry(var.clone()) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(open) => *open.insert(sizes.next()?),
            },
            PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..) => return None,
        });
    }
    let tensor = Tensor::zeros(tensor.dtype, &shape).ok()?;
    let written = !shape.is_empty() || tensor.set(0, Scalar::Bool(truth));
    written.then_some(Value::Tensor(tensor))
}

/// A boxed scalar of which only the data type is known.
fn boxed(prim: &PrimStructInfo, truth: bool) -> Option<Value> {
    let value = match prim.dtype {
        DataType::BOOL => Scalar::Bool(truth),
        DataType::INT64 => Scalar::Int(if truth { 3 } else { 5 }),
        _other => return None,
    };
    prim.value.is_none().then_some(Value::Prim(Prim { dtype: prim.dtype, value }))
}

/// Compares the derived information with each value that is bound.
#[derive(Debug)]
struct BindingMonitor {
    derived: FxHashMap<Var, StructInfo>,
    found: RefCell<Option<String>>,
    /// How many values were compared.
    bound: Cell<usize>,
}

impl BindingMonitor {
    fn new(report: &DeriveReport) -> BindingMonitor {
        BindingMonitor::of(report.vars.iter().cloned())
    }

    fn of(derived: impl IntoIterator<Item = (Var, StructInfo)>) -> BindingMonitor {
        BindingMonitor { derived: derived.into_iter().collect(), found: RefCell::new(None), bound: Cell::new(0) }
    }
}

impl RunObserver for BindingMonitor {
    fn bound(&self, run: &mut dyn Host, var: &Var, value: &Value) {
        let Some(info) = self.derived.get(var) else { return };
        self.bound.set(self.bound.get() + 1);
        if self.found.borrow().is_none() && !describes(run, info, value) {
            *self.found.borrow_mut() = Some(format!("`{var}` is said to be {info}, and is {value}"));
        }
    }
}

/// Whether information describes a value. The promises of a function about its results are tested at the variables to
/// which the results are bound.
fn describes(run: &mut dyn Host, info: &StructInfo, value: &Value) -> bool {
    match info {
        StructInfo::Object => true,
        StructInfo::Tuple(fields) => value.as_tuple().is_some_and(|tuple| {
            tuple.len() == fields.len()
                && fields.iter().zip(tuple.fields()).all(|(info, value)| describes(run, info, value))
        }),
        StructInfo::Func(func) => match &func.params {
            None => matches!(value, Value::PackedFunc(_)),
            Some(params) => value.as_closure().is_some_and(|closure| {
                closure.func.as_ref().is_none_or(|function| function.params.len() == params.len())
            }),
        },
        // A shape variable of an outer scope that a closure did not capture may have any value here. Alone in a
        // dimension it is bound by the match; the value of an expression with it is unknown.
        StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Prim(_) => {
            match run.match_without_binding(value, info) {
                Ok(()) | Err(Stop::Unspecified(_) | Stop::Unknown(_) | Stop::OutOfFuel) => true,
                Err(Stop::Error(_)) => false,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use relax_spec::syntax::tvmscript::parse_module;

    /// What an implementation derives beyond the rules is true or not in the runs, and is not bound by the comparison.
    #[test]
    fn information_is_true_if_all_runs_agree() {
        let text = "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((\"n\",), \"float32\")):\n        \
                    y = R.add(x, x)\n        return y\n";
        let (module, edition, y) = (parse_module(text).unwrap(), Edition::E2023_02, Var::new("y"));
        let info = |dim: PrimExpr| StructInfo::tensor([dim], DataType::FLOAT32);
        let is_true = |dim: PrimExpr| is_true_of(edition, &module, "main", &y, &info(dim));
        assert!(is_true(PrimExpr::Var(ShapeVar::new("n"))));
        assert!(!is_true(PrimExpr::IntImm(4)));
        assert!(!is_true(PrimExpr::Var(ShapeVar::new("other"))), "a variable that is not in scope says nothing");
        assert!(!is_true_of(edition, &module, "main", &Var::new("z"), &info(PrimExpr::IntImm(4))), "never bound");
    }
}
