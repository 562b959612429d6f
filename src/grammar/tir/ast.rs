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
    /// In the order of the arguments.
    pub params: Vec<Param>,
    /// By name, such as `global_symbol`.
    pub attrs: Attrs,
    /// The data type of what it returns, if the text says that it returns anything.
    pub ret: Option<DataType>,
    /// A private function has no global symbol.
    pub private: bool,
    /// Whether the body is schedulable TIR, with blocks.
    pub s_tir: bool,
    /// The buffers that the root block allocates.
    pub allocs: Vec<Buffer>,
    /// The statements, run in order.
    pub body: Vec<Stmt>,
    /// Where it is written.
    pub span: Span,
}

/// A parameter.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Param {
    /// A number, which is passed by value.
    Scalar(Var),
    /// A tensor, matched against a buffer.
    Buffer(Buffer),
    /// An opaque handle that no buffer is matched with.
    Handle(Var),
}

/// A scalar variable; its data type goes along with each use.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Var {
    /// What it is called.
    pub name: Name,
    /// The data type of its values.
    pub dtype: DataType,
    /// Where it is written.
    pub span: Span,
}

/// A use of a buffer; the data type of its elements goes along.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BufferVar {
    /// What the buffer is called.
    pub name: Name,
    /// The data type of its elements.
    pub dtype: DataType,
    /// Where it is written.
    pub span: Span,
}

/// A buffer where it is defined.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Buffer {
    /// What it is called.
    pub name: Name,
    /// The data type of its elements.
    pub dtype: DataType,
    /// The dimensions, outermost first.
    pub shape: Vec<Expr>,
    /// Empty for a compact row-major buffer.
    pub strides: Vec<Expr>,
    /// At which element of its memory it begins; the first if not given.
    pub elem_offset: Option<Expr>,
    /// The kind of memory, such as `global`. It does not change the meaning.
    pub scope: Name,
    /// In bytes; `None` for the default.
    pub align: Option<i64>,
    /// `None` for no requirement.
    pub offset_factor: Option<i64>,
    /// Where it is written.
    pub span: Span,
}

/// A statement.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Stmt {
    /// A counted loop.
    For(Box<For>),
    /// A loop with a condition.
    While(While),
    /// A block with its iteration variables.
    Block(Box<Block>),
    /// A choice between statements.
    If(If),
    /// An element is written.
    Store(Store),
    /// A variable is bound for the rest of the body.
    Let(Let),
    /// A buffer of its own, without values, for the rest of the body.
    Alloc(Buffer),
    /// A buffer on memory that there is.
    Decl(Decl),
    /// A remark about a body.
    Attr(AttrStmt),
    /// A body for many threads.
    LaunchThread(LaunchThread),
    /// A condition that must hold.
    Assert(Assert),
    /// An expression is evaluated for its effect alone.
    Evaluate(Expr),
    /// The innermost loop ends.
    Break,
    /// The innermost loop goes on with its next round.
    Continue,
}

/// A loop over `start..stop`, stepping by `step` (1 if not given).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct For {
    /// What counts.
    pub var: Var,
    /// Its first value.
    pub start: Expr,
    /// The value before which it stops.
    pub stop: Expr,
    /// How far it goes at a time; positive.
    pub step: Option<Expr>,
    /// What a compiler may do with it.
    pub kind: ForKind,
    /// For compilers, by name.
    pub annotations: Attrs,
    /// Run once for each value.
    pub body: Vec<Stmt>,
    /// Where it is written.
    pub span: Span,
}

/// How a compiler may run a loop. The meaning is that of the loop run in order.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum ForKind {
    /// One round after the other.
    #[default]
    Serial,
    /// In several threads.
    Parallel,
    /// In the lanes of a vector.
    Vectorized,
    /// Written out round by round.
    Unroll,
    /// Bound to a thread axis such as `threadIdx.x`.
    ThreadBinding(Name),
}

/// A loop that runs while its condition holds.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct While {
    /// Looked at before each round.
    pub condition: Expr,
    /// Run each time.
    pub body: Vec<Stmt>,
    /// Where it is written.
    pub span: Span,
}

