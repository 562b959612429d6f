//! `relax-spec.toml`: choices for all programs in its directory and below.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use super::input::InputError;
use super::options;
use relax_spec::book::{Edition, Erratum, Proposal, Reading};
use relax_spec::grammar::Span;
use relax_spec::grammar::source::SyntaxError;
use relax_spec::syntax::load::{LoadError, read_text};

/// The name of the file.
pub const NAME: &str = "relax-spec.toml";

/// The contents of a file.
#[derive(Clone, Debug)]
pub struct DirectorySettings {
    /// The path of the file.
    pub path: PathBuf,
    pub edition: Option<Edition>,
    pub reading: Option<Reading>,
    pub proposal: Option<Proposal>,
}

/// The keys. Every value keeps its position, so that an invalid one can be reported with it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingsKeys {
    edition: Option<Spanned<String>>,
    reading: Option<Spanned<String>>,
    #[serde(default)]
    errata: BTreeMap<Spanned<String>, Spanned<String>>,
    #[serde(default)]
    proposals: Vec<Spanned<String>>,
}

impl DirectorySettings {
    /// The settings of the nearest file in the directory of a program or above it. For `-` the current directory
    /// counts.
    pub fn above(program: &Path) -> Result<Option<DirectorySettings>, InputError> {
        let parent = program.parent().filter(|parent| !parent.as_os_str().is_empty());
        // Links in the path are followed, and `..` has the meaning that it has for the system, so the search goes up to
        // the root and ends. A missing directory has no programs either, which is reported when the program is read.
        let Ok(dir) = fs::canonicalize(parent.unwrap_or(Path::new("."))) else { return Ok(None) };
        nearest(&dir)?.map(DirectorySettings::read).transpose()
    }

    fn read(path: PathBuf) -> Result<DirectorySettings, InputError> {
        let unreadable = |error| InputError::Load(path.display().to_string(), error);
        // Anything but a regular file, such as a pipe, may never end.
        let is_other = fs::metadata(&path).is_ok_and(|found| !found.is_file() && !found.is_dir());
        if is_other {
            let name = path.display().to_string();
            return Err(InputError::Io(name, io::Error::other("it is no file")));
        }
        let text = match read_text(&path) {
            Ok(text) => text,
            // An empty file chooses nothing.
            Err(LoadError::Empty) => String::new(),
            Err(error) => return Err(unreadable(error)),
        };
        let (edition, reading, proposal) = parse(&text).map_err(|error| unreadable(LoadError::Syntax(vec![error])))?;
        Ok(DirectorySettings { path, edition, reading, proposal })
    }
}

/// The file in a directory or in the nearest one above it. An unreadable file is not skipped.
fn nearest(dir: &Path) -> Result<Option<PathBuf>, InputError> {
    for dir in dir.ancestors() {
        let path = dir.join(NAME);
        match fs::symlink_metadata(&path) {
            Ok(_) => return Ok(Some(path)),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(InputError::Io(path.display().to_string(), error)),
        }
    }
    Ok(None)
}

/// The choices in a text.
type SettingsChoice = (Option<Edition>, Option<Reading>, Option<Proposal>);

/// Reads the choices in a text.
fn parse(text: &str) -> Result<SettingsChoice, SyntaxError> {
    let written: SettingsKeys = toml::from_str(text).map_err(|error| {
        let span = error.span().map_or(Span::NONE, |range| at(&range));
        SyntaxError::at(text, span, error.message().lines().collect::<Vec<_>>().join("; "))
    })?;
    let edition = written.edition.map(|name| named(text, &name, options::edition)).transpose()?;
    let base = written.reading.map(|name| named(text, &name, ReadingChoice::named)).transpose()?;
    let reading = reading(text, base, &written.errata)?;
    let mut proposal = None;
    for name in &written.proposals {
        proposal = Some(named(text, name, options::proposal)?);
    }
    Ok((edition, reading, proposal))
}

/// The reading of the text, or of one of its errata.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReadingChoice {
    Corrected,
    Literal,
}

