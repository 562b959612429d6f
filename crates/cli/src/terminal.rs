//! The options of every command about what is told on the terminal: `--color` and `--quiet`.

use std::env;
use std::io::IsTerminal as _;
use std::sync::OnceLock;

use indicatif::{ProgressBar, ProgressDrawTarget};

use super::note;

/// `--color`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, clap::ValueEnum)]
pub enum ColorOption {
    /// Where standard output is a terminal, and the environment variable NO_COLOR is not set
    #[default]
    Auto,
    Always,
    Never,
}

/// What is told on the terminal, and how.
#[derive(Clone, Copy, Default, Debug, clap::Args)]
pub struct TerminalOptions {
    /// Colours
    #[arg(long, value_enum, default_value_t = ColorOption::Auto, value_name = "WHEN", global = true, help_heading = "Terminal")]
    color: ColorOption,
    /// No notes and no progress, only results and errors
    #[arg(short, long, global = true, help_heading = "Terminal")]
    quiet: bool,
}

/// Set once, from the command line. It is not passed along, because it changes nothing that a command finds out.
static CHOSEN: OnceLock<TerminalOptions> = OnceLock::new();

impl TerminalOptions {
    /// Lets them hold from now on.
    pub fn choose(self) {
        let _ = CHOSEN.set(self);
    }

    fn chosen() -> TerminalOptions {
        CHOSEN.get().copied().unwrap_or_default()
    }
}

/// Whether findings are written in colours.
pub fn in_colours() -> bool {
    match TerminalOptions::chosen().color {
        ColorOption::Auto => std::io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none(),
        ColorOption::Always => true,
        ColorOption::Never => false,
    }
}

/// Writes a note, unless only results are wanted.
pub fn remark(text: &str) {
    if !TerminalOptions::chosen().quiet {
        note(text);
    }
}

/// A progress bar, hidden if only results are wanted.
pub fn progress(bar: ProgressBar) -> ProgressBar {
    if TerminalOptions::chosen().quiet {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar
}
