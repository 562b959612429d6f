//! Tests whether inference for operators is true of their results. Random calls are inferred from different knowledge
//! about their arguments, and run.

use relax_spec::rule;
use std::collections::BTreeMap;

use crate::calls::{Fill, Manner, RandomCall, VariableAssignment, draw, patterns, run_within};
use crate::generate::Tape;
use crate::questions::is_named_in;
use relax_spec::grammar::{PrimExpr, ShapeStructInfo, StructInfo, TensorShape, TensorStructInfo};
use relax_spec::judge::Cx;
use relax_spec::ops::{self, Clauses, InferArgs, OpDef};
use relax_spec::suite::Case;
use relax_spec::value::{Scalar, Stop, Tensor, Value};

/// How often calls of an operator were tried, and gave a value.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct CallTally {
    /// All calls.
    pub calls: u64,
    /// Those with a value.
    pub values: u64,
}

/// The results of calls of all operators.
#[derive(Clone, Default, Debug)]
pub struct OperatorReport {
    /// By operator.
    pub tallies: BTreeMap<&'static str, CallTally>,
    /// The faults: the seed of the call, the call in words, and the fault.
    pub faults: Vec<(u64, String, String)>,
}

/// The operators, each with the calls of the suite that random calls imitate.
pub struct OperatorTemplates(Vec<(&'static OpDef, Vec<RandomCall>)>);

impl OperatorTemplates {
    /// The operators with a reference implementation, and their calls in the cases.
    pub fn of(suite: &[Case]) -> OperatorTemplates {
        let tensor = ops::all().filter(|op| matches!(op.clauses, Clauses::Tensor(_)) && op.excluded.is_none());
        OperatorTemplates(tensor.map(|op| (op, patterns(op, suite))).filter(|(_, found)| !found.is_empty()).collect())
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.0.iter().map(|(op, _)| op.name)
    }

    /// The call of a seed, and choices for what is known of the arguments. Seeds go through the operators in turn.
    pub fn call(&self, seed: u64) -> Option<(RandomCall, Tape)> {
        self.call_of(usize::try_from(seed).unwrap_or(0).checked_rem(self.0.len())?, seed)
    }

    /// The call that a seed gives of one operator.
    fn call_of(&self, operator: usize, seed: u64) -> Option<(RandomCall, Tape)> {
        let (_, patterns) = self.0.get(operator)?;
        let mut tape = Tape::from_seed(seed, 300);
        let pattern = tape.pick(patterns)?;
        let call = draw(pattern, &mut tape);
        Some((call, tape))
    }

    /// Tries as many calls as there are seeds. Each is a call of the operator with the least progress, so that
    /// operators whose random calls seldom give a value get more of them.
    pub fn try_all(&self, seeds: std::ops::Range<u64>) -> OperatorReport {
        let mut report = OperatorReport::default();
        let mut tallies = vec![CallTally::default(); self.0.len()];
        for seed in seeds {
            let Some((at, tally)) = tallies.iter_mut().enumerate().min_by_key(|(_, tally)| tally.progress()) else {
                break;
            };
            let Some((call, tape)) = self.call_of(at, seed) else { continue };
            let (has_value, fault) = try_call(&call, tape, seed);
            tally.calls += 1;
            tally.values += u64::from(has_value);
            if let Some(fault) = fault {
                report.faults.push((seed, call.to_string(), fault));
            }
        }
        report.tallies = self.names().zip(tallies).collect();
        report
    }
}

/// This many calls without a value count as one with a value, so that an operator whose calls never give a value does
/// not take the turns of all others.
const SELDOM: u64 = 20;

impl CallTally {
    /// The progress of an operator.
    fn progress(self) -> u64 {
        self.values.max(self.calls / SELDOM)
    }
}

/// How many static views of each call are compared with its result.
const VIEWS: usize = 3;

/// Whether a call gives a value, and how inference and evaluation contradict each other. A call that gives a value is
/// inferred in several ways; one that does not is asked whether inference knows it.
fn try_call(call: &RandomCall, mut tape: Tape, seed: u64) -> (bool, Option<String>) {
    let random = [seed, seed + 1, seed + 2].map(Fill::Random);
    let fills = [Fill::Given(seed), random[0], Fill::Zeros, Fill::Ones, random[1], random[2]];
    let mut reasons = Vec::new();
    for fill in fills {
        match run_within(call, fill, 1_000_000, 1 << 26) {
            // The call's own declaration of its result is trusted by inference, and may be wrong here.
            Some(Ok(value)) if !as_said(call, &value) => {}
            Some(Ok(value)) => {
                return (true, (0..VIEWS).find_map(|_| contradicted(call, &value, &mut tape)));
            }
            // A failed assertion is not a mistake of the call.
            Some(Err(Stop::Error(error))) if error.rule == rule!("PURE.EFFECT.ABORT") => {}
            Some(Err(Stop::Error(error))) => reasons.push(error.message),
            // The result is not certain.
            Some(Err(Stop::OutOfFuel | Stop::Unspecified(_) | Stop::Unknown(_))) | None => {}
        }
    }
    let (literal, infos) = call.literal();
    let known = InferArgs { call: &literal, args: &infos, module: None };
    let certain =
        reasons.len() == fills.len() && !call.calls_function() && call.op.infer(&mut Cx::new(), &known).is_ok();
    let fails = |reason| format!("inference accepts what always fails: {reason}");
    (false, reasons.first().filter(|_| certain).map(fails))
}

/// Whether a value fits the type arguments of its call.
fn as_said(call: &RandomCall, value: &Value) -> bool {
    match call.sinfo_args.as_slice() {
        [] => true,
        [said] => describes(&VariableAssignment::default(), said, value),
        several => describes(&VariableAssignment::default(), &StructInfo::tuple(several.iter().cloned()), value),
    }
}

/// The operators whose clauses require a known rank or data type.
const NEED_RANKS: &str = "dynamic_strided_slice full full_like grad.take_backward meshgrid nn.attention \
    nn.attention_bias nn.attention_var_len nn.batch_norm nn.group_norm nn.instance_norm nn.layer_norm nn.pad \
    nn.pixel_shuffle nn.rms_norm outer strided_slice take tensor_to_shape";

/// The operators whose clauses require constants.
const NEED_CONSTANTS: &str = "dynamic_strided_slice strided_slice unique";

fn contradicted(call: &RandomCall, value: &Value, tape: &mut Tape) -> Option<String> {
    let mut world = VariableAssignment::default();
    let manner = Manner { symbols: tape.one_in(2), gaps: tape.one_in(3) };
    let (known, infos) = call.known(&mut world, manner, tape);
    let inferred = call.op.infer(&mut Cx::new(), &InferArgs { call: &known, args: &infos, module: None });
    let shown = || infos.iter().map(ToString::to_string).collect::<Vec<String>>().join(", ");
    match inferred {
        Ok(info) if describes(&world, &info, value) => None,
        Ok(info) => Some(format!("of ({}) it is derived {info}, and is {}", shown(), shape_of(value))),
        Err(_) if manner.gaps && is_named_in(call.op.name, NEED_RANKS) => None,
        Err(_) if (manner.symbols || manner.gaps) && is_named_in(call.op.name, NEED_CONSTANTS) => None,
        Err(error) => Some(format!("of ({}) it is refused, and gives a value: {}", shown(), error.message)),
    }
}

/// Whether information describes a value, where the assignment gives the sizes and shapes of the variables.
fn describes(world: &VariableAssignment, info: &StructInfo, value: &Value) -> bool {
    match (info, value) {
        (StructInfo::Object, _) => true,
        (StructInfo::Tensor(info), Value::Tensor(tensor)) => describes_tensor(world, info, tensor),
        (StructInfo::Shape(info), Value::Shape(sizes)) => describes_shape(world, info, sizes),
        (StructInfo::Tuple(infos), Value::Tuple(tuple)) => {
            let fields = tuple.fields();
            infos.len() == fields.len() && infos.iter().zip(fields).all(|(info, value)| describes(world, info, value))
        }
        (StructInfo::Prim(info), Value::Prim(prim)) => {
            let same = |value: &PrimExpr| match prim.value {
                Scalar::Int(i) => number(world, value) == Some(i),
                Scalar::Bool(_) | Scalar::UInt(_) | Scalar::Float(_) | Scalar::Ring(_) => true,
            };
            info.dtype == prim.dtype && info.value.as_ref().is_none_or(same)
        }
        (_, _) => false,
    }
}

fn describes_tensor(world: &VariableAssignment, info: &TensorStructInfo, tensor: &Tensor) -> bool {
    let sizes = tensor.shape();
    let shape = match &info.shape {
        None => true,
        Some(TensorShape::Dims(dims)) => same_sizes(world, dims, sizes),
        Some(TensorShape::Var(var) | TensorShape::DataflowVar(var)) => {
            world.shapes.iter().any(|(known, held)| *known == **var && held == sizes)
        }
        Some(TensorShape::Other(_)) => false,
    };
    let rank = relax_spec::grammar::Ndim::of_len(sizes.len());
    shape && (info.ndim.is_unknown() || info.ndim == rank) && (info.dtype.is_void() || info.dtype == tensor.dtype())
}

fn describes_shape(world: &VariableAssignment, info: &ShapeStructInfo, sizes: &[i64]) -> bool {
    let rank = relax_spec::grammar::Ndim::of_len(sizes.len());
    sizes.iter().all(|size| *size >= 0)
        && info.values.as_ref().is_none_or(|dims| same_sizes(world, dims, sizes))
        && (info.ndim.is_unknown() || info.ndim == rank)
}

fn same_sizes(world: &VariableAssignment, dims: &[PrimExpr], sizes: &[i64]) -> bool {
    dims.len() == sizes.len() && dims.iter().zip(sizes).all(|(dim, size)| number(world, dim) == Some(*size))
}

fn number(world: &VariableAssignment, dim: &PrimExpr) -> Option<i64> {
    relax_spec::shape::evaluate(&mut Cx::new(), dim, &|var| world.size(var)).ok()
}

/// The shapes in a value, which are what inference describes.
fn shape_of(value: &Value) -> String {
    match value {
        Value::Tensor(tensor) => format!("{}{:?}", tensor.dtype(), tensor.shape()),
        Value::Tuple(tuple) => {
            format!("({})", tuple.fields().iter().map(shape_of).collect::<Vec<String>>().join(", "))
        }
        other => other.to_string(),
    }
}
