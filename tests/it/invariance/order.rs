//! The order of parameters. If a signature binds in any order (WF23-12.6.ANY-ORDER), the same parameters in another
//! order have the same meaning, in every judgement and with both engines.

use campaign::generate::Tape;
use relax_spec::book::Edition;
use relax_spec::check::check_program;
use relax_spec::grammar::{DataType, FuncStructInfo, IrModule, StructInfo, TensorData};
use relax_spec::judge::Cx;
use relax_spec::oracle::{Engine, outcome_by};
use relax_spec::question::{Ask, ProgramInput};
use relax_spec::struct_info::{InScope, get_shape_var_mapping};
use relax_spec::syntax::tvmscript::parse_module;
use relax_spec::value::ValueSpec;

use super::infos::{Said, Spelt, agree, args_of, asked, names, signatures};
use super::seeds;

const IN_ANY_ORDER: [Edition; 2] = [Edition::E2023_12, Edition::E2024_04];

/// A function type with its parameters from right to left. The contents of each stay.
fn reversed(s: &StructInfo) -> StructInfo {
    let StructInfo::Func(func) = s else { return s.clone() };
    let params = func.params.as_ref().map(|params| params.iter().rev().cloned().collect());
    StructInfo::Func(FuncStructInfo { params, ..(**func).clone() }.into())
}

fn in_other_order(Spelt { manner: _, s1, s2, args }: &Spelt) -> Spelt {
    let args = args.iter().rev().cloned().collect();
    Spelt { manner: "from right to left".into(), s1: reversed(s1), s2: reversed(s2), args }
}

/// Whether each variable has only one dimension. Among several the leftmost counts (A10), which depends on the order.
fn is_without_conflict(first: &Spelt, other: &Spelt, scope: &InScope) -> bool {
    let mappings = |Spelt { s1, s2, .. }: &Spelt| {
        let map = |s1, s2| get_shape_var_mapping(&mut Cx::new(), s1, s2, scope);
        [map(s1, s2), map(s2, s1)]
    };
    mappings(first) == mappings(other)
}

/// Turns an answer about reordered signatures into one about the original ones.
fn put_back(judgement: &str, said: &Said) -> Said {
    match (judgement, said) {
        ("join" | "what is well defined", Said::Info(info)) => Said::Info(reversed(info)),
        (_, Said::Info(info)) => Said::Info(info.clone()),
        (_, Said::Word(word)) => Said::Word(word.clone()),
    }
}

/// The differences between answers about two pairs of signatures, where the second pair is the first in a different
/// order.
fn differences(edition: Edition, seed: u64) -> Option<Vec<String>> {
    let tape = &mut Tape::from_seed(seed, 200);
    let scope = InScope::new(&[], &names()[..tape.choose(3)]);
    let (s1, s2) = signatures(tape)?;
    let first = Spelt { manner: "as it is".into(), args: args_of(&s2), s1, s2 };
    let other = in_other_order(&first);
    if !is_without_conflict(&first, &other, &scope) {
        return None;
    }
    let cx = || Cx::new().with_edition(edition);
    let (before, after) = (asked(&mut cx(), &first, &scope), asked(&mut cx(), &other, &scope));
    let pairs = before.into_iter().zip(after).map(|((judgement, a), (_, b))| (judgement, a, put_back(judgement, &b)));
    let differ = pairs.filter(|(_, a, b)| !agree(edition, a, b, &scope.shape_vars));
    Some(
        differ
            .map(|(judgement, a, b)| format!("{edition}, {judgement} of {seed}:\n{first}\n    {a}\n{other}\n    {b}"))
            .collect(),
    )
}

#[test]
fn judgements_on_signatures_do_not_depend_on_the_order_of_parameters() {
    for edition in IN_ANY_ORDER {
        let (mut found, mut compared) = (Vec::new(), 0);
        for seed in seeds("INVARIANCE_PAIRS", 6_000) {
            if let Some(differences) = differences(edition, seed) {
                compared += 1;
                found.extend(differences);
            }
        }
        assert!(compared > 1_000, "{compared}");
        assert!(found.is_empty(), "{} differences, such as\n{}", found.len(), found[..found.len().min(5)].join("\n"));
    }
}

/// A function: parameters that may mention variables of each other, a body, and calls.
struct Signature {
    params: &'static [(&'static str, &'static str)],
    body: &'static str,
    /// Lists of arguments, each for one call.
    calls: &'static [&'static [&'static str]],
}

const HELPERS: &str = "
    @R.function
    def four() -> R.Tensor((4,), 'float32'):
        return R.zeros(R.shape([4]), 'float32')

    @R.function
    def same(y: R.Tensor(('k',), 'float32')) -> R.Tensor(('k',), 'float32'):
        return y

