//! `relax-spec rules`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Exit, Failure, Outcome, print};
use crate::book::{Rule, Status};
use crate::conformance::case::{Case, embedded_suite};
use crate::conformance::coverage::{self, Knockout};

/// List the rules of the specification: where each is implemented, which cases exercise it, whether it is needed
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec rules
  relax-spec rules SI.UNIFY. SUB.
  relax-spec rules --json | jq 'select(.status == \"pending\") | .id'")]
pub struct Args {
    /// Beginnings of rule ids; without any, all rules
    #[arg(value_name = "PREFIX")]
    prefixes: Vec<String>,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

/// What is known of a rule.
pub struct Row<'a> {
    pub rule: Rule,
    pub cases: Vec<&'a str>,
    pub knockout: Knockout,
    /// Why no case can kill it, if that is known.
    pub redundant: Option<String>,
}

/// The table of all rules, knock-out included.
pub fn table(suite: &[Case]) -> Result<Vec<Row<'_>>, Failure> {
    let claims = coverage::claims(suite);
    let mut redundant = coverage::redundant().map_err(|e| Failure::unreadable(format!("spec/redundant.ron: {e}")))?;
    Ok(coverage::knock_out(suite)
        .into_iter()
        .map(|(rule, knockout)| Row {
            rule,
            cases: claims.get(&rule).into_iter().flatten().map(|case| case.id.as_str()).collect(),
            knockout,
            redundant: redundant.remove(&rule),
        })
        .collect())
}

pub fn status_name(status: Status) -> &'static str {
    match status {
        Status::Implemented => "implemented",
        Status::Excluded => "excluded",
        Status::Pending => "pending",
    }
}

impl Row<'_> {
    /// `killed`, `redundant`, or nothing where no case tells.
    pub fn knockout_name(&self) -> Option<&'static str> {
        match (self.knockout, &self.redundant) {
            (Knockout::Killed, _) => Some("killed"),
            (Knockout::Survived | Knockout::NoCase, Some(_)) => Some("redundant"),
            (Knockout::Survived | Knockout::NoCase, None) => None,
        }
    }

    /// Why the rule is excluded, or why no case can kill it.
    fn reason(&self) -> Option<&str> {
        self.rule.info().excluded.or(self.redundant.as_deref())
    }

    fn to_json(&self) -> Value {
        let info = self.rule.info();
        json!({
            "id": info.id,
            "chapter": self.rule.chapter(),
            "editions": info.editions,
            "kind": info.kind,
            "chevron": info.chevron,
            "source": info.source,
            "text": format!("{}:{}", info.file, info.line),
            "needs": info.needs,
            "status": status_name(self.rule.status()),
            "reason": self.reason(),
            "sites": info.sites,
            "cases": self.cases,
            "knockout": self.knockout_name(),
            "errata": info.errata,
        })
    }
}

pub fn run(args: &Args) -> Outcome {
    let suite = embedded_suite()?;
    let wanted = |row: &Row| args.prefixes.is_empty() || args.prefixes.iter().any(|p| row.rule.id().starts_with(p));
    let rows: Vec<Row> = table(&suite)?.into_iter().filter(wanted).collect();
    if rows.is_empty() {
        return Err(Failure::new(Exit::NothingRan, format!("no rule id begins with {}", args.prefixes.join(" or "))));
    }
    let text = if args.json { json_lines(&rows)? } else { human(&rows) };
    print(&text)?;
    Ok(Exit::AsExpected)
}

fn json_lines(rows: &[Row]) -> Result<String, Failure> {
    let mut out = String::new();
    for row in rows {
        out.push_str(&serde_json::to_string(&row.to_json()).map_err(Failure::unreadable)?);
        out.push('\n');
    }
    Ok(out)
}

fn human(rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.rule.id().len()).max().unwrap_or_default();
    let mut out = String::new();
    let mut totals: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows {
        let status = status_name(row.rule.status());
        *totals.entry(status).or_default() += 1;
        let cases = match row.cases.len() {
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
