//! What the suite has of each operator: the cases about its values, their data types, and the number of questions
//! about its inference.
//!
//! `conformance/operators.jsonl` keeps it, so that the list of operators need not read the suite.

use std::collections::BTreeSet;

use ask::record::{RecordError, SuiteRecord};
use serde::{Deserialize, Serialize};

use crate::agreement::is_about_values_of;
use crate::questions::questions;
use relax_spec::ops::{self, OpDef};
use relax_spec::question::Ask;
use relax_spec::suite::Case;
use relax_spec::value::ValueSpec;

/// The file of the record, from the root of the checkout.
pub const FILE: &str = "conformance/operators.jsonl";

/// What the suite has of one operator.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OperatorStanding {
    /// The name, with the leading `relax.`.
    pub operator: String,
    /// The cases about its values.
    pub cases: Vec<String>,
    /// The data types of the tensors in these cases.
    pub dtypes: BTreeSet<String>,
    /// The number of questions about its inference.
    pub questions: usize,
}

impl OperatorStanding {
    /// Counts it.
    fn of(op: &OpDef, suite: &[Case]) -> OperatorStanding {
        let cases: Vec<&Case> = suite.iter().filter(|case| is_about_values_of(case, op)).collect();
        OperatorStanding {
            operator: op.name.to_string(),
            dtypes: dtypes(&cases),
            cases: cases.into_iter().map(|case| case.id.clone()).collect(),
            questions: questions(op, suite).len(),
        }
    }
}

/// The data types of the tensors in an operator's cases.
fn dtypes(cases: &[&Case]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for case in cases {
        if let Ask::Evaluate(_, _, args) = &case.ask {
            found.extend(args.iter().flat_map(ValueSpec::tensors).map(|data| data.dtype.to_string()));
        }
    }
    found
}

/// Counts them for all operators.
pub fn measured(suite: &[Case]) -> SuiteRecord<OperatorStanding> {
    SuiteRecord::of(ops::all().map(|op| OperatorStanding::of(op, suite)).collect())
}

/// The stored record.
///
/// # Errors
///
/// There is no record, or it has the wrong form.
pub fn kept() -> Result<SuiteRecord<OperatorStanding>, RecordError> {
    SuiteRecord::read(FILE)
}
