//! Runs a Relay program directly, by a walk over its own tree. It shares only tensors and the reference implementations
//! of operators with the evaluator of Relax, so that the results of a translation can be compared.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::operators::{self, StepOperand};
use super::tree::{
    BaseType, Call, Definition, Expr, ExprKind, Function, If, Program, RelayDim, Shape, TensorTypeExpr, TypeExpr,
    TypeKind,
};
use crate::grammar::{self as relax, DataType, Name, PrimExpr, Span, StructInfo};
use crate::judge::{Cx, Ending, with_stack};
use crate::ops::EvalArgs;
use crate::value::{self, Account, Effect, Held, Host, PackedCallContract, PackedFunc, Registry, Stop};

/// The limits of a run: steps, bytes and depth of calls.
const FUEL: u64 = 50_000_000;
const MEMORY: u64 = 1 << 27;
const DEPTH: usize = 50_000;

/// A value of Relay.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Tensor(value::Tensor),
    Tuple(Rc<TupleObj>),
    Closure(Rc<Closure>),
}

/// A tuple. Its memory is counted, because every step may make tuples.
#[derive(Debug)]
pub(crate) struct TupleObj {
    fields: Vec<Value>,
    _held: Option<Held>,
}

impl Value {
    /// A tuple that is not counted in any run.
    pub(crate) fn uncounted(fields: Vec<Value>) -> Value {
        Value::Tuple(Rc::new(TupleObj { fields, _held: None }))
    }
}

/// A function with the variables around it.
#[derive(Debug)]
pub(crate) struct Closure {
    function: Arc<Function>,
    around: Option<Rc<BoundVariable>>,
    own_name: Option<Name>,
}

/// A variable, with the list of variables bound before it.
#[derive(Debug)]
pub(crate) struct BoundVariable {
    name: Name,
    value: Value,
    outer: Option<Rc<BoundVariable>>,
}

/// A scope may be as long as the number of bindings in a program.
impl Drop for BoundVariable {
    fn drop(&mut self) {
        let mut outer = self.outer.take();
        while let Some(mut scope) = outer.and_then(|scope| Rc::try_unwrap(scope).ok()) {
            outer = scope.outer.take();
        }
    }
}

/// Values nest as deep as the recursion of programs, and tuples deeper than the stack allows.
impl Drop for TupleObj {
    fn drop(&mut self) {
        let mut todo = std::mem::take(&mut self.fields);
        while let Some(value) = todo.pop() {
            if let Value::Tuple(tuple) = value
                && let Some(mut tuple) = Rc::into_inner(tuple)
            {
                todo.append(&mut tuple.fields);
            }
        }
    }
}

/// Closures nest as deep as the recursion of programs.
impl Drop for Closure {
    fn drop(&mut self) {
        let around = self.around.take();
        with_stack(|| drop(around));
    }
}

/// Runs a function of a program on arguments.
pub fn evaluate(cx: &mut Cx, program: &Program, entry: &str, args: &[value::Value]) -> Ending<value::Value> {
    let mut machine = Machine::new(cx, program, FUEL);
    let result = machine.start(entry, args).and_then(|value| outside(&value));
    match result {
        Ok(value) => Ending::Value(value),
        Err(Stop::Error(error)) => Ending::Error(error),
        Err(Stop::OutOfFuel) => Ending::OutOfFuel,
        Err(Stop::Unspecified(reason)) => Ending::Unspecified(reason),
        Err(Stop::Unknown(what)) => Ending::Unknown(what),
    }
}

/// RELAY.ENV.SERVICES: the value of a closed expression, if this number of steps is enough.
pub(super) fn constant(cx: &mut Cx, program: &Program, expr: &Expr, fuel: u64) -> Option<value::Value> {
    Machine::new(cx, program, fuel).expr(expr, &None).and_then(|value| outside(&value)).ok()
}

/// The maximum nesting of a value that is passed to the outside.
const DEEPEST: usize = 10_000;

/// The value as a value of the public interface.
fn outside(value: &Value) -> Result<value::Value, Stop> {
    outside_once(value, &mut FxHashMap::default(), 0)
}

/// The same, where `known` holds the converted tuples by their addresses, because values share them.
fn outside_once(
    value: &Value,
    known: &mut FxHashMap<*const Value, value::Value>,
    depth: usize,
) -> Result<value::Value, Stop> {
    match value {
        Value::Tensor(tensor) => Ok(value::Value::Tensor(tensor.clone())),
        Value::Tuple(tuple) => {
            if let Some(found) = known.get(&tuple.fields.as_ptr()) {
                return Ok(found.clone());
            }
            if depth >= DEEPEST {
                return Err(Stop::unspecified(format!("a value nests deeper than {DEEPEST} levels")));
            }
            let fields = tuple.fields.iter().map(|field| with_stack(|| outside_once(field, known, depth + 1)));
            let found = value::Value::tuple(fields.collect::<Result<_, Stop>>()?);
            known.insert(tuple.fields.as_ptr(), found.clone());
            Ok(found)
        }
        Value::Closure(_) => Ok(value::Value::Closure(Rc::new(value::Closure::unknown()))),
    }
}

