//! The preprocessor of the book, as mdBook starts it: `supports RENDERER`, or a book as JSON on standard input and the same with anchors, badges,
//! links and a page for each edition on standard output. `spec/book.toml` names it.
//!
//! A book is built from a checkout only, whose files it links to.

mod render;

use std::io::{self, Read as _};
use std::process::ExitCode;

/// The task, with what stands behind its name on the command line.
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
        // What is added is Markdown with a little HTML, which every renderer takes.
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
