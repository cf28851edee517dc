//! A lock that dies with its holder: `flock` on a file, with a record of who holds it.
//!
//! The record is for messages only. Whether the lock is held is the kernel's answer, so a
//! killed holder frees it at once and a reused process number fools nobody.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, OFlags};

use crate::{HostError, Result};

/// A held lock. Dropping it frees it.
#[derive(Debug)]
pub struct Lock {
    _file: File,
    path: PathBuf,
}

/// Who holds a lock, as the holder wrote it down.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Holder {
    /// Process number.
    pub pid: u32,
    /// Start of the process in clock ticks since boot, which makes the number unique …
    pub started: u64,
    /// … on this boot.
    pub boot: String,
}

/// What came of trying to take a lock.
#[derive(Debug)]
pub enum Locked {
    /// It is ours.
    Taken(Lock),
    /// Somebody else has it.
    Held(Holder),
}

impl Lock {
    /// Takes the lock if it is free. The file is made if needed, readable by us alone.
    pub fn try_take(path: &Path) -> Result<Locked> {
        let fail = |error: std::io::Error| HostError::io("lock", path, error);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::from_raw_mode(0o600))
            .map_err(|errno| fail(errno.into()))?;
        let mut file = File::from(fd);
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::AGAIN) => return Ok(Locked::Held(read_holder(&mut file))),
            Err(errno) => return Err(fail(errno.into())),
        }
        let me = Holder::me();
        file.set_len(0).map_err(fail)?;
        writeln!(file, "{} {} {}", me.pid, me.started, me.boot).map_err(fail)?;
        Ok(Locked::Taken(Lock { _file: file, path: path.to_owned() }))
    }

    /// Takes the lock for a moment, and waits for others that hold it so; `None` when the
    /// patience is over.
    pub fn wait(path: &Path, patience: Duration) -> Result<Option<Lock>> {
        let fail = |errno: rustix::io::Errno| HostError::io("lock", path, errno);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::from_raw_mode(0o600)).map_err(fail)?;
        let began = Instant::now();
        loop {
            match rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(Lock { _file: File::from(fd), path: path.to_owned() })),
                Err(rustix::io::Errno::AGAIN) if began.elapsed() < patience => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(rustix::io::Errno::AGAIN) => return Ok(None),
                Err(errno) => return Err(fail(errno)),
            }
        }
    }

    /// Who holds the lock, as far as the record shows: its process still runs. Does not take
    /// the lock, so that nobody who wants it finds it held by a mere question.
    pub fn holder(path: &Path) -> Option<Holder> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
        let holder = read_holder(&mut file);
        Some(holder).filter(|holder| *holder == Holder::of(holder.pid))
    }

    /// Where the lock lies.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Holder {
    /// The running process.
    pub fn me() -> Holder {
        Holder::of(std::process::id())
    }

    /// A process by its number; started at zero if there is none.
    fn of(pid: u32) -> Holder {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The name in parentheses may hold anything; the fields after it are numbers.
        let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
        let started =
            after.split_whitespace().nth(19).and_then(|field| field.parse().ok()).unwrap_or(0);
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        Holder { pid, started, boot: boot.trim().to_owned() }
    }
}

fn read_holder(file: &mut File) -> Holder {
    let mut text = String::new();
    let _ = file.rewind();
    let _ = file.take(200).read_to_string(&mut text);
    let mut words = text.split_whitespace();
    Holder {
        pid: words.next().and_then(|word| word.parse().ok()).unwrap_or(0),
        started: words.next().and_then(|word| word.parse().ok()).unwrap_or(0),
        boot: words.next().unwrap_or_default().to_owned(),
    }
}
