//! Expressions.

use std::sync::Arc;

use super::{Lexeme, RelayFault, RelayReader, RelayResult, ReportedFault, Token, slice};
use crate::book::Erratum;
use crate::grammar::source::MAX_NESTING;
use crate::grammar::{Attrs, Name, Span};
use crate::relay::tree::{Binding, Call, Expr, ExprKind, INFIX, If, Param};

/// The target of an identifier (`RELAY.VAR.THREE`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reference {
    /// A definition.
    Global,
    /// A parameter or a `let` binding.
    Local,
    /// An operator.
    Operator,
}

/// An argument, or an attribute among the arguments.
enum Argument {
    Value(Expr),
    Attr(Name, crate::grammar::AttrValue),
}

impl RelayReader<'_, '_> {
    /// RELAY.BODY.EXPR: one expression in braces, without a terminator. The opening brace has been read.
    pub(super) fn body(&mut self) -> RelayResult<Expr> {
        let empty = self.token() == Token::CloseBrace;
        if !self.cx.premise(rule!("RELAY.BODY.EXPR"), 1, !empty) {
            let fault =
                RelayFault::rule(rule!("RELAY.BODY.EXPR"), self.here(), "a body is an expression, it is not empty");
            return self.fault(fault);
        }
        if empty {
            self.next();
            return Ok(Expr::new(ExprKind::Tuple(Vec::new())));
        }
        let body = self.block()?;
        let (terminated, span) = (self.token() == Token::Semicolon, self.here());
        if !self.cx.premise(rule!("RELAY.BODY.EXPR"), 2, !terminated) {
            let fault =
                RelayFault::rule(rule!("RELAY.BODY.EXPR"), span, "nothing stands behind the expression of a body");
            self.faults.push(fault);
        }
        if terminated {
            self.next();
        }
        self.expect(Token::CloseBrace, "`}`")?;
        Ok(body)
    }

    /// Bindings and a result.
    fn block(&mut self) -> RelayResult<Expr> {
        let start = self.here();
        let (mut bindings, mut fault) = (Vec::new(), false);
        while self.begins_binding() {
            match self.binding() {
                Ok(binding) => bindings.push(binding),
                Err(ReportedFault) => {
                    fault = true;
                    self.skip_to(|r| r.token() == Token::Semicolon);
                    self.eat(Token::Semicolon);
                }
            }
        }
        let span = self.here();
        if self.eat_word("ret") {
            self.leniently(span, "a body is an expression, without `ret`");
        }
        let result = self.expr();
        if fault {
            return Err(ReportedFault);
        }
        let result = result?;
        if bindings.is_empty() {
            return Ok(result);
        }
        let bindings = self.cx.conclude(rule!("RELAY.LET"), bindings);
        Ok(Expr { kind: ExprKind::Let(bindings, Box::new(result)), span: self.since(start) })
    }

    fn begins_binding(&self) -> bool {
        self.is_word("let") || (self.token() == Token::Local && self.nth(1).token == Token::Assign)
    }

    /// RELAY.LET: `let %y = e;`, or `%0 = e;` as graphs were printed. The text has no notation for it (A57).
    fn binding(&mut self) -> RelayResult<Binding> {
        let start = self.here();
        self.eat_word("let");
        if self.cx.literal(Erratum::A57) {
            let message = "the text has no notation for bindings";
            return self.fault(RelayFault::rule(rule!("RELAY.LET"), start, message));
        }
        let var = self.expect(Token::Local, "a variable, with `%`")?;
        let annotation = if self.eat(Token::Colon) { Some(self.type_expr()?) } else { None };
        self.expect(Token::Assign, "`=`")?;
        let value = self.nested(Self::expr)?;
        self.expect(Token::Semicolon, "`;`")?;
        Ok(Binding { var: Param { name: self.name_of(var), annotation, span: var.span }, value })
    }

    pub(super) fn expr(&mut self) -> RelayResult<Expr> {
        self.infix(0)
    }

