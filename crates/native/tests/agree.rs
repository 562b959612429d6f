//! Machine code gives what the rounds of a nest give one by one, bit for bit and step for step.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};

use native::Jit;
use relax_spec::grammar::tir::{Expr, Param, PrimFunc};
use relax_spec::grammar::{DataType, GlobalFunc, IrModule, Name};
use relax_spec::question::ProgramInput;
use relax_spec::reading::parse_modules;
use relax_spec::suite::read_cases;
use relax_spec::syntax::load::ExternalForm;
use relax_spec::syntax::tvmscript::Which;
use relax_spec::tir::{TirArg, TirChoices, TirError, interpret_within};
use relax_spec::value::{Account, Kernels, LoopMemory, LoopNest, MachineCode, Scalar, Sides, Tensor};

/// Compiles every nest, and counts those that ran.
#[derive(Debug)]
struct Counting {
    jit: Jit,
    ran: AtomicUsize,
}

impl MachineCode for Counting {
    fn fewest_rounds(&self) -> u128 {
        self.jit.fewest_rounds()
    }

    fn run(&self, nest: &LoopNest, memory: &mut [LoopMemory<'_>]) -> bool {
        let runs = self.jit.run(nest, memory);
        assert!(runs, "{nest:?}");
        self.ran.fetch_add(1, Ordering::Relaxed);
        runs
    }
}

fn counting() -> &'static Counting {
    Box::leak(Box::new(Counting { jit: Jit { fewest_rounds: 1 }, ran: AtomicUsize::new(0) }))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(dir: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, ending, found);
        } else if path.extension().is_some_and(|found| found == ending) {
            found.push(path);
        }
    }
}

fn of_module(module: &IrModule, found: &mut Vec<PrimFunc>) {
    for (_, func) in &module.funcs {
        if let GlobalFunc::PrimFunc(f) = func
            && !found.contains(f)
        {
            found.push((**f).clone());
        }
    }
}

/// The functions of a Python file; those outside of a module are put into one.
fn of_text(text: &str, found: &mut Vec<PrimFunc>) {
    let mut texts = vec![text.to_string()];
    if !text.contains("ir_module") {
        let (mut parts, mut inside) = (Vec::new(), false);
        for line in text.lines() {
            if line.starts_with("@T.prim_func") {
                parts.push(String::from("@I.ir_module\nclass M:\n"));
                inside = true;
            } else if !line.starts_with([' ', '\n', 'd', ')']) && !line.is_empty() {
                inside = false;
            }
            if let Some(part) = parts.last_mut().filter(|_| inside) {
                part.push_str(&format!("    {line}\n"));
            }
        }
        texts = parts;
    }
    for text in texts {
        if let Ok(file) = parse_modules(ExternalForm::TvmScript, text.as_str().into(), Which::All) {
            file.modules.iter().for_each(|(_, module)| of_module(module, found));
        }
    }
}

fn element(dtype: DataType, rng: &mut fastrand::Rng) -> Scalar {
    if let Some(float) = dtype.float_type() {
        let special = [0.0, -0.0, 1.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE];
        return Scalar::Float(match rng.u8(..60) {
            n @ 0..6 => float.round(special[usize::from(n)]),
            _ => float.round(rng.f64() * 8.0 - 4.0),
        });
    }
    match dtype {
        DataType::BOOL => Scalar::Bool(rng.bool()),
        dtype if dtype.is_uint() => Scalar::UInt(rng.u64(..4)),
        _ => Scalar::Int(rng.i64(-1..4)),
    }
}

