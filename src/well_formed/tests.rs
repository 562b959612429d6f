//! For each criterion: a program that breaks only that criterion, and a similar program that does not.

use super::*;
use crate::book::{Erratum, Rule};
use crate::grammar::*;
use crate::testing::*;

fn rules_in(cx: &mut Cx, module: &IrModule) -> Vec<Rule> {
    let mut rules: Vec<Rule> = check(cx, module).iter().map(|finding| finding.rule).collect();
    rules.sort();
    rules.dedup();
    rules
}

fn broken(module: &IrModule) -> Vec<Rule> {
    rules_in(&mut Cx::new(), module)
}

#[track_caller]
fn well_formed(module: &IrModule) {
    assert_eq!(check(&mut Cx::new(), module), vec![]);
}

#[track_caller]
fn breaks(module: &IrModule, rules: impl AsRef<[Rule]>) {
    let mut rules = rules.as_ref().to_vec();
    rules.sort();
    assert_eq!(broken(module), rules);
    // Without any one of the rules the judgement is different.
    for rule in rules {
        let masked = rules_in(&mut Cx::new().with_mask([rule].into_iter().collect()), module);
        assert!(!masked.contains(&rule), "{rule} is reported although it is masked");
    }
}

#[test]
fn c1_dataflow_vars_are_bound_in_dataflow_blocks() {
    breaks(&program([bb([bind(d("lv"), x("p"))])], x("p")), [rule!("WF.1.BIND")]);
    breaks(&program([bb([cast(Some(d("lv")), x("p"), StructInfo::Object)])], x("p")), [rule!("WF.1.BIND")]);
    breaks(&module([("f", func([d("lv")], Expr::tuple(vec![])))]), [rule!("WF.1.BIND")]);
    well_formed(&program([df([bind(d("lv"), x("p"))])], x("p")));
}

#[test]
fn c1_dataflow_vars_are_used_in_their_own_block() {
    let lv = || df([bind(d("lv"), x("p"))]);
    breaks(&program([lv()], dx("lv")), [rule!("WF.1.USE")]);
    breaks(&program([lv(), df([bind(d("lw"), dx("lv"))])], x("p")), [rule!("WF.1.USE")]);
    breaks(&program([lv(), bb([bind(v("w"), dx("lv"))])], x("p")), [rule!("WF.1.USE")]);
    well_formed(&program([df([bind(d("lv"), x("p")), bind(v("y"), dx("lv"))])], x("y")));
}

#[test]
fn c2_variables_are_bound() {
    breaks(&program([], x("y")), [rule!("WF.2.BOUND")]);
    breaks(&program([], Expr::DataflowVar(Var::new("p"))), [rule!("WF.2.BOUND")]);
    well_formed(&program([], x("p")));
    // Bound in a branch, or in a function, and mentioned after it.
    let inner = Expr::seq(vec![bb([bind(v("y"), x("p"))])], x("y"));
    let after = |value: Expr| program([bb([bind(v("z"), value), bind(v("w"), x("y"))])], x("w"));
    breaks(&after(branch(x("p"), inner.clone(), x("p"))), [rule!("WF.2.BOUND")]);
    breaks(&after(lambda([], inner.clone())), [rule!("WF.2.BOUND")]);
    breaks(&after(inner), [rule!("WF.2.BOUND")]);
}

