//! The material of programs: calls of every operator that are known to give a value, and `PrimFunc`s.

use glob::Pattern;

use super::Features;
use super::apart::one_attribute_apart;
use super::prim_funcs::{Template, templates};
use crate::calls::{CallOperand, Fill, RandomCall, draw, patterns, run_within};
use crate::generate::Tape;
use crate::generate::nodes::{function, global};
use crate::questions::is_named_in;
use relax_spec::book::{Edition, Rule};
use relax_spec::grammar::{Binder, Expr, IrModule, StructInfo, Var};
use relax_spec::judge::Cx;
use relax_spec::ops::{self, Clauses, InferArgs, OpDef};
use relax_spec::rule;
use relax_spec::suite::Case;
use relax_spec::value::Value;

/// How many calls of an operator are kept, and after how many attempts the search for more ends.
const KEPT: usize = 12;
const TRIED: u64 = 60;
/// How many of the kept calls are varied attribute by attribute.
const VARIED: usize = 2;
/// The maximum number of elements of the arguments and results of a call, so that programs of many calls run quickly.
pub(super) const ELEMENTS: i64 = 600;
/// The number of random inputs on which it must give a value.
const FILLS: u64 = 4;
const FUEL: u64 = 100_000;
const MEMORY: u64 = 1 << 20;

/// Restricts the programs that are drawn.
#[derive(Clone, Debug)]
pub struct Restriction {
    /// The operators that may be called, as patterns of names; all if there are no patterns.
    pub operators: Vec<Pattern>,
    /// Operators that are called in few programs only.
    pub seldom: Vec<Pattern>,
    /// The features that programs may have.
    pub features: Features,
    /// The maximum number of bindings.
    pub bindings: usize,
    /// The maximum number of bindings of every program; drawn for each program if absent.
    pub exactly: Option<usize>,
    /// The edition by which programs are typed.
    pub edition: Edition,
    /// Rules, as patterns of ids: each program of a campaign applies or breaks one of them; any rule if there are no
    /// patterns.
    pub rules: Vec<Pattern>,
    /// Whether annotations state the values of boxed scalars, for which not every implementation has a notation.
    pub values: bool,
    /// Whether programs have constructs of later editions that campaigns do not ask about, such as direct calls of
    /// `PrimFunc`s.
    pub further: bool,
}

impl Restriction {
    /// Programs to test laws of an edition: each is small, its variables have different names, and it runs to its end.
    pub fn of_laws(edition: Edition) -> Restriction {
        let (shadowing, odd_blocks, in_place, attributes, failures) = (false, false, false, false, false);
        let features = Features { shadowing, odd_blocks, in_place, attributes, failures, ..Features::ALL };
        Restriction { features, bindings: 20, edition, further: true, ..Restriction::default() }
    }
}

impl Default for Restriction {
    fn default() -> Restriction {
        Restriction {
            operators: Vec::new(),
            seldom: Vec::new(),
            features: Features::ALL,
            bindings: 200,
            exactly: None,
            edition: Edition::default(),
            rules: Vec::new(),
            values: true,
            further: false,
        }
    }
}

/// An operator with calls that give a value.
#[derive(Clone, Debug)]
pub(super) struct Callable {
    pub(super) op: &'static OpDef,
    pub(super) calls: Vec<RandomCall>,
    pub(super) seldom: bool,
    /// Whether that is due to the implementation.
    pub(super) troubled: bool,
}

/// The material from which programs are drawn.
#[derive(Clone, Debug)]
pub struct ProgramSource {
    pub(super) operators: Vec<Callable>,
    pub(super) prim_funcs: Vec<Template>,
    pub(super) restriction: Restriction,
}

/// The language's own operators, of which calls are made otherwise, those that run what is not here, and an object of
/// no other use, which Python takes for nothing.
const OTHERWISE: &str = "null_value call_tir_inplace call_tir_with_grad call_inplace_packed call_pure_packed \
    call_builtin_with_ctx call_py_func make_closure invoke_closure invoke_pure_closure print assert_op";

/// Operators that manage memory and devices explicitly, where most sequences of calls are wrong.
const OF_MEMORY: [&str; 5] = ["relax.memory.", "relax.builtin.", "relax.vm.", "relax.ccl.", "relax.dist."];

impl ProgramSource {
    /// All operators of the registry with a reference implementation, with calls like those in the cases.
    pub fn of(suite: &[Case], restriction: Restriction) -> ProgramSource {
        let wanted = |op: &&'static OpDef| {
            matches!(op.clauses, Clauses::Tensor(_))
                && op.excluded.is_none()
                && !is_named_in(op.name, OTHERWISE)
                && (restriction.operators.is_empty() || restriction.operators.iter().any(|p| p.matches(op.name)))
        };
        let callable = |op: &'static OpDef| {
            let (mut calls, tame) = calls_of(op, suite);
            calls.retain(|call| has_datatypes(restriction.edition, call));
            let troubled = restriction.seldom.iter().any(|p| p.matches(op.name));
            let seldom = !tame || troubled || OF_MEMORY.iter().any(|prefix| op.name.starts_with(prefix));
            Callable { op, calls, seldom, troubled }
        };
        let operators = ops::all().filter(wanted).map(callable).filter(|op| !op.calls.is_empty()).collect();
        ProgramSource { operators, prim_funcs: templates(restriction.further), restriction }
    }

    /// How the programs are restricted.
    pub(crate) fn restriction(&self) -> &Restriction {
        &self.restriction
    }

    /// The edition by which programs are typed.
    pub fn edition(&self) -> Edition {
        self.restriction.edition
    }

    /// Whether programs are wanted for this rule.
    pub(crate) fn wants(&self, rule: Rule) -> bool {
        let rules = &self.restriction.rules;
        rules.is_empty() || rules.iter().any(|pattern| pattern.matches(rule.id()))
    }

    /// Whether any program is wanted.
    pub(crate) fn wants_all(&self) -> bool {
        self.restriction.rules.is_empty()
    }

    /// A context in the edition.
    pub(crate) fn cx(&self) -> Cx {
        Cx::new().with_edition(self.restriction.edition)
    }

    /// The names of the operators that can be called.
    pub fn operators(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.operators.iter().map(|callable| callable.op.name)
    }
}

