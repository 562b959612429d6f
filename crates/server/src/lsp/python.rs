//! The places in a Python text that a fix may change.

use std::ops::Range;

use ruff_python_ast as py;
use ruff_python_ast::visitor::{Visitor, walk_stmt};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use ruff_text_size::{Ranged, TextRange};

/// `target: annotation = value`.
#[derive(Clone, Debug)]
pub(crate) struct AnnotatedAssignment {
    pub target: Range<usize>,
    pub annotation: Range<usize>,
    pub value: Range<usize>,
}

/// A function.
#[derive(Clone, Debug)]
pub(crate) struct FunctionSyntax {
    pub range: Range<usize>,
    pub name: String,
    /// The last decorator, without its `@`.
    pub decorator: Option<Range<usize>>,
    pub returns: Option<Range<usize>>,
}

/// The places in a Python text that a fix may change. The parser goes on behind errors.
#[derive(Default, Debug)]
pub(crate) struct PythonSyntax {
    assignments: Vec<(Range<usize>, AnnotatedAssignment)>,
    functions: Vec<FunctionSyntax>,
    /// Classes, each with the start of its first statement.
    classes: Vec<(Range<usize>, usize)>,
    /// Calls of `R.output`, each with the end of its last argument.
    outputs: Vec<(usize, usize)>,
}

impl PythonSyntax {
    pub fn of(text: &str) -> PythonSyntax {
        let mut syntax = PythonSyntax::default();
        let parsed = parse_unchecked(text, ParseOptions::from(Mode::Module));
        if let py::Mod::Module(module) = parsed.syntax() {
            module.body.iter().for_each(|statement| syntax.visit_stmt(statement));
        }
        syntax
    }

    /// The assignment around an offset, if it has an annotation.
    pub fn annotated_at(&self, offset: usize) -> Option<&AnnotatedAssignment> {
        let around = self.assignments.iter().find(|(range, _)| range.contains(&offset));
        around.map(|(_, assignment)| assignment)
    }

    /// The innermost function around an offset.
    pub fn function_at(&self, offset: usize) -> Option<&FunctionSyntax> {
        let around = self.functions.iter().filter(|function| function.range.contains(&offset));
        around.min_by_key(|function| function.range.len())
    }

    /// The start of the first statement of the outermost class around an offset.
    pub fn class_body_at(&self, offset: usize) -> Option<usize> {
        self.classes.iter().find(|(range, _)| range.contains(&offset)).map(|(_, first)| *first)
    }

    /// The end of the arguments of the last `R.output` before an offset.
    pub fn output_before(&self, offset: usize) -> Option<usize> {
        self.outputs.iter().rev().find(|(start, _)| *start < offset).map(|(_, end)| *end)
    }
}

fn range_of(range: TextRange) -> Range<usize> {
    range.start().to_usize()..range.end().to_usize()
}

impl<'a> Visitor<'a> for PythonSyntax {
    fn visit_stmt(&mut self, statement: &'a py::Stmt) {
        let whole = range_of(statement.range());
        match statement {
            py::Stmt::AnnAssign(py::StmtAnnAssign { target, annotation, value: Some(value), .. }) => {
                let (target, annotation) = (range_of(target.range()), range_of(annotation.range()));
                let assignment = AnnotatedAssignment { target, annotation, value: range_of(value.range()) };
                self.assignments.push((whole, assignment));
            }
            py::Stmt::FunctionDef(function) => self.functions.push(FunctionSyntax {
                range: whole,
                name: function.name.to_string(),
                decorator: function.decorator_list.last().map(|decorator| range_of(decorator.expression.range())),
                returns: function.returns.as_ref().map(|returns| range_of(returns.range())),
            }),
            py::Stmt::ClassDef(class) => {
                if let Some(first) = class.body.first() {
                    self.classes.push((whole, first_of(first)));
                }
            }
            py::Stmt::Expr(py::StmtExpr { value, .. }) => {
                if let py::Expr::Call(call) = &**value
                    && let py::Expr::Attribute(callee) = &*call.func
                    && callee.attr.as_str() == "output"
                    && let Some(last) = call.arguments.args.last()
                {
                    self.outputs.push((whole.start, range_of(last.range()).end));
                }
            }
            _ => {}
        }
        walk_stmt(self, statement);
    }
}

/// The start of a statement, with its decorators.
fn first_of(statement: &py::Stmt) -> usize {
    let decorators = match statement {
        py::Stmt::FunctionDef(function) => function.decorator_list.first(),
        py::Stmt::ClassDef(class) => class.decorator_list.first(),
        _ => None,
    };
    let start = statement.range().start();
    decorators.map_or(start, |decorator| decorator.range().start().min(start)).to_usize()
}
