mod hostile;

use super::*;
use crate::book::Edition;
use crate::generate::Tape;
use crate::grammar::*;
use crate::programs::{Features, ProgramSource, Restriction};

fn function<'m>(module: &'m IrModule, name: &str) -> &'m Function {
    match module.get(name) {
        Some(GlobalFunc::Function(f)) => f,
        other => panic!("{name}: {other:?}"),
    }
}

/// The bindings and the value of the only function `f`, with these parameters and statements.
fn body(params: &str, statements: &[&str]) -> SeqExpr {
    let mut text = format!("@R.function\ndef f({params}):\n");
    for statement in statements {
        text.push_str(&format!("    {statement}\n"));
    }
    let module = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    match &function(&module, "f").body {
        Expr::SeqExpr(seq) => (**seq).clone(),
        other => panic!("{other:?}"),
    }
}

/// The value of the only binding.
fn value(params: &str, expression: &str) -> Expr {
    let seq = body(params, &[&format!("y = {expression}"), "return y"]);
    seq.blocks[0].bindings[0].value().clone()
}

fn error(text: &str) -> source::SyntaxError {
    match parse_module(text) {
        Err(error) => error,
        Ok(module) => panic!("{module:?}"),
    }
}

/// A flag that is left out is written with its default if a later one is given.
#[test]
fn flags_stand_in_their_places() {
    let flags = |written: &str| -> Vec<i64> {
        let Expr::Call(call) = value("x: R.Tensor((3,), 'float32')", written) else { panic!("no call") };
        let flag = |e: &Expr| match e {
            Expr::PrimValue(PrimValue { value: PrimExpr::IntImm(flag), .. }) => *flag,
            other => panic!("{other:?}"),
        };
        call.args[1..].iter().map(flag).collect()
    };
    assert!(flags("R.unique(x)").is_empty());
    assert_eq!(flags("R.unique(x, sorted=False)"), [0]);
    assert_eq!(flags("R.unique(x, return_inverse=True)"), [1, 0, 1]);
    assert_eq!(flags("R.unique(x, False, return_counts=True)"), [0, 0, 0, 1]);
    assert_eq!(flags("R.unique(x, axis=R.prim_value(0))"), [1, 0, 0, 0, 0]);
}

#[test]
fn call_tir_in_canonical_form() {
    let n = PrimExpr::var("n");
    let expected = Expr::Call(
        Call {
            op: Expr::op("relax.call_tir"),
            args: vec![
                Expr::GlobalVar(GlobalVar::new("g")),
                Expr::var("x"),
                Expr::shape([n.clone(), PrimExpr::IntImm(2)]),
            ],
            sinfo_args: vec![StructInfo::tensor_ndim(2, DataType::FLOAT32)],
            attrs: Attrs::new(),
            span: Span::NONE,
        }
        .into(),
    );
    for call in [
        r#"R.call_tir(cls.g, (x,), out_sinfo=R.Tensor((n, 2), dtype="float32"))"#,
        r#"R.call_tir(cls.g, x, out_ty=R.Tensor((n, 2), dtype="float32"))"#,
        r#"R.call_tir(cls.g, [x], R.Tensor((n, 2), "f32"))"#,
        r#"R.call_tir("g", (x,), (n, 2), dtype="float32")"#,
        r#"R.call_tir(cls.g, [x], R.shape([n, 2]), output_dtype="float32")"#,
    ] {
        assert_eq!(value("x: R.Tensor((\"n\", 2), \"float32\")", call), expected, "{call}");
    }
}

#[test]
fn several_outputs_are_a_tuple_of_shapes() {
    let call = r#"R.call_tir(cls.g, (x,), out_sinfo=[R.Tensor((2,), "int8"), R.Tensor((), "bool")])"#;
    let Expr::Call(call) = value("x: R.Object", call) else { panic!() };
    assert_eq!(call.args[2], Expr::tuple(vec![Expr::shape([PrimExpr::IntImm(2)]), Expr::shape([])]));
    let outputs = [StructInfo::tensor_ndim(1, DataType::INT8), StructInfo::tensor_ndim(0, DataType::BOOL)];
    assert_eq!(call.sinfo_args, vec![StructInfo::tuple(outputs)]);
}

