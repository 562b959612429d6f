//! The implementations that the runner knows by name, and their setup on first use.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fmt};

use crate::checkout::{self, write_atomically};
use crate::conformance::{self, DataDirectory, KeptFile};
use crate::process::{CommandLine, Interrupt, LineProcess, Received, deadline_in};
use relax_spec::book::Edition;
use relax_spec::oracle::Engine;

/// An implementation to test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Adapter {
    /// The oracle itself, behind the protocol. One of its engines runs programs.
    Oracle(Engine),
    /// A release of Apache TVM, through the built-in adapter.
    Tvm(TvmVersion),
    /// The executables that a release of TVM makes, run on our machine.
    TvmExecutables(TvmVersion),
    /// Any other installation of TVM, for instance a source build.
    TvmOf {
        /// Its Python.
        python: PathBuf,
        /// The release that it reports, if it is a known one.
        version: Option<TvmVersion>,
    },
    /// Any command that speaks the protocol.
    Command(CommandLine),
}

/// The releases of Apache TVM that the adapter in `conformance/adapters/tvm` supports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TvmVersion {
    /// 0.25.
    V0_25,
    /// 0.26.
    V0_26,
    /// 0.27.
    V0_27,
}

/// A callback for messages about the setup.
pub type Tell<'a> = &'a dyn Fn(String);

/// The reason why an adapter cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// It cannot be split into words as a shell does.
    #[error("`{0}` is not a command line (unbalanced quotes?)")]
    CommandLine(String),
    /// It is neither the name of an adapter nor a command.
    #[error(
        "there is no adapter `{0}` (known: builtin:evaluator, builtin:vm, tvm, tvm@0.25, tvm@0.26, tvm@0.27, tvm@/path/to/python, tvm-executables@0.25 and so on, or a command)"
    )]
    Unknown(String),
    /// Neither the platform nor the environment gives a directory for caches.
    #[error("the adapter needs a directory for its virtual environments: set RELAX_SPEC_CACHE")]
    NoCache,
    /// There is no Python, or only an old one.
    #[error("the TVM adapter needs Python 3.10 or later: {0}")]
    Python(String),
    /// A Python that lacks packages that the adapter needs.
    #[error("`{}` has no TVM that can be imported: {said}", python.display())]
    NoTvm {
        /// The interpreter.
        python: PathBuf,
        /// The last line of its output.
        said: String,
    },
    /// A step of the installation failed.
    #[error("{step} failed:\n{output}\n{}", remedy(output, *free))]
    Install {
        /// The command, for people.
        step: String,
        /// The output, for people.
        output: String,
        /// The number of free bytes where it installs, if known.
        free: Option<u64>,
    },
    /// A file of the adapter cannot be written.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
}

/// Advice about a failed installation. `python -m venv` does not pass on messages of its own steps about a full disk.
fn remedy(output: &str, free: Option<u64>) -> &'static str {
    let says_so =
        ["No space left on device", "Errno 28", "Disk quota exceeded"].iter().any(|said| output.contains(said));
    match says_so || free.is_some_and(|free| free < ROOM) {
        true => "The disk is full: the environment takes some 700 MB where RELAX_SPEC_CACHE says, or below target/.",
        false => "The first use needs a network; later ones do not.",
    }
}

/// The minimum size of an environment.
const ROOM: u64 = 600 << 20;

impl TvmVersion {
    /// Every release.
    pub const ALL: [TvmVersion; 3] = [TvmVersion::V0_25, TvmVersion::V0_26, TvmVersion::V0_27];

