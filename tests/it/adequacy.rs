//! The quality of the inputs that `refine` generates: the number for which the programs of the corpus end, and the
//! number of one-step mutants that they detect.

use std::fs;
use std::path::{Path, PathBuf};

use campaign::adequacy::adequacy;
use relax_spec::grammar::IrModule;
use relax_spec::judge::Cx;
use relax_spec::refine::{RefinementVerdict, Settings, refine};
use relax_spec::syntax::tvmscript::parse_module;

/// Mutants that are equivalent to their programs: `program: what`.
const SAME: [&str; 0] = [];

fn corpus() -> Vec<(String, IrModule)> {
    let dir = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("conformance/corpus");
    let mut files: Vec<PathBuf> =
        fs::read_dir(dir).expect("a corpus").map(|entry| entry.expect("a file").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "py"));
    files.sort();
    let parsed = |path: &PathBuf| {
        let text = fs::read_to_string(path).expect("a program");
        parse_module(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    files.iter().map(|path| (path.file_stem().expect("a name").to_string_lossy().into_owned(), parsed(path))).collect()
}

#[test]
fn the_inputs_tell_mutants_of_the_corpus() {
    let (mut told, mut faults) = (0, Vec::new());
    for (name, module) in corpus() {
        let settings = Settings { keep: true, ..Settings::runs(100) };
        let refinement = refine(&mut Cx::new(), &module, &module, "main", &[], &settings).expect("a comparison");
        assert_eq!(refinement.verdict, RefinementVerdict::Allowed, "{name}");
        assert!(
            refinement.ended * 10 >= refinement.compared * 9,
            "{name}: {} of {}",
            refinement.ended,
            refinement.compared
        );
        let worth = adequacy(&mut Cx::new(), &module, "main", &refinement.inputs, &settings).expect("comparisons");
        assert_eq!(worth.open, 0, "{name}");
        told += worth.told;
        faults.extend(worth.untold.into_iter().map(|(what, _)| format!("{name}: {what}")));
    }
    faults.retain(|fault| !SAME.contains(&fault.as_str()));
    println!("{told} told");
    assert!(told > 60 && faults.is_empty(), "{told} told, not these: {faults:#?}");
}
