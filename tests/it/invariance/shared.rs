//! Sharing of parts is not part of the meaning of information. Judgements traverse a shared part once, and remember the
//! result by its address. So they must give the same answers, with the same rules, for a copy without sharing and for
//! one with all equal parts shared, in every reading.
//!
//! The long run: `SHARED_PAIRS=20000 cargo test --release --test it shared`. `INVARIANCE_FROM` sets the first seed.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use campaign::generate::Tape;
use relax_spec::book::{Edition, Erratum};
use relax_spec::derivation::derive_call;
use relax_spec::grammar::{
    BinaryOp, DataType, DeriveFunc, Expr, FuncStructInfo, FuncType, Ndim, PrimExpr, PrimStructInfo, ShapeStructInfo,
    ShapeVar, StructInfo, TensorShape, TensorStructInfo, Type, Var,
};
use relax_spec::judge::{Cx, GlbPurity, Prover};
use relax_spec::struct_info::{self as si, InScope, Mapping, ShapeRelation, Surroundings};
use relax_spec::types;

use super::{cx, readings, seeds};

/// The place where a pair is judged: some variables are bound, and some shapes are known.
struct Place {
    bound: InScope,
    last_number: u32,
}

impl Surroundings for Place {
    fn has_var(&self, var: &Var) -> bool {
        self.bound.has_var(var)
    }

    fn has_shape_var(&self, var: &ShapeVar) -> bool {
        self.bound.has_shape_var(var)
    }

    fn struct_info_of(&self, var: &Var) -> Option<StructInfo> {
        match &*var.name {
            "s" => Some(StructInfo::shape([PrimExpr::var("n")])),
            "r" => Some(StructInfo::shape_ndim(1)),
            _ => None,
        }
    }

    fn last_number(&self) -> u32 {
        self.last_number
    }
}

fn names() -> [ShapeVar; 4] {
    [ShapeVar::new("n"), ShapeVar::new("m"), ShapeVar::new("k"), ShapeVar::numbered("n".into(), 1)]
}

fn dim(tape: &mut Tape) -> PrimExpr {
    let var = |tape: &mut Tape| PrimExpr::Var(names()[tape.choose(4)].clone());
    match tape.choose(8) {
        0..=5 => var(tape),
        6 => PrimExpr::from([3, 4][tape.choose(2)]),
        _ => PrimExpr::binary([BinaryOp::Add, BinaryOp::Mul][tape.choose(2)], var(tape), 2.into()),
    }
}

fn leaf(tape: &mut Tape) -> StructInfo {
    let dtype = [DataType::FLOAT32, DataType::FLOAT32, DataType::VOID][tape.choose(3)];
    let held =
        |shape| StructInfo::Tensor(TensorStructInfo { shape: Some(shape), dtype, ndim: Ndim::Unknown, vdevice: None });
    match tape.choose(12) {
        0..=4 => StructInfo::tensor([dim(tape)], dtype),
        5 => StructInfo::tensor([dim(tape), dim(tape)], dtype),
        6 => StructInfo::tensor_ndim([1, -1][tape.choose(2)], dtype),
        7 => StructInfo::shape([dim(tape)]),
        8 => [StructInfo::Object, StructInfo::tuple([]), StructInfo::shape_ndim(1)][tape.choose(3)].clone(),
        9 => StructInfo::Prim(PrimStructInfo { dtype: DataType::INT64, value: tape.one_in(2).then(|| dim(tape)) }),
        10 => held(TensorShape::Var(Var::new(["s", "r", "t"][tape.choose(3)]).into())),
        _ => held(TensorShape::Other(Arc::new(Expr::Var(Var::new("t"))))),
    }
}

fn derive_func(tape: &mut Tape) -> DeriveFunc {
    [DeriveFunc::DefaultDerive, DeriveFunc::EmptyDerive, DeriveFunc::Named("f".into())][tape.choose(3)].clone()
}

