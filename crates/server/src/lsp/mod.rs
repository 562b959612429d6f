//! `relax-spec server`: the Language Server Protocol.
//!
//! One thread answers in the order of the messages. Changes that have already arrived are all applied before anything
//! is judged, so what is judged is the latest text, however fast somebody types. A request that a later message makes
//! stale is not computed: it is answered by `RequestCancelled` or `ContentModified`. A text that cannot be read keeps
//! what was known of its last readable version.

mod analysis;
mod document;
mod fixes;
mod names;
mod python;
mod regions;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::str::FromStr as _;

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types as lsp;
use lsp_types::notification::Notification as _;
use lsp_types::request::Request as _;
use relax_spec::book::Rule;
use relax_spec::findings::Severity;
use relax_spec::grammar::{IrModule, Span};
use relax_spec::judge::{Cx, Fuel};
use serde_json::{Value, json};

use analysis::{Analysis, Finding};
use document::Document;

pub use analysis::Choices;

/// Serves an editor on standard input and output until it says goodbye.
///
/// # Errors
///
/// The editor breaks the protocol, or the pipes do.
pub fn serve_stdio(choices: &dyn Choices) -> Result<(), Box<dyn Error + Send + Sync>> {
    let (connection, threads) = Connection::stdio();
    serve(&connection, choices)?;
    drop(connection);
    Ok(threads.join()?)
}

/// Serves an editor on a connection.
///
/// # Errors
///
/// The editor breaks the protocol.
pub fn serve(connection: &Connection, choices: &dyn Choices) -> Result<(), Box<dyn Error + Send + Sync>> {
    let (id, _) = connection.initialize_start()?;
    let server = json!({"name": "relax-spec", "version": env!("CARGO_PKG_VERSION")});
    connection.initialize_finish(id, json!({"capabilities": capabilities(), "serverInfo": server}))?;
    Server { connection, choices, documents: BTreeMap::new(), changed: BTreeSet::new() }.run()
}

fn capabilities() -> Value {
    json!({
        "positionEncoding": "utf-16",
        "textDocumentSync": {"openClose": true, "change": 2, "save": {"includeText": false}},
        "hoverProvider": true,
        "definitionProvider": true,
        "documentLinkProvider": {"resolveProvider": false},
        "codeActionProvider": {"codeActionKinds": ["quickfix"]},
    })
}

/// An open file.
struct OpenFile {
    uri: lsp::Uri,
    path: PathBuf,
    document: Document,
    /// What is found in the current text, if it has been judged.
    analysis: Option<Rc<Analysis>>,
    /// The last analysis with a module that could be read.
    readable: Option<Rc<Analysis>>,
}

struct Server<'a> {
    connection: &'a Connection,
    choices: &'a dyn Choices,
    /// Open files by their addresses.
    documents: BTreeMap<String, OpenFile>,
    /// The files whose findings are to be published.
    changed: BTreeSet<String>,
}

type Served<T> = Result<T, Box<dyn Error + Send + Sync>>;

