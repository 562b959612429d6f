//! Python that cannot be parsed. The outermost class or function with the error is left out, so that the rest can be
//! read.

use std::borrow::Cow;

use ruff_python_ast as py;
use ruff_python_parser::{Mode, ParseOptions, Parsed, parse_unchecked};

use super::MAX_ERRORS;
use super::fault::{ReadFault, span_of};

/// The maximum number of classes and functions that are left out. Each needs another pass over the text.
const MAX_BROKEN: usize = 20;

/// The readable parts of a text.
pub(super) struct Readable {
    pub statements: Vec<py::Stmt>,
    /// The errors in the classes and functions that are left out.
    pub faults: Vec<ReadFault>,
    /// Whether a function is left out. Then the functions beside it are not a complete module.
    pub without_a_function: bool,
}

/// The outermost statements of a text.
///
/// # Errors
///
/// The errors outside of classes and functions that could be left out.
pub(super) fn statements(text: &str) -> Result<Readable, Vec<ReadFault>> {
    let mut parsed = parse(text);
    let mut rest = Cow::Borrowed(text);
    if !parsed.errors().is_empty() && text.lines().any(is_command) {
        let (without, parts) = parse_without_commands(text);
        (rest, parsed) = (Cow::Owned(without), parts);
    }
    let (mut faults, mut without_a_function) = (Vec::new(), false);
    for _ in 0..MAX_BROKEN {
        let Some(first) = parsed.errors().first() else { break };
        let Some(broken) = definition_at(&rest, first.location.start().to_usize()) else { break };
        let inside = |at: usize| (broken.start..=broken.end).contains(&at);
        let errors = parsed.errors().iter().filter(|error| inside(error.location.start().to_usize()));
        faults.extend(errors.map(|error| ReadFault::at(span_of(&error.location), error.error.to_string())));
        without_a_function |= !broken.is_class;
        let blanks = blank(rest.get(broken.start..broken.end).unwrap_or_default());
        rest.to_mut().replace_range(broken.start..broken.end, &blanks);
        parsed = parse(&rest);
    }
    faults.truncate(MAX_ERRORS);
    let errors = parsed.errors().iter().take(MAX_ERRORS - faults.len());
    let left: Vec<ReadFault> = errors.map(|e| ReadFault::at(span_of(&e.location), e.error.to_string())).collect();
    match parsed.into_syntax() {
        py::Mod::Module(module) if left.is_empty() => {
            Ok(Readable { statements: module.body.into_iter().collect(), faults, without_a_function })
        }
        py::Mod::Module(_) | py::Mod::Expression(_) => Err(faults.into_iter().chain(left).collect()),
    }
}

fn parse(text: &str) -> Parsed<py::Mod> {
    parse_unchecked(text, ParseOptions::from(Mode::Module))
}

/// A saved notebook contains commands to the notebook.
fn is_command(line: &str) -> bool {
    line.trim_start().starts_with(['%', '!'])
}

/// The text without commands, and its parse result. If a bracket stays open in a damaged part, all later lines seem to
/// continue it. The commands there are left out as well if that leaves fewer errors.
fn parse_without_commands(text: &str) -> (String, Parsed<py::Mod>) {
    let [strict, lenient] = [false, true].map(|everywhere| {
        let rest = without_commands(text, everywhere);
        let parsed = parse(&rest);
        (rest, parsed)
    });
    if lenient.1.errors().len() < strict.1.errors().len() { lenient } else { strict }
}

/// The text with each command, or the command in an assignment, replaced by an unknown name. Nothing else moves. (The
/// parser also knows such commands, but panics if one is in a damaged part.) A line that continues an expression or a
/// string is not a command, unless `everywhere` is set.
fn without_commands(text: &str, everywhere: bool) -> String {
    let (mut out, mut open, mut goes_on) = (String::with_capacity(text.len()), LineContinuation::default(), false);
    for line in text.split_inclusive('\n') {
        let from = match goes_on {
            true => Some(line.len() - line.trim_start().len()),
            false if everywhere || open.is_nothing() => command_in(line),
            false => None,
        };
        let (kept, command) = line.split_at_checked(from.unwrap_or(line.len())).unwrap_or((line, ""));
        out.push_str(kept);
        open.go_through(kept);
        let blank = blank(command);
        match blank.strip_prefix(' ') {
            Some(rest) if !goes_on => {
                out.push('_');
                out.push_str(rest);
            }
            Some(_) | None => out.push_str(&blank),
        }
        goes_on = !command.is_empty() && command.trim_end().ends_with('\\');
    }
    out
}

/// The start of the notebook command in a line. The line is a command, asks for help with one, or assigns one.
fn command_in(line: &str) -> Option<usize> {
    let trimmed = line.trim_start();
    let help = trimmed.starts_with('?') || line.trim_end().ends_with('?') && !line.contains(['#', '"', '\'']);
    if is_command(line) || help {
        return Some(line.len() - trimmed.len());
    }
    let (before, after) = line.split_once('=')?;
    let is_name = before.trim_end().chars().all(|c| c.is_alphanumeric() || " _,.[]()".contains(c));
    (is_name && is_command(after)).then_some(line.len() - after.trim_start().len())
}

/// The constructs open at the end of a line, which make the next line a continuation.
#[derive(Default)]
struct LineContinuation {
    brackets: usize,
    /// The closing quotes of the string.
    string: Option<&'static str>,
    backslash: bool,
}

impl LineContinuation {
    fn is_nothing(&self) -> bool {
        self.brackets == 0 && self.string.is_none() && !self.backslash
    }

