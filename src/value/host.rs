//! The services that the evaluator offers to operators and packed functions.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::account::Account;
use super::effect::Effect;
use super::loops::MachineCode;
use super::noise::Noise;
use super::object::Value;
use super::packed::{PackedFunc, Registry};
use super::shared::SharedCalls;
use super::sides::Sides;
use super::stop::Stop;
use super::tensor::Tensor;
use super::workers::{Seat, Worker};
use super::written::snapshot;
use crate::book::Erratum;
use crate::grammar::{Name, PrimExpr, StructInfo};
use crate::judge::Cx;

/// The terms on which a packed function is called.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PackedCallContract {
    /// Whether the call is declared pure (`PURE.ATTR.REPR`).
    pub pure: bool,
    /// The required result.
    pub wanted: ResultContract,
}

impl PackedCallContract {
    /// The contract that follows from the type arguments of a call. Without any the result is open; several are the
    /// fields of a tuple.
    pub fn of_type_args(infos: &[StructInfo], pure: bool) -> PackedCallContract {
        let wanted = match infos {
            [] => ResultContract::Anything,
            [info] => ResultContract::Result(info.clone()),
            several => ResultContract::Result(StructInfo::tuple(several.iter().cloned())),
        };
        PackedCallContract { pure, wanted }
    }
}

/// The result that a call of a packed function requires.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum ResultContract {
    /// Any result.
    #[default]
    Anything,
    /// A result of the structural information in the type argument.
    Result(StructInfo),
    /// This many last arguments are written (`OP.CALLTIR.DPS`).
    Outputs(usize),
}

/// Exchanges a tensor among all workers, and returns a copy of each worker's tensor. A worker that runs alone gets its
/// own tensor.
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

/// Which implementations of operators a run uses. All give the same results, bit for bit, and cost the same steps.
#[derive(Clone, Copy, Debug, Default)]
pub enum Kernels {
    /// The definitions, as the clauses state them.
    Plain,
    /// Loops over slices for some operators; the definitions for the others.
    #[default]
    Fast,
    /// As [`Kernels::Fast`], and machine code for nests of loops of `PrimFunc`s.
    Native(&'static dyn MachineCode),
}

impl Kernels {
    /// Whether the definitions may be replaced by what gives the same.
    pub fn is_fast(self) -> bool {
        match self {
            Kernels::Plain => false,
            Kernels::Fast | Kernels::Native(_) => true,
        }
    }
}

/// An evaluator, as the routines it runs see it. It records rules, spends fuel, has effects and calls back.
pub trait Host {
    /// The context, which records the used rules.
    fn cx(&mut self) -> &mut Cx;

    /// Spends fuel.
    fn spend(&mut self, steps: u64) -> Result<(), Stop>;

    /// The remaining fuel.
    fn fuel_left(&self) -> u64;

    /// The account of the memory that the run may use.
    fn account(&self) -> &Rc<Account>;

    /// The noise added to the floats that this run rounds, if any.
    fn noise(&self) -> Option<Rc<Noise>> {
        None
    }

    /// Which implementations of operators the run uses.
    fn kernels(&self) -> Kernels {
        Kernels::default()
    }

    /// The record of the sides that choices take, if there is one.
    fn sides(&self) -> Option<Rc<Sides>> {
        None
    }

    /// The results of calls of `PrimFunc`s that other runs have computed, if they are shared.
    fn shared(&self) -> Option<Rc<SharedCalls>> {
        None
    }

    /// Records a visible effect.
    fn effect(&mut self, effect: Effect);

    /// The packed functions that the program can look up.
    fn registry(&self) -> &Registry;

    /// The function registered under a global symbol.
    fn find_packed(&mut self, symbol: &Name) -> Option<Rc<PackedFunc>>;

    /// EVAL.CALL.CALLEE: calls a value.
    fn call_value(&mut self, callee: &Value, args: Vec<Value>) -> Result<Value, Stop>;

    /// EVAL.CALL.PACKED: calls a packed function.
    fn call_packed(&mut self, f: &PackedFunc, args: &[Value], asked: PackedCallContract) -> Result<Value, Stop>;

    /// The contract of the current call of a packed function.
    fn asked(&self) -> &PackedCallContract;

    /// SI.DIM.EVAL: the value of a dimension at the place of the call.
    fn eval_dim(&mut self, e: &PrimExpr) -> Result<i64, Stop>;

    /// Matches a value (`match(v, S, sigma)`); the shape variables that it binds are forgotten afterwards.
    fn match_without_binding(&mut self, v: &Value, s: &StructInfo) -> Result<(), Stop>;

    /// The worker that runs the program, and the number of workers.
    fn seat(&self) -> Seat {
        Seat::ALONE
    }

    /// The contributions of all workers to a collective, in order. A worker that runs alone is the only one to
    /// contribute.
    fn exchange(&mut self, what: &str, mine: &Tensor) -> Result<Vec<Tensor>, Stop> {
        let _ = what;
        Ok(vec![mine.clone()])
    }

    /// PURE.EFFECT.IO: prints values. This is a visible effect, in the order of events.
    fn print(&mut self, values: &[Value]) -> Result<(), Stop> {
        readable(self, values)?;
        let printed = snapshot(values)?;
        if self.cx().fire(rule!("PURE.EFFECT.IO")) {
            self.effect(Effect::Print(printed));
        }
        Ok(())
    }
}

/// Checks that all tensors in some values can be read. None may have been released (`MEM.RELEASED`). The bytes in a
/// storage must have been written (`MEM.UNWRITTEN`), and not overwritten by another tensor (`MEM.OVERWRITTEN`).
///
/// # Errors
///
/// A tensor cannot be read. The error says where the tensor was made, and where it was released or overwritten.
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

/// Whether a boxed truth value is a condition. The text of 2024-04 says so.
///
/// Errata: A73, the first edition does not know boxes. N67, literally a scalar is a tensor in the text of 2023-12.
pub fn boxed_truth_counts(cx: &Cx) -> bool {
    cx.has(rule!("EVAL.IF.PRIMEXPR")) || !cx.literal_any(&[Erratum::A73, Erratum::N67])
}
