//! The adapter protocol, version 1: JSON lines over standard input and output. `conformance/INTERPRETING.md` is its
//! description.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::book::{Edition, Rule};
use crate::grammar::{GlobalFunc, IrModule};
use crate::judge::with_stack;
use crate::question::{Answer, AnswerKind, Ask, Outcome, Program, ReadAnswer, snake_case};
use crate::syntax::depth;
use crate::syntax::tvmscript::{Dialect, parse_module, print_module};
use crate::value::Effect;

/// The version spoken here.
pub const VERSION: u32 = 1;

/// The name under which the oracle introduces itself.
pub const ORACLE: &str = "relax-spec";

/// The reply to `hello`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Greeting {
    /// That of the `hello`.
    pub id: u64,
    /// The version that the adapter chooses of those offered.
    pub protocol: u32,
    /// Who answers.
    pub implementation: Identity,
    /// The kinds of question that it can answer, as `op` in the protocol.
    #[serde(default)]
    pub capabilities: Vec<String>,
}

/// Who answers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Identity {
    /// As in reports; the oracle's is [`ORACLE`].
    pub name: String,
    /// Free text; empty if it says none.
    #[serde(default)]
    pub version: String,
}

/// What an adapter reads.
#[derive(Clone, PartialEq, Debug)]
pub enum Request {
    /// The first line: asks who answers, and for the version of the protocol.
    Hello {
        /// Comes back in the greeting.
        id: u64,
        /// The oldest and the newest version of the protocol that the runner speaks.
        versions: [u32; 2],
    },
    /// A question, answered by a [`Line`].
    Question(Question),
    /// The last line: the adapter ends.
    Bye,
}

/// A question on the wire.
#[derive(Clone, PartialEq, Debug)]
pub struct Question {
    /// Comes back in the reply.
    pub id: u64,
    /// The edition of the text that is meant.
    pub edition: Edition,
    /// What is asked.
    pub ask: Ask,
}

/// A reply to a question on the wire.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Reply {
    /// An answer; whether it is right is for the runner to say.
    Answer {
        /// As JSON, in the form of the question's [`AnswerKind`].
        answer: Value,
        /// The rules that it warns of; `None` from one that does not tell.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        warnings: Option<Vec<Rule>>,
    },
    /// The program or the term is refused before it runs.
    Rejected {
        /// How far it came, in the implementation's own words.
        #[serde(default)]
        stage: String,
        /// The kind of error, in its own words.
        #[serde(default)]
        class: String,
        /// For people.
        #[serde(default)]
        message: String,
    },
    /// The run ended with an error.
    Trapped {
        /// The kind of error, in its own words.
        #[serde(default)]
        class: String,
        /// For people.
        #[serde(default)]
        message: String,
        /// What the world outside saw before.
        #[serde(default)]
        effects: Vec<Effect>,
    },
    /// The implementation has no such thing.
    Unsupported {
        /// What it lacks.
        #[serde(default)]
        what: String,
    },
    /// It failed by a defect of its own.
    InternalError {
        /// For people.
        #[serde(default)]
        message: String,
    },
}

/// A line that an adapter writes after a question.
#[derive(Clone, PartialEq, Debug)]
pub enum Line {
    /// It still works; the limit of time stays as it is.
    Heartbeat {
        /// That of the question.
        id: u64,
        /// What it is about to do, kept for a crash.
        stage: String,
    },
    /// The end of a question.
    Reply {
        /// That of the question.
        id: u64,
        /// What the question came to.
        reply: Reply,
    },
}

/// Why a line is not of the protocol.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProtocolError {
    /// What the JSON reader says.
    #[error("not JSON: {0}")]
    Json(String),
    /// JSON of another form; what is wrong with it.
    #[error("{0}")]
    Shape(String),
    /// A version that this runner does not speak.
    #[error("the implementation speaks protocol {0}, this runner version {VERSION}")]
    Version(u32),
    /// A kind of question that does not exist.
    #[error("there is no op `{0}`")]
    UnknownOp(String),
}

