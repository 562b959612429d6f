//! The virtual machine: what it comes to is what the evaluator comes to, and what is wrong with an executable is said with its place.

use std::path::{Path, PathBuf};

use relax_spec::book::Edition;
use relax_spec::data::json::write;
use relax_spec::data::{Write as _, from_json};
use relax_spec::eval::prelude;
use relax_spec::grammar::IrModule;
use relax_spec::harness::engines::{End, Trial, program, try_all};
use relax_spec::judge::{Cx, Ending};
use relax_spec::normal_form::normalize;
use relax_spec::oracle::{Engine, outcome_by};
use relax_spec::question::{Ask, Program};
use relax_spec::refine::{Settings, Verdict, refine};
use relax_spec::suite::embedded_suite;
use relax_spec::syntax::load;
use relax_spec::value::{ValueSpec, from_specs};
use relax_spec::vm::{self, Executable};

fn files(directory: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    let mut files: Vec<PathBuf> = std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "py"));
    files.sort();
    files
}

/// The programs of the corpus.
fn corpus() -> Vec<(PathBuf, IrModule)> {
    let directories = [
        "conformance/corpus",
        "conformance/corpus/tvm-0.25",
        "conformance/corpus/tvm-0.26",
        "conformance/corpus/tvm-0.27",
        "examples",
    ];
    let paths = directories.into_iter().flat_map(files);
    paths.filter_map(|path| Some((path.clone(), load::load(&path).ok()?))).collect()
}

/// The programs that the suite runs, and compares.
fn programs_of_the_suite() -> Vec<(String, IrModule)> {
    let suite = embedded_suite().unwrap();
    let modules = suite.into_iter().filter_map(|case| match case.ask.clone().with_module() {
        Ask::Evaluate(Program::Module(module), ..) | Ask::EvaluateIdentity(Program::Module(module), ..) => {
            Some((case.id, module))
        }
        _ => None,
    });
    modules.collect()
}

#[test]
fn every_case_comes_to_the_same() {
    let mut different = Vec::new();
    let mut compared = 0;
    for case in embedded_suite().unwrap() {
        let runs = matches!(case.ask, Ask::Evaluate(..) | Ask::EvaluateIdentity(..));
        let editions =
            Edition::ALL.into_iter().filter(|edition| case.editions.iter().any(|name| name == edition.name()));
        for edition in editions.filter(|_| runs) {
            let by = |engine| outcome_by(&mut Cx::new().with_edition(edition), engine, &case.ask);
            let (evaluator, machine) = (by(Engine::Evaluator), by(Engine::Machine));
            compared += 1;
            if evaluator != machine {
                different.push(format!("{}\n  evaluator: {evaluator:?}\n  machine: {machine:?}", case.id));
            }
        }
    }
    assert!(compared > 1_500, "{compared}");
    assert!(different.is_empty(), "{} of {compared}:\n{}", different.len(), different.join("\n"));
}

#[test]
fn every_program_of_the_corpus_comes_to_the_same() {
    let mut values = 0;
    for (path, module) in corpus() {
        for trial in try_all(&module, 6) {
            match trial {
                Trial::Same(End::Returns(_)) => values += 1,
                Trial::Same(End::Fails(_) | End::Unspecified) | Trial::Limited => {}
                Trial::Different(difference) => panic!("{}:\n{difference}", path.display()),
            }
        }
    }
    assert!(values > 60, "{values}");
}

#[test]
fn generated_programs_come_to_the_same() {
    let (mut values, mut errors, mut limited) = (0, 0, 0);
    for seed in 0..3_000 {
        for trial in try_all(&program(seed), 1) {
            match trial {
                Trial::Same(End::Returns(_)) => values += 1,
                Trial::Same(End::Fails(_)) => errors += 1,
                Trial::Same(End::Unspecified) => {}
                Trial::Limited => limited += 1,
                Trial::Different(difference) => {
                    panic!("the program of seed {seed} (examples/engines.rs shows it):\n{difference}")
                }
            }
        }
    }
    assert!(values > 2_000 && errors > 50 && limited < values / 10, "{values} {errors} {limited}");
}

fn built(module: &IrModule) -> Executable {
    vm::build(&mut Cx::new(), module)
}

