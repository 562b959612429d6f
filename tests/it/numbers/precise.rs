//! The formulas of the elementary operators, computed with several times the digits of any datatype, and the distance
//! of a float from the exact result in units of its last place.

use astro_float_num::{BigFloat, Consts, RoundingMode, Sign};
use relax_spec::number::FloatType;

/// Binary digits. Cancellation in the formulas below loses less than half of them.
const DIGITS: usize = 128;

/// If a sum of exponentials is near 1, its logarithm loses most of them.
const MORE: usize = 256;

const NEAREST: RoundingMode = RoundingMode::ToEven;

/// Computes formulas precisely.
pub struct Precise {
    constants: Consts,
    digits: usize,
    /// The line whose sum was computed last, with its elements in order and the logarithm of that sum. All elements of
    /// a line need it.
    line: Option<(Vec<f64>, BigFloat)>,
}

/// The result of a formula.
#[derive(Debug)]
pub enum Exactly {
    /// A number, with a relative error of up to 2^-100.
    Number(BigFloat),
    /// A value that is not a number, or that is exact.
    Value(f64),
}

fn exactly(x: f64) -> BigFloat {
    if x == 0.0 || x.is_normal() {
        return BigFloat::from_f64(x, 64);
    }
    // The crate reads a subnormal number wrongly. A scaled number has the same digits.
    let mut number = BigFloat::from_f64(x * 2f64.powi(128), 64);
    let exponent = number.exponent().unwrap_or(0);
    number.set_exponent(exponent - 128);
    number
}

impl Precise {
    pub fn new() -> Precise {
        Precise { constants: Consts::new().expect("memory"), digits: DIGITS, line: None }
    }

    fn add(&self, a: &BigFloat, b: &BigFloat) -> BigFloat {
        a.add(b, self.digits, NEAREST)
    }

    fn sub(&self, a: &BigFloat, b: &BigFloat) -> BigFloat {
        a.sub(b, self.digits, NEAREST)
    }

    fn mul(&self, a: &BigFloat, b: &BigFloat) -> BigFloat {
        a.mul(b, self.digits, NEAREST)
    }

    fn div(&self, a: &BigFloat, b: &BigFloat) -> BigFloat {
        a.div(b, self.digits, NEAREST)
    }

    fn exp(&mut self, x: &BigFloat) -> BigFloat {
        x.exp(self.digits, NEAREST, &mut self.constants)
    }

    fn ln(&mut self, x: &BigFloat) -> BigFloat {
        x.ln(self.digits, NEAREST, &mut self.constants)
    }

    /// A decimal number.
    fn decimal(&mut self, text: &str) -> BigFloat {
        BigFloat::parse(text, astro_float_num::Radix::Dec, self.digits, NEAREST, &mut self.constants)
    }

    fn pi(&mut self) -> BigFloat {
        self.constants.pi(self.digits, NEAREST)
    }

    /// `log(1 + x)`.
    fn log_1_and(&mut self, x: &BigFloat) -> BigFloat {
        if x.exponent().is_some_and(|e| e < -200) {
            // The relative size of the next term is 2^-200.
            return x.clone();
        }
        self.with_more(x, |precise| {
            let sum = precise.add(&exactly(1.0), x);
            precise.ln(&sum)
        })
    }

    /// `e^x - 1`.
    fn exp_less_1(&mut self, x: &BigFloat) -> BigFloat {
        if x.exponent().is_some_and(|e| e < -200) {
            return x.clone();
        }
        self.with_more(x, |precise| {
            let power = precise.exp(x);
            precise.sub(&power, &exactly(1.0))
        })
    }

    /// Computes with more digits, as many as a number loses beside 1.
    fn with_more(&mut self, x: &BigFloat, f: impl FnOnce(&mut Precise) -> BigFloat) -> BigFloat {
        let digits = self.digits;
        self.digits += 64 + x.exponent().map_or(0, |e| usize::try_from(-e).unwrap_or(0));
        let result = f(self);
        self.digits = digits;
        result
    }

