//! Random dimensions.

use super::Tape;
use relax_spec::grammar::{BinaryOp, PrimExpr, ShapeVar};

/// A dimension over these variables: mostly a small constant or a variable, sometimes an expression of them.
pub fn prim_expr(tape: &mut Tape, vars: &[ShapeVar]) -> PrimExpr {
    match tape.choose(8) {
        0..=2 => constant(tape),
        3..=5 => variable(tape, vars),
        6 => sum_or_product(tape, vars),
        _ => any_operator(tape, vars),
    }
}

fn constant(tape: &mut Tape) -> PrimExpr {
    PrimExpr::IntImm([3, 4, 1, 2, 0][tape.choose(5)])
}

fn variable(tape: &mut Tape, vars: &[ShapeVar]) -> PrimExpr {
    match tape.pick(vars) {
        Some(v) => PrimExpr::Var(v.clone()),
        None => constant(tape),
    }
}

/// The forms that models have: `n + 1`, `2 * n`, `n * m`.
fn sum_or_product(tape: &mut Tape, vars: &[ShapeVar]) -> PrimExpr {
    let op = [BinaryOp::Add, BinaryOp::Mul][tape.choose(2)];
    let a = variable(tape, vars);
    let b = if tape.one_in(2) { variable(tape, vars) } else { constant(tape) };
    PrimExpr::binary(op, a, b)
}

fn any_operator(tape: &mut Tape, vars: &[ShapeVar]) -> PrimExpr {
    let a = sum_or_product(tape, vars);
    if tape.one_in(3) {
        // A divisor that could be zero would make most programs fail at once.
        let op = [BinaryOp::FloorDiv, BinaryOp::FloorMod][tape.choose(2)];
        return PrimExpr::binary(op, a, PrimExpr::IntImm([2, 3, 4][tape.choose(3)]));
    }
    let op = [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Min, BinaryOp::Max][tape.choose(4)];
    PrimExpr::binary(op, a, variable(tape, vars))
}
