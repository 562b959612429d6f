//! The verifier, which checks an executable before it runs for the properties that the machine relies on.
//!
//! Jumps stay inside the function, and every path ends in Ret. Constants, callees and registers exist. A register is
//! written on every path before it is read.

use std::collections::BTreeMap;
use std::fmt;

use super::executable::{Callee, Executable, Instruction, MAX_REGISTERS, Operand, VERSION, VmFunction};
use super::request::Request;
use crate::grammar::Name;

/// A fault of an executable, with its position.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct ExecutableFault {
    /// The function, if the fault is in one.
    pub function: Option<Name>,
    /// The instruction, if the fault is in one.
    pub at: Option<usize>,
    /// A message for people.
    pub message: String,
}

impl fmt::Display for ExecutableFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(function) = &self.function {
            write!(f, "{}: ", function.escape_debug())?;
        }
        if let Some(at) = self.at {
            write!(f, "instruction {at}: ")?;
        }
        f.write_str(&self.message)
    }
}

/// The faults of an executable. If there are none, it can run.
pub fn verify(executable: &Executable) -> Vec<ExecutableFault> {
    let mut faults = version(executable);
    faults.extend(table(executable));
    for function in &executable.functions {
        let mut check = FunctionVerifier { executable, function, faults: Vec::new() };
        check.function();
        faults.extend(check.faults);
    }
    faults
}

/// Checks that the version is that of this release.
fn version(executable: &Executable) -> Vec<ExecutableFault> {
    if executable.version == VERSION {
        return Vec::new();
    }
    let message = format!("the version of the form is {}, and {VERSION} is read here", executable.version);
    vec![ExecutableFault { function: None, at: None, message }]
}

/// Checks that the entries of the function table exist.
fn table(executable: &Executable) -> Vec<ExecutableFault> {
    let functions = executable.functions.len();
    let wrong = |index: usize, what: String| ExecutableFault {
        function: None,
        at: None,
        message: format!("entry {index} of the function table: there is no {what}"),
    };
    let entries = executable.callees.iter().enumerate();
    let missing = entries.filter_map(|(index, callee)| {
        if let Callee::Function(f) = callee
            && *f as usize >= functions
        {
            Some(wrong(index, format!("function {f}")))
        } else if let Callee::PrimFunc(f) = callee
            && f.index as usize >= executable.prim_funcs.len()
        {
            Some(wrong(index, format!("PrimFunc {}", f.index)))
        } else {
            None
        }
    });
    missing.collect()
}

/// A set of registers.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Registers(Vec<u64>);

impl Registers {
    fn first(count: u32, of: u32) -> Registers {
        let mut registers = Registers(vec![0; (of as usize).div_ceil(64)]);
        (0..count.min(of)).for_each(|register| registers.insert(register));
        registers
    }

    fn insert(&mut self, register: u32) {
        if let Some(word) = self.0.get_mut(register as usize / 64) {
            *word |= 1 << (register % 64);
        }
    }

    fn contains(&self, register: u32) -> bool {
        self.0.get(register as usize / 64).is_some_and(|word| word & (1 << (register % 64)) != 0)
    }

    /// Intersects the set with another one. Returns whether it has changed.
    fn meet(&mut self, other: &Registers) -> bool {
        let before = self.0.clone();
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word &= other);
        self.0 != before
    }
}

struct FunctionVerifier<'e> {
    executable: &'e Executable,
    function: &'e VmFunction,
    faults: Vec<ExecutableFault>,
}

