//! Sessions of an editor, by the protocol.

use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::*;

/// A test with the defaults: edition 2023-02, the corrected reading.
struct Defaults;

impl Choices for Defaults {
    fn context(&self, path: &Path, module: &IrModule) -> Result<Cx, String> {
        if path.ends_with("wrong.py") {
            return Err("there is no edition `2020-01`".to_string());
        }
        let stated = relax_spec::grammar::stated_edition(&module.attrs).map_err(|error| error.to_string())?;
        Ok(Cx::new().with_edition(stated.unwrap_or_default()))
    }

    fn rule_file(&self, rule: Rule) -> Option<(PathBuf, u32)> {
        Some((PathBuf::from("/book").join(rule.info().file), u32::try_from(rule.info().line).ok()? - 1))
    }

    fn rule_page(&self, rule: Rule) -> Option<String> {
        (rule.id() != "WF.13.NDIM").then(|| format!("https://book.example/#r-{rule}"))
    }
}

/// An editor with one open file.
struct Editor {
    connection: Connection,
    uri: &'static str,
    document: Document,
    requests: i32,
    server: Option<JoinHandle<()>>,
}

impl Editor {
    fn open(uri: &'static str, text: &str) -> Editor {
        let (ours, theirs) = Connection::memory();
        let server = thread::spawn(move || serve(&theirs, &Defaults).unwrap());
        let mut editor = Editor {
            connection: ours,
            uri,
            document: Document::new(text.to_string(), 1),
            requests: 0,
            server: Some(server),
        };
        let answer = editor.ask("initialize", json!({"capabilities": {}}));
        assert_eq!(answer["capabilities"]["textDocumentSync"]["change"], 2);
        editor.say("initialized", json!({}));
        let item = json!({"uri": uri, "languageId": "python", "version": 1, "text": text});
        editor.say("textDocument/didOpen", json!({"textDocument": item}));
        editor
    }

    fn say(&self, method: &str, params: Value) {
        self.connection.sender.send(Notification { method: method.to_string(), params }.into()).unwrap();
    }

    fn send(&mut self, method: &str, params: Value) -> RequestId {
        self.requests += 1;
        let id = RequestId::from(self.requests);
        self.connection.sender.send(Request { id: id.clone(), method: method.to_string(), params }.into()).unwrap();
        id
    }

    fn next(&self) -> Message {
        self.connection.receiver.recv_timeout(Duration::from_secs(120)).unwrap()
    }

