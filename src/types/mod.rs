//! Types (chapter Types): erasure, subtyping, bounds, and when a conversion is necessary.

pub mod axioms;
pub mod bounds;
pub mod conversion;
pub(crate) mod equality;
pub mod erase;
pub mod fields;
mod instead;
mod kinds;
pub mod subtype;

pub use bounds::{find_glb, find_lub};
pub use conversion::{Conversion, conversion};
pub use erase::erase_struct_info;
pub use fields::{Generation, TwoFields};
pub use subtype::is_subtype;