impl FunctionVerifier<'_> {
    fn fault(&mut self, at: Option<usize>, message: String) {
        self.faults.push(ExecutableFault { function: Some(self.function.name.clone()), at, message });
    }

    fn function(&mut self) {
        let f = self.function;
        let given = f.params.saturating_add(f.captured);
        if given > f.registers {
            self.fault(None, format!("{given} parameters do not fit into {} registers", f.registers));
        }
        if f.registers > MAX_REGISTERS {
            self.fault(None, format!("{} registers are too many", f.registers));
        }
        if f.global && f.captured > 0 {
            self.fault(None, "a global function captures nothing".to_string());
        }
        f.code.iter().enumerate().for_each(|(at, instruction)| self.instruction(at, instruction));
        self.ends();
        if self.faults.is_empty() {
            self.flow(given);
        }
    }

    /// Checks that the parts an instruction refers to exist.
    fn instruction(&mut self, at: usize, instruction: &Instruction) {
        match instruction {
            Instruction::Call(dst, callee, args) => {
                dst.iter().for_each(|register| self.register(at, *register));
                self.callee(at, *callee);
                let before = self.faults.len();
                args.iter().for_each(|arg| self.operand(at, *arg));
                // A missing part is reported once.
                if self.faults.len() == before {
                    self.builtin(at, *callee, args);
                }
            }
            Instruction::Ret(register) => self.register(at, *register),
            Instruction::If(register, offset) => {
                self.register(at, *register);
                self.jump(at, *offset);
            }
            Instruction::Goto(offset) => self.jump(at, *offset),
        }
    }

    fn register(&mut self, at: usize, register: u32) {
        if register >= self.function.registers {
            self.fault(Some(at), format!("%{register} is not declared"));
        }
    }

    fn callee(&mut self, at: usize, callee: u32) {
        if callee as usize >= self.executable.callees.len() {
            self.fault(Some(at), format!("f[{callee}] is not in the function table"));
        }
    }

    fn operand(&mut self, at: usize, operand: Operand) {
        match operand {
            Operand::Register(register) => self.register(at, register),
            Operand::Constant(constant) if constant as usize >= self.executable.constants.len() => {
                self.fault(Some(at), format!("there is no constant c[{constant}]"));
            }
            Operand::Callee(callee) => self.callee(at, callee),
            Operand::Constant(_) | Operand::Immediate(_) | Operand::Void => {}
        }
    }

    /// Checks the operands of a library function. A closure must capture as many values as its function expects.
    fn builtin(&mut self, at: usize, callee: u32, args: &[Operand]) {
        let Some(Callee::Builtin(builtin)) = self.executable.callees.get(callee as usize) else { return };
        let request = Request::of(self.executable, *builtin, args);
        if let Ok(Request::MakeClosure { function, captured }) = request {
            let of = self.executable.functions.get(function).map(|f| f.captured as usize);
            if of != Some(captured.len()) {
                let message = "a closure is made of a function and as many values as that captures";
                self.fault(Some(at), message.to_string());
            }
        } else if let Err(message) = request {
            self.fault(Some(at), message);
        }
    }

    fn target(&self, at: usize, offset: i64) -> Option<usize> {
        let to = i64::try_from(at).ok()?.checked_add(offset)?;
        usize::try_from(to).ok().filter(|to| *to < self.function.code.len())
    }

    fn jump(&mut self, at: usize, offset: i64) {
        if self.target(at, offset).is_none() {
            self.fault(Some(at), format!("a jump by {offset} leads out of the function"));
        }
    }

    /// Checks that control does not run past the last instruction.
    fn ends(&mut self) {
        match self.function.code.last() {
            Some(Instruction::Ret(_) | Instruction::Goto(_)) => {}
            Some(Instruction::Call(..) | Instruction::If(..)) => {
                self.fault(
                    Some(self.function.code.len() - 1),
                    "the function goes on behind its last instruction".into(),
                );
            }
            None => self.fault(None, "the function has no instruction".to_string()),
        }
    }

    /// Checks that a register is written on every path to an instruction that reads it, and that every reachable
    /// instruction has a path to a return.
    fn flow(&mut self, given: u32) {
        let mut backwards = BTreeMap::new();
        loop {
            let mut pass = Pass::new(given, self.function.registers, self.function.code.len(), &mut backwards);
            self.function.code.iter().enumerate().for_each(|(at, instruction)| {
                let targets = self.following(at, instruction);
                pass.instruction(at, instruction, targets);
            });
            // The state that a backward jump brings may concern instructions before it. They are checked in another
            // pass.
            if !pass.changed {
                let Pass { unwritten, reached, .. } = pass;
                for (at, register) in unwritten {
                    self.fault(Some(at), format!("%{register} is read, and not written on every path to here"));
                }
                return self.returns(&reached);
            }
        }
    }

    fn following(&self, at: usize, instruction: &Instruction) -> [Option<usize>; 2] {
        match instruction {
            Instruction::Call(..) => [Some(at + 1), None],
            Instruction::Ret(_) => [None, None],
            Instruction::If(_, offset) => [Some(at + 1), self.target(at, *offset)],
            Instruction::Goto(offset) => [self.target(at, *offset), None],
        }
    }

    /// Reports loops without an exit, which never return.
    fn returns(&mut self, reached: &[bool]) {
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.function.code.len()];
        let mut todo = Vec::new();
        for (at, instruction) in self.function.code.iter().enumerate() {
            for to in self.following(at, instruction).into_iter().flatten() {
                if let Some(from) = before.get_mut(to) {
                    from.push(at);
                }
            }
            if matches!(instruction, Instruction::Ret(_)) {
                todo.push(at);
            }
        }
        let mut returns = vec![false; self.function.code.len()];
        while let Some(at) = todo.pop() {
            if let (Some(returns @ false), Some(before)) = (returns.get_mut(at), before.get(at)) {
                *returns = true;
                todo.extend(before);
            }
        }
        let stuck = reached.iter().zip(&returns).position(|(reached, returns)| *reached && !returns);
        if let Some(at) = stuck {
            self.fault(Some(at), "no path from here returns".to_string());
        }
    }
}

