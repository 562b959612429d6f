//! Expressions.

use ruff_python_ast as py;
use ruff_text_size::Ranged;

use super::args::{Arguments, Number, elements, number, t_name};
use super::{Def, Parser, Result};
use crate::grammar::{BinaryOp, DataType, FloatBits, Name, Span, TypeCode};
use crate::tir::{Buffer, Call, Choice, Expr, Extern, Intrinsic, LetExpr, Load, Signature, Var};

/// An expression, or a number whose data type depends on its surroundings.
pub(super) enum Operand {
    Plain(Number),
    Typed(Expr),
}

impl Parser<'_> {
    /// An expression; a plain number becomes int32 or float32, or int64 if it is too large.
    pub(super) fn expr(&mut self, e: &py::Expr) -> Result<Expr> {
        match self.operand(e)? {
            Operand::Typed(typed) => Ok(typed),
            Operand::Plain(Number::Int(i)) if i32::try_from(i).is_ok() => self.int(e, i, DataType::INT32),
            Operand::Plain(Number::Int(i)) => self.int(e, i, DataType::INT64),
            Operand::Plain(Number::Float(f)) => Ok(Expr::float(f, DataType::FLOAT32)),
        }
    }

    /// An expression as a value of a data type, cast if it has another one.
    pub(super) fn expr_as(&mut self, e: &py::Expr, dtype: DataType) -> Result<Expr> {
        let operand = self.operand(e)?;
        self.convert(e, operand, dtype)
    }

    /// Two expressions of one data type.
    pub(super) fn pair(&mut self, a: &py::Expr, b: &py::Expr) -> Result<(Expr, Expr)> {
        let (left, right) = (self.operand(a)?, self.operand(b)?);
        self.unify((a, left), (b, right))
    }

    fn int(&self, at: &impl Ranged, value: i128, dtype: DataType) -> Result<Expr> {
        let bits = u32::from(dtype.bits).min(64);
        let range = match dtype.code {
            TypeCode::Int => -(1i128 << (bits - 1))..1i128 << (bits - 1),
            TypeCode::UInt => 0..1i128 << bits,
            TypeCode::Float | TypeCode::BFloat => return Ok(Expr::float(value as f64, dtype)),
            TypeCode::Handle => return self.error(at, format!("{value} is not a {dtype}")),
        };
        match i64::try_from(value) {
            Ok(int) if range.contains(&value) => Ok(Expr::Int(int, dtype)),
            Ok(_) | Err(_) => self.error(at, format!("{value} is not a {dtype}")),
        }
    }

    fn convert(&self, at: &impl Ranged, operand: Operand, dtype: DataType) -> Result<Expr> {
        match operand {
            Operand::Typed(e) if e.dtype() == dtype => Ok(e),
            Operand::Typed(e) => Ok(Expr::Cast(dtype, Box::new(e))),
            Operand::Plain(Number::Int(i)) => self.int(at, i, dtype),
            Operand::Plain(Number::Float(f)) if dtype.is_float() => Ok(Expr::float(f, dtype)),
            Operand::Plain(Number::Float(f)) => self.error(at, format!("{f} is not a {dtype}")),
        }
    }

    /// Gives two operands the same data type: that of the one which has one, or the wider one.
    fn unify(&self, (at_a, a): (&py::Expr, Operand), (at_b, b): (&py::Expr, Operand)) -> Result<(Expr, Expr)> {
        let dtype = match (&a, &b) {
            (Operand::Typed(a), Operand::Typed(b)) => wider(a.dtype(), b.dtype()),
            (Operand::Typed(e), Operand::Plain(_)) | (Operand::Plain(_), Operand::Typed(e)) => e.dtype(),
            (Operand::Plain(Number::Int(_)), Operand::Plain(Number::Int(_))) => DataType::INT32,
            (Operand::Plain(_), Operand::Plain(_)) => DataType::FLOAT32,
        };
        Ok((self.convert(at_a, a, dtype)?, self.convert(at_b, b, dtype)?))
    }

    fn operand(&mut self, e: &py::Expr) -> Result<Operand> {
        if let Some(number) = number(e) {
            return Ok(Operand::Plain(number));
        }
        self.nested(e, |p| match e {
            py::Expr::BooleanLiteral(b) => Ok(Operand::Typed(Expr::bool(b.value))),
            py::Expr::StringLiteral(s) => Ok(Operand::Typed(Expr::Str(s.value.to_str().into()))),
            py::Expr::Name(name) => p.name(name),
            py::Expr::BinOp(op) => p.bin_op(op),
            py::Expr::UnaryOp(op) => p.unary_op(op),
            py::Expr::BoolOp(op) => p.bool_op(op).map(Operand::Typed),
            py::Expr::Compare(op) => p.compare(op).map(Operand::Typed),
            py::Expr::Subscript(subscript) => p.load(subscript).map(Operand::Typed),
            py::Expr::Attribute(attribute) => p.attribute(attribute).map(Operand::Typed),
            py::Expr::Call(call) => p.call(call),
            py::Expr::If(choice) => p.choice(&choice.test, &choice.body, &choice.orelse, Expr::IfThenElse),
            _ => p.error(e, "expected an expression of TIR"),
        })
    }

    fn name(&mut self, name: &py::ExprName) -> Result<Operand> {
        let span = self.span(name.range);
        let dtype = match self.lookup(&name.id) {
            Some(Def::Var(dtype) | Def::Loop(dtype, ..)) => *dtype,
            Some(Def::Handle(_)) => DataType::HANDLE,
            Some(Def::Buffer(buffer)) => {
                return match scalar_load(buffer, span) {
                    Some(load) => Ok(Operand::Typed(load)),
                    None => self.error(name, format!("expected an index after the buffer `{}`", name.id)),
                };
            }
            None => match self.implicit {
                Some(default) => {
                    let dtype = self.declared.get(name.id.as_str()).copied().unwrap_or(default);
                    self.define(&Name::from(name.id.as_str()), Def::Var(dtype));
                    dtype
                }
                None => return self.error(name, format!("`{}` is not defined here", name.id)),
            },
        };
        Ok(Operand::Typed(Expr::Var(Var { name: name.id.as_str().into(), dtype, span })))
    }

    fn bin_op(&mut self, op: &py::ExprBinOp) -> Result<Operand> {
        let (left, right) = (self.operand(&op.left)?, self.operand(&op.right)?);
        if let (Operand::Plain(a), Operand::Plain(b)) = (&left, &right) {
            return match fold(op.op, *a, *b) {
                Some(number) => Ok(Operand::Plain(number)),
                None => self.error(op, "this operation on plain numbers is not supported"),
            };
        }
        let (a, b) = self.unify((&op.left, left), (&op.right, right))?;
        self.typed_bin_op(op, a, b).map(Operand::Typed)
    }

    /// The operator of `op` on operands of one data type.
    fn typed_bin_op(&self, op: &py::ExprBinOp, a: Expr, b: Expr) -> Result<Expr> {
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

    /// What an augmented assignment stores: `load op value`.
    pub(super) fn augmented(&mut self, stmt: &py::StmtAugAssign, load: Expr) -> Result<Expr> {
        let value = self.operand(&stmt.value)?;
        let (a, b) = self.unify((&stmt.target, Operand::Typed(load)), (&stmt.value, value))?;
        let op = py::ExprBinOp {
            node_index: py::AtomicNodeIndex::NONE,
            range: stmt.range,
            left: stmt.target.clone(),
            op: stmt.op,
            right: stmt.value.clone(),
        };
        self.typed_bin_op(&op, a, b)
    }

    fn unary_op(&mut self, op: &py::ExprUnaryOp) -> Result<Operand> {
        let operand = self.operand(&op.operand)?;
        let span = self.span(op.range);
        match (op.op, operand) {
            (py::UnaryOp::UAdd, operand) => Ok(operand),
            (py::UnaryOp::USub, Operand::Plain(number)) => Ok(Operand::Plain(number.negate())),
            (py::UnaryOp::USub, Operand::Typed(e)) => {
                let minus_one = self.int(op, -1, e.dtype())?;
                Ok(Operand::Typed(Expr::binary(BinaryOp::Mul, e, minus_one, span)))
            }
            (py::UnaryOp::Not, Operand::Typed(e)) => Ok(Operand::Typed(Expr::Not(Box::new(e)))),
            (py::UnaryOp::Invert, Operand::Typed(e)) => {
                let call = Call { op: Intrinsic::BitwiseNot, dtype: e.dtype(), args: vec![e], span };
                Ok(Operand::Typed(Expr::Call(call)))
            }
            (py::UnaryOp::Not | py::UnaryOp::Invert, Operand::Plain(_)) => {
                self.error(op, "this operation on plain numbers is not supported")
            }
        }
    }

    fn bool_op(&mut self, op: &py::ExprBoolOp) -> Result<Expr> {
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

    /// A Boolean expression; any other value stands for whether it is nonzero.
    pub(super) fn condition(&mut self, e: &py::Expr) -> Result<Expr> {
        self.expr_as(e, DataType::BOOL)
    }

    fn compare(&mut self, op: &py::ExprCompare) -> Result<Expr> {
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

    fn load(&mut self, subscript: &py::ExprSubscript) -> Result<Expr> {
        let buffer = self.buffer_use(&subscript.value)?;
        let indices = self.indices(&subscript.slice, &buffer)?;
        let span = self.span(subscript.range);
        Ok(Expr::Load(Load { buffer: buffer.var(self.span(subscript.value.range())), indices, span }))
    }

    /// The indices of one element of a buffer.
    pub(super) fn indices(&mut self, slice: &py::Expr, buffer: &Buffer) -> Result<Vec<Expr>> {
        let elements = elements(slice);
        if elements.len() != buffer.shape.len() {
            let (name, expected, found) = (&buffer.name, buffer.shape.len(), elements.len());
            return self.error(slice, format!("`{name}` has {expected} dimensions, {found} indices are given"));
        }
        elements.iter().map(|e| self.index(e)).collect()
    }

    fn index(&mut self, e: &py::Expr) -> Result<Expr> {
        if e.is_slice_expr() {
            return self.error(e, "expected one index: vectors are not supported");
        }
        let index = self.expr(e)?;
        if index.dtype().is_float() || index.dtype().code == TypeCode::Handle {
            return self.error(e, format!("expected an integer as index, not a {}", index.dtype()));
        }
        Ok(index)
    }

    fn attribute(&mut self, attribute: &py::ExprAttribute) -> Result<Expr> {
        let buffer = self.buffer_use(&attribute.value)?;
        match attribute.attr.as_str() {
            "data" => Ok(Expr::Data(buffer.var(self.span(attribute.range)))),
            name => self.error(attribute, format!("`.{name}` of a buffer is not supported")),
        }
    }

    fn call(&mut self, call: &py::ExprCall) -> Result<Operand> {
        let Some(name) = t_name(&call.func) else {
            return self.error(call, "expected a call of a function `T.name`");
        };
        let args = Arguments::new(self, call)?;
        match (name, args.positional()) {
            ("min", [a, b]) | ("Min", [a, b]) => self.binary_call(call, BinaryOp::Min, a, b),
            ("max", [a, b]) | ("Max", [a, b]) => self.binary_call(call, BinaryOp::Max, a, b),
            ("truncdiv" | "Div" | "div", [a, b]) => self.binary_call(call, BinaryOp::Div, a, b),
            ("truncmod" | "Mod", [a, b]) => self.binary_call(call, BinaryOp::Mod, a, b),
            ("floordiv" | "FloorDiv", [a, b]) => self.binary_call(call, BinaryOp::FloorDiv, a, b),
            ("floormod" | "FloorMod", [a, b]) => self.binary_call(call, BinaryOp::FloorMod, a, b),
            ("Add", [a, b]) => self.binary_call(call, BinaryOp::Add, a, b),
            ("Sub", [a, b]) => self.binary_call(call, BinaryOp::Sub, a, b),
            ("Mul", [a, b]) => self.binary_call(call, BinaryOp::Mul, a, b),
            ("EQ", [a, b]) => self.binary_call(call, BinaryOp::Eq, a, b),
            ("NE", [a, b]) => self.binary_call(call, BinaryOp::Ne, a, b),
            ("LT", [a, b]) => self.binary_call(call, BinaryOp::Lt, a, b),
            ("LE", [a, b]) => self.binary_call(call, BinaryOp::Le, a, b),
            ("GT", [a, b]) => self.binary_call(call, BinaryOp::Gt, a, b),
            ("GE", [a, b]) => self.binary_call(call, BinaryOp::Ge, a, b),
            ("And", [a, b]) => self.logical_call(call, BinaryOp::And, a, b),
            ("Or", [a, b]) => self.logical_call(call, BinaryOp::Or, a, b),
            ("Not", [a]) => self.condition(a).map(|a| Operand::Typed(Expr::Not(Box::new(a)))),
            ("Select", [c, t, f]) => self.choice(c, t, f, Expr::Select),
            ("if_then_else", [c, t, f]) => self.choice(c, t, f, Expr::IfThenElse),
            ("Cast", [dtype, value]) | ("cast", [value, dtype]) => self.cast(dtype, value),
            ("ceildiv", [a, b]) => self.ceildiv(call, a, b),
            ("abs", [a]) => self.abs(call, a),
            ("power", [a, b]) => self.intrinsic(call, Intrinsic::Pow, &[a, b]),
            ("min_value" | "max_value" | "infinity" | "nan", [dtype]) => {
                let dtype = self.dtype(dtype)?;
                self.limit(call, name, dtype)
            }
            ("Let", [body]) => self.let_expr(call, body, args.named("where")),
            ("reinterpret", [dtype, value]) => self.reinterpret(call, dtype, value),
            (name, operands) => self.named_call(call, name, operands),
        }
    }

    /// A constant or cast `T.float32(..)`, an intrinsic, or a function that is not known.
    fn named_call(&mut self, call: &py::ExprCall, name: &str, operands: &[py::Expr]) -> Result<Operand> {
        if let Some(op) = Intrinsic::from_name(name) {
            return self.intrinsic(call, op, &operands.iter().collect::<Vec<_>>());
        }
        if let (Ok(dtype), [value]) = (name.parse::<DataType>(), operands) {
            return self.constant(dtype, value).map(Operand::Typed);
        }
        let (dtype, operands) = match (name, operands) {
            ("call_extern" | "call_pure_extern" | "call_intrin" | "call_llvm_intrin", [dtype, rest @ ..]) => {
                (self.dtype(dtype)?, rest)
            }
            ("call_packed" | "call_cpacked" | "tvm_call_packed" | "tvm_call_cpacked", rest) => (DataType::INT32, rest),
            ("tvm_stack_make_array" | "tvm_stack_make_shape" | "address_of" | "tvm_stack_alloca", rest) => {
                (DataType::HANDLE, rest)
            }
            (name, _) => return self.error(call, format!("no function `T.{name}` with these arguments is known")),
        };
        let args = operands.iter().map(|e| self.expr(e)).collect::<Result<_>>()?;
        let span = self.span(call.range());
        Ok(Operand::Typed(Expr::Extern(Extern { op: name.into(), dtype, args, span })))
    }

    fn binary_call(&mut self, call: &py::ExprCall, op: BinaryOp, a: &py::Expr, b: &py::Expr) -> Result<Operand> {
        let (a, b) = self.pair(a, b)?;
        Ok(Operand::Typed(Expr::binary(op, a, b, self.span(call.range()))))
    }

    fn logical_call(&mut self, call: &py::ExprCall, op: BinaryOp, a: &py::Expr, b: &py::Expr) -> Result<Operand> {
        let (a, b) = (self.condition(a)?, self.condition(b)?);
        Ok(Operand::Typed(Expr::binary(op, a, b, self.span(call.range()))))
    }

    fn choice(
        &mut self,
        condition: &py::Expr,
        then: &py::Expr,
        otherwise: &py::Expr,
        node: fn(Box<Choice>) -> Expr,
    ) -> Result<Operand> {
        let condition = self.condition(condition)?;
        let (then, otherwise) = self.pair(then, otherwise)?;
        Ok(Operand::Typed(node(Box::new(Choice { condition, then, otherwise }))))
    }

    /// `T.Cast(dtype, value)`, a node even where the data types agree.
    fn cast(&mut self, dtype: &py::Expr, value: &py::Expr) -> Result<Operand> {
        let (dtype, value) = match self.dtype(dtype) {
            Ok(known) => (known, value),
            // The two arguments were in the other order in some versions.
            Err(error) => match self.dtype(value) {
                Ok(known) => (known, dtype),
                Err(_) => return Err(error),
            },
        };
        let value = self.expr(value)?;
        Ok(Operand::Typed(Expr::Cast(dtype, Box::new(value))))
    }

    /// `T.float32(value)`: a constant of a data type, or a conversion to it.
    fn constant(&mut self, dtype: DataType, value: &py::Expr) -> Result<Expr> {
        match (value, self.operand(value)?) {
            (py::Expr::StringLiteral(s), _) if dtype.is_float() => match s.value.to_str() {
                "inf" => Ok(Expr::float(f64::INFINITY, dtype)),
                "-inf" => Ok(Expr::float(f64::NEG_INFINITY, dtype)),
                "nan" => Ok(Expr::float(f64::NAN, dtype)),
                _ => self.error(value, "expected \"inf\", \"-inf\" or \"nan\""),
            },
            (py::Expr::StringLiteral(_), _) => self.error(value, "expected a number"),
            (_, Operand::Typed(Expr::Int(b, DataType::BOOL))) => self.int(value, b.into(), dtype),
            (_, operand) => self.convert(value, operand, dtype),
        }
    }

    /// `(a + b - 1) // b`.
    fn ceildiv(&mut self, call: &py::ExprCall, a: &py::Expr, b: &py::Expr) -> Result<Operand> {
        let (a, b) = self.pair(a, b)?;
        let span = self.span(call.range());
        let one = self.int(call, 1, b.dtype())?;
        let sum = Expr::binary(BinaryOp::Add, a, b.clone(), span);
        let less = Expr::binary(BinaryOp::Sub, sum, one, span);
        Ok(Operand::Typed(Expr::binary(BinaryOp::FloorDiv, less, b, span)))
    }

    /// Of a float `T.fabs`, of an integer a `T.Select`.
    fn abs(&mut self, call: &py::ExprCall, e: &py::Expr) -> Result<Operand> {
        let a = self.expr(e)?;
        let (span, dtype) = (self.span(call.range()), a.dtype());
        if dtype.is_float() {
            return Ok(Operand::Typed(Expr::Call(Call { op: Intrinsic::Fabs, dtype, args: vec![a], span })));
        }
        let zero = self.int(call, 0, dtype)?;
        let condition = Expr::binary(BinaryOp::Ge, a.clone(), zero.clone(), span);
        let otherwise = Expr::binary(BinaryOp::Sub, zero, a.clone(), span);
        Ok(Operand::Typed(Expr::Select(Box::new(Choice { condition, then: a, otherwise }))))
    }

    fn limit(&self, call: &py::ExprCall, name: &str, dtype: DataType) -> Result<Operand> {
        let largest = match (dtype.code, dtype.bits) {
            (TypeCode::Float, 16) => Some(65504.0),
            (TypeCode::Float, 32) => Some(f64::from(f32::MAX)),
            (TypeCode::Float, 64) => Some(f64::MAX),
            (TypeCode::BFloat, 16) => Some(f64::from(half::bf16::MAX.to_f32())),
            (TypeCode::Int | TypeCode::UInt | TypeCode::Float | TypeCode::BFloat | TypeCode::Handle, _) => None,
        };
        let int = match (dtype.code, name) {
            (TypeCode::Int, "min_value") => Some(-(1i128 << (dtype.bits.clamp(1, 64) - 1))),
            (TypeCode::Int, "max_value") => Some((1i128 << (dtype.bits.clamp(1, 64) - 1)) - 1),
            (TypeCode::UInt, "min_value") => Some(0),
            (TypeCode::UInt, "max_value") => Some((1i128 << dtype.bits.min(64)) - 1),
            _ => None,
        };
        let float = match (largest, name) {
            (Some(largest), "max_value") => Some(largest),
            (Some(largest), "min_value") => Some(-largest),
            (Some(_), "infinity") => Some(f64::INFINITY),
            (Some(_), "nan") => Some(f64::NAN),
            _ => None,
        };
        match (int, float) {
            (Some(int), _) => self.int(call, int, dtype).map(Operand::Typed),
            (None, Some(float)) => Ok(Operand::Typed(Expr::Float(FloatBits::new(float), dtype))),
            (None, None) => self.error(call, format!("{dtype} has no {name}")),
        }
    }

    fn let_expr(&mut self, call: &py::ExprCall, body: &py::Expr, bound: Option<&py::Expr>) -> Result<Operand> {
        let Some(py::Expr::Dict(dict)) = bound else {
            return self.error(call, "expected `T.Let(body, where={variable: value})`");
        };
        let [item] = dict.items.as_slice() else { return self.error(dict, "expected one variable") };
        let Some(py::Expr::Name(name)) = &item.key else { return self.error(dict, "expected a variable as the key") };
        let value = self.expr(&item.value)?;
        let var = Var { name: name.id.as_str().into(), dtype: value.dtype(), span: self.span(name.range) };
        self.scoped(call, |p| {
            p.define(&var.name, Def::Var(var.dtype));
            let body = p.expr(body)?;
            Ok(Operand::Typed(Expr::Let(Box::new(LetExpr { var, value, body }))))
        })
    }

    fn reinterpret(&mut self, call: &py::ExprCall, dtype: &py::Expr, value: &py::Expr) -> Result<Operand> {
        let dtype = self.dtype(dtype)?;
        let args = vec![self.expr(value)?];
        let span = self.span(call.range());
        Ok(Operand::Typed(Expr::Call(Call { op: Intrinsic::Reinterpret, dtype, args, span })))
    }

    fn intrinsic(&mut self, call: &py::ExprCall, op: Intrinsic, operands: &[&py::Expr]) -> Result<Operand> {
        let args = match (op.signature(), operands) {
            (Signature::Same(1) | Signature::Test, [a]) => vec![self.expr(a)?],
            (Signature::Same(2), [a, b]) => {
                let (a, b) = self.pair(a, b)?;
                vec![a, b]
            }
            (Signature::FloatInt, [a, b]) => vec![self.expr(a)?, self.expr(b)?],
            (Signature::Same(_) | Signature::Test | Signature::FloatInt | Signature::Reinterpret, _) => {
                let (name, expected) = (op.name(), op.arity());
                return self.error(call, format!("expected {expected} operands of `T.{name}`"));
            }
        };
        let operand = args.first().map_or(DataType::VOID, Expr::dtype);
        let Some(dtype) = op.result(operand) else { return self.error(call, "expected a data type first") };
        let span = self.span(call.range());
        Ok(Operand::Typed(Expr::Call(Call { op, dtype, args, span })))
    }
}

/// The element of a buffer that has only one, written as the buffer's name.
fn scalar_load(buffer: &Buffer, span: Span) -> Option<Expr> {
    match buffer.shape.as_slice() {
        [Expr::Int(1, dtype)] => {
            Some(Expr::Load(Load { buffer: buffer.var(span), indices: vec![Expr::Int(0, *dtype)], span }))
        }
        _ => None,
    }
}

/// The data type that operands of two data types are brought to.
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
        // A signed and an unsigned integer meet in the signed integers.
        (false, false) if a.is_int() || b.is_int() => DataType::new(TypeCode::Int, a.bits.max(b.bits)),
        (false, false) => a,
    }
}

