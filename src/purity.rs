//! Purity of calls and functions (chapter Purity and Dataflow Blocks).
