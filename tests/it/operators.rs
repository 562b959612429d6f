//! Operators: the information that inference gives for random calls holds for their results
//! (`examples/operator-soundness.rs` tests as many calls as desired). It does not depend on the order of operands
//! unless the clause does.

use std::collections::{BTreeMap, BTreeSet};

use ask::conformance;
use campaign::agreement::{OperatorPattern, clause};
use campaign::calls::{Fill, RandomCall, emptied, enlarged, patterns, run_within};
use campaign::operator_soundness::OperatorTemplates;
use campaign::programs::one_attribute_apart;
use campaign::questions::questions_of_shape_variables;
use relax_spec::book::ron_options;
use relax_spec::data::json::write;
use relax_spec::data::{from_json, to_document};
use relax_spec::grammar::{
    AttrValue, BinaryOp, DataType, Expr, GlobalFunc, IrModule, Ndim, PrimExpr, StructInfo, TensorShape, Var,
};
use relax_spec::judge::Cx;
use relax_spec::ops::{Attr, InferArgs, lookup};
use relax_spec::oracle::outcome;
use relax_spec::question::{Answer, Ask, Outcome, ProgramInput};
use relax_spec::value::Stop;

#[test]
fn what_is_inferred_is_true() {
    let operators = OperatorTemplates::of(&conformance::suite().expect("the suite"));
    // Twice as many calls as needed on average, because the number that give a value varies.
    let report = operators.try_all(0..200 * operators.names().count() as u64);
    let faults: Vec<String> =
        report.faults.iter().take(5).map(|(seed, call, fault)| format!("seed {seed}: {call}: {fault}")).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    let tensor = relax_spec::ops::all()
        .filter(|op| matches!(op.clauses, relax_spec::ops::Clauses::Tensor(_)) && op.excluded.is_none());
    let asked = tensor.filter(|op| !takes_storage(op.name));
    let tallies = || report.tallies.iter().filter(|(name, _)| !takes_storage(name));
    assert_eq!(tallies().count(), asked.count(), "an operator without calls");
    let few: Vec<_> = tallies().filter(|(_, tally)| tally.values < 20).collect();
    assert!(few.is_empty(), "too few calls with a value: {few:?}");
}

/// Operators on storages and on the machine's objects. Random calls do not make such objects. The generated calls are
/// still compared with their values, but no minimum number is required. The cases of `conformance/suite/rfc` cover
/// these operators.
fn takes_storage(name: &str) -> bool {
    ["relax.memory.", "relax.vm.", "relax.builtin."].iter().any(|family| name.starts_with(family))
}

/// Each operator pays for reading, computing and writing elements before it does so. With little fuel, a call on few
/// elements ends soon and within its memory, whatever its attributes are.
#[test]
fn no_attribute_escapes_fuel() {
    let operators = OperatorTemplates::of(&conformance::suite().expect("the suite"));
    let mut stopped = BTreeSet::new();
    for seed in 0..100 * operators.names().count() as u64 {
        let Some((call, mut tape)) = operators.call(seed) else { continue };
        let call = enlarged(&call, &mut tape);
        let start = std::time::Instant::now();
        let ended = run_within(&call, Fill::Random(seed), 50_000, 1 << 22);
        let took = start.elapsed();
        assert!(took < std::time::Duration::from_secs(2), "seed {seed}: {call} took {took:?} and gave {ended:?}");
        if matches!(ended, Some(Err(Stop::OutOfFuel))) {
            stopped.insert(call.op.name);
        }
    }
    assert!(stopped.len() >= 24 && stopped.contains("relax.nn.max_pool2d"), "{stopped:?}");
}

/// The same for calls without elements: a loop over the other axes is paid for too.
#[test]
fn no_empty_axis_escapes_fuel() {
    let operators = OperatorTemplates::of(&conformance::suite().expect("the suite"));
    let (mut asked, mut names) = (0, BTreeSet::new());
    for seed in 0..60 * operators.names().count() as u64 {
        let Some((call, mut tape)) = operators.call(seed) else { continue };
        let Some(call) = emptied(&call, &mut tape) else { continue };
        let start = std::time::Instant::now();
        let ended = run_within(&call, Fill::Random(seed), 50_000, 1 << 22);
        let took = start.elapsed();
        assert!(took < std::time::Duration::from_secs(2), "seed {seed}: {call} took {took:?} and gave {ended:?}");
        asked += u64::from(ended.is_some());
        names.insert(call.op.name);
    }
    assert!(asked > 300 && names.len() > 60, "{asked} calls of {names:?}");
}

