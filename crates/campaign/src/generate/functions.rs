//! Random programs that are about functions: few shape variables under few names, which signatures, casts and function
//! types introduce over and over; functions that are local, global, aliased, put in tuples, chosen by an `If`, passed,
//! returned and cast.
//!
//! What is known of a variable is guessed here, well enough that most calls have arguments of the right kind. Whether a
//! program is accepted is for the check to say.
//!
//! In later editions functions are pure or not by what they say, signatures mention shape variables before they bind them, boxed scalars
//! have values, and conditions need not be tensors.

use std::sync::Arc;

use super::Tape;
use super::program::later::{boxed, is_box, is_small, pure_packed};
use super::program::{FunctionScope, ScopeVariable, dims_of, linked, truth};
use relax_spec::book::Edition;
use relax_spec::grammar::{
    Attrs, BinaryOp, Binder, Binding, BindingBlock, BlockKind, DataType, Expr, FuncStructInfo, Function, GlobalFunc,
    GlobalVar, If, IrModule, MatchCast, PrimExpr, PrimStructInfo, ShapeVar, Span, StructInfo, TensorData, TensorShape,
    TensorStructInfo, Var, VarBinding,
};

/// All shape variables there are.
const NAMES: [&str; 3] = ["n", "m", "k"];

/// A module about functions, with the constructs of an edition. Its last function is `main`, which takes two vectors and a Boolean, and in
/// later editions a boxed number and a boxed Boolean.
pub fn module_of_functions(edition: Edition, tape: &mut Tape) -> IrModule {
    let views = tape.choose(4) > 0;
    let mut generator = FunctionGenerator { edition, tape, fresh: 0, views };
    let (mut funcs, mut globals) = (Vec::new(), Vec::new());
    for i in 0..generator.tape.choose(3) {
        let name = format!("helper{i}");
        let place = FunctionScope::top(globals.clone(), 2);
        let signature = generator.params(&place, 1);
        let (function, info) = generator.function(&place, &signature);
        globals.push(ScopeVariable { expr: Expr::GlobalVar(GlobalVar::new(&name)), info });
        funcs.push((GlobalVar::new(&name), GlobalFunc::Function(Arc::new(function))));
    }
    let second = [dim("m"), dim("n"), PrimExpr::IntImm(3)][generator.tape.choose(3)].clone();
    let mut params = vec![vector(dim("n")), vector(second), StructInfo::tensor([], DataType::BOOL)];
    if generator.is_later() {
        params.extend([DataType::INT64, DataType::BOOL].map(StructInfo::prim));
    }
    let (mut main, _) = generator.function(&FunctionScope::top(globals, 2), &params);
    main.attrs = linked("main");
    funcs.push((GlobalVar::new("main"), GlobalFunc::Function(Arc::new(main))));
    IrModule { funcs, ..IrModule::default() }
}

struct FunctionGenerator<'a> {
    edition: Edition,
    tape: &'a mut Tape,
    fresh: u32,
    /// Whether functions are known by other information than that of their signature: passed, returned, cast.
    views: bool,
}

fn dim(name: &str) -> PrimExpr {
    PrimExpr::Var(ShapeVar::new(name))
}

fn vector(dim: PrimExpr) -> StructInfo {
    StructInfo::tensor([dim], DataType::FLOAT32)
}

fn unknown_vector() -> StructInfo {
    StructInfo::tensor_ndim(1, DataType::FLOAT32)
}

fn is_function(known: &ScopeVariable) -> bool {
    known.info.as_func().is_some_and(|func| func.params.is_some())
}

fn is_vector(known: &ScopeVariable) -> bool {
    is_vector_info(&known.info)
}

fn is_vector_info(info: &StructInfo) -> bool {
    info.as_tensor().is_some_and(|tensor| tensor.dtype == DataType::FLOAT32)
}

fn is_truth(known: &ScopeVariable) -> bool {
    known.info.as_tensor().is_some_and(|tensor| tensor.dtype == DataType::BOOL)
}

