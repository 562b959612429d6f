//! The body of a function as a list of bindings, and the ways to make it smaller.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::generate::nodes::{bind, block};
use relax_spec::derivation::DeriveReport;
use relax_spec::grammar::visit::Visitor;
use relax_spec::grammar::{
    Binder, Binding, BindingBlock, BlockKind, Expr, Function, ShapeVar, StructInfo, TensorShape, Var, VarBinding,
    VarKind,
};

/// The body of a function, each binding with the kind of its block.
#[derive(Clone)]
pub(super) struct Body {
    pub(super) function: Function,
    pub(super) bindings: Vec<(BlockKind, Binding)>,
    pub(super) result: Expr,
}

impl Body {
    pub(super) fn of(function: &Function) -> Option<Body> {
        let Expr::SeqExpr(seq) = &function.body else { return None };
        Some(Body { function: function.clone(), bindings: of_blocks(&seq.blocks), result: seq.body.clone() })
    }

    pub(super) fn function(self) -> Function {
        let mut blocks: Vec<BindingBlock> = Vec::new();
        for (kind, binding) in self.bindings {
            match blocks.last_mut() {
                Some(block) if block.kind == kind => block.bindings.push(binding),
                Some(_) | None => blocks.push(block(kind, vec![binding])),
            }
        }
        Function { body: Expr::seq(blocks, self.result), ..self.function }
    }

    /// Removes unused bindings and parameters; casts that define used shape variables remain.
    pub(super) fn swept(mut self) -> Body {
        loop {
            let (used, before) = (self.used(true), self.bindings.len());
            self.bindings.retain(|(_, binding)| {
                let binds_dim =
                    if let Binding::MatchCast(cast) = binding { used.has_dim(&cast.struct_info) } else { false };
                binds_dim || binding.binder().is_some_and(|binder| used.vars.contains(&binder.var))
            });
            if self.bindings.len() == before {
                let needed = self.used(false);
                let says_dim = |param: &Binder| param.annotation.as_ref().is_some_and(|info| needed.has_dim(info));
                self.function.params.retain(|param| needed.vars.contains(&param.var) || says_dim(param));
                return self;
            }
        }
    }

    /// The variables in use: those in the annotations of all parameters too, or only of parameters that are used
    /// themselves.
    fn used(&self, by_all_params: bool) -> Uses {
        let mut used = Uses::default();
        used.visit_expr(&self.result);
        for (_, binding) in &self.bindings {
            used.visit_expr(binding.value());
            if let Binding::VarBinding(binding) = binding {
                binding.var.annotation.iter().for_each(|info| used.visit_struct_info(info));
            }
        }
        for param in &self.function.params {
            if by_all_params || used.vars.contains(&param.var) {
                param.annotation.iter().for_each(|info| used.visit_struct_info(info));
            }
        }
        used
    }

    /// Turns `DataflowBlock`s into ordinary blocks, if there are any.
    pub(super) fn without_dataflow(mut self) -> Option<Body> {
        self.bindings.iter().find(|(kind, _)| *kind == BlockKind::Dataflow)?;
        as_var(&mut self.result);
        for (kind, binding) in &mut self.bindings {
            *kind = BlockKind::Binding;
            let (binder, value) = match binding {
                Binding::VarBinding(own) => (Some(&mut own.var), &mut own.value),
                Binding::MatchCast(cast) => (cast.var.as_mut(), &mut cast.value),
            };
            binder.into_iter().for_each(|binder| binder.kind = VarKind::Var);
            as_var(value);
        }
        Some(self)
    }

    /// Moves the bindings of nested sequences out of them, except inside of `DataflowBlock`s.
    pub(super) fn unnested(self) -> Option<Body> {
        let mut bindings = Vec::new();
        let before = self.bindings.len();
        for (kind, binding) in self.bindings {
            if let Binding::VarBinding(VarBinding { var, value: Expr::SeqExpr(seq), .. }) = &binding
                && kind == BlockKind::Binding
            {
                bindings.extend(of_blocks(&seq.blocks));
                bindings.push((kind, bind(var, seq.body.clone())));
            } else {
                bindings.push((kind, binding));
            }
        }
        (bindings.len() > before).then_some(Body { bindings, ..self })
    }

