//! Signatures, which findings with the same cause share, and the list of known forms of findings.

use std::collections::BTreeSet;
use std::fmt;

use glob::Pattern;
use serde::{Deserialize, Serialize};

use super::traits::{CONSTRUCTS, Trait};
use relax_spec::book::Rule;
use relax_spec::eval::prelude;
use relax_spec::suite::ledger::DeviationClass;

named! {
/// How an implementation fails.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FailureKind {
    /// The process ends.
    Crash = "crash",
    /// No answer comes before the time-out.
    Hang = "hang",
    /// A different value or effect, or a value instead of a failure.
    Value = "value",
    /// A run fails that should not fail, or fails in a different way.
    Fails = "fails",
    /// The returned normal form is not a normal form of the program.
    NotNormal = "not_normal",
    /// A program is refused before it runs.
    Refused = "refused",
    /// A program that breaks a rule is accepted.
    Accepted = "accepted",
    /// The adapter is to blame.
    AdapterError = "adapter_error",
}
}

/// What findings with the same cause have in common.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct FailureSignature {
    /// How it fails.
    pub kind: FailureKind,
    /// The stage at which it fails, in the words of the implementation.
    pub stage: String,
    /// The message, without parts that vary from run to run; for a wrong value, the clause that it breaks.
    pub message: String,
    /// The operators of the reduced program, where the message does not distinguish causes.
    pub operators: Vec<String>,
}

/// The most characters of a message.
const MESSAGE: usize = 160;
/// Marks differences that occur only on arguments outside of the documented domain of an operator.
const OUTSIDE: &str = ", outside of a domain";

impl FailureSignature {
    pub(super) fn of(kind: FailureKind, stage: &str, message: &str) -> FailureSignature {
        FailureSignature { kind, stage: stage.to_string(), message: normalized(message), operators: Vec::new() }
    }

    /// An implementation accepts a program that breaks these rules.
    pub(super) fn of_accepted(rules: &[Rule]) -> FailureSignature {
        // The numbers in rule ids distinguish rules.
        let message = rules.iter().map(|rule| rule.id()).collect::<Vec<&str>>().join(", ");
        FailureSignature { kind: FailureKind::Accepted, stage: "check".to_string(), message, operators: Vec::new() }
    }

    /// The signature of a run on arguments for which the operator is not defined by the letter of the text.
    pub(super) fn outside(mut self) -> FailureSignature {
        self.stage.push_str(OUTSIDE);
        self
    }

    /// Whether it is such a signature.
    pub(super) fn is_outside(&self) -> bool {
        self.stage.ends_with(OUTSIDE)
    }

    /// Whether the message distinguishes causes.
    pub(super) fn tells(&self) -> bool {
        !matches!(self.kind, FailureKind::Crash | FailureKind::Hang | FailureKind::Value | FailureKind::NotNormal)
    }

    /// Whether the other difference is of the same kind. The message of a crash or a hang says only where it happens to
    /// end.
    pub(super) fn is_like(&self, other: &FailureSignature) -> bool {
        let ends_anywhere = matches!(self.kind, FailureKind::Crash | FailureKind::Hang);
        let alike = self.kind == other.kind && self.stage == other.stage;
        alike && (ends_anywhere || self.message == other.message)
    }

    /// A name for files: short, and equal for equal signatures.
    pub fn slug(&self) -> String {
        format!("{}-{:016x}", self.kind, fnv(&format!("{self:?}")))
    }
}

impl fmt::Display for FailureSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}: {}", self.kind, self.stage, self.message)?;
        if !self.operators.is_empty() {
            write!(f, " [{}]", self.operators.join(", "))?;
        }
        Ok(())
    }
}

