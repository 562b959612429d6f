//! `PrimFunc`s that a pass leaves as they are. Where the bodies do not tell what they give, because the oracle does not
//! know it or the text leaves it open, simpler functions stand in for them on both sides.

use std::collections::BTreeSet;
use std::sync::Arc;

use relax_spec::grammar::tir::{Buffer, BufferVar, Expr, For, ForKind, Param, PrimFunc, Stmt, Store, Var};
use relax_spec::grammar::{Attrs, DataType, FloatBits, GlobalFunc, GlobalVar, IrModule, Name, Span};
use relax_spec::judge::with_stack;
use relax_spec::syntax::tvmscript::{Dialect, print_module};

/// Both programs with stand-ins for the `PrimFunc`s that they have in common; `None` if there is none.
pub(super) fn with_stand_ins(before: &IrModule, after: &IrModule) -> Option<(IrModule, IrModule)> {
    let (mut before, mut after) = (before.clone(), after.clone());
    let mut any = false;
    for (at, (gv, func)) in before.funcs.iter_mut().enumerate() {
        let other = after.funcs.iter_mut().find(|(known, _)| known.name == gv.name);
        if let (GlobalFunc::PrimFunc(own), Some((_, GlobalFunc::PrimFunc(other)))) = (func, other)
            && body_of(own) == body_of(other)
            && let Some(body) = stand_in(own, at)
        {
            Arc::make_mut(own).body = body.clone();
            Arc::make_mut(other).body = body;
            any = true;
        }
    }
    any.then_some((before, after))
}

/// A function without its name and what is said of it.
fn body_of(func: &PrimFunc) -> String {
    let bare = PrimFunc { attrs: Attrs::new(), private: true, ..func.clone() };
    let funcs = vec![(GlobalVar::new("f"), GlobalFunc::PrimFunc(Arc::new(bare)))];
    print_module(&IrModule { funcs, ..IrModule::default() }, Dialect::default())
}

/// A body that writes one number to all elements of the buffers that a function writes. `None` if it may also write in
/// other ways.
fn stand_in(func: &PrimFunc, at: usize) -> Option<Vec<Stmt>> {
    let mut written = BTreeSet::new();
    if func.ret.is_some() || !stores(&func.body, &mut written) {
        return None;
    }
    let buffers = func.params.iter().filter_map(|param| match param {
        Param::Buffer(buffer) if written.contains(&buffer.name) => Some(buffer),
        Param::Buffer(_) | Param::Scalar(_) | Param::Handle(_) => None,
    });
    buffers.map(|buffer| filled(buffer, at)).collect()
}

/// Collects the buffers that statements store to; false if they may write to others.
fn stores(stmts: &[Stmt], to: &mut BTreeSet<Name>) -> bool {
    stmts.iter().all(|stmt| {
        with_stack(|| match stmt {
            Stmt::For(f) => stores(&f.body, to),
            Stmt::While(w) => stores(&w.body, to),
            Stmt::Block(b) => {
                let init = b.init.as_ref().is_none_or(|init| stores(init, to));
                b.matches.is_empty() && init && stores(&b.body, to)
            }
            Stmt::If(i) => stores(&i.then, to) && stores(&i.otherwise, to),
            Stmt::Store(s) => {
                to.insert(s.buffer.name.clone());
                true
            }
            Stmt::Attr(a) => stores(&a.body, to),
            Stmt::LaunchThread(l) => stores(&l.body, to),
            Stmt::Evaluate(Expr::Int(..)) | Stmt::Let(_) | Stmt::Alloc(_) | Stmt::Break | Stmt::Continue => true,
            Stmt::Decl(_) | Stmt::Evaluate(_) | Stmt::Assert(_) => false,
        })
    })
}

/// Loops that write a number to each element.
fn filled(buffer: &Buffer, at: usize) -> Option<Stmt> {
    let value = match (buffer.dtype.is_float(), buffer.dtype.lanes) {
        (true, 1) => Expr::Float(FloatBits::new(1.0 + at as f64), buffer.dtype),
        (false, 1) => Expr::Int(1, buffer.dtype),
        (_, _) => return None,
    };
    let index = |axis: usize| Var { name: format!("i{axis}").into(), dtype: DataType::INT64, span: Span::NONE };
    let indices = (0..buffer.shape.len()).map(|axis| Expr::Var(index(axis))).collect();
    let to = BufferVar { name: buffer.name.clone(), dtype: buffer.dtype, span: Span::NONE };
    let store = Stmt::Store(Store { buffer: to, indices, value, span: Span::NONE });
    let loops = buffer.shape.iter().enumerate().rev().fold(store, |inner, (axis, size)| {
        Stmt::For(Box::new(For {
            var: index(axis),
            start: Expr::Int(0, DataType::INT64),
            stop: size.clone(),
            step: None,
            kind: ForKind::Serial,
            annotations: Attrs::new(),
            body: vec![inner],
            span: Span::NONE,
        }))
    });
    Some(loops)
}

#[cfg(test)]
mod tests {
    use super::*;
    use relax_spec::syntax::tvmscript::parse_module;

    fn program(index: &str, call: &str) -> IrModule {
        let text = format!(
            r#"
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def f(a: T.handle, b: T.handle):
        A = T.match_buffer(a, (2,), "float32")
        B = T.match_buffer(b, (2,), "float32")
        for i in range(2):
            B[i] = A[{index}]

    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        cls = Module
        y = R.call_tir(cls.f, ({call},), out_sinfo=R.Tensor((2,), "float32"))
        return y
"#
        );
        parse_module(&text).unwrap()
    }

    #[test]
    fn only_functions_in_common_are_replaced() {
        let (before, after) = (program("i + 7", "x"), program("i + 7", "R.add(x, x)"));
        let (left, right) = with_stand_ins(&before, &after).unwrap();
        assert_ne!(left, before);
        assert_eq!(left.funcs.first(), right.funcs.first());
        assert!(with_stand_ins(&before, &program("i", "x")).is_none());
    }
}
