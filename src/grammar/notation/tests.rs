use super::*;
use crate::grammar::BinaryOp;

#[test]
fn precedence_is_that_of_python() {
    let n = || PrimExpr::var("n");
    let two = || PrimExpr::IntImm(2);
    let sum = PrimExpr::binary(BinaryOp::Add, n(), PrimExpr::binary(BinaryOp::Mul, two(), n()));
    assert_eq!(parse_prim_expr("n + 2 * n"), Ok(sum));
    let left = PrimExpr::binary(BinaryOp::Sub, PrimExpr::binary(BinaryOp::Sub, n(), two()), two());
    assert_eq!(parse_prim_expr("n - 2 - 2"), Ok(left));
    let right = PrimExpr::binary(BinaryOp::Sub, n(), PrimExpr::binary(BinaryOp::Sub, n(), two()));
    assert_eq!(parse_prim_expr("n - (n - 2)"), Ok(right));
}

/// Printed values are read back unchanged.
mod printed {
    use proptest::prelude::*;

    use super::super::*;
    use crate::grammar::{
        BinaryOp, DataType, DeriveFunc, FuncStructInfo, Ndim, PrimStructInfo, ShapeStructInfo, ShapeVar, StructInfo,
        TensorShape, TensorStructInfo, Type, TypeCode, Var,
    };

    fn name() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("n"),
            Just("m1"),
            Just("_x"),
            Just("min"),
            Just("select"),
            Just("float32"),
            Just("ndim"),
            Just("pure"),
            Just("é"),
        ]
        .prop_map(str::to_string)
    }

    fn dtype() -> impl Strategy<Value = DataType> {
        let code = prop_oneof![
            Just(TypeCode::Int),
            Just(TypeCode::UInt),
            Just(TypeCode::Float),
            Just(TypeCode::BFloat),
            Just(TypeCode::Handle)
        ];
        prop_oneof![
            Just(DataType::VOID),
            Just(DataType::BOOL),
            (code, 1..200u16, 1..5u16).prop_map(|(code, bits, lanes)| DataType { code, bits, lanes }),
        ]
    }

    fn ndim() -> impl Strategy<Value = Ndim> {
        prop_oneof![Just(Ndim::Unknown), any::<u32>().prop_map(Ndim::Known), (0..4u32).prop_map(Ndim::Known)]
    }

    fn dim() -> impl Strategy<Value = PrimExpr> {
        let leaf = prop_oneof![
            (name(), 0..3u32).prop_map(|(name, id)| PrimExpr::Var(ShapeVar::numbered(name.as_str().into(), id))),
            any::<i64>().prop_map(PrimExpr::IntImm),
            (-3..4i64).prop_map(PrimExpr::IntImm),
        ];
        leaf.prop_recursive(5, 40, 3, |inner| {
            prop_oneof![
                6 => (prop::sample::select(BinaryOp::ALL.to_vec()), inner.clone(), inner.clone())
                    .prop_map(|(op, a, b)| PrimExpr::binary(op, a, b)),
                1 => inner.clone().prop_map(|a| PrimExpr::Not(a.into())),
                1 => (inner.clone(), inner.clone(), inner)
                    .prop_map(|(c, t, f)| PrimExpr::Select(c.into(), t.into(), f.into())),
            ]
        })
    }

    fn dims() -> impl Strategy<Value = Vec<PrimExpr>> {
        prop::collection::vec(dim(), 0..3)
    }

    fn struct_info() -> impl Strategy<Value = StructInfo> {
        let shape = prop_oneof![
            Just(None),
            dims().prop_map(|dims| Some(TensorShape::Dims(dims.into()))),
            (name(), 0..3u32).prop_map(|(n, id)| Some(TensorShape::Var(Var::numbered(n.as_str().into(), id).into()))),
        ];
        let leaf = prop_oneof![
            Just(StructInfo::Object),
            (shape, dtype(), ndim()).prop_map(|(shape, dtype, ndim)| StructInfo::Tensor(TensorStructInfo {
                shape,
                dtype,
                ndim,
                vdevice: None,
            })),
            (prop::option::of(dims()), ndim()).prop_map(|(values, ndim)| {
                StructInfo::Shape(ShapeStructInfo { values: values.map(Into::into), ndim })
            }),
            (dtype(), prop::option::of(dim()))
                .prop_map(|(dtype, value)| StructInfo::Prim(PrimStructInfo { dtype, value })),
        ];
        leaf.prop_recursive(4, 30, 3, |inner| {
            let list = prop::collection::vec(inner.clone(), 0..3);
            let derive_func = prop_oneof![
                Just(None),
                Just(Some(DeriveFunc::DefaultDerive)),
                Just(Some(DeriveFunc::EmptyDerive)),
                Just(Some(DeriveFunc::Named("demo.derive".into()))),
            ];
            let pure = prop::option::of(any::<bool>());
            prop_oneof![
                list.clone().prop_map(StructInfo::tuple),
                // Without parameters the result is not printed, because nothing reads it.
                (prop::option::of(list), inner, derive_func, pure).prop_map(|(params, ret, derive_func, pure)| {
                    let ret = if params.is_some() { ret } else { StructInfo::Object };
                    let params = params.map(Into::into);
                    StructInfo::Func(FuncStructInfo { params, ret, derive_func, pure }.into())
                }),
            ]
        })
    }

    fn ty() -> impl Strategy<Value = Type> {
        let rank = prop_oneof![Just(-1i64), 0..5i64];
        let leaf = prop_oneof![
            Just(Type::Object),
            Just(Type::PackedFunc),
            (rank.clone(), dtype()).prop_map(|(ndim, dtype)| Type::tensor(ndim, dtype)),
            rank.prop_map(Type::shape),
        ];
        leaf.prop_recursive(4, 30, 3, |inner| {
            let list = prop::collection::vec(inner.clone(), 0..3);
            prop_oneof![
                list.clone().prop_map(Type::tuple),
                (list, inner, any::<bool>()).prop_map(|(args, ret, pure)| Type::func(args, ret, pure)),
            ]
        })
    }

    proptest! {
        #[test]
        fn dimensions(dim in dim()) {
            prop_assert_eq!(parse_prim_expr(&dim.to_string()), Ok(dim));
        }

        #[test]
        fn structural_information(info in struct_info()) {
            prop_assert_eq!(parse_struct_info(&info.to_string()), Ok(info));
        }

        #[test]
        fn types(ty in ty()) {
            prop_assert_eq!(parse_type(&ty.to_string()), Ok(ty));
        }

        #[test]
        fn any_text(text in ".*") {
            let _ = parse_prim_expr(&text);
            let _ = parse_struct_info(&text);
            let _ = parse_type(&text);
        }
    }
}

