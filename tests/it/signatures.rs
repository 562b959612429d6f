//! The table of TVM's signatures, `conformance/signatures.txt`. Each parameter of each function may be given by
//! position and by name, in every release, under `R.` and by its Python path.

use relax_spec::grammar::IrModule;
use relax_spec::ops::{self, AttrKind, OpParam};
use relax_spec::syntax::tvmscript::{Dialect, parse_module, print_module};

const TABLE: &str = include_str!("../../conformance/signatures.txt");

/// Functions that no program calls: they are of the compiler and of the run-time system.
const NO_CALLS: [&str; 2] = ["register_gradient", "render_object"];

/// Functions that every release refuses without an `R.DTensor`, of which the text knows nothing.
const OF_DISTRIBUTED_TENSORS: [&str; 2] = ["dist.call_tir", "dist.const"];

const DISTRIBUTED_TENSOR: &str = "R.DTensor((2,), \"float32\", \"mesh[0]\", \"R\")";

struct Signature {
    name: &'static str,
    releases: &'static str,
    params: Vec<&'static str>,
}

fn table() -> Vec<Signature> {
    let rows = TABLE.lines().map(|line| {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let [name, releases, params] = columns[..] else { panic!("{line}") };
        let names = split(params).into_iter().map(|param| param.split_once('=').map_or(param, |(name, _)| name));
        Signature { name, releases, params: names.collect() }
    });
    rows.filter(|row| !NO_CALLS.contains(&row.name.trim_start_matches("base."))).collect()
}

