//! Equality of answers up to the choices of an implementation: the names of bound variables, and the form of provably
//! equal dimensions.

use std::slice;
use std::sync::Arc;

use crate::grammar::{
    FuncStructInfo, PrimExpr, PrimStructInfo, ShapeStructInfo, ShapeVar, StructInfo, TensorShape, TensorStructInfo,
};
use crate::judge::{Cx, Proof, with_stack};
use crate::oracle;
use crate::question::{Answer, Ask};
use crate::struct_info::binds_in_any_order;

/// The treatment of a function type of the first operand that does not state its purity, as is always so in the text of
/// 2023-02 (A18).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnsaidPurity {
    /// The second must not state it either.
    Unsaid,
    /// The second may state it.
    Open,
}

/// The pairs of bound shape variables of the two operands that correspond.
struct AlphaRenaming {
    pairs: Vec<(ShapeVar, ShapeVar)>,
    /// The pairs that an enclosing signature binds further to the right. Dimensions may mention them earlier.
    pending: Vec<(ShapeVar, ShapeVar)>,
    purity: UnsaidPurity,
}

/// The operand that an expression belongs to.
#[derive(Clone, Copy)]
enum OperandSide {
    First,
    Second,
}

/// Whether two pieces of structural information are equivalent.
pub fn same_struct_info(cx: &mut Cx, s1: &StructInfo, s2: &StructInfo) -> bool {
    same_but_for(cx, UnsaidPurity::Unsaid, s1, s2)
}

/// Whether the second structural information is equivalent to the first, or states more purity as far as `purity`
/// allows.
pub fn same_but_for(cx: &mut Cx, purity: UnsaidPurity, s1: &StructInfo, s2: &StructInfo) -> bool {
    same(cx, &mut AlphaRenaming { pairs: Vec::new(), pending: Vec::new(), purity }, s1, s2)
}

fn same(cx: &mut Cx, renaming: &mut AlphaRenaming, s1: &StructInfo, s2: &StructInfo) -> bool {
    with_stack(|| match (s1, s2) {
        (StructInfo::Object, StructInfo::Object) => true,
        (StructInfo::Tensor(t1), StructInfo::Tensor(t2)) => {
            t1.dtype == t2.dtype
                && t1.ndim == t2.ndim
                && t1.vdevice == t2.vdevice
                && match (&t1.shape, &t2.shape) {
                    (Some(TensorShape::Dims(d1)), Some(TensorShape::Dims(d2))) => same_dims(cx, renaming, d1, d2),
                    (shape1, shape2) => shape1 == shape2,
                }
        }
        (StructInfo::Shape(t1), StructInfo::Shape(t2)) => {
            t1.ndim == t2.ndim
                && match (&t1.values, &t2.values) {
                    (Some(d1), Some(d2)) => same_dims(cx, renaming, d1, d2),
                    (values1, values2) => values1 == values2,
                }
        }
        (StructInfo::Prim(p1), StructInfo::Prim(p2)) => {
            p1.dtype == p2.dtype
                && match (&p1.value, &p2.value) {
                    (Some(v1), Some(v2)) => same_dim(cx, renaming, v1, v2),
                    (value1, value2) => value1 == value2,
                }
        }
        (StructInfo::Tuple(f1), StructInfo::Tuple(f2)) => same_list(cx, renaming, f1, f2),
        (StructInfo::Func(f1), StructInfo::Func(f2)) => same_func(cx, renaming, f1, f2),
        (
            StructInfo::Object
            | StructInfo::Tensor(_)
            | StructInfo::Shape(_)
            | StructInfo::Prim(_)
            | StructInfo::Tuple(_)
            | StructInfo::Func(_),
            _,
        ) => false,
    })
}

