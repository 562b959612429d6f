//! What `check` reads, and how it sums up a directory.

use std::fs;

use tempfile::TempDir;

use super::{BAD, GOOD, file, json_lines, relax_spec, run, run_with};

#[test]
fn what_is_no_program_is_unreadable() {
    let dir = TempDir::new().unwrap();
    let garbage: Vec<u8> = (0u32..1_000_000).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let ascii: Vec<u8> = garbage.iter().map(|byte| b' ' + byte % 95).collect();
    let inputs = [
        file(&dir, "empty.py", ""),
        file(&dir, "blank.py", "  \n\n"),
        file(&dir, "garbage.py", &garbage),
        file(&dir, "ascii.py", &ascii),
        file(&dir, "invalid.py", b"x = '\xff'\n"),
        file(&dir, "deep.py", format!("x = {}{}\n", "(".repeat(10_000), ")".repeat(10_000))),
        file(&dir, "deep.json", "[".repeat(1_000_000)),
        file(&dir, "deep.ron", "(".repeat(1_000_000)),
        file(&dir, "version.json", "{\"version\": 99}"),
        file(&dir, "text.ron", "(funcs: 3)"),
        dir.path().join("no-such-file.py").display().to_string(),
    ];
    for input in &inputs {
        for command in ["check", "run"] {
            let (status, out, err) = run(&[command, input]);
            assert_eq!(status, 2, "{command} {input}: {out}{err}");
            assert!(err.contains("error"), "{command} {input}: {err}");
        }
    }
}

#[test]
fn a_directory_is_a_program_only_where_it_holds_some() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().display().to_string();
    assert_eq!(run(&["check", &path]).0, 2);
    assert_eq!(run(&["run", &path]).0, 2);
    fs::create_dir(dir.path().join("sub")).unwrap();
    file(&dir, "sub/one.json", GOOD);
    file(&dir, "two.json", BAD);
    let (status, out, _) = run(&["check", &path]);
    assert_eq!(status, 1);
    assert!(out.contains("2 files: "), "{out}");
}

#[test]
fn a_directory_is_summed_up() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().display().to_string();
    for i in 0..20 {
        file(&dir, &format!("good{i}.json"), GOOD);
    }
    let (status, out, err) = run(&["check", &path]);
    assert_eq!(
        (status, out.as_str(), err.as_str()),
        (0, "20 files: 0 errors, 0 warnings; edition 2023-02, the default\n", "")
    );
    for i in 0..3 {
        file(&dir, &format!("bad{i}.json"), BAD);
    }
    let (status, out, _) = run(&["check", &path]);
    assert_eq!(status, 1);
    assert!(out.ends_with("23 files: 3 errors, 0 warnings; edition 2023-02, the default\n"), "{out}");
    // The order is that of the names, whichever check ends first.
    let at = |name: &str| out.find(name).unwrap();
    assert!(at("bad0.json") < at("bad1.json") && at("bad1.json") < at("bad2.json"), "{out}");
    file(&dir, "unreadable.json", "{");
    let (status, out, err) = run(&["check", &path]);
    assert_eq!(status, 2);
    assert!(
        out.ends_with("24 files: 3 errors, 0 warnings, 1 unreadable; edition 2023-02, the default\n")
            && err.contains("unreadable.json"),
        "{out}{err}"
    );
}

#[test]
fn what_is_wrong_elsewhere_is_told_too() {
    let dir = TempDir::new().unwrap();
    let text = "@I.ir_module\nclass Module:\n    @R.function\n    def f(x: R.Tensor((3,), \"float32\")):\n        return nowhere\n\n    @R.function\n    def g(x: R.Tensor((3,), \"float32\")):\n        y = x[0]\n        return y\n";
    let (status, out, _) = run(&["check", &file(&dir, "two.py", text)]);
    assert_eq!(status, 1);
    assert!(out.contains("error[WF.2.BOUND]") && out.contains("error[TC.TGI.NOTTUPLE]"), "{out}");
    assert!(out.contains("1 file: 2 errors"), "{out}");
}

#[test]
fn programs_of_2022_are_read_by_their_mark() {
    let dir = TempDir::new().unwrap();
    let ron = r#"(ast: "2022-06", funcs: [("main", Function(params: [(vid: "s", type_annotation: Shape(ndim: 1))],
        body: SeqExpr(blocks: [(bindings: [MatchShape(value: Var("s"), pattern: ["n"], var: (vid: "t"))])], body: Var("t")),
        ret_type: Shape(ndim: 1), attrs: {"global_symbol": Str("main")}))])"#;
    let (status, out, err) = run(&["convert", &file(&dir, "old.ron", ron), "--to", "tvmscript"]);
    assert_eq!(status, 0, "{err}");
    assert!(out.contains("R.match_cast(s, R.Shape([n]))"), "{out}");
}

