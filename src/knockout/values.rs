//! Numbers and errors of evaluation.

use num_bigint::BigInt;

use crate::book::Rule;
use crate::judge::{Instead, RuntimeError};

/// Off by one.
impl Instead for i64 {
    fn instead(self, _: Rule) -> i64 {
        self.wrapping_add(1)
    }
}

/// Off by one.
impl Instead for BigInt {
    fn instead(self, _: Rule) -> BigInt {
        self + 1
    }
}

/// An error goes unnoticed.
impl<T: Instead + Default> Instead for Result<T, RuntimeError> {
    fn instead(self, rule: Rule) -> Self {
        Ok(self.map_or_else(|_| T::default(), |value| value.instead(rule)))
    }
}
