//! Random calls of operators: calls on values, and different static knowledge about their arguments.
//!
//! A call resembles one in a case, with other sizes, data types and attributes. The knowledge about its arguments is
//! true of their values, and as precise or as vague as static information can be.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use crate::generate::Tape;
use crate::questions::{self, Scene};
use relax_spec::eval::{EvalOptions, Machine, prelude};
use relax_spec::grammar::{
    AttrValue, Attrs, BinaryOp, Call, DataType, Expr, FloatBits, GlobalFunc, GlobalVar, IrModule, Ndim, PrimExpr,
    PrimStructInfo, PrimValue, Replacement, ShapeVar, Span, StructInfo, TensorData, TensorShape, TensorStructInfo, Var,
};
use relax_spec::judge::Cx;
use relax_spec::ops::{AttrKind, EvalArgs, OpDef};
use relax_spec::suite::Case;
use relax_spec::value::{Closure, Host, Prim, PrimFuncObj, Scalar, Stop, Tensor, Value, ValueSpec, from_spec};

/// An argument.
#[derive(Clone, Debug)]
pub enum CallOperand {
    /// A tensor of this data type and shape; its elements are chosen later.
    Tensor(DataType, Vec<i64>),
    /// A tuple.
    Tuple(Vec<CallOperand>),
    /// A shape.
    Shape(Vec<i64>),
    /// A boxed integer or Boolean.
    Int(DataType, i64),
    /// Any other argument, as in a case.
    Other(Expr, Value),
}

/// A call of an operator on values.
#[derive(Clone, Debug)]
pub struct RandomCall {
    /// The operator.
    pub op: &'static OpDef,
    /// The arguments.
    pub operands: Vec<CallOperand>,
    /// The attributes.
    pub attrs: Attrs,
    /// The type arguments.
    pub sinfo_args: Vec<StructInfo>,
    /// The tensors of the case, by argument.
    given: Vec<Option<TensorData>>,
}

/// The calls of an operator in the cases about its values.
pub fn patterns(op: &'static OpDef, suite: &[Case]) -> Vec<RandomCall> {
    questions::scenes(op, suite).filter_map(|(scene, args)| pattern(op, &scene, args)).collect()
}

fn pattern(op: &'static OpDef, scene: &Scene, args: &[ValueSpec]) -> Option<RandomCall> {
    let operands = scene.call.args.iter().map(|arg| operand(arg, scene, args)).collect::<Option<Vec<CallOperand>>>()?;
    let given = scene.call.args.iter().map(|arg| given(arg, scene, args)).collect();
    let (attrs, sinfo_args) = (scene.call.attrs.clone(), scene.call.sinfo_args.clone());
    Some(RandomCall { op, operands, attrs, sinfo_args, given })
}

/// What a variable is in the case.
fn held<'a>(var: &Var, scene: &Scene, args: &'a [ValueSpec]) -> Option<&'a ValueSpec> {
    args.get(scene.params.iter().position(|(param, _)| param == var)?)
}

/// The tensor that an argument has in the case.
fn given(arg: &Expr, scene: &Scene, args: &[ValueSpec]) -> Option<TensorData> {
    let Expr::Var(var) = arg else { return None };
    if let ValueSpec::Tensor(data) = held(var, scene, args)? { Some(data.clone()) } else { None }
}

/// A tensor of the data type and shape that data have.
fn of_tensor(data: &TensorData) -> Option<CallOperand> {
    let shape = data.shape.iter().map(|size| i64::try_from(*size).ok()).collect::<Option<_>>()?;
    Some(CallOperand::Tensor(data.dtype, shape))
}