#[test]
fn names_are_numbered_in_the_order_of_their_bindings() {
    let seq = body("x: R.Object", &["y = x", "x = R.add(x, y)", "x = R.add(x, x)", "return x"]);
    let bindings = &seq.blocks[0].bindings;
    let x = |id| Var::numbered("x".into(), id);
    assert_eq!(bindings[0].value(), &Expr::Var(x(0)));
    assert_eq!(bindings[1].binder().map(|b| &b.var), Some(&x(1)));
    assert_eq!(bindings[2].binder().map(|b| &b.var), Some(&x(2)));
    assert_eq!(bindings[2].value(), &Expr::call(Expr::op("relax.add"), vec![Expr::Var(x(1)), Expr::Var(x(1))]));
    assert_eq!(seq.body, Expr::Var(x(2)));
}

/// R89.SYN.EXPRSTMT: nothing uses the variable of a call that stands by itself, so `_` is still the one before it.
#[test]
fn a_call_by_itself_hides_no_variable() {
    let seq = body("x: R.Tensor((3,), 'float32')", &["_ = R.add(x, x)", "R.print(x)", "return _"]);
    let first = seq.blocks[0].bindings[0].binder().map(|binder| binder.var.clone());
    let Expr::Var(returned) = &seq.body else { panic!("{:?}", seq.body) };
    assert_eq!(Some(returned), first.as_ref());
}

#[test]
fn only_what_a_dataflow_block_outputs_is_a_var() {
    let seq = body(
        "x: R.Object",
        &["with R.dataflow():", "    a = x", "    b = a", "    a = b", "    R.output(a)", "c = a", "return b"],
    );
    assert_eq!(seq.blocks[0].kind, BlockKind::Dataflow);
    let kinds: Vec<_> = seq.blocks[0].bindings.iter().filter_map(|b| b.binder().map(|b| b.kind)).collect();
    assert_eq!(kinds, [VarKind::DataflowVar, VarKind::DataflowVar, VarKind::Var]);
    assert_eq!(seq.blocks[1].bindings[0].value(), &Expr::Var(Var::numbered("a".into(), 1)));
    // It is out of scope, but still the same variable, so that the checker can report it.
    assert_eq!(seq.body, Expr::DataflowVar(Var::new("b")));
}

#[test]
fn the_last_binding_of_a_branch_is_its_value() {
    let seq = body(
        "c: R.Tensor((), \"bool\"), x: R.Object",
        &["if c:", "    a = x", "    y = a", "else:", "    y = R.exp(x)", "return y"],
    );
    let Expr::If(conditional) = seq.blocks[0].bindings[0].value() else { panic!() };
    let a =
        Binding::VarBinding(VarBinding { var: Binder::var(Var::new("a")), value: Expr::var("x"), span: Span::NONE });
    let block = BindingBlock { kind: BlockKind::Binding, bindings: vec![a], span: Span::NONE };
    assert_eq!(conditional.true_branch, Expr::seq(vec![block], Expr::var("a")));
    let exp = Expr::call(Expr::op("relax.exp"), vec![Expr::var("x")]);
    assert_eq!(conditional.false_branch, Expr::seq(vec![], exp));
    assert_eq!(seq.body, Expr::var("y"));
}

#[test]
fn match_shape_of_a_shape_and_of_anything_else() {
    let m = || [PrimExpr::var("m")];
    let seq = body(
        "x: R.Tensor, s: R.Shape",
        &["R.match_shape(x, (m,))", "y = R.match_shape(s, (m,))", "_ = R.match_shape(R.shape_of(x), [m])", "return y"],
    );
    let infos: Vec<_> = seq.blocks[0]
        .bindings
        .iter()
        .map(|binding| match binding {
            Binding::MatchCast(m) => (m.var.is_some(), m.struct_info.clone()),
            Binding::VarBinding(_) => panic!("{binding:?}"),
        })
        .collect();
    let tensor = StructInfo::tensor(m(), DataType::VOID);
    assert_eq!(infos, [(false, tensor), (true, StructInfo::shape(m())), (false, StructInfo::shape(m()))]);
}