    /// The name after `tvm@`.
    pub fn name(self) -> &'static str {
        match self {
            TvmVersion::V0_25 => "0.25",
            TvmVersion::V0_26 => "0.26",
            TvmVersion::V0_27 => "0.27",
        }
    }

    /// The directory of its environment. The one of 0.27 once had a different `apache-tvm-ffi`, and such environments
    /// may still be in use.
    pub fn directory(self) -> &'static str {
        match self {
            TvmVersion::V0_25 => "tvm-0.25",
            TvmVersion::V0_26 => "tvm-0.26",
            TvmVersion::V0_27 => "tvm-0.27-ffi-0.1.14",
        }
    }

    /// All packages to install, with dependencies and the hash of each file, in the format of pip.
    fn hashed(self) -> &'static str {
        match self {
            TvmVersion::V0_25 => include_str!("../../../conformance/adapters/tvm/requirements-0.25.txt"),
            TvmVersion::V0_26 => include_str!("../../../conformance/adapters/tvm/requirements-0.26.txt"),
            TvmVersion::V0_27 => include_str!("../../../conformance/adapters/tvm/requirements-0.27.txt"),
        }
    }

    /// Exact versions, because a newer `apache-tvm-ffi` does not load into 0.25, and makes 0.26 and 0.27 crash in
    /// `script(show_meta=True)` and `save_json`. They identify the contents of an environment.
    fn requirements(self) -> &'static [&'static str] {
        match self {
            TvmVersion::V0_25 => &["apache-tvm==0.25.0", "apache-tvm-ffi==0.1.12", "numpy"],
            TvmVersion::V0_26 => &["apache-tvm==0.26.0", "apache-tvm-ffi==0.1.14.post1", "numpy"],
            TvmVersion::V0_27 => &["apache-tvm==0.27.0.post1", "apache-tvm-ffi==0.1.14.post1", "numpy"],
        }
    }
}

impl Adapter {
    /// The implementations for a name; `tvm` means all releases. A Python that the name gives has the time `startup` to
    /// say which TVM it has.
    pub fn named(name: Option<&str>, startup: Duration) -> Result<Vec<Adapter>, SetupError> {
        Ok(match name {
            None | Some("relax-spec" | "builtin:evaluator") => vec![Adapter::Oracle(Engine::Evaluator)],
            Some("builtin:vm") => vec![Adapter::Oracle(Engine::Machine)],
            Some("tvm") => TvmVersion::ALL.map(Adapter::Tvm).to_vec(),
            Some(name) if name.starts_with("tvm@") => vec![Adapter::tvm(name, startup)?],
            Some(name) if name.starts_with(EXECUTABLES) => vec![Adapter::tvm_executables(name)?],
            Some(line) => {
                let command = CommandLine::split(line).ok_or_else(|| SetupError::CommandLine(line.to_string()))?;
                vec![Adapter::Command(command)]
            }
        })
    }

    /// The release of this name, or the installation at a path.
    fn tvm(name: &str, startup: Duration) -> Result<Adapter, SetupError> {
        let which = name.trim_start_matches("tvm@");
        if let Some(version) = TvmVersion::ALL.into_iter().find(|version| version.name() == which) {
            return Ok(Adapter::Tvm(version));
        }
        match which.contains(std::path::is_separator) {
            true => {
                let python = PathBuf::from(which);
                let version = version_of(&python, startup)?;
                Ok(Adapter::TvmOf { python, version })
            }
            false => Err(SetupError::Unknown(name.to_string())),
        }
    }

    /// The release of this name.
    fn tvm_executables(name: &str) -> Result<Adapter, SetupError> {
        let which = name.trim_start_matches(EXECUTABLES);
        let version = TvmVersion::ALL.into_iter().find(|version| version.name() == which);
        version.map(Adapter::TvmExecutables).ok_or_else(|| SetupError::Unknown(name.to_string()))
    }

    /// Whether it can only run programs, and answers no other questions.
    pub fn only_runs(&self) -> bool {
        match self {
            Adapter::TvmExecutables(_) => true,
            Adapter::Oracle(_) | Adapter::Tvm(_) | Adapter::TvmOf { .. } | Adapter::Command(_) => false,
        }
    }

    /// The ledger of its divergences, with its version there; `None` for commands.
    pub fn ledger(&self) -> Option<LedgerName> {
        let versions = |family, version: &TvmVersion| LedgerName {
            family,
            version: version.name(),
            siblings: TvmVersion::ALL.map(TvmVersion::name).to_vec(),
        };
        let alone = |family| LedgerName { family, version: "", siblings: Vec::new() };
        match self {
            Adapter::Oracle(Engine::Evaluator) => Some(alone("relax-spec")),
            Adapter::Oracle(Engine::Machine) => Some(alone("builtin-vm")),
            Adapter::Tvm(version) => Some(versions("tvm", version)),
            Adapter::TvmExecutables(version) => Some(versions("tvm-executables", version)),
            Adapter::TvmOf { version, .. } => version.as_ref().map(|version| versions("tvm", version)),
            Adapter::Command(_) => None,
        }
    }

