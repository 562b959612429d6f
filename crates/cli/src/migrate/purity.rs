//! Purity that the text leaves out: an edition that infers it, and one that takes a function for pure.

use std::sync::Arc;

use super::fresh;
use relax_spec::grammar::{Binding, Expr, Function, GlobalFunc, IrModule, SeqExpr, Span, StructInfo, Type, Var};
use relax_spec::judge::Cx;
use relax_spec::normal_form::normalize_reporting;
use relax_spec::rule;
use relax_spec::type_checking::{TypeReport, check_module};

/// States the purity of functions that are impure by an edition that infers it, where the other does not. Returns what
/// is stated, in words.
pub fn stated(old: &Cx, new: &Cx, module: &mut IrModule, line_of: &dyn Fn(u32) -> usize) -> Vec<String> {
    let infers = |cx: &Cx| cx.has(rule!("TC.FUNC.PURE.DEFAULT"));
    if !infers(old) || infers(new) {
        return Vec::new();
    }
    let mut cx = fresh(old);
    let types = check_module(&mut cx, &normalize_reporting(&mut fresh(old), module).module);
    let (from, to) = (old.edition(), new.edition());
    let mut said = Vec::new();
    let mut say = |name: &str, span: Span| {
        let line = if span.is_none() { String::new() } else { format!("line {}: ", line_of(span.start)) };
        said.push(format!(
            "{line}`{name}` does not say whether it is pure: {from} infers that it is not, {to} takes it for pure \
             [TC.FUNC.PURE.DEFAULT, PURITY.DEFAULT-TRUE]; it is written with pure=False"
        ));
    };
    for (gv, func) in &mut module.funcs {
        match func {
            GlobalFunc::Function(function) => {
                let is_impure = types.type_of_function(&gv.name).is_some_and(says_impure);
                let function = Arc::make_mut(function);
                if is_impure && function.pure.is_none() {
                    function.pure = Some(false);
                    say(&gv.name, gv.span);
                }
                in_expr(&mut function.body, &types, &mut say);
            }
            GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => {}
        }
    }
    said
}

fn says_impure(ty: &Type) -> bool {
    match ty {
        Type::Func(func) => !func.pure,
        Type::Object | Type::Tensor(_) | Type::Shape(_) | Type::Prim(_) | Type::Tuple(_) | Type::PackedFunc => false,
    }
}

fn in_expr(expr: &mut Expr, types: &TypeReport, say: &mut dyn FnMut(&str, Span)) {
    relax_spec::judge::with_stack(|| {
        if let Expr::SeqExpr(seq) = expr {
            in_seq(Arc::make_mut(seq), types, say);
        } else if let Expr::If(branch) = expr {
            let branch = Arc::make_mut(branch);
            in_expr(&mut branch.true_branch, types, say);
            in_expr(&mut branch.false_branch, types, say);
        } else if let Expr::Function(function) = expr {
            in_expr(&mut Arc::make_mut(function).body, types, say);
        }
    });
}

fn in_seq(seq: &mut SeqExpr, types: &TypeReport, say: &mut dyn FnMut(&str, Span)) {
    for binding in seq.blocks.iter_mut().flat_map(|block| &mut block.bindings) {
        match binding {
            Binding::VarBinding(binding) => {
                let var = binding.var.var.clone();
                in_expr(&mut binding.value, types, say);
                if let Expr::Function(function) = &mut binding.value {
                    local(&var, Arc::make_mut(function), &mut binding.var.annotation, types, say);
                }
            }
            Binding::MatchCast(_) => {}
        }
    }
    in_expr(&mut seq.body, types, say);
}

/// A local function. An annotation that repeats its signature repeats the purity, too.
fn local(
    var: &Var,
    function: &mut Function,
    annotation: &mut Option<StructInfo>,
    types: &TypeReport,
    say: &mut dyn FnMut(&str, Span),
) {
    if function.pure.is_none() && types.type_of_var(var).is_some_and(says_impure) {
        let repeats = annotation.as_ref().is_some_and(|info| *info == function.signature());
        function.pure = Some(false);
        if repeats {
            *annotation = Some(function.signature());
        }
        say(&var.name, var.span);
    }
}
