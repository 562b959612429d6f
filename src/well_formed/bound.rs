//! Criteria 1 to 3 and 10: where Relax variables are bound and where they may be used (chapter Variable
//! Scoping).

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Checker, quoted};
use crate::book::Erratum;
use crate::findings::{Diagnostic, Finder, NodePath};
use crate::grammar::{Binder, BlockKind, ShapeVar, Span, Var, VarKind};
use crate::judge::Cx;

use super::recursion::Callee;

/// Every Relax variable met so far, and the sequences that are open.
#[derive(Default)]
pub(super) struct RelaxVars<'m> {
    table: FxHashMap<&'m Var, Bound>,
    /// The variables that are visible, in the order of their bindings.
    visible: Vec<&'m Var>,
    /// The open `SeqExpr`s, outermost first.
    sequences: Vec<Sequence>,
    /// Uses of variables that no binding has introduced yet in this global function.
    pending: FxHashMap<&'m Var, Vec<Use>>,
    /// The latest of the variables of each name that are told apart by a number.
    numbered: FxHashMap<&'m str, &'m Var>,
    /// For the literal reading of A03: every name that was bound.
    names: FxHashSet<&'m str>,
}

/// What is known of a variable.
#[derive(Clone, Copy)]
pub(super) struct Bound {
    kind: VarKind,
    state: State,
    region: Region,
    /// The global function that binds it.
    global: usize,
    /// How many functions enclose the binding.
    depth: usize,
    pub(super) callee: Callee,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The right side of its binding is being traversed; it was visible before that if it is bound `again`.
    Defining {
        again: bool,
    },
    Visible,
    /// Its scope has ended.
    Gone,
}

/// What gives a variable its scope.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Region {
    /// The parameters of a function.
    Function,
    /// The function literal that it is bound to.
    OwnLiteral,
    /// A block of the n-th open sequence.
    Block { sequence: usize, block: usize, kind: BlockKind },
}

/// An open `SeqExpr`, and where in it the traversal stands.
struct Sequence {
    at: SequencePoint,
    start: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SequencePoint {
    Block(usize),
    Body,
}

struct Use {
    clock: usize,
    path: NodePath,
    span: Span,
}

impl RelaxVars<'_> {
    /// Makes room for the variables of a block, so that the table of a long one is laid out once.
    pub(super) fn reserve(&mut self, variables: usize) {
        self.table.reserve(variables);
        self.visible.reserve(variables);
    }
}

