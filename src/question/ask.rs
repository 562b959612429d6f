//! Questions to an implementation, a row for each kind.

use std::collections::BTreeMap;
use std::fmt;

use super::AnswerKind;
use super::part::QuestionPart;
use crate::data::record::choice;
use crate::data::{DataReader, DataResult, Node, Profile, Write as _};
use crate::grammar::{IrModule, Name, PrimExpr, ShapeVar, StructInfo, Type, Var};
use crate::value::ValueSpec;

/// One row for each kind of question: its subject, its name with its parts, and the kind of its answer
/// ([`super::Answer`]). The name, in snake case, is the `op` of the protocol.
macro_rules! questions {
    ($($(#[$doc:meta])* $about:ident $name:ident($($part:ident: $type:ty),+) -> $answer:ident;)+) => {
        /// A question to an implementation.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Ask {
            $(
                $(#[$doc])*
                #[doc = concat!("\n\nAnswered by [`Answer::", stringify!($answer), "`](super::Answer::", stringify!($answer), ").")]
                $name($($type),+),
            )+
        }

        impl Ask {
            /// The names of the questions, in the order of the type.
            pub const VARIANTS: &'static [&'static str] = &[$(stringify!($name)),+];

            /// The name of the question.
            pub fn variant(&self) -> &'static str {
                match self {
                    $(Ask::$name(..) => stringify!($name),)+
                }
            }

            /// The subject of the question.
            pub fn about(&self) -> About {
                match self {
                    $(Ask::$name(..) => About::$about,)+
                }
            }

            /// The type of its answers.
            pub fn answer_kind(&self) -> AnswerKind {
                match self {
                    $(Ask::$name(..) => AnswerKind::$answer,)+
                }
            }

            /// The data forms of the parts.
            pub fn arguments(&self) -> Vec<Node<'_>> {
                match self {
                    $(Ask::$name($($part),+) => vec![$($part.write()),+],)+
                }
            }

            /// The question of a name, from the list of its parts.
            pub fn from_arguments(r: &mut DataReader<'_>, name: &str, args: &Node<'_>) -> DataResult<Ask> {
                match name {
                    $(stringify!($name) => {
                        let [$($part),+] = r.tuple(args, name, None)?;
                        Ok(Ask::$name($(r.read($part)?),+))
                    })+
                    _ => r.unexpected(args, "the parts of a question"),
                }
            }

            fn parts(&self) -> Vec<&dyn QuestionPart> {
                match self {
                    $(Ask::$name($($part),+) => vec![$($part as &dyn QuestionPart),+],)+
                }
            }

            fn parts_mut(&mut self) -> Vec<&mut dyn QuestionPart> {
                match self {
                    $(Ask::$name($($part),+) => vec![$($part as &mut dyn QuestionPart),+],)+
                }
            }
        }

        choice! { Ask, "a question" { $($name($($part),+)),+ } }
    };
}

questions! {
    /// Is the first type a subtype of the second?
    Terms Subtype(t1: Type, t2: Type) -> Bool;
    /// `find_glb`.
    Terms Glb(t1: Type, t2: Type) -> OptionType;
    /// `find_lub`.
    Terms Lub(t1: Type, t2: Type) -> Type;
    /// `erase_struct_info`.
    Terms Erase(s: StructInfo) -> Type;
    /// `wrap_type`.
    Terms Wrap(t: Type) -> StructInfo;
    /// `erase_to_well_defined` with the variables in scope.
    Terms EraseToWellDefined(s: StructInfo, gamma: Vec<Var>, delta: Vec<ShapeVar>) -> StructInfo;
    /// `get_shape_var_mapping`.
    Terms ShapeVarMapping(s1: StructInfo, s2: StructInfo) -> Mapping;
    /// `check_compatibility`.
    Terms Compatibility(s1: StructInfo, s2: StructInfo) -> Compatibility;
    /// `S1 <<: S2`, the definite relation (A15).
    Terms MoreSpecific(s1: StructInfo, s2: StructInfo) -> Bool;
    /// `S1 <<: S2` with shapes that are only possibly equal.
    Terms PossiblyMoreSpecific(s1: StructInfo, s2: StructInfo) -> Bool;
    /// `unify_struct_info`.
    Terms Unify(s1: StructInfo, s2: StructInfo) -> StructInfo;
    /// Are two dimensions equal?
    Terms ProveEqual(a: PrimExpr, b: PrimExpr) -> Proof;
    /// The value of a dimension.
    Terms EvalDim(e: PrimExpr, sigma: BTreeMap<ShapeVar, i64>) -> Dim;
    /// Match a value against structural information, with shape variables already bound.
    Terms MatchValue(v: ValueSpec, s: StructInfo, sigma: BTreeMap<ShapeVar, i64>) -> Match;
    /// Read a program's text.
    Text Parse(text: String) -> Read;
    /// Read a program from data, RON or JSON, by the productions of the grammar.
    Text Decode(text: String, profile: Profile) -> Read;
    /// Are the well-formedness criteria met?
    Program WellFormed(program: ProgramInput) -> Verdict;
    /// Are the criteria of normal form met?
    Program NormalForm(program: ProgramInput) -> Verdict;
    /// An equivalent program in normal form.
    Program Normalize(program: ProgramInput) -> Program;
    /// The type checking rules.
    Program TypeCheck(program: ProgramInput) -> Verdict;
    /// Well-formed, normalized, type-checked and derived without error?
    Program Check(program: ProgramInput) -> Verdict;
    /// The structural information of a global function.
    Program DeriveFunction(program: ProgramInput, function: Name) -> StructInfo;
    /// The entry that a local variable of a global function has in the context.
    Program DeriveVar(program: ProgramInput, function: Name, var: Var) -> StructInfo;
    /// The structural information of a call: callee, arguments, `sinfo_args`.
    Call DeriveCall(callee: StructInfo, args: Vec<StructInfo>, sinfo_args: Vec<StructInfo>) -> Derived;
    /// Run an entry point on arguments.
    Program Evaluate(program: ProgramInput, entry: Name, args: Vec<ValueSpec>) -> Run;
    /// Run an entry point on arguments. A tensor or object in the result that is one of the arguments is reported as
    /// that argument.
    Program EvaluateIdentity(program: ProgramInput, entry: Name, args: Vec<ValueSpec>) -> Run;
    /// Like `EvaluateIdentity`, but the program is built, written as text, read back and run on the virtual machine.
    Program EvaluateCompiled(program: ProgramInput, entry: Name, args: Vec<ValueSpec>) -> Run;
    /// Run an entry point on several inputs, one after the other in one process. `way` is the implementation's name for
    /// its path from the program to the run; the text has only one.
    Program Trial(program: ProgramInput, way: Name, entry: Name, inputs: Vec<Vec<ValueSpec>>) -> Trials;
    /// Is the text of Relay well-scoped and well-typed?
    Text RelayCheck(text: String) -> Verdict;
    /// A program of Relay, printed in its own notation.
    Text RelayPrint(text: String) -> Text;
    /// A program of Relay with every type that is inferred.
    Text RelayInfer(text: String) -> Text;
    /// The environment of a program of Relay: a line for each definition, constant, option and attribute.
    Text RelayEnvironment(text: String) -> Text;
    /// A program of Relay, converted to Relax.
    Text RelayConvert(text: String) -> Program;
    /// Run a function of a program of Relay on arguments.
    Text RelayEvaluate(text: String, entry: Name, args: Vec<ValueSpec>) -> Run;
    /// Does the second program, as an optimization of the first, do only what is allowed on these inputs of the entry
    /// point?
    TwoPrograms Refine(before: ProgramInput, after: ProgramInput, entry: Name, inputs: Vec<Vec<ValueSpec>>) -> Verdict;
}

