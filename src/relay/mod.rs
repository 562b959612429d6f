//! Relay (chapter Relay): the predecessor of Relax, and the second source of Relax programs.
//!
//! [`read`] reads text in either notation, and [`print()`] writes it. [`infer`] finds the most general types.
//! [`translate`] makes a Relax module. [`evaluate`] runs a program directly, without translation.

mod environment;
mod eval;
mod fault;
mod infer;
mod instead;
mod locals;
mod operators;
mod print;
mod read;
mod resolve;
mod text;
mod token;
mod translate;
mod tree;
mod types;

pub use environment::Environment;
pub use eval::evaluate;
pub use fault::{RelayFault, located};
pub use infer::{InferredProgram, infer};
pub use print::print;
pub use read::read;
pub use text::{ReadProgram, import, is_relay, resolved, understand};
pub use translate::translate;
pub use tree::{
    Attributes, BaseType, Binding, Call, Definition, Expr, ExprKind, Function, If, Kind, Param, Program, RelayDim,
    RelayNotation, Shape, TensorTypeExpr, TypeExpr, TypeKind, TypeParam,
};