    fn response(&self, id: &RequestId) -> Response {
        loop {
            if let Message::Response(response) = self.next()
                && response.id == *id
            {
                return response;
            }
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let response = self.response(&id);
        serde_json::to_value(response).unwrap()["result"].take()
    }

    /// The published findings of the current version.
    fn findings(&self) -> Vec<lsp::Diagnostic> {
        loop {
            let Message::Notification(notification) = self.next() else { continue };
            if notification.params["version"] == self.document.version {
                assert_eq!(notification.params["uri"], self.uri);
                return serde_json::from_value(notification.params["diagnostics"].clone()).unwrap();
            }
        }
    }

    fn codes(&self) -> Vec<String> {
        let code = |found: lsp::Diagnostic| match found.code {
            Some(lsp::NumberOrString::String(code)) => code,
            Some(lsp::NumberOrString::Number(_)) | None => found.message,
        };
        self.findings().into_iter().map(code).collect()
    }

    fn change(&mut self, range: lsp::Range, text: &str) {
        let change = json!({"range": range, "text": text});
        self.document.apply(serde_json::from_value(change.clone()).unwrap());
        self.document.version += 1;
        let document = json!({"uri": self.uri, "version": self.document.version});
        self.say("textDocument/didChange", json!({"textDocument": document, "contentChanges": [change]}));
    }

    /// The position of the beginning of a text.
    fn at(&self, text: &str) -> lsp::Position {
        self.document.position(self.document.text.find(text).unwrap())
    }

    fn hover(&mut self, position: lsp::Position) -> Value {
        self.ask("textDocument/hover", json!({"textDocument": {"uri": self.uri}, "position": position}))
    }

    fn fixes(&mut self, range: lsp::Range) -> Vec<lsp::CodeAction> {
        let context = json!({"diagnostics": []});
        let params = json!({"textDocument": {"uri": self.uri}, "range": range, "context": context});
        serde_json::from_value(self.ask("textDocument/codeAction", params)).unwrap()
    }

    fn apply(&mut self, action: &lsp::CodeAction) {
        let changes = serde_json::to_value(&action.edit).unwrap()["changes"][self.uri].clone();
        for edit in serde_json::from_value::<Vec<lsp::TextEdit>>(changes).unwrap() {
            self.change(edit.range, &edit.new_text);
        }
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        if !thread::panicking() {
            self.ask("shutdown", Value::Null);
            self.say("exit", Value::Null);
            self.server.take().unwrap().join().unwrap();
        }
    }
}

const FILE: &str = "file:///home/a%20b/test.py";

/// Three mistakes in an ordinary file, behind characters of two units: an operator, a variable behind its block, a
/// rank.
const MISTAKES: &str = "\"\"\"An ordinary test: \u{1d11e}.\"\"\"
import numpy as np
from tvm.script import ir as I, relax as R

np.no_such_function(y)


def test_model():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((\"n\", 4), \"float32\")) -> R.Tensor((\"n\", 4), \"float32\"):
            n = T.int64()
            with R.dataflow():
                \u{3b1} = R.addd(x, x)
                out = R.multiply(\u{3b1}, x)
                R.output(out)
            z: R.Tensor((n, 4), \"float32\", ndim=3) = R.add(\u{3b1}, out)
            return z
    return Module
";

#[test]
fn three_mistakes_are_found_and_mended() {
    let mut editor = Editor::open(FILE, MISTAKES);
    let found = editor.findings();
    let codes: Vec<_> = found.iter().map(|found| found.code.clone()).collect();
    let code = |id: &str| Some(lsp::NumberOrString::String(id.to_string()));
    assert_eq!(codes, [code("SI.DERIVE.CALL.OP-DEFAULT"), code("WF.13.NDIM"), code("WF.1.USE")], "{found:?}");
    // The operator's name, in units of UTF-16; the page of its rule; for the rank the file, as it has no page.
    assert_eq!(found[0].range.start, editor.at("R.addd"));
    let href = |i: usize| found[i].code_description.as_ref().map(|told| told.href.as_str().to_string()).unwrap();
    assert_eq!(href(0), "https://book.example/#r-SI.DERIVE.CALL.OP-DEFAULT");
    assert!(href(1).starts_with("file:///book/spec/src/well_formed.md#L"), "{}", href(1));
    // The rules of a finding are one step away.
    let position = found[1].range.start;
    let definition = json!({"textDocument": {"uri": FILE}, "position": position});
    let places: Vec<lsp::Location> = serde_json::from_value(editor.ask("textDocument/definition", definition)).unwrap();
    assert!(places.iter().any(|place| place.uri.as_str() == "file:///book/spec/src/well_formed.md"), "{places:?}");
    // Each has a fix, and each fix removes one finding.
    for left in [2, 1, 0] {
        let first =
            if left == 2 { found[0].range } else { lsp::Range { start: editor.at("z: "), end: editor.at("return z") } };
        let fixes = editor.fixes(first);
        let fix = fixes.first().unwrap_or_else(|| panic!("no fix with {left} more to come"));
        editor.apply(fix);
        let found = editor.findings();
        assert_eq!(found.len(), left, "{} {found:?}", fix.title);
    }
    assert!(editor.document.text.contains("R.output(out, \u{3b1})"), "{}", editor.document.text);
    // The rest of the file is not judged, and nothing else has changed.
    assert!(editor.document.text.contains("np.no_such_function(y)"));
    let hover = editor.hover(editor.at("out = "));
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(text.contains("out: Tensor((n, 4), float32)"), "{text}");
}

/// The first fix for each remedy, and a part of the text that it makes. A body stands in a function of `x` and `c`.
#[test]
fn each_remedy_has_its_fix() {
    let module = |decorator: &str, result: &str, body: &str| {
        let params = "x: R.Tensor((2, 3), \"float32\"), c: R.Tensor((), \"bool\")";
        format!("@I.ir_module\nclass M:\n    {decorator}\n    def main({params}){result}:\n{body}")
    };
    let plain = |body: &str| module("@R.function", "", body);
    let packed = "R.call_packed(\"f\", x, sinfo_args=R.Object)";
    let impure = format!("        y = {packed}\n        return y\n");
    let in_block =
        format!("        with R.dataflow():\n            y = {packed}\n            R.output(y)\n        return y\n");
    for (text, title, part) in [
        (plain("        y = R.add(x, xx)\n        return y\n"), "Write `x`", "R.add(x, x)"),
        (plain("        y = R.sum(x, axs=0)\n        return y\n"), "Write `axis`", "R.sum(x, axis=0)"),
        (
            plain("        y: R.Tensor((2, 4), \"float32\") = R.exp(x)\n        return y\n"),
            "Leave out the annotation of `y`",
            "        y = R.exp(x)",
        ),
        (
            module("@R.function", " -> R.Tensor((2, 4), \"float32\")", "        return x\n"),
            "Leave out the return annotation of `main`",
            "\"bool\")):\n        return x",
        ),
        (module("@R.function(pure=True)", "", &impure), "Declare `main` impure", "@R.function(pure=False)"),
        (
            module("@R.function(private=False, pure=True)", "", &impure),
            "Declare `main` impure",
            "@R.function(private=False, pure=False)",
        ),
        (plain(&in_block), "Call it by call_pure_packed: it has no effect", "R.call_pure_packed(\"f\", x"),
        (include_str!("../../../../examples/later.py").to_string(), "Judge this module by edition 2024-04", "2024-04"),
    ] {
        let analysis = guarded(&Defaults, Path::new("x.py"), &text);
        let found = analysis.findings.iter().find(|finding| finding.is_error());
        let found = found.unwrap_or_else(|| panic!("no finding: {text}"));
        let fixes = fixes::fixes(&Defaults, Path::new("x.py"), &analysis, found);
        let titles: Vec<&str> = fixes.iter().map(|fix| fix.title.as_str()).collect();
        let fix = fixes.iter().find(|fix| fix.title == title);
        let fix = fix.unwrap_or_else(|| panic!("{title}: {titles:?} for {found:?}"));
        let mended = fix.applied(&text).unwrap();
        assert!(mended.contains(part), "{mended}");
    }
}

#[test]
fn a_hover_tells_why_information_was_lost() {
    let text = "@I.ir_module\nclass Module:\n    @R.function\n    \
                def helper(x: R.Tensor) -> R.Tensor(ndim=2):\n        return x\n    @R.function\n    \
                def main(x: R.Tensor((2, 3), \"float32\")):\n        \
                y = Module.helper(x)\n        z = R.exp(y)\n        return z\n";
    let mut editor = Editor::open(FILE, text);
    editor.findings();
    let position = editor.at("z = ");
    let told = editor.hover(position)["contents"]["value"].as_str().unwrap().to_string();
    assert!(told.contains("z: Tensor(ndim=2, void)") && told.contains("by OPS.exp.infer"), "{told}");
    assert!(told.contains("y: Tensor(ndim=2, void)  (line 8)") && told.contains("lost here"), "{told}");
    // While the text cannot be read, it is what was known before.
    let end = editor.at("return z");
    editor.change(lsp::Range { start: end, end }, "w = R.add(\n        ");
    assert_eq!(editor.findings().len(), 1);
    let again = editor.hover(position)["contents"]["value"].as_str().unwrap().to_string();
    assert_eq!(again, told);
    // A name leads to where it is bound.
    let params = json!({"textDocument": {"uri": FILE}, "position": editor.at("x)\n        z")});
    editor.change(lsp::Range { start: end, end: editor.at("return z") }, "");
    let place = editor.ask("textDocument/definition", params);
    assert_eq!(place[0]["range"]["start"], json!({"line": 6, "character": 13}));
}

#[test]
fn rules_that_a_text_names_are_links() {
    let text = "# See SUB.TENSOR.RANK and WF.13.NDIM; not Sub.Tensor.RANK.\n";
    let mut editor = Editor::open(FILE, text);
    assert_eq!(editor.codes(), Vec::<String>::new());
    let links = editor.ask("textDocument/documentLink", json!({"textDocument": {"uri": FILE}}));
    let targets: Vec<&str> = links.as_array().unwrap().iter().filter_map(|link| link["target"].as_str()).collect();
    assert_eq!(targets.len(), 2, "{links}");
    assert_eq!(targets[0], "https://book.example/#r-SUB.TENSOR.RANK");
    assert_eq!(links[0]["range"]["start"]["character"], 6);
}

#[test]
fn what_is_stale_is_not_computed() {
    let mut editor = Editor::open(FILE, MISTAKES);
    // All this arrives while the server is busy with the first text, or at once; either way each has an answer.
    let hover = json!({"textDocument": {"uri": FILE}, "position": {"line": 0, "character": 0}});
    let ids: Vec<RequestId> = (0..3).map(|_| editor.send("textDocument/hover", hover.clone())).collect();
    editor.say("$/cancelRequest", json!({"id": ids[1]}));
    let start = lsp::Position::default();
    editor.change(lsp::Range { start, end: start }, "# a comment\n");
    for id in &ids {
        let response = serde_json::to_value(editor.response(id)).unwrap();
        let code = response["error"]["code"].as_i64();
        assert!(code.is_none() || code == Some(-32800) || code == Some(-32801), "{response}");
    }
    let stale = |later: &[Message]| {
        let request =
            Request { id: RequestId::from(7), method: "textDocument/hover".to_string(), params: hover.clone() };
        staleness(&request, later).map(|code| code as i32)
    };
    let notification =
        |method: &str, params| Message::Notification(Notification { method: method.to_string(), params });
    assert_eq!(stale(&[notification("$/cancelRequest", json!({"id": 7}))]), Some(-32800));
    assert_eq!(stale(&[notification("$/cancelRequest", json!({"id": 8}))]), None);
    let change = |uri: &str| notification("textDocument/didChange", json!({"textDocument": {"uri": uri}}));
    assert_eq!(stale(&[change(FILE)]), Some(-32801));
    assert_eq!(stale(&[change("file:///other.py")]), None);
}

#[test]
fn nonsense_is_answered() {
    let mut editor = Editor::open("file:///wrong.py", MISTAKES);
    assert!(editor.codes().contains(&"there is no edition `2020-01`".to_string()));
    let id = editor.send("textDocument/hover", json!({"position": 3}));
    assert_eq!(editor.response(&id).response_result.err().map(|error| error.code), Some(-32602));
    let id = editor.send("no/such", json!([]));
    assert_eq!(editor.response(&id).response_result.err().map(|error| error.code), Some(-32601));
    editor.say("textDocument/didChange", json!("nothing"));
    editor.say("textDocument/didClose", json!({"textDocument": {"uri": "file:///never-opened.py"}}));
    assert_eq!(editor.hover(lsp::Position { line: 9_999, character: 9_999 }), Value::Null);
}

/// Every prefix of a file, as somebody types it, and every one with a character missing.
#[test]
fn no_half_typed_text_ends_the_server() {
    let cuts = MISTAKES.char_indices().map(|(at, _)| at).filter(|at| at % 3 == 0);
    for at in cuts {
        let missing = format!("{}{}", &MISTAKES[..at], MISTAKES[at..].chars().skip(1).collect::<String>());
        for text in [&MISTAKES[..at], &missing] {
            let analysis = guarded(&Defaults, Path::new("x.py"), text);
            let internal = analysis.findings.iter().any(|finding| finding.message.starts_with("internal error"));
            assert!(!internal, "{text}");
            for finding in &analysis.findings {
                assert!(finding.span.end as usize <= text.len().max(1), "{finding:?} {text}");
            }
        }
    }
}

/// A file of this many lines: a module with a chain of bindings.
fn long_file(lines: usize) -> String {
    let mut text = String::from(
        "from tvm.script import ir as I, relax as R\n\n@I.ir_module\nclass Module:\n    @R.function\n    \
         def main(x0: R.Tensor((\"n\", 4), \"float32\")):\n",
    );
    let operators = ["add", "multiply", "subtract", "maximum"];
    let chain = lines.saturating_sub(7);
    for i in 0..chain {
        text.push_str(&format!("        x{} = R.{}(x{i}, x{})\n", i + 1, operators[i % 4], i / 2));
    }
    text.push_str(&format!("        return x{chain}\n"));
    text
}

/// The time in which an editor expects an answer.
const AT_ONCE: Duration = Duration::from_millis(50);

/// Types a text at the end of the file, and returns the times to the findings of each character, sorted, with how much
/// of the text stood then. On a loaded machine the
/// server may have to wait for its turn: a late answer is asked for again, up to twice, and the shortest time counts.
fn typed(editor: &mut Editor, text: &str) -> Vec<(Duration, usize)> {
    let mut times = Vec::new();
    for c in text.chars() {
        let end = editor.document.position(editor.document.text.len());
        let mut best = Duration::MAX;
        for attempt in 0..3 {
            if attempt > 0 {
                let now = editor.document.position(editor.document.text.len());
                editor.change(lsp::Range { start: end, end: now }, "");
                editor.findings();
            }
            let start = Instant::now();
            editor.change(lsp::Range { start: end, end }, c.encode_utf8(&mut [0; 4]));
            editor.findings();
            best = best.min(start.elapsed());
            if best < AT_ONCE {
                break;
            }
        }
        times.push((best, editor.document.text.len()));
    }
    times.sort_unstable();
    times
}

/// The last lines of a thousand are retyped. A build that is not optimized may take ten times as long.
#[test]
fn a_long_file_is_answered_as_it_is_typed() {
    let text = long_file(1_000);
    let from = text.match_indices('\n').nth(980).map_or(0, |(at, _)| at + 1);
    let mut editor = Editor::open(FILE, &text[..from]);
    editor.findings();
    let times = typed(&mut editor, &text[from..]);
    assert_eq!(editor.document.text, text);
    assert_eq!(guarded(&Defaults, Path::new("x.py"), &text).findings.len(), 0);
    let median = times[times.len() / 2].0;
    assert!(median < Duration::from_millis(500), "{median:?}");
}

/// The whole of it, for a measurement: `cargo test --release -p relax-spec-server -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement of some minutes"]
fn a_thousand_lines_typed() {
    let text = long_file(1_000);
    let mut editor = Editor::open(FILE, "");
    editor.findings();
    let times = typed(&mut editor, &text);
    let at = |share: usize| times[(times.len() - 1) * share / 1_000].0;
    let late = times.iter().filter(|(time, _)| *time >= AT_ONCE).count();
    println!(
        "{} characters: median {:?}, 99 % {:?}, 99.9 % {:?}, worst {:?}, {late} over 50 ms",
        times.len(),
        at(500),
        at(990),
        at(999),
        at(1_000)
    );
    for (time, end) in times.iter().rev().take(3) {
        println!("{time:?} after {:?}", &text[end.saturating_sub(40)..*end]);
    }
}
