//! Running executables: the state of a run, and its instructions.

mod builtins;
mod call;
mod check;
mod closure;
mod heap;
mod host;
mod link;
mod matching;
mod packed;
mod start;
mod trace;

use std::collections::BTreeMap;
use std::rc::Rc;

use super::executable::{Executable, Instruction, Operand};
use crate::grammar::Name;
use crate::judge::{Cx, Ending, with_stack};
use crate::value::{
    Account, Closure, Effect, Kernels, Noise, PackedCallContract, PrimFuncObj, Registry, Stop, Tensor, Value, Worker,
};
use link::{Linked, Requests};

pub use start::run;
pub use trace::VmTraceStep;

/// The limits and options of a run.
#[derive(Clone, Debug)]
pub struct VmOptions {
    /// The maximum number of steps. An element that an operator computes counts as one.
    pub fuel: u64,
    /// The maximum number of bytes, at any time, for the tensors that a run makes and the temporary memory of
    /// operators.
    pub memory: u64,
    /// The maximum number of open calls.
    pub max_depth: usize,
    /// Whether to record every instruction.
    pub trace: bool,
    /// The packed functions that the program can call.
    pub registry: Registry,
    /// The noise added to rounded floats, if any.
    pub noise: Option<Rc<Noise>>,
    /// Which implementations of operators the run uses.
    pub kernels: Kernels,
    /// The place among the workers that run the program together; `None` if it runs alone.
    pub worker: Option<Rc<Worker>>,
}

impl VmOptions {
    /// The same limits as those of the evaluator.
    pub fn new(registry: Registry) -> VmOptions {
        VmOptions {
            fuel: 50_000_000,
            memory: 1 << 30,
            max_depth: 50_000,
            trace: false,
            registry,
            noise: None,
            kernels: Kernels::default(),
            worker: None,
        }
    }
}

/// A finished run.
#[derive(Clone, Debug)]
pub struct VmRun {
    /// How the run ended.
    pub outcome: Ending<Value>,
    /// The visible effects in order, up to the end of the run.
    pub effects: Vec<Effect>,
    /// Whether it ran out of memory, as opposed to another limit.
    pub out_of_memory: bool,
    /// The fuel that it used.
    pub spent: u64,
    /// All instructions, if [`VmOptions::trace`] is set.
    pub steps: Vec<VmTraceStep>,
}

/// An open call of a function of the executable.
#[derive(Debug)]
struct CallFrame {
    function: usize,
    /// The next instruction.
    at: usize,
    /// The current instruction.
    running: usize,
    registers: Vec<Option<Value>>,
    /// The shape heap, once it is allocated.
    heap: Option<Tensor>,
    closure: Option<Rc<Closure>>,
    /// The register of the caller for the result.
    result: Option<u32>,
}

/// The continuation after an instruction.
enum Next {
    /// The next instruction of the innermost frame.
    Go,
    /// A function that was called from outside the machine returns this.
    Returned(Value),
}

/// A run in progress.
#[derive(Debug)]
pub(super) struct Machine<'m> {
    cx: &'m mut Cx,
    executable: &'m Executable,
    options: &'m VmOptions,
    /// The linked function table.
    callees: Rc<[Linked]>,
    requests: Requests<'m>,
    /// The closures of the global functions, made once.
    globals: Vec<Option<Rc<Closure>>>,
    prim_funcs: Vec<Rc<PrimFuncObj>>,
    /// The `PrimFunc`s by global symbol.
    symbols: BTreeMap<Name, usize>,
    /// The constants that are made once per run, as far as they were used.
    made_once: BTreeMap<u32, Value>,
    frames: Vec<CallFrame>,
    effects: Vec<Effect>,
    steps: Vec<VmTraceStep>,
    fuel: u64,
    account: Rc<Account>,
    /// The number of open calls.
    depth: usize,
    asked: PackedCallContract,
}

impl<'m> Machine<'m> {
    /// Runs until the frame at `base` returns.
    fn execute(&mut self, base: usize) -> Result<Value, Stop> {
        loop {
            self.pay(1)?;
            if let Next::Returned(value) = self.instruction(base)? {
                return Ok(value);
            }
        }
    }

    fn pay(&mut self, steps: u64) -> Result<(), Stop> {
        self.fuel = self.fuel.checked_sub(steps).ok_or(Stop::OutOfFuel)?;
        Ok(())
    }

    fn frame(&mut self) -> Result<&mut CallFrame, Stop> {
        self.frames.last_mut().ok_or_else(|| Stop::unspecified("no function runs"))
    }

