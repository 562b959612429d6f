//! Programs whose outcome follows from the chapter on evaluation.

use std::sync::Arc;

use super::*;
use crate::book::{Edition, Erratum, Reading, Rule, RuleSet};
use crate::grammar::*;
use crate::judge::{Cx, Ending};
use crate::value::{Effect, Stop, Value, ValueSpec, from_specs, to_spec};

fn bind(name: &str, value: Expr) -> Binding {
    Binding::VarBinding(VarBinding { var: Binder::var(Var::new(name)), value, span: Span::NONE })
}

fn cast(name: Option<&str>, struct_info: StructInfo, value: Expr) -> Binding {
    let var = name.map(|name| Binder::var(Var::new(name)));
    Binding::MatchCast(Box::new(MatchCast { var, struct_info, value, span: Span::NONE }))
}

fn block(bindings: Vec<Binding>) -> BindingBlock {
    BindingBlock { kind: BlockKind::Binding, bindings, span: Span::NONE }
}

fn seq(bindings: Vec<Binding>, body: Expr) -> Expr {
    Expr::seq(vec![block(bindings)], body)
}

fn func(params: Vec<(&str, Option<StructInfo>)>, body: Expr) -> Function {
    let params = params.into_iter().map(|(name, annotation)| Binder { annotation, ..Binder::var(Var::new(name)) });
    Function {
        params: params.collect(),
        body,
        ret_struct_info: None,
        pure: None,
        attrs: Attrs::new(),
        span: Span::NONE,
    }
}

fn lambda(params: Vec<(&str, Option<StructInfo>)>, body: Expr) -> Expr {
    Expr::Function(Arc::new(func(params, body)))
}

fn linked(name: &str, mut f: Function) -> (GlobalVar, GlobalFunc) {
    f.attrs.insert("global_symbol".into(), AttrValue::Str(name.into()));
    (GlobalVar::new(name), GlobalFunc::Function(Arc::new(f)))
}

fn module(funcs: Vec<(GlobalVar, GlobalFunc)>) -> IrModule {
    IrModule { funcs, ..IrModule::default() }
}

fn main_of(f: Function) -> IrModule {
    module(vec![linked("main", f)])
}

fn packed(name: &str, args: Vec<Expr>) -> Expr {
    Expr::call(Expr::extern_func(&format!("relax_spec.{name}")), args)
}

fn global(name: &str) -> Expr {
    Expr::GlobalVar(GlobalVar::new(name))
}

fn x() -> Expr {
    Expr::var("x")
}

fn ints(values: &[f64]) -> TensorData {
    TensorData::from_values(DataType::INT64, &[values.len() as u64], values).unwrap()
}

fn boolean(value: bool) -> Expr {
    Expr::constant(TensorData::from_values(DataType::BOOL, &[], &[f64::from(u8::from(value))]).unwrap())
}

fn truth(value: bool) -> ValueSpec {
    ValueSpec::Tensor(TensorData::from_values(DataType::BOOL, &[], &[f64::from(u8::from(value))]).unwrap())
}

fn logged(values: &[f64]) -> Effect {
    Effect::Call("relax_spec.log".into(), vec![ValueSpec::Tensor(ints(values))])
}

fn n_plus(i: i64) -> PrimExpr {
    PrimExpr::binary(BinaryOp::Add, PrimExpr::var("n"), i.into())
}

fn run_in(cx: &mut Cx, module: &IrModule, args: &[ValueSpec]) -> (Ending<ValueSpec>, Vec<Effect>) {
    let options = EvalOptions::default();
    let args = from_specs(args, &options.registry).unwrap();
    let run = evaluate(cx, module, "main", args, &options);
    let outcome = match run.outcome {
        Ending::Value(value) => Ending::Value(to_spec(&value).unwrap()),
        Ending::Error(error) => Ending::Error(error),
        Ending::OutOfFuel => Ending::OutOfFuel,
        Ending::Unspecified(reason) => Ending::Unspecified(reason),
        Ending::Unknown(what) => Ending::Unknown(what),
    };
    (outcome, run.effects)
}

fn run(module: &IrModule, args: &[ValueSpec]) -> (Ending<ValueSpec>, Vec<Effect>) {
    run_in(&mut Cx::new(), module, args)
}

fn value(module: &IrModule, args: &[ValueSpec]) -> ValueSpec {
    match run(module, args).0 {
        Ending::Value(value) => value,
        other => panic!("{other:?}"),
    }
}

