//! The tests on arbitrary bytes, a function for each target. Each must end without a panic, and its assertions must
//! hold. `tests/it/fuzz_targets.rs` runs the same tests on the seeds with every change.
//!
//! Where a target needs a program or dimensions rather than text, the bytes are the choices of `generate`, two for
//! each.

use std::io;

use ask::conformance;
use ask::protocol::{AdapterGreeting, AdapterLine, AdapterRequest, all_capabilities};
use ask::serve::serve;
use campaign::engines::{self, EngineTrial};
use campaign::generate::{self, Tape};
use campaign::programs::{ProgramSource, Restriction};
use relax_spec::book::{Edition, Reading};
use relax_spec::data::{from_json, from_ron};
use relax_spec::eval::prelude;
use relax_spec::grammar::notation::{parse_prim_expr, parse_struct_info, parse_type};
use relax_spec::grammar::{BinaryOp, IrModule, PrimExpr, ShapeVar, StructInfo, Type};
use relax_spec::judge::{Cx, Proof, Prover};
use relax_spec::normal_form;
use relax_spec::oracle::Engine;
use relax_spec::relay;
use relax_spec::shape::{Assignment, exact_value, prove_equal};
use relax_spec::suite::same_program::same_program;
use relax_spec::syntax::load::{ExternalForm, parse, write};
use relax_spec::value::{ValueSpec, from_specs};
use relax_spec::vm::{self, Executable, TvmExecutable};

