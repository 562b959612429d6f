//! The most general types of a program.
//!
//! Types are found by unification. The type relation of an operator gives the result of a call as soon as the argument
//! types are known. Argument types that come from unrestricted parameters are never known. The relation then becomes
//! part of the type of the definition, and every call must satisfy it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::fault::RelayFault;
use super::locals::Locals;
use super::operators;
use super::print::type_text;
use super::tree::{
    BaseType, Call, Definition, Expr, ExprKind, Function, If, Kind, Param, Program, RelayDim, RelayNotation, Shape,
    TypeExpr, TypeKind, TypeParam,
};
use super::types::{Base, SchemeInstance, ShapeTerm, Table, Type, Variable, VariableNames, join};
use crate::grammar::{Attrs, DataType, Name, Span};
use crate::judge::{Cx, with_stack};

/// A program with its inferred types.
#[derive(Debug)]
pub struct InferredProgram<'p> {
    pub(super) program: &'p Program,
    table: Table,
    pub(super) schemes: BTreeMap<Name, Scheme>,
    types: HashMap<usize, Type>,
    /// The faults.
    pub faults: Vec<RelayFault>,
}

/// The type of a definition, for all meanings of its variables.
#[derive(Clone, Debug)]
pub(super) struct Scheme {
    pub(super) ty: Type,
    quantified: BTreeSet<Variable>,
    params: BTreeMap<Name, Kind>,
    /// The relations that each use must satisfy.
    pub(super) relations: Vec<TypeRelation>,
    /// The relations that each use of a polymorphic literal inside it must satisfy.
    pub(super) inside: Vec<TypeRelation>,
}

/// The type of a local variable or a literal.
#[derive(Clone)]
enum Known {
    /// A single type.
    Of(Type),
    /// A function literal with type parameters, which has a type of its own in each use.
    General(Box<Scheme>),
}

/// The relation of an operator between the types of these arguments and that of the result.
#[derive(Clone, Debug)]
pub(super) struct TypeRelation {
    pub(super) name: Name,
    pub(super) attrs: Attrs,
    pub(super) args: Vec<Type>,
    pub(super) result: Type,
    span: Span,
}

impl Known {
    /// Its type, in terms of its type parameters.
    fn ty(&self) -> &Type {
        match self {
            Known::Of(ty) => ty,
            Known::General(scheme) => &scheme.ty,
        }
    }
}

/// Infers the types of a program with resolved identifiers.
pub fn infer<'p>(cx: &mut Cx, program: &'p Program) -> InferredProgram<'p> {
    let mut inference = Inference {
        cx,
        program,
        table: Table::default(),
        schemes: BTreeMap::new(),
        types: HashMap::new(),
        faults: Vec::new(),
        locals: Locals::default(),
        kinds: BTreeMap::new(),
        pending: Vec::new(),
        inside: Vec::new(),
        open: BTreeMap::new(),
    };
    for group in groups(program) {
        inference.group(&group);
    }
    let Inference { table, schemes, types, mut faults, .. } = inference;
    if table.is_too_much() {
        faults = vec![RelayFault::syntax(Span::NONE, "the types of the program have too many parts to be found")];
    }
    faults.sort_by_key(|fault| fault.span.start);
    InferredProgram { program, table, schemes, types, faults }
}

/// The address of a node, which is stable while the program is borrowed.
fn address<T>(node: &T) -> usize {
    std::ptr::from_ref(node) as usize
}

struct Inference<'p, 'c> {
    cx: &'c mut Cx,
    program: &'p Program,
    table: Table,
    schemes: BTreeMap<Name, Scheme>,
    types: HashMap<usize, Type>,
    faults: Vec<RelayFault>,
    locals: Locals<Known>,
    /// The type parameters in scope.
    kinds: BTreeMap<Name, Kind>,
    pending: Vec<TypeRelation>,
    /// The relations that uses of the polymorphic literals in the current definitions must satisfy.
    inside: Vec<TypeRelation>,
    /// The types of the current definitions, which are not general yet.
    open: BTreeMap<Name, Type>,
}

