//! `relax-spec mcp`: the commands as tools, by the Model Context Protocol over standard input and output.
//!
//! Each call is a process of its own, of the same program: its limits of time and memory are the command's, and what
//! goes wrong in it ends neither the server nor another call. A cancelled call ends its process.

use std::borrow::Cow;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// Serves an agent until it closes the connection.
///
/// # Errors
///
/// The pipes break, or the agent breaks the protocol.
pub fn serve_stdio(command: PathBuf) -> Result<(), Box<dyn Error + Send + Sync>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let service = Tools { command }.serve(rmcp::transport::stdio()).await?;
        service.waiting().await?;
        Ok(())
    })
}

const INSTRUCTIONS: &str = "\
An executable reference semantics of the Relax IR of Apache TVM. Give programs as TVMScript, by `text` or by `path`. \
Each result has a `verdict` and says in `reliance` what may be concluded from it: `undecided` and `vacuous` are no \
answers, and `allowed` is the result of tests. A rule id in a result is explained by `explain`.";

/// A tool: a command, and how its verdict is to be read.
struct ToolRow {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    /// The program parameters. Each may be a text or a path.
    programs: &'static [&'static str],
    /// Whether the command writes JSON.
    json: bool,
    options: &'static [OptionRow],
    /// The verdicts for exit status 0, 1 and 4; 5 is always `undecided`.
    verdicts: [&'static str; 3],
    reliance: [&'static str; 3],
}

/// An argument of a tool that is not a program.
struct OptionRow {
    name: &'static str,
    kind: OptionKind,
    required: bool,
    description: &'static str,
}

/// The form of an argument, and how it reaches the command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OptionKind {
    /// `--name=VALUE`
    Text,
    /// `--name=N`
    Number,
    /// `--name`
    Flag,
    /// `--arg=VALUE` for each
    Arguments,
    /// The positional argument
    Word,
}

const EDITION: OptionRow = OptionRow {
    name: "edition",
    kind: OptionKind::Text,
    required: false,
    description: "2023-02, 2023-12 or 2024-04, which TVM follows; without it, as the module or relax-spec.toml says",
};
const ENTRY: OptionRow = OptionRow {
    name: "entry",
    kind: OptionKind::Text,
    required: false,
    description: "the global symbol of the function to start; without it, main",
};
const MODULE: OptionRow = OptionRow {
    name: "module",
    kind: OptionKind::Text,
    required: false,
    description: "the class, where a Python file holds several modules",
};
const RUNS: OptionRow = OptionRow {
    name: "runs",
    kind: OptionKind::Number,
    required: false,
    description: "how many generated inputs to try",
};
const ARGUMENTS: OptionRow = OptionRow {
    name: "arguments",
    kind: OptionKind::Arguments,
    required: false,
    description: "values such as [[1, 2], [3, 4]]:float32, zeros(8, 16):float32, shape(2, 3) or @file.npy",
};
const UNCHECKED: OptionRow = OptionRow {
    name: "unchecked",
    kind: OptionKind::Flag,
    required: false,
    description: "go on with an ill-formed program",
};

