//! Types, structural informations, and what is concluded of them.

use std::sync::Arc;

use crate::book::Rule;
use crate::data::DataError;
use crate::derivation::{CallError, Contexts, Fit};
use crate::findings::Severity;
use crate::grammar::{DataType, Ndim, Span, StructInfo, Type};
use crate::judge::{Compatibility, Instead, Proof};
use crate::type_checking::Arity;
use crate::types::Conversion;

/// Nothing is known; of an object, something that is not so.
impl Instead for StructInfo {
    fn instead(self, _: Rule) -> StructInfo {
        match self {
            StructInfo::Object => StructInfo::tuple([]),
            StructInfo::Tensor(_)
            | StructInfo::Shape(_)
            | StructInfo::Prim(_)
            | StructInfo::Tuple(_)
            | StructInfo::Func(_) => StructInfo::Object,
        }
    }
}

/// Nothing is known; of an object, something that is not so.
impl Instead for Type {
    fn instead(self, _: Rule) -> Type {
        match self {
            Type::Object => Type::tuple([]),
            Type::Tensor(_) | Type::Shape(_) | Type::Prim(_) | Type::Tuple(_) | Type::Func(_) | Type::PackedFunc => {
                Type::Object
            }
        }
    }
}

impl Instead for Arc<[Type]> {
    fn instead(self, rule: Rule) -> Arc<[Type]> {
        self.iter().map(|ty| ty.clone().instead(rule)).collect()
    }
}

/// A type where there is none, none where there is one.
impl Instead for Option<Type> {
    fn instead(self, _: Rule) -> Option<Type> {
        match self {
            Some(_) => None,
            None => Some(Type::Object),
        }
    }
}

/// Something is known where nothing is, nothing where something is.
impl Instead for Option<StructInfo> {
    fn instead(self, _: Rule) -> Option<StructInfo> {
        match self {
            Some(_) => None,
            None => Some(StructInfo::Object),
        }
    }
}

/// Nothing is known.
impl<T> Instead for Option<Arc<T>> {
    fn instead(self, _: Rule) -> Self {
        None
    }
}

/// A known rank is lost, an unknown one is that of a scalar.
impl Instead for Ndim {
    fn instead(self, _: Rule) -> Ndim {
        if self.is_unknown() { Ndim::Known(0) } else { Ndim::Unknown }
    }
}

/// A known datatype is lost, an unknown one is float32; of what is allocated it is another one.
impl Instead for DataType {
    fn instead(self, rule: Rule) -> DataType {
        if rule == rule!("OP.CALLTIR.DTYPE") {
            return if self == DataType::FLOAT32 { DataType::INT32 } else { DataType::FLOAT32 };
        }
        if self.is_void() { DataType::FLOAT32 } else { DataType::VOID }
    }
}

/// What fits is refused, and what does not is accepted.
impl Instead for Compatibility {
    fn instead(self, _: Rule) -> Compatibility {
        match self {
            Compatibility::Incompatible => Compatibility::Compatible,
            Compatibility::Compatible | Compatibility::Possibly => Compatibility::Incompatible,
        }
    }
}

/// A wrong proof, and different for undecided.
impl Instead for Proof {
    fn instead(self, _: Rule) -> Proof {
        match self {
            Proof::Different => Proof::Equal,
            Proof::Equal | Proof::Unknown => Proof::Different,
        }
    }
}

/// What needs a cast is converted in silence.
impl Instead for Conversion {
    fn instead(self, _: Rule) -> Conversion {
        match self {
            Conversion::None => Conversion::MatchCast,
            Conversion::MatchCast | Conversion::Unrelated { .. } => Conversion::None,
        }
    }
}

impl Instead for Severity {
    fn instead(self, _: Rule) -> Severity {
        match self {
            Severity::Error => Severity::Warning,
            Severity::Warning => Severity::Error,
            // A limit is no conclusion of a rule.
            Severity::Limit => Severity::Limit,
        }
    }
}

/// Without SI.BESTEFFORT what is undecided is an error; otherwise no one is told of it.
impl Instead for Fit {
    fn instead(self, rule: Rule) -> Fit {
        match (self, rule) {
            (Fit::Perhaps, rule!("SI.BESTEFFORT")) | (Fit::Certainly, _) => Fit::Never,
            (Fit::Perhaps | Fit::Never, _) => Fit::Certainly,
        }
    }
}

/// A rejected call gives an object.
impl Instead for Result<StructInfo, CallError> {
    fn instead(self, rule: Rule) -> Self {
        Ok(self.map_or(StructInfo::Object, |info| info.instead(rule)))
    }
}

/// What does not hold is passed over.
impl Instead for Result<(), CallError> {
    fn instead(self, _: Rule) -> Self {
        Ok(())
    }
}

/// A function literal sees nothing of what is around it.
impl Instead for Contexts<'_> {
    fn instead(self, _: Rule) -> Self {
        Contexts::default()
    }
}

/// What takes any arguments takes none.
impl Instead for Arity {
    fn instead(self, _: Rule) -> Arity {
        match self {
            Arity::Any => Arity::Exactly(0),
            Arity::Exactly(_) => Arity::Any,
        }
    }
}

/// What is built by a production is refused, and what is refused is taken.
impl Instead for Result<(), DataError> {
    fn instead(self, _: Rule) -> Self {
        match self {
            Ok(()) => Err(DataError::at(Span::NONE, "refused without a reason")),
            Err(DataError { .. }) => Ok(()),
        }
    }
}
