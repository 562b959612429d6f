//! Calls, and their purity.

use std::fmt;

use rustc_hash::FxHashMap;

use super::TypeChecker;
use crate::book::Erratum;
use crate::derivation::info_of_literal;
use crate::findings::{Complaint, Demand, Finder, TrailStep};
use crate::grammar::{
    AttrValue, Call, DeriveFunc, Expr, FuncType, GlobalFunc, Ndim, Op, PrimStructInfo, StructInfo, Type,
};
use crate::judge::{Cx, is_shared, place, with_stack};
use crate::ops::{self, InferArgs, InferError};
use crate::purity::{PurityCallee, call_is_pure};
use crate::struct_info::{default_derive, empty_derive, wrap_type};
use crate::types::{Conversion, conversion};

/// A part of a call that is checked separately.
enum CheckedCallPart {
    Callee,
    Args,
}

/// The information about variables that an operator's macro receives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum VariableView {
    Derived,
    Erased,
}

/// The name of a type in messages. It is printed only if there is a message.
pub(super) enum NamedType<'t> {
    Scalar(PrimStructInfo),
    Plain(&'t Type),
}

impl fmt::Display for NamedType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NamedType::Scalar(prim) => StructInfo::Prim(prim.clone()).fmt(f),
            NamedType::Plain(ty) => ty.fmt(f),
        }
    }
}

/// Whether information other than a tuple erases to this type or a subtype.
fn says_at_least(info: &StructInfo, ty: &Type) -> bool {
    let rank = |known: Ndim, said: Ndim| said.is_unknown() || known == said;
    if let (StructInfo::Tensor(info), Type::Tensor(ty)) = (info, ty) {
        rank(info.ndim, ty.ndim) && (ty.dtype.is_void() || info.dtype == ty.dtype)
    } else if let (StructInfo::Shape(info), Type::Shape(ty)) = (info, ty) {
        rank(info.ndim, ty.ndim)
    } else {
        matches!(ty, Type::Object)
    }
}

/// The information as far as it agrees with the type, else the type itself, wrapped. Tuples are compared field by
/// field.
fn known_as(cx: &mut Cx, info: &StructInfo, ty: &Type) -> StructInfo {
    known_with(cx, info, ty, &mut FxHashMap::default())
}

/// The same, with a memo of pairs of shared tuples by their addresses.
fn known_with(
    cx: &mut Cx,
    info: &StructInfo,
    ty: &Type,
    known: &mut FxHashMap<(usize, usize), StructInfo>,
) -> StructInfo {
    match (info, ty) {
        (StructInfo::Tuple(fields), Type::Tuple(types)) if fields.len() == types.len() => {
            let places = (place(fields), place(types));
            let shared = is_shared(fields) || is_shared(types);
            if shared && let Some(known) = known.get(&places) {
                return known.clone();
            }
            let parts = fields.iter().zip(types.iter());
            let all = StructInfo::tuple(parts.map(|(field, ty)| with_stack(|| known_with(cx, field, ty, known))));
            if shared {
                known.insert(places, all.clone());
            }
            all
        }
        (info, ty) if says_at_least(info, ty) => info.clone(),
        (_, ty) => wrap_type(cx, ty),
    }
}

/// The number of arguments that a callee takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arity {
    Any,
    Exactly(usize),
}

