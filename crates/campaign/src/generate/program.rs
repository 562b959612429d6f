//! Random programs: well-formed, well-typed, and (asked so) not yet in normal form.
//!
//! The generator knows the structural information of every variable that it binds, and picks each next binding among
//! those that the variables in scope allow. It knows it by construction, not by the derivation rules, so that the
//! rules can be tested on what it makes.

pub(super) mod later;

use std::sync::Arc;

use super::Tape;
use relax_spec::book::Edition;
use relax_spec::grammar::{
    AttrValue, Attrs, Binder, Binding, BindingBlock, BlockKind, Call, DataType, Expr, Function, GlobalFunc, GlobalVar,
    If, IrModule, MatchCast, PrimExpr, ShapeVar, Span, StructInfo, TensorData, Var, VarBinding,
};

/// What programs may contain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProgramOptions {
    /// Whose constructs they have.
    pub edition: Edition,
    /// The most global functions.
    pub functions: usize,
    /// The most bindings of one block.
    pub bindings: usize,
    /// Packed calls with effects.
    pub effects: bool,
    /// `If`, local functions, calls of other global functions.
    pub control: bool,
    /// Nested calls, sequences and branches that normalization has to flatten.
    pub nested: bool,
}

impl Default for ProgramOptions {
    fn default() -> ProgramOptions {
        ProgramOptions::of(Edition::default())
    }
}

impl ProgramOptions {
    /// Everything that an edition has.
    pub fn of(edition: Edition) -> ProgramOptions {
        ProgramOptions { edition, functions: 3, bindings: 6, effects: true, control: true, nested: true }
    }
}

/// A module. Its last function is `main`; every function is externally linked and calls only earlier ones.
pub fn module(tape: &mut Tape, options: &ProgramOptions) -> IrModule {
    let devices = options.edition >= Edition::E2023_12 && tape.one_in(4);
    let mut generator = ModuleGenerator { tape, options, globals: Vec::new(), fresh: 0, devices };
    let mut funcs = later::prim_funcs(options.edition);
    let count = 1 + generator.tape.choose(options.functions.max(1));
    for i in 0..count {
        let name = if i + 1 == count { "main".to_string() } else { format!("helper{i}") };
        let recurses = options.control && i + 1 < count && generator.tape.one_in(3);
        let function = if recurses {
            Function {
                attrs: linked(&name),
                pure: Some(true),
                ..generator.recursive(Expr::GlobalVar(GlobalVar::new(&name)))
            }
        } else {
            generator.function(Some(&name), &[])
        };
        generator.globals.push((name.clone(), signature(&function), function.pure == Some(true)));
        funcs.push((GlobalVar::new(&name), GlobalFunc::Function(Arc::new(function))));
    }
    let global_infos = if devices { later::global_infos() } else { Attrs::new() };
    IrModule { funcs, global_infos, ..IrModule::default() }
}

/// A variable in scope.
#[derive(Clone)]
pub(super) struct ScopeVariable {
    pub(super) expr: Expr,
    pub(super) info: StructInfo,
}

struct ModuleGenerator<'a> {
    tape: &'a mut Tape,
    options: &'a ProgramOptions,
    /// Name, parameters and result, purity.
    globals: Vec<(String, (Vec<StructInfo>, StructInfo), bool)>,
    fresh: u32,
    /// Whether the module lists a device: then all tensors lie there.
    devices: bool,
}

/// The variables in scope of one function, and what is allowed there.
pub(super) struct FunctionScope {
    pub(super) known: Vec<ScopeVariable>,
    pub(super) dims: Vec<ShapeVar>,
    dataflow: bool,
    pub(super) effects: bool,
    pub(super) depth: usize,
}

impl FunctionScope {
    /// The outside of functions, where these are known and may be nested so deep.
    pub(super) fn top(known: Vec<ScopeVariable>, depth: usize) -> FunctionScope {
        FunctionScope { known, dims: Vec::new(), dataflow: false, effects: false, depth }
    }
}

