//! Evaluating expressions, one function for each form, in the order of the chapter.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::free::FreeVariables;
use super::machine::Machine;
use super::trace::TraceEvent;
use crate::book::Rule;
use crate::grammar::{
    Binding, BindingBlock, BlockKind, Call, Constant, DataType, Expr, ExternFunc, Function, GlobalFunc, GlobalVar, If,
    MatchCast, PrimValue, SeqExpr, ShapeExpr, ShapeVar, Span, TensorData, Tuple, TupleGetItem, Var, VarBinding,
    VarKind,
};
use crate::judge::with_stack;
use crate::ops::{self, EvalArgs};
use crate::value::{
    Closure, Host, PackedCallContract, Prim, ProgramPoint, Scalar, Site, Stop, Value, boxed_truth_counts, readable,
};

impl Machine<'_> {
    /// Evaluates an expression in the current scope.
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
            Expr::StringImm(e) => Ok(self.immediate(rule!("EVAL.STRINGIMM"), Value::Str(e.value.clone()))),
            Expr::DataTypeImm(e) => Ok(self.immediate(rule!("EVAL.DATATYPEIMM"), Value::DataType(e.value))),
            Expr::Function(f) => self.function(f, None),
            Expr::If(e) => self.if_expr(e),
            Expr::ExternFunc(e) => self.extern_func(e),
            Expr::Call(e) => self.call(e),
            Expr::SeqExpr(e) => self.seq_expr(e),
            Expr::Op(op) => Err(Stop::unspecified(format!("the operator {} is used as a value", op.op_name))),
        })
    }

    // Leaves and tuples.

    /// EVAL.CONST.FRESH, OPT.MUTABLE-FRESH: a new tensor with the literal's contents at each evaluation.
    fn constant(&mut self, e: &Constant) -> Result<Value, Stop> {
        let made = (std::ptr::from_ref(e) as usize, self.tensor(&e.data));
        let made = self.cx.conclude(rule!("OPT.MUTABLE-FRESH"), made);
        self.cx.conclude(rule!("EVAL.CONST.FRESH"), made).1
    }

    /// VAL.TENSOR: an array of scalars. VAL.TENSOR.ZERO-DIM: without elements if a dimension is 0.
    fn tensor(&mut self, data: &TensorData) -> Result<Value, Stop> {
        let _ = self.cx.fire(rule!("VAL.TENSOR"));
        let empty = data.shape.contains(&0);
        let _ = empty && self.cx.fire(rule!("VAL.TENSOR.ZERO-DIM"));
        self.spend(data.shape.iter().product())?;
        let tensor = self.account.tensor(data)?.map_err(|error| Stop::unspecified(error.to_string()))?;
        let tensor = self.cx.conclude(rule!("VAL.TENSOR"), Value::Tensor(tensor));
        Ok(if empty { self.cx.conclude(rule!("VAL.TENSOR.ZERO-DIM"), tensor) } else { tensor })
    }

    /// EVAL.VAR: the stored value itself, not a copy.
    fn var(&mut self, v: &Var) -> Result<Value, Stop> {
        let _ = self.cx.fire(rule!("EVAL.VAR"));
        let value = self.activation.var(v).map(|value| self.cx.conclude(rule!("EVAL.VAR"), value));
        value.ok_or_else(|| Stop::unspecified(format!("the variable {v} has no value here")))
    }

    /// EVAL.VAR for a global variable.
    fn global_var(&mut self, e: &GlobalVar) -> Result<Value, Stop> {
        if !self.globals.contains_key(&e.name)
            && let Some(GlobalFunc::ExternFunc(named)) = self.module.get(&e.name)
        {
            return self.extern_func(named);
        }
        let _ = self.cx.fire(rule!("EVAL.VAR"));
        let value = self.globals.get(&e.name).map(|value| self.cx.conclude(rule!("EVAL.VAR"), value.clone()));
        value.ok_or_else(|| Stop::unspecified(format!("the module binds no @{}", e.name)))
    }

    /// EVAL.TUPLE: evaluates the fields from left to right and makes a tuple of these values themselves.
    fn tuple(&mut self, e: &Tuple) -> Result<Value, Stop> {
        let _ = self.cx.fire(rule!("EVAL.TUPLE"));
        let fields = self.evaluate_all(&e.fields)?;
        let fields = self.cx.conclude(rule!("EVAL.TUPLE"), fields);
        self.new_tuple(fields)
    }

    /// EVAL.TUPLE.FRESH: each evaluation gives a new tuple object.
    fn new_tuple(&mut self, fields: Vec<Value>) -> Result<Value, Stop> {
        let (rule, conclusion) = match fields.as_slice() {
            [] => (rule!("VAL.TUPLE.UNIT"), Value::unit()),
            [_, ..] => (rule!("VAL.TUPLE"), self.account.tuple(fields)?),
        };
        let tuple = self.cx.by_kind(rule, conclusion);
        Ok(self.cx.conclude(rule!("EVAL.TUPLE.FRESH"), tuple))
    }

    /// Evaluates from left to right.
    fn evaluate_all(&mut self, exprs: &[Expr]) -> Result<Vec<Value>, Stop> {
        exprs.iter().map(|e| self.evaluate(e)).collect()
    }

    /// EVAL.TGI: the field itself, without copying.
    fn tuple_get_item(&mut self, e: &TupleGetItem) -> Result<Value, Stop> {
        let _ = self.cx.fire(rule!("EVAL.TGI"));
        let value = self.evaluate(&e.tuple_value)?;
        if let Value::Object(_) | Value::PrimFunc(_) = &value {
            return self.unusable("an opaque object is indexed as a tuple");
        }
        let index = self.cx.conclude(rule!("EVAL.TGI"), e.index);
        let field =
            value.as_tuple().and_then(|t| t.fields().get(usize::try_from(index).ok()?)).cloned().map(Value::held_anew);
        let none = || Stop::error(rule!("EVAL.TGI.COUNT"), format!("{value} has no field {index}"));
        self.cx.premise(rule!("EVAL.TGI.COUNT"), 1, field.ok_or_else(none))
    }

    /// VAL.OBJECT.UNUSABLE: nothing but an operator or a packed function can use an opaque object.
    pub(super) fn unusable(&mut self, how: &str) -> Result<Value, Stop> {
        let rule = rule!("VAL.OBJECT.UNUSABLE");
        self.cx.conclude(rule, Err(Stop::error(rule, how)))
    }

    /// EVAL.SHAPEEXPR: the dimensions from left to right, as a new shape.
    fn shape_expr(&mut self, e: &ShapeExpr) -> Result<Value, Stop> {
        let _ = self.cx.fire(rule!("EVAL.SHAPEEXPR"));
        let _ = self.cx.fire(rule!("VAL.SHAPE"));
        let dims = e.values.iter().map(|dim| self.eval_shape_dim(dim)).collect::<Result<Vec<i64>, Stop>>()?;
        let dims = self.cx.conclude(rule!("EVAL.SHAPEEXPR"), dims);
        Ok(self.cx.conclude(rule!("VAL.SHAPE"), Value::shape(&dims)))
    }

    /// PR14148.EVAL.IMM, EVAL.PRIMVALUE: boxes the current value of the expression. VAL.PRIM: boxed scalars are a
    /// category of their own.
    fn prim_value(&mut self, e: &PrimValue) -> Result<Value, Stop> {
        let rules = [rule!("PR14148.EVAL.IMM"), rule!("EVAL.PRIMVALUE"), rule!("VAL.PRIM")];
        let _ = rules.map(|rule| self.cx.fire(rule));
        let value = match e.float {
            Some(bits) => Prim { dtype: e.dtype, value: Scalar::Float(bits.get()) },
            None => Prim::integer(e.dtype, self.eval_dim(&e.value)?),
        };
        Ok(rules.into_iter().fold(Value::Prim(value), |value, rule| self.cx.conclude(rule, value)))
    }

    /// PR14148.EVAL.IMM: a string or data type object. In later editions it has its own rule, and is an opaque object
    /// (VAL.OBJECT).
    fn immediate(&mut self, own: Rule, value: Value) -> Value {
        let value = self.cx.conclude(rule!("PR14148.EVAL.IMM"), value);
        let value = self.cx.conclude(own, value);
        if self.cx.has(own) { self.cx.conclude(rule!("VAL.OBJECT"), value) } else { value }
    }

    // Functions and closures.

    /// EVAL.FUNC.CLOSURE: makes a closure of the definition and the current values of its free variables.
    ///
    /// EVAL.FUNC.RECBIND: if the function is the value of a local binding, the closure knows itself by that name.
    pub(super) fn function(&mut self, f: &Arc<Function>, name: Option<&Var>) -> Result<Value, Stop> {
        let _ = self.cx.fire(rule!("EVAL.FUNC.CLOSURE"));
        let _ = self.cx.fire(rule!("VAL.CLOSURE"));
        let free = self.free_of(f);
        if let Some(v) = free.dataflow_vars.iter().next() {
            return self.captures_no_dataflow_var(v);
        }
        let self_name = name.filter(|name| free.vars.contains(*name));
        let closure = Closure {
            func: Some(f.clone()),
            self_name: self_name.cloned(),
            captured: self.captured(&free, name),
            captured_shape_vars: self.captured_shape_vars(&free),
            result: self.inferred_result(f),
            applied: None,
            compiled: None,
        };
        let closure = Value::Closure(Rc::new(closure));
        let closure = if self_name.is_some() { self.knows_itself(closure) } else { closure };
        let closure = self.cx.conclude(rule!("VAL.CLOSURE"), closure);
        Ok(self.cx.conclude(rule!("EVAL.FUNC.CLOSURE"), closure))
    }

    /// EVAL.FUNC.NO-DFVAR: such a program is ill-formed (WF.10), so its evaluation is not specified.
    fn captures_no_dataflow_var(&mut self, v: &Var) -> Result<Value, Stop> {
        let reason = format!("a function uses the DataflowVar {v} of its surroundings");
        self.cx.conclude(rule!("EVAL.FUNC.NO-DFVAR"), Err(Stop::unspecified(reason)))
    }

    /// EVAL.FUNC.RECBIND, VAL.CLOSURE.SELFNAME: the closure of a bound function stores the name by which it calls
    /// itself.
    fn knows_itself(&mut self, closure: Value) -> Value {
        let closure = self.cx.conclude(rule!("EVAL.FUNC.RECBIND"), closure);
        self.cx.conclude(rule!("VAL.CLOSURE.SELFNAME"), closure)
    }

    /// VAL.CLOSURE.FREE: captures exactly the free variables. EVAL.FUNC.BYREF: it captures their values themselves.
    fn captured(&mut self, free: &FreeVariables, own_name: Option<&Var>) -> BTreeMap<Var, Value> {
        if free.vars.is_empty() {
            return BTreeMap::new();
        }
        let _ = self.cx.fire(rule!("VAL.CLOSURE.FREE"));
        let _ = self.cx.fire(rule!("EVAL.FUNC.BYREF"));
        let mut captured = BTreeMap::new();
        for v in free.vars.iter().filter(|v| own_name != Some(*v)) {
            if let Some(value) = self.activation.var(v) {
                let value = self.cx.conclude(rule!("VAL.CLOSURE.FREE"), value);
                captured.insert(v.clone(), self.cx.conclude(rule!("EVAL.FUNC.BYREF"), value));
            }
        }
        captured
    }

    /// VAL.CLOSURE.SHAPEVARS: captures the shape variables too. SI.DIM.CAPTURE: they keep their current values.
    fn captured_shape_vars(&mut self, free: &FreeVariables) -> BTreeMap<ShapeVar, i64> {
        let mut captured = BTreeMap::new();
        for v in &free.shape_vars {
            if let Some(size) = self.activation.shape_var(v) {
                let size = self.cx.conclude(rule!("VAL.CLOSURE.SHAPEVARS"), size);
                captured.insert(v.clone(), self.cx.conclude(rule!("SI.DIM.CAPTURE"), size));
            }
        }
        captured
    }

    // Conditionals.

    /// EVAL.IF.COND: evaluates the condition first. It must be a Boolean scalar, in which 1 is true
    /// (PR14148.DTYPE.BOOL.VALUES). Then exactly one of the branches is evaluated.
    fn if_expr(&mut self, e: &If) -> Result<Value, Stop> {
        let cond = self.evaluate(&e.cond)?;
        // EVAL.IF.PRIMEXPR: the current value of a condition over shape variables counts as if it were boxed.
        let cond = if e.cond.is_over_shape_vars() { self.cx.conclude(rule!("EVAL.IF.PRIMEXPR"), cond) } else { cond };
        if let Value::Object(_) | Value::PrimFunc(_) = &cond {
            return self.unusable("an opaque object is used as a condition");
        }
        readable(self, std::slice::from_ref(&cond))?;
        let truth = match &cond {
            Value::Prim(Prim { value: Scalar::Bool(truth), .. }) if boxed_truth_counts(self.cx) => Some(*truth),
            cond => boolean_scalar(cond).filter(|_| self.cx.fire(rule!("VAL.TENSOR.SCALAR"))),
        };
        self.check(&[(rule!("EVAL.IF.COND"), 1, truth.is_some(), &|| {
            format!("the condition is {cond}, not a scalar tensor of data type bool")
        })])?;
        let holds = self.cx.conclude(rule!("PR14148.DTYPE.BOOL.VALUES"), truth == Some(true));
        if let Some(watch) = &self.options.watch {
            watch.decided(e, holds);
        }
        let branch = self.cx.by_cases(&[
            (rule!("EVAL.IF.TRUE"), holds, &e.true_branch),
            (rule!("EVAL.IF.FALSE"), !holds, &e.false_branch),
        ]);
        branch.map_or_else(|| Err(Stop::unspecified("no branch is chosen")), |branch| self.evaluate(branch))
    }

    // External functions.

    /// EVAL.EXTERNFUNC: the packed function that is currently registered under the global symbol (A50).
    pub(super) fn extern_func(&mut self, e: &ExternFunc) -> Result<Value, Stop> {
        let found = self.find_packed(&e.global_symbol);
        let found = self.cx.conclude(rule!("EVAL.EXTERNFUNC"), found).map(Value::PackedFunc);
        let missing = rule!("EVAL.EXTERNFUNC.MISSING");
        let message = || format!("no function is registered under the symbol {}", e.global_symbol);
        self.cx.premise(missing, 1, found.ok_or_else(|| Stop::error(missing, message())))
    }

    // Calls.

    fn call(&mut self, call: &Call) -> Result<Value, Stop> {
        // MEM.RELEASED: the receiver of a result holds it, in addition to other holders.
        let result = if let Expr::Op(op) = &call.op { self.call_op(&op.op_name, call) } else { self.call_expr(call) };
        result.map(Value::held_anew)
    }

    /// EVAL.CALL.OP.ARGS: the arguments from left to right, then the operator on their values.
    fn call_op(&mut self, name: &str, call: &Call) -> Result<Value, Stop> {
        let _ = self.cx.fire(rule!("EVAL.CALL.OP.ARGS"));
        let Some(op) = ops::lookup(name) else {
            return Err(Stop::unknown(format!("no operator {name} is registered")));
        };
        // OP.FREE: the effect of an operator is part of its own definition.
        let _ = self.cx.fire(rule!("OP.FREE"));
        let values = self.evaluate_all(&call.args)?;
        let values = self.cx.conclude(rule!("EVAL.CALL.OP.ARGS"), values);
        // EVAL.CALL.OP.MUTATE, EVAL.CALL.OP.ALIAS: the operator receives the arguments themselves, and its result is
        // the value of the call.
        let _ = self.cx.fire(rule!("EVAL.CALL.OP.MUTATE"));
        let themselves = |value| self.cx.conclude(rule!("EVAL.CALL.OP.MUTATE"), value);
        let values: Vec<Value> = values.into_iter().map(themselves).collect();
        let result = op.evaluate(self, &EvalArgs { call, values: &values, result: None });
        let result = self.cx.conclude(rule!("OP.FREE"), result)?;
        if let Some(watch) = &self.options.watch {
            watch.called(call, &values);
        }
        Ok(self.cx.conclude(rule!("EVAL.CALL.OP.ALIAS"), result))
    }

    /// EVAL.ORDER.ARGS: the callee first, then the arguments from left to right, then the call.
    fn call_expr(&mut self, call: &Call) -> Result<Value, Stop> {
        let parts: Vec<(usize, &Expr)> = std::iter::once(&call.op).chain(&call.args).enumerate().collect();
        let mut values = Vec::with_capacity(parts.len());
        for (place, part) in self.cx.conclude(rule!("EVAL.ORDER.ARGS"), parts) {
            values.push((place, self.evaluate(part)?));
        }
        values.sort_by_key(|(place, _)| *place);
        let mut values = values.into_iter().map(|(_, value)| value);
        let callee = values.next().unwrap_or_else(Value::unit);
        let args: Vec<Value> = values.collect();
        if let Value::PackedFunc(packed) = &callee {
            return self.call_packed(
                packed,
                &args,
                PackedCallContract::of_type_args(&call.sinfo_args, call.is_marked_pure()),
            );
        }
        self.call_value(&callee, args)
    }

    // Sequences and bindings.

    /// EVAL.SEQ.PUSH, EVAL.SEQ.BODY, EVAL.SEQ.POP: a scope around the blocks in order and the body.
    fn seq_expr(&mut self, e: &SeqExpr) -> Result<Value, Stop> {
        let pushed = self.activation.push();
        let mark = if self.cx.fire(rule!("EVAL.SEQ.PUSH")) { pushed } else { Default::default() };
        if !e.blocks.is_empty() {
            self.blocks(&e.blocks)?;
        }
        let _ = self.cx.fire(rule!("EVAL.SEQ.BODY"));
        let _ = self.cx.fire(rule!("R89.SEQ.EVAL"));
        let outer = self.account.go_to(ProgramPoint { site: Site::Body, span: e.body.span(), instruction: None });
        let result = self.evaluate(&e.body)?;
        let result = self.cx.conclude(rule!("EVAL.SEQ.BODY"), result);
        let result = self.cx.conclude(rule!("R89.SEQ.EVAL"), result);
        self.account.go_to(outer);
        if self.cx.fire(rule!("EVAL.SEQ.POP")) {
            self.activation.pop(mark);
        }
        Ok(result)
    }

    /// EVAL.SEQ.ORDER: the blocks in order, and in each of them the bindings.
    fn blocks(&mut self, blocks: &[BindingBlock]) -> Result<(), Stop> {
        for block in self.cx.conclude(rule!("EVAL.SEQ.ORDER"), blocks.iter().collect::<Vec<&BindingBlock>>()) {
            self.block(block)?;
        }
        Ok(())
    }

    /// Evaluates the bindings of a block. EVAL.SEQ.DF-CLEAN: the `DataflowVar`s of a `DataflowBlock` are removed at its
    /// end.
    fn block(&mut self, block: &BindingBlock) -> Result<(), Stop> {
        match block.kind {
            BlockKind::Binding => self.bindings(block),
            BlockKind::Dataflow => {
                // The counter stays raised if the run ends inside the block. This shows later where the run ended.
                self.dataflow_blocks += 1;
                self.bindings(block)?;
                self.dataflow_blocks -= 1;
                self.clean_up(block);
                Ok(())
            }
        }
    }

    fn bindings(&mut self, block: &BindingBlock) -> Result<(), Stop> {
        for binding in self.cx.conclude(rule!("EVAL.SEQ.ORDER"), block.bindings.iter().collect::<Vec<&Binding>>()) {
            self.spend(1)?;
            let outer = self.account.go_to(place_of(binding));
            match binding {
                Binding::VarBinding(b) => self.var_binding(b)?,
                Binding::MatchCast(b) => self.match_cast(b)?,
            }
            self.account.go_to(outer);
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
        let _ = self.cx.fire(rule!("EVAL.SEQ.VARBINDING"));
        let value = match &b.value {
            Expr::Function(f) => {
                self.spend(1)?;
                self.function(f, Some(&b.var.var))?
            }
            other => self.evaluate(other)?,
        };
        let value = self.cx.conclude(rule!("EVAL.SEQ.VARBINDING"), value);
        self.bind_var(&b.var.var, value, b.span);
        Ok(())
    }

    /// The value is evaluated before any check (`EVAL.SEQ.MATCHCAST.VALUE-FIRST`), then checked, and the variable is
    /// bound to it.
    fn match_cast(&mut self, b: &MatchCast) -> Result<(), Stop> {
        let _ = self.cx.fire(rule!("EVAL.SEQ.MATCHCAST.VALUE-FIRST"));
        let value = self.evaluate(&b.value)?;
        let value = self.cx.conclude(rule!("EVAL.SEQ.MATCHCAST.VALUE-FIRST"), value);
        // RT.RECOGNIZABLE: the category of a value can be determined, whatever its representation.
        if self.cx.fire(rule!("EVAL.SEQ.MATCHCAST.CHECK")) && self.cx.fire(rule!("RT.RECOGNIZABLE")) {
            let result = self.match_pattern(&value, &b.struct_info);
            self.raise(result)?;
        }
        let value = self.shape_matched(value, &b.struct_info);
        match &b.var {
            Some(binder) => {
                // SI.MATCHCAST.RESULT: the result is the checked value itself.
                let value = self.cx.conclude(rule!("EVAL.SEQ.MATCHCAST.BIND"), value);
                let value = self.cx.conclude(rule!("SI.MATCHCAST.RESULT"), value);
                self.bind_var(&binder.var, value, b.span);
                Ok(())
            }
            None => {
                let nothing_more = self.cx.conclude(rule!("EVAL.SEQ.MATCHCAST.NOVAR"), Ok(()));
                nothing_more.and(self.cx.conclude(rule!("SI.MATCHCAST.NOVAR"), Ok(())))
            }
        }
    }

    /// SI.MATCHCAST.ERR: a failed check is a run-time error, which ends the program.
    fn raise(&mut self, result: Result<(), Stop>) -> Result<(), Stop> {
        match result {
            error @ Err(Stop::Error(_)) => self.cx.conclude(rule!("SI.MATCHCAST.ERR"), error),
            result @ (Ok(()) | Err(Stop::OutOfFuel | Stop::Unspecified(_) | Stop::Unknown(_))) => result,
        }
    }

    /// EVAL.BYREF: the variable is an alias of the value.
    ///
    /// VAL.FIRSTCLASS: this applies to values of every category. VAL.OBJECT.FAITHFUL: an opaque object stays the same.
    pub(super) fn bind_var(&mut self, var: &Var, value: Value, span: Span) {
        let mut value = self.cx.conclude(rule!("VAL.FIRSTCLASS"), value);
        if let Value::Object(_) = &value {
            value = self.cx.conclude(rule!("VAL.OBJECT.FAITHFUL"), value);
        }
        let value = self.cx.conclude(rule!("EVAL.BYREF"), value);
        if self.traces() {
            self.step(span, TraceEvent::Bind(var.clone(), value.to_string()));
        }
        self.activation.vars.bind(var.clone(), value.clone());
        let options = self.options;
        if let Some(watch) = &options.watch {
            watch.bound(self, var, &value);
        }
    }
}

/// The position in the program during the evaluation of a binding.
fn place_of(binding: &Binding) -> ProgramPoint {
    let binding_of = binding.binder().map(|binder| binder.var.name.clone());
    ProgramPoint { site: Site::Binding(binding_of), span: binding.span(), instruction: None }
}

/// The truth of a scalar tensor of Boolean data type; `None` for anything else.
fn boolean_scalar(value: &Value) -> Option<bool> {
    let tensor = value.as_tensor().filter(|t| t.dtype() == DataType::BOOL && t.shape().is_empty())?;
    tensor.get(0).map(Scalar::is_true)
}
