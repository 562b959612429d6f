//! Executables made by TVM: its four instructions in printed form, with the tables that the text does not contain.
//!
//! ```text
//! @main:
//!   call  vm.builtin.check_tensor_info in: %0, i1, c[0], c[1] dst: %void
//!   call  add                 in: %0, %1, %2   dst: %void
//!   ret   %2
//! ```
//!
//! A callee is a function of the executable, a `PrimFunc`, or a packed function, for which there are the builtins
//! (chapter Builtins). The argument `%vm`, a context that TVM's machine passes to some of them, is ignored.

use rustc_hash::FxHashMap;

use super::executable::{
    Callee, Constant, Executable, Instruction, NamedPrimFunc, Operand, OperatorCall, PackedCall, PrimFuncCall, VERSION,
    VmFunction,
};
use super::pool::Pool;
use super::text::TextError;
use super::text::line::{LineCursor, Parsed, shown};
use crate::data::record::record;
use crate::grammar::{AttrValue, Attrs, DataType, GlobalFunc, GlobalVar, Name, PrimExpr, PrimValue, Span, StructInfo};
use crate::ops::VIEWS;
use crate::syntax::tvmscript::parse_module;
use crate::value::ValueSpec;

/// An executable in the form that TVM gives.
#[derive(Clone, PartialEq, Debug)]
pub struct TvmExecutable {
    /// The printed text.
    pub text: String,
    /// The functions with instructions, in the order of the function table.
    pub functions: Vec<TvmFunction>,
    /// The constants, by index.
    pub constants: Vec<ValueSpec>,
    /// The `PrimFunc`s that were not compiled further, in TVMScript.
    pub prim_funcs: String,
}

/// The properties of a function that the text does not show.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TvmFunction {
    /// The name for invocations and calls.
    pub name: Name,
    /// The number of parameters.
    pub params: u32,
    /// The number of registers, including parameters.
    pub registers: u32,
}

record! { TvmExecutable, "TvmExecutable", closed { text: one, functions: many, constants: many, prim_funcs: one } }
record! { TvmFunction, "TvmFunction", closed { name: one, params: one, registers: one } }

/// Reads an executable of TVM. [`verify`](super::verify()) checks whether it can run.
///
/// # Errors
///
/// The text has a different form, or a name is missing from the tables. An error in the tables is reported at line 0.
pub fn import(made: &TvmExecutable) -> Result<Executable, TextError> {
    let mut reader = Import::of(made).map_err(|message| TextError { line: 0, message })?;
    for (number, line) in (1..).zip(made.text.lines()) {
        reader.line(line).map_err(|message| TextError { line: number, message })?;
    }
    let functions = made.functions.iter().zip(reader.code).map(|(function, code)| VmFunction {
        name: function.name.clone(),
        symbol: Some(function.name.clone()),
        global: true,
        params: function.params,
        captured: 0,
        registers: function.registers,
        signature: StructInfo::Object,
        code,
    });
    Ok(Executable {
        version: VERSION,
        functions: functions.collect(),
        callees: reader.callees.items,
        constants: made.constants.iter().map(constant).collect::<Parsed<_>>().map_err(in_the_tables)?,
        prim_funcs: reader.prim_funcs,
    })
}

fn in_the_tables(message: String) -> TextError {
    TextError { line: 0, message }
}

struct Import {
    /// The functions by name.
    functions: FxHashMap<Name, u32>,
    /// Their instructions.
    code: Vec<Vec<Instruction>>,
    /// The function that the next instruction belongs to.
    current: Option<usize>,
    prim_funcs: Vec<NamedPrimFunc>,
    /// The `PrimFunc`s by global symbol.
    symbols: FxHashMap<Name, u32>,
    callees: Pool<Callee>,
}

impl Import {
    fn of(made: &TvmExecutable) -> Parsed<Import> {
        let prim_funcs = prim_funcs(&made.prim_funcs)?;
        let symbols = (0..).zip(&prim_funcs).map(|(index, named)| (symbol(named), index)).collect();
        Ok(Import {
            functions: (0..).zip(&made.functions).map(|(index, f)| (f.name.clone(), index)).collect(),
            code: vec![Vec::new(); made.functions.len()],
            current: None,
            prim_funcs,
            symbols,
            callees: Pool::new(),
        })
    }