/// The construction of a piece of information from earlier pieces, by their numbers.
#[derive(Clone)]
enum Made {
    Leaf(StructInfo),
    Tuple(Vec<usize>),
    Func(Vec<usize>, usize, Option<bool>),
    Packed(usize, DeriveFunc),
}

impl Made {
    fn draw(tape: &mut Tape, before: usize) -> Made {
        let one = |tape: &mut Tape| match before {
            0 => 0,
            // Mostly from the latest pieces, which are the deepest.
            _ => before - 1 - tape.choose(before).min(tape.choose(before)),
        };
        let some = |tape: &mut Tape| (0..1 + tape.choose(3)).map(|_| one(tape)).collect();
        match if before < 2 { 0 } else { tape.choose(10) } {
            0..=1 => Made::Leaf(leaf(tape)),
            2..=5 => Made::Tuple(some(tape)),
            6..=8 => {
                let params = some(tape);
                Made::Func(params, one(tape), [None, None, Some(true), Some(false)][tape.choose(4)])
            }
            _ => Made::Packed(one(tape), derive_func(tape)),
        }
    }

    fn of(&self, before: &[StructInfo]) -> StructInfo {
        match self {
            Made::Leaf(leaf) => leaf.clone(),
            Made::Tuple(fields) => StructInfo::tuple(fields.iter().map(|i| before[*i].clone())),
            Made::Func(params, ret, pure) => StructInfo::Func(Arc::new(FuncStructInfo {
                params: Some(params.iter().map(|i| before[*i].clone()).collect()),
                ret: before[*ret].clone(),
                derive_func: None,
                pure: *pure,
            })),
            Made::Packed(ret, derive_func) => StructInfo::Func(Arc::new(FuncStructInfo {
                params: None,
                ret: before[*ret].clone(),
                derive_func: Some(derive_func.clone()),
                pure: None,
            })),
        }
    }
}

/// The maximum number of parts of a piece, counting repetitions.
const MOST_PARTS: usize = 150;

fn parts(s: &StructInfo) -> usize {
    match s {
        StructInfo::Tuple(fields) => fields.iter().map(parts).fold(1, usize::saturating_add),
        StructInfo::Func(func) => {
            let params = func.params.iter().flat_map(|params| params.iter());
            params.chain([&func.ret]).map(parts).fold(1, usize::saturating_add)
        }
        StructInfo::Object | StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Prim(_) => 1,
    }
}

/// Two pieces, each made from repeated pieces. Sometimes the second contains pieces of the first.
fn pair(tape: &mut Tape) -> (StructInfo, StructInfo) {
    let (mut first, mut second): (Vec<StructInfo>, Vec<StructInfo>) = (Vec::new(), Vec::new());
    for _ in 0..5 + tape.choose(8) {
        let made = Made::draw(tape, first.len());
        let one = made.of(&first);
        let other = match tape.choose(12) {
            0..=3 => one.clone(),
            4 => Made::draw(tape, second.len()).of(&second),
            5 => leaf(tape),
            _ => made.of(&second),
        };
        if parts(&one).max(parts(&other)) <= MOST_PARTS {
            first.push(one);
            second.push(other);
        }
    }
    let whole =
        |all: &[StructInfo], last: usize| StructInfo::tuple(all[all.len().saturating_sub(last)..].iter().cloned());
    match tape.choose(3) {
        0 => (whole(&first, 3), whole(&second, 3)),
        1 => (whole(&first, 2), whole(&second, 2)),
        _ => (first.pop().unwrap_or(StructInfo::Object), second.pop().unwrap_or(StructInfo::Object)),
    }
}

/// A form of the same information with more or less sharing.
trait Held {
    fn tuple(&mut self, fields: Arc<[StructInfo]>) -> StructInfo;
    fn func(&mut self, func: FuncStructInfo) -> StructInfo;

