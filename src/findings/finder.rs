//! What every pass over a program does that reports findings.

use super::{Diagnostic, Step, Trail};
use crate::book::Rule;
use crate::grammar::Span;

/// A traversal of a program that stands somewhere in it, and reports what it finds there.
pub trait Finder: Sized {
    /// Where it stands.
    fn trail(&mut self) -> &mut Trail;

    /// Takes a finding down.
    fn found(&mut self, finding: Diagnostic);

    /// Does something one step further down.
    fn at<T>(&mut self, step: Step, body: impl FnOnce(&mut Self) -> T) -> T {
        self.trail().push(step);
        let result = body(self);
        self.trail().pop();
        result
    }

    /// Reports that the program breaks a rule here.
    fn error(&mut self, rule: Rule, span: Span, message: impl Into<String>) {
        let path = self.trail().path();
        self.found(Diagnostic::error(rule, path, span, message));
    }

    /// The same, with what the author can do about it.
    fn error_with_hint(&mut self, rule: Rule, span: Span, message: impl Into<String>, hint: &str) {
        let path = self.trail().path();
        self.found(Diagnostic::error(rule, path, span, message).with_hint(hint));
    }

    /// Reports what a rule warns of here.
    fn warning(&mut self, rule: Rule, span: Span, message: impl Into<String>) {
        let path = self.trail().path();
        self.found(Diagnostic::warning(rule, path, span, message));
    }
}
