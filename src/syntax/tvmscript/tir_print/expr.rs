//! Expressions, buffers and attributes as text.

use super::quote;
use crate::grammar::tir::{Binary, Buffer, Call, Conditional, Expr, Extern, Intrinsic, Region, Var};
use crate::grammar::{AttrValue, Attrs, BinaryOp, DataType, Name, Precedence, PrimExpr};
use crate::judge::with_stack;
use crate::syntax::tvmscript::print::{index_map, non_finite};
use crate::syntax::tvmscript::tir_parse::{Gives, gives};

/// The meaning of a name in scope, if it affects how its uses are written.
#[derive(Clone, PartialEq)]
pub(super) enum NameRole {
    /// The variable of a loop over a range.
    Loop(Expr, Expr),
    /// A buffer with one element that is written as a variable.
    Scalar,
    Other,
}

/// The names in scope, the innermost last.
pub(super) type Declarations = Vec<(Name, NameRole)>;

/// Writes expressions, and records the variables that `T.Let` binds in them, which must be declared before.
#[derive(Default)]
pub(super) struct ExprPrinter<'a> {
    pub scope: &'a [(Name, NameRole)],
    pub lets: Vec<Var>,
}

/// An expression outside of any scope, as in shapes.
fn text(e: &Expr) -> String {
    ExprPrinter::default().expr(e)
}

/// The innermost definition of a name.
pub(super) fn find<'a>(scope: &'a [(Name, NameRole)], name: &Name) -> Option<&'a NameRole> {
    scope.iter().rev().find(|(known, _)| known == name).map(|(_, kind)| kind)
}

