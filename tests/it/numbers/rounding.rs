//! Compares conversions to floating-point types with the definition: the nearest float of the type, the even one of two
//! equally near, and an infinity from half a step above the maximum on.
//!
//! The reference finds the two neighbours of a number among the floats of the type, and compares the number with their
//! midpoint. It does no rounding: a midpoint is exact, as float64 or as an integer.

use std::cmp::Ordering;

use relax_spec::grammar::DataType;
use relax_spec::number::FloatType;
use relax_spec::value::Scalar;

use super::points::{Random, finite};
use super::{FLOATS, line, run, scalar};

/// A number to convert.
#[derive(Clone, Copy, Debug)]
enum Number {
    Int(i128),
    Float(f64),
}

/// The value of the positive float with these bits. In place of infinity it is the next number that the type would have
/// with more exponents.
fn value(float: FloatType, bits: u64) -> f64 {
    let fraction = float.digits() - 1;
    let (exponent, digits) = (bits >> fraction, bits & ((1 << fraction) - 1));
    let leading = u64::from(exponent != 0) << fraction;
    let scale = float.least_exponent() + exponent.saturating_sub(1) as i32;
    let power = |e: i32| f64::from_bits(((e + 1023) as u64) << 52);
    let whole = (leading | digits) as f64;
    if scale < -1022 { whole * power(-1022) * power(scale + 1022) } else { whole * power(scale) }
}

/// The order of the number `n` and the midpoint between `a` and the next float `b`.
fn against_middle(n: Number, a: f64, b: f64) -> Ordering {
    match n {
        // Midpoints of floats with fewer digits are float64 numbers. Those of float64 are only needed for integers.
        Number::Float(x) => x.partial_cmp(&(a / 2.0 + b / 2.0)).expect("a number"),
        Number::Int(i) if b < 1.0 => i.cmp(&0).then(Ordering::Less),
        Number::Int(i) if a >= 2f64.powi(53) => (2 * i).cmp(&(a as i128 + b as i128)),
        Number::Int(i) => {
            let twice = a + b;
            let below = twice.floor() as i128;
            (2 * i).cmp(&below).then(if twice == twice.floor() { Ordering::Equal } else { Ordering::Less })
        }
    }
}

fn not_above(a: f64, n: Number) -> bool {
    match n {
        Number::Float(x) => a <= x,
        Number::Int(i) => a <= 2f64.powi(100) && a.ceil() as i128 <= i,
    }
}

/// The bits of the nearest float, by definition.
fn nearest(float: FloatType, number: Number) -> u64 {
    let (negative, n) = match number {
        Number::Int(i) => (i < 0, Number::Int(i.abs())),
        Number::Float(x) => (x.is_sign_negative(), Number::Float(x.abs())),
    };
    let sign = u64::from(negative) << (float.width() - 1);
    // The last float that is not above the number, by bisection: floats have the order of their bits.
    let (mut low, mut high) = (0, finite(float));
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if not_above(value(float, middle), n) { low = middle } else { high = middle }
    }
    let up = match n {
        Number::Float(x) if x == value(float, low) => false,
        Number::Float(_) if float == FloatType::Float64 => panic!("a float64 is its own nearest"),
        Number::Float(_) | Number::Int(_) => match against_middle(n, value(float, low), value(float, high)) {
            Ordering::Less => false,
            Ordering::Greater => true,
            Ordering::Equal => low % 2 == 1,
        },
    };
    sign | if up { high } else { low }
}

fn check(float: FloatType, number: Number) {
    let found = match number {
        Number::Int(i) => float.int_to_bits(i),
        Number::Float(x) => float.to_bits(x),
    };
    let expected = match number {
        Number::Float(x) if x.is_infinite() => u64::from(x < 0.0) << (float.width() - 1) | finite(float),
        Number::Float(x) if x.is_nan() => return assert!(float.of_bits(found).is_nan()),
        Number::Int(_) | Number::Float(_) => nearest(float, number),
    };
    assert_eq!(found, expected, "{number:?} as {float:?}: {} or {}", float.of_bits(found), float.of_bits(expected));
    let rounded = match number {
        Number::Int(i) => float.round_int(i),
        Number::Float(x) => float.round(x),
    };
    assert_eq!(rounded.to_bits(), float.of_bits(expected).to_bits(), "{number:?} as {float:?}");
}