fn signature(f: &Function) -> (Vec<StructInfo>, StructInfo) {
    let params = f.params.iter().map(|p| p.annotation.clone().unwrap_or(StructInfo::Object)).collect();
    (params, f.ret_struct_info.clone().unwrap_or(StructInfo::Object))
}

pub(super) fn dims_of(info: &StructInfo) -> Option<(&Arc<[PrimExpr]>, DataType)> {
    let tensor = info.as_tensor()?;
    Some((tensor.shape.as_ref()?.as_dims()?, tensor.dtype))
}

/// The attributes of a global function that is externally linked.
pub(super) fn linked(name: &str) -> Attrs {
    Attrs::from([("global_symbol".into(), AttrValue::Str(name.into()))])
}

/// A Boolean scalar constant.
pub(super) fn truth(value: bool) -> Option<Expr> {
    TensorData::from_values(DataType::BOOL, &[], &[f64::from(u8::from(value))]).ok().map(Expr::constant)
}

fn is_float(known: &ScopeVariable) -> bool {
    dims_of(&known.info).is_some_and(|(_, dtype)| dtype == DataType::FLOAT32)
}

/// The float32 scalar constant `value`.
fn constant(value: f32) -> Option<Expr> {
    TensorData::from_values(DataType::FLOAT32, &[], &[f64::from(value)]).ok().map(Expr::constant)
}