fn failure(module: &IrModule, args: &[ValueSpec]) -> Rule {
    match run(module, args).0 {
        Ending::Error(error) => error.rule,
        other => panic!("{other:?}"),
    }
}

fn bump(e: Expr) -> Expr {
    packed("add_inplace", vec![e, Expr::constant(TensorData::from_values(DataType::INT64, &[], &[1.0]).unwrap())])
}

/// The worked example of the chapter: `s` is cast to `dim`.
fn worked_example(dim: PrimExpr) -> IrModule {
    let f = lambda(vec![("_", Some(StructInfo::Object))], packed("log", vec![x()]));
    let body = seq(
        vec![
            bind("f", f),
            bind("a", bump(x())),
            cast(Some("s"), StructInfo::tensor([dim], DataType::INT64), packed("log", vec![Expr::var("a")])),
        ],
        Expr::call(Expr::var("f"), vec![Expr::var("s")]),
    );
    main_of(func(vec![("x", Some(StructInfo::tensor([PrimExpr::var("n")], DataType::INT64)))], body))
}

#[test]
fn the_value_of_a_failing_cast_has_its_effects() {
    let (outcome, effects) = run(&worked_example(n_plus(1)), &[ValueSpec::Tensor(ints(&[1.0, 2.0]))]);
    let Ending::Error(error) = outcome else { panic!("{outcome:?}") };
    assert_eq!(error.rule, rule!("SI.MATCHCAST.TENSOR.EVAL"));
    assert_eq!(error.message, "dimension 0: expected n + 1 = 3, found 2");
    // bump is called, then [2, 3] is logged; f is never called.
    assert_eq!(effects.len(), 2);
    assert_eq!(effects[1], logged(&[2.0, 3.0]));
}

#[test]
fn a_closure_sees_a_mutation_made_after_it_was_created() {
    let (outcome, effects) = run(&worked_example(PrimExpr::var("n")), &[ValueSpec::Tensor(ints(&[1.0, 2.0]))]);
    // Every variable is an alias of the argument.
    assert_eq!(outcome, Ending::Value(ValueSpec::Tensor(ints(&[2.0, 3.0]))));
    assert_eq!(effects[1..], [logged(&[2.0, 3.0]), logged(&[2.0, 3.0])]);
}

#[test]
fn a_constant_is_new_at_each_evaluation() {
    let fresh = lambda(vec![], Expr::constant(ints(&[5.0])));
    let call = || Expr::call(Expr::var("fresh"), vec![]);
    let body = seq(vec![bind("fresh", fresh), bind("a", bump(call())), bind("b", call())], Expr::var("b"));
    let program = main_of(func(vec![], body));
    assert_eq!(value(&program, &[]), ValueSpec::Tensor(ints(&[5.0])));
    let mask: RuleSet = [rule!("EVAL.CONST.FRESH")].into_iter().collect();
    let (outcome, _) = run_in(&mut Cx::new().with_mask(mask), &program, &[]);
    assert_eq!(outcome, Ending::Value(ValueSpec::Tensor(ints(&[6.0]))));
}

#[test]
fn tuples_hold_the_values_themselves() {
    let t = Expr::tuple(vec![x(), Expr::tuple(vec![x()])]);
    let inner = Expr::tuple_get_item(Expr::tuple_get_item(Expr::var("t"), 1), 0);
    let same = packed("same_object", vec![x(), inner]);
    let program = main_of(func(vec![("x", None)], seq(vec![bind("t", t)], same)));
    assert_eq!(value(&program, &[ValueSpec::Tensor(ints(&[1.0]))]), truth(true));
    assert_eq!(value(&program, &[ValueSpec::Object]), truth(true));
}

#[test]
fn tuples_and_shapes_are_new_at_each_evaluation() {
    let tuple = || Expr::tuple(vec![x()]);
    let shape = || Expr::call(Expr::op("relax.shape_of"), vec![x()]);
    for two in [vec![tuple(), tuple()], vec![shape(), shape()]] {
        let program = main_of(func(vec![("x", None)], packed("same_object", two)));
        assert_eq!(value(&program, &[ValueSpec::Tensor(ints(&[1.0]))]), truth(false));
    }
}