/// A float and its two neighbours, with both signs.
fn around(x: f64) -> [f64; 6] {
    [x, x.next_up(), x.next_down(), -x, (-x).next_up(), (-x).next_down()]
}

#[test]
fn every_float_of_16_bits_has_its_neighbourhood() {
    for float in [FloatType::Float16, FloatType::BFloat16] {
        for bits in 0..finite(float) {
            let (own, next) = (value(float, bits), value(float, bits + 1));
            assert_eq!(float.of_bits(bits), own);
            for x in around(own).into_iter().chain(around(own / 2.0 + next / 2.0)) {
                check(float, Number::Float(x));
            }
        }
    }
}

/// A number near a critical point: a float of a type, a midpoint between two, or close to one of these.
fn draw_float(random: &mut Random, float: FloatType) -> f64 {
    let bits = random.below(finite(float) - 1);
    let (own, next) = (float.of_bits(bits), float.of_bits(bits + 1));
    let x = match random.below(4) {
        0 => f64::from_bits(random.next()),
        1 => own,
        2 => own / 2.0 + next / 2.0,
        _ => own + (next - own) * (random.next() as f64 / 2f64.powi(64)),
    };
    let x = match random.below(4) {
        0 => x.next_up(),
        1 => x.next_down(),
        _ => x,
    };
    if random.below(2) == 0 { -x } else { x }
}

/// An integer of random length, with few bits set, or close to one.
fn draw_int(random: &mut Random) -> i128 {
    let length = random.below(65);
    let top = 1i128 << length;
    let i = match random.below(3) {
        0 => i128::from(random.next()) & (top - 1),
        1 => top | 1i128 << random.below(length + 1),
        _ => top | 1i128 << random.below(length + 1) | 1i128 << random.below(length + 1),
    };
    let i = (i + i128::from(random.below(3)) - 1).clamp(0, u64::MAX.into());
    if random.below(2) == 0 && i <= 1 << 63 { -i } else { i }
}

fn conversions(random: &mut Random, count: u64) {
    let types = FloatType::ALL;
    for i in 0..count {
        let to = types[(i % 4) as usize];
        let from = types[(i / 4 % 4) as usize];
        if i % 3 == 0 || to == FloatType::Float64 {
            check(to, Number::Int(draw_int(random)));
        } else {
            check(to, Number::Float(from.round(draw_float(random, to))));
        }
    }
}

#[test]
fn random_conversions_are_rounded_once() {
    conversions(&mut Random(23), 200_000);
}

#[test]
#[ignore = "long: ten million conversions"]
fn ten_million_conversions_are_rounded_once() {
    conversions(&mut Random(1), 10_000_000);
    println!("10,000,000 conversions, none wrong");
}

/// The conversion of `from` to `to`, by definition.
fn converted(x: Scalar, to: FloatType) -> f64 {
    let number = match x {
        Scalar::Bool(b) => Number::Int(b.into()),
        Scalar::Int(i) => Number::Int(i.into()),
        Scalar::UInt(u) => Number::Int(u.into()),
        Scalar::Float(x) if to == FloatType::Float64 => return x,
        Scalar::Float(x) => Number::Float(x),
        Scalar::Ring(x) => panic!("{x:?} is no float"),
    };
    to.of_bits(nearest(to, number))
}

/// Elements of a datatype, near critical points of the conversion to `to`.
fn sources(random: &mut Random, from: DataType, to: FloatType, count: usize) -> Vec<Scalar> {
    let int = |random: &mut Random| loop {
        let i = draw_int(random);
        let (low, high) =
            if from.is_int() { (-1 << (from.bits - 1), 1 << (from.bits - 1)) } else { (0, 1i128 << from.bits) };
        if (low..high).contains(&i) {
            return i;
        }
    };
    let one = |random: &mut Random| match from.float_type() {
        Some(float) => loop {
            let x = float.round(draw_float(random, to));
            if x.is_finite() {
                return Scalar::Float(x);
            }
        },
        None if from.is_int() => Scalar::Int(int(random) as i64),
        None => Scalar::UInt(int(random) as u64),
    };
    (0..count).map(|_| one(random)).collect()
}

