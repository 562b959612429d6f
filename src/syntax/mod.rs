//! Reading and writing programs and structural information as text.

pub mod decode;
mod depth;
pub mod import;
pub mod load;
pub mod tvmscript;

pub use depth::depth;