fn operand(arg: &Expr, scene: &Scene, args: &[ValueSpec]) -> Option<CallOperand> {
    match arg {
        Expr::Var(var) | Expr::DataflowVar(var) => of_value(held(var, scene, args)?),
        Expr::Tuple(tuple) => {
            tuple.fields.iter().map(|field| operand(field, scene, args)).collect::<Option<_>>().map(CallOperand::Tuple)
        }
        Expr::ShapeExpr(shape) => shape.values.iter().map(constant).collect::<Option<_>>().map(CallOperand::Shape),
        Expr::PrimValue(PrimValue { float: None, value, dtype, .. }) => {
            Some(CallOperand::Int(*dtype, constant(value)?))
        }
        Expr::PrimValue(PrimValue { float: Some(bits), dtype, .. }) => {
            let prim = Prim { dtype: *dtype, value: Scalar::Float(bits.get()) };
            Some(CallOperand::Other(arg.clone(), Value::Prim(prim)))
        }
        Expr::Constant(constant) => of_tensor(&constant.data),
        Expr::StringImm(text) => Some(CallOperand::Other(arg.clone(), Value::Str(text.value.clone()))),
        Expr::DataTypeImm(dtype) => Some(CallOperand::Other(arg.clone(), Value::DataType(dtype.value))),
        Expr::GlobalVar(gv) => function(gv, scene).map(|value| CallOperand::Other(arg.clone(), value)),
        Expr::ExternFunc(f) => {
            let value = from_spec(&ValueSpec::PackedFunc(f.global_symbol.clone()), &[], &prelude()).ok()?;
            Some(CallOperand::Other(arg.clone(), value))
        }
        Expr::SeqExpr(_) | Expr::Function(_) | Expr::If(_) | Expr::Call(_) | Expr::TupleGetItem(_) | Expr::Op(_) => {
            None
        }
    }
}

/// A function of the program: a `PrimFunc`, or a function that mentions no other function.
fn function(gv: &GlobalVar, scene: &Scene) -> Option<Value> {
    let (_, func) = scene.others.iter().find(|(other, _)| other.name == gv.name)?;
    match func {
        GlobalFunc::PrimFunc(func) => {
            let object = PrimFuncObj { name: gv.name.clone(), func: func.clone() };
            Some(Value::PrimFunc(Rc::new(object)))
        }
        GlobalFunc::Function(func) => {
            let mut closure = Closure::unknown();
            closure.func = Some(func.clone());
            Some(Value::Closure(Rc::new(closure)))
        }
        GlobalFunc::ExternFunc(_) => None,
    }
}

fn of_value(value: &ValueSpec) -> Option<CallOperand> {
    match value {
        ValueSpec::Tensor(data) => of_tensor(data),
        ValueSpec::Tuple(fields) => fields.iter().map(of_value).collect::<Option<_>>().map(CallOperand::Tuple),
        ValueSpec::Shape(sizes) => Some(CallOperand::Shape(sizes.clone())),
        ValueSpec::Int(i) => Some(CallOperand::Int(DataType::INT64, *i)),
        ValueSpec::Bool(b) => Some(CallOperand::Int(DataType::BOOL, i64::from(*b))),
        ValueSpec::PackedFunc(_)
        | ValueSpec::Closure
        | ValueSpec::PrimFunc
        | ValueSpec::Float(_)
        | ValueSpec::Str(_)
        | ValueSpec::DataType(_)
        | ValueSpec::Object
        | ValueSpec::Arg(_) => None,
    }
}

fn constant(dim: &PrimExpr) -> Option<i64> {
    dim.as_int().copied()
}

// Changes.

const DTYPES: [DataType; 11] = [
    DataType::FLOAT32,
    DataType::FLOAT64,
    DataType::FLOAT16,
    DataType::INT64,
    DataType::INT32,
    DataType::INT8,
    DataType::UINT8,
    DataType::UINT32,
    DataType::UINT64,
    DataType::BOOL,
    DataType::BFLOAT16,
];

