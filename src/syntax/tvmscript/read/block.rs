//! Statements: bindings, blocks and branches.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use ruff_python_ast as py;

use super::ModuleReader;
use super::annotation::ArgumentCursor;
use super::dims::Unbound;
use super::fault::{ReadFault, ReadResult, members, relax_name, span_of};
use super::scalars;
use crate::grammar::{
    AttrValue, Binder, Binding, BindingBlock, BlockKind, Call, DataType, Expr, MatchCast, Name, PrimExpr, PrimValue,
    SeqExpr, Span, StructInfo, Var, VarBinding, VarKind,
};
use crate::judge::with_stack;

/// Bindings in the order of the text, grouped into blocks.
#[derive(Default)]
pub(super) struct Blocks {
    done: Vec<BindingBlock>,
    open: Vec<Binding>,
}

impl Blocks {
    pub fn push(&mut self, binding: Binding) {
        self.open.push(binding);
    }

    fn close(&mut self, kind: BlockKind, span: Option<Span>) {
        let bindings = std::mem::take(&mut self.open);
        let first = bindings.first().map_or(Span::NONE, Binding::span);
        let last = bindings.last().map_or(Span::NONE, Binding::span);
        let span = span.unwrap_or(Span::new(first.start, last.end));
        self.done.push(BindingBlock { kind, bindings, span });
    }

    /// Ends the block of ordinary bindings, unless it is empty.
    fn close_ordinary(&mut self) {
        if !self.open.is_empty() {
            self.close(BlockKind::Binding, None);
        }
    }

    /// Whether the open bindings follow a dataflow block.
    fn is_between(&self) -> bool {
        !self.open.is_empty() && self.done.last().is_some_and(|block| block.kind == BlockKind::Dataflow)
    }

    /// The latest binding.
    pub fn last(&self) -> Option<&Binding> {
        self.open.last().or_else(|| self.done.last().and_then(|block| block.bindings.last()))
    }

    pub fn finish(mut self) -> Vec<BindingBlock> {
        self.close_ordinary();
        self.done
    }
}

/// The context of a statement, which determines the kind of the variables that it binds.
#[derive(Clone, Copy)]
pub(super) enum Placement<'a> {
    Ordinary,
    /// In a dataflow block, at a statement. The output names of the block, each with the statement of its last binding.
    Dataflow(&'a FxHashMap<&'a str, usize>, usize),
}

impl Placement<'_> {
    pub fn kind_of(self, name: &str) -> VarKind {
        match self {
            Placement::Ordinary => VarKind::Var,
            Placement::Dataflow(outputs, at) if outputs.get(name) == Some(&at) => VarKind::Var,
            Placement::Dataflow(..) => VarKind::DataflowVar,
        }
    }
}

/// A binding without its variable.
pub(super) struct PendingBinding<'a> {
    pub name: Cow<'a, str>,
    pub annotation: Option<StructInfo>,
    pub value: Expr,
    pub span: Span,
}

