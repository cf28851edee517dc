//! `fixpoint try`: the real run in a throw-away copy of the machine, then the same again.
//!
//! Shows what the first run left on the file system, and which items of a later run were
//! not content with it.

mod entries;
mod shown;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fx_host::{Changes, Exit, OsHost, Sandbox, SandboxOptions, Spec, Stream, stop_signal};
use serde_json::Value;

use super::{copy, failed};
use crate::language::PolicyArgs;
use crate::{exit, paths, terminal};

/// Runs policy for real in a throw-away copy of this machine, twice, and shows what it did.
#[derive(clap::Args)]
#[command(after_help = "\
Limits: needs root; an ordinary user can use 'fixpoint plan' and 'fixpoint check'. Kernel
settings, mounts, the host name, processes and other machines are not copied: setting them
inside fails. Services are recorded, not started. Without --net there is no network.

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
    /// Ends a run after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// Most processes in the copy, where the machine has control groups
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(16..))]
    max_processes: Option<u64>,
    /// Most memory of the copy in MiB, likewise
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(16..1 << 40))]
    max_memory: Option<u64>,
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

/// About as many bytes of errors are kept of a run.
const MAX_COMPLAINTS: usize = 1 << 20;

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
#[derive(Default)]
struct Attempt {
    /// What was dealt with, in order.
    steps: Vec<Item>,
    /// What steps with secrets dealt with.
    secrets: Vec<Item>,
    code: i32,
    complaints: String,
}

/// All that was found.
struct Tried<'a> {
    sandbox: &'a Sandbox,
    attempts: Vec<Attempt>,
    changes: Changes,
    services: Vec<String>,
}

pub(crate) fn run(args: &Args) -> u8 {
    let host = OsHost::cancelled_by(fx_host::stop_on_signals());
    let options = SandboxOptions {
        net: args.net || args.policy.server,
        processes: args.max_processes,
        memory: args.max_memory.map(|mebibytes| mebibytes << 20),
        ..SandboxOptions::default()
    };
    let sandbox = match copy::make(options) {
        Ok(sandbox) => sandbox,
        Err(_) if stop_signal().is_some() => return stopped(),
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
            _ if stop_signal().is_some() => return stopped(),
            Ok(attempt) => attempts.push(attempt),
            Err(error) => return failed(error),
        }
    }
    let state = paths::state_dir(&host);
    let mut changes = sandbox.changes();
    changes.found.retain(|change| !change.path.starts_with(&state));
    if let Some(dir) = &args.keep
        && let Err(error) = keep(&host, &sandbox, dir)
    {
        return failed(error);
    }
    let services = copy::services(&sandbox).unwrap_or_else(|error| {
        terminal::complain(format_args!("the requests to services are not known: {error}"));
        Vec::new()
    });
    if stop_signal().is_some() {
        return stopped();
    }
    let tried = Tried { sandbox: &sandbox, attempts, changes, services };
    let code = if tried.is_broken() {
        exit::ERROR
    } else if tried.later().is_empty() {
        exit::OK
    } else {
        exit::NOT_IDEMPOTENT
    };
    let text = match args.format {
        Format::Text => tried.told(),
        Format::Json => format!("{:#}\n", tried.as_json()),
    };
    let code = code.max(terminal::print(&text));
    if args.shell
        && let Err(error) = sandbox.shell(&["/bin/sh", "-i"])
    {
        return failed(error);
    }
    code
}

/// Nothing is said of a run that was ended half-way; the copy goes with all in it.
fn stopped() -> u8 {
    failed(format_args!("stopped by signal {}", stop_signal().unwrap_or_default()))
}

fn attempt(host: &OsHost, sandbox: &Sandbox, args: &Args) -> Result<Attempt, fx_host::HostError> {
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("/proc/self/exe"));
    let mut argv: Vec<OsString> =
        vec![program.into(), "run".into(), "--format".into(), "json".into()];
    argv.extend(args.policy.words());
    let spec = Spec {
        cwd: Some(fx_host::Env::cwd(host)),
        output_limit: 0,
        timeout: args.timeout.map(Duration::from_secs),
        ..Spec::argv(argv)
    };
    let mut made = Attempt::default();
    let mut secret: BTreeSet<u64> = BTreeSet::new();
    let ended = sandbox.run_streaming(host, &spec, &mut |line| match line.stream {
        Stream::Stdout => {
            if let Ok(event) = serde_json::from_slice::<Value>(line.bytes) {
                made.note(&event, &mut secret);
            }
        }
        // Whoever is inside may write without end.
        Stream::Stderr if made.complaints.len() > MAX_COMPLAINTS => {}
        Stream::Stderr => {
            made.complaints.push_str(&String::from_utf8_lossy(line.bytes));
            made.complaints.push('\n');
        }
    })?;
    if ended.exit == Exit::TimedOut {
        made.complaints.push_str("the run did not end in its time\n");
    }
    made.code = ended.exit.code();
    Ok(made)
}

impl Attempt {
    /// Those that did more than look.
    fn items(&self) -> impl Iterator<Item = &Item> {
        self.steps
            .iter()
            .filter(|step| !matches!(&*step.outcome, "kept" | "skipped" | "not-reached"))
    }

    /// Takes over the item an event closes; messages of errors are kept apart.
    fn note(&mut self, event: &Value, secret: &mut BTreeSet<u64>) {
        let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
        let number = event["step"].as_u64().unwrap_or_default();
        match event["event"].as_str().unwrap_or_default() {
            "message" if event["level"] == "error" && self.complaints.len() <= MAX_COMPLAINTS => {
                let _ = writeln!(self.complaints, "{}", text("text"));
            }
            "change_made" if event["sensitive"] == true => {
                secret.insert(number);
            }
            "step_closed" => {
                let item = Item {
                    resource: text("resource"),
                    action: text("action"),
                    outcome: text("outcome"),
                    reason: text("reason"),
                    origin: text("origin"),
                };
                if secret.contains(&number) {
                    self.secrets.push(item.clone());
                }
                if event["purpose"] == "act" {
                    self.steps.push(item);
                }
            }
            _ => {}
        }
    }
}

fn keep(host: &OsHost, sandbox: &Sandbox, dir: &Path) -> Result<(), fx_host::HostError> {
    fx_host::Edits::make_dir(host, dir, 0o700)?;
    for layer in sandbox.layers() {
        let name = layer.mount.to_string_lossy().trim_matches('/').replace('/', "-");
        let mut to = dir.join(if name.is_empty() { "root".to_owned() } else { name });
        // Two mounts may come to one name.
        while fx_host::Files::lstat(host, &to).is_ok() {
            to.as_mut_os_string().push("+");
        }
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
