//! The programs P1 to P7, which show the changes of edition 2024-04: the verdict of each edition in each reading and,
//! if the literal verdict differs from the corrected one, the errata that decide.
//!
//! The table is derived from the texts. 2023-02 has no information of a `PrimFunc`. 2023-12 calls every one impure.
//! 2024-04 derives whether it is. Boxed Booleans are conditions in 2024-04 (and by A73 in 2023-02). Compared sizes are
//! conditions in 2024-04 (and in 2023-02, by A73 and A09, as boxed Booleans).

use relax_spec::book::{Edition, Erratum, Reading};
use relax_spec::judge::Cx;
use relax_spec::oracle;
use relax_spec::question::{Answer, Ask, ProgramInput, Verdict};

const NOOP: &str = "    @T.prim_func(private=True)
    def noop(n: T.int64):
        T.evaluate(0)

";

const STORE: &str = "    @T.prim_func(private=True)
    def noop(A: T.Buffer((4,), \"float32\")):
        A[0] = T.float32(1)

";

/// The program of a row.
fn program(name: &str) -> String {
    let applied = |func: &str, ty: &str| {
        format!(
            "{func}    @R.function(private=True)\n    def ap(f: R.Callable(({ty},), R.Tuple(), purity=True), k: {ty}):\n        r = f(k)\n        return k\n\n    \
             @R.function\n    def main(k: {ty}):\n        return M.ap(M.noop, k)\n"
        )
    };
    let chosen = |params: &str, before: &str, condition: &str| {
        format!(
            "    @R.function\n    def main({params}):\n{before}        if {condition}:\n            z = R.add(x, x)\n        else:\n            z = x\n        return z\n"
        )
    };
    let handle = |pure: &str| {
        format!(
            "    @T.prim_func(private=True)\n    def h(p: T.handle):\n        T.evaluate(0)\n\n    @R.function{pure}\n    def main(x: R.Tensor((5,), \"float32\")):\n        \
             r = M.h(x)\n        return x\n"
        )
    };
    let x = "x: R.Tensor((2,), \"float32\")";
    let body = match name {
        "P1" => format!(
            "{NOOP}    @R.function\n    def main(k: R.Prim(\"int64\")):\n        with R.dataflow():\n            r = M.noop(k)\n            R.output(r)\n        return k\n"
        ),
        "P2" => applied(NOOP, "R.Prim(\"int64\")"),
        "P2 that stores" => applied(STORE, "R.Tensor((4,), \"float32\")"),
        "P3" => chosen(&format!("c: R.Prim(\"bool\"), {x}"), "", "c"),
        "P4" => chosen("x: R.Tensor((\"n\",), \"float32\")", "        n = T.int64()\n", "n < 3"),
        "P5" => chosen(&format!("c: R.Tensor((), \"float32\"), {x}"), "", "c"),
        "P6" => format!(
            "    @R.function\n    def main({x}):\n        v = R.tuple()\n        w = (v, x)\n        return w\n"
        ),
        "P7" => handle(""),
        "P7 in an impure function" => handle("(pure=False)"),
        other => panic!("there is no program {other}"),
    };
    format!("@I.ir_module\nclass M:\n{body}")
}

/// A cell: the program, the edition, whether it is accepted in the corrected and in the literal reading, and the errata
/// behind a difference.
type Cell = (&'static str, Edition, bool, bool, &'static [Erratum]);

const fn cell(
    name: &'static str,
    edition: Edition,
    corrected: bool,
    literal: bool,
    errata: &'static [Erratum],
) -> Cell {
    (name, edition, corrected, literal, errata)
}

use Edition::{E2023_02 as FIRST, E2023_12 as SECOND, E2024_04 as LAST};

/// The verdicts of `check`.
const CHECKED: [Cell; 27] = [
    cell("P1", FIRST, false, false, &[]),
    cell("P1", SECOND, false, false, &[]),
    // The remark that every call should be a call_tir.
    cell("P1", LAST, true, false, &[Erratum::M10]),
    cell("P2", FIRST, false, false, &[]),
    // The direction in which an argument, or a parameter of a function, is compared.
    cell("P2", SECOND, false, true, &[Erratum::A28, Erratum::A30]),
    cell("P2", LAST, true, true, &[]),
    cell("P2 that stores", FIRST, false, false, &[]),
    cell("P2 that stores", SECOND, false, true, &[Erratum::A28, Erratum::A30]),
    cell("P2 that stores", LAST, false, true, &[Erratum::A28, Erratum::A30]),
    cell("P3", FIRST, true, false, &[Erratum::A73]),
    // A boxed Boolean is a condition (N67). Literally, no rule checks for one.
    cell("P3", SECOND, true, true, &[]),
    cell("P3", LAST, true, true, &[]),
    cell("P4", FIRST, true, false, &[Erratum::A09, Erratum::A73]),
    cell("P4", SECOND, true, false, &[Erratum::A09, Erratum::N03, Erratum::N67]),
    // Literally, no expression over sizes is Boolean.
    cell("P4", LAST, true, false, &[Erratum::A09, Erratum::M03]),
    cell("P5", FIRST, false, false, &[]),
    cell("P5", SECOND, false, true, &[Erratum::N40]),
    cell("P5", LAST, false, false, &[]),
    cell("P6", FIRST, true, true, &[]),
    cell("P6", SECOND, true, true, &[]),
    cell("P6", LAST, true, true, &[]),
    cell("P7", FIRST, false, false, &[]),
    // The call is impure, whatever the handle accepts.
    cell("P7", SECOND, false, false, &[]),
    cell("P7", LAST, true, false, &[Erratum::A28]),
    cell("P7 in an impure function", FIRST, false, false, &[]),
    // The handle is a boxed scalar. Also, an object is not a tensor if the parameter is compared with the argument.
    cell("P7 in an impure function", SECOND, true, false, &[Erratum::A28, Erratum::N62]),
    cell("P7 in an impure function", LAST, true, false, &[Erratum::A28]),
];

/// Whether P6 is in normal form, which is its subject.
const NORMAL: [Cell; 3] =
    [cell("P6", FIRST, true, true, &[]), cell("P6", SECOND, true, true, &[]), cell("P6", LAST, false, false, &[])];

fn accepts(ask: &Ask, edition: Edition, reading: Reading) -> bool {
    match oracle::answer(&mut Cx::new().with_edition(edition).with_reading(reading), ask) {
        Ok(Answer::Verdict(Verdict::Accepted)) => true,
        Ok(Answer::Verdict(Verdict::Rejected(_))) => false,
        other => panic!("no verdict: {other:?}"),
    }
}

/// The reading with everything literal except these.
fn literally_but_for(errata: &[Erratum]) -> Reading {
    let others: Vec<Erratum> = Erratum::ALL.iter().copied().filter(|erratum| !errata.contains(erratum)).collect();
    Reading::literal_only(&others)
}

fn hold(cells: &[Cell], ask: impl Fn(ProgramInput) -> Ask) {
    for (name, edition, corrected, literal, errata) in cells {
        let ask = ask(ProgramInput::Script(program(name)));
        let given = [Reading::corrected(), Reading::literal()].map(|reading| accepts(&ask, *edition, reading));
        assert_eq!(given, [*corrected, *literal], "{name} in {edition}");
        assert_eq!(corrected == literal, errata.is_empty(), "{name} in {edition}: which errata decide?");
        for erratum in *errata {
            let by_it = accepts(&ask, *edition, Reading::literal_only(&[*erratum]));
            assert_eq!(by_it, *literal, "{name} in {edition}: {erratum} decides");
        }
        let without = accepts(&ask, *edition, literally_but_for(errata));
        assert_eq!(without, *corrected, "{name} in {edition}: nothing else decides");
    }
}

#[test]
fn the_programs_of_the_delta_have_the_verdicts_of_its_table_in_each_edition_and_reading() {
    hold(&CHECKED, Ask::Check);
    hold(&NORMAL, Ask::NormalForm);
}

/// In the last edition the use of the unit becomes a unit. In the others it stays, in any reading.
#[test]
fn the_normal_form_of_the_sixth_program() {
    let ask = Ask::Normalize(ProgramInput::Script(program("P6")));
    for edition in Edition::ALL {
        for reading in [Reading::corrected(), Reading::literal()] {
            let answer = oracle::answer(&mut Cx::new().with_edition(edition).with_reading(reading), &ask).unwrap();
            let Answer::Program(module) = answer else { panic!("no program: {answer}") };
            let text = relax_spec::syntax::tvmscript::print_module(&module, Default::default());
            assert_eq!(text.contains("w = (R.tuple(), x)"), edition == LAST, "{edition}: {text}");
            assert_eq!(text.contains("w = (v, x)"), edition != LAST, "{edition}: {text}");
            assert!(text.contains("v = R.tuple()"), "{edition}: {text}");
        }
    }
}