#[test]
fn a_missing_field_is_an_error() {
    for index in [-1, 1] {
        let program = main_of(func(vec![("x", None)], Expr::tuple_get_item(Expr::tuple(vec![x()]), index)));
        assert_eq!(failure(&program, &[ValueSpec::Int(0)]), rule!("EVAL.TGI.COUNT"));
    }
    let program = main_of(func(vec![("x", None)], Expr::tuple_get_item(x(), 0)));
    assert_eq!(failure(&program, &[ValueSpec::Shape(vec![2])]), rule!("EVAL.TGI.COUNT"));
    assert_eq!(failure(&program, &[ValueSpec::Object]), rule!("VAL.OBJECT.UNUSABLE"));
}

#[test]
fn callee_then_arguments_from_left_to_right() {
    let log = |i: f64| packed("log", vec![Expr::constant(ints(&[i]))]);
    let callee = seq(vec![bind("c", log(1.0))], lambda(vec![("p", None), ("q", None)], log(4.0)));
    let program = main_of(func(vec![], Expr::call(callee, vec![log(2.0), log(3.0)])));
    let (_, effects) = run(&program, &[]);
    assert_eq!(effects, [logged(&[1.0]), logged(&[2.0]), logged(&[3.0]), logged(&[4.0])]);
}

#[test]
fn only_the_taken_branch_runs() {
    let if_expr = |c: bool| {
        Expr::If(Arc::new(If {
            cond: boolean(c),
            true_branch: packed("log", vec![Expr::constant(ints(&[1.0]))]),
            // A50: a missing symbol does no harm in a branch that is not taken.
            false_branch: Expr::call(Expr::extern_func("missing"), vec![]),
            span: Span::NONE,
        }))
    };
    let (outcome, effects) = run(&main_of(func(vec![], if_expr(true))), &[]);
    assert_eq!(outcome, Ending::Value(ValueSpec::Tensor(ints(&[1.0]))));
    assert_eq!(effects, [logged(&[1.0])]);
    assert_eq!(failure(&main_of(func(vec![], if_expr(false))), &[]), rule!("EVAL.EXTERNFUNC.MISSING"));
}

#[test]
fn a_condition_is_a_boolean_scalar() {
    let program = main_of(func(
        vec![("x", None)],
        Expr::If(Arc::new(If { cond: x(), true_branch: x(), false_branch: x(), span: Span::NONE })),
    ));
    let vector = TensorData::from_values(DataType::BOOL, &[1], &[1.0]).unwrap();
    let int = TensorData::from_values(DataType::INT64, &[], &[1.0]).unwrap();
    for cond in [ValueSpec::Tensor(vector), ValueSpec::Tensor(int), ValueSpec::Int(1)] {
        assert_eq!(failure(&program, &[cond]), rule!("EVAL.IF.COND"));
    }
    // A boxed Boolean is a condition; in the literal reading it is not (A73).
    let boxed = [ValueSpec::Bool(true)];
    assert_eq!(value(&program, &boxed), ValueSpec::Bool(true));
    let mut literal = Cx::new().with_reading(Reading::literal_only(&[Erratum::A73]));
    assert!(
        matches!(run_in(&mut literal, &program, &boxed).0, Ending::Error(error) if error.rule == rule!("EVAL.IF.COND"))
    );
}

#[test]
fn dataflow_variables_end_with_their_block() {
    let dataflow = |body: Expr| {
        let binder = Binder::dataflow(Var::new("d"));
        let bindings = vec![
            Binding::VarBinding(VarBinding { var: binder, value: x(), span: Span::NONE }),
            bind("v", Expr::DataflowVar(Var::new("d"))),
        ];
        let block = BindingBlock { kind: BlockKind::Dataflow, bindings, span: Span::NONE };
        main_of(func(vec![("x", None)], Expr::seq(vec![block], body)))
    };
    assert_eq!(value(&dataflow(Expr::var("v")), &[ValueSpec::Int(3)]), ValueSpec::Int(3));
    let (outcome, _) = run(&dataflow(Expr::DataflowVar(Var::new("d"))), &[ValueSpec::Int(3)]);
    assert!(matches!(outcome, Ending::Unspecified(_)));
}

#[test]
fn bindings_of_a_sequence_end_with_it() {
    let inner = seq(vec![bind("x", Expr::constant(ints(&[9.0])))], x());
    let program = main_of(func(vec![("x", None)], seq(vec![bind("y", inner)], x())));
    assert_eq!(value(&program, &[ValueSpec::Int(3)]), ValueSpec::Int(3));
}

