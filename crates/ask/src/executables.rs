//! Executables, including those of TVM: run on the machine, and compared with the programs that they were made from.

use std::rc::Rc;

use crate::protocol::{AdapterReply, from_data, parse_json, to_line};
use relax_spec::book::Edition;
use relax_spec::data::record::record;
use relax_spec::eval::prelude;
use relax_spec::judge::{Cx, Ending};
use relax_spec::question::{Answer, Outcome, RunAnswer};
use relax_spec::refine::{CompiledProgram, Ran};
use relax_spec::value::{Noise, Registry, Stop, Value, ValueSpec, from_specs, to_spec, to_spec_with_identity};
use relax_spec::vm::{self, Executable, TvmExecutable};

/// An executable that runs on the machine.
#[derive(Debug)]
pub struct OnMachine(pub Executable);

impl CompiledProgram for OnMachine {
    fn run(&self, cx: &mut Cx, entry: &str, args: Vec<Value>, registry: Registry, noise: Option<Rc<Noise>>) -> Ran {
        let options = vm::VmOptions { noise, ..vm::VmOptions::new(registry) };
        let run = vm::run(cx, &self.0, entry, args, &options);
        Ran { outcome: run.outcome, effects: run.effects, steps: run.spent }
    }
}

/// A request to run an executable of TVM.
#[derive(Clone, PartialEq, Debug)]
struct ExecutableRequest {
    executable: TvmExecutable,
    entry: String,
    args: Vec<ValueSpec>,
    /// Whether a result that is one of the arguments is reported as that argument.
    identity: bool,
    edition: String,
}

record! { ExecutableRequest, "a run of an executable", closed {
    executable: one,
    entry: one,
    args: many,
    identity: or(false),
    edition: or(Edition::default().name().to_string()),
} }

/// Runs an executable of TVM, as a line of JSON requests. The reply is one to `evaluate`, in a line. Text that cannot
/// be read and an executable that is rejected are errors of the request.
pub fn answer(line: &str) -> String {
    let outcome = parse_json(line)
        .and_then(|document| from_data::<ExecutableRequest>(&document))
        .map_err(|error| error.to_string())
        .and_then(|request| run(&request));
    let outcome = outcome.unwrap_or_else(|message| Outcome::InternalError { message });
    to_line(&AdapterReply::of(&outcome))
}

fn run(request: &ExecutableRequest) -> Result<Outcome, String> {
    let executable = vm::import(&request.executable).map_err(|error| format!("not read: {error}"))?;
    if let Some(fault) = vm::verify(&executable).first() {
        return Err(format!("refused: {fault}"));
    }
    let edition = Edition::ALL.into_iter().find(|edition| edition.name() == request.edition).unwrap_or_default();
    let options = vm::VmOptions::new(prelude());
    let args = from_specs(&request.args, &options.registry).map_err(|error| error.to_string())?;
    let run = vm::run(&mut Cx::new().with_edition(edition), &executable, &request.entry, args.clone(), &options);
    let trapped =
        |class: &str, message| Outcome::Trapped { class: class.to_string(), message, effects: run.effects.clone() };
    Ok(match run.outcome {
        Ending::Value(value) => {
            let told = if request.identity { to_spec_with_identity(&value, &args) } else { to_spec(&value) };
            match told {
                Ok(spec) => {
                    Outcome::Answer { answer: Answer::Run(RunAnswer::Returns(spec, run.effects)), warnings: None }
                }
                Err(Stop::Error(error)) => trapped(error.rule.id(), error.message),
                Err(Stop::Unspecified(reason)) => trapped(UNSPECIFIED, reason),
                Err(Stop::Unknown(what)) => Outcome::Unsupported { what },
                Err(Stop::OutOfFuel) => Outcome::Unsupported { what: LIMIT.to_string() },
            }
        }
        Ending::Error(error) => trapped(error.rule.id(), error.message),
        Ending::Unspecified(reason) => trapped(UNSPECIFIED, reason),
        Ending::Unknown(what) => Outcome::Unsupported { what },
        Ending::OutOfFuel => Outcome::Unsupported { what: LIMIT.to_string() },
    })
}

/// The class of an unspecified ending.
const UNSPECIFIED: &str = "unspecified";
/// The reason for no answer.
const LIMIT: &str = "the run came to a limit";
