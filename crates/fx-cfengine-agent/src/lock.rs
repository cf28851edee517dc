//! Done-marks and locks: each expanded promise acts once a run, and not again before its
//! time has passed.

use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::time::Duration;

use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::log;
use fx_cfengine::policy::Rval;
use fx_cfengine::text::{decode, path};
use fx_host::{Lock, WriteOptions};
use rustc_hash::{FxHashMap, FxHasher};

use crate::agent::Agent;

/// A process by its number and its start.
type Process = (u32, u64);

/// When promises last completed and who acts on them now, by digest; kept across runs. The
/// file has a line for each: `DIGEST TIME` or, while it is acted on, `DIGEST PID:START TIME`;
/// the last line of a digest counts. Lines are added under a lock, and the file is replaced by
/// a shorter one when an agent ends. Who was killed holds nothing: his process is gone.
#[derive(Default)]
pub(crate) struct Locks {
    /// Which file was read last, and how much of it.
    seen: Option<(u64, u64)>,
    last: FxHashMap<u128, i64>,
    running: FxHashMap<u128, Process>,
    /// What this run acted on.
    ours: Vec<u128>,
    /// What it acts on alone right now, the outermost first.
    held: Vec<u128>,
    me: Option<u64>,
}

/// Whether other agents may act on a promise at the same time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Others {
    MayTryToo,
    KeepOut,
}

/// How long one waits for others that look into the file.
const PATIENCE: Duration = Duration::from_secs(5);
/// Times older than this, in seconds, are forgotten, …
const HORIZON: i64 = 7 * 24 * 3600;
/// … and the oldest if there are more.
const MOST: usize = 200_000;

/// Attributes whose values change by themselves and do not make a promise another one.
const NOT_HASHED: &[&str] =
    &["mtime", "atime", "ctime", "stime_range", "ttime_range", "log_string", "template_data"];

/// Minutes between two actions on the same promise, unless policy says otherwise.
const IF_ELAPSED: i64 = 1;
/// Minutes after which an agent that still acts on a promise is ended, unless policy says
/// otherwise.
const EXPIRE_AFTER: i64 = 120;
/// Signals that end an agent, each with a moment to obey it: interrupt, terminate, kill.
const ENDING: [i32; 3] = [2, 15, 9];
const MOMENTS: u32 = 20;
const MOMENT: Duration = Duration::from_millis(50);

struct Digest(FxHasher, FxHasher);

impl Digest {
    fn add(&mut self, text: &str) {
        text.hash(&mut self.0);
        0x9e37_79b9_7f4a_7c15_u64.hash(&mut self.1);
        text.hash(&mut self.1);
    }

    fn finish(self) -> u128 {
        (u128::from(self.0.finish()) << 64) | u128::from(self.1.finish())
    }
}

fn add_rval(digest: &mut Digest, value: &Rval) {
    match value {
        Rval::None => {}
        Rval::Scalar(text) => digest.add(text),
        Rval::List(items) => items.iter().for_each(|item| add_rval(digest, item)),
        Rval::Call(call) => {
            digest.add(&call.name);
            call.args.iter().for_each(|arg| add_rval(digest, arg));
        }
        Rval::Data(json) => digest.add(&json.compact()),
    }
}

/// Identity of an expanded promise with what it acts on.
pub(crate) fn digest(promise: &Expanded, operand: &str) -> u128 {
    let mut digest = Digest(FxHasher::default(), FxHasher::default());
    digest.add(&promise.promiser);
    if let Some(comment) = &promise.comment {
        digest.add(comment);
    }
    digest.add(&promise.promise.bundle.namespace);
    digest.add(&promise.promise.bundle.name);
    digest.add(operand);
    for (name, value) in &promise.attributes {
        digest.add(name);
        if !NOT_HASHED.contains(&&**name) {
            add_rval(&mut digest, value);
        }
    }
    digest.finish()
}

