//! The generator: modules, functions, blocks, and what is in scope in them.

use relax_spec::rule;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Features, ProgramSource};
use crate::generate::Tape;
use relax_spec::grammar::{
    AttrValue, Attrs, BinaryOp, Binder, Binding, BindingBlock, BlockKind, DataType, Expr, Function, GlobalFunc,
    GlobalVar, IrModule, Name, Ndim, PrimExpr, ShapeStructInfo, ShapeVar, Span, StructInfo, TensorShape,
    TensorStructInfo, Var, VarBinding,
};

/// The numbers of bindings that a program may have, the small ones often: what takes long to compile takes the time of many others.
const BINDINGS: [usize; 24] = [1, 2, 3, 4, 5, 6, 8, 10, 2, 3, 4, 5, 6, 8, 10, 3, 4, 5, 6, 12, 2, 3, 16, LARGE[0]];
/// Those of the largest of them.
const LARGE: [usize; 8] = [20, 24, 32, 24, 20, 40, 80, 200];
/// The most parameters that a function grows, and the most values that `main` returns.
const PARAMS: usize = 8;
/// The function that every program has.
const MAIN: &str = "main";
/// How deep branches and local functions are nested at most.
pub(super) const DEPTH: usize = 2;
const RESULTS: usize = 6;

/// How many choices say how large a program is.
pub(super) const SIZING: usize = 2;

/// Which choice says what operator is tried first.
pub(super) const FEATURED: usize = SIZING + Features::NAMES.len();

/// How many bindings a program has at most: its first choices.
pub(super) fn bindings_of(tape: &mut Tape) -> usize {
    let (at, large) = (tape.choose(BINDINGS.len()), tape.choose(LARGE.len()));
    if at + 1 == BINDINGS.len() { LARGE[large] } else { BINDINGS[at] }
}

/// A value in scope.
#[derive(Clone, Debug)]
pub(super) struct ScopeValue {
    pub(super) expr: Expr,
    pub(super) info: StructInfo,
    /// Of a tensor, the example sizes, also where the information does not tell them.
    pub(super) sizes: Option<Vec<i64>>,
    pub(super) used: bool,
}

/// What is made by the right-hand side of a binding.
pub(super) struct BindingValue {
    pub(super) value: Expr,
    pub(super) info: StructInfo,
    pub(super) sizes: Option<Vec<i64>>,
}

/// The inside of a function.
#[derive(Clone, Debug)]
pub(super) struct FunctionDraft {
    pub(super) known: Vec<ScopeValue>,
    /// Variables whose tensors share nothing with any other value when they are bound.
    pub(super) fresh: Vec<Expr>,
    /// Those that were given away to be written, and are not to be used any more.
    pub(super) spent: Vec<Expr>,
    /// The shape variables in scope.
    pub(super) dims: Vec<ShapeVar>,
    /// Those that are in scope of the signature.
    pub(super) bound: Vec<ShapeVar>,
    /// Those of inner scopes that were left.
    pub(super) gone: Vec<ShapeVar>,
    pub(super) params: Vec<Binder>,
    /// Whether it may be given further parameters.
    pub(super) grows: bool,
    pub(super) effects: bool,
    pub(super) dataflow: bool,
    /// Whether its result may be a function.
    pub(super) gives_functions: bool,
    /// How deep control may still be nested.
    pub(super) depth: usize,
}

impl FunctionDraft {
    pub(super) fn new(effects: bool, grows: bool, depth: usize) -> FunctionDraft {
        FunctionDraft {
            known: Vec::new(),
            fresh: Vec::new(),
            spent: Vec::new(),
            dims: Vec::new(),
            bound: Vec::new(),
            gone: Vec::new(),
            params: Vec::new(),
            grows,
            effects,
            dataflow: false,
            gives_functions: false,
            depth,
        }
    }

    /// Whether impure calls may stand here.
    pub(super) fn is_impure(&self) -> bool {
        self.effects && !self.dataflow
    }

    /// Where it stands, to come [`back`](Frame::back_to) to.
    pub(super) fn mark(&self) -> [usize; 4] {
        [self.known.len(), self.dims.len(), self.bound.len(), self.params.len()]
    }

    /// Forgets everything since the mark.
    pub(super) fn back_to(&mut self, [known, dims, bound, params]: [usize; 4]) {
        self.known.truncate(known);
        self.dims.truncate(dims);
        self.bound.truncate(bound);
        self.params.truncate(params);
    }

