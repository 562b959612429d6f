//! Programs and definitions.

use std::sync::Arc;

use super::{RelayFault, RelayReader, RelayResult, ReportedFault, Token, slice};
use crate::book::Erratum;
use crate::grammar::{Attrs, Name, Span};
use crate::relay::operators;
use crate::relay::tree::{Attributes, Definition, Function, Kind, Param, Program, TypeParam};

/// A parameter, or an attribute among the parameters.
enum Item {
    Param(Param),
    Attr(Name, crate::grammar::AttrValue),
}

/// The beginning of a definition.
struct Head {
    name: Name,
    span: Span,
}

impl RelayReader<'_, '_> {
    /// RELAY.PROGRAM: one or more functions.
    pub(super) fn program(&mut self) -> Program {
        let version = if self.token() == Token::Hash { self.version().ok() } else { None };
        let mut definitions = Vec::new();
        while self.token() != Token::End {
            match self.definition() {
                Ok(definition) => definitions.push(definition),
                Err(ReportedFault) => self.skip_to_definition(),
            }
        }
        let written = !definitions.is_empty() || !self.faults.is_empty();
        if !self.cx.premise(rule!("RELAY.PROGRAM"), 1, written) {
            let message = "a program has at least one function";
            self.faults.push(RelayFault::rule(rule!("RELAY.PROGRAM"), self.here(), message));
        }
        self.defined_once(&definitions);
        Program { notation: self.notation, version, definitions }
    }

    /// RELAY.GLOBAL.RESOLVE: a global identifier refers to one definition.
    fn defined_once(&mut self, definitions: &[Definition]) {
        for (i, later) in definitions.iter().enumerate() {
            let earlier = definitions.iter().take(i).find(|earlier| earlier.name == later.name);
            if !self.cx.premise(rule!("RELAY.GLOBAL.RESOLVE"), 2, earlier.is_none())
                && let Some(earlier) = earlier
            {
                let fault = RelayFault::rule(
                    rule!("RELAY.GLOBAL.RESOLVE"),
                    later.span,
                    format!("@{} is defined twice", later.name),
                );
                self.faults.push(fault.and(earlier.span, "first"));
            }
        }
    }

    fn skip_to_definition(&mut self) {
        loop {
            self.skip_to(|r| r.is_word("def") || r.is_word("attributes"));
            if !self.eat(Token::CloseBrace) {
                return;
            }
        }
    }

    /// `#[version = "0.0.5"]`.
    fn version(&mut self) -> RelayResult<Name> {
        self.next();
        if !self.eat_word("version") {
            return self.expected("`version`");
        }
        self.expect(Token::Assign, "`=`")?;
        let version = self.expect(Token::Text, "the version in quotes")?;
        self.expect(Token::CloseBracket, "`]`")?;
        Ok(slice(self.text, version.span).trim_matches('"').into())
    }

    fn definition(&mut self) -> RelayResult<Definition> {
        let attributes = if self.is_word("attributes") { Some(self.attributes()?) } else { None };
        if !self.eat_word("def") {
            return self.no_definition();
        }
        let head = self.head()?;
        let attributes = attributes.and_then(|(name, attributes)| self.prefix(&name, &head, attributes));
        let function = self.function()?;
        Ok(Definition { name: head.name, function: Arc::new(function), attributes, span: head.span })
    }

    fn no_definition<T>(&mut self) -> RelayResult<T> {
        let later = ["type", "extern", "import"].into_iter().find(|word| self.is_word(word));
        match later {
            Some(word) => {
                let message =
                    format!("`{word}` belongs to data types and pattern matching of later Relay, which are not read");
                self.fault(RelayFault::syntax(self.here(), message))
            }
            None => self.expected("`def`"),
        }
    }

