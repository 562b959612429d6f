//! Terms of inference rules, and how they are written in MathML and in LaTeX. Both are made from one term, so that they
//! say the same.

use std::fmt::Write as _;

use quote::ToTokens;
use syn::{BinOp, Expr, Lit, Pat, UnOp};

/// A term.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Term {
    /// A name, such as `t1` or `same_rank`.
    Name(String),
    /// The name of a part, which is defined elsewhere.
    Field(String),
    /// Words, or code that has no mathematical form.
    Text(String),
    /// A number.
    Number(String),
    /// A sign, in MathML and in LaTeX.
    Sign(&'static str, &'static str),
    /// Terms side by side.
    Row(Vec<Term>),
}

const AND: Term = Term::Sign("∧", r"\wedge");
const OR: Term = Term::Sign("∨", r"\vee");
const NOT: Term = Term::Sign("¬", r"\neg");
const EQUAL: Term = Term::Sign("=", "=");
const OPEN: Term = Term::Sign("(", "(");
const CLOSE: Term = Term::Sign(")", ")");
const COMMA: Term = Term::Sign(",", ",");
const DOT: Term = Term::Sign(".", ".");
const MAPS_TO: Term = Term::Sign("↦", r"\mapsto");
const REST: Term = Term::Sign("…", r"\dots");

/// Methods of Rust that do not change what a term means.
const SILENT: [&str; 17] = [
    "clone",
    "cloned",
    "copied",
    "as_ref",
    "as_deref",
    "iter",
    "into_iter",
    "to_vec",
    "into",
    "collect",
    "to_string",
    "as_slice",
    "borrow",
    "unwrap_or_default",
    "to_owned",
    "as_str",
    "chars",
];
/// Wrappings of Rust that do not change what a term means.
const WRAPPERS: [&str; 8] =
    ["Some", "Ok", "Box::new", "Arc::new", "Rc::new", "Cow::Borrowed", "ClosedDisplay", "with_stack"];
/// What an argument is called that only carries the reading and the record.
const CONTEXT: [&str; 3] = ["cx", "self.cx", "self"];

impl Term {
    /// Words.
    pub fn text(text: &str) -> Term {
        Term::Text(text.to_string())
    }

    /// A name.
    pub fn name(name: &str) -> Term {
        Term::Name(name.to_string())
    }

    /// `left = right`.
    pub fn equation(left: Term, right: Term) -> Term {
        Term::Row(vec![left, EQUAL, right.fenced()])
    }

    /// The negation.
    pub fn not(self) -> Term {
        Term::Row(vec![NOT, self.fenced()])
    }

    /// `name(arguments)`.
    pub fn apply(name: &str, arguments: Vec<Term>) -> Term {
        let mut row = vec![Term::name(name), OPEN];
        row.extend(separated(arguments));
        row.push(CLOSE);
        Term::Row(row)
    }

    /// A value that has the form of a pattern.
    pub fn of_form(value: Term, pattern: &Pat) -> Term {
        Term::Row(vec![value, Term::text("is"), of_pattern(pattern)])
    }

    /// A pattern of Rust.
    pub fn of_pattern(pattern: &Pat) -> Term {
        of_pattern(pattern)
    }

    /// An expression of Rust.
    pub fn of(expr: &Expr) -> Term {
        match expr {
            Expr::Binary(e) => of_binary(e),
            Expr::Unary(e) if matches!(e.op, UnOp::Not(_)) => Term::of(&e.expr).not(),
            Expr::Unary(e) if matches!(e.op, UnOp::Neg(_)) => Term::Row(vec![Term::Sign("−", "-"), Term::of(&e.expr)]),
            Expr::Unary(e) => Term::of(&e.expr),
            Expr::Reference(e) => Term::of(&e.expr),
            Expr::Try(e) => Term::of(&e.expr),
            Expr::Cast(e) => Term::of(&e.expr),
            Expr::Paren(e) => Term::Row(vec![OPEN, Term::of(&e.expr), CLOSE]),
            Expr::Group(e) => Term::of(&e.expr),
            Expr::Field(e) => of_field(e),
            Expr::Path(e) => e.path.segments.last().map_or_else(|| code(e), |last| named(&last.ident.to_string())),
            Expr::Lit(e) => of_literal(&e.lit),
            Expr::MethodCall(e) => of_method(e),
            Expr::Call(e) => of_call(e),
            Expr::Tuple(e) => Term::Row(
                [OPEN].into_iter().chain(separated(e.elems.iter().map(Term::of).collect())).chain([CLOSE]).collect(),
            ),
            Expr::Array(e) => listed(e.elems.iter().map(Term::of).collect()),
            Expr::Index(e) => Term::Row(vec![Term::of(&e.expr), listed(vec![Term::of(&e.index)])]),
            Expr::Closure(e) => of_closure(e),
            Expr::Block(e) => only(&e.block).unwrap_or_else(|| code(e)),
            Expr::Match(e) => of_match(e),
            Expr::Range(e) => of_range(e),
            Expr::Let(e) => Term::of_form(Term::of(&e.expr), &e.pat),
            Expr::Macro(e) => of_macro(e),
            Expr::If(e) => of_if(e),
            Expr::Struct(e) => of_struct(e),
            _ => code(expr),
        }
    }

