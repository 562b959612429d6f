//! Inferring the purity of one function from the calls in its body: `infer_local_purity`.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::book::Erratum;
use crate::derivation::Deriver;
use crate::findings::{Complaint, Finder};
use crate::grammar::{Binding, Expr, Function, Name, Span, StructInfo, Var};
use crate::judge::Cx;

/// A function, identified by its binding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::derivation) enum FunctionRef<'m> {
    Global(&'m str),
    Local(&'m Var),
}

/// A summary of the calls in a body that count for its function.
#[derive(Clone, Default, Debug)]
pub(in crate::derivation) struct CallSummary<'m> {
    /// Whether a callee is impure.
    impure: bool,
    /// Whether a callee of unknown purity is not a global function.
    pub(super) closure: bool,
    /// The global functions of unknown purity among the callees.
    pub(super) unknown: FxHashSet<&'m str>,
    /// The global functions that are called, including those called in nested functions.
    pub(super) reached: FxHashSet<&'m str>,
    /// Whether a callee of unknown purity is not a global function, including callees in nested functions.
    pub(super) leaves_open: bool,
}

impl<'m> CallSummary<'m> {
    fn is_unknown(&self) -> bool {
        self.closure || !self.unknown.is_empty()
    }

    fn count(&mut self, pure: Option<bool>, callee: Option<FunctionRef<'m>>) {
        match (pure, callee) {
            (Some(pure), _) => self.impure |= !pure,
            (None, Some(FunctionRef::Global(name))) => {
                self.unknown.insert(name);
            }
            (None, Some(FunctionRef::Local(_)) | None) => (self.closure, self.leaves_open) = (true, true),
        }
    }

    /// Adds the calls of a nested function. They do not count for this function, but the functions that they reach are
    /// reached.
    fn around(mut self, nested: &CallSummary<'m>) -> CallSummary<'m> {
        self.reached.extend(&nested.reached);
        self.leaves_open |= nested.leaves_open;
        self
    }

    /// Adds the calls of a nested function as if they were calls of this one.
    fn with(self, nested: CallSummary<'m>) -> CallSummary<'m> {
        let mut all = self.around(&nested);
        all.impure |= nested.impure;
        all.closure |= nested.closure;
        all.unknown.extend(nested.unknown);
        all
    }
}

/// The facts about a global function after its derivation.
#[derive(Debug)]
pub(super) struct PuritySummary<'m> {
    pub calls: CallSummary<'m>,
    pub purity: Option<bool>,
    pub forced: bool,
    pub span: Span,
}

/// Notes that derivation takes about functions.
#[derive(Default, Debug)]
pub(in crate::derivation) struct Inferring<'m> {
    calls: CallSummary<'m>,
    /// The number of functions around the present position.
    depth: usize,
    /// The function whose body is being derived, if it is bound to a name.
    current: Option<FunctionRef<'m>>,
    /// The binding of the function that is derived next.
    next: Option<FunctionRef<'m>>,
    /// Variables that are bound directly to a function or to another such variable.
    aliases: FxHashMap<&'m Var, FunctionRef<'m>>,
    /// The summary of the function that was left last.
    left: CallSummary<'m>,
    /// The global functions that were used before they were derived.
    used_before: FxHashSet<Name>,
    derived: FxHashSet<&'m str>,
    /// Whether the result of one of them changed after its use.
    pub(super) overwritten: bool,
    pub(super) globals: FxHashMap<&'m str, PuritySummary<'m>>,
}

impl<'m> Inferring<'m> {
    /// Begins the derivation of a global function.
    pub fn begin(&mut self, name: &'m Name) {
        self.next = Some(FunctionRef::Global(name));
    }

    /// Ends it, before its entry is overwritten.
    pub fn end(
        &mut self,
        name: &'m Name,
        function: &Function,
        before: Option<&Option<StructInfo>>,
        now: Option<&StructInfo>,
    ) {
        self.derived.insert(name);
        self.overwritten |= self.used_before.contains(name) && before.and_then(Option::as_ref) != now;
        let purity = now.and_then(StructInfo::as_func).and_then(|func| func.pure);
        let (forced, span) = (function.force_pure(), function.span);
        let calls = std::mem::take(&mut self.left);
        self.globals.insert(name, PuritySummary { calls, purity, forced, span });
    }

    /// Notes that the information of a global function is used.
    pub fn note_use(&mut self, name: &Name) {
        if !self.derived.contains(&**name) {
            self.used_before.insert(name.clone());
        }
    }

    fn denotes(&self, expr: &'m Expr) -> Option<FunctionRef<'m>> {
        if let Expr::GlobalVar(gv) = expr {
            Some(FunctionRef::Global(&gv.name))
        } else if let Expr::Var(var) | Expr::DataflowVar(var) = expr {
            Some(self.aliases.get(var).copied().unwrap_or(FunctionRef::Local(var)))
        } else {
            None
        }
    }
}

/// The saved state of the surrounding function.
pub(in crate::derivation) struct EnclosingFunction<'m> {
    calls: CallSummary<'m>,
    current: Option<FunctionRef<'m>>,
}

