//! The location of the project's own files, if the program runs inside a checkout.

use std::io::{Read as _, Write};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// A file that only a checkout of this project has.
const MARK: &str = "conformance/INTERPRETING.md";

/// The root of the checkout that contains the program, or else of the one that contains the working directory.
pub fn root() -> Option<PathBuf> {
    of_the_program().or_else(|| around(&env::current_dir().ok()?))
}

/// The root of the checkout that contains the program.
pub fn of_the_program() -> Option<PathBuf> {
    around(&env::current_exe().ok()?)
}

fn around(start: &Path) -> Option<PathBuf> {
    let is_root = |dir: &&Path| dir.join(MARK).is_file() && dir.join("Cargo.toml").is_file();
    start.ancestors().find(is_root).map(Path::to_path_buf)
}

/// Writes a file via a temporary file that is renamed, so that no reader sees half of it. A link is followed, and its
/// target is written. The permissions stay. Anything else, such as a device or a pipe, is written directly.
pub fn write_atomically(path: &Path, text: &[u8]) -> io::Result<()> {
    if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        fs::create_dir_all(dir)?;
    }
    let before = match fs::metadata(path) {
        Ok(before) if before.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(before) if !before.is_file() => return fs::OpenOptions::new().write(true).open(path)?.write_all(text),
        Ok(before) => Some(before),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    // A dangling link is left to the system, which follows it when it creates the file.
    let Some(before) = before else {
        return if fs::symlink_metadata(path).is_ok() { fs::write(path, text) } else { replace(path, text, None) };
    };
    replace(&fs::canonicalize(path)?, text, Some(before.permissions()))
}

/// Writes a new file completely or not at all. Fails if the name exists.
pub fn write_new(path: &Path, text: &[u8]) -> io::Result<()> {
    neighbour(path, text)?.persist_noclobber(path)?;
    Ok(())
}

fn replace(path: &Path, text: &[u8], permissions: Option<fs::Permissions>) -> io::Result<()> {
    let neighbour = neighbour(path, text)?;
    if let Some(permissions) = permissions {
        neighbour.as_file().set_permissions(permissions)?;
    }
    neighbour.persist(path)?;
    Ok(())
}

/// A temporary file beside the final one. It is removed when dropped, unless it has become the final file.
fn neighbour(path: &Path, text: &[u8]) -> io::Result<tempfile::NamedTempFile> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut neighbour = as_any_new_file().tempfile_in(dir)?;
    neighbour.write_all(text)?;
    // If the name is found after a power failure, so is the text.
    neighbour.as_file().sync_all()?;
    Ok(neighbour)
}

/// By default, temporary files are private.
fn as_any_new_file() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}

/// The maximum number of bytes of a file to read.
const MAX_FILE: u64 = 256 << 20;

/// The text of a regular file. Anything else, such as a pipe or a device, may never end, and is not opened.
///
/// # Errors
///
/// It is not a regular file, it is too large, or it cannot be read.
pub fn read_regular(path: &Path) -> io::Result<String> {
    let found = fs::metadata(path)?;
    if !found.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let mut text = String::new();
    fs::File::open(path)?.take(MAX_FILE + 1).read_to_string(&mut text)?;
    match text.len() as u64 > MAX_FILE {
        true => Err(io::Error::other(format!("it has more than {MAX_FILE} bytes"))),
        false => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

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

    #[test]
    #[cfg(unix)]
    fn links_and_permissions_stay() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link, dangling) = (dir.path().join("file"), dir.path().join("link"), dir.path().join("dangling"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("file", &link).unwrap();
        symlink("later", &dangling).unwrap();
        write_atomically(&link, b"new").unwrap();
        write_atomically(&dangling, b"later").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(fs::symlink_metadata(&dangling).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::read(dir.path().join("later")).unwrap(), b"later");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(write_atomically(dir.path(), b"a directory").is_err());
    }

    #[test]
    #[cfg(unix)]
    fn what_cannot_be_written_leaves_what_there_was() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "old").unwrap();
        // A full device of our own, if we may make one.
        let full = dir.path().join("full");
        let made = std::process::Command::new("mknod").arg(&full).args(["c", "1", "7"]).status();
        if made.is_ok_and(|status| status.success()) {
            assert_eq!(write_atomically(&full, b"text").unwrap_err().kind(), io::ErrorKind::StorageFull);
            assert!(fs::symlink_metadata(&full).unwrap().file_type().is_char_device());
        }
        assert!(write_atomically(&path.join("below a file"), b"text").is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert!(fs::read_dir(dir.path()).unwrap().count() <= 2);
    }
}
