//! A builder of programs (chapter The 2022 Abstract Syntax, `AST22.BUILDER`): what is emitted is brought to normal form
//! and its structural information derived at once.
//!
//! ```
//! use relax_spec::builder::BlockBuilder;
//! use relax_spec::grammar::{Binder, DataType, Expr, IrModule, StructInfo, Var};
//!
//! let x = Binder::var(Var::new("x")).annotated(StructInfo::tensor([2.into(), 3.into()], DataType::FLOAT32));
//! let mut builder = BlockBuilder::new(IrModule::default());
//! builder.begin_function("main", vec![x], None)?;
//! builder.begin_dataflow_block()?;
//! let sum = Expr::call(Expr::op("relax.add"), vec![Expr::var("x"), Expr::var("x")]);
//! let t = builder.emit(&sum)?;
//! let u = builder.emit_output(&Expr::call(Expr::op("relax.exp"), vec![t]))?;
//! builder.end_block()?;
//! assert_eq!(builder.derive(&u)?, StructInfo::tensor([2.into(), 3.into()], DataType::FLOAT32));
//! builder.finish_function(&u)?;
//! let module = builder.finish()?;
//! assert!(relax_spec::check::check_program(&mut relax_spec::judge::Cx::new(), &module).accepts());
//! # Ok::<(), relax_spec::builder::BuildError>(())
//! ```

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::derivation::derive_module;
use crate::derivation::single::{Around, derive_annotated, derive_binding, derive_expr, derive_function};
use crate::findings::Diagnostic;
use crate::grammar::visit::Visitor;
use crate::grammar::{
    AttrValue, Attrs, Binder, Binding, BindingBlock, BlockKind, Expr, Function, GlobalFunc, GlobalVar, IrModule,
    MatchCast, Name, SeqExpr, ShapeVar, Span, StructInfo, Var, VarBinding, VarKind,
};
use crate::judge::Cx;
use crate::normal_form::{Fresh, Piece, normalize_piece};
use crate::scope::{Context, Mark};
use crate::struct_info::{Surroundings, closed, introduced_shape_vars, shown};

/// Why the builder refuses. What was built before stays as it was, except that hoisted bindings may remain.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum BuildError {
    /// The call needs a function that is being built.
    #[error("no function has been begun")]
    NoFunction,
    /// The call needs a block that is being built.
    #[error("no block has been begun")]
    NoBlock,
    /// A module is asked for, or another function begun, before the end of this one.
    #[error("a function has been begun and not finished")]
    OpenFunction,
    /// A function is finished, or another block begun, before the end of this one.
    #[error("a block has been begun and not ended")]
    OpenBlock,
    /// An output is declared outside of a DataflowBlock.
    #[error("no DataflowBlock has been begun")]
    NotDataflow,
    /// A second global function of this name.
    #[error("the module has a function `{0}` already")]
    Defined(Name),
    /// A second binding of this variable.
    #[error("`{0}` is bound already")]
    Bound(Var),
    /// At least one error of normalization or derivation.
    #[error("{}", .0.iter().map(|finding| finding.message.as_str()).collect::<Vec<_>>().join("; "))]
    Rejected(Vec<Diagnostic>),
}

/// Builds the functions of a module binding by binding. Linear in what is emitted.
pub struct BlockBuilder {
    cx: Cx,
    module: IrModule,
    fresh: Fresh,
    globals: FxHashMap<Name, StructInfo>,
    function: Option<Header>,
    sequences: Vec<Sequence>,
    scope: Visible,
    values: FxHashMap<Var, Expr>,
    warnings: Vec<Diagnostic>,
}

/// A function that has been begun.
struct Header {
    name: Name,
    params: Vec<Binder>,
    ret_struct_info: Option<StructInfo>,
    /// The variables that it binds.
    bound: FxHashSet<Var>,
}

/// A sequence that has been begun.
struct Sequence {
    blocks: Vec<BindingBlock>,
    /// The open block, and where its scope starts.
    open: Option<(BlockKind, Mark)>,
    start: (Mark, Mark),
}

