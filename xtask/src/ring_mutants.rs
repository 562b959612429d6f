//! Judges one-place mutants of the corpus and the models in the ring. `cargo xtask ring-mutants 1000 [SEED]` draws that
//! many mutants of programs with `PrimFunc`s. It counts the mutants that the ring finds different, those that it finds
//! equal, and those that it leaves undecided, with the reasons. The equal ones are printed for inspection. The time of
//! the ring is shown next to that of floats.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{fs, io};

use campaign::mutation::mutants;
use relax_spec::check::check_program;
use relax_spec::grammar::{GlobalFunc, GlobalVar, IrModule};
use relax_spec::judge::Cx;
use relax_spec::refine::{RealVerdict, RefineError, Settings, as_real_functions, refine};
use relax_spec::syntax::load::{ExternalForm, parse};

/// Runs the task with the arguments after its name.
pub fn run(args: Vec<String>) -> ExitCode {
    let mut numbers = args.iter().map(|arg| arg.parse::<usize>().ok());
    let wanted = numbers.next().flatten().unwrap_or(100);
    let seed = numbers.next().flatten().unwrap_or(0);
    match programs() {
        Ok(programs) => measure(&programs, wanted, seed),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

/// The programs that have a function `main` and a `PrimFunc`.
fn programs() -> io::Result<Vec<(String, IrModule)>> {
    let mut found = Vec::new();
    for dir in ["corpus", "models"] {
        let dir = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../conformance")).join(dir);
        let mut paths: Vec<PathBuf> =
            fs::read_dir(dir)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
        paths.sort();
        for path in paths.iter().filter(|path| path.extension().is_some_and(|end| end == "py")) {
            let module = parse(ExternalForm::TvmScript, &fs::read_to_string(path)?);
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let has_prim_func =
                |module: &IrModule| module.funcs.iter().any(|(_, func)| matches!(func, GlobalFunc::PrimFunc(_)));
            if let Some(module) = module.ok().filter(has_prim_func) {
                found.push((name, module));
            }
        }
    }
    Ok(found)
}

#[derive(Default)]
struct Counted {
    equal: usize,
    different: usize,
    undecided: BTreeMap<String, usize>,
    ring: Duration,
    floats: Duration,
}

fn measure(programs: &[(String, IrModule)], wanted: usize, seed: usize) {
    let share = wanted.div_ceil(programs.len().max(1));
    let mut counted = Counted::default();
    for (name, module) in programs {
        let settings = Settings::runs(1);
        let compared = Compared { name, module, entry: entry_of(module), settings };
        let own = compared.with(module);
        println!("{name}: with itself {}", own.map_or_else(|error| error.to_string(), |own| own.to_string()));
        let all = mutants(module).count();
        // One of every `step` mutants; the seed determines the first one.
        let step = (all / share.max(1)).max(1);
        for mutant in mutants(module).skip(seed % step).step_by(step).take(share) {
            if check_program(&mut Cx::new(), &mutant.module).accepts() {
                ask(&mut counted, &compared, &mutant.what, &mutant.module);
            }
        }
    }
    let undecided: usize = counted.undecided.values().sum();
    println!("{} different, {} equal, {undecided} undecided", counted.different, counted.equal);
    for (reason, count) in &counted.undecided {
        println!("  {count}: {reason}");
    }
    println!("ring {:?} for 5 draws, floats {:?} for one input", counted.ring, counted.floats);
}

/// A program to compare with its mutants.
struct Compared<'a> {
    name: &'a str,
    module: &'a IrModule,
    entry: String,
    settings: Settings,
}

impl Compared<'_> {
    fn with(&self, mutant: &IrModule) -> Result<RealVerdict, RefineError> {
        as_real_functions(&mut Cx::new(), self.module, mutant, &self.entry, &[], &self.settings)
    }
}

/// The function to start: `main`, or the first one that is visible from outside.
fn entry_of(module: &IrModule) -> String {
    let visible = |(name, func): &(GlobalVar, GlobalFunc)| match func {
        GlobalFunc::Function(f) if f.attrs.contains_key("global_symbol") => Some(name.name.to_string()),
        GlobalFunc::Function(_) | GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => None,
    };
    let names: Vec<String> = module.funcs.iter().filter_map(visible).collect();
    let main = names.iter().find(|name| *name == "main").or(names.first());
    main.cloned().unwrap_or_else(|| "main".to_string())
}

fn ask(counted: &mut Counted, compared: &Compared<'_>, what: &str, mutant: &IrModule) {
    let start = Instant::now();
    let real = compared.with(mutant);
    counted.ring += start.elapsed();
    match real {
        Ok(RealVerdict::Different(_)) => counted.different += 1,
        Ok(real @ (RealVerdict::Equal { .. } | RealVerdict::RoundedConstants { .. })) => {
            counted.equal += 1;
            println!("  {}: {what}: {real}", compared.name);
        }
        Ok(RealVerdict::Undecided(reason)) => {
            let reason = reason.chars().take(90).collect::<String>();
            *counted.undecided.entry(reason).or_default() += 1;
        }
        Err(error) => *counted.undecided.entry(error.to_string()).or_default() += 1,
    }
    if counted.different % 10 == 1 {
        let start = Instant::now();
        let Compared { module, entry, settings, .. } = compared;
        let _ = refine(&mut Cx::new(), module, module, entry, &[], settings);
        counted.floats += start.elapsed();
    }
}
