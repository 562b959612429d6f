use super::*;
use crate::grammar::{DataType, TensorData};
use crate::syntax::tvmscript::tir_parse::parse_prim_func;
use crate::value::{Account, AllocError};

fn function(text: &str) -> PrimFunc {
    let module = ruff_python_parser::parse_module(text).unwrap().into_syntax();
    let Some(ruff_python_ast::Stmt::FunctionDef(def)) = module.body.first() else { panic!("{text}") };
    parse_prim_func(def, text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// A function of `A: int32[n]` and `B: float32[m, 2]`, with `n` and `m` of int64, and this body.
fn with_body(body: &str) -> PrimFunc {
    let mut text =
        String::from("@T.prim_func\ndef f(A: T.Buffer((n,), \"int32\"), B: T.Buffer((m, 2), \"float32\")):\n");
    for line in body.lines() {
        text.push_str(&format!("    {line}\n"));
    }
    function(&text)
}

fn tensor(dtype: DataType, shape: &[u64], values: &[f64]) -> Tensor {
    Tensor::from_data(&TensorData::from_values(dtype, shape, values).unwrap()).unwrap()
}

fn values(tensor: &Tensor) -> Vec<f64> {
    let value = |i| match tensor.get(i).unwrap() {
        Scalar::Bool(b) => f64::from(u8::from(b)),
        Scalar::Int(i) => i as f64,
        Scalar::UInt(u) => u as f64,
        Scalar::Float(f) => f,
        Scalar::Ring(_) => f64::NAN,
    };
    (0..tensor.len()).map(value).collect()
}

/// Runs a body with these numbers in `A` and 3 rows of zeros in `B`. Returns the contents of `A`.
fn run(body: &str, a: &[f64]) -> Result<Vec<f64>, TirError> {
    let a = tensor(DataType::INT32, &[a.len() as u64], a);
    let b = Tensor::zeros(DataType::FLOAT32, &[3, 2]).unwrap();
    interpret(&with_body(body), &[TirArg::Tensor(a.clone()), TirArg::Tensor(b)])?;
    Ok(values(&a))
}

fn computes(body: &str, a: &[f64], expected: &[f64]) {
    assert_eq!(run(body, a).unwrap(), expected, "{body}");
}

fn fails(body: &str) -> TirError {
    run(body, &[5.0, 6.0, 7.0]).expect_err(body)
}

#[test]
fn integers_wrap_around() {
    computes("A[0] = A[0] + 1", &[2147483647.0], &[-2147483648.0]);
    computes("A[0] = A[0] * A[0]", &[65537.0], &[131073.0]);
    computes("A[0] = T.Cast(\"int32\", T.Cast(\"uint8\", A[0]) - T.uint8(3))", &[1.0], &[254.0]);
    computes("A[0] = T.truncdiv(A[0], -1)", &[-2147483648.0], &[-2147483648.0]);
    computes("A[0] = T.Cast(\"int32\", T.Cast(\"int8\", A[0]))", &[200.0], &[-56.0]);
}

#[test]
fn the_divisions_round_as_they_say() {
    computes("A[0] = A[0] // 2\nA[1] = A[1] % 3\nA[2] = T.truncmod(A[2], 3)", &[-7.0, -7.0, -7.0], &[-4.0, 2.0, -1.0]);
    computes("A[0] = A[0] // -2\nA[1] = A[1] % -3\nA[2] = T.truncdiv(A[2], 2)", &[7.0, 7.0, -7.0], &[-4.0, -2.0, -3.0]);
    assert_eq!(fails("A[0] = A[1] // (A[0] - 5)"), TirError::DivisionByZero { dividend: 6 });
    assert_eq!(fails("A[0] = T.truncmod(A[1], A[0] - 5)"), TirError::DivisionByZero { dividend: 6 });
}

#[test]
fn unsigned_integers_have_no_sign() {
    computes("A[0] = T.Cast(\"int32\", T.Cast(\"uint32\", A[0]) > T.uint32(7))", &[-1.0], &[1.0]);
    computes("A[0] = T.Cast(\"int32\", T.shift_right(T.Cast(\"uint32\", A[0]), T.uint32(28)))", &[-1.0], &[15.0]);
    computes("A[0] = A[0] >> 28", &[-1.0], &[-1.0]);
    computes("A[0] = T.clz(A[0])\nA[1] = T.popcount(A[1])", &[1.0, -1.0], &[31.0, 32.0]);
    let shift = TirError::Shift { amount: 32, dtype: DataType::INT32 };
    assert_eq!(fails("A[0] = A[0] << 32"), shift);
}

#[test]
fn floats_round_after_each_operation() {
    // 2^24 + 1 is not a float32, so adding 1 twice loses both; float64 keeps them.
    let body = "B[0, 0] = T.Cast(\"float32\", A[0])\nA[0] = T.Cast(\"int32\", B[0, 0] + 1 + 1)";
    computes(body, &[16777216.0], &[16777216.0]);
    computes("A[0] = T.Cast(\"int32\", T.Cast(\"float64\", A[0]) + 1 + 1)", &[16777216.0], &[16777218.0]);
    computes("A[0] = T.Cast(\"int32\", T.Cast(\"float16\", A[0]) + 1 + 1)", &[2048.0], &[2048.0]);
    // 2^25 - 1 rounds up, through float64 or not; 2^62 + 2^38 + 1 must round once, upwards.
    computes(
        "B[0, 0] = T.Cast(\"float32\", T.int64(4611686293305294849))\nA[0] = T.Cast(\"int32\", B[0, 0] > T.float32(4611686018427387904.0))",
        &[0.0],
        &[1.0],
    );
}

#[test]
fn casts_truncate_and_say_when_they_cannot() {
    computes(
        "A[0] = T.Cast(\"int32\", T.float32(-2.75))\nA[1] = T.Cast(\"int32\", T.Cast(\"bool\", A[1]))",
        &[0.0, 7.0],
        &[-2.0, 1.0],
    );
    assert_eq!(
        fails("A[0] = T.Cast(\"int32\", T.Cast(\"uint8\", T.float32(256.5)))"),
        TirError::Cast { value: 256.5, dtype: DataType::UINT8 }
    );
    computes("A[0] = T.Cast(\"int32\", T.Cast(\"uint8\", T.float32(-0.5)))", &[1.0], &[0.0]);
    assert!(matches!(fails("A[0] = T.Cast(\"int32\", T.float32(\"nan\"))"), TirError::Cast { .. }));
    computes("A[0] = T.reinterpret(\"int32\", T.float32(1.0))", &[0.0], &[1065353216.0]);
}

#[test]
fn what_does_not_decide_is_not_evaluated() {
    computes("A[0] = T.if_then_else(A[0] > 2, 1, A[9])", &[5.0], &[1.0]);
    computes("A[0] = T.Select(A[0] < 2, A[9], 1)", &[5.0], &[1.0]);
    computes("if A[0] > 9 and A[9] > 0 or not (A[0] == 5 or A[9] > 0):\n    A[0] = 0", &[5.0], &[5.0]);
    computes("A[0] = A[0] // 0 if A[0] > 9 else 3", &[5.0], &[3.0]);
}

#[test]
fn accesses_stay_inside() {
    let outside = |index| TirError::OutOfBounds { buffer: "A".into(), indices: vec![index], shape: vec![3] };
    assert_eq!(fails("A[3] = 1"), outside(3));
    assert_eq!(fails("A[0] = A[A[0] - 6]"), outside(-1));
    assert_eq!(fails("for i in range(5):\n    A[i] = i"), outside(3));
    let TirError::OutOfBounds { indices, shape, .. } = fails("B[1, 2] = 0") else { panic!() };
    assert_eq!((indices, shape), (vec![1, 2], vec![3, 2]));
}

#[test]
fn memory_has_no_value_before_it_is_written() {
    let local = "t = T.alloc_buffer((2, 2), \"int32\")\nt[0, 1] = 4\n";
    computes(&format!("{local}A[0] = t[0, 1]"), &[0.0], &[4.0]);
    let unwritten = TirError::Uninitialized { buffer: "t".into(), indices: vec![1, 0] };
    assert_eq!(fails(&format!("{local}A[0] = t[1, 0]")), unwritten);
    // Each round has its own memory.
    let body = "for i in range(2):\n    t = T.alloc_buffer((1,), \"int32\")\n    if i == 0:\n        t[0] = 1\n    A[i] = t[0]";
    assert!(matches!(fails(body), TirError::Uninitialized { .. }));
    assert_eq!(
        fails("t = T.alloc_buffer((A[0] - 6,), \"int32\")"),
        TirError::Alloc(AllocError::Negative { index: 0, size: -1 })
    );
    // An allocation beyond the limits is not an error of the function.
    assert_eq!(fails("t = T.alloc_buffer((n * 99999999999,), \"int32\")"), TirError::OutOfFuel);
}

const SUM: &str = "\
for i, k in T.grid(n, 3):
    with T.sblock(\"sum\"):
        vi, vk = T.axis.remap(\"SR\", [i, k])
        T.where(i < n - T.int64(1))
        with T.init():
            A[vi] = 100
        A[vi] = A[vi] + T.Cast(\"int32\", vk)
";

#[test]
fn blocks_start_reductions_and_heed_predicates() {
    // 100 + 0 + 1 + 2 wherever the predicate holds.
    computes(SUM, &[7.0, 7.0, 7.0], &[103.0, 103.0, 7.0]);
    // A domain that does not start at zero starts where it says.
    computes(&SUM.replace("n, 3", "n, (1, 3)"), &[7.0, 7.0], &[103.0, 7.0]);
}

#[test]
fn parts_of_buffers() {
    let body = "\
with T.sblock(\"b\"):
    v = T.axis.spatial(n, T.int64(1))
    P = T.match_buffer(B[v, 0:2], (2,), \"float32\", strides=(s,), elem_offset=off)
    P[1] = T.float32(8)
    A[0] = T.Cast(\"int32\", B[1, 1]) * 100 + T.Cast(\"int32\", off) * 10 + T.Cast(\"int32\", s)
";
    computes(body, &[0.0, 0.0], &[821.0, 0.0]);
    let wrong = body.replace("(2,), \"float32\"", "(1,), \"float32\"");
    let error = TirError::Region { buffer: "B".into(), expected: vec![1], found: vec![1, 2] };
    assert_eq!(fails(&wrong), error);
    assert!(matches!(fails(&body.replace("0:2", "1:3")), TirError::OutOfBounds { .. }));
}

#[test]
fn loops_end() {
    computes("for i in T.serial(1, 10, step=4):\n    A[0] = A[0] * 10 + i", &[0.0], &[159.0]);
    computes("while A[0] > 1:\n    A[0] = A[0] // 2\n    if A[0] == 4:\n        break", &[37.0], &[4.0]);
    computes("for i in range(4):\n    if i % 2 == 0:\n        continue\n    A[0] = A[0] + i", &[0.0], &[4.0]);
    assert_eq!(fails("for i in T.serial(0, 3, step=0):\n    A[0] = 1"), TirError::Step(0));
    let mut fuel = 1_000;
    let args = [tensor(DataType::INT32, &[1], &[1.0]), Tensor::zeros(DataType::FLOAT32, &[0, 2]).unwrap()];
    let endless = with_body("while A[0] > 0:\n    A[0] = 1");
    assert_eq!(
        interpret_within(
            &endless,
            &args.map(TirArg::Tensor),
            &mut fuel,
            &Account::new(1 << 20),
            &TirChoices::default()
        ),
        Err(TirError::OutOfFuel)
    );
    assert_eq!(fuel, 0);
}

#[test]
fn assertions() {
    let error = TirError::Assert { kind: "ValueError".into(), message: "too small".into() };
    assert_eq!(fails("assert A[0] > 5, (\"ValueError\", [\"too \", \"small\"])"), error);
    computes("assert A[0] > 4, \"fine\"", &[5.0], &[5.0]);
}

#[test]
fn what_is_not_known_fails_only_where_it_runs() {
    computes("if A[0] > 9:\n    T.evaluate(T.call_extern(\"int32\", \"g\", A.data))", &[5.0], &[5.0]);
    assert_eq!(
        fails("T.evaluate(T.call_extern(\"int32\", \"g\", A.data))"),
        TirError::Unsupported("T.call_extern of `g`".into())
    );
}

/// Memory is seen as elements of one data type, and a pointer is none of its elements.
#[test]
fn bytes_are_not_known() {
    let seen = |dtype: &str| {
        format!("C = T.alloc_buffer((3,), \"int32\")\nD = T.decl_buffer((3,), \"{dtype}\", data=C.data)\n")
    };
    computes(&(seen("int32") + "D[0] = 4\nA[0] = D[0]"), &[5.0], &[4.0]);
    let truths =
        "C = T.alloc_buffer((3,), \"bool\")\nD = T.decl_buffer((3,), \"int8\", data=C.data)\nD[0] = T.int8(1)\n";
    computes(&format!("{truths}A[0] = T.if_then_else(C[0], 7, 8)"), &[5.0], &[7.0]);
    assert!(matches!(fails(&(seen("bool") + "D[0] = T.bool(True)")), TirError::Unsupported(_)));
    let pointer = "S = T.decl_buffer((3,), \"int64\", data=T.tvm_struct_get(A.data, 0, 2, T.handle(\"int64\", \"global\").ty))\nA[0] = 1";
    assert!(matches!(fails(pointer), TirError::Unsupported(_)));
}

fn add(shapes: [&str; 3]) -> PrimFunc {
    let [a, b, c] = shapes;
    function(&format!(
        "@T.prim_func\ndef f(A: T.Buffer({a}, \"float32\"), B: T.Buffer({b}, \"float32\"), C: T.Buffer({c}, \"float32\")):\n    C[0] = A[0] + B[0]"
    ))
}

fn call(f: &PrimFunc, sizes: [u64; 3]) -> Result<(), TirError> {
    let args = sizes.map(|n| TirArg::Tensor(tensor(DataType::FLOAT32, &[n], &vec![1.0; n as usize])));
    interpret(f, &args)
}

#[test]
fn shapes_bind_variables_and_must_agree() {
    // `n * 2` comes before the dimension that determines `n`.
    let f = add(["(n * 2,)", "(n,)", "(n + 1,)"]);
    assert_eq!(call(&f, [4, 2, 3]), Ok(()));
    let error = call(&f, [4, 2, 4]).unwrap_err();
    assert_eq!(error, TirError::Shape { buffer: "C".into(), dim: 0, expected: 3, found: 4 });
    assert_eq!(error.rule(), Some(rule!("OP.CALLTIR.RESULT-CHECK")));
    assert!(matches!(call(&add(["(n * 2,)", "(3,)", "(3,)"]), [2, 3, 3]), Err(TirError::Undetermined { .. })));
    assert!(matches!(call(&add(["(n,)", "(n,)", "(n,)"]), [2, 2, 3]), Err(TirError::Shape { .. })));
}

#[test]
fn arguments_must_fit() {
    let f = add(["(n,)", "(n,)", "(n,)"]);
    let float = tensor(DataType::FLOAT32, &[1], &[1.0]);
    let args = |last: TirArg| [TirArg::Tensor(float.clone()), TirArg::Tensor(float.clone()), last];
    assert_eq!(
        interpret(&f, &args(TirArg::Tensor(float.clone()))[..2]),
        Err(TirError::Arity { expected: 3, found: 2 })
    );
    let int = TirArg::Tensor(tensor(DataType::INT32, &[1], &[1.0]));
    assert!(matches!(interpret(&f, &args(int)), Err(TirError::DataType { .. })));
    let rank = TirArg::Tensor(tensor(DataType::FLOAT32, &[1, 1], &[1.0]));
    assert!(matches!(interpret(&f, &args(rank)), Err(TirError::Rank { expected: 1, found: 2, .. })));
    assert!(matches!(interpret(&f, &args(TirArg::Scalar(Scalar::Int(1)))), Err(TirError::Kind { .. })));
}

#[test]
fn scalar_arguments() {
    let f = function(
        "@T.prim_func\ndef f(A: T.Buffer((s,), \"float32\"), s: T.int32, q: T.float32):\n    A[s - 1] = q * 2",
    );
    let a = tensor(DataType::FLOAT32, &[2], &[0.0, 0.0]);
    let args = |s, q| [TirArg::Tensor(a.clone()), TirArg::Scalar(s), TirArg::Scalar(q)];
    interpret(&f, &args(Scalar::Int(2), Scalar::Float(0.75))).unwrap();
    assert_eq!(values(&a), [0.0, 1.5]);
    // The scalar is an argument of its own: the shape must agree with it.
    assert!(matches!(interpret(&f, &args(Scalar::Int(3), Scalar::Float(0.0))), Err(TirError::Shape { .. })));
    assert!(matches!(interpret(&f, &args(Scalar::Int(1 << 40), Scalar::Float(0.0))), Err(TirError::Range { .. })));
}

#[test]
fn the_same_tensor_twice_is_the_same_memory() {
    let f = add(["(2,)", "(2,)", "(2,)"]);
    let a = tensor(DataType::FLOAT32, &[2], &[3.0, 4.0]);
    interpret(&f, &[a.clone(), a.clone(), a.clone()].map(TirArg::Tensor)).unwrap();
    assert_eq!(values(&a), [6.0, 4.0]);
}

#[test]
fn results_stay_after_an_error() {
    let a = tensor(DataType::INT32, &[2], &[0.0, 0.0]);
    let b = Tensor::zeros(DataType::FLOAT32, &[1, 2]).unwrap();
    let f = with_body("A[0] = 9\nA[2] = 9");
    assert!(interpret(&f, &[TirArg::Tensor(a.clone()), TirArg::Tensor(b)]).is_err());
    assert_eq!(values(&a), [9.0, 0.0]);
}

#[test]
fn malformed_functions_are_reported() {
    use crate::grammar::tir::{Expr, Stmt, Var};
    let mut f = with_body("A[0] = 1");
    f.body.push(Stmt::Evaluate(Expr::Var(Var::new("nowhere", DataType::INT32))));
    let args = [tensor(DataType::INT32, &[1], &[1.0]), Tensor::zeros(DataType::FLOAT32, &[0, 2]).unwrap()];
    assert!(matches!(interpret(&f, &args.map(TirArg::Tensor)), Err(TirError::Malformed(_))));
}

#[test]
fn a_deep_expression_runs() {
    let args = || {
        let a = tensor(DataType::INT32, &[1], &[1.0]);
        [a, Tensor::zeros(DataType::FLOAT32, &[0, 2]).unwrap()]
    };
    let mut f = with_body("A[0] = A[0] + 1");
    let [crate::grammar::tir::Stmt::Store(store)] = f.body.as_mut_slice() else { panic!() };
    for _ in 0..15_000 {
        let one = crate::grammar::tir::Expr::Int(1, DataType::INT32);
        let before = std::mem::replace(&mut store.value, one.clone());
        store.value =
            crate::grammar::tir::Expr::binary(crate::grammar::BinaryOp::Add, before, one, crate::grammar::Span::NONE);
    }
    let args = args();
    interpret(&f, &args.clone().map(TirArg::Tensor)).unwrap();
    assert_eq!(values(&args[0]), [15_002.0]);
}

#[test]
fn vectors_are_computed_lane_by_lane() {
    let count = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
    computes("A[0:4] = A[4:8] + T.Broadcast(10, 4)", &count, &[14.0, 15.0, 16.0, 17.0, 4.0, 5.0, 6.0, 7.0]);
    computes("A[0:6:2] = T.Ramp(7, -1, 3)", &[0.0; 6], &[7.0, 0.0, 6.0, 0.0, 5.0, 0.0]);
    computes("A[T.Ramp(3, -1, 4)] = A[0:4]", &[1.0, 2.0, 3.0, 4.0], &[4.0, 3.0, 2.0, 1.0]);
    computes("for i in range(2):\n    A[i * 2:i * 2 + 2] = T.Broadcast(i, 2)", &[9.0; 4], &[0.0, 0.0, 1.0, 1.0]);
    computes("A[0:1] = T.max(A[1:2], A[2:3])", &[1.0, 2.0, 3.0], &[3.0, 2.0, 3.0]);
    // Of 1, 2, 5, 6 those at 3, 0, 1, 2.
    let shuffle = "A[0:4] = T.Shuffle([A[0:2], A[4:6]], [3, 0, 1, 2])";
    computes(shuffle, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[6.0, 1.0, 2.0, 5.0, 5.0, 6.0]);
    let select = "A[0:3] = T.Select(A[0:3] > A[3:6], A[0:3], T.Broadcast(0, 3))";
    computes(select, &[1.0, 5.0, 3.0, 4.0, 4.0, 3.0], &[0.0, 5.0, 0.0, 4.0, 4.0, 3.0]);
    let cast = "B[0, T.Ramp(0, 1, 2)] = T.Cast(\"float32x2\", A[0:2])\nA[2] = T.Cast(\"int32\", B[0, 1])";
    computes(cast, &[3.0, 4.0, 0.0], &[3.0, 4.0, 4.0]);
}

#[test]
fn a_vector_store_reads_before_it_writes() {
    computes("A[1:4] = A[0:3]", &[1.0, 2.0, 3.0, 4.0], &[1.0, 1.0, 2.0, 3.0]);
    // The positions are those before the store, too.
    computes("A[T.Ramp(A[0], 1, 2)] = T.Broadcast(5, 2)", &[0.0, 7.0], &[5.0, 5.0]);
}

#[test]
fn every_lane_stays_inside() {
    let TirError::OutOfBounds { indices, .. } = fails("A[2:4] = T.Broadcast(1, 2)") else { panic!("no such error") };
    assert_eq!(indices, [3]);
    assert!(matches!(fails("A[0] = T.Cast(\"int32\", A[0:2])"), TirError::Malformed(_) | TirError::Unsupported(_)));
}

#[test]
fn blocks_keep_to_what_they_declare() {
    let block = |declared: &str, body: &str| {
        format!("with T.sblock(\"b\"):\n    v = T.axis.spatial(1, 0)\n    {declared}\n    {body}")
    };
    let read_1 = "A[v] = A[1] + 10";
    for declared in
        ["T.reads(A[1])\n    T.writes(A[v])", "T.reads(A[0:2])\n    T.writes(A[0:3])", "T.writes(A[v:v + 2])"]
    {
        computes(&block(declared, read_1), &[5.0, 6.0, 7.0], &[16.0, 6.0, 7.0]);
    }
    // A block may also read what it may write.
    computes(&block("T.reads()\n    T.writes(A[v])", "A[v] = A[v] + 1"), &[5.0], &[6.0]);
    // TVM describes a block that it cannot analyse in this way.
    computes(&block("T.reads()\n    T.writes()", read_1), &[5.0, 6.0, 7.0], &[16.0, 6.0, 7.0]);
    for declared in ["T.reads(A[2])\n    T.writes(A[v])", "T.reads()\n    T.writes(A[v])"] {
        let error = fails(&block(declared, read_1));
        assert!(matches!(&error, TirError::Undeclared { indices, .. } if *indices == [1]), "{declared}: {error}");
    }
    let error = fails(&block("T.reads(A[0:3])\n    T.writes(A[v])", "A[2] = A[0]"));
    assert!(matches!(&error, TirError::Undeclared { indices, .. } if *indices == [2]), "{error}");
}

/// Each thread reads the element that its neighbour has written before the barrier. Without the barrier the last thread
/// would read an unwritten element.
#[test]
fn threads_wait_for_each_other() {
    let rotate = r#"
s = T.alloc_buffer((4,), "int32", scope="shared")
for t in T.thread_binding(4, thread="threadIdx.x"):
    s[t] = A[t]
    T.tvm_storage_sync("shared")
    A[t] = s[(t + 1) % 4]
"#;
    assert_eq!(run(rotate, &[1.0, 2.0, 3.0, 4.0]).unwrap(), [2.0, 3.0, 4.0, 1.0]);
}

#[test]
fn the_threads_of_all_axes_of_a_block_wait() {
    let transpose = r#"
s = T.alloc_buffer((4,), "int32", scope="shared")
for b in T.thread_binding(1, thread="blockIdx.x"):
    for x in T.thread_binding(2, thread="threadIdx.x"):
        for y in T.thread_binding(2, thread="threadIdx.y"):
            s[x * 2 + y] = A[x * 2 + y]
            T.tvm_storage_sync("shared")
            A[x * 2 + y] = s[y * 2 + x]
            T.tvm_storage_sync("shared")
            s[x * 2 + y] = A[x]
"#;
    assert_eq!(run(transpose, &[1.0, 2.0, 3.0, 4.0]).unwrap(), [1.0, 3.0, 2.0, 4.0]);
}

/// A barrier also works inside of a thread's own loop and after its own definitions, and the variables of each thread
/// remain separate.
#[test]
fn threads_wait_wherever_they_are() {
    let in_loop = r#"
s = T.alloc_buffer((3,), "int32", scope="shared")
for t in T.thread_binding(3, thread="threadIdx.x"):
    s[t] = A[t]
    for i in range(2):
        T.tvm_storage_sync("shared")
        v: T.int32 = s[(t + 1) % 3]
        T.tvm_storage_sync("shared")
        s[t] = v
    A[t] = s[t]
"#;
    assert_eq!(run(in_loop, &[1.0, 2.0, 3.0]).unwrap(), [3.0, 1.0, 2.0]);
    let some = r#"
for t in T.thread_binding(2, thread="threadIdx.x"):
    if t == 0:
        T.tvm_storage_sync("shared")
    A[t] = 1
"#;
    assert_eq!(fails(some), TirError::Divergent);
    // All or none of them.
    computes(&some.replace("t == 0", "A[2] == 7"), &[0.0, 0.0, 7.0], &[1.0, 1.0, 7.0]);
    // Threads outside of the block do not wait, and a barrier of a warp is not known.
    let other =
        some.replace("    if t == 0:\n        T.tvm_storage_sync(\"shared\")", "    T.tvm_storage_sync(\"warp\")");
    assert!(matches!(fails(&other), TirError::Unsupported(_)));
}

fn race(index: i64) -> TirError {
    TirError::Race { buffer: "A".into(), indices: vec![index] }
}

#[test]
fn rounds_that_may_be_run_at_once_are_independent() {
    for kind in ["T.parallel(3)", "T.vectorized(3)", "T.thread_binding(3, thread=\"threadIdx.x\")"] {
        let body = |inner: &str| format!("for i in {kind}:\n    {inner}");
        // Each round writes its own element, whatever all of them read.
        computes(&body("A[i] = A[i] + 3"), &[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]);
        computes(&body("A[i] = A[3] + i"), &[1.0, 2.0, 3.0, 4.0], &[4.0, 5.0, 6.0, 4.0]);
        // A sum, a scan forwards, one backwards, and two that write one element.
        assert_eq!(run(&body("A[0] = A[0] + A[i]"), &[1.0; 4]), Err(race(0)));
        assert_eq!(run(&body("A[i + 1] = A[i]"), &[1.0; 4]), Err(race(1)));
        assert_eq!(run(&body("A[i] = A[i + 1]"), &[1.0; 4]), Err(race(1)));
        assert_eq!(run(&body("A[i // 2] = 5"), &[1.0; 4]), Err(race(0)));
        // In order it is correct.
        assert!(run(&body("A[0] = A[0] + A[i]").replace(kind, "range(3)"), &[1.0; 4]).is_ok());
    }
}

#[test]
fn loops_within_loops_are_independent_of_what_is_beside_them() {
    let nested = |outer: &str, inner: &str, at: &str| {
        format!("for i in {outer}:\n    for j in {inner}:\n        A[{at}] = A[{at}] + 1")
    };
    let all = [1.0; 4];
    computes(&nested("T.parallel(2)", "range(2)", "i"), &all, &[3.0, 3.0, 1.0, 1.0]);
    computes(&nested("range(2)", "T.parallel(2)", "j"), &all, &[3.0, 3.0, 1.0, 1.0]);
    computes(&nested("T.parallel(2)", "T.vectorized(2)", "i * 2 + j"), &all, &[2.0; 4]);
    assert_eq!(run(&nested("T.parallel(2)", "T.vectorized(2)", "j"), &all), Err(race(0)));
    assert_eq!(run(&nested("T.parallel(2)", "T.vectorized(2)", "i"), &all), Err(race(0)));
    // Two loops, one after the other.
    computes(
        "for i in T.parallel(2):\n    A[i] = 5\nfor i in T.parallel(2):\n    A[i + 1] = A[0]",
        &all,
        &[5.0, 5.0, 5.0, 1.0],
    );
}

/// The compiler gives each task its own copy of memory that no other task, and no code after the loop, reads.
#[test]
fn what_a_function_allocates_is_the_own_memory_of_a_task() {
    for scope in ["global", "local"] {
        let with = |body: &str| format!("L = T.alloc_buffer((2,), \"int32\", scope=\"{scope}\")\n{body}");
        let own = "for i in T.parallel(3):\n    for j in T.vectorized(2):\n        L[j] = A[i]\n    A[i] = L[0] + L[1]";
        computes(&with(own), &[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]);
        // The lanes share it; another task has written it; after the loop it is unknown whose copy is read.
        for body in [
            "for j in T.vectorized(2):\n    L[0] = A[j]",
            "L[0] = 0\nfor i in T.parallel(3):\n    L[0] = L[0] + A[i]",
            "for i in T.parallel(3):\n    L[0] = A[i]\nA[0] = L[0]",
        ] {
            assert!(matches!(run(&with(body), &[1.0, 2.0, 3.0]), Err(TirError::Race { .. })), "{scope}: {body}");
        }
    }
}

/// A barrier orders the threads of its block, and not those of other blocks.
#[test]
fn a_barrier_makes_what_was_written_seen() {
    let blocks = |blocks: usize, barrier: &str| {
        format!(
            "\
for b in T.thread_binding({blocks}, thread=\"blockIdx.x\"):
    for t in T.thread_binding(2, thread=\"threadIdx.x\"):
        A[b * 2 + t] = A[b * 2 + t] * 2
        {barrier}
        A[t] = A[t] + 0 * A[1 - t]"
        )
    };
    let barrier = "T.tvm_storage_sync(\"shared\")";
    let swapped = blocks(1, barrier).replace("A[t] = A[t] + 0 * A[1 - t]", "A[t + 2] = A[1 - t]");
    computes(&swapped, &[1.0, 2.0, 0.0, 0.0], &[2.0, 4.0, 4.0, 2.0]);
    assert_eq!(run(&swapped.replace(barrier, "pass"), &[1.0, 2.0, 0.0, 0.0]), Err(race(1)));
    assert_eq!(run(&blocks(2, barrier).replace(" + 0 * A[1 - t]", ""), &[1.0, 2.0, 0.0, 0.0]), Err(race(0)));
}

/// Threads along which a block reduces are combined by the compiler.
#[test]
fn threads_that_reduce_are_combined() {
    let sum = "\
for i in T.thread_binding(3, thread=\"threadIdx.x\"):
    with T.sblock(\"sum\"):
        v = T.axis.reduce(3, i)
        with T.init():
            A[3] = 0
        A[3] = A[3] + A[v]
";
    computes(sum, &[1.0, 2.0, 3.0, 9.0], &[1.0, 2.0, 3.0, 6.0]);
    // A loop of the host is not combined.
    assert_eq!(
        run(&sum.replace("T.thread_binding(3, thread=\"threadIdx.x\")", "T.parallel(3)"), &[1.0; 4]),
        Err(race(3))
    );
}

/// Each thread has its own local memory, even if it is allocated before the loop.
#[test]
fn each_thread_has_its_local_memory() {
    let own = "\
s = T.alloc_buffer((1,), \"int32\", scope=\"local\")
for t in T.thread_binding(3, thread=\"threadIdx.x\"):
    s[0] = A[t]
    A[t] = s[0] * 2
";
    computes(own, &[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]);
    let shared = own.replace("local", "global");
    assert_eq!(run(&shared, &[1.0, 2.0, 3.0]), Err(TirError::Race { buffer: "s".into(), indices: vec![0] }));
    // Its own writes are still there after a barrier; here they were overwritten, which is reported.
    let behind = own.replace("    A[t] = s", "    T.tvm_storage_sync(\"shared\")\n    A[t] = s");
    assert!(matches!(run(&behind, &[1.0, 2.0, 3.0]), Err(TirError::Unsupported(_))));
}

#[test]
fn assumptions_hold() {
    computes("T.evaluate(T.assume(A[0] > 4))", &[5.0], &[5.0]);
    assert_eq!(fails("T.evaluate(T.assume(A[0] > 5))"), TirError::Assumption);
}

/// 2^24 + 1 is not a float32: the product and the sum are rounded once.
#[test]
fn a_fused_product_and_sum_is_rounded_once() {
    let of = |e: &str| format!("B[0, 0] = T.Cast(\"float32\", A[0])\nA[0] = T.Cast(\"int32\", {e})");
    computes(&of("T.fma(B[0, 0], B[0, 0], T.float32(-16785408.0))"), &[4097.0], &[1.0]);
    computes(&of("B[0, 0] * B[0, 0] + T.float32(-16785408.0)"), &[4097.0], &[0.0]);
}

/// A call of a function of the runtime that sorts, as `topi` writes it.
fn sorting(name: &str, rest: &str) -> String {
    let array = |data: &str, shape: &str| {
        format!("T.tvm_stack_make_array({data}, T.tvm_stack_make_shape({shape}), 0, 2, T.int32(0), T.int64(0))")
    };
    let (input, output) = (array("s.data", "2, 3"), array("o.data", "2, 3"));
    let first = array("p.data", "2, 1");
    let call = rest.replace("OUT", &output).replace("ONE", &first);
    format!(
        "\
s = T.alloc_buffer((2, 3), \"int32\")
o = T.alloc_buffer((2, 3), \"int32\")
p = T.alloc_buffer((2, 1), \"int32\")
for i in range(6):
    s[i // 3, i % 3] = A[i]
    o[i // 3, i % 3] = 9
for i in range(2):
    p[i, 0] = 9
T.call_packed(\"tvm.contrib.sort.{name}\", {input}, {call})
for i in range(6):
    A[i] = o[i // 3, i % 3]
A[6] = p[0, 0]
A[7] = p[1, 0]
"
    )
}

#[test]
fn functions_of_the_run_time_sort() {
    let a = [3.0, 1.0, 2.0, 5.0, 5.0, 4.0, 0.0, 0.0];
    let gives = |name: &str, rest: &str, expected: [f64; 8]| computes(&sorting(name, rest), &a, &expected);
    gives("sort", "OUT, 1, T.bool(True)", [1.0, 2.0, 3.0, 4.0, 5.0, 5.0, 9.0, 9.0]);
    gives("sort", "OUT, -1, T.bool(False)", [3.0, 2.0, 1.0, 5.0, 5.0, 4.0, 9.0, 9.0]);
    gives("sort", "OUT, 0, T.bool(False)", [5.0, 5.0, 4.0, 3.0, 1.0, 2.0, 9.0, 9.0]);
    // Equal elements keep their order.
    gives("argsort", "OUT, 1, T.bool(False)", [0.0, 2.0, 1.0, 0.0, 1.0, 2.0, 9.0, 9.0]);
    gives("topk", "ONE, OUT, 1, 1, \"both\", T.bool(False)", [0.0, 2.0, 1.0, 0.0, 1.0, 2.0, 3.0, 5.0]);
    gives("topk", "ONE, 1, 1, \"indices\", T.bool(True)", [9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 1.0, 2.0]);
    // The arrays keep their shape where the buffers have been made flat; of another size they do not fit.
    let flat = |size: usize| {
        let text = sorting("sort", "OUT, 1, T.bool(True)");
        let text = text.replace("alloc_buffer((2, 3)", &format!("alloc_buffer(({size},)"));
        text.replace("[i // 3, i % 3]", "[i]")
    };
    computes(&flat(6), &a, &[1.0, 2.0, 3.0, 4.0, 5.0, 5.0, 9.0, 9.0]);
    assert!(matches!(run(&flat(7), &a), Err(TirError::Unsupported(_))));
    for body in [sorting("sorted", "OUT, 1, T.bool(True)"), sorting("sort", "OUT, 2, T.bool(True)")] {
        assert!(matches!(run(&body, &a), Err(TirError::Unsupported(_))), "{body}");
    }
}
