//! The properties of a module that a pass must preserve, in addition to its meaning.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use campaign::soundness::FalseInformation;
use relax_spec::book::Rule;
use relax_spec::check::{CheckStage, Claim, check_as};
use relax_spec::derivation::{DeriveReport, derive_module};
use relax_spec::findings::{Diagnostic, Severity};
use relax_spec::grammar::visit::{Visitor, walk_call, walk_module};
use relax_spec::grammar::{
    AttrValue, Call, Expr, FuncStructInfo, Function, GlobalFunc, IrModule, Name, StructInfo, VDevice,
};
use relax_spec::judge::{Cx, with_stack};
use relax_spec::normal_form::{self, normalize};
use relax_spec::refine::WrongGradient;
use relax_spec::rule;
use relax_spec::struct_info::is_more_specific;
use relax_spec::value::ValueSpec;

use crate::value;

/// The passes whose result is always in normal form.
const NORMALIZING: [&str; 1] = ["Normalize"];

/// A property of a module.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Contract {
    /// No variable is free.
    Scope,
    /// The module is well-formed, and its types and structural information agree.
    WellFormed,
    /// The module is in normal form.
    NormalForm,
    /// No pure function becomes impure.
    Purity,
    /// The known information about the result of an exported function becomes no weaker, and what is said of variables
    /// is true.
    Information,
    /// The functions that can be started from outside keep their names.
    ExportedNames,
    /// The pass does not change its own result.
    Idempotence,
    /// The gradient that a pass writes is that of the function.
    Gradient,
}

impl Contract {
    fn name(self) -> &'static str {
        match self {
            Contract::Scope => "no free variable",
            Contract::WellFormed => "well-formed",
            Contract::NormalForm => "normal form",
            Contract::Purity => "purity",
            Contract::Information => "information",
            Contract::ExportedNames => "exported names",
            Contract::Idempotence => "idempotence",
            Contract::Gradient => "gradient",
        }
    }
}

/// A property that a pass does not preserve.
#[derive(Clone, Debug)]
pub(super) struct BrokenContract {
    contract: Contract,
    pub(super) rule: Rule,
    message: String,
    /// The arguments of the run that shows it; none if it shows without a run.
    pub(super) input: Vec<ValueSpec>,
}

impl BrokenContract {
    fn new(contract: Contract, rule: Rule, message: String) -> BrokenContract {
        BrokenContract { contract, rule, message, input: Vec::new() }
    }

    /// SI.DERIVE.VB.ANNOT.WARN: no run checks an annotation, and here one shows that it is false.
    pub(super) fn of_false(found: FalseInformation) -> BrokenContract {
        let rule = rule!("SI.DERIVE.VB.ANNOT.WARN");
        BrokenContract { input: found.args, ..BrokenContract::new(Contract::Information, rule, found.message) }
    }

    /// REFINE.GRADIENT: differences of the function give another gradient.
    pub(super) fn of_gradient(found: WrongGradient) -> BrokenContract {
        let rule = rule!("REFINE.GRADIENT");
        BrokenContract { input: found.args, ..BrokenContract::new(Contract::Gradient, rule, found.message) }
    }

    /// The text for a line of the report.
    pub(super) fn told(&self) -> String {
        format!("breaks {} [{}]: {}", self.contract.name(), self.rule, self.message)
    }

    pub(super) fn json(&self) -> Value {
        let mut said =
            json!({"contract": self.contract.name(), "rule": self.rule.to_string(), "message": self.message});
        if !self.input.is_empty() {
            said["counterexample"] = self.input.iter().map(value::argument).collect();
        }
        said
    }
}

/// NF.IDEMPOTENT: a module in normal form is its own normal form. No other pass is promised to leave its own result as
/// it is, neither by the text nor by the documentation of a release.
pub(super) fn changes_its_result(pass: &str, before: Option<&str>) -> Option<BrokenContract> {
    (NORMALIZING.contains(&pass) && before == Some(pass)).then(|| {
        let message = format!("{pass} changes its own result");
        BrokenContract::new(Contract::Idempotence, rule!("NF.IDEMPOTENT"), message)
    })
}

