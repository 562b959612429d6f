//! Writing the instructions of one function.

use std::ops::{Deref, DerefMut};

use rustc_hash::FxHashSet;

use super::Compiler;
use crate::grammar::{PrimExpr, ShapeVar, StructInfo, Var};
use crate::scope::{Context, ContextMark};
use crate::vm::executable::{Builtin, Callee, Constant, How, Instruction, Operand};

/// What is certain of a value, whatever the inputs are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ValueFact {
    Nothing,
    Tensor,
    /// It is a shape, and which of the `shapes`.
    Shape(u32),
    /// It is a tuple that holds nothing, or a tensor at least: no tuple of shapes.
    Inputs,
}

impl ValueFact {
    /// Of what has been compared with structural information.
    pub(super) fn by_info(info: &StructInfo) -> ValueFact {
        match info {
            StructInfo::Tensor(_) => ValueFact::Tensor,
            StructInfo::Tuple(fields) => ValueFact::by_fields(fields, |field| matches!(field, StructInfo::Tensor(_))),
            StructInfo::Object | StructInfo::Shape(_) | StructInfo::Prim(_) | StructInfo::Func(_) => ValueFact::Nothing,
        }
    }

    /// Of a tuple, by which of its fields are tensors.
    pub(super) fn by_fields<T>(fields: &[T], is_tensor: impl Fn(&T) -> bool) -> ValueFact {
        if fields.is_empty() || fields.iter().any(is_tensor) { ValueFact::Inputs } else { ValueFact::Nothing }
    }
}

/// A number or a slot, and how it takes part.
pub(super) type Code = (How, i64);

/// Where a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ValueLocation {
    pub(super) operand: Operand,
    pub(super) known: ValueFact,
}

impl ValueLocation {
    pub(super) fn of(operand: Operand) -> ValueLocation {
        ValueLocation { operand, known: ValueFact::Nothing }
    }

    pub(super) fn tensor(operand: Operand) -> ValueLocation {
        ValueLocation { operand, known: ValueFact::Tensor }
    }
}

/// Dimensions that a `PrimFunc` is to compute: the slots with what belongs into them, and the slot that says whether int64 sufficed.
pub(super) struct PendingDims {
    /// Among the `PrimFunc`s of the executable.
    pub(super) index: u32,
    pub(super) dims: Vec<(u32, PrimExpr)>,
    pub(super) flag: u32,
}

/// A function that is being written.
pub(super) struct Emitter<'e, 'c> {
    pub(super) compiler: &'e mut Compiler<'c>,
    pub(super) code: Vec<Instruction>,
    /// The first register that is free.
    next: u32,
    /// How many registers there are.
    pub(super) registers: u32,
    /// The register of the shape heap.
    pub(super) heap: u32,
    /// How many slots it has.
    pub(super) slots: u32,
    /// The variables in scope; `None` for one that is gone (`EVAL.SEQ.DF-CLEAN`).
    pub(super) vars: Context<Var, Option<ValueLocation>>,
    /// The slots of the shape variables in scope.
    pub(super) sizes: Context<ShapeVar, u32>,
    /// The slots of those that a boxed scalar binds, to a number that may be no size.
    pub(super) boxed: FxHashSet<u32>,
    /// The slots of computed dimensions that are certain to be there.
    pub(super) derived: Context<PrimExpr, u32>,
    /// Where the dimensions of shapes are that have been made. Slots are written once, so that they stay there.
    pub(super) shapes: Vec<Vec<Code>>,
    pub(super) pending: Vec<PendingDims>,
}

/// Where a scope began.
pub(super) struct EmitScope {
    vars: ContextMark,
    sizes: ContextMark,
    derived: ContextMark,
    next: u32,
}

impl<'c> Deref for Emitter<'_, 'c> {
    type Target = Compiler<'c>;

    fn deref(&self) -> &Compiler<'c> {
        self.compiler
    }
}

impl DerefMut for Emitter<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.compiler
    }
}

