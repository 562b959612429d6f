// The library uses this to read the sites of rules in a checkout, and the build script uses it for a published program.

use std::fs;
use std::path::{Path, PathBuf};

/// The name of the stored sites in a published program.
pub const KEPT: &str = "sites";

/// The citation of a rule in code.
const RULE: &str = "rule!(\"";

/// `ID file:line`: one line for each place in `src/` that names a rule, except in tests.
pub fn sites(root: &Path) -> String {
    let mut files = Vec::new();
    sources(&root.join("src"), &mut files);
    files.sort();
    files.iter().map(|path| sites_of(root, path)).collect()
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") && path.file_stem().is_some_and(|stem| stem != "tests") {
            found.push(path);
        }
    }
}

fn sites_of(root: &Path, path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let tests = lines.windows(2).position(|pair| pair[0] == "#[cfg(test)]" && pair[1].ends_with('{'));
    let file = path.strip_prefix(root).unwrap_or(path).display().to_string();
    let code = lines.iter().enumerate().take(tests.unwrap_or(lines.len()));
    let mut out = String::new();
    for (i, line) in code.filter(|(_, line)| !line.trim_start().starts_with("//")) {
        for (at, opening) in line.match_indices(RULE) {
            let id = line[at + opening.len()..].split('"').next().unwrap_or_default();
            out.push_str(&format!("{id} {file}:{}\n", i + 1));
        }
    }
    out
}
