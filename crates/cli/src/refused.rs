//! The reasons why a command has no `--edition`, or no `--proposal`.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The reasons why a command does not take one of the two options.
struct OptionRefusals {
    command: &'static str,
    edition: &'static str,
    proposal: &'static str,
}

/// The empty reason if the command takes the option, as some of its subcommands do.
const TAKEN: &str = "";

const WRITTEN_AS_READ: &str =
    "a program is written as it is read, and nothing is judged; `check`, `normalize` and `types` judge";
const SAME_MACHINE: &str =
    "what the machine relies on is the same in all editions, and no proposal is about it; `vm run` takes one";
const NO_CLAIM: &str =
    "an implementation is judged by an edition, and none claims a proposal; `conform` asks the cases of one";
const OF_THE_CASE: &str = "every case names its editions, and its proposal";
const OF_THE_RUN: &str = "every run names the edition by which it was judged";
const OF_THE_QUESTION: &str = "every question names its edition, and its proposal";
const OF_THE_FINDING: &str =
    "the case holds in the edition by which the finding was judged, and in those that you name in it";
const OF_THE_CALL: &str = "every call of a tool may name its edition, and no tool takes a proposal";
const SAME_SCRIPT: &str = "the commands, which is what a script completes, are the same in all editions";

/// All commands that do not take both options.
const REASONS: &[OptionRefusals] = &[
    OptionRefusals { command: "convert", edition: WRITTEN_AS_READ, proposal: WRITTEN_AS_READ },
    OptionRefusals { command: "vm", edition: SAME_MACHINE, proposal: SAME_MACHINE },
    OptionRefusals {
        command: "editions",
        edition: "all of them are listed; `editions diff` takes the names of two, without an option",
        proposal: "a proposal is no edition; `rules` and `explain` show what it states",
    },
    OptionRefusals {
        command: "errata",
        edition: "the witness of an erratum names the edition in which it is asked; `rules` and `explain` take one",
        proposal: TAKEN,
    },
    OptionRefusals { command: "report", edition: OF_THE_RUN, proposal: OF_THE_RUN },
    OptionRefusals { command: "fuzz", edition: TAKEN, proposal: NO_CLAIM },
    OptionRefusals { command: "diff", edition: TAKEN, proposal: NO_CLAIM },
    OptionRefusals { command: "blame", edition: TAKEN, proposal: NO_CLAIM },
    OptionRefusals { command: "reduce", edition: TAKEN, proposal: NO_CLAIM },
    OptionRefusals { command: "reproduce", edition: TAKEN, proposal: NO_CLAIM },
    OptionRefusals { command: "ops", edition: TAKEN, proposal: NO_CLAIM },
    OptionRefusals { command: "promote", edition: OF_THE_FINDING, proposal: "campaigns judge by editions alone" },
    OptionRefusals { command: "export", edition: OF_THE_CASE, proposal: OF_THE_CASE },
    OptionRefusals { command: "adapter", edition: OF_THE_QUESTION, proposal: OF_THE_QUESTION },
    OptionRefusals { command: "mcp", edition: OF_THE_CALL, proposal: OF_THE_CALL },
    OptionRefusals { command: "completions", edition: SAME_SCRIPT, proposal: SAME_SCRIPT },
];

/// The reason for a command line that is invalid because its command does not take the option; `None` for any other
/// error.
pub fn why(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return None };
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let command = std::env::args().skip(1).find(|word| !word.starts_with('-'))?;
    let reasons = REASONS.iter().find(|reasons| reasons.command == command)?;
    let reason = match option.as_str() {
        "--edition" => reasons.edition,
        "--proposal" => reasons.proposal,
        _ => TAKEN,
    };
    (reason != TAKEN).then(|| format!("\nThere is no {option} here: {reason}.\n"))
}