/// How deep brackets may nest in JSON and RON.
pub const MAX_DEPTH: usize = 20_000;

/// Reads JSON.
pub fn parse_json(text: &str) -> Result<Value, ProtocolError> {
    if depth(text) > MAX_DEPTH {
        return Err(ProtocolError::Json(format!("nested deeper than {MAX_DEPTH}")));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    let value = Value::deserialize(serde_stacker::Deserializer::new(&mut reader))
        .map_err(|e| ProtocolError::Json(e.to_string()))?;
    reader.end().map_err(|e| ProtocolError::Json(e.to_string()))?;
    Ok(value)
}

/// Reads a typed value out of JSON.
pub fn from_json<T: for<'de> Deserialize<'de>>(value: Value) -> Result<T, ProtocolError> {
    T::deserialize(serde_stacker::Deserializer::new(value)).map_err(|e| ProtocolError::Shape(e.to_string()))
}

fn to_json<T: Serialize>(value: &T) -> Result<Value, ProtocolError> {
    with_stack(|| serde_json::to_value(value)).map_err(|e| ProtocolError::Shape(e.to_string()))
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

impl Ask {
    /// The op and its arguments on the wire. serde writes a variant of one field without the list.
    pub fn to_wire(&self) -> Result<(String, Vec<Value>), ProtocolError> {
        let Value::Object(map) = to_json(self)? else {
            return Err(ProtocolError::Shape("a question is an object".into()));
        };
        let args = match map.into_iter().next() {
            Some((_, Value::Array(args))) => args,
            Some((_, single)) => vec![single],
            None => Vec::new(),
        };
        Ok((self.op(), args))
    }

    /// The question from its name and arguments on the wire.
    pub fn from_wire(op: &str, mut args: Vec<Value>) -> Result<Ask, ProtocolError> {
        let variant = camel_case(op);
        if !Ask::VARIANTS.contains(&variant.as_str()) {
            return Err(ProtocolError::UnknownOp(op.to_string()));
        }
        let fields = if args.len() == 1 { args.remove(0) } else { Value::Array(args) };
        from_json(json!({ variant: fields }))
    }

    /// The same question with its programs as ASTs, as far as they can be read.
    pub fn with_module(self) -> Ask {
        self.map_programs(as_module)
    }
}

/// The program as an AST, or as it is if its text cannot be read.
fn as_module(program: Program) -> Program {
    match program {
        Program::Script(text) => parse_module(&text).map_or(Program::Script(text), Program::Module),
        Program::Module(module) => Program::Module(module),
    }
}

/// The names of all ops, as for `capabilities`.
pub fn all_ops() -> Vec<String> {
    Ask::VARIANTS.iter().map(|variant| snake_case(variant)).collect()
}

impl Question {
    /// The line to send. Where the program has `PrimFunc`s, their text goes along.
    pub fn to_line(&self) -> Result<String, ProtocolError> {
        let (op, args) = self.ask.to_wire()?;
        let mut line = Map::new();
        line.insert("id".into(), self.id.into());
        line.insert("op".into(), op.into());
        line.insert("edition".into(), self.edition.name().into());
        line.insert("args".into(), Value::Array(args));
        if let Some(Program::Module(module)) = self.ask.program()
            && let Some(text) = prim_func_text(module)
        {
            line.insert("prim_funcs".into(), text.into());
        }
        with_stack(|| serde_json::to_string(&Value::Object(line))).map_err(|e| ProtocolError::Shape(e.to_string()))
    }
}

/// A TVMScript module of just the `PrimFunc`s of a program; `None` if it has none.
fn prim_func_text(module: &IrModule) -> Option<String> {
    let is_prim_func = |func: &GlobalFunc| match func {
        GlobalFunc::PrimFunc(_) => true,
        GlobalFunc::Function(_) => false,
    };
    let funcs: Vec<_> = module.funcs.iter().filter(|(_, func)| is_prim_func(func)).cloned().collect();
    (!funcs.is_empty()).then(|| print_module(&IrModule { funcs, ..IrModule::default() }, Dialect::default()))
}

impl Request {
    /// Reads a line that a runner wrote.
    pub fn parse(text: &str) -> Result<(Option<u64>, Result<Request, ProtocolError>), ProtocolError> {
        let Value::Object(mut map) = parse_json(text)? else {
            return Err(ProtocolError::Shape("a request is an object".into()));
        };
        let id = map.get("id").and_then(Value::as_u64);
        Ok((id, Request::from_map(id, &mut map)))
    }

    fn from_map(id: Option<u64>, map: &mut Map<String, Value>) -> Result<Request, ProtocolError> {
        let op = map
            .get("op")
            .and_then(Value::as_str)
            .ok_or_else(|| ProtocolError::Shape("a request has an `op`".into()))?;
        if op == "bye" {
            return Ok(Request::Bye);
        }
        let op = op.to_string();
        let id = id.ok_or_else(|| ProtocolError::Shape("a request has an `id`".into()))?;
        if op == "hello" {
            let versions = from_json(map.remove("protocol").unwrap_or_else(|| json!([VERSION, VERSION])))?;
            return Ok(Request::Hello { id, versions });
        }
        let edition = match map.get("edition").and_then(Value::as_str) {
            None => Edition::default(),
            Some(name) => Edition::ALL
                .into_iter()
                .find(|edition| edition.name() == name)
                .ok_or_else(|| ProtocolError::Shape(format!("there is no edition `{name}`")))?,
        };
        let args = from_json(map.remove("args").unwrap_or_else(|| json!([])))?;
        Ok(Request::Question(Question { id, edition, ask: Ask::from_wire(&op, args)? }))
    }

    /// The first line of every conversation.
    pub fn hello_line() -> String {
        json!({"id": 0, "op": "hello", "protocol": [VERSION, VERSION]}).to_string()
    }

    /// The line of [`Request::Bye`].
    pub fn bye_line() -> String {
        json!({"op": "bye"}).to_string()
    }
}

impl Reply {
    /// Reads a reply to a question.
    pub fn into_outcome(self, ask: &Ask) -> Outcome {
        match self {
            Reply::Answer { answer, warnings } => match ask.answer_kind().read_json(answer) {
                Ok(answer) => Outcome::Answer { answer, warnings },
                Err(error) => Outcome::ProtocolError { message: format!("not an answer to `{}`: {error}", ask.op()) },
            },
            Reply::Rejected { stage, class, message } => Outcome::Rejected { stage, class, message },
            Reply::Trapped { class, message, effects } => Outcome::Trapped { class, message, effects },
            Reply::Unsupported { what } => Outcome::Unsupported { what },
            Reply::InternalError { message } => Outcome::InternalError { message },
        }
    }

    /// The reply that says this; what only a runner can find is an error of the adapter here.
    pub fn of(outcome: &Outcome) -> Result<Reply, ProtocolError> {
        Ok(match outcome {
            Outcome::Answer { answer, warnings } => {
                Reply::Answer { answer: answer.to_bare_json()?, warnings: warnings.clone() }
            }
            Outcome::Rejected { stage, class, message } => {
                Reply::Rejected { stage: stage.clone(), class: class.clone(), message: message.clone() }
            }
            Outcome::Trapped { class, message, effects } => {
                Reply::Trapped { class: class.clone(), message: message.clone(), effects: effects.clone() }
            }
            Outcome::Unsupported { what } => Reply::Unsupported { what: what.clone() },
            Outcome::InternalError { message } => Reply::InternalError { message: message.clone() },
            Outcome::Crash { .. } | Outcome::Timeout { .. } | Outcome::ProtocolError { .. } | Outcome::Flaky { .. } => {
                Reply::InternalError { message: outcome.to_string() }
            }
        })
    }
}

impl Greeting {
    /// Reads the first line of an adapter. An error if it is of another form or version.
    pub fn parse(text: &str) -> Result<Greeting, ProtocolError> {
        let greeting: Greeting = from_json(parse_json(text)?)?;
        if greeting.protocol != VERSION {
            return Err(ProtocolError::Version(greeting.protocol));
        }
        Ok(greeting)
    }
}

impl Line {
    /// Reads a line: a reply if it has an `outcome`, else a heartbeat.
    pub fn parse(text: &str) -> Result<Line, ProtocolError> {
        let value = parse_json(text)?;
        let id = value
            .get("id")
            .and_then(Value::as_u64)
            .ok_or_else(|| ProtocolError::Shape("a reply has an `id`".into()))?;
        if value.get("outcome").is_some() {
            return Ok(Line::Reply { id, reply: from_json(value)? });
        }
        match value.get("stage").and_then(Value::as_str) {
            Some(stage) => Ok(Line::Heartbeat { id, stage: stage.to_string() }),
            None => Err(ProtocolError::Shape("a line has an `outcome` or a `stage`".into())),
        }
    }

    /// The line as it is sent, without its end.
    pub fn to_text(&self) -> Result<String, ProtocolError> {
        let value = match self {
            Line::Heartbeat { id, stage } => json!({"id": id, "stage": stage}),
            Line::Reply { id, reply } => {
                let mut value = to_json(reply)?;
                if let Value::Object(map) = &mut value {
                    map.insert("id".into(), (*id).into());
                }
                value
            }
        };
        with_stack(|| serde_json::to_string(&value)).map_err(|e| ProtocolError::Shape(e.to_string()))
    }
}

impl Answer {
    /// The answer as sent: without the name of its type, which follows from the question.
    pub fn to_bare_json(&self) -> Result<Value, ProtocolError> {
        match self {
            Answer::Bool(x) => to_json(x),
            Answer::Type(x) => to_json(x),
            Answer::OptionType(x) => to_json(x),
            Answer::StructInfo(x) => to_json(x),
            Answer::Mapping(x) => to_json(x),
            Answer::Compatibility(x) => to_json(x),
            Answer::Proof(x) => to_json(x),
            Answer::Dim(x) => to_json(x),
            Answer::Match(x) => to_json(x),
            Answer::Program(x) => to_json(x),
            Answer::Read(ReadAnswer::Module(x)) => to_json(x),
            Answer::Read(x @ ReadAnswer::Rejected(_)) => to_json(x),
            Answer::Verdict(x) => to_json(x),
            Answer::Derived(x) => to_json(x),
            Answer::Run(x) => to_json(x),
        }
    }
}

impl AnswerKind {
    /// Reads an answer of this kind as sent.
    pub fn read_json(self, value: Value) -> Result<Answer, ProtocolError> {
        Ok(match self {
            AnswerKind::Bool => Answer::Bool(from_json(value)?),
            AnswerKind::Type => Answer::Type(from_json(value)?),
            AnswerKind::OptionType => Answer::OptionType(from_json(value)?),
            AnswerKind::StructInfo => Answer::StructInfo(from_json(value)?),
            AnswerKind::Mapping => Answer::Mapping(from_json(value)?),
            AnswerKind::Compatibility => Answer::Compatibility(from_json(value)?),
            AnswerKind::Proof => Answer::Proof(from_json(value)?),
            AnswerKind::Dim => Answer::Dim(from_json(value)?),
            AnswerKind::Match => Answer::Match(from_json(value)?),
            AnswerKind::Program => Answer::Program(from_json(value)?),
            AnswerKind::Read => Answer::Read(match value {
                value @ Value::Object(_) if value.get("Rejected").is_some() => from_json(value)?,
                value => ReadAnswer::Module(from_json(value)?),
            }),
            AnswerKind::Verdict => Answer::Verdict(from_json(value)?),
            AnswerKind::Derived => Answer::Derived(from_json(value)?),
            AnswerKind::Run => Answer::Run(from_json(value)?),
        })
    }
}
