//! Whether a program is a normal form of another one. Any method of normalization is allowed (`NF.METHOD-FREE`). So the
//! program is not compared with the normal form in the case. Instead, it must meet the criteria and behave like the
//! original.

use crate::book::{Erratum, Rule};
use crate::check::in_normal_form;
use crate::grammar::{AttrValue, GlobalFunc, IrModule, Name};
use crate::judge::Cx;
use crate::oracle;
use crate::question::{Answer, Ask, ProgramInput, Verdict};
use crate::refine::{self, RefineError, Refinement, Settings, refine};
use crate::syntax::tvmscript::parse_module;

/// The number of generated inputs for the comparison of each entry point.
const RUNS: usize = 8;

/// The reason why a program is not a normal form of the original, if there is one.
pub fn objection(cx: &mut Cx, original: &ProgramInput, given: &IrModule) -> Option<String> {
    objection_within(cx, original, given, &Settings::runs(RUNS))
}

/// Like [`objection`], with other inputs.
pub fn objection_within(cx: &mut Cx, original: &ProgramInput, given: &IrModule, settings: &Settings) -> Option<String> {
    not_normal(cx, given).or_else(|| not_preserved(cx, original, given, settings))
}

/// A violated criterion of normal form, if any.
fn not_normal(cx: &mut Cx, given: &IrModule) -> Option<String> {
    let ask = Ask::NormalForm(ProgramInput::Module(given.clone()));
    match oracle::answer(cx, &ask) {
        Ok(Answer::Verdict(Verdict::Accepted)) => None,
        Ok(verdict) => Some(format!("the program given is not in normal form: {verdict}")),
        Err(error) => Some(format!("the program given cannot be judged: {error}")),
    }
}

/// NF.PRESERVES: the values and the order of effects are the same from every entry point. Returns a difference, if any.
fn not_preserved(cx: &mut Cx, original: &ProgramInput, given: &IrModule, settings: &Settings) -> Option<String> {
    let read;
    let original = match original {
        ProgramInput::Module(module) => module,
        ProgramInput::Script(text) => {
            read = parse_module(text).ok()?;
            &read
        }
    };
    entry_points(original).into_iter().find_map(|entry| differs(cx, original, given, entry, settings))
}

/// The names of the functions that can be called from outside.
fn entry_points(module: &IrModule) -> Vec<&Name> {
    module.funcs.iter().filter_map(|(_, func)| entry_point(func)).collect()
}

fn entry_point(func: &GlobalFunc) -> Option<&Name> {
    match func {
        GlobalFunc::Function(function) => match function.attrs.get("global_symbol") {
            Some(AttrValue::Str(symbol)) => Some(symbol),
            Some(_) | None => None,
        },
        GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => None,
    }
}

/// A difference in behaviour in either direction, if any. Normalization has none of the freedoms of an optimizer, which
/// refinement in one direction would grant. Nothing is compared if no arguments can be made, or if the run is
/// unspecified.
///
/// Errata: A75, literally the result fails as the original does. Otherwise it may also fail like the original with no
/// leaf bound early.
fn differs(cx: &mut Cx, original: &IrModule, given: &IrModule, entry: &str, settings: &Settings) -> Option<String> {
    let (rule, why) = differs_from(cx, original, given, entry, settings)?;
    if rule == Some(rule!("OPT.ERROR-IDENTITY")) && !cx.literal(Erratum::A75) {
        let late = in_normal_form(&mut cx.clone(), original).module;
        return differs_from(cx, &late, given, entry, settings).map(|_| why);
    }
    Some(why)
}

fn differs_from(
    cx: &mut Cx,
    original: &IrModule,
    given: &IrModule,
    entry: &str,
    settings: &Settings,
) -> Option<(Option<Rule>, String)> {
    let forth = refine(cx, original, given, entry, &[], settings);
    forbidden(entry, forth).or_else(|| {
        let back = refine(cx, given, original, entry, &[], settings);
        forbidden(entry, back).map(|(rule, why)| (rule, format!("the other way round, {why}")))
    })
}