/// The properties of a module.
pub(super) struct Properties {
    /// The first finding of each rule that it breaks.
    errors: BTreeMap<String, (Rule, Contract, String)>,
    /// The rules that are broken by calls of the run time alone, which is no fault.
    excused: BTreeSet<String>,
    /// The exported functions: whether they are pure, and their structural information.
    exported: BTreeMap<Name, (bool, Option<StructInfo>)>,
    /// Those that do not say what they return, which TVM writes there.
    unannotated: BTreeSet<Name>,
    /// Whether an annotation says more than is derived.
    pub(super) assumes: bool,
}

impl Properties {
    pub(super) fn of(cx: &mut Cx, module: &IrModule) -> Properties {
        let mut report = check_as(cx, module, Claim::Fragment);
        if report.stage < CheckStage::Derivation {
            // An error that ends the check must not hide what a pass says falsely besides.
            let normal = normalize(cx, module);
            report.derived = derive_module(cx, &normal);
            report.diagnostics.extend(report.derived.diagnostics.iter().cloned());
        }
        let assumes = report.diagnostics.iter().any(|finding| finding.rule == rule!("SI.DERIVE.VB.ANNOT.WARN"));
        let is_untyped = has_untyped_calls(module);
        let (mut errors, mut excused) = (BTreeMap::new(), BTreeSet::new());
        let mut add = |contract: fn(Rule) -> Contract, findings: Vec<Diagnostic>| {
            let is_error = |finding: &Diagnostic| finding.severity == Severity::Error;
            for finding in findings.into_iter().filter(is_error) {
                if is_untyped && says_more_than_object(&finding) {
                    excused.insert(finding.rule.to_string());
                    continue;
                }
                let place = format!("{} ({})", finding.message, finding.path.0);
                errors.entry(finding.rule.to_string()).or_insert((finding.rule, contract(finding.rule), place));
            }
        };
        let normal = normal_form::check(cx, module).into_iter().filter(|finding| {
            // All releases allow an external function as the argument of a call.
            let last = finding.path.0.rsplit('/').next().unwrap_or_default();
            !(finding.message.contains("ExternFunc") && last.starts_with("args["))
        });
        add(|_| Contract::NormalForm, normal.collect());
        add(contract_of, report.diagnostics);
        for (rule, device) in unlisted(module, &report.derived) {
            let message = format!("the module does not list the device {device}");
            errors.entry(rule.to_string()).or_insert((rule, Contract::WellFormed, message));
        }
        let info = |name: &Name| report.derived.info_of_function(name).cloned();
        let exported = module.funcs.iter().filter_map(|(gv, func)| match func {
            GlobalFunc::Function(func) if func.attrs.contains_key("global_symbol") => {
                Some((gv.name.clone(), (is_pure(func), info(&gv.name))))
            }
            GlobalFunc::Function(_) | GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => None,
        });
        let unannotated = module.funcs.iter().filter_map(|(gv, func)| match func {
            GlobalFunc::Function(func) if func.ret_struct_info.is_none() => Some(gv.name.clone()),
            GlobalFunc::Function(_) | GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => None,
        });
        let unannotated = unannotated.collect();
        Properties { exported: exported.collect(), unannotated, errors, excused, assumes }
    }

    /// Why the module is not well-formed, if it is not.
    pub(super) fn fault(&self) -> Option<String> {
        let breaks = |contract: &Contract| matches!(contract, Contract::Scope | Contract::WellFormed);
        let (rule, _, message) = self.errors.values().find(|(_, contract, _)| breaks(contract))?;
        Some(format!("{message} [{rule}]"))
    }

    /// The same for a release that cannot say which value a primitive has: its passes are not asked to keep that.
    pub(super) fn without_prim_values(mut self) -> Properties {
        self.exported.values_mut().for_each(|(_, info)| *info = info.as_ref().map(without_prim_values));
        self
    }

    /// The properties that a pass with this result does not preserve.
    pub(super) fn broken(&self, cx: &mut Cx, pass: &str, after: &Properties) -> Vec<BrokenContract> {
        let mut broken = self.new_errors(pass, after);
        broken.extend(self.exported_names(after));
        broken.extend(self.purity(after));
        broken.extend(self.information(cx, after));
        broken.sort_by_key(|broken| broken.contract);
        broken
    }

