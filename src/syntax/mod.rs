//! Reading and writing programs and structural information as text.

pub mod decode;
pub mod import;
pub mod load;
mod tvm_json;
pub mod tvmscript;

pub use tvm_json::{saved_tensor, tensor_to_save};
