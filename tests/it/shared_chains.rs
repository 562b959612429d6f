//! A pair of pairs of pairs is short to write, but has too many parts to traverse. Chains of 64 links must meet limits
//! of time and memory in every reader, command, engine and question. Output that would be too long is refused with one
//! sentence.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

const LINKS: usize = 64;
const SECONDS: u64 = 20;
const KILOBYTES: u64 = 300 << 10;

/// The result of a process.
struct Ended {
    status: Option<i32>,
    out: String,
    err: String,
}

/// Runs a command on some input, with the limits of time and memory for a chain.
fn held(args: &[&str], told: &str) -> Result<Ended, String> {
    let dir = TempDir::new().map_err(|error| error.to_string())?;
    let (input, out, err) = (dir.path().join("in"), dir.path().join("out"), dir.path().join("err"));
    fs::write(&input, told).map_err(|error| error.to_string())?;
    let file = |path: &Path| fs::File::create(path).map_err(|error| error.to_string());
    let stdin = fs::File::open(&input).map_err(|error| error.to_string())?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_relax-spec"));
    command.args(args).stdin(stdin).stdout(file(&out)?).stderr(file(&err)?);
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let ended = within(&mut child);
    let _ = child.kill();
    let _ = child.wait();
    let read = |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let (out, err) = (read(&out).unwrap_or_default(), read(&err).unwrap_or_default());
    Ok(Ended { status: ended?, out, err })
}

