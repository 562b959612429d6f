//! Questions about the inference of operators. The cases of an operator contain calls of it on values. Each call is
//! varied in one respect at a time (symbolic, unknown, another data type, another attribute, wrong), which gives some
//! dozens of questions.

use std::collections::HashSet;

use crate::generate::nodes::{bind, function, global, linked, sequence};
use relax_spec::grammar::{
    AttrValue, BinaryOp, Binder, Binding, Call, DataType, Expr, FloatBits, Function, GlobalFunc, GlobalVar, IndexMap,
    IrModule, PrimExpr, PrimStructInfo, PrimValue, ShapeVar, Span, StructInfo, TensorShape, TensorStructInfo, Var,
};
use relax_spec::ops::{self, AttrDefault, AttrKind, Clauses, OpDef};
use relax_spec::question::{Ask, ProgramInput};
use relax_spec::suite::Case;
use relax_spec::syntax::tvmscript::{Dialect, parse_module, print_module};
use relax_spec::value::ValueSpec;

/// The maximum number of questions about one operator that vary its calls in one respect each ..
const MOST: usize = 72;
/// .. and of further ones that write a call in another form.
const MOST_WRITTEN: usize = 48;
/// The maximum number of questions with shapes of tensors in variables.
const MOST_OF_VARIABLES: usize = 36;

/// A question about the inference of an operator.
#[derive(Clone, PartialEq, Debug)]
pub struct OperatorQuestion {
    /// What was varied.
    pub what: String,
    /// The question itself.
    pub ask: Ask,
}

/// A call, with the structural information of the variables that it mentions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Scene {
    pub(super) params: Vec<(Var, StructInfo)>,
    pub(super) call: Call,
    /// The other functions of the program, which the call may mention.
    pub(super) others: Vec<(GlobalVar, GlobalFunc)>,
}

/// The variable whose structural information is asked for.
const RESULT: &str = "result";
/// The parameter that replaces an argument of the call.
const HELD: &str = "held";

/// The questions about an operator, from the cases that claim its clauses.
pub fn questions(op: &OpDef, suite: &[Case]) -> Vec<OperatorQuestion> {
    let seeds = seeds(op, suite);
    let mut seen = HashSet::new();
    let varied = in_turn(seeds.iter().map(|seed| variations(op, seed)).collect(), MOST, &mut seen);
    let written = in_turn(seeds.iter().map(written).collect(), MOST_WRITTEN, &mut seen);
    varied.into_iter().chain(written).collect()
}

/// Questions in which variables hold the shapes of operands. Implementations are not asked these questions: several
/// releases of TVM reject them, or crash.
pub fn questions_of_shape_variables(op: &OpDef, suite: &[Case]) -> Vec<OperatorQuestion> {
    let seeds = seeds(op, suite).into_iter().map(|seed| of_variables(op, &seed)).collect();
    in_turn(seeds, MOST_OF_VARIABLES, &mut HashSet::new())
}

/// At most this many questions. The calls take turns, one variation at a time, so that each call has some.
fn in_turn(mut variations: Vec<Vec<(String, Scene)>>, most: usize, seen: &mut HashSet<Scene>) -> Vec<OperatorQuestion> {
    let mut questions = Vec::new();
    variations.iter_mut().for_each(|list| list.reverse());
    while questions.len() < most && variations.iter().any(|list| !list.is_empty()) {
        for list in &mut variations {
            let Some((what, scene)) = list.pop() else { continue };
            if questions.len() < most && seen.insert(scene.clone()) {
                questions.push(OperatorQuestion { what, ask: scene.ask() });
            }
        }
    }
    questions
}

/// The calls of an operator in the cases that claim its value.
fn seeds(op: &OpDef, suite: &[Case]) -> Vec<Scene> {
    let mut found: Vec<Scene> = Vec::new();
    for (scene, _) in scenes(op, suite) {
        if !found.contains(&scene) {
            found.push(scene);
        }
    }
    found
}

/// The calls of an operator in the cases that claim its value, each with the arguments of the case.
pub(super) fn scenes<'s>(op: &'s OpDef, suite: &'s [Case]) -> impl Iterator<Item = (Scene, &'s [ValueSpec])> {
    let value = if let Clauses::Tensor(clauses) = op.clauses { Some(clauses.value) } else { None };
    let of_case = move |case: &'s Case| {
        let Ask::Evaluate(program, entry, args) = &case.ask else { return Vec::new() };
        let found = scenes_of(program, entry, op).unwrap_or_default();
        found.into_iter().map(|scene| (scene, args.as_slice())).collect()
    };
    suite.iter().filter(move |case| value.is_some_and(|value| case.rules.contains(&value))).flat_map(of_case)
}