    /// Its name and version, as used in file names; `None` for commands.
    pub fn ledger_name(&self) -> Option<String> {
        self.ledger().map(|LedgerName { family, version, .. }| match version {
            "" => family.to_string(),
            version => format!("{family}-{version}"),
        })
    }

    /// The command to start, after its setup. `tell` gets messages about slow steps. A Python that is asked for its
    /// version has the time `startup`.
    pub fn prepare(&self, tell: Tell<'_>, startup: Duration) -> Result<CommandLine, SetupError> {
        match self {
            Adapter::Oracle(engine) => {
                let engine = match engine {
                    Engine::Evaluator => "evaluator",
                    Engine::Machine => "vm",
                };
                let args = ["adapter", "--engine", engine].map(str::to_string).to_vec();
                Ok(CommandLine { program: own_path()?, args })
            }
            Adapter::Tvm(version) => prepare_tvm(*version, tell, startup),
            Adapter::TvmExecutables(version) => {
                let mut command = prepare_tvm(*version, tell, startup)?;
                command.args.extend(["--machine".to_string(), own_path()?]);
                Ok(command)
            }
            Adapter::TvmOf { python, .. } => run_tvm(python, &cache()?),
            Adapter::Command(command) => Ok(command.clone()),
        }
    }
}

/// The ledger of an implementation, shared by its versions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LedgerName {
    /// The name of the file.
    pub family: &'static str,
    /// The version; empty if there are no versions.
    pub version: &'static str,
    /// All versions that share it.
    pub siblings: Vec<&'static str>,
}

impl LedgerName {
    /// Its file in `conformance/ledger`, without the extension. With `edition`, the file for cases of an edition that
    /// the implementation does not claim.
    pub fn file(&self, edition: Option<Edition>) -> String {
        match edition {
            None => self.family.to_string(),
            Some(edition) => format!("{}-{edition}", self.family),
        }
    }
}

/// The prefix of the names for the executables of a release.
const EXECUTABLES: &str = "tvm-executables@";

/// The path of this command. The Python package, which runs it in the process of an interpreter, sets the variable
/// `RELAX_SPEC_COMMAND` to it.
///
/// # Errors
///
/// If the system does not know it.
pub fn own_path() -> Result<String, SetupError> {
    if let Some(path) = env::var("RELAX_SPEC_COMMAND").ok().filter(|path| !path.is_empty()) {
        return Ok(path);
    }
    let program = env::current_exe().map_err(|error| io_error(Path::new("relax-spec"), error))?;
    Ok(program.display().to_string())
}

fn io_error(path: &Path, error: io::Error) -> SetupError {
    SetupError::Io { path: path.to_path_buf(), error }
}

fn prepare_tvm(version: TvmVersion, tell: Tell<'_>, startup: Duration) -> Result<CommandLine, SetupError> {
    let cache = cache()?;
    let python = virtual_environment(&cache, version, tell, startup)?;
    run_tvm(&python, &cache)
}

/// The directory of the environments.
fn cache() -> Result<PathBuf, SetupError> {
    let cache = match (env::var_os("RELAX_SPEC_CACHE").filter(|dir| !dir.is_empty()), checkout::root()) {
        (Some(dir), _) => PathBuf::from(dir),
        (None, Some(root)) => root.join("target/adapters"),
        (None, None) => return Err(SetupError::NoCache),
    };
    fs::create_dir_all(&cache).map_err(|error| io_error(&cache, error))?;
    Ok(cache)
}

/// The command of the adapter, with a Python that has TVM. The Python package sets the variable
/// `RELAX_SPEC_TVM_ADAPTER` to its own copy.
fn run_tvm(python: &Path, cache: &Path) -> Result<CommandLine, SetupError> {
    let given = env::var_os("RELAX_SPEC_TVM_ADAPTER").filter(|path| !path.is_empty());
    let script = match (given, checkout::root()) {
        (Some(given), _) => PathBuf::from(given),
        (None, Some(root)) => root.join("conformance/adapters/tvm/adapter.py"),
        (None, None) => unpack(cache)?,
    };
    Ok(CommandLine { program: python.display().to_string(), args: vec![script.display().to_string()] })
}

