//! Random programs: well-formed, well-typed, and (asked so) not yet in normal form.
//!
//! The generator knows the structural information of every variable that it binds, and picks each next binding among
//! those that the variables in scope allow. It knows it by construction, not by the derivation rules, so that the
//! rules can be tested on what it makes.

use std::sync::Arc;

use super::Tape;
use crate::grammar::{
    AttrValue, Attrs, Binder, Binding, BindingBlock, BlockKind, Call, DataType, Expr, Function, GlobalFunc, GlobalVar,
    If, IrModule, MatchCast, PrimExpr, ShapeVar, Span, StructInfo, TensorData, TensorShape, Var, VarBinding,
};

/// What programs may contain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProgramOptions {
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
        ProgramOptions { functions: 3, bindings: 6, effects: true, control: true, nested: true }
    }
}

/// A module. Its last function is `main`; every function is externally linked and calls only earlier ones.
pub fn module(tape: &mut Tape, options: &ProgramOptions) -> IrModule {
    let mut generator = Generator { tape, options, globals: Vec::new(), fresh: 0 };
    let mut funcs = Vec::new();
    let count = 1 + generator.tape.choose(options.functions.max(1));
    for i in 0..count {
        let name = if i + 1 == count { "main".to_string() } else { format!("helper{i}") };
        let function = generator.function(Some(&name), &[]);
        generator.globals.push((name.clone(), signature(&function), function.pure == Some(true)));
        funcs.push((GlobalVar::new(&name), GlobalFunc::Function(Arc::new(function))));
    }
    IrModule { funcs, ..IrModule::default() }
}

/// A variable in scope.
#[derive(Clone)]
struct Known {
    expr: Expr,
    info: StructInfo,
}

struct Generator<'a> {
    tape: &'a mut Tape,
    options: &'a ProgramOptions,
    /// Name, parameters and result, purity.
    globals: Vec<(String, (Vec<StructInfo>, StructInfo), bool)>,
    fresh: u32,
}

/// The variables in scope of one function, and what is allowed there.
struct Scope {
    known: Vec<Known>,
    dims: Vec<ShapeVar>,
    dataflow: bool,
    effects: bool,
    depth: usize,
}

fn signature(f: &Function) -> (Vec<StructInfo>, StructInfo) {
    let params = f.params.iter().map(|p| p.annotation.clone().unwrap_or(StructInfo::Object)).collect();
    (params, f.ret_struct_info.clone().unwrap_or(StructInfo::Object))
}

fn dims_of(info: &StructInfo) -> Option<(&Arc<[PrimExpr]>, DataType)> {
    match info {
        StructInfo::Tensor(t) => match &t.shape {
            Some(TensorShape::Dims(dims)) => Some((dims, t.dtype)),
            None | Some(TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_)) => None,
        },
        StructInfo::Object
        | StructInfo::Shape(_)
        | StructInfo::Prim(_)
        | StructInfo::Tuple(_)
        | StructInfo::Func(_) => None,
    }
}

/// The float32 scalar constant `value`.
fn constant(value: f32) -> Option<Expr> {
    TensorData::from_values(DataType::FLOAT32, &[], &[f64::from(value)]).ok().map(Expr::constant)
}

