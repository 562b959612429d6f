//! The operators (chapter Notable Operators, and the library of common operators that the text leaves open).
//!
//! The definition of each operator is in one place, the file of its family: its signature, its purity, the inference of
//! its result and its reference implementation. [`lookup`] finds an operator by its name.

/// The clauses of an operator of `tvm.relax.op`: inference, value, and attributes if there are any.
macro_rules! clauses {
    ($name:literal, [$infer:expr, $value:expr $(,)?]) => {
        $crate::ops::Clauses::Tensor($crate::ops::TensorClauses {
            infer: $infer,
            value: $value,
            attrs: None,
            source: concat!("tvm.relax.op.", $name),
        })
    };
    ($name:literal, [$infer:expr, $value:expr, $attrs:expr $(,)?]) => {
        $crate::ops::Clauses::Tensor($crate::ops::TensorClauses {
            infer: $infer,
            value: $value,
            attrs: Some($attrs),
            source: concat!("tvm.relax.op.", $name),
        })
    };
}

/// Defines a pure operator of `tvm.relax.op`: name, clauses, parameters, inference, accuracy, implementation.
macro_rules! operator {
    ($name:literal, $rules:tt, [$($param:expr),* $(,)?], $infer:expr, $accuracy:ident, $eval:expr $(,)?) => {
        $crate::ops::OpDef {
            name: concat!("relax.", $name),
            params: &[$($param),*],
            pure: true,
            infer: Some($infer),
            inference: stringify!($infer),
            eval: $eval,
            accuracy: $crate::ops::Accuracy::$accuracy,
            clauses: clauses!($name, $rules),
            reads: true,
            excluded: None,
        }
    };
}

mod attrs;
mod builtins;
mod ends;
mod infer;
mod instead;
mod kernel;
mod language;
mod names;
mod result;
mod sides;
mod tensor;

use std::borrow::Cow;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::book::{Edition, Erratum, Rule};
use crate::grammar::{AttrValue, Call, DataType, Expr, IrModule, Op, PrimExpr, PrimValue, Span, StructInfo, Var};
use crate::judge::{Cx, ReportedCondition, with_stack};
use crate::value::{
    Held, Host, Prim, Registry, Rounding, Scalar, Stop, Tensor, Value, count, digits_of_sums, readable,
};

pub use attrs::{Attr, AttrDefault, AttrKind};
pub(crate) use builtins::VIEWS;
pub use ends::{calls_its_argument, is_acyclic, repeats};
pub use language::{CallForm, run_packed_func, run_prim_func, value_of_prim_func};
pub(crate) use language::{assert_holds, printed};
pub use names::{is_known, known};
pub use sides::{sides, taken};

/// One operator.
#[derive(Clone, Copy, Debug)]
pub struct OpDef {
    /// The registered name, for example `relax.add`.
    pub name: &'static str,
    /// The parameters in the order of the surface syntax, so that a reader can distinguish arguments from attributes.
    pub params: &'static [OpParam],
    /// The declared purity (`PURE.REGISTER-MANUAL`).
    pub pure: bool,
    /// The macro `FInferStructInfo`. Without one the result is an object (`SI.DERIVE.CALL.OP-DEFAULT`).
    pub infer: Option<Infer>,
    /// The name of this macro, which tells whether two operators have the same. Their addresses do not: a compiler may
    /// merge functions of the same code.
    pub inference: &'static str,
    /// The reference implementation.
    pub eval: Eval,
    /// The required agreement of an implementation with the reference implementation.
    pub accuracy: Accuracy,
    /// The part of the text that defines it.
    pub clauses: Clauses,
    /// Whether it reads its tensor arguments, as most operators do (`MEM.UNWRITTEN`).
    pub reads: bool,
    /// The reason why its value is not specified, if that is so. A run that reaches the operator is then unspecified.
    pub excluded: Option<&'static str>,
}

/// The rules that define an operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clauses {
    /// Rules of the chapter Notable Operators, which its inference and its implementation cite themselves.
    Text,
    /// Rules of its own entry in the reference of operators.
    Tensor(TensorClauses),
}