    /// RELAY.ATTR.SYN: `attributes name { key: value }`.
    fn attributes(&mut self) -> RelayResult<(Name, Attributes)> {
        let start = self.next().span;
        let name = match self.token() {
            Token::Word | Token::Global => self.next(),
            _ => return self.expected("the name of the function that the attributes are of"),
        };
        self.expect(Token::OpenBrace, "`{`")?;
        let mut values = Attrs::new();
        while self.token() != Token::CloseBrace {
            let key: Name = slice(self.text, self.expect(Token::Word, "the name of an attribute")?.span).into();
            self.expect(Token::Colon, "`:`")?;
            values.insert(key, self.value()?);
            self.eat(Token::Comma);
        }
        self.expect(Token::CloseBrace, "`}`")?;
        let values = self.cx.conclude(rule!("RELAY.ATTR.SYN"), values);
        Ok((self.name_of(name), Attributes { values, span: self.since(start) }))
    }

    /// RELAY.ATTR.PREFIX: metadata comes before the definition that it names.
    fn prefix(&mut self, name: &Name, head: &Head, attributes: Attributes) -> Option<Attributes> {
        if !self.cx.premise(rule!("RELAY.ATTR.PREFIX"), 1, *name == head.name) {
            let message = format!("the attributes of {name} do not stand before its definition");
            let fault = RelayFault::rule(rule!("RELAY.ATTR.PREFIX"), attributes.span, message);
            self.faults.push(fault.and(head.span, format!("what follows is @{},", head.name)));
            return None;
        }
        Some(attributes)
    }

    /// The name of a definition.
    fn head(&mut self) -> RelayResult<Head> {
        let lexeme = self.nth(0);
        match lexeme.token {
            Token::Global => drop(self.next()),
            Token::Word => {
                self.next();
                self.without_sigil(lexeme.span)?;
            }
            _ => return self.expected("the name of the function, with `@`"),
        }
        Ok(Head { name: self.name_of(lexeme), span: lexeme.span })
    }

    /// RELAY.OP.NOSYNTAX: a name without a sigil is an operator, and programs do not define operators.
    ///
    /// RELAY.SYN.RET: any other name is read as if it had a sigil.
    fn without_sigil(&mut self, span: Span) -> RelayResult<()> {
        let name = slice(self.text, span);
        if !self.cx.premise(rule!("RELAY.OP.NOSYNTAX"), 1, operators::lookup(name).is_none()) {
            let message = format!("`{name}` is an operator, and a program cannot define one");
            return self.fault(RelayFault::rule(rule!("RELAY.OP.NOSYNTAX"), span, message));
        }
        self.leniently(span, "the name of a global function is written with `@`");
        Ok(())
    }

    /// RELAY.SYN.RET: a form that only one example of the text uses is read with a warning.
    pub(super) fn leniently(&mut self, span: Span, message: &str) {
        let read = self.cx.conclude(rule!("RELAY.SYN.RET"), Ok(()));
        self.demand(read);
        if !self.cx.literal(Erratum::A71) {
            self.faults.push(RelayFault::warning(rule!("RELAY.SYN.RET"), span, message));
        }
    }

    /// RELAY.DEF.PARTS: type parameters, parameters, an optional result type, and a body.
    pub(super) fn function(&mut self) -> RelayResult<Function> {
        let type_params = self.type_params()?;
        let (params, attrs) = self.params()?;
        let result = if self.eat(Token::Arrow) { Some(self.type_expr()?) } else { None };
        let result = result.map(|ty| self.cx.conclude(rule!("RELAY.DEF.ANNOT"), ty));
        if type_params.is_empty() && params.is_empty() && result.is_none() {
            // RELAY.DEF.MINIMAL: only a name and a body are required.
            let minimal = self.cx.conclude(rule!("RELAY.DEF.MINIMAL"), Ok(()));
            self.demand(minimal);
        }
        self.expect(Token::OpenBrace, "`{`")?;
        let body = self.body()?;
        Ok(self.cx.conclude(rule!("RELAY.DEF.PARTS"), Function { type_params, params, attrs, result, body }))
    }

