//! Programs with renamed bound variables, and with functions in another order.

use std::collections::BTreeSet;
use std::sync::Arc;

use campaign::generate::Tape;
use campaign::programs::{ProgramSource, Restriction};
use relax_spec::book::{Edition, Reading, Rule};
use relax_spec::check::check_program;
use relax_spec::findings::{Diagnostic, Severity};
use relax_spec::grammar::{
    AttrValue, Attrs, Binder, Binding, BindingBlock, Call, Expr, Function, GlobalFunc, If, IrModule, MatchCast,
    PrimValue, SeqExpr, ShapeExpr, ShapeVar, StructInfo, Tuple, TupleGetItem, VarBinding,
};
use relax_spec::struct_info::introduced_shape_vars;
use relax_spec::syntax::tvmscript::parse_module;

use super::alike::alike;
use super::spelling::{Manner, Spelling};
use super::{cx, readings_of, seeds};

/// Renames the variables of a program. A well-formed one has no free shape variables, so every name may be used.
pub struct Program {
    spelling: Spelling,
    none: BTreeSet<ShapeVar>,
}

impl Program {
    pub fn module(manner: Manner, module: &IrModule) -> IrModule {
        let pool = ["n", "m", "k", "d1", "d2"].map(ShapeVar::new);
        let mut program = Program { spelling: Spelling::new(manner, BTreeSet::new(), &pool), none: BTreeSet::new() };
        let funcs = module.funcs.iter().map(|(gv, func)| {
            program.spelling.next_function();
            let func = match func {
                GlobalFunc::Function(f) => GlobalFunc::Function(Arc::new(program.function(f))),
                GlobalFunc::PrimFunc(f) => GlobalFunc::PrimFunc(f.clone()),
                GlobalFunc::ExternFunc(f) => GlobalFunc::ExternFunc(f.clone()),
            };
            (gv.clone(), func)
        });
        IrModule { funcs: funcs.collect(), ..module.clone() }
    }

    fn bind(&mut self, info: &StructInfo) {
        self.spelling.bind(introduced_shape_vars(info), &self.none);
    }

    fn function(&mut self, f: &Function) -> Function {
        let mark = self.spelling.mark();
        let annotations = f.params.iter().filter_map(|param| param.annotation.as_ref());
        self.spelling.bind(annotations.flat_map(introduced_shape_vars).collect(), &self.none);
        let spelt = Function {
            params: f.params.iter().map(|param| self.binder(param)).collect(),
            ret_struct_info: f.ret_struct_info.as_ref().map(|info| self.spelling.info(info)),
            body: self.expr(&f.body),
            attrs: self.attrs(&f.attrs),
            ..f.clone()
        };
        self.spelling.leave(mark);
        spelt
    }

    fn binder(&mut self, binder: &Binder) -> Binder {
        let annotation = binder.annotation.as_ref().map(|info| self.spelling.info(info));
        Binder { var: self.spelling.var(&binder.var), annotation, ..binder.clone() }
    }

    fn exprs(&mut self, exprs: &[Expr]) -> Vec<Expr> {
        exprs.iter().map(|e| self.expr(e)).collect()
    }

    fn expr(&mut self, e: &Expr) -> Expr {
        match e {
            Expr::Constant(_)
            | Expr::GlobalVar(_)
            | Expr::StringImm(_)
            | Expr::DataTypeImm(_)
            | Expr::ExternFunc(_)
            | Expr::Op(_) => e.clone(),
            Expr::Var(var) => Expr::Var(self.spelling.var(var)),
            Expr::DataflowVar(var) => Expr::DataflowVar(self.spelling.var(var)),
            Expr::Tuple(t) => Expr::Tuple(Arc::new(Tuple { fields: self.exprs(&t.fields), ..(**t).clone() })),
            Expr::SeqExpr(seq) => self.seq(seq),
            Expr::PrimValue(p) => Expr::PrimValue(PrimValue { value: self.spelling.dim(&p.value), ..p.clone() }),
            Expr::Function(f) => Expr::Function(Arc::new(self.function(f))),
            Expr::If(branch) => Expr::If(Arc::new(If {
                cond: self.expr(&branch.cond),
                true_branch: self.expr(&branch.true_branch),
                false_branch: self.expr(&branch.false_branch),
                ..(**branch).clone()
            })),
            Expr::Call(call) => Expr::Call(Arc::new(Call {
                op: self.expr(&call.op),
                args: self.exprs(&call.args),
                sinfo_args: call.sinfo_args.iter().map(|info| self.spelling.info(info)).collect(),
                attrs: self.attrs(&call.attrs),
                ..(**call).clone()
            })),
            Expr::ShapeExpr(s) => Expr::ShapeExpr(ShapeExpr { values: self.spelling.dims(&s.values), ..s.clone() }),
            Expr::TupleGetItem(get) => Expr::TupleGetItem(Arc::new(TupleGetItem {
                tuple_value: self.expr(&get.tuple_value),
                ..(**get).clone()
            })),
        }
    }

