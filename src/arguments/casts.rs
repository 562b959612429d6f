//! The casts of parameters at the start of a function: a run continues only on arguments that fit them.

use std::collections::BTreeMap;

use crate::grammar::{Binding, Expr, Function, PrimExpr, ShapeVar, StructInfo, TensorShape, TensorStructInfo, Var};

/// The casts of parameters in the body's own blocks.
#[derive(Default)]
pub(super) struct Casts<'f> {
    targets: Vec<(&'f Var, &'f StructInfo)>,
    /// The parameters whose sizes should fit their casts, one bit for each; for the others only the rank fits.
    fitting: usize,
}

impl<'f> Casts<'f> {
    pub(super) fn of(func: &'f Function) -> Casts<'f> {
        let Expr::SeqExpr(seq) = &func.body else { return Casts::default() };
        let targets = seq.blocks.iter().flat_map(|block| &block.bindings).filter_map(|binding| match binding {
            Binding::MatchCast(cast) => match &cast.value {
                Expr::Var(var) => Some((var, &cast.struct_info)),
                _ => None,
            },
            Binding::VarBinding(_) => None,
        });
        Casts { targets: targets.collect(), fitting: usize::MAX }
    }

    /// The same, with sizes that fit only the casts selected by the bits: the condition of one cast may hold, and that
    /// of another not.
    pub(super) fn only(self, fitting: usize) -> Casts<'f> {
        Casts { fitting, ..self }
    }

    fn sizes_fit(&self, nth: usize) -> bool {
        self.fitting >> (nth % 8) & 1 == 1
    }

    /// The structural information to which a parameter is cast first, if its annotation says less.
    pub(super) fn annotation(&self, nth: usize, var: &Var, annotation: StructInfo) -> StructInfo {
        let target = self.targets.iter().find(|(cast, _)| *cast == var).map(|(_, target)| *target);
        let Some(target) = target else { return annotation };
        if let (StructInfo::Tensor(t), StructInfo::Tensor(target)) = (&annotation, target)
            && t.shape.is_none()
        {
            let dtype = if t.dtype.is_void() { target.dtype } else { t.dtype };
            let shape = target.shape.clone().filter(|_| self.sizes_fit(nth));
            return StructInfo::Tensor(TensorStructInfo { dtype, shape, ..target.clone() });
        }
        if let (StructInfo::Shape(s), StructInfo::Shape(target)) = (&annotation, target)
            && s.values.is_none()
        {
            return StructInfo::Shape(target.clone());
        }
        if matches!(annotation, StructInfo::Object) { target.clone() } else { annotation }
    }

    /// The sizes that the casts require of variables in annotations of parameters.
    pub(super) fn sizes(&self, func: &Function) -> BTreeMap<ShapeVar, i64> {
        let mut sizes = BTreeMap::new();
        for (var, target) in &self.targets {
            let mut fitting = func.params.iter().enumerate().filter(|(nth, _)| self.sizes_fit(*nth));
            let param = fitting.find(|(_, param)| param.var == **var).map(|(_, param)| param);
            if let (Some(StructInfo::Tensor(own)), StructInfo::Tensor(target)) =
                (param.and_then(|param| param.annotation.as_ref()), target)
                && let (Some(TensorShape::Dims(own)), Some(TensorShape::Dims(target))) = (&own.shape, &target.shape)
            {
                for dims in own.iter().zip(target.iter()) {
                    if let (PrimExpr::Var(var), PrimExpr::IntImm(size)) = dims {
                        sizes.entry(var.clone()).or_insert(*size);
                    }
                }
            }
        }
        sizes
    }
}
