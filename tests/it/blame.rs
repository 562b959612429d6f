//! `relax-spec blame`, with a recorder of passes that the test controls.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli::{json_lines, run};

/// A program that adds a constant.
fn program(constant: &str) -> String {
    format!(
        "@I.ir_module\nclass Module:\n    @R.function(pure=True)\n    def main(x: R.Tensor((2,), \"float32\")) -> \
         R.Tensor((2,), \"float32\"):\n        y = R.add(x, R.const({constant}, \"float32\"))\n        return y\n"
    )
}

/// A recorder that answers every request.
const ANSWERS: &str = "while read -r line; do LINES; done\n";

/// Blames the passes of a pipeline whose stages are these lines, of a recorder that answers a request so.
fn blamed_with(options: &[&str], stages: &[Value], request: &str) -> (i32, String, String) {
    blamed_of(&program("1.0"), options, stages, request)
}

fn blamed_of(program: &str, options: &[&str], stages: &[Value], request: &str) -> (i32, String, String) {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("program.py");
    fs::write(&file, program).unwrap();
    let lines: String = stages.iter().map(|stage| format!("{stage}\n")).collect();
    fs::write(dir.path().join("lines"), lines).unwrap();
    let script = dir.path().join("adapter.py");
    let recorder = request.replace("LINES", &format!("cat '{}/lines'", dir.path().display()));
    fs::write(dir.path().join("stages.py"), recorder).unwrap();
    let (file, adapter) = (file.display().to_string(), format!("sh {}", script.display()));
    let command: [&str; 6] = ["blame", &file, "--adapter", &adapter, "--format", "json"];
    run(&command.iter().chain(options).copied().collect::<Vec<&str>>())
}

/// With the default pipeline.
fn blamed(stages: &[Value]) -> (i32, String, String) {
    blamed_with(&[], stages, ANSWERS)
}

fn answer(output: &str) -> Value {
    json_lines(output).pop().unwrap_or_default()
}

#[test]
fn the_first_pass_that_is_not_allowed_is_to_blame() {
    let stages = [
        json!({"pass": "input", "text": program("1.0")}),
        json!({"pass": "Nothing"}),
        json!({"pass": "Same", "text": program("1.0")}),
        json!({"pass": "Wrong", "text": program("2.0")}),
        json!({"pass": "WrongAgain", "text": program("3.0")}),
        json!({"done": true}),
    ];
    let (status, output, _) = blamed(&stages);
    assert_eq!(status, 1, "{output}");
    let verdicts: Vec<String> =
        json_lines(&output).iter().filter_map(|line| line["verdict"].as_str().map(str::to_string)).collect();
    let expected = ["unchanged", "unchanged", "unchanged", "not allowed", "not allowed", "not allowed", "not allowed"]
        .map(String::from);
    assert_eq!(verdicts, expected, "{output}");
    assert_eq!(answer(&output)["blamed"], "Wrong", "{output}");
}

/// `ToMixedPrecision` rounds to float16 because it is asked to. A result of another type has nothing to do with that.
#[test]
fn a_pass_that_is_asked_to_round_more_is_not_to_blame_for_it() {
    let narrow = |result: &str| {
        program("1.0").replace(
            "        y = R.add(x, R.const(1.0, \"float32\"))\n",
            &format!(
                "        a = R.astype(x, \"float16\")\n        b = R.add(a, R.const(1.0, \"float16\"))\n        y = \
                 {result}\n"
            ),
        )
    };
    let blamed_by = |pass: &str, result: &str| {
        let stages = [
            json!({"pass": "input", "text": program("1.0")}),
            json!({"pass": pass, "text": narrow(result)}),
            json!({"done": true}),
        ];
        let (_, output, _) = blamed_with(&["--pass", pass], &stages, ANSWERS);
        answer(&output)["blamed"].clone()
    };
    let right = "R.astype(b, \"float32\")";
    assert_eq!(blamed_by("ToMixedPrecision", right), Value::Null);
    assert_eq!(blamed_by("FuseOps", right), "FuseOps");
    assert_eq!(blamed_by("ToMixedPrecision", "R.astype(b, \"float64\")"), "ToMixedPrecision");
    assert_eq!(blamed_by("ToMixedPrecision", "R.astype(R.add(b, b), \"int32\")"), "ToMixedPrecision");
}