/// The rules of an operator with its own entry, `OPS.<name>.<clause>`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TensorClauses {
    /// The structural information of the result.
    pub infer: Rule,
    /// The elements of the result.
    pub value: Rule,
    /// The attributes and their defaults, if there are any.
    pub attrs: Option<Rule>,
    /// The public documentation on which the rules are based.
    pub source: &'static str,
}

/// Infers the result of a call of an operator.
pub type Infer = fn(&mut Cx, &InferArgs<'_>) -> Result<StructInfo, InferError>;

/// The reference implementation of an operator, applied to the values of its arguments.
pub type Eval = fn(&mut dyn Host, &EvalArgs<'_>) -> Result<Value, Stop>;

/// A parameter of an operator in the surface syntax.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum OpParam {
    /// An argument of the call.
    Arg(&'static str),
    /// An optional argument.
    OptionalArg(&'static str),
    /// An optional argument that is a boxed Boolean, with its default.
    Flag(&'static str, bool),
    /// An argument that is a shape. A tuple of dimensions means a `ShapeExpr`.
    ShapeArg(&'static str),
    /// An argument that is a data type. A string means a `DataTypeImm`.
    DtypeArg(&'static str),
    /// All further positional arguments.
    Rest(&'static str),
    /// An attribute of the call.
    Attr(Attr),
}

/// The meaning of agreement with the reference implementation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Accuracy {
    /// Equal bits: data movement, comparisons, integers.
    Exact,
    /// One correctly rounded operation for each element.
    Rounded,
    /// Elementary functions: a small number of units in the last place.
    Elementary,
    /// Sums and products of many elements, in any order.
    Accumulated,
    /// Functions composed of elementary ones, in proportion to the largest intermediate result.
    Absolute,
}

impl Accuracy {
    /// Every class, strictest first.
    pub const ALL: [Accuracy; 5] =
        [Accuracy::Exact, Accuracy::Rounded, Accuracy::Elementary, Accuracy::Accumulated, Accuracy::Absolute];
}

/// The input of an inference macro.
#[derive(Clone, Copy, Debug)]
pub struct InferArgs<'a> {
    /// The call itself, with its attributes.
    pub call: &'a Call,
    /// The structural information of the call's arguments, in order.
    pub args: &'a [StructInfo],
    /// The module, if the caller has one. It shows whether a `GlobalVar` names a `PrimFunc`.
    pub module: Option<&'a IrModule>,
}

/// A rejection of a call by an inference macro (`TC.CALL.OP.ERR`). The rule belongs to the operator's own chapter, or
/// is `TC.CALL.OP.ERR` if the text leaves the operator open.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct InferError {
    /// The rule that the call breaks.
    pub rule: Rule,
    /// The message for the user.
    pub message: String,
    /// Whether a limit of the oracle was reached. Then the call may still be valid.
    pub limit: bool,
    /// The negative size of the result, if that is the reason.
    pub negative: Option<i64>,
}

/// The input of a reference implementation.
#[derive(Clone, Copy, Debug)]
pub struct EvalArgs<'a> {
    /// The call itself, with its attributes.
    pub call: &'a Call,
    /// The values of the call's arguments, in order.
    pub values: &'a [Value],
    /// The inferred result for these values, for tensor operators. Every size in it is known.
    pub result: Option<&'a StructInfo>,
}

impl InferError {
    /// A rejection by an operator that the text leaves open.
    pub fn op(message: impl Into<String>) -> InferError {
        InferError::rule(rule!("TC.CALL.OP.ERR"), message)
    }

    /// A rejection by one of the operator's own rules.
    pub fn rule(rule: Rule, message: impl Into<String>) -> InferError {
        InferError { rule, message: message.into(), limit: false, negative: None }
    }

    /// Not a rejection but a limit of the oracle.
    pub fn limit(message: impl Into<String>) -> InferError {
        InferError { limit: true, ..InferError::op(message) }
    }
}

/// Charges the cost of reading values while it visits them. A tuple with shared parts may represent far more than its
/// memory. Returns the memory for the inference on these values.
fn pay_to_read(m: &mut dyn Host, values: &[Value]) -> Result<Held, Stop> {
    let mut parts = 0;
    values.iter().try_for_each(|value| pay_for(m, value, &mut parts))?;
    kernel::beside(m, parts)
}

fn pay_for(m: &mut dyn Host, value: &Value, parts: &mut u64) -> Result<(), Stop> {
    m.spend(own_elements(value))?;
    let Value::Tuple(tuple) = value else { return Ok(()) };
    *parts += tuple.len() as u64;
    with_stack(|| tuple.fields().iter().try_for_each(|field| pay_for(m, field, parts)))
}

/// The number of elements to read in a value, without its fields.
fn own_elements(value: &Value) -> u64 {
    if let Value::Tensor(tensor) = value {
        // For a tensor without elements, operators still loop over its other axes.
        kernel::places(tensor.shape())
    } else if let Value::Shape(sizes) = value {
        sizes.len() as u64
    } else {
        1
    }
}

/// Infers the result of a tensor operator for a call with complete attributes.
fn inferred(infer: Infer, cx: &mut Cx, args: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let info = infer(cx, args)?;
    infer::no_negative_size(&info)?;
    Ok(info)
}

/// Checks that a call meets all conditions. The rejection names the first one that fails.
pub(crate) fn demand(cx: &mut Cx, demands: &[ReportedCondition]) -> Result<(), InferError> {
    cx.holds(demands).map_err(|(rule, message)| InferError::rule(rule, message()))
}

impl OpDef {
    /// A copy of the operator whose calls are impure.
    const fn impure(self) -> OpDef {
        OpDef { pure: false, ..self }
    }

    /// A copy of the operator that does not read its tensor arguments.
    const fn unread(self) -> OpDef {
        OpDef { reads: false, ..self }
    }

    /// The structural information of a call of the operator (`SI.DERIVE.CALL.OP`).
    ///
    /// OP.NO-TYPEREL: without an inference macro the result is an object (`SI.DERIVE.CALL.OP-DEFAULT`).
    pub fn infer(&self, cx: &mut Cx, args: &InferArgs<'_>) -> Result<StructInfo, InferError> {
        let Some(infer) = self.infer else {
            return Ok(cx.conclude(rule!("OP.NO-TYPEREL"), StructInfo::Object));
        };
        let Clauses::Tensor(clauses) = self.clauses else { return infer(cx, args) };
        let call = self.call(cx, &clauses, args.call)?;
        let inferred = inferred(infer, cx, &InferArgs { call: &call, ..*args });
        cx.conclude(clauses.infer, inferred)
    }

    /// Evaluates a call of the operator on the values of its arguments (`OP.FREE`).
    ///
    /// Inference checks the values of the arguments with the same messages as in the static check. The implementation
    /// relies on that and receives the inferred result.
    pub fn evaluate(&self, m: &mut dyn Host, args: &EvalArgs<'_>) -> Result<Value, Stop> {
        let Clauses::Tensor(clauses) = self.clauses else { return (self.eval)(m, args) };
        let call = self.call(m.cx(), &clauses, args.call)?;
        let _held = pay_to_read(m, args.values)?;
        if self.reads {
            readable(m, args.values)?;
        }
        let result = result::of_values(m.cx().in_same_reading(), self.infer, &call, args.values);
        let value =
            result.and_then(|result| self.rounding(m, &EvalArgs { call: &call, result: Some(&result), ..*args }));
        m.cx().conclude(clauses.value, value)
    }

    /// Runs the reference implementation. With noise, the arguments and the result of a rounding operator are
    /// perturbed, as if they had been rounded differently.
    fn rounding(&self, m: &mut dyn Host, args: &EvalArgs<'_>) -> Result<Value, Stop> {
        match m.noise() {
            Some(noise) if self.leaves_nan_open() => {
                noise.compute();
                let result = (self.eval)(m, args)?;
                Ok(noise.of_open_nan(&result))
            }
            Some(noise) => {
                if !self.selects() {
                    noise.compute();
                }
                let values = noise.begin(self.rounds(args), args.values);
                let result = (self.eval)(m, &EvalArgs { values: &values, ..*args });
                noise.end(result.as_ref().ok(), args.values);
                result
            }
            None => (self.eval)(m, args),
        }
    }

    /// Whether its clause leaves the result open if an operand is NaN, because it does not say which of the operands is
    /// larger, or whether the operand is negative, zero or positive.
    fn leaves_nan_open(&self) -> bool {
        matches!(
            self.name,
            "relax.maximum"
                | "relax.minimum"
                | "relax.max"
                | "relax.min"
                | "relax.nn.relu"
                | "relax.nn.max_pool1d"
                | "relax.nn.max_pool2d"
                | "relax.nn.max_pool3d"
                | "relax.nn.adaptive_max_pool2d"
                | "relax.sign"
        )
    }

    /// How it rounds.
    fn rounds(&self, args: &EvalArgs<'_>) -> Rounding {
        let positive = matches!(self.name, "relax.exp" | "relax.sigmoid" | "relax.nn.softmax");
        let composed = |magnitude| Rounding::Composed { magnitude, positive };
        match self.accuracy {
            Accuracy::Exact => Rounding::Conversion,
            Accuracy::Rounded if rounds_on_the_way(self.name) => Rounding::OnceOrMore,
            Accuracy::Rounded => Rounding::Once,
            Accuracy::Accumulated if adds_up(self.name) => sum_of(args),
            // What is made of several functions may cancel in between; the exponentials of a softmax do not.
            Accuracy::Elementary if self.name == "relax.nn.softmax" => composed(0.0),
            Accuracy::Elementary if self.name.starts_with("relax.nn.") => composed(INTERMEDIATE),
            Accuracy::Elementary => Rounding::Function { positive },
            Accuracy::Accumulated | Accuracy::Absolute => composed(INTERMEDIATE),
        }
    }

    /// Whether floats of its result are floats of its arguments, or converted from them.
    fn selects(&self) -> bool {
        let computes = matches!(
            self.name,
            "relax.abs"
                | "relax.negative"
                | "relax.sign"
                | "relax.clip"
                | "relax.mod"
                | "relax.trunc"
                | "relax.floor"
                | "relax.ceil"
                | "relax.round"
        );
        self.accuracy == Accuracy::Exact && !computes && !self.leaves_nan_open()
    }

    /// The call with all its attributes, checked.
    fn call<'a>(&self, cx: &mut Cx, clauses: &TensorClauses, call: &'a Call) -> Result<Cow<'a, Call>, InferError> {
        match clauses.attrs {
            Some(rule) => {
                let given = cx.conclude(rule, Cow::Borrowed(call));
                self.completed(&given).map(Cow::Owned)
            }
            None => Ok(Cow::Borrowed(call)),
        }
    }

    /// The purity of a call of the operator without a `pure` attribute.
    ///
    /// PURE.REGISTER-MANUAL: the registered purity. OP.CALLTIR.PURE and OP.CALLDPS.IMPURE are registrations in the text
    /// itself.
    pub fn is_pure(&self, cx: &mut Cx) -> bool {
        match self.name {
            "relax.call_tir" => cx.conclude(rule!("OP.CALLTIR.PURE"), true),
            "relax.call_dps_packed" => cx.conclude(rule!("OP.CALLDPS.IMPURE"), self.is_pure_in(cx.edition())),
            "relax.call_pure_packed" => {
                let registered = cx.conclude(rule!("PURE.REGISTER-MANUAL"), self.pure);
                cx.conclude(rule!("OP.CALLPURE.PURE"), registered)
            }
            "relax.call_tir_inplace" => {
                let registered = cx.conclude(rule!("PURE.REGISTER-MANUAL"), self.pure);
                // Literal N51: its purity is not stated.
                let registered = registered && !cx.literal(Erratum::N51);
                cx.conclude(rule!("OP.CALLTIRINPLACE.PURITY"), registered)
            }
            _ => cx.conclude(rule!("PURE.REGISTER-MANUAL"), self.pure),
        }
    }

    /// The purity that an edition registers. In later editions a call of a packed function in destination-passing style
    /// is pure: they trust the function's declaration (OP.CALLDPS.IMPURE).
    pub fn is_pure_in(&self, edition: Edition) -> bool {
        self.pure || (self.name == "relax.call_dps_packed" && edition >= Edition::E2023_12)
    }
}

impl OpParam {
    /// The name in the surface syntax.
    pub fn name(self) -> &'static str {
        match self {
            OpParam::Arg(name)
            | OpParam::OptionalArg(name)
            | OpParam::Flag(name, _)
            | OpParam::ShapeArg(name)
            | OpParam::DtypeArg(name)
            | OpParam::Rest(name) => name,
            OpParam::Attr(attr) => attr.name,
        }
    }
}