#[test]
fn data_that_breaks_the_grammar_is_told_with_its_rule() {
    let dir = TempDir::new().unwrap();
    let body = r#"{"If": {"cond": {"Var": "x"}, "true_branch": {"Var": "x"}}}"#;
    let text = format!(r#"{{"funcs": [["f", {{"Function": {{"params": [{{"var": "x"}}], "body": {body}}}}}]]}}"#);
    let (status, _, err) = run(&["check", &file(&dir, "if.json", text)]);
    assert_eq!(status, 2);
    assert!(err.contains("GRAM.EXPR.IF") && err.contains("false_branch"), "{err}");
}

#[test]
fn findings_name_place_rule_and_reason() {
    let dir = TempDir::new().unwrap();
    let text = "@R.function\ndef main(x: R.Tensor((3,), \"float32\")) -> R.Tensor((3,), \"float32\"):\n    y = R.add(x, nowhere)\n    return y\n";
    let path = file(&dir, "bad.py", text);
    let (status, out, _) = run(&["check", &path]);
    assert_eq!(status, 1);
    assert!(out.contains("error[WF.2.BOUND]") && out.contains("bad.py:3:18"), "{out}");

    let (status, out, _) = run(&["check", "--format", "json", &path]);
    assert_eq!(status, 1);
    let findings = json_lines(&out);
    let found = findings.iter().find(|finding| finding["rule"] == "WF.2.BOUND").unwrap();
    assert_eq!((&found["start"]["line"], &found["start"]["column"]), (&3.into(), &18.into()));
    assert_eq!(found["code"], "E[WF.2.BOUND]");
}

#[test]
fn a_program_comes_from_standard_input_too() {
    let mut command = relax_spec(&["check", "-"]);
    command.write_stdin(GOOD);
    let (status, out, err) = run_with(command);
    assert_eq!(status, 0, "{out}{err}");
}

#[test]
fn a_file_that_cannot_be_started_is_a_fragment_unless_it_claims_to_be_a_program() {
    let dir = TempDir::new().unwrap();
    let text = "@R.function(private=True)\ndef f(x: R.Tensor((3,), 'float32')) -> R.Object:\n    return x\n";
    let path = file(&dir, "fragment.py", text);
    let (status, out, _) = run(&["check", &path]);
    assert!(status == 0 && out.contains("note:") && out.contains("WF.11"), "{out}");
    let (status, out, _) = run(&["check", "--program", &path]);
    assert!(status == 1 && out.contains("error[WF.11]"), "{out}");
    let text = text.replace("return x", "return x[0]");
    let (_, out, _) = run(&["check", &file(&dir, "wrong.py", text)]);
    assert!(out.contains("error[TC.TGI.NOTTUPLE]"), "{out}");
}

#[test]
fn functions_may_share_the_names_of_parameters() {
    let dir = TempDir::new().unwrap();
    let function =
        |name: &str| format!("@R.function\ndef {name}(x: R.Tensor(('n',), 'float32')) -> R.Object:\n    return x\n");
    let path = file(&dir, "shared.py", function("f") + &function("g"));
    let (status, out, _) = run(&["check", &path]);
    assert!(status == 0 && !out.contains("note:"), "{out}");
    let again = "@R.function\ndef f(x: R.Tensor((3,), 'float32')):\n    x = R.add(x, x)\n    return x\n";
    let (_, out, _) = run(&["check", &file(&dir, "again.py", again)]);
    assert!(out.matches("in the literal reading").count() == 1 && out.contains("WF.2.ONCE"), "{out}");
}

#[test]
fn a_function_type_needs_no_purity() {
    let (status, out, err) = run(&["judge", "lub", "Func((Object) -> Object)", "Func((Object) -> Object, impure)"]);
    assert_eq!((status, out.as_str()), (0, "Func((Object) -> Object, impure)\n"), "{err}");
}

#[test]
fn all_inputs_of_call_tir_may_be_in_a_variable() {
    let dir = TempDir::new().unwrap();
    let text = "@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def minus(a: T.handle, b: T.handle, c: T.handle):
        A = T.match_buffer(a, (2,), 'float32')
        B = T.match_buffer(b, (2,), 'float32')
        C = T.match_buffer(c, (2,), 'float32')
        for i in range(2):
            with T.sblock('C'):
                v = T.axis.spatial(2, i)
                C[v] = A[v] - B[v]
    @R.function
    def main(x: R.Tensor((2,), 'float32'), y: R.Tensor((2,), 'float32')) -> R.Object:
        cls = Module
        t = TUPLE
        z = R.call_tir(cls.minus, t, out_sinfo=R.Tensor((2,), 'float32'))
        return z
    @R.function(private=True)
    def pair(x: R.Tensor((2,), 'float32'), y: R.Tensor((2,), 'float32')) -> R.Tuple(R.Tensor((2,), 'float32'), R.Tensor((2,), 'float32')):
        return (x, y)
";
    // The call gives a tuple, although this is not visible at that place.
    for tuple in ["(x, y)", "cls.pair(x, y)"] {
        let path = file(&dir, "tuple.py", text.replace("TUPLE", tuple));
        let (_, json, _) = run(&["convert", &path, "--to", "json"]);
        for path in [path, file(&dir, "tuple.json", json)] {
            let (status, out, err) = run(&["run", &path, "--arg", "[5, 7]:float32", "--arg", "[1, 2]:float32"]);
            assert_eq!((status, out.trim()), (0, "[4.0, 5.0]:float32"), "{err}");
        }
    }
}