#[test]
fn what_cannot_be_read_is_judged_with_the_next_pass() {
    let stages = [
        json!({"pass": "Unreadable", "text": "class Module(:"}),
        json!({"pass": "Behind", "text": program("2.0")}),
        json!({"done": true}),
    ];
    let (status, output, _) = blamed(&stages);
    assert_eq!((status, &answer(&output)["blamed"]), (1, &json!("Unreadable, Behind")), "{output}");
    let (status, output, _) = blamed(&[stages[0].clone(), stages[2].clone()]);
    assert_eq!((status, &answer(&output)["blamed"]), (5, &Value::Null), "{output}");
}

#[test]
fn right_passes_are_not_to_blame() {
    let stages = [json!({"pass": "Same", "text": program("1.0")}), json!({"done": true})];
    let (status, output, _) = blamed(&stages);
    assert_eq!((status, &answer(&output)["answer"]), (0, &json!("no pass is to blame")), "{output}");
}

#[test]
fn a_refusal_names_its_pass_and_a_broken_recorder_is_told() {
    let refused = json!({"error": "TypeError: no", "pass": "Refuses"});
    let (status, output, _) = blamed(&[refused, json!({"done": true})]);
    let answer = answer(&output);
    assert_eq!(
        (status, &answer["refused_by"], &answer["blamed"]),
        (1, &json!("Refuses"), &json!("Refuses")),
        "{output}"
    );
    let (status, _, told) = blamed(&[json!("what?")]);
    assert!(status == 3 && told.contains("recorder"), "{status}: {told}");
    let (status, _, told) = blamed_with(&[], &[], "exit 1\n");
    assert!(status == 3 && told.contains("recorder"), "{status}: {told}");
    let (status, _, told) = run(&["blame", "missing.py", "--adapter", "relax-spec"]);
    assert!(status == 2 && !told.is_empty(), "{status}: {told}");
}

#[test]
fn the_pass_that_ends_the_process_is_to_blame() {
    let stages = [json!({"pass": "Same", "text": program("1.0")}), json!({"begin": "Crashes"})];
    let (status, output, _) = blamed_with(&[], &stages, "read -r line\nLINES\n");
    assert_eq!((status, &answer(&output)["blamed"]), (1, &json!("Crashes")), "{output}");
}

/// A refusal is due to the pass that refuses, or to one in front of a pipeline that accepts the program itself. That
/// of the generation of code is due to the pass without which it works, or to the one that should have lowered an
/// operator.
#[test]
fn a_refusal_is_due_to_what_makes_it() {
    let error = |pass: &str, left: Value| json!({"error": "no", "pass": pass, "left": left});
    let without = |names: Value| json!({"without": names});
    let done = json!({"done": true});
    let lowers = json!({"pass": "LegalizeOps"});
    let refused = |options: &[&str], lines: &[Value]| {
        let (status, output, _) = blamed_with(options, lines, ANSWERS);
        assert_eq!(status, 1, "{output}");
        answer(&output)["blamed"].clone()
    };
    let kills = [error("code generation", json!([])), without(json!(["Kills", "Other"])), done.clone()];
    assert_eq!(refused(&[], &kills), "Kills");
    let leaves = [lowers.clone(), error("code generation", json!(["relax.add"])), without(json!([])), done.clone()];
    assert_eq!(refused(&[], &leaves), "LegalizeOps");
    let unknown = [lowers, error("code generation", json!([])), without(json!([])), done.clone()];
    assert_eq!(refused(&[], &unknown), "code generation");
    let refuses = [error("LegalizeOps", json!([])), without(json!(["Mine"])), done.clone()];
    assert_eq!(refused(&["--pass", "my.py:Mine,default"], &refuses), "Mine");
    assert_eq!(refused(&["--pass", "other.py:Other,default"], &refuses), "LegalizeOps");
    let both = [error("Theirs/Inner", json!([])), without(json!(["Mine"])), done];
    assert_eq!(refused(&["--pass", "Mine,Theirs"], &both), "Theirs/Inner");
}

