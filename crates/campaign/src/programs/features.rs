//! The features of programs. Each program has only some of them, so that rare ones often occur together.

use crate::generate::Tape;

/// A row for each feature, with its meaning.
macro_rules! features {
    ($($(#[$doc:meta])* $name:ident;)+) => {
        /// The features that a program may have.
        #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
        pub struct Features {
            $($(#[$doc])* pub $name: bool,)+
        }

        impl Features {
            /// Everything.
            pub const ALL: Features = Features { $($name: true,)+ };
            /// The names of the features.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),+];

            /// Each feature with probability one half; none on an exhausted tape.
            pub fn draw(tape: &mut Tape) -> Features {
                Features { $($name: tape.one_in(2),)+ }
            }

            /// The features of both.
            pub fn and(self, other: Features) -> Features {
                Features { $($name: self.$name && other.$name,)+ }
            }

            /// Removes a feature by its name; false if there is none.
            pub fn without(&mut self, name: &str) -> bool {
                match name {
                    $(stringify!($name) => self.$name = false,)+
                    _ => return false,
                }
                true
            }

            /// The names of its features.
            pub fn names(self) -> Vec<&'static str> {
                let mut names = Vec::new();
                $(if self.$name { names.push(stringify!($name)); })+
                names
            }
        }
    };
}

features! {
    /// `DataflowBlock`s.
    dataflow;
    /// Operands that normal form does not allow: calls, tuples and sequences as arguments.
    nested;
    /// Sizes that are variables.
    symbolic;
    /// Sums and products of sizes, in signatures too.
    arithmetic;
    /// Impure functions: packed calls that log, mutate, print and assert.
    effects;
    /// Packed calls that are pure.
    packed;
    /// Tuples, and their fields.
    tuples;
    /// Shapes as values.
    shapes;
    /// `MatchCast`.
    casts;
    /// `If`.
    branches;
    /// Local functions.
    closures;
    /// Functions passed to functions.
    higher_order;
    /// Functions that call themselves.
    recursion;
    /// Other global functions and their calls.
    globals;
    /// Several functions that can be started from outside.
    entries;
    /// `PrimFunc`s and `call_tir`.
    prim_funcs;
    /// `call_tir_inplace` and `call_inplace_packed`.
    in_place;
    /// Constants.
    constants;
    /// Annotations on bindings.
    annotations;
    /// Several variables with the same name.
    shadowing;
    /// Blocks without bindings, and bindings of plain variables.
    odd_blocks;
    /// Function attributes.
    attributes;
    /// Calls of only a few operators.
    few_operators;
    /// Data types other than float32.
    data_types;
    /// Calls that fail, or may fail, in places that not every run reaches.
    failures;
}
