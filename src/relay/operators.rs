//! The registry of operators. It has every tensor operator of Relax under its own name, and the Relay names of
//! operators that are named differently or composed of several. Types, translation and evaluation share this table.

use super::fault::RelayFault;
use super::print::attr_text;
use crate::grammar::{AttrValue, Attrs, Call, Expr, Name, Ndim, PrimExpr, Span, StructInfo, TensorStructInfo};
use crate::judge::Cx;
use crate::ops::{self, AttrKind, InferArgs, OpDef, OpParam};

/// A call of a Relax operator, as one step of a Relay call.
#[derive(Clone, Debug)]
pub(super) struct OperatorStep {
    pub(super) op: &'static OpDef,
    pub(super) operands: Vec<StepOperand>,
    pub(super) attrs: Attrs,
}

/// An operand of a step.
#[derive(Clone, Debug)]
pub(super) enum StepOperand {
    /// An argument of the call.
    Arg(usize),
    /// The result of an earlier step.
    Step(usize),
    /// A shape, which is an attribute in Relay.
    Shape(Vec<i64>),
}

/// Relay names of operators that have a different name in Relax.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("cast", "astype"),
    ("concatenate", "concat"),
    ("transpose", "permute_dims"),
    ("nn.dense", "matmul"),
    ("nn.batch_matmul", "matmul"),
    ("nn.bias_add", "add"),
];

/// Relay names of attributes and shapes that have a different name in Relax.
const OTHER_ATTRS: &[(&str, &str, &str)] = &[("reshape", "newshape", "shape")];

/// The main Relax operator of a Relay operator.
pub(super) fn lookup(name: &str) -> Option<&'static OpDef> {
    let relax = OTHER_NAMES.iter().find(|(relay, _)| *relay == name).map_or(name, |(_, relax)| relax);
    if relax.starts_with("relax.") { None } else { ops::lookup(relax) }
}

/// Checks that a name is an operator of the registry.
///
/// RELAY.OP.EXTERNAL: the implementation comes from outside. RELAY.OP.REGISTER: an operator has an implementation, a
/// type and everything else that is required. RELAY.OPS-PURE: an operator only makes new values.
pub(super) fn registered(cx: &mut Cx, name: &Name, span: Span) -> Result<(), RelayFault> {
    let provided = cx.conclude(rule!("RELAY.OP.EXTERNAL"), lookup(name));
    let known = provided.is_some();
    if !cx.premise(rule!("RELAY.OP.REGISTER"), 1, known) {
        let message = format!("no operator `{name}` is registered{}", crate::book::or_meant(name, names()));
        return Err(RelayFault::rule(rule!("RELAY.OP.REGISTER"), span, message));
    }
    if !cx.premise(rule!("RELAY.OPS-PURE"), 1, provided.is_none_or(|op| op.pure)) {
        let message = format!("`{name}` has effects, and the operators of Relay have none");
        return Err(RelayFault::rule(rule!("RELAY.OPS-PURE"), span, message));
    }
    Ok(())
}

fn names() -> impl Iterator<Item = &'static str> {
    OTHER_NAMES.iter().map(|(relay, _)| *relay).chain(ops::all().filter_map(|op| op.name.strip_prefix("relax.")))
}

/// The steps in Relax of a call of an operator.
///
/// `ranks` are the ranks of the arguments, as far as they are known.
///
/// # Errors
///
/// The operator does not have these arguments or attributes.
pub(super) fn steps(name: &str, ranks: &[Option<usize>], attrs: &Attrs) -> Result<Vec<OperatorStep>, String> {
    let args = ranks.len();
    match name {
        "nn.dense" => {
            expect(name, args, 2, attrs, &["units", "out_dtype"])?;
            Ok(vec![
                step("permute_dims", [StepOperand::Arg(1)], &[])?,
                step("matmul", [StepOperand::Arg(0), StepOperand::Step(0)], &[])?,
            ])
        }
        "nn.batch_matmul" => batch_matmul(args, attrs),
        "nn.bias_add" => {
            expect(name, args, 2, attrs, &["axis"])?;
            let axis = match attrs.get("axis") {
                Some(AttrValue::Int(axis)) => *axis,
                None => 1,
                Some(other) => return Err(format!("the axis of {name} is an integer, it is {}", attr_text(other))),
            };
            biased_along(axis, ranks.first().copied().flatten())
        }
        _ => plain(name, args, attrs).map(|step| vec![step]),
    }
}

