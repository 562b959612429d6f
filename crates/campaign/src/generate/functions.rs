//! Random programs about functions. They have few names of shape variables, which signatures, casts and function types
//! introduce again and again. Functions are local, global, aliased, in tuples, chosen by an `If`, passed, returned and
//! cast.
//!
//! The structural information of variables is only guessed here, well enough that most calls have arguments of the
//! right kind. The checks decide whether a program is accepted.
//!
//! In later editions functions declare their purity, signatures mention shape variables before they bind them, boxed
//! scalars have values, and conditions need not be tensors.

use std::sync::Arc;

use super::Tape;
use super::nodes::{
    F32, bind, boxed, branch, cast, constant, dims_of, dtype_of, function, global, global_var, is_closure, is_over,
    linked, pure_packed, sequence, truth, with_purity,
};
use super::scope::{DimScope, Scope, ScopeValue};
use relax_spec::book::Edition;
use relax_spec::derivation::derive_call;
use relax_spec::grammar::{
    BinaryOp, Binder, Binding, DataType, Expr, FuncStructInfo, Function, IrModule, PrimExpr, PrimStructInfo,
    Replacement, ShapeVar, StructInfo, Var,
};
use relax_spec::judge::Cx;

/// The names of all shape variables.
const NAMES: [&str; 3] = ["n", "m", "k"];
/// How deep functions are nested.
const DEPTH: usize = 2;
/// How often arguments are drawn for a call until they fit.
const ATTEMPTS: usize = 3;

/// A module about functions, with the constructs of an edition. Its last function is `main`, which takes two vectors
/// and a Boolean, and in later editions a boxed number and a boxed Boolean.
pub fn module_of_functions(edition: Edition, tape: &mut Tape) -> IrModule {
    let views = tape.choose(4) > 0;
    let mut generator = FunctionGenerator { edition, tape, names: 0, views };
    let (mut funcs, mut top) = (Vec::new(), Scope::new(false, false, DEPTH));
    for i in 0..generator.tape.choose(3) {
        let name = format!("helper{i}");
        let params = generator.params(&top, 1);
        let (function, info) = generator.function(&top, &params);
        top.push(ScopeValue::new(global_var(&name), info, None));
        funcs.push(global(&name, function));
    }
    let second = [PrimExpr::var("m"), PrimExpr::var("n"), PrimExpr::IntImm(3)][generator.tape.choose(3)].clone();
    let mut params = vec![vector(PrimExpr::var("n")), vector(second), StructInfo::tensor([], DataType::BOOL)];
    if generator.is_later() {
        params.extend([DataType::INT64, DataType::BOOL].map(StructInfo::prim));
    }
    let (mut main, _) = generator.function(&top, &params);
    main.attrs = linked("main");
    funcs.push(global("main", main));
    IrModule { funcs, ..IrModule::default() }
}

struct FunctionGenerator<'a> {
    edition: Edition,
    tape: &'a mut Tape,
    names: u32,
    /// Whether functions get structural information other than that of their signature: they are passed, returned,
    /// cast.
    views: bool,
}

fn plus_one(dim: PrimExpr) -> PrimExpr {
    PrimExpr::binary(BinaryOp::Add, dim, PrimExpr::IntImm(1))
}

fn is_small(dim: PrimExpr) -> PrimExpr {
    PrimExpr::binary(BinaryOp::Lt, dim, PrimExpr::IntImm(3))
}

fn vector(dim: PrimExpr) -> StructInfo {
    StructInfo::tensor([dim], F32)
}

fn unknown_vector() -> StructInfo {
    StructInfo::tensor_ndim(1, F32)
}

fn is_vector(info: &StructInfo) -> bool {
    dtype_of(info) == Some(F32)
}

fn is_box(info: &StructInfo, dtype: DataType) -> bool {
    info.as_prim().is_some_and(|prim| prim.dtype == dtype)
}

fn params_of(func: &FuncStructInfo) -> &[StructInfo] {
    func.params.as_deref().unwrap_or_default()
}

