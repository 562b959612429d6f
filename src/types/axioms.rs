//! Subtyping as the text gives it: axioms, closed under reflexivity and transitivity on a finite set of types.
//! [`super::is_subtype`] decides the same relation without the closure.

use std::collections::HashMap;
use std::hash::Hash;

use crate::book::Erratum;
use crate::grammar::{DynTensorType, FuncType, Type};
use crate::judge::Cx;

/// A relation on the members of a finite list, by their positions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FiniteRelation {
    rows: Vec<Vec<u64>>,
}

impl FiniteRelation {
    /// The least reflexive and transitive relation that contains `axiom`. `axiom` may ask about components, which must
    /// be members of the list themselves.
    pub fn closure<T: Hash + Eq>(
        members: &[T],
        mut axiom: impl FnMut(&T, &T, &dyn Fn(&T, &T) -> bool) -> bool,
    ) -> FiniteRelation {
        let positions: HashMap<&T, usize> = members.iter().enumerate().map(|(i, member)| (member, i)).collect();
        let mut relation = FiniteRelation { rows: vec![vec![0; members.len().div_ceil(64)]; members.len()] };
        (0..members.len()).for_each(|i| relation.insert(i, i));
        loop {
            let before = relation.clone();
            let holds = |a: &T, b: &T| match (positions.get(a), positions.get(b)) {
                (Some(i), Some(j)) => before.contains(*i, *j),
                (Some(_) | None, Some(_) | None) => false,
            };
            for (i, a) in members.iter().enumerate() {
                for (j, b) in members.iter().enumerate() {
                    if !relation.contains(i, j) && axiom(a, b, &holds) {
                        relation.insert(i, j);
                    }
                }
            }
            relation.close_transitively();
            if relation == before {
                return relation;
            }
        }
    }

    /// Whether `i` is related to `j`.
    pub fn contains(&self, i: usize, j: usize) -> bool {
        self.rows.get(i).and_then(|row| row.get(j / 64)).is_some_and(|word| word & (1 << (j % 64)) != 0)
    }

    fn insert(&mut self, i: usize, j: usize) {
        if let Some(word) = self.rows.get_mut(i).and_then(|row| row.get_mut(j / 64)) {
            *word |= 1 << (j % 64);
        }
    }

    fn close_transitively(&mut self) {
        for middle in 0..self.rows.len() {
            let Some(above) = self.rows.get(middle).cloned() else { return };
            for i in 0..self.rows.len() {
                if self.contains(i, middle)
                    && let Some(row) = self.rows.get_mut(i)
                {
                    row.iter_mut().zip(&above).for_each(|(word, more)| *word |= more);
                }
            }
        }
    }
}

/// Whether one clause of Rules for Subtyping, other than reflexivity and transitivity, puts `t1` below `t2`. `below` is
/// the relation of the components.
pub fn axiom(cx: &mut Cx, t1: &Type, t2: &Type, below: &dyn Fn(&Type, &Type) -> bool) -> bool {
    match (t1, t2) {
        (_, Type::Object) => cx.fire(rule!("SUB.TOP")),
        (Type::Tensor(t1), Type::Tensor(t2)) => tensor_axiom(cx, t1, t2),
        (Type::Shape(_), Type::Shape(t2)) => {
            let stated = !cx.literal(Erratum::A17);
            stated && t2.ndim.is_unknown() && cx.fire(rule!("SUB.SHAPE"))
        }
        (Type::Tuple(fields1), Type::Tuple(fields2)) => {
            let fieldwise =
                fields1.len() == fields2.len() && fields1.iter().zip(fields2.iter()).all(|(a, b)| below(a, b));
            fieldwise && cx.fire(rule!("SUB.TUPLE"))
        }
        (Type::Func(f1), Type::Func(f2)) => purity_axiom(cx, f1, f2) || variance_axiom(cx, f1, f2, below),
        (
            Type::Object
            | Type::Tensor(_)
            | Type::Shape(_)
            | Type::Prim(_)
            | Type::Tuple(_)
            | Type::Func(_)
            | Type::PackedFunc,
            Type::Tensor(_) | Type::Shape(_) | Type::Prim(_) | Type::Tuple(_) | Type::Func(_) | Type::PackedFunc,
        ) => false,
    }
}

fn tensor_axiom(cx: &mut Cx, t1: &DynTensorType, t2: &DynTensorType) -> bool {
    let dtype = !t1.ndim.is_unknown() && t1.ndim == t2.ndim && t2.dtype.is_void();
    let rank = !t1.ndim.is_unknown() && !t1.dtype.is_void() && t1.dtype == t2.dtype && t2.ndim.is_unknown();
    let top = !cx.literal(Erratum::A17) && t2.ndim.is_unknown() && t2.dtype.is_void();
    let below = cx.by_cases(&[
        (rule!("SUB.TENSOR.DTYPE"), dtype, true),
        (rule!("SUB.TENSOR.RANK"), rank, true),
        (rule!("SUB.TENSOR.TOP"), top, true),
    ]);
    below.is_some()
}

fn purity_axiom(cx: &mut Cx, f1: &FuncType, f2: &FuncType) -> bool {
    let rest = f1.arg_types == f2.arg_types && f1.ret_type == f2.ret_type;
    f1.pure && !f2.pure && rest && cx.fire(rule!("SUB.FUNC.PURE"))
}

fn variance_axiom(cx: &mut Cx, f1: &FuncType, f2: &FuncType, below: &dyn Fn(&Type, &Type) -> bool) -> bool {
    let comparable = f1.pure == f2.pure && f1.arg_types.len() == f2.arg_types.len();
    let holds = comparable
        && f1.arg_types.iter().zip(f2.arg_types.iter()).all(|(arg1, arg2)| below(arg2, arg1))
        && below(&f1.ret_type, &f2.ret_type);
    holds && cx.fire(rule!("SUB.FUNC.VARIANCE"))
}
