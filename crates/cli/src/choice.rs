//! The edition and the reading of a command, and who has chosen them.

use relax_spec::rule;
use std::env::{self, VarError};
use std::fmt;
use std::path::{Path, PathBuf};

use super::input::{InputError, SourceFile};
use super::settings::DirectorySettings;
use super::terminal::remark;
use super::{Exit, Failure, options};
use relax_spec::book::{Basis, Edition, Proposal, Reading, WrongBase};
use relax_spec::findings::Diagnostic;
use relax_spec::grammar::{IrModule, StatedEditionError, stated_edition, visible};
use relax_spec::judge::Cx;
use relax_spec::syntax::load::LoadError;

/// The environment variable that names an edition.
const VARIABLE: &str = "RELAX_SPEC_EDITION";

/// The options by which the edition and the reading are chosen.
#[derive(Clone, Debug, clap::Args)]
pub struct Choosing {
    /// 2023-02, 2023-12 or 2024-04 [default: the environment variable RELAX_SPEC_EDITION; else the attribute
    /// `relax_spec.edition` of the module; else the nearest relax-spec.toml, in the directory of the file or above it;
    /// else 2023-02]
    #[arg(long, value_name = "EDITION", value_parser = options::edition)]
    edition: Option<Edition>,
    /// `corrected`, `literal`, or a list of errata to take literally (A01,A17) [default: as relax-spec.toml says; else
    /// corrected]
    #[arg(long, value_name = "READING", value_parser = options::reading)]
    reading: Option<Reading>,
    /// Judge by a proposal in addition to its edition: `unknown-purity`, with --edition 2024-04 [default: as
    /// relax-spec.toml says]
    #[arg(long, value_name = "NAME", value_parser = options::proposal)]
    proposal: Option<Proposal>,
}

/// The source of a choice of edition.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum ChoiceOrigin {
    Option,
    Environment,
    Module,
    Settings(PathBuf),
    /// The default.
    Nobody,
}

/// The edition and the reading for the judgement of a module.
#[derive(Clone, Debug)]
pub struct JudgementChoice {
    pub edition: Edition,
    /// The active proposal, in addition to the edition.
    pub proposal: Option<Proposal>,
    by: ChoiceOrigin,
    /// The chosen reading, if there is one.
    chosen_reading: Option<Reading>,
    /// The file that chose it.
    read_by: Option<PathBuf>,
}

/// The choices for the modules of a file.
#[derive(Clone, Debug)]
pub struct Offered {
    /// The choice of the command line or the environment, which takes precedence over the module.
    first: Option<(Edition, ChoiceOrigin)>,
    reading: Option<Reading>,
    proposal: Option<Proposal>,
    settings: Option<DirectorySettings>,
}

impl Choosing {
    /// The choices for a file, or for standard input.
    pub fn for_file(&self, path: &Path) -> Result<Offered, Failure> {
        let first = match self.edition {
            Some(edition) => Some((edition, ChoiceOrigin::Option)),
            None => by_environment()?.map(|edition| (edition, ChoiceOrigin::Environment)),
        };
        let (reading, proposal) = (self.reading.clone(), self.proposal);
        Ok(Offered { first, reading, proposal, settings: DirectorySettings::above(path)? })
    }

    /// The choice for input that is not a module and cannot state an edition, in the current directory or in a file.
    pub fn without_module(&self, path: &Path) -> Result<JudgementChoice, Failure> {
        let choice = self.for_file(path)?.for_none().map_err(Failure::unreadable)?;
        choice.tell();
        Ok(choice)
    }

    /// The choice for the only module of a file. Its source is reported on standard error unless the command line shows
    /// it.
    pub fn for_module(&self, path: &Path, source: &SourceFile, module: &IrModule) -> Result<JudgementChoice, Failure> {
        let choice = self.for_file(path)?.for_module(source, module)?;
        choice.tell();
        Ok(choice)
    }
}

/// The choice of the environment. An empty variable chooses nothing.
fn by_environment() -> Result<Option<Edition>, Failure> {
    match env::var(VARIABLE) {
        Ok(name) if name.is_empty() => Ok(None),
        Ok(name) => match options::edition(&name) {
            Ok(edition) => Ok(Some(edition)),
            Err(error) => Err(Failure::unreadable(format!("the environment variable {VARIABLE}: {error}"))),
        },
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => {
            Err(Failure::unreadable(format!("the environment variable {VARIABLE} is not UTF-8")))
        }
    }
}

impl Offered {
    /// The choice for a module.
    pub fn for_module(&self, source: &SourceFile, module: &IrModule) -> Result<JudgementChoice, InputError> {
        self.stated_by(module).map_err(|error| InputError::Load(source.name.clone(), LoadError::Data(error)))
    }

