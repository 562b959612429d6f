// The library reads the sites of rules in a checkout by this, and the build script for a program that is published.

use std::fs;
use std::path::{Path, PathBuf};

/// The name under which a published program keeps the sites.
pub const KEPT: &str = "sites";

/// How the code cites a rule.
const RULE: &str = "rule!(\"";

/// `ID file:line`, a line for each place below `src/` that names a rule, tests left out.
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