#[test]
fn spellings_of_structural_information() {
    let n = || PrimExpr::var("n");
    let f32 = DataType::FLOAT32;
    for (text, expected) in [
        ("R.Tensor[(n, 4), \"f32\"]", StructInfo::tensor([n(), 4.into()], f32)),
        ("R.Tensor[(n, 4)]", StructInfo::tensor([n(), 4.into()], DataType::VOID)),
        ("R.Tensor[_, \"float32\"]", StructInfo::tensor_ndim(-1, f32)),
        ("R.Tensor[_, _]", StructInfo::tensor_ndim(-1, DataType::VOID)),
        ("R.Tensor(\"float32\")", StructInfo::tensor_ndim(-1, f32)),
        ("R.Tensor((\"n\", 4), dtype=\"float32\")", StructInfo::tensor([n(), 4.into()], f32)),
        ("R.Tensor(ndim=2, dtype=\"float32\")", StructInfo::tensor_ndim(2, f32)),
        ("R.Shape([n])", StructInfo::shape([n()])),
        ("R.Shape", StructInfo::shape_ndim(-1)),
        ("R.Any", StructInfo::Object),
        ("R.Prim(\"int64\")", StructInfo::prim(DataType::INT64)),
        ("T.int64", StructInfo::prim(DataType::INT64)),
        ("R.Tuple(R.Object, R.Shape(ndim=1))", StructInfo::tuple([StructInfo::Object, StructInfo::shape_ndim(1)])),
        ("R.Tuple", StructInfo::tuple([])),
        ("R.Callable((R.Object,), R.Shape)", StructInfo::func([StructInfo::Object], StructInfo::shape_ndim(-1))),
        ("R.Callable", StructInfo::packed(DeriveFunc::DefaultDerive)),
    ] {
        let module = parse_module(&format!("@R.function\ndef f(x: {text}):\n    return x\n"));
        let module = module.unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(function(&module, "f").params[0].annotation, Some(expected), "{text}");
    }
}

#[test]
fn errors_say_where_and_what() {
    let e = error("@R.function\ndef f(x: R.Object):\n    y = x[x]\n    return y\n");
    assert_eq!((e.line, e.column), (3, 11));
    assert!(e.message.contains("integer literal"), "{e}");
    assert_eq!(e.source_line, "    y = x[x]");
    for text in
        ["", "\0", "x = ", "def f():\n    return 1", "class A:\n    pass", "((((", "@R.function\ndef f(x): y = x\n"]
    {
        error(text);
    }
}

#[test]
fn independent_errors_are_collected() {
    let text = "@R.function\ndef f(x: R.Object):\n    y = x[x]\n    z = lambda: x\n    return R.const(300, \"int8\")\n";
    let lines: Vec<_> = parse_module_all(text).unwrap_err().iter().map(|error| error.line).collect();
    assert_eq!(lines, [3, 4, 5]);
}

/// Text that TVM prints stays the same when it is read and written in either spelling.
#[test]
fn text_of_tvm_round_trips() {
    for text in
        [include_str!("../../../../tests/samples/tvm-0.25.py"), include_str!("../../../../tests/samples/tvm-0.27.py")]
    {
        let module = parse_module(text).unwrap();
        for dialect in [Dialect::Tvm025, Dialect::Tvm027] {
            let printed = print_module(&module, dialect);
            let again = parse_module(&printed).unwrap_or_else(|error| panic!("{error}\n{}", error.source_line));
            for ((name, before), (_, after)) in module.funcs.iter().zip(&again.funcs) {
                // Functions that bind `_` twice read back with different numbers.
                assert!(before == after || printed.contains("__1 = "), "{}", name.name);
            }
            assert_eq!(print_module(&again, dialect), printed);
            assert_eq!(parse_module(&print_module(&again, dialect)), Ok(again));
        }
    }
}

/// An expression with the blocks as in text: adjacent ordinary blocks are merged, and empty ones removed.
fn consolidated(e: &Expr) -> Expr {
    match e {
        Expr::SeqExpr(seq) => {
            let mut blocks: Vec<BindingBlock> = Vec::new();
            for block in &seq.blocks {
                let bindings: Vec<Binding> = block.bindings.iter().map(consolidated_binding).collect();
                match blocks.last_mut() {
                    Some(last) if last.kind == BlockKind::Binding && block.kind == BlockKind::Binding => {
                        last.bindings.extend(bindings);
                    }
                    _ if block.kind == BlockKind::Binding && bindings.is_empty() => {}
                    _ => blocks.push(BindingBlock { bindings, ..block.clone() }),
                }
            }
            Expr::seq(blocks, consolidated(&seq.body))
        }
        Expr::If(f) => Expr::If(
            If {
                cond: f.cond.clone(),
                true_branch: consolidated(&f.true_branch),
                false_branch: consolidated(&f.false_branch),
                span: f.span,
            }
            .into(),
        ),
        Expr::Function(f) => Expr::Function(Function { body: consolidated(&f.body), ..(**f).clone() }.into()),
        other => other.clone(),
    }
}

fn consolidated_binding(binding: &Binding) -> Binding {
    match binding {
        Binding::VarBinding(b) => Binding::VarBinding(VarBinding { value: consolidated(&b.value), ..b.clone() }),
        Binding::MatchCast(_) => binding.clone(),
    }
}

fn consolidate(mut module: IrModule) -> IrModule {
    for (_, function) in &mut module.funcs {
        if let GlobalFunc::Function(f) = function {
            let body = consolidated(&f.body);
            *function = GlobalFunc::Function(Function { body, ..(**f).clone() }.into());
        }
    }
    module
}

