//! How long a judgement on a pipeline took, and whose part that was.

use std::time::Duration;

use serde_json::{Value, json};

/// The time of the oracle and of TVM.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// How many seconds TVM took for its passes and the generation of code, if it says so.
    compiled: Option<f64>,
    /// How long the oracle waited for TVM: for its start, its records, and its compiled functions.
    waited: Duration,
    /// All other time.
    oracle: Duration,
}

impl Times {
    pub(super) fn of(compiled: Option<f64>, waited: Duration, all: Duration) -> Times {
        Times { compiled, waited, oracle: all.saturating_sub(waited) }
    }

    /// The line for people.
    pub(super) fn told(self) -> String {
        let compiled = self.compiled.map_or(String::new(), |seconds| format!("TVM compiled it in {seconds:.2} s; "));
        let (oracle, waited) = (self.oracle.as_secs_f64(), self.waited.as_secs_f64());
        format!("{compiled}the oracle took {oracle:.2} s, and waited {waited:.2} s for TVM")
    }

    pub(super) fn json(self) -> Value {
        json!({
            "compiled": self.compiled,
            "oracle": self.oracle.as_secs_f64(),
            "waited": self.waited.as_secs_f64(),
        })
    }
}
