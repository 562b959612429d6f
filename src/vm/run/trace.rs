//! The instructions of a run as they are executed, for `--trace`.

use std::fmt;

use super::Machine;
use crate::grammar::Name;
use crate::value::{Effect, Scalar, Tensor, Value};
use crate::vm::executable::Operand;

/// An event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VmTraceStep {
    /// The number of open calls.
    pub depth: usize,
    /// The event, in words.
    pub text: String,
}

/// The maximum number of calls that the indentation shows.
const MAX_INDENT: usize = 20;

impl fmt::Display for VmTraceStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", "  ".repeat(self.depth.min(MAX_INDENT)), self.text)
    }
}

impl Machine<'_> {
    fn note(&mut self, text: impl FnOnce(&Self) -> String) {
        if self.options.trace {
            let step = VmTraceStep { depth: self.depth, text: text(self) };
            self.steps.push(step);
        }
    }

    pub(super) fn trace_enter(&mut self, name: &Name) {
        self.note(|_| format!("enter {name}"));
    }

    pub(super) fn trace_return(&mut self, value: &Value) {
        self.note(|_| format!("ret {value}"));
    }

    pub(super) fn trace_jump(&mut self, from: usize, to: usize) {
        self.note(|_| format!("{from}: goto {to}"));
    }

    pub(super) fn trace_effect(&mut self, effect: &Effect) {
        self.note(|_| format!("effect: {effect}"));
    }

    /// Records the instruction, the value that it has written, and the shape heap if it could change.
    pub(super) fn trace_call(
        &mut self,
        at: usize,
        dst: Option<u32>,
        callee: u32,
        args: &[Operand],
        result: Option<&Value>,
    ) {
        self.note(|m| {
            let name = m.executable.callees.get(callee as usize).map_or("?", |callee| m.executable.name_of(callee));
            let args: Vec<String> = args.iter().map(ToString::to_string).collect();
            let written = match (dst, result) {
                (Some(dst), Some(value)) => format!("  %{dst} = {value}"),
                (Some(_) | None, _) => String::new(),
            };
            let frame = m.frames.last();
            let heap = frame.and_then(|frame| frame.heap.as_ref()).map(|heap| format!("  heap {}", slots(heap)));
            format!("{at}: {name}({}){written}{}", args.join(", "), heap.unwrap_or_default())
        });
    }
}

fn slots(heap: &Tensor) -> String {
    let slot = |i: usize| match heap.get(i) {
        Some(Scalar::Int(size)) if size > i64::MIN / 2 => size.to_string(),
        Some(_) | None => "_".to_string(),
    };
    let slots: Vec<String> = (0..heap.len()).map(slot).collect();
    format!("[{}]", slots.join(", "))
}
