//! The library of the machine (`R89.VM.BUILTINS`).

use super::heap::negative;
use super::link::Linked;
use super::{Machine, check};
use crate::grammar::{DataType, Name, PrimExpr, PrimValue, StructInfo, TensorData};
use crate::value::{Host, Prim, Scalar, Stop, Tensor, Value, boxed_truth_counts, count, readable};
use crate::vm::executable::{Builtin, Constant, Context, How, Operand};

impl<'m> Machine<'m> {
    pub(super) fn builtin(&mut self, builtin: Builtin, args: &[Operand]) -> Result<Value, Stop> {
        match (builtin, args) {
            (Builtin::AllocShapeHeap, [Operand::Immediate(slots)]) => self.alloc_shape_heap(*slots),
            (Builtin::CheckTensorInfo, [v, Operand::Immediate(rank), dtype]) => self.check_tensor(*v, *rank, *dtype),
            (Builtin::CheckShapeInfo, [v, Operand::Immediate(rank)]) => {
                let v = self.operand(*v)?;
                check::shape(&v, *rank).map(|_| Value::unit())
            }
            (Builtin::CheckTupleInfo, [v, Operand::Immediate(fields)]) => {
                let v = self.operand(*v)?;
                check::tuple(&v, *fields).map(|_| Value::unit())
            }
            (Builtin::CheckFuncInfo, [v, Operand::Constant(info)]) => self.check_func_info(*v, *info),
            (Builtin::CheckPrimInfo, [v, Operand::Constant(dtype)]) => {
                let (v, dtype) = (self.operand(*v)?, self.dtype_constant(*dtype)?);
                let checked = check::prim(&v, dtype).map(|()| Value::unit());
                checked.map_err(|stop| check::restated(self.cx, stop))
            }
            (Builtin::MatchShape, [v, heap, Operand::Immediate(rank), Operand::Immediate(first), codes @ ..]) => {
                self.match_shape(*v, *heap, *rank, *first, codes)
            }
            (Builtin::MatchPrimValue, [v, heap, how @ Operand::Immediate(_), what @ Operand::Immediate(_)]) => {
                let matched = self.match_prim_value(*v, *heap, &[*how, *what]);
                matched.map_err(|stop| check::restated(self.cx, stop))
            }
            (Builtin::MatchSameShape, [v, shape]) => {
                let (v, shape) = (self.operand(*v)?, self.operand(*shape)?);
                check::same_shape(&v, &shape).map(|()| Value::unit())
            }
            (
                Builtin::SettleDims,
                [heap, Operand::Immediate(flag), Operand::Immediate(context), Operand::Constant(dims), slots @ ..],
            ) => self.settle_dims(*heap, *flag, *context, *dims, slots),
            (Builtin::MakeShape, [heap, codes @ ..]) => self.make_shape(*heap, codes),
            (
                Builtin::MakePrimValue,
                [heap, how @ Operand::Immediate(_), what @ Operand::Immediate(_), Operand::Constant(dtype)],
            ) => {
                let value = self.sizes(*heap, &[*how, *what])?.first().copied().unwrap_or_default();
                Ok(boxed(self.dtype_constant(*dtype)?, value))
            }
            (Builtin::AllocTensor, [heap, Operand::Constant(dtype), codes @ ..]) => {
                let (dims, dtype) = (self.sizes(*heap, codes)?, self.dtype_constant(*dtype)?);
                self.alloc_tensor(&dims, dtype)
            }
            (Builtin::Constant, [constant]) => self.operand(*constant),
            (Builtin::MakeTuple, fields) => Ok(Value::tuple(self.operands(fields)?)),
            (Builtin::TupleGetItem, [tuple, Operand::Immediate(index)]) => {
                let tuple = self.operand(*tuple)?;
                field(&tuple, *index)
            }
            (Builtin::ReadIfCond, [v]) => {
                let v = self.operand(*v)?;
                self.read_if_cond(&v)
            }
            (Builtin::Copy, [v]) => self.operand(*v),
            (Builtin::FindPacked, [Operand::Constant(symbol)]) => {
                let symbol = self.string(*symbol)?;
                self.found_packed(&symbol).map(Value::PackedFunc)
            }
            (Builtin::MakeClosure, [Operand::Callee(function), captured @ ..]) => {
                let captured = self.operands(captured)?;
                match self.callees.get(*function as usize) {
                    Some(Linked::Function(index)) => self.make_closure(*index, captured),
                    Some(_) | None => Err(self.wrong("a closure is made of what is no function of the executable")),
                }
            }
            (Builtin::CurrentClosure, []) => {
                let closure = self.frame()?.closure.clone();
                closure.map(Value::Closure).ok_or_else(|| self.wrong("no closure runs"))
            }
            (Builtin::Unspecified, [Operand::Constant(reason)]) => {
                Err(Stop::unspecified(self.string(*reason)?.to_string()))
            }
            (
                Builtin::AllocShapeHeap
                | Builtin::CheckTensorInfo
                | Builtin::CheckShapeInfo
                | Builtin::CheckTupleInfo
                | Builtin::CheckFuncInfo
                | Builtin::CheckPrimInfo
                | Builtin::MatchShape
                | Builtin::MatchPrimValue
                | Builtin::MatchSameShape
                | Builtin::SettleDims
                | Builtin::MakeShape
                | Builtin::MakePrimValue
                | Builtin::AllocTensor
                | Builtin::Constant
                | Builtin::TupleGetItem
                | Builtin::ReadIfCond
                | Builtin::Copy
                | Builtin::FindPacked
                | Builtin::MakeClosure
                | Builtin::CurrentClosure
                | Builtin::Unspecified,
                _,
            ) => Err(self.wrong(format!("{} takes other arguments", builtin.name()))),
        }
    }

