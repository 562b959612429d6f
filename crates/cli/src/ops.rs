//! `relax-spec ops`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use indicatif::ProgressBar;
use serde_json::{Value, json};

use super::asking::{AnswerLimits, STARTUP, interrupt, kept_to_the_protocol, launch, start};
use super::terminal::progress;
use super::{CommandResult, Exit, Failure, note, options, print};
use ask::adapters::Adapter;
use ask::checkout::{self, write_atomically};
use ask::conformance;
use ask::implementation::Implementation;
use ask::process::Interrupt;
use ask::record::SuiteRecord;
use ask::runner::{self, ImplementationPool, Seen, SuiteSchedule};
use campaign::agreement::{
    self, AgreementOutcome, AgreementRecord, AgreementTally, OpAgreement, OperatorPattern, count_case, judge,
    ops_of_case,
};
use campaign::operators::{self, OperatorStanding};
use campaign::questions::questions;
use relax_spec::book::{Edition, or_meant, ron_options};
use relax_spec::ops::{self, Clauses, OpDef};
use relax_spec::suite::ledger::{Ledger, Standing};
use relax_spec::suite::{Case, CaseError};

/// List the operators: data types and cases, how implementations agree, how much of the tolerance they use
///
/// With --adapter the questions are asked again: for each operator, its cases about values, and dozens of calls that
/// vary a case in one respect, whose inferred information is compared up to provable equality. A difference that no
/// ledger explains gives exit status 1, and so does an operator that agrees less often than recorded.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec ops
  relax-spec ops --json | jq 'select(.agreement.\"tvm-0.25\".inference.known > 0)'
  relax-spec ops relax.sum --adapter tvm@0.25
  relax-spec ops --adapter tvm --update")]
pub struct Args {
    /// Names of operators, with or without `relax.`; without any, all
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
    /// Ask an implementation: `tvm`, `tvm@0.26`, `tvm@/path/to/python`, or a command that speaks the protocol
    #[arg(long, value_name = "NAME|CMD")]
    adapter: Option<String>,
    /// Record the answers of the implementation in conformance/agreement/
    #[arg(long, requires = "adapter")]
    update: bool,
    /// Only the questions about inference, not the cases about values
    #[arg(long, requires = "adapter")]
    inference_only: bool,
    /// Time limit of an answer in seconds
    #[arg(long, value_name = "S", default_value = "180", value_parser = options::seconds)]
    timeout: Duration,
    /// The edition by which the answers are judged [default: the one that the implementation claims]
    #[arg(long, requires = "adapter", value_name = "EDITION", value_parser = options::edition)]
    edition: Option<Edition>,
}

impl Args {
    fn limits(&self) -> AnswerLimits {
        AnswerLimits { timeout: self.timeout, edition: self.edition }
    }
}

pub fn run(args: &Args) -> CommandResult {
    let chosen = chosen(args)?;
    let Some(adapter) = &args.adapter else { return table(args, &chosen) };
    let suite = conformance::suite()?;
    let (mut worst, interrupt) = (Exit::AsExpected, interrupt()?);
    for adapter in Adapter::named(Some(adapter), STARTUP)? {
        worst = worst.max(ask(args, &suite, &chosen, &adapter, &interrupt)?);
    }
    Ok(worst)
}

fn chosen(args: &Args) -> Result<Vec<&'static OpDef>, Failure> {
    // An implementation is asked about operators with an entry of their own.
    let asked = |op: &&OpDef| args.adapter.is_none() || matches!(op.clauses, Clauses::Tensor(_));
    if args.names.is_empty() {
        return Ok(ops::all().filter(asked).collect());
    }
    let find = |name: &String| {
        let found = ops::lookup(name).filter(asked);
        found.ok_or_else(|| {
            let named = if name.starts_with("relax.") { name.clone() } else { format!("relax.{name}") };
            let meant = or_meant(&named, ops::all().filter(asked).map(|op| op.name));
            let what = if args.adapter.is_none() { "operator" } else { "operator with an entry of its own" };
            Failure::new(Exit::NothingRan, format!("there is no {what} `{name}`{meant}"))
        })
    };
    args.names.iter().map(find).collect()
}

// The table.

/// The place that defines operators without an entry of their own.
const BY_TEXT: &str = "the chapter Notable Operators";

/// What the suite has of each operator, by name.
type Standings = BTreeMap<String, OperatorStanding>;