impl<'m> Checker<'_, 'm> {
    pub(super) fn bound(&self, var: &Var) -> Option<&Bound> {
        self.relax.table.get(var)
    }

    /// WF.1.BIND: a `DataflowVar` is bound in a `DataflowBlock` only.
    pub(super) fn dataflow_var_in_dataflow_block(&mut self, binder: &Binder, region: Region) {
        let in_dataflow = matches!(region, Region::Block { kind: BlockKind::Dataflow, .. });
        let allowed = binder.kind == VarKind::Var || in_dataflow;
        if !self.cx.premise(rule!("WF.1.BIND"), 1, allowed) {
            let message = format!("the DataflowVar {} is bound outside a DataflowBlock", quoted(&binder.var));
            self.error_with_hint(rule!("WF.1.BIND"), binder.var.span, message, "bind an ordinary Var here");
        }
    }

    /// Makes a variable known before the right side of its binding is traversed.
    pub(super) fn define(&mut self, binder: &'m Binder, region: Region) {
        if let Some(older) = self.relax.table.get_mut(&binder.var) {
            older.state = State::Defining { again: older.state == State::Visible };
        } else {
            let bound = self.entry(binder, region, State::Defining { again: false }, Callee::Unknown);
            self.relax.table.insert(&binder.var, bound);
        }
    }

    fn entry(&self, binder: &Binder, region: Region, state: State, callee: Callee) -> Bound {
        Bound { kind: binder.kind, state, region, global: self.global, depth: self.functions.len(), callee }
    }

    /// SCOPE.BIND-ONCE.LOCAL: a parameter or the left side of a binding becomes visible.
    pub(super) fn bind(&mut self, binder: &'m Binder, region: Region, callee: Callee) {
        if let Some(older) = self.relax.table.get_mut(&binder.var)
            && matches!(older.state, State::Visible | State::Defining { again: true })
        {
            older.state = State::Visible;
            return;
        }
        if self.cx.fire(rule!("SCOPE.BIND-ONCE.LOCAL")) {
            let bound = self.entry(binder, region, State::Visible, callee);
            self.relax.table.insert(&binder.var, bound);
            self.relax.visible.push(&binder.var);
            self.used_before(&binder.var);
        }
    }

    /// WF.2.ONCE: a variable is bound at most once in the whole program.
    ///
    /// Errata: A03 compares identities; literally there are only names.
    pub(super) fn bound_once(&mut self, binder: &'m Binder, region: Region) {
        let var = &binder.var;
        let same_name = self.shares_its_name(var);
        let shadows = !self.cx.literal(Erratum::A03) && self.may_shadow(same_name, region);
        let new = !self.relax.table.contains_key(var) && (shadows || same_name.is_none());
        let new = new && self.is_no_shape_var(var);
        let mut allowed = self.cx.premise(rule!("SCOPE.BIND-ONCE"), 1, new);
        if region != Region::Function {
            allowed = self.cx.premise(rule!("SCOPE.BIND.NEW"), 1, new) || allowed;
        }
        if !self.cx.premise(rule!("WF.2.ONCE"), 1, new) && !allowed {
            let message = format!("{} is bound more than once", quoted(var));
            self.error_with_hint(
                rule!("WF.2.ONCE"),
                var.span,
                message,
                "introduce a new variable for the second binding",
            );
        }
    }

    /// SCOPE.SHADOW, and SCOPE.SHADOW.SAME-SCOPE where the older variable belongs to the same scope.
    fn may_shadow(&mut self, older: Option<Region>, region: Region) -> bool {
        let same_scope = match (older, region) {
            (Some(Region::Block { sequence: a, .. }), Region::Block { sequence: b, .. }) => a == b,
            (Some(_) | None, _) => false,
        };
        self.cx.conclude(rule!("SCOPE.SHADOW"), true)
            && (!same_scope || self.cx.conclude(rule!("SCOPE.SHADOW.SAME-SCOPE"), true))
    }

    /// SCOPE.NAMESPACE: shape variables have a namespace of their own.
    fn is_no_shape_var(&mut self, var: &Var) -> bool {
        let shared = self.shares_the_namespace_of_shape_vars();
        !(shared && self.shapes.contains(&ShapeVar::numbered(var.name.clone(), var.id)))
    }

    pub(super) fn shares_the_namespace_of_shape_vars(&mut self) -> bool {
        self.cx.conclude(rule!("SCOPE.NAMESPACE"), false)
    }

    /// The scope of an older variable with the same name and another number, if there is one.
    fn shares_its_name(&mut self, var: &'m Var) -> Option<Region> {
        if self.cx.literal(Erratum::A03) {
            return (!self.relax.names.insert(&var.name)).then_some(Region::Function);
        }
        // Names are shared only among numbered variables and the one with number 0.
        let older = match var.id {
            0 if self.relax.numbered.is_empty() => None,
            0 => self.relax.numbered.get(&*var.name).copied(),
            _ => self.relax.numbered.insert(&var.name, var),
        };
        let first = if var.id == 0 { None } else { self.relax.table.get(&Var::numbered(var.name.clone(), 0)) };
        older.and_then(|older| self.relax.table.get(older)).or(first).map(|bound| bound.region)
    }

    /// WF.3.BEFORE: the uses met so far precede the binding.
    fn used_before(&mut self, var: &'m Var) {
        if self.relax.pending.is_empty() {
            return;
        }
        for early in self.relax.pending.remove(var).unwrap_or_default() {
            if !self.cx.premise(rule!("WF.3.BEFORE"), 1, false) {
                let message = format!("{} is used before it is bound", quoted(var));
                let finding = Diagnostic::error(rule!("WF.3.BEFORE"), early.path, early.span, message);
                self.findings.push((early.clock, finding.with_hint("move the binding in front of its first use")));
            }
        }
    }

    /// WF.2.BOUND, at the end of a global function: what was used there and bound nowhere in it.
    pub(super) fn never_bound(&mut self) {
        for (var, uses) in std::mem::take(&mut self.relax.pending) {
            for lost in uses {
                if !self.cx.premise(rule!("WF.2.BOUND"), 1, false) {
                    let message = format!("{} is not bound in this function", quoted(var));
                    self.findings
                        .push((lost.clock, Diagnostic::error(rule!("WF.2.BOUND"), lost.path, lost.span, message)));
                }
            }
        }
    }

    /// Whether a variable may be used here; reports the reason if not.
    pub(super) fn use_var(&mut self, var: &'m Var, kind: VarKind) -> bool {
        let Some(bound) = self.relax.table.get(var).copied() else { return self.not_yet_bound(var) };
        match bound.state {
            State::Visible => self.use_visible(var, kind, bound),
            State::Defining { .. } => self.use_in_own_definition(var),
            State::Gone if bound.global == self.global => self.use_after_scope(var, bound),
            State::Gone => self.not_yet_bound(var),
        }
    }

    fn not_yet_bound(&mut self, var: &'m Var) -> bool {
        let anonymous = self.functions.last().is_some_and(|f| f.callee == Callee::Unknown);
        // A literal that is not the right side of a binding has no name by which to call itself.
        if !anonymous || self.cx.conclude(rule!("SCOPE.ANON"), true) {
            let lost = Use { clock: self.clock, path: self.trail.path(), span: var.span };
            self.relax.pending.entry(var).or_default().push(lost);
        }
        false
    }

    /// WF.2.SELF: only a function literal may mention the variable it is bound to.
    fn use_in_own_definition(&mut self, var: &Var) -> bool {
        if !self.cx.premise(rule!("WF.2.SELF"), 1, false) {
            let message = format!("{} is used in its own definition, which is not a function literal", quoted(var));
            self.error(rule!("WF.2.SELF"), var.span, message);
        }
        false
    }

    fn use_after_scope(&mut self, var: &Var, bound: Bound) -> bool {
        match bound.kind {
            VarKind::DataflowVar => {
                if !self.cx.premise(rule!("WF.1.USE"), 1, false) {
                    let message = format!("the DataflowVar {} is used outside its DataflowBlock", quoted(var));
                    let hint = "bind the value to an ordinary Var in the block, and use that";
                    self.error_with_hint(rule!("WF.1.USE"), var.span, message, hint);
                }
            }
            VarKind::Var => {
                if !self.cx.premise(rule!("WF.2.BOUND"), 1, false) {
                    self.error(rule!("WF.2.BOUND"), var.span, format!("{} is not in scope here", quoted(var)));
                }
            }
        }
        false
    }

    fn use_visible(&mut self, var: &Var, kind: VarKind, bound: Bound) -> bool {
        if !self.used_as_bound(var, kind, bound) || !self.closure_captures(var, bound) {
            return false;
        }
        let visible = visible_by_its_region(self.cx, &self.relax.sequences, bound);
        if !self.cx.premise(rule!("WF.2.BOUND"), 1, visible) {
            self.error(rule!("WF.2.BOUND"), var.span, format!("{} is not in scope here", quoted(var)));
        }
        visible && self.premises_of_use(bound)
    }

    /// What else holds of a use that is in order: it follows the binding, and is inside the block.
    fn premises_of_use(&mut self, bound: Bound) -> bool {
        let in_block = bound.kind == VarKind::Var || self.cx.premise(rule!("WF.1.USE"), 1, true);
        self.cx.premise(rule!("WF.3.BEFORE"), 1, true) && self.cx.premise(rule!("WF.2.SELF"), 1, true) && in_block
    }

    fn used_as_bound(&mut self, var: &Var, kind: VarKind, bound: Bound) -> bool {
        let same = kind == bound.kind;
        if !same && !self.cx.premise(rule!("WF.2.BOUND"), 1, false) {
            let (used, bound) = (kind_name(kind), kind_name(bound.kind));
            let message = format!("{} is used as a {used}, but bound as a {bound}", quoted(var));
            self.error(rule!("WF.2.BOUND"), var.span, message);
        }
        same
    }

    /// WF.10: a function does not capture the `DataflowVar`s around it.
    fn closure_captures(&mut self, var: &Var, bound: Bound) -> bool {
        if bound.depth == self.functions.len() {
            return true;
        }
        let allowed = self.cx.premise(rule!("WF.10"), 1, bound.kind == VarKind::Var);
        if !allowed {
            let message = format!("the body of a function uses the DataflowVar {} of a surrounding block", quoted(var));
            let hint = "bind the value to an ordinary Var, or pass it as an argument";
            self.error_with_hint(rule!("WF.10"), var.span, message, hint);
        }
        allowed
    }

    pub(super) fn open_sequence(&mut self) -> usize {
        self.relax.sequences.push(Sequence { at: SequencePoint::Block(0), start: self.relax.visible.len() });
        self.relax.sequences.len() - 1
    }

    pub(super) fn stand_at(&mut self, sequence: usize, place: SequencePoint) {
        if let Some(open) = self.relax.sequences.get_mut(sequence) {
            open.at = place;
        }
    }

    /// SCOPE.SEQ.EXIT: the variables of a sequence leave scope with it.
    pub(super) fn close_sequence(&mut self) {
        let Some(closed) = self.relax.sequences.pop() else { return };
        if self.cx.fire(rule!("SCOPE.SEQ.EXIT")) {
            self.leave(closed.start);
        }
    }

    pub(super) fn visible_count(&self) -> usize {
        self.relax.visible.len()
    }

    /// Everything made visible after the first `start` variables leaves scope.
    pub(super) fn leave(&mut self, start: usize) {
        while self.relax.visible.len() > start {
            let Some(var) = self.relax.visible.pop() else { return };
            self.forget(var);
        }
    }

    /// The name of a function literal is not visible between the end of the literal and that of its binding.
    pub(super) fn leave_own_literal(&mut self, binder: &Binder, at: usize) {
        if self.relax.visible.get(at).is_some_and(|var| **var == binder.var) {
            self.relax.visible.remove(at);
            self.forget(&binder.var);
        }
    }

    fn forget(&mut self, var: &Var) {
        if let Some(bound) = self.relax.table.get_mut(var) {
            bound.state = State::Gone;
        }
    }

    /// The end of a block: SCOPE.DF.EXIT for a `DataflowBlock`; an ordinary block is no scope (SCOPE.FOUR).
    pub(super) fn close_block(&mut self, kind: BlockKind, start: usize) {
        match kind {
            BlockKind::Binding => {
                let is_scope = self.cx.conclude(rule!("SCOPE.FOUR"), false);
                if is_scope {
                    self.leave(start);
                }
            }
            BlockKind::Dataflow => {
                if self.cx.fire(rule!("SCOPE.DF.EXIT")) {
                    self.drop_dataflow_vars(start);
                }
            }
        }
    }

    fn drop_dataflow_vars(&mut self, start: usize) {
        let recent = self.relax.visible.split_off(start.min(self.relax.visible.len()));
        for var in recent {
            match self.relax.table.get_mut(var) {
                Some(bound) if bound.kind == VarKind::DataflowVar => bound.state = State::Gone,
                Some(_) | None => self.relax.visible.push(var),
            }
        }
    }
}