    /// Executes one of the four instructions.
    fn instruction(&mut self, base: usize) -> Result<Next, Stop> {
        let executable = self.executable;
        let frame = self.frame()?;
        let at = frame.at;
        let code = executable.functions.get(frame.function).map_or(&[][..], |f| f.code.as_slice());
        frame.running = at;
        match code.get(at) {
            Some(Instruction::Call(dst, callee, args)) => {
                frame.at += 1;
                self.call_instruction(at, *dst, *callee, args).map(|()| Next::Go)
            }
            Some(Instruction::Ret(register)) => self.ret(*register, base),
            Some(Instruction::If(register, offset)) => {
                let holds = self.condition(*register)?;
                self.jump(at, if holds { 1 } else { *offset })
            }
            Some(Instruction::Goto(offset)) => {
                let offset = if self.cx.fire(rule!("R89.VM.GOTO")) { *offset } else { 1 };
                self.jump(at, offset)
            }
            None => Err(self.wrong("there is no instruction here")),
        }
    }

    /// R89.VM.RET: returns the value of the register to the caller, or out of the machine.
    fn ret(&mut self, register: u32, base: usize) -> Result<Next, Stop> {
        let held = self.register(register)?;
        let value = self.cx.conclude(rule!("R89.VM.RET"), held).held_anew();
        self.trace_return(&value);
        let ended = self.frames.pop();
        self.depth = self.depth.saturating_sub(1);
        if self.frames.len() <= base {
            return Ok(Next::Returned(value));
        }
        if let Some(result) = ended.and_then(|frame| frame.result) {
            self.write(result, value)?;
        }
        Ok(Next::Go)
    }

    /// R89.VM.IF: continues with the next instruction if the register is true, else at the jump target.
    fn condition(&mut self, register: u32) -> Result<bool, Stop> {
        let value = self.register(register)?;
        let holds = check::truth(&value).ok_or_else(|| self.wrong(format!("%{register} holds no truth value")))?;
        Ok(self.cx.conclude(rule!("R89.VM.IF"), holds))
    }

    /// Jumps by a number of instructions.
    fn jump(&mut self, at: usize, offset: i64) -> Result<Next, Stop> {
        let to = i64::try_from(at).ok().and_then(|at| at.checked_add(offset)).and_then(|to| usize::try_from(to).ok());
        match to {
            Some(to) => {
                self.trace_jump(at, to);
                self.frame()?.at = to;
                Ok(Next::Go)
            }
            None => Err(self.wrong("a jump leads out of the function")),
        }
    }

    fn register(&mut self, register: u32) -> Result<Value, Stop> {
        let value = self.frame()?.registers.get(register as usize).cloned().flatten();
        value.ok_or_else(|| self.wrong(format!("%{register} is read before it is written")))
    }

    fn write(&mut self, register: u32, value: Value) -> Result<(), Stop> {
        let register = if self.cx.fire(rule!("R89.VM.REGISTER")) { register } else { 0 };
        match self.frame()?.registers.get_mut(register as usize) {
            Some(place) => *place = Some(value),
            None => return Err(self.wrong(format!("%{register} is not a register of the function"))),
        }
        Ok(())
    }

    /// The value of an argument.
    fn operand(&mut self, operand: Operand) -> Result<Value, Stop> {
        match operand {
            Operand::Register(r) => self.register(r),
            Operand::Constant(c) => self.constant(c),
            Operand::Immediate(i) => Ok(Value::int(i)),
            Operand::Callee(c) => self.callee_value(c),
            Operand::Void => Ok(Value::unit()),
        }
    }

    fn operands(&mut self, operands: &[Operand]) -> Result<Vec<Value>, Stop> {
        operands.iter().map(|operand| self.operand(*operand)).collect()
    }

    /// The stop at an invalid operation of an executable, with its position. The behaviour is unspecified.
    fn wrong(&self, what: impl std::fmt::Display) -> Stop {
        let place = self.frames.last().map_or_else(String::new, |frame| {
            let name = self.executable.functions.get(frame.function).map_or("?", |f| &f.name);
            format!(" [{name}, instruction {}]", frame.running)
        });
        Stop::unspecified(format!("{what}{place}"))
    }

    /// Runs a call from an operator or a packed function to its end.
    fn run_to_end(&mut self, callee: &Value, args: Vec<Value>) -> Result<Value, Stop> {
        let base = self.frames.len();
        match self.enter(callee, args, None, PackedCallContract::default())? {
            Some(value) => Ok(value),
            None => with_stack(|| self.execute(base)),
        }
    }
}
