//! The paths on which a program goes through an implementation. Each path is a question of its own.

use std::fmt;

use super::spell::{as_text, at_sizes};
use crate::generate::Tape;
use crate::questions::function_of;
use relax_spec::book::Edition;
use relax_spec::grammar::{Binding, Expr, IrModule, Name, Var};
use relax_spec::question::{Ask, ProgramInput};
use relax_spec::syntax::tvmscript::{Dialect, print_module};
use relax_spec::value::ValueSpec;

/// A path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Path {
    /// Compiled and run as a tree, in the way of running with this name ([`Ask::Trial`]).
    Run(&'static str),
    /// As text, through the implementation's own parser, then compiled and run.
    Text,
    /// With the sizes of the first input in place of the shape variables of the parameters, then compiled and run: the
    /// same calls with static shapes.
    Static,
    /// The verdict of the implementation: is the program well-formed, and do its types fit?
    Check,
    /// The normal form that the implementation gives.
    Normalize,
    /// The structural information that the implementation derives for a variable.
    Derive,
    /// The verdict on the criteria of well-formedness alone, whatever the other stages say.
    WellFormed,
    /// The verdict on the criteria of normal form.
    NormalForm,
    /// The verdict on the rules of type checking.
    TypeCheck,
    /// The program that the implementation reads from the text.
    Parse,
}

/// The ways of running. First: compiled for the processor; without optimizations; to machine code throughout; printed
/// and parsed again; for the target `c`. Then: after a pipeline that fuses calls; by the target's own pipeline; with
/// one additional pass.
const WAYS: &str = "llvm plain compiled reprint c pipeline:zero pipeline:target pass:CanonicalizeBindings \
    pass:EliminateCommonSubexpr pass:DeadCodeElimination pass:FoldConstant pass:ConvertToDataflow \
    pass:RemoveUnusedOutputs pass:ExpandMatmulOfSum pass:AdjustMatmulOrder pass:CombineParallelMatmul \
    pass:DataflowUseInplaceCalls pass:ReorderTakeAfterMatmul pass:ReorderPermuteDimsAfterConcat pass:ToNonDataflow \
    pass:RemoveRedundantReshape pass:RewriteDataflowReshape pass:TopologicalSort pass:DecomposeOpsForInference \
    pass:Normalize pass:InlinePrivateFunctions pass:ExpandTupleArguments pass:RemoveUnusedParameters \
    pass:ComputePrimValue pass:FuseTransposeMatmul pass:ConvertLayout pass:OptimizeLayoutTransform \
    pass:FoldBatchnormToConv2D pass:DecomposeOpsForTraining";

/// The paths on which a campaign asks about its programs.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum Paths {
    /// The cheap paths, and one way of running that is drawn for each program: so a campaign covers all ways, and more
    /// programs.
    #[default]
    Drawn,
    /// The same, and these paths for every program.
    DrawnAnd(Vec<Path>),
    /// Every path for every program.
    All,
    /// These paths for every program.
    These(Vec<Path>),
}

/// Paths that are used only on request. Implementations that compile programs read and infer otherwise than the text on
/// purpose, and few machines have the device.
const ASKED_FOR: [Path; 6] =
    [Path::Derive, Path::Parse, Path::WellFormed, Path::NormalForm, Path::TypeCheck, Path::Run("cuda")];
/// The paths of every program.
const CHEAP: [Path; 2] = [Path::Check, Path::Normalize];
/// The ways of running, with how often each is drawn; the single passes share the rest.
const DRAWN: [(Path, usize); 9] = [
    (Path::Run("llvm"), 6),
    (Path::Text, 4),
    (Path::Static, 3),
    (Path::Run("plain"), 3),
    (Path::Run("reprint"), 2),
    (Path::Run("compiled"), 2),
    (Path::Run("c"), 2),
    (Path::Run("pipeline:zero"), 3),
    (Path::Run("pipeline:target"), 3),
];
const PASSES: usize = 8;
/// Distinguishes the tape of paths from that of the program.
const OF_PATHS: u64 = 0x5061_7468;

impl Paths {
    /// The paths of these names: `drawn`, `all`, or single paths. The error is the first name that is not a path.
    pub fn named(names: &[String]) -> Result<Paths, String> {
        match names {
            [] => Ok(Paths::Drawn),
            [one] if one == "drawn" => Ok(Paths::Drawn),
            [one] if one == "all" => Ok(Paths::All),
            names => {
                let path = |name: &&String| Path::named(name).ok_or_else(|| (*name).clone());
                let (drawn, named): (Vec<&String>, Vec<&String>) = names.iter().partition(|name| *name == "drawn");
                let named = named.iter().map(path).collect::<Result<_, _>>()?;
                Ok(if drawn.is_empty() { Paths::These(named) } else { Paths::DrawnAnd(named) })
            }
        }
    }