    fn fenced(self) -> Term {
        let is_plain = match &self {
            Term::Row(row) => {
                row.first() == Some(&OPEN)
                    || !row.iter().any(|part| {
                        matches!(part, Term::Sign("∧" | "∨" | "=" | "≠" | "<" | "≤" | ">" | "≥", _) | Term::Text(_))
                    })
            }
            Term::Name(_) | Term::Field(_) | Term::Text(_) | Term::Number(_) | Term::Sign(..) => true,
        };
        if is_plain { self } else { Term::Row(vec![OPEN, self, CLOSE]) }
    }

    /// The term in MathML, without the element around it.
    pub fn mathml(&self) -> String {
        match self {
            Term::Name(name) | Term::Field(name) => match subscript(name) {
                Some((stem, number)) => format!("<msub><mi>{}</mi><mn>{number}</mn></msub>", in_xml(stem)),
                None => format!("<mi>{}</mi>", in_xml(name)),
            },
            Term::Text(text) => format!("<mtext>{}</mtext>", in_xml(&format!(" {text} "))),
            Term::Number(number) => format!("<mn>{}</mn>", in_xml(number)),
            Term::Sign(sign, _) => format!("<mo>{}</mo>", in_xml(sign)),
            Term::Row(row) => format!("<mrow>{}</mrow>", row.iter().map(Term::mathml).collect::<String>()),
        }
    }

    /// The term in LaTeX, for the mathematical mode.
    pub fn latex(&self) -> String {
        match self {
            Term::Name(name) | Term::Field(name) => match subscript(name) {
                Some((stem, number)) => format!(r"\mathit{{{}}}_{{{number}}}", in_latex(stem)),
                None => format!(r"\mathit{{{}}}", in_latex(name)),
            },
            Term::Text(text) => format!(r"\text{{ {} }}", in_latex(text)),
            Term::Number(number) => in_latex(number),
            Term::Sign(_, sign) if sign.starts_with('\\') => format!(" {sign} "),
            Term::Sign(_, sign) => (*sign).to_string(),
            Term::Row(row) => row.iter().map(Term::latex).collect(),
        }
    }

    /// The names in it.
    pub fn names(&self, names: &mut Vec<String>) {
        match self {
            Term::Name(name) => names.push(name.clone()),
            // Code may mention names, too.
            Term::Text(text) => {
                names.extend(text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_string));
            }
            Term::Row(row) => row.iter().for_each(|part| part.names(names)),
            Term::Field(_) | Term::Number(_) | Term::Sign(..) => {}
        }
    }
}

/// Code that has no mathematical form, in one line.
pub fn code(tokens: &impl ToTokens) -> Term {
    let text = tokens.to_token_stream().to_string();
    let tight = [
        (" . ", "."),
        (" :: ", "::"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" ,", ","),
        ("& ", "&"),
        (" !", "!"),
        (" ;", ";"),
    ];
    Term::Text(tight.iter().fold(text, |text, (wide, narrow)| text.replace(wide, narrow)))
}

/// A name: a truth value is a word.
fn named(name: &str) -> Term {
    match name {
        "None" => Term::text("none"),
        _ => Term::name(name),
    }
}

fn separated(terms: Vec<Term>) -> Vec<Term> {
    let mut row = Vec::new();
    for term in terms {
        if !row.is_empty() {
            row.push(COMMA);
        }
        row.push(term);
    }
    row
}