#[test]
fn what_is_built_is_verified_and_read_back() {
    let programs = corpus().into_iter().map(|(path, module)| (path.display().to_string(), module));
    for (name, module) in programs.chain(programs_of_the_suite()) {
        let executable = built(&module);
        assert_eq!(vm::verify(&executable), [], "{name}");
        let text = vm::print(&executable);
        let read = vm::read(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        assert_eq!(vm::print(&read), text, "{name}");
        let data: Executable = from_json(&write(&executable.write())).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(vm::print(&data), text, "{name}");
    }
}

/// The first stage gives a program of the language, which must do what the source does.
#[test]
fn normal_forms_refine_their_programs() {
    for (path, module) in corpus() {
        let normal = normalize(&mut Cx::new(), &module);
        for entry in relax_spec::harness::engines::entries(&module) {
            match refine(&mut Cx::new(), &module, &normal, &entry, &[], &Settings::runs(2)) {
                Ok(refinement) => {
                    let verdict = refinement.verdict;
                    assert!(!matches!(verdict, Verdict::NotAllowed { .. }), "{}: {verdict:?}", path.display());
                }
                Err(_) => continue,
            }
        }
    }
}

const HEAD: &str = "relax-spec executable 1
constant 0 {\"DataType\":\"float32\"}
callee 0 {\"Builtin\":\"vm.builtin.read_if_cond\"}
callee 1 {\"Builtin\":\"vm.builtin.copy\"}
callee 2 {\"Builtin\":\"vm.builtin.alloc_shape_heap\"}
callee 3 {\"Builtin\":\"vm.builtin.match_shape\"}
callee 4 {\"Builtin\":\"vm.builtin.make_shape\"}
callee 5 {\"Builtin\":\"vm.builtin.make_closure\"}
callee 6 {\"Function\":0}
callee 7 {\"Builtin\":\"vm.builtin.check_tensor_info\"}
";

/// A function `main` of some parameters and registers.
fn main_of(params: u32, registers: u32, code: &[&str]) -> String {
    let mut text = format!(
        "{HEAD}function \"main\" params {params} captured 0 registers {registers} global symbol \"main\"\nsignature \"Object\"\n"
    );
    code.iter().enumerate().for_each(|(at, instruction)| text.push_str(&format!("{at}: {instruction}\n")));
    text
}

/// What the verifier says.
fn faults(text: &str) -> String {
    let executable = vm::read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let faults: Vec<String> = vm::verify(&executable).iter().map(ToString::to_string).collect();
    faults.join("; ")
}

#[test]
fn wrong_executables_are_refused_with_their_place() {
    let wrong = [
        (
            "a register that one path does not write",
            main_of(2, 4, &["%2 = call f[0] (%0)", "if %2 else 2", "%3 = call f[1] (%1)", "ret %3"]),
            "main: instruction 3: %3 is read",
        ),
        ("a register that is read first", main_of(0, 1, &["ret %0"]), "main: instruction 0: %0 is read"),
        ("a jump behind the end", main_of(1, 1, &["goto 2", "ret %0"]), "main: instruction 0: a jump by 2"),
        (
            "a jump before the beginning",
            main_of(1, 1, &["if %0 else -1", "ret %0"]),
            "main: instruction 0: a jump by -1",
        ),
        ("a loop without end", main_of(1, 1, &["goto 0", "ret %0"]), "main: instruction 0: no path from here returns"),
        ("no end", main_of(1, 2, &["%1 = call f[1] (%0)"]), "main: instruction 0: the function goes on"),
        ("a register that is not declared", main_of(1, 1, &["ret %1"]), "main: instruction 0: %1 is not declared"),
        (
            "a constant that is not there",
            main_of(1, 2, &["%1 = call f[1] (c[1])", "ret %1"]),
            "main: instruction 0: there is no constant c[1]",
        ),
        (
            "a callee that is not there",
            main_of(1, 2, &["%1 = call f[8] (%0)", "ret %1"]),
            "main: instruction 0: f[8] is not in the function table",
        ),
        (
            "a closure of other captured values",
            main_of(1, 2, &["%1 = call f[5] (f[6], %0)", "ret %1"]),
            "main: instruction 0: a closure is made",
        ),
        ("too many parameters", main_of(2, 1, &["ret %0"]), "main: 2 parameters do not fit"),
        (
            "a register that a loop has not written the first time",
            main_of(1, 3, &["%1 = call f[0] (%0)", "if %1 else 3", "%2 = call f[1] (%0)", "goto -2", "ret %2"]),
            "main: instruction 4: %2 is read",
        ),
    ];
    for (what, text, expected) in wrong {
        let found = faults(&text);
        assert!(found.contains(expected), "{what}: {found}");
    }
}

fn run(text: &str, args: &[ValueSpec]) -> Ending<String> {
    let executable = vm::read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let options = vm::Options { fuel: 10_000, max_depth: 50, ..vm::Options::new(prelude()) };
    let args = from_specs(args, &options.registry).unwrap();
    match vm::run(&mut Cx::new(), &executable, "main", args, &options).outcome {
        Ending::Value(value) => Ending::Value(value.to_string()),
        Ending::Error(error) => Ending::Error(error),
        Ending::OutOfFuel => Ending::OutOfFuel,
        Ending::Unspecified(reason) => Ending::Unspecified(reason),
    }
}

#[test]
fn what_only_a_run_shows_is_told_with_its_place() {
    let heap = "%2 = call f[2] (2)";
    let stored_on_one_path = [
        heap,
        "%3 = call f[0] (%0)",
        "if %3 else 2",
        "call f[3] (%1, %2, 1, 0, 2, 1)",
        "%4 = call f[4] (%2, 1, 1)",
        "ret %4",
    ];
    let text = main_of(2, 5, &stored_on_one_path);
    assert_eq!(faults(&text), "");
    let shape = || ValueSpec::Shape(vec![7]);
    assert_eq!(run(&text, &[ValueSpec::Bool(true), shape()]), Ending::Value("shape(7)".into()));
    let poison = run(&text, &[ValueSpec::Bool(false), shape()]);
    assert_eq!(poison, Ending::Unspecified("slot 1 is read before it is written [main, instruction 4]".into()));
    let wrong = [
        (main_of(2, 3, &["%2 = call f[4] (%1, 1, 0)", "ret %2"]), "%1 is not a shape heap [main, instruction 0]"),
        (main_of(2, 3, &["if %1 else 1", "ret %0"]), "%1 holds no truth value [main, instruction 0]"),
        (main_of(2, 3, &[heap, "%0 = call f[4] (%2, 1, 5)", "ret %0"]), "the heap has no slot 5 [main, instruction 1]"),
        (
            main_of(2, 3, &["%2 = call f[2] (%0)", "ret %2"]),
            "vm.builtin.alloc_shape_heap takes other arguments [main, instruction 0]",
        ),
        (main_of(2, 3, &["%2 = call f[7] (%0, 1, %1)", "ret %2"]), "a data type is a constant [main, instruction 0]"),
        (main_of(2, 3, &["ret %2"]), "%2 is read before it is written [main, instruction 0]"),
    ];
    for (text, expected) in wrong {
        assert_eq!(run(&text, &[ValueSpec::Bool(true), shape()]), Ending::Unspecified(expected.into()), "{text}");
    }
}

/// A register that is used again while what was in it is still wanted gives another value than the program has.
#[test]
fn a_register_used_again_across_a_branch_gives_another_value() {
    let right =
        ["%2 = call f[0] (%0)", "if %2 else 3", "%3 = call f[1] (%1)", "goto 2", "%3 = call f[1] (%0)", "ret %3"];
    let wrong =
        right.map(|instruction| if instruction == "%3 = call f[1] (%1)" { "%1 = call f[1] (%0)" } else { instruction });
    let wrong = wrong.map(|instruction| if instruction == "ret %3" { "ret %1" } else { instruction });
    let args = [ValueSpec::Bool(true), ValueSpec::Int(5)];
    assert_eq!(run(&main_of(2, 4, &right), &args), Ending::Value("5".into()));
    assert_eq!(run(&main_of(2, 4, &wrong), &args), Ending::Value("true".into()));
}

/// What is no executable is refused with its line; what is one, however wrong, ends.
#[test]
fn mutated_executables_neither_panic_nor_hang() {
    let programs: Vec<Executable> = corpus().iter().map(|(_, module)| built(module)).collect();
    let texts: Vec<String> = programs.iter().map(vm::print).filter(|text| text.len() < 20_000).collect();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    let (mut read, mut verified) = (0, 0);
    for round in 0..4_000 {
        let mut lines: Vec<String> = texts[round % texts.len()].lines().map(str::to_string).collect();
        for _ in 0..=random(3) {
            let (at, other) = (random(lines.len()), random(lines.len()));
            match random(5) {
                0 => lines.swap(at, other),
                1 => drop(lines.remove(at)),
                2 => lines[at] = lines[other].clone(),
                _ => lines[at] = mutated(&lines[at], &mut random),
            }
            if lines.is_empty() {
                break;
            }
        }
        let Ok(executable) = vm::read(&lines.join("\n")) else { continue };
        read += 1;
        verified += usize::from(vm::verify(&executable).is_empty());
        let options = vm::Options { fuel: 2_000, max_depth: 20, memory: 1 << 20, ..vm::Options::new(prelude()) };
        let entry = executable.functions.iter().find_map(|f| f.symbol.clone()).unwrap_or("main".into());
        let params = executable.functions.first().map_or(0, |f| f.params.min(8));
        let args = vec![ValueSpec::Shape(vec![2]); params as usize];
        let args = from_specs(&args, &options.registry).unwrap();
        let _ended = vm::run(&mut Cx::new(), &executable, &entry, args, &options);
    }
    assert!(read > 300 && verified > 50, "{read} {verified}");
}

/// A line with a number changed, or a character.
fn mutated(line: &str, random: &mut impl FnMut(usize) -> usize) -> String {
    let mut chars: Vec<char> = line.chars().collect();
    let digits: Vec<usize> = (0..chars.len()).filter(|at| chars[*at].is_ascii_digit()).collect();
    if chars.is_empty() {
        return "ret %0".to_string();
    }
    if !digits.is_empty() && random(3) > 0 {
        let at = digits[random(digits.len())];
        chars[at] = char::from(b'0' + random(10) as u8);
    } else {
        let at = random(chars.len());
        chars[at] = char::from(b' ' + random(90) as u8);
    }
    chars.into_iter().collect()
}

/// R89.VM.INSTR.SET: call, ret, if and goto, and no other.
#[test]
fn there_are_four_instructions() {
    for other in ["jump 1", "move %0", "%0 = ret %0", "calls f[0] (%0)", "if %0 1"] {
        let error = vm::read(&main_of(1, 1, &[other, "ret %0"])).unwrap_err();
        assert_eq!(error.line, 13, "{other}: {error}");
    }
}