impl<'p> Inference<'p, '_> {
    /// Infers definitions that call each other together.
    fn group(&mut self, group: &[&'p Definition]) {
        for definition in group {
            let function = &*definition.function;
            self.kinds = kinds_of(&function.type_params);
            let ty = self.signature(function);
            if is_annotated(function) {
                self.schemes.insert(definition.name.clone(), self.declared(function, ty.clone()));
            }
            self.open.insert(definition.name.clone(), ty);
        }
        for definition in group {
            self.kinds = kinds_of(&definition.function.type_params);
            if let Some(ty) = self.open.get(&definition.name).cloned() {
                self.function(&definition.function, &ty);
            }
        }
        self.solve();
        let (relations, inside) = (std::mem::take(&mut self.pending), std::mem::take(&mut self.inside));
        for definition in group {
            if let Some(ty) = self.open.remove(&definition.name) {
                let inside = inside.iter().map(|relation| self.resolved(relation)).collect();
                let scheme = Scheme { inside, ..self.general(&definition.function, &ty, &relations) };
                self.schemes.insert(definition.name.clone(), scheme);
            }
        }
    }

    fn declared(&self, function: &Function, ty: Type) -> Scheme {
        let params = kinds_of(&function.type_params);
        Scheme { ty, quantified: BTreeSet::new(), params, relations: Vec::new(), inside: Vec::new() }
    }

    /// RELAY.INFER.GENERAL: an unrestricted type variable may be any type.
    fn general(&mut self, function: &Function, ty: &Type, relations: &[TypeRelation]) -> Scheme {
        let ty = self.table.resolve(ty);
        let mut quantified = BTreeSet::new();
        ty.variables(&mut quantified);
        let relations: Vec<TypeRelation> = relations.iter().map(|relation| self.resolved(relation)).collect();
        for relation in &relations {
            relation.args.iter().chain([&relation.result]).for_each(|ty| ty.variables(&mut quantified));
        }
        if !quantified.is_empty() {
            quantified = self.cx.conclude(rule!("RELAY.INFER.GENERAL"), quantified);
        }
        Scheme { ty, quantified, params: kinds_of(&function.type_params), relations, inside: Vec::new() }
    }

    fn resolved(&self, relation: &TypeRelation) -> TypeRelation {
        TypeRelation {
            args: relation.args.iter().map(|arg| self.table.resolve(arg)).collect(),
            result: self.table.resolve(&relation.result),
            ..relation.clone()
        }
    }

    /// The type of a function, as far as it is annotated.
    fn signature(&mut self, function: &Function) -> Type {
        let params: Vec<Type> = function.params.iter().map(|param| self.annotated(param.annotation.as_ref())).collect();
        let result = self.annotated(function.result.as_ref());
        Type::function(params, result)
    }

    fn annotated(&mut self, annotation: Option<&TypeExpr>) -> Type {
        match annotation {
            Some(written) => self.written(written),
            None => self.table.var(),
        }
    }

    /// The type for a written type.
    fn written(&mut self, ty: &TypeExpr) -> Type {
        with_stack(|| match &ty.kind {
            TypeKind::Tensor(tensor) => {
                let base = match &tensor.base {
                    BaseType::Known(dtype) => Base::Known(*dtype),
                    BaseType::Param(name) => {
                        self.of_kind(name, Kind::BaseType, ty.span);
                        Base::Param(name.clone())
                    }
                };
                let dims = match &tensor.shape {
                    Shape::Dims(dims) => ShapeTerm::Known(dims.clone()),
                    Shape::Param(name) => {
                        self.of_kind(name, Kind::Shape, ty.span);
                        ShapeTerm::Param(name.clone())
                    }
                };
                Type::Tensor(base, dims)
            }
            TypeKind::Param(name) => {
                self.of_kind(name, Kind::Type, ty.span);
                Type::Param(name.clone())
            }
            TypeKind::Tuple(fields) => Type::tuple(fields.iter().map(|field| self.written(field))),
            TypeKind::Function(params, result) => {
                let params: Vec<Type> = params.iter().map(|param| self.written(param)).collect();
                Type::function(params, self.written(result))
            }
        })
    }

    /// RELAY.KINDS: a type parameter has the kind that its place requires. RELAY.TYPE.TENSOR: a name that is neither a
    /// type parameter nor a base type is not a type.
    fn of_kind(&mut self, name: &Name, wanted: Kind, span: Span) {
        let known = self.kinds.get(name).copied();
        if !self.cx.premise(rule!("RELAY.TYPE.TENSOR"), 1, known.is_some()) {
            let message = format!("`{name}` is neither a {} nor a type parameter", wanted.name());
            self.faults.push(RelayFault::rule(rule!("RELAY.TYPE.TENSOR"), span, message));
        }
        if let Some(kind) = known
            && !self.cx.premise(rule!("RELAY.KINDS"), 1, kind == wanted)
        {
            let message = format!("`{name}` is of kind {}, and a {} is wanted", kind.name(), wanted.name());
            self.faults.push(RelayFault::rule(rule!("RELAY.KINDS"), span, message));
        }
    }

    /// Checks the body of a function against its signature.
    fn function(&mut self, function: &'p Function, signature: &Type) {
        let Some((result, params)) = signature.signature() else { return };
        let mark = self.locals.mark();
        for (param, ty) in function.params.iter().zip(params) {
            self.bind(param, ty);
        }
        let body = self.expr(&function.body);
        let agrees = self.table.unify(&body, result);
        match &function.result {
            Some(annotation) => {
                if !self.cx.premise(rule!("RELAY.DEF.RESTRICT"), 1, agrees) {
                    let message = format!("the body is {}, the result {}", self.told(&body), self.told(result));
                    let fault = RelayFault::rule(rule!("RELAY.DEF.RESTRICT"), function.body.span, message);
                    self.faults.push(fault.and(annotation.span, "which is annotated"));
                }
            }
            None => self.inferred_result(function, result, agrees),
        }
        self.locals.truncate(mark);
    }

    /// RELAY.INFER.RET: a missing result type is that of the body. RELAY.POLY.RET: the same holds for a definition with
    /// type parameters.
    fn inferred_result(&mut self, function: &Function, result: &Type, agrees: bool) {
        let rule = if function.type_params.is_empty() { rule!("RELAY.INFER.RET") } else { rule!("RELAY.POLY.RET") };
        let known = self.table.resolve(result);
        let concluded = self.cx.conclude(rule, known);
        self.types.insert(address(function), concluded);
        if !self.cx.premise(rule!("RELAY.INFER.RET"), 1, agrees) {
            let message = format!("calls of the function expect {}, the body is something else", self.told(result));
            self.faults.push(RelayFault::rule(rule!("RELAY.INFER.RET"), function.body.span, message));
        }
    }

    fn bind(&mut self, param: &Param, ty: &Type) {
        self.types.insert(address(param), ty.clone());
        self.locals.push(param.name.clone(), Known::Of(ty.clone()));
    }

    fn expr(&mut self, expr: &'p Expr) -> Type {
        if self.table.is_too_much() {
            return self.table.var();
        }
        let ty = with_stack(|| match &expr.kind {
            ExprKind::Local(name) => {
                let found = self.locals.get(name).cloned();
                match found {
                    Some(known) => self.used(known, expr.span),
                    None => self.table.var(),
                }
            }
            ExprKind::Global(name) => self.global(name, expr.span),
            ExprKind::Operator(_) => self.table.var(),
            ExprKind::Constant(data) => {
                let size = |size: &u64| RelayDim::Known(i64::try_from(*size).unwrap_or(i64::MAX));
                Type::Tensor(Base::Known(data.dtype), ShapeTerm::Known(data.shape.iter().map(size).collect()))
            }
            ExprKind::Tuple(fields) => Type::tuple(fields.iter().map(|field| self.expr(field))),
            ExprKind::Project(tuple, index) => self.project(tuple, *index, expr.span),
            ExprKind::Let(bindings, result) => {
                let mark = self.locals.mark();
                for binding in bindings {
                    self.binding(&binding.var, &binding.value);
                }
                let result = self.expr(result);
                self.locals.truncate(mark);
                result
            }
            ExprKind::If(e) => self.conditional(e),
            ExprKind::Function(function) => {
                let known = self.literal(function, None);
                self.used(known, expr.span)
            }
            ExprKind::Call(call) => self.call(call, expr.span),
        });
        self.types.insert(address(expr), ty.clone());
        ty
    }

    /// Infers a function literal; `own` is the name of its binding, by which it may call itself.
    fn literal(&mut self, function: &'p Function, own: Option<&Name>) -> Known {
        if function.type_params.is_empty() {
            return Known::Of(self.literal_as_written(function, own));
        }
        let outside = std::mem::take(&mut self.pending);
        let ty = self.literal_as_written(function, own);
        self.solve();
        let inside = std::mem::replace(&mut self.pending, outside);
        Known::General(Box::new(self.general_literal(function, &ty, &inside)))
    }

    /// RELAY.POLY: the scheme of a literal with type parameters. `inside` are the relations from its body. Types of the
    /// variables around it are the same in all uses.
    fn general_literal(&mut self, function: &Function, ty: &Type, inside: &[TypeRelation]) -> Scheme {
        let mut around = BTreeSet::new();
        for known in self.locals.all() {
            match known {
                Known::Of(ty) => self.table.resolve(ty).variables(&mut around),
                Known::General(scheme) => {
                    let mut its = BTreeSet::new();
                    self.table.resolve(&scheme.ty).variables(&mut its);
                    around.extend(&its - &scheme.quantified);
                }
            }
        }
        self.open.values().for_each(|ty| self.table.resolve(ty).variables(&mut around));
        let mut scheme = self.general(function, ty, inside);
        scheme.quantified = &scheme.quantified - &around;
        self.inside.extend(scheme.relations.iter().cloned());
        scheme
    }

    /// The type of a local variable or of a literal in one use.
    fn used(&mut self, known: Known, span: Span) -> Type {
        match known {
            Known::Of(ty) => ty,
            Known::General(scheme) => self.instance(&scheme, span),
        }
    }

    /// The type of a literal inside its own body.
    fn literal_as_written(&mut self, function: &'p Function, own: Option<&Name>) -> Type {
        let (outer, mark) = (self.kinds.clone(), self.locals.mark());
        self.kinds.extend(kinds_of(&function.type_params));
        let signature = self.signature(function);
        if let Some(own) = own {
            self.locals.push(own.clone(), Known::Of(signature.clone()));
        }
        self.function(function, &signature);
        self.locals.truncate(mark);
        self.kinds = outer;
        signature
    }

    fn binding(&mut self, var: &'p Param, value: &'p Expr) {
        let annotation = var.annotation.as_ref().map(|written| self.written(written));
        let ty = match &value.kind {
            ExprKind::Function(function) => {
                let known = self.literal(function, Some(&var.name));
                self.types.insert(address(value), known.ty().clone());
                if annotation.is_none() && matches!(known, Known::General(_)) {
                    self.locals.push(var.name.clone(), known);
                    return;
                }
                self.used(known, value.span)
            }
            _ => self.expr(value),
        };
        if let (Some(annotation), Some(written)) = (&annotation, &var.annotation)
            && let agrees = self.table.unify(&ty, annotation)
            && !self.cx.premise(rule!("RELAY.DEF.RESTRICT"), 2, agrees)
        {
            let message = format!("%{} is bound to {}", var.name, self.told(&ty));
            let fault = RelayFault::rule(rule!("RELAY.DEF.RESTRICT"), value.span, message);
            self.faults.push(fault.and(written.span, format!("it is annotated with {}", self.told(annotation))));
        }
        self.bind(var, annotation.as_ref().unwrap_or(&ty));
    }

    /// RELAY.FEATURES: the condition is a truth value, and both branches have the same type.
    fn conditional(&mut self, e: &'p If) -> Type {
        let condition = self.expr(&e.condition);
        let is_truth = self.table.unify(&condition, &Type::scalar(DataType::BOOL));
        if !self.cx.premise(rule!("RELAY.FEATURES"), 1, is_truth) {
            let message = format!("the condition is {}, and no truth value", self.told(&condition));
            self.faults.push(RelayFault::rule(rule!("RELAY.FEATURES"), e.condition.span, message));
        }
        let (then, otherwise) = (self.expr(&e.then), self.expr(&e.otherwise));
        let agree = self.table.unify(&then, &otherwise);
        if !self.cx.premise(rule!("RELAY.FEATURES"), 2, agree) {
            let (this, that) = (self.told(&then), self.told(&otherwise));
            let fault = RelayFault::rule(
                rule!("RELAY.FEATURES"),
                e.then.span,
                format!("one branch is {this}, the other {that}"),
            );
            self.faults.push(fault.and(e.otherwise.span, "which stands"));
        }
        join(&self.table.resolve(&then), &self.table.resolve(&otherwise))
    }

    fn project(&mut self, tuple: &'p Expr, index: usize, span: Span) -> Type {
        let ty = self.expr(tuple);
        let mut known = self.table.resolve(&ty);
        if matches!(known, Type::Var(_)) {
            self.solve();
            known = self.table.resolve(&ty);
        }
        let field = if let Type::Tuple(fields) = &known { fields.get(index).cloned() } else { None };
        if !self.cx.premise(rule!("RELAY.FEATURES"), 3, field.is_some()) {
            let message = format!("{} has no field {index}", self.told(&known));
            self.faults.push(RelayFault::rule(rule!("RELAY.FEATURES"), span, message));
        }
        field.unwrap_or_else(|| self.table.var())
    }

    /// RELAY.POLY: each use of a polymorphic definition has types of its own.
    fn global(&mut self, name: &Name, span: Span) -> Type {
        if let Some(scheme) = self.schemes.get(name).cloned() {
            return self.instance(&scheme, span);
        }
        self.open.get(name).cloned().unwrap_or_else(|| self.table.var())
    }

    fn instance(&mut self, scheme: &Scheme, span: Span) -> Type {
        let params = match scheme.params.is_empty() {
            true => scheme.params.clone(),
            false => self.cx.conclude(rule!("RELAY.POLY"), scheme.params.clone()),
        };
        let mut instance = SchemeInstance::new(&mut self.table, &scheme.quantified, &params);
        let ty = instance.of(&scheme.ty);
        for relation in &scheme.relations {
            let args = relation.args.iter().map(|arg| instance.of(arg)).collect();
            let result = instance.of(&relation.result);
            self.pending.push(TypeRelation { args, result, span, ..relation.clone() });
        }
        ty
    }

    fn call(&mut self, call: &'p Call, span: Span) -> Type {
        if let ExprKind::Operator(name) = &call.callee.kind {
            let args = call.args.iter().map(|arg| self.expr(arg)).collect();
            let result = self.table.var();
            let relation = TypeRelation { name: name.clone(), attrs: call.attrs.clone(), args, result, span };
            let result = relation.result.clone();
            self.pending.push(relation);
            self.solve();
            return self.table.resolve(&result);
        }
        let callee = self.expr(&call.callee);
        let args: Vec<Type> = call.args.iter().map(|arg| self.expr(arg)).collect();
        let callee = self.table.resolve(&callee);
        match callee.signature() {
            Some((result, params)) => {
                self.arguments(call, params, &args, span);
                self.solve();
                self.table.resolve(result)
            }
            None => {
                let result = self.table.var();
                let wanted = Type::function(args, result.clone());
                let callable = self.table.unify(&callee, &wanted);
                if !self.cx.premise(rule!("RELAY.FIRSTCLASS"), 1, callable) {
                    let message = format!("{} is called, and no function", self.told(&callee));
                    self.faults.push(RelayFault::rule(rule!("RELAY.FIRSTCLASS"), call.callee.span, message));
                }
                self.table.resolve(&result)
            }
        }
    }

    /// RELAY.DEF.RESTRICT: a function only takes arguments of the types of its parameters.
    fn arguments(&mut self, call: &'p Call, params: &[Type], args: &[Type], span: Span) {
        let as_many = params.len() == args.len();
        if !self.cx.premise(rule!("RELAY.DEF.RESTRICT"), 3, as_many) {
            let message = format!("the function takes {} arguments, there are {}", params.len(), args.len());
            let fault = RelayFault::rule(rule!("RELAY.DEF.RESTRICT"), span, message);
            self.faults.push(fault.and(self.place_of(call, None), "it is defined"));
        }
        for (i, (param, arg)) in params.iter().zip(args).enumerate() {
            let agrees = self.table.unify(arg, param);
            if !self.cx.premise(rule!("RELAY.DEF.RESTRICT"), 4, agrees) {
                let (given, wanted) = (self.told(arg), self.told(param));
                let place = call.args.get(i).map_or(span, |arg| arg.span);
                let fault = RelayFault::rule(
                    rule!("RELAY.DEF.RESTRICT"),
                    place,
                    format!("argument {i} is {given}, the parameter is {wanted}"),
                );
                self.faults.push(fault.and(self.place_of(call, Some(i)), "which stands"));
            }
        }
    }

    /// The position of the called definition, or of one of its parameters.
    fn place_of(&self, call: &Call, param: Option<usize>) -> Span {
        let ExprKind::Global(name) = &call.callee.kind else { return Span::NONE };
        let Some(definition) = self.program.get(name) else { return Span::NONE };
        let param = param.and_then(|i| definition.function.params.get(i));
        param.map_or(definition.span, |param| param.annotation.as_ref().map_or(param.span, |ty| ty.span))
    }

    /// RELAY.TYPEREL: applies the relations whose argument types are known.
    fn solve(&mut self) {
        loop {
            let before = self.pending.len();
            for relation in std::mem::take(&mut self.pending) {
                let args: Vec<Type> = relation.args.iter().map(|arg| self.table.resolve(arg)).collect();
                let infos: Option<Vec<_>> = args.iter().map(Type::ground).collect();
                match infos {
                    Some(infos) => self.relate(&relation, &infos),
                    None if args.iter().any(|arg| matches!(arg, Type::Function(..))) => {
                        self.unrelated(
                            &relation,
                            "an argument of an operator is a tensor, or a tuple of tensors".to_string(),
                        );
                    }
                    None => self.pending.push(relation),
                }
            }
            if self.pending.len() == before || self.pending.is_empty() {
                return;
            }
        }
    }

    fn relate(&mut self, relation: &TypeRelation, infos: &[crate::grammar::StructInfo]) {
        let related = operators::relation(self.cx, &relation.name, &relation.attrs, infos);
        let related = match related {
            Ok(info) => Type::of_info(&info).ok_or_else(|| {
                format!("what is known of the result, {info}, is no tensor type that a relation may conclude")
            }),
            Err(message) => Err(message),
        };
        match related {
            Ok(ty) => {
                self.cx_relates();
                let agrees = self.table.unify(&ty, &relation.result);
                if !self.cx.premise(rule!("RELAY.DEF.RESTRICT"), 5, agrees) {
                    let (is, wanted) = (self.told(&ty), self.told(&relation.result));
                    let message = format!("`{}` gives {is}, and {wanted} is wanted", relation.name);
                    self.faults.push(RelayFault::rule(rule!("RELAY.DEF.RESTRICT"), relation.span, message));
                }
            }
            Err(message) => self.unrelated(relation, message),
        }
    }

    fn cx_relates(&mut self) {
        let _related = self.cx.premise(rule!("RELAY.TYPEREL"), 1, true);
    }

    fn unrelated(&mut self, relation: &TypeRelation, message: String) {
        if !self.cx.premise(rule!("RELAY.TYPEREL"), 1, false) {
            let message = format!("`{}`: {message}", relation.name);
            self.faults.push(RelayFault::rule(rule!("RELAY.TYPEREL"), relation.span, message));
        }
    }

    /// A type in the notation of the program.
    fn told(&self, ty: &Type) -> String {
        let mut names = VariableNames::default();
        let written = names.write(&self.table.resolve(ty));
        match names.repeat_themselves() {
            true => "a type that repeats itself too often to be written".to_string(),
            false => type_text(&written, self.program.notation),
        }
    }
}

