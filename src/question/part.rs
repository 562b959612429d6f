//! The parts of questions: their form in reports, of one line, and the programs among them.

use std::collections::BTreeMap;
use std::fmt;

use super::ProgramInput;
use crate::data::Profile;
use crate::grammar::{GlobalFunc, IrModule, Name, PrimExpr, ShapeVar, StructInfo, Type, Var};
use crate::value::{List, ValueSpec};

/// A part of a question.
pub(super) trait QuestionPart {
    /// The form in reports, in a few words; empty if there is nothing to show.
    fn told(&self) -> String;

    /// The form in reports, with only the programs shortened.
    fn whole(&self) -> String {
        self.told()
    }

    /// The text of a program, where the question is about the text.
    fn text(&self) -> Option<&str> {
        None
    }

    fn program(&self) -> Option<&ProgramInput> {
        None
    }

    fn program_mut(&mut self) -> Option<&mut ProgramInput> {
        None
    }
}

/// A map as `{k: v, ..}`.
pub(super) struct Map<'a, K, V>(pub &'a BTreeMap<K, V>);

/// A module by its functions.
pub(super) struct Functions<'a>(pub &'a IrModule);

impl QuestionPart for ProgramInput {
    fn told(&self) -> String {
        self.to_string()
    }

    fn program(&self) -> Option<&ProgramInput> {
        Some(self)
    }

    fn program_mut(&mut self) -> Option<&mut ProgramInput> {
        Some(self)
    }
}

/// Parts whose form in reports is their printed form.
macro_rules! printed {
    ($($type:ty),+) => {
        $(impl QuestionPart for $type {
            fn told(&self) -> String {
                self.to_string()
            }
        })+
    };
}

printed!(Type, StructInfo, PrimExpr, ValueSpec, Name, Var);

impl QuestionPart for String {
    fn told(&self) -> String {
        match self.trim().lines().count() {
            1 => "text of 1 line".to_string(),
            count => format!("text of {count} lines"),
        }
    }

    fn text(&self) -> Option<&str> {
        Some(self)
    }
}

impl QuestionPart for Profile {
    fn told(&self) -> String {
        match self {
            Profile::Merged => String::new(),
            Profile::Pr14148 => "later revision".to_string(),
        }
    }
}

/// Lists of parts whose form in reports is their printed form.
macro_rules! listed {
    ($($type:ty),+) => {
        $(impl QuestionPart for Vec<$type> {
            fn told(&self) -> String {
                format!("[{}]", List(self))
            }
        })+
    };
}

listed!(Var, ShapeVar, StructInfo, ValueSpec);

impl QuestionPart for Vec<Vec<ValueSpec>> {
    fn told(&self) -> String {
        format!("{} inputs", self.len())
    }

    fn whole(&self) -> String {
        let inputs: Vec<String> = self.iter().map(QuestionPart::told).collect();
        format!("[{}]", List(&inputs))
    }
}

impl QuestionPart for BTreeMap<ShapeVar, i64> {
    fn told(&self) -> String {
        Map(self).to_string()
    }
}

impl<K: fmt::Display, V: fmt::Display> fmt::Display for Map<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs: Vec<String> = self.0.iter().map(|(k, v)| format!("{k}: {v}")).collect();
        write!(f, "{{{}}}", List(&pairs))
    }
}

impl fmt::Display for Functions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self
            .0
            .funcs
            .iter()
            .map(|(gv, func)| match func {
                GlobalFunc::Function(_) => gv.name.to_string(),
                GlobalFunc::ExternFunc(_) => format!("{} (ExternFunc)", gv.name),
                GlobalFunc::PrimFunc(_) => format!("{} (PrimFunc)", gv.name),
            })
            .collect();
        write!(f, "module of {}", List(&names))
    }
}

impl fmt::Display for ProgramInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProgramInput::Script(text) => {
                let lines = text.trim().lines().count();
                write!(f, "script of {lines} lines")
            }
            ProgramInput::Module(module) => Functions(module).fmt(f),
        }
    }
}
