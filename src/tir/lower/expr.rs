//! Lowers the AST to the tree that is interpreted: expressions.

use super::super::code::{Float, Int, LoweredBinding, TirValue};
use super::super::error::TirError;
use super::super::scalar::{Compare, FloatOp, IntOp, Repr, Test, binary, unary};
use super::{LowerResult, LoweredName, Lowering, Pair, called, malformed};
use crate::grammar::tir::{Binary, Call, Conditional, Expr, Intrinsic, LetExpr, Load, Var};
use crate::grammar::{BinaryOp, DataType};
use crate::number::FloatType;

impl Lowering {
    /// An expression whose value is an integer.
    pub(super) fn int(&mut self, e: &Expr) -> LowerResult<Int> {
        match self.value(e)? {
            TirValue::Int(e, _) => Ok(e),
            TirValue::Float(..) => malformed(format!("expected an integer, found a {}", e.dtype())),
        }
    }

    fn float(&mut self, e: &Expr) -> LowerResult<Float> {
        match self.value(e)? {
            TirValue::Float(e, _) => Ok(e),
            TirValue::Int(..) => malformed(format!("expected a float, found a {}", e.dtype())),
        }
    }

    /// A Boolean expression.
    pub(super) fn condition(&mut self, e: &Expr) -> LowerResult<Int> {
        match e.dtype() {
            DataType::BOOL => self.int(e),
            dtype => malformed(format!("expected a condition, found a {dtype}")),
        }
    }

    /// An expression that must have a data type.
    pub(super) fn value_of(&mut self, e: &Expr, dtype: DataType) -> LowerResult<TirValue> {
        match e.dtype() {
            found if found == dtype => self.value(e),
            // The result of such a call is unknown.
            _ if let Expr::Extern(call) = e => Err(TirError::Unsupported(called(call))),
            found => malformed(format!("expected a {dtype}, found a {found}")),
        }
    }

    pub(super) fn value(&mut self, e: &Expr) -> LowerResult<TirValue> {
        self.nested(|l| match e {
            Expr::Var(var) => l.var(var),
            Expr::Int(value, dtype) => match Repr::of(*dtype) {
                Some(repr) => Ok(TirValue::Int(Int::Const(repr.wrap(*value)), repr)),
                None => malformed(format!("{value} is not a {dtype}")),
            },
            Expr::Float(bits, dtype) => {
                let round = float_type(*dtype)?;
                Ok(TirValue::Float(Float::Const(round.round(bits.get()), round), round))
            }
            Expr::Str(_) | Expr::Data(_) => Err(TirError::Unsupported("handles as values".into())),
            Expr::Ramp(_) | Expr::Broadcast(..) | Expr::Shuffle(_) => {
                Err(TirError::Unsupported("vectors other than in stores".into()))
            }
            Expr::Binary(b) => l.binary(b),
            Expr::Not(e) => Ok(TirValue::Int(Int::Not(Box::new(l.condition(e)?)), int_type(DataType::BOOL)?)),
            Expr::Select(c) | Expr::IfThenElse(c) => l.choice(c),
            Expr::Cast(dtype, e) => l.cast(*dtype, e),
            Expr::Load(load) => l.load(load),
            Expr::Let(e) => l.let_expr(e),
            Expr::Call(c) => l.call(c),
            Expr::Extern(c) if let ("fma", [x, y, z]) = (&*c.op, c.args.as_slice()) => l.fma(x, y, z),
            Expr::Extern(c) if let ("q_multiply_shift", [x, y, places, shift]) = (&*c.op, c.args.as_slice()) => {
                let mut int = |e: &Expr| match e.dtype() {
                    DataType::INT32 => l.int(e),
                    dtype => malformed(format!("T.q_multiply_shift of a {dtype}")),
                };
                let operands = Box::new([int(x)?, int(y)?, int(places)?, int(shift)?]);
                Ok(TirValue::Int(Int::FixedPoint(operands), int_type(DataType::INT32)?))
            }
            Expr::Extern(c) => {
                let what = called(c).into();
                match c.dtype.float_type() {
                    Some(round) => Ok(TirValue::Float(Float::Unsupported(what), round)),
                    None => Ok(TirValue::Int(Int::Unsupported(what), int_type(c.dtype).or(int_type(DataType::INT64))?)),
                }
            }
        })
    }

    /// A product and a sum, rounded once.
    fn fma(&mut self, x: &Expr, y: &Expr, z: &Expr) -> LowerResult<TirValue> {
        let round = float_type(x.dtype())?;
        let (x, y, z) = (self.value_of(x, x.dtype())?, self.value_of(y, x.dtype())?, self.value_of(z, x.dtype())?);
        match (x, y, z) {
            (TirValue::Float(x, _), TirValue::Float(y, _), TirValue::Float(z, _)) => {
                Ok(TirValue::Float(Float::Fma(Box::new((x, y, z)), round), round))
            }
            (TirValue::Int(..) | TirValue::Float(..), _, _) => malformed("T.fma of integers"),
        }
    }

