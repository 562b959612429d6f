//! The test points of functions: random bits, neighbourhoods of critical points, and the typical ranges of the
//! functions.

use relax_spec::number::FloatType;

/// A generator of random bits that is the same on every machine: a permutation of a counter.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// A number from 0 to 1.
    pub fn unit(&mut self) -> f64 {
        self.next() as f64 / 2f64.powi(64)
    }
}

/// The points where functions have a zero, an infinity, a bend or an end, or where their largest and smallest results
/// are.
const EDGES: [f64; 38] = [
    0.0,
    5e-324,
    2.225_073_858_507_201_4e-308,
    f64::MAX,
    1.401_298_464_324_817e-45,
    1.175_494_350_822_287_5e-38,
    3.402_823_466_385_288_6e38,
    5.960_464_477_539_063e-8,
    65_504.0,
    0.5,
    1.0,
    2.0,
    709.782_712_893_384,
    745.133_219_101_941_1,
    708.396_418_532_264_1,
    710.475_860_073_943_9,
    88.722_839,
    103.972_08,
    89.415_986,
    11.089_866,
    17.328_679,
    308.254_715_559_916_7,
    323.306_215_343_115_8,
    1024.0,
    1074.0,
    std::f64::consts::PI,
    std::f64::consts::FRAC_PI_2,
    std::f64::consts::E,
    std::f64::consts::LN_2,
    38.58,
    14.2,
    5.0,
    9.0,
    22.0,
    45.0,
    1e22,
    1.0 / (1u64 << 30) as f64,
    (1u64 << 30) as f64,
];

/// A finite float of a type.
pub fn draw(random: &mut Random, float: FloatType) -> f64 {
    let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
    loop {
        let x = match random.below(12) {
            0 | 1 => float.of_bits(random.next() >> (64 - float.width())),
            2 => random.unit(),
            3 => random.unit() * 30.0,
            4 => random.unit() * 800.0,
            5 | 6 => 1.0 + (random.unit() - 0.5) * 2f64.powi(-(random.below(60) as i32)),
            7 => random.unit() * 2f64.powi(random.below(200) as i32 - 100),
            8 => beside(random, float),
            9 => random.unit() * 10.0,
            10 => random.unit() * 40.0,
            _ => random.below(8000) as f64 / 8.0,
        };
        let x = float.round(sign * x);
        if x.is_finite() {
            return x;
        }
    }
}

/// An edge, or one of its neighbouring floats.
fn beside(random: &mut Random, float: FloatType) -> f64 {
    let edge = EDGES[random.below(EDGES.len() as u64) as usize];
    let bits = float.to_bits(float.round(edge.min(float.of_bits(finite(float) - 1))));
    let place = (bits + random.below(7)).saturating_sub(3);
    float.of_bits(place.min(finite(float) - 1))
}

/// The number of non-negative finite floats of a type.
pub fn finite(float: FloatType) -> u64 {
    let exponents = (1u64 << (float.width() - float.digits())) - 1;
    exponents << (float.digits() - 1)
}
