//! Translates Relay to Relax. A definition becomes a public function, `let` a binding, `if` a conditional, and a call a
//! call. A polymorphic function becomes a single instance that accepts the arguments of all its types.
//!
//! A value that went through such an instance loses information that Relay has about it. A match cast, which never
//! fails, restores it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::fault::RelayFault;
use super::infer::{InferredProgram, TypeRelation};
use super::locals::Locals;
use super::operators::{self, StepOperand};
use super::tree::{Call, Definition, Expr, ExprKind, Function, If, Param};
use super::types::{Base, ShapeTerm, Type, tensor_info};
use crate::grammar::width::is_mostly_repeated;
use crate::grammar::{
    self as relax, AttrValue, Attrs, Binder, Binding, BindingBlock, BlockKind, Constant, DataType, FuncStructInfo,
    GlobalFunc, GlobalVar, IrModule, MatchCast, Name, PrimExpr, SeqExpr, Span, StructInfo, Tuple, TupleGetItem, Var,
    VarBinding,
};
use crate::judge::{Compatibility, Cx, Once, with_stack};
use crate::normal_form::normalize;
use crate::struct_info::check_compatibility;

/// RELAY.TO_RELAX: the module with the meaning of the program.
///
/// # Errors
///
/// The program has no form in Relax: an argument of an operator may not even be a tensor.
pub fn translate(cx: &mut Cx, inferred: &InferredProgram<'_>) -> Result<IrModule, Vec<RelayFault>> {
    let mut module = IrModule::default();
    let mut faults = Vec::new();
    // A variable is bound once in the whole module.
    let mut numbers = HashMap::new();
    for definition in &inferred.program.definitions {
        let mut translator = Translator { numbers, ..Translator::new(cx, inferred, definition) };
        let function = translator.definition(definition);
        faults.append(&mut translator.faults);
        numbers = translator.numbers;
        let name = GlobalVar { name: definition.name.clone(), span: definition.span };
        module.funcs.push((name, GlobalFunc::Function(Arc::new(function))));
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let module = normalize(&mut cx.unobserved(), &module);
    Ok(cx.conclude(rule!("RELAY.TO_RELAX"), module))
}

struct Translator<'p, 'i, 'c> {
    cx: &'c mut Cx,
    inferred: &'i InferredProgram<'p>,
    /// The structural information of the variables of a polymorphic definition.
    weak: BTreeMap<u32, StructInfo>,
    /// The local variables in scope, with their structural information.
    locals: Locals<(Var, StructInfo)>,
    /// The number of variables of each name.
    numbers: HashMap<Name, u32>,
    faults: Vec<RelayFault>,
}

/// A Relax expression that may be an operand, with its structural information.
type Operated = (relax::Expr, StructInfo);