/// A call like the pattern. Often all sizes are replaced consistently, and attributes by others of their kind.
/// Sometimes a single argument changes, so that the call may be invalid.
pub fn draw(pattern: &RandomCall, tape: &mut Tape) -> RandomCall {
    let mut call = pattern.clone();
    // Boxed integers often are sizes or indices, which other integers would not fit; so are integer tensors next to
    // floats.
    let any = |wanted: &dyn Fn(&CallOperand) -> bool| call.operands.iter().any(wanted);
    let boxed = any(&|operand| matches!(operand, CallOperand::Int(..)));
    let is = |wanted: fn(DataType) -> bool| any(&|own| matches!(own, CallOperand::Tensor(dtype, _) if wanted(*dtype)));
    let places = is(DataType::is_int) && is(DataType::is_float);
    if tape.one_in(if boxed || places { 5 } else { 2 }) {
        let sizes = RefCell::new(Vec::new());
        let tape = RefCell::new(&mut *tape);
        let exchange = |size: i64| exchanged(size, &mut sizes.borrow_mut(), &mut tape.borrow_mut());
        call = call.with_sizes(&exchange);
    }
    if tape.one_in(3) {
        let from = call.parts().find_map(CallOperand::dtype);
        if let (Some(from), Some(to)) = (from, tape.pick(&DTYPES)) {
            call = call.with_dtype(from, *to);
        }
    }
    let others = tape.one_in(2);
    for attr in call.op.attrs() {
        if others && tape.one_in(3) {
            let present = call.attrs.get(attr.name).cloned();
            if let Some(value) = attribute(attr.kind, present.as_ref(), tape) {
                call.attrs.insert(attr.name.into(), value);
            }
        }
    }
    call.each_operand(|operand| match operand {
        // Boxed integers often change.
        CallOperand::Int(dtype, value) if tape.one_in(5) => *value = some_number(*dtype, tape),
        _ => {}
    });
    if tape.one_in(5) {
        let at = tape.choose(call.operands.len());
        if let Some(operand) = call.operands.get_mut(at) {
            changed(operand, tape);
        }
    }
    call
}

/// A similar call with some numbers (attributes, boxed numbers or sizes) so large that the result, or the work for it,
/// is enormous or exceeds any integer.
pub fn enlarged(call: &RandomCall, tape: &mut Tape) -> RandomCall {
    let mut call = call.clone();
    let mut numbers: Vec<&mut i64> = Vec::new();
    call.operands.iter_mut().for_each(|operand| each_number(operand, &mut numbers));
    call.attrs.values_mut().for_each(|value| each_integer(value, &mut numbers));
    let several = if tape.one_in(2) { numbers.len() } else { 1 };
    for _ in 0..several {
        let at = tape.choose(numbers.len());
        if let (Some(number), Some(large)) = (numbers.get_mut(at), tape.pick(&LARGE)) {
            **number = *large;
        }
    }
    call
}

/// A similar call without elements: one size is 0 wherever it occurs, and another one so large that a loop over the
/// axes takes long. None if some tensor would still have elements, and many of them.
pub fn emptied(call: &RandomCall, tape: &mut Tape) -> Option<RandomCall> {
    let mut call = call.clone();
    let mut sizes: Vec<i64> = Vec::new();
    call.each_size(|size| sizes.push(*size));
    sizes.sort_unstable();
    sizes.dedup();
    let (none, many) = (*tape.pick(&sizes)?, *tape.pick(&sizes)?);
    call.each_size(|size| match *size {
        own if own == none => *size = 0,
        own if own == many => *size = MANY,
        _ => {}
    });
    let is_large = |shape: &[i64]| shape.contains(&MANY) && !shape.contains(&0);
    let large = call.parts().any(|own| matches!(own, CallOperand::Tensor(_, shape) if is_large(shape)));
    Some(call).filter(|_| !large && none != many)
}

/// So many steps that a loop over them is noticeable.
const MANY: i64 = 1 << 26;

/// Numbers whose square, or whose product with a small number, is much work, exceeds the memory, or is not an integer.
const LARGE: [i64; 9] = [50, 300, 5_000, 1 << 20, 1 << 28, 1 << 40, i64::MAX, i64::MIN, -(1 << 33)];

