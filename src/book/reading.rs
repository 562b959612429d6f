//! Readings of the text: each erratum is read either literally or as corrected.

use super::Erratum;

/// A reading of the text: it takes each erratum literally or corrected, independently of the others.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reading {
    literal: Vec<Erratum>,
}

impl Reading {
    /// The reading that corrects every erratum.
    pub fn corrected() -> Reading {
        Reading::default()
    }

    /// The reading that takes every erratum literally, except those that would hide all others.
    pub fn literal() -> Reading {
        let taken = Erratum::ALL.iter().copied().filter(|erratum| !Reading::ONLY_BY_NAME.contains(erratum));
        Reading { literal: taken.collect() }
    }

    /// Errata whose literal reading makes every program fail: find_glb and find_lub give up on every pair of types
    /// (E36), and an annotation that says exactly what is known is an error (E41, E42). They are literal only if
    /// somebody names them.
    pub const ONLY_BY_NAME: [Erratum; 3] = [Erratum::E36, Erratum::E41, Erratum::E42];

    /// The reading that takes only these errata literally.
    pub fn literal_only(errata: &[Erratum]) -> Reading {
        Reading { literal: errata.to_vec() }
    }

    /// As this one, and literal for these errata too.
    pub fn with_literal(&self, errata: &[Erratum]) -> Reading {
        Reading { literal: self.literal.iter().chain(errata).copied().collect() }
    }

    /// Whether every erratum is corrected.
    #[inline]
    pub fn is_corrected(&self) -> bool {
        self.literal.is_empty()
    }

    /// Whether the text is taken literally where this erratum touches it.
    pub fn is_literal(&self, erratum: Erratum) -> bool {
        self.literal.contains(&erratum)
    }
}
