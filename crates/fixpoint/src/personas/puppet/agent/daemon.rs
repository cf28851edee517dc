//! The agent that stays: a run every `runinterval`, each in a process of its own. USR1 begins one
//! at once, HUP starts the agent anew, INT and TERM end it; a run that is under way is finished.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fx_host::{Edits, Files, OsHost, WriteOptions};

use super::Agent;
use crate::personas::puppet::complain;
use crate::personas::puppet::settings::Settings;

/// A signal is noticed within this time.
const MOMENT: Duration = Duration::from_millis(200);

/// What may wake the agent.
struct Signals<'a> {
    stop: &'a AtomicBool,
    run: std::sync::Arc<AtomicBool>,
    restart: std::sync::Arc<AtomicBool>,
}

enum Woken {
    /// The time is over, or somebody wants a run.
    Due,
    Stop,
    Restart,
}

/// Runs until a signal ends it; the exit code.
pub(super) fn run(agent: &Agent<'_>) -> u8 {
    if agent.settings.get("daemonize") != "false" {
        match fx_host::into_background(&mut std::io::stderr()) {
            Ok(None) => {}
            Ok(Some(code)) => return code,
            Err(error) => {
                complain(&format!("Error: Could not go into the background: {error}"));
                return 1;
            }
        }
    }
    let host = OsHost::new();
    let pid_file = agent.path("pidfile");
    if let Err(why) = take_pid_file(&host, &pid_file) {
        complain(&format!("Error: Could not create PID file: {why}"));
        return 1;
    }
    if agent.settings.get("daemonize") != "false"
        && let Err(error) = fx_host::detach()
    {
        complain(&format!("Error: {error}"));
    }
    let signals = Signals {
        stop: agent.stop,
        run: fx_host::wake_on_user_signals(),
        restart: fx_host::reload_on_hangup(),
    };
    let woken = again_and_again(agent, &signals);
    // Nobody else takes it while we are here.
    let _ = host.remove_file(&pid_file);
    match woken {
        Woken::Restart => anew(agent),
        _ => 0,
    }
}

fn take_pid_file(host: &OsHost, path: &Path) -> Result<(), String> {
    let known = host.read_limited(path, 64).unwrap_or_default();
    let known = String::from_utf8_lossy(&known).trim().to_owned();
    if let Ok(pid) = known.parse::<u32>()
        && pid != std::process::id()
        && is_agent(host, pid)
    {
        return Err(format!("process {pid} of '{}' is there", path.display()));
    }
    let shown = |error: fx_host::HostError| error.to_string();
    let dir = path.parent().unwrap_or(Path::new("/"));
    let mut missing: Vec<&Path> =
        dir.ancestors().take_while(|dir| host.lstat(dir).is_err()).collect();
    missing.reverse();
    for dir in missing {
        host.make_dir(dir, 0o755).map_err(shown)?;
    }
    let options = WriteOptions { mode: Some(0o644), ..WriteOptions::default() };
    let text = std::process::id().to_string();
    host.write(path, text.as_bytes(), &options).map_err(shown)?;
    host.commit().map_err(shown)
}

fn is_agent(host: &OsHost, pid: u32) -> bool {
    let line = host.read_limited(Path::new(&format!("/proc/{pid}/cmdline")), 1 << 16);
    line.is_ok_and(|line| line.windows(6).any(|word| word == b"puppet"))
}

/// Settings as they are in the files now.
fn interval(agent: &Agent<'_>) -> Duration {
    let settings = Settings::read(&OsHost::new(), agent.flags, "agent");
    let seconds = settings.shown("runinterval").parse::<u64>().unwrap_or(1800);
    Duration::from_secs(seconds.max(1))
}

fn again_and_again(agent: &Agent<'_>, signals: &Signals<'_>) -> Woken {
    match wait(signals, agent.splay(), None) {
        Woken::Due => {}
        other => return other,
    }
    loop {
        let began = Instant::now();
        match child(agent) {
            // A run that is under way is not cut short.
            Ok(mut child) => {
                while !is_over(&mut child) {
                    std::thread::sleep(MOMENT);
                }
            }
            Err(error) => complain(&format!("Error: Could not start a run: {error}")),
        }
        match wait(signals, interval(agent).saturating_sub(began.elapsed()), Some((agent, began))) {
            Woken::Due => {}
            other => return other,
        }
    }
}

/// How often files with settings are read again while the agent waits.
const FILES: Duration = Duration::from_secs(15);

/// Waits for a time, which a change of the settings may change too, or for a signal.
fn wait(signals: &Signals<'_>, time: Duration, anew: Option<(&Agent<'_>, Instant)>) -> Woken {
    let (mut until, mut looked) = (Instant::now() + time, Instant::now());
    loop {
        if signals.stop.load(Ordering::SeqCst) {
            return Woken::Stop;
        }
        if signals.restart.swap(false, Ordering::SeqCst) {
            return Woken::Restart;
        }
        let left = until.saturating_duration_since(Instant::now());
        if signals.run.swap(false, Ordering::SeqCst) || left.is_zero() {
            return Woken::Due;
        }
        if let Some((agent, began)) = anew
            && looked.elapsed() >= FILES
        {
            (until, looked) = (began + interval(agent), Instant::now());
        }
        std::thread::sleep(MOMENT.min(left));
    }
}

/// A run in a process of its own, as the original does it: what it takes it gives back.
#[allow(clippy::disallowed_methods, reason = "our own program, with our own output")]
fn child(agent: &Agent<'_>) -> std::io::Result<Child> {
    let mut command = Command::new("/proc/self/exe");
    // The lock of a run names its process, which other agents know by this word.
    command.arg0("puppet").arg("agent").args(agent.args);
    command.args(["--onetime", "--no-daemonize", "--no-splay"]);
    if !agent.settings.is_given("waitforcert") {
        command.arg("--waitforcert=2m");
    }
    // A terminal's signals are for the one that waits.
    command.process_group(0).spawn()
}

fn is_over(child: &mut Child) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

/// Puts a new process in our place, with what the program is now.
#[allow(clippy::disallowed_methods, reason = "our own program, in our place")]
fn anew(agent: &Agent<'_>) -> u8 {
    let program = std::env::current_exe();
    let error = match program {
        Ok(program) => {
            let mut command = Command::new(program);
            command.arg0("puppet").arg("agent").args(agent.args).arg("--no-daemonize").exec()
        }
        Err(error) => error,
    };
    complain(&format!("Error: Could not start anew: {error}"));
    1
}