    // Constants.

    /// A constant as a value. EVAL.CONST.FRESH: a tensor is made anew each time.
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

    fn string(&self, index: u32) -> Result<Name, Stop> {
        match self.executable.constants.get(index as usize) {
            Some(Constant::Str(text)) => Ok(text.clone()),
            Some(_) | None => Err(self.wrong(format!("c[{index}] is not a string"))),
        }
    }

    fn dtype_constant(&self, index: u32) -> Result<DataType, Stop> {
        match self.executable.constants.get(index as usize) {
            Some(Constant::DataType(dtype)) => Ok(*dtype),
            Some(_) | None => Err(self.wrong(format!("c[{index}] is not a data type"))),
        }
    }

    fn info_constant(&self, index: u32) -> Result<&'m StructInfo, Stop> {
        match self.executable.constants.get(index as usize) {
            Some(Constant::StructInfo(info)) => Ok(info),
            Some(_) | None => Err(self.wrong(format!("c[{index}] is not structural information"))),
        }
    }

    // Checks.

    fn check_tensor(&mut self, v: Operand, rank: i64, dtype: Operand) -> Result<Value, Stop> {
        let dtype = match dtype {
            Operand::Void => None,
            Operand::Constant(dtype) => Some(self.dtype_constant(dtype)?),
            Operand::Register(_) | Operand::Immediate(_) | Operand::Callee(_) => {
                return Err(self.wrong("a data type is a constant"));
            }
        };
        let v = self.operand(v)?;
        check::tensor(&v, rank, dtype).map(|_| Value::unit())
    }

    fn check_func_info(&mut self, v: Operand, info: u32) -> Result<Value, Stop> {
        let (v, info) = (self.operand(v)?, self.info_constant(info)?);
        if let StructInfo::Func(f) = info {
            self.check_func(&v, f, info).map(|()| Value::unit())
        } else {
            Err(self.wrong("the information is not that of a function"))
        }
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

    /// R89.VM.STORESHAPE: sizes are stored in slots, or compared with what is known, one after the other.
    fn match_shape(
        &mut self,
        v: Operand,
        heap: Operand,
        rank: i64,
        first: i64,
        codes: &[Operand],
    ) -> Result<Value, Stop> {
        let (v, heap) = (self.operand(v)?, self.heap_of(heap)?);
        let (sizes, of_tensor) = match &v {
            Value::Tensor(t) => (t.shape(), true),
            Value::Shape(sizes) => (&**sizes, false),
            other => return Err(self.wrong(format!("{other} has no sizes"))),
        };
        check::length(sizes.len(), rank)?;
        let first = usize::try_from(first).unwrap_or(usize::MAX);
        for (index, (code, size)) in codes.chunks(2).zip(sizes.iter().skip(first)).enumerate() {
            match (self.code(code)?, &heap) {
                ((How::Store, slot), Some(heap)) => {
                    let size = self.cx.conclude(rule!("R89.VM.STORESHAPE"), *size);
                    self.store(heap, slot, size)?;
                }
                ((how, what), heap) => {
                    let expected = self.read(heap.as_ref(), how, what)?;
                    check::size(first + index, expected, *size, of_tensor)?;
                }
            }
        }
        Ok(Value::unit())
    }

    /// PR14148.SI.PRIM.VALUE: the number in a box is stored in a slot, or compared.
    fn match_prim_value(&mut self, v: Operand, heap: Operand, code: &[Operand]) -> Result<Value, Stop> {
        let (v, heap) = (self.operand(v)?, self.heap_of(heap)?);
        let found = check::integer(&v)?;
        match (self.code(code)?, &heap) {
            ((How::Store, slot), Some(heap)) => {
                let found = self.cx.conclude(rule!("R89.VM.STORESHAPE"), found);
                self.store(heap, slot, found)?;
            }
            ((how, what), heap) => check::same_integer(self.read(heap.as_ref(), how, what)?, found)?,
        }
        Ok(Value::unit())
    }

    fn code(&self, code: &[Operand]) -> Result<(How, i64), Stop> {
        match code {
            [Operand::Immediate(how), Operand::Immediate(what)] => match How::of_code(*how) {
                Some(how) => Ok((how, *what)),
                None => Err(self.wrong(format!("{how} is no way to take part"))),
            },
            [] | [_, ..] => Err(self.wrong("sizes are given as pairs of numbers")),
        }
    }

    /// Numbers and what is in slots, in order.
    fn sizes(&mut self, heap: Operand, codes: &[Operand]) -> Result<Vec<i64>, Stop> {
        let heap = self.heap_of(heap)?;
        codes
            .chunks(2)
            .map(|code| self.code(code).and_then(|(how, what)| self.read(heap.as_ref(), how, what)))
            .collect()
    }

    fn settle_dims(
        &mut self,
        heap: Operand,
        flag: i64,
        context: i64,
        dims: u32,
        slots: &[Operand],
    ) -> Result<Value, Stop> {
        let Some(heap) = self.heap_of(heap)? else { return Err(self.wrong("there is no heap")) };
        if self.fitted(&heap, flag)? {
            return Ok(Value::unit());
        }
        let context = Context::of_code(context).ok_or_else(|| self.wrong(format!("{context} is no context")))?;
        let executable = self.executable;
        let Some(Constant::Dims(dims)) = executable.constants.get(dims as usize) else {
            return Err(self.wrong(format!("c[{dims}] is not a list of dimensions")));
        };
        for (dim, slot) in dims.iter().zip(slots) {
            self.settle(&heap, dim, context, *slot)?;
        }
        Ok(Value::unit())
    }

    fn settle(&mut self, heap: &Tensor, dim: &PrimExpr, context: Context, slot: Operand) -> Result<(), Stop> {
        let Operand::Immediate(slot) = slot else { return Err(self.wrong("a slot is a number")) };
        let size = self.settled(dim, context)?;
        self.store(heap, slot, size)
    }

    // Making values.

    /// EVAL.SHAPEEXPR: a new shape. SI.DIM.SHAPEEXPR-ERR: no size is negative.
    fn make_shape(&mut self, heap: Operand, codes: &[Operand]) -> Result<Value, Stop> {
        let sizes = self.sizes(heap, codes)?;
        match sizes.iter().find(|size| **size < 0) {
            Some(size) => Err(negative(*size)),
            None => Ok(Value::shape(&sizes)),
        }
    }

    /// OP.CALLTIR.ALLOC: a new tensor. OP.CALLTIR.DTYPE: of the data type that is asked for.
    fn alloc_tensor(&mut self, dims: &[i64], dtype: DataType) -> Result<Value, Stop> {
        if dtype.is_void() {
            return Err(Stop::error(rule!("OP.CALLTIR.DTYPE"), "the type argument gives no data type"));
        }
        self.spend(count(dims))?;
        let made = self.account.zeros(dtype, dims)?;
        let made = made.map_err(|error| Stop::error(rule!("OP.CALLTIR.ALLOC"), error.to_string()))?;
        Ok(Value::Tensor(made.without_values()))
    }

    /// EVAL.IF.COND: a Boolean scalar.
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
    let field = tuple.as_tuple().and_then(|t| t.fields().get(usize::try_from(index).ok()?)).cloned();
    field.ok_or_else(|| Stop::error(rule!("EVAL.TGI.COUNT"), format!("{tuple} has no field {index}")))
}

fn boxed(dtype: DataType, value: i64) -> Value {
    let value = if dtype == DataType::BOOL { Scalar::Bool(value != 0) } else { Scalar::Int(value) };
    Value::Prim(Prim { dtype, value })
}

fn literal(e: &PrimValue) -> Value {
    match (e.float, &e.value) {
        (Some(bits), _) => Value::Prim(Prim { dtype: e.dtype, value: Scalar::Float(bits.get()) }),
        (None, PrimExpr::IntImm(value)) => boxed(e.dtype, *value),
        (None, PrimExpr::Var(_) | PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..)) => boxed(e.dtype, 0),
    }
}