/// The variables in scope at the point reached.
#[derive(Default)]
struct Visible {
    delta: Context<Var, (VarKind, StructInfo)>,
    sigma: Context<ShapeVar, ()>,
}

impl Visible {
    fn enter_shape_vars(&mut self, info: &StructInfo) {
        for var in introduced_shape_vars(info) {
            if !self.sigma.contains(&var) {
                self.sigma.enter(var, ());
            }
        }
    }
}

impl Surroundings for Visible {
    fn has_var(&self, var: &Var) -> bool {
        self.delta.contains(var)
    }

    fn has_shape_var(&self, var: &ShapeVar) -> bool {
        self.sigma.contains(var)
    }

    fn struct_info_of(&self, var: &Var) -> Option<StructInfo> {
        self.delta.get(var).map(|(_, info)| info.clone())
    }
}

impl BlockBuilder {
    /// A builder that adds functions to a module in normal form, which may be empty.
    pub fn new(module: IrModule) -> BlockBuilder {
        let mut cx = Cx::new();
        let mut globals: FxHashMap<Name, StructInfo> = derive_module(&mut cx, &module).functions.into_iter().collect();
        for (gv, func) in &module.funcs {
            match func {
                GlobalFunc::ExternFunc(_) => {
                    globals.insert(gv.name.clone(), StructInfo::packed(crate::grammar::DeriveFunc::DefaultDerive))
                }
                GlobalFunc::PrimFunc(_) => globals.insert(gv.name.clone(), StructInfo::Object),
                GlobalFunc::Function(_) => None,
            };
        }
        BlockBuilder {
            cx,
            fresh: Fresh::for_module(&module),
            module,
            globals,
            function: None,
            sequences: Vec::new(),
            scope: Visible::default(),
            values: FxHashMap::default(),
            warnings: Vec::new(),
        }
    }

    /// Begins a function. By its name it may call itself, with the information of the annotations.
    ///
    /// # Errors
    ///
    /// Another function is open, or the module has one of this name, or a parameter occurs twice.
    pub fn begin_function(
        &mut self,
        name: &str,
        params: Vec<Binder>,
        ret_struct_info: Option<StructInfo>,
    ) -> Result<(), BuildError> {
        if self.function.is_some() {
            return Err(BuildError::OpenFunction);
        }
        let name: Name = name.into();
        if self.module.get(&name).is_some() {
            return Err(BuildError::Defined(name));
        }
        let header = Header { name, params, ret_struct_info, bound: FxHashSet::default() };
        let provisional = derive_annotated(&mut self.cx, &self.module, &header.function(Expr::tuple(Vec::new())));
        self.globals.insert(header.name.clone(), provisional);
        self.open(header)
    }

    /// Begins to build the body of a function that the module has already; it ends with the sequence inside.
    pub(super) fn begin_body(&mut self, function: &Function) -> Result<(), BuildError> {
        let (params, ret_struct_info) = (function.params.clone(), function.ret_struct_info.clone());
        self.open(Header { name: "".into(), params, ret_struct_info, bound: FxHashSet::default() })
    }

    /// Leaves the function of [`BlockBuilder::begin_body`].
    pub(super) fn end_body(&mut self) {
        if let Some(Sequence { start, .. }) = self.sequences.pop() {
            self.scope.delta.leave(start.0);
            self.scope.sigma.leave(start.1);
        }
        self.function = None;
        self.values.clear();
    }

    /// Begins the body of a function literal inside the open function: its parameters come into scope, and the variable
    /// that it is bound to, by which it may call itself. Gives what [`BlockBuilder::end_literal`] takes.
    pub(super) fn begin_literal(
        &mut self,
        function: &Function,
        bound_to: Option<&Binder>,
    ) -> Result<(Mark, Mark), BuildError> {
        let start = (self.scope.delta.mark(), self.scope.sigma.mark());
        if let Some(binder) = bound_to {
            let provisional = derive_annotated(&mut self.cx, &self.module, function);
            let info = closed(&self.cx, binder.annotation.as_ref().unwrap_or(&provisional), &self.scope);
            self.scope.delta.enter(binder.var.clone(), (binder.kind, info));
        }
        for param in &function.params {
            let header = self.function.as_mut().ok_or(BuildError::NoFunction)?;
            if !header.bound.insert(param.var.clone()) {
                return Err(BuildError::Bound(param.var.clone()));
            }
            self.enter_param(param);
        }
        Ok(start)
    }

