//! Checks that the text, the code and the golden cases agree. Each test fails separately when they drift apart.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ask::conformance;
use ask::sites::RuleSites;
use ask::standing::{self, RuleStanding, StandingRecord};

use campaign::agreement;
use campaign::questions::questions;
use campaign::trials::UNDERIVED;
use rayon::prelude::*;
use relax_spec::book::erratum::ErratumWitness;
use relax_spec::book::{Edition, Erratum, Rule, RuleSet, Status};
use relax_spec::judge::RowMutant;
use relax_spec::ops::{self, Clauses, OpDef};
use relax_spec::question::{Answer, Ask, Outcome, ReadAnswer, Verdict};
use relax_spec::suite::compare::{CaseVerdict, compare};
use relax_spec::suite::knockout::{self, Baseline, EquivalentRows, Shows};
use relax_spec::suite::{Case, coverage};

/// Prefixes of rule ids under which every rule is implemented or excluded. Chapters are added when they are complete,
/// and are never removed.
const COMPLETE: &[&str] = &[
    "AST22.",
    "BUILTIN.",
    "CONV.",
    "EQ.",
    "EVAL.",
    "GLB.",
    "GRAM.",
    "LUB.",
    "MEM.",
    "META.",
    "MOD.",
    "NF.",
    "OP.",
    "OPS.",
    "OPT.",
    "PR14148.",
    "PURE.",
    "R89.",
    "RELAY.",
    "RT.",
    "SCOPE.",
    "SI.",
    "SUB.",
    "TC.",
    "TYPE.",
    "VAL.",
    "WF.",
    "PURITY.",
    "SUBSI.",
    "WF23-12.",
    "PRIMFUNC.",
    "VDEV.",
    "DEV.",
    "TRADTYPE.",
    "PURITY3.",
];