const TOOLS: &[ToolRow] = &[
    ToolRow {
        name: "check",
        title: "Check a Relax program",
        description: "Is a Relax program well-formed, and what is wrong with it? Each finding names its place, \
the rule of the specification, the reason and, if known, the remedy.",
        programs: &["program"],
        json: true,
        options: &[EDITION, MODULE],
        verdicts: ["accepted", "rejected", "nothing to check"],
        reliance: [
            "the text of this edition accepts the program; another edition, or TVM, may not",
            "the text rejects the program by the named rules; a finding with `accepted_by` is gone in that edition",
            "there was no program",
        ],
    },
    ToolRow {
        name: "run",
        title: "Run a Relax program",
        description: "What does a Relax function compute on these arguments, by the definitions of the specification? \
PrimFuncs are run, too.",
        programs: &["program"],
        json: true,
        options: &[ENTRY, ARGUMENTS, EDITION, MODULE, UNCHECKED],
        verdicts: ["value", "error", "nothing ran"],
        reliance: [
            "the value that the definitions give; an implementation may differ as far as rounding explains",
            "the program is ill-formed, or the run is an error by the named rule",
            "nothing ran",
        ],
    },
    ToolRow {
        name: "refine",
        title: "Compare two Relax programs",
        description: "Is the program `after` an allowed optimization of `before`? Both are run on generated inputs \
and compared, up to rounding.",
        programs: &["before", "after"],
        json: true,
        options: &[ENTRY, RUNS, ARGUMENTS, EDITION, MODULE, UNCHECKED],
        verdicts: ["allowed", "not allowed", "vacuous"],
        reliance: [
            "no difference on the tried inputs; a test and no proof",
            "the counterexample in the result shows a difference that the specification does not allow",
            "no run reached its end, so nothing was compared: this is no approval",
        ],
    },
    ToolRow {
        name: "blame",
        title: "Find the pass that changes a program",
        description: "Which pass of Apache TVM changes the meaning of a Relax program? Needs an installed TVM; the \
first use of an adapter may need the network.",
        programs: &["program"],
        json: true,
        options: &[
            OptionRow {
                name: "adapter",
                kind: OptionKind::Text,
                required: true,
                description: "tvm@0.25, tvm@0.26, tvm@0.27, or tvm@/path/to/python",
            },
            OptionRow {
                name: "pipeline",
                kind: OptionKind::Text,
                required: false,
                description: "zero, default or target",
            },
            OptionRow {
                name: "pass",
                kind: OptionKind::Text,
                required: false,
                description: "passes in place of the pipeline, separated by commas",
            },
            ENTRY,
            RUNS,
            ARGUMENTS,
            EDITION,
            MODULE,
        ],
        verdicts: ["no pass is to blame", "a pass is to blame", "nothing ran"],
        reliance: [
            "each pass is allowed on the tried inputs; a test and no proof",
            "the named pass breaks the named clause on the program, or TVM refuses the program",
            "nothing ran",
        ],
    },
    ToolRow {
        name: "explain",
        title: "Explain a rule of the specification",
        description: "The text of a rule, its code, its golden cases and its errata, by its id, such as \
SUB.TENSOR.RANK; or words to look for in all rules.",
        programs: &[],
        json: false,
        options: &[
            OptionRow {
                name: "id",
                kind: OptionKind::Word,
                required: true,
                description: "the id of a rule, an erratum or a golden case; or words",
            },
            EDITION,
        ],
        verdicts: ["explained", "explained", "unknown"],
        reliance: ["the words of the book; its sources are named", "the words of the book", "there is no such id"],
    },
];

struct Tools {
    command: PathBuf,
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let server = Implementation::new("relax-spec", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities).with_server_info(server).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(TOOLS.iter().map(ToolRow::tool).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let unknown = || ErrorData::invalid_params(format!("there is no tool `{}`", request.name), None);
        let row = TOOLS.iter().find(|row| row.name == request.name).ok_or_else(unknown)?;
        let arguments = request.arguments.unwrap_or_default();
        let dir = TempDir::new().map_err(internal)?;
        let words = row.words(&arguments, dir.path()).map_err(|error| ErrorData::invalid_params(error, None))?;
        let mut command = tokio::process::Command::new(&self.command);
        // The end of this future, when the call is cancelled, ends the process.
        command.args(words).stdin(Stdio::null()).kill_on_drop(true);
        let output = tokio::select! {
            output = command.output() => output.map_err(internal)?,
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("cancelled", None)),
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(row.result(output.status.code(), &text(&output.stdout), &text(&output.stderr)).into())
    }
}

