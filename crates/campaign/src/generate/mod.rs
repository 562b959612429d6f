//! Programs about functions, structural information, types and dimensions, drawn from a tape of choices.
//!
//! One tape gives one object. So a seed reproduces a finding, and cutting the tape shrinks the object: the simplest
//! alternative of each choice comes first, and an exhausted tape always chooses the first.

mod dims;
pub(crate) mod functions;
mod info;
pub(crate) mod nodes;
pub(crate) mod scope;
mod tape;

pub use dims::prim_expr;
pub use functions::module_of_functions;
pub use info::{struct_info, struct_info_pair, struct_info_pair_of, ty, type_pair};
pub use tape::Tape;