impl ModuleReader<'_> {
    /// The statements of a function, up to and including `return`.
    pub(super) fn body(&mut self, statements: &[py::Stmt], span: Span) -> ReadResult<SeqExpr> {
        self.scope.reserve(statements.len());
        let mut blocks = Blocks::default();
        blocks.open.reserve(statements.len());
        let mut result = None;
        for statement in statements {
            match (statement, &result) {
                (_, Some(_)) => {
                    let fault = ReadFault::new(statement, "nothing may follow `return`");
                    self.fault(fault.under(rule!("R89.SYN.RETURN")));
                    break;
                }
                (py::Stmt::Return(r), None) => result = Some(self.returned(r)),
                (statement, None) => self.statement(statement, &mut blocks, Placement::Ordinary),
            }
        }
        match result {
            Some(body) => Ok(SeqExpr { blocks: blocks.finish(), body, span }),
            None => Err(ReadFault::at(span, "the function has no `return`")),
        }
    }

    /// R89.SYN.RETURN: the body of the sequence. Without an expression it is the empty tuple.
    fn returned(&mut self, statement: &py::StmtReturn) -> Expr {
        self.by(rule!("R89.SYN.RETURN"), span_of(statement));
        let nothing = super::expr::tuple_of(Vec::new(), span_of(statement));
        match statement.value.as_ref().map(|value| self.expr(value)) {
            Some(Ok(value)) => value,
            Some(Err(fault)) => {
                self.fault(fault);
                nothing
            }
            None => nothing,
        }
    }

    /// Reads one statement. An error is recorded, and reading continues after the statement.
    pub(super) fn statement(&mut self, statement: &py::Stmt, blocks: &mut Blocks, place: Placement<'_>) {
        if let Err(fault) = with_stack(|| self.try_statement(statement, blocks, place)) {
            self.fault(fault);
        }
    }

    pub(super) fn try_statement(
        &mut self,
        statement: &py::Stmt,
        blocks: &mut Blocks,
        place: Placement<'_>,
    ) -> ReadResult<()> {
        let span = span_of(statement);
        match statement {
            py::Stmt::Assign(assign) => match assign.targets.as_slice() {
                [target] => self.assign(target, None, &assign.value, span, blocks, place),
                _ => Err(ReadFault::new(statement, "assign to one variable at a time")),
            },
            py::Stmt::AnnAssign(assign) => match &assign.value {
                Some(value) => self.assign(&assign.target, Some(&assign.annotation), value, span, blocks, place),
                None => self.free_variable(assign),
            },
            py::Stmt::Expr(e) => self.expr_statement(&e.value, span, blocks, place),
            py::Stmt::FunctionDef(def) => {
                let binding = self.local_function(def, place)?;
                blocks.push(binding);
                Ok(())
            }
            py::Stmt::With(with) => self.with(with, blocks, place),
            py::Stmt::If(conditional) => {
                let pending = self.conditional(conditional)?;
                self.bind(pending, blocks, place);
                Ok(())
            }
            py::Stmt::Pass(_) => Ok(()),
            py::Stmt::Return(_) => Err(ReadFault::new(statement, "`return` stands only at the end of a function")),
            _ => Err(ReadFault::expected(self.text, statement, "a binding, `with R.dataflow()`, `if` or `return`")),
        }
    }

    /// `x: R.Tensor`: a variable without a binding. TVM prints the free variables of a function this way.
    fn free_variable(&mut self, assign: &py::StmtAnnAssign) -> ReadResult<()> {
        let py::Expr::Name(name) = &*assign.target else {
            return Err(ReadFault::expected(self.text, &*assign.target, "the name of a variable"));
        };
        let info = self.struct_info(&assign.annotation, Unbound::Leave)?;
        let var = self.scope.fresh(name.id.as_str(), VarKind::Var, span_of(name));
        self.bring(&var, VarKind::Var, is_shape(&info));
        Ok(())
    }

    /// `name = value`, `name: annotation = value`.
    fn assign(
        &mut self,
        target: &py::Expr,
        annotation: Option<&py::Expr>,
        value: &py::Expr,
        span: Span,
        blocks: &mut Blocks,
        place: Placement<'_>,
    ) -> ReadResult<()> {
        if let (Some(targets), None) = (members(target), annotation) {
            return self.parallel(targets, value, span, blocks, place);
        }
        let py::Expr::Name(name) = target else {
            return Err(
                ReadFault::expected(self.text, target, "the name of a variable").under(rule!("GRAM.BIND.VARBINDING"))
            );
        };
        let name = name.id.as_str();
        if self.names_module(value) {
            self.aliases.insert(name.to_string());
            return Ok(());
        }
        if self.declares_dim(value)? {
            self.scope.declare_dim(name, span_of(target));
            return Ok(());
        }
        self.by(rule!("R89.SYN.ASSIGN"), span);
        let scalar = annotation.and_then(scalars::scalar_type);
        // The variables that a match binds may occur in the annotation of its variable.
        let cast = self.match_cast(value)?;
        let annotation = annotation.map(|annotation| self.struct_info(annotation, Unbound::Leave)).transpose()?;
        let target_span = span_of(target);
        if let Some((value, struct_info)) = cast {
            let var = (name != "_" || annotation.is_some()).then(|| {
                let kind = place.kind_of(name);
                let var = self.scope.fresh(name, kind, target_span);
                self.bring(&var, kind, is_shape(&struct_info));
                self.note_tuple(&var, is_tuple(&struct_info));
                self.note_info(&var, Some(&struct_info));
                Binder { var, kind, annotation }
            });
            blocks.push(Binding::MatchCast(Box::new(MatchCast { var, struct_info, value, span })));
            return Ok(());
        }
        let value = self.assigned(value, annotation.as_ref())?;
        let value = self.trusting(value, annotation.as_ref());
        if let Some(dtype) = scalar {
            let var = self.scope.fresh(name, place.kind_of(name), target_span);
            let binding = self.bind_scalar(var, dtype, place.kind_of(name), value, span)?;
            blocks.push(binding);
            return Ok(());
        }
        self.bind_at(PendingBinding { name: name.into(), annotation, value, span }, target_span, blocks, place);
        Ok(())
    }

    /// `n, m = T.int64(), T.int64()`.
    fn parallel(
        &mut self,
        targets: &[py::Expr],
        value: &py::Expr,
        span: Span,
        blocks: &mut Blocks,
        place: Placement<'_>,
    ) -> ReadResult<()> {
        match members(value) {
            Some(values) if values.len() == targets.len() => {
                for (target, value) in targets.iter().zip(values) {
                    self.assign(target, None, value, span, blocks, place)?;
                }
                Ok(())
            }
            Some(_) | None => Err(ReadFault::expected(self.text, value, "as many values as there are variables")),
        }
    }

    /// `cls = Module`.
    fn names_module(&self, value: &py::Expr) -> bool {
        match value {
            py::Expr::Name(name) => {
                self.aliases.contains(name.id.as_str()) && self.scope.var(name.id.as_str()).is_none()
            }
            _ => false,
        }
    }

    /// The value of an assignment. A bare number is a tensor, unless the annotation says that it is a scalar. A tuple
    /// with a shape annotation is a shape.
    pub(super) fn assigned(&mut self, value: &py::Expr, annotation: Option<&StructInfo>) -> ReadResult<Expr> {
        let is_literal =
            matches!(value, py::Expr::NumberLiteral(_) | py::Expr::BooleanLiteral(_) | py::Expr::UnaryOp(_));
        match annotation {
            Some(StructInfo::Prim(info)) => match self.expr(value)? {
                // A bare number has the datatype of the annotation.
                Expr::PrimValue(p) if is_literal && matches!(p.value, PrimExpr::IntImm(_)) => {
                    Ok(Expr::PrimValue(PrimValue { dtype: info.dtype, ..p }))
                }
                other => Ok(other),
            },
            Some(StructInfo::Shape(_)) => self.shape_arg(value),
            Some(StructInfo::Object | StructInfo::Tensor(_) | StructInfo::Tuple(_) | StructInfo::Func(_)) | None => {
                if is_literal && let Some(literal) = self.scalar(value, span_of(value))? {
                    return Ok(literal);
                }
                self.expr(value)
            }
        }
    }

    /// R89.SYN.ANNOT-CAST (C17): in the spelling of the RFC the annotation becomes the type argument of an opaque call
    /// without one.
    fn trusting(&mut self, value: Expr, annotation: Option<&StructInfo>) -> Expr {
        let (Expr::Call(call), Some(info)) = (&value, annotation) else { return value };
        let is_opaque = matches!(call.op, Expr::ExternFunc(_)) && call.sinfo_args.is_empty();
        if !is_opaque || !self.trusts_annotations() {
            return value;
        }
        self.by(rule!("R89.SYN.ANNOT-CAST"), call.span);
        Expr::Call(Call { sinfo_args: vec![info.clone()], ..(**call).clone() }.into())
    }

    fn bind(&mut self, pending: PendingBinding<'_>, blocks: &mut Blocks, place: Placement<'_>) {
        let span = pending.span;
        self.bind_at(pending, span, blocks, place);
    }

    fn bind_at(&mut self, pending: PendingBinding<'_>, target: Span, blocks: &mut Blocks, place: Placement<'_>) {
        let kind = place.kind_of(&pending.name);
        let var = self.scope.fresh(&pending.name, kind, target);
        let is_shape = pending.annotation.as_ref().is_some_and(is_shape) || self.is_shape_value(&pending.value);
        self.bring(&var, kind, is_shape);
        let holds_tuple = pending.annotation.as_ref().map_or_else(|| self.is_tuple_value(&pending.value), is_tuple);
        self.note_tuple(&var, holds_tuple);
        self.note_info(&var, pending.annotation.as_ref());
        if let Some(literal) = literal_of(&pending.value) {
            self.literals.insert(var.clone(), literal);
        }
        let var = Binder { var, kind, annotation: pending.annotation };
        blocks.push(Binding::VarBinding(VarBinding { var, value: pending.value, span: pending.span }));
    }

    /// Brings a variable into scope, and records whether it is known to be a shape.
    pub(super) fn bring(&mut self, var: &Var, kind: VarKind, is_shape: bool) {
        self.scope.bring(var, kind);
        if is_shape {
            self.shapes.insert(var.clone());
        }
    }

    /// Records whether a variable is known to be a tuple.
    pub(super) fn note_tuple(&mut self, var: &Var, holds_tuple: bool) {
        if holds_tuple {
            self.tuples.insert(var.clone());
        }
    }

    /// Records the annotation of a variable.
    pub(super) fn note_info(&mut self, var: &Var, annotation: Option<&StructInfo>) {
        if let Some(info) = annotation.filter(|_| self.refers_to_infos()) {
            self.infos.insert(var.clone(), info.clone());
        }
    }

    /// The datatype that the text states for a tensor; Void if there is none.
    fn dtype_of(&self, e: &Expr) -> DataType {
        match e {
            Expr::Var(v) | Expr::DataflowVar(v) => match self.infos.get(v) {
                Some(StructInfo::Tensor(tensor)) => tensor.dtype,
                Some(_) | None => DataType::VOID,
            },
            _ => DataType::VOID,
        }
    }

    /// Whether an expression is a tuple according to the text.
    fn is_tuple_value(&self, e: &Expr) -> bool {
        match e {
            Expr::Tuple(_) => true,
            Expr::Var(v) | Expr::DataflowVar(v) => self.tuples.contains(v),
            Expr::Call(call) => match call.sinfo_args.as_slice() {
                [] => match &call.op {
                    Expr::Op(op) => TUPLES.contains(&&*op.op_name),
                    Expr::GlobalVar(gv) => self.give_tuples.contains(&gv.name),
                    _ => false,
                },
                [one] => is_tuple(one),
                [_, _, ..] => true,
            },
            _ => false,
        }
    }

    /// `R.match_cast(value, struct_info)` or `R.match_shape(value, pattern)`.
    fn match_cast(&mut self, e: &py::Expr) -> ReadResult<Option<(Expr, StructInfo)>> {
        let py::Expr::Call(call) = e else { return Ok(None) };
        let is_match_shape = match self.operator_name(&call.func).as_deref() {
            Some("match_cast") => false,
            Some("match_shape") => true,
            Some(_) | None => return Ok(None),
        };
        let mut args = ArgumentCursor::of(call);
        let value = args.take(&["value"]).ok_or_else(|| incomplete(e, "a value to match"))?;
        let value = self.expr(value)?;
        let pattern = args.take(&["struct_info", "ty", "pattern"]);
        let pattern = pattern.ok_or_else(|| incomplete(e, "what to match the value against"))?;
        let struct_info = match is_match_shape {
            false => self.struct_info(pattern, Unbound::Match)?,
            true => {
                self.by(rule!("R89.MATCHSHAPE.SYN"), span_of(e));
                let dims = self.dims(pattern, Unbound::Match)?;
                if self.is_shape_value(&value) {
                    StructInfo::shape(dims)
                } else {
                    StructInfo::tensor(dims, self.dtype_of(&value))
                }
            }
        };
        args.finish()?;
        Ok(Some((value, struct_info)))
    }

    /// Whether an expression is a shape according to the text.
    fn is_shape_value(&self, e: &Expr) -> bool {
        match e {
            Expr::ShapeExpr(_) => true,
            Expr::Var(v) | Expr::DataflowVar(v) => self.shapes.contains(v),
            Expr::Call(call) => match &call.op {
                Expr::Op(op) => matches!(&*op.op_name, "relax.shape_of" | "relax.tensor_to_shape"),
                _ => matches!(call.sinfo_args.as_slice(), [one] if is_shape(one)),
            },
            _ => false,
        }
    }

    /// A call for its effect, or a directive to the function.
    fn expr_statement(
        &mut self,
        e: &py::Expr,
        span: Span,
        blocks: &mut Blocks,
        place: Placement<'_>,
    ) -> ReadResult<()> {
        if let py::Expr::StringLiteral(_) | py::Expr::EllipsisLiteral(_) = e {
            return Ok(());
        }
        if let py::Expr::Call(call) = e {
            let args = &*call.arguments.args;
            match (relax_name(&call.func).as_deref(), args) {
                (Some("func_attr"), [attrs]) => {
                    let attrs = self.attrs(attrs)?;
                    self.function_attrs.extend(attrs.into_iter().map(as_truth));
                    return Ok(());
                }
                (Some("func_ret_struct_info" | "func_ret_ty" | "func_ret_type"), [ret]) => {
                    self.function_ret = Some(self.struct_info(ret, Unbound::Leave)?);
                    return Ok(());
                }
                (Some("output" | "outputs"), _) => {
                    let fault = ReadFault::new(e, "R.output stands at the end of a dataflow block");
                    return Err(fault.under(rule!("R89.SYN.OUTPUTS")));
                }
                _ => {}
            }
        }
        if let Some((value, struct_info)) = self.match_cast(e)? {
            blocks.push(Binding::MatchCast(Box::new(MatchCast { var: None, struct_info, value, span })));
            return Ok(());
        }
        self.by(rule!("R89.SYN.EXPRSTMT"), span);
        let value = self.expr(e)?;
        // No name refers to the variable, not even `_`, which may be that of another one.
        let kind = place.kind_of("_");
        let var = Binder { var: self.scope.fresh("_", kind, span), kind, annotation: None };
        blocks.push(Binding::VarBinding(VarBinding { var, value, span }));
        Ok(())
    }

    fn with(&mut self, with: &py::StmtWith, blocks: &mut Blocks, place: Placement<'_>) -> ReadResult<()> {
        let item = match with.items.as_slice() {
            [item] if item.optional_vars.is_none() => item,
            _ => return Err(ReadFault::new(with, "expected `with R.dataflow():`")),
        };
        let name = match &item.context_expr {
            py::Expr::Call(call) => relax_name(&call.func),
            _ => None,
        };
        match (name.as_deref(), place) {
            (Some("dataflow"), Placement::Ordinary) => self.dataflow(with, blocks),
            (Some("dataflow"), Placement::Dataflow(..)) => {
                Err(ReadFault::new(with, "dataflow blocks do not nest").under(rule!("R89.SYN.DATAFLOW")))
            }
            (Some("SeqExpr"), _) => {
                let branch = self.branch(&with.body, span_of(with))?;
                let (name, annotation) = (branch.name.clone(), branch.annotation.clone());
                let value = branch.into_seq();
                self.bind(PendingBinding { name, annotation, value, span: span_of(with) }, blocks, place);
                Ok(())
            }
            _ => Err(ReadFault::expected(self.text, &item.context_expr, "R.dataflow()")),
        }
    }

    /// `with R.dataflow():` with its output names at the end.
    fn dataflow(&mut self, with: &py::StmtWith, blocks: &mut Blocks) -> ReadResult<()> {
        self.by(rule!("R89.SYN.DATAFLOW"), span_of(with));
        if blocks.is_between() {
            self.by(rule!("R89.EX.TWO-DF"), span_of(with));
        }
        blocks.close_ordinary();
        let (statements, names) = match with.body.as_slice() {
            [statements @ .., last] => match self.outputs_of(last)? {
                Some(names) => {
                    self.by(rule!("R89.SYN.OUTPUTS"), span_of(last));
                    (statements, names)
                }
                None => (with.body.as_slice(), Vec::new()),
            },
            [] => (&[][..], Vec::new()),
        };
        let mut outputs = FxHashMap::default();
        for (at, statement) in statements.iter().enumerate() {
            for_each_bound(statement, &mut |name| {
                if names.iter().any(|output| output.id.as_str() == name) {
                    outputs.insert(name, at);
                }
            });
        }
        self.scope.enter_dataflow();
        self.scope.reserve(statements.len());
        blocks.open.reserve(statements.len());
        for (at, statement) in statements.iter().enumerate() {
            self.statement(statement, blocks, Placement::Dataflow(&outputs, at));
        }
        let exported: Vec<_> = names.iter().map(|name| (*name, self.scope.var(name.id.as_str()))).collect();
        self.scope.leave();
        blocks.close(BlockKind::Dataflow, Some(span_of(with)));
        for (name, var) in exported {
            match var {
                Some((var, kind)) if outputs.contains_key(name.id.as_str()) => self.scope.bring(&var, kind),
                Some(_) | None => {
                    self.fault(ReadFault::new(name, format!("`{}` is not bound in this dataflow block", name.id)));
                }
            }
        }
        Ok(())
    }

    /// The arguments of `R.output(..)`.
    fn outputs_of<'a>(&self, statement: &'a py::Stmt) -> ReadResult<Option<Vec<&'a py::ExprName>>> {
        let call = match statement {
            py::Stmt::Expr(e) => match &*e.value {
                py::Expr::Call(call) => call,
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        match relax_name(&call.func).as_deref() {
            Some("output" | "outputs") => {}
            Some(_) | None => return Ok(None),
        }
        let args = match &*call.arguments.args {
            [one] => members(one).unwrap_or(&call.arguments.args),
            args => args,
        };
        let name = |e: &'a py::Expr| match e {
            py::Expr::Name(name) => Ok(name),
            other => Err(ReadFault::expected(self.text, other, "the name of a variable")),
        };
        args.iter().map(name).collect::<ReadResult<Vec<_>>>().map(Some)
    }

    /// Whether an assigned expression is not a value, but a match, a declaration or a directive.
    pub(super) fn is_special(&self, e: &py::Expr) -> ReadResult<bool> {
        let is_directive = match e {
            py::Expr::Call(call) => matches!(
                relax_name(&call.func).as_deref(),
                Some("match_cast" | "match_shape" | "func_attr" | "output" | "outputs")
            ),
            _ => false,
        };
        Ok(is_directive || self.names_module(e) || self.declares_dim(e)?)
    }
}

