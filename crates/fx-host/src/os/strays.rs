//! Processes that left their command's group: they become ours, so that a command that is
//! ended is ended whole.
//!
//! A process that calls `setsid` is out of reach of a signal to the group. But when its
//! parent ends it is given to the nearest ancestor that asked for orphans, which is us. A
//! daemon that a command leaves behind when it ends by itself is policy's wish and stays;
//! it goes to the first process of the machine when we end.

use std::collections::BTreeSet;
use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions};

/// How long processes that fork while they are being ended are followed.
const PATIENCE: Duration = Duration::from_secs(2);

/// Our children now. Asks the kernel for orphans first, once.
pub(super) fn children() -> BTreeSet<i32> {
    static ASKED: std::sync::Once = std::sync::Once::new();
    ASKED.call_once(|| {
        // A kernel that refuses leaves orphans to the first process, as without us.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    });
    children_of("self")
}

/// The number of a process's group: 0 where its leader is outside this pid namespace, which
/// the call of the library does not expect.
fn group_of(process: &str) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Behind the name, which may hold anything: state, parent, group.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(2)?.parse().ok()
}

// A kernel without these files shows no children, and only the group is ended.
fn children_of(process: &str) -> BTreeSet<i32> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten();
    let lists = tasks.flatten().map(|task| std::fs::read_to_string(task.path().join("children")));
    lists
        .flatten()
        .flat_map(|list| {
            let pids = list.split_ascii_whitespace().map(str::parse::<i32>);
            pids.flatten().collect::<Vec<_>>()
        })
        .collect()
}

/// Children that somebody waits for. They are started under its lock, so that no child of
/// ours is ever taken for a stray.
fn awaited() -> MutexGuard<'static, BTreeSet<i32>> {
    static AWAITED: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());
    AWAITED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A mark that a child is waited for. Dropped when that is over.
pub(crate) struct Awaited(i32);

impl Awaited {
    /// Marks a child that was started in another way.
    pub(crate) fn new(pid: i32) -> Awaited {
        awaited().insert(pid);
        Awaited(pid)
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        awaited().remove(&self.0);
    }
}

/// Starts a command whose end the caller waits for.
pub(super) fn start(command: &mut Command) -> io::Result<(Child, Awaited)> {
    let mut awaited = awaited();
    let child = command.spawn()?;
    let pid = Pid::from_child(&child).as_raw_pid();
    awaited.insert(pid);
    Ok((child, Awaited(pid)))
}

/// What a command left behind, distinguished from our other children.
pub(super) struct Adopted {
    /// Our children before it started.
    pub(super) before: BTreeSet<i32>,
}

impl Adopted {
    fn ours(&self) -> Vec<i32> {
        let awaited = awaited();
        let known = |pid: &i32| awaited.contains(pid) || self.before.contains(pid);
        let ours = group_of("self");
        children().into_iter().filter(|pid| !known(pid) && has_left(*pid, ours)).collect()
    }

    /// Ends all of them with their own children.
    pub(super) fn end(&self) {
        let began = Instant::now();
        loop {
            let left = self.ours();
            if left.is_empty() || began.elapsed() > PATIENCE {
                return;
            }
            for pid in left {
                end_tree(pid);
            }
            std::thread::yield_now();
        }
    }
}

/// Takes note of the end of processes that became ours and that nobody waits for. Until then
/// they look alive to whoever ended them.
pub(super) fn reap() {
    let awaited = awaited();
    let ours = group_of("self");
    for pid in children_of("self").into_iter().filter(|pid| !awaited.contains(pid)) {
        if has_left(pid, ours) {
            let _alive = wait(pid);
        }
    }
}

/// Whether a process is in another group than ours. What is in our own never left the group of a
/// command: somebody else here started it, and waits for it.
fn has_left(pid: i32, ours: Option<i32>) -> bool {
    group_of(&pid.to_string()).is_some_and(|group| Some(group) != ours)
}

fn end_tree(top: i32) {
    let mut todo = vec![top];
    let mut seen = BTreeSet::new();
    while let Some(pid) = todo.pop() {
        if !seen.insert(pid) {
            continue;
        }
        if let Some(pid) = Pid::from_raw(pid) {
            // One that is gone already needs no signal.
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        todo.extend(children_of(&pid.to_string()));
    }
    let _ = wait(top);
}

fn wait(pid: i32) -> Option<()> {
    rustix::process::waitpid(Pid::from_raw(pid), WaitOptions::NOHANG).ok().flatten().map(drop)
}