/// `f(x, n) = if n then f(x, false) else x`, by local recursion.
#[test]
fn a_bound_function_can_call_itself_under_another_name() {
    let body = Expr::If(Arc::new(If {
        cond: Expr::var("c"),
        true_branch: Expr::call(Expr::var("f"), vec![boolean(false)]),
        false_branch: x(),
        span: Span::NONE,
    }));
    let bindings = vec![bind("f", lambda(vec![("c", None)], body)), bind("g", Expr::var("f"))];
    let program = main_of(func(vec![("x", None)], seq(bindings, Expr::call(Expr::var("g"), vec![boolean(true)]))));
    assert_eq!(value(&program, &[ValueSpec::Int(7)]), ValueSpec::Int(7));
}

#[test]
fn shape_variables_are_captured_with_their_values() {
    let shape = Expr::shape([PrimExpr::var("n"), PrimExpr::var("m")]);
    let f = lambda(vec![("s", Some(StructInfo::shape([PrimExpr::var("m")])))], shape);
    let vector = StructInfo::tensor([PrimExpr::var("n")], DataType::INT64);
    let program = module(vec![
        linked(
            "main",
            func(vec![("x", None)], Expr::call(Expr::call(global("make"), vec![x()]), vec![Expr::shape([5.into()])])),
        ),
        linked("make", func(vec![("x", Some(vector))], f)),
    ]);
    let argument = ValueSpec::Tensor(ints(&[1.0, 2.0, 3.0]));
    assert_eq!(value(&program, &[argument]), ValueSpec::Shape(vec![3, 5]));
}

/// The inner signature names an outer variable, so the two are compared. In the literal reading of A45 the variable is
/// not captured and binds anew.
#[test]
fn annotations_capture_shape_variables() {
    let vector = || Some(StructInfo::tensor([PrimExpr::var("n")], DataType::INT64));
    let f = lambda(vec![("y", vector())], Expr::var("y"));
    let call = Expr::call(Expr::var("f"), vec![Expr::constant(ints(&[7.0]))]);
    let program = main_of(func(vec![("x", vector())], seq(vec![bind("f", f)], call)));
    let argument = [ValueSpec::Tensor(ints(&[1.0, 2.0]))];
    assert_eq!(failure(&program, &argument), rule!("SI.MATCHCAST.TENSOR.EVAL"));
    let mut literal = Cx::new().with_reading(Reading::literal_only(&[Erratum::A45]));
    assert_eq!(run_in(&mut literal, &program, &argument).0, Ending::Value(ValueSpec::Tensor(ints(&[7.0]))));
}

#[test]
fn each_call_has_its_own_shape_variables() {
    let vector = StructInfo::tensor([PrimExpr::var("n")], DataType::INT64);
    let size = func(vec![("y", Some(vector))], Expr::shape([PrimExpr::var("n")]));
    let call = |values: &[f64]| Expr::call(global("size"), vec![Expr::constant(ints(values))]);
    let body = Expr::tuple(vec![call(&[1.0]), call(&[1.0, 2.0])]);
    let program = module(vec![linked("main", func(vec![], body)), linked("size", size)]);
    assert_eq!(value(&program, &[]), ValueSpec::Tuple(vec![ValueSpec::Shape(vec![1]), ValueSpec::Shape(vec![2])]));
}

#[test]
fn arguments_are_checked_before_the_body_and_the_result_after_it() {
    let annotated = |ret: i64| {
        let mut f = func(vec![("x", Some(StructInfo::tensor_ndim(1, DataType::INT64)))], packed("log", vec![x()]));
        f.ret_struct_info = Some(StructInfo::tensor_ndim(ret, DataType::VOID));
        main_of(f)
    };
    let scalar = ValueSpec::Tensor(TensorData::from_values(DataType::INT64, &[], &[1.0]).unwrap());
    let (outcome, effects) = run(&annotated(1), &[scalar]);
    assert!(matches!(&outcome, Ending::Error(e) if e.rule == rule!("SI.MATCHCAST.TENSOR.NDIM")), "{outcome:?}");
    assert_eq!(effects, []);
    let (outcome, effects) = run(&annotated(2), &[ValueSpec::Tensor(ints(&[1.0]))]);
    let Ending::Error(error) = outcome else { panic!("{outcome:?}") };
    assert_eq!(error.message, "return value: expected rank 2, found rank 1");
    assert_eq!(effects, [logged(&[1.0])]);
}

#[test]
fn arity_is_exact() {
    let program = main_of(func(vec![("x", None)], x()));
    assert_eq!(failure(&program, &[]), rule!("EVAL.CALL.ARITY"));
    assert_eq!(failure(&program, &[ValueSpec::Int(1), ValueSpec::Int(2)]), rule!("EVAL.CALL.ARITY"));
}