impl ModuleGenerator<'_> {
    fn fresh(&mut self, prefix: &str) -> Var {
        self.fresh += 1;
        Var::new(&format!("{prefix}{}", self.fresh))
    }

    fn fresh_dim(&mut self) -> ShapeVar {
        self.fresh += 1;
        ShapeVar::new(&format!("d{}", self.fresh))
    }

    /// A function literal. With a name it is global; `outer` are the variables that it may capture.
    fn function(&mut self, global: Option<&str>, outer: &[ScopeVariable]) -> Function {
        let dims = vec![self.fresh_dim(), self.fresh_dim()];
        let mut params: Vec<Binder> = Vec::new();
        for _ in 0..=self.tape.choose(2) {
            let info = self.param_info(&dims);
            params.push(Binder::var(self.fresh("x")).annotated(info));
        }
        let mut known = outer.to_vec();
        known.extend(
            params
                .iter()
                .map(|p| ScopeVariable { expr: p.to_expr(), info: p.annotation.clone().unwrap_or(StructInfo::Object) }),
        );
        // Only variables that stand alone in a parameter are bound by it; every generated one does.
        let bound = dims.into_iter().filter(|d| params.iter().any(|p| binds(p, d))).collect();
        let effects = global.is_some() && self.options.effects && self.tape.one_in(2);
        let mut scope =
            FunctionScope { known, dims: bound, dataflow: false, effects, depth: if global.is_some() { 2 } else { 1 } };
        let (body, ret) = self.sequence(&mut scope);
        let mut attrs = global.map(linked).unwrap_or_default();
        // In later editions a function may be said to be pure whatever it calls.
        let forced = effects && self.options.edition >= Edition::E2023_12 && self.tape.one_in(3);
        if forced {
            attrs.insert("relax.force_pure".into(), AttrValue::Bool(true));
        }
        let pure = Some(forced || !effects);
        Function { params, body, ret_struct_info: Some(ret), pure, attrs, span: Span::NONE }
    }

    fn param_info(&mut self, dims: &[ShapeVar]) -> StructInfo {
        if let Some(info) = self.later_param() {
            return info;
        }
        let var = |d: &ShapeVar| PrimExpr::Var(d.clone());
        let shape = match (self.tape.choose(4), dims) {
            (0, [n, ..]) => vec![var(n)],
            (1, [n, m, ..]) => vec![var(n), var(m)],
            (2, [n, ..]) => vec![var(n), PrimExpr::IntImm(2)],
            (_, _) => vec![PrimExpr::IntImm(3)],
        };
        self.placed(StructInfo::tensor(shape, DataType::FLOAT32))
    }

    /// A sequence of blocks and its result, with the information that holds outside it.
    fn sequence(&mut self, scope: &mut FunctionScope) -> (Expr, StructInfo) {
        let mut blocks = Vec::new();
        for _ in 0..=self.tape.choose(3) {
            blocks.push(self.block(scope));
        }
        let result = self.pick(scope, |_| true);
        match result {
            Some(known) => {
                let info = self.outside(&known.info, scope);
                (Expr::seq(blocks, known.expr), info)
            }
            None => (Expr::seq(blocks, Expr::tuple(Vec::new())), StructInfo::tuple([])),
        }
    }

    /// What may be said of a value where the sequence's own shape variables are out of scope: its rank.
    fn outside(&self, info: &StructInfo, scope: &FunctionScope) -> StructInfo {
        match dims_of(info) {
            Some((dims, dtype)) if !dims.iter().all(|d| in_scope(d, &scope.dims)) => {
                self.placed(StructInfo::tensor_ndim(i64::try_from(dims.len()).unwrap_or(-1), dtype))
            }
            Some(_) | None => match info {
                StructInfo::Tuple(fields) => StructInfo::tuple(fields.iter().map(|f| self.outside(f, scope))),
                StructInfo::Shape(s) if !s.values.iter().flat_map(|v| v.iter()).all(|d| in_scope(d, &scope.dims)) => {
                    StructInfo::Shape(relax_spec::grammar::ShapeStructInfo { values: None, ndim: s.ndim })
                }
                StructInfo::Prim(p) if !p.value.iter().all(|value| in_scope(value, &scope.dims)) => {
                    StructInfo::prim(p.dtype)
                }
                StructInfo::Object
                | StructInfo::Tensor(_)
                | StructInfo::Shape(_)
                | StructInfo::Prim(_)
                | StructInfo::Func(_) => info.clone(),
            },
        }
    }

    fn block(&mut self, scope: &mut FunctionScope) -> BindingBlock {
        let dataflow = self.tape.one_in(2);
        let before = scope.known.len();
        scope.dataflow = dataflow;
        let bindings: Vec<Binding> =
            (0..=self.tape.choose(self.options.bindings)).filter_map(|_| self.binding(scope)).collect();
        scope.dataflow = false;
        let is_local = |k: &ScopeVariable| matches!(k.expr, Expr::DataflowVar(_));
        let kept: Vec<ScopeVariable> = scope.known.drain(before..).filter(|k| !is_local(k)).collect();
        scope.known.extend(kept);
        BindingBlock {
            kind: if dataflow { BlockKind::Dataflow } else { BlockKind::Binding },
            bindings,
            span: Span::NONE,
        }
    }

    fn binding(&mut self, scope: &mut FunctionScope) -> Option<Binding> {
        if self.tape.one_in(8) {
            return self.match_cast(scope);
        }
        if self.options.control && !scope.dataflow && self.tape.one_in(12) {
            return Some(self.recursive_binding(scope));
        }
        let (value, info) = self.value(scope)?;
        let var = self.binder(scope, &info);
        Some(Binding::VarBinding(VarBinding { var, value, span: Span::NONE }))
    }

    /// A new variable for a value, put into scope. Functions need an annotation to be bound.
    fn binder(&mut self, scope: &mut FunctionScope, info: &StructInfo) -> Binder {
        let binder = if scope.dataflow && self.tape.one_in(2) {
            Binder::dataflow(self.fresh("lv"))
        } else {
            Binder::var(self.fresh("v"))
        };
        scope.known.push(ScopeVariable { expr: binder.to_expr(), info: info.clone() });
        if info.as_func().is_some() { binder.annotated(info.clone()) } else { binder }
    }

    /// Forgets what is known of a tensor's dimensions and gives them fresh names, which always succeeds.
    fn match_cast(&mut self, scope: &mut FunctionScope) -> Option<Binding> {
        let known = self.pick(scope, |k| dims_of(&k.info).is_some())?;
        let (dims, dtype) = dims_of(&known.info)?;
        let fresh: Vec<PrimExpr> = dims.iter().map(|_| PrimExpr::Var(self.fresh_dim())).collect();
        let info = self.placed(StructInfo::tensor(fresh, dtype));
        let var = self.binder(scope, &info);
        Some(Binding::MatchCast(MatchCast { var: Some(var), struct_info: info, value: known.expr, span: Span::NONE }))
    }

    fn pick(&mut self, scope: &FunctionScope, accept: impl Fn(&ScopeVariable) -> bool) -> Option<ScopeVariable> {
        let candidates: Vec<&ScopeVariable> = scope.known.iter().filter(|k| accept(k)).collect();
        self.tape.pick(&candidates).map(|k| (*k).clone())
    }

    /// The right-hand side of a binding and what is known of its value.
    fn value(&mut self, scope: &mut FunctionScope) -> Option<(Expr, StructInfo)> {
        if self.options.edition >= Edition::E2023_12 && self.tape.one_in(3) {
            return self.later_value(scope);
        }
        let control = self.options.control && !scope.dataflow && scope.depth > 0;
        match self.tape.choose(14) {
            0..=3 => self.arithmetic(scope),
            4 => self.tuple(scope),
            5 => self.tuple_get_item(scope),
            6 => self.shape(scope),
            7 if self.tape.one_in(2) => truth(self.tape.one_in(2)).map(|c| self.number(c, DataType::BOOL)),
            7 => constant([1.0, 2.0, 0.5][self.tape.choose(3)]).map(|c| self.number(c, DataType::FLOAT32)),
            8 if scope.effects && !scope.dataflow => self.log(scope),
            9 if control => self.conditional(scope),
            10 if control => self.local_function(scope),
            11 if control => self.call(scope),
            12 | 13 if control => self.call_closure(scope),
            _ => self.arithmetic(scope),
        }
    }

    fn arithmetic(&mut self, scope: &mut FunctionScope) -> Option<(Expr, StructInfo)> {
        let a = self.pick(scope, is_float)?;
        let operand = self.operand(&a);
        if self.tape.one_in(3) {
            let op = ["relax.negative", "relax.abs", "relax.nn.relu"][self.tape.choose(3)];
            return Some((Expr::call(Expr::op(op), vec![operand]), a.info));
        }
        let op = ["relax.add", "relax.subtract", "relax.multiply", "relax.maximum"][self.tape.choose(4)];
        let b = self.pick(scope, |k| k.info == a.info)?;
        Some((Expr::call(Expr::op(op), vec![operand, b.expr]), a.info))
    }

    /// A variable, or where nesting is allowed a call that keeps its information.
    fn operand(&mut self, known: &ScopeVariable) -> Expr {
        if self.options.nested && self.tape.one_in(4) {
            return Expr::call(Expr::op("relax.negative"), vec![known.expr.clone()]);
        }
        known.expr.clone()
    }

    fn tuple(&mut self, scope: &mut FunctionScope) -> Option<(Expr, StructInfo)> {
        let fields: Vec<ScopeVariable> = (0..=self.tape.choose(3)).filter_map(|_| self.pick(scope, |_| true)).collect();
        let exprs = fields.iter().map(|k| k.expr.clone()).collect();
        Some((Expr::tuple(exprs), StructInfo::tuple(fields.into_iter().map(|k| k.info))))
    }

    fn tuple_get_item(&mut self, scope: &mut FunctionScope) -> Option<(Expr, StructInfo)> {
        let known = self.pick(scope, |k| matches!(&k.info, StructInfo::Tuple(fields) if !fields.is_empty()))?;
        let StructInfo::Tuple(fields) = &known.info else { return None };
        let index = self.tape.choose(fields.len());
        let info = fields.get(index)?.clone();
        Some((Expr::tuple_get_item(known.expr, i64::try_from(index).ok()?), info))
    }

    fn shape(&mut self, scope: &mut FunctionScope) -> Option<(Expr, StructInfo)> {
        if self.tape.one_in(2) {
            let known = self.pick(scope, |k| dims_of(&k.info).is_some())?;
            let (dims, _) = dims_of(&known.info)?;
            let info = StructInfo::shape(dims.iter().cloned());
            return Some((Expr::call(Expr::op("relax.shape_of"), vec![known.expr]), info));
        }
        let dims: Vec<PrimExpr> = (0..self.tape.choose(3)).map(|_| self.dim(&scope.dims)).collect();
        Some((Expr::shape(dims.iter().cloned()), StructInfo::shape(dims)))
    }

    /// A dimension that is never negative.
    fn dim(&mut self, vars: &[ShapeVar]) -> PrimExpr {
        let one = PrimExpr::IntImm(1);
        match self.tape.pick(vars) {
            None => one,
            Some(v) if self.tape.one_in(2) => {
                PrimExpr::binary(relax_spec::grammar::BinaryOp::Add, PrimExpr::Var(v.clone()), one)
            }
            Some(v) => PrimExpr::Var(v.clone()),
        }
    }

    /// An effect: the packed function records its argument and returns it.
    fn log(&mut self, scope: &mut FunctionScope) -> Option<(Expr, StructInfo)> {
        let known = self.pick(scope, is_float)?;
        let (dims, dtype) = dims_of(&known.info)?;
        let result = self.placed(StructInfo::tensor_ndim(i64::try_from(dims.len()).ok()?, dtype));
        let call = Call {
            op: Expr::extern_func("relax_spec.log"),
            args: vec![self.operand(&known)],
            sinfo_args: vec![result.clone()],
            attrs: Attrs::new(),
            span: Span::NONE,
        };
        Some((Expr::Call(Arc::new(call)), result))
    }

    fn conditional(&mut self, scope: &mut FunctionScope) -> Option<(Expr, StructInfo)> {
        let truth = truth(self.tape.one_in(2))?;
        let truths = self.placed(StructInfo::tensor([], DataType::BOOL));
        let bound = self.pick(scope, |k| k.info == truths);
        let cond = self.later_condition(scope).unwrap_or_else(|| bound.map_or(truth, |known| known.expr));
        let before = scope.known.len();
        scope.depth -= 1;
        let (true_branch, _) = self.sequence(scope);
        scope.known.truncate(before);
        let (false_branch, _) = self.sequence(scope);
        scope.known.truncate(before);
        scope.depth += 1;
        let e = If { cond, true_branch, false_branch, span: Span::NONE };
        // The branches may differ in any way; nothing is claimed of the join.
        Some((Expr::If(Arc::new(e)), StructInfo::Object))
    }

    fn local_function(&mut self, scope: &mut FunctionScope) -> Option<(Expr, StructInfo)> {
        let captured: Vec<ScopeVariable> =
            scope.known.iter().filter(|k| !matches!(k.expr, Expr::DataflowVar(_))).cloned().collect();
        let function = self.function(None, &captured);
        let (params, ret) = signature(&function);
        let info = StructInfo::func(params, ret);
        Some((Expr::Function(Arc::new(function)), info))
    }

    /// A call of an earlier global function whose parameters some variables in scope fit literally.
    fn call(&mut self, scope: &mut FunctionScope) -> Option<(Expr, StructInfo)> {
        let (name, (params, ret), pure) = self.tape.pick(&self.globals)?.clone();
        if !pure && !scope.effects {
            return None;
        }
        let args = self.args(scope, &params)?;
        Some((Expr::call(Expr::GlobalVar(GlobalVar::new(&name)), args), self.result_of_call(&ret)?))
    }

    /// A call of a closure, which counts as impure since its structural information does not say otherwise.
    fn call_closure(&mut self, scope: &mut FunctionScope) -> Option<(Expr, StructInfo)> {
        if !scope.effects {
            return None;
        }
        let closure = self.pick(scope, |k| matches!(k.info, StructInfo::Func(_)))?;
        let StructInfo::Func(func) = &closure.info else { return None };
        let args = self.args(scope, func.params.as_deref()?)?;
        Some((Expr::call(closure.expr, args), self.result_of_call(&func.ret)?))
    }

    /// Arguments that fit parameters for sure: the same rank and datatype, and one size for each shape variable.
    fn args(&mut self, scope: &FunctionScope, params: &[StructInfo]) -> Option<Vec<Expr>> {
        let mut sizes: Vec<(PrimExpr, PrimExpr)> = Vec::new();
        let mut args = Vec::new();
        for param in params {
            if let StructInfo::Prim(scalar) = param {
                args.push(self.pick(scope, |k| later::is_box(&k.info, scalar.dtype))?.expr);
                continue;
            }
            let (wanted, dtype) = dims_of(param)?;
            // Constant dimensions of a parameter would be checked at run time; only free ones always fit.
            if wanted.iter().any(|d| !matches!(d, PrimExpr::Var(_))) {
                return None;
            }
            let arg = self.pick(scope, |k| {
                dims_of(&k.info).is_some_and(|(dims, of)| {
                    let known = |(d, size): (&PrimExpr, &PrimExpr)| sizes.iter().all(|(e, s)| e != d || s == size);
                    dims.len() == wanted.len() && of == dtype && wanted.iter().zip(dims.iter()).all(known)
                })
            })?;
            let (dims, _) = dims_of(&arg.info)?;
            sizes.extend(wanted.iter().cloned().zip(dims.iter().cloned()));
            args.push(arg.expr);
        }
        Some(args)
    }

    /// What may be said of the result of a call: its rank.
    fn result_of_call(&self, ret: &StructInfo) -> Option<StructInfo> {
        match dims_of(ret) {
            Some((dims, dtype)) => Some(self.placed(StructInfo::tensor_ndim(i64::try_from(dims.len()).ok()?, dtype))),
            None => Some(StructInfo::Object),
        }
    }

    /// A local function that calls itself, bound with the annotation that it needs.
    fn recursive_binding(&mut self, scope: &mut FunctionScope) -> Binding {
        let var = self.fresh("v");
        let function = self.recursive(Expr::Var(var.clone()));
        let (params, ret) = signature(&function);
        let info = StructInfo::func(params, ret);
        scope.known.push(ScopeVariable { expr: Expr::Var(var.clone()), info: info.clone() });
        let value = Expr::Function(Arc::new(function));
        Binding::VarBinding(VarBinding { var: Binder::var(var).annotated(info), value, span: Span::NONE })
    }

    /// `fn (c, x) { if c { own(false, x + x) } else { x } }`: recursion that ends after one call.
    fn recursive(&mut self, own: Expr) -> Function {
        let dim = PrimExpr::Var(self.fresh_dim());
        let vector = self.placed(StructInfo::tensor([dim], DataType::FLOAT32));
        let [c, x] = ["c", "x"].map(|prefix| Binder::var(self.fresh(prefix)));
        let truths = self.placed(StructInfo::tensor([], DataType::BOOL));
        let [c, x] = [c.annotated(truths), x.annotated(vector.clone())];
        let [sum, again, result] = ["v", "v", "v"].map(|prefix| Binder::var(self.fresh(prefix)));
        let bind = |var: &Binder, value| Binding::VarBinding(VarBinding { var: var.clone(), value, span: Span::NONE });
        let block = |bindings| BindingBlock { kind: BlockKind::Binding, bindings, span: Span::NONE };
        let twice = Expr::call(Expr::op("relax.add"), vec![x.to_expr(), x.to_expr()]);
        let stop = truth(false).unwrap_or_else(|| c.to_expr());
        let call = Expr::call(own, vec![stop, sum.to_expr()]);
        let branch = If {
            cond: c.to_expr(),
            true_branch: Expr::seq(vec![block(vec![bind(&sum, twice), bind(&again, call)])], again.to_expr()),
            false_branch: Expr::seq(Vec::new(), x.to_expr()),
            span: Span::NONE,
        };
        let value = Expr::If(Arc::new(branch));
        let body = Expr::seq(vec![block(vec![bind(&result, value)])], result.to_expr());
        let params = vec![c, x];
        Function { params, body, ret_struct_info: Some(vector), pure: None, attrs: Attrs::new(), span: Span::NONE }
    }
}

