//! Operators on small values, and the inferred information for the same calls.

use super::*;
use crate::book::Edition;
use crate::eval::{EvalOptions, Machine};
use crate::grammar::{
    Attrs, BinaryOp, DataType, Expr, Ndim, PrimExpr, Span, TensorData, TensorShape, TensorStructInfo,
};
use crate::value::{ValueSpec, from_spec, to_spec};

fn call(attrs: &[(&str, AttrValue)], args: usize) -> Call {
    Call {
        op: Expr::op("relax.add"),
        args: (0..args).map(|i| Expr::var(&format!("x{i}"))).collect(),
        sinfo_args: Vec::new(),
        attrs: attrs.iter().map(|(name, value)| ((*name).into(), value.clone())).collect::<Attrs>(),
        span: Span::NONE,
    }
}

fn tensor(shape: &[u64], values: &[f64]) -> ValueSpec {
    ValueSpec::Tensor(TensorData::from_values(DataType::FLOAT32, shape, values).unwrap())
}

fn ints(shape: &[u64], values: &[f64]) -> ValueSpec {
    ValueSpec::Tensor(TensorData::from_values(DataType::INT64, shape, values).unwrap())
}

fn bools(values: &[f64]) -> ValueSpec {
    ValueSpec::Tensor(TensorData::from_values(DataType::BOOL, &[values.len() as u64], values).unwrap())
}

/// Runs an operator. An error is returned as its message.
fn eval(name: &str, attrs: &[(&str, AttrValue)], args: &[ValueSpec]) -> Result<ValueSpec, String> {
    let (module, options) = (IrModule::default(), EvalOptions::default());
    let mut cx = Cx::new();
    let mut machine = Machine::new(&mut cx, &module, &options);
    let values: Vec<Value> = args.iter().map(|spec| from_spec(spec, &[], &options.registry).unwrap()).collect();
    let call = call(attrs, args.len());
    match lookup(name).unwrap().evaluate(&mut machine, &EvalArgs { call: &call, values: &values, result: None }) {
        Ok(value) => Ok(to_spec(&value).unwrap()),
        Err(Stop::Error(error)) => Err(error.message),
        Err(Stop::Unspecified(reason)) => Err(format!("unspecified: {reason}")),
        Err(stop) => panic!("{stop:?}"),
    }
}

fn infer(name: &str, attrs: &[(&str, AttrValue)], args: &[StructInfo]) -> Result<StructInfo, InferError> {
    let call = call(attrs, args.len());
    lookup(name).unwrap().infer(&mut Cx::new(), &InferArgs { call: &call, args, module: None })
}

fn float(dims: &[PrimExpr]) -> StructInfo {
    StructInfo::tensor(dims.iter().cloned(), DataType::FLOAT32)
}

fn ranked(ndim: i64) -> StructInfo {
    StructInfo::tensor_ndim(ndim, DataType::FLOAT32)
}

fn n() -> PrimExpr {
    PrimExpr::var("n")
}

fn int_list(items: &[i64]) -> AttrValue {
    AttrValue::List(items.iter().map(|i| AttrValue::Int(*i)).collect())
}

#[test]
fn a_default_is_filled_in_and_another_kind_is_refused() {
    assert_eq!(infer("argsort", &[], &[ranked(2)]), Ok(StructInfo::tensor_ndim(2, DataType::INT32)));
    assert!(infer("argsort", &[("axis", AttrValue::Str("0".into()))], &[ranked(2)]).is_err());
    assert!(infer("flip", &[], &[ranked(2)]).is_err(), "the axis must be given");
    assert!(infer("topk", &[("ret_type", AttrValue::Str("all".into()))], &[ranked(2)]).is_err());
}

#[test]
fn every_operator_is_found_by_its_name_and_only_one_has_it() {
    for op in all() {
        assert!(op.name.starts_with("relax."), "{}", op.name);
        assert_eq!(lookup(op.name).map(|found| found.name), Some(op.name));
    }
    assert_eq!(all().count(), BY_NAME.len(), "some name is registered twice");
}