/// Brings the lone dimensions of an annotation into scope.
fn introduce(info: &StructInfo, dims: &mut Vec<ShapeVar>) {
    match info {
        StructInfo::Tuple(fields) => fields.iter().for_each(|field| introduce(field, dims)),
        StructInfo::Tensor(_) => {
            for dim in dims_of(info).iter().flat_map(|(dims, _)| dims.iter()) {
                if let PrimExpr::Var(var) = dim
                    && !dims.contains(var)
                {
                    dims.push(var.clone());
                }
            }
        }
        StructInfo::Prim(prim) => {
            if let Some(PrimExpr::Var(var)) = &prim.value
                && !dims.contains(var)
            {
                dims.push(var.clone());
            }
        }
        StructInfo::Object | StructInfo::Shape(_) | StructInfo::Func(_) => {}
    }
}

/// The information without dimensions that are not in scope; a function brings those of its parameters.
fn within(info: &StructInfo, dims: &[ShapeVar]) -> StructInfo {
    match info {
        StructInfo::Tensor(_) => match dims_of(info) {
            Some((shape, _)) if !shape.iter().all(|dim| super::program::in_scope(dim, dims)) => unknown_vector(),
            Some(_) | None => info.clone(),
        },
        StructInfo::Tuple(fields) => StructInfo::tuple(fields.iter().map(|field| within(field, dims))),
        StructInfo::Func(func) => {
            let mut own = dims.to_vec();
            let mut params = Vec::new();
            for param in func.params.iter().flat_map(|params| params.iter()) {
                introduce(param, &mut own);
                params.push(within(param, &own));
            }
            of_purity(func, StructInfo::func(params, within(&func.ret, &own)))
        }
        StructInfo::Prim(prim) if !prim.value.iter().all(|value| super::program::in_scope(value, dims)) => {
            StructInfo::prim(prim.dtype)
        }
        StructInfo::Object | StructInfo::Shape(_) | StructInfo::Prim(_) => info.clone(),
    }
}

/// A function type of the purity that another one has.
fn of_purity(func: &FuncStructInfo, other: StructInfo) -> StructInfo {
    said(func.pure, other)
}

fn said(pure: Option<bool>, info: StructInfo) -> StructInfo {
    match info {
        StructInfo::Func(f) => StructInfo::Func(Arc::new(FuncStructInfo { pure, ..(*f).clone() })),
        StructInfo::Object
        | StructInfo::Tensor(_)
        | StructInfo::Shape(_)
        | StructInfo::Prim(_)
        | StructInfo::Tuple(_) => info,
    }
}

/// The information with other dimensions in place of variables.
fn with_dims(info: &StructInfo, replace: &dyn Fn(&ShapeVar) -> Option<PrimExpr>) -> StructInfo {
    match info {
        StructInfo::Tensor(tensor) => match dims_of(info) {
            Some((dims, _)) => {
                let shape = Some(TensorShape::Dims(dims.iter().map(|dim| with_dim(dim, replace)).collect()));
                StructInfo::Tensor(TensorStructInfo { shape, ..tensor.clone() })
            }
            None => StructInfo::Tensor(tensor.clone()),
        },
        StructInfo::Tuple(fields) => StructInfo::tuple(fields.iter().map(|field| with_dims(field, replace))),
        StructInfo::Func(func) => {
            let params = func.params.iter().flat_map(|params| params.iter());
            let params = params.map(|param| with_dims(param, replace));
            of_purity(func, StructInfo::func(params, with_dims(&func.ret, replace)))
        }
        StructInfo::Prim(prim) => {
            let value = prim.value.as_ref().map(|value| with_dim(value, replace));
            StructInfo::Prim(PrimStructInfo { value, ..prim.clone() })
        }
        StructInfo::Object | StructInfo::Shape(_) => info.clone(),
    }
}

fn with_dim(dim: &PrimExpr, replace: &dyn Fn(&ShapeVar) -> Option<PrimExpr>) -> PrimExpr {
    match dim {
        PrimExpr::Var(var) => replace(var).unwrap_or_else(|| dim.clone()),
        PrimExpr::Binary(op, a, b) => PrimExpr::binary(*op, with_dim(a, replace), with_dim(b, replace)),
        PrimExpr::IntImm(_) | PrimExpr::Not(_) | PrimExpr::Select(..) => dim.clone(),
    }
}

fn other_ret(func: &FuncStructInfo, ret: StructInfo) -> StructInfo {
    of_purity(func, StructInfo::func(func.params.iter().flat_map(|params| params.iter().cloned()), ret))
}

