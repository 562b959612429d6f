//! Destination passing: a `call_tir` whose form is known becomes the allocation of its results and a call that writes them.

use super::emit::{Emitter, Place};
use super::shapes::operands;
use super::{Global, Stage};
use crate::grammar::{Call, DataType, Expr, Name, Ndim, PrimExpr, StructInfo, TensorShape};
use crate::vm::executable::{Builtin, Callee, Context, Operand, PrimFuncCall};

/// What a result is allocated as.
type Output<'a> = (&'a [PrimExpr], DataType);

impl Emitter<'_, '_> {
    /// OP.CALLTIR.ARG-ORDER: the arguments are evaluated, then the results are allocated, then the function is called.
    ///
    /// `None` for a call whose form only the values show (C14), or that is no call of a function of the module: the operator itself finds
    /// out.
    pub(super) fn destination_passing(&mut self, name: &Name, call: &Call, dst: Option<u32>) -> Option<Place> {
        let is_plain = matches!(&**name, "relax.call_tir" | "call_tir") && call.attrs.is_empty();
        if !is_plain || self.last < Stage::Allocated {
            return None;
        }
        let [Expr::GlobalVar(gv), Expr::Tuple(inputs)] = call.args.as_slice() else { return None };
        let Some(Global::PrimFunc(index)) = self.globals.get(&gv.name).cloned() else { return None };
        let (outputs, tuple) = outputs(&call.sinfo_args)?;
        let is_tensor = |e: &Expr| {
            let var = if let Expr::Var(v) | Expr::DataflowVar(v) = e { self.vars.get(v) } else { None };
            var.copied().flatten().is_some_and(|place| place.tensor)
        };
        if !inputs.fields.is_empty() && !inputs.fields.iter().any(is_tensor) {
            return None;
        }
        let mut args = self.operands(&inputs.fields);
        let made = self.allocate(&outputs);
        args.extend(made.iter().copied());
        let written = PrimFuncCall { index, outputs: made.len() as u32 };
        self.effect(Callee::PrimFunc(written), args);
        Some(match made.as_slice() {
            [single] if !tuple => self.placed(Place::tensor(*single), dst),
            [] | [_, ..] => Place::of(self.builtin(Builtin::MakeTuple, made, dst)),
        })
    }

    /// OP.CALLTIR.ALLOC: all sizes first, then a new tensor for each result.
    fn allocate(&mut self, outputs: &[Output<'_>]) -> Vec<Operand> {
        let codes: Vec<_> = outputs.iter().map(|(dims, _)| self.codes(dims, Context::Plain)).collect();
        let made = outputs.iter().zip(codes).map(|((_, dtype), codes)| {
            let mut args = vec![self.heap_for(&codes), self.dtype(*dtype)];
            args.extend(operands(&codes));
            self.builtin(Builtin::AllocTensor, args, None)
        });
        made.collect()
    }
}

/// The results, and whether they come as a tuple.
fn outputs(sinfo_args: &[StructInfo]) -> Option<(Vec<Output<'_>>, bool)> {
    let (infos, tuple) = match sinfo_args {
        [StructInfo::Tuple(fields)] => (&**fields, true),
        single @ [_] => (single, false),
        several => (several, true),
    };
    Some((infos.iter().map(output).collect::<Option<Vec<_>>>()?, tuple))
}

fn output(info: &StructInfo) -> Option<Output<'_>> {
    let StructInfo::Tensor(t) = info else { return None };
    let Some(TensorShape::Dims(dims)) = &t.shape else { return None };
    (t.ndim == Ndim::of_len(dims.len())).then_some((dims, t.dtype))
}
