//! Packed functions from another process (`run --extern`), by JSON lines over its standard input and output.
//! `conformance/INTERPRETING.md` describes them.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use rustc_hash::FxHashMap;

use crate::process::{CommandLine, Interrupt, LineProcess, MAX_REPLY, Received, deadline_in};
use crate::protocol::{self, ProtocolError, from_data, parse_json};
use crate::worker::{StartError, start_and_greet};
use relax_spec::data::record::read_record;
use relax_spec::data::{DataReader, DataResult, FromData, Node, NodeData, Write, json, to_document};
use relax_spec::grammar::{Name, TensorData};
use relax_spec::judge::with_stack;
use relax_spec::rule;
use relax_spec::value::{Host, Reads, Registry, Returned, Run, Stop, Tensor, Value, ValueSpec, from_spec, to_spec};
use relax_spec::vm::{self, Executable, TvmExecutable};

/// A process with functions in a registry. It ends with the last of them.
#[derive(Clone, Debug)]
pub struct ExternProcess(Rc<RefCell<Provider>>);

#[derive(Debug)]
struct Provider {
    command: String,
    process: LineProcess,
    timeout: Duration,
    next_id: u64,
    failure: Option<ExternError>,
    /// The large tensors that it keeps, if it keeps any.
    kept: Option<KeptTensors>,
}

/// The large tensors that were sent to a process, by their contents.
#[derive(Debug, Default)]
struct KeptTensors {
    numbers: FxHashMap<TensorData, usize>,
    next: usize,
    bytes: usize,
}

/// Tensors with fewer bytes are sent each time.
const LARGE_TENSOR: usize = 1 << 16;
/// How many bytes a process keeps at most.
const MOST_BYTES: usize = 1 << 28;

impl KeptTensors {
    /// Takes the tensors that the process has out of the arguments. Returns those that it is to keep and those that it
    /// has: pairs of an argument and a number.
    fn of(&mut self, args: &mut [ValueSpec]) -> [Vec<(usize, usize)>; 2] {
        let [mut keep, mut kept] = [Vec::new(), Vec::new()];
        for (i, arg) in args.iter_mut().enumerate() {
            let ValueSpec::Tensor(data) = arg else { continue };
            if let Some(number) = self.numbers.get(data) {
                kept.push((i, *number));
                *arg = ValueSpec::Object;
            } else if data.bytes.len() >= LARGE_TENSOR && self.bytes + data.bytes.len() <= MOST_BYTES {
                keep.push((i, self.next));
                self.insert(data);
            }
        }
        [keep, kept]
    }

    fn insert(&mut self, data: &TensorData) {
        self.bytes += data.bytes.len();
        self.numbers.insert(data.clone(), self.next);
        self.next += 1;
    }

    /// The number for the first large tensor that a call on these arguments changes, if there is room for all of them.
    fn of_changed(&self, args: &[ValueSpec]) -> Option<usize> {
        let bytes: usize = args.iter().flat_map(ValueSpec::tensors).map(|data| data.bytes.len()).sum();
        (self.bytes + bytes <= MOST_BYTES).then_some(self.next)
    }

    /// Counts the tensors that the process has changed and kept.
    fn take(&mut self, changed: &[(usize, ValueSpec)]) {
        let changed = changed.iter().filter_map(|(_, value)| value.as_tensor());
        changed.filter(|data| data.bytes.len() >= LARGE_TENSOR).for_each(|data| self.insert(data));
    }
}

/// A failure of the process in the protocol. A function that raises an error is not a failure.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ExternError {
    /// It ended during a call.
    #[error("`{command}` ended while `{function}` was called ({cause}){stderr}")]
    Ended {
        /// The command.
        command: String,
        /// The called function.
        function: Name,
        /// The signal or the exit status, in words.
        cause: String,
        /// The last lines on standard error; empty if there were none.
        stderr: String,
    },
    /// It did not return in time, and was stopped.
    #[error("`{command}` did not return from `{function}` within {} s", seconds.as_secs_f64())]
    Timeout {
        /// The command.
        command: String,
        /// The called function.
        function: Name,
        /// The limit.
        seconds: Duration,
    },
    /// The line that it wrote is not a valid reply.
    #[error("`{command}` broke the protocol in the call of `{function}`: {message}")]
    Protocol {
        /// The command.
        command: String,
        /// The called function.
        function: Name,
        /// The error in the line.
        message: String,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// The reply to `hello`.
struct ExternGreeting {
    protocol: u32,
    functions: Vec<ExternSignature>,
    /// The executable that calls the functions, if they belong to a saved library.
    executable: Option<TvmExecutable>,
    /// Whether it keeps the tensors that a call tells it to keep.
    keeps: bool,
}

struct ExternSignature {
    name: Name,
    pure: bool,
    /// Whether all its tensor arguments must have been written.
    initialized: bool,
    /// Whether the process has no code for it, so that nothing is known of a call.
    missing: bool,
}

struct ExternCall<'a> {
    id: u64,
    op: &'static str,
    function: &'a str,
    args: &'a [ValueSpec],
    /// The tensors to be kept, and those that were.
    kept: Option<[Vec<(usize, usize)>; 2]>,
    /// The number under which the first changed tensor is to be kept, with at least so many bytes; then the next ones.
    keep_changed: Option<(usize, usize)>,
}

