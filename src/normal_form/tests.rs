use super::*;
use crate::book::{Erratum, Reading, Rule};
use crate::grammar::*;
use crate::testing::*;

fn f1(callee: &str, arg: Expr) -> Expr {
    Expr::call(Expr::op(callee), vec![arg])
}

fn ext(callee: &str, args: impl IntoIterator<Item = Expr>) -> Expr {
    Expr::call(Expr::extern_func(callee), args.into_iter().collect())
}

/// A module with the function `f(p, q)` that has this body.
fn of(body: Expr) -> IrModule {
    module([("f", func([v("p"), v("q")], body))])
}

fn rules(module: &IrModule) -> Vec<Rule> {
    check(&mut Cx::new(), module).iter().map(|finding| finding.rule).collect()
}

/// Checks that a function with the body `body` has a normal form with the body `expected`, and that normalization does
/// not change it again.
#[track_caller]
fn becomes(body: Expr, expected: Expr) {
    let normal = normalize(&mut Cx::new(), &of(body));
    assert_eq!(normal, of(expected));
    assert_eq!(rules(&normal), []);
    assert_eq!(normalize(&mut Cx::new(), &normal), normal);
}

#[track_caller]
fn not_normal(body: Expr, expected: impl AsRef<[Rule]>) {
    assert_eq!(rules(&of(body)), expected.as_ref());
}

fn seq(blocks: impl IntoIterator<Item = BindingBlock>, body: Expr) -> Expr {
    Expr::seq(blocks.into_iter().collect(), body)
}

#[test]
fn operands_are_leaves() {
    let y = |value| seq([bb([bind(v("y"), value)])], x("y"));
    not_normal(y(f1("relax.exp", f1("relax.neg", x("p")))), [rule!("NF.1.RHS")]);
    not_normal(y(f1("relax.exp", Expr::tuple_get_item(x("p"), 0))), [rule!("NF.1.RHS")]);
    not_normal(y(f1("relax.exp", Expr::extern_func("e"))), [rule!("NF.1.RHS")]);
    not_normal(y(Expr::tuple(vec![f1("relax.exp", x("p"))])), [rule!("NF.1.SUBLEAF")]);
    not_normal(y(branch(f1("relax.any", x("p")), seq([], x("p")), seq([], x("q")))), [rule!("NF.1.RHS")]);
    not_normal(
        seq([bb([cast(None, f1("relax.exp", f1("relax.neg", x("p"))), StructInfo::Object)])], x("p")),
        [rule!("NF.1.RHS")],
    );
    not_normal(y(ext("e", [Expr::tuple(vec![x("p"), Expr::tuple(vec![Expr::shape([n("n")])])])])), []);
    not_normal(y(branch(x("p"), seq([], x("p")), seq([], x("q")))), []);
    not_normal(y(lambda([], seq([], x("p")))), []);
}

#[test]
fn sequences_have_their_places() {
    let inner = || seq([], x("p"));
    not_normal(inner(), []);
    not_normal(seq([bb([bind(v("y"), inner())])], x("y")), [rule!("NF.2.NOWHERE-ELSE")]);
    not_normal(seq([bb([bind(v("y"), f1("relax.exp", inner()))])], x("y")), [rule!("NF.2.NOWHERE-ELSE")]);
    not_normal(seq([], inner()), [rule!("NF.2.NOWHERE-ELSE")]);
    not_normal(x("p"), [rule!("NF.3.FUNC")]);
    not_normal(seq([bb([bind(v("y"), branch(x("p"), x("p"), inner()))])], x("y")), [rule!("NF.3.IF")]);
    not_normal(seq([], f1("relax.exp", x("p"))), [rule!("NF.1.BODY-LEAF")]);
}

#[test]
fn blocks_are_consolidated() {
    let a = || bind(v("a"), x("p"));
    let b = || bind(v("b"), x("p"));
    not_normal(seq([bb([a()]), bb([b()])], x("p")), [rule!("NF.4.MERGE-BB")]);
    not_normal(seq([df([a()]), df([b()])], x("p")), [rule!("NF.4.MERGE-DF")]);
    not_normal(seq([bb([a()]), df([]), bb([b()])], x("p")), [rule!("NF.4.DROP-EMPTY")]);
    not_normal(seq([bb([a()]), df([b()])], x("p")), []);
    becomes(seq([bb([a()]), df([]), bb([b()])], x("p")), seq([bb([a(), b()])], x("p")));
    becomes(seq([df([a()]), df([b()])], x("p")), seq([df([a(), b()])], x("p")));
    becomes(seq([bb([]), df([])], x("p")), seq([], x("p")));
    becomes(seq([bb([a()]), df([b()]), bb([])], x("p")), seq([bb([a()]), df([b()])], x("p")));
}

