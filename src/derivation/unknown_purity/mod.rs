//! The proposal on unknown purity (chapter of that name): purity inference for single functions and for a whole module.

mod global;
mod local;

pub(crate) use global::Settled;
pub(super) use global::derived;
pub(super) use local::Inferring;

use super::Deriver;
use super::function::of_purity;
use crate::grammar::{DeriveFunc, GlobalFunc, Name, StructInfo};
use crate::struct_info::info_of_prim_func;

impl Deriver<'_, '_> {
    /// PURITY3.EXTERN: the information of an `ExternFunc` has the purity false.
    pub(super) fn info_of_extern_func(&mut self) -> StructInfo {
        let info = StructInfo::packed(DeriveFunc::DefaultDerive);
        if !self.cx.has(rule!("PURITY3.EXTERN")) {
            return info;
        }
        if self.cx.fire(rule!("PURITY3.EXTERN")) { of_purity(info.clone(), Some(false)) } else { info }
    }

    /// PURITY3.PREPOPULATE: before derivation, every global function has its annotated information, or the information
    /// from an earlier derivation.
    pub(super) fn prepopulate(&mut self) {
        if self.cx.fire(rule!("PURITY3.PREPOPULATE")) {
            for (gv, func) in &self.module.funcs {
                let info = self.known_before(&gv.name, func);
                self.globals.insert(&gv.name, info);
            }
        }
    }

    fn known_before(&mut self, name: &Name, func: &GlobalFunc) -> Option<StructInfo> {
        let info = match (func, self.beforehand.settled.entries.get(name)) {
            (GlobalFunc::Function(_), Some(derived)) => derived.clone(),
            (GlobalFunc::Function(function), None) => self.annotated_info(function),
            (GlobalFunc::PrimFunc(func), _) => Some(info_of_prim_func(self.cx, self.module, func)),
            (GlobalFunc::ExternFunc(_), _) => Some(self.info_of_extern_func()),
        };
        info.map(|info| self.with_purity_of(name, info))
    }

    /// The information of a global function, with the purity that was settled for the module.
    pub(super) fn as_settled(&self, name: &str, info: StructInfo) -> StructInfo {
        if let (StructInfo::Func(func), Some(pure)) = (&info, self.beforehand.settled.purity.get(name))
            && func.pure.is_none()
        {
            of_purity(info, Some(*pure))
        } else {
            info
        }
    }
}
