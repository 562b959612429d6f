//! Reads an executable line by line. A line that has not the printed form is rejected.

use super::line::{LineCursor, Parsed, is_remark, shown};
use crate::data::{FromData, from_json};
use crate::grammar::{Name, StructInfo};
use crate::vm::executable::{Executable, Instruction, NamedPrimFunc, Operand, VERSION, VmFunction};

/// The reason why a text is not an executable, with the position.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct TextError {
    /// The line number, counted from 1.
    pub line: usize,
    /// A message for people.
    pub message: String,
}

/// Reads the output of [`print()`](super::print()). [`verify`](crate::vm::verify()) checks whether it can run.
///
/// # Errors
///
/// A line has an unknown form, or an index is not the next one.
pub fn read(text: &str) -> Result<Executable, TextError> {
    let mut executable = Executable {
        version: VERSION,
        functions: Vec::new(),
        callees: Vec::new(),
        constants: Vec::new(),
        prim_funcs: Vec::new(),
    };
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !is_remark(line));
    match lines.next() {
        Some((_, line)) if line.trim() == format!("relax-spec executable {VERSION}") => {}
        Some((line, _)) => return Err(TextError { line, message: first_line() }),
        None => return Err(TextError { line: 1, message: first_line() }),
    }
    for (number, line) in lines {
        let mut reader = LineCursor::new(line);
        reader.item(&mut executable).map_err(|message| TextError { line: number, message })?;
    }
    Ok(executable)
}

fn first_line() -> String {
    format!("an executable begins with the line `relax-spec executable {VERSION}`")
}

impl LineCursor<'_> {
    /// A string in quotes.
    fn quoted(&mut self) -> Parsed<Name> {
        let mut escaped = false;
        let mut end = None;
        for (at, c) in self.rest.char_indices().skip(1) {
            match c {
                '\\' if !escaped => escaped = true,
                '"' if !escaped => {
                    end = Some(at + 1);
                    break;
                }
                _ => escaped = false,
            }
        }
        let end = end.filter(|_| self.rest.starts_with('"'));
        let (quoted, rest) =
            self.rest.split_at(end.ok_or_else(|| format!("expected a name in quotes, found `{}`", shown(self.rest)))?);
        self.rest = rest.trim_start();
        data(quoted)
    }

    fn item(&mut self, executable: &mut Executable) -> Parsed<()> {
        match self.word() {
            "constant" => {
                self.index(executable.constants.len())?;
                executable.constants.push(data(self.rest)?);
            }
            "callee" => {
                self.index(executable.callees.len())?;
                executable.callees.push(data(self.rest)?);
            }
            "prim_func" => {
                let name = self.quoted()?;
                executable.prim_funcs.push(NamedPrimFunc { name, func: data(self.rest)? });
            }
            "function" => executable.functions.push(self.function()?),
            "signature" => last(executable)?.signature = data(self.rest)?,
            at if at.ends_with(':') => {
                let function = last(executable)?;
                if *at != *format!("{}:", function.code.len()) {
                    return Err(format!("instruction {} is next, not {at}", function.code.len()));
                }
                function.code.push(self.instruction()?);
            }
            other => return Err(format!("`{}` is nothing of an executable", shown(other))),
        }
        Ok(())
    }

    fn index(&mut self, next: usize) -> Parsed<()> {
        let index: usize = self.number()?;
        if index == next { Ok(()) } else { Err(format!("{next} is next, not {index}")) }
    }

    fn named_number(&mut self, name: &str) -> Parsed<u32> {
        self.expect(name)?;
        self.number()
    }

    fn function(&mut self) -> Parsed<VmFunction> {
        let name = self.quoted()?;
        let (params, captured) = (self.named_number("params")?, self.named_number("captured")?);
        let registers = self.named_number("registers")?;
        let global = self.eat("global");
        let symbol = if self.eat("symbol") { Some(self.quoted()?) } else { None };
        self.end()?;
        let signature = StructInfo::Object;
        Ok(VmFunction { name, symbol, global, params, captured, registers, signature, code: Vec::new() })
    }

    fn instruction(&mut self) -> Parsed<Instruction> {
        let dst = if self.rest.starts_with('%') {
            let register = self.register()?;
            self.expect("=")?;
            Some(register)
        } else {
            None
        };
        let instruction = match (self.word(), dst) {
            ("call", dst) => self.call(dst)?,
            ("ret", None) => Instruction::Ret(self.register()?),
            ("goto", None) => Instruction::Goto(self.number()?),
            ("if", None) => {
                let register = self.register()?;
                self.expect("else")?;
                Instruction::If(register, self.number()?)
            }
            (other, _) => return Err(format!("`{}` is no instruction here (call, ret, if, goto)", shown(other))),
        };
        self.end()?;
        Ok(instruction)
    }

    fn register(&mut self) -> Parsed<u32> {
        self.expect("%")?;
        self.number()
    }

    fn call(&mut self, dst: Option<u32>) -> Parsed<Instruction> {
        let callee = self.bracketed("f")?;
        self.expect("(")?;
        let mut args = Vec::new();
        while !self.eat(")") {
            if !args.is_empty() {
                self.expect(",")?;
            }
            args.push(self.operand()?);
        }
        Ok(Instruction::Call(dst, callee, args))
    }

    fn bracketed(&mut self, name: &str) -> Parsed<u32> {
        self.expect(name)?;
        self.expect("[")?;
        let index = self.number()?;
        self.expect("]")?;
        Ok(index)
    }

    fn operand(&mut self) -> Parsed<Operand> {
        match self.rest.chars().next() {
            Some('%') => self.register().map(Operand::Register),
            Some('c') => self.bracketed("c").map(Operand::Constant),
            Some('f') => self.bracketed("f").map(Operand::Callee),
            Some('v') => self.expect("void").map(|()| Operand::Void),
            Some(_) | None => self.number().map(Operand::Immediate),
        }
    }
}

fn last(executable: &mut Executable) -> Parsed<&mut VmFunction> {
    executable.functions.last_mut().ok_or_else(|| "this belongs to a function, and there is none yet".to_string())
}

fn data<T: FromData>(text: &str) -> Parsed<T> {
    from_json(text).map_err(|error| error.to_string())
}