    /// Leaves an inner scope: all that was bound since the mark is gone, but for parameters that the function has grown.
    pub(super) fn leave(&mut self, mark: [usize; 4]) {
        let grown: Vec<Binder> = self.params.get(mark[3]..).unwrap_or_default().to_vec();
        let of_params = |known: &ScopeValue| grown.iter().any(|param| param.to_expr() == known.expr);
        let kept: Vec<ScopeValue> = self.known.drain(mark[0]..).filter(of_params).collect();
        self.known.extend(kept);
        let bound = self.bound.get(mark[2]..).unwrap_or_default().to_vec();
        self.gone.extend(self.dims.drain(mark[1]..).filter(|var| !bound.contains(var)));
        self.dims.extend(bound);
    }
}

/// A global function that later ones may call.
#[derive(Clone, Debug)]
pub(super) struct GlobalSignature {
    pub(super) name: Name,
    pub(super) info: StructInfo,
    /// The example sizes of the parameters, where they are tensors.
    pub(super) sizes: Vec<Option<Vec<i64>>>,
    pub(super) result: Option<Vec<i64>>,
    pub(super) pure: bool,
}

pub(super) struct ProgramGenerator<'a> {
    pub(super) source: &'a ProgramSource,
    pub(super) tape: &'a mut Tape,
    pub(super) on: Features,
    /// The operators that are called, by number.
    pub(super) operators: Vec<usize>,
    /// The operator that is tried before others, until it was called.
    pub(super) featured: Option<usize>,
    pub(super) globals: Vec<GlobalSignature>,
    /// The `PrimFunc`s that are called, by number.
    pub(super) prim_funcs: Vec<usize>,
    /// The example sizes; no two functions share a shape variable.
    pub(super) world: BTreeMap<ShapeVar, i64>,
    /// The shape variables that were bound inside of operands.
    pub(super) spent: Vec<ShapeVar>,
    /// How many bindings may still be made.
    pub(super) left: usize,
    fresh: u32,
}

