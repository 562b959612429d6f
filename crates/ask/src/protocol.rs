//! The adapter protocol, version 1: JSON lines over standard input and output. `conformance/INTERPRETING.md` is its
//! description.

use serde_json::json;

use relax_spec::book::{Basis, Edition, Proposal, Rule};
use relax_spec::data::json::{read, to_value, value_of};
use relax_spec::data::record::record;
use relax_spec::data::{
    BorrowedText, DataError, DataReader, DataResult, Document, FromData, MAX_DEPTH, Node, NodeData, Write, from_node,
};
use relax_spec::grammar::{GlobalFunc, IrModule};
use relax_spec::judge::{Cx, with_stack};
use relax_spec::question::{Answer, Ask, Outcome, ProgramInput, snake_case};
use relax_spec::syntax::tvmscript::{Dialect, parse_module, print_module};
use relax_spec::value::Effect;

/// The version spoken here.
pub const VERSION: u32 = 1;

/// The name in the oracle's greeting.
pub const ORACLE: &str = "relax-spec";

/// The reply to `hello`.
#[derive(Clone, PartialEq, Debug)]
pub struct AdapterGreeting {
    /// The id of the `hello`.
    pub id: u64,
    /// The version that the adapter selects from those offered.
    pub protocol: u32,
    /// The implementation that answers.
    pub implementation: Identity,
    /// The edition of the text that it claims to follow. It is judged by this edition unless another one is requested.
    pub edition: Edition,
    /// The kinds of questions that it can answer, as `op` in the protocol.
    pub capabilities: Vec<String>,
}

/// The identity of an implementation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// The name in reports; the oracle's is [`ORACLE`].
    pub name: String,
    /// Free text; empty if there is none.
    pub version: String,
}

/// A line to an adapter.
#[derive(Clone, PartialEq, Debug)]
pub enum AdapterRequest {
    /// The first line: asks for the identity and the version of the protocol.
    Hello {
        /// The id, which the greeting repeats.
        id: u64,
        /// The oldest and the newest version of the protocol that the runner speaks.
        versions: [u32; 2],
    },
    /// A question, answered by an [`AdapterLine`].
    Question(WireQuestion),
    /// The last line: the adapter ends.
    Bye,
}

/// A question on the wire.
#[derive(Clone, PartialEq, Debug)]
pub struct WireQuestion {
    /// The id, which the reply repeats.
    pub id: u64,
    /// The text to apply: an edition, with or without a proposal.
    pub basis: Basis,
    /// The question.
    pub ask: Ask,
}

/// A reply to a question on the wire.
#[derive(Clone, PartialEq, Debug)]
pub enum AdapterReply {
    /// An answer. The runner decides whether it is correct.
    Answer {
        /// The answer, in the form that follows from the question.
        answer: Document<'static>,
        /// The rules that it warns of; `None` from an implementation that does not report them.
        warnings: Option<Vec<Rule>>,
    },
    /// The program or the term was refused before it ran.
    Rejected {
        /// The stage it reached, in the implementation's own words.
        stage: String,
        /// The kind of error, in its own words.
        class: String,
        /// For people.
        message: String,
    },
    /// The run ended with an error.
    Trapped {
        /// The kind of error, in its own words.
        class: String,
        /// For people.
        message: String,
        /// The effects seen before the error.
        effects: Vec<Effect>,
    },
    /// The implementation lacks the feature that the question needs.
    Unsupported {
        /// The missing feature.
        what: String,
    },
    /// The implementation reports a defect of its own.
    InternalError {
        /// For people.
        message: String,
    },
}

record! { AdapterGreeting, "a greeting", {
    id: one, protocol: one, implementation: one, edition: unless(Edition::default()), capabilities: many
} }
record! { Identity, "an implementation", { name: one, version: or(String::new()) } }

impl FromData for AdapterReply {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<AdapterReply> {
        let fields = r.fields(node, "a reply", None)?;
        let outcome: String = fields.one(r, "outcome")?;
        let text = |r: &mut DataReader<'_>, name: &str| fields.or(r, name, String::new);
        match outcome.as_str() {
            "answer" => match node.get("answer") {
                Some(answer) => Ok(AdapterReply::Answer {
                    answer: Document::new(answer.clone().into_owned()),
                    warnings: fields.one(r, "warnings")?,
                }),
                None => Err(DataError::at(node.span, "an answer has the field `answer`")),
            },
            "rejected" => Ok(AdapterReply::Rejected {
                stage: text(r, "stage")?,
                class: text(r, "class")?,
                message: text(r, "message")?,
            }),
            "trapped" => Ok(AdapterReply::Trapped {
                class: text(r, "class")?,
                message: text(r, "message")?,
                effects: fields.many(r, "effects")?,
            }),
            "unsupported" => Ok(AdapterReply::Unsupported { what: text(r, "what")? }),
            "internal_error" => Ok(AdapterReply::InternalError { message: text(r, "message")? }),
            other => Err(DataError::at(node.span, format!("there is no outcome `{other}`"))),
        }
    }
}

