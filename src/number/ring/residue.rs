//! Residues modulo the fourth power of a prime, in Montgomery's form (REFINE.RING.NUMBERS).

/// The prime, the largest below 2^16. A number that is not a multiple of it has an inverse.
const PRIME: u64 = 65_521;
/// Its fourth power, the largest that fits into 64 bits.
const MODULUS: u64 = PRIME * PRIME * PRIME * PRIME;
/// Logarithms and functions without an algebraic law depend only on the residue modulo this.
const CUBE: u64 = PRIME * PRIME * PRIME;
/// 2^64 modulo the modulus: the representation of 1 in Montgomery's form.
const ONE: u64 = (u64::MAX - MODULUS) + 1;
/// The square of that, modulo the modulus.
const SQUARE: u64 = ((ONE as u128 * ONE as u128) % MODULUS as u128) as u64;
/// The modulus times this is -1 modulo 2^64.
const NEGATED_INVERSE: u64 = negated_inverse();

/// Newton's iteration, each step of which doubles the number of bits.
const fn negated_inverse() -> u64 {
    let (mut inverse, mut step) = (1u64, 0);
    while step < 6 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(MODULUS.wrapping_mul(inverse)));
        step += 1;
    }
    inverse.wrapping_neg()
}

/// A number of the ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Residue(u64);

/// The prime.
const PRIME_RESIDUE: Residue = Residue::of_int(PRIME as i128);
/// 1, 1/2 and 1/3.
const SHARES: [Residue; 3] = [Residue::ONE, Residue::HALF, share(3)];

/// `1 / n`, for a number below the prime, which has an inverse.
const fn share(n: i128) -> Residue {
    match Residue::of_int(n).inverse() {
        Some(inverse) => inverse,
        None => Residue::ZERO,
    }
}

/// The residue of `a b / 2^64`.
#[inline]
const fn reduced_product(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    let multiple = (product as u64).wrapping_mul(NEGATED_INVERSE) as u128 * MODULUS as u128;
    let (sum, carries) = product.overflowing_add(multiple);
    let high = (sum >> 64) as u64;
    if carries || high >= MODULUS { high.wrapping_sub(MODULUS) } else { high }
}

impl Residue {
    pub(super) const ZERO: Residue = Residue(0);
    pub(super) const ONE: Residue = Residue(ONE);
    pub(super) const HALF: Residue = share(2);

    pub(super) const fn of_int(value: i128) -> Residue {
        // The remainder is less than the modulus.
        let rest = value.rem_euclid(MODULUS as i128) as u64;
        Residue(reduced_product(rest, SQUARE))
    }

    /// A residue with an inverse, from any 64 bits.
    pub(super) fn invertible(bits: u64) -> Residue {
        let residue = bits % MODULUS;
        Residue(if residue.is_multiple_of(PRIME) { residue + 1 } else { residue })
    }

    #[inline]
    pub(super) const fn add(self, other: Residue) -> Residue {
        let (sum, carries) = self.0.overflowing_add(other.0);
        Residue(if carries || sum >= MODULUS { sum.wrapping_sub(MODULUS) } else { sum })
    }

    #[inline]
    pub(super) const fn negated(self) -> Residue {
        if self.0 == 0 { self } else { Residue(MODULUS - self.0) }
    }

    #[inline]
    pub(super) const fn times(self, other: Residue) -> Residue {
        Residue(reduced_product(self.0, other.0))
    }

    pub(super) const fn power(self, mut exponent: u64) -> Residue {
        let (mut power, mut square) = (Residue::ONE, self);
        while exponent > 0 {
            if exponent & 1 == 1 {
                power = power.times(square);
            }
            square = square.times(square);
            exponent >>= 1;
        }
        power
    }

