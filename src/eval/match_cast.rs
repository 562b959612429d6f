//! Match casts (chapter Match casts and function boundaries): `match(v, S, sigma)` compares a value with structural
//! information and binds the shape variables that the information introduces.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::machine::{EvalOptions, Machine};
use super::trace::TraceEvent;
use crate::book::{Erratum, Rule};
use crate::grammar::{
    FuncStructInfo, IrModule, Ndim, PrimExpr, PrimStructInfo, ShapeStructInfo, ShapeVar, Span, StructInfo, TensorShape,
    TensorStructInfo, Var,
};
use crate::judge::{Cx, ReportedCondition, is_shared, place, with_stack};
use crate::struct_info::info_of_prim_func;
use crate::value::{Closure, PrimFuncObj, Scalar, Stop, Tensor, TupleObj, Value};

/// The rules for comparing a list of dimensions: those of tensors, or those of shapes.
#[derive(Clone, Copy)]
struct DimRules {
    bind: Rule,
    eval: Rule,
}

const TENSOR_DIMS: DimRules =
    DimRules { bind: rule!("SI.MATCHCAST.TENSOR.BIND"), eval: rule!("SI.MATCHCAST.TENSOR.EVAL") };
const SHAPE_DIMS: DimRules =
    DimRules { bind: rule!("SI.MATCHCAST.SHAPE.BIND"), eval: rule!("SI.MATCHCAST.SHAPE.EVAL") };

const VALUE: DimRules = DimRules { bind: rule!("SI.MATCHCAST.PRIM.BIND"), eval: rule!("SI.MATCHCAST.PRIM.VALUE") };
const VALUE_2023_02: DimRules = DimRules { bind: rule!("PR14148.SI.PRIM.VALUE"), eval: rule!("PR14148.SI.PRIM.VALUE") };

/// The shape variable, if the dimension consists of it alone.
pub(super) fn lone(dim: &PrimExpr) -> Option<&ShapeVar> {
    match dim {
        PrimExpr::Var(v) => Some(v),
        PrimExpr::IntImm(_) | PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..) => None,
    }
}

/// The number of times that each pair of a tuple and shared structural information was compared. The first comparison
/// may bind variables, which the second one compares. A third comparison adds nothing.
#[derive(Default)]
pub(super) struct Twice(FxHashMap<(*const TupleObj, usize), u8>);

impl Twice {
    /// Whether the pair was already compared twice.
    pub(super) fn had(&self, value: &Value, fields: &Arc<[StructInfo]>) -> bool {
        key(value, fields).is_some_and(|key| self.0.get(&key).is_some_and(|times| *times > 1))
    }

    /// Counts one more comparison.
    pub(super) fn note(&mut self, value: &Value, fields: &Arc<[StructInfo]>) {
        if let Some(key) = key(value, fields) {
            *self.0.entry(key).or_default() += 1;
        }
    }
}

/// The key of a pair that may occur more than once: the addresses of the tuple and of the information.
fn key(value: &Value, fields: &Arc<[StructInfo]>) -> Option<(*const TupleObj, usize)> {
    let tuple = value.as_tuple().filter(|tuple| is_shared(fields) && Rc::strong_count(tuple) > 1)?;
    Some((Rc::as_ptr(tuple), place(fields)))
}

/// The result of a match, for derivation trees.
struct MatchOutcome(Result<BTreeMap<ShapeVar, i64>, Stop>);

impl fmt::Display for MatchOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Ok(bound) => {
                let sizes: Vec<String> = bound.iter().map(|(var, size)| format!("{var} = {size}")).collect();
                write!(f, "matches with {{{}}}", sizes.join(", "))
            }
            Err(Stop::Error(error)) => write!(f, "fails: {error}"),
            Err(Stop::OutOfFuel) => f.write_str("out of fuel"),
            Err(Stop::Unspecified(reason)) => write!(f, "unspecified: {reason}"),
            Err(Stop::Unknown(what)) => write!(f, "unknown: {what}"),
        }
    }
}

