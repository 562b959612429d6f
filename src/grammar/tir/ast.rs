//! The abstract syntax of `PrimFunc`s.
//!
//! Names are resolved lexically: a use means the innermost definition of its name that is in scope. A definition in a
//! sequence of statements (`Let`, `Alloc`, `Decl`) is in scope until the end of the sequence. Buffer shapes of
//! parameters bring the variables in them that are not parameters into scope; matching the arguments binds those.

use super::Intrinsic;
use crate::grammar::{Attrs, BinaryOp, DataType, FloatBits, Name, Span};

/// A TIR function.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct PrimFunc {
    pub params: Vec<Param>,
    pub attrs: Attrs,
    /// A private function has no global symbol.
    pub private: bool,
    /// Whether the body is schedulable TIR, with blocks.
    pub s_tir: bool,
    /// The buffers that the root block allocates.
    pub allocs: Vec<Buffer>,
    pub body: Vec<Stmt>,
    pub span: Span,
}

/// A parameter.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Param {
    Scalar(Var),
    /// A tensor, matched against a buffer.
    Buffer(Buffer),
    /// An opaque handle that no buffer is matched with.
    Handle(Var),
}

/// A scalar variable; its data type goes along with each use.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Var {
    pub name: Name,
    pub dtype: DataType,
    pub span: Span,
}

/// A use of a buffer; the data type of its elements goes along.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BufferVar {
    pub name: Name,
    pub dtype: DataType,
    pub span: Span,
}

/// A buffer where it is defined.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Buffer {
    pub name: Name,
    pub dtype: DataType,
    pub shape: Vec<Expr>,
    /// Empty for a compact row-major buffer.
    pub strides: Vec<Expr>,
    pub elem_offset: Option<Expr>,
    pub scope: Name,
    /// In bytes; `None` for the default.
    pub align: Option<i64>,
    /// `None` for no requirement.
    pub offset_factor: Option<i64>,
    pub span: Span,
}

/// A statement.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Stmt {
    For(Box<For>),
    While(While),
    Block(Box<Block>),
    If(If),
    Store(Store),
    Let(Let),
    Alloc(Buffer),
    Decl(Decl),
    Attr(AttrStmt),
    LaunchThread(LaunchThread),
    Assert(Assert),
    Evaluate(Expr),
    Break,
    Continue,
}

/// A loop over `start..stop`, stepping by `step` (1 if not given).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct For {
    pub var: Var,
    pub start: Expr,
    pub stop: Expr,
    pub step: Option<Expr>,
    pub kind: ForKind,
    pub annotations: Attrs,
    pub body: Vec<Stmt>,
    pub span: Span,
}

/// How a compiler may run a loop. The meaning is that of the loop run in order.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum ForKind {
    #[default]
    Serial,
    Parallel,
    Vectorized,
    Unroll,
    /// Bound to a thread axis such as `threadIdx.x`.
    ThreadBinding(Name),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct While {
    pub condition: Expr,
    pub body: Vec<Stmt>,
    pub span: Span,
}

/// A block, with the values its iteration variables take at this place.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Block {
    pub name: Name,
    pub iters: Vec<Iter>,
    /// The block is left out where this is false.
    pub predicate: Option<Expr>,
    /// `None` if the text does not say.
    pub reads: Option<Vec<Region>>,
    pub writes: Option<Vec<Region>>,
    pub attrs: Attrs,
    pub allocs: Vec<Buffer>,
    pub matches: Vec<MatchRegion>,
    /// Run where all reduction variables are at the start of their domains.
    pub init: Option<Vec<Stmt>>,
    pub body: Vec<Stmt>,
    pub span: Span,
}

/// An iteration variable of a block, its domain `start..stop`, and its value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Iter {
    pub var: Var,
    pub kind: IterKind,
    pub start: Expr,
    pub stop: Expr,
    pub value: Expr,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IterKind {
    Spatial,
    Reduce,
    Scan,
    Opaque,
}

