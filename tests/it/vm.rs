//! The virtual machine: its outcomes are those of the evaluator, and faults of executables are reported with their
//! position.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ask::conformance;
use ask::executables::OnMachine;
use ask::protocol::with_module;
use campaign::damage::{self, Damaged};
use campaign::engines::{End, EngineTrial, program, try_all, try_program};
use relax_spec::book::Edition;
use relax_spec::data::json::write;
use relax_spec::data::{Write as _, from_json};
use relax_spec::eval::prelude;
use relax_spec::grammar::{DataType, IrModule, TensorData};
use relax_spec::judge::{Cx, Ending};
use relax_spec::normal_form::normalize;
use relax_spec::oracle::{Engine, outcome_by};
use relax_spec::question::{Ask, ProgramInput};
use relax_spec::refine::{
    RefineError, Refinement, RefinementVerdict, Settings, refine, refine_compiled, refine_stages,
};
use relax_spec::syntax::load;
use relax_spec::syntax::tvmscript::parse_module;
use relax_spec::value::{Returned, ValueSpec, from_specs, to_spec_with_identity};
use relax_spec::vm::{self, Builtin, Callee, CompileStage, Executable, TvmExecutable, TvmFunction};

fn files(directory: &str) -> Vec<PathBuf> {
    let directory = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(directory);
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

/// The programs that the suite runs and compares.
fn programs_of_the_suite() -> Vec<(String, IrModule)> {
    let suite = conformance::suite().unwrap();
    let modules = suite.into_iter().filter_map(|case| match with_module(case.ask.clone()) {
        Ask::Evaluate(ProgramInput::Module(module), ..) | Ask::EvaluateIdentity(ProgramInput::Module(module), ..) => {
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
    for case in conformance::suite().unwrap() {
        let runs = matches!(case.ask, Ask::Evaluate(..) | Ask::EvaluateIdentity(..));
        for edition in case.editions.iter().copied().filter(|_| runs) {
            let by = |engine| outcome_by(&mut Cx::new().with_edition(case.basis_in(edition)), engine, &case.ask);
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
        for trial in try_all(Edition::default(), &module, 6) {
            match trial {
                EngineTrial::Same(End::Returns(_)) => values += 1,
                EngineTrial::Same(End::Fails(_) | End::Unspecified) | EngineTrial::Limited => {}
                EngineTrial::Different(difference) => panic!("{}:\n{difference}", path.display()),
            }
        }
    }
    assert!(values > 60, "{values}");
}

fn generated_programs_come_to_the_same(edition: Edition) {
    let (mut values, mut errors, mut limited) = (0, 0, 0);
    for seed in 0..3_000 {
        for trial in try_all(edition, &program(edition, seed), 1) {
            match trial {
                EngineTrial::Same(End::Returns(_)) => values += 1,
                EngineTrial::Same(End::Fails(_)) => errors += 1,
                EngineTrial::Same(End::Unspecified) => {}
                EngineTrial::Limited => limited += 1,
                EngineTrial::Different(difference) => {
                    panic!("seed {seed}, shown by `cargo xtask engines 1 {seed} --edition {edition}`:\n{difference}")
                }
            }
        }
    }
    assert!(values > 2_000 && errors > 50 && limited < values / 10, "{values} {errors} {limited}");
}

#[test]
fn generated_programs_come_to_the_same_2023_02() {
    generated_programs_come_to_the_same(Edition::E2023_02);
}

#[test]
fn generated_programs_come_to_the_same_2023_12() {
    generated_programs_come_to_the_same(Edition::E2023_12);
}

#[test]
fn generated_programs_come_to_the_same_2024_04() {
    generated_programs_come_to_the_same(Edition::E2024_04);
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

/// The first stage gives a program of the language with the behaviour of the source.
#[test]
fn normal_forms_refine_their_programs() {
    for (path, module) in corpus() {
        let normal = normalize(&mut Cx::new(), &module);
        for entry in campaign::engines::entries(&module) {
            match refine(&mut Cx::new(), &module, &normal, &entry, &[], &Settings::runs(2)) {
                Ok(refinement) => {
                    let verdict = refinement.verdict;
                    assert!(
                        !matches!(verdict, RefinementVerdict::NotAllowed { .. }),
                        "{}: {verdict:?}",
                        path.display()
                    );
                }
                Err(_) => continue,
            }
        }
    }
}

/// Whether the stage before allows a stage; false if no arguments can be generated.
fn allowed(stage: &str, judged: Result<Refinement, RefineError>) -> bool {
    match judged.map(|refinement| refinement.verdict) {
        Ok(RefinementVerdict::Allowed) => true,
        Ok(RefinementVerdict::Vacuous(_) | RefinementVerdict::Undecided(_) | RefinementVerdict::OutOfBudget(_))
        | Err(RefineError::Arguments(_)) => false,
        Ok(verdict @ RefinementVerdict::NotAllowed { .. }) => panic!("{stage}: {verdict:?}"),
        Err(error) => panic!("{stage}: {error}"),
    }
}

/// The compiler is judged stage by stage: the first stage against the program, each other against the one before.
#[test]
fn each_stage_refines_the_one_before() {
    let (mut judged, mut changed) = ([0; CompileStage::ALL.len()], [0; CompileStage::ALL.len()]);
    for (path, module) in corpus() {
        let made = CompileStage::ALL.map(|stage| OnMachine(vm::build_up_to(&mut Cx::new(), &module, stage)));
        for (i, pair) in made.windows(2).enumerate() {
            changed[i + 1] += usize::from(pair[0].0 != pair[1].0);
        }
        for entry in campaign::engines::entries(&module) {
            let settings = Settings::runs(2);
            let told = |i: usize| format!("{}: {:?} of {entry}", path.display(), CompileStage::ALL[i]);
            let first = refine_compiled(&mut Cx::new(), &module, &made[0], &entry, &[], &settings);
            judged[0] += usize::from(allowed(&told(0), first));
            for (i, pair) in made.windows(2).enumerate() {
                let next = refine_stages(&mut Cx::new(), &module, &pair[0], &pair[1], &entry, &settings);
                judged[i + 1] += usize::from(allowed(&told(i + 1), next));
            }
        }
    }
    assert!(judged.iter().all(|count| *count > 20), "{judged:?}");
    assert!(changed[1..].iter().all(|count| *count > 0), "{changed:?}");
}

/// The ending of a run of an executable, with its effects; `None` at a limit.
fn end_of(executable: &Executable, entry: &str, args: &[ValueSpec]) -> Option<String> {
    let options = vm::VmOptions { fuel: 1_000_000, max_depth: 200, ..vm::VmOptions::new(prelude()) };
    let args = from_specs(args, &options.registry).ok()?;
    let run = vm::run(&mut Cx::new(), executable, entry, args.clone(), &options);
    match run.outcome {
        Ending::Value(value) => Some(format!("{:?} {:?}", to_spec_with_identity(&value, &args), run.effects)),
        Ending::Error(error) => Some(format!("{} {:?}", error.rule.id(), run.effects)),
        Ending::Unspecified(_) | Ending::Unknown(_) => Some(format!("unspecified {:?}", run.effects)),
        Ending::OutOfFuel => None,
    }
}

/// Every stage of compilation gives the same outcome for every case.
#[test]
fn every_stage_comes_to_the_same_in_every_case() {
    let mut compared = 0;
    for case in conformance::suite().unwrap() {
        let id = case.id.clone();
        let (Ask::Evaluate(ProgramInput::Module(module), entry, args)
        | Ask::EvaluateIdentity(ProgramInput::Module(module), entry, args)
        | Ask::EvaluateCompiled(ProgramInput::Module(module), entry, args)) = with_module(case.ask)
        else {
            continue;
        };
        let ends =
            CompileStage::ALL.map(|stage| end_of(&vm::build_up_to(&mut Cx::new(), &module, stage), &entry, &args));
        if ends.iter().all(Option::is_some) {
            compared += 1;
            assert!(ends.iter().all(|end| *end == ends[0]), "{id}: {ends:#?}");
        }
    }
    assert!(compared > 1_000, "{compared}");
}

/// The functions that the calls of `call_tir` below use.
const CALLED: &str = r#"
@I.ir_module
class Module:
    @T.prim_func
    def twice(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            Y[i] = X[i] + X[i]

    @T.prim_func
    def sum(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), z: T.Buffer((4,), "float32")):
        for i in range(4):
            z[i] = x[i] + y[i]

    @T.prim_func
    def both(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), z: T.Buffer((3,), "float32")):
        for i in range(4):
            y[i] = x[i]
        for i in range(3):
            z[i] = x[i]

    @T.prim_func
    def count(n: T.int64, y: T.Buffer((4,), "int64")):
        for i in range(4):
            y[i] = n

    @T.prim_func
    def fill(y: T.handle):
        n = T.int64()
        Y = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            Y[i] = T.float32(1)

    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32"), k: R.Prim(value="k"), s: R.Shape(["m"]), o: R.Object) -> R.Object:
        n = T.int64()
        k = T.int64()
        cls = Module
"#;

/// The body of `main` in a program with those functions.
fn calling(body: &str) -> IrModule {
    let mut text = CALLED.to_string();
    body.lines().for_each(|line| text.push_str(&format!("        {line}\n")));
    parse_module(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

/// The number of calls that allocate, that call a `PrimFunc` with outputs, and that call the operator.
fn lowered(module: &IrModule) -> (usize, usize, usize) {
    let executable = built(module);
    let count = |is: &dyn Fn(&Callee) -> bool| executable.callees.iter().filter(|callee| is(callee)).count();
    (
        count(&|callee| matches!(callee, Callee::Builtin(Builtin::AllocTensor))),
        count(&|callee| matches!(callee, Callee::PrimFunc(f) if f.outputs > 0 && (f.index as usize) < 5)),
        count(&|callee| matches!(callee, Callee::Operator(f) if &*f.name == "relax.call_tir")),
    )
}

fn of_four() -> ValueSpec {
    ValueSpec::Tensor(TensorData::from_values(DataType::FLOAT32, &[4], &[1.0, 2.0, 3.0, 4.0]).unwrap())
}

/// A run on a tensor of four elements, a boxed scalar, a shape, and an object without annotation.
fn tried(module: &IrModule, k: i64) -> End {
    let args = [of_four(), ValueSpec::Int(k), ValueSpec::Shape(vec![4]), of_four()];
    match try_program(Edition::default(), module, "main", &args) {
        EngineTrial::Same(end) => end,
        other => panic!("{other:?}"),
    }
}

/// R89.DPS: for every form of the call, its results are allocated and its `PrimFunc` is called. The outcome is that of
/// the evaluator, including errors.
#[test]
fn calls_in_destination_passing_style_allocate_their_results() {
    let returned = [
        "return R.call_tir(cls.twice, (x,), out_sinfo=R.Tensor((4,), \"float32\"))",
        "return R.call_tir(cls.twice, (x,), out_sinfo=R.Tensor((n,), \"float32\"))",
        "return R.call_tir(cls.twice, (o,), out_sinfo=R.Tensor((n,), \"float32\"))",
        "return R.call_tir(cls.fill, (), out_sinfo=R.Tensor((n + 1,), \"float32\"))",
        "return R.call_tir(cls.fill, (), out_sinfo=R.Tensor((k,), \"float32\"))",
        "return R.call_tir(cls.count, (R.prim_value(n),), out_sinfo=R.Tensor((4,), \"int64\"))",
        "return R.call_tir(cls.twice, (R.const([1, 2], \"float32\"),), out_sinfo=R.Tensor((2,), \"float32\"))",
        "y = R.add(x, x)\nreturn R.call_tir(cls.twice, (y,), out_sinfo=R.Tensor((n,), \"float32\"))",
        "y = R.add(x, x)\nreturn R.call_tir(cls.sum, (y, x), out_sinfo=R.Tensor((4,), \"float32\"))",
        "t = R.shape([n])\nreturn R.call_tir(cls.twice, (x,), t, dtype=\"float32\")",
        "t = R.shape([n * 2])\nu = t\nreturn R.call_tir(cls.fill, (), u, dtype=\"float32\")",
        "t = (x, o)\nreturn R.call_tir(cls.sum, t, out_sinfo=R.Tensor((4,), \"float32\"))",
        "t = (x, o)\nreturn R.call_tir(cls.sum, t, out_sinfo=R.Tensor((n,), \"float32\"))",
        "return R.call_tir(cls.both, (x,), out_sinfo=[R.Tensor((4,), \"float32\"), R.Tensor((n - 1,), \"float32\")])",
    ];
    for body in returned {
        let module = calling(body);
        assert_eq!(lowered(&module), (1, 1, 0), "{body}\n{}", vm::print(&built(&module)));
        assert!(matches!(tried(&module, 2), End::Returns(_)), "{body}");
    }
    let failing = [
        ("return R.call_tir(cls.fill, (), out_sinfo=R.Tensor((n - 5,), \"float32\"))", "SI.DIM.SHAPEEXPR-ERR"),
        ("return R.call_tir(cls.fill, (), out_sinfo=R.Tensor((k,), \"float32\"))", "SI.DIM.SHAPEEXPR-ERR"),
        ("return R.call_tir(cls.fill, (), out_sinfo=R.Tensor((n // (k + 3),), \"float32\"))", "SI.DIM.SHAPEEXPR-ERR"),
        ("return R.call_tir(cls.fill, (), R.shape([n]))", "OP.CALLTIR.DTYPE"),
        ("return R.call_tir(cls.fill, (), out_sinfo=R.Tensor((n,), \"int32\"))", "OP.CALLTIR.RESULT-CHECK"),
        ("return R.call_tir(cls.twice, (x,), out_sinfo=R.Tensor((n + 1,), \"float32\"))", "OP.CALLTIR.RESULT-CHECK"),
    ];
    for (body, rule) in failing {
        let module = calling(body);
        assert_eq!(lowered(&module), (1, 1, 0), "{body}\n{}", vm::print(&built(&module)));
        assert!(
            matches!(tried(&module, -3), End::Fails(found) if found.id() == rule),
            "{body}: {:?}",
            tried(&module, -3)
        );
    }
}

/// Calls whose results cannot be allocated before the values are known are left to the operator, with the same outcome.
#[test]
fn calls_of_an_uncertain_form_are_left_to_the_operator() {
    let bodies = [
        // A variable may hold a value that is not a shape, or a shape of a different rank.
        "return R.call_tir(cls.fill, (), s, dtype=\"float32\")",
        "return R.call_tir(cls.fill, (), o, dtype=\"float32\")",
        "t = R.shape_of(x)\nreturn R.call_tir(cls.fill, (), t, dtype=\"float32\")",
        // It is unknown whether this is a tuple of inputs or of shapes.
        "t = (o, o)\nreturn R.call_tir(cls.sum, t, out_sinfo=R.Tensor((4,), \"float32\"))",
        // The numbers follow the outputs.
        "return R.call_tir(cls.fill, (), out_sinfo=R.Tensor((n,), \"float32\"), tir_vars=R.shape([n]))",
    ];
    for body in bodies {
        let module = calling(body);
        assert_eq!(lowered(&module), (0, 0, 1), "{body}\n{}", vm::print(&built(&module)));
        tried(&module, 2);
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

/// A function `main` with this many parameters and registers.
fn main_of(params: u32, registers: u32, code: &[&str]) -> String {
    let mut text = format!(
        "{HEAD}function \"main\" params {params} captured 0 registers {registers} global symbol \"main\"\nsignature \"Object\"\n"
    );
    code.iter().enumerate().for_each(|(at, instruction)| text.push_str(&format!("{at}: {instruction}\n")));
    text
}

/// The faults that the verifier finds.
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

/// The text form of another version is not read. Its data form is read, and then rejected.
#[test]
fn executables_of_another_version_are_refused() {
    let text = main_of(1, 1, &["ret %0"]);
    let other = vm::read(&text.replace("executable 1", "executable 2")).unwrap_err();
    assert_eq!(other.line, 1, "{other}");
    let data = write(&Executable { version: 2, ..vm::read(&text).unwrap() }.write());
    let faults = vm::verify(&from_json::<Executable>(&data).unwrap());
    assert_eq!(faults.len(), 1);
    assert!(faults[0].to_string().contains("the version of the form is 2"), "{}", faults[0]);
}

fn run(text: &str, args: &[ValueSpec]) -> Ending<String> {
    let executable = vm::read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let options = vm::VmOptions { fuel: 10_000, max_depth: 50, ..vm::VmOptions::new(prelude()) };
    let args = from_specs(args, &options.registry).unwrap();
    match vm::run(&mut Cx::new(), &executable, "main", args, &options).outcome {
        Ending::Value(value) => Ending::Value(value.to_string()),
        Ending::Error(error) => Ending::Error(error),
        Ending::OutOfFuel => Ending::OutOfFuel,
        Ending::Unspecified(reason) => Ending::Unspecified(reason),
        Ending::Unknown(what) => Ending::Unknown(what),
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

/// In an executable of TVM a compiled `PrimFunc` is a packed function, and may be the argument of a call.
#[test]
fn a_packed_function_is_an_argument() {
    let symbols =
        ["vm.builtin.call_tir_dyn", "vm.builtin.make_closure", "vm.builtin.invoke_closure", "relax_spec.add_inplace"];
    let callees: String = (8..)
        .zip(symbols)
        .map(|(at, symbol)| {
            format!("callee {at} {{\"Packed\":{{\"symbol\":\"{symbol}\",\"pure\":false,\"sinfo_args\":[]}}}}\n")
        })
        .collect();
    let tensor = || ValueSpec::Tensor(TensorData::from_values(DataType::FLOAT32, &[2], &[1.0, 2.0]).unwrap());
    for code in [
        ["call f[8] (f[11], %0, %1, %2)", "ret %0"].as_slice(),
        &["%3 = call f[9] (f[11], %1)", "call f[10] (%3, %0)", "ret %0"],
    ] {
        let text = main_of(3, 4, code).replace("function \"main\"", &format!("{callees}function \"main\""));
        let args = [tensor(), tensor(), ValueSpec::Shape(vec![])];
        assert_eq!(run(&text, &args), Ending::Value("Tensor([2], float32, [2.0, 4.0])".into()), "{text}");
    }
}

/// A register that is reused while its value is still needed gives a wrong value.
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

/// The executables of `tests/samples/executables` were made wrong by hand. Lines with `#>` state the expectation for
/// given arguments: a value, poison with both positions, or a wrong value. For a wrong value they also name the
/// instruction at which the run departs from that of the right executable in the lines `right`. Alternatively, the
/// verifier rejects the executable.
#[test]
fn wrong_executables_by_hand_are_told() {
    let directory = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/samples/executables");
    let mut wrong = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rvm") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let told: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("#> ")).collect();
        let right = told.iter().filter_map(|line| line.strip_prefix("right ")).fold(text.clone(), with_instruction);
        for line in told.iter().filter(|line| !line.starts_with("right ")) {
            let found = told_of(&text, &right, line);
            assert!(line.contains(&*found), "{}: {line}\nfound {found}", path.display());
            wrong += usize::from(!found.starts_with("value") || found.contains(" instead of "));
        }
    }
    assert!(wrong >= 14, "{wrong}");
}

/// The text with an instruction replaced by `N: INSTRUCTION`.
fn with_instruction(text: String, instruction: &str) -> String {
    let (number, _) = instruction.split_once(':').unwrap();
    let of_number = |line: &&str| line.trim_start().split_once(':').is_some_and(|(n, _)| n == number);
    let lines = text.lines().map(|line| if of_number(&line) { instruction } else { line });
    lines.map(|line| format!("{line}\n")).collect()
}

/// The outcome of an executable, in the form of the `#>` lines.
fn told_of(text: &str, right: &str, line: &str) -> String {
    let refused = faults(text);
    if !refused.is_empty() {
        return format!("refused: {refused}");
    }
    let (args, _) = line.split_once("] ").unwrap();
    let args: Vec<ValueSpec> = from_json(&format!("{args}]")).unwrap();
    let (ending, steps) = traced(text, &args);
    let (rightly, right_steps) = traced(right, &args);
    match (ending, rightly) {
        (Ending::Value(value), Ending::Value(rightly)) if value == rightly => format!("value: {value}"),
        (Ending::Value(value), Ending::Value(rightly)) => {
            let parts = steps.iter().zip(&right_steps).find(|(a, b)| seen_of(a) != seen_of(b)).unwrap();
            format!("value: {value} instead of {rightly}, from instruction {}", seen_of(parts.0).0)
        }
        (Ending::Error(error), _) if line.contains("poison: [") => format!("[{}]", error.rule.id()),
        (Ending::Error(error), _) => format!("poison: {} [{}]", error.message, error.rule.id()),
        (Ending::Unspecified(reason) | Ending::Unknown(reason), _) => format!("poison: {reason}"),
        (other, _) => format!("{other:?}"),
    }
}

/// The instruction, and the value that it wrote.
fn seen_of(step: &str) -> (&str, &str) {
    let (number, rest) = step.split_once(':').unwrap_or(("return", step));
    (
        number,
        rest.split_once(")  ").map_or("", |(_, written)| written.split_once('=').map_or(written, |(_, value)| value)),
    )
}

fn traced(text: &str, args: &[ValueSpec]) -> (Ending<String>, Vec<String>) {
    let executable = vm::read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let options = vm::VmOptions { trace: true, ..vm::VmOptions::new(prelude()) };
    let args = from_specs(args, &options.registry).unwrap();
    let run = vm::run(&mut Cx::new(), &executable, "main", args, &options);
    let ending = match run.outcome {
        Ending::Value(value) => Ending::Value(value.to_string()),
        Ending::Error(error) => Ending::Error(error),
        Ending::OutOfFuel => Ending::OutOfFuel,
        Ending::Unspecified(reason) => Ending::Unspecified(reason),
        Ending::Unknown(what) => Ending::Unknown(what),
    };
    (ending, run.steps.into_iter().map(|step| step.text).collect())
}

/// The executables that three releases of TVM compiled from one program behave like the program. If one is changed, the
/// difference is reported.
#[test]
fn executables_of_tvm_are_judged_against_their_program() {
    let directory = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/samples/executables/tvm");
    let program = load::load(&directory.join("branches.py")).unwrap();
    for release in ["0.25", "0.26", "0.27"] {
        let said = std::fs::read_to_string(directory.join(format!("branches-{release}.json"))).unwrap();
        let made: TvmExecutable = from_json(&said).unwrap();
        assert_eq!(judged(&program, &made), RefinementVerdict::Allowed, "{release}");
        // The closure multiplies by its argument instead of its captured value.
        let other = TvmExecutable { text: made.text.replace("in: %0, %1, %6", "in: %0, %0, %6"), ..made.clone() };
        assert_ne!(other, made);
        assert!(matches!(judged(&program, &other), RefinementVerdict::NotAllowed { .. }), "{release}");
        // A storage is too small for its tensor.
        let other =
            TvmExecutable { text: made.text.replace("in: %2, i1, i1, i1 ", "in: %2, i1, i0, i4 "), ..made.clone() };
        assert_ne!(other, made);
        let verdict = judged(&program, &other);
        assert!(
            matches!(&verdict, RefinementVerdict::NotAllowed { message, .. } if message.contains("MEM.BOUNDS")),
            "{verdict:?}"
        );
    }
}

/// A compiled `PrimFunc` is an entry of the function table like any other, and `call_tir_dyn` gives it the sizes.
#[test]
fn a_compiled_function_is_called_with_sizes() {
    let text = "@main:\n  call  vm.builtin.call_tir_dyn in: f[kernel], %0, %1 dst: %void\n  ret   %0\n";
    let functions = vec![TvmFunction { name: "main".into(), params: 2, registers: 2 }];
    let made = TvmExecutable { text: text.into(), functions, constants: Vec::new(), prim_funcs: String::new() };
    let executable = vm::import(&made).unwrap();
    assert_eq!(vm::verify(&executable), []);
    let mut registry = prelude();
    let given = Rc::new(RefCell::new(Vec::new()));
    let seen = given.clone();
    registry.register("kernel", true, move |_, args| {
        seen.borrow_mut().extend(args.iter().map(ToString::to_string));
        Ok(Returned::Nothing)
    });
    let args = from_specs(&[ValueSpec::Int(7), ValueSpec::Shape(vec![2, 3])], &registry).unwrap();
    let options = vm::VmOptions::new(registry);
    let run = vm::run(&mut Cx::new(), &executable, "main", args, &options);
    assert!(matches!(run.outcome, Ending::Value(_)), "{:?}", run.outcome);
    assert_eq!(*given.borrow(), ["7", "2", "3"]);
}

fn judged(program: &IrModule, made: &TvmExecutable) -> RefinementVerdict {
    let executable = vm::import(made).unwrap();
    assert_eq!(vm::verify(&executable), []);
    let settings = Settings::runs(20);
    refine_compiled(&mut Cx::new(), program, &OnMachine(executable), "main", &[], &settings).unwrap().verdict
}

/// A text that is not an executable is rejected with its line. An executable, however wrong, ends.
#[test]
fn damaged_executables_neither_panic_nor_hang() {
    let texts: Vec<String> = corpus().iter().map(|(_, module)| vm::print(&built(module))).collect();
    let texts: Vec<String> = texts.into_iter().filter(|text| text.len() < 20_000).collect();
    let (mut read, mut verified) = (0, 0);
    for seed in 0..4_000 {
        match damage::try_text(&texts[seed as usize % texts.len()], seed) {
            Damaged::Refused => {}
            Damaged::Faulty => read += 1,
            Damaged::Whole => verified += 1,
        }
    }
    assert!(read > 50 && verified > 50, "{read} {verified}");
}

#[test]
fn damaged_executables_of_tvm_neither_panic_nor_hang() {
    let directory = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/samples/executables/tvm");
    let texts: Vec<String> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    let (mut read, mut verified) = (0, 0);
    for seed in 0..2_000 {
        match damage::try_tvm(&texts[seed as usize % texts.len()], seed) {
            Damaged::Refused => {}
            Damaged::Faulty => read += 1,
            Damaged::Whole => verified += 1,
        }
    }
    assert!(read > 50 && verified > 20, "{read} {verified}");
}

#[test]
fn random_bytes_are_refused() {
    for seed in 0..2_000 {
        damage::try_bytes(seed);
    }
}

/// R89.VM.INSTR.SET: there are only call, ret, if and goto.
#[test]
fn there_are_four_instructions() {
    for other in ["jump 1", "move %0", "%0 = ret %0", "calls f[0] (%0)", "if %0 1"] {
        let error = vm::read(&main_of(1, 1, &[other, "ret %0"])).unwrap_err();
        assert_eq!(error.line, 13, "{other}: {error}");
    }
}
