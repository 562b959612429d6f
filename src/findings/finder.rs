//! What every pass over a program does that reports findings.

use super::{Complaint, Diagnostic, Trail, TrailStep};
use crate::book::Rule;
use crate::grammar::Span;
use crate::judge::{Condition, Cx};

/// A condition that a node must meet, with what to say if it does not.
pub type Demand<'a> = Condition<&'a dyn Fn() -> Complaint>;

/// A traversal of a program that stands somewhere in it, and reports what it finds there.
pub trait Finder: Sized {
    /// Where it stands.
    fn trail(&mut self) -> &mut Trail;

    /// The context of the judgement.
    fn cx(&mut self) -> &mut Cx;

    /// Whether one more finding is of no use, so that none need be put together.
    fn has_enough(&self) -> bool {
        false
    }

    /// Takes a finding down.
    fn found(&mut self, finding: Diagnostic);

    /// Does something one step further down.
    #[inline]
    fn at<T>(&mut self, step: TrailStep, body: impl FnOnce(&mut Self) -> T) -> T {
        self.trail().push(step);
        let result = body(self);
        self.trail().pop();
        result
    }

    /// Holds the node against conditions, and reports each that it does not meet. Whether it meets them all.
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

    /// As [`Finder::demand`], for conditions of which one makes sense only if those before it are met.
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

    /// The same, with what the author can do about it.
    fn error_with_hint(&mut self, rule: Rule, span: Span, message: impl Into<String>, hint: &str) {
        let (rule, path) = (self.cx().stated_as(rule), self.trail().path());
        self.found(Diagnostic::error(rule, path, span, message).with_hint(hint));
    }

    /// Reports what a rule warns of here.
    fn warning(&mut self, rule: Rule, span: Span, message: impl Into<String>) {
        let (rule, path) = (self.cx().stated_as(rule), self.trail().path());
        self.found(Diagnostic::warning(rule, path, span, message));
    }
}