fn block(bindings: Vec<Binding>) -> BindingBlock {
    BindingBlock { kind: BlockKind::Binding, bindings, span: Span::NONE }
}

impl FunctionGenerator<'_> {
    fn is_later(&self) -> bool {
        self.edition > Edition::E2023_02
    }

    fn var(&mut self, prefix: &str) -> Var {
        self.fresh += 1;
        Var::new(&format!("{prefix}{}", self.fresh))
    }

    fn name(&mut self) -> PrimExpr {
        dim(NAMES[self.tape.choose(NAMES.len())])
    }

    /// A vector where new dimensions may be introduced.
    fn binding_vector(&mut self) -> StructInfo {
        match self.tape.choose(8) {
            0..=4 => vector(self.name()),
            5 => vector(PrimExpr::IntImm([3, 5][self.tape.choose(2)])),
            _ => unknown_vector(),
        }
    }

    /// A vector whose dimension is in scope.
    fn vector_of(&mut self, dims: &[ShapeVar]) -> StructInfo {
        match (self.tape.choose(6), self.tape.pick(dims).cloned()) {
            (0..=2, Some(var)) => vector(PrimExpr::Var(var)),
            (3, Some(var)) => vector(PrimExpr::binary(BinaryOp::Add, PrimExpr::Var(var), PrimExpr::IntImm(1))),
            (4, _) => vector(PrimExpr::IntImm(3)),
            (_, _) => unknown_vector(),
        }
    }

    /// What a parameter takes; it may be a function if `depth` allows.
    fn param(&mut self, dims: &mut Vec<ShapeVar>, depth: usize) -> StructInfo {
        let later = if self.is_later() && self.tape.one_in(4) { Some(self.later_param(dims)) } else { None };
        let info = later.unwrap_or_else(|| self.first_param(dims, depth));
        introduce(&info, dims);
        info
    }

    fn first_param(&mut self, dims: &[ShapeVar], depth: usize) -> StructInfo {
        match self.tape.choose(8) {
            0 | 1 if depth > 0 && self.views => self.function_type(dims, depth - 1),
            2 => StructInfo::tuple([self.binding_vector(), self.binding_vector()]),
            _ => self.binding_vector(),
        }
    }

    /// What only later editions let a parameter be.
    fn later_param(&mut self, dims: &[ShapeVar]) -> StructInfo {
        let named = self.name();
        match self.tape.choose(4) {
            0 => StructInfo::prim(DataType::INT64),
            1 => StructInfo::Prim(PrimStructInfo { dtype: DataType::INT64, value: Some(named) }),
            2 => StructInfo::prim(DataType::BOOL),
            _ => self.vector_of(dims),
        }
    }

    /// In later editions a signature may bind its variables in any order.
    fn params(&mut self, place: &FunctionScope, depth: usize) -> Vec<StructInfo> {
        let mut dims = place.dims.clone();
        let mut params: Vec<StructInfo> = (0..1 + self.tape.choose(2)).map(|_| self.param(&mut dims, depth)).collect();
        if self.is_later() && self.tape.one_in(4) {
            params.push(self.vector_of(&dims));
            params.reverse();
        }
        params
    }

    fn function_type(&mut self, dims: &[ShapeVar], depth: usize) -> StructInfo {
        let mut dims = dims.to_vec();
        let params: Vec<StructInfo> =
            (0..self.tape.choose(3)).map(|_| self.param(&mut dims, depth.saturating_sub(1))).collect();
        let ret =
            if depth > 0 && self.tape.one_in(4) { self.function_type(&dims, depth - 1) } else { self.vector_of(&dims) };
        let info = StructInfo::func(params, ret);
        if self.is_later() && self.tape.one_in(6) { said(Some(false), info) } else { info }
    }

    /// A function of these parameters, and what it says of itself.
    fn function(&mut self, outside: &FunctionScope, params: &[StructInfo]) -> (Function, StructInfo) {
        let mut inside = FunctionScope::top(outside.known.clone(), outside.depth.saturating_sub(1));
        inside.dims = outside.dims.clone();
        inside.effects = self.is_later() && self.tape.one_in(5);
        let pure = if inside.effects || !self.is_later() { Some(false) } else { None };
        let mut binders = Vec::new();
        params.iter().for_each(|info| introduce(info, &mut inside.dims));
        for info in params {
            let binder = Binder::var(self.var("x")).annotated(info.clone());
            inside.known.push(ScopeVariable { expr: binder.to_expr(), info: info.clone() });
            binders.push(binder);
        }
        let dims = inside.dims.clone();
        let bindings = if outside.depth > 1 { 3 + self.tape.choose(6) } else { self.tape.choose(3) };
        let (body, result) = self.sequence(&mut inside, bindings);
        let ret = within(&result, &dims);
        let ret_struct_info = match self.tape.choose(6) {
            0..=2 => Some(ret.clone()),
            3 => Some(self.nearby(&ret, &dims)),
            _ => None,
        };
        let info = StructInfo::func(params.iter().cloned(), ret_struct_info.clone().unwrap_or(ret));
        let info = if self.is_later() { said(pure, info) } else { info };
        let function = Function { params: binders, body, ret_struct_info, pure, attrs: Attrs::new(), span: Span::NONE };
        (function, info)
    }

    /// So many bindings, and one of the values, functions rather than others.
    fn sequence(&mut self, place: &mut FunctionScope, bindings: usize) -> (Expr, StructInfo) {
        let bindings: Vec<Binding> = (0..bindings).filter_map(|_| self.binding(place)).collect();
        let result = match self.tape.choose(4) {
            0 => place.known.last().cloned(),
            1 if self.views => self.pick(place, is_function),
            _ => self.pick(place, is_vector),
        };
        let result = result.or_else(|| self.pick(place, is_vector));
        let blocks = if bindings.is_empty() { Vec::new() } else { vec![block(bindings)] };
        match result {
            Some(ScopeVariable { expr, info }) => (Expr::seq(blocks, expr), info),
            None => (Expr::seq(blocks, Expr::tuple(Vec::new())), StructInfo::tuple([])),
        }
    }

    fn pick(&mut self, place: &FunctionScope, accept: impl Fn(&ScopeVariable) -> bool) -> Option<ScopeVariable> {
        let candidates: Vec<&ScopeVariable> = place.known.iter().filter(|known| accept(known)).collect();
        self.tape.pick(&candidates).map(|known| (*known).clone())
    }

    fn binding(&mut self, place: &mut FunctionScope) -> Option<Binding> {
        match self.tape.choose(20) {
            0 | 1 => self.cast_vector(place),
            2 if self.views => self.cast_function(place),
            3 | 4 => self.local_function(place),
            choice => {
                let later = self.is_later() && self.tape.one_in(4);
                let (value, info) = if later { self.later_value(place) } else { self.value(choice, place) }?;
                let annotated = self.views && choice == 5 && self.tape.one_in(2);
                let annotation = annotated.then(|| self.nearby(&info, &place.dims));
                Some(self.bind(place, value, info, annotation))
            }
        }
    }

    fn bind(
        &mut self,
        place: &mut FunctionScope,
        value: Expr,
        info: StructInfo,
        annotation: Option<StructInfo>,
    ) -> Binding {
        let mut var = Binder::var(self.var("v"));
        var.annotation.clone_from(&annotation);
        place.known.push(ScopeVariable { expr: var.to_expr(), info: annotation.unwrap_or(info) });
        Binding::VarBinding(VarBinding { var, value, span: Span::NONE })
    }

    fn value(&mut self, choice: usize, place: &mut FunctionScope) -> Option<(Expr, StructInfo)> {
        match choice {
            5 => self.pick(place, is_function).map(|known| (known.expr, known.info)),
            6 => self.tuple(place),
            7 => self.field(place),
            8 => self.conditional(place),
            9 | 10 => self.sum(place),
            11 => self.constant(),
            _ => self.call(place),
        }
    }

    fn tuple(&mut self, place: &FunctionScope) -> Option<(Expr, StructInfo)> {
        let first = self.pick(place, is_function)?;
        let fields = [Some(first), self.pick(place, |_| true)];
        let fields: Vec<ScopeVariable> = fields.into_iter().flatten().collect();
        let exprs = fields.iter().map(|known| known.expr.clone()).collect();
        Some((Expr::tuple(exprs), StructInfo::tuple(fields.into_iter().map(|known| known.info))))
    }

    fn field(&mut self, place: &FunctionScope) -> Option<(Expr, StructInfo)> {
        let tuple = self.pick(place, |known| matches!(&known.info, StructInfo::Tuple(fields) if !fields.is_empty()))?;
        let StructInfo::Tuple(fields) = &tuple.info else { return None };
        let index = self.tape.choose(fields.len());
        let info = fields.get(index)?.clone();
        Some((Expr::tuple_get_item(tuple.expr, i64::try_from(index).ok()?), info))
    }

    /// A Boolean tensor; in the last edition a boxed Boolean or something that is said of shape variables as well.
    fn condition(&mut self, place: &FunctionScope) -> Option<Expr> {
        if self.edition >= Edition::E2024_04 && self.tape.one_in(2) {
            let boxed_truth = self.pick(place, |known| is_box(&known.info, DataType::BOOL)).map(|known| known.expr);
            let over_dims = self.tape.pick(&place.dims).cloned().map(|var| {
                let (condition, _) = boxed(DataType::BOOL, is_small(PrimExpr::Var(var)));
                condition
            });
            let either = if self.tape.one_in(2) { boxed_truth.or(over_dims) } else { over_dims.or(boxed_truth) };
            return either.or_else(|| truth(true));
        }
        self.pick(place, is_truth).map(|known| known.expr).or_else(|| truth(true))
    }

    /// What only later editions have.
    fn later_value(&mut self, place: &FunctionScope) -> Option<(Expr, StructInfo)> {
        let dim = self.tape.pick(&place.dims).cloned().map_or(PrimExpr::IntImm(3), PrimExpr::Var);
        match self.tape.choose(4) {
            0 => Some(boxed(DataType::INT64, PrimExpr::binary(BinaryOp::Add, dim, PrimExpr::IntImm(1)))),
            1 => Some(boxed(DataType::INT64, dim)),
            2 => Some(boxed(DataType::BOOL, is_small(dim))),
            _ => {
                // What is said of the result nobody checks, so that no more is said than is sure.
                let known = self.pick(place, is_vector)?;
                Some((pure_packed(known.expr, unknown_vector()), unknown_vector()))
            }
        }
    }

    /// One function or another, or one value or another.
    fn conditional(&mut self, place: &mut FunctionScope) -> Option<(Expr, StructInfo)> {
        let cond = self.condition(place)?;
        let functions = !self.tape.one_in(4);
        let (true_branch, info) = self.branch(place, functions)?;
        let (false_branch, _) = self.branch(place, functions)?;
        let info = within(&info, &place.dims);
        Some((Expr::If(Arc::new(If { cond, true_branch, false_branch, span: Span::NONE })), info))
    }

    fn branch(&mut self, place: &mut FunctionScope, functions: bool) -> Option<(Expr, StructInfo)> {
        let (known, dims) = (place.known.len(), place.dims.len());
        let mut bindings: Vec<Binding> = Vec::new();
        if self.tape.one_in(3) {
            bindings.extend(self.cast_vector(place));
        }
        if functions && self.tape.one_in(3) {
            bindings.extend(self.local_function(place));
        }
        let result = self.pick(place, if functions { is_function } else { is_vector });
        place.known.truncate(known);
        place.dims.truncate(dims);
        let ScopeVariable { expr, info } = result?;
        let blocks = if bindings.is_empty() { Vec::new() } else { vec![block(bindings)] };
        Some((Expr::seq(blocks, expr), info))
    }

    fn sum(&mut self, place: &FunctionScope) -> Option<(Expr, StructInfo)> {
        let known = self.pick(place, is_vector)?;
        Some((Expr::call(Expr::op("relax.add"), vec![known.expr.clone(), known.expr]), known.info))
    }

    fn constant(&mut self) -> Option<(Expr, StructInfo)> {
        let len = [3_u8, 5][self.tape.choose(2)];
        let values = vec![1.0; usize::from(len)];
        let data = TensorData::from_values(DataType::FLOAT32, &[u64::from(len)], &values).ok()?;
        Some((Expr::constant(data), vector(PrimExpr::IntImm(i64::from(len)))))
    }

    fn call(&mut self, place: &FunctionScope) -> Option<(Expr, StructInfo)> {
        let effects = place.effects || !self.is_later();
        let may_call = |known: &ScopeVariable| effects || known.info.as_func().is_some_and(|func| func.purity());
        let callee = self.pick(place, |known| is_function(known) && may_call(known))?;
        let StructInfo::Func(func) = &callee.info else { return None };
        let mut chosen: Vec<(ShapeVar, PrimExpr)> = Vec::new();
        let mut args = Vec::new();
        for param in func.params.iter().flat_map(|params| params.iter()) {
            let arg = self.argument(place, param, &chosen)?;
            choose_dims(param, &arg.info, &place.dims, &mut chosen);
            args.push(arg.expr);
        }
        let find = |var: &ShapeVar| chosen.iter().find(|(own, _)| own == var).map(|(_, dim)| dim.clone());
        let result = within(&with_dims(&func.ret, &find), &place.dims);
        Some((Expr::call(callee.expr, args), result))
    }

    /// An argument of the parameter's kind, mostly one that fits.
    fn argument(
        &mut self,
        place: &FunctionScope,
        param: &StructInfo,
        chosen: &[(ShapeVar, PrimExpr)],
    ) -> Option<ScopeVariable> {
        let find = |var: &ShapeVar| chosen.iter().find(|(own, _)| own == var).map(|(_, dim)| dim.clone());
        let wanted = with_dims(param, &find);
        if !self.tape.one_in(5)
            && let Some(fitting) = self.pick(place, |known| fits(&known.info, &wanted, &place.dims))
        {
            return Some(fitting);
        }
        self.pick(place, |known| same_kind(&known.info, param))
    }

    /// A vector with a dimension under a new name, under one that is in scope, or of which nothing is known any more.
    fn cast_vector(&mut self, place: &mut FunctionScope) -> Option<Binding> {
        if self.is_later() && self.tape.one_in(4) {
            let value = self.pick(place, |known| is_box(&known.info, DataType::INT64))?;
            let info = StructInfo::Prim(PrimStructInfo { dtype: DataType::INT64, value: Some(self.name()) });
            introduce(&info, &mut place.dims);
            return Some(self.cast(place, value, info));
        }
        let value = self.pick(place, is_vector)?;
        let info = match self.tape.choose(8) {
            0..=4 => vector(self.name()),
            5 => vector(PrimExpr::IntImm(3)),
            _ => unknown_vector(),
        };
        introduce(&info, &mut place.dims);
        Some(self.cast(place, value, info))
    }

    fn cast_function(&mut self, place: &mut FunctionScope) -> Option<Binding> {
        let value = self.pick(place, is_function)?;
        let info = self.nearby(&value.info, &place.dims);
        Some(self.cast(place, value, info))
    }

    fn cast(&mut self, place: &mut FunctionScope, value: ScopeVariable, info: StructInfo) -> Binding {
        let var = Binder::var(self.var("w"));
        place.known.push(ScopeVariable { expr: var.to_expr(), info: info.clone() });
        Binding::MatchCast(MatchCast { var: Some(var), struct_info: info, value: value.expr, span: Span::NONE })
    }

    fn local_function(&mut self, place: &mut FunctionScope) -> Option<Binding> {
        if place.depth == 0 {
            return None;
        }
        let params = self.params(place, 1);
        let (function, info) = self.function(place, &params);
        let annotation = if self.views && self.tape.one_in(3) { self.nearby(&info, &place.dims) } else { info };
        let value = Expr::Function(Arc::new(function));
        Some(self.bind(place, value, annotation.clone(), Some(annotation)))
    }

    /// The same information in other words, or a little more, less or other.
    fn nearby(&mut self, info: &StructInfo, dims: &[ShapeVar]) -> StructInfo {
        match (self.tape.choose(5), info) {
            (0, StructInfo::Func(_)) => within(&with_dims(info, &|var| renamed(var, 1, dims)), dims),
            (1, StructInfo::Func(_)) => within(&with_dims(info, &|var| renamed(var, 2, dims)), dims),
            (2, StructInfo::Func(func)) => {
                let mut own = dims.to_vec();
                func.params.iter().flat_map(|params| params.iter()).for_each(|param| introduce(param, &mut own));
                other_ret(func, self.nearby(&func.ret, &own))
            }
            (3, StructInfo::Func(func)) => {
                let mut own = dims.to_vec();
                let params = func.params.as_ref().map_or(0, |params| params.len());
                let params: Vec<StructInfo> = (0..params).map(|_| self.param(&mut own, 0)).collect();
                of_purity(func, StructInfo::func(params, within(&func.ret, &own)))
            }
            (0 | 1, StructInfo::Tensor(_)) if is_vector_info(info) => unknown_vector(),
            (2 | 3, StructInfo::Tensor(_)) if is_vector_info(info) => self.vector_of(dims),
            (_, _) => within(info, dims),
        }
    }
}