/// Brings the lone dimensions of an annotation into scope.
fn introduce(info: &StructInfo, dims: &mut Vec<ShapeVar>) {
    if let StructInfo::Tuple(fields) = info {
        fields.iter().for_each(|field| introduce(field, dims));
    }
    let of_tensor = dims_of(info).filter(|_| info.as_tensor().is_some()).unwrap_or_default();
    for dim in of_tensor.iter().chain(info.as_prim().and_then(|prim| prim.value.as_ref())) {
        if let PrimExpr::Var(var) = dim
            && !dims.contains(var)
        {
            dims.push(var.clone());
        }
    }
}

/// The information without dimensions that are not in scope; a function type brings those of its parameters into scope.
pub(crate) fn within(info: &StructInfo, dims: &[ShapeVar]) -> StructInfo {
    match info {
        StructInfo::Tensor(_) if dims_of(info).is_some_and(|own| !own.iter().all(|dim| is_over(dim, dims))) => {
            unknown_vector()
        }
        StructInfo::Tuple(fields) => StructInfo::tuple(fields.iter().map(|field| within(field, dims))),
        StructInfo::Func(func) => {
            let mut own = dims.to_vec();
            let mut params = Vec::new();
            for param in params_of(func) {
                introduce(param, &mut own);
                params.push(within(param, &own));
            }
            with_purity(&StructInfo::func(params, within(&func.ret, &own)), func.pure)
        }
        StructInfo::Prim(prim) if !prim.value.iter().all(|value| is_over(value, dims)) => StructInfo::prim(prim.dtype),
        StructInfo::Object | StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Prim(_) => info.clone(),
    }
}

/// Renames variables that are not in scope.
struct Renaming<'a> {
    by: usize,
    dims: &'a [ShapeVar],
}

impl Replacement for Renaming<'_> {
    fn dim(&self, dim: &PrimExpr) -> PrimExpr {
        dim.with_vars(&|var| {
            let at = NAMES.iter().position(|name| *name == &*var.name);
            let other = at.and_then(|at| NAMES.iter().cycle().nth(at + self.by)).map(|name| ShapeVar::new(name));
            let other = other.filter(|other| !self.dims.contains(var) && !self.dims.contains(other));
            PrimExpr::Var(other.unwrap_or_else(|| var.clone()))
        })
    }
}