impl Server<'_> {
    fn run(&mut self) -> Served<()> {
        while let Ok(first) = self.connection.receiver.recv() {
            let batch: Vec<Message> = std::iter::once(first).chain(self.connection.receiver.try_iter()).collect();
            for (i, message) in batch.iter().enumerate() {
                match message {
                    Message::Request(request) => {
                        if self.connection.handle_shutdown(request)? {
                            return Ok(());
                        }
                        let answer = match staleness(request, batch.get(i + 1..).unwrap_or_default()) {
                            Some(code) => Response::new_err(request.id.clone(), code as i32, "superseded".to_string()),
                            None => self.answer(request),
                        };
                        self.connection.sender.send(answer.into())?;
                    }
                    Message::Notification(notification) => self.take(notification),
                    Message::Response(_) => {}
                }
            }
            self.publish()?;
        }
        Ok(())
    }

    /// Follows a notification. One that cannot be read says nothing.
    fn take(&mut self, notification: &Notification) {
        let params = || notification.params.clone();
        match notification.method.as_str() {
            lsp::notification::DidOpenTextDocument::METHOD => {
                let Ok(open) = serde_json::from_value::<lsp::DidOpenTextDocumentParams>(params()) else { return };
                let lsp::TextDocumentItem { uri, version, text, .. } = open.text_document;
                let (key, path) = (uri.as_str().to_string(), path_of(&uri));
                let document = Document::new(text, version);
                let file = OpenFile { uri, path, document, analysis: None, readable: None };
                self.documents.insert(key.clone(), file);
                self.changed.insert(key);
            }
            lsp::notification::DidChangeTextDocument::METHOD => {
                let Ok(change) = serde_json::from_value::<lsp::DidChangeTextDocumentParams>(params()) else { return };
                let key = change.text_document.uri.as_str().to_string();
                let Some(file) = self.documents.get_mut(&key) else { return };
                change.content_changes.into_iter().for_each(|change| file.document.apply(change));
                file.document.version = change.text_document.version;
                file.analysis = None;
                self.changed.insert(key);
            }
            lsp::notification::DidCloseTextDocument::METHOD => {
                let Ok(close) = serde_json::from_value::<lsp::DidCloseTextDocumentParams>(params()) else { return };
                let key = close.text_document.uri.as_str().to_string();
                self.documents.remove(&key);
                self.changed.insert(key);
            }
            // A `relax-spec.toml` may choose another edition now.
            lsp::notification::DidSaveTextDocument::METHOD | lsp::notification::DidChangeWatchedFiles::METHOD => {
                self.documents.values_mut().for_each(|file| file.analysis = None);
                self.changed.extend(self.documents.keys().cloned());
            }
            _ => {}
        }
    }

    /// The analysis of the current text of a file.
    fn analysis(&mut self, key: &str) -> Option<Rc<Analysis>> {
        let choices = self.choices;
        let file = self.documents.get_mut(key)?;
        if file.analysis.is_none() {
            let analysis = Rc::new(guarded(choices, &file.path, &file.document.text));
            if !analysis.modules.is_empty() {
                file.readable = Some(Rc::clone(&analysis));
            }
            file.analysis = Some(analysis);
        }
        file.analysis.clone()
    }

    /// Publishes the findings of the files that have changed; none for a file that was closed.
    fn publish(&mut self) -> Served<()> {
        for key in std::mem::take(&mut self.changed) {
            let analysis = self.analysis(&key);
            let file = self.documents.get(&key);
            let diagnostics = match (&analysis, file) {
                (Some(analysis), Some(file)) => {
                    let told = |finding| self.diagnostic(finding, &file.document);
                    analysis.findings.iter().take(MOST_SHOWN).map(told).collect()
                }
                (_, _) => Vec::new(),
            };
            let version = file.map(|file| file.document.version);
            let params = json!({"uri": key, "version": version, "diagnostics": diagnostics});
            let method = lsp::notification::PublishDiagnostics::METHOD.to_string();
            self.connection.sender.send(Notification { method, params }.into())?;
        }
        Ok(())
    }

    fn diagnostic(&self, finding: &Finding, document: &Document) -> lsp::Diagnostic {
        let help = finding.hint.as_ref().map(|hint| format!("\nhelp: {hint}")).unwrap_or_default();
        let href = finding.rule.and_then(|rule| self.link(rule));
        lsp::Diagnostic {
            range: document.range(shown(finding.span, document)),
            severity: Some(match finding.severity {
                Severity::Error => lsp::DiagnosticSeverity::ERROR,
                Severity::Warning => lsp::DiagnosticSeverity::WARNING,
                Severity::Limit => lsp::DiagnosticSeverity::INFORMATION,
            }),
            code: finding.rule.map(|rule| lsp::NumberOrString::String(rule.id().to_string())),
            code_description: href.map(|href| lsp::CodeDescription { href }),
            source: Some("relax-spec".to_string()),
            message: format!("{}{help}", finding.message),
            ..lsp::Diagnostic::default()
        }
    }

    /// The address of a rule: its page in the book, else the line of a file.
    fn link(&self, rule: Rule) -> Option<lsp::Uri> {
        if let Some(page) = self.choices.rule_page(rule) {
            return lsp::Uri::from_str(&page).ok();
        }
        let (path, line) = self.choices.rule_file(rule)?;
        lsp::Uri::from_str(&format!("{}#L{}", uri_of(&path)?.as_str(), line + 1)).ok()
    }

    fn answer(&mut self, request: &Request) -> Response {
        let (id, params) = (request.id.clone(), request.params.clone());
        let result = match request.method.as_str() {
            lsp::request::HoverRequest::METHOD => with(params, |params| self.hover(params)),
            lsp::request::GotoDefinition::METHOD => with(params, |params| self.definition(params)),
            lsp::request::DocumentLinkRequest::METHOD => with(params, |params| self.links(params)),
            lsp::request::CodeActionRequest::METHOD => with(params, |params| self.actions(params)),
            method => {
                let message = format!("there is no method `{method}`");
                return Response::new_err(id, ErrorCode::MethodNotFound as i32, message);
            }
        };
        match result {
            Ok(value) => Response::new_ok(id, value),
            Err(error) => Response::new_err(id, ErrorCode::InvalidParams as i32, error.to_string()),
        }
    }

    fn hover(&mut self, params: lsp::HoverParams) -> Option<lsp::Hover> {
        let at = params.text_document_position_params;
        let key = at.text_document.uri.as_str();
        let now = self.analysis(key)?;
        let file = self.documents.get(key)?;
        let offset = file.document.offset(at.position);
        let told = |analysis: &Analysis, offset: usize, document: &Document| {
            let (judged, name, span) = names::name_at(analysis, offset)?;
            // What is wrong with a program may be wrong with ours.
            let text = catch_unwind(AssertUnwindSafe(|| names::told(judged, &name, document))).ok()??;
            Some((text, span))
        };
        if let Some((value, span)) = told(&now, offset, &file.document) {
            return Some(hover_of(value, Some(file.document.range(span))));
        }
        // The text cannot be read at this moment: what was known before.
        let before = file.readable.as_ref().filter(|before| before.text != file.document.text)?;
        let earlier = earlier_offset(&before.text, &file.document.text, offset)?;
        let (value, _) = told(before, earlier, &Document::new(before.text.clone(), 0))?;
        Some(hover_of(value, None))
    }

    /// Where a name is bound, and where the rules of the findings at a place, or the one that the text names, stand.
    fn definition(&mut self, params: lsp::GotoDefinitionParams) -> Option<Vec<lsp::Location>> {
        let at = params.text_document_position_params;
        let key = at.text_document.uri.as_str();
        let now = self.analysis(key)?;
        let file = self.documents.get(key)?;
        let offset = file.document.offset(at.position);
        let binding = names::name_at(&now, offset)
            .and_then(|(judged, name, _)| names::binding_of(judged, &name))
            .map(|span| lsp::Location { uri: file.uri.clone(), range: file.document.range(span) });
        let named = rules_in(&file.document.text).into_iter().find(|(_, span)| is_in(*span, offset));
        let broken = now.findings.iter().filter(|finding| is_in(shown(finding.span, &file.document), offset));
        let rules: BTreeSet<Rule> =
            named.map(|(rule, _)| rule).into_iter().chain(broken.filter_map(|finding| finding.rule)).collect();
        let of_rule = |rule: Rule| {
            let (path, line) = self.choices.rule_file(rule)?;
            let start = lsp::Position { line, character: 0 };
            Some(lsp::Location { uri: uri_of(&path)?, range: lsp::Range { start, end: start } })
        };
        let places: Vec<lsp::Location> = binding.into_iter().chain(rules.into_iter().filter_map(of_rule)).collect();
        (!places.is_empty()).then_some(places)
    }

    /// A link for each rule that the text names.
    fn links(&mut self, params: lsp::DocumentLinkParams) -> Option<Vec<lsp::DocumentLink>> {
        let file = self.documents.get(params.text_document.uri.as_str())?;
        let link = |(rule, span): (Rule, Span)| lsp::DocumentLink {
            range: file.document.range(span),
            target: self.link(rule),
            tooltip: Some(first_sentence(rule)),
            data: None,
        };
        Some(rules_in(&file.document.text).into_iter().map(link).filter(|link| link.target.is_some()).collect())
    }

    /// Fixes for the findings in a range.
    fn actions(&mut self, params: lsp::CodeActionParams) -> Option<Vec<lsp::CodeAction>> {
        let key = params.text_document.uri.as_str();
        let now = self.analysis(key)?;
        let file = self.documents.get(key)?;
        let (start, end) = (file.document.offset(params.range.start), file.document.offset(params.range.end));
        let touches = |finding: &&Finding| {
            let span = shown(finding.span, &file.document);
            span.start as usize <= end && start <= span.end as usize
        };
        let mut actions = Vec::new();
        for finding in now.findings.iter().filter(touches).take(MOST_FIXED) {
            let fixes =
                catch_unwind(AssertUnwindSafe(|| fixes::fixes(&Bounded(self.choices), &file.path, &now, finding)));
            for (i, fix) in fixes.unwrap_or_default().into_iter().enumerate() {
                let edit = |(range, new_text): (std::ops::Range<usize>, String)| {
                    let (start, end) = (file.document.position(range.start), file.document.position(range.end));
                    lsp::TextEdit { range: lsp::Range { start, end }, new_text }
                };
                let edits: Vec<lsp::TextEdit> = fix.edits.into_iter().map(edit).collect();
                actions.push(lsp::CodeAction {
                    title: fix.title,
                    kind: Some(lsp::CodeActionKind::QUICKFIX),
                    diagnostics: Some(vec![self.diagnostic(finding, &file.document)]),
                    edit: Some(workspace_edit(&file.uri, edits)),
                    is_preferred: Some(i == 0),
                    ..lsp::CodeAction::default()
                });
            }
        }
        Some(actions)
    }
}

