//! The whole static check of a program: well-formedness, normalization, typing, derivation.
