//! Arithmetic on single values, by data type.

use super::error::{TirError, TirResult};
use crate::grammar::tir::Intrinsic;
use crate::grammar::{DataType, TypeCode};
use std::cmp::Ordering;

use crate::number::real::{BinaryFunction, Function, Real, Unordered};
use crate::number::{FloatType, elementary};
use crate::value::Scalar;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum IntOp {
    Div,
    Mod,
    FloorDiv,
    FloorMod,
    Min,
    Max,
    BitAnd,
    BitOr,
    BitXor,
}

#[derive(Clone, Copy)]
pub(super) enum FloatOp {
    Mod,
    FloorDiv,
    FloorMod,
    Min,
    Max,
}

#[derive(Clone, Copy)]
pub(super) enum Test {
    Nan,
    Infinite,
    Finite,
    Nonzero,
}

/// The integers of a data type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Repr {
    /// 64 less the width.
    shift: u8,
    signed: bool,
}

impl Repr {
    /// `None` for a data type that is not one integer of 1 to 64 bits.
    pub fn of(dtype: DataType) -> Option<Repr> {
        let signed = match dtype.code {
            TypeCode::Int => true,
            TypeCode::UInt => false,
            TypeCode::Float | TypeCode::BFloat | TypeCode::Small(_) | TypeCode::Handle => return None,
        };
        let bits = u8::try_from(dtype.bits).ok().filter(|bits| (1..=64).contains(bits))?;
        (dtype.lanes == 1).then_some(Repr { shift: 64 - bits, signed })
    }

    /// An integer that is held as an i64, as a value.
    pub fn scalar(self, value: i64) -> Scalar {
        match (self.signed, self.shift) {
            (true, _) => Scalar::Int(value),
            (false, 63) => Scalar::Bool(value != 0),
            (false, _) => Scalar::UInt(value as u64),
        }
    }

    pub fn is_signed(self) -> bool {
        self.signed
    }

    pub fn bits(self) -> i64 {
        64 - i64::from(self.shift)
    }

    /// The integer of this data type with the low bits of `value`.
    #[inline]
    pub fn wrap(self, value: i64) -> i64 {
        if self.signed {
            value << self.shift >> self.shift
        } else {
            ((value as u64) << self.shift >> self.shift) as i64
        }
    }

    /// Whether a value can be represented in this data type.
    pub fn holds(self, value: i128) -> bool {
        let wrapped = self.wrap(value as i64);
        let exact = if self.signed { i128::from(wrapped) } else { i128::from(wrapped as u64) };
        exact == value
    }

    fn low_bits(self, value: i64) -> u64 {
        (value as u64) << self.shift >> self.shift
    }

    pub fn popcount(self, value: i64) -> i64 {
        i64::from(self.low_bits(value).count_ones())
    }

    pub fn leading_zeros(self, value: i64) -> i64 {
        i64::from(self.low_bits(value).leading_zeros()) - i64::from(self.shift)
    }

    #[inline]
    pub fn compare(self, op: Compare, a: i64, b: i64) -> bool {
        if self.signed { compare(op, &a, &b) } else { compare(op, &(a as u64), &(b as u64)) }
    }

    /// The operation, wrapped around; an error for a zero divisor.
    pub fn binary(self, op: IntOp, a: i64, b: i64) -> TirResult<i64> {
        let value = match op {
            IntOp::Div | IntOp::Mod | IntOp::FloorDiv | IntOp::FloorMod if b == 0 => {
                return Err(Box::new(TirError::DivisionByZero { dividend: a }));
            }
            IntOp::Div | IntOp::FloorDiv if !self.signed => (a as u64 / b as u64) as i64,
            IntOp::Mod | IntOp::FloorMod if !self.signed => (a as u64 % b as u64) as i64,
            IntOp::Div => a.wrapping_div(b),
            IntOp::Mod => a.wrapping_rem(b),
            IntOp::FloorDiv => {
                let inexact = a.wrapping_rem(b) != 0 && (a < 0) != (b < 0);
                a.wrapping_div(b).wrapping_sub(i64::from(inexact))
            }
            IntOp::FloorMod => {
                let rest = a.wrapping_rem(b);
                if rest != 0 && (rest < 0) != (b < 0) { rest.wrapping_add(b) } else { rest }
            }
            IntOp::Min => return Ok(if self.compare(Compare::Lt, a, b) { a } else { b }),
            IntOp::Max => return Ok(if self.compare(Compare::Gt, a, b) { a } else { b }),
            IntOp::BitAnd => a & b,
            IntOp::BitOr => a | b,
            IntOp::BitXor => a ^ b,
        };
        Ok(self.wrap(value))
    }

