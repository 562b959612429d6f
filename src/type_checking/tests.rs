//! For each form of expression: its type, and a program that has no type.

use super::*;
use crate::book::Rule;
use crate::grammar::*;
use crate::testing::*;

/// A packed function takes any arguments. `g` is a closure from vectors to vectors; it is impure, like every erased
/// function.
fn params() -> [Binder; 6] {
    [
        v("p").annotated(tensor([n("n")])),
        v("c").annotated(StructInfo::tensor([], DataType::BOOL)),
        v("t").annotated(StructInfo::tuple([tensor([n("n")]), StructInfo::shape([n("n"), PrimExpr::IntImm(2)])])),
        v("o").annotated(StructInfo::Object),
        v("g").annotated(StructInfo::func([StructInfo::tensor_ndim(1, F32)], StructInfo::tensor_ndim(1, F32))),
        v("k").annotated(StructInfo::packed(DeriveFunc::DefaultDerive)),
    ]
}

fn checked(function: Function) -> TypeReport {
    check_module(&mut Cx::new(), &module([("f", function)]))
}

fn with_block(block: BindingBlock) -> TypeReport {
    checked(func(params(), Expr::seq(vec![block], x("p"))))
}

#[track_caller]
fn has_type(value: Expr, expected: Type) {
    let report = with_block(bb([bind(v("r"), value)]));
    assert_eq!(report.diagnostics, vec![]);
    assert_eq!(report.type_of_var(&Var::new("r")), Some(&expected));
}

fn rules(report: &TypeReport) -> Vec<Rule> {
    report.diagnostics.iter().map(|finding| finding.rule).collect()
}

#[track_caller]
fn no_type(value: Expr, rule: Rule) {
    let report = with_block(bb([bind(v("r"), value)]));
    assert_eq!(rules(&report), [rule]);
    assert_eq!(report.type_of_var(&Var::new("r")), None);
}

#[track_caller]
fn gives(block: BindingBlock, rule: Rule) {
    assert_eq!(rules(&with_block(block)), [rule]);
}

fn call(callee: &str, args: impl IntoIterator<Item = Expr>) -> Expr {
    Expr::call(x(callee), args.into_iter().collect())
}

fn call_as(callee: &str, sinfo_args: impl IntoIterator<Item = StructInfo>) -> Expr {
    let sinfo_args = sinfo_args.into_iter().collect();
    Expr::Call(Call { op: x(callee), args: vec![x("p")], sinfo_args, attrs: Attrs::new(), span: Span::NONE }.into())
}

fn scalar() -> Expr {
    Expr::constant(TensorData::from_values(F32, &[], &[1.0]).unwrap())
}

fn vector() -> Type {
    Type::tensor(1, F32)
}

#[test]
fn leaves() {
    has_type(x("p"), vector());
    has_type(x("t"), Type::tuple(vec![vector(), Type::shape(2)]));
    has_type(scalar(), Type::tensor(0, F32));
    has_type(Expr::shape([n("n"), twice("n")]), Type::shape(2));
    has_type(Expr::extern_func("routine"), Type::PackedFunc);
    no_type(x("absent"), rule!("TC.VAR.UNBOUND"));
    no_type(gv("absent"), rule!("TC.VAR.UNBOUND"));
}

#[test]
fn tuples() {
    has_type(Expr::tuple(vec![]), Type::tuple(vec![]));
    has_type(Expr::tuple(vec![x("p"), x("o")]), Type::tuple(vec![vector(), Type::Object]));
    no_type(Expr::tuple(vec![x("p"), x("absent")]), rule!("TC.VAR.UNBOUND"));
}

#[test]
fn projections() {
    has_type(Expr::tuple_get_item(x("t"), 0), vector());
    has_type(Expr::tuple_get_item(x("t"), 1), Type::shape(2));
    no_type(Expr::tuple_get_item(x("t"), 2), rule!("TC.TGI.BOUND"));
    no_type(Expr::tuple_get_item(x("t"), -1), rule!("TC.TGI.BOUND"));
    no_type(Expr::tuple_get_item(x("p"), 0), rule!("TC.TGI.NOTTUPLE"));
    // An object may be a tuple, but only a cast can assert that.
    no_type(Expr::tuple_get_item(x("o"), 0), rule!("TC.TGI.NOTTUPLE"));
}

#[test]
fn conditionals_have_the_least_upper_bound() {
    has_type(branch(x("c"), x("p"), x("p")), vector());
    // The upper bound of ranks 1 and 0 is the unknown rank; that of different kinds is the object type.
    has_type(branch(x("c"), x("p"), scalar()), Type::tensor(-1, F32));
    has_type(branch(x("c"), x("p"), x("t")), Type::Object);
    assert_eq!(rules(&with_block(bb([bind(v("r"), branch(x("p"), x("p"), x("p")))]))), [rule!("TC.IF.COND")]);
    assert_eq!(rules(&with_block(bb([bind(v("r"), branch(x("o"), x("p"), x("p")))]))), [rule!("TC.IF.COND")]);
}

#[test]
fn sequences() {
    let inner = |body: Expr| Expr::seq(vec![bb([bind(v("y"), Expr::tuple(vec![x("p")]))])], body);
    has_type(inner(x("y")), Type::tuple(vec![vector()]));
    let after = bb([bind(v("r"), inner(x("p"))), bind(v("s"), x("y"))]);
    gives(after, rule!("TC.VAR.UNBOUND"));
}