    /// The paths of the program with this number.
    pub fn of_program(&self, seed: u64, number: u64) -> Vec<Path> {
        match self {
            Paths::Drawn => CHEAP.into_iter().chain(drawn(&mut Tape::numbered(seed ^ OF_PATHS, number, 2))).collect(),
            Paths::DrawnAnd(paths) => Paths::Drawn.of_program(seed, number).into_iter().chain(paths.clone()).collect(),
            Paths::All => Path::all(),
            Paths::These(paths) => paths.clone(),
        }
    }
}

/// Draws a way of running.
fn drawn(tape: &mut Tape) -> Option<Path> {
    let mut left = tape.choose(DRAWN.iter().map(|(_, weight)| weight).sum::<usize>() + PASSES);
    for (path, weight) in &DRAWN {
        if left < *weight {
            return Some(path.clone());
        }
        left -= weight;
    }
    let passes: Vec<&str> = WAYS.split_whitespace().filter(|way| way.starts_with("pass:")).collect();
    tape.pick(&passes).copied().map(Path::Run)
}

impl Path {
    /// All paths that make sense for a compiler.
    pub fn all() -> Vec<Path> {
        let ways = WAYS.split_whitespace().map(Path::Run);
        ways.chain([Path::Text, Path::Static, Path::Check, Path::Normalize]).collect()
    }

    /// All paths, including those used only on request.
    pub fn every() -> Vec<Path> {
        Path::all().into_iter().chain(ASKED_FOR).collect()
    }

    /// The path with this name.
    pub fn named(name: &str) -> Option<Path> {
        Path::every().into_iter().find(|path| path.to_string() == name)
    }

    /// Whether the path runs the program.
    pub fn runs(&self) -> bool {
        matches!(self, Path::Run(_) | Path::Text | Path::Static)
    }

    /// The question of this path about a program that is judged by an edition.
    pub fn ask(
        &self,
        edition: Edition,
        module: &IrModule,
        entry: &Name,
        inputs: &[Vec<ValueSpec>],
        dialect: Dialect,
    ) -> Ask {
        let tree = || ProgramInput::Module(module.clone());
        match self {
            Path::Run(way) => Ask::Trial(tree(), (*way).into(), entry.clone(), inputs.to_vec()),
            Path::Text => Ask::Trial(as_text(edition, module, dialect), "llvm".into(), entry.clone(), inputs.to_vec()),
            Path::Static => {
                let (module, inputs) = at_sizes(edition, module, entry, inputs);
                Ask::Trial(ProgramInput::Module(module), "llvm".into(), entry.clone(), inputs)
            }
            Path::Check => Ask::Check(tree()),
            Path::Normalize => Ask::Normalize(tree()),
            Path::Derive => derive(module, entry),
            Path::WellFormed => Ask::WellFormed(tree()),
            Path::NormalForm => Ask::NormalForm(tree()),
            Path::TypeCheck => Ask::TypeCheck(tree()),
            Path::Parse => Ask::Parse(print_module(module, dialect)),
        }
    }
}

/// Asks about one variable that the function binds outside of nested functions and branches, or about the function
/// itself if there is none. The program determines which variable, so that a campaign asks about first and last ones.
fn derive(module: &IrModule, entry: &Name) -> Ask {
    let tree = ProgramInput::Module(module.clone());
    let vars = function_of(module, entry).map(|function| bound(&function.body)).unwrap_or_default();
    let text = print_module(module, Dialect::default());
    let at = text.bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(byte)));
    match at.checked_rem(vars.len()).and_then(|at| vars.get(at)) {
        Some(var) => Ask::DeriveVar(tree, entry.clone(), var.clone()),
        None => Ask::DeriveFunction(tree, entry.clone()),
    }
}

