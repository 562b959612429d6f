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
    /// The program is valid, and probably not what was meant.
    Warning,
    /// The oracle goes no further here, so that nothing is said of the program: not that it is valid, and not that it breaks a rule.
    Limit,
}

/// The way from the module to a node: `main/body/blocks[0]/bindings[2]/value`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct NodePath(pub String);

impl NodePath {
    /// The global function that holds the node; empty for what concerns the module.
    pub fn function(&self) -> &str {
        self.0.split('/').next().unwrap_or_default()
    }

    /// Whether the node is the annotation of a function's result, or in it.
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
    /// One line: what is wrong with this program.
    pub message: String,
    /// The node that it is about.
    pub path: NodePath,
    /// Where it was written; [`Span::NONE`] for programs that did not come from text.
    #[serde(skip)]
    pub span: Span,
    /// How to mend it, when that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Diagnostic {
    /// An error of a node, without a hint.
    pub fn error(rule: Rule, path: NodePath, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Error, rule, message: in_words(message), path, span, hint: None }
    }

    /// A warning of a node, without a hint.
    pub fn warning(rule: Rule, path: NodePath, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(rule, path, span, message) }
    }

    /// Whether the program cannot be called valid.
    pub fn is_fatal(&self) -> bool {
        match self.severity {
            Severity::Error | Severity::Limit => true,
            Severity::Warning => false,
        }
    }

    /// Adds what the author can do about it.
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

/// What is to be said about a node that does not meet a rule, before it is known which rule and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Complaint {
    /// Whether the program is invalid.
    pub severity: Severity,
    /// One line: what is wrong with this program.
    pub message: String,
    /// How to mend it, when that is known.
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

    /// A limit of the oracle, and no fault of the program.
    pub fn limit(reason: &str) -> Complaint {
        Complaint { severity: Severity::Limit, ..Complaint::error(format!("unspecified: limit: {reason}")) }
    }

    /// Adds what the author can do about it.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Complaint {
        self.hint = Some(hint.into());
        self
    }

    /// The finding about a node.
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
