//! The paths by which a program goes through an implementation. Each is a question of its own.

use std::fmt;

use crate::check::in_normal_form;
use crate::grammar::{IrModule, Name};
use crate::judge::Cx;
use crate::question::{Ask, Program};
use crate::syntax::tvmscript::{Dialect, print_module};
use crate::value::ValueSpec;

/// A path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Path {
    /// Compiled and run, as a tree, by the way of this name ([`Ask::Trial`]).
    Run(&'static str),
    /// As text, through the implementation's own parser, then compiled and run.
    Text,
    /// Its verdict: is the program well-formed, and do its types fit?
    Check,
    /// The normal form that it gives.
    Normalize,
}

/// The ways of running: compiled for the processor, without optimizations, to machine code throughout, for the target `c`, printed and
/// parsed again, and after one pass more.
pub const WAYS: &[&str] = &[
    "llvm",
    "plain",
    "compiled",
    "reprint",
    "c",
    "pass:CanonicalizeBindings",
    "pass:EliminateCommonSubexpr",
    "pass:DeadCodeElimination",
    "pass:FoldConstant",
    "pass:ConvertToDataflow",
    "pass:RemoveUnusedOutputs",
    "pass:ExpandMatmulOfSum",
    "pass:AdjustMatmulOrder",
    "pass:CombineParallelMatmul",
    "pass:DataflowUseInplaceCalls",
    "pass:ReorderTakeAfterMatmul",
    "pass:ReorderPermuteDimsAfterConcat",
    "pass:ToNonDataflow",
    "pass:RemoveRedundantReshape",
    "pass:RewriteDataflowReshape",
    "pass:TopologicalSort",
    "pass:DecomposeOpsForInference",
    "pass:Normalize",
];

/// How a sequence is printed that stands as an operand.
const SEQUENCE: &str = "R.SeqExpr()";
/// How the name of a packed function is printed that stands by itself.
const BOUND_NAME: &str = "R.ExternFunc(";

impl Path {
    /// Every path.
    pub fn all() -> Vec<Path> {
        let ways = WAYS.iter().copied().map(Path::Run);
        ways.chain([Path::Text, Path::Check, Path::Normalize]).collect()
    }

    /// The path of a name.
    pub fn named(name: &str) -> Option<Path> {
        Path::all().into_iter().find(|path| path.to_string() == name)
    }

    /// Those of the program with a number: the straight one always, and some of the others in turn.
    pub fn of_number(number: u64) -> Vec<Path> {
        let in_turn = |paths: &[Path], by: u64| {
            let at = usize::try_from(number / by).unwrap_or(0).checked_rem(paths.len()).unwrap_or(0);
            paths.get(at).cloned()
        };
        let all = Path::all();
        let passes: Vec<Path> = all.iter().filter(|path| path.to_string().starts_with("pass:")).cloned().collect();
        let others = [
            Path::Text,
            Path::Check,
            Path::Run("plain"),
            Path::Run("reprint"),
            Path::Normalize,
            Path::Run("compiled"),
            Path::Run("c"),
        ];
        let mut paths = vec![Path::Run("llvm")];
        paths.extend(in_turn(&others, 1));
        if number.is_multiple_of(2) {
            paths.extend(in_turn(&passes, 2));
        }
        paths
    }

    /// The question.
    pub fn ask(&self, module: &IrModule, entry: &Name, inputs: &[Vec<ValueSpec>], dialect: Dialect) -> Ask {
        let tree = || Program::Module(module.clone());
        match self {
            Path::Run(way) => Ask::Trial(tree(), (*way).into(), entry.clone(), inputs.to_vec()),
            Path::Text => {
                let mut text = print_module(module, dialect);
                if text.contains(SEQUENCE) {
                    // A sequence as an operand has no form that implementations read.
                    text = print_module(&in_normal_form(&mut Cx::new(), module).module, dialect);
                }
                // Neither has the name of a function that is bound to a variable.
                let text = if text.contains(BOUND_NAME) { tree() } else { Program::Script(text) };
                Ask::Trial(text, "llvm".into(), entry.clone(), inputs.to_vec())
            }
            Path::Check => Ask::Check(tree()),
            Path::Normalize => Ask::Normalize(tree()),
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Path::Run(way) => way,
            Path::Text => "text",
            Path::Check => "check",
            Path::Normalize => "normalize",
        })
    }
}