/// The subject of a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum About {
    /// Types, structural information, dimensions and values by themselves.
    Terms,
    /// The text of a program, as text.
    Text,
    /// The program in its first part.
    Program,
    /// A call of a function, by its structural information.
    Call,
    /// A program, and what an optimizer made of it.
    TwoPrograms,
}

/// A program, as text or as an AST.
#[derive(Clone, PartialEq, Debug)]
pub enum ProgramInput {
    /// TVMScript.
    Script(String),
    /// The syntax tree itself.
    Module(IrModule),
}

impl Ask {
    /// The programs that the question has among its parts.
    pub fn programs(&self) -> Vec<&ProgramInput> {
        self.parts().into_iter().filter_map(QuestionPart::program).collect()
    }

    /// The program texts among the parts of the question, if it is about the texts themselves.
    pub fn texts(&self) -> Vec<&str> {
        self.parts().into_iter().filter_map(QuestionPart::text).collect()
    }

    /// In one line, as it is displayed, with only the programs shortened.
    pub fn in_full(&self) -> String {
        self.with_parts(&|part| part.whole())
    }

    fn with_parts(&self, told: &dyn Fn(&dyn QuestionPart) -> String) -> String {
        let parts: Vec<String> = self.parts().into_iter().map(told).filter(|told| !told.is_empty()).collect();
        format!("{}({})", self.op(), parts.join(", "))
    }

    /// The program that the question is about, if it is about one.
    pub fn program(&self) -> Option<&ProgramInput> {
        match self.about() {
            About::Program => self.programs().into_iter().next(),
            About::Terms | About::Text | About::Call | About::TwoPrograms => None,
        }
    }

    /// The same question about another program; unchanged if it is not about a program.
    pub fn with_program(self, program: ProgramInput) -> Ask {
        match self.about() {
            About::Program => self.map_programs(|_| program.clone()),
            About::Terms | About::Text | About::Call | About::TwoPrograms => self,
        }
    }

    /// The same question about other programs, each made from its own.
    pub fn map_programs(mut self, other: impl Fn(ProgramInput) -> ProgramInput) -> Ask {
        for program in self.parts_mut().into_iter().filter_map(QuestionPart::program_mut) {
            let own = std::mem::replace(program, ProgramInput::Script(String::new()));
            *program = other(own);
        }
        self
    }

    /// Whether `rules` must name every rule that is recorded. This holds for judgements on types and structural
    /// information. A question about a program fires dozens of rules, and `rules` names only the relevant ones.
    pub fn claims_exactly(&self) -> bool {
        self.about() == About::Terms
    }

    /// The name of the question in the protocol: `erase_to_well_defined` for `EraseToWellDefined`.
    pub fn op(&self) -> String {
        snake_case(self.variant())
    }
}

/// `EraseToWellDefined` becomes `erase_to_well_defined`.
pub fn snake_case(variant: &str) -> String {
    let mut out = String::new();
    for c in variant.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

impl fmt::Display for Ask {
    /// In one line, as reports show it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with_parts(&|part| part.told()))
    }
}
