//! Functions, with the boundary checks around a body (`SI.BOUNDARY`).

use std::sync::Arc;

use super::emit::{Emitter, ValueFact};
use super::free::ClosureFreeVariables;
use super::{Compiler, global_symbol};
use crate::grammar::{FuncStructInfo, Function as Definition, Name, PrimExpr, ShapeVar, StructInfo, TensorShape, Var};
use crate::vm::executable::{Builtin, How, Instruction, Operand, VmFunction};
use crate::vm::slots::{unknown_shape, unknown_size};
use crate::vm::substitute::DimensionSubstitution;

use super::emit::ValueLocation;

/// The captured values of a function's closure, in order: values of variables, the sizes together in a shape, and the
/// numbers that need not be sizes, each in a boxed scalar.
#[derive(Default)]
pub(super) struct Captured {
    pub(super) own_name: Option<Var>,
    pub(super) vars: Vec<Var>,
    pub(super) sizes: Vec<ShapeVar>,
    pub(super) numbers: Vec<ShapeVar>,
}

impl Captured {
    /// The number of registers for them.
    pub(super) fn registers(&self) -> u32 {
        (self.vars.len() + usize::from(!self.sizes.is_empty()) + self.numbers.len()) as u32
    }

    /// Whether it includes the value of a shape variable.
    pub(super) fn has(&self, var: &ShapeVar) -> bool {
        self.sizes.binary_search(var).is_ok() || self.numbers.binary_search(var).is_ok()
    }
}

impl Compiler<'_> {
    /// MOD.GLOBAL-CLOSURE: a global function captures nothing.
    pub(super) fn global_function(&mut self, name: &Name, f: &Arc<Definition>) -> VmFunction {
        let nothing = |v: &ShapeVar| PrimExpr::Var(unknown_size(v));
        let no_shape = |v: &Var| TensorShape::Var(unknown_shape(v).into());
        let signature = self.signature(f, &DimensionSubstitution::new(&nothing, &no_shape), None);
        let compiled = self.function(name.clone(), f, &Captured::default(), signature);
        VmFunction { global: true, symbol: global_symbol(f), ..compiled }
    }

    /// VAL.CLOSURE.RTSI: the run-time information of the function's closure. `renamed` covers the captured variables. A
    /// derived result may use all variables in scope where the closure is made.
    pub(super) fn signature(
        &self,
        f: &Arc<Definition>,
        renamed: &DimensionSubstitution<'_>,
        all: Option<&DimensionSubstitution<'_>>,
    ) -> StructInfo {
        let of = |info: Option<&StructInfo>| info.map_or(StructInfo::Object, |info| renamed.struct_info(info));
        let derived = || self.inferred_result(f).map(|info| all.unwrap_or(renamed).struct_info(&info));
        StructInfo::Func(Arc::new(FuncStructInfo {
            params: Some(f.params.iter().map(|param| of(param.annotation.as_ref())).collect()),
            ret: match &f.ret_struct_info {
                Some(info) => of(Some(info)),
                None => derived().unwrap_or(StructInfo::Object),
            },
            derive_func: None,
            pure: self.cx.has(rule!("PURITY.FIELD")).then(|| f.pure.unwrap_or(true)),
        }))
    }

    /// The instructions of a function.
    pub(super) fn function(
        &mut self,
        name: Name,
        f: &Arc<Definition>,
        captured: &Captured,
        signature: StructInfo,
    ) -> VmFunction {
        let params = f.params.len() as u32;
        let mut emitter = Emitter::new(self, params + captured.registers());
        emitter.code.push(Instruction::Goto(1));
        emitter.take_captured(params, captured);
        emitter.take_params(f);
        let result = emitter.value(&f.body, None);
        if let Some(annotation) = &f.ret_struct_info {
            emitter.match_info(result, annotation);
        }
        let result = emitter.in_register(result.operand, None);
        emitter.code.push(Instruction::Ret(result));
        emitter.allocate_heap();
        emitter.write_shape_funcs();
        let (code, registers) = (emitter.code, emitter.registers);
        VmFunction {
            name,
            symbol: None,
            global: false,
            params,
            captured: captured.registers(),
            registers,
            signature,
            code,
        }
    }

    /// The free variables of a function, computed once.
    pub(super) fn free_of(&mut self, f: &Arc<Definition>) -> std::rc::Rc<ClosureFreeVariables> {
        ClosureFreeVariables::of(f, self)
    }
}

impl Emitter<'_, '_> {
    /// EVAL.CALL.CLOSURE: brings the captured values and the closure's own name into scope in the body.
    fn take_captured(&mut self, params: u32, captured: &Captured) {
        if let Some(name) = &captured.own_name {
            let itself = self.builtin(Builtin::CurrentClosure, Vec::new(), None);
            self.vars.enter(name.clone(), Some(ValueLocation::of(itself)));
        }
        for (register, var) in (params..).zip(&captured.vars) {
            self.vars.enter(var.clone(), Some(ValueLocation::of(Operand::Register(register))));
        }
        let mut next = params + captured.vars.len() as u32;
        if !captured.sizes.is_empty() {
            let codes = captured.sizes.iter().map(|size| (How::Store, i64::from(self.bind_size(size)))).collect();
            self.match_sizes(Operand::Register(next), None, 0, codes);
            next += 1;
        }
        for (register, number) in (next..).zip(&captured.numbers) {
            let code = (How::Store, i64::from(self.bind_number(number)));
            self.match_number(Operand::Register(register), &[code]);
        }
    }

    /// SI.BOUNDARY.PARAM: compares the arguments with the annotations from left to right. All arguments are in scope in
    /// the annotations.
    fn take_params(&mut self, f: &Definition) {
        let places = |i: usize| ValueLocation::of(Operand::Register(i as u32));
        if f.params.iter().any(|param| param.annotation.is_some()) {
            for (i, param) in f.params.iter().enumerate() {
                self.vars.enter(param.var.clone(), Some(places(i)));
            }
        }
        if self.cx.has(rule!("WF23-12.6.TWO-PHASE")) {
            for (i, param) in f.params.iter().enumerate() {
                param.annotation.iter().for_each(|annotation| self.take_sizes(places(i).operand, annotation));
            }
        }
        for (i, param) in f.params.iter().enumerate() {
            if let Some(annotation) = &param.annotation {
                self.match_info(places(i), annotation);
            }
        }
        for (i, param) in f.params.iter().enumerate() {
            let known = param.annotation.as_ref().map_or(ValueFact::Nothing, ValueFact::by_info);
            self.vars.enter(param.var.clone(), Some(ValueLocation { known, ..places(i) }));
        }
    }

    /// Allocates the shape heap first, if anything is stored in it.
    fn allocate_heap(&mut self) {
        if self.slots == 0 {
            self.code.remove(0);
            return;
        }
        let slots = vec![Operand::Immediate(self.slots.into())];
        let heap = self.heap;
        let callee = self.callee_index(Builtin::AllocShapeHeap);
        if let Some(first) = self.code.first_mut() {
            *first = Instruction::Call(Some(heap), callee, slots);
        }
    }
}
