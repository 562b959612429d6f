//! The function table of a run: each entry as it is called.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::Machine;
use crate::grammar::{Call, Expr, Name, Op, Span, Var};
use crate::ops::{self, OpDef};
use crate::value::{Asked, Stop, Value};
use crate::vm::executable::{Builtin, Callee, Executable, Instruction, OperatorCall};

/// An entry, ready to be called.
#[derive(Clone, Debug)]
pub(super) enum Linked {
    Function(usize),
    PrimFunc { index: usize, outputs: usize },
    Builtin(Builtin),
    Operator(Operator),
    Packed(Name, Asked),
    Value(Asked),
    /// An operator that is not in the table of operators.
    Unknown(Name),
}

/// An operator, with a call of it for each number of arguments that occurs. They are variables: where an operator wants to know a
/// literal, it looks at the value.
#[derive(Clone, Debug)]
pub(super) struct Operator {
    pub(super) op: &'static OpDef,
    pub(super) calls: BTreeMap<usize, Call>,
}

pub(super) fn link(executable: &Executable) -> Rc<[Linked]> {
    let mut arguments: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
    for instruction in executable.functions.iter().flat_map(|f| &f.code) {
        match instruction {
            Instruction::Call(_, callee, args) => {
                arguments.entry(*callee).or_default().insert(args.len());
            }
            Instruction::Ret(_) | Instruction::If(..) | Instruction::Goto(_) => {}
        }
    }
    let none = BTreeSet::new();
    let given = |index: u32| arguments.get(&index).unwrap_or(&none);
    (0..).zip(&executable.callees).map(|(index, callee)| linked(callee, given(index))).collect()
}

fn linked(callee: &Callee, arguments: &BTreeSet<usize>) -> Linked {
    match callee {
        Callee::Function(index) => Linked::Function(*index as usize),
        Callee::PrimFunc(call) => Linked::PrimFunc { index: call.index as usize, outputs: call.outputs as usize },
        Callee::Builtin(builtin) => Linked::Builtin(*builtin),
        Callee::Operator(call) => operator(call, arguments),
        Callee::Packed(call) => Linked::Packed(call.symbol.clone(), Asked::of_type_args(&call.sinfo_args, call.pure)),
        Callee::Value(call) => Linked::Value(Asked::of_type_args(&call.sinfo_args, call.pure)),
    }
}

fn operator(named: &OperatorCall, arguments: &BTreeSet<usize>) -> Linked {
    let call = |args: usize| Call {
        op: Expr::Op(Op { op_name: named.name.clone(), span: Span::NONE }),
        args: vec![Expr::Var(Var::new("argument")); args],
        sinfo_args: named.sinfo_args.clone(),
        attrs: named.attrs.clone(),
        span: Span::NONE,
    };
    match ops::lookup(&named.name) {
        Some(op) => Linked::Operator(Operator { op, calls: arguments.iter().map(|args| (*args, call(*args))).collect() }),
        None => Linked::Unknown(named.name.clone()),
    }
}

impl Machine<'_> {
    /// An entry of the function table as a value.
    pub(super) fn callee_value(&mut self, callee: u32) -> Result<Value, Stop> {
        let none = format!("f[{callee}] is no function that is a value");
        let value = match self.callees.get(callee as usize) {
            Some(Linked::Function(index)) => self.global_closure(*index).map(Value::Closure),
            Some(Linked::PrimFunc { index, .. }) => self.prim_funcs.get(*index).cloned().map(Value::PrimFunc),
            Some(Linked::Builtin(_) | Linked::Operator(_) | Linked::Packed(..) | Linked::Value(_) | Linked::Unknown(_))
            | None => None,
        };
        value.ok_or_else(|| self.wrong(none))
    }
}