/// A hash that is the same in every process.
pub(super) fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The significant line of a message, without numbers, addresses and names of variables, which vary from program to
/// program.
fn normalized(message: &str) -> String {
    let lines: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_telling = |line: &&&str| {
        ["Error:", "error:", "Check failed"].iter().any(|word| line.contains(word)) && !line.starts_with(['|', '^'])
    };
    let telling = lines.iter().rev().find(is_telling).or(lines.first()).copied().unwrap_or_default();
    // The call that could not be lowered distinguishes causes.
    let call = lines.iter().position(|line| *line == "Offending call:").and_then(|at| lines.get(at + 1));
    let call = call.and_then(|call| call.split('(').next());
    let named = message.split("name=\"").nth(1).and_then(|rest| rest.split('"').next());
    let call = call.or(named.filter(|_| telling.contains("CodeGenVM")));
    let telling = without_directories(telling);
    let telling = if telling.ends_with("error:") { format!("{telling} {}", pointed_at(&lines)) } else { telling };
    let line = call.map_or_else(|| telling.clone(), |call| format!("{call}: {telling}"));
    let mut out = String::new();
    let mut after_digit = false;
    for c in without_addresses(&line).chars() {
        let is_digit = c.is_ascii_digit();
        if !(is_digit && after_digit) {
            out.push(if is_digit { '#' } else { c });
        }
        after_digit = is_digit;
    }
    // The length of a list of numbers is accidental.
    while out.contains("#, #") || out.contains("-#") {
        out = out.replace("#, #", "#").replace("-#", "#");
    }
    out.chars().take(MESSAGE).collect()
}

/// Addresses have letters among their digits.
fn without_addresses(line: &str) -> String {
    let mut parts = line.split("0x");
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        out.push_str("0x0");
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
    }
    out
}

/// The text that a parser's message without words points at, without a name before a colon.
fn pointed_at(lines: &[&str]) -> String {
    let code = lines.iter().find_map(|line| line.split_once(" |")).map_or("", |(_, code)| code.trim());
    code.rsplit(": ").next().unwrap_or_default().to_string()
}

/// Only the name of each file: directories, especially temporary ones, vary from run to run.
fn without_directories(line: &str) -> String {
    let name = |word: &str| match word.strip_prefix('/') {
        Some(path) => path.rsplit_once('/').map_or(word.to_string(), |(_, name)| name.to_string()),
        None => word.to_string(),
    };
    line.split(' ').map(name).collect::<Vec<String>>().join(" ")
}

/// A known form of findings.
#[derive(Clone, PartialEq, Eq, Default, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KnownForm {
    /// How the implementation fails; any way if absent.
    pub kind: Option<FailureKind>,
    /// What the normalized message contains.
    pub message: String,
    /// Patterns of operator names, one of which the reduced program must contain; an empty list matches all programs.
    pub operators: Vec<String>,
    /// What the stage contains.
    pub stage: String,
    /// The path by which it was seen first; any if absent.
    pub path: String,
    /// Prefixes of the versions that fail in this way; an empty list matches all versions.
    pub versions: Vec<String>,
    /// What the reduced program must have, all of it: operators, traits (see [`Trait`]), and attributes of its calls as
    /// patterns of `name=value`. A leading `!` says that the program must not have it.
    pub with: Vec<String>,
    /// Why the implementation does so; absent as long as nobody has looked at it.
    pub class: Option<DeviationClass>,
    /// The clause that decides; absent as long as nobody has looked at it.
    pub clause: Option<Rule>,
    /// Why it is known, for people; never empty.
    pub reason: String,
    /// The folder in `conformance/findings` that shows it.
    pub finding: Option<String>,
}

/// What a known form may require of a reduced program, and how its difference was seen.
#[derive(Clone, Copy, Debug)]
pub struct FindingContext<'a> {
    /// The operators in the program.
    pub operators: &'a [String],
    /// Traits that distinguish it from other programs with the same operators.
    pub traits: &'a BTreeSet<Trait>,
    /// The attributes of its calls.
    pub attributes: &'a BTreeSet<String>,
    /// The path on which the difference was seen.
    pub path: &'a str,
    /// The version of the implementation.
    pub version: &'a str,
}

