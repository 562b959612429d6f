//! Why a `PrimFunc` does not run to its end.

use crate::book::Rule;
use crate::grammar::{DataType, Name};
use crate::value::AllocError;

/// Why a `PrimFunc` does not run to its end.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum TirError {
    #[error("the function has {expected} parameters, {found} arguments are given")]
    Arity { expected: usize, found: usize },
    #[error("the parameter `{param}` takes a {expected}")]
    Kind { param: Name, expected: &'static str },
    #[error("the parameter `{param}` has the data type {expected}, the argument {found}")]
    DataType { param: Name, expected: DataType, found: DataType },
    #[error("the value {value} of the parameter `{param}` is not a {dtype}")]
    Range { param: Name, value: String, dtype: DataType },
    #[error("the buffer `{buffer}` has {expected} dimensions, the argument {found}")]
    Rank { buffer: Name, expected: usize, found: usize },
    #[error("dimension {dim} of the buffer `{buffer}` is {expected}, that of the argument {found}")]
    Shape { buffer: Name, dim: usize, expected: i64, found: i64 },
    #[error("stride {dim} of the buffer `{buffer}` is {expected}, that of the argument {found}")]
    Stride { buffer: Name, dim: usize, expected: i64, found: i64 },
    #[error("the offset of the buffer `{buffer}` is {expected}, that of the argument {found}")]
    Offset { buffer: Name, expected: i64, found: i64 },
    #[error("no argument determines the variable `{var}`")]
    Undetermined { var: Name },
    #[error("`{buffer}{indices:?}` is outside of the shape {shape:?}")]
    OutOfBounds { buffer: Name, indices: Vec<i64>, shape: Vec<i64> },
    #[error("`{buffer}{indices:?}` is outside of the memory that `{buffer}` is a view of")]
    OutsideMemory { buffer: Name, indices: Vec<i64> },
    #[error("`{buffer}{indices:?}` is read before it is written")]
    Uninitialized { buffer: Name, indices: Vec<i64> },
    #[error("the block touches `{buffer}{indices:?}`, which is not among what it says it reads or writes")]
    Undeclared { buffer: Name, indices: Vec<i64> },
    #[error("the part of `{buffer}` has the extents {found:?}, the buffer matched with it the shape {expected:?}")]
    Region { buffer: Name, expected: Vec<i64>, found: Vec<i64> },
    #[error("division of {dividend} by zero")]
    DivisionByZero { dividend: i64 },
    #[error("a {dtype} is shifted by {amount}")]
    Shift { amount: i64, dtype: DataType },
    #[error("{value} has no value as {dtype}")]
    Cast { value: f64, dtype: DataType },
    #[error("a loop with the step {0}")]
    Step(i64),
    #[error("{kind}: {message}")]
    Assert { kind: Name, message: String },
    #[error("{0}")]
    Alloc(AllocError),
    #[error("not supported: {0}")]
    Unsupported(String),
    #[error("the function is malformed: {0}")]
    Malformed(String),
    #[error("out of fuel")]
    OutOfFuel,
}

impl TirError {
    /// The rule of the specification that makes this an error, where it has one.
    pub fn rule(&self) -> Option<Rule> {
        match self {
            TirError::DataType { .. }
            | TirError::Rank { .. }
            | TirError::Shape { .. }
            | TirError::Stride { .. }
            | TirError::Offset { .. } => Some(rule!("OP.CALLTIR.RESULT-CHECK")),
            TirError::Arity { .. }
            | TirError::Kind { .. }
            | TirError::Range { .. }
            | TirError::Undetermined { .. }
            | TirError::OutOfBounds { .. }
            | TirError::OutsideMemory { .. }
            | TirError::Uninitialized { .. }
            | TirError::Undeclared { .. }
            | TirError::Region { .. }
            | TirError::DivisionByZero { .. }
            | TirError::Shift { .. }
            | TirError::Cast { .. }
            | TirError::Step(_)
            | TirError::Assert { .. }
            | TirError::Alloc(_)
            | TirError::Unsupported(_)
            | TirError::Malformed(_)
            | TirError::OutOfFuel => None,
        }
    }
}

/// An error on the paths that run often, where results must be small.
pub(super) type Run<T> = Result<T, Box<TirError>>;
