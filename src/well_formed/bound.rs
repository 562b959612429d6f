//! Criteria 1 to 3 and 10: where Relax variables are bound and where they may be used (chapter Variable
//! Scoping).

use std::collections::hash_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Spot, WellFormedChecker, quoted};
use crate::book::Erratum;
use crate::findings::{Complaint, Finder};
use crate::grammar::{Binder, BlockKind, ShapeVar, Var, VarKind};
use crate::judge::Cx;

use super::recursion::DenotedFunction;

/// All Relax variables met so far, and the open sequences.
#[derive(Default)]
pub(super) struct RelaxVars<'m> {
    table: FxHashMap<&'m Var, VariableRecord>,
    /// The variables that are visible, in the order of their bindings.
    visible: Vec<&'m Var>,
    /// The open `SeqExpr`s, outermost first.
    sequences: Vec<Sequence>,
    /// Uses of variables that no binding has introduced yet in this global function.
    pending: FxHashMap<&'m Var, Vec<Spot>>,
    /// The latest numbered variable of each name.
    numbered: FxHashMap<&'m str, &'m Var>,
    /// For the literal reading of A03: every bound name.
    names: FxHashSet<&'m str>,
}

/// The record of a variable.
#[derive(Clone, Copy)]
pub(super) struct VariableRecord {
    kind: VarKind,
    state: Visibility,
    region: ScopeRegion,
    /// The global function that binds it.
    global: usize,
    /// The number of functions around the binding.
    depth: usize,
    pub(super) callee: DenotedFunction,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Visibility {
    /// The right side of its binding is being traversed. If it is bound `again`, it was visible before.
    Defining {
        again: bool,
    },
    Visible,
    /// Its scope has ended.
    Gone,
}

/// The region that gives a variable its scope.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ScopeRegion {
    /// The parameters of a function.
    Function,
    /// The function literal that it is bound to.
    OwnLiteral,
    /// A block of the n-th open sequence.
    Block { sequence: usize, block: usize, kind: BlockKind },
}

/// An open `SeqExpr`, with the current position of the traversal.
struct Sequence {
    at: SequencePoint,
    start: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SequencePoint {
    Block(usize),
    Body,
}

impl RelaxVars<'_> {
    /// Reserves space for the variables of a block, so that the table of a long block is allocated once.
    pub(super) fn reserve(&mut self, variables: usize) {
        self.table.reserve(variables);
        self.visible.reserve(variables);
    }
}

