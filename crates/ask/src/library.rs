//! Libraries that TVM has saved: the executable runs here, its compiled functions in another process.

use std::path::Path;
use std::time::Duration;

use crate::executables::OnMachine;
use crate::extern_process::{ExternProcess, LibraryBindings};
use crate::process::{CommandLine, Interrupt, LineProcess, MAX_REPLY};
use crate::worker::{StartError, start_and_greet};
use relax_spec::grammar::IrModule;
use relax_spec::refine::missing;
use relax_spec::value::Registry;

/// The script that loads a library, beside the adapter.
const SCRIPT: &str = "library.py";

/// A library with the process that has loaded it.
#[derive(Debug)]
pub struct SavedLibrary {
    /// The instructions.
    pub executable: OnMachine,
    /// The process that calls the compiled functions.
    pub process: ExternProcess,
    functions: Registry,
    /// The functions that the executable calls and the library does not have.
    absent: Registry,
}

impl SavedLibrary {
    /// Loads a file in a process beside the adapter of TVM that the command starts; `None` if it starts another one.
    ///
    /// # Errors
    ///
    /// If the process does not start, or cannot load the file.
    pub fn load(
        adapter: &CommandLine,
        file: &Path,
        startup: Duration,
        timeout: Duration,
        interrupt: &Interrupt,
    ) -> Result<Option<SavedLibrary>, StartError> {
        let Some(mut command) = adapter.beside(SCRIPT) else { return Ok(None) };
        command.args.push(file.display().to_string());
        let (process, line) = start_and_greet(&command, startup, interrupt, MAX_REPLY)?;
        SavedLibrary::of_process(&command, process, &line, timeout).map(Some)
    }

    /// The library of a process that has answered `hello` with this line.
    ///
    /// # Errors
    ///
    /// If the line is no greeting with an executable.
    pub fn of_process(
        command: &CommandLine,
        process: LineProcess,
        line: &str,
        timeout: Duration,
    ) -> Result<SavedLibrary, StartError> {
        let (mut functions, mut absent) = (Registry::empty(), Registry::empty());
        let bindings = LibraryBindings { functions: &mut functions, absent: &mut absent };
        let (process, executable) = ExternProcess::library(bindings, command, process, line, timeout)?;
        Ok(SavedLibrary { executable: OnMachine(executable), process, functions, absent })
    }

    /// Adds the compiled functions. Those that the library does not have are not known, unless the program names them:
    /// then they are what they are there.
    pub fn bind(&self, registry: &mut Registry, program: &IrModule) {
        let named = missing(registry, &[program]);
        registry.extend(&self.functions);
        registry.extend(&self.absent.without(&named));
    }

    /// The process, if it still works.
    pub fn release(self) -> Option<LineProcess> {
        drop(self.functions);
        self.process.release()
    }
}
