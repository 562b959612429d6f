//! Places that have errors.

use rustc_hash::FxHashSet;

use super::Diagnostic;
use crate::grammar::{Binding, Expr, Function, Span};

/// Places in a text that have errors. There are no further findings about them, or about anything that depends on them.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct FaultySpans {
    /// Sorted and disjoint: two places that overlap become one.
    wrong: Vec<(u32, u32)>,
    /// Places where the annotation of a result has an error, sorted. Each is the function's name or the whole function.
    results: Vec<(u32, u32)>,
}

impl FaultySpans {
    /// The places of errors, without those that cover a whole function; `whole` lists these.
    pub fn of<'f>(findings: impl IntoIterator<Item = &'f Diagnostic>, whole: &FxHashSet<(u32, u32)>) -> FaultySpans {
        let errors = findings.into_iter().filter(|finding| finding.is_fatal());
        let placed = errors.filter(|finding| !finding.span.is_none());
        let (results, others): (Vec<_>, Vec<_>) = placed.partition(|finding| finding.path.is_result());
        let mut results: Vec<(u32, u32)> = results.into_iter().map(|finding| place(finding.span)).collect();
        results.sort_unstable();
        let others = others.into_iter().map(|finding| place(finding.span));
        FaultySpans { results, ..FaultySpans::covering(others.filter(|span| !whole.contains(span)).collect()) }
    }

    /// Whether the annotation of a function's result has an error.
    pub fn in_result(&self, function: &Function) -> bool {
        let ((start, end), body) = (place(function.span), start_of(&function.body));
        let first = self.results.partition_point(|result| result.0 < start);
        self.results.get(first).is_some_and(|result| *result == (start, end) || result.1 <= body)
    }

    /// Whether the annotations of a function's parameters or result have an error, so that callers do not know its
    /// type.
    pub fn in_signature(&self, function: &Function) -> bool {
        self.in_result(function) || function.params.iter().any(|param| self.touch(param.var.span))
    }

    fn covering(mut spans: Vec<(u32, u32)>) -> FaultySpans {
        spans.sort_unstable();
        let mut apart: Vec<(u32, u32)> = Vec::with_capacity(spans.len());
        for (start, end) in spans {
            match apart.last_mut() {
                Some(last) if start < last.1 => last.1 = last.1.max(end),
                Some(_) | None => apart.push((start, end)),
            }
        }
        FaultySpans { wrong: apart, results: Vec::new() }
    }

    /// Whether a place overlaps one that has an error.
    pub fn touch(&self, place: Span) -> bool {
        let first = self.wrong.partition_point(|(_, end)| *end <= place.start);
        !place.is_none() && self.wrong.get(first).is_some_and(|(start, _)| *start < place.end)
    }
}

/// The start of a body in the text. For a sequence it is the first binding or the result, since the sequence's own
/// place may cover the whole function.
fn start_of(body: &Expr) -> u32 {
    let Expr::SeqExpr(seq) = body else { return body.span().start };
    let bindings = seq.blocks.iter().flat_map(|block| block.bindings.iter());
    let spans = bindings.map(Binding::span).chain([seq.body.span()]);
    spans.filter(|span| !span.is_none()).map(|span| span.start).next().unwrap_or(0)
}

/// The start and end of a span as a pair, since spans are ignored by equality.
pub(crate) fn place(span: Span) -> (u32, u32) {
    (span.start, span.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_places_touch_what_each_of_them_touches() {
        let short = (0..8).flat_map(|start| (start..start + 4).map(move |end| (start, end)));
        let spans: Vec<(u32, u32)> = short.collect();
        let three = |i: usize| [i, i / 7, i / 31].map(|at| spans[at % spans.len()]);
        for wrong in (0..2_000).map(three) {
            let places = FaultySpans::covering(wrong.to_vec());
            for (start, end) in (0..13).flat_map(|start| (start..13).map(move |end| (start, end))) {
                let place = Span::new(start, end);
                let plain = !place.is_none() && wrong.iter().any(|wrong| wrong.0 < end && start < wrong.1);
                assert_eq!(places.touch(place), plain, "{wrong:?} {start}..{end}");
            }
        }
    }
}
