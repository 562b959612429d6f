//! What the core costs, in instructions: `cargo xtask instructions [--check|--write] [DRIVER..]`. A noisy machine hides
//! a loss of a few per cent in the time, and not in the number of instructions that `valgrind` counts.
//!
//! The figures belong to the profile `release` of the pinned toolchain. `--check` fails if a driver takes noticeably
//! more than is kept in `benches/instructions.txt`, or noticeably less: then the kept figure would hide the next loss.
//! `--write` keeps what is measured, and a commit with new figures says why.

use std::collections::BTreeMap;
use std::error::Error;
use std::hint::black_box;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use campaign::infos;
use relax_spec::book::Reading;
use relax_spec::check::check_program;
use relax_spec::grammar::{DataType, IrModule, StructInfo, TensorData};
use relax_spec::judge::Cx;
use relax_spec::oracle::answer_evaluate;
use relax_spec::question::Ask;
use relax_spec::struct_info::{check_compatibility, unify_struct_info};
use relax_spec::syntax::tvmscript::{Dialect, parse_module, print_module};
use relax_spec::value::ValueSpec;
use relax_spec::{normal_form, vm};

use crate::root;

type Failure = Box<dyn Error>;

/// The change that is noticed, in per cent.
const NOTICED: u64 = 5;

/// The function around what is counted, as `valgrind` knows it.
const COUNTED: &str = "xtask::instructions::counted";