#[test]
fn short_and_old_names() {
    assert_eq!(lookup("add").unwrap().name, "relax.add");
    assert_eq!(lookup("relax.dot").unwrap().name, "relax.matmul");
    assert!(lookup("relax.no_such_operator").is_none());
}

#[test]
fn arithmetic_broadcasts_from_the_right() {
    let sum = eval("add", &[], &[tensor(&[2, 1], &[1.0, 2.0]), tensor(&[3], &[10.0, 20.0, 30.0])]);
    assert_eq!(sum, Ok(tensor(&[2, 3], &[11.0, 21.0, 31.0, 12.0, 22.0, 32.0])));
    assert!(eval("add", &[], &[tensor(&[2], &[1.0, 2.0]), tensor(&[3], &[1.0; 3])]).is_err());
    assert!(eval("add", &[], &[tensor(&[], &[1.0]), ints(&[], &[1.0])]).is_err());
}

#[test]
fn inference_of_arithmetic() {
    assert_eq!(infer("add", &[], &[float(&[n(), 1.into()]), float(&[4.into()])]), Ok(float(&[n(), 4.into()])));
    // Neither dimension is known to be 1 or equal to the other.
    assert_eq!(infer("add", &[], &[float(&[n()]), float(&[4.into()])]), Ok(ranked(1)));
    assert_eq!(infer("add", &[], &[ranked(1), float(&[2.into(), n()])]), Ok(ranked(2)));
    assert_eq!(infer("add", &[], &[ranked(-1), float(&[n()])]), Ok(ranked(-1)));
    assert!(infer("add", &[], &[float(&[3.into()]), float(&[4.into()])]).is_err());
    let unknown = StructInfo::tensor([n()], DataType::VOID);
    assert_eq!(infer("add", &[], &[unknown.clone(), float(&[n()])]), Ok(unknown));
    assert!(infer("add", &[], &[float(&[]), StructInfo::tensor([], DataType::INT32)]).is_err());
    assert!(infer("add", &[], &[float(&[]), StructInfo::Object]).is_err());
    assert!(infer("add", &[], &[float(&[])]).is_err());
    assert_eq!(infer("less", &[], &[float(&[n()]), float(&[n()])]), Ok(StructInfo::tensor([n()], DataType::BOOL)));
}

#[test]
fn a_shape_held_in_a_variable_stays() {
    let info = StructInfo::Tensor(TensorStructInfo {
        shape: Some(TensorShape::Var(Var::new("s").into())),
        dtype: DataType::FLOAT32,
        ndim: Ndim::Known(2),
        vdevice: None,
    });
    assert_eq!(infer("exp", &[], std::slice::from_ref(&info)), Ok(info));
}

#[test]
fn integers_divide_towards_zero_or_down() {
    let (x, y) = (ints(&[2], &[-7.0, 7.0]), ints(&[], &[2.0]));
    assert_eq!(eval("divide", &[], &[x.clone(), y.clone()]), Ok(ints(&[2], &[-3.0, 3.0])));
    assert_eq!(eval("floor_divide", &[], &[x.clone(), y]), Ok(ints(&[2], &[-4.0, 3.0])));
    assert!(eval("divide", &[], &[x, ints(&[], &[0.0])]).is_err());
}

#[test]
fn comparisons_give_booleans() {
    let (x, y) = (tensor(&[3], &[1.0, 2.0, f64::NAN]), tensor(&[], &[2.0]));
    assert_eq!(eval("less", &[], &[x.clone(), y.clone()]), Ok(bools(&[1.0, 0.0, 0.0])));
    assert_eq!(eval("greater_equal", &[], &[x.clone(), y.clone()]), Ok(bools(&[0.0, 1.0, 0.0])));
    assert_eq!(eval("not_equal", &[], &[x, y]), Ok(bools(&[1.0, 0.0, 1.0])));
}

