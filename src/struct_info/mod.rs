//! Judgements on structural information (chapter Structural Information).
