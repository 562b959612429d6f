//! The library of the machine (`R89.VM.BUILTINS`).

use super::heap::negative;
use super::{Machine, check};
use crate::grammar::{DataType, FuncStructInfo, PrimExpr, PrimValue, StructInfo, TensorData};
use crate::value::{Host, Prim, Scalar, Stop, Tensor, Value, boxed_truth_counts, count, readable};
use crate::vm::executable::{Constant, DimensionUse, How, Operand};
use crate::vm::request::{Request, Size};

impl<'m> Machine<'m> {
    /// Answers the library call of the current instruction.
    pub(super) fn builtin(&mut self) -> Result<Value, Stop> {
        let frame = self.frame()?;
        let (function, at) = (frame.function, frame.running);
        let requests = self.requests.clone();
        match requests.get(function).and_then(|requests| requests.get(at)?.as_ref()) {
            Some(Ok(request)) => self.answer(request),
            Some(Err(what)) => Err(self.wrong(what)),
            None => Err(self.wrong("nothing is asked of the library here")),
        }
    }

    fn answer(&mut self, request: &Request<'m>) -> Result<Value, Stop> {
        match request {
            Request::AllocShapeHeap { slots } => self.alloc_shape_heap(*slots),
            Request::CheckTensorInfo { value, rank, dtype } => {
                self.checked(*value, |v| check::tensor(v, *rank, *dtype).map(|_| ()))
            }
            Request::CheckShapeInfo { value, rank } => self.checked(*value, |v| check::shape(v, *rank).map(|_| ())),
            Request::CheckTupleInfo { value, fields } => self.checked(*value, |v| check::tuple(v, *fields).map(|_| ())),
            Request::CheckFuncInfo { value, wanted: (info, func) } => self.check_func_info(*value, info, func),
            Request::CheckPrimInfo { value, dtype } => {
                let checked = self.operand(*value).and_then(|v| check::prim(&v, *dtype)).map(|()| Value::unit());
                checked.map_err(|stop| check::restated(self.cx, stop))
            }
            Request::MatchShape { value, heap, rank, first, sizes } => {
                let (v, heap) = (self.operand(*value)?, self.heap_of(*heap)?);
                self.match_shape(&v, heap.as_ref(), *rank, *first, sizes)
            }
            Request::MatchPrimValue { value, heap, size } => {
                let matched = self.match_prim_value(*value, *heap, *size);
                matched.map_err(|stop| check::restated(self.cx, stop))
            }
            Request::MatchSameShape { value, shape } => self.match_same_shape(*value, *shape),
            Request::SettleDims { heap, flag, context, dims, slots } => {
                let heap = self.heap_of(*heap)?.ok_or_else(|| self.wrong("there is no heap"))?;
                self.settle_dims(&heap, *flag, *context, dims.iter().zip(slots))
            }
            Request::MakeShape { heap, sizes } => self.make_shape(*heap, sizes),
            Request::MakePrimValue { heap, size, dtype } => self.make_prim_value(*heap, *size, *dtype),
            Request::AllocTensor { heap, dtype, sizes } => self.alloc_tensor(*heap, *dtype, sizes),
            Request::Constant { constant: value } | Request::Copy { value } => self.operand(*value),
            Request::MakeTuple { fields } => self.operands(fields).and_then(|fields| self.account.tuple(fields)),
            Request::TupleGetItem { tuple, index } => self.operand(*tuple).and_then(|tuple| field(&tuple, *index)),
            Request::ReadIfCond { value } => self.operand(*value).and_then(|v| self.read_if_cond(&v)),
            Request::FindPacked { symbol } => self.found_packed(symbol).map(Value::PackedFunc),
            Request::MakeClosure { function, captured } => {
                self.operands(captured).and_then(|captured| self.make_closure(*function, captured))
            }
            Request::CurrentClosure => self.current_closure(),
            Request::Unspecified { reason } => Err(Stop::unspecified(reason.to_string())),
        }
    }

    // Constants.