    /// RELAY.DEF.INFIX: a symbol between two expressions is a call of its operator.
    fn infix(&mut self, loosest: u8) -> RelayResult<Expr> {
        let start = self.here();
        let mut left = self.nested(Self::postfix)?;
        let mut levels = 0;
        while let Some((symbol, name, binds)) = self.infix_symbol(loosest) {
            levels += 1;
            if self.depth + levels > MAX_NESTING {
                let message = format!("it nests deeper than {MAX_NESTING} levels");
                return self.fault(RelayFault::syntax(self.here(), message));
            }
            let sign = self.next().span;
            if symbol != "+" && self.cx.literal(Erratum::A57) {
                let message = format!("the text has no operator `{symbol}` between its arguments");
                return self.fault(RelayFault::rule(rule!("RELAY.DEF.INFIX"), sign, message));
            }
            let right = self.nested(|r| r.infix(binds + 1))?;
            let name = self.cx.conclude(rule!("RELAY.DEF.INFIX"), Name::from(name));
            let callee = Expr { kind: ExprKind::Operator(name), span: sign };
            let call = Call { callee, args: vec![left, right], attrs: Attrs::new() };
            left = Expr { kind: ExprKind::Call(Box::new(call)), span: self.since(start) };
        }
        Ok(left)
    }

    fn infix_symbol(&self, loosest: u8) -> Option<(&'static str, &'static str, u8)> {
        let symbol = (self.token() == Token::Infix).then(|| self.word())?;
        INFIX.iter().copied().find(|(known, _, binds)| *known == symbol && *binds >= loosest.max(1))
    }

    /// Calls and projections after an expression.
    fn postfix(&mut self) -> RelayResult<Expr> {
        let start = self.here();
        let mut expr = self.primary()?;
        let mut levels = 0;
        loop {
            levels += 1;
            if self.depth + levels > MAX_NESTING {
                let message = format!("it nests deeper than {MAX_NESTING} levels");
                return self.fault(RelayFault::syntax(self.here(), message));
            }
            expr = match self.token() {
                Token::Open => self.call(expr, start)?,
                Token::Dot => self.projection(expr, start)?,
                Token::Colon if matches!(expr.kind, ExprKind::Local(_)) => {
                    self.no_parameter(start)?;
                    expr
                }
                _ => return Ok(expr),
            };
        }
    }

    /// RELAY.PARAM.POS: parameters occur only in function literals and definitions.
    fn no_parameter(&mut self, start: Span) -> RelayResult<()> {
        self.next();
        self.type_expr()?;
        if !self.cx.premise(rule!("RELAY.PARAM.POS"), 1, false) {
            let message = "a variable has a type only where it is a parameter of a function";
            self.faults.push(RelayFault::rule(rule!("RELAY.PARAM.POS"), self.since(start), message));
        }
        Ok(())
    }

    fn call(&mut self, callee: Expr, start: Span) -> RelayResult<Expr> {
        self.next();
        let items = self.list(Token::Close, "`)`", Self::argument)?;
        let (mut args, mut attrs) = (Vec::new(), Attrs::new());
        for item in items {
            match item {
                Argument::Value(arg) => args.push(arg),
                Argument::Attr(name, value) => drop(attrs.insert(name, value)),
            }
        }
        let call = Call { callee, args, attrs };
        Ok(Expr { kind: ExprKind::Call(Box::new(call)), span: self.since(start) })
    }

    fn argument(&mut self) -> RelayResult<Argument> {
        if self.token() == Token::Word && self.nth(1).token == Token::Assign {
            let key: Name = self.word().into();
            self.next();
            self.next();
            return Ok(Argument::Attr(key, self.value()?));
        }
        Ok(Argument::Value(self.nested(Self::expr)?))
    }

    /// `.0`; or `.0.1`, which looks like a number but is two projections.
    fn projection(&mut self, tuple: Expr, start: Span) -> RelayResult<Expr> {
        self.next();
        let span = self.expect(Token::Number, "the number of a field")?.span;
        let mut expr = tuple;
        for index in slice(self.text, span).split('.') {
            let Ok(index) = index.parse::<usize>() else {
                return self.fault(RelayFault::syntax(span, "the number of a field is expected"));
            };
            expr = Expr { kind: ExprKind::Project(Box::new(expr), index), span: self.since(start) };
        }
        Ok(expr)
    }

