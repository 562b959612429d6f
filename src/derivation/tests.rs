//! For each form of expression, its structural information and a program for which derivation fails.

use super::*;
use crate::book::Rule;
use crate::grammar::*;
use crate::testing::*;

/// `g` doubles a vector; the size `j` of its parameter is its own variable.
fn params() -> [Binder; 7] {
    [
        v("p").annotated(tensor([n("n")])),
        v("q").annotated(tensor([n("m")])),
        v("c").annotated(StructInfo::tensor([], DataType::BOOL)),
        v("t").annotated(StructInfo::tuple([tensor([n("n")]), StructInfo::Object])),
        v("o").annotated(StructInfo::Object),
        v("g").annotated(StructInfo::func([tensor([n("j")])], tensor([twice("j")]))),
        v("k").annotated(StructInfo::packed(DeriveFunc::DefaultDerive)),
    ]
}

fn derived(function: Function) -> DeriveReport {
    derive_module(&mut Cx::new(), &module([("f", function)]))
}

fn with_block(block: BindingBlock) -> DeriveReport {
    derived(func(params(), Expr::seq(vec![block], x("p"))))
}

fn rules(report: &DeriveReport) -> Vec<Rule> {
    report.diagnostics.iter().map(|finding| finding.rule).collect()
}

#[track_caller]
fn has_info(value: Expr, expected: StructInfo) {
    let report = with_block(bb([bind(v("r"), value)]));
    assert_eq!(report.diagnostics, vec![]);
    assert_eq!(report.info_of_var(&Var::new("r")), Some(&expected));
}

#[track_caller]
fn no_info(value: Expr, rule: Rule) {
    let report = with_block(bb([bind(v("r"), value)]));
    assert_eq!(rules(&report), [rule]);
    assert_eq!(report.info_of_var(&Var::new("r")), None);
}

#[track_caller]
fn warns(report: &DeriveReport, rule: Rule) {
    assert_eq!(rules(report), [rule]);
    assert!(report.accepts());
}

#[track_caller]
fn fails(report: &DeriveReport, rule: Rule) {
    assert_eq!(rules(report), [rule]);
    assert!(!report.accepts());
}

fn call(callee: &str, args: impl IntoIterator<Item = Expr>) -> Expr {
    Expr::call(x(callee), args.into_iter().collect())
}

fn vector() -> StructInfo {
    StructInfo::tensor_ndim(1, F32)
}

#[test]
fn leaves() {
    has_info(x("p"), tensor([n("n")]));
    let row = TensorData::from_values(F32, &[1, 2], &[1.0, 2.0]).unwrap();
    has_info(Expr::constant(row), tensor([PrimExpr::IntImm(1), PrimExpr::IntImm(2)]));
    has_info(Expr::shape([twice("n")]), StructInfo::shape([twice("n")]));
    has_info(Expr::extern_func("routine"), StructInfo::packed(DeriveFunc::DefaultDerive));
    no_info(x("absent"), rule!("TC.VAR.UNBOUND"));
    no_info(Expr::shape([n("absent")]), rule!("SI.DERIVE.CONTEXT"));
}

#[test]
fn tuples_and_projections() {
    has_info(Expr::tuple(vec![x("p"), x("o")]), StructInfo::tuple([tensor([n("n")]), StructInfo::Object]));
    has_info(Expr::tuple_get_item(x("t"), 0), tensor([n("n")]));
    no_info(Expr::tuple(vec![x("absent")]), rule!("TC.VAR.UNBOUND"));
    no_info(Expr::tuple_get_item(x("t"), 2), rule!("SI.DERIVE.TGI.BOUND"));
    no_info(Expr::tuple_get_item(x("o"), 0), rule!("SI.DERIVE.TGI.NOTTUPLE"));
}

#[test]
fn conditionals_are_unified() {
    has_info(branch(x("c"), x("p"), x("p")), tensor([n("n")]));
    // n and m may differ: the rank remains.
    has_info(branch(x("c"), x("p"), x("q")), vector());
    has_info(branch(x("c"), x("p"), x("t")), StructInfo::Object);
    no_info(branch(x("c"), x("p"), x("absent")), rule!("TC.VAR.UNBOUND"));
}

#[test]
fn what_a_sequence_introduces_is_forgotten_outside() {
    let inner = Expr::seq(vec![bb([cast(Some(v("y")), x("o"), tensor([n("h")]))])], x("y"));
    has_info(inner, vector());
    let known = Expr::seq(vec![bb([cast(Some(v("y")), x("o"), tensor([n("n")]))])], x("y"));
    has_info(known, tensor([n("n")]));
}

