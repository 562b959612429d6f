//! Reading and writing programs and structural information as text.

pub mod decode;
pub mod import;
pub mod load;
mod tvm_json;
pub mod tvmscript;
