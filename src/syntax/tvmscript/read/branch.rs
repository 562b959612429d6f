//! Conditionals: the value of a branch is that of its last statement.

use std::borrow::Cow;

use ruff_python_ast as py;

use super::ModuleReader;
use super::block::{Blocks, PendingBinding, Placement};
use super::dims::Unbound;
use super::fault::{ReadFault, ReadResult, span_of};
use super::scope::use_of;
use crate::grammar::{Binder, Binding, Expr, If, SeqExpr, Span, StructInfo, VarBinding, VarKind};
use crate::judge::with_stack;

/// A branch of an `If`, or the inside of a nested sequence: its bindings, its value, and the variable to which the text
/// assigns the value.
pub(super) struct Branch<'a> {
    blocks: Blocks,
    body: Expr,
    pub name: Cow<'a, str>,
    pub annotation: Option<StructInfo>,
    span: Span,
}

impl Branch<'_> {
    pub fn into_seq(self) -> Expr {
        Expr::SeqExpr(SeqExpr { blocks: self.blocks.finish(), body: self.body, span: self.span }.into())
    }
}

impl ModuleReader<'_> {
    /// `if`/`else`: a binding of the variable to which both branches assign their values.
    pub(super) fn conditional<'a>(&mut self, statement: &'a py::StmtIf) -> ReadResult<PendingBinding<'a>> {
        self.conditional_chain(&statement.test, &statement.body, &statement.elif_else_clauses, span_of(statement))
    }

    fn conditional_chain<'a>(
        &mut self,
        test: &py::Expr,
        body: &'a [py::Stmt],
        clauses: &'a [py::ElifElseClause],
        span: Span,
    ) -> ReadResult<PendingBinding<'a>> {
        let cond = self.expr(test)?;
        let mut then = self.branch(body, span)?;
        let Some((clause, rest)) = clauses.split_first() else {
            return Err(ReadFault::at(span, "an `if` needs an `else`").under(rule!("GRAM.EXPR.IF")));
        };
        let mut otherwise = match &clause.test {
            None => self.branch(&clause.body, span_of(clause))?,
            Some(test) => self.nested(span_of(clause), |reader| {
                let inner = reader.conditional_chain(test, &clause.body, rest, span_of(clause))?;
                let PendingBinding { name, annotation, value, span } = inner;
                Ok(Branch { blocks: Blocks::default(), body: value, name, annotation, span })
            })?,
        };
        if then.name != otherwise.name {
            let (then, otherwise) = (then.name, otherwise.name);
            let message = format!(
                "both branches must end with a binding of one variable, but they bind `{then}` and `{otherwise}`"
            );
            return Err(ReadFault::at(span, message));
        }
        let annotation = if then.annotation == otherwise.annotation {
            then.annotation.take()
        } else {
            self.keep_annotation(&mut then);
            self.keep_annotation(&mut otherwise);
            None
        };
        let name = then.name.clone();
        let value = If { cond, true_branch: then.into_seq(), false_branch: otherwise.into_seq(), span };
        Ok(PendingBinding { name, annotation, value: Expr::If(value.into()), span })
    }

    /// An annotation in only one branch belongs to a variable of that branch.
    fn keep_annotation(&mut self, branch: &mut Branch<'_>) {
        let Some(annotation) = branch.annotation.take() else { return };
        let span = branch.body.span();
        let var = self.scope.fresh(&branch.name, VarKind::Var, span);
        let value = std::mem::replace(&mut branch.body, Expr::Var(var.clone()));
        let var = Binder { var, kind: VarKind::Var, annotation: Some(annotation) };
        branch.blocks.push(Binding::VarBinding(VarBinding { var, value, span }));
    }

    /// A suite that ends with a binding, whose value is the value of the branch.
    pub(super) fn branch<'a>(&mut self, statements: &'a [py::Stmt], span: Span) -> ReadResult<Branch<'a>> {
        self.scope.enter();
        let mut blocks = Blocks::default();
        let result = match statements.split_last() {
            Some((last, statements)) => {
                for statement in statements {
                    self.statement(statement, &mut blocks, Placement::Ordinary);
                }
                self.last_of_branch(last, &mut blocks)
            }
            None => Err(ReadFault::at(span, "the branch is empty")),
        };
        self.scope.leave();
        let pending = result?;
        Ok(Branch { blocks, body: pending.value, name: pending.name, annotation: pending.annotation, span })
    }

    fn last_of_branch<'a>(&mut self, last: &'a py::Stmt, blocks: &mut Blocks) -> ReadResult<PendingBinding<'a>> {
        let span = span_of(last);
        match last {
            py::Stmt::If(conditional) => return with_stack(|| self.conditional(conditional)),
            py::Stmt::Assign(assign) => {
                if let [py::Expr::Name(name)] = assign.targets.as_slice()
                    && !self.is_special(&assign.value)?
                {
                    let value = self.assigned(&assign.value, None)?;
                    return Ok(PendingBinding { name: name.id.as_str().into(), annotation: None, value, span });
                }
            }
            py::Stmt::AnnAssign(assign) => {
                if let (py::Expr::Name(name), Some(value)) = (&*assign.target, &assign.value)
                    && !self.is_special(value)?
                {
                    let annotation = self.struct_info(&assign.annotation, Unbound::Leave)?;
                    let value = self.assigned(value, Some(&annotation))?;
                    return Ok(PendingBinding {
                        name: name.id.as_str().into(),
                        annotation: Some(annotation),
                        value,
                        span,
                    });
                }
            }
            py::Stmt::Expr(e) if !self.is_special(&e.value)? => {
                let value = self.expr(&e.value)?;
                return Ok(PendingBinding { name: "_".into(), annotation: None, value, span });
            }
            _ => {}
        }
        // Any other statement is kept, and the value is the variable that it binds.
        with_stack(|| self.try_statement(last, blocks, Placement::Ordinary))?;
        match blocks.last().and_then(Binding::binder) {
            Some(binder) if binder.kind == VarKind::Var => {
                let value = use_of(binder.var.clone().at(span), binder.kind);
                Ok(PendingBinding { name: binder.var.name.to_string().into(), annotation: None, value, span })
            }
            Some(_) | None => {
                Err(ReadFault::new(last, "a branch must end with a binding of the variable for its value"))
            }
        }
    }
}
