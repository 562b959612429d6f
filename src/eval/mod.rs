//! Evaluation (chapter Detailed Semantics).

pub mod tensor;
