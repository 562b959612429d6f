//! Scopes (chapter Variable Scoping). A context grows with each binding, and shrinks again at the end of a scope.
//!
//! Every context is one map with an undo log. Entering and leaving a scope costs as much as the variables that it
//! binds, however many others are visible.

use std::borrow::Borrow;
use std::collections::hash_map::Entry;
use std::hash::Hash;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::grammar::visit::Visitor;
use crate::grammar::{GlobalFunc, GlobalVar, IrModule};

/// A finite map from variables to facts about them, with scopes.
#[derive(Clone, Debug)]
pub struct Context<K, V> {
    entries: FxHashMap<K, V>,
    /// The entry that each new one replaced, in order. Boxed, because there is usually none.
    log: Vec<(K, Option<Box<V>>)>,
}

/// A point in the history of a [`Context`]. [`Context::leave`] returns to it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ContextMark(usize);

impl<K, V> Default for Context<K, V> {
    fn default() -> Context<K, V> {
        Context { entries: FxHashMap::default(), log: Vec::new() }
    }
}

impl<K: Clone + Eq + Hash, V> Context<K, V> {
    /// The context without entries.
    pub fn new() -> Context<K, V> {
        Context::default()
    }

    /// The start of a scope.
    pub fn mark(&self) -> ContextMark {
        ContextMark(self.log.len())
    }

    /// Adds an entry, which hides an older one of the same key until the scope ends.
    pub fn enter(&mut self, key: K, value: V) {
        let older = self.entries.insert(key.clone(), value);
        self.log.push((key, older.map(Box::new)));
    }

    /// Makes room for this many entries more, so that the map of a long block is laid out once.
    pub fn reserve(&mut self, entries: usize) {
        self.entries.reserve(entries);
        self.log.reserve(entries);
    }

    /// Ends a scope: everything entered since the mark leaves.
    pub fn leave(&mut self, mark: ContextMark) {
        while self.log.len() > mark.0 {
            let Some((key, older)) = self.log.pop() else { return };
            self.restore(key, older);
        }
    }

    /// Removes the entries made since the mark that `goes` selects. The others stay until their own scope ends.
    pub fn leave_some(&mut self, mark: ContextMark, goes: impl Fn(&K, &V) -> bool) {
        let recent = self.log.split_off(mark.0.min(self.log.len()));
        let mut staying = Vec::new();
        for (key, older) in recent.into_iter().rev() {
            match self.entries.entry(key.clone()) {
                Entry::Occupied(mut entry) if goes(&key, entry.get()) => match older {
                    Some(value) => drop(entry.insert(*value)),
                    None => drop(entry.remove()),
                },
                Entry::Occupied(_) | Entry::Vacant(_) => staying.push((key, older)),
            }
        }
        self.log.extend(staying.into_iter().rev());
    }

    fn restore(&mut self, key: K, older: Option<Box<V>>) {
        match older {
            Some(value) => self.entries.insert(key, *value),
            None => self.entries.remove(&key),
        };
    }

    /// The innermost entry of the key.
    pub fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.entries.get(key)
    }

    /// Whether the key has an entry.
    pub fn contains<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.entries.contains_key(key)
    }

    /// Whether there is no entry at all.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// The strongly connected components of a graph, given by the successors of each node. Every component comes after the
/// components it leads to, so callees come before their callers.
pub fn strongly_connected(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut search = ComponentSearch::new(successors.len());
    for root in 0..successors.len() {
        if search.index[root].is_none() {
            search.visit(root, successors);
        }
    }
    search.components
}

/// Tarjan's algorithm with an explicit stack.
struct ComponentSearch {
    index: Vec<Option<usize>>,
    low: Vec<usize>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    components: Vec<Vec<usize>>,
    met: usize,
}

impl ComponentSearch {
    fn new(nodes: usize) -> ComponentSearch {
        ComponentSearch {
            index: vec![None; nodes],
            low: vec![0; nodes],
            on_stack: vec![false; nodes],
            stack: Vec::new(),
            components: Vec::new(),
            met: 0,
        }
    }

    fn open(&mut self, node: usize) {
        self.index[node] = Some(self.met);
        self.low[node] = self.met;
        self.met += 1;
        self.on_stack[node] = true;
        self.stack.push(node);
    }

    fn visit(&mut self, root: usize, successors: &[Vec<usize>]) {
        let mut path = vec![(root, 0)];
        self.open(root);
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            let Some(&to) = successors[node].get(*next) else {
                path.pop();
                self.close(node);
                if let Some((parent, _)) = path.last() {
                    self.low[*parent] = self.low[*parent].min(self.low[node]);
                }
                continue;
            };
            *next += 1;
            match self.index[to] {
                None => {
                    self.open(to);
                    path.push((to, 0));
                }
                Some(index) if self.on_stack[to] => self.low[node] = self.low[node].min(index),
                Some(_) => {}
            }
        }
    }

    /// Takes a component off the stack if the node is the first of it.
    fn close(&mut self, node: usize) {
        if self.index[node] != Some(self.low[node]) {
            return;
        }
        let mut component = Vec::new();
        while let Some(member) = self.stack.pop() {
            self.on_stack[member] = false;
            component.push(member);
            if member == node {
                break;
            }
        }
        component.sort_unstable();
        self.components.push(component);
    }
}