impl Agent<'_> {
    /// Whether the promise is to be acted on now; marks it as done in this run.
    pub(crate) fn acquire(&mut self, promise: &Expanded, operand: &str) -> bool {
        self.acquire_as(promise, operand, Others::MayTryToo)
    }

    /// The same for what takes time: as long as the promise is acted on, no other agent does.
    pub(crate) fn acquire_alone(&mut self, promise: &Expanded, operand: &str) -> bool {
        self.acquire_as(promise, operand, Others::KeepOut)
    }

    fn acquire_as(&mut self, promise: &Expanded, operand: &str, others: Others) -> bool {
        let key = digest(promise, operand);
        if !self.done.insert(key) {
            return false;
        }
        self.acquired = true;
        self.flush_banner();
        if self.config.no_lock {
            return true;
        }
        let minutes = self.minutes(promise, "ifelapsed").unwrap_or(IF_ELAPSED);
        if others == Others::MayTryToo {
            self.load_locks();
            return self.is_due(promise, key, minutes) && self.take(key);
        }
        let guard = self.guard();
        self.load_locks();
        if !self.is_due(promise, key, minutes) {
            return false;
        }
        if let Some(holder) = self.locks.running.get(&key).copied()
            && self.is_alive(&holder)
            && !self.expire(promise, key, holder)
        {
            log!(
                self,
                Verbose,
                "Couldn't obtain lock for '{}' (already running!)",
                promise.promiser
            );
            return false;
        }
        let me = self.me();
        let now = self.host().now().secs;
        self.journal(&format!("\n{key:032x} {}:{} {now}\n", me.0, me.1));
        drop(guard);
        self.locks.held.push(key);
        self.take(key)
    }

    /// A time of the action body, or of body agent control.
    fn minutes(&self, promise: &Expanded, name: &str) -> Option<i64> {
        let control = self.control.agent.get(name).and_then(Rval::as_scalar);
        promise.int(name).or_else(|| fx_cfengine::text::int_from(control?))
    }

    /// Ends an agent that has acted on a promise for too long; whether it is gone. A dry run
    /// ends nobody.
    fn expire(&self, promise: &Expanded, key: u128, holder: Process) -> bool {
        let limit = self.minutes(promise, "expireafter").unwrap_or(EXPIRE_AFTER);
        let now = self.host().now().secs;
        let elapsed = self.locks.last.get(&key).map_or(0, |since| (now - since) / 60);
        if elapsed < limit || self.withholds() {
            return false;
        }
        let what = &promise.promiser;
        self.info(&format!("Lock expired after {elapsed}/{limit} minutes: {what}"));
        for signal in ENDING {
            // It may have ended by itself meanwhile.
            let sent = self.in_evaluation("expireafter", |act| act.signal(holder.0 as i32, signal));
            if sent.is_err() && self.is_alive(&holder) {
                break;
            }
            for _ in 0..MOMENTS {
                if !self.is_alive(&holder) {
                    self.info(&format!("Process with PID {} successfully killed", holder.0));
                    return true;
                }
                self.host().sleep(MOMENT);
            }
        }
        self.error(&format!("Failed to expire lock: {what}"));
        false
    }

    /// Whether its time has passed. A time that is still to come counts for nothing: the clock
    /// was wrong when it was noted, and the promise would wait for it for ever.
    // Deviation(D-010): the original waits.
    fn is_due(&self, promise: &Expanded, key: u128, minutes: i64) -> bool {
        let now = self.host().now().secs;
        let last = self.locks.last.get(&key).filter(|last| **last <= now);
        let Some(last) = last.filter(|_| minutes != 0) else { return true };
        let elapsed = (now - last) / 60;
        if elapsed < minutes {
            log!(
                self,
                Verbose,
                "Nothing promised here [{}] ({elapsed}/{minutes} minutes elapsed)",
                promise.promiser
            );
        }
        elapsed >= minutes
    }

    fn take(&mut self, key: u128) -> bool {
        let now = self.host().now().secs;
        self.locks.last.insert(key, now);
        self.locks.ours.push(key);
        true
    }

    /// Lets other agents have what this one acted on since there were so many.
    pub(crate) fn release_locks(&mut self, count: usize) {
        if self.locks.held.len() <= count {
            return;
        }
        let guard = self.guard();
        while self.locks.held.len() > count {
            let Some(key) = self.locks.held.pop() else { break };
            let now = self.host().now().secs;
            self.locks.last.insert(key, now);
            self.journal(&format!("\n{key:032x} {now}\n"));
        }
        drop(guard);
    }

    /// How many promises are being acted on alone.
    pub(crate) fn locks_held(&self) -> usize {
        self.locks.held.len()
    }

    fn lock_file(&self) -> PathBuf {
        path(&format!("{}/fx_locks", self.config.paths.state))
    }

    // The file is replaced as a whole now and then, so another one is locked.
    fn guard(&self) -> Option<Lock> {
        let file = path(&format!("{}/fx_locks.lock", self.config.paths.state));
        match self.own_state(|act| act.lock(&file, PATIENCE)) {
            Ok(guard) => guard,
            Err(error) => {
                self.verbose(&error.to_string());
                None
            }
        }
    }

    // One write for a line: who is killed leaves it whole or not at all.
    fn journal(&mut self, line: &str) {
        let file = self.lock_file();
        if let Err(error) = self.own_state(|act| act.append(&file, line.as_bytes(), 0o600)) {
            return self.verbose(&error.to_string());
        }
        // Our own line is no news, if nobody else wrote one.
        if let Some(seen) = &mut self.locks.seen {
            seen.1 += line.len() as u64;
        }
    }

    fn me(&mut self) -> Process {
        let pid = self.host().pid();
        let started = self.locks.me.or_else(|| self.started(pid)).unwrap_or_default();
        self.locks.me = Some(started);
        (pid, started)
    }

    // Start of a process in ticks since boot: its number alone may be another's by now.
    fn started(&self, pid: u32) -> Option<u64> {
        let bytes = self.host().read(&path(&format!("/proc/{pid}/stat"))).ok()?;
        let text = decode(&bytes);
        // The name in parentheses may hold anything.
        let mut fields = text.rsplit_once(')')?.1.split_whitespace();
        // One that has ended and that nobody waited for acts on nothing.
        let state = fields.next().filter(|state| !matches!(*state, "Z" | "X"));
        state.and_then(|_| fields.nth(18)?.parse().ok())
    }

    fn is_alive(&self, holder: &Process) -> bool {
        holder.0 != self.host().pid() && self.started(holder.0) == Some(holder.1)
    }

    /// Reads what is new since the last look.
    fn load_locks(&mut self) {
        let file = self.lock_file();
        let meta = self.host().stat_opt(&file).ok().flatten();
        let there = meta.map(|meta| (meta.ino, meta.size));
        if self.locks.seen.is_some() && self.locks.seen == there {
            return;
        }
        if there.is_none() {
            self.locks.seen = Some((0, 0));
            return;
        }
        match self.host().read_limited(&file, fx_host::limits::DATA) {
            Ok(bytes) => self.locks.read(&decode(&bytes)),
            Err(error) => self.verbose(&error.to_string()),
        }
        self.locks.seen = there;
    }

    /// Writes the locks of this run for the next, with those of other agents.
    pub(crate) fn save_locks(&mut self) {
        self.release_locks(0);
        if self.locks.ours.is_empty() {
            return;
        }
        let guard = self.guard();
        let ours: Vec<(u128, i64)> = self
            .locks
            .ours
            .iter()
            .filter_map(|key| Some((*key, *self.locks.last.get(key)?)))
            .collect();
        self.load_locks();
        self.locks.last.extend(ours);
        let now = self.host().now().secs;
        let mut lines: Vec<(i64, u128)> = self
            .locks
            .last
            .iter()
            .map(|(key, time)| (*time, *key))
            .filter(|(time, _)| (now - HORIZON..=now).contains(time))
            .collect();
        if lines.len() > MOST {
            lines.sort_unstable_by(|a, b| b.cmp(a));
            lines.truncate(MOST);
        }
        lines.sort_unstable_by_key(|(_, key)| *key);
        let mut text: String =
            lines.iter().map(|(time, key)| format!("{key:032x} {time}\n")).collect();
        let mut running: Vec<_> = self.locks.running.iter().collect();
        running.retain(|(_, holder)| self.is_alive(holder));
        running.sort_unstable();
        for (key, (pid, started)) in running {
            let since = self.locks.last.get(key).copied().unwrap_or(now);
            text.push_str(&format!("{key:032x} {pid}:{started} {since}\n"));
        }
        let file = self.lock_file();
        // In place before others are let in, or what they add meanwhile is lost.
        let written = self.own_state(|act| {
            let written = act.write(&file, text.as_bytes(), &WriteOptions::default());
            written.and_then(|()| act.settle())
        });
        if let Err(error) = written {
            self.verbose(&error.to_string());
        }
        drop(guard);
    }
}

impl Locks {
    fn read(&mut self, text: &str) {
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let key = words.next().and_then(|word| u128::from_str_radix(word, 16).ok());
            let (Some(key), Some(second)) = (key, words.next()) else { continue };
            match (second.split_once(':'), words.next()) {
                (Some((pid, started)), Some(time)) => {
                    if let (Ok(pid), Ok(started), Ok(time)) =
                        (pid.parse(), started.parse(), time.parse())
                    {
                        self.running.insert(key, (pid, started));
                        self.last.insert(key, time);
                    }
                }
                (None, None) => {
                    if let Ok(time) = second.parse() {
                        self.last.insert(key, time);
                        self.running.remove(&key);
                    }
                }
                _ => {}
            }
        }
    }
}
