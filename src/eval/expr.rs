//! Evaluating expressions, one function for each form, in the order of the chapter.

use std::rc::Rc;
use std::sync::Arc;

use super::machine::Machine;
use super::trace::TraceEvent;
use crate::grammar::{
    Binding, BindingBlock, BlockKind, Call, Constant, DataType, Expr, ExternFunc, Function, GlobalVar, If, MatchCast,
    PrimValue, SeqExpr, ShapeExpr, Span, Tuple, TupleGetItem, Var, VarBinding, VarKind,
};
use crate::judge::with_stack;
use crate::ops::{self, EvalArgs};
use crate::value::{Closure, Host, PackedFunc, Prim, Scalar, Stop, Tensor, Value};

impl Machine<'_> {
    /// The value of an expression in the current scope.
    pub fn evaluate(&mut self, e: &Expr) -> Result<Value, Stop> {
        self.spend(1)?;
        with_stack(|| match e {
            Expr::Constant(e) => self.constant(e),
            Expr::Var(v) | Expr::DataflowVar(v) => self.var(v),
            Expr::GlobalVar(e) => self.global_var(e),
            Expr::Tuple(e) => self.tuple(e),
            Expr::TupleGetItem(e) => self.tuple_get_item(e),
            Expr::ShapeExpr(e) => self.shape_expr(e),
            Expr::PrimValue(e) => self.prim_value(e),
            Expr::StringImm(e) => self.immediate(Value::Str(e.value.clone())),
            Expr::DataTypeImm(e) => self.immediate(Value::DataType(e.value)),
            Expr::Function(f) => self.function(f, None),
            Expr::If(e) => self.if_expr(e),
            Expr::ExternFunc(e) => self.extern_func(e),
            Expr::Call(e) => self.call(e),
            Expr::SeqExpr(e) => self.seq_expr(e),
            Expr::Op(op) => Err(Stop::unspecified(format!("the operator {} is used as a value", op.op_name))),
        })
    }

    // Leaves and tuples.

    /// EVAL.CONST.FRESH: a new tensor with the literal's contents at each evaluation.
    fn constant(&mut self, e: &Constant) -> Result<Value, Stop> {
        if self.cx.fire(rule!("EVAL.CONST.FRESH")) {
            return self.new_constant(e);
        }
        // Without the rule, one tensor would serve all evaluations of the node.
        let key = std::ptr::from_ref(e) as usize;
        if let Some(shared) = self.shared_constants.get(&key) {
            return Ok(shared.clone());
        }
        let value = self.new_constant(e)?;
        self.shared_constants.insert(key, value.clone());
        Ok(value)
    }

    fn new_constant(&mut self, e: &Constant) -> Result<Value, Stop> {
        self.cx.apply(rule!("VAL.TENSOR"))?;
        if e.data.shape.contains(&0) {
            self.cx.apply(rule!("VAL.TENSOR.ZERO-DIM"))?;
        }
        Tensor::from_data(&e.data).map(Value::Tensor).map_err(|error| Stop::unspecified(error.to_string()))
    }

    /// EVAL.VAR: the very value that is stored for the variable.
    fn var(&mut self, v: &Var) -> Result<Value, Stop> {
        self.cx.apply(rule!("EVAL.VAR"))?;
        self.activation.var(v).ok_or_else(|| Stop::unspecified(format!("the variable {v} has no value here")))
    }

    /// EVAL.VAR for a global variable.
    fn global_var(&mut self, e: &GlobalVar) -> Result<Value, Stop> {
        self.cx.apply(rule!("EVAL.VAR"))?;
        let value = self.globals.get(&e.name).cloned();
        value.ok_or_else(|| Stop::unspecified(format!("the module binds no @{}", e.name)))
    }

    /// EVAL.TUPLE: the fields from left to right, then a tuple of those very values.
    fn tuple(&mut self, e: &Tuple) -> Result<Value, Stop> {
        self.cx.apply(rule!("EVAL.TUPLE"))?;
        let fields = self.evaluate_all(&e.fields)?;
        self.new_tuple(fields)
    }

    /// EVAL.TUPLE.FRESH: each evaluation gives a new tuple object.
    fn new_tuple(&mut self, fields: Vec<Value>) -> Result<Value, Stop> {
        self.cx.apply(if fields.is_empty() { rule!("VAL.TUPLE.UNIT") } else { rule!("VAL.TUPLE") })?;
        if self.cx.fire(rule!("EVAL.TUPLE.FRESH")) {
            return Ok(Value::tuple(fields));
        }
        // Without the rule, tuples with the same fields could be one object.
        let same = |known: &Value| {
            let known = known.as_tuple().map(|t| t.fields()).unwrap_or_default();
            known.len() == fields.len() && known.iter().zip(&fields).all(|(a, b)| a.same_as(b))
        };
        if let Some(known) = self.interned.iter().find(|known| same(known)) {
            return Ok(known.clone());
        }
        let value = Value::tuple(fields);
        self.interned.push(value.clone());
        Ok(value)
    }

    /// Evaluates from left to right.
    fn evaluate_all(&mut self, exprs: &[Expr]) -> Result<Vec<Value>, Stop> {
        exprs.iter().map(|e| self.evaluate(e)).collect()
    }

    /// EVAL.TGI: the field itself, without copying.
    fn tuple_get_item(&mut self, e: &TupleGetItem) -> Result<Value, Stop> {
        self.cx.apply(rule!("EVAL.TGI"))?;
        let value = self.evaluate(&e.tuple_value)?;
        if let Value::Object(_) | Value::PrimFunc(_) = &value {
            self.cx.apply(rule!("VAL.OBJECT.UNUSABLE"))?;
            return Err(Stop::error(rule!("VAL.OBJECT.UNUSABLE"), "an opaque object is indexed as a tuple"));
        }
        let field = value.as_tuple().and_then(|t| t.fields().get(usize::try_from(e.index).ok()?));
        if !self.cx.premise(rule!("EVAL.TGI.COUNT"), 1, field.is_some()) {
            let message = format!("{value} has no field {}", e.index);
            return Err(Stop::error(rule!("EVAL.TGI.COUNT"), message));
        }
        Ok(field.cloned().unwrap_or_else(Value::unit))
    }

    /// EVAL.SHAPEEXPR: the dimensions from left to right, as a new shape.
    fn shape_expr(&mut self, e: &ShapeExpr) -> Result<Value, Stop> {
        self.cx.apply(rule!("EVAL.SHAPEEXPR"))?;
        self.cx.apply(rule!("VAL.SHAPE"))?;
        let dims = e.values.iter().map(|dim| self.eval_shape_dim(dim)).collect::<Result<Vec<i64>, Stop>>()?;
        Ok(Value::shape(&dims))
    }

    /// PR14148.EVAL.IMM: the expression's present value, boxed.
    fn prim_value(&mut self, e: &PrimValue) -> Result<Value, Stop> {
        self.cx.apply(rule!("PR14148.EVAL.IMM"))?;
        let value = match e.float {
            Some(bits) => Scalar::Float(bits.get()),
            None if e.dtype == DataType::BOOL => Scalar::Bool(self.eval_dim(&e.value)? != 0),
            None => Scalar::Int(self.eval_dim(&e.value)?),
        };
        Ok(Value::Prim(Prim { dtype: e.dtype, value }))
    }

    /// PR14148.EVAL.IMM: a string or data type object.
    fn immediate(&mut self, value: Value) -> Result<Value, Stop> {
        self.cx.apply(rule!("PR14148.EVAL.IMM"))?;
        Ok(value)
    }

    // Functions and closures.

    /// EVAL.FUNC.CLOSURE: a closure of the definition and the present values of its free variables.
    ///
    /// EVAL.FUNC.RECBIND: if the function is the value of a local binding, the closure knows itself by that name.
    pub(super) fn function(&mut self, f: &Arc<Function>, name: Option<&Var>) -> Result<Value, Stop> {
        self.cx.apply(rule!("EVAL.FUNC.CLOSURE"))?;
        self.cx.apply(rule!("VAL.CLOSURE"))?;
        let free = self.free_of(f);
        if let Some(v) = free.dataflow_vars.iter().next() {
            // EVAL.FUNC.NO-DFVAR: such a program is ill-formed (WF.10), and nothing is said of its evaluation.
            self.cx.apply(rule!("EVAL.FUNC.NO-DFVAR"))?;
            return Err(Stop::unspecified(format!("a function uses the DataflowVar {v} of its surroundings")));
        }
        let self_name =
            name.filter(|name| self.cx.rule(rule!("EVAL.FUNC.RECBIND"), free.vars.contains(*name))).cloned();
        if self_name.is_some() {
            self.cx.apply(rule!("VAL.CLOSURE.SELFNAME"))?;
        }
        let by_reference = free.vars.is_empty() || self.cx.fire(rule!("EVAL.FUNC.BYREF"));
        let mut closure = Closure {
            func: Some(f.clone()),
            self_name,
            captured: Default::default(),
            captured_shape_vars: Default::default(),
        };
        // VAL.CLOSURE.FREE: the free variables, and no others.
        let captures = !free.vars.is_empty() && self.cx.fire(rule!("VAL.CLOSURE.FREE"));
        for v in free.vars.iter().filter(|v| captures && name != Some(*v)) {
            if let Some(value) = self.activation.var(v) {
                let value = if by_reference { value } else { value.deep_copy()? };
                closure.captured.insert(v.clone(), value);
            }
        }
        for v in &free.shape_vars {
            if let Some(size) = self.activation.shape_var(v) {
                // VAL.CLOSURE.SHAPEVARS, SI.DIM.CAPTURE: with the value that it has now.
                self.cx.apply(rule!("VAL.CLOSURE.SHAPEVARS"))?;
                self.cx.apply(rule!("SI.DIM.CAPTURE"))?;
                closure.captured_shape_vars.insert(v.clone(), size);
            }
        }
        Ok(Value::Closure(Rc::new(closure)))
    }

    // Conditionals.

    /// EVAL.IF.COND: the condition first; it must be a Boolean scalar, in which 1 is true (PR14148.DTYPE.BOOL.VALUES). Then
    /// one of the branches, and only that one.
    fn if_expr(&mut self, e: &If) -> Result<Value, Stop> {
        let cond = self.evaluate(&e.cond)?;
        if let Value::Object(_) | Value::PrimFunc(_) = &cond {
            self.cx.apply(rule!("VAL.OBJECT.UNUSABLE"))?;
            return Err(Stop::error(rule!("VAL.OBJECT.UNUSABLE"), "an opaque object is used as a condition"));
        }
        let truth = boolean_scalar(&cond).filter(|_| self.cx.fire(rule!("VAL.TENSOR.SCALAR")));
        if !self.cx.premise(rule!("EVAL.IF.COND"), 1, truth.is_some()) {
            let message = format!("the condition is {cond}, not a scalar tensor of data type bool");
            return Err(Stop::error(rule!("EVAL.IF.COND"), message));
        }
        self.cx.apply(rule!("PR14148.DTYPE.BOOL.VALUES"))?;
        let branch = if truth == Some(true) {
            self.cx.apply(rule!("EVAL.IF.TRUE"))?;
            &e.true_branch
        } else {
            self.cx.apply(rule!("EVAL.IF.FALSE"))?;
            &e.false_branch
        };
        self.evaluate(branch)
    }

    // External functions.

    /// EVAL.EXTERNFUNC: the packed function that is registered under the global symbol now (A50).
    pub(super) fn extern_func(&mut self, e: &ExternFunc) -> Result<Value, Stop> {
        self.cx.apply(rule!("EVAL.EXTERNFUNC"))?;
        let found = self.find_packed(&e.global_symbol);
        if !self.cx.premise(rule!("EVAL.EXTERNFUNC.MISSING"), 1, found.is_some()) {
            let message = format!("no function is registered under the symbol {}", e.global_symbol);
            return Err(Stop::error(rule!("EVAL.EXTERNFUNC.MISSING"), message));
        }
        Ok(Value::PackedFunc(found.unwrap_or_else(|| Rc::new(PackedFunc::Unknown(e.global_symbol.clone())))))
    }

    // Calls.

    fn call(&mut self, call: &Call) -> Result<Value, Stop> {
        match &call.op {
            Expr::Op(op) => self.call_op(&op.op_name, call),
            Expr::Constant(_)
            | Expr::Var(_)
            | Expr::DataflowVar(_)
            | Expr::GlobalVar(_)
            | Expr::Tuple(_)
            | Expr::SeqExpr(_)
            | Expr::PrimValue(_)
            | Expr::StringImm(_)
            | Expr::DataTypeImm(_)
            | Expr::Function(_)
            | Expr::If(_)
            | Expr::ExternFunc(_)
            | Expr::Call(_)
            | Expr::ShapeExpr(_)
            | Expr::TupleGetItem(_) => self.call_expr(call),
        }
    }

    /// EVAL.CALL.OP.ARGS: the arguments from left to right, then the operator on their values.
    fn call_op(&mut self, name: &str, call: &Call) -> Result<Value, Stop> {
        self.cx.apply(rule!("EVAL.CALL.OP.ARGS"))?;
        let Some(op) = ops::lookup(name) else {
            return Err(Stop::unspecified(format!("no operator {name} is registered")));
        };
        // OP.FREE: what the operator does is its own definition.
        self.cx.apply(rule!("OP.FREE"))?;
        let values = self.evaluate_all(&call.args)?;
        // EVAL.CALL.OP.MUTATE, EVAL.CALL.OP.ALIAS: it is given the arguments themselves, and its result is the value.
        let values = if self.cx.fire(rule!("EVAL.CALL.OP.MUTATE")) { values } else { deep_copies(values)? };
        let result = op.evaluate(self, &EvalArgs { call, values: &values, result: None })?;
        if self.cx.fire(rule!("EVAL.CALL.OP.ALIAS")) { Ok(result) } else { result.deep_copy() }
    }

    /// EVAL.ORDER.ARGS: the callee first, then the arguments from left to right, then the call.
    fn call_expr(&mut self, call: &Call) -> Result<Value, Stop> {
        self.cx.apply(rule!("EVAL.ORDER.ARGS"))?;
        let callee = self.evaluate(&call.op)?;
        let args = self.evaluate_all(&call.args)?;
        self.call_value(&callee, args)
    }

    // Sequences and bindings.

    /// EVAL.SEQ.PUSH, EVAL.SEQ.BODY, EVAL.SEQ.POP: a scope around the blocks in order and the body.
    fn seq_expr(&mut self, e: &SeqExpr) -> Result<Value, Stop> {
        self.cx.apply(rule!("EVAL.SEQ.PUSH"))?;
        let mark = (self.activation.vars.push(), self.activation.shape_vars.push());
        if !e.blocks.is_empty() {
            self.cx.apply(rule!("EVAL.SEQ.ORDER"))?;
        }
        for block in &e.blocks {
            self.block(block)?;
        }
        self.cx.apply(rule!("EVAL.SEQ.BODY"))?;
        let result = self.evaluate(&e.body)?;
        if self.cx.fire(rule!("EVAL.SEQ.POP")) {
            self.activation.vars.pop(mark.0);
            self.activation.shape_vars.pop(mark.1);
        }
        Ok(result)
    }

    /// The bindings of a block in order. EVAL.SEQ.DF-CLEAN: at the end of a `DataflowBlock` its `DataflowVar`s go.
    fn block(&mut self, block: &BindingBlock) -> Result<(), Stop> {
        match block.kind {
            BlockKind::Binding => self.bindings(block),
            BlockKind::Dataflow => {
                // Left open if the run ends inside, so that one can tell afterwards.
                self.dataflow_blocks += 1;
                self.bindings(block)?;
                self.dataflow_blocks -= 1;
                self.clean_up(block);
                Ok(())
            }
        }
    }

    fn bindings(&mut self, block: &BindingBlock) -> Result<(), Stop> {
        for binding in &block.bindings {
            self.spend(1)?;
            match binding {
                Binding::VarBinding(b) => self.var_binding(b)?,
                Binding::MatchCast(b) => self.match_cast(b)?,
            }
        }
        Ok(())
    }

    fn clean_up(&mut self, block: &BindingBlock) {
        let binders = block.bindings.iter().filter_map(Binding::binder);
        for binder in binders.filter(|binder| binder.kind == VarKind::DataflowVar) {
            if self.cx.fire(rule!("EVAL.SEQ.DF-CLEAN")) {
                self.activation.vars.unbind(&binder.var);
            }
        }
    }

    /// EVAL.SEQ.VARBINDING: the value, then the variable bound to that value.
    fn var_binding(&mut self, b: &VarBinding) -> Result<(), Stop> {
        self.cx.apply(rule!("EVAL.SEQ.VARBINDING"))?;
        let value = match &b.value {
            Expr::Function(f) => {
                self.spend(1)?;
                self.function(f, Some(&b.var.var))?
            }
            other => self.evaluate(other)?,
        };
        self.bind_var(&b.var.var, value, b.span)
    }

    /// The value is evaluated before any check (`EVAL.SEQ.MATCHCAST.VALUE-FIRST`), then checked, and the variable is
    /// bound to it.
    fn match_cast(&mut self, b: &MatchCast) -> Result<(), Stop> {
        self.cx.apply(rule!("EVAL.SEQ.MATCHCAST.VALUE-FIRST"))?;
        let value = self.evaluate(&b.value)?;
        // RT.RECOGNIZABLE: the category of the value is seen, whatever its representation.
        if self.cx.fire(rule!("EVAL.SEQ.MATCHCAST.CHECK")) && self.cx.fire(rule!("RT.RECOGNIZABLE")) {
            let result = self.match_value(&value, &b.struct_info);
            self.raise(result)?;
        }
        match &b.var {
            Some(binder) => {
                // SI.MATCHCAST.RESULT: the very value that was checked.
                let same = self.cx.fire(rule!("EVAL.SEQ.MATCHCAST.BIND")) && self.cx.fire(rule!("SI.MATCHCAST.RESULT"));
                let value = if same { value } else { value.deep_copy()? };
                self.bind_var(&binder.var, value, b.span)
            }
            None => {
                self.cx.apply(rule!("EVAL.SEQ.MATCHCAST.NOVAR"))?;
                Ok(self.cx.apply(rule!("SI.MATCHCAST.NOVAR"))?)
            }
        }
    }

    /// SI.MATCHCAST.ERR: a check that does not hold is a run-time error, which ends the program.
    fn raise(&mut self, result: Result<(), Stop>) -> Result<(), Stop> {
        match result {
            Err(Stop::Error(_)) if !self.cx.fire(rule!("SI.MATCHCAST.ERR")) => Ok(()),
            result => result,
        }
    }

    /// EVAL.BYREF: the variable is an alias of the value.
    ///
    /// VAL.FIRSTCLASS: so it is for values of every category. VAL.OBJECT.FAITHFUL: an opaque object stays the same.
    pub(super) fn bind_var(&mut self, var: &Var, value: Value, span: Span) -> Result<(), Stop> {
        self.cx.apply(rule!("VAL.FIRSTCLASS"))?;
        let value = match value {
            Value::Object(o) if !self.cx.fire(rule!("VAL.OBJECT.FAITHFUL")) => Value::object(o.description),
            value => value,
        };
        let value = if self.cx.fire(rule!("EVAL.BYREF")) { value } else { value.deep_copy()? };
        if self.traces() {
            self.step(span, TraceEvent::Bind(var.clone(), value.to_string()));
        }
        self.activation.vars.bind(var.clone(), value);
        Ok(())
    }
}

fn deep_copies(values: Vec<Value>) -> Result<Vec<Value>, Stop> {
    values.into_iter().map(Value::deep_copy).collect()
}

/// The truth of a scalar tensor of Boolean data type; `None` for anything else.
fn boolean_scalar(value: &Value) -> Option<bool> {
    let tensor = value.as_tensor().filter(|t| t.dtype() == DataType::BOOL && t.shape().is_empty())?;
    tensor.get(0).map(Scalar::is_true)
}
