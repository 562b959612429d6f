//! Compares values with structural information (`SI.MATCHCAST`), with one call for each check, in the order of the
//! text.

use super::emit::{Code, Emitter, ValueLocation};
use super::shapes::operands;
use crate::book::Erratum;
use crate::grammar::{
    Ndim, PrimExpr, PrimStructInfo, ShapeStructInfo, ShapeVar, StructInfo, TensorShape, TensorStructInfo, Var,
};
use crate::judge::with_stack;
use crate::struct_info::introduced_shape_vars;
use crate::vm::executable::{Builtin, Callee, Constant, DimensionUse, How, Operand};
use crate::vm::slots::{register_var, slot_var, unknown_shape, unknown_size};
use crate::vm::substitute::DimensionSubstitution;

impl Emitter<'_, '_> {
    fn check(&mut self, builtin: Builtin, args: Vec<Operand>) {
        self.effect(Callee::Builtin(builtin), args);
    }

    /// Compares a value with information, and binds its new shape variables to slots.
    pub(super) fn match_info(&mut self, place: ValueLocation, info: &StructInfo) {
        let value = place.operand;
        with_stack(|| match info {
            StructInfo::Object => {}
            StructInfo::Tensor(t) => self.match_tensor(value, t),
            StructInfo::Shape(s) => self.match_shape(value, s),
            StructInfo::Tuple(fields) => self.match_tuple(value, fields),
            StructInfo::Func(_) => {
                let info = self.renamed(info);
                let info = self.constant(Constant::StructInfo(info));
                self.check(Builtin::CheckFuncInfo, vec![value, info]);
            }
            StructInfo::Prim(p) => self.match_prim(value, p),
        });
    }

    /// SI.BOUNDARY.PHASE1: binds variables that are whole dimensions, after the kind and rank of the value have been
    /// checked.
    pub(super) fn take_sizes(&mut self, value: Operand, info: &StructInfo) {
        if introduced_shape_vars(info).is_empty() {
            return;
        }
        with_stack(|| match info {
            StructInfo::Object | StructInfo::Func(_) => {}
            StructInfo::Tensor(t) => {
                self.check(Builtin::CheckTensorInfo, vec![value, rank(t.ndim), Operand::Void]);
                if let Some(TensorShape::Dims(dims)) = &t.shape {
                    self.take_each(value, dims);
                }
            }
            StructInfo::Shape(s) => {
                self.check(Builtin::CheckShapeInfo, vec![value, rank(s.ndim)]);
                self.take_each(value, s.values.as_deref().unwrap_or_default());
            }
            StructInfo::Prim(p) => self.take_number(value, p),
            StructInfo::Tuple(fields) => {
                self.check(Builtin::CheckTupleInfo, vec![value, Operand::Immediate(fields.len() as i64)]);
                for (index, field) in
                    fields.iter().enumerate().filter(|(_, field)| !introduced_shape_vars(field).is_empty())
                {
                    let part = self.builtin(Builtin::TupleGetItem, vec![value, Operand::Immediate(index as i64)], None);
                    self.take_sizes(part, field);
                }
            }
        });
    }

    /// SI.BOUNDARY.PHASE1.PRIM: binds the number of a boxed scalar. If it is known already, it is compared in the
    /// second phase.
    fn take_number(&mut self, value: Operand, p: &PrimStructInfo) {
        if matches!(&p.value, Some(PrimExpr::Var(v)) if !self.sizes.contains(v)) {
            self.match_prim(value, p);
        } else {
            let dtype = self.dtype(p.dtype);
            self.check(Builtin::CheckPrimInfo, vec![value, dtype]);
        }
    }

    fn take_each(&mut self, value: Operand, dims: &[PrimExpr]) {
        for (index, dim) in dims.iter().enumerate() {
            if let PrimExpr::Var(v) = dim
                && !self.sizes.contains(v)
            {
                let slot = self.bind_size(v);
                self.match_sizes(value, None, index, vec![(How::Store, slot.into())]);
            }
        }
    }

    fn match_tensor(&mut self, value: Operand, t: &TensorStructInfo) {
        let dtype = if t.dtype.is_void() { Operand::Void } else { self.dtype(t.dtype) };
        self.check(Builtin::CheckTensorInfo, vec![value, rank(t.ndim), dtype]);
        match &t.shape {
            None => {}
            Some(TensorShape::Var(v) | TensorShape::DataflowVar(v)) => match self.vars.get(v).copied().flatten() {
                Some(shape) => self.check(Builtin::MatchSameShape, vec![value, shape.operand]),
                None => {
                    self.unspecified(format!("the variable {v}, used as a shape, is not in scope"), None);
                }
            },
            Some(TensorShape::Dims(dims)) => self.match_dims(value, Some(dims.len()), dims, DimensionUse::TensorSize),
            Some(TensorShape::Other(_)) => {
                let reason = "the shape of a TensorStructInfo is neither a variable nor a ShapeExpr";
                self.unspecified(reason.to_string(), None);
            }
        }
    }

    fn match_shape(&mut self, value: Operand, s: &ShapeStructInfo) {
        self.check(Builtin::CheckShapeInfo, vec![value, rank(s.ndim)]);
        match &s.values {
            None => {}
            Some(values) if s.ndim == Ndim::of_len(values.len()) => {
                self.match_dims(value, None, values, DimensionUse::ShapeSize);
            }
            // WF.14.NDIM: in a well-formed program both give the same number of sizes.
            Some(_) => {
                self.unspecified("a ShapeStructInfo has more or fewer values than its ndim says".to_string(), None);
            }
        }
    }

