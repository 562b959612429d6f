//! Faults of a Relay program: the rule, and the one or two positions.

use crate::book::Rule;
use crate::findings::{Diagnostic, NodePath, Severity};
use crate::grammar::Span;
use crate::grammar::source::{SyntaxError, locate};

/// An error or a warning about a program.
#[derive(Clone, PartialEq, Debug)]
pub struct RelayFault {
    /// Whether the program is refused.
    pub severity: Severity,
    /// The broken rule; `None` for faults that no rule covers, such as a missing parenthesis.
    pub rule: Option<Rule>,
    /// A message for people.
    pub message: String,
    /// The position.
    pub span: Span,
    /// The other position, with a description.
    pub also: Option<(Span, String)>,
}

impl RelayFault {
    /// A fault that no rule covers.
    pub fn syntax(span: Span, message: impl Into<String>) -> RelayFault {
        RelayFault { severity: Severity::Error, rule: None, message: message.into(), span, also: None }
    }

    /// A fault that a rule forbids.
    pub fn rule(rule: Rule, span: Span, message: impl Into<String>) -> RelayFault {
        RelayFault { rule: Some(rule), ..RelayFault::syntax(span, message) }
    }

    /// A fault that a rule allows with a warning.
    pub fn warning(rule: Rule, span: Span, message: impl Into<String>) -> RelayFault {
        RelayFault { severity: Severity::Warning, ..RelayFault::rule(rule, span, message) }
    }

    /// Adds the other position.
    pub fn and(self, span: Span, what: impl Into<String>) -> RelayFault {
        let also = (!span.is_none()).then(|| (span, what.into()));
        RelayFault { also, ..self }
    }

    /// Whether the program is refused.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The message, with the other position as line and column.
    fn told(&self, text: &str) -> String {
        match &self.also {
            None => self.message.clone(),
            Some((span, what)) => {
                let (line, column, _) = locate(text, span.start as usize);
                format!("{}; {what} at {line}:{column}", self.message)
            }
        }
    }

    /// The fault as an error of a reader.
    pub fn syntax_error(&self, text: &str) -> SyntaxError {
        let message = self.told(text);
        let message = self.rule.map_or(message.clone(), |rule| format!("{message} [{rule}]"));
        SyntaxError { rule: self.rule, ..SyntaxError::at(text, self.span, message) }
    }

    /// The fault as a finding; `None` if no rule is broken.
    pub fn diagnostic(&self, text: &str) -> Option<Diagnostic> {
        let error = Diagnostic::error(self.rule?, NodePath::default(), self.span, self.told(text));
        Some(Diagnostic { severity: self.severity, ..error })
    }
}

/// The faults as lines, each with its position.
pub fn located(faults: &[RelayFault], text: &str) -> String {
    let lines: Vec<String> = faults.iter().map(|fault| fault.syntax_error(text).to_string()).collect();
    lines.join("\n")
}