fn scenes_of(program: &ProgramInput, entry: &str, op: &OpDef) -> Option<Vec<Scene>> {
    let module = module_of(program)?;
    let main = function_of(&module, entry)?;
    let Expr::SeqExpr(body) = &main.body else { return None };
    let params: Vec<(Var, StructInfo)> =
        main.params.iter().map(|p| Some((p.var.clone(), p.annotation.clone()?))).collect::<Option<_>>()?;
    let call_of = |value: &Expr| {
        let Expr::Call(call) = value else { return None };
        let callee = call.op.as_op().and_then(|callee| ops::lookup(&callee.op_name));
        callee.is_some_and(|callee| callee.name == op.name).then(|| (**call).clone())
    };
    let others: Vec<(GlobalVar, GlobalFunc)> =
        module.funcs.iter().filter(|(gv, _)| &*gv.name != entry).cloned().collect();
    let calls = body.blocks.iter().flat_map(|block| &block.bindings).map(Binding::value).filter_map(call_of);
    Some(calls.map(|call| Scene { params: params.clone(), call, others: others.clone() }).collect())
}

/// The program of a question as a tree; none of what cannot be read.
pub(crate) fn module_of(program: &ProgramInput) -> Option<IrModule> {
    match program {
        ProgramInput::Script(text) => parse_module(text).ok(),
        ProgramInput::Module(module) => Some(module.clone()),
    }
}

/// The program of a question as text.
pub(crate) fn text_of(program: &ProgramInput, dialect: Dialect) -> String {
    match program {
        ProgramInput::Script(text) => text.clone(),
        ProgramInput::Module(module) => print_module(module, dialect),
    }
}

/// The items with another one at a place.
fn with_item<T: Clone>(items: &[T], at: usize, item: &T) -> Vec<T> {
    items.iter().enumerate().map(|(nth, own)| if nth == at { item } else { own }).cloned().collect()
}

impl Scene {
    fn ask(&self) -> Ask {
        let sizes = [PrimExpr::var("n"), PrimExpr::var("m"), PrimExpr::var("k")];
        let mut params = vec![Binder::var(Var::new("sizes")).annotated(StructInfo::shape(sizes))];
        params.extend(self.params.iter().map(|(var, info)| Binder::var(var.clone()).annotated(info.clone())));
        let binding = bind(&Binder::var(Var::new(RESULT)), Expr::Call(self.call.clone().into()));
        let body = sequence(vec![binding], Expr::var(RESULT));
        let main = function(params, body, StructInfo::Object, self.is_pure());
        let own = global("main", Function { ret_struct_info: None, attrs: linked("main"), ..main });
        let funcs = self.others.iter().cloned().chain([own]).collect();
        let module = IrModule { funcs, ..IrModule::default() };
        Ask::DeriveVar(ProgramInput::Module(module), "main".into(), Var::new(RESULT))
    }

    /// Whether the operator's calls are pure.
    fn is_pure(&self) -> bool {
        let Expr::Op(op) = &self.call.op else { return true };
        ops::lookup(&op.op_name).is_none_or(|op| op.pure)
    }

    fn with_param(&self, i: usize, info: StructInfo) -> Scene {
        let mut scene = self.clone();
        scene.params.iter_mut().skip(i).take(1).for_each(|(_, own)| own.clone_from(&info));
        scene
    }

    fn with_args(&self, args: Vec<Expr>) -> Scene {
        Scene { call: Call { args, ..self.call.clone() }, ..self.clone() }
    }

    fn with_arg(&self, i: usize, arg: Expr) -> Scene {
        self.with_args(with_item(&self.call.args, i, &arg))
    }

    /// The call with an argument replaced by a parameter with this structural information.
    fn with_held(&self, i: usize, info: StructInfo) -> Scene {
        self.with_arg(i, Expr::var(HELD)).holding(HELD, info)
    }

    /// A parameter more.
    fn holding(mut self, name: &str, info: StructInfo) -> Scene {
        self.params.push((Var::new(name), info));
        self
    }

