//! Done-marks and locks: each expanded promise acts once a run, and not again before its
//! time has passed.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use crate::eval::promise::Expanded;
use crate::eval::{Context, log};
use crate::policy::Rval;
use crate::text::{decode, path};

/// When promises last completed, by digest; kept across runs.
#[derive(Default)]
pub(crate) struct Locks {
    loaded: bool,
    changed: bool,
    last: FxHashMap<u128, i64>,
}

/// Attributes whose values change by themselves and do not make a promise another one.
const NOT_HASHED: &[&str] =
    &["mtime", "atime", "ctime", "stime_range", "ttime_range", "log_string", "template_data"];

/// Minutes between two actions on the same promise, unless policy says otherwise.
const IF_ELAPSED: i64 = 1;

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

impl Context<'_> {
    /// Whether the promise is to be acted on now; marks it as done in this run.
    pub(crate) fn acquire(&mut self, promise: &Expanded, operand: &str) -> bool {
        let key = digest(promise, operand);
        if !self.done.insert(key) {
            return false;
        }
        self.acquired = true;
        self.flush_banner();
        if self.config.no_lock {
            return true;
        }
        let control = self
            .control
            .agent
            .get("ifelapsed")
            .and_then(Rval::as_scalar)
            .and_then(|text| crate::text::int_from(text));
        let minutes = promise.int("ifelapsed").or(control).unwrap_or(IF_ELAPSED);
        self.load_locks();
        let now = self.host().now().secs;
        if minutes != 0
            && let Some(last) = self.agent.locks.last.get(&key)
        {
            let elapsed = (now - last) / 60;
            if elapsed < minutes {
                log!(
                    self,
                    Verbose,
                    "Nothing promised here [{}] ({elapsed}/{minutes} minutes elapsed)",
                    promise.promiser
                );
                return false;
            }
        }
        self.agent.locks.last.insert(key, now);
        self.agent.locks.changed = true;
        true
    }

    fn lock_file(&self) -> std::path::PathBuf {
        path(&format!("{}/fx_locks", self.config.paths.state))
    }

    fn load_locks(&mut self) {
        if self.agent.locks.loaded {
            return;
        }
        self.agent.locks.loaded = true;
        if let Ok(Some(bytes)) = self.host().read_opt(&self.lock_file()) {
            for line in decode(&bytes).lines() {
                if let Some((key, time)) = line.split_once(' ')
                    && let (Ok(key), Ok(time)) = (u128::from_str_radix(key, 16), time.parse())
                {
                    self.agent.locks.last.insert(key, time);
                }
            }
        }
    }

    /// Writes the locks of this run for the next.
    pub(crate) fn save_locks(&mut self) {
        if !self.agent.locks.changed {
            return;
        }
        let horizon = self.host().now().secs - 7 * 24 * 3600;
        let mut lines: Vec<(u128, i64)> = self
            .agent
            .locks
            .last
            .iter()
            .map(|(key, time)| (*key, *time))
            .filter(|(_, time)| *time > horizon)
            .collect();
        lines.sort_unstable();
        let text: String = lines.iter().map(|(key, time)| format!("{key:032x} {time}\n")).collect();
        let file = self.lock_file();
        if let Err(error) =
            self.host().write(&file, text.as_bytes(), &fx_host::WriteOptions::default())
        {
            self.verbose(&error.to_string());
        }
    }
}
