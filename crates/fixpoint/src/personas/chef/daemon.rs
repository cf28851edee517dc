//! Runs of the client in intervals: each is a process of its own, and signals say when.
//!
//! USR1 runs at once, HUP reads the configuration anew and waits again, TERM ends after the run that
//! is under way, and so does INT.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fx_chef::Schedule;
use fx_host::{Clock, Commands, Edits, Env, Files, OsHost, Spec, Stream, WriteOptions};

use super::{complain, say};
use crate::persona::Invocation;

/// Codes of the original.
const INTERRUPTED: u8 = 2;
const TERMINATED: u8 = 3;

/// How often signals are looked for.
const SLICE: Duration = Duration::from_millis(100);

/// Flags that would have a single run wait again.
const OWN_FLAGS: &[(&str, &str)] =
    &[("-i", "--interval"), ("-s", "--splay"), ("-d", "--daemonize")];

pub(super) fn run(invocation: &Invocation, schedule: Schedule) -> u8 {
    if schedule.in_background {
        match fx_host::into_background(&mut std::io::stdout()) {
            Ok(None) => {}
            Ok(Some(code)) => return code,
            Err(error) => {
                complain(&format!("chef-client: cannot go into the background: {error}"));
                return 1;
            }
        }
    }
    let host = OsHost::new();
    let daemon = Daemon {
        stop: fx_host::stop_on_signals(),
        hangup: fx_host::reload_on_hangup(),
        now: fx_host::wake_on_user_signals(),
        words: words(invocation),
        pid_file: schedule.in_background.then(|| schedule.pid_file.clone()),
        host,
    };
    if let Err(message) = daemon.note_pid() {
        complain(&message);
        return 1;
    }
    if let Err(error) = fx_host::detach() {
        complain(&format!("chef-client: {error}"));
    }
    let code = daemon.go_on(&schedule);
    if let Some(file) = &daemon.pid_file {
        let _gone = daemon.host.remove_file(file);
    }
    code
}

struct Daemon {
    host: OsHost,
    stop: std::sync::Arc<AtomicBool>,
    hangup: std::sync::Arc<AtomicBool>,
    now: std::sync::Arc<AtomicBool>,
    /// The words of a single run.
    words: Vec<std::ffi::OsString>,
    pid_file: Option<PathBuf>,
}

impl Daemon {
    /// Writes our number; another daemon with this file must not run.
    fn note_pid(&self) -> Result<(), String> {
        let Some(file) = &self.pid_file else { return Ok(()) };
        let old = self.host.read_limited(file, 64).unwrap_or_default();
        let old = String::from_utf8_lossy(&old).trim().parse::<u32>().ok();
        if let Some(pid) = old.filter(|pid| *pid != std::process::id())
            && self.host.stat(Path::new(&format!("/proc/{pid}"))).is_ok()
        {
            return Err(format!("Chef is already running pid {pid}"));
        }
        let options = WriteOptions { mode: Some(0o644), ..WriteOptions::default() };
        let text = std::process::id().to_string();
        let written = self.host.write(file, text.as_bytes(), &options);
        written.and_then(|()| self.host.commit()).map_err(|error| error.to_string())
    }

    fn go_on(&self, schedule: &Schedule) -> u8 {
        if let Some(first) = schedule.first {
            self.wait(Duration::from_secs(first));
            self.once();
        }
        while !self.stop.load(Ordering::SeqCst) {
            self.wait(Duration::from_secs(schedule.interval + self.chance(schedule.splay)));
            self.once();
        }
        match fx_host::stop_signal() {
            Some(2) => INTERRUPTED,
            _ => TERMINATED,
        }
    }

    /// A number below the given one.
    fn chance(&self, most: u64) -> u64 {
        let mut bytes = [0; 8];
        self.host.random(&mut bytes);
        u64::from_le_bytes(bytes).checked_rem(most).unwrap_or(0)
    }

    /// Waits until it is time, or a signal says so. Each run reads the configuration itself, so
    /// that after HUP there is nothing to do but to wait anew.
    fn wait(&self, pause: Duration) {
        let mut until = self.host.monotonic() + pause;
        while !self.stop.load(Ordering::SeqCst) && self.host.monotonic() < until {
            if self.now.swap(false, Ordering::SeqCst) {
                return;
            }
            if self.hangup.swap(false, Ordering::SeqCst) {
                until = self.host.monotonic() + pause;
            }
            self.host.sleep(SLICE);
        }
    }

    /// One run, which is not ended by the wish to stop.
    fn once(&self) {
        if self.stop.load(Ordering::SeqCst) {
            return;
        }
        let spec =
            Spec { cwd: Some(self.host.cwd()), output_limit: 0, ..Spec::argv(self.words.clone()) };
        let ran = self.host.run_streaming(&spec, &mut |line| {
            let text = String::from_utf8_lossy(line.bytes);
            match line.stream {
                Stream::Stdout => say(&text),
                Stream::Stderr => complain(&text),
            }
        });
        if let Err(error) = ran {
            complain(&format!("chef-client: {error}"));
        }
    }
}

/// The same words without those that make a daemon, and for one run only.
fn words(invocation: &Invocation) -> Vec<std::ffi::OsString> {
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("/proc/self/exe"));
    let mut words = vec![program.into_os_string(), invocation.name.into()];
    let mut given = invocation.args.iter().peekable();
    while let Some(word) = given.next() {
        let text = word.to_string_lossy();
        let own = OWN_FLAGS.iter().any(|(short, long)| text == *short || text == *long);
        if own {
            // Its value is a number.
            let _value = given.next_if(|next| {
                next.to_str().is_some_and(|next| next.bytes().all(|byte| byte.is_ascii_digit()))
            });
            continue;
        }
        let joined = OWN_FLAGS.iter().any(|(short, long)| {
            let rest = text.strip_prefix(short).or_else(|| text.strip_prefix(&format!("{long}=")));
            rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
        });
        if !joined {
            words.push(word.clone());
        }
    }
    words.push("--once".into());
    words
}
