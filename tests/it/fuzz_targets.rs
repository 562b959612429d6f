//! The fuzz targets of `fuzz/` on their seeds, and on cut and joined seeds. This keeps the targets compiling, and
//! checks that the seeds are as intended. `fuzz/run` does the long search.

use std::fs;
use std::path::{Path, PathBuf};

#[path = "../../fuzz/src/lib.rs"]
mod targets;

fn seeds() -> Vec<(PathBuf, Vec<u8>)> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds"));
    let below = |dir: &Path| fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let mut paths: Vec<PathBuf> = below(root).iter().flat_map(|dir| below(dir)).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[test]
fn every_target_holds_on_every_seed_and_on_halves_of_two() {
    let seeds = seeds();
    assert!(seeds.len() >= 30, "{}", seeds.len());
    let joined = seeds
        .iter()
        .zip(seeds.iter().cycle().skip(1))
        .map(|((path, one), (_, other))| (path.clone(), [&one[..one.len() / 2], &other[other.len() / 2..]].concat()));
    for (path, data) in seeds.iter().cloned().chain(joined) {
        for (name, target) in targets::TARGETS {
            let held = std::panic::catch_unwind(|| target(&data));
            assert!(held.is_ok(), "`{name}` on {}: {}", path.display(), String::from_utf8_lossy(&data));
        }
    }
}

#[test]
fn every_target_has_its_program() {
    let fuzz = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz"));
    let mut programs: Vec<String> = fs::read_dir(fuzz.join("targets"))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_string())
        .collect();
    programs.sort();
    let mut names: Vec<&str> = targets::TARGETS.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    assert_eq!(programs, names);
    let manifest = fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
    for name in names {
        assert!(manifest.contains(&format!("path = \"targets/{name}.rs\"")), "{name}");
    }
}

/// A seed must not only run without a fault, but also reach the stage where the search should start.
#[test]
fn seeds_are_what_they_are_called() {
    use relax_spec::syntax::load::{ExternalForm, parse};
    for (path, data) in seeds() {
        let kind = path.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap();
        let text = String::from_utf8_lossy(&data);
        let checked = |form| parse(form, &text).is_ok_and(|module| relax_spec::check(&module).accepts());
        let holds = match (kind, name) {
            ("programs", "wrong") | ("json", "notebook" | "version") | ("protocol", "answers") => true,
            ("programs", _) => checked(ExternalForm::TvmScript),
            ("ron", "comment") => parse(ExternalForm::Ron, &text).is_ok(),
            ("ron", _) => checked(ExternalForm::Ron),
            ("json", _) => checked(ExternalForm::Json),
            ("executables", "tvm") => relax_spec::data::from_json::<relax_spec::vm::TvmExecutable>(&text)
                .is_ok_and(|made| relax_spec::vm::import(&made).is_ok()),
            ("executables", _) => relax_spec::vm::read(&text).is_ok(),
            ("relay", _) => relax_spec::relay::understand(&mut relax_spec::judge::Cx::new(), &text).accepts(),
            ("choices" | "notation" | "protocol", _) => true,
            (_, _) => false,
        };
        assert!(holds, "{}", path.display());
    }
}
