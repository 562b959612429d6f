//! Places at which something is wrong.

use super::{Diagnostic, Severity};
use crate::grammar::Span;

/// Places of a text at which errors have been found, of which nothing further is to be said, nor of what depends on them.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Places(Vec<Span>);

impl Places {
    /// The places of errors, but for those that are all of a function: `whole` has these.
    pub fn of(findings: &[Diagnostic], whole: &[Span]) -> Places {
        let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
        let spans = errors.map(|finding| finding.span).filter(|span| !span.is_none());
        Places(spans.filter(|span| !whole.iter().any(|all| same(all, span))).collect())
    }

    /// Whether something is wrong in a place, or the place is in something wrong.
    pub fn touch(&self, place: Span) -> bool {
        !place.is_none() && self.0.iter().any(|wrong| wrong.start < place.end && place.start < wrong.end)
    }
}

/// Spans take no part in equality.
pub(crate) fn same(a: &Span, b: &Span) -> bool {
    (a.start, a.end) == (b.start, b.end)
}