/// A group of global functions that refer to each other, directly or not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Component {
    /// Positions in the module.
    pub members: Vec<usize>,
    /// Whether a member can reach itself.
    pub recursive: bool,
    /// Whether some function of the module, perhaps one of the members, refers to a member.
    pub mentioned: bool,
}

/// The global functions in groups; a group comes after the groups that it refers to (A14). Otherwise the order is that
/// of the names, so it does not depend on the order of the module.
pub fn in_order_of_reference(module: &IrModule) -> Vec<Component> {
    let mut by_name: Vec<usize> = (0..module.funcs.len()).collect();
    by_name.sort_by(|a, b| module.funcs[*a].0.name.cmp(&module.funcs[*b].0.name));
    let mut rank = FxHashMap::default();
    for (at, index) in by_name.iter().enumerate() {
        rank.entry(&*module.funcs[*index].0.name).or_insert(at);
    }
    let graph: Vec<Vec<usize>> = by_name.iter().map(|index| references(&module.funcs[*index].1, &rank)).collect();
    let mut mentioned = vec![false; graph.len()];
    graph.iter().flatten().for_each(|to| mentioned[*to] = true);
    let component = |members: Vec<usize>| {
        let mentioned = members.iter().any(|member| mentioned[*member]);
        let recursive = members.len() > 1 || members.iter().any(|member| graph[*member].contains(member));
        Component { members: members.into_iter().map(|member| by_name[member]).collect(), recursive, mentioned }
    };
    strongly_connected(&graph).into_iter().map(component).collect()
}

/// Whether the order of reference is that of the module.
pub fn is_order_of_module(groups: &[Component]) -> bool {
    groups.iter().enumerate().all(|(at, group)| group.members == [at])
}

/// The global functions that are not rejected and do not refer, directly or not, to a rejected one, in the order of the
/// module.
pub fn unaffected(module: &IrModule, rejected: &FxHashSet<&str>) -> Vec<usize> {
    let mut rank = FxHashMap::default();
    for (index, (gv, _)) in module.funcs.iter().enumerate() {
        rank.entry(&*gv.name).or_insert(index);
    }
    let mut affected = vec![false; module.funcs.len()];
    for Component { members, .. } in in_order_of_reference(module) {
        let reached = members.iter().any(|member| {
            let (gv, func) = &module.funcs[*member];
            rejected.contains(&*gv.name) || references(func, &rank).iter().any(|to| affected[*to])
        });
        members.iter().for_each(|member| affected[*member] = reached);
    }
    (0..module.funcs.len()).filter(|index| !affected[*index]).collect()
}

/// The functions of the module that a function mentions.
fn references(func: &GlobalFunc, rank: &FxHashMap<&str, usize>) -> Vec<usize> {
    struct References<'a> {
        rank: &'a FxHashMap<&'a str, usize>,
        found: Vec<usize>,
    }
    impl Visitor for References<'_> {
        fn visit_global_var(&mut self, gv: &GlobalVar) {
            self.found.extend(self.rank.get(&*gv.name));
        }
    }
    let mut references = References { rank, found: Vec::new() };
    match func {
        GlobalFunc::Function(function) => references.visit_function(function),
        GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => {}
    }
    references.found.sort_unstable();
    references.found.dedup();
    references.found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::Expr;

    #[test]
    fn leaving_a_scope_brings_back_what_it_hid() {
        let mut context = Context::new();
        context.enter("x", 1);
        let mark = context.mark();
        context.enter("x", 2);
        context.enter("y", 3);
        assert_eq!((context.get(&"x"), context.get(&"y")), (Some(&2), Some(&3)));
        context.leave(mark);
        assert_eq!((context.get(&"x"), context.get(&"y")), (Some(&1), None));
    }

    #[test]
    fn what_stays_leaves_with_its_own_scope() {
        let mut context = Context::new();
        let outer = context.mark();
        let block = context.mark();
        context.enter("lv", true);
        context.enter("v", false);
        context.leave_some(block, |_, dataflow| *dataflow);
        assert!(!context.contains(&"lv") && context.contains(&"v"));
        context.leave(outer);
        assert!(context.is_empty());
    }

    #[test]
    fn components_come_callees_first() {
        // 0 calls 1 and 3; 1 and 2 call each other; 3 calls itself.
        let graph = [vec![1, 3], vec![2], vec![1], vec![3]];
        assert_eq!(strongly_connected(&graph), vec![vec![1, 2], vec![3], vec![0]]);
    }

    #[test]
    fn who_refers_to_a_rejected_function_is_affected() {
        use crate::testing::{func, gv, module, x};
        let calls = |name: &str| func([], Expr::call(gv(name), vec![]));
        let program = module([
            ("bad", func([], x("y"))),
            ("caller", calls("bad")),
            ("caller_of_caller", calls("caller")),
            ("fine", func([], Expr::tuple(vec![]))),
            ("uses_fine", calls("fine")),
        ]);
        assert_eq!(unaffected(&program, &FxHashSet::from_iter(["bad"])), [3, 4]);
        assert_eq!(unaffected(&program, &FxHashSet::default()), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_long_chain_does_not_exhaust_the_stack() {
        let n = 200_000;
        let graph: Vec<Vec<usize>> = (0..n).map(|i| if i + 1 < n { vec![i + 1] } else { vec![] }).collect();
        let components = strongly_connected(&graph);
        assert_eq!((components.len(), components[0].clone()), (n, vec![n - 1]));
    }
}
