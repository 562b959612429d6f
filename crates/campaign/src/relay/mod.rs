//! Compares Relay with its translation: the evaluator of Relay runs a program, and the evaluator of Relax runs its
//! translation.

mod generate;

pub use generate::program as generate;

use ask::protocol::WireQuestion;
use relax_spec::IrModule;
use relax_spec::book::Basis;
use relax_spec::check::check_program;
use relax_spec::data::Write as _;
use relax_spec::data::json;
use relax_spec::judge::{Cx, Ending};
use relax_spec::normal_form::normalize_reporting;
use relax_spec::oracle;
use relax_spec::question::{Ask, ProgramInput as Script, RunAnswer};
use relax_spec::relay::{self, Program};
use relax_spec::value::{Registry, ValueSpec, from_specs, to_spec};

/// The result for one program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TranslationTrial {
    /// Both runs give the same value.
    Same,
    /// One of them reached a limit.
    Stopped,
    /// The values differ, or the translation is not as it should be; with the reason and the text.
    Different(String),
}

/// Writes a program and reads it back, checks and translates it, checks the translation, and runs `main` both ways.
pub fn try_program(program: &Program, args: &[ValueSpec]) -> TranslationTrial {
    let text = relay::print(&mut Cx::new(), program, program.notation);
    match tried(program, &text, args) {
        Ok(trial) => trial,
        Err(why) => TranslationTrial::Different(format!("{why}\n{text}")),
    }
}

fn tried(program: &Program, text: &str, args: &[ValueSpec]) -> Result<TranslationTrial, String> {
    let (read, faults) = relay::read(&mut Cx::new(), text);
    if !faults.is_empty() {
        return Err(format!("it is not read: {}", relay::located(&faults, text)));
    }
    if relay::print(&mut Cx::new(), &read, program.notation) != text {
        return Err("it reads as another program".to_string());
    }
    let module = translated(text)?;
    let values = from_specs(args, &Registry::default()).map_err(|error| error.to_string())?;
    let direct = relay::evaluate(&mut Cx::new(), &read, "main", &values);
    let through = oracle::answer_evaluate(&mut Cx::new(), &module, "main", args).map_err(|error| error.to_string())?;
    match (direct, through) {
        (Ending::OutOfFuel, _) | (_, RunAnswer::OutOfFuel) => Ok(TranslationTrial::Stopped),
        (Ending::Value(value), RunAnswer::Returns(through, _)) => {
            let direct = to_spec(&value).map_err(|_| "the value cannot be written".to_string())?;
            if direct == through {
                Ok(TranslationTrial::Same)
            } else {
                Err(format!("{direct} and, translated, {through}"))
            }
        }
        (Ending::Error(_), RunAnswer::Fails(..)) => Ok(TranslationTrial::Same),
        (direct, through) => Err(format!("{direct:?} and, translated, {through}")),
    }
}

/// The translation: accepted, and in normal form.
fn translated(text: &str) -> Result<IrModule, String> {
    let (module, _) = relay::import(&mut Cx::new(), text).map_err(|faults| relay::located(&faults, text))?;
    let report = check_program(&mut Cx::new(), &module);
    if !report.accepts() {
        let first = report.diagnostics.first().map(|d| format!("{}: {}", d.code(), d.message)).unwrap_or_default();
        return Err(format!("the translation is rejected: {first}"));
    }
    if normalize_reporting(&mut Cx::new(), &module).module != module {
        return Err("the translation is not in normal form".to_string());
    }
    Ok(module)
}

/// The translation as a question of the protocol, with the expected value: `{"question": .., "expected": ..}`.
pub fn question(id: u64, program: &Program, args: &[ValueSpec]) -> Option<String> {
    let text = relay::print(&mut Cx::new(), program, program.notation);
    let module = translated(&text).ok()?;
    let RunAnswer::Returns(expected, _) = oracle::answer_evaluate(&mut Cx::new(), &module, "main", args).ok()? else {
        return None;
    };
    let ask = Ask::Evaluate(Script::Module(module), "main".into(), args.to_vec());
    let line = WireQuestion { id, basis: Basis::default(), ask }.to_line();
    Some(format!("{{\"question\": {line}, \"expected\": {}}}", json::write(&expected.write())))
}