    /// The multiplicative inverse; `None` for a multiple of the prime.
    pub(super) const fn inverse(self) -> Option<Residue> {
        if self.0.is_multiple_of(PRIME) {
            return None;
        }
        // In a field this is Fermat's theorem.
        let near = self.power(PRIME - 2);
        Some(self.nearer_inverse(self.nearer_inverse(near)))
    }

    /// A step of Newton's iteration, which doubles the power of the prime up to which this is the inverse.
    const fn nearer_inverse(self, near: Residue) -> Residue {
        near.times(Residue::ONE.add(Residue::ONE).add(self.times(near).negated()))
    }

    /// `(1 + p)^x`, by the binomial series, which is finite. It turns sums into products, like `exp` of real numbers.
    pub(super) fn exponential(self) -> Residue {
        const LESS: [Residue; 3] = [Residue::ZERO, Residue::of_int(-1), Residue::of_int(-2)];
        let term = |series: Residue, (less, share): (&Residue, &Residue)| {
            Residue::ONE.add(self.add(*less).times(PRIME_RESIDUE).times(*share).times(series))
        };
        LESS.iter().zip(&SHARES).rev().fold(Residue::ONE, term)
    }

    /// A representative of the number and its negative. Returns also whether it is the negative.
    pub(super) fn without_sign(self) -> (Residue, bool) {
        let negated = self.negated();
        if negated.0 % CUBE < self.0 % CUBE { (negated, true) } else { (self, false) }
    }

    /// The inverse of the exponential, up to a root of unity: it turns products into sums, modulo the third power of
    /// the prime. `None` for a multiple of the prime.
    pub(super) fn logarithm(self) -> Option<Residue> {
        if self.0.is_multiple_of(PRIME) {
            return None;
        }
        let (prime, [_, half, third]) = (PRIME_RESIDUE, SHARES);
        // (log (1 + p z)) / p
        let series = |z: Residue| {
            let rest = prime.times(z).times(third).add(half.negated());
            z.add(prime.times(z).times(z).times(rest))
        };
        let near_one = self.power(PRIME - 1).add(Residue::ONE.negated());
        let quotient = Residue::of_int((reduced_product(near_one.0, 1) / PRIME).into());
        let scale = series(Residue::ONE).times(Residue::of_int((PRIME - 1).into()));
        Some(series(quotient).times(scale.inverse()?))
    }

    /// Whether both are equal modulo the third power of the prime.
    pub(super) fn is_nearly(self, other: Residue) -> bool {
        self.add(other.negated()).0.is_multiple_of(CUBE)
    }