/// The release that the TVM of a Python reports, if it is a known one. Fails if the Python cannot import the packages
/// that the adapter needs.
fn version_of(python: &Path, startup: Duration) -> Result<Option<TvmVersion>, SetupError> {
    let ask = "import numpy, tvm; print(tvm.__version__)";
    let answered = asked(startup, &python.display().to_string(), &["-c", ask]);
    let answered = answered.map_err(|error| io_error(python, error))?;
    if !answered.success {
        let said = answered.errors.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().to_string();
        return Err(SetupError::NoTvm { python: python.to_path_buf(), said });
    }
    Ok(TvmVersion::ALL.into_iter().find(|version| {
        let rest = answered.said.strip_prefix(version.name());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', 'd', 'a', 'r']))
    }))
}

/// Writes the built-in sources of the adapter.
fn unpack(cache: &Path) -> Result<PathBuf, SetupError> {
    let dir = cache.join("sources");
    for KeptFile { name, text } in conformance::files(DataDirectory::Adapters) {
        let path = dir.join(name);
        write_atomically(&path, text.as_bytes()).map_err(|error| io_error(&path, error))?;
    }
    Ok(dir.join("tvm/adapter.py"))
}

/// The Python of a virtual environment with this release, created on first use. A file in it lists the installed
/// packages, and is written last, so an interrupted installation starts again.
fn virtual_environment(
    cache: &Path,
    version: TvmVersion,
    tell: Tell<'_>,
    startup: Duration,
) -> Result<PathBuf, SetupError> {
    let dir = cache.join(version.directory());
    let python = dir.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let mark = dir.join("installed.txt");
    let wanted = version.requirements().join("\n");
    let lock_path = cache.join(format!("{}.lock", version.directory()));
    // Held until the end of the function, so that two runs do not install into the same directory.
    let lock = File::create(&lock_path).map_err(|error| io_error(&lock_path, error))?;
    lock.lock().map_err(|error| io_error(&lock_path, error))?;
    if fs::read_to_string(&mark).is_ok_and(|installed| installed == wanted) && python.exists() {
        return Ok(python);
    }
    let system = system_python(startup)?;
    tell(format!("creating a virtual environment for apache-tvm {} in {}", version.name(), dir.display()));
    let free = || free_bytes(&system, cache);
    run_step("python -m venv", &free, &system, &["-m", "venv", "--clear", &dir.display().to_string()])?;
    tell(format!("installing {} (about 100 MB on first use)", version.requirements().join(" ")));
    let hashed = dir.join("requirements.txt");
    write_atomically(&hashed, version.hashed().as_bytes()).map_err(|error| io_error(&hashed, error))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--require-hashes"];
    let hashed = hashed.display().to_string();
    let args = [&pip[..], &["--requirement", &hashed]].concat();
    run_step("pip install", &free, &python.display().to_string(), &args)?;
    write_atomically(&mark, wanted.as_bytes()).map_err(|error| io_error(&mark, error))?;
    Ok(python)
}

/// The first Python on the path that is new enough; `RELAX_SPEC_PYTHON` selects another.
fn system_python(startup: Duration) -> Result<String, SetupError> {
    let name = env::var("RELAX_SPEC_PYTHON").unwrap_or_else(|_| "python3".to_string());
    let check = "import sys; print(sys.version.split()[0]); sys.exit(sys.version_info < (3, 10))";
    match asked(startup, &name, &["-c", check]) {
        Ok(answered) if answered.success => Ok(name),
        Ok(answered) => Err(SetupError::Python(format!("`{name}` is {}", answered.said))),
        Err(error) => Err(SetupError::Python(format!("`{name}`: {error}"))),
    }
}

/// The answer of a Python to a question about itself.
struct Answered {
    success: bool,
    /// The first lines on standard output.
    said: String,
    errors: String,
}