#[test]
fn c2_variables_are_bound_once() {
    breaks(&program([bb([bind(v("y"), x("p")), bind(v("y"), x("p"))])], x("y")), [rule!("WF.2.ONCE")]);
    breaks(&program([bb([bind(v("p"), Expr::tuple(vec![]))])], x("p")), [rule!("WF.2.ONCE")]);
    let side = || Expr::seq(vec![bb([bind(v("y"), x("p"))])], x("y"));
    breaks(&program([], branch(x("p"), side(), side())), [rule!("WF.2.ONCE")]);
    breaks(&module([("f", func([v("a")], x("a"))), ("g", func([v("a")], x("a")))]), [rule!("WF.2.ONCE")]);
    // The same name, another variable.
    let shadow = Binder::var(Var::numbered("p".into(), 1));
    let shadowing = program([bb([bind(shadow.clone(), x("p"))])], shadow.to_expr());
    well_formed(&shadowing);
    let by_name = |module: &IrModule| {
        let literal = crate::book::Reading::literal_only(&[Erratum::A03]);
        rules_in(&mut Cx::new().with_reading(literal), module)
    };
    assert_eq!(by_name(&shadowing), [rule!("WF.2.ONCE")]);
    // A different name is a different variable, and each function has names of its own.
    assert_eq!(by_name(&program([bb([bind(v("y"), x("p"))])], x("y"))), []);
    let elsewhere = func([shadow.clone()], shadow.to_expr());
    assert_eq!(by_name(&module([("f", func([v("p")], x("p"))), ("g", elsewhere)])), []);
}

#[test]
fn c2_only_functions_mention_themselves() {
    let call = || Expr::call(x("g"), vec![x("a")]);
    let literal = || Expr::Function(returns(func([v("a")], call()), StructInfo::Object).into());
    breaks(&program([bb([bind(v("y"), op("relax.add", [x("y"), x("p")]))])], x("y")), [rule!("WF.2.SELF")]);
    breaks(&program([bb([bind(v("g"), Expr::tuple(vec![literal()]))])], x("g")), [rule!("WF.2.SELF")]);
    let by_cast = program([bb([cast(Some(v("g")), literal(), StructInfo::Object)])], x("g"));
    breaks(&by_cast, [rule!("WF.2.SELF")]);
    let a47 = crate::book::Reading::literal_only(&[Erratum::A47]);
    assert_eq!(rules_in(&mut Cx::new().with_reading(a47), &by_cast), []);
    well_formed(&program([bb([bind(v("g"), literal())])], x("g")));
}

#[test]
fn c3_bindings_precede_uses() {
    let late = bind(v("y"), x("p"));
    breaks(&program([bb([bind(v("z"), x("y")), late.clone()])], x("z")), [rule!("WF.3.BEFORE")]);
    breaks(&program([df([bind(v("z"), x("y"))]), bb([late.clone()])], x("z")), [rule!("WF.3.BEFORE")]);
    well_formed(&program([bb([late, bind(v("z"), x("y"))])], x("z")));
}

#[test]
fn c4_return_annotations_use_outer_variables() {
    let body = || Expr::seq(vec![bb([cast(Some(v("y")), x("p"), tensor([n("m")]))])], x("y"));
    let f = |ret| module([("f", returns(func([v("p").annotated(tensor([n("n")]))], body()), ret))]);
    breaks(&f(tensor([n("m")])), [rule!("WF.4.RET"), rule!("WF.5.BEFORE"), rule!("WF.13.DIMS-SCOPE")]);
    well_formed(&f(tensor([twice("n")])));
    // A local function returns a variable that its surroundings bind.
    let local = returns(func([v("a")], x("a")), StructInfo::shape([n("n")]));
    well_formed(&program([bb([bind(v("g"), Expr::Function(local.into()))])], x("g")));
}

#[test]
fn c5_shape_variables_are_bound_before() {
    breaks(&program([], Expr::shape([n("m")])), [rule!("WF.5.BEFORE")]);
    let cast_m = || cast(None, x("p"), tensor([n("m")]));
    let use_m = || bind(v("s"), Expr::shape([twice("m")]));
    breaks(&program([bb([use_m(), cast_m()])], x("s")), [rule!("WF.5.BEFORE")]);
    well_formed(&program([bb([cast_m(), use_m()])], x("s")));
    // The block ends a dataflow scope, not that of the shape variable.
    well_formed(&program([df([cast_m()]), bb([use_m()])], x("s")));
    let inner = Expr::seq(vec![bb([cast_m()])], x("p"));
    breaks(&program([bb([bind(v("y"), inner), use_m()])], x("s")), [rule!("WF.5.BEFORE")]);
    let other = func([], Expr::shape([n("n")]));
    let main = func([v("p").annotated(tensor([n("n")]))], x("p"));
    breaks(&module([("f", main), ("g", other)]), [rule!("WF.5.BEFORE")]);
}

