//! The two `derive_func`s of the language.

use super::wrap_type;
use crate::cx::Cx;
use crate::grammar::{DeriveFunc, StructInfo, Type};
use crate::rule::Rule;

/// SI.DERIVEFUNC.DEFAULT: the result of a packed call follows from its type arguments.
///
/// 2023-02, `derive_func` for `FuncStructInfo`.
pub fn default_derive(cx: &mut Cx, type_args: &[Type]) -> StructInfo {
    match type_args {
        [] if cx.fire(Rule::SiDerivefuncDefault0) => StructInfo::Object,
        [t] if cx.fire(Rule::SiDerivefuncDefault1) => wrap_type(cx, t),
        [_, _, ..] if cx.fire(Rule::SiDerivefuncDefaultN) => {
            StructInfo::Tuple(type_args.iter().map(|t| wrap_type(cx, t)).collect())
        }
        // A masked rule leaves no answer; the empty tuple is what no rule gives.
        [..] => StructInfo::tuple([]),
    }
}

/// SI.DERIVEFUNC.EMPTY: nothing is known of the result.
pub fn empty_derive(cx: &mut Cx) -> StructInfo {
    if cx.fire(Rule::SiDerivefuncEmpty) { StructInfo::Object } else { StructInfo::tuple([]) }
}

/// SI.DERIVEFUNC.IDENTITY: macros are equal when they are the same registered function, whatever they compute. The
/// rule is at stake between two registered names.
pub(super) fn same_derive_func(cx: &mut Cx, d1: Option<&DeriveFunc>, d2: Option<&DeriveFunc>) -> bool {
    match (d1, d2) {
        (Some(DeriveFunc::Named(name1)), Some(DeriveFunc::Named(name2))) => {
            cx.premise(Rule::SiDerivefuncIdentity, 1, name1 == name2)
        }
        (Some(_) | None, Some(_) | None) => d1 == d2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::DataType;

    #[test]
    fn by_the_number_of_type_arguments() {
        let t = || Type::tensor(2, DataType::FLOAT32);
        let s = || StructInfo::tensor_ndim(2, DataType::FLOAT32);
        let mut cx = Cx::new();
        assert_eq!(default_derive(&mut cx, &[]), StructInfo::Object);
        assert_eq!(default_derive(&mut cx, &[t()]), s());
        assert_eq!(default_derive(&mut cx, &[t(), t()]), StructInfo::tuple([s(), s()]));
        assert_eq!(empty_derive(&mut cx), StructInfo::Object);
    }
}