    fn of(&mut self, s: &StructInfo) -> StructInfo {
        match s {
            StructInfo::Object => StructInfo::Object,
            StructInfo::Tensor(t) => {
                StructInfo::Tensor(TensorStructInfo { shape: t.shape.as_ref().map(shape), ..t.clone() })
            }
            StructInfo::Shape(s) => {
                StructInfo::Shape(ShapeStructInfo { values: s.values.as_deref().map(dims), ndim: s.ndim })
            }
            StructInfo::Prim(p) => {
                StructInfo::Prim(PrimStructInfo { dtype: p.dtype, value: p.value.as_ref().map(dim_apart) })
            }
            StructInfo::Tuple(fields) => {
                let fields = fields.iter().map(|field| self.of(field)).collect();
                self.tuple(fields)
            }
            StructInfo::Func(func) => {
                let params = func.params.as_ref().map(|params| params.iter().map(|param| self.of(param)).collect());
                let ret = self.of(&func.ret);
                self.func(FuncStructInfo { params, ret, ..(**func).clone() })
            }
        }
    }
}

fn shape(shape: &TensorShape) -> TensorShape {
    match shape {
        TensorShape::Dims(all) => TensorShape::Dims(dims(all)),
        TensorShape::Other(expr) => TensorShape::Other(Arc::new((**expr).clone())),
        TensorShape::Var(_) | TensorShape::DataflowVar(_) => shape.clone(),
    }
}

fn dims(dims: &[PrimExpr]) -> Arc<[PrimExpr]> {
    dims.iter().map(dim_apart).collect()
}

fn dim_apart(dim: &PrimExpr) -> PrimExpr {
    let apart = |dim: &PrimExpr| Arc::new(dim_apart(dim));
    match dim {
        PrimExpr::Var(var) => PrimExpr::Var(var.clone()),
        PrimExpr::IntImm(i) => PrimExpr::IntImm(*i),
        PrimExpr::Binary(op, a, b) => PrimExpr::Binary(*op, apart(a), apart(b)),
        PrimExpr::Not(a) => PrimExpr::Not(apart(a)),
        PrimExpr::Select(c, t, f) => PrimExpr::Select(apart(c), apart(t), apart(f)),
    }
}

/// Without sharing.
struct Apart;

impl Held for Apart {
    fn tuple(&mut self, fields: Arc<[StructInfo]>) -> StructInfo {
        StructInfo::Tuple(fields)
    }

    fn func(&mut self, func: FuncStructInfo) -> StructInfo {
        StructInfo::Func(Arc::new(func))
    }
}

/// With all equal parts shared. Their printed form decides equality, because the equality of the code is under test.
#[derive(Default)]
struct InCommon(HashMap<String, StructInfo>);

impl InCommon {
    fn held(&mut self, s: StructInfo) -> StructInfo {
        self.0.entry(format!("{s:?}")).or_insert(s).clone()
    }
}

impl Held for InCommon {
    fn tuple(&mut self, fields: Arc<[StructInfo]>) -> StructInfo {
        self.held(StructInfo::Tuple(fields))
    }

    fn func(&mut self, func: FuncStructInfo) -> StructInfo {
        self.held(StructInfo::Func(Arc::new(func)))
    }
}

/// The same for types.
fn type_apart(t: &Type) -> Type {
    match t {
        Type::Tuple(fields) => Type::tuple(fields.iter().map(type_apart)),
        Type::Func(func) => Type::Func(Arc::new(FuncType {
            arg_types: func.arg_types.iter().map(type_apart).collect(),
            ret_type: type_apart(&func.ret_type),
            pure: func.pure,
        })),
        Type::Object | Type::Tensor(_) | Type::Shape(_) | Type::Prim(_) | Type::PackedFunc => t.clone(),
    }
}

fn types_in_common(t: &Type, known: &mut HashMap<String, Type>) -> Type {
    let new = match t {
        Type::Tuple(fields) => Type::tuple(fields.iter().map(|field| types_in_common(field, known))),
        Type::Func(func) => Type::Func(Arc::new(FuncType {
            arg_types: func.arg_types.iter().map(|arg| types_in_common(arg, known)).collect(),
            ret_type: types_in_common(&func.ret_type, known),
            pure: func.pure,
        })),
        Type::Object | Type::Tensor(_) | Type::Shape(_) | Type::Prim(_) | Type::PackedFunc => t.clone(),
    };
    known.entry(format!("{new:?}")).or_insert(new).clone()
}

