//! Values and effects of runs, as they are written in cases and sent over the protocol.

use super::record::choice;
use crate::value::{Effect, ValueSpec};

choice! { ValueSpec, "a value" {
    Tensor(data),
    Tuple(fields),
    Shape(dims),
    PackedFunc(name),
    Closure,
    PrimFunc,
    Int(i),
    Bool(b),
    Float(x),
    Str(s),
    DataType(t),
    Object,
    Arg(i),
} }

choice! { Effect, "an effect" { Call(name, args), Print(args) } }
