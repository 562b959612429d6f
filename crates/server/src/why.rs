//! The origin of the structural information of a variable, traced back through the bindings to the place where it was
//! lost.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use relax_spec::book::Rule;
use relax_spec::derivation::{DeriveReport, derive_module};
use relax_spec::grammar::visit::{Visitor, walk_expr, walk_function, walk_var_binding};
use relax_spec::grammar::{
    Attrs, Binder, Binding, BindingBlock, BlockKind, Expr, Function, GlobalFunc, GlobalVar, IrModule, Span, StructInfo,
    TensorStructInfo, Var, VarBinding, VarKind,
};
use relax_spec::judge::Cx;

/// A derived program in normal form, and the lines of its text.
#[derive(Clone, Copy)]
pub struct DerivedProgram<'a> {
    /// The program.
    pub module: &'a IrModule,
    /// What was derived of it.
    pub derived: &'a DeriveReport,
    /// The line of an offset, from 1.
    pub line_of: &'a dyn Fn(u32) -> usize,
}

/// The explanation of the variables that a line binds.
///
/// # Errors
///
/// The line binds none; the error names the nearest that does.
pub fn of_line(cx: &mut Cx, program: DerivedProgram<'_>, line: usize) -> Result<String, String> {
    let bound = BoundVars::of(program.module);
    let line_of = |var: &Var| (!var.span.is_none()).then(|| (program.line_of)(var.span.start));
    let asked: Vec<&Var> = bound.order.iter().filter(|var| line_of(var) == Some(line)).collect();
    if asked.is_empty() {
        let lines: BTreeSet<usize> = bound.order.iter().filter_map(line_of).collect();
        let near = lines.range(line..).next().or_else(|| lines.last());
        let near = near.map_or(String::new(), |near| format!("; the nearest that does is line {near}"));
        return Err(format!("line {line} binds no variable{near}"));
    }
    Ok(History::new(cx, program, &bound).told(asked))
}

/// The explanation of one variable; empty if the program does not bind it.
pub fn of_var(cx: &mut Cx, program: DerivedProgram<'_>, var: &Var) -> String {
    let bound = BoundVars::of(program.module);
    History::new(cx, program, &bound).told([var])
}

/// The origin of the value of a variable.
#[derive(Clone)]
enum Origin {
    Parameter,
    Value(Expr),
    Cast,
}

/// The variables of a program in the order of the text, with their origins.
#[derive(Default)]
struct BoundVars {
    order: Vec<Var>,
    origins: FxHashMap<Var, (Origin, bool)>,
}

impl BoundVars {
    fn of(module: &IrModule) -> BoundVars {
        let mut bound = BoundVars::default();
        module.funcs.iter().for_each(|(_, func)| {
            if let GlobalFunc::Function(func) = func {
                bound.visit_function(func);
            }
        });
        bound
    }

    fn put(&mut self, binder: &Binder, origin: Origin) {
        self.order.push(binder.var.clone());
        self.origins.insert(binder.var.clone(), (origin, binder.annotation.is_some()));
    }
}

impl Visitor for BoundVars {
    fn visit_function(&mut self, function: &Function) {
        function.params.iter().for_each(|param| self.put(param, Origin::Parameter));
        walk_function(self, function);
    }

    fn visit_binding(&mut self, binding: &Binding) {
        match binding {
            Binding::VarBinding(VarBinding { var, value, .. }) => self.put(var, Origin::Value(value.clone())),
            Binding::MatchCast(cast) => {
                cast.var.iter().for_each(|var| self.put(var, Origin::Cast));
            }
        }
        if let Binding::VarBinding(binding) = binding {
            walk_var_binding(self, binding);
        }
    }
}

/// The variables that an expression uses, including those of a function literal in it.
#[derive(Default)]
struct UsedVars {
    vars: Vec<Var>,
    globals: Vec<GlobalVar>,
}