    fn with_attr(&self, name: &str, value: AttrValue) -> Scene {
        let mut scene = self.clone();
        scene.call.attrs.insert(name.into(), value);
        scene
    }

    /// Changes every tensor in the same way.
    fn with_tensors(&self, change: impl Fn(&TensorStructInfo) -> StructInfo) -> Scene {
        let mut scene = self.clone();
        for (_, info) in &mut scene.params {
            *info = on_tensors(info, &change);
        }
        scene
    }

    /// Gives these parameters, of these ranks, shapes that are held in variables, which become parameters too.
    fn with_shapes(&self, ranks: &[(usize, usize)], name: impl Fn(usize, usize) -> String) -> Scene {
        let mut scene = self.clone();
        let mut shapes: Vec<(Var, StructInfo)> = Vec::new();
        for (i, rank) in ranks {
            let var = Var::new(&name(*i, *rank));
            let shape = (var.clone(), StructInfo::shape_ndim(*rank as i64));
            if !shapes.contains(&shape) {
                shapes.push(shape);
            }
            if let Some((_, StructInfo::Tensor(t))) = scene.params.get_mut(*i) {
                t.shape = Some(TensorShape::Var(var.into()));
            }
        }
        scene.params.splice(0..0, shapes);
        scene
    }

    /// Changes every dimension in the same way, including those of literal shapes.
    fn with_dims(&self, change: impl Fn(i64) -> PrimExpr) -> Scene {
        let change = |dim: &PrimExpr| dim.as_int().map_or_else(|| dim.clone(), |size| change(*size));
        let mut scene = self.with_tensors(|t| match dims_of(t) {
            Some(dims) => StructInfo::tensor(dims.iter().map(&change), t.dtype),
            None => StructInfo::Tensor(t.clone()),
        });
        for arg in &mut scene.call.args {
            if let Expr::ShapeExpr(s) = arg {
                *arg = Expr::shape(s.values.iter().map(&change));
            }
        }
        scene
    }
}

fn on_tensors(info: &StructInfo, change: &impl Fn(&TensorStructInfo) -> StructInfo) -> StructInfo {
    match info {
        StructInfo::Tensor(t) => change(t),
        StructInfo::Tuple(fields) => StructInfo::tuple(fields.iter().map(|field| on_tensors(field, change))),
        StructInfo::Object | StructInfo::Shape(_) | StructInfo::Prim(_) | StructInfo::Func(_) => info.clone(),
    }
}

fn dims_of(t: &TensorStructInfo) -> Option<&[PrimExpr]> {
    t.shape.as_ref()?.as_dims().map(|dims| &**dims)
}

fn rank_only(t: &TensorStructInfo) -> StructInfo {
    StructInfo::tensor_ndim(t.ndim.to_i64(), t.dtype)
}

fn unknown_rank(t: &TensorStructInfo) -> StructInfo {
    StructInfo::tensor_ndim(-1, t.dtype)
}

fn of_dtype(t: &TensorStructInfo, dtype: DataType) -> StructInfo {
    StructInfo::Tensor(TensorStructInfo { dtype, ..t.clone() })
}

fn plus(name: &str, n: i64) -> PrimExpr {
    PrimExpr::binary(BinaryOp::Add, PrimExpr::var(name), PrimExpr::IntImm(n))
}

/// The call unchanged, and its variations.
fn variations(op: &OpDef, seed: &Scene) -> Vec<(String, Scene)> {
    let mut out = vec![("as it is".to_string(), seed.clone())];
    whole(seed, &mut out);
    for i in 0..seed.params.len() {
        param(seed, i, &mut out);
    }
    for i in 0..seed.call.args.len() {
        argument(seed, i, &mut out);
    }
    attributes(op, seed, &mut out);
    arity(seed, &mut out);
    for i in 0..seed.params.len() {
        wrong(seed, i, &mut out);
    }
    out
}

/// Other forms of the call: variables that hold shapes and boxed numbers, boxed numbers as operands, more than two
/// operands one of which is unknown, and tensors of unknown rank next to known ones.
fn written(seed: &Scene) -> Vec<(String, Scene)> {
    let mut out = Vec::new();
    for (i, arg) in seed.call.args.iter().enumerate() {
        held(seed, i, arg, &mut out);
    }
    beside_unknown(seed, &mut out);
    for (i, arg) in seed.call.args.iter().enumerate() {
        boxed(seed, i, arg, &mut out);
    }
    out
}

