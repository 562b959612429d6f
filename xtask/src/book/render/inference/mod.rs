//! Inference rules, made from the rows and premises in the code, so that they cannot disagree with it: what has to hold
//! stands over the line, what follows below it.
//!
//! A row is `(rule!("ID"), condition, answer)` in a definition by cases; the last row, `(rule!("ID"), answer)`, holds
//! in all other cases. A premise is `(rule!("ID"), number, condition)`, possibly with what is reported if it does not
//! hold. A conclusion is `cx.conclude(rule!("ID"), answer)`. The conditions and patterns of the branches around it are
//! premises, too, and so is that no branch before it has returned an answer, and that no row above applies.

mod math;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use quote::ToTokens as _;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Expr, FnArg, Pat};

use math::{Term, in_latex, in_xml};

/// One form of a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inference {
    /// The file and line.
    pub place: String,
    /// What has to hold.
    premises: Vec<Term>,
    /// What follows.
    conclusion: Term,
    /// The definitions of the names in both.
    names: Vec<Term>,
}

/// The judgements themselves, which only pass rows on.
const GENERAL: &str = "src/judge/";
/// The sources of the library.
const LIBRARY: &str = "src/";

/// The forms of each rule in sources by their paths.
///
/// # Errors
///
/// A source cannot be parsed.
pub fn inferences(sources: &BTreeMap<String, String>) -> Result<BTreeMap<String, Vec<Inference>>, String> {
    let mut found: BTreeMap<String, Vec<Inference>> = BTreeMap::new();
    for (name, text) in sources.iter().filter(|(name, _)| name.starts_with(LIBRARY) && !name.starts_with(GENERAL)) {
        let file = syn::parse_file(text).map_err(|error| format!("{name}: {error}"))?;
        let mut reader =
            Reader { name, functions: Vec::new(), value: ValueOf::Part, rows: Vec::new(), found: &mut found };
        reader.visit_file(&file);
    }
    Ok(found)
}

/// A function around the present place.
struct Around {
    judgement: Term,
    /// The conditions of the branches around the present place.
    branches: Vec<Term>,
    /// The definitions so far.
    definitions: Vec<Definition>,
}

struct Definition {
    names: Vec<String>,
    equation: Term,
}

struct Reader<'r> {
    name: &'r str,
    functions: Vec<Around>,
    /// What the present expression is.
    value: ValueOf,
    /// The rules of the rows above.
    rows: Vec<String>,
    found: &'r mut BTreeMap<String, Vec<Inference>>,
}

/// What an expression is the value of.
#[derive(Clone)]
enum ValueOf {
    /// Of the function.
    Function,
    /// Of the pattern of a `let`.
    Binding(Term),
    /// Of a part of something.
    Part,
}

