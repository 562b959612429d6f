//! What stands in for a conclusion whose rule is switched off ([`Instead`]): the wrong answers of the knock-out, all in
//! one place. The chapters state what holds; here is what an implementation without the rule might say. That each of
//! these answers is told from the right one by some golden case is checked by `cargo test`.
//!
//! This room knows the types of conclusions and no judgement. No other room imports it.

mod evaluation;
mod judgements;
mod machine;
mod orders;
mod relay;
mod values;

use crate::book::Rule;
use crate::judge::Instead;

/// Yes for no.
impl Instead for bool {
    fn instead(self, _: Rule) -> bool {
        !self
    }
}

/// What was found is missed.
impl<T> Instead for Option<&T> {
    fn instead(self, _: Rule) -> Self {
        None
    }
}