// The key of a map of edits is an address, which nobody changes.
#[allow(clippy::mutable_key_type)]
fn workspace_edit(uri: &lsp::Uri, edits: Vec<lsp::TextEdit>) -> lsp::WorkspaceEdit {
    lsp::WorkspaceEdit { changes: Some(HashMap::from([(uri.clone(), edits)])), ..lsp::WorkspaceEdit::default() }
}

/// The largest number of findings of a file that are shown.
const MOST_SHOWN: usize = 1_000;

/// The largest number of findings for which fixes are looked for at a time.
const MOST_FIXED: usize = 8;

/// The steps that the judgements on a text may take: some seconds.
const STEPS: u64 = 50_000_000;

/// Choices whose contexts give up when they have taken too many steps.
struct Bounded<'c>(&'c dyn Choices);

impl Choices for Bounded<'_> {
    fn context(&self, path: &Path, module: &IrModule) -> Result<Cx, String> {
        // It ends the analysis, and is caught around it. No panic is reported.
        let fuel = Fuel::new(STEPS, || resume_unwind(Box::new(TooLong)));
        self.0.context(path, module).map(|cx| cx.with_fuel(fuel))
    }

    fn rule_file(&self, rule: Rule) -> Option<(PathBuf, u32)> {
        self.0.rule_file(rule)
    }

    fn rule_page(&self, rule: Rule) -> Option<String> {
        self.0.rule_page(rule)
    }
}