fn each_number<'a>(operand: &'a mut CallOperand, numbers: &mut Vec<&'a mut i64>) {
    match operand {
        CallOperand::Shape(sizes) => numbers.extend(sizes),
        CallOperand::Int(dtype, value) if !dtype.is_bool() => numbers.push(value),
        CallOperand::Tuple(fields) => fields.iter_mut().for_each(|field| each_number(field, numbers)),
        CallOperand::Tensor(..) | CallOperand::Int(..) | CallOperand::Other(..) => {}
    }
}

fn each_integer<'a>(value: &'a mut AttrValue, numbers: &mut Vec<&'a mut i64>) {
    if let AttrValue::Int(number) = value {
        numbers.push(number);
    } else if let AttrValue::List(items) = value {
        items.iter_mut().for_each(|item| each_integer(item, numbers));
    }
}

/// Replaces sizes by others.
struct Resized<F>(F);

impl<F: Fn(i64) -> i64> Replacement for Resized<F> {
    fn dim(&self, dim: &PrimExpr) -> PrimExpr {
        constant(dim).map_or_else(|| dim.clone(), |size| PrimExpr::IntImm((self.0)(size)))
    }
}

/// The replacement of a size, the same for equal sizes.
fn exchanged(size: i64, sizes: &mut Vec<(i64, i64)>, tape: &mut Tape) -> i64 {
    if let Some((_, new)) = sizes.iter().find(|(old, _)| *old == size) {
        return *new;
    }
    let new = match (size, tape.choose(8)) {
        (1, 0..=5) => 1,
        (_, 0) => size,
        (_, 1) if tape.one_in(3) => 0,
        (_, choice) => [1, 2, 3, 4, 5, 6].get(choice.saturating_sub(2)).copied().unwrap_or(size),
    };
    sizes.push((size, new));
    new
}

impl CallOperand {
    /// Visits the operand itself, or the elements of a tuple.
    fn each(&mut self, f: &mut dyn FnMut(&mut CallOperand)) {
        match self {
            CallOperand::Tuple(fields) => fields.iter_mut().for_each(|field| field.each(f)),
            operand => f(operand),
        }
    }

    /// Visits the operand itself, or the elements of a tuple.
    fn parts(&self) -> Vec<&CallOperand> {
        match self {
            CallOperand::Tuple(fields) => fields.iter().flat_map(CallOperand::parts).collect(),
            operand => vec![operand],
        }
    }

    fn dtype(&self) -> Option<DataType> {
        if let CallOperand::Tensor(dtype, _) = self { Some(*dtype) } else { None }
    }
}

fn small(tape: &mut Tape) -> i64 {
    tape.choose(12) as i64 - 4
}

fn ints(items: impl IntoIterator<Item = i64>) -> AttrValue {
    AttrValue::List(items.into_iter().map(AttrValue::Int).collect())
}

const FLOATS: [f64; 5] = [0.5, -2.0, 0.0, 1.0, 1e-3];

fn attribute(kind: AttrKind, present: Option<&AttrValue>, tape: &mut Tape) -> Option<AttrValue> {
    let length = if let Some(AttrValue::List(items)) = present { Some(items.len()) } else { None };
    Some(match kind {
        AttrKind::Int => AttrValue::Int(small(tape)),
        AttrKind::IntOrNone if tape.one_in(4) => AttrValue::None,
        AttrKind::IntOrNone => AttrValue::Int(small(tape)),
        AttrKind::Bool => AttrValue::Bool(tape.one_in(2)),
        AttrKind::Float => AttrValue::Float(FloatBits::new(*tape.pick(&FLOATS)?)),
        AttrKind::Floats => {
            let length = length.filter(|_| !tape.one_in(6)).unwrap_or_else(|| 1 + tape.choose(5));
            let float = |tape: &mut Tape| Some(AttrValue::Float(FloatBits::new(*tape.pick(&FLOATS)?)));
            AttrValue::List((0..length).map(|_| float(tape)).collect::<Option<_>>()?)
        }
        AttrKind::Ints => {
            let length = length.filter(|_| !tape.one_in(6)).unwrap_or_else(|| 1 + tape.choose(3));
            let least = tape.choose(2) as i64;
            ints((0..length).map(|_| if least == 1 { 1 + tape.choose(3) as i64 } else { small(tape) }))
        }
        AttrKind::DataType => AttrValue::DataType(*tape.pick(&DTYPES)?),
        AttrKind::Str(choices) => AttrValue::Str((*tape.pick(choices)?).into()),
        AttrKind::Opaque => present?.clone(),
        AttrKind::IndexMap => tape.pick(&questions::index_maps(present))?.clone(),
        AttrKind::Any => match length {
            Some(length) => {
                let length = if tape.one_in(3) { 1 + tape.choose(3) } else { length };
                ints((0..length).map(|_| small(tape)))
            }
            None => AttrValue::Int(small(tape)),
        },
    })
}