/// Arguments for the parameters: variables in shapes are 9. The last tensor has no values, if wanted.
fn arguments(f: &PrimFunc, seed: u64, fresh: bool) -> Option<Vec<TirArg>> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut sizes: HashMap<Name, i64> = HashMap::new();
    let mut args = Vec::new();
    for param in &f.params {
        args.push(match param {
            Param::Scalar(var) if var.dtype.is_float() => TirArg::Scalar(Scalar::Float(0.5)),
            Param::Scalar(var) if var.dtype == DataType::BOOL => TirArg::Scalar(Scalar::Bool(true)),
            Param::Scalar(_) => TirArg::Scalar(Scalar::Int(9)),
            Param::Handle(_) => return None,
            Param::Buffer(buffer) => {
                let size = |e: &Expr| match e {
                    Expr::Int(size, _) => Some(*size),
                    Expr::Var(var) => Some(*sizes.entry(var.name.clone()).or_insert(9)),
                    _ => None,
                };
                let shape: Vec<i64> = buffer.shape.iter().map(size).collect::<Option<_>>()?;
                if shape.iter().product::<i64>() > 60_000 {
                    return None;
                }
                let tensor = Tensor::zeros(buffer.dtype, &shape).ok()?;
                tensor.fill(|_| Ok::<_, ()>(element(buffer.dtype, &mut rng))).ok()?;
                TirArg::Tensor(tensor)
            }
        });
    }
    if let Some(TirArg::Tensor(last)) = args.last_mut().filter(|_| fresh) {
        *last = last.clone().without_values();
    }
    Some(args)
}

/// As the law of nests: of NaN, not the bits.
fn bits(scalar: Option<Scalar>) -> String {
    match scalar {
        Some(Scalar::Float(x)) if x.is_nan() => "nan".into(),
        Some(Scalar::Float(x)) => format!("{:x}", x.to_bits()),
        other => format!("{other:?}"),
    }
}

/// The ending of a run, the steps left unless it failed, and the tensors afterwards.
fn ran(f: &PrimFunc, args: &[TirArg], fuel: u64, noting: bool, kernels: Kernels) -> (String, u64, Vec<String>) {
    let (account, sides) = (Account::new(1 << 30), Rc::new(Sides::default()));
    let mut left = fuel;
    let choices = TirChoices { kernels, sides: noting.then(|| sides.clone()), ..TirChoices::default() };
    let result = interpret_within(f, args, &mut left, &account, &choices);
    let counts = matches!(result, Ok(_) | Err(TirError::OutOfFuel));
    let ending = match result {
        Ok(value) => format!("{} {}", bits(value), sides.count()),
        Err(error) => error.to_string(),
    };
    let tensors = args.iter().filter_map(TirArg::as_tensor).map(|tensor| {
        let elements: Vec<String> = (0..tensor.len()).map(|i| bits(tensor.get(i))).collect();
        format!("{} {:?}", elements.join(" "), tensor.readable_elements())
    });
    (ending, if counts { left } else { 0 }, tensors.collect())
}

/// Runs a function in the three ways, with all and with half of the steps that it takes. Returns whether it ended, and
/// how many nests ran as machine code.
fn agree(f: &PrimFunc, name: &str) -> (bool, usize) {
    let code = counting();
    let mut ends = false;
    for case in 0..4u64 {
        let (fresh, noting) = (case & 1 != 0, case & 2 != 0);
        let mut fuel = 20_000_000;
        for _ in 0..2 {
            let args = || arguments(f, case, fresh);
            let (Some(x), Some(y), Some(z)) = (args(), args(), args()) else { return (false, 0) };
            let plain = ran(f, &x, fuel, noting, Kernels::Plain);
            let fast = ran(f, &y, fuel, noting, Kernels::Fast);
            assert_eq!(plain, fast, "{name}, {case}, with {fuel} steps");
            let native = ran(f, &z, fuel, noting, Kernels::Native(code));
            assert_eq!(plain, native, "{name}, {case}, with {fuel} steps, natively");
            ends |= plain.1 > 0;
            fuel = (fuel - plain.1) / 2;
        }
    }
    (ends, code.ran.load(Ordering::Relaxed))
}

/// Compares all functions, and reports how many ended and how many had a nest that ran as machine code.
fn compared(functions: &[(String, PrimFunc)]) -> (usize, usize) {
    let (mut ended, mut qualified) = (0, 0);
    for (name, f) in functions {
        let (ends, nests) = agree(f, name);
        ended += usize::from(ends);
        qualified += usize::from(nests > 0);
    }
    println!("{} functions, {ended} ended, {qualified} with machine code", functions.len());
    (ended, qualified)
}

