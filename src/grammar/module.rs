//! Programs: an `IRModule` maps global variables to Relax functions and TIR `PrimFunc`s.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Attrs, Function, GlobalVar};
use crate::grammar::tir::PrimFunc;

/// The version of the serialized form, RON and JSON alike.
pub const FORMAT_VERSION: u32 = 1;

/// A program. The functions are in the order of the source; no verdict depends on it. A name that is bound
/// twice is representable, so that well-formedness can reject it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IrModule {
    /// [`FORMAT_VERSION`]; readers reject any other.
    #[serde(default = "current_version")]
    pub version: u32,
    #[serde(default)]
    pub funcs: Vec<(GlobalVar, GlobalFunc)>,
    #[serde(default, skip_serializing_if = "Attrs::is_empty")]
    pub attrs: Attrs,
}

/// What a global variable is bound to.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum GlobalFunc {
    Function(Arc<Function>),
    PrimFunc(Arc<PrimFunc>),
}

fn current_version() -> u32 {
    FORMAT_VERSION
}

impl Default for IrModule {
    fn default() -> IrModule {
        IrModule { version: FORMAT_VERSION, funcs: Vec::new(), attrs: Attrs::new() }
    }
}

impl IrModule {
    /// The first function bound to `name`.
    pub fn get(&self, name: &str) -> Option<&GlobalFunc> {
        self.funcs.iter().find(|(gv, _)| &*gv.name == name).map(|(_, f)| f)
    }
}
