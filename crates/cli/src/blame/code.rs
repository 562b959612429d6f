//! The generation of code: the passes over `PrimFunc`s, and the executable.

use std::rc::Rc;
use std::time::Instant;

use ask::library::SavedLibrary;
use ask::stages::{PassStage, StageRecorder, StagesError};
use relax_spec::grammar::{GlobalFunc, IrModule};
use relax_spec::refine::refine_compiled;
use relax_spec::syntax::tvmscript::Dialect;
use relax_spec::vm;

use super::made::read;
use super::verdict::verdict_on;
use super::verdict::{Judged, PassVerdict};
use super::{Blamer, CODE_GENERATION, Failure, PassRecord, Stopped};

/// All passes over `PrimFunc`s together.
const LOWERING: &str = "the passes over PrimFuncs";

/// What the recorder told of the generation of code.
#[derive(Debug, Default)]
pub(super) struct CodeStages {
    lowered: Vec<PassStage>,
    generated: Option<PassStage>,
}

impl CodeStages {
    pub(super) fn take(&mut self, stage: PassStage) {
        match stage.prim_funcs {
            true => self.lowered.push(stage),
            false => self.generated = Some(stage),
        }
    }
}

/// A pass over `PrimFunc`s: its name, and the program with what it made, if it changed anything.
type Lowered = (String, Option<Result<Rc<IrModule>, String>>);

impl Blamer<'_> {
    /// Judges the passes over `PrimFunc`s, and the executable.
    pub(super) fn code(
        &self,
        record: &mut PassRecord,
        recorder: &mut StageRecorder,
        dialect: Dialect,
    ) -> Result<(), Stopped> {
        let CodeStages { lowered, generated } = std::mem::take(&mut record.code);
        let Some(generated) = generated else { return Ok(()) };
        let program = record.last.clone();
        let lowered: Vec<Lowered> = lowered
            .into_iter()
            .map(|stage| {
                let made = stage.text.map(|text| read(&text).map(|made| Rc::new(with_prim_funcs(&program, made))));
                (stage.pass, made)
            })
            .collect();
        if self.args.tir || !self.are_allowed(&program, &lowered, dialect)? {
            self.each_lowered(record, lowered, dialect)?;
        }
        let begin = Instant::now();
        let (verdict, slight) = match generated.library {
            true => self.generated(&program, recorder, dialect)?,
            false => (PassVerdict::Unchanged, false),
        };
        let (of_prim_funcs, took) = (generated.of_prim_funcs, begin.elapsed());
        let judged = Judged { of_prim_funcs, took, slight, ..Judged::from(verdict) };
        record.passed.push(generated.pass);
        Ok(self.conclude_pass(record, CODE_GENERATION, &judged)?)
    }

    /// Whether what the last of the passes made is allowed.
    fn are_allowed(&self, program: &IrModule, lowered: &[Lowered], dialect: Dialect) -> Result<bool, Failure> {
        let Some(last) = lowered.iter().rev().find_map(|(_, made)| made.as_ref()) else { return Ok(true) };
        let Ok(last) = last else { return Ok(false) };
        let begin = Instant::now();
        self.kept.keep(last);
        let verdict = self.judge(program, last, dialect, Some(LOWERING))?;
        let allowed = matches!(verdict, PassVerdict::Allowed { .. });
        if allowed {
            self.tell(LOWERING, &Judged { took: begin.elapsed(), ..Judged::from(verdict) })?;
        }
        Ok(allowed)
    }

    /// Judges each of the passes.
    fn each_lowered(&self, record: &mut PassRecord, lowered: Vec<Lowered>, dialect: Dialect) -> Result<(), Failure> {
        for (pass, made) in lowered {
            let (judged, name) = match made {
                None => (Judged::from(PassVerdict::Unchanged), pass),
                Some(Err(message)) => {
                    record.unread.push(pass.clone());
                    (Judged::from(PassVerdict::Open(message)), pass)
                }
                Some(Ok(module)) => {
                    self.kept.keep(&module);
                    let judge = |blamer: &Blamer<'_>| blamer.judge(&record.last, &module, dialect, Some(&pass));
                    let verdict = judge(self)?;
                    let slight = self.is_slight(&verdict, judge)?;
                    record.last = module;
                    record.unread.push(pass);
                    (Judged { slight, ..Judged::from(verdict) }, std::mem::take(&mut record.unread).join(", "))
                }
            };
            self.conclude_pass(record, &name, &judged)?;
        }
        Ok(())
    }

    /// The verdict on the executable: its instructions run here, its compiled functions in the process of TVM. And
    /// whether the difference shows on no ordinary arguments.
    fn generated(
        &self,
        program: &IrModule,
        recorder: &mut StageRecorder,
        dialect: Dialect,
    ) -> Result<(PassVerdict, bool), Failure> {
        let library = match recorder.library() {
            Ok(library) => library,
            Err(StagesError::Interrupted) => return Err(Stopped::from(StagesError::Interrupted).into()),
            Err(error) => return Ok((PassVerdict::Open(error.to_string()), false)),
        };
        let verdict = self.of_library(program, &library, dialect)?;
        let slight = self.is_slight(&verdict, |ordinary| ordinary.of_library(program, &library, dialect))?;
        recorder.give_back(library);
        Ok((verdict, slight))
    }

    fn of_library(&self, program: &IrModule, library: &SavedLibrary, dialect: Dialect) -> Result<PassVerdict, Failure> {
        let executable = &library.executable;
        if let Some(fault) = vm::verify(&executable.0).first() {
            return Ok(PassVerdict::Open(fault.to_string()));
        }
        let mut settings = self.settings()?;
        library.bind(&mut settings.registry, program);
        let found = refine_compiled(&mut self.cx(dialect), program, executable, &self.entry, &self.given, &settings);
        Ok(match library.process.failure() {
            Some(failure) => PassVerdict::Open(failure.to_string()),
            None => verdict_on(program, found),
        })
    }
}

/// The program with these `PrimFunc`s.
pub(super) fn with_prim_funcs(program: &IrModule, made: IrModule) -> IrModule {
    let mut program = program.clone();
    for (var, func) in made.funcs {
        if !matches!(func, GlobalFunc::PrimFunc(_)) {
            continue;
        }
        match program.funcs.iter_mut().find(|(known, _)| known.name == var.name) {
            Some((_, known)) => *known = func,
            None => program.funcs.push((var, func)),
        }
    }
    program
}
