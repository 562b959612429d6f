//! The results of local functions without a result annotation. The signature derived from the body becomes the
//! annotation of the variable that is bound to the function (SI.DERIVE.VB.FUNC.ANNOT, SI.DERIVE.FUNC.RESULT.NOANNOT).

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Open;
use crate::derivation::derive_module;
use crate::grammar::visit::walk_module;
use crate::grammar::{
    Binding, Expr, FuncStructInfo, Function, GlobalFunc, IrModule, SeqExpr, StructInfo, Var, VarBinding,
};
use crate::judge::{Cx, with_stack};
use crate::normal_form::normalize;
use crate::struct_info::{names_among, replace_everywhere};

/// Annotates the variables that are bound to functions and have no annotation. A result that cannot be derived is
/// annotated `Object`.
pub fn state_results(module: &mut IrModule) {
    let mut open = Open::default();
    walk_module(&mut open, module);
    if open.results == 0 {
        return;
    }
    let normalized = normalize(&mut Cx::new(), module);
    let report = derive_module(&mut Cx::new(), &normalized);
    let known = report.vars.iter().map(|(var, info)| (var, info)).collect();
    for (_, func) in &mut module.funcs {
        match func {
            GlobalFunc::Function(function) => in_expr(&mut Arc::make_mut(function).body, &known),
            GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => {}
        }
    }
}

type Known<'r> = FxHashMap<&'r Var, &'r StructInfo>;

fn in_expr(e: &mut Expr, known: &Known<'_>) {
    with_stack(|| {
        if let Expr::SeqExpr(seq) = e {
            in_seq(Arc::make_mut(seq), known);
        } else if let Expr::If(branches) = e {
            let branches = Arc::make_mut(branches);
            in_expr(&mut branches.true_branch, known);
            in_expr(&mut branches.false_branch, known);
        } else if let Expr::Function(function) = e {
            in_expr(&mut Arc::make_mut(function).body, known);
        }
    });
}

fn in_seq(seq: &mut SeqExpr, known: &Known<'_>) {
    for binding in seq.blocks.iter_mut().flat_map(|block| &mut block.bindings) {
        match binding {
            Binding::VarBinding(VarBinding { var, value, .. }) => {
                in_expr(value, known);
                if let (Expr::Function(function), None) = (&*value, &var.annotation) {
                    var.annotation = Some(signature(function, known.get(&var.var).copied()));
                }
            }
            Binding::MatchCast(_) => {}
        }
    }
    in_expr(&mut seq.body, known);
}

/// The signature of a function, with the derived result.
fn signature(function: &Function, derived: Option<&StructInfo>) -> StructInfo {
    match (function.signature(), derived) {
        (StructInfo::Func(own), Some(StructInfo::Func(derived))) => {
            // The derived result may use other names for the shape variables than the function does.
            let params = derived.params.as_deref().unwrap_or_default();
            let pairs = params.iter().zip(own.params.as_deref().unwrap_or_default());
            let ret = replace_everywhere(&derived.ret, &names_among(pairs));
            StructInfo::Func(FuncStructInfo { ret, ..(*own).clone() }.into())
        }
        (signature, _) => signature,
    }
}