/// The judgements on a text take too long for an editor.
struct TooLong;

/// The analysis of a text, whatever happens.
fn guarded(choices: &dyn Choices, path: &Path, text: &str) -> Analysis {
    catch_unwind(AssertUnwindSafe(|| Analysis::of(&Bounded(choices), path, text))).unwrap_or_else(|reason| {
        let message = match reason.is::<TooLong>() {
            true => "undecided: the module is too large to be judged while it is edited",
            false => "internal error: please report the file",
        };
        let (severity, span) = (Severity::Limit, Span::new(0, 1));
        let finding = Finding { severity, rule: None, message: message.into(), hint: None, span, module: None };
        Analysis { text: text.to_string(), findings: vec![finding], ..Analysis::default() }
    })
}

/// Why a request needs no answer any more: it was cancelled, or its text has changed since.
fn staleness(request: &Request, later: &[Message]) -> Option<ErrorCode> {
    let notifications = later.iter().filter_map(|message| match message {
        Message::Notification(notification) => Some(notification),
        Message::Request(_) | Message::Response(_) => None,
    });
    let of = |params: &Value| params.get("textDocument").and_then(|of| of.get("uri")).cloned();
    for Notification { method, params } in notifications {
        if method == lsp::notification::Cancel::METHOD {
            let id = params.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
            if id.as_ref() == Some(&request.id) {
                return Some(ErrorCode::RequestCanceled);
            }
        } else if method == lsp::notification::DidChangeTextDocument::METHOD
            && of(params).is_some()
            && of(params) == of(&request.params)
        {
            return Some(ErrorCode::ContentModified);
        }
    }
    None
}

