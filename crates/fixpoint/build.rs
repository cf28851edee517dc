//! Packs the relocations of the program where the C library that loads it can unpack them: each
//! start reads and applies 46,000 of them, which is a tenth of the run of a one-line policy.
//! The program stays position-independent.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script reads what cargo says, and asks the C library"
)]

use std::process::Command;

/// The first glibc that unpacks them.
const GLIBC: (u32, u32) = (2, 36);

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let can = match variable("CARGO_CFG_TARGET_ENV").as_str() {
        // It is linked in, and Rust's own is new enough.
        "musl" => true,
        "gnu" => variable("HOST") == variable("TARGET") && glibc().is_some_and(|at| at >= GLIBC),
        _ => false,
    };
    if can {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The glibc of this machine, as `getconf` names it: `glibc 2.36`.
fn glibc() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
