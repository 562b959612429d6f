//! Dimensions: `n + 1`, `T.min(n, 4)`, `"m // 2"`.

use ruff_python_ast as py;
use ruff_text_size::Ranged;

use super::ModuleReader;
use super::fault::{ReadFault, ReadResult, integer, qualified, span_of, string, tir_name};
use crate::grammar::{BinaryOp, DataType, PrimExpr, ShapeVar, Span, notation};
use crate::judge::with_stack;

/// The treatment of a shape variable that is not in scope.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unbound {
    /// The signature binds it (`R89.SYN.SHAPEVAR.IMPLICIT`).
    Sign,
    /// The pattern of a match binds it.
    Match,
    /// It stays free, and well-formedness reports it.
    Leave,
}

impl ModuleReader<'_> {
    /// The dimensions in a list or tuple, or a single dimension.
    pub(super) fn dims(&mut self, e: &py::Expr, unbound: Unbound) -> ReadResult<Vec<PrimExpr>> {
        if let Some(dims) = self.annotated_dims(e) {
            return Ok(dims);
        }
        match super::fault::members(e) {
            Some(members) => members.iter().map(|member| self.dim(member, unbound)).collect(),
            None => Ok(vec![self.dim(e, unbound)?]),
        }
    }

    pub(super) fn dim(&mut self, e: &py::Expr, unbound: Unbound) -> ReadResult<PrimExpr> {
        with_stack(|| self.dim_inner(e, unbound))
    }

    fn dim_inner(&mut self, e: &py::Expr, unbound: Unbound) -> ReadResult<PrimExpr> {
        if let Some(dim) = self.annotated_dim(e) {
            return Ok(dim);
        }
        if let Some(literal) = integer(e) {
            return self.int64(e, literal);
        }
        match e {
            py::Expr::NumberLiteral(n) if matches!(n.value, py::Number::Int(_)) => Err(self.not_int64(e)),
            py::Expr::BooleanLiteral(b) => Ok(PrimExpr::IntImm(i64::from(b.value))),
            py::Expr::Name(name) => Ok(PrimExpr::Var(self.shape_var(name.id.as_str(), span_of(name), unbound)?)),
            py::Expr::StringLiteral(s) => self.dim_text(s.value.to_str(), span_of(e), unbound),
            py::Expr::UnaryOp(u) => {
                let operand = self.dim(&u.operand, unbound)?;
                match u.op {
                    // The same reading as in TVM.
                    py::UnaryOp::USub => Ok(PrimExpr::binary(BinaryOp::Mul, operand, PrimExpr::IntImm(-1))),
                    py::UnaryOp::UAdd => Ok(operand),
                    py::UnaryOp::Not => Ok(PrimExpr::Not(operand.into())),
                    py::UnaryOp::Invert => Err(self.not_a_dimension(e)),
                }
            }
            py::Expr::BinOp(b) => {
                let op = arithmetic(b.op).ok_or_else(|| self.not_a_dimension(e))?;
                self.by(rule!("R89.SYN.DIMARITH"), span_of(e));
                Ok(PrimExpr::binary(op, self.dim(&b.left, unbound)?, self.dim(&b.right, unbound)?))
            }
            py::Expr::BoolOp(b) => self.connective(b, unbound),
            py::Expr::Compare(c) => match (&*c.ops, &*c.comparators) {
                ([op], [right]) => {
                    let op = comparison(*op).ok_or_else(|| self.not_a_dimension(e))?;
                    Ok(PrimExpr::binary(op, self.dim(&c.left, unbound)?, self.dim(right, unbound)?))
                }
                _ => Err(ReadFault::new(e, "comparisons of dimensions do not chain; write `a < b and b < c`")),
            },
            py::Expr::Call(call) => self.dim_call(e, call, unbound),
            _ => Err(self.not_a_dimension(e)),
        }
    }

    fn connective(&mut self, b: &py::ExprBoolOp, unbound: Unbound) -> ReadResult<PrimExpr> {
        let op = match b.op {
            py::BoolOp::And => BinaryOp::And,
            py::BoolOp::Or => BinaryOp::Or,
        };
        let mut operands = b.values.iter();
        let mut left = match operands.next() {
            Some(first) => self.dim(first, unbound)?,
            None => return Err(ReadFault::new(b, "expected a dimension")),
        };
        for right in operands {
            left = PrimExpr::binary(op, left, self.dim(right, unbound)?);
        }
        Ok(left)
    }

    /// `T.min(a, b)` and the other functions of TIR, with or without the prefix.
    fn dim_call(&mut self, e: &py::Expr, call: &py::ExprCall, unbound: Unbound) -> ReadResult<PrimExpr> {
        let name = match &*call.func {
            py::Expr::Name(name) => Some(name.id.as_str().into()),
            other => tir_name(other),
        };
        let args = &*call.arguments.args;
        if !call.arguments.keywords.is_empty() {
            return Err(self.not_a_dimension(e));
        }
        let node = match (name.as_deref(), args) {
            (Some("int64"), [a]) => Some(self.dim(a, unbound)?),
            (Some("Cast"), [to, a]) => match string(to).and_then(|to| to.parse::<DataType>().ok()) {
                // Every dimension is an int64 already, including comparisons.
                Some(DataType::INT64) => Some(self.dim(a, unbound)?),
                Some(_) | None => None,
            },
            (Some("Not"), [a]) => Some(PrimExpr::Not(self.dim(a, unbound)?.into())),
            (Some("Select" | "select" | "if_then_else"), [c, t, f]) => Some(PrimExpr::Select(
                self.dim(c, unbound)?.into(),
                self.dim(t, unbound)?.into(),
                self.dim(f, unbound)?.into(),
            )),
            (Some(name), [a, b]) => match BinaryOp::from_function(name) {
                Some(op) => Some(PrimExpr::binary(op, self.dim(a, unbound)?, self.dim(b, unbound)?)),
                None => None,
            },
            _ => None,
        };
        node.ok_or_else(|| self.not_a_dimension(e))
    }

    pub(super) fn int64(&self, e: &py::Expr, literal: i128) -> ReadResult<PrimExpr> {
        i64::try_from(literal).map(PrimExpr::IntImm).map_err(|_| self.not_int64(e))
    }

    fn not_int64(&self, e: &py::Expr) -> ReadFault {
        ReadFault::expected(self.text, e, "an integer that fits in int64").under(rule!("GRAM.PRIM.INTIMM"))
    }

    fn not_a_dimension(&self, e: &py::Expr) -> ReadFault {
        ReadFault::expected(self.text, e, "a dimension")
    }

    /// A dimension inside a string.
    fn dim_text(&mut self, text: &str, span: Span, unbound: Unbound) -> ReadResult<PrimExpr> {
        let dim = notation::parse_prim_expr(text)
            .map_err(|error| ReadFault::at(span, format!("in the dimension \"{text}\": {}", error.message)))?;
        self.rename_dims(&dim, span, unbound)
    }

    /// The same dimension, with its names resolved.
    fn rename_dims(&mut self, dim: &PrimExpr, span: Span, unbound: Unbound) -> ReadResult<PrimExpr> {
        with_stack(|| match dim {
            PrimExpr::Var(v) => Ok(PrimExpr::Var(self.shape_var(&v.name, span, unbound)?)),
            PrimExpr::IntImm(i) => Ok(PrimExpr::IntImm(*i)),
            PrimExpr::Binary(op, a, b) => {
                let a = self.rename_dims(a, span, unbound)?;
                Ok(PrimExpr::binary(*op, a, self.rename_dims(b, span, unbound)?))
            }
            PrimExpr::Not(a) => Ok(PrimExpr::Not(self.rename_dims(a, span, unbound)?.into())),
            PrimExpr::Select(c, t, f) => {
                let c = self.rename_dims(c, span, unbound)?;
                let t = self.rename_dims(t, span, unbound)?;
                Ok(PrimExpr::Select(c.into(), t.into(), self.rename_dims(f, span, unbound)?.into()))
            }
        })
    }

    pub(super) fn shape_var(&mut self, name: &str, span: Span, unbound: Unbound) -> ReadResult<ShapeVar> {
        self.not_another_scalar(name, span)?;
        if let Some(known) = self.scope.dim(name) {
            return Ok(known.at(span));
        }
        match unbound {
            Unbound::Sign => {
                self.by(rule!("R89.SYN.SHAPEVAR.IMPLICIT"), span);
                Ok(self.scope.declare_dim(name, span))
            }
            Unbound::Match => Ok(self.scope.declare_dim(name, span)),
            Unbound::Leave => Ok(self.scope.stray_dim(name, span)),
        }
    }

    /// Whether an expression can only be a dimension. It has integers and shape variables in scope, and at least one
    /// operator or function of dimensions.
    pub(super) fn is_dimension(&self, e: &py::Expr) -> bool {
        with_stack(|| match e {
            py::Expr::NumberLiteral(_) => integer(e).is_some(),
            py::Expr::Name(name) => {
                let name = name.id.as_str();
                self.scope.dim(name).is_some() && (self.scope.var(name).is_none() || self.is_scalar_dim(name))
            }
            py::Expr::UnaryOp(u) => self.is_dimension(&u.operand),
            py::Expr::BinOp(b) => self.is_dimension(&b.left) && self.is_dimension(&b.right),
            py::Expr::Compare(c) => self.is_dimension(&c.left) && c.comparators.iter().all(|e| self.is_dimension(e)),
            py::Expr::BoolOp(b) => b.values.iter().all(|e| self.is_dimension(e)),
            py::Expr::Call(call) => tir_name(&call.func).is_some_and(|name| is_dim_function(&name)),
            _ => false,
        })
    }

    /// Whether the right-hand side of an assignment introduces a shape variable: `T.int64()`, `T.var("int64")`,
    /// `TypeVar("n")`.
    pub(super) fn declares_dim(&self, e: &py::Expr) -> ReadResult<bool> {
        let py::Expr::Call(call) = e else { return Ok(false) };
        let (name, is_bare) = match (qualified(&call.func), &*call.func) {
            (Some((super::fault::Prefix::Tir, name)), _) => (name, false),
            // TVM prints the variables of a module before it in this form.
            (Some((super::fault::Prefix::Module, name)), _) if name == "dynamic" => (name, false),
            (None, py::Expr::Name(name)) => (name.id.as_str().into(), true),
            _ => return Ok(false),
        };
        let args = &*call.arguments.args;
        match (&*name, args) {
            ("TypeVar", [_]) => Ok(true),
            _ if is_bare => Ok(false),
            ("dynamic" | "symbolic", _) => {
                let dtype = args.get(1).or_else(|| call.arguments.find_keyword("dtype").map(|keyword| &keyword.value));
                dtype.and_then(string).map_or(Ok(true), |dtype| self.dim_dtype(e, dtype))
            }
            ("var", [dtype]) | ("Var" | "SizeVar", [_, dtype]) => self.dim_dtype(e, string(dtype).unwrap_or_default()),
            (dtype, []) if dtype.parse::<DataType>().is_ok() => self.dim_dtype(e, dtype),
            _ => Ok(false),
        }
    }

    fn dim_dtype(&self, e: &py::Expr, dtype: &str) -> ReadResult<bool> {
        match dtype.parse::<DataType>() {
            Ok(DataType::INT64) => Ok(true),
            _ => {
                let message = format!("a shape variable is an int64, not `{dtype}`");
                Err(ReadFault::new(&e.range(), message).under(rule!("GRAM.PRIM.TIRSEM")))
            }
        }
    }
}