#[test]
fn c5_only_a_lone_variable_is_bound() {
    let to = |dims: Vec<PrimExpr>| program([bb([cast(None, x("p"), tensor(dims))])], x("p"));
    breaks(&to(vec![twice("m")]), [rule!("WF.5.ALONE"), rule!("WF.13.DIMS-SCOPE")]);
    breaks(&to(vec![twice("m"), n("m")]), [rule!("WF.5.ALONE"), rule!("WF.13.DIMS-SCOPE")]);
    well_formed(&to(vec![n("m"), twice("m")]));
}

#[test]
fn c5_signatures_bind_from_left_to_right() {
    let f = |first: PrimExpr, second: PrimExpr| {
        module([("f", func([v("a").annotated(tensor([first])), v("b").annotated(tensor([second]))], x("a")))])
    };
    well_formed(&f(n("n"), twice("n")));
    let late = f(twice("n"), n("n"));
    breaks(&late, [rule!("WF.5.ALONE"), rule!("WF.13.DIMS-SCOPE")]);
    let a08 = crate::book::Reading::literal_only(&[Erratum::A08]);
    assert_eq!(rules_in(&mut Cx::new().with_reading(a08), &late), []);
    let a09 = crate::book::Reading::literal_only(&[Erratum::A09]);
    assert_eq!(rules_in(&mut Cx::new().with_reading(a09), &f(n("n"), twice("n"))), [rule!("WF.13.DIMS-SCOPE")]);
}

#[test]
fn c5_other_annotations_bind_nothing() {
    let bound_to = |info| program([bb([bind(v("y").annotated(info), x("p"))])], x("y"));
    breaks(&bound_to(tensor([n("k")])), [rule!("WF.5.BEFORE"), rule!("WF.13.DIMS-SCOPE")]);
    well_formed(&bound_to(tensor([n("n")])));
    let cast_to = |info| program([bb([cast(Some(v("y").annotated(info)), x("p"), StructInfo::Object)])], x("y"));
    breaks(&cast_to(StructInfo::shape([n("k")])), [rule!("WF.5.BEFORE"), rule!("WF.14.SCOPE")]);
}

#[test]
fn c6_no_recursion_in_dataflow_blocks() {
    let f = |block: fn(Vec<Binding>) -> BindingBlock, alias: bool| {
        let callee = if alias { x("h") } else { gv("f") };
        let call = Expr::call(callee, vec![x("p")]);
        let body = Expr::seq(vec![bb([bind(v("h"), gv("f"))]), block(vec![bind(v("y"), call)])], x("y"));
        module([("f", returns(func([v("p")], body), StructInfo::Object))])
    };
    breaks(&f(df, false), [rule!("WF.6.REC")]);
    breaks(&f(df, true), [rule!("WF.6.REC")]);
    well_formed(&f(bb, false));
}

#[test]
fn c6_no_mutual_recursion_in_dataflow_blocks() {
    let calls = |callee: &str, param: &str, dataflow: bool| {
        let bindings = [bind(v(&format!("{param}1")), Expr::call(gv(callee), vec![x(param)]))];
        let block = if dataflow { df(bindings) } else { bb(bindings) };
        returns(func([v(param)], Expr::seq(vec![block], x(param))), StructInfo::Object)
    };
    breaks(&module([("f", calls("g", "a", true)), ("g", calls("f", "b", false))]), [rule!("WF.6.MUTREC")]);
    well_formed(&module([("f", calls("g", "a", false)), ("g", calls("f", "b", false))]));
    well_formed(&module([("f", calls("g", "a", true)), ("g", returns(func([v("b")], x("b")), StructInfo::Object))]));
}

