//! `--report`: which reports are wanted, and where they go.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::{Failure, print_rendered};
use crate::report::ReportError;
use ask::checkout::write_atomically;

/// A report and where it goes.
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
            _ => return Err(format!("there is no report `{kind}` (there are human, jsonl, junit, html, md)")),
        };
        Ok(ReportTo { kind, path })
    }
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Failure {
        Failure::unreadable(error)
    }
}

/// Writes the reports that are wanted, the one for people if none is. `suffix` tells the files of several implementations apart.
pub fn write(
    wanted: &[ReportTo],
    suffix: Option<&str>,
    text: &dyn Fn(ReportKind) -> Result<String, ReportError>,
) -> Result<(), Failure> {
    let default = [ReportTo { kind: ReportKind::Human, path: None }];
    let wanted = if wanted.is_empty() { &default[..] } else { wanted };
    for ReportTo { kind, path } in wanted {
        let text = text(*kind)?;
        match path {
            None => print_rendered(&text)?,
            Some(path) => write_atomically(&with_suffix(path, suffix), text.as_bytes())?,
        }
    }
    Ok(())
}

/// `report.html` becomes `report-tvm-0.25.html` where one command asks several implementations.
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
