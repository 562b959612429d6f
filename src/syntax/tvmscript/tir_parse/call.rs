//! Calls of `T.` functions in expressions.

use ruff_python_ast as py;
use ruff_text_size::Ranged;

use super::args::{TirCallArguments, t_name, t_path};
use super::expr::TirOperand;
use super::{ParseResult, ParsedName, Parser};
use crate::grammar::tir::{Call, Conditional, Expr, Intrinsic, LetExpr, Signature, Var};
use crate::grammar::{BinaryOp, DataType, FloatBits, TypeCode};
use crate::number::FloatType;

impl Parser<'_> {
    pub(super) fn call(&mut self, call: &py::ExprCall) -> ParseResult<TirOperand> {
        if let Some(path) = t_path(&call.func) {
            return self.builtin(call, &path, &call.arguments.args);
        }
        if let Some(name) = self.name_in_module(&call.func) {
            return self.call_of_module(call, name);
        }
        let Some(name) = t_name(&call.func) else {
            return self.error(call, "expected a call of a function `T.name`");
        };
        let args = TirCallArguments::new(self, call)?;
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
            ("Not", [a]) => self.condition(a).map(|a| TirOperand::Typed(Expr::Not(Box::new(a)))),
            ("Select", [c, t, f]) => self.choice(c, t, f, Expr::Select),
            ("if_then_else", [c, t, f]) => self.choice(c, t, f, Expr::IfThenElse),
            ("Cast", [dtype, value]) | ("cast", [value, dtype]) => self.cast(dtype, value),
            ("Ramp" | "ramp", [base, stride, lanes]) => self.ramp(base, stride, lanes),
            ("Broadcast" | "broadcast", [value, lanes]) => self.broadcast(value, lanes),
            ("Shuffle", [vectors, indices]) => self.shuffle(call, vectors, indices),
            ("ceildiv", [a, b]) => self.ceildiv(call, a, b),
            ("abs", [a]) => self.abs(call, a),
            ("power", [a, b]) => self.intrinsic(call, Intrinsic::Pow, &[a, b]),
            ("min_value" | "max_value" | "infinity" | "nan", [dtype]) => {
                let dtype = self.dtype(dtype)?;
                self.limit(call, name, dtype)
            }
            ("ret", [] | [_]) => self.ret(call, args.positional().first()),
            ("handle", []) => Ok(TirOperand::Typed(Expr::Int(0, DataType::HANDLE))),
            ("Let", [body]) => self.let_expr(call, body, args.named("where")),
            ("reinterpret", [dtype, value]) => self.reinterpret(call, dtype, value),
            (name, operands) => self.named_call(call, name, operands),
        }
    }

    /// The name of a function of the module, after the name of the module, as in `Module.f` or `cls.f`.
    fn name_in_module<'e>(&self, func: &'e py::Expr) -> Option<&'e str> {
        let py::Expr::Attribute(func) = func else { return None };
        let py::Expr::Name(module) = &*func.value else { return None };
        let other = module.id.as_str() != "T" && self.lookup(&module.id).is_none();
        other.then_some(func.attr.as_str())
    }

    /// A constant or cast `T.float32(..)`, an intrinsic, or an unknown function.
    fn named_call(&mut self, call: &py::ExprCall, name: &str, operands: &[py::Expr]) -> ParseResult<TirOperand> {
        if let Some(op) = Intrinsic::from_name(name) {
            return self.intrinsic(call, op, &operands.iter().collect::<Vec<_>>());
        }
        if let (Ok(dtype), [value]) = (name.parse::<DataType>(), operands) {
            return self.constant(dtype, value).map(TirOperand::Typed);
        }
        self.builtin(call, name, operands)
    }

    fn binary_call(
        &mut self,
        call: &py::ExprCall,
        op: BinaryOp,
        a: &py::Expr,
        b: &py::Expr,
    ) -> ParseResult<TirOperand> {
        let (a, b) = self.pair(a, b)?;
        Ok(TirOperand::Typed(Expr::binary(op, a, b, self.span(call.range()))))
    }

    fn logical_call(
        &mut self,
        call: &py::ExprCall,
        op: BinaryOp,
        a: &py::Expr,
        b: &py::Expr,
    ) -> ParseResult<TirOperand> {
        let (a, b) = (self.condition(a)?, self.condition(b)?);
        Ok(TirOperand::Typed(Expr::binary(op, a, b, self.span(call.range()))))
    }

    pub(super) fn choice(
        &mut self,
        condition: &py::Expr,
        then: &py::Expr,
        otherwise: &py::Expr,
        node: fn(Box<Conditional>) -> Expr,
    ) -> ParseResult<TirOperand> {
        let condition = self.condition(condition)?;
        let (then, otherwise) = self.pair(then, otherwise)?;
        Ok(TirOperand::Typed(node(Box::new(Conditional { condition, then, otherwise }))))
    }

    /// `T.Cast(dtype, value)`, which is a node even if the datatypes agree.
    fn cast(&mut self, dtype: &py::Expr, value: &py::Expr) -> ParseResult<TirOperand> {
        let (dtype, value) = match self.dtype(dtype) {
            Ok(known) => (known, value),
            // Some versions had the two arguments in the opposite order.
            Err(error) => match self.dtype(value) {
                Ok(known) => (known, dtype),
                Err(_) => return Err(error),
            },
        };
        let value = self.expr(value)?;
        Ok(TirOperand::Typed(Expr::Cast(dtype, Box::new(value))))
    }

    /// `T.float32(value)`: a constant of a datatype, or a conversion to it.
    fn constant(&mut self, dtype: DataType, value: &py::Expr) -> ParseResult<Expr> {
        match (value, self.operand(value)?) {
            (py::Expr::StringLiteral(s), _) if dtype.is_float() => match s.value.to_str() {
                "inf" => Ok(Expr::float(f64::INFINITY, dtype)),
                "-inf" => Ok(Expr::float(f64::NEG_INFINITY, dtype)),
                "nan" => Ok(Expr::float(f64::NAN, dtype)),
                _ => self.error(value, "expected \"inf\", \"-inf\" or \"nan\""),
            },
            (py::Expr::StringLiteral(_), _) => self.error(value, "expected a number"),
            (_, TirOperand::Typed(Expr::Int(b, DataType::BOOL))) => self.int(value, b.into(), dtype),
            (_, operand) => self.convert(value, operand, dtype),
        }
    }

    /// `(a + b - 1) // b`.
    fn ceildiv(&mut self, call: &py::ExprCall, a: &py::Expr, b: &py::Expr) -> ParseResult<TirOperand> {
        let (a, b) = self.pair(a, b)?;
        let span = self.span(call.range());
        let one = self.int(call, 1, b.dtype())?;
        let sum = Expr::binary(BinaryOp::Add, a, b.clone(), span);
        let less = Expr::binary(BinaryOp::Sub, sum, one, span);
        Ok(TirOperand::Typed(Expr::binary(BinaryOp::FloorDiv, less, b, span)))
    }

    /// `T.fabs` for a float, a `T.Select` for an integer.
    fn abs(&mut self, call: &py::ExprCall, e: &py::Expr) -> ParseResult<TirOperand> {
        let a = self.expr(e)?;
        let (span, dtype) = (self.span(call.range()), a.dtype());
        if dtype.is_float() {
            return Ok(TirOperand::Typed(Expr::Call(Call { op: Intrinsic::Fabs, dtype, args: vec![a], span })));
        }
        let zero = self.int(call, 0, dtype)?;
        let condition = Expr::binary(BinaryOp::Ge, a.clone(), zero.clone(), span);
        let otherwise = Expr::binary(BinaryOp::Sub, zero, a.clone(), span);
        Ok(TirOperand::Typed(Expr::Select(Box::new(Conditional { condition, then: a, otherwise }))))
    }

    fn limit(&self, call: &py::ExprCall, name: &str, dtype: DataType) -> ParseResult<TirOperand> {
        let element = DataType { lanes: 1, ..dtype };
        let largest = element.float_type().map(|float| match float {
            FloatType::Float16 => 65504.0,
            FloatType::BFloat16 => f64::from(half::bf16::MAX.to_f32()),
            FloatType::Float32 => f64::from(f32::MAX),
            FloatType::Float64 => f64::MAX,
        });
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
            (Some(int), _) => self.int(call, int, dtype).map(TirOperand::Typed),
            (None, Some(float)) => Ok(TirOperand::Typed(Expr::Float(FloatBits::new(float), dtype))),
            (None, None) => self.error(call, format!("{dtype} has no {name}")),
        }
    }

    fn let_expr(&mut self, call: &py::ExprCall, body: &py::Expr, bound: Option<&py::Expr>) -> ParseResult<TirOperand> {
        let Some(py::Expr::Dict(dict)) = bound else {
            return self.error(call, "expected `T.Let(body, where={variable: value})`");
        };
        let [item] = dict.items.as_slice() else { return self.error(dict, "expected one variable") };
        let Some(py::Expr::Name(name)) = &item.key else { return self.error(dict, "expected a variable as the key") };
        let value = self.expr(&item.value)?;
        let var = Var { name: name.id.as_str().into(), dtype: value.dtype(), span: self.span(name.range) };
        self.scoped(call, |p| {
            p.define(&var.name, ParsedName::Var(var.dtype));
            let body = p.expr(body)?;
            Ok(TirOperand::Typed(Expr::Let(Box::new(LetExpr { var, value, body }))))
        })
    }

    fn reinterpret(&mut self, call: &py::ExprCall, dtype: &py::Expr, value: &py::Expr) -> ParseResult<TirOperand> {
        let dtype = self.dtype(dtype)?;
        let args = vec![self.expr(value)?];
        let span = self.span(call.range());
        Ok(TirOperand::Typed(Expr::Call(Call { op: Intrinsic::Reinterpret, dtype, args, span })))
    }

    fn intrinsic(&mut self, call: &py::ExprCall, op: Intrinsic, operands: &[&py::Expr]) -> ParseResult<TirOperand> {
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
        Ok(TirOperand::Typed(Expr::Call(Call { op, dtype, args, span })))
    }
}
