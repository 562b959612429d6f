//! Vectors: each lane is computed by itself.

use super::super::code::{Access, Int, TirInstr, TirValue};
use super::super::error::TirError;
use super::{LowerResult, Lowering, malformed};
use crate::grammar::tir::{Binary, Call, Conditional, Expr, LetExpr, Load, Store};
use crate::grammar::{BinaryOp, DataType};
use crate::judge::with_stack;

impl Lowering {
    /// A store of several elements: all values are computed before the first element is written.
    pub(super) fn store_lanes(&mut self, s: &Store, lanes: u16) -> LowerResult<TirInstr> {
        let noting = std::mem::take(&mut self.noting);
        let stores = self.lanes(s, lanes);
        self.noting = noting;
        stores
    }

    fn lanes(&mut self, s: &Store, lanes: u16) -> LowerResult<TirInstr> {
        let (mut ops, mut stores) = (Vec::new(), Vec::new());
        for n in 0..lanes {
            let indices = s.indices.iter().map(|index| lane(index, n)).collect::<LowerResult<Vec<Expr>>>()?;
            let mut access = self.access(&s.buffer, &indices)?;
            for index in &mut access.indices {
                let slot = self.int_slot();
                ops.push(TirInstr::LetInt(slot, std::mem::replace(index, Int::Slot(slot))));
            }
            let value = self.value_of(&lane(&s.value, n)?, s.buffer.dtype)?;
            stores.push(self.store_later(access, value, &mut ops));
        }
        ops.extend(stores);
        Ok(TirInstr::Scope(ops))
    }

    /// Adds the computation of a value to `ops`. Returns the instruction that writes it.
    fn store_later(&mut self, access: Access, value: TirValue, ops: &mut Vec<TirInstr>) -> TirInstr {
        match value {
            TirValue::Int(value, _) => {
                let slot = self.int_slot();
                ops.push(TirInstr::LetInt(slot, value));
                TirInstr::StoreInt(access, Int::Slot(slot))
            }
            TirValue::Float(value, _) => {
                let slot = self.float_slot();
                ops.push(TirInstr::LetFloat(slot, value));
                TirInstr::StoreFloat(access, super::Float::Slot(slot))
            }
        }
    }
}

/// A lane of a vector; for a scalar, the scalar itself.
fn lane(e: &Expr, n: u16) -> LowerResult<Expr> {
    with_stack(|| {
        Ok(match e {
            Expr::Ramp(r) => {
                let steps = Expr::Int(n.into(), r.stride.dtype());
                let offset = Expr::binary(BinaryOp::Mul, steps, r.stride.clone(), r.base.span());
                Expr::binary(BinaryOp::Add, r.base.clone(), offset, r.base.span())
            }
            Expr::Broadcast(value, _) => (**value).clone(),
            Expr::Shuffle(s) => return shuffled(&s.vectors, s.indices.get(usize::from(n))),
            Expr::Int(value, dtype) => Expr::Int(*value, scalar(*dtype)),
            Expr::Float(bits, dtype) => Expr::Float(*bits, scalar(*dtype)),
            Expr::Binary(b) => {
                let Binary { op, a, b, span } = &**b;
                Expr::binary(*op, lane(a, n)?, lane(b, n)?, *span)
            }
            Expr::Not(a) => Expr::Not(Box::new(lane(a, n)?)),
            Expr::Select(c) => Expr::Select(Box::new(choice(c, n)?)),
            Expr::IfThenElse(c) => Expr::IfThenElse(Box::new(choice(c, n)?)),
            Expr::Cast(dtype, a) => Expr::Cast(scalar(*dtype), Box::new(lane(a, n)?)),
            Expr::Load(l) => Expr::Load(Load { indices: lanes_of(&l.indices, n)?, ..l.clone() }),
            Expr::Let(l) => {
                let LetExpr { var, value, body } = &**l;
                Expr::Let(Box::new(LetExpr { var: var.clone(), value: value.clone(), body: lane(body, n)? }))
            }
            Expr::Call(c) => Expr::Call(Call { dtype: scalar(c.dtype), args: lanes_of(&c.args, n)?, ..c.clone() }),
            Expr::Var(v) if v.dtype.lanes > 1 => {
                return Err(TirError::Unsupported(format!("the vector variable `{}`", v.name)));
            }
            Expr::Extern(c) if c.dtype.lanes > 1 => return Err(TirError::Unsupported(format!("T.{}", c.op))),
            Expr::Var(_) | Expr::Extern(_) | Expr::Str(_) | Expr::Data(_) => e.clone(),
        })
    })
}

fn lanes_of(es: &[Expr], n: u16) -> LowerResult<Vec<Expr>> {
    es.iter().map(|e| lane(e, n)).collect()
}

fn choice(c: &Conditional, n: u16) -> LowerResult<Conditional> {
    Ok(Conditional { condition: lane(&c.condition, n)?, then: lane(&c.then, n)?, otherwise: lane(&c.otherwise, n)? })
}

/// The lane at a position among the lanes of all vectors.
fn shuffled(vectors: &[Expr], position: Option<&Expr>) -> LowerResult<Expr> {
    let Some(Expr::Int(position, _)) = position else {
        return Err(TirError::Unsupported("a shuffle by positions that are not constant".into()));
    };
    let mut rest = *position;
    for vector in vectors {
        let lanes = vector.dtype().lanes;
        match u16::try_from(rest) {
            Ok(n) if n < lanes => return lane(vector, n),
            Ok(_) | Err(_) => rest -= i64::from(lanes),
        }
    }
    malformed(format!("a shuffle has no lane {position}"))
}

fn scalar(dtype: DataType) -> DataType {
    DataType { lanes: 1, ..dtype }
}
