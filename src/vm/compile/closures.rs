//! Closures. A function literal is lifted out of its surroundings, and its captured values become additional
//! parameters.

use std::sync::Arc;

use super::emit::{Emitter, ValueLocation};
use super::function::Captured;
use super::shapes::operands;
use crate::grammar::{DataType, Function as Definition, Name, PrimExpr, ShapeVar, TensorShape, Var};
use crate::vm::executable::{Builtin, Callee, How, Operand};
use crate::vm::slots::{register_var, slot_var, unknown_shape, unknown_size};
use crate::vm::substitute::DimensionSubstitution;

impl Emitter<'_, '_> {
    /// EVAL.FUNC.CLOSURE: a closure of the definition with its captured values. EVAL.FUNC.RECBIND: a bound function
    /// knows itself by its name.
    pub(super) fn closure(&mut self, f: &Arc<Definition>, name: Option<&Var>, dst: Option<u32>) -> ValueLocation {
        let free = self.free_of(f);
        if let Some(v) = free.dataflow_vars.iter().next() {
            return self.unspecified(format!("a function uses the DataflowVar {v} of its surroundings"), dst);
        }
        let others = free.vars.iter().filter(|v| name != Some(*v));
        let in_scope = free.shape_vars.iter().filter(|v| self.sizes.contains(v)).cloned();
        let (sizes, numbers) = in_scope.partition(|v| self.is_size(v));
        let captured = Captured {
            own_name: name.filter(|name| free.vars.contains(*name)).cloned(),
            vars: others.filter(|v| self.vars.get(v).copied().flatten().is_some()).cloned().collect(),
            sizes,
            numbers,
        };
        let index = self.lift(f, name, &captured);
        let mut args = vec![self.callee(Callee::Function(index))];
        let vars = captured.vars.iter().filter_map(|v| self.vars.get(v).copied().flatten());
        args.extend(vars.map(|place| place.operand).collect::<Vec<Operand>>());
        if !captured.sizes.is_empty() {
            args.push(self.captured_sizes(&captured.sizes));
        }
        args.extend(captured.numbers.iter().map(|v| self.captured_number(v)).collect::<Vec<Operand>>());
        ValueLocation::of(self.builtin(Builtin::MakeClosure, args, dst))
    }

    /// Compiles the lifted function.
    fn lift(&mut self, f: &Arc<Definition>, name: Option<&Var>, captured: &Captured) -> u32 {
        let size = |v: &ShapeVar| match self.sizes.get(v).filter(|_| captured.has(v)) {
            Some(slot) => PrimExpr::Var(slot_var(*slot)),
            None => PrimExpr::Var(unknown_size(v)),
        };
        let shape = |v: &Var| {
            let place = self.vars.get(v).copied().flatten().filter(|_| captured.vars.binary_search(v).is_ok());
            match place {
                Some(ValueLocation { operand: Operand::Register(r), .. }) => TensorShape::Var(register_var(r).into()),
                Some(_) | None => TensorShape::Var(unknown_shape(v).into()),
            }
        };
        let renaming = DimensionSubstitution::new(&size, &shape);
        let signature = self.with_renaming(&|| (), |all| self.signature(f, &renaming, Some(all)));
        let index = self.functions.len() as u32;
        self.functions.push(None);
        let name: Name = format!("lifted_{index}{}", name.map(|v| format!("_{}", v.name)).unwrap_or_default()).into();
        let compiled = self.compiler.function(name, f, captured, signature);
        self.put(index, compiled);
        index
    }

    /// VAL.CLOSURE.SHAPEVARS: the captured sizes, together in a shape.
    fn captured_sizes(&mut self, sizes: &[ShapeVar]) -> Operand {
        let slots = sizes.iter().filter_map(|v| self.sizes.get(v));
        let codes: Vec<_> = slots.map(|slot| (How::Slot, i64::from(*slot))).collect();
        let mut args = vec![self.heap()];
        args.extend(operands(&codes));
        self.builtin(Builtin::MakeShape, args, None)
    }

    /// VAL.CLOSURE.SHAPEVARS: a captured number that need not be a size, in a boxed scalar.
    fn captured_number(&mut self, var: &ShapeVar) -> Operand {
        let slot = self.sizes.get(var).map_or(0, |slot| i64::from(*slot));
        self.make_box(&[(How::Slot, slot)], DataType::INT64, None)
    }
}