impl ExprPrinter<'_> {
    pub fn expr(&mut self, e: &Expr) -> String {
        self.at(e, Precedence::Or)
    }

    fn list(&mut self, es: &[Expr]) -> String {
        es.iter().map(|e| self.expr(e)).collect::<Vec<_>>().join(", ")
    }

    /// The expression as an operand with a precedence of at least `at`.
    fn at(&mut self, e: &Expr, at: Precedence) -> String {
        with_stack(|| {
            let (text, precedence) = self.open(e);
            if precedence < at { format!("({text})") } else { text }
        })
    }

    fn open(&mut self, e: &Expr) -> (String, Precedence) {
        let atom = |text: String| (text, Precedence::Atom);
        match e {
            Expr::Var(var) => atom(var.name.to_string()),
            Expr::Int(value, dtype) => atom(int(*value, *dtype)),
            Expr::Float(bits, dtype) => atom(float(bits.get(), *dtype)),
            Expr::Str(s) => atom(quote(s)),
            Expr::Binary(b) => self.binary(b),
            Expr::Not(a) => (format!("not {}", self.at(a, Precedence::Not)), Precedence::Not),
            Expr::Select(c) => atom(self.choice("Select", c)),
            Expr::IfThenElse(c) => atom(self.choice("if_then_else", c)),
            Expr::Cast(dtype, a) => atom(format!("T.Cast(\"{dtype}\", {})", self.expr(a))),
            Expr::Load(l) => atom(self.element(&l.buffer.name, &l.indices)),
            Expr::Let(l) => {
                let text = format!("T.Let({}, where={{{}: {}}})", self.expr(&l.body), l.var.name, self.expr(&l.value));
                self.lets.push(l.var.clone());
                atom(text)
            }
            Expr::Call(c) => atom(self.call(c)),
            Expr::Extern(c) => atom(self.call_extern(c)),
            Expr::Data(buffer) => atom(format!("{}.data", buffer.name)),
            Expr::Ramp(r) => atom(format!("T.Ramp({}, {}, {})", self.expr(&r.base), self.expr(&r.stride), r.lanes)),
            Expr::Broadcast(value, lanes) => atom(format!("T.Broadcast({}, {lanes})", self.expr(value))),
            Expr::Shuffle(s) => atom(format!("T.Shuffle([{}], [{}])", self.list(&s.vectors), self.list(&s.indices))),
        }
    }

    fn binary(&mut self, b: &Binary) -> (String, Precedence) {
        let infix = if b.op == BinaryOp::Div && b.a.dtype().is_float() {
            Some(("/", Precedence::Product))
        } else {
            b.op.infix()
        };
        let Some((symbol, precedence)) = infix else {
            let name = if b.op == BinaryOp::Div { "Div" } else { b.op.function() };
            return self.function(name, b);
        };
        // Comparisons chain in Python, so both sides need a higher precedence.
        let left = if precedence == Precedence::Comparison { precedence.tighter() } else { precedence };
        let a = match (&b.a, &b.b) {
            // Readers would do arithmetic between two plain numbers.
            (Expr::Int(value, DataType::INT32), Expr::Int(_, DataType::INT32)) => format!("T.int32({value})"),
            (a, _) => self.at(a, left),
        };
        (format!("{a} {symbol} {}", self.at(&b.b, precedence.tighter())), precedence)
    }

    fn function(&mut self, name: &str, b: &Binary) -> (String, Precedence) {
        (format!("T.{name}({}, {})", self.expr(&b.a), self.expr(&b.b)), Precedence::Atom)
    }

    fn choice(&mut self, name: &str, c: &Conditional) -> String {
        let (condition, then, otherwise) = (self.expr(&c.condition), self.expr(&c.then), self.expr(&c.otherwise));
        format!("T.{name}({condition}, {then}, {otherwise})")
    }

    fn call(&mut self, c: &Call) -> String {
        match c.op {
            Intrinsic::Reinterpret => format!("T.reinterpret(\"{}\", {})", c.dtype, self.list(&c.args)),
            op => format!("T.{}({})", op.name(), self.list(&c.args)),
        }
    }

    fn call_extern(&mut self, c: &Extern) -> String {
        let mut args: Vec<String> = c.args.iter().map(|arg| self.expr(arg)).collect();
        let dtype = quote(&c.dtype.to_string());
        if c.of_module {
            if !c.dtype.is_void() {
                args.push(format!("dtype={dtype}"));
            }
            return format!("Module.{}({})", c.op, args.join(", "));
        }
        match gives(&c.op) {
            Some(Gives::First) => args.insert(0, dtype),
            Some(Gives::Last) => args.push(dtype),
            Some(Gives::One(one)) if one != c.dtype => args.push(format!("dtype={dtype}")),
            Some(Gives::One(_) | Gives::Operand(_)) | None => {}
        }
        format!("T.{}({})", c.op, args.join(", "))
    }

    /// `A[i, j]`, or `A` for a scalar.
    pub fn element(&mut self, buffer: &Name, indices: &[Expr]) -> String {
        match indices {
            [Expr::Int(0, DataType::INT32)] if find(self.scope, buffer) == Some(&NameRole::Scalar) => {
                buffer.to_string()
            }
            indices => format!("{buffer}{}", self.indices(indices)),
        }
    }

    /// `[i, j]`, or `[()]` for an element of a buffer without dimensions.
    fn indices(&mut self, indices: &[Expr]) -> String {
        match indices {
            [] => "[()]".into(),
            indices => format!("[{}]", self.list(indices)),
        }
    }

    pub fn region(&mut self, region: &Region) -> String {
        if region.ranges.is_empty() {
            return format!("{}[()]", region.buffer.name);
        }
        let mut ranges = Vec::new();
        for range in &region.ranges {
            let start = self.expr(&range.start);
            ranges.push(match &range.stop {
                None => start,
                Some(stop) => format!("{start}:{}", self.expr(stop)),
            });
        }
        format!("{}[{}]", region.buffer.name, ranges.join(", "))
    }
}

/// An integer. A plain number is an int32.
fn int(value: i64, dtype: DataType) -> String {
    match (dtype, value) {
        (DataType::INT32, value) => value.to_string(),
        (DataType::BOOL, 0) => "T.bool(False)".into(),
        (DataType::BOOL, 1) => "T.bool(True)".into(),
        (DataType::HANDLE, 0) => "T.handle()".into(),
        (dtype, value) => format!("T.{dtype}({value})"),
    }
}

