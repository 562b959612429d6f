//! The `relax-spec` command.

fn main() {}