impl UsedVars {
    fn of(expr: &Expr) -> UsedVars {
        let mut used = UsedVars::default();
        used.visit_expr(expr);
        used
    }
}

impl Visitor for UsedVars {
    fn visit_expr(&mut self, expr: &Expr) {
        if let Expr::Var(var) | Expr::DataflowVar(var) = expr
            && !self.vars.contains(var)
        {
            self.vars.push(var.clone());
        }
        walk_expr(self, expr);
    }

    fn visit_global_var(&mut self, gv: &GlobalVar) {
        self.globals.push(gv.clone());
    }
}

/// Whether part of the information about a value is unknown.
pub fn is_lost(info: &StructInfo) -> bool {
    match info {
        StructInfo::Object => true,
        StructInfo::Tensor(TensorStructInfo { shape, dtype, .. }) => shape.is_none() || dtype.is_void(),
        StructInfo::Shape(shape) => shape.values.is_none(),
        StructInfo::Tuple(fields) => fields.iter().any(is_lost),
        StructInfo::Func(func) => is_lost(&func.ret),
        StructInfo::Prim(_) => false,
    }
}

struct History<'a> {
    cx: &'a mut Cx,
    program: DerivedProgram<'a>,
    infos: FxHashMap<&'a Var, &'a StructInfo>,
    bound: &'a BoundVars,
    told: FxHashSet<Var>,
    text: String,
}

impl<'a> History<'a> {
    fn new(cx: &'a mut Cx, program: DerivedProgram<'a>, bound: &'a BoundVars) -> History<'a> {
        let infos = program.derived.vars.iter().map(|(var, info)| (var, info)).collect();
        History { cx, program, infos, bound, told: FxHashSet::default(), text: String::new() }
    }

    /// The explanations of some variables.
    fn told<'v>(mut self, vars: impl IntoIterator<Item = &'v Var>) -> String {
        vars.into_iter().for_each(|var| self.tell(var));
        self.text
    }

    /// Explains a variable, and then the variables that its information comes from. It uses no recursion, because there
    /// may be many steps.
    fn tell(&mut self, var: &Var) {
        let mut waiting = vec![var.clone()];
        while let Some(var) = waiting.pop() {
            if self.told.insert(var.clone()) {
                let next = self.tell_one(&var);
                waiting.extend(next.into_iter().rev());
            }
        }
    }

    fn tell_one(&mut self, var: &Var) -> Vec<Var> {
        // The variable at its binding. A use has a different position.
        let Some((var, (origin, annotated))) = self.bound.origins.get_key_value(var) else { return Vec::new() };
        let info = self.infos.get(var).copied();
        let line = || format!("  (line {})", (self.program.line_of)(var.span.start));
        let place = if var.span.is_none() { String::new() } else { line() };
        let shown = info.map_or("not known, as something in it is wrong".to_string(), ToString::to_string);
        let _ = writeln!(self.text, "{}: {shown}{place}", var.name);
        let lost = info.is_none_or(is_lost);
        match origin {
            Origin::Parameter if *annotated => self.reason("as the parameter is annotated"),
            Origin::Parameter => self.reason("a parameter without annotation is an Object"),
            Origin::Cast => self.reason("as the match_cast says"),
            Origin::Value(Expr::Function(function)) => self.function(function),
            Origin::Value(value) if *annotated => {
                self.reason("as the variable is annotated");
                return if lost { self.operands(value, lost) } else { Vec::new() };
            }
            Origin::Value(value) => return self.value(var, value, lost),
        }
        Vec::new()
    }

    fn function(&mut self, function: &Function) {
        match &function.ret_struct_info {
            Some(ret) => self.reason(&format!("the return annotation says {ret}")),
            None => self.reason("it has no return annotation, so its result is what is derived of its body"),
        }
    }

