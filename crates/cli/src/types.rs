//! `relax-spec types`.

use std::path::PathBuf;

use rustc_hash::FxHashSet;
use serde_json::{Value, json};

use super::budget::StepBudget;
use super::choice::Choosing;
use super::convert::OutputTarget;
use super::input::SourceFile;
use super::options::ReportFormat;
use super::{CommandResult, Exit, Failure, input, note, print, print_json, render};
use relax_spec::derivation::{DeriveReport, annotated, derive_module};
use relax_spec::findings::Diagnostic;
use relax_spec::grammar::visit::{Visitor, walk_module, walk_var_binding};
use relax_spec::grammar::width::is_mostly_repeated;
use relax_spec::grammar::{Binding, Expr, IrModule, Name, StructInfo, Type, Var, VarBinding};
use relax_spec::judge::Cx;
use relax_spec::normal_form::{Normalized, normalize_reporting};
use relax_spec::type_checking::{TypeReport, check_module};
use server::why::{self, DerivedProgram};

/// Write a program with the structural information and the purity of every variable
///
/// The program is written in normal form. Bindings and results without an annotation get the derived structural
/// information, and in TVMScript a comment says whether a binding is pure, that is, makes only pure calls. Malformed
/// parts are reported on standard error and give exit status 1; what depends on them gets no information. `check
/// --types` does the same for several files.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec types model.py
  relax-spec types --why 12 model.py
  relax-spec types --list model.py | jq .info
  relax-spec types --format json model.py | jq '.variables[] | select(.pure == false)'")]
pub struct Args {
    /// TVMScript (.py), RON or JSON; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    #[command(flatten)]
    selected: input::Selected,
    /// For editors, instead of the program: one JSON object per variable and line, with `function`, `name`, `info`,
    /// `pure` and, if the text has it, the position of its binding: `start` and `end`, each with `line`, `column` and,
    /// in bytes, `offset`
    #[arg(long, conflicts_with = "format")]
    list: bool,
    /// Instead of the program: how the information of the variables that this line binds was derived, back to where it
    /// was lost
    #[arg(long, value_name = "LINE", conflicts_with_all = ["format", "list"])]
    why: Option<usize>,
    /// As JSON: the program, its functions, its variables with positions, and its malformed parts, in one object
    #[arg(long, value_enum, default_value_t = ReportFormat::Human)]
    format: ReportFormat,
    #[command(flatten)]
    target: OutputTarget,
    #[command(flatten)]
    pub(super) budget: StepBudget,
    #[command(flatten)]
    choosing: Choosing,
}

pub fn run(args: &Args) -> CommandResult {
    let source = input::read(&args.file)?;
    let (name, module) = source.named_module(args.selected.module.as_deref())?;
    let choice = args.choosing.for_module(&args.file, &source, &module)?;
    let mut cx = choice.cx(args.budget.cx());
    let typed = Typed::of(&mut cx, &source, name, &module);
    if let Some(line) = args.why {
        let line_of = |offset| source.locate(offset).0;
        let program = DerivedProgram { module: &typed.normalized.module, derived: &typed.derived, line_of: &line_of };
        print(&why::of_line(&mut cx, program, line).map_err(Failure::unreadable)?)?;
        return Ok(Exit::AsExpected);
    }
    match args.format {
        ReportFormat::Json => args.target.put(&format!("{}\n", typed.json(&args.target)))?,
        ReportFormat::Human if args.list => {
            typed.variables().into_iter().try_for_each(|line| print_json(&line))?;
        }
        ReportFormat::Human => args.target.put(&typed.text(&args.target))?,
    }
    typed.tell_left_out();
    if args.format == ReportFormat::Human {
        render::tell_all(&source, choice.edition, typed.findings());
    }
    Ok(typed.exit())
}

/// The types of a program.
pub struct Typed<'s> {
    source: &'s SourceFile,
    /// The name of the module in a Python file.
    module: String,
    normalized: Normalized,
    types: TypeReport,
    derived: DeriveReport,
    impure: FxHashSet<Var>,
}

