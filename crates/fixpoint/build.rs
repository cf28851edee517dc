//! Links the program at a fixed address, where the target can: half of what a small run
//! costs was the kernel copying pages for thirty thousand relocations. Nothing else.

#![expect(clippy::disallowed_methods, reason = "cargo passes the target in the environment")]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The static musl binary relocates itself and has start files of its own.
    let gnu = std::env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu");
    let linux = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    if gnu && linux {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