/// The value of a literal scalar as an attribute.
fn literal_of(e: &Expr) -> Option<AttrValue> {
    match e {
        Expr::PrimValue(PrimValue { float: Some(bits), .. }) => Some(AttrValue::Float(*bits)),
        Expr::PrimValue(PrimValue { value: PrimExpr::IntImm(b), dtype: DataType::BOOL, .. }) => {
            Some(AttrValue::Bool(*b != 0))
        }
        Expr::PrimValue(PrimValue { value: PrimExpr::IntImm(i), .. }) => Some(AttrValue::Int(*i)),
        Expr::StringImm(text) => Some(AttrValue::Str(text.value.clone())),
        Expr::DataTypeImm(dtype) => Some(AttrValue::DataType(dtype.value)),
        _ => None,
    }
}

fn incomplete(e: &py::Expr, what: &str) -> ReadFault {
    ReadFault::new(e, format!("expected {what}")).under(rule!("GRAM.BIND.MATCHCAST"))
}

/// Operators whose results are always tuples.
const TUPLES: [&str; 5] =
    ["relax.split", "relax.meshgrid", "relax.nn.batch_norm", "relax.nn.dropout", "relax.vision.get_valid_counts"];

/// The attribute, in the spelling of the text and of TVM.
const FORCE_PURE: [&str; 2] = ["force_pure", "relax.force_pure"];

