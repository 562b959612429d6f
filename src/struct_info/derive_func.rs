//! The two `derive_func`s of the language.

use super::wrap_type;
use crate::book::Erratum;
use crate::grammar::{DeriveFunc, StructInfo};
use crate::judge::Cx;
use crate::types::erase_struct_info;

/// SI.DERIVEFUNC.DEFAULT: derives the result of a packed call from its `sinfo_args`.
///
/// 2023-02, `derive_func` for `FuncStructInfo`.
pub fn default_derive(cx: &mut Cx, sinfo_args: &[StructInfo]) -> StructInfo {
    let claimed: Vec<StructInfo> = sinfo_args.iter().map(|s| claimed(cx, s)).collect();
    let single = claimed.first().cloned().unwrap_or(StructInfo::Object);
    cx.by_cases((
        &[
            (rule!("SI.DERIVEFUNC.DEFAULT.0"), sinfo_args.is_empty(), StructInfo::Object),
            (rule!("SI.DERIVEFUNC.DEFAULT.1"), sinfo_args.len() == 1, single),
        ],
        (rule!("SI.DERIVEFUNC.DEFAULT.N"), StructInfo::tuple(claimed)),
    ))
}

/// PR14148.SINFO.DEFAULT_DERIVE: the result that a call claims, with its shapes. A type argument of the older form is
/// wrapped when it is read (C01), so there is no type to wrap here.
///
/// Errata: A53, literally a call only has type arguments, without shapes.
fn claimed(cx: &mut Cx, info: &StructInfo) -> StructInfo {
    if cx.literal(Erratum::A53) {
        let ty = erase_struct_info(cx, info);
        return wrap_type(cx, &ty);
    }
    cx.conclude(rule!("PR14148.SINFO.DEFAULT_DERIVE"), info.clone())
}

/// SI.DERIVEFUNC.EMPTY: nothing is known about the result.
pub fn empty_derive(cx: &mut Cx) -> StructInfo {
    cx.conclude(rule!("SI.DERIVEFUNC.EMPTY"), StructInfo::Object)
}

/// SI.DERIVEFUNC.IDENTITY: macros are equal if they are the same registered function, whatever they compute. The rule
/// counts as used if both are registered names.
pub(super) fn same_derive_func(cx: &mut Cx, d1: Option<&DeriveFunc>, d2: Option<&DeriveFunc>) -> bool {
    match (d1, d2) {
        (Some(DeriveFunc::Named(name1)), Some(DeriveFunc::Named(name2))) => {
            cx.holds(&[(rule!("SI.DERIVEFUNC.IDENTITY"), 1, name1 == name2)])
        }
        (Some(_) | None, Some(_) | None) => d1 == d2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::Reading;
    use crate::grammar::DataType;

    #[test]
    fn by_the_number_of_arguments() {
        let s = || StructInfo::tensor([2.into()], DataType::FLOAT32);
        let mut cx = Cx::new();
        assert_eq!(default_derive(&mut cx, &[]), StructInfo::Object);
        assert_eq!(default_derive(&mut cx, &[s()]), s());
        assert_eq!(default_derive(&mut cx, &[s(), s()]), StructInfo::tuple([s(), s()]));
        let mut literal = Cx::new().with_reading(Reading::literal_only(&[Erratum::A53]));
        assert_eq!(default_derive(&mut literal, &[s()]), StructInfo::tensor_ndim(1, DataType::FLOAT32));
        assert_eq!(empty_derive(&mut cx), StructInfo::Object);
    }
}
