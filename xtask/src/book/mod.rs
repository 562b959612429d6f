//! The preprocessor of the book, as mdBook calls it: either `supports RENDERER`, or without arguments. It then reads a
//! book as JSON from standard input, and writes it to standard output with anchors, badges, links and a page for each
//! edition. `spec/book.toml` names it.
//!
//! A book can only be built in a checkout, because it links to the files there.

mod render;

use std::io::{self, Read as _};
use std::process::ExitCode;

/// Runs the task with the arguments after its name.
pub fn run(args: Vec<String>) -> ExitCode {
    match preprocess(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn preprocess(args: &[String]) -> Result<(), String> {
    match args.iter().map(String::as_str).collect::<Vec<&str>>().as_slice() {
        // The additions are Markdown with some HTML, which every renderer accepts.
        ["supports", _renderer] => Ok(()),
        [] => {
            let mut text = String::new();
            io::stdin().read_to_string(&mut text).map_err(|error| error.to_string())?;
            let input = serde_json::from_str(&text).map_err(|error| format!("standard input: {error}"))?;
            let book = render::book(input)?;
            println!("{}", serde_json::to_string(&book).map_err(|error| error.to_string())?);
            Ok(())
        }
        _ => Err("usage: book [supports RENDERER]".to_string()),
    }
}