fn arithmetic(op: py::Operator) -> Option<BinaryOp> {
    match op {
        py::Operator::Add => Some(BinaryOp::Add),
        py::Operator::Sub => Some(BinaryOp::Sub),
        py::Operator::Mult => Some(BinaryOp::Mul),
        py::Operator::FloorDiv => Some(BinaryOp::FloorDiv),
        py::Operator::Mod => Some(BinaryOp::FloorMod),
        // Dimensions have no other Python operators.
        _ => None,
    }
}

fn comparison(op: py::CmpOp) -> Option<BinaryOp> {
    match op {
        py::CmpOp::Eq => Some(BinaryOp::Eq),
        py::CmpOp::NotEq => Some(BinaryOp::Ne),
        py::CmpOp::Lt => Some(BinaryOp::Lt),
        py::CmpOp::LtE => Some(BinaryOp::Le),
        py::CmpOp::Gt => Some(BinaryOp::Gt),
        py::CmpOp::GtE => Some(BinaryOp::Ge),
        py::CmpOp::Is | py::CmpOp::IsNot | py::CmpOp::In | py::CmpOp::NotIn => None,
    }
}

fn is_dim_function(name: &str) -> bool {
    matches!(name, "int64" | "Cast" | "Not" | "Select" | "if_then_else") || BinaryOp::from_function(name).is_some()
}
