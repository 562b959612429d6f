//! How releases of TVM read a text.

use serde_json::{Value, json};
use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::super::Failure;
use ask::implementation::Implementation;
use relax_spec::question::{Answer, Ask, Outcome, ReadAnswer};
use relax_spec::syntax::tvmscript::{Dialect, print_module};

/// How a release reads a text.
pub struct Reading {
    release: String,
    /// The program that it reads, in one spelling for all; or why it reads none.
    program: Result<String, String>,
}

impl Reading {
    /// Asks a release.
    pub fn of(
        implementation: &mut dyn Implementation,
        release: &str,
        text: &str,
        dialect: Dialect,
    ) -> Result<Reading, Failure> {
        let edition = implementation.edition();
        let outcome = implementation.ask(edition, &Ask::Parse(text.to_string()))?;
        let program = match outcome {
            Outcome::Answer { answer: Answer::Read(ReadAnswer::Module(module)), .. } => {
                Ok(print_module(&module, dialect))
            }
            other => Err(first_line(&other.to_string())),
        };
        Ok(Reading { release: release.to_string(), program })
    }

    /// That it cannot read the text.
    pub fn refusal(&self) -> Option<String> {
        self.program.as_ref().err().map(|why| format!("{} does not read it: {why}", self.release))
    }

    pub fn json(&self) -> Value {
        let (text, error) = (self.program.as_ref().ok(), self.program.as_ref().err());
        json!({"release": self.release, "text": text, "error": error})
    }
}

/// Each release that reads another program than the one before it that reads any.
pub fn disagreements(readings: &[Reading]) -> Vec<String> {
    let read: Vec<(&str, &String)> =
        readings.iter().filter_map(|one| Some((one.release.as_str(), one.program.as_ref().ok()?))).collect();
    let pairs = read.iter().zip(read.iter().skip(1));
    let differ = pairs.filter(|((_, before), (_, after))| before != after);
    differ.map(|((old, before), (new, after))| format!("{old} and {new}:\n{}", changed_lines(before, after))).collect()
}

/// The lines in which two texts differ.
fn changed_lines(before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let mut out = String::new();
    for change in capture_diff_slices(Algorithm::Myers, &old, &new) {
        if change.tag() != DiffTag::Equal {
            let gone = old.get(change.old_range()).unwrap_or_default().iter().map(|line| format!("-{line}\n"));
            let come = new.get(change.new_range()).unwrap_or_default().iter().map(|line| format!("+{line}\n"));
            out.extend(gone.chain(come));
        }
    }
    out
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_neighbours_that_read_something_are_compared() {
        let reading = |release: &str, program: Result<&str, &str>| Reading {
            release: release.to_string(),
            program: program.map(str::to_string).map_err(str::to_string),
        };
        let readings =
            [reading("a", Ok("x\n")), reading("b", Err("no")), reading("c", Ok("x\n")), reading("d", Ok("y\n"))];
        let told = disagreements(&readings);
        assert_eq!(told, ["c and d:\n-x\n+y\n"]);
        assert_eq!(readings[1].refusal().as_deref(), Some("b does not read it: no"));
    }
}
