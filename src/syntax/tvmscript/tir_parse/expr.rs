//! Expressions.

use num_integer::Integer;
use ruff_python_ast as py;
use ruff_text_size::Ranged;

use super::args::{UntypedNumber, elements, meta_var, number};
use super::{ParseResult, ParsedName, Parser};
use crate::grammar::tir::{Buffer, Call, Expr, Intrinsic, Load, Var};
use crate::grammar::{BinaryOp, DataType, Name, Span, TypeCode};
use crate::number::FloatType;
use crate::syntax::tvmscript::metadata::reference;

/// An expression, or a number whose datatype depends on the context.
pub(super) enum TirOperand {
    Plain(UntypedNumber),
    Typed(Expr),
}

impl Parser<'_> {
    /// An expression. A plain number becomes int32 or float32, or int64 if it is too large.
    pub(super) fn expr(&mut self, e: &py::Expr) -> ParseResult<Expr> {
        match self.operand(e)? {
            TirOperand::Typed(typed) => Ok(typed),
            TirOperand::Plain(UntypedNumber::Int(i)) if i32::try_from(i).is_ok() => self.int(e, i, DataType::INT32),
            TirOperand::Plain(UntypedNumber::Int(i)) => self.int(e, i, DataType::INT64),
            TirOperand::Plain(UntypedNumber::Float(f)) => Ok(Expr::float(f, DataType::FLOAT32)),
        }
    }

    /// An expression as a value of a datatype, with a cast if necessary.
    pub(super) fn expr_as(&mut self, e: &py::Expr, dtype: DataType) -> ParseResult<Expr> {
        let operand = self.operand(e)?;
        self.convert(e, operand, dtype)
    }

    /// Two expressions of the same datatype.
    pub(super) fn pair(&mut self, a: &py::Expr, b: &py::Expr) -> ParseResult<(Expr, Expr)> {
        let (left, right) = (self.operand(a)?, self.operand(b)?);
        self.unify(a, left, b, right)
    }

    pub(super) fn int(&self, at: &impl Ranged, value: i128, dtype: DataType) -> ParseResult<Expr> {
        let bits = u32::from(dtype.bits).min(64);
        let range = match dtype.code {
            TypeCode::Int => -(1i128 << (bits - 1))..1i128 << (bits - 1),
            TypeCode::UInt => 0..1i128 << bits,
            TypeCode::Float | TypeCode::BFloat | TypeCode::Small(_) => {
                let float = dtype.float_type().unwrap_or(FloatType::Float64);
                return Ok(Expr::float(float.round_int(value), dtype));
            }
            TypeCode::Handle => return self.error(at, format!("{value} is not a {dtype}")),
        };
        match i64::try_from(value) {
            Ok(int) if range.contains(&value) => Ok(Expr::Int(int, dtype)),
            Ok(_) | Err(_) => self.error(at, format!("{value} is not a {dtype}")),
        }
    }

    pub(super) fn convert(&self, at: &impl Ranged, operand: TirOperand, dtype: DataType) -> ParseResult<Expr> {
        match operand {
            TirOperand::Typed(e) if e.dtype() == dtype => Ok(e),
            TirOperand::Typed(e) => Ok(Expr::Cast(dtype, Box::new(e))),
            TirOperand::Plain(UntypedNumber::Int(i)) => self.int(at, i, dtype),
            TirOperand::Plain(UntypedNumber::Float(f)) if dtype.is_float() => Ok(Expr::float(f, dtype)),
            TirOperand::Plain(UntypedNumber::Float(f)) => self.error(at, format!("{f} is not a {dtype}")),
        }
    }

    /// Gives two operands the same datatype: that of the one that has one, or the wider one.
    fn unify(&self, at_a: &py::Expr, a: TirOperand, at_b: &py::Expr, b: TirOperand) -> ParseResult<(Expr, Expr)> {
        let dtype = match (&a, &b) {
            (TirOperand::Typed(a), TirOperand::Typed(b)) => wider(a.dtype(), b.dtype()),
            (TirOperand::Typed(e), TirOperand::Plain(_)) | (TirOperand::Plain(_), TirOperand::Typed(e)) => e.dtype(),
            (TirOperand::Plain(UntypedNumber::Int(_)), TirOperand::Plain(UntypedNumber::Int(_))) => DataType::INT32,
            (TirOperand::Plain(_), TirOperand::Plain(_)) => DataType::FLOAT32,
        };
        Ok((self.convert(at_a, a, dtype)?, self.convert(at_b, b, dtype)?))
    }

    pub(super) fn operand(&mut self, e: &py::Expr) -> ParseResult<TirOperand> {
        if let Some(number) = number(e) {
            return Ok(TirOperand::Plain(number));
        }
        self.nested(e, |p| match e {
            py::Expr::BooleanLiteral(b) => Ok(TirOperand::Typed(Expr::bool(b.value))),
            py::Expr::StringLiteral(s) => Ok(TirOperand::Typed(Expr::Str(s.value.to_str().into()))),
            py::Expr::Name(name) => p.name(name),
            py::Expr::BinOp(op) => p.bin_op(op),
            py::Expr::UnaryOp(op) => p.unary_op(op),
            py::Expr::BoolOp(op) => p.bool_op(op).map(TirOperand::Typed),
            py::Expr::Compare(op) => p.compare(op).map(TirOperand::Typed),
            py::Expr::Subscript(subscript) if reference(subscript).is_some() => {
                p.string(e).map(|text| TirOperand::Typed(Expr::Str(text)))
            }
            py::Expr::Subscript(subscript) => match p.buffer_part(subscript)? {
                Some(part) => Ok(TirOperand::Typed(part)),
                None => p.load(subscript).map(TirOperand::Typed),
            },
            py::Expr::Attribute(attribute) => p.attribute(attribute).map(TirOperand::Typed),
            py::Expr::Call(call) => match meta_var(e) {
                Some(value) => p.operand(value),
                None => p.call(call),
            },
            py::Expr::If(choice) => p.choice(&choice.test, &choice.body, &choice.orelse, Expr::IfThenElse),
            _ => p.error(e, "expected an expression of TIR"),
        })
    }

    fn name(&mut self, name: &py::ExprName) -> ParseResult<TirOperand> {
        let span = self.span(name.range);
        let dtype = match self.lookup(&name.id) {
            Some(ParsedName::Var(dtype) | ParsedName::Loop(dtype, ..)) => *dtype,
            Some(ParsedName::Handle(_)) => DataType::HANDLE,
            Some(ParsedName::Meta(e)) => {
                let e = e.clone();
                return self.spliced(name, &name.id, &e).map(TirOperand::Typed);
            }
            Some(ParsedName::Buffer(buffer)) => {
                return match scalar_load(buffer, span) {
                    Some(load) => Ok(TirOperand::Typed(load)),
                    None => self.error(name, format!("expected an index after the buffer `{}`", name.id)),
                };
            }
            None => match self.implicit {
                Some(default) => {
                    let dtype = self.declared.get(name.id.as_str()).copied().unwrap_or(default);
                    self.define(&Name::from(name.id.as_str()), ParsedName::Var(dtype));
                    dtype
                }
                None => return self.error(name, format!("`{}` is not defined here", name.id)),
            },
        };
        Ok(TirOperand::Typed(Expr::Var(Var { name: name.id.as_str().into(), dtype, span })))
    }

    fn bin_op(&mut self, op: &py::ExprBinOp) -> ParseResult<TirOperand> {
        let (left, right) = (self.operand(&op.left)?, self.operand(&op.right)?);
        if let (TirOperand::Plain(a), TirOperand::Plain(b)) = (&left, &right) {
            return match fold(op.op, *a, *b) {
                Some(number) => Ok(TirOperand::Plain(number)),
                None => self.error(op, "this operation on plain numbers is not supported"),
            };
        }
        let (a, b) = self.unify(&op.left, left, &op.right, right)?;
        self.typed_bin_op(op, a, b).map(TirOperand::Typed)
    }

    /// The operator of `op` on operands of the same datatype.
    fn typed_bin_op(&self, op: &py::ExprBinOp, a: Expr, b: Expr) -> ParseResult<Expr> {
        let span = self.span(op.range);
        let intrinsic =
            |op: Intrinsic, a: Expr, b: Expr| Ok(Expr::Call(Call { op, dtype: a.dtype(), args: vec![a, b], span }));
        let node = match op.op {
            py::Operator::Add => BinaryOp::Add,
            py::Operator::Sub => BinaryOp::Sub,
            py::Operator::Mult => BinaryOp::Mul,
            py::Operator::Div if a.dtype().is_float() => BinaryOp::Div,
            py::Operator::Div => {
                return self.error(op, "`/` of integers could round in several ways: write `//` or `T.truncdiv(..)`");
            }
            py::Operator::FloorDiv => BinaryOp::FloorDiv,
            py::Operator::Mod => BinaryOp::FloorMod,
            py::Operator::LShift => return intrinsic(Intrinsic::ShiftLeft, a, b),
            py::Operator::RShift => return intrinsic(Intrinsic::ShiftRight, a, b),
            py::Operator::BitAnd => return intrinsic(Intrinsic::BitwiseAnd, a, b),
            py::Operator::BitOr => return intrinsic(Intrinsic::BitwiseOr, a, b),
            py::Operator::BitXor => return intrinsic(Intrinsic::BitwiseXor, a, b),
            py::Operator::MatMult | py::Operator::Pow => return self.error(op, "TIR has no such operator"),
        };
        Ok(Expr::binary(node, a, b, span))
    }

    /// The value that an augmented assignment stores: `load op value`.
    pub(super) fn augmented(&mut self, stmt: &py::StmtAugAssign, load: Expr) -> ParseResult<Expr> {
        let value = self.operand(&stmt.value)?;
        let (a, b) = self.unify(&stmt.target, TirOperand::Typed(load), &stmt.value, value)?;
        let op = py::ExprBinOp {
            node_index: py::AtomicNodeIndex::NONE,
            range: stmt.range,
            left: stmt.target.clone(),
            op: stmt.op,
            right: stmt.value.clone(),
        };
        self.typed_bin_op(&op, a, b)
    }

    fn unary_op(&mut self, op: &py::ExprUnaryOp) -> ParseResult<TirOperand> {
        let operand = self.operand(&op.operand)?;
        let span = self.span(op.range);
        match (op.op, operand) {
            (py::UnaryOp::UAdd, operand) => Ok(operand),
            (py::UnaryOp::USub, TirOperand::Plain(number)) => Ok(TirOperand::Plain(number.negate())),
            (py::UnaryOp::USub, TirOperand::Typed(e)) => {
                let minus_one = self.int(op, -1, e.dtype())?;
                Ok(TirOperand::Typed(Expr::binary(BinaryOp::Mul, e, minus_one, span)))
            }
            (py::UnaryOp::Not, TirOperand::Typed(e)) => Ok(TirOperand::Typed(Expr::Not(Box::new(e)))),
            (py::UnaryOp::Invert, TirOperand::Typed(e)) => {
                let call = Call { op: Intrinsic::BitwiseNot, dtype: e.dtype(), args: vec![e], span };
                Ok(TirOperand::Typed(Expr::Call(call)))
            }
            (py::UnaryOp::Not | py::UnaryOp::Invert, TirOperand::Plain(_)) => {
                self.error(op, "this operation on plain numbers is not supported")
            }
        }
    }

    fn bool_op(&mut self, op: &py::ExprBoolOp) -> ParseResult<Expr> {
        let node = match op.op {
            py::BoolOp::And => BinaryOp::And,
            py::BoolOp::Or => BinaryOp::Or,
        };
        let mut values = op.values.iter();
        let Some(first) = values.next() else { return self.error(op, "expected operands") };
        let mut result = self.condition(first)?;
        for value in values {
            let value = self.condition(value)?;
            result = Expr::binary(node, result, value, self.span(op.range));
        }
        Ok(result)
    }

    /// A Boolean expression. Any other value stands for whether it is nonzero.
    pub(super) fn condition(&mut self, e: &py::Expr) -> ParseResult<Expr> {
        match self.operand(e)? {
            TirOperand::Typed(vector) if DataType { lanes: 1, ..vector.dtype() } == DataType::BOOL => Ok(vector),
            operand => self.convert(e, operand, DataType::BOOL),
        }
    }

    fn compare(&mut self, op: &py::ExprCompare) -> ParseResult<Expr> {
        let mut result: Option<Expr> = None;
        let mut left = &*op.left;
        for (cmp, right) in op.ops.iter().zip(&op.comparators) {
            let node = match cmp {
                py::CmpOp::Eq => BinaryOp::Eq,
                py::CmpOp::NotEq => BinaryOp::Ne,
                py::CmpOp::Lt => BinaryOp::Lt,
                py::CmpOp::LtE => BinaryOp::Le,
                py::CmpOp::Gt => BinaryOp::Gt,
                py::CmpOp::GtE => BinaryOp::Ge,
                py::CmpOp::Is | py::CmpOp::IsNot | py::CmpOp::In | py::CmpOp::NotIn => {
                    return self.error(op, "TIR has no such comparison");
                }
            };
            let (a, b) = self.pair(left, right)?;
            let here = Expr::binary(node, a, b, self.span(op.range));
            result = Some(match result {
                None => here,
                Some(before) => Expr::binary(BinaryOp::And, before, here, self.span(op.range)),
            });
            left = right;
        }
        result.map_or_else(|| self.error(op, "expected a comparison"), Ok)
    }

    /// `A.shape[i]` and `A.strides[i]`.
    fn buffer_part(&mut self, subscript: &py::ExprSubscript) -> ParseResult<Option<Expr>> {
        let py::Expr::Attribute(attribute) = &*subscript.value else { return Ok(None) };
        let buffer = match attribute.attr.as_str() {
            "shape" | "strides" => self.buffer_use(&attribute.value)?,
            _ => return Ok(None),
        };
        let list = if attribute.attr.as_str() == "shape" { buffer.shape.clone() } else { strides(&buffer) };
        let at = self.integer(&subscript.slice)?;
        let from_end = i64::try_from(list.len()).unwrap_or(i64::MAX);
        let index = usize::try_from(if at < 0 { at + from_end } else { at });
        match index.ok().and_then(|index| list.get(index)) {
            Some(e) => self.spliced(subscript, &buffer.name, e).map(Some),
            None => self.error(subscript, format!("the buffer has {} dimensions", list.len())),
        }
    }

    fn load(&mut self, subscript: &py::ExprSubscript) -> ParseResult<Expr> {
        let buffer = self.buffer_use(&subscript.value)?;
        let indices = self.indices(&subscript.slice, &buffer)?;
        let span = self.span(subscript.range);
        Ok(Expr::Load(Load { buffer: buffer.var(self.span(subscript.value.range())), indices, span }))
    }

    /// The indices of one element of a buffer.
    pub(super) fn indices(&mut self, slice: &py::Expr, buffer: &Buffer) -> ParseResult<Vec<Expr>> {
        let elements = elements(slice);
        if elements.len() != buffer.shape.len() {
            let (name, expected, found) = (&buffer.name, buffer.shape.len(), elements.len());
            return self.error(slice, format!("`{name}` has {expected} dimensions, {found} indices are given"));
        }
        elements.iter().map(|e| self.index(e)).collect()
    }

    fn index(&mut self, e: &py::Expr) -> ParseResult<Expr> {
        if let py::Expr::Slice(slice) = e {
            return self.slice_index(slice);
        }
        let index = self.expr(e)?;
        if index.dtype().is_float() || index.dtype().code == TypeCode::Handle {
            return self.error(e, format!("expected an integer as index, not a {}", index.dtype()));
        }
        Ok(index)
    }

    fn attribute(&mut self, attribute: &py::ExprAttribute) -> ParseResult<Expr> {
        let buffer = self.buffer_use(&attribute.value)?;
        match attribute.attr.as_str() {
            "data" => Ok(Expr::Data(buffer.var(self.span(attribute.range)))),
            "elem_offset" => Ok(buffer.elem_offset.clone().unwrap_or(Expr::Int(0, index_type(&buffer)))),
            name => self.error(attribute, format!("`.{name}` of a buffer is not supported")),
        }
    }
}

