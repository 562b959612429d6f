//! The entry point of the tasks that measure, generate and check the checkout: `cargo xtask help`.

mod arguments;
mod book;
mod cases;
mod ci;
mod confirmed;
mod damage;
mod editions;
mod engines;
mod instructions;
mod kernels;
mod mutate;
mod operator_soundness;
mod programs;
mod regenerate;
mod relay;
mod ring_mutants;
mod ring_times;
mod site;
mod soundness;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// As the command has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The implementation of a task.
enum Work {
    /// A function of this program.
    Here(fn(Vec<String>) -> ExitCode),
    /// A Python script: it needs NumPy or a wheel, or works on the sources as text.
    Python(&'static str),
    /// A shell script.
    Shell(&'static str),
}

/// A task: its name, its arguments, its description, and its implementation.
type Task = (&'static str, &'static str, &'static str, Work);

/// All tasks, by purpose.
const TASKS: &[(&str, &[Task])] = &[
    (
        "Checks",
        &[
            ("ci", "[full] [--list]", "the checks of every change; `full` runs everything", Work::Here(ci::run)),
            (
                "regenerate",
                "[--check]",
                "writes the generated files, or reports stale ones",
                Work::Here(regenerate::run),
            ),
            ("confirmed", "[--check]", "asks TVM the cases that distinguish the editions", Work::Here(confirmed)),
        ],
    ),
    (
        "Long searches",
        &[
            ("mutate", "SECONDS [SEED]", "mutated inputs in one process", Work::Here(mutate::run)),
            ("damage", "SECONDS [SEED]", "damaged executables", Work::Here(damage::run)),
            (
                "engines",
                "RUNS [SEED] [--edition E]",
                "the evaluator against the virtual machine",
                Work::Here(engines::run),
            ),
            (
                "soundness",
                "RUNS [SEED] [--edition E]",
                "accepted programs whose runs contradict their checks",
                Work::Here(soundness::run),
            ),
            ("operator-soundness", "RUNS [SEED]", "inference against values", Work::Here(operator_soundness::run)),
            ("kernels", "RUNS [SEED]", "the fast way of operators against the plain one", Work::Here(kernels::run)),
            ("relay", "RUNS SEED [--questions]", "Relay against its translation", Work::Here(relay::run)),
            ("hostile", "COMMAND [--only N]", "hostile inputs over all commands", Work::Python("tools/hostile.py")),
        ],
    ),
    (
        "Measurements",
        &[
            ("kernel-times", "[--fast] [OPERATOR..]", "how long operators take", Work::Here(kernels::times)),
            (
                "instructions",
                "[--check|--write] [DRIVER..]",
                "what the core costs, in instructions",
                Work::Here(instructions::run),
            ),
            ("programs", "RUNS [FIRST]", "the contents of generated programs", Work::Here(programs::run)),
            ("editions", "EDITION PREFIX..", "which golden cases hold in another edition", Work::Here(editions)),
            ("cases", "STEM..", "the oracle's answers for modules on given arguments", Work::Here(cases)),
            (
                "mutants",
                "run|report ..",
                "the suite against mutants of the judgements",
                Work::Python("tools/mutants.py"),
            ),
            (
                "hand-mutants",
                "[--check]",
                "the suite against mistakes written by hand",
                Work::Python("tools/hand_mutants.py"),
            ),
            (
                "diagnosed-faults",
                "check|run RELAX_SPEC",
                "diagnosis against implementations with one wrong rule",
                Work::Python("tools/diagnosed_faults.py"),
            ),
            (
                "seeded-faults",
                "check|build|run|table",
                "campaigns against seeded faults",
                Work::Python("tools/seeded_faults.py"),
            ),
            ("draw-faults", "", "draws the seeded faults again", Work::Python("tools/draw_faults.py")),
            (
                "ring-mutants",
                "RUNS [SEED]",
                "one-place mutants of kernels, as real functions",
                Work::Here(ring_mutants::run),
            ),
            ("ring-times", "FILE ENTRY", "a model in the ring beside floats", Work::Here(ring_times::run)),
            ("models", "check DIR COMMAND", "the models against a wheel", Work::Python("tools/run_models.py")),
            ("onnx", "[--every N] [PAIR..]", "the models of ONNX, through TVM", Work::Shell("tools/onnx_corpus.sh")),
        ],
    ),
    (
        "Data that a wheel or NumPy makes",
        &[
            ("make-ops-cases", "DIR", "golden cases of operators", Work::Python("tools/make_ops_cases.py")),
            (
                "make-nn-cases",
                "DIR",
                "golden cases of networks, indexing and products",
                Work::Python("tools/make_nn_cases.py"),
            ),
            (
                "make-math-cases",
                "DIR",
                "golden cases of elementary functions",
                Work::Python("tools/make_math_cases.py"),
            ),
            (
                "make-call-cases",
                "DIR",
                "golden cases of calls, memory and workers",
                Work::Python("tools/make_call_cases.py"),
            ),
            ("make-models", "COMMAND DIR", "the models", Work::Python("tools/make_models.py")),
            ("make-corpus", "DIR", "programs as a release prints them", Work::Python("tools/make_corpus.py")),
            (
                "make-tir-samples",
                "DIR",
                "PrimFuncs as a release prints them",
                Work::Python("tools/make_tir_samples.py"),
            ),
        ],
    ),
    (
        "The book",
        &[
            ("book", "[supports RENDERER]", "the preprocessor, as mdBook starts it", Work::Here(book::run)),
            ("site", "", "the book with a page for every rule, in target/site", Work::Here(site::run)),
            ("check-links", "DIR", "checks every link of the rendered book", Work::Python("tools/check_links.py")),
        ],
    ),
];

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_else(|| "help".to_string());
    let rest: Vec<String> = args.collect();
    if ["help", "--help", "-h"].contains(&name.as_str()) {
        print!("{}", help());
        return ExitCode::SUCCESS;
    }
    let task = TASKS.iter().flat_map(|(_, tasks)| *tasks).find(|(known, ..)| *known == name);
    match task {
        Some((.., Work::Here(run))) => run(rest),
        Some((.., Work::Python(script))) => started("python3", script, &rest),
        Some((.., Work::Shell(script))) => started("bash", script, &rest),
        None => {
            eprintln!("error: there is no task `{name}`\n\n{}", help());
            ExitCode::from(2)
        }
    }
}

fn help() -> String {
    let mut out = "cargo xtask TASK [ARGUMENTS]\n".to_string();
    for (kind, tasks) in TASKS {
        out.push_str(&format!("\n{kind}:\n"));
        for (name, arguments, what, _) in *tasks {
            out.push_str(&format!("  {:<46} {what}\n", format!("{name} {arguments}")));
        }
    }
    out
}

/// The root of the checkout.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn started(program: &str, script: &str, args: &[String]) -> ExitCode {
    match Command::new(program).arg(root().join(script)).args(args).status() {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            eprintln!("error: {program}: {error}");
            ExitCode::from(2)
        }
    }
}

/// The exit status of a task that fails only with an error.
fn ended(result: Result<(), Box<dyn Error>>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn confirmed(args: Vec<String>) -> ExitCode {
    ended(confirmed::run(args))
}

fn editions(args: Vec<String>) -> ExitCode {
    ended(editions::run(args))
}

fn cases(args: Vec<String>) -> ExitCode {
    cases::run(args);
    ExitCode::SUCCESS
}
