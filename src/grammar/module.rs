//! Programs: an `IRModule` maps global variables to Relax functions and TIR `PrimFunc`s.

use std::sync::Arc;

use super::{Attrs, ExternFunc, Function, GlobalVar};
use crate::grammar::tir::PrimFunc;

/// The version of the serialized form, RON and JSON alike.
pub const FORMAT_VERSION: u32 = 1;

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
