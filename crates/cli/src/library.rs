//! Libraries that TVM has saved, as `refine` takes them.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use super::asking::{STARTUP, interrupt, prepare};
use super::{Exit, Failure};
use ask::adapters::Adapter;
use ask::library::SavedLibrary;

/// The time that a call of a compiled function may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// How shared libraries and saved executables begin.
const MAGIC: [&[u8]; 5] =
    [b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\x1e\x15\x14\x42\x2f\xde\x25\xd2"];

/// Whether a file is a library, by its first bytes.
pub fn is_saved(path: &Path) -> bool {
    let begin = || {
        let mut begin = Vec::new();
        File::open(path)?.take(8).read_to_end(&mut begin).map(|_| begin)
    };
    path.is_file() && begin().is_ok_and(|begin| MAGIC.iter().any(|magic| begin.starts_with(magic)))
}

/// The failure on a library without `--adapter`.
pub fn needs_adapter(path: &Path) -> Failure {
    Failure::unreadable(format!("{}: a library that TVM saved; --adapter tvm@0.27 loads it", path.display()))
}

/// Loads a library by the TVM of this name.
pub fn load(adapter: &str, path: &Path) -> Result<SavedLibrary, Failure> {
    if !is_saved(path) {
        return Err(Failure::unreadable(format!("{}: no library; --adapter loads only these", path.display())));
    }
    let others = || Failure::unreadable(format!("`{adapter}` loads no libraries; a release of TVM does, as tvm@0.27"));
    let adapters = Adapter::named(Some(adapter), STARTUP)?;
    let [adapter] = adapters.as_slice() else { return Err(others()) };
    let path = path.canonicalize().map_err(|error| Failure::new(Exit::Adapter, error))?;
    SavedLibrary::load(&prepare(adapter, STARTUP)?, &path, STARTUP, PATIENCE, &interrupt()?)?.ok_or_else(others)
}