/// The violated clause of refinement, if there is one, and the error.
fn forbidden(entry: &str, refined: Result<Refinement, RefineError>) -> Option<(Option<Rule>, String)> {
    if let Ok(Refinement { verdict: refine::RefinementVerdict::NotAllowed { rule, message }, .. }) = refined {
        Some((
            Some(rule),
            format!("the program given is not the original (NF.PRESERVES): from {entry}, {message} ({rule})"),
        ))
    } else if let Err(RefineError::Entry(name)) = refined {
        Some((None, format!("the program given has no entry point {name}")))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(body: &str) -> String {
        let log = |x: &str| format!("R.call_packed(\"relax_spec.log\", {x}, sinfo_args=(R.Object,))");
        let head = "@R.function\ndef main(x: R.Tensor((), \"float32\"), y: R.Tensor((), \"float32\")) -> R.Object:\n";
        let lines = body.lines().map(|line| format!("    {line}\n")).collect::<String>();
        format!("{head}{lines}").replace("LOG_X", &log("x")).replace("LOG_Y", &log("y"))
    }

    fn objection_to(original: &str, given: &str) -> Option<String> {
        let given = parse_module(&program(given)).unwrap();
        objection(&mut Cx::new(), &ProgramInput::Script(program(original)), &given)
    }

    const ORIGINAL: &str = "u = (LOG_X, R.exp(LOG_Y))\nreturn x";

    #[test]
    fn any_method_of_normalizing_is_allowed() {
        assert_eq!(objection_to(ORIGINAL, "a = LOG_X\nb = LOG_Y\nc = R.exp(b)\nreturn x"), None);
        assert_eq!(objection_to(ORIGINAL, "a = LOG_X\nb = a\nc = LOG_Y\nu = (b, c)\nreturn x"), None);
    }

    #[test]
    fn a_program_that_is_not_normal_is_none() {
        let why = objection_to(ORIGINAL, ORIGINAL).unwrap();
        assert!(why.contains("not in normal form"), "{why}");
    }

    #[test]
    fn neither_values_nor_effects_may_be_others() {
        let dropped = "a = LOG_X\nreturn x";
        let exchanged = "a = LOG_Y\nb = LOG_X\nreturn x";
        let doubled = "a = LOG_X\nb = LOG_X\nc = LOG_Y\nreturn x";
        let other_value = "a = LOG_X\nb = LOG_Y\nreturn y";
        for given in [dropped, exchanged, doubled, other_value] {
            let why = objection_to(ORIGINAL, given).unwrap_or_else(|| panic!("{given} passes"));
            assert!(why.contains("NF.PRESERVES"), "{why}");
        }
    }

    #[test]
    fn either_of_two_failures_may_come_of_a_leaf_that_stays() {
        let sum = "R.add(x, y)";
        let script = |body: &str, result: &str| {
            let head = "@R.function\ndef main(x: R.Tensor((\"n\",), \"float32\"), y: R.Tensor(ndim=1, dtype=\"float32\")) -> R.Object:\n";
            format!("{head}    n = T.int64()\n{body}    return {result}\n")
        };
        let original = ProgramInput::Script(script(&format!("    u = (R.shape([n - 5]), {sum})\n"), "u"));
        let stays = script(&format!("    v = {sum}\n    u = (R.shape([n - 5]), v)\n"), "u");
        let bound = script(&format!("    s = R.shape([n - 5])\n    v = {sum}\n    u = (s, v)\n"), "u");
        let other = script(&format!("    v = {sum}\n    w = R.add(v, v)\n    u = (R.shape([n - 6]), v)\n"), "u");
        let objection = |cx: &mut Cx, given: &str| objection(cx, &original, &parse_module(given).unwrap());
        assert_eq!(objection(&mut Cx::new(), &stays), None);
        assert_eq!(objection(&mut Cx::new(), &bound), None);
        assert!(objection(&mut Cx::new(), &other).is_some());
        let literal = || Cx::new().with_reading(crate::book::Reading::literal_only(&[Erratum::A75]));
        assert!(objection(&mut literal(), &stays).unwrap().contains("OPT.ERROR-IDENTITY"));
        assert_eq!(objection(&mut literal(), &bound), None);
    }

    #[test]
    fn normalization_has_no_freedoms_of_an_optimizer() {
        let original = "with R.dataflow():\n    a = R.match_cast(x, R.Tensor((3,), \"float32\"))\n    b = R.exp(x)\n    R.output(b)\nreturn b";
        let cast_dropped = "with R.dataflow():\n    b = R.exp(x)\n    R.output(b)\nreturn b";
        assert_eq!(objection_to(original, original), None);
        assert!(objection_to(original, cast_dropped).unwrap().contains("the other way round"));
    }
}