    /// The errors after the pass that did not exist before, or that the pass itself should have repaired.
    fn new_errors(&self, pass: &str, after: &Properties) -> Vec<BrokenContract> {
        let is_new = |id: &String, contract: Contract| {
            !self.errors.contains_key(id) && !self.excused.contains(id)
                || contract == Contract::NormalForm && NORMALIZING.contains(&pass)
        };
        let new = after.errors.iter().filter(|(id, (_, contract, _))| is_new(id, *contract));
        new.map(|(_, (rule, contract, message))| BrokenContract::new(*contract, *rule, message.clone())).collect()
    }

    /// OPT.GENERAL: functions that can be started from outside remain.
    fn exported_names(&self, after: &Properties) -> Option<BrokenContract> {
        let names = |properties: &Properties| properties.exported.keys().cloned().collect::<BTreeSet<Name>>();
        let (before, after) = (names(self), names(after));
        let gone = before.difference(&after).next()?;
        let message = format!("`{gone}` is no exported function any more");
        Some(BrokenContract::new(Contract::ExportedNames, rule!("OPT.GENERAL"), message))
    }

    /// PURE.NO-REORDER-IF-IMPURE: callers of a pure function with these parameters may rely on it.
    fn purity(&self, after: &Properties) -> Option<BrokenContract> {
        let is_impure = |name: &Name, before: Option<&StructInfo>| {
            let is_same = |after: &StructInfo| before.is_none_or(|before| like(before, after).is_some());
            after.exported.get(name).is_some_and(|(pure, info)| !pure && info.as_ref().is_none_or(is_same))
        };
        let (name, _) = self.exported.iter().find(|(name, (pure, info))| *pure && is_impure(name, info.as_ref()))?;
        let message = format!("`{name}` was pure");
        Some(BrokenContract::new(Contract::Purity, rule!("PURE.NO-REORDER-IF-IMPURE"), message))
    }

    /// SI.ORDER.MEANING: the information about the result of a function with the same parameters becomes no weaker.
    fn information(&self, cx: &mut Cx, after: &Properties) -> Option<BrokenContract> {
        // A reader may infer less than is derived here.
        let said = self.exported.iter().filter(|(name, _)| !self.unannotated.contains(*name));
        said.into_iter().find_map(|(name, (_, before))| {
            let before = before.as_ref()?;
            let after = like(before, after.exported.get(name)?.1.as_ref()?)?;
            let is_weaker = is_more_specific(cx, before, &after) && !is_more_specific(cx, &after, before);
            is_weaker.then(|| {
                let message = format!("`{name}` was {before}, and is {after}");
                BrokenContract::new(Contract::Information, rule!("SI.ORDER.MEANING"), message)
            })
        })
    }
}

/// Whether an annotation says more than that there is an object, which is all that is derived.
fn says_more_than_object(finding: &Diagnostic) -> bool {
    let of_annotations = [rule!("SI.DERIVE.VB.ANNOT.ERR"), rule!("SI.DERIVE.FUNC.RET.ERR")];
    let told = &finding.message;
    of_annotations.contains(&finding.rule)
        && (told.ends_with("its value is Object") || told.contains("the body is Object,"))
}

/// Whether a program calls functions of the run time that passes write without the information about the result, which
/// stays in the annotations.
fn has_untyped_calls(module: &IrModule) -> bool {
    let mut seen = UntypedCalls(false);
    walk_module(&mut seen, module);
    seen.0
}

struct UntypedCalls(bool);

impl Visitor for UntypedCalls {
    fn visit_call(&mut self, call: &Call) {
        let is_of_run_time = |symbol: &str| symbol.starts_with("vm.builtin.") || symbol.starts_with("runtime.");
        self.0 |= matches!(&call.op, Expr::ExternFunc(func) if is_of_run_time(&func.global_symbol))
            || matches!(&call.op, Expr::Op(op) if op.op_name.ends_with("make_closure"));
        walk_call(self, call);
    }
}

