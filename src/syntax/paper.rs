//! Structural information, types and dimensions as written on paper: `Tensor((n, 4), "float32")`, `n + 1`.

use super::source::SyntaxError;
use crate::grammar::PrimExpr;

/// Reads a dimension.
pub fn parse_prim_expr(text: &str) -> Result<PrimExpr, SyntaxError> {
    Err(SyntaxError {
        message: format!("`{text}` is not a dimension"),
        line: 1,
        column: 1,
        source_line: text.to_string(),
    })
}