    /// Shifts right keep the sign of signed integers. An amount outside of the width is an error.
    pub fn shift(self, left: bool, value: i64, amount: i64, dtype: DataType) -> TirResult<i64> {
        if !(0..self.bits()).contains(&amount) {
            return Err(Box::new(TirError::Shift { amount, dtype }));
        }
        Ok(match (left, self.signed) {
            (true, _) => self.wrap(value << amount),
            (false, true) => value >> amount,
            (false, false) => ((value as u64) >> amount) as i64,
        })
    }

    /// Truncation towards zero; an error if the result is not an integer of this data type.
    pub fn truncate(self, value: f64, dtype: DataType) -> TirResult<i64> {
        let truncated = value.trunc();
        // Powers of two, so exact.
        let span = (self.bits() - i64::from(self.signed)) as i32;
        let (low, high) = (if self.signed { -libm::ldexp(1.0, span) } else { 0.0 }, libm::ldexp(1.0, span));
        if !(truncated >= low && truncated < high) {
            return Err(Box::new(TirError::Cast { value, dtype }));
        }
        Ok(if self.signed { truncated as i64 } else { truncated as u64 as i64 })
    }
}

#[inline]
fn compare<T: PartialOrd>(op: Compare, a: &T, b: &T) -> bool {
    match op {
        Compare::Eq => a == b,
        Compare::Ne => a != b,
        Compare::Lt => a < b,
        Compare::Le => a <= b,
        Compare::Gt => a > b,
        Compare::Ge => a >= b,
    }
}

/// A comparison of two numbers. If one is NaN, only `Ne` holds.
#[inline]
pub(super) fn compare_floats<N: Real>(op: Compare, a: N, b: N) -> Result<bool, Unordered> {
    let order = a.order(b)?;
    Ok(match op {
        Compare::Eq => order == Some(Ordering::Equal),
        Compare::Ne => order != Some(Ordering::Equal),
        Compare::Lt => order == Some(Ordering::Less),
        Compare::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Compare::Gt => order == Some(Ordering::Greater),
        Compare::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    })
}

/// The number nearest to the integer of a data type with these bits.
pub(super) fn of_int<N: Real>(float: FloatType, value: i64, repr: Repr) -> N {
    N::of_int(if repr.signed { value.into() } else { (value as u64).into() }, float)
}

pub(super) fn float_binary<N: Real>(float: FloatType, op: FloatOp, a: N, b: N) -> Result<N, Unordered> {
    let floor = |x: N| x.applied(Function { name: "floor", float: libm::floor });
    let round = |x: N| x.rounded(|x| float.round(x));
    Ok(match op {
        FloatOp::Mod => round(a.applied_to(b, BinaryFunction { name: "fmod", float: |a, b| a % b })),
        FloatOp::FloorDiv => floor(round(a.over(b))),
        FloatOp::FloorMod => round(a.minus(round(floor(round(a.over(b))).times(b)))),
        // A comparison with NaN is false, which gives the second operand.
        FloatOp::Min => {
            if compare_floats(Compare::Lt, a, b)? {
                a
            } else {
                b
            }
        }
        FloatOp::Max => {
            if compare_floats(Compare::Gt, a, b)? {
                a
            } else {
                b
            }
        }
    })
}

/// PRIMFUNC.FIXED-POINT: the product of two numbers with this many binary places each, shifted to the right and rounded
/// to the nearest int32; ties round up, and a result that does not fit wraps around.
pub(super) fn fixed_point(x: i64, y: i64, places: i64, shift: i64) -> TirResult<i64> {
    if places <= 0 {
        return Err(Box::new(TirError::Places(places)));
    }
    let product = i128::from(x) * i128::from(y);
    // The product of two int32 has at most 62 bits, and a shift of 32 to the left leaves none that matters.
    let right = places.saturating_add(shift).clamp(-32, 65);
    let exact = match right {
        ..=0 => product << right.unsigned_abs(),
        1.. => (product + (1i128 << (right - 1))) >> right,
    };
    Ok(i64::from(exact as i32))
}