fn some_number(dtype: DataType, tape: &mut Tape) -> i64 {
    if dtype.is_bool() { tape.choose(2) as i64 } else { small(tape) }
}

fn changed(operand: &mut CallOperand, tape: &mut Tape) {
    match operand {
        CallOperand::Tensor(dtype, shape) => match tape.choose(5) {
            0 => *dtype = tape.pick(&DTYPES).copied().unwrap_or(*dtype),
            // A boxed scalar in place of a tensor.
            1 if dtype.is_bool() => *operand = CallOperand::Int(*dtype, tape.choose(2) as i64),
            1 if dtype.is_int() && dtype.bits >= 8 => *operand = CallOperand::Int(*dtype, tape.choose(5) as i64),
            _ => resized(shape, tape),
        },
        CallOperand::Shape(shape) => resized(shape, tape),
        CallOperand::Tuple(fields) => {
            let at = tape.choose(fields.len());
            match (tape.choose(4), fields.get_mut(at)) {
                (0, Some(field)) => {
                    let again = field.clone();
                    fields.push(again);
                }
                (1, Some(_)) => {
                    fields.remove(at);
                }
                (_, Some(field)) => changed(field, tape),
                (_, None) => {}
            }
        }
        CallOperand::Int(dtype, value) => *value = some_number(*dtype, tape),
        CallOperand::Other(..) => {}
    }
}

fn resized(shape: &mut Vec<i64>, tape: &mut Tape) {
    let at = tape.choose(shape.len());
    match (tape.choose(4), shape.get_mut(at)) {
        (0, Some(_)) => {
            shape.remove(at);
        }
        (1, _) | (_, None) => shape.insert(at.min(shape.len()), tape.choose(4) as i64),
        (_, Some(size)) => *size = tape.choose(6) as i64,
    }
}

// Values.

/// The elements of the arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fill {
    /// As in the case, if the tensor has the size and data type of the case; else small numbers from a seed.
    Given(u64),
    /// Only zeros.
    Zeros,
    /// Only ones.
    Ones,
    /// Small numbers from a seed.
    Random(u64),
}

impl Fill {
    fn seed(self) -> u64 {
        match self {
            Fill::Given(seed) | Fill::Random(seed) => seed,
            Fill::Zeros | Fill::Ones => 0,
        }
    }
}

impl RandomCall {
    /// The call with every size of a tensor or shape replaced; equal sizes have equal replacements.
    pub fn with_sizes(&self, exchange: &impl Fn(i64) -> i64) -> RandomCall {
        let mut call = self.clone();
        call.each_size(|size| *size = exchange(*size));
        call.sinfo_args = call.sinfo_args.iter().map(|info| info.replaced(&Resized(exchange))).collect();
        call
    }

