//! The generator: modules, functions, blocks, names and sizes.

use std::collections::BTreeMap;

use super::{Drawn, Features, ProgramSource};
use crate::generate::Tape;
use crate::generate::functions::within;
use crate::generate::nodes::{
    F32, bind, block, dims_of, dtype_of, global, holds_function, is_closure, is_over, linked,
};
use crate::generate::scope::{DimScope, Scope, ScopeValue};
use relax_spec::grammar::{
    AttrValue, BinaryOp, Binder, Binding, BindingBlock, BlockKind, DataType, Expr, Function, GlobalFunc, GlobalVar,
    IrModule, Name, Ndim, PrimExpr, ShapeStructInfo, ShapeVar, StructInfo, TensorStructInfo, Var,
};
use relax_spec::rule;

/// The usual maximum number of bindings. One of [`LARGE`] programs has several times as many: a large program takes the
/// time of many others to compile.
const BINDINGS: usize = 10;
const LARGE: usize = 24;
const TIMES_LARGER: usize = 8;
/// The maximum number of parameters that are added to a function.
pub(super) const PARAMS: usize = 8;
/// The maximum number of values that a sequence returns.
const RESULTS: usize = 6;
/// The maximum number of bindings of a block.
const BLOCK: usize = 12;
/// The function that every program has.
const MAIN: &str = "main";
/// The maximum nesting of branches and local functions.
pub(super) const DEPTH: usize = 2;

/// How many choices determine the size of a program.
pub(super) const SIZING: usize = 2;

/// The position of the choice of the operator that is tried first.
pub(super) const FEATURED: usize = SIZING + Features::NAMES.len();

/// The maximum number of bindings of a program: its first choices.
pub(super) fn bindings_of(tape: &mut Tape) -> usize {
    let (some, is_large) = (1 + tape.choose(BINDINGS), tape.choose(LARGE) + 1 == LARGE);
    if is_large { TIMES_LARGER * some } else { some }
}

/// A global function that later ones may call.
#[derive(Clone, Debug)]
pub(super) struct GlobalSignature {
    pub(super) name: Name,
    pub(super) info: StructInfo,
    /// The example sizes of the parameters that are tensors.
    pub(super) sizes: Vec<Option<Vec<i64>>>,
    pub(super) result: Option<Vec<i64>>,
    pub(super) pure: bool,
}

pub(super) struct ProgramGenerator<'a> {
    pub(super) source: &'a ProgramSource,
    pub(super) tape: &'a mut Tape,
    pub(super) on: Features,
    /// The operators called so far, by number.
    pub(super) operators: Vec<usize>,
    /// The operator that is tried before others, until it has been called.
    pub(super) featured: Option<usize>,
    pub(super) globals: Vec<GlobalSignature>,
    /// The `PrimFunc`s called so far, by number.
    pub(super) prim_funcs: Vec<usize>,
    /// The example sizes; no two functions share a shape variable.
    pub(super) world: BTreeMap<ShapeVar, i64>,
    /// The shape variables bound inside of operands.
    pub(super) in_operands: Vec<ShapeVar>,
    /// How many bindings may still be drawn.
    pub(super) left: usize,
    names: u32,
}