fn same_func(cx: &mut Cx, renaming: &mut AlphaRenaming, f1: &FuncStructInfo, f2: &FuncStructInfo) -> bool {
    let (bound, pending) = (renaming.pairs.len(), renaming.pending.len());
    let params = match (&f1.params, &f2.params) {
        (Some(p1), Some(p2)) => {
            let all_at_once = binds_in_any_order(cx);
            p1.iter().zip(p2.iter()).for_each(|(s1, s2)| match all_at_once {
                true => renaming.bind(s1, s2),
                false => renaming.expect(pending, s1, s2),
            });
            p1.len() == p2.len() && p1.iter().zip(p2.iter()).all(|(s1, s2)| same_param(cx, renaming, s1, s2))
        }
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    let result = params
        && f1.derive_func == f2.derive_func
        && (f1.pure == f2.pure || (f1.pure.is_none() && renaming.purity == UnsaidPurity::Open))
        // The text ignores the result of a packed function, so it is not compared.
        && (f1.params.is_none() || same(cx, renaming, &f1.ret, &f2.ret));
    renaming.pairs.truncate(bound);
    renaming.pending.truncate(pending);
    result
}

/// Compares parameters from left to right. A variable is bound from its first part on. A function type before it may
/// have a different variable of the same name, unless signatures bind in any order (WF23-12.6.ANY-ORDER).
fn same_param(cx: &mut Cx, renaming: &mut AlphaRenaming, s1: &StructInfo, s2: &StructInfo) -> bool {
    with_stack(|| {
        if let (StructInfo::Tuple(f1), StructInfo::Tuple(f2)) = (s1, s2) {
            f1.len() == f2.len() && f1.iter().zip(f2.iter()).all(|(s1, s2)| same_param(cx, renaming, s1, s2))
        } else if let (StructInfo::Func(f1), StructInfo::Func(f2)) = (s1, s2) {
            same_func(cx, renaming, f1, f2)
        } else {
            renaming.bind(s1, s2);
            same(cx, renaming, s1, s2)
        }
    })
}

fn same_list(cx: &mut Cx, renaming: &mut AlphaRenaming, l1: &[StructInfo], l2: &[StructInfo]) -> bool {
    l1.len() == l2.len() && l1.iter().zip(l2).all(|(s1, s2)| same(cx, renaming, s1, s2))
}

fn same_dims(cx: &mut Cx, renaming: &AlphaRenaming, d1: &[PrimExpr], d2: &[PrimExpr]) -> bool {
    d1.len() == d2.len() && d1.iter().zip(d2).all(|(e1, e2)| same_dim(cx, renaming, e1, e2))
}

fn same_dim(cx: &mut Cx, renaming: &AlphaRenaming, e1: &PrimExpr, e2: &PrimExpr) -> bool {
    let (e1, e2) = (renaming.apply(OperandSide::First, e1), renaming.apply(OperandSide::Second, e2));
    e1 == e2 || oracle::answer(cx, &Ask::ProveEqual(e1, e2)) == Ok(Answer::Proof(Proof::Equal))
}

/// Visits the pairs of variables that are whole dimensions at the same place of two parameters. A signature binds
/// these.
fn each_lone(s1: &StructInfo, s2: &StructInfo, visit: &mut impl FnMut(&ShapeVar, &ShapeVar)) {
    if let (StructInfo::Tuple(f1), StructInfo::Tuple(f2)) = (s1, s2) {
        with_stack(|| f1.iter().zip(f2.iter()).for_each(|(s1, s2)| each_lone(s1, s2, visit)));
    } else if s1.same_kind(s2) {
        each_lone_dim(dims_of(s1), dims_of(s2), visit);
    }
}

/// The dimensions of the information itself, without those of a function type.
fn dims_of(info: &StructInfo) -> &[PrimExpr] {
    if let StructInfo::Tensor(TensorStructInfo { shape: Some(TensorShape::Dims(dims)), .. })
    | StructInfo::Shape(ShapeStructInfo { values: Some(dims), .. }) = info
    {
        dims
    } else if let StructInfo::Prim(PrimStructInfo { value: Some(value), .. }) = info {
        slice::from_ref(value)
    } else {
        &[]
    }
}

fn each_lone_dim(d1: &[PrimExpr], d2: &[PrimExpr], visit: &mut impl FnMut(&ShapeVar, &ShapeVar)) {
    for (e1, e2) in d1.iter().zip(d2) {
        if let (PrimExpr::Var(v1), PrimExpr::Var(v2)) = (e1, e2) {
            visit(v1, v2);
        }
    }
}

impl AlphaRenaming {
    /// Pairs the variables that two leaves bind.
    fn bind(&mut self, s1: &StructInfo, s2: &StructInfo) {
        each_lone(s1, s2, &mut |v1, v2| {
            if !self.pairs.iter().any(|(a, b)| a == v1 || b == v2) {
                self.pairs.push((v1.clone(), v2.clone()));
            }
        });
    }

    /// Pairs the variables that two parameters will bind, unless the context binds them. `from` is the start of these
    /// pairs in the pending list.
    fn expect(&mut self, from: usize, s1: &StructInfo, s2: &StructInfo) {
        each_lone(s1, s2, &mut |v1, v2| {
            if !self.pairs.iter().chain(&self.pending[from..]).any(|(a, b)| a == v1 || b == v2) {
                self.pending.push((v1.clone(), v2.clone()));
            }
        });
    }

    /// Gives each bound variable a common name that no text can contain. So a free variable of one side is never
    /// mistaken for a bound one of the other.
    fn apply(&self, side: OperandSide, e: &PrimExpr) -> PrimExpr {
        if self.pairs.is_empty() && self.pending.is_empty() {
            return e.clone();
        }
        let apply = |e| self.apply(side, e);
        with_stack(|| match e {
            PrimExpr::Var(v) => PrimExpr::Var(self.common(side, v)),
            PrimExpr::IntImm(i) => PrimExpr::IntImm(*i),
            PrimExpr::Binary(op, a, b) => PrimExpr::binary(*op, apply(a), apply(b)),
            PrimExpr::Not(a) => PrimExpr::Not(Arc::new(apply(a))),
            PrimExpr::Select(c, t, f) => PrimExpr::Select(Arc::new(apply(c)), Arc::new(apply(t)), Arc::new(apply(f))),
        })
    }

    fn common(&self, side: OperandSide, var: &ShapeVar) -> ShapeVar {
        let own = |(first, second): &(ShapeVar, ShapeVar)| match side {
            OperandSide::First => first == var,
            OperandSide::Second => second == var,
        };
        let numbered = |hint: &str, i: usize| Some(ShapeVar::numbered(hint.into(), u32::try_from(i).ok()?));
        let bound = self.pairs.iter().rposition(own).and_then(|i| numbered("(bound)", i));
        let pending = || self.pending.iter().rposition(own).and_then(|i| numbered("(pending)", i));
        bound.or_else(pending).unwrap_or_else(|| var.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::Edition;
    use crate::grammar::{BinaryOp, DataType};

    fn closure(param: &str, result: PrimExpr) -> StructInfo {
        let tensor = |e| StructInfo::tensor([e], DataType::FLOAT32);
        StructInfo::func([tensor(PrimExpr::var(param))], tensor(result))
    }

    #[test]
    fn variables_of_a_signature_may_be_renamed() {
        let mut cx = Cx::new();
        let twice = |name| PrimExpr::binary(BinaryOp::Mul, 2.into(), PrimExpr::var(name));
        assert!(same_struct_info(&mut cx, &closure("n", twice("n")), &closure("m", twice("m"))));
        assert!(!same_struct_info(&mut cx, &closure("n", twice("n")), &closure("m", twice("n"))));
    }

    #[test]
    fn a_function_type_means_what_stands_before_it() {
        let tensor = |name| StructInfo::tensor([PrimExpr::var(name)], DataType::FLOAT32);
        let first =
            |inner, outer| StructInfo::func([closure(inner, PrimExpr::var(inner)), tensor(outer)], tensor(outer));
        let last =
            |outer, inner| StructInfo::func([tensor(outer), closure(inner, PrimExpr::var(inner))], tensor(outer));
        let same = |s1: &StructInfo, s2: &StructInfo| same_struct_info(&mut Cx::new(), s1, s2);
        assert!(same(&first("n", "n"), &first("k", "m")));
        assert!(same(&first("n", "m"), &first("m", "n")));
        assert!(!same(&last("n", "n"), &last("n", "k")));
        assert!(same(&last("n", "n"), &last("m", "m")));
        // A variable mentioned before its binding is the same variable.
        let early = |name| StructInfo::func([closure("i", PrimExpr::var(name)), tensor(name)], tensor(name));
        assert!(same(&early("n"), &early("m")));
        // In any order, later uses count too.
        let later =
            |s1: &StructInfo, s2: &StructInfo| same_struct_info(&mut Cx::new().with_edition(Edition::E2023_12), s1, s2);
        assert!(later(&first("n", "n"), &first("m", "m")) && later(&last("n", "n"), &last("m", "m")));
        assert!(!later(&first("n", "n"), &first("k", "m")) && !later(&last("n", "n"), &last("n", "k")));
    }

    #[test]
    fn unsaid_purity_is_not_said() {
        let said = |pure| match closure("n", PrimExpr::var("n")) {
            StructInfo::Func(f) => StructInfo::Func(Arc::new(FuncStructInfo { pure, ..(*f).clone() })),
            other => other,
        };
        let same = |purity, p1, p2| same_but_for(&mut Cx::new(), purity, &said(p1), &said(p2));
        for (p1, p2, strictly, openly) in [
            (None, None, true, true),
            (None, Some(false), false, true),
            (Some(true), None, false, false),
            (Some(true), Some(true), true, true),
            (Some(true), Some(false), false, false),
        ] {
            assert_eq!(same(UnsaidPurity::Unsaid, p1, p2), strictly, "{p1:?} and {p2:?}");
            assert_eq!(same(UnsaidPurity::Open, p1, p2), openly, "{p1:?} and {p2:?}");
        }
    }

    #[test]
    fn free_variables_may_not_be_renamed() {
        let mut cx = Cx::new();
        let tensor = |name| StructInfo::tensor([PrimExpr::var(name)], DataType::FLOAT32);
        assert!(same_struct_info(&mut cx, &tensor("n"), &tensor("n")));
        assert!(!same_struct_info(&mut cx, &tensor("n"), &tensor("m")));
    }
}