    /// SI.MATCHCAST.TENSOR.BIND, SI.MATCHCAST.SHAPE.BIND: matches one dimension after the other, so that a variable is
    /// known at the next.
    fn match_dims(&mut self, value: Operand, rank: Option<usize>, dims: &[PrimExpr], context: DimensionUse) {
        let mut codes: Vec<Code> = Vec::new();
        let mut first = 0;
        for (index, dim) in dims.iter().enumerate() {
            match dim {
                PrimExpr::IntImm(i) => codes.push((How::Number, *i)),
                PrimExpr::Var(v) => match self.sizes.get(v).copied() {
                    Some(slot) => codes.push((How::Slot, slot.into())),
                    None => codes.push((How::Store, self.bind_size(v).into())),
                },
                PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..) => {
                    let rank = rank.filter(|_| first == 0);
                    self.match_sizes(value, rank, first, std::mem::take(&mut codes));
                    first = index;
                    codes = self.codes(std::slice::from_ref(dim), context);
                }
            }
        }
        self.match_sizes(value, rank.filter(|_| first == 0), first, codes);
    }

    /// Matches the sizes of a tensor or shape from `first` on; for a tensor also their number.
    pub(super) fn match_sizes(&mut self, value: Operand, rank: Option<usize>, first: usize, codes: Vec<Code>) {
        if codes.is_empty() && rank.is_none() {
            return;
        }
        let rank = rank.map_or(-1, |rank| rank as i64);
        let heap = self.heap_for(&codes);
        let mut args = vec![value, heap, Operand::Immediate(rank), Operand::Immediate(first as i64)];
        args.extend(operands(&codes));
        self.check(Builtin::MatchShape, args);
    }

    /// PR14148.SI.PRIM.VALUE: compares or binds the number of a boxed scalar, like a dimension.
    ///
    /// Errata: A74, literally the value has no effect on matching.
    fn match_prim(&mut self, value: Operand, p: &PrimStructInfo) {
        let dtype = self.dtype(p.dtype);
        self.check(Builtin::CheckPrimInfo, vec![value, dtype]);
        let Some(dim) = p.value.as_ref().filter(|_| self.value_counts()) else { return };
        let codes = match dim {
            PrimExpr::Var(v) if !self.sizes.contains(v) && self.value_binds() => {
                vec![(How::Store, self.bind_number(v).into())]
            }
            PrimExpr::Var(_) | PrimExpr::IntImm(_) | PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..) => {
                self.codes(std::slice::from_ref(dim), DimensionUse::PrimValue)
            }
        };
        self.match_number(value, &codes);
    }

    /// Matches the number of a boxed scalar.
    pub(super) fn match_number(&mut self, value: Operand, codes: &[Code]) {
        let mut args = vec![value, self.heap_for(codes)];
        args.extend(operands(codes));
        self.check(Builtin::MatchPrimValue, args);
    }

    fn value_counts(&self) -> bool {
        self.cx.has(rule!("SI.MATCHCAST.PRIM.VALUE")) || !self.cx.literal(Erratum::A74)
    }

    /// Errata: N11, literally the value is evaluated, even if it is a variable without a value.
    fn value_binds(&self) -> bool {
        !(self.cx.has(rule!("SI.MATCHCAST.PRIM.BIND")) && self.cx.literal(Erratum::N11))
    }

    /// SI.MATCHCAST.TUPLE.FIELDS: matches field by field.
    fn match_tuple(&mut self, value: Operand, fields: &[StructInfo]) {
        self.check(Builtin::CheckTupleInfo, vec![value, Operand::Immediate(fields.len() as i64)]);
        for (index, field) in fields.iter().enumerate() {
            if *field != StructInfo::Object {
                let index = Operand::Immediate(index as i64);
                let part = self.builtin(Builtin::TupleGetItem, vec![value, index], None);
                self.match_info(ValueLocation::of(part), field);
            }
        }
    }

    /// The information in terms of slots and registers.
    pub(super) fn renamed(&self, info: &StructInfo) -> StructInfo {
        self.with_renaming(&|| (), |renaming| renaming.struct_info(info))
    }

    /// Runs `then` with the renaming to the slots and registers in scope. `unknown` is called for each variable that is
    /// not in scope.
    pub(super) fn with_renaming<T>(&self, unknown: &dyn Fn(), then: impl FnOnce(&DimensionSubstitution<'_>) -> T) -> T {
        let size = |v: &ShapeVar| match self.sizes.get(v) {
            Some(slot) => PrimExpr::Var(slot_var(*slot)),
            None => {
                unknown();
                PrimExpr::Var(unknown_size(v))
            }
        };
        let shape = |v: &Var| match self.vars.get(v).copied().flatten() {
            Some(ValueLocation { operand: Operand::Register(r), .. }) => TensorShape::Var(register_var(r).into()),
            Some(_) | None => {
                unknown();
                TensorShape::Var(unknown_shape(v).into())
            }
        };
        then(&DimensionSubstitution::new(&size, &shape))
    }
}

fn rank(ndim: Ndim) -> Operand {
    Operand::Immediate(ndim.to_i64())
}