/// The stored record. If the suite or the operators have changed since, they are counted again.
fn standings() -> Result<Standings, Failure> {
    let is_current = |kept: &SuiteRecord<OperatorStanding>| kept.is_current() && kept.rows.len() == ops::all().count();
    let kept = operators::kept().ok().filter(is_current);
    let record = kept.map_or_else(|| Ok(operators::measured(&conformance::suite()?)), Ok::<_, CaseError>)?;
    Ok(record.rows.into_iter().map(|row| (row.operator.clone(), row)).collect())
}

fn table(args: &Args, chosen: &[&OpDef]) -> CommandResult {
    let standings = standings()?;
    let kept = agreement::kept().map_err(|error| Failure::unreadable(format!("conformance/agreement: {error}")))?;
    let mut out = String::new();
    if !args.json {
        let _ = writeln!(out, "{:28} {:12} {:>5} {:>9}  data types", "operator", "accuracy", "cases", "questions");
    }
    for op in chosen {
        let Some(standing) = standings.get(op.name) else { continue };
        if args.json {
            out.push_str(&row_json(op, standing, &kept).to_string());
            out.push('\n');
        } else {
            row(op, standing, &kept, &mut out);
        }
    }
    print(&out)?;
    Ok(Exit::AsExpected)
}

fn row_json(op: &OpDef, standing: &OperatorStanding, kept: &[(String, AgreementRecord)]) -> Value {
    let agreement: BTreeMap<&str, &OpAgreement> =
        kept.iter().filter_map(|(name, all)| Some((name.as_str(), all.operators.get(op.name)?))).collect();
    let Clauses::Tensor(clauses) = op.clauses else {
        let params = op.params.iter().map(|param| param.name()).collect::<Vec<_>>();
        return json!({
            "name": op.name,
            "params": params,
            "pure": op.pure,
            "accuracy": op.accuracy,
            "source": BY_TEXT,
        });
    };
    let rules = [Some(clauses.infer), Some(clauses.value), clauses.attrs];
    let rules: Vec<&str> = rules.into_iter().flatten().map(|rule| rule.id()).collect();
    json!({
        "name": op.name,
        "params": op.params.iter().map(|param| param.name()).collect::<Vec<_>>(),
        "pure": op.pure,
        "accuracy": op.accuracy,
        "source": clauses.source,
        "excluded": op.excluded,
        "rules": rules,
        "dtypes": standing.dtypes,
        "cases": standing.cases,
        "questions": standing.questions,
        "agreement": agreement,
        "headroom": agreement.iter().filter_map(|(name, a)| Some((*name, 1.0 - a.used?))).collect::<BTreeMap<_, _>>(),
    })
}

fn row(op: &OpDef, standing: &OperatorStanding, kept: &[(String, AgreementRecord)], out: &mut String) {
    if op.clauses == Clauses::Text {
        let _ = writeln!(out, "{:28} {BY_TEXT}", op.name);
        return;
    }
    let OperatorStanding { operator, cases, dtypes, questions } = standing;
    let dtypes = dtypes.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    let accuracy = format!("{:?}", op.accuracy).to_lowercase();
    let _ = writeln!(out, "{operator:28} {accuracy:12} {:>5} {questions:>9}  {dtypes}", cases.len());
    if let Some(reason) = op.excluded {
        let _ = writeln!(out, "    not evaluated: {reason}");
    }
    for (name, all) in kept {
        let Some(a) = all.operators.get(op.name) else { continue };
        let headroom = a.used.map_or(String::new(), |used| format!(", headroom {:.0}%", 100.0 * (1.0 - used)));
        let _ = writeln!(out, "    {name:12} inference {}; values {}{headroom}", tally(&a.inference), tally(&a.values));
    }
}

fn tally(t: &AgreementTally) -> String {
    let mut text = format!("{}/{} agree", t.agree, t.asked);
    for (count, what) in [(t.known, "known"), (t.unsupported, "not compared"), (t.unexplained, "UNEXPLAINED")] {
        if count > 0 {
            let _ = write!(text, ", {count} {what}");
        }
    }
    text
}

// Asking.