impl Write for AdapterReply {
    fn write(&self) -> Node<'_> {
        let mut fields: Vec<(BorrowedText<'_>, Node<'_>)> = Vec::new();
        let outcome = match self {
            AdapterReply::Answer { answer, warnings } => {
                fields.push(("answer".into(), Node::clone(answer)));
                fields.extend(warnings.as_ref().map(|warnings| ("warnings".into(), warnings.write())));
                "answer"
            }
            AdapterReply::Rejected { stage, class, message } => {
                fields.extend([said("stage", stage), said("class", class), said("message", message)]);
                "rejected"
            }
            AdapterReply::Trapped { class, message, effects } => {
                fields.extend([said("class", class), said("message", message)]);
                fields.push(("effects".into(), effects.write()));
                "trapped"
            }
            AdapterReply::Unsupported { what } => {
                fields.push(said("what", what));
                "unsupported"
            }
            AdapterReply::InternalError { message } => {
                fields.push(said("message", message));
                "internal_error"
            }
        };
        fields.push(("outcome".into(), Node::text(outcome)));
        NodeData::Struct(fields).into()
    }
}

/// A field with a text.
fn said<'n>(name: &'static str, text: &'n String) -> (BorrowedText<'n>, Node<'n>) {
    (name.into(), text.write())
}

/// A line that an adapter writes after a question.
#[derive(Clone, PartialEq, Debug)]
pub enum AdapterLine {
    /// A sign that it still works. The time limit does not change.
    Heartbeat {
        /// The id of the question.
        id: u64,
        /// The stage that it begins, kept in case of a crash.
        stage: String,
    },
    /// The end of a question.
    Reply {
        /// The id of the question.
        id: u64,
        /// The outcome of the question.
        reply: AdapterReply,
    },
}

/// The reason why a line is not valid in the protocol.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProtocolError {
    /// The error of the JSON reader.
    #[error("not JSON: {0}")]
    Json(String),
    /// JSON of the wrong form; the error.
    #[error("{0}")]
    Shape(String),
    /// A version that this runner does not support.
    #[error("the implementation speaks protocol {0}, this runner version {VERSION}")]
    Version(u32),
    /// A kind of question that does not exist.
    #[error("there is no op `{0}`")]
    UnknownOp(String),
}

/// The data in a line of JSON.
pub fn parse_json(text: &str) -> Result<Document<'_>, ProtocolError> {
    read(text, MAX_DEPTH).map_err(|error| ProtocolError::Json(error.located(text)))
}

/// Reads a typed value out of data.
pub fn from_data<T: FromData>(node: &Node<'_>) -> Result<T, ProtocolError> {
    from_node(node).map_err(|error| ProtocolError::Shape(error.to_string()))
}

/// A line of JSON, in the order of the keys.
pub fn to_line(value: &impl Write) -> String {
    with_stack(|| to_value(value).to_string())
}

/// `erase_to_well_defined` becomes `EraseToWellDefined`.
fn camel_case(op: &str) -> String {
    op.split('_')
        .map(|word| {
            let mut chars = word.chars();
            chars.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(chars).collect::<String>()
        })
        .collect()
}

/// The question from its name and arguments on the wire.
///
/// # Errors
///
/// There is no such question, or its arguments have the wrong form.
pub fn ask_from_wire(op: &str, args: &Node<'_>) -> Result<Ask, ProtocolError> {
    let variant = camel_case(op);
    if !Ask::VARIANTS.contains(&variant.as_str()) {
        return Err(ProtocolError::UnknownOp(op.to_string()));
    }
    Ask::from_arguments(&mut DataReader::new(&mut Cx::new()), &variant, args)
        .map_err(|error| ProtocolError::Shape(error.to_string()))
}

/// The same question with its programs as ASTs, as far as they can be read.
pub fn with_module(ask: Ask) -> Ask {
    ask.map_programs(as_module)
}

