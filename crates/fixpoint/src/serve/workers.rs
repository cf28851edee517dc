//! Threads that compile. Each has a compiler for every environment, made for one snapshot of it.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fx_engine::{Cancel, Event, Level, Sink};
use fx_host::OsHost;
use fx_puppet::Machine;
use fx_server::Refusal;

use super::environments::Snapshot;

/// Receives messages of the compiler.
pub(crate) type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// Work on a compiler: what it is given is the compiler of the snapshot.
/// It sends its result itself.
type Work = Box<dyn FnOnce(&Machine) + Send>;

struct Job {
    /// Nothing where the work needs no environment.
    snapshot: Option<Arc<Snapshot>>,
    work: Work,
    /// The flag that ends the work, once a thread has taken it.
    stop: Arc<Mutex<Option<Arc<AtomicBool>>>>,
}

/// The threads.
pub(crate) struct Workers {
    queue: SyncSender<Job>,
}

/// Work that waits beyond this is refused: agents come again.
const WAITING: usize = 256;

/// Longer than any catalog takes; without an end to it an endless loop would keep a thread.
const PATIENCE: Duration = Duration::from_mins(10);

impl Workers {
    pub(crate) fn start(count: usize, log: &Log) -> std::io::Result<Workers> {
        let (queue, jobs) = sync_channel::<Job>(WAITING);
        let jobs = Arc::new(Mutex::new(jobs));
        for _ in 0..count.max(1) {
            let (jobs, log) = (Arc::clone(&jobs), Arc::clone(log));
            crate::deep::spawn(move || work(&jobs, &log))?;
        }
        Ok(Workers { queue })
    }

    /// Does the work on one of the threads and waits for it.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        snapshot: Option<Arc<Snapshot>>,
        work: impl FnOnce(&Machine) -> Result<T, String> + Send + 'static,
    ) -> Result<T, Refusal> {
        let (reply, answer) = channel();
        let stop = Arc::new(Mutex::new(None));
        let work = Box::new(move |machine: &Machine| {
            // Who sent the job may have gone.
            let _ = reply.send(work(machine));
        });
        let job = Job { snapshot, work, stop: Arc::clone(&stop) };
        self.queue.try_send(job).map_err(|_| Refusal::Busy)?;
        match answer.recv_timeout(PATIENCE) {
            Ok(result) => result.map_err(Refusal::Failed),
            Err(RecvTimeoutError::Timeout) => {
                let taken = stop.lock().unwrap_or_else(PoisonError::into_inner).clone();
                if let Some(flag) = taken {
                    flag.store(true, Ordering::SeqCst);
                }
                Err(Refusal::Failed("the catalog took too long to compile".into()))
            }
            Err(RecvTimeoutError::Disconnected) => {
                Err(Refusal::Failed("a defect of the compiler ended this catalog".into()))
            }
        }
    }
}

fn work(jobs: &Mutex<Receiver<Job>>, log: &Log) {
    let stop = Arc::new(AtomicBool::new(false));
    let mut compilers: BTreeMap<String, (u64, Machine)> = BTreeMap::new();
    loop {
        let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { snapshot, work, stop: taken }) = next else { return };
        stop.store(false, Ordering::SeqCst);
        *taken.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&stop));
        let (name, id) =
            snapshot.as_ref().map_or((String::new(), 0), |one| (one.name.clone(), one.id));
        if compilers.get(&name).is_none_or(|(known, _)| *known != id) {
            compilers.insert(name.clone(), (id, compiler(&stop, log)));
        }
        let Some((_, machine)) = compilers.get(&name) else { continue };
        if catch_unwind(AssertUnwindSafe(|| work(machine))).is_err() {
            // What the compiler holds after a panic is anybody's guess.
            compilers.remove(&name);
        }
    }
}

fn compiler(stop: &Arc<AtomicBool>, log: &Log) -> Machine {
    let host = Rc::new(OsHost::new());
    let machine = Machine::new(host, Cancel::from_flag(Arc::clone(stop)));
    machine.run().ledger.watch(Rc::new(Messages(Arc::clone(log))));
    machine
}

/// Hands warnings and errors of manifests to the log of the server.
struct Messages(Log);

impl Sink for Messages {
    fn event(&self, event: &Event<'_>) {
        if let Event::Message {
            level: level @ (Level::Warning | Level::Error | Level::Notice),
            text,
            ..
        } = event
        {
            (self.0)(&format!("{level:?}: {text}"));
        }
    }
}