/// The parameters, separated at commas outside of brackets.
fn split(params: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in params.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(params[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(params[start..].trim());
    parts.into_iter().filter(|part| !part.is_empty()).collect()
}

/// A valid argument for a parameter.
fn argument(op: Option<&ops::OpDef>, param: &str, at: usize) -> String {
    let known = match param {
        "gvar" => "cls.f",
        "device_mesh" => "\"mesh[0]\"",
        "placement" => "\"S[0]\"",
        "struct_info" | "ty" => DISTRIBUTED_TENSOR,
        "func" | "func_name" => "\"f\"",
        "args" => "(x0, x1)",
        "out_sinfo" | "out_ty" => "R.Tensor((2,), \"float32\")",
        "sinfo_args" | "ty_args" => "(R.Object,)",
        "inplace_indices" => "[0]",
        "tir_vars" => "R.shape([3])",
        "te_grad_name" | "format" | "op" => "\"relax.f\"",
        "te_grad_kwargs" => "{\"k\": 1}",
        "format_args" => "(x0,)",
        "dst_vdevice" => "R.device(1, 0)",
        "memory_scope" | "storage_scope" => "R.str(\"global\")",
        "index_map" => "lambda i, j: (j, i)",
        "out_dtype" => "\"float32\"",
        _ => "",
    };
    if !known.is_empty() {
        return known.to_string();
    }
    let named = |name: &str| name == param;
    let found = op.into_iter().flat_map(|op| op.params).find_map(|known| match known {
        OpParam::Flag(name, _) if named(name) => Some("R.prim_value(True)".to_string()),
        OpParam::ShapeArg(name) if named(name) => Some("(2, 3)".to_string()),
        OpParam::DtypeArg(name) if named(name) => Some("\"float32\"".to_string()),
        OpParam::Attr(attr) if named(attr.name) => Some(match attr.kind {
            AttrKind::DataType => "\"float32\"".to_string(),
            _ => (at + 2).to_string(),
        }),
        OpParam::Arg(_)
        | OpParam::OptionalArg(_)
        | OpParam::Flag(..)
        | OpParam::ShapeArg(_)
        | OpParam::DtypeArg(_)
        | OpParam::Rest(_)
        | OpParam::Attr(_) => None,
    });
    found.unwrap_or_else(|| format!("x{at}"))
}

/// The program that calls a function with these arguments.
fn program(callee: &str, arguments: &[String]) -> Result<IrModule, String> {
    let params: Vec<String> = (0..16).map(|at| format!("x{at}: R.Object")).collect();
    let text = format!(
        "@I.ir_module\nclass Module:\n    @R.function\n    def main({}):\n        cls = Module\n        y = {callee}({})\n        return y\n",
        params.join(", "),
        arguments.join(", ")
    );
    parse_module(&text).map_err(|error| format!("{callee}({}): {}", arguments.join(", "), error.message))
}

/// Whether TVMScript knows a function under `R.`, which does not depend on its file.
fn is_under_r(name: &str) -> bool {
    const SPACES: [&str; 9] = ["nn", "image", "vision", "grad", "memory", "vm", "builtin", "ccl", "dist"];
    match name.split_once('.') {
        None => true,
        Some((space, rest)) => SPACES.contains(&space) && !rest.contains('.'),
    }
}

/// The spellings of a function: by its path in Python, and under `R.` if TVMScript knows it there. Those of `R.dist`
/// are of the parser alone.
fn callees(name: &str) -> Vec<String> {
    let prefixes: &[&str] = match (name.starts_with("dist."), is_under_r(name)) {
        (true, _) => &["R."],
        (false, true) => &["relax.op.", "tvm.relax.op.", "R."],
        (false, false) => &["relax.op.", "tvm.relax.op."],
    };
    prefixes.iter().map(|prefix| format!("{prefix}{name}")).collect()
}

/// The operator that a function calls, if it is one.
fn operator(name: &str) -> Option<&'static ops::OpDef> {
    let words: Vec<&str> = name.split('.').collect();
    let last = words.last()?;
    let candidates = [
        format!("relax.{name}"),
        format!("relax.vision.{last}"),
        format!("relax.dist.{last}"),
        format!("relax.{last}"),
        format!("relax.builtin.{last}"),
    ];
    candidates.iter().find_map(|name| ops::lookup(name))
}

#[test]
fn each_parameter_is_given_by_place_and_by_name() {
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for Signature { name, releases, params } in table() {
        if OF_DISTRIBUTED_TENSORS.contains(&name) {
            continue;
        }
        let op = operator(name);
        for callee in callees(name) {
            // Parameters after a star have no positions.
            let placed = params.iter().position(|param| param.starts_with('*')).map_or(0, |at| at + 1);
            let last = if placed > 0 { placed } else { params.len() };
            let given = params.iter().filter(|param| !param.starts_with("**")).enumerate();
            let given: Vec<(&str, String)> = given.map(|(at, param)| (*param, argument(op, param, at))).collect();
            let call = |by_place: usize| {
                let arguments = given.iter().enumerate().map(|(at, (param, value))| match at < by_place {
                    true => value.clone(),
                    false => format!("{param}={value}"),
                });
                program(&callee, &arguments.collect::<Vec<_>>())
            };
            let trees: Vec<_> = (placed..=last).map(call).collect();
            compared += trees.len() - 1;
            for (tree, by_place) in trees.iter().zip(placed..) {
                match (tree, &trees[0]) {
                    (Err(error), _) => wrong.push(error.clone()),
                    (Ok(tree), Ok(first)) if tree == first => {}
                    (Ok(_), Ok(_)) => {
                        wrong.push(format!("{callee} of {releases}: {by_place} arguments by place differ"))
                    }
                    (Ok(_), Err(_)) => {}
                }
            }
        }
    }
    wrong.dedup();
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 2_000, "{compared}");
}