fn kinds_of(params: &[TypeParam]) -> BTreeMap<Name, Kind> {
    params.iter().map(|param| (param.name.clone(), param.kind)).collect()
}

fn is_annotated(function: &Function) -> bool {
    function.result.is_some() && function.params.iter().all(|param| param.annotation.is_some())
}

/// The definitions in groups that call each other, callees before callers.
fn groups(program: &Program) -> Vec<Vec<&Definition>> {
    let index: BTreeMap<&str, usize> =
        program.definitions.iter().enumerate().rev().map(|(i, definition)| (&*definition.name, i)).collect();
    let calls: Vec<BTreeSet<usize>> = program
        .definitions
        .iter()
        .map(|definition| {
            let mut names = BTreeSet::new();
            globals_in(&definition.function.body, &mut names);
            names.iter().filter_map(|name| index.get(&**name).copied()).collect()
        })
        .collect();
    let mut order = ComponentOrder {
        calls: &calls,
        number: vec![None; calls.len()],
        low: vec![0; calls.len()],
        stack: Vec::new(),
        next: 0,
        groups: Vec::new(),
    };
    (0..calls.len()).for_each(|i| order.visit(i));
    let definition = |i: usize| program.definitions.get(i);
    order.groups.into_iter().map(|group| group.into_iter().filter_map(definition).collect()).collect()
}

