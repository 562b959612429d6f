//! From text to a checked program and to Relax.

use super::fault::RelayFault;
use super::infer::infer;
use super::read::read;
use super::resolve::resolve;
use super::translate::translate;
use super::tree::Program;
use crate::grammar::IrModule;
use crate::judge::Cx;

/// A program after reading, resolution and inference.
#[derive(Clone, PartialEq, Debug)]
pub struct ReadProgram {
    /// The program, as far as it could be read.
    pub program: Program,
    /// Errors and warnings, in the order of the text.
    pub faults: Vec<RelayFault>,
}

impl ReadProgram {
    /// Whether there is no error.
    pub fn accepts(&self) -> bool {
        !self.faults.iter().any(RelayFault::is_error)
    }
}

/// Whether a text, or a file of this name, is Relay.
pub fn is_relay(name: &str, text: &str) -> bool {
    let begins = |word: &str| text.trim_start().starts_with(word);
    name.ends_with(".relay") || (name == "<stdin>" && ["#[version", "def @", "attributes "].into_iter().any(begins))
}

/// Reads a program and resolves its identifiers. The second stage runs only if the first finds no error.
pub fn resolved(cx: &mut Cx, text: &str) -> (Program, Vec<RelayFault>) {
    let (mut program, mut faults) = read(cx, text);
    if !faults.iter().any(RelayFault::is_error) {
        faults.extend(resolve(cx, &mut program));
    }
    (program, faults)
}

/// Reads a program and checks its text, its identifiers and its types. A stage that finds errors is the last.
pub fn understand(cx: &mut Cx, text: &str) -> ReadProgram {
    let (program, mut faults) = resolved(cx, text);
    if !faults.iter().any(RelayFault::is_error) {
        faults.extend(infer(cx, &program).faults);
    }
    faults.sort_by_key(|fault| fault.span.start);
    ReadProgram { program, faults }
}

/// Reads a program and translates it. Returns the warnings too.
///
/// # Errors
///
/// The faults of the text, at least one.
pub fn import(cx: &mut Cx, text: &str) -> Result<(IrModule, Vec<RelayFault>), Vec<RelayFault>> {
    let (program, warnings) = resolved(cx, text);
    if warnings.iter().any(RelayFault::is_error) {
        return Err(warnings);
    }
    let mut inferred = infer(cx, &program);
    let faults = std::mem::take(&mut inferred.faults);
    if !faults.is_empty() {
        return Err(faults);
    }
    translate(cx, &inferred).map(|module| (module, warnings))
}
