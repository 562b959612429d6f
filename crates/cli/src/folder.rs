//! A finding of a campaign as a folder like those of `conformance/findings`: the question and both answers, a script
//! that shows it with the wheel alone, and the case. The script is run before the folder is written.

use std::fs;
use std::path::Path;

use super::{CommandResult, Exit, Failure, given, note, print};
use ask::process::CommandLine;
use campaign::trials::{FailureKind, Finding, StoredFinding};
use relax_spec::book::Rule;
use relax_spec::grammar::TensorData;
use relax_spec::judge::Cx;
use relax_spec::oracle;
use relax_spec::question::{Answer, Ask, ProgramInput, RunAnswer};
use relax_spec::suite::read_cases;
use relax_spec::value::ValueSpec;

/// The parts of a folder.
pub struct FindingFolder<'a> {
    /// The finding.
    pub finding: &'a Finding,
    /// The golden case, in RON.
    pub case: &'a str,
    /// The interpreter with the wheel that shows the finding.
    pub python: &'a CommandLine,
    /// The release, as a folder names it.
    pub release: &'a str,
}

/// What begins a script.
const HEAD: &str = r#"
import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

try:
    from tvm.script import tir as T
except ImportError:
    from tvm.script import tirx as T

"#;

/// What a script does. Floats may be rounded in other ways.
const BODY: &str = r#"

def flat(value):
    if isinstance(value, (list, tuple, tvm.ir.Array)):
        return [part for field in value for part in flat(field)]
    return [value.numpy()]


def differs(one, other):
    if one.shape != other.shape or one.dtype != other.dtype:
        return True
    if one.dtype.kind in "biu":
        return not np.array_equal(one, other)
    return not np.allclose(one.astype("float64"), other.astype("float64"), rtol=1e-3, atol=1e-6, equal_nan=True)


try:
    module = tvm.script.from_source(PROGRAM, {"I": I, "R": R, "T": T})
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    # Without arguments the question is whether it is accepted.
    given = [] if ARGUMENTS is None else flat(vm[ENTRY](*[tvm.runtime.tensor(argument) for argument in ARGUMENTS]))
except Exception as refusal:
    given = str(refusal).strip().splitlines()[-1]
print("expected:", EXPECTED)
print("given:   ", given)
if isinstance(given, str) or EXPECTED is None:
    shows = isinstance(given, str) != (EXPECTED is None)
else:
    shows = len(given) != len(EXPECTED) or any(map(differs, given, EXPECTED))
sys.exit(0 if shows else 1)
"#;

