//! The virtual machine (chapter of the RFC, Relax runtime): a compiler from programs to executables of four
//! instructions, and the machine that runs them. It is a second implementation of the meaning of programs.
//!
//! [`build`] compiles a module to an [`Executable`]. Executables are printed and read as text ([`print()`], [`read()`])
//! and as data, and checked by [`verify`]. [`run()`] runs an entry point.

mod compile;
mod ends;
mod executable;
mod instead;
mod pool;
mod request;
mod run;
mod slots;
mod substitute;
mod text;
mod tvm;
mod verify;

pub use compile::{CompileStage, build, build_up_to};
pub use ends::ends;
pub use executable::{
    Builtin, Callee, Constant, Executable, Instruction, NamedPrimFunc, Operand, OperatorCall, PackedCall, PrimFuncCall,
    ValueCall, VmFunction,
};
pub use run::{VmOptions, VmRun, VmTraceStep, run};
pub use text::{TextError, print, read};
pub use tvm::{TvmExecutable, TvmFunction, import};
pub use verify::{ExecutableFault, verify};
