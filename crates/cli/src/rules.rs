//! `relax-spec rules`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rayon::prelude::*;
use serde_json::{Value, json};

use super::terminal::remark;
use super::{CommandResult, Exit, Failure, explain, note, options, print};
use ask::conformance;
use ask::sites::RuleSites;
use ask::standing::{PremiseStanding, RuleStanding, StandingRecord};
use relax_spec::book::{Edition, Proposal, Rule, Status, or_meant, search};
use relax_spec::judge::{Mistake, RowMutant};
use relax_spec::suite::knockout::{self, Baseline, Figures, Reasons, Shows};

/// List the rules of the specification: where each is implemented, which cases exercise it, whether it is needed
#[derive(clap::Args)]
#[command(
    after_help = "The effect of switching a rule off: some answer changes (flips), there is no answer any more (stuck),
or no case notices (redundant, if the reason is known).

Examples:
  relax-spec rules
  relax-spec rules SI.UNIFY. SUB.
  relax-spec rules lub
  relax-spec rules search join of tuples
  relax-spec rules --knockout
  relax-spec rules --json | jq 'select(.status == \"pending\") | .id'"
)]
pub struct Args {
    /// Prefixes of rule ids, or words that must all occur in the id, heading or text; by default, all rules. After
    /// `search`: the rules and errata with the words, the best first, with what they say
    #[arg(value_name = "PREFIX|WORD")]
    prefixes: Vec<String>,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
    /// Only the rules of this edition
    #[arg(long, value_name = "EDITION", value_parser = options::edition)]
    edition: Option<Edition>,
    /// Only the rules of this edition that are not implemented yet
    #[arg(long, value_name = "EDITION", value_parser = options::edition)]
    pending: Option<Edition>,
    /// Only the rules of this proposal
    #[arg(long, value_name = "NAME", value_parser = options::proposal)]
    proposal: Option<Proposal>,
    /// Figures for each chapter, the rules that no answer depends on, and mistakes in definitions by cases
    #[arg(long, conflicts_with = "json")]
    knockout: bool,
}

/// The record of a rule.
pub struct RuleRow<'s> {
    pub rule: Rule,
    /// The standing; `None` if the rule is newer than the record.
    pub standing: Option<&'s RuleStanding>,
    /// The reason why it flips no answer, if known.
    pub why: Option<String>,
    /// `file:line` of each place that applies it.
    pub sites: Vec<&'s str>,
}

/// The records of all rules.
pub struct RuleRecords {
    standing: StandingRecord,
    sites: RuleSites,
    redundant: Reasons,
    stuck: Reasons,
}

impl RuleRecords {
    /// The stored records. Reports if they belong to a different suite.
    pub fn kept() -> Result<RuleRecords, Failure> {
        let standing = StandingRecord::read().map_err(Failure::unreadable)?;
        if !standing.is_current() {
            remark("note: the suite has changed since its record; `cargo xtask regenerate` renews it\n");
        }
        RuleRecords::of(standing)
    }

    fn of(standing: StandingRecord) -> Result<RuleRecords, Failure> {
        Ok(RuleRecords {
            standing,
            sites: RuleSites::read(),
            redundant: knockout::redundant().map_err(|e| Failure::unreadable(format!("spec/redundant.ron: {e}")))?,
            stuck: knockout::stuck().map_err(|e| Failure::unreadable(format!("spec/stuck.ron: {e}")))?,
        })
    }

    /// The record of a rule, including knock-out.
    pub fn row(&self, rule: Rule) -> RuleRow<'_> {
        RuleRow {
            rule,
            standing: self.standing.rule(rule),
            why: self.redundant.get(&rule).or_else(|| self.stuck.get(&rule)).cloned(),
            sites: self.sites.of(rule),
        }
    }
}

pub fn status_name(status: Status) -> &'static str {
    match status {
        Status::Implemented => "implemented",
        Status::Excluded => "excluded",
        Status::Pending => "pending",
    }
}