#[test]
fn functions_of_one_element() {
    let x = tensor(&[3], &[-2.0, 0.0, 4.0]);
    assert_eq!(eval("nn.relu", &[], std::slice::from_ref(&x)), Ok(tensor(&[3], &[0.0, 0.0, 4.0])));
    assert_eq!(eval("negative", &[], &[tensor(&[1], &[2.0])]), Ok(tensor(&[1], &[-2.0])));
    assert_eq!(eval("abs", &[], &[x]), Ok(tensor(&[3], &[2.0, 0.0, 4.0])));
    assert_eq!(eval("sqrt", &[], &[tensor(&[1], &[4.0])]), Ok(tensor(&[1], &[2.0])));
    assert_eq!(eval("exp", &[], &[tensor(&[1], &[0.0])]), Ok(tensor(&[1], &[1.0])));
    assert_eq!(eval("sigmoid", &[], &[tensor(&[1], &[0.0])]), Ok(tensor(&[1], &[0.5])));
    assert_eq!(eval("nn.gelu", &[], &[tensor(&[1], &[0.0])]), Ok(tensor(&[1], &[0.0])));
    assert!(eval("exp", &[], &[ints(&[], &[1.0])]).is_err());
}

#[test]
fn matrix_products() {
    let (a, b) = (tensor(&[2, 2], &[1.0, 2.0, 3.0, 4.0]), tensor(&[2], &[10.0, 1.0]));
    assert_eq!(eval("matmul", &[], &[a.clone(), b.clone()]), Ok(tensor(&[2], &[12.0, 34.0])));
    assert_eq!(eval("matmul", &[], &[b.clone(), a.clone()]), Ok(tensor(&[2], &[13.0, 24.0])));
    assert_eq!(eval("matmul", &[], &[b.clone(), b]), Ok(tensor(&[], &[101.0])));
    let batch = tensor(&[2, 2, 1], &[1.0, 0.0, 0.0, 1.0]);
    assert_eq!(eval("matmul", &[], &[a, batch]), Ok(tensor(&[2, 2, 1], &[1.0, 3.0, 2.0, 4.0])));
    assert_eq!(
        infer("matmul", &[], &[float(&[n(), 3.into()]), float(&[3.into(), 5.into()])]),
        Ok(float(&[n(), 5.into()]))
    );
    assert_eq!(infer("matmul", &[], &[float(&[3.into()]), float(&[3.into()])]), Ok(float(&[])));
    assert_eq!(infer("matmul", &[], &[ranked(3), ranked(1)]), Ok(ranked(2)));
    assert!(infer("matmul", &[], &[float(&[2.into()]), float(&[3.into()])]).is_err());
    assert!(infer("matmul", &[], &[float(&[]), float(&[3.into()])]).is_err());
}

#[test]
fn reshaping_keeps_the_order_of_the_elements() {
    let x = tensor(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let reshaped = eval("reshape", &[], &[x.clone(), ValueSpec::Shape(vec![3, 2])]);
    assert_eq!(reshaped, Ok(tensor(&[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])));
    assert!(eval("reshape", &[], &[x.clone(), ValueSpec::Shape(vec![5])]).is_err());
    assert!(eval("reshape", &[], &[x.clone(), ValueSpec::Shape(vec![7])]).is_err());
    let flat = eval("flatten", &[], std::slice::from_ref(&x));
    assert_eq!(flat, Ok(tensor(&[6], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])));
    assert_eq!(eval("permute_dims", &[], &[x]), Ok(tensor(&[3, 2], &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0])));
    let shape = StructInfo::shape([n(), 2.into()]);
    assert_eq!(infer("reshape", &[], &[ranked(-1), shape]), Ok(float(&[n(), 2.into()])));
    let double = PrimExpr::binary(BinaryOp::Mul, n(), 2.into());
    assert_eq!(infer("flatten", &[], &[float(&[n(), 2.into()])]), Ok(float(&[double])));
    assert!(infer("reshape", &[], &[float(&[4.into()]), StructInfo::shape([5.into()])]).is_err());
    assert_eq!(infer("permute_dims", &[], &[float(&[n(), 2.into()])]), Ok(float(&[2.into(), n()])));
    let twice = [("axes", int_list(&[0, 0]))];
    assert!(infer("permute_dims", &twice, &[float(&[n(), 2.into()])]).is_err());
}