    /// `1 / (1 + e^-x)`.
    fn logistic(&mut self, x: &BigFloat) -> BigFloat {
        let power = self.exp(&x.neg());
        let below = self.add(&exactly(1.0), &power);
        self.div(&exactly(1.0), &below)
    }

    /// The integral of the normal density from 0 to x, by its power series, divided by the density.
    fn central(&mut self, x: &BigFloat, digits: usize) -> BigFloat {
        if x.is_zero() {
            return x.clone();
        }
        let square = x.mul(x, digits, NEAREST);
        let (mut sum, mut term, mut odd) = (x.clone(), x.clone(), 1u32);
        loop {
            odd += 2;
            term = term.mul(&square, digits, NEAREST).div(&BigFloat::from_u32(odd, 64), digits, NEAREST);
            sum = sum.add(&term, digits, NEAREST);
            let (Some(of_term), Some(of_sum)) = (term.exponent(), sum.exponent()) else { return sum };
            if of_term < of_sum - digits as i32 {
                return sum;
            }
        }
    }

    /// The normal density.
    fn density(&mut self, x: &BigFloat, digits: usize) -> BigFloat {
        let exponent = x.mul(x, digits, NEAREST).mul(&exactly(-0.5), digits, NEAREST);
        let power = exponent.exp(digits, NEAREST, &mut self.constants);
        let pi = self.constants.pi(digits, NEAREST);
        power.div(&pi.mul(&exactly(2.0), digits, NEAREST).sqrt(digits, NEAREST), digits, NEAREST)
    }

    /// The distribution function of the normal distribution.
    fn normal(&mut self, x: f64) -> BigFloat {
        let big = exactly(x);
        if x < -12.0 {
            // The divergent series, up to its smallest term, which is e^-72.
            let square = self.mul(&big, &big);
            let (mut sum, mut term) = (exactly(1.0), exactly(1.0));
            for n in 0..70u32 {
                let odd = BigFloat::from_u32(2 * n + 1, 64).neg();
                term = self.div(&self.mul(&term, &odd), &square);
                sum = self.add(&sum, &term);
            }
            let density = self.density(&big, DIGITS);
            return self.div(&self.mul(&density, &sum), &big.neg());
        }
        let digits = DIGITS + (x * x) as usize;
        let central = self.central(&big, digits);
        self.density(&big, digits).mul(&central, digits, NEAREST).add(&exactly(0.5), digits, NEAREST)
    }

    fn erf(&mut self, x: f64) -> BigFloat {
        if x.abs() > 12.0 {
            return exactly(x.signum());
        }
        let root = exactly(2.0).sqrt(DIGITS, NEAREST);
        let big = self.mul(&exactly(x), &root);
        let central = self.central(&big, DIGITS);
        let density = self.density(&big, DIGITS);
        self.mul(&self.mul(&density, &central), &exactly(2.0))
    }