/// How large the intermediate results of composed functions may be that cancel.
const INTERMEDIATE: f64 = 1.0;

/// Whether a formula that is rounded once loses digits before.
fn rounds_on_the_way(name: &str) -> bool {
    matches!(name, "relax.ewise_fma" | "relax.floor_divide" | "relax.floor_mod" | "relax.quantize" | "relax.dequantize")
}

/// Whether its result is a sum of its elements, or of products with those of another argument.
fn adds_up(name: &str) -> bool {
    let names = ["relax.sum", "relax.mean", "relax.matmul", "relax.cumsum", "relax.collapse_sum_like"];
    names.contains(&name)
        || name == "relax.collapse_sum_to"
        || name.starts_with("relax.nn.conv")
        || name.starts_with("relax.nn.avg_pool")
}

/// How a sum of the elements of its arguments rounds.
fn sum_of(args: &EvalArgs<'_>) -> Rounding {
    let factors: Vec<&Tensor> =
        args.values.iter().filter_map(Value::as_tensor).filter(|x| x.dtype().is_float()).collect();
    let results = kernel::out(args).map_or(1, |out| count(&out.shape)).max(1) as f64;
    // In a product of matrices, each element of either matrix occurs in many terms.
    let elements: f64 = factors.iter().map(|x| x.len() as f64).product();
    let terms = if factors.len() > 1 { (elements / results).sqrt() } else { elements / results };
    Rounding::Sum { terms, digits: digits_of_sums(&factors) }
}

