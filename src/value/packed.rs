//! Packed functions (`VAL.PACKED`): routines from outside the language, found by name.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use super::host::Host;
use super::object::{PrimFuncObj, Value};
use super::stop::Stop;
use crate::grammar::Name;

/// A routine of the host.
pub type PackedImpl = dyn Fn(&mut dyn Host, &[Value]) -> Result<Returned, Stop>;

/// A packed function as registered.
#[derive(Clone)]
pub struct PackedDef {
    pub name: Name,
    /// The declaration of purity (`PURE.REGISTER-MANUAL`): calls of a pure function are not recorded as effects.
    pub pure: bool,
    pub run: Rc<PackedImpl>,
}

/// What a routine returns.
#[derive(Clone, Debug)]
pub enum Returned {
    Value(Value),
    /// Nothing, which the program sees as unit (`VAL.TUPLE.UNIT`).
    Nothing,
    /// Plain data that the host did not box (`RT.TVM.POD`).
    RawPod,
}

/// A packed function as a value.
#[derive(Debug)]
pub enum PackedFunc {
    Native(PackedDef),
    /// A `PrimFunc` of the module, reached through its global symbol (`EVAL.EXTERNFUNC.PRIMFUNC`).
    PrimFunc {
        symbol: Name,
        func: Rc<PrimFuncObj>,
    },
    /// One that came from outside the registry; it cannot be called.
    Unknown(Name),
}

/// The packed functions that programs can find.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    functions: BTreeMap<Name, PackedDef>,
}

impl Registry {
    /// No function at all.
    pub fn empty() -> Registry {
        Registry::default()
    }

    /// Adds a function, or replaces the one of the same name.
    pub fn register(
        &mut self,
        name: &str,
        pure: bool,
        run: impl Fn(&mut dyn Host, &[Value]) -> Result<Returned, Stop> + 'static,
    ) {
        self.functions.insert(name.into(), PackedDef { name: name.into(), pure, run: Rc::new(run) });
    }

    pub fn get(&self, name: &str) -> Option<&PackedDef> {
        self.functions.get(name)
    }

    pub fn iter(&self) -> impl Iterator<Item = &PackedDef> {
        self.functions.values()
    }
}

impl PackedFunc {
    pub fn name(&self) -> &Name {
        match self {
            PackedFunc::Native(def) => &def.name,
            PackedFunc::PrimFunc { symbol, .. } => symbol,
            PackedFunc::Unknown(name) => name,
        }
    }

    pub fn same_as(&self, other: &PackedFunc) -> bool {
        self.name() == other.name()
    }

    pub fn is_pure(&self) -> bool {
        match self {
            PackedFunc::Native(def) => def.pure,
            PackedFunc::PrimFunc { .. } | PackedFunc::Unknown(_) => false,
        }
    }
}

impl fmt::Debug for PackedDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PackedDef").field("name", &self.name).field("pure", &self.pure).finish_non_exhaustive()
    }
}
