//! No message shows the internal numbers of variables.

use campaign::generate::Tape;
use campaign::programs::{ProgramSource, Restriction};
use relax_spec::book::{Edition, Reading};
use relax_spec::check::{check_program, further_findings};
use relax_spec::grammar::{BindingBlock, Expr, Function, GlobalFunc, IrModule, SeqExpr};
use relax_spec::judge::Ending;
use relax_spec::syntax::tvmscript::parse_module;

use super::programs::Program;
use super::spelling::Manner;
use super::{cx, readings_of, scale};

/// Whether a text shows the number of a variable: `n#1`.
fn shows_a_number(text: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let numbered = |(at, _): (usize, &str)| {
        text[..at].ends_with(is_name) && text[at + 1..].starts_with(|c: char| c.is_ascii_digit())
    };
    text.match_indices('#').any(numbered)
}

/// All messages about a program to its author.
fn messages(edition: Edition, reading: &Reading, module: &IrModule) -> Vec<String> {
    let cx = &mut cx(edition, reading);
    let report = check_program(cx, module);
    let mut findings = further_findings(cx, &report);
    findings.extend(report.diagnostics);
    findings.into_iter().flat_map(|finding| [Some(finding.message), finding.hint]).flatten().collect()
}

/// The function without one of its bindings, which others may use; `None` if it has no such binding.
fn without_binding(f: &Function, mut at: usize) -> Option<Function> {
    let Expr::SeqExpr(seq) = &f.body else { return None };
    let mut blocks: Vec<BindingBlock> = seq.blocks.clone();
    let block = blocks.iter_mut().find(|block| {
        let here = at < block.bindings.len();
        at -= if here { 0 } else { block.bindings.len() };
        here
    })?;
    block.bindings.remove(at);
    Some(Function { body: Expr::SeqExpr(SeqExpr { blocks, ..(**seq).clone() }.into()), ..f.clone() })
}

/// A program with variants that lack one binding each.
fn with_mistakes(module: &IrModule) -> Vec<IrModule> {
    let mut all = vec![module.clone()];
    for (i, (_, func)) in module.funcs.iter().enumerate() {
        let GlobalFunc::Function(f) = func else { continue };
        for less in (0..4).filter_map(|at| without_binding(f, at)) {
            let mut other = module.clone();
            other.funcs[i].1 = GlobalFunc::Function(less.into());
            all.push(other);
        }
    }
    all
}

/// Names that are bound again, and mistakes in all stages.
const AGAIN: &str = r#"
@I.ir_module
class Module:
    @R.function
    def g(x: R.Tensor(("n",), "float32"), f: R.Callable((R.Tensor(("m",), "float32"),), R.Tensor(("m",), "float32"))) -> R.Tensor(("n",), "float32"):
        return x

    @R.function
    def main(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((3,), "float32"):
        m = T.int64()
        x = R.add(x, x)
        x: R.Tensor((4,), "float32") = R.match_cast(x, R.Tensor((m,), "float32"))
        x: R.Tensor((5,), "float32") = x
        @R.function
        def c(x: R.Tensor(("k", 2), "float32")) -> R.Tensor(("k", 2), "float32"):
            return x
        y = Module.g(x, c)
        y = c(y)
        y = y[0]
        return y
"#;

#[test]
fn messages_call_variables_by_their_names() {
    for edition in Edition::ALL {
        let readings = readings_of(edition, &["derivation", "type_checking", "well_formed"], &[]);
        let mut said = 0;
        let mut asked = |module: &IrModule| {
            for (name, reading) in &readings {
                for message in messages(edition, reading, module) {
                    said += 1;
                    assert!(!shows_a_number(&message), "{edition}, literally {name}: {message}");
                }
            }
        };
        asked(&parse_module(AGAIN).unwrap());
        let source = ProgramSource::of(&[], Restriction::of_laws(edition));
        for seed in 0..scale("INVARIANCE_MESSAGES", 12) {
            let module = source.of_tape(Tape::from_seed(seed, 300)).module;
            let spelt = [Manner::OneHint, Manner::Renumbered].map(|manner| Program::module(manner, &module));
            spelt.iter().flat_map(with_mistakes).for_each(|module| asked(&module));
        }
        assert!(said > if edition == Edition::E2023_02 { 500 } else { 200 }, "{edition}: {said}");
    }
}

#[test]
fn errors_of_a_run_call_variables_by_their_names() {
    let text = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")) -> R.Object:
        return x
"#;
    let module = Program::module(Manner::OneHint, &parse_module(text).unwrap());
    let options = relax_spec::eval::EvalOptions::default();
    let vector = |size: u64| {
        let data = relax_spec::grammar::TensorData::from_values(
            relax_spec::grammar::DataType::FLOAT32,
            &[size],
            &vec![0.0; size as usize],
        );
        relax_spec::value::ValueSpec::Tensor(data.unwrap())
    };
    let args = relax_spec::value::from_specs(&[vector(2), vector(3)], &options.registry).unwrap();
    let run =
        relax_spec::eval::evaluate(&mut cx(Edition::default(), &Reading::corrected()), &module, "main", args, &options);
    let Ending::Error(error) = run.outcome else { panic!("{:?}", run.outcome) };
    assert!(!shows_a_number(&error.to_string()), "{error}");
}

#[test]
fn derivations_call_variables_by_their_names() {
    let pair = |ask: [&str; 3]| {
        let [judgement, s1, s2] = ask;
        crate::cli::run(&["judge", judgement, s1, s2, "--explain"]).1
    };
    let (s1, s2) = (
        "Func((Tensor((n), float32), Tensor(ndim=1, float32)) -> Tensor((n + 1), float32))",
        "Func((Tensor(ndim=1, float32), Tensor((n), float32)) -> Tensor((n), float32))",
    );
    for judgement in ["compat", "order", "unify", "derive"] {
        let text = pair([judgement, s1, s2]);
        assert!(!text.is_empty() && !shows_a_number(&text), "{text}");
    }
    // A question with numbers gets an answer with numbers.
    assert!(shows_a_number(&pair(["unify", "Shape((n#1))", "Shape((n#1))"])));
}
