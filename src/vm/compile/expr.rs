//! Expressions and bindings. Each is evaluated in the order of the text, into a register.

use super::Global;
use super::emit::{Emitter, ValueFact, ValueLocation};
use crate::grammar::{
    Binding, BindingBlock, BlockKind, Constant as Literal, Expr, ExternFunc, GlobalVar, If, MatchCast, SeqExpr, Tuple,
    TupleGetItem, Var, VarBinding, VarKind,
};
use crate::judge::with_stack;
use crate::vm::executable::{Builtin, Callee, Constant, Instruction, Operand};

impl Emitter<'_, '_> {
    /// The value of an expression, in the given register or any location.
    pub(super) fn value(&mut self, e: &Expr, dst: Option<u32>) -> ValueLocation {
        with_stack(|| match e {
            Expr::Constant(e) => self.literal(e, dst),
            Expr::Var(v) | Expr::DataflowVar(v) => self.var(v, dst),
            Expr::GlobalVar(e) => self.global_var(e, dst),
            Expr::Tuple(e) => self.tuple(e, dst),
            Expr::TupleGetItem(e) => self.tuple_get_item(e, dst),
            Expr::ShapeExpr(e) => self.shape(&e.values, dst),
            Expr::PrimValue(e) => self.prim_value(e, dst),
            Expr::StringImm(e) => self.immediate(Constant::Str(e.value.clone()), dst),
            Expr::DataTypeImm(e) => self.immediate(Constant::DataType(e.value), dst),
            Expr::Function(f) => self.closure(f, None, dst),
            Expr::If(e) => self.conditional(e, dst),
            Expr::ExternFunc(e) => self.extern_func(e, dst),
            Expr::Call(e) => self.call_expr(e, dst),
            Expr::SeqExpr(e) => self.seq_expr(e, dst),
            Expr::Op(op) => self.unspecified(format!("the operator {} is used as a value", op.op_name), dst),
        })
    }

    /// EVAL.CONST.FRESH: a new tensor at each evaluation.
    fn literal(&mut self, e: &Literal, dst: Option<u32>) -> ValueLocation {
        let data = self.constant(Constant::Tensor(e.data.clone()));
        ValueLocation::tensor(self.builtin(Builtin::Constant, vec![data], dst))
    }

    fn immediate(&mut self, constant: Constant, dst: Option<u32>) -> ValueLocation {
        let constant = self.constant(constant);
        self.placed(ValueLocation::of(constant), dst)
    }

    /// EVAL.VAR: the value itself.
    fn var(&mut self, v: &Var, dst: Option<u32>) -> ValueLocation {
        match self.vars.get(v).copied().flatten() {
            Some(place) => self.placed(place, dst),
            None => self.unspecified(format!("the variable {v} has no value here"), dst),
        }
    }

    fn global_var(&mut self, e: &GlobalVar, dst: Option<u32>) -> ValueLocation {
        let operand = match self.globals.get(&e.name).cloned() {
            Some(Global::Function(index)) => self.callee(Callee::Function(index)),
            Some(Global::PrimFunc(index)) => self.callee(super::Compiler::prim_func_value(index)),
            Some(Global::Extern(symbol)) => return self.find_packed(&symbol, dst),
            None => return self.unspecified(format!("the module binds no @{}", e.name), dst),
        };
        self.placed(ValueLocation::of(operand), dst)
    }

    /// EVAL.EXTERNFUNC: the function that is registered under the symbol at this time.
    fn extern_func(&mut self, e: &ExternFunc, dst: Option<u32>) -> ValueLocation {
        self.find_packed(&e.global_symbol, dst)
    }

    pub(super) fn find_packed(&mut self, symbol: &crate::grammar::Name, dst: Option<u32>) -> ValueLocation {
        let symbol = self.constant(Constant::Str(symbol.clone()));
        ValueLocation::of(self.builtin(Builtin::FindPacked, vec![symbol], dst))
    }

    /// EVAL.TUPLE: the fields from left to right.
    fn tuple(&mut self, e: &Tuple, dst: Option<u32>) -> ValueLocation {
        let fields: Vec<ValueLocation> = e.fields.iter().map(|field| self.value(field, None)).collect();
        let known = ValueFact::by_fields(&fields, |field| field.known == ValueFact::Tensor);
        let fields = fields.iter().map(|field| field.operand).collect();
        ValueLocation { operand: self.builtin(Builtin::MakeTuple, fields, dst), known }
    }