/// Appends dimensions of size 1 to the bias, so that it is added along the axis.
fn biased_along(axis: i64, rank: Option<usize>) -> Result<Vec<OperatorStep>, String> {
    let rank =
        rank.and_then(|rank| i64::try_from(rank).ok()).ok_or("the rank of what the bias is added to is not known")?;
    let from_front = if axis < 0 { axis + rank } else { axis };
    if !(0..rank).contains(&from_front) {
        return Err(format!("there is no axis {axis} among {rank}"));
    }
    let behind: Vec<AttrValue> = (1..rank - from_front).map(AttrValue::Int).collect();
    if behind.is_empty() {
        return Ok(vec![step("add", [StepOperand::Arg(0), StepOperand::Arg(1)], &[])?]);
    }
    let spread = step("expand_dims", [StepOperand::Arg(1)], &[("axis", AttrValue::List(behind))])?;
    Ok(vec![spread, step("add", [StepOperand::Arg(0), StepOperand::Step(0)], &[])?])
}

fn batch_matmul(args: usize, attrs: &Attrs) -> Result<Vec<OperatorStep>, String> {
    expect("nn.batch_matmul", args, 2, attrs, &["transpose_a", "transpose_b", "out_dtype"])?;
    let is = |key: &str, default: bool| match attrs.get(key) {
        Some(AttrValue::Bool(b)) => *b,
        Some(AttrValue::Int(i)) => *i != 0,
        Some(_) | None => default,
    };
    let swapped = AttrValue::List(vec![AttrValue::Int(0), AttrValue::Int(2), AttrValue::Int(1)]);
    let (mut steps, mut operands) = (Vec::new(), Vec::new());
    for (i, transposed) in [is("transpose_a", false), is("transpose_b", true)].into_iter().enumerate() {
        if transposed {
            operands.push(StepOperand::Step(steps.len()));
            steps.push(step("permute_dims", [StepOperand::Arg(i)], &[("axes", swapped.clone())])?);
        } else {
            operands.push(StepOperand::Arg(i));
        }
    }
    steps.push(step("matmul", operands, &[])?);
    Ok(steps)
}

fn expect(name: &str, args: usize, arity: usize, attrs: &Attrs, known: &[&str]) -> Result<(), String> {
    if args != arity {
        return Err(format!("{name} takes {arity} arguments, there are {args}"));
    }
    match attrs.keys().find(|key| !known.contains(&&***key)) {
        Some(unknown) => Err(format!("{name} has no attribute `{unknown}`")),
        None => Ok(()),
    }
}

fn step(
    relax: &str,
    operands: impl IntoIterator<Item = StepOperand>,
    attrs: &[(&str, AttrValue)],
) -> Result<OperatorStep, String> {
    let op = ops::lookup(relax).ok_or_else(|| format!("there is no operator {relax}"))?;
    let attrs = attrs.iter().map(|(key, value)| (Name::from(*key), value.clone())).collect();
    Ok(OperatorStep { op, operands: operands.into_iter().collect(), attrs })
}

/// A step for an operator that Relax has too: arguments by position, attributes and shapes by name.
fn plain(name: &str, args: usize, given: &Attrs) -> Result<OperatorStep, String> {
    let op = lookup(name).ok_or_else(|| format!("no operator `{name}` is registered"))?;
    let mut given: Attrs = given.iter().map(|(key, value)| (other_attr(name, key), value.clone())).collect();
    let (mut operands, mut attrs, mut next) = (Vec::new(), Attrs::new(), 0);
    for param in op.params {
        match param {
            OpParam::Arg(_) | OpParam::OptionalArg(_) | OpParam::Flag(..) | OpParam::DtypeArg(_) => {
                if next < args {
                    operands.push(StepOperand::Arg(next));
                    next += 1;
                }
            }
            OpParam::Rest(_) => {
                operands.extend((next..args).map(StepOperand::Arg));
                next = args;
            }
            OpParam::ShapeArg(key) => match given.remove(*key) {
                Some(sizes) => operands.push(StepOperand::Shape(sizes_of(key, &sizes)?)),
                None => return Err(format!("{name} needs the attribute `{key}`")),
            },
            OpParam::Attr(attr) => {
                if let Some(value) = given.remove(attr.name) {
                    attrs.insert(attr.name.into(), of_kind(attr.kind, value));
                }
            }
        }
    }
    match (next == args, given.keys().next()) {
        (false, _) => Err(format!("{name} takes {next} arguments, there are {args}")),
        (true, Some(unknown)) => Err(format!("{name} has no attribute `{unknown}`")),
        (true, None) => Ok(OperatorStep { op, operands, attrs }),
    }
}