/// The answer to a request with these parameters, as JSON; `null` if there is nothing to say.
fn with<P: serde::de::DeserializeOwned, R: serde::Serialize>(
    params: Value,
    answer: impl FnOnce(P) -> Option<R>,
) -> Result<Value, serde_json::Error> {
    serde_json::from_value(params).and_then(|params| serde_json::to_value(answer(params)))
}

fn hover_of(value: String, range: Option<lsp::Range>) -> lsp::Hover {
    let contents = lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value };
    lsp::Hover { contents: lsp::HoverContents::Markup(contents), range }
}

/// The part of a place to underline: of several lines the first.
fn shown(span: Span, document: &Document) -> Span {
    let end = u32::try_from(document.line_end(span.start as usize)).unwrap_or(u32::MAX);
    Span::new(span.start, span.end.min(end).max(span.start))
}

fn is_in(span: Span, offset: usize) -> bool {
    (span.start as usize..=span.end as usize).contains(&offset)
}

/// Where an offset was before a change, if it is outside of what was changed.
fn earlier_offset(before: &str, now: &str, offset: usize) -> Option<usize> {
    let same = |pairs: &mut dyn Iterator<Item = (u8, u8)>| pairs.take_while(|(a, b)| a == b).count();
    let prefix = same(&mut before.bytes().zip(now.bytes()));
    if offset <= prefix {
        return Some(offset);
    }
    let suffix = same(&mut before.bytes().rev().zip(now.bytes().rev()));
    let behind = now.len().checked_sub(offset)?;
    if behind <= suffix { before.len().checked_sub(behind) } else { None }
}

/// The rules that a text names, with their places.
fn rules_in(text: &str) -> Vec<(Rule, Span)> {
    let is_of_id = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let mut rules = Vec::new();
    let mut at = 0;
    for piece in text.split_inclusive(|c: char| !is_of_id(c)) {
        let word = piece.trim_end_matches(|c: char| !is_of_id(c)).trim_end_matches('.');
        let is_like_an_id = word.starts_with(|c: char| c.is_ascii_uppercase()) && word.contains('.');
        if let (true, Ok(rule)) = (is_like_an_id, word.parse::<Rule>()) {
            let small = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            rules.push((rule, Span::new(small(at), small(at + word.len()))));
        }
        at += piece.len();
    }
    rules
}

/// The beginning of a rule's text.
fn first_sentence(rule: Rule) -> String {
    let text = rule.info().text.replace('\n', " ");
    text.split_inclusive(". ").next().unwrap_or_default().trim_end().to_string()
}

/// The path of an address. One that is not of a file is like standard input.
fn path_of(uri: &lsp::Uri) -> PathBuf {
    let is_file = uri.scheme().is_some_and(|scheme| scheme.as_str().eq_ignore_ascii_case("file"));
    if !is_file {
        return PathBuf::from("-");
    }
    let path = uri.path().as_estr().decode().into_string_lossy().into_owned();
    // `/c:/dir` on Windows.
    let drive = path.strip_prefix('/').filter(|rest| rest.get(1..2) == Some(":"));
    PathBuf::from(drive.unwrap_or(&path))
}

/// The address of a file.
fn uri_of(path: &Path) -> Option<lsp::Uri> {
    let path = path.to_str()?.replace('\\', "/");
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "file:///" });
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' | b':' => uri.push(byte.into()),
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    lsp::Uri::from_str(&uri).ok()
}

#[cfg(test)]
mod tests;