/// What is prepared once, and then counted.
type Driver = (&'static str, fn() -> Result<Box<dyn Fn()>, Failure>);

/// The drivers, by name.
const DRIVERS: &[Driver] = &[
    ("parse-1000", || {
        let text = sums(1_000);
        Ok(Box::new(move || drop(black_box(parse_module(&text)))))
    }),
    ("print-1000", || {
        let module = parse_module(&sums(1_000))?;
        Ok(Box::new(move || drop(black_box(print_module(&module, Dialect::default())))))
    }),
    ("well-formed-1000", || {
        let module = parse_module(&sums(1_000))?;
        Ok(Box::new(move || drop(black_box(relax_spec::well_formed::check(&mut Cx::new(), &module)))))
    }),
    ("normalize-1000", || {
        let module = parse_module(&sums(1_000))?;
        Ok(Box::new(move || drop(black_box(normal_form::normalize_reporting(&mut Cx::new(), &module)))))
    }),
    ("check-1000", || checks(sums(1_000), Cx::new())),
    ("check-1000-literally", || checks(sums(1_000), Cx::new().with_reading(Reading::literal()))),
    ("check-concat-100", || checks(concatenations(100), Cx::new())),
    ("check-layers-50", || checks(layers(50), Cx::new())),
    ("compatibility-2000", || {
        let pairs = pairs();
        Ok(Box::new(move || {
            let mut cx = Cx::new();
            for (s1, s2) in &pairs {
                black_box(check_compatibility(&mut cx, s1, s2));
            }
        }))
    }),
    ("unify-2000", || {
        let pairs = pairs();
        Ok(Box::new(move || {
            let mut cx = Cx::new();
            pairs.iter().for_each(|(s1, s2)| drop(black_box(unify_struct_info(&mut cx, s1, s2))));
        }))
    }),
    ("run-1000-sums-of-4", || runs(1_000, 4)),
    ("run-10-sums-of-10000", || runs(10, 10_000)),
    ("build-1000", || {
        let module = parse_module(&sums(1_000))?;
        Ok(Box::new(move || drop(black_box(vm::build(&mut Cx::new(), &module)))))
    }),
];

/// A program and the name of its driver.
type CommandDriver = (&'static str, fn() -> String);

/// The drivers that are a whole command, from its start to its end: `check` of the program.
const COMMANDS: &[CommandDriver] = &[("command-check-1000", || sums(1_000))];

/// A function with so many bindings.
fn function(bindings: impl Iterator<Item = String>, last: &str, ret: &str) -> String {
    let lines: String = bindings.map(|binding| format!("        {binding}\n")).collect();
    format!(
        "@R.function\ndef main(x: R.Tensor((\"n\", 4), \"float32\")) -> {ret}:\n    with R.dataflow():\n{lines}        y = {last}\n        R.output(y)\n    return y\n"
    )
}

/// A chain of additions.
fn sums(bindings: usize) -> String {
    let before = |i: usize| if i == 0 { "x".to_string() } else { format!("lv{}", i - 1) };
    let lines = (0..bindings).map(|i| format!("lv{i} = R.add({}, x)", before(i)));
    function(lines, &format!("R.add({}, x)", before(bindings)), "R.Tensor((\"n\", 4), \"float32\")")
}

/// A tensor that grows by a symbolic size in every binding.
fn concatenations(bindings: usize) -> String {
    let before = |i: usize| if i == 0 { "x".to_string() } else { format!("lv{}", i - 1) };
    let lines = (0..bindings).map(|i| format!("lv{i} = R.concat(({}, x), axis=0)", before(i)));
    function(lines, &before(bindings), "R.Tensor(ndim=2, dtype=\"float32\")")
}

/// What a model has: products, reshaped, broadcast and reduced, with sizes of several variables.
fn layers(layers: usize) -> String {
    let before = |i: usize| if i == 0 { "x".to_string() } else { format!("z{}", i - 1) };
    let layer = |i: usize| {
        let x = before(i);
        [
            format!("a{i} = R.permute_dims({x})"),
            format!("b{i} = R.matmul({x}, a{i})"),
            format!("c{i} = R.nn.softmax(b{i}, axis=-1)"),
            format!("d{i} = R.matmul(c{i}, {x})"),
            format!("e{i} = R.reshape(d{i}, R.shape([n, 2, 2]))"),
            format!("f{i} = R.sum(e{i}, axis=[2], keepdims=True)"),
            format!("g{i} = R.add(e{i}, f{i})"),
            format!("h{i} = (g{i}, R.reshape(g{i}, R.shape([n, 4])))"),
            format!("z{i} = h{i}[1]"),
        ]
    };
    let text = function((0..layers).flat_map(layer), &before(layers), "R.Tensor((\"n\", 4), \"float32\")");
    text.replace("    with R.dataflow():\n", "    n = T.int64()\n    with R.dataflow():\n")
}

/// The check of a program that is accepted.
fn checks(text: String, cx: Cx) -> Result<Box<dyn Fn()>, Failure> {
    let module = parse_module(&text)?;
    if !check_program(&mut cx.clone(), &module).accepts() {
        return Err("the program is not accepted".into());
    }
    Ok(Box::new(move || drop(black_box(check_program(&mut cx.clone(), &module)))))
}

/// A chain of additions of tensors with so many elements.
fn runs(bindings: usize, elements: usize) -> Result<Box<dyn Fn()>, Failure> {
    let module: IrModule = parse_module(&sums(bindings))?;
    let rows = u64::try_from(elements / 4)?;
    let x = TensorData::from_values(DataType::FLOAT32, &[rows, 4], &vec![1.0; elements])?;
    let args = [ValueSpec::Tensor(x)];
    Ok(Box::new(move || drop(black_box(answer_evaluate(&mut Cx::new(), &module, "main", &args)))))
}

/// The pairs that the campaigns against implementations ask of.
fn pairs() -> Vec<(StructInfo, StructInfo)> {
    let pair = |number| match infos::questions(1, number) {
        [Ask::Compatibility(s1, s2), _] => Some((s1, s2)),
        [_, _] => None,
    };
    (0..2_000).filter_map(pair).collect()
}

/// Runs what is counted. It must not become a part of its caller.
#[inline(never)]
fn counted(work: &dyn Fn()) {
    work();
}

/// Runs the task with the arguments after its name.
pub fn run(args: Vec<String>) -> ExitCode {
    crate::ended(match args.iter().map(String::as_str).collect::<Vec<&str>>().as_slice() {
        ["--run", name, times] => run_driver(name, times),
        ["--check", names @ ..] => measured(names).and_then(|figures| compare(&figures)),
        ["--write", names @ ..] => measured(names).and_then(keep),
        names => measured(names).map(|_| ()),
    })
}

/// Runs one driver in this process.
fn run_driver(name: &str, times: &str) -> Result<(), Failure> {
    let (_, prepare) = DRIVERS.iter().find(|(known, _)| *known == name).ok_or("there is no such driver")?;
    let work = prepare()?;
    for _ in 0..times.parse::<u32>()? {
        counted(&*work);
    }
    Ok(())
}

fn known() -> impl Iterator<Item = &'static str> {
    DRIVERS.iter().map(|(name, _)| *name).chain(COMMANDS.iter().map(|(name, _)| *name))
}

type Figures = BTreeMap<String, u64>;

fn path() -> PathBuf {
    root().join("benches/instructions.txt")
}

/// The kept figures.
fn kept() -> Result<Figures, Failure> {
    let figure = |line: &str| {
        let (name, figure) = line.split_once(' ')?;
        Some((name.to_string(), figure.trim().parse().ok()?))
    };
    Ok(std::fs::read_to_string(path()).unwrap_or_default().lines().filter_map(figure).collect())
}

/// Measures the drivers with these names, or all, and prints the figures.
fn measured(names: &[&str]) -> Result<Figures, Failure> {
    let kept = kept()?;
    let mut figures = Figures::new();
    for name in known().filter(|name| names.is_empty() || names.contains(name)) {
        let figure = instructions(name)?;
        let change = kept
            .get(name)
            .map_or("new".to_string(), |kept| format!("{:+.1} %", (figure as f64 / *kept as f64 - 1.0) * 100.0));
        println!("{name:<24} {figure:>14} {change:>10}");
        figures.insert(name.to_string(), figure);
    }
    Ok(figures)
}

/// The instructions of one run of a driver.
fn instructions(name: &str) -> Result<u64, Failure> {
    let tasks = std::env::current_exe()?;
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    let dir = tempfile::tempdir()?;
    match COMMANDS.iter().find(|(known, _)| *known == name) {
        Some((_, program)) => {
            let file = dir.path().join("program.py");
            std::fs::write(&file, program())?;
            valgrind.arg(tasks.with_file_name("relax-spec")).arg("check").arg(file);
        }
        None => {
            valgrind.arg(format!("--toggle-collect={COUNTED}*")).arg(tasks).args(["instructions", "--run", name, "1"]);
        }
    }
    let output = valgrind.output().map_err(|error| format!("valgrind: {error}"))?;
    let told = String::from_utf8_lossy(&output.stderr);
    let figure = told.lines().find_map(|line| line.split("Collected :").nth(1)?.trim().parse().ok());
    match figure {
        Some(figure) if output.status.success() && figure > 0 => Ok(figure),
        Some(_) | None => Err(format!("{name}: {told}").into()),
    }
}

/// Whether every figure is about the kept one.
fn compare(figures: &Figures) -> Result<(), Failure> {
    let kept = kept()?;
    let differs = |(name, figure): (&String, &u64)| {
        let about = kept.get(name).is_some_and(|kept| figure.abs_diff(*kept) * 100 <= kept * NOTICED);
        (!about).then(|| name.clone())
    };
    let differing: Vec<String> = figures.iter().filter_map(differs).collect();
    if differing.is_empty() {
        return Ok(());
    }
    let differing = differing.join(", ");
    Err(format!("{differing}: not what is kept; if that is meant, say why and run `cargo xtask instructions --write`")
        .into())
}

/// Keeps the figures.
fn keep(figures: Figures) -> Result<(), Failure> {
    let mut all = kept()?;
    all.extend(figures);
    all.retain(|name, _| known().any(|known| known == name));
    let lines: String = all.iter().map(|(name, figure)| format!("{name} {figure}\n")).collect();
    Ok(std::fs::write(path(), lines)?)
}
