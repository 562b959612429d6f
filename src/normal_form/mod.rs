//! Normal form: the criteria and a normalizer (chapter Normal Form).