fn other_attr(name: &str, key: &Name) -> Name {
    let other = OTHER_ATTRS.iter().find(|(operator, relay, _)| *operator == name && **relay == **key);
    other.map_or_else(|| key.clone(), |(_, _, relax)| Name::from(*relax))
}

fn sizes_of(key: &str, value: &AttrValue) -> Result<Vec<i64>, String> {
    let size = |value: &AttrValue| value.as_int().copied();
    let sizes = match value {
        AttrValue::List(items) => items.iter().map(size).collect(),
        single => size(single).map(|size| vec![size]),
    };
    sizes.ok_or_else(|| format!("`{key}` is a list of integers"))
}

/// A value of the right kind. A datatype may be written as a string or as a word.
fn of_kind(kind: AttrKind, value: AttrValue) -> AttrValue {
    if let (AttrKind::DataType, AttrValue::Str(name)) = (kind, &value) {
        name.parse().map_or(value.clone(), AttrValue::DataType)
    } else if let (AttrKind::Ints, AttrValue::Int(_)) = (kind, &value) {
        AttrValue::List(vec![value])
    } else {
        value
    }
}

impl OperatorStep {
    /// The Relax call with these arguments.
    pub(super) fn call(&self, args: Vec<Expr>, span: Span) -> Call {
        Call { op: Expr::op(self.op.name), args, sinfo_args: Vec::new(), attrs: self.attrs.clone(), span }
    }

    /// RELAY.TYPEREL: the result according to the type relation of the operator. Each operand is given as an expression
    /// with its structural information.
    pub(super) fn infer(&self, cx: &mut Cx, operands: &[(Expr, StructInfo)]) -> Result<StructInfo, String> {
        let call = self.call(operands.iter().map(|(e, _)| e.clone()).collect(), Span::NONE);
        let args: Vec<StructInfo> = operands.iter().map(|(_, info)| info.clone()).collect();
        self.op.infer(cx, &InferArgs { call: &call, args: &args, module: None }).map_err(|error| error.message)
    }
}

/// The result of a call according to the type relation of the operator, given the structural information of the
/// arguments.
pub(super) fn relation(cx: &mut Cx, name: &str, attrs: &Attrs, args: &[StructInfo]) -> Result<StructInfo, String> {
    let ranks: Vec<Option<usize>> = args.iter().map(rank).collect();
    let steps = steps(name, &ranks, attrs)?;
    let mut results: Vec<StructInfo> = Vec::new();
    for step in &steps {
        let operands: Vec<(Expr, StructInfo)> =
            step.operands.iter().map(|operand| known(operand, args, &results)).collect();
        results.push(step.infer(cx, &operands)?);
    }
    results.pop().ok_or_else(|| format!("{name} does nothing"))
}

/// The rank of a tensor, if it is known.
pub(super) fn rank(info: &StructInfo) -> Option<usize> {
    if let StructInfo::Tensor(TensorStructInfo { ndim: Ndim::Known(rank), .. }) = info {
        usize::try_from(*rank).ok()
    } else {
        None
    }
}

fn known(operand: &StepOperand, args: &[StructInfo], results: &[StructInfo]) -> (Expr, StructInfo) {
    let of = |infos: &[StructInfo], i: &usize| infos.get(*i).cloned().unwrap_or(StructInfo::Object);
    match operand {
        StepOperand::Arg(i) => (Expr::var("argument"), of(args, i)),
        StepOperand::Step(i) => (Expr::var("step"), of(results, i)),
        StepOperand::Shape(sizes) => {
            let dims = || sizes.iter().copied().map(PrimExpr::IntImm);
            (Expr::shape(dims()), StructInfo::shape(dims()))
        }
    }
}
