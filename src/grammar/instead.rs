//! Replacements for types, structural information and their parts if the rule that concludes them is switched off.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Attrs, Call, DataType, GlobalFunc, IrModule, Name, Ndim, StructInfo, Type};
use crate::book::Rule;
use crate::judge::Instead;

/// Everything becomes an object. An object becomes something else.
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

/// Everything becomes an object. An object becomes something else.
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

/// A type becomes none, and none becomes a type.
impl Instead for Option<Type> {
    fn instead(self, _: Rule) -> Option<Type> {
        match self {
            Some(_) => None,
            None => Some(Type::Object),
        }
    }
}

/// Information becomes none, and none becomes information.
impl Instead for Option<StructInfo> {
    fn instead(self, _: Rule) -> Option<StructInfo> {
        match self {
            Some(_) => None,
            None => Some(StructInfo::Object),
        }
    }
}

/// A known rank becomes unknown, and an unknown rank becomes that of a scalar.
impl Instead for Ndim {
    fn instead(self, _: Rule) -> Ndim {
        if self.is_unknown() { Ndim::Known(0) } else { Ndim::Unknown }
    }
}

/// A known data type becomes unknown, and an unknown one becomes float32. An allocated tensor gets another data type.
impl Instead for DataType {
    fn instead(self, rule: Rule) -> DataType {
        if rule == rule!("OP.CALLTIR.DTYPE") {
            return if self == DataType::FLOAT32 { DataType::INT32 } else { DataType::FLOAT32 };
        }
        if self.is_void() { DataType::FLOAT32 } else { DataType::VOID }
    }
}

/// The call without its attributes.
impl Instead for Cow<'_, Call> {
    fn instead(self, _: Rule) -> Self {
        Cow::Owned(Call { attrs: Attrs::default(), ..self.into_owned() })
    }
}

/// A name that denotes nothing.
impl Instead for Name {
    fn instead(self, _: Rule) -> Name {
        Name::default()
    }
}

/// The functions are ignored.
impl Instead for IrModule {
    fn instead(mut self, _: Rule) -> IrModule {
        for (_, function) in &mut self.funcs {
            if let GlobalFunc::Function(function) = function {
                Arc::make_mut(function).attrs.clear();
            }
        }
        self
    }
}
