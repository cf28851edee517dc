//! commands: programs run with containment, their output logged, their exit code judged.

use std::rc::Rc;
use std::time::Duration;

use fx_cfengine::command::{command_arg0, failed_child, is_executable, spec_for, unstarted};
use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::log;
use fx_cfengine::module_protocol::Module;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::text::{Str, decode, encode, path};
use fx_engine::{Done, Failure, Level};
use fx_host::{Exit, HostError, Spec};

use crate::action::Action;
use crate::agent::Agent;
use crate::change;

/// Keeps a commands promise.
pub(crate) fn keep(ctx: &mut Agent<'_>, promise: &Rc<Expanded>) -> Outcome {
    let mut line = promise.promiser.to_string();
    if let Some(args) = promise.scalar("args") {
        line.push(' ');
        line.push_str(args);
    }
    for arg in promise.list("arglist").unwrap_or_default() {
        line.push(' ');
        line.push_str(&arg);
    }
    let owner = promise.scalar("exec_owner").map(|name| user_id(ctx, promise, name));
    let group = promise.scalar("exec_group").map(|name| group_id(ctx, promise, name));
    if is_quiet(promise) && promise.bool("preview") == Some(true) {
        ctx.error("no_output and preview are mutually exclusive (broken promise)");
        ctx.log_place(Level::Error, &promise.promise);
        return Outcome::Failed;
    }
    if !ctx.acquire_alone(promise, &line) {
        return Outcome::Skipped;
    }
    let arg0 = command_arg0(&promise.promiser);
    // What a module prints becomes classes and variables of the policy.
    if promise.bool("module") == Some(true)
        && let Err(error @ HostError::Untrusted { .. }) = ctx.host().check_trusted(&path(&arg0))
    {
        return ctx.settle(Level::Error, Outcome::Failed, promise, &error.to_string());
    }
    let shell = uses_shell(promise);
    let windows = promise.scalar("useshell").is_some_and(|word| &**word == "powershell");
    if arg0.starts_with('/') || !(shell || windows) {
        if !is_executable(ctx, &arg0) {
            let text = format!("'{}' promises to be executable but isn't", promise.promiser);
            let outcome = ctx.settle(Level::Error, Outcome::Failed, promise, &text);
            if promise.promiser.contains(' ') {
                log!(
                    ctx,
                    Verbose,
                    "Paths with spaces must be inside escaped quoutes (e.g. \\\"{}\\\")",
                    promise.promiser
                );
            }
            return outcome;
        }
        log!(ctx, Verbose, "Promiser string contains a valid executable '{arg0}' - ok");
    }
    let timeout = promise.int("exec_timeout");
    let level = if promise.bool("inform").unwrap_or(true) { Level::Info } else { Level::Verbose };
    let shown_timeout =
        timeout.map_or_else(|| "no timeout".to_owned(), |seconds| format!("timeout={seconds}s"));
    let shown_owner = owner.map(|id| format!(",uid={id}")).unwrap_or_default();
    let shown_group = group.map(|id| format!(",gid={id}")).unwrap_or_default();
    ctx.log(level, &format!("Executing '{shown_timeout}{shown_owner}{shown_group}' ... '{line}'"));
    let action = ctx.action(promise);
    // A preview is run in a dry run as well.
    let preview = action == Action::DryRun && promise.bool("preview") == Some(true);
    if action != Action::Fix && !preview {
        return withheld(ctx, promise, &line, action);
    }
    if windows {
        ctx.error("Powershell is only supported on Windows");
        return Outcome::Failed;
    }
    let mut spec = spec_for(ctx, &line, shell);
    spec.merge_stderr = true;
    if let Some(dir) = promise.scalar("chdir") {
        spec.cwd = Some(path(dir));
    }
    spec.chroot = promise.scalar("chroot").map(|dir| path(dir));
    let umask =
        promise.scalar("umask").and_then(|text| u32::from_str_radix(text, 8).ok()).unwrap_or(0o77);
    spec.umask = Some(umask);
    spec.uid = owner;
    spec.gid = group;
    spec.timeout = timeout.map(|seconds| Duration::from_secs(seconds.max(1) as u64));
    if promise.bool("background") == Some(true) {
        log!(ctx, Verbose, "Backgrounding job '{line}'");
        let started = if preview {
            ctx.in_evaluation("preview", |act| act.start(&spec)).map(Some).map_err(Failure::from)
        } else {
            ctx.make(&[change::run(&line)], |act| act.start(&spec)).map(Done::made)
        };
        ctx.log(level, &format!("Completed execution of '{line}'"));
        return match started {
            Ok(child) => {
                if let Some(child) = child {
                    let promise = Rc::clone(promise);
                    ctx.background.push(Background { promise, line, level, child });
                }
                Outcome::Kept
            }
            Err(failure) => {
                ctx.settle(Level::Error, Outcome::Failed, promise, &failure.to_string())
            }
        };
    }
    log!(ctx, Verbose, "Setting umask to {umask:o}");
    if umask == 0 {
        log!(ctx, Verbose, "Programming '{line}' running with umask 0! Use umask= to set");
    }
    let outcome = execute(ctx, promise, &line, &spec, preview);
    ctx.log(level, &format!("Completed execution of '{line}'"));
    outcome
}