impl<'m> WellFormedChecker<'_, 'm> {
    pub(super) fn bound(&self, var: &Var) -> Option<&VariableRecord> {
        self.relax.table.get(var)
    }

    /// WF.1.BIND: a `DataflowVar` is bound only in a `DataflowBlock`.
    pub(super) fn dataflow_var_in_dataflow_block(&mut self, binder: &Binder, region: ScopeRegion) {
        let in_dataflow = matches!(region, ScopeRegion::Block { kind: BlockKind::Dataflow, .. });
        let allowed = binder.kind == VarKind::Var || in_dataflow;
        self.demand(
            binder.var.span,
            &[(rule!("WF.1.BIND"), 1, allowed, &|| {
                Complaint::error(format!("the DataflowVar {} is bound outside a DataflowBlock", quoted(&binder.var)))
                    .with_hint("bind an ordinary Var here")
            })],
        );
    }

    /// Records a variable before the right side of its binding is traversed.
    pub(super) fn define(&mut self, binder: &'m Binder, region: ScopeRegion) {
        let new = self.entry(binder, region, Visibility::Defining { again: false }, DenotedFunction::Unknown);
        match self.relax.table.entry(&binder.var) {
            Entry::Occupied(mut older) => {
                let again = older.get().state == Visibility::Visible;
                older.get_mut().state = Visibility::Defining { again };
            }
            Entry::Vacant(place) => {
                place.insert(new);
            }
        }
    }

    fn entry(
        &self,
        binder: &Binder,
        region: ScopeRegion,
        state: Visibility,
        callee: DenotedFunction,
    ) -> VariableRecord {
        VariableRecord { kind: binder.kind, state, region, global: self.global, depth: self.functions.len(), callee }
    }

    /// SCOPE.BIND-ONCE.LOCAL: a parameter or the left side of a binding becomes visible.
    pub(super) fn bind(&mut self, binder: &'m Binder, region: ScopeRegion, callee: DenotedFunction) {
        let bound = self.entry(binder, region, Visibility::Visible, callee);
        match self.relax.table.entry(&binder.var) {
            Entry::Occupied(mut older)
                if matches!(older.get().state, Visibility::Visible | Visibility::Defining { again: true }) =>
            {
                older.get_mut().state = Visibility::Visible;
            }
            place => {
                if self.cx.fire(rule!("SCOPE.BIND-ONCE.LOCAL")) {
                    place.insert_entry(bound);
                    self.relax.visible.push(&binder.var);
                    self.used_before(&binder.var);
                }
            }
        }
    }

    /// WF.2.ONCE: a variable is bound at most once in the whole program.
    ///
    /// Errata: A03 compares identities; literally there are only names.
    pub(super) fn bound_once(&mut self, binder: &'m Binder, region: ScopeRegion) {
        let var = &binder.var;
        let same_name = self.shares_its_name(var);
        let shadows = !self.cx.literal(Erratum::A03) && self.may_shadow(same_name, region);
        let new = !self.relax.table.contains_key(var) && (shadows || same_name.is_none());
        let new = new && self.is_no_shape_var(var);
        // A second binding of a variable breaks every clause that forbids it. The clause about bindings does not apply
        // to parameters.
        let clauses = [(rule!("SCOPE.BIND-ONCE"), 1, new), (rule!("SCOPE.BIND.NEW"), 1, new)];
        let clauses = if region == ScopeRegion::Function { &clauses[..1] } else { &clauses[..] };
        let broken =
            clauses.iter().filter(|clause| !self.cx.holds(std::slice::from_ref(*clause))).count() == clauses.len();
        self.demand(
            var.span,
            &[(rule!("WF.2.ONCE"), 1, !broken, &|| {
                Complaint::error(format!("{} is bound more than once", quoted(var)))
                    .with_hint("introduce a new variable for the second binding")
            })],
        );
    }

    /// Literal A03: names belong to one global function; the same name in another function is a different variable.
    pub(super) fn names_anew(&mut self) {
        self.relax.names.clear();
    }

    /// SCOPE.SHADOW; SCOPE.SHADOW.SAME-SCOPE if the older variable belongs to the same scope.
    fn may_shadow(&mut self, older: Option<ScopeRegion>, region: ScopeRegion) -> bool {
        let same_scope = match (older, region) {
            (Some(ScopeRegion::Block { sequence: a, .. }), ScopeRegion::Block { sequence: b, .. }) => a == b,
            (Some(_) | None, _) => false,
        };
        self.cx.conclude(rule!("SCOPE.SHADOW"), true)
            && (!same_scope || self.cx.conclude(rule!("SCOPE.SHADOW.SAME-SCOPE"), true))
    }

    /// SCOPE.NAMESPACE: shape variables have a namespace of their own.
    fn is_no_shape_var(&mut self, var: &Var) -> bool {
        let shapes = &self.shapes;
        let only_here = || !shapes.contains(&ShapeVar::numbered(var.name.clone(), var.id));
        self.cx.fire(rule!("SCOPE.NAMESPACE")) || only_here()
    }

    /// SCOPE.NAMESPACE: a shape variable may have the name of a Relax variable.
    pub(super) fn is_no_relax_var(&mut self, var: &ShapeVar) -> bool {
        let table = &self.relax.table;
        let only_here = || !table.contains_key(&Var::numbered(var.name.clone(), var.id));
        self.cx.fire(rule!("SCOPE.NAMESPACE")) || only_here()
    }

    /// The scope of an older variable with the same name and another number, if there is one.
    fn shares_its_name(&mut self, var: &'m Var) -> Option<ScopeRegion> {
        if self.cx.literal(Erratum::A03) {
            return (!self.relax.names.insert(&var.name)).then_some(ScopeRegion::Function);
        }
        // Only numbered variables, and the variable with number 0, can share a name.
        let older = match var.id {
            0 if self.relax.numbered.is_empty() => None,
            0 => self.relax.numbered.get(&*var.name).copied(),
            _ => self.relax.numbered.insert(&var.name, var),
        };
        let first = if var.id == 0 { None } else { self.relax.table.get(&Var::numbered(var.name.clone(), 0)) };
        older.and_then(|older| self.relax.table.get(older)).or(first).map(|bound| bound.region)
    }

    /// WF.3.BEFORE: reports the uses met so far, which come before the binding.
    fn used_before(&mut self, var: &'m Var) {
        if self.relax.pending.is_empty() {
            return;
        }
        for early in self.relax.pending.remove(var).unwrap_or_default() {
            let follows = early.clock >= self.clock;
            self.demand_back_at(
                early,
                &[(rule!("WF.3.BEFORE"), 1, follows, &|| {
                    Complaint::error(format!("{} is used before it is bound", quoted(var)))
                        .with_hint("move the binding in front of its first use")
                })],
            );
        }
    }

    /// WF.2.BOUND: reports, at the end of a global function, the variables that are used but never bound in it.
    pub(super) fn never_bound(&mut self) {
        for (var, uses) in std::mem::take(&mut self.relax.pending) {
            let bound = self.bound(var).is_some_and(|bound| bound.global == self.global);
            for lost in uses {
                self.demand_back_at(
                    lost,
                    &[(rule!("WF.2.BOUND"), 1, bound, &|| {
                        Complaint::error(format!("{} is not bound in this function", quoted(var)))
                    })],
                );
            }
        }
    }

    /// Whether a variable may be used here. Reports the reason if not.
    pub(super) fn use_var(&mut self, var: &'m Var, kind: VarKind) -> bool {
        let Some(bound) = self.relax.table.get(var).copied() else { return self.not_yet_bound(var) };
        match bound.state {
            Visibility::Gone if bound.global != self.global => self.not_yet_bound(var),
            Visibility::Visible | Visibility::Defining { .. } | Visibility::Gone => {
                self.use_is_in_order(var, kind, bound) && self.reaches_here(var, bound)
            }
        }
    }

    fn not_yet_bound(&mut self, var: &'m Var) -> bool {
        let anonymous = self.functions.last().is_some_and(|f| f.callee == DenotedFunction::Unknown);
        // A literal that is not the right side of a binding has no name and cannot call itself.
        if !anonymous || self.cx.conclude(rule!("SCOPE.ANON"), true) {
            let lost = self.spot(var.span);
            self.relax.pending.entry(var).or_default().push(lost);
        }
        false
    }

    /// Whether the use of a variable that is bound in this function meets criteria 2, 1 and 10.
    fn use_is_in_order(&mut self, var: &Var, kind: VarKind, bound: VariableRecord) -> bool {
        let in_scope = bound.state != Visibility::Gone;
        self.use_outside_its_definition(var, bound)
            && match bound.kind {
                VarKind::DataflowVar => self.use_inside_its_block(var, in_scope),
                VarKind::Var => self.use_in_scope(var, in_scope),
            }
            && self.use_as_bound(var, kind, bound.kind)
            && (bound.depth == self.functions.len() || self.capture(var, bound.kind))
    }

    /// WF.2.SELF: only a function literal may mention the variable it is bound to.
    fn use_outside_its_definition(&mut self, var: &Var, bound: VariableRecord) -> bool {
        let defined = !matches!(bound.state, Visibility::Defining { .. });
        self.demand(
            var.span,
            &[(rule!("WF.2.SELF"), 1, defined, &|| {
                let name = quoted(var);
                Complaint::error(format!("{name} is used in its own definition, which is not a function literal"))
            })],
        )
    }

    /// WF.1.USE: a `DataflowVar` is used only inside its block.
    fn use_inside_its_block(&mut self, var: &Var, inside: bool) -> bool {
        self.demand(
            var.span,
            &[(rule!("WF.1.USE"), 1, inside, &|| {
                Complaint::error(format!("the DataflowVar {} is used outside its DataflowBlock", quoted(var)))
                    .with_hint("bind the value to an ordinary Var in the block, and use that")
            })],
        )
    }

    fn use_in_scope(&mut self, var: &Var, in_scope: bool) -> bool {
        self.demand(
            var.span,
            &[(rule!("WF.2.BOUND"), 1, in_scope, &|| {
                Complaint::error(format!("{} is not in scope here", quoted(var)))
            })],
        )
    }

    fn use_as_bound(&mut self, var: &Var, used: VarKind, bound: VarKind) -> bool {
        self.demand(
            var.span,
            &[(rule!("WF.2.BOUND"), 1, used == bound, &|| {
                let (used, bound) = (kind_name(used), kind_name(bound));
                Complaint::error(format!("{} is used as a {used}, but bound as a {bound}", quoted(var)))
            })],
        )
    }

    /// WF.10: a function does not capture the `DataflowVar`s around it.
    fn capture(&mut self, var: &Var, kind: VarKind) -> bool {
        self.demand(
            var.span,
            &[(rule!("WF.10"), 1, kind == VarKind::Var, &|| {
                let name = quoted(var);
                Complaint::error(format!("the body of a function uses the DataflowVar {name} of a surrounding block"))
                    .with_hint("bind the value to an ordinary Var, or pass it as an argument")
            })],
        )
    }

    /// WF.2.BOUND and WF.3.BEFORE: a bound variable is visible here by some scoping rule.
    fn reaches_here(&mut self, var: &Var, bound: VariableRecord) -> bool {
        let visible = visible_by_its_region(self.cx, &self.relax.sequences, bound);
        self.use_in_scope(var, visible) && self.cx.premise(rule!("WF.3.BEFORE"), 1, true)
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

    /// SCOPE.SEQ.EXIT: the variables of a sequence go out of scope at its end.
    pub(super) fn close_sequence(&mut self) {
        let Some(closed) = self.relax.sequences.pop() else { return };
        if self.cx.fire(rule!("SCOPE.SEQ.EXIT")) {
            self.leave(closed.start);
        }
    }

    pub(super) fn visible_count(&self) -> usize {
        self.relax.visible.len()
    }

    /// Removes from scope all visible variables after the first `start`.
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
            bound.state = Visibility::Gone;
        }
    }

    /// The end of a block: SCOPE.DF.EXIT for a `DataflowBlock`; an ordinary block is no scope (SCOPE.FOUR).
    pub(super) fn close_block(&mut self, kind: BlockKind, start: usize) {
        match kind {
            BlockKind::Binding => {
                let (nothing, all) = (self.visible_count(), start);
                let leaving = if self.cx.fire(rule!("SCOPE.FOUR")) { nothing } else { all };
                self.leave(leaving);
            }
            BlockKind::Dataflow => {
                if self.cx.fire(rule!("SCOPE.DF.EXIT")) && self.cx.fire(rule!("R89.DF.LOCAL")) {
                    self.drop_dataflow_vars(start);
                }
            }
        }
    }

    fn drop_dataflow_vars(&mut self, start: usize) {
        let recent = self.relax.visible.split_off(start.min(self.relax.visible.len()));
        for var in recent {
            match self.relax.table.get_mut(var) {
                Some(bound) if bound.kind == VarKind::DataflowVar => bound.state = Visibility::Gone,
                Some(_) | None => self.relax.visible.push(var),
            }
        }
    }
}

