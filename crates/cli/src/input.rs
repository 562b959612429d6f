//! Reading programs: TVMScript, RON, JSON or Relay, from files, directories and standard input.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{fs, io};

use super::notebook;
use super::terminal::remark;
use relax_spec::book::Edition;
use relax_spec::findings::Diagnostic;
use relax_spec::grammar::source::{Lines, SyntaxError};
use relax_spec::grammar::{IrModule, Span, visible};
use relax_spec::judge::Cx;
use relax_spec::reading;
use relax_spec::relay::{self, RelayFault};
use relax_spec::syntax::load::{self, ExternalForm, LoadError, SourceRef};
use relax_spec::syntax::tvmscript::{Dialect, PythonFile, Which};

/// A program as it was given.
pub struct SourceFile {
    /// The path, or `<stdin>`.
    pub name: String,
    pub text: String,
    lines: OnceLock<Lines>,
    /// The metadata stored next to a Python file.
    metadata: Option<String>,
}

/// Which module of a file is meant.
#[derive(clap::Args)]
pub struct Selected {
    /// The module of a Python file with several modules: the name of its class, qualified by what encloses it and a dot
    /// if that is ambiguous; `functions` for functions outside of any class
    #[arg(long, value_name = "NAME")]
    pub module: Option<String>,
}

/// The reason why there is no program.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// A directory that cannot be listed.
    #[error("{0}: {1}")]
    Io(String, io::Error),
    #[error("{0}: holds no programs (.py, .ipynb, .ron, .json, .relay)")]
    NoPrograms(String),
    /// The file, with its error.
    #[error("{0}: {1}")]
    Load(String, LoadError),
    /// The file that made the oracle itself fail.
    #[error("{0}: internal error: please report the file")]
    Internal(String),
}

/// Reads one program's text; `-` is standard input.
pub fn read(path: &Path) -> Result<SourceFile, InputError> {
    let standard_input = path.as_os_str() == "-";
    let name = if standard_input { "<stdin>".to_string() } else { path.display().to_string() };
    let read = match notebook::is_notebook(path) {
        true => load::read_text(path).and_then(|text| notebook::code(&text)),
        false => load::read_source(path),
    };
    match read {
        Ok(load::Source { text, metadata }) => Ok(SourceFile { name, text, lines: OnceLock::new(), metadata }),
        Err(error) => Err(InputError::Load(name, error)),
    }
}

/// The bytes of the programs at a path, a directory included. A pipe has none that are known before it is read.
pub fn size(path: &Path) -> u64 {
    let path = if path.as_os_str() == "-" { Path::new("/dev/stdin") } else { path };
    let files = expand(&[path.to_path_buf()]).unwrap_or_default();
    files.iter().filter_map(|file| fs::metadata(file).ok()).map(|found| found.len()).fold(0, u64::saturating_add)
}

/// The program files at some paths: a file stands for itself, a directory for all programs in it, in order.
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
        // Links to directories are not followed, so a cycle of links does no harm.
        if entry.file_type().map_err(error)?.is_dir() {
            collect(&path, files)?;
        } else if path
            .extension()
            .is_some_and(|extension| ["py", "ipynb", "ron", "json", "relay"].iter().any(|known| extension == *known))
            // A pipe or a device may never end. A missing file is reported later.
            && fs::metadata(&path).map_or(true, |found| found.is_file())
        {
            files.push(path);
        }
    }
    Ok(())
}

impl InputError {
    /// Whether a file is Python in which there is no module, neither readable nor unreadable. In a directory that is
    /// no error.
    pub fn is_without_module(&self, path: &Path) -> bool {
        let is_python = path.extension().is_some_and(|extension| extension == "py" || extension == "ipynb");
        match self {
            InputError::Load(_, LoadError::Empty) => is_python,
            InputError::Load(_, LoadError::Syntax(errors)) => {
                let has_none = |error: &SyntaxError| error.message.starts_with(NO_MODULE);
                is_python && (errors.iter().all(has_none) || !read(path).is_ok_and(|source| source.has_decorator()))
            }
            InputError::Load(..) | InputError::Io(..) | InputError::NoPrograms(_) | InputError::Internal(_) => false,
        }
    }
}

/// The beginning of the message that a Python file holds no module.
const NO_MODULE: &str = "expected a module: ";