fn suite() -> Vec<Case> {
    conformance::suite().unwrap()
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Fails with a list, if it is not empty.
fn assert_none(what: &str, found: Vec<String>) {
    assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
}

#[test]
fn every_rule_of_a_complete_chapter_is_implemented_or_excluded() {
    // A rule that only later editions have and that is in preparation there is marked as such.
    let pending = |rule: &&Rule| rule.status() == Status::Pending && !rule.info().pending;
    let complete = |rule: &&Rule| COMPLETE.iter().any(|prefix| rule.id().starts_with(prefix));
    let missing = Rule::ALL.iter().filter(pending).filter(complete).map(|rule| rule.id().to_string()).collect();
    assert_none("neither implemented nor excluded", missing);
}

#[test]
fn every_complete_prefix_names_rules() {
    let empty = COMPLETE.iter().filter(|prefix| !Rule::ALL.iter().any(|rule| rule.id().starts_with(**prefix)));
    assert_none("no rule begins so", empty.map(ToString::to_string).collect());
}

#[test]
fn no_excluded_rule_fires_in_the_code() {
    let sites = RuleSites::read();
    let both = |rule: &&Rule| rule.status() == Status::Excluded && !sites.of(**rule).is_empty();
    let found = Rule::ALL.iter().filter(both);
    assert_none("excluded, but fired", found.map(|rule| format!("{rule} at {}", sites.of(*rule).join(", "))).collect());
    let neither = |rule: &&Rule| rule.status() == Status::Implemented && sites.of(**rule).is_empty();
    assert_none("implemented nowhere", Rule::ALL.iter().filter(neither).map(ToString::to_string).collect());
}

#[test]
fn claimed_is_recorded() {
    let differences = suite()
        .par_iter()
        .flat_map_iter(|case| case.editions.iter().filter_map(|edition| claimed_otherwise(case, *edition)))
        .collect();
    assert_none("the rules that a case claims are not those that it uses", differences);
}

/// The difference between the rules that a case claims and those that it uses in an edition.
fn claimed_otherwise(case: &Case, edition: Edition) -> Option<String> {
    let claimed = case.rules_in(edition);
    let recorded: BTreeSet<Rule> = coverage::execute(case, edition, RuleSet::new()).recorded.iter().collect();
    // A rule that the corrected reading does not use may matter in the literal one.
    let literally: BTreeSet<Rule> = coverage::recorded_literally(case, edition).iter().collect();
    let unrecorded: Vec<&Rule> = claimed.iter().filter(|r| !recorded.contains(r) && !literally.contains(r)).collect();
    let unclaimed: Vec<&Rule> =
        if case.ask.claims_exactly() { recorded.difference(&claimed).collect() } else { Vec::new() };
    if unrecorded.is_empty() && unclaimed.is_empty() && !claimed.is_empty() {
        return None;
    }
    let of = if claimed.is_empty() { ": no rule that it claims is of this edition" } else { "" };
    Some(format!("{} in {edition}{of}: claimed only {unrecorded:?}, recorded only {unclaimed:?}", case.id))
}

/// No edition uses rules of another.
#[test]
fn a_case_records_rules_of_its_edition_only() {
    let strayed = suite()
        .par_iter()
        .flat_map_iter(|case| case.editions.iter().map(move |edition| (case, *edition)))
        .flat_map_iter(|(case, edition)| {
            let recorded = coverage::execute(case, edition, RuleSet::new()).recorded;
            let foreign = recorded.iter().filter(|rule| !rule.is_stated_by(case.basis_in(edition)));
            foreign.map(|rule| format!("{} in {edition}: {rule}", case.id)).collect::<Vec<String>>()
        })
        .collect();
    assert_none("rules of another edition", strayed);
}

/// Whether an edition has its own text for a rule.
fn is_worded_by(rule: Rule, edition: Edition) -> bool {
    rule.statement(edition).is_some_and(|statement| statement.edition == edition.name())
}

/// A clause with new text in a later edition is excluded, has a case in that edition, or is marked as not implemented
/// yet.
#[test]
fn what_a_later_edition_says_is_shown_in_it() {
    let suite = suite();
    let claims = coverage::claims(&suite);
    let mut wrong = Vec::new();
    for edition in Edition::ALL.into_iter().skip(1) {
        for rule in Rule::ALL.iter().copied().filter(|rule| is_worded_by(*rule, edition)) {
            let shown = claims.get(&rule).is_some_and(|cases| {
                cases.iter().any(|case| case.editions.contains(&edition) && case.rules_in(edition).contains(&rule))
            });
            match (rule.is_pending_in(edition), rule.excluded_in(edition).is_some(), shown) {
                (false, false, false) => wrong.push(format!("{rule}: no case of {edition} claims it")),
                (true, true, _) => wrong.push(format!("{rule}: pending in {edition}, and excluded")),
                (true, false, true) => wrong.push(format!("{rule}: pending in {edition}, but a case of it claims it")),
                (false, _, _) | (true, false, false) => {}
            }
        }
    }
    assert_none("later editions", wrong);
}

/// A later edition keeps or restates the rules of the one before it, or drops a rule for good.
#[test]
fn the_editions_of_a_rule_are_a_row_without_gaps() {
    let names = Edition::ALL.map(Edition::name);
    let gaps = Rule::ALL.iter().filter(|rule| {
        let editions = rule.info().editions;
        rule.info().proposal.is_none() && !names.windows(editions.len()).any(|row| row == editions)
    });
    assert_none("editions with gaps", gaps.map(|rule| format!("{rule}: {:?}", rule.info().editions)).collect());
    let both = Rule::ALL.iter().flat_map(|rule| {
        let before = rule.info().succeeds.iter().filter_map(|id| id.parse::<Rule>().ok());
        let shared = before.filter(|old| old.info().editions.iter().any(|e| rule.info().editions.contains(e)));
        shared.map(move |old| format!("{rule} succeeds {old}, which stands in an edition of it"))
    });
    assert_none("successors", both.collect());
}

#[test]
fn the_lock_is_up_to_date() {
    let (suite, dir) = (suite(), root().join("conformance/lock"));
    let locks = coverage::locks(&suite);
    for (chapter, now) in &locks {
        let kept = fs::read_to_string(dir.join(format!("{chapter}.lock"))).unwrap_or_default();
        let lines: BTreeSet<&str> = kept.lines().collect();
        let stale: Vec<String> = now.lines().filter(|line| !lines.contains(line)).map(str::to_string).collect();
        assert_none("changed since `relax-spec conform --update-lock`", stale);
        assert_eq!(kept, *now, "{chapter}: run `relax-spec conform --update-lock`");
    }
    assert_eq!(fs::read_dir(&dir).unwrap().count(), locks.len(), "a lock without a chapter");
}

/// At most one of this many rules may be only stuck.
const STUCK_OF: usize = 20;

#[test]
fn switching_a_rule_off_is_noticed() {
    let suite = suite();
    let (redundant, stuck) = (knockout::redundant().unwrap(), knockout::stuck().unwrap());
    let record = StandingRecord::measure(&suite, &Baseline::of(&suite), Rule::ALL);
    let standings: Vec<&RuleStanding> = Rule::ALL.iter().filter_map(|rule| record.rule(*rule)).collect();
    assert_eq!(standings.len(), Rule::ALL.len());
    let wrong = standings.iter().filter_map(|RuleStanding { rule, shows, flips, stuck: needed, panics, .. }| {
        let because = match (shows, redundant.contains_key(rule), stuck.contains_key(rule)) {
            (Shows::Panics, _, _) => format!("panics when it is switched off: {}", panics.such_as.join(", ")),
            (Shows::Survives, false, _) => "changes nothing and is not in spec/redundant.ron".to_string(),
            (Shows::Flips, true, _) => format!("is in spec/redundant.ron, but flips {}", flips.such_as.join(", ")),
            (Shows::Stuck, true, _) => {
                format!("is in spec/redundant.ron, but needed by {}", needed.such_as.join(", "))
            }
            (Shows::NoCase, true, _) => "is in spec/redundant.ron, but no case proves it".to_string(),
            (Shows::Flips | Shows::Survives | Shows::NoCase, _, true) => "is in spec/stuck.ron, but is not".to_string(),
            (Shows::Flips | Shows::NoCase, false, false)
            | (Shows::Survives, true, false)
            | (Shows::Stuck, false, _) => {
                return None;
            }
        };
        Some(format!("{rule} {because}"))
    });
    assert_none("knock-out", wrong.collect());
    let with_cases = standings.iter().filter(|standing| standing.shows != Shows::NoCase).count();
    assert!(stuck.len() * STUCK_OF <= with_cases, "{} of {with_cases} rules are only stuck", stuck.len());
    let without_reason: Vec<String> = standings
        .iter()
        .filter(|standing| standing.shows == Shows::Stuck && !stuck.contains_key(&standing.rule))
        .map(|standing| standing.rule.to_string())
        .collect();
    assert_none("stuck, and not in spec/stuck.ron", without_reason);
    let kept = fs::read_to_string(root().join(standing::FILE)).unwrap_or_default();
    assert!(record.to_text() == kept, "{} is stale: run `cargo xtask regenerate`", standing::FILE);
}

/// Knock-out asks only the cases that record a rule, so no other case may depend on it.
#[test]
fn a_case_depends_only_on_the_rules_that_it_records() {
    let suite = suite();
    let found = Baseline::of(&suite).depends_on_more_than_it_records();
    assert_none("these answer otherwise without rules that they do not record", to_strings(found));
}

/// At least this many rules are rows: of definitions by cases or by kinds, and of lists of conditions.
const ROWS: usize = 250;

#[test]
fn a_mistake_in_a_definition_by_cases_is_noticed() {
    let suite = suite();
    let groups = knockout::equivalent_rows().unwrap();
    assert_none("no reason", groups.iter().filter(|group| !is_text(&group.why)).map(|g| g.why.clone()).collect());
    let mut equivalent: BTreeSet<RowMutant> = groups.iter().flat_map(EquivalentRows::mutants).collect();
    let mut wrong = Vec::new();
    let mutants = Baseline::of(&suite).make_each_mistake();
    let rows: BTreeSet<Rule> = mutants.keys().map(|mutant| mutant.rule).collect();
    assert!(rows.len() >= ROWS, "only {} rules stand as rows", rows.len());
    for (mutant, killer) in mutants {
        let what = format!("{} {}", mutant.rule, mutant.mistake.name());
        match (killer, equivalent.remove(&mutant)) {
            (Some(case), true) => wrong.push(format!("{what}: is in spec/equivalent_rows.ron, but {case} tells it")),
            (None, false) => wrong.push(format!("{what}: no case tells, and it is not in spec/equivalent_rows.ron")),
            (Some(_), false) | (None, true) => {}
        }
    }
    wrong.extend(equivalent.iter().map(|m| format!("{} {}: there is no such mistake", m.rule, m.mistake.name())));
    assert_none("rows", wrong);
}

fn to_strings(found: Vec<&str>) -> Vec<String> {
    found.into_iter().map(str::to_string).collect()
}

/// The premises that the code tests, outside of its unit tests: `premise(rule!("ID"), n, ..)`, and the conditions of
/// lists, `(rule!("ID"), n, ..)`.
fn premises_in_the_code() -> BTreeSet<(Rule, usize)> {
    let mut found = BTreeSet::new();
    for file in files(&root().join("src"), "rs") {
        let text = fs::read_to_string(file).unwrap();
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for premise in code.split("rule!(\"").skip(1) {
            let (id, rest) = premise.split_once("\")").unwrap_or_default();
            let n = rest.strip_prefix(',').and_then(|rest| rest.split(',').next()?.trim().parse().ok());
            found.extend(id.parse().ok().zip(n));
        }
    }
    found
}

/// A premise that never fails could be removed.
#[test]
fn every_premise_fails_in_some_case() {
    let suite = suite();
    let tested = coverage::premises(&suite);
    // The premises that a function tests for several rules are known only from the cases.
    let mut premises = premises_in_the_code();
    premises.extend(tested.keys().map(|(rule, n, _)| (*rule, *n)));
    // A violation of a rule in spec/redundant.ron is reported by another rule.
    let redundant = knockout::redundant().unwrap();
    let fails = |(rule, n): &(Rule, usize)| tested.contains_key(&(*rule, *n, false)) || redundant.contains_key(rule);
    let unfailing = premises.into_iter().filter(|premise| !fails(premise));
    assert_none("no case in which it fails", unfailing.map(|(rule, n)| format!("premise {n} of {rule}")).collect());
}

#[test]
fn every_tensor_operator_is_complete() {
    let suite = suite();
    let lacking = ops::all().flat_map(|op| {
        agreement::lacking(op, &suite).into_iter().map(|what| format!("{}: {what}", op.name)).collect::<Vec<String>>()
    });
    assert_none("operators that lack something", lacking.collect());
}

#[test]
fn an_operator_without_its_parts_is_noticed() {
    let suite = suite();
    let add = *ops::lookup("relax.add").unwrap();
    assert_eq!(agreement::lacking(&add, &suite), Vec::<String>::new());
    let without_inference = OpDef { infer: None, ..add };
    assert_eq!(agreement::lacking(&without_inference, &suite), ["no inference"]);
    let is_about_it = |case: &&Case| case.rules.iter().any(|rule| rule.id().starts_with("OPS.add."));
    let without_cases: Vec<Case> = suite.iter().filter(|case| !is_about_it(case)).cloned().collect();
    assert!(agreement::lacking(&add, &without_cases).contains(&"no case about its value".to_string()));
    assert!(agreement::lacking(&add, &without_cases).contains(&"only 0 questions about its inference".to_string()));
    let subtract = ops::lookup("relax.subtract").unwrap();
    let with_foreign_text = OpDef { clauses: subtract.clauses, ..add };
    assert!(
        agreement::lacking(&with_foreign_text, &suite)
            .contains(&"its clause `infer` is OPS.subtract.infer".to_string())
    );
}

#[test]
fn the_agreement_of_implementations_is_kept_for_every_operator() {
    let suite = suite();
    let kept = agreement::kept().unwrap();
    assert!(!kept.is_empty());
    let tensor = || ops::all().filter(|op| matches!(op.clauses, Clauses::Tensor(_)));
    let stale = kept.iter().flat_map(|(name, all)| {
        tensor()
            .filter_map(|op| {
                let asked = questions(op, &suite).len();
                let entry = all.operators.get(op.name);
                match entry {
                    None => Some(format!("{name}: nothing of {}", op.name)),
                    Some(entry) if entry.inference.asked != asked => Some(format!(
                        "{name}: {} was asked {} questions, there are {asked}",
                        op.name, entry.inference.asked
                    )),
                    Some(entry) if entry.inference.unexplained + entry.values.unexplained > 0 => {
                        Some(format!("{name}: {} differs without an explanation", op.name))
                    }
                    Some(_) => None,
                }
            })
            .collect::<Vec<String>>()
    });
    assert_none("run `relax-spec ops --adapter tvm --update`", stale.collect());
}

#[test]
fn every_exception_of_knock_out_has_a_reason() {
    let lists = [knockout::redundant().unwrap(), knockout::stuck().unwrap()];
    let empty = lists.iter().flatten().filter(|(_, reason)| !is_text(reason));
    assert_none("no reason", empty.map(|(rule, _)| rule.to_string()).collect());
}

#[test]
fn every_erratum_reads_under_its_own_name() {
    let found = Erratum::ALL.iter().filter_map(|erratum| match erratum.info() {
        Ok(info) if info.id != erratum.id() => Some(format!("{erratum}: calls itself {}", info.id)),
        Ok(_) => None,
        Err(error) => Some(format!("{erratum}: {error}")),
    });
    assert_none("errata", found.collect());
}

/// The findings of the second reading of the text, E1 to E83. Three numbers were never used.
fn second_reading() -> impl Iterator<Item = String> {
    (1..=83).filter(|number| !(47..=49).contains(number)).map(|number| format!("E{number:02}"))
}

/// The findings in the later editions: N1 to N67 in 2023-12, of which the last is ours, and M1 to M13 in 2024-04.
fn of_later_editions() -> impl Iterator<Item = String> {
    let n = (1..=67).map(|number| format!("N{number:02}"));
    n.chain((1..=13).map(|number| format!("M{number:02}")))
}

#[test]
fn every_finding_of_either_reading_is_an_erratum() {
    let first = (1..=57).map(|number| format!("A{number:02}"));
    let missing = first.chain(second_reading()).chain(of_later_editions()).filter(|id| Erratum::named(id).is_err());
    assert_none("no erratum stands for", missing.collect());
    let known: BTreeSet<String> = second_reading().chain(of_later_editions()).collect();
    let also = Erratum::ALL.iter().flat_map(|erratum| erratum.also().iter().map(move |id| (erratum, *id)));
    let odd = also.filter(|(_, id)| !known.contains(*id) || id.parse::<Erratum>().is_ok());
    assert_none("no other id of an erratum", odd.map(|(erratum, id)| format!("{erratum}: {id}")).collect());
    let differ = Erratum::ALL.iter().filter(|erratum| erratum.info().unwrap().also != erratum.also());
    assert_none("the build script reads other ids", differ.map(ToString::to_string).collect());
}

#[test]
fn every_conflict_has_its_row() {
    let chapter = fs::read_to_string(root().join("spec/src/conflicts.md")).unwrap();
    let missing = (1..=25).map(|number| format!("C{number:02}")).filter(|id| !chapter.contains(&format!("| {id} | ")));
    assert_none("not in the table of conflicts", missing.collect());
}

/// Whether a text is a real text, not a placeholder.
fn is_text(text: &str) -> bool {
    text.trim().len() >= 15 && !is_placeholder(text)
}

fn is_placeholder(text: &str) -> bool {
    let lower = text.to_lowercase();
    ["see the chapter", "todo", "tbd", "fixme", "placeholder", UNDERIVED].iter().any(|word| lower.contains(word))
}

/// `promote` writes drafts. The answer is the oracle's until someone has derived it.
#[test]
fn every_case_is_derived() {
    let derived = |case: &Case| !case.why.trim().is_empty() && !is_placeholder(&case.why);
    assert_none("not derived", suite().into_iter().filter(|case| !derived(case)).map(|case| case.id).collect());
}

#[test]
fn every_erratum_says_what_it_is_about() {
    let mut found = Vec::new();
    for erratum in Erratum::ALL {
        let info = erratum.info().unwrap();
        let reason = match &info.shown {
            ErratumWitness::By(_) => "a witness is asked for it",
            ErratumWitness::Not(reason) => reason,
        };
        for (name, text) in [
            ("title", info.title.as_str()),
            ("literal", &info.literal),
            ("corrected", &info.corrected),
            ("unseen", reason),
        ] {
            if !is_text(text) {
                found.push(format!("{erratum}: `{name}` says nothing"));
            }
        }
        if info.rules.is_empty() {
            found.push(format!("{erratum}: no rule is at stake"));
        }
    }
    assert_none("errata without content", found);
}

#[test]
fn a_rule_names_the_errata_that_touch_it() {
    let unnamed = Erratum::ALL.iter().flat_map(|erratum| {
        let rules = erratum.info().unwrap().rules;
        let silent = rules.into_iter().filter(|rule| !rule.info().errata.contains(&erratum.id()));
        silent.map(move |rule| format!("{rule} does not name {erratum}"))
    });
    assert_none("the metadata line", unnamed.collect());
    let untold = Rule::ALL.iter().flat_map(|rule| {
        let info = rule.info();
        info.errata
            .iter()
            .filter(|id| !info.text.contains(**id))
            .map(move |id| format!("{rule} does not speak of {id}"))
    });
    assert_none("the text of the rule", untold.collect());
    let unknown = Rule::ALL.iter().flat_map(|rule| {
        let errata = rule.info().errata.iter().filter_map(|id| id.parse::<Erratum>().ok());
        let silent = errata.filter(|erratum| !erratum.info().unwrap().rules.contains(rule));
        silent.map(move |erratum| format!("{erratum} does not list {rule}"))
    });
    assert_none("the list of rules", unknown.collect());
}

#[test]
fn the_errata_that_rules_name_exist() {
    let unknown = Rule::ALL.iter().flat_map(|rule| {
        let known = |id: &&&str| id.parse::<Erratum>().is_ok();
        rule.info().errata.iter().filter(move |id| !known(id)).map(move |id| format!("{rule} names {id}"))
    });
    assert_none("there is no such erratum", unknown.collect());
}

/// The number of the well-formedness criterion that a rule belongs to.
fn criterion(rule: &Rule) -> Option<u32> {
    rule.id().strip_prefix("WF.")?.split('.').next()?.parse().ok()
}

/// The criteria that every program breaks together with this one. A shape variable that a return annotation must not
/// use (4) is not bound there (5), and not in the scope of the annotation (13).
fn broken_with(number: u32) -> &'static [u32] {
    if number == 4 { &[5, 13] } else { &[] }
}