fn internal(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

impl ToolRow {
    fn tool(&self) -> Tool {
        let schema = Arc::new(self.schema());
        // Nothing is written but what adapters keep in their caches.
        let annotations = ToolAnnotations::with_title(self.title).read_only(true).open_world(false);
        Tool::new(self.name, self.description, schema).with_title(self.title).with_annotations(annotations)
    }

    fn schema(&self) -> Map<String, Value> {
        let mut properties = Map::new();
        for program in self.programs {
            properties.insert(
                (*program).to_string(),
                json!({
                    "type": "object",
                    "description": "a program: its text, as TVMScript unless `form` says otherwise, or its path",
                    "properties": {
                        "text": {"type": "string"},
                        "path": {"type": "string"},
                        "form": {"type": "string", "enum": FORMS},
                    },
                    "additionalProperties": false,
                }),
            );
        }
        for option in self.options {
            let mut schema = match option.kind {
                OptionKind::Text | OptionKind::Word => json!({"type": "string"}),
                OptionKind::Number => json!({"type": "integer", "minimum": 0}),
                OptionKind::Flag => json!({"type": "boolean"}),
                OptionKind::Arguments => json!({"type": "array", "items": {"type": "string"}}),
            };
            schema["description"] = option.description.into();
            properties.insert(option.name.to_string(), schema);
        }
        let options = self.options.iter().filter(|option| option.required).map(|option| option.name);
        let required: Vec<&str> = self.programs.iter().copied().chain(options).collect();
        let schema = json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        });
        match schema {
            Value::Object(schema) => schema,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
        }
    }

    /// The command line of a call. Programs given as text are written into a directory.
    fn words(&self, arguments: &Map<String, Value>, dir: &Path) -> Result<Vec<String>, String> {
        let known = |name: &str| self.programs.contains(&name) || self.options.iter().any(|option| option.name == name);
        if let Some(unknown) = arguments.keys().find(|name| !known(name)) {
            return Err(format!("`{}` has no argument `{unknown}`", self.name));
        }
        let mut words = vec![self.name.to_string()];
        if self.json {
            words.push("--format=json".to_string());
        }
        let mut positional = Vec::new();
        for program in self.programs {
            positional.push(program_file(program, arguments.get(*program), dir)?);
        }
        for option in self.options {
            let value = arguments.get(option.name).filter(|value| !value.is_null());
            match value {
                Some(value) => option.words(value, &mut words, &mut positional)?,
                None if option.required => return Err(format!("`{}` is missing", option.name)),
                None => {}
            }
        }
        words.push("--".to_string());
        words.append(&mut positional);
        Ok(words)
    }

    /// The result of a call: a verdict, what may be concluded from it, and what the command wrote.
    fn result(&self, exit: Option<i32>, out: &str, err: &str) -> CallToolResult {
        let [as_expected, findings, nothing] = self.verdicts;
        let [of_expected, of_findings, of_nothing] = self.reliance;
        let (verdict, reliance) = match exit {
            Some(0) => (as_expected, of_expected),
            Some(1) => (findings, of_findings),
            Some(4) => (nothing, of_nothing),
            Some(5) => {
                ("undecided", "no answer: a limit was reached, or the oracle does not know; nothing follows from it")
            }
            Some(2) => ("unreadable", "no answer: a program or an argument cannot be read, or is ill-formed"),
            Some(3) => ("unavailable", "no answer: the implementation could not be started"),
            Some(_) | None => ("internal error", "no answer: please report the call"),
        };
        let lines: Vec<Value> = match self.json {
            true => out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(),
            false => Vec::new(),
        };
        let mut report = json!({"verdict": verdict, "reliance": reliance, "exit_status": exit});
        if self.json {
            report["results"] = lines.into();
        } else {
            report["text"] = out.into();
        }
        if !err.trim().is_empty() {
            report["notes"] = err.trim().into();
        }
        match exit {
            Some(0 | 1 | 4 | 5) => CallToolResult::structured(report),
            Some(_) | None => CallToolResult::structured_error(report),
        }
    }
}

/// The forms of a program that is given as text.
const FORMS: [&str; 4] = ["py", "ron", "json", "relay"];

/// The path of a program.
fn program_file(name: &str, given: Option<&Value>, dir: &Path) -> Result<String, String> {
    let field = |field: &str| given.and_then(|given| given.get(field)).and_then(Value::as_str);
    match (given, field("text"), field("path")) {
        // A text alone says the same.
        (Some(Value::String(text)), _, _) => written(name, text, "py", dir),
        (Some(_), Some(text), None) => {
            let form = field("form").unwrap_or("py");
            match FORMS.contains(&form) {
                true => written(name, text, form, dir),
                false => Err(format!("there is no form `{form}` (there are {})", FORMS.join(", "))),
            }
        }
        // The standard input of the server is the agent.
        (Some(_), None, Some("-")) => Err(format!("`{name}` cannot be read from standard input")),
        (Some(_), None, Some(path)) => Ok(path.to_string()),
        (Some(_) | None, _, _) => Err(format!("`{name}` takes either `text` or `path`")),
    }
}