    /// A number that depends only on a name and on residues: the value of a function without laws.
    pub(super) fn of_term(name: &str, operands: &[Residue]) -> Residue {
        let state = name.bytes().fold(0xcbf2_9ce4_8422_2325, |state: u64, byte| {
            (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Residue::invertible(operands.iter().fold(mixed(state), |state, operand| mixed(state ^ mixed(operand.0 % CUBE))))
    }

    /// The sum of products of residues, from the sum of the products of their representations: this number plus the
    /// second times 2^128.
    pub(super) fn of_sum(sum: u128, carries: u64) -> Residue {
        // As in [`reduced_product`]; the lowest 64 bits vanish.
        let multiple = u128::from((sum as u64).wrapping_mul(NEGATED_INVERSE)) * u128::from(MODULUS);
        let (sum, carry) = sum.overflowing_add(multiple);
        let (mut low, mut high) = ((sum >> 64) as u64, u128::from(carries) + u128::from(carry));
        while high > 0 {
            let rest = high * u128::from(ONE) + u128::from(low);
            (low, high) = (rest as u64, rest >> 64);
        }
        Residue(if low >= MODULUS { low - MODULUS } else { low })
    }

    /// The representation.
    pub(super) fn bits(self) -> u64 {
        self.0
    }

    /// The residue with this representation, which must be less than the modulus.
    #[inline]
    pub(super) fn of_bits(bits: u64) -> Residue {
        Residue(bits)
    }
}

/// Mixes the bits, so that every bit depends on every other one (a step of SplitMix64).
pub(super) fn mixed(state: u64) -> u64 {
    let mixed = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_of_products_is_reduced_at_its_end() {
        for count in [0, 1, 2, 3, 5000] {
            let term = |i: u64| [Residue(MODULUS - 1 - i), Residue::invertible(mixed(i))];
            let (mut sum, mut carries, mut expected) = (0u128, 0, Residue::ZERO);
            for [a, b] in (0..count).map(term) {
                let (more, carry) = sum.overflowing_add(u128::from(a.0) * u128::from(b.0));
                (sum, carries) = (more, carries + u64::from(carry));
                expected = expected.add(a.times(b));
            }
            assert_eq!(Residue::of_sum(sum, carries), expected, "{count} terms");
        }
        assert!(Residue::of_sum(u128::MAX, u64::MAX).0 < MODULUS);
    }

    fn some() -> Vec<Residue> {
        let ints = [0, 1, -1, 2, 3, 65_521, 65_520, 1 << 80].map(Residue::of_int);
        ints.into_iter().chain((0..20).map(|i| Residue::invertible(mixed(i)))).collect()
    }

    #[test]
    fn integers_go_over_as_they_are_added_and_multiplied() {
        for a in [0i128, 1, -1, 7, 123_456_789_012, -(1 << 70), i64::MAX.into()] {
            for b in [0i128, 1, -3, 65_521, 1 << 50] {
                let (x, y) = (Residue::of_int(a), Residue::of_int(b));
                assert_eq!(x.add(y), Residue::of_int(a + b), "{a} + {b}");
                assert_eq!(x.times(y), Residue::of_int(a.wrapping_mul(b)), "{a} * {b}");
                assert_eq!(x.negated(), Residue::of_int(-a));
            }
        }
    }

    #[test]
    fn what_the_prime_does_not_divide_has_an_inverse() {
        for x in some() {
            match x.inverse() {
                Some(inverse) => assert_eq!(x.times(inverse), Residue::ONE),
                None => assert_eq!(x.bits() % PRIME, 0),
            }
        }
    }

    #[test]
    fn the_exponential_of_a_sum_is_the_product_of_exponentials() {
        assert_eq!(Residue::ZERO.exponential(), Residue::ONE);
        assert_eq!(Residue::ONE.exponential(), Residue::of_int(65_522));
        assert_eq!(Residue::of_int(9).exponential(), Residue::of_int(65_522).power(9));
        for x in some() {
            for y in some() {
                assert_eq!(x.add(y).exponential(), x.exponential().times(y.exponential()));
            }
        }
    }

    #[test]
    fn the_logarithm_of_a_product_is_the_sum_of_logarithms() {
        let logarithm = |x: Residue| x.logarithm().unwrap();
        let units: Vec<Residue> = some().into_iter().filter(|x| x.inverse().is_some()).collect();
        for x in &units {
            assert!(logarithm(x.exponential()).is_nearly(*x));
            for y in &units {
                assert!(logarithm(x.times(*y)).is_nearly(logarithm(*x).add(logarithm(*y))));
            }
        }
        assert!(!logarithm(Residue::of_int(2)).is_nearly(Residue::ZERO));
        assert_eq!(Residue::of_int(PRIME.into()).logarithm(), None);
    }

    #[test]
    fn a_term_depends_on_its_name_and_on_its_operands() {
        let (x, y) = (Residue::of_int(2), Residue::of_int(3));
        assert_eq!(Residue::of_term("sqrt", &[x]), Residue::of_term("sqrt", &[x]));
        assert_ne!(Residue::of_term("sqrt", &[x]), Residue::of_term("erf", &[x]));
        assert_ne!(Residue::of_term("pow", &[x, y]), Residue::of_term("pow", &[y, x]));
        assert!(Residue::of_term("sqrt", &[x]).inverse().is_some());
    }
}