impl SourceFile {
    /// A file that is no text.
    pub fn unread(path: &Path) -> SourceFile {
        let name = path.display().to_string();
        SourceFile { name, text: String::new(), lines: OnceLock::new(), metadata: None }
    }

    /// Whether some line decorates a module or one of its functions.
    fn has_decorator(&self) -> bool {
        let decorates = |line: &str| ["ir_module", "function", "prim_func"].iter().any(|word| line.contains(word));
        self.text.lines().any(|line| line.trim_start().starts_with('@') && decorates(line))
    }

    /// The line and the column of an offset, both from 1, and the offset of the start of the line.
    pub fn locate(&self, offset: u32) -> (usize, usize, usize) {
        self.lines.get_or_init(|| Lines::of(&self.text)).place(&self.text, offset as usize)
    }

    /// The edition that the implementation with this dialect claims to follow.
    pub fn claimed_edition(&self) -> Option<Edition> {
        let is_dialect = !relay::is_relay(&self.name, &self.text)
            && ExternalForm::of(Path::new(&self.name), &self.text) == ExternalForm::TvmScript;
        // Its dialects differ only in spelling.
        is_dialect.then(|| Dialect::default().claimed_edition())
    }

    /// The position of a span, for people.
    pub fn place(&self, span: Span) -> String {
        if span.is_none() { "anywhere".to_string() } else { format!("line {}", self.locate(span.start).0) }
    }

    /// The selected modules; for Relay the translation.
    pub fn modules(&self, which: Which<'_>) -> Result<PythonFile, InputError> {
        if relay::is_relay(&self.name, &self.text) {
            if let Which::Named(_) = which {
                return Err(InputError::Load(self.name.clone(), LoadError::OneModule));
            }
            return match relay::import(&mut Cx::new(), &self.text) {
                Ok((module, _)) => {
                    Ok(PythonFile { modules: vec![(String::new(), module)], skipped: None, faults: Vec::new() })
                }
                Err(faults) => Err(self.unreadable(&faults)),
            };
        }
        let form = ExternalForm::of(Path::new(&self.name), &self.text);
        let given = SourceRef { text: &self.text, metadata: self.metadata.as_deref() };
        reading::parse_modules(form, given, which).map_err(|error| InputError::Load(self.name.clone(), error))
    }

    /// The only module, or the one with a name. Skipped statements are reported on standard error.
    pub fn module(&self, name: Option<&str>) -> Result<IrModule, InputError> {
        self.named_module(name).map(|(_, module)| module)
    }

    /// Like [`SourceFile::module`], with its name.
    pub fn named_module(&self, name: Option<&str>) -> Result<(String, IrModule), InputError> {
        let file = self.modules(name.map_or(Which::Only, Which::Named))?;
        if let Some((first, count)) = file.skipped {
            remark(&format!("note: {}: {}\n", visible(&self.name), self.skipped_words(first, count)));
        }
        // Faults of other modules, which cannot be read.
        file.faults.iter().for_each(|fault| remark(&visible(&format!("note: {}:{fault}\n", self.name))));
        file.modules.into_iter().next().ok_or_else(|| InputError::Load(self.name.clone(), LoadError::Empty))
    }

    /// The skipped statements, in words.
    pub fn skipped_words(&self, first: Span, count: usize) -> String {
        match count {
            1 => format!("1 statement belongs to no module and is skipped: {}", self.place(first)),
            _ => format!("{count} statements belong to no module and are skipped, the first: {}", self.place(first)),
        }
    }

    fn unreadable(&self, faults: &[RelayFault]) -> InputError {
        let errors = faults.iter().filter(|fault| fault.is_error()).map(|fault| fault.syntax_error(&self.text));
        InputError::Load(self.name.clone(), LoadError::Syntax(errors.collect()))
    }

    /// The findings of the chapter on Relay; empty for any other program. Faults that break no rule, such as a missing
    /// parenthesis, make the program unreadable.
    pub fn relay_findings(&self, cx: &mut Cx) -> Result<Vec<Diagnostic>, InputError> {
        if !relay::is_relay(&self.name, &self.text) {
            return Ok(Vec::new());
        }
        let faults = relay::understand(cx, &self.text).faults;
        if faults.iter().any(|fault| fault.is_error() && fault.rule.is_none()) {
            return Err(self.unreadable(&faults));
        }
        Ok(faults.iter().filter_map(|fault| fault.diagnostic(&self.text)).collect())
    }
}