/// The variables of generated programs have distinct names, so reading back gives exactly the same tree.
#[test]
fn generated_programs_round_trip() {
    let laws = Restriction::of_laws(Edition::default());
    let features = Features { nested: false, ..laws.features };
    let source = ProgramSource::of(&[], Restriction { features, ..laws });
    for seed in 0..100 {
        let module = source.of_tape(Tape::from_seed(seed, 400)).module;
        for dialect in [Dialect::Tvm025, Dialect::Tvm027] {
            let printed = print_module(&module, dialect);
            let again = parse_module(&printed).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{printed}"));
            assert!(again == consolidate(module.clone()), "seed {seed}\n{printed}");
        }
    }
}

/// An expression that needs more than one line is bound to a variable once. After that nothing changes.
#[test]
fn generated_programs_that_are_not_normal() {
    let source = ProgramSource::of(&[], Restriction::of_laws(Edition::default()));
    for seed in 0..100 {
        let module = source.of_tape(Tape::from_seed(seed, 400)).module;
        for dialect in [Dialect::Tvm025, Dialect::Tvm027] {
            let printed = print_module(&module, dialect);
            let once = parse_module(&printed).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{printed}"));
            // Two variables of one name get two names.
            let text = print_module(&once, dialect);
            let twice = parse_module(&text).map(|twice| print_module(&twice, dialect));
            assert!(twice.as_ref() == Ok(&text), "seed {seed}\n{printed}");
        }
    }
}

/// 0.27 has no integers after the outputs, and inputs come before them, so neither spelling would be correct.
#[test]
fn integers_after_the_outputs_are_written_as_such_for_tvm_0_25_only() {
    let text = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), f: R.Object):
        n = T.int64()
        y = R.call_tir(f, (x,), out_sinfo=R.Tensor((n,), "float32"), tir_vars=R.shape([n]))
        return y
"#;
    let module = parse_module(text).unwrap();
    let old = print_module(&module, Dialect::Tvm025);
    let new = print_module(&module, Dialect::Tvm027);
    assert!(old.contains("(x,), out_sinfo=R.Tensor((n,), dtype=\"float32\"), tir_vars=R.shape([n]))"), "{old}");
    assert!(!new.contains("R.call_tir(") && !new.contains("tir_vars=") && new.contains("\"tir_vars\""), "{new}");
    assert!(crate::suite::same_program::same_program(&parse_module(&old).unwrap(), &module));
    assert!(crate::suite::same_program::same_program(&parse_module(&new).unwrap(), &module), "{new}");
}

/// A shape takes int64. In TVM a choice between two comparisons is Boolean like the comparisons, so both dimensions
/// need the cast.
#[test]
fn a_choice_between_truth_values_is_cast_as_a_truth_value_is() {
    let text = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        s = R.shape([T.Select(n > 1, n == 8, n == 9), n == 8, T.Select(n > 1, n, 9)])
        return s
"#;
    let module = parse_module(text).unwrap();
    let choice = "T.Cast(\"int64\", T.Select(n > 1, n == 8, n == 9))";
    let shape = format!("R.shape([{choice}, T.Cast(\"int64\", n == 8), T.Select(n > 1, n, T.int64(9))])");
    for dialect in [Dialect::Tvm025, Dialect::Tvm027] {
        let printed = print_module(&module, dialect);
        assert!(printed.contains(&shape), "{printed}");
        assert!(crate::suite::same_program::same_program(&parse_module(&printed).unwrap(), &module), "{printed}");
    }
}

/// The purity of the functions of a module, outermost first, and the annotations of the local ones.
fn purities(module: &IrModule) -> (Vec<Option<bool>>, Vec<Option<bool>>) {
    #[derive(Default)]
    struct Purities(Vec<Option<bool>>, Vec<Option<bool>>);
    impl visit::Visitor for Purities {
        fn visit_function(&mut self, function: &Function) {
            self.0.push(function.pure);
            visit::walk_function(self, function);
        }
        fn visit_var_def(&mut self, binder: &Binder) {
            if let Some(StructInfo::Func(func)) = &binder.annotation {
                self.1.push(func.pure);
            }
        }
    }
    let mut purities = Purities::default();
    visit::walk_module(&mut purities, module);
    (purities.0, purities.1)
}

