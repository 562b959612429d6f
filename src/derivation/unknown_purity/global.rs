//! Infers the purity that derivation leaves unknown, for a whole module, and derives again everything that depends on
//! it.

use rustc_hash::FxHashMap;

use super::local::PuritySummary;
use crate::book::Erratum;
use crate::derivation::{Beforehand, DeriveReport, Deriver};
use crate::findings::{Complaint, Demand, Finder, Trail};
use crate::grammar::{IrModule, Name, Span, StructInfo};
use crate::judge::Cx;
use crate::scope::{Component, strongly_connected};

/// The results of a derivation, for the next one.
#[derive(Clone, Default, Debug)]
pub(crate) struct Settled {
    /// The derived information of the global functions.
    pub(super) entries: FxHashMap<Name, Option<StructInfo>>,
    /// The purity of the functions that were left unknown.
    pub(super) purity: FxHashMap<Name, bool>,
}

/// The limit on repeated derivations. Without it a result that grows each time would never be finished. An example is a
/// function that returns a tuple with its own result.
const TIMES: usize = 32;

/// Derives a module and settles the purity of its functions.
pub(in crate::derivation) fn derived(
    cx: &mut Cx,
    module: &IrModule,
    groups: &[Component],
    beforehand: Beforehand,
) -> (DeriveReport, Beforehand) {
    let mut deriver = rechecked(cx, module, groups, beforehand);
    loop {
        let decisions = deriver.decisions();
        if decisions.is_empty() {
            break;
        }
        let Deriver { cx, mut beforehand, .. } = deriver;
        beforehand.settled.purity.extend(decisions);
        deriver = rechecked(cx, module, groups, beforehand);
    }
    deriver.forced_cycles();
    deriver.left_unknown();
    (deriver.report, deriver.beforehand)
}

/// PURITY3.RECHECK: derives again until the assumed information of the functions equals the derived one.
fn rechecked<'c, 'm>(
    cx: &'c mut Cx,
    module: &'m IrModule,
    groups: &[Component],
    beforehand: Beforehand,
) -> Deriver<'c, 'm> {
    let mut deriver = once(cx, module, groups, beforehand);
    let mut times = 0;
    while deriver.inferring.overwritten && deriver.cx.fire(rule!("PURITY3.RECHECK")) {
        times += 1;
        if times > TIMES {
            let rule = rule!("PURITY3.RECHECK");
            let reason = "what recursive functions return comes to no end, annotate their results";
            deriver.complain(rule, Span::NONE, &|| Complaint::limit(reason));
            break;
        }
        let Deriver { cx, beforehand, .. } = deriver;
        let told = beforehand.settled.entries.clone();
        deriver = once(cx, module, groups, beforehand);
        if deriver.beforehand.settled.entries == told {
            break;
        }
    }
    deriver
}

/// Derives once and keeps the results.
fn once<'c, 'm>(cx: &'c mut Cx, module: &'m IrModule, groups: &[Component], beforehand: Beforehand) -> Deriver<'c, 'm> {
    let mut deriver = Deriver { beforehand, ..Deriver::new(cx, module) };
    deriver.module_in(groups);
    let entries = deriver.inferring.globals.keys().filter_map(|name| {
        let entry = deriver.globals.get(name)?;
        Some(((*name).into(), entry.clone()))
    });
    deriver.beforehand.settled.entries = entries.collect();
    deriver
}