fn written(name: &str, text: &str, form: &str, dir: &Path) -> Result<String, String> {
    let path = dir.join(format!("{name}.{form}"));
    std::fs::write(&path, text).map_err(|error| error.to_string())?;
    path.to_str().map(ToString::to_string).ok_or_else(|| "the temporary directory has no name".to_string())
}

impl OptionRow {
    /// Adds the words of an argument.
    fn words(&self, value: &Value, words: &mut Vec<String>, positional: &mut Vec<String>) -> Result<(), String> {
        let wrong = || format!("`{}` has another form: {}", self.name, self.description);
        match (self.kind, value) {
            (OptionKind::Text, Value::String(text)) => words.push(format!("--{}={text}", self.name)),
            (OptionKind::Number, Value::Number(number)) if number.is_u64() => {
                words.push(format!("--{}={number}", self.name));
            }
            (OptionKind::Flag, Value::Bool(true)) => words.push(format!("--{}", self.name)),
            (OptionKind::Flag, Value::Bool(false)) => {}
            (OptionKind::Word, Value::String(text)) => positional.push(text.clone()),
            (OptionKind::Arguments, Value::Array(values)) => {
                for value in values {
                    let text = value.as_str().map(Cow::Borrowed);
                    let text = text.unwrap_or_else(|| Cow::Owned(value.to_string()));
                    words.push(format!("--arg={text}"));
                }
            }
            (
                OptionKind::Text | OptionKind::Number | OptionKind::Flag | OptionKind::Word | OptionKind::Arguments,
                _,
            ) => return Err(wrong()),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(tool: &str, arguments: Value) -> Result<Vec<String>, String> {
        let row = TOOLS.iter().find(|row| row.name == tool).expect("there is such a tool");
        let dir = TempDir::new().expect("a temporary directory");
        let words = row.words(arguments.as_object().expect("arguments are an object"), dir.path());
        words
            .map(|words| words.into_iter().map(|word| word.replace(&dir.path().display().to_string(), "DIR")).collect())
    }

    #[test]
    fn a_call_is_a_command_line() {
        let given = json!({"program": {"text": "x"}, "arguments": ["[-1]:int64", "@x.npy"], "entry": "--help"});
        let expected =
            ["run", "--format=json", "--entry=--help", "--arg=[-1]:int64", "--arg=@x.npy", "--", "DIR/program.py"];
        assert_eq!(words("run", given).unwrap(), expected);
        let given = json!({"before": {"path": "-x.py"}, "after": {"text": "()", "form": "ron"}, "runs": 7});
        assert_eq!(
            words("refine", given).unwrap(),
            ["refine", "--format=json", "--runs=7", "--", "-x.py", "DIR/after.ron"]
        );
        assert_eq!(words("explain", json!({"id": "-h"})).unwrap(), ["explain", "--", "-h"]);
    }

    #[test]
    fn a_wrong_call_is_told() {
        let error = |tool: &str, given: Value| words(tool, given).unwrap_err();
        assert_eq!(error("check", json!({})), "`program` takes either `text` or `path`");
        assert_eq!(error("check", json!({"program": {"path": "-"}})), "`program` cannot be read from standard input");
        assert!(
            error("check", json!({"program": {"text": "", "form": "../x"}})).starts_with("there is no form `../x`")
        );
        assert_eq!(error("check", json!({"program": "", "fuel": 1})), "`check` has no argument `fuel`");
        assert!(
            error("refine", json!({"before": "", "after": "", "runs": "7"})).starts_with("`runs` has another form")
        );
        assert_eq!(error("explain", json!({"id": null})), "`id` is missing");
    }

    /// No answer is never told as one.
    #[test]
    fn what_is_undecided_is_no_approval() {
        for row in TOOLS {
            for exit in [Some(2), Some(3), Some(5), Some(101), None] {
                let result = row.result(exit, "", "");
                let report = result.structured_content.unwrap_or_default();
                assert!(report["reliance"].as_str().is_some_and(|told| told.starts_with("no answer")), "{report}");
            }
        }
    }
}
