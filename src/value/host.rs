//! What operators and packed functions may ask of the evaluator that runs them.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::account::Account;
use super::effect::Effect;
use super::noise::Noise;
use super::object::Value;
use super::packed::{PackedFunc, Registry};
use super::sides::Sides;
use super::stop::Stop;
use super::tensor::Tensor;
use super::workers::{Seat, Worker};
use super::written::snapshot;
use crate::book::Erratum;
use crate::grammar::{Name, PrimExpr, StructInfo};
use crate::judge::Cx;

/// What a call of a packed function says of it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PackedCallContract {
    /// Whether it is declared pure there (`PURE.ATTR.REPR`).
    pub pure: bool,
    /// What is wanted of it.
    pub wanted: ResultContract,
}

impl PackedCallContract {
    /// What the type arguments of a call say: none leaves the result open, several are those of a tuple.
    pub fn of_type_args(infos: &[StructInfo], pure: bool) -> PackedCallContract {
        let wanted = match infos {
            [] => ResultContract::Anything,
            [info] => ResultContract::Result(info.clone()),
            several => ResultContract::Result(StructInfo::tuple(several.iter().cloned())),
        };
        PackedCallContract { pure, wanted }
    }
}

/// What is wanted of a packed function.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum ResultContract {
    /// Any result.
    #[default]
    Anything,
    /// A result of the structural information that the type argument says.
    Result(StructInfo),
    /// That the last so many arguments are written (`OP.CALLTIR.DPS`).
    Outputs(usize),
}

/// What all workers give for one tensor each. Of every worker's tensor a copy is made; whoever runs alone has his own.
pub fn exchanged<H: Host + ?Sized>(
    m: &mut H,
    worker: Option<Rc<Worker>>,
    what: &str,
    mine: &Tensor,
) -> Result<Vec<Tensor>, Stop> {
    let Some(worker) = worker else { return Ok(vec![mine.clone()]) };
    let (count, size) = (worker.seat().of as u64, mine.len() as u64);
    m.spend(count.saturating_mul(size))?;
    let bytes = size.saturating_mul(mine.dtype().bytes() as u64);
    let _held = m.account().hold(count.saturating_mul(bytes))?;
    worker.exchange(what, mine)
}

/// An evaluator, as seen by what it runs: to record rules, to spend fuel, to have effects, and to call back.
pub trait Host {
    /// The context: it records the rules that are used.
    fn cx(&mut self) -> &mut Cx;

    /// Uses up fuel.
    fn spend(&mut self, steps: u64) -> Result<(), Stop>;

    /// How much fuel is left.
    fn fuel_left(&self) -> u64;

    /// The memory that the run may hold.
    fn account(&self) -> &Rc<Account>;

    /// What moves the floats that this run rounds, if anything does.
    fn noise(&self) -> Option<Rc<Noise>> {
        None
    }

    /// Where it is noted which sides choices take, if it is.
    fn sides(&self) -> Option<Rc<Sides>> {
        None
    }

    /// Something visible happens.
    fn effect(&mut self, effect: Effect);

    /// The packed functions that the program finds.
    fn registry(&self) -> &Registry;

    /// What is registered under a global symbol.
    fn find_packed(&mut self, symbol: &Name) -> Option<Rc<PackedFunc>>;

    /// EVAL.CALL.CALLEE: a call of a value.
    fn call_value(&mut self, callee: &Value, args: Vec<Value>) -> Result<Value, Stop>;

    /// EVAL.CALL.PACKED: a call of a packed function.
    fn call_packed(&mut self, f: &PackedFunc, args: &[Value], asked: PackedCallContract) -> Result<Value, Stop>;

    /// What the call of the packed function that runs says of it.
    fn asked(&self) -> &PackedCallContract;

    /// SI.DIM.EVAL: the value of a dimension where the call stands.
    fn eval_dim(&mut self, e: &PrimExpr) -> Result<i64, Stop>;

    /// A match (`match(v, S, sigma)`) that binds no shape variables beyond itself.
    fn match_without_binding(&mut self, v: &Value, s: &StructInfo) -> Result<(), Stop>;

    /// Which of how many workers runs the program.
    fn seat(&self) -> Seat {
        Seat::ALONE
    }

    /// What all workers bring to a collective, in their order; whoever runs alone has brought all of it.
    fn exchange(&mut self, what: &str, mine: &Tensor) -> Result<Vec<Tensor>, Stop> {
        let _ = what;
        Ok(vec![mine.clone()])
    }

    /// PURE.EFFECT.IO: values are printed, a visible event in the order in which it happens.
    fn print(&mut self, values: &[Value]) -> Result<(), Stop> {
        readable(self, values)?;
        let printed = snapshot(values)?;
        if self.cx().fire(rule!("PURE.EFFECT.IO")) {
            self.effect(Effect::Print(printed));
        }
        Ok(())
    }
}

/// All tensors in some values are read: none of them may have been released (`MEM.RELEASED`), and what lies in a storage must have
/// been written (`MEM.UNWRITTEN`), and by no one else since (`MEM.OVERWRITTEN`).
///
/// # Errors
///
/// What cannot be read, with its place and where that was done.
pub fn readable(m: &mut (impl Host + ?Sized), values: &[Value]) -> Result<(), Stop> {
    let (mut todo, mut seen) = (values.iter().rev().collect::<Vec<&Value>>(), FxHashSet::default());
    while let Some(value) = todo.pop() {
        if let Value::Tensor(tensor) = value {
            if let Some(poison) = tensor.poison(|| m.account().place()) {
                poison.check(m.cx())?;
            }
        } else if let Value::Tuple(tuple) = value
            && seen.insert(Rc::as_ptr(tuple))
        {
            todo.extend(tuple.fields().iter().rev());
        }
    }
    Ok(())
}

/// Whether a boxed truth value is a condition: by the words of 2024-04 it is.
///
/// Errata: A73, the first edition does not know boxes; N67, literally a scalar is a tensor by those of 2023-12.
pub fn boxed_truth_counts(cx: &Cx) -> bool {
    cx.has(rule!("EVAL.IF.PRIMEXPR")) || !cx.literal_any(&[Erratum::A73, Erratum::N67])
}