/// A target, by its name.
pub type Target = (&'static str, fn(&[u8]));

/// All targets; `targets/` has a program for each.
pub const TARGETS: &[Target] = &[
    ("text", text),
    ("notation", notation),
    ("ron", ron),
    ("json", json),
    ("relay", relay),
    ("protocol", protocol),
    ("checker", checker),
    ("normalize", normalize),
    ("print_parse", print_parse),
    ("evaluate", evaluate),
    ("prover", prover),
    ("executables", executables),
];

fn utf8(data: &[u8]) -> Option<&str> {
    std::str::from_utf8(data).ok()
}

fn tape(data: &[u8]) -> Tape {
    Tape::from_choices(
        data.chunks(2).map(|pair| pair.iter().fold(0, |all, byte| all << 8 | u32::from(*byte))).collect(),
    )
}

thread_local! {
    /// What campaigns draw programs from: calls of every operator, which takes a while to make ready.
    static SOURCE: ProgramSource =
        ProgramSource::of(&conformance::suite().expect("the suite is built in"), Restriction::default());
}

/// A program of choices: one about functions, or one as campaigns draw them.
fn drawn(data: &[u8]) -> IrModule {
    let mut tape = tape(data);
    match tape.choose(2) {
        0 => generate::module_of_functions(Edition::default(), &mut tape),
        _ => SOURCE.with(|source| source.of_tape(tape).module),
    }
}

/// A program that is text if it can be read as that, and else one of choices.
fn program(data: &[u8]) -> IrModule {
    utf8(data).and_then(|text| parse(ExternalForm::TvmScript, text).ok()).unwrap_or_else(|| drawn(data))
}

/// TVMScript is read, or refused.
pub fn text(data: &[u8]) {
    if let Some(text) = utf8(data) {
        let _ = parse(ExternalForm::TvmScript, text);
        let _ = relax_spec::parse(text);
    }
}

/// A term read in mathematical notation is read again from its printed form.
pub fn notation(data: &[u8]) {
    let Some(text) = utf8(data) else { return };
    if let Ok(read) = parse_type(text) {
        let again: Option<Type> = parse_type(&read.to_string()).ok();
        assert_eq!(again.as_ref(), Some(&read), "{read}");
    }
    if let Ok(read) = parse_struct_info(text) {
        let again: Option<StructInfo> = parse_struct_info(&read.to_string()).ok();
        assert_eq!(again.as_ref(), Some(&read), "{read}");
    }
    if let Ok(read) = parse_prim_expr(text) {
        let again: Option<PrimExpr> = parse_prim_expr(&read.to_string()).ok();
        assert_eq!(again.as_ref(), Some(&read), "{read}");
    }
}

/// A term read from RON is read again from its written form.
pub fn ron(data: &[u8]) {
    read_again(ExternalForm::Ron, data);
}

/// A term read from JSON is read again from its written form.
pub fn json(data: &[u8]) {
    read_again(ExternalForm::Json, data);
}

fn read_again(form: ExternalForm, data: &[u8]) {
    let Some(text) = utf8(data) else { return };
    if let Ok(module) = parse(form, text) {
        let written = write(form, &module);
        assert!(parse(form, &written).is_ok_and(|again| again == module), "{written}");
    }
}

/// Relay is read, inferred, printed and translated, or refused.
pub fn relay(data: &[u8]) {
    let Some(text) = utf8(data) else { return };
    let _ = relay::understand(&mut Cx::new(), text);
    if let Ok((module, _)) = relay::import(&mut Cx::new(), text) {
        let _ = relax_spec::check(&module);
    }
}

/// Every line is a question, an answer, a greeting, or none of them; and is answered as such.
pub fn protocol(data: &[u8]) {
    let _ = serve(Engine::default(), &Reading::corrected(), data, io::sink());
    let Some(text) = utf8(data) else { return };
    for line in text.lines() {
        let _ = AdapterGreeting::parse(line);
        if let Ok(read) = AdapterLine::parse(line) {
            let written = read.to_text();
            assert!(AdapterLine::parse(&written).is_ok_and(|again| again.to_text() == written), "{written}");
        }
        if let Ok((_, Ok(AdapterRequest::Question(question)))) = AdapterRequest::parse(line) {
            assert!(all_capabilities().iter().any(|op| *op == question.ask.op()), "{line}");
            let written = question.to_line();
            match AdapterRequest::parse(&written) {
                Ok((_, Ok(AdapterRequest::Question(again)))) => assert_eq!(again.to_line(), written),
                other => panic!("{written} is read as {other:?}"),
            }
        }
    }
}

/// The verdict on a program does not depend on the form in which it comes.
pub fn checker(data: &[u8]) {
    let module = program(data);
    let accepts = relax_spec::check(&module).accepts();
    let _ = relax_spec::derive(&module);
    let again =
        parse(ExternalForm::Json, &write(ExternalForm::Json, &module)).map(|again| relax_spec::check(&again).accepts());
    assert_eq!(again.ok(), Some(accepts), "{}", write(ExternalForm::Json, &module));
}

/// What is normalized is in normal form, stays as it is, and is judged as before.
pub fn normalize(data: &[u8]) {
    let module = program(data);
    let once = relax_spec::normalize(&module);
    if !once.findings.is_empty() {
        return;
    }
    let normal = write(ExternalForm::TvmScript, &once.module);
    assert!(relax_spec::normalize(&once.module).module == once.module, "{normal}");
    if relax_spec::check(&module).accepts() {
        let violations = normal_form::check(&mut Cx::new(), &once.module);
        assert!(violations.is_empty(), "{violations:?}\n{normal}");
        assert!(relax_spec::check(&once.module).accepts(), "{normal}");
    }
}

/// An accepted program in normal form is read again from its printed form. Other programs can contain constructs that
/// the text cannot express, such as two ordinary blocks in a row.
pub fn print_parse(data: &[u8]) {
    let module = program(data);
    if relax_spec::check(&module).accepts() {
        let module = relax_spec::normalize(&module).module;
        let printed = write(ExternalForm::TvmScript, &module);
        // Python takes the item out of a tuple that is written there.
        if printed.contains(",)[0]") {
            return;
        }
        let again = parse(ExternalForm::TvmScript, &printed);
        assert!(again.is_ok_and(|again| same_program(&again, &module)), "{printed}");
    }
}

/// Both engines come to the same within their fuel.
pub fn evaluate(data: &[u8]) {
    let module = program(data);
    if !relax_spec::check(&module).accepts() {
        return;
    }
    for trial in engines::try_all(Edition::default(), &module, 2) {
        match trial {
            EngineTrial::Same(_) | EngineTrial::Limited => {}
            EngineTrial::Different(difference) => panic!("{difference}\n{}", write(ExternalForm::TvmScript, &module)),
        }
    }
}

const VARS: [&str; 3] = ["a", "b", "c"];
const CONSTANTS: [i64; 10] = [0, 1, 2, 3, 4, 7, -1, 1 << 31, i64::MAX, i64::MIN];

fn dimension(tape: &mut Tape, depth: usize) -> PrimExpr {
    match tape.choose(if depth == 0 { 2 } else { 6 }) {
        0 => PrimExpr::var(tape.pick(&VARS).copied().unwrap_or("a")),
        1 => tape.pick(&CONSTANTS).copied().unwrap_or(0).into(),
        2 => {
            let shared = dimension(tape, depth - 1);
            PrimExpr::binary(operator(tape), shared.clone(), shared)
        }
        3 => {
            let condition = dimension(tape, depth - 1).into();
            PrimExpr::Select(condition, dimension(tape, depth - 1).into(), dimension(tape, depth - 1).into())
        }
        _ => PrimExpr::binary(operator(tape), dimension(tape, depth - 1), dimension(tape, depth - 1)),
    }
}

fn operator(tape: &mut Tape) -> BinaryOp {
    tape.pick(&BinaryOp::ALL).copied().unwrap_or(BinaryOp::Add)
}

/// No prover contradicts evaluation about dimensions.
pub fn prover(data: &[u8]) {
    let mut tape = tape(data);
    let depth = 1 + tape.choose(5);
    let a = dimension(&mut tape, depth);
    let b = match tape.choose(3) {
        0 => dimension(&mut tape, depth),
        1 => PrimExpr::binary(operator(&mut tape), a.clone(), dimension(&mut tape, 1)),
        _ => PrimExpr::binary(operator(&mut tape), dimension(&mut tape, 1), a.clone()),
    };
    let proofs = [Prover::Alpha, Prover::Algebraic, Prover::Exhaustive]
        .map(|prover| prove_equal(&mut Cx::new().with_prover(prover), &a, &b));
    const SIZES: [i64; 6] = [0, 1, 2, 3, 5, 8];
    for number in 0..SIZES.len().pow(3) {
        let size = |at: u32| SIZES[number / SIZES.len().pow(at) % SIZES.len()];
        let sizes: Assignment = (0..).zip(VARS).map(|(at, name)| (ShapeVar::new(name), size(at))).collect();
        let values = (exact_value(&a, &sizes), exact_value(&b, &sizes));
        for proof in proofs {
            let holds = match (proof, &values) {
                (Proof::Unknown, _) | (_, (None, None)) => true,
                (Proof::Equal, (x, y)) => x == y,
                (Proof::Different, (x, y)) => x != y,
            };
            assert!(holds, "{a} and {b}: {proof:?}, but {values:?} where {sizes:?}");
        }
    }
}

/// Executables, ours and TVM's, are read or rejected; an executable that was read is verified, printed, read again, and
/// run within limits.
pub fn executables(data: &[u8]) {
    let Some(text) = utf8(data) else { return };
    if let Ok(executable) = vm::read(text) {
        let printed = vm::print(&executable);
        assert!(vm::read(&printed).is_ok_and(|again| again == executable), "{printed}");
        ended(&executable);
    }
    if let Ok(executable) = from_json::<Executable>(text) {
        ended(&executable);
    }
    if let Ok(executable) = from_ron::<Executable>(text) {
        ended(&executable);
    }
    if let Ok(made) = from_json::<TvmExecutable>(text)
        && let Ok(executable) = vm::import(&made)
    {
        ended(&executable);
    }
}

/// Verifies an executable, and runs the functions that can be started, whether it has faults or not.
fn ended(executable: &Executable) {
    let _ = vm::verify(executable);
    let options = vm::VmOptions { fuel: 10_000, max_depth: 50, memory: 1 << 22, ..vm::VmOptions::new(prelude()) };
    for function in executable.functions.iter().take(3) {
        let Some(entry) = &function.symbol else { continue };
        let specs = vec![ValueSpec::Shape(vec![2]); function.params.min(8) as usize];
        if let Ok(args) = from_specs(&specs, &options.registry) {
            vm::run(&mut Cx::new(), executable, entry, args, &options);
        }
    }
}
