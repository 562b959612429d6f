//! Operators: inference, reference implementation, purity and accuracy side by side (chapter Notable Operators).
