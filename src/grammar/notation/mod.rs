//! The textual notation of structural information, types and dimensions: `Tensor((n, 4), float32)`, `n + 1`.
//!
//! Output of `Display` is read back as the same value. The spellings of TVMScript are accepted too, for example
//! `R.Tensor(("n", 4), dtype="float32")` and `T.min(n, 4)`. A variable in the place of a shape is read as a `Var`.

mod dims;
mod sinfo;
mod tokens;

use self::tokens::Parser;
use super::source::SyntaxError;
use crate::grammar::{PrimExpr, StructInfo, Type};

/// Reads a dimension.
pub fn parse_prim_expr(text: &str) -> Result<PrimExpr, SyntaxError> {
    let mut parser = Parser::new(text)?;
    let dim = parser.dim()?;
    parser.finish()?;
    Ok(dim)
}

/// Reads structural information.
pub fn parse_struct_info(text: &str) -> Result<StructInfo, SyntaxError> {
    let mut parser = Parser::new(text)?;
    let struct_info = parser.struct_info()?;
    parser.finish()?;
    Ok(struct_info)
}

/// Reads a type.
pub fn parse_type(text: &str) -> Result<Type, SyntaxError> {
    let mut parser = Parser::new(text)?;
    let ty = parser.ty()?;
    parser.finish()?;
    Ok(ty)
}

#[cfg(test)]
mod tests;
