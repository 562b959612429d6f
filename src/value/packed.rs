//! Packed functions (`VAL.PACKED`): routines from outside the language, looked up by name.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::rc::Rc;

use super::host::{Host, readable};
use super::object::{PrimFuncObj, Value};
use super::stop::Stop;
use crate::grammar::Name;

/// A routine of the host.
pub type PackedImpl = dyn Fn(&mut dyn Host, &[Value]) -> Result<Returned, Stop>;

/// A registered packed function.
#[derive(Clone)]
pub struct PackedDef {
    /// The global name that programs use.
    pub name: Name,
    /// The declaration of purity (`PURE.REGISTER-MANUAL`): calls of a pure function are not recorded as effects.
    pub pure: bool,
    /// The tensor arguments that it reads.
    pub reads: Reads,
    /// The routine.
    pub run: Rc<PackedImpl>,
}

/// The tensor arguments that a packed function reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reads {
    /// All of them.
    #[default]
    All,
    /// All but the last, which is written.
    AllButTheLast,
    /// None, or the routine checks by itself.
    Nothing,
}

/// The result of a routine.
#[derive(Clone, Debug)]
pub enum Returned {
    /// An object of the language.
    Value(Value),
    /// Nothing. The program sees unit (`VAL.TUPLE.UNIT`).
    Nothing,
    /// Plain data that the host did not box (`RT.TVM.POD`).
    RawPod,
}

/// A packed function as a value.
#[derive(Debug)]
pub enum PackedFunc {
    /// A function of the registry.
    Native(PackedDef),
    /// A `PrimFunc` of the module, reached through its global symbol (`EVAL.EXTERNFUNC.PRIMFUNC`).
    PrimFunc {
        /// The global symbol.
        symbol: Name,
        /// The function that is called.
        func: Rc<PrimFuncObj>,
    },
    /// A function from outside the registry, which cannot be called.
    Unknown(Name),
}

/// The packed functions that programs can look up.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    functions: BTreeMap<Name, PackedDef>,
}

impl Registry {
    /// A registry without functions.
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
        self.register_reading(name, pure, Reads::All, run);
    }

    /// Like [`Registry::register`], for a function that does not read all its tensor arguments.
    pub fn register_reading(
        &mut self,
        name: &str,
        pure: bool,
        reads: Reads,
        run: impl Fn(&mut dyn Host, &[Value]) -> Result<Returned, Stop> + 'static,
    ) {
        self.functions.insert(name.into(), PackedDef { name: name.into(), pure, reads, run: Rc::new(run) });
    }

    /// Adds the functions of another registry, in place of those of the same names.
    pub fn extend(&mut self, other: &Registry) {
        self.functions.extend(other.functions.iter().map(|(name, def)| (name.clone(), def.clone())));
    }

    /// The same without the functions of these names.
    pub fn without(&self, names: &BTreeSet<Name>) -> Registry {
        let mut registry = self.clone();
        registry.functions.retain(|name, _| !names.contains(name));
        registry
    }

    /// The function of this name (`EVAL.EXTERNFUNC`); `None` if none is registered (`EVAL.EXTERNFUNC.MISSING`).
    pub fn get(&self, name: &str) -> Option<&PackedDef> {
        self.functions.get(name)
    }

    /// All functions, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = &PackedDef> {
        self.functions.values()
    }
}

impl PackedDef {
    /// Runs the routine after a check that the tensors it reads can be read (`MEM.UNWRITTEN`). The last `outputs`
    /// arguments are only written.
    pub fn call(&self, m: &mut dyn Host, args: &[Value], outputs: usize) -> Result<Returned, Stop> {
        let unread = match self.reads {
            Reads::All => outputs,
            Reads::AllButTheLast => outputs.max(1),
            Reads::Nothing => args.len(),
        };
        readable(m, args.get(..args.len().saturating_sub(unread)).unwrap_or_default())?;
        (self.run)(m, args)
    }
}

impl PackedFunc {
    /// The global name.
    pub fn name(&self) -> &Name {
        match self {
            PackedFunc::Native(def) => &def.name,
            PackedFunc::PrimFunc { symbol, .. } => symbol,
            PackedFunc::Unknown(name) => name,
        }
    }

    /// Whether both have the same name.
    pub fn same_as(&self, other: &PackedFunc) -> bool {
        self.name() == other.name()
    }

    /// Whether its calls are declared free of effects. Only a registered function can be.
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