impl Reader<'_> {
    fn function(&mut self, signature: &syn::Signature, visit: impl FnOnce(&mut Self)) {
        let params = signature.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(param) => match &*param.pat {
                Pat::Ident(name) if name.ident != "cx" => Some(Term::name(&name.ident.to_string())),
                _ => None,
            },
            FnArg::Receiver(_) => None,
        });
        let judgement = Term::apply(&signature.ident.to_string(), params.collect());
        self.functions.push(Around { judgement, branches: Vec::new(), definitions: Vec::new() });
        self.as_value_of(ValueOf::Function, visit);
        self.functions.pop();
    }

    fn as_value_of(&mut self, value: ValueOf, visit: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.value, value);
        visit(self);
        self.value = outer;
    }

    /// Visits the rows of a definition by cases, each below those above it. Returns their rules.
    fn rows_of(&mut self, array: &syn::ExprArray) -> Vec<String> {
        let outer = std::mem::take(&mut self.rows);
        for row in &array.elems {
            let above = self.rows.clone();
            self.visit_expr(row);
            self.rows = above;
            if let Expr::Tuple(row) = row {
                self.rows.extend(row.elems.first().and_then(id_of));
            }
        }
        std::mem::replace(&mut self.rows, outer)
    }

    /// That no row above applies; nothing in the first row.
    fn below_rows(&self) -> Option<Term> {
        (!self.rows.is_empty()).then(|| Term::text(&format!("not by {}", self.rows.join(", "))))
    }

    /// Visits what a condition leads to.
    fn under(&mut self, condition: Term, visit: impl FnOnce(&mut Self)) {
        let open = self.functions.last_mut().map(|around| around.branches.push(condition)).is_some();
        visit(self);
        if let Some(around) = self.functions.last_mut().filter(|_| open) {
            around.branches.pop();
        }
    }

    fn define(&mut self, pattern: &Pat, value: &Expr) {
        let mut bound = Bound(Vec::new());
        bound.visit_pat(pattern);
        let text = value.to_token_stream().to_string();
        let (left, right) = (Term::of_pattern(pattern), Term::of(value));
        // A long definition is a judgement of its own; its page shows it. A name may only be repeated for Rust.
        if text.contains('{') || text.len() >= LONGEST || left == right {
            return;
        }
        if let Some(around) = self.functions.last_mut() {
            around.definitions.push(Definition { names: bound.0, equation: Term::equation(left, right) });
        }
    }

    fn keep(&mut self, rule: &Expr, own: impl IntoIterator<Item = Term>, follows: Follows) {
        let (Some(id), Some(around)) = (id_of(rule), self.functions.last()) else { return };
        let mut premises = around.branches.clone();
        premises.extend(own);
        let conclusion = match follows {
            Follows::Answer(answer) => Term::equation(around.judgement.clone(), answer),
            Follows::Value(value) => match &self.value {
                ValueOf::Function => Term::equation(around.judgement.clone(), value),
                ValueOf::Binding(pattern) => Term::equation(pattern.clone(), value),
                ValueOf::Part => value,
            },
            Follows::Goes => Term::Row(vec![around.judgement.clone(), Term::text(&format!("does not fail by {id}"))]),
        };
        let names = around.definitions_of(premises.iter().chain([&conclusion]));
        let place = format!("{}:{}", self.name, rule.span().start().line);
        self.found.entry(id).or_default().push(Inference { place, premises, conclusion, names });
    }
}

/// What a form of a rule concludes.
enum Follows {
    /// An answer of the function.
    Answer(Term),
    /// The value of the present expression.
    Value(Term),
    /// That the premise does not stand in the way.
    Goes,
}

impl Around {
    /// The definitions of the names in some terms, and of the names in those.
    fn definitions_of<'t>(&self, terms: impl Iterator<Item = &'t Term>) -> Vec<Term> {
        let mut wanted = Vec::new();
        terms.for_each(|term| term.names(&mut wanted));
        let mut chosen = Vec::new();
        for definition in self.definitions.iter().rev() {
            if definition.names.iter().any(|name| wanted.contains(name)) {
                definition.equation.names(&mut wanted);
                chosen.push(definition.equation.clone());
            }
        }
        chosen.reverse();
        chosen
    }
}

/// The id in `rule!("ID")`.
fn id_of(expr: &Expr) -> Option<String> {
    let Expr::Macro(expr) = expr else { return None };
    let is_rule = expr.mac.path.is_ident("rule");
    is_rule.then(|| expr.mac.parse_body::<syn::LitStr>().ok()).flatten().map(|id| id.value())
}

/// The condition under which a statement leaves the function.
fn left_by(statement: &syn::Stmt) -> Option<&Expr> {
    let syn::Stmt::Expr(Expr::If(branch), _) = statement else { return None };
    let leaves = |last: &syn::Stmt| matches!(last, syn::Stmt::Expr(Expr::Return(_), _));
    (branch.else_branch.is_none() && branch.then_branch.stmts.last().is_some_and(leaves)).then_some(&*branch.cond)
}