/// Variables of known rank hold the shapes of tensors: one variable for all tensors of a rank, one for each tensor, and
/// one for a single tensor; also with other attributes.
fn of_variables(op: &OpDef, seed: &Scene) -> Vec<(String, Scene)> {
    let tensors: Vec<(usize, &TensorStructInfo)> =
        seed.params.iter().enumerate().filter_map(|(i, (_, info))| Some((i, info.as_tensor()?))).collect();
    let ranked = |(i, t): &(usize, &TensorStructInfo)| Some((*i, dims_of(t)?.len()));
    let ranks: Vec<(usize, usize)> = tensors.iter().filter_map(ranked).collect();
    let mut out = vec![("of one shape variable".to_string(), seed.with_shapes(&ranks, |_, rank| format!("s{rank}")))];
    if ranks.len() > 1 {
        out.push(("each of a shape variable".into(), seed.with_shapes(&ranks, |i, _| format!("s_{i}"))));
        for &(i, rank) in &ranks {
            let Some((var, _)) = seed.params.get(i) else { continue };
            let alone = seed.with_shapes(&[(i, rank)], |_, rank| format!("s{rank}"));
            out.push((format!("{} of a shape variable", var.name), alone));
        }
    }
    let mut others = Vec::new();
    attributes(op, seed, &mut others);
    let of_one = |(what, scene): (String, Scene)| {
        (format!("of one shape variable, {what}"), scene.with_shapes(&ranks, |_, rank| format!("s{rank}")))
    };
    out.extend(others.into_iter().map(of_one));
    out
}

/// A variable holds a literal shape or boxed integer, with the same or with less knowledge; a tuple gets three
/// elements, one of which is unknown.
fn held(seed: &Scene, i: usize, arg: &Expr, out: &mut Vec<(String, Scene)>) {
    match arg {
        Expr::ShapeExpr(s) => {
            out.push((format!("argument {i} held"), seed.with_held(i, StructInfo::shape(s.values.iter().cloned()))));
            let symbolic = s.values.iter().map(|_| PrimExpr::var("n"));
            out.push((format!("argument {i} held, symbolic"), seed.with_held(i, StructInfo::shape(symbolic))));
        }
        Expr::PrimValue(p) if p.float.is_none() => {
            let of_value = |value: PrimExpr| {
                StructInfo::Prim(PrimStructInfo { dtype: p.dtype, value: (!p.dtype.is_bool()).then_some(value) })
            };
            out.push((format!("argument {i} held"), seed.with_held(i, of_value(p.value.clone()))));
            out.push((format!("argument {i} held, symbolic"), seed.with_held(i, of_value(PrimExpr::var("n")))));
            out.push((format!("argument {i} held, unknown"), seed.with_held(i, StructInfo::prim(p.dtype))));
        }
        Expr::Tuple(t) => {
            let Some(first) = t.fields.first() else { return };
            let unknown = StructInfo::tensor_ndim(-1, DataType::VOID);
            for at in 0..3 {
                let field = |j| if j == at { Expr::var(HELD) } else { first.clone() };
                let scene = seed.with_arg(i, Expr::tuple((0..3).map(field).collect())).holding(HELD, unknown.clone());
                out.push((format!("argument {i} of three operands, operand {at} unknown"), scene));
            }
        }
        _ => {}
    }
}

/// One tensor is known and the ranks of the others are not, and the reverse, for two or more tensors.
fn beside_unknown(seed: &Scene, out: &mut Vec<(String, Scene)>) {
    let tensors: Vec<usize> =
        (0..seed.params.len()).filter(|i| matches!(seed.params.get(*i), Some((_, StructInfo::Tensor(_))))).collect();
    if tensors.len() < 3 {
        // For two tensors, each alone is already varied.
        return;
    }
    for known in &tensors {
        let Some((var, info)) = seed.params.get(*known) else { continue };
        let scene = seed.with_tensors(unknown_rank).with_param(*known, info.clone());
        out.push((format!("{} known, others of unknown rank", var.name), scene));
    }
}

