//! Printing.

use std::fmt::{self, Write as _};

use crate::data::Write;
use crate::data::json::write;
use crate::syntax::tvmscript::Dialect;
use crate::syntax::tvmscript::tir_print::print_prim_func;
use crate::vm::executable::{Executable, Instruction, NamedPrimFunc, VERSION, VmFunction};

/// R89.API.ASTEXT: every function and every instruction in order.
pub fn print(executable: &Executable) -> String {
    let mut out = String::new();
    // Writing to memory cannot fail.
    let _ = all(executable, &mut out);
    out
}

fn all(executable: &Executable, out: &mut String) -> fmt::Result {
    writeln!(out, "relax-spec executable {VERSION}")?;
    for (index, constant) in executable.constants.iter().enumerate() {
        writeln!(out, "constant {index} {}", write(&constant.write()))?;
    }
    for (index, callee) in executable.callees.iter().enumerate() {
        writeln!(out, "callee {index} {}", write(&callee.write()))?;
    }
    executable.prim_funcs.iter().try_for_each(|named| prim_func(named, out))?;
    executable.functions.iter().try_for_each(|f| function(executable, f, out))
}

/// A `PrimFunc` as TVMScript for people, and as data.
fn prim_func(named: &NamedPrimFunc, out: &mut String) -> fmt::Result {
    let script = print_prim_func(&named.func, &named.name, 0, Dialect::default());
    script.lines().try_for_each(|line| writeln!(out, "# {line}"))?;
    writeln!(out, "prim_func {} {}", write(&named.name.write()), write(&named.func.write()))
}

fn function(executable: &Executable, f: &VmFunction, out: &mut String) -> fmt::Result {
    let (params, captured, registers) = (f.params, f.captured, f.registers);
    write!(out, "function {} params {params} captured {captured} registers {registers}", write(&f.name.write()))?;
    if f.global {
        write!(out, " global")?;
    }
    if let Some(symbol) = &f.symbol {
        write!(out, " symbol {}", write(&symbol.write()))?;
    }
    writeln!(out, "\nsignature {}", write(&f.signature.write()))?;
    f.code.iter().enumerate().try_for_each(|(at, instruction)| {
        write!(out, "{at:>4}: ")?;
        self::instruction(executable, instruction, out)?;
        writeln!(out)
    })
}

fn instruction(executable: &Executable, instruction: &Instruction, out: &mut String) -> fmt::Result {
    match instruction {
        Instruction::Call(dst, callee, args) => {
            if let Some(dst) = dst {
                write!(out, "%{dst} = ")?;
            }
            let args: Vec<String> = args.iter().map(ToString::to_string).collect();
            let name = executable.callees.get(*callee as usize).map_or("?", |callee| executable.name_of(callee));
            write!(out, "call f[{callee}] ({})  # {}", args.join(", "), name.escape_debug())
        }
        Instruction::Ret(register) => write!(out, "ret %{register}"),
        Instruction::If(register, offset) => write!(out, "if %{register} else {offset}"),
        Instruction::Goto(offset) => write!(out, "goto {offset}"),
    }
}
