//! Renaming shape variables, so that flattening a sequence keeps them distinct (NF.WIDEN-SAFE).

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::grammar::visit::{Visitor, walk_function, walk_seq_expr, walk_struct_info};
use crate::grammar::{
    AttrValue, Attrs, Binding, Function, PrimExpr, Replacement, SeqExpr, ShapeVar, StructInfo, TensorShape,
};
use crate::judge::with_stack;

/// The replacement of a shape variable; `None` if it stays.
pub(super) type Replace<'a> = &'a dyn Fn(&ShapeVar) -> Option<ShapeVar>;

pub(super) fn prim_expr(expr: &PrimExpr, replace: Replace) -> PrimExpr {
    expr.with_vars(&|var| PrimExpr::Var(replace(var).unwrap_or_else(|| var.clone())))
}

pub(super) fn dims(values: &[PrimExpr], replace: Replace) -> Arc<[PrimExpr]> {
    values.iter().map(|dim| prim_expr(dim, replace)).collect()
}

/// Renames shape variables.
struct Renamed<'a>(Replace<'a>);

impl Replacement for Renamed<'_> {
    fn dim(&self, dim: &PrimExpr) -> PrimExpr {
        prim_expr(dim, self.0)
    }
}

pub(super) fn struct_info(info: &StructInfo, replace: Replace) -> StructInfo {
    info.replaced(&Renamed(replace))
}

pub(super) fn attrs(all: &Attrs, replace: Replace) -> Attrs {
    all.iter().map(|(name, value)| (name.clone(), attr(value, replace))).collect()
}

fn attr(value: &AttrValue, replace: Replace) -> AttrValue {
    value.with_leaves(&|leaf| {
        if let AttrValue::StructInfo(info) = leaf {
            return Some(AttrValue::StructInfo(struct_info(info, replace)));
        }
        leaf.as_prim().map(|expr| AttrValue::Prim(prim_expr(expr, replace)))
    })
}

/// The shape variables that stand alone, and so may be bound, in more than one scope of a function. The second set has
/// those that stand alone as the value of a boxed scalar.
pub(super) fn bound(function: &Function) -> (FxHashSet<ShapeVar>, FxHashSet<ShapeVar>) {
    let mut census = Census::default();
    census.visit_function(function);
    (census.repeated, census.boxed)
}

/// Counts the scopes in which each shape variable stands alone, where it could be bound.
#[derive(Default)]
struct Census {
    scopes: usize,
    /// The open scopes, the innermost one last.
    open: Vec<usize>,
    last_seen: FxHashMap<ShapeVar, usize>,
    repeated: FxHashSet<ShapeVar>,
    boxed: FxHashSet<ShapeVar>,
}

impl Census {
    fn scope(&mut self, body: impl FnOnce(&mut Self)) {
        self.scopes += 1;
        self.open.push(self.scopes);
        body(self);
        self.open.pop();
    }

    fn lone(&mut self, dims: &[PrimExpr]) {
        let here = self.open.last().copied().unwrap_or_default();
        for dim in dims {
            if let PrimExpr::Var(var) = dim {
                match self.last_seen.get(var) {
                    Some(scope) if *scope == here => {}
                    Some(_) => {
                        self.repeated.insert(var.clone());
                    }
                    None => {
                        self.last_seen.insert(var.clone(), here);
                    }
                }
            }
        }
    }

    fn binding_annotation(&mut self, info: &StructInfo) {
        match info {
            StructInfo::Object => {}
            StructInfo::Prim(prim) => {
                if let Some(PrimExpr::Var(var)) = &prim.value {
                    self.boxed.insert(var.clone());
                }
                self.lone(prim.value.as_slice());
            }
            StructInfo::Tensor(tensor) => match &tensor.shape {
                Some(TensorShape::Dims(dims)) => self.lone(dims),
                None | Some(TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_)) => {}
            },
            StructInfo::Shape(shape) => self.lone(shape.values.as_deref().unwrap_or_default()),
            StructInfo::Tuple(fields) => with_stack(|| fields.iter().for_each(|f| self.binding_annotation(f))),
            StructInfo::Func(_) => self.visit_struct_info(info),
        }
    }
}

impl Visitor for Census {
    fn visit_function(&mut self, function: &Function) {
        self.scope(|census| {
            for param in &function.params {
                param.annotation.iter().for_each(|info| census.binding_annotation(info));
            }
            walk_function(census, function);
        });
    }

    fn visit_seq_expr(&mut self, seq: &SeqExpr) {
        self.scope(|census| walk_seq_expr(census, seq));
    }

    fn visit_binding(&mut self, binding: &Binding) {
        match binding {
            Binding::VarBinding(binding) => self.visit_var_binding(binding),
            Binding::MatchCast(cast) => {
                self.binding_annotation(&cast.struct_info);
                self.visit_match_cast(cast);
            }
        }
    }

    fn visit_struct_info(&mut self, info: &StructInfo) {
        if let StructInfo::Func(func) = info {
            self.scope(|census| {
                func.params.iter().flat_map(|params| params.iter()).for_each(|param| census.binding_annotation(param));
                with_stack(|| walk_struct_info(census, info));
            })
        } else {
            walk_struct_info(self, info)
        }
    }
}
