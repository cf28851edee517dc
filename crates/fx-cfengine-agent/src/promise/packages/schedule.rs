//! What package methods left to do, done at the end of the section: deletions first.

use std::rc::Rc;

use fx_cfengine::command::command_arg0;
use fx_cfengine::command::{is_executable, spec_for};
use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::log;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::regex;
use fx_cfengine::text::{decode, path};
use fx_engine::{Change, Done, Level};
use fx_host::Exit;

use crate::agent::Agent;
use crate::change::{self, ABSENT};
use crate::promise::commands::judge;

/// What is done with a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Delete,
    Add,
    Update,
    Patch,
    Verify,
}

impl Operation {
    pub(super) fn word(self) -> &'static str {
        match self {
            Operation::Delete => "uninstalling",
            Operation::Add => "installing",
            Operation::Update => "updating",
            Operation::Patch => "patching",
            Operation::Verify => "verifying",
        }
    }
}

/// Packages that one command is to handle.
pub(super) struct Batch {
    pub(super) command: String,
    pub(super) operation: Operation,
    pub(super) bulk: bool,
    pub(super) items: Vec<Item>,
}

/// The name of a package for the manager, and the promise about it.
type Item = (String, Rc<Expanded>);

/// Puts a package down for later.
pub(super) fn add(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    command: &str,
    operation: Operation,
    id: &str,
) {
    log!(ctx, Verbose, "Package ({id},any,any) [name,version,arch] found");
    let bulk = promise.scalar("package_changes").is_some_and(|word| &**word == "bulk");
    let batches = &mut ctx.packages.scheduled;
    let item = (id.to_owned(), Rc::clone(promise));
    match batches.iter_mut().find(|batch| {
        batch.command == command && batch.operation == operation && batch.bulk == bulk
    }) {
        Some(batch) => batch.items.insert(0, item),
        None => batches
            .insert(0, Batch { command: command.to_owned(), operation, bulk, items: vec![item] }),
    }
}

/// Does what is scheduled, and forgets what was listed.
///
/// How that ends is logged for each promise, and does not count for the bundle.
pub(crate) fn run_scheduled(ctx: &mut Agent<'_>) {
    let mut batches = std::mem::take(&mut ctx.packages.scheduled);
    if !batches.is_empty() {
        ctx.verbose("Offering the following package-promise suggestions to the managers");
    }
    for operation in
        [Operation::Delete, Operation::Add, Operation::Update, Operation::Patch, Operation::Verify]
    {
        for batch in batches.iter_mut().filter(|batch| batch.operation == operation) {
            run_batch(ctx, batch);
        }
    }
    if batches.iter().any(|batch| batch.operation != Operation::Verify) {
        super::listing::forget_inventory(ctx);
    }
    ctx.packages.lists.clear();
}

/// A package that stands for none: its promise only makes the manager list what there is.
const IGNORED: &str = "cfe_internal_non_existing_package";

fn run_batch(ctx: &mut Agent<'_>, batch: &Batch) {
    let Some((_, first)) = batch.items.first() else { return };
    let first = Rc::clone(first);
    let verb = match batch.operation {
        Operation::Add => Some("Installing"),
        Operation::Delete => Some("Deleting"),
        Operation::Update => Some("Updating"),
        Operation::Patch | Operation::Verify => None,
    };
    if let Some(verb) = verb {
        let name: String = first.promiser.chars().take(39).collect();
        ctx.info(&format!("{verb} {name}..."));
    }
    if let Some(command) = batch.command.strip_suffix('$') {
        ctx.verbose("Command does not allow arguments");
        ctx.in_step(&first, |ctx, promise| run_one(ctx, promise, command, batch, &batch.items));
        return;
    }
    if batch.bulk {
        let mut line = batch.command.clone();
        for (id, promise) in &batch.items {
            let Some(id) = located(ctx, promise, batch.operation, id) else { break };
            line.push(' ');
            line.push_str(&id);
        }
        line.push(' ');
        let outcome =
            ctx.in_step(&first, |ctx, promise| run_one(ctx, promise, &line, batch, &batch.items));
        for (id, _) in batch.items.iter().filter(|(id, _)| id != IGNORED) {
            if outcome.is_failure() {
                ctx.error(&format!(
                    "Bulk package schedule execution failed somewhere - unknown outcome for '{id}'"
                ));
            } else {
                log!(
                    ctx,
                    Verbose,
                    "Bulk package schedule execution ok for '{id}' (outcome cannot be promised by cf-agent)"
                );
            }
        }
        return;
    }
    for item in &batch.items {
        let (id, promise) = item;
        let Some(name) = located(ctx, promise, batch.operation, id) else { continue };
        let line = format!("{} {name}", batch.command);
        let items = std::slice::from_ref(item);
        let outcome =
            ctx.in_step(promise, |ctx, promise| run_one(ctx, promise, &line, batch, items));
        if outcome.is_failure() {
            ctx.error(&format!("Package schedule execution failed for '{id}'"));
        }
    }
}

