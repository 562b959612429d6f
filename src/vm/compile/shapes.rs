//! Dimensions. Shape variables are stored in slots of the shape heap, and computed dimensions in additional slots.

use rustc_hash::FxHashSet;

use super::CompileStage;
use super::emit::{Code, Emitter, PendingDims, ValueFact, ValueLocation};
use crate::grammar::{DataType, PrimExpr, PrimValue, ShapeVar, Span, TensorShape, Var};
use crate::vm::executable::{Builtin, Callee, Constant, DimensionUse, How, NamedPrimFunc, Operand, PrimFuncCall};
use crate::vm::slots::{slot_var, unknown_size};
use crate::vm::substitute::DimensionSubstitution;

impl Emitter<'_, '_> {
    /// A new slot for a shape variable.
    pub(super) fn bind_size(&mut self, var: &ShapeVar) -> u32 {
        let slot = self.slot();
        self.sizes.enter(var.clone(), slot);
        slot
    }

    /// A new slot for a shape variable that is bound to the number of a boxed scalar.
    pub(super) fn bind_number(&mut self, var: &ShapeVar) -> u32 {
        let slot = self.bind_size(var);
        self.boxed.insert(slot);
        slot
    }

    /// Whether a shape variable is known to be a size.
    pub(super) fn is_size(&self, var: &ShapeVar) -> bool {
        self.sizes.get(var).is_some_and(|slot| !self.boxed.contains(slot))
    }