type VariableChain = Option<Rc<BoundVariable>>;

fn with(scope: &VariableChain, name: &Name, value: Value) -> VariableChain {
    Some(Rc::new(BoundVariable { name: name.clone(), value, outer: scope.clone() }))
}

fn find(scope: &VariableChain, name: &Name) -> Option<Value> {
    let mut at = scope.as_ref();
    while let Some(here) = at {
        if here.name == *name {
            return Some(here.value.clone());
        }
        at = here.outer.as_ref();
    }
    None
}

struct Machine<'m> {
    cx: &'m mut Cx,
    program: &'m Program,
    fuel: u64,
    depth: usize,
    account: Rc<Account>,
    registry: Registry,
    asked: PackedCallContract,
}

/// The meaning of the type parameters of a call.
#[derive(Default)]
struct TypeArguments {
    bases: BTreeMap<Name, DataType>,
    shapes: BTreeMap<Name, Vec<i64>>,
}

impl<'m> Machine<'m> {
    fn new(cx: &'m mut Cx, program: &'m Program, fuel: u64) -> Machine<'m> {
        let (registry, asked) = (Registry::default(), PackedCallContract::default());
        Machine { cx, program, fuel, depth: 0, account: Account::new(MEMORY), registry, asked }
    }

    /// A new tuple.
    fn tuple(&self, fields: Vec<Value>) -> Result<Value, Stop> {
        let held = Some(self.account.hold_tuple(fields.len())?);
        Ok(Value::Tuple(Rc::new(TupleObj { fields, _held: held })))
    }

    /// A value of the public interface as a Relay value; `None` if Relay has no such value.
    fn inside(
        &self,
        value: &value::Value,
        known: &mut FxHashMap<*const value::TupleObj, Value>,
    ) -> Result<Option<Value>, Stop> {
        if let value::Value::Tensor(tensor) = value {
            return Ok(Some(Value::Tensor(tensor.clone())));
        }
        let value::Value::Tuple(tuple) = value else { return Ok(None) };
        if let Some(found) = known.get(&Rc::as_ptr(tuple)) {
            return Ok(Some(found.clone()));
        }
        let mut fields = Vec::new();
        for field in tuple.fields() {
            match with_stack(|| self.inside(field, known))? {
                Some(field) => fields.push(field),
                None => return Ok(None),
            }
        }
        let found = self.tuple(fields)?;
        known.insert(Rc::as_ptr(tuple), found.clone());
        Ok(Some(found))
    }

    fn start(&mut self, entry: &str, args: &[value::Value]) -> Result<Value, Stop> {
        let definition = self.program.get(entry);
        let definition =
            definition.ok_or_else(|| Stop::error(rule!("RELAY.GLOBAL.RESOLVE"), format!("there is no @{entry}")))?;
        let mut known = FxHashMap::default();
        let inside =
            args.iter().map(|arg| self.inside(arg, &mut known)).collect::<Result<Vec<Option<Value>>, Stop>>()?;
        let args: Option<Vec<Value>> = inside.into_iter().collect();
        let args = args.ok_or_else(|| Stop::unspecified("an argument is neither a tensor nor a tuple"))?;
        self.apply(&global(definition), args)
    }

    fn expr(&mut self, expr: &Expr, scope: &VariableChain) -> Result<Value, Stop> {
        self.spend(1)?;
        with_stack(|| match &expr.kind {
            ExprKind::Local(name) => find(scope, name)
                .ok_or_else(|| Stop::error(rule!("RELAY.LOCAL.RESOLVE"), format!("%{name} is not bound"))),
            ExprKind::Global(name) => match self.program.get(name) {
                Some(definition) => Ok(Value::Closure(global(definition))),
                None => Err(Stop::error(rule!("RELAY.GLOBAL.RESOLVE"), format!("@{name} is not defined"))),
            },
            ExprKind::Operator(name) => Err(Stop::unspecified(format!("the operator {name} is used as a value"))),
            ExprKind::Constant(data) => {
                let tensor = self.account.tensor(data)?.map_err(|error| Stop::unspecified(error.to_string()))?;
                Ok(Value::Tensor(tensor))
            }
            ExprKind::Tuple(fields) => {
                let fields = self.all(fields, scope)?;
                self.tuple(fields)
            }
            ExprKind::Project(tuple, index) => match self.expr(tuple, scope)? {
                Value::Tuple(tuple) => tuple.fields.get(*index).cloned().ok_or_else(|| no_field(*index)),
                Value::Tensor(_) | Value::Closure(_) => Err(no_field(*index)),
            },
            ExprKind::Let(bindings, result) => {
                let mut scope = scope.clone();
                for binding in bindings {
                    let value = match &binding.value.kind {
                        ExprKind::Function(function) => self.closure(function, &scope, Some(&binding.var.name)),
                        _ => self.expr(&binding.value, &scope)?,
                    };
                    scope = with(&scope, &binding.var.name, value);
                }
                self.expr(result, &scope)
            }
            ExprKind::If(e) => self.conditional(e, scope),
            ExprKind::Function(function) => Ok(self.closure(function, scope, None)),
            ExprKind::Call(call) => self.call(call, scope),
        })
    }

    fn all(&mut self, exprs: &[Expr], scope: &VariableChain) -> Result<Vec<Value>, Stop> {
        exprs.iter().map(|expr| self.expr(expr, scope)).collect()
    }

    /// RELAY.FEATURES: a function literal sees the variables around it. RELAY.FIRSTCLASS: it is a value like any other.
    fn closure(&mut self, function: &Arc<Function>, scope: &VariableChain, own_name: Option<&Name>) -> Value {
        let around = match scope {
            Some(_) => self.cx.conclude(rule!("RELAY.FEATURES"), scope.clone()),
            None => None,
        };
        let closure = Closure { function: function.clone(), around, own_name: own_name.cloned() };
        self.cx.conclude(rule!("RELAY.FIRSTCLASS"), Value::Closure(Rc::new(closure)))
    }

    /// RELAY.FEATURES: evaluates only the selected branch.
    fn conditional(&mut self, e: &If, scope: &VariableChain) -> Result<Value, Stop> {
        let condition = self.expr(&e.condition, scope)?;
        let truth = match &condition {
            Value::Tensor(tensor) if tensor.dtype().is_bool() && tensor.shape().is_empty() => tensor.get(0),
            Value::Tensor(_) | Value::Tuple(_) | Value::Closure(_) => None,
        };
        match truth {
            Some(truth) => {
                let holds = self.cx.conclude(rule!("RELAY.FEATURES"), truth.is_true());
                self.expr(if holds { &e.then } else { &e.otherwise }, scope)
            }
            None => Err(Stop::error(rule!("RELAY.FEATURES"), "the condition is no truth value")),
        }
    }

    fn call(&mut self, call: &Call, scope: &VariableChain) -> Result<Value, Stop> {
        if let ExprKind::Operator(name) = &call.callee.kind {
            let args = self.all(&call.args, scope)?;
            return self.operator(name, &call.attrs, &args);
        }
        let callee = self.expr(&call.callee, scope)?;
        let args = self.all(&call.args, scope)?;
        match callee {
            Value::Closure(closure) => self.apply(&closure, args),
            Value::Tensor(_) | Value::Tuple(_) => {
                Err(Stop::error(rule!("RELAY.FIRSTCLASS"), "what is called is no function"))
            }
        }
    }

    fn apply(&mut self, closure: &Rc<Closure>, args: Vec<Value>) -> Result<Value, Stop> {
        let function = &closure.function;
        if self.depth >= DEPTH {
            return Err(Stop::OutOfFuel);
        }
        if function.params.len() != args.len() {
            return Err(Stop::error(rule!("RELAY.DEF.RESTRICT"), "another number of arguments than parameters"));
        }
        let mut instance = TypeArguments::default();
        let mut scope = closure.around.clone();
        if let Some(name) = &closure.own_name {
            scope = with(&scope, name, Value::Closure(closure.clone()));
        }
        for (param, arg) in function.params.iter().zip(args) {
            self.restricted(param.annotation.as_ref(), &arg, &mut instance)?;
            scope = with(&scope, &param.name, arg);
        }
        self.depth += 1;
        let result = with_stack(|| self.expr(&function.body, &scope));
        self.depth -= 1;
        let result = result?;
        self.restricted(function.result.as_ref(), &result, &mut instance)?;
        Ok(result)
    }

    /// RELAY.DEF.RESTRICT: checks that a value has the annotated type.
    fn restricted(
        &mut self,
        annotation: Option<&TypeExpr>,
        value: &Value,
        instance: &mut TypeArguments,
    ) -> Result<(), Stop> {
        let Some(annotation) = annotation else { return Ok(()) };
        let fits = is_of_type(value, annotation, instance);
        if !self.cx.premise(rule!("RELAY.DEF.RESTRICT"), 6, fits) {
            return Err(Stop::error(rule!("RELAY.DEF.RESTRICT"), "a value is not of the type that is annotated"));
        }
        Ok(())
    }

    /// RELAY.OP.EXTERNAL: the implementation of an operator determines its result.
    fn operator(&mut self, name: &Name, attrs: &relax::Attrs, args: &[Value]) -> Result<Value, Stop> {
        operators::registered(self.cx, name, Span::NONE)
            .map_err(|fault| Stop::error(rule!("RELAY.OP.REGISTER"), fault.message))?;
        let values = args.iter().map(outside).collect::<Result<Vec<value::Value>, Stop>>()?;
        let ranks: Vec<Option<usize>> = values.iter().map(|value| value.as_tensor().map(|t| t.shape().len())).collect();
        let wrong = |message: String| Stop::error(rule!("RELAY.TYPEREL"), message);
        let steps = operators::steps(name, &ranks, attrs).map_err(wrong)?;
        let mut results: Vec<value::Value> = Vec::new();
        for step in &steps {
            let operands: Vec<value::Value> =
                step.operands.iter().map(|operand| operated(operand, &values, &results)).collect();
            let call = step.call(vec![relax::Expr::tuple(Vec::new()); operands.len()], Span::NONE);
            let result = step.op.evaluate(self, &EvalArgs { call: &call, values: &operands, result: None })?;
            results.push(result);
        }
        let result = match results.pop() {
            Some(result) => self.inside(&result, &mut FxHashMap::default())?,
            None => None,
        };
        result.ok_or_else(|| Stop::unspecified("the result of an operator is neither a tensor nor a tuple"))
    }
}