impl RuleRow<'_> {
    /// `flips`, `stuck` or `redundant`; `None` if no case notices. (`panics` fails the tests.)
    pub fn knockout_name(&self) -> Option<&'static str> {
        match (self.shows(), &self.why) {
            (shows @ (Shows::Panics | Shows::Flips | Shows::Stuck), _) => Some(shows.name()),
            (Shows::Survives | Shows::NoCase, Some(_)) => Some("redundant"),
            (Shows::Survives | Shows::NoCase, None) => None,
        }
    }

    /// The effect of switching it off.
    pub fn shows(&self) -> Shows {
        self.standing.map_or(Shows::NoCase, |standing| standing.shows)
    }

    /// The cases that claim it.
    pub fn cases(&self) -> Vec<&str> {
        self.standing.iter().flat_map(|standing| &standing.cases).map(String::as_str).collect()
    }

    /// The reason why the rule is excluded, or why no case flips without it.
    fn reason(&self) -> Option<&str> {
        self.rule.info().excluded.or(self.why.as_deref())
    }

    pub fn to_json(&self) -> Value {
        let info = self.rule.info();
        let premises = self.standing.iter().flat_map(|standing| &standing.premises);
        let premises: Vec<Value> = premises
            .map(|PremiseStanding { n, fails_in }| {
                json!({ "n": n, "fails_in": fails_in.such_as, "fails_in_all": fails_in.number })
            })
            .collect();
        json!({
            "id": info.id,
            "chapter": self.rule.chapter(),
            // An edition counts as soon as its text is implemented.
            "editions": editions(self.rule, false),
            "pending": editions(self.rule, true),
            "later": info.later.iter().map(|later| json!({
                "edition": later.edition,
                "source": later.source,
                "statement": later.text,
            })).collect::<Vec<Value>>(),
            "proposal": info.proposal,
            "over": info.over,
            "kind": info.kind,
            "chevron": info.chevron,
            "source": info.source,
            "text": format!("{}:{}", info.file, info.line),
            "statement": info.text,
            "needs": info.needs,
            "status": status_name(self.rule.status()),
            "reason": self.reason(),
            "sites": self.sites,
            "cases": self.cases(),
            "knockout": self.knockout_name(),
            "flips": self.standing.map(|standing| &standing.flips.such_as),
            "flips_in_all": self.standing.map(|standing| standing.flips.number),
            "stuck": self.standing.map(|standing| &standing.stuck.such_as),
            "stuck_in_all": self.standing.map(|standing| standing.stuck.number),
            "premises": premises,
            "errata": info.errata,
        })
    }
}

/// The editions that state a rule: those whose text is not implemented yet, or the others.
fn editions(rule: Rule, pending: bool) -> Vec<&'static str> {
    let stated = Edition::ALL.into_iter().filter(|edition| rule.statement(*edition).is_some());
    stated.filter(|edition| rule.is_pending_in(*edition) == pending).map(Edition::name).collect()
}

/// The prefixes of rule ids, up to each of their dots, and the ids themselves.
fn prefixes() -> impl Iterator<Item = &'static str> {
    Rule::ALL.iter().map(|rule| rule.id()).flat_map(|id| {
        let dots = id.match_indices('.').filter_map(move |(at, _)| id.get(..=at));
        dots.chain([id])
    })
}

pub fn run(args: &Args) -> CommandResult {
    if let [search, words @ ..] = args.prefixes.as_slice()
        && search == "search"
        && !words.is_empty()
    {
        let found = explain::by_words(&words.join(" "));
        let none =
            || Failure::new(Exit::NothingRan, format!("no rule and no erratum has the words {}", words.join(" ")));
        print(&found.ok_or_else(none)?)?;
        return Ok(Exit::AsExpected);
    }
    let begins = |rule: &Rule| args.prefixes.is_empty() || args.prefixes.iter().any(|p| rule.id().starts_with(p));
    let of_edition = |rule: &Rule| {
        args.edition.is_none_or(|edition| rule.statement(edition).is_some())
            && args.pending.is_none_or(|edition| rule.is_pending_in(edition))
            && args.proposal.is_none_or(|proposal| rule.info().proposal == Some(proposal.name()))
    };
    let mut named: Vec<Rule> = Rule::ALL.iter().copied().filter(begins).collect();
    if named.is_empty() {
        named = by_words(&args.prefixes);
    }
    let rules: Vec<Rule> = named.iter().copied().filter(of_edition).collect();
    if named.is_empty() {
        let meant = args.prefixes.iter().map(|prefix| or_meant(prefix, prefixes())).collect::<String>();
        let words = args.prefixes.join(" or ");
        let message = format!("no rule id begins with {words}, and no rule has all the words{meant}");
        return Err(Failure::new(Exit::NothingRan, message));
    }
    if rules.is_empty() {
        note(&format!("{}\n", none_left(args)));
        return Ok(Exit::AsExpected);
    }
    if args.knockout {
        let suite = conformance::suite()?;
        let baseline = Baseline::of(&suite);
        let evidence = RuleRecords::of(StandingRecord::measure(&suite, &baseline, &rules))?;
        let rows: Vec<RuleRow> = rules.iter().map(|rule| evidence.row(*rule)).collect();
        print(&(figures(&rows) + &mistakes(&baseline, &rules)?))?;
        return Ok(Exit::AsExpected);
    }
    let evidence = RuleRecords::kept()?;
    let rows: Vec<RuleRow> = rules.iter().map(|rule| evidence.row(*rule)).collect();
    print(&if args.json { json_lines(&rows)? } else { human(&rows) })?;
    Ok(Exit::AsExpected)
}

