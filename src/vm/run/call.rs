//! The instruction Call (`R89.VM.CALL`), and calls of values.

use std::borrow::Cow;
use std::rc::Rc;

use super::link::{Linked, Operator};
use super::{CallFrame, Machine};
use crate::book::Rule;
use crate::grammar::Name;
use crate::judge::with_stack;
use crate::ops::{EvalArgs, run_prim_func, value_of_prim_func};
use crate::value::{Closure, CompiledClosure, PackedCallContract, PrimFuncObj, Stop, Tensor, Value};
use crate::vm::executable::{MAX_REGISTERS, Operand};

impl Machine<'_> {
    /// R89.VM.CALL: calls an entry of the function table with the arguments, and writes the result to the register.
    pub(super) fn call_instruction(
        &mut self,
        at: usize,
        dst: Option<u32>,
        callee: u32,
        args: &[Operand],
    ) -> Result<(), Stop> {
        self.note_place(at)?;
        let callees = self.callees.clone();
        let Some(linked) = callees.get(callee as usize) else {
            return Err(self.wrong(format!("f[{callee}] is not in the function table")));
        };
        if let Linked::Function(_) | Linked::Value(_) = linked {
            self.trace_call(at, dst, callee, args, None);
            return match self.enter_linked(linked, args, dst)? {
                Some(value) => self.write_result(dst, value.held_anew()),
                None => Ok(()),
            };
        }
        let result = self.called(linked, args)?;
        // MEM.RELEASED: the receiver of a result holds it, in addition to other holders; a copy made by a builtin is
        // another name for it.
        let result = if matches!(linked, Linked::Builtin) { result } else { result.held_anew() };
        self.trace_call(at, dst, callee, args, Some(&result));
        self.write_result(dst, result)
    }

    /// Sets the current point to this instruction. Storages record it.
    fn note_place(&mut self, at: usize) -> Result<(), Stop> {
        let function = self.frame()?.function;
        if let Some(function) = self.executable.functions.get(function) {
            self.account.go_to_instruction(&function.name, at);
        }
        Ok(())
    }

    fn write_result(&mut self, dst: Option<u32>, value: Value) -> Result<(), Stop> {
        let value = self.cx.conclude(rule!("R89.VM.CALL"), value);
        dst.map_or(Ok(()), |dst| self.write(dst, value))
    }

    /// A call that may go to a function of the executable. If so, there is no result yet.
    fn enter_linked(&mut self, linked: &Linked, args: &[Operand], dst: Option<u32>) -> Result<Option<Value>, Stop> {
        let mut values = self.operands(args)?;
        let (callee, asked) = if let Linked::Function(index) = linked {
            let closure = self.global_closure(*index).ok_or_else(|| self.wrong("the function is not global"))?;
            (Value::Closure(closure), PackedCallContract::default())
        } else if matches!(linked, Linked::Value(_)) && values.is_empty() {
            return Err(self.wrong("nothing is called"));
        } else if let Linked::Value(asked) = linked {
            (values.remove(0), asked.clone())
        } else {
            return self.called(linked, args).map(Some);
        };
        self.enter(&callee, values, dst, asked)
    }

    /// A call that gives its result at once.
    fn called(&mut self, linked: &Linked, args: &[Operand]) -> Result<Value, Stop> {
        match linked {
            Linked::Builtin => {
                let result = self.builtin()?;
                Ok(self.cx.conclude(rule!("R89.VM.BUILTINS"), result))
            }
            Linked::Operator(operator) => {
                let values = self.operands(args)?;
                self.operator(operator, args, &values)
            }
            Linked::PrimFunc { index, outputs } => {
                let values = self.operands(args)?;
                self.prim_func(*index, *outputs, &values)
            }
            Linked::Packed(symbol, asked) => {
                let found = self.found_packed(symbol)?;
                let values = self.operands(args)?;
                self.run_packed(&found, &values, asked.clone())
            }
            Linked::Unknown(name) => Err(Stop::unknown(format!("no operator {name} is registered"))),
            Linked::Function(_) | Linked::Value(_) => Err(self.wrong("the call has no result yet")),
        }
    }

    /// Calls an operator on values (`OP.FREE`).
    fn operator(&mut self, operator: &Operator, args: &[Operand], values: &[Value]) -> Result<Value, Stop> {
        match operator.call(args) {
            Some(call) => operator.op.evaluate(self, &EvalArgs { call, values, result: None }),
            None => Err(self.wrong("there is no such call")),
        }
    }

    /// Begins a call of a value. A function of the executable gets a frame, and there is no result yet. Any other
    /// callee runs and gives its result.
    pub(super) fn enter(
        &mut self,
        callee: &Value,
        args: Vec<Value>,
        dst: Option<u32>,
        asked: PackedCallContract,
    ) -> Result<Option<Value>, Stop> {
        match callee {
            Value::Closure(closure) => self.enter_closure(closure, args, dst),
            Value::PackedFunc(packed) => self.run_packed(packed, &args, asked).map(Some),
            Value::PrimFunc(func) if self.cx.has(rule!("EVAL.CALL.PRIMFUNC")) => {
                value_of_prim_func(self, func, &args).map(Some)
            }
            Value::PrimFunc(func) => Err(only_by_call_tir(&func.name)),
            Value::Object(_) => Err(Stop::error(rule!("VAL.OBJECT.UNUSABLE"), "an opaque object cannot be called")),
            Value::Tensor(_)
            | Value::Tuple(_)
            | Value::Shape(_)
            | Value::Prim(_)
            | Value::Str(_)
            | Value::DataType(_) => {
                Err(Stop::error(rule!("EVAL.CALL.CALLEE"), format!("{} cannot be called", callee.category())))
            }
        }
    }

    fn enter_closure(
        &mut self,
        closure: &Rc<Closure>,
        args: Vec<Value>,
        dst: Option<u32>,
    ) -> Result<Option<Value>, Stop> {
        if let Some(applied) = &closure.applied {
            let all: Vec<Value> = args.into_iter().chain(applied.last.iter().cloned()).collect();
            return self.enter_applied(&applied.callee, all).map(Some);
        }
        match &closure.compiled {
            Some(compiled) => self.push(compiled, closure, args, dst).map(|()| None),
            None => Err(Stop::unknown("the closure came from outside and cannot be called here")),
        }
    }

    /// OPS.make_closure.value: calls the function of a closure. The captured values follow the arguments.
    fn enter_applied(&mut self, callee: &Value, args: Vec<Value>) -> Result<Value, Stop> {
        self.one_more_call()?;
        self.pay(args.len() as u64)?;
        let result = if let Value::PrimFunc(func) = callee {
            run_prim_func(self, func, &args, 0..0).map(|()| Value::unit())
        } else {
            with_stack(|| self.run_to_end(callee, args))
        };
        self.depth = self.depth.saturating_sub(1);
        result
    }

    fn one_more_call(&mut self) -> Result<(), Stop> {
        if self.depth >= self.options.max_depth {
            return Err(Stop::OutOfFuel);
        }
        self.depth += 1;
        Ok(())
    }

    /// EVAL.CALL.CLOSURE: makes a frame for a function, with the arguments and the captured values of the closure.
    fn push(
        &mut self,
        compiled: &CompiledClosure,
        closure: &Rc<Closure>,
        args: Vec<Value>,
        result: Option<u32>,
    ) -> Result<(), Stop> {
        let executable = self.executable;
        let missing = || Stop::unspecified("the closure is of no function of the executable");
        let function = executable.functions.get(compiled.function).ok_or_else(missing)?;
        let (params, given) = (function.params as usize, args.len());
        if params != given {
            let message = format!("a function of {params} parameters was given {given} arguments");
            return Err(Stop::error(rule!("EVAL.CALL.ARITY"), message));
        }
        self.one_more_call()?;
        if function.registers > MAX_REGISTERS {
            return Err(self.wrong(format!("{} registers are too many", function.registers)));
        }
        self.pay(u64::from(function.registers) / REGISTERS_A_STEP)?;
        let mut registers: Vec<Option<Value>> = args.into_iter().map(|arg| Some(arg.held_anew())).collect();
        registers.extend(compiled.captured.iter().cloned().map(Some));
        registers.resize(function.registers as usize, None);
        self.trace_enter(&function.name);
        let (function, closure) = (compiled.function, Some(closure.clone()));
        self.frames.push(CallFrame { function, at: 0, running: 0, registers, heap: None, closure, result });
        Ok(())
    }

    /// Whether a `PrimFunc` receives the shape heap and computes dimensions from it.
    fn computes_dimensions(&self, args: &[Value]) -> bool {
        let heap = self.frames.last().and_then(|frame| frame.heap.as_ref());
        heap.is_some_and(|heap| matches!(args, [Value::Tensor(given)] if given.same_as(heap)))
    }

    /// OP.CALLTIR.DPS: a `PrimFunc` writes only the last `outputs` of its arguments (OP.CALLTIR.MUTATES-INPUT).
    fn prim_func(&mut self, index: usize, outputs: usize, args: &[Value]) -> Result<Value, Stop> {
        let func = self.prim_funcs.get(index).cloned().ok_or_else(|| self.wrong("there is no such PrimFunc"))?;
        if self.computes_dimensions(args) {
            if self.cx.fire(rule!("R89.VM.SHAPEFUNC")) {
                run_prim_func(self, &func, args, 0..args.len())?;
            }
            return Ok(Value::unit());
        }
        let args = &*one_by_one(args, outputs);
        let first = args.len().saturating_sub(outputs);
        let kept: Vec<&Tensor> = args.iter().take(first).filter_map(Value::as_tensor).collect();
        let elements = kept.iter().fold(0u64, |sum, t| sum.saturating_add(t.len() as u64));
        let bytes = kept.iter().fold(0u64, |sum, t| sum.saturating_add((t.len() * t.dtype().bytes()) as u64));
        self.pay(elements.saturating_mul(2))?;
        let _held = self.account.hold(bytes.saturating_mul(2))?;
        let before: Vec<_> = kept.iter().map(|t| t.to_data()).collect();
        run_prim_func(self, &func, args, first..args.len())?;
        if kept.iter().map(|t| t.to_data()).eq(before) {
            return Ok(Value::unit());
        }
        Err(Stop::unspecified(mutates(&func)))
    }
}

/// The number of registers that are prepared in one step.
const REGISTERS_A_STEP: u64 = 64;

/// A single input may be a tuple of all inputs (C14). It is expanded, because a `PrimFunc` takes no tuples.
fn one_by_one(args: &[Value], outputs: usize) -> Cow<'_, [Value]> {
    match args {
        [Value::Tuple(inputs), written @ ..] if written.len() == outputs => [inputs.fields(), written].concat().into(),
        [] | [_, ..] => args.into(),
    }
}

fn mutates(func: &PrimFuncObj) -> String {
    let rule: Rule = rule!("OP.CALLTIR.MUTATES-INPUT");
    format!("@{} mutates an input [{rule}]", func.name)
}

fn only_by_call_tir(name: &Name) -> Stop {
    let message = format!("@{name} is a PrimFunc: as an object it can be used only by call_tir");
    Stop::error(rule!("MOD.PRIMFUNC-ONLY-CALLTIR"), message)
}