impl<'m> Deriver<'_, 'm> {
    fn infers(&self) -> bool {
        self.cx.has(rule!("PURITY3.INFER"))
    }

    /// Enters a function. Returns the state of the surrounding one.
    pub(in crate::derivation) fn enter_calls(&mut self) -> EnclosingFunction<'m> {
        let next = self.inferring.next.take();
        let current = std::mem::replace(&mut self.inferring.current, next);
        self.inferring.depth += 1;
        EnclosingFunction { calls: std::mem::take(&mut self.inferring.calls), current }
    }

    /// PURITY3.LOCAL.SKIP: leaves a function and returns its calls. They do not count for the surrounding function.
    pub(in crate::derivation) fn leave_calls(&mut self, outside: EnclosingFunction<'m>) -> CallSummary<'m> {
        let EnclosingFunction { calls, current } = outside;
        let own = std::mem::take(&mut self.inferring.calls);
        self.inferring.current = current;
        self.inferring.depth -= 1;
        let is_nested = self.inferring.depth > 0;
        if self.infers() && is_nested {
            let (skipped, counted) = (calls.clone().around(&own), calls.with(own.clone()));
            self.inferring.calls = if self.cx.fire(rule!("PURITY3.LOCAL.SKIP")) { skipped } else { counted };
        } else {
            self.inferring.left = own.clone();
        }
        own
    }

    /// PURITY3.LOCAL.SKIP: counts a call, unless the function calls itself.
    pub(in crate::derivation) fn count_call(&mut self, callee: &'m Expr, pure: Option<bool>) {
        if !self.infers() {
            return;
        }
        let named = self.inferring.denotes(callee);
        if let Some(FunctionRef::Global(name)) = named {
            self.inferring.calls.reached.insert(name);
        }
        let itself = named.is_some() && named == self.inferring.current;
        let skipped = itself && self.cx.fire(rule!("PURITY3.LOCAL.SKIP"));
        if !skipped {
            self.inferring.calls.count(pure, named);
        }
    }

    /// A function literal may call itself by the name to which it is bound. A variable bound to another is an alias of
    /// it.
    pub(in crate::derivation) fn name_bound(&mut self, binding: &'m Binding) {
        let Binding::VarBinding(binding) = binding else { return };
        let var = &binding.var.var;
        match &binding.value {
            Expr::Function(_) => self.inferring.next = Some(FunctionRef::Local(var)),
            value => {
                let named = self.inferring.denotes(value);
                self.inferring.aliases.extend(named.map(|named| (var, named)));
            }
        }
    }

    /// PURITY3.FUNC.CHECK: checks that the declared and the inferred purity agree. PURITY3.FUNC.INFO: gives the purity
    /// in the function's information.
    ///
    /// Errata: U03. Read literally, a pure function must not be declared impure either. U04: the purity is unknown if
    /// one of the two is unknown, and with an annotated result if it is not declared.
    pub(in crate::derivation) fn checked_purity(
        &mut self,
        function: &Function,
        calls: &CallSummary<'m>,
    ) -> Option<bool> {
        let said = self.said_pure(function);
        if !self.infers() {
            return said;
        }
        let inferred = infer_local_purity(self.cx, function.force_pure(), calls);
        let cautious = said == Some(false) && !self.cx.literal(Erratum::U03);
        let agrees = said.is_none() || inferred.is_none() || said == inferred || cautious;
        self.demand(
            function.span,
            &[(rule!("PURITY3.FUNC.CHECK"), 1, agrees, &|| {
                let (said, inferred) = (in_words(said), in_words(inferred));
                Complaint::error(format!("the function is declared {said}, and inferred to be {inferred}"))
                    .with_hint("leave out what it says of its purity, or correct it")
            })],
        );
        let checked = said.or(inferred);
        let literal = match (said, inferred) {
            _ if function.ret_struct_info.is_some() => said,
            (Some(_), inferred) if said != inferred => None,
            (Some(_) | None, inferred) => inferred,
        };
        let pure = if self.cx.literal(Erratum::U04) { literal } else { checked };
        if self.cx.fire(rule!("PURITY3.FUNC.INFO")) { pure } else { None }
    }
}

/// PURITY3.LOCAL.FORCE to PURITY3.LOCAL.PURE: the purity of a function inferred from the calls in its body. `None`
/// means unknown.
fn infer_local_purity(cx: &mut Cx, forced: bool, calls: &CallSummary<'_>) -> Option<bool> {
    cx.by_cases((
        &[
            (rule!("PURITY3.LOCAL.FORCE"), forced, Some(true)),
            (rule!("PURITY3.LOCAL.IMPURE"), calls.impure, Some(false)),
            (rule!("PURITY3.LOCAL.UNKNOWN"), calls.is_unknown(), None),
        ],
        (rule!("PURITY3.LOCAL.PURE"), Some(true)),
    ))
}

/// A purity as a word for messages.
pub(super) fn in_words(pure: Option<bool>) -> &'static str {
    match pure {
        Some(true) => "pure",
        Some(false) => "impure",
        None => "of unknown purity",
    }
}