impl<'a> ProgramGenerator<'a> {
    pub(super) fn new(source: &'a ProgramSource, tape: &'a mut Tape) -> ProgramGenerator<'a> {
        let drawn = bindings_of(tape);
        let left = source.restriction.exactly.unwrap_or(drawn).min(source.restriction.bindings);
        let on = Features::draw(tape).and(source.restriction.features);
        let featured = Some(tape.choose(source.operators.len()));
        let mut generator = ProgramGenerator {
            source,
            tape,
            on,
            operators: Vec::new(),
            featured,
            globals: Vec::new(),
            prim_funcs: Vec::new(),
            world: BTreeMap::new(),
            spent: Vec::new(),
            left,
            fresh: 0,
        };
        generator.operators = generator.some_operators();
        generator
    }

    fn some_operators(&mut self) -> Vec<usize> {
        let all = self.source.operators.len();
        if !self.on.few_operators {
            return (0..all).collect();
        }
        (0..1 + self.tape.choose(8)).map(|_| self.tape.choose(all)).collect()
    }

    /// The module, its entry points, and the example sizes.
    pub(super) fn module(mut self) -> (IrModule, Vec<Name>, BTreeMap<ShapeVar, i64>, Features) {
        let mut funcs: Vec<(GlobalVar, GlobalFunc)> = Vec::new();
        let mut entries = Vec::new();
        let helpers = if self.on.globals { 1 + self.tape.choose(3) } else { 0 };
        for nth in 0..helpers {
            let name: Name = format!("helper{nth}").into();
            let linked = self.on.entries && self.tape.one_in(2);
            let share = self.left / 3;
            let rest = std::mem::replace(&mut self.left, share);
            let function = match self.tape.choose(6) {
                1 if self.on.recursion => self.recursive(&name),
                5 if self.on.recursion => {
                    let other: Name = format!("helper{nth}_back").into();
                    let [function, back] = self.mutually_recursive(&name, &other);
                    funcs.push((GlobalVar::new(&other), GlobalFunc::Function(Arc::new(back))));
                    function
                }
                2 if self.on.higher_order => self.applying(&name),
                _ => self.global(&name),
            };
            self.left += rest - share;
            let mut attrs = function.attrs.clone();
            attrs.extend(if linked { linked_as(&name) } else { Attrs::new() });
            entries.extend(linked.then(|| name.clone()));
            let function = Function { attrs, ..function };
            funcs.push((GlobalVar::new(&name), GlobalFunc::Function(Arc::new(function))));
        }
        let mut main = self.global(MAIN);
        main.attrs.extend(linked_as(MAIN));
        if self.on.attributes {
            let inputs = self.tape.choose(main.params.len() + 1);
            main.attrs.insert("num_input".into(), AttrValue::Int(i64::try_from(inputs).unwrap_or(0)));
        }
        entries.push(MAIN.into());
        funcs.push((GlobalVar::new(MAIN), GlobalFunc::Function(Arc::new(main))));
        for at in &self.prim_funcs {
            if let Some(template) = self.source.prim_funcs.get(*at) {
                funcs.push((GlobalVar::new(template.name), GlobalFunc::PrimFunc(template.func.clone())));
            }
        }
        (IrModule { funcs, ..IrModule::default() }, entries, self.world, self.on)
    }

    /// A global function, which later ones may call.
    fn global(&mut self, name: &str) -> Function {
        let effects = self.on.effects && self.tape.one_in(2);
        let mut frame = FunctionDraft::new(effects, true, DEPTH);
        // What is started from outside gives what can be looked into.
        frame.gives_functions = name != MAIN && self.on.higher_order && self.tape.one_in(6);
        self.spent.clear();
        let (body, ret, result) = self.sequence(&mut frame, usize::MAX);
        let params: Vec<Binder> = std::mem::take(&mut frame.params);
        let mut attrs = Attrs::new();
        // A function may be said to be pure whatever it calls.
        let forced = effects && self.on.attributes && self.tape.one_in(4);
        if forced {
            attrs.insert("relax.force_pure".into(), AttrValue::Bool(true));
        }
        let pure = Some(forced || !effects);
        let function = Function { params, body, ret_struct_info: Some(ret), pure, attrs, span: Span::NONE };
        self.knows(name, &function, result);
        let says_less = self.on.annotations && self.tape.one_in(8);
        // Where purity is not inferred, what says nothing of it is pure.
        let is_inferred = rule!("TC.FUNC.PURE.DEFAULT").is_stated_by(self.source.edition());
        let unsaid = function.pure.filter(|pure| !pure && !is_inferred);
        if says_less { Function { ret_struct_info: None, pure: unsaid, ..function } } else { function }
    }

    /// Later functions may call it.
    pub(super) fn knows(&mut self, name: &str, function: &Function, result: Option<Vec<i64>>) {
        let info = signature(function);
        let sizes =
            function.params.iter().map(|p| p.annotation.as_ref().and_then(|info| self.sizes_of(info))).collect();
        let pure = function.pure == Some(true);
        self.globals.push(GlobalSignature { name: name.into(), info, sizes, result, pure });
    }

    /// A sequence of so many bindings at most, its result as it is known outside, and the example sizes of that.
    pub(super) fn sequence(&mut self, frame: &mut FunctionDraft, most: usize) -> (Expr, StructInfo, Option<Vec<i64>>) {
        let mut blocks = Vec::new();
        let mut left = most.min(self.left);
        while left > 0 {
            let before = self.left;
            blocks.push(self.block(frame, left));
            left = left.saturating_sub((before - self.left).max(1));
        }
        if self.on.odd_blocks && self.tape.one_in(4) {
            let kind = if self.on.dataflow { BlockKind::Dataflow } else { BlockKind::Binding };
            blocks.push(BindingBlock { kind, bindings: Vec::new(), span: Span::NONE });
        }
        let bound = frame.bound.clone();
        let (body, info, sizes) = self.result(frame);
        let body = self.odd_result(frame, body, &info);
        let whole = match blocks.is_empty() && self.on.nested {
            true => body,
            false => Expr::seq(blocks, body),
        };
        (whole, self.outside(&info, &bound), sizes)
    }

    /// What a sequence gives, now and then in a form that normalization has to bind.
    fn odd_result(&mut self, frame: &FunctionDraft, body: Expr, info: &StructInfo) -> Expr {
        if !self.on.nested || frame.dataflow || !self.tape.one_in(8) {
            return body;
        }
        match self.tape.choose(3) {
            1 => Expr::tuple_get_item(Expr::tuple(vec![body]), 0),
            2 if dtype_of(info) == Some(DataType::FLOAT32) && dims_of(info).is_some() => {
                Expr::call(Expr::op("relax.nn.relu"), vec![body])
            }
            _ => Expr::seq(Vec::new(), body),
        }
    }

    fn block(&mut self, frame: &mut FunctionDraft, most: usize) -> BindingBlock {
        let dataflow = self.on.dataflow && self.tape.one_in(2);
        let before = frame.known.len();
        frame.dataflow = dataflow;
        let mut bindings: Vec<Binding> = Vec::new();
        let count = (1 + self.tape.choose(12)).min(most);
        for _ in 0..count {
            self.left = self.left.saturating_sub(1);
            let binding = self.binding(frame);
            bindings.extend(binding);
        }
        frame.dataflow = false;
        let kept: Vec<ScopeValue> = frame.known.drain(before..).filter(|known| !is_local(known)).collect();
        frame.known.extend(kept);
        let kind = if dataflow { BlockKind::Dataflow } else { BlockKind::Binding };
        BindingBlock { kind, bindings, span: Span::NONE }
    }

    /// What a sequence returns: one of the last values, or a tuple of those that nothing has used.
    fn result(&mut self, frame: &mut FunctionDraft) -> (Expr, StructInfo, Option<Vec<i64>>) {
        if frame.gives_functions
            && let Some(closure) = self.pick(frame, |known| known.info.as_func().is_some_and(|f| f.params.is_some()))
        {
            return (closure.expr, closure.info, None);
        }
        let spent = frame.spent.clone();
        let is_data = |known: &ScopeValue| !holds_function(&known.info) && !spent.contains(&known.expr);
        let unused: Vec<usize> = (0..frame.known.len())
            .rev()
            .filter(|i| frame.known.get(*i).is_some_and(|k| !k.used && is_data(k)))
            .collect();
        let several = self.tape.choose(4) > 0;
        if several && unused.len() > 1 {
            let fields: Vec<ScopeValue> =
                unused.iter().take(RESULTS).filter_map(|i| frame.known.get(*i).cloned()).collect();
            let exprs = fields.iter().map(|known| known.expr.clone()).collect();
            return (Expr::tuple(exprs), StructInfo::tuple(fields.into_iter().map(|known| known.info)), None);
        }
        let last = unused
            .first()
            .copied()
            .or_else(|| (0..frame.known.len()).rev().find(|i| frame.known.get(*i).is_some_and(is_data)));
        match last.and_then(|i| frame.known.get_mut(i)) {
            Some(known) => {
                known.used = true;
                (known.expr.clone(), known.info.clone(), known.sizes.clone())
            }
            None => (Expr::tuple(Vec::new()), StructInfo::tuple([]), None),
        }
    }

    // Names.

    pub(super) fn fresh(&mut self, prefix: &str) -> Var {
        self.fresh += 1;
        if self.on.shadowing {
            return Var::numbered("v".into(), self.fresh);
        }
        Var::new(&format!("{prefix}{}", self.fresh))
    }

    /// A shape variable of this example size.
    pub(super) fn fresh_dim(&mut self, size: i64) -> ShapeVar {
        self.fresh += 1;
        let var = ShapeVar::new(&format!("n{}", self.fresh));
        self.world.insert(var.clone(), size);
        var
    }

    /// A new variable for a value, put into scope.
    pub(super) fn bind(&mut self, frame: &mut FunctionDraft, made: BindingValue) -> Binding {
        let var = if frame.dataflow && self.tape.one_in(2) {
            Binder::dataflow(self.fresh("lv"))
        } else {
            Binder::var(self.fresh("v"))
        };
        let BindingValue { value, mut info, sizes } = made;
        let one_in = if info.as_prim().is_some() { 2 } else { 3 };
        let annotated = holds_function(&info) || self.on.annotations && self.tape.one_in(one_in);
        let mut bound = var.clone();
        if annotated {
            if !holds_function(&info) && self.tape.one_in(8) {
                info = weakened(&info, self.tape);
            }
            bound = var.clone().annotated(self.outside(&info, &frame.dims));
        }
        if is_fresh(&value) {
            frame.fresh.push(var.to_expr());
        }
        frame.known.push(ScopeValue { expr: var.to_expr(), info, sizes, used: false });
        Binding::VarBinding(VarBinding { var: bound, value, span: Span::NONE })
    }

    /// What may be said where only these shape variables are in scope.
    pub(super) fn outside(&self, info: &StructInfo, scope: &[ShapeVar]) -> StructInfo {
        outside(info, scope, self.source.restriction.values)
    }

    // Sizes.

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

    /// A dimension of this example size, that is in scope.
    pub(super) fn dim(&mut self, frame: &FunctionDraft, size: i64) -> PrimExpr {
        let alike = |vars: &[ShapeVar], world: &BTreeMap<ShapeVar, i64>, wanted: i64| {
            vars.iter().find(|var| world.get(*var) == Some(&wanted)).cloned()
        };
        match self.tape.choose(6) {
            1 | 2 if self.on.symbolic => {
                alike(&frame.dims, &self.world, size).map_or(PrimExpr::IntImm(size), PrimExpr::Var)
            }
            3 if self.on.arithmetic && size > 0 => match alike(&frame.dims, &self.world, size - 1) {
                Some(var) => PrimExpr::binary(BinaryOp::Add, PrimExpr::Var(var), PrimExpr::IntImm(1)),
                None => PrimExpr::IntImm(size),
            },
            4 if self.on.arithmetic => self.computed(frame, size, BinaryOp::Sub),
            5 if self.on.arithmetic => self.computed(frame, size, BinaryOp::FloorDiv),
            _ => PrimExpr::IntImm(size),
        }
    }

    /// What is less than a variable, or a part of one: at other sizes it may be no size at all.
    fn computed(&self, frame: &FunctionDraft, size: i64, op: BinaryOp) -> PrimExpr {
        let of = |var: &ShapeVar| {
            let whole = *self.world.get(var)?;
            let by = if op == BinaryOp::Sub { whole.checked_sub(size) } else { whole.checked_div(size) }?;
            let is_exact = op == BinaryOp::Sub || whole.checked_rem(size) == Some(0);
            (by > 0 && is_exact).then(|| PrimExpr::binary(op, PrimExpr::Var(var.clone()), PrimExpr::IntImm(by)))
        };
        frame.dims.iter().find_map(of).unwrap_or(PrimExpr::IntImm(size))
    }

    /// A new parameter of the function.
    pub(super) fn parameter(
        &mut self,
        frame: &mut FunctionDraft,
        dtype: DataType,
        sizes: &[i64],
    ) -> Option<ScopeValue> {
        if !frame.grows || frame.params.len() >= PARAMS {
            return None;
        }
        let mut dims = Vec::new();
        for size in sizes {
            let dim = if self.on.symbolic && self.tape.one_in(3) {
                let var = self.fresh_dim(*size);
                frame.dims.push(var.clone());
                frame.bound.push(var.clone());
                PrimExpr::Var(var)
            } else {
                // A parameter may mention what other parameters bind.
                let signature = FunctionDraft { dims: frame.bound.clone(), ..FunctionDraft::new(false, false, 0) };
                self.dim(&signature, *size)
            };
            dims.push(dim);
        }
        let info = StructInfo::tensor(dims, dtype);
        let param = Binder::var(self.fresh("x")).annotated(info.clone());
        let known = ScopeValue { expr: param.to_expr(), info, sizes: Some(sizes.to_vec()), used: true };
        frame.params.push(param);
        frame.known.push(known.clone());
        Some(known)
    }

    /// One of the values in scope, the latest the simplest.
    pub(super) fn pick(
        &mut self,
        frame: &mut FunctionDraft,
        accept: impl Fn(&ScopeValue) -> bool,
    ) -> Option<ScopeValue> {
        let is_one = |known: &ScopeValue| accept(known) && !frame.spent.contains(&known.expr);
        let fitting: Vec<usize> =
            (0..frame.known.len()).rev().filter(|i| frame.known.get(*i).is_some_and(is_one)).collect();
        let at = *self.tape.pick(&fitting)?;
        let known = frame.known.get_mut(at)?;
        known.used = true;
        Some(known.clone())
    }
}

