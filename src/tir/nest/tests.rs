//! Nests give what the tree gives, bit for bit and step for step. In this build a nest is tried for two rounds already,
//! and a strip has few lanes.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ruff_python_ast::Stmt;

use super::super::bind::bind;
use super::super::code::TirInstr;
use super::super::lower::lower;
use super::super::run::Machine;
use super::super::{TirArg, TirChoices, TirError, interpret_within};
use super::compile::NestCompiler;
use crate::grammar::tir::{Expr, Param, PrimFunc};
use crate::grammar::{DataType, Name};
use crate::number::real::ConstantReading;
use crate::syntax::tvmscript::tir_parse::parse_prim_func;
use crate::value::{Account, Kernels, Noise, Scalar, SharedCalls, Sides, Tensor};

/// All functions of a Python file, also those in classes.
fn functions(text: &str) -> Vec<PrimFunc> {
    fn inside(body: &[Stmt], text: &str, found: &mut Vec<PrimFunc>) {
        for stmt in body {
            match stmt {
                Stmt::ClassDef(class) => inside(&class.body, text, found),
                Stmt::FunctionDef(def) => found.extend(parse_prim_func(def, text).ok()),
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    if let Ok(module) = ruff_python_parser::parse_module(text) {
        inside(&module.into_syntax().body, text, &mut found);
    }
    found
}

fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "py") {
            found.push(path);
        }
    }
}

fn element(dtype: DataType, rng: &mut fastrand::Rng) -> Scalar {
    if dtype.is_float() {
        let special = [0.0, -0.0, 1.0, f64::NAN, f64::INFINITY];
        let float = dtype.float_type().unwrap();
        return Scalar::Float(match rng.u8(..40) {
            n @ 0..5 => special[usize::from(n)],
            _ => float.round(rng.f64() * 8.0 - 4.0),
        });
    }
    match dtype {
        DataType::BOOL => Scalar::Bool(rng.bool()),
        dtype if dtype.is_uint() => Scalar::UInt(rng.u64(..4)),
        _ => Scalar::Int(rng.i64(-1..4)),
    }
}

/// Arguments for the parameters: variables in shapes are 5. The last tensor has no values, if wanted.
fn arguments(f: &PrimFunc, seed: u64, ring: bool, fresh: bool) -> Option<Vec<TirArg>> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut sizes: HashMap<Name, i64> = HashMap::new();
    let mut args = Vec::new();
    for param in &f.params {
        args.push(match param {
            Param::Scalar(var) if var.dtype.is_float() => TirArg::Scalar(Scalar::Float(0.5)),
            Param::Scalar(var) if var.dtype == DataType::BOOL => TirArg::Scalar(Scalar::Bool(true)),
            Param::Scalar(_) => TirArg::Scalar(Scalar::Int(5)),
            Param::Handle(_) => return None,
            Param::Buffer(buffer) => {
                let size = |e: &Expr| match e {
                    Expr::Int(size, _) => Some(*size),
                    Expr::Var(var) => Some(*sizes.entry(var.name.clone()).or_insert(5)),
                    _ => None,
                };
                let shape: Vec<i64> = buffer.shape.iter().map(size).collect::<Option<_>>()?;
                if shape.iter().product::<i64>() > 20_000 {
                    return None;
                }
                let zeros = if ring {
                    Tensor::zeros_of_ring(buffer.dtype, &shape)
                } else {
                    Tensor::zeros(buffer.dtype, &shape)
                };
                let tensor = zeros.ok()?;
                let reading = ConstantReading::Exact;
                let of_ring = |value: Scalar| match value {
                    Scalar::Float(x) if ring => {
                        use crate::number::{FloatType, real::Real, ring::RingNumber};
                        let float = buffer.dtype.float_type().unwrap_or(FloatType::Float64);
                        let finite = if x.is_finite() { x } else { 0.25 };
                        Scalar::Ring(RingNumber::of_constant(finite, float, reading))
                    }
                    value => value,
                };
                tensor.fill(|_| Ok::<_, ()>(of_ring(element(buffer.dtype, &mut rng)))).ok()?;
                TirArg::Tensor(tensor)
            }
        });
    }
    if let Some(TirArg::Tensor(last)) = args.last_mut().filter(|_| fresh) {
        *last = last.clone().without_values();
    }
    Some(args)
}

