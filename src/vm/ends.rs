//! Which executables end whatever their arguments are.

use super::executable::{Builtin, Callee, Executable, Instruction, Operand};
use crate::ops::{calls_its_argument, is_acyclic, repeats};

/// Whether each run of an executable ends: it has no jump back, no function can reach itself, none is called that is a
/// value of the program, and no `PrimFunc` has a loop without a bound.
pub fn ends(executable: &Executable) -> bool {
    let calls_no_value = executable.callees.iter().all(|callee| match callee {
        Callee::Function(_) | Callee::PrimFunc(_) => true,
        Callee::Builtin(builtin) => !matches!(builtin, Builtin::CurrentClosure),
        Callee::Operator(call) => !calls_its_argument(&call.name),
        Callee::Packed(call) => !calls_its_argument(&call.symbol),
        Callee::Value(_) => false,
    });
    let edges: Option<Vec<Vec<usize>>> =
        executable.functions.iter().map(|function| reached(executable, &function.code)).collect();
    let finite = !executable.prim_funcs.iter().any(|prim_func| repeats(&prim_func.func.body));
    calls_no_value && finite && edges.is_some_and(|edges| is_acyclic(&edges))
}

/// The functions that code mentions; `None` if it jumps back.
fn reached(executable: &Executable, code: &[Instruction]) -> Option<Vec<usize>> {
    let function = |callee: u32| match executable.callees.get(callee as usize) {
        Some(Callee::Function(at)) => Some(*at as usize),
        Some(_) | None => None,
    };
    let mut found = Vec::new();
    for instruction in code {
        match instruction {
            Instruction::Call(_, callee, operands) => {
                found.extend(function(*callee));
                found.extend(operands.iter().filter_map(|operand| match operand {
                    Operand::Callee(callee) => function(*callee),
                    Operand::Register(_) | Operand::Constant(_) | Operand::Immediate(_) | Operand::Void => None,
                }));
            }
            Instruction::If(_, jump) | Instruction::Goto(jump) if *jump <= 0 => return None,
            Instruction::If(..) | Instruction::Goto(_) | Instruction::Ret(_) => {}
        }
    }
    Some(found)
}