fn hash(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// The questions, with the answers and the used rules.
type Said = Vec<(&'static str, String, Vec<String>)>;

/// Asks one question after another, each in a new context.
struct Asking<'a> {
    cx: &'a dyn Fn() -> Cx,
    said: Said,
}

impl Asking<'_> {
    fn ask<T: std::fmt::Debug>(&mut self, question: &'static str, answer: impl FnOnce(&mut Cx) -> T) {
        let mut cx = (self.cx)();
        let answer = format!("{:?}", answer(&mut cx));
        self.said.push((question, answer, cx.recorded().iter().map(|rule| rule.to_string()).collect()));
    }
}

/// All questions about two pieces of information.
fn of_infos(cx: &dyn Fn() -> Cx, s1: &StructInfo, s2: &StructInfo, place: &Place) -> Said {
    let mut all = Asking { cx, said: Vec::new() };
    all.ask("compatibility", |cx| si::check_compatibility_in(cx, s1, s2, place));
    all.ask("order", |cx| si::is_more_specific_in(cx, ShapeRelation::Definite, s1, s2, place));
    all.ask("possible order", |cx| si::is_more_specific_in(cx, ShapeRelation::Possible, s1, s2, place));
    all.ask("join", |cx| si::unify_struct_info_in(cx, s1, s2, place));
    all.ask("what is well defined", |cx| si::erase_to_well_defined(cx, s1, place));
    all.ask("match", |cx| si::get_shape_var_mapping(cx, s1, s2, place));
    all.ask("match of a parameter", |cx| si::united_mapping(cx, [(s1, s2), (s2, s1)], place));
    all.ask("overlap", |cx| si::may_overlap(cx, s1, s2, place));
    all.ask("substitution", |cx| {
        let mapping: Mapping = [("n", "m"), ("m", "k")].map(|(v, w)| (ShapeVar::new(v), PrimExpr::var(w))).into();
        si::substitute(cx, s1, &mapping, place)
    });
    all.ask("closed", |cx| {
        let closed = si::closed(cx, s1, place);
        (si::shown(&closed, place), closed)
    });
    all.ask("seen through", |_| si::seen_through(s1.clone(), place));
    all.ask("ranked", |_| {
        s1.ranked(&|var| if *var.name == *"r" { Ndim::Known(1) } else { Ndim::Unknown }).into_owned()
    });
    all.ask("introduced", |_| (si::introduced_shape_vars(s1), InScope::mentioned_by(&[s1.clone(), s2.clone()])));
    all.ask("equal", |_| (s1 == s2, hash(s1), hash(s2)));
    all.ask("call", |cx| match s2 {
        StructInfo::Func(func) => derive_call(cx, s1, func.params.as_deref().unwrap_or_default(), &[]),
        StructInfo::Tuple(fields) => derive_call(cx, s1, fields, &[]),
        other => derive_call(cx, s1, std::slice::from_ref(other), &[]),
    });
    all.ask("type", |cx| types::erase_struct_info(cx, s1));
    all.said
}

/// All questions about two types.
fn of_types(cx: &dyn Fn() -> Cx, t1: &Type, t2: &Type) -> Said {
    let mut all = Asking { cx, said: Vec::new() };
    all.ask("subtype", |cx| types::is_subtype(cx, t1, t2));
    all.ask("least upper bound", |cx| types::find_lub(cx, t1, t2));
    all.ask("greatest lower bound", |cx| types::find_glb(cx, t1, t2));
    all.ask("conversion", |cx| types::conversion(cx, t1, t2));
    all.ask("wrapped", |cx| si::wrap_type(cx, t1));
    all.ask("equal types", |_| (t1 == t2, hash(t1), hash(t2)));
    all.said
}

