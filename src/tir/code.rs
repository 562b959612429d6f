//! The tree that is interpreted: names are replaced by numbers of slots, and data types by ways to wrap and to round.
//!
//! An integer of any width is held as an i64: signed ones extended by their sign, unsigned ones by zeros (a uint64 by
//! its bits), a Boolean as 0 or 1. A float of any width is held as an f64, which represents all of them exactly.

use super::beside::Beside;
use super::memory::MemoryScope;
use super::scalar::{Compare, FloatOp, IntOp, Repr, Test};
use crate::grammar::{DataType, Name};
use crate::number::FloatType;
use crate::number::real::{BinaryFunction, Function};

/// A lowered function.
pub(super) struct LoweredFunction {
    pub params: Vec<ParamCode>,
    pub body: Vec<TirInstr>,
    /// How many slots there are of each kind.
    pub ints: usize,
    pub floats: usize,
    /// The name of each buffer slot.
    pub buffers: Vec<Name>,
    /// The slots of the variables that are bound by matching the arguments.
    pub shape_vars: Vec<(usize, Name)>,
    /// The choices whose sides are recorded, by their addresses.
    pub choices: Vec<usize>,
}

pub(super) enum ParamCode {
    Int { slot: usize, name: Name, dtype: DataType, repr: Repr },
    Float { slot: usize, name: Name, round: FloatType },
    Buffer(BufferCode),
    Handle,
}

pub(super) struct BufferCode {
    pub slot: usize,
    pub name: Name,
    pub dtype: DataType,
    pub shape: Vec<Int>,
    /// Empty for a compact row-major buffer.
    pub strides: Vec<Int>,
    pub offset: Option<Int>,
    /// For a buffer with its own memory: the scope of the memory.
    pub scope: MemoryScope,
}

/// An element of a buffer.
pub(super) struct Access {
    pub buffer: usize,
    pub indices: Vec<Int>,
}

pub(super) enum TirInstr {
    For(Box<ForCode>),
    While(Int, Vec<TirInstr>, Option<usize>),
    Block(Box<BlockCode>),
    If(Box<(Int, Vec<TirInstr>, Vec<TirInstr>)>),
    StoreInt(Access, Int),
    StoreFloat(Access, Float),
    LetInt(usize, Int),
    LetFloat(usize, Float),
    Alloc(Box<BufferCode>),
    /// A view of the memory of the buffer in a slot.
    Decl(Box<BufferCode>, usize),
    /// Statements with a scope of their own.
    Scope(Vec<TirInstr>),
    /// A condition that must hold; otherwise the run is unspecified.
    Assume(Int),
    Sort(Box<SortCode>),
    Scan(Box<ScanCode>),
    /// The threads of a block wait for each other.
    Barrier,
    /// A statement in which there are barriers.
    Waiting(Box<TirInstr>),
    Assert(Box<(Int, Name, String)>),
    EvaluateInt(Int),
    EvaluateFloat(Float),
    Unsupported(Box<str>),
    Break,
    Continue,
    /// The function ends, with or without a value.
    Return(Option<TirValue>),
}

pub(super) struct ForCode {
    pub slot: usize,
    pub start: Int,
    pub stop: Int,
    pub step: Option<Int>,
    pub body: Vec<TirInstr>,
    /// The number of the choice, if its sides are recorded.
    pub choice: Option<usize>,
    /// The kind of its rounds, if they may run at once.
    pub beside: Option<Beside>,
}

impl ForCode {
    /// Whether its rounds are the threads of a block.
    pub fn is_threads(&self) -> bool {
        matches!(self.beside, Some(Beside::Threads(_)))
    }
}

/// A call of a packed function that sorts.
pub(super) struct SortCode {
    /// The slot of the buffer, and its shape according to the call.
    pub input: (usize, Vec<Int>),
    pub outputs: Vec<(usize, Vec<Int>, Sorted)>,
    pub axis: Int,
    pub ascending: Int,
    pub unsigned: bool,
}

/// A call of a packed function that sums up.
pub(super) struct ScanCode {
    /// The slot of each buffer, and its shape according to the call.
    pub input: (usize, Vec<Int>),
    pub output: (usize, Vec<Int>),
    /// The data type of the sums.
    pub sums: ScanSums,
    /// Whether the sum at an index excludes the element at this index.
    pub exclusive: Int,
}

/// The data type of sums.
#[derive(Clone, Copy)]
pub(super) enum ScanSums {
    Int(Repr),
    Float(FloatType),
}