#[test]
fn bodies_are_wrapped() {
    becomes(x("p"), seq([], x("p")));
    let exp = || f1("relax.exp", x("p"));
    becomes(exp(), seq([bb([bind(v("v1"), exp())])], x("v1")));
    let a = || bind(v("a"), x("p"));
    becomes(seq([bb([a()])], exp()), seq([bb([a(), bind(v("v1"), exp())])], x("v1")));
    becomes(seq([df([a()])], exp()), seq([df([a()]), bb([bind(v("v1"), exp())])], x("v1")));
    becomes(seq([bb([a()])], seq([bb([bind(v("b"), x("p"))])], x("b"))), {
        seq([bb([a(), bind(v("b"), x("p"))])], x("b"))
    });
}

#[test]
fn operands_are_hoisted_in_the_order_of_evaluation() {
    // f(g(p), h(i(q))) evaluates g, i, h, f.
    becomes(
        op("f", [f1("g", x("p")), f1("h", f1("i", x("q")))]),
        seq(
            [bb([
                bind(v("v1"), f1("g", x("p"))),
                bind(v("v2"), f1("i", x("q"))),
                bind(v("v3"), f1("h", x("v2"))),
                bind(v("v4"), op("f", [x("v1"), x("v3")])),
            ])],
            x("v4"),
        ),
    );
    // The callee comes first.
    let pick = || Expr::call(x("p"), vec![x("q")]);
    becomes(
        Expr::call(pick(), vec![f1("relax.exp", x("q"))]),
        seq(
            [bb([
                bind(v("v1"), pick()),
                bind(v("v2"), f1("relax.exp", x("q"))),
                bind(v("v3"), Expr::call(x("v1"), vec![x("v2")])),
            ])],
            x("v3"),
        ),
    );
}

#[test]
fn the_worked_example_of_the_chapter() {
    let body = op(
        "relax.concat",
        [
            Expr::tuple(vec![
                f1("relax.exp", x("p")),
                branch(x("q"), op("relax.mul", [f1("relax.neg", x("p")), x("p")]), x("p")),
            ]),
            f1("axis", x("p")),
        ],
    );
    let side =
        seq([bb([bind(v("v3"), f1("relax.neg", x("p"))), bind(v("v4"), op("relax.mul", [x("v3"), x("p")]))])], x("v4"));
    becomes(
        body,
        seq(
            [bb([
                bind(v("v1"), f1("relax.exp", x("p"))),
                bind(v("v2"), branch(x("q"), side, seq([], x("p")))),
                bind(v("v5"), f1("axis", x("p"))),
                bind(v("v6"), op("relax.concat", [Expr::tuple(vec![x("v1"), x("v2")]), x("v5")])),
            ])],
            x("v6"),
        ),
    );
    let flat = seq([df([bind(v("e"), f1("g", x("d")))])], f1("h", x("e")));
    becomes(
        seq([bb([]), df([bind(v("d"), f1("f", x("p")))]), df([]), bb([bind(v("r"), flat)]), bb([])], f1("k", x("r"))),
        seq(
            [
                df([bind(v("d"), f1("f", x("p"))), bind(v("e"), f1("g", x("d")))]),
                bb([bind(v("r"), f1("h", x("e"))), bind(v("v1"), f1("k", x("r")))]),
            ],
            x("v1"),
        ),
    );
}

#[test]
fn fresh_variables_in_dataflow_blocks_are_dataflow_vars() {
    becomes(
        seq([df([bind(v("y"), f1("relax.exp", f1("relax.neg", x("p"))))])], x("y")),
        seq([df([bind(d("v1"), f1("relax.neg", x("p"))), bind(v("y"), f1("relax.exp", dx("v1")))])], x("y")),
    );
}

#[test]
fn fresh_names_do_not_clash() {
    let exp = |of: &str| f1("relax.exp", x(of));
    becomes(
        seq([bb([bind(v("v1"), exp("p"))])], exp("v1")),
        seq([bb([bind(v("v1"), exp("p")), bind(v("v2"), exp("v1"))])], x("v2")),
    );
}

#[test]
fn sequences_are_flattened() {
    let a = |value| bind(v("a"), value);
    becomes(
        seq([bb([bind(v("y"), seq([bb([a(x("p"))])], f1("f", f1("g", x("a")))))])], x("y")),
        seq([bb([a(x("p")), bind(v("v1"), f1("g", x("a"))), bind(v("y"), f1("f", x("v1")))])], x("y")),
    );
    becomes(
        seq([bb([bind(v("b"), x("p")), bind(v("y"), seq([df([a(x("p"))])], x("a"))), bind(v("c"), x("p"))])], x("y")),
        seq([bb([bind(v("b"), x("p"))]), df([a(x("p"))]), bb([bind(v("y"), x("a")), bind(v("c"), x("p"))])], x("y")),
    );
    becomes(
        seq([df([bind(v("y"), seq([bb([]), df([a(x("p"))])], x("a")))])], x("y")),
        seq([df([a(x("p")), bind(v("y"), x("a"))])], x("y")),
    );
}