/// Whether a tuple occurs in it more than once.
fn holds_in_common(s: &StructInfo, seen: &mut HashSet<*const StructInfo>) -> bool {
    match s {
        StructInfo::Tuple(fields) => {
            let again = !fields.is_empty() && !seen.insert(fields.as_ptr());
            again || fields.iter().any(|field| holds_in_common(field, seen))
        }
        StructInfo::Func(func) => {
            let params = func.params.iter().flat_map(|params| params.iter());
            params.chain([&func.ret]).any(|part| holds_in_common(part, seen))
        }
        StructInfo::Object | StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Prim(_) => false,
    }
}

fn differences(plain: &Said, other: &Said) -> Option<String> {
    let ((question, said1, used1), (_, said2, used2)) =
        plain.iter().zip(other).find(|(said1, said2)| said1 != said2)?;
    let only = |a: &[String], b: &[String]| a.iter().filter(|rule| !b.contains(rule)).cloned().collect::<Vec<_>>();
    let (used1, used2) = (only(used1, used2), only(used2, used1));
    Some(format!("{question}:\n  apart {said1}\n    by {used1:?}\n  in common {said2}\n    by {used2:?}"))
}

#[test]
fn what_is_held_in_common_is_judged_as_what_is_not() {
    let readings = readings(&["struct_info", "types", "derivation/call.rs"], Erratum::ALL);
    assert!(readings.len() > 15, "{}", readings.len());
    let (mut found, mut different, mut in_common, mut related) = (Vec::new(), 0, 0, 0);
    for seed in seeds("SHARED_PAIRS", 500) {
        let tape = &mut Tape::from_seed(seed, 300);
        let place = Place { bound: InScope::new(&[Var::new("s")], &names()[..tape.choose(3)]), last_number: 0 };
        let prover = [Prover::Algebraic, Prover::Algebraic, Prover::Alpha, Prover::Exhaustive][tape.choose(4)];
        let edition = Edition::ALL[tape.choose(Edition::ALL.len())];
        let glb_purity = [GlbPurity::Literal, GlbPurity::Min][tape.choose(2)];
        let (s1, s2) = pair(tape);
        in_common += usize::from(holds_in_common(&s1, &mut HashSet::new()));
        let apart = (Apart.of(&s1), Apart.of(&s2));
        let mut common = InCommon::default();
        let common = (common.of(&s1), common.of(&s2));
        let (t1, t2) = (types::erase_struct_info(&mut Cx::new(), &s1), types::erase_struct_info(&mut Cx::new(), &s2));
        let (plain1, plain2) = (type_apart(&t1), type_apart(&t2));
        let mut known = HashMap::new();
        let (common1, common2) = (types_in_common(&t1, &mut known), types_in_common(&t2, &mut known));
        // The first reading has no literal erratum, and the last all of them. Each of the others is used for every
        // fourth pair.
        let turn = |i: usize| i == 0 || i + 1 == readings.len() || (i as u64 + seed).is_multiple_of(4);
        for (_, (name, reading)) in readings.iter().enumerate().filter(|(i, _)| turn(*i)) {
            let anew = &|| {
                let mut cx = cx(edition, reading).with_prover(prover);
                cx.glb_purity = glb_purity;
                cx
            };
            let plain = of_infos(anew, &apart.0, &apart.1, &place);
            related += usize::from(plain.iter().any(|(question, said, _)| *question == "order" && said == "true"));
            let plain_types = of_types(anew, &plain1, &plain2);
            let told = differences(&plain, &of_infos(anew, &s1, &s2, &place))
                .or_else(|| differences(&plain, &of_infos(anew, &common.0, &common.1, &place)))
                .or_else(|| differences(&plain_types, &of_types(anew, &t1, &t2)))
                .or_else(|| differences(&plain_types, &of_types(anew, &common1, &common2)));
            if let Some(told) = told {
                different += 1;
                if found.len() < 8 {
                    found.push(format!("seed {seed}, literally {name}, {prover:?}: {s1} and {s2}\n {told}"));
                }
                break;
            }
        }
    }
    assert!(found.is_empty(), "{different} pairs differ, such as\n{}", found.join("\n"));
    assert!(in_common > 100 && related > 500, "{in_common} {related}");
}
