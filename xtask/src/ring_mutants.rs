//! One-place mutants of the kernels of the corpus and the models, in the ring. `cargo xtask ring-mutants 1000 [SEED]`
//! draws that many mutants of their `PrimFunc`s, each run alone. It counts those that the ring takes for another real
//! function, on which draw it does, and those that it takes for the same. These are printed, to be read. What the ring
//! leaves undecided is counted with its reason and what floats say. The time of the ring stands beside that of floats.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{fs, io};

use campaign::mutation::{Mutant, MutationKind, mutants_from};
use relax_spec::check::check_program;
use relax_spec::grammar::{GlobalFunc, IrModule, Name};
use relax_spec::judge::Cx;
use relax_spec::refine::{
    EDITION_OF_PRIM_FUNCS, RealVerdict, RefinementVerdict, Settings, as_real_functions, refine, with_entry,
};
use relax_spec::syntax::load::{ExternalForm, parse};

/// The task, with what stands behind its name on the command line.
pub fn run(args: Vec<String>) -> ExitCode {
    let mut numbers = args.iter().map(|arg| arg.parse::<usize>().ok());
    let wanted = numbers.next().flatten().unwrap_or(100);
    let seed = numbers.next().flatten().unwrap_or(0);
    match kernels() {
        Ok(kernels) => measure(&kernels, wanted, seed),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

/// A `PrimFunc`, and a function that calls it.
struct Kernel {
    name: String,
    /// The text that the places of mutants are in.
    text: String,
    module: IrModule,
    entry: Name,
}

impl Kernel {
    /// The kernels of a program, each without the other functions that it does not need.
    fn all_of(file: &str, text: &str, module: &IrModule) -> Vec<Kernel> {
        let prim_funcs = module.funcs.iter().filter(|(_, func)| matches!(func, GlobalFunc::PrimFunc(_)));
        let mut alone = module.clone();
        alone.funcs = prim_funcs.cloned().collect();
        let kernel = |name: &Name| {
            let (module, entry) = with_entry(&cx(), &alone, name)?;
            Some(Kernel { name: format!("{file} {name}"), text: text.to_string(), module, entry })
        };
        alone.funcs.iter().filter_map(|(name, _)| kernel(&name.name)).collect()
    }

    /// The mutants of its numbers. An order of iterations that is left open is none of a real function.
    fn mutants(&self) -> impl Iterator<Item = Mutant<'_>> {
        mutants_from(&self.module, &self.entry).filter(|mutant| mutant.kind != MutationKind::Order)
    }

    /// The line of the program that is changed.
    fn line(&self, mutant: &Mutant<'_>) -> &str {
        let rest = self.text.get(mutant.span.start as usize..);
        rest.and_then(|rest| rest.lines().next()).unwrap_or_default().trim()
    }

    fn in_the_ring(&self, other: &IrModule) -> RealVerdict {
        let settings = Settings::runs(1);
        as_real_functions(&mut cx(), &self.module, other, &self.entry, &[], &settings)
            .unwrap_or_else(|error| RealVerdict::Undecided(error.to_string()))
    }

    /// What floats say, by the kinds of verdicts.
    fn in_floats(&self, other: &IrModule) -> String {
        match refine(&mut cx(), &self.module, other, &self.entry, &[], &Settings::runs(4)).map(|r| r.verdict) {
            Ok(RefinementVerdict::Allowed) => "allowed".to_string(),
            Ok(RefinementVerdict::NotAllowed { rule, .. }) => format!("not allowed [{rule}]"),
            Ok(RefinementVerdict::Vacuous(_)) => "vacuous".to_string(),
            Ok(RefinementVerdict::Undecided(_)) => "undecided".to_string(),
            Ok(RefinementVerdict::OutOfBudget(_)) => "out of budget".to_string(),
            Err(error) => error.to_string(),
        }
    }
}

fn cx() -> Cx {
    Cx::new().with_edition(EDITION_OF_PRIM_FUNCS)
}

fn kernels() -> io::Result<Vec<Kernel>> {
    let mut found = Vec::new();
    for dir in ["corpus", "models"] {
        let dir = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../conformance")).join(dir);
        let mut paths: Vec<PathBuf> =
            fs::read_dir(dir)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
        paths.sort();
        for path in paths.iter().filter(|path| path.extension().is_some_and(|end| end == "py")) {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let text = fs::read_to_string(path)?;
            if let Ok(module) = parse(ExternalForm::TvmScript, &text) {
                found.extend(Kernel::all_of(&name, &text, &module));
            }
        }
    }
    Ok(found)
}

#[derive(Default)]
struct Counted {
    equal: usize,
    /// By the draw that shows the difference.
    different: BTreeMap<u32, usize>,
    undecided: BTreeMap<(String, String), usize>,
    ring: Duration,
    floats: Duration,
}

fn measure(kernels: &[Kernel], wanted: usize, seed: usize) {
    let share = wanted.div_ceil(kernels.len().max(1));
    let mut counted = Counted::default();
    for kernel in kernels {
        println!("{}: with itself {}", kernel.name, kernel.in_the_ring(&kernel.module));
        let well_formed = |mutant: &usize| {
            kernel.mutants().nth(*mutant).is_some_and(|m| check_program(&mut cx(), &m.module()).accepts())
        };
        let all: Vec<usize> = (0..kernel.mutants().count()).filter(well_formed).collect();
        // One in so many, from a place that the seed says.
        let step = (all.len() / share.max(1)).max(1);
        for mutant in all.into_iter().skip(seed % step).step_by(step).take(share) {
            if let Some(mutant) = kernel.mutants().nth(mutant) {
                ask(&mut counted, kernel, &mutant);
            }
        }
    }
    let undecided: usize = counted.undecided.values().sum();
    let different: usize = counted.different.values().sum();
    println!("{different} different, {} equal, {undecided} undecided", counted.equal);
    println!("different on draw: {:?}", counted.different);
    for ((reason, floats), count) in &counted.undecided {
        println!("  {count}: {reason}; in floats {floats}");
    }
    println!("ring {:?} for 5 draws, floats {:?} for 4 inputs of one in ten", counted.ring, counted.floats);
}

/// A reason without the function and the element that it names.
fn without_names(reason: &str) -> String {
    let reason = reason.split_once(": ").filter(|(name, _)| name.starts_with('@')).map_or(reason, |(_, rest)| rest);
    let part = |(i, part): (usize, &str)| if i % 2 == 0 { part.to_string() } else { "`..`".to_string() };
    let kept: String = reason.split('`').enumerate().map(part).collect();
    kept.split_once(" the shape [").map_or(kept.clone(), |(before, _)| format!("{before} the shape"))
}

fn ask(counted: &mut Counted, kernel: &Kernel, mutant: &Mutant<'_>) {
    let start = Instant::now();
    let real = kernel.in_the_ring(&mutant.module());
    counted.ring += start.elapsed();
    match real {
        RealVerdict::Different { draw, .. } => *counted.different.entry(draw).or_default() += 1,
        RealVerdict::Equal { .. } | RealVerdict::RoundedConstants { .. } => {
            counted.equal += 1;
            println!("  equal: {}: {}: {}: {real}", kernel.name, mutant.what, kernel.line(mutant));
        }
        RealVerdict::Undecided(reason) => {
            let floats = kernel.in_floats(&mutant.module());
            if !floats.starts_with("not allowed") {
                println!("  {floats} in floats: {}: {}: {}: {reason}", kernel.name, mutant.what, kernel.line(mutant));
            }
            *counted.undecided.entry((without_names(&reason), floats)).or_default() += 1;
        }
    }
    if counted.ring > counted.floats * 10 {
        let start = Instant::now();
        let _ = kernel.in_floats(&kernel.module);
        counted.floats += start.elapsed();
    }
}
