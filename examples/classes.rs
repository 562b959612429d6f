//! Writes `spec/src/implementations.md` from the ledgers: `cargo run --release --example classes`.

use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("spec/src/implementations.md");
    std::fs::write(path, relax_spec::suite::classes::page()?)?;
    Ok(())
}