impl KnownForm {
    /// Reads a list of forms. It is an error if the text is not RON of this type, or an entry is incomplete.
    pub fn parse(text: &str) -> Result<Vec<KnownForm>, String> {
        let forms: Vec<KnownForm> =
            relax_spec::book::ron_options().from_str(text).map_err(|error| error.to_string())?;
        for form in &forms {
            if form.reason.trim().is_empty() {
                return Err("an entry gives no reason".to_string());
            }
            if form.message.is_empty() && form.operators.is_empty() && form.with.is_empty() && form.path.is_empty() {
                return Err(format!("an entry knows everything: {}", form.reason));
            }
            for operator in form.operators.iter().chain(form.with.iter().filter(|name| name.contains('='))) {
                Pattern::new(operator).map_err(|error| format!("{operator}: {error}"))?;
            }
            for name in form.with.iter().filter(|name| !name.contains('=')).map(|name| name.trim_start_matches('!')) {
                let is_trait = Trait::ALL.iter().any(|own| own.name() == name);
                let is_packed = || prelude().get(name).is_some();
                let is_called = relax_spec::ops::lookup(name).is_some() || is_packed();
                if !is_trait && !CONSTRUCTS.contains(&name) && !is_called {
                    return Err(format!("`{name}` is neither an operator nor a trait: {}", form.reason));
                }
            }
        }
        Ok(forms)
    }

    /// Whether the signature alone decides whether this form matches, so that the program need not be shrunk first.
    pub fn tells(&self, signature: &FailureSignature) -> bool {
        let says = !self.message.is_empty() && self.fits(signature);
        says && self.with.is_empty() && self.path.is_empty() && (self.operators.is_empty() || signature.tells())
    }

    /// Whether the form matches the signature. A form of wrong values does not explain why a text is read as another
    /// program, unless it says so.
    fn fits(&self, signature: &FailureSignature) -> bool {
        let is_read = signature.kind == FailureKind::Value && signature.stage == "parse";
        let is_told = [&self.message, &self.stage, &self.path].into_iter().any(|said| !said.is_empty());
        self.kind.is_none_or(|kind| kind == signature.kind)
            && (is_told || !is_read)
            && signature.message.contains(&self.message)
            && signature.stage.contains(&self.stage)
    }

    /// Whether the form matches a finding with this signature.
    pub fn knows(&self, signature: &FailureSignature, seen: &FindingContext<'_>) -> bool {
        let FindingContext { operators, traits, attributes, path, version } = *seen;
        let is_one = |pattern: &String| {
            Pattern::new(pattern).is_ok_and(|pattern| operators.iter().any(|operator| pattern.matches(operator)))
        };
        let gives = |name: &str| {
            let of_attribute = name.contains('=').then(|| Pattern::new(name).ok()).flatten();
            of_attribute.is_some_and(|pattern| attributes.iter().any(|one| pattern.matches(one)))
        };
        let has = |name: &String| {
            let (name, wanted) = name.strip_prefix('!').map_or((name.as_str(), true), |name| (name, false));
            let is_trait = || traits.iter().any(|own| own.name() == name);
            wanted == (operators.iter().any(|operator| operator == name) || is_trait() || gives(name))
        };
        self.fits(signature)
            && (self.versions.is_empty() || self.versions.iter().any(|one| version.starts_with(one.as_str())))
            && (self.path.is_empty() || self.path == path)
            && (self.operators.is_empty() || self.operators.iter().any(is_one))
            && self.with.iter().all(has)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_run_to_run_is_left_out() {
        let a = normalized("Traceback\n  File x\nInternalError: Check failed: (a == b) is false: 12 vs. 3, [4, 5, 6]");
        let b = normalized("InternalError: Check failed: (a == b) is false: 1 vs. 30, [7, 8]");
        assert_eq!(a, b);
        assert_eq!(a, "InternalError: Check failed: (a == b) is false: # vs. #, [#]");
        let (a, b) = ("no object at 0x7fa3c0de here", "no object at 0x55e1bb02 here");
        assert_eq!(normalized(a), normalized(b));
        let (a, b) = ("/some/dir_a1b/lib0.c:7:9: error: no `v / w`", "/other/xyz/lib1.c:12:1: error: no `v / w`");
        assert_eq!(normalized(a), normalized(b));
        assert_eq!(normalized(a), "lib#.c:#:#: error: no `v / w`");
        let (a, b) = (" 8 |          v_3: R.Tuple\n   |          ^^^^^", "17 |    v: R.Tuple\n   |    ^^^");
        let said = |pointed: &str| normalized(&format!("SomeError: error: \n --> <str>:8:9\n   |  \n{pointed}"));
        assert_eq!(said(a), said(b));
        assert_eq!(said(a), "SomeError: error: R.Tuple");
    }

    #[test]
    fn a_form_of_wrong_values_explains_no_reading() {
        let form = |more: &str| {
            let text = format!("[(kind: value, operators: [\"relax.one_hot\"], {more}reason: \"an index\")]");
            KnownForm::parse(&text).unwrap().remove(0)
        };
        let signature = |stage: &str| FailureSignature::of(FailureKind::Value, stage, "another program");
        assert!(form("").fits(&signature("run")) && !form("").fits(&signature("parse")));
        assert!(form("stage: \"parse\", ").fits(&signature("parse")));
    }

    const NONE: &BTreeSet<Trait> = &BTreeSet::new();
    const WITHOUT: &BTreeSet<String> = &BTreeSet::new();

    fn with(operators: &[String]) -> FindingContext<'_> {
        FindingContext { operators, traits: NONE, attributes: WITHOUT, path: "llvm", version: "0.27.0" }
    }

