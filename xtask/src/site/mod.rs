//! The site: the book with a page for every rule, erratum, operator, finding, implementation and pass, built by mdBook
//! into `target/site`, and the playground, where `tools/playground.sh` has made it. The index of the search is
//! shortened, and every link is followed.

mod search;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{fs, io};

use super::{root, started};

/// mdBook, where `cargo xtask ci full` installs it, or on the path.
const INSTALLED: &str = "target/tools/bin/mdbook";

/// What the page of the playground runs: the command as WebAssembly. Its place below `target/` and below the site.
const PLAYGROUND: &str = "playground/command.js";

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
        Ok(status) if status.success() => match finish(&site) {
            Ok(()) => started("python3", "tools/check_links.py", &[site.display().to_string()]),
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

/// Makes what mdBook does not.
fn finish(site: &Path) -> Result<(), Box<dyn Error>> {
    take_playground(site).map_err(|error| format!("{PLAYGROUND}: {error}"))?;
    let (before, after) = search::shorten(site)?;
    println!("index of the search: {before} bytes, now {after}");
    Ok(())
}

/// Copies the command for the playground. Where it is not made, its page says so.
fn take_playground(site: &Path) -> io::Result<()> {
    match fs::copy(root().join("target").join(PLAYGROUND), site.join(PLAYGROUND)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            eprintln!("the playground has no command: tools/playground.sh makes it");
            Ok(())
        }
        copied => copied.map(|_| ()),
    }
}