/// The program as an AST, or unchanged if its text cannot be read.
fn as_module(program: ProgramInput) -> ProgramInput {
    match program {
        ProgramInput::Script(text) => parse_module(&text).map_or(ProgramInput::Script(text), ProgramInput::Module),
        ProgramInput::Module(module) => ProgramInput::Module(module),
    }
}

/// The names of all ops and all proposals, in the form of `capabilities`.
pub fn all_capabilities() -> Vec<String> {
    let ops = Ask::VARIANTS.iter().map(|variant| snake_case(variant));
    ops.chain(Proposal::ALL.map(capability)).collect()
}

impl WireQuestion {
    /// The line to send. If the program has `PrimFunc`s, their text is included.
    pub fn to_line(&self) -> String {
        let args = Document::new(NodeData::List(self.ask.arguments()).into());
        let mut line = json!({
            "id": self.id,
            "op": self.ask.op(),
            "edition": self.basis.edition().name(),
            "args": value_of(&args),
        });
        if let Some(proposal) = self.basis.proposal() {
            line["proposal"] = proposal.name().into();
        }
        if let Some(ProgramInput::Module(module)) = self.ask.program()
            && let Some(text) = prim_func_text(module)
        {
            line["prim_funcs"] = text.into();
        }
        with_stack(|| line.to_string())
    }
}

/// A TVMScript module with only the `PrimFunc`s of a program; `None` if it has none.
pub(crate) fn prim_func_text(module: &IrModule) -> Option<String> {
    let is_prim_func = |func: &GlobalFunc| match func {
        GlobalFunc::PrimFunc(_) => true,
        GlobalFunc::Function(_) | GlobalFunc::ExternFunc(_) => false,
    };
    let funcs: Vec<_> = module.funcs.iter().filter(|(_, func)| is_prim_func(func)).cloned().collect();
    (!funcs.is_empty()).then(|| print_module(&IrModule { funcs, ..IrModule::default() }, Dialect::default()))
}

impl AdapterRequest {
    /// Reads a line from a runner.
    pub fn parse(text: &str) -> Result<(Option<u64>, Result<AdapterRequest, ProtocolError>), ProtocolError> {
        let request = parse_json(text)?;
        if request.as_entries().is_none() {
            return Err(ProtocolError::Shape("a request is an object".into()));
        }
        let id = id_of(&request);
        Ok((id, AdapterRequest::from_data(id, &request)))
    }

    fn from_data(id: Option<u64>, request: &Node<'_>) -> Result<AdapterRequest, ProtocolError> {
        let op = request.get("op").and_then(Node::as_text);
        let op = op.ok_or_else(|| ProtocolError::Shape("a request has an `op`".into()))?;
        if op == "bye" {
            return Ok(AdapterRequest::Bye);
        }
        let id = id.ok_or_else(|| ProtocolError::Shape("a request has an `id`".into()))?;
        if op == "hello" {
            let (low, high) = request.get("protocol").map_or(Ok((VERSION, VERSION)), from_data)?;
            return Ok(AdapterRequest::Hello { id, versions: [low, high] });
        }
        let edition = match request.get("edition").and_then(Node::as_text) {
            None => Edition::default(),
            Some(name) => Edition::ALL
                .into_iter()
                .find(|edition| edition.name() == name)
                .ok_or_else(|| ProtocolError::Shape(format!("there is no edition `{name}`")))?,
        };
        let none = Node::from(NodeData::List(Vec::new()));
        let ask = ask_from_wire(op, request.get("args").unwrap_or(&none))?;
        Ok(AdapterRequest::Question(WireQuestion { id, basis: with_proposal(edition, request)?, ask }))
    }

    /// The first line of every conversation.
    pub fn hello_line() -> String {
        json!({"id": HELLO, "op": "hello", "protocol": [VERSION, VERSION]}).to_string()
    }

    /// The line of [`AdapterRequest::Bye`].
    pub fn bye_line() -> String {
        json!({"op": "bye"}).to_string()
    }
}

/// The edition with the proposal that a question names.
fn with_proposal(edition: Edition, request: &Node<'_>) -> Result<Basis, ProtocolError> {
    let named = request.get("proposal").and_then(Node::as_text).map(str::parse::<Proposal>).transpose();
    let proposal = named.map_err(|error| ProtocolError::Shape(error.to_string()))?;
    Basis::new(edition, proposal).map_err(|error| ProtocolError::Shape(error.to_string()))
}

