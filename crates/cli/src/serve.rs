//! `relax-spec server`.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::choice::Choosing;
use super::{CommandResult, Exit, Failure};
use ask::checkout;
use relax_spec::book::Rule;
use relax_spec::grammar::IrModule;
use relax_spec::judge::Cx;
use server::lsp;

/// Serve an editor, by the Language Server Protocol on standard input and output
///
/// In Python files that hold modules: findings as one types, the structural information of a name and why it was lost
/// where the pointer rests, fixes, and the way to a rule. Text outside of modules is not judged. `editors/` has an
/// extension for Visual Studio Code, and the lines that Neovim and Helix need.
#[derive(clap::Args)]
pub struct Args {
    /// The address of the book, for links to rules [default: the book of the checkout, if it is built, or the file in
    /// which the rule stands]
    #[arg(long, value_name = "URL")]
    book: Option<String>,
    #[command(flatten)]
    choosing: Choosing,
}

pub fn run(args: &Args) -> CommandResult {
    let choices = EditorChoices { args, root: checkout::root(), texts: OnceCell::new() };
    lsp::serve_stdio(&choices).map_err(Failure::unreadable)?;
    Ok(Exit::AsExpected)
}

/// The choices of the command line and of `relax-spec.toml`, and where rules stand.
struct EditorChoices<'a> {
    args: &'a Args,
    /// The checkout, if there is one.
    root: Option<PathBuf>,
    /// Without a checkout: the directory into which the texts of rules are written.
    texts: OnceCell<Option<TempDir>>,
}

impl lsp::Choices for EditorChoices<'_> {
    fn context(&self, path: &Path, module: &IrModule) -> Result<Cx, String> {
        let offered = self.args.choosing.for_file(path).map_err(|failure| failure.message)?;
        Ok(offered.stated_by(module)?.cx(Cx::new()))
    }

    fn rule_file(&self, rule: Rule) -> Option<(PathBuf, u32)> {
        let info = rule.info();
        let in_checkout = self.root.as_ref().map(|root| root.join(info.file)).filter(|path| path.is_file());
        if let Some(path) = in_checkout {
            return Some((path, u32::try_from(info.line).ok()?.saturating_sub(1)));
        }
        let dir = self.texts.get_or_init(|| TempDir::new().ok()).as_ref()?;
        let path = dir.path().join(format!("{rule}.md"));
        fs::write(&path, format!("# {rule}\n\n{}\n\nEditions: {}\n", info.text, info.editions.join(", "))).ok()?;
        Some((path, 0))
    }

    fn rule_page(&self, rule: Rule) -> Option<String> {
        let file = rule.info().file;
        let page = format!("{}.html", file.strip_prefix("spec/src/").unwrap_or(file).trim_end_matches(".md"));
        let base = match &self.args.book {
            Some(book) => book.trim_end_matches('/').to_string(),
            None => {
                let book = self.root.as_ref()?.join("target/book");
                let built = book.join(&page).is_file();
                built.then(|| format!("file://{}", book.display()))?
            }
        };
        Some(format!("{base}/{page}#r-{rule}"))
    }
}
