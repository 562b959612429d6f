//! Buffers and their regions.

use std::rc::Rc;

use ruff_python_ast as py;

use super::args::{TirCallArguments, elements, t_call, t_name};
use super::{ParseResult, ParsedName, Parser};
use crate::grammar::tir::{Buffer, Expr, MatchRegion, Range, Region};
use crate::grammar::{DataType, Name, Span};

/// The names of the arguments that describe a buffer, in the order of their positions.
pub(super) type BufferArgumentNames = [&'static str; 12];

/// `T.Buffer(..)`, `T.alloc_buffer(..)` and `T.decl_buffer(..)`.
pub(super) const BUFFER: BufferArgumentNames = [
    "shape",
    "dtype",
    "data",
    "strides",
    "elem_offset",
    "byte_offset",
    "scope",
    "align",
    "offset_factor",
    "buffer_type",
    "axis_separators",
    "layout",
];

/// `T.match_buffer(..)`.
pub(super) const MATCH: BufferArgumentNames = [
    "param",
    "shape",
    "dtype",
    "data",
    "strides",
    "elem_offset",
    "scope",
    "align",
    "offset_factor",
    "buffer_type",
    "axis_separators",
    "layout",
];

/// `T.sblock_alloc_buffer(..)`.
pub(super) const BLOCK_ALLOC: BufferArgumentNames = [
    "shape",
    "dtype",
    "data",
    "strides",
    "elem_offset",
    "scope",
    "align",
    "offset_factor",
    "buffer_type",
    "axis_separators",
    "layout",
    "allocated_addr",
];

impl Parser<'_> {
    /// A buffer from the arguments of its call.
    pub(super) fn buffer(
        &mut self,
        name: &Name,
        span: Span,
        args: &TirCallArguments,
        layout: &BufferArgumentNames,
    ) -> ParseResult<Buffer> {
        // Annotations are for compilers.
        let known: Vec<&str> = layout.iter().copied().chain(["annotations"]).collect();
        if let Some(keyword) = args.unknown_keyword(&known) {
            return self.error(keyword, "this is not an argument of a buffer");
        }
        if let Some(extra) = args.positional().get(layout.len()) {
            return self.error(extra, "more arguments than a buffer has");
        }
        let get = |key: &str| layout.iter().position(|k| *k == key).and_then(|i| args.get(key, i));
        // The separators of axes in memory are for compilers, like annotations.
        for key in ["buffer_type", "byte_offset"] {
            if let Some(e) = get(key).filter(|e| !is_default(e)) {
                return self.error(e, format!("`{key}` of a buffer is not supported"));
            }
        }
        let Some(shape) = get("shape") else {
            return Err(crate::grammar::source::SyntaxError::at(self.text, span, "expected the shape of the buffer"));
        };
        let dtype = get("dtype").map_or(Ok(DataType::FLOAT32), |e| self.dtype(e))?;
        let shape = self.exprs(shape)?;
        // Strides with unknown names have the datatype of the dimensions.
        self.implicit = self.implicit.map(|default| shape.first().map_or(default, Expr::dtype));
        Ok(Buffer {
            name: name.clone(),
            dtype,
            shape,
            strides: get("strides").filter(|e| !is_default(e)).map_or(Ok(Vec::new()), |e| self.exprs(e))?,
            elem_offset: get("elem_offset").filter(|e| !is_default(e)).map(|e| self.dimension(e)).transpose()?,
            scope: get("scope").map_or(Ok("global".into()), |e| self.string(e))?,
            align: get("align").map(|e| self.integer(e)).transpose()?.filter(|align| *align > 0),
            offset_factor: get("offset_factor").map(|e| self.integer(e)).transpose()?.filter(|factor| *factor != 0),
            span,
        })
    }

    /// The dimensions of a shape.
    fn exprs(&mut self, shape: &py::Expr) -> ParseResult<Vec<Expr>> {
        elements(shape).iter().map(|e| self.dimension(e)).collect()
    }

    /// A dimension: an expression, or a string that contains one.
    fn dimension(&mut self, e: &py::Expr) -> ParseResult<Expr> {
        let py::Expr::StringLiteral(quoted) = e else { return self.expr(e) };
        let span = self.span(quoted.range);
        let parsed = match ruff_python_parser::parse_expression(quoted.value.to_str()) {
            Ok(parsed) => parsed,
            Err(error) => return self.error(e, format!("this string is not an expression: {}", error.error)),
        };
        let before = self.quoted.replace(span);
        let result = self.expr(parsed.expr());
        self.quoted = before;
        result
    }

    /// `name = T.alloc_buffer(..)` and its variants; defines the buffer.
    pub(super) fn alloc(&mut self, target: &py::ExprName, call: &py::ExprCall) -> ParseResult<Buffer> {
        let args = TirCallArguments::new(self, call)?;
        let (layout, scope) = match t_name(&call.func) {
            Some("sblock_alloc_buffer") => (&BLOCK_ALLOC, None),
            Some("alloc_local") => (&BUFFER, Some("local")),
            Some("alloc_shared") => (&BUFFER, Some("shared")),
            Some(_) | None => (&BUFFER, None),
        };
        let (name, span) = (Name::from(target.id.as_str()), self.span(target.range));
        let mut buffer = self.buffer(&name, span, &args, layout)?;
        if let Some(scope) = scope {
            buffer.scope = scope.into();
        }
        self.define(&name, ParsedName::Buffer(Rc::new(buffer.clone())));
        Ok(buffer)
    }

    /// `name = T.match_buffer(region, ..)` in a block.
    pub(super) fn match_region(&mut self, target: &py::ExprName, call: &py::ExprCall) -> ParseResult<MatchRegion> {
        let args = TirCallArguments::new(self, call)?;
        let Some(source) = args.get("param", 0) else {
            return self.error(call, "expected a part of a buffer");
        };
        let source = self.region(source)?;
        let (name, span) = (Name::from(target.id.as_str()), self.span(target.range));
        let buffer = self.implicitly(|p| p.buffer(&name, span, &args, &MATCH))?;
        self.define(&name, ParsedName::Buffer(Rc::new(buffer.clone())));
        Ok(MatchRegion { buffer, source })
    }

    /// The arguments of `T.reads` and `T.writes`: regions, perhaps in one list.
    pub(super) fn regions(&mut self, call: &py::ExprCall) -> ParseResult<Vec<Region>> {
        let args = match call.arguments.args.as_ref() {
            [list @ (py::Expr::List(_) | py::Expr::Tuple(_))] => elements(list),
            args => args,
        };
        args.iter().map(|e| self.region(e)).collect()
    }

    /// `A[i, j:j + 4]`, or a whole buffer `A`.
    pub(super) fn region(&mut self, e: &py::Expr) -> ParseResult<Region> {
        match e {
            py::Expr::Subscript(subscript) => {
                let buffer = self.buffer_use(&subscript.value)?;
                let ranges = elements(&subscript.slice).iter().map(|e| self.range(e)).collect::<ParseResult<_>>()?;
                Ok(Region { buffer: buffer.var(self.span(subscript.range)), ranges })
            }
            _ => {
                let buffer = self.buffer_use(e)?;
                let whole = |extent: &Expr| Range { start: Expr::Int(0, extent.dtype()), stop: Some(extent.clone()) };
                let ranges = buffer.shape.iter().map(whole).collect();
                Ok(Region { buffer: buffer.var(self.span(ruff_text_size::Ranged::range(e))), ranges })
            }
        }
    }

    fn range(&mut self, e: &py::Expr) -> ParseResult<Range> {
        let py::Expr::Slice(slice) = e else {
            return Ok(Range { start: self.expr(e)?, stop: None });
        };
        match (&slice.lower, &slice.upper, &slice.step) {
            (Some(lower), Some(upper), None) => {
                let (start, stop) = self.pair(lower, upper)?;
                Ok(Range { start, stop: Some(stop) })
            }
            _ => self.error(slice, "expected a range `start:stop`"),
        }
    }

    /// The buffer that an expression names.
    pub(super) fn buffer_use(&self, e: &py::Expr) -> ParseResult<Rc<Buffer>> {
        let py::Expr::Name(name) = e else { return self.error(e, "expected the name of a buffer") };
        match self.lookup(&name.id) {
            Some(ParsedName::Buffer(buffer)) => Ok(Rc::clone(buffer)),
            Some(ParsedName::Var(_) | ParsedName::Loop(..) | ParsedName::Meta(_)) => {
                self.error(e, format!("`{}` is not a buffer", name.id))
            }
            Some(ParsedName::Handle(_)) => self.error(e, format!("no buffer is matched with `{}`", name.id)),
            None => self.error(e, format!("no buffer `{}` is defined here", name.id)),
        }
    }
}

/// Whether an argument has the default value.
fn is_default(e: &py::Expr) -> bool {
    match e {
        py::Expr::NoneLiteral(_) => true,
        py::Expr::StringLiteral(s) => matches!(s.value.to_str(), "" | "default"),
        py::Expr::List(l) => l.elts.is_empty(),
        py::Expr::Tuple(t) => t.elts.is_empty(),
        _ => t_call(e).is_some_and(|(name, _)| name == "void"),
    }
}