    /// Replaces a bound `If` by the bindings of one of its branches.
    pub(super) fn inlined(mut self, at: usize, branch: bool) -> Option<Body> {
        let (kind, Binding::VarBinding(VarBinding { var, value: Expr::If(choice), .. })) =
            self.bindings.get(at)?.clone()
        else {
            return None;
        };
        let branch = if branch { &choice.true_branch } else { &choice.false_branch };
        let (inner, value) = match branch {
            Expr::SeqExpr(seq) => (of_blocks(&seq.blocks), seq.body.clone()),
            other => (Vec::new(), other.clone()),
        };
        let bound = bind(&Binder { annotation: None, ..var }, value);
        self.bindings.splice(at..=at, inner.into_iter().chain([(kind, bound)]));
        Some(self)
    }

    /// Candidates for a simpler result: half of the results if there are several, and each intermediate value.
    pub(super) fn other_results(&self) -> Vec<Expr> {
        let of_half = |half: &[Expr]| match half {
            [one] => one.clone(),
            several => Expr::tuple(several.to_vec()),
        };
        let fields = if let Expr::Tuple(tuple) = &self.result { tuple.fields.as_slice() } else { &[] };
        let (left, right) = fields.split_at(fields.len() / 2);
        let halves = [left, right].into_iter().filter(|half| !half.is_empty()).map(of_half);
        let binders = self.bindings.iter().filter_map(|(_, binding)| binding.binder());
        let values = binders.filter(|binder| binder.kind == VarKind::Var).map(Binder::to_expr);
        halves.chain(values).filter(|other| *other != self.result).collect()
    }

    /// Turns these bindings into parameters, if arguments can be generated for them.
    pub(super) fn cut(mut self, range: Range<usize>, derived: &DeriveReport) -> Body {
        let dims: BTreeSet<ShapeVar> =
            self.function.params.iter().filter_map(|param| param.annotation.as_ref()).flat_map(dims_in).collect();
        for at in range.rev() {
            let param = self.bindings.get(at).and_then(|(_, binding)| as_param(binding, &dims, derived));
            if let Some(param) = param {
                self.bindings.remove(at);
                self.function.params.push(param);
            }
        }
        self
    }
}

fn of_blocks(blocks: &[BindingBlock]) -> Vec<(BlockKind, Binding)> {
    blocks.iter().flat_map(|block| block.bindings.iter().map(|binding| (block.kind, binding.clone()))).collect()
}

/// The variable of a binding as a parameter.
fn as_param(binding: &Binding, dims: &BTreeSet<ShapeVar>, derived: &DeriveReport) -> Option<Binder> {
    let Binding::VarBinding(VarBinding { var, value, .. }) = binding else { return None };
    if matches!(value, Expr::Constant(_) | Expr::Function(_) | Expr::Var(_)) || var.kind != VarKind::Var {
        return None;
    }
    let info = derived.info_of_var(&var.var)?.clone();
    (is_data(&info) && dims_in(&info).is_subset(dims)).then(|| Binder::var(var.var.clone()).annotated(info))
}

/// Whether arguments with this information can be generated: tensors, and tuples of them.
fn is_data(info: &StructInfo) -> bool {
    match info {
        StructInfo::Tensor(tensor) => matches!(tensor.shape, Some(TensorShape::Dims(_))),
        StructInfo::Tuple(fields) => fields.iter().all(is_data),
        StructInfo::Object | StructInfo::Shape(_) | StructInfo::Prim(_) | StructInfo::Func(_) => false,
    }
}

/// Makes the dataflow variables of an expression in normal form ordinary ones.
fn as_var(expr: &mut Expr) {
    match expr {
        Expr::DataflowVar(var) => *expr = Expr::Var(var.clone()),
        other => other.parts_mut().into_iter().for_each(as_var),
    }
}

/// The variables in use.
#[derive(Default)]
struct Uses {
    vars: BTreeSet<Var>,
    dims: BTreeSet<ShapeVar>,
}

impl Uses {
    fn has_dim(&self, info: &StructInfo) -> bool {
        dims_in(info).iter().any(|dim| self.dims.contains(dim))
    }
}

impl Visitor for Uses {
    fn visit_var(&mut self, var: &Var, _: VarKind) {
        self.vars.insert(var.clone());
    }

    fn visit_shape_var(&mut self, var: &ShapeVar) {
        self.dims.insert(var.clone());
    }
}

fn dims_in(info: &StructInfo) -> BTreeSet<ShapeVar> {
    let mut used = Uses::default();
    used.visit_struct_info(info);
    used.dims
}
