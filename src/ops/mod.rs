//! The operators (chapter Notable Operators, and the library of common ones that the text leaves open).
//!
//! Each operator reads in one place: its signature, its purity, the inference of its result and its reference
//! implementation stand side by side in the file of its family. [`lookup`] finds an operator by its name.

mod broadcast;
mod call;
mod call_tir;
mod create;
mod debug;
mod dps;
mod elementwise;
mod index;
mod infer;
mod kernel;
mod linear;
mod nn;
mod prim_func;
mod reduce;
mod reshape;
mod shape_of;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::cx::{Cx, Edition, Stuck};
use crate::eval::{Machine, Stop, Value};
use crate::grammar::{AttrValue, Call, IrModule, StructInfo};
use crate::rule::Rule;

pub use call_tir::CallForm;
pub use prim_func::run_prim_func;

/// One operator.
#[derive(Debug)]
pub struct OpDef {
    /// As registered, for example `relax.add`.
    pub name: &'static str,
    /// The parameters in the order of the surface syntax, so that a reader can tell arguments from attributes.
    pub params: &'static [Param],
    /// The declaration of purity (`PURE.REGISTER-MANUAL`).
    pub pure: bool,
    /// The macro `FInferStructInfo`; without one the result is an object (`SI.DERIVE.CALL.OP-DEFAULT`).
    pub infer: Option<Infer>,
    /// The reference implementation.
    pub eval: Eval,
    /// How closely an implementation must agree with the reference implementation.
    pub accuracy: Accuracy,
}

/// The inference of an operator's result from a call of it.
pub type Infer = fn(&mut Cx, &InferArgs<'_>) -> Result<StructInfo, InferError>;

/// The reference implementation of an operator, on the values of its arguments.
pub type Eval = fn(&mut Machine<'_>, &EvalArgs<'_>) -> Result<Value, Stop>;

/// A parameter of an operator in the surface syntax.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Param {
    /// An argument of the call.
    Arg(&'static str),
    /// An argument that may be left out.
    OptionalArg(&'static str),
    /// All further positional arguments.
    Rest(&'static str),
    /// An attribute of the call.
    Attr(&'static str),
}

/// What agreement with the reference implementation means.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Accuracy {
    /// Bit for bit: data movement, comparisons, integers.
    Exact,
    /// One correctly rounded operation for each element.
    Rounded,
    /// Elementary functions: a small number of units in the last place.
    Elementary,
    /// Sums and products of many elements, in any order.
    Accumulated,
}

/// What an inference macro is given.
#[derive(Clone, Copy, Debug)]
pub struct InferArgs<'a> {
    pub call: &'a Call,
    /// The structural information of the call's arguments, in order.
    pub args: &'a [StructInfo],
    /// The module, where the caller has one; needed to see that a `GlobalVar` names a `PrimFunc`.
    pub module: Option<&'a IrModule>,
}

/// Why an inference macro rejects a call (`TC.CALL.OP.ERR`).
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum InferError {
    /// The rule is that of the operator's own chapter, or `TC.CALL.OP.ERR` where the text leaves the operator open.
    #[error("{message}")]
    Rejected { rule: Rule, message: String },
    #[error(transparent)]
    Stuck(#[from] Stuck),
}

/// What a reference implementation is given.
#[derive(Clone, Copy, Debug)]
pub struct EvalArgs<'a> {
    pub call: &'a Call,
    /// The values of the call's arguments, in order.
    pub values: &'a [Value],
}

impl InferError {
    /// A rejection by an operator on which the text is silent.
    pub fn op(message: impl Into<String>) -> InferError {
        InferError::rule(Rule::TcCallOpErr, message)
    }

    pub fn rule(rule: Rule, message: impl Into<String>) -> InferError {
        InferError::Rejected { rule, message: message.into() }
    }
}

impl OpDef {
    /// The structural information of a call of the operator (`SI.DERIVE.CALL.OP`).
    ///
    /// OP.NO-TYPEREL: without an inference macro it is an object (`SI.DERIVE.CALL.OP-DEFAULT`).
    pub fn infer(&self, cx: &mut Cx, args: &InferArgs<'_>) -> Result<StructInfo, InferError> {
        match self.infer {
            Some(infer) => infer(cx, args),
            None => {
                cx.apply(Rule::OpNoTyperel)?;
                Ok(StructInfo::Object)
            }
        }
    }

    /// The purity of a call of the operator that carries no `pure` attribute.
    ///
    /// PURE.REGISTER-MANUAL: what the registration says; OP.CALLTIR.PURE and OP.CALLDPS.IMPURE are the registrations
    /// that the text makes.
    pub fn is_pure(&self, cx: &mut Cx) -> bool {
        match self.name {
            "relax.call_tir" => cx.fire(Rule::OpCalltirPure),
            "relax.call_dps_packed" if cx.edition == Edition::E2023_02 => !cx.fire(Rule::OpCalldpsImpure),
            "relax.call_dps_packed" => true,
            _ => cx.fire(Rule::PureRegisterManual) && self.pure,
        }
    }
}

impl Param {
    pub fn name(self) -> &'static str {
        match self {
            Param::Arg(name) | Param::OptionalArg(name) | Param::Rest(name) | Param::Attr(name) => name,
        }
    }
}

/// The families, each a list of operators.
const FAMILIES: &[&[OpDef]] = &[
    call::OPS,
    call_tir::OPS,
    shape_of::OPS,
    debug::OPS,
    elementwise::OPS,
    linear::OPS,
    reshape::OPS,
    broadcast::OPS,
    create::OPS,
    reduce::OPS,
    index::OPS,
    nn::OPS,
];

static BY_NAME: LazyLock<BTreeMap<&'static str, &'static OpDef>> =
    LazyLock::new(|| all().map(|op| (op.name, op)).collect());

/// Every operator.
pub fn all() -> impl Iterator<Item = &'static OpDef> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// The operator of a name, given with or without the leading `relax.`.
///
/// `relax.dot`, as the oldest documents call it, is `relax.matmul`.
pub fn lookup(name: &str) -> Option<&'static OpDef> {
    let canonical = match name.strip_prefix("relax.").unwrap_or(name) {
        "dot" => "relax.matmul".to_string(),
        short => format!("relax.{short}"),
    };
    BY_NAME.get(canonical.as_str()).copied()
}

/// An attribute of a call, if it is given and not `None`.
fn attr<'a>(call: &'a Call, name: &str) -> Option<&'a AttrValue> {
    call.attrs.get(name).filter(|value| **value != AttrValue::None)
}

#[cfg(test)]
mod tests;
