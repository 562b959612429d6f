//! Why a `PrimFunc` does not run to its end.

use crate::book::Rule;
use crate::grammar::{DataType, Name};
use crate::value::AllocError;

/// Why a `PrimFunc` does not run to its end.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum TirError {
    /// The call has too few or too many arguments.
    #[error("the function has {expected} parameters, {found} arguments are given")]
    Arity {
        /// How many parameters there are.
        expected: usize,
        /// How many arguments are given.
        found: usize,
    },
    /// A tensor is given for a scalar, or the other way round.
    #[error("the parameter `{param}` takes a {expected}")]
    Kind {
        /// The parameter.
        param: Name,
        /// The expected argument, in words.
        expected: &'static str,
    },
    /// The argument has another data type.
    #[error("the parameter `{param}` has the data type {expected}, the argument {found}")]
    DataType {
        /// The parameter.
        param: Name,
        /// That of the parameter.
        expected: DataType,
        /// That of the argument.
        found: DataType,
    },
    /// The argument is not among the values of the data type.
    #[error("the value {value} of the parameter `{param}` is not a {dtype}")]
    Range {
        /// The parameter.
        param: Name,
        /// The argument, as written.
        value: String,
        /// The data type of the parameter.
        dtype: DataType,
    },
    /// The argument has another rank.
    #[error("the buffer `{buffer}` has {expected} dimensions, the argument {found}")]
    Rank {
        /// The buffer of the parameter.
        buffer: Name,
        /// Its rank.
        expected: usize,
        /// That of the argument.
        found: usize,
    },
    /// The argument has another size in some dimension.
    #[error("dimension {dim} of the buffer `{buffer}` is {expected}, that of the argument {found}")]
    Shape {
        /// The buffer of the parameter.
        buffer: Name,
        /// The dimension, counted from 0.
        dim: usize,
        /// The size in the buffer.
        expected: i64,
        /// That in the argument.
        found: i64,
    },
    /// The buffer asks for another layout than a row-major tensor has.
    #[error("stride {dim} of the buffer `{buffer}` is {expected}, that of the argument {found}")]
    Stride {
        /// The buffer of the parameter.
        buffer: Name,
        /// The dimension, counted from 0.
        dim: usize,
        /// The stride of the buffer, in elements.
        expected: i64,
        /// That of the argument.
        found: i64,
    },
    /// The buffer asks for an offset that the argument does not have.
    #[error("the offset of the buffer `{buffer}` is {expected}, that of the argument {found}")]
    Offset {
        /// The buffer of the parameter.
        buffer: Name,
        /// The offset of the buffer, in elements.
        expected: i64,
        /// That of the argument.
        found: i64,
    },
    /// A variable of the signature that no argument determines.
    #[error("no argument determines the variable `{var}`")]
    Undetermined {
        /// The variable.
        var: Name,
    },
    /// An index is negative, or not below the size.
    #[error("`{buffer}{indices:?}` is outside of the shape {shape:?}")]
    OutOfBounds {
        /// The buffer.
        buffer: Name,
        /// An index for each dimension.
        indices: Vec<i64>,
        /// Its sizes.
        shape: Vec<i64>,
    },
    /// The index is inside of the view, but outside of the memory that the view refers to.
    #[error("`{buffer}{indices:?}` is outside of the memory that `{buffer}` is a view of")]
    OutsideMemory {
        /// The view.
        buffer: Name,
        /// An index for each dimension.
        indices: Vec<i64>,
    },
    /// The element has no value yet.
    #[error("`{buffer}{indices:?}` is read before it is written")]
    Uninitialized {
        /// The buffer.
        buffer: Name,
        /// An index for each dimension.
        indices: Vec<i64>,
    },
    /// The access is outside of the regions that the block declares.
    #[error("the block touches `{buffer}{indices:?}`, which is not among what it says it reads or writes")]
    Undeclared {
        /// The buffer.
        buffer: Name,
        /// An index for each dimension.
        indices: Vec<i64>,
    },
    /// Two rounds of a loop that may run at once access an element, and one of them writes it.
    #[error("`{buffer}{indices:?}` is touched by rounds that may run at once, and written by one of them")]
    Race {
        /// The buffer.
        buffer: Name,
        /// An index for each dimension.
        indices: Vec<i64>,
    },
    /// The condition of a `T.assume` does not hold.
    #[error("what `T.assume` says does not hold")]
    Assumption,
    /// Some threads of a block wait at a barrier that others do not reach.
    #[error("some threads wait at a barrier to which others do not come")]
    Divergent,
    /// A `match_buffer` of a block does not fit.
    #[error("the part of `{buffer}` has the extents {found:?}, the buffer matched with it the shape {expected:?}")]
    Region {
        /// The buffer of which it is a part.
        buffer: Name,
        /// The sizes of the new buffer.
        expected: Vec<i64>,
        /// Those of the part.
        found: Vec<i64>,
    },
    /// Division or remainder by zero.
    #[error("division of {dividend} by zero")]
    DivisionByZero {
        /// The dividend.
        dividend: i64,
    },
    /// By a negative number of bits, or by the width or more.
    #[error("a {dtype} is shifted by {amount}")]
    Shift {
        /// The number of bits.
        amount: i64,
        /// The data type of the shifted number.
        dtype: DataType,
    },
    /// A float is not a number, or outside of the integers of the data type.
    #[error("{value} has no value as {dtype}")]
    Cast {
        /// The float.
        value: f64,
        /// The target data type.
        dtype: DataType,
    },
    /// A number of binary places that is not positive.
    #[error("a number with {0} binary places")]
    Places(i64),
    /// A loop whose step is not positive.
    #[error("a loop with the step {0}")]
    Step(i64),
    /// An `AssertStmt` whose condition is false.
    #[error("{kind}: {message}")]
    Assert {
        /// The kind of error that it names.
        kind: Name,
        /// The message.
        message: String,
    },
    /// A buffer cannot be allocated.
    #[error("{0}")]
    Alloc(AllocError),
    /// A construct that the interpreter does not support.
    #[error("not supported: {0}")]
    Unsupported(String),
    /// Text that no printer of TIR would write, described for people.
    #[error("the function is malformed: {0}")]
    Malformed(String),
    /// The limit of steps is reached.
    #[error("out of fuel")]
    OutOfFuel,
}

impl TirError {
    /// The rule of the specification that leaves the behaviour undefined, if there is one, and the number of its
    /// premise that fails.
    pub fn leaves_open(&self) -> Option<(Rule, usize)> {
        if let TirError::Race { .. } = self {
            Some((rule!("PRIMFUNC.LOOP.INDEPENDENT"), 1))
        } else if let TirError::Divergent = self {
            Some((rule!("PRIMFUNC.BARRIER.ALL"), 1))
        } else if let TirError::Assumption = self {
            Some((rule!("PRIMFUNC.ASSUME"), 1))
        } else if let TirError::Places(_) = self {
            Some((rule!("PRIMFUNC.FIXED-POINT"), 1))
        } else {
            None
        }
    }

    /// The rule of the specification that makes this an error, if there is one.
    pub fn rule(&self) -> Option<Rule> {
        let is_of_result = matches!(
            self,
            TirError::DataType { .. }
                | TirError::Rank { .. }
                | TirError::Shape { .. }
                | TirError::Stride { .. }
                | TirError::Offset { .. }
        );
        is_of_result.then_some(rule!("OP.CALLTIR.RESULT-CHECK"))
    }
}

/// A result on paths that run often, where it must be small.
pub(super) type TirResult<T> = Result<T, Box<TirError>>;
