//! The type layer (chapter Types): erasure, subtyping, bounds, type checking.