// Says what would be run.
fn withheld(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, line: &str, action: Action) -> Outcome {
    let text = if action == Action::Warn {
        format!("Command '{line}' needs to be executed, but only warning was promised")
    } else {
        format!("Would execute script '{line}'")
    };
    ctx.withhold(&[change::run(line)]);
    ctx.settle(Level::Warning, Outcome::Warn, promise, &text)
}

// A module's output is not shown unless that is asked for.
fn is_quiet(promise: &Expanded) -> bool {
    promise.bool("no_output").unwrap_or(promise.bool("module") == Some(true))
}

/// A command that goes on while other promises are kept.
pub(crate) struct Background {
    promise: Rc<Expanded>,
    line: String,
    level: Level,
    child: Box<dyn fx_host::Child>,
}

/// Longest silence of a command in the background, after which its output is not waited for.
const PATIENCE: Duration = Duration::from_hours(24);

/// Waits for the commands in the background and logs what they printed and how they ended.
pub(crate) fn wait_for_background(ctx: &mut Agent<'_>) {
    for mut one in std::mem::take(&mut ctx.background) {
        ctx.show_now();
        one.child.close_input();
        let mut stdout = Vec::new();
        while let Ok(Some(line)) = one.child.next_line(PATIENCE) {
            stdout.extend(line);
            stdout.push(b'\n');
        }
        let exit = one.child.wait().unwrap_or(Exit::Code(1));
        let pid = one.child.pid();
        // What it started and left behind is not ended with it.
        std::mem::forget(one.child);
        let ended = fx_host::Ended {
            exit,
            stdout,
            stderr: Vec::new(),
            truncated: false,
            elapsed: Duration::ZERO,
            pid,
        };
        report(ctx, &one.promise, &one.line, &ended);
        ctx.log(one.level, &format!("Completed execution of '{}'", one.line));
    }
}

fn execute(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    line: &str,
    spec: &Spec,
    preview: bool,
) -> Outcome {
    ctx.show_now();
    // It is the child that moves, changes itself and starts, and that reports a failure.
    if let Some(text) = misplaced(ctx, promise, spec) {
        return report(ctx, promise, line, &failed_child(&text));
    }
    let ended = if preview {
        ctx.in_evaluation("preview", |act| act.run(spec)).map(Some).map_err(Failure::from)
    } else {
        ctx.make(&[change::run(line)], |act| act.run(spec)).map(Done::made)
    };
    let ended = match ended {
        Ok(Some(ended)) => ended,
        Ok(None) | Err(Failure::Interrupted) => return Outcome::Interrupted,
        Err(Failure::Host(error)) => unstarted(line, &error),
        Err(failure) => failed_child(&failure.to_string()),
    };
    report(ctx, promise, line, &ended)
}

// What a command said and how it ended.
fn report(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    line: &str,
    ended: &fx_host::Ended,
) -> Outcome {
    let module = promise.bool("module") == Some(true);
    let quiet = is_quiet(promise);
    let mut reader = module.then(|| Module::new(line, !quiet));
    if ended.truncated {
        ctx.warning(&format!(
            "Command '{}' printed too much; the end of it is not shown",
            promise.promiser
        ));
    }
    let text = decode(&ended.stdout);
    let mut quoted = Quoted::default();
    let mut count = 0;
    let prefix = command_prefix(line);
    for output in text.lines() {
        if output.contains("cfengine-die") {
            break;
        }
        if let Some(reader) = &mut reader {
            reader.line(ctx, output);
        }
        if !quiet && !output.trim().is_empty() {
            quoted.add(ctx, &prefix, output);
            count += 1;
        }
    }
    ctx.note_end(line, ended.exit, if quiet { b"" } else { &ended.stdout });
    let outcome = match ended.exit {
        // A command that takes too long is killed, and has failed.
        Exit::TimedOut | Exit::Signal(_) | Exit::Cancelled => {
            let text =
                format!("Finished script '{}' - failed (abnormal termination)", promise.promiser);
            ctx.settle(Level::Error, Outcome::Failed, promise, &text)
        }
        Exit::Code(code) => judge(ctx, promise, code, &promise.promiser.clone()),
    };
    if count > 0 {
        quoted.flush(ctx);
        ctx.info(&format!("Last {count} quoted lines were generated by promiser '{line}'"));
    }
    outcome
}

// What a command prints is logged in pieces of at most this many bytes.
const PIECE: usize = 4096;

#[derive(Default)]
struct Quoted {
    text: String,
    bytes: usize,
}

impl Quoted {
    fn add(&mut self, ctx: &Agent<'_>, prefix: &str, output: &str) {
        let size = encode(prefix).len() + encode(output).len() + 12;
        if size > PIECE {
            ctx.log(Level::Notice, &format!("Q: '{prefix}': {output}"));
            return;
        }
        if self.bytes + size > PIECE {
            self.flush(ctx);
        }
        self.text.push_str(&format!("Q: \"...{prefix}\": {output}\n"));
        self.bytes += size - 1;
    }

