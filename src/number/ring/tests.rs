use super::*;

fn drawn() -> Vec<RingNumber> {
    (0..12).map(|i| RingNumber::drawn(i, i as f64 * 0.37 - 2.0)).collect()
}

fn int(value: i128) -> RingNumber {
    RingNumber::of_int(value, FloatType::Float32)
}

fn function(name: &'static str, float: fn(f64) -> f64) -> Function {
    Function { name, float }
}

#[test]
fn division_is_exact() {
    for x in drawn() {
        for y in drawn() {
            assert_eq!(x.over(y).times(y).is(x), Some(true));
        }
    }
    assert_eq!(int(1).over(int(0)).missing(), Some(NoResidue::Divisor));
}

#[test]
fn constants_are_the_fractions_that_they_are() {
    let third = FloatType::Float32.round(1.0 / 3.0);
    let read = |reading| RingNumber::of_constant(third, FloatType::Float32, reading).times(int(3)).is(int(1));
    assert_eq!((read(ConstantReading::Exact), read(ConstantReading::Simplest)), (Some(false), Some(true)));
    assert_eq!(RingNumber::of_float(-0.75).times(int(4)).is(int(-3)), Some(true));
    assert_eq!(RingNumber::of_float(f64::MIN_POSITIVE).missing(), None);
    assert_eq!(RingNumber::of_float(f64::INFINITY).missing(), Some(NoResidue::NotReal));
}

#[test]
fn exponentials_have_their_laws() {
    let (exp, sigmoid) = (function("exp", libm::exp), function("sigmoid", |x| 1.0 / (1.0 + libm::exp(-x))));
    for x in drawn() {
        for y in drawn() {
            assert_eq!(x.plus(y).applied(exp).is(x.applied(exp).times(y.applied(exp))), Some(true));
            assert_eq!(x.plus(y).applied(exp).is(x.applied(exp).plus(y.applied(exp))), Some(false));
        }
        assert_eq!(x.applied(sigmoid).plus(x.negated().applied(sigmoid)).is(int(1)), Some(true));
    }
}

#[test]
fn functions_without_algebra_are_terms() {
    let (sqrt, tanh) = (function("sqrt", libm::sqrt), function("tanh", libm::tanh));
    let [x, y] = [1, 2].map(|seed| RingNumber::drawn(seed, 1.5));
    assert_eq!(x.applied(sqrt).is(x.plus(int(0)).applied(sqrt)), Some(true));
    assert_eq!(x.applied(sqrt).is(y.applied(sqrt)), Some(false));
    assert_eq!(x.negated().applied(tanh).is(x.applied(tanh).negated()), Some(true));
    assert_eq!(x.applied(sqrt).times(x.applied(function("rsqrt", |x| 1.0 / x.sqrt()))).is(int(1)), Some(true));
    assert_eq!((x.functions(), x.plus(y).functions()), (Terms::default(), Terms::default()));
    assert_ne!(x.times(y.applied(tanh)).terms(), x.applied(sqrt).terms());
}

#[test]
fn logarithms_undo_exponentials() {
    let (log, exp) = (function("log", libm::log), function("exp", libm::exp));
    for x in drawn() {
        assert_eq!(x.applied(exp).applied(log).is(x), Some(true));
        let shifted = x.applied(exp).plus(int(1)).times(int(5).applied(exp));
        assert_eq!(shifted.applied(log).is(x.applied(exp).plus(int(1)).applied(log).plus(int(5))), Some(true));
        assert_eq!(x.applied(log).is(x.times(int(2)).applied(log)), Some(false));
        assert_eq!(x.applied(exp).applied(log).functions(), Terms::default());
    }
}

/// Real numbers are ordered. The ring orders numbers by their sizes, so the laws of order hold.
#[test]
fn numbers_are_ordered_by_their_sizes() {
    let [x, y] = [RingNumber::drawn(1, -1.5), RingNumber::drawn(2, 0.5)];
    assert_eq!(x.order(y), Ok(Some(Ordering::Less)));
    assert_eq!(x.times(int(2)).order(y.times(int(2))), Ok(Some(Ordering::Less)));
    assert_eq!(y.negated().order(x.negated()), Ok(Some(Ordering::Less)));
    assert_eq!(x.plus(y).order(y.plus(x)), Ok(Some(Ordering::Equal)));
    assert_eq!(x.order(RingNumber::drawn(3, -1.5)), Err(Unordered));
    assert_eq!(x.applied(function("fabs", f64::abs)).is(x.negated()), Some(true));
    assert_eq!(x.applied(function("floor", f64::floor)).is(int(-2)), Some(true));
    assert_eq!(int(3).applied(function("floor", f64::floor)).is(int(3)), Some(true));
    assert_eq!(RingNumber::drawn(4, 2.0).applied(function("floor", f64::floor)).missing(), Some(NoResidue::Near));
}

#[test]
fn only_what_loses_digits_is_a_conversion() {
    let x = RingNumber::drawn(5, 1.0);
    assert_eq!(x.cast(FloatType::Float16, FloatType::Float32).is(x), Some(true));
    let half = x.cast(FloatType::Float32, FloatType::Float16);
    assert_eq!(half.is(x), Some(false));
    assert_eq!(half.is(x.cast(FloatType::Float32, FloatType::BFloat16)), Some(false));
    assert_eq!(half.is(x.cast(FloatType::Float32, FloatType::Float16)), Some(true));
}

#[test]
fn bytes_are_the_number() {
    let numbers = drawn().into_iter().chain([RingNumber::without(NoResidue::Near), int(1).over(int(0))]);
    for x in numbers {
        let again = RingNumber::of_bytes(x.bytes());
        assert_eq!((again.residue(), again.terms()), (x.residue(), x.terms()));
    }
}
