//! Search for rules by words in their ids, headings and texts.

use super::Rule;

/// Where the words were found. If several places match, the first one counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FoundIn {
    /// The id contains all words.
    Id,
    /// The id and the heading together contain all words.
    Heading,
    /// The id, the heading and the text together contain all words.
    Text,
}

/// The rules that contain every word. Matches in the id come first, then those in the heading, then those in the text;
/// equal matches are in the order of the ids. Case and the characters `_`, `-` and `.` make no difference: `match_cast`
/// finds `MatchCast`.
pub fn search(words: &[&str]) -> Vec<(FoundIn, Rule)> {
    let words: Vec<String> = words.iter().map(|word| folded(word)).filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<(FoundIn, Rule)> =
        Rule::ALL.iter().filter_map(|rule| Some((place(*rule, &words)?, *rule))).collect();
    found.sort();
    found
}

fn place(rule: Rule, words: &[String]) -> Option<FoundIn> {
    let info = rule.info();
    let mut text = folded(info.id);
    let mut has_all = |more: &str| {
        text.push_str(&folded(more));
        words.iter().all(|word| text.contains(word.as_str()))
    };
    if has_all("") {
        return Some(FoundIn::Id);
    }
    if has_all(info.heading) {
        return Some(FoundIn::Heading);
    }
    let later = info.later.iter().map(|later| later.text);
    has_all(&std::iter::once(info.text).chain(later).collect::<String>()).then_some(FoundIn::Text)
}

fn folded(text: &str) -> String {
    text.chars().filter(|letter| !matches!(letter, '_' | '-' | '.')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_found_by_its_id_first() {
        for rule in Rule::ALL {
            let found = search(&[rule.id()]);
            assert!(found.contains(&(FoundIn::Id, *rule)), "{rule}");
        }
    }

    #[test]
    fn spelling_does_not_matter() {
        let found = search(&["match_cast"]);
        assert_eq!(found, search(&["MatchCast"]));
        assert!(found.iter().any(|(place, _)| *place == FoundIn::Id));
        assert!(found.iter().any(|(place, _)| *place == FoundIn::Text));
        assert_eq!(search(&["match_cast", "no such word"]), []);
        assert_eq!(search(&["_"]), []);
    }
}
