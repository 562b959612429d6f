//! What becomes of the releases of Apache TVM under the edition that they claim, by classes: a page of the book, written from the ledgers.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;

use ask::conformance;
use relax_spec::book::{Edition, Rule, ron_options};
use relax_spec::suite::ledger::{DeviationClass, Ledger, LedgerError};

/// The edition that TVM's adapter claims for every release.
pub const CLAIMED: Edition = Edition::E2024_04;

/// The releases that share the ledgers.
pub const RELEASES: [&str; 3] = ["0.25", "0.26", "0.27"];

/// The ledgers, and what they are about.
pub const LEDGERS: [(&str, &str); 2] = [
    ("tvm", "Apache TVM under the suite"),
    ("tvm-executables", "What Apache TVM compiles programs to, run on the machine of the RFC"),
];

/// The ledger of what campaigns find, by forms of findings and not by cases.
pub const FORMS: &str = "tvm-programs";

/// A form of findings, as far as a table of classes goes.
#[derive(Deserialize)]
struct LedgerForm {
    class: Option<DeviationClass>,
    clause: Option<Rule>,
    reason: String,
}

/// `spec/src/implementations.md`.
///
/// # Errors
///
/// A ledger cannot be read.
pub fn page() -> Result<String, LedgerError> {
    let mut out = format!(
        "# Implementations\n\n\
         Written by `cargo xtask regenerate` from `conformance/ledger/`. The adapter of Apache TVM claims edition {CLAIMED} \
         for every release, and by that edition it is judged. Of each known divergence the ledger has a class and the clause that decides:\n\n"
    );
    for class in DeviationClass::ALL {
        let _ = writeln!(out, "* *{class}*: {}", class.meaning());
    }
    for (family, title) in LEDGERS {
        let _ = write!(out, "\n## {title}\n\n");
        out.push_str(&table(family)?);
        out.push_str(&clauses(family)?);
    }
    out.push_str("\n## What campaigns find, by forms of findings\n\nThe releases share their forms.\n\n");
    out.push_str(&forms()?);
    Ok(out)
}

/// How many forms of findings each class has.
fn forms() -> Result<String, LedgerError> {
    let forms: Vec<LedgerForm> =
        ron_options().from_str(&conformance::ledger(FORMS).unwrap_or_else(|| "[]".to_string()))?;
    let mut out = String::from("| class | forms |\n| --- | ---: |\n");
    for class in DeviationClass::ALL {
        row(&mut out, class.name(), [forms.iter().filter(|form| form.class == Some(class)).count()].into_iter());
    }
    row(&mut out, "**all**", [forms.len()].into_iter());
    let mut reasons: BTreeMap<(DeviationClass, Rule), Vec<String>> = BTreeMap::new();
    for LedgerForm { class, clause, reason } in forms {
        if let (Some(class), Some(clause)) = (class, clause) {
            reasons.entry((class, clause)).or_default().push(reason);
        }
    }
    out.push_str(&listed(&reasons, "forms"));
    Ok(out)
}

/// The ledger of a family as a release sees it.
fn ledger(family: &str, release: &str) -> Result<Ledger, LedgerError> {
    Ledger::parse(&conformance::ledger(family).unwrap_or_else(|| "[]".to_string()), release)
}

/// How many entries each class has, release by release.
fn table(family: &str) -> Result<String, LedgerError> {
    let ledgers = RELEASES.iter().map(|release| ledger(family, release)).collect::<Result<Vec<_>, _>>()?;
    let mut out = format!("| class | {} |\n| --- |{}\n", RELEASES.join(" | "), " ---: |".repeat(RELEASES.len()));
    for class in DeviationClass::ALL {
        let counts = ledgers.iter().map(|ledger| ledger.entries().filter(|entry| entry.class == Some(class)).count());
        row(&mut out, class.name(), counts);
    }
    row(&mut out, "**all**", ledgers.iter().map(|ledger| ledger.entries().count()));
    Ok(out)
}

fn row(out: &mut String, name: &str, counts: impl Iterator<Item = usize>) {
    let counts: Vec<String> = counts.map(|count| count.to_string()).collect();
    let _ = writeln!(out, "| {name} | {} |", counts.join(" | "));
}

/// The clauses that decide what is no defect, with the cases of each in any release.
fn clauses(family: &str) -> Result<String, LedgerError> {
    let mut cases: BTreeMap<(DeviationClass, Rule), Vec<String>> = BTreeMap::new();
    for release in RELEASES {
        for entry in ledger(family, release)?.entries() {
            if let (Some(class), Some(clause)) = (entry.class, entry.clause) {
                let cases = cases.entry((class, clause)).or_default();
                if !cases.contains(&entry.case) {
                    cases.push(entry.case.clone());
                }
            }
        }
    }
    Ok(listed(&cases, "cases"))
}

/// The clauses, class by class, each with how many there are of it.
fn listed(by_clause: &BTreeMap<(DeviationClass, Rule), Vec<String>>, what: &str) -> String {
    let mut out = format!("\nThe clauses of what is no defect, each with the number of its {what}:\n\n");
    for class in DeviationClass::ALL.into_iter().filter(|class| *class != DeviationClass::Defect) {
        let of_class = by_clause.iter().filter(|((of, _), _)| *of == class);
        let mut named: Vec<String> =
            of_class.map(|((_, clause), ones)| format!("`{}` {}", clause.id(), ones.len())).collect();
        named.sort();
        let named = if named.is_empty() { "none".to_string() } else { named.join(", ") };
        let _ = writeln!(out, "* *{class}*: {named}");
    }
    out
}
