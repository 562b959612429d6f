//! Programs: an `IRModule` maps global variables to Relax functions and TIR `PrimFunc`s.

use std::sync::Arc;

use super::{AttrValue, Attrs, ExternFunc, Function, GlobalVar};
use crate::book::{Edition, UnknownEdition};
use crate::grammar::tir::PrimFunc;

/// The version of the serialized form, RON and JSON alike.
pub const FORMAT_VERSION: u32 = 1;

/// The attribute by which a module states the edition that it is written for, as a string.
///
/// An attribute of the module, for every notation has those already: `I.module_attrs({"relax_spec.edition": "2024-04"})` in TVMScript, `attrs` in
/// RON and JSON. So neither the grammar nor the version of the format changes, and TVM reads and keeps the statement as any other attribute. The name
/// begins with ours, so that none of its own is meant.
pub const EDITION_ATTR: &str = "relax_spec.edition";

/// Why what a module states is no edition.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StatedEditionError {
    /// A string that names none.
    #[error("{0}, but the module states it")]
    Unknown(#[from] UnknownEdition),
    /// No string.
    #[error("the attribute `{EDITION_ATTR}` is the name of an edition, a string")]
    NoName,
}

/// The edition that a module with these attributes states.
///
/// # Errors
///
/// What is stated there is none.
pub fn stated_edition(attrs: &Attrs) -> Result<Option<Edition>, StatedEditionError> {
    match attrs.get(EDITION_ATTR) {
        None => Ok(None),
        Some(AttrValue::Str(name)) => Ok(Some(name.parse()?)),
        Some(_) => Err(StatedEditionError::NoName),
    }
}

/// A program. The functions are in the order of the source; no verdict depends on it. A name that is bound
/// twice is representable, so that well-formedness can reject it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct IrModule {
    /// [`FORMAT_VERSION`]; readers reject any other.
    pub version: u32,
    /// The global variables with what they are bound to, in the order of the source.
    pub funcs: Vec<(GlobalVar, GlobalFunc)>,
    /// Of the module as a whole, by name.
    pub attrs: Attrs,
    /// What functions share, by name: of the later editions the virtual devices, on which tensors may lie.
    pub global_infos: Attrs,
}

/// What a global variable is bound to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum GlobalFunc {
    /// A Relax function.
    Function(Arc<Function>),
    /// A TIR function, which Relax does not look into (`GRAM.PROGRAM.PRIMFUNC-OPAQUE`).
    PrimFunc(Arc<PrimFunc>),
    /// A packed function, which the module gives a name of its own.
    ExternFunc(ExternFunc),
}

impl Default for IrModule {
    fn default() -> IrModule {
        IrModule { version: FORMAT_VERSION, funcs: Vec::new(), attrs: Attrs::new(), global_infos: Attrs::new() }
    }
}

impl IrModule {
    /// The first function bound to `name`.
    pub fn get(&self, name: &str) -> Option<&GlobalFunc> {
        self.funcs.iter().find(|(gv, _)| &*gv.name == name).map(|(_, f)| f)
    }
}
