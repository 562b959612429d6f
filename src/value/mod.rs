//! Run-time values, and the services that an evaluator offers to operators and packed functions (chapter Values).
//!
//! Nothing here knows how programs are evaluated. An evaluator implements [`Host`].

mod account;
mod effect;
mod host;
mod instead;
mod loops;
mod noise;
mod object;
mod packed;
mod shared;
mod sides;
mod stop;
mod storage;
mod tensor;
mod workers;
mod written;

pub use account::{Account, Held, bytes_of, count};
pub use effect::Effect;
pub use host::{Host, Kernels, PackedCallContract, ResultContract, boxed_truth_counts, exchanged, readable};
pub use loops::{
    LoopCompare, LoopFloatOp, LoopFold, LoopFoldOp, LoopIndex, LoopInstr, LoopIntOp, LoopInts, LoopMemory, LoopNest,
    LoopPlace, MachineCode,
};
pub use noise::{Noise, NoiseMarks, NoiseSeries, Rounding, digits_of_sums, is_half, is_short, least_normal, spacing};
pub use object::{Applied, Closure, CompiledClosure, Content, Opaque, Prim, PrimFuncObj, TupleObj, Value};
pub use packed::{PackedDef, PackedFunc, PackedImpl, Reads, Registry, Returned};
pub use shared::{SharedArg, SharedCall, SharedCalls, SharedKey, to_share};
pub use sides::{Side, Sides, Taken, address};
pub use stop::Stop;
pub use storage::{Poison, ProgramPoint, Site, Storage};
pub use tensor::{AllocError, Element, Elements, MAX_ELEMENTS, Narrow, Run, Scalar, Tensor, TensorContents};
pub use workers::{Seat, Worker, workers};
pub(crate) use written::SHOWN;
pub use written::{ConvertError, List, ValueSpec, from_spec, from_specs, snapshot, to_spec, to_spec_with_identity};
