//! Derived results of functions without a return annotation. They are needed for the run-time structural information of
//! closures (`VAL.CLOSURE.RTSI`).

use std::collections::HashMap;
use std::rc::Rc;

use super::Deriver;
use crate::grammar::visit::{Visitor, walk_function, walk_struct_info};
use crate::grammar::{Function, GlobalFunc, IrModule, StructInfo};
use crate::judge::Cx;
use crate::scope::in_order_of_reference;

/// The results of the module's functions without return annotation, by the address of the function. `None` if the
/// module has no function type with which a closure of theirs could be compared.
pub fn inferred_results(cx: &Cx, module: &IrModule) -> Option<Rc<HashMap<usize, StructInfo>>> {
    let mut asked = ResultRequirement::default();
    for (_, func) in &module.funcs {
        match func {
            GlobalFunc::Function(function) => asked.visit_function(function),
            GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => {}
        }
    }
    if !(asked.unannotated && asked.function_types) {
        return None;
    }
    let mut cx = cx.in_same_reading().with_edition(cx.basis());
    let mut deriver = Deriver::new(&mut cx, module);
    deriver.module_in(&in_order_of_reference(module));
    Some(Rc::new(deriver.results))
}

/// Whether the module needs results.
#[derive(Default)]
struct ResultRequirement {
    unannotated: bool,
    function_types: bool,
}

impl Visitor for ResultRequirement {
    fn visit_function(&mut self, function: &Function) {
        self.unannotated |= function.ret_struct_info.is_none();
        walk_function(self, function);
    }

    fn visit_struct_info(&mut self, info: &StructInfo) {
        self.function_types |= matches!(info, StructInfo::Func(func) if func.params.is_some());
        walk_struct_info(self, info);
    }
}
