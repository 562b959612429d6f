//! The normalizer: functions, sequences, blocks and bindings. [`super::operand`] handles the expressions.
//!
//! It implements the procedure of the text with the repairs A20, A37 and A38, as one pass in the order of evaluation. A
//! hoisted expression is emitted before its use.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::criteria::is_normal;
use super::effect::Effects;
use super::fresh::FreshSupply;
use super::op_norm::Tuples;
use super::units::{inlined, used_units};
use super::{is_leaf, rename};
use crate::book::{Erratum, Rule};
use crate::findings::{Diagnostic, Finder, Trail, TrailStep};
use crate::grammar::{
    Attrs, Binder, Binding, BindingBlock, BlockKind, Expr, Function, GlobalFunc, IrModule, MatchCast, PrimExpr,
    SeqExpr, ShapeVar, Span, StructInfo, TensorShape, VarBinding, VarKind,
};
use crate::judge::{Cx, with_stack};
use crate::scope::Context;

/// The result of normalizing a program.
#[derive(Clone, PartialEq, Debug)]
pub struct Normalized {
    /// The same program in normal form.
    pub module: IrModule,
    /// The findings about malformed places, which are not changed.
    pub findings: Vec<Diagnostic>,
}

/// NF.ALG: returns an equivalent program in normal form.
///
/// Malformed places are not changed; [`normalize_reporting`] reports them.
pub fn normalize(cx: &mut Cx, module: &IrModule) -> IrModule {
    normalize_reporting(cx, module).module
}

/// NF.ALG: returns an equivalent program in normal form, with findings about malformed places (NF.ALG.5.DF-MALFORMED).
///
/// A function in normal form is not changed (NF.IDEMPOTENT). Fresh variables are numbered in the order of the
/// functions' names, so that the result does not depend on the order of the module.
pub fn normalize_reporting(cx: &mut Cx, module: &IrModule) -> Normalized {
    normalized(cx, module, &Effects::of_reading)
}

/// As [`normalize_reporting`], but it also preserves the order of failures without effects (NF.METHOD-FREE): of two
/// failing expressions the same one fails first. To this end a leaf that may fail is bound whenever something after it
/// is bound.
pub(crate) fn normalize_in_order(cx: &mut Cx, module: &IrModule) -> Normalized {
    normalized(cx, module, &|_| Effects::and_failures())
}

fn normalized(cx: &mut Cx, module: &IrModule, effects: &dyn Fn(&Cx) -> Effects) -> Normalized {
    let mut result = module.clone();
    let mut order: Vec<usize> = (0..result.funcs.len()).collect();
    order.sort_by(|a, b| module.funcs[*a].0.name.cmp(&module.funcs[*b].0.name));
    order.retain(|index| is_to_be_normalized(cx, &module.funcs[*index].1));
    let mut findings = Vec::new();
    if !order.is_empty() {
        let mut normalizer = Normalizer::new(cx, module, effects(cx));
        for index in order {
            let (gv, func) = &mut result.funcs[index];
            if let GlobalFunc::Function(function) = func {
                normalizer.trail = Trail::new(gv.name.clone());
                *function = Arc::new(normalizer.global_function(function));
            }
        }
        findings = normalizer.findings;
    }
    inline_units(cx, &mut result);
    Normalized { findings, module: result }
}

/// NF.IDEMPOTENT: a function in normal form is not changed.
fn is_to_be_normalized(cx: &mut Cx, func: &GlobalFunc) -> bool {
    match func {
        GlobalFunc::Function(function) => !(is_normal(cx, function) && cx.fire(rule!("NF.IDEMPOTENT"))),
        GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => false,
    }
}

/// NF.UNIT.INLINE, for a program that is otherwise in normal form.
fn inline_units(cx: &mut Cx, module: &mut IrModule) {
    for (index, units) in used_units(cx, module).into_iter().enumerate() {
        if let Some((_, GlobalFunc::Function(function))) = module.funcs.get_mut(index)
            && !units.is_empty()
            && cx.fire(rule!("NF.UNIT.INLINE"))
        {
            *function = Arc::new(inlined(cx, function, &units));
        }
    }
}

