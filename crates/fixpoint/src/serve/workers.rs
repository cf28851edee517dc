//! Compilers: threads that each have a process for an environment, made for one snapshot of it.
//! A process is ended when the environment changed, and when a catalog takes too long.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fx_puppet::Compilation;
use fx_server::Refusal;

use super::job::Job;
use super::process::{Exports, Lost, Place, Process};
use super::site::Compiling;

/// Receives messages of the compiler.
pub(crate) type Log = Arc<dyn Fn(&str) + Send + Sync>;

struct Task {
    /// Environment and number of its snapshot.
    code: (String, u64),
    job: Vec<u8>,
    reply: Sender<Result<Compilation, Refusal>>,
}

/// What all threads share.
struct Ground {
    limit: Duration,
    place: Place,
    /// Who knows what nodes export, where it is kept.
    exports: Option<Exports>,
    log: Log,
}

/// The threads.
pub(crate) struct Workers {
    queue: SyncSender<Task>,
}

/// Work that waits beyond this is refused: agents come again.
const WAITING: usize = 256;

/// Environments for which a thread keeps a process.
const ENVIRONMENTS: usize = 4;

/// Catalogs of one process: what its compiler holds on to by mistake has an end.
const TASKS: u32 = 20_000;

impl Workers {
    pub(crate) fn start(
        compiling: &Compiling,
        exports: Option<Exports>,
        log: &Log,
    ) -> std::io::Result<Workers> {
        let (queue, tasks) = sync_channel::<Task>(WAITING);
        let tasks = Arc::new(Mutex::new(tasks));
        let (limit, place) = (compiling.limit, compiling.place.clone());
        let ground = Arc::new(Ground { limit, place, exports, log: Arc::clone(log) });
        for _ in 0..compiling.workers.max(1) {
            let (tasks, ground) = (Arc::clone(&tasks), Arc::clone(&ground));
            std::thread::Builder::new().spawn(move || work(&tasks, &ground))?;
        }
        Ok(Workers { queue })
    }

    /// Has the work done on the code of one snapshot and waits for it.
    pub(crate) fn run(
        &self,
        environment: &str,
        snapshot: u64,
        job: &Job,
    ) -> Result<Compilation, Refusal> {
        let (reply, answer) = channel();
        let job = serde_json::to_vec(job).map_err(|error| Refusal::Failed(error.to_string()))?;
        let task = Task { code: (environment.to_owned(), snapshot), job, reply };
        self.queue.try_send(task).map_err(|_| Refusal::Busy)?;
        let lost = || Refusal::Failed("a defect of the server ended this catalog".into());
        answer.recv().map_err(|_| lost())?
    }
}

/// A process with what it was made for.
struct Kept {
    snapshot: u64,
    process: Process,
    used: Instant,
    tasks: u32,
}

fn work(tasks: &Mutex<Receiver<Task>>, ground: &Ground) {
    let mut kept: BTreeMap<String, Kept> = BTreeMap::new();
    loop {
        let next = tasks.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Task { code, job, reply }) = next else { return };
        let result = one(&mut kept, ground, &code, &job);
        // Who sent the task may have gone.
        let _ = reply.send(result);
    }
}

fn one(
    kept: &mut BTreeMap<String, Kept>,
    ground: &Ground,
    code: &(String, u64),
    job: &[u8],
) -> Result<Compilation, Refusal> {
    let failed = |error: std::io::Error| {
        Refusal::Failed(format!("cannot start a process that compiles: {error}"))
    };
    let (name, snapshot) = code;
    kept.retain(|known, one| known != name || (one.snapshot == *snapshot && one.tasks < TASKS));
    if !kept.contains_key(name) {
        if kept.len() >= ENVIRONMENTS {
            let oldest = kept.iter().min_by_key(|(_, one)| one.used).map(|(name, _)| name.clone());
            oldest.map(|name| kept.remove(&name));
        }
        let process = Process::start(ground.limit, &ground.place, &ground.log);
        let process = process.map_err(failed)?;
        let one = Kept { snapshot: *snapshot, process, used: Instant::now(), tasks: 0 };
        kept.insert(name.clone(), one);
    }
    let Some(one) = kept.get_mut(name) else { return Err(Refusal::Busy) };
    (one.used, one.tasks) = (Instant::now(), one.tasks + 1);
    match one.process.run(job, ground.limit, ground.exports.as_ref(), &ground.log) {
        Ok(made) => Ok(made),
        Err(Lost::Refused(why)) => Err(Refusal::Failed(why)),
        Err(Lost::Late) => {
            kept.remove(name);
            let seconds = ground.limit.as_secs();
            Err(Refusal::Failed(format!(
                "the catalog took longer than {seconds} s to compile (--compile-limit)"
            )))
        }
        Err(Lost::Gone(why)) => {
            kept.remove(name);
            Err(Refusal::Failed(format!("the process that compiles ended: {why}")))
        }
    }
}