    /// The operands that are no tuples, those in tuples included.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &CallOperand> {
        self.operands.iter().flat_map(CallOperand::parts)
    }

    /// Each of them.
    fn each_operand(&mut self, mut f: impl FnMut(&mut CallOperand)) {
        self.operands.iter_mut().for_each(|operand| operand.each(&mut f));
    }

    /// Visits each size of a tensor or shape.
    fn each_size(&mut self, mut f: impl FnMut(&mut i64)) {
        self.each_operand(|operand| {
            if let CallOperand::Tensor(_, sizes) | CallOperand::Shape(sizes) = operand {
                sizes.iter_mut().for_each(&mut f);
            }
        });
    }

    /// The call with one data type of its tensors replaced by another.
    pub fn with_dtype(&self, from: DataType, to: DataType) -> RandomCall {
        let mut call = self.clone();
        call.each_operand(|operand| match operand {
            CallOperand::Tensor(dtype, _) if *dtype == from => *dtype = to,
            _ => {}
        });
        call
    }

    /// The arguments as values; none if a tensor cannot be created.
    pub fn values(&self, fill: Fill) -> Option<Vec<Value>> {
        let given = matches!(fill, Fill::Given(_));
        let mut random = fastrand::Rng::with_seed(fill.seed());
        let value = |(i, operand): (usize, &CallOperand)| match self
            .given
            .get(i)
            .and_then(Option::as_ref)
            .filter(|data| given && fits(operand, data))
        {
            Some(data) => Tensor::from_data(data).ok().map(Value::Tensor),
            None => value_of(operand, fill, &mut random),
        };
        self.operands.iter().enumerate().map(value).collect()
    }

    /// Whether it calls a function, whose result inference does not know.
    pub fn calls_function(&self) -> bool {
        let is_function = |operand: &CallOperand| {
            matches!(operand, CallOperand::Other(_, Value::PackedFunc(_) | Value::PrimFunc(_) | Value::Closure(_)))
        };
        self.op.name == "relax.call_py_func" || self.operands.iter().any(is_function)
    }

    /// The call on literals wherever possible.
    pub fn literal(&self) -> (Call, Vec<StructInfo>) {
        let (mut world, mut tape) = (VariableAssignment::default(), Tape::from_choices(Vec::new()));
        self.known(&mut world, Manner { symbols: false, gaps: false }, &mut tape)
    }

    /// The call with static knowledge of its arguments: it is true of the values, with the sizes in `world`.
    pub fn known(&self, world: &mut VariableAssignment, manner: Manner, tape: &mut Tape) -> (Call, Vec<StructInfo>) {
        let (args, infos) = self.operands.iter().map(|operand| world.known(operand, manner, tape)).unzip();
        let (sinfo_args, attrs) = (self.sinfo_args.clone(), self.attrs.clone());
        (Call { op: Expr::op(self.op.name), args, sinfo_args, attrs, span: Span::NONE }, infos)
    }
}

/// Whether an operand still has its original size and data type.
fn fits(operand: &CallOperand, data: &TensorData) -> bool {
    let CallOperand::Tensor(dtype, shape) = operand else { return false };
    *dtype == data.dtype && shape.iter().map(|size| u64::try_from(*size).ok()).eq(data.shape.iter().copied().map(Some))
}

/// Small numbers that a data type represents.
pub(crate) fn elements_of(dtype: DataType, count: usize, random: &mut fastrand::Rng) -> Vec<f64> {
    let element = |_| match dtype {
        dtype if dtype.is_bool() => f64::from(random.u8(0..2)),
        dtype if dtype.is_float() => f64::from(random.i8(-8..9)) / 4.0,
        _ => f64::from(random.u8(0..4)),
    };
    (0..count).map(element).collect()
}

/// The result of a call, and the steps that it left.
#[derive(Debug)]
pub struct Ended {
    /// What it gave.
    pub result: Result<Value, Stop>,
    /// The steps that are left.
    pub fuel: u64,
}

/// Runs a call.
pub fn run(op: &OpDef, call: &Call, values: &[Value], options: &EvalOptions) -> Ended {
    let (mut cx, module) = (Cx::new(), IrModule::default());
    let mut machine = Machine::new(&mut cx, &module, options);
    let result = op.evaluate(&mut machine, &EvalArgs { call, values, result: None });
    Ended { result, fuel: machine.fuel_left() }
}

