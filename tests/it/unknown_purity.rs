//! The proposal on unknown purity: laws of its three values, inference on generated modules, and that it is off by
//! default.

use std::fmt::Write as _;

use ask::conformance;
use campaign::generate::Tape;
use relax_spec::book::{Edition, Proposal, Rule, RuleSet};
use relax_spec::derivation::derive_module;
use relax_spec::grammar::StructInfo;
use relax_spec::grammar::notation::parse_struct_info;
use relax_spec::judge::{Compatibility, Cx};
use relax_spec::struct_info::{check_compatibility, is_more_specific, is_possibly_more_specific, unify_struct_info};
use relax_spec::suite::coverage;
use relax_spec::syntax::tvmscript::parse_module;

fn cx() -> Cx {
    Cx::new().with_proposal(Proposal::UnknownPurity)
}

/// A closure of each purity.
fn closures() -> [StructInfo; 3] {
    ["pure", "impure", "unknown"].map(|purity| {
        let said = if purity == "unknown" { String::new() } else { format!(", {purity}") };
        parse_struct_info(&format!("Func((Object) -> Object{said})")).unwrap()
    })
}

#[test]
fn the_order_of_the_three_values_is_one_and_joins_are_bounds() {
    let definite = |a: &StructInfo, b: &StructInfo| is_more_specific(&mut cx(), a, b);
    let possible = |a: &StructInfo, b: &StructInfo| is_possibly_more_specific(&mut cx(), a, b);
    for a in &closures() {
        assert!(definite(a, a));
        for b in &closures() {
            let join = unify_struct_info(&mut cx(), a, b);
            assert!(definite(a, &join) && definite(b, &join), "{a} and {b} have the join {join}");
            assert_eq!(join, unify_struct_info(&mut cx(), b, a));
            assert!(!definite(a, b) || possible(a, b));
            let expected = match (definite(a, b), possible(a, b)) {
                (true, _) => Compatibility::Compatible,
                (false, true) => Compatibility::Possibly,
                (false, false) => Compatibility::Incompatible,
            };
            assert_eq!(check_compatibility(&mut cx(), a, b), expected, "{a} for {b}");
            for c in &closures() {
                assert!(!(definite(a, b) && definite(b, c)) || definite(a, c), "{a}, {b}, {c}");
            }
        }
    }
}

/// Functions that call each other at random. Some of them print.
struct Drawn {
    callees: Vec<Vec<usize>>,
    prints: Vec<bool>,
}

impl Drawn {
    fn new(seed: u64) -> Drawn {
        let mut tape = Tape::from_seed(seed, 256);
        let count = 2 + tape.choose(5);
        let callees = (0..count).map(|_| (0..tape.choose(3)).map(|_| tape.choose(count)).collect()).collect();
        Drawn { callees, prints: (0..count).map(|_| tape.one_in(6)).collect() }
    }

    fn text(&self) -> String {
        let mut text = "@I.ir_module\nclass Module:\n".to_string();
        for (i, callees) in self.callees.iter().enumerate() {
            let _ = writeln!(text, "    @R.function(pure=None)\n    def f{i}(x: R.Object) -> R.Object:");
            if self.prints[i] {
                let _ = writeln!(text, "        p = R.print(x, format=\"{{}}\")");
            }
            for (n, callee) in callees.iter().enumerate() {
                let _ = writeln!(text, "        y{n} = Module.f{callee}(x)");
            }
            let _ = writeln!(text, "        return x\n");
        }
        text
    }

    /// Whether a function, or one that it calls directly or not, prints.
    fn reaches_print(&self, function: usize) -> bool {
        let (mut seen, mut open) = (vec![false; self.callees.len()], vec![function]);
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                open.extend(&self.callees[at]);
            }
        }
        seen.iter().zip(&self.prints).any(|(seen, prints)| *seen && *prints)
    }
}

/// PURITY3.GLOBAL.ONLY: if functions call only global functions, no purity stays unknown. A function is impure exactly
/// if it reaches an impure one.
#[test]
fn the_purity_of_generated_modules_is_what_their_calls_reach() {
    let (mut impure, mut pure) = (0, 0);
    for seed in 0..400 {
        let drawn = Drawn::new(seed);
        let text = drawn.text();
        let module = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let report = derive_module(&mut cx(), &module);
        assert!(report.diagnostics.is_empty(), "{:?}\n{text}", report.diagnostics);
        for i in 0..drawn.callees.len() {
            let info = report.info_of_function(&format!("f{i}")).and_then(StructInfo::as_func).unwrap();
            let expected = !drawn.reaches_print(i);
            assert_eq!(info.pure, Some(expected), "f{i} in\n{text}");
            if expected { pure += 1 } else { impure += 1 }
        }
    }
    assert!(impure > 200 && pure > 200, "{impure} impure, {pure} pure");
}

/// A result that grows with each derivation is abandoned and reported.
#[test]
fn results_that_come_to_no_end_are_told() {
    let text = "@I.ir_module\nclass Module:\n    @R.function(pure=None)\n    def f(x: R.Object):\n        y = Module.f(x)\n        z = (y, y)\n        return z\n";
    let report = derive_module(&mut cx(), &parse_module(text).unwrap());
    assert!(!report.accepts(), "{:?}", report.functions);
}

#[test]
fn without_the_proposal_none_of_its_rules_is_used() {
    let rules: RuleSet = Rule::ALL.iter().copied().filter(|rule| rule.info().proposal.is_some()).collect();
    assert_eq!(rules.iter().count(), 23);
    let suite = conformance::suite().unwrap();
    let (on, off): (Vec<_>, Vec<_>) = suite.iter().partition(|case| case.proposal.is_some());
    assert!(on.len() >= 60, "{}", on.len());
    for case in off.iter().filter(|case| case.editions.contains(&Edition::E2024_04)) {
        let recorded = coverage::execute(case, Edition::E2024_04, RuleSet::new()).recorded;
        assert!(!recorded.iter().any(|rule| rules.contains(rule)), "{}", case.id);
    }
}
