//! `fixpoint try`: the real run in a throw-away copy of the machine, then the same again.
//!
//! Shows what the first run left on the file system, and which items of a later run were
//! not content with it.

mod entries;

use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use fx_host::{Attributes, ChangeKind, FsChange, OsHost, Sandbox, Spec, Stream};
use fx_report::unified;
use serde_json::{Value, json};

use super::{copy, failed};
use crate::language::PolicyArgs;
use crate::{exit, paths, terminal};

/// Runs policy for real in a throw-away copy of this machine, twice, and shows what it did.
#[derive(clap::Args)]
#[command(after_help = "\
Limits: needs root; an ordinary user can use 'fixpoint plan' and 'fixpoint check'. Kernel
settings, processes and other machines are not copied; what the policy does to them inside
is lost or fails. Services are recorded, not started. Without --net there is no network.

Examples:
  fixpoint try site.cf               exit code 3 when the second run changes something
  fixpoint try --net site.cf         packages can be fetched
  fixpoint try --keep /tmp/out site.cf
  fixpoint try --shell site.cf       look around in the copy; it ends with the shell")]
pub(crate) struct Args {
    #[command(flatten)]
    policy: PolicyArgs,
    /// Lets the run use the machine's network
    #[arg(long)]
    net: bool,
    /// How often the policy is run
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=100))]
    runs: u32,
    /// Copies what was changed into this directory, which must not exist
    #[arg(long)]
    keep: Option<PathBuf>,
    /// Starts a shell in the copy after the runs, to look around
    #[arg(long, conflicts_with = "format")]
    shell: bool,
    /// Form of the output
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people
    #[default]
    Text,
    /// JSON
    Json,
}

/// An item of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Item {
    resource: String,
    action: String,
    outcome: String,
    reason: String,
    origin: String,
}

/// One run inside.
struct Attempt {
    /// What was dealt with, in order.
    steps: Vec<Item>,
    code: i32,
    complaints: String,
}

pub(crate) fn run(args: &Args) -> u8 {
    let host = OsHost::cancelled_by(fx_host::stop_on_signals());
    let sandbox = match copy::make(args.net) {
        Ok(sandbox) => sandbox,
        Err(error) => {
            terminal::complain(
                "an ordinary user can 'check' policy of all languages and 'plan' CFEngine policy without functions that run commands; a run is tried by root only",
            );
            return failed(error);
        }
    };
    let mut attempts = Vec::new();
    for _ in 0..args.runs {
        match attempt(&host, &sandbox, args) {
            Ok(attempt) => attempts.push(attempt),
            Err(error) => return failed(error),
        }
    }
    let state = paths::state_dir(&host);
    let changes: Vec<FsChange> =
        sandbox.changes().into_iter().filter(|change| !change.path.starts_with(&state)).collect();
    if let Some(dir) = &args.keep
        && let Err(error) = keep(&host, &sandbox, dir)
    {
        return failed(error);
    }
    let later: Vec<&Item> = attempts.iter().skip(1).flat_map(Attempt::items).collect();
    let broken = attempts.iter().any(|attempt| attempt.code != 0);
    let code = if broken {
        exit::ERROR
    } else if later.is_empty() {
        exit::OK
    } else {
        exit::NOT_IDEMPOTENT
    };
    let services = copy::services(&sandbox);
    let text = match args.format {
        Format::Text => told(&attempts, &changes, &services, &later, broken),
        Format::Json => format!("{:#}\n", as_json(&attempts, &changes, &services, &later, broken)),
    };
    let code = code.max(terminal::print(&text));
    if args.shell
        && let Err(error) = sandbox.shell(&["/bin/sh", "-i"])
    {
        return failed(error);
    }
    code
}

fn attempt(host: &OsHost, sandbox: &Sandbox, args: &Args) -> Result<Attempt, fx_host::HostError> {
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("/proc/self/exe"));
    let mut argv: Vec<OsString> =
        vec![program.into(), "run".into(), "--format".into(), "json".into()];
    argv.extend(args.policy.words());
    let spec = Spec { cwd: Some(fx_host::Env::cwd(host)), output_limit: 0, ..Spec::argv(argv) };
    let mut steps = Vec::new();
    let mut complaints = String::new();
    let ended = sandbox.run_streaming(host, &spec, &mut |line| match line.stream {
        Stream::Stdout => steps.extend(
            serde_json::from_slice(line.bytes)
                .ok()
                .and_then(|event: Value| item(&event, &mut complaints)),
        ),
        Stream::Stderr => {
            complaints.push_str(&String::from_utf8_lossy(line.bytes));
            complaints.push('\n');
        }
    })?;
    Ok(Attempt { steps, code: ended.exit.code(), complaints })
}

impl Attempt {
    /// Those that did more than look.
    fn items(&self) -> impl Iterator<Item = &Item> {
        self.steps
            .iter()
            .filter(|step| !matches!(&*step.outcome, "kept" | "skipped" | "not-reached"))
    }
}

/// The item an event closes; messages of errors are kept apart.
fn item(event: &Value, complaints: &mut String) -> Option<Item> {
    let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
    if event["event"] == "message" && event["level"] == "error" {
        let _ = writeln!(complaints, "{}", text("text"));
    }
    let dealt_with = event["event"] == "step_closed" && event["purpose"] == "act";
    dealt_with.then(|| Item {
        resource: text("resource"),
        action: text("action"),
        outcome: text("outcome"),
        reason: text("reason"),
        origin: text("origin"),
    })
}