struct ExternReply {
    id: u64,
    outcome: CallOutcome,
    /// The new contents of tensor arguments that the call has changed.
    mutated: Vec<(usize, ValueSpec)>,
    /// The tensor arguments that the call may have written, and that hold what they held before.
    unchanged: Vec<usize>,
}

enum CallOutcome {
    /// The result; unit if there is no value.
    Returns {
        value: Option<ValueSpec>,
    },
    Raises {
        message: String,
    },
}

read_record! { ExternGreeting, "a greeting", { protocol: one, functions: one, executable: or(None), keeps: or(false) } }
read_record! { ExternSignature, "a function", {
    name: one, pure: or(false), initialized: or(true), missing: or(false),
} }

impl Write for ExternCall<'_> {
    fn write(&self) -> Node<'_> {
        let mut fields = vec![
            ("id".into(), self.id.write()),
            ("op".into(), Node::text(self.op)),
            ("function".into(), Node::text(self.function)),
            ("args".into(), self.args.write()),
        ];
        if let Some([keep, kept]) = &self.kept {
            fields.extend([("keep".into(), keep.write()), ("kept".into(), kept.write())]);
        }
        if let Some(changed) = &self.keep_changed {
            fields.push(("keep_changed".into(), changed.write()));
        }
        NodeData::Struct(fields).into()
    }
}

impl FromData for ExternReply {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<ExternReply> {
        let fields = r.fields(node, "a reply", None)?;
        let outcome = match fields.get("outcome").and_then(Node::as_text) {
            Some("returns") => CallOutcome::Returns { value: fields.one(r, "value")? },
            Some("raises") => CallOutcome::Raises { message: fields.or(r, "message", String::new)? },
            Some(_) | None => return r.unexpected(node, "a reply whose `outcome` is `returns` or `raises`"),
        };
        let (mutated, unchanged) = (fields.many(r, "mutated")?, fields.many(r, "unchanged")?);
        Ok(ExternReply { id: fields.one(r, "id")?, outcome, mutated, unchanged })
    }
}

/// Where the functions of a library go.
#[derive(Debug)]
pub struct LibraryBindings<'r> {
    /// Those that it has.
    pub functions: &'r mut Registry,
    /// Those that its code calls, and that it does not have.
    pub absent: &'r mut Registry,
}

impl ExternProcess {
    /// Starts a process and adds its functions to the registry. They replace functions of the same names.
    pub fn bind(
        registry: &mut Registry,
        command: &CommandLine,
        startup: Duration,
        timeout: Duration,
        interrupt: &Interrupt,
    ) -> Result<ExternProcess, StartError> {
        let (process, line) = start_and_greet(command, startup, interrupt, MAX_REPLY)?;
        let mut absent = Registry::empty();
        let bindings = LibraryBindings { functions: registry, absent: &mut absent };
        let (bound, _) = ExternProcess::greeted(bindings, command, process, &line, timeout)?;
        registry.extend(&absent);
        Ok(bound)
    }

    /// The library of a process that has answered `hello` with this line.
    pub fn library(
        bindings: LibraryBindings<'_>,
        command: &CommandLine,
        process: LineProcess,
        line: &str,
        timeout: Duration,
    ) -> Result<(ExternProcess, Executable), StartError> {
        let fault = |message: String| StartError::Protocol { command: command.to_string(), message };
        let (bound, made) = ExternProcess::greeted(bindings, command, process, line, timeout)?;
        let made = made.ok_or_else(|| fault("it holds no executable".to_string()))?;
        let executable = vm::import(&made).map_err(|error| fault(error.to_string()))?;
        Ok((bound, executable))
    }

