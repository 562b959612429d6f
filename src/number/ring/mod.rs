//! A second arithmetic, which rounds nothing (REFINE.RING.NUMBERS): sums, products, quotients and exponentials are
//! those of residues. So two programs give the same result if they are the same real function.
//!
//! In addition to its residue, each number has a float that approximates its size. The size is used to order numbers
//! and to round them to integers (REFINE.RING.ORDER). Nothing connects the two except that they are computed in
//! parallel.

mod fraction;
mod irrational;
mod product;
mod residue;

use std::cmp::Ordering;

use super::FloatType;
use super::real::{BinaryFunction, ConstantReading, Function, Real, Unordered};
use irrational::irrational;
use residue::{Residue, mixed};

/// A number of the ring, with its size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RingNumber {
    /// The residue, or the reason why there is none, as bits that no residue has.
    bits: u64,
    /// The approximate size. Its lowest bits record the functions without an algebraic law that were used to compute
    /// it.
    size: f64,
}

/// Why a number has no residue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoResidue {
    /// A divisor is a multiple of the prime.
    #[error("a divisor has no inverse in the ring")]
    Divisor,
    /// An infinity or NaN.
    #[error("an infinity, or what is not a number, is no real number")]
    NotReal,
    /// The size is too close to a point where the result changes.
    #[error("rounding decides which of two numbers is the larger, or what integer is the next")]
    Near,
    /// It was computed with floats.
    #[error("a number was computed in floats")]
    Float,
}

impl NoResidue {
    const ALL: [NoResidue; 4] = [NoResidue::Divisor, NoResidue::NotReal, NoResidue::Near, NoResidue::Float];
}

/// The functions without an algebraic law that were used to compute a number, one bit for each kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Terms(u16);

/// The bit for a logarithm, which is known only modulo a lower power of the prime.
const LOGARITHM: u16 = 1 << 1;
/// The bits of a size that are used otherwise; 36 digits remain.
const TERMS: u64 = 0xffff;
/// The relative distance of two sizes below which their order is unknown.
const NEAR: f64 = 1e-8;

/// A divisor, with its inverse, which several quotients share.
#[derive(Clone, Copy, Debug)]
pub struct Divisor {
    number: RingNumber,
    inverse: Result<Residue, NoResidue>,
}

impl From<RingNumber> for Divisor {
    fn from(number: RingNumber) -> Divisor {
        let inverse = number.residue().and_then(|x| x.inverse().ok_or(NoResidue::Divisor));
        Divisor { number, inverse }
    }
}

impl Default for RingNumber {
    fn default() -> RingNumber {
        RingNumber::new(Ok(Residue::ZERO), 0.0, Terms::default())
    }
}

impl RingNumber {
    fn new(residue: Result<Residue, NoResidue>, size: f64, terms: Terms) -> RingNumber {
        // An infinity with other bits in the last places would be a NaN.
        let finite = if size.is_infinite() { f64::MAX.copysign(size) } else { size };
        let bits = if finite.is_nan() { f64::NAN.to_bits() } else { finite.to_bits() & !TERMS | u64::from(terms.0) };
        let size = f64::from_bits(bits);
        RingNumber { bits: residue.map_or_else(|reason| u64::MAX - reason as u64, Residue::bits), size }
    }

    fn residue(self) -> Result<Residue, NoResidue> {
        let is = |reason: &NoResidue| self.bits == u64::MAX - *reason as u64;
        if self.bits <= u64::MAX - NoResidue::ALL.len() as u64 {
            return Ok(Residue::of_bits(self.bits));
        }
        NoResidue::ALL.into_iter().find(is).map_or(Ok(Residue::of_bits(self.bits)), Err)
    }

    /// A random number: an invertible residue, determined by the seed, and a size.
    pub fn drawn(seed: u64, size: f64) -> RingNumber {
        RingNumber::new(Ok(Residue::invertible(mixed(mixed(seed)))), size, Terms::default())
    }

