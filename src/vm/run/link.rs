//! The linked function table of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::Machine;
use crate::grammar::{Call, Expr, GlobalVar, Name, Op, Span, Var};
use crate::ops::{self, OpDef};
use crate::value::{PackedCallContract, Stop, Value};
use crate::vm::executable::{Callee, Executable, Instruction, Operand, OperatorCall};
use crate::vm::request::{Decoded, Request};

/// A linked entry.
#[derive(Clone, Debug)]
pub(super) enum Linked {
    Function(usize),
    PrimFunc {
        index: usize,
        outputs: usize,
    },
    /// A library function. The instruction determines the request.
    Builtin,
    Operator(Operator),
    Packed(Name, PackedCallContract),
    Value(PackedCallContract),
    /// An operator that is not registered.
    Unknown(Name),
}

/// An operator with the different calls of it, by the global variables among their arguments. Other properties of
/// arguments do not matter: an operator that needs a literal looks at the value.
#[derive(Clone, Debug)]
pub(super) struct Operator {
    pub(super) op: &'static OpDef,
    calls: BTreeMap<Vec<Option<u32>>, Call>,
}

impl Operator {
    /// The call with these arguments.
    pub(super) fn call(&self, args: &[Operand]) -> Option<&Call> {
        self.calls.get(&named(args))
    }
}

/// For each argument, the entry of the function table that it names.
fn named(args: &[Operand]) -> Vec<Option<u32>> {
    let entry = |arg: &Operand| match arg {
        Operand::Callee(entry) => Some(*entry),
        Operand::Register(_) | Operand::Constant(_) | Operand::Immediate(_) | Operand::Void => None,
    };
    args.iter().map(entry).collect()
}

/// The library requests of each function, by the instruction.
pub(super) type Requests<'m> = Rc<[Vec<Option<Decoded<Request<'m>>>>]>;

pub(super) fn requests(executable: &Executable) -> Requests<'_> {
    let functions = executable.functions.iter();
    functions.map(|f| f.code.iter().map(|instruction| request(executable, instruction)).collect()).collect()
}

fn request<'e>(executable: &'e Executable, instruction: &'e Instruction) -> Option<Decoded<Request<'e>>> {
    let Instruction::Call(_, callee, args) = instruction else { return None };
    let callee = executable.callees.get(*callee as usize)?;
    if let Callee::Builtin(builtin) = callee { Some(Request::of(executable, *builtin, args)) } else { None }
}

pub(super) fn link(executable: &Executable) -> Rc<[Linked]> {
    let mut calls: BTreeMap<u32, BTreeSet<Vec<Option<u32>>>> = BTreeMap::new();
    for instruction in executable.functions.iter().flat_map(|f| &f.code) {
        match instruction {
            Instruction::Call(_, callee, args) => {
                if let Some(Callee::Operator(_)) = executable.callees.get(*callee as usize) {
                    calls.entry(*callee).or_default().insert(named(args));
                }
            }
            Instruction::Ret(_) | Instruction::If(..) | Instruction::Goto(_) => {}
        }
    }
    let linked = (0..).zip(&executable.callees).map(|(index, callee)| match callee {
        Callee::Function(index) => Linked::Function(*index as usize),
        Callee::PrimFunc(call) => Linked::PrimFunc { index: call.index as usize, outputs: call.outputs as usize },
        Callee::Builtin(_) => Linked::Builtin,
        Callee::Operator(call) => operator(executable, call, calls.remove(&index).unwrap_or_default()),
        Callee::Packed(call) => {
            Linked::Packed(call.symbol.clone(), PackedCallContract::of_type_args(&call.sinfo_args, call.pure))
        }
        Callee::Value(call) => Linked::Value(PackedCallContract::of_type_args(&call.sinfo_args, call.pure)),
    });
    linked.collect()
}

fn operator(executable: &Executable, operator: &OperatorCall, calls: BTreeSet<Vec<Option<u32>>>) -> Linked {
    let argument = |named: &Option<u32>| match named.and_then(|entry| executable.callees.get(entry as usize)) {
        Some(callee) => Expr::GlobalVar(GlobalVar::new(executable.name_of(callee))),
        None => Expr::Var(Var::new("argument")),
    };
    let call = |args: &[Option<u32>]| Call {
        op: Expr::Op(Op { op_name: operator.name.clone(), span: Span::NONE }),
        args: args.iter().map(argument).collect(),
        sinfo_args: operator.sinfo_args.clone(),
        attrs: operator.attrs.clone(),
        span: Span::NONE,
    };
    let calls = calls.into_iter().map(|args| (args.clone(), call(&args))).collect();
    match ops::lookup(&operator.name) {
        Some(op) => Linked::Operator(Operator { op, calls }),
        None => Linked::Unknown(operator.name.clone()),
    }
}

impl Machine<'_> {
    /// An entry of the function table as a value.
    pub(super) fn callee_value(&mut self, callee: u32) -> Result<Value, Stop> {
        let none = format!("f[{callee}] is no function that is a value");
        let value = match self.callees.get(callee as usize) {
            Some(Linked::Function(index)) => self.global_closure(*index).map(Value::Closure),
            Some(Linked::PrimFunc { index, .. }) => self.prim_funcs.get(*index).cloned().map(Value::PrimFunc),
            Some(Linked::Packed(symbol, _)) => self.look_up(symbol).map(Value::PackedFunc),
            Some(Linked::Builtin | Linked::Operator(_) | Linked::Value(_) | Linked::Unknown(_)) | None => None,
        };
        value.ok_or_else(|| self.wrong(none))
    }
}
