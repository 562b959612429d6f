//! Reading and writing programs and structural information as text.

pub mod decode;
pub mod import;
pub mod load;
pub mod tvmscript;