fn binds(param: &Binder, d: &ShapeVar) -> bool {
    let dims = param.annotation.as_ref().and_then(dims_of);
    dims.is_some_and(|(dims, _)| dims.iter().any(|e| *e == PrimExpr::Var(d.clone())))
}

pub(super) fn in_scope(dim: &PrimExpr, scope: &[ShapeVar]) -> bool {
    let mut all = true;
    dim.for_each_var(|v| all &= scope.contains(v));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use relax_spec::grammar::visit::Visitor;

    #[test]
    fn an_empty_tape_gives_a_small_program() {
        let module = module(&mut Tape::from_choices(Vec::new()), &ProgramOptions::default());
        assert_eq!(module.funcs.len(), 1);
        assert!(module.get("main").is_some());
    }

    /// What occurs in programs.
    #[derive(Default)]
    struct Constructs {
        function: String,
        found: std::collections::BTreeSet<&'static str>,
    }

    impl Visitor for Constructs {
        fn visit_expr(&mut self, expr: &Expr) {
            self.found.insert(expr.node_name());
            if let Expr::Call(call) = expr {
                self.found.insert(match &call.op {
                    Expr::Var(_) => "call of a closure",
                    Expr::GlobalVar(gv) if *gv.name == *self.function => "recursion",
                    Expr::GlobalVar(_) => "call of a global function",
                    Expr::ExternFunc(_) => "impure call",
                    _ => "call of an operator",
                });
                if call.args.iter().any(|arg| matches!(arg, Expr::Call(_))) {
                    self.found.insert("nested call");
                }
            }
            relax_spec::grammar::visit::walk_expr(self, expr);
        }
        fn visit_binding(&mut self, binding: &Binding) {
            match binding {
                Binding::VarBinding(b) => self.visit_var_binding(b),
                Binding::MatchCast(cast) => {
                    self.found.insert("MatchCast");
                    self.visit_match_cast(cast);
                }
            }
        }
        fn visit_dataflow_block(&mut self, block: &BindingBlock) {
            self.found.insert("DataflowBlock");
            self.visit_binding_block(block);
        }
    }

    #[test]
    fn every_construct_occurs() {
        let mut constructs = Constructs::default();
        for seed in 0..100 {
            for (gv, func) in &module(&mut Tape::from_seed(seed, 400), &ProgramOptions::default()).funcs {
                constructs.function = gv.name.to_string();
                if let GlobalFunc::Function(function) = func {
                    constructs.visit_function(function);
                }
            }
        }
        for expected in [
            "If",
            "Function",
            "Tuple",
            "TupleGetItem",
            "ShapeExpr",
            "SeqExpr",
            "Constant",
            "DataflowVar",
            "MatchCast",
            "DataflowBlock",
            "recursion",
            "call of a closure",
            "call of a global function",
            "impure call",
            "nested call",
        ] {
            assert!(constructs.found.contains(expected), "no {expected} in {:?}", constructs.found);
        }
    }

    #[test]
    fn tapes_give_varied_programs() {
        let programs: std::collections::HashSet<String> = (0..50)
            .map(|seed| format!("{:?}", module(&mut Tape::from_seed(seed, 400), &ProgramOptions::default())))
            .collect();
        assert!(programs.len() > 40);
    }
}
