//! The data form of the contents of `PrimFunc`s.

use super::Node;
use super::reader::{DataReader, DataResult, FromData, Write};
use super::record::{choice, record, word};
use crate::grammar::tir::{
    Assert, AttrStmt, Binary, Block, Buffer, BufferVar, Call, Conditional, Decl, Expr, Extern, For, ForKind, If,
    Intrinsic, Iter, IterKind, LaunchThread, Let, LetExpr, Load, MatchRegion, Param, PrimFunc, Ramp, Range, Region,
    Shuffle, Stmt, Store, Var, While,
};
use crate::grammar::{Attrs, BinaryOp, Name};

record! { PrimFunc, "PrimFunc" by rule!("GRAM.PRIMFUNC"), {
    params: many,
    attrs: unless(Attrs::new()),
    ret: unless(None),
    private: or(false),
    s_tir: or(false),
    allocs: many,
    body: many,
    span: place,
} }

choice! { Param, "a parameter" { Scalar(v), Buffer(b), Handle(v) } }

record! { Var, "Var", { name: one, dtype: one, span: place } }
record! { BufferVar, "BufferVar", { name: one, dtype: one, span: place } }
record! { Buffer, "Buffer", {
    name: one,
    dtype: one,
    shape: many,
    strides: unless(Vec::new()),
    elem_offset: unless(None),
    scope: or(Name::from("global")),
    align: unless(None),
    offset_factor: unless(None),
    span: place,
} }

choice! { Stmt, "a statement" {
    For(s),
    While(s),
    Block(s),
    If(s),
    Store(s),
    Let(s),
    Alloc(b),
    Decl(s),
    Attr(s),
    LaunchThread(s),
    Assert(s),
    Evaluate(e),
    Break,
    Continue,
} }

record! { For, "For", {
    var: one,
    start: one,
    stop: one,
    step: unless(None),
    kind: or(ForKind::Serial),
    annotations: unless(Attrs::new()),
    body: one,
    span: place,
} }

choice! { ForKind, "a kind of loop" { Serial, Parallel, Vectorized, Unroll, ThreadBinding(axis) } }

record! { While, "While", { condition: one, body: one, span: place } }
record! { Block, "Block", {
    name: one,
    iters: many,
    predicate: unless(None),
    reads: unless(None),
    writes: unless(None),
    attrs: unless(Attrs::new()),
    allocs: unless(Vec::new()),
    matches: unless(Vec::new()),
    init: unless(None),
    body: one,
    span: place,
} }
record! { Iter, "Iter", { var: one, kind: one, start: one, stop: one, value: one, span: place } }

word! { IterKind, "a kind of iteration variable" { Spatial, Reduce, Scan, Opaque } }

record! { Region, "Region", { buffer: one, ranges: many } }
record! { Range, "Range", { start: one, stop: unless(None) } }
record! { MatchRegion, "MatchRegion", { buffer: one, source: one } }
record! { If, "If", { condition: one, then: one, otherwise: unless(Vec::new()), span: place } }
record! { Store, "Store", { buffer: one, indices: many, value: one, span: place } }
record! { Let, "Let", { var: one, value: one, span: place } }
record! { Decl, "Decl", { buffer: one, data: one } }
record! { AttrStmt, "AttrStmt", { node: one, key: one, value: one, body: one, span: place } }
record! { LaunchThread, "LaunchThread", { var: one, thread: one, extent: one, body: one, span: place } }
record! { Assert, "Assert", { condition: one, kind: or(Name::from("RuntimeError")), message: many, span: place } }

choice! { Expr, "an expression of TIR" {
    Var(v),
    Int(value, dtype),
    Float(value, dtype),
    Str(s),
    Binary(e),
    Not(e),
    Select(e),
    IfThenElse(e),
    Cast(dtype, e),
    Load(e),
    Let(e),
    Call(e),
    Extern(e),
    Data(b),
    Ramp(e),
    Broadcast(e, lanes),
    Shuffle(e),
} }

record! { Ramp, "Ramp", { base: one, stride: one, lanes: one } }
record! { Shuffle, "Shuffle", { vectors: one, indices: one, span: place } }
record! { Binary, "Binary", { op: one, a: one, b: one, span: place } }
record! { Conditional, "Choice", { condition: one, then: one, otherwise: one } }
record! { Load, "Load", { buffer: one, indices: many, span: place } }
record! { LetExpr, "LetExpr", { var: one, value: one, body: one } }
record! { Call, "Call", { op: one, dtype: one, args: one, span: place } }
record! { Extern, "Extern", { op: one, of_module: or(false), dtype: one, args: many, span: place } }

/// An operator, by the name of its node.
impl FromData for BinaryOp {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<BinaryOp> {
        node.as_text().and_then(BinaryOp::from_name).map_or_else(|| r.unexpected(node, "an operator of TIR"), Ok)
    }
}

impl Write for BinaryOp {
    fn write(&self) -> Node<'_> {
        Node::text(self.name())
    }
}

/// An intrinsic, by its name after `T.`.
impl FromData for Intrinsic {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<Intrinsic> {
        let name = node.as_variant().filter(|(_, content)| content.is_none()).map(|(name, _)| name);
        name.and_then(Intrinsic::from_name).map_or_else(|| r.unexpected(node, "an intrinsic of TIR"), Ok)
    }
}

impl Write for Intrinsic {
    fn write(&self) -> Node<'_> {
        super::NodeData::Variant(self.name().into(), None).into()
    }
}