#[test]
fn silence_means_pure_where_calls_allow_it() {
    let local = |decorator: &str, value: &str| {
        format!(
            "@R.function\ndef main(x: R.Object) -> R.Object:\n    {decorator}\n    def g(a: R.Object) -> R.Object:\n        b = {value}\n        return b\n    y = g(x)\n    return y\n"
        )
    };
    let read = |text: &str| purities(&parse_module(text).unwrap());
    let printed_again = |text: &str| {
        let module = parse_module(text).unwrap();
        let again = parse_module(&print_module(&module, Dialect::default())).unwrap();
        assert_eq!(purities(&again), purities(&module), "{text}");
    };
    let (log, same) = ("R.call_packed('relax_spec.log', a)", "R.add(a, a)");
    for (decorator, value, pure) in [
        ("@R.function", same, Some(true)),
        ("@R.function", log, None),
        ("@R.function", "g(a)", Some(true)),
        ("@R.function(pure=None)", same, None),
        ("@R.function(pure=False)", same, Some(false)),
        ("@R.function(pure=True)", log, Some(true)),
    ] {
        let text = local(decorator, value);
        assert_eq!(read(&text), (vec![None, pure], vec![pure]), "{text}");
        printed_again(&text);
    }
    let recursive = "@R.function\ndef main(x: R.Object) -> R.Object:\n    y = main(x)\n    return y\n";
    assert_eq!(read(recursive).0, [Some(true)]);
    printed_again(recursive);
    let unsaid = recursive.replace("@R.function", "@R.function(pure=None)");
    assert_eq!(read(&unsaid).0, [None]);
    printed_again(&unsaid);
    let mixed = "@R.function(pure=True)\ndef f(x: R.Object) -> R.Object:\n    y = g(x)\n    return y\n@R.function\ndef g(x: R.Object) -> R.Object:\n    y = f(x)\n    return y\n";
    assert_eq!(read(mixed).0, [Some(true), None]);
    printed_again(mixed);
}

#[test]
fn a_scalar_has_the_data_type_of_its_expression() {
    // PR14148.SI.PRIM.DERIVE.
    for (expression, dtype) in [("n == 8", DataType::BOOL), ("n + 8", DataType::INT64), ("n < 8", DataType::BOOL)] {
        let found = value("s: R.Shape(['n'])", &format!("R.prim_value({expression})"));
        assert!(matches!(&found, Expr::PrimValue(prim) if prim.dtype == dtype), "{expression}: {found:?}");
    }
}

#[test]
fn all_inputs_in_a_variable_are_read_as_one_tuple() {
    // C14: the tree that an implementation writes as JSON.
    let seq = |inputs: &str| {
        let statements =
            ["t = (x, x)", &format!("y = R.call_tir(f, {inputs}, out_sinfo=R.Tensor((3,), 'float32'))"), "return y"];
        body("x: R.Tensor((3,), 'float32')", &statements)
    };
    let call = |inputs: &str| match seq(inputs).blocks[0].bindings[1].value() {
        Expr::Call(call) => (call.args.len(), call.sinfo_args.clone()),
        other => panic!("{other:?}"),
    };
    let (args, infos) = call("t");
    assert_eq!((args, infos), (2, vec![StructInfo::tensor([3.into()], DataType::FLOAT32)]));
    assert_eq!(call("(x, x)").0, 4);
    assert_eq!(call("x").0, 3);
}

#[test]
fn beside_the_keyword_of_type_arguments_all_others_are_inputs() {
    for (call, inputs) in [
        ("R.call_packed(\"f\", x, R.Tuple(), sinfo_args=R.Tuple())", 2),
        ("R.call_packed(\"f\", x, R.Tuple(), sinfo_args=R.Object)", 2),
        ("R.call_packed(\"f\", x, R.Tuple())", 1),
        ("R.call_pure_packed(\"f\", R.Tuple(), ty_args=[R.Object])", 2),
        ("x(x, R.Tuple(R.Tuple()), sinfo_args=(R.Object,))", 2),
        ("R.builtin.stop_lift_params(R.Tuple(), type_args=R.Object)", 1),
    ] {
        let Expr::Call(read) = value("x: R.Object", call) else { panic!("{call}") };
        assert_eq!((read.args.len(), read.sinfo_args.len()), (inputs, 1), "{call}");
    }
    for twice in [
        "R.call_packed(\"f\", x, R.Tuple(R.Object), sinfo_args=R.Tuple())",
        "R.call_packed(\"f\", x, R.Object, sinfo_args=R.Object)",
        "R.call_packed(\"f\", x, sinfo_args=R.Object, ty_args=R.Object)",
    ] {
        let text = format!("@R.function\ndef main(x: R.Object) -> R.Object:\n    return {twice}\n");
        assert!(error(&text).message.contains("type arguments are given twice"), "{twice}");
    }
}
