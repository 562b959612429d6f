//! The output of `relax-spec types`: every variable has its structural information, the program has the same verdict as
//! before, and the text reads back to the same program.

use std::fs;
use std::path::{Path, PathBuf};

use campaign::generate::Tape;
use campaign::programs::{ProgramSource, Restriction};
use relax_spec::book::Edition;
use relax_spec::check::check_program;
use relax_spec::derivation::{annotated, derive_module};
use relax_spec::grammar::visit::{Visitor, walk_module};
use relax_spec::grammar::{Expr, IrModule, VarBinding};
use relax_spec::judge::Cx;
use relax_spec::normal_form::normalize_reporting;
use relax_spec::suite::same_program::same_program;
use relax_spec::syntax::tvmscript::{Dialect, parse_module, print_module};

/// Variables that are bound to no function and have no annotation.
#[derive(Default)]
struct Bare(Vec<String>);

impl Visitor for Bare {
    fn visit_var_binding(&mut self, binding: &VarBinding) {
        if binding.var.annotation.is_none() && !matches!(binding.value, Expr::Function(_)) {
            self.0.push(binding.var.var.to_string());
        }
        relax_spec::grammar::visit::walk_var_binding(self, binding);
    }
}

/// Whether the program is accepted and its annotated form was checked, or the fault of that form.
fn looked_at(program: &IrModule) -> Result<bool, String> {
    let mut cx = Cx::new();
    let normalized = normalize_reporting(&mut cx, program);
    let report = derive_module(&mut cx, &normalized.module);
    if !check_program(&mut Cx::new(), program).accepts() {
        return Ok(false);
    }
    let annotated = annotated(&normalized.module, &report);
    let mut bare = Bare::default();
    walk_module(&mut bare, &annotated);
    if !bare.0.is_empty() {
        return Err(format!("without annotation: {:?}", bare.0));
    }
    for dialect in [Dialect::Tvm025, Dialect::Tvm027] {
        let text = print_module(&annotated, dialect);
        match parse_module(&text) {
            Err(error) => return Err(format!("{error}\n{text}")),
            Ok(read) if !same_program(&read, &annotated) => {
                return Err(format!("reads back as another program\n{text}"));
            }
            Ok(read) if !check_program(&mut Cx::new(), &read).accepts() => {
                return Err(format!("is not accepted\n{:?}\n{text}", check_program(&mut Cx::new(), &read).diagnostics));
            }
            Ok(_) => {}
        }
    }
    Ok(true)
}

fn files(dir: &str) -> Vec<PathBuf> {
    let dir = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(dir);
    let mut files: Vec<PathBuf> =
        fs::read_dir(dir).expect("programs").map(|entry| entry.expect("a file").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "py"));
    files.sort();
    files
}

#[test]
fn the_corpus_reads_back_with_its_types() {
    let dirs = ["corpus", "corpus/tvm-0.25", "corpus/tvm-0.26", "corpus/tvm-0.27", "models"];
    let mut found = Found::default();
    for path in dirs.iter().flat_map(|dir| files(&format!("conformance/{dir}"))) {
        let text = fs::read_to_string(&path).expect("a program");
        let program = parse_module(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        found.add(&path.display().to_string(), &program);
    }
    found.are_more_than(70);
}

#[test]
fn generated_programs_read_back_with_their_types() {
    let mut found = Found::default();
    let source = ProgramSource::of(&[], Restriction::of_laws(Edition::default()));
    for seed in 0..300 {
        let module = source.of_tape(Tape::from_seed(seed, 300)).module;
        // Python takes the item out of a tuple that is written there.
        if !print_module(&module, Dialect::default()).contains(",)[0]") {
            found.add(&seed.to_string(), &module);
        }
    }
    found.are_more_than(100);
}

#[derive(Default)]
struct Found {
    looked_at: usize,
    faults: Vec<String>,
}

impl Found {
    fn add(&mut self, name: &str, program: &IrModule) {
        match looked_at(program) {
            Ok(accepted) => self.looked_at += usize::from(accepted),
            Err(fault) => self.faults.push(format!("{name}: {fault}")),
        }
    }

    fn are_more_than(&self, least: usize) {
        let Found { looked_at, faults } = self;
        assert!(faults.is_empty(), "{} faults, the first\n{}", faults.len(), faults.first().map_or("", String::as_str));
        assert!(*looked_at > least, "{looked_at}");
    }
}
