//! Programs: an `IRModule` maps global variables to Relax functions and TIR `PrimFunc`s.

use std::sync::Arc;

use super::{AttrValue, Attrs, ExternFunc, Function, GlobalVar};
use crate::book::{Edition, UnknownEdition};
use crate::grammar::tir::PrimFunc;

/// The version of the serialized form, RON and JSON alike.
pub const FORMAT_VERSION: u32 = 1;

/// The attribute in which a module states its edition, as a string.
///
/// Every notation already has module attributes: `I.module_attrs({"relax_spec.edition": "2024-04"})` in TVMScript,
/// `attrs` in RON and JSON. The grammar and the version of the format therefore stay the same, and TVM keeps the
/// statement like any other attribute. The prefix of the name avoids collisions with TVM's own attributes.
pub const EDITION_ATTR: &str = "relax_spec.edition";

/// The reason why a module's statement is not an edition.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StatedEditionError {
    /// The string does not name an edition.
    #[error("{0}, but the module states it")]
    Unknown(#[from] UnknownEdition),
    /// The value is not a string.
    #[error("the attribute `{EDITION_ATTR}` is the name of an edition, a string")]
    NoName,
}

/// The edition that a module with these attributes states.
///
/// # Errors
///
/// The statement is not an edition.
pub fn stated_edition(attrs: &Attrs) -> Result<Option<Edition>, StatedEditionError> {
    match attrs.get(EDITION_ATTR) {
        None => Ok(None),
        Some(AttrValue::Str(name)) => Ok(Some(name.parse()?)),
        Some(_) => Err(StatedEditionError::NoName),
    }
}

/// A program. The functions are in the order of the source, and no verdict depends on that order. A name bound twice is
/// representable, so that well-formedness can reject it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct IrModule {
    /// [`FORMAT_VERSION`]; readers reject any other.
    pub version: u32,
    /// The global variables and their functions, in the order of the source.
    pub funcs: Vec<(GlobalVar, GlobalFunc)>,
    /// Attributes of the module, by name.
    pub attrs: Attrs,
    /// Objects that functions share, by name. In later editions these include the virtual devices of tensors.
    pub global_infos: Attrs,
}

/// The value of a global variable.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum GlobalFunc {
    /// A Relax function.
    Function(Arc<Function>),
    /// A TIR function, which is opaque to Relax (`GRAM.PROGRAM.PRIMFUNC-OPAQUE`).
    PrimFunc(Arc<PrimFunc>),
    /// A packed function to which the module gives a name.
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