fn operated(operand: &StepOperand, args: &[value::Value], results: &[value::Value]) -> value::Value {
    let of = |values: &[value::Value], i: usize| values.get(i).cloned().unwrap_or_else(value::Value::unit);
    match operand {
        StepOperand::Arg(i) => of(args, *i),
        StepOperand::Step(i) => of(results, *i),
        StepOperand::Shape(sizes) => value::Value::shape(sizes),
    }
}

fn no_field(index: usize) -> Stop {
    Stop::error(rule!("RELAY.FEATURES"), format!("there is no field {index}"))
}

fn global(definition: &Definition) -> Rc<Closure> {
    Rc::new(Closure { function: definition.function.clone(), around: None, own_name: None })
}

/// Whether a value has a type. The first match of a type parameter determines its meaning.
fn is_of_type(value: &Value, ty: &TypeExpr, instance: &mut TypeArguments) -> bool {
    with_stack(|| match (value, &ty.kind) {
        (_, TypeKind::Param(_)) | (Value::Closure(_), TypeKind::Function(..)) => true,
        (Value::Tensor(tensor), TypeKind::Tensor(wanted)) => is_tensor_of(tensor, wanted, instance),
        (Value::Tuple(tuple), TypeKind::Tuple(types)) => {
            let values = &tuple.fields;
            values.len() == types.len() && values.iter().zip(types).all(|(value, ty)| is_of_type(value, ty, instance))
        }
        (Value::Tensor(_) | Value::Tuple(_) | Value::Closure(_), _) => false,
    })
}

