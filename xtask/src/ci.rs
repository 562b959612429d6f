//! The checks before a change lands. Each time one release of TVM is asked everything, and the other two a part,
//! selected by the hash of the commit; `full` asks all three everything. A check whose tool is missing fails.

use std::cmp::Reverse;
use std::num::NonZero;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use ask::adapters::TvmVersion;

use crate::root;

/// The command, as built for the tests.
const TOOL: &str = "target/release/relax-spec";

/// The number of parts of the suite, for the releases that are only asked a part.
const PARTS: u64 = 6;

/// The directory for tools that are not available everywhere.
const TOOLS: &str = "target/tools";

/// The extent of the checks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CheckScope {
    Landing,
    Full,
}

/// A command line, with its environment variables.
struct CommandStep {
    line: Vec<String>,
    environment: Vec<(&'static str, &'static str)>,
}

impl CommandStep {
    fn new(line: &str) -> CommandStep {
        CommandStep { line: line.split_whitespace().map(str::to_string).collect(), environment: Vec::new() }
    }

    fn with(mut self, name: &'static str, value: &'static str) -> CommandStep {
        self.environment.push((name, value));
        self
    }

    fn told(&self) -> String {
        self.line.join(" ")
    }

    /// Runs the step, and then prints what it said and its time: other steps run beside it.
    fn holds(&self) -> bool {
        let begun = Instant::now();
        let (program, args) = self.line.split_first().map_or(("", &[][..]), |(program, args)| (program.as_str(), args));
        let mut command = Command::new(program);
        command.args(args).envs(self.environment.iter().copied()).current_dir(root()).stdin(Stdio::null());
        let (holds, said) = match command.output() {
            Ok(output) => (output.status.success(), [output.stdout, output.stderr].concat()),
            Err(error) => (false, format!("{program}: {error}\n").into_bytes()),
        };
        let (said, end) = (String::from_utf8_lossy(&said), if holds { "" } else { "; FAILED" });
        println!("== {}\n{said}-- {} s{end}", self.told(), begun.elapsed().as_secs());
        holds
    }
}