/// A block, with the values its iteration variables take at this place.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Block {
    /// What it is called, for schedules.
    pub name: Name,
    /// Its iteration variables, with the values that they have here.
    pub iters: Vec<Iter>,
    /// The block is left out where this is false.
    pub predicate: Option<Expr>,
    /// `None` if the text does not say.
    pub reads: Option<Vec<Region>>,
    /// What it may write; `None` where it does not say.
    pub writes: Option<Vec<Region>>,
    /// For compilers, by name.
    pub attrs: Attrs,
    /// Buffers of its own.
    pub allocs: Vec<Buffer>,
    /// Names for parts of buffers.
    pub matches: Vec<MatchRegion>,
    /// Run where all reduction variables are at the start of their domains.
    pub init: Option<Vec<Stmt>>,
    /// The statements, run in order.
    pub body: Vec<Stmt>,
    /// Where it is written.
    pub span: Span,
}

/// An iteration variable of a block, its domain `start..stop`, and its value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Iter {
    /// The variable.
    pub var: Var,
    /// What the rounds may do to each other.
    pub kind: IterKind,
    /// Its first value.
    pub start: Expr,
    /// The value before which its domain ends.
    pub stop: Expr,
    /// Its value here.
    pub value: Expr,
    /// Where it is written.
    pub span: Span,
}

/// What the rounds of an iteration variable may do to each other. The meaning is the same for all.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IterKind {
    /// Independent of each other.
    Spatial,
    /// They add up to one result.
    Reduce,
    /// Each goes on from the one before.
    Scan,
    /// Nothing is said.
    Opaque,
}

/// A part of a buffer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Region {
    /// The buffer.
    pub buffer: BufferVar,
    /// A range for each dimension, outermost first.
    pub ranges: Vec<Range>,
}

/// `start..stop`, or the single index `start`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Range {
    /// The first index.
    pub start: Expr,
    /// The index before which it ends; `None` for a single one.
    pub stop: Option<Expr>,
}

/// A buffer that is a part of another one; variables in its strides and offset are bound by matching.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MatchRegion {
    /// The new name, with shape, strides and offset.
    pub buffer: Buffer,
    /// The part that it names.
    pub source: Region,
}

/// A choice between statements.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct If {
    /// What decides.
    pub condition: Expr,
    /// Run if it holds.
    pub then: Vec<Stmt>,
    /// Run if it does not.
    pub otherwise: Vec<Stmt>,
    /// Where it is written.
    pub span: Span,
}

/// `buffer[indices] = value`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Store {
    /// Where the element is.
    pub buffer: BufferVar,
    /// An index for each dimension, outermost first.
    pub indices: Vec<Expr>,
    /// What is written.
    pub value: Expr,
    /// Where it is written.
    pub span: Span,
}

/// An immutable variable.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Let {
    /// The variable.
    pub var: Var,
    /// What it is bound to.
    pub value: Expr,
    /// Where it is written.
    pub span: Span,
}

/// Another view of the memory of the buffer `data`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Decl {
    /// The view, with its own shape and data type.
    pub buffer: Buffer,
    /// The buffer whose memory it shows.
    pub data: BufferVar,
}

/// A remark to compilers about its body.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct AttrStmt {
    /// What the remark is about.
    pub node: Expr,
    /// What kind of remark it is.
    pub key: Name,
    /// What it says.
    pub value: Expr,
    /// The statements, run in order.
    pub body: Vec<Stmt>,
    /// Where it is written.
    pub span: Span,
}

/// A body that threads run, `var` of them along an axis; here one after the other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LaunchThread {
    /// The number of the thread along the axis.
    pub var: Var,
    /// The axis, such as `threadIdx.x`.
    pub thread: Name,
    /// How many threads there are.
    pub extent: Expr,
    /// Run once for each thread.
    pub body: Vec<Stmt>,
    /// Where it is written.
    pub span: Span,
}

/// A condition that must hold; if it does not, the function ends with an error.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Assert {
    /// What must hold.
    pub condition: Expr,
    /// The Python exception that reports a failure.
    pub kind: Name,
    /// The pieces of the message.
    pub message: Vec<Name>,
    /// Where it is written.
    pub span: Span,
}

