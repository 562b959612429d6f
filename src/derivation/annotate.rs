//! A program with what is derived written on it.

use std::collections::HashMap;
use std::sync::Arc;

use super::DeriveReport;
use crate::grammar::width::is_mostly_repeated;
use crate::grammar::{Binding, Expr, Function, GlobalFunc, IrModule, SeqExpr, StructInfo, Var};
use crate::judge::with_stack;

/// The program, with the structural information of every variable that is bound without an annotation, and of the results
/// of its functions, as `report` knows them of this program. Annotations that are there stay. What is known of a variable is left out if
/// most of a long text of it would be repetition: a pair of pairs of pairs.
pub fn annotated(module: &IrModule, report: &DeriveReport) -> IrModule {
    let known = Known {
        vars: report.vars.iter().filter(|(_, info)| !is_mostly_repeated(info)).map(|(var, info)| (var, info)).collect(),
    };
    let functions: HashMap<&str, &StructInfo> =
        report.functions.iter().rev().map(|(name, info)| (&**name, info)).collect();
    let mut module = module.clone();
    for (name, func) in &mut module.funcs {
        match func {
            GlobalFunc::Function(function) => {
                let info = functions.get(&*name.name).copied().filter(|info| !is_mostly_repeated(info));
                known.function(Arc::make_mut(function), info);
            }
            GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => {}
        }
    }
    module
}

struct Known<'r> {
    vars: HashMap<&'r Var, &'r StructInfo>,
}

impl Known<'_> {
    fn function(&self, function: &mut Function, info: Option<&StructInfo>) {
        if let (None, Some(StructInfo::Func(info))) = (&function.ret_struct_info, info) {
            function.ret_struct_info = Some(info.ret.clone());
        }
        self.expr(&mut function.body);
    }

    fn expr(&self, e: &mut Expr) {
        with_stack(|| match e {
            Expr::SeqExpr(seq) => self.seq(Arc::make_mut(seq)),
            Expr::If(e) => {
                let e = Arc::make_mut(e);
                [&mut e.true_branch, &mut e.false_branch].into_iter().for_each(|branch| self.expr(branch));
            }
            Expr::Function(function) => self.function(Arc::make_mut(function), None),
            Expr::Constant(_)
            | Expr::Var(_)
            | Expr::DataflowVar(_)
            | Expr::GlobalVar(_)
            | Expr::Tuple(_)
            | Expr::PrimValue(_)
            | Expr::StringImm(_)
            | Expr::DataTypeImm(_)
            | Expr::ExternFunc(_)
            | Expr::Call(_)
            | Expr::ShapeExpr(_)
            | Expr::TupleGetItem(_)
            | Expr::Op(_) => {}
        });
    }

    fn seq(&self, seq: &mut SeqExpr) {
        for binding in seq.blocks.iter_mut().flat_map(|block| &mut block.bindings) {
            let Binding::VarBinding(binding) = binding else { continue };
            let info = self.vars.get(&binding.var.var).copied();
            if let Expr::Function(function) = &mut binding.value {
                // A local function is written with its signature.
                self.function(Arc::make_mut(function), info);
                continue;
            }
            self.expr(&mut binding.value);
            if binding.var.annotation.is_none() {
                binding.var.annotation = info.cloned();
            }
        }
    }
}