impl ReadingChoice {
    fn named(name: &str) -> Result<ReadingChoice, String> {
        match name {
            "corrected" => Ok(ReadingChoice::Corrected),
            "literal" => Ok(ReadingChoice::Literal),
            other => Err(format!("there is no reading `{other}` (there are corrected, literal)")),
        }
    }
}

/// The reading of the whole text, with the exceptions for single errata; `None` if nothing is chosen.
fn reading(
    text: &str,
    base: Option<ReadingChoice>,
    errata: &BTreeMap<Spanned<String>, Spanned<String>>,
) -> Result<Option<Reading>, SyntaxError> {
    if base.is_none() && errata.is_empty() {
        return Ok(None);
    }
    let whole = match base {
        Some(ReadingChoice::Literal) => Reading::literal(),
        Some(ReadingChoice::Corrected) | None => Reading::corrected(),
    };
    let mut literal: BTreeSet<Erratum> =
        Erratum::ALL.iter().copied().filter(|erratum| whole.is_literal(*erratum)).collect();
    let mut said = BTreeMap::new();
    for (id, way) in errata {
        let way = named(text, way, ReadingChoice::named)?;
        for erratum in named(text, id, |id| Erratum::named(id).map_err(|error| error.to_string()))? {
            if said.insert(erratum, way).is_some_and(|before| before != way) {
                let message = format!("`{}` is {erratum}, which another line reads otherwise", id.get_ref());
                return Err(SyntaxError::at(text, at(&id.span()), message));
            }
            match way {
                ReadingChoice::Literal => literal.insert(erratum),
                ReadingChoice::Corrected => literal.remove(&erratum),
            };
        }
    }
    Ok(Some(Reading::literal_only(&literal.into_iter().collect::<Vec<_>>())))
}

/// The meaning of a name, or an error at its position.
fn named<T>(
    text: &str,
    name: &Spanned<String>,
    meaning: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, SyntaxError> {
    meaning(name.get_ref()).map_err(|message| SyntaxError::at(text, at(&name.span()), message))
}

fn at(range: &std::ops::Range<usize>) -> Span {
    let offset = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
    Span::new(offset(range.start), offset(range.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn every_key_is_followed() {
        let said = |text: &str| parse(text).unwrap();
        assert_eq!(said(""), (None, None, None));
        assert_eq!(said("proposals = [\"unknown-purity\"]").2, Some(Proposal::UnknownPurity));
        assert_eq!(said("edition = \"2024-04\"").0, Some(Edition::E2024_04));
        assert_eq!(said("proposals = []\nreading = \"literal\"").1, Some(Reading::literal()));
        let but_one = said("reading = \"literal\"\n[errata]\nA01 = \"corrected\"").1.unwrap();
        assert!(!but_one.is_literal(Erratum::A01) && but_one.is_literal(Erratum::A17));
        let one = said("[errata]\nE33 = \"literal\"").1.unwrap();
        assert_eq!(one, Reading::literal_only(&[Erratum::A06]));
    }

    #[test]
    fn what_means_nothing_is_told_with_its_place() {
        assert!(error("edition = \"2025-01\"").starts_with("1:11: there is no edition `2025-01`"));
        assert!(error("\nreading = \"loose\"").starts_with("2:11: there is no reading `loose`"));
        assert!(error("[errata]\nZ99 = \"literal\"").starts_with("2:1: there is no erratum `Z99`"));
        assert!(error("[errata]\nA01 = \"both\"").starts_with("2:7: there is no reading `both`"));
        let twice = error("[errata]\nA06 = \"literal\"\nE33 = \"corrected\"");
        assert!(twice.starts_with("3:1: `E33` is A06"), "{twice}");
        assert!(error("proposals = [\"other\"]").starts_with("1:14: there is no proposal `other`"));
        let unknown = error("edition = \"2024-04\"\neditions = []");
        assert!(unknown.starts_with("2:1: unknown field `editions`"), "{unknown}");
        assert!(error("edition = 2024").starts_with("1:11: "), "{}", error("edition = 2024"));
        assert!(error("edition = \"2024-04").starts_with("1:"), "{}", error("edition = \"2024-04"));
    }
}