/// The rules that have all the words in their ids, headings or texts, in the order of the ids.
fn by_words(words: &[String]) -> Vec<Rule> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut found: Vec<Rule> = search(&words).into_iter().map(|(_, rule)| rule).collect();
    found.sort();
    found
}

/// The message if no rule is left: the edition states none of the named rules, or none of them is pending.
fn none_left(args: &Args) -> String {
    let named = if args.prefixes.is_empty() { String::new() } else { format!(" under {}", args.prefixes.join(" or ")) };
    match (args.pending, args.edition) {
        (Some(pending), None) => format!("nothing is pending in edition {pending}{named}"),
        (Some(pending), Some(edition)) => {
            format!("nothing that edition {edition} states is pending in edition {pending}{named}")
        }
        (None, Some(edition)) => format!("edition {edition} states no rule{named}"),
        (None, None) => format!("there is no rule{named}"),
    }
}

/// One line for each chapter, and the rules that flip no answer.
fn figures(rows: &[RuleRow]) -> String {
    let mut by_chapter: BTreeMap<&str, Figures> = BTreeMap::new();
    let mut total = Figures::default();
    for row in rows {
        let shows = row.shows();
        by_chapter.entry(row.rule.chapter()).or_default().count(shows);
        total.count(shows);
    }
    let width = by_chapter.keys().map(|chapter| chapter.len()).max().unwrap_or_default();
    let mut out = format!("{:<width$}  with cases", "");
    for shows in Shows::ALL {
        let _ = write!(out, "  {:>8}", shows.name());
    }
    out.push('\n');
    for (chapter, figures) in by_chapter.iter().map(|(chapter, figures)| (*chapter, figures)).chain([("all", &total)]) {
        let _ = write!(out, "{chapter:<width$}  {:>10}", figures.with_cases());
        for shows in Shows::ALL {
            let _ = write!(out, "  {:>8}", figures.of(shows));
        }
        out.push('\n');
    }
    for row in rows.iter().filter(|row| matches!(row.shows(), Shows::Panics | Shows::Stuck | Shows::Survives)) {
        let shows = row.shows().name();
        let _ = writeln!(out, "{shows}: {}  {}", row.rule, row.why.as_deref().unwrap_or("(no reason is known)"));
    }
    out
}

/// The mistakes in definitions by cases, with those that no case notices.
fn mistakes(baseline: &Baseline, rules: &[Rule]) -> Result<String, Failure> {
    let known = knockout::equivalent_rows();
    let known = known.map_err(|e| Failure::unreadable(format!("spec/equivalent_rows.ron: {e}")))?;
    let why: BTreeMap<RowMutant, &str> =
        known.iter().flat_map(|group| group.mutants().map(|mutant| (mutant, group.why.as_str()))).collect();
    let mutants: Vec<RowMutant> =
        baseline.row_mutants().into_iter().filter(|mutant| rules.contains(&mutant.rule)).collect();
    let survivors: Vec<RowMutant> =
        mutants.par_iter().with_max_len(1).filter(|mutant| baseline.killer(**mutant).is_none()).copied().collect();
    let rows = mutants.iter().filter(|mutant| mutant.mistake == Mistake::Dropped).count();
    let mut out = format!("{rows} rows, {} mistakes, {} make no difference\n", mutants.len(), survivors.len());
    for mutant in survivors {
        let why = why.get(&mutant).copied().unwrap_or("(no reason is known)");
        let _ = writeln!(out, "{}: {}  {why}", mutant.mistake.name(), mutant.rule);
    }
    Ok(out)
}

fn json_lines(rows: &[RuleRow]) -> Result<String, Failure> {
    let mut out = String::new();
    for row in rows {
        out.push_str(&serde_json::to_string(&row.to_json()).map_err(Failure::unreadable)?);
        out.push('\n');
    }
    Ok(out)
}

fn human(rows: &[RuleRow]) -> String {
    let width = rows.iter().map(|row| row.rule.id().len()).max().unwrap_or_default();
    let mut out = String::new();
    let mut totals: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows {
        let status = status_name(row.rule.status());
        *totals.entry(status).or_default() += 1;
        let cases = match row.cases().len() {
            0 => String::new(),
            1 => "1 case".to_string(),
            n => format!("{n} cases"),
        };
        let knockout = row.knockout_name().unwrap_or_default();
        let _ = writeln!(out, "{:<width$}  {status:<11}  {cases:>9}  {knockout:<9}", row.rule.id());
    }
    let totals: Vec<String> = totals.iter().map(|(status, n)| format!("{n} {status}")).collect();
    let _ = writeln!(out, "\n{} rules: {}", rows.len(), totals.join(", "));
    out
}
