//! Best-effort judgements: the answer, with all answers that the text permits.

use crate::judge::{BestEffort, Cx, Prover};

/// Makes a judgement with the current prover, and with every prover from structural comparison, the minimum for an
/// implementation, to the strongest.
///
/// If the strongest prover reaches no conclusion, an implementation may still reach one; for dimensions see
/// [`super::permitted_proofs`].
pub fn best_effort<T: PartialEq>(cx: &mut Cx, judgement: impl Fn(&mut Cx) -> T) -> BestEffort<T> {
    let mut permitted = Vec::new();
    for prover in [Prover::Alpha, Prover::Algebraic, Prover::Exhaustive] {
        let answer = judgement(&mut cx.unobserved().with_prover(prover));
        if !permitted.contains(&answer) {
            permitted.push(answer);
        }
    }
    BestEffort { answer: judgement(cx), permitted }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::{BinaryOp, DataType, PrimExpr, StructInfo};
    use crate::judge::Compatibility;
    use crate::struct_info::{check_compatibility, unify_struct_info};

    fn vector(dim: PrimExpr) -> StructInfo {
        StructInfo::tensor([dim], DataType::FLOAT32)
    }

    #[test]
    fn what_depends_on_the_prover_has_two_answers() {
        let n = || PrimExpr::var("n");
        let (s1, s2) = (vector(n()), vector(PrimExpr::binary(BinaryOp::Add, n(), 1.into())));
        let found = best_effort(&mut Cx::new(), |cx| check_compatibility(cx, &s1, &s2));
        assert_eq!(found.answer, Compatibility::Incompatible);
        assert_eq!(found.permitted, [Compatibility::Possibly, Compatibility::Incompatible]);
        let twice = [PrimExpr::binary(BinaryOp::Add, n(), n()), PrimExpr::binary(BinaryOp::Mul, 2.into(), n())];
        let [s1, s2] = twice.map(vector);
        let found = best_effort(&mut Cx::new(), |cx| unify_struct_info(cx, &s1, &s2));
        assert_eq!(found.permitted, [StructInfo::tensor_ndim(1, DataType::FLOAT32), s1]);
    }

    #[test]
    fn what_is_certain_has_one() {
        let found = best_effort(&mut Cx::new(), |cx| check_compatibility(cx, &vector(3.into()), &vector(4.into())));
        assert_eq!(found.permitted, [Compatibility::Incompatible]);
    }
}
