//! The table of TVM's signatures, `conformance/signatures.txt`. Each parameter of each function may be given by
//! position and by name, in every release, under `R.` and by its Python path.

use relax_spec::grammar::IrModule;
use relax_spec::ops::{self, AttrKind, OpParam};
use relax_spec::syntax::tvmscript::parse_module;

const TABLE: &str = include_str!("../../conformance/signatures.txt");

/// Functions that no program calls, and those that are always rejected (`R.DTensor`).
const NO_CALLS: [&str; 5] =
    ["register_gradient", "render_object", "annotate_sharding", "redistribute", "redistribute_replica_to_shard"];

/// TVM prints the operands of this function in the order of the operator, which differs from that of the function.
const OTHERWISE_ORDERED: &str = "nn.attention_var_len";

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
    rows.filter(|row| !NO_CALLS.contains(&row.name.rsplit('.').next().unwrap()) && row.name != OTHERWISE_ORDERED)
        .collect()
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
    const SPACES: [&str; 8] = ["nn", "image", "vision", "grad", "memory", "vm", "builtin", "ccl"];
    match name.split_once('.') {
        None => true,
        Some((space, rest)) => SPACES.contains(&space) && !rest.contains('.'),
    }
}

/// The operator that a function calls, if it is one.
fn operator(name: &str) -> Option<&'static ops::OpDef> {
    let words: Vec<&str> = name.split('.').collect();
    let last = words.last()?;
    let candidates = [
        format!("relax.{name}"),
        format!("relax.vision.{last}"),
        format!("relax.{last}"),
        format!("relax.builtin.{last}"),
    ];
    candidates.iter().find_map(|name| ops::lookup(name))
}

#[test]
fn each_parameter_is_given_by_place_and_by_name() {
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for Signature { name, releases, params } in table() {
        let op = operator(name);
        let callees = [format!("relax.op.{name}"), format!("tvm.relax.op.{name}"), format!("R.{name}")];
        for callee in callees.into_iter().take(if is_under_r(name) { 3 } else { 2 }) {
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
        let missing: Vec<&&str> = params.iter().filter(|param| !known.contains(param) && !is_bias(param)).collect();
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
