//! The operators (chapter Notable Operators, and the library of common ones that the text leaves open).
//!
//! Each operator reads in one place: its signature, its purity, the inference of its result and its reference
//! implementation stand side by side in the file of its family. [`lookup`] finds an operator by its name.

/// The clauses of an operator of `tvm.relax.op`: inference, value, and attributes if it has any.
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

/// A pure operator of `tvm.relax.op`, all in one place: name, clauses, parameters, inference, accuracy, implementation.
macro_rules! operator {
    ($name:literal, $rules:tt, [$($param:expr),* $(,)?], $infer:expr, $accuracy:ident, $eval:expr $(,)?) => {
        $crate::ops::OpDef {
            name: concat!("relax.", $name),
            params: &[$($param),*],
            pure: true,
            infer: Some($infer),
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
use crate::grammar::{AttrValue, Call, IrModule, StructInfo};
use crate::judge::{Cx, ReportedCondition, with_stack};
use crate::value::{Held, Host, Registry, Rounding, Stop, Tensor, Value, count, digits_of_sums, readable};

pub use attrs::{Attr, AttrDefault, AttrKind};
pub use language::{CallForm, run_packed_func, run_prim_func, value_of_prim_func};
pub(crate) use language::{assert_holds, printed};
pub use names::{is_known, known};
pub use sides::{sides, taken};

/// One operator.
#[derive(Clone, Copy, Debug)]
pub struct OpDef {
    /// As registered, for example `relax.add`.
    pub name: &'static str,
    /// The parameters in the order of the surface syntax, so that a reader can tell arguments from attributes.
    pub params: &'static [OpParam],
    /// The declaration of purity (`PURE.REGISTER-MANUAL`).
    pub pure: bool,
    /// The macro `FInferStructInfo`; without one the result is an object (`SI.DERIVE.CALL.OP-DEFAULT`).
    pub infer: Option<Infer>,
    /// The reference implementation.
    pub eval: Eval,
    /// How closely an implementation must agree with the reference implementation.
    pub accuracy: Accuracy,
    /// Where the text defines it.
    pub clauses: Clauses,
    /// Whether it reads the tensors that it is given, as most do (`MEM.UNWRITTEN`).
    pub reads: bool,
    /// Why nothing is said of its value, where that is so: a run that comes to it is not specified.
    pub excluded: Option<&'static str>,
}

/// The rules that define an operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clauses {
    /// Those of the chapter Notable Operators, which its inference and implementation use themselves.
    Text,
    /// Those of its own entry in the reference of operators.
    Tensor(TensorClauses),
}

/// The clauses of an operator of its own entry, `OPS.<name>.<clause>`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TensorClauses {
    /// What the result is known to be.
    pub infer: Rule,
    /// The elements of the result.
    pub value: Rule,
    /// Which attributes there are, and their defaults; only where there are any.
    pub attrs: Option<Rule>,
    /// The public documentation that the clauses are written from.
    pub source: &'static str,
}

/// The inference of an operator's result from a call of it.
pub type Infer = fn(&mut Cx, &InferArgs<'_>) -> Result<StructInfo, InferError>;

/// The reference implementation of an operator, on the values of its arguments.
pub type Eval = fn(&mut dyn Host, &EvalArgs<'_>) -> Result<Value, Stop>;

/// A parameter of an operator in the surface syntax.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum OpParam {
    /// An argument of the call.
    Arg(&'static str),
    /// An argument that may be left out.
    OptionalArg(&'static str),
    /// An argument that is a boxed Boolean and may be left out, with what it then is.
    Flag(&'static str, bool),
    /// An argument that is a shape, so that a tuple of dimensions means a `ShapeExpr`.
    ShapeArg(&'static str),
    /// An argument that is a data type, so that a string means a `DataTypeImm`.
    DtypeArg(&'static str),
    /// All further positional arguments.
    Rest(&'static str),
    /// An attribute of the call.
    Attr(Attr),
}

/// What agreement with the reference implementation means.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Accuracy {
    /// Bit for bit: data movement, comparisons, integers.
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
    /// Every class, the strictest first.
    pub const ALL: [Accuracy; 5] =
        [Accuracy::Exact, Accuracy::Rounded, Accuracy::Elementary, Accuracy::Accumulated, Accuracy::Absolute];
}

/// What an inference macro is given.
#[derive(Clone, Copy, Debug)]
pub struct InferArgs<'a> {
    /// The call itself, with its attributes.
    pub call: &'a Call,
    /// The structural information of the call's arguments, in order.
    pub args: &'a [StructInfo],
    /// The module, where the caller has one; needed to see that a `GlobalVar` names a `PrimFunc`.
    pub module: Option<&'a IrModule>,
}

/// Why an inference macro rejects a call (`TC.CALL.OP.ERR`). The rule is that of the operator's own chapter, or
/// `TC.CALL.OP.ERR` where the text leaves the operator open.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct InferError {
    /// The clause that it breaks.
    pub rule: Rule,
    /// For people.
    pub message: String,
    /// Whether the oracle goes no further here, so that nothing is said of the call: it may well be right.
    pub limit: bool,
}

/// What a reference implementation is given.
#[derive(Clone, Copy, Debug)]
pub struct EvalArgs<'a> {
    /// The call itself, with its attributes.
    pub call: &'a Call,
    /// The values of the call's arguments, in order.
    pub values: &'a [Value],
    /// What inference makes of them, for the operators of tensors: every size of the result is known.
    pub result: Option<&'a StructInfo>,
}

impl InferError {
    /// A rejection by an operator on which the text is silent.
    pub fn op(message: impl Into<String>) -> InferError {
        InferError::rule(rule!("TC.CALL.OP.ERR"), message)
    }

    /// A rejection by a clause of the operator's own.
    pub fn rule(rule: Rule, message: impl Into<String>) -> InferError {
        InferError { rule, message: message.into(), limit: false }
    }

    /// No rejection, but a limit of the oracle.
    pub fn limit(message: impl Into<String>) -> InferError {
        InferError { limit: true, ..InferError::op(message) }
    }
}

/// Pays for all that there is to read in values, while going through them: a tuple that shares its parts stands for far more
/// than it occupies. What is returned is the memory for what inference is told of them.
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

/// How many elements there are to read in a value, apart from those in its fields.
fn own_elements(value: &Value) -> u64 {
    if let Value::Tensor(tensor) = value {
        // Of a tensor without elements operators go through the other axes.
        kernel::places(tensor.shape())
    } else if let Value::Shape(sizes) = value {
        sizes.len() as u64
    } else {
        1
    }
}

/// What a tensor operator infers of a call whose attributes are complete.
fn inferred(infer: Infer, cx: &mut Cx, args: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let info = infer(cx, args)?;
    infer::no_negative_size(&info)?;
    Ok(info)
}

/// Conditions that a call must meet one and all; the rejection names the first that it does not.
pub(crate) fn demand(cx: &mut Cx, demands: &[ReportedCondition]) -> Result<(), InferError> {
    cx.holds(demands).map_err(|(rule, message)| InferError::rule(rule, message()))
}

impl OpDef {
    /// The same operator, whose calls are not pure.
    const fn impure(self) -> OpDef {
        OpDef { pure: false, ..self }
    }

    /// The same operator, which does not read the tensors that it is given.
    const fn unread(self) -> OpDef {
        OpDef { reads: false, ..self }
    }

    /// The structural information of a call of the operator (`SI.DERIVE.CALL.OP`).
    ///
    /// OP.NO-TYPEREL: without an inference macro it is an object (`SI.DERIVE.CALL.OP-DEFAULT`).
    pub fn infer(&self, cx: &mut Cx, args: &InferArgs<'_>) -> Result<StructInfo, InferError> {
        let Some(infer) = self.infer else {
            return Ok(cx.conclude(rule!("OP.NO-TYPEREL"), StructInfo::Object));
        };
        let Clauses::Tensor(clauses) = self.clauses else { return infer(cx, args) };
        let call = self.call(cx, &clauses, args.call)?;
        let inferred = inferred(infer, cx, &InferArgs { call: &call, ..*args });
        cx.conclude(clauses.infer, inferred)
    }

    /// What a call of the operator gives, on the values of its arguments (`OP.FREE`).
    ///
    /// What inference demands of the arguments is demanded of their values in the same words, and only there: the
    /// implementation is given the result as inference knows it.
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

    /// The reference implementation. Where there is noise, an operator that rounds is given arguments and gives a result that
    /// might have been rounded otherwise.
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

    /// Whether NaN in its result may be something else: its clause leaves open which of two operands is the larger if one is NaN.
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

    /// The purity of a call of the operator that carries no `pure` attribute.
    ///
    /// PURE.REGISTER-MANUAL: what the registration says; OP.CALLTIR.PURE and OP.CALLDPS.IMPURE are the registrations
    /// that the text makes.
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
                // Literally nothing is said of it (N51).
                let registered = registered && !cx.literal(Erratum::N51);
                cx.conclude(rule!("OP.CALLTIRINPLACE.PURITY"), registered)
            }
            _ => cx.conclude(rule!("PURE.REGISTER-MANUAL"), self.pure),
        }
    }

    /// What an edition registers: a call of a packed function in destination-passing style is pure by the later ones, which take the
    /// function at its word (OP.CALLDPS.IMPURE).
    pub fn is_pure_in(&self, edition: Edition) -> bool {
        self.pure || (self.name == "relax.call_dps_packed" && edition >= Edition::E2023_12)
    }
}

impl OpParam {
    /// As in the surface syntax.
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
    // Of a product of matrices each element of either is in many terms.
    let elements: f64 = factors.iter().map(|x| x.len() as f64).product();
    let terms = if factors.len() > 1 { (elements / results).sqrt() } else { elements / results };
    Rounding::Sum { terms, digits: digits_of_sums(&factors) }
}

/// By the name without the leading `relax.`.
static BY_NAME: LazyLock<FxHashMap<&'static str, &'static OpDef>> =
    LazyLock::new(|| all().map(|op| (short(op.name), op)).collect());

/// Adds the functions that programs compiled by TVM call by name (`vm.builtin.*`).
pub fn register_builtins(registry: &mut Registry) {
    builtins::register(registry);
}

/// Every operator.
pub fn all() -> impl Iterator<Item = &'static OpDef> {
    language::all().chain(tensor::all())
}

/// The operator of a name, given with or without the leading `relax.`.
///
/// `relax.dot`, as the oldest documents call it, is `relax.matmul`.
pub fn lookup(name: &str) -> Option<&'static OpDef> {
    let canonical = match short(name) {
        "dot" => "matmul",
        short => short,
    };
    BY_NAME.get(canonical).copied()
}

fn short(name: &str) -> &str {
    name.strip_prefix("relax.").unwrap_or(name)
}

/// An attribute of a call, if it is given and not `None`.
fn attr<'a>(call: &'a Call, name: &str) -> Option<&'a AttrValue> {
    call.attrs.get(name).filter(|value| **value != AttrValue::None)
}

#[cfg(test)]
mod tests;