    pub(super) fn end_literal(&mut self, start: (Mark, Mark)) {
        self.scope.delta.leave(start.0);
        self.scope.sigma.leave(start.1);
    }

    fn enter_param(&mut self, param: &Binder) {
        self.fresh.visit_var_def(param);
        let info = param.annotation.clone().unwrap_or(StructInfo::Object);
        let known = closed(&self.cx, &info, &self.scope);
        self.scope.enter_shape_vars(&info);
        self.scope.delta.enter(param.var.clone(), (param.kind, known));
    }

    fn open(&mut self, mut header: Header) -> Result<(), BuildError> {
        if let Some(twice) = header.params.iter().find(|param| !header.bound.insert(param.var.clone())) {
            return Err(BuildError::Bound(twice.var.clone()));
        }
        let start = (self.scope.delta.mark(), self.scope.sigma.mark());
        header.params.iter().for_each(|param| self.enter_param(param));
        self.function = Some(header);
        self.sequences.push(Sequence { blocks: Vec::new(), open: None, start });
        Ok(())
    }

    /// Begins a sequence inside the open one, for a branch of an `If`.
    ///
    /// # Errors
    ///
    /// No function is open.
    pub fn begin_sequence(&mut self) -> Result<(), BuildError> {
        if self.function.is_none() {
            return Err(BuildError::NoFunction);
        }
        let start = (self.scope.delta.mark(), self.scope.sigma.mark());
        self.sequences.push(Sequence { blocks: Vec::new(), open: None, start });
        Ok(())
    }

    /// Ends the sequence that was begun last; its body is bound first unless it is a leaf.
    ///
    /// # Errors
    ///
    /// There is none (that of a function is ended by [`BlockBuilder::finish_function`]), or it has an open block, or the
    /// body is rejected.
    pub fn end_sequence(&mut self, body: &Expr) -> Result<Expr, BuildError> {
        if self.sequences.len() < 2 { Err(BuildError::NoFunction) } else { self.close_sequence(body) }
    }

    /// Begins a BindingBlock. An error outside of a function and inside of another block.
    pub fn begin_binding_block(&mut self) -> Result<(), BuildError> {
        self.begin_block(BlockKind::Binding)
    }

    /// Begins a DataflowBlock. An error outside of a function and inside of another block.
    pub fn begin_dataflow_block(&mut self) -> Result<(), BuildError> {
        self.begin_block(BlockKind::Dataflow)
    }

    /// Begins a block of a kind. One that follows another of the same kind continues it, as in normal form.
    ///
    /// # Errors
    ///
    /// No function is open, or another block is.
    pub fn begin_block(&mut self, kind: BlockKind) -> Result<(), BuildError> {
        let mark = self.scope.delta.mark();
        let sequence = self.sequences.last_mut().ok_or(BuildError::NoFunction)?;
        if sequence.open.is_some() {
            return Err(BuildError::OpenBlock);
        }
        sequence.open = Some((kind, mark));
        Ok(())
    }

    /// Ends the open block. The `DataflowVar`s of a `DataflowBlock` are no longer known.
    ///
    /// # Errors
    ///
    /// No block is open.
    pub fn end_block(&mut self) -> Result<(), BuildError> {
        let sequence = self.sequences.last_mut().ok_or(BuildError::NoFunction)?;
        let (_, mark) = sequence.open.take().ok_or(BuildError::NoBlock)?;
        self.scope.delta.leave_some(mark, |_, (kind, _)| *kind == VarKind::DataflowVar);
        Ok(())
    }

