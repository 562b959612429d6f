//! Inputs for smaller programs: the input on which the larger program shows a difference, as far as it fits, and
//! simpler ones.

use crate::shrink::Program;
use relax_spec::grammar::Var;
use relax_spec::judge::Cx;
use relax_spec::oracle::answer_evaluate;
use relax_spec::question::RunAnswer;
use relax_spec::value::ValueSpec;

/// Turns the input of the larger program into one for the smaller program. A parameter of both programs keeps its
/// argument. A parameter that was a variable of the larger program gets the value of that variable. None if some value
/// cannot be determined.
pub(super) fn carry(cx: &mut Cx, larger: &Program, input: &[ValueSpec], smaller: &Program) -> Option<Vec<ValueSpec>> {
    let (before, after) = (parameters(larger)?, parameters(smaller)?);
    if before == after {
        return Some(input.to_vec());
    }
    let is_alias = |value: &ValueSpec| value.parts().any(|part| matches!(part, ValueSpec::Arg(_)));
    if input.iter().any(is_alias) {
        // It names an argument by its position, which may differ in the smaller program.
        return None;
    }
    let value = |var: &Var| match before.iter().position(|own| own == var) {
        Some(at) => input.get(at).cloned(),
        None => value_of(cx, larger, input, var),
    };
    after.iter().map(value).collect()
}

fn parameters(program: &Program) -> Option<Vec<Var>> {
    Some(program.function()?.params.iter().map(|param| param.var.clone()).collect())
}

/// The value of a variable when the program runs on the input.
fn value_of(cx: &mut Cx, program: &Program, input: &[ValueSpec], var: &Var) -> Option<ValueSpec> {
    let ending = program.ending_with(var)?;
    match answer_evaluate(cx, &ending.module, &ending.entry, input) {
        Ok(RunAnswer::Returns(value, _)) => Some(value),
        Ok(RunAnswer::Fails(..) | RunAnswer::OutOfFuel | RunAnswer::Unspecified) | Err(_) => None,
    }
}

/// The indices of the elements of a tensor that are not zero; zero has no set bits in any data type.
pub(super) fn not_zero(value: &ValueSpec) -> Vec<usize> {
    let ValueSpec::Tensor(data) = value else { return Vec::new() };
    let elements = data.bytes.chunks(data.dtype.bytes().max(1)).enumerate();
    elements.filter(|(_, bytes)| bytes.iter().any(|byte| *byte != 0)).map(|(place, _)| place).collect()
}

/// The input with zeros at these places; a place is the index of a value and of an element in it.
pub(super) fn with_zeros(input: &[ValueSpec], places: &[(usize, usize)]) -> Vec<ValueSpec> {
    let zeros = |(at, value): (usize, &ValueSpec)| {
        let ValueSpec::Tensor(data) = value else { return value.clone() };
        let (size, mut bytes) = (data.dtype.bytes(), data.bytes.to_vec());
        for (_, element) in places.iter().filter(|(own, _)| *own == at) {
            if let Some(element) = bytes.get_mut(element * size..(element + 1) * size) {
                element.fill(0);
            }
        }
        ValueSpec::Tensor(relax_spec::grammar::TensorData { bytes: bytes.into(), ..data.clone() })
    };
    input.iter().enumerate().map(zeros).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::shrink::passes;
    use relax_spec::book::Edition;
    use relax_spec::grammar::{DataType, TensorData};
    use relax_spec::syntax::tvmscript::parse_module;

    fn tensor(values: &[f64]) -> ValueSpec {
        let shape = [values.len() as u64];
        ValueSpec::Tensor(TensorData::from_values(DataType::FLOAT32, &shape, values).unwrap())
    }

    #[test]
    fn a_variable_that_becomes_a_parameter_has_the_value_that_it_had() {
        let text = "@R.function\n\
            def main(x: R.Tensor((\"n\",), \"float32\"), y: R.Tensor((\"n\",), \"float32\")):\n    \
            a = R.add(x, y)\n    b = R.multiply(a, y)\n    return b\n";
        let (edition, entry, sizes) = (Edition::default(), "main".into(), BTreeMap::new());
        let program = Program { edition, module: parse_module(text).unwrap(), entry, sizes };
        let input = [tensor(&[1.0, 2.0]), tensor(&[3.0, 4.0])];
        let smaller = passes().into_iter().flat_map(|pass| pass.all(&program));
        let inputs: Vec<Vec<ValueSpec>> =
            smaller.filter_map(|smaller| carry(&mut Cx::new(), &program, &input, &smaller)).collect();
        // a replaces the sum; x remains, because it determines n.
        let (x, y, a) = (tensor(&[1.0, 2.0]), tensor(&[3.0, 4.0]), tensor(&[4.0, 6.0]));
        assert!(inputs.contains(&vec![x, y, a]), "{inputs:?}");
    }

    #[test]
    fn what_is_simpler_has_more_zeros() {
        let input = [tensor(&[0.0, 2.0, 0.0, 4.0]), ValueSpec::Int(3), tensor(&[5.0])];
        assert_eq!(input.each_ref().map(not_zero), [vec![1, 3], vec![], vec![0]]);
        let simpler = with_zeros(&input, &[(0, 3), (2, 0)]);
        assert_eq!(simpler, [tensor(&[0.0, 2.0, 0.0, 0.0]), ValueSpec::Int(3), tensor(&[0.0])]);
    }
}