    @R.function
    def twice(y: R.Tensor(('k',), 'float32')) -> R.Tensor(('k + k',), 'float32'):
        return R.concat((y, y))
";

const SIGNATURES: [Signature; 4] = [
    Signature {
        params: &[
            ("h", "R.Callable((), R.Tensor(('n',), 'float32'), purity=True)"),
            ("x", "R.Tensor(('n',), 'float32')"),
        ],
        body: "R.add(h(), x)",
        calls: &[&["four", "a"], &["four", "b"]],
    },
    Signature {
        params: &[
            ("h", "R.Callable((R.Tensor(('n',), 'float32'),), R.Tensor(('n',), 'float32'), purity=True)"),
            ("x", "R.Tensor(('n',), 'float32')"),
            ("s", "R.Shape(('2 * n',))"),
        ],
        body: "R.reshape(R.concat((h(x), x)), s)",
        calls: &[&["same", "a", "R.shape([8])"], &["twice", "a", "R.shape([8])"], &["same", "b", "R.shape([8])"]],
    },
    Signature {
        params: &[
            (
                "t",
                "R.Tuple(R.Callable((R.Tensor(('m',), 'float32'),), R.Tensor(('n',), 'float32'), purity=True), R.Shape(('m',)))",
            ),
            ("x", "R.Tensor(('n',), 'float32')"),
            ("y", "R.Tensor(('m',), 'float32')"),
        ],
        body: "R.add(t[0](y), x)",
        calls: &[
            &["(same, R.shape([4]))", "a", "a"],
            &["(same, R.shape([4]))", "b", "a"],
            &["(same, R.shape([5]))", "b", "b"],
        ],
    },
    Signature {
        params: &[
            (
                "f",
                "R.Callable((R.Callable((), R.Tensor(('n',), 'float32'), purity=True),), R.Tensor(('n',), 'float32'), purity=True)",
            ),
            ("h", "R.Callable((), R.Tensor(('n',), 'float32'), purity=True)"),
            ("x", "R.Tensor(('n',), 'float32')"),
        ],
        body: "R.add(h(), x)",
        calls: &[&["(lambda)", "four", "a"], &["(lambda)", "four", "b"]],
    },
];

/// All permutations of this many items.
fn orders(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let shorter = orders(count - 1);
    shorter
        .iter()
        .flat_map(|order| (0..=order.len()).map(|at| [&order[..at], &[count - 1], &order[at..]].concat()))
        .collect()
}

fn in_order<T: Copy>(items: &[T], order: &[usize]) -> Vec<T> {
    order.iter().map(|i| items[*i]).collect()
}

/// A program that calls the function with the parameters in this order.
fn program(signature: &Signature, call: &[&str], order: &[usize]) -> IrModule {
    let params: Vec<String> =
        in_order(signature.params, order).iter().map(|(name, info)| format!("{name}: {info}")).collect();
    let args: Vec<String> = in_order(call, order).into_iter().map(argument).collect();
    let text = format!(
        "@I.ir_module
class Module:{HELPERS}
    @R.function
    def ask(h: R.Callable((), R.Tensor((4,), 'float32'), purity=True)) -> R.Tensor((4,), 'float32'):
        return h()

    @R.function
    def g({}):
        return {}

    @R.function
    def main(a: R.Tensor((4,), 'float32'), b: R.Tensor((5,), 'float32')):
        r = Module.g({})
        return r
",
        params.join(", "),
        signature.body,
        args.join(", "),
    );
    parse_module(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

fn argument(text: &str) -> String {
    let global =
        |name: &str| if ["four", "same", "twice"].contains(&name) { format!("Module.{name}") } else { name.into() };
    text.replace("(lambda)", "Module.ask")
        .replace("(same,", "(Module.same,")
        .split(' ')
        .map(global)
        .collect::<Vec<_>>()
        .join(" ")
}

/// The meaning of a program: the rules of its findings, the information of the call, and the ending in both engines.
fn meaning(edition: Edition, module: &IrModule) -> Vec<String> {
    let mut cx = Cx::new().with_edition(edition);
    let report = check_program(&mut cx, module);
    let mut found: Vec<String> = report.diagnostics.iter().map(|d| format!("{:?} {}", d.severity, d.rule)).collect();
    found.sort();
    for finding in &report.diagnostics {
        assert!(!finding.message.contains(['′', '‵']) && !finding.message.contains("n1"), "{}", finding.message);
    }
    let ones = |size: u64| {
        ValueSpec::Tensor(TensorData::from_values(DataType::FLOAT32, &[size], &vec![1.0; size as usize]).unwrap())
    };
    for engine in [Engine::Evaluator, Engine::Machine] {
        let ask = Ask::Evaluate(ProgramInput::Module(module.clone()), "main".into(), vec![ones(4), ones(5)]);
        found.push(format!("{:?}", outcome_by(&mut Cx::new().with_edition(edition), engine, &ask)));
    }
    found
}

#[test]
fn programs_do_not_depend_on_the_order_of_parameters() {
    let (mut accepted, mut rejected) = (0, 0);
    for (edition, signature) in IN_ANY_ORDER.into_iter().flat_map(|e| SIGNATURES.iter().map(move |s| (e, s))) {
        for call in signature.calls {
            let meanings: Vec<(IrModule, Vec<String>)> = orders(call.len())
                .iter()
                .map(|order| program(signature, call, order))
                .map(|module| (module.clone(), meaning(edition, &module)))
                .collect();
            let (_, expected) = &meanings[0];
            assert!(expected.iter().all(|said| !said.starts_with("Warning")), "{edition}: {expected:?}");
            let is_rejected = expected.iter().any(|said| said.starts_with("Error"));
            *if is_rejected { &mut rejected } else { &mut accepted } += 1;
            for (module, said) in &meanings {
                assert_eq!(said, expected, "{edition}: {module:?}");
            }
        }
    }
    assert_eq!((accepted, rejected), (2 * 5, 2 * 5));
}