/// The operators of which the result is a tensor of its own by every implementation, and no view of an argument.
const OF_THEIR_OWN: [&str; 6] =
    ["relax.add", "relax.multiply", "relax.subtract", "relax.maximum", "relax.nn.relu", "relax.call_tir"];

/// Whether a value shares nothing with another one.
fn is_fresh(value: &Expr) -> bool {
    let Expr::Call(call) = value else { return false };
    matches!(&call.op, Expr::Op(op) if OF_THEIR_OWN.contains(&&*op.op_name))
}

/// The attributes of a function that can be started.
pub(super) fn linked_as(name: &str) -> Attrs {
    Attrs::from([("global_symbol".into(), AttrValue::Str(name.into()))])
}

/// What a function says of itself.
pub(super) fn signature(function: &Function) -> StructInfo {
    let said = |info: &Option<StructInfo>| info.clone().unwrap_or(StructInfo::Object);
    let info = StructInfo::func(function.params.iter().map(|p| said(&p.annotation)), said(&function.ret_struct_info));
    match info {
        StructInfo::Func(func) => {
            let pure = function.pure;
            let mut func = (*func).clone();
            func.pure = pure;
            StructInfo::Func(Arc::new(func))
        }
        other @ (StructInfo::Object
        | StructInfo::Tensor(_)
        | StructInfo::Shape(_)
        | StructInfo::Prim(_)
        | StructInfo::Tuple(_)) => other,
    }
}