#[test]
fn c6_no_control_flow_in_dataflow_blocks() {
    let choice = || branch(x("p"), x("p"), x("p"));
    breaks(&program([df([bind(v("y"), choice())])], x("y")), [rule!("WF.6.IF")]);
    well_formed(&program([bb([bind(v("y"), choice())])], x("y")));
    let nested = program([df([bind(v("g"), lambda([], choice()))])], x("g"));
    well_formed(&nested);
    let a33 = crate::book::Reading::literal_only(&[Erratum::A33]);
    assert_eq!(rules_in(&mut Cx::new().with_reading(a33), &nested), [rule!("WF.6.IF")]);
}

#[test]
fn c7_recursive_functions_are_annotated() {
    let f = || func([v("p")], Expr::call(gv("f"), vec![x("p")]));
    breaks(&module([("f", f())]), [rule!("WF.7.SELF")]);
    well_formed(&module([("f", returns(f(), StructInfo::Object))]));
    let local = |ret: Option<StructInfo>| {
        let mut g = func([v("a")], Expr::call(x("g"), vec![x("a")]));
        g.ret_struct_info = ret;
        program([bb([bind(v("g"), Expr::Function(g.into()))])], x("g"))
    };
    breaks(&local(None), [rule!("WF.7.SELF")]);
    well_formed(&local(Some(StructInfo::Object)));
}

#[test]
fn c7_mutually_recursive_functions_are_annotated() {
    let f = returns(func([v("a")], Expr::call(gv("g"), vec![x("a")])), StructInfo::Object);
    let g = func([v("b")], Expr::call(gv("f"), vec![x("b")]));
    breaks(&module([("f", f.clone()), ("g", g.clone())]), [rule!("WF.7.MUTUAL")]);
    well_formed(&module([("f", f), ("g", returns(g, StructInfo::Object))]));
}

#[test]
fn c8_operators_are_only_called() {
    breaks(&program([bb([bind(v("y"), Expr::op("relax.add"))])], x("p")), [rule!("WF.8")]);
    breaks(&program([], Expr::tuple(vec![Expr::op("relax.add")])), [rule!("WF.8")]);
    breaks(&program([], Expr::op("relax.add")), [rule!("WF.8")]);
    well_formed(&program([], op("relax.add", [x("p"), x("p")])));
}

#[test]
fn c10_functions_do_not_capture_dataflow_vars() {
    let g = |inner: Expr| {
        program([df([bind(d("lv"), x("p")), bind(v("w"), x("p")), bind(d("g"), lambda([], inner))])], x("p"))
    };
    breaks(&g(dx("lv")), [rule!("WF.10")]);
    well_formed(&g(x("w")));
    well_formed(&g(Expr::seq(vec![df([bind(d("l"), x("p")), bind(v("m"), dx("l"))])], x("m"))));
}

#[test]
fn c11_some_function_is_linked() {
    let private = || (GlobalVar::new("f"), GlobalFunc::Function(func([v("p")], x("p")).into()));
    breaks(&IrModule { funcs: vec![private()], ..IrModule::default() }, [rule!("WF.11")]);
    breaks(&IrModule::default(), [rule!("WF.11")]);
    let mut module = module([("main", func([v("a")], x("a")))]);
    module.funcs.push(private());
    well_formed(&module);
}

#[test]
fn what_concerns_the_whole_module_is_told_behind_its_functions() {
    let unlinked = (GlobalVar::new("f"), GlobalFunc::Function(func([v("p")], x("q")).into()));
    let module = IrModule { funcs: vec![unlinked], ..IrModule::default() };
    let told: Vec<Rule> = check(&mut Cx::new(), &module).iter().map(|finding| finding.rule).collect();
    assert_eq!(told.split_last(), Some((&rule!("WF.11"), &[rule!("WF.2.BOUND")][..])));
}

