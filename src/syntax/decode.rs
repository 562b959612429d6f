//! Decodes data, RON or JSON, to the abstract syntax, production by production (chapter Grammar). Programs of 2022 are
//! imported first.

use super::import;
use crate::data::{DataError, DataNotation, DataReader, DataResult, Document, Profile, one_function_a_name, read_text};
use crate::grammar::{EDITION_ATTR, FORMAT_VERSION, IrModule, Span, stated_edition};
use crate::judge::Cx;

/// The maximum nesting of brackets in RON and JSON. A level of the deepest TVMScript that can be read takes fewer than
/// ten.
pub const MAX_DATA_NESTING: usize = 9_999;

/// GRAM: the program in some data.
///
/// # Errors
///
/// The text is not valid data, or violates the productions of the grammar.
pub fn decode(cx: &mut Cx, notation: DataNotation, text: &str, profile: Profile) -> DataResult<IrModule> {
    let module = read_program(cx, notation, text, profile)?;
    one_function_a_name(cx, &module)?;
    if module.version == FORMAT_VERSION {
        return Ok(module);
    }
    Err(DataError::at(Span::NONE, format!("it is of format version {}, not {FORMAT_VERSION}", module.version)))
}

/// The program in data of any version. A name may be bound twice, which well-formedness rejects.
pub(super) fn read_program(cx: &mut Cx, notation: DataNotation, text: &str, profile: Profile) -> DataResult<IrModule> {
    let mut document = read_text(notation, text, MAX_DATA_NESTING)?;
    if import::is_marked(&document) {
        document = Document::new(import::import(cx, document.into_root(), text)?);
    }
    let module: IrModule = DataReader { cx, profile }.read(&document)?;
    stated_edition(&module.attrs).map_err(|error| DataError::at(edition_in(&document), error.to_string()))?;
    Ok(module)
}

/// The position of the edition that a program states.
fn edition_in(document: &Document<'_>) -> Span {
    let stated = document.get("attrs").and_then(|attrs| attrs.get(EDITION_ATTR));
    stated.map_or(Span::NONE, |stated| stated.span)
}

#[cfg(test)]
mod tests;