    fn primary(&mut self) -> RelayResult<Expr> {
        let lexeme = self.nth(0);
        let kind = match lexeme.token {
            Token::Local | Token::Global => self.reference(lexeme),
            Token::Word => return self.word_expr(lexeme),
            Token::Number => ExprKind::Constant(self.number(false)?),
            Token::Infix if self.eat_infix("-") => ExprKind::Constant(self.number(true)?),
            Token::Open => return self.parenthesized(),
            Token::Unknown => return self.unknown(lexeme),
            Token::Infix
            | Token::Text
            | Token::Hash
            | Token::Close
            | Token::OpenBrace
            | Token::CloseBrace
            | Token::OpenBracket
            | Token::CloseBracket
            | Token::Comma
            | Token::Semicolon
            | Token::Colon
            | Token::Dot
            | Token::Question
            | Token::Assign
            | Token::Arrow
            | Token::FatArrow
            | Token::End => return self.expected("an expression"),
        };
        Ok(Expr { kind, span: self.since(lexeme.span) })
    }

    /// RELAY.SIGIL.GLOBAL, RELAY.SIGIL.LOCAL, RELAY.SIGIL.OP: the sigil determines the target of an identifier.
    fn reference(&mut self, lexeme: Lexeme) -> ExprKind {
        self.next();
        let name = self.name_of(lexeme);
        let (rule, conclusion) = match lexeme.token {
            Token::Global => (rule!("RELAY.SIGIL.GLOBAL"), Reference::Global),
            Token::Local => (rule!("RELAY.SIGIL.LOCAL"), Reference::Local),
            _ => (rule!("RELAY.SIGIL.OP"), Reference::Operator),
        };
        let reference = self.cx.by_kind(rule, conclusion);
        match reference {
            Reference::Global => ExprKind::Global(name),
            Reference::Local => ExprKind::Local(name),
            Reference::Operator => ExprKind::Operator(name),
        }
    }

    /// RELAY.VAR.THREE: there is no fourth sigil.
    fn unknown(&mut self, lexeme: Lexeme) -> RelayResult<Expr> {
        self.next();
        if !self.cx.premise(rule!("RELAY.VAR.THREE"), 1, false) {
            let message = format!(
                "`{}` begins no identifier: there are globals (@), locals (%) and operators (no sigil)",
                slice(self.text, lexeme.span)
            );
            return self.fault(RelayFault::rule(rule!("RELAY.VAR.THREE"), lexeme.span, message));
        }
        self.primary()
    }

    fn word_expr(&mut self, lexeme: Lexeme) -> RelayResult<Expr> {
        let kind = match slice(self.text, lexeme.span) {
            "let" => return self.block(),
            "if" => return self.nested(Self::conditional),
            "fn" => {
                self.next();
                ExprKind::Function(Arc::new(self.nested(Self::function)?))
            }
            "True" | "true" => ExprKind::Constant(self.truth(true)?),
            "False" | "false" => ExprKind::Constant(self.truth(false)?),
            "match" => {
                let message = "pattern matching of later Relay is not read";
                return self.fault(RelayFault::syntax(lexeme.span, message));
            }
            "meta" => ExprKind::Constant(self.constant_of_section()?),
            "ref" | "ref_read" | "ref_write" => {
                self.no_references(lexeme.span)?;
                self.reference(lexeme)
            }
            _ => self.reference(lexeme),
        };
        Ok(Expr { kind, span: self.since(lexeme.span) })
    }

    fn conditional(&mut self) -> RelayResult<Expr> {
        let start = self.next().span;
        self.expect(Token::Open, "`(`")?;
        let condition = self.expr()?;
        self.expect(Token::Close, "`)`")?;
        self.expect(Token::OpenBrace, "`{`")?;
        let then = self.body()?;
        if !self.eat_word("else") {
            return self.expected("`else`");
        }
        let otherwise = if self.is_word("if") {
            self.nested(Self::conditional)?
        } else {
            self.expect(Token::OpenBrace, "`{`")?;
            self.body()?
        };
        Ok(Expr { kind: ExprKind::If(Box::new(If { condition, then, otherwise })), span: self.since(start) })
    }

    /// An expression in parentheses, or a tuple. A tuple with one field has a trailing comma.
    fn parenthesized(&mut self) -> RelayResult<Expr> {
        let start = self.next().span;
        let mut fields = Vec::new();
        let mut is_tuple = self.token() == Token::Close;
        while self.token() != Token::Close {
            fields.push(self.nested(Self::expr)?);
            if !self.eat(Token::Comma) {
                break;
            }
            is_tuple = true;
        }
        self.expect(Token::Close, "`)`")?;
        match fields.pop() {
            Some(only) if !is_tuple => Ok(only),
            last => {
                fields.extend(last);
                Ok(Expr { kind: ExprKind::Tuple(fields), span: self.since(start) })
            }
        }
    }
}