    /// A constant as a value. EVAL.CONST.FRESH: each evaluation makes a new tensor.
    pub(super) fn constant(&mut self, index: u32) -> Result<Value, Stop> {
        let executable = self.executable;
        match executable.constants.get(index as usize) {
            Some(Constant::Tensor(data)) => self.fresh_tensor(data),
            Some(Constant::Once(data)) => self.tensor_made_once(index, data),
            Some(Constant::Prim(value)) => Ok(literal(value)),
            Some(Constant::Str(text)) => Ok(Value::Str(text.clone())),
            Some(Constant::DataType(dtype)) => Ok(Value::DataType(*dtype)),
            Some(Constant::Shape(sizes)) => Ok(Value::shape(sizes)),
            Some(Constant::StructInfo(_) | Constant::Dims(_)) | None => {
                Err(self.wrong(format!("c[{index}] is not a value")))
            }
        }
    }

    fn fresh_tensor(&mut self, data: &TensorData) -> Result<Value, Stop> {
        self.pay(data.shape.iter().product())?;
        let made = self.account.tensor(data)?;
        made.map(Value::Tensor).map_err(|error| Stop::unspecified(error.to_string()))
    }

    fn tensor_made_once(&mut self, index: u32, data: &TensorData) -> Result<Value, Stop> {
        if let Some(made) = self.made_once.get(&index) {
            return Ok(made.clone());
        }
        let made = self.fresh_tensor(data)?;
        self.made_once.insert(index, made.clone());
        Ok(made)
    }

    // Checks.

    fn checked(&mut self, value: Operand, check: impl FnOnce(&Value) -> Result<(), Stop>) -> Result<Value, Stop> {
        self.operand(value).and_then(|v| check(&v)).map(|()| Value::unit())
    }

    fn check_func_info(&mut self, v: Operand, info: &StructInfo, func: &FuncStructInfo) -> Result<Value, Stop> {
        let v = self.operand(v)?;
        self.check_func(&v, func, info).map(|()| Value::unit())
    }

    fn match_same_shape(&mut self, v: Operand, shape: Operand) -> Result<Value, Stop> {
        let (v, shape) = (self.operand(v)?, self.operand(shape)?);
        check::same_shape(&v, &shape).map(|()| Value::unit())
    }

    /// The heap, if there is one.
    fn heap_of(&mut self, operand: Operand) -> Result<Option<Tensor>, Stop> {
        if operand == Operand::Void {
            return Ok(None);
        }
        let heap = self.operand(operand)?;
        match heap.as_tensor().filter(|t| t.dtype() == DataType::INT64 && t.shape().len() == 1) {
            Some(heap) => Ok(Some(heap.clone())),
            None => Err(self.wrong(format!("{operand} is not a shape heap"))),
        }
    }

    /// R89.VM.STORESHAPE: stores sizes in slots, or compares them, one after the other.
    fn match_shape(
        &mut self,
        v: &Value,
        heap: Option<&Tensor>,
        rank: i64,
        first: usize,
        expected: &[Size],
    ) -> Result<Value, Stop> {
        let (sizes, of_tensor) = match v {
            Value::Tensor(t) => (t.shape(), true),
            Value::Shape(sizes) => (&**sizes, false),
            other => return Err(self.wrong(format!("{other} has no sizes"))),
        };
        check::length(sizes.len(), rank)?;
        for (index, (expected, size)) in expected.iter().zip(sizes.iter().skip(first)).enumerate() {
            match (expected, heap) {
                (Size { how: How::Store, what: slot }, Some(heap)) => {
                    let size = self.cx.conclude(rule!("R89.VM.STORESHAPE"), *size);
                    self.store(heap, *slot, size)?;
                }
                (Size { how, what }, heap) => {
                    let expected = self.read(heap, *how, *what)?;
                    check::size(first + index, expected, *size, of_tensor)?;
                }
            }
        }
        Ok(Value::unit())
    }

    /// PR14148.SI.PRIM.VALUE: stores the number of a boxed scalar in a slot, or compares it.
    fn match_prim_value(&mut self, v: Operand, heap: Operand, expected: Size) -> Result<Value, Stop> {
        let (v, heap) = (self.operand(v)?, self.heap_of(heap)?);
        let found = check::integer(&v)?;
        match (expected, &heap) {
            (Size { how: How::Store, what: slot }, Some(heap)) => {
                let found = self.cx.conclude(rule!("R89.VM.STORESHAPE"), found);
                self.store(heap, slot, found)?;
            }
            (Size { how, what }, heap) => check::same_integer(self.read(heap.as_ref(), how, what)?, found)?,
        }
        Ok(Value::unit())
    }

    /// Numbers and contents of slots, in order.
    fn sizes(&mut self, heap: Operand, sizes: &[Size]) -> Result<Vec<i64>, Stop> {
        let heap = self.heap_of(heap)?;
        sizes.iter().map(|size| self.read(heap.as_ref(), size.how, size.what)).collect()
    }