impl FindingFolder<'_> {
    /// Writes the folder, if its script shows the finding.
    pub fn write(&self, dir: &Path) -> CommandResult {
        let place = |error: std::io::Error| Failure::unreadable(format!("{}: {error}", dir.display()));
        if dir.exists() {
            return Err(Failure::unreadable(format!("{}: it exists", dir.display())));
        }
        let kept = StoredFinding::of(self.finding).map_err(Failure::unreadable)?;
        let script = self.script(&kept)?;
        let said = self.shown(&script)?;
        print(&said)?;
        let files = [("README.md", self.readme(&kept)?), ("repro.py", script), ("case.ron", self.case.to_string())];
        write_folder(dir, &files).map_err(place)?;
        note(&format!("wrote {}\n", dir.display()));
        Ok(Exit::AsExpected)
    }

    /// Runs the script in a directory of its own. Returns what it prints.
    fn shown(&self, script: &str) -> Result<String, Failure> {
        let dir = tempfile::tempdir()?;
        let path = dir.path().join("repro.py");
        fs::write(&path, script)?;
        let ran = std::process::Command::new(&self.python.program).arg(&path).current_dir(dir.path()).output();
        let ran = ran.map_err(|error| Failure::new(Exit::Adapter, format!("{}: {error}", self.python.program)))?;
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        match ran.status.code() {
            Some(0) => Ok(said),
            Some(1) if said.contains("given:") => Err(Failure::new(
                Exit::Findings,
                format!("the wheel alone does not show it, and nothing is written:\n{said}"),
            )),
            _ => {
                let why = String::from_utf8_lossy(&ran.stderr).into_owned();
                let last: Vec<&str> = why.lines().rev().take(3).collect();
                let last: Vec<&str> = last.into_iter().rev().collect();
                Err(Failure::new(Exit::Findings, format!("the script does not run:\n{}", last.join("\n"))))
            }
        }
    }

    /// Whether TVM refuses the program before it is run.
    fn is_refused(&self, kept: &StoredFinding) -> bool {
        self.finding.signature.kind == FailureKind::Refused && kept.input.is_none()
    }

    /// The arguments of the script, and what it expects.
    fn asked(&self, kept: &StoredFinding) -> Result<(String, String), Failure> {
        if self.is_refused(kept) {
            return Ok(("None".to_string(), list(&[])));
        }
        let only_runs =
            || Failure::unreadable("a folder is made of a refusal, or of a finding that a run on tensors shows");
        let input = kept.input.clone().filter(|_| kept.paths.iter().any(|path| path.runs())).ok_or_else(only_runs)?;
        let arguments = input.iter().map(|value| match value {
            ValueSpec::Tensor(data) => Some(array(data)),
            _ => None,
        });
        let arguments = arguments.collect::<Option<Vec<String>>>().ok_or_else(only_runs)?;
        let ask = Ask::Evaluate(ProgramInput::Module(kept.module.clone()), kept.entry.clone(), input);
        let mut cx = Cx::new().with_edition(self.finding.edition);
        let expected = match oracle::answer(&mut cx, &ask).map_err(Failure::unreadable)? {
            Answer::Run(RunAnswer::Returns(value, _)) => {
                let arrays = given::arrays_of(&value).map_err(Failure::unreadable)?;
                list(&arrays.iter().map(|(_, data)| array(data)).collect::<Vec<String>>())
            }
            Answer::Run(RunAnswer::Fails(..)) => "None".to_string(),
            _ => return Err(only_runs()),
        };
        Ok((list(&arguments), expected))
    }

    fn script(&self, kept: &StoredFinding) -> Result<String, Failure> {
        let (arguments, expected) = self.asked(kept)?;
        let (program, entry) = (self.finding.program.trim(), &*kept.entry);
        Ok(format!(
            "\"\"\"{}.\"\"\"\n{HEAD}PROGRAM = \"\"\"\n{program}\n\"\"\"\n\
             ENTRY = {entry:?}\nARGUMENTS = {arguments}\n# What an error should end is None.\nEXPECTED = {expected}\n{BODY}",
            self.title(),
        ))
    }

    fn title(&self) -> String {
        let message = self.finding.message.lines().next().unwrap_or_default();
        message.trim_end_matches('.').replace(['"', '\\'], "'")
    }

    fn readme(&self, kept: &StoredFinding) -> Result<String, Failure> {
        let question = match self.is_refused(kept) {
            true => "Is the program accepted?".to_string(),
            false => format!("The result of `{}`.", self.finding.entry),
        };
        let cases = read_cases("case.ron", self.case).map_err(Failure::unreadable)?;
        let link = |rule: &Rule| format!("[`{rule}`](../../../{})", rule.info().file);
        let clauses: Vec<String> = cases.iter().flat_map(|case| &case.rules).map(link).collect();
        let severity = match self.finding.signature.kind {
            FailureKind::Crash | FailureKind::Hang => "crash",
            FailureKind::Fails | FailureKind::Refused => "refusal",
            FailureKind::NotNormal | FailureKind::Accepted => "wrong verdict",
            FailureKind::Value | FailureKind::AdapterError => "wrong value",
        };
        let block = |text: &str| text.trim().lines().map(|line| format!("    {line}\n")).collect::<String>();
        Ok(format!(
            "# {}\n\n| | |\n| --- | --- |\n| releases | {} |\n| severity | {severity} |\n| responsible | to be found |\n\
             | clauses | {} |\n| case | [case.ron](case.ron) |\n| found by | a campaign (`relax-spec fuzz`) |\n\n\
             ```python\n{}\n```\n\n**Question.** {question}\n\n**By the text:**\n\n{}\n**TVM:**\n\n{}",
            self.title(),
            self.release,
            clauses.join(", "),
            self.finding.program.trim(),
            block(&self.finding.expected),
            block(&self.finding.given),
        ))
    }
}

/// Writes a folder completely or not at all: beside its final place, and then renamed.
fn write_folder(dir: &Path, files: &[(&str, String)]) -> std::io::Result<()> {
    let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(parent)?;
    let beside = tempfile::tempdir_in(parent)?;
    // By default a temporary folder is private.
    let whole = beside.path().join("whole");
    fs::create_dir(&whole)?;
    for (name, text) in files {
        fs::write(whole.join(name), text)?;
    }
    fs::rename(whole, dir)
}

/// An array in Python, bit for bit.
fn array(data: &TensorData) -> String {
    let digits: String = data.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let shape: Vec<String> = data.shape.iter().map(ToString::to_string).collect();
    format!("np.frombuffer(bytes.fromhex(\"{digits}\"), \"{}\").reshape([{}])", data.dtype, shape.join(", "))
}

fn list(items: &[String]) -> String {
    let lines: String = items.iter().map(|item| format!("    {item},\n")).collect();
    if items.is_empty() { "[]".to_string() } else { format!("[\n{lines}]") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_written_whole_or_not_at_all() {
        let here = tempfile::tempdir().unwrap();
        let files = [("README.md", "one".to_string()), ("case.ron", "two".to_string())];
        let new = here.path().join("new/finding");
        write_folder(&new, &files).unwrap();
        assert_eq!(fs::read_to_string(new.join("case.ron")).unwrap(), "two");
        // What is there stays as it is.
        assert!(write_folder(&new, &[("README.md", "three".to_string())]).is_err());
        assert_eq!(fs::read_to_string(new.join("README.md")).unwrap(), "one");
        // A name that cannot be written leaves nothing, and no temporary folder.
        assert!(
            write_folder(&here.path().join("half"), &[("a", "1".to_string()), ("no/such", "2".to_string())]).is_err()
        );
        assert_eq!(fs::read_dir(here.path()).unwrap().count(), 1);
    }
}
