//! The site: the book with a page for every rule, erratum, operator, finding and pass, built by mdBook into
//! `target/site`. Every link of it is then followed.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use super::{root, started};

/// mdBook, where `cargo xtask ci full` installs it, or on the path.
const INSTALLED: &str = "target/tools/bin/mdbook";

/// Builds the site and checks its links. Fails if there is no mdBook.
pub fn run(args: Vec<String>) -> ExitCode {
    if !args.is_empty() {
        eprintln!("usage: site");
        return ExitCode::from(2);
    }
    let installed = root().join(INSTALLED);
    let mdbook = if installed.is_file() { installed } else { PathBuf::from("mdbook") };
    let built =
        Command::new(&mdbook).args(["build", "spec", "--dest-dir", "../target/site"]).current_dir(root()).status();
    match built {
        Ok(status) if status.success() => {
            let site = root().join("target/site");
            started("python3", "tools/check_links.py", &[site.display().to_string()])
        }
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            let install = "cargo install mdbook --locked --version 0.5.4 --no-default-features --features search --root target/tools";
            eprintln!("error: {}: {error} (`{install}`)", mdbook.display());
            ExitCode::from(2)
        }
    }
}