/// A function inserts the inputs that an operator needs, whichever of its parameters are omitted.
#[test]
fn parameters_with_defaults_are_left_out() {
    let mut wrong = Vec::new();
    for line in TABLE.lines() {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let Some(op) = operator(columns[0]).filter(|op| op.name == format!("relax.{}", columns[0])) else { continue };
        let has_default = |name: &str| split(columns[2]).iter().any(|param| param.starts_with(&format!("{name}=")));
        let needed: Vec<&str> = op.params.iter().filter_map(required_input).collect();
        if !needed.iter().any(|name| has_default(name)) || is_bias_of_attention(op.name) {
            continue;
        }
        let given = split(columns[2]).into_iter().enumerate().filter(|(_, param)| !param.contains('='));
        let given: Vec<String> = given.map(|(at, param)| argument(Some(op), param, at)).collect();
        let module = program(&format!("R.{}", columns[0]), &given).unwrap();
        let (json, inputs) = (relax_spec::data::json::to_value(&module), needed.len());
        let written = call_inputs(&json).unwrap_or_default();
        if written != inputs {
            wrong.push(format!("{line}: {written} inputs of {inputs}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The function of `nn.attention_bias` calls another operator without a bias.
fn is_bias_of_attention(op: &str) -> bool {
    op == "relax.nn.attention_bias"
}

fn required_input(param: &OpParam) -> Option<&'static str> {
    match param {
        OpParam::Arg(name) | OpParam::ShapeArg(name) | OpParam::DtypeArg(name) => Some(name),
        OpParam::OptionalArg(_) | OpParam::Flag(..) | OpParam::Rest(_) | OpParam::Attr(_) => None,
    }
}

/// The number of arguments in the only call of a program as data.
fn call_inputs(value: &serde_json::Value) -> Option<usize> {
    match value {
        serde_json::Value::Object(fields) => match fields.get("Call") {
            Some(call) => call["args"].as_array().map(Vec::len),
            None => fields.values().find_map(call_inputs),
        },
        serde_json::Value::Array(items) => items.iter().find_map(call_inputs),
        _ => None,
    }
}

/// The exceptions to the property above are refused in one sentence.
#[test]
fn distributed_tensors_are_refused() {
    let rows: Vec<Signature> = table().into_iter().filter(|row| OF_DISTRIBUTED_TENSORS.contains(&row.name)).collect();
    assert_eq!(rows.len(), 4);
    for Signature { name, params, .. } in rows {
        let given = params.iter().enumerate().map(|(at, param)| match *param {
            "out_sinfo" | "out_ty" => format!("{param}={DISTRIBUTED_TENSOR}"),
            param => format!("{param}={}", argument(None, param, at)),
        });
        let refused = program(&format!("R.{name}"), &given.collect::<Vec<_>>());
        assert!(refused.as_ref().is_err_and(|error| error.contains("distributed tensors")), "{name}: {refused:?}");
    }
}

/// The inputs about queries come first, and then those about keys.
#[test]
fn lengths_of_sequences_are_in_the_order_of_the_function() {
    let text = |arguments: &[&str]| {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        program("R.nn.attention_var_len", &arguments).unwrap()
    };
    let names =
        ["queries=x0", "keys=x1", "values=x2", "seqstart_q=x3", "seqstart_k=x4", "max_seqlen_q=x5", "max_seqlen_k=x6"];
    assert_eq!(text(&names), text(&["x0", "x1", "x2", "x3", "x5", "x4", "x6"]));
    let of_operator = "\"relax.nn.attention_var_len\", (x0, x1, x2, x3, x4, x5, x6)";
    assert_eq!(text(&names), program("R.emit_with_sinfo", &[of_operator.to_string()]).unwrap());
    // What is left out is as of the queries.
    assert_eq!(text(&["x0", "x1", "x2", "x3", "x5"]), text(&["x0", "x1", "x2", "x3", "x5", "x3", "x5"]));
    let printed = print_module(&text(&names), Dialect::default());
    assert_eq!(parse_module(&printed).unwrap(), text(&names), "{printed}");
}

/// The table and the operators have the same parameters in the same order.
#[test]
fn the_operators_know_every_parameter() {
    let mut wrong = Vec::new();
    for Signature { name, releases, params } in table() {
        let Some(op) = operator(name).filter(|op| op.name == format!("relax.{name}")) else { continue };
        if op.params.iter().any(|param| matches!(param, OpParam::Rest(_)))
            || params.iter().any(|param| param.starts_with('*'))
        {
            continue;
        }
        // Type arguments are not parameters of an operator. A device is two attributes. One function calls either of
        // two operators.
        let elsewhere = ["sinfo_args", "ty_args", "dst_vdevice"];
        let known: Vec<&str> = op.params.iter().filter_map(name_of).chain(elsewhere).collect();
        let is_bias = |param: &str| name == "nn.attention" && param == "bias";
        // R.dist has a name of its own for the tensor.
        let is_other = |param: &str| is_bias(param) || name.starts_with("dist.") && param == "value";
        let missing: Vec<&&str> = params.iter().filter(|param| !known.contains(param) && !is_other(param)).collect();
        if !missing.is_empty() {
            wrong.push(format!("{name} of {releases}: {missing:?} of {params:?}, which knows {known:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn name_of(param: &OpParam) -> Option<&'static str> {
    match param {
        OpParam::Arg(name)
        | OpParam::OptionalArg(name)
        | OpParam::Flag(name, _)
        | OpParam::ShapeArg(name)
        | OpParam::DtypeArg(name)
        | OpParam::Rest(name) => Some(name),
        OpParam::Attr(attr) => Some(attr.name),
    }
}
