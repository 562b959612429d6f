//! Checks a program and runs it: `cargo run --example check`.

use relax_spec::{RunAnswer, ValueSpec};

const PROGRAM: &str = "
@I.ir_module
class Module:
    @R.function
    def main(s: R.Shape(('n',)), t: R.Shape(ndim=1)) -> R.Shape(('n',)):
        n = T.int64()
        u = R.match_cast(t, R.Shape([n]))
        return u
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let module = relax_spec::parse(PROGRAM)?;
    let report = relax_spec::check(&module);
    for finding in &report.diagnostics {
        println!("{}: {}", finding.rule, finding.message);
    }
    assert!(report.accepts());

    // The cast holds for equal sizes, and is an error by a rule of the text otherwise.
    for sizes in [[3, 3], [3, 4]] {
        let arguments = sizes.map(|size| ValueSpec::Shape(vec![size]));
        match relax_spec::run(&module, "main", &arguments)? {
            RunAnswer::Returns(value, _) => println!("{sizes:?}: {value:?}"),
            RunAnswer::Fails(rule, _) => println!("{sizes:?}: fails by {rule}"),
            RunAnswer::OutOfFuel | RunAnswer::Unspecified => println!("{sizes:?}: no answer"),
        }
    }
    Ok(())
}