    /// Whether a dimension is a size for all values.
    pub(super) fn is_certain_size(&self, dim: &PrimExpr) -> bool {
        match dim {
            PrimExpr::IntImm(size) => *size >= 0,
            PrimExpr::Var(v) => self.is_size(v),
            PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..) => false,
        }
    }

    /// The operand for the shape heap.
    pub(super) fn heap(&self) -> Operand {
        Operand::Register(self.heap)
    }

    /// A dimension in terms of slots.
    pub(super) fn in_slots(&self, dim: &PrimExpr) -> PrimExpr {
        let size = |v: &ShapeVar| match self.sizes.get(v) {
            Some(slot) => PrimExpr::Var(slot_var(*slot)),
            None => PrimExpr::Var(unknown_size(v)),
        };
        let no_shape = |v: &Var| TensorShape::Var(v.clone().into());
        DimensionSubstitution::new(&size, &no_shape).dim(dim)
    }

    fn is_known(&self, dim: &PrimExpr) -> bool {
        let mut known = true;
        dim.for_each_var_once(&mut FxHashSet::default(), |v| known &= self.sizes.contains(v));
        known
    }

    /// The locations of some dimensions, after emitting the computation of those that need it.
    pub(super) fn codes(&mut self, dims: &[PrimExpr], context: DimensionUse) -> Vec<Code> {
        if !dims.iter().all(|dim| self.is_known(dim)) {
            self.irregular.set(true);
            return self.settled(dims, context);
        }
        let mut group: Vec<(u32, PrimExpr)> = Vec::new();
        let codes = dims.iter().map(|dim| self.code_of(dim, &mut group)).collect();
        self.compute(group, context);
        codes
    }

    fn code_of(&mut self, dim: &PrimExpr, group: &mut Vec<(u32, PrimExpr)>) -> Code {
        match dim {
            PrimExpr::IntImm(i) => (How::Number, *i),
            PrimExpr::Var(v) => (How::Slot, self.sizes.get(v).map_or(0, |slot| i64::from(*slot))),
            PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..) => {
                let dim = self.in_slots(dim);
                if let Some(slot) = self.derived.get(&dim) {
                    return (How::Slot, i64::from(*slot));
                }
                let slot = self.slot();
                self.derived.enter(dim.clone(), slot);
                group.push((slot, dim));
                (How::Slot, i64::from(slot))
            }
        }
    }

    /// R89.VM.SHAPEFUNC: a separate `PrimFunc` computes dimensions from slots to slots. If int64 overflows or there is
    /// no value, `settle_dims` takes over.
    fn compute(&mut self, group: Vec<(u32, PrimExpr)>, context: DimensionUse) {
        if group.is_empty() {
            return;
        }
        if self.last < CompileStage::Sized {
            return self.settle(&group, -1, context);
        }
        let flag = self.slot();
        let index = self.prim_funcs.len() as u32;
        let name = self.fresh_shape_func();
        self.prim_funcs.push(NamedPrimFunc { name, func: Default::default() });
        let heap = self.heap();
        self.effect(Callee::PrimFunc(PrimFuncCall { index, outputs: 1 }), vec![heap]);
        self.settle(&group, i64::from(flag), context);
        self.pending.push(PendingDims { index, dims: group, flag });
    }

    fn settle(&mut self, dims: &[(u32, PrimExpr)], flag: i64, context: DimensionUse) {
        let computed = self.constant(Constant::Dims(dims.iter().map(|(_, dim)| dim.clone()).collect()));
        let mut args = vec![self.heap(), Operand::Immediate(flag), Operand::Immediate(context.code()), computed];
        args.extend(dims.iter().map(|(slot, _)| Operand::Immediate((*slot).into())));
        self.effect(Callee::Builtin(Builtin::SettleDims), args);
    }

    /// Dimensions with variables that have no value. Evaluation determines which one it reaches first.
    fn settled(&mut self, dims: &[PrimExpr], context: DimensionUse) -> Vec<Code> {
        let computed: Vec<(u32, PrimExpr)> = dims.iter().map(|dim| (self.slot(), self.in_slots(dim))).collect();
        self.settle(&computed, -1, context);
        computed.iter().map(|(slot, _)| (How::Slot, i64::from(*slot))).collect()
    }

    /// EVAL.SHAPEEXPR: makes a new shape from the dimensions.
    pub(super) fn shape(&mut self, dims: &[PrimExpr], dst: Option<u32>) -> ValueLocation {
        let codes = self.codes(dims, DimensionUse::Shape);
        let args = self.sizes_as_args(&codes);
        let made = self.builtin(Builtin::MakeShape, args, dst);
        self.shapes.push(codes);
        ValueLocation { operand: made, known: ValueFact::Shape(self.shapes.len() as u32 - 1) }
    }

    /// The heap, then the sizes.
    pub(super) fn sizes_as_args(&self, codes: &[Code]) -> Vec<Operand> {
        let mut args = vec![self.heap_for(codes)];
        args.extend(operands(codes));
        args
    }

    /// The heap, if slots are involved.
    pub(super) fn heap_for(&self, codes: &[Code]) -> Operand {
        if codes.iter().any(|(how, _)| *how != How::Number) { self.heap() } else { Operand::Void }
    }

    /// PR14148.EVAL.IMM: makes a boxed scalar.
    pub(super) fn prim_value(&mut self, e: &PrimValue, dst: Option<u32>) -> ValueLocation {
        if e.float.is_some() || matches!(e.value, PrimExpr::IntImm(_)) {
            let constant = self.constant(Constant::Prim(PrimValue { span: Span::NONE, ..e.clone() }));
            return self.placed(ValueLocation::of(constant), dst);
        }
        let codes = self.codes(std::slice::from_ref(&e.value), DimensionUse::Plain);
        ValueLocation::of(self.make_box(&codes, e.dtype, dst))
    }

    pub(super) fn make_box(&mut self, codes: &[Code], dtype: DataType, dst: Option<u32>) -> Operand {
        let dtype = self.dtype(dtype);
        let mut args = vec![self.heap_for(codes)];
        args.extend(operands(codes));
        args.push(dtype);
        self.builtin(Builtin::MakePrimValue, args, dst)
    }

    pub(super) fn dtype(&mut self, dtype: DataType) -> Operand {
        self.constant(Constant::DataType(dtype))
    }
}

/// The codes as arguments.
pub(super) fn operands(codes: &[Code]) -> impl Iterator<Item = Operand> {
    codes.iter().flat_map(|(how, what)| [Operand::Immediate(how.code()), Operand::Immediate(*what)])
}
