//! `relax-spec server` and `relax-spec mcp`, as an editor and an agent start them.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// The server, in an empty directory, so that no settings of the checkout count.
fn started(args: &[&str], dir: &tempfile::TempDir) -> (Child, ChildStdin, BufReader<ChildStdout>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_relax-spec"))
        .args(args)
        .env_remove("RELAX_SPEC_EDITION")
        .current_dir(dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    (child, input, output)
}

const MISTAKE: &str = "@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), \"float32\")):
        y = R.ad(x, x)
        return y
";

mod lsp {
    use super::*;

    fn send(input: &mut ChildStdin, message: &Value) {
        let text = message.to_string();
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        input.flush().unwrap();
    }

    fn receive(output: &mut BufReader<ChildStdout>) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(output.read_line(&mut line).unwrap() > 0, "the server has ended");
            match line.trim().split_once(": ") {
                Some(("Content-Length", n)) => length = n.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut text = vec![0; length];
        output.read_exact(&mut text).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    fn request(id: i32, method: &str, params: Value) -> Value {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }

    /// The edition of the directory's settings counts, the book's address is given, and the process ends well.
    #[test]
    fn a_session_on_pipes() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("relax-spec.toml"), "edition = \"2024-04\"\n").unwrap();
        let (mut child, mut input, mut output) = started(&["server", "--book", "https://book.example/"], &dir);
        send(&mut input, &request(1, "initialize", json!({"capabilities": {}})));
        assert_eq!(receive(&mut output)["result"]["serverInfo"]["name"], "relax-spec");
        send(&mut input, &json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}));
        let uri = format!("file://{}", dir.path().canonicalize().unwrap().join("model.py").display());
        let document = json!({"uri": uri, "languageId": "python", "version": 1, "text": MISTAKE});
        send(
            &mut input,
            &json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document}}),
        );
        let published = receive(&mut output);
        let found = &published["params"]["diagnostics"][0];
        assert_eq!(found["code"], "SI.DERIVE.CALL.OP-DEFAULT", "{published}");
        assert_eq!(
            found["codeDescription"]["href"],
            "https://book.example/derivation.html#r-SI.DERIVE.CALL.OP-DEFAULT"
        );
        let at = json!({"textDocument": {"uri": uri}, "position": {"line": 3, "character": 13}});
        send(&mut input, &request(2, "textDocument/hover", at));
        let hover = receive(&mut output);
        let told = hover["result"]["contents"]["value"].as_str().unwrap_or_default();
        assert!(told.contains("x: Tensor((2, 3), float32)") && told.contains("edition 2024-04"), "{hover}");
        send(&mut input, &request(3, "shutdown", Value::Null));
        assert_eq!(receive(&mut output)["id"], 3);
        send(&mut input, &json!({"jsonrpc": "2.0", "method": "exit", "params": Value::Null}));
        assert!(child.wait().unwrap().success());
    }
}

#[cfg(feature = "mcp")]
mod mcp {
    use super::*;

    struct Agent {
        child: Child,
        input: ChildStdin,
        output: BufReader<ChildStdout>,
        _dir: tempfile::TempDir,
    }

    impl Agent {
        fn start() -> Agent {
            let dir = tempfile::tempdir().unwrap();
            let (child, input, output) = started(&["mcp"], &dir);
            let mut agent = Agent { child, input, output, _dir: dir };
            let client = json!({"name": "test", "version": "0"});
            let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
            let hello = agent.ask("initialize", hello);
            assert_eq!(hello["serverInfo"]["name"], "relax-spec", "{hello}");
            assert!(hello["instructions"].as_str().is_some_and(|told| told.contains("no answers")), "{hello}");
            agent.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
            agent
        }

        fn say(&mut self, message: &Value) {
            writeln!(self.input, "{message}").unwrap();
            self.input.flush().unwrap();
        }

        fn ask(&mut self, method: &str, params: Value) -> Value {
            self.say(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
            let mut line = String::new();
            self.output.read_line(&mut line).unwrap();
            let mut answer: Value = serde_json::from_str(&line).unwrap();
            match answer.get("error") {
                Some(error) => error.clone(),
                None => answer["result"].take(),
            }
        }

        fn call(&mut self, tool: &str, arguments: Value) -> Value {
            let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
            let text = answer["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
            assert_eq!(serde_json::from_str::<Value>(text).unwrap(), answer["structuredContent"]);
            answer["structuredContent"].clone()
        }

        fn end(mut self) {
            drop(self.input);
            assert!(self.child.wait().unwrap().success());
        }
    }

    fn program(body: &str) -> Value {
        let text = format!(
            "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((2,), \"float32\")):\n        \
             y = {body}\n        return y\n"
        );
        json!({"text": text})
    }

    #[test]
    fn each_tool_is_listed_and_answers() {
        let mut agent = Agent::start();
        let tools = agent.ask("tools/list", json!({}));
        let names: Vec<&str> =
            tools["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
        assert_eq!(names, ["check", "run", "refine", "blame", "explain"]);
        let told = agent.call("check", json!({"program": {"text": MISTAKE}}));
        assert_eq!(
            (&told["verdict"], &told["results"][0]["rule"]),
            (&json!("rejected"), &json!("SI.DERIVE.CALL.OP-DEFAULT"))
        );
        let told = agent.call("run", json!({"program": program("R.add(x, x)"), "arguments": ["[1, 2]:float32"]}));
        assert_eq!((&told["verdict"], &told["results"][0]["text"]), (&json!("value"), &json!("[2.0, 4.0]:float32")));
        let pair = |after: &str| json!({"before": program("R.add(x, x)"), "after": program(after), "runs": 10});
        let told = agent.call("refine", pair("R.multiply(x, R.const(2.0, \"float32\"))"));
        assert_eq!(told["verdict"], "allowed", "{told}");
        assert!(told["reliance"].as_str().is_some_and(|told| told.contains("no proof")));
        assert_eq!(agent.call("refine", pair("R.multiply(x, x)"))["verdict"], "not allowed");
        let told = agent.call("explain", json!({"id": "SUB.TENSOR.RANK"}));
        assert!(told["text"].as_str().is_some_and(|told| told.starts_with("SUB.TENSOR.RANK")), "{told}");
        // Without a release there is no answer, and none is made up.
        let told = agent.call("blame", json!({"program": program("x"), "adapter": "tvm@/no/such/python"}));
        assert!(told["reliance"].as_str().is_some_and(|told| told.starts_with("no answer")), "{told}");
        agent.end();
    }

    #[test]
    fn a_wrong_call_is_an_error_of_the_call() {
        let mut agent = Agent::start();
        assert_eq!(agent.ask("tools/call", json!({"name": "format", "arguments": {}}))["code"], -32602);
        let wrong = agent.ask("tools/call", json!({"name": "check", "arguments": {"program": {"path": "-"}}}));
        assert_eq!(wrong["code"], -32602, "{wrong}");
        let told = agent.call("check", json!({"program": {"text": "def"}}));
        assert_eq!(told["verdict"], "unreadable");
        agent.end();
    }
}