/// Whether an edition has the data types of the arguments and results of a call: later ones leave some widths to an
/// extension.
fn has_datatypes(edition: Edition, call: &RandomCall) -> bool {
    let (literal, mut infos) = call.literal();
    let args = InferArgs { call: &literal, args: &infos, module: None };
    let result = call.op.infer(&mut Cx::new().with_edition(edition), &args);
    infos.extend(result);
    let param = |(at, info): (usize, &StructInfo)| Binder::var(Var::new(&format!("x{at}"))).annotated(info.clone());
    let params = infos.iter().enumerate().map(param).collect();
    let body = Expr::seq(Vec::new(), Expr::tuple(Vec::new()));
    let funcs = vec![global("main", function(params, body, StructInfo::Object, true))];
    let module = IrModule { funcs, ..IrModule::default() };
    let found = relax_spec::well_formed::check(&mut Cx::new().with_edition(edition), &module);
    // A missing entry point is not a fault of the call.
    found.iter().all(|finding| !OF_DATATYPES.contains(&finding.rule))
}

/// The criteria about the datatypes of annotations.
const OF_DATATYPES: [Rule; 3] = [rule!("WF23-12.20.LANES"), rule!("WF23-12.20.INTBITS"), rule!("WF23-12.20.FLOATBITS")];

/// Calls that give a value on random elements, or else on those of a case. Returns also whether they are of the first
/// kind.
fn calls_of(op: &'static OpDef, suite: &[Case]) -> (Vec<RandomCall>, bool) {
    let patterns = patterns(op, suite);
    let mut found: Vec<RandomCall> = Vec::new();
    let mut second = Vec::new();
    for n in 0..TRIED {
        let mut tape = Tape::from_seed(n, 200);
        let Some(pattern) = usize::try_from(n).ok().and_then(|n| patterns.get(n % patterns.len().max(1))) else {
            break;
        };
        let call = if n < 4 { pattern.clone() } else { draw(pattern, &mut tape) };
        if !is_small(&call) || !call.parts().all(is_plain) {
            continue;
        }
        if gives_value_from(&call, n) {
            found.push(call);
        } else if gives_value(&call, Fill::Given(n)) || gives_value(&call, Fill::Zeros) {
            second.push(call);
        }
        if found.len() >= KEPT {
            break;
        }
    }
    let tame = !found.is_empty();
    if !tame {
        found.extend(second.into_iter().take(KEPT / 2));
    }
    let is_good = |call: &RandomCall| is_small(call) && call.parts().all(is_plain) && gives_value_from(call, 0);
    let apart: Vec<RandomCall> = found.iter().take(VARIED).flat_map(one_attribute_apart).filter(is_good).collect();
    found.extend(apart);
    (found, tame)
}

/// Whether it does on the random elements of these seeds.
fn gives_value_from(call: &RandomCall, seed: u64) -> bool {
    (seed..seed + FILLS).all(|seed| gives_value(call, Fill::Random(seed)))
}

fn gives_value(call: &RandomCall, fill: Fill) -> bool {
    let value = run_within(call, fill, FUEL, MEMORY);
    value.is_some_and(|run| run.is_ok_and(|value| elements(&value) <= ELEMENTS))
}

fn elements(value: &Value) -> i64 {
    let of_tuple = || value.as_tuple().map_or(1, |tuple| tuple.fields().iter().map(elements).sum());
    value.as_tensor().map_or_else(of_tuple, |tensor| tensor.shape().iter().product())
}

/// Whether every tensor argument of a call is small.
pub(super) fn is_small(call: &RandomCall) -> bool {
    let is_large = |shape: &[i64]| shape.iter().product::<i64>() > ELEMENTS;
    !call.parts().any(|operand| matches!(operand, CallOperand::Tensor(_, shape) if is_large(shape)))
}

/// Whether an operand can be used in any program: not a function of the case, and not a data type whose tensors cannot
/// be passed.
fn is_plain(operand: &CallOperand) -> bool {
    match operand {
        CallOperand::Tensor(dtype, _) => dtype.is_bool() || dtype.is_int() || dtype.is_uint() || dtype.is_float(),
        CallOperand::Other(_, value) => matches!(value, Value::Prim(_) | Value::Str(_) | Value::DataType(_)),
        CallOperand::Tuple(_) | CallOperand::Shape(_) | CallOperand::Int(..) => true,
    }
}