/// WF23-12.24, WF23-12.24.EMPTY: the devices that the derived information or a transfer names and the module does not
/// list. An annotation that says no more than what is derived breaks no other rule than the program before it.
fn unlisted(module: &IrModule, derived: &DeriveReport) -> Vec<(Rule, VDevice)> {
    let listed = module.vdevices();
    let rule = if listed.is_empty() { rule!("WF23-12.24.EMPTY") } else { rule!("WF23-12.24") };
    let mut named = Vec::new();
    derived.functions.iter().for_each(|(_, info)| devices_in(info, &mut named));
    derived.vars.iter().for_each(|(_, info)| devices_in(info, &mut named));
    let mut transfers = Transfers::default();
    walk_module(&mut transfers, module);
    named.extend(transfers.0.iter().map(|name| VDevice::named(name, &listed)));
    named.into_iter().filter(|device| !listed.contains(device)).map(|device| (rule, device)).collect()
}

/// The names of the devices to which values are transferred.
#[derive(Default)]
struct Transfers(Vec<Name>);

impl Visitor for Transfers {
    fn visit_call(&mut self, call: &Call) {
        if let Some(AttrValue::Str(name)) = call.attrs.get("dst_vdevice") {
            self.0.push(name.clone());
        }
        walk_call(self, call);
    }
}

fn devices_in(info: &StructInfo, named: &mut Vec<VDevice>) {
    with_stack(|| match info {
        StructInfo::Tensor(tensor) => named.extend(tensor.vdevice.as_deref().cloned()),
        StructInfo::Tuple(fields) => fields.iter().for_each(|field| devices_in(field, named)),
        StructInfo::Func(func) => {
            func.params.iter().flat_map(|params| params.iter()).for_each(|param| devices_in(param, named));
            devices_in(&func.ret, named);
        }
        StructInfo::Object | StructInfo::Shape(_) | StructInfo::Prim(_) => {}
    });
}

/// The information without the values of primitives.
fn without_prim_values(info: &StructInfo) -> StructInfo {
    with_stack(|| match info {
        StructInfo::Prim(prim) => StructInfo::prim(prim.dtype),
        StructInfo::Tuple(fields) => StructInfo::tuple(fields.iter().map(without_prim_values)),
        StructInfo::Func(func) => {
            let params = func.params.as_ref().map(|params| params.iter().map(without_prim_values).collect());
            let ret = without_prim_values(&func.ret);
            StructInfo::Func(FuncStructInfo { params, ret, ..(**func).clone() }.into())
        }
        StructInfo::Object | StructInfo::Tensor(_) | StructInfo::Shape(_) => info.clone(),
    })
}

/// The information of a function with the parameters and the purity of another one.
fn like(before: &StructInfo, after: &StructInfo) -> Option<StructInfo> {
    let (StructInfo::Func(before), StructInfo::Func(after)) = (before, after) else { return None };
    let mut like = (**after).clone();
    like.pure = before.pure;
    (like.params == before.params).then(|| StructInfo::Func(like.into()))
}

fn is_pure(func: &Function) -> bool {
    func.pure == Some(true) || func.force_pure()
}

/// Whether a module is the one before it. It may say of a function that it is pure where the other says nothing.
pub(super) fn is_same(before: &IrModule, after: &IrModule) -> bool {
    let mut funcs = before.funcs.iter().zip(&after.funcs);
    (&before.attrs, &before.global_infos) == (&after.attrs, &after.global_infos)
        && before.funcs.len() == after.funcs.len()
        && funcs.all(|((x, before), (y, after))| x == y && is_same_function(before, after))
}

fn is_same_function(before: &GlobalFunc, after: &GlobalFunc) -> bool {
    match (before, after) {
        (GlobalFunc::Function(x), GlobalFunc::Function(y)) if x.pure.is_none() && y.pure == Some(true) => {
            **x == Function { pure: None, ..(**y).clone() }
        }
        (before, after) => before == after,
    }
}