fn of_binary(e: &syn::ExprBinary) -> Term {
    let sign = match e.op {
        BinOp::And(_) => AND,
        BinOp::Or(_) => OR,
        BinOp::Eq(_) => EQUAL,
        BinOp::Ne(_) => Term::Sign("≠", r"\neq"),
        BinOp::Lt(_) => Term::Sign("<", "<"),
        BinOp::Le(_) => Term::Sign("≤", r"\leq"),
        BinOp::Gt(_) => Term::Sign(">", ">"),
        BinOp::Ge(_) => Term::Sign("≥", r"\geq"),
        BinOp::Add(_) => Term::Sign("+", "+"),
        BinOp::Sub(_) => Term::Sign("−", "-"),
        BinOp::Mul(_) => Term::Sign("·", r"\cdot"),
        BinOp::Div(_) => Term::Sign("/", "/"),
        BinOp::Rem(_) => Term::Sign("mod", r"\bmod"),
        _ => return code(e),
    };
    Term::Row(vec![Term::of(&e.left), sign, Term::of(&e.right)])
}

fn of_field(e: &syn::ExprField) -> Term {
    let field = e.member.to_token_stream().to_string();
    if is_self(&e.base) { Term::Name(field) } else { Term::Row(vec![Term::of(&e.base), DOT, Term::Field(field)]) }
}

fn is_self(expr: &Expr) -> bool {
    matches!(expr, Expr::Path(path) if path.path.is_ident("self"))
}

fn of_literal(lit: &Lit) -> Term {
    match lit {
        Lit::Int(number) => Term::Number(number.base10_digits().to_string()),
        Lit::Float(number) => Term::Number(number.base10_digits().to_string()),
        Lit::Str(text) => Term::Text(format!("“{}”", text.value())),
        Lit::Bool(value) => Term::text(if value.value { "true" } else { "false" }),
        _ => code(lit),
    }
}

/// Whether it only carries the reading and the record.
fn is_context(tokens: &impl ToTokens) -> bool {
    let text = tokens.to_token_stream().to_string().replace(" . ", ".");
    CONTEXT.contains(&text.trim_start_matches("& mut ").trim_start_matches("& "))
}

fn arguments<'e>(all: impl Iterator<Item = &'e Expr>) -> Vec<Term> {
    all.filter(|e| !is_context(*e)).map(Term::of).collect()
}

fn of_method(e: &syn::ExprMethodCall) -> Term {
    let name = e.method.to_string();
    if SILENT.contains(&name.as_str()) {
        return Term::of(&e.receiver);
    }
    let receiver = (!is_self(&e.receiver)).then_some(&*e.receiver);
    Term::apply(&name, arguments(receiver.into_iter().chain(&e.args)))
}

fn of_call(e: &syn::ExprCall) -> Term {
    let function = e.func.to_token_stream().to_string().replace(" :: ", "::");
    let arguments = arguments(e.args.iter());
    match <[Term; 1]>::try_from(arguments) {
        Ok([only]) if WRAPPERS.contains(&function.as_str()) => only,
        Ok([only]) => Term::apply(function.rsplit("::").next().unwrap_or(&function), vec![only]),
        Err(arguments) => Term::apply(function.rsplit("::").next().unwrap_or(&function), arguments),
    }
}

fn of_macro(e: &syn::ExprMacro) -> Term {
    let is = |name: &str| e.mac.path.is_ident(name);
    if is("rule")
        && let Ok(id) = e.mac.parse_body::<syn::LitStr>()
    {
        return Term::Text(id.value());
    }
    if is("matches")
        && let Ok((value, pattern)) = e.mac.parse_body_with(|input: syn::parse::ParseStream<'_>| {
            let value: Expr = input.parse()?;
            input.parse::<syn::Token![,]>()?;
            let pattern = Pat::parse_multi_with_leading_vert(input)?;
            let guard = if input.peek(syn::Token![if]) {
                Some((input.parse::<syn::Token![if]>()?, input.parse::<Expr>()?))
            } else {
                None
            };
            Ok((value, (pattern, guard)))
        })
    {
        let form = Term::of_form(Term::of(&value), &pattern.0);
        return match pattern.1 {
            Some((_, guard)) => Term::Row(vec![form, AND, Term::of(&guard)]),
            None => form,
        };
    }
    code(e)
}

