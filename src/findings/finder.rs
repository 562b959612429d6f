//! The interface of every pass over a program that reports findings.

use super::{Complaint, Diagnostic, Trail, TrailStep};
use crate::book::Rule;
use crate::grammar::Span;
use crate::judge::{Condition, Cx};

/// A condition that a node must meet, with the complaint if it does not.
pub type Demand<'a> = Condition<&'a dyn Fn() -> Complaint>;

/// A traversal that keeps its position in a program and reports findings there.
pub trait Finder: Sized {
    /// The present position.
    fn trail(&mut self) -> &mut Trail;

    /// The context of the judgement.
    fn cx(&mut self) -> &mut Cx;

    /// Whether further findings are ignored, so that the pass need not construct them.
    fn has_enough(&self) -> bool {
        false
    }

    /// Records a finding.
    fn found(&mut self, finding: Diagnostic);

    /// Runs `body` one step further down.
    #[inline]
    fn at<T>(&mut self, step: TrailStep, body: impl FnOnce(&mut Self) -> T) -> T {
        self.trail().push(step);
        let result = body(self);
        self.trail().pop();
        result
    }

    /// Checks the node against conditions and reports each that fails. Returns whether all hold.
    #[inline]
    fn demand(&mut self, span: Span, demands: &[Demand]) -> bool {
        let mut all = true;
        for demand in demands {
            let (rule, n, holds, complain) = demand;
            if !self.cx().holds(&[(*rule, *n, *holds)]) {
                all = false;
                self.complain(*rule, span, complain);
            }
        }
        all
    }

    /// As [`Finder::demand`], for conditions each of which makes sense only if those before it hold. Reports the first
    /// that fails.
    fn demand_in_turn(&mut self, span: Span, demands: &[Demand]) -> bool {
        let met = self.cx().holds(demands);
        if let Err((rule, complain)) = met {
            self.complain(rule, span, complain);
        }
        met.is_ok()
    }

    /// Reports that a node does not meet a rule.
    #[cold]
    fn complain(&mut self, rule: Rule, span: Span, complain: &dyn Fn() -> Complaint) {
        if !self.has_enough() {
            let (rule, path) = (self.cx().stated_as(rule), self.trail().path());
            self.found(complain().about(rule, path, span));
        }
    }

    /// Reports that the program breaks a rule here.
    fn error(&mut self, rule: Rule, span: Span, message: impl Into<String>) {
        let (rule, path) = (self.cx().stated_as(rule), self.trail().path());
        self.found(Diagnostic::error(rule, path, span, message));
    }

    /// As `error`, with a hint for the author.
    fn error_with_hint(&mut self, rule: Rule, span: Span, message: impl Into<String>, hint: &str) {
        let (rule, path) = (self.cx().stated_as(rule), self.trail().path());
        self.found(Diagnostic::error(rule, path, span, message).with_hint(hint));
    }

    /// Reports a warning of a rule here.
    fn warning(&mut self, rule: Rule, span: Span, message: impl Into<String>) {
        let (rule, path) = (self.cx().stated_as(rule), self.trail().path());
        self.found(Diagnostic::warning(rule, path, span, message));
    }
}