    fn line(&mut self, line: &str) -> Parsed<()> {
        let mut line = LineCursor::new(line);
        if line.rest.is_empty() {
            return Ok(());
        }
        if line.eat("@") {
            return self.heading(line.rest);
        }
        let instruction = self.instruction(&mut line)?;
        line.end()?;
        let code = self.current.and_then(|current| self.code.get_mut(current));
        code.ok_or("the instruction belongs to no function")?.push(instruction);
        Ok(())
    }

    /// The line with the name of a function, whose instructions follow, or the description of another callee.
    fn heading(&mut self, rest: &str) -> Parsed<()> {
        if rest.ends_with(';') {
            self.current = None;
            return Ok(());
        }
        let name = rest.strip_suffix(':').ok_or_else(|| format!("`{}` is no heading", shown(rest)))?;
        let index = self.functions.get(name).ok_or_else(|| format!("{} is not in the tables", shown(name)))?;
        self.current = Some(*index as usize);
        Ok(())
    }

    fn instruction(&mut self, line: &mut LineCursor<'_>) -> Parsed<Instruction> {
        match line.word() {
            "call" => self.call(line),
            "ret" => Ok(Instruction::Ret(register(line)?)),
            "goto" => Ok(Instruction::Goto(line.number()?)),
            "If" => {
                let condition = register(line)?;
                line.expect(",")?;
                Ok(Instruction::If(condition, line.number()?))
            }
            other => Err(format!("`{}` is no instruction of TVM (call, ret, If, goto)", shown(other))),
        }
    }

    fn call(&mut self, line: &mut LineCursor<'_>) -> Parsed<Instruction> {
        let name = line.word();
        let callee = self.callee(name);
        line.expect("in:")?;
        let mut args = Vec::new();
        while !line.eat("dst:") {
            args.extend(self.operand(line)?);
            line.eat(",");
        }
        let dst = if line.eat("%void") { None } else { Some(register(line)?) };
        Ok(Instruction::Call(dst, callee, args))
    }

    /// An argument; `None` for the context of TVM's machine.
    fn operand(&mut self, line: &mut LineCursor<'_>) -> Parsed<Option<Operand>> {
        if line.eat("%vm") {
            return Ok(None);
        }
        if line.eat("%void") {
            return Ok(Some(Operand::Void));
        }
        if line.rest.starts_with('%') {
            return register(line).map(Operand::Register).map(Some);
        }
        if line.eat("c[") {
            let constant = line.number()?;
            line.expect("]")?;
            return Ok(Some(Operand::Constant(constant)));
        }
        if line.eat("f[") {
            let (name, rest) = line.rest.split_once(']').ok_or("a name in brackets does not end")?;
            line.rest = rest.trim_start();
            return Ok(Some(Operand::Callee(self.callee(name))));
        }
        line.expect("i")?;
        line.number().map(Operand::Immediate).map(Some)
    }

    /// The entry of the function table for this name.
    fn callee(&mut self, name: &str) -> u32 {
        let own = self.symbols.get(name).filter(|_| lowered(name).is_none());
        let callee = match (self.functions.get(name), own) {
            (Some(index), _) => Callee::Function(*index),
            // Any of the arguments may be written.
            (None, Some(index)) => Callee::PrimFunc(PrimFuncCall {
                index: *index,
                outputs: self.prim_funcs.get(*index as usize).map_or(0, |named| named.func.params.len() as u32),
            }),
            (None, None) => outside(name),
        };
        self.callees.index_of(callee)
    }
}