    /// Binds an expression to a fresh variable, a `DataflowVar` in a `DataflowBlock`, and gives its use.
    ///
    /// # Errors
    ///
    /// No block is open, or normalization or derivation rejects the expression; likewise for the methods below.
    pub fn emit(&mut self, value: &Expr) -> Result<Expr, BuildError> {
        let kind = match self.open_block()? {
            BlockKind::Binding => VarKind::Var,
            BlockKind::Dataflow => VarKind::DataflowVar,
        };
        self.emit_as(kind, value)
    }

    /// Binds an expression to a fresh `Var` that is visible after the `DataflowBlock`.
    pub fn emit_output(&mut self, value: &Expr) -> Result<Expr, BuildError> {
        match self.open_block()? {
            BlockKind::Binding => Err(BuildError::NotDataflow),
            BlockKind::Dataflow => self.emit_as(VarKind::Var, value),
        }
    }

    fn emit_as(&mut self, kind: VarKind, value: &Expr) -> Result<Expr, BuildError> {
        let value = self.hoist(value)?;
        let var = Binder { var: self.fresh.var(), kind, annotation: None };
        let used = var.to_expr();
        self.append(Binding::VarBinding(VarBinding { var, value, span: Span::NONE }))?;
        Ok(used)
    }

    /// Casts an expression; gives the use of a fresh variable as in [`BlockBuilder::emit`].
    pub fn emit_match_cast(&mut self, value: &Expr, struct_info: StructInfo) -> Result<Expr, BuildError> {
        let kind = match self.open_block()? {
            BlockKind::Binding => VarKind::Var,
            BlockKind::Dataflow => VarKind::DataflowVar,
        };
        let value = self.hoist(value)?;
        let var = Binder { var: self.fresh.var(), kind, annotation: None };
        let used = var.to_expr();
        self.append(Binding::MatchCast(MatchCast { var: Some(var), struct_info, value, span: Span::NONE }))?;
        Ok(used)
    }

    /// Appends a binding whose value is in normal form already, with the variable it has.
    pub fn emit_normalized(&mut self, binding: Binding) -> Result<(), BuildError> {
        self.open_block()?;
        self.fresh.visit_binding(&binding);
        self.append(binding)
    }

    /// What an emitted variable is bound to, in the function under construction.
    pub fn lookup_binding(&self, var: &Var) -> Option<&Expr> {
        self.values.get(var)
    }

    /// What is known of a variable in scope.
    pub fn info_of(&self, var: &Var) -> Option<StructInfo> {
        self.scope.delta.get(var).map(|(_, info)| shown(info, &self.scope))
    }

    /// AST22.BUILDER.EAGER: what is known of an expression here.
    pub fn derive(&mut self, expr: &Expr) -> Result<StructInfo, BuildError> {
        let around = Around { module: &self.module, globals: &self.globals, scope: &self.scope };
        let (info, findings) = derive_expr(&mut self.cx, &around, expr);
        let info = info.map(|info| shown(&info, &self.scope));
        self.settle(info, findings)
    }

    /// Ends the function with its body, which is bound first unless it is a leaf. Its `global_symbol` is its name.
    ///
    /// # Errors
    ///
    /// No function is open, or a sequence or block in it is, or derivation rejects the function.
    pub fn finish_function(&mut self, body: &Expr) -> Result<GlobalVar, BuildError> {
        match self.sequences.len() {
            0 => return Err(BuildError::NoFunction),
            1 => {}
            _ => return Err(BuildError::OpenBlock),
        }
        let body = self.close_sequence(body)?;
        let header = self.function.take().ok_or(BuildError::NoFunction)?;
        self.values.clear();
        let mut function = header.function(body);
        function.attrs.insert("global_symbol".into(), AttrValue::Str(header.name.clone()));
        let around = Around { module: &self.module, globals: &self.globals, scope: &self.scope };
        let (info, findings) = derive_function(&mut self.cx, &around, &function);
        let info = self.settle(info, findings).inspect_err(|_| {
            self.globals.remove(&header.name);
        })?;
        self.globals.insert(header.name.clone(), info);
        let gv = GlobalVar { name: header.name, span: Span::NONE };
        self.module.funcs.push((gv.clone(), GlobalFunc::Function(Arc::new(function))));
        Ok(gv)
    }

