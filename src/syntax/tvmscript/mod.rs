//! TVMScript: Relax modules as Python text.
//!
//! [`parse_module`] reads the dialects of TVM 0.25 (`sinfo_args`, `R.Object`) and 0.27 (`ty_args`, `R.Any`), and the
//! older spellings of the design documents (`R.Tensor[(n, k), "f32"]`, `R.match_shape`, `R.outputs`). Reading
//! computes and checks nothing (`GRAM.AST-IS-DATA`): a name that nothing binds stays a free variable, a call inside
//! a call stays nested, and well-formedness reports what is wrong with it.
//!
//! What the text does not say is not invented, with these exceptions, which follow from the notation:
//! * consecutive bindings outside `with R.dataflow()` are one `BindingBlock`; bodies and branches are `SeqExpr`s;
//! * the value of a branch is the value of its last statement, whose variable is the one that the `If` is bound to;
//! * a global function that is not private has the attribute `global_symbol`;
//! * a function that calls itself, and a local one, is pure if it does not say otherwise and makes pure calls only;
//!   `pure=None` leaves it unsaid.

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

/// The version of TVM whose spelling is meant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Dialect {
    /// 0.25.
    #[default]
    Tvm025,
    /// 0.27.
    Tvm027,
}

impl Dialect {
    /// The edition that the implementation claims to follow whose dialect it is.
    pub fn claimed_edition(self) -> Edition {
        match self {
            Dialect::Tvm025 | Dialect::Tvm027 => Edition::E2024_04,
        }
    }
}

#[cfg(test)]
mod tests;