/// The value of a block that is nothing but it.
fn only(block: &syn::Block) -> Option<Term> {
    match block.stmts.as_slice() {
        [syn::Stmt::Expr(expr, None)] => Some(Term::of(expr)),
        _ => None,
    }
}

/// `[terms]`
fn listed(terms: Vec<Term>) -> Term {
    let parts = separated(terms);
    Term::Row([Term::Sign("[", "[")].into_iter().chain(parts).chain([Term::Sign("]", "]")]).collect())
}

/// `(terms)`, or the only one.
fn grouped(mut terms: Vec<Term>) -> Term {
    match terms.as_slice() {
        [_] => terms.remove(0),
        _ => Term::Row([OPEN].into_iter().chain(separated(terms)).chain([CLOSE]).collect()),
    }
}

/// A function without a name. One without parameters only postpones its value.
fn of_closure(e: &syn::ExprClosure) -> Term {
    let body = Term::of(&e.body);
    let inputs: Vec<&Pat> = e.inputs.iter().filter(|input| !is_context(*input)).collect();
    if e.inputs.is_empty() {
        return body;
    }
    Term::Row(vec![grouped(inputs.into_iter().map(of_pattern).collect()), MAPS_TO, body.fenced()])
}

/// The value of each form.
fn of_match(e: &syn::ExprMatch) -> Term {
    let mut row = Vec::new();
    for arm in &e.arms {
        if !row.is_empty() {
            row.push(Term::text("; "));
        }
        row.push(Term::of(&arm.body));
        match (&arm.pat, &arm.guard) {
            (Pat::Wild(_), None) => row.push(Term::text("otherwise")),
            (pattern, guard) => {
                row.extend([Term::text("if"), Term::of_form(Term::of(&e.expr), pattern)]);
                if let Some((_, guard)) = guard {
                    row.extend([AND, Term::of(guard).fenced()]);
                }
            }
        }
    }
    Term::Row(row)
}

/// The numbers between two. The last one is left out, unless `=` is before it.
fn of_range(e: &syn::ExprRange) -> Term {
    let end = match e.limits {
        syn::RangeLimits::HalfOpen(_) => Term::Sign(")", ")"),
        syn::RangeLimits::Closed(_) => Term::Sign("]", "]"),
    };
    let bound = |bound: &Option<Box<Expr>>| bound.as_ref().map_or(REST, |bound| Term::of(bound));
    Term::Row(vec![Term::Sign("[", "["), bound(&e.start), COMMA, bound(&e.end), end])
}

fn of_if(e: &syn::ExprIf) -> Term {
    let otherwise = e.else_branch.as_ref().and_then(|(_, expr)| match &**expr {
        Expr::Block(block) => only(&block.block),
        Expr::If(inner) => Some(of_if(inner)),
        _ => None,
    });
    match (only(&e.then_branch), otherwise) {
        (Some(then), Some(otherwise)) => {
            Term::Row(vec![then, Term::text("if"), Term::of(&e.cond), Term::text(", otherwise"), otherwise])
        }
        (_, _) => code(e),
    }
}

fn of_struct(e: &syn::ExprStruct) -> Term {
    let name = e.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
    let field = |field: &syn::FieldValue| {
        let name = Term::name(&field.member.to_token_stream().to_string());
        let value = Term::of(&field.expr);
        if name == value { value } else { Term::equation(name, value) }
    };
    let mut fields: Vec<Term> = e.fields.iter().map(field).collect();
    if let Some(rest) = &e.rest {
        fields.push(Term::Row(vec![Term::text("all else of"), Term::of(rest)]));
    }
    Term::apply(&name, fields)
}