/// A part of a buffer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Region {
    pub buffer: BufferVar,
    pub ranges: Vec<Range>,
}

/// `start..stop`, or the single index `start`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Range {
    pub start: Expr,
    pub stop: Option<Expr>,
}

/// A buffer that is a part of another one; variables in its strides and offset are bound by matching.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MatchRegion {
    pub buffer: Buffer,
    pub source: Region,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct If {
    pub condition: Expr,
    pub then: Vec<Stmt>,
    pub otherwise: Vec<Stmt>,
    pub span: Span,
}

/// `buffer[indices] = value`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Store {
    pub buffer: BufferVar,
    pub indices: Vec<Expr>,
    pub value: Expr,
    pub span: Span,
}

/// An immutable variable.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Let {
    pub var: Var,
    pub value: Expr,
    pub span: Span,
}

/// Another view of the memory of the buffer `data`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Decl {
    pub buffer: Buffer,
    pub data: BufferVar,
}

/// A remark to compilers about its body.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct AttrStmt {
    pub node: Expr,
    pub key: Name,
    pub value: Expr,
    pub body: Vec<Stmt>,
    pub span: Span,
}

/// A body that threads run, `var` of them along an axis; here one after the other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LaunchThread {
    pub var: Var,
    pub thread: Name,
    pub extent: Expr,
    pub body: Vec<Stmt>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Assert {
    pub condition: Expr,
    /// The Python exception that reports a failure.
    pub kind: Name,
    /// The pieces of the message.
    pub message: Vec<Name>,
    pub span: Span,
}

/// An expression.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Expr {
    Var(Var),
    /// An integer or, with data type `bool`, 0 or 1.
    Int(i64, DataType),
    Float(FloatBits, DataType),
    Str(Name),
    Binary(Box<Binary>),
    Not(Box<Expr>),
    /// Only the chosen side is evaluated, as in `IfThenElse`; compilers may evaluate both where that is safe.
    Select(Box<Choice>),
    IfThenElse(Box<Choice>),
    Cast(DataType, Box<Expr>),
    Load(Load),
    Let(Box<LetExpr>),
    Call(Call),
    Extern(Extern),
    /// The handle of a buffer's memory.
    Data(BufferVar),
    Ramp(Box<Ramp>),
    /// One value in that many lanes.
    Broadcast(Box<Expr>, u16),
    Shuffle(Shuffle),
}

/// The vector `base, base + stride, ..` of that many lanes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Ramp {
    pub base: Expr,
    pub stride: Expr,
    pub lanes: u16,
}

/// A vector of lanes picked out of those of the vectors, one after the other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Shuffle {
    pub vectors: Vec<Expr>,
    pub indices: Vec<Expr>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Binary {
    pub op: BinaryOp,
    pub a: Expr,
    pub b: Expr,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Choice {
    pub condition: Expr,
    pub then: Expr,
    pub otherwise: Expr,
}

/// `buffer[indices]`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Load {
    pub buffer: BufferVar,
    pub indices: Vec<Expr>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LetExpr {
    pub var: Var,
    pub value: Expr,
    pub body: Expr,
}

/// A call of a function whose meaning is known.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Call {
    pub op: Intrinsic,
    /// The data type of the result.
    pub dtype: DataType,
    pub args: Vec<Expr>,
    pub span: Span,
}

/// A call of anything else, spelled `T.op(args)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Extern {
    pub op: Name,
    pub dtype: DataType,
    pub args: Vec<Expr>,
    pub span: Span,
}

fn global_scope() -> Name {
    "global".into()
}

impl Var {
    pub fn new(name: &str, dtype: DataType) -> Var {
        Var { name: name.into(), dtype, span: Span::NONE }
    }
}

impl Buffer {
    /// A compact buffer in global memory.
    pub fn new(name: &str, shape: Vec<Expr>, dtype: DataType) -> Buffer {
        Buffer {
            name: name.into(),
            dtype,
            shape,
            strides: Vec::new(),
            elem_offset: None,
            scope: global_scope(),
            align: None,
            offset_factor: None,
            span: Span::NONE,
        }
    }

