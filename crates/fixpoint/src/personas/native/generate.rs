//! What is made from the command line itself: completion scripts and manual pages.

use std::path::PathBuf;

use fx_host::{Edits, HostError, OsHost, WriteOptions};

use super::{command, failed};
use crate::{exit, terminal};

/// Prints the completion script for a shell.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  fixpoint completions bash > /etc/bash_completion.d/fixpoint
  fixpoint completions zsh > ~/.zfunc/_fixpoint")]
pub(crate) struct CompletionArgs {
    /// The shell
    shell: clap_complete::Shell,
}

/// Writes the manual pages into a directory.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  fixpoint man /usr/local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Directory that gets the pages; it must be there
    dir: PathBuf,
}

pub(crate) fn completions(args: &CompletionArgs) -> u8 {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "fixpoint", &mut script);
    terminal::print(&String::from_utf8_lossy(&script))
}

pub(crate) fn man(args: &ManArgs) -> u8 {
    match write_pages(&args.dir) {
        Ok(()) => exit::OK,
        Err(error) => failed(error),
    }
}

fn write_pages(dir: &std::path::Path) -> Result<(), HostError> {
    let host = OsHost::new();
    let mut top = command();
    top.build();
    let verbs: Vec<clap::Command> = top.get_subcommands().cloned().collect();
    for page in std::iter::once(top).chain(verbs) {
        let name = page.get_display_name().unwrap_or_else(|| page.get_name()).to_owned();
        let path = dir.join(format!("{name}.1"));
        let mut text = Vec::new();
        let man = clap_mangen::Man::new(page);
        man.render(&mut text).map_err(|error| HostError::io("render", &path, error))?;
        host.write(&path, &text, &WriteOptions { mode: Some(0o644), ..WriteOptions::default() })?;
    }
    host.commit()
}
