//! Suggestions for unknown names.

/// The known name nearest to `name`, if it is near enough to be a typing error: the distance is at most a third of the
/// letters, and at least one letter is allowed. Of several equally near names it is the first.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let letters = name.chars().count();
    let allowed = (letters / 3).max(1);
    // A difference in length beyond this already exceeds the allowed distance.
    let like = |other: &&str| {
        other.len().abs_diff(name.len()) <= 4 * allowed && other.chars().count().abs_diff(letters) <= allowed
    };
    let distances = known.into_iter().filter(like).map(|other| (strsim::osa_distance(name, other), other));
    distances.filter(|(distance, _)| *distance <= allowed).min_by_key(|(distance, _)| *distance).map(|(_, other)| other)
}

/// The question `did you mean ..?`, if a known name is near.
pub fn did_you_mean<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<String> {
    nearest(name, known).map(|meant| format!("did you mean `{meant}`?"))
}

/// The suffix `; did you mean ..?` for a sentence, if a known name is near.
pub fn or_meant<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    did_you_mean(name, known).map_or_else(String::new, |question| format!("; {question}"))
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_of_the_pen() {
        let known = ["relax.nn.relu", "relax.nn.gelu", "relax.add"];
        assert_eq!(nearest("relax.nn.relux", known), Some("relax.nn.relu"));
        assert_eq!(nearest("relax.dad", known), Some("relax.add"));
        assert_eq!(nearest("something.else.entirely", known), None);
        assert_eq!(nearest("axs", ["axis", "keepdims"]), Some("axis"));
    }
}
