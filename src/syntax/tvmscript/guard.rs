//! Rejects text that nests too deeply, before a recursive parser sees it.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer};

use crate::grammar::source::{MAX_DEPTH, MAX_NESTING};

/// The length of the shortest prefix of the text that nests too deeply: in brackets and blocks beyond [`MAX_NESTING`],
/// or together with operators beyond [`MAX_DEPTH`]. `None` if there is none.
pub(super) fn too_deep(text: &str) -> Option<usize> {
    let exceeds = |text: &str| exceeds(text, MAX_NESTING, MAX_DEPTH);
    if surely_shallow(text, MAX_NESTING) || !exceeds(text) {
        return None;
    }
    // The lexer gives no positions. But a longer prefix is at least as deep, so bisection works.
    let (mut fine, mut deep) = (0, text.len());
    while deep - fine > 1 {
        let middle = (fine..=fine + (deep - fine) / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(fine);
        if middle == fine {
            break;
        }
        if exceeds(&text[..middle]) {
            deep = middle;
        } else {
            fine = middle;
        }
    }
    Some(deep)
}

/// An upper bound of the depth of the syntax tree, updated with each token. Each operator and each pair of brackets may
/// add a level. Operands separated by a comma do not nest, nor do adjacent brackets.
struct Depth {
    blocks: usize,
    /// For the statement, and for each open bracket, the nesting of the current operand and of earlier ones.
    operands: Vec<OperandNesting>,
    /// The number of operators in all current operands.
    operators: usize,
}

#[derive(Clone, Copy, Default)]
struct OperandNesting {
    /// The number of operators and closed brackets. Each may contain all the others.
    operators: usize,
    /// The depth of the deepest closed bracket in it.
    inside: usize,
    /// The depth of the deepest earlier operand.
    largest: usize,
}

fn exceeds(text: &str, nesting: usize, limit: usize) -> bool {
    let mut lexer = lexer::lex(text, Mode::Module);
    let mut depth = Depth { blocks: 0, operands: vec![OperandNesting::default()], operators: 0 };
    loop {
        match lexer.next_token() {
            TokenKind::EndOfFile => return false,
            token => depth.advance(token),
        }
        let brackets = depth.blocks + depth.operands.len() - 1;
        let inside = depth.operands.last().map_or(0, |operand| operand.inside);
        if brackets > nesting || brackets + depth.operators + inside > limit {
            return true;
        }
    }
}

/// Whether no statement is longer than the limit. Then none can nest deeper, because every level takes a byte; for the
/// blocks around a statement, its indentation. Returns false if the end of a statement is not obvious. This check comes
/// first, because it takes a tenth of the time of the lexer.
fn surely_shallow(text: &str, limit: usize) -> bool {
    let bytes = text.as_bytes();
    let (mut at, mut start, mut open) = (0, 0, 0usize);
    while let Some(byte) = bytes.get(at) {
        at += match byte {
            b'(' | b'[' | b'{' => {
                open += 1;
                1
            }
            b')' | b']' | b'}' => {
                open = open.saturating_sub(1);
                1
            }
            b'#' => bytes[at..].iter().take_while(|byte| !matches!(byte, b'\n' | b'\r')).count(),
            b'"' | b'\'' => match plain_string(bytes, at) {
                Some(length) => length,
                None => return false,
            },
            b'\\' | b'\r' => return false,
            b'\n' => {
                if open == 0 {
                    if at - start > limit {
                        return false;
                    }
                    start = at + 1;
                }
                1
            }
            _ => 1,
        };
    }
    bytes.len() - start <= limit
}

/// The length of a string literal without prefix, escapes and triple quotes.
fn plain_string(bytes: &[u8], at: usize) -> Option<usize> {
    let quote = bytes[at];
    let prefixed = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == quote);
    let inside = &bytes[at + 1..];
    let end = inside.iter().position(|byte| *byte == quote || matches!(byte, b'\\' | b'\n' | b'\r'))?;
    (!prefixed && inside[end] == quote && inside.get(end + 1) != Some(&quote)).then_some(end + 2)
}

impl Depth {
    fn advance(&mut self, token: TokenKind) {
        match token {
            TokenKind::Indent => self.blocks += 1,
            TokenKind::Dedent => self.blocks = self.blocks.saturating_sub(1),
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => self.operands.push(OperandNesting::default()),
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace => self.close(),
            TokenKind::Comma => self.next_operand(),
            TokenKind::Semi | TokenKind::Newline => self.next_statement(),
            TokenKind::Name
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::Complex
            | TokenKind::String
            | TokenKind::Comment
            | TokenKind::NonLogicalNewline
            // An invalid token adds no level. A missing bracket at the end takes no byte.
            | TokenKind::Unknown => {}
            _ => self.grow(),
        }
    }

