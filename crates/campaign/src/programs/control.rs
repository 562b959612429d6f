//! Branches, local functions, calls of functions, recursion.

use std::sync::Arc;

use super::frame::{
    BindingValue, FunctionDraft, GlobalSignature, ProgramGenerator, ScopeValue, dims_of, dtype_of, holds_function,
    signature,
};
use relax_spec::derivation::derive_call;
use relax_spec::grammar::{
    Attrs, Binder, Binding, BindingBlock, BlockKind, DataType, Expr, Function, GlobalVar, If, PrimExpr, Span,
    StructInfo, TensorData, VarBinding,
};
use relax_spec::struct_info::unify_struct_info;

const F32: DataType = DataType::FLOAT32;
/// The most bindings of a branch and of a local function.
const INSIDE: usize = 4;

/// What is known of a condition.
pub(super) fn truth() -> StructInfo {
    StructInfo::tensor([], DataType::BOOL)
}

fn bind(var: &Binder, value: Expr) -> Binding {
    Binding::VarBinding(VarBinding { var: var.clone(), value, span: Span::NONE })
}

fn block(bindings: Vec<Binding>) -> BindingBlock {
    BindingBlock { kind: BlockKind::Binding, bindings, span: Span::NONE }
}

impl ProgramGenerator<'_> {
    pub(super) fn control(&mut self, frame: &mut FunctionDraft) -> Option<BindingValue> {
        match self.tape.choose(4) {
            0 if self.on.branches && !frame.dataflow && frame.depth > 0 => self.branch(frame),
            1 if self.on.closures && !frame.dataflow && frame.depth > 0 => self.local_function(frame),
            2 if self.on.closures => self.call_closure(frame),
            _ => self.call_global(frame),
        }
    }

    fn branch(&mut self, frame: &mut FunctionDraft) -> Option<BindingValue> {
        let cond = match self.pick(frame, |known| known.info == truth()) {
            Some(known) => known.expr,
            None => match self.parameter(frame, DataType::BOOL, &[]) {
                Some(known) => known.expr,
                None => self.constant(DataType::BOOL, &[])?.expr,
            },
        };
        let scope = frame.dims.clone();
        frame.depth -= 1;
        let of_functions = self.on.closures && self.tape.one_in(3);
        let (true_branch, first, sizes) = self.inside(frame, None, of_functions);
        let (false_branch, second, others) = self.inside(frame, Some(&first), of_functions);
        frame.depth += 1;
        let scope: Vec<_> = scope.into_iter().chain(frame.bound.iter().cloned()).collect();
        let (first, second) = (self.outside(&first, &scope), self.outside(&second, &scope));
        let info = if first == second { first } else { unify_struct_info(&mut self.source.cx(), &first, &second) };
        let sizes =
            sizes.filter(|_| dtype_of(&info).is_some() && others.is_some()).filter(|own| Some(own) == others.as_ref());
        let value = If { cond, true_branch, false_branch, span: Span::NONE };
        Some(BindingValue { value: Expr::If(Arc::new(value)), info, sizes })
    }

    /// A branch, which gives what is wanted if it can, or a function.
    fn inside(
        &mut self,
        frame: &mut FunctionDraft,
        wanted: Option<&StructInfo>,
        of_functions: bool,
    ) -> (Expr, StructInfo, Option<Vec<i64>>) {
        let mark = frame.mark();
        let known: Vec<bool> = frame.known.iter().map(|known| known.used).collect();
        let most = self.tape.choose(INSIDE);
        let mut bindings = Vec::new();
        for _ in 0..most.min(self.left) {
            self.left = self.left.saturating_sub(1);
            bindings.extend(self.binding(frame));
        }
        let chosen = self.branch_result(frame, wanted, of_functions);
        frame.leave(mark);
        for (known, used) in frame.known.iter_mut().zip(known) {
            known.used = known.used || used;
        }
        let blocks = if bindings.is_empty() { Vec::new() } else { vec![block(bindings)] };
        if blocks.is_empty()
            && self.on.nested
            && self.tape.one_in(3)
            && let Some(known) = &chosen
        {
            return (known.expr.clone(), known.info.clone(), known.sizes.clone());
        }
        match chosen {
            Some(known) => (Expr::seq(blocks, known.expr), known.info, known.sizes),
            None => (Expr::seq(blocks, Expr::tuple(Vec::new())), StructInfo::tuple([]), None),
        }
    }

    /// What a branch gives.
    fn branch_result(
        &mut self,
        frame: &mut FunctionDraft,
        wanted: Option<&StructInfo>,
        of_functions: bool,
    ) -> Option<ScopeValue> {
        let same = |known: &ScopeValue| wanted.is_some_and(|wanted| known.info == *wanted);
        let is_closure = |known: &ScopeValue| of_functions && known.info.as_func().is_some_and(|f| f.params.is_some());
        // What the two have in common may be no more than that they are values.
        let anything = self.tape.one_in(5);
        self.pick(frame, is_closure)
            .or_else(|| self.pick(frame, |known| anything && !holds_function(&known.info)))
            .or_else(|| self.pick(frame, same))
            .or_else(|| self.pick(frame, |known| known.sizes.is_some() && known.info.as_tensor().is_some()))
            .or_else(|| self.pick(frame, |known| !holds_function(&known.info)))
    }

    /// A local function, which sees what is bound around it.
    fn local_function(&mut self, frame: &mut FunctionDraft) -> Option<BindingValue> {
        let mut inner = FunctionDraft::new(frame.effects && self.tape.one_in(3), false, frame.depth - 1);
        let is_local = |known: &&ScopeValue| matches!(known.expr, Expr::DataflowVar(_));
        inner.known = frame.known.iter().filter(|known| !is_local(known)).cloned().collect();
        inner.dims = frame.dims.clone();
        inner.bound = frame.dims.clone();
        inner.grows = true;
        for _ in 0..=self.tape.choose(2) {
            let sizes = match self.pick(frame, |known| known.info.as_tensor().is_some() && known.sizes.is_some()) {
                Some(known) => known.sizes?,
                None => vec![2],
            };
            self.parameter(&mut inner, F32, &sizes)?;
        }
        inner.grows = false;
        let effects = inner.effects;
        let (body, ret, _) = self.sequence(&mut inner, INSIDE);
        let params = std::mem::take(&mut inner.params);
        let function = Function {
            params,
            body,
            ret_struct_info: Some(ret),
            pure: Some(!effects),
            attrs: Attrs::new(),
            span: Span::NONE,
        };
        let info = signature(&function);
        Some(BindingValue { value: Expr::Function(Arc::new(function)), info, sizes: None })
    }

    /// A function literal with this information, if it gives what one of its parameters is.
    pub(super) fn literal(&mut self, info: &StructInfo) -> Option<Expr> {
        let StructInfo::Func(func) = info else { return None };
        let mut params = Vec::new();
        for info in func.params.as_ref()?.iter() {
            params.push(Binder::var(self.fresh("p")).annotated(info.clone()));
        }
        let param = params.iter().find(|param| param.annotation.as_ref() == Some(&func.ret))?.to_expr();
        let is_float = dtype_of(&func.ret) == Some(F32) && dims_of(&func.ret).is_some();
        let body = match self.tape.choose(3) {
            1 => param,
            2 if is_float => Expr::call(Expr::op("relax.nn.relu"), vec![param]),
            _ => Expr::seq(Vec::new(), param),
        };
        let (ret_struct_info, attrs) = (Some(func.ret.clone()), Attrs::new());
        let function = Function { params, body, ret_struct_info, pure: Some(true), attrs, span: Span::NONE };
        Some(Expr::Function(Arc::new(function)))
    }

    /// The call of a function where it is written down.
    fn call_literal(&mut self, frame: &mut FunctionDraft) -> Option<BindingValue> {
        let known = self.pick(frame, |known| dims_of(&known.info).is_some() && known.info.as_tensor().is_some())?;
        let info = StructInfo::func([known.info.clone()], known.info.clone());
        let callee = self.literal(&info)?;
        Some(BindingValue { value: Expr::call(callee, vec![known.expr]), info: known.info, sizes: known.sizes })
    }

    fn call_closure(&mut self, frame: &mut FunctionDraft) -> Option<BindingValue> {
        if self.on.nested && !frame.dataflow && self.tape.one_in(4) {
            return self.call_literal(frame);
        }
        let impure = frame.is_impure();
        let closure = self.pick(frame, |known| {
            known.info.as_func().is_some_and(|func| func.params.is_some() && (impure || func.pure == Some(true)))
        })?;
        let StructInfo::Func(func) = &closure.info else { return None };
        let params: Vec<(StructInfo, Option<Vec<i64>>)> =
            func.params.iter().flat_map(|p| p.iter()).map(|info| (info.clone(), self.sizes_of(info))).collect();
        let result = self.sizes_of(&func.ret);
        self.called(frame, closure.expr.clone(), &closure.info, &params, result)
    }

    fn call_global(&mut self, frame: &mut FunctionDraft) -> Option<BindingValue> {
        let at = self.tape.choose(self.globals.len());
        let GlobalSignature { name, info, sizes, result, pure } = self.globals.get(at)?.clone();
        if !pure && !frame.is_impure() {
            return None;
        }
        let StructInfo::Func(func) = &info else { return None };
        let params: Vec<(StructInfo, Option<Vec<i64>>)> =
            func.params.iter().flat_map(|p| p.iter()).cloned().zip(sizes).collect();
        self.called(frame, Expr::GlobalVar(GlobalVar::new(&name)), &info, &params, result)
    }

    /// A call on arguments of the example sizes of the parameters.
    fn called(
        &mut self,
        frame: &mut FunctionDraft,
        callee: Expr,
        info: &StructInfo,
        params: &[(StructInfo, Option<Vec<i64>>)],
        sizes: Option<Vec<i64>>,
    ) -> Option<BindingValue> {
        let mark = frame.mark();
        let mut args = Vec::new();
        for (param, sizes) in params {
            let arg = match (dtype_of(param), sizes) {
                (Some(dtype), Some(sizes)) => self.tensor_for(frame, dtype, sizes),
                (None, Some(sizes)) if matches!(param, StructInfo::Shape(_)) => self.shape_for(frame, sizes),
                (None, _) if *param == StructInfo::Object => self.pick(frame, |known| !holds_function(&known.info)),
                (_, _) => self.function_for(frame, param),
            };
            let Some(arg) = arg else {
                frame.back_to(mark);
                return None;
            };
            args.push(arg);
        }
        let infos: Vec<StructInfo> = args.iter().map(|arg| arg.info.clone()).collect();
        let Ok(result) = derive_call(&mut self.source.cx(), info, &infos, &[]) else {
            frame.back_to(mark);
            return None;
        };
        let args = args.iter().map(|arg| self.operand_of(frame, arg)).collect();
        let sizes = self.sizes_of(&result).or(sizes).filter(|_| result.as_tensor().is_some());
        Some(BindingValue { value: Expr::call(callee, args), info: self.outside(&result, &frame.dims), sizes })
    }

    /// A tensor of these example sizes, of which it may not be known that it has them.
    fn tensor_for(&mut self, frame: &mut FunctionDraft, dtype: DataType, sizes: &[i64]) -> Option<ScopeValue> {
        let less = self.tape.one_in(4);
        let is_less = |known: &ScopeValue| {
            let has_rank = known.info.as_tensor().is_some_and(|tensor| tensor.shape.is_none());
            less && has_rank && known.sizes.as_deref() == Some(sizes) && dtype_of(&known.info) == Some(dtype)
        };
        self.pick(frame, is_less).or_else(|| self.tensor(frame, dtype, sizes))
    }

    /// A shape of so many sizes, whatever they are.
    fn shape_for(&mut self, frame: &mut FunctionDraft, sizes: &[i64]) -> Option<ScopeValue> {
        let fits = |known: &ScopeValue| {
            let own = known.sizes.as_ref().filter(|_| matches!(known.info, StructInfo::Shape(_)));
            own.is_some_and(|own| own.len() == sizes.len())
        };
        let literal = || {
            let dims: Vec<PrimExpr> = sizes.iter().map(|size| PrimExpr::IntImm(*size)).collect();
            let (expr, info) = (Expr::shape(dims.clone()), StructInfo::shape(dims));
            Some(ScopeValue { expr, info, sizes: Some(sizes.to_vec()), used: true })
        };
        self.pick(frame, fits).or_else(literal)
    }

    /// Something in scope that is just this, or a literal.
    fn function_for(&mut self, frame: &mut FunctionDraft, param: &StructInfo) -> Option<ScopeValue> {
        let literal = self.on.nested && !frame.dataflow && self.tape.one_in(2);
        let known = if literal { None } else { self.pick(frame, |known| known.info == *param) };
        if known.is_some() || frame.dataflow || !self.on.nested {
            return known;
        }
        Some(ScopeValue { expr: self.literal(param)?, info: param.clone(), sizes: None, used: true })
    }

    /// `fn (c, x) { if c { own(false, x + x) } else { x } }`: recursion that ends after one call.
    pub(super) fn recursive(&mut self, name: &str) -> Function {
        let size = 1 + self.tape.choose(4) as i64;
        let function = self.calling(&Expr::GlobalVar(GlobalVar::new(name)), size);
        self.knows(name, &function, Some(vec![size]));
        function
    }

    /// Two of them, each of which calls the other.
    pub(super) fn mutually_recursive(&mut self, name: &str, other: &str) -> [Function; 2] {
        let size = 1 + self.tape.choose(4) as i64;
        let [function, back] = [other, name].map(|callee| self.calling(&Expr::GlobalVar(GlobalVar::new(callee)), size));
        self.knows(name, &function, Some(vec![size]));
        [function, back]
    }

    /// A local function that calls itself.
    pub(super) fn recursive_binding(&mut self, frame: &mut FunctionDraft) -> Binding {
        let var = Binder::var(self.fresh("f"));
        let size = 1 + self.tape.choose(4) as i64;
        let function = self.calling(&var.to_expr(), size);
        let info = signature(&function);
        frame.known.push(ScopeValue { expr: var.to_expr(), info: info.clone(), sizes: None, used: false });
        bind(&var.annotated(info), Expr::Function(Arc::new(function)))
    }

    /// `fn (c, x) { if c { callee(false, x + x) } else { x } }`.
    fn calling(&mut self, callee: &Expr, size: i64) -> Function {
        let dim = self.fresh_dim(size);
        let vector = StructInfo::tensor([PrimExpr::Var(dim)], F32);
        let [c, x] = ["c", "x"].map(|prefix| Binder::var(self.fresh(prefix)));
        let [c, x] = [c.annotated(truth()), x.annotated(vector.clone())];
        let [sum, again, result] = ["v", "v", "v"].map(|prefix| Binder::var(self.fresh(prefix)));
        let twice = Expr::call(Expr::op("relax.add"), vec![x.to_expr(), x.to_expr()]);
        let stop =
            TensorData::from_values(DataType::BOOL, &[], &[0.0]).ok().map_or_else(|| c.to_expr(), Expr::constant);
        let call = Expr::call(callee.clone(), vec![stop, sum.to_expr()]);
        let branch = If {
            cond: c.to_expr(),
            true_branch: Expr::seq(vec![block(vec![bind(&sum, twice), bind(&again, call)])], again.to_expr()),
            false_branch: Expr::seq(Vec::new(), x.to_expr()),
            span: Span::NONE,
        };
        let body = Expr::seq(vec![block(vec![bind(&result, Expr::If(Arc::new(branch)))])], result.to_expr());
        let (params, attrs) = (vec![c, x], Attrs::new());
        Function { params, body, ret_struct_info: Some(vector), pure: Some(true), attrs, span: Span::NONE }
    }

    /// `fn (f, x) { f(x) }`: a function that is given a function, and perhaps something more.
    pub(super) fn applying(&mut self, name: &str) -> Function {
        let size = 1 + self.tape.choose(4) as i64;
        let vector = StructInfo::tensor([PrimExpr::IntImm(size)], F32);
        let taken = Function {
            params: vec![Binder::var(self.fresh("p")).annotated(vector.clone())],
            body: Expr::tuple(Vec::new()),
            ret_struct_info: Some(vector.clone()),
            pure: Some(true),
            attrs: Attrs::new(),
            span: Span::NONE,
        };
        let f = Binder::var(self.fresh("f")).annotated(signature(&taken));
        let x = Binder::var(self.fresh("x")).annotated(vector.clone());
        let result = Binder::var(self.fresh("v"));
        let call = Expr::call(f.to_expr(), vec![x.to_expr()]);
        let body = match self.on.nested && self.tape.one_in(2) {
            true => call,
            false => Expr::seq(vec![block(vec![bind(&result, call)])], result.to_expr()),
        };
        let own = self.fresh_dim(size);
        let further = [StructInfo::Object, StructInfo::shape([PrimExpr::Var(own)])];
        let further = self.tape.pick(&further).cloned();
        let further = further.filter(|_| self.tape.one_in(2)).map(|info| Binder::var(self.fresh("o")).annotated(info));
        let params = [f, x].into_iter().chain(further).collect();
        let attrs = Attrs::new();
        let function =
            Function { params, body, ret_struct_info: Some(vector), pure: Some(true), attrs, span: Span::NONE };
        self.knows(name, &function, Some(vec![size]));
        function
    }
}