#[test]
fn entry_points_are_the_externally_linked_functions() {
    let private = (GlobalVar::new("main"), GlobalFunc::Function(Arc::new(func(vec![], Expr::tuple(vec![])))));
    assert_eq!(failure(&module(vec![private.clone()]), &[]), rule!("MOD.PRIVATE"));
    assert_eq!(failure(&module(vec![]), &[]), rule!("MOD.ENTRY-ANY"));
    // A call from another global function works.
    let program = module(vec![linked("start", func(vec![], Expr::call(global("main"), vec![]))), private]);
    let run = evaluate(&mut Cx::new(), &program, "start", vec![], &EvalOptions::default());
    assert!(matches!(run.outcome, Ending::Value(Value::Tuple(t)) if t.is_empty()));
    let prim_func = GlobalFunc::PrimFunc(Arc::new(tir::PrimFunc::default()));
    assert_eq!(failure(&module(vec![(GlobalVar::new("main"), prim_func)]), &[]), rule!("MOD.ENTRY-ANY"));
}

#[test]
fn what_cannot_be_called() {
    let program = main_of(func(vec![("x", None)], Expr::call(x(), vec![])));
    assert_eq!(failure(&program, &[ValueSpec::Tensor(ints(&[1.0]))]), rule!("EVAL.CALL.CALLEE"));
    assert_eq!(failure(&program, &[ValueSpec::Object]), rule!("VAL.OBJECT.UNUSABLE"));
    assert!(matches!(run(&program, &[ValueSpec::Closure]).0, Ending::Unknown(_)));
}

#[test]
fn a_host_may_return_nothing_but_not_raw_data() {
    assert_eq!(value(&main_of(func(vec![], packed("log", vec![]))), &[]), ValueSpec::Tuple(vec![]));
    assert!(matches!(run(&main_of(func(vec![], packed("raw_int", vec![]))), &[]).0, Ending::Unspecified(_)));
}

#[test]
fn endless_recursion_runs_out_of_fuel() {
    let program = main_of(func(vec![], Expr::call(global("main"), vec![])));
    assert_eq!(run(&program, &[]).0, Ending::OutOfFuel);
}

/// `grow(c, t) = if c then grow(c, (t,)) else t` nests a tuple at every call and never returns.
#[test]
fn deep_values_are_given_up_without_overflow() {
    let body = Expr::If(Arc::new(If {
        cond: Expr::var("c"),
        true_branch: Expr::call(global("main"), vec![Expr::var("c"), Expr::tuple(vec![Expr::var("t")])]),
        false_branch: Expr::var("t"),
        span: Span::NONE,
    }));
    let program = main_of(func(vec![("c", None), ("t", None)], body));
    let yes = ValueSpec::Tensor(TensorData::from_values(DataType::BOOL, &[], &[1.0]).unwrap());
    assert_eq!(run(&program, &[yes, ValueSpec::Int(0)]).0, Ending::OutOfFuel);
}

#[test]
fn boxed_scalars_and_other_immediates() {
    let size = PrimValue { value: n_plus(1), dtype: DataType::INT64, float: None, span: Span::NONE };
    let body = Expr::tuple(vec![
        Expr::PrimValue(size),
        Expr::StringImm(StringImm { value: "s".into(), span: Span::NONE }),
        Expr::DataTypeImm(DataTypeImm { value: DataType::FLOAT16, span: Span::NONE }),
    ]);
    let program = main_of(func(vec![("s", Some(StructInfo::shape([PrimExpr::var("n")])))], body));
    let expected =
        ValueSpec::Tuple(vec![ValueSpec::Int(4), ValueSpec::Str("s".into()), ValueSpec::DataType(DataType::FLOAT16)]);
    assert_eq!(value(&program, &[ValueSpec::Shape(vec![3])]), expected);
}

#[test]
fn a_negative_dimension_is_an_error() {
    let program = main_of(func(vec![("s", Some(StructInfo::shape([PrimExpr::var("n")])))], Expr::shape([n_plus(-4)])));
    assert_eq!(value(&program, &[ValueSpec::Shape(vec![4])]), ValueSpec::Shape(vec![0]));
    assert_eq!(failure(&program, &[ValueSpec::Shape(vec![3])]), rule!("SI.DIM.SHAPEEXPR-ERR"));
}

