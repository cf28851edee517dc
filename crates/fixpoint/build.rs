//! How the program is linked where the C library is glibc: at a fixed address, and with the
//! library inside where its static form is installed. Half of what a small run costs was the
//! kernel copying pages for thirty thousand relocations and the loader looking up names.
//! Nothing else.

#![expect(clippy::disallowed_methods, reason = "a build script asks cargo and the C compiler")]

use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let asked = |name: &str| std::env::var(name).map_err(Error::other);
    // The musl binary is static by itself, and has start files of its own.
    if asked("TARGET")?.ends_with("-linux-gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
        let to = PathBuf::from(asked("OUT_DIR")?);
        // The compiler that is asked for the libraries is that of this machine.
        if asked("TARGET")? == asked("HOST")? && write_static_names(&to)? {
            println!("cargo::rustc-link-arg-bins=-L{}", to.display());
            println!("cargo::rustc-link-arg-bins=-static");
            // At a fixed address and with nothing to load, our own first instructions can run
            // before those of the library.
            if asked("CARGO_CFG_TARGET_ARCH")? == "x86_64" {
                println!("cargo::rustc-link-arg-bins=-Wl,-e,fixpoint_entry");
            }
        }
    }
    Ok(())
}

/// Names under which the linker finds the static library for each that rustc asks for by its
/// shared name; rustc's own way, the feature `crt-static`, would need `--target` on every
/// command. False where one is not installed.
fn write_static_names(to: &Path) -> Result<bool> {
    for name in ["c", "m", "util", "rt", "pthread", "dl", "gcc_eh", "gcc"] {
        let library = format!("lib{name}.a");
        let asked = Command::new("cc").arg(format!("-print-file-name={library}")).output();
        let Ok(answer) = asked else { return Ok(false) };
        let path = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
        // A compiler that has no such file answers with the bare name.
        if !Path::new(&path).is_absolute() {
            return Ok(false);
        }
        std::fs::write(to.join(library), format!("INPUT({path})\n"))?;
    }
    // Unwinding has another name in its static form.
    std::fs::write(to.join("libgcc_s.a"), "INPUT(-lgcc_eh -lgcc)\n")?;
    Ok(true)
}