/// The numbers at the limits of arithmetic.
const EXTREMES: [&str; 12] = [
    "-1",
    "0",
    "-2",
    "2147483647",
    "-2147483648",
    "4294967296",
    "4611686018427387904",
    "-4611686018427387904",
    "9223372036854775806",
    "9223372036854775807",
    "-9223372036854775807",
    "-9223372036854775808",
];

/// JSON in which some integers are replaced by extreme ones.
fn with_extremes(json: &str, random: &mut fastrand::Rng) -> String {
    let mut out = String::new();
    let mut rest = json;
    while let Some(at) = rest.find([':', ',', '[']) {
        let (before, after) = rest.split_at(at + 1);
        out.push_str(before);
        let end = after.find([',', ']', '}']).unwrap_or(after.len());
        let (token, behind) = after.split_at(end);
        if token.parse::<i64>().is_ok() && random.u8(..3) == 0 {
            out.push_str(EXTREMES[random.usize(..EXTREMES.len())]);
            rest = behind;
        } else {
            rest = after;
        }
    }
    out + rest
}

/// Inference gives an answer for all operators and for all sizes, ranks and attributes, including extreme numbers.
#[test]
fn no_number_breaks_inference() {
    let operators = OperatorTemplates::of(&conformance::suite().expect("the suite"));
    let (mut asked, mut accepted, mut names) = (0, 0, BTreeSet::new());
    for seed in 0..60 * operators.names().count() as u64 {
        let Some((call, _)) = operators.call(seed) else { continue };
        let random = &mut fastrand::Rng::with_seed(seed);
        let (literal, infos) = call.literal();
        let extreme = |text: String, random: &mut fastrand::Rng| with_extremes(&text, random);
        let expr = extreme(write(&to_document(&Expr::Call(std::sync::Arc::new(literal)))), random);
        let infos: Vec<String> = infos.iter().map(|info| extreme(write(&to_document(info)), random)).collect();
        let Ok(Expr::Call(literal)) = from_json::<Expr>(&expr) else { continue };
        let Ok(args) = infos.iter().map(|info| from_json::<StructInfo>(info)).collect::<Result<Vec<_>, _>>() else {
            continue;
        };
        let start = std::time::Instant::now();
        let ask = || call.op.infer(&mut Cx::new(), &InferArgs { call: &literal, args: &args, module: None }).is_ok();
        let answered = std::panic::catch_unwind(std::panic::AssertUnwindSafe(ask));
        let took = start.elapsed();
        let Ok(accepts) = answered else { panic!("seed {seed}: {expr} of {infos:?}") };
        assert!(took < std::time::Duration::from_secs(2), "seed {seed}: {expr} of {infos:?} took {took:?}");
        asked += 1;
        accepted += u32::from(accepts);
        names.insert(call.op.name);
    }
    assert!(asked > 5_000 && accepted > 500 && names.len() > 150, "{accepted} of {asked} of {}", names.len());
}

/// Operators on a tuple whose fields may be reordered. Only the sizes along an axis depend on the order, and these are
/// sums.
const OF_TUPLES: [&str; 2] = ["relax.concat", "relax.stack"];
/// Operators with two operands in either order.
const OF_TWO: [&str; 6] =
    ["relax.add", "relax.multiply", "relax.maximum", "relax.equal", "relax.logical_and", "relax.bitwise_xor"];

fn operand(random: &mut fastrand::Rng) -> StructInfo {
    let dtypes = [DataType::VOID, DataType::FLOAT32, DataType::FLOAT32, DataType::FLOAT32, DataType::INT8];
    let dtype = dtypes[random.usize(0..dtypes.len())];
    let dim = |random: &mut fastrand::Rng| match random.usize(0..6) {
        0 => PrimExpr::var("n"),
        1 => PrimExpr::binary(BinaryOp::Add, PrimExpr::var("n"), 1.into()),
        2 => PrimExpr::var("m"),
        size => PrimExpr::IntImm(size as i64 - 1),
    };
    match random.usize(0..6) {
        0 => StructInfo::tensor_ndim(-1, dtype),
        1 => StructInfo::tensor_ndim(2, dtype),
        2 => StructInfo::tensor([dim(random)], dtype),
        _ => StructInfo::tensor([dim(random), dim(random)], dtype),
    }
}