fn is_number(expr: &Expr) -> bool {
    matches!(expr, Expr::Lit(lit) if matches!(lit.lit, syn::Lit::Int(_)))
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.to_token_stream().to_string().replace(' ', "") == "#[cfg(test)]")
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            self.function(&item.sig, |reader| visit::visit_item_fn(reader, item));
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, |reader| visit::visit_impl_item_fn(reader, item));
    }

    /// The statements behind a branch that returns are under the contrary of its condition.
    fn visit_block(&mut self, block: &'ast syn::Block) {
        let open = self.functions.last().map_or(0, |around| around.branches.len());
        for (at, statement) in block.stmts.iter().enumerate() {
            let value = match (at + 1 == block.stmts.len(), statement) {
                (true, syn::Stmt::Expr(_, None)) => self.value.clone(),
                _ => ValueOf::Part,
            };
            self.as_value_of(value, |reader| reader.visit_stmt(statement));
            if let (Some(left), Some(around)) = (left_by(statement), self.functions.last_mut()) {
                around.branches.push(Term::of(left).not());
            }
        }
        if let Some(around) = self.functions.last_mut() {
            around.branches.truncate(open);
        }
    }

    fn visit_expr_return(&mut self, returned: &'ast syn::ExprReturn) {
        self.as_value_of(ValueOf::Function, |reader| visit::visit_expr_return(reader, returned));
    }

    fn visit_expr_array(&mut self, array: &'ast syn::ExprArray) {
        self.rows_of(array);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        let pattern = match &local.pat {
            Pat::Type(typed) => &*typed.pat,
            pattern => pattern,
        };
        self.as_value_of(ValueOf::Binding(Term::of_pattern(pattern)), |reader| visit::visit_local(reader, local));
        let Some(init) = &local.init else { return };
        match (pattern, &*init.expr) {
            // Each name has a definition of its own.
            (Pat::Tuple(names), Expr::Tuple(values)) if names.elems.len() == values.elems.len() => {
                names.elems.iter().zip(&values.elems).for_each(|(name, value)| self.define(name, value));
            }
            (pattern, value) => self.define(pattern, value),
        }
    }

    fn visit_expr_tuple(&mut self, tuple: &'ast syn::ExprTuple) {
        let parts: Vec<&Expr> = tuple.elems.iter().collect();
        match parts.as_slice() {
            [rule, number, condition] | [rule, number, condition, _] if is_number(number) => {
                self.keep(rule, [Term::of(condition)], Follows::Goes);
            }
            [rule, condition, answer] => {
                let above = self.below_rows().into_iter();
                self.keep(rule, above.chain([Term::of(condition)]), Follows::Answer(Term::of(answer)));
            }
            [Expr::Reference(rows), Expr::Tuple(last)] => {
                let above = match &*rows.expr {
                    Expr::Array(rows) => self.rows_of(rows),
                    _ => Vec::new(),
                };
                let outer = std::mem::replace(&mut self.rows, above);
                if let [rule, answer] = last.elems.iter().collect::<Vec<&Expr>>().as_slice() {
                    self.keep(rule, self.below_rows(), Follows::Answer(Term::of(answer)));
                }
                self.rows = outer;
                return visit::visit_expr_tuple(self, last);
            }
            [rule, answer] => self.keep(rule, None, Follows::Answer(Term::of(answer))),
            _ => {}
        }
        visit::visit_expr_tuple(self, tuple);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let parts: Vec<&Expr> = call.args.iter().collect();
        match (call.method.to_string().as_str(), parts.as_slice()) {
            ("conclude" | "by_kind", [rule, answer]) => self.keep(rule, None, Follows::Value(Term::of(answer))),
            ("premise", [rule, _, condition]) => self.keep(rule, [Term::of(condition)], Follows::Goes),
            _ => {}
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_if(&mut self, branch: &'ast syn::ExprIf) {
        self.visit_expr(&branch.cond);
        let condition = Term::of(&branch.cond);
        self.under(condition.clone(), |reader| reader.visit_block(&branch.then_branch));
        if let Some((_, otherwise)) = &branch.else_branch {
            self.under(condition.not(), |reader| reader.visit_expr(otherwise));
        }
    }

    fn visit_expr_match(&mut self, of: &'ast syn::ExprMatch) {
        self.visit_expr(&of.expr);
        let value = Term::of(&of.expr);
        for arm in &of.arms {
            let form = Term::of_form(value.clone(), &arm.pat);
            self.under(form, |reader| match &arm.guard {
                Some((_, guard)) => reader.under(Term::of(guard), |reader| reader.visit_expr(&arm.body)),
                None => reader.visit_expr(&arm.body),
            });
        }
    }
}

/// The names that a pattern binds.
struct Bound(Vec<String>);

impl<'ast> Visit<'ast> for Bound {
    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.0.push(pattern.ident.to_string());
        visit::visit_pat_ident(self, pattern);
    }
}

