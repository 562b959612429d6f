//! One-place mutants of the corpus and the models, in the ring. `cargo xtask ring-mutants 1000 [SEED]` draws that many
//! mutants of programs that have `PrimFunc`s. It counts those that the ring takes for another real function, those that
//! it takes for the same, and those that it leaves undecided, with the reasons. The second kind is printed, to be read.
//! The time of the ring stands beside that of floats.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{fs, io};

use campaign::mutation::mutants;
use relax_spec::check::check_program;
use relax_spec::grammar::{GlobalFunc, IrModule};
use relax_spec::judge::Cx;
use relax_spec::refine::{RealVerdict, Settings, as_real_functions, refine};
use relax_spec::syntax::load::{ExternalForm, parse};

/// The task, with what stands behind its name on the command line.
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
        if let Ok(own) = as_real_functions(&mut Cx::new(), module, module, "main", &[], &settings) {
            println!("{name}: with itself {own}");
        }
        let all = mutants(module).count();
        // One in so many, from a place that the seed says.
        let step = (all / share.max(1)).max(1);
        for mutant in mutants(module).skip(seed % step).step_by(step).take(share) {
            if check_program(&mut Cx::new(), &mutant.module).accepts() {
                ask(&mut counted, name, module, &mutant.what, &mutant.module, &settings);
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

fn ask(counted: &mut Counted, name: &str, module: &IrModule, what: &str, mutant: &IrModule, settings: &Settings) {
    let start = Instant::now();
    let real = as_real_functions(&mut Cx::new(), module, mutant, "main", &[], settings);
    counted.ring += start.elapsed();
    match real {
        Ok(RealVerdict::Different(_)) => counted.different += 1,
        Ok(real @ (RealVerdict::Equal { .. } | RealVerdict::RoundedConstants { .. })) => {
            counted.equal += 1;
            println!("  {name}: {what}: {real}");
        }
        Ok(RealVerdict::Undecided(reason)) => {
            let reason = reason.chars().take(90).collect::<String>();
            *counted.undecided.entry(reason).or_default() += 1;
        }
        Err(error) => *counted.undecided.entry(error.to_string()).or_default() += 1,
    }
    if counted.different % 10 == 1 {
        let start = Instant::now();
        let _ = refine(&mut Cx::new(), module, module, "main", &[], settings);
        counted.floats += start.elapsed();
    }
}
