//! `R.nn.attention_var_len(..)`, whose parameters are not in the order of the operator.

use ruff_python_ast as py;

use super::ModuleReader;
use super::annotation::ArgumentCursor;
use super::fault::{ReadFault, ReadResult};
use super::signature::{PythonParam, signature};
use crate::grammar::{Attrs, Expr, Span};

/// The operator.
pub(in crate::syntax) const VAR_LEN: &str = "nn.attention_var_len";

/// The inputs of the operator in the order of the Python function. The function groups the inputs about queries and
/// those about keys; the operator groups the starts of sequences and their lengths. The permutation is its own inverse.
pub(in crate::syntax) const PLACES: [usize; 7] = [0, 1, 2, 3, 5, 4, 6];

/// The inputs by name, in the order of the function, with the input that replaces each if it is omitted.
const INPUTS: [(&str, Option<usize>); 7] = [
    ("queries", None),
    ("keys", None),
    ("values", None),
    ("seqstart_q", None),
    ("max_seqlen_q", None),
    ("seqstart_k", Some(3)),
    ("max_seqlen_k", Some(4)),
];

impl ModuleReader<'_> {
    /// The call by place or by name, as the releases read it. They print the inputs in the order of the operator, and
    /// do not read that back.
    pub(super) fn attention_var_len(
        &mut self,
        mut args: ArgumentCursor<'_>,
        call: &py::ExprCall,
        span: Span,
    ) -> ReadResult<Expr> {
        let mut given: Vec<Expr> = Vec::new();
        for (name, otherwise) in INPUTS {
            let input = args.take(&[name]).filter(|input| !input.is_none_literal_expr());
            given.push(match (input, otherwise.and_then(|other| given.get(other))) {
                (Some(input), _) => self.expr(input)?,
                (None, Some(other)) => other.clone(),
                (None, None) => return Err(ReadFault::expected(self.text, call, &format!("the argument `{name}`"))),
            });
        }
        let mut attrs = Attrs::new();
        for param in signature(VAR_LEN) {
            if let PythonParam::Attr(name) = param
                && let Some(value) = args.take(&[name])
            {
                attrs.insert(name.into(), self.attr(name, value)?);
            }
        }
        if let [extra, ..] = args.rest() {
            return Err(ReadFault::new(extra, "one argument too many"));
        }
        let inputs = PLACES.iter().filter_map(|place| given.get(*place).cloned()).collect();
        let op = self.op(VAR_LEN, span);
        let mut call = self.finished(op, inputs, None, args, span)?;
        call.attrs.extend(attrs);
        Ok(Expr::Call(call.into()))
    }
}