/// The address of a source expression. The source outlives the normalizer.
pub(super) type Address = usize;

pub(super) struct Normalizer<'c, 'm> {
    pub(super) cx: &'c mut Cx,
    pub(super) module: &'m IrModule,
    pub(super) trail: Trail,
    findings: Vec<Diagnostic>,
    /// The supply of fresh variables, created for the first one.
    fresh: Option<FreshSupply>,
    pub(super) effects: Effects,
    /// The blocks of the sequence under construction.
    out: Vec<BindingBlock>,
    /// The block of the source that is being read.
    pub(super) block: BlockContext,
    /// The number of sequences around this place that are being flattened into the one under construction.
    flattening: usize,
    /// The shape variables in scope in the source, with their replacements.
    shapes: Context<ShapeVar, Option<ShapeVar>>,
    /// The number of shape variables that are replaced.
    replaced: usize,
    /// The shape variables that more than one scope of the present function may bind.
    repeated: FxHashSet<ShapeVar>,
    /// The shape variables that a boxed scalar may bind in the present function.
    pub(super) boxed: FxHashSet<ShapeVar>,
    /// For the literal reading of A20: the operands that were hoisted before their turn.
    pub(super) early: FxHashMap<Address, Expr>,
    /// The variables that the program text shows to be tuples.
    pub(super) tuples: Tuples,
}

#[derive(Clone, Copy)]
pub(super) struct BlockContext {
    pub(super) kind: BlockKind,
    span: Span,
    /// Whether nothing of the block has been emitted yet.
    starts: bool,
}

impl BlockContext {
    const ORDINARY: BlockContext = BlockContext { kind: BlockKind::Binding, span: Span::NONE, starts: true };
}

impl Finder for Normalizer<'_, '_> {
    fn trail(&mut self) -> &mut Trail {
        &mut self.trail
    }

    fn cx(&mut self) -> &mut Cx {
        self.cx
    }

    fn found(&mut self, finding: Diagnostic) {
        self.findings.push(finding);
    }
}

impl<'c, 'm> Normalizer<'c, 'm> {
    fn new(cx: &'c mut Cx, module: &'m IrModule, effects: Effects) -> Normalizer<'c, 'm> {
        let tuples = Tuples::for_normalizer(cx);
        Normalizer {
            cx,
            module,
            trail: Trail::default(),
            findings: Vec::new(),
            fresh: None,
            effects,
            out: Vec::new(),
            block: BlockContext::ORDINARY,
            flattening: 0,
            shapes: Context::new(),
            replaced: 0,
            repeated: FxHashSet::default(),
            boxed: FxHashSet::default(),
            early: FxHashMap::default(),
            tuples,
        }
    }

    pub(super) fn fresh(&mut self) -> &mut FreshSupply {
        let module = self.module;
        self.fresh.get_or_insert_with(|| FreshSupply::for_module(module))
    }

    fn global_function(&mut self, function: &Function) -> Function {
        (self.repeated, self.boxed) = rename::bound(function);
        self.function(function, rule!("NF.ALG.1.WRAP-BODY"))
    }

    /// Normalizes a global function (NF.ALG.1) or a literal (NF.ALG.NESTED-FUNC). No binding leaves its body.
    pub(super) fn function(&mut self, function: &Function, rule: Rule) -> Function {
        let (mark, replaced) = (self.shapes.mark(), self.replaced);
        let params = function.params.iter().map(|param| self.parameter(param)).collect();
        let normal = Function {
            params,
            ret_struct_info: function.ret_struct_info.as_ref().map(|info| self.struct_info(info)),
            body: self.function_body(&function.body, rule),
            pure: function.pure,
            attrs: function.attrs.clone(),
            span: function.span,
        };
        self.shapes.leave(mark);
        self.replaced = replaced;
        normal
    }

