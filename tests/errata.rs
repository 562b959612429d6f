//! Every witness of an erratum shows it: its answer in the literal reading is not the corrected one.

use relax_spec::conformance::oracle::answer;
use relax_spec::cx::{Cx, Reading};
use relax_spec::erratum::Erratum;

#[test]
fn every_witness_tells_the_readings_apart() {
    let mut shown = 0;
    for erratum in Erratum::ALL.iter().copied() {
        let Some(ask) = erratum.info().unwrap().witness else { continue };
        let corrected = answer(&mut Cx::new(), &ask);
        let mut literal = Cx::new().with_reading(Reading::literal_only(&[erratum]));
        let literal = answer(&mut literal, &ask);
        assert!(corrected.is_ok() && literal.is_ok(), "{erratum}: {corrected:?}, {literal:?}");
        assert_ne!(corrected, literal, "{erratum}");
        shown += 1;
    }
    assert!(shown >= 11, "{shown} witnesses");
}