    fn var(&mut self, var: &Var) -> LowerResult<TirValue> {
        if let Some(LoweredName::Int(slot, dtype)) = self.lookup(&var.name)
            && *dtype == var.dtype
        {
            let (slot, repr) = (*slot, int_type(*dtype)?);
            self.uses(slot);
            return Ok(TirValue::Int(Int::Slot(slot), repr));
        }
        match self.lookup(&var.name) {
            Some(LoweredName::Float(slot, dtype)) if *dtype == var.dtype => {
                Ok(TirValue::Float(Float::Slot(*slot), float_type(*dtype)?))
            }
            Some(LoweredName::Int(_, dtype) | LoweredName::Float(_, dtype)) => {
                malformed(format!("`{}` is a {dtype}, used as a {}", var.name, var.dtype))
            }
            Some(LoweredName::Opaque) => Err(TirError::Unsupported("handles as values".into())),
            Some(LoweredName::Buffer { .. }) => malformed(format!("`{}` is a buffer", var.name)),
            None if self.binding => {
                let repr = int_type(var.dtype)?;
                let slot = self.int_var(var)?;
                self.shape_vars.push((slot, var.name.clone()));
                Ok(TirValue::Int(Int::Slot(slot), repr))
            }
            None => malformed(format!("no variable `{}` is in scope", var.name)),
        }
    }

    fn load(&mut self, load: &Load) -> LowerResult<TirValue> {
        let access = self.access(&load.buffer, &load.indices)?;
        match load.buffer.dtype.float_type() {
            Some(round) => Ok(TirValue::Float(Float::Load(access), round)),
            None => Ok(TirValue::Int(Int::Load(access), int_type(load.buffer.dtype)?)),
        }
    }

    /// Two expressions of one data type.
    fn pair(&mut self, a: &Expr, b: &Expr) -> LowerResult<Pair> {
        if a.dtype() != b.dtype() {
            if let (Expr::Extern(call), _) | (_, Expr::Extern(call)) = (a, b) {
                return Err(TirError::Unsupported(called(call)));
            }
            return malformed(format!("operands of the data types {} and {}", a.dtype(), b.dtype()));
        }
        match (self.value(a)?, self.value(b)?) {
            (TirValue::Int(a, repr), TirValue::Int(b, _)) => Ok(Pair::Int(Box::new((a, b)), repr)),
            (TirValue::Float(a, round), TirValue::Float(b, _)) => Ok(Pair::Float(Box::new((a, b)), round)),
            (TirValue::Int(..), TirValue::Float(..)) | (TirValue::Float(..), TirValue::Int(..)) => {
                malformed("operands of different kinds")
            }
        }
    }

    fn binary(&mut self, b: &Binary) -> LowerResult<TirValue> {
        if let BinaryOp::And | BinaryOp::Or = b.op {
            let operands = Box::new((self.condition(&b.a)?, self.condition(&b.b)?));
            let code = if b.op == BinaryOp::And { Int::And(operands) } else { Int::Or(operands) };
            return Ok(TirValue::Int(code, int_type(DataType::BOOL)?));
        }
        let pair = self.pair(&b.a, &b.b)?;
        if let Some(compare) = comparison(b.op) {
            let code = match pair {
                Pair::Int(operands, repr) => Int::Compare(compare, operands, repr),
                Pair::Float(operands, _) => Int::CompareFloats(compare, operands),
            };
            return Ok(TirValue::Int(code, int_type(DataType::BOOL)?));
        }
        let choice = if let BinaryOp::Min | BinaryOp::Max = b.op { self.choice_at(b) } else { None };
        Ok(match pair {
            Pair::Int(operands, repr) => TirValue::Int(int_binary(b.op, operands, repr, choice)?, repr),
            Pair::Float(operands, round) => TirValue::Float(float_binary(b.op, operands, round, choice)?, round),
        })
    }

    fn choice(&mut self, c: &Conditional) -> LowerResult<TirValue> {
        let condition = self.condition(&c.condition)?;
        let condition = self.noted(c, condition);
        Ok(match self.pair(&c.then, &c.otherwise)? {
            Pair::Int(sides, repr) => TirValue::Int(Int::Choice(Box::new((condition, sides.0, sides.1))), repr),
            Pair::Float(sides, round) => TirValue::Float(Float::Choice(Box::new((condition, sides.0, sides.1))), round),
        })
    }