#[test]
fn all_functions_of_the_corpus_agree() {
    let mut paths = Vec::new();
    for dir in
        ["conformance/corpus", "conformance/models", "conformance/findings", "tests/samples", "tests/it/reported"]
    {
        files(&root().join(dir), "py", &mut paths);
    }
    let mut functions: Vec<(String, PrimFunc)> = Vec::new();
    for path in paths {
        let mut found = Vec::new();
        of_text(&fs::read_to_string(&path).unwrap_or_default(), &mut found);
        for f in found {
            if !functions.iter().any(|(_, known)| *known == f) {
                functions.push((path.display().to_string(), f));
            }
        }
    }
    let (ended, qualified) = compared(&functions);
    assert!(ended >= 100, "only {ended} functions ended");
    assert!(qualified >= 50, "only {qualified} functions had a nest that was compiled");
}

#[test]
fn all_functions_of_the_suite_agree() {
    let mut paths = Vec::new();
    files(&root().join("conformance/suite"), "ron", &mut paths);
    let mut functions: Vec<(String, PrimFunc)> = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        for case in read_cases(&path.display().to_string(), &text).unwrap() {
            let mut found = Vec::new();
            for program in case.ask.programs() {
                match program {
                    ProgramInput::Script(text) => of_text(text, &mut found),
                    ProgramInput::Module(module) => of_module(module, &mut found),
                }
            }
            for f in found {
                if !functions.iter().any(|(_, known)| *known == f) {
                    functions.push((case.id.clone(), f));
                }
            }
        }
    }
    let (ended, _) = compared(&functions);
    assert!(ended >= 20, "only {ended} functions ended");
}

/// A function of four tensors with a body.
fn with_body(dtype: &str, body: &str) -> PrimFunc {
    let mut text = format!(
        "@T.prim_func\ndef f(A: T.Buffer((6, 7, 9), \"{dtype}\"), C: T.Buffer((9, 7), \"{dtype}\"), \
         I: T.Buffer((9,), \"int64\"), B: T.Buffer((6, 7, 9), \"{dtype}\")):\n"
    );
    body.lines().for_each(|line| text.push_str(&format!("    {line}\n")));
    let mut found = Vec::new();
    of_text(&text, &mut found);
    found.pop().unwrap_or_else(|| panic!("{text}"))
}

/// An expression of a data type for the element of a round.
fn value(rng: &mut fastrand::Rng, dtype: &str, depth: u32) -> String {
    if depth == 0 || rng.u8(..4) == 0 {
        let leaves = ["A[i, j, k]", "A[5 - i, j, k]", "C[k, j]", "C[i, j]", "A[i, j, 0]", "A[0, 0, 8 - k]"];
        return match rng.u8(..8) {
            0 => format!("T.{dtype}({})", rng.u8(..3)),
            1 => format!("T.Cast(\"{dtype}\", i + j)"),
            _ => rng.choice(leaves).unwrap().to_string(),
        };
    }
    let (a, b) = (value(rng, dtype, depth - 1), value(rng, dtype, depth - 1));
    match rng.u8(..8) {
        0 => format!("({a} - {b})"),
        1 => format!("T.max({a}, {b})"),
        2 => format!("T.min({a}, {b})"),
        3 => format!("T.Select({a} < {b}, {a}, {b})"),
        4 => format!("T.Select(j < k or i == 2, {a}, {b})"),
        5 if dtype.starts_with("float") => format!("({a} / {b})"),
        5 | 6 => format!("({a} + {b})"),
        _ => format!("({a} * {b})"),
    }
}