fn bits(scalar: Option<Scalar>) -> String {
    match scalar {
        Some(Scalar::Float(x)) if x.is_nan() => "nan".into(),
        Some(Scalar::Float(x)) => format!("{:x}", x.to_bits()),
        other => format!("{other:?}"),
    }
}

/// What a case runs with.
#[derive(Clone)]
struct Case {
    ring: bool,
    noting: bool,
    /// The seed of the noise.
    noise: Option<u64>,
    kernels: Kernels,
    shared: Option<Rc<SharedCalls>>,
}

/// The ending of a run, the steps left unless it failed, the sides taken, and the tensors afterwards.
fn ran(f: &PrimFunc, args: &[TirArg], fuel: u64, case: &Case) -> (String, u64, Vec<String>) {
    let account = Account::computing(1 << 30, case.ring.then_some(ConstantReading::Exact));
    let (mut left, sides) = (fuel, Rc::new(Sides::default()));
    let noise = case.noise.map(|seed| Rc::new(Noise::new(seed)));
    let noting = case.noting.then(|| sides.clone());
    let (kernels, shared) = (case.kernels, case.shared.clone());
    let choices = TirChoices { noise: noise.clone(), kernels, sides: noting, shared };
    let result = interpret_within(f, args, &mut left, &account, &choices);
    let counts = matches!(result, Ok(_) | Err(TirError::OutOfFuel));
    let ending = match result {
        Ok(value) => {
            let marks = noise.map(|noise| (noise.marks(), noise.state()));
            format!("{} {} {marks:?}", bits(value), sides.count())
        }
        Err(error) => error.to_string(),
    };
    let tensors = args.iter().filter_map(TirArg::as_tensor).map(|tensor| {
        let elements: Vec<String> = (0..tensor.len()).map(|i| bits(tensor.get(i))).collect();
        format!("{} {:?}", elements.join(" "), tensor.readable_elements())
    });
    (ending, if counts { left } else { 0 }, tensors.collect())
}

/// Runs a function in both ways, with all and with half of the steps that it takes.
fn agree(f: &PrimFunc, name: &str) -> bool {
    let mut ends = false;
    // In the ring nothing is rounded.
    for number in (0..16u64).filter(|number| number & 9 != 9) {
        let (ring, fresh, noting) = (number & 1 != 0, number & 2 != 0, number & 4 != 0);
        let noise = (number & 8 != 0).then_some(number);
        let plain = Case { ring, noting, noise, kernels: Kernels::Plain, shared: None };
        let fast = Case { kernels: Kernels::Fast, ..plain.clone() };
        let sharing = Case { shared: Some(Rc::default()), ..fast.clone() };
        let ran = |fuel, case: &Case| Some(ran(f, &arguments(f, number, ring, fresh)?, fuel, case));
        let Some(all) = ran(3_000_000, &plain) else { return false };
        // The second run with shared calls takes what the first one left.
        for (case, way) in [(&fast, "fast"), (&sharing, "first"), (&sharing, "shared")] {
            assert_eq!(Some(&all), ran(3_000_000, case).as_ref(), "{name}, {number}, {way}");
        }
        ends |= all.1 > 0;
        let fuel = (3_000_000 - all.1) / 2;
        for case in [&fast, &sharing] {
            assert_eq!(ran(fuel, &plain), ran(fuel, case), "{name}, {number}, with {fuel} steps");
        }
    }
    ends
}

