//! Enums that know all their variants, so that no list of them can be incomplete.

/// Declares an enum of plain variants together with `ALL`, in order of declaration.
macro_rules! listed {
    (
        $(#[$outer:meta])*
        pub enum $name:ident {
            $($(#[$inner:meta])* $variant:ident,)+
        }
    ) => {
        $(#[$outer])*
        pub enum $name {
            $($(#[$inner])* $variant,)+
        }

        impl $name {
            /// All of them, in order of declaration.
            pub const ALL: [Self; [$(stringify!($variant)),+].len()] = [$(Self::$variant),+];
        }
    };
}

pub(crate) use listed;