    /// The module.
    ///
    /// # Errors
    ///
    /// A function is open.
    pub fn finish(self) -> Result<IrModule, BuildError> {
        if self.function.is_some() { Err(BuildError::OpenFunction) } else { Ok(self.module) }
    }

    /// The warnings so far.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    fn open_block(&self) -> Result<BlockKind, BuildError> {
        let sequence = self.sequences.last().ok_or(BuildError::NoFunction)?;
        sequence.open.map(|(kind, _)| kind).ok_or(BuildError::NoBlock)
    }

    fn close_sequence(&mut self, body: &Expr) -> Result<Expr, BuildError> {
        if self.sequences.last().is_none_or(|sequence| sequence.open.is_some()) {
            return Err(BuildError::OpenBlock);
        }
        let piece = normalize_piece(&mut self.cx, &mut self.fresh, &self.scope, None, body);
        let body = self.place(piece)?;
        let Some(Sequence { blocks, start, .. }) = self.sequences.pop() else { return Err(BuildError::NoFunction) };
        self.scope.delta.leave(start.0);
        self.scope.sigma.leave(start.1);
        Ok(Expr::SeqExpr(Arc::new(SeqExpr { blocks, body, span: Span::NONE })))
    }

    /// Brings a value to normal form; what that hoists is appended.
    fn hoist(&mut self, value: &Expr) -> Result<Expr, BuildError> {
        let kind = self.open_block()?;
        let piece = normalize_piece(&mut self.cx, &mut self.fresh, &self.scope, Some(kind), value);
        self.place(piece)
    }

    fn place(&mut self, piece: Piece) -> Result<Expr, BuildError> {
        self.settle(Some(()), piece.findings)?;
        for block in piece.blocks {
            let mark = self.scope.delta.mark();
            let kind = block.kind;
            block.bindings.into_iter().try_for_each(|binding| self.append_to(kind, binding))?;
            let inner =
                self.sequences.last().is_some_and(|sequence| sequence.open.is_none_or(|(open, _)| open != kind));
            if inner {
                self.scope.delta.leave_some(mark, |_, (kind, _)| *kind == VarKind::DataflowVar);
            }
        }
        Ok(piece.value)
    }

    fn append(&mut self, binding: Binding) -> Result<(), BuildError> {
        let kind = self.open_block()?;
        self.append_to(kind, binding)
    }

    fn append_to(&mut self, kind: BlockKind, binding: Binding) -> Result<(), BuildError> {
        let header = self.function.as_mut().ok_or(BuildError::NoFunction)?;
        if let Some(twice) = binding.binder().filter(|binder| header.bound.contains(&binder.var)) {
            return Err(BuildError::Bound(twice.var.clone()));
        }
        let around = Around { module: &self.module, globals: &self.globals, scope: &self.scope };
        let (info, findings) = derive_binding(&mut self.cx, &around, &binding);
        self.settle(Some(()), findings)?;
        if let Binding::MatchCast(cast) = &binding {
            self.scope.enter_shape_vars(&cast.struct_info);
        }
        if let Some(binder) = binding.binder() {
            self.values.insert(binder.var.clone(), binding.value().clone());
            self.function.iter_mut().for_each(|header| {
                header.bound.insert(binder.var.clone());
            });
            if let Some(info) = info {
                self.scope.delta.enter(binder.var.clone(), (binder.kind, info));
            }
        }
        let sequence = self.sequences.last_mut().ok_or(BuildError::NoFunction)?;
        match sequence.blocks.last_mut() {
            Some(last) if last.kind == kind => last.bindings.push(binding),
            Some(_) | None => {
                sequence.blocks.push(BindingBlock { kind, bindings: vec![binding], span: Span::NONE });
            }
        }
        Ok(())
    }

    /// Keeps the warnings and fails on errors.
    fn settle<T>(&mut self, value: Option<T>, findings: Vec<Diagnostic>) -> Result<T, BuildError> {
        let (errors, warnings): (Vec<_>, Vec<_>) = findings.into_iter().partition(Diagnostic::is_fatal);
        self.warnings.extend(warnings);
        match value {
            Some(value) if errors.is_empty() => Ok(value),
            Some(_) | None => Err(BuildError::Rejected(errors)),
        }
    }
}

