//! Programs about functions, structural information, types and dimensions, drawn from a tape of choices.
//!
//! One tape gives one object, so a seed reproduces a finding and cutting the tape shrinks it: every choice is
//! arranged with the simplest alternative first, and an exhausted tape goes on choosing that.

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