#[test]
fn calls_of_closures() {
    has_type(call("g", [x("p")]), vector());
    no_type(call("o", [x("p")]), rule!("TC.CALL.NOTFUNC"));
    gives(bb([bind(v("r"), call("g", []))]), rule!("TC.CALL.ARITY"));
    gives(bb([bind(v("r"), call("g", [x("t")]))]), rule!("TC.CALL.ARGS"));
    // An object might be a vector, but arguments are not cast implicitly.
    gives(bb([bind(v("r"), call("g", [x("o")]))]), rule!("TC.CALL.ARGS"));
}

#[test]
fn calls_of_packed_functions() {
    has_type(call("k", [x("p"), x("o")]), Type::Object);
    has_type(call_as("k", [tensor([n("n")])]), vector());
    let both = [tensor([n("n")]), StructInfo::Object];
    has_type(call_as("k", both), Type::tuple(vec![vector(), Type::Object]));
}

#[test]
fn calls_of_operators() {
    has_type(op("relax.add", [x("p"), x("p")]), vector());
    has_type(op("relax.shape_of", [x("p")]), Type::shape(1));
    assert!(!with_block(bb([bind(v("r"), op("relax.add", [x("p"), x("t")]))])).accepts());
}

#[test]
fn annotated_bindings() {
    let report = with_block(bb([bind(v("r").annotated(StructInfo::Object), x("p"))]));
    assert_eq!(report.diagnostics, vec![]);
    assert_eq!(report.type_of_var(&Var::new("r")), Some(&Type::Object));
    let shape = StructInfo::shape([n("n")]);
    gives(bb([bind(v("r").annotated(shape), x("p"))]), rule!("TC.VB.ANNOT.ERR"));
    gives(bb([bind(v("r").annotated(tensor([n("n")])), x("o"))]), rule!("TC.VB.ANNOT.DOWN"));
    gives(bb([bind(v("r"), lambda([], x("p")))]), rule!("TC.VB.FUNC.ANNOT"));
}

#[test]
fn casts() {
    let report = with_block(bb([cast(Some(v("r")), x("o"), tensor([n("n")]))]));
    assert_eq!(report.diagnostics, vec![]);
    assert_eq!(report.type_of_var(&Var::new("r")), Some(&vector()));
    // No value is both a tensor and a shape, yet the cast only gives a warning.
    let report = with_block(bb([cast(Some(v("r")), x("p"), StructInfo::shape([n("n")]))]));
    assert_eq!(rules(&report), [rule!("TC.MC.WARN")]);
    assert!(report.accepts());
    let annotated = v("r").annotated(StructInfo::shape([n("n")]));
    gives(bb([cast(Some(annotated), x("o"), tensor([n("n")]))]), rule!("TC.MC.ANNOT"));
}

#[test]
fn dataflow_blocks_are_pure() {
    assert_eq!(with_block(df([bind(d("r"), op("relax.add", [x("p"), x("p")]))])).diagnostics, vec![]);
    gives(df([bind(d("r"), call("g", [x("p")]))]), rule!("TC.DF.FUNC"));
    gives(df([bind(d("r"), call("k", [x("p")]))]), rule!("TC.DF.EXTERN"));
    gives(df([bind(d("r"), op("relax.print", [x("p")]))]), rule!("TC.DF.OP"));
}

fn type_of(function: Function) -> Option<Type> {
    checked(function).type_of_function("f").cloned()
}

#[test]
fn functions() {
    let p = || v("p").annotated(tensor([n("n")]));
    let pure = Type::func(vec![vector()], vector(), true);
    assert_eq!(type_of(func([p()], Expr::seq(vec![], x("p")))), Some(pure));
    let k = v("k").annotated(StructInfo::packed(DeriveFunc::DefaultDerive));
    let calls = || Expr::seq(vec![bb([bind(v("r"), call("k", []))])], x("r"));
    let impure = Type::func(vec![Type::PackedFunc], Type::Object, false);
    assert_eq!(type_of(func([k.clone()], calls())), Some(impure));
    // Callers see the result annotation.
    let vague = returns(func([p()], Expr::seq(vec![], x("p"))), StructInfo::Object);
    assert_eq!(type_of(vague), Some(Type::func(vec![vector()], Type::Object, true)));

    let promise = Function { pure: Some(true), ..func([k], calls()) };
    assert_eq!(rules(&checked(promise)), [rule!("TC.FUNC.PURE.ANNOT-ERR")]);
    assert_eq!(rules(&checked(func([v("a")], Expr::seq(vec![], x("a"))))), [rule!("TC.FUNC.PARAM-ANNOT")]);
    let identity =
        |info: StructInfo, ret: StructInfo| returns(func([v("a").annotated(info)], Expr::seq(vec![], x("a"))), ret);
    let down = identity(StructInfo::Object, tensor([]));
    assert_eq!(rules(&checked(down)), [rule!("TC.FUNC.RET.DOWN")]);
    let unrelated = identity(StructInfo::tuple([]), tensor([]));
    assert_eq!(rules(&checked(unrelated)), [rule!("TC.FUNC.RET.UNRELATED")]);
}

#[test]
fn recursion() {
    let p = || v("p").annotated(tensor([n("n")]));
    let body = || Expr::seq(vec![bb([bind(v("r"), Expr::call(gv("f"), vec![x("p")]))])], x("r"));
    let own = returns(func([p()], body()), StructInfo::tensor_ndim(1, F32));
    assert_eq!(checked(own).type_of_var(&Var::new("r")), Some(&vector()));
    assert_eq!(rules(&checked(func([p()], body()))), [rule!("TC.FUNC.RET.REC-NONE")]);
}
