//! Relay: its syntax, its types and its values.

use std::sync::Arc;

use crate::book::Rule;
use crate::grammar::IrModule;
use crate::judge::Instead;
use crate::relay::{Fault, Function, Param, Reference, RelayValue, Type, TypeExpr, TypeKind};

/// A variable for a definition, a definition for anything else.
impl Instead for Reference {
    fn instead(self, _: Rule) -> Reference {
        match self {
            Reference::Global => Reference::Local,
            Reference::Local | Reference::Operator => Reference::Global,
        }
    }
}

/// What is in order is refused, by a rule that is not the one in question; what is not is accepted.
impl Instead for Result<(), Fault> {
    fn instead(self, rule: Rule) -> Self {
        match self {
            Ok(()) => {
                let blamed =
                    [rule!("RELAY.DEF.PARTS"), rule!("RELAY.PROGRAM")].into_iter().find(|other| *other != rule);
                let fault = Fault::syntax(crate::grammar::Span::NONE, "refused without a reason");
                Err(Fault { rule: blamed, ..fault })
            }
            Err(Fault { .. }) => Ok(()),
        }
    }
}

/// The parts that may be missing are.
impl Instead for Function {
    fn instead(self, _: Rule) -> Function {
        Function { type_params: Vec::new(), result: None, ..self }
    }
}

/// Without its type.
impl Instead for Param {
    fn instead(self, _: Rule) -> Param {
        Param { annotation: None, ..self }
    }
}

/// A type of other values.
impl Instead for TypeExpr {
    fn instead(self, rule: Rule) -> TypeExpr {
        TypeExpr { kind: self.kind.instead(rule), ..self }
    }
}

/// A type of other values.
impl Instead for TypeKind {
    fn instead(self, _: Rule) -> TypeKind {
        match self {
            TypeKind::Tensor(tensor) => TypeKind::Tuple(vec![TypeExpr::new(TypeKind::Tensor(tensor))]),
            TypeKind::Param(_) | TypeKind::Tuple(_) | TypeKind::Function(..) => {
                TypeExpr::tensor(crate::grammar::DataType::BOOL, Vec::new()).kind
            }
        }
    }
}

/// A type of other values.
impl Instead for Type {
    fn instead(self, _: Rule) -> Type {
        Type::Tuple(vec![self])
    }
}

/// A function is lost; anything else is wrapped.
impl Instead for RelayValue {
    fn instead(self, _: Rule) -> RelayValue {
        match self {
            RelayValue::Closure(_) => RelayValue::Tuple([].into()),
            RelayValue::Tensor(_) | RelayValue::Tuple(_) => RelayValue::Tuple([self].into()),
        }
    }
}

/// The functions are of no one's concern.
impl Instead for IrModule {
    fn instead(mut self, _: Rule) -> IrModule {
        for (_, function) in &mut self.funcs {
            if let crate::grammar::GlobalFunc::Function(function) = function {
                Arc::make_mut(function).attrs.clear();
            }
        }
        self
    }
}