fn infer(name: &str, args: &[StructInfo]) -> Option<StructInfo> {
    let op = lookup(name).expect("an operator");
    let Expr::Call(call) = Expr::call(Expr::op(name), args.iter().map(|_| Expr::var("x")).collect()) else { panic!() };
    op.infer(&mut Cx::new(), &InferArgs { call: &call, args, module: None }).ok()
}

/// Whether both are equal up to provable equality.
fn same(a: &Option<StructInfo>, b: &Option<StructInfo>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => {
            let below =
                |a: &StructInfo, b: &StructInfo| relax_spec::struct_info::is_more_specific(&mut Cx::new(), a, b);
            below(a, b) && below(b, a)
        }
        (a, b) => a.is_none() && b.is_none(),
    }
}

#[test]
fn the_order_of_operands_does_not_matter() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut accepted = 0;
    for _ in 0..4_000 {
        let mut parts: Vec<StructInfo> = (0..random.usize(1..5)).map(|_| operand(&mut random)).collect();
        let other = |parts: &[StructInfo]| parts.iter().rev().cloned().collect::<Vec<_>>();
        for name in OF_TUPLES {
            let in_order = infer(name, &[StructInfo::tuple(parts.iter().cloned())]);
            let reversed = infer(name, &[StructInfo::tuple(other(&parts))]);
            assert!(same(&in_order, &reversed), "{name} of {parts:?}: {in_order:?}, reversed {reversed:?}");
            random.shuffle(&mut parts);
            let shuffled = infer(name, &[StructInfo::tuple(parts.iter().cloned())]);
            assert!(same(&in_order, &shuffled), "{name} of {parts:?}: {in_order:?}, shuffled {shuffled:?}");
            accepted += usize::from(in_order.is_some());
        }
        let two = [operand(&mut random), operand(&mut random)];
        for name in OF_TWO {
            let (in_order, reversed) = (infer(name, &two), infer(name, &other(&two)));
            assert!(same(&in_order, &reversed), "{name} of {two:?}: {in_order:?}, reversed {reversed:?}");
            accepted += usize::from(in_order.is_some());
        }
        let condition = StructInfo::Tensor(match operand(&mut random) {
            StructInfo::Tensor(t) => relax_spec::grammar::TensorStructInfo { dtype: DataType::BOOL, ..t },
            other => panic!("{other}"),
        });
        let chosen = |two: &[StructInfo]| infer("relax.where", &[std::slice::from_ref(&condition), two].concat());
        let (in_order, reversed) = (chosen(&two), chosen(&other(&two)));
        assert!(same(&in_order, &reversed), "where of {condition}, {two:?}: {in_order:?}, reversed {reversed:?}");
    }
    assert!(accepted > 4_000, "{accepted}");
}

/// The entries about the first 155 operators, and those about the others. There must not be more.
const MOST_PATTERNS: usize = 35 + 40;

/// A pattern of the operators' ledger explains a difference of the operators that it names. These must exist, and the
/// pattern must describe the difference. A pattern that fits any operator would hide differences that nobody has
/// examined.
#[test]
fn every_pattern_names_its_operators() {
    let text = conformance::ledger("tvm-operators").expect("the ledger");
    let patterns: Vec<OperatorPattern> = ron_options().from_str(&text).expect("patterns that name operators");
    assert!(patterns.len() <= MOST_PATTERNS, "{} patterns", patterns.len());
    for pattern in patterns {
        assert!(!pattern.ops.is_empty(), "{pattern:?}");
        let narrow = [&pattern.what, &pattern.says, &pattern.gives].iter().any(|words| !words.is_empty());
        assert!(narrow, "it would know every difference of these kinds: {pattern:?}");
        for name in &pattern.ops {
            let op = lookup(name).filter(|op| op.name == name);
            let op = op.unwrap_or_else(|| panic!("there is no operator {name}: {pattern:?}"));
            assert!(clause(op, &pattern.clause).is_some(), "{name} has no such clause: {pattern:?}");
        }
    }
}

/// The shapes of the variables that hold shapes, once their sizes are known.
fn with_sizes(module: &IrModule) -> (IrModule, Vec<(Var, Vec<PrimExpr>)>) {
    let mut known = Vec::new();
    let funcs = module.funcs.iter().map(|(gv, func)| {
        let GlobalFunc::Function(function) = func else { return (gv.clone(), func.clone()) };
        let mut function = (**function).clone();
        for param in &mut function.params {
            if let Some(StructInfo::Shape(shape)) = &param.annotation
                && let (None, Ndim::Known(rank)) = (&shape.values, shape.ndim)
            {
                let sizes: Vec<PrimExpr> =
                    (0..rank).map(|i| PrimExpr::var(&format!("{}_{i}", param.var.name))).collect();
                param.annotation = Some(StructInfo::shape(sizes.clone()));
                known.push((param.var.clone(), sizes));
            }
        }
        (gv.clone(), GlobalFunc::Function(function.into()))
    });
    (IrModule { funcs: funcs.collect(), ..module.clone() }, known)
}