/// Strongly connected components, by Tarjan's algorithm.
struct ComponentOrder<'g> {
    calls: &'g [BTreeSet<usize>],
    number: Vec<Option<usize>>,
    low: Vec<usize>,
    stack: Vec<usize>,
    next: usize,
    groups: Vec<Vec<usize>>,
}

impl ComponentOrder<'_> {
    fn visit(&mut self, node: usize) {
        if self.number[node].is_some() {
            return;
        }
        let own = self.next;
        self.number[node] = Some(own);
        self.low[node] = own;
        self.next += 1;
        self.stack.push(node);
        for callee in &self.calls[node] {
            match self.number[*callee] {
                None => {
                    with_stack(|| self.visit(*callee));
                    self.low[node] = self.low[node].min(self.low[*callee]);
                }
                Some(number) if self.stack.contains(callee) => self.low[node] = self.low[node].min(number),
                Some(_) => {}
            }
        }
        if self.low[node] == own {
            let at = self.stack.iter().position(|known| *known == node).unwrap_or(0);
            let mut group = self.stack.split_off(at);
            group.sort_unstable();
            self.groups.push(group);
        }
    }
}

/// The global identifiers in an expression.
pub(super) fn globals_in(expr: &Expr, found: &mut BTreeSet<Name>) {
    with_stack(|| match &expr.kind {
        ExprKind::Global(name) => drop(found.insert(name.clone())),
        ExprKind::Local(_) | ExprKind::Operator(_) | ExprKind::Constant(_) => {}
        ExprKind::Tuple(fields) => fields.iter().for_each(|field| globals_in(field, found)),
        ExprKind::Project(tuple, _) => globals_in(tuple, found),
        ExprKind::Let(bindings, result) => {
            bindings.iter().for_each(|binding| globals_in(&binding.value, found));
            globals_in(result, found);
        }
        ExprKind::If(e) => [&e.condition, &e.then, &e.otherwise].into_iter().for_each(|part| globals_in(part, found)),
        ExprKind::Function(function) => globals_in(&function.body, found),
        ExprKind::Call(call) => {
            globals_in(&call.callee, found);
            call.args.iter().for_each(|arg| globals_in(arg, found));
        }
    });
}

