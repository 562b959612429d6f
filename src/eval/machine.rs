//! The state of a run: the current activation, the global scope, the effects so far, and the limits.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use super::free::FreeVariables;
use super::prelude::prelude;
use super::scope::{ScopeMark, Scopes};
use super::trace::{RunObserver, TraceEvent, TraceStep};
use crate::grammar::{Function, IrModule, Name, PrimExpr, ShapeVar, Span, StructInfo, Var};
use crate::judge::Cx;
use crate::number::real::ConstantReading;
use crate::value::{
    Account, Closure, Effect, Host, Kernels, Noise, PackedCallContract, PackedFunc, PrimFuncObj, Registry, Seat,
    SharedCalls, Sides, Stop, Tensor, Value, Worker, exchanged,
};

/// The limits and choices of a run.
#[derive(Clone, Debug)]
pub struct EvalOptions {
    /// The largest number of steps. Each element that an operator computes is one step.
    pub fuel: u64,
    /// The largest number of bytes that tensors of the run and temporary data of operators may use at once.
    pub memory: u64,
    /// The largest number of activations that are open at once.
    pub max_depth: usize,
    /// The order in which shape variables of a signature are bound.
    pub signature_order: SignatureOrder,
    /// Whether to record every step.
    pub trace: bool,
    /// The packed functions that the program can call.
    pub registry: Registry,
    /// The derived results of functions that have no return annotation, by the address of the function.
    pub results: Option<Rc<HashMap<usize, StructInfo>>>,
    /// The observer.
    pub watch: Option<Rc<dyn RunObserver>>,
    /// The source of perturbations of rounded floats, if there is one.
    pub noise: Option<Rc<Noise>>,
    /// How constants are read, if it is the ring in which the run computes (`REFINE.RING.NUMBERS`).
    pub ring: Option<ConstantReading>,
    /// Which implementations of operators the run uses.
    pub kernels: Kernels,
    /// The results of calls of `PrimFunc`s, which runs with the same ones share.
    pub shared: Option<Rc<SharedCalls>>,
    /// The position among the workers that run the program together. Without one the program runs alone.
    pub worker: Option<Rc<Worker>>,
}

/// The order in which a signature binds its shape variables (A08).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SignatureOrder {
    /// From left to right, so that a variable is bound before its other uses.
    #[default]
    LeftToRight,
    /// First the variables that stand alone, in the whole signature.
    Any,
}

impl Default for EvalOptions {
    fn default() -> EvalOptions {
        EvalOptions {
            fuel: 50_000_000,
            memory: 1 << 30,
            max_depth: 50_000,
            signature_order: SignatureOrder::default(),
            trace: false,
            registry: prelude(),
            results: None,
            watch: None,
            noise: None,
            ring: None,
            kernels: Kernels::default(),
            shared: None,
            worker: None,
        }
    }
}

/// The variables that a body sees: its own bindings and those that its closure captured.
#[derive(Debug)]
pub(super) struct Activation {
    pub(super) closure: Option<Rc<Closure>>,
    pub(super) vars: Scopes<Var, Value>,
    pub(super) shape_vars: Scopes<ShapeVar, i64>,
}

/// The start of a scope, for variables and for shape variables.
#[derive(Default)]
pub(super) struct ScopeMarks {
    vars: ScopeMark,
    shape_vars: ScopeMark,
}

impl Activation {
    pub(super) fn of(closure: Option<Rc<Closure>>) -> Activation {
        Activation { closure, vars: Scopes::new(), shape_vars: Scopes::new() }
    }

    /// Whether this activation runs the given definition.
    pub(super) fn runs(&self, func: &Arc<Function>) -> bool {
        let running = self.closure.as_ref().and_then(|closure| closure.func.as_ref());
        running.is_some_and(|running| Arc::ptr_eq(running, func))
    }

    /// Begins a scope.
    pub(super) fn push(&self) -> ScopeMarks {
        ScopeMarks { vars: self.vars.push(), shape_vars: self.shape_vars.push() }
    }

    /// Ends a scope.
    pub(super) fn pop(&mut self, marks: ScopeMarks) {
        self.vars.pop(marks.vars);
        self.shape_vars.pop(marks.shape_vars);
    }

    /// The value of a variable: a local variable, the closure's own name, or a captured variable.
    pub(super) fn var(&self, var: &Var) -> Option<Value> {
        if let Some(value) = self.vars.get(var) {
            return Some(value.clone());
        }
        let closure = self.closure.as_ref()?;
        if closure.self_name.as_ref() == Some(var) {
            return Some(Value::Closure(closure.clone()));
        }
        closure.captured.get(var).cloned()
    }

    /// The value of a shape variable, local or captured.
    pub(super) fn shape_var(&self, var: &ShapeVar) -> Option<i64> {
        let captured = || self.closure.as_ref()?.captured_shape_vars.get(var);
        self.shape_vars.get(var).or_else(captured).copied()
    }
}

