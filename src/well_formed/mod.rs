//! The well-formedness criteria (chapter Well-Formedness Criteria).