/// `match(v, S, sigma)` alone: returns all shape variables that are bound after it.
pub fn match_value(
    cx: &mut Cx,
    v: &Value,
    s: &StructInfo,
    sigma: &BTreeMap<ShapeVar, i64>,
    options: &EvalOptions,
) -> Result<BTreeMap<ShapeVar, i64>, Stop> {
    let module = IrModule::default();
    let inputs = || vec![v.to_string(), s.to_string()];
    let matched = cx.judge("match", inputs, |cx| {
        let mut machine = Machine::new(cx, &module, options);
        sigma.iter().for_each(|(var, size)| machine.activation.shape_vars.bind(var.clone(), *size));
        let result = machine.match_value(v, s);
        MatchOutcome(
            result.map(|()| machine.activation.shape_vars.iter().map(|(var, size)| (var.clone(), *size)).collect()),
        )
    });
    matched.0
}

impl Machine<'_> {
    /// Compares a value with structural information and binds new shape variables in the current scope. The error names
    /// the check that failed.
    pub fn match_value(&mut self, v: &Value, s: &StructInfo) -> Result<(), Stop> {
        with_stack(|| self.match_part(v, s, &mut Twice::default()))
    }

    fn match_part(&mut self, v: &Value, s: &StructInfo, twice: &mut Twice) -> Result<(), Stop> {
        match s {
            StructInfo::Object => self.cx.conclude(rule!("SI.MATCHCAST.OBJECT"), Ok(())),
            StructInfo::Tensor(t) => self.match_tensor(v, t),
            StructInfo::Shape(s) => self.match_shape(v, s),
            StructInfo::Tuple(fields) if twice.had(v, fields) => Ok(()),
            StructInfo::Tuple(fields) => {
                self.match_tuple(v, fields, twice)?;
                twice.note(v, fields);
                Ok(())
            }
            StructInfo::Func(f) => self.match_func(v, f, s),
            StructInfo::Prim(p) => self.match_prim(v, p),
        }
    }

    /// Checks that all conditions hold. The error names the first one that fails.
    pub(super) fn check(&mut self, conditions: &[ReportedCondition]) -> Result<(), Stop> {
        self.cx.holds(conditions).map_err(|(rule, message)| Stop::error(rule, message()))
    }

    // Tensors.

    fn match_tensor(&mut self, v: &Value, s: &TensorStructInfo) -> Result<(), Stop> {
        let tensor = v.as_tensor();
        let kind = || format!("expected a tensor for {s}, found {}", v.category());
        self.check(&[(rule!("SI.MATCHCAST.TENSOR.KIND"), 1, tensor.is_some(), &kind)])?;
        let Some(tensor) = tensor else { return Ok(()) };
        let (rank, dtype) = (tensor.shape().len(), tensor.dtype());
        self.check(&[
            (rule!("SI.MATCHCAST.TENSOR.NDIM"), 1, s.ndim.is_unknown() || s.ndim == Ndim::of_len(rank), &|| {
                format!("expected rank {}, found rank {rank}", s.ndim)
            }),
            (rule!("SI.MATCHCAST.TENSOR.DTYPE"), 1, s.dtype.is_void() || s.dtype == dtype, &|| {
                format!("expected data type {}, found {dtype}", s.dtype)
            }),
        ])?;
        match &s.shape {
            None => Ok(()),
            Some(TensorShape::Var(var) | TensorShape::DataflowVar(var)) => self.match_tensor_shape_var(tensor, var),
            Some(TensorShape::Dims(dims)) => self.match_tensor_dims(tensor, dims),
            Some(TensorShape::Other(_)) => {
                Err(Stop::unspecified("the shape of a TensorStructInfo is neither a variable nor a ShapeExpr"))
            }
        }
    }

    fn match_tensor_shape_var(&mut self, tensor: &Tensor, var: &Var) -> Result<(), Stop> {
        let Some(value) = self.activation.var(var) else {
            return Err(Stop::unspecified(format!("the variable {var}, used as a shape, is not in scope")));
        };
        let holds = matches!(&value, Value::Shape(dims) if **dims == *tensor.shape());
        let message = || format!("expected the shape {var} = {value}, found {:?}", tensor.shape());
        self.check(&[(rule!("SI.MATCHCAST.TENSOR.SHAPEVAR"), 1, holds, &message)])
    }

    fn match_tensor_dims(&mut self, tensor: &Tensor, dims: &[PrimExpr]) -> Result<(), Stop> {
        let rank = tensor.shape().len();
        let message = || format!("expected {} dimensions, found {rank}", dims.len());
        self.check(&[(rule!("SI.MATCHCAST.TENSOR.LEN"), 1, dims.len() == rank, &message)])?;
        let mut sizes = tensor.shape().to_vec();
        // The order matters from the second dimension on.
        if dims.len() > 1 {
            sizes = self.cx.conclude(rule!("SI.MATCHCAST.TENSOR.ORDER"), sizes);
        }
        self.match_dims(TENSOR_DIMS, dims, &sizes)
    }

    /// Compares dimensions one by one, so that a variable bound at one index has its value at the next.
    fn match_dims(&mut self, rules: DimRules, dims: &[PrimExpr], sizes: &[i64]) -> Result<(), Stop> {
        let mut pairs = dims.iter().zip(sizes).enumerate();
        pairs.try_for_each(|(index, (dim, size))| self.match_dim(rules, &format_args!("dimension {index}"), dim, *size))
    }

    /// Compares a size with a dimension, or binds the dimension's variable. `place` names the size in messages.
    fn match_dim(&mut self, rules: DimRules, place: &dyn fmt::Display, dim: &PrimExpr, size: i64) -> Result<(), Stop> {
        if let Some(var) = self.newly_bound(dim) {
            let size = self.cx.conclude(rules.bind, size);
            self.bind_shape_var(var, size);
            return Ok(());
        }
        self.compare_dim(rules, place, dim, size)
    }

    /// Compares a size with the value of an expression.
    fn compare_dim(
        &mut self,
        rules: DimRules,
        place: &dyn fmt::Display,
        dim: &PrimExpr,
        size: i64,
    ) -> Result<(), Stop> {
        let expected = match self.eval_dim(dim) {
            Ok(expected) => expected,
            Err(Stop::Error(failed)) => {
                let message = || format!("{place} ({dim}) has no value: {failed}");
                return self.check(&[(rules.eval, 2, false, &message)]);
            }
            Err(stop) => return Err(stop),
        };
        let message = || match dim {
            PrimExpr::IntImm(_) => format!("{place}: expected {expected}, found {size}"),
            PrimExpr::Var(_) | PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..) => {
                format!("{place}: expected {dim} = {expected}, found {size}")
            }
        };
        self.check(&[(rules.eval, 1, expected == size, &message)])
    }

    /// The variable that a dimension binds: its lone variable. `None` if that already has a value, either from this
    /// scope (`SI.DIM.BIND-ONCE`) or captured from an enclosing one (`SI.BOUNDARY.SCOPE-OUTER`).
    fn newly_bound(&mut self, dim: &PrimExpr) -> Option<ShapeVar> {
        let var = lone(dim)?;
        let local = self.activation.shape_vars.get(var).is_some();
        let outer = !local && self.activation.shape_var(var).is_some();
        let has_value = [(rule!("SI.DIM.BIND-ONCE"), local, ()), (rule!("SI.BOUNDARY.SCOPE-OUTER"), outer, ())];
        self.cx.by_cases(&has_value).is_none().then(|| var.clone())
    }

    pub(super) fn bind_shape_var(&mut self, var: ShapeVar, size: i64) {
        self.step(Span::NONE, TraceEvent::BindShapeVar(var.clone(), size));
        self.activation.shape_vars.bind(var, size);
    }

    // Shapes.

    fn match_shape(&mut self, v: &Value, s: &ShapeStructInfo) -> Result<(), Stop> {
        let sizes = v.as_shape();
        let kind = || format!("expected a shape, found {}", v.category());
        self.check(&[(rule!("SI.MATCHCAST.SHAPE.KIND"), 1, sizes.is_some(), &kind)])?;
        let Some(sizes) = sizes else { return Ok(()) };
        let rank = Ndim::of_len(sizes.len());
        let message = || format!("expected a shape of {} dimensions, found {rank}", s.ndim);
        self.check(&[(rule!("SI.MATCHCAST.SHAPE.NDIM"), 1, s.ndim.is_unknown() || s.ndim == rank, &message)])?;
        match &s.values {
            None => Ok(()),
            Some(values) if s.ndim == Ndim::of_len(values.len()) => self.match_dims(SHAPE_DIMS, values, sizes),
            // WF.14.NDIM: if it is violated, the check of the rank does not fix the number of sizes.
            Some(_) => Err(Stop::unspecified("a ShapeStructInfo has more or fewer values than its ndim says")),
        }
    }

    // Tuples.

    fn match_tuple(&mut self, v: &Value, fields: &[StructInfo], twice: &mut Twice) -> Result<(), Stop> {
        let Some(tuple) = self.tuple_of(v, fields)? else { return Ok(()) };
        if !fields.is_empty() && self.cx.fire(rule!("SI.MATCHCAST.TUPLE.FIELDS")) {
            self.match_fields(tuple, fields, twice)?;
        }
        Ok(())
    }

    /// The value as a tuple with as many fields as the information has.
    pub(super) fn tuple_of<'v>(&mut self, v: &'v Value, fields: &[StructInfo]) -> Result<Option<&'v TupleObj>, Stop> {
        let tuple = v.as_tuple().filter(|tuple| tuple.len() == fields.len());
        let kind = || match v.as_tuple() {
            Some(t) => format!("expected a tuple of {} fields, found one of {}", fields.len(), t.len()),
            None => format!("expected a tuple of {} fields, found {}", fields.len(), v.category()),
        };
        self.check(&[(rule!("SI.MATCHCAST.TUPLE.KIND"), 1, tuple.is_some(), &kind)])?;
        Ok(tuple.map(|tuple| &**tuple))
    }

    /// SI.MATCHCAST.RECURSIVE: compares the fields of both in parallel.
    fn match_fields(&mut self, tuple: &TupleObj, fields: &[StructInfo], twice: &mut Twice) -> Result<(), Stop> {
        let values: Vec<&Value> = tuple.fields().iter().collect();
        let values = self.cx.conclude(rule!("SI.MATCHCAST.RECURSIVE"), values);
        for (index, (value, field)) in values.into_iter().zip(fields).enumerate() {
            let matched = with_stack(|| self.match_part(value, field, twice));
            matched.map_err(|stop| in_field(stop, index))?;
        }
        Ok(())
    }

    // Functions.

    fn match_func(&mut self, v: &Value, f: &FuncStructInfo, s: &StructInfo) -> Result<(), Stop> {
        let found = v.category();
        if f.params.is_some() {
            let (closure, prim_func) = (v.as_closure(), self.prim_func_of(v));
            let message = || format!("expected a closure, found {found}");
            let callable = closure.is_some() || prim_func.is_some();
            self.check(&[(rule!("SI.MATCHCAST.FUNC.CLOSURE"), 1, callable, &message)])?;
            if let Some(closure) = closure {
                self.match_rtsi(closure, s)?;
            }
            if let Some(func) = prim_func {
                let info = info_of_prim_func(self.cx, self.module, &func.func);
                self.is_verified(&info, s)?;
            }
        }
        if f.derive_func.is_some() {
            let packed = matches!(v, Value::PackedFunc(_));
            let message = || format!("expected a packed function, found {found}");
            self.check(&[(rule!("SI.MATCHCAST.FUNC.PACKED"), 1, packed, &message)])?;
            // Nothing more can be checked about a packed function.
            self.cx.conclude(rule!("SI.MATCHCAST.FUNC.PACKED-NOMORE"), Ok::<(), Stop>(()))?;
        }
        Ok(())
    }

    /// The value as a `PrimFunc`, where a `PrimFunc` may stand for a function with parameters.
    ///
    /// Errata: N25. Read literally, it may not.
    fn prim_func_of<'v>(&self, v: &'v Value) -> Option<&'v Rc<PrimFuncObj>> {
        let admitted = self.cx.has(rule!("PRIMFUNC.SI.RESULT")) && !self.cx.literal(Erratum::N25);
        v.as_prim_func().filter(|_| admitted)
    }

    /// SI.MATCHCAST.FUNC.RTSI: compares the closure's own information with the target (A19).
    ///
    /// The literal text permits a comparison without defining it, so the literal reading compares nothing.
    fn match_rtsi(&mut self, closure: &Closure, s: &StructInfo) -> Result<(), Stop> {
        if self.cx.literal(Erratum::A19) {
            return Ok(());
        }
        match self.run_time_struct_info(closure) {
            Some(rtsi) => self.is_verified(&rtsi, s),
            None => Ok(()),
        }
    }

    fn is_verified(&mut self, rtsi: &StructInfo, s: &StructInfo) -> Result<(), Stop> {
        let target = self.close_over(s);
        let verified = super::rtsi::verified(self.cx, rtsi, &target);
        let message = || format!("the function is {rtsi}, which is not known to be {target}");
        self.check(&[(rule!("SI.MATCHCAST.FUNC.RTSI"), 1, verified, &message)])
    }

    // Boxed scalars.

    fn match_prim(&mut self, v: &Value, s: &PrimStructInfo) -> Result<(), Stop> {
        self.prim_of(v, s)?;
        match (&s.value, v) {
            (Some(value), Value::Prim(prim)) => self.match_prim_value(prim.value, value),
            (Some(_) | None, _) => Ok(()),
        }
    }

    /// The value as a boxed scalar of the data type.
    pub(super) fn prim_of(&mut self, v: &Value, s: &PrimStructInfo) -> Result<(), Stop> {
        let holds = matches!(v, Value::Prim(prim) if prim.dtype == s.dtype);
        let message = || match v {
            Value::Prim(prim) => format!("expected a boxed {}, found a boxed {}", s.dtype, prim.dtype),
            other => format!("expected a boxed {}, found {}", s.dtype, other.category()),
        };
        self.check(&[
            (rule!("SI.MATCHCAST.PRIM.KIND"), 1, holds, &message),
            (rule!("PR14148.SI.PRIM.RULES"), 1, holds, &message),
        ])
    }

    /// PR14148.SI.PRIM.VALUE: the number in the box is compared or bound like a dimension.
    ///
    /// Errata: A74. In the first edition, read literally, the value does not affect the match. N11: in later editions,
    /// read literally, it is evaluated even if it is a variable without a value.
    fn match_prim_value(&mut self, found: Scalar, value: &PrimExpr) -> Result<(), Stop> {
        let stated = self.cx.has(VALUE.eval);
        if !stated && self.cx.literal(Erratum::A74) {
            return Ok(());
        }
        let rules = if stated { VALUE } else { VALUE_2023_02 };
        match found.to_dim() {
            Some(number) if stated && self.cx.literal(Erratum::N11) => {
                self.compare_dim(rules, &"the value", value, number)
            }
            Some(number) => self.match_dim(rules, &"the value", value, number),
            None => self.check(&[(rules.eval, 1, false, &|| format!("the value: expected {value}, found {found}"))]),
        }
    }
}

fn in_field(stop: Stop, index: usize) -> Stop {
    match stop {
        Stop::Error(mut error) => {
            error.message = format!("field {index}: {}", error.message);
            Stop::Error(error)
        }
        Stop::OutOfFuel | Stop::Unspecified(_) | Stop::Unknown(_) => stop,
    }
}
