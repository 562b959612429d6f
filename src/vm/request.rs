//! A call of the library, with its operands decoded by their purpose.
//!
//! The verifier rejects calls without such a form. A run decodes each call once, when it is loaded.

use super::executable::{Builtin, Callee, Constant, DimensionUse, Executable, How, Operand};
use crate::grammar::{DataType, FuncStructInfo, Name, PrimExpr, StructInfo};

/// A call of a library function. An [`Operand`] in it is a value, or the shape heap, which exists only at run time.
#[derive(Clone, Debug)]
pub(super) enum Request<'e> {
    AllocShapeHeap { slots: i64 },
    CheckTensorInfo { value: Operand, rank: i64, dtype: Option<DataType> },
    CheckShapeInfo { value: Operand, rank: i64 },
    CheckTupleInfo { value: Operand, fields: i64 },
    CheckFuncInfo { value: Operand, wanted: (&'e StructInfo, &'e FuncStructInfo) },
    CheckPrimInfo { value: Operand, dtype: DataType },
    MatchShape { value: Operand, heap: Operand, rank: i64, first: usize, sizes: Vec<Size> },
    MatchPrimValue { value: Operand, heap: Operand, size: Size },
    MatchSameShape { value: Operand, shape: Operand },
    SettleDims { heap: Operand, flag: i64, context: DimensionUse, dims: &'e [PrimExpr], slots: Vec<i64> },
    MakeShape { heap: Operand, sizes: Vec<Size> },
    MakePrimValue { heap: Operand, size: Size, dtype: DataType },
    AllocTensor { heap: Operand, dtype: DataType, sizes: Vec<Size> },
    Constant { constant: Operand },
    MakeTuple { fields: &'e [Operand] },
    TupleGetItem { tuple: Operand, index: i64 },
    ReadIfCond { value: Operand },
    Copy { value: Operand },
    FindPacked { symbol: &'e Name },
    MakeClosure { function: usize, captured: &'e [Operand] },
    CurrentClosure,
    Unspecified { reason: &'e Name },
}

/// A number or a slot of the shape heap, with its role.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Size {
    pub(super) how: How,
    pub(super) what: i64,
}

/// Decoded operands, or a message about their fault.
pub(super) type Decoded<T> = Result<T, String>;

impl<'e> Request<'e> {
    /// The request of a call of a library function.
    pub(super) fn of(executable: &'e Executable, builtin: Builtin, args: &'e [Operand]) -> Decoded<Request<'e>> {
        let mut a = Left { executable, builtin, operands: args };
        let request = match builtin {
            Builtin::AllocShapeHeap => Request::AllocShapeHeap { slots: a.number()? },
            Builtin::CheckTensorInfo => {
                Request::CheckTensorInfo { value: a.next()?, rank: a.number()?, dtype: a.dtype_or_none()? }
            }
            Builtin::CheckShapeInfo => Request::CheckShapeInfo { value: a.next()?, rank: a.number()? },
            Builtin::CheckTupleInfo => Request::CheckTupleInfo { value: a.next()?, fields: a.number()? },
            Builtin::CheckFuncInfo => Request::CheckFuncInfo { value: a.next()?, wanted: a.func_info()? },
            Builtin::CheckPrimInfo => Request::CheckPrimInfo { value: a.next()?, dtype: a.dtype()? },
            Builtin::MatchShape => {
                let (value, heap, rank, first) = (a.next()?, a.next()?, a.number()?, a.number()?);
                let first = usize::try_from(first).unwrap_or(usize::MAX);
                Request::MatchShape { value, heap, rank, first, sizes: a.sizes()? }
            }
            Builtin::MatchPrimValue => Request::MatchPrimValue { value: a.next()?, heap: a.next()?, size: a.size()? },
            Builtin::MatchSameShape => Request::MatchSameShape { value: a.next()?, shape: a.next()? },
            Builtin::SettleDims => a.dims_to_settle()?,
            Builtin::MakeShape => Request::MakeShape { heap: a.next()?, sizes: a.sizes()? },
            Builtin::MakePrimValue => Request::MakePrimValue { heap: a.next()?, size: a.size()?, dtype: a.dtype()? },
            Builtin::AllocTensor => Request::AllocTensor { heap: a.next()?, dtype: a.dtype()?, sizes: a.sizes()? },
            Builtin::Constant => Request::Constant { constant: a.next()? },
            Builtin::MakeTuple => Request::MakeTuple { fields: a.rest() },
            Builtin::TupleGetItem => Request::TupleGetItem { tuple: a.next()?, index: a.number()? },
            Builtin::ReadIfCond => Request::ReadIfCond { value: a.next()? },
            Builtin::Copy => Request::Copy { value: a.next()? },
            Builtin::FindPacked => Request::FindPacked { symbol: a.text()? },
            Builtin::MakeClosure => Request::MakeClosure { function: a.function()?, captured: a.rest() },
            Builtin::CurrentClosure => Request::CurrentClosure,
            Builtin::Unspecified => Request::Unspecified { reason: a.text()? },
        };
        if a.operands.is_empty() { Ok(request) } else { Err(a.others()) }
    }
}

/// The operands that are not decoded yet.
struct Left<'e> {
    executable: &'e Executable,
    builtin: Builtin,
    operands: &'e [Operand],
}

impl<'e> Left<'e> {
    fn others(&self) -> String {
        format!("{} takes other arguments", self.builtin.name())
    }

    fn next(&mut self) -> Decoded<Operand> {
        let (operand, left) = self.operands.split_first().ok_or_else(|| self.others())?;
        self.operands = left;
        Ok(*operand)
    }

    fn rest(&mut self) -> &'e [Operand] {
        std::mem::take(&mut self.operands)
    }

    fn number(&mut self) -> Decoded<i64> {
        if let Operand::Immediate(number) = self.next()? { Ok(number) } else { Err(self.others()) }
    }

    /// A constant, with its name.
    fn constant(&mut self) -> Decoded<(Option<&'e Constant>, String)> {
        let Operand::Constant(index) = self.next()? else { return Err(self.others()) };
        Ok((self.executable.constants.get(index as usize), format!("c[{index}]")))
    }

    fn dtype(&mut self) -> Decoded<DataType> {
        let (constant, name) = self.constant()?;
        if let Some(Constant::DataType(dtype)) = constant {
            Ok(*dtype)
        } else {
            Err(format!("{name} is not a data type"))
        }
    }

    fn dtype_or_none(&mut self) -> Decoded<Option<DataType>> {
        match self.operands.first() {
            Some(Operand::Void) => self.next().map(|_| None),
            Some(Operand::Constant(_)) | None => self.dtype().map(Some),
            Some(Operand::Register(_) | Operand::Immediate(_) | Operand::Callee(_)) => {
                Err("a data type is a constant".to_string())
            }
        }
    }

    fn text(&mut self) -> Decoded<&'e Name> {
        let (constant, name) = self.constant()?;
        if let Some(Constant::Str(text)) = constant { Ok(text) } else { Err(format!("{name} is not a string")) }
    }

    /// The information of a function, in both representations.
    fn func_info(&mut self) -> Decoded<(&'e StructInfo, &'e FuncStructInfo)> {
        let (constant, name) = self.constant()?;
        let Some(Constant::StructInfo(info)) = constant else {
            return Err(format!("{name} is not structural information"));
        };
        let func = info.as_func().ok_or("the information is not that of a function")?;
        Ok((info, func))
    }

    /// An entry of the function table for a function of the executable.
    fn function(&mut self) -> Decoded<usize> {
        let Operand::Callee(entry) = self.next()? else { return Err(self.others()) };
        if let Some(Callee::Function(index)) = self.executable.callees.get(entry as usize) {
            Ok(*index as usize)
        } else {
            Err("a closure is made of what is no function of the executable".to_string())
        }
    }

    fn size(&mut self) -> Decoded<Size> {
        let pair = "sizes are given as pairs of numbers";
        let (how, what) = (self.number().map_err(|_| pair)?, self.number().map_err(|_| pair)?);
        let how = How::of_code(how).ok_or_else(|| format!("{how} is no way to take part"))?;
        Ok(Size { how, what })
    }

    /// All remaining operands, as sizes.
    fn sizes(&mut self) -> Decoded<Vec<Size>> {
        let mut sizes = Vec::with_capacity(self.operands.len() / 2);
        while !self.operands.is_empty() {
            sizes.push(self.size()?);
        }
        Ok(sizes)
    }

    /// `(heap, flag slot or -1, context, dimensions, slot..)`.
    fn dims_to_settle(&mut self) -> Decoded<Request<'e>> {
        let (heap, flag, context) = (self.next()?, self.number()?, self.number()?);
        let context = DimensionUse::of_code(context).ok_or_else(|| format!("{context} is no context"))?;
        let (constant, name) = self.constant()?;
        let Some(Constant::Dims(dims)) = constant else { return Err(format!("{name} is not a list of dimensions")) };
        let slot = |operand: &Operand| {
            if let Operand::Immediate(slot) = operand { Ok(*slot) } else { Err("a slot is a number") }
        };
        let slots = self.rest().iter().map(slot).collect::<Result<_, _>>()?;
        Ok(Request::SettleDims { heap, flag, context, dims, slots })
    }
}