    fn grow(&mut self) {
        if let Some(operand) = self.operands.last_mut() {
            operand.operators += 1;
            self.operators += 1;
        }
    }

    fn next_operand(&mut self) {
        if let Some(operand) = self.operands.last_mut() {
            self.operators -= operand.operators;
            let largest = operand.depth();
            *operand = OperandNesting { largest, ..OperandNesting::default() };
        }
    }

    /// Closes a bracket. Its contents become part of the surrounding operand, beside other brackets there.
    fn close(&mut self) {
        if self.operands.len() > 1
            && let Some(inner) = self.operands.pop()
        {
            self.operators -= inner.operators;
            self.grow();
            if let Some(operand) = self.operands.last_mut() {
                operand.inside = operand.inside.max(inner.depth());
            }
        }
    }

    fn next_statement(&mut self) {
        self.operands.clear();
        self.operands.push(OperandNesting::default());
        self.operators = 0;
    }
}

impl OperandNesting {
    /// The depth of the operand, or of the deepest earlier one.
    fn depth(&self) -> usize {
        self.largest.max(self.operators + self.inside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_deep() {
        let brackets = [("(", ")"), ("[", "]"), ("f(", ")")].map(|form| (form, MAX_NESTING));
        let operators = [("-", ""), ("not ", ""), ("a + ", ""), ("a.b", ""), ("", "[0]")].map(|form| (form, MAX_DEPTH));
        for ((open, close), limit) in brackets.into_iter().chain(operators) {
            let deep = format!("x = {}a{}\n", open.repeat(limit + 1), close.repeat(limit + 1));
            let at = too_deep(&deep);
            assert!(at.is_some_and(|at| at > limit && at < deep.len()), "{open}: {at:?}");
            let shallow = format!("x = {}a{}\n", open.repeat(limit - 10), close.repeat(limit - 10));
            assert_eq!(too_deep(&shallow), None, "{open}");
        }
    }

    #[test]
    fn brackets_beside_each_other_do_not_nest() {
        let term = "f(a[0] + (b - 1) * 2, -c)";
        assert_eq!(too_deep(&format!("x = {}\n", vec![term; 900].join(" + "))), None);
        assert_eq!(too_deep(&format!("x = {}\n", vec![term; 200].join(" + f(a) * "))), None);
        assert!(too_deep(&format!("x = {}\n", vec![term; 1_000].join(" + f(a) * "))).is_some());
    }

    proptest::proptest! {
        /// The shortcut never accepts a text that the lexer finds too deep.
        #[test]
        fn the_shortcut_is_safe(text in "([\\[\\](){}a.,:#'\"\\\\f+\\r\n -]|not |if |\n  |\n    |\"a\"){0,40}") {
            for limit in [2, 5, 12] {
                assert!(!surely_shallow(&text, limit) || !exceeds(&text, limit, limit), "{text:?}");
            }
        }
    }

    #[test]
    fn the_shortcut_suffices_for_ordinary_programs() {
        let text = "class M:\n    def f(x: R.Tensor((\"n\", 4), 'f32')):\n        y = R.add(\n            x, x)  # (\n";
        assert!(surely_shallow(text, 60) && !surely_shallow(text, 25));
        for unclear in ["x = 'a\\''", "x = \"\"\"a\"\"\"", "x = f'{a}'", "x = a\\\n", "x = 'a", "x\r\n"] {
            assert!(!surely_shallow(unclear, 1_000), "{unclear}");
        }
    }

    #[test]
    fn what_is_no_token_is_no_level() {
        assert!(!exceeds(" [", 2, 2) && surely_shallow(" [", 2));
        assert!(exceeds(" [", 1, 1));
    }

    #[test]
    fn length_is_not_depth() {
        assert_eq!(too_deep(&"x = f(a + b, c[0])\n".repeat(5_000)), None);
        assert_eq!(too_deep(&format!("x = [{}]\n", "(-1, n + 1), ".repeat(5_000))), None);
    }

    #[test]
    fn blocks_nest() {
        let blocks: String = (0..=MAX_NESTING + 1).map(|i| format!("{}if a:\n", " ".repeat(i))).collect();
        assert!(too_deep(&blocks).is_some());
    }
}
