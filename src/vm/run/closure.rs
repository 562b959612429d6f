//! Closures of lifted functions, and the structural information of closures at run time (`VAL.CLOSURE.RTSI`).

use std::rc::Rc;

use super::Machine;
use crate::book::Erratum;
use crate::grammar::{
    FuncStructInfo, GlobalFunc, GlobalVar, IrModule, PrimExpr, ShapeVar, StructInfo, TensorShape, Var,
};
use crate::judge::Compatibility;
use crate::struct_info::{check_compatibility, info_of_prim_func};
use crate::value::{Closure, CompiledClosure, PrimFuncObj, Stop, Value};
use crate::vm::slots::register_of;
use crate::vm::substitute::{DimensionSubstitution, without_purity};

impl Machine<'_> {
    /// EVAL.FUNC.CLOSURE: a function with its captured values.
    pub(super) fn make_closure(&mut self, function: usize, captured: Vec<Value>) -> Result<Value, Stop> {
        let executable = self.executable;
        let Some(definition) = executable.functions.get(function) else {
            return Err(self.wrong("there is no such function"));
        };
        if definition.captured as usize != captured.len() {
            return Err(self.wrong(format!("{} captures {} values", definition.name, definition.captured)));
        }
        let info = self.close_over(&definition.signature);
        Ok(Value::Closure(Rc::new(Closure::of_compiled(CompiledClosure { function, captured, info }))))
    }

    /// The information with the current contents of slots and registers.
    pub(super) fn close_over(&self, s: &StructInfo) -> StructInfo {
        let s = self.with_purity_as_it_counts(s);
        let size = |v: &ShapeVar| match self.size_of(v) {
            Some(size) => PrimExpr::IntImm(size),
            None => PrimExpr::Var(v.clone()),
        };
        let shape = |v: &Var| match self.shape_in(v) {
            Some(sizes) => TensorShape::Dims(sizes.into_iter().map(PrimExpr::IntImm).collect()),
            None => TensorShape::Var(v.clone().into()),
        };
        DimensionSubstitution::new(&size, &shape).struct_info(&s)
    }

    /// In the first edition purity is not part of the run-time information of functions.
    fn with_purity_as_it_counts(&self, s: &StructInfo) -> StructInfo {
        if self.cx.has(rule!("PURITY.FIELD")) { s.clone() } else { without_purity(s) }
    }

    /// The shape in the register that a variable in the information names.
    pub(super) fn shape_in(&self, v: &Var) -> Option<Vec<i64>> {
        self.value_of(v).and_then(|value| value.as_shape().map(|dims| dims.to_vec()))
    }

    /// The value in the register that a variable in the information names.
    pub(super) fn value_of(&self, v: &Var) -> Option<Value> {
        self.frames.last()?.registers.get(register_of(v)? as usize)?.clone()
    }

    /// SI.MATCHCAST.FUNC: information with parameters requires a closure, and information with a derivation a packed
    /// function.
    pub(super) fn check_func(&mut self, v: &Value, f: &FuncStructInfo, s: &StructInfo) -> Result<(), Stop> {
        if let (Some(_), Some(func)) = (&f.params, self.prim_func_of(v)) {
            let info = info_of_prim_func(self.cx, &self.prim_funcs_as_module(), &func.func);
            self.is_known(&info, s)?;
        } else if f.params.is_some() {
            let kind = || Stop::error(rule!("SI.MATCHCAST.FUNC.CLOSURE"), format!("expected a closure, found {v}"));
            let closure = v.as_closure().ok_or_else(kind)?.clone();
            self.check_closure(&closure, s)?;
        }
        if f.derive_func.is_some() && !matches!(v, Value::PackedFunc(_)) {
            let message = format!("expected a packed function, found {}", v.category());
            return Err(Stop::error(rule!("SI.MATCHCAST.FUNC.PACKED"), message));
        }
        Ok(())
    }

    /// SI.MATCHCAST.FUNC.RTSI: the run-time information of the closure must match the required one (A19).
    fn check_closure(&mut self, closure: &Closure, s: &StructInfo) -> Result<(), Stop> {
        if self.cx.literal(Erratum::A19) {
            return Ok(());
        }
        let Some(compiled) = &closure.compiled else { return Ok(()) };
        let known = self.with_purity_as_it_counts(&compiled.info);
        self.is_known(&known, s)
    }

    /// The `PrimFunc` of a value, if it may count as a function with parameters.
    ///
    /// Errata: N25, literally it may not.
    fn prim_func_of<'v>(&self, v: &'v Value) -> Option<&'v Rc<PrimFuncObj>> {
        let admitted = self.cx.has(rule!("PRIMFUNC.SI.RESULT")) && !self.cx.literal(Erratum::N25);
        v.as_prim_func().filter(|_| admitted)
    }

    /// The `PrimFunc`s, which may call each other.
    fn prim_funcs_as_module(&self) -> IrModule {
        let all = self.executable.prim_funcs.iter();
        let funcs = all.map(|named| (GlobalVar::new(&named.name), GlobalFunc::PrimFunc(named.func.clone()))).collect();
        IrModule { funcs, ..IrModule::default() }
    }

    fn is_known(&mut self, known: &StructInfo, s: &StructInfo) -> Result<(), Stop> {
        let wanted = self.close_over(s);
        match check_compatibility(self.cx, known, &wanted) {
            Compatibility::Compatible => Ok(()),
            Compatibility::Possibly | Compatibility::Incompatible => {
                let message = format!("the function is {known}, which is not known to be {wanted}");
                Err(Stop::error(rule!("SI.MATCHCAST.FUNC.RTSI"), message))
            }
        }
    }
}