#[test]
fn c12_symbols_are_names() {
    let mut f = func([v("p")], x("p"));
    f.attrs.insert("global_symbol".into(), AttrValue::Str("g".into()));
    let module = IrModule { funcs: vec![(GlobalVar::new("f"), GlobalFunc::Function(f.into()))], ..IrModule::default() };
    breaks(&module, [rule!("WF.12")]);
    well_formed(&program([], x("p")));
}

fn with_shape(shape: TensorShape, ndim: i64) -> IrModule {
    let ndim = Ndim::from_i64(ndim);
    let info = StructInfo::Tensor(TensorStructInfo { shape: Some(shape), dtype: F32, ndim, vdevice: None });
    program([bb([bind(v("y").annotated(info), x("p"))])], x("y"))
}

#[test]
fn c13_tensor_annotations() {
    breaks(&with_shape(TensorShape::Other(op("relax.shape_of", [x("p")]).into()), 1), [rule!("WF.13.FORM")]);
    well_formed(&with_shape(TensorShape::Var(Var::new("p").into()), 1));
    breaks(&with_shape(TensorShape::Var(Var::new("q").into()), 1), [rule!("WF.13.VAR-SCOPE"), rule!("WF.2.BOUND")]);
    breaks(&with_shape(TensorShape::Dims([n("n")].into()), 2), [rule!("WF.13.NDIM")]);
    breaks(&with_shape(TensorShape::Dims([n("n")].into()), -1), [rule!("WF.13.NDIM")]);
    well_formed(&with_shape(TensorShape::Dims([n("n")].into()), 1));
}

#[test]
fn c13_a_parameter_may_take_its_shape_from_one_to_the_left() {
    let shaped = |of: &str| {
        let shape = Some(TensorShape::Var(Var::new(of).into()));
        StructInfo::Tensor(TensorStructInfo { shape, dtype: F32, ndim: Ndim::Known(1), vdevice: None })
    };
    let sum = || Expr::tuple(vec![x("a"), x("b")]);
    well_formed(&module([("f", func([v("a"), v("b").annotated(shaped("a"))], sum()))]));
    breaks(
        &module([("f", func([v("a").annotated(shaped("b")), v("b")], sum()))]),
        [rule!("WF.13.VAR-SCOPE"), rule!("WF.3.BEFORE")],
    );
}

#[test]
fn c14_shape_annotations() {
    let to = |values: Vec<PrimExpr>, ndim: i64| {
        let info = StructInfo::Shape(ShapeStructInfo { values: Some(values.into()), ndim: Ndim::from_i64(ndim) });
        program([bb([cast(None, x("p"), info)])], x("p"))
    };
    well_formed(&to(vec![n("k"), twice("k")], 2));
    breaks(&to(vec![n("k")], -1), [rule!("WF.14.NDIM")]);
    breaks(&to(vec![twice("k")], 1), [rule!("WF.14.SCOPE"), rule!("WF.5.ALONE")]);
}

#[test]
fn c15_function_annotations() {
    let with = |params: Option<Vec<StructInfo>>, derive_func: Option<DeriveFunc>| {
        let params = params.map(Into::into);
        let info = FuncStructInfo { params, ret: tensor([n("n")]), derive_func, pure: None };
        let nested = StructInfo::tuple([StructInfo::Func(info.into())]);
        module([("f", func([v("p").annotated(tensor([n("n")])), v("g").annotated(nested)], x("p")))])
    };
    breaks(&with(None, None), [rule!("WF.15.ATLEASTONE")]);
    breaks(&with(Some(vec![]), Some(DeriveFunc::DefaultDerive)), [rule!("WF.15.EXCLUSIVE")]);
    well_formed(&with(None, Some(DeriveFunc::EmptyDerive)));
    well_formed(&with(Some(vec![tensor([n("k"), twice("k")])]), None));
    breaks(&with(Some(vec![tensor([twice("k")])]), None), [rule!("WF.5.ALONE"), rule!("WF.13.DIMS-SCOPE")]);
}

