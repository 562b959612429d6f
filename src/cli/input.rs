//! Reading programs: TVMScript, RON or JSON, from files, directories and standard input.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::grammar::{IrModule, Span};
use crate::syntax::load::{self, Form, LoadError};

/// A program as given.
pub struct Source {
    /// The path, or `<stdin>`.
    pub name: String,
    pub text: String,
}

/// Why there is no program.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// A directory that cannot be listed.
    #[error("{0}: {1}")]
    Io(String, io::Error),
    #[error("{0}: holds no programs (.py, .ron, .json)")]
    NoPrograms(String),
    /// The file, and what is wrong with it.
    #[error("{0}: {1}")]
    Load(String, LoadError),
}

/// Reads one program's text; `-` is standard input.
pub fn read(path: &Path) -> Result<Source, InputError> {
    let standard_input = path.as_os_str() == "-";
    let name = if standard_input { "<stdin>".to_string() } else { path.display().to_string() };
    match load::read_text(path) {
        Ok(text) => Ok(Source { name, text }),
        Err(error) => Err(InputError::Load(name, error)),
    }
}

/// The program files that paths stand for: a file for itself, a directory for all programs below it, in order.
pub fn expand(paths: &[PathBuf]) -> Result<Vec<PathBuf>, InputError> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let before = files.len();
        collect(path, &mut files)?;
        if files.len() == before {
            return Err(InputError::NoPrograms(path.display().to_string()));
        }
    }
    Ok(files)
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> Result<(), InputError> {
    let error = |error| InputError::Io(dir.display().to_string(), error);
    let mut entries =
        fs::read_dir(dir).map_err(error)?.collect::<Result<Vec<fs::DirEntry>, io::Error>>().map_err(error)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        // Links to directories are not followed, so that a circle of them is no trap.
        if entry.file_type().map_err(error)?.is_dir() {
            collect(&path, files)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "py" || extension == "ron" || extension == "json")
        {
            files.push(path);
        }
    }
    Ok(())
}

impl Source {
    /// The line of a span, for people.
    pub fn place(&self, span: Span) -> String {
        let before = usize::try_from(span.start).ok().filter(|_| span != Span::NONE).and_then(|at| self.text.get(..at));
        before.map_or_else(|| "anywhere".to_string(), |text| format!("line {}", text.matches('\n').count() + 1))
    }

    /// The program.
    pub fn parse(&self) -> Result<IrModule, InputError> {
        let form = Form::of(Path::new(&self.name), &self.text);
        load::parse(form, &self.text).map_err(|error| InputError::Load(self.name.clone(), error))
    }
}
