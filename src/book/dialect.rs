//! How data of the book is written down.

use ron::extensions::Extensions;

/// The dialect of suite files and errata: `Tensor(ndim: 2)` stands for `Tensor((ndim: Some(2)))`. `Some` may be
/// written where that helps, and must be where the value is itself an option.
pub fn ron_options() -> ron::Options {
    ron::Options::default()
        .with_default_extension(Extensions::UNWRAP_VARIANT_NEWTYPES)
        .with_default_extension(Extensions::IMPLICIT_SOME)
}