impl<'s> Typed<'s> {
    /// The types of a module of a text.
    pub fn of(cx: &mut Cx, source: &'s SourceFile, name: String, module: &IrModule) -> Typed<'s> {
        let normalized = normalize_reporting(cx, module);
        let types = check_module(cx, &normalized.module);
        let derived = derive_module(cx, &normalized.module);
        let impure = types.impure.iter().cloned().collect();
        Typed { source, module: name, normalized, types, derived, impure }
    }

    /// The findings about malformed parts.
    fn findings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.normalized.findings.iter().chain(&self.derived.diagnostics)
    }

    fn exit(&self) -> Exit {
        render::rejection(self.findings()).unwrap_or(Exit::AsExpected)
    }

    /// Reports how much information the text leaves out, because it would be too repetitive.
    pub fn tell_left_out(&self) {
        let all =
            self.derived.functions.iter().map(|(_, info)| info).chain(self.derived.vars.iter().map(|(_, info)| info));
        let left_out = all.filter(|info| is_mostly_repeated(info)).count();
        if left_out > 0 {
            let what = "would repeat itself for more than 16384 parts";
            note(&format!("warning: what is known of {left_out} variables and functions is not written: it {what}\n"));
        }
    }

    /// The program with its types.
    pub fn text(&self, target: &OutputTarget) -> String {
        let mut bound = ComputedVariables::default();
        walk_module(&mut bound, &self.normalized.module);
        let remark = |var: &Var| {
            let purity = if self.impure.contains(var) { "impure" } else { "pure" };
            bound.0.contains(var).then_some(purity)
        };
        target.text_with(&annotated(&self.normalized.module, &self.derived), &remark)
    }

    /// Its variables, each with its position.
    fn variables(&self) -> Vec<Value> {
        let mut bound = ComputedVariables::default();
        walk_module(&mut bound, &self.normalized.module);
        let mut lines = Vec::new();
        for (function, vars) in &self.derived.vars_of {
            for (var, info) in self.derived.vars.get(vars.clone()).unwrap_or_default() {
                let place = (!var.span.is_none()).then_some([var.span.start, var.span.end]);
                let mut line = json!({
                    "function": &**function,
                    "name": &*var.name,
                    "info": info.to_string(),
                    "pure": bound.0.contains(var).then(|| !self.impure.contains(var)),
                });
                match place {
                    Some([start, end]) => {
                        render::put_place(&mut line, self.source, var.span);
                        line["start"]["offset"] = start.into();
                        line["end"]["offset"] = end.into();
                    }
                    None => {
                        line["start"] = Value::Null;
                        line["end"] = Value::Null;
                    }
                }
                lines.push(line);
            }
        }
        lines
    }

    /// Its functions.
    fn functions(&self) -> Vec<Value> {
        let function = |(name, info): &(Name, StructInfo)| {
            let place = self.normalized.module.funcs.iter().map(|(gv, _)| gv).find(|gv| gv.name == *name);
            let pure = match self.types.type_of_function(name) {
                Some(Type::Func(func)) => Some(func.pure),
                Some(
                    Type::Object | Type::Tensor(_) | Type::Shape(_) | Type::Prim(_) | Type::Tuple(_) | Type::PackedFunc,
                )
                | None => None,
            };
            let mut line = json!({"name": &**name, "info": info.to_string(), "pure": pure});
            place.iter().for_each(|gv| render::put_place(&mut line, self.source, gv.span));
            line
        };
        self.derived.functions.iter().map(function).collect()
    }

    /// All contents, as `types.schema.json` describes them.
    pub fn json(&self, target: &OutputTarget) -> Value {
        json!({
            "file": self.source.name,
            "module": (!self.module.is_empty()).then_some(&self.module),
            "text": self.text(target),
            "functions": self.functions(),
            "variables": self.variables(),
            "findings": self.findings().map(|finding| render::finding_json(self.source, &self.module, finding)).collect::<Vec<Value>>(),
        })
    }
}

/// The variables bound to evaluated expressions, that is, neither to an argument nor to a function literal.
#[derive(Default)]
struct ComputedVariables(FxHashSet<Var>);

impl Visitor for ComputedVariables {
    fn visit_binding(&mut self, binding: &Binding) {
        match binding {
            Binding::VarBinding(VarBinding { value: Expr::Function(function), .. }) => self.visit_function(function),
            Binding::VarBinding(binding) => {
                self.0.insert(binding.var.var.clone());
                walk_var_binding(self, binding);
            }
            Binding::MatchCast(cast) => self.0.extend(cast.var.iter().map(|binder| binder.var.clone())),
        }
    }
}
