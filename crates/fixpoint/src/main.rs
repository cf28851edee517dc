//! The binary: `argv[0]` or the first word names a persona, which returns the exit code.
//! Nothing else happens here.

#![forbid(unsafe_code)]

mod deep;
mod drift;
mod exit;
mod language;
mod log;
mod paths;
mod persona;
mod personas;
mod puppet_compile;
mod puppet_config;
mod puppet_dump;
mod puppet_settings;
mod puppet_tools;
mod record;
mod session;
mod stage;
mod terminal;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: fx_alloc::Allocator = fx_alloc::Allocator;

fn main() -> ExitCode {
    ExitCode::from(persona::run(std::env::args_os().collect()))
}