/// The first difference is the answer, even if TVM refuses the module later.
#[test]
fn a_difference_comes_before_a_refusal() {
    let stages = [
        json!({"pass": "Wrong", "text": program("2.0")}),
        json!({"error": "no", "pass": "Refuses"}),
        json!({"done": true}),
    ];
    let (status, output, _) = blamed(&stages);
    assert_eq!((status, &answer(&output)["blamed"]), (1, &json!("Wrong")), "{output}");
}

/// The properties that a pass must preserve in addition to the meaning, each with a pass that breaks it.
#[test]
fn contracts_are_kept() {
    let same = program("1.0");
    let nested = same.replace("        y = R.add(x, ", "        y = R.add(R.add(x, R.const(0.0, \"float32\")), ");
    for (contract, text) in [
        ("information", same.replace("-> R.Tensor((2,), \"float32\")", "-> R.Tensor(\"float32\", ndim=1)")),
        ("purity", same.replace("pure=True", "pure=False")),
        ("exported names", same.replace("pure=True", "pure=True, private=True")),
        ("normal form", nested.clone()),
        ("no free variable", same.replace("return y", "return z")),
    ] {
        let (status, output, _) = blamed(&[json!({"pass": "Breaks", "text": text}), json!({"done": true})]);
        let lines = json_lines(&output);
        let broken: Vec<&Value> = lines[0]["contracts"].as_array().into_iter().flatten().collect();
        assert!(broken.iter().any(|broken| broken["contract"] == contract), "{contract}: {output}");
        assert!(broken.iter().all(|broken| broken["rule"].is_string()), "{output}");
        assert_eq!((status, &answer(&output)["blamed"]), (1, &json!("Breaks")), "{contract}: {output}");
    }
    // A pass that normalizes must repair its input.
    let given = [json!({"pass": "input", "text": nested}), json!({"pass": "Normalize"}), json!({"done": true})];
    let (_, output, _) = blamed(&given);
    assert_eq!(json_lines(&output)[1]["contracts"][0]["contract"], "normal form", "{output}");
}

/// A program that calls a PrimFunc, which adds a constant.
fn lowered(constant: &str) -> String {
    let prim_func = prim_func(constant);
    format!(
        "{prim_func}    @R.function(pure=True)\n    def main(x: R.Tensor((2,), \"float32\")) -> \
         R.Tensor((2,), \"float32\"):\n        y = R.call_tir(Module.add, (x,), out_sinfo=R.Tensor((2,), \"float32\"))\n\
         \x20       return y\n"
    )
}

fn prim_func(constant: &str) -> String {
    format!(
        "@I.ir_module\nclass Module:\n    @T.prim_func\n    def add(a: T.Buffer((2,), \"float32\"), b: T.Buffer((2,), \
         \"float32\")):\n        for i in range(2):\n            b[i] = a[i] + T.float32({constant})\n\n"
    )
}

/// The verdicts by pass.
fn verdicts(output: &str) -> Vec<(String, String)> {
    let word = |line: &Value, field: &str| line[field].as_str().map(str::to_string);
    json_lines(output).iter().filter_map(|line| Some((word(line, "pass")?, word(line, "verdict")?))).collect()
}