/// The result of a call within limits of steps and bytes.
pub fn run_within(call: &RandomCall, fill: Fill, fuel: u64, memory: u64) -> Option<Result<Value, Stop>> {
    let values = call.values(fill)?;
    let options = EvalOptions { fuel, memory, ..EvalOptions::default() };
    Some(run(call.op, &call.literal().0, &values, &options).result)
}

fn value_of(operand: &CallOperand, fill: Fill, random: &mut fastrand::Rng) -> Option<Value> {
    Some(match operand {
        CallOperand::Tensor(dtype, shape) => {
            let tensor = Tensor::zeros(*dtype, shape).ok()?;
            let filled = tensor.fill(|_| {
                let negative = fill.seed() % 2 == 1;
                Ok::<Scalar, std::convert::Infallible>(match fill {
                    Fill::Zeros => Scalar::Int(0),
                    Fill::Ones => Scalar::Int(1),
                    Fill::Given(_) | Fill::Random(_) if dtype.is_bool() => Scalar::Int(random.i64(0..2)),
                    _ if dtype.is_float() => Scalar::Float(f64::from(random.i32(-8..9)) / 4.0),
                    _ if dtype.is_int() && negative => Scalar::Int(random.i64(-3..4)),
                    // Also numbers that no signed integer represents.
                    _ if *dtype == DataType::UINT64 && negative => Scalar::UInt(random.u64(0..4).wrapping_sub(2)),
                    Fill::Given(_) | Fill::Random(_) => Scalar::Int(random.i64(0..4)),
                })
            });
            filled.ok()?;
            Value::Tensor(tensor)
        }
        CallOperand::Tuple(fields) => {
            Value::tuple(fields.iter().map(|field| value_of(field, fill, random)).collect::<Option<_>>()?)
        }
        CallOperand::Shape(sizes) => Value::shape(sizes),
        CallOperand::Int(dtype, value) => Value::Prim(Prim::integer(*dtype, *value)),
        CallOperand::Other(_, value) => value.clone(),
    })
}

// What is known.

/// The values of the variables in the static knowledge.
#[derive(Clone, Default, Debug)]
pub struct VariableAssignment {
    /// The sizes of shape variables.
    pub sizes: Vec<(ShapeVar, i64)>,
    /// The shapes of the variables that hold shapes.
    pub shapes: Vec<(Var, Vec<i64>)>,
    names: usize,
}

/// How much the static knowledge leaves open.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// Whether sizes are variables.
    pub symbols: bool,
    /// Whether ranks, shapes and data types are missing.
    pub gaps: bool,
}