    /// The result of the formula of an operator for these arguments, all of them finite.
    pub fn of(&mut self, function: &str, x: &[f64]) -> Exactly {
        use Exactly::Value;
        let first = x[0];
        let big = exactly(first);
        let (p, rm) = (self.digits, NEAREST);
        Exactly::Number(match function {
            "exp" if first.abs() < 2000.0 => self.exp(&big),
            "exp2" if first.abs() < 4000.0 => {
                let ln_2 = self.constants.ln_2(p, rm);
                let exponent = self.mul(&big, &ln_2);
                self.exp(&exponent)
            }
            "exp10" if first.abs() < 2000.0 => {
                let ln_10 = self.constants.ln_10(p, rm);
                let exponent = self.mul(&big, &ln_10);
                self.exp(&exponent)
            }
            "exp" | "exp2" | "exp10" => return Value(if first > 0.0 { f64::INFINITY } else { 0.0 }),
            "log" | "log2" | "log10" if first <= 0.0 => {
                return Value(if first == 0.0 { f64::NEG_INFINITY } else { f64::NAN });
            }
            "log" => self.ln(&big),
            "log2" => big.log2(p, rm, &mut self.constants),
            "log10" => big.log10(p, rm, &mut self.constants),
            "log1p" if first <= -1.0 => return Value(if first == -1.0 { f64::NEG_INFINITY } else { f64::NAN }),
            "log1p" => self.log_1_and(&big),
            "sqrt" if first < 0.0 => return Value(f64::NAN),
            "sqrt" => big.sqrt(p, rm),
            "rsqrt" if first == 0.0 => return Value(1.0 / first),
            "rsqrt" if first < 0.0 => return Value(f64::NAN),
            "rsqrt" => self.div(&exactly(1.0), &big.sqrt(p, rm)),
            "sin" => big.sin(p, rm, &mut self.constants),
            "cos" => big.cos(p, rm, &mut self.constants),
            "tan" => big.tan(p, rm, &mut self.constants),
            "asin" | "acos" if first.abs() > 1.0 => return Value(f64::NAN),
            "asin" if first.abs() < 1e-50 => big,
            "asin" => big.asin(p, rm, &mut self.constants),
            "acos" => big.acos(p, rm, &mut self.constants),
            "atan" if first.abs() < 1e-50 => big,
            "atan" => big.atan(p, rm, &mut self.constants),
            "sinh" | "cosh" if first.abs() > 2000.0 => {
                let sign = if function == "cosh" { 1.0 } else { first.signum() };
                return Value(f64::INFINITY * sign);
            }
            "sinh" => {
                let less = self.exp_less_1(&big.abs());
                let more = self.add(&less, &exactly(1.0));
                let other = self.div(&less, &more);
                self.mul(&self.add(&less, &other), &exactly(0.5 * first.signum()))
            }
            "cosh" => {
                let power = self.exp(&big);
                let inverse = self.div(&exactly(1.0), &power);
                self.mul(&self.add(&power, &inverse), &exactly(0.5))
            }
            "tanh" if first.abs() > 200.0 => exactly(first.signum()),
            "tanh" => {
                let less = self.exp_less_1(&self.mul(&big, &exactly(2.0)));
                self.div(&less, &self.add(&less, &exactly(2.0)))
            }
            "asinh" => {
                // log(x + sqrt(1 + x^2)), for the absolute value.
                let size = big.abs();
                let square = self.mul(&size, &size);
                let root = self.add(&square, &exactly(1.0)).sqrt(p, rm);
                let beyond = self.add(&size, &self.div(&square, &self.add(&root, &exactly(1.0))));
                let log = self.log_1_and(&beyond);
                if first < 0.0 { log.neg() } else { log }
            }
            "acosh" if first < 1.0 => return Value(f64::NAN),
            "acosh" => {
                let beyond = self.sub(&big, &exactly(1.0));
                let more = self.mul(&beyond, &self.add(&beyond, &exactly(2.0))).sqrt(p, rm);
                self.log_1_and(&self.add(&beyond, &more))
            }
            "atanh" if first.abs() >= 1.0 => {
                return Value(if first.abs() == 1.0 { f64::INFINITY * first } else { f64::NAN });
            }
            "atanh" => {
                let below = self.sub(&exactly(1.0), &big);
                let quotient = self.div(&self.mul(&big, &exactly(2.0)), &below);
                let log = self.log_1_and(&quotient);
                self.mul(&log, &exactly(0.5))
            }
            "erf" => self.erf(first),
            "sigmoid" if first < -2000.0 => return Value(0.0),
            "sigmoid" => self.logistic(&big),
            "silu" | "gelu" | "gelu_tanh" if first < -2000.0 => return Value(0.0),
            "silu" => {
                let weight = self.logistic(&big);
                self.mul(&weight, &big)
            }
            "gelu" if first > 20.0 => big,
            "gelu" if first < -50.0 => return Value(0.0),
            "gelu" => {
                let weight = self.normal(first);
                self.mul(&weight, &big)
            }
            "gelu_tanh" if first > 50.0 => big,
            "gelu_tanh" => {
                // 1 + tanh(u) is twice the logistic function of 2u.
                let cube = self.mul(&self.mul(&big, &big), &big);
                let factor = self.decimal("0.044715");
                let inner = self.add(&big, &self.mul(&factor, &cube));
                let pi = self.pi();
                let root = self.div(&exactly(2.0), &pi).sqrt(p, rm);
                let twice = self.mul(&self.mul(&inner, &root), &exactly(2.0));
                let weight = self.logistic(&twice);
                self.mul(&weight, &big)
            }
            "selu" => {
                let scale = self.decimal("1.0507009873554804934193349852946");
                if first > 0.0 {
                    self.mul(&scale, &big)
                } else {
                    let alpha = self.decimal("1.6732632423543772848170429916717");
                    let less = if first < -2000.0 { exactly(-1.0) } else { self.exp_less_1(&big) };
                    self.mul(&self.mul(&scale, &alpha), &less)
                }
            }
            "softplus" => {
                let (beta, threshold) = (exactly(x[1]), exactly(x[2]));
                let product = self.mul(&big, &beta);
                if product.cmp(&threshold).is_some_and(|order| order > 0) {
                    return Exactly::Number(big);
                }
                if product.cmp(&exactly(-2000.0)).is_some_and(|order| order < 0) {
                    return Value(0.0);
                }
                let power = self.exp(&product);
                let log = self.log_1_and(&power);
                self.div(&log, &beta)
            }
            "power" => return self.power(first, x[1]),
            "hypot" => {
                let other = exactly(x[1]);
                self.add(&self.mul(&big, &big), &self.mul(&other, &other)).sqrt(p, rm)
            }
            "atan2" => return self.angle(first, x[1]),
            "log_add_exp" => {
                let (low, high) = if first < x[1] { (first, x[1]) } else { (x[1], first) };
                self.digits = MORE;
                let distance = self.sub(&exactly(low), &exactly(high));
                let log = if distance.cmp(&exactly(-3000.0)).is_some_and(|order| order < 0) {
                    exactly(0.0)
                } else {
                    let power = self.exp(&distance);
                    self.log_1_and(&power)
                };
                let sum = self.add(&exactly(high), &log);
                self.digits = DIGITS;
                sum
            }
            "softmax" | "log_softmax" => {
                // The logarithm of the result: x minus the largest, minus the logarithm of the sum of the powers of all
                // minus the largest.
                self.digits = MORE;
                let (largest, log) = self.line_sum(x);
                let logarithm = self.sub(&self.sub(&big, &exactly(largest)), &log);
                self.digits = DIGITS;
                if function == "log_softmax" {
                    logarithm
                } else if logarithm.cmp(&exactly(-3000.0)).is_some_and(|order| order < 0) {
                    return Value(0.0);
                } else {
                    self.exp(&logarithm)
                }
            }
            other => panic!("no formula of {other}"),
        })
    }

