//! Judges an optimization: `cargo run --example refine`.

use relax_spec::refine::RefinementVerdict;

fn program(result: &str) -> String {
    format!(
        "
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(('n',), 'int64'), y: R.Tensor(('n',), 'int64')):
        return {result}
"
    )
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let before = relax_spec::parse(&program("R.add(x, R.add(x, y))"))?;
    for result in ["R.add(R.add(x, x), y)", "R.add(x, y)"] {
        let after = relax_spec::parse(&program(result))?;
        let refinement = relax_spec::refine(&before, &after, "main", 50)?;
        match refinement.verdict {
            RefinementVerdict::Allowed => println!("{result}: allowed on {} inputs", refinement.compared),
            RefinementVerdict::NotAllowed { rule, message } => println!("{result}: not allowed by {rule}: {message}"),
            RefinementVerdict::Undecided(reason) => println!("{result}: undecided: {reason}"),
            RefinementVerdict::Vacuous(reason) => println!("{result}: nothing was compared: {reason}"),
            RefinementVerdict::OutOfBudget(reason) => println!("{result}: out of budget: {reason}"),
        }
    }
    Ok(())
}