fn within(child: &mut Child) -> Result<Option<i32>, String> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok(status.code());
        }
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let most = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()).unwrap_or(0);
        if most > KILOBYTES || start.elapsed() > Duration::from_secs(SECONDS) {
            return Err(format!("after {:?} it takes up {most} kB", start.elapsed()));
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// The chain in Relay, followed by this end.
fn relay(end: &str) -> String {
    let mut text = "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2,), float32]) {\n  %0 = (%x, %x);\n".to_string();
    for i in 1..LINKS {
        let _ = writeln!(text, "  %{i} = (%{0}, %{0});", i - 1);
    }
    format!("{text}{end}\n}}\n")
}

/// The same in the notation of the introduction.
fn introduced() -> String {
    let mut text = "def @main(%x: Tensor<Float, 2>) {\n  let %v0 = (%x, %x);\n".to_string();
    for i in 1..LINKS {
        let _ = writeln!(text, "  let %v{i} = (%v{0}, %v{0});", i - 1);
    }
    format!("{text}  %v{}\n}}\n", LINKS - 1)
}

fn script(end: &str) -> String {
    let mut text = "@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n    t0 = (x, x)\n".to_string();
    for i in 1..LINKS {
        let _ = writeln!(text, "    t{i} = (t{0}, t{0})", i - 1);
    }
    format!("{text}{end}")
}

/// Code that takes the chain apart again, link by link.
fn apart(link: impl Fn(usize) -> String) -> String {
    (0..LINKS).map(link).collect()
}

/// The chain in the format of `tvm.ir.save_json`, with the information of every variable.
fn saved() -> String {
    let mut nodes = vec![
        json!({"type": "None"}),
        json!({"type": "ir.IntImm", "data": {"span": 0, "dtype": "int64", "value": 2}}),
        json!({"type": "ffi.Array", "data": [1]}),
        json!({"type": "relax.ShapeStructInfo", "data": {"span": 0, "values": 2, "ndim": 1}}),
        json!({"type": "relax.expr.ShapeExpr", "data": {"span": 0, "struct_info_": 3, "values": 2}}),
        json!({"type": "relax.TensorStructInfo",
            "data": {"span": 0, "shape": 4, "dtype": "float32", "vdevice": 0, "ndim": 1}}),
    ];
    let mut push = |node: Value| {
        nodes.push(node);
        nodes.len() - 1
    };
    let var = |push: &mut dyn FnMut(Value) -> usize, name: &str, info: usize| {
        let name = push(json!({"type": "ffi.String", "data": name}));
        let vid = push(json!({"type": "relax.Id", "data": {"name_hint": name}}));
        push(json!({"type": "relax.expr.Var", "data": {"span": 0, "struct_info_": info, "vid": vid}}))
    };
    let param = var(&mut push, "x", 5);
    let (mut last, mut info, mut bindings) = (param, 5, Vec::new());
    for i in 0..LINKS {
        let both = push(json!({"type": "ffi.Array", "data": [info, info]}));
        info = push(json!({"type": "relax.TupleStructInfo", "data": {"span": 0, "fields": both}}));
        let both = push(json!({"type": "ffi.Array", "data": [last, last]}));
        let value =
            push(json!({"type": "relax.expr.Tuple", "data": {"span": 0, "struct_info_": info, "fields": both}}));
        last = var(&mut push, &format!("t{i}"), info);
        bindings.push(push(json!({"type": "relax.expr.VarBinding", "data": {"span": 0, "var": last, "value": value}})));
    }
    let bindings = push(json!({"type": "ffi.Array", "data": bindings}));
    let block = push(json!({"type": "relax.expr.BindingBlock", "data": {"span": 0, "bindings": bindings}}));
    let blocks = push(json!({"type": "ffi.Array", "data": [block]}));
    let body = push(
        json!({"type": "relax.expr.SeqExpr", "data": {"span": 0, "struct_info_": info, "blocks": blocks, "body": last}}),
    );
    let params = push(json!({"type": "ffi.Array", "data": [param]}));
    let key = push(json!({"type": "ffi.String", "data": "global_symbol"}));
    let symbol = push(json!({"type": "ffi.String", "data": "main"}));
    let attrs = push(json!({"type": "ffi.Map", "data": [key, symbol]}));
    let attrs = push(json!({"type": "ir.DictAttrs", "data": {"__dict__": attrs}}));
    let function = json!({"span": 0, "struct_info_": 0, "params": params, "body": body, "ret_struct_info": info, "is_pure": true, "attrs": attrs});
    let function = push(json!({"type": "relax.expr.Function", "data": function}));
    let name = push(json!({"type": "ffi.String", "data": "main"}));
    let name = push(json!({"type": "ir.GlobalVar", "data": {"span": 0, "struct_info_": 0, "name_hint": name}}));
    let functions = push(json!({"type": "ffi.Map", "data": [name, function]}));
    let empty = push(json!({"type": "ffi.Map", "data": []}));
    let module = push(json!({"type": "ir.IRModule",
        "data": {"functions": functions, "global_infos": empty, "attrs": 0, "source_map": 0}}));
    let nodes = Value::from(nodes);
    format!("{{\"root_index\": {module}, \"nodes\": {nodes}, \"metadata\": {{\"tvm_version\": \"0.25.0\"}}}}")
}

/// The chain in every readable format, by file names.
fn chains(dir: &Path) -> Vec<String> {
    let python = script(&format!("    return t{}\n", LINKS - 1));
    let taken = apart(|i| match i {
        0 => format!("    p0 = t{}[0]\n", LINKS - 1),
        i => format!("    p{i} = p{}[{}]\n", i - 1, i % 2),
    });
    let taken = script(&format!("{taken}    return p{}\n", LINKS - 1));
    let projected = apart(|i| match i {
        0 => format!("  %p0 = %{}.0;\n", LINKS - 1),
        i => format!("  %p{i} = %p{}.{};\n", i - 1, i % 2),
    });
    let projected = relay(&format!("{projected}  %p{}", LINKS - 1));
    let last = format!("  %{}", LINKS - 1);
    let texts = [
        ("chain.py", python),
        ("taken.py", taken),
        ("chain.relay", relay(&last)),
        ("introduced.relay", introduced()),
        ("taken.relay", projected),
        ("saved.json", saved()),
    ];
    let mut names = Vec::new();
    for (name, text) in texts {
        let path = dir.join(name);
        fs::write(&path, text).unwrap();
        names.push(path.display().to_string());
    }
    for form in ["ron", "json"] {
        let path = dir.join(format!("chain.{form}")).display().to_string();
        let ended = held(&["convert", &names[0], "--to", form, "--output", &path], "").unwrap();
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        names.push(path);
    }
    names
}

#[test]
fn chains_are_linear_in_every_reader_and_command() {
    let dir = TempDir::new().unwrap();
    let commands: &[(&str, &[i32])] = &[
        ("check FILE", &[0]),
        ("check FILE --edition 2023-12", &[0]),
        ("check FILE --edition 2024-04", &[0]),
        ("types FILE", &[0]),
        ("normalize FILE", &[0]),
        ("convert FILE --to tvmscript", &[0]),
        ("convert FILE --to ron", &[0]),
        ("convert FILE --to json", &[0]),
        ("build FILE", &[0]),
        ("run FILE --arg [1,2]:float32", &[0]),
        ("run FILE --arg [1,2]:float32 --trace", &[0]),
        ("run FILE --arg [1,2]:float32 --format json", &[0, 2]),
        ("run FILE --arg [1,2]:float32 --engine vm", &[0]),
        ("run FILE --arg [1,2]:float32 --engine vm --trace", &[0]),
        ("refine FILE FILE --runs 20", &[0, 5]),
    ];
    let mut wrong = Vec::new();
    for file in chains(dir.path()) {
        for (line, statuses) in commands {
            let line = line.replace("FILE", &file);
            let args: Vec<&str> = line.split(' ').collect();
            match held(&args, "") {
                Ok(ended) if ended.status.is_some_and(|status| statuses.contains(&status)) => {}
                Ok(ended) => wrong.push(format!("{line}: {:?} {}{}", ended.status, ended.out, ended.err)),
                Err(error) => wrong.push(format!("{line}: {error}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The questions about a program and about a text of Relay, with their further arguments.
const ABOUT_PROGRAMS: &[(&str, &str)] = &[
    ("parse", ""),
    ("well_formed", ""),
    ("normal_form", ""),
    ("normalize", ""),
    ("type_check", ""),
    ("check", ""),
    ("derive_function", r#", "main""#),
    ("derive_var", r#", "main", "t63""#),
    ("evaluate", r#", "main", ARGS"#),
    ("evaluate_identity", r#", "main", ARGS"#),
    ("evaluate_compiled", r#", "main", ARGS"#),
    ("trial", r#", "text", "main", [ARGS]"#),
    ("refine", r#", PROGRAM, "main", [ARGS]"#),
    ("relay_check", ""),
    ("relay_print", ""),
    ("relay_infer", ""),
    ("relay_environment", ""),
    ("relay_convert", ""),
    ("relay_evaluate", r#", "main", ARGS"#),
];

#[test]
fn chains_are_linear_in_every_question() {
    let args = r#"[{"Tensor": {"dtype": "float32", "shape": [2], "values": [1, 2]}}]"#;
    let last = LINKS - 1;
    let (python, relay) = (script(&format!("    return t{last}\n")), relay(&format!("  %{last}")));
    let mut wrong = Vec::new();
    for (op, rest) in ABOUT_PROGRAMS {
        let program = match *op {
            "parse" => json!(python).to_string(),
            _ if op.starts_with("relay") => json!(relay).to_string(),
            _ => json!({"Script": python}).to_string(),
        };
        let rest = rest.replace("ARGS", args).replace("PROGRAM", &program);
        let line = format!("{{\"id\": 1, \"op\": \"{op}\", \"args\": [{program}{rest}]}}\n");
        match held(&["adapter"], &line) {
            Ok(ended) => {
                let reply: Value = serde_json::from_str(&ended.out).unwrap_or_default();
                let known = matches!(reply["outcome"].as_str(), Some("answer" | "unsupported"));
                if ended.status != Some(0) || !known {
                    wrong.push(format!("{op}: {:?} {}{}", ended.status, ended.out, ended.err));
                }
            }
            Err(error) => wrong.push(format!("{op}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A definition that applies the previous one twice has a type of twice the depth, and a value with as many parts. The
/// last one cannot be stored.
#[test]
fn what_doubles_with_every_definition_ends_within_its_limits() {
    let mut text = "#[version = \"0.0.5\"]\ndef @d0(%x) { (%x, %x) }\n".to_string();
    for i in 1..LINKS {
        let _ = writeln!(text, "def @d{i}(%x) {{ @d{0}(@d{0}(%x)) }}", i - 1);
    }
    let _ = writeln!(text, "def @main(%x: Tensor[(2,), float32]) {{ @d{}(%x) }}", LINKS - 1);
    let args = r#"[{"Tensor": {"dtype": "float32", "shape": [2], "values": [1, 2]}}]"#;
    for (op, rest) in ABOUT_PROGRAMS.iter().filter(|(op, _)| op.starts_with("relay")) {
        let rest = rest.replace("ARGS", args);
        let line = format!("{{\"id\": 1, \"op\": \"{op}\", \"args\": [{}{rest}]}}\n", json!(text));
        let ended = held(&["adapter"], &line).unwrap_or_else(|error| panic!("{op}: {error}"));
        assert_eq!(ended.status, Some(0), "{op}: {}", ended.err);
        let reply: Value = serde_json::from_str(&ended.out).unwrap();
        assert!(matches!(reply["outcome"].as_str(), Some("answer" | "rejected" | "unsupported")), "{op}: {reply}");
    }
}
