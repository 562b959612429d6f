//! `PrimFunc`s that a pass leaves as they are. Where the bodies do not tell what they give, because the oracle does not
//! know it or the text leaves it open, simpler functions stand in for them on both sides.

use std::collections::BTreeSet;
use std::sync::Arc;

use relax_spec::grammar::tir::{Buffer, Conditional, Expr, For, ForKind, Load, Param, PrimFunc, Stmt, Store, Var};
use relax_spec::grammar::{Attrs, BinaryOp, DataType, GlobalFunc, GlobalVar, IrModule, Name, Span};
use relax_spec::judge::with_stack;
use relax_spec::syntax::tvmscript::{Dialect, print_module};

/// What a stand-in reads: a function may also depend on what its results held before, but reading memory that nothing
/// has written is undefined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StandInReads {
    /// All arguments.
    All,
    /// All but those that it writes.
    Operands,
}

/// Both programs with stand-ins for the `PrimFunc`s that they have in common; `None` if there is none.
pub(super) fn with_stand_ins(before: &IrModule, after: &IrModule, reads: StandInReads) -> Option<(IrModule, IrModule)> {
    let (mut before, mut after) = (before.clone(), after.clone());
    let mut any = false;
    for (at, (gv, func)) in before.funcs.iter_mut().enumerate() {
        let other = after.funcs.iter_mut().find(|(known, _)| known.name == gv.name);
        if let (GlobalFunc::PrimFunc(own), Some((_, GlobalFunc::PrimFunc(other)))) = (func, other)
            && body_of(own) == body_of(other)
            && let Some(body) = stand_in(own, at, reads)
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

/// A body that writes one number to all elements of the buffers that a function writes. The number depends on the
/// function, on the elements that it may read and on their places. `None` if it may also write in other ways.
fn stand_in(func: &PrimFunc, at: usize, reads: StandInReads) -> Option<Vec<Stmt>> {
    let mut written = BTreeSet::new();
    let is_read_otherwise = |param: &Param| match param {
        Param::Buffer(buffer) => buffer.dtype.lanes != 1,
        Param::Handle(_) => true,
        Param::Scalar(_) => false,
    };
    if func.ret.is_some() || func.params.iter().any(is_read_otherwise) || !stores(&func.body, &mut written) {
        return None;
    }
    let mut body = vec![Stmt::Alloc(sum())];
    for param in &func.params {
        if let Param::Buffer(buffer) = param
            && written.contains(&buffer.name)
        {
            let is_read = |other: &Buffer| reads == StandInReads::All || !written.contains(&other.name);
            body.push(store(&sum(), vec![int(0)], int(1 + at as i64)));
            body.extend(func.params.iter().enumerate().filter_map(|(nth, param)| added(param, nth, &is_read)));
            body.push(filled(buffer));
        }
    }
    Some(body)
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

/// What is modulo of the sum. A prime, so that few sums are equal by chance.
const MODULUS: i64 = 10_007;

/// The buffer with the sum of what a stand-in reads.
fn sum() -> Buffer {
    Buffer::new("stand_in_sum", vec![int(1)], DataType::INT64)
}

fn int(value: i64) -> Expr {
    Expr::Int(value, DataType::INT64)
}

fn of(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    Expr::binary(op, a, b, Span::NONE)
}

fn load(buffer: &Buffer, indices: Vec<Expr>) -> Expr {
    Expr::Load(Load { buffer: buffer.var(Span::NONE), indices, span: Span::NONE })
}

fn store(buffer: &Buffer, indices: Vec<Expr>, value: Expr) -> Stmt {
    Stmt::Store(Store { buffer: buffer.var(Span::NONE), indices, value, span: Span::NONE })
}

/// Statements that add a parameter to the sum, if it is read.
fn added(param: &Param, nth: usize, is_read: &dyn Fn(&Buffer) -> bool) -> Option<Stmt> {
    let with = |value: Expr, place: Expr| {
        let weighted = of(BinaryOp::Mul, coded(value), of(BinaryOp::Add, place, int(1 + 16 * nth as i64)));
        let sum_so_far = load(&sum(), vec![int(0)]);
        let next = of(BinaryOp::FloorMod, of(BinaryOp::Add, sum_so_far, weighted), int(MODULUS));
        store(&sum(), vec![int(0)], next)
    };
    match param {
        Param::Scalar(var) => Some(with(Expr::Var(var.clone()), int(0))),
        Param::Buffer(buffer) if is_read(buffer) => {
            let place = (0..buffer.shape.len()).fold(int(0), |place, axis| {
                let own = of(BinaryOp::Mul, Expr::Var(index(axis)), int(5 + 6 * axis as i64));
                of(BinaryOp::Add, place, own)
            });
            Some(loops(buffer, with(load(buffer, indices(buffer)), place)))
        }
        Param::Buffer(_) | Param::Handle(_) => None,
    }
}

/// A small number for a number of any data type: of a float, in which eighth between -8 and 8 it lies.
fn coded(value: Expr) -> Expr {
    let dtype = value.dtype();
    if !dtype.is_float() {
        return of(BinaryOp::FloorMod, Expr::Cast(DataType::INT64, Box::new(value)), int(MODULUS));
    }
    let number = |x: f64| Expr::float(x, DataType::FLOAT64);
    let value = Expr::Cast(DataType::FLOAT64, Box::new(value));
    let bounded = of(BinaryOp::Max, of(BinaryOp::Min, value.clone(), number(8.0)), number(-8.0));
    let eighths = Expr::Cast(DataType::INT64, Box::new(of(BinaryOp::Mul, bounded, number(8.0))));
    let choice = Conditional {
        condition: of(BinaryOp::Eq, value.clone(), value),
        then: of(BinaryOp::Add, eighths, int(65)),
        otherwise: int(130),
    };
    Expr::IfThenElse(Box::new(choice))
}

/// Loops that write the sum to each element: as a number below 3, which may be an index, if they are integers.
fn filled(buffer: &Buffer) -> Stmt {
    let below = match (buffer.dtype.is_float(), buffer.dtype.is_bool()) {
        (true, _) => 256,
        (false, true) => 2,
        (false, false) => 3,
    };
    // Spread first, so that sums that differ by a multiple of a small number differ here too.
    let spread = of(BinaryOp::Mul, load(&sum(), vec![int(0)]), int(4_099));
    let value = of(BinaryOp::FloorMod, of(BinaryOp::FloorMod, spread, int(MODULUS)), int(below));
    loops(buffer, store(buffer, indices(buffer), Expr::Cast(buffer.dtype, Box::new(value))))
}

fn index(axis: usize) -> Var {
    Var { name: format!("stand_in_{axis}").into(), dtype: DataType::INT64, span: Span::NONE }
}

fn indices(buffer: &Buffer) -> Vec<Expr> {
    (0..buffer.shape.len()).map(|axis| Expr::Var(index(axis))).collect()
}

/// A statement for each element of a buffer.
fn loops(buffer: &Buffer, inner: Stmt) -> Stmt {
    buffer.shape.iter().enumerate().rev().fold(inner, |inner, (axis, size)| {
        Stmt::For(Box::new(For {
            var: index(axis),
            start: int(0),
            stop: size.clone(),
            step: None,
            kind: ForKind::Serial,
            annotations: Attrs::new(),
            body: vec![inner],
            span: Span::NONE,
        }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use relax_spec::judge::Cx;
    use relax_spec::refine::{RefinementVerdict, Settings, refine};
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
        let (left, right) = with_stand_ins(&before, &after, StandInReads::Operands).unwrap();
        assert_ne!(left, before);
        assert_eq!(left.funcs.first(), right.funcs.first());
        assert!(with_stand_ins(&before, &program("i", "x"), StandInReads::Operands).is_none());
    }

    /// Functions of two operands, whose bodies leave open what they give, and a caller.
    fn functions() -> String {
        let of_two = |name: &str, operator: &str| {
            format!(
                "    @T.prim_func(private=True)
    def {name}(a: T.handle, b: T.handle, c: T.handle):
        A = T.match_buffer(a, (2,), \"DTYPE\")
        B = T.match_buffer(b, (2,), \"DTYPE\")
        C = T.match_buffer(c, (2,), \"DTYPE\")
        for i in range(2):
            C[i] = A[i + 7] {operator} B[i]
"
            )
        };
        let text = r#"
@I.ir_module
class Module:
SUM
DIFFERENCE
    @T.prim_func(private=True)
    def h(a: T.handle, n: T.int64):
        A = T.match_buffer(a, (2,), "DTYPE")
        A[n] = A[n + 7]

    @R.function(pure=False)
    def main(x: R.Tensor((2,), "DTYPE"), y: R.Tensor((2,), "DTYPE")) -> R.Tensor((2,), "DTYPE"):
        cls = Module
        z = CALL
        return z
"#;
        text.replace("SUM", &of_two("f", "+")).replace("DIFFERENCE", &of_two("g", "-"))
    }

    /// What a pass made of the calls shows in the stand-ins.
    #[test]
    fn a_stand_in_tells_its_arguments_and_its_function() {
        let functions = functions();
        let dps = |callee: &str, args: &str| {
            format!("R.call_tir(cls.{callee}, ({args}), out_sinfo=R.Tensor((2,), \"DTYPE\"))")
        };
        let in_place = |args: &str| {
            format!(
                "R.call_tir_inplace(cls.h, ({args},), inplace_indices=[0], out_sinfo=R.Tensor((2,), \"DTYPE\"), \
                 tir_vars=R.shape([0]))"
            )
        };
        for dtype in ["float32", "int64", "int8", "float16"] {
            let main = |call: &str| parse_module(&functions.replace("CALL", call).replace("DTYPE", dtype)).unwrap();
            let verdict = |before: &str, after: &str, reads| {
                let (before, after) = with_stand_ins(&main(before), &main(after), reads).unwrap();
                let settings = Settings::runs(20);
                refine(&mut Cx::new(), &before, &after, "main", &[], &settings).unwrap().verdict
            };
            let is_wrong = |before: &str, after: &str, reads| {
                let found = verdict(before, after, reads);
                assert!(matches!(found, RefinementVerdict::NotAllowed { .. }), "{dtype}: {after}: {found:?}");
            };
            let right = dps("f", "x, y");
            assert_eq!(verdict(&right, &right, StandInReads::Operands), RefinementVerdict::Allowed, "{dtype}");
            is_wrong(&right, &dps("f", "y, x"), StandInReads::Operands);
            is_wrong(&right, &dps("f", "x, x"), StandInReads::Operands);
            is_wrong(&right, &dps("g", "x, y"), StandInReads::Operands);
            is_wrong(&right, &dps("f", "R.flip(x, axis=0), y"), StandInReads::Operands);
            assert_eq!(verdict(&in_place("x"), &in_place("x"), StandInReads::All), RefinementVerdict::Allowed);
            is_wrong(&in_place("x"), &in_place("y"), StandInReads::All);
        }
    }
}