#[test]
fn an_ordinary_block_inside_a_dataflow_block_is_malformed() {
    let program = of(seq([df([bind(v("y"), seq([bb([bind(v("a"), x("p"))])], x("a")))])], x("y")));
    let normalized = normalize_reporting(&mut Cx::new(), &program);
    let rules: Vec<Rule> = normalized.findings.iter().map(|finding| finding.rule).collect();
    assert_eq!((rules, normalized.module), (vec![rule!("NF.ALG.5.DF-MALFORMED")], program));
}

#[test]
fn flattening_keeps_shape_variables_distinct() {
    let to = |of: &str, var: ShapeVar| cast(None, x(of), tensor([PrimExpr::Var(var)]));
    let m = |number| ShapeVar::numbered("m".into(), number);
    let program = |inner: ShapeVar| {
        let size = Expr::shape([PrimExpr::Var(inner.clone())]);
        seq([bb([bind(v("y"), seq([bb([to("p", inner)])], size)), to("q", m(0))])], x("y"))
    };
    let flat = |inner: ShapeVar| {
        let size = Expr::shape([PrimExpr::Var(inner.clone())]);
        seq([bb([to("p", inner), bind(v("y"), size), to("q", m(0))])], x("y"))
    };
    // The same variable in both scopes: the second cast would turn into a comparison.
    becomes(program(m(0)), flat(m(1)));
    becomes(program(ShapeVar::new("k")), flat(ShapeVar::new("k")));
}

#[test]
fn literals_in_operand_position_are_annotated() {
    let mut literal = func([v("a").annotated(tensor([n("n")]))], seq([], x("a")));
    literal.ret_struct_info = Some(StructInfo::Object);
    let info = FuncStructInfo {
        params: Some([tensor([n("n")])].into()),
        ret: StructInfo::Object,
        derive_func: None,
        pure: None,
    };
    let fresh = v("v1").annotated(StructInfo::Func(info.into()));
    let literal = || Expr::Function(literal.clone().into());
    let map = |arg: Expr| Expr::call(x("p"), vec![arg]);
    becomes(map(literal()), seq([bb([bind(fresh, literal()), bind(v("v2"), map(x("v1")))])], x("v2")));
    let a38 = Reading::literal_only(&[Erratum::A38]);
    let bare = normalize(&mut Cx::new().with_reading(a38), &of(map(literal())));
    assert_eq!(bare, of(seq([bb([bind(v("v1"), literal()), bind(v("v2"), map(x("v1")))])], x("v2"))));
}

#[test]
fn a_leaf_that_may_fail_stays_in_front_of_an_effect() {
    let shape = || Expr::shape([PrimExpr::binary(BinaryOp::Div, PrimExpr::IntImm(1), n("n"))]);
    let log = || ext("log", [x("p")]);
    becomes(
        op("f", [shape(), log()]),
        seq([bb([bind(v("v1"), shape()), bind(v("v2"), log()), bind(v("v3"), op("f", [x("v1"), x("v2")]))])], x("v3")),
    );
    let neg = || f1("relax.exp", x("p"));
    becomes(
        op("f", [shape(), neg()]),
        seq([bb([bind(v("v1"), neg()), bind(v("v2"), op("f", [shape(), x("v1")]))])], x("v2")),
    );
    becomes(
        ext("e", [log()]),
        seq(
            [bb([
                bind(v("v1"), Expr::extern_func("e")),
                bind(v("v2"), log()),
                bind(v("v3"), Expr::call(x("v1"), vec![x("v2")])),
            ])],
            x("v3"),
        ),
    );
}

#[test]
fn the_result_does_not_depend_on_the_order_of_the_module() {
    let f = || ("f", func([v("a")], f1("relax.exp", x("a"))));
    let g = || ("g", func([v("b")], f1("relax.exp", x("b"))));
    let normal = |funcs| normalize(&mut Cx::new(), &module(funcs));
    let (there, back) = (normal([f(), g()]), normal([g(), f()]));
    let body = |module: &IrModule, name: &str| match module.get(name) {
        Some(GlobalFunc::Function(function)) => Some(function.body.clone()),
        Some(GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_)) | None => None,
    };
    assert!(body(&there, "f").is_some());
    assert_eq!((body(&there, "f"), body(&there, "g")), (body(&back, "f"), body(&back, "g")));
}

#[test]
fn depth_and_width_are_no_obstacle() {
    let mut deep = x("p");
    for _ in 0..5_000 {
        deep = f1("relax.exp", deep);
    }
    let wide: Vec<Binding> = (0..20_000).map(|i| bind(v(&format!("w{i}")), f1("relax.exp", x("p")))).collect();
    let program = of(seq([bb(wide)], deep));
    let normal = normalize(&mut Cx::new(), &program);
    assert_eq!(rules(&normal), []);
    let Some(GlobalFunc::Function(f)) = normal.get("f") else { panic!("f is gone") };
    let Expr::SeqExpr(body) = &f.body else { panic!("no SeqExpr") };
    assert_eq!(body.blocks[0].bindings.len(), 25_000);
}