    /// The largest element of a line, and the logarithm of the sum of the powers of all elements minus the largest.
    fn line_sum(&mut self, line: &[f64]) -> (f64, BigFloat) {
        let mut line = line.to_vec();
        line.sort_by(f64::total_cmp);
        let largest = line.last().copied().unwrap_or(f64::NAN);
        if let Some((known, log)) = &self.line
            && *known == line
        {
            return (largest, log.clone());
        }
        let mut others = exactly(0.0);
        for y in &line[..line.len() - 1] {
            let distance = self.sub(&exactly(*y), &exactly(largest));
            if distance.cmp(&exactly(-3000.0)).is_some_and(|order| order > 0) {
                let power = self.exp(&distance);
                others = self.add(&others, &power);
            }
        }
        let log = self.log_1_and(&others);
        self.line = Some((line, log.clone()));
        (largest, log)
    }

    fn power(&mut self, x: f64, y: f64) -> Exactly {
        use Exactly::Value;
        let whole = y == y.trunc();
        let negative = x < 0.0 && whole && y % 2.0 != 0.0;
        if y == 0.0 {
            return Value(1.0);
        }
        if x < 0.0 && !whole {
            return Value(f64::NAN);
        }
        let sign = if negative || (x == 0.0 && x.is_sign_negative() && whole && y % 2.0 != 0.0) { -1.0 } else { 1.0 };
        if x == 0.0 {
            return Value(if y < 0.0 { f64::INFINITY * sign } else { 0.0 });
        }
        let log = self.ln(&exactly(x.abs()));
        let exponent = self.mul(&log, &exactly(y));
        if exponent.exponent().is_some_and(|e| e > 11) {
            return Value(if exponent.is_negative() { 0.0 } else { f64::INFINITY * sign });
        }
        let power = self.exp(&exponent);
        Exactly::Number(if negative { power.neg() } else { power })
    }