/// A boxed number in place of a tensor: as a literal and in a variable, with the data type of the tensor and with
/// another.
fn boxed(seed: &Scene, i: usize, arg: &Expr, out: &mut Vec<(String, Scene)>) {
    let Expr::Var(var) = arg else { return };
    let Some((_, StructInfo::Tensor(t))) = seed.params.iter().find(|(param, _)| param == var) else { return };
    let dtype = if t.dtype.is_void() { DataType::FLOAT32 } else { t.dtype };
    let float = dtype.is_float().then(|| FloatBits::new(2.0));
    let value = PrimExpr::IntImm(if float.is_some() { 0 } else { i64::from(!dtype.is_bool()) + 1 });
    let literal = Expr::PrimValue(PrimValue { value, dtype, float, span: Span::NONE });
    out.push((format!("argument {i} boxed"), seed.with_arg(i, literal)));
    out.push((format!("argument {i} boxed, held"), seed.with_held(i, StructInfo::prim(dtype))));
    let other = if dtype.is_float() { DataType::INT64 } else { DataType::FLOAT32 };
    out.push((format!("argument {i} boxed, held, of {other}"), seed.with_held(i, StructInfo::prim(other))));
}

/// Changes of all tensors together.
fn whole(seed: &Scene, out: &mut Vec<(String, Scene)>) {
    // Equal sizes remain equal; a 1 remains, because it has a special meaning.
    let symbol = |size: i64| match size {
        1 => PrimExpr::IntImm(1),
        size if size % 3 == 0 => PrimExpr::var("n"),
        size if size % 3 == 1 => PrimExpr::var("m"),
        _ => PrimExpr::var("k"),
    };
    out.push(("all dimensions symbolic".into(), seed.with_dims(symbol)));
    let sum = |size: i64| if size == 1 { PrimExpr::IntImm(1) } else { plus("n", size - 2) };
    out.push(("all dimensions sums".into(), seed.with_dims(sum)));
    out.push(("all of known rank only".into(), seed.with_tensors(rank_only)));
    out.push(("all of unknown rank".into(), seed.with_tensors(unknown_rank)));
    out.push(("all of unknown data type".into(), seed.with_tensors(|t| of_dtype(t, DataType::VOID))));
    let nothing = |_: &TensorStructInfo| StructInfo::tensor_ndim(-1, DataType::VOID);
    out.push(("nothing known of any tensor".into(), seed.with_tensors(nothing)));
    for dtype in
        [DataType::FLOAT16, DataType::FLOAT64, DataType::INT32, DataType::INT64, DataType::UINT8, DataType::BOOL]
    {
        out.push((format!("all of {dtype}"), seed.with_tensors(|t| of_dtype(t, dtype))));
    }
}

/// Changes of one parameter after which the call is still possible.
fn param(seed: &Scene, i: usize, out: &mut Vec<(String, Scene)>) {
    let Some((var, info)) = seed.params.get(i) else { return };
    let StructInfo::Tensor(t) = info else { return };
    let name = &var.name;
    for (what, changed) in [("known rank only", rank_only(t)), ("unknown rank", unknown_rank(t))] {
        out.push((format!("{name} of {what}"), seed.with_param(i, changed)));
    }
    out.push((format!("{name} of unknown data type"), seed.with_param(i, of_dtype(t, DataType::VOID))));
    let Some(dims) = dims_of(t) else { return };
    for j in 0..dims.len() {
        for (what, dim) in [("symbolic", PrimExpr::var("n")), ("a sum", plus("m", 1)), ("1", PrimExpr::IntImm(1))] {
            let dims = with_item(dims, j, &dim);
            out.push((format!("{name}: dimension {j} {what}"), seed.with_param(i, StructInfo::tensor(dims, t.dtype))));
        }
    }
    let longer = std::iter::once(PrimExpr::IntImm(2)).chain(dims.iter().cloned());
    out.push((format!("{name} of one dimension more"), seed.with_param(i, StructInfo::tensor(longer, t.dtype))));
    out.push((format!("{name} scalar"), seed.with_param(i, StructInfo::tensor([], t.dtype))));
}

/// Changes of one parameter that usually make the call wrong.
fn wrong(seed: &Scene, i: usize, out: &mut Vec<(String, Scene)>) {
    let Some((var, info)) = seed.params.get(i) else { return };
    let name = &var.name;
    out.push((format!("{name} an object"), seed.with_param(i, StructInfo::Object)));
    out.push((format!("{name} a shape"), seed.with_param(i, StructInfo::shape_ndim(2))));
    let StructInfo::Tensor(t) = info else { return };
    for dtype in [DataType::INT32, DataType::FLOAT16, DataType::BOOL] {
        out.push((format!("{name} of {dtype}"), seed.with_param(i, of_dtype(t, dtype))));
    }
    let Some(dims) = dims_of(t) else { return };
    for j in 0..dims.len() {
        let mut dims = dims.to_vec();
        if let Some(PrimExpr::IntImm(size)) = dims.get_mut(j) {
            *size += 4;
        }
        out.push((format!("{name}: dimension {j} larger"), seed.with_param(i, StructInfo::tensor(dims, t.dtype))));
    }
    if let Some((_, rest)) = dims.split_first() {
        let shorter = StructInfo::tensor(rest.iter().cloned(), t.dtype);
        out.push((format!("{name} without its first dimension"), seed.with_param(i, shorter)));
    }
}