fn told(
    attempts: &[Attempt],
    changes: &[FsChange],
    services: &[String],
    later: &[&Item],
    broken: bool,
) -> String {
    let mut out = String::from("first run\n");
    let first = &attempts[0];
    for item in first.items() {
        let _ = writeln!(out, "  {}", line(item));
    }
    if first.items().next().is_none() {
        out.push_str("  nothing to do\n");
    }
    for complaint in first.complaints.lines() {
        let _ = writeln!(out, "  ! {complaint}");
    }
    out.push_str("file system\n");
    for change in changes {
        describe(&mut out, change);
    }
    if changes.is_empty() {
        out.push_str("  unchanged\n");
    }
    let entries = entries::told(changes);
    if !entries.is_empty() {
        out.push_str("accounts and packages\n");
    }
    for entry in entries {
        let _ = writeln!(out, "  {entry}");
    }
    if !services.is_empty() {
        out.push_str("services, not touched\n");
    }
    for service in services {
        let _ = writeln!(out, "  {service}");
    }
    let verdict = match (broken, later.is_empty(), attempts.len()) {
        (true, ..) => "a run failed",
        (_, _, 1) => "one run only: nothing is said of idempotence",
        (_, true, _) => "idempotent",
        _ => "not idempotent",
    };
    let _ = writeln!(out, "verdict: {verdict}");
    for item in later {
        let _ = writeln!(out, "  again: {}", line(item));
    }
    out
}

fn line(item: &Item) -> String {
    let mut text = format!("{:<12} {}", item.outcome, item.resource);
    for (open, part) in [(": ", &item.reason), (" at ", &item.origin)] {
        if !part.is_empty() {
            let _ = write!(text, "{open}{part}");
        }
    }
    text
}

fn describe(out: &mut String, change: &FsChange) {
    let attributes = |attributes: Option<Attributes>| {
        attributes.map_or_else(String::new, |a| format!("{:04o} {}:{}", a.mode, a.uid, a.gid))
    };
    let (before, after) = (attributes(change.before), attributes(change.after));
    let path = fx_source::visible_path(change.path.as_os_str().as_encoded_bytes());
    let slash = if change.after.or(change.before).is_some_and(|a| a.is_dir) { "/" } else { "" };
    let _ = match change.kind {
        ChangeKind::Added => writeln!(out, "  added      {path}{slash} {after}"),
        ChangeKind::Deleted => writeln!(out, "  deleted    {path}{slash}"),
        ChangeKind::Content => writeln!(
            out,
            "  changed    {path} {}",
            if before == after { String::new() } else { format!("{before} -> {after}") }.trim_end()
        ),
        ChangeKind::Attributes => writeln!(out, "  attributes {path}{slash} {before} -> {after}"),
    };
    let shows = change.kind == ChangeKind::Content
        || (change.kind == ChangeKind::Added && slash.is_empty());
    // What not everyone may read is not copied onto a screen. New files come from the policy.
    let secret = change.before.is_some_and(|before| before.mode & 0o004 == 0);
    if let Some((old, new)) = change.contents(MAX_SHOWN).filter(|_| shows && !secret) {
        for line in unified(&path, &old, &new).lines().skip(2) {
            let _ = writeln!(out, "    {}", fx_source::visible(line));
        }
    }
}

/// Larger files are named only.
const MAX_SHOWN: u64 = 64 * 1024;

fn keep(host: &OsHost, sandbox: &Sandbox, dir: &Path) -> Result<(), fx_host::HostError> {
    fx_host::Files::make_dir(host, dir, 0o700)?;
    for layer in sandbox.layers() {
        let name = layer.mount.to_string_lossy().trim_matches('/').replace('/', "-");
        let to = dir.join(if name.is_empty() { "root".to_owned() } else { name });
        let from = sandbox.upper(layer);
        let spec =
            Spec::argv([OsString::from("cp"), "-a".into(), "--".into(), from.into(), to.into()]);
        let ended = fx_host::Commands::run(host, &spec)?;
        if !ended.exit.success() {
            terminal::complain(String::from_utf8_lossy(&ended.stderr).trim_end());
        }
    }
    Ok(())
}

fn as_json(
    attempts: &[Attempt],
    changes: &[FsChange],
    services: &[String],
    later: &[&Item],
    broken: bool,
) -> Value {
    let item = |item: &Item| json!({ "resource": item.resource, "action": item.action, "outcome": item.outcome, "reason": item.reason, "origin": item.origin });
    let attributes = |attributes: Option<Attributes>| {
        attributes.map(|a| json!({ "mode": format!("{:04o}", a.mode), "uid": a.uid, "gid": a.gid, "directory": a.is_dir }))
    };
    let kind = |kind| match kind {
        ChangeKind::Added => "added",
        ChangeKind::Deleted => "deleted",
        ChangeKind::Content => "content",
        ChangeKind::Attributes => "attributes",
    };
    json!({
        "schema": 1,
        "runs": attempts.iter().map(|attempt| json!({
            "exit": attempt.code,
            "items": attempt.items().map(item).collect::<Vec<_>>(),
            "steps": attempt.steps.iter().map(item).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "file_system": changes.iter().map(|change| json!({
            "path": change.path.to_string_lossy(), "kind": kind(change.kind),
            "before": attributes(change.before), "after": attributes(change.after),
        })).collect::<Vec<_>>(),
        "accounts_and_packages": entries::told(changes),
        "services": services,
        "idempotent": if broken || attempts.len() < 2 { Value::Null } else { Value::Bool(later.is_empty()) },
        "again": later.iter().map(|entry| item(entry)).collect::<Vec<_>>(),
    })
}
