//! Our own command line: verbs, their help, and the way to each.

mod attempt;
mod check;
mod compile;
mod copy;
mod deploy;
mod facts;
mod generate;
mod history;
mod link;
mod nodes;
mod run;
mod saved;
mod serve;
mod test;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::persona::Invocation;
use crate::{exit, terminal};

/// Runs CFEngine policy, Puppet manifests and Chef cookbooks on one engine.
#[derive(Parser)]
#[command(name = "fixpoint", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = exit::TABLE)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Bring the machine to the state a policy describes
    Run(run::RunArgs),
    /// Show what a run would do
    Plan(run::PlanArgs),
    /// Run in a throw-away copy of the machine, twice, and show what happened
    Try(attempt::Args),
    /// Show the order of an evaluation, and the reason of each step
    Explain(run::ExplainArgs),
    /// Parse and check policy without acting on it
    Check(check::Args),
    /// Run spec files with the built-in Ruby and RSpec
    Test(test::Args),
    /// Compile Puppet catalogs to JSON
    Compile(compile::CompileArgs),
    /// Serve catalogs, files and certificates to Puppet's agents
    Serve(serve::Args),
    /// Put a version of a Puppet environment in place, all at once
    Deploy(deploy::Args),
    /// Compile catalogs for a server, which is at the other end of standard input
    #[command(name = "serve-compiler", hide = true)]
    ServeCompiler {
        /// Seconds that a catalog may take
        limit: u64,
        /// Code may look at the machine, and not act on it
        #[arg(long)]
        looking: bool,
    },
    /// Show what the machine is
    Facts(facts::Args),
    /// List past runs, or show one with its steps
    History(history::Args),
    /// Make links named like the tools fixpoint can be
    Link(link::Args),
    /// Print the completion script for a shell
    Completions(generate::CompletionArgs),
    /// Write the manual pages into a directory
    Man(generate::ManArgs),
}

pub(crate) fn main(invocation: &Invocation) -> u8 {
    let argv = std::iter::once(invocation.name.into()).chain(invocation.args.iter().cloned());
    let parsed =
        command().try_get_matches_from(argv).and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            let told = error.print();
            return if error.use_stderr() { exit::USAGE } else { terminal::arrived(told) };
        }
    };
    match cli.verb {
        Verb::Run(args) => deep(move || run::run(&args)),
        Verb::Plan(args) => deep(move || run::plan(&args)),
        Verb::Try(args) => attempt::run(&args),
        Verb::Explain(args) => deep(move || run::explain(&args)),
        Verb::Check(args) => deep(move || check::run(&args)),
        Verb::Test(args) => test::run(args),
        Verb::Compile(args) => compile::run(&args),
        Verb::Serve(args) => serve::run(&args),
        Verb::Deploy(args) => deploy::run(&args),
        Verb::ServeCompiler { limit, looking } => crate::serve::compile_for_server(limit, looking),
        Verb::Facts(args) => facts::run(&args),
        Verb::History(args) => history::run(&args),
        Verb::Link(args) => link::run(&args),
        Verb::Completions(args) => generate::completions(&args),
        Verb::Man(args) => generate::man(&args),
    }
}

/// Evaluates on a large stack.
fn deep(work: impl FnOnce() -> u8 + Send + 'static) -> u8 {
    match crate::deep::spawn(work) {
        Ok(worker) => worker.join().unwrap_or(exit::ERROR),
        Err(error) => failed(error),
    }
}

/// The whole command line, for parsing and for everything generated from it.
fn command() -> clap::Command {
    // Nodes of a server have their code there.
    let may_be_left_out = |targets: clap::Arg| {
        targets.required(false).required_unless_present_any(["node", "all_nodes"])
    };
    Cli::command().mut_subcommand("plan", |plan| plan.mut_arg("targets", may_be_left_out))
}

/// Says what went wrong and gives the code for it.
fn failed(error: impl std::fmt::Display) -> u8 {
    terminal::complain(error);
    exit::ERROR
}