    /// R89.AST.FUNC-BODY: wraps a body that is not a `SeqExpr` in one.
    fn function_body(&mut self, body: &Expr, rule: Rule) -> Expr {
        let normal = self.at(TrailStep::Field("body"), |n| n.sequence(body, rule));
        if matches!(body, Expr::SeqExpr(_)) {
            return normal;
        }
        if self.cx.fire(rule!("R89.AST.FUNC-BODY")) { normal } else { body.clone() }
    }

    fn parameter(&mut self, param: &Binder) -> Binder {
        self.tuples.enter(param, None);
        if let Some(info) = &param.annotation {
            self.enter_shape_vars(info, false);
        }
        self.binder(param)
    }

    /// NF.3.WRAP: normalizes a function body or a branch separately, as a `SeqExpr`.
    pub(super) fn sequence(&mut self, expr: &Expr, rule: Rule) -> Expr {
        let is_seq = matches!(expr, Expr::SeqExpr(_));
        let mut body = expr.clone();
        if is_seq || (self.cx.fire(rule) && self.cx.fire(rule!("NF.3.WRAP"))) {
            body = self.built_by_itself(expr);
        }
        body
    }

    fn built_by_itself(&mut self, expr: &Expr) -> Expr {
        let outer = (std::mem::take(&mut self.out), self.block, self.flattening);
        let (mark, replaced) = (self.shapes.mark(), self.replaced);
        (self.block, self.flattening) = (BlockContext::ORDINARY, 0);
        let body = with_stack(|| match expr {
            Expr::SeqExpr(seq) => self.contents(seq),
            _ => self.body(expr, rule!("NF.ALG.3.LAST")),
        });
        self.shapes.leave(mark);
        self.replaced = replaced;
        let blocks = std::mem::replace(&mut self.out, outer.0);
        (self.block, self.flattening) = (outer.1, outer.2);
        Expr::SeqExpr(Arc::new(SeqExpr { blocks, body, span: expr.span() }))
    }

    /// Emits the blocks of a sequence into the one under construction. Returns its body as a leaf.
    fn contents(&mut self, seq: &SeqExpr) -> Expr {
        self.blocks(&seq.blocks);
        self.at(TrailStep::Field("body"), |n| n.body(&seq.body, rule!("NF.ALG.2.BIND-BODY")))
    }

    /// NF.ALG.2.BIND-BODY, NF.ALG.BODY-SEQ.
    ///
    /// Errata: A37. The text adds to the final block even if that is a `DataflowBlock`.
    fn body(&mut self, body: &Expr, rule: Rule) -> Expr {
        self.block = BlockContext::ORDINARY;
        if self.cx.literal(Erratum::A37)
            && let Some(last) = self.out.last()
        {
            self.block.kind = last.kind;
        }
        match body {
            Expr::SeqExpr(inner) if self.cx.conclude(rule!("NF.ALG.BODY-SEQ"), true) => {
                with_stack(|| self.contents(inner))
            }
            Expr::Tuple(_) => self.operand(body, false),
            _ => self.body_as_leaf(body, rule),
        }
    }

    fn body_as_leaf(&mut self, body: &Expr, rule: Rule) -> Expr {
        let mut result = self.leaf(body);
        if !is_leaf(self.cx, body) && self.cx.fire(rule) {
            let (binder, value) = self.bound_value(body);
            // It leaves the block, so it is a Var even if A37 puts it into a DataflowBlock.
            let binder = Binder { kind: VarKind::Var, ..binder };
            result = binder.to_expr();
            self.emit(Binding::VarBinding(VarBinding { var: binder, value, span: body.span() }));
        }
        result
    }

    fn blocks(&mut self, blocks: &[BindingBlock]) {
        let mut all_empty = true;
        for (i, block) in blocks.iter().enumerate() {
            self.block = BlockContext { kind: block.kind, span: block.span, starts: true };
            if block.bindings.is_empty() {
                self.empty_block(block);
                continue;
            }
            all_empty = false;
            self.at(TrailStep::Item("blocks", i), |n| {
                for (j, binding) in block.bindings.iter().enumerate() {
                    n.at(TrailStep::Item("bindings", j), |n| n.binding(binding));
                }
            });
        }
        if all_empty && !blocks.is_empty() && self.cx.fire(rule!("NF.4.ALL-EMPTY")) && self.flattening == 0 {
            self.out.retain(|block| !block.bindings.is_empty());
        }
    }