#[test]
fn dimensions_of_one_come_and_go() {
    let at = |axis: i64| [("axis", AttrValue::Int(axis))];
    assert_eq!(infer("expand_dims", &at(-1), &[float(&[n()])]), Ok(float(&[n(), 1.into()])));
    assert_eq!(infer("squeeze", &at(1), &[float(&[n(), 1.into()])]), Ok(float(&[n()])));
    assert!(infer("squeeze", &at(0), &[float(&[2.into()])]).is_err());
    assert!(infer("expand_dims", &at(2), &[float(&[n()])]).is_err());
    assert_eq!(infer("squeeze", &[], &[float(&[n(), 1.into()])]), Ok(ranked(-1)));
    assert_eq!(eval("expand_dims", &at(0), &[tensor(&[2], &[1.0, 2.0])]), Ok(tensor(&[1, 2], &[1.0, 2.0])));
    assert_eq!(eval("squeeze", &[], &[tensor(&[1, 2], &[1.0, 2.0])]), Ok(tensor(&[2], &[1.0, 2.0])));
    assert!(eval("squeeze", &at(0), &[tensor(&[2], &[1.0, 2.0])]).is_err());
}

#[test]
fn putting_together_and_taking_apart() {
    let parts = ValueSpec::Tuple(vec![tensor(&[1, 2], &[1.0, 2.0]), tensor(&[2, 2], &[3.0, 4.0, 5.0, 6.0])]);
    let whole = tensor(&[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(eval("concat", &[], std::slice::from_ref(&parts)), Ok(whole.clone()));
    assert_eq!(eval("split", &[("indices_or_sections", int_list(&[1]))], std::slice::from_ref(&whole)), Ok(parts));
    let two = [("indices_or_sections", AttrValue::Int(2)), ("axis", AttrValue::Int(1))];
    let halves = ValueSpec::Tuple(vec![tensor(&[3, 1], &[1.0, 3.0, 5.0]), tensor(&[3, 1], &[2.0, 4.0, 6.0])]);
    assert_eq!(eval("split", &two, &[whole]), Ok(halves));
    let double = PrimExpr::binary(BinaryOp::Add, n(), n());
    let pair = StructInfo::tuple([float(&[n(), 2.into()]), float(&[n(), 2.into()])]);
    assert_eq!(infer("concat", &[], &[pair]), Ok(float(&[double, 2.into()])));
    let clash = StructInfo::tuple([float(&[n(), 2.into()]), float(&[n(), 3.into()])]);
    assert!(infer("concat", &[], &[clash]).is_err());
    let halves = [("indices_or_sections", AttrValue::Int(2))];
    assert_eq!(
        infer("split", &halves, &[float(&[5.into()])]),
        Ok(StructInfo::tuple([float(&[3.into()]), float(&[2.into()])]))
    );
    // The parts are too many to list. They are still a tuple, so no other information is allowed.
    let parts = |count: i64| infer("split", &[("indices_or_sections", AttrValue::Int(count))], &[float(&[5.into()])]);
    assert!(parts(100_000).is_ok() && matches!(parts(100_001), Err(InferError { limit: true, .. })));
    assert!(matches!(parts(0), Err(InferError { limit: false, .. })));
    let shuffled = |factor: i64, channels: i64| {
        let attrs = [("upscale_factor", AttrValue::Int(factor))];
        infer("nn.pixel_shuffle", &attrs, &[float(&[1.into(), channels.into(), 1.into(), 1.into()])])
    };
    let large = float(&[1.into(), 1.into(), (1 << 16).into(), (1 << 16).into()]);
    assert_eq!(shuffled(1 << 16, 1 << 32), Ok(large));
    assert!(matches!(shuffled(1 << 40, 4), Err(InferError { limit: true, .. })));
    assert!(matches!(shuffled(-2, 4), Err(InferError { limit: false, .. })));
    // The first part of n elements has half of them, rounded up.
    let half = PrimExpr::binary(BinaryOp::FloorDiv, PrimExpr::binary(BinaryOp::Add, n(), 1.into()), 2.into());
    let rest = PrimExpr::binary(BinaryOp::Sub, n(), half.clone());
    assert_eq!(infer("split", &halves, &[float(&[n()])]), Ok(StructInfo::tuple([float(&[half]), float(&[rest])])));
}

#[test]
fn reductions() {
    let x = tensor(&[2, 2], &[1.0, 2.0, 3.0, 6.0]);
    let first = [("axis", int_list(&[0]))];
    assert_eq!(eval("sum", &[], std::slice::from_ref(&x)), Ok(tensor(&[], &[12.0])));
    assert_eq!(eval("sum", &first, std::slice::from_ref(&x)), Ok(tensor(&[2], &[4.0, 8.0])));
    assert_eq!(eval("mean", &[], std::slice::from_ref(&x)), Ok(tensor(&[], &[3.0])));
    let kept = [("axis", int_list(&[-1])), ("keepdims", AttrValue::Bool(true))];
    assert_eq!(eval("max", &kept, std::slice::from_ref(&x)), Ok(tensor(&[2, 1], &[2.0, 6.0])));
    assert_eq!(eval("min", &first, &[x]), Ok(tensor(&[2], &[1.0, 2.0])));
    assert_eq!(eval("sum", &[], &[tensor(&[0], &[])]), Ok(tensor(&[], &[0.0])));
    assert!(eval("max", &[], &[tensor(&[0], &[])]).is_err());
    assert_eq!(infer("sum", &first, &[float(&[2.into(), n()])]), Ok(float(&[n()])));
    assert_eq!(infer("sum", &kept, &[float(&[2.into(), n()])]), Ok(float(&[2.into(), 1.into()])));
    // A complete reduction gives a scalar.
    assert_eq!(infer("sum", &[], &[ranked(-1)]), Ok(float(&[])));
    assert_eq!(infer("sum", &first, &[ranked(3)]), Ok(ranked(2)));
    assert!(infer("sum", &first, &[float(&[])]).is_err());
}

#[test]
fn creation_and_conversion() {
    let dtype = [("dtype", AttrValue::DataType(DataType::INT64))];
    assert_eq!(eval("ones", &dtype, &[ValueSpec::Shape(vec![2])]), Ok(ints(&[2], &[1.0, 1.0])));
    assert_eq!(eval("full", &[], &[ValueSpec::Shape(vec![1]), tensor(&[], &[3.0])]), Ok(tensor(&[1], &[3.0])));
    assert_eq!(eval("zeros_like", &[], &[tensor(&[1], &[3.0])]), Ok(tensor(&[1], &[0.0])));
    assert_eq!(eval("astype", &dtype, &[tensor(&[2], &[-1.5, 2.5])]), Ok(ints(&[2], &[-1.0, 2.0])));
    assert!(from_spec(&ValueSpec::Shape(vec![-1]), &[], &EvalOptions::default().registry).is_err());
    assert_eq!(infer("zeros", &dtype, &[StructInfo::shape([n()])]), Ok(StructInfo::tensor([n()], DataType::INT64)));
    assert!(infer("zeros", &[], &[StructInfo::shape([n()])]).is_err());
    assert!(infer("full", &[], &[StructInfo::shape([n()]), ranked(1)]).is_err());
}

#[test]
fn positions_and_indices_choose_the_same_elements() {
    let (x, y) = ([1.0, -2.0, 3.0, 0.5, 4.0, -8.0], [2.0, 5.0, -1.0, 0.25, 3.0, 2.0]);
    for op in ["add", "subtract", "maximum", "power"] {
        let by_position = eval(op, &[], &[tensor(&[2, 3], &x), tensor(&[2, 3], &y)]);
        // The leading 1 broadcasts the second operand without changing any element.
        let by_index = eval(op, &[], &[tensor(&[1, 2, 3], &x), tensor(&[2, 3], &y)]);
        let flat = |result: Result<ValueSpec, String>| eval("reshape", &[], &[result?, ValueSpec::Shape(vec![6])]);
        assert_eq!(flat(by_position), flat(by_index), "{op}");
    }
}

/// OPS.matmul.value, OPS.nn.conv1d.value: sums in an integer data type are sums of integers.
#[test]
fn sums_of_integers_have_no_infinite_summand() {
    let in_integers = [("out_dtype", AttrValue::DataType(DataType::INT64))];
    let product = |x: f64| eval("matmul", &in_integers, &[tensor(&[2], &[x, 2.5]), tensor(&[2], &[1.0, 1.0])]);
    assert_eq!(product(1.5), Ok(ints(&[], &[3.0])));
    assert!(product(f64::INFINITY).is_err_and(|reason| reason.starts_with("unspecified")));
    for name in ["nn.conv1d", "nn.conv1d_transpose"] {
        let convolved = |w: f64| eval(name, &in_integers, &[tensor(&[1, 1, 1], &[2.0]), tensor(&[1, 1, 1], &[w])]);
        assert_eq!(convolved(1.5), Ok(ints(&[1, 1, 1], &[2.0])), "{name}");
        assert!(convolved(f64::NAN).is_err_and(|reason| reason.starts_with("unspecified")), "{name}");
    }
}

#[test]
fn choosing_elements() {
    let x = tensor(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    let rows = [("axis", AttrValue::Int(0))];
    assert_eq!(eval("take", &rows, &[x.clone(), ints(&[1], &[1.0])]), Ok(tensor(&[1, 2], &[3.0, 4.0])));
    let outside = eval("take", &rows, &[x.clone(), ints(&[1], &[2.0])]);
    assert!(outside.is_err_and(|reason| reason.starts_with("unspecified")));
    let wrap = [("axis", AttrValue::Int(0)), ("mode", AttrValue::Str("wrap".into()))];
    assert_eq!(eval("take", &wrap, &[x.clone(), ints(&[1], &[-1.0])]), Ok(tensor(&[1, 2], &[3.0, 4.0])));
    let list = |items: &[i64]| ValueSpec::Tuple(items.iter().map(|i| ValueSpec::Int(*i)).collect());
    let slice = |begin, end, stride| {
        eval(
            "strided_slice",
            &[],
            &[tensor(&[5], &[0.0, 1.0, 2.0, 3.0, 4.0]), list(&[0]), list(&[begin]), list(&[end]), list(&[stride])],
        )
    };
    assert_eq!(slice(1, 100, 2), Ok(tensor(&[2], &[1.0, 3.0])));
    assert_eq!(slice(-1, 0, -2), Ok(tensor(&[2], &[4.0, 2.0])));
    assert!(slice(0, 1, 0).is_err());
    assert_eq!(eval("unique", &[], &[tensor(&[4], &[3.0, 1.0, 3.0, 2.0])]), Ok(tensor(&[3], &[1.0, 2.0, 3.0])));
    let c = bools(&[1.0, 0.0]);
    assert_eq!(eval("where", &[], &[c, x, tensor(&[], &[0.0])]), Ok(tensor(&[2, 2], &[1.0, 0.0, 3.0, 0.0])));
    let rows_of = infer("take", &rows, &[float(&[n(), 2.into()]), StructInfo::tensor([3.into()], DataType::INT64)]);
    assert_eq!(rows_of, Ok(float(&[3.into(), 2.into()])));
    let bounds = [("axes", int_list(&[0])), ("begin", int_list(&[1])), ("end", int_list(&[9]))];
    assert_eq!(infer("strided_slice", &bounds, &[float(&[5.into(), n()])]), Ok(float(&[4.into(), n()])));
    let at_most = |end: i64| PrimExpr::binary(BinaryOp::Min, end.into(), n());
    let length = PrimExpr::binary(BinaryOp::Sub, at_most(9), at_most(1));
    assert_eq!(infer("strided_slice", &bounds, &[float(&[n(), n()])]), Ok(float(&[length, n()])));
    assert_eq!(infer("unique", &[], &[float(&[n()])]), Ok(ranked(1)));
}

#[test]
fn softmax_of_equal_elements_is_even() {
    assert_eq!(eval("nn.softmax", &[], &[tensor(&[1, 2], &[7.0, 7.0])]), Ok(tensor(&[1, 2], &[0.5, 0.5])));
    assert!(infer("nn.softmax", &[("axis", AttrValue::Int(2))], &[ranked(2)]).is_err());
}

#[test]
fn broadcasting_to_a_shape() {
    let x = tensor(&[2, 1], &[1.0, 2.0]);
    let wide = eval("broadcast_to", &[], &[x.clone(), ValueSpec::Shape(vec![2, 2])]);
    assert_eq!(wide, Ok(tensor(&[2, 2], &[1.0, 1.0, 2.0, 2.0])));
    assert!(eval("broadcast_to", &[], &[x, ValueSpec::Shape(vec![1, 1])]).is_err());
    assert_eq!(infer("broadcast_to", &[], &[ranked(1), StructInfo::shape([n()])]), Ok(float(&[n()])));
    assert!(infer("broadcast_to", &[], &[ranked(2), StructInfo::shape([n()])]).is_err());
}

#[test]
fn shape_of_a_tensor() {
    assert_eq!(eval("shape_of", &[], &[tensor(&[2, 0], &[])]), Ok(ValueSpec::Shape(vec![2, 0])));
    assert_eq!(infer("shape_of", &[], &[float(&[n()])]), Ok(StructInfo::shape([n()])));
    assert_eq!(infer("shape_of", &[], &[ranked(2)]), Ok(StructInfo::shape_ndim(2)));
    let rejected = infer("shape_of", &[], &[StructInfo::Object]);
    assert_eq!(rejected.map_err(|error| error.rule), Err(rule!("OP.SHAPEOF.ARG")));
}

/// Infers a `call_tir` of a `GlobalVar` with two inputs and a shape.
fn infer_call_tir(shape: (Expr, StructInfo), target: Vec<StructInfo>) -> Result<StructInfo, InferError> {
    let mut call = call(&[], 2);
    call.args = vec![Expr::GlobalVar(crate::grammar::GlobalVar::new("f")), Expr::var("x"), shape.0];
    call.sinfo_args = target;
    let args = [StructInfo::Object, ranked(1), shape.1];
    lookup("call_tir").unwrap().infer(&mut Cx::new(), &InferArgs { call: &call, args: &args, module: None })
}

fn rejected_by(result: Result<StructInfo, InferError>) -> Rule {
    match result {
        Err(InferError { rule, .. }) => rule,
        other => panic!("{other:?}"),
    }
}

#[test]
fn call_tir_takes_shapes_from_the_shape_and_types_from_the_type() {
    let literal = |dims: &[PrimExpr]| (Expr::shape(dims.to_vec()), StructInfo::shape(dims.to_vec()));
    assert_eq!(infer_call_tir(literal(&[n()]), vec![ranked(1)]), Ok(float(&[n()])));
    let variable = (Expr::var("s"), StructInfo::shape_ndim(2));
    let by_variable = StructInfo::Tensor(TensorStructInfo {
        shape: Some(TensorShape::Var(Var::new("s").into())),
        dtype: DataType::FLOAT32,
        ndim: Ndim::Known(2),
        vdevice: None,
    });
    assert_eq!(infer_call_tir(variable, vec![ranked(-1)]), Ok(by_variable));
    let pair = (
        Expr::tuple(vec![Expr::shape([n()]), Expr::shape([])]),
        StructInfo::tuple([StructInfo::shape([n()]), StructInfo::shape([])]),
    );
    let result = infer_call_tir(pair.clone(), vec![StructInfo::tuple([ranked(1), ranked(0)])]);
    assert_eq!(result, Ok(StructInfo::tuple([float(&[n()]), float(&[])])));
    assert_eq!(
        rejected_by(infer_call_tir(pair.clone(), vec![StructInfo::tuple([ranked(1)])])),
        rule!("OP.CALLTIR.CORR.TUPLE")
    );
    assert_eq!(rejected_by(infer_call_tir(pair, vec![ranked(1)])), rule!("OP.CALLTIR.CORR.TUPLE"));
    assert_eq!(rejected_by(infer_call_tir(literal(&[n()]), vec![ranked(2)])), rule!("OP.CALLTIR.NDIM"));
    assert_eq!(rejected_by(infer_call_tir(literal(&[n()]), vec![])), rule!("OP.CALLTIR.TYPEARG"));
    assert_eq!(rejected_by(infer_call_tir(literal(&[n()]), vec![StructInfo::Object])), rule!("OP.CALLTIR.CORR.SINGLE"));
    let object = (Expr::var("o"), StructInfo::Object);
    assert_eq!(rejected_by(infer_call_tir(object, vec![ranked(1)])), rule!("OP.CALLTIR.SHAPE"));
}

#[test]
fn call_tir_needs_a_prim_func_of_the_module() {
    let mut call = call(&[], 1);
    call.args = vec![Expr::GlobalVar(crate::grammar::GlobalVar::new("f")), Expr::shape([])];
    call.sinfo_args = vec![ranked(0)];
    let args = [StructInfo::Object, StructInfo::shape([])];
    let module = IrModule::default();
    let infer_args = InferArgs { call: &call, args: &args, module: Some(&module) };
    let result = lookup("call_tir").unwrap().infer(&mut Cx::new(), &infer_args);
    assert_eq!(rejected_by(result), rule!("OP.CALLTIR.FUNC"));
}

/// Pairs of pairs of pairs: each part consumes fuel, so that reading 2^60 parts ends in time.
#[test]
fn what_is_shared_is_paid_for_as_often_as_it_is_read() {
    let pair = |value: Value| Value::tuple(vec![value.clone(), value]);
    let wide = (0..60).fold(Value::int(0), |value, _| pair(value));
    let (module, options) = (IrModule::default(), EvalOptions { fuel: 100_000, ..EvalOptions::default() });
    for op in all().filter(|op| matches!(op.clauses, Clauses::Tensor(_))) {
        let mut cx = Cx::new();
        let mut machine = Machine::new(&mut cx, &module, &options);
        let values = [wide.clone(), wide.clone()];
        let call = call(&[], values.len());
        let args = EvalArgs { call: &call, values: &values, result: None };
        assert!(op.evaluate(&mut machine, &args).is_err(), "{}", op.name);
    }
}

#[test]
fn no_shape_has_a_negative_size() {
    assert_eq!(eval("tensor_to_shape", &[], &[ints(&[2], &[3.0, 0.0])]), Ok(ValueSpec::Shape(vec![3, 0])));
    let negative = eval("tensor_to_shape", &[], &[ints(&[2], &[3.0, -1.0])]);
    assert_eq!(negative, Err("no shape has the negative size -1".to_string()));
    let outside = from_spec(&ValueSpec::Tuple(vec![ValueSpec::Shape(vec![-1])]), &[], &EvalOptions::default().registry);
    assert!(outside.is_err());
}

#[test]
fn the_purity_of_an_operator_is_that_of_its_registration_in_every_edition() {
    for edition in Edition::ALL {
        for def in all() {
            let mut cx = Cx::new().with_edition(edition);
            assert_eq!(def.is_pure(&mut cx), def.is_pure_in(edition), "{} in {}", def.name, edition.name());
        }
    }
}