/// Whether one has the sizes of a variable and the other lacks the variable.
fn lost(sized: &StructInfo, held: &StructInfo, known: &[(Var, Vec<PrimExpr>)]) -> bool {
    match (sized, held) {
        (StructInfo::Tuple(a), StructInfo::Tuple(b)) => a.iter().zip(b.iter()).any(|(a, b)| lost(a, b, known)),
        (StructInfo::Tensor(a), StructInfo::Tensor(b)) => {
            let Some(TensorShape::Dims(dims)) = &a.shape else { return false };
            let holds = |(_, sizes): &&(Var, Vec<PrimExpr>)| !sizes.is_empty() && sizes[..] == dims[..];
            known.iter().find(holds).is_some_and(|(var, _)| match &b.shape {
                Some(TensorShape::Var(held)) => **held != *var,
                Some(_) | None => true,
            })
        }
        _ => false,
    }
}

/// Operators that in some call give the sizes of an operand, but only the rank if its shape is a variable. The releases
/// of TVM do the same, and they decide which operators keep a variable.
const LOSE_SHAPES: [(&str, &str); 25] = [
    ("relax.add", "beside a scalar or a shape that is written"),
    ("relax.ccl.allgather", "the case has one worker alone"),
    ("relax.ccl.scatter_from_worker0", "the case has one worker alone"),
    ("relax.cumsum", "what is reduced along no axis, gathered or laid out anew has its rank alone"),
    ("relax.dist.redistribute_replica_to_shard", "the case has one worker alone"),
    ("relax.einsum", "products of matrices and attention are computed of sizes that are written"),
    ("relax.image.grid_sample", "padding and sampling look at sizes that are written"),
    ("relax.layout_transform", "what is reduced along no axis, gathered or laid out anew has its rank alone"),
    ("relax.matmul", "products of matrices and attention are computed of sizes that are written"),
    ("relax.median", "what is reduced along no axis, gathered or laid out anew has its rank alone"),
    ("relax.memory.view", "what is reduced along no axis, gathered or laid out anew has its rank alone"),
    ("relax.multiply", "beside a scalar or a shape that is written"),
    ("relax.nn.attention", "products of matrices and attention are computed of sizes that are written"),
    ("relax.nn.attention_bias", "products of matrices and attention are computed of sizes that are written"),
    ("relax.nn.attention_var_len", "products of matrices and attention are computed of sizes that are written"),
    ("relax.nn.pad", "padding and sampling look at sizes that are written"),
    ("relax.prod", "what is reduced along no axis, gathered or laid out anew has its rank alone"),
    ("relax.std", "what is reduced along no axis, gathered or laid out anew has its rank alone"),
    ("relax.subtract", "beside a scalar or a shape that is written"),
    ("relax.take", "what is reduced along no axis, gathered or laid out anew has its rank alone"),
    ("relax.topk", "what is reduced along no axis, gathered or laid out anew has its rank alone"),
    ("relax.variance", "what is reduced along no axis, gathered or laid out anew has its rank alone"),
    ("relax.vision.get_valid_counts", "boxes are counted by sizes that are written"),
    ("relax.vision.multibox_transform_loc", "boxes are counted by sizes that are written"),
    ("relax.vision.non_max_suppression", "boxes are counted by sizes that are written"),
];