#[test]
fn passes_over_prim_funcs_are_judged_in_the_program() {
    let given = |second: &str, third: &str| {
        vec![
            json!({"pass": "LegalizeOps", "text": lowered("1.0")}),
            json!({"pass": "First", "prim_funcs": true}),
            json!({"pass": "Second", "prim_funcs": true, "text": prim_func(second)}),
            json!({"pass": "Third", "prim_funcs": true, "text": prim_func(third)}),
            json!({"pass": "code generation", "of_prim_funcs": ["Last"]}),
            json!({"done": true}),
        ]
    };
    let told = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(pass, verdict)| (pass.to_string(), verdict.to_string())).collect::<Vec<_>>()
    };
    let (status, output, _) = blamed(&given("0.5 + 0.5", "1.0"));
    let expected = [
        ("LegalizeOps", "allowed"),
        ("the passes over PrimFuncs", "allowed"),
        ("code generation", "unchanged"),
        ("the whole pipeline", "allowed"),
    ];
    assert_eq!((status, verdicts(&output)), (0, told(&expected)), "{output}");
    let (status, output, _) = blamed(&given("1.0", "2.0"));
    let each = [("First", "unchanged"), ("Second", "allowed"), ("Third", "not allowed")];
    assert_eq!((status, &verdicts(&output)[1..4]), (1, &told(&each)[..]), "{output}");
    assert_eq!(answer(&output)["blamed"], "Third", "{output}");
    let script = "while read -r line; do LINES; done\n";
    let (status, output, _) = blamed_with(&["--tir"], &given("1.0", "1.0"), script);
    let each = [("First", "unchanged"), ("Second", "allowed"), ("Third", "allowed")];
    assert_eq!((status, &verdicts(&output)[1..4]), (0, &told(&each)[..]), "{output}");
}

/// What is confirmed is the module at the end, of which the last passes tell only the PrimFuncs.
#[test]
fn a_pass_in_front_of_code_generation_is_confirmed() {
    let lines = |constant: &str| {
        let stages = [
            json!({"pass": "LegalizeOps", "text": lowered(constant)}),
            json!({"pass": "Lower", "prim_funcs": true, "text": prim_func(constant)}),
            json!({"pass": "code generation"}),
            json!({"done": true}),
        ];
        stages.map(|stage| stage.to_string()).join("\n")
    };
    // The recorder is asked a second time, without the pass.
    let recorder = |without: &str| {
        format!("read -r line\nprintf '%s\\n' '{}'\nread -r line\nprintf '%s\\n' '{}'\n", lines("2.0"), lines(without))
    };
    for (without, verdict) in [("1.0", "allowed"), ("2.0", "not allowed")] {
        let (_, output, _) = blamed_with(&[], &[], &recorder(without));
        let last = verdicts(&output).pop();
        let expected = ("the pipeline without LegalizeOps".to_string(), verdict.to_string());
        assert_eq!(last, Some(expected), "{output}");
    }
}

/// The instructions run here, and the compiled function of the library where it is.
#[test]
fn generated_code_is_judged() {
    let stages = [
        json!({"pass": "input", "text": program("1.0")}),
        json!({"pass": "code generation", "library": true}),
        json!({"done": true}),
    ];
    let greeting = json!({
        "id": 0,
        "protocol": 1,
        "functions": [{"name": "compiled.main", "pure": true, "initialized": false}],
        "executable": {
            "text": "@main:\n  call compiled.main in: %0 dst: %1\n  ret %1\n",
            "functions": [{"name": "main", "params": 1, "registers": 2}],
            "constants": [],
            "prim_funcs": "",
        },
    });
    let verdict = |values: [f64; 2]| {
        let result = json!({"Tensor": {"dtype": "float32", "shape": [2], "values": values}});
        let reply = json!({"id": 1, "outcome": "returns", "value": result}).to_string();
        let reply = reply.replace("\"id\":1", "\"id\":'$n'");
        let process = format!(
            "read -r line\nLINES\nread -r line\nprintf '%s\\n' '{greeting}'\nn=0\nwhile read -r line; do n=$((n+1)); \
             printf '%s\\n' '{reply}'; done\n"
        );
        let options = ["--runs", "0", "--arg", "[1.0, 2.0]:float32"];
        let (_, output, _) = blamed_with(&options, &stages, &process);
        (verdicts(&output).get(1).cloned().unwrap_or_default().1, answer(&output)["blamed"].clone(), output)
    };
    let (right, blamed, output) = verdict([2.0, 3.0]);
    assert_eq!((right.as_str(), blamed), ("allowed", Value::Null), "{output}");
    let (wrong, blamed, output) = verdict([2.0, 4.0]);
    assert_eq!((wrong.as_str(), blamed), ("not allowed", json!("code generation")), "{output}");
}

