//! Packed functions from another process.

use tempfile::TempDir;

use super::{file, run};

const PROCESS: &str = r#"
import json, sys, time

FUNCTIONS = [{"name": "mine.double_all", "pure": True}, {"name": "mine.clear"}, {"name": "mine.refuse"},
             {"name": "mine.crash"}, {"name": "mine.hang"}, {"name": "mine.babble"}]


def call(function, args):
    if function == "mine.double_all":
        data = args[0]["Tensor"]
        size = len(data["bits"]) // 16
        ints = [int.from_bytes(bytes.fromhex(data["bits"][16 * i:16 * i + 16]), "little", signed=True) for i in range(size)]
        return {"outcome": "returns", "value": {"Tensor": {"dtype": "int64", "shape": data["shape"], "values": [2 * i for i in ints]}}}
    if function == "mine.clear":
        data = args[0]["Tensor"]
        zeros = {"Tensor": {**data, "bits": "0" * len(data["bits"])}}
        return {"outcome": "returns", "value": {"Arg": 0}, "mutated": [[0, zeros]]}
    if function == "mine.refuse":
        return {"outcome": "raises", "message": "not today"}
    if function == "mine.crash":
        sys.exit("out of order")
    if function == "mine.hang":
        time.sleep(600)
    return {"no": "outcome"}


for line in sys.stdin:
    request = json.loads(line)
    if request["op"] == "hello":
        reply = {"id": 0, "protocol": 1, "functions": FUNCTIONS}
    else:
        reply = {"id": request["id"], **call(request["function"], request["args"])}
    print(json.dumps(reply), flush=True)
"#;

const PROGRAM: &str = r#"
@I.ir_module
class Module:
    @R.function(pure=False)
    def double(x: R.Tensor((2,), "int64")) -> R.Object:
        y = R.call_packed("mine.double_all", x, sinfo_args=R.Tensor((2,), "int64"))
        z = R.call_packed("relax_spec.add", y, x, sinfo_args=R.Tensor((2,), "int64"))
        return z

    @R.function(pure=False)
    def clear(x: R.Tensor((2,), "int64")) -> R.Object:
        y = R.call_packed("mine.clear", x, sinfo_args=R.Object)
        same = R.call_packed("relax_spec.same_object", x, y, sinfo_args=R.Object)
        return (x, same)

    @R.function(pure=False)
    def refuse(x: R.Tensor((2,), "int64")) -> R.Object:
        y = R.call_packed("mine.refuse", x, sinfo_args=R.Object)
        return y

    @R.function(pure=False)
    def crash(x: R.Tensor((2,), "int64")) -> R.Object:
        y = R.call_packed("mine.crash", x, sinfo_args=R.Object)
        return y

    @R.function(pure=False)
    def hang(x: R.Tensor((2,), "int64")) -> R.Object:
        y = R.call_packed("mine.hang", x, sinfo_args=R.Object)
        return y

    @R.function(pure=False)
    def babble(x: R.Tensor((2,), "int64")) -> R.Object:
        y = R.call_packed("mine.babble", x, sinfo_args=R.Object)
        return y
"#;

fn call(entry: &str) -> (i32, String, String) {
    let dir = TempDir::new().unwrap();
    let (process, program) = (file(&dir, "mine.py", PROCESS), file(&dir, "program.py", PROGRAM));
    let process = format!("python3 '{process}'");
    let args = ["run", &program, "--entry", entry, "--arg", "[3, 4]:int64", "--extern", &process];
    run(&[&args[..], &["--extern-timeout", "2"]].concat())
}

#[test]
fn a_function_of_a_process_is_called_with_values_and_returns_one() {
    // 2 * [3, 4] + [3, 4]. Both functions are pure, so there is no effect.
    assert_eq!(call("double"), (0, "[9, 12]:int64\n".into(), String::new()));
}

#[test]
fn what_it_mutates_is_seen_through_the_aliases_and_its_argument_returns_as_itself() {
    let (status, out, err) = call("clear");
    assert_eq!((status, err.as_str()), (0, ""));
    assert_eq!(out.lines().last(), Some("([0, 0]:int64, true:bool)"));
    assert!(out.starts_with("effect: "), "{out}");
}

#[test]
fn an_error_that_it_raises_is_one_of_the_program() {
    let (status, _, err) = call("refuse");
    assert_eq!(status, 1);
    assert!(err.contains("PURE.EFFECT.ABORT") && err.contains("mine.refuse raised an error: not today"), "{err}");
}

#[test]
fn a_process_that_fails_is_told_apart_from_the_program() {
    for (entry, said) in [("crash", "out of order"), ("hang", "within 2 s"), ("babble", "broke the protocol")] {
        let (status, _, err) = call(entry);
        assert_eq!(status, 3, "{entry}: {err}");
        assert!(err.contains(&format!("mine.{entry}")) && err.contains(said), "{entry}: {err}");
    }
    let dir = TempDir::new().unwrap();
    let program = file(&dir, "program.py", PROGRAM);
    for command in ["no-such-program-anywhere", "false", "echo {}"] {
        let args = ["run", &program, "--entry", "double", "--arg", "[3, 4]:int64", "--extern", command];
        assert_eq!(run(&args).0, 3, "{command}");
    }
}
