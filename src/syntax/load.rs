//! Programs in their three external forms: TVMScript, RON and JSON.

use std::io::Read as _;
use std::path::Path;
use std::{fs, io};

use super::decode::{MAX_DATA_NESTING, read_program};
use super::tvm_json;
use super::tvmscript::{Dialect, PythonFile, Which, parse_file_with, parse_module_all, print_module, take_metadata};
use crate::data::{self, DataNotation, Profile};
use crate::grammar::source::SyntaxError;
use crate::grammar::{FORMAT_VERSION, IrModule};
use crate::judge::Cx;

/// An external form.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ExternalForm {
    /// Python source, as TVM prints it: `.py`.
    TvmScript,
    /// The syntax tree in Rusty Object Notation: `.ron`.
    Ron,
    /// The syntax tree in JSON, with the version of the format, or a module as TVM saves it: `.json`.
    Json,
}

/// The reason why there is no program.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The path is a directory.
    #[error("it is a directory")]
    Directory,
    /// The text is not UTF-8; the offset of the first invalid byte.
    #[error("it is not UTF-8 (the byte at offset {0})")]
    Utf8(usize),
    /// More than [`MAX_TEXT`] bytes.
    #[error("it has more than {} MiB, which no program has: what is read is text, not data", MAX_TEXT >> 20)]
    TooLarge,
    /// There is nothing but white space.
    #[error("it is empty")]
    Empty,
    /// The error in RON or JSON, with its position.
    #[error("{0}")]
    Data(String),
    /// The nesting exceeds [`MAX_DATA_NESTING`].
    #[error("it nests deeper than {MAX_DATA_NESTING} brackets")]
    TooDeep,
    /// It is a Jupyter notebook in JSON, whose cells contain programs as text.
    #[error("it is a Jupyter notebook, not a program: save it as a Python file (jupyter nbconvert --to script)")]
    Notebook,
    /// A module name was given, but the form has one module without a name.
    #[error("only a Python file holds modules by name")]
    OneModule,
    /// The version is not supported.
    #[error("it is of format version {0}, not {FORMAT_VERSION}")]
    Version(u32),
    /// At least one error.
    #[error("{}", .0.iter().map(SyntaxError::to_string).collect::<Vec<_>>().join("\n"))]
    Syntax(Vec<SyntaxError>),
}

impl ExternalForm {
    /// The form by the extension of the name, else by the first character: JSON begins with a brace, RON with a
    /// parenthesis.
    pub fn of(path: &Path, text: &str) -> ExternalForm {
        match (path.extension().and_then(|extension| extension.to_str()), text.trim_start().chars().next()) {
            (Some("json"), _) => ExternalForm::Json,
            (Some("ron"), _) => ExternalForm::Ron,
            (Some("py"), _) => ExternalForm::TvmScript,
            (_, Some('{')) => ExternalForm::Json,
            (_, Some('(')) => ExternalForm::Ron,
            (_, _) => ExternalForm::TvmScript,
        }
    }
}

/// Reads a program from a file, or from standard input if the path is `-`.
///
/// # Errors
///
/// The file cannot be read, or does not contain a program.
pub fn load(path: &Path) -> Result<IrModule, LoadError> {
    let source = read_source(path)?;
    let file = parse_modules(ExternalForm::of(path, &source.text), source.as_given(), Which::Only)?;
    file.modules.into_iter().next().map(|(_, module)| module).ok_or(LoadError::Empty)
}

/// The text of a program.
#[derive(Debug)]
pub struct Source {
    /// The text, without the metadata if TVM has written it.
    pub text: String,
    /// The metadata, as the value of its literal.
    pub metadata: Option<String>,
}

/// The same, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct SourceRef<'t> {
    /// The text.
    pub text: &'t str,
    /// The metadata, if it is not in the text.
    pub metadata: Option<&'t str>,
}

impl Source {
    /// The borrowed form.
    pub fn as_given(&self) -> SourceRef<'_> {
        SourceRef { text: &self.text, metadata: self.metadata.as_deref() }
    }
}

impl<'t> From<&'t str> for SourceRef<'t> {
    fn from(text: &'t str) -> SourceRef<'t> {
        SourceRef { text, metadata: None }
    }
}

/// The text of a program file, or of standard input if the path is `-`.
pub fn read_source(path: &Path) -> Result<Source, LoadError> {
    let mut text = read_text(path)?;
    let python = ExternalForm::of(path, &text) == ExternalForm::TvmScript;
    let metadata = if python { take_metadata(&mut text) } else { None };
    Ok(Source { text, metadata })
}