    fn cast(&mut self, dtype: DataType, e: &Expr) -> LowerResult<TirValue> {
        let from = self.value(e)?;
        if let Some(to) = dtype.float_type() {
            let code = match from {
                TirValue::Int(e, repr) => Float::FromInt(Box::new(e), repr, to),
                TirValue::Float(e, from) => Float::Round(Box::new(e), from, to),
            };
            return Ok(TirValue::Float(code, to));
        }
        let to = int_type(dtype)?;
        let code = match from {
            // A number as a Boolean says whether it is nonzero.
            TirValue::Int(e, _) if dtype.is_bool() => Int::Nonzero(Box::new(e)),
            TirValue::Float(e, _) if dtype.is_bool() => Int::Test(Test::Nonzero, Box::new(e)),
            TirValue::Int(e, _) => Int::Wrap(Box::new(e), to),
            TirValue::Float(e, _) => Int::Truncate(Box::new(e), to, dtype),
        };
        Ok(TirValue::Int(code, to))
    }

    fn let_expr(&mut self, e: &LetExpr) -> LowerResult<TirValue> {
        let value = self.value_of(&e.value, e.var.dtype)?;
        self.scoped(|l| {
            let binding = match value {
                TirValue::Int(value, _) => LoweredBinding::Int(l.int_var(&e.var)?, value),
                TirValue::Float(value, _) => {
                    let slot = l.float_slot();
                    l.define(&e.var.name, LoweredName::Float(slot, e.var.dtype));
                    LoweredBinding::Float(slot, value)
                }
            };
            Ok(match l.value(&e.body)? {
                TirValue::Int(body, repr) => TirValue::Int(Int::Let(Box::new((binding, body))), repr),
                TirValue::Float(body, round) => TirValue::Float(Float::Let(Box::new((binding, body))), round),
            })
        })
    }

    fn call(&mut self, c: &Call) -> LowerResult<TirValue> {
        match c.args.as_slice() {
            [a] => self.call_unary(c, a),
            [a, b] if c.op == Intrinsic::Ldexp => {
                let round = float_type(c.dtype)?;
                let operands = Box::new((self.float(a)?, self.int(b)?));
                Ok(TirValue::Float(Float::Scale(operands, round), round))
            }
            [a, b] => self.call_binary(c, a, b),
            _ => malformed(format!("T.{} does not take {} operands", c.op.name(), c.args.len())),
        }
    }

    fn call_unary(&mut self, c: &Call, a: &Expr) -> LowerResult<TirValue> {
        let test = |test, e: Float| Ok(TirValue::Int(Int::Test(test, Box::new(e)), int_type(DataType::BOOL)?));
        match (c.op, self.value(a)?) {
            (Intrinsic::Isnan, TirValue::Float(e, _)) => test(Test::Nan, e),
            (Intrinsic::Isinf, TirValue::Float(e, _)) => test(Test::Infinite, e),
            (Intrinsic::Isfinite, TirValue::Float(e, _)) => test(Test::Finite, e),
            (Intrinsic::Reinterpret, e) => reinterpret(e, c.dtype),
            (Intrinsic::Popcount, TirValue::Int(e, repr)) => Ok(TirValue::Int(Int::Popcount(Box::new(e), repr), repr)),
            (Intrinsic::Clz, TirValue::Int(e, repr)) => Ok(TirValue::Int(Int::LeadingZeros(Box::new(e), repr), repr)),
            (Intrinsic::BitwiseNot, TirValue::Int(e, repr)) => Ok(TirValue::Int(Int::BitNot(Box::new(e), repr), repr)),
            // An integer is its own rounding.
            (
                Intrinsic::Likely | Intrinsic::Floor | Intrinsic::Ceil | Intrinsic::Round | Intrinsic::Trunc,
                e @ TirValue::Int(..),
            ) => Ok(e),
            (op, TirValue::Float(e, round)) => match unary(op) {
                Some(function) => Ok(TirValue::Float(Float::Unary(function, Box::new(e), round), round)),
                None => malformed(format!("T.{} of a {}", op.name(), a.dtype())),
            },
            (op, TirValue::Int(..)) => malformed(format!("T.{} of a {}", op.name(), a.dtype())),
        }
    }

    fn call_binary(&mut self, c: &Call, a: &Expr, b: &Expr) -> LowerResult<TirValue> {
        match self.pair(a, b)? {
            Pair::Float(operands, round) => match binary(c.op, round) {
                Some(function) => Ok(TirValue::Float(Float::Binary2(function, operands, round), round)),
                None => Err(TirError::Unsupported(format!("T.{} of {}", c.op.name(), a.dtype()))),
            },
            Pair::Int(operands, repr) => {
                let code = match c.op {
                    Intrinsic::BitwiseAnd => Int::Binary(IntOp::BitAnd, operands, repr),
                    Intrinsic::BitwiseOr => Int::Binary(IntOp::BitOr, operands, repr),
                    Intrinsic::BitwiseXor => Int::Binary(IntOp::BitXor, operands, repr),
                    Intrinsic::ShiftLeft => Int::Shift { left: true, operands, repr, dtype: c.dtype },
                    Intrinsic::ShiftRight => Int::Shift { left: false, operands, repr, dtype: c.dtype },
                    op => return Err(TirError::Unsupported(format!("T.{} of {}", op.name(), a.dtype()))),
                };
                Ok(TirValue::Int(code, repr))
            }
        }
    }
}