/// The dimensions of a tensor or a shape.
pub(super) fn dims_of(info: &StructInfo) -> Option<&[PrimExpr]> {
    match info {
        StructInfo::Tensor(tensor) => match &tensor.shape {
            Some(TensorShape::Dims(dims)) => Some(dims),
            Some(TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_)) | None => None,
        },
        StructInfo::Shape(shape) => shape.values.as_deref(),
        StructInfo::Object | StructInfo::Prim(_) | StructInfo::Tuple(_) | StructInfo::Func(_) => None,
    }
}

pub(super) fn dtype_of(info: &StructInfo) -> Option<DataType> {
    info.as_tensor().map(|tensor| tensor.dtype)
}

fn is_local(known: &ScopeValue) -> bool {
    matches!(known.expr, Expr::DataflowVar(_))
}

/// Whether there is a function in it.
pub(super) fn holds_function(info: &StructInfo) -> bool {
    match info {
        StructInfo::Func(_) => true,
        StructInfo::Tuple(fields) => fields.iter().any(holds_function),
        StructInfo::Object | StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Prim(_) => false,
    }
}

/// Less than is known.
fn weakened(info: &StructInfo, tape: &mut Tape) -> StructInfo {
    match info {
        StructInfo::Tensor(tensor) => match tape.choose(4) {
            0 => StructInfo::Tensor(TensorStructInfo { shape: None, ..tensor.clone() }),
            1 => StructInfo::Tensor(TensorStructInfo { shape: None, dtype: DataType::VOID, ..tensor.clone() }),
            2 => StructInfo::Tensor(TensorStructInfo { shape: None, ndim: Ndim::Unknown, ..tensor.clone() }),
            _ => StructInfo::Object,
        },
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

/// What may be said where only these shape variables are in scope, with or without the values of what is boxed.
fn outside(info: &StructInfo, scope: &[ShapeVar], values: bool) -> StructInfo {
    let visible = |dims: &[PrimExpr]| {
        let mut all = true;
        dims.iter().for_each(|dim| dim.for_each_var(|var| all &= scope.contains(var)));
        all
    };
    match info {
        StructInfo::Tensor(tensor) => match dims_of(info) {
            Some(dims) if !visible(dims) => {
                let mut tensor = tensor.clone();
                tensor.shape = None;
                StructInfo::Tensor(tensor)
            }
            Some(_) => info.clone(),
            None => {
                let mut tensor = tensor.clone();
                tensor.shape = None;
                StructInfo::Tensor(tensor)
            }
        },
        StructInfo::Shape(shape) => match &shape.values {
            Some(values) if !visible(values) => StructInfo::Shape(ShapeStructInfo { values: None, ndim: shape.ndim }),
            Some(_) | None => info.clone(),
        },
        StructInfo::Prim(prim) => match &prim.value {
            Some(value) if values && visible(std::slice::from_ref(value)) => info.clone(),
            Some(_) | None => StructInfo::prim(prim.dtype),
        },
        StructInfo::Tuple(fields) => StructInfo::tuple(fields.iter().map(|field| outside(field, scope, values))),
        StructInfo::Object | StructInfo::Func(_) => info.clone(),
    }
}
