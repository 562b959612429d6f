//! The notation of the book's data files.

use ron::extensions::Extensions;

/// The RON dialect of suite files and errata: `Tensor(ndim: 2)` stands for `Tensor((ndim: Some(2)))`. `Some` is
/// optional, except where the value is itself an option.
pub fn ron_options() -> ron::Options {
    ron::Options::default()
        .with_default_extension(Extensions::UNWRAP_VARIANT_NEWTYPES)
        .with_default_extension(Extensions::IMPLICIT_SOME)
}