/// An operator that keeps a shape also keeps a shape variable.
#[test]
fn a_shape_that_is_kept_is_kept_in_a_variable() {
    let suite = conformance::suite().expect("the suite");
    let (mut compared, mut losing) = (0, BTreeMap::new());
    for op in relax_spec::ops::all() {
        for question in
            questions_of_shape_variables(op, &suite).iter().filter(|q| q.what.starts_with("of one shape variable"))
        {
            let Ask::DeriveVar(ProgramInput::Module(module), function, var) = &question.ask else { continue };
            let (sized, known) = with_sizes(module);
            let info = |module: IrModule| {
                let ask = Ask::DeriveVar(ProgramInput::Module(module), function.clone(), var.clone());
                match outcome(&mut Cx::new(), &ask) {
                    Outcome::Answer { answer: Answer::StructInfo(info), warnings: _ } => Some(info),
                    _ => None,
                }
            };
            let (Some(sized), Some(held)) = (info(sized), info(module.clone())) else { continue };
            compared += 1;
            if lost(&sized, &held, &known) {
                losing.entry(op.name).or_insert_with(|| format!("{}: {sized} and {held}", question.what));
            }
        }
    }
    assert!(compared > 1_000, "{compared}");
    let excepted = |name: &str| LOSE_SHAPES.iter().any(|(op, _)| *op == name);
    let found: Vec<_> = losing.iter().filter(|(name, _)| !excepted(name)).collect();
    assert!(found.is_empty(), "{} operators: {found:#?}", found.len());
    let idle: Vec<_> = LOSE_SHAPES.iter().filter(|(name, _)| !losing.contains_key(name)).collect();
    assert!(idle.is_empty(), "{idle:?}");
}

/// Calls whose result has the shape that is held in `s`, by their own sizes or because they are given it. The property
/// above varies the tensors of the suite's calls; these are the calls that it does not reach.
const OF_SHAPE_VARIABLES: [&str; 25] = [
    "R.nn.layer_norm(x, g, g, axes=[-1])",
    "R.nn.layer_norm(x, r, r, axes=[-1])",
    "R.nn.rms_norm(x, g, axes=[-1])",
    "R.zeros(s, \"float32\")",
    "R.ones(s, \"float32\")",
    "R.full(s, R.const(1.0, \"float32\"), \"float32\")",
    "R.broadcast_to(x, s)",
    "R.reshape(r, s)",
    "R.concat([x], 0)",
    "R.permute_dims(x, [0, 1])",
    "R.squeeze(x, axis=[])",
    "R.expand_dims(x, axis=[])",
    "R.collapse_sum_to(x, s)",
    "R.collapse_sum_like(x, x)",
    "R.repeat(x, 1, 0)",
    "R.tile(x, [1, 1])",
    "R.flip(x, 0)",
    "R.gather_elements(x, i, 0)",
    "R.scatter_elements(x, i, x)",
    "R.where(R.greater(x, x), x, x)",
    "R.ewise_fma(x, x, x)",
    "R.cumsum(x, 0)",
    "R.sort(x)",
    "R.eye_like(x)",
    "R.wrap_param(x)",
];

const WITH_SHAPE_VARIABLES: &str = "@I.ir_module
class Module:
    @R.function
    def main(s: R.Shape(ndim=2), u: R.Shape(ndim=1), x: R.Tensor(s, \"float32\"), r: R.Tensor(u, \"float32\"),
             g: R.Tensor((3,), \"float32\"), i: R.Tensor(s, \"int64\")) -> R.Object:
        y = CALL
        return y
";

#[test]
fn a_shape_that_is_given_is_kept_in_a_variable() {
    let lost = OF_SHAPE_VARIABLES.iter().filter_map(|call| {
        let program = ProgramInput::Script(WITH_SHAPE_VARIABLES.replace("CALL", call));
        match outcome(&mut Cx::new(), &Ask::DeriveVar(program, "main".into(), Var::new("y"))) {
            Outcome::Answer { answer: Answer::StructInfo(info), .. } if is_held(&info) => None,
            other => Some(format!("{call}: {other:?}")),
        }
    });
    let lost: Vec<String> = lost.collect();
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

fn is_held(info: &StructInfo) -> bool {
    let StructInfo::Tensor(tensor) = info else { return false };
    matches!(&tensor.shape, Some(TensorShape::Var(var)) if &*var.name == "s")
}

#[test]
fn each_attribute_of_an_operator_has_another_value() {
    let suite = conformance::suite().unwrap();
    let op = lookup("relax.nn.layer_norm").unwrap();
    let pattern = patterns(op, &suite).into_iter().next().unwrap();
    let apart = one_attribute_apart(&pattern);
    let changed: BTreeSet<&str> = apart
        .iter()
        .map(|call| {
            let is_other = |attr: &Attr| call.attrs.get(attr.name) != pattern.attrs.get(attr.name);
            let others: Vec<Attr> = call.op.attrs().filter(is_other).collect();
            assert_eq!(others.len(), 1);
            others[0].name
        })
        .collect();
    assert_eq!(changed, BTreeSet::from(["axes", "epsilon", "center", "scale"]));
    let center = |call: &&RandomCall| call.attrs.get("center") == Some(&AttrValue::Bool(false));
    assert!(apart.iter().any(|call| center(&call)));
}
