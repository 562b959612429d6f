//! The verdict in another reading of the text. A stage whose answer cannot differ is not asked again.

use super::{CheckReport, CheckStage, Claim, accepts, continued, well_formed_as};
use crate::book::{Erratum, ErratumSet, Reading};
use crate::findings::{Diagnostic, Severity};
use crate::grammar::visit::{Visitor, walk_var_def};
use crate::grammar::{Binder, Function, GlobalFunc, IrModule, PrimExpr, StructInfo, TensorShape};
use crate::judge::{Cx, with_stack};

/// The errors in another reading of a program with this report.
pub fn errors_in_reading(
    cx: &Cx,
    reading: Reading,
    module: &IrModule,
    claim: Claim,
    report: &CheckReport,
) -> Vec<Diagnostic> {
    let mut other = cx.clone().with_reading(reading);
    let is_reached = report.stage > CheckStage::WellFormed;
    let is_continued_alike = is_reached && differing(cx, &other.reading, report.asked).is_empty();
    let in_criteria = differing(cx, &other.reading, report.asked_by_criteria);
    let is_formed_alike = in_criteria.is_empty() || is_indifferent(cx, &other.reading, module, &in_criteria);
    let found = if is_continued_alike && is_formed_alike {
        report.diagnostics.clone()
    } else {
        let (findings, fragment) = well_formed_as(&mut other, module, claim);
        match is_continued_alike && accepts(&findings) {
            true => report.diagnostics.clone(),
            false => continued(&mut other, module, findings, fragment).diagnostics,
        }
    };
    found.into_iter().filter(|finding| finding.severity == Severity::Error).collect()
}

/// Whether a reading takes an erratum literally in the edition of the context.
fn takes(cx: &Cx, reading: &Reading, erratum: Erratum) -> bool {
    reading.is_literal(erratum) && cx.edition_has(erratum)
}

/// Those of some errata that the reading of the context and another one take differently.
fn differing(cx: &Cx, other: &Reading, errata: ErratumSet) -> Vec<Erratum> {
    errata.iter().filter(|erratum| takes(cx, &cx.reading, *erratum) != takes(cx, other, *erratum)).collect()
}

/// Whether well-formedness, which accepts the module in the context, accepts it in the other reading too, which takes
/// these errata differently. It does if the module is [plain](PlainVisitor) and nothing but this is in question:
/// - A03, whether a variable is its name, since no two variables share a name;
/// - A33, whether the body of a function is inside of the block around it, since no function stands in another;
/// - A08, whether parameters bind from left to right, since any order binds the same;
/// - A09, whether a parameter may introduce a variable, unless by A08 it is in scope before.
fn is_indifferent(cx: &Cx, other: &Reading, module: &IrModule, errata: &[Erratum]) -> bool {
    let forbids_parameters = |reading| takes(cx, reading, Erratum::A09) && !takes(cx, reading, Erratum::A08);
    let known = [Erratum::A03, Erratum::A08, Erratum::A09, Erratum::A33];
    errata.iter().all(|erratum| known.contains(erratum))
        && forbids_parameters(&cx.reading) == forbids_parameters(other)
        && PlainVisitor::is_plain(module)
}

/// Finds what makes the readings differ: a variable with a number, as only those share a name with another; a function
/// in a function; and a parameter with other dimensions than numbers and variables alone.
struct PlainVisitor {
    plain: bool,
}

impl PlainVisitor {
    fn is_plain(module: &IrModule) -> bool {
        let mut visitor = PlainVisitor { plain: true };
        for (_, func) in &module.funcs {
            if let GlobalFunc::Function(function) = func {
                visitor.plain &=
                    function.params.iter().filter_map(|param| param.annotation.as_ref()).all(has_plain_dims);
                function.params.iter().for_each(|param| visitor.visit_var_def(param));
                visitor.visit_expr(&function.body);
            }
        }
        visitor.plain
    }
}

impl Visitor for PlainVisitor {
    fn visit_function(&mut self, _: &Function) {
        self.plain = false;
    }

    fn visit_var_def(&mut self, binder: &Binder) {
        self.plain &= binder.var.id == 0;
        walk_var_def(self, binder);
    }
}