#[test]
fn a_module_in_normal_form_stays_as_it_is() {
    let changed = |constant: &str| json!({"pass": "Normalize", "text": program(constant)});
    let (_, output, _) = blamed(&[changed("1.0"), changed("1.0"), json!({"done": true})]);
    assert_eq!(json_lines(&output)[1]["contracts"][0]["rule"], "NF.IDEMPOTENT", "{output}");
    assert_eq!(answer(&output)["blamed"], "Normalize", "{output}");
}

#[test]
fn a_pass_that_tvm_does_not_have_is_an_error_of_the_command() {
    let stages = [json!({"unknown": "there is no pass `Nonsense`"}), json!({"done": true})];
    let (status, output, error) = blamed_with(&["--pass", "Nonsense"], &stages, ANSWERS);
    assert_eq!((status, output.as_str()), (2, ""));
    assert!(error.contains("there is no pass `Nonsense`"), "{error}");
}

#[test]
fn a_pass_that_does_not_end_is_stopped_and_named() {
    let stages =
        [json!({"begin": "Normalize"}), json!({"pass": "input", "text": program("1.0")}), json!({"begin": "Slow"})];
    let slow = "while read -r line; do LINES; sleep 60; done\n";
    let (status, _, error) = blamed_with(&["--patience", "1"], &stages, slow);
    assert_eq!(status, 5, "{error}");
    assert!(error.contains("Slow") && error.contains("1 s"), "{error}");
}

#[test]
fn a_program_that_is_not_well_formed_is_told() {
    let wrong = program("1.0").replace("y = R.add", "y: R.Tensor((3,), \"float32\") = R.add");
    let stages = [json!({"pass": "input", "text": wrong}), json!({"done": true})];
    let (_, output, _) = blamed_of(&wrong, &[], &stages, ANSWERS);
    let told: Vec<Value> = json_lines(&output).into_iter().filter(|line| line["not_well_formed"].is_string()).collect();
    assert_eq!(told.len(), 1, "{output}");
    assert!(told.iter().all(|line| line["not_well_formed"].to_string().contains("SI.DERIVE.")), "{told:?}");
}

/// A value that differs on arguments on which nothing fails matters more than a check that is lost.
#[test]
fn a_lost_check_comes_behind_another_value() {
    let of = |first: &str, constant: &str| {
        format!(
            "@I.ir_module\nclass Module:\n    @R.function(pure=True)\n    def main(x: R.Tensor((\"n\",), \"float32\")) -> \
             R.Tensor(ndim=1, dtype=\"float32\"):\n{first}        y = R.add(x, R.const({constant}, \"float32\"))\n        return y\n"
        )
    };
    let check = "        z = R.match_cast(x, R.Tensor((2,), \"float32\"))\n";
    let stages = [
        json!({"pass": "input", "text": of(check, "1.0")}),
        json!({"pass": "DropsCheck", "text": of("", "1.0")}),
        json!({"pass": "Wrong", "text": of("", "2.0")}),
        json!({"done": true}),
    ];
    let blamed = |stages: &[Value]| answer(&blamed_of(&of(check, "1.0"), &[], stages, ANSWERS).1)["blamed"].clone();
    assert_eq!(blamed(&stages), "Wrong");
    assert_eq!(blamed(&[stages[0].clone(), stages[1].clone(), stages[3].clone()]), "DropsCheck");
}

