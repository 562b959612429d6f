//! Calls of operators: similar to calls that are known to give a value, on the values in scope.

use super::draw::ProgramGenerator;
use super::source::{Callable, ELEMENTS, is_small};
use crate::calls::{CallOperand, RandomCall, elements_of, what_is_known_of};
use crate::generate::nodes::{self, F32, bind, block, boxed, cast, dims_of, dtype_of};
use crate::generate::scope::{Scope, ScopeValue};
use relax_spec::grammar::{
    Binder, BlockKind, Call, DataType, Expr, PrimExpr, ShapeVar, Span, StructInfo, TensorStructInfo,
};
use relax_spec::ops::{InferArgs, OpDef};

/// How many operators are tried for one binding.
const ATTEMPTS: usize = 3;
/// The maximum number of elements of a constant.
const CONSTANT: usize = 32;
/// One of this many calls is drawn for operators with known divergences, and for calls that usually fail. When it is
/// the turn of an operator of the latter kind, more of its calls are drawn, so that each operator is called sometimes.
const SELDOM: usize = 60;
const IN_TURN: usize = 4;

impl ProgramGenerator<'_> {
    /// A call of some operator.
    pub(super) fn operator(&mut self, scope: &mut Scope) -> Option<ScopeValue> {
        for _ in 0..ATTEMPTS {
            if self.tape.is_exhausted() {
                break;
            }
            let operators = std::mem::take(&mut self.operators);
            let other = self.tape.pick(&operators).copied();
            self.operators = operators;
            let may_stand = |callable: &Callable| callable.op.pure || scope.is_impure();
            // It takes its turn in a function that may call it.
            let has_turn = |at: &usize| self.source.operators.get(*at).is_none_or(may_stand);
            let featured = self.featured.take_if(|at| has_turn(at));
            let callable = featured.or(other).and_then(|at| self.source.operators.get(at));
            let Some(callable) = callable.filter(|callable| may_stand(callable)) else { continue };
            let one_in = match (featured.is_some() && !callable.troubled, callable.op.pure) {
                (true, true) => IN_TURN,
                (true, false) => 1,
                (false, _) => SELDOM,
            };
            if callable.seldom && !self.tape.one_in(one_in) {
                continue;
            }
            let Some(call) = self.tape.pick(&callable.calls) else { continue };
            let call = self.directed(scope, call);
            if let Some(made) = self.call_of(scope, &call) {
                return Some(made);
            }
        }
        self.element_wise(scope)
    }

    /// The simplest call: one of the operators that work on any tensor.
    fn element_wise(&mut self, scope: &mut Scope) -> Option<ScopeValue> {
        let is_float = |value: &ScopeValue| dtype_of(&value.info) == Some(F32) && value.sizes.is_some();
        let a = match self.pick(scope, is_float) {
            Some(known) => known,
            None => self.parameter(scope, F32, &[2]).or_else(|| self.constant(F32, &[2]))?,
        };
        let op = ["relax.add", "relax.multiply", "relax.subtract", "relax.maximum"][self.tape.choose(4)];
        let b = match self.tape.choose(2) {
            1 => self.pick(scope, |value| value.info == a.info)?,
            _ => a.clone(),
        };
        let value = Expr::call(Expr::op(op), vec![self.operand_of(scope, &a), b.expr]);
        let info = match dims_of(&a.info) {
            Some(_) => a.info,
            // If the rank is unknown, that of the result is unknown too.
            None => StructInfo::Tensor(TensorStructInfo { shape: None, ..a.info.as_tensor()?.clone() }),
        };
        Some(ScopeValue::new(value, info, a.sizes))
    }

    /// The call with the sizes and the data type of a value in scope, if that call can be inferred.
    fn directed(&mut self, scope: &mut Scope, call: &RandomCall) -> RandomCall {
        if self.tape.one_in(5) {
            return call.clone();
        }
        let tensor = |own: &CallOperand| if let CallOperand::Tensor(t, s) = own { Some((*t, s.clone())) } else { None };
        let Some((dtype, shape)) = call.parts().find_map(tensor) else { return call.clone() };
        let types = self.on.data_types;
        let fitting = self.pick(scope, |value| {
            value.sizes.as_ref().is_some_and(|sizes| sizes.len() == shape.len() && maps(&shape, sizes))
                && dtype_of(&value.info).is_some_and(|own| own == dtype || types && own.is_float() == dtype.is_float())
        });
        let Some(known) = fitting else { return call.clone() };
        let (Some(sizes), Some(own)) = (known.sizes, dtype_of(&known.info)) else { return call.clone() };
        let exchange =
            |size: i64| shape.iter().position(|old| *old == size).and_then(|at| sizes.get(at)).copied().unwrap_or(size);
        let changed = call.with_sizes(&exchange).with_dtype(dtype, own);
        let (literal, infos) = changed.literal();
        let args = InferArgs { call: &literal, args: &infos, module: None };
        let fits = is_small(&changed)
            && changed.op.infer(&mut self.source.cx(), &args).is_ok_and(|info| self.is_small_info(&info));
        if fits { changed } else { call.clone() }
    }

    fn is_small_info(&self, info: &StructInfo) -> bool {
        match info {
            StructInfo::Tensor(_) => self.sizes_of(info).is_none_or(|sizes| sizes.iter().product::<i64>() <= ELEMENTS),
            StructInfo::Tuple(fields) => fields.iter().all(|field| self.is_small_info(field)),
            StructInfo::Object | StructInfo::Shape(_) | StructInfo::Prim(_) | StructInfo::Func(_) => true,
        }
    }

    /// The call on values in scope, if its result can be inferred.
    fn call_of(&mut self, scope: &mut Scope, call: &RandomCall) -> Option<ScopeValue> {
        let mark = scope.mark();
        let args: Option<Vec<(Expr, StructInfo)>> =
            call.operands.iter().map(|operand| self.operand(scope, operand)).collect();
        let made = args.and_then(|args| self.inferred(call.op, call, args));
        if made.is_none() {
            scope.back_to(mark);
        }
        made
    }

    fn inferred(&self, op: &'static OpDef, call: &RandomCall, args: Vec<(Expr, StructInfo)>) -> Option<ScopeValue> {
        let (args, infos): (Vec<Expr>, Vec<StructInfo>) = args.into_iter().unzip();
        let (attrs, sinfo_args) = (call.attrs.clone(), call.sinfo_args.clone());
        let own = Call { op: Expr::op(op.name), args, sinfo_args, attrs, span: Span::NONE };
        let info = op.infer(&mut self.source.cx(), &InferArgs { call: &own, args: &infos, module: None }).ok()?;
        let sizes = match self.sizes_of(&info) {
            Some(sizes) => Some(sizes),
            None => {
                let (literal, infos) = call.literal();
                let literal = InferArgs { call: &literal, args: &infos, module: None };
                self.sizes_of(&op.infer(&mut self.source.cx(), &literal).ok()?)
            }
        };
        if !self.is_small_info(&info) {
            return None;
        }
        Some(ScopeValue::new(Expr::Call(own.into()), info, sizes))
    }

    /// An operand: a value in scope, a literal, or a new parameter.
    fn operand(&mut self, scope: &mut Scope, operand: &CallOperand) -> Option<(Expr, StructInfo)> {
        match operand {
            CallOperand::Tensor(dtype, shape) => {
                let known = self.tensor(scope, *dtype, shape)?;
                Some((self.operand_of(scope, &known), known.info))
            }
            CallOperand::Tuple(fields) => {
                let fields: Option<Vec<_>> = fields.iter().map(|field| self.operand(scope, field)).collect();
                let (exprs, infos): (Vec<Expr>, Vec<StructInfo>) = fields?.into_iter().unzip();
                Some((Expr::tuple(exprs), StructInfo::tuple(infos)))
            }
            CallOperand::Shape(sizes) => {
                let dims = self.dims(scope, sizes);
                Some((Expr::shape(dims.clone()), StructInfo::shape(dims)))
            }
            CallOperand::Int(dtype, value) => Some(boxed(*dtype, PrimExpr::IntImm(*value))),
            CallOperand::Other(expr, value) => Some((expr.clone(), what_is_known_of(value))),
        }
    }

    /// A tensor with this data type and these example sizes.
    pub(super) fn tensor(&mut self, scope: &mut Scope, dtype: DataType, sizes: &[i64]) -> Option<ScopeValue> {
        let fresh = self.tape.one_in(8);
        let fits = |value: &ScopeValue| {
            value.sizes.as_deref() == Some(sizes)
                && dtype_of(&value.info) == Some(dtype)
                && dims_of(&value.info).is_some()
        };
        if !fresh && let Some(known) = self.pick(scope, fits) {
            return Some(known);
        }
        if self.on.constants
            && self.tape.one_in(4)
            && let Some(known) = self.constant(dtype, sizes)
        {
            return Some(known);
        }
        self.parameter(scope, dtype, sizes).or_else(|| self.constant(dtype, sizes)).or_else(|| self.pick(scope, fits))
    }

    /// A constant of small numbers.
    pub(super) fn constant(&mut self, dtype: DataType, sizes: &[i64]) -> Option<ScopeValue> {
        let shape: Vec<u64> = sizes.iter().map(|size| u64::try_from(*size).ok()).collect::<Option<_>>()?;
        let count = usize::try_from(shape.iter().product::<u64>()).ok().filter(|count| *count <= CONSTANT)?;
        let mut random = fastrand::Rng::with_seed(self.tape.choose(1 << 16) as u64);
        let values = elements_of(dtype, count, &mut random);
        let info = StructInfo::tensor(sizes.iter().map(|size| PrimExpr::IntImm(*size)), dtype);
        Some(ScopeValue::new(nodes::constant(dtype, &shape, &values)?, info, Some(sizes.to_vec())))
    }

    /// The information to which a tensor is cast inside of a sequence that is an operand: its variables may also be
    /// those of scopes that have ended.
    fn inner_cast(&mut self, scope: &Scope, known: &ScopeValue) -> Option<StructInfo> {
        let (true, Some(sizes), Some(dtype)) = (self.on.casts, &known.sizes, dtype_of(&known.info)) else {
            return None;
        };
        let mut dims = Vec::new();
        for size in sizes {
            // A variable that one sequence binds may be bound again by another, with any size.
            let again = self.on.shadowing && self.tape.one_in(2);
            let is_free = |var: &&ShapeVar| !scope.has_dim(var) && !dims.contains(&PrimExpr::Var((*var).clone()));
            let var = match self.in_operands.iter().find(is_free).filter(|_| again) {
                Some(var) => var.clone(),
                None => self.shape_var(scope, *size),
            };
            self.in_operands.push(var.clone());
            dims.push(PrimExpr::Var(var));
        }
        Some(StructInfo::tensor(dims, dtype))
    }

    /// A sequence where a value is bound, which normalization has to flatten.
    pub(super) fn sequence_as_value(&mut self, scope: &mut Scope) -> Option<ScopeValue> {
        let known = self.pick(scope, |value| dtype_of(&value.info).is_some() && dims_of(&value.info).is_some())?;
        let dataflow = scope.dataflow || self.on.dataflow && self.tape.one_in(3);
        let kind = if dataflow { BlockKind::Dataflow } else { BlockKind::Binding };
        Some(ScopeValue { expr: self.sequence_of(scope, &known, kind), ..known })
    }

    /// A sequence that returns the known value.
    fn sequence_of(&mut self, scope: &Scope, known: &ScopeValue, kind: BlockKind) -> Expr {
        let var = Binder::var(self.fresh("s"));
        // It declares no less than what is known outside.
        let inner = self.inner_cast(scope, known).map(|info| cast(None, known.expr.clone(), info));
        let bindings = inner.into_iter().chain([bind(&var, known.expr.clone())]).collect();
        let body = match self.tape.choose(4) {
            3 if dtype_of(&known.info) == Some(F32) => Expr::call(Expr::op("relax.nn.relu"), vec![var.to_expr()]),
            2 => Expr::seq(Vec::new(), var.to_expr()),
            _ => var.to_expr(),
        };
        Expr::seq(vec![block(kind, bindings)], body)
    }

    /// The value as an operand; where allowed, in a form that normalization has to flatten.
    pub(super) fn operand_of(&mut self, scope: &Scope, known: &ScopeValue) -> Expr {
        let expr = known.expr.clone();
        if !self.on.nested || !self.tape.one_in(6) {
            return expr;
        }
        match self.tape.choose(3) {
            0 => Expr::tuple_get_item(Expr::tuple(vec![expr]), 0),
            1 if dtype_of(&known.info) == Some(F32) && dims_of(&known.info).is_some() => {
                Expr::call(Expr::op("relax.nn.relu"), vec![expr])
            }
            2 if !scope.dataflow && dims_of(&known.info).is_some() => {
                self.sequence_of(scope, known, BlockKind::Binding)
            }
            _ => expr,
        }
    }
}

/// Whether equal sizes are mapped to equal sizes.
fn maps(from: &[i64], to: &[i64]) -> bool {
    from.iter().zip(to).all(|(a, b)| from.iter().zip(to).all(|(c, d)| a != c || b == d))
}