const SOURCES: [DataType; 12] = [
    DataType::FLOAT16,
    DataType::BFLOAT16,
    DataType::FLOAT32,
    DataType::FLOAT64,
    DataType::INT8,
    DataType::INT16,
    DataType::INT32,
    DataType::INT64,
    DataType::UINT8,
    DataType::UINT16,
    DataType::UINT32,
    DataType::UINT64,
];

const COUNT: usize = 500;

fn holds_for_all_pairs(convert: impl Fn(DataType, DataType, &[Scalar]) -> Vec<Scalar>) {
    let mut random = Random(7);
    for from in SOURCES {
        for to in FLOATS {
            let float = to.float_type().expect("a float");
            let given = sources(&mut random, from, float, COUNT);
            let found = convert(from, to, &given);
            assert_eq!(found.len(), given.len());
            for (x, y) in given.iter().zip(found) {
                let Scalar::Float(y) = y else { panic!("{y:?} is no float") };
                assert_eq!(y.to_bits(), converted(*x, float).to_bits(), "{x:?} of {from} as {to} gives {y}");
            }
        }
    }
}

#[test]
fn astype_rounds_once() {
    holds_for_all_pairs(|from, to, given| {
        let program = format!(
            "@R.function\ndef main(x: R.Tensor(({COUNT},), '{from}')):\n    return R.astype(x, dtype='{to}')\n"
        );
        run(&program, &[line(from, given)])
    });
}

#[test]
fn a_cast_of_tir_rounds_once() {
    holds_for_all_pairs(|from, to, given| {
        let program = format!(
            "@I.ir_module
class Module:
    @T.prim_func
    def f(x: T.Buffer(({COUNT},), '{from}'), y: T.Buffer(({COUNT},), '{to}')):
        for i in range({COUNT}):
            with T.block('b'):
                vi = T.axis.spatial({COUNT}, i)
                y[vi] = T.Cast('{to}', x[vi])

    @R.function
    def main(x: R.Tensor(({COUNT},), '{from}')):
        cls = Module
        return R.call_tir(cls.f, (x,), out_sinfo=R.Tensor(({COUNT},), '{to}'))
"
        );
        run(&program, &[line(from, given)])
    });
}

/// The Python form of a number.
fn literal(x: Scalar) -> String {
    match x {
        Scalar::Bool(b) => b.to_string(),
        Scalar::Int(i) => i.to_string(),
        Scalar::UInt(u) => u.to_string(),
        Scalar::Float(x) => format!("{x:?}"),
        Scalar::Ring(x) => panic!("{x:?} is no float"),
    }
}

#[test]
fn a_constant_of_relax_rounds_once() {
    holds_for_all_pairs(|_, to, given| {
        let values: Vec<String> = given.iter().copied().map(literal).collect();
        let list = values.join(", ");
        run(&format!("@R.function\ndef main():\n    return R.const([{list}], '{to}')\n"), &[])
    });
}

#[test]
fn a_constant_of_tir_rounds_once() {
    holds_for_all_pairs(|_, to, given| {
        let stores: String =
            given.iter().enumerate().map(|(i, x)| format!("        y[{i}] = T.{to}({})\n", literal(*x))).collect();
        let program = format!(
            "@I.ir_module
class Module:
    @T.prim_func
    def f(y: T.Buffer(({COUNT},), '{to}')):
{stores}
    @R.function
    def main():
        cls = Module
        return R.call_tir(cls.f, (), out_sinfo=R.Tensor(({COUNT},), '{to}'))
"
        );
        run(&program, &[])
    });
}

#[test]
fn a_filled_tensor_rounds_once() {
    holds_for_all_pairs(|from, to, given| {
        let program =
            format!("@R.function\ndef main(x: R.Tensor((), '{from}')):\n    return R.full((1,), x, '{to}')\n");
        given.iter().flat_map(|x| run(&program, &[scalar(from, *x)])).collect()
    });
}
