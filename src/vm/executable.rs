//! Executables: functions of a register machine with four instructions, a table of callees, constants, and `PrimFunc`s.

use std::fmt;
use std::sync::Arc;

use crate::data::record::{choice, record, word};
use crate::grammar::tir::PrimFunc;
use crate::grammar::{Attrs, DataType, Name, PrimExpr, PrimValue, StructInfo, TensorData};

/// The version of the text and data forms.
pub const VERSION: u32 = 1;

/// The maximum number of registers of a function.
pub(super) const MAX_REGISTERS: u32 = 1 << 22;

/// A compiled program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Executable {
    /// The version of its form. Text in the form of any other release is not read, and the verifier rejects such an
    /// executable.
    pub version: u32,
    /// The functions. Those of the module come first, in its order.
    pub functions: Vec<VmFunction>,
    /// The function table: the callees of instructions, by index.
    pub callees: Vec<Callee>,
    /// The constants, by index.
    pub constants: Vec<Constant>,
    /// The `PrimFunc`s of the module, and those that compute dimensions.
    pub prim_funcs: Vec<NamedPrimFunc>,
}

/// A `PrimFunc` with its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedPrimFunc {
    /// The name of its global variable.
    pub name: Name,
    /// The definition.
    pub func: Arc<PrimFunc>,
}

/// A function of the machine. Its first registers are the parameters, followed by the captured values of its closure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VmFunction {
    /// The name of its global variable, or a generated one.
    pub name: Name,
    /// The name for invocation from outside, if that is possible.
    pub symbol: Option<Name>,
    /// Whether it is in the global scope. Otherwise closures of it are made.
    pub global: bool,
    /// The number of parameters.
    pub params: u32,
    /// The number of values that its closure captures.
    pub captured: u32,
    /// The number of registers, including parameters.
    pub registers: u32,
    /// The run-time structural information of its closure, in slots and registers of the function that makes the
    /// closure.
    pub signature: StructInfo,
    /// The instructions.
    pub code: Vec<Instruction>,
}

/// An instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Instruction {
    /// Calls an entry of the function table with arguments, and writes the result to a register.
    Call(Option<u32>, u32, Vec<Operand>),
    /// Returns the value of a register.
    Ret(u32),
    /// Continues with the next instruction if the register is true, else jumps by this many instructions.
    If(u32, i64),
    /// Jumps by this many instructions.
    Goto(i64),
}

/// An argument of a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// The value of a register.
    Register(u32),
    /// A constant.
    Constant(u32),
    /// A number.
    Immediate(i64),
    /// An entry of the function table, as a value.
    Callee(u32),
    /// No argument.
    Void,
}

/// A constant.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Constant {
    /// A tensor. Each evaluation makes a new one.
    Tensor(TensorData),
    /// A tensor that is made once per run.
    Once(TensorData),
    /// A boxed scalar.
    Prim(PrimValue),
    /// A string.
    Str(Name),
    /// A data type.
    DataType(DataType),
    /// A shape.
    Shape(Vec<i64>),
    /// Structural information to compare a value with, in slots and registers.
    StructInfo(StructInfo),
    /// Dimensions, in terms of slots.
    Dims(Vec<PrimExpr>),
}

/// An entry of the function table.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Callee {
    /// A function of the executable, by its index.
    Function(u32),
    /// A `PrimFunc`.
    PrimFunc(PrimFuncCall),
    /// A function of the library of the machine.
    Builtin(Builtin),
    /// An operator with its attributes.
    Operator(OperatorCall),
    /// A packed function, looked up by its symbol at each call.
    Packed(PackedCall),
    /// The function in the first argument.
    Value(ValueCall),
}

/// A `PrimFunc` in destination-passing style. The arguments are the inputs, or one tuple of all inputs, followed by the
/// outputs.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PrimFuncCall {
    /// Its index.
    pub index: u32,
    /// The number of last arguments that are outputs.
    pub outputs: u32,
}