/// One pass over the instructions in order, with the registers that are certainly written.
struct Pass<'b> {
    /// The written registers at the current instruction; `None` if it is unreachable so far.
    known: Option<Registers>,
    /// The state that jumps bring to later instructions.
    ahead: BTreeMap<usize, Registers>,
    /// The state that jumps bring to earlier instructions.
    backwards: &'b mut BTreeMap<usize, Registers>,
    /// Whether the state of backward jumps has changed.
    changed: bool,
    /// The instructions that read a register that may be unwritten, with the register.
    unwritten: Vec<(usize, u32)>,
    reached: Vec<bool>,
}

impl<'b> Pass<'b> {
    fn new(given: u32, of: u32, instructions: usize, backwards: &'b mut BTreeMap<usize, Registers>) -> Pass<'b> {
        let known = Some(Registers::first(given, of));
        let reached = vec![false; instructions];
        Pass { known, ahead: BTreeMap::new(), backwards, changed: false, unwritten: Vec::new(), reached }
    }

    /// Intersects two states; an unknown state adds nothing.
    fn join(known: &mut Option<Registers>, other: &Registers) {
        match known {
            Some(known) => {
                known.meet(other);
            }
            None => *known = Some(other.clone()),
        }
    }

    fn instruction(&mut self, at: usize, instruction: &Instruction, targets: [Option<usize>; 2]) {
        if let Some(brought) = self.ahead.remove(&at) {
            Pass::join(&mut self.known, &brought);
        }
        if let Some(brought) = self.backwards.get(&at) {
            Pass::join(&mut self.known, brought);
        }
        let Some(mut known) = self.known.take() else { return };
        if let Some(reached) = self.reached.get_mut(at) {
            *reached = true;
        }
        self.unwritten.extend(reads(instruction).into_iter().filter(|r| !known.contains(*r)).map(|r| (at, r)));
        if let Instruction::Call(Some(dst), ..) = instruction {
            known.insert(*dst);
        }
        for target in targets.into_iter().flatten().filter(|target| *target != at + 1) {
            self.bring(at, target, &known);
        }
        if targets.contains(&Some(at + 1)) {
            self.known = Some(known);
        }
    }

    fn bring(&mut self, at: usize, target: usize, known: &Registers) {
        if target > at {
            match self.ahead.get_mut(&target) {
                Some(there) => {
                    there.meet(known);
                }
                None => {
                    self.ahead.insert(target, known.clone());
                }
            }
            return;
        }
        match self.backwards.get_mut(&target) {
            Some(there) => self.changed |= there.meet(known),
            None => {
                self.backwards.insert(target, known.clone());
                self.changed = true;
            }
        }
    }
}

fn reads(instruction: &Instruction) -> Vec<u32> {
    match instruction {
        Instruction::Call(_, _, args) => {
            let register = |arg: &Operand| if let Operand::Register(register) = arg { Some(*register) } else { None };
            args.iter().filter_map(register).collect()
        }
        Instruction::Ret(register) | Instruction::If(register, _) => vec![*register],
        Instruction::Goto(_) => Vec::new(),
    }
}