#[test]
fn nests_agree_with_the_tree_on_the_corpus() {
    let mut paths = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples"), &mut paths);
    let (mut all, mut ended) = (0, 0);
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        for f in functions(&text) {
            all += 1;
            ended += usize::from(agree(&f, &path.display().to_string()));
        }
    }
    assert!(ended >= 100, "only {ended} of {all} functions ended");
}

/// Functions of `A: float32[6, 7]`, `I: int64[7]` and `B: float32[6, 7]` with these bodies.
const BODIES: &[&str] = &[
    "for i, j in T.grid(6, 7):\n    B[i, j] = A[i, j] * T.float32(3) + B[i, j]",
    // A round reads what the round before it wrote.
    "for i, j in T.grid(6, 6):\n    B[i, j + 1] = B[i, j] + A[i, j]",
    "for i, j in T.grid(5, 7):\n    B[i + 1, j] = B[i, j] + A[i, j]",
    "for j, i in T.grid(7, 6):\n    B[0, 0] = B[0, 0] + A[i, j]",
    "for i, j in T.grid(6, 7):\n    B[i, 0] = A[i, j] - B[i, 0]",
    "for i, j in T.grid(6, 7):\n    B[0, j] = T.max(A[i, j], B[0, j])",
    // The element is among the values that it is combined with.
    "for i, j in T.grid(6, 7):\n    B[0, 0] = B[0, 0] + B[i, j]",
    "for i, j in T.grid(6, 8):\n    B[i, j] = A[i, j]",
    "\
for i, j in T.grid(6, 7):
    B[i, j] = T.if_then_else(1 <= j and j < 4, A[i, j - 1], T.float32(0))",
    "\
for i, j in T.grid(6, 7):
    B[i, j] = T.if_then_else(i < 5 or A[i + 1, j] > T.float32(0), A[i, j], T.float32(0))",
    "for i, j in T.grid(6, 7):\n    B[i, j] = A[i, I[j]]",
    "for i, j in T.grid(6, 7):\n    B[i, I[j]] = B[i, I[j]] + A[i, j]",
    "for i, j in T.grid(6, 7):\n    I[j] = I[j] * T.int64(3) + I[(j + 1) % 7] // I[0]",
    "for i, j in T.grid(6, 7):\n    I[j] = T.Cast(\"int64\", A[i, j])",
    "\
for i, j in T.grid(3, 7):
    B[i * 2 + j // 4, j] = A[(i * 2 + j // 4) % 6, j % 7] / T.float32(3)",
    "\
for i in T.serial(1, 6, step=2):
    for j in range(7):
        B[i, j] = T.exp(A[i - 1, j])",
    "\
t = T.alloc_buffer((6, 7), \"float32\")
for i, j in T.grid(6, 5):
    t[i, j] = A[i, j]
for i, j in T.grid(6, 7):
    B[i, j] = t[i, j]",
    "\
for i, j in T.grid(6, 7):
    with T.sblock(\"b\"):
        vi, vj = T.axis.remap(\"SR\", [i, j])
        with T.init():
            B[vi, 0] = T.float32(0)
        B[vi, 0] = B[vi, 0] + A[vi, vj] * A[vi, vj]",
    "\
for j, i in T.grid(7, 6):
    with T.sblock(\"b\"):
        vi, vj = T.axis.remap(\"SR\", [i, j])
        T.where(j < 6 and i > 0)
        with T.init():
            B[vi, 0] = T.float32(1)
        B[vi, 0] = T.min(A[vi, vj], B[vi, 0])",
    // It reads more than it declares.
    "\
for i, j in T.grid(6, 6):
    with T.sblock(\"b\"):
        vi, vj = T.axis.remap(\"SS\", [i, j])
        T.reads(A[vi, 0:vj + 1])
        T.writes(B[vi, vj])
        B[vi, vj] = A[vi, vj + 1]",
    "\
for i, j in T.grid(6, 7):
    with T.sblock(\"b\"):
        vi, vj = T.axis.remap(\"SS\", [i, j])
        T.reads(A[vi, I[vj]], I[vj])
        T.writes(B[vi, vj])
        B[vi, vj] = A[vi, I[vj]]",
    "\
for i, j in T.grid(6, 7):
    with T.sblock(\"b\"):
        vi, vj = T.axis.remap(\"SR\", [i, j])
        with T.init():
            B[vi, 0] = T.float32(-9)
            I[vi] = T.int64(0)
        m: T.float32 = T.max(B[vi, 0], A[vi, vj])
        k: T.int64 = T.Select(B[vi, 0] < A[vi, vj], vj, I[vi])
        B[vi, 0] = m
        I[vi] = k",
    // What begins a reduction is a conditional statement, as in code without blocks.
    "\
for i, j in T.grid(6, 7):
    v: T.let[T.int32] = i
    if j == 0:
        B[v, 0] = T.float32(0)
    w: T.let[T.int32] = v + j
    B[v, 0] = B[v, 0] + A[v, w - i] * A[i, j]",
    "\
for i, j, k in T.grid(2, 3, 7):
    if j == 0 and k == 0:
        B[i, 1] = T.float32(-9)
    B[i, 1] = T.max(B[i, 1], A[i * 3 + j, k])",
    "\
for i, j in T.grid(6, 7):
    if 3 == j:
        B[i, 0] = T.float32(1)
    B[i, 0] = B[i, 0] * A[i, j]",
    "\
for i in range(6):
    I[0] = T.int64(i)
    for j in range(7):
        if T.int64(j) == I[0]:
            B[i, 0] = T.float32(1)
        B[i, 0] = B[i, 0] + A[i, j]",
];

fn with_body(body: &str) -> PrimFunc {
    let mut text = String::from(
        "@T.prim_func\ndef f(A: T.Buffer((6, 7), \"float32\"), I: T.Buffer((7,), \"int64\"), \
         B: T.Buffer((6, 7), \"float32\")):\n",
    );
    body.lines().for_each(|line| text.push_str(&format!("    {line}\n")));
    functions(&text).pop().unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn nests_agree_with_the_tree_where_rounds_depend_on_each_other() {
    for body in BODIES {
        agree(&with_body(body), body);
    }
}

/// Whether the first loop of a function is a nest when it is entered.
fn begins_with_a_nest(f: &PrimFunc) -> bool {
    let (program, _) = lower(f, false).unwrap();
    let args = arguments(f, 1, false, false).unwrap();
    let account = Account::new(1 << 20);
    let mut machine = Machine::<f64>::new(&program, 1 << 20, account, None, Kernels::Fast);
    bind(&mut machine, &args, &mut Vec::new()).unwrap();
    program.body.iter().any(|op| match op {
        TirInstr::For(f) => NestCompiler::nest(&machine, f).is_ok(),
        _ => false,
    })
}

#[test]
fn what_is_affine_or_checked_in_each_lane_is_a_nest() {
    // What they allocate is not there when the loop is looked at, and a condition on what is stored is not affine.
    let bodies = BODIES.iter().filter(|body| !body.contains("alloc_buffer") && !body.contains("== I[0]"));
    let plain: Vec<&&str> = bodies.filter(|body| !begins_with_a_nest(&with_body(body))).collect();
    // The declaration of the one does not include what it reads; the variables of the other rest on what it writes.
    let known = |body: &&&str| body.contains("A[vi, vj + 1]") || body.contains("m: T.float32 = T.max(B[vi, 0]");
    assert_eq!(plain.iter().filter(|body| known(body)).count(), 2, "{plain:?}");
    assert_eq!(plain.len(), 2, "{plain:?}");
    assert!(!begins_with_a_nest(&with_body("for i, j in T.grid(6, 7):\n    if j > 3:\n        B[i, j] = A[i, j]")));
}