    #[test]
    fn a_form_that_knows_everything_is_refused() {
        assert!(KnownForm::parse("[(reason: \"so\")]").is_err());
        let forms = KnownForm::parse("[(kind: crash, operators: [\"relax.nn.*\"], reason: \"so\")]").unwrap();
        let crash = FailureSignature::of(FailureKind::Crash, "run", "SIGSEGV");
        assert!(forms[0].knows(&crash, &with(&["relax.nn.relu".to_string()])));
        assert!(!forms[0].knows(&crash, &with(&["relax.add".to_string()])));
        assert!(
            !forms[0]
                .knows(&FailureSignature::of(FailureKind::Value, "run", ""), &with(&["relax.nn.relu".to_string()]))
        );
    }

    #[test]
    fn a_form_may_want_traits_of_the_program() {
        let text = "[(kind: crash, with: [\"if\", \"planned\"], reason: \"planned\")]";
        let form = &KnownForm::parse(text).unwrap()[0];
        let crash = FailureSignature::of(FailureKind::Crash, "run", "SIGSEGV");
        let choice = ["if".to_string()];
        let (planned, empty) = (BTreeSet::from([Trait::Planned, Trait::Constant]), BTreeSet::from([Trait::Empty]));
        let seen = |traits| FindingContext { traits, ..with(&choice) };
        assert!(form.knows(&crash, &seen(&planned)));
        assert!(!form.knows(&crash, &seen(&empty)), "it shows without optimizations, too");
        assert!(!form.knows(&crash, &FindingContext { operators: &[], ..seen(&planned) }));
        let text = "[(kind: crash, path: \"text\", stage: \"run\", reason: \"read otherwise\")]";
        let of_text = &KnownForm::parse(text).unwrap()[0];
        assert!(
            of_text.knows(&crash, &FindingContext { path: "text", ..seen(&planned) })
                && !of_text.knows(&crash, &seen(&planned))
        );
        assert!(!of_text.tells(&crash));
        let text =
            "[(kind: crash, stage: \"pass:X\", message: \"SIGSEGV\", versions: [\"0.25\"], reason: \"of a pass\")]";
        let of_pass = &KnownForm::parse(text).unwrap()[0];
        let in_pass = FailureSignature::of(FailureKind::Crash, "pass:X", "SIGSEGV");
        assert!(of_pass.tells(&in_pass) && !of_pass.tells(&crash), "of other crashes the message tells nothing");
        assert!(!of_pass.knows(&in_pass, &seen(&planned)), "another version");
        assert!(of_pass.knows(&in_pass, &FindingContext { version: "0.25.1", ..seen(&planned) }));
        assert!(KnownForm::parse("[(with: [\"optimised\"], reason: \"so\")]").is_err());
        assert!(!form.tells(&crash), "what was drawn has its traits by chance");
    }
}
