//! When type conversions are necessary.

use super::{find_glb, is_subtype};
use crate::book::Erratum;
use crate::grammar::Type;
use crate::judge::Cx;

/// The conversion needed to use a value of one type where another is expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conversion {
    /// The value may be used as it is.
    None,
    /// A compile-time error that asks for a `MatchCast`.
    MatchCast,
    /// A type error; `disjoint` if no value can belong to both types, so that a `MatchCast` must fail.
    Unrelated {
        /// Whether no value belongs to both.
        disjoint: bool,
    },
}

/// CONV: the conversion needed to use a value of type `actual` where `expected` is wanted.
///
/// 2023-02, When Type Conversions are Necessary. Literal A25: all unrelated types are called disjoint.
pub fn conversion(cx: &mut Cx, actual: &Type, expected: &Type) -> Conversion {
    let accepted = is_subtype(cx, actual, expected) && cx.conclude(rule!("SUB.MEANING"), true);
    let more_general = !accepted && is_subtype(cx, expected, actual);
    let unrelated = !accepted && !more_general;
    let disjoint = unrelated && (cx.literal(Erratum::A25) || find_glb(cx, actual, expected).is_none());
    let step = cx.by_cases((
        &[(rule!("CONV.UP"), accepted, Conversion::None), (rule!("CONV.DOWN"), more_general, Conversion::MatchCast)],
        (rule!("CONV.UNRELATED"), Conversion::Unrelated { disjoint }),
    ));
    // There are no implicit conversions.
    if more_general { cx.conclude(rule!("TYPE.STRONG"), step) } else { step }
}

impl std::fmt::Display for Conversion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Conversion::None => "none",
            Conversion::MatchCast => "a MatchCast",
            Conversion::Unrelated { disjoint: true } => "impossible: the types are disjoint",
            Conversion::Unrelated { disjoint: false } => "a type error: the types are unrelated",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::DataType;

    #[test]
    fn up_down_and_across() {
        let t = |ndim, dtype| Type::tensor(ndim, dtype);
        let (f32, void) = (DataType::FLOAT32, DataType::VOID);
        let ask = |t1: Type, t2: Type| conversion(&mut Cx::new(), &t1, &t2);
        assert_eq!(ask(t(2, f32), Type::Object), Conversion::None);
        assert_eq!(ask(Type::Object, t(2, f32)), Conversion::MatchCast);
        assert_eq!(ask(t(2, f32), Type::shape(2)), Conversion::Unrelated { disjoint: true });
        assert_eq!(ask(t(-1, f32), t(2, void)), Conversion::Unrelated { disjoint: false });
    }
}