    fn settle_dims<'d>(
        &mut self,
        heap: &Tensor,
        flag: i64,
        context: DimensionUse,
        dims: impl Iterator<Item = (&'d PrimExpr, &'d i64)>,
    ) -> Result<Value, Stop> {
        if !self.fitted(heap, flag)? {
            for (dim, slot) in dims {
                let size = self.settled(dim, context)?;
                self.store(heap, *slot, size)?;
            }
        }
        Ok(Value::unit())
    }

    // Making values.

    /// EVAL.SHAPEEXPR: makes a new shape. SI.DIM.SHAPEEXPR-ERR: no size is negative.
    fn make_shape(&mut self, heap: Operand, sizes: &[Size]) -> Result<Value, Stop> {
        let sizes = self.sizes(heap, sizes)?;
        match sizes.iter().find(|size| **size < 0) {
            Some(size) => Err(negative(*size)),
            None => Ok(Value::shape(&sizes)),
        }
    }

    fn make_prim_value(&mut self, heap: Operand, size: Size, dtype: DataType) -> Result<Value, Stop> {
        let value = self.sizes(heap, &[size])?.first().copied().unwrap_or_default();
        Ok(boxed(dtype, value))
    }

    fn current_closure(&mut self) -> Result<Value, Stop> {
        let closure = self.frame()?.closure.clone();
        closure.map(Value::Closure).ok_or_else(|| self.wrong("no closure runs"))
    }

    /// OP.CALLTIR.ALLOC: makes a new tensor. OP.CALLTIR.DTYPE: it has the requested datatype.
    fn alloc_tensor(&mut self, heap: Operand, dtype: DataType, sizes: &[Size]) -> Result<Value, Stop> {
        let dims = self.sizes(heap, sizes)?;
        if dtype.is_void() {
            return Err(Stop::error(rule!("OP.CALLTIR.DTYPE"), "the type argument gives no data type"));
        }
        self.spend(count(&dims))?;
        let made = self.account.zeros(dtype, &dims)?;
        let made = made.map_err(|error| Stop::error(rule!("OP.CALLTIR.ALLOC"), error.to_string()))?;
        Ok(Value::Tensor(made.without_values()))
    }

    /// EVAL.IF.COND: the condition is a Boolean scalar.
    fn read_if_cond(&mut self, v: &Value) -> Result<Value, Stop> {
        if let Value::Object(_) | Value::PrimFunc(_) = v {
            let rule = rule!("VAL.OBJECT.UNUSABLE");
            return Err(Stop::error(rule, "an opaque object is used as a condition"));
        }
        readable(self, std::slice::from_ref(v))?;
        let boxed_counts = boxed_truth_counts(self.cx);
        let truth = check::truth(v).filter(|_| boxed_counts || v.as_tensor().is_some());
        let message = || format!("the condition is {v}, not a scalar tensor of data type bool");
        let truth = truth.ok_or_else(|| Stop::error(rule!("EVAL.IF.COND"), message()))?;
        Ok(Value::Prim(Prim { dtype: DataType::BOOL, value: Scalar::Bool(truth) }))
    }
}

/// EVAL.TGI: the field itself.
fn field(tuple: &Value, index: i64) -> Result<Value, Stop> {
    if let Value::Object(_) | Value::PrimFunc(_) = tuple {
        return Err(Stop::error(rule!("VAL.OBJECT.UNUSABLE"), "an opaque object is indexed as a tuple"));
    }
    let field =
        tuple.as_tuple().and_then(|t| t.fields().get(usize::try_from(index).ok()?)).cloned().map(Value::held_anew);
    field.ok_or_else(|| Stop::error(rule!("EVAL.TGI.COUNT"), format!("{tuple} has no field {index}")))
}

fn boxed(dtype: DataType, value: i64) -> Value {
    Value::Prim(Prim::integer(dtype, value))
}

fn literal(e: &PrimValue) -> Value {
    match (e.float, &e.value) {
        (Some(bits), _) => Value::Prim(Prim { dtype: e.dtype, value: Scalar::Float(bits.get()) }),
        (None, PrimExpr::IntImm(value)) => boxed(e.dtype, *value),
        (None, PrimExpr::Var(_) | PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..)) => boxed(e.dtype, 0),
    }
}
