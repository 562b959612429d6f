//! Operators that have a fast way give the same by it as by their plain definition (`cargo xtask kernels` tests as many
//! calls as desired).

use ask::conformance;
use campaign::kernels::try_all;
use campaign::operator_soundness::OperatorTemplates;

#[test]
fn both_ways_agree_bit_for_bit() {
    let operators = OperatorTemplates::of(&conformance::suite().expect("the suite"));
    let report = try_all(&operators, 0..10_000);
    assert!(report.faults.is_empty(), "{:#?}", report.faults.iter().take(5).collect::<Vec<_>>());
    assert!(report.values > 5_000, "{} calls with a value", report.values);
}
