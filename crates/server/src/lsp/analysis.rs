//! What is found in one version of a text.

use std::cell::OnceCell;
use std::ops::Range;
use std::path::Path;

use relax_spec::book::Rule;
use relax_spec::check::{Claim, UnknownOps, all_findings, check_as, unknown_names};
use relax_spec::derivation::{DeriveReport, derive_module};
use relax_spec::findings::{Diagnostic, Severity};
use relax_spec::grammar::source::SyntaxError;
use relax_spec::grammar::{IrModule, Span};
use relax_spec::judge::Cx;
use relax_spec::normal_form::normalize_reporting;
use relax_spec::reading;
use relax_spec::syntax::load::{ExternalForm, LoadError};
use relax_spec::syntax::tvmscript::Which;
use relax_spec::type_checking::check_module;
use rustc_hash::FxHashSet;

use super::regions::Regions;

/// How programs of a file are to be judged.
pub trait Choices {
    /// A context with the edition and the reading for a module of a file.
    ///
    /// # Errors
    ///
    /// The choice that means nothing, in words.
    fn context(&self, path: &Path, module: &IrModule) -> Result<Cx, String>;

    /// Where the text of a rule stands: a file and its line, from 0.
    fn rule_file(&self, rule: Rule) -> Option<(std::path::PathBuf, u32)>;

    /// The address of a rule in the book, if there is one.
    fn rule_page(&self, rule: Rule) -> Option<String>;
}

/// Something wrong, with its place in the text.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub severity: Severity,
    /// The rule that is broken; none if the text is not TVMScript.
    pub rule: Option<Rule>,
    pub message: String,
    pub hint: Option<String>,
    pub span: Span,
    /// The module in the list of the analysis; none if it cannot be read.
    pub module: Option<usize>,
}

impl Finding {
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    pub fn is_like(&self, other: &Finding) -> bool {
        (self.rule, &self.message) == (other.rule, &other.message)
    }
}

/// A module that could be read.
#[derive(Debug)]
pub(crate) struct JudgedModule {
    pub module: IrModule,
    pub cx: Cx,
    derived: OnceCell<Derived>,
}

/// What is known of the names of a module.
#[derive(Debug)]
pub(crate) struct Derived {
    /// The program in normal form.
    pub module: IrModule,
    pub report: DeriveReport,
    pub impure: FxHashSet<relax_spec::grammar::Var>,
}

impl JudgedModule {
    /// What is known of the names, derived when it is first asked for.
    pub fn derived(&self) -> &Derived {
        self.derived.get_or_init(|| {
            let mut cx = self.cx.unobserved();
            let module = normalize_reporting(&mut cx, &self.module).module;
            let impure = check_module(&mut cx, &module).impure.into_iter().collect();
            let report = derive_module(&mut cx, &module);
            Derived { module, report, impure }
        })
    }
}

/// What is found in one version of a text.
#[derive(Default, Debug)]
pub(crate) struct Analysis {
    /// The text of that version.
    pub text: String,
    pub modules: Vec<JudgedModule>,
    pub findings: Vec<Finding>,
}

impl Analysis {
    /// Reads and judges the modules of a text. All other text is left to others.
    pub fn of(choices: &dyn Choices, path: &Path, text: &str) -> Analysis {
        let mut analysis = Analysis { text: text.to_string(), ..Analysis::default() };
        let form = ExternalForm::of(path, text);
        let regions = match form {
            ExternalForm::TvmScript => Regions::of(text),
            ExternalForm::Ron | ExternalForm::Json => Regions::whole(text),
        };
        if regions.is_empty() {
            return analysis;
        }
        match reading::parse_modules(form, text.into(), Which::All) {
            Ok(file) => {
                let read = file.modules.len();
                for (_, module) in file.modules {
                    analysis.judge(choices, path, module, &regions);
                }
                analysis.unreadable(&file.faults, &regions, read);
            }
            Err(LoadError::Syntax(errors)) => analysis.unreadable(&errors, &regions, 0),
            Err(error) => analysis.findings.push(Finding::unreadable(error.to_string(), Span::new(0, 1))),
        }
        analysis.findings.sort_by_key(|finding| finding.span.start);
        analysis
    }

    pub fn errors(&self) -> usize {
        self.findings.iter().filter(|finding| finding.is_error()).count()
    }

    fn judge(&mut self, choices: &dyn Choices, path: &Path, module: IrModule, regions: &Regions) {
        let number = self.modules.len();
        let first = module.funcs.iter().map(|(gv, _)| gv.span).find(|span| !span.is_none());
        let home = regions.around(first.map_or(0, |span| span.start as usize));
        let cx = match choices.context(path, &module) {
            Ok(cx) => cx,
            Err(message) => return self.findings.push(Finding::unreadable(message, span_of(&home))),
        };
        let report = check_as(&mut cx.clone(), &module, Claim::Fragment);
        let unknown = unknown_names(&module, UnknownOps::Errors);
        for found in all_findings(&mut cx.clone(), &report, unknown) {
            let span = if found.span.is_none() { place_of(&found, &module, &home) } else { found.span };
            let Diagnostic { severity, rule, message, hint, .. } = found;
            self.findings.push(Finding { severity, rule: Some(rule), message, hint, span, module: Some(number) });
        }
        self.modules.push(JudgedModule { module, cx, derived: OnceCell::new() });
    }

    /// Adds the errors of modules that cannot be read. One beside all modules counts only if none can be read.
    fn unreadable(&mut self, errors: &[SyntaxError], regions: &Regions, read: usize) {
        let lines: Vec<usize> = std::iter::once(0).chain(self.text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let mut beside = Vec::new();
        for error in errors {
            let line = lines.get(error.line.saturating_sub(1)).copied().unwrap_or(self.text.len());
            let rest = self.text.get(line..).unwrap_or_default();
            let at = rest.char_indices().nth(error.column.saturating_sub(1)).map_or(rest.len(), |(at, _)| at);
            let end = rest.get(at..).and_then(|rest| rest.chars().next()).map_or(at, |c| at + c.len_utf8());
            let mut finding = Finding::unreadable(error.message.clone(), span_of(&(line + at..line + end)));
            finding.rule = error.rule;
            match regions.holds(line + at) {
                true => self.findings.push(finding),
                false => beside.push(finding),
            }
        }
        if self.findings.iter().all(|finding| finding.rule.is_some()) && read == 0 {
            self.findings.append(&mut beside);
        }
    }
}

impl Finding {
    fn unreadable(message: String, span: Span) -> Finding {
        Finding { severity: Severity::Error, rule: None, message, hint: None, span, module: None }
    }
}

/// The place of a finding that has none of its own: the name of its function, or the head of the module.
fn place_of(found: &Diagnostic, module: &IrModule, home: &Range<usize>) -> Span {
    let function = found.path.function();
    let named = module.funcs.iter().map(|(gv, _)| gv).find(|gv| &*gv.name == function && !gv.span.is_none());
    named.map_or(span_of(home), |gv| gv.span)
}

fn span_of(range: &Range<usize>) -> Span {
    let small = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    // An end of 0 would mean that there is no place.
    Span::new(small(range.start), small(range.end).max(1))
}