    fn angle(&mut self, y: f64, x: f64) -> Exactly {
        if y == 0.0 || x == 0.0 {
            // Multiples of a right angle; for zeros of both signs the angle of IEEE 754.
            let quarter = if y == 0.0 { 0.0 } else { 1.0 };
            if quarter == 0.0 && !(x.is_sign_negative()) {
                return Exactly::Value(0.0);
            }
            let pi = self.pi();
            let angle = if quarter == 0.0 { pi } else { self.mul(&pi, &exactly(0.5)) };
            return Exactly::Number(if y.is_sign_negative() { angle.neg() } else { angle });
        }
        let quotient = self.div(&exactly(y.abs()), &exactly(x.abs()));
        let angle = if quotient.exponent().is_some_and(|e| e < -200) {
            quotient
        } else {
            quotient.atan(self.digits, NEAREST, &mut self.constants)
        };
        let angle = if x < 0.0 {
            let pi = self.pi();
            self.sub(&pi, &angle)
        } else {
            angle
        };
        Exactly::Number(if y < 0.0 { angle.neg() } else { angle })
    }
}

/// The distance of a float of a type from the result of a formula, in units in the last place of the result. An
/// overflow counts as the next number after the maximum.
pub fn distance(float: FloatType, found: f64, exact: &Exactly) -> f64 {
    let number = match exact {
        Exactly::Value(x) if x.is_nan() => return if found.is_nan() { 0.0 } else { f64::INFINITY },
        Exactly::Value(x) if float.round(*x) == found => return 0.0,
        Exactly::Value(x) if x.is_infinite() => limited(float, *x),
        Exactly::Value(x) => exactly(*x),
        Exactly::Number(x) if x.is_nan() => panic!("the formula gives no number"),
        Exactly::Number(x) => x.clone(),
    };
    if found.is_nan() {
        return f64::INFINITY;
    }
    let size = number.exponent().filter(|_| !number.is_zero()).unwrap_or(i32::MIN / 2);
    let largest = limited(float, 1.0).exponent().expect("a number");
    let number = if size >= largest { limited(float, if number.is_negative() { -1.0 } else { 1.0 }) } else { number };
    let found = if found.is_infinite() { limited(float, found) } else { exactly(found) };
    let unit = size.min(largest).saturating_sub(float.digits() as i32).max(float.least_exponent());
    let difference = found.sub(&number, DIGITS, NEAREST).abs();
    let Some((words, _, _, exponent, _)) = difference.as_raw_parts() else { return f64::INFINITY };
    if difference.is_zero() {
        return 0.0;
    }
    let top = words.last().map_or(0.0, |word| *word as f64 / 2f64.powi(64));
    top * 2f64.powi((exponent - unit).min(1000))
}

/// The next number after the maximum of a type, with the sign of another one.
fn limited(float: FloatType, sign: f64) -> BigFloat {
    let mut next = exactly(1.0);
    let exponents = 1 << (float.width() - float.digits());
    next.set_exponent(exponents / 2 + 1);
    next.set_sign(if sign < 0.0 { Sign::Neg } else { Sign::Pos });
    next
}
