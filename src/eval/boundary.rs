//! Calls of closures (`EVAL.CALL.CLOSURE`) and the checks at the start and end of a function (`SI.BOUNDARY`).

use std::rc::Rc;
use std::sync::Arc;

use super::machine::{Activation, Machine, SignatureOrder};
use super::match_cast::{Twice, lone};
use super::scope::{ScopeMark, Scopes};
use super::trace::TraceEvent;
use crate::book::{Erratum, Rule};
use crate::grammar::{Binder, Function, ShapeVar, Span, StructInfo, TensorShape};
use crate::judge::{RuntimeError, with_stack};
use crate::ops::value_of_prim_func;
use crate::value::{Applied, Closure, Host, PackedCallContract, PrimFuncObj, Stop, Value, snapshot};

impl Machine<'_> {
    /// EVAL.CALL.CALLEE: calls a value. It must be a closure or a packed function, or in later editions a `PrimFunc`.
    pub fn call_value(&mut self, callee: &Value, args: Vec<Value>) -> Result<Value, Stop> {
        match callee {
            Value::Closure(closure) => self.call_closure(closure, args),
            Value::PackedFunc(packed) => self.call_packed(packed, &args, PackedCallContract::default()),
            Value::PrimFunc(func) if self.cx.has(rule!("EVAL.CALL.PRIMFUNC")) => {
                let value = self.call_prim_func(func, &args);
                self.cx.conclude(rule!("EVAL.CALL.CALLEE"), value)
            }
            Value::PrimFunc(func) => {
                let message = format!("@{} is a PrimFunc: as an object it can be used only by call_tir", func.name);
                self.cannot_call(rule!("MOD.PRIMFUNC-ONLY-CALLTIR"), message)
            }
            Value::Object(_) => self.unusable("an opaque object cannot be called"),
            Value::Tensor(_)
            | Value::Tuple(_)
            | Value::Shape(_)
            | Value::Prim(_)
            | Value::Str(_)
            | Value::DataType(_) => {
                self.cannot_call(rule!("EVAL.CALL.CALLEE"), format!("{} cannot be called", callee.category()))
            }
        }
    }

    /// EVAL.CALL.PRIMFUNC: the function runs on the arguments themselves and returns nothing (but see M06).
    /// VAL.PRIMFUNC: it is called like any other function, whatever its name.
    fn call_prim_func(&mut self, func: &PrimFuncObj, args: &[Value]) -> Result<Value, Stop> {
        let _ = self.cx.fire(rule!("EVAL.CALL.PRIMFUNC"));
        let before = snapshot(args)?;
        let value = value_of_prim_func(self, func, args)?;
        // EVAL.CALL.PRIMFUNC.EFFECT: a change in the contents of an argument is an effect.
        let changed = snapshot(args)? != before;
        self.mutates |= changed && self.cx.fire(rule!("EVAL.CALL.PRIMFUNC.EFFECT"));
        let value = self.cx.conclude(rule!("VAL.PRIMFUNC"), Ok(value));
        self.cx.conclude(rule!("EVAL.CALL.PRIMFUNC"), value)
    }

    fn cannot_call(&mut self, rule: Rule, message: String) -> Result<Value, Stop> {
        self.cx.conclude(rule, Err(Stop::error(rule, message)))
    }

    /// EVAL.CALL.CLOSURE: evaluates the body in a new scope, with the parameters bound to the arguments and the
    /// captured variables to their captured values.
    pub fn call_closure(&mut self, closure: &Rc<Closure>, args: Vec<Value>) -> Result<Value, Stop> {
        let checked = self.cx.fire(rule!("EVAL.CALL.CLOSURE.CHECK"));
        self.enter_closure(closure, args, checked)
    }

    /// Calls a closure with or without boundary checks.
    pub(super) fn enter_closure(
        &mut self,
        closure: &Rc<Closure>,
        args: Vec<Value>,
        checked: bool,
    ) -> Result<Value, Stop> {
        let args = self.cx.conclude(rule!("EVAL.CALL.CLOSURE"), args);
        let _ = self.cx.fire(rule!("VAL.CLOSURE.CALL"));
        if let Some(applied) = &closure.applied {
            let result = self.call_applied(applied, args);
            return self.cx.conclude(rule!("VAL.CLOSURE.CALL"), result);
        }
        let Some(func) = closure.func.clone() else {
            return Err(Stop::unknown("the closure came from outside and cannot be called here"));
        };
        self.check_arity(&func, &args)?;
        if self.depth >= self.options.max_depth {
            return Err(Stop::OutOfFuel);
        }
        let recursive = self.activation.runs(&func);
        let callee = self.new_activation(closure);
        let caller = std::mem::replace(&mut self.activation, callee);
        self.depth += 1;
        let result = self.run_body(&func, args, checked);
        self.depth -= 1;
        let callee = std::mem::replace(&mut self.activation, caller);
        if recursive {
            self.after_recursion(callee.shape_vars);
        }
        self.cx.conclude(rule!("VAL.CLOSURE.CALL"), result)
    }

    /// OPS.make_closure.value: the captured values follow the arguments of the call.
    fn call_applied(&mut self, applied: &Applied, args: Vec<Value>) -> Result<Value, Stop> {
        if self.depth >= self.options.max_depth {
            return Err(Stop::OutOfFuel);
        }
        let args: Vec<Value> = args.into_iter().chain(applied.last.iter().cloned()).collect();
        self.spend(args.len() as u64)?;
        if let Value::PrimFunc(func) = &applied.callee {
            return crate::ops::run_prim_func(self, func, &args, 0..0).map(|()| Value::unit());
        }
        self.depth += 1;
        let result = with_stack(|| self.call_value(&applied.callee, args));
        self.depth -= 1;
        result
    }

    /// SI.BOUNDARY.RECURSIVE: the caller's own bindings are valid again, not those of the finished call.
    fn after_recursion(&mut self, callees: Scopes<ShapeVar, i64>) {
        let own = std::mem::take(&mut self.activation.shape_vars);
        self.activation.shape_vars = if self.cx.fire(rule!("SI.BOUNDARY.RECURSIVE")) { own } else { callees };
    }

    /// The scope in which a closure's body runs.
    ///
    /// EVAL.CALL.CLOSURE.SCOPE: nothing of the caller is visible in it. SI.BOUNDARY.FRESH: each call has its own
    /// instances of the shape variables of the signature.
    fn new_activation(&mut self, closure: &Rc<Closure>) -> Activation {
        let callers = &self.activation;
        let vars = if self.cx.fire(rule!("EVAL.CALL.CLOSURE.SCOPE")) {
            Scopes::default()
        } else {
            callers.vars.with_the_same()
        };
        let shape_vars = if self.cx.fire(rule!("SI.BOUNDARY.FRESH")) {
            Scopes::default()
        } else {
            callers.shape_vars.with_the_same()
        };
        Activation { closure: Some(closure.clone()), vars, shape_vars }
    }

    /// EVAL.CALL.ARITY: the number of arguments equals the number of parameters.
    fn check_arity(&mut self, func: &Function, args: &[Value]) -> Result<(), Stop> {
        let (params, args) = (func.params.len(), args.len());
        self.check(&[(rule!("EVAL.CALL.ARITY"), 1, params == args, &|| {
            format!("a function of {params} parameters was given {args} arguments")
        })])
    }

    /// EVAL.CALL.CLOSURE.CHECK: the arguments are checked before the body has any effect, the result afterwards.
    fn run_body(&mut self, func: &Arc<Function>, args: Vec<Value>, checked: bool) -> Result<Value, Stop> {
        if self.traces() {
            let name = self.global_name(func);
            self.step(func.span, TraceEvent::Enter(name));
        }
        let checked = checked && self.cx.fire(rule!("SI.BOUNDARY.MACRO"));
        if checked {
            self.check_params(func, &args)?;
        }
        self.bind_params(func, args);
        let result = self.evaluate(&func.body)?;
        let result = if checked { self.check_return(func, result)? } else { result };
        if self.traces() {
            self.step(func.span, TraceEvent::Return(result.to_string()));
        }
        Ok(result)
    }

    /// EVAL.CALL.CLOSURE.ALIAS: the parameters are bound to the arguments themselves.
    fn bind_params(&mut self, func: &Function, args: Vec<Value>) {
        for (param, arg) in func.params.iter().zip(args) {
            let arg = self.cx.conclude(rule!("EVAL.CALL.CLOSURE.ALIAS"), arg).held_anew();
            self.bind_var(&param.var, arg, Span::NONE);
        }
    }

    /// SI.BOUNDARY.PARAM: compares each argument with the annotation of its parameter, from left to right. In later
    /// editions the variables of the signature are bound before.
    fn check_params(&mut self, func: &Function, args: &[Value]) -> Result<(), Stop> {
        if func.params.iter().all(|param| param.annotation.is_none()) {
            return Ok(());
        }
        // SCOPE.FUNC.PARAM: the parameters are visible everywhere in the function. That includes the annotations of the
        // other parameters, which may use a parameter as a shape.
        for (param, arg) in func.params.iter().zip(args) {
            self.activation.vars.bind(param.var.clone(), arg.clone());
        }
        self.first_phase(func, args)?;
        match self.options.signature_order {
            SignatureOrder::LeftToRight => {}
            SignatureOrder::Any => self.bind_lone_dimensions(func, args),
        }
        for (param, arg) in func.params.iter().zip(args) {
            self.check_param(param, arg)?;
        }
        Ok(())
    }

    fn check_param(&mut self, param: &Binder, arg: &Value) -> Result<(), Stop> {
        let Some(annotation) = &param.annotation else {
            return self.cx.conclude(rule!("SI.BOUNDARY.NOANNOT"), Ok(()));
        };
        if self.cx.fire(rule!("SI.BOUNDARY.PARAM")) {
            let before = self.activation.shape_vars.push();
            self.match_value(arg, annotation).map_err(|stop| at_boundary(stop, &format!("parameter {}", param.var)))?;
            self.keep_bindings(before);
            if is_weak(annotation) {
                // R89.SAFETY.CASES: missing knowledge about a value is no reason to reject it.
                self.cx.conclude(rule!("R89.SAFETY.CASES"), Ok::<(), Stop>(()))?;
            }
        }
        Ok(())
    }

    /// SI.BOUNDARY.PARAM.BIND: the variables that a parameter's annotation binds remain bound from there on, including
    /// in the body.
    pub(super) fn keep_bindings(&mut self, before: ScopeMark) {
        let here = self.activation.shape_vars.push();
        let from = if self.cx.fire(rule!("SI.BOUNDARY.PARAM.BIND")) { here } else { before };
        self.activation.shape_vars.pop(from);
    }

    /// [`SignatureOrder::Any`] (A08): binds every lone variable of the signature before any comparison.
    fn bind_lone_dimensions(&mut self, func: &Function, args: &[Value]) {
        let (mut pending, mut twice): (Vec<(&Value, &StructInfo)>, Twice) = (Vec::new(), Twice::default());
        let annotated = func.params.iter().zip(args);
        pending.extend(annotated.filter_map(|(param, arg)| Some((arg, param.annotation.as_ref()?))).rev());
        while let Some((value, info)) = pending.pop() {
            if let (Value::Tensor(tensor), StructInfo::Tensor(t)) = (value, info) {
                if let Some(TensorShape::Dims(dims)) = &t.shape {
                    dims.iter().zip(tensor.shape()).for_each(|(dim, size)| self.bind_if_new(lone(dim), *size));
                }
            } else if let (Value::Shape(sizes), StructInfo::Shape(s)) = (value, info) {
                let values = s.values.iter().flat_map(|values| values.iter());
                values.zip(sizes.iter()).for_each(|(dim, size)| self.bind_if_new(lone(dim), *size));
            } else if let (Value::Prim(prim), StructInfo::Prim(p)) = (value, info)
                && !self.cx.literal(Erratum::A74)
            {
                let number = prim.value.to_dim().zip(p.value.as_ref());
                number.into_iter().for_each(|(number, value)| self.bind_if_new(lone(value), number));
            } else if let (Value::Tuple(tuple), StructInfo::Tuple(fields)) = (value, info)
                && !twice.had(value, fields)
            {
                twice.note(value, fields);
                pending.extend(tuple.fields().iter().zip(fields.iter()).rev());
            }
        }
    }

    fn bind_if_new(&mut self, var: Option<&ShapeVar>, size: i64) {
        if let Some(var) = var.filter(|var| self.activation.shape_var(var).is_none()).cloned() {
            self.bind_shape_var(var, size);
        }
    }

    /// SI.BOUNDARY.RET: compares the value of the body with the return annotation.
    ///
    /// SI.BOUNDARY.RET.ORDER: the check follows the body. It returns the value itself, not a copy.
    fn check_return(&mut self, func: &Function, result: Value) -> Result<Value, Stop> {
        let Some(annotation) = &func.ret_struct_info else {
            let unchecked = self.cx.conclude(rule!("SI.BOUNDARY.NOANNOT"), Ok(()));
            return unchecked.map(|()| result);
        };
        if self.cx.fire(rule!("SI.BOUNDARY.RET")) {
            self.match_value(&result, annotation).map_err(|stop| at_boundary(stop, "return value"))?;
        }
        Ok(self.cx.conclude(rule!("SI.BOUNDARY.RET.ORDER"), result))
    }
}

/// Whether an annotation leaves a shape, a rank, a data type or everything unknown.
fn is_weak(annotation: &StructInfo) -> bool {
    match annotation {
        StructInfo::Object => true,
        StructInfo::Tensor(t) => t.shape.is_none() || t.ndim.is_unknown() || t.dtype.is_void(),
        StructInfo::Shape(_) | StructInfo::Prim(_) | StructInfo::Tuple(_) | StructInfo::Func(_) => false,
    }
}

/// Adds the place in the signature to the error of a failed boundary check.
pub(super) fn at_boundary(stop: Stop, place: &str) -> Stop {
    match stop {
        Stop::Error(RuntimeError { rule, message, .. }) => Stop::error(rule, format!("{place}: {message}")),
        Stop::OutOfFuel | Stop::Unspecified(_) | Stop::Unknown(_) => stop,
    }
}