    /// The number with another size.
    pub fn sized(self, size: f64) -> RingNumber {
        RingNumber::new(self.residue(), size, self.terms())
    }

    /// The exact value of a float.
    pub fn of_float(value: f64) -> RingNumber {
        RingNumber::of_constant(value, FloatType::Float64, ConstantReading::Exact)
    }

    /// A number without a residue.
    pub fn without(reason: NoResidue) -> RingNumber {
        RingNumber::new(Err(reason), f64::NAN, Terms::default())
    }

    /// Why it has no residue, if that is so.
    pub fn missing(self) -> Option<NoResidue> {
        self.residue().err()
    }

    /// The functions without an algebraic law that were used to compute it.
    pub fn functions(self) -> Terms {
        Terms(self.terms().0 & !LOGARITHM)
    }

    /// Whether no function without an exact law was used to compute it.
    pub fn is_algebraic(self) -> bool {
        self.terms() == Terms::default()
    }

    fn terms(self) -> Terms {
        if self.size.is_nan() { Terms(u16::MAX) } else { Terms((self.size.to_bits() & TERMS) as u16) }
    }

    /// Whether both are the same number; `None` if one has no residue.
    pub fn is(self, other: RingNumber) -> Option<bool> {
        let (a, b) = (self.residue().ok()?, other.residue().ok()?);
        let less = (self.terms().0 | other.terms().0) & LOGARITHM != 0;
        Some(if less { a.is_nearly(b) } else { a == b })
    }

    fn size(self) -> f64 {
        f64::from_bits(self.size.to_bits() & !TERMS)
    }

    fn combined(
        self,
        other: RingNumber,
        residue: impl FnOnce(Residue, Residue) -> Result<Residue, NoResidue>,
        size: impl FnOnce(f64, f64) -> f64,
    ) -> RingNumber {
        let found = self.residue().and_then(|a| residue(a, other.residue()?));
        RingNumber::new(found, size(self.size(), other.size()), Terms(self.terms().0 | other.terms().0))
    }

    /// The quotient.
    pub fn divided(self, by: &Divisor) -> RingNumber {
        self.combined(by.number, |a, _| by.inverse.map(|inverse| a.times(inverse)), |a, b| a / b)
    }

    /// The value of a function without known laws, except that an even or odd function is related at arguments of
    /// opposite sign.
    fn term(self, function: Function, parity: Parity) -> RingNumber {
        let value = |x: Residue| {
            let (half, negative) = x.without_sign();
            let operand = if parity == Parity::None { x } else { half };
            let value = Residue::of_term(function.name, &[operand]);
            if negative && parity == Parity::Odd { value.negated() } else { value }
        };
        let terms = Terms(self.terms().0 | kind_of(function.name));
        RingNumber::new(self.residue().map(value), (function.float)(self.size()), terms)
    }

    /// The integer that a rounding function gives, determined by the size if that is not too close to another result.
    fn whole(self, function: Function) -> RingNumber {
        let size = self.size();
        let nearest = size.round();
        let known = Residue::of_int(nearest as i128);
        // Rounding to the nearest integer changes at half integers, other rounding at integers.
        let middle = if matches!(function.name, "round" | "nearbyint") { 0.5 } else { 0.0 };
        let changes = ((size + middle).round() - middle - size).abs() <= NEAR * size.abs().max(1.0);
        let value = match self.residue() {
            Ok(residue) if residue == known => nearest,
            Ok(_) if !changes && size.abs() < 1e15 => (function.float)(size),
            Ok(_) => return RingNumber::new(Err(NoResidue::Near), size, self.terms()),
            Err(reason) => return RingNumber::new(Err(reason), size, self.terms()),
        };
        RingNumber::new(Ok(Residue::of_int(value as i128)), value, self.terms())
    }

    fn of_size(self, value: f64) -> RingNumber {
        RingNumber::of_float(value).marked(self.terms())
    }

    fn marked(self, terms: Terms) -> RingNumber {
        RingNumber::new(self.residue(), self.size(), Terms(self.terms().0 | terms.0))
    }