    /// NF.4.DROP-EMPTY. Errata: A37. Read literally, only a `BindingBlock` is dropped.
    fn empty_block(&mut self, block: &BindingBlock) {
        let counts = block.kind == BlockKind::Binding || !self.cx.literal(Erratum::A37);
        if !(counts && self.cx.fire(rule!("NF.4.DROP-EMPTY"))) {
            self.out.push(block.clone());
        }
    }

    fn binding(&mut self, binding: &Binding) {
        let value = self.at(TrailStep::Field("value"), |n| n.value(binding.value()));
        let source = binding;
        let binding = match binding {
            Binding::VarBinding(b) => Binding::VarBinding(VarBinding { var: self.binder(&b.var), value, span: b.span }),
            Binding::MatchCast(cast) => {
                self.enter_shape_vars(&cast.struct_info, self.flattening > 0);
                Binding::MatchCast(Box::new(MatchCast {
                    var: cast.var.as_ref().map(|binder| self.binder(binder)),
                    struct_info: self.struct_info(&cast.struct_info),
                    value,
                    span: cast.span,
                }))
            }
        };
        self.tuples.enter_normal(source, &binding);
        self.emit(binding);
    }

    /// Appends a binding to the sequence under construction. Criterion 4 decides which block it joins.
    pub(super) fn emit(&mut self, binding: Binding) {
        let BlockContext { kind, span, starts } = self.block;
        let joins = match self.out.last().map(|block| block.kind) {
            None => false,
            Some(last) if last == kind => !starts || self.merges(kind),
            Some(_) => self.cx.conclude(rule!("NF.4.NO-MIX"), false),
        };
        match self.out.last_mut() {
            Some(last) if joins => last.bindings.push(binding),
            Some(_) | None => self.out.push(BindingBlock { kind, bindings: vec![binding], span }),
        }
        self.block.starts = false;
    }

    /// NF.4.MERGE-BB, NF.4.MERGE-DF, in step NF.ALG.2.CONSOLIDATE.
    fn merges(&mut self, kind: BlockKind) -> bool {
        let rule = match kind {
            BlockKind::Binding => rule!("NF.4.MERGE-BB"),
            BlockKind::Dataflow => rule!("NF.4.MERGE-DF"),
        };
        self.cx.conclude(rule, true) && self.cx.conclude(rule!("NF.ALG.2.CONSOLIDATE"), true)
    }

    /// NF.ALG.5.FLATTEN: moves the bindings of a sequence before the binding whose value it is. The body of the
    /// sequence becomes the value.
    pub(super) fn flatten(&mut self, expr: &Expr, seq: &SeqExpr) -> Expr {
        if !self.may_flatten(seq) || !self.cx.conclude(rule!("NF.ALG.5.FLATTEN"), true) {
            return self.sequence(expr, rule!("NF.ALG.5.FLATTEN"));
        }
        let (mark, replaced, block) = (self.shapes.mark(), self.replaced, self.block);
        self.flattening += 1;
        self.blocks(&seq.blocks);
        let joins = self.out.last().is_some_and(|last| last.kind == block.kind);
        self.block = BlockContext { starts: block.starts && !joins, ..block };
        let value = self.at(TrailStep::Field("body"), |n| n.flattened_body(&seq.body));
        self.flattening -= 1;
        self.shapes.leave(mark);
        self.replaced = replaced;
        value
    }

    /// NF.ALG.5.BODY: a body that is not a leaf becomes the value after normalization.
    fn flattened_body(&mut self, body: &Expr) -> Expr {
        let mut value = body.clone();
        if is_leaf(self.cx, body) || self.cx.fire(rule!("NF.ALG.5.BODY")) {
            value = self.value(body);
        }
        value
    }

