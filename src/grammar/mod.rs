//! The abstract syntax of Relax (chapter Grammar), with the constructs of its next revision as the
//! conflicts table resolves them (C01 `sinfo_args`, C02 TIR data types, C04 immediates).
//!
//! An AST is plain data: nothing is checked here. Ill-formed programs are deliberately representable, so that
//! [`crate::well_formed`] can report which criterion they break.
//!
//! Conventions: composite expressions are behind [`std::sync::Arc`] and cheap to clone. Every node that a diagnostic
//! may refer to has a [`Span`], which equality, hashing and serialization ignore.

mod attr_text;
mod attrs;
pub mod device;
mod dtype;
mod expr;
mod instead;
mod kinds;
mod module;
pub mod notation;
mod prim_expr;
mod ranked;
mod replace;
mod same;
mod signature;
pub mod source;
mod struct_info;
mod tensor_data;
pub mod tir;
mod ty;
mod var;
mod visible;
pub mod visit;
pub mod width;
mod words;

pub use attrs::{AttrValue, Attrs, FloatBits, IndexMap, ObjectCall};
pub use device::{Target, VDevice};
pub use dtype::{DataType, DataTypeError, SmallFloat, TypeCode};
pub use expr::{
    Binder, Binding, BindingBlock, BlockKind, Call, Constant, DataTypeImm, Expr, ExternFunc, Function, GlobalVar, If,
    MatchCast, Op, PrimValue, SeqExpr, ShapeExpr, StringImm, Tuple, TupleGetItem, VarBinding, VarKind,
};
pub(crate) use kinds::kinds;
pub use module::{EDITION_ATTR, FORMAT_VERSION, GlobalFunc, IrModule, StatedEditionError, stated_edition};
pub use prim_expr::{BinaryOp, Precedence, PrimExpr};
pub use ranked::Ranks;
pub use replace::Replacement;
pub use struct_info::{
    DeriveFunc, FuncStructInfo, Ndim, PrimStructInfo, ShapeStructInfo, StructInfo, TensorShape, TensorStructInfo,
};
pub use tensor_data::{TensorData, TensorDataError};
pub use ty::{DynTensorType, FuncType, PrimType, ShapeType, Type};
pub use var::{Name, ShapeVar, Span, Var};
pub use visible::{is_hidden, one_line, visible, visible_json};
pub use words::in_words;
