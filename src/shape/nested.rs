//! A polynomial inside an atom. It is shared, and what takes long to find out about it is found out once: without that,
//! a term that stands in itself twice on each of 24 levels would be walked 2^24 times.

use std::cmp::Ordering;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use super::polynomial::{Interval, Polynomial};

/// A polynomial that an atom is about.
#[derive(Clone, Debug)]
pub struct Nested(Arc<Known>);

#[derive(Debug)]
struct Known {
    polynomial: Polynomial,
    weight: usize,
    bounds: OnceLock<Interval>,
}

impl Nested {
    pub(super) fn new(polynomial: Polynomial) -> Nested {
        let weight = polynomial.weight();
        Nested(Arc::new(Known { polynomial, weight, bounds: OnceLock::new() }))
    }

    /// How large it is as a tree.
    pub(super) fn weight(&self) -> usize {
        self.0.weight
    }

    /// An interval that holds every value.
    pub(super) fn bounds(&self) -> &Interval {
        self.0.bounds.get_or_init(|| self.0.polynomial.bounds())
    }
}

impl Deref for Nested {
    type Target = Polynomial;

    fn deref(&self) -> &Polynomial {
        &self.0.polynomial
    }
}

impl fmt::Display for Nested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.polynomial.fmt(f)
    }
}

impl PartialEq for Nested {
    fn eq(&self, other: &Nested) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Nested {}

impl PartialOrd for Nested {
    fn partial_cmp(&self, other: &Nested) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Nested {
    fn cmp(&self, other: &Nested) -> Ordering {
        if Arc::ptr_eq(&self.0, &other.0) { Ordering::Equal } else { self.0.polynomial.cmp(&other.0.polynomial) }
    }
}
