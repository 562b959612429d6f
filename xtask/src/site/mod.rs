//! The site: the book with a page for every rule, erratum, operator, finding, implementation and pass, built by mdBook
//! into `target/site`. The index of its search is shortened, and every link of it is followed.

mod search;

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
    // `--dest-dir` is seen from the working directory, and the preprocessor starts in the book's directory.
    let site = root().join("target/site");
    let mut command = Command::new(&mdbook);
    command.arg("build").arg("spec").arg("--dest-dir").arg(&site).current_dir(root());
    // This program is the preprocessor, so that it need not be built again.
    if let Ok(program) = std::env::current_exe() {
        command.env("MDBOOK_PREPROCESSOR__RELAX_SPEC__COMMAND", format!("{} book", program.display()));
    }
    match command.status() {
        Ok(status) if status.success() => match search::shorten(&site) {
            Ok((before, after)) => {
                println!("index of the search: {before} bytes, now {after}");
                started("python3", "tools/check_links.py", &[site.display().to_string()])
            }
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
        },
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            let install = "cargo install mdbook --locked --version 0.5.4 --no-default-features --features search --root target/tools";
            eprintln!("error: {}: {error} (`{install}`)", mdbook.display());
            ExitCode::from(2)
        }
    }
}
