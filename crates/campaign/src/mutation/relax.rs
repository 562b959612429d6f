//! Changes of Relax expressions.

use std::sync::Arc;

use super::{MutationSites, doubled};
use crate::questions::is_named_in;
use relax_spec::grammar::{
    AttrValue, Attrs, Binding, Call, Constant, DataType, Expr, FloatBits, PrimExpr, PrimValue, SeqExpr, Span,
    TensorData, Tuple,
};
use relax_spec::judge::with_stack;
use relax_spec::ops::{self, OpDef};
use relax_spec::value::{Scalar, Tensor};

/// Operators whose arguments may be exchanged.
const COMMUTATIVE: &str = "add multiply maximum minimum equal not_equal logical_and logical_or logical_xor \
    bitwise_and bitwise_or";

impl MutationSites {
    pub(super) fn expr(&mut self, e: &mut Expr) {
        with_stack(|| {
            self.parts(e);
            self.whole(e);
        });
    }

    fn parts(&mut self, e: &mut Expr) {
        match e {
            Expr::Tuple(tuple) => Arc::make_mut(tuple).fields.iter_mut().for_each(|field| self.expr(field)),
            Expr::SeqExpr(seq) => self.seq(Arc::make_mut(seq)),
            Expr::Function(function) => self.expr(&mut Arc::make_mut(function).body),
            Expr::If(e) => {
                let e = Arc::make_mut(e);
                [&mut e.true_branch, &mut e.false_branch].into_iter().for_each(|branch| self.expr(branch));
                let span = e.span;
                for (value, which) in [(true, "true"), (false, "false")] {
                    self.change(&mut e.cond, || format!("the {which} branch always"), span, boolean(value, span));
                }
            }
            Expr::Call(call) => self.call_parts(Arc::make_mut(call)),
            Expr::TupleGetItem(item) => {
                let item = Arc::make_mut(item);
                let (index, span) = (item.index, item.span);
                self.change(
                    &mut item.index,
                    || format!("field {} for {index}", index.wrapping_add(1)),
                    span,
                    index.wrapping_add(1),
                );
                if index > 0 {
                    self.change(&mut item.index, || format!("field {} for {index}", index - 1), span, index - 1);
                }
            }
            Expr::ShapeExpr(shape) => {
                for at in 0..shape.values.len() {
                    let mut values = shape.values.to_vec();
                    if let Some(PrimExpr::IntImm(size)) = values.get_mut(at) {
                        *size = size.wrapping_add(1);
                        let span = shape.span;
                        self.change(&mut shape.values, || format!("dimension {at} is 1 more"), span, values.into());
                    }
                }
            }
            _ => {}
        }
    }

    fn seq(&mut self, seq: &mut SeqExpr) {
        for block in &mut seq.blocks {
            for binding in &mut block.bindings {
                match binding {
                    Binding::VarBinding(binding) => self.expr(&mut binding.value),
                    Binding::MatchCast(cast) => self.expr(&mut cast.value),
                }
            }
        }
        self.expr(&mut seq.body);
    }

    fn call_parts(&mut self, call: &mut Call) {
        call.args.iter_mut().for_each(|arg| self.expr(arg));
        let span = call.span;
        if let Expr::Op(op) = &mut call.op {
            let name = op.op_name.clone();
            if let Some(other) = ops::lookup(&name).and_then(neighbour) {
                self.change(&mut op.op_name, || format!("{} for {name}", other.name), span, other.name.into());
            }
            if call.args.len() >= 2 && call.args.first() != call.args.get(1) && !is_named_in(&name, COMMUTATIVE) {
                let mut exchanged = call.args.clone();
                exchanged.swap(0, 1);
                self.change(&mut call.args, || format!("the arguments of {name} exchanged"), span, exchanged);
            }
        }
        let callee = if let Expr::Op(op) = &call.op { op.op_name.clone() } else { "a call".into() };
        for (name, value) in call.attrs.clone() {
            if let AttrValue::Float(x) = &value {
                let attrs = call.attrs.clone();
                self.constant(&mut call.attrs, x.get(), span, |x| {
                    let mut attrs = attrs;
                    attrs.insert(name.clone(), AttrValue::Float(FloatBits::new(x)));
                    attrs
                });
                continue;
            }
            for changed in other_values(&value) {
                let what = || format!("`{name}` of {callee} is {changed} for {value}");
                let mut attrs = call.attrs.clone();
                attrs.insert(name.clone(), changed.clone());
                self.change(&mut call.attrs, what, span, attrs);
            }
        }
    }

    fn whole(&mut self, e: &mut Expr) {
        match &*e {
            Expr::Call(call) => {
                let (span, callee, first, less) =
                    (call.span, call.op.clone(), call.args.first().cloned(), in_less(call));
                if let Some((lower, rounded)) = less {
                    self.change(e, || format!("the result in {lower} between"), span, rounded);
                }
                match (&callee, first) {
                    (Expr::Op(op), Some(first)) => {
                        self.change(e, || format!("without {}", op.op_name), span, first);
                    }
                    (Expr::ExternFunc(func), _) => {
                        let unit = Expr::Tuple(Arc::new(Tuple { fields: Vec::new(), span }));
                        self.change(e, || format!("without the call of {}", func.global_symbol), span, unit);
                    }
                    (_, _) => {}
                }
            }
            Expr::Constant(constant) => {
                let span = constant.span;
                let whole = constant.data.clone();
                if let Some(x) = only_float(&whole) {
                    self.constant(e, x, span, |x| {
                        Expr::Constant(Constant {
                            data: with_first(&whole, Scalar::Float(x)).unwrap_or(whole.clone()),
                            span,
                        })
                    });
                }
                if let Some(data) = one_more(&whole) {
                    let what = || format!("another constant of the shape {:?}", data.shape);
                    self.change(e, what, span, Expr::Constant(Constant { data: data.clone(), span }));
                }
            }
            Expr::PrimValue(prim) => {
                let (span, changed, own) = (prim.span, other_scalar(prim), prim.clone());
                if let Some(x) = own.float {
                    self.constant(e, x.get(), span, |x| {
                        Expr::PrimValue(PrimValue { float: Some(FloatBits::new(x)), ..own.clone() })
                    });
                }
                if let Some(changed) = changed {
                    self.change(e, || "another scalar".to_string(), span, Expr::PrimValue(changed));
                }
            }
            _ => {}
        }
    }
}