/// Whether a case has a program that breaks only this criterion.
fn breaks_alone(case: &Case, number: u32) -> bool {
    let rules = match (&case.ask, case.allow.as_slice()) {
        (Ask::WellFormed(_), [Answer::Verdict(Verdict::Rejected(rules))]) => rules,
        // The form with two annotations, the subject of criterion 9, exists only in external formats.
        (Ask::Decode(..), [Answer::Read(ReadAnswer::Rejected(rules))]) => rules,
        _ => return false,
    };
    let broken: Vec<Option<u32>> = rules.iter().map(criterion).collect();
    let expected = |found: &Option<u32>| found.is_some_and(|n| n == number || broken_with(number).contains(&n));
    broken.contains(&Some(number)) && broken.iter().all(expected)
}

/// Whether a case has a program that nearly breaks this criterion.
fn meets(case: &Case, number: u32) -> bool {
    let accepted = matches!(
        (&case.ask, case.allow.as_slice()),
        (Ask::WellFormed(_), [Answer::Verdict(Verdict::Accepted)])
            | (Ask::Decode(..), [Answer::Read(ReadAnswer::Module(_))])
    );
    accepted && case.rules.iter().filter_map(criterion).any(|n| n == number)
}

#[test]
fn each_criterion_is_broken_alone_twice_and_met_twice() {
    let suite = suite();
    let lacking = (1..=15).filter_map(|number| {
        let ill_formed = suite.iter().filter(|case| breaks_alone(case, number)).count();
        let well_formed = suite.iter().filter(|case| meets(case, number)).count();
        let enough = ill_formed >= 2 && well_formed >= 2;
        (!enough).then(|| format!("criterion {number}: {ill_formed} ill-formed, {well_formed} well-formed"))
    });
    assert_none("two programs that break it alone, two close ones that do not", lacking.collect());
}