#[test]
fn another_function_that_can_be_started_is_judged_too() {
    let of = |constant: &str| {
        program("1.0")
            + &format!(
                "\n    @R.function(pure=True)\n    def decode(x: R.Tensor((2,), \"float32\")) -> R.Tensor((2,), \
                 \"float32\"):\n        y = R.multiply(x, R.const({constant}, \"float32\"))\n        return y\n"
            )
    };
    let stages = [
        json!({"pass": "input", "text": of("3.0")}),
        json!({"pass": "Wrong", "text": of("4.0")}),
        json!({"done": true}),
    ];
    let (status, output, _) = blamed_of(&of("3.0"), &[], &stages, ANSWERS);
    assert_eq!((status, &answer(&output)["blamed"]), (1, &json!("Wrong")), "{output}");
    assert!(json_lines(&output).iter().any(|line| line["entry"] == "decode"), "{output}");
    let (status, output, _) = blamed_of(&of("3.0"), &["--entry", "main"], &stages, ANSWERS);
    assert_eq!((status, &answer(&output)["blamed"]), (0, &Value::Null), "{output}");
    // Without `main` the first one is judged pass by pass.
    let renamed = |constant: &str| of(constant).replace("def main", "def prefill");
    let stages = [json!({"pass": "input", "text": renamed("3.0")}), json!({"done": true})];
    let (status, output, error) = blamed_of(&renamed("3.0"), &[], &stages, ANSWERS);
    assert_eq!(status, 0, "{output}{error}");
    assert!(error.contains("`prefill` is judged pass by pass"), "{error}");
}

#[test]
fn arguments_that_are_given_are_the_only_ones() {
    let of = |bound: &str| program("1.0").replace("R.add(x, R.const(1.0, \"float32\"))", bound);
    let (relu, abs) = (of("R.nn.relu(x)"), of("R.abs(x)"));
    let stages = [json!({"pass": "input", "text": relu}), json!({"pass": "Wrong", "text": abs}), json!({"done": true})];
    let blamed = |options: &[&str]| answer(&blamed_of(&relu, options, &stages, ANSWERS).1)["blamed"].clone();
    assert_eq!(blamed(&[]), "Wrong");
    assert_eq!(blamed(&["--arg", "[1.0, 2.0]:float32"]), Value::Null);
    assert_eq!(blamed(&["--arg", "[1.0, -2.0]:float32"]), "Wrong");
    assert_eq!(blamed(&["--arg", "[1.0, 2.0]:float32", "--runs", "20"]), "Wrong");
}

/// What another pass should have lowered, or is accepted without, is not its own.
#[test]
fn a_pass_over_prim_funcs_that_refuses_is_named() {
    let refused = |left: Value| {
        let error = json!({"error": "no", "pass": "tirx.VectorizeLoop", "left": left});
        let lowering = json!({"pass": "LegalizeOps", "text": program("1.0")});
        answer(&blamed(&[lowering, error, json!({"done": true})]).1)["blamed"].clone()
    };
    assert_eq!(refused(json!([])), "tirx.VectorizeLoop");
    assert_eq!(refused(json!(["relax.add"])), "LegalizeOps");
}

/// A function of the run time is called without the information about its result, which the annotation has.
#[test]
fn annotations_of_calls_of_the_run_time_may_say_more() {
    let impure = program("1.0").replace("pure=True", "pure=False");
    let of = |value: &str| impure.replace("y = R.add(x, R.const(1.0, \"float32\"))", value);
    let cast = of("y = R.reshape(x, R.shape([2]))");
    let lowered = of("y: R.Tensor((2,), \"float32\") = R.call_packed(\"vm.builtin.reshape\", x, R.shape([2]))");
    let stages =
        [json!({"pass": "input", "text": cast}), json!({"pass": "Lowers", "text": lowered}), json!({"done": true})];
    let (status, output, _) = blamed_of(&cast, &[], &stages, ANSWERS);
    assert_eq!((status, &answer(&output)["blamed"]), (0, &Value::Null), "{output}");
}