impl InferredProgram<'_> {
    /// RELAY.NODE.TYPE: the type of a node of the program.
    fn checked_type<T>(&self, cx: &mut Cx, node: &T) -> Option<&Type> {
        cx.conclude(rule!("RELAY.NODE.TYPE"), self.types.get(&address(node)))
    }

    /// The type of an expression or a parameter, with everything replaced that is known.
    pub(super) fn type_of<T>(&self, node: &T) -> Option<Type> {
        self.types.get(&address(node)).map(|ty| self.table.resolve(ty))
    }

    /// The program with all inferred types of parameters, results and bindings. `None` if the types are too repetitive,
    /// because they are written without sharing.
    pub fn annotated(&self, cx: &mut Cx) -> Option<Program> {
        let (mut definitions, mut before) = (Vec::new(), VariableNames::default());
        for definition in &self.program.definitions {
            let taken = definition.function.type_params.iter().map(|param| param.name.clone());
            let mut names = VariableNames::avoiding(taken).after(&before);
            let mut function = self.annotated_function(cx, &definition.function, &mut names);
            for (name, kind) in names.params() {
                function.type_params.push(TypeParam { name, kind, span: Span::NONE });
            }
            definitions.push(Definition { function: function.into(), ..definition.clone() });
            before = names;
        }
        (!before.repeat_themselves()).then(|| Program { definitions, ..self.program.clone() })
    }

    fn annotated_function(&self, cx: &mut Cx, function: &Function, names: &mut VariableNames) -> Function {
        let params = function.params.iter().map(|param| self.annotated_param(cx, param, names)).collect();
        let result = match &function.result {
            Some(written) => Some(written.clone()),
            None => self.type_of(function).map(|ty| names.write(&ty)),
        };
        let body = self.annotated_expr(cx, &function.body, names);
        Function { params, result, body, ..function.clone() }
    }

    fn annotated_param(&self, cx: &mut Cx, param: &Param, names: &mut VariableNames) -> Param {
        let ty = self.checked_type(cx, param).map(|ty| self.table.resolve(ty));
        Param { annotation: ty.map(|ty| names.write(&ty)), ..param.clone() }
    }

    fn annotated_expr(&self, cx: &mut Cx, expr: &Expr, names: &mut VariableNames) -> Expr {
        let kind = with_stack(|| match &expr.kind {
            ExprKind::Local(_) | ExprKind::Global(_) | ExprKind::Operator(_) | ExprKind::Constant(_) => {
                expr.kind.clone()
            }
            ExprKind::Tuple(fields) => {
                ExprKind::Tuple(fields.iter().map(|field| self.annotated_expr(cx, field, names)).collect())
            }
            ExprKind::Project(tuple, index) => {
                ExprKind::Project(Box::new(self.annotated_expr(cx, tuple, names)), *index)
            }
            ExprKind::Let(bindings, result) => {
                let bindings = bindings.iter().map(|binding| super::tree::Binding {
                    var: self.annotated_param(cx, &binding.var, names),
                    value: self.annotated_expr(cx, &binding.value, names),
                });
                ExprKind::Let(bindings.collect(), Box::new(self.annotated_expr(cx, result, names)))
            }
            ExprKind::If(e) => ExprKind::If(Box::new(If {
                condition: self.annotated_expr(cx, &e.condition, names),
                then: self.annotated_expr(cx, &e.then, names),
                otherwise: self.annotated_expr(cx, &e.otherwise, names),
            })),
            // The open types of its body differ in each use, so they have no name.
            ExprKind::Function(function) if !function.type_params.is_empty() => expr.kind.clone(),
            ExprKind::Function(function) => ExprKind::Function(self.annotated_function(cx, function, names).into()),
            ExprKind::Call(call) => ExprKind::Call(Box::new(Call {
                callee: self.annotated_expr(cx, &call.callee, names),
                args: call.args.iter().map(|arg| self.annotated_expr(cx, arg, names)).collect(),
                attrs: call.attrs.clone(),
            })),
        });
        Expr { kind, span: expr.span }
    }

    /// The notation for types in messages.
    pub(super) fn notation(&self) -> RelayNotation {
        self.program.notation
    }
}
