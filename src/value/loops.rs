//! Nests of loops as data, for a compiler that makes machine code of them (`--kernels native`).
//!
//! A nest here has no error: its accesses were proved to be inside, nothing that it reads lacks a value, and no
//! operation fails. Its values are numbered; each is assigned once a round. Integers and floats are held as in
//! [`LoopMemory`].

use std::fmt::Debug;

use crate::number::FloatType;

/// A compiler of nests. The library has none: unsafe code lives in crates of its own.
pub trait MachineCode: Debug + Sync {
    /// A nest with fewer rounds is not worth the compilation.
    fn fewest_rounds(&self) -> u128;

    /// Runs a nest, with the results of its rounds in order, bit for bit.
    ///
    /// Inputs: the nest, and the memory that it numbers. Output: whether it ran; otherwise nothing has changed.
    fn run(&self, nest: &LoopNest, memory: &mut [LoopMemory<'_>]) -> bool;
}

/// The elements of a piece of memory.
pub enum LoopMemory<'a> {
    /// Integers of any width: signed ones extended by their sign, unsigned ones by zeros.
    Ints(&'a mut [i64]),
    /// Floats of any width.
    Floats(&'a mut [f64]),
}

/// Loops around statements without branches.
#[derive(Debug)]
pub struct LoopNest {
    /// The rounds of each loop, the outermost first.
    pub counts: Vec<i64>,
    /// The indices that the instructions name.
    pub indices: Vec<LoopIndex>,
    /// The integers, with those that are constant.
    pub ints: Vec<Option<i64>>,
    /// The floats, with those that are constant.
    pub floats: Vec<Option<f64>>,
    /// What each round begins with.
    pub prelude: Vec<LoopInstr>,
    /// The loops that are in their first rounds when a reduction starts; `None` if none does.
    pub first: Option<Vec<usize>>,
    /// What runs when a reduction starts.
    pub init: Vec<LoopInstr>,
    /// What each round runs then.
    pub body: Vec<LoopInstr>,
    /// What each round ends with.
    pub fold: Option<LoopFold>,
}

/// A sum of a constant and of multiples of the numbers of rounds. No value is outside of an `i64`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoopIndex {
    /// The value in the first round of all loops.
    pub base: i64,
    /// What each loop adds in a round.
    pub steps: Vec<i64>,
}

/// An element that is combined with a value, and is among the operands of no value.
#[derive(Clone, Copy, Debug)]
pub struct LoopFold {
    /// The element.
    pub place: LoopPlace,
    /// The value that the element has when a reduction starts.
    pub start: Option<usize>,
    /// How it is combined.
    pub op: LoopFoldOp,
    /// The value.
    pub value: usize,
    /// Whether the element is the left operand.
    pub left: bool,
}

impl LoopFold {
    /// Whether the element is a float.
    pub fn is_of_floats(&self) -> bool {
        matches!(self.op, LoopFoldOp::Float(..))
    }
}

/// How an element is combined with a value.
#[derive(Clone, Copy, Debug)]
pub enum LoopFoldOp {
    /// Two integers.
    Int(LoopIntOp, LoopInts),
    /// Two floats.
    Float(LoopFloatOp, FloatType),
}

/// An element: the number of the memory, and the number of the index.
#[derive(Clone, Copy, Debug)]
pub struct LoopPlace {
    /// The memory.
    pub memory: usize,
    /// The index.
    pub index: usize,
}

/// The integers of a data type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoopInts {
    /// The width.
    pub bits: u8,
    /// Whether the highest bit is a sign.
    pub signed: bool,
}

/// An operation on two integers of a data type. Results of arithmetic wrap around; those of comparisons are 0 or 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum LoopIntOp {
    Plus,
    Minus,
    Times,
    Min,
    Max,
    BitAnd,
    BitOr,
    BitXor,
    Compare(LoopCompare),
    /// Whether neither is 0.
    Both,
    /// Whether one is not 0.
    Either,
}

/// A comparison. If an operand is NaN, only `Ne` holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum LoopCompare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// An operation on two floats, computed in float64 and rounded. `Min` and `Max` give the second operand unless the
/// first one is less, or greater.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum LoopFloatOp {
    Plus,
    Minus,
    Times,
    Over,
    Min,
    Max,
}

/// An instruction. `to` is the number of its value.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum LoopInstr {
    /// An index as an integer.
    Index {
        to: usize,
        index: usize,
    },
    LoadInt {
        to: usize,
        from: LoopPlace,
    },
    LoadFloat {
        to: usize,
        from: LoopPlace,
    },
    StoreInt {
        to: LoopPlace,
        value: usize,
    },
    StoreFloat {
        to: LoopPlace,
        value: usize,
    },
    Int {
        to: usize,
        op: LoopIntOp,
        a: usize,
        b: usize,
        ints: LoopInts,
    },
    /// The integer of a data type with the low bits of a value.
    Wrap {
        to: usize,
        a: usize,
        ints: LoopInts,
    },
    /// Whether a value is 0, or whether it is not.
    IsZero {
        to: usize,
        a: usize,
        zero: bool,
    },
    Float {
        to: usize,
        op: LoopFloatOp,
        a: usize,
        b: usize,
        float: FloatType,
    },
    CompareFloats {
        to: usize,
        op: LoopCompare,
        a: usize,
        b: usize,
    },
    /// `a` unless the condition is 0.
    SelectInt {
        to: usize,
        condition: usize,
        a: usize,
        b: usize,
    },
    SelectFloat {
        to: usize,
        condition: usize,
        a: usize,
        b: usize,
    },
    /// The nearest float.
    FromInt {
        to: usize,
        a: usize,
        signed: bool,
        float: FloatType,
    },
    Round {
        to: usize,
        a: usize,
        float: FloatType,
    },
}