/// A call with a known floating-point data type, rounded to a narrower type and converted back.
fn in_less(call: &Call) -> Option<(DataType, Expr)> {
    let (Expr::Op(op), Some(AttrValue::DataType(dtype))) =
        (&call.op, call.attrs.get("dtype").or_else(|| call.attrs.get("out_dtype")))
    else {
        return None;
    };
    let lower = narrower(*dtype).filter(|_| op.op_name.starts_with("relax."))?;
    let cast = |value: Expr, dtype: DataType| {
        let attrs = Attrs::from([("dtype".into(), AttrValue::DataType(dtype))]);
        let call =
            Call { op: Expr::op("relax.astype"), args: vec![value], sinfo_args: Vec::new(), attrs, span: call.span };
        Expr::Call(Arc::new(call))
    };
    Some((lower, cast(cast(Expr::Call(Arc::new(call.clone())), lower), *dtype)))
}

/// The next narrower floating-point data type.
pub(super) fn narrower(dtype: DataType) -> Option<DataType> {
    match dtype {
        DataType::FLOAT64 => Some(DataType::FLOAT32),
        DataType::FLOAT32 => Some(DataType::FLOAT16),
        _ => None,
    }
}

/// The next operator with the same parameters and the same inference.
fn neighbour(op: &'static OpDef) -> Option<&'static OpDef> {
    let like = |other: &&'static OpDef| other.params == op.params && other.inference == op.inference;
    let mut all = ops::all().filter(like);
    let first = all.next()?;
    let after = std::iter::once(first).chain(all).skip_while(|other| other.name != op.name).nth(1);
    after.or(Some(first)).filter(|other| other.name != op.name)
}

/// A Boolean scalar.
fn boolean(value: bool, span: Span) -> Expr {
    let data = TensorData { dtype: DataType::BOOL, shape: [].into(), bytes: [u8::from(value)].into() };
    Expr::Constant(Constant { data, span })
}

/// The only element of a floating-point tensor; none if it has several.
fn only_float(data: &TensorData) -> Option<f64> {
    let tensor = Tensor::from_data(data).ok().filter(|tensor| tensor.len() == 1)?;
    if let Scalar::Float(x) = tensor.get(0)? { Some(x) } else { None }
}

/// The tensor with another first element.
fn with_first(data: &TensorData, first: Scalar) -> Option<TensorData> {
    let tensor = Tensor::from_data(data).ok()?;
    tensor.set(0, first).then(|| tensor.to_data())
}

/// The tensor with another first element; `None` without elements.
fn one_more(data: &TensorData) -> Option<TensorData> {
    let changed = match Tensor::from_data(data).ok()?.get(0)? {
        Scalar::Bool(x) => Scalar::Bool(!x),
        Scalar::Int(x) => Scalar::Int(x.wrapping_add(1)),
        Scalar::UInt(x) => Scalar::UInt(x.wrapping_add(1)),
        Scalar::Float(x) => Scalar::Float(other_float(x)),
        Scalar::Ring(_) => return None,
    };
    with_first(data, changed).filter(|changed| changed != data)
}

/// Another float: different enough to differ in a narrow type too, and not twice the number.
pub(super) fn other_float(x: f64) -> f64 {
    match x.abs() {
        0.0 | 1.0 => x + 3.0,
        ..100.0 => x + 1.0,
        _ => x / 2.0,
    }
}

fn other_scalar(prim: &PrimValue) -> Option<PrimValue> {
    match (prim.float, &prim.value) {
        (Some(x), _) => Some(PrimValue { float: Some(FloatBits::new(other_float(x.get()))), ..prim.clone() }),
        (None, PrimExpr::IntImm(x)) if prim.dtype != DataType::BOOL => {
            Some(PrimValue { value: PrimExpr::IntImm(x.wrapping_add(1)), ..prim.clone() })
        }
        (None, PrimExpr::IntImm(x)) => Some(PrimValue { value: PrimExpr::IntImm(i64::from(*x == 0)), ..prim.clone() }),
        (None, PrimExpr::Var(_) | PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..)) => None,
    }
}

/// Other values of an attribute: the next axis, another bound, the opposite.
fn other_values(value: &AttrValue) -> Vec<AttrValue> {
    match value {
        AttrValue::Bool(x) => vec![AttrValue::Bool(!x)],
        AttrValue::Int(x) => vec![AttrValue::Int(x.wrapping_add(1)), AttrValue::Int(x.wrapping_sub(1))],
        AttrValue::Float(x) => vec![AttrValue::Float(FloatBits::new(doubled(x.get())))],
        AttrValue::List(items) => (0..items.len())
            .flat_map(|at| {
                let others = items.get(at).map(other_values).unwrap_or_default();
                others.into_iter().map(move |other| {
                    let mut changed = items.to_vec();
                    changed.splice(at..=at, [other]);
                    AttrValue::List(changed)
                })
            })
            .collect(),
        _ => Vec::new(),
    }
}
