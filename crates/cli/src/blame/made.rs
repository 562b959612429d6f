//! The module that a pass made, as the adapter tells it.

use ask::stages::PassStage;
use relax_spec::grammar::IrModule;
use relax_spec::reading;
use relax_spec::syntax::load::{ExternalForm, SourceRef};
use relax_spec::syntax::tvmscript::Which;

/// The module of a stage, or the reason why it cannot be read; `None` if the pass left it as it was.
pub(super) fn module_of(stage: &PassStage) -> Option<Result<IrModule, String>> {
    match (&stage.syntax, &stage.text) {
        (Some((syntax, prim_funcs)), _) => Some(of_syntax(&syntax.to_string(), prim_funcs)),
        (None, Some(text)) => Some(read(text)),
        (None, None) => None,
    }
}

pub(super) fn read(text: &str) -> Result<IrModule, String> {
    read_as(ExternalForm::TvmScript, text)
}

pub(super) fn of_syntax(syntax: &str, prim_funcs: &str) -> Result<IrModule, String> {
    let mut module = read_as(ExternalForm::Json, syntax)?;
    if !prim_funcs.is_empty() {
        module.funcs.extend(read(prim_funcs)?.funcs);
    }
    Ok(module)
}

pub(super) fn read_as(form: ExternalForm, text: &str) -> Result<IrModule, String> {
    let given = SourceRef { text, metadata: None };
    let file = reading::parse_modules(form, given, Which::Only).map_err(|error| error.to_string())?;
    file.modules.into_iter().next().map(|(_, module)| module).ok_or_else(|| "the text holds no module".to_string())
}