    fn flush(&mut self, ctx: &Agent<'_>) {
        let piece = std::mem::take(self);
        if !piece.text.is_empty() {
            ctx.log(Level::Notice, piece.text.trim_end());
        }
    }
}

// Why a child could not come to where it is to run, or become who it is to be.
fn misplaced(ctx: &Agent<'_>, promise: &Expanded, spec: &Spec) -> Option<String> {
    for (name, call) in [("chroot", "chroot"), ("chdir", "chdir")] {
        // A directory inside another root is looked for by the child alone.
        let Some(dir) = promise.scalar(name).filter(|_| name == "chroot" || spec.chroot.is_none())
        else {
            continue;
        };
        let why = match ctx.host().stat(&path(dir)) {
            Ok(meta) if meta.is_dir() => continue,
            Ok(_) => "Not a directory".to_owned(),
            Err(error) => fx_cfengine::reason::reason(&error),
        };
        return Some(format!("Couldn't {name} to '{dir}'. ({call}: {why})"));
    }
    // Groups are only asked for where one is given, and then of nobody if no user is.
    let uid = spec.gid.map(|_| spec.uid.unwrap_or(u32::MAX))?;
    match ctx.host().user_by_id(uid) {
        Ok(None) => Some(format!(
            "Unable to get login groups when dropping privilege to '{uid}'. (getpwuid: Success)"
        )),
        _ => None,
    }
}

/// The outcome an exit code stands for, by the lists of the classes body or by default.
pub(crate) fn judge(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, code: i32, name: &str) -> Outcome {
    let listed = ["kept_returncodes", "repaired_returncodes", "failed_returncodes"];
    if !listed.iter().any(|list| promise.has(list)) {
        if code == 0 {
            let text = format!("Finished command related to promiser '{name}' -- succeeded");
            return ctx.settle_last(Level::Verbose, Outcome::Repaired, promise, &text);
        }
        let text = format!(
            "Finished command related to promiser '{name}' -- an error occurred, returned {code}"
        );
        return ctx.settle_last(Level::Error, Outcome::Failed, promise, &text);
    }
    let quiet = &*promise.promise.kind == "commands" && promise.bool("inform") == Some(false);
    let level = if quiet { Level::Verbose } else { Level::Info };
    let shown = code.to_string();
    let contains = |list: &str| {
        promise.list(list).is_some_and(|codes| codes.iter().any(|known| **known == *shown))
    };
    let mut result = Outcome::Kept;
    let mut matched = false;
    let start = format!("Command related to promiser '{name}' returned code '{code}'");
    if contains("kept_returncodes") {
        ctx.settle_last(level, Outcome::Kept, promise, &format!("{start} defined as promise kept"));
        matched = true;
    }
    if contains("repaired_returncodes") {
        let outcome = ctx.settle_last(
            level,
            Outcome::Repaired,
            promise,
            &format!("{start} defined as promise repaired"),
        );
        result = result.merge(outcome);
        matched = true;
    }
    if contains("failed_returncodes") {
        let outcome = ctx.settle_last(
            Level::Error,
            Outcome::Failed,
            promise,
            &format!("{start} defined as promise failed"),
        );
        result = result.merge(outcome);
        matched = true;
    }
    if !matched {
        let text =
            format!("{start} not defined as promise kept, not kept or repaired; setting to failed");
        result = result.merge(ctx.settle_last(level, Outcome::Failed, promise, &text));
    }
    result
}

/// Whether the contain body asks for a shell.
fn uses_shell(promise: &Expanded) -> bool {
    promise
        .scalar("useshell")
        .is_some_and(|word| matches!(&**word, "useshell" | "true" | "yes" | "on"))
}

// What marks the output of a command: fifteen characters around the end of its first word.
fn command_prefix(line: &str) -> String {
    let word = line.find(' ').unwrap_or(line.len());
    let mut start = word.saturating_sub(10);
    if word < 10 {
        start = 0;
    }
    while !line.is_char_boundary(start) {
        start += 1;
    }
    line[start..].chars().take(15).collect()
}

// What stands for an account that is not there; no command is ever run as the agent instead.
const UNKNOWN: u32 = u32::MAX - 1;

fn user_id(ctx: &Agent<'_>, promise: &Expanded, name: &Str) -> u32 {
    let known = || ctx.host().user(name).ok().flatten().map(|user| user.uid);
    name.parse().ok().or_else(known).unwrap_or_else(|| {
        ctx.info(&format!("Could not get UID for user '{name}', (getpwnam: not found)"));
        ctx.log_place(Level::Info, &promise.promise);
        UNKNOWN
    })
}

fn group_id(ctx: &Agent<'_>, promise: &Expanded, name: &Str) -> u32 {
    let known = || ctx.host().group(name).ok().flatten().map(|group| group.gid);
    name.parse().ok().or_else(known).unwrap_or_else(|| {
        ctx.info(&format!("Could not get GID for group '{name}', (getgrnam: not found)"));
        ctx.log_place(Level::Info, &promise.promise);
        UNKNOWN
    })
}