/// What a pattern is matched with.
fn of_pattern(pattern: &Pat) -> Term {
    match pattern {
        Pat::Path(path) => path.path.segments.last().map_or_else(|| code(path), |last| named(&last.ident.to_string())),
        Pat::TupleStruct(pat) => {
            let name = pat.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
            let parts: Vec<Term> = pat.elems.iter().map(of_pattern).collect();
            match <[Term; 1]>::try_from(parts) {
                Ok([only]) if WRAPPERS.contains(&name.as_str()) => only,
                Ok([only]) => Term::apply(&name, vec![only]),
                Err(parts) => Term::apply(&name, parts),
            }
        }
        Pat::Ident(pat) => {
            let name = named(&pat.ident.to_string());
            match &pat.subpat {
                Some((_, form)) => Term::Row(vec![name, Term::text("that is"), of_pattern(form)]),
                None => name,
            }
        }
        Pat::Reference(pat) => of_pattern(&pat.pat),
        Pat::Paren(pat) => of_pattern(&pat.pat),
        // What type it has is said where it is defined.
        Pat::Type(pat) => of_pattern(&pat.pat),
        Pat::Lit(e) => of_literal(&e.lit),
        Pat::Range(e) => of_range(e),
        Pat::Slice(pat) => listed(pat.elems.iter().map(of_pattern).collect()),
        Pat::Rest(_) => REST,
        Pat::Struct(pat) => {
            let name = pat.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
            let field = |field: &syn::FieldPat| {
                let (name, form) = (Term::name(&field.member.to_token_stream().to_string()), of_pattern(&field.pat));
                if name == form { name } else { Term::equation(name, form) }
            };
            let rest = pat.rest.iter().map(|_| REST);
            Term::apply(&name, pat.fields.iter().map(field).chain(rest).collect())
        }
        Pat::Tuple(pat) => Term::Row(
            [OPEN].into_iter().chain(separated(pat.elems.iter().map(of_pattern).collect())).chain([CLOSE]).collect(),
        ),
        Pat::Or(pat) => {
            let mut row = Vec::new();
            for case in &pat.cases {
                if !row.is_empty() {
                    row.push(Term::text("or"));
                }
                row.push(of_pattern(case));
            }
            Term::Row(row)
        }
        Pat::Wild(_) => Term::text("anything"),
        _ => code(pattern),
    }
}

/// `t1` is `t` with the subscript 1.
fn subscript(name: &str) -> Option<(&str, &str)> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (!stem.is_empty() && stem.len() < name.len()).then(|| name.split_at(stem.len()))
}

/// A text in XML.
pub fn in_xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A text in LaTeX.
pub fn in_latex(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' => out.push_str(r"\backslash{}"),
            '~' | '^' => {
                let _ = write!(out, r"\{c}{{}}");
            }
            '_' | '&' | '%' | '$' | '#' | '{' | '}' => {
                let _ = write!(out, r"\{c}");
            }
            '“' => out.push_str("``"),
            '”' => out.push_str("''"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Term {
        Term::of(&syn::parse_str(text).unwrap())
    }

    #[test]
    fn a_term_is_the_same_in_both() {
        let term = of("!t1.ndim.is_unknown() && same_rank");
        assert_eq!(
            term.mathml(),
            "<mrow><mrow><mo>¬</mo><mrow><mi>is_unknown</mi><mo>(</mo><mrow><msub><mi>t</mi><mn>1</mn></msub><mo>.</mo>\
             <mi>ndim</mi></mrow><mo>)</mo></mrow></mrow><mo>∧</mo><mi>same_rank</mi></mrow>"
        );
        assert_eq!(
            term.latex(),
            r" \neg \mathit{is\_unknown}(\mathit{t}_{1}.\mathit{ndim}) \wedge \mathit{same\_rank}"
        );
    }

    #[test]
    fn what_is_only_rust_is_left_out() {
        assert_eq!(of("self.cx.has(&x.clone())"), of("cx.has(x)"));
        assert_eq!(of("Some(erase(cx, &t))"), of("erase(t)"));
        assert_eq!(of("!(a == b)").latex(), r" \neg (\mathit{a}=\mathit{b})");
        assert_eq!(of("matches!(x, Some(y))").latex(), r"\mathit{x}\text{ is }\mathit{y}");
        assert_eq!(of("with_stack(|| x)"), of("x"));
        assert_eq!(of("x.all(|y: &Z| y == 1)").latex(), r"\mathit{all}(\mathit{x},\mathit{y} \mapsto (\mathit{y}=1))");
        let form = of("matches!(x, A { b: [1, ..], .. } | c @ D)").latex();
        assert_eq!(
            form,
            r"\mathit{x}\text{ is }\mathit{A}(\mathit{b}=[1, \dots ], \dots )\text{ or }\mathit{c}\text{ that is }\mathit{D}"
        );
    }
}