/// How long a step of an installation may take; it downloads some 100 MB.
const INSTALLING: Duration = Duration::from_secs(1800);

/// How long the question may take how much room there is, after a Python has answered another.
const LOOKING: Duration = Duration::from_secs(10);

/// The maximum length of the answer.
const MOST_SAID: u64 = 64 * 1024;

/// Runs a Python. If it does not end in time, or writes too much, it is ended.
fn asked(patience: Duration, python: &str, args: &[&str]) -> io::Result<Answered> {
    let args = args.iter().map(ToString::to_string).collect();
    let command = CommandLine { program: python.to_string(), args };
    let mut process = LineProcess::start(&command, &Interrupt::default(), MOST_SAID)?;
    process.close();
    let (deadline, mut said) = (deadline_in(patience), String::new());
    loop {
        match process.receive(deadline) {
            Received::Line(line) => said.push_str(&line),
            Received::Malformed(message) => return Err(io::Error::other(message)),
            Received::TimedOut => {
                return Err(io::Error::other(format!("it does not answer within {} s", patience.as_secs_f64())));
            }
            Received::Interrupted => return Err(io::ErrorKind::Interrupted.into()),
            Received::Ended => break,
        }
        if said.len() as u64 > MOST_SAID {
            return Err(io::Error::other(format!("it writes more than {MOST_SAID} bytes")));
        }
    }
    let success = process.succeeds();
    Ok(Answered { success, said: said.trim().to_string(), errors: process.last_stderr() })
}

/// The number of free bytes in a directory.
fn free_bytes(python: &str, dir: &Path) -> Option<u64> {
    let ask = "import shutil, sys; print(shutil.disk_usage(sys.argv[1]).free)";
    asked(LOOKING, python, &["-c", ask, &dir.display().to_string()]).ok()?.said.parse().ok()
}

/// Runs a step of the installation, which may take its time, but not for ever.
fn run_step(step: &str, free: &dyn Fn() -> Option<u64>, python: &str, args: &[&str]) -> Result<(), SetupError> {
    let failed = |output: String| SetupError::Install { step: step.to_string(), output, free: free() };
    match asked(INSTALLING, python, args) {
        Ok(Answered { success: true, .. }) => Ok(()),
        Ok(Answered { said, errors, .. }) => Err(failed(format!("{said}{errors}"))),
        Err(error) => Err(failed(error.to_string())),
    }
}

impl fmt::Display for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Adapter::Oracle(Engine::Evaluator) => f.write_str("relax-spec"),
            Adapter::Oracle(Engine::Machine) => f.write_str("builtin:vm"),
            Adapter::Tvm(version) => write!(f, "tvm@{}", version.name()),
            Adapter::TvmExecutables(version) => write!(f, "{EXECUTABLES}{}", version.name()),
            Adapter::TvmOf { python, .. } => write!(f, "tvm@{}", python.display()),
            Adapter::Command(command) => command.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_installed_is_what_is_wanted_and_hashed() {
        for version in TvmVersion::ALL {
            let hashed = version.hashed();
            for requirement in version.requirements().iter().filter(|requirement| requirement.contains("==")) {
                assert!(hashed.contains(&format!("{requirement} \\\n")), "{requirement}");
            }
            for line in hashed.lines().filter(|line| !line.starts_with(' ')) {
                assert!(line.contains("==") && line.ends_with('\\'), "{line}");
            }
        }
    }

    #[test]
    fn a_full_disk_is_told_from_a_missing_network() {
        let failed = |output: &str, free: Option<u64>| {
            SetupError::Install { step: "pip install".into(), output: output.into(), free }.to_string()
        };
        assert!(failed("OSError: [Errno 28] No space left on device", None).contains("The disk is full"));
        assert!(failed("ensurepip returned non-zero exit status 1", Some(1 << 20)).contains("The disk is full"));
        assert!(failed("Could not fetch URL", Some(1 << 40)).contains("needs a network"));
        assert!(failed("Could not fetch URL", None).contains("needs a network"));
        let here = free_bytes("python3", &env::temp_dir());
        assert!(here.is_none_or(|free| free > 0), "{here:?}");
    }
}
