//! The main entry points: one function for each common question, in edition 2023-02 and the corrected reading. For
//! another reading, a derivation tree or the rules that were used, call the chapter's module with your own [`Cx`].

use std::path::Path;

use crate::book::{Edition, Reading};
use crate::check::{CheckReport, check_program, in_normal_form};
use crate::derivation::{DeriveReport, derive_module};
use crate::grammar::IrModule;
use crate::judge::Cx;
use crate::normal_form::{Normalized, normalize_reporting};
use crate::oracle::{self, NoAnswer};
use crate::question::{Answer, Ask, RunAnswer};
use crate::reading;
use crate::refine::{self, RefineError, Refinement};
use crate::syntax::load::{ExternalForm, LoadError};
use crate::syntax::tvmscript::Which;
use crate::value::ValueSpec;

/// Reads a program in TVMScript, RON or JSON. The first characters determine the format.
///
/// # Errors
///
/// If the text is none of these. The error has the position and, where the grammar names one, the rule that is broken.
///
/// ```
/// let error = relax_spec::parse("@R.function\ndef f(x: R.Tensor(").unwrap_err();
/// assert!(error.to_string().starts_with("2:"), "{error}");
/// ```
pub fn parse(text: &str) -> Result<IrModule, LoadError> {
    let form = ExternalForm::of(Path::new("-"), text);
    reading::parse_modules(form, text.into(), Which::Only)
        .and_then(|file| file.modules.into_iter().next().map(|(_, module)| module).ok_or(LoadError::Empty))
}

/// Checks whether the program is well-formed and its types and structural information agree.
///
/// ```
/// let module = relax_spec::parse(
///     "@I.ir_module
/// class Module:
///     @R.function
///     def main(x: R.Tensor((2,), 'float32')) -> R.Tensor((3,), 'float32'):
///         return x
/// ")?;
/// let report = relax_spec::check(&module);
/// assert!(!report.accepts());
/// assert_eq!(report.diagnostics[0].rule.id(), "SI.DERIVE.FUNC.RET.ERR");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check(module: &IrModule) -> CheckReport {
    check_program(&mut Cx::new(), module)
}

/// Returns an equivalent program in normal form, with findings for the parts that have none.
///
/// ```
/// let module = relax_spec::parse(
///     "@I.ir_module
/// class Module:
///     @R.function
///     def main(x: R.Tensor((2,), 'float32')) -> R.Tensor((2,), 'float32'):
///         return R.add(R.add(x, x), x)
/// ")?;
/// let normalized = relax_spec::normalize(&module);
/// assert!(normalized.findings.is_empty());
/// assert_ne!(normalized.module, module);
/// assert_eq!(relax_spec::normalize(&normalized.module).module, normalized.module);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn normalize(module: &IrModule) -> Normalized {
    normalize_reporting(&mut Cx::new(), module)
}

/// Derives the structural information of every function and variable of a program.
///
/// ```
/// let module = relax_spec::parse(
///     "@I.ir_module
/// class Module:
///     @R.function
///     def main(x: R.Tensor(('n',), 'float32')):
///         return R.concat((x, x))
/// ")?;
/// let report = relax_spec::derive(&module);
/// let info = report.info_of_function("main").map(ToString::to_string);
/// assert_eq!(info.as_deref(), Some("Func((Tensor((n), float32)) -> Tensor((n + n), float32))"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn derive(module: &IrModule) -> DeriveReport {
    let mut cx = Cx::new();
    let normalized = in_normal_form(&mut cx, module);
    let mut report = derive_module(&mut cx, &normalized.module);
    report.diagnostics.extend(normalized.findings);
    report
}