/// A callee that is neither a function of the executable nor a `PrimFunc`. It is a function of TVM's run time that is
/// an operator here, or a packed function.
fn outside(name: &str) -> Callee {
    match lowered(name) {
        Some(operator) => {
            Callee::Operator(OperatorCall { name: operator.into(), attrs: Attrs::new(), sinfo_args: Vec::new() })
        }
        None => Callee::Packed(PackedCall { symbol: name.into(), pure: false, sinfo_args: Vec::new() }),
    }
}

/// The operator that corresponds to a function, if there is one.
fn lowered(name: &str) -> Option<&'static str> {
    VIEWS.iter().chain(LOWERED).find(|(symbol, _)| *symbol == name).map(|(_, operator)| *operator)
}

/// The functions to which TVM lowers operators with the same arguments. They belong to its run time, or are `PrimFunc`s
/// that inspect the representation of a tensor.
const LOWERED: &[(&str, &str)] = &[
    ("relax.run.shape_to_tensor", "relax.shape_to_tensor"),
    ("relax.run.nonzero", "relax.nonzero"),
    ("relax.run.unique", "relax.unique"),
    ("_get_tensor_dtype_code", "relax.inspect.tensor_dtype_code"),
    ("_get_tensor_dtype_bits", "relax.inspect.tensor_dtype_bits"),
    ("_get_tensor_dtype_lanes", "relax.inspect.tensor_dtype_lanes"),
    ("_get_tensor_ndim", "relax.inspect.tensor_ndim"),
    ("_get_tensor_shape_i", "relax.inspect.tensor_shape_i"),
    ("_get_tensor_stride_i", "relax.inspect.tensor_stride_i"),
    ("_get_tensor_byte_offset", "relax.inspect.tensor_byte_offset"),
    ("_get_tensor_elem_offset", "relax.inspect.tensor_elem_offset"),
];

fn register(line: &mut LineCursor<'_>) -> Parsed<u32> {
    line.expect("%")?;
    line.number()
}

fn prim_funcs(script: &str) -> Parsed<Vec<NamedPrimFunc>> {
    if script.trim().is_empty() {
        return Ok(Vec::new());
    }
    let module = parse_module(script).map_err(|error| format!("the PrimFuncs: {error}"))?;
    let named = |(var, func): (GlobalVar, GlobalFunc)| match func {
        GlobalFunc::PrimFunc(func) => Some(NamedPrimFunc { name: var.name, func }),
        GlobalFunc::Function(_) | GlobalFunc::ExternFunc(_) => None,
    };
    Ok(module.funcs.into_iter().filter_map(named).collect())
}

/// The name that instructions use.
fn symbol(named: &NamedPrimFunc) -> Name {
    match named.func.attrs.get("global_symbol") {
        Some(AttrValue::Str(symbol)) => symbol.clone(),
        Some(_) | None => named.name.clone(),
    }
}

fn constant(value: &ValueSpec) -> Parsed<Constant> {
    let number = |value: PrimExpr, dtype| Constant::Prim(PrimValue { value, float: None, dtype, span: Span::NONE });
    match value {
        // In TVM a constant is one object, however often it is used.
        ValueSpec::Tensor(data) => Ok(Constant::Once(data.clone())),
        ValueSpec::Shape(sizes) => Ok(Constant::Shape(sizes.clone())),
        ValueSpec::Int(value) => Ok(number(PrimExpr::IntImm(*value), DataType::INT64)),
        ValueSpec::Bool(value) => Ok(number(PrimExpr::IntImm(i64::from(*value)), DataType::BOOL)),
        ValueSpec::Float(bits) => Ok(Constant::Prim(PrimValue {
            value: PrimExpr::IntImm(0),
            float: Some(*bits),
            dtype: DataType::FLOAT64,
            span: Span::NONE,
        })),
        ValueSpec::Str(text) => Ok(Constant::Str(text.clone())),
        ValueSpec::DataType(dtype) => Ok(Constant::DataType(*dtype)),
        ValueSpec::Tuple(_)
        | ValueSpec::PackedFunc(_)
        | ValueSpec::Closure
        | ValueSpec::PrimFunc
        | ValueSpec::Object
        | ValueSpec::Arg(_) => Err(format!("{value} is no constant of an executable")),
    }
}