    fn seq(&mut self, seq: &SeqExpr) -> Expr {
        let mark = self.spelling.mark();
        let blocks = seq.blocks.iter().map(|block| BindingBlock {
            bindings: block.bindings.iter().map(|binding| self.binding(binding)).collect(),
            ..block.clone()
        });
        let blocks = blocks.collect();
        let body = self.expr(&seq.body);
        self.spelling.leave(mark);
        Expr::SeqExpr(Arc::new(SeqExpr { blocks, body, ..seq.clone() }))
    }

    fn binding(&mut self, binding: &Binding) -> Binding {
        match binding {
            Binding::VarBinding(b) => {
                let value = self.expr(&b.value);
                Binding::VarBinding(VarBinding { var: self.binder(&b.var), value, ..b.clone() })
            }
            Binding::MatchCast(cast) => {
                let value = self.expr(&cast.value);
                self.bind(&cast.struct_info);
                let struct_info = self.spelling.info(&cast.struct_info);
                let var = cast.var.as_ref().map(|binder| self.binder(binder));
                Binding::MatchCast(Box::new(MatchCast { var, struct_info, value, ..*cast.clone() }))
            }
        }
    }

    fn attrs(&mut self, attrs: &Attrs) -> Attrs {
        attrs.iter().map(|(name, value)| (name.clone(), self.attr(value))).collect()
    }

    fn attr(&mut self, value: &AttrValue) -> AttrValue {
        match value {
            AttrValue::None
            | AttrValue::Bool(_)
            | AttrValue::Int(_)
            | AttrValue::Float(_)
            | AttrValue::Str(_)
            | AttrValue::DataType(_)
            | AttrValue::IndexMap(_)
            | AttrValue::Made(_) => value.clone(),
            AttrValue::Prim(e) => AttrValue::Prim(self.spelling.dim(e)),
            AttrValue::List(items) => AttrValue::List(items.iter().map(|item| self.attr(item)).collect()),
            AttrValue::Dict(items) => AttrValue::Dict(self.attrs(items)),
            AttrValue::StructInfo(info) => AttrValue::StructInfo(self.spelling.info(info)),
        }
    }
}

/// The results for a program: the findings, and the information of each function and of its variables.
struct Said {
    findings: Vec<(Rule, Severity, String)>,
    functions: Vec<(String, StructInfo, Vec<StructInfo>)>,
}

fn found(diagnostics: &[Diagnostic]) -> Vec<(Rule, Severity, String)> {
    let mut found: Vec<_> = diagnostics.iter().map(|d| (d.rule, d.severity, d.path.0.clone())).collect();
    found.sort();
    found
}

fn said(edition: Edition, reading: &Reading, module: &IrModule) -> Said {
    let report = check_program(&mut cx(edition, reading), module);
    let derived = &report.derived;
    let vars_of = |name: &str| {
        let range = derived.vars_of.iter().find(|(known, _)| **known == *name).map(|(_, range)| range.clone());
        derived.vars[range.unwrap_or_default()].iter().map(|(_, info)| info.clone()).collect()
    };
    let mut functions: Vec<_> =
        derived.functions.iter().map(|(name, info)| (name.to_string(), info.clone(), vars_of(name))).collect();
    functions.sort_by(|a, b| a.0.cmp(&b.0));
    Said { findings: found(&report.diagnostics), functions }
}