    fn exponential(self) -> RingNumber {
        RingNumber::new(self.residue().map(Residue::exponential), libm::exp(self.size()), self.terms())
    }

    fn logarithm(self) -> RingNumber {
        let logarithm = self.residue().and_then(|x| x.logarithm().ok_or(NoResidue::Divisor));
        RingNumber::new(logarithm, libm::log(self.size()), Terms(self.terms().0 | LOGARITHM))
    }

    /// An integer power.
    fn to_the(self, exponent: i32) -> RingNumber {
        let power = |x: Residue| x.power(exponent.unsigned_abs().into());
        let size = libm::pow(self.size(), exponent.abs().into());
        let power = RingNumber::new(self.residue().map(power), size, self.terms());
        if exponent < 0 { one().over(power) } else { power }
    }

    /// The magnitude, or the sign: these depend on the order of the number and zero.
    fn by_sign(self, of: impl FnOnce(RingNumber, Ordering) -> RingNumber) -> RingNumber {
        match self.order(RingNumber::default()) {
            Ok(Some(order)) => of(self, order),
            Ok(None) | Err(Unordered) => RingNumber::new(Err(NoResidue::Near), self.size(), self.terms()),
        }
    }

    /// The bytes that represent it in a tensor.
    pub fn bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.bits.to_le_bytes());
        bytes[8..].copy_from_slice(&self.size.to_le_bytes());
        bytes
    }

    /// The number with this representation.
    pub fn of_bytes(bytes: [u8; 16]) -> RingNumber {
        let (mut bits, mut size) = ([0; 8], [0; 8]);
        bits.copy_from_slice(&bytes[..8]);
        size.copy_from_slice(&bytes[8..]);
        RingNumber { bits: u64::from_le_bytes(bits), size: f64::from_le_bytes(size) }
    }
}

/// How the result of a function changes with the sign of its argument.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parity {
    None,
    Even,
    Odd,
}

fn one() -> RingNumber {
    RingNumber::new(Ok(Residue::ONE), 1.0, Terms::default())
}

/// The bit of a function without an algebraic law.
fn kind_of(name: &str) -> u16 {
    let bit = match name {
        "sqrt" => 0,
        "tanh" => 2,
        "erf" => 3,
        "pow" => 4,
        "sin" | "cos" | "tan" | "asin" | "acos" | "atan" | "atan2" => 5,
        "sinh" | "cosh" | "asinh" | "acosh" | "atanh" => 6,
        "cast" => 7,
        other => 8 + other.bytes().fold(0u32, |sum, byte| sum + u32::from(byte)) % 8,
    };
    1 << bit
}