#[test]
fn a_function_type_keeps_its_shape_variables_to_itself() {
    let params = Some([tensor([n("k")])].into());
    let info = StructInfo::Func(FuncStructInfo { params, ret: tensor([n("k")]), derive_func: None, pure: None }.into());
    well_formed(&program([bb([bind(v("g").annotated(info.clone()), x("p"))])], x("p")));
    let after = Expr::shape([n("k")]);
    breaks(&program([bb([bind(v("g").annotated(info), x("p"))])], after), [rule!("WF.5.BEFORE")]);
}

#[test]
fn globals_are_bound_by_the_module() {
    breaks(&program([], gv("h")), [rule!("SCOPE.BIND-ONCE.GLOBAL")]);
    well_formed(&program([], gv("f")));
}

#[test]
fn all_violations_are_reported_in_the_order_of_the_text() {
    let module = program([bb([bind(d("lv"), Expr::op("relax.add")), bind(v("y"), x("z"))])], x("w"));
    let found: Vec<(Rule, String)> =
        check(&mut Cx::new(), &module).into_iter().map(|finding| (finding.rule, finding.path.0)).collect();
    let expected = [
        (rule!("WF.1.BIND"), "f/body/blocks[0]/bindings[0]/var"),
        (rule!("WF.8"), "f/body/blocks[0]/bindings[0]/value"),
        (rule!("WF.2.BOUND"), "f/body/blocks[0]/bindings[1]/value"),
        (rule!("WF.2.BOUND"), "f/body/body"),
    ];
    assert_eq!(found, expected.map(|(rule, path)| (rule, path.to_string())));
}

#[test]
fn the_worked_example_of_the_chapter() {
    let f1 = || tensor([n("n")]);
    let g = lambda([v("a").annotated(f1())], op("relax.add", [x("a"), dx("lv")]));
    let u = Expr::tuple(vec![Expr::extern_func("demo.f"), Expr::op("relax.add")]);
    let wide = TensorShape::Dims([twice("k")].into());
    let wide =
        StructInfo::Tensor(TensorStructInfo { shape: Some(wide), dtype: F32, ndim: Ndim::Unknown, vdevice: None });
    let blocks = vec![
        df([
            bind(d("lv"), op("relax.add", [x("x"), x("x")])),
            bind(v("y"), branch(x("c"), dx("lv"), x("x"))),
            bind(v("g"), g),
        ]),
        bb([
            cast(Some(v("w")), x("x"), wide),
            bind(v("z").annotated(StructInfo::shape([n("m")])), op("relax.shape_of", [dx("lv")])),
            bind(v("u"), u),
        ]),
    ];
    let params = [v("x").annotated(f1()), v("c").annotated(StructInfo::tensor([], DataType::BOOL))];
    let mut main = returns(func(params, Expr::seq(blocks, op("relax.add", [x("w"), x("y")]))), tensor([n("m")]));
    main.attrs.insert("global_symbol".into(), AttrValue::Str("entry".into()));
    let module =
        IrModule { funcs: vec![(GlobalVar::new("main"), GlobalFunc::Function(main.into()))], ..IrModule::default() };
    breaks(
        &module,
        [
            rule!("WF.4.RET"),
            rule!("WF.5.BEFORE"),
            rule!("WF.13.DIMS-SCOPE"),
            rule!("WF.12"),
            rule!("WF.6.IF"),
            rule!("WF.10"),
            rule!("WF.5.ALONE"),
            rule!("WF.13.NDIM"),
            rule!("WF.14.SCOPE"),
            rule!("WF.1.USE"),
            rule!("WF.8"),
        ],
    );
}
