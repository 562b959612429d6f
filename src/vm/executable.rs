//! Executables: functions of a register machine with four instructions, a table of what they call, constants, and `PrimFunc`s.

use std::fmt;
use std::sync::Arc;

use crate::data::record::{choice, record, word};
use crate::grammar::tir::PrimFunc;
use crate::grammar::{Attrs, DataType, Name, PrimExpr, PrimValue, StructInfo, TensorData};

/// The version of the text and data forms.
pub const VERSION: u32 = 1;

/// How many registers a function may have.
pub(super) const MAX_REGISTERS: u32 = 1 << 22;

/// A compiled program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Executable {
    /// The version of its form: that of this release; the text form with any other is not read, and the verifier rejects it.
    pub version: u32,
    /// The functions; those of the module first, in its order.
    pub functions: Vec<VmFunction>,
    /// The function table: what instructions call, by index.
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

/// A function of the machine. Its first registers are the parameters, then what a closure of it has captured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VmFunction {
    /// The name of its global variable, or a made one.
    pub name: Name,
    /// The name by which it is invoked from outside, if it is.
    pub symbol: Option<Name>,
    /// Whether it is in the global scope; if not, closures of it are made.
    pub global: bool,
    /// How many parameters it has.
    pub params: u32,
    /// How many values a closure of it captures.
    pub captured: u32,
    /// How many registers it has, parameters included.
    pub registers: u32,
    /// What is known of a closure of it, with slots and registers of whoever makes the closure.
    pub signature: StructInfo,
    /// The instructions.
    pub code: Vec<Instruction>,
}

/// An instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Instruction {
    /// Calls an entry of the function table on arguments; the result goes into a register.
    Call(Option<u32>, u32, Vec<Operand>),
    /// Returns what is in a register.
    Ret(u32),
    /// Goes on with the next instruction if the register holds true, else as many instructions from here.
    If(u32, i64),
    /// Goes on as many instructions from here.
    Goto(i64),
}

/// An argument of a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// What is in a register.
    Register(u32),
    /// A constant.
    Constant(u32),
    /// A number.
    Immediate(i64),
    /// An entry of the function table, as a value.
    Callee(u32),
    /// Nothing.
    Void,
}

/// A constant.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Constant {
    /// A tensor, of which each evaluation makes a new one.
    Tensor(TensorData),
    /// A tensor that is made once in a run.
    Once(TensorData),
    /// A boxed scalar.
    Prim(PrimValue),
    /// A string.
    Str(Name),
    /// A data type.
    DataType(DataType),
    /// A shape.
    Shape(Vec<i64>),
    /// What a value is compared with, in slots and registers.
    StructInfo(StructInfo),
    /// Dimensions, in slots.
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
    /// A packed function, looked up by its symbol when it is called.
    Packed(PackedCall),
    /// Whatever function the first argument is.
    Value(ValueCall),
}

/// A `PrimFunc` in destination-passing style: inputs, or one tuple that holds them all, then what is written.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PrimFuncCall {
    /// Which one.
    pub index: u32,
    /// How many of the last arguments are written.
    pub outputs: u32,
}

/// An operator with what a call of it says beside its arguments.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct OperatorCall {
    /// As registered, for example `relax.add`.
    pub name: Name,
    /// By name.
    pub attrs: Attrs,
    /// In slots and registers.
    pub sinfo_args: Vec<StructInfo>,
}

/// A packed function with what a call of it says beside its arguments.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PackedCall {
    /// The name under which it is registered.
    pub symbol: Name,
    /// Whether the call is declared pure.
    pub pure: bool,
    /// What is wanted of it, in slots and registers.
    pub sinfo_args: Vec<StructInfo>,
}

/// What a call of some function says beside its arguments.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ValueCall {
    /// Whether the call is declared pure.
    pub pure: bool,
    /// What is wanted of it, in slots and registers.
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
    /// `(value, rank or -1, data type or void)`: a tensor of them.
    CheckTensorInfo = "vm.builtin.check_tensor_info",
    /// `(value, rank or -1)`: a shape.
    CheckShapeInfo = "vm.builtin.check_shape_info",
    /// `(value, fields)`: a tuple.
    CheckTupleInfo = "vm.builtin.check_tuple_info",
    /// `(value, information)`: a function.
    CheckFuncInfo = "vm.builtin.check_func_info",
    /// `(value, data type)`: a boxed scalar.
    CheckPrimInfo = "vm.builtin.check_prim_value_info",
    /// `(value, heap, rank or -1, first, (how, what)..)`: its sizes from the first on are stored in slots, or compared.
    MatchShape = "vm.builtin.match_shape",
    /// `(value, heap, how, what)`: the number in a box is stored in a slot, or compared.
    MatchPrimValue = "vm.builtin.match_prim_value",
    /// `(tensor, shape)`: the tensor has the shape.
    MatchSameShape = "vm.builtin.match_same_shape",
    /// `(heap, flag slot or -1, context, dimensions, slot..)`: what int64 could not decide is computed exactly.
    SettleDims = "vm.builtin.settle_dims",
    /// `(heap, (how, what)..)`: a shape.
    MakeShape = "vm.builtin.make_shape",
    /// `(heap, how, what, data type)`: a boxed scalar.
    MakePrimValue = "vm.builtin.make_prim_value",
    /// `(heap, data type, (how, what)..)`: a tensor of zeros.
    AllocTensor = "vm.builtin.alloc_tensor",
    /// `(constant)`: a new tensor of its contents.
    Constant = "vm.builtin.constant",
    /// `(field..)`: a new tuple.
    MakeTuple = "vm.builtin.make_tuple",
    /// `(tuple, index)`: a field.
    TupleGetItem = "vm.builtin.tuple_getitem",
    /// `(value)`: the truth of a condition.
    ReadIfCond = "vm.builtin.read_if_cond",
    /// `(value)`: itself.
    Copy = "vm.builtin.copy",
    /// `(symbol)`: the packed function that is registered.
    FindPacked = "vm.builtin.find_packed",
    /// `(function, captured..)`: a closure.
    MakeClosure = "vm.builtin.make_closure",
    /// `()`: the closure that runs.
    CurrentClosure = "vm.builtin.current_closure",
    /// `(reason)`: ends the program where nothing is said of what it does.
    Unspecified = "vm.builtin.unspecified",
}

/// How a slot or a number takes part in `match_shape`, `make_shape` and the like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum How {
    /// The number itself.
    Number,
    /// What is in the slot.
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

/// What dimensions are computed for, which says what a failure means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DimensionUse {
    /// For themselves.
    Plain,
    /// For a shape.
    Shape,
    /// To be compared with a size of a tensor.
    TensorSize,
    /// To be compared with a size of a shape.
    ShapeSize,
    /// To be compared with the number in a box.
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
    /// What an entry of the function table is called.
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
