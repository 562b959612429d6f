//! Where the project's own files are, when the program runs inside a checkout.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// A file that only a checkout of this project has.
const MARK: &str = "conformance/INTERPRETING.md";

/// The root of the checkout that the program was built in, or else that the working directory is in.
pub fn root() -> Option<PathBuf> {
    let starts = [env::current_exe().ok(), env::current_dir().ok()];
    starts.into_iter().flatten().find_map(|start| {
        start
            .ancestors()
            .find(|dir| dir.join(MARK).is_file() && dir.join("Cargo.toml").is_file())
            .map(Path::to_path_buf)
    })
}

/// Writes a file by writing a neighbour and renaming it, so that no reader sees half of it.
pub fn write_atomically(path: &Path, text: &[u8]) -> io::Result<()> {
    if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        fs::create_dir_all(dir)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.tmp", std::process::id()));
    let neighbour = path.with_file_name(name);
    fs::write(&neighbour, text)?;
    fs::rename(&neighbour, path).inspect_err(|_| {
        // Nothing is lost if the neighbour stays behind.
        let _ = fs::remove_file(&neighbour);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_no_neighbour_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/file.txt");
        write_atomically(&path, b"one").unwrap();
        write_atomically(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(dir.path().join("new")).unwrap().count(), 1);
    }
}