/// Whether a scoping rule lets a visible variable reach the place where the traversal stands.
fn visible_by_its_region(cx: &mut Cx, sequences: &[Sequence], bound: Bound) -> bool {
    let Bound { kind, region, .. } = bound;
    let at = match region {
        Region::Function | Region::OwnLiteral => None,
        Region::Block { sequence, .. } => match sequences.get(sequence) {
            Some(open) => Some(open.at),
            // What has not left scope with its sequence (SCOPE.SEQ.EXIT) stays visible.
            None => return true,
        },
    };
    let ordinary = kind == VarKind::Var;
    let in_block = |at: usize| matches!(region, Region::Block { block, .. } if block == at);
    let visible = cx.by_cases(&[
        (rule!("SCOPE.FUNC.PARAM"), region == Region::Function, true),
        (rule!("SCOPE.FUNC.REC"), region == Region::OwnLiteral, true),
        (rule!("SCOPE.DF.LATER"), at.is_some() && !ordinary, true),
        (rule!("SCOPE.SEQ.BODY"), at == Some(SequencePoint::Body) && ordinary, true),
        (rule!("SCOPE.SEQ.LATER-SAME"), matches!(at, Some(SequencePoint::Block(at)) if in_block(at) && ordinary), true),
        (
            rule!("SCOPE.SEQ.LATER-BLOCKS"),
            matches!(at, Some(SequencePoint::Block(at)) if !in_block(at) && ordinary),
            true,
        ),
    ]);
    visible.is_some() && (!escapes(bound, at) || cx.conclude(rule!("SCOPE.DF.ESCAPE"), true))
}

/// Whether an ordinary variable of a `DataflowBlock` is used behind that block.
fn escapes(bound: Bound, at: Option<SequencePoint>) -> bool {
    match (bound.region, at) {
        (Region::Block { block, kind: BlockKind::Dataflow, .. }, Some(at)) => {
            bound.kind == VarKind::Var && at != SequencePoint::Block(block)
        }
        (Region::Function | Region::OwnLiteral | Region::Block { .. }, _) => false,
    }
}

fn kind_name(kind: VarKind) -> &'static str {
    match kind {
        VarKind::Var => "Var",
        VarKind::DataflowVar => "DataflowVar",
    }
}