impl<'e, 'c> Emitter<'e, 'c> {
    /// A function whose first registers are taken by parameters. The one after them is for the shape heap.
    pub(super) fn new(compiler: &'e mut Compiler<'c>, params: u32) -> Emitter<'e, 'c> {
        Emitter {
            compiler,
            code: Vec::new(),
            next: params + 1,
            registers: params + 1,
            heap: params,
            slots: 0,
            vars: Context::new(),
            sizes: Context::new(),
            boxed: FxHashSet::default(),
            derived: Context::new(),
            shapes: Vec::new(),
            pending: Vec::new(),
        }
    }

    /// Room for so many bindings: a variable for each, and an instruction at least. What a long block needs is laid out once.
    pub(super) fn make_room(&mut self, bindings: usize) {
        self.vars.reserve(bindings);
        self.code.reserve(bindings);
    }

    pub(super) fn register(&mut self) -> u32 {
        let register = self.next;
        self.next += 1;
        self.registers = self.registers.max(self.next);
        register
    }

    pub(super) fn slot(&mut self) -> u32 {
        self.slots += 1;
        self.slots - 1
    }

    pub(super) fn open(&self) -> EmitScope {
        EmitScope { vars: self.vars.mark(), sizes: self.sizes.mark(), derived: self.derived.mark(), next: self.next }
    }

    /// Ends a scope; its registers are free again, unless the value in one of them is still wanted.
    pub(super) fn close(&mut self, scope: &EmitScope, keep_registers: bool) {
        self.vars.leave(scope.vars);
        self.sizes.leave(scope.sizes);
        self.derived.leave(scope.derived);
        if !keep_registers {
            self.next = scope.next;
        }
    }

    /// A call whose result goes into a register, a new one if none is given.
    pub(super) fn call(&mut self, callee: Callee, args: Vec<Operand>, dst: Option<u32>) -> Operand {
        let dst = dst.unwrap_or_else(|| self.register());
        let callee = self.compiler.callees.index_of(callee);
        self.code.push(Instruction::Call(Some(dst), callee, args));
        Operand::Register(dst)
    }

    pub(super) fn builtin(&mut self, builtin: Builtin, args: Vec<Operand>, dst: Option<u32>) -> Operand {
        self.call(Callee::Builtin(builtin), args, dst)
    }

    /// A call of which nothing comes.
    pub(super) fn effect(&mut self, callee: Callee, args: Vec<Operand>) {
        let callee = self.compiler.callees.index_of(callee);
        self.code.push(Instruction::Call(None, callee, args));
    }

    pub(super) fn constant(&mut self, constant: Constant) -> Operand {
        Operand::Constant(self.compiler.constants.index_of(constant))
    }

    /// The entry of the function table as a value.
    pub(super) fn callee(&mut self, callee: Callee) -> Operand {
        Operand::Callee(self.compiler.callees.index_of(callee))
    }

    /// A variable stands for a value from here on.
    pub(super) fn bind(&mut self, var: &Var, place: ValueLocation) {
        if self.vars.contains(var) {
            self.irregular.set(true);
        }
        self.vars.enter(var.clone(), Some(place));
    }

    /// Nothing is said of a program that comes here.
    pub(super) fn unspecified(&mut self, reason: String, dst: Option<u32>) -> ValueLocation {
        self.irregular.set(true);
        let reason = self.constant(Constant::Str(reason.as_str().into()));
        ValueLocation::of(self.builtin(Builtin::Unspecified, vec![reason], dst))
    }

    /// A value in a register: in this one, if one is given.
    pub(super) fn in_register(&mut self, operand: Operand, dst: Option<u32>) -> u32 {
        match (operand, dst) {
            (Operand::Register(r), None) => r,
            (operand, dst) => {
                let dst = dst.unwrap_or_else(|| self.register());
                if operand != Operand::Register(dst) {
                    self.builtin(Builtin::Copy, vec![operand], Some(dst));
                }
                dst
            }
        }
    }

    /// A value where it is, or in the register that is given.
    pub(super) fn placed(&mut self, place: ValueLocation, dst: Option<u32>) -> ValueLocation {
        match dst {
            None => place,
            Some(dst) => {
                ValueLocation { operand: Operand::Register(self.in_register(place.operand, Some(dst))), ..place }
            }
        }
    }
}
