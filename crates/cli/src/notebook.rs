//! Jupyter notebooks: the code of their cells, as one Python file.

use std::path::Path;

use serde::Deserialize;

use relax_spec::syntax::load::{LoadError, Source};
use relax_spec::syntax::tvmscript::take_metadata;

/// The parts of a notebook that matter here.
#[derive(Deserialize)]
struct Notebook {
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
struct Cell {
    cell_type: String,
    #[serde(default)]
    source: Lines,
}

/// A text, as a whole or by its lines, each with its line break.
#[derive(Deserialize)]
#[serde(untagged)]
enum Lines {
    Whole(String),
    Lines(Vec<String>),
}

impl Default for Lines {
    fn default() -> Lines {
        Lines::Lines(Vec::new())
    }
}

/// Whether a file is a notebook, by its name.
pub fn is_notebook(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "ipynb")
}

/// The code of a notebook. Each cell begins with a comment that has its number among all cells, counted from 1. Lines
/// for the notebook itself, such as `%matplotlib inline` and `!pip install`, become comments.
pub fn code(text: &str) -> Result<Source, LoadError> {
    let notebook: Notebook = serde_json::from_str(text).map_err(|error| LoadError::Data(error.to_string()))?;
    let cells = notebook.cells.iter().enumerate().filter(|(_, cell)| cell.cell_type == "code");
    let mut text: String = cells.map(|(i, cell)| format!("# cell {}\n{}\n", i + 1, python(&cell.source))).collect();
    if text.is_empty() {
        return Err(LoadError::Empty);
    }
    let metadata = take_metadata(&mut text);
    Ok(Source { text, metadata })
}

/// The Python of a cell. A cell that begins with `%%` is in another language.
fn python(source: &Lines) -> String {
    let text = match source {
        Lines::Whole(text) => text.clone(),
        Lines::Lines(lines) => lines.concat(),
    };
    let is_other = text.trim_start().starts_with("%%");
    let line = |line: &str| match is_other || line.trim_start().starts_with(['%', '!']) {
        true => format!("# {line}\n"),
        false => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cells_with_code_are_one_file() {
        let text = r#"{"cells": [{"cell_type": "markdown", "source": "def f(:"},
            {"cell_type": "code", "source": ["%matplotlib inline\n", "N = 2\n"]},
            {"cell_type": "code", "source": "%%bash\nls"}, {"cell_type": "code"}], "nbformat": 4}"#;
        let expected = "# cell 2\n# %matplotlib inline\nN = 2\n\n# cell 3\n# %%bash\n# ls\n\n# cell 4\n\n";
        assert_eq!(code(text).unwrap().text, expected);
        assert!(matches!(code("{\"cells\": []}"), Err(LoadError::Empty)));
        assert!(matches!(code("{}"), Err(LoadError::Data(_))));
    }
}
