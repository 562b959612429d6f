//! Branches, local functions, calls of functions, recursion.

use std::sync::Arc;

use super::draw::{GlobalSignature, ProgramGenerator};
use crate::generate::nodes::{
    self, F32, bind, dims_of, dtype_of, function, global_var, holds_function, is_closure, sequence, truth, truths,
};
use crate::generate::scope::{Scope, ScopeValue};
use relax_spec::derivation::derive_call;
use relax_spec::grammar::{Binder, Binding, DataType, Expr, Function, PrimExpr, ShapeVar, StructInfo};
use relax_spec::struct_info::unify_struct_info;

/// The most bindings of a branch and of a local function.
const INSIDE: usize = 4;

impl ProgramGenerator<'_> {
    pub(super) fn control(&mut self, scope: &mut Scope) -> Option<ScopeValue> {
        match self.tape.choose(4) {
            0 if self.on.branches && !scope.dataflow && scope.depth > 0 => self.branch(scope),
            1 if self.on.closures && !scope.dataflow && scope.depth > 0 => self.local_function(scope),
            2 if self.on.closures => self.call_closure(scope),
            _ => self.call_global(scope),
        }
    }

    fn condition(&mut self, scope: &mut Scope) -> Option<Expr> {
        if self.is_further()
            && let Some(condition) = self.further_condition(scope)
        {
            return Some(condition);
        }
        let bound = self.pick(scope, |value| value.info == truths());
        let given = bound.or_else(|| self.parameter(scope, DataType::BOOL, &[]));
        given.or_else(|| self.constant(DataType::BOOL, &[])).map(|value| value.expr)
    }

    fn branch(&mut self, scope: &mut Scope) -> Option<ScopeValue> {
        let cond = self.condition(scope)?;
        let around = scope.all_dims();
        scope.depth -= 1;
        let of_functions = self.on.closures && self.tape.one_in(3);
        let first = self.inside(scope, None, of_functions);
        let second = self.inside(scope, Some(&first.info), of_functions);
        scope.depth += 1;
        let around: Vec<ShapeVar> = around.into_iter().chain(scope.signature_dims()).collect();
        let infos = [&first, &second].map(|branch| self.outside(&branch.info, &around));
        let info = match infos {
            [one, other] if one == other => one,
            [one, other] => unify_struct_info(&mut self.source.cx(), &one, &other),
        };
        let sizes = first.sizes.filter(|_| dtype_of(&info).is_some()).filter(|own| second.sizes.as_ref() == Some(own));
        Some(ScopeValue::new(nodes::branch(cond, first.expr, second.expr), info, sizes))
    }

    /// A branch that returns the wanted information if possible, or else a function.
    fn inside(&mut self, scope: &mut Scope, wanted: Option<&StructInfo>, of_functions: bool) -> ScopeValue {
        let mark = scope.mark();
        let most = self.tape.choose(INSIDE).min(self.left);
        let bindings = self.bindings(scope, most);
        let result = self.branch_result(scope, wanted, of_functions);
        scope.leave(mark);
        let is_bare = result.is_some() && bindings.is_empty() && self.on.nested && self.tape.one_in(3);
        let nothing = || ScopeValue::new(Expr::tuple(Vec::new()), StructInfo::tuple([]), None);
        let ScopeValue { expr, info, sizes, .. } = result.unwrap_or_else(nothing);
        ScopeValue::new(if is_bare { expr } else { sequence(bindings, expr) }, info, sizes)
    }

    /// The result of a branch.
    fn branch_result(
        &mut self,
        scope: &mut Scope,
        wanted: Option<&StructInfo>,
        of_functions: bool,
    ) -> Option<ScopeValue> {
        // The common information of the two may be only that they are values.
        let anything = self.tape.one_in(5);
        self.pick(scope, |value| of_functions && is_closure(&value.info))
            .or_else(|| self.pick(scope, |value| anything && !holds_function(&value.info)))
            .or_else(|| self.pick(scope, |value| wanted == Some(&value.info)))
            .or_else(|| self.pick(scope, |value| value.sizes.is_some() && value.info.as_tensor().is_some()))
            .or_else(|| self.pick(scope, |value| !holds_function(&value.info)))
    }

    /// A local function, which can use the variables around it.
    fn local_function(&mut self, scope: &mut Scope) -> Option<ScopeValue> {
        let mut inner = scope.inner(scope.effects && self.tape.one_in(3));
        inner.grows = true;
        for _ in 0..=self.tape.choose(2) {
            let like = self.pick(scope, |value| value.info.as_tensor().is_some() && value.sizes.is_some());
            let sizes = like.and_then(|value| value.sizes).unwrap_or_else(|| vec![2]);
            self.parameter(&mut inner, F32, &sizes)?;
        }
        inner.grows = false;
        let (body, ret, _) = self.sequence(&mut inner, INSIDE, false);
        let function = function(inner.params(), body, ret, !inner.effects);
        let info = function.signature();
        Some(ScopeValue::new(Expr::Function(Arc::new(function)), info, None))
    }

    /// A function literal with this signature, if the result can be one of its parameters.
    fn literal(&mut self, info: &StructInfo) -> Option<Expr> {
        let func = info.as_func()?;
        let params: Vec<Binder> = func.params.as_ref()?.iter().map(|info| self.binder("p", info)).collect();
        let param = params.iter().find(|param| param.annotation.as_ref() == Some(&func.ret))?.to_expr();
        let is_float = dtype_of(&func.ret) == Some(F32) && dims_of(&func.ret).is_some();
        let body = match self.tape.choose(3) {
            1 => param,
            2 if is_float => Expr::call(Expr::op("relax.nn.relu"), vec![param]),
            _ => Expr::seq(Vec::new(), param),
        };
        Some(Expr::Function(Arc::new(function(params, body, func.ret.clone(), true))))
    }

    /// A direct call of a function literal.
    fn call_literal(&mut self, scope: &mut Scope) -> Option<ScopeValue> {
        let known = self.pick(scope, |value| dims_of(&value.info).is_some() && value.info.as_tensor().is_some())?;
        let callee = self.literal(&StructInfo::func([known.info.clone()], known.info.clone()))?;
        Some(ScopeValue { expr: Expr::call(callee, vec![known.expr]), ..known })
    }

    fn call_closure(&mut self, scope: &mut Scope) -> Option<ScopeValue> {
        if self.on.nested && !scope.dataflow && self.tape.one_in(4) {
            return self.call_literal(scope);
        }
        let impure = scope.is_impure();
        let closure = self.pick(scope, |value| {
            value.info.as_func().is_some_and(|func| func.params.is_some() && (impure || func.pure == Some(true)))
        })?;
        let func = closure.info.as_func()?;
        let sizes = func.params.iter().flat_map(|params| params.iter()).map(|info| self.sizes_of(info)).collect();
        let result = self.sizes_of(&func.ret);
        self.called(scope, closure.expr, &closure.info, sizes, result)
    }

    fn call_global(&mut self, scope: &mut Scope) -> Option<ScopeValue> {
        let GlobalSignature { name, info, sizes, result, pure } = self.tape.pick(&self.globals)?.clone();
        if !pure && !scope.is_impure() {
            return None;
        }
        self.called(scope, global_var(&name), &info, sizes, result)
    }

    /// A call on arguments of the example sizes of the parameters.
    fn called(
        &mut self,
        scope: &mut Scope,
        callee: Expr,
        info: &StructInfo,
        sizes: Vec<Option<Vec<i64>>>,
        result_sizes: Option<Vec<i64>>,
    ) -> Option<ScopeValue> {
        let mark = scope.mark();
        let params = info.as_func().and_then(|func| func.params.clone())?;
        let mut args = Vec::new();
        for (param, sizes) in params.iter().zip(&sizes) {
            args.extend(self.argument(scope, param, sizes.as_deref()));
        }
        let infos: Vec<StructInfo> = args.iter().map(|arg| arg.info.clone()).collect();
        // A call with a missing argument cannot be derived.
        let Ok(result) = derive_call(&mut self.source.cx(), info, &infos, &[]) else {
            scope.back_to(mark);
            return None;
        };
        let args = args.iter().map(|arg| self.operand_of(scope, arg)).collect();
        let sizes = self.sizes_of(&result).or(result_sizes).filter(|_| result.as_tensor().is_some());
        Some(ScopeValue::new(Expr::call(callee, args), self.outside(&result, &scope.all_dims()), sizes))
    }

    /// An argument for a parameter.
    fn argument(&mut self, scope: &mut Scope, param: &StructInfo, sizes: Option<&[i64]>) -> Option<ScopeValue> {
        match (dtype_of(param), sizes) {
            (Some(dtype), Some(sizes)) => self.tensor_for(scope, dtype, sizes),
            (None, Some(sizes)) if matches!(param, StructInfo::Shape(_)) => self.shape_for(scope, sizes),
            (None, _) if *param == StructInfo::Object => self.pick(scope, |value| !holds_function(&value.info)),
            (_, _) => self.function_for(scope, param),
        }
    }

    /// A tensor with these example sizes, which need not be known statically.
    fn tensor_for(&mut self, scope: &mut Scope, dtype: DataType, sizes: &[i64]) -> Option<ScopeValue> {
        let less = self.tape.one_in(4);
        let is_less = |value: &ScopeValue| {
            let has_rank = value.info.as_tensor().is_some_and(|tensor| tensor.shape.is_none());
            less && has_rank && value.sizes.as_deref() == Some(sizes) && dtype_of(&value.info) == Some(dtype)
        };
        self.pick(scope, is_less).or_else(|| self.tensor(scope, dtype, sizes))
    }

    /// A shape with this many sizes, of any values.
    fn shape_for(&mut self, scope: &mut Scope, sizes: &[i64]) -> Option<ScopeValue> {
        let fits = |value: &ScopeValue| {
            let own = value.sizes.as_ref().filter(|_| matches!(value.info, StructInfo::Shape(_)));
            own.is_some_and(|own| own.len() == sizes.len())
        };
        let literal = || {
            let dims: Vec<PrimExpr> = sizes.iter().map(|size| PrimExpr::IntImm(*size)).collect();
            ScopeValue::new(Expr::shape(dims.clone()), StructInfo::shape(dims), Some(sizes.to_vec()))
        };
        self.pick(scope, fits).or_else(|| Some(literal()))
    }

    /// A value in scope with exactly this information, or a literal.
    fn function_for(&mut self, scope: &mut Scope, param: &StructInfo) -> Option<ScopeValue> {
        let may_be_literal = self.on.nested && !scope.dataflow;
        let is_literal = may_be_literal && self.tape.one_in(2);
        let known = if is_literal { None } else { self.pick(scope, |value| value.info == *param) };
        if known.is_some() || !may_be_literal {
            return known;
        }
        Some(ScopeValue::new(self.literal(param)?, param.clone(), None))
    }

    /// A function that calls itself.
    pub(super) fn recursive(&mut self, name: &str) -> Function {
        let size = self.some_size();
        let function = self.calling(&global_var(name), size);
        self.knows(name, &function, Some(vec![size]));
        function
    }

    /// Two functions, each of which calls the other.
    pub(super) fn mutually_recursive(&mut self, name: &str, other: &str) -> [Function; 2] {
        let size = self.some_size();
        let [function, back] = [other, name].map(|callee| self.calling(&global_var(callee), size));
        self.knows(name, &function, Some(vec![size]));
        [function, back]
    }

    /// A local function that calls itself.
    pub(super) fn recursive_binding(&mut self, scope: &mut Scope) -> Binding {
        let var = Binder::var(self.fresh("f"));
        let size = self.some_size();
        let function = self.calling(&var.to_expr(), size);
        let info = function.signature();
        scope.push(ScopeValue::new(var.to_expr(), info.clone(), None));
        bind(&var.annotated(info), Expr::Function(Arc::new(function)))
    }

    /// `fn (c, x) { if c { callee(false, x + x) } else { x } }`: recursion that ends after one call.
    fn calling(&mut self, callee: &Expr, size: i64) -> Function {
        let dim = self.fresh_dim(size);
        let vector = StructInfo::tensor([PrimExpr::Var(dim)], F32);
        let (c, x) = (self.binder("c", &truths()), self.binder("x", &vector));
        let [sum, again, result] = ["v", "v", "v"].map(|prefix| Binder::var(self.fresh(prefix)));
        let twice = Expr::call(Expr::op("relax.add"), vec![x.to_expr(), x.to_expr()]);
        let stop = truth(false).unwrap_or_else(|| c.to_expr());
        let call = Expr::call(callee.clone(), vec![stop, sum.to_expr()]);
        let once = sequence(vec![bind(&sum, twice), bind(&again, call)], again.to_expr());
        let value = nodes::branch(c.to_expr(), once, Expr::seq(Vec::new(), x.to_expr()));
        let body = sequence(vec![bind(&result, value)], result.to_expr());
        function(vec![c, x], body, vector, true)
    }

    /// `fn (f, x) { f(x) }`: a function with a function as an argument, and perhaps further ones.
    pub(super) fn applying(&mut self, name: &str) -> Function {
        let size = self.some_size();
        let vector = StructInfo::tensor([PrimExpr::IntImm(size)], F32);
        let taken = nodes::with_purity(&StructInfo::func([vector.clone()], vector.clone()), Some(true));
        let (f, x, result) = (self.binder("f", &taken), self.binder("x", &vector), Binder::var(self.fresh("v")));
        let call = Expr::call(f.to_expr(), vec![x.to_expr()]);
        let body = match self.on.nested && self.tape.one_in(2) {
            true => call,
            false => sequence(vec![bind(&result, call)], result.to_expr()),
        };
        let own = self.fresh_dim(size);
        let further = [StructInfo::Object, StructInfo::shape([PrimExpr::Var(own)])];
        let further = self.tape.pick(&further).filter(|_| self.tape.one_in(2)).map(|info| self.binder("o", info));
        let params = [f, x].into_iter().chain(further).collect();
        let function = function(params, body, vector, true);
        self.knows(name, &function, Some(vec![size]));
        function
    }
}