/// The data type of the positions in a buffer.
fn index_type(buffer: &Buffer) -> DataType {
    buffer.shape.first().map_or(DataType::INT32, Expr::dtype)
}

/// The distance of the elements in each dimension, even if the buffer does not state it.
fn strides(buffer: &Buffer) -> Vec<Expr> {
    if !buffer.strides.is_empty() {
        return buffer.strides.clone();
    }
    let mut strides = Vec::new();
    let mut stride: Option<Expr> = None;
    for extent in buffer.shape.iter().rev() {
        let here = stride.unwrap_or(Expr::Int(1, extent.dtype()));
        strides.push(here.clone());
        stride = Some(match (&here, extent) {
            (Expr::Int(1, _), extent) => extent.clone(),
            (_, extent) => Expr::binary(BinaryOp::Mul, extent.clone(), here.clone(), Span::NONE),
        });
    }
    strides.reverse();
    strides
}

/// The only element of a buffer, written as the buffer's name.
fn scalar_load(buffer: &Buffer, span: Span) -> Option<Expr> {
    match buffer.shape.as_slice() {
        [Expr::Int(1, dtype)] => {
            Some(Expr::Load(Load { buffer: buffer.var(span), indices: vec![Expr::Int(0, *dtype)], span }))
        }
        _ => None,
    }
}

