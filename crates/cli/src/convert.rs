//! `relax-spec convert`, and the output of programs.

use std::path::{Path, PathBuf};

use super::budget::CommandBudget;
use super::{CommandResult, Exit, Failure, input, print_program};
use ask::checkout::write_atomically;
use relax_spec::grammar::{IrModule, Var};
use relax_spec::syntax::load::{self, ExternalForm};
use relax_spec::syntax::tvmscript::{self, Dialect};

/// Write a program in another form
///
/// RON and JSON hold exactly the abstract syntax; TVMScript is written in the dialect of TVM 0.25 or of 0.26 and 0.27,
/// and read in both. Programs of the abstract syntax of 2022, RON or JSON marked by `ast: "2022-06"`, are imported.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec convert model.py --to json
  relax-spec convert model.json --to tvmscript --dialect tvm0.27
  relax-spec convert old.py --to tvmscript --output new.py
  relax-spec convert model.relay --from relay --to tvmscript")]
pub struct Args {
    /// TVMScript (.py), RON, JSON or Relay (.relay); `-` is standard input
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// The form of FILE, if its name does not tell
    #[arg(long, value_enum)]
    from: Option<From>,
    #[command(flatten)]
    selected: input::Selected,
    #[command(flatten)]
    target: OutputTarget,
    #[command(flatten)]
    pub(super) budget: CommandBudget,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum From {
    Tvmscript,
    Ron,
    Json,
    Relay,
}

impl From {
    fn extension(self) -> &'static str {
        match self {
            From::Tvmscript => "py",
            From::Ron => "ron",
            From::Json => "json",
            From::Relay => "relay",
        }
    }
}

/// Where a program goes, and in which form.
#[derive(Default, clap::Args)]
pub struct OutputTarget {
    #[arg(long, value_enum, default_value_t = To::Tvmscript)]
    to: To,
    /// For TVMScript: the release of TVM whose spelling is written; 0.26 has that of 0.27
    #[arg(long, value_enum, default_value_t = DialectName::Tvm025)]
    dialect: DialectName,
    /// Into a file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum To {
    #[default]
    Tvmscript,
    Ron,
    Json,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum DialectName {
    #[default]
    #[value(name = "tvm0.25")]
    Tvm025,
    // 0.26 can read it too.
    #[value(name = "tvm0.27", alias = "tvm0.26")]
    Tvm027,
}

impl std::convert::From<DialectName> for Dialect {
    fn from(name: DialectName) -> Dialect {
        match name {
            DialectName::Tvm025 => Dialect::Tvm025,
            DialectName::Tvm027 => Dialect::Tvm027,
        }
    }
}

/// Writes the text of a program to a file, or to standard output.
pub fn write_program(path: Option<&Path>, text: &str) -> Result<(), Failure> {
    match path {
        None => print_program(text),
        Some(path) => write_atomically(path, text.as_bytes())
            .map_err(|error| Failure::unreadable(format!("{}: {error}", path.display()))),
    }
}

impl OutputTarget {
    /// Writes a program.
    pub fn write(&self, module: &IrModule) -> Result<(), Failure> {
        self.put(&self.text(module))
    }

    /// The written form of the program.
    pub fn text(&self, module: &IrModule) -> String {
        self.text_with(module, &|_| None)
    }

    /// The written form of the program, in TVMScript with remarks on the bindings of variables.
    pub fn text_with(&self, module: &IrModule, remark: &dyn Fn(&Var) -> Option<&'static str>) -> String {
        match self.to {
            To::Tvmscript => tvmscript::print_module_with(module, self.dialect.into(), remark),
            To::Ron => load::write(ExternalForm::Ron, module),
            To::Json => load::write(ExternalForm::Json, module),
        }
    }

    /// Writes a text to the destination of the program.
    pub fn put(&self, text: &str) -> Result<(), Failure> {
        write_program(self.output.as_deref(), text)
    }
}

pub fn run(args: &Args) -> CommandResult {
    let mut source = input::read(&args.file)?;
    if let Some(from) = args.from {
        source.name =
            format!("{}.{}", source.name.trim_end_matches(&format!(".{}", from.extension())), from.extension());
    }
    args.target.write(&source.module(args.selected.module.as_deref())?)?;
    Ok(Exit::AsExpected)
}
