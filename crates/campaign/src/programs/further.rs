//! Constructs of later editions that campaigns do not ask about: strings and data types as values, direct calls of
//! `PrimFunc`s, conditions and parameters that are not tensors, and tensors on a device.

use std::sync::Arc;

use super::draw::{PARAMS, ProgramGenerator};
use super::prim_funcs::CallForm;
use crate::generate::nodes::{call_with, dims_of, dtype_of, global_var, text};
use crate::generate::scope::{Scope, ScopeValue};
use relax_spec::book::Edition;
use relax_spec::grammar::{
    AttrValue, Attrs, Binder, Binding, DataType, DataTypeImm, Expr, FuncStructInfo, Function, GlobalFunc, IrModule,
    Span, StructInfo, Target, TensorStructInfo, VDevice,
};

/// One of this many programs is on a device.
const PLACED: usize = 4;

impl ProgramGenerator<'_> {
    /// Whether programs have the constructs of this module.
    pub(super) fn is_further(&self) -> bool {
        self.source.restriction.further && self.source.edition() >= Edition::E2023_12
    }

    /// Whether direct calls of `PrimFunc`s may be pure, and conditions need not be tensors.
    fn judges_prim_funcs(&self) -> bool {
        self.source.edition() >= Edition::E2024_04
    }

    pub(super) fn further_value(&mut self, scope: &mut Scope) -> Option<ScopeValue> {
        match self.tape.choose(5) {
            0 => Some(ScopeValue::new(text("text"), StructInfo::Object, None)),
            1 => {
                let literal = DataTypeImm { value: DataType::FLOAT32, span: Span::NONE };
                Some(ScopeValue::new(Expr::DataTypeImm(literal), StructInfo::Object, None))
            }
            2 => self.comparison(scope),
            3 if scope.is_impure() => {
                let vector = self.pick(scope, |value| {
                    dtype_of(&value.info) == Some(DataType::FLOAT32)
                        && dims_of(&value.info).is_some_and(|d| d.len() == 1)
                })?;
                self.call_directly(CallForm::InPlace, vector.expr, StructInfo::tuple([]))
            }
            _ => self.call_on_number(scope),
        }
    }

    fn call_on_number(&mut self, scope: &mut Scope) -> Option<ScopeValue> {
        if !self.judges_prim_funcs() && !scope.is_impure() {
            return None;
        }
        let number = self.boxed(scope, DataType::INT64)?;
        match self.judges_prim_funcs() && self.tape.one_in(2) {
            true => self.call_directly(CallForm::GivesNumber, number, StructInfo::prim(DataType::INT64)),
            false => self.call_directly(CallForm::GivesNothing, number, StructInfo::tuple([])),
        }
    }

    fn call_directly(&mut self, form: CallForm, arg: Expr, info: StructInfo) -> Option<ScopeValue> {
        let at = self.source.prim_funcs.iter().position(|template| template.form == form)?;
        self.calls_prim_func(at);
        let callee = global_var(self.source.prim_funcs.get(at)?.name);
        Some(ScopeValue::new(Expr::call(callee, vec![arg]), info, None))
    }

    /// A boxed scalar that is in scope, or a new parameter.
    fn boxed(&mut self, scope: &mut Scope, dtype: DataType) -> Option<Expr> {
        let is_box = |value: &ScopeValue| value.info.as_prim().is_some_and(|prim| prim.dtype == dtype);
        if let Some(known) = self.pick(scope, is_box) {
            return Some(known.expr);
        }
        if !scope.grows || scope.params().len() >= PARAMS {
            return None;
        }
        let param = Binder::var(self.fresh("x"));
        scope.push(ScopeValue::param(&param, StructInfo::prim(dtype), None));
        Some(param.to_expr())
    }

    /// A boxed truth value, or a condition on shape variables.
    pub(super) fn further_condition(&mut self, scope: &mut Scope) -> Option<Expr> {
        if !self.judges_prim_funcs() || !self.tape.one_in(2) {
            return None;
        }
        match self.tape.choose(2) {
            0 => self.comparison(scope).map(|value| value.expr),
            _ => self.boxed(scope, DataType::BOOL),
        }
    }

    /// Sometimes the module lists a device, and all tensors are on it.
    pub(super) fn place_on_a_device(&mut self, module: &mut IrModule) {
        // Constants are moved to the device where they are used.
        if !self.is_further() || !self.on.nested || !self.tape.one_in(PLACED) {
            return;
        }
        module.global_infos.insert("vdevice".into(), AttrValue::List(vec![device().to_attr()]));
        for (_, func) in &mut module.funcs {
            if let GlobalFunc::Function(function) = func {
                let function = Arc::make_mut(function);
                place_signature(function);
                place(&mut function.body);
            }
        }
    }
}

fn device() -> VDevice {
    let config = Attrs::from([("kind".into(), AttrValue::Str("llvm".into()))]);
    VDevice { target: Target::Config(config), dev_id: 0, mem_scope: "global".into() }
}

fn place_signature(function: &mut Function) {
    function.params.iter_mut().for_each(place_binder);
    function.ret_struct_info.iter_mut().for_each(|info| *info = placed(info));
}

fn place_binder(binder: &mut Binder) {
    binder.annotation.iter_mut().for_each(|info| *info = placed(info));
}

fn place(expr: &mut Expr) {
    if let Expr::Constant(_) = expr {
        let attrs = Attrs::from([("dst_vdevice".into(), AttrValue::Str("llvm:0".into()))]);
        *expr = call_with(Expr::op("relax.to_vdevice"), vec![expr.clone()], Vec::new(), attrs);
        return;
    }
    if let Expr::Function(function) = expr {
        place_signature(Arc::make_mut(function));
    } else if let Expr::Call(call) = expr {
        Arc::make_mut(call).sinfo_args.iter_mut().for_each(|info| *info = placed(info));
    } else if let Expr::SeqExpr(seq) = expr {
        let seq = Arc::make_mut(seq);
        seq.blocks.iter_mut().flat_map(|block| &mut block.bindings).for_each(place_binding);
        place(&mut seq.body);
    }
    expr.parts_mut().into_iter().for_each(place);
}

fn place_binding(binding: &mut Binding) {
    match binding {
        Binding::VarBinding(binding) => {
            place_binder(&mut binding.var);
            place(&mut binding.value);
        }
        Binding::MatchCast(cast) => {
            cast.var.iter_mut().for_each(place_binder);
            cast.struct_info = placed(&cast.struct_info);
            place(&mut cast.value);
        }
    }
}

/// The information about tensors, with the device of all of them.
fn placed(info: &StructInfo) -> StructInfo {
    match info {
        StructInfo::Tensor(tensor) => {
            StructInfo::Tensor(TensorStructInfo { vdevice: Some(Arc::new(device())), ..tensor.clone() })
        }
        StructInfo::Tuple(fields) => StructInfo::tuple(fields.iter().map(placed)),
        StructInfo::Func(func) => StructInfo::Func(Arc::new(FuncStructInfo {
            params: func.params.as_ref().map(|params| params.iter().map(placed).collect()),
            ret: placed(&func.ret),
            ..(**func).clone()
        })),
        StructInfo::Object | StructInfo::Shape(_) | StructInfo::Prim(_) => info.clone(),
    }
}
