//! The build tool: `cargo xtask tidy | dist | startup | truth | changes`. Not part of the product.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a build tool talks to people and touches the tree"
)]

mod changes;
mod dist;
mod layers;
mod startup;
mod tidy;
mod truth;
mod truth_cases;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND
  tidy     check the tree: crate edges, file heads and sizes, neutral words, deviations
  dist     build the static binary, run it in an empty chroot, make tarball, deb and rpm
  startup  measure start-up of the release binary: processor time, memory, size
  truth    compare the claims of plans with what runs do, in copies of the machine
  changes  count the changes of plans that name target, property, from and to";

fn main() -> ExitCode {
    let command = std::env::args().nth(1).unwrap_or_default();
    let done = match command.as_str() {
        "tidy" => tidy::run(),
        "dist" => dist::run(),
        "startup" => startup::run(),
        "truth" => truth::run(),
        "changes" => changes::run(),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(64);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask {command}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