    /// Adds the functions of a process that has answered `hello` with this line.
    fn greeted(
        bindings: LibraryBindings<'_>,
        command: &CommandLine,
        process: LineProcess,
        line: &str,
        timeout: Duration,
    ) -> Result<(ExternProcess, Option<TvmExecutable>), StartError> {
        let greeting = ExternGreeting::parse(line)
            .map_err(|error| StartError::Protocol { command: command.to_string(), message: error.to_string() })?;
        let kept = greeting.keeps.then(KeptTensors::default);
        let provider = Provider { command: command.to_string(), process, timeout, next_id: 1, failure: None, kept };
        let extern_process = ExternProcess(Rc::new(RefCell::new(provider)));
        for ExternSignature { name, pure, initialized, missing } in greeting.functions {
            if missing {
                let message = format!("the code of {name}, which the library does not have");
                bindings
                    .absent
                    .register_reading(&name, pure, Reads::Nothing, move |_, _| Err(Stop::unknown(message.clone())));
                continue;
            }
            let (bound, function) = (extern_process.clone(), name.clone());
            let reads = if initialized { Reads::All } else { Reads::Nothing };
            bindings
                .functions
                .register_reading(&name, pure, reads, move |m, args| bound.call(m, &function, pure, args));
        }
        Ok((extern_process, greeting.executable))
    }

    /// The process, if it works and nobody else uses it.
    pub fn release(self) -> Option<LineProcess> {
        let provider = Rc::try_unwrap(self.0).ok()?.into_inner();
        provider.failure.is_none().then_some(provider.process)
    }

    /// The failure of the process, if it has ended a run.
    pub fn failure(&self) -> Option<ExternError> {
        self.0.borrow().failure.clone()
    }

    /// Calls a function of the process. An error that it raises is one of the program (`PURE.ERR.OP`, or
    /// `PURE.EFFECT.ABORT` if the function is not pure). A failure of the process says nothing about the program.
    fn call(&self, m: &mut dyn Host, function: &Name, pure: bool, args: &[Value]) -> Result<Returned, Stop> {
        let mut specs = args.iter().map(to_spec).collect::<Result<Vec<ValueSpec>, Stop>>()?;
        m.spend(1)?;
        // The process cannot call back, so the provider is not borrowed elsewhere.
        let reply = self.0.borrow_mut().ask(function, &mut specs);
        let accepted = reply.and_then(|reply| match reply.outcome {
            CallOutcome::Raises { message } => {
                overwrite_all(args, &reply.mutated)?;
                let rule = if pure { rule!("PURE.ERR.OP") } else { rule!("PURE.EFFECT.ABORT") };
                Ok(Err(Stop::error(rule, format!("{function} raised an error: {message}"))))
            }
            CallOutcome::Returns { value } => {
                overwrite_all(args, &reply.mutated)?;
                let kept = reply
                    .unchanged
                    .iter()
                    .filter_map(|i| if let Value::Tensor(t) = args.get(*i)? { Some(t) } else { None });
                kept.for_each(|tensor| tensor.rewrite(None, |_| {}));
                returned(value, args, m).map(Ok)
            }
        });
        match accepted {
            Ok(result) => result,
            Err(fault) => Err(self.0.borrow_mut().fail(function, fault)),
        }
    }
}

/// A failure of the process, before it is described in words.
enum ExternFault {
    Ended,
    Timeout,
    Interrupted,
    Protocol(String),
    /// It has failed before, and is not asked again.
    Again(ExternError),
}

impl From<ProtocolError> for ExternFault {
    fn from(error: ProtocolError) -> ExternFault {
        ExternFault::Protocol(error.to_string())
    }
}

impl ExternGreeting {
    fn parse(line: &str) -> Result<ExternGreeting, ProtocolError> {
        let greeting: ExternGreeting = from_data(&*parse_json(line)?)?;
        match greeting.protocol {
            protocol::VERSION => Ok(greeting),
            other => Err(ProtocolError::Version(other)),
        }
    }
}

impl Provider {
    fn ask(&mut self, function: &Name, args: &mut [ValueSpec]) -> Result<ExternReply, ExternFault> {
        // After a failure there is no further wait.
        if let Some(failure) = self.failure.clone() {
            return Err(ExternFault::Again(failure));
        }
        let id = self.next_id;
        self.next_id += 1;
        let whole = args.to_vec();
        let kept = self.kept.as_mut().map(|kept| kept.of(args));
        let first = self.kept.as_ref().and_then(|kept| kept.of_changed(&whole));
        let keep_changed = first.map(|first| (first, LARGE_TENSOR));
        let call = ExternCall { id, op: "call", function, args, kept, keep_changed };
        self.process.send(json::write(&to_document(&call)));
        match self.process.receive(deadline_in(self.timeout)) {
            Received::Line(line) => {
                let reply: ExternReply = from_data(&*parse_json(&line)?)?;
                if reply.id != id {
                    return Err(ExternFault::Protocol(format!("a reply to call {} while call {id} is open", reply.id)));
                }
                if let Some(kept) = self.kept.as_mut().filter(|_| keep_changed.is_some()) {
                    kept.take(&reply.mutated);
                }
                Ok(reply)
            }
            Received::Malformed(message) => Err(ExternFault::Protocol(message)),
            Received::Ended => Err(ExternFault::Ended),
            Received::TimedOut => Err(ExternFault::Timeout),
            Received::Interrupted => Err(ExternFault::Interrupted),
        }
    }

