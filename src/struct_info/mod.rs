//! Structural information (chapters Structural Information, Checking Compatibility, Ordering and Unification).

pub mod annotation;
mod apart;
pub mod axioms;
pub mod closed;
pub mod compatibility;
pub mod derive_func;
pub mod erase_to_well_defined;
mod kinds;
pub mod mapping;
pub mod order;
mod overlap;
mod own;
mod prim_func;
mod prim_purity;
mod same_shape;
pub mod substitute;
pub mod surroundings;
mod syntactic;
pub mod unify;
pub mod wrap;

pub use closed::{Shown, chosen_anew, closed, shown};
pub use compatibility::{check_compatibility, check_compatibility_in};
pub use derive_func::{default_derive, empty_derive};
pub use erase_to_well_defined::erase_to_well_defined;
pub(crate) use mapping::names_among;
pub use mapping::{Mapping, get_shape_var_mapping, introduced_shape_vars, united_mapping};
pub use order::{Relation, is_more_specific, is_more_specific_in, is_possibly_more_specific};
pub use overlap::may_overlap;
pub use prim_func::info_of_prim_func;
pub(crate) use prim_func::returned_datatype;
pub use same_shape::seen_through;
pub(crate) use substitute::replace_everywhere;
pub use substitute::substitute;
pub use surroundings::{InScope, Nowhere, Surroundings};
pub use unify::{unify_struct_info, unify_struct_info_in};
pub use wrap::wrap_type;