    /// A use of the buffer.
    pub fn var(&self, span: Span) -> BufferVar {
        BufferVar { name: self.name.clone(), dtype: self.dtype, span }
    }
}

impl Expr {
    pub fn bool(value: bool) -> Expr {
        Expr::Int(i64::from(value), DataType::BOOL)
    }

    pub fn float(value: f64, dtype: DataType) -> Expr {
        Expr::Float(FloatBits::new(value), dtype)
    }

    pub fn binary(op: BinaryOp, a: Expr, b: Expr, span: Span) -> Expr {
        Expr::Binary(Box::new(Binary { op, a, b, span }))
    }

    /// The data type of the value.
    pub fn dtype(&self) -> DataType {
        // Of the data type of what is looked into, only the number of lanes or all but that may count.
        let (mut e, mut code, mut lanes) = (self, None, None);
        let scalar = loop {
            match e {
                Expr::Var(v) => break v.dtype,
                Expr::Int(_, dtype) | Expr::Float(_, dtype) | Expr::Cast(dtype, _) => break *dtype,
                Expr::Str(_) | Expr::Data(_) => break DataType::HANDLE,
                Expr::Binary(b) => {
                    code = code.or(b.op.is_predicate().then_some(DataType::BOOL));
                    e = &b.a;
                }
                Expr::Not(a) => e = a,
                Expr::Select(c) | Expr::IfThenElse(c) => e = &c.then,
                Expr::Load(l) => break l.dtype(),
                Expr::Let(l) => e = &l.body,
                Expr::Call(c) => break c.dtype,
                Expr::Extern(c) => break c.dtype,
                Expr::Ramp(r) => {
                    lanes = lanes.or(Some(r.lanes));
                    e = &r.base;
                }
                Expr::Broadcast(value, n) => {
                    lanes = lanes.or(Some(*n));
                    e = value;
                }
                Expr::Shuffle(s) => {
                    lanes = lanes.or(u16::try_from(s.indices.len()).ok());
                    match s.vectors.first() {
                        Some(vector) => e = vector,
                        None => break DataType::VOID,
                    }
                }
            }
        };
        let dtype = code.unwrap_or(scalar);
        DataType { lanes: lanes.unwrap_or(scalar.lanes), ..dtype }
    }

    /// Where the expression stands in the text, if it keeps that.
    pub fn span(&self) -> Span {
        match self {
            Expr::Var(v) => v.span,
            Expr::Binary(b) => b.span,
            Expr::Load(l) => l.span,
            Expr::Call(c) => c.span,
            Expr::Extern(c) => c.span,
            Expr::Data(b) => b.span,
            Expr::Not(e) | Expr::Cast(_, e) => e.span(),
            Expr::Select(c) | Expr::IfThenElse(c) => c.condition.span(),
            Expr::Let(l) => l.var.span,
            Expr::Ramp(r) => r.base.span(),
            Expr::Broadcast(value, _) => value.span(),
            Expr::Shuffle(s) => s.span,
            Expr::Int(..) | Expr::Float(..) | Expr::Str(_) => Span::NONE,
        }
    }
}

impl Load {
    /// With as many lanes as the last index has, of which each reads an element.
    fn dtype(&self) -> DataType {
        match lanes(&self.indices) {
            1 => self.buffer.dtype,
            lanes => DataType { lanes, ..self.buffer.dtype },
        }
    }
}

/// How many elements of a buffer the indices stand for.
pub(crate) fn lanes(indices: &[Expr]) -> u16 {
    indices.last().map_or(1, |index| crate::judge::with_stack(|| index.dtype().lanes))
}

impl BinaryOp {
    /// Whether the result is a Boolean.
    pub fn is_predicate(self) -> bool {
        match self {
            BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => true,
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Mod
            | BinaryOp::FloorDiv
            | BinaryOp::FloorMod
            | BinaryOp::Min
            | BinaryOp::Max => false,
        }
    }
}
