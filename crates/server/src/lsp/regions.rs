//! Where the modules of a Python file are, told from its lines alone, so that half-typed text has them too.

use std::ops::Range;

/// What the decorator of a module, or of a function outside of any, is called.
const DECORATORS: [&str; 5] = ["ir_module", "rewriter", "function", "prim_func", "pyfunc"];

/// The extents of the modules in a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Regions(Vec<Range<usize>>);

impl Regions {
    /// Those of decorated classes and functions. Each ends before the next line that is not indented deeper.
    pub fn of(text: &str) -> Regions {
        let mut regions: Vec<Range<usize>> = Vec::new();
        // The indentation of the open region, and whether the line of its `class` or `def` was there.
        let mut open: Option<(usize, bool)> = None;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let start = at;
            at += line.len();
            let content = line.trim();
            let indent = line.len() - line.trim_start().len();
            let is_head = ["class ", "def ", "async ", "@"].iter().any(|word| content.starts_with(word));
            match open {
                Some((outer, headed)) if goes_on(content, indent, outer) || (!headed && is_head && indent == outer) => {
                    if let Some(last) = regions.last_mut()
                        && !content.is_empty()
                    {
                        last.end = at;
                    }
                    open = Some((outer, headed || (is_head && !content.starts_with('@'))));
                }
                Some(_) | None if declares(text, content) => {
                    regions.push(start..at);
                    open = Some((indent, false));
                }
                Some(_) | None => open = None,
            }
        }
        Regions(regions)
    }

    /// The whole text as one.
    pub fn whole(text: &str) -> Regions {
        Regions(std::iter::once(0..text.len()).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an offset is in a module, or at its end, where an unfinished one breaks off.
    pub fn holds(&self, offset: usize) -> bool {
        self.0.iter().any(|region| (region.start..=region.end).contains(&offset))
    }

    /// The module around an offset, else the first.
    pub fn around(&self, offset: usize) -> Range<usize> {
        let around = self.0.iter().find(|region| region.contains(&offset));
        around.or(self.0.first()).cloned().unwrap_or(0..0)
    }
}

/// Whether a line belongs to a region of this indentation. Blank lines and comments do.
fn goes_on(content: &str, indent: usize, outer: usize) -> bool {
    content.is_empty() || content.starts_with('#') || content.starts_with(')') || indent > outer
}

/// `@I.ir_module`, `@R.function(private=True)`, `@ir_module(s_tir=True)`.
fn declares(text: &str, content: &str) -> bool {
    let Some(name) = content.strip_prefix('@') else { return false };
    let name = name.split(['(', '#']).next().unwrap_or_default().trim();
    let (prefix, last) = name.rsplit_once('.').unwrap_or(("", name));
    let library = prefix.rsplit('.').next().unwrap_or_default();
    // Other libraries have a decorator of this name, too.
    let is_ours = last != "function"
        || ["", "R", "relax", "script"].contains(&library)
        || text.contains(&format!("relax as {library}"));
    DECORATORS.contains(&last) && is_ours
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        Regions::of(text).0.into_iter().map(|region| &text[region]).collect()
    }

    #[test]
    fn where_modules_are() {
        let module = "@I.ir_module\n@other\nclass M:\n    @R.function\n    def f(x):\n\n        return x\n";
        let text =
            format!("import tvm\n\n{module}\nx = (\n\n@R.function\ndef g(\n    x,\n):\n    return x\nprint(1)\n");
        assert_eq!(found(&text), [module, "@R.function\ndef g(\n    x,\n):\n    return x\n"]);
        let nested = "def test():\n    @ir_module\n    class M:\n        @R.func";
        assert_eq!(found(nested), ["    @ir_module\n    class M:\n        @R.func"]);
        let renamed = "from tvm.script import relax as rx\n@rx.function\ndef f(x):\n    return x\n";
        assert_eq!(found(renamed), ["@rx.function\ndef f(x):\n    return x\n"]);
    }

    #[test]
    fn other_python_has_none() {
        for text in ["", "x = 1\n", "@tf.function\ndef f(x):\n    return x\n", "# @I.ir_module\n", "'''\nR.function"] {
            assert_eq!(found(text), Vec::<&str>::new(), "{text}");
        }
    }
}