/// The next name but those in scope.
fn renamed(var: &ShapeVar, by: usize, dims: &[ShapeVar]) -> Option<PrimExpr> {
    let at = NAMES.iter().position(|name| *name == &*var.name)?;
    let other = NAMES.iter().cycle().nth(at + by)?;
    (!dims.contains(var) && !dims.contains(&ShapeVar::new(other))).then(|| dim(other))
}

/// The dimensions that an argument gives to the variables of a parameter.
fn choose_dims(param: &StructInfo, arg: &StructInfo, scope: &[ShapeVar], chosen: &mut Vec<(ShapeVar, PrimExpr)>) {
    match (param, arg) {
        (StructInfo::Tensor(_), StructInfo::Tensor(_)) => {
            let (Some((own, _)), Some((given, _))) = (dims_of(param), dims_of(arg)) else { return };
            for (own, given) in own.iter().zip(given.iter()) {
                if let PrimExpr::Var(var) = own
                    && !scope.contains(var)
                    && !chosen.iter().any(|(known, _)| known == var)
                {
                    chosen.push((var.clone(), given.clone()));
                }
            }
        }
        (StructInfo::Tuple(own), StructInfo::Tuple(given)) => {
            own.iter().zip(given.iter()).for_each(|(own, given)| choose_dims(own, given, scope, chosen));
        }
        (StructInfo::Prim(own), StructInfo::Prim(given)) => {
            let (Some(PrimExpr::Var(var)), Some(value)) = (&own.value, &given.value) else { return };
            if !scope.contains(var) && !chosen.iter().any(|(known, _)| known == var) {
                chosen.push((var.clone(), value.clone()));
            }
        }
        (
            StructInfo::Object
            | StructInfo::Tensor(_)
            | StructInfo::Shape(_)
            | StructInfo::Prim(_)
            | StructInfo::Tuple(_)
            | StructInfo::Func(_),
            _,
        ) => {}
    }
}