/// The operators by their names without the leading `relax.`.
static BY_NAME: LazyLock<FxHashMap<&'static str, &'static OpDef>> =
    LazyLock::new(|| all().map(|op| (short(op.name), op)).collect());

/// Adds the functions that programs compiled by TVM call by name (`vm.builtin.*`, and those that make views).
pub fn register_builtins(registry: &mut Registry) {
    builtins::register(registry);
}

/// Every operator.
pub fn all() -> impl Iterator<Item = &'static OpDef> {
    language::all().chain(tensor::all())
}

/// The operator with this name, with or without the leading `relax.`.
///
/// `relax.dot` in the oldest documents is `relax.matmul`.
pub fn lookup(name: &str) -> Option<&'static OpDef> {
    let canonical = match short(name) {
        "dot" => "matmul",
        short => short,
    };
    BY_NAME.get(canonical).copied()
}

/// The operator with this name, applied to values by something that a compiler puts in its place.
pub(crate) fn applied(m: &mut dyn Host, name: &str, values: &[Value]) -> Result<Value, Stop> {
    let op = lookup(name).ok_or_else(|| Stop::unknown(format!("the operator {name}")))?;
    // An operator may need the numbers themselves, to derive the structural information of its result.
    let number = |dtype: DataType, number: i64| {
        let value = PrimExpr::IntImm(number);
        Expr::PrimValue(PrimValue { value, dtype, float: None, span: Span::NONE })
    };
    let argument = |value: &Value| match value {
        Value::Prim(Prim { value: Scalar::Int(int), dtype }) => number(*dtype, *int),
        Value::Prim(Prim { value: Scalar::Bool(truth), dtype }) => number(*dtype, i64::from(*truth)),
        _ => Expr::Var(Var::new("argument")),
    };
    let callee = Expr::Op(Op { op_name: op.name.into(), span: Span::NONE });
    let Expr::Call(call) = Expr::call(callee, values.iter().map(argument).collect()) else {
        return Err(Stop::unknown(format!("the call of {name}")));
    };
    op.evaluate(m, &EvalArgs { call: &call, values, result: None })
}

/// The operator for which TVM's `LegalizeOps` makes a `PrimFunc` of this name, which reads the representation of a
/// tensor.
pub(crate) fn inspection(prim_func: &str) -> Option<&'static str> {
    let what = prim_func.strip_prefix("_get_tensor_")?;
    lookup(&format!("inspect.tensor_{what}")).map(|op| op.name)
}

fn short(name: &str) -> &str {
    name.strip_prefix("relax.").unwrap_or(name)
}

/// An attribute of a call, if it is present and not `None`.
fn attr<'a>(call: &'a Call, name: &str) -> Option<&'a AttrValue> {
    call.attrs.get(name).filter(|value| **value != AttrValue::None)
}

#[cfg(test)]
mod tests;
