//! Expectations derived from the productions of the grammar.

use super::*;
use crate::book::{Edition, Rule};
use crate::data::recognize;
use crate::generate::Tape;
use crate::grammar::{Expr, GlobalFunc, StructInfo};
use crate::programs::{ProgramSource, Restriction};

/// A module whose only function has this body.
fn json(body: &str) -> String {
    format!(r#"{{"funcs": [["f", {{"Function": {{"params": [{{"var": "x"}}], "body": {body}}}}}]]}}"#)
}

fn body(notation: DataNotation, text: &str) -> DataResult<Expr> {
    let module = decode(&mut Cx::new(), notation, text, Profile::Merged)?;
    match module.get("f") {
        Some(GlobalFunc::Function(function)) => Ok(function.body.clone()),
        other => panic!("{other:?}"),
    }
}

/// The broken rule, and the text of the node that breaks it.
fn refused(text: &str) -> (Option<Rule>, String) {
    let text = json(text);
    let error = body(DataNotation::Json, &text).expect_err(&text);
    (error.rule, text[error.span.start as usize..error.span.end as usize].to_string())
}

#[test]
fn ron_and_json_are_the_same_data() {
    let ron = r#"(funcs: [("f", Function(params: [(var: "x")], body: Tuple(fields: [
        Var("x"), ShapeExpr(values: [{"Add": ["n", 1]}]), DataTypeImm(value: Int(bits: 32, lanes: 1)),
        Call(op: ExternFunc(global_symbol: "g"), args: [], type_args: [Shape(ndim: 2), Object, Tuple([Object])]),
    ]), attrs: {"global_symbol": Str("f")}))])"#;
    let same = r#"{"funcs": [["f", {"Function": {"params": [{"var": "x"}], "attrs": {"global_symbol": {"Str": "f"}},
        "body": {"Tuple": {"fields": [{"Var": "x"}, {"ShapeExpr": {"values": [{"Add": ["n", 1]}]}},
        {"DataTypeImm": {"value": "int32"}}, {"Call": {"op": {"ExternFunc": {"global_symbol": "g"}}, "args": [],
        "sinfo_args": [{"Shape": {"ndim": 2}}, "Object", {"Tuple": ["Object"]}]}}]}}}}]]}"#;
    let read = |notation, text| decode(&mut Cx::new(), notation, text, Profile::Merged).unwrap();
    assert_eq!(read(DataNotation::Ron, ron), read(DataNotation::Json, same));
}

#[test]
fn a_missing_field_is_told_with_its_place() {
    let fields = r#"{"cond": {"Var": "x"}, "true_branch": {"Var": "x"}}"#;
    let found = refused(&format!(r#"{{"If": {fields}}}"#));
    assert_eq!(found, (Some(rule!("GRAM.EXPR.IF")), fields.to_string()));
}

#[test]
fn a_dimension_is_no_expression() {
    assert_eq!(refused("3").0, Some(rule!("GRAM.PRIM.POSITION")));
    assert_eq!(refused(r#"{"Add": ["n", 1]}"#).0, Some(rule!("GRAM.PRIM.POSITION")));
    assert_eq!(refused(r#""n""#).0, Some(rule!("GRAM.PRIM.SHAPEVAR-ONLY-IN-PRIM")));
}

#[test]
fn what_no_rule_forbids_by_name_is_refused_all_the_same() {
    assert_eq!(refused(r#"{"While": {"cond": {"Var": "x"}}}"#).0, None);
    assert_eq!(refused("true").0, None);
    assert_eq!(refused("null").0, Some(rule!("GRAM.EXPR.FUNCTION")));
}

#[test]
fn programs_of_2022_are_read_from_ron_too() {
    let text = r#"(ast: "2022-06", funcs: [("f", Function(
        params: [(vid: "s", type_annotation: Shape(ndim: 1))], ret_type: Shape(ndim: -1),
        body: SeqExpr(blocks: [(bindings: [
            MatchShape(value: Var("s"), pattern: ["n"], var: (vid: "t")),
        ])], body: Var("t"))))])"#;
    let Ok(Expr::SeqExpr(seq)) = body(DataNotation::Ron, text) else { panic!() };
    let crate::grammar::Binding::MatchCast(cast) = &seq.blocks[0].bindings[0] else { panic!("{seq:?}") };
    assert_eq!(cast.struct_info, StructInfo::shape([crate::grammar::PrimExpr::var("n")]));
}

#[test]
fn deep_data_is_read() {
    let deep = |depth: usize| {
        let (open, close) = (r#"{"Tuple": {"fields": ["#.repeat(depth), "]}}".repeat(depth));
        json(&format!(r#"{open}{{"Var": "x"}}{close}"#))
    };
    // Dropping a deep tree needs stack.
    let thread = std::thread::Builder::new().stack_size(256 << 20);
    let work = move || {
        assert!(body(DataNotation::Json, &deep(3_000)).is_ok());
        assert!(body(DataNotation::Json, &deep(4_000)).is_err());
    };
    thread.spawn(work).unwrap().join().unwrap();
}

#[test]
fn every_generated_program_is_recognized() {
    let source = ProgramSource::of(&[], Restriction::of_laws(Edition::default()));
    for seed in 0..20 {
        let module = source.of_tape(Tape::from_seed(seed, 400)).module;
        assert_eq!(recognize(&mut Cx::new(), &module), Ok(()));
    }
}
