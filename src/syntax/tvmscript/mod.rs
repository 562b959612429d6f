//! TVMScript: Relax modules as Python text.
//!
//! [`parse_module`] reads the dialects of TVM 0.25 (`sinfo_args`, `R.Object`) and 0.27 (`ty_args`, `R.Any`), and the
//! older spellings of the design documents (`R.Tensor[(n, k), "f32"]`, `R.match_shape`, `R.outputs`). Reading does not
//! compute or check anything (`GRAM.AST-IS-DATA`). A name without a binding stays a free variable, and a nested call
//! stays nested. Well-formedness reports such errors.
//!
//! Nothing is added to the text, with these exceptions, which follow from the notation:
//! * Consecutive bindings outside `with R.dataflow()` are one `BindingBlock`. Bodies and branches are `SeqExpr`s.
//! * The value of a branch is the value of its last statement, and its variable is that of the `If`.
//! * A global function that is not private has the attribute `global_symbol`.
//! * A recursive function, or a local one, without a stated purity is pure if it makes only pure calls. `pure=None`
//!   leaves it open.

mod apart;
mod guard;
mod metadata;
mod print;
mod read;
pub mod tir_parse;
pub mod tir_print;
mod unstated;

pub use apart::take_metadata;
pub use print::{print_module, print_module_with};
pub use read::{PythonFile, Which, parse_file, parse_file_with, parse_module, parse_module_all, parse_module_in};
pub(in crate::syntax) use read::{PythonParam, dps_output, names_dtype, signature, whole_output};
pub(in crate::syntax) use unstated::{Silent, say_pure};

use crate::book::Edition;

/// The version of TVM whose spelling is used.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Dialect {
    /// 0.25.
    #[default]
    Tvm025,
    /// 0.27.
    Tvm027,
}

impl Dialect {
    /// The edition that the implementation with this dialect claims to follow.
    pub fn claimed_edition(self) -> Edition {
        match self {
            Dialect::Tvm025 | Dialect::Tvm027 => Edition::E2024_04,
        }
    }
}

#[cfg(test)]
mod tests;
