//! Readings of the text: each erratum is read either literally or as corrected.

use std::sync::Arc;

use super::Erratum;

/// A reading of the text: it takes each erratum literally or corrected, independently of the others.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reading {
    /// The errata that are taken literally, if there are any: every judgement asks for them.
    literal: Option<Arc<ErratumSet>>,
}

/// A set of errata, a bit for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ErratumSet([u64; Erratum::ALL.len().div_ceil(64)]);

impl ErratumSet {
    /// Adds an erratum.
    #[inline]
    pub fn insert(&mut self, erratum: Erratum) {
        let number = erratum as usize;
        self.0[number / 64] |= 1 << (number % 64);
    }

    /// Whether an erratum is in it.
    #[inline]
    pub fn contains(self, erratum: Erratum) -> bool {
        let number = erratum as usize;
        self.0[number / 64] & (1 << (number % 64)) != 0
    }

    /// The errata in it.
    pub fn iter(self) -> impl Iterator<Item = Erratum> {
        Erratum::ALL.iter().copied().filter(move |erratum| self.contains(*erratum))
    }

    /// The errata in one of two sets.
    pub fn or(mut self, other: ErratumSet) -> ErratumSet {
        self.0.iter_mut().zip(other.0).for_each(|(word, more)| *word |= more);
        self
    }
}

impl Reading {
    /// The reading that corrects every erratum.
    pub fn corrected() -> Reading {
        Reading::default()
    }

    /// The reading that takes every erratum literally, except those that would hide all others.
    pub fn literal() -> Reading {
        let taken = Erratum::ALL.iter().copied().filter(|erratum| !Reading::ONLY_BY_NAME.contains(erratum));
        Reading::default().taking(taken)
    }

    /// Errata whose literal reading makes every program fail: find_glb and find_lub give up on every pair of types
    /// (E36), and an annotation that says exactly what is known is an error (E41, E42). They are literal only if
    /// somebody names them.
    pub const ONLY_BY_NAME: [Erratum; 3] = [Erratum::E36, Erratum::E41, Erratum::E42];

    /// The reading that takes only these errata literally.
    pub fn literal_only(errata: &[Erratum]) -> Reading {
        Reading::default().with_literal(errata)
    }

    /// As this one, and literal for these errata too.
    pub fn with_literal(&self, errata: &[Erratum]) -> Reading {
        self.taking(errata.iter().copied())
    }

    fn taking(&self, errata: impl Iterator<Item = Erratum>) -> Reading {
        let mut literal = self.literal.clone();
        for erratum in errata {
            Arc::make_mut(literal.get_or_insert_default()).insert(erratum);
        }
        Reading { literal }
    }

    /// Whether every erratum is corrected.
    #[inline]
    pub fn is_corrected(&self) -> bool {
        self.literal.is_none()
    }

    /// Whether the text is taken literally where this erratum touches it.
    pub fn is_literal(&self, erratum: Erratum) -> bool {
        self.literal.as_ref().is_some_and(|literal| literal.contains(erratum))
    }
}
