//! Judges a pass apart from a recorder: the module before it and the module after it, one function at a time.

use std::convert::Infallible;
use std::sync::OnceLock;

use serde_json::{Value, json};

use super::contracts::{BrokenContract, Properties};
use super::made::read;
use super::params::related;
use super::verdict::verdict_on;
use super::verdict::{Judged, PassVerdict};
use campaign::smaller;
use relax_spec::book::Edition;
use relax_spec::data::json::to_value;
use relax_spec::grammar::{AttrValue, GlobalFunc, IrModule, Name};
use relax_spec::judge::{Cx, with_stack};
use relax_spec::refine::{Differing, Settings, refine};
use relax_spec::syntax::tvmscript::{Dialect, print_module};

/// A module between two passes of an implementation, in an edition.
pub struct JudgedModule {
    module: IrModule,
    edition: Edition,
    dialect: Dialect,
    properties: OnceLock<Properties>,
}

/// How much the judgement on the meaning of a function may cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MeaningBudget {
    /// The number of generated inputs.
    pub runs: usize,
    /// Their seed.
    pub seed: u64,
    /// The number of steps of all runs together.
    pub steps: u64,
}

impl JudgedModule {
    /// The module of a text in TVMScript. `release` is the release of TVM for which programs are written.
    ///
    /// # Errors
    ///
    /// The message of the reader.
    pub fn read(text: &str, edition: Edition, release: &str) -> Result<JudgedModule, String> {
        let dialect = if release.starts_with("0.25") { Dialect::Tvm025 } else { Dialect::Tvm027 };
        let module = with_stack(|| read(text))?;
        Ok(JudgedModule { module, edition, dialect, properties: OnceLock::new() })
    }

    /// The functions that can be started from outside, by their global symbols.
    pub fn exported(&self) -> Vec<String> {
        let symbol = |func: &GlobalFunc| match func {
            GlobalFunc::Function(func) => match func.attrs.get("global_symbol") {
                Some(AttrValue::Str(symbol)) => Some(symbol.to_string()),
                Some(_) | None => None,
            },
            GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => None,
        };
        self.module.funcs.iter().filter_map(|(_, func)| symbol(func)).collect()
    }

    /// The text, in the dialect of the release.
    pub fn text(&self) -> String {
        print_module(&self.module, self.dialect)
    }

    fn cx(&self) -> Cx {
        Cx::new().with_edition(self.edition)
    }

    fn properties(&self) -> &Properties {
        self.properties.get_or_init(|| with_stack(|| Properties::of(&mut self.cx(), &self.module)))
    }

    /// The contracts that a pass with this result breaks: an object of `contract`, `rule` and `message` for each.
    pub fn contracts(&self, pass: &str, after: &JudgedModule) -> Value {
        let broken = self.properties().broken(&mut self.cx(), pass, after.properties());
        broken.iter().map(BrokenContract::json).collect()
    }

    /// Whether a function of the result of a pass means what it meant: the verdict as `blame` reports it, with the
    /// first binding that differs.
    pub fn meaning(&self, pass: &str, after: &JudgedModule, entry: &str, budget: MeaningBudget) -> Value {
        let settings = Settings { seed: budget.seed, steps: budget.steps, ..Settings::runs(budget.runs) };
        let related = related(&self.module, &after.module, entry);
        let after = related.as_ref().unwrap_or(&after.module);
        let refined = with_stack(|| refine(&mut self.cx(), &self.module, after, entry, &[], &settings));
        let (differing, compared, verdict) = match refined {
            Err(error) => (None, 0, PassVerdict::Open(error.to_string())),
            Ok(refined) => (refined.differing.clone(), refined.compared, verdict_on(&self.module, Ok(refined))),
        };
        let mut value = Judged::from(verdict).json(pass);
        value["compared"] = compared.into();
        value["differing"] = differing.as_ref().map(differing_json).into();
        value
    }
}

fn differing_json(Differing { name, before, after, clause }: &Differing) -> Value {
    json!({
        "name": &**name,
        "before": before.to_string(),
        "after": after.to_string(),
        "values": [to_value(before), to_value(after)],
        "clause": clause.map(|rule| rule.to_string()),
    })
}

/// The smallest program found for which `shows` is true of its text, with a budget of questions.
pub fn smaller_program(
    module: &JudgedModule,
    entry: &str,
    questions: usize,
    mut shows: impl FnMut(&str) -> bool,
) -> String {
    let (entry, dialect): (Name, Dialect) = (entry.into(), module.dialect);
    let shows = |module: &IrModule| Ok::<bool, Infallible>(shows(&print_module(module, dialect)));
    let found = with_stack(|| smaller(module.edition, &module.module, &entry, questions, shows));
    let Ok(found) = found;
    print_module(&found, dialect)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "@I.ir_module\nclass Module:\n    @R.function(pure=True)\n    \
                           def f(x: R.Tensor((2,), \"float32\"), y: R.Tensor((2,), \"float32\")):\n        \
                           z = R.subtract(x, y)\n        return z\n";
    const BUDGET: MeaningBudget = MeaningBudget { runs: 5, seed: 0, steps: 1_000_000 };

    fn module(text: &str) -> JudgedModule {
        JudgedModule::read(text, Edition::E2024_04, "0.27").unwrap()
    }

    #[test]
    fn a_pass_is_judged_function_by_function() {
        let before = module(PROGRAM);
        assert_eq!(before.exported(), ["f"]);
        let same = before.meaning("Same", &module(PROGRAM), "f", BUDGET);
        assert_eq!((&same["verdict"], &same["differing"]), (&json!("allowed"), &Value::Null));
        let other = before.meaning("Swap", &module(&PROGRAM.replace("(x, y)", "(y, x)")), "f", BUDGET);
        assert_eq!((&other["verdict"], &other["differing"]["name"]), (&json!("not allowed"), &json!("z")));
    }

    #[test]
    fn a_pass_that_loses_a_function_breaks_a_contract() {
        let (before, after) = (module(PROGRAM), module(&PROGRAM.replace("def f", "def g")));
        assert_eq!(before.contracts("Rename", &after)[0]["rule"], "OPT.GENERAL");
        assert_eq!(before.contracts("Same", &before), json!([]));
    }
}