impl Header {
    fn function(&self, body: Expr) -> Function {
        Function {
            params: self.params.clone(),
            body,
            ret_struct_info: self.ret_struct_info.clone(),
            pure: None,
            attrs: Attrs::new(),
            span: Span::NONE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::check_program;
    use crate::grammar::{DataType, PrimExpr};

    fn matrix() -> StructInfo {
        StructInfo::tensor([2.into(), 3.into()], DataType::FLOAT32)
    }

    fn begun() -> BlockBuilder {
        let mut builder = BlockBuilder::new(IrModule::default());
        let x = Binder::var(Var::new("x")).annotated(matrix());
        builder.begin_function("main", vec![x], None).unwrap();
        builder
    }

    fn unary(op: &str, arg: Expr) -> Expr {
        Expr::call(Expr::op(op), vec![arg])
    }

    fn main_of(module: &IrModule) -> &SeqExpr {
        let Some(GlobalFunc::Function(function)) = module.get("main") else { panic!("no main") };
        let Expr::SeqExpr(seq) = &function.body else { panic!("{:?}", function.body) };
        seq
    }

    #[test]
    fn operands_are_hoisted_in_front() {
        let mut builder = begun();
        builder.begin_dataflow_block().unwrap();
        let out = builder.emit_output(&unary("relax.exp", unary("relax.exp", Expr::var("x")))).unwrap();
        builder.end_block().unwrap();
        builder.finish_function(&out).unwrap();
        let module = builder.finish().unwrap();
        let seq = main_of(&module);
        let kinds: Vec<VarKind> = seq.blocks[0].bindings.iter().map(|b| b.binder().unwrap().kind).collect();
        assert_eq!(kinds, [VarKind::DataflowVar, VarKind::Var]);
        assert_eq!(seq.blocks.len(), 1);
        assert_eq!(check_program(&mut Cx::new(), &module).diagnostics, []);
        assert!(crate::normal_form::check(&mut Cx::new(), &module).is_empty());
    }

    #[test]
    fn information_is_known_at_once_and_is_that_of_the_finished_program() {
        let mut builder = begun();
        builder.begin_binding_block().unwrap();
        let n = PrimExpr::Var(ShapeVar::new("n"));
        let cast = builder
            .emit_match_cast(&Expr::var("x"), StructInfo::tensor([n.clone(), 3.into()], DataType::FLOAT32))
            .unwrap();
        let pair = builder.emit(&Expr::tuple(vec![cast.clone(), Expr::var("x")])).unwrap();
        let first = builder.emit(&Expr::tuple_get_item(pair.clone(), 0)).unwrap();
        let mut known = Vec::new();
        for used in [&cast, &pair, &first] {
            let Expr::Var(var) = used else { panic!("{used:?}") };
            let info = builder.info_of(var).unwrap();
            assert_eq!(builder.derive(used).unwrap(), info);
            known.push((var.clone(), info));
        }
        assert_eq!(known[2].1, StructInfo::tensor([n, 3.into()], DataType::FLOAT32));
        builder.end_block().unwrap();
        builder.finish_function(&first).unwrap();
        let report = derive_module(&mut Cx::new(), &builder.finish().unwrap());
        assert_eq!(report.vars[1..], known);
    }

    #[test]
    fn a_dataflow_variable_ends_with_its_block() {
        let mut builder = begun();
        builder.begin_dataflow_block().unwrap();
        let local = builder.emit(&unary("relax.exp", Expr::var("x"))).unwrap();
        builder.end_block().unwrap();
        assert!(matches!(builder.derive(&local), Err(BuildError::Rejected(_))));
    }

    #[test]
    fn a_binding_is_found_again() {
        let mut builder = begun();
        builder.begin_binding_block().unwrap();
        let value = unary("relax.exp", Expr::var("x"));
        let Expr::Var(var) = builder.emit(&value).unwrap() else { panic!() };
        assert_eq!(builder.lookup_binding(&var), Some(&value));
        assert_eq!(builder.lookup_binding(&Var::new("x")), None);
    }

    #[test]
    fn branches_have_sequences_of_their_own() {
        let mut builder = begun();
        builder.begin_binding_block().unwrap();
        builder.begin_sequence().unwrap();
        builder.begin_binding_block().unwrap();
        let inner = builder.emit(&unary("relax.exp", Expr::var("x"))).unwrap();
        builder.end_block().unwrap();
        let branch = builder.end_sequence(&inner).unwrap();
        assert!(matches!(builder.derive(&inner), Err(BuildError::Rejected(_))));
        assert_eq!(builder.derive(&branch).unwrap(), matrix());
    }

    #[test]
    fn shape_variables_of_a_flattened_sequence_stay_apart() {
        let mut builder = BlockBuilder::new(IrModule::default());
        let unknown = || StructInfo::tensor_ndim(1, DataType::FLOAT32);
        let vector = || StructInfo::tensor([PrimExpr::Var(ShapeVar::new("m"))], DataType::FLOAT32);
        let params = ["x", "y"].map(|name| Binder::var(Var::new(name)).annotated(unknown()));
        builder.begin_function("main", params.into(), None).unwrap();
        builder.begin_binding_block().unwrap();
        // The sequence has an `m` of its own, so the cast after it binds another.
        let cast = |var: &str, value: &str| {
            let var = Some(Binder::var(Var::new(var)));
            Binding::MatchCast(MatchCast { var, struct_info: vector(), value: Expr::var(value), span: Span::NONE })
        };
        let block = BindingBlock { kind: BlockKind::Binding, bindings: vec![cast("a", "x")], span: Span::NONE };
        builder.emit(&Expr::seq(vec![block], Expr::var("a"))).unwrap();
        let second = builder.emit_match_cast(&Expr::var("y"), vector()).unwrap();
        assert_eq!(builder.derive(&second).unwrap(), vector());
        let first = builder.info_of(&Var::new("a")).unwrap();
        assert_ne!(first, vector());
        // Where `m` is in scope already, the same sequence mentions it.
        let inner = BindingBlock { kind: BlockKind::Binding, bindings: vec![cast("b", "x")], span: Span::NONE };
        builder.emit(&Expr::seq(vec![inner], Expr::var("b"))).unwrap();
        assert_eq!(builder.info_of(&Var::new("b")), Some(vector()));
    }

    #[test]
    fn misuse_is_refused() {
        let mut builder = BlockBuilder::new(IrModule::default());
        assert_eq!(builder.begin_block(BlockKind::Binding), Err(BuildError::NoFunction));
        let mut builder = begun();
        assert_eq!(builder.emit(&Expr::var("x")), Err(BuildError::NoBlock));
        assert_eq!(builder.begin_function("f", vec![], None), Err(BuildError::OpenFunction));
        builder.begin_binding_block().unwrap();
        assert_eq!(builder.emit_output(&Expr::var("x")), Err(BuildError::NotDataflow));
        assert_eq!(builder.begin_dataflow_block(), Err(BuildError::OpenBlock));
        assert!(matches!(builder.emit(&Expr::var("unknown")), Err(BuildError::Rejected(_))));
        let var = Binder::var(Var::new("x"));
        let again = Binding::VarBinding(VarBinding { var, value: Expr::var("x"), span: Span::NONE });
        assert_eq!(builder.emit_normalized(again), Err(BuildError::Bound(Var::new("x"))));
        assert_eq!(builder.finish().err(), Some(BuildError::OpenFunction));
    }

    #[test]
    fn many_bindings_take_linear_time() {
        let mut builder = begun();
        builder.begin_dataflow_block().unwrap();
        let mut last = Expr::var("x");
        for _ in 0..20_000 {
            last = builder.emit(&unary("relax.exp", last)).unwrap();
        }
        let out = builder.emit_output(&last).unwrap();
        builder.end_block().unwrap();
        builder.finish_function(&out).unwrap();
        assert_eq!(main_of(&builder.finish().unwrap()).blocks[0].bindings.len(), 20_001);
    }
}