/// A product and a sum, rounded once: the products of two float32, or of smaller types, are exact in float64.
pub(super) fn fused(float: FloatType, a: f64, b: f64, c: f64) -> f64 {
    match float {
        FloatType::Float32 => libm::fmaf(a as f32, b as f32, c as f32).into(),
        _ => libm::fma(a, b, c),
    }
}

pub(super) fn test<N: Real>(test: Test, value: N) -> Result<bool, Unordered> {
    Ok(match test {
        Test::Nan => value.near().is_nan(),
        Test::Infinite => value.near().is_infinite(),
        Test::Finite => value.near().is_finite(),
        Test::Nonzero => value.order(N::default())? != Some(Ordering::Equal),
    })
}

/// The functions of one float, on float64.
pub(super) fn unary(op: Intrinsic) -> Option<Function> {
    let float: fn(f64) -> f64 = match op {
        Intrinsic::Exp => elementary::exp,
        Intrinsic::Exp2 => elementary::exp2,
        Intrinsic::Exp10 => elementary::exp10,
        Intrinsic::Log => elementary::log,
        Intrinsic::Log2 => elementary::log2,
        Intrinsic::Log10 => elementary::log10,
        Intrinsic::Log1p => elementary::log1p,
        Intrinsic::Sqrt => elementary::sqrt,
        Intrinsic::Rsqrt => elementary::rsqrt,
        Intrinsic::Sin => elementary::sin,
        Intrinsic::Cos => elementary::cos,
        Intrinsic::Tan => elementary::tan,
        Intrinsic::Sinh => elementary::sinh,
        Intrinsic::Cosh => elementary::cosh,
        Intrinsic::Tanh => elementary::tanh,
        Intrinsic::Asin => elementary::asin,
        Intrinsic::Acos => elementary::acos,
        Intrinsic::Atan => elementary::atan,
        Intrinsic::Asinh => elementary::asinh,
        Intrinsic::Acosh => elementary::acosh,
        Intrinsic::Atanh => elementary::atanh,
        Intrinsic::Sigmoid => elementary::sigmoid,
        Intrinsic::Erf => elementary::erf,
        Intrinsic::Floor => libm::floor,
        Intrinsic::Ceil => libm::ceil,
        // Of two nearest integers the documentation says nothing, and what TVM makes of it for LLVM gives the even one.
        Intrinsic::Round | Intrinsic::Nearbyint => libm::rint,
        Intrinsic::Trunc => libm::trunc,
        Intrinsic::Fabs => libm::fabs,
        Intrinsic::Likely => |x| x,
        Intrinsic::Pow
        | Intrinsic::Atan2
        | Intrinsic::Fmod
        | Intrinsic::Copysign
        | Intrinsic::Hypot
        | Intrinsic::Nextafter
        | Intrinsic::Ldexp
        | Intrinsic::Isnan
        | Intrinsic::Isinf
        | Intrinsic::Isfinite
        | Intrinsic::Popcount
        | Intrinsic::Clz
        | Intrinsic::BitwiseAnd
        | Intrinsic::BitwiseOr
        | Intrinsic::BitwiseXor
        | Intrinsic::BitwiseNot
        | Intrinsic::ShiftLeft
        | Intrinsic::ShiftRight
        | Intrinsic::Reinterpret => return None,
    };
    Some(Function { name: op.name(), float })
}

/// The functions of two floats, on float64.
pub(super) fn binary(op: Intrinsic, float: FloatType) -> Option<BinaryFunction> {
    let function: Option<fn(f64, f64) -> f64> = match (op, float) {
        (Intrinsic::Pow, _) => Some(elementary::pow),
        (Intrinsic::Atan2, _) => Some(elementary::atan2),
        (Intrinsic::Fmod, _) => Some(libm::fmod),
        (Intrinsic::Copysign, _) => Some(libm::copysign),
        (Intrinsic::Hypot, _) => Some(elementary::hypot),
        (Intrinsic::Nextafter, FloatType::Float64) => Some(libm::nextafter),
        (Intrinsic::Nextafter, FloatType::Float32) => Some(|a, b| f64::from(libm::nextafterf(a as f32, b as f32))),
        _ => None,
    };
    function.map(|float| BinaryFunction { name: op.name(), float })
}
