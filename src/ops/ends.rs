//! What shows that a program ends whatever its arguments are, in either form.

use crate::grammar::tir::Stmt;
use crate::judge::with_stack;

/// Whether statements have a loop without a bound.
pub fn repeats(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| {
        with_stack(|| match stmt {
            Stmt::While(_) => true,
            Stmt::For(f) => repeats(&f.body),
            Stmt::Block(b) => b.init.iter().any(|init| repeats(init)) || repeats(&b.body),
            Stmt::If(i) => repeats(&i.then) || repeats(&i.otherwise),
            Stmt::Attr(a) => repeats(&a.body),
            Stmt::LaunchThread(l) => repeats(&l.body),
            Stmt::Store(_)
            | Stmt::Let(_)
            | Stmt::Alloc(_)
            | Stmt::Decl(_)
            | Stmt::Assert(_)
            | Stmt::Evaluate(_)
            | Stmt::Break
            | Stmt::Continue => false,
        })
    })
}

/// Whether a graph has no cycle; the edges are those from each node.
pub fn is_acyclic(edges: &[Vec<usize>]) -> bool {
    let mut open = vec![0usize; edges.len()];
    edges.iter().flatten().filter_map(|to| open.get_mut(*to).map(|open| *open += 1)).for_each(drop);
    let mut free: Vec<usize> = (0..edges.len()).filter(|node| open.get(*node) == Some(&0)).collect();
    let mut done = 0;
    while let Some(node) = free.pop() {
        done += 1;
        for to in edges.get(node).into_iter().flatten() {
            if let Some(open) = open.get_mut(*to) {
                *open -= 1;
                if *open == 0 {
                    free.push(*to);
                }
            }
        }
    }
    done == edges.len()
}

/// Whether an operator or a packed function calls the function in its first argument.
pub fn calls_its_argument(name: &str) -> bool {
    name.ends_with("invoke_closure") || name == "relax.invoke_pure_closure" || name == "relax.call_pure_packed"
}
