//! The binary: `argv[0]` or the first word names a persona, which returns the exit code.
//! Descriptors that the caller left open are closed; nothing else happens here.

#![forbid(unsafe_code)]

mod chef_repo;
mod deep;
mod drift;
mod exit;
mod language;
mod log;
mod paths;
mod persona;
mod personas;
mod record;
mod serve;
mod session;
mod stage;
mod stdin;
mod terminal;
mod version;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    fx_host::close_inherited();
    ExitCode::from(persona::run(std::env::args_os().collect()))
}
