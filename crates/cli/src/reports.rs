//! `--report`: the requested reports and their destinations.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use super::{Failure, print_rendered};
use crate::report::ReportError;
use ask::checkout::write_atomically;

/// A report with its destination.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportTo {
    kind: ReportKind,
    path: Option<PathBuf>,
}

/// The form of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReportKind {
    Human,
    Jsonl,
    Junit,
    Html,
    Markdown,
    Badge,
}

impl ReportTo {
    /// Whether it has this form.
    pub fn is(&self, kind: ReportKind) -> bool {
        self.kind == kind
    }
}

impl fmt::Display for ReportTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            ReportKind::Human => "human",
            ReportKind::Jsonl => "jsonl",
            ReportKind::Junit => "junit",
            ReportKind::Html => "html",
            ReportKind::Markdown => "md",
            ReportKind::Badge => "badge",
        })
    }
}

impl FromStr for ReportTo {
    type Err = String;

    fn from_str(text: &str) -> Result<ReportTo, String> {
        let (kind, path) = match text.split_once('=') {
            Some((kind, path)) => (kind, Some(PathBuf::from(path))),
            None => (text, None),
        };
        let kind = match kind {
            "human" => ReportKind::Human,
            "jsonl" => ReportKind::Jsonl,
            "junit" => ReportKind::Junit,
            "html" => ReportKind::Html,
            "md" => ReportKind::Markdown,
            "badge" => ReportKind::Badge,
            _ => return Err(format!("there is no report `{kind}` (there are human, jsonl, junit, html, md, badge)")),
        };
        Ok(ReportTo { kind, path })
    }
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Failure {
        Failure::unreadable(error)
    }
}

/// Writes the requested reports, or the one for people if there are none. `suffix` distinguishes the files of several
/// implementations.
pub fn write(
    wanted: &[ReportTo],
    suffix: Option<&str>,
    text: &dyn Fn(ReportKind) -> Result<String, ReportError>,
) -> Result<(), Failure> {
    let default = [ReportTo { kind: ReportKind::Human, path: None }];
    let wanted = if wanted.is_empty() { &default[..] } else { wanted };
    for ReportTo { kind, path } in wanted {
        write_one(path.as_deref(), suffix, &text(*kind)?)?;
    }
    Ok(())
}

fn write_one(path: Option<&Path>, suffix: Option<&str>, text: &str) -> Result<(), Failure> {
    match path {
        None => print_rendered(text),
        Some(path) => Ok(write_atomically(&with_suffix(path, suffix), text.as_bytes())?),
    }
}

/// The reports that are written line by line during the run. If the run is killed, they contain the results so far.
pub struct ReportStreams(Mutex<Streaming>);

struct Streaming {
    streams: Vec<ReportStream>,
    /// The reason why writing has stopped.
    failure: Option<Failure>,
}

/// The destination of the lines of a report.
enum ReportStream {
    /// Standard output, or something that is not a regular file. Written lines stay there.
    Out(Option<File>),
    /// A file that exists from the first line on. The whole report replaces it at the end.
    File { path: PathBuf, opened: Option<File> },
}

impl ReportStreams {
    /// The requested reports that have a line for each case.
    pub fn of(wanted: &[ReportTo], suffix: Option<&str>) -> Result<ReportStreams, Failure> {
        let lines = wanted.iter().filter(|report| report.kind == ReportKind::Jsonl);
        let streams = lines.map(|report| match &report.path {
            None => Ok(ReportStream::Out(None)),
            Some(path) => ReportStream::to(with_suffix(path, suffix)),
        });
        let streams = streams.collect::<Result<Vec<ReportStream>, Failure>>()?;
        Ok(ReportStreams(Mutex::new(Streaming { streams, failure: None })))
    }

    /// Writes a line to each. Returns whether writing can continue.
    pub fn line(&self, text: &dyn Fn() -> Result<String, ReportError>) -> bool {
        let mut streaming = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if streaming.failure.is_none() && !streaming.streams.is_empty() {
            streaming.failure = streaming.write(text).err();
        }
        streaming.failure.is_none()
    }

    /// Finishes them: `last` is the last line, and `text` gives the whole reports.
    pub fn finish(
        self,
        wanted: &[ReportTo],
        suffix: Option<&str>,
        last: &dyn Fn() -> Result<String, ReportError>,
        text: &dyn Fn(ReportKind) -> Result<String, ReportError>,
    ) -> Result<(), Failure> {
        let Streaming { streams, failure } = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        failure.map_or(Ok(()), Err)?;
        if wanted.is_empty() {
            return write(wanted, suffix, text);
        }
        let mut streams = streams.into_iter();
        for ReportTo { kind, path } in wanted {
            let stream = if *kind == ReportKind::Jsonl { streams.next() } else { None };
            match stream {
                Some(mut stream @ ReportStream::Out(_)) => stream.write(&last()?)?,
                Some(ReportStream::File { .. }) | None => write_one(path.as_deref(), suffix, &text(*kind)?)?,
            }
        }
        Ok(())
    }
}

impl Streaming {
    fn write(&mut self, text: &dyn Fn() -> Result<String, ReportError>) -> Result<(), Failure> {
        let text = text()?;
        self.streams.iter_mut().try_for_each(|stream| stream.write(&text))
    }
}

impl ReportStream {
    fn to(path: PathBuf) -> Result<ReportStream, Failure> {
        match fs::metadata(&path) {
            Ok(found) if !found.is_file() && !found.is_dir() => {
                Ok(ReportStream::Out(Some(OpenOptions::new().write(true).open(&path)?)))
            }
            Ok(_) | Err(_) => Ok(ReportStream::File { path, opened: None }),
        }
    }

    fn write(&mut self, text: &str) -> Result<(), Failure> {
        match self {
            ReportStream::Out(None) => print_rendered(text)?,
            ReportStream::Out(Some(file)) | ReportStream::File { opened: Some(file), .. } => {
                file.write_all(text.as_bytes())?;
            }
            // The old contents stay until there are new ones.
            ReportStream::File { path, opened } => {
                write_atomically(path, text.as_bytes())?;
                *opened = Some(OpenOptions::new().append(true).open(path)?);
            }
        }
        Ok(())
    }
}

/// `report.html` becomes `report-tvm-0.25.html` if one command asks several implementations.
fn with_suffix(path: &Path, suffix: Option<&str>) -> PathBuf {
    let (Some(suffix), Some(stem)) = (suffix, path.file_stem()) else { return path.to_path_buf() };
    let mut name = stem.to_os_string();
    name.push(format!("-{suffix}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}
