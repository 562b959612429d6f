//! Expressions.

use std::borrow::Cow;

use ruff_python_ast as py;
use ruff_text_size::Ranged;

use super::ModuleReader;
use super::dims::Unbound;
use super::fault::{
    ReadFault, ReadResult, dotted, float, integer, non_finite, pair, qualified, relax_name, span_of, string, tir_name,
};
use super::scope::use_of;
use crate::grammar::{
    Call, Constant, DataType, DataTypeImm, Expr, ExternFunc, FloatBits, GlobalVar, If, Name, Op, PrimExpr, PrimValue,
    Span, StringImm, Tuple, TupleGetItem,
};
use crate::judge::with_stack;
use crate::number::FloatType;
use crate::syntax::tvmscript::metadata::{self, MetadataEntry};

impl ModuleReader<'_> {
    pub(super) fn expr(&mut self, e: &py::Expr) -> ReadResult<Expr> {
        match e {
            py::Expr::Name(name) => Ok(self.name(name.id.as_str(), span_of(e))),
            _ => with_stack(|| self.expr_inner(e)),
        }
    }

    fn expr_inner(&mut self, e: &py::Expr) -> ReadResult<Expr> {
        let span = span_of(e);
        match e {
            py::Expr::Attribute(_) => self.attribute(e, span),
            py::Expr::Call(call) => self.call(call, span),
            py::Expr::Tuple(tuple) => Ok(tuple_of(self.exprs(&tuple.elts)?, span)),
            py::Expr::List(list) => Ok(tuple_of(self.exprs(&list.elts)?, span)),
            py::Expr::StringLiteral(s) => {
                self.by(rule!("R89.SYN.STRINGARG"), span);
                Ok(Expr::StringImm(StringImm { value: s.value.to_str().into(), span }))
            }
            py::Expr::Subscript(subscript) => self.member(subscript, span),
            py::Expr::NumberLiteral(_) | py::Expr::BooleanLiteral(_) => self.prim_value(e, span),
            py::Expr::If(conditional) => Ok(Expr::If(
                If {
                    cond: self.expr(&conditional.test)?,
                    true_branch: self.expr(&conditional.body)?,
                    false_branch: self.expr(&conditional.orelse)?,
                    span,
                }
                .into(),
            )),
            py::Expr::UnaryOp(_) | py::Expr::BinOp(_) | py::Expr::Compare(_) | py::Expr::BoolOp(_) => {
                if self.is_dimension(e) || float(e).is_some() { self.prim_value(e, span) } else { self.sugar(e, span) }
            }
            py::Expr::Lambda(_) => Err(ReadFault::new(e, "lambda is not part of TVMScript; use a nested @R.function")),
            py::Expr::FString(_) | py::Expr::TString(_) => Err(ReadFault::new(e, "expected a plain string literal")),
            _ => Err(ReadFault::expected(self.text, e, "a Relax expression")),
        }
    }

    pub(super) fn exprs(&mut self, exprs: &[py::Expr]) -> ReadResult<Vec<Expr>> {
        exprs.iter().map(|e| self.expr(e)).collect()
    }

    /// A name: a local variable, a shape variable as a scalar, a global function, or a variable without a binding.
    pub(super) fn name(&mut self, name: &str, span: Span) -> Expr {
        if let Some((var, kind)) = self.scope.var(name) {
            return use_of(var.at(span), kind);
        }
        if let Some(dim) = self.scope.dim(name) {
            let value = PrimExpr::Var(dim.at(span));
            return Expr::PrimValue(PrimValue { value, dtype: DataType::INT64, float: None, span });
        }
        if self.globals.contains(name) {
            return self.global_var(name.into(), span);
        }
        self.scope.stray(name, span)
    }

    /// `Module.f`, or an operator by its name: `R.add`.
    fn attribute(&mut self, e: &py::Expr, span: Span) -> ReadResult<Expr> {
        if let Some(global) = self.global(e) {
            return Ok(global);
        }
        if let Some(shape) = self.annotated_shape(e, span) {
            return Ok(shape);
        }
        if let Some(property) = self.property(e, span) {
            return Ok(property);
        }
        match self.operator_name(e) {
            Some(op) => Ok(self.op(&op, span)),
            None if self.foreign_op(e).is_some() => {
                let op_name = self.foreign_op(e).unwrap_or_default().into();
                Ok(Expr::Op(Op { op_name, span }))
            }
            None => Err(self.unannotated(e).unwrap_or_else(|| ReadFault::expected(self.text, e, "a Relax expression"))),
        }
    }

    /// The name after `R.` of a Relax function: `R.add`, `relax.op.add`; in the first notation also `add` or `nn.relu`,
    /// unless the name has another meaning.
    pub(super) fn operator_name<'e>(&self, e: &'e py::Expr) -> Option<Cow<'e, str>> {
        if let Some(name) = relax_name(e) {
            return Some(name);
        }
        let words = dotted(e)?;
        let (first, name) = (words.first()?, words.join("."));
        let is_taken = self.scope.var(first).is_some()
            || self.scope.dim(first).is_some()
            || self.globals.contains(*first)
            || self.aliases.contains(*first)
            || qualified(e).is_some();
        let name = if name == "nn.matmul" { "matmul".to_string() } else { name };
        let is_known =
            || matches!(&*name, "match_shape" | "match_cast") || crate::ops::lookup(&format!("relax.{name}")).is_some();
        (!is_taken && is_known()).then_some(Cow::Owned(name))
    }

    /// `mylib.foo`, the form in which TVM prints an operator that is not in Relax, with its full name.
    pub(super) fn foreign_op(&self, e: &py::Expr) -> Option<String> {
        let words = dotted(e)?;
        let [first, _, ..] = words.as_slice() else { return None };
        let is_free = self.scope.var(first).is_none() && !self.aliases.contains(*first) && qualified(e).is_none();
        is_free.then(|| words.join("."))
    }

    /// `Module.f` and `cls.f`.
    pub(super) fn global(&mut self, e: &py::Expr) -> Option<Expr> {
        let (module, name) = pair(e)?;
        let is_meant = self.aliases.contains(module) && self.scope.var(module).is_none();
        is_meant.then(|| self.global_var(name.into(), span_of(e)))
    }

    /// A reference to a global function, which is recorded.
    pub(super) fn global_var(&mut self, name: Name, span: Span) -> Expr {
        if self.pyfuncs.contains(&*name) {
            return Expr::ExternFunc(ExternFunc { global_symbol: name, span });
        }
        let name = self.symbols.get(&name).cloned().unwrap_or(name);
        if !self.referred.contains(&name) {
            self.referred.insert(name.clone());
        }
        Expr::GlobalVar(GlobalVar { name, span })
    }

    /// `x[0]`.
    fn member(&mut self, subscript: &py::ExprSubscript, span: Span) -> ReadResult<Expr> {
        if let Some((list, number)) = metadata::reference(subscript) {
            return self.metadata_entry(list, number, span);
        }
        match self.property_at(subscript, span) {
            Some(property) => property,
            None => self.projection(&subscript.value, &subscript.slice, span),
        }
    }

    /// The field of a tuple.
    pub(super) fn projection(&mut self, tuple: &py::Expr, index: &py::Expr, span: Span) -> ReadResult<Expr> {
        let index = match integer(index) {
            Some(number) => i64::try_from(number).map_err(|_| ReadFault::new(index, "expected an int64"))?,
            None => {
                let fault = ReadFault::expected(self.text, index, "an integer literal as index");
                return Err(fault.under(rule!("GRAM.EXPR.TUPLEGETITEM")));
            }
        };
        let tuple_value = self.expr(tuple)?;
        Ok(Expr::TupleGetItem(TupleGetItem { tuple_value, index, span }.into()))
    }

    /// The entry of the metadata under a number.
    fn metadata_entry(&self, list: &str, number: usize, span: Span) -> ReadResult<Expr> {
        let metadata = self.metadata.as_ref().ok_or_else(|| ReadFault::at(span, metadata::ABSENT))?;
        Ok(match metadata.entry(list, number).map_err(|error| ReadFault::at(span, error.to_string()))? {
            MetadataEntry::Tensor(data) => Expr::Constant(Constant { data, span }),
            MetadataEntry::Text(value) => Expr::StringImm(StringImm { value, span }),
            MetadataEntry::DataType(value) => Expr::DataTypeImm(DataTypeImm { value, span }),
        })
    }

    /// A scalar: `3`, `n + 1`, `True`, `T.float32(1.5)`.
    pub(super) fn prim_value(&mut self, e: &py::Expr, span: Span) -> ReadResult<Expr> {
        if let Some(f) = float(e) {
            return Ok(float_value(f, DataType::FLOAT64, span));
        }
        if let py::Expr::Call(call) = e
            && let Some((dtype, number)) = literal(call)
            && dtype.is_float()
        {
            let Some(number) = number else { return Err(ReadFault::expected(self.text, e, "one number")) };
            let value = float(number)
                .or_else(|| integer(number).map(|i| dtype.float_type().unwrap_or(FloatType::Float64).round_int(i)))
                .or_else(|| string(number).and_then(non_finite));
            let value = value.ok_or_else(|| ReadFault::expected(self.text, number, "a number"))?;
            return Ok(float_value(value, dtype, span));
        }
        if let Some((dtype, value)) = self.immediate(e)? {
            return Ok(Expr::PrimValue(PrimValue { value, dtype, float: None, span }));
        }
        let value = self.dim(e, Unbound::Leave)?;
        // PR14148.SI.PRIM.DERIVE: the datatype of the expression.
        let dtype = if value.is_truth_value() { DataType::BOOL } else { DataType::INT64 };
        Ok(Expr::PrimValue(PrimValue { value, dtype, float: None, span }))
    }

    /// A literal with its datatype: `True`, `T.int32(3)`, `T.float32(1.5)` (only its datatype is kept).
    pub(super) fn immediate(&mut self, e: &py::Expr) -> ReadResult<Option<(DataType, PrimExpr)>> {
        match e {
            py::Expr::BooleanLiteral(b) => Ok(Some((DataType::BOOL, PrimExpr::IntImm(i64::from(b.value))))),
            py::Expr::Call(call) => match literal(call) {
                Some((dtype, Some(_))) if dtype.is_float() => Ok(Some((dtype, PrimExpr::IntImm(0)))),
                Some((dtype, Some(value))) => Ok(Some((dtype, self.dim(value, Unbound::Leave)?))),
                Some((_, None)) | None => Ok(None),
            },
            _ if float(e).is_some() => Ok(Some((DataType::FLOAT64, PrimExpr::IntImm(0)))),
            _ => Ok(None),
        }
    }

    /// `x + y` for `R.add(x, y)`.
    fn sugar(&mut self, e: &py::Expr, span: Span) -> ReadResult<Expr> {
        let (name, operands): (&str, Vec<&py::Expr>) = match e {
            py::Expr::UnaryOp(u) if u.op == py::UnaryOp::USub => ("relax.negative", vec![&u.operand]),
            py::Expr::BinOp(b) => match operator(b.op) {
                Some(name) => (name, vec![&b.left, &b.right]),
                None => return Err(ReadFault::expected(self.text, e, "a Relax expression")),
            },
            py::Expr::Compare(c) => match (&*c.ops, &*c.comparators) {
                ([py::CmpOp::Lt], [right]) => ("relax.less", vec![&c.left, right]),
                ([py::CmpOp::LtE], [right]) => ("relax.less_equal", vec![&c.left, right]),
                ([py::CmpOp::Gt], [right]) => ("relax.greater", vec![&c.left, right]),
                ([py::CmpOp::GtE], [right]) => ("relax.greater_equal", vec![&c.left, right]),
                _ => return Err(ReadFault::expected(self.text, e, "a Relax expression")),
            },
            _ => return Err(ReadFault::expected(self.text, e, "a Relax expression")),
        };
        let mut args = Vec::new();
        for operand in operands {
            if integer(operand).is_some() || float(operand).is_some() {
                return Err(ReadFault::new(&operand.range(), "write the number as R.const(value, dtype)"));
            }
            args.push(self.expr(operand)?);
        }
        let op = Expr::Op(Op { op_name: name.into(), span });
        Ok(Expr::Call(Call { op, args, sinfo_args: Vec::new(), attrs: Default::default(), span }.into()))
    }
}

