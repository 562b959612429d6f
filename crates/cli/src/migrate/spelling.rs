//! What another dialect spells otherwise.

use std::fmt;

use serde_json::{Value, json};

/// Spellings of the dialects. The first of each row is the older.
const SPELLINGS: &[(&str, &str)] = &[
    ("R.Tensor[", "R.Tensor("),
    ("R.match_shape(", "R.match_cast("),
    ("R.outputs(", "R.output("),
    ("R.Object", "R.Any"),
    ("sinfo_args=", "ty_args="),
    ("out_sinfo=", "out_ty="),
    ("R.emit_with_sinfo(", "R.emit_with_ty("),
    ("struct_info=", "ty="),
];

/// A spelling that the result no longer has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Respelling {
    old: &'static str,
    new: &'static str,
    count: usize,
    /// The line where OLD has it first.
    line: usize,
}

/// The spellings that a text has, and the text that was made of it has not.
pub fn respelled(old: &str, new: &str) -> Vec<Respelling> {
    let pairs = SPELLINGS.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]);
    pairs
        .filter_map(|(before, after)| {
            let first = old.find(before)?;
            let is_gone = !new.contains(before) && new.contains(after);
            let line = old.get(..first).map_or(1, |head| head.matches('\n').count() + 1);
            is_gone.then(|| Respelling { old: before, new: after, count: old.matches(before).count(), line })
        })
        .collect()
}

impl Respelling {
    pub fn json(&self) -> Value {
        json!({"old": self.old, "new": self.new, "count": self.count, "line": self.line})
    }
}

impl fmt::Display for Respelling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = if self.count == 1 { String::new() } else { format!(", {} times", self.count) };
        write!(f, "`{}` as `{}` (line {}{times})", self.old, self.new, self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_is_not_told() {
        let told = |old: &str, new: &str| respelled(old, new).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(told("a\nR.Object R.Object", "R.Any"), ["`R.Object` as `R.Any` (line 2, 2 times)"]);
        assert_eq!(told("out_ty=x", "out_sinfo=x"), ["`out_ty=` as `out_sinfo=` (line 1)"]);
        assert!(told("R.Object", "R.Object R.Any").is_empty() && told("R.Object", "").is_empty());
    }
}