/// An operator, with the other parts of its call.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct OperatorCall {
    /// The registered name, for example `relax.add`.
    pub name: Name,
    /// The attributes, by name.
    pub attrs: Attrs,
    /// The type arguments, in slots and registers.
    pub sinfo_args: Vec<StructInfo>,
}

/// A packed function, with the other parts of its call.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PackedCall {
    /// The name under which it is registered.
    pub symbol: Name,
    /// Whether the call is declared pure.
    pub pure: bool,
    /// The type arguments, in slots and registers.
    pub sinfo_args: Vec<StructInfo>,
}

/// A call of a function value, without its arguments.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ValueCall {
    /// Whether the call is declared pure.
    pub pure: bool,
    /// The type arguments, in slots and registers.
    pub sinfo_args: Vec<StructInfo>,
}

macro_rules! builtins {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// A function of the library of the machine.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Builtin {
            $($(#[$doc])* $variant,)*
        }

        impl Builtin {
            /// Every function of the library.
            pub const ALL: &'static [Builtin] = &[$(Builtin::$variant),*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Builtin::$variant => $name,)*
                }
            }
        }

        word! { Builtin, "a function of the machine" { $($variant = $name),* } }
    };
}

builtins! {
    /// `(slots)`: a tensor of int64 for the sizes of a function.
    AllocShapeHeap = "vm.builtin.alloc_shape_heap",
    /// `(value, rank or -1, datatype or void)`: checks for a tensor of this rank and datatype.
    CheckTensorInfo = "vm.builtin.check_tensor_info",
    /// `(value, rank or -1)`: checks for a shape.
    CheckShapeInfo = "vm.builtin.check_shape_info",
    /// `(value, fields)`: checks for a tuple.
    CheckTupleInfo = "vm.builtin.check_tuple_info",
    /// `(value, information)`: checks for a function.
    CheckFuncInfo = "vm.builtin.check_func_info",
    /// `(value, datatype)`: checks for a boxed scalar.
    CheckPrimInfo = "vm.builtin.check_prim_value_info",
    /// `(value, heap, rank or -1, first, (how, what)..)`: stores the sizes from the first on in slots, or compares
    /// them.
    MatchShape = "vm.builtin.match_shape",
    /// `(value, heap, how, what)`: stores the number of a boxed scalar in a slot, or compares it.
    MatchPrimValue = "vm.builtin.match_prim_value",
    /// `(tensor, shape)`: checks that the tensor has the shape.
    MatchSameShape = "vm.builtin.match_same_shape",
    /// `(heap, flag slot or -1, context, dimensions, slot..)`: computes dimensions exactly if int64 was not sufficient.
    SettleDims = "vm.builtin.settle_dims",
    /// `(heap, (how, what)..)`: makes a shape.
    MakeShape = "vm.builtin.make_shape",
    /// `(heap, how, what, datatype)`: makes a boxed scalar.
    MakePrimValue = "vm.builtin.make_prim_value",
    /// `(heap, datatype, (how, what)..)`: makes a tensor of zeros.
    AllocTensor = "vm.builtin.alloc_tensor",
    /// `(constant)`: makes a new tensor with the contents.
    Constant = "vm.builtin.constant",
    /// `(field..)`: makes a new tuple.
    MakeTuple = "vm.builtin.make_tuple",
    /// `(tuple, index)`: returns a field.
    TupleGetItem = "vm.builtin.tuple_getitem",
    /// `(value)`: returns the truth of a condition.
    ReadIfCond = "vm.builtin.read_if_cond",
    /// `(value)`: returns the value itself.
    Copy = "vm.builtin.copy",
    /// `(symbol)`: returns the registered packed function.
    FindPacked = "vm.builtin.find_packed",
    /// `(function, captured..)`: makes a closure.
    MakeClosure = "vm.builtin.make_closure",
    /// `()`: returns the running closure.
    CurrentClosure = "vm.builtin.current_closure",
    /// `(reason)`: ends the program at a point where its behaviour is unspecified.
    Unspecified = "vm.builtin.unspecified",
}

