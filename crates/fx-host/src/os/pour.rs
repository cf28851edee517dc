//! Writing into what takes bytes and keeps none: a character device or a pipe.
//!
//! A pipe can be anybody's. One that another user made, or could have put there, would hand
//! him the content, and a reader who does not read would hold the run up. Both are errors.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::fs::{FileType, OFlags, Stat};
use rustix::io::Errno;

use super::files::open_in;
use super::path::Place;

/// How long a reader may take nothing.
const PATIENCE: Duration = Duration::from_secs(5);

/// Writes content into a device or a pipe that somebody reads.
pub(super) fn pour(place: &Place, content: &mut dyn Read) -> io::Result<()> {
    let flags =
        OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    // Looked at before it is opened, since opening alone lets a waiting reader go on.
    let held = open_in(place, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC)?;
    let found = rustix::fs::fstat(&held)?;
    if FileType::from_raw_mode(found.st_mode).is_fifo() {
        check_pipe(&found, place.dir.stat()?)?;
    }
    let fd = open_in(place, flags)?;
    let opened = rustix::fs::fstat(&fd)?;
    if (opened.st_dev, opened.st_ino) != (found.st_dev, found.st_ino) {
        return Err(io::Error::other("it was replaced while it was being opened"));
    }
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match content.read(&mut buffer)? {
            0 => return Ok(()),
            count => feed(&fd, &buffer[..count])?,
        }
    }
}

/// Refuses a pipe that another user made or could have put there. The directory counts as
/// much as the pipe: policy may just have taken the pipe over from its maker.
pub(super) fn check_pipe(pipe: &Stat, dir: &Stat) -> io::Result<()> {
    let me = rustix::process::geteuid().as_raw();
    let is_ours = |uid: u32| uid == 0 || uid == me;
    let text = if !is_ours(pipe.st_uid) {
        format!("it is a pipe of user {}, who would read the content", pipe.st_uid)
    } else if !is_ours(dir.st_uid) {
        format!("it is a pipe in a directory of user {}, who may read it", dir.st_uid)
    } else if dir.st_mode & 0o022 != 0 && me == 0 {
        "it is a pipe in a directory that others can write, who may read it".to_owned()
    } else {
        return Ok(());
    };
    Err(io::Error::new(io::ErrorKind::PermissionDenied, text))
}

fn feed(fd: &OwnedFd, mut content: &[u8]) -> io::Result<()> {
    let mut moved = Instant::now();
    while !content.is_empty() {
        match rustix::io::write(fd, content) {
            Ok(count) => {
                content = &content[count..];
                moved = Instant::now();
            }
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                if moved.elapsed() >= PATIENCE {
                    let text = format!("nobody read it for {} seconds", PATIENCE.as_secs());
                    return Err(io::Error::new(io::ErrorKind::TimedOut, text));
                }
                let slice = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
                match poll(&mut [PollFd::new(fd, PollFlags::OUT)], Some(&slice)) {
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(errno) => return Err(errno.into()),
                }
            }
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}