fn ask(args: &Args, suite: &[Case], chosen: &[&OpDef], adapter: &Adapter, interrupt: &Interrupt) -> CommandResult {
    let kept = kept_agreement(adapter)?;
    let mut agreement = kept.clone();
    let mut findings = String::new();
    infer(args, suite, chosen, adapter, interrupt, &mut agreement, &mut findings)?;
    if !args.inference_only {
        values(args, suite, chosen, adapter, interrupt, &mut agreement, &mut findings)?;
    }
    let sum = |tally: fn(&OpAgreement) -> AgreementTally| {
        let each = chosen.iter().filter_map(|op| agreement.operators.get(op.name)).map(tally);
        each.fold(AgreementTally::default(), |a, b| AgreementTally {
            asked: a.asked + b.asked,
            agree: a.agree + b.agree,
            known: a.known + b.known,
            unsupported: a.unsupported + b.unsupported,
            unexplained: a.unexplained + b.unexplained,
        })
    };
    let (inference, values) = (sum(|a| a.inference), sum(|a| a.values));
    print(&format!(
        "{findings}{adapter}: {} operators; inference {}; values {}\n",
        chosen.len(),
        tally(&inference),
        tally(&values)
    ))?;
    if args.update {
        update(adapter, &agreement)?;
        return Ok(exit(inference.unexplained + values.unexplained > 0));
    }
    let fewer = agree_less_often(chosen, &kept, &agreement);
    print(&fewer)?;
    Ok(exit(inference.unexplained + values.unexplained > 0 || !fewer.is_empty()))
}

fn exit(findings: bool) -> Exit {
    if findings { Exit::Findings } else { Exit::AsExpected }
}

/// The operators for which the implementation agrees less often than recorded. The ledger explains differences by their
/// form, and a new one may have the form of an old one.
fn agree_less_often(chosen: &[&OpDef], kept: &AgreementRecord, found: &AgreementRecord) -> String {
    let mut out = String::new();
    for op in chosen {
        let (Some(kept), Some(found)) = (kept.operators.get(op.name), found.operators.get(op.name)) else { continue };
        for (what, before, now) in
            [("inference", kept.inference, found.inference), ("values", kept.values, found.values)]
        {
            if now.agree < before.agree {
                let (name, now, before) = (op.name, now.agree, before.agree);
                let _ = writeln!(out, "{name}: {what} agrees {now} times, {before} times are kept");
            }
        }
    }
    out
}

fn update(adapter: &Adapter, agreement: &AgreementRecord) -> Result<(), Failure> {
    let (Some(name), Some(root)) = (adapter.ledger_name(), checkout::root()) else {
        return Err(Failure::unreadable("--update needs a named adapter inside a checkout"));
    };
    let path = root.join(format!("conformance/agreement/{name}.ron"));
    let pretty = ron::ser::PrettyConfig::new().depth_limit(2).separate_tuple_members(false);
    let text = ron_options().to_string_pretty(agreement, pretty).map_err(Failure::unreadable)?;
    write_atomically(&path, (text + "\n").as_bytes())?;
    note(&format!("wrote {}\n", path.display()));
    Ok(())
}

/// The divergences that are known by their case.
fn ledger(adapter: &Adapter) -> Result<Ledger, Failure> {
    let Some(name) = adapter.ledger() else { return Ok(Ledger::default()) };
    Ledger::parse(&kept_text(&name.file(None))?, name.version).map_err(Failure::unreadable)
}

/// A file of `conformance/ledger`, from the checkout, or else the built-in copy.
fn kept_text(name: &str) -> Result<String, Failure> {
    let path = checkout::root().map(|root| root.join(format!("conformance/ledger/{name}.ron")));
    match path.filter(|path| path.exists()) {
        Some(path) => {
            checkout::read_regular(&path).map_err(|e| Failure::unreadable(format!("{}: {e}", path.display())))
        }
        None => Ok(conformance::ledger(name).unwrap_or_else(|| "[]".to_string())),
    }
}

/// The divergences that are known by their form; the releases of an implementation share them.
fn patterns(adapter: &Adapter) -> Result<Vec<OperatorPattern>, Failure> {
    let family = adapter.ledger_name().and_then(|name| name.split('-').next().map(str::to_string));
    let Some(name) = family.map(|family| format!("{family}-operators")) else { return Ok(Vec::new()) };
    ron_options().from_str(&kept_text(&name)?).map_err(|error| Failure::unreadable(format!("ledger {name}: {error}")))
}

