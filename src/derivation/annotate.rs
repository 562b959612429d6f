//! Annotates a program with its derived information.

use std::collections::HashMap;
use std::sync::Arc;

use super::DeriveReport;
use crate::grammar::width::is_mostly_repeated;
use crate::grammar::{Binding, Expr, Function, GlobalFunc, IrModule, SeqExpr, StructInfo, Var};
use crate::judge::with_stack;
use crate::struct_info::{names_among, replace_everywhere};

/// Adds annotations to a program, as `report` derived them for this program: to every variable bound without one and to
/// the results of functions. Existing annotations stay. Information of a variable is omitted if its text is long and
/// mostly repetition, as for a pair of pairs of pairs.
pub fn annotated(module: &IrModule, report: &DeriveReport) -> IrModule {
    let known = KnownInfos {
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

struct KnownInfos<'r> {
    vars: HashMap<&'r Var, &'r StructInfo>,
}

impl KnownInfos<'_> {
    fn function(&self, function: &mut Function, info: Option<&StructInfo>) {
        if let (None, Some(StructInfo::Func(info))) = (&function.ret_struct_info, info) {
            // The signature may use other names for the shape variables than the function itself.
            let params = info.params.as_deref().unwrap_or_default();
            let pairs = params.iter().zip(&function.params);
            let names = names_among(pairs.filter_map(|(info, param)| Some((info, param.annotation.as_ref()?))));
            function.ret_struct_info = Some(replace_everywhere(&info.ret, &names));
        }
        self.expr(&mut function.body);
    }

    fn expr(&self, e: &mut Expr) {
        with_stack(|| {
            if let Expr::SeqExpr(seq) = e {
                self.seq(Arc::make_mut(seq));
            } else if let Expr::If(e) = e {
                let e = Arc::make_mut(e);
                [&mut e.true_branch, &mut e.false_branch].into_iter().for_each(|branch| self.expr(branch));
            } else if let Expr::Function(function) = e {
                self.function(Arc::make_mut(function), None);
            }
        });
    }

    fn seq(&self, seq: &mut SeqExpr) {
        for binding in seq.blocks.iter_mut().flat_map(|block| &mut block.bindings) {
            let Binding::VarBinding(binding) = binding else { continue };
            let info = self.vars.get(&binding.var.var).copied();
            if let Expr::Function(function) = &mut binding.value {
                // A local function is printed with its signature.
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

#[cfg(test)]
mod tests {
    use crate::derivation::{annotated, derive_module};
    use crate::judge::Cx;
    use crate::syntax::tvmscript::{Dialect, parse_module, print_module};

    /// Each function has its own shape variables, and its result is expressed in these.
    #[test]
    fn results_are_in_the_names_of_their_function() {
        let of = |name: &str| {
            format!(
                "    @R.function\n    def {name}(x: R.Tensor((\"n\",), \"float32\")):\n        y = R.concat((x, x), axis=0)\n        return y\n"
            )
        };
        let text = format!("@I.ir_module\nclass Module:\n{}{}{}", of("a"), of("b"), of("c"));
        let module = parse_module(&text).unwrap();
        let report = derive_module(&mut Cx::new(), &module);
        let printed = print_module(&annotated(&module, &report), Dialect::default());
        assert_eq!(printed.matches("-> R.Tensor((\"n + n\",), dtype=\"float32\"):").count(), 3, "{printed}");
    }
}