    fn go_through(&mut self, line: &str) {
        const QUOTES: [&str; 4] = ["\"\"\"", "'''", "\"", "'"];
        let mut rest = line.trim_end_matches(['\n', '\r']);
        self.backslash = false;
        while let Some(c) = rest.chars().next() {
            let mut length = c.len_utf8();
            match (self.string, c) {
                (_, '\\') => {
                    self.backslash = rest.len() == 1;
                    length += rest.chars().nth(1).map_or(0, char::len_utf8);
                }
                (Some(end), _) if rest.starts_with(end) => {
                    (self.string, length) = (None, end.len());
                }
                (Some(_), _) => {}
                (None, '#') => return,
                (None, '"' | '\'') => {
                    self.string = QUOTES.into_iter().find(|quotes| rest.starts_with(quotes));
                    length = self.string.map_or(length, str::len);
                }
                (None, '(' | '[' | '{') => self.brackets += 1,
                (None, ')' | ']' | '}') => self.brackets = self.brackets.saturating_sub(1),
                (None, _) => {}
            }
            rest = rest.get(length..).unwrap_or("");
        }
        // A one-line string ends at the end of the line.
        if self.string.is_some_and(|end| end.len() == 1) && !self.backslash {
            self.string = None;
        }
    }
}

/// Replaces everything by spaces, except newlines.
fn blank(text: &str) -> String {
    text.bytes().map(|byte| if byte == b'\n' || byte == b'\r' { char::from(byte) } else { ' ' }).collect()
}

/// An outermost class or function, from its first decorator to the next statement at the start of a line.
struct SourceDefinition {
    start: usize,
    end: usize,
    is_class: bool,
}

/// The definition at a position of the text, or before it: a missing bracket is noticed only where the next statement
/// begins.
fn definition_at(text: &str, at: usize) -> Option<SourceDefinition> {
    let begun = beginnings(text);
    let here = begun.iter().rposition(|(start, _)| *start <= at)?;
    let is_first = |nth: usize| begun.get(nth).is_some_and(|(start, _)| *start == at);
    let nth = if is_first(here) { here.checked_sub(1).unwrap_or(here) } else { here };
    let (start, is_class) = *begun.get(nth)?;
    let end = begun.get(nth + 1).map_or(text.len(), |(start, _)| *start);
    is_class.map(|is_class| SourceDefinition { start, end, is_class })
}

/// The start of each outermost statement, including its decorators, with whether it is a class; `None` if it is neither
/// a class nor a function.
fn beginnings(text: &str) -> Vec<(usize, Option<bool>)> {
    let (mut begun, mut decorators, mut start) = (Vec::new(), None, 0);
    for line in text.split_inclusive('\n') {
        if line.starts_with(|c: char| !c.is_whitespace() && !")]}#".contains(c)) {
            if line.starts_with('@') {
                decorators = decorators.or(Some(start));
            } else {
                begun.push((decorators.take().unwrap_or(start), is_class(line)));
            }
        }
        start += line.len();
    }
    begun
}

/// Whether the line begins a class; `None` if it begins neither a class nor a function.
fn is_class(line: &str) -> Option<bool> {
    match line.split(|c: char| !c.is_alphanumeric()).next() {
        Some("class") => Some(true),
        Some("def" | "async") => Some(false),
        Some(_) | None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_to_a_notebook_are_left_out() {
        let text = "%time\n  !pip install \\\n    numpy\nx = !ls é\ny = 7 % 3\n?x\nx?\nf(a, b = 3)\n!\n # y?\n";
        let expected = "_    \n  _             \n         \nx = _     \ny = 7 % 3\n_ \n_ \nf(a, b = 3)\n_\n # y?\n";
        assert_eq!(without_commands(text, false), expected);
        assert_eq!(text.len(), expected.len());
    }

    #[test]
    fn a_line_that_goes_on_is_no_command() {
        let goes_on = [
            "x = (7\n  % 4)\n",
            "x = 7 \\\n  % 4\n",
            "x = [')', 8 # (\n % 4]\n",
            "x = \"\"\"a 'b\n% c\n!d\n\"\"\"\n",
            "x = '''a\n%b \\'''\n%c'''\n",
            "x = 'a\\\n%b'\n",
            "f(a,\n  b?\n)\n",
        ];
        for text in goes_on {
            assert_eq!(without_commands(text, false), text);
            assert_eq!(without_commands(&format!("{text}!ls\n"), false), format!("{text}_  \n"));
        }
        for text in goes_on.iter().take(6) {
            assert!(statements(&format!("{text}!ls\n")).is_ok_and(|read| read.faults.is_empty()), "{text}");
        }
    }

    /// If a bracket that is never closed comes before commands, the module after them is still read.
    #[test]
    fn a_command_behind_what_is_damaged_is_one() {
        let module = "@I.ir_module\nclass A:\n    @R.function\n    def f(x: :\n        return x\n\n";
        assert!(statements(&format!("{module}%time\nx = 1\n")).is_ok_and(|read| read.faults.len() <= 2));
    }

    /// The Python parser panics if a notebook command is inside an unclosed bracket.
    #[test]
    fn a_command_in_what_is_damaged_is_no_panic() {
        for command in ["%%time", "!!ls", "?x", "/f x", ",f x", ";f x", "%time", "!ls"] {
            for before in [
                "{\"a\": ",
                "f(",
                "[1,\n",
                "x = \n",
                "{'a': [{\"b\": 1}, \"c, \"d\": 1}\n",
                "if x:\n",
                "class A:\n",
                "lambda:\n",
            ] {
                for between in ["", "\n", ")\n", "}\n", "\"\n"] {
                    let text = format!("{before}{between}{command}\n%x\n");
                    let _ = statements(&text);
                }
            }
        }
    }
}