/// The capability of an adapter that can judge by a proposal.
pub fn capability(proposal: Proposal) -> String {
    format!("proposal:{proposal}")
}

impl AdapterReply {
    /// The outcome of a question with this reply.
    pub fn into_outcome(self, ask: &Ask) -> Outcome {
        match self {
            AdapterReply::Answer { answer, warnings } => match given(ask, &answer) {
                Ok(answer) => Outcome::Answer { answer, warnings },
                Err(error) => Outcome::ProtocolError { message: format!("not an answer to `{}`: {error}", ask.op()) },
            },
            AdapterReply::Rejected { stage, class, message } => Outcome::Rejected { stage, class, message },
            AdapterReply::Trapped { class, message, effects } => Outcome::Trapped { class, message, effects },
            AdapterReply::Unsupported { what } => Outcome::Unsupported { what },
            AdapterReply::InternalError { message } => Outcome::InternalError { message },
        }
    }

    /// The reply for an outcome. An outcome that only a runner can find becomes an error of the adapter.
    pub fn of(outcome: &Outcome) -> AdapterReply {
        match outcome {
            Outcome::Answer { answer, warnings } => {
                AdapterReply::Answer { answer: Document::new(answer.write().into_owned()), warnings: warnings.clone() }
            }
            Outcome::Rejected { stage, class, message } => {
                AdapterReply::Rejected { stage: stage.clone(), class: class.clone(), message: message.clone() }
            }
            Outcome::Trapped { class, message, effects } => {
                AdapterReply::Trapped { class: class.clone(), message: message.clone(), effects: effects.clone() }
            }
            Outcome::Unsupported { what } => AdapterReply::Unsupported { what: what.clone() },
            Outcome::InternalError { message } => AdapterReply::InternalError { message: message.clone() },
            Outcome::Crash { .. } | Outcome::Timeout { .. } | Outcome::ProtocolError { .. } | Outcome::Flaky { .. } => {
                AdapterReply::InternalError { message: outcome.to_string() }
            }
        }
    }
}

/// Reads an answer to a question in its wire form.
fn given(ask: &Ask, answer: &Node<'_>) -> DataResult<Answer> {
    ask.answer_kind().read(&mut DataReader::new(&mut Cx::new()), answer)
}

/// The `id` of a line.
fn id_of(line: &Node<'_>) -> Option<u64> {
    line.get("id").and_then(Node::as_number).and_then(|id| id.parse().ok())
}

/// The id of the first line of a conversation.
const HELLO: u64 = 0;

impl AdapterGreeting {
    /// Reads the first line of an adapter. Fails if its form or version is wrong.
    pub fn parse(text: &str) -> Result<AdapterGreeting, ProtocolError> {
        let greeting: AdapterGreeting = from_data(&*parse_json(text)?)?;
        if greeting.protocol != VERSION {
            return Err(ProtocolError::Version(greeting.protocol));
        }
        match greeting.id {
            HELLO => Ok(greeting),
            other => Err(ProtocolError::Shape(format!("a greeting answers question {HELLO}, this one {other}"))),
        }
    }
}

impl AdapterLine {
    /// Reads a line: a reply if it has an `outcome`, else a heartbeat. An error comes with the id of the question, if
    /// the line has one.
    pub fn parse(text: &str) -> Result<AdapterLine, (Option<u64>, ProtocolError)> {
        let line = parse_json(text).map_err(|error| (None, error))?;
        let shape = |message: &str| ProtocolError::Shape(message.into());
        let id = id_of(&line).ok_or_else(|| (None, shape("a reply has an `id`")))?;
        if line.get("outcome").is_some() {
            return match from_data(&line) {
                Ok(reply) => Ok(AdapterLine::Reply { id, reply }),
                Err(error) => Err((Some(id), error)),
            };
        }
        match line.get("stage").and_then(Node::as_text) {
            Some(stage) => Ok(AdapterLine::Heartbeat { id, stage: stage.to_string() }),
            None => Err((Some(id), shape("a line has an `outcome` or a `stage`"))),
        }
    }

    /// The line as it is sent, without its end.
    pub fn to_text(&self) -> String {
        let line = match self {
            AdapterLine::Heartbeat { id, stage } => json!({"id": id, "stage": stage}),
            AdapterLine::Reply { id, reply } => {
                let mut line = to_value(reply);
                line["id"] = (*id).into();
                line
            }
        };
        with_stack(|| line.to_string())
    }
}
