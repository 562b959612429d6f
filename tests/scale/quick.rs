//! What one asks in passing is answered at once.

use std::process::Command;
use std::time::{Duration, Instant};

/// The limit for an answer, whatever else the machine does: the fastest of some counts.
const AT_ONCE: Duration = Duration::from_millis(100);

#[test]
fn a_rule_is_explained_and_words_are_found_at_once() {
    for args in [&["explain", "SUB.TENSOR.RANK"][..], &["explain", "A01"], &["rules", "search", "subtype"]] {
        let time = || {
            let start = Instant::now();
            let output = Command::new(env!("CARGO_BIN_EXE_relax-spec")).args(args).output().unwrap();
            assert!(output.status.success(), "{args:?}");
            start.elapsed()
        };
        let fastest = (0..20).map(|_| time()).min().unwrap();
        assert!(fastest < AT_ONCE, "{args:?} takes {fastest:?}");
    }
}