    pub(super) fn operands(&mut self, exprs: &[Expr]) -> Vec<Operand> {
        exprs.iter().map(|e| self.value(e, None).operand).collect()
    }

    /// EVAL.TGI: the field itself.
    fn tuple_get_item(&mut self, e: &TupleGetItem, dst: Option<u32>) -> ValueLocation {
        let tuple = self.value(&e.tuple_value, None).operand;
        ValueLocation::of(self.builtin(Builtin::TupleGetItem, vec![tuple, Operand::Immediate(e.index)], dst))
    }

    /// EVAL.IF.COND: evaluates the condition, then one of the branches. Both write the same register.
    fn conditional(&mut self, e: &If, dst: Option<u32>) -> ValueLocation {
        let dst = dst.unwrap_or_else(|| self.register());
        let outside = self.open();
        let cond = self.value(&e.cond, None).operand;
        let truth = self.builtin(Builtin::ReadIfCond, vec![cond], None);
        let truth = self.in_register(truth, None);
        self.close(&outside, false);
        let branching = self.code.len();
        self.code.push(Instruction::If(truth, 0));
        let this = self.branch(&e.true_branch, dst);
        let leaving = self.code.len();
        self.code.push(Instruction::Goto(0));
        self.jump_here(branching);
        let that = self.branch(&e.false_branch, dst);
        self.jump_here(leaving);
        ValueLocation { operand: Operand::Register(dst), known: if this == that { this } else { ValueFact::Nothing } }
    }

    /// Compiles a branch, and returns the fact about its value.
    fn branch(&mut self, e: &Expr, dst: u32) -> ValueFact {
        let scope = self.open();
        let value = self.value(e, Some(dst));
        self.close(&scope, false);
        value.known
    }

    /// Makes the jump at an index lead to the next emitted instruction.
    fn jump_here(&mut self, from: usize) {
        let offset = (self.code.len() - from) as i64;
        match self.code.get_mut(from) {
            Some(Instruction::If(_, to) | Instruction::Goto(to)) => *to = offset,
            Some(Instruction::Call(..) | Instruction::Ret(_)) | None => {}
        }
    }

    /// EVAL.SEQ.PUSH, EVAL.SEQ.BODY, EVAL.SEQ.POP: a scope around the blocks in order and the body.
    fn seq_expr(&mut self, e: &SeqExpr, dst: Option<u32>) -> ValueLocation {
        let scope = self.open();
        for block in &e.blocks {
            self.block(block);
        }
        let result = self.value(&e.body, dst);
        self.close(&scope, dst.is_none());
        result
    }

    /// EVAL.SEQ.DF-CLEAN: the `DataflowVar`s of a `DataflowBlock` go out of scope at its end.
    fn block(&mut self, block: &BindingBlock) {
        self.make_room(block.bindings.len());
        for binding in &block.bindings {
            match binding {
                Binding::VarBinding(b) => self.var_binding(b),
                Binding::MatchCast(b) => self.match_cast(b),
            }
        }
        if block.kind == BlockKind::Dataflow {
            let binders = block.bindings.iter().filter_map(Binding::binder);
            for binder in binders.filter(|binder| binder.kind == VarKind::DataflowVar) {
                self.vars.enter(binder.var.clone(), None);
            }
        }
    }

    /// EVAL.SEQ.VARBINDING: binds the variable to the value.
    fn var_binding(&mut self, b: &VarBinding) {
        let place = match &b.value {
            Expr::Function(f) => self.closure(f, Some(&b.var.var), None),
            other => self.value(other, None),
        };
        // A variable is not a global variable, and some operators distinguish the two.
        let named = matches!(place.operand, Operand::Callee(_));
        let operand = if named { Operand::Register(self.in_register(place.operand, None)) } else { place.operand };
        self.bind(&b.var.var, ValueLocation { operand, ..place });
    }

    /// EVAL.SEQ.MATCHCAST.VALUE-FIRST: the value, then the checks, then the variable.
    fn match_cast(&mut self, b: &MatchCast) {
        let place = self.value(&b.value, None);
        self.match_info(place, &b.struct_info);
        if let Some(binder) = &b.var {
            let known =
                if place.known == ValueFact::Nothing { ValueFact::by_info(&b.struct_info) } else { place.known };
            self.bind(&binder.var, ValueLocation { known, ..place });
        }
    }
}