#[test]
fn calls_of_closures() {
    has_info(call("g", [x("p")]), tensor([twice("n")]));
    // Nothing is known about j, so the size of the result is dropped. Whether the argument fits is checked at run time.
    let vague = bind(v("u").annotated(vector()), x("p"));
    let report = with_block(bb([vague, bind(v("r"), call("g", [x("u")]))]));
    warns(&report, rule!("SI.DERIVE.CALL.ARGS.WARN"));
    assert_eq!(report.info_of_var(&Var::new("r")), Some(&vector()));
    // An object is not even possibly a vector (SI.COMPAT.KIND).
    no_info(call("g", [x("o")]), rule!("SI.DERIVE.CALL.ARGS.ERR"));
    no_info(call("g", []), rule!("SI.DERIVE.CALL.ARITY"));
    no_info(call("g", [x("t")]), rule!("SI.DERIVE.CALL.ARGS.ERR"));
    no_info(call("o", [x("p")]), rule!("SI.DERIVE.CALL.NOTFUNC"));
}

#[test]
fn calls_of_packed_functions_and_operators() {
    has_info(call("k", [x("p")]), StructInfo::Object);
    let (op_, args, sinfo_args) = (x("k"), vec![x("p")], vec![tensor([n("n")])]);
    let typed = Call { op: op_, args, sinfo_args, attrs: Attrs::new(), span: Span::NONE };
    // The information of the argument is taken unchanged, including the shape (PR14148.SINFO.DEFAULT_DERIVE).
    has_info(Expr::Call(typed.into()), tensor([n("n")]));
    has_info(op("relax.add", [x("p"), x("p")]), tensor([n("n")]));
    has_info(op("relax.shape_of", [x("p")]), StructInfo::shape([n("n")]));
    assert!(!with_block(bb([bind(v("r"), op("relax.add", [x("p"), x("t")]))])).accepts());
}

#[test]
fn annotated_bindings() {
    let annotated = |info: StructInfo, value: &str| with_block(bb([bind(v("r").annotated(info), x(value))]));
    let report = annotated(vector(), "p");
    assert_eq!(report.diagnostics, vec![]);
    assert_eq!(report.info_of_var(&Var::new("r")), Some(&vector()));
    warns(&annotated(tensor([n("n")]), "q"), rule!("SI.DERIVE.VB.ANNOT.WARN"));
    fails(&annotated(StructInfo::shape([n("n")]), "p"), rule!("SI.DERIVE.VB.ANNOT.ERR"));
    fails(&with_block(bb([bind(v("r"), lambda([], Expr::seq(vec![], x("p"))))])), rule!("SI.DERIVE.VB.FUNC.ANNOT"));
}

#[test]
fn casts() {
    let report = with_block(bb([cast(Some(v("r")), x("o"), tensor([n("h")])), bind(v("s"), Expr::shape([n("h")]))]));
    assert_eq!(report.diagnostics, vec![]);
    assert_eq!(report.info_of_var(&Var::new("r")), Some(&tensor([n("h")])));
    assert_eq!(report.info_of_var(&Var::new("s")), Some(&StructInfo::shape([n("h")])));
}

#[test]
fn functions() {
    let p = || v("p").annotated(tensor([n("n")]));
    let identity = || func([p()], Expr::seq(vec![], x("p")));
    let info = StructInfo::func([tensor([n("n")])], tensor([n("n")]));
    assert_eq!(derived(identity()).info_of_function("f"), Some(&info));
    let vague = StructInfo::func([tensor([n("n")])], StructInfo::Object);
    assert_eq!(derived(returns(identity(), StructInfo::Object)).info_of_function("f"), Some(&vague));
    warns(&derived(returns(identity(), tensor([PrimExpr::IntImm(3)]))), rule!("SI.DERIVE.FUNC.RET.WARN"));
    fails(&derived(returns(identity(), StructInfo::tuple([]))), rule!("SI.DERIVE.FUNC.RET.ERR"));
}

#[test]
fn a_shape_held_by_a_variable_is_looked_through() {
    let held = |dim: i64| {
        let s = v("s").annotated(StructInfo::shape([PrimExpr::IntImm(4)]));
        let p = v("p").annotated(tensor([PrimExpr::IntImm(dim)]));
        let shape = Some(TensorShape::Var(Var::new("s").into()));
        let result = StructInfo::Tensor(TensorStructInfo { shape, dtype: F32, ndim: Ndim::from_i64(1), vdevice: None });
        derived(returns(func([s, p], Expr::seq(vec![], x("p"))), result))
    };
    fails(&held(3), rule!("SI.DERIVE.FUNC.RET.ERR"));
    assert_eq!(rules(&held(4)), []);
}