// The name to hand over: in full when it comes from a repository of files.
fn located(ctx: &Agent<'_>, promise: &Expanded, operation: Operation, id: &str) -> Option<String> {
    let repositories = promise.list("package_file_repositories");
    let Some(repositories) =
        repositories.filter(|_| matches!(operation, Operation::Add | Operation::Update))
    else {
        return Some(id.to_owned());
    };
    let name = id.strip_prefix("$(firstrepo)").unwrap_or(id);
    repositories
        .iter()
        .map(|directory| format!("{directory}/{name}"))
        .find(|file| ctx.host().stat(&path(file)).is_ok())
}

/// The beginning of a command, which its output is logged with.
pub(super) fn command_summary(line: &str) -> String {
    let word = line.split(' ').next().unwrap_or_default();
    let start = word.rfind('/').map_or(0, |at| at + 1);
    line[start..].chars().take(20).collect()
}

/// What one command of the package manager changes.
pub(super) fn changes(operation: Operation, line: &str, items: &[Item]) -> Vec<Change> {
    let of = |(_, promise): &Item| {
        let (property, from, to) = match operation {
            Operation::Delete => ("ensure", "present", ABSENT),
            Operation::Add => ("ensure", ABSENT, "present"),
            Operation::Update => ("version", "present", "latest"),
            Operation::Patch => ("patch", ABSENT, "present"),
            Operation::Verify => return change::run(line),
        };
        change::package(&promise.promiser, property, from, to)
    };
    items.iter().map(of).collect()
}

/// Runs a command of the package manager and judges it.
fn run_one(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    line: &str,
    batch: &Batch,
    items: &[Item],
) -> Outcome {
    let operation = batch.operation;
    let shell = promise.bool("package_commands_useshell").unwrap_or(true);
    if !shell && !is_executable(ctx, &command_arg0(line)) {
        let text = format!("The proposed package schedule command '{line}' was not executable");
        return ctx.settle(Level::Error, Outcome::Failed, promise, &text);
    }
    let changes = changes(operation, line, items);
    // A simulation knows packages by their names alone.
    if ctx.config.simulate.is_some() {
        return Outcome::Skipped;
    }
    if !ctx.withholds() {
        let shown: String = line.chars().take(60).collect();
        log!(ctx, Verbose, "Executing {shown}...");
        ctx.show_now();
    }
    let mut spec = spec_for(ctx, line, shell);
    spec.merge_stderr = true;
    let ended = match ctx.make(&changes, |act| act.run(&spec)) {
        Ok(Done::Made(ended)) => ended,
        Ok(Done::Withheld) => return Outcome::Skipped,
        Err(failure) => {
            let text = format!("Couldn't start command '{line:>20}'. (cf_popen: {failure})");
            return ctx.settle(Level::Error, Outcome::Failed, promise, &text);
        }
    };
    ctx.note_end(line, ended.exit, &ended.stdout);
    let verify = operation == Operation::Verify;
    let summary = command_summary(line);
    let mut failed = false;
    for output in decode(&ended.stdout).lines() {
        // The original doubles the sign as if the line were a format.
        ctx.info(&format!("Q:{summary:>20} ...:{}", output.replace('%', "%%")));
        if verify
            && !output.is_empty()
            && promise
                .scalar("package_noverify_regex")
                .is_some_and(|pattern| regex::full_or_same(pattern, output))
        {
            failed = true;
            let cut: String = summary.chars().take(40).collect();
            ctx.settle(
                Level::Info,
                Outcome::Failed,
                promise,
                &format!("Package verification error in {cut} ... :{output}"),
            );
        }
    }
    let code = match ended.exit {
        Exit::Code(code) => code,
        _ => -1,
    };
    if verify && let Some(bad) = promise.int("package_noverify_returncode") {
        if i64::from(code) == bad {
            let text = format!("Package verification error (returned {code})");
            return ctx.settle(Level::Info, Outcome::Failed, promise, &text);
        }
        let text = format!("Package verification succeeded (returned {code})");
        return ctx.settle(Level::Info, Outcome::Kept, promise, &text);
    }
    if verify && promise.has("package_noverify_regex") {
        if failed {
            return Outcome::Failed;
        }
        let text = "Package verification succeeded (no match with package_noverify_regex)";
        return ctx.settle(Level::Info, Outcome::Kept, promise, text);
    }
    judge(ctx, promise, code, &promise.promiser.clone())
}