/// The maximum length of a definition that is shown.
const LONGEST: usize = 240;

impl Inference {
    /// The rule over and below a line, in MathML, with its LaTeX to copy. `judgements` are those that it belongs to.
    pub fn html(&self, id: &str, link: &str) -> String {
        let above: Vec<String> = self.premises.iter().map(Term::mathml).collect();
        let mut out = format!(
            "<div class=\"inference\"><math display=\"block\"><mrow><mfrac><mrow>{}</mrow>{}</mfrac><mtext>\u{2003}{id}</mtext></mrow></math>",
            if above.is_empty() { "<mspace/>".to_string() } else { above.join("<mspace width=\"2em\"/>") },
            self.conclusion.mathml(),
        );
        if !self.names.is_empty() {
            let names: Vec<String> = self.names.iter().map(|name| format!("<math>{}</math>", name.mathml())).collect();
            let _ = write!(out, "<p>where {}</p>", names.join(", "));
        }
        let _ = write!(
            out,
            "<details><summary>LaTeX, and the code</summary><pre><code class=\"nohighlight\">{}</code></pre><p>{link}</p></details></div>",
            in_xml(&self.latex(id))
        );
        out
    }

    /// The rule in LaTeX, with `amsmath`.
    fn latex(&self, id: &str) -> String {
        let above: Vec<String> = self.premises.iter().map(Term::latex).collect();
        let below = self.conclusion.latex();
        let mut out = format!(
            "\\[\n  \\dfrac{{{}}}\n        {{{below}}}\n  \\quad\\textsc{{{}}}\n\\]",
            above.join(r" \qquad "),
            in_latex(id)
        );
        if !self.names.is_empty() {
            let names: Vec<String> = self.names.iter().map(|name| format!("${}$", name.latex())).collect();
            let _ = write!(out, "\nwhere {}", names.join(", "));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_a_premise_and_a_conclusion_are_rules() {
        let text = r#"
            fn judge(cx: &mut Cx, a: &Type, b: &Type) -> bool {
                let same = a == b;
                if open {
                    return false;
                }
                let size = cx.conclude(rule!("PARTIAL"), 1);
                match Pair::of(a, b) {
                    Pair::Tensors(x, y) => {
                        cx.by_cases((&[(rule!("ROW"), same, true), (rule!("NEXT"), b, true)], (rule!("LAST"), false)))
                    }
                    Pair::Tuples(x, y) if x.len() == y.len() => cx.holds(&[(rule!("PREMISE"), 1, same)]),
                    _ => cx.conclude(rule!("END"), a.clone()),
                }
            }
            #[cfg(test)]
            mod tests { fn f() { cx.conclude(rule!("TEST"), 1); } }
        "#;
        let found = inferences(&[("src/x.rs".to_string(), text.to_string())].into()).unwrap();
        assert_eq!(found.keys().collect::<Vec<_>>(), ["END", "LAST", "NEXT", "PARTIAL", "PREMISE", "ROW"]);
        let row = &found["ROW"][0];
        assert_eq!(row.place, "src/x.rs:10");
        assert_eq!(
            row.latex("ROW"),
            "\\[\n  \\dfrac{ \\neg \\mathit{open} \\qquad \\mathit{of}(\\mathit{a},\\mathit{b})\\text{ is }\\mathit{Tensors}(\\mathit{x},\\mathit{y}) \\qquad \\mathit{same}}\n        \
             {\\mathit{judge}(\\mathit{a},\\mathit{b})=\\text{ true }}\n  \\quad\\textsc{ROW}\n\\]\nwhere $\\mathit{same}=(\\mathit{a}=\\mathit{b})$"
        );
        assert_eq!(found["PREMISE"][0].premises.len(), 4);
        let latex = |id: &str| found[id][0].latex(id);
        assert!(latex("NEXT").contains("\\text{ not by ROW }"), "{}", latex("NEXT"));
        assert!(latex("LAST").contains("\\text{ not by ROW, NEXT }"), "{}", latex("LAST"));
        assert!(latex("PARTIAL").contains("{\\mathit{size}=1}"), "{}", latex("PARTIAL"));
        assert!(row.html("ROW", "").contains("<mfrac>"));
    }
}
