//! The text form of executables (`R89.API.ASTEXT`), which can be read back.
//!
//! Each line holds one item: a constant, an entry of the function table, a `PrimFunc`, a function or an instruction. A
//! remark for people begins with `#`. Constants and similar data are written in JSON.
//!
//! ```text
//! relax-spec executable 1
//! constant 0 {"DataType":"float32"}
//! callee 0 {"Builtin":"vm.builtin.check_tensor_info"}
//! function "main" params 1 captured 0 registers 2 global symbol "main"
//! signature {"Func":{"params":["Object"],"ret":"Object"}}
//!   0: call f[0] (%0, 1, c[0])  # vm.builtin.check_tensor_info
//!   1: ret %0
//! ```

pub(super) mod line;
mod print;
mod read;

pub use print::print;
pub use read::{TextError, read};
