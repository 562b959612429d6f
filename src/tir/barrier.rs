//! Barriers of the threads of a block. At `T.tvm_storage_sync` every thread waits for all others, so a loop over
//! threads is run as several, one behind the other: each thread comes to the barrier before any of them goes on.
//!
//! That is so where the barrier stands among the statements of the threads' loops themselves. In an inner loop, in a
//! choice, or behind what a thread defines for itself, it stays, and a run that comes to it does not know its meaning.

use std::borrow::Cow;

use crate::grammar::tir::{Expr, For, ForKind, LaunchThread, Stmt};
use crate::judge::with_stack;

/// The statements with their loops over threads taken apart at barriers; borrowed where there are none.
pub(super) fn taken_apart(body: &[Stmt]) -> Cow<'_, [Stmt]> {
    if body.iter().any(has_barrier) { Cow::Owned(body.iter().flat_map(apart).collect()) } else { Cow::Borrowed(body) }
}

fn is_barrier(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Evaluate(Expr::Extern(call)) if &*call.op == "tvm_storage_sync")
}

fn has_barrier(stmt: &Stmt) -> bool {
    let in_body = |body: &[Stmt]| with_stack(|| body.iter().any(has_barrier));
    match stmt {
        Stmt::For(each) => in_body(&each.body),
        Stmt::While(each) => in_body(&each.body),
        Stmt::Block(block) => in_body(&block.body),
        Stmt::If(choice) => in_body(&choice.then) || in_body(&choice.otherwise),
        Stmt::Attr(attr) => in_body(&attr.body),
        Stmt::LaunchThread(launch) => in_body(&launch.body),
        Stmt::Evaluate(_) => is_barrier(stmt),
        Stmt::Store(_)
        | Stmt::Let(_)
        | Stmt::Alloc(_)
        | Stmt::Decl(_)
        | Stmt::Assert(_)
        | Stmt::Break
        | Stmt::Continue => false,
    }
}

/// A statement outside of all loops over threads.
fn apart(stmt: &Stmt) -> Vec<Stmt> {
    let inside = |body: &[Stmt]| with_stack(|| body.iter().flat_map(apart).collect());
    let mut one = stmt.clone();
    match (&mut one, stmt) {
        (_, stmt) if is_thread_loop(stmt) => return parts(stmt),
        (Stmt::For(new), Stmt::For(old)) => new.body = inside(&old.body),
        (Stmt::Block(new), Stmt::Block(old)) => new.body = inside(&old.body),
        (Stmt::Attr(new), Stmt::Attr(old)) => new.body = inside(&old.body),
        (Stmt::LaunchThread(new), Stmt::LaunchThread(old)) => new.body = inside(&old.body),
        (_, _) => {}
    }
    vec![one]
}

/// Whether a loop is one over the threads that wait for each other: those of one block.
fn is_thread_loop(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::For(each) => matches!(&each.kind, ForKind::ThreadBinding(axis) if axis.starts_with("threadIdx")),
        Stmt::LaunchThread(launch) => launch.thread.starts_with("threadIdx"),
        _ => false,
    }
}

/// What each thread does from one barrier to the next. What is behind a definition of a thread's own is not parted from
/// it: the definition holds to the end.
fn phases(body: &[Stmt]) -> Vec<Vec<Stmt>> {
    let mut phases = vec![Vec::new()];
    for (nth, stmt) in body.iter().enumerate() {
        if matches!(stmt, Stmt::Let(_) | Stmt::Alloc(_) | Stmt::Decl(_)) {
            phases.iter_mut().last().into_iter().for_each(|last| last.extend_from_slice(&body[nth..]));
            break;
        }
        if is_barrier(stmt) {
            phases.push(Vec::new());
            continue;
        }
        let mut parts = with_stack(|| parts(stmt)).into_iter();
        phases.iter_mut().last().into_iter().for_each(|last| last.extend(parts.next()));
        phases.extend(parts.map(|part| vec![part]));
    }
    phases
}

/// A statement of a thread, in as many parts as barriers part it into.
fn parts(stmt: &Stmt) -> Vec<Stmt> {
    if !is_thread_loop(stmt) {
        return vec![stmt.clone()];
    }
    match stmt {
        Stmt::For(each) => {
            phases(&each.body).into_iter().map(|body| Stmt::For(Box::new(For { body, ..(**each).clone() }))).collect()
        }
        Stmt::LaunchThread(launch) => phases(&launch.body)
            .into_iter()
            .map(|body| Stmt::LaunchThread(LaunchThread { body, ..launch.clone() }))
            .collect(),
        _ => vec![stmt.clone()],
    }
}
