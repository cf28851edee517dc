//! For build scripts: lowers the Ruby that ships with a crate into images, so that a start
//! need not parse it. Never called by the program itself.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a build script reads and writes the tree, and speaks to cargo"
)]

use std::fmt::Write as _;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};

use crate::image;

/// A text of the crate's `prelude` and its image.
pub struct Lowered {
    pub text: PathBuf,
    pub image: PathBuf,
}

/// Writes an image of the same name for each Ruby file below `prelude` and lists them in the
/// order of their names.
pub fn lower_prelude() -> Result<Vec<Lowered>> {
    let from = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").map_err(Error::other)?);
    let to = PathBuf::from(std::env::var("OUT_DIR").map_err(Error::other)?);
    let mut lowered = Vec::new();
    lower(&from.join("prelude"), &to, &mut lowered)?;
    lowered.sort_by(|one, other| one.text.cmp(&other.text));
    Ok(lowered)
}

/// The same, and a list of them as Rust in `sources.rs`, each under `family/NAME`.
pub fn ship_prelude(family: &str) -> Result<()> {
    println!("cargo::rerun-if-changed=prelude");
    let mut list = String::from("&[\n");
    for shipped in lower_prelude()? {
        let name = shipped.text.file_name().unwrap_or_default().display();
        let (text, image) = (shipped.text.display(), shipped.image.display());
        let _ = writeln!(
            list,
            "Shipped {{ name: \"{family}/{name}\", text: include_str!(r\"{text}\"), image: include_bytes!(r\"{image}\") }},"
        );
    }
    list.push(']');
    let to = PathBuf::from(std::env::var("OUT_DIR").map_err(Error::other)?);
    std::fs::write(to.join("sources.rs"), list)
}

fn lower(from: &Path, to: &Path, lowered: &mut Vec<Lowered>) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let text = entry?.path();
        let Some(name) = text.file_name() else { continue };
        let image = to.join(name);
        if text.is_dir() {
            lower(&text, &image, lowered)?;
        } else if text.extension().is_some_and(|extension| extension == "rb") {
            let bytes = image::image(&std::fs::read(&text)?)
                .ok_or_else(|| Error::other(format!("{}: syntax error", text.display())))?;
            std::fs::write(&image, bytes)?;
            lowered.push(Lowered { text, image });
        }
    }
    Ok(())
}