/// An expression.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Expr {
    /// A scalar variable.
    Var(Var),
    /// An integer or, with data type `bool`, 0 or 1.
    Int(i64, DataType),
    /// A float of a data type, by its bits as `float64`.
    Float(FloatBits, DataType),
    /// A string, for remarks and messages.
    Str(Name),
    /// An operator with two operands.
    Binary(Box<Binary>),
    /// Not: of Booleans.
    Not(Box<Expr>),
    /// Only the chosen side is evaluated, as in `IfThenElse`; compilers may evaluate both where that is safe.
    Select(Box<Conditional>),
    /// A choice between expressions, of which only one is evaluated.
    IfThenElse(Box<Conditional>),
    /// The value in another data type.
    Cast(DataType, Box<Expr>),
    /// An element of a buffer, or a vector of them.
    Load(Load),
    /// A variable in one expression.
    Let(Box<LetExpr>),
    /// A call of a function that is known here.
    Call(Call),
    /// A call of a function that is not.
    Extern(Extern),
    /// The handle of a buffer's memory.
    Data(BufferVar),
    /// A vector of numbers that are evenly spaced.
    Ramp(Box<Ramp>),
    /// One value in that many lanes.
    Broadcast(Box<Expr>, u16),
    /// A vector made of lanes of others.
    Shuffle(Shuffle),
}

/// The vector `base, base + stride, ..` of that many lanes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Ramp {
    /// The first lane.
    pub base: Expr,
    /// What each lane is more than the one before.
    pub stride: Expr,
    /// How many there are.
    pub lanes: u16,
}

/// A vector of lanes picked out of those of the vectors, one after the other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Shuffle {
    /// Where the lanes come from.
    pub vectors: Vec<Expr>,
    /// Which of them, counted through all vectors.
    pub indices: Vec<Expr>,
    /// Where it is written.
    pub span: Span,
}

/// An operator with two operands of one data type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Binary {
    /// The operator.
    pub op: BinaryOp,
    /// The first operand.
    pub a: Expr,
    /// The second.
    pub b: Expr,
    /// Where it is written.
    pub span: Span,
}

/// A choice between expressions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Conditional {
    /// What decides.
    pub condition: Expr,
    /// The value if it holds.
    pub then: Expr,
    /// The value if it does not.
    pub otherwise: Expr,
}

/// `buffer[indices]`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Load {
    /// Where the element is.
    pub buffer: BufferVar,
    /// An index for each dimension, outermost first.
    pub indices: Vec<Expr>,
    /// Where it is written.
    pub span: Span,
}

/// A variable that is bound in one expression only.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LetExpr {
    /// The variable.
    pub var: Var,
    /// What it is bound to.
    pub value: Expr,
    /// What sees it, and gives the value.
    pub body: Expr,
}

/// A call of a function whose meaning is known.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Call {
    /// What is called.
    pub op: Intrinsic,
    /// The data type of the result.
    pub dtype: DataType,
    /// From left to right.
    pub args: Vec<Expr>,
    /// Where it is written.
    pub span: Span,
}

/// A call of anything else, spelled `T.op(args)`, or `Module.op(args)` if it is a function of the module.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Extern {
    /// What is called, as after `T.`.
    pub op: Name,
    /// Whether it is a function of the module.
    pub of_module: bool,
    /// The data type of its result.
    pub dtype: DataType,
    /// From left to right.
    pub args: Vec<Expr>,
    /// Where it is written.
    pub span: Span,
}

fn global_scope() -> Name {
    "global".into()
}

impl Var {
    /// The variable of this name and data type, written nowhere.
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
    /// A Boolean literal.
    pub fn bool(value: bool) -> Expr {
        Expr::Int(i64::from(value), DataType::BOOL)
    }

    /// A float literal of a data type.
    pub fn float(value: f64, dtype: DataType) -> Expr {
        Expr::Float(FloatBits::new(value), dtype)
    }

    /// An operator with two operands.
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