#[test]
fn the_trace_shows_every_step() {
    let options = EvalOptions { trace: true, ..EvalOptions::default() };
    let body = seq(vec![bind("y", x())], Expr::var("y"));
    let program = main_of(func(vec![("x", Some(StructInfo::shape([PrimExpr::var("n")])))], body));
    let run = evaluate(&mut Cx::new(), &program, "main", vec![Value::shape(&[2])], &options);
    let steps: Vec<String> = run.steps.iter().map(|step| step.to_string().trim().to_string()).collect();
    assert_eq!(steps, ["call @main", "n := 2", "x = shape(2)", "y = shape(2)", "return shape(2)"]);
}

#[test]
fn a_closure_is_cast_by_its_own_information() {
    let f = || lambda(vec![("p", Some(StructInfo::tensor([n_plus(1)], DataType::INT64)))], Expr::var("p"));
    let program = |target: StructInfo| {
        let body = seq(vec![bind("f", f()), cast(None, target, Expr::var("f"))], Expr::tuple(vec![]));
        main_of(func(vec![("s", Some(StructInfo::shape([PrimExpr::var("n")])))], body))
    };
    let taking = |size: i64| StructInfo::func([StructInfo::tensor([size.into()], DataType::INT64)], StructInfo::Object);
    // The closure captures n = 3, so it takes vectors of 4.
    let argument = [ValueSpec::Shape(vec![3])];
    assert_eq!(value(&program(taking(4)), &argument), ValueSpec::Tuple(vec![]));
    assert_eq!(failure(&program(taking(5)), &argument), rule!("SI.MATCHCAST.FUNC.RTSI"));
}

fn fill(args: Vec<Expr>, sinfo_args: Vec<StructInfo>) -> IrModule {
    let mut all = vec![Expr::extern_func("relax_spec.fill_dps")];
    all.extend(args);
    let call =
        Call { op: Expr::op("relax.call_dps_packed"), args: all, sinfo_args, attrs: Attrs::new(), span: Span::NONE };
    main_of(func(vec![("x", None)], Expr::Call(Arc::new(call))))
}

#[test]
fn destination_passing() {
    let argument = [ValueSpec::Tensor(ints(&[5.0, 6.0]))];
    let int64 = StructInfo::tensor_ndim(1, DataType::INT64);
    let twos = || ValueSpec::Tensor(ints(&[2.0]));
    let shape = || Expr::shape([1.into()]);
    assert_eq!(value(&fill(vec![x(), shape()], vec![int64.clone()]), &argument), twos());
    // Only the last output is filled, so the contents of the first one are unspecified.
    let pair = Expr::tuple(vec![shape(), shape()]);
    let two = StructInfo::tuple([int64.clone(), int64]);
    let outcome = run(&fill(vec![x(), pair], vec![two]), &argument).0;
    assert!(matches!(outcome, Ending::Unspecified(_)), "{outcome:?}");
    // The other form: a tuple of inputs, and the shape in the structural information.
    let whole = StructInfo::tensor([1.into()], DataType::INT64);
    assert_eq!(value(&fill(vec![Expr::tuple(vec![x()])], vec![whole]), &argument), twos());
}

#[test]
fn destination_passing_needs_a_data_type_and_a_shape() {
    let argument = [ValueSpec::Tensor(ints(&[5.0]))];
    let void = StructInfo::tensor_ndim(1, DataType::VOID);
    assert_eq!(
        failure(&fill(vec![x(), Expr::shape([1.into()])], vec![void.clone()]), &argument),
        rule!("OP.CALLTIR.DTYPE")
    );
    assert_eq!(failure(&fill(vec![x(), x()], vec![void]), &argument), rule!("OP.CALLTIR.SHAPE"));
    assert_eq!(failure(&fill(vec![x(), Expr::shape([])], vec![]), &argument), rule!("OP.CALLTIR.TYPEARG"));
    assert_eq!(
        failure(&fill(vec![x(), Expr::shape([])], vec![StructInfo::Object]), &argument),
        rule!("OP.CALLTIR.CORR.SINGLE")
    );
}

/// A `PrimFunc` that writes twice its input to its output.
const TWICE: &str = r#"
@I.ir_module
class Module:
    @T.prim_func
    def twice(x: T.handle, y: T.handle):
        T.func_attr({"global_symbol": "twice"})
        n = T.int64()
        A = T.match_buffer(x, (n,), "float32")
        B = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            with T.block("b"):
                vi = T.axis.spatial(n, i)
                B[vi] = A[vi] * T.float32(2)

    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Object:
        n = T.int64()
        y = CALL
        return y
"#;