/// Runs groups of steps, as many groups at a time as there are processors; the steps of a group one after another.
/// Every step is run, whatever the results of those before it. Returns the lines of those that failed.
fn failures(groups: Vec<Vec<CommandStep>>) -> Vec<String> {
    let (waiting, failed) = (Mutex::new(groups.into_iter()), Mutex::new(Vec::new()));
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let fail = |step: CommandStep| failed.lock().unwrap_or_else(PoisonError::into_inner).push(step.told());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(|| {
                while let Some(group) = next() {
                    group.into_iter().filter(|step| !step.holds()).for_each(&fail);
                }
            });
        }
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Runs every step. The wheel is tested in the environments that the releases of TVM have been asked in.
pub fn run(args: Vec<String>) -> ExitCode {
    let (mut scope, mut list) = (CheckScope::Landing, false);
    for arg in &args {
        match arg.as_str() {
            "full" => scope = CheckScope::Full,
            "--list" => list = true,
            _ => {
                eprintln!("usage: cargo xtask ci [full] [--list]");
                return ExitCode::from(2);
            }
        }
    }
    let draw = drawn();
    // The commit selects the release that is asked everything.
    let whole = |at: usize| scope == CheckScope::Full || draw % TvmVersion::ALL.len() as u64 == at as u64;
    let of_release = |(at, version): (usize, TvmVersion)| match whole(at) {
        true => whole_release(scope, version),
        false => part_of_release(version, 1 + draw % PARTS),
    };
    let releases = TvmVersion::ALL.into_iter().enumerate().map(of_release);
    let mut first: Vec<Vec<CommandStep>> = releases.chain([sources(), oracle(scope)]).collect();
    // The longest group first, so that none runs alone at the end.
    first.sort_by_key(|group| Reverse(group.len()));
    let then = vec![wheel(scope), generated(scope)];
    let count = first.iter().chain(&then).map(Vec::len).sum::<usize>();
    if list {
        first.iter().chain(&then).flatten().for_each(|step| println!("{}", step.told()));
        return ExitCode::SUCCESS;
    }
    let begun = Instant::now();
    let failed = [failures(first), failures(then)].concat();
    println!("== {count} steps, {} s", begun.elapsed().as_secs());
    failed.iter().for_each(|line| println!("FAILED: {line}"));
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A number that depends on the commit.
fn drawn() -> u64 {
    let head = Command::new("git").args(["rev-parse", "HEAD"]).current_dir(root()).output();
    let hash = head.map(|output| String::from_utf8_lossy(&output.stdout).to_string()).unwrap_or_default();
    hash.get(..8).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(0)
}

/// Checks of the sources as text.
fn sources() -> Vec<CommandStep> {
    vec![
        CommandStep::new("cargo fmt --all --check"),
        CommandStep::new("cargo fmt --check --manifest-path fuzz/Cargo.toml"),
        CommandStep::new("cargo fmt --check --manifest-path crates/native/Cargo.toml"),
        CommandStep::new("cargo clippy --release --locked --workspace --all-targets --quiet -- -D warnings"),
        CommandStep::new("cargo doc --release --locked --workspace --no-deps --quiet")
            .with("RUSTDOCFLAGS", "-D warnings"),
        CommandStep::new(&format!("python3 -m venv {TOOLS}/python")),
        CommandStep::new(&format!("{TOOLS}/python/bin/pip install --quiet --disable-pip-version-check ruff==0.14.0")),
        CommandStep::new(&format!("{TOOLS}/python/bin/ruff check conformance tools crates/python")),
        CommandStep::new("python3 tools/same_features.py"),
        CommandStep::new("python3 tools/hand_mutants.py --check"),
        CommandStep::new("python3 tools/seeded_faults.py check"),
        CommandStep::new("python3 tools/diagnosed_faults.py check"),
    ]
}

/// Checks that only ask the oracle.
fn oracle(scope: CheckScope) -> Vec<CommandStep> {
    let mut steps = vec![
        CommandStep::new(&format!("{TOOL} conform")),
        CommandStep::new("target/release/xtask instructions --check"),
    ];
    if scope == CheckScope::Full {
        steps.extend(native());
        // The database of advisories needs network access.
        steps.extend([
            CommandStep::new(&format!("cargo install cargo-deny --locked --quiet --root {TOOLS}")),
            CommandStep::new(&format!("{TOOLS}/bin/cargo-deny --locked check bans licenses sources")),
            CommandStep::new(&format!(
                "cargo install mdbook --locked --quiet --version 0.5.4 --no-default-features --features search --root {TOOLS}"
            )),
            CommandStep::new("bash tools/playground.sh"),
            CommandStep::new("target/release/xtask site"),
            CommandStep::new(&format!("python3 tools/check_playground.py {TOOL} target/site")),
            // Fails where there is no Chromium.
            CommandStep::new(&format!(
                "{TOOL} conform --adapter builtin:evaluator --edition 2024-04 --report html=target/report.html"
            )),
            CommandStep::new("python3 tools/check_pages.py target/report.html target/site"),
            CommandStep::new(&format!("python3 -m venv {TOOLS}/mcp")),
            CommandStep::new(&format!("{TOOLS}/mcp/bin/pip install --quiet --disable-pip-version-check mcp==2.3.0")),
            CommandStep::new(&format!("{TOOLS}/mcp/bin/python tools/check_mcp.py {TOOL}")),
            CommandStep::new("npm --prefix editors/vscode ci --no-audit --no-fund"),
            CommandStep::new("npm --prefix editors/vscode run check"),
            CommandStep::new("npm --prefix editors/vscode run package"),
        ]);
    }
    steps
}

/// Checks of the machine code, which has a lock file and products of its own.
fn native() -> [CommandStep; 3] {
    let own = "--release --locked --manifest-path crates/native/Cargo.toml --target-dir target/native";
    let command = "--release --locked -p relax-spec-cli --features native --target-dir target/native";
    [
        CommandStep::new(&format!("cargo clippy {own} --all-targets --quiet -- -D warnings")),
        CommandStep::new(&format!("cargo test {own} --quiet")),
        CommandStep::new(&format!("cargo clippy {command} --quiet -- -D warnings")),
    ]
}

/// The checks of the adapter.
const CHECKS: &str = "conformance/adapters/tvm/checks";

/// The Python of the environment that the first question to a release creates.
fn python_of(version: TvmVersion) -> String {
    format!("target/adapters/{}/bin/python", version.directory())
}

/// A part of the checks with a release of TVM.
fn part_of_release(version: TvmVersion, part: u64) -> Vec<CommandStep> {
    let (release, python) = (version.name(), python_of(version));
    vec![
        CommandStep::new(&format!("{TOOL} conform --adapter tvm@{release} --partition hash:{part}/{PARTS}")),
        CommandStep::new(&format!("{python} {CHECKS}/findings.py --partition {part}/{PARTS}")),
        CommandStep::new(&format!("{python} {CHECKS}/roundtrip_check.py {TOOL} conformance/corpus")),
    ]
}

/// All checks with a release of TVM.
fn whole_release(scope: CheckScope, version: TvmVersion) -> Vec<CommandStep> {
    let (release, python) = (version.name(), python_of(version));
    let mut steps = vec![
        CommandStep::new(&format!("{TOOL} conform --adapter tvm@{release}")),
        CommandStep::new(&format!("{TOOL} fuzz --kind infos --adapter tvm@{release} --runs 2000")),
        CommandStep::new(&format!("{TOOL} ops --adapter tvm@{release}")),
        CommandStep::new(&format!("{python} {CHECKS}/test_adapter.py")),
        CommandStep::new(&format!("{python} {CHECKS}/roundtrip_check.py {TOOL} conformance/corpus")),
        CommandStep::new(&format!("{python} {CHECKS}/passes.py {TOOL} conformance/corpus")),
        CommandStep::new(&format!("{python} {CHECKS}/findings.py")),
        CommandStep::new(&format!("{python} tools/run_models.py check conformance/models {TOOL}")),
    ];
    if scope == CheckScope::Full {
        let adapter = format!("--adapter tvm@{release}");
        steps.push(CommandStep::new(&format!("{python} {CHECKS}/blame_seeded.py {TOOL} {adapter}")));
        steps.push(CommandStep::new(&format!("{python} {CHECKS}/gradients.py {TOOL}")));
    }
    if scope == CheckScope::Full && version == TvmVersion::V0_27 {
        let corpora = format!("conformance/corpus conformance/corpus/tvm-{release}");
        steps.extend([
            CommandStep::new(&format!("{TOOL} conform --adapter tvm-executables@{release} --partition hash:1/{PARTS}")),
            CommandStep::new(&format!("{python} {CHECKS}/executables.py {TOOL} {corpora}")),
            CommandStep::new(&format!("{python} {CHECKS}/blame.py {TOOL} --releases all")),
        ]);
    }
    steps
}

/// The Python package: its wheel, and its tests without TVM and with each release, whose environments are there by now.
/// Ray is large, and campaigns on it take minutes.
fn wheel(scope: CheckScope) -> Vec<CommandStep> {
    let python = format!("{TOOLS}/python/bin/python");
    let releases = TvmVersion::ALL.map(python_of).join(" ");
    let tests = |more: &str| {
        CommandStep::new(&format!("{python} crates/python/tests/all.py {more} target/wheels {TOOLS} {releases}"))
    };
    vec![
        CommandStep::new(&format!(
            "{TOOLS}/python/bin/pip install --quiet --disable-pip-version-check maturin==1.16.0"
        )),
        CommandStep::new(&format!(
            "{TOOLS}/python/bin/maturin build --profile release --locked --quiet --manifest-path crates/python/Cargo.toml \
             --out target/wheels"
        )),
        match scope {
            CheckScope::Landing => tests(""),
            CheckScope::Full => tests("--ray").with("RELAX_SPEC_PROGRAMS", "2000").with("RELAX_SPEC_ACTORS", "64"),
        },
    ]
}

/// Checks that the outputs of tools are up to date.
fn generated(scope: CheckScope) -> Vec<CommandStep> {
    let mut steps = vec![CommandStep::new("target/release/xtask regenerate --check")];
    if scope == CheckScope::Full {
        steps.extend([
            CommandStep::new("target/release/xtask confirmed --check"),
            CommandStep::new("bash .ci/relay_in_tvm"),
            CommandStep::new("bash tools/onnx_corpus.sh --every 20 0.27-1.23.2"),
            CommandStep::new("bash .ci/made_again"),
        ]);
    }
    steps
}