fn files(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found
}

/// The targets of `[text](target)` outside of code blocks.
fn links(text: &str) -> Vec<String> {
    let mut fenced = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        }
        if fenced || line.starts_with("    ") {
            continue;
        }
        for (at, _) in line.match_indices("](") {
            found.extend(line[at + 2..].split_once(')').map(|(target, _)| target.to_string()));
        }
    }
    found
}

#[test]
fn the_links_of_the_book_resolve() {
    let broken = files(&root().join("spec"), "md").into_iter().flat_map(|file| {
        let text = fs::read_to_string(&file).unwrap();
        let missing = links(&text).into_iter().filter({
            let file = file.clone();
            move |target| {
                let path = target.split('#').next().unwrap_or_default();
                !path.is_empty() && !path.contains("://") && !file.with_file_name("").join(path).exists()
            }
        });
        missing.map(move |target| format!("{}: {target}", file.display())).collect::<Vec<String>>()
    });
    assert_none("broken links", broken.collect());
}

#[test]
fn the_rules_that_the_book_mentions_exist() {
    let unknown = files(&root().join("spec"), "md").into_iter().flat_map(|file| {
        let text = fs::read_to_string(&file).unwrap();
        let mentioned = text.split('`').skip(1).step_by(2).filter(|word| looks_like_a_rule(word));
        let missing: Vec<String> = mentioned
            .filter(|word| word.parse::<Rule>().is_err() && !Rule::ALL.iter().any(|rule| belongs_to(*rule, word)))
            .map(|word| format!("{}: {word}", file.display()))
            .collect();
        missing
    });
    assert_none("there is no such rule", unknown.collect());
}

