//! TIR `PrimFunc`s: an AST of their own, and an interpreter.

mod ast;

pub use ast::PrimFunc;
