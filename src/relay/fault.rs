//! What is wrong with a Relay program: the rule, the place, and where there are two, both.

use crate::book::Rule;
use crate::findings::{Diagnostic, NodePath, Severity};
use crate::grammar::Span;
use crate::grammar::source::{SyntaxError, locate};

/// Something wrong with a program, or to be warned of.
#[derive(Clone, PartialEq, Debug)]
pub struct RelayFault {
    /// Whether the program is refused.
    pub severity: Severity,
    /// The rule that is broken; none for what no rule speaks of, such as a missing parenthesis.
    pub rule: Option<Rule>,
    /// For people.
    pub message: String,
    /// Where.
    pub span: Span,
    /// The other place, with what is there.
    pub also: Option<(Span, String)>,
}

impl RelayFault {
    /// What no rule speaks of.
    pub fn syntax(span: Span, message: impl Into<String>) -> RelayFault {
        RelayFault { severity: Severity::Error, rule: None, message: message.into(), span, also: None }
    }

    /// What a rule forbids.
    pub fn rule(rule: Rule, span: Span, message: impl Into<String>) -> RelayFault {
        RelayFault { rule: Some(rule), ..RelayFault::syntax(span, message) }
    }

    /// What a rule lets pass with a warning.
    pub fn warning(rule: Rule, span: Span, message: impl Into<String>) -> RelayFault {
        RelayFault { severity: Severity::Warning, ..RelayFault::rule(rule, span, message) }
    }

    /// With the other place.
    pub fn and(self, span: Span, what: impl Into<String>) -> RelayFault {
        let also = (!span.is_none()).then(|| (span, what.into()));
        RelayFault { also, ..self }
    }

    /// Whether the program is refused.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The message with the other place as line and column.
    fn told(&self, text: &str) -> String {
        match &self.also {
            None => self.message.clone(),
            Some((span, what)) => {
                let (line, column, _) = locate(text, span.start as usize);
                format!("{}; {what} at {line}:{column}", self.message)
            }
        }
    }

    /// As the error of a reader.
    pub fn syntax_error(&self, text: &str) -> SyntaxError {
        let message = self.told(text);
        let message = self.rule.map_or(message.clone(), |rule| format!("{message} [{rule}]"));
        SyntaxError { rule: self.rule, ..SyntaxError::at(text, self.span, message) }
    }

    /// As a finding; `None` where no rule is broken.
    pub fn diagnostic(&self, text: &str) -> Option<Diagnostic> {
        let error = Diagnostic::error(self.rule?, NodePath::default(), self.span, self.told(text));
        Some(Diagnostic { severity: self.severity, ..error })
    }
}

/// Faults as lines, each with its place.
pub fn located(faults: &[RelayFault], text: &str) -> String {
    let lines: Vec<String> = faults.iter().map(|fault| fault.syntax_error(text).to_string()).collect();
    lines.join("\n")
}