/// Runs a function of a program on arguments. The answer is the value, or the rule that makes the run an error, with
/// the visible effects.
///
/// The program runs without a check. [`check`] tells beforehand whether the text gives it a meaning.
///
/// # Errors
///
/// If an argument cannot be a value of the language.
///
/// ```
/// use relax_spec::{RunAnswer, ValueSpec};
///
/// let module = relax_spec::parse(
///     "@I.ir_module
/// class Module:
///     @R.function
///     def main(s: R.Shape(('n',))) -> R.Shape(ndim=2):
///         n = T.int64()
///         return R.shape([n, n + 1])
/// ")?;
/// let answer = relax_spec::run(&module, "main", &[ValueSpec::Shape(vec![4])])?;
/// assert_eq!(answer, RunAnswer::Returns(ValueSpec::Shape(vec![4, 5]), vec![]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run(module: &IrModule, entry: &str, args: &[ValueSpec]) -> Result<RunAnswer, NoAnswer> {
    oracle::answer_evaluate(&mut Cx::new(), module, entry, args)
}

/// Runs a function of a program on several workers, each with its own arguments. They meet in collectives
/// (`OPS.ccl.allreduce.value` and similar rules). Returns the answers in the order of the workers.
///
/// # Errors
///
/// As [`run`], for each worker.
///
/// ```
/// use relax_spec::grammar::{DataType, TensorData};
/// use relax_spec::{RunAnswer, ValueSpec};
///
/// let module = relax_spec::parse(
///     "@I.ir_module
/// class Module:
///     @R.function
///     def main(s: R.Tensor((1,), 'int64')) -> R.Tensor((1,), 'int64'):
///         return R.ccl.allreduce(s, op_type='sum')
/// ")?;
/// let of = |number: f64| TensorData::from_values(DataType::INT64, &[1], &[number]).map(ValueSpec::Tensor);
/// let sum = RunAnswer::Returns(of(7.0)?, vec![]);
/// for answer in relax_spec::run_together(&module, "main", &[vec![of(3.0)?], vec![of(4.0)?]]) {
///     assert_eq!(answer?, sum);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run_together(module: &IrModule, entry: &str, args: &[Vec<ValueSpec>]) -> Vec<Result<RunAnswer, NoAnswer>> {
    oracle::answer_evaluate_together(Edition::default(), &Reading::corrected(), module, entry, args)
}

/// Whether the second program is an allowed optimization of the first, tested on `runs` generated argument lists of the
/// entry function.
///
/// # Errors
///
/// If no arguments can be generated for the function's signature.
///
/// ```
/// use relax_spec::refine::RefinementVerdict;
///
/// let program = |operator: &str| {
///     relax_spec::parse(&format!(
///         "@I.ir_module
/// class Module:
///     @R.function
///     def main(x: R.Tensor((3,), 'float32'), y: R.Tensor((3,), 'float32')):
///         return {operator}
/// "
///     ))
/// };
/// let (before, same) = (program("R.add(x, y)")?, program("R.add(y, x)")?);
/// assert_eq!(relax_spec::refine(&before, &same, "main", 20)?.verdict, RefinementVerdict::Allowed);
/// let other = relax_spec::refine(&before, &program("R.subtract(x, y)")?, "main", 20)?;
/// assert!(matches!(other.verdict, RefinementVerdict::NotAllowed { .. }) && other.input.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn refine(before: &IrModule, after: &IrModule, entry: &str, runs: usize) -> Result<Refinement, RefineError> {
    refine::refine(
        &mut Cx::new(),
        before,
        after,
        entry,
        &[],
        &refine::Settings { unknown: Some(Default::default()), ..refine::Settings::runs(runs) },
    )
}

/// Answers a question of the conformance suite: subtyping, bounds, compatibility, unification, and so on.
///
/// # Errors
///
/// If the program in the question cannot be read.
///
/// ```
/// use relax_spec::grammar::{DataType, Type};
/// use relax_spec::{Answer, Ask};
///
/// let (matrix, tensor) = (Type::tensor(2, DataType::FLOAT32), Type::tensor(-1, DataType::FLOAT32));
/// assert_eq!(relax_spec::judge(&Ask::Subtype(matrix, tensor))?, Answer::Bool(true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn judge(question: &Ask) -> Result<Answer, NoAnswer> {
    oracle::answer(&mut Cx::new(), question)
}