impl Generator<'_> {
    fn fresh(&mut self, prefix: &str) -> Var {
        self.fresh += 1;
        Var::new(&format!("{prefix}{}", self.fresh))
    }

    fn fresh_dim(&mut self) -> ShapeVar {
        self.fresh += 1;
        ShapeVar::new(&format!("d{}", self.fresh))
    }

    /// A function literal. With a name it is global; `outer` are the variables that it may capture.
    fn function(&mut self, global: Option<&str>, outer: &[Known]) -> Function {
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
                .map(|p| Known { expr: p.to_expr(), info: p.annotation.clone().unwrap_or(StructInfo::Object) }),
        );
        // Only variables that stand alone in a parameter are bound by it; every generated one does.
        let bound = dims.into_iter().filter(|d| params.iter().any(|p| binds(p, d))).collect();
        let effects = global.is_some() && self.options.effects && self.tape.one_in(2);
        let mut scope =
            Scope { known, dims: bound, dataflow: false, effects, depth: if global.is_some() { 2 } else { 1 } };
        let (body, ret) = self.sequence(&mut scope);
        let attrs: Attrs =
            global.map(|name| ("global_symbol".into(), AttrValue::Str(name.into()))).into_iter().collect();
        Function { params, body, ret_struct_info: Some(ret), pure: Some(!effects), attrs, span: Span::NONE }
    }

    fn param_info(&mut self, dims: &[ShapeVar]) -> StructInfo {
        let var = |d: &ShapeVar| PrimExpr::Var(d.clone());
        let shape = match (self.tape.choose(4), dims) {
            (0, [n, ..]) => vec![var(n)],
            (1, [n, m, ..]) => vec![var(n), var(m)],
            (2, [n, ..]) => vec![var(n), PrimExpr::IntImm(2)],
            (_, _) => vec![PrimExpr::IntImm(3)],
        };
        StructInfo::tensor(shape, DataType::FLOAT32)
    }

    /// A sequence of blocks and its result, with the information that holds outside it.
    fn sequence(&mut self, scope: &mut Scope) -> (Expr, StructInfo) {
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
    fn outside(&self, info: &StructInfo, scope: &Scope) -> StructInfo {
        match dims_of(info) {
            Some((dims, dtype)) if !dims.iter().all(|d| in_scope(d, &scope.dims)) => {
                StructInfo::tensor_ndim(i64::try_from(dims.len()).unwrap_or(-1), dtype)
            }
            Some(_) | None => match info {
                StructInfo::Tuple(fields) => StructInfo::tuple(fields.iter().map(|f| self.outside(f, scope))),
                StructInfo::Shape(s) if !s.values.iter().flat_map(|v| v.iter()).all(|d| in_scope(d, &scope.dims)) => {
                    StructInfo::Shape(crate::grammar::ShapeStructInfo { values: None, ndim: s.ndim })
                }
                StructInfo::Object
                | StructInfo::Tensor(_)
                | StructInfo::Shape(_)
                | StructInfo::Prim(_)
                | StructInfo::Func(_) => info.clone(),
            },
        }
    }

    fn block(&mut self, scope: &mut Scope) -> BindingBlock {
        let dataflow = self.tape.one_in(2);
        let before = scope.known.len();
        scope.dataflow = dataflow;
        let bindings: Vec<Binding> =
            (0..=self.tape.choose(self.options.bindings)).filter_map(|_| self.binding(scope)).collect();
        scope.dataflow = false;
        let is_local = |k: &Known| matches!(k.expr, Expr::DataflowVar(_));
        let kept: Vec<Known> = scope.known.drain(before..).filter(|k| !is_local(k)).collect();
        scope.known.extend(kept);
        BindingBlock {
            kind: if dataflow { BlockKind::Dataflow } else { BlockKind::Binding },
            bindings,
            span: Span::NONE,
        }
    }

    fn binding(&mut self, scope: &mut Scope) -> Option<Binding> {
        if self.tape.one_in(8) {
            return self.match_cast(scope);
        }
        let (value, info) = self.value(scope)?;
        let var = self.binder(scope, &info);
        Some(Binding::VarBinding(VarBinding { var, value, span: Span::NONE }))
    }

    /// A new variable for a value, put into scope. Functions need an annotation to be bound.
    fn binder(&mut self, scope: &mut Scope, info: &StructInfo) -> Binder {
        let binder = if scope.dataflow && self.tape.one_in(2) {
            Binder::dataflow(self.fresh("lv"))
        } else {
            Binder::var(self.fresh("v"))
        };
        scope.known.push(Known { expr: binder.to_expr(), info: info.clone() });
        match info {
            StructInfo::Func(_) => binder.annotated(info.clone()),
            StructInfo::Object
            | StructInfo::Tensor(_)
            | StructInfo::Shape(_)
            | StructInfo::Prim(_)
            | StructInfo::Tuple(_) => binder,
        }
    }

    /// Forgets what is known of a tensor's dimensions and gives them fresh names, which always succeeds.
    fn match_cast(&mut self, scope: &mut Scope) -> Option<Binding> {
        let known = self.pick(scope, |k| dims_of(&k.info).is_some())?;
        let (dims, dtype) = dims_of(&known.info)?;
        let fresh: Vec<PrimExpr> = dims.iter().map(|_| PrimExpr::Var(self.fresh_dim())).collect();
        let info = StructInfo::tensor(fresh, dtype);
        let var = self.binder(scope, &info);
        Some(Binding::MatchCast(MatchCast { var: Some(var), struct_info: info, value: known.expr, span: Span::NONE }))
    }

    fn pick(&mut self, scope: &Scope, accept: impl Fn(&Known) -> bool) -> Option<Known> {
        let candidates: Vec<&Known> = scope.known.iter().filter(|k| accept(k)).collect();
        self.tape.pick(&candidates).map(|k| (*k).clone())
    }

    /// The right-hand side of a binding and what is known of its value.
    fn value(&mut self, scope: &mut Scope) -> Option<(Expr, StructInfo)> {
        let control = self.options.control && !scope.dataflow && scope.depth > 0;
        match self.tape.choose(12) {
            0..=3 => self.arithmetic(scope),
            4 => self.tuple(scope),
            5 => self.tuple_get_item(scope),
            6 => self.shape(scope),
            7 => constant([1.0, 2.0, 0.5][self.tape.choose(3)]).map(|c| (c, StructInfo::tensor([], DataType::FLOAT32))),
            8 if scope.effects && !scope.dataflow => self.log(scope),
            9 if control => self.conditional(scope),
            10 if control => self.local_function(scope),
            11 if control => self.call(scope),
            _ => self.arithmetic(scope),
        }
    }

    fn arithmetic(&mut self, scope: &mut Scope) -> Option<(Expr, StructInfo)> {
        let a = self.pick(scope, |k| dims_of(&k.info).is_some())?;
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
    fn operand(&mut self, known: &Known) -> Expr {
        if self.options.nested && self.tape.one_in(4) {
            return Expr::call(Expr::op("relax.negative"), vec![known.expr.clone()]);
        }
        known.expr.clone()
    }

    fn tuple(&mut self, scope: &mut Scope) -> Option<(Expr, StructInfo)> {
        let fields: Vec<Known> = (0..=self.tape.choose(3)).filter_map(|_| self.pick(scope, |_| true)).collect();
        let exprs = fields.iter().map(|k| k.expr.clone()).collect();
        Some((Expr::tuple(exprs), StructInfo::tuple(fields.into_iter().map(|k| k.info))))
    }

    fn tuple_get_item(&mut self, scope: &mut Scope) -> Option<(Expr, StructInfo)> {
        let known = self.pick(scope, |k| matches!(&k.info, StructInfo::Tuple(fields) if !fields.is_empty()))?;
        let StructInfo::Tuple(fields) = &known.info else { return None };
        let index = self.tape.choose(fields.len());
        let info = fields.get(index)?.clone();
        Some((Expr::tuple_get_item(known.expr, i64::try_from(index).ok()?), info))
    }

    fn shape(&mut self, scope: &mut Scope) -> Option<(Expr, StructInfo)> {
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
                PrimExpr::binary(crate::grammar::BinaryOp::Add, PrimExpr::Var(v.clone()), one)
            }
            Some(v) => PrimExpr::Var(v.clone()),
        }
    }

    /// An effect: the packed function records its argument and returns it.
    fn log(&mut self, scope: &mut Scope) -> Option<(Expr, StructInfo)> {
        let known = self.pick(scope, |k| dims_of(&k.info).is_some())?;
        let (dims, dtype) = dims_of(&known.info)?;
        let result = StructInfo::tensor_ndim(i64::try_from(dims.len()).ok()?, dtype);
        let call = Call {
            op: Expr::extern_func("relax_spec.log"),
            args: vec![self.operand(&known)],
            sinfo_args: vec![result.clone()],
            attrs: Attrs::new(),
            span: Span::NONE,
        };
        Some((Expr::Call(Arc::new(call)), result))
    }

    fn conditional(&mut self, scope: &mut Scope) -> Option<(Expr, StructInfo)> {
        let data = TensorData::from_values(DataType::BOOL, &[], &[[1.0, 0.0][self.tape.choose(2)]]).ok()?;
        let before = scope.known.len();
        scope.depth -= 1;
        let (true_branch, _) = self.sequence(scope);
        scope.known.truncate(before);
        let (false_branch, _) = self.sequence(scope);
        scope.known.truncate(before);
        scope.depth += 1;
        let e = If { cond: Expr::constant(data), true_branch, false_branch, span: Span::NONE };
        // The branches may differ in any way; nothing is claimed of the join.
        Some((Expr::If(Arc::new(e)), StructInfo::Object))
    }

    fn local_function(&mut self, scope: &mut Scope) -> Option<(Expr, StructInfo)> {
        let captured: Vec<Known> =
            scope.known.iter().filter(|k| !matches!(k.expr, Expr::DataflowVar(_))).cloned().collect();
        let function = self.function(None, &captured);
        let (params, ret) = signature(&function);
        let info = StructInfo::func(params, ret);
        Some((Expr::Function(Arc::new(function)), info))
    }

    /// A call of an earlier global function whose parameters some variables in scope fit literally.
    fn call(&mut self, scope: &mut Scope) -> Option<(Expr, StructInfo)> {
        let (name, (params, ret), pure) = self.tape.pick(&self.globals)?.clone();
        if !pure && !scope.effects {
            return None;
        }
        let mut args = Vec::new();
        for param in &params {
            let (wanted, _) = dims_of(param)?;
            let rank = wanted.len();
            // Constant dimensions of a parameter would be checked at run time; only free ones always fit.
            if wanted.iter().any(|d| !matches!(d, PrimExpr::Var(_))) {
                return None;
            }
            args.push(self.pick(scope, |k| dims_of(&k.info).is_some_and(|(dims, _)| dims.len() == rank))?.expr);
        }
        let info = match dims_of(&ret) {
            Some((dims, dtype)) => StructInfo::tensor_ndim(i64::try_from(dims.len()).ok()?, dtype),
            None => StructInfo::Object,
        };
        Some((Expr::call(Expr::GlobalVar(GlobalVar::new(&name)), args), info))
    }
}

fn binds(param: &Binder, d: &ShapeVar) -> bool {
    let dims = param.annotation.as_ref().and_then(dims_of);
    dims.is_some_and(|(dims, _)| dims.iter().any(|e| *e == PrimExpr::Var(d.clone())))
}

fn in_scope(dim: &PrimExpr, scope: &[ShapeVar]) -> bool {
    let mut all = true;
    dim.for_each_var(|v| all &= scope.contains(v));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_tape_gives_a_small_program() {
        let module = module(&mut Tape::from_choices(Vec::new()), &ProgramOptions::default());
        assert_eq!(module.funcs.len(), 1);
        assert!(module.get("main").is_some());
    }

    #[test]
    fn tapes_give_varied_programs() {
        let programs: std::collections::HashSet<String> = (0..50)
            .map(|seed| format!("{:?}", module(&mut Tape::from_seed(seed, 400), &ProgramOptions::default())))
            .collect();
        assert!(programs.len() > 40);
    }
}