fn calling_twice(call: &str) -> IrModule {
    crate::syntax::tvmscript::parse_module(&TWICE.replace("CALL", call)).unwrap()
}

fn floats(values: &[f64]) -> ValueSpec {
    ValueSpec::Tensor(TensorData::from_values(DataType::FLOAT32, &[values.len() as u64], values).unwrap())
}

#[test]
fn a_prim_func_writes_its_output() {
    let program = calling_twice("R.call_tir(Module.twice, (x,), out_sinfo=R.Tensor((n,), \"float32\"))");
    assert_eq!(value(&program, &[floats(&[1.0, 3.0])]), floats(&[2.0, 6.0]));
}

#[test]
fn the_result_of_a_prim_func_is_checked() {
    for out in ["R.Tensor((n + 1,), \"float32\")", "R.Tensor((n,), \"float16\")"] {
        let program = calling_twice(&format!("R.call_tir(Module.twice, (x,), out_sinfo={out})"));
        assert_eq!(failure(&program, &[floats(&[1.0])]), rule!("OP.CALLTIR.RESULT-CHECK"), "{out}");
    }
}

#[test]
fn a_prim_func_can_be_reached_by_its_symbol() {
    let program = calling_twice("(R.call_packed(\"twice\", x, x), x)");
    let (outcome, effects) = run(&program, &[floats(&[1.0])]);
    assert_eq!(outcome, Ending::Value(ValueSpec::Tuple(vec![ValueSpec::Tuple(vec![]), floats(&[2.0])])));
    assert_eq!(effects, [Effect::Call("twice".into(), vec![floats(&[1.0]), floats(&[1.0])])]);
}

#[test]
fn a_prim_func_as_an_object_cannot_be_called() {
    assert_eq!(failure(&calling_twice("Module.twice(x)"), &[floats(&[1.0])]), rule!("MOD.PRIMFUNC-ONLY-CALLTIR"));
}

/// What LegalizeOps puts in place of operators is those operators.
#[test]
fn functions_that_operators_are_lowered_to_run_as_the_operators() {
    let program = |body: &str| {
        let text = format!(
            r#"
@I.ir_module
class Module:
    @T.prim_func
    def _get_tensor_ndim(x: T.handle) -> T.int32:
        T.func_attr({{"tir.noalias": True}})
        return T.tvm_struct_get(x, 0, 4, "int32")

    @T.prim_func
    def _get_tensor_byte_offset(x: T.handle) -> T.int64:
        return T.Cast("int64", T.tvm_struct_get(x, 0, 8, "uint64"))

    @T.prim_func
    def _get_tensor_shape_i(x: T.handle, axis: T.int64) -> T.int64:
        return T.int64(7)

    @R.function
    def main(x: R.Tensor((2, 2), "float32")) -> R.Object:
        y = {body}
        return y
"#
        );
        crate::syntax::tvmscript::parse_module(&text).unwrap()
    };
    let x = || ValueSpec::Tensor(TensorData::from_values(DataType::FLOAT32, &[2, 2], &[0.0, 3.0, 3.0, 1.0]).unwrap());
    let ints = |shape: &[u64], values: &[f64]| {
        ValueSpec::Tensor(TensorData::from_values(DataType::INT64, shape, values).unwrap())
    };
    let packed = |call: &str, ndim: usize| format!("R.call_pure_packed({call}, sinfo_args=R.Tensor(ndim={ndim}))");
    // The places (0, 1), (1, 0), (1, 1), a row for each axis.
    let nonzero = program(&packed("\"relax.run.nonzero\", x", 2));
    assert_eq!(value(&nonzero, &[x()]), ints(&[2, 3], &[0.0, 1.0, 1.0, 1.0, 0.0, 1.0]));
    let unique = program(&packed("\"relax.run.unique\", x, R.prim_value(T.bool(True))", 1));
    assert_eq!(value(&unique, &[x()]), floats(&[0.0, 1.0, 3.0]));
    let sizes = program(&packed("\"relax.run.shape_to_tensor\", R.shape([2, 3])", 1));
    assert_eq!(value(&sizes, &[x()]), ints(&[2], &[2.0, 3.0]));
    let direct = |call: &str| run_in(&mut Cx::new().with_edition(Edition::E2024_04), &program(call), &[x()]).0;
    assert_eq!(direct("Module._get_tensor_ndim(x)"), Ending::Value(ValueSpec::Int(2)));
    // The operator gives a uint64, the function the data type that it declares.
    assert_eq!(direct("Module._get_tensor_byte_offset(x)"), Ending::Value(ValueSpec::Int(0)));
    // The name alone does not decide: this body says what it gives.
    assert_eq!(direct("Module._get_tensor_shape_i(x, R.prim_value(1))"), Ending::Value(ValueSpec::Int(7)));
}

