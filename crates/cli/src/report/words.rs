//! Programs, answers and outcomes in words and in full, unlike the one-line display of questions and outcomes.

use relax_spec::book::Rule;
use relax_spec::grammar::IrModule;
use relax_spec::question::{Answer, Ask, Outcome, ProgramInput, ReadAnswer};
use relax_spec::suite::same_program::same_program;
use relax_spec::syntax::tvmscript::{Dialect, parse_module, print_module};

/// The note before the text of a tree that reads back differently.
const INEXACT: &str = "# TVMScript has no words for all of this tree; the nearest text:";

/// The programs of a question as TVMScript, and its texts unchanged.
pub fn programs(ask: &Ask) -> Vec<String> {
    let programs = ask.programs().into_iter().map(|program| match program {
        ProgramInput::Script(text) => trimmed(text),
        ProgramInput::Module(module) => script(module),
    });
    programs.chain(ask.texts().into_iter().map(trimmed)).collect()
}

/// An answer; for a program its text.
pub fn answer(answer: &Answer) -> String {
    match answer {
        Answer::Program(module) | Answer::Read(ReadAnswer::Module(module)) => script(module),
        Answer::Bool(_)
        | Answer::Type(_)
        | Answer::OptionType(_)
        | Answer::StructInfo(_)
        | Answer::Mapping(_)
        | Answer::Compatibility(_)
        | Answer::Proof(_)
        | Answer::Dim(_)
        | Answer::Match(_)
        | Answer::Read(ReadAnswer::Rejected(_))
        | Answer::Verdict(_)
        | Answer::Derived(_)
        | Answer::Run(_)
        | Answer::Text(_)
        | Answer::Trials(_) => answer.to_string(),
    }
}

/// An answer with its warnings, if there are any.
pub fn with_warnings(given: &Answer, warnings: Option<&[Rule]>) -> String {
    match warnings {
        Some(warnings) if !warnings.is_empty() => {
            let ids: Vec<&str> = warnings.iter().map(|rule| rule.id()).collect();
            format!("{}, with the warnings {}", answer(given), ids.join(", "))
        }
        Some(_) | None => answer(given),
    }
}

/// An outcome. `warned` says whether the warnings matter.
pub fn outcome(outcome: &Outcome, warned: bool) -> String {
    match outcome {
        Outcome::Answer { answer, warnings } => with_warnings(answer, warnings.as_deref().filter(|_| warned)),
        Outcome::Rejected { .. }
        | Outcome::Trapped { .. }
        | Outcome::Unsupported { .. }
        | Outcome::InternalError { .. }
        | Outcome::Crash { .. }
        | Outcome::Timeout { .. }
        | Outcome::ProtocolError { .. }
        | Outcome::Flaky { .. } => outcome.to_string(),
    }
}

fn trimmed(text: &str) -> String {
    text.trim_start_matches(['\r', '\n']).trim_end().to_string()
}

fn script(module: &IrModule) -> String {
    let text = trimmed(&print_module(module, Dialect::default()));
    let is_exact = parse_module(&text).is_ok_and(|read| same_program(&read, module));
    if is_exact { text } else { format!("{INEXACT}\n{text}") }
}

/// The first lines of a text, with the number of further ones.
pub fn cut(text: &str, most: usize) -> String {
    let count = text.lines().count();
    if count <= most {
        return text.to_string();
    }
    let first: Vec<&str> = text.lines().take(most).collect();
    format!("{}\n.. {} more lines", first.join("\n"), count - most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_with_a_note() {
        assert_eq!(cut("a\nb", 2), "a\nb");
        assert_eq!(cut("a\nb\nc\nd", 2), "a\nb\n.. 2 more lines");
    }

    #[test]
    fn a_program_is_told_as_its_text() {
        let text = "@R.function\ndef main(x: R.Object):\n    return x";
        assert_eq!(programs(&Ask::Check(ProgramInput::Script(format!("\n{text}\n")))), [text]);
        assert_eq!(programs(&Ask::Parse(format!("{text}\n"))), [text]);
        let module = parse_module(text).unwrap();
        let told = programs(&Ask::Check(ProgramInput::Module(module.clone())));
        assert!(told[0].contains("return x") && !told[0].contains(INEXACT), "{told:?}");
        assert_eq!(answer(&Answer::Program(module)), told[0]);
    }
}
