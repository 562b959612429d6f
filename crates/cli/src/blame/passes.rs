//! The passes that `--pass` names.

use serde_json::Value;

use crate::value::items;
use ask::stages::PassStep;

/// The steps of one `--pass`.
#[derive(Clone, Debug)]
pub(super) struct Steps(pub(super) Vec<PassStep>);

/// `NAME[=JSON][,NAME[=JSON]..]`.
pub(super) fn steps(text: &str) -> Result<Steps, String> {
    let steps: Vec<PassStep> = items(text).into_iter().map(|item| step(item.trim())).collect::<Result<_, _>>()?;
    if steps.is_empty() { Err("expected the name of a pass".to_string()) } else { Ok(Steps(steps)) }
}

fn step(text: &str) -> Result<PassStep, String> {
    let Some((name, arguments)) = text.split_once('=') else {
        return Ok(PassStep { name: text.to_string(), arguments: None });
    };
    let expected = || format!("the arguments of {name} are a list in JSON, or a map of names");
    match serde_json::from_str(arguments).map_err(|error| format!("{}: {error}", expected()))? {
        arguments @ (Value::Array(_) | Value::Object(_)) => {
            Ok(PassStep { name: name.to_string(), arguments: Some(arguments) })
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Err(expected()),
    }
}

/// The passes of `relax.transform` that the text of a Python file runs itself, each once.
pub(super) fn own_passes(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for rest in text.split("relax.transform.").skip(1) {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (name, rest) = rest.split_at(end);
        if rest.starts_with('(') && !names.iter().any(|known| known == name) {
            names.push(name.to_string());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_stand_behind_the_name() {
        let Steps(found) = steps("A,ConvertLayout=[{\"nn\": [\"a\", \"b\"]}], b.py:C").unwrap();
        let names: Vec<&str> = found.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(names, ["A", "ConvertLayout", "b.py:C"]);
        let given: Vec<bool> = found.iter().map(|step| step.arguments.is_some()).collect();
        assert_eq!(given, [false, true, false]);
        assert!(steps("").is_err() && steps("A=1").is_err() && steps("A=[").is_err());
    }

    #[test]
    fn a_file_may_run_passes_itself() {
        let text = "mod = relax.transform.FuseOps(fuse_opt_level=0)(Module)\nmod = tvm.relax.transform.FuseTIR()(mod)\n\
                    mod = relax.transform.FuseOps()(mod)\nimport tvm.relax.transform.legalize_ops\n";
        assert_eq!(own_passes(text), ["FuseOps", "FuseTIR"]);
    }
}