impl<'m> TypeChecker<'_, 'm> {
    pub(super) fn call(&mut self, call: &'m Call) -> Option<Type> {
        if let Expr::Op(op) = &call.op {
            return self.call_op(call, op);
        }
        // TC.CALL.ORDER: the callee, then the arguments from left to right.
        let (mut callee, mut args) = (None, Vec::new());
        for part in self.cx.conclude(rule!("TC.CALL.ORDER"), [CheckedCallPart::Callee, CheckedCallPart::Args]) {
            match part {
                CheckedCallPart::Callee => callee = self.callee(call),
                CheckedCallPart::Args => args = self.args(call),
            }
        }
        let callee = callee?;
        match &callee {
            Type::PackedFunc => self.call_packed(call, &args),
            Type::Func(func) => self.call_closure(call, func, &args),
            Type::Object | Type::Tensor(_) | Type::Shape(_) | Type::Prim(_) | Type::Tuple(_) => {
                self.call_not_func(call, &callee)
            }
        }
    }

    fn callee(&mut self, call: &'m Call) -> Option<Type> {
        self.at(TrailStep::Field("op"), |c| c.expr(&call.op))
    }

    fn args(&mut self, call: &'m Call) -> Vec<Option<Type>> {
        let args = call.args.iter().enumerate();
        args.map(|(i, arg)| {
            let ty = self.at(TrailStep::Item("args", i), |c| c.expr(arg));
            self.within_bounds(ty, arg.span())
        })
        .collect()
    }

    /// TC.CALL.OP: the result of the operator's macro, erased.
    fn call_op(&mut self, call: &'m Call, op: &'m Op) -> Option<Type> {
        let args = self.args(call);
        let def = ops::lookup(&op.op_name);
        self.purity(call, PurityCallee::Op(def), &op.op_name);
        let Some(def) = def.filter(|def| def.infer.is_some()) else {
            // TYPE.GENERALIZE: without a description, the result of a call is an object.
            let ty = self.cx.conclude(rule!("TYPE.GENERALIZE"), Type::Object);
            return Some(self.cx.conclude(rule!("TC.CALL.OP"), ty));
        };
        let args: Option<Vec<Type>> = args.into_iter().collect();
        let args = args?;
        let infer = |c: &mut Self, view: VariableView| {
            let infos: Vec<StructInfo> =
                args.iter().zip(&call.args).map(|(ty, arg)| c.info_of_arg(arg, ty, view)).collect();
            let known = InferArgs { call, args: &infos, module: Some(c.module) };
            let inferred = def.infer(c.cx, &known);
            c.cx.conclude(rule!("TC.CALL.OP"), inferred)
        };
        // An error about sizes alone is reported by derivation (SI.DERIVE.CALL.OP).
        let inferred = infer(self, VariableView::Derived);
        match inferred.or_else(|told| infer(self, VariableView::Erased).map_err(|_| told)) {
            Ok(info) => Some(self.erase(&info)),
            Err(rejection) => self.rejected(call, op, rejection),
        }
    }

    /// TC.CALL.OP.ERR: a rejection by the macro is a type error of the call.
    fn rejected(&mut self, call: &Call, op: &Op, rejection: InferError) -> Option<Type> {
        let InferError { rule, message, limit, .. } = rejection;
        if limit {
            let message = format!("`{}`: {message}", op.op_name);
            self.complain(rule!("TC.CALL.OP"), call.span, &|| Complaint::limit(&message));
        } else if !self.cx.premise(rule!("TC.CALL.OP.ERR"), 1, false) {
            self.error(rule, call.span, format!("`{}`: {message}", op.op_name));
        }
        None
    }

    /// The information about an argument for the operator's macro. It is exact for a literal, comes from derivation for
    /// a variable, and is the type for any other expression.
    fn info_of_arg(&mut self, arg: &Expr, ty: &Type, view: VariableView) -> StructInfo {
        match (arg, ty) {
            (Expr::Tuple(tuple), Type::Tuple(types)) => {
                let fields = tuple.fields.iter().zip(types.iter());
                let fields: Vec<StructInfo> =
                    fields.map(|(field, ty)| with_stack(|| self.info_of_arg(field, ty, view))).collect();
                StructInfo::tuple(fields)
            }
            _ => match info_of_literal(arg) {
                Some(info) => info,
                None => match view {
                    VariableView::Derived => match self.known_of(arg, ty) {
                        Some(info) => info,
                        None => wrap_type(self.cx, ty),
                    },
                    VariableView::Erased => wrap_type(self.cx, ty),
                },
            },
        }
    }

    /// The type of an expression as messages name it. A boxed scalar has no type of its own and is described instead.
    pub(super) fn named_type<'t>(&self, expr: &Expr, ty: &'t Type) -> NamedType<'t> {
        let known = match expr {
            Expr::Var(var) | Expr::DataflowVar(var) => self.known_here.get(var).copied().cloned(),
            other => info_of_literal(other),
        };
        match known {
            Some(StructInfo::Prim(prim)) if *ty == Type::Object => NamedType::Scalar(prim),
            Some(_) | None => NamedType::Plain(ty),
        }
    }

    /// The information that derivation has about a variable, as far as it agrees with its type.
    fn known_of(&mut self, arg: &Expr, ty: &Type) -> Option<StructInfo> {
        let (Expr::Var(var) | Expr::DataflowVar(var)) = arg else { return None };
        let info = *self.known_here.get(var)?;
        Some(known_as(self.cx, info, ty))
    }

    /// TC.CALL.PACKED.ANY: any arguments are accepted.
    fn call_packed(&mut self, call: &'m Call, args: &[Option<Type>]) -> Option<Type> {
        // Literal A31: the text covers ExternFuncs, but not variables that hold packed functions.
        let spoken_of = !self.cx.literal(Erratum::A31) || matches!(call.op, Expr::ExternFunc(_));
        if spoken_of {
            self.purity(call, PurityCallee::Packed, "a packed function");
        }
        // TC.CALL.PACKED.VALIDATE: the function itself validates its arguments.
        let arity = self.cx.conclude(rule!("TC.CALL.PACKED.ANY"), Arity::Any);
        let arity = self.cx.conclude(rule!("TC.CALL.PACKED.VALIDATE"), arity);
        self.arity_fits(call, arity, args.len());
        // TC.CALL.PACKED.DERIVE. Errata: A21, literally the type arguments decide.
        let derive = self.derive_func(&call.op);
        let by_macro = !self.cx.literal(Erratum::A21) && self.cx.conclude(rule!("TC.CALL.PACKED.DERIVE"), true);
        match derive {
            DeriveFunc::EmptyDerive if by_macro => {
                let info = empty_derive(self.cx);
                Some(self.erase(&info))
            }
            DeriveFunc::Named(_) if by_macro => Some(Type::Object),
            DeriveFunc::DefaultDerive | DeriveFunc::EmptyDerive | DeriveFunc::Named(_) => {
                self.result_of_type_args(call, by_macro)
            }
        }
    }

    /// TC.CALL.PACKED.T0, T1 and TN.
    fn result_of_type_args(&mut self, call: &Call, by_macro: bool) -> Option<Type> {
        let types: Vec<Type> = call.sinfo_args.iter().map(|info| self.erase(info)).collect();
        let described = if by_macro {
            let info = default_derive(self.cx, &call.sinfo_args);
            self.erase(&info)
        } else {
            match types.as_slice() {
                [] => Type::Object,
                [single] => single.clone(),
                [_, _, ..] => Type::tuple(types.clone()),
            }
        };
        // TYPE.GENERALIZE: without a description, the result is an object.
        let described =
            if types.is_empty() { self.cx.conclude(rule!("TYPE.GENERALIZE"), described) } else { described };
        let (rule, conclusion) = match types.as_slice() {
            [] => (rule!("TC.CALL.PACKED.T0"), described),
            [_] => (rule!("TC.CALL.PACKED.T1"), described),
            [_, _, ..] => (rule!("TC.CALL.PACKED.TN"), described),
        };
        Some(self.cx.by_kind(rule, conclusion))
    }

    fn derive_func(&self, callee: &Expr) -> DeriveFunc {
        let known = match callee {
            Expr::Var(var) | Expr::DataflowVar(var) => self.gamma.get(&var).and_then(|entry| entry.derive.clone()),
            _ => None,
        };
        known.unwrap_or(DeriveFunc::DefaultDerive)
    }

    /// How the result of calling a value is derived, as far as that is known without its structural information.
    pub(super) fn derive_func_of_value(&self, value: &Expr) -> Option<DeriveFunc> {
        match value {
            Expr::Var(var) | Expr::DataflowVar(var) => self.gamma.get(&var).and_then(|entry| entry.derive.clone()),
            Expr::ExternFunc(_) => Some(DeriveFunc::DefaultDerive),
            _ => None,
        }
    }

    /// TC.CALL.NOTFUNC.
    fn call_not_func(&mut self, call: &Call, callee: &Type) -> Option<Type> {
        let opaque = matches!(&call.op, Expr::GlobalVar(gv) if matches!(self.module.get(&gv.name), Some(GlobalFunc::PrimFunc(_))));
        // MOD.PRIMFUNC-ONLY-CALLTIR: only call_tir may call a PrimFunc.
        let callable =
            (opaque && self.cx.conclude(rule!("MOD.PRIMFUNC-ONLY-CALLTIR"), false)) || self.usable_object(callee);
        let callee = self.named_type(&call.op, callee);
        self.demand(
            call.span,
            &[(rule!("TC.CALL.NOTFUNC"), 1, callable, &|| {
                Complaint::error(format!("a value of type {callee} is called, which is not a function"))
                    .with_hint("cast the callee to a function type first")
            })],
        );
        None
    }

    /// TC.CALL.RET: the result of a call of a closure, after TC.CALL.ARITY and TC.CALL.ARGS.
    fn call_closure(&mut self, call: &'m Call, func: &FuncType, args: &[Option<Type>]) -> Option<Type> {
        self.purity(call, PurityCallee::Closure { pure: func.pure }, "a function of impure type");
        if !self.arity_fits(call, Arity::Exactly(func.arg_types.len()), args.len()) {
            return Some(func.ret_type.clone());
        }
        for (i, (param, arg)) in func.arg_types.iter().zip(args).enumerate() {
            if let Some(arg) = arg {
                self.at(TrailStep::Item("args", i), |c| c.arg_fits(call, i, arg, param));
            }
        }
        // TC.CALL.TYPEARGS-IGNORED: the type arguments do not matter.
        let ret = self.cx.conclude(rule!("TC.CALL.TYPEARGS-IGNORED"), func.ret_type.clone());
        Some(self.cx.conclude(rule!("TC.CALL.RET"), ret))
    }

    /// TC.CALL.ARITY.
    fn arity_fits(&mut self, call: &Call, arity: Arity, given: usize) -> bool {
        let expected = match arity {
            Arity::Any => return true,
            Arity::Exactly(expected) => expected,
        };
        self.demand(
            call.span,
            &[(rule!("TC.CALL.ARITY"), 1, expected == given, &|| {
                Complaint::error(format!("a function of {expected} parameters is called with {given} arguments"))
            })],
        )
    }

    /// TC.CALL.ARGS: the type of the argument is a subtype of the parameter's type.
    fn arg_fits(&mut self, call: &Call, i: usize, arg: &Type, param: &Type) {
        let step = conversion(self.cx, arg, param);
        // TYPE.OBJECT: every value is an object.
        let fits = step == Conversion::None && (*param != Type::Object || self.cx.conclude(rule!("TYPE.OBJECT"), true));
        let named = call.args.get(i).map_or(NamedType::Plain(arg), |expr| self.named_type(expr, arg));
        let complain = || {
            let message = format!("argument {i} has the type {named}, which is not a subtype of {param}");
            match step {
                Conversion::MatchCast => {
                    Complaint::error(message).with_hint("cast the argument with a match_cast first")
                }
                Conversion::None | Conversion::Unrelated { .. } => Complaint::error(message),
            }
        };
        let span = call.args.get(i).map_or(call.span, Expr::span);
        self.demand(span, &[(rule!("TC.CALL.ARGS"), 1, fits, &complain)]);
    }

    /// TC.DF.FUNC, TC.DF.EXTERN, TC.DF.OP: calls in `DataflowBlock`s are pure. Elsewhere an impure call makes the
    /// function impure.
    fn purity(&mut self, call: &Call, callee: PurityCallee, name: &str) {
        self.purity_attribute(call);
        let pure = call_is_pure(self.cx, callee, call);
        let in_dataflow = match self.frames.last_mut() {
            None => return,
            Some(frame) => {
                frame.pure &= pure;
                frame.in_dataflow > 0
            }
        };
        let demanded =
            in_dataflow && self.cx.fire(rule!("WF.6.IMPURE")) && self.cx.fire(rule!("PURE.IMPURE-NOT-IN-DF"));
        let allowed = pure || !demanded;
        let not_known_to_be_pure = |hint: &str| {
            Complaint::error(format!("a DataflowBlock calls {name}, which is not known to be pure")).with_hint(hint)
        };
        let demand: Demand = match callee {
            PurityCallee::Op(_) => {
                (rule!("TC.DF.OP"), 1, allowed, &|| not_known_to_be_pure("move the call into an ordinary BindingBlock"))
            }
            PurityCallee::Packed => (rule!("TC.DF.EXTERN"), 1, allowed, &|| {
                not_known_to_be_pure("mark the call `pure`, or move it into an ordinary BindingBlock")
            }),
            PurityCallee::Closure { .. } => (rule!("TC.DF.FUNC"), 1, allowed, &|| {
                not_known_to_be_pure("call a pure function, or move the call out of the block")
            }),
        };
        self.demand(call.span, &[demand]);
    }

    /// PURE.ATTR.REPR: the attribute is Boolean.
    fn purity_attribute(&mut self, call: &Call) {
        let Some(value) = call.attrs.get("pure") else { return };
        self.demand(
            call.span,
            &[(rule!("PURE.ATTR.REPR"), 1, matches!(value, AttrValue::Bool(_)), &|| {
                Complaint::error("the attribute `pure` of a call is not a Boolean")
            })],
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::DataType;

    #[test]
    fn a_field_of_which_nothing_is_known_hides_no_other() {
        let known = StructInfo::tensor([2.into(), 3.into()], DataType::FLOAT32);
        let func = StructInfo::func([StructInfo::Object], StructInfo::Object);
        let matrix = Type::tensor(2, DataType::FLOAT32);
        let packed = wrap_type(&mut Cx::new(), &Type::PackedFunc);
        for (field, ty, as_known) in [
            (StructInfo::Object, Type::Object, StructInfo::Object),
            (known.clone(), Type::Object, known.clone()),
            (func, Type::PackedFunc, packed),
        ] {
            let info = StructInfo::tuple([field, StructInfo::tuple([known.clone()])]);
            let ty = Type::tuple([ty, Type::tuple([matrix.clone()])]);
            let expected = StructInfo::tuple([as_known, StructInfo::tuple([known.clone()])]);
            assert_eq!(known_as(&mut Cx::new(), &info, &ty), expected);
        }
    }
}
