//! Expectations from the two notations, with the readers of `serde_json` and `ron` as witnesses.

use proptest::prelude::*;

use super::*;
use crate::grammar::{AttrValue, Expr, StructInfo};

/// The data in a RON text as compact JSON.
fn ron(text: &str) -> Result<String, String> {
    ron::read(text, 100).map(|document| json::write(&document)).map_err(|error| error.located(text))
}

fn json(text: &str) -> Result<String, String> {
    json::read(text, 100).map(|document| json::write(&document)).map_err(|error| error.located(text))
}

#[test]
fn structures_variants_and_maps_of_ron_are_maps_of_json() {
    let text = r##"// A comment.
        Case(id: "a", at: 'c', /* and /* another */ one */ raw: r#"x"y"#, pair: (1, -2), map: {"k": [], "l": Unit},
             some: Some(Tensor((ndim: 0x10))), none: None, empty: Shape(), one: Print([true]), big: 1_000, )"##;
    let same = r#"{"Case":{"id":"a","at":"c","raw":"x\"y","pair":[1,-2],"map":{"k":[],"l":"Unit"},"some":{"Some":{"Tensor":{"ndim":16}}},"none":null,"empty":{"Shape":{}},"one":{"Print":[true]},"big":1000}}"#;
    assert_eq!(ron(text).as_deref(), Ok(same));
}

#[test]
fn a_raw_word_is_a_name_whatever_it_says() {
    assert_eq!(ron("[r#None, None, r#true, (r#type: 1)]").as_deref(), Ok(r#"["None",null,"true",{"type":1}]"#));
}

#[test]
fn an_attribute_that_is_none_reads_back() {
    let none = AttrValue::None;
    let text = ron::write_pretty(&none.write());
    assert_eq!(text, "r#None");
    assert_eq!(from_ron::<AttrValue>(&text).unwrap(), none);
    assert_eq!(from_json::<AttrValue>(&json::write(&none.write())).unwrap(), none);
}

#[test]
fn texts_are_unescaped() {
    assert_eq!(ron(r#""a\n\u{e9}\x41\"'""#).as_deref(), Ok(r#""a\néA\"'""#));
    assert_eq!(json(r#""a\n\u00e9\ud83d\ude00\/""#).as_deref(), Ok(r#""a\né😀/""#));
    for broken in [r#""\q""#, r#""\u12""#, r#""\ud83d""#, r#""\ud83dx""#, "\"a\nb\"", r#""a"#] {
        assert!(json(broken).is_err(), "{broken}");
    }
}

#[test]
fn an_error_has_a_place() {
    assert_eq!(json("{\"a\": [1,\n  2 3]}"), Err("2:5: expected `,`, found `3`".to_string()));
    assert_eq!(ron("(a: 1,\n b 2)"), Err("2:4: expected `:`, found `2`".to_string()));
    assert_eq!(json("{\"a\": 1, \"a\": 2}"), Err("1:15: `a` is given twice".to_string()));
    assert_eq!(json("[] []"), Err("1:4: expected the end, found `[`".to_string()));
    assert_eq!(ron(""), Err("1:1: expected a value, found the end".to_string()));
    assert_eq!(ron("/* /* */"), Err("1:9: expected the end of a comment, found the end".to_string()));
}

#[test]
fn a_value_that_does_not_fit_has_a_place() {
    let text = "Tensor(shape: [\"n\"],\n dtype: \"flaot32\")";
    let error = from_ron::<StructInfo>(text).unwrap_err();
    assert_eq!(error.to_string(), "2:9: `flaot32` is not a datatype, such as `float32` or `int64`");
    let error = from_json::<Expr>(r#"{"If": {"cond": {"Var": "x"}}}"#).unwrap_err();
    assert_eq!(error.to_string(), "1:8: `If` needs the field `true_branch` (GRAM.EXPR.IF)");
}

#[test]
fn depth_is_bounded_and_takes_no_stack() {
    let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let work = move || {
        assert!(json::read(&deep(20_000), 20_000).is_ok());
        assert!(json::read(&deep(20_001), 20_000).is_err_and(|error| error.is_too_deep));
        assert!(ron::read(&deep(20_000), 20_000).is_ok());
        assert_eq!(json::write(&json::read(&deep(20_000), 20_000).unwrap()), deep(20_000));
        assert!(ron::read(&"(".repeat(1_000_000), 20_000).is_err_and(|error| error.is_too_deep));
    };
    std::thread::Builder::new().stack_size(512 << 10).spawn(work).unwrap().join().unwrap();
}

#[test]
fn zero_keeps_its_sign() {
    let value = |text| json::value_of(&json::read(text, 1).unwrap());
    assert_eq!(value("-0"), serde_json::json!(-0.0));
    assert_eq!(value("0"), serde_json::json!(0));
}

#[test]
fn spans_enclose_what_was_read() {
    let text = r#" {"a": [1, {"b": "c"}]} "#;
    let document = json::read(text, 10).unwrap();
    let inner = document.get("a").and_then(Node::as_items).map(|items| items[1].span).unwrap();
    assert_eq!(&text[inner.start as usize..inner.end as usize], r#"{"b": "c"}"#);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Our reader accepts the same JSON texts as `serde_json`, with the same data.
    #[test]
    fn json_is_read_as_serde_json_reads_it(text in "([\\[\\]{},: ]|\"[ab\\\\n/]{0,3}\"|-?[0-9.eE+]{1,4}|true|null){0,12}") {
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        let ours = json::read(&text, 100);
        match (&theirs, &ours) {
            (Ok(theirs), Ok(ours)) => prop_assert_eq!(theirs, &json::value_of(ours)),
            // This reader rejects a repeated key.
            (Ok(_), Err(error)) => prop_assert!(error.message.contains("twice"), "{text}: {error}"),
            // This reader accepts a number beyond float64; the type that reads it rejects it.
            (Err(error), Ok(_)) => prop_assert!(error.to_string().contains("out of range"), "{text}: {error}"),
            (Err(_), Err(_)) => {}
        }
    }

    /// Written data is read back unchanged in both notations, and the `ron` library can read the RON.
    #[test]
    fn what_is_written_is_read_back(text in "\\PC{0,8}", number in any::<i64>(), float in any::<f64>()) {
        let node: Node<'_> = NodeData::List(vec![
            Node::text(text.as_str()),
            Node::number(number),
            float.write(),
            Node::variant("Name", NodeData::Struct(vec![("field".into(), NodeData::Null.into())]).into()),
            Node::variant(
                "Pair",
                NodeData::Tuple(vec![NodeData::Bool(true).into(), Node::entry("k", Node::text("v"))]).into(),
            ),
        ]).into();
        let written = ron::write_pretty(&node);
        prop_assert_eq!(json::write(&ron::read(&written, 10).unwrap()), json::write(&node));
        prop_assert!(::ron::from_str::<::ron::Value>(&written).is_ok(), "{written}");
        if float.is_finite() {
            let written = json::write_pretty(&node);
            prop_assert_eq!(json::write(&json::read(&written, 10).unwrap()), json::write(&node));
        }
    }
}
