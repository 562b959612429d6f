//! What editors and agents ask.
//!
//! [`lsp`] answers editors, by the Language Server Protocol: findings as one types, what is known of a name, fixes.
//! [`mcp`] offers the commands to agents as tools, by the Model Context Protocol. [`why`] tells where the structural
//! information of a variable comes from.

pub mod lsp;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod why;
