use ruff_python_ast as py;

use super::*;
use crate::grammar::BinaryOp;
use crate::grammar::tir::{For, IterKind};
use crate::syntax::tvmscript::Dialect;
use crate::syntax::tvmscript::tir_print::print_prim_func;

fn read(text: &str) -> ParseResult<PrimFunc> {
    let module = ruff_python_parser::parse_module(text).unwrap().into_syntax();
    let def = module.body.iter().find_map(|stmt| match stmt {
        py::Stmt::FunctionDef(def) => Some(def),
        _ => None,
    });
    parse_prim_func(def.unwrap(), text)
}

/// A function of `A: float32[n, 4]`, `s: int32` and `q: float32` with this body.
fn with_body(body: &str) -> String {
    let mut text = String::from("@T.prim_func\ndef f(a: T.handle, s: T.int32, q: T.float32):\n    n = T.int64()\n");
    text.push_str("    A = T.match_buffer(a, (n, T.int64(4)), \"float32\")\n");
    for line in body.lines() {
        text.push_str(&format!("    {line}\n"));
    }
    text
}

fn body(text: &str) -> Vec<Stmt> {
    read(&with_body(text)).unwrap_or_else(|e| panic!("{e}\n{text}")).body
}

fn round_trips(f: &PrimFunc) {
    let text = print_prim_func(f, "f", 0, Dialect::Tvm027);
    assert_eq!(&read(&text).unwrap_or_else(|e| panic!("{e}\n{text}")), f, "{text}");
}

/// The value stored by the only statement, on one line.
fn value(text: &str) -> String {
    match body(&format!("A[0, 0] = {text}")).as_slice() {
        [Stmt::Store(store)] => sexp(&store.value),
        other => panic!("{other:?}"),
    }
}

/// Binary operators and casts with all brackets.
fn sexp(e: &Expr) -> String {
    match e {
        Expr::Binary(b) => format!("({} {} {})", b.op.name(), sexp(&b.a), sexp(&b.b)),
        Expr::Cast(dtype, e) => format!("{dtype}:{}", sexp(e)),
        Expr::Int(i, dtype) => format!("{i}:{dtype}"),
        Expr::Float(f, dtype) => format!("{}:{dtype}", f.get()),
        Expr::Var(var) => var.name.to_string(),
        Expr::Not(e) => format!("(Not {})", sexp(e)),
        other => format!("{other:?}"),
    }
}

#[test]
fn numbers_take_the_data_type_of_their_surroundings() {
    assert_eq!(value("q + 1"), "(Add q 1:float32)");
    assert_eq!(value("q + 0.5"), "(Add q 0.5:float32)");
    assert_eq!(value("s + 1"), "float32:(Add s 1:int32)");
    assert_eq!(value("n * 2"), "float32:(Mul n 2:int64)");
    assert_eq!(value("2 + 3"), "5:float32");
    assert_eq!(value("T.int8(-128)"), "float32:-128:int8");
    assert_eq!(value("-q"), "(Mul q -1:float32)");
}

#[test]
fn operands_meet_in_the_wider_data_type() {
    assert_eq!(value("s + n"), "float32:(Add int64:s n)");
    assert_eq!(value("q * s"), "(Mul q float32:s)");
    assert_eq!(value("T.max(s, 3)"), "float32:(Max s 3:int32)");
}

#[test]
fn comparisons_chain_as_in_python() {
    assert_eq!(value("1 < s <= n"), "float32:(And (LT 1:int32 s) (LE int64:s n))");
    assert!(read(&with_body("A[0, 0] = s < 2 == True")).is_err());
    assert_eq!(value("not s > 2 and n == 0"), "float32:(And (Not (GT s 2:int32)) (EQ n 0:int64))");
}

#[test]
fn division_must_say_how_it_rounds() {
    assert_eq!(value("s // 2 % 3"), "float32:(FloorMod (FloorDiv s 2:int32) 3:int32)");
    assert_eq!(value("T.truncdiv(s, 2)"), "float32:(Div s 2:int32)");
    assert_eq!(value("q / 2"), "(Div q 2:float32)");
    assert!(read(&with_body("A[0, 0] = s / 2")).unwrap_err().message.contains("integers"));
}

