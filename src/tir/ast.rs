//! The abstract syntax of `PrimFunc`s.

use serde::{Deserialize, Serialize};

use crate::grammar::{Attrs, Span};

/// A TIR function.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct PrimFunc {
    #[serde(default, skip_serializing_if = "Attrs::is_empty")]
    pub attrs: Attrs,
    #[serde(skip)]
    pub span: Span,
}