/// The body of a nest: stores of values, or elements that are combined with them, in loops of any order.
fn body(rng: &mut fastrand::Rng, dtype: &str) -> String {
    let mut loops = [("i", 6), ("j", 7), ("k", 9)];
    rng.shuffle(&mut loops);
    let of_all = value(rng, dtype, 3);
    let (names, sizes) = (loops.map(|(name, _)| name).join(", "), loops.map(|(_, size)| size.to_string()).join(", "));
    let mut text = format!("for {names} in T.grid({sizes}):\n");
    let at =
        *rng.choice(&["i, j, k", "i, j, 0", "i, 0, k", "0, j, k", "i, 0, 0", "0, j, 1", "0, 0, k", "1, 2, 3"]).unwrap();
    let combined = match rng.u8(..6) {
        0 => format!("B[{at}] - {of_all}"),
        1 => format!("{of_all} - B[{at}]"),
        2 => format!("T.max(B[{at}], {of_all})"),
        3 => format!("T.min({of_all}, B[{at}])"),
        4 => format!("{of_all} * B[{at}]"),
        _ => format!("B[{at}] + {of_all}"),
    };
    if rng.bool() {
        let stored = if rng.bool() { combined } else { of_all };
        text.push_str(&format!("    B[{at}] = {stored}\n"));
        return text;
    }
    let kinds: String = loops.iter().map(|(name, _)| if at.contains(name) { 'S' } else { 'R' }).collect();
    let renamed = |text: &str| text.replace('i', "vi").replace('j', "vj").replace('k', "vk");
    let expression = |text: &str| {
        let mut out = String::new();
        for (n, part) in text.split('[').enumerate() {
            if n == 0 {
                out.push_str(part);
                continue;
            }
            let (inside, rest) = part.split_once(']').unwrap_or((part, ""));
            out.push_str(&format!("[{}]{rest}", renamed(inside)));
        }
        out.replace("i + j", "vi + vj").replace("j < k or i == 2", "vj < vk or vi == 2")
    };
    text.push_str("    with T.sblock(\"b\"):\n");
    text.push_str(&format!("        {} = T.axis.remap(\"{kinds}\", [{names}])\n", renamed(&names)));
    if rng.u8(..4) > 0 {
        let start = if rng.bool() { format!("T.{dtype}(1)") } else { expression("A[0, 0, 0]") };
        text.push_str(&format!("        with T.init():\n            B[{}] = {start}\n", renamed(at)));
    }
    text.push_str(&format!("        B[{}] = {}\n", renamed(at), expression(&combined)));
    text
}

#[test]
fn random_nests_agree() {
    let mut rng = fastrand::Rng::with_seed(49);
    let mut functions = Vec::new();
    for n in 0..400 {
        let dtype = ["float32", "float32", "float64", "int32", "int64", "uint8", "int8", "float16"][n % 8];
        let body = body(&mut rng, dtype);
        functions.push((format!("{dtype}\n{body}"), with_body(dtype, &body)));
    }
    let (ended, qualified) = compared(&functions);
    assert!(ended >= 250, "only {ended} functions ended");
    assert!(qualified >= 250, "only {qualified} functions had a nest that was compiled");
}

/// Bounds, starts and orders that need a case of their own.
const BODIES: &[&str] = &[
    // A part of a reduction: it goes on with what is there.
    "\
for i, k in T.grid(6, 9):
    for j in T.serial(1, 7):
        with T.sblock(\"b\"):
            vi, vk = T.axis.remap(\"SR\", [i, k])
            with T.init():
                B[vi, 0, 0] = A[0, 0, 0]
            B[vi, 0, 0] = B[vi, 0, 0] + A[vi, 0, vk]",
    // The reduction starts in each round of the middle loop.
    "\
for i, j, k in T.grid(6, 7, 9):
    with T.sblock(\"b\"):
        vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])
        with T.init():
            B[vi, 0, 0] = C[vj, 0]
        B[vi, 0, 0] = B[vi, 0, 0] + A[vi, vj, vk]",
    // Elements that several rounds of the outer loops share.
    "for i, j, k in T.grid(3, 5, 9):\n    B[0, 0, i + j] = B[0, 0, i + j] + A[i, j, k]",
    "for i, j, k in T.grid(6, 7, 8):\n    B[i, j, k + 1] = B[i, j, k] + A[i, j, k]",
    "\
for i, j, k in T.grid(6, 7, 9):
    B[i, j, k] = A[i, j, k]
    B[i, j, 8 - k] = B[i, j, k] + A[i, j, 8 - k]",
    "for i, j, k in T.grid(6, 7, 9):\n    I[k] = I[k] * T.int64(3) + i - j",
];

#[test]
fn nests_agree_where_rounds_depend_on_each_other() {
    let of = |dtype: &str| BODIES.iter().map(|body| (body.to_string(), with_body(dtype, body))).collect::<Vec<_>>();
    for dtype in ["float32", "float64", "int32"] {
        let (ended, _) = compared(&of(dtype));
        assert!(ended > 0);
    }
}