fn has_plain_dims(annotation: &StructInfo) -> bool {
    let plain = |dims: &[PrimExpr]| dims.iter().all(|dim| matches!(dim, PrimExpr::IntImm(_) | PrimExpr::Var(_)));
    match annotation {
        StructInfo::Object => true,
        StructInfo::Tensor(tensor) => match &tensor.shape {
            Some(TensorShape::Dims(dims)) => plain(dims),
            None => true,
            Some(TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_)) => false,
        },
        StructInfo::Shape(shape) => shape.values.as_deref().is_none_or(plain),
        StructInfo::Tuple(fields) => with_stack(|| fields.iter().all(has_plain_dims)),
        StructInfo::Prim(_) | StructInfo::Func(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::Edition;
    use crate::check::check_as;
    use crate::syntax::tvmscript::parse_module;

    /// Signatures and bodies in which the four errata matter, and in which they do not.
    const FUNCTIONS: &[(&str, &str)] = &[
        ("x: R.Tensor((\"n\", 4), \"float32\")", "return x"),
        ("x: R.Tensor((\"n\",)), y: R.Tensor((\"n\", \"m\"))", "return (x, y)"),
        ("x: R.Tensor((\"n + 1\",)), y: R.Tensor((\"n\",))", "return (x, y)"),
        ("x: R.Tensor((\"n\",)), y: R.Tensor((\"n + 1\",))", "return (x, y)"),
        ("x: R.Tuple(R.Tensor((\"n * 2\",)), R.Tensor((\"n\",)))", "return x"),
        ("s: R.Shape([\"n\", \"m\"]), x: R.Tensor((\"m\", \"n\"))", "return x"),
        ("x: R.Tensor((\"n\",)), f: R.Callable((R.Tensor((\"m\",)),), R.Tensor((\"m\",)))", "return f"),
        ("s: R.Prim(value=\"n\"), x: R.Tensor((\"n\",))", "return x"),
        ("x: R.Tensor((3,))", "x = R.add(x, x)\n        x = R.add(x, x)\n        return x"),
        ("x: R.Tensor((3,)), y: R.Tensor((\"n\",))", "z = R.add(x, x)\n        return z"),
        ("x: R.Tensor((3,))", "y = R.match_cast(x, R.Tensor((\"k\",)))\n        return y"),
        (
            "x: R.Tensor((3,)), c: R.Tensor((), \"bool\")",
            "if c:\n            y = R.add(x, x)\n        else:\n            y = x\n        return y",
        ),
        (
            "x: R.Tensor((3,)), c: R.Tensor((), \"bool\")",
            "with R.dataflow():\n            @R.function\n            def f(d: R.Tensor((), \"bool\")):\n                \
             if d:\n                    z = R.const(1)\n                else:\n                    z = R.const(2)\n\
             \x20               return z\n            R.output(f)\n        return f(c)",
        ),
    ];

    fn programs() -> Vec<String> {
        let function = |name: &str, (params, body): &(&str, &str)| {
            format!("    @R.function\n    def {name}({params}):\n        {body}\n")
        };
        let module = |functions: String| format!("@I.ir_module\nclass Module:\n{functions}");
        let alone = FUNCTIONS.iter().map(|f| module(function("main", f)));
        let pairs = FUNCTIONS.iter().flat_map(|f| FUNCTIONS.iter().map(move |g| (f, g)));
        alone.chain(pairs.map(|(f, g)| module(format!("{}\n{}", function("f", f), function("g", g))))).collect()
    }

    fn errors(report: CheckReport) -> Vec<Diagnostic> {
        report.diagnostics.into_iter().filter(|finding| finding.severity == Severity::Error).collect()
    }

    /// The errors in each reading, from a report in each other one, are those of a check in it.
    #[test]
    fn the_four_errata_do_not_matter_where_well_formedness_is_not_asked_again() {
        let errata = [Erratum::A03, Erratum::A08, Erratum::A09, Erratum::A33];
        let chosen = |bits: usize| errata.iter().enumerate().filter(move |(i, _)| bits >> i & 1 == 1);
        let mut readings: Vec<Reading> =
            (0..16).map(|bits| Reading::literal_only(&chosen(bits).map(|(_, e)| *e).collect::<Vec<_>>())).collect();
        readings.push(Reading::literal());
        let (mut alike, mut rejected) = (0, 0);
        for text in programs() {
            let module = parse_module(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
            for edition in Edition::ALL {
                let cx = |reading: &Reading| Cx::new().with_edition(edition).with_reading(reading.clone());
                let check = |reading: &Reading| check_as(&mut cx(reading), &module, Claim::Fragment);
                let reports: Vec<CheckReport> = readings.iter().map(check).collect();
                for (reading, report) in readings.iter().zip(&reports) {
                    for (other, expected) in readings.iter().zip(&reports) {
                        let found = errors_in_reading(&cx(reading), other.clone(), &module, Claim::Fragment, report);
                        assert_eq!(found, errors(expected.clone()), "{edition}, {reading:?} to {other:?}: {text}");
                        let queried = differing(&cx(reading), other, report.asked_by_criteria);
                        let counts = report.stage > CheckStage::WellFormed && !queried.is_empty();
                        alike += usize::from(counts && is_indifferent(&cx(reading), other, &module, &queried));
                        rejected += usize::from(report.accepts() && !found.is_empty());
                    }
                }
            }
        }
        assert!(alike > 1_000 && rejected > 1_000, "{alike} alike, {rejected} rejected in the other reading");
    }

    /// Where the later stages are not run again, they would have found the same.
    #[test]
    fn the_errors_in_another_reading_are_those_of_a_check_in_it() {
        let corpus = glob::glob(concat!(env!("CARGO_MANIFEST_DIR"), "/conformance/corpus/**/*.py")).unwrap();
        let mut relied = 0;
        for path in corpus {
            let text = std::fs::read_to_string(path.unwrap()).unwrap();
            let Ok(module) = parse_module(&text) else { continue };
            for edition in Edition::ALL {
                let cx = || Cx::new().with_edition(edition);
                let report = check_as(&mut cx(), &module, Claim::Fragment);
                let literal = check_as(&mut cx().with_reading(Reading::literal()), &module, Claim::Fragment);
                let found = errors_in_reading(&cx(), Reading::literal(), &module, Claim::Fragment, &report);
                assert_eq!(found, errors(literal), "{edition}: {text}");
                let matters = |erratum: Erratum| Reading::literal().is_literal(erratum) && erratum.stands_in(edition);
                relied += usize::from(report.accepts() && !report.asked.iter().any(matters));
            }
        }
        assert!(relied > 20, "{relied} reports are relied on");
    }
}