    /// NF.ALG.5.DF-SPLIT, NF.ALG.5.DF-DF, NF.ALG.5.DF-MALFORMED: whether a sequence may be flattened into the present
    /// block.
    fn may_flatten(&mut self, seq: &SeqExpr) -> bool {
        let has = |kind| seq.blocks.iter().any(|block| block.kind == kind && !block.bindings.is_empty());
        match self.block.kind {
            BlockKind::Binding => !has(BlockKind::Dataflow) || self.cx.conclude(rule!("NF.ALG.5.DF-SPLIT"), true),
            BlockKind::Dataflow if has(BlockKind::Binding) => {
                let well_formed = self.cx.premise(rule!("NF.ALG.5.DF-MALFORMED"), 1, false);
                if !well_formed {
                    let message = "a sequence with an ordinary BindingBlock stands inside a DataflowBlock";
                    let hint = "make the inner block a DataflowBlock";
                    self.error_with_hint(rule!("NF.ALG.5.DF-MALFORMED"), seq.span, message, hint);
                }
                well_formed
            }
            BlockKind::Dataflow => !has(BlockKind::Dataflow) || self.cx.conclude(rule!("NF.ALG.5.DF-DF"), true),
        }
    }

    /// Adds the shape variables that an annotation binds to the scope. NF.WIDEN-SAFE: if flattening widens the scope of
    /// such a variable and another scope could bind it, it is replaced.
    fn enter_shape_vars(&mut self, info: &StructInfo, widened: bool) {
        match info {
            StructInfo::Object | StructInfo::Func(_) => {}
            StructInfo::Prim(prim) => self.enter_lone(prim.value.as_slice(), widened),
            StructInfo::Tensor(tensor) => match &tensor.shape {
                Some(TensorShape::Dims(dims)) => self.enter_lone(dims, widened),
                None | Some(TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_)) => {}
            },
            StructInfo::Shape(shape) => self.enter_lone(shape.values.as_deref().unwrap_or_default(), widened),
            StructInfo::Tuple(fields) => {
                with_stack(|| fields.iter().for_each(|field| self.enter_shape_vars(field, widened)));
            }
        }
    }

    fn enter_lone(&mut self, dims: &[PrimExpr], widened: bool) {
        for dim in dims {
            if let PrimExpr::Var(var) = dim
                && !self.shapes.contains(var)
            {
                // Literal E10: flattening counts as safe without renaming.
                let clashes = widened && self.repeated.contains(var) && !self.cx.literal(Erratum::E10);
                let other = (clashes && self.cx.fire(rule!("NF.WIDEN-SAFE"))).then(|| self.fresh().shape_var(var));
                self.replaced += usize::from(other.is_some());
                self.shapes.enter(var.clone(), other);
            }
        }
    }

    fn replacement(&self, var: &ShapeVar) -> Option<ShapeVar> {
        self.shapes.get(var).cloned().flatten()
    }

    pub(super) fn struct_info(&self, info: &StructInfo) -> StructInfo {
        if self.replaced == 0 { info.clone() } else { rename::struct_info(info, &|var| self.replacement(var)) }
    }

    pub(super) fn dims(&self, dims: &Arc<[PrimExpr]>) -> Arc<[PrimExpr]> {
        if self.replaced == 0 { dims.clone() } else { rename::dims(dims, &|var| self.replacement(var)) }
    }

    pub(super) fn prim_expr(&self, expr: &PrimExpr) -> PrimExpr {
        if self.replaced == 0 { expr.clone() } else { rename::prim_expr(expr, &|var| self.replacement(var)) }
    }

    pub(super) fn attrs(&self, attrs: &Attrs) -> Attrs {
        if self.replaced == 0 { attrs.clone() } else { rename::attrs(attrs, &|var| self.replacement(var)) }
    }

    fn binder(&self, binder: &Binder) -> Binder {
        Binder {
            var: binder.var.clone(),
            kind: binder.kind,
            annotation: binder.annotation.as_ref().map(|info| self.struct_info(info)),
        }
    }
}
