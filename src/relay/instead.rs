//! The syntax, types and values of Relay that stand in when the rule that concludes them is switched off.

use super::eval::Value;
use super::read::Reference;
use super::types::Type;
use super::{Function, Param, RelayFault, TypeExpr, TypeKind};
use crate::book::Rule;
use crate::grammar::{DataType, Span};
use crate::judge::Instead;

/// A variable for a definition, a definition for anything else.
impl Instead for Reference {
    fn instead(self, _: Rule) -> Reference {
        match self {
            Reference::Global => Reference::Local,
            Reference::Local | Reference::Operator => Reference::Global,
        }
    }
}

/// Acceptance in place of an error, and the other way round; the new error names a different rule.
impl Instead for Result<(), RelayFault> {
    fn instead(self, rule: Rule) -> Self {
        match self {
            Ok(()) => {
                let blamed =
                    [rule!("RELAY.DEF.PARTS"), rule!("RELAY.PROGRAM")].into_iter().find(|other| *other != rule);
                let fault = RelayFault::syntax(Span::NONE, "refused without a reason");
                Err(RelayFault { rule: blamed, ..fault })
            }
            Err(RelayFault { .. }) => Ok(()),
        }
    }
}

/// The function without its optional parts.
impl Instead for Function {
    fn instead(self, _: Rule) -> Function {
        Function { type_params: Vec::new(), result: None, ..self }
    }
}

/// The parameter without its type.
impl Instead for Param {
    fn instead(self, _: Rule) -> Param {
        Param { annotation: None, ..self }
    }
}

/// A type of different values.
impl Instead for TypeExpr {
    fn instead(self, rule: Rule) -> TypeExpr {
        TypeExpr { kind: self.kind.instead(rule), ..self }
    }
}

/// A type of different values.
impl Instead for TypeKind {
    fn instead(self, _: Rule) -> TypeKind {
        match self {
            TypeKind::Tensor(tensor) => TypeKind::Tuple(vec![TypeExpr::new(TypeKind::Tensor(tensor))]),
            TypeKind::Param(_) | TypeKind::Tuple(_) | TypeKind::Function(..) => {
                TypeExpr::tensor(DataType::BOOL, Vec::new()).kind
            }
        }
    }
}

/// A type of different values.
impl Instead for Type {
    fn instead(self, _: Rule) -> Type {
        Type::tuple([self])
    }
}

/// A function becomes something else; any other value is wrapped.
impl Instead for Value {
    fn instead(self, _: Rule) -> Value {
        match self {
            Value::Closure(_) => Value::uncounted(Vec::new()),
            Value::Tensor(_) | Value::Tuple(_) => Value::uncounted(vec![self]),
        }
    }
}