/// Changes of literal arguments.
fn argument(seed: &Scene, i: usize, out: &mut Vec<(String, Scene)>) {
    match seed.call.args.get(i) {
        Some(Expr::ShapeExpr(s)) => {
            for j in 0..s.values.len() {
                for (what, dim) in [("symbolic", PrimExpr::var("n")), ("1", 1.into()), ("7", 7.into())] {
                    let shape = Expr::shape(with_item(&s.values, j, &dim));
                    out.push((format!("argument {i}: dimension {j} {what}"), seed.with_arg(i, shape)));
                }
            }
            let longer = std::iter::once(PrimExpr::IntImm(2)).chain(s.values.iter().cloned());
            out.push((format!("argument {i} of one dimension more"), seed.with_arg(i, Expr::shape(longer))));
            for (what, ndim) in [("known rank only", s.values.len() as i64), ("unknown rank", -1)] {
                let scene = seed.with_arg(i, Expr::var("shape")).holding("shape", StructInfo::shape_ndim(ndim));
                out.push((format!("argument {i} of {what}"), scene));
            }
        }
        Some(Expr::PrimValue(p)) if p.float.is_none() => {
            let numbers = [0, 1, -1, 5].map(|number| (number.to_string(), PrimExpr::IntImm(number)));
            for (what, value) in [("symbolic".to_string(), PrimExpr::var("n"))].into_iter().chain(numbers) {
                let changed = Expr::PrimValue(PrimValue { value, ..p.clone() });
                out.push((format!("argument {i} {what}"), seed.with_arg(i, changed)));
            }
        }
        Some(Expr::Tuple(t)) => {
            let first = t.fields.first();
            let again = t.fields.iter().chain(first).cloned().collect();
            let mut variants = vec![("empty", Vec::new()), ("with its first field again", again)];
            variants.extend(first.map(|first| ("of one field", vec![first.clone()])));
            for (what, fields) in variants {
                out.push((format!("argument {i} {what}"), seed.with_arg(i, Expr::tuple(fields))));
            }
        }
        Some(_) | None => {}
    }
}

fn arity(seed: &Scene, out: &mut Vec<(String, Scene)>) {
    let args = &seed.call.args;
    if let Some((last, rest)) = args.split_last() {
        out.push(("an argument less".into(), seed.with_args(rest.to_vec())));
        out.push(("an argument more".into(), seed.with_args(args.iter().chain([last]).cloned().collect())));
    }
}

/// Changes of the attributes, by their kinds.
fn attributes(op: &OpDef, seed: &Scene, out: &mut Vec<(String, Scene)>) {
    for attr in op.attrs() {
        let name = attr.name;
        // How a call without a required attribute is written depends on the implementation.
        if attr.default != AttrDefault::Required && seed.call.attrs.contains_key(name) {
            let mut scene = seed.clone();
            scene.call.attrs.remove(name);
            out.push((format!("without {name}"), scene));
        }
        for value in values(attr.kind, seed.call.attrs.get(name)) {
            let scene = seed.with_attr(name, value.clone());
            out.push((format!("{name}={value}"), scene.clone()));
            // The valid values of an attribute often depend only on the rank.
            if matches!(attr.kind, AttrKind::Int | AttrKind::IntOrNone | AttrKind::Ints) {
                out.push((format!("{name}={value}, known rank only"), scene.with_tensors(rank_only)));
            }
        }
    }
}