fn bound(body: &Expr) -> Vec<Var> {
    let Expr::SeqExpr(seq) = body else { return Vec::new() };
    let binders = seq.blocks.iter().flat_map(|block| &block.bindings).filter_map(Binding::binder);
    binders.map(|binder| binder.var.clone()).collect()
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Path::Run(way) => way,
            Path::Text => "text",
            Path::Static => "static",
            Path::Check => "check",
            Path::Normalize => "normalize",
            Path::Derive => "derive",
            Path::Parse => "parse",
            Path::WellFormed => "well_formed",
            Path::NormalForm => "normal_form",
            Path::TypeCheck => "type_check",
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use relax_spec::grammar::{DataType, TensorData};
    use relax_spec::syntax::tvmscript::parse_module;

    #[test]
    fn a_campaign_goes_every_way_in_proportion_to_its_weight() {
        let mut seen: BTreeMap<Path, usize> = BTreeMap::new();
        for number in 0..2_000 {
            Paths::Drawn.of_program(7, number).into_iter().for_each(|path| *seen.entry(path).or_default() += 1);
        }
        for path in Path::all() {
            assert!(seen.contains_key(&path), "{path}");
        }
        let of = |name: &str| seen[&Path::named(name).unwrap()];
        assert_eq!((of("check"), of("normalize")), (2_000, 2_000));
        assert!(of("llvm") > of("c") && of("c") > of("pass:Normalize"), "{seen:?}");
    }

    /// The text that is asked about in place of a program.
    fn respelt(text: &str) -> String {
        let module = parse_module(text).unwrap();
        match Path::Text.ask(Edition::default(), &module, &"main".into(), &[], Dialect::default()) {
            Ask::Trial(ProgramInput::Script(text), ..) => text,
            other => panic!("no text: {other}"),
        }
    }

    #[test]
    fn a_text_lists_the_devices_that_its_calls_name() {
        let text = "@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n    \
            y = R.to_vdevice(x, dst_vdevice=\"llvm:1\")\n    return y\n";
        let text = respelt(text);
        assert!(text.contains("I.module_global_infos"), "{text}");
        assert_eq!(parse_module(&text).unwrap().vdevices().len(), 1, "{text}");
    }

    #[test]
    fn a_text_says_no_rank_beside_a_shape_in_a_variable() {
        let text = "@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n    s = R.shape_of(x)\n    \
            y = R.match_cast(x, R.Tensor(s, dtype=\"float32\", ndim=1))\n    \
            z: R.Tensor(dtype=\"float32\", ndim=1) = R.exp(y)\n    return z\n";
        let text = respelt(text);
        assert!(text.contains("R.Tensor(s, dtype=\"float32\")") && text.contains("ndim=1"), "{text}");
    }

    #[test]
    fn a_text_has_a_choice_in_blocks_only() {
        let text =
            "@R.function\ndef main(c: R.Tensor((), \"bool\"), x: R.Object):\n    y = (x if c else x)\n    return y\n";
        let text = respelt(text);
        assert!(text.contains("if c:") && !text.contains("x if"), "{text}");
    }

    #[test]
    fn statically_spelt_it_has_the_sizes_of_the_first_input() {
        let text = "@R.function\n\
            def main(x: R.Tensor((\"n\",), \"float32\"), y: R.Tensor((\"m\",), \"float32\")):\n    \
            z = R.matmul(x, y)\n    return z\n";
        let module = parse_module(text).unwrap();
        let tensor = |size: u64| {
            let zeros = vec![0.0; usize::try_from(size).unwrap()];
            ValueSpec::Tensor(TensorData::from_values(DataType::FLOAT32, &[size], &zeros).unwrap())
        };
        let ask = |inputs: &[Vec<ValueSpec>]| {
            let ask = Path::Static.ask(Edition::default(), &module, &"main".into(), inputs, Dialect::default());
            let Ask::Trial(ProgramInput::Module(module), _, _, inputs) = ask else { panic!("no trial") };
            (print_module(&module, Dialect::default()), inputs.len())
        };
        let (text, inputs) = ask(&[vec![tensor(2), tensor(2)], vec![tensor(2), tensor(2)], vec![tensor(3), tensor(3)]]);
        assert!(text.contains("x: R.Tensor((2,)") && text.contains("y: R.Tensor((2,)"), "{text}");
        assert_eq!(inputs, 2);
        // At these sizes the program is not well-formed.
        let (text, inputs) = ask(&[vec![tensor(2), tensor(3)], vec![tensor(2), tensor(2)]]);
        assert!(text.contains("R.Tensor((\"n\",)"), "{text}");
        assert_eq!(inputs, 2);
    }

    #[test]
    fn the_paths_of_a_program_are_its_own() {
        let of = |number| Paths::Drawn.of_program(3, number);
        assert_eq!(of(5), of(5));
        assert!((0..20).any(|number| of(number) != of(number + 1)));
        assert_eq!(Paths::named(&["text".into(), "no".into()]), Err("no".to_string()));
    }
}