impl Real for RingNumber {
    fn of_constant(value: f64, float: FloatType, reading: ConstantReading) -> RingNumber {
        let residue = match reading {
            _ if !value.is_finite() => Err(NoResidue::NotReal),
            ConstantReading::Simplest => {
                if let Some(number) = irrational(value, float) {
                    return number;
                }
                match fraction::simplest(value, float) {
                    Some((numerator, denominator)) => Residue::of_int(denominator)
                        .inverse()
                        .map(|inverse| Residue::of_int(numerator).times(inverse))
                        .ok_or(NoResidue::Divisor),
                    None => Ok(exact(value)),
                }
            }
            ConstantReading::Exact => Ok(exact(value)),
        };
        RingNumber::new(residue, value, Terms::default())
    }
    fn of_int(value: i128, _: FloatType) -> RingNumber {
        RingNumber::new(Ok(Residue::of_int(value)), value as f64, Terms::default())
    }
    fn plus(self, other: RingNumber) -> RingNumber {
        self.combined(other, |a, b| Ok(a.add(b)), |a, b| a + b)
    }
    fn negated(self) -> RingNumber {
        RingNumber::new(self.residue().map(Residue::negated), -self.size(), self.terms())
    }
    fn times(self, other: RingNumber) -> RingNumber {
        self.combined(other, |a, b| Ok(a.times(b)), |a, b| a * b)
    }
    fn over(self, other: RingNumber) -> RingNumber {
        self.divided(&other.into())
    }
    fn applied(self, function: Function) -> RingNumber {
        let root = Function { name: "sqrt", float: libm::sqrt };
        let logarithm_of = |n: f64| RingNumber::of_float(n).logarithm();
        match function.name {
            "likely" => self,
            "exp" => self.exponential(),
            "exp2" => self.times(logarithm_of(2.0)).exponential(),
            "exp10" => self.times(logarithm_of(10.0)).exponential(),
            "sigmoid" => one().over(one().plus(self.negated().exponential())),
            "silu" => self.over(one().plus(self.negated().exponential())),
            "square" => self.times(self),
            "rsqrt" => one().over(self.term(root, Parity::None)),
            "log" => self.logarithm(),
            "log1p" => one().plus(self).logarithm(),
            "log2" => self.logarithm().over(logarithm_of(2.0)),
            "log10" => self.logarithm().over(logarithm_of(10.0)),
            "fabs" => self.by_sign(|x, order| if order == Ordering::Less { x.negated() } else { x }),
            "sign" => self.by_sign(|x, order| x.of_size(f64::from(order as i8))),
            "floor" | "ceil" | "round" | "trunc" | "nearbyint" => self.whole(function),
            "erf" | "tanh" | "sinh" | "asinh" | "atanh" | "sin" | "tan" | "asin" | "atan" => {
                self.term(function, Parity::Odd)
            }
            "cos" | "cosh" => self.term(function, Parity::Even),
            _ => self.term(function, Parity::None),
        }
    }
    fn applied_to(self, other: RingNumber, function: BinaryFunction) -> RingNumber {
        let exponent = (-8..=8).find(|n| other.residue() == Ok(Residue::of_int((*n).into())));
        match (function.name, exponent) {
            ("pow", Some(exponent)) => self.to_the(exponent),
            ("pow", None) if other.residue() == Ok(exact(0.5)) => {
                self.term(Function { name: "sqrt", float: libm::sqrt }, Parity::None)
            }
            (name, _) => {
                let term = |a, b| Ok(Residue::of_term(name, &[a, b]));
                self.combined(other, term, function.float).marked(Terms(kind_of(name)))
            }
        }
    }
    fn order(self, other: RingNumber) -> Result<Option<Ordering>, Unordered> {
        if self.is(other) == Some(true) {
            return Ok(Some(Ordering::Equal));
        }
        let (a, b) = (self.size(), other.size());
        let apart = (a - b).abs() > NEAR * (a.abs() + b.abs());
        a.partial_cmp(&b).filter(|_| apart).map(Some).ok_or(Unordered)
    }
    fn rounded(self, _: impl FnOnce(f64) -> f64) -> RingNumber {
        self
    }
    fn cast(self, from: FloatType, to: FloatType) -> RingNumber {
        let wider = to.digits() >= from.digits() && to.least_exponent() <= from.least_exponent();
        if wider {
            return self;
        }
        let name = match to {
            FloatType::Float16 => "float16",
            FloatType::BFloat16 => "bfloat16",
            FloatType::Float32 => "float32",
            FloatType::Float64 => "float64",
        };
        let value = |x| Residue::of_term(name, &[x]);
        RingNumber::new(self.residue().map(value), self.size(), self.terms()).marked(Terms(kind_of("cast")))
    }
    fn near(self) -> f64 {
        self.size()
    }
}

/// The residue of a finite float, which is an integer times a power of 2.
fn exact(value: f64) -> Residue {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return Residue::of_int(value as i128);
    }
    let (fraction, exponent) = libm::frexp(value);
    // The 53 digits as an integer.
    let digits = Residue::of_int(libm::ldexp(fraction, 53) as i128);
    let base = if exponent < 53 { Residue::HALF } else { Residue::of_int(2) };
    digits.times(base.power((exponent - 53).unsigned_abs().into()))
}

#[cfg(test)]
mod tests;
