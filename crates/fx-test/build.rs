//! Lowers the Ruby that ships with this crate, so that a start need not parse it, and lists it.

#![expect(clippy::disallowed_methods, reason = "a build script writes the list")]

use std::fmt::Write as _;
use std::io::{Error, Result};
use std::path::Path;

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=prelude");
    let mut list = String::from("&[\n");
    for shipped in fx_ruby_syntax::lower_prelude()? {
        let name = shipped.text.file_name().unwrap_or_default().display();
        let (text, image) = (shipped.text.display(), shipped.image.display());
        let _ = writeln!(
            list,
            "Shipped {{ name: \"test/{name}\", text: include_str!(r\"{text}\"), image: include_bytes!(r\"{image}\") }},"
        );
    }
    list.push(']');
    let to = std::env::var("OUT_DIR").map_err(Error::other)?;
    std::fs::write(Path::new(&to).join("sources.rs"), list)
}