fn same_kind(given: &StructInfo, wanted: &StructInfo) -> bool {
    match (given, wanted) {
        (StructInfo::Tensor(_), StructInfo::Tensor(_)) => is_vector_info(given) && is_vector_info(wanted),
        (StructInfo::Tuple(given), StructInfo::Tuple(wanted)) => {
            given.len() == wanted.len()
                && given.iter().zip(wanted.iter()).all(|(given, wanted)| same_kind(given, wanted))
        }
        (StructInfo::Func(given), StructInfo::Func(wanted)) => {
            let arity = |func: &FuncStructInfo| func.params.as_ref().map(|params| params.len());
            arity(given) == arity(wanted)
        }
        (StructInfo::Prim(given), StructInfo::Prim(wanted)) => given.dtype == wanted.dtype,
        (
            StructInfo::Object
            | StructInfo::Tensor(_)
            | StructInfo::Shape(_)
            | StructInfo::Prim(_)
            | StructInfo::Tuple(_)
            | StructInfo::Func(_),
            _,
        ) => false,
    }
}

/// Whether a vector has the wanted dimension, if one is wanted; functions fit by kind.
fn fits(given: &StructInfo, wanted: &StructInfo, scope: &[ShapeVar]) -> bool {
    same_kind(given, wanted)
        && match (dims_of(given), dims_of(wanted)) {
            (Some((given, _)), Some((wanted, _))) => given
                .iter()
                .zip(wanted.iter())
                .all(|(given, wanted)| given == wanted || matches!(wanted, PrimExpr::Var(var) if !scope.contains(var))),
            (None, Some(_)) => false,
            (Some(_) | None, None) => true,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_tape_gives_a_small_program() {
        let module = module_of_functions(Edition::default(), &mut Tape::from_choices(Vec::new()));
        assert_eq!(module.funcs.len(), 1);
    }
}