/// Arithmetic on plain numbers, as Python does it.
fn fold(op: py::Operator, a: Number, b: Number) -> Option<Number> {
    match (op, a, b) {
        (py::Operator::Add, Number::Int(a), Number::Int(b)) => a.checked_add(b).map(Number::Int),
        (py::Operator::Sub, Number::Int(a), Number::Int(b)) => a.checked_sub(b).map(Number::Int),
        (py::Operator::Mult, Number::Int(a), Number::Int(b)) => a.checked_mul(b).map(Number::Int),
        (py::Operator::FloorDiv, Number::Int(a), Number::Int(b)) if b != 0 => {
            Some(Number::Int(num_integer::Integer::div_floor(&a, &b)))
        }
        (py::Operator::Mod, Number::Int(a), Number::Int(b)) if b != 0 => {
            Some(Number::Int(num_integer::Integer::mod_floor(&a, &b)))
        }
        (op, a, b) => {
            let (a, b) = (as_float(a), as_float(b));
            match op {
                py::Operator::Add => Some(Number::Float(a + b)),
                py::Operator::Sub => Some(Number::Float(a - b)),
                py::Operator::Mult => Some(Number::Float(a * b)),
                py::Operator::Div if b != 0.0 => Some(Number::Float(a / b)),
                _ => None,
            }
        }
    }
}

fn as_float(number: Number) -> f64 {
    match number {
        Number::Int(i) => i as f64,
        Number::Float(f) => f,
    }
}