    /// The choice for a module; the error in words.
    pub fn stated_by(&self, module: &IrModule) -> Result<JudgementChoice, String> {
        let stated = stated_edition(&module.attrs).map_err(|error: StatedEditionError| error.to_string())?;
        self.with(stated).map_err(|error| error.to_string())
    }

    /// The choice for input that cannot state an edition.
    pub fn for_none(&self) -> Result<JudgementChoice, WrongBase> {
        self.with(None)
    }

    fn with(&self, stated: Option<Edition>) -> Result<JudgementChoice, WrongBase> {
        let by_settings = || {
            let settings = self.settings.as_ref()?;
            Some((settings.edition?, ChoiceOrigin::Settings(settings.path.clone())))
        };
        let chosen = self.first.clone().or(stated.map(|edition| (edition, ChoiceOrigin::Module))).or_else(by_settings);
        let (edition, by) = chosen.unwrap_or((Edition::default(), ChoiceOrigin::Nobody));
        let read_by = self.settings.as_ref().filter(|found| self.reading.is_none() && found.reading.is_some());
        let proposal = self.proposal.or(self.settings.as_ref().and_then(|settings| settings.proposal));
        Basis::new(edition, proposal)?;
        Ok(JudgementChoice {
            edition,
            proposal,
            by,
            chosen_reading: self.reading.clone().or(read_by.and_then(|settings| settings.reading.clone())),
            read_by: read_by.map(|settings| settings.path.clone()),
        })
    }
}

impl JudgementChoice {
    /// The reading, if the command line or a file chooses one.
    pub fn chosen_reading(&self) -> Option<&Reading> {
        self.chosen_reading.as_ref()
    }

    /// The reading in effect.
    pub fn reading(&self) -> Reading {
        self.chosen_reading.clone().unwrap_or_default()
    }

    /// The basis of judgement: the edition, or the active proposal to it.
    pub fn basis(&self) -> Basis {
        self.proposal.map_or(self.edition.into(), Basis::from)
    }

    /// A context with this choice.
    pub fn cx(&self, cx: Cx) -> Cx {
        cx.with_edition(self.basis()).with_reading(self.reading())
    }

    /// The same choice with the edition alone.
    pub fn without_proposal(&self) -> JudgementChoice {
        JudgementChoice { proposal: None, ..self.clone() }
    }

    /// PURITY3.GLOBAL.DEFER: fails if the check has found something that must not remain when a program is lowered.
    pub fn lowers(&self, findings: &[Diagnostic]) -> Result<(), Failure> {
        let left = findings.iter().find(|finding| finding.rule == rule!("PURITY3.GLOBAL.DEFER"));
        match (left, self.proposal) {
            (Some(left), Some(proposal)) => {
                let goes_on = "--unchecked goes on all the same";
                let message = format!("{} (under the proposal {proposal}; {goes_on})", left.message);
                Err(Failure::new(Exit::Findings, message))
            }
            (Some(_), None) | (None, _) => Ok(()),
        }
    }

    /// The source of the edition, in words.
    pub fn from(&self) -> String {
        match &self.by {
            ChoiceOrigin::Option => "from --edition".to_string(),
            ChoiceOrigin::Environment => format!("from {VARIABLE}"),
            ChoiceOrigin::Module => "as the module says".to_string(),
            ChoiceOrigin::Settings(path) => format!("from {}", shown(path)),
            ChoiceOrigin::Nobody => "the default".to_string(),
        }
    }

    /// Reports the state of an incomplete edition, and the source of the choice.
    pub fn tell(&self) {
        options::tell_of_preparation(self.edition);
        self.tell_who();
        if let Some(proposal) = self.proposal {
            remark(&format!("note: under the proposal {proposal}, on top of edition {}\n", self.edition));
        }
    }

    /// Reports the source of the choice, unless the command line shows it.
    pub fn tell_who(&self) {
        let is_seen = match &self.by {
            ChoiceOrigin::Option | ChoiceOrigin::Nobody => self.read_by.is_none(),
            ChoiceOrigin::Environment | ChoiceOrigin::Module | ChoiceOrigin::Settings(_) => false,
        };
        if !is_seen {
            remark(&format!("note: {}\n", visible(&self.to_string())));
        }
    }
}

/// `edition 2024-04, from relax-spec.toml`.
impl fmt::Display for JudgementChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "edition {}", self.edition)?;
        if let Some(proposal) = self.proposal {
            write!(f, " with the proposal {proposal}")?;
        }
        write!(f, ", {}", self.from())?;
        match &self.read_by {
            Some(path) => write!(f, ", read as {} says", shown(path)),
            None => Ok(()),
        }
    }
}

/// A path, relative to the current directory if it is in it.
fn shown(path: &Path) -> String {
    let here = env::current_dir().and_then(|dir| dir.canonicalize()).ok();
    let below = here.as_deref().and_then(|here| path.strip_prefix(here).ok());
    below.unwrap_or(path).display().to_string()
}