fn is_tensor_of(tensor: &value::Tensor, wanted: &TensorTypeExpr, instance: &mut TypeArguments) -> bool {
    let base = match &wanted.base {
        BaseType::Known(dtype) => dtype.is_void() || *dtype == tensor.dtype(),
        BaseType::Param(name) => *instance.bases.entry(name.clone()).or_insert(tensor.dtype()) == tensor.dtype(),
    };
    let size = |(dim, size): (&RelayDim, &i64)| *dim == RelayDim::Any || *dim == RelayDim::Known(*size);
    let shape = match &wanted.shape {
        Shape::Dims(dims) => dims.len() == tensor.shape().len() && dims.iter().zip(tensor.shape()).all(size),
        Shape::Param(name) => {
            **instance.shapes.entry(name.clone()).or_insert_with(|| tensor.shape().to_vec()) == *tensor.shape()
        }
    };
    base && shape
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

    fn effect(&mut self, _: Effect) {}

    fn registry(&self) -> &Registry {
        &self.registry
    }

    fn find_packed(&mut self, _: &Name) -> Option<Rc<PackedFunc>> {
        None
    }

    fn call_value(&mut self, _: &value::Value, _: Vec<value::Value>) -> Result<value::Value, Stop> {
        Err(Stop::unspecified("an operator of Relay calls no function"))
    }

    fn call_packed(&mut self, _: &PackedFunc, _: &[value::Value], _: PackedCallContract) -> Result<value::Value, Stop> {
        Err(Stop::unspecified("an operator of Relay calls no packed function"))
    }

    fn asked(&self) -> &PackedCallContract {
        &self.asked
    }

    fn eval_dim(&mut self, _: &PrimExpr) -> Result<i64, Stop> {
        Err(Stop::unspecified("Relay has no dimensions that are computed"))
    }

    fn match_without_binding(&mut self, _: &value::Value, _: &StructInfo) -> Result<(), Stop> {
        Err(Stop::unspecified("Relay has no match casts"))
    }
}