    fn fail(&mut self, function: &Name, fault: ExternFault) -> Stop {
        let (command, function) = (self.command.clone(), function.clone());
        let error = match fault {
            ExternFault::Ended => {
                let cause = self.process.ending();
                ExternError::Ended { command, function, cause, stderr: self.process.indented_stderr() }
            }
            ExternFault::Timeout => ExternError::Timeout { command, function, seconds: self.timeout },
            ExternFault::Interrupted => ExternError::Interrupted,
            ExternFault::Protocol(message) => ExternError::Protocol { command, function, message },
            ExternFault::Again(failure) => failure,
        };
        let stop = Stop::unspecified(error.to_string());
        self.failure = Some(error);
        stop
    }
}

fn returned(value: Option<ValueSpec>, args: &[Value], m: &dyn Host) -> Result<Returned, ExternFault> {
    match value {
        None => Ok(Returned::Nothing),
        Some(value) => {
            let value =
                from_spec(&value, args, m.registry()).map_err(|error| ExternFault::Protocol(error.to_string()))?;
            Ok(Returned::Value(value))
        }
    }
}

fn overwrite_all(args: &[Value], mutated: &[(usize, ValueSpec)]) -> Result<(), ExternFault> {
    for (i, contents) in mutated {
        let overwritten = args.get(*i).is_some_and(|arg| overwrite(arg, contents));
        if !overwritten {
            let message =
                format!("argument {i} cannot become what `mutated` says: only the elements of tensors change");
            return Err(ExternFault::Protocol(message));
        }
    }
    Ok(())
}

/// Replaces the elements of the tensors in a value. Returns false if shape, datatype or structure differ.
pub fn overwrite(value: &Value, contents: &ValueSpec) -> bool {
    match (value, contents) {
        (Value::Tensor(t), ValueSpec::Tensor(data)) => {
            let Ok(new) = Tensor::from_data(data) else { return false };
            let all = Run { tensor: 0, start: 0, step: 1, count: new.len() };
            // The elements of a run in the ring are of another kind, and converted one by one.
            t.dtype() == new.dtype()
                && t.shape() == new.shape()
                && (t.take_runs(&[&new], std::iter::once(all))
                    || (0..new.len()).all(|i| new.get(i).is_some_and(|element| t.set(i, element))))
        }
        (Value::Tuple(tuple), ValueSpec::Tuple(fields)) => {
            tuple.len() == fields.len()
                && tuple.fields().iter().zip(fields).all(|(field, contents)| with_stack(|| overwrite(field, contents)))
        }
        (unchanged, contents) => to_spec(unchanged).is_ok_and(|now| now == *contents),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use relax_spec::grammar::DataType;

    #[test]
    fn a_large_tensor_is_sent_once() {
        let tensor = |value: f64, count: usize| {
            let data = TensorData::from_values(DataType::FLOAT32, &[count as u64], &vec![value; count]);
            ValueSpec::Tensor(data.unwrap())
        };
        let given = [tensor(1.0, LARGE_TENSOR), tensor(1.0, 2), tensor(2.0, LARGE_TENSOR), tensor(1.0, LARGE_TENSOR)];
        let mut kept = KeptTensors::default();
        let mut args = given.clone();
        assert_eq!(kept.of(&mut args), [vec![(0, 0), (2, 1)], vec![(3, 0)]]);
        assert_eq!(args, [&given[..3], &[ValueSpec::Object]].concat()[..]);
        let mut args = given;
        assert_eq!(kept.of(&mut args), [vec![], vec![(0, 0), (2, 1), (3, 0)]]);
        // What a call has changed is kept under the next numbers.
        let changed = [tensor(3.0, LARGE_TENSOR), tensor(4.0, 1), tensor(5.0, LARGE_TENSOR)];
        assert_eq!(kept.of_changed(&changed), Some(2));
        kept.take(&changed.clone().map(|data| (0, data)));
        let mut args = changed.to_vec();
        assert_eq!(kept.of(&mut args), [vec![], vec![(0, 2), (2, 3)]]);
        kept.bytes = MOST_BYTES;
        assert_eq!(kept.of_changed(&changed), None);
    }
}