/// The part of the sorted elements that is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sorted {
    Values,
    Places,
}

pub(super) struct BlockCode {
    pub iters: Vec<IterCode>,
    pub predicate: Option<Int>,
    pub declared: Declared,
    pub allocs: Vec<BufferCode>,
    pub matches: Vec<MatchCode>,
    pub init: Option<Vec<TirInstr>>,
    pub body: Vec<TirInstr>,
}

pub(super) struct IterCode {
    pub slot: usize,
    pub reduce: bool,
    pub start: Int,
    pub value: Int,
}

/// The accesses that a block declares; `None` if it does not declare them.
pub(super) struct Declared {
    pub reads: Option<Vec<RegionCode>>,
    pub writes: Option<Vec<RegionCode>>,
    /// The buffers from this slot on belong to the block.
    pub own: usize,
}

pub(super) struct RegionCode {
    pub buffer: usize,
    pub ranges: Vec<(Int, Option<Int>)>,
}

/// A buffer that is a part of the buffer in a slot.
pub(super) struct MatchCode {
    pub buffer: BufferCode,
    pub source: usize,
    pub ranges: Vec<(Int, Option<Int>)>,
    /// The variables in strides and offset that matching binds.
    pub unbound: Vec<usize>,
}

/// An expression whose value is an integer or a Boolean.
pub(super) enum Int {
    Const(i64),
    Slot(usize),
    Load(Access),
    Add(Box<(Int, Int)>, Repr),
    Sub(Box<(Int, Int)>, Repr),
    Mul(Box<(Int, Int)>, Repr),
    Binary(IntOp, Box<(Int, Int)>, Repr),
    Shift {
        left: bool,
        operands: Box<(Int, Int)>,
        repr: Repr,
        dtype: DataType,
    },
    Compare(Compare, Box<(Int, Int)>, Repr),
    CompareFloats(Compare, Box<(Float, Float)>),
    And(Box<(Int, Int)>),
    Or(Box<(Int, Int)>),
    Not(Box<Int>),
    BitNot(Box<Int>, Repr),
    Popcount(Box<Int>, Repr),
    LeadingZeros(Box<Int>, Repr),
    Choice(Box<(Int, Int, Int)>),
    /// `T.q_multiply_shift`: two numbers, their binary places, and the shift.
    FixedPoint(Box<[Int; 4]>),
    /// The minimum or the maximum of two; the chosen side is recorded.
    Picked(usize, IntOp, Box<(Int, Int)>, Repr),
    /// A condition whose value is recorded.
    Noted(usize, Box<Int>),
    Wrap(Box<Int>, Repr),
    Nonzero(Box<Int>),
    Truncate(Box<Float>, Repr, DataType),
    Test(Test, Box<Float>),
    /// The bits of a float as an integer.
    Bits(Box<Float>, FloatType, Repr),
    Let(Box<(LoweredBinding, Int)>),
    Unsupported(Box<str>),
}

/// An expression whose value is a float.
pub(super) enum Float {
    Const(f64, FloatType),
    Slot(usize),
    Load(Access),
    Add(Box<(Float, Float)>, FloatType),
    Sub(Box<(Float, Float)>, FloatType),
    Mul(Box<(Float, Float)>, FloatType),
    Div(Box<(Float, Float)>, FloatType),
    /// A product and a sum, rounded once.
    Fma(Box<(Float, Float, Float)>, FloatType),
    Binary(FloatOp, Box<(Float, Float)>, FloatType),
    Choice(Box<(Int, Float, Float)>),
    /// As for integers.
    Picked(usize, FloatOp, Box<(Float, Float)>, FloatType),
    FromInt(Box<Int>, Repr, FloatType),
    /// To another type, from one.
    Round(Box<Float>, FloatType, FloatType),
    Unary(Function, Box<Float>, FloatType),
    Binary2(BinaryFunction, Box<(Float, Float)>, FloatType),
    Scale(Box<(Float, Int)>, FloatType),
    /// The float with these bits.
    FromBits(Box<Int>, FloatType),
    Let(Box<(LoweredBinding, Float)>),
    Unsupported(Box<str>),
}

/// An expression of either kind.
pub(super) enum TirValue {
    Int(Int, Repr),
    Float(Float, FloatType),
}

/// A variable bound in an expression.
pub(super) enum LoweredBinding {
    Int(usize, Int),
    Float(usize, Float),
}
