//! Readings of the text: by the letter or corrected, for each erratum by itself.

use super::Erratum;

/// Which reading of the text: each erratum is taken literally or corrected, independently of the others.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reading {
    literal: Vec<Erratum>,
}

impl Reading {
    /// Every erratum corrected.
    pub fn corrected() -> Reading {
        Reading::default()
    }

    /// Every erratum as the text has it, but for those that would hide all others.
    pub fn literal() -> Reading {
        let taken = Erratum::ALL.iter().copied().filter(|erratum| !Reading::ONLY_BY_NAME.contains(erratum));
        Reading { literal: taken.collect() }
    }

    /// Errata whose letter nothing survives: find_glb and find_lub give up on every pair of types (E36), an annotation
    /// that says exactly what is known is an error (E41, E42). They are taken literally where they are named.
    pub const ONLY_BY_NAME: [Erratum; 3] = [Erratum::E36, Erratum::E41, Erratum::E42];

    /// Literal for these errata only.
    pub fn literal_only(errata: &[Erratum]) -> Reading {
        Reading { literal: errata.to_vec() }
    }

    /// As this one, and literal for these errata too.
    pub fn with_literal(&self, errata: &[Erratum]) -> Reading {
        Reading { literal: self.literal.iter().chain(errata).copied().collect() }
    }

    /// Whether no erratum is taken literally.
    #[inline]
    pub fn is_corrected(&self) -> bool {
        self.literal.is_empty()
    }

    /// Whether the text is taken literally where this erratum touches it.
    pub fn is_literal(&self, erratum: Erratum) -> bool {
        self.literal.contains(&erratum)
    }
}
