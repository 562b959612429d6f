//! Findings about a program: which rule is broken, where, and why.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::book::Rule;
use crate::grammar::{Span, in_words};

/// Whether a finding makes the program invalid.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Severity {
    /// The program is not valid.
    Error,
    /// The program is valid, but probably does not do what its author intended.
    Warning,
    /// The oracle cannot decide. It says neither that the program is valid nor that the program breaks a rule.
    Limit,
}

/// The way from the module to a node: `main/body/blocks[0]/bindings[2]/value`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct NodePath(pub String);

impl NodePath {
    /// The name of the global function that holds the node; empty for a finding about the module.
    pub fn function(&self) -> &str {
        self.0.split('/').next().unwrap_or_default()
    }

    /// Whether the node is the annotation of a function's result, or inside it.
    pub(crate) fn is_result(&self) -> bool {
        self.0.split('/').any(|step| step == "ret_struct_info")
    }
}

/// One finding. Its code is the rule's id: `E[id]` for errors, `W[id]` for warnings.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Diagnostic {
    /// Whether the program is invalid.
    pub severity: Severity,
    /// The rule that the program breaks.
    pub rule: Rule,
    /// The error in this program, in one line.
    pub message: String,
    /// The node that it is about.
    pub path: NodePath,
    /// Where it was written; [`Span::NONE`] for programs that did not come from text.
    #[serde(skip)]
    pub span: Span,
    /// How to repair it, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Diagnostic {
    /// An error about a node, without a hint.
    pub fn error(rule: Rule, path: NodePath, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Error, rule, message: in_words(message), path, span, hint: None }
    }

    /// A warning about a node, without a hint.
    pub fn warning(rule: Rule, path: NodePath, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(rule, path, span, message) }
    }

    /// Whether the finding prevents the program from being valid.
    pub fn is_fatal(&self) -> bool {
        match self.severity {
            Severity::Error | Severity::Limit => true,
            Severity::Warning => false,
        }
    }

    /// Adds a hint for the author.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hint = Some(in_words(hint));
        self
    }

    /// `E[id]` or `W[id]`.
    pub fn code(&self) -> String {
        match self.severity {
            Severity::Error => format!("E[{}]", self.rule),
            Severity::Warning => format!("W[{}]", self.rule),
            Severity::Limit => format!("L[{}]", self.rule),
        }
    }
}

/// A finding that does not yet have its rule and its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Complaint {
    /// Whether the program is invalid.
    pub severity: Severity,
    /// The error in this program, in one line.
    pub message: String,
    /// How to repair it, if that is known.
    pub hint: Option<String>,
}

impl Complaint {
    /// An error, without a hint.
    pub fn error(message: impl Into<String>) -> Complaint {
        Complaint { severity: Severity::Error, message: message.into(), hint: None }
    }

    /// A warning, without a hint.
    pub fn warning(message: impl Into<String>) -> Complaint {
        Complaint { severity: Severity::Warning, ..Complaint::error(message) }
    }

    /// A limit of the oracle; the program is not at fault.
    pub fn limit(reason: &str) -> Complaint {
        Complaint { severity: Severity::Limit, ..Complaint::error(format!("unspecified: limit: {reason}")) }
    }

    /// Adds a hint for the author.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Complaint {
        self.hint = Some(hint.into());
        self
    }

    /// Completes the finding with the rule and the node.
    pub fn about(self, rule: Rule, path: NodePath, span: Span) -> Diagnostic {
        let Complaint { severity, message, hint } = self;
        Diagnostic { severity, rule, message: in_words(message), path, span, hint: hint.map(in_words) }
    }
}

impl fmt::Display for NodePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