#[test]
fn constants_of_every_data_type() {
    assert_eq!(value("T.float32(\"-inf\")"), "-inf:float32");
    assert_eq!(value("T.max_value(\"int8\")"), "float32:127:int8");
    assert_eq!(value("T.bool(True)"), "float32:1:bool");
    assert_eq!(value("T.float16(s)"), "float32:float16:s");
    assert!(read(&with_body("A[0, 0] = T.uint8(256)")).is_err());
}

const BLOCK: &str = "\
@T.prim_func(private=True, s_tir=True)
def f(var_A: T.handle, w: T.Buffer((T.int64(4),), \"float32\"), out: T.Buffer((), \"float32\")):
    T.func_attr({\"tirx.noalias\": True})
    n = T.int64()
    A = T.match_buffer(var_A, (n, T.int64(4)), \"float32\", offset_factor=1)
    # with T.sblock(\"root\"):
    t = T.sblock_alloc_buffer((n,), \"float32\", scope=\"shared\")
    for i, k in T.grid(n, T.int64(4)):
        with T.sblock(\"t\"):
            v_i, v_k = T.axis.remap(\"SR\", [i, k])
            T.where(i < n - T.int64(1))
            T.reads(A[v_i, T.int64(0):T.int64(4)], w[v_k])
            T.writes(t[v_i])
            T.sblock_attr({\"axis\": 1, \"names\": [\"a\", \"b\"]})
            with T.init():
                t[v_i] = T.float32(0.0)
            t[v_i] = t[v_i] + A[v_i, v_k] * w[v_k]
    with T.sblock(\"out\"):
        vi = T.axis.spatial((T.int64(1), n), T.int64(1))
        out[()] = t[vi]
";

#[test]
fn blocks() {
    let f = read(BLOCK).unwrap();
    assert_eq!(print_prim_func(&f, "f", 0, Dialect::Tvm025), BLOCK.replace("    # with T.sblock(\"root\"):\n", ""));
    let [Stmt::For(outer), Stmt::Block(last)] = f.body.as_slice() else { panic!("{:?}", f.body) };
    let [Stmt::For(inner)] = outer.body.as_slice() else { panic!("{:?}", outer.body) };
    let [Stmt::Block(block)] = inner.body.as_slice() else { panic!("{:?}", inner.body) };
    let kinds: Vec<_> = block.iters.iter().map(|iter| iter.kind).collect();
    assert_eq!(kinds, [IterKind::Spatial, IterKind::Reduce]);
    assert_eq!(block.iters[1].stop, Expr::Int(4, DataType::INT64));
    assert_eq!(last.iters[0].start, Expr::Int(1, DataType::INT64));
}

#[test]
fn a_buffer_parameter_and_a_matched_handle_are_the_same() {
    let direct = "@T.prim_func\ndef f(A: T.Buffer((4, 4), \"float32\")):\n    A[0, 0] = 1";
    let matched =
        "@T.prim_func\ndef f(a: T.handle):\n    A = T.match_buffer(a, [4, 4], dtype=\"float32\")\n    A[0, 0] = 1";
    let subscript = "@T.prim_func\ndef f(A: T.Buffer[(4, 4), \"float32\"]):\n    A[0, 0] = 1";
    assert_eq!(read(direct).unwrap(), read(matched).unwrap());
    assert_eq!(read(direct).unwrap(), read(subscript).unwrap());
}

#[test]
fn shape_variables_need_no_declaration() {
    let bare =
        "@T.prim_func\ndef f(A: T.Buffer((n, m), \"float32\"), B: T.Buffer((\"n * m\",), \"float32\")):\n    B[n] = 1";
    let f = read(bare).unwrap();
    let [Param::Buffer(a), Param::Buffer(b)] = f.params.as_slice() else { panic!() };
    let n = Expr::Var(Var::new("n", DataType::INT64));
    let m = Expr::Var(Var::new("m", DataType::INT64));
    assert_eq!(a.shape, [n.clone(), m.clone()]);
    assert_eq!(b.shape, [Expr::binary(BinaryOp::Mul, n, m, Span::NONE)]);
    round_trips(&f);
    let declared = bare.replace("    B[n]", "    n = T.int32()\n    B[n]");
    let Ok(PrimFunc { params, .. }) = read(&declared) else { panic!() };
    assert!(matches!(params.as_slice(), [Param::Buffer(a), _] if a.shape[0].dtype() == DataType::INT32));
}

#[test]
fn older_spellings() {
    let old = "\
@T.prim_func
def mm(x: T.handle, y: T.handle, z: T.handle) -> None:
    k = T.var(\"int32\")
    A = T.match_buffer(x, (m, k))
    B = T.match_buffer(y, (k, m))
    C = T.match_buffer(z, (m, m))
    for (i0, j0, k0) in T.grid(m, m, k):
        with T.block():
            i, j, kk = T.axis.remap(\"SSR\", [i0, j0, k0])
            with T.init():
                C[i, j] = 0.0
            C[i, j] += A[i, kk] * B[kk, j]
";
    let f = read(old).unwrap();
    assert!(f.s_tir);
    round_trips(&f);
    let with_loop = "@T.prim_func\ndef f(a: T.handle):\n    A = T.match_buffer(a, (n,))\n    with T.grid(n) as i:\n        A[i] = 1";
    let for_loop = with_loop.replace("with T.grid(n) as i", "for i in range(n)");
    assert_eq!(read(with_loop).unwrap(), read(&for_loop).unwrap());
}

#[test]
fn scalars_that_change_are_buffers_of_one_element() {
    let sugar = body("x: T.int32 = s\nx = x + 1\nx += 2\nA[x, 0] = x");
    let plain = body(
        "x = T.alloc_buffer((1,), \"int32\", scope=\"local\")\nx[0] = s\nx[0] = x[0] + 1\nx[0] = x[0] + 2\nA[x[0], 0] = x[0]",
    );
    assert_eq!(sugar, plain);
    let f = read(&with_body("x: T.int32 = s\nx += 2\nA[x, 0] = x")).unwrap();
    let text = print_prim_func(&f, "f", 0, Dialect::Tvm025);
    assert!(
        text.ends_with("    x: T.int32\n    x = s\n    x = x + 2\n    A[x, 0] = T.Cast(\"float32\", x)\n"),
        "{text}"
    );
}

#[test]
fn parts_of_buffers_may_have_names() {
    let slice = body("B = T.alloc_buffer((4, 6), \"float32\")\nC = B[1:3, 2:6]\nC[0, 0] = 1");
    // TVM 0.25 prints a buffer without a declaration as `T.Buffer`.
    for decl in ["decl_buffer", "Buffer"] {
        let decl = body(&format!(
            "B = T.alloc_buffer((4, 6), \"float32\")\nC = T.{decl}((2, 4), \"float32\", data=B.data, elem_offset=8)\n\
             C[0, 0] = 1"
        ));
        assert_eq!(slice, decl);
    }
}

#[test]
fn strides_that_are_only_named_have_the_data_type_of_dimensions() {
    let f = read(&with_body(
        "with T.sblock(\"b\"):\n    P = T.match_buffer(A[0, 0:2], (2,), \"float32\", strides=(\"st\",))\n    P[0] = 1",
    ))
    .unwrap();
    let [Stmt::Block(block)] = f.body.as_slice() else { panic!() };
    assert_eq!(block.matches[0].buffer.strides, [Expr::Var(Var::new("st", DataType::INT32))]);
    round_trips(&f);
}

#[test]
fn every_statement_round_trips() {
    let all = "\
y: T.let[T.int32] = s * 2
for i in T.parallel(1, 4):
    for j in T.unroll(T.int64(4), annotations={\"a\": 1, \"b\": 0.5}):
        A[i, j] = T.Select(s > 2, q, T.float32(\"nan\"))
for i in T.serial(0, 8, step=2):
    if i < 2:
        continue
    elif i > 5:
        break
    else:
        assert i < 3, (\"ValueError\", [\"a\", \"b\"])
while s < y and not q < 1:
    T.evaluate(T.call_extern(\"int32\", \"g\", A.data, s))
B = T.alloc_buffer((4,), \"float32\", scope=\"local\")
C = T.decl_buffer((2, 2), \"float32\", data=B.data)
for t in T.thread_binding(4, thread=\"threadIdx.x\"):
    B[t] = T.if_then_else(s > 2, C[0, 0] / (q - (q - 1)), T.Let(z * z, where={z: q}))
with T.attr(s, \"key\", 1):
    pass
with T.sblock(\"b\"):
    v = T.axis.opaque(4, s)
    T.reads()
    T.writes(B[0:4])
    D = T.match_buffer(B[v:v + 2], (2,), \"float32\", strides=(st,), elem_offset=off, offset_factor=1)
    D[0] = T.reinterpret(\"float32\", T.shift_left(s, 3) & -7)
tx = T.launch_thread(\"threadIdx.y\", 4)
T.attr({\"pragma\": \"seq\"})
B[tx] = T.min(T.truncmod(s, -3), s // T.int32(2) - (2 - s)) * T.Cast(\"float32\", -(s - 1) < 3)
";
    let f = read(&with_body(all)).unwrap_or_else(|e| panic!("{e}"));
    round_trips(&f);
}

#[test]
fn a_variable_that_hides_a_loop_is_not_remapped() {
    let f = read(&with_body(
        "for i in range(4):\n    i: T.let[T.int32] = 2\n    with T.sblock(\"b\"):\n        v = T.axis.spatial(4, i)\n        w = T.axis.spatial(4, i)\n        A[v, w] = 0",
    ));
    round_trips(&f.unwrap());
}

#[test]
fn loops_over_a_variable_of_the_nest_stay_apart() {
    let stmts = body("for i in range(4):\n    for j in range(i):\n        A[i, j] = 0");
    let [Stmt::For(outer)] = stmts.as_slice() else { panic!() };
    let [Stmt::For(inner)] = outer.body.as_slice() else { panic!() };
    let For { stop, .. } = &**inner;
    assert_eq!(*stop, Expr::Var(Var::new("i", DataType::INT32)));
    let f = read(&with_body("for i in range(4):\n    for j in range(i):\n        A[i, j] = 0")).unwrap();
    round_trips(&f);
}

#[test]
fn what_is_wrong_and_where() {
    for (text, column, message) in [
        ("A[0] = 1", 7, "`A` has 2 dimensions, 1 indices are given"),
        ("A[0, 0] = B[0]", 15, "no buffer `B` is defined here"),
        ("A[0, 0] = x", 15, "`x` is not defined here"),
        ("A[0, q] = 1", 10, "expected an integer as index, not a float32"),
        ("A[0, 0] = T.frobnicate(q)", 15, "no function `T.frobnicate` with these arguments is known"),
        ("A[0, 0] = T.exp(q, q)", 15, "expected 1 operands of `T.exp`"),
        ("for i, j in T.grid(4):\n    pass", 5, "expected 1 loop variables, found 2"),
        ("for i in s:\n    pass", 14, "expected `range`"),
        ("del s", 5, "expected a statement of TIR"),
        ("T.reads(A[0, 0])", 5, "belongs at the start of a block"),
    ] {
        let text = if text.starts_with("T.reads") { format!("A[0, 0] = 1\n{text}") } else { text.to_string() };
        let error = read(&with_body(&text)).expect_err(&text);
        assert!(error.message.starts_with(message) || error.message.contains(message), "{text}: {error}");
        assert_eq!(error.column, column, "{text}: {error}");
    }
}

#[test]
fn names_go_out_of_scope() {
    assert!(read(&with_body("for i in range(4):\n    pass\nA[i, 0] = 1")).is_err());
    assert!(read(&with_body("if s > 1:\n    x = 1\nA[x, 0] = 1")).is_err());
}

#[test]
fn deep_nesting_is_refused() {
    let deep = format!("A[0, 0] = {}q{}", "T.exp(".repeat(2_000), ")".repeat(2_000));
    // The Python parser rejects such depth too, with a different error.
    let text = with_body(&deep);
    if ruff_python_parser::parse_module(&text).is_ok() {
        assert!(read(&text).unwrap_err().message.contains("nested more than"));
    }
    let chain = format!("A[0, 0] = {}", vec!["q"; 900].join(" + "));
    round_trips(&read(&with_body(&chain)).unwrap());
}

#[test]
fn vectors_are_read_and_written_back() {
    let text = with_body(
        "A[0, 0:4] = A[1, 0:4] * T.Broadcast(q, 4)
A[s, T.Ramp(3, -1, 4)] = T.Select(A[0, 0:4] > A[1, 0:4], A[0, 0:4], T.Cast(\"float32x4\", T.Ramp(s, 2, 4)))
A[0, 0:4] = T.Shuffle([A[0, 0:2], A[1, 2:4]], [3, 0, 1, 2])",
    );
    let f = read(&text).unwrap();
    round_trips(&f);
    let Some(Stmt::Store(store)) = f.body.first() else { panic!("{f:?}") };
    assert_eq!(store.value.dtype().to_string(), "float32x4");
}

#[test]
fn a_slice_is_a_ramp_of_a_length_that_can_be_seen() {
    let index = |slice: &str| match body(&format!("A[0, {slice}] = q")).as_slice() {
        [Stmt::Store(store)] => store.indices[1].dtype().to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(index("0:4"), "int32x4");
    assert_eq!(index("s:s + 4"), "int32x4");
    assert_eq!(index("s + 1:s + 4"), "int32x3");
    assert_eq!(index("0:4:2"), "int32x2");
    assert_eq!(index("3:-1:-1"), "int32x4");
    assert_eq!(index("2:3"), "int32");
    for slice in ["0:s", "s:n", "4:0", "0:4:0", ":4"] {
        assert!(read(&with_body(&format!("A[0, {slice}] = q"))).is_err(), "{slice}");
    }
}

fn said(body: &str) -> String {
    read(&with_body(body)).map_or_else(|error| error.to_string(), |_| "nothing".to_string())
}

#[test]
fn a_named_expression_keeps_its_variables() {
    let within = "for i in range(4):\n    m = T.meta_var(i)\n    A[0, m] = T.float32(1)";
    assert_eq!(said(within), "nothing");
    let hidden = "for i in range(4):\n    m = T.meta_var(i)\n    for i in range(1):\n        A[0, m] = T.float32(1)";
    assert!(said(hidden).contains("`i` is another variable here than where `m` was defined"), "{}", said(hidden));
    // The loop variable has the name of a dimension of the buffer.
    let shape = "for n in range(4):\n    A[A.shape[0], n] = T.float32(1)";
    assert!(said(shape).contains("`n` is another variable here than where `A` was defined"), "{}", said(shape));
}

#[test]
fn names_of_names_make_no_tree_without_end() {
    let mut doubled = String::from("m0 = T.meta_var(s)\n");
    for i in 0..60 {
        doubled.push_str(&format!("m{} = T.meta_var(m{i} + m{i})\n", i + 1));
    }
    assert!(said(&doubled).contains("too large a tree"), "{}", said(&doubled));
    let mut shapes = String::from("A0 = T.alloc_buffer((n,))\n");
    for i in 0..60 {
        shapes.push_str(&format!("A{} = T.alloc_buffer((A{i}.shape[0] + A{i}.shape[0],))\n", i + 1));
    }
    assert!(said(&shapes).contains("too large a tree"), "{}", said(&shapes));
}

#[test]
fn a_view_begins_where_its_buffer_does() {
    let views =
        body("B = T.alloc_buffer((8,))\nC = T.decl_buffer((4,), data=B.data, elem_offset=4)\nD = C.view(2, -1)");
    let [.., Stmt::Decl(view)] = views.as_slice() else { panic!("{views:?}") };
    let sizes: Vec<_> = view.buffer.shape.iter().map(sexp).collect();
    assert_eq!(sizes.join(" ").replace(":int64", "").replace(":int32", ""), "2 2");
    assert_eq!(view.buffer.elem_offset.as_ref().map(sexp).as_deref().map(|e| e.starts_with("4:")), Some(true));
    assert!(said("D = A.view(-1, 2)").contains("-1 where all others are known"), "{}", said("D = A.view(-1, 2)"));
}

fn number(e: &Expr) -> String {
    sexp(e).split(':').next().unwrap().to_string()
}

fn sizes(buffer: &Buffer) -> String {
    buffer.shape.iter().map(number).collect::<Vec<_>>().join(" ")
}

/// The buffer of a view.
fn view(view: &str) -> Buffer {
    let views = body(&format!("B = T.alloc_buffer((2, 8))\nC = T.alloc_buffer(())\nV = {view}"));
    let [.., Stmt::Decl(view)] = views.as_slice() else { panic!("{views:?}") };
    view.buffer.clone()
}

#[test]
fn what_is_left_of_a_view_is_a_size() {
    for (text, expected) in [
        ("B.view(16)", "16"),
        ("B.view(4, 4)", "4 4"),
        ("B.view(5)", "5"),
        ("B.view(64)", "64"),
        ("B.view()", ""),
        ("B.view(-1)", "16"),
        ("B.view(2, -1, 1)", "2 8 1"),
        ("B.view(4, -1, layout=None)", "4 4"),
        ("C.view(-1)", "1"),
        ("C.view(1, 1)", "1 1"),
    ] {
        assert_eq!(sizes(&view(text)), expected, "{text}");
    }
    for (text, why) in [
        ("B.view(-1, -1, -2)", "not negative"),
        ("B.view(-1, -1)", "only one dimension"),
        ("B.view(-5, 2)", "not negative"),
        ("B.view(-2, -4)", "not negative"),
        ("B.view(3, -1)", "cannot be divided"),
        ("B.view(32, -1)", "cannot be divided"),
        ("B.view(0, -1)", "cannot be divided"),
        ("B.view(-1, dtype=\"float16\")", "nothing else"),
        ("B.view(32, -1, dtype=\"float16\")", "nothing else"),
        ("B.view(16, dtype=\"int32\")", "nothing else"),
        ("B.view(16, layout=\"default\")", "layout of a view"),
        ("B.view(q, 8)", "int32 or int64"),
        ("B.view(s, -1)", "-1 where all others are known"),
    ] {
        let said = said(&format!("B = T.alloc_buffer((2, 8))\nV = {text}"));
        assert!(said.contains(why), "{text}: {said}");
    }
}

#[test]
fn a_view_of_another_data_type_has_as_many_bits() {
    for (dtype, expected) in
        [("int32", "2 8"), ("float16", "2 16"), ("uint8", "2 32"), ("bool", "2 32"), ("int64", "2 4")]
    {
        let view = view(&format!("B.view(\"{dtype}\")"));
        assert_eq!(view.dtype.to_string(), dtype);
        assert_eq!(sizes(&view), expected, "{dtype}");
    }
    let of_a_part = |dtype: &str| {
        let text = format!(
            "B = T.alloc_buffer((8,))\nC = T.decl_buffer((4,), data=B.data, elem_offset=4)\nD = C.view({dtype:?})"
        );
        let views = body(&text);
        let [.., Stmt::Decl(view)] = views.as_slice() else { panic!("{views:?}") };
        number(view.buffer.elem_offset.as_ref().unwrap())
    };
    assert_eq!(["float16", "float32", "float64"].map(of_a_part), ["8", "4", "2"]);
    assert!(said("D = C.view(\"float16\")\n").contains("no buffer"));
    for (buffer, dtype, why) in
        [("(3,)", "float64", "whole number"), ("()", "float16", "a scalar"), ("(s,)", "float64", "whole")]
    {
        let said = said(&format!("B = T.alloc_buffer({buffer})\nV = B.view({dtype:?})"));
        assert!(said.contains(why), "{buffer} {dtype}: {said}");
    }
    assert_eq!(said("B = T.alloc_buffer((s,))\nV = B.view(\"float16\")"), "nothing");
}
