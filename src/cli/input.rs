//! Reading programs: TVMScript, RON or JSON, from files, directories and standard input.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::conformance::case::ron_options;
use crate::conformance::protocol::{self, MAX_DEPTH};
use crate::grammar::{FORMAT_VERSION, IrModule};
use crate::syntax::source::SyntaxError;
use crate::syntax::tvmscript;

/// A program as given.
pub struct Source {
    /// The path, or `<stdin>`.
    pub name: String,
    pub text: String,
}

/// A form that programs are written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    TvmScript,
    Ron,
    Json,
}

/// Why there is no program.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    #[error("{0}: {1}")]
    Io(String, io::Error),
    #[error("{0}: is a directory")]
    Directory(String),
    #[error("{0}: holds no programs (.py, .ron, .json)")]
    NoPrograms(String),
    #[error("{name}: is not UTF-8 (the byte at offset {offset})")]
    Utf8 { name: String, offset: usize },
    #[error("{0}: is empty")]
    Empty(String),
    #[error("{0}: {1}")]
    Data(String, String),
    /// With the positions; see [`super::render`].
    #[error("{0}: cannot be read")]
    Syntax(String, Vec<SyntaxError>),
}

impl Form {
    /// By the ending of the name, else by the first character: JSON begins with a brace, RON with a parenthesis.
    fn of(name: &str, text: &str) -> Form {
        let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
        match (extension, text.trim_start().chars().next()) {
            (Some("json"), _) => Form::Json,
            (Some("ron"), _) => Form::Ron,
            (Some("py"), _) => Form::TvmScript,
            (_, Some('{')) => Form::Json,
            (_, Some('(')) => Form::Ron,
            (_, _) => Form::TvmScript,
        }
    }
}

/// Reads one program's text; `-` is standard input.
pub fn read(path: &Path) -> Result<Source, InputError> {
    let standard_input = path.as_os_str() == "-";
    let name = if standard_input { "<stdin>".to_string() } else { path.display().to_string() };
    if path.is_dir() {
        return Err(InputError::Directory(name));
    }
    let mut bytes = Vec::new();
    let read = if standard_input {
        io::stdin().lock().read_to_end(&mut bytes).map(|_| ())
    } else {
        fs::read(path).map(|content| bytes = content)
    };
    read.map_err(|error| InputError::Io(name.clone(), error))?;
    match String::from_utf8(bytes) {
        Ok(text) if text.trim().is_empty() => Err(InputError::Empty(name)),
        Ok(text) => Ok(Source { name, text }),
        Err(error) => Err(InputError::Utf8 { name, offset: error.utf8_error().valid_up_to() }),
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
    /// The program.
    pub fn parse(&self) -> Result<IrModule, InputError> {
        match Form::of(&self.name, &self.text) {
            Form::TvmScript => {
                tvmscript::parse_module_all(&self.text).map_err(|errors| InputError::Syntax(self.name.clone(), errors))
            }
            Form::Ron => self.parse_ron(),
            Form::Json => self.parse_json(),
        }
    }

    fn parse_ron(&self) -> Result<IrModule, InputError> {
        self.check_depth()?;
        let module = ron_options().with_recursion_limit(MAX_DEPTH).from_str(&self.text);
        self.check_version(module.map_err(|error| self.data_error(error.to_string()))?)
    }

    fn parse_json(&self) -> Result<IrModule, InputError> {
        let value = protocol::parse_json(&self.text).map_err(|error| self.data_error(error.to_string()))?;
        self.check_version(protocol::from_json(value).map_err(|error| self.data_error(error.to_string()))?)
    }

    fn check_depth(&self) -> Result<(), InputError> {
        if protocol::depth(&self.text) <= MAX_DEPTH {
            return Ok(());
        }
        Err(self.data_error(format!("nested deeper than {MAX_DEPTH}")))
    }

    fn check_version(&self, module: IrModule) -> Result<IrModule, InputError> {
        if module.version == FORMAT_VERSION {
            return Ok(module);
        }
        let message = format!("is of format version {}, this program reads version {FORMAT_VERSION}", module.version);
        Err(self.data_error(message))
    }

    fn data_error(&self, message: String) -> InputError {
        InputError::Data(self.name.clone(), message)
    }
}