/// Whether a visible variable may be used at the current position, by some scoping rule.
fn visible_by_its_region(cx: &mut Cx, sequences: &[Sequence], bound: VariableRecord) -> bool {
    let VariableRecord { kind, region, .. } = bound;
    let at = match region {
        ScopeRegion::Function | ScopeRegion::OwnLiteral => None,
        ScopeRegion::Block { sequence, .. } => match sequences.get(sequence) {
            Some(open) => Some(open.at),
            // A variable whose sequence did not remove it (SCOPE.SEQ.EXIT) stays visible.
            None => return true,
        },
    };
    let ordinary = kind == VarKind::Var;
    let in_block = |at: usize| matches!(region, ScopeRegion::Block { block, .. } if block == at);
    let visible = cx.by_cases(&[
        (rule!("SCOPE.FUNC.PARAM"), region == ScopeRegion::Function, true),
        (rule!("SCOPE.FUNC.REC"), region == ScopeRegion::OwnLiteral, true),
        (rule!("SCOPE.DF.LATER"), at.is_some() && !ordinary, true),
        (rule!("SCOPE.SEQ.BODY"), at == Some(SequencePoint::Body) && ordinary, true),
        (rule!("SCOPE.SEQ.LATER-SAME"), matches!(at, Some(SequencePoint::Block(at)) if in_block(at) && ordinary), true),
        (
            rule!("SCOPE.SEQ.LATER-BLOCKS"),
            matches!(at, Some(SequencePoint::Block(at)) if !in_block(at) && ordinary),
            true,
        ),
    ]);
    // R89.VAR.SCOPE, R89.DF.GRAPH: an ordinary variable is visible in its function or sequence, a local one within its
    // graph.
    let by_kind = if ordinary { rule!("R89.VAR.SCOPE") } else { rule!("R89.DF.GRAPH") };
    let visible = visible.is_some() && cx.conclude(by_kind, true);
    visible && (!escapes(bound, at) || cx.conclude(rule!("SCOPE.DF.ESCAPE"), true))
}

/// Whether an ordinary variable of a `DataflowBlock` is used after that block.
fn escapes(bound: VariableRecord, at: Option<SequencePoint>) -> bool {
    match (bound.region, at) {
        (ScopeRegion::Block { block, kind: BlockKind::Dataflow, .. }, Some(at)) => {
            bound.kind == VarKind::Var && at != SequencePoint::Block(block)
        }
        (ScopeRegion::Function | ScopeRegion::OwnLiteral | ScopeRegion::Block { .. }, _) => false,
    }
}

fn kind_name(kind: VarKind) -> &'static str {
    match kind {
        VarKind::Var => "Var",
        VarKind::DataflowVar => "DataflowVar",
    }
}
