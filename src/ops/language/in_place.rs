//! Results that are arguments: which arguments they are, and the constraints on their information.

use crate::book::Erratum;
use crate::grammar::{Call, StructInfo};
use crate::judge::Cx;
use crate::ops::InferError;
use crate::ops::infer::given_ints;
use crate::struct_info::{Nowhere, may_overlap};

/// For each result, the argument that it is; `None` for a new tensor.
///
/// Errata: N50. Read literally, an argument may be several results.
pub(super) fn inplace_indices(
    cx: &Cx,
    call: &Call,
    arguments: usize,
    may_all_be_fresh: bool,
) -> Result<Vec<Option<usize>>, InferError> {
    let given = given_ints(call, "inplace_indices")?;
    let mut found: Vec<Option<usize>> = Vec::with_capacity(given.len());
    for index in given {
        let argument = if index == -1 { None } else { Some(usize::try_from(index).unwrap_or(usize::MAX)) };
        if argument.is_some_and(|argument| argument >= arguments) {
            return Err(InferError::op(format!("there is no argument {index} that could be a result")));
        }
        if argument.is_some() && found.contains(&argument) && !cx.literal(Erratum::N50) {
            return Err(InferError::op(format!("argument {index} is given for two results")));
        }
        found.push(argument);
    }
    if !may_all_be_fresh && found.iter().all(Option::is_none) {
        return Err(InferError::op("no result is one of the arguments"));
    }
    Ok(found)
}

/// OP.CALLTIRINPLACE.INDEX: in the wording of later editions each result may be a new tensor, as with `call_tir`.
pub(super) fn may_all_be_fresh(cx: &Cx) -> bool {
    cx.has(rule!("OP.CALLTIRINPLACE.INDEX"))
}

/// Checks that the stated information of a result does not contradict that of the argument that it is.
pub(super) fn alias(cx: &mut Cx, argument: &StructInfo, result: &StructInfo) -> Result<(), InferError> {
    if may_overlap(&mut cx.in_same_reading(), argument, result, &Nowhere) {
        return Ok(());
    }
    Err(InferError::op(format!("the result is said to be {result}, and is an argument that is {argument}")))
}
