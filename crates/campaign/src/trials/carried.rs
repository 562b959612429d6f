//! Inputs for smaller programs: those on which the larger one shows a difference, as far as they fit, and simpler ones.

use std::collections::BTreeMap;

use super::judged::WitnessProgram;
use super::reduced::{function, returning};
use super::sizes::sizes_on;
use relax_spec::grammar::{IrModule, ShapeVar, TensorData, Var};
use relax_spec::judge::Cx;
use relax_spec::oracle::answer_evaluate;
use relax_spec::question::RunAnswer;
use relax_spec::value::ValueSpec;

/// The input on which the larger program shows the difference, as one for the smaller program: a parameter that the larger one has
/// keeps its argument, and one that was a variable of the larger one has its value there. None if that cannot be told of each.
pub(super) fn carried(cx: &mut Cx, larger: &WitnessProgram, smaller: &IrModule) -> Option<Vec<ValueSpec>> {
    let input = larger.difference.input.as_ref()?;
    let (before, after) = (parameters(&larger.module, &larger.entry)?, parameters(smaller, &larger.entry)?);
    if before == after {
        return Some(input.clone());
    }
    let is_alias = |value: &ValueSpec| value.parts().any(|part| matches!(part, ValueSpec::Arg(_)));
    if input.iter().any(is_alias) {
        // It names an argument by its place, which is another one.
        return None;
    }
    let value = |var: &Var| match before.iter().position(|own| own == var) {
        Some(at) => input.get(at).cloned(),
        None => value_of(cx, larger, input, var),
    };
    after.iter().map(value).collect()
}

fn parameters(module: &IrModule, entry: &str) -> Option<Vec<Var>> {
    Some(function(module, entry)?.params.iter().map(|param| param.var.clone()).collect())
}

/// What a variable comes to when the program runs on the input.
fn value_of(cx: &mut Cx, shown: &WitnessProgram, input: &[ValueSpec], var: &Var) -> Option<ValueSpec> {
    let module = returning(&shown.module, &shown.entry, var)?;
    match answer_evaluate(cx, &module, &shown.entry, input) {
        Ok(RunAnswer::Returns(value, _)) => Some(value),
        Ok(RunAnswer::Fails(..) | RunAnswer::OutOfFuel | RunAnswer::Unspecified) | Err(_) => None,
    }
}

/// The example sizes of the program, and those that the parameters have on the input where these differ.
pub(super) fn sizes_at(shown: &WitnessProgram) -> BTreeMap<ShapeVar, i64> {
    let mut sizes = shown.sizes.clone();
    let params = function(&shown.module, &shown.entry).map(|function| function.params.as_slice()).unwrap_or_default();
    sizes.extend(sizes_on(params, shown.difference.input.as_deref().unwrap_or_default()));
    sizes
}

/// Inputs like it with simpler numbers: of one of its tensors all elements that are not zero, or a half of them, become zeros.
pub(super) fn simpler(input: &[ValueSpec]) -> Vec<Vec<ValueSpec>> {
    let mut found = Vec::new();
    for (at, value) in input.iter().enumerate() {
        let ValueSpec::Tensor(data) = value else { continue };
        let left = not_zero(data);
        let half = left.len() / 2;
        // Of one element there are no halves.
        let parts = [0..left.len(), 0..half, half..left.len()].into_iter().take(if half > 0 { 3 } else { 1 });
        for part in parts.filter(|part| !part.is_empty()) {
            let mut simpler = input.to_vec();
            if let (Some(value), Some(places)) = (simpler.get_mut(at), left.get(part)) {
                *value = ValueSpec::Tensor(with_zeros(data, places));
            }
            found.push(simpler);
        }
    }
    found
}

/// The places of the elements that are not zero; zero has no bits in any data type.
fn not_zero(data: &TensorData) -> Vec<usize> {
    let size = data.dtype.bytes().max(1);
    let elements = data.bytes.chunks(size).enumerate();
    elements.filter(|(_, bytes)| bytes.iter().any(|byte| *byte != 0)).map(|(place, _)| place).collect()
}

/// The tensor with zeros at these places.
fn with_zeros(data: &TensorData, places: &[usize]) -> TensorData {
    let size = data.dtype.bytes();
    let mut bytes = data.bytes.to_vec();
    for place in places {
        if let Some(element) = bytes.get_mut(place * size..(place + 1) * size) {
            element.fill(0);
        }
    }
    TensorData { bytes: bytes.into(), ..data.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trials::signature::{FailureKind, FailureSignature};
    use crate::trials::{TrialDifference, candidates};
    use relax_spec::grammar::DataType;
    use relax_spec::syntax::tvmscript::parse_module;

    fn tensor(values: &[f64]) -> ValueSpec {
        let shape = [values.len() as u64];
        ValueSpec::Tensor(TensorData::from_values(DataType::FLOAT32, &shape, values).unwrap())
    }

    fn shown(text: &str, input: Vec<ValueSpec>) -> WitnessProgram {
        let difference = TrialDifference {
            signature: FailureSignature::of(FailureKind::Value, "run", ""),
            message: String::new(),
            input: Some(input),
            expected: String::new(),
            given: String::new(),
        };
        WitnessProgram { module: parse_module(text).unwrap(), entry: "main".into(), sizes: BTreeMap::new(), difference }
    }

    #[test]
    fn a_variable_that_becomes_a_parameter_has_the_value_that_it_had() {
        let text = "@R.function\ndef main(x: R.Tensor((\"n\",), \"float32\"), y: R.Tensor((\"n\",), \"float32\")):\n    a = R.add(x, y)\n    b = R.multiply(a, y)\n    return b\n";
        let shown = shown(text, vec![tensor(&[1.0, 2.0]), tensor(&[3.0, 4.0])]);
        let sizes = sizes_at(&shown);
        assert_eq!(sizes, BTreeMap::from([(ShapeVar::new("n"), 2)]));
        let cx = &mut Cx::new();
        let inputs: Vec<Vec<ValueSpec>> = candidates(cx.edition(), &shown.module, "main", &sizes)
            .iter()
            .filter_map(|smaller| carried(cx, &shown, smaller))
            .collect();
        // a in the place of the sum; x stays, as it says what n is.
        let (x, y, a) = (tensor(&[1.0, 2.0]), tensor(&[3.0, 4.0]), tensor(&[4.0, 6.0]));
        assert!(inputs.contains(&vec![x, y, a]), "{inputs:?}");
    }

    #[test]
    fn what_is_simpler_has_more_zeros() {
        let (some, none) = (tensor(&[1.0, 2.0, 3.0, 4.0]), tensor(&[0.0]));
        let simpler = simpler(&[some.clone(), none.clone()]);
        let with = |values: &[f64]| vec![tensor(values), none.clone()];
        assert_eq!(simpler, [with(&[0.0; 4]), with(&[0.0, 0.0, 3.0, 4.0]), with(&[1.0, 2.0, 0.0, 0.0])]);
        assert_eq!(
            super::simpler(&with(&[0.0, 5.0, 0.0, 6.0])),
            [with(&[0.0; 4]), with(&[0.0, 0.0, 0.0, 6.0]), with(&[0.0, 5.0, 0.0, 0.0])]
        );
        assert_eq!(super::simpler(&with(&[0.0, 0.0, 0.0, 6.0])), [with(&[0.0; 4])]);
    }
}