#[test]
fn a_line_shows_part_of_a_large_value() {
    let mut value = Value::int(1);
    for _ in 0..60 {
        value = Value::tuple(vec![value.clone(), value]);
    }
    assert!(value.to_string().len() < 1_000);
    assert!(matches!(to_spec(&value), Err(Stop::Unknown(_))));
    assert_eq!(Value::tuple(vec![Value::int(1), Value::shape(&[2])]).to_string(), "(1, shape(2))");
}

#[test]
fn a_program_ends_if_it_calls_no_value_and_nothing_calls_itself() {
    let call = |name: &str| Expr::call(Expr::GlobalVar(GlobalVar::new(name)), vec![]);
    let module = |f: Expr, g: Expr| {
        let funcs = [("f", f), ("g", g)]
            .map(|(name, body)| (GlobalVar::new(name), GlobalFunc::Function(Arc::new(func(vec![("h", None)], body)))));
        ends(&IrModule { funcs: funcs.to_vec(), ..IrModule::default() })
    };
    let nothing = || Expr::var("h");
    assert!(module(call("g"), nothing()));
    assert!(!module(call("g"), call("f")));
    assert!(!module(call("f"), nothing()));
    assert!(!module(Expr::call(nothing(), vec![]), nothing()));
    assert!(!module(lambda(vec![], nothing()), nothing()));
}

/// BUILTIN.MATCH_PRIM_VALUE: an integer is boxed with any data type of integers.
#[test]
fn a_boxed_integer_is_matched_with_any_data_type() {
    let text = r#"
@I.ir_module
class Module:
    @R.function(pure=False)
    def main() -> R.Object:
        h = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (R.prim_value(1),), OF_HEAP)
        _ = R.call_packed("vm.builtin.match_prim_value", BOXED, h, R.prim_value(1), R.prim_value(0), R.str(""), ANY)
        v = R.call_packed("vm.builtin.make_prim_value", h, R.prim_value(1), R.prim_value(0), ANY)
        return v
"#;
    let text = text.replace("OF_HEAP", "sinfo_args=(R.Tensor(dtype=\"int64\", ndim=1),)");
    let text = text.replace("ANY", "sinfo_args=(R.Object,)");
    for boxed in ["T.int64(5)", "T.int32(5)", "T.uint64(5)", "T.uint8(5)"] {
        let text = text.replace("BOXED", &format!("R.prim_value({boxed})"));
        let program = crate::syntax::tvmscript::parse_module(&text).unwrap();
        assert_eq!(value(&program, &[]), ValueSpec::Int(5), "{boxed}");
    }
}

/// MEM.RELEASED: a closure and a tuple hold what they were made with.
#[test]
fn a_closure_and_a_tuple_hold_what_is_released() {
    let text = r#"
@I.ir_module
class Module:
    @R.function(private=True)
    def inner(w: R.Tensor((), "float32"), q: R.Tensor((), "float32")) -> R.Tensor((), "float32"):
        z = R.subtract(q, w)
        return z

    @R.function(pure=False)
    def main(x: R.Tensor((), "float32")) -> R.Object:
        cls = Module
        a = R.add(x, x)
        f = R.call_packed("vm.builtin.make_closure", cls.inner, a, sinfo_args=(R.Object,))
        t = R.call_packed("vm.builtin.make_tuple", a, x, sinfo_args=(R.Object,))
        _ = R.vm.kill_object(a)
        y = R.call_packed("vm.builtin.invoke_closure", f, x, sinfo_args=(R.Object,))
        u = R.call_packed("vm.builtin.tuple_getitem", t, R.prim_value(0), sinfo_args=(R.Object,))
        return LAST
"#;
    let tensor = |x: f64| ValueSpec::Tensor(TensorData::from_values(DataType::FLOAT32, &[], &[x]).unwrap());
    let program = |last: &str| crate::syntax::tvmscript::parse_module(&text.replace("LAST", last)).unwrap();
    assert_eq!(value(&program("(y, u)"), &[tensor(3.0)]), ValueSpec::Tuple(vec![tensor(3.0), tensor(6.0)]));
    assert_eq!(failure(&program("a"), &[tensor(3.0)]), rule!("MEM.RELEASED"));
}