impl<'p, 'i, 'c> Translator<'p, 'i, 'c> {
    fn new(cx: &'c mut Cx, inferred: &'i InferredProgram<'p>, definition: &Definition) -> Translator<'p, 'i, 'c> {
        let scheme = inferred.schemes.get(&definition.name);
        let relations = scheme.into_iter().flat_map(|scheme| scheme.relations.iter().chain(&scheme.inside));
        let weak = weakest(cx, &relations.collect::<Vec<_>>());
        Translator { cx, inferred, weak, locals: Locals::default(), numbers: HashMap::new(), faults: Vec::new() }
    }

    fn definition(&mut self, definition: &Definition) -> relax::Function {
        let mut attrs: Attrs = definition.function.attrs.clone();
        if let Some(attributes) = &definition.attributes {
            attrs.extend(attributes.values.clone());
        }
        // RELAY.ENV.CONTENTS: the attributes of a definition stay with it.
        let mut attrs = self.cx.conclude(rule!("RELAY.ENV.CONTENTS"), attrs);
        attrs.insert("global_symbol".into(), AttrValue::Str(definition.name.clone()));
        let (function, _) = self.function(&definition.function);
        relax::Function { attrs, span: definition.span, ..function }
    }

    /// A function, with its structural information.
    ///
    /// RELAY.PURE: it has no effect.
    fn function(&mut self, function: &Function) -> (relax::Function, StructInfo) {
        let mark = self.locals.mark();
        let params: Vec<(Binder, StructInfo)> = function.params.iter().map(|param| self.param(param)).collect();
        let result = self.result_of(function);
        let body = self.body(&function.body, &result);
        self.locals.truncate(mark);
        let info = function_info(params.iter().map(|(_, info)| info.clone()), result.clone());
        let pure = self.cx.conclude(rule!("RELAY.PURE"), true);
        let translated = relax::Function {
            params: params.into_iter().map(|(binder, _)| binder).collect(),
            body,
            // A result that is too repetitive is left out, and is inferred instead.
            ret_struct_info: Some(result).filter(|info| !is_mostly_repeated(info)),
            pure: Some(pure),
            attrs: function.attrs.clone(),
            span: Span::NONE,
        };
        (translated, info)
    }

    fn param(&mut self, param: &Param) -> (Binder, StructInfo) {
        let info = self.inferred.type_of(param).map_or(StructInfo::Object, |ty| self.info(&ty));
        let var = self.bind(&param.name, info.clone()).at(param.span);
        (Binder::var(var).annotated(self.said(&info, param.span)), info)
    }

    fn result_of(&mut self, function: &Function) -> StructInfo {
        match self.inferred.type_of(function).or_else(|| self.inferred.type_of(&function.body)) {
            Some(ty) => self.info(&ty),
            None => StructInfo::Object,
        }
    }

    /// A sequence that ends in the value of the expression, with at least the structural information `wanted`.
    fn body(&mut self, body: &Expr, wanted: &StructInfo) -> relax::Expr {
        let mut out = Vec::new();
        let value = self.expr(body, None, &mut out);
        let (value, _) = self.known_as(value, wanted, &mut out);
        sequence(out, value)
    }

    /// The structural information of the values of a type.
    fn info(&mut self, ty: &Type) -> StructInfo {
        self.info_once(ty, &Once::default())
    }

    fn info_once(&mut self, ty: &Type, known: &Once<Type, StructInfo>) -> StructInfo {
        match ty {
            Type::Var(v) => self.weak.get(v).cloned().unwrap_or(StructInfo::Object),
            Type::Param(_) => StructInfo::Object,
            Type::Tensor(base, dims) => self.tensor(base, dims),
            Type::Tuple(fields) => known.of(fields, || StructInfo::tuple(self.infos(fields, known))),
            Type::Function(parts) => known.of(parts, || {
                let mut infos = self.infos(parts, known);
                let result = infos.pop().unwrap_or(StructInfo::Object);
                function_info(infos, result)
            }),
        }
    }

    fn infos(&mut self, types: &[Type], known: &Once<Type, StructInfo>) -> Vec<StructInfo> {
        with_stack(|| types.iter().map(|ty| self.info_once(ty, known)).collect())
    }

    fn tensor(&mut self, base: &Base, dims: &ShapeTerm) -> StructInfo {
        let dtype = match base {
            Base::Known(dtype) => *dtype,
            Base::Var(_) | Base::Param(_) => DataType::VOID,
        };
        match dims {
            ShapeTerm::Known(dims) if dims.contains(&super::tree::RelayDim::Any) => {
                // RELAY.ANY: with an unknown dimension only the rank is known.
                self.cx.conclude(rule!("RELAY.ANY"), tensor_info(dtype, dims))
            }
            ShapeTerm::Known(dims) => tensor_info(dtype, dims),
            ShapeTerm::Var(_) | ShapeTerm::Param(_) => StructInfo::tensor_ndim(-1, dtype),
        }
    }

    /// The structural information as Relax must write it. There it has no shared parts.
    fn said(&mut self, info: &StructInfo, span: Span) -> StructInfo {
        if !is_mostly_repeated(info) {
            return info.clone();
        }
        let message = "its type repeats itself too often to be written in Relax";
        self.faults.push(RelayFault::rule(rule!("RELAY.TO_RELAX"), span, message));
        StructInfo::Object
    }

    /// A new variable for a name of Relay.
    fn bind(&mut self, name: &Name, info: StructInfo) -> Var {
        let var = self.fresh(name);
        self.locals.push(name.clone(), (var.clone(), info));
        var
    }

    /// Relay names may begin with a digit.
    fn fresh(&mut self, name: &str) -> Var {
        let hint: Name = if name.starts_with(|c: char| c.is_ascii_digit()) {
            format!("v{name}").as_str().into()
        } else {
            name.into()
        };
        let number = self.numbers.entry(hint.clone()).or_insert(0);
        let var = Var::numbered(hint, *number);
        *number += 1;
        var
    }

    /// Binds a value to a new variable.
    fn let_be(&mut self, hint: Option<&Name>, value: relax::Expr, span: Span, out: &mut Vec<Binding>) -> relax::Expr {
        let var = self.fresh(hint.map_or("gv", |name| name)).at(span);
        out.push(Binding::VarBinding(VarBinding { var: Binder::var(var.clone()), value, span }));
        relax::Expr::Var(var)
    }

    /// The value of an expression; `hint` names its variable.
    fn expr(&mut self, expr: &Expr, hint: Option<&Name>, out: &mut Vec<Binding>) -> Operated {
        with_stack(|| match &expr.kind {
            ExprKind::Local(name) => self.local(name, expr.span),
            ExprKind::Global(name) => self.global(name, expr.span),
            ExprKind::Operator(name) => (relax::Expr::op(name), StructInfo::Object),
            ExprKind::Constant(data) => {
                let dims = data.shape.iter().map(|size| PrimExpr::IntImm(i64::try_from(*size).unwrap_or(i64::MAX)));
                let info = StructInfo::tensor(dims, data.dtype);
                (relax::Expr::Constant(Constant { data: data.clone(), span: expr.span }), info)
            }
            ExprKind::Tuple(fields) => {
                let fields: Vec<Operated> = fields.iter().map(|field| self.expr(field, None, out)).collect();
                let info = StructInfo::tuple(fields.iter().map(|(_, info)| info.clone()));
                let fields = fields.into_iter().map(|(field, _)| field).collect();
                (relax::Expr::Tuple(Arc::new(Tuple { fields, span: expr.span })), info)
            }
            ExprKind::Project(tuple, index) => self.project(tuple, *index, expr, hint, out),
            ExprKind::Let(bindings, result) => {
                let mark = self.locals.mark();
                for binding in bindings {
                    self.binding(&binding.var, &binding.value, out);
                }
                let value = self.expr(result, hint, out);
                self.locals.truncate(mark);
                value
            }
            ExprKind::If(e) => self.conditional(e, expr, hint, out),
            ExprKind::Function(function) => {
                let (function, info) = self.function(function);
                let function = relax::Function { span: expr.span, ..function };
                self.bind_function(hint, function, info, out)
            }
            ExprKind::Call(call) => self.call(call, expr, hint, out),
        })
    }

    fn local(&mut self, name: &Name, span: Span) -> Operated {
        let found = self.locals.get(name);
        match found {
            Some((var, info)) => (relax::Expr::Var(var.clone().at(span)), info.clone()),
            None => (relax::Expr::Var(Var::new(name).at(span)), StructInfo::Object),
        }
    }

    fn global(&mut self, name: &Name, span: Span) -> Operated {
        let var = relax::Expr::GlobalVar(GlobalVar { name: name.clone(), span });
        (var, self.signature_of(name))
    }

    /// The signature of the single instance of a global function.
    fn signature_of(&mut self, name: &Name) -> StructInfo {
        let Some(definition) = self.inferred.program.get(name) else { return StructInfo::Object };
        let (function, inferred) = (&*definition.function, self.inferred);
        let mut other = Translator::new(self.cx, inferred, definition);
        let params: Vec<StructInfo> = function
            .params
            .iter()
            .map(|param| inferred.type_of(param).map_or(StructInfo::Object, |ty| other.info(&ty)))
            .collect();
        function_info(params, other.result_of(function))
    }

    fn project(
        &mut self,
        tuple: &Expr,
        index: usize,
        expr: &Expr,
        hint: Option<&Name>,
        out: &mut Vec<Binding>,
    ) -> Operated {
        let (tuple_value, info) = self.expr(tuple, None, out);
        let field = info.as_tuple().and_then(|fields| fields.get(index).cloned());
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        let value = relax::Expr::TupleGetItem(Arc::new(TupleGetItem { tuple_value, index, span: expr.span }));
        let value = self.let_be(hint, value, expr.span, out);
        self.as_typed((value, field.unwrap_or(StructInfo::Object)), expr, out)
    }

    fn binding(&mut self, var: &Param, value: &Expr, out: &mut Vec<Binding>) {
        if let ExprKind::Function(function) = &value.kind {
            // It may call itself by the name of its binding.
            let info = self.inferred.type_of(value).map_or(StructInfo::Object, |ty| self.info(&ty));
            let bound = self.bind(&var.name, info).at(var.span);
            let (function, known) = self.function(function);
            let value = relax::Expr::Function(Arc::new(relax::Function { span: value.span, ..function }));
            let mut binder = Binder::var(bound);
            binder.annotation = Some(known).filter(|info| !is_mostly_repeated(info));
            out.push(Binding::VarBinding(VarBinding { var: binder, value, span: var.span }));
            return;
        }
        let (value, info) = self.expr(value, Some(&var.name), out);
        let bound = match value {
            relax::Expr::Var(var) => var,
            leaf => {
                let fresh = self.fresh(&var.name).at(var.span);
                let binder = Binder::var(fresh.clone());
                out.push(Binding::VarBinding(VarBinding { var: binder, value: leaf, span: var.span }));
                fresh
            }
        };
        self.locals.push(var.name.clone(), (bound, info));
    }

    fn conditional(&mut self, e: &If, expr: &Expr, hint: Option<&Name>, out: &mut Vec<Binding>) -> Operated {
        let truth = StructInfo::tensor([], DataType::BOOL);
        let condition = self.expr(&e.condition, None, out);
        let (cond, _) = self.known_as(condition, &truth, out);
        let wanted = self.inferred.type_of(expr).map_or(StructInfo::Object, |ty| self.info(&ty));
        let true_branch = self.branch(&e.then, &wanted);
        let false_branch = self.branch(&e.otherwise, &wanted);
        let value = relax::Expr::If(Arc::new(relax::If { cond, true_branch, false_branch, span: expr.span }));
        (self.let_be(hint, value, expr.span, out), wanted)
    }

    fn branch(&mut self, branch: &Expr, wanted: &StructInfo) -> relax::Expr {
        let mark = self.locals.mark();
        let body = self.body(branch, wanted);
        self.locals.truncate(mark);
        body
    }

    fn call(&mut self, call: &Call, expr: &Expr, hint: Option<&Name>, out: &mut Vec<Binding>) -> Operated {
        if let ExprKind::Operator(name) = &call.callee.kind {
            return self.operator(name, call, expr, hint, out);
        }
        let (op, callee) = self.expr(&call.callee, None, out);
        let unknown = || (None, StructInfo::Object);
        let (params, result) = callee.as_func().map_or_else(unknown, |func| (func.params.clone(), func.ret.clone()));
        let mut args = Vec::new();
        for (i, arg) in call.args.iter().enumerate() {
            let value = self.expr(arg, None, out);
            let wanted = params.as_ref().and_then(|params| params.get(i)).cloned();
            args.push(match wanted {
                Some(wanted) => self.known_as(value, &wanted, out).0,
                None => value.0,
            });
        }
        let value = relax::Call { op, args, sinfo_args: Vec::new(), attrs: Attrs::new(), span: expr.span };
        let value = self.let_be(hint, relax::Expr::Call(Arc::new(value)), expr.span, out);
        self.as_typed((value, result), expr, out)
    }

    fn operator(
        &mut self,
        name: &Name,
        call: &Call,
        expr: &Expr,
        hint: Option<&Name>,
        out: &mut Vec<Binding>,
    ) -> Operated {
        let args: Vec<Operated> = call.args.iter().map(|arg| self.expr(arg, None, out)).collect();
        let ranks: Vec<Option<usize>> = args.iter().map(|(_, info)| operators::rank(info)).collect();
        let unit = (relax::Expr::tuple(Vec::new()), StructInfo::tuple([]));
        let steps = match operators::steps(name, &ranks, &call.attrs) {
            Ok(steps) => steps,
            Err(message) => return self.untranslatable(expr, message),
        };
        let (mut results, last): (Vec<Operated>, usize) = (Vec::new(), steps.len().saturating_sub(1));
        for (i, step) in steps.iter().enumerate() {
            let operands: Vec<Operated> =
                step.operands.iter().map(|operand| operated(operand, &args, &results)).collect();
            let info = match step.infer(&mut self.cx.unobserved(), &operands) {
                Ok(info) => info,
                Err(message) => return self.untranslatable(expr, format!("`{name}`: {message}")),
            };
            let value = step.call(operands.into_iter().map(|(operand, _)| operand).collect(), expr.span);
            let hint = if i == last { hint } else { None };
            let value = self.let_be(hint, relax::Expr::Call(Arc::new(value)), expr.span, out);
            results.push((value, info));
        }
        let value = results.pop().unwrap_or(unit);
        self.as_typed(value, expr, out)
    }

    fn untranslatable(&mut self, expr: &Expr, message: String) -> Operated {
        self.faults.push(RelayFault::rule(rule!("RELAY.TO_RELAX"), expr.span, message));
        (relax::Expr::tuple(Vec::new()), StructInfo::tuple([]))
    }

    /// A value with all the structural information that its Relay type gives.
    fn as_typed(&mut self, value: Operated, expr: &Expr, out: &mut Vec<Binding>) -> Operated {
        match self.inferred.type_of(expr) {
            Some(ty) => {
                let wanted = self.info(&ty);
                self.known_as(value, &wanted, out)
            }
            None => value,
        }
    }

    /// A value with at least the structural information `wanted`. It is the value itself, a match cast of it, or, for
    /// functions and tuples, a new one composed of such parts.
    fn known_as(&mut self, (value, info): Operated, wanted: &StructInfo, out: &mut Vec<Binding>) -> Operated {
        if check_compatibility(&mut self.cx.unobserved(), &info, wanted) == Compatibility::Compatible {
            return (value, info);
        }
        with_stack(|| {
            if let (StructInfo::Func(_), StructInfo::Func(_)) = (&info, wanted) {
                return self.wrapped(value, &info, wanted, out);
            }
            if let (StructInfo::Tuple(given), StructInfo::Tuple(fields)) = (&info, wanted)
                && given.len() == fields.len()
            {
                let mut parts = Vec::new();
                for (i, (given, wanted)) in given.iter().zip(fields.iter()).enumerate() {
                    let field = relax::Expr::tuple_get_item(value.clone(), i64::try_from(i).unwrap_or(i64::MAX));
                    let field = self.let_be(None, field, Span::NONE, out);
                    parts.push(self.known_as((field, given.clone()), wanted, out).0);
                }
                return (relax::Expr::tuple(parts), wanted.clone());
            }
            let var = self.fresh("gv");
            let binder = Some(Binder::var(var.clone()));
            let struct_info = self.said(wanted, Span::NONE);
            let cast = MatchCast { var: binder, struct_info, value, span: Span::NONE };
            out.push(Binding::MatchCast(Box::new(cast)));
            (relax::Expr::Var(var), wanted.clone())
        })
    }

    /// Wraps a function in one with the required parameters and result.
    fn wrapped(
        &mut self,
        value: relax::Expr,
        info: &StructInfo,
        wanted: &StructInfo,
        out: &mut Vec<Binding>,
    ) -> Operated {
        let (StructInfo::Func(inner), StructInfo::Func(outer)) = (info, wanted) else { return (value, info.clone()) };
        let (mut params, mut args, mut body) = (Vec::new(), Vec::new(), Vec::new());
        let given: Vec<StructInfo> = inner.params.as_ref().map(|params| params.to_vec()).unwrap_or_default();
        for (i, known) in outer.params.iter().flat_map(|params| params.iter()).enumerate() {
            let var = self.fresh("x");
            params.push(Binder::var(var.clone()).annotated(self.said(known, Span::NONE)));
            let arg = (relax::Expr::Var(var), known.clone());
            args.push(match given.get(i) {
                Some(wanted) => self.known_as(arg, wanted, &mut body).0,
                None => arg.0,
            });
        }
        let result = self.let_be(None, relax::Expr::call(value, args), Span::NONE, &mut body);
        let (result, _) = self.known_as((result, inner.ret.clone()), &outer.ret, &mut body);
        let pure = Some(true);
        let function = relax::Function {
            params,
            body: sequence(body, result),
            ret_struct_info: Some(outer.ret.clone()).filter(|info| !is_mostly_repeated(info)),
            pure,
            attrs: Attrs::new(),
            span: Span::NONE,
        };
        self.bind_function(None, function, wanted.clone(), out)
    }

    /// Binds a function to a new variable, with its structural information.
    fn bind_function(
        &mut self,
        hint: Option<&Name>,
        function: relax::Function,
        info: StructInfo,
        out: &mut Vec<Binding>,
    ) -> Operated {
        let span = function.span;
        let var = self.fresh(hint.map_or("fn", |name| name)).at(span);
        let (value, mut binder) = (relax::Expr::Function(Arc::new(function)), Binder::var(var.clone()));
        binder.annotation = Some(info.clone()).filter(|info| !is_mostly_repeated(info));
        out.push(Binding::VarBinding(VarBinding { var: binder, value, span }));
        (relax::Expr::Var(var), info)
    }
}

/// The structural information of a function. Like every Relay function it is pure (`RELAY.PURE`).
fn function_info(params: impl IntoIterator<Item = StructInfo>, ret: StructInfo) -> StructInfo {
    let params = Some(params.into_iter().collect());
    StructInfo::Func(Arc::new(FuncStructInfo { params, ret, derive_func: None, pure: Some(true) }))
}

fn operated(operand: &StepOperand, args: &[Operated], results: &[Operated]) -> Operated {
    let of = |values: &[Operated], i: usize| {
        values.get(i).cloned().unwrap_or_else(|| (relax::Expr::tuple(Vec::new()), StructInfo::Object))
    };
    match operand {
        StepOperand::Arg(i) => of(args, *i),
        StepOperand::Step(i) => of(results, *i),
        StepOperand::Shape(sizes) => {
            let dims = || sizes.iter().copied().map(PrimExpr::IntImm);
            (relax::Expr::shape(dims()), StructInfo::shape(dims()))
        }
    }
}

fn sequence(bindings: Vec<Binding>, body: relax::Expr) -> relax::Expr {
    let blocks = match bindings.is_empty() {
        true => Vec::new(),
        false => vec![BindingBlock { kind: BlockKind::Binding, bindings, span: Span::NONE }],
    };
    relax::Expr::SeqExpr(Arc::new(SeqExpr { blocks, body, span: Span::NONE }))
}

/// The least structural information with which the operators of a polymorphic definition apply. An argument is a
/// tensor, and a result is the operator's result for such arguments.
///
/// The parameter of a recursive function may itself be the result of an operator. If no other result gives information
/// about such an argument, it is a tensor too.
fn weakest(cx: &mut Cx, relations: &[&TypeRelation]) -> BTreeMap<u32, StructInfo> {
    let mut weak: BTreeMap<u32, StructInfo> = BTreeMap::new();
    let results: Vec<u32> = relations.iter().filter_map(|relation| variable(&relation.result)).collect();
    let args = || relations.iter().flat_map(|relation| relation.args.iter().filter_map(variable));
    for var in args().filter(|var| !results.contains(var)) {
        weak.insert(var, some_tensor());
    }
    propagate(cx, relations, &results, &mut weak);
    let unknown: Vec<u32> = args().filter(|var| !weak.contains_key(var)).collect();
    if !unknown.is_empty() {
        weak.extend(unknown.into_iter().map(|var| (var, some_tensor())));
        propagate(cx, relations, &results, &mut weak);
    }
    weak
}

fn some_tensor() -> StructInfo {
    StructInfo::tensor_ndim(-1, DataType::VOID)
}

/// Computes the results of operators from the structural information of their arguments.
fn propagate(cx: &mut Cx, relations: &[&TypeRelation], results: &[u32], weak: &mut BTreeMap<u32, StructInfo>) {
    let mut cx = cx.unobserved();
    for _ in relations {
        for relation in relations {
            let Some(result) = variable(&relation.result) else { continue };
            let known: Vec<StructInfo> = relation.args.iter().map(|arg| weak_info(arg, weak)).collect();
            if let Ok(info) = operators::relation(&mut cx, &relation.name, &relation.attrs, &known) {
                weak.insert(result, info);
            }
        }
        if results.iter().all(|var| weak.contains_key(var)) {
            break;
        }
    }
}

fn variable(ty: &Type) -> Option<u32> {
    if let Type::Var(v) = ty { Some(*v) } else { None }
}

fn weak_info(ty: &Type, weak: &BTreeMap<u32, StructInfo>) -> StructInfo {
    weak_info_once(ty, weak, &Once::default())
}

fn weak_info_once(ty: &Type, weak: &BTreeMap<u32, StructInfo>, known: &Once<Type, StructInfo>) -> StructInfo {
    match ty {
        Type::Var(v) => weak.get(v).cloned().unwrap_or(StructInfo::Object),
        Type::Tensor(Base::Known(dtype), ShapeTerm::Known(dims)) => tensor_info(*dtype, dims),
        Type::Tensor(Base::Known(dtype), _) => StructInfo::tensor_ndim(-1, *dtype),
        Type::Tensor(_, ShapeTerm::Known(dims)) => tensor_info(DataType::VOID, dims),
        Type::Tensor(..) => StructInfo::tensor_ndim(-1, DataType::VOID),
        Type::Tuple(fields) => known.of(fields, || {
            let of = |field: &Type| weak_info_once(field, weak, known);
            StructInfo::tuple(with_stack(|| fields.iter().map(of).collect::<Vec<_>>()))
        }),
        Type::Param(_) | Type::Function(_) => StructInfo::Object,
    }
}
