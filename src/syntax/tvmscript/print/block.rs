//! Bindings, blocks and branches.

use super::Printer;
use super::expr::is_inline;
use crate::grammar::{
    Binder, Binding, BindingBlock, BlockKind, DataType, Expr, Function, If, MatchCast, Name, PrimExpr, PrimStructInfo,
    SeqExpr, ShapeVar, StructInfo, Var, VarKind,
};
use crate::judge::with_stack;
use crate::syntax::tvmscript::Dialect;
use crate::syntax::tvmscript::read::implied_annotation;

impl Printer<'_> {
    /// The blocks of a sequence.
    pub(super) fn blocks(&mut self, blocks: &[BindingBlock]) {
        for block in blocks {
            match block.kind {
                BlockKind::Binding => self.bindings(&block.bindings),
                BlockKind::Dataflow => self.dataflow(&block.bindings),
            }
        }
    }

    fn bindings(&mut self, bindings: &[Binding]) {
        for binding in bindings {
            let from = self.out.len();
            self.binding(binding);
            if let Some(remark) = binding.binder().and_then(|binder| (self.remark)(&binder.var)) {
                self.remark(from, remark);
            }
        }
    }

    /// Writes a comment after the line that begins there.
    fn remark(&mut self, from: usize, remark: &str) {
        let end = self.out.get(from..).and_then(|line| line.find('\n')).map_or(self.out.len(), |end| from + end);
        self.out.insert_str(end, &format!("  # {remark}"));
    }

    fn dataflow(&mut self, bindings: &[Binding]) {
        self.line("with R.dataflow():");
        self.indent += 1;
        self.bindings(bindings);
        let outputs: Vec<Name> = bindings
            .iter()
            .filter_map(Binding::binder)
            .filter(|binder| binder.kind == VarKind::Var)
            .map(|binder| self.names.var(&binder.var))
            .collect();
        self.line(&format!("R.output({})", outputs.join(", ")));
        self.indent -= 1;
    }

    /// `a: T.int64 = value` of 0.27, which also binds a dimension without an earlier name.
    fn bound_scalar(&self, cast: &MatchCast) -> Option<(Var, ShapeVar)> {
        let binder = cast.var.as_ref().filter(|binder| binder.annotation.is_none())?;
        let dim = self.scalar(&cast.struct_info).filter(|dim| !self.names.knows(dim) && dim.name == binder.var.name)?;
        Some((binder.var.clone(), dim))
    }

    fn binding(&mut self, binding: &Binding) {
        match binding {
            Binding::VarBinding(b) => self.bound(&b.var, &b.value),
            Binding::MatchCast(b) if self.bound_scalar(b).is_some() => {
                if let Some((var, dim)) = self.bound_scalar(b) {
                    let mut text = String::new();
                    self.expr(&b.value, &mut text);
                    let name = self.names.scalar(&var, &dim);
                    self.line(&format!("{name}: T.int64 = {text}"));
                }
            }
            Binding::MatchCast(b) => {
                let mut text = String::from("R.match_cast(");
                self.expr(&b.value, &mut text);
                text.push_str(", ");
                self.struct_info(&b.struct_info, &mut text);
                text.push(')');
                match &b.var {
                    None => self.line(&format!("_ = {text}")),
                    Some(binder) => {
                        if binder.annotation.is_none() {
                            self.names.var_not_blank(&binder.var);
                        }
                        let target = self.target(binder);
                        self.line(&format!("{target} = {text}"));
                    }
                }
            }
        }
    }

    /// The shape variable that is the value of a scalar. In 0.27 both have one name.
    fn scalar(&self, info: &StructInfo) -> Option<ShapeVar> {
        match (self.dialect, info) {
            (
                Dialect::Tvm027,
                StructInfo::Prim(PrimStructInfo { dtype: DataType::INT64, value: Some(PrimExpr::Var(dim)) }),
            ) => Some(dim.clone()),
            (Dialect::Tvm025 | Dialect::Tvm027, _) => None,
        }
    }

    /// `name: annotation` of a parameter.
    fn param(&mut self, binder: &Binder) -> String {
        let dim = binder.annotation.as_ref().and_then(|annotation| self.scalar(annotation));
        match dim.filter(|dim| dim.name == binder.var.name && !self.names.is_scalar(dim)) {
            Some(dim) => format!("{}: T.int64", self.names.scalar(&binder.var, &dim)),
            None => self.target(binder),
        }
    }

    /// `name: annotation`.
    fn target(&mut self, binder: &Binder) -> String {
        let mut text = self.names.var(&binder.var).to_string();
        if let Some(annotation) = &binder.annotation {
            text.push_str(": ");
            self.struct_info(annotation, &mut text);
        }
        text
    }

    fn bound(&mut self, binder: &Binder, value: &Expr) {
        let has_lines = match value {
            Expr::Function(_) | Expr::SeqExpr(_) => true,
            Expr::If(conditional) => !is_inline(conditional),
            _ => false,
        };
        if has_lines {
            let name = self.names.var(&binder.var);
            match value {
                Expr::Function(function) => {
                    let implied = implied_annotation(&binder.var, function);
                    self.local_function(&name, binder.annotation.as_ref(), implied.as_ref(), function);
                }
                value => self.named(&name, binder.annotation.as_ref(), value),
            }
        } else {
            let mut text = std::mem::take(&mut self.spare);
            self.expr(value, &mut text);
            match &binder.annotation {
                None => {
                    let name = self.names.var(&binder.var);
                    self.line_of(&[&name, " = ", &text]);
                }
                Some(_) => {
                    let target = self.target(binder);
                    self.line_of(&[&target, " = ", &text]);
                }
            }
            text.clear();
            self.spare = text;
        }
    }

    /// `name: annotation = value`, on as many lines as the value needs.
    pub(super) fn named(&mut self, name: &str, annotation: Option<&StructInfo>, value: &Expr) {
        with_stack(|| match value {
            Expr::Function(function) => {
                self.local_function(name, annotation, Some(&function.signature()), function);
            }
            Expr::If(conditional) if !is_inline(conditional) => self.conditional(name, annotation, conditional),
            Expr::SeqExpr(seq) => {
                self.line("with R.SeqExpr():");
                self.branch(name, annotation, seq);
            }
            value => {
                let mut text = String::new();
                self.expr(value, &mut text);
                let mut target = name.to_string();
                if let Some(annotation) = annotation {
                    target.push_str(": ");
                    self.struct_info(annotation, &mut target);
                }
                self.line(&format!("{target} = {text}"));
            }
        })
    }

    fn conditional(&mut self, name: &str, annotation: Option<&StructInfo>, conditional: &If) {
        let mut cond = String::new();
        self.expr(&conditional.cond, &mut cond);
        self.line(&format!("if {cond}:"));
        self.branch_of(name, annotation, &conditional.true_branch);
        self.line("else:");
        self.branch_of(name, annotation, &conditional.false_branch);
    }

    fn branch_of(&mut self, name: &str, annotation: Option<&StructInfo>, branch: &Expr) {
        match branch {
            Expr::SeqExpr(seq) => self.branch(name, annotation, seq),
            other => {
                self.indent += 1;
                self.named(name, annotation, other);
                self.indent -= 1;
            }
        }
    }

    /// The blocks of a branch, then its value under the common name of the branches.
    fn branch(&mut self, name: &str, annotation: Option<&StructInfo>, seq: &SeqExpr) {
        self.indent += 1;
        self.blocks(&seq.blocks);
        self.named(name, annotation, &seq.body);
        self.indent -= 1;
    }

    /// Writes a local function. `implied` is the annotation that a reader assumes by default.
    fn local_function(
        &mut self,
        name: &str,
        annotation: Option<&StructInfo>,
        implied: Option<&StructInfo>,
        function: &Function,
    ) {
        // TVM only looks at the last decorator, and derives the annotation itself.
        if let Some(annotation) = annotation.filter(|annotation| Some(*annotation) != implied) {
            let mut text = String::from("@R.annotation(");
            self.struct_info(annotation, &mut text);
            self.line(&format!("{text})"));
        }
        // Without a stated purity it would be read as pure if it makes only pure calls.
        self.line(&super::decorator(false, function.pure, true));
        let header = self.header(name, function);
        self.line(&header);
        self.indent += 1;
        if !function.attrs.is_empty() {
            let attrs = self.attr_dict(&function.attrs);
            self.line(&format!("R.func_attr({attrs})"));
        }
        self.body(&function.body);
        self.indent -= 1;
    }

    /// `def f(x: .., y: ..) -> ..:`.
    pub(super) fn header(&mut self, name: &str, function: &Function) -> String {
        let params: Vec<String> = function.params.iter().map(|param| self.param(param)).collect();
        let mut text = format!("def {name}({})", params.join(", "));
        if let Some(ret) = &function.ret_struct_info {
            text.push_str(" -> ");
            self.struct_info(ret, &mut text);
        }
        text.push(':');
        text
    }

    /// The statements of a function.
    pub(super) fn body(&mut self, body: &Expr) {
        let value = match body {
            Expr::SeqExpr(seq) => {
                self.blocks(&seq.blocks);
                &seq.body
            }
            other => other,
        };
        let mut text = String::new();
        self.expr(value, &mut text);
        self.line(&format!("return {text}"));
    }
}
