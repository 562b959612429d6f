//! The `PrimFunc`s of a module in which no Relax function can be started. A generated Relax function calls one of them
//! on its own arguments, so that the contents of its buffers are compared.

use crate::book::Edition;
use crate::grammar::tir::{Param, PrimFunc};
use crate::grammar::{
    AttrValue, Attrs, Binder, Binding, BindingBlock, BlockKind, Expr, Function, GlobalFunc, GlobalVar, IrModule, Name,
    Span, StructInfo, Tuple, Var, VarBinding, VarKind,
};
use crate::judge::Cx;
use crate::struct_info::info_of_prim_func;

/// The edition in which Relax calls a `PrimFunc` directly. The meaning of a `PrimFunc` is the same in all editions.
pub const EDITION_OF_PRIM_FUNCS: Edition = Edition::E2024_04;

/// The `PrimFunc`s of a module in which nothing else can be started; empty for any other module.
pub fn prim_funcs_alone(module: &IrModule) -> Vec<Name> {
    let mut names = Vec::new();
    for (name, func) in &module.funcs {
        match func {
            GlobalFunc::Function(f) if f.attrs.contains_key("global_symbol") => return Vec::new(),
            GlobalFunc::PrimFunc(_) => names.push(name.name.clone()),
            GlobalFunc::Function(_) | GlobalFunc::ExternFunc(_) => {}
        }
    }
    names
}

/// The module with a function that calls the `PrimFunc`, and the name of that function; `None` without the `PrimFunc`.
pub fn with_entry(cx: &Cx, module: &IrModule, name: &str) -> Option<(IrModule, Name)> {
    let func = module.funcs.iter().find_map(|(gv, func)| match func {
        GlobalFunc::PrimFunc(func) if *gv.name == *name => Some(func),
        GlobalFunc::PrimFunc(_) | GlobalFunc::Function(_) | GlobalFunc::ExternFunc(_) => None,
    })?;
    let entry: Name = format!("run_{name}").into();
    let calling = calling(&mut cx.clone().with_edition(EDITION_OF_PRIM_FUNCS), module, name, func, &entry);
    let mut module = module.clone();
    module.funcs.push((GlobalVar::new(&entry), GlobalFunc::Function(calling.into())));
    Some((module, entry))
}

/// A function with the same parameters that calls the `PrimFunc` and returns nothing.
fn calling(cx: &mut Cx, module: &IrModule, name: &str, func: &PrimFunc, entry: &Name) -> Function {
    let infos: Vec<StructInfo> = match info_of_prim_func(cx, module, func) {
        StructInfo::Func(info) => info.params.iter().flat_map(|params| params.to_vec()).collect(),
        _ => Vec::new(),
    };
    let binder = |(param, info): (&Param, StructInfo)| {
        let name = match param {
            Param::Buffer(buffer) => &buffer.name,
            Param::Scalar(var) | Param::Handle(var) => &var.name,
        };
        Binder { var: Var::new(name), kind: VarKind::Var, annotation: Some(info) }
    };
    let params: Vec<Binder> = func.params.iter().zip(infos).map(binder).collect();
    let args = params.iter().map(|param| Expr::Var(param.var.clone())).collect();
    let called = VarBinding {
        var: Binder { var: Var::new(&format!("{entry}_ends")), kind: VarKind::Var, annotation: None },
        value: Expr::call(Expr::GlobalVar(GlobalVar::new(name)), args),
        span: Span::NONE,
    };
    let block =
        BindingBlock { kind: BlockKind::Binding, bindings: vec![Binding::VarBinding(called)], span: Span::NONE };
    let body = Expr::seq(vec![block], Expr::Tuple(Tuple { fields: Vec::new(), span: Span::NONE }.into()));
    let mut attrs = Attrs::new();
    attrs.insert("global_symbol".into(), AttrValue::Str(entry.clone()));
    Function { params, body, ret_struct_info: None, pure: Some(false), attrs, span: Span::NONE }
}
