//! Branches, local functions, calls of functions, recursion.

use std::sync::Arc;

use super::frame::{Frame, Generator, Global, Known, Made, dtype_of, holds_function, outside, signature};
use crate::derivation::derive_call;
use crate::grammar::{
    Attrs, Binder, Binding, BindingBlock, BlockKind, DataType, Expr, Function, GlobalVar, If, PrimExpr, Span,
    StructInfo, TensorData, VarBinding,
};
use crate::struct_info::unify_struct_info;

const F32: DataType = DataType::FLOAT32;
/// The most bindings of a branch and of a local function.
const INSIDE: usize = 4;

fn truth() -> StructInfo {
    StructInfo::tensor([], DataType::BOOL)
}

fn bind(var: &Binder, value: Expr) -> Binding {
    Binding::VarBinding(VarBinding { var: var.clone(), value, span: Span::NONE })
}

fn block(bindings: Vec<Binding>) -> BindingBlock {
    BindingBlock { kind: BlockKind::Binding, bindings, span: Span::NONE }
}

impl Generator<'_> {
    pub(super) fn control(&mut self, frame: &mut Frame) -> Option<Made> {
        match self.tape.choose(4) {
            0 if self.on.branches && !frame.dataflow && frame.depth > 0 => self.branch(frame),
            1 if self.on.closures && !frame.dataflow && frame.depth > 0 => self.local_function(frame),
            2 if self.on.closures => self.call_closure(frame),
            _ => self.call_global(frame),
        }
    }

    fn branch(&mut self, frame: &mut Frame) -> Option<Made> {
        let cond = match self.pick(frame, |known| known.info == truth()) {
            Some(known) => known.expr,
            None => match self.parameter(frame, DataType::BOOL, &[]) {
                Some(known) => known.expr,
                None => self.constant(DataType::BOOL, &[])?.expr,
            },
        };
        let scope = frame.dims.clone();
        frame.depth -= 1;
        let (true_branch, first, sizes) = self.inside(frame, None);
        let (false_branch, second, others) = self.inside(frame, Some(&first));
        frame.depth += 1;
        let scope: Vec<_> = scope.into_iter().chain(frame.bound.iter().cloned()).collect();
        let (first, second) = (outside(&first, &scope), outside(&second, &scope));
        let info = if first == second { first } else { unify_struct_info(&mut self.source.cx(), &first, &second) };
        let sizes =
            sizes.filter(|_| dtype_of(&info).is_some() && others.is_some()).filter(|own| Some(own) == others.as_ref());
        let value = If { cond, true_branch, false_branch, span: Span::NONE };
        Some(Made { value: Expr::If(Arc::new(value)), info, sizes })
    }

    /// A branch, which gives what is wanted if it can.
    fn inside(&mut self, frame: &mut Frame, wanted: Option<&StructInfo>) -> (Expr, StructInfo, Option<Vec<i64>>) {
        let mark = frame.mark();
        let known: Vec<bool> = frame.known.iter().map(|known| known.used).collect();
        let most = self.tape.choose(INSIDE);
        let mut bindings = Vec::new();
        for _ in 0..most.min(self.left) {
            self.left = self.left.saturating_sub(1);
            bindings.extend(self.binding(frame));
        }
        let same = |known: &Known| wanted.is_some_and(|wanted| known.info == *wanted);
        let chosen = self
            .pick(frame, same)
            .or_else(|| self.pick(frame, |known| known.sizes.is_some() && known.info.as_tensor().is_some()))
            .or_else(|| self.pick(frame, |known| !holds_function(&known.info)));
        frame.leave(mark);
        for (known, used) in frame.known.iter_mut().zip(known) {
            known.used = known.used || used;
        }
        let blocks = if bindings.is_empty() { Vec::new() } else { vec![block(bindings)] };
        match chosen {
            Some(known) => (Expr::seq(blocks, known.expr), known.info, known.sizes),
            None => (Expr::seq(blocks, Expr::tuple(Vec::new())), StructInfo::tuple([]), None),
        }
    }

    /// A local function, which sees what is bound around it.
    fn local_function(&mut self, frame: &mut Frame) -> Option<Made> {
        let mut inner = Frame::new(frame.effects && self.tape.one_in(3), false, frame.depth - 1);
        let is_local = |known: &&Known| matches!(known.expr, Expr::DataflowVar(_));
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
        Some(Made { value: Expr::Function(Arc::new(function)), info, sizes: None })
    }

    fn call_closure(&mut self, frame: &mut Frame) -> Option<Made> {
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

    fn call_global(&mut self, frame: &mut Frame) -> Option<Made> {
        let at = self.tape.choose(self.globals.len());
        let Global { name, info, sizes, result, pure } = self.globals.get(at)?.clone();
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
        frame: &mut Frame,
        callee: Expr,
        info: &StructInfo,
        params: &[(StructInfo, Option<Vec<i64>>)],
        sizes: Option<Vec<i64>>,
    ) -> Option<Made> {
        let mark = frame.mark();
        let mut args = Vec::new();
        for (param, sizes) in params {
            let arg = match (dtype_of(param), sizes) {
                (Some(dtype), Some(sizes)) => self.tensor(frame, dtype, sizes),
                (_, _) => self.pick(frame, |known| known.info == *param),
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
        Some(Made { value: Expr::call(callee, args), info: outside(&result, &frame.dims), sizes })
    }

    /// `fn (c, x) { if c { own(false, x + x) } else { x } }`: recursion that ends after one call.
    pub(super) fn recursive(&mut self, name: &str) -> Function {
        let size = 1 + self.tape.choose(4) as i64;
        let dim = self.fresh_dim(size);
        let vector = StructInfo::tensor([PrimExpr::Var(dim)], F32);
        let [c, x] = ["c", "x"].map(|prefix| Binder::var(self.fresh(prefix)));
        let [c, x] = [c.annotated(truth()), x.annotated(vector.clone())];
        let [sum, again, result] = ["v", "v", "v"].map(|prefix| Binder::var(self.fresh(prefix)));
        let twice = Expr::call(Expr::op("relax.add"), vec![x.to_expr(), x.to_expr()]);
        let stop =
            TensorData::from_values(DataType::BOOL, &[], &[0.0]).ok().map_or_else(|| c.to_expr(), Expr::constant);
        let call = Expr::call(Expr::GlobalVar(GlobalVar::new(name)), vec![stop, sum.to_expr()]);
        let branch = If {
            cond: c.to_expr(),
            true_branch: Expr::seq(vec![block(vec![bind(&sum, twice), bind(&again, call)])], again.to_expr()),
            false_branch: Expr::seq(Vec::new(), x.to_expr()),
            span: Span::NONE,
        };
        let body = Expr::seq(vec![block(vec![bind(&result, Expr::If(Arc::new(branch)))])], result.to_expr());
        let (params, attrs) = (vec![c, x], Attrs::new());
        let function =
            Function { params, body, ret_struct_info: Some(vector), pure: Some(true), attrs, span: Span::NONE };
        self.knows(name, &function, Some(vec![size]));
        function
    }

    /// `fn (f, x) { f(x) }`: a function that is given a function.
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
        let body = Expr::seq(vec![block(vec![bind(&result, call)])], result.to_expr());
        let (params, attrs) = (vec![f, x], Attrs::new());
        let function =
            Function { params, body, ret_struct_info: Some(vector), pure: Some(true), attrs, span: Span::NONE };
        self.knows(name, &function, Some(vec![size]));
        function
    }
}