impl<'a> ProgramGenerator<'a> {
    pub(super) fn new(source: &'a ProgramSource, tape: &'a mut Tape) -> ProgramGenerator<'a> {
        let drawn = bindings_of(tape);
        let left = source.restriction.exactly.unwrap_or(drawn).min(source.restriction.bindings);
        let on = Features::draw(tape).and(source.restriction.features);
        let all = source.operators.len();
        let featured = Some(tape.choose(all));
        let operators = match on.few_operators {
            true => (0..=tape.choose(8)).map(|_| tape.choose(all)).collect(),
            false => (0..all).collect(),
        };
        ProgramGenerator {
            source,
            tape,
            on,
            operators,
            featured,
            globals: Vec::new(),
            prim_funcs: Vec::new(),
            world: BTreeMap::new(),
            in_operands: Vec::new(),
            left,
            names: 0,
        }
    }

    /// The program: helpers, `main`, and the `PrimFunc`s that they call.
    pub(super) fn program(mut self) -> Drawn {
        let choices = self.tape.choices().to_vec();
        let (mut funcs, mut entries) = (Vec::new(), Vec::new());
        let helpers = if self.on.globals { 1 + self.tape.choose(3) } else { 0 };
        for nth in 0..helpers {
            self.helper(&format!("helper{nth}"), &mut funcs, &mut entries);
        }
        let mut main = self.global(MAIN);
        main.attrs.extend(linked(MAIN));
        if self.on.attributes {
            let inputs = self.tape.choose(main.params.len() + 1);
            main.attrs.insert("num_input".into(), AttrValue::Int(i64::try_from(inputs).unwrap_or(0)));
        }
        entries.push(MAIN.into());
        funcs.push(global(MAIN, main));
        for template in self.prim_funcs.iter().filter_map(|at| self.source.prim_funcs.get(*at)) {
            funcs.push((GlobalVar::new(template.name), GlobalFunc::PrimFunc(template.func.clone())));
        }
        let mut module = IrModule { funcs, ..IrModule::default() };
        self.place_on_a_device(&mut module);
        Drawn { module, entries, sizes: self.world, features: self.on, choices }
    }

    /// A function for others to call; sometimes it can be started too.
    fn helper(&mut self, name: &str, funcs: &mut Vec<(GlobalVar, GlobalFunc)>, entries: &mut Vec<Name>) {
        let is_entry = self.on.entries && self.tape.one_in(2);
        let share = self.left / 3;
        let rest = std::mem::replace(&mut self.left, share);
        let mut function = match self.tape.choose(6) {
            1 if self.on.recursion => self.recursive(name),
            5 if self.on.recursion => {
                let other = format!("{name}_back");
                let [function, back] = self.mutually_recursive(name, &other);
                funcs.push(global(&other, back));
                function
            }
            2 if self.on.higher_order => self.applying(name),
            _ => self.global(name),
        };
        self.left += rest - share;
        if is_entry {
            function.attrs.extend(linked(name));
            entries.push(name.into());
        }
        funcs.push(global(name, function));
    }

    /// A global function, which later ones may call.
    fn global(&mut self, name: &str) -> Function {
        let effects = self.on.effects && self.tape.one_in(2);
        let mut scope = Scope::new(effects, true, DEPTH);
        // The result of a function that is started from outside must be inspectable.
        let gives_functions = name != MAIN && self.on.higher_order && self.tape.one_in(6);
        self.in_operands.clear();
        let (body, ret, result) = self.sequence(&mut scope, usize::MAX, gives_functions);
        // A function may be declared pure whatever it calls.
        let forced = effects && self.on.attributes && self.tape.one_in(4);
        let pure = forced || !effects;
        let mut function = crate::generate::nodes::function(scope.params(), body, ret, pure);
        if forced {
            function.attrs.insert("relax.force_pure".into(), AttrValue::Bool(true));
        }
        self.knows(name, &function, result);
        if self.on.annotations && self.tape.one_in(8) {
            // If purity is not inferred, a function without a declaration is pure.
            let is_inferred = rule!("TC.FUNC.PURE.DEFAULT").is_stated_by(self.source.edition());
            function.pure = function.pure.filter(|pure| !pure && !is_inferred);
            function.ret_struct_info = None;
        }
        function
    }

    /// Lets later functions call it.
    pub(super) fn knows(&mut self, name: &str, function: &Function, result: Option<Vec<i64>>) {
        let sizes_of = |param: &Binder| param.annotation.as_ref().and_then(|info| self.sizes_of(info));
        let sizes = function.params.iter().map(sizes_of).collect();
        let (info, pure) = (function.signature(), function.pure == Some(true));
        self.globals.push(GlobalSignature { name: name.into(), info, sizes, result, pure });
    }

    /// A sequence of at most this many bindings, the information about its result that is valid outside, and the
    /// example sizes of the result.
    pub(super) fn sequence(
        &mut self,
        scope: &mut Scope,
        most: usize,
        gives_functions: bool,
    ) -> (Expr, StructInfo, Option<Vec<i64>>) {
        let mut blocks = Vec::new();
        let mut left = most.min(self.left);
        while left > 0 {
            let before = self.left;
            blocks.push(self.block(scope, left));
            left = left.saturating_sub((before - self.left).max(1));
        }
        if self.on.odd_blocks && self.tape.one_in(4) {
            let kind = if self.on.dataflow { BlockKind::Dataflow } else { BlockKind::Binding };
            blocks.push(block(kind, Vec::new()));
        }
        let result = self.result(scope, gives_functions);
        let body = self.odd_result(scope, result.expr, &result.info);
        let whole = if blocks.is_empty() && self.on.nested { body } else { Expr::seq(blocks, body) };
        (whole, self.outside(&result.info, &scope.signature_dims()), result.sizes)
    }

    /// The result of a sequence, sometimes in a form that normalization has to bind.
    fn odd_result(&mut self, scope: &Scope, body: Expr, info: &StructInfo) -> Expr {
        if !self.on.nested || scope.dataflow || !self.tape.one_in(8) {
            return body;
        }
        match self.tape.choose(3) {
            1 => Expr::tuple_get_item(Expr::tuple(vec![body]), 0),
            2 if dtype_of(info) == Some(F32) && dims_of(info).is_some() => {
                Expr::call(Expr::op("relax.nn.relu"), vec![body])
            }
            _ => Expr::seq(Vec::new(), body),
        }
    }

    fn block(&mut self, scope: &mut Scope, most: usize) -> BindingBlock {
        scope.dataflow = self.on.dataflow && self.tape.one_in(2);
        let kind = if scope.dataflow { BlockKind::Dataflow } else { BlockKind::Binding };
        let count = (1 + self.tape.choose(BLOCK)).min(most);
        let bindings = self.bindings(scope, count);
        scope.leave_dataflow();
        block(kind, bindings)
    }

    /// At most this many bindings.
    pub(super) fn bindings(&mut self, scope: &mut Scope, count: usize) -> Vec<Binding> {
        let mut bindings = Vec::new();
        for _ in 0..count {
            self.left = self.left.saturating_sub(1);
            bindings.extend(self.binding(scope));
        }
        bindings
    }

    /// The result of a sequence: one of the last values, or a tuple of the unused ones.
    fn result(&mut self, scope: &mut Scope, gives_functions: bool) -> ScopeValue {
        if gives_functions {
            // The information about it must be valid outside.
            let dims = scope.signature_dims();
            let fits = |value: &ScopeValue| is_closure(&value.info) && within(&value.info, &dims) == value.info;
            if let Some(closure) = self.pick(scope, fits) {
                return closure;
            }
        }
        let is_data = |value: &&ScopeValue| !value.spent && !holds_function(&value.info);
        let unused: Vec<&ScopeValue> = scope.values().rev().filter(|value| !value.used && is_data(value)).collect();
        let several = self.tape.choose(4) > 0;
        if several && unused.len() > 1 {
            let fields = unused.iter().take(RESULTS);
            let exprs = fields.clone().map(|value| value.expr.clone()).collect();
            let info = StructInfo::tuple(fields.map(|value| value.info.clone()));
            return ScopeValue::new(Expr::tuple(exprs), info, None);
        }
        let last = unused.first().copied().or_else(|| scope.values().rev().find(is_data));
        let nothing = || ScopeValue::new(Expr::tuple(Vec::new()), StructInfo::tuple([]), None);
        last.cloned().unwrap_or_else(nothing)
    }

    // Names.

    pub(super) fn fresh(&mut self, prefix: &str) -> Var {
        self.names += 1;
        if self.on.shadowing {
            return Var::numbered("v".into(), self.names);
        }
        Var::new(&format!("{prefix}{}", self.names))
    }

    pub(super) fn binder(&mut self, prefix: &str, info: &StructInfo) -> Binder {
        Binder::var(self.fresh(prefix)).annotated(info.clone())
    }

    /// A new shape variable with this example size.
    pub(super) fn fresh_dim(&mut self, size: i64) -> ShapeVar {
        self.names += 1;
        let var = ShapeVar::new(&format!("n{}", self.names));
        self.world.insert(var.clone(), size);
        var
    }

    /// A new variable for a value, which it puts into scope.
    pub(super) fn bind(&mut self, scope: &mut Scope, made: ScopeValue) -> (Binder, Expr) {
        let is_local = scope.dataflow && self.tape.one_in(2);
        let var = if is_local { Binder::dataflow(self.fresh("lv")) } else { Binder::var(self.fresh("v")) };
        let ScopeValue { expr: value, mut info, sizes, .. } = made;
        let one_in = if info.as_prim().is_some() { 2 } else { 3 };
        let mut bound = var.clone();
        if holds_function(&info) || self.on.annotations && self.tape.one_in(one_in) {
            if !holds_function(&info) && self.tape.one_in(8) {
                info = weakened(&info, self.tape);
            }
            bound.annotation = Some(self.outside(&info, &scope.all_dims()));
        }
        scope.push(ScopeValue { fresh: is_fresh(&value), ..ScopeValue::new(var.to_expr(), info, sizes) });
        (bound, value)
    }

    pub(super) fn bound(&mut self, scope: &mut Scope, made: ScopeValue) -> Binding {
        let (var, value) = self.bind(scope, made);
        bind(&var, value)
    }

    /// The information that is valid where only these shape variables are in scope.
    pub(super) fn outside(&self, info: &StructInfo, scope: &[ShapeVar]) -> StructInfo {
        outside(info, scope, self.source.restriction.values)
    }

    /// One of the values in scope; the latest is the simplest choice.
    pub(super) fn pick(&mut self, scope: &mut Scope, accept: impl Fn(&ScopeValue) -> bool) -> Option<ScopeValue> {
        scope.pick(self.tape, accept)
    }

    // Sizes.

    /// A small size other than 0.
    pub(super) fn some_size(&mut self) -> i64 {
        1 + self.tape.choose(4) as i64
    }

    /// The example size of a dimension.
    pub(super) fn size(&self, dim: &PrimExpr) -> Option<i64> {
        match dim {
            PrimExpr::IntImm(size) => Some(*size),
            PrimExpr::Var(var) => self.world.get(var).copied(),
            PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..) => {
                relax_spec::shape::evaluate(&mut self.source.cx(), dim, &|var| self.world.get(var).copied()).ok()
            }
        }
    }

    /// The example sizes of a tensor or a shape.
    pub(super) fn sizes_of(&self, info: &StructInfo) -> Option<Vec<i64>> {
        dims_of(info)?.iter().map(|dim| self.size(dim)).collect()
    }

    /// A dimension in scope with this example size.
    pub(super) fn dim(&mut self, scope: &Scope, size: i64) -> PrimExpr {
        self.dim_over(scope.dims(), size)
    }

    pub(super) fn dims(&mut self, scope: &Scope, sizes: &[i64]) -> Vec<PrimExpr> {
        sizes.iter().map(|size| self.dim(scope, *size)).collect()
    }

    /// A dimension over variables with this example size. A variable minus a number, or a part of one, may be invalid
    /// at other sizes.
    fn dim_over<'v>(&mut self, mut vars: impl Iterator<Item = &'v ShapeVar> + Clone, size: i64) -> PrimExpr {
        let choice = self.tape.choose(6);
        let world = &self.world;
        let alike = |wanted: i64| vars.clone().find(|var| world.get(*var) == Some(&wanted)).cloned().map(PrimExpr::Var);
        let found = match choice {
            1 | 2 if self.on.symbolic => alike(size),
            3 if self.on.arithmetic && size > 0 => {
                alike(size - 1).map(|var| PrimExpr::binary(BinaryOp::Add, var, PrimExpr::IntImm(1)))
            }
            4 | 5 if self.on.arithmetic => {
                let op = if choice == 4 { BinaryOp::Sub } else { BinaryOp::FloorDiv };
                vars.find_map(|var| part_of(var, *world.get(var)?, op, size))
            }
            _ => None,
        };
        found.unwrap_or(PrimExpr::IntImm(size))
    }

    /// A new parameter of the function.
    pub(super) fn parameter(&mut self, scope: &mut Scope, dtype: DataType, sizes: &[i64]) -> Option<ScopeValue> {
        if !scope.grows || scope.params().len() >= PARAMS {
            return None;
        }
        let mut dims = Vec::new();
        for size in sizes {
            dims.push(if self.on.symbolic && self.tape.one_in(3) {
                let var = self.fresh_dim(*size);
                scope.push_dim(&var, DimScope::Signature);
                PrimExpr::Var(var)
            } else {
                // A parameter may mention variables that other parameters bind.
                self.dim_over(scope.signature_dims().iter(), *size)
            });
        }
        let info = StructInfo::tensor(dims, dtype);
        let param = Binder::var(self.fresh("x"));
        let value = ScopeValue::param(&param, info, Some(sizes.to_vec()));
        scope.push(value.clone());
        Some(value)
    }
}

