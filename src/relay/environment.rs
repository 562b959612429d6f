//! The global environment (`RELAY.ENV.CONTENTS`): the definitions of a program, with the services they offer.

use std::collections::{BTreeMap, BTreeSet};

use super::eval;
use super::infer::{InferredProgram, globals_in};
use super::print::{attr_text, type_text};
use super::tree::{ExprKind, Function, TypeKind};
use crate::grammar::{AttrValue, Attrs, Name};
use crate::judge::Cx;
use crate::value::ValueSpec;

/// The maximum number of steps for a constant.
const CONSTANT_FUEL: u64 = 100_000;

/// Definitions, constants, options and attributes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Environment {
    /// The type of each definition.
    pub definitions: BTreeMap<Name, String>,
    /// The value of each definition without parameters and with a closed body, if it can be computed.
    pub constants: BTreeMap<Name, ValueSpec>,
    /// The options of the program as a whole.
    pub options: Attrs,
    /// The metadata of the definitions, if they have any.
    pub attributes: BTreeMap<Name, Attrs>,
}

impl Environment {
    /// The environment of a program. `None` if its types are too repetitive to be written out.
    ///
    /// RELAY.ENV.CONTENTS: the stored contents. RELAY.ENV.SERVICES: types and constants are computed on request.
    pub fn of(cx: &mut Cx, inferred: &InferredProgram<'_>) -> Option<Environment> {
        let program = inferred.annotated(cx)?;
        let mut environment = Environment::default();
        for definition in &program.definitions {
            let function = &definition.function;
            environment.definitions.insert(definition.name.clone(), signature(function, inferred));
            let mut attributes = function.attrs.clone();
            attributes.extend(definition.attributes.iter().flat_map(|block| block.values.clone()));
            if !attributes.is_empty() {
                environment.attributes.insert(definition.name.clone(), attributes);
            }
        }
        if let Some(version) = &program.version {
            environment.options.insert("version".into(), AttrValue::Str(version.clone()));
        }
        environment.constants = constants(cx, inferred);
        environment.attributes = cx.conclude(rule!("RELAY.ENV.CONTENTS"), environment.attributes);
        Some(environment)
    }

    /// The environment as lines of text.
    pub fn told(&self) -> String {
        let definitions = self.definitions.iter().map(|(name, ty)| format!("definition @{name}: {ty}"));
        let constants = self.constants.iter().map(|(name, value)| format!("constant @{name}() = {value}"));
        let attr = |(key, value): (&Name, &AttrValue)| format!("{key}: {}", attr_text(value));
        let options = self.options.iter().map(|pair| format!("option {}", attr(pair)));
        let attributes = self
            .attributes
            .iter()
            .flat_map(|(name, attrs)| attrs.iter().map(move |pair| format!("attribute of @{name} {}", attr(pair))));
        definitions.chain(constants).chain(options).chain(attributes).collect::<Vec<String>>().join("\n")
    }
}

/// The type of a function with all types written out.
fn signature(function: &Function, inferred: &InferredProgram<'_>) -> String {
    let params: Vec<String> =
        function.type_params.iter().map(|param| format!("{}: {}", param.name, param.kind.name())).collect();
    let general = if params.is_empty() { String::new() } else { format!("<{}>", params.join(", ")) };
    let types = function.params.iter().filter_map(|param| param.annotation.clone()).collect();
    let result = function.result.clone().unwrap_or_else(|| super::tree::TypeExpr::new(TypeKind::Tuple(Vec::new())));
    let ty = super::tree::TypeExpr::new(TypeKind::Function(types, Box::new(result)));
    let told = type_text(&ty, inferred.notation());
    told.replacen("fn (", &format!("fn{general}("), 1)
}

/// RELAY.ENV.SERVICES: the constant evaluator.
fn constants(cx: &mut Cx, inferred: &InferredProgram<'_>) -> BTreeMap<Name, ValueSpec> {
    let mut found = BTreeMap::new();
    for definition in &inferred.program.definitions {
        let function = &definition.function;
        let mut called = BTreeSet::new();
        globals_in(&function.body, &mut called);
        if !function.params.is_empty() || !called.is_empty() || matches!(function.body.kind, ExprKind::Function(_)) {
            continue;
        }
        let value = eval::constant(cx, inferred.program, &function.body, CONSTANT_FUEL);
        if let Some(spec) = value.and_then(|value| crate::value::to_spec(&value).ok()) {
            found.insert(definition.name.clone(), spec);
        }
    }
    if found.is_empty() { found } else { cx.conclude(rule!("RELAY.ENV.SERVICES"), found) }
}