impl FunctionGenerator<'_> {
    fn is_later(&self) -> bool {
        self.edition > Edition::E2023_02
    }

    fn var(&mut self, prefix: &str) -> Binder {
        self.names += 1;
        Binder::var(Var::new(&format!("{prefix}{}", self.names)))
    }

    fn pick(&mut self, scope: &mut Scope, accept: impl Fn(&StructInfo) -> bool) -> Option<ScopeValue> {
        scope.pick(self.tape, |value| accept(&value.info))
    }

    // What is said of values.

    fn name(&mut self) -> PrimExpr {
        PrimExpr::var(NAMES[self.tape.choose(NAMES.len())])
    }

    /// A vector whose dimension may be a new shape variable.
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
            (3, Some(var)) => vector(plus_one(PrimExpr::Var(var))),
            (4, _) => vector(PrimExpr::IntImm(3)),
            (_, _) => unknown_vector(),
        }
    }

    /// The structural information of a parameter; it may be a function if `depth` allows.
    fn param(&mut self, dims: &mut Vec<ShapeVar>, depth: usize) -> StructInfo {
        let info = match self.is_later() && self.tape.one_in(4) {
            true => self.later_param(dims),
            false => match self.tape.choose(8) {
                0 | 1 if depth > 0 && self.views => self.function_type(dims, depth - 1),
                2 => StructInfo::tuple([self.binding_vector(), self.binding_vector()]),
                _ => self.binding_vector(),
            },
        };
        introduce(&info, dims);
        info
    }

    /// Parameters that only later editions allow.
    fn later_param(&mut self, dims: &[ShapeVar]) -> StructInfo {
        let named = self.name();
        match self.tape.choose(4) {
            0 => StructInfo::prim(DataType::INT64),
            1 => StructInfo::Prim(PrimStructInfo { dtype: DataType::INT64, value: Some(named) }),
            2 => StructInfo::prim(DataType::BOOL),
            _ => self.vector_of(dims),
        }
    }

    /// The parameters of a function. In later editions a signature may bind its variables in any order.
    fn params(&mut self, scope: &Scope, depth: usize) -> Vec<StructInfo> {
        let mut dims = scope.all_dims();
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
        let gives_function = depth > 0 && self.tape.one_in(4);
        let ret = if gives_function { self.function_type(&dims, depth - 1) } else { self.vector_of(&dims) };
        let info = StructInfo::func(params, ret);
        if self.is_later() && self.tape.one_in(6) { with_purity(&info, Some(false)) } else { info }
    }

    /// The same information in another form, or a small change of it.
    fn nearby(&mut self, info: &StructInfo, dims: &[ShapeVar]) -> StructInfo {
        match (self.tape.choose(5), info) {
            (by @ (0 | 1), StructInfo::Func(_)) => within(&info.replaced(&Renaming { by: by + 1, dims }), dims),
            (2, StructInfo::Func(func)) => {
                let mut own = dims.to_vec();
                params_of(func).iter().for_each(|param| introduce(param, &mut own));
                let ret = self.nearby(&func.ret, &own);
                with_purity(&StructInfo::func(params_of(func).to_vec(), ret), func.pure)
            }
            (3, StructInfo::Func(func)) => {
                let mut own = dims.to_vec();
                let params: Vec<StructInfo> = params_of(func).iter().map(|_| self.param(&mut own, 0)).collect();
                with_purity(&StructInfo::func(params, within(&func.ret, &own)), func.pure)
            }
            (0 | 1, _) if is_vector(info) => unknown_vector(),
            (2 | 3, _) if is_vector(info) => self.vector_of(dims),
            (_, _) => within(info, dims),
        }
    }

    // Functions and bindings.

    /// A function with these parameters, and its declared structural information.
    fn function(&mut self, around: &Scope, params: &[StructInfo]) -> (Function, StructInfo) {
        let mut scope = around.inner(self.is_later() && self.tape.one_in(5));
        let pure = if scope.effects || !self.is_later() { Some(false) } else { None };
        let mut dims = scope.all_dims();
        params.iter().for_each(|info| introduce(info, &mut dims));
        dims.iter().for_each(|var| scope.push_dim(var, DimScope::Signature));
        for info in params {
            let binder = self.var("x");
            scope.push(ScopeValue::param(&binder, info.clone(), None));
        }
        let bindings = if around.depth > 1 { 3 + self.tape.choose(6) } else { self.tape.choose(3) };
        let (body, result) = self.sequence(&mut scope, bindings);
        let ret = within(&result, &dims);
        let said = match self.tape.choose(6) {
            0..=2 => Some(ret.clone()),
            3 => Some(self.nearby(&ret, &dims)),
            _ => None,
        };
        let info = StructInfo::func(params.iter().cloned(), said.clone().unwrap_or(ret));
        let info = if self.is_later() { with_purity(&info, pure) } else { info };
        let function = function(scope.params(), body, StructInfo::Object, true);
        (Function { ret_struct_info: said, pure, ..function }, info)
    }

    /// This many bindings, and one of the values, preferably a function.
    fn sequence(&mut self, scope: &mut Scope, bindings: usize) -> (Expr, StructInfo) {
        let bindings: Vec<Binding> = (0..bindings).filter_map(|_| self.binding(scope)).collect();
        let result = match self.tape.choose(4) {
            0 => scope.values().last().cloned(),
            1 if self.views => self.pick(scope, is_closure),
            _ => self.pick(scope, is_vector),
        };
        match result.or_else(|| self.pick(scope, is_vector)) {
            Some(value) => (sequence(bindings, value.expr), value.info),
            None => (sequence(bindings, Expr::tuple(Vec::new())), StructInfo::tuple([])),
        }
    }

    fn binding(&mut self, scope: &mut Scope) -> Option<Binding> {
        match self.tape.choose(20) {
            0 | 1 => self.cast_value(scope),
            2 if self.views => {
                let value = self.pick(scope, is_closure)?;
                let info = self.nearby(&value.info, &scope.all_dims());
                Some(self.cast(scope, value, info))
            }
            3 | 4 => self.local_function(scope),
            choice => {
                let later = self.is_later() && self.tape.one_in(4);
                let (value, info) = if later { self.later_value(scope) } else { self.value(choice, scope) }?;
                let annotated = self.views && choice == 5 && self.tape.one_in(2);
                let annotation = annotated.then(|| self.nearby(&info, &scope.all_dims()));
                Some(self.bind(scope, value, info, annotation))
            }
        }
    }

    fn bind(&mut self, scope: &mut Scope, value: Expr, info: StructInfo, annotation: Option<StructInfo>) -> Binding {
        let var = Binder { annotation: annotation.clone(), ..self.var("v") };
        scope.push(ScopeValue::new(var.to_expr(), annotation.unwrap_or(info), None));
        bind(&var, value)
    }

    fn cast(&mut self, scope: &mut Scope, value: ScopeValue, info: StructInfo) -> Binding {
        let mut dims = scope.all_dims();
        introduce(&info, &mut dims);
        dims.iter().for_each(|var| scope.push_dim(var, DimScope::Body));
        let var = self.var("w");
        scope.push(ScopeValue::new(var.to_expr(), info.clone(), None));
        cast(Some(var), value.expr, info)
    }

    /// Casts a vector to a dimension with a new name, with a name in scope, or without a known dimension.
    fn cast_value(&mut self, scope: &mut Scope) -> Option<Binding> {
        if self.is_later() && self.tape.one_in(4) {
            let value = self.pick(scope, |info| is_box(info, DataType::INT64))?;
            let info = StructInfo::Prim(PrimStructInfo { dtype: DataType::INT64, value: Some(self.name()) });
            return Some(self.cast(scope, value, info));
        }
        let value = self.pick(scope, is_vector)?;
        let info = self.binding_vector();
        Some(self.cast(scope, value, info))
    }

    fn local_function(&mut self, scope: &mut Scope) -> Option<Binding> {
        if scope.depth == 0 {
            return None;
        }
        let params = self.params(scope, 1);
        let (function, info) = self.function(scope, &params);
        let is_other = self.views && self.tape.one_in(3);
        let annotation = if is_other { self.nearby(&info, &scope.all_dims()) } else { info };
        Some(self.bind(scope, Expr::Function(Arc::new(function)), annotation.clone(), Some(annotation)))
    }

    // Values.

    fn value(&mut self, choice: usize, scope: &mut Scope) -> Option<(Expr, StructInfo)> {
        match choice {
            5 => self.pick(scope, is_closure).map(|value| (value.expr, value.info)),
            6 => {
                let fields = [Some(self.pick(scope, is_closure)?), self.pick(scope, |_| true)];
                let (exprs, infos): (Vec<Expr>, Vec<StructInfo>) =
                    fields.into_iter().flatten().map(|field| (field.expr, field.info)).unzip();
                Some((Expr::tuple(exprs), StructInfo::tuple(infos)))
            }
            7 => {
                let tuple = self.pick(scope, |info| matches!(info, StructInfo::Tuple(fields) if !fields.is_empty()))?;
                let StructInfo::Tuple(fields) = &tuple.info else { return None };
                let index = self.tape.choose(fields.len());
                Some((Expr::tuple_get_item(tuple.expr, i64::try_from(index).ok()?), fields.get(index)?.clone()))
            }
            8 => self.conditional(scope),
            9 | 10 => {
                let value = self.pick(scope, is_vector)?;
                Some((Expr::call(Expr::op("relax.add"), vec![value.expr.clone(), value.expr]), value.info))
            }
            11 => {
                let len = [3_u8, 5][self.tape.choose(2)];
                let ones = constant(F32, &[len.into()], &vec![1.0; len.into()])?;
                Some((ones, vector(PrimExpr::IntImm(len.into()))))
            }
            _ => self.call(scope),
        }
    }

    /// Values that only later editions have.
    fn later_value(&mut self, scope: &mut Scope) -> Option<(Expr, StructInfo)> {
        let dim = self.tape.pick(&scope.all_dims()).cloned().map_or(PrimExpr::IntImm(3), PrimExpr::Var);
        match self.tape.choose(4) {
            0 => Some(boxed(DataType::INT64, plus_one(dim))),
            1 => Some(boxed(DataType::INT64, dim)),
            2 => Some(boxed(DataType::BOOL, is_small(dim))),
            _ => {
                // Nothing checks the declared result, so it declares only what is certain.
                let value = self.pick(scope, is_vector)?;
                Some((pure_packed("relax_spec.identity", vec![value.expr], unknown_vector()), unknown_vector()))
            }
        }
    }

    /// A Boolean tensor; in the last edition also a boxed Boolean or a condition on shape variables.
    fn condition(&mut self, scope: &mut Scope) -> Option<Expr> {
        let found = if self.edition >= Edition::E2024_04 && self.tape.one_in(2) {
            let in_a_box = self.pick(scope, |info| is_box(info, DataType::BOOL)).map(|value| value.expr);
            let var = self.tape.pick(&scope.all_dims()).cloned();
            let over_dims = var.map(|var| boxed(DataType::BOOL, is_small(PrimExpr::Var(var))).0);
            if self.tape.one_in(2) { in_a_box.or(over_dims) } else { over_dims.or(in_a_box) }
        } else {
            self.pick(scope, |info| dtype_of(info) == Some(DataType::BOOL)).map(|value| value.expr)
        };
        found.or_else(|| truth(true))
    }

    /// An `If` between two functions, or between two values.
    fn conditional(&mut self, scope: &mut Scope) -> Option<(Expr, StructInfo)> {
        let cond = self.condition(scope)?;
        let functions = !self.tape.one_in(4);
        let (true_branch, info) = self.branch(scope, functions)?;
        let (false_branch, _) = self.branch(scope, functions)?;
        Some((branch(cond, true_branch, false_branch), within(&info, &scope.all_dims())))
    }

    fn branch(&mut self, scope: &mut Scope, functions: bool) -> Option<(Expr, StructInfo)> {
        let mark = scope.mark();
        let mut bindings: Vec<Binding> = Vec::new();
        if self.tape.one_in(3) {
            bindings.extend(self.cast_value(scope));
        }
        if functions && self.tape.one_in(3) {
            bindings.extend(self.local_function(scope));
        }
        let result = self.pick(scope, if functions { is_closure } else { is_vector });
        scope.back_to(mark);
        result.map(|value| (sequence(bindings, value.expr), value.info))
    }

    /// A call on arguments of the right kinds, which usually fit.
    fn call(&mut self, scope: &mut Scope) -> Option<(Expr, StructInfo)> {
        let effects = scope.effects || !self.is_later();
        let callee =
            self.pick(scope, |info| is_closure(info) && (effects || info.as_func().is_some_and(|func| func.purity())))?;
        let func = callee.info.as_func()?;
        let attempts = if self.tape.one_in(5) { 1 } else { ATTEMPTS };
        let (mut args, mut result) = (Vec::new(), None);
        for _ in 0..attempts {
            args = params_of(func)
                .iter()
                .map(|param| self.pick(scope, |info| is_alike(info, param)))
                .collect::<Option<Vec<ScopeValue>>>()?;
            let infos: Vec<StructInfo> = args.iter().map(|arg| arg.info.clone()).collect();
            let mut cx = Cx::new().with_edition(self.edition);
            result = derive_call(&mut cx, &callee.info, &infos, &[]).ok();
            if result.is_some() {
                break;
            }
        }
        let result = within(result.as_ref().unwrap_or(&func.ret), &scope.all_dims());
        Some((Expr::call(callee.expr, args.into_iter().map(|arg| arg.expr).collect()), result))
    }
}

/// Whether a value may be used where another is required, judged by their kinds only.
fn is_alike(given: &StructInfo, wanted: &StructInfo) -> bool {
    match (given, wanted) {
        (StructInfo::Tuple(given), StructInfo::Tuple(wanted)) => {
            given.len() == wanted.len() && given.iter().zip(wanted.iter()).all(|(one, other)| is_alike(one, other))
        }
        (StructInfo::Func(given), StructInfo::Func(wanted)) => params_of(given).len() == params_of(wanted).len(),
        (StructInfo::Prim(given), StructInfo::Prim(wanted)) => given.dtype == wanted.dtype,
        (_, _) => is_vector(given) && is_vector(wanted),
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