fn values(kind: AttrKind, present: Option<&AttrValue>) -> Vec<AttrValue> {
    let ints = |items: &[i64]| AttrValue::List(items.iter().map(|i| AttrValue::Int(*i)).collect());
    match kind {
        AttrKind::Int | AttrKind::IntOrNone => [0, 1, -1, 2, -3, 7].map(AttrValue::Int).to_vec(),
        AttrKind::Bool => [true, false].map(AttrValue::Bool).to_vec(),
        AttrKind::Float => [0.5, -2.0].map(|x| AttrValue::Float(FloatBits::new(x))).to_vec(),
        AttrKind::Ints => match present {
            // A list of another length rarely makes sense in place of an existing list.
            Some(AttrValue::List(items)) if !items.is_empty() => {
                let each = |i: i64| AttrValue::List(vec![AttrValue::Int(i); items.len()]);
                let mut shorter = items.clone();
                shorter.pop();
                vec![each(0), each(1), each(2), AttrValue::List(shorter), ints(&[1, 0]), ints(&[-1]), ints(&[7])]
            }
            Some(_) | None => vec![ints(&[0]), ints(&[-1]), ints(&[1, 0]), ints(&[0, 0]), ints(&[7]), ints(&[-3])],
        },
        AttrKind::Floats => {
            let float = |i: usize| AttrValue::Float(FloatBits::new(i as f64 / 4.0));
            let floats = |length: usize| AttrValue::List((0..length).map(float).collect());
            let length = present.and_then(AttrValue::as_list).map_or(4, Vec::len);
            vec![floats(length), floats(length + 1)]
        }
        AttrKind::DataType => [DataType::FLOAT16, DataType::INT64, DataType::FLOAT32].map(AttrValue::DataType).to_vec(),
        AttrKind::Str(choices) => choices.iter().map(|choice| AttrValue::Str((*choice).into())).collect(),
        AttrKind::Opaque => Vec::new(),
        AttrKind::IndexMap => index_maps(present),
        AttrKind::Any => match present {
            Some(AttrValue::List(_)) => vec![ints(&[1]), ints(&[1, 2]), ints(&[2, 9]), AttrValue::Int(2)],
            Some(_) | None => [1, 2, 3, 5].map(AttrValue::Int).to_vec(),
        },
    }
}

/// Maps of as many indices: the identity, the reverse, blocks of 2 and of 3, all in one axis, and some arbitrary ones;
/// and a map of one more index.
pub(super) fn index_maps(present: Option<&AttrValue>) -> Vec<AttrValue> {
    let Some(AttrValue::IndexMap(map)) = present else { return Vec::new() };
    let params = map.params.clone();
    let indices: Vec<PrimExpr> = params.iter().cloned().map(PrimExpr::Var).collect();
    let Some((last, outer)) = indices.split_last() else { return Vec::new() };
    let by = |op, n: i64| PrimExpr::binary(op, last.clone(), PrimExpr::IntImm(n));
    let blocks = |n| {
        let block = [by(BinaryOp::FloorDiv, n), by(BinaryOp::FloorMod, n)];
        outer.iter().cloned().chain(block).collect::<Vec<PrimExpr>>()
    };
    let joined = |n: i64| {
        let join = |all: PrimExpr, i: &PrimExpr| {
            let scaled = PrimExpr::binary(BinaryOp::Mul, all, PrimExpr::IntImm(n));
            PrimExpr::binary(BinaryOp::Add, scaled, i.clone())
        };
        indices.iter().skip(1).fold(indices.first().cloned(), |all, i| all.map(|all| join(all, i)))
    };
    let longer: Vec<ShapeVar> = params.iter().cloned().chain([ShapeVar::new("one_more")]).collect();
    let map = |params: Vec<ShapeVar>, results| AttrValue::IndexMap(IndexMap { params, results, inverse: None }.into());
    let results = [
        indices.clone(),
        indices.iter().rev().cloned().collect(),
        blocks(2),
        blocks(3),
        joined(8).into_iter().collect(),
        indices.iter().take(1).cloned().collect(),
        vec![by(BinaryOp::Sub, 1)],
    ];
    let maps = results.into_iter().map(|results| map(params.clone(), results));
    maps.chain([map(longer, indices.clone())]).collect()
}

/// The function of this name.
pub(crate) fn function_of<'m>(module: &'m IrModule, name: &str) -> Option<&'m Function> {
    match module.get(name)? {
        GlobalFunc::Function(function) => Some(function),
        GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => None,
    }
}

/// Whether an operator is in a list of names, which leave out that they are of Relax.
pub(crate) fn is_named_in(operator: &str, names: &str) -> bool {
    operator.strip_prefix("relax.").is_some_and(|own| names.split_whitespace().any(|name| name == own))
}