#[test]
fn deep_text_is_refused() {
    for text in ["(".repeat(100_000), "-".repeat(100_000), "not ".repeat(100_000), "n + ".repeat(100_000) + "n"] {
        assert!(parse_prim_expr(&text).is_err());
    }
    assert!(parse_struct_info(&"Tuple(".repeat(100_000)).is_err());
    assert!(parse_type(&"Func((".repeat(100_000)).is_err());
}

#[test]
fn spellings_of_tvmscript() {
    use crate::grammar::{DataType, DeriveFunc, StructInfo};
    let n = || PrimExpr::var("n");
    let f32 = DataType::FLOAT32;
    for (text, expected) in [
        ("R.Tensor((n, 4), \"float32\")", StructInfo::tensor([n(), 4.into()], f32)),
        ("R.Tensor((\"n\", 4), \"float32\")", StructInfo::tensor([n(), 4.into()], f32)),
        ("R.Shape([\"n + 1\", 'n'])", { StructInfo::shape([PrimExpr::binary(BinaryOp::Add, n(), 1.into()), n()]) }),
        ("R.Tensor((n,), dtype=\"f32\")", StructInfo::tensor([n()], f32)),
        ("Tensor([], float32)", StructInfo::tensor([], f32)),
        ("Tensor(float32)", StructInfo::tensor_ndim(-1, f32)),
        ("R.Tensor(dtype=\"float32\", ndim=2)", StructInfo::tensor_ndim(2, f32)),
        ("R.Tensor", StructInfo::tensor_ndim(-1, DataType::VOID)),
        ("R.Shape([n])", StructInfo::shape([n()])),
        ("R.Prim(value=n)", {
            StructInfo::Prim(crate::grammar::PrimStructInfo { dtype: DataType::INT64, value: Some(n()) })
        }),
        ("T.int64", StructInfo::prim(DataType::INT64)),
        ("R.Any", StructInfo::Object),
        ("R.Callable((R.Object,), R.Shape)", StructInfo::func([StructInfo::Object], StructInfo::shape_ndim(-1))),
        ("R.Callable", StructInfo::packed(DeriveFunc::DefaultDerive)),
    ] {
        assert_eq!(parse_struct_info(text), Ok(expected), "{text}");
    }
}

#[test]
fn a_quoted_text_is_one_dimension() {
    for text in ["R.Shape([\"\"])", "R.Shape([\"n, m\"])", "R.Shape([\"n)\"])", "R.Shape([\"n\" m])"] {
        assert!(parse_struct_info(text).is_err(), "{text}");
    }
}
