//! Lowers the Ruby that ships with this crate, so that a start need not parse it, and lists it.

#![expect(clippy::disallowed_methods, reason = "a build script reads and writes the tree")]

use std::fmt::Write as _;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};

fn main() -> Result<()> {
    let from = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").map_err(Error::other)?);
    let to = PathBuf::from(std::env::var("OUT_DIR").map_err(Error::other)?);
    println!("cargo::rerun-if-changed=prelude");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(from.join("prelude"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if Path::new(&name).extension().is_some_and(|extension| extension == "rb") {
            names.push(name);
        }
    }
    names.sort();
    let mut list = String::from("&[\n");
    for name in names {
        let path = from.join("prelude").join(&name);
        let image = fx_ruby_syntax::image(&std::fs::read(&path)?)
            .ok_or_else(|| Error::other(format!("{}: syntax error", path.display())))?;
        std::fs::write(to.join(&name), image)?;
        let (text, image) = (path.display(), to.join(&name));
        let image = image.display();
        let _ = writeln!(
            list,
            "Shipped {{ name: \"chef/{name}\", text: include_str!(r\"{text}\"), image: include_bytes!(r\"{image}\") }},"
        );
    }
    list.push(']');
    std::fs::write(to.join("sources.rs"), list)
}