/// `SI.UNIFY.OBJECT`, but not `R.Tensor` or `X`.
fn looks_like_a_rule(word: &str) -> bool {
    let letters = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || matches!(c, '.' | '-' | '_');
    word.split('.').count() > 1 && word.chars().all(letters) && word.starts_with(|c: char| c.is_ascii_uppercase())
}

/// Whether a word is a prefix of a rule's id, up to a dot.
fn belongs_to(rule: Rule, word: &str) -> bool {
    rule.id().strip_prefix(word.trim_end_matches('.')).is_some_and(|rest| rest.starts_with('.'))
}

/// A handmade mutant: the source file, the golden cases that must detect it, and the text that is replaced.
fn hand_mutant(text: &str) -> Option<(&str, Vec<&str>, String)> {
    let (head, rest) = text.split_once("\n--- replace\n")?;
    let (replaced, _) = rest.split_once("\n--- with\n")?;
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name));
    field("mistake: ")?;
    let killed_by = field("killed by: ")?.split(", ").collect();
    let in_pieces = replaced.matches('«').count() == 1 && replaced.matches('»').count() == 1;
    in_pieces
        .then(|| (field("file: "), killed_by, replaced.replace(['«', '»'], " ")))
        .and_then(|(file, by, text)| Some((file?, by, text)))
}