/// The property to which a rule belongs.
fn contract_of(rule: Rule) -> Contract {
    let id = rule.id();
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| id.starts_with(prefix));
    if begins(&["WF.2.", "WF.3.", "WF.5.", "TC.VAR.", "SI.DERIVE.CONTEXT", "SCOPE."]) {
        Contract::Scope
    } else if begins(&["NF."]) {
        Contract::NormalForm
    } else if begins(&["PURE.", "PURITY."]) || id.contains(".PURE") || id.contains(".IMPURE") {
        Contract::Purity
    } else {
        Contract::WellFormed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use relax_spec::book::Edition;
    use relax_spec::syntax::tvmscript::parse_module;

    #[test]
    fn a_device_that_is_written_out_is_no_new_one() {
        let program = |annotation: &str| {
            let text = format!(
                "@I.ir_module\nclass Module:\n    @R.function\n    def f(x: R.Tensor((2,), \"int8\")) -> R.Object:\n        \
                 y{annotation} = R.to_vdevice(x, dst_vdevice=\"llvm:0:global\")\n        return y\n"
            );
            Properties::of(&mut Cx::new().with_edition(Edition::E2024_04), &parse_module(&text).unwrap())
        };
        let written = program(": R.Tensor((2,), \"int8\", vdevice=\"llvm:0:global\")");
        assert!(program("").broken(&mut Cx::new(), "P", &written).is_empty());
        // An annotation that the program itself gives hides what is derived, and not the transfer.
        let hidden = program(": R.Tensor((2,), \"int8\")");
        assert!(hidden.broken(&mut Cx::new(), "P", &written).is_empty());
        let nothing = Properties {
            errors: BTreeMap::new(),
            excused: BTreeSet::new(),
            exported: BTreeMap::new(),
            unannotated: BTreeSet::new(),
            assumes: false,
        };
        assert_eq!(nothing.broken(&mut Cx::new(), "P", &written).len(), 1);
    }

    /// An error that was there before does not hide another one.
    #[test]
    fn a_false_annotation_is_found_beside_an_unlisted_device() {
        let program = |annotation: &str| {
            let text = format!(
                "@I.ir_module\nclass Module:\n    @R.function\n    def f(x: R.Tensor((2,), \"int8\", \
                 vdevice=\"llvm:0:global\")):\n        y{annotation} = R.add(x, x)\n        return y\n"
            );
            Properties::of(&mut Cx::new().with_edition(Edition::E2024_04), &parse_module(&text).unwrap())
        };
        let broken = program("").broken(&mut Cx::new(), "P", &program(": R.Tensor((3,), \"int8\")"));
        let rules: Vec<String> = broken.iter().map(|broken| broken.rule.to_string()).collect();
        assert_eq!(rules, ["SI.DERIVE.VB.ANNOT.ERR"]);
    }

    #[test]
    fn a_program_that_is_not_well_formed_is_told() {
        let fault = |outputs: &str| {
            let text = format!(
                "@I.ir_module\nclass Module:\n    @R.function\n    def f(x: R.Tensor((2,), \"int8\")):\n        with \
                 R.dataflow():\n            y = R.add(x, x)\n            z = R.add(y, y)\n            \
                 R.output({outputs})\n        return y\n"
            );
            Properties::of(&mut Cx::new().with_edition(Edition::E2024_04), &parse_module(&text).unwrap()).fault()
        };
        assert_eq!(fault("y, z"), None);
        assert!(fault("z").is_some_and(|fault| fault.contains("`y` is used outside") && fault.contains("[WF.1.USE]")));
    }

    #[test]
    fn values_of_primitives_are_left_out() {
        let program = |result: &str| {
            let text = format!(
                "@I.ir_module\nclass Module:\n    @R.function\n    def f() -> R.Tuple({result}):\n        \
                 return (R.prim_value(1),)\n"
            );
            Properties::of(&mut Cx::new(), &parse_module(&text).unwrap())
        };
        let (says, says_not) = (program("R.Prim(\"int64\", value=1)"), program("R.Prim(\"int64\")"));
        assert_eq!(says.broken(&mut Cx::new(), "P", &says_not).len(), 1);
        assert!(says.without_prim_values().broken(&mut Cx::new(), "P", &says_not).is_empty());
    }
}
