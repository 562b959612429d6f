//! Whether what a pass says of variables is true of their values.

use campaign::soundness::{FalseInformation, try_information};
use relax_spec::grammar::visit::{Visitor, walk_module, walk_var_binding};
use relax_spec::grammar::{IrModule, StructInfo, Var, VarBinding};
use relax_spec::judge::Cx;

/// In how many runs the annotations have to be true.
const RUNS: usize = 5;

/// SI.DERIVE.VB.ANNOT.WARN: an annotation that says more than is derived is accepted, and no run checks it. It is the
/// pass's own if nothing false was said of the variables before. The result is what a run shows to be false.
pub(super) fn falsehood(cx: &Cx, before: &IrModule, after: &IrModule, entry: &str) -> Option<FalseInformation> {
    let found = |module: &IrModule| try_information(cx, module, entry, &annotations(module), RUNS).err();
    found(after).filter(|_| found(before).is_none())
}

fn annotations(module: &IrModule) -> Vec<(Var, StructInfo)> {
    let mut annotations = Annotations::default();
    walk_module(&mut annotations, module);
    annotations.0
}

#[derive(Default)]
struct Annotations(Vec<(Var, StructInfo)>);

impl Visitor for Annotations {
    fn visit_var_binding(&mut self, binding: &VarBinding) {
        let said = binding.var.annotation.clone();
        self.0.extend(said.map(|said| (binding.var.var.clone(), said)));
        walk_var_binding(self, binding);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use relax_spec::book::Edition;
    use relax_spec::syntax::tvmscript::parse_module;

    fn program(annotation: &str) -> IrModule {
        parse_module(&text(annotation)).unwrap()
    }

    fn text(annotation: &str) -> String {
        format!(
            "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((\"n\",), \"float32\"), i: R.Tensor(ndim=1, \
             dtype=\"int64\")) -> R.Object:\n        n = T.int64()\n        y{annotation} = R.take(x, i)\n        return y\n"
        )
    }

    /// A contradiction is an error without a run, and what the program itself says falsely is not of the pass.
    #[test]
    fn what_no_run_agrees_with_is_false() {
        let cx = Cx::new().with_edition(Edition::E2024_04);
        let falsehood = |before: &str, after: &str| falsehood(&cx, &program(before), &program(after), "main");
        let (of_rank, of_n) = (": R.Tensor(ndim=1, dtype=\"float32\")", ": R.Tensor((n,), \"float32\")");
        assert!(falsehood("", "").is_none());
        assert!(falsehood("", of_rank).is_none());
        assert!(falsehood("", ": R.Object").is_none());
        assert!(falsehood(of_n, of_n).is_none());
        let found = falsehood("", of_n).unwrap();
        assert!(found.message.starts_with("`y` is said to be Tensor((n), float32), and is "), "{}", found.message);
        assert_eq!(found.args.len(), 2);
    }

    /// The function is the one of the symbol, which may have another name in the module.
    #[test]
    fn the_function_of_the_symbol_is_run() {
        let cx = Cx::new().with_edition(Edition::E2024_04);
        let linked = |annotation: &str| {
            let head = "        R.func_attr({\"global_symbol\": \"main\"})\n        n = T.int64()\n";
            let text = text(annotation).replace("def main(", "def other(").replace("        n = T.int64()\n", head);
            parse_module(&text).unwrap()
        };
        let found = falsehood(&cx, &linked(""), &linked(": R.Tensor((n,), \"float32\")"), "main");
        assert!(found.is_some());
    }
}
