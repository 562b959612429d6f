//! Asks the releases of Apache TVM the cases that show the differences between two editions. It stores a case for each
//! rule with the answers in `conformance/confirmed.ron`: `cargo xtask confirmed`.
//!
//! With `--check` the stored cases are asked again. A different or missing answer is an error.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use ask::adapters::{Adapter, TvmVersion};
use ask::conformance;
use ask::implementation::Launch;
use ask::process::{Interrupt, MAX_REPLY};
use ask::runner::{self, ImplementationPool, SuiteSchedule};
use campaign::classes::{CLAIMED, RELEASES};
use campaign::editions::Flip;
use campaign::editions::releases::{Confirmed, candidates, is_answer, kept};
use relax_spec::book::{Edition, Rule};
use relax_spec::suite::Case;
use relax_spec::suite::compare::CaseVerdict;

type Error = Box<dyn std::error::Error>;

/// The pairs of editions to compare.
const PAIRS: [(Edition, Edition); 2] = [(Edition::E2023_02, Edition::E2023_12), (Edition::E2023_12, Edition::E2024_04)];

/// The time that a release may take to start.
const STARTUP: Duration = Duration::from_secs(120);

/// The number of cases to try for a rule.
const TRIED: usize = 20;

/// The verdicts of each release on cases.
type Answers = BTreeMap<String, BTreeMap<String, CaseVerdict>>;

/// Runs the task with the arguments after its name.
pub fn run(args: Vec<String>) -> Result<(), Error> {
    let suite = conformance::suite()?;
    match args.first().map(String::as_str) {
        None => write(&suite),
        Some("--check") => check(&suite),
        Some(other) => Err(format!("there is no `{other}`").into()),
    }
}

fn write(suite: &[Case]) -> Result<(), Error> {
    let found = PAIRS.map(|(from, to)| ((from, to), candidates(suite, from, to, CLAIMED)));
    let tried =
        |cases: &Vec<(Flip, &Case)>| cases.iter().take(TRIED).map(|(_, case)| case.id.clone()).collect::<Vec<_>>();
    let ids: BTreeSet<String> = found.iter().flat_map(|(_, by_rule)| by_rule.values().flat_map(tried)).collect();
    let answers = asked(suite, &ids)?;
    let chosen: Vec<Confirmed> = found
        .iter()
        .flat_map(|(pair, by_rule)| by_rule.iter().filter_map(|(rule, cases)| best(*pair, *rule, cases, &answers)))
        .collect();
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("conformance/confirmed.ron");
    let pretty = ron::ser::PrettyConfig::new().depth_limit(1).separate_tuple_members(false);
    let text = ron::Options::default().to_string_pretty(&chosen, pretty)?;
    std::fs::write(path, text + "\n")?;
    let by_all = |one: &&Confirmed| RELEASES.iter().all(|release| one.is_answered_by(release));
    let answered = chosen.iter().filter(by_all).count();
    println!("{} rules, {answered} of them by a case that every release answers", chosen.len());
    Ok(())
}

/// The case that most releases answer, then the one with which most agree, then the first. Cases that show the rule in
/// the corrected reading come before others.
fn best(editions: (Edition, Edition), rule: Rule, cases: &[(Flip, &Case)], answers: &Answers) -> Option<Confirmed> {
    let of = |case: &Case| answers.get(&case.id).cloned().unwrap_or_default();
    let worth = |(flip, case): &&(Flip, &Case)| {
        let verdicts = of(case);
        let answered = verdicts.values().filter(|verdict| is_answer(**verdict)).count();
        let agree = verdicts.values().filter(|verdict| **verdict == CaseVerdict::Agree).count();
        (flip.literally.is_some(), Reverse((answered, agree)))
    };
    let (flip, case) = cases.iter().take(TRIED).min_by_key(worth)?;
    Some(Confirmed { editions, rule, literally: flip.literally, case: case.id.clone(), answers: of(case) })
}

fn check(suite: &[Case]) -> Result<(), Error> {
    let kept = kept()?;
    let answers = asked(suite, &kept.iter().map(|one| one.case.clone()).collect())?;
    let other: BTreeSet<String> = kept
        .iter()
        .filter(|one| answers.get(&one.case) != Some(&one.answers))
        .map(|one| format!("{}: kept {:?}, answered {:?}", one.case, one.answers, answers.get(&one.case)))
        .collect();
    if other.is_empty() {
        println!("{} rules, answered as kept", kept.len());
        return Ok(());
    }
    Err(other.into_iter().collect::<Vec<String>>().join("\n").into())
}

/// The verdicts of each release on the cases.
fn asked(suite: &[Case], ids: &BTreeSet<String>) -> Result<Answers, Error> {
    let cases: Vec<&Case> = suite.iter().filter(|case| ids.contains(&case.id)).collect();
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let mut answers = Answers::new();
    for version in TvmVersion::ALL {
        let adapter = Adapter::Tvm(version);
        let release = adapter.ledger().map_or("", |ledger| ledger.version);
        let launch = Launch {
            command: adapter.prepare(&|text| eprintln!("{text}"), STARTUP)?,
            startup: STARTUP,
            timeout: Duration::from_secs(180),
            max_reply: MAX_REPLY,
            edition: None,
            spare: false,
            interrupt: Interrupt::default(),
        };
        let pool = ImplementationPool { first: launch.start()?, start: &|| launch.start() };
        let run =
            runner::run(&cases, SuiteSchedule { edition: CLAIMED, jobs, retries: runner::RETRIES }, pool, &|_, _| true);
        if let Some(error) = run.failure {
            return Err(error.into());
        }
        for result in run.results {
            let Some(case) = cases.get(result.index) else { continue };
            answers.entry(case.id.clone()).or_default().insert(release.to_string(), result.comparison.verdict);
        }
        eprintln!("asked {release} {} cases", cases.len());
    }
    Ok(answers)
}