/// The common datatype of operands of two datatypes.
fn wider(a: DataType, b: DataType) -> DataType {
    match (a.is_float(), b.is_float()) {
        (true, false) => a,
        (false, true) => b,
        (true, true) => {
            if b.bits > a.bits {
                b
            } else {
                a
            }
        }
        (false, false) if a.code == b.code => DataType { bits: a.bits.max(b.bits), ..a },
        // The common type of a signed and an unsigned integer is signed.
        (false, false) if a.is_int() || b.is_int() => DataType::new(TypeCode::Int, a.bits.max(b.bits)),
        (false, false) => a,
    }
}

/// Arithmetic on plain numbers, with the rules of Python.
fn fold(op: py::Operator, a: UntypedNumber, b: UntypedNumber) -> Option<UntypedNumber> {
    match (op, a, b) {
        (py::Operator::Add, UntypedNumber::Int(a), UntypedNumber::Int(b)) => small(a.checked_add(b)),
        (py::Operator::Sub, UntypedNumber::Int(a), UntypedNumber::Int(b)) => small(a.checked_sub(b)),
        (py::Operator::Mult, UntypedNumber::Int(a), UntypedNumber::Int(b)) => small(a.checked_mul(b)),
        (py::Operator::FloorDiv, UntypedNumber::Int(a), UntypedNumber::Int(b)) if b != 0 => {
            small(Some(Integer::div_floor(&a, &b)))
        }
        (py::Operator::Mod, UntypedNumber::Int(a), UntypedNumber::Int(b)) if b != 0 => {
            small(Some(Integer::mod_floor(&a, &b)))
        }
        (op, a, b) => {
            let (a, b) = (as_float(a), as_float(b));
            match op {
                py::Operator::Add => Some(UntypedNumber::Float(a + b)),
                py::Operator::Sub => Some(UntypedNumber::Float(a - b)),
                py::Operator::Mult => Some(UntypedNumber::Float(a * b)),
                py::Operator::Div if b != 0.0 => Some(UntypedNumber::Float(a / b)),
                _ => None,
            }
        }
    }
}

/// An integer that is small enough for later operations not to overflow. No datatype has larger ones.
fn small(value: Option<i128>) -> Option<UntypedNumber> {
    value.filter(|value| value.unsigned_abs() <= 1 << 64).map(UntypedNumber::Int)
}

fn as_float(number: UntypedNumber) -> f64 {
    match number {
        UntypedNumber::Int(i) => i as f64,
        UntypedNumber::Float(f) => f,
    }
}