/// The role of a slot or a number in `match_shape`, `make_shape` and similar functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum How {
    /// The number itself.
    Number,
    /// The number in the slot.
    Slot,
    /// The slot is written.
    Store,
}

impl How {
    pub(super) fn code(self) -> i64 {
        match self {
            How::Number => 0,
            How::Slot => 1,
            How::Store => 2,
        }
    }

    pub(super) fn of_code(code: i64) -> Option<How> {
        [How::Number, How::Slot, How::Store].into_iter().find(|how| how.code() == code)
    }
}

/// The purpose of computed dimensions. It determines the meaning of a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DimensionUse {
    /// No special purpose.
    Plain,
    /// The sizes of a shape.
    Shape,
    /// A comparison with a size of a tensor.
    TensorSize,
    /// A comparison with a size of a shape.
    ShapeSize,
    /// A comparison with the number of a boxed scalar.
    PrimValue,
}

impl DimensionUse {
    pub(super) fn code(self) -> i64 {
        match self {
            DimensionUse::Plain => 0,
            DimensionUse::Shape => 1,
            DimensionUse::TensorSize => 2,
            DimensionUse::ShapeSize => 3,
            DimensionUse::PrimValue => 4,
        }
    }

    pub(super) fn of_code(code: i64) -> Option<DimensionUse> {
        let all = [
            DimensionUse::Plain,
            DimensionUse::Shape,
            DimensionUse::TensorSize,
            DimensionUse::ShapeSize,
            DimensionUse::PrimValue,
        ];
        all.into_iter().find(|context| context.code() == code)
    }
}

impl Executable {
    /// The name of an entry of the function table.
    pub fn name_of<'a>(&'a self, callee: &'a Callee) -> &'a str {
        match callee {
            Callee::Function(index) => self.functions.get(*index as usize).map_or("?", |f| &f.name),
            Callee::PrimFunc(call) => self.prim_funcs.get(call.index as usize).map_or("?", |f| &f.name),
            Callee::Builtin(builtin) => builtin.name(),
            Callee::Operator(call) => &call.name,
            Callee::Packed(call) => &call.symbol,
            Callee::Value(_) => "vm.builtin.invoke",
        }
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Register(r) => write!(f, "%{r}"),
            Operand::Constant(c) => write!(f, "c[{c}]"),
            Operand::Immediate(i) => write!(f, "{i}"),
            Operand::Callee(c) => write!(f, "f[{c}]"),
            Operand::Void => f.write_str("void"),
        }
    }
}

record! { Executable, "Executable", closed {
    version: one,
    functions: many,
    callees: many,
    constants: many,
    prim_funcs: many,
} }
record! { NamedPrimFunc, "NamedPrimFunc", closed { name: one, func: one } }
record! { VmFunction, "Function", closed {
    name: one,
    symbol: unless(None),
    global: or(false),
    params: one,
    captured: or(0),
    registers: one,
    signature: one,
    code: many,
} }
record! { PrimFuncCall, "PrimFuncCall", closed { index: one, outputs: or(0) } }
record! { OperatorCall, "OperatorCall", closed {
    name: one,
    attrs: unless(Attrs::new()),
    sinfo_args: unless(Vec::new()),
} }
record! { PackedCall, "PackedCall", closed { symbol: one, pure: unless(false), sinfo_args: unless(Vec::new()) } }
record! { ValueCall, "ValueCall", closed { pure: unless(false), sinfo_args: unless(Vec::new()) } }

choice! { Instruction, "an instruction" { Call(dst, callee, args), Ret(register), If(register, offset), Goto(offset) } }
choice! { Operand, "an operand" { Register(r), Constant(c), Immediate(i), Callee(c), Void } }
choice! { Constant, "a constant" { Tensor(t), Once(t), Prim(p), Str(s), DataType(d), Shape(s), StructInfo(s), Dims(d) } }
choice! { Callee, "an entry of the function table" {
    Function(f),
    PrimFunc(p),
    Builtin(b),
    Operator(o),
    Packed(p),
    Value(v),
} }