fn float(value: f64, dtype: DataType) -> String {
    non_finite(value).map_or_else(|| format!("T.{dtype}({value:?})"), |word| format!("T.{dtype}(\"{word}\")"))
}

/// A tuple of expressions.
fn tuple(es: &[Expr]) -> String {
    match es {
        [one] => format!("({},)", text(one)),
        es => format!("({})", es.iter().map(text).collect::<Vec<_>>().join(", ")),
    }
}

/// The arguments that describe a buffer, after a possible first one about its origin.
pub(super) fn buffer_arguments(buffer: &Buffer) -> String {
    let mut out = format!("{}, \"{}\"", tuple(&buffer.shape), buffer.dtype);
    if !buffer.strides.is_empty() {
        out.push_str(&format!(", strides={}", tuple(&buffer.strides)));
    }
    if let Some(offset) = &buffer.elem_offset {
        out.push_str(&format!(", elem_offset={}", text(offset)));
    }
    if &*buffer.scope != "global" {
        out.push_str(&format!(", scope={}", quote(&buffer.scope)));
    }
    if let Some(align) = buffer.align {
        out.push_str(&format!(", align={align}"));
    }
    if let Some(factor) = buffer.offset_factor {
        out.push_str(&format!(", offset_factor={factor}"));
    }
    out
}

pub(super) fn attrs(attrs: &Attrs) -> String {
    let items: Vec<String> = attrs.iter().map(|(k, v)| format!("{}: {}", quote(k), attr(v))).collect();
    format!("{{{}}}", items.join(", "))
}

fn attr(value: &AttrValue) -> String {
    match value {
        AttrValue::None => "None".into(),
        AttrValue::Bool(b) => if *b { "True" } else { "False" }.into(),
        AttrValue::Int(i) => i.to_string(),
        AttrValue::Float(bits) if bits.get().is_finite() => format!("{:?}", bits.get()),
        AttrValue::Float(bits) => float(bits.get(), DataType::FLOAT64),
        AttrValue::Str(s) => quote(s),
        AttrValue::DataType(dtype) => quote(&dtype.to_string()),
        AttrValue::Prim(PrimExpr::Var(name)) => name.to_string(),
        AttrValue::Prim(e) => quote(&e.to_string()),
        AttrValue::List(list) => format!("[{}]", list.iter().map(attr).collect::<Vec<_>>().join(", ")),
        AttrValue::Dict(dict) => attrs(dict),
        AttrValue::StructInfo(s) => quote(&s.to_string()),
        AttrValue::IndexMap(map) => index_map(map),
        AttrValue::Made(made) => {
            let args = made.args.iter().map(attr);
            let named = made.named.iter().map(|(name, value)| format!("{name}={}", attr(value)));
            format!("{}({})", made.name, args.chain(named).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Calls `visit` on the variables of an expression, left to right.
pub(super) fn for_each_var<'a>(e: &'a Expr, visit: &mut impl FnMut(&'a Var)) {
    let mut stack = vec![e];
    while let Some(e) = stack.pop() {
        match e {
            Expr::Var(var) => visit(var),
            Expr::Int(..) | Expr::Float(..) | Expr::Str(_) | Expr::Data(_) => {}
            Expr::Binary(b) => stack.extend([&b.b, &b.a]),
            Expr::Not(a) | Expr::Cast(_, a) => stack.push(a),
            Expr::Select(c) | Expr::IfThenElse(c) => stack.extend([&c.otherwise, &c.then, &c.condition]),
            Expr::Load(l) => stack.extend(l.indices.iter().rev()),
            Expr::Let(l) => stack.extend([&l.body, &l.value]),
            Expr::Call(c) => stack.extend(c.args.iter().rev()),
            Expr::Extern(c) => stack.extend(c.args.iter().rev()),
            Expr::Ramp(r) => stack.extend([&r.stride, &r.base]),
            Expr::Broadcast(value, _) => stack.push(value),
            Expr::Shuffle(s) => stack.extend(s.indices.iter().chain(&s.vectors)),
        }
    }
}
