//! The build tool: `cargo xtask tidy | dist | startup | truth | changes | conformance | bench`. Not part of the product.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a build tool talks to people and touches the tree"
)]

mod bench;
mod changes;
mod conformance;
mod dist;
mod functions;
mod invented;
mod layers;
mod ruby;
mod startup;
mod tidy;
mod truth;
mod truth_cases;
mod usage;
mod wording;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND
  tidy     check the tree: crate edges, file heads and sizes, neutral words, deviations
  dist     build the static binary, run it in an empty chroot, make tarball, deb and rpm
  startup  measure start-up of the release binary: processor time, memory, size
  truth    compare the claims of plans with what runs do, in copies of the machine
  changes  count the changes of plans that name target, property, from and to
  bench    compare processor time and memory of two programs on the same policies
  conformance  hold the results of a public suite against what conformance/ expects";

fn main() -> ExitCode {
    let command = std::env::args().nth(1).unwrap_or_default();
    let done = match command.as_str() {
        "tidy" => tidy::run(),
        "dist" => dist::run(),
        "startup" => startup::run(),
        "truth" => truth::run(),
        "bench" => bench::run(),
        "changes" => changes::run(),
        "conformance" => conformance::run(),
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
