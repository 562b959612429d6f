//! Scopes of Relax and shape variables (chapter Variable Scoping).
