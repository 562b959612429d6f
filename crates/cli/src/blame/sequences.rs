//! Random sequences of passes.

use ask::stages::PassStep;

/// The passes that accept any program with operators and return one, in any order.
const PASSES: [&str; 18] = [
    "AdjustMatmulOrder",
    "CanonicalizeBindings",
    "CombineParallelMatmul",
    "ConvertToDataflow",
    "DeadCodeElimination",
    "DecomposeOpsForInference",
    "EliminateCommonSubexpr",
    "ExpandMatmulOfSum",
    "ExpandTupleArguments",
    "FoldConstant",
    "InlinePrivateFunctions",
    "Normalize",
    "RemoveRedundantReshape",
    "RemoveUnusedOutputs",
    "RemoveUnusedParameters",
    "ReorderTakeAfterMatmul",
    "ToNonDataflow",
    "TopologicalSort",
];
/// The passes that may come last.
const LAST: [&str; 3] = ["LegalizeOps", "FuseTIR", "default"];
/// The maximum number of passes before the last one.
const LONGEST: u64 = 5;

/// The sequence with this number.
pub(super) fn sequence(seed: u64, number: u64) -> Vec<PassStep> {
    let mut state = seed.wrapping_mul(0x1_0000_0001).wrapping_add(number);
    let mut draw = |count: u64| {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        usize::try_from(mixed(state) % count).unwrap_or_default()
    };
    let length = 1 + draw(LONGEST);
    let names: Vec<&str> = (0..length).filter_map(|_| PASSES.get(draw(PASSES.len() as u64)).copied()).collect();
    let last = LAST.get(draw(LAST.len() as u64)).copied();
    names.into_iter().chain(last).map(|name| PassStep { name: name.to_string(), arguments: None }).collect()
}

/// All bits of the number depend on all bits (the finalizer of SplitMix64).
fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

/// The shortest part of a sequence that still shows the difference; one pass is removed at a time.
pub(super) fn shortest<E>(
    mut steps: Vec<PassStep>,
    mut shows: impl FnMut(&[PassStep]) -> Result<bool, E>,
) -> Result<Vec<PassStep>, E> {
    let mut at = 0;
    while at < steps.len() {
        let mut fewer = steps.clone();
        fewer.remove(at);
        if !fewer.is_empty() && shows(&fewer)? {
            steps = fewer;
        } else {
            at += 1;
        }
    }
    Ok(steps)
}

/// The text for people, and for `--pass`.
pub(super) fn told(steps: &[PassStep]) -> String {
    steps.iter().map(|step| step.name.as_str()).collect::<Vec<&str>>().join(",")
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn sequences_are_drawn_and_shortened() {
        assert_eq!(sequence(1, 7), sequence(1, 7));
        let all: Vec<Vec<PassStep>> = (0..200).map(|number| sequence(0, number)).collect();
        assert!(all.iter().all(|steps| (2..=6).contains(&steps.len())), "{all:?}");
        assert!(PASSES.iter().all(|name| all.iter().flatten().any(|step| step.name == *name)));
        let steps = all.into_iter().find(|steps| steps.len() == 6).unwrap_or_default();
        let last = steps.last().cloned();
        let shows = |steps: &[PassStep]| Ok::<bool, Infallible>(steps.last() == last.as_ref());
        assert_eq!(shortest(steps.clone(), shows).unwrap_or_default(), last.clone().into_iter().collect::<Vec<_>>());
    }
}
