//! Enumerations whose kinds have names.

/// An enumeration, a row for each kind: what it means, and its name in files and for people.
macro_rules! named {
    ($(#[$meta:meta])* enum $type:ident { $($(#[$doc:meta])* $kind:ident = $name:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $type { $($(#[$doc])* $kind,)+ }

        impl $type {
            /// All of them.
            pub const ALL: &'static [$type] = &[$($type::$kind,)+];

            /// The name.
            pub fn name(self) -> &'static str {
                match self { $($type::$kind => $name,)+ }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}