fn kept_agreement(adapter: &Adapter) -> Result<AgreementRecord, Failure> {
    let kept = agreement::kept().map_err(|error| Failure::unreadable(format!("conformance/agreement: {error}")))?;
    let name = adapter.ledger_name();
    let mut found =
        kept.into_iter().find(|(kept, _)| Some(kept.as_str()) == name.as_deref()).map(|(_, a)| a).unwrap_or_default();
    found.implementation = adapter.to_string();
    Ok(found)
}

fn infer(
    args: &Args,
    suite: &[Case],
    chosen: &[&OpDef],
    adapter: &Adapter,
    interrupt: &Interrupt,
    agreement: &mut AgreementRecord,
    findings: &mut String,
) -> Result<(), Failure> {
    let known = patterns(adapter)?;
    let mut implementation = start(adapter, args.limits(), interrupt)?;
    let version = adapter.to_string().rsplit('@').next().unwrap_or_default().to_string();
    let bar = progress(ProgressBar::new(chosen.len() as u64).with_message(adapter.to_string()));
    for op in chosen {
        let mut inference = AgreementTally::default();
        for question in questions(op, suite) {
            let given = implementation.ask(implementation.edition(), &question.ask)?;
            let answered = judge(op, &question, &given, &known, &version, implementation.edition());
            inference.add(&answered);
            match &answered {
                AgreementOutcome::Agree | AgreementOutcome::Known(_) => {}
                AgreementOutcome::Unsupported(what) => {
                    let _ = writeln!(findings, "{} [{}] unsupported: {what}", op.name, question.what);
                }
                AgreementOutcome::Unexplained { expected, given } => {
                    let given: String =
                        given.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(400).collect();
                    let _ = writeln!(
                        findings,
                        "{} [{}]\n  expected {expected}\n  given    {given}",
                        op.name, question.what
                    );
                }
            }
        }
        agreement.operators.entry(op.name.to_string()).or_default().inference = inference;
        bar.inc(1);
    }
    bar.finish_and_clear();
    kept_to_the_protocol(&mut implementation)
}

fn values(
    args: &Args,
    suite: &[Case],
    chosen: &[&OpDef],
    adapter: &Adapter,
    interrupt: &Interrupt,
    agreement: &mut AgreementRecord,
    findings: &mut String,
) -> Result<(), Failure> {
    let is_chosen = |op: &'static OpDef| chosen.iter().any(|c| c.name == op.name);
    let cases: Vec<&Case> = suite.iter().filter(|case| ops_of_case(case).any(is_chosen)).collect();
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let launch = launch(adapter, args.limits(), interrupt)?;
    let ledger = ledger(adapter)?;
    let first = launch.start()?;
    let bar = progress(ProgressBar::new(cases.len() as u64).with_message(adapter.to_string()));
    let schedule = SuiteSchedule { edition: first.edition(), jobs, retries: runner::RETRIES };
    let result = runner::run(&cases, schedule, ImplementationPool { first, start: &|| launch.start() }, &|_, seen| {
        bar.inc(u64::from(seen == Seen::First));
        true
    });
    bar.finish_and_clear();
    if let Some(failure) = result.failure {
        return Err(failure.into());
    }
    for op in chosen {
        let entry = agreement.operators.entry(op.name.to_string()).or_default();
        (entry.values, entry.used) = (AgreementTally::default(), None);
    }
    for result in result.results {
        let Some(case) = cases.get(result.index) else { continue };
        let verdict = result.comparison.verdict;
        let known = matches!(ledger.standing(&case.id, verdict), Standing::Known(_));
        if verdict.is_finding() && !known {
            let why = result.comparison.why.clone().unwrap_or_default();
            let why: String = why.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(600).collect();
            let _ = writeln!(findings, "{}: {verdict}: {why}", case.id);
        }
        for op in ops_of_case(case).filter(|op| is_chosen(op)) {
            count_case(agreement.operators.entry(op.name.to_string()).or_default(), case, &result, known);
        }
    }
    Ok(())
}

/// The rule that a pattern names must exist for each of its operators.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ledgers_of_forms_name_operators_and_clauses() {
        for adapter in Adapter::named(Some("tvm@0.25"), STARTUP).unwrap() {
            for pattern in patterns(&adapter).unwrap() {
                assert!(!pattern.reason.trim().is_empty());
                for name in &pattern.ops {
                    let op = ops::lookup(name).unwrap_or_else(|| panic!("{name}"));
                    assert!(agreement::clause(op, &pattern.clause).is_some(), "{name}: {}", pattern.clause);
                }
            }
        }
    }
}
