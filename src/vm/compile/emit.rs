//! Writing the instructions of one function.

use std::ops::{Deref, DerefMut};

use rustc_hash::FxHashSet;

use super::Compiler;
use crate::grammar::{PrimExpr, ShapeVar, StructInfo, Var};
use crate::scope::{Context, ContextMark};
use crate::vm::executable::{Builtin, Callee, Constant, How, Instruction, Operand};

/// A fact that holds for a value with any inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ValueFact {
    Nothing,
    Tensor,
    /// It is a shape, described by this entry of `shapes`.
    Shape(u32),
    /// It is an empty tuple, or contains a tensor: it is not a tuple of shapes.
    Inputs,
}

impl ValueFact {
    /// The fact about a value that was compared with structural information.
    pub(super) fn by_info(info: &StructInfo) -> ValueFact {
        match info {
            StructInfo::Tensor(_) => ValueFact::Tensor,
            StructInfo::Tuple(fields) => ValueFact::by_fields(fields, |field| matches!(field, StructInfo::Tensor(_))),
            StructInfo::Object | StructInfo::Shape(_) | StructInfo::Prim(_) | StructInfo::Func(_) => ValueFact::Nothing,
        }
    }

    /// The fact about a tuple, given which of its fields are tensors.
    pub(super) fn by_fields<T>(fields: &[T], is_tensor: impl Fn(&T) -> bool) -> ValueFact {
        if fields.is_empty() || fields.iter().any(is_tensor) { ValueFact::Inputs } else { ValueFact::Nothing }
    }
}

/// A number or a slot, with its role.
pub(super) type Code = (How, i64);

/// The location of a value.
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

/// Dimensions for a `PrimFunc` to compute: the slots with their dimensions, and the slot that tells whether int64 was
/// sufficient.
pub(super) struct PendingDims {
    /// The index among the `PrimFunc`s of the executable.
    pub(super) index: u32,
    pub(super) dims: Vec<(u32, PrimExpr)>,
    pub(super) flag: u32,
}

/// A function under construction.
pub(super) struct Emitter<'e, 'c> {
    pub(super) compiler: &'e mut Compiler<'c>,
    pub(super) code: Vec<Instruction>,
    /// The first free register.
    next: u32,
    /// The number of registers.
    pub(super) registers: u32,
    /// The register of the shape heap.
    pub(super) heap: u32,
    /// The number of its slots.
    pub(super) slots: u32,
    /// The variables in scope; `None` for one whose scope has ended (`EVAL.SEQ.DF-CLEAN`).
    pub(super) vars: Context<Var, Option<ValueLocation>>,
    /// The slots of the shape variables in scope.
    pub(super) sizes: Context<ShapeVar, u32>,
    /// The slots of variables that boxed scalars bind. Their numbers need not be sizes.
    pub(super) boxed: FxHashSet<u32>,
    /// The slots of computed dimensions that are certainly written.
    pub(super) derived: Context<PrimExpr, u32>,
    /// The dimensions of the shapes made so far. Slots are written once, so they stay valid.
    pub(super) shapes: Vec<Vec<Code>>,
    pub(super) pending: Vec<PendingDims>,
}

/// The start of a scope.
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
    /// A function whose first registers are parameters. The next one is for the shape heap.
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

    /// Reserves space for a number of bindings: a variable for each, and at least one instruction. The space for a long
    /// block is allocated once.
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

    /// Ends a scope. Its registers become free, unless the value in one of them is still needed.
    pub(super) fn close(&mut self, scope: &EmitScope, keep_registers: bool) {
        self.vars.leave(scope.vars);
        self.sizes.leave(scope.sizes);
        self.derived.leave(scope.derived);
        if !keep_registers {
            self.next = scope.next;
        }
    }

    /// Emits a call with a result, in the given register or a new one.
    pub(super) fn call(&mut self, callee: Callee, args: Vec<Operand>, dst: Option<u32>) -> Operand {
        let dst = dst.unwrap_or_else(|| self.register());
        let callee = self.compiler.callees.index_of(callee);
        self.code.push(Instruction::Call(Some(dst), callee, args));
        Operand::Register(dst)
    }

    pub(super) fn builtin(&mut self, builtin: Builtin, args: Vec<Operand>, dst: Option<u32>) -> Operand {
        self.call(Callee::Builtin(builtin), args, dst)
    }

    /// Emits a call without a result.
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

    /// Binds a variable to a value.
    pub(super) fn bind(&mut self, var: &Var, place: ValueLocation) {
        if self.vars.contains(var) {
            self.irregular.set(true);
        }
        self.vars.enter(var.clone(), Some(place));
    }

    /// Emits an instruction for a point where the behaviour of the program is unspecified.
    pub(super) fn unspecified(&mut self, reason: String, dst: Option<u32>) -> ValueLocation {
        self.irregular.set(true);
        let reason = self.constant(Constant::Str(reason.as_str().into()));
        ValueLocation::of(self.builtin(Builtin::Unspecified, vec![reason], dst))
    }

    /// Moves a value into a register, the given one if there is one.
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

    /// Leaves a value where it is, or moves it into the given register.
    pub(super) fn placed(&mut self, place: ValueLocation, dst: Option<u32>) -> ValueLocation {
        match dst {
            None => place,
            Some(dst) => {
                ValueLocation { operand: Operand::Register(self.in_register(place.operand, Some(dst))), ..place }
            }
        }
    }
}
