//! The syntax of TIR `PrimFunc`s, with its own AST.

mod ast;
mod effect;
mod intrinsic;

pub(crate) use ast::lanes;
pub use ast::{
    Assert, AttrStmt, Binary, Block, Buffer, BufferVar, Call, Conditional, Decl, Expr, Extern, For, ForKind, If, Iter,
    IterKind, LaunchThread, Let, LetExpr, Load, MatchRegion, Param, PrimFunc, Ramp, Range, Region, Shuffle, Stmt,
    Store, Var, While,
};
pub use effect::{CallEffect, effect_of};
pub use intrinsic::{Intrinsic, Signature};