/// A function of the module, with its name.
type Member<'a, 'm> = (&'m str, &'a PuritySummary<'m>);

/// A cycle: functions each of which calls all others, directly or indirectly.
struct Cycle<'a, 'm> {
    members: Vec<Member<'a, 'm>>,
    /// Whether it has several members, or its only member calls itself.
    recursive: bool,
}

impl Cycle<'_, '_> {
    fn is_mutual(&self) -> bool {
        self.members.len() > 1
    }

    /// The members whose purity is unknown.
    fn unknown(&self) -> impl Iterator<Item = Name> {
        self.members.iter().filter(|(_, member)| member.purity.is_none()).map(|(name, _)| (*name).into())
    }

    fn has_impure(&self) -> bool {
        self.members.iter().any(|(_, member)| member.purity == Some(false))
    }

    /// Whether every callee of unknown purity belongs to the cycle or is settled together with it.
    fn is_closed(&self, settled: &FxHashMap<Name, bool>) -> bool {
        let inside = |name: &str| self.members.iter().any(|(member, _)| *member == name) || settled.contains_key(name);
        self.members
            .iter()
            .all(|(_, member)| !member.calls.closure && member.calls.unknown.iter().all(|name| inside(name)))
    }

    /// Whether a member calls a function that is settled as impure.
    fn calls_impure(&self, settled: &FxHashMap<Name, bool>) -> bool {
        let impure = |name: &&str| settled.get(*name) == Some(&false);
        self.members.iter().any(|(_, member)| !member.forced && member.calls.unknown.iter().any(impure))
    }
}

type Decisions = FxHashMap<Name, bool>;

impl<'m> Deriver<'_, 'm> {
    /// The cycles of functions, callees first.
    fn cycles<'a>(inferred: &'a FxHashMap<&'m str, PuritySummary<'m>>) -> Vec<Cycle<'a, 'm>> {
        let mut members: Vec<Member<'a, 'm>> = inferred.iter().map(|(name, member)| (*name, member)).collect();
        members.sort_by_key(|(name, _)| *name);
        let at: FxHashMap<&str, usize> = members.iter().enumerate().map(|(at, (name, _))| (*name, at)).collect();
        let callees = |(_, member): &Member<'a, 'm>| {
            let mut callees: Vec<usize> =
                member.calls.reached.iter().filter_map(|name| at.get(name).copied()).collect();
            callees.sort_unstable();
            callees
        };
        let graph: Vec<Vec<usize>> = members.iter().map(callees).collect();
        let cycle = |group: Vec<usize>| {
            let recursive = group.len() > 1 || group.iter().any(|at| graph[*at].contains(at));
            Cycle { members: group.into_iter().filter_map(|at| members.get(at).copied()).collect(), recursive }
        };
        strongly_connected(&graph).into_iter().map(cycle).collect()
    }

    /// The decisions of the first of the three steps that can settle anything.
    fn decisions(&mut self) -> Decisions {
        let inferred = std::mem::take(&mut self.inferring.globals);
        let cycles = Self::cycles(&inferred);
        let mut decisions = self.impure_cycles(&cycles);
        if decisions.is_empty() {
            decisions = self.pure_cycles(&cycles);
        }
        if decisions.is_empty() {
            decisions = self.recursive_functions(&cycles);
        }
        drop(cycles);
        self.inferring.globals = inferred;
        decisions
    }

    /// PURITY3.GLOBAL.IMPURE: in a cycle with an impure function every function of unknown purity is impure.
    fn impure_cycles(&mut self, cycles: &[Cycle<'_, 'm>]) -> Decisions {
        let mut settled = Decisions::default();
        for cycle in cycles.iter().filter(|cycle| cycle.is_mutual()) {
            let impure = cycle.has_impure() || cycle.calls_impure(&settled);
            if impure && cycle.unknown().next().is_some() && self.cx.fire(rule!("PURITY3.GLOBAL.IMPURE")) {
                settled.extend(cycle.unknown().map(|name| (name, false)));
            }
        }
        settled
    }

    /// PURITY3.GLOBAL.PURE: a function of unknown purity is pure if its cycle calls no other function of unknown
    /// purity. PURITY3.GLOBAL.ONLY: only cycles are settled.
    ///
    /// Errata: U08. Read literally, nothing outside of cycles is unknown, so it is not checked.
    fn pure_cycles(&mut self, cycles: &[Cycle<'_, 'm>]) -> Decisions {
        let mut settled = Decisions::default();
        for cycle in cycles.iter().filter(|cycle| cycle.unknown().next().is_some()) {
            let lone = !cycle.is_mutual() && !cycle.recursive;
            let considered = if lone { !self.cx.fire(rule!("PURITY3.GLOBAL.ONLY")) } else { cycle.is_mutual() };
            let closed = lone || cycle.is_closed(&settled) || self.cx.literal(Erratum::U08);
            if considered && closed && self.cx.fire(rule!("PURITY3.GLOBAL.PURE")) {
                settled.extend(cycle.unknown().map(|name| (name, true)));
            }
        }
        settled
    }

    /// PURITY3.GLOBAL.SELF: settles a function whose purity is unknown because it calls itself. As such calls do not
    /// count, there is no such function.
    ///
    /// Errata: U07. Read literally, it is settled whatever the reason.
    fn recursive_functions(&mut self, cycles: &[Cycle<'_, 'm>]) -> Decisions {
        let mut settled = Decisions::default();
        let lone = |cycle: &&Cycle<'_, 'm>| !cycle.is_mutual() && cycle.recursive && cycle.unknown().next().is_some();
        for cycle in cycles.iter().filter(lone) {
            if self.cx.literal(Erratum::U07) && self.cx.fire(rule!("PURITY3.GLOBAL.SELF")) {
                settled.extend(cycle.unknown().map(|name| (name, true)));
            }
        }
        settled
    }

    /// PURITY3.GLOBAL.FORCE: no function is forced to be pure in a cycle with an impure one.
    fn forced_cycles(&mut self) {
        let inferred = std::mem::take(&mut self.inferring.globals);
        for cycle in Self::cycles(&inferred).iter().filter(|cycle| cycle.is_mutual()) {
            for (name, forced) in cycle.members.iter().filter(|(_, member)| member.forced) {
                self.trail = Trail::new((*name).into());
                let others = cycle.has_impure();
                let demand: Demand = (rule!("PURITY3.GLOBAL.FORCE"), 1, !others, &|| {
                    Complaint::error(format!(
                        "`{name}` is forced to be pure, and recursive by way of a function that is impure"
                    ))
                });
                self.demand(forced.span, &[demand]);
            }
        }
        self.inferring.globals = inferred;
    }

    /// PURITY3.GLOBAL.DEFER: functions may remain unknown until the program is lowered.
    ///
    /// Errata: U08. Read literally, no function remains unknown.
    fn left_unknown(&mut self) {
        if self.cx.literal(Erratum::U08) {
            return;
        }
        let inferred = std::mem::take(&mut self.inferring.globals);
        let mut names: Vec<&&str> = inferred.keys().collect();
        names.sort_unstable();
        for name in names {
            let Some(of) = inferred.get(name) else { continue };
            self.trail = Trail::new((*name).into());
            let unknown = of.purity.is_none();
            let demand: Demand = (rule!("PURITY3.GLOBAL.DEFER"), 1, !unknown && !of.calls.leaves_open, &|| {
                let what = if unknown { "is of unknown purity" } else { "calls a closure of unknown purity" };
                Complaint::warning(format!(
                    "`{name}` {what}, so that the program can be checked, and not be compiled or run"
                ))
                .with_hint("annotate the closure that it calls with its purity")
            });
            self.demand(of.span, &[demand]);
        }
        self.inferring.globals = inferred;
    }
}