fn int_type(dtype: DataType) -> LowerResult<Repr> {
    Repr::of(dtype).ok_or_else(|| TirError::Unsupported(format!("values of type {dtype}")))
}

fn float_type(dtype: DataType) -> LowerResult<FloatType> {
    dtype.float_type().ok_or_else(|| TirError::Unsupported(format!("values of type {dtype}")))
}

fn reinterpret(from: TirValue, dtype: DataType) -> LowerResult<TirValue> {
    match (from, Repr::of(dtype), dtype.float_type()) {
        (TirValue::Int(e, from), Some(to), _) if from.bits() == to.bits() => {
            Ok(TirValue::Int(Int::Wrap(Box::new(e), to), to))
        }
        (TirValue::Float(e, from), Some(to), _) if i64::from(from.width()) == to.bits() => {
            Ok(TirValue::Int(Int::Bits(Box::new(e), from, to), to))
        }
        (TirValue::Int(e, from), _, Some(to)) if from.bits() == i64::from(to.width()) => {
            Ok(TirValue::Float(Float::FromBits(Box::new(e), to), to))
        }
        (TirValue::Float(e, from), _, Some(to)) if from == to => Ok(TirValue::Float(e, to)),
        (TirValue::Int(..) | TirValue::Float(..), _, _) => {
            malformed(format!("T.reinterpret of another width as {dtype}"))
        }
    }
}

fn comparison(op: BinaryOp) -> Option<Compare> {
    match op {
        BinaryOp::Eq => Some(Compare::Eq),
        BinaryOp::Ne => Some(Compare::Ne),
        BinaryOp::Lt => Some(Compare::Lt),
        BinaryOp::Le => Some(Compare::Le),
        BinaryOp::Gt => Some(Compare::Gt),
        BinaryOp::Ge => Some(Compare::Ge),
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Mod
        | BinaryOp::FloorDiv
        | BinaryOp::FloorMod
        | BinaryOp::Min
        | BinaryOp::Max
        | BinaryOp::And
        | BinaryOp::Or => None,
    }
}

fn int_binary(op: BinaryOp, operands: Box<(Int, Int)>, repr: Repr, choice: Option<usize>) -> LowerResult<Int> {
    let op = match op {
        BinaryOp::Add => return Ok(Int::Add(operands, repr)),
        BinaryOp::Sub => return Ok(Int::Sub(operands, repr)),
        BinaryOp::Mul => return Ok(Int::Mul(operands, repr)),
        BinaryOp::Div => IntOp::Div,
        BinaryOp::Mod => IntOp::Mod,
        BinaryOp::FloorDiv => IntOp::FloorDiv,
        BinaryOp::FloorMod => IntOp::FloorMod,
        BinaryOp::Min => IntOp::Min,
        BinaryOp::Max => IntOp::Max,
        BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Eq
        | BinaryOp::Ne
        | BinaryOp::Lt
        | BinaryOp::Le
        | BinaryOp::Gt
        | BinaryOp::Ge => return malformed("a condition as a number"),
    };
    Ok(match choice {
        Some(choice) => Int::Picked(choice, op, operands, repr),
        None => Int::Binary(op, operands, repr),
    })
}

fn float_binary(
    op: BinaryOp,
    operands: Box<(Float, Float)>,
    round: FloatType,
    choice: Option<usize>,
) -> LowerResult<Float> {
    let op = match op {
        BinaryOp::Add => return Ok(Float::Add(operands, round)),
        BinaryOp::Sub => return Ok(Float::Sub(operands, round)),
        BinaryOp::Mul => return Ok(Float::Mul(operands, round)),
        BinaryOp::Div => return Ok(Float::Div(operands, round)),
        BinaryOp::Mod => FloatOp::Mod,
        BinaryOp::FloorDiv => FloatOp::FloorDiv,
        BinaryOp::FloorMod => FloatOp::FloorMod,
        BinaryOp::Min => FloatOp::Min,
        BinaryOp::Max => FloatOp::Max,
        BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Eq
        | BinaryOp::Ne
        | BinaryOp::Lt
        | BinaryOp::Le
        | BinaryOp::Gt
        | BinaryOp::Ge => return malformed("a condition as a number"),
    };
    Ok(match choice {
        Some(choice) => Float::Picked(choice, op, operands, round),
        None => Float::Binary(op, operands, round),
    })
}
