//! Reading and writing programs and structural information as text.

pub mod paper;
pub mod source;
pub mod tvmscript;
