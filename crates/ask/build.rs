//! A published program (profile `dist`) runs outside of a checkout, so it contains a copy of the project's data. Any
//! other build reads the files in place, and need not be rebuilt when they change.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

#[path = "src/scan.rs"]
mod scan;

/// The parts of the checkout to keep: a file, or the files of a directory with an extension.
const KEPT: &[(&str, &str)] = &[
    ("conformance/suite", "ron"),
    ("conformance/ledger", "ron"),
    ("conformance/agreement", "ron"),
    ("conformance/adapters", "py"),
    ("conformance/confirmed.ron", "ron"),
    ("conformance/unconfirmed.ron", "ron"),
    ("conformance/standing.jsonl", "jsonl"),
    ("conformance/operators.jsonl", "jsonl"),
];

/// A directory with checks of the files around it, which belongs to no program.
const CHECKS: &str = "checks";

fn main() -> io::Result<()> {
    let variable = |name| env::var_os(name).map(PathBuf::from).unwrap_or_default();
    let (root, out) = (variable("CARGO_MANIFEST_DIR").join("../.."), variable("OUT_DIR"));
    println!("cargo:rerun-if-changed=build.rs");
    // `target/PROFILE/build/PACKAGE/out`: no other variable of cargo distinguishes `dist` from `release`.
    let is_published = out.ancestors().nth(3).is_some_and(|dir| dir.ends_with("dist"));
    let mut table = String::new();
    if is_published {
        for (path, extension) in KEPT {
            println!("cargo:rerun-if-changed={}", root.join(path).display());
            keep(&root, &root.join(path), extension, &mut table)?;
        }
        println!("cargo:rerun-if-changed={}", root.join("src").display());
        let _ = writeln!(table, "    ({:?}, {:?}),", scan::KEPT, scan::sites(&root));
    }
    fs::write(out.join("kept.rs"), format!("static KEPT: &[(&str, &str)] = &[\n{table}];\n"))
}

fn keep(root: &Path, path: &Path, extension: &str, table: &mut String) -> io::Result<()> {
    if path.is_dir() {
        if path.ends_with(CHECKS) {
            return Ok(());
        }
        let mut below: Vec<PathBuf> = fs::read_dir(path)?.flatten().map(|entry| entry.path()).collect();
        below.sort();
        return below.iter().try_for_each(|path| keep(root, path, extension, table));
    }
    if path.extension().is_some_and(|e| e == extension) && path.is_file() {
        let name = path.strip_prefix(root).unwrap_or(path).display().to_string();
        let _ = writeln!(table, "    ({name:?}, include_str!({:?})),", path.display().to_string());
    }
    Ok(())
}