/// A variable minus a number, or divided by one, if that is exactly the size.
fn part_of(var: &ShapeVar, whole: i64, op: BinaryOp, size: i64) -> Option<PrimExpr> {
    let by = if op == BinaryOp::Sub { whole.checked_sub(size) } else { whole.checked_div(size) }?;
    let is_exact = op == BinaryOp::Sub || by > 1 && whole.checked_rem(size) == Some(0);
    (by > 0 && is_exact).then(|| PrimExpr::binary(op, PrimExpr::Var(var.clone()), PrimExpr::IntImm(by)))
}

/// The operators whose result is a new tensor in every implementation, and not a view of an argument.
const OF_THEIR_OWN: [&str; 6] =
    ["relax.add", "relax.multiply", "relax.subtract", "relax.maximum", "relax.nn.relu", "relax.call_tir"];

/// Whether a value shares no memory with another one.
fn is_fresh(value: &Expr) -> bool {
    let Expr::Call(call) = value else { return false };
    matches!(&call.op, Expr::Op(op) if OF_THEIR_OWN.contains(&&*op.op_name))
}

/// Weaker information.
fn weakened(info: &StructInfo, tape: &mut Tape) -> StructInfo {
    match info {
        StructInfo::Tensor(tensor) => {
            let less = TensorStructInfo { shape: None, ..tensor.clone() };
            match tape.choose(4) {
                0 => StructInfo::Tensor(less),
                1 => StructInfo::Tensor(TensorStructInfo { dtype: DataType::VOID, ..less }),
                2 => StructInfo::Tensor(TensorStructInfo { ndim: Ndim::Unknown, ..less }),
                _ => StructInfo::Object,
            }
        }
        StructInfo::Shape(shape) => match tape.choose(3) {
            0 => StructInfo::Shape(ShapeStructInfo { values: None, ndim: shape.ndim }),
            1 => StructInfo::Shape(ShapeStructInfo { values: None, ndim: Ndim::Unknown }),
            _ => StructInfo::Object,
        },
        StructInfo::Tuple(fields) if !tape.one_in(3) => {
            StructInfo::tuple(fields.iter().map(|field| weakened(field, tape)))
        }
        StructInfo::Object | StructInfo::Tuple(_) | StructInfo::Prim(_) | StructInfo::Func(_) => StructInfo::Object,
    }
}

/// The information that is valid where only these shape variables are in scope, with or without the values of boxed
/// scalars.
fn outside(info: &StructInfo, scope: &[ShapeVar], values: bool) -> StructInfo {
    let is_visible = |dim: &PrimExpr| is_over(dim, scope);
    let are_visible = dims_of(info).is_some_and(|dims| dims.iter().all(is_visible));
    match info {
        StructInfo::Tensor(tensor) if !are_visible => {
            StructInfo::Tensor(TensorStructInfo { shape: None, ..tensor.clone() })
        }
        StructInfo::Shape(shape) if !are_visible => {
            StructInfo::Shape(ShapeStructInfo { values: None, ndim: shape.ndim })
        }
        StructInfo::Prim(prim) if !(values && prim.value.as_ref().is_some_and(is_visible)) => {
            StructInfo::prim(prim.dtype)
        }
        StructInfo::Tuple(fields) => StructInfo::tuple(fields.iter().map(|field| outside(field, scope, values))),
        other => other.clone(),
    }
}
