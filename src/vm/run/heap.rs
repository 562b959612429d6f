//! The shape heap (`R89.VM.SHAPEHEAP`): a tensor of int64, with a slot for each size that a function uses.

use super::Machine;
use crate::grammar::{DataType, PrimExpr, ShapeVar};
use crate::judge::RuntimeError;
use crate::shape;
use crate::value::{Scalar, Stop, Tensor, Value};
use crate::vm::executable::{DimensionUse, How};
use crate::vm::slots::slot_of;

/// The content of an unwritten slot. It is not a size, nor a number that programs compute.
const UNWRITTEN: i64 = i64::MIN + 0x0bad_510f;

impl Machine<'_> {
    /// A heap with this many unwritten slots.
    pub(super) fn alloc_shape_heap(&mut self, slots: i64) -> Result<Value, Stop> {
        let slots = if self.cx.fire(rule!("R89.VM.SHAPEHEAP")) { slots } else { 0 };
        let made = self.account.zeros(DataType::INT64, &[slots])?;
        let heap = made.map_err(|error| self.wrong(error))?;
        heap.fill(|_| Ok::<Scalar, Stop>(Scalar::Int(UNWRITTEN)))?;
        self.frame()?.heap = Some(heap.clone());
        Ok(Value::Tensor(heap))
    }

    /// The content of a slot.
    pub(super) fn load(&self, heap: &Tensor, slot: i64) -> Result<i64, Stop> {
        match usize::try_from(slot).ok().and_then(|slot| heap.get(slot)) {
            Some(Scalar::Int(UNWRITTEN)) => Err(self.wrong(format!("slot {slot} is read before it is written"))),
            Some(Scalar::Int(size)) => Ok(size),
            Some(Scalar::Bool(_) | Scalar::UInt(_) | Scalar::Float(_) | Scalar::Ring(_)) | None => {
                Err(self.wrong(format!("the heap has no slot {slot}")))
            }
        }
    }

    pub(super) fn store(&self, heap: &Tensor, slot: i64, size: i64) -> Result<(), Stop> {
        let written = usize::try_from(slot).is_ok_and(|slot| slot < heap.len() && heap.set(slot, Scalar::Int(size)));
        if written { Ok(()) } else { Err(self.wrong(format!("the heap has no slot {slot}"))) }
    }

    /// A number, or the content of a slot.
    pub(super) fn read(&self, heap: Option<&Tensor>, how: How, what: i64) -> Result<i64, Stop> {
        match (how, heap) {
            (How::Number, _) => Ok(what),
            (How::Slot, Some(heap)) => self.load(heap, what),
            (How::Slot | How::Store, _) => Err(self.wrong("there is no heap to read from")),
        }
    }

    /// SI.DIM.EVAL: the value of a dimension in terms of slots.
    pub(super) fn dim(&mut self, e: &PrimExpr) -> Result<i64, Stop> {
        let heap = self.frames.last().and_then(|frame| frame.heap.clone());
        shape::evaluate(self.cx, e, &|v| size_in(heap.as_ref(), v)).map_err(without_value)
    }

    /// The size in the slot that a variable names; `None` for any other variable.
    pub(super) fn size_of(&self, v: &ShapeVar) -> Option<i64> {
        size_in(self.frames.last()?.heap.as_ref(), v)
    }

    /// Whether the function that computed dimensions reports that int64 was sufficient.
    pub(super) fn fitted(&self, heap: &Tensor, flag: i64) -> Result<bool, Stop> {
        Ok(flag >= 0 && self.load(heap, flag)? != 0)
    }

    /// The exact value of a dimension. If there is none, the error depends on the context.
    pub(super) fn settled(&mut self, e: &PrimExpr, context: DimensionUse) -> Result<i64, Stop> {
        let failed = |stop: Stop, rule| match stop {
            Stop::Error(RuntimeError { message, .. }) => Stop::error(rule, message),
            Stop::OutOfFuel | Stop::Unspecified(_) | Stop::Unknown(_) => stop,
        };
        let value = self.dim(e);
        match context {
            DimensionUse::Plain => value,
            DimensionUse::Shape => match value.map_err(|stop| failed(stop, rule!("SI.DIM.SHAPEEXPR-ERR")))? {
                size @ 0.. => Ok(size),
                size => Err(negative(size)),
            },
            DimensionUse::TensorSize => value.map_err(|stop| failed(stop, rule!("SI.MATCHCAST.TENSOR.EVAL"))),
            DimensionUse::ShapeSize => value.map_err(|stop| failed(stop, rule!("SI.MATCHCAST.SHAPE.EVAL"))),
            DimensionUse::PrimValue => value.map_err(|stop| failed(stop, rule!("PR14148.SI.PRIM.VALUE"))),
        }
    }
}

fn size_in(heap: Option<&Tensor>, v: &ShapeVar) -> Option<i64> {
    match heap?.get(slot_of(v)? as usize) {
        Some(Scalar::Int(size)) => Some(size).filter(|size| *size != UNWRITTEN),
        Some(Scalar::Bool(_) | Scalar::UInt(_) | Scalar::Float(_) | Scalar::Ring(_)) | None => None,
    }
}

/// SI.DIM.SHAPEEXPR-ERR: the error for a negative size.
pub(super) fn negative(size: i64) -> Stop {
    Stop::of_size(rule!("SI.DIM.SHAPEEXPR-ERR"), size, format!("a dimension is {size}"))
}

/// A variable without a value is excluded by the static checks, so the case is unspecified.
fn without_value(error: RuntimeError) -> Stop {
    if error.rule == rule!("SI.DIM.UNBOUND-ERR") { Stop::Unspecified(error.to_string()) } else { Stop::Error(error) }
}