fn agree(a: &Said, b: &Said) -> Result<(), String> {
    if a.findings != b.findings {
        return Err(format!("{:?} and {:?}", a.findings, b.findings));
    }
    let none = BTreeSet::new();
    for ((name, info1, vars1), (_, info2, vars2)) in a.functions.iter().zip(&b.functions) {
        if !alike(info1, info2, &none) {
            return Err(format!("@{name}: {info1} and {info2}"));
        }
        let differing = vars1.iter().zip(vars2).find(|(a, b)| !alike(a, b, &none));
        if let Some((a, b)) = differing {
            return Err(format!("a variable of @{name}: {a} and {b}"));
        }
        if vars1.len() != vars2.len() {
            return Err(format!("@{name} has {} and {} variables", vars1.len(), vars2.len()));
        }
    }
    if a.functions.len() == b.functions.len() { Ok(()) } else { Err("other functions".into()) }
}

fn reversed(module: &IrModule) -> IrModule {
    IrModule { funcs: module.funcs.iter().rev().cloned().collect(), ..module.clone() }
}

/// The renamed forms of a program, including one with its functions in reverse order.
fn spellings(module: &IrModule) -> Vec<(String, IrModule)> {
    let spelt = |manner: Manner| (format!("{manner:?}"), Program::module(manner, module));
    let mut all: Vec<_> = Manner::ALL.into_iter().map(spelt).collect();
    all.push(("in the reverse order".into(), reversed(module)));
    all.push(("Shared, in the reverse order".into(), Program::module(Manner::Shared, &reversed(module))));
    all
}

fn difference(edition: Edition, module: &IrModule, readings: &[(String, Reading)]) -> Option<String> {
    let spellings = spellings(module);
    readings.iter().find_map(|(name, reading)| {
        let before = said(edition, reading, module);
        spellings.iter().find_map(|(manner, spelt)| {
            let difference = agree(&before, &said(edition, reading, spelt)).err()?;
            let text = |module| relax_spec::syntax::tvmscript::print_module(module, Default::default());
            Some(format!("literally {name}, {manner}: {difference}\n{}\n{}", text(module), text(spelt)))
        })
    })
}

const CHAPTERS: [&str; 10] = [
    "check",
    "derivation",
    "normal_form",
    "purity.rs",
    "scope.rs",
    "shape",
    "struct_info",
    "type_checking",
    "types",
    "well_formed",
];

fn checks_of_programs_do_not_depend_on_names_and_order(edition: Edition) {
    let readings = readings_of(edition, &CHAPTERS, &[]);
    assert!(readings.len() > if edition == Edition::E2023_02 { 20 } else { 8 }, "{}", readings.len());
    let (mut found, mut different) = (Vec::new(), 0);
    let source = ProgramSource::of(&[], Restriction::of_laws(edition));
    for seed in seeds("INVARIANCE_PROGRAMS", 60) {
        let drawn = source.of_tape(Tape::from_seed(seed, 300));
        if let Some(difference) = difference(edition, &drawn.module, &readings) {
            different += 1;
            if found.len() < 4 {
                found.push(format!("{edition}, {seed}: {difference}"));
            }
        }
    }
    assert!(found.is_empty(), "{different} programs differ, such as\n{}", found.join("\n"));
}

#[test]
fn checks_of_programs_do_not_depend_on_names_and_order_2023_02() {
    checks_of_programs_do_not_depend_on_names_and_order(Edition::E2023_02);
}

#[test]
fn checks_of_programs_do_not_depend_on_names_and_order_2023_12() {
    checks_of_programs_do_not_depend_on_names_and_order(Edition::E2023_12);
}

#[test]
fn checks_of_programs_do_not_depend_on_names_and_order_2024_04() {
    checks_of_programs_do_not_depend_on_names_and_order(Edition::E2024_04);
}

/// A local function has a variable with the same name as one that is bound later.
const LATER: &str = r#"
@I.ir_module
class Module:
    @R.function
    def helper(a: R.Tensor(("m",), "float32"), b: R.Tensor(("n",), "float32")) -> R.Tensor(("m",), "float32"):
        return a

    @R.function
    def main(x: R.Tensor("float32", ndim=1), y: R.Tensor("float32", ndim=1)) -> R.Object:
        m = T.int64()
        w = R.match_cast(x, R.Tensor((m,), "float32"))
        g = Module.helper
        z = g(y, w)
        u = Module.helper(w, y)
        t = (g, Module.helper)
        v = t[0](y, y)
        return (z, u, v)
"#;

#[test]
fn an_alias_shares_no_name_with_its_caller() {
    let module = parse_module(LATER).unwrap();
    for edition in Edition::ALL {
        let readings = readings_of(edition, &["derivation", "struct_info"], &[]);
        assert_eq!(difference(edition, &module, &readings), None, "{edition}");
    }
}