/// A run in progress. Operators and packed functions receive it in order to call back, spend fuel and have effects.
#[derive(Debug)]
pub struct Machine<'m> {
    /// The context. It records the rules that are used, and knows which rules are masked.
    pub cx: &'m mut Cx,
    pub(super) module: &'m IrModule,
    pub(super) options: &'m EvalOptions,
    /// The global scope (`MOD.LOAD-FIRST`).
    pub(super) globals: BTreeMap<Name, Value>,
    /// The `PrimFunc`s of the module by global symbol (`EVAL.EXTERNFUNC.PRIMFUNC`).
    pub(super) prim_funcs: BTreeMap<Name, Rc<PrimFuncObj>>,
    pub(super) activation: Activation,
    pub(super) effects: Vec<Effect>,
    pub(super) steps: Vec<TraceStep>,
    pub(super) free_variables: HashMap<usize, Rc<FreeVariables>>,
    pub(super) fuel: u64,
    pub(super) account: Rc<Account>,
    pub(super) depth: usize,
    /// Whether a packed function has mutated an argument.
    pub(super) mutates: bool,
    /// The contract that the running call of a packed function declares.
    pub(super) asked: PackedCallContract,
    /// The number of open `DataflowBlock`s, in all activations together.
    pub(super) dataflow_blocks: usize,
}

impl<'m> Machine<'m> {
    /// A run that has not started: no global exists yet, and no effect has happened.
    pub fn new(cx: &'m mut Cx, module: &'m IrModule, options: &'m EvalOptions) -> Machine<'m> {
        Machine {
            cx,
            module,
            options,
            globals: BTreeMap::new(),
            prim_funcs: BTreeMap::new(),
            activation: Activation::of(None),
            effects: Vec::new(),
            steps: Vec::new(),
            free_variables: HashMap::new(),
            fuel: options.fuel,
            account: Account::computing(options.memory, options.ring),
            depth: 0,
            mutates: false,
            asked: PackedCallContract::default(),
            dataflow_blocks: 0,
        }
    }

    /// Records a step if the run is traced. Callers whose events are costly test [`Machine::traces`] first.
    pub(super) fn step(&mut self, span: Span, event: TraceEvent) {
        if self.options.trace {
            self.steps.push(TraceStep { depth: self.depth, span, event });
        }
    }

    pub(super) fn traces(&self) -> bool {
        self.options.trace
    }
}

impl Host for Machine<'_> {
    fn cx(&mut self) -> &mut Cx {
        self.cx
    }

    fn spend(&mut self, steps: u64) -> Result<(), Stop> {
        self.fuel = self.fuel.checked_sub(steps).ok_or(Stop::OutOfFuel)?;
        Ok(())
    }

    fn fuel_left(&self) -> u64 {
        self.fuel
    }

    fn account(&self) -> &Rc<Account> {
        &self.account
    }

    fn noise(&self) -> Option<Rc<Noise>> {
        self.options.noise.clone()
    }

    fn kernels(&self) -> Kernels {
        self.options.kernels
    }

    fn sides(&self) -> Option<Rc<Sides>> {
        self.options.watch.as_ref().and_then(|watch| watch.sides())
    }

    fn shared(&self) -> Option<Rc<SharedCalls>> {
        self.options.shared.clone()
    }

    fn seat(&self) -> Seat {
        self.options.worker.as_ref().map_or(Seat::ALONE, |worker| worker.seat())
    }

    fn exchange(&mut self, what: &str, mine: &Tensor) -> Result<Vec<Tensor>, Stop> {
        exchanged(self, self.options.worker.clone(), what, mine)
    }

    fn effect(&mut self, effect: Effect) {
        if self.options.trace {
            self.step(Span::NONE, TraceEvent::Effect(effect.clone()));
        }
        self.effects.push(effect);
    }

    fn registry(&self) -> &Registry {
        &self.options.registry
    }

    fn find_packed(&mut self, symbol: &Name) -> Option<Rc<PackedFunc>> {
        Machine::find_packed(self, symbol)
    }

    fn call_value(&mut self, callee: &Value, args: Vec<Value>) -> Result<Value, Stop> {
        Machine::call_value(self, callee, args)
    }

    fn call_packed(&mut self, f: &PackedFunc, args: &[Value], asked: PackedCallContract) -> Result<Value, Stop> {
        Machine::call_packed(self, f, args, asked)
    }

    fn asked(&self) -> &PackedCallContract {
        &self.asked
    }

    fn eval_dim(&mut self, e: &PrimExpr) -> Result<i64, Stop> {
        Machine::eval_dim(self, e)
    }

    fn match_without_binding(&mut self, v: &Value, s: &StructInfo) -> Result<(), Stop> {
        let mark = self.activation.shape_vars.push();
        let result = self.match_value(v, s);
        self.activation.shape_vars.pop(mark);
        result
    }
}
