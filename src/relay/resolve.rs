//! The meaning of each identifier.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::fault::RelayFault;
use super::locals::Locals;
use super::operators;
use super::tree::{Expr, ExprKind, Function, Program};
use crate::book::or_meant;
use crate::grammar::{Name, Span};
use crate::judge::{Cx, with_stack};

/// Checks every identifier against the scope.
///
/// RELAY.VAR.BYKIND: the kind of an identifier alone decides its meaning, so nothing is replaced here. Without the rule
/// a name would mean the nearest thing of that name.
pub(super) fn resolve(cx: &mut Cx, program: &mut Program) -> Vec<RelayFault> {
    let globals: BTreeSet<Name> = program.definitions.iter().map(|definition| definition.name.clone()).collect();
    let mut resolver = Resolver { cx, globals, locals: Locals::default(), faults: Vec::new() };
    for definition in &mut program.definitions {
        resolver.function(&mut definition.function);
    }
    resolver.faults
}

struct Resolver<'c> {
    cx: &'c mut Cx,
    globals: BTreeSet<Name>,
    locals: Locals<()>,
    faults: Vec<RelayFault>,
}

/// The number of faults that come with a suggestion. Later ones have none.
const MOST_MEANT: usize = 100;

impl Resolver<'_> {
    fn function(&mut self, function: &mut Arc<Function>) {
        let function = Arc::make_mut(function);
        let mark = self.locals.mark();
        function.params.iter().for_each(|param| self.locals.push(param.name.clone(), ()));
        self.expr(&mut function.body);
        self.locals.truncate(mark);
    }

    fn expr(&mut self, expr: &mut Expr) {
        with_stack(|| {
            let span = expr.span;
            match &mut expr.kind {
                ExprKind::Local(_) | ExprKind::Global(_) => {
                    self.reference(&mut expr.kind);
                    self.defined(&expr.kind, span);
                }
                ExprKind::Operator(_) => {
                    self.reference(&mut expr.kind);
                    self.only_called(&expr.kind, span);
                }
                ExprKind::Constant(_) => {}
                ExprKind::Tuple(fields) => fields.iter_mut().for_each(|field| self.expr(field)),
                ExprKind::Project(tuple, _) => self.expr(tuple),
                ExprKind::Let(bindings, result) => {
                    let mark = self.locals.mark();
                    for binding in bindings {
                        // A function may call itself by the name of its binding.
                        let recursive = matches!(binding.value.kind, ExprKind::Function(_));
                        if recursive {
                            self.locals.push(binding.var.name.clone(), ());
                        }
                        self.expr(&mut binding.value);
                        if !recursive {
                            self.locals.push(binding.var.name.clone(), ());
                        }
                    }
                    self.expr(result);
                    self.locals.truncate(mark);
                }
                ExprKind::If(e) => {
                    self.expr(&mut e.condition);
                    self.expr(&mut e.then);
                    self.expr(&mut e.otherwise);
                }
                ExprKind::Function(function) => self.function(function),
                ExprKind::Call(call) => {
                    let span = call.callee.span;
                    if let ExprKind::Operator(_) = call.callee.kind {
                        self.reference(&mut call.callee.kind);
                        self.defined(&call.callee.kind, span);
                    } else {
                        self.expr(&mut call.callee);
                    }
                    call.args.iter_mut().for_each(|arg| self.expr(arg));
                }
            }
        });
    }

    /// RELAY.VAR.BYKIND: looks up an identifier among those of its kind.
    fn reference(&mut self, kind: &mut ExprKind) {
        let (ExprKind::Local(name) | ExprKind::Global(name) | ExprKind::Operator(name)) = &*kind else { return };
        let nearest = if self.locals.get(name).is_some() {
            ExprKind::Local(name.clone())
        } else if self.globals.contains(name) {
            ExprKind::Global(name.clone())
        } else if operators::lookup(name).is_some() {
            ExprKind::Operator(name.clone())
        } else {
            kind.clone()
        };
        *kind = if self.cx.fire(rule!("RELAY.VAR.BYKIND")) { kind.clone() } else { nearest };
    }

    /// RELAY.LOCAL.RESOLVE: a local identifier refers to a parameter or a `let` binding. RELAY.GLOBAL.RESOLVE: a global
    /// identifier refers to a definition anywhere in the program.
    fn defined(&mut self, kind: &ExprKind, span: Span) {
        let fault = if let ExprKind::Local(name) = kind {
            let rule = rule!("RELAY.LOCAL.RESOLVE");
            let bound = self.cx.premise(rule, 1, self.locals.get(name).is_some());
            let meant = || self.or_meant(name, self.locals.names());
            (!bound).then(|| RelayFault::rule(rule, span, format!("%{name} is not bound here{}", meant())))
        } else if let ExprKind::Global(name) = kind {
            let rule = rule!("RELAY.GLOBAL.RESOLVE");
            let bound = self.cx.premise(rule, 1, self.globals.contains(name));
            let meant = || self.or_meant(name, self.globals.iter());
            (!bound).then(|| RelayFault::rule(rule, span, format!("@{name} is not defined{}", meant())))
        } else if let ExprKind::Operator(name) = kind {
            operators::registered(self.cx, name, span).err()
        } else {
            None
        };
        self.faults.extend(fault);
    }

    fn or_meant<'n>(&self, name: &str, known: impl Iterator<Item = &'n Name>) -> String {
        if self.faults.len() < MOST_MEANT { or_meant(name, known.map(|known| &**known)) } else { String::new() }
    }

    /// An operator can only be called. To use it as a value, a program must wrap it in a function.
    fn only_called(&mut self, kind: &ExprKind, span: Span) {
        self.defined(kind, span);
        if let ExprKind::Operator(name) = kind {
            let message = format!("the operator `{name}` is called, it is no value; a function around it is one");
            self.faults.push(RelayFault::syntax(span, message));
        }
    }
}
