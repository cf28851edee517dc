//! Lowers the Ruby that ships with this crate, so that a start need not parse it.

#![expect(clippy::disallowed_methods, reason = "a build script reads and writes the tree")]

use std::io::{Error, Result};
use std::path::{Path, PathBuf};

fn main() -> Result<()> {
    let from = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").map_err(Error::other)?);
    let to = PathBuf::from(std::env::var("OUT_DIR").map_err(Error::other)?);
    println!("cargo::rerun-if-changed=prelude");
    lower(&from.join("prelude"), &to)
}

/// An image under the same name for each Ruby file of a directory and below.
fn lower(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let path = entry?.path();
        let Some(name) = path.file_name() else { continue };
        if path.is_dir() {
            lower(&path, &to.join(name))?;
        } else if path.extension().is_some_and(|extension| extension == "rb") {
            let image = fx_ruby_syntax::image(&std::fs::read(&path)?)
                .ok_or_else(|| Error::other(format!("{}: syntax error", path.display())))?;
            std::fs::write(to.join(name), image)?;
        }
    }
    Ok(())
}