/// A text without white space, so that formatting does not matter.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// `tools/hand_mutants.py` builds the mutants and checks that the cases detect them.
#[test]
fn every_hand_made_mutant_still_applies() {
    let cases: BTreeSet<String> = suite().into_iter().map(|case| case.id).collect();
    let mutants = files(&root().join("tests/mutants"), "mutant");
    let faults = mutants.iter().filter_map(|path| {
        let text = fs::read_to_string(path).unwrap();
        let told = |fault: String| Some(format!("{}: {fault}", path.display()));
        let Some((file, killed_by, replaced)) = hand_mutant(&text) else { return told("not of its form".to_string()) };
        if let Some(unknown) = killed_by.iter().find(|id| !cases.contains(**id)) {
            return told(format!("there is no case {unknown}"));
        }
        let source = fs::read_to_string(root().join(file)).unwrap_or_default();
        let found = squeezed(&source).matches(&squeezed(&replaced)).count();
        if found == 1 { None } else { told(format!("the replaced text occurs {found} times in {file}")) }
    });
    assert_none("mutants by hand", faults.collect());
    assert!(mutants.len() >= 40, "{} mutants by hand", mutants.len());
}

/// An operator is defined in the file or directory of the chapter with its clauses.
#[test]
fn every_operator_stands_in_its_chapter() {
    let code: Vec<(String, String)> = files(&root().join("src/ops"), "rs")
        .iter()
        .map(|path| (path.display().to_string(), fs::read_to_string(path).unwrap()))
        .collect();
    let strayed = files(&root().join("spec/src/ops"), "md").into_iter().flat_map(|path| {
        let chapter = path.file_stem().unwrap_or_default().to_string_lossy().to_string();
        let (file, directory) = (format!("/{chapter}.rs"), format!("/{chapter}/"));
        let text = fs::read_to_string(path).unwrap();
        let clauses = text.lines().filter_map(|line| line.strip_prefix("r[OPS.")?.strip_suffix(".infer]"));
        let strayed = clauses.filter(|name| {
            let clause = format!("rule!(\"OPS.{name}.infer\")");
            !code
                .iter()
                .any(|(path, code)| (path.ends_with(&file) || path.contains(&directory)) && code.contains(&clause))
        });
        strayed.map(|name| format!("{name} is not in {chapter}")).collect::<Vec<String>>()
    });
    assert_none("operators", strayed.collect());
}

/// The normal form that a case shows meets the requirements for implementations.
#[test]
fn an_expected_normal_form_would_pass() {
    let edition = Edition::default();
    let refused = suite().into_iter().filter(|case| matches!(case.ask, Ask::Normalize(_))).flat_map(|case| {
        let programs: Vec<Answer> =
            case.allow.iter().filter(|answer| matches!(answer, Answer::Program(_))).cloned().collect();
        programs.into_iter().filter_map(move |answer| {
            let comparison = compare(&case, &Outcome::Answer { answer, warnings: None }, edition, false);
            (comparison.verdict != CaseVerdict::Agree)
                .then(|| format!("{}: {}", case.id, comparison.why.unwrap_or_default()))
        })
    });
    assert_none("a normal form that an implementation may not give", refused.collect());
}
