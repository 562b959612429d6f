//! Calls of operators, of known functions, and of values.

use super::Global;
use super::emit::{Emitter, ValueLocation};
use crate::grammar::{Attrs, Call, Expr, Name, PrimExpr, StructInfo};
use crate::ops;
use crate::vm::executable::{Callee, Operand, OperatorCall, PackedCall, ValueCall};
use crate::vm::substitute::DimensionSubstitution;

impl Emitter<'_, '_> {
    pub(super) fn call_expr(&mut self, call: &Call, dst: Option<u32>) -> ValueLocation {
        if let Expr::Op(op) = &call.op {
            self.call_op(&op.op_name, call, dst)
        } else if let Expr::GlobalVar(gv) = &call.op {
            match self.globals.get(&gv.name).cloned() {
                Some(Global::Function(index)) => self.call_function(index, call, dst),
                Some(Global::Extern(symbol)) => self.call_extern(&symbol, call, dst),
                Some(Global::PrimFunc(_)) | None => self.call_value(call, dst),
            }
        } else if let Expr::ExternFunc(named) = &call.op {
            self.call_extern(&named.global_symbol, call, dst)
        } else {
            self.call_value(call, dst)
        }
    }

    /// EVAL.CALL.OP.ARGS: the arguments from left to right, then the operator.
    fn call_op(&mut self, name: &Name, call: &Call, dst: Option<u32>) -> ValueLocation {
        if ops::lookup(name).is_none() {
            return self.unspecified(format!("no operator {name} is registered"), dst);
        }
        if let Some(result) = self.destination_passing(name, call, dst) {
            return result;
        }
        let args = self.operands(&call.args);
        let (attrs, sinfo_args) = (self.renamed_attrs(&call.attrs), self.renamed_all(&call.sinfo_args));
        ValueLocation::of(self.call(
            Callee::Operator(OperatorCall { name: name.clone(), attrs, sinfo_args }),
            args,
            dst,
        ))
    }

    fn renamed_attrs(&self, attrs: &Attrs) -> Attrs {
        let renamed = |renaming: &DimensionSubstitution<'_>| {
            attrs.iter().map(|(name, value)| (name.clone(), renaming.attr(value))).collect()
        };
        self.with_renaming(&|| self.irregular.set(true), renamed)
    }

    fn renamed_all(&self, infos: &[StructInfo]) -> Vec<StructInfo> {
        let renamed =
            |renaming: &DimensionSubstitution<'_>| infos.iter().map(|info| renaming.struct_info(info)).collect();
        self.with_renaming(&|| self.irregular.set(true), renamed)
    }

    /// Calls a function of the program by its name.
    fn call_function(&mut self, index: u32, call: &Call, dst: Option<u32>) -> ValueLocation {
        let args = self.operands(&call.args);
        ValueLocation::of(self.call(Callee::Function(index), args, dst))
    }

    /// Calls a packed function by its symbol. The text looks it up before the arguments are evaluated
    /// (`EVAL.ORDER.ARGS`), which makes no difference if they cannot fail.
    fn call_extern(&mut self, symbol: &Name, call: &Call, dst: Option<u32>) -> ValueLocation {
        if !call.args.iter().all(|arg| self.cannot_fail(arg)) {
            return self.call_value(call, dst);
        }
        let args = self.operands(&call.args);
        let (pure, sinfo_args) = (call.is_marked_pure(), self.renamed_all(&call.sinfo_args));
        ValueLocation::of(self.call(Callee::Packed(PackedCall { symbol: symbol.clone(), pure, sinfo_args }), args, dst))
    }

    fn cannot_fail(&self, e: &Expr) -> bool {
        let is_known = |dim: &PrimExpr| match dim {
            PrimExpr::IntImm(_) => true,
            PrimExpr::Var(v) => self.sizes.contains(v),
            PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..) => false,
        };
        match e {
            Expr::Var(v) | Expr::DataflowVar(v) => self.vars.get(v).copied().flatten().is_some(),
            Expr::Constant(_) | Expr::StringImm(_) | Expr::DataTypeImm(_) => true,
            Expr::ShapeExpr(shape) => shape.values.iter().all(|dim| self.is_certain_size(dim)),
            Expr::PrimValue(value) => is_known(&value.value),
            Expr::Tuple(tuple) => tuple.fields.iter().all(|field| self.cannot_fail(field)),
            Expr::GlobalVar(gv) => {
                matches!(self.globals.get(&gv.name), Some(Global::Function(_) | Global::PrimFunc(_)))
            }
            Expr::SeqExpr(_)
            | Expr::Function(_)
            | Expr::If(_)
            | Expr::ExternFunc(_)
            | Expr::Call(_)
            | Expr::TupleGetItem(_)
            | Expr::Op(_) => false,
        }
    }

    /// EVAL.ORDER.ARGS: evaluates the callee first, then the arguments from left to right, then the call.
    fn call_value(&mut self, call: &Call, dst: Option<u32>) -> ValueLocation {
        let callee = self.value(&call.op, None).operand;
        let mut args: Vec<Operand> = vec![callee];
        args.extend(self.operands(&call.args));
        let (pure, sinfo_args) = (call.is_marked_pure(), self.renamed_all(&call.sinfo_args));
        ValueLocation::of(self.call(Callee::Value(ValueCall { pure, sinfo_args }), args, dst))
    }
}