/// The text of a file, or of standard input if the path is `-`.
pub fn read_text(path: &Path) -> Result<String, LoadError> {
    let bytes = if path.as_os_str() == "-" {
        read_within(io::stdin().lock(), 0)?
    } else if path.is_dir() {
        return Err(LoadError::Directory);
    } else {
        // A pipe or a device may never end. One that the caller has opened is as good as standard input.
        let is_opened = ["/dev/stdin", "/dev/fd", "/proc/self/fd"].iter().any(|opened| path.starts_with(opened));
        if !is_opened && !fs::metadata(path)?.is_file() {
            return Err(io::Error::other("it is no file").into());
        }
        let file = fs::File::open(path)?;
        // Anything but a regular file, such as a pipe, has no length.
        let length = file.metadata()?.len();
        read_within(file, length)?
    };
    match String::from_utf8(bytes) {
        Ok(text) if text.trim().is_empty() => Err(LoadError::Empty),
        Ok(text) => Ok(text),
        Err(error) => Err(LoadError::Utf8(error.utf8_error().valid_up_to())),
    }
}

/// The maximum number of bytes of a text.
pub const MAX_TEXT: u64 = 1 << 30;

/// All bytes of an input with this declared length.
fn read_within(from: impl io::Read, length: u64) -> Result<Vec<u8>, LoadError> {
    if length > MAX_TEXT {
        return Err(LoadError::TooLarge);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    from.take(MAX_TEXT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_TEXT { Err(LoadError::TooLarge) } else { Ok(bytes) }
}

/// Reads a program from text.
///
/// # Errors
///
/// The text is not a program in that form.
pub fn parse(form: ExternalForm, text: &str) -> Result<IrModule, LoadError> {
    match form {
        ExternalForm::TvmScript => parse_module_all(text).map_err(LoadError::Syntax),
        ExternalForm::Ron => parse_data(DataNotation::Ron, text),
        ExternalForm::Json if tvm_json::is_graph(text) => {
            tvm_json::read_module(text).map_err(|error| LoadError::Data(error.to_string()))
        }
        ExternalForm::Json => parse_data(DataNotation::Json, text)
            .map_err(|error| if is_notebook(text) { LoadError::Notebook } else { error }),
    }
}

/// Reads the selected modules of a text. There is more than one only in Python.
///
/// # Errors
///
/// The text is not a program in that form, or it is not clear which module is meant.
pub fn parse_modules(form: ExternalForm, given: SourceRef<'_>, which: Which<'_>) -> Result<PythonFile, LoadError> {
    match (form, which) {
        (ExternalForm::TvmScript, _) => parse_file_with(given.text, given.metadata, which).map_err(LoadError::Syntax),
        (ExternalForm::Ron | ExternalForm::Json, Which::All | Which::Only) => Ok(PythonFile {
            modules: vec![(String::new(), parse(form, given.text)?)],
            skipped: None,
            faults: Vec::new(),
        }),
        (ExternalForm::Ron | ExternalForm::Json, Which::Named(_)) => Err(LoadError::OneModule),
    }
}

/// Whether JSON is that of a Jupyter notebook.
fn is_notebook(text: &str) -> bool {
    let value: Option<serde_json::Value> = serde_json::from_str(text).ok();
    value.is_some_and(|value| value.get("cells").is_some() && value.get("nbformat").is_some())
}

fn parse_data(notation: DataNotation, text: &str) -> Result<IrModule, LoadError> {
    let read = read_program(&mut Cx::new(), notation, text, Profile::Merged);
    let module = read.map_err(|error| match error.is_too_deep {
        true => LoadError::TooDeep,
        false => LoadError::Data(error.located(text)),
    })?;
    if module.version == FORMAT_VERSION { Ok(module) } else { Err(LoadError::Version(module.version)) }
}

/// Writes a program, followed by a newline.
pub fn write(form: ExternalForm, module: &IrModule) -> String {
    let mut text = match form {
        ExternalForm::TvmScript => print_module(module, Dialect::default()),
        ExternalForm::Ron => data::ron::write_pretty(&data::to_document(module)),
        ExternalForm::Json => data::json::write_pretty(&data::to_document(module)),
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::Edition;
    use crate::generate::Tape;
    use crate::grammar::{Expr, GlobalFunc, StructInfo};
    use crate::programs::{ProgramSource, Restriction};

    fn value(text: &str) -> Result<Expr, String> {
        data::from_json(text).map_err(|error| error.to_string())
    }

    #[test]
    fn data_round_trips() {
        let source = ProgramSource::of(&[], Restriction::of_laws(Edition::default()));
        for seed in 0..40 {
            let module = source.of_tape(Tape::from_seed(seed, 400)).module;
            for form in [ExternalForm::Ron, ExternalForm::Json] {
                let text = write(form, &module);
                assert!(parse(form, &text).unwrap() == module, "{text}");
                assert_eq!(ExternalForm::of(Path::new("-"), &text), form);
            }
        }
    }

    #[test]
    fn text_of_tvm_survives_every_form() {
        let text = include_str!("../../tests/samples/tvm-0.25.py");
        let module = parse(ExternalForm::TvmScript, text).unwrap();
        for form in [ExternalForm::Ron, ExternalForm::Json] {
            assert_eq!(parse(form, &write(form, &module)).unwrap(), module);
        }
    }

    #[test]
    fn older_type_args_become_structural_information() {
        let old = value(r#"{"Call": {"op": {"Op": {"op_name": "f"}}, "type_args": [{"Shape": {"ndim": 2}}]}}"#);
        let Ok(Expr::Call(call)) = old else { panic!("{old:?}") };
        assert_eq!(call.sinfo_args, [StructInfo::shape_ndim(2)]);
        let both = r#"{"Call": {"op": {"Op": {"op_name": "f"}}, "type_args": ["Object"], "sinfo_args": ["Object"]}}"#;
        assert!(value(both).unwrap_err().contains("PR14148.CALL.SINFO_ARGS"));
    }

    #[test]
    fn other_versions_are_refused() {
        assert!(matches!(parse(ExternalForm::Json, r#"{"version": 99, "funcs": []}"#), Err(LoadError::Version(99))));
        assert!(matches!(parse(ExternalForm::Ron, "(version: 0)"), Err(LoadError::Version(0))));
    }

    #[test]
    fn what_is_no_program() {
        let dir = std::env::temp_dir().join(format!("relax-spec-load-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        assert!(matches!(load(&dir), Err(LoadError::Directory)));
        assert!(matches!(load(&dir.join("absent.py")), Err(LoadError::Io(_))));
        let file = dir.join("x.py");
        for (content, expected) in
            [(&b"\xff\xfe"[..], "it is not UTF-8 (the byte at offset 0)"), (b" \n", "it is empty")]
        {
            fs::write(&file, content).unwrap();
            assert_eq!(load(&file).unwrap_err().to_string(), expected);
        }
        fs::remove_dir_all(&dir).unwrap();
        for text in ["{", "{\"funcs\": [[\"f\"]]}", "{\"functions\": []}", "[1, 2, 3, 4]", "{} {}"] {
            assert!(matches!(parse(ExternalForm::Json, text), Err(LoadError::Data(_))), "{text}");
        }
        for text in ["(", "(funcs: [(\"f\")])", "(functions: [])", "() ()"] {
            assert!(matches!(parse(ExternalForm::Ron, text), Err(LoadError::Data(_))), "{text}");
        }
    }

    #[test]
    fn a_notebook_says_what_it_is() {
        let text = r#"{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}"#;
        assert!(matches!(parse(ExternalForm::of(Path::new("x.ipynb"), text), text), Err(LoadError::Notebook)));
        assert!(matches!(parse_modules(ExternalForm::Ron, "()".into(), Which::Named("M")), Err(LoadError::OneModule)));
    }

    #[test]
    fn deep_data() {
        let tuples = |depth: usize| {
            let open = r#"{"Tuple": {"fields": ["#.repeat(depth);
            let close = "]}}".repeat(depth);
            let body = format!(r#"{open}{{"Var": "x"}}{close}"#);
            format!(r#"{{"funcs": [["f", {{"Function": {{"body": {body}}}}}]]}}"#)
        };
        assert!(matches!(parse(ExternalForm::Json, &tuples(10_000)), Err(LoadError::TooDeep)));
        assert!(matches!(parse(ExternalForm::Ron, &"(".repeat(10_000)), Err(LoadError::TooDeep)));
        let module = parse(ExternalForm::Json, &tuples(800)).unwrap();
        assert!(matches!(module.get("f"), Some(GlobalFunc::Function(_))));
        for form in [ExternalForm::Ron, ExternalForm::Json] {
            assert!(parse(form, &write(form, &module)).unwrap() == module);
        }
    }
}
