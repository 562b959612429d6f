//! Types as written.

use super::{RelayFault, RelayReader, RelayResult, Token, slice};
use crate::book::Erratum;
use crate::grammar::{DataType, Name, Span};
use crate::relay::tree::{BaseType, RelayDim, RelayNotation, Shape, TensorTypeExpr, TypeExpr, TypeKind};

impl RelayReader<'_, '_> {
    pub(super) fn type_expr(&mut self) -> RelayResult<TypeExpr> {
        let start = self.here();
        let kind = self.nested(Self::type_kind)?;
        Ok(TypeExpr { kind, span: self.since(start) })
    }

    fn type_kind(&mut self) -> RelayResult<TypeKind> {
        if self.eat(Token::Open) {
            return Ok(TypeKind::Tuple(self.list(Token::Close, "`)`", Self::type_expr)?));
        }
        if self.eat_word("fn") {
            self.expect(Token::Open, "`(`")?;
            let params = self.list(Token::Close, "`)`", Self::type_expr)?;
            self.expect(Token::Arrow, "`->`")?;
            return Ok(TypeKind::Function(params, Box::new(self.type_expr()?)));
        }
        let word = self.expect(Token::Word, "a type")?.span;
        match slice(self.text, word) {
            "Tensor" => self.tensor_type(),
            "Ref" => {
                self.no_references(word)?;
                self.expected("a type without references")
            }
            name => match self.base_named(name) {
                // A base type alone is a tensor without dimensions (A57).
                Some(dtype) => Ok(TypeKind::Tensor(TensorTypeExpr {
                    base: BaseType::Known(dtype),
                    shape: Shape::Dims(Vec::new()),
                })),
                None => Ok(TypeKind::Param(name.into())),
            },
        }
    }

    /// RELAY.REF: rejects references.
    pub(super) fn no_references(&mut self, span: Span) -> RelayResult<()> {
        let message = "references are not read: a Ref is mutable, and nothing of this chapter is";
        let refused = Err(RelayFault::rule(rule!("RELAY.REF"), span, message));
        match self.cx.premise(rule!("RELAY.REF"), 1, refused) {
            Ok(()) => Ok(()),
            Err(fault) => self.fault(fault),
        }
    }

    /// RELAY.TYPE.TENSOR: `Tensor<BaseType, d1, d2>`, or with a shape variable `Tensor<bt, s>`.
    fn tensor_type(&mut self) -> RelayResult<TypeKind> {
        let tensor = match self.notation {
            RelayNotation::Introduced => self.introduced_tensor()?,
            RelayNotation::Printed => self.printed_tensor()?,
        };
        Ok(self.cx.conclude(rule!("RELAY.TYPE.TENSOR"), TypeKind::Tensor(tensor)))
    }

    fn introduced_tensor(&mut self) -> RelayResult<TensorTypeExpr> {
        if !self.eat_infix("<") {
            return self.expected("`<`");
        }
        let base = self.base()?;
        let mut shape = Shape::Dims(Vec::new());
        while self.eat(Token::Comma) {
            match (&mut shape, self.dim()?) {
                (Shape::Dims(dims), Ok(dim)) => dims.push(dim),
                (Shape::Dims(dims), Err(name)) if dims.is_empty() => shape = Shape::Param(name),
                (Shape::Dims(_) | Shape::Param(_), _) => {
                    let message = "a shape variable stands for all dimensions, and is the only one of them";
                    return self.fault(RelayFault::rule(rule!("RELAY.TYPE.TENSOR"), self.here(), message));
                }
            }
        }
        if self.eat_infix(">") { Ok(TensorTypeExpr { base, shape }) } else { self.expected("`>`") }
    }

    fn printed_tensor(&mut self) -> RelayResult<TensorTypeExpr> {
        self.expect(Token::OpenBracket, "`[`")?;
        let shape = if self.eat(Token::Open) {
            let dims = self.list(Token::Close, "`)`", |r| match r.dim()? {
                Ok(dim) => Ok(dim),
                Err(_) => r.expected("a number, `?` or `Any`"),
            })?;
            Shape::Dims(dims)
        } else {
            Shape::Param(slice(self.text, self.expect(Token::Word, "a shape")?.span).into())
        };
        self.expect(Token::Comma, "`,`")?;
        let base = self.base()?;
        self.expect(Token::CloseBracket, "`]`")?;
        Ok(TensorTypeExpr { base, shape })
    }

    fn base(&mut self) -> RelayResult<BaseType> {
        let span = self.expect(Token::Word, "a base type")?.span;
        let name = slice(self.text, span);
        Ok(self.base_named(name).map_or_else(|| BaseType::Param(name.into()), BaseType::Known))
    }

    /// A57: reals are float32. In the literal reading their width is unknown.
    fn base_named(&mut self, name: &str) -> Option<DataType> {
        match name {
            "Float" | "Real" if self.cx.literal(Erratum::A57) => Some(DataType::VOID),
            "Float" | "Real" => Some(DataType::FLOAT32),
            "Int" => Some(DataType::INT32),
            "Bool" => Some(DataType::BOOL),
            other => other.parse().ok().filter(|dtype| *dtype != DataType::VOID && *dtype != DataType::HANDLE),
        }
    }

    /// A dimension, or the name of a type parameter.
    fn dim(&mut self) -> RelayResult<Result<RelayDim, Name>> {
        let lexeme = self.nth(0);
        match lexeme.token {
            Token::Question => {
                self.next();
                Ok(Ok(RelayDim::Any))
            }
            Token::Word => {
                self.next();
                let name = slice(self.text, lexeme.span);
                Ok(if matches!(name, "Any" | "_") { Ok(RelayDim::Any) } else { Err(name.into()) })
            }
            Token::Number => match slice(self.text, lexeme.span).parse::<i64>() {
                Ok(size) => {
                    self.next();
                    Ok(Ok(RelayDim::Known(size)))
                }
                Err(_) => self.expected("a size that is an integer of 64 bits"),
            },
            _ => self.expected("a dimension"),
        }
    }
}