pub(super) fn tuple_of(fields: Vec<Expr>, span: Span) -> Expr {
    Expr::Tuple(Tuple { fields, span }.into())
}

fn float_value(value: f64, dtype: DataType, span: Span) -> Expr {
    let float = Some(FloatBits::new(value));
    Expr::PrimValue(PrimValue { value: PrimExpr::IntImm(0), dtype, float, span })
}

fn operator(op: py::Operator) -> Option<&'static str> {
    match op {
        py::Operator::Add => Some("relax.add"),
        py::Operator::Sub => Some("relax.subtract"),
        py::Operator::Mult => Some("relax.multiply"),
        py::Operator::Div => Some("relax.divide"),
        py::Operator::FloorDiv => Some("relax.floor_divide"),
        py::Operator::Mod => Some("relax.mod"),
        py::Operator::Pow => Some("relax.power"),
        // Expressions have no other Python operators.
        _ => None,
    }
}

/// The datatype of `T.float32(1.5)`, or of `T.FloatImm("float32", 1.5)`, and its number, if there is one.
fn literal(call: &py::ExprCall) -> Option<(DataType, Option<&py::Expr>)> {
    let name = tir_name(&call.func)?;
    match (&*name, &*call.arguments.args) {
        ("FloatImm" | "IntImm", [dtype, number]) => Some((string(dtype)?.parse().ok()?, Some(number))),
        (name, [number]) => Some((name.parse().ok()?, Some(number))),
        (name, _) => Some((name.parse().ok()?, None)),
    }
}