    /// Explains a value by its rules and operands. If information is lost, the operands with lost information come
    /// next.
    fn value(&mut self, var: &Var, value: &Expr, lost: bool) -> Vec<Var> {
        let rules = self.rules(var, value);
        let named: Vec<&str> = rules.iter().map(|rule| rule.id()).collect();
        if !named.is_empty() {
            self.reason(&format!("by {}", named.join(", ")));
        }
        let next = self.operands(value, lost);
        if lost && next.is_empty() {
            self.reason("lost here: of what it is derived from all is known");
        }
        next
    }

    /// Describes the operands. Returns those with lost information.
    fn operands(&mut self, value: &Expr, lost: bool) -> Vec<Var> {
        let mut next = Vec::new();
        let used = UsedVars::of(value);
        for gv in &used.globals {
            let shown =
                self.program.derived.info_of_function(&gv.name).map_or("not known".to_string(), ToString::to_string);
            self.reason(&format!("from {}: {shown}", gv.name));
        }
        for operand in used.vars {
            let info = self.infos.get(&operand).copied();
            let shown = info.map_or("not known".to_string(), ToString::to_string);
            self.reason(&format!("from {}: {shown}", operand.name));
            if lost && info.is_none_or(is_lost) {
                next.push(operand);
            }
        }
        next
    }

    fn reason(&mut self, reason: &str) {
        let _ = writeln!(self.text, "  {reason}");
    }

    /// The rules that derivation applies to a value: those of a function with only this binding, without those of the
    /// same function without it.
    fn rules(&mut self, var: &Var, value: &Expr) -> Vec<Rule> {
        let used = UsedVars::of(value);
        let known = |var: &Var| self.infos.get(var).map(|info| (*info).clone());
        let ordinary = |var: &Var| Binder { var: var.clone(), kind: VarKind::Var, annotation: None };
        let params: Vec<Binder> =
            used.vars.iter().map(|var| Binder { annotation: known(var), ..ordinary(var) }).collect();
        let binding =
            Binding::VarBinding(VarBinding { var: ordinary(var), value: value.clone(), span: Span::default() });
        let recorded = |bindings: Vec<Binding>| -> BTreeSet<Rule> {
            let mut cx = self.cx.unobserved();
            derive_module(&mut cx, &beside(self.program.module, &used.globals, &params, bindings));
            cx.recorded().iter().collect()
        };
        let without = recorded(Vec::new());
        let with = recorded(vec![binding]);
        with.difference(&without).copied().filter(|rule| decides(*rule)).collect()
    }
}

/// Whether a rule determines a value, as opposed to a check, or to the fact that a variable is bound.
fn decides(rule: Rule) -> bool {
    let id = rule.id();
    let is_of = ["SI.DERIVE.", "SI.UNIFY.", "OPS.", "OP."].iter().any(|chapter| id.starts_with(chapter));
    let is_about = ["SI.DERIVE.VB.", "SI.DERIVE.CALL.ARGS."].iter().any(|part| id.starts_with(part));
    let of_order = [
        "SI.DERIVE.VAR",
        "SI.DERIVE.CALL.OP",
        "SI.DERIVE.CALL.ORDER",
        "SI.DERIVE.CALL.ARITY",
        "SI.DERIVE.CALL.NOTFUNC",
    ];
    is_of && !is_about && !of_order.contains(&id) && !id.ends_with(".attrs")
}

/// A module of the used global functions and one more function with only these bindings.
fn beside(module: &IrModule, globals: &[GlobalVar], params: &[Binder], bindings: Vec<Binding>) -> IrModule {
    let block = BindingBlock { kind: BlockKind::Binding, bindings, span: Span::default() };
    let function = Function {
        params: params.to_vec(),
        body: Expr::seq(vec![block], Expr::tuple(Vec::new())),
        ret_struct_info: None,
        pure: None,
        attrs: Attrs::new(),
        span: Span::default(),
    };
    let asked = (GlobalVar::new("why"), GlobalFunc::Function(Arc::new(function)));
    let used = module.funcs.iter().filter(|(gv, _)| globals.contains(gv)).cloned();
    IrModule { funcs: used.chain([asked]).collect(), ..module.clone() }
}
