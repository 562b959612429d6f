//! The functions that TIR expressions may call and whose meaning is known here.

use crate::grammar::DataType;

/// The operands and the result of an intrinsic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signature {
    /// `n` operands of one data type, which is also the data type of the result.
    Same(usize),
    /// One floating-point operand and a Boolean result.
    Test,
    /// A floating-point operand and an integer. The result has the data type of the first.
    FloatInt,
    /// An operand whose bits are read as another data type, which is the first argument in the text.
    Reinterpret,
}

macro_rules! intrinsics {
    ($($variant:ident $name:literal $signature:expr;)*) => {
        /// A function of TIR, named as after `T.`.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum Intrinsic {
            $(#[doc = concat!("`T.", $name, "`.")] $variant,)*
        }

        impl Intrinsic {
            /// Every intrinsic.
            pub const ALL: &[Intrinsic] = &[$(Intrinsic::$variant),*];

            /// The name after `T.`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Intrinsic::$variant => $name,)*
                }
            }

            /// The operands and the result.
            pub fn signature(self) -> Signature {
                match self {
                    $(Intrinsic::$variant => $signature,)*
                }
            }

            /// The intrinsic with this name after `T.`.
            pub fn from_name(name: &str) -> Option<Intrinsic> {
                match name {
                    $($name => Some(Intrinsic::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

intrinsics! {
    Exp "exp" Signature::Same(1);
    Exp2 "exp2" Signature::Same(1);
    Exp10 "exp10" Signature::Same(1);
    Log "log" Signature::Same(1);
    Log2 "log2" Signature::Same(1);
    Log10 "log10" Signature::Same(1);
    Log1p "log1p" Signature::Same(1);
    Sqrt "sqrt" Signature::Same(1);
    Rsqrt "rsqrt" Signature::Same(1);
    Sin "sin" Signature::Same(1);
    Cos "cos" Signature::Same(1);
    Tan "tan" Signature::Same(1);
    Sinh "sinh" Signature::Same(1);
    Cosh "cosh" Signature::Same(1);
    Tanh "tanh" Signature::Same(1);
    Asin "asin" Signature::Same(1);
    Acos "acos" Signature::Same(1);
    Atan "atan" Signature::Same(1);
    Asinh "asinh" Signature::Same(1);
    Acosh "acosh" Signature::Same(1);
    Atanh "atanh" Signature::Same(1);
    Sigmoid "sigmoid" Signature::Same(1);
    Erf "erf" Signature::Same(1);
    Floor "floor" Signature::Same(1);
    Ceil "ceil" Signature::Same(1);
    Round "round" Signature::Same(1);
    Trunc "trunc" Signature::Same(1);
    Nearbyint "nearbyint" Signature::Same(1);
    Fabs "fabs" Signature::Same(1);
    Pow "pow" Signature::Same(2);
    Atan2 "atan2" Signature::Same(2);
    Fmod "fmod" Signature::Same(2);
    Copysign "copysign" Signature::Same(2);
    Hypot "hypot" Signature::Same(2);
    Nextafter "nextafter" Signature::Same(2);
    Ldexp "ldexp" Signature::FloatInt;
    Isnan "isnan" Signature::Test;
    Isinf "isinf" Signature::Test;
    Isfinite "isfinite" Signature::Test;
    Popcount "popcount" Signature::Same(1);
    Clz "clz" Signature::Same(1);
    BitwiseAnd "bitwise_and" Signature::Same(2);
    BitwiseOr "bitwise_or" Signature::Same(2);
    BitwiseXor "bitwise_xor" Signature::Same(2);
    BitwiseNot "bitwise_not" Signature::Same(1);
    ShiftLeft "shift_left" Signature::Same(2);
    ShiftRight "shift_right" Signature::Same(2);
    Likely "likely" Signature::Same(1);
    Reinterpret "reinterpret" Signature::Reinterpret;
}

impl Intrinsic {
    /// The number of operands.
    pub fn arity(self) -> usize {
        match self.signature() {
            Signature::Same(n) => n,
            Signature::Test | Signature::Reinterpret => 1,
            Signature::FloatInt => 2,
        }
    }

    /// The data type of the result for a given operand; `None` if the text must state it.
    pub fn result(self, operand: DataType) -> Option<DataType> {
        match self.signature() {
            Signature::Same(_) | Signature::FloatInt => Some(operand),
            Signature::Test => Some(DataType::BOOL),
            Signature::Reinterpret => None,
        }
    }
}