impl VariableAssignment {
    /// The value of a shape variable.
    pub fn size(&self, var: &ShapeVar) -> Option<i64> {
        self.sizes.iter().find(|(known, _)| known == var).map(|(_, size)| *size)
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn variable(&mut self, size: i64, tape: &mut Tape) -> PrimExpr {
        let known = self.sizes.iter().find(|(_, known)| *known == size && !tape.one_in(4));
        if let Some((var, _)) = known {
            return PrimExpr::Var(var.clone());
        }
        let var = ShapeVar::new(&self.fresh("n"));
        self.sizes.push((var.clone(), size));
        PrimExpr::Var(var)
    }

    /// A number as an expression with that value. Variables are sizes, which are not negative.
    fn dim(&mut self, value: i64, manner: Manner, tape: &mut Tape) -> PrimExpr {
        if !manner.symbols || value.unsigned_abs() > 1 << 40 {
            return PrimExpr::IntImm(value);
        }
        match tape.choose(6) {
            0 => PrimExpr::IntImm(value),
            4 if value > 0 => {
                let less = 1 + tape.choose(usize::try_from(value).unwrap_or(1)) as i64;
                PrimExpr::binary(BinaryOp::Add, self.variable(value - less, tape), PrimExpr::IntImm(less))
            }
            5 | 1..=3 if value < 0 || tape.one_in(6) => {
                let more = 1 + tape.choose(3) as i64 + (-value).max(0);
                PrimExpr::binary(BinaryOp::Sub, self.variable(value + more, tape), PrimExpr::IntImm(more))
            }
            5 if value % 2 == 0 => PrimExpr::binary(BinaryOp::Mul, self.variable(value / 2, tape), PrimExpr::IntImm(2)),
            _ if value < 0 => PrimExpr::IntImm(value),
            _ => self.variable(value, tape),
        }
    }

    fn known(&mut self, operand: &CallOperand, manner: Manner, tape: &mut Tape) -> (Expr, StructInfo) {
        match operand {
            CallOperand::Tensor(dtype, shape) => {
                (self.var(), StructInfo::Tensor(self.tensor(*dtype, shape, manner, tape)))
            }
            CallOperand::Tuple(fields) => {
                let (args, infos): (Vec<Expr>, Vec<StructInfo>) =
                    fields.iter().map(|field| self.known(field, manner, tape)).unzip();
                let held = manner.gaps && tape.one_in(3);
                (if held { self.var() } else { Expr::tuple(args) }, StructInfo::tuple(infos))
            }
            CallOperand::Shape(sizes) => {
                let dims: Vec<PrimExpr> = sizes.iter().map(|size| self.dim(*size, manner, tape)).collect();
                match tape.choose(if manner.gaps { 4 } else { 1 }) {
                    0 => (Expr::shape(dims.clone()), StructInfo::shape(dims)),
                    1 => (Expr::Var(self.holding(sizes)), StructInfo::shape(dims)),
                    2 => (Expr::Var(self.holding(sizes)), StructInfo::shape_ndim(sizes.len() as i64)),
                    _ => (Expr::Var(self.holding(sizes)), StructInfo::shape_ndim(-1)),
                }
            }
            CallOperand::Int(dtype, value) => {
                let dim = if dtype.is_bool() { PrimExpr::IntImm(*value) } else { self.dim(*value, manner, tape) };
                let prim = |value| StructInfo::Prim(PrimStructInfo { dtype: *dtype, value });
                match tape.choose(if manner.gaps { 5 } else { 1 }) {
                    0..=2 => {
                        let value = PrimValue { value: dim.clone(), dtype: *dtype, float: None, span: Span::NONE };
                        (Expr::PrimValue(value), prim(Some(dim)))
                    }
                    3 => (self.var(), prim(Some(dim))),
                    _ => (self.var(), prim(None)),
                }
            }
            CallOperand::Other(expr, value) => (expr.clone(), what_is_known_of(value)),
        }
    }

    fn var(&mut self) -> Expr {
        Expr::var(&self.fresh("x"))
    }

    fn holding(&mut self, sizes: &[i64]) -> Var {
        let var = Var::new(&self.fresh("s"));
        self.shapes.push((var.clone(), sizes.to_vec()));
        var
    }

    fn tensor(&mut self, dtype: DataType, shape: &[i64], manner: Manner, tape: &mut Tape) -> TensorStructInfo {
        let dtype = if manner.gaps && tape.one_in(4) { DataType::VOID } else { dtype };
        let ndim = Ndim::of_len(shape.len());
        let dims: Vec<PrimExpr> = shape.iter().map(|size| self.dim(*size, manner, tape)).collect();
        let (shape, ndim) = match tape.choose(if manner.gaps { 6 } else { 1 }) {
            0..=2 => (Some(TensorShape::Dims(dims.into())), ndim),
            3 => (None, ndim),
            4 => (Some(TensorShape::Var(self.holding(shape).into())), ndim),
            _ => (None, Ndim::Unknown),
        };
        TensorStructInfo { shape, dtype, ndim, vdevice: None }
    }
}

/// The structural information of a value in a case.
pub(crate) fn what_is_known_of(value: &Value) -> StructInfo {
    if let Value::Prim(prim) = value { StructInfo::prim(prim.dtype) } else { StructInfo::Object }
}

impl fmt::Display for RandomCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.op.name)?;
        let (_, infos) = self.literal();
        infos.iter().try_for_each(|info| write!(f, " {info}"))?;
        self.attrs.iter().try_for_each(|(name, value)| write!(f, " {name}={value}"))
    }
}