pub(super) fn is_tuple(info: &StructInfo) -> bool {
    matches!(info, StructInfo::Tuple(_))
}

fn is_shape(info: &StructInfo) -> bool {
    matches!(info, StructInfo::Shape(_))
}

/// Visits the names that a statement binds in its block.
fn for_each_bound<'s>(statement: &'s py::Stmt, visit: &mut dyn FnMut(&'s str)) {
    match statement {
        py::Stmt::Assign(assign) => assign.targets.iter().for_each(|target| for_each_name(target, visit)),
        py::Stmt::AnnAssign(assign) => for_each_name(&assign.target, visit),
        py::Stmt::FunctionDef(def) => visit(def.name.as_str()),
        // Other bindings of the branches are local to them.
        py::Stmt::If(conditional) => conditional.body.last().into_iter().for_each(|last| for_each_bound(last, visit)),
        py::Stmt::With(with) => with.body.last().into_iter().for_each(|last| for_each_bound(last, visit)),
        _ => {}
    }
}

/// Python allows a number for a truth value: `"relax.force_pure": 1`.
fn as_truth((name, value): (Name, AttrValue)) -> (Name, AttrValue) {
    let value = match value {
        AttrValue::Int(number @ (0 | 1)) if FORCE_PURE.contains(&&*name) => AttrValue::Bool(number == 1),
        other => other,
    };
    (name, value)
}

/// Visits the names in the target of an assignment.
fn for_each_name<'s>(target: &'s py::Expr, visit: &mut dyn FnMut(&'s str)) {
    match (target, members(target)) {
        (py::Expr::Name(name), _) => visit(name.id.as_str()),
        (_, Some(members)) => members.iter().for_each(|member| for_each_name(member, visit)),
        (_, None) => {}
    }
}