    /// RELAY.POLY: `<s: Shape, bt: BaseType>`; in brackets in the later notation.
    fn type_params(&mut self) -> RelayResult<Vec<TypeParam>> {
        let start = self.here();
        let params = if self.eat_infix("<") {
            let mut params = Vec::new();
            while !self.is_infix(">") {
                params.push(self.type_param()?);
                if !self.eat(Token::Comma) {
                    break;
                }
            }
            if !self.eat_infix(">") {
                return self.expected("`>`");
            }
            params
        } else if self.eat(Token::OpenBracket) {
            self.list(Token::CloseBracket, "`]`", Self::type_param)?
        } else {
            return Ok(Vec::new());
        };
        // RELAY.POLY.UNIMPL: the note after the definition of polymorphic functions, taken literally.
        if self.cx.literal(Erratum::A57) {
            let message = "functions with type parameters are not implemented";
            let noted = Err(RelayFault::rule(rule!("RELAY.POLY.UNIMPL"), self.since(start), message));
            let noted = self.cx.conclude(rule!("RELAY.POLY.UNIMPL"), noted);
            self.demand(noted);
        }
        Ok(params)
    }

    fn type_param(&mut self) -> RelayResult<TypeParam> {
        let name = self.expect(Token::Word, "a type parameter")?;
        let kind = if self.eat(Token::Colon) { self.kind()? } else { Kind::Type };
        Ok(TypeParam { name: slice(self.text, name.span).into(), kind, span: name.span })
    }

    /// RELAY.KINDS: Shape and BaseType; the later notation also has Type.
    fn kind(&mut self) -> RelayResult<Kind> {
        let span = self.expect(Token::Word, "a kind")?.span;
        let known =
            [Kind::Shape, Kind::BaseType, Kind::Type].into_iter().find(|kind| kind.name() == slice(self.text, span));
        match known {
            Some(kind) => Ok(kind),
            None => {
                let message = format!("`{}` is no kind; there are Shape, BaseType and Type", slice(self.text, span));
                self.fault(RelayFault::rule(rule!("RELAY.KINDS"), span, message))
            }
        }
    }

    /// RELAY.DEF.PARAMS: any number of parameters, separated by commas.
    fn params(&mut self) -> RelayResult<(Vec<Param>, Attrs)> {
        self.expect(Token::Open, "`(`")?;
        let items = self.list(Token::Close, "`)`", Self::item)?;
        let (mut params, mut attrs) = (Vec::new(), Attrs::new());
        for item in items {
            match item {
                Item::Param(param) => params.push(param),
                Item::Attr(name, value) => drop(attrs.insert(name, value)),
            }
        }
        if params.is_empty() {
            return Ok((params, attrs));
        }
        Ok((self.cx.conclude(rule!("RELAY.DEF.PARAMS"), params), attrs))
    }

    fn item(&mut self) -> RelayResult<Item> {
        if self.token() == Token::Word {
            let key: Name = self.word().into();
            self.next();
            self.expect(Token::Assign, "`=`")?;
            return Ok(Item::Attr(key, self.value()?));
        }
        let lexeme = self.expect(Token::Local, "a parameter, with `%`")?;
        Ok(Item::Param(self.param(lexeme)?))
    }

    /// RELAY.PARAM: a local variable with an optional type, `%x : T`.
    ///
    /// RELAY.DEF.ANNOT: the type after the colon.
    fn param(&mut self, lexeme: super::Lexeme) -> RelayResult<Param> {
        let annotation = if self.eat(Token::Colon) { Some(self.type_expr()?) } else { None };
        let annotation = annotation.map(|ty| self.cx.conclude(rule!("RELAY.DEF.ANNOT"), ty));
        let param = Param { name: self.name_of(lexeme), annotation, span: lexeme.span };
        Ok(self.cx.conclude(rule!("RELAY.PARAM"), param))
    }
}
