//! Opening what a box holds from outside of it. Whoever is inside may put links, pipes and
//! endless files anywhere, so no link is followed, nothing blocks and every read has a limit.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat, openat2};
use rustix::io::Errno;

/// Flags that every file is opened with.
const CAREFUL: OFlags =
    OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Opens a path below a directory. No part of it may be a link.
pub(super) fn beneath(dir: BorrowedFd<'_>, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let path = path.strip_prefix("/").unwrap_or(path);
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let flags = flags | CAREFUL;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let mode = if flags.contains(OFlags::CREATE) { Mode::from(0o600) } else { Mode::empty() };
    match openat2(dir, path, flags, mode, resolve) {
        // Before Linux 5.6, or where a filter does not know it.
        Err(Errno::NOSYS | Errno::PERM) => stepwise(dir, path, flags, mode),
        done => Ok(done?),
    }
}

fn stepwise(dir: BorrowedFd<'_>, path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    let mut names: Vec<&OsStr> = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => names.push(name),
            Component::CurDir => {}
            _ => return Err(Errno::XDEV.into()),
        }
    }
    let Some((last, above)) = names.split_last() else {
        return Ok(openat(dir, ".", flags, mode)?);
    };
    let mut held: Option<OwnedFd> = None;
    for name in above {
        let at = held.as_ref().map_or(dir, |fd| fd.as_fd());
        let walk = OFlags::PATH | OFlags::DIRECTORY | CAREFUL;
        held = Some(openat(at, *name, walk, Mode::empty())?);
    }
    Ok(openat(held.as_ref().map_or(dir, |fd| fd.as_fd()), *last, flags, mode)?)
}

/// Reads a regular file below a directory, up to a limit; longer files are an error.
pub(super) fn regular_at(dir: BorrowedFd<'_>, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    whole(beneath(dir, path, OFlags::RDONLY)?, limit)
}

/// Reads a regular file of the machine. Its last part must not be a link.
pub(super) fn regular(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    whole(openat(CWD, path, OFlags::RDONLY | CAREFUL, Mode::empty())?, limit)
}

fn whole(fd: OwnedFd, limit: u64) -> io::Result<Vec<u8>> {
    let file = plain(fd)?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

/// The file, if it is a regular one.
pub(super) fn plain(fd: OwnedFd) -> io::Result<File> {
    let kind = FileType::from_raw_mode(fstat(&fd)?.st_mode);
    if kind == FileType::RegularFile {
        Ok(File::from(fd))
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_pipes_and_long_files_are_refused_by_both_ways() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(at("a/b")).unwrap();
        std::fs::write(at("a/b/f"), "text").unwrap();
        std::os::unix::fs::symlink("b", at("a/link")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", at("a/leaf")).unwrap();
        rustix::fs::mknodat(CWD, at("a/pipe"), FileType::Fifo, Mode::from(0o600), 0).unwrap();
        let root = openat(CWD, dir.path(), OFlags::RDONLY, Mode::empty()).unwrap();
        let (root, read) = (root.as_fd(), OFlags::RDONLY | CAREFUL);
        for (path, found) in [
            ("/a/b/f", true),
            ("a/b/./f", true),
            ("a/link/f", false),
            ("a/leaf", false),
            ("../x", false),
        ] {
            let path = Path::new(path);
            assert_eq!(beneath(root, path, OFlags::RDONLY).is_ok(), found, "{path:?}");
            let stripped = path.strip_prefix("/").unwrap_or(path);
            assert_eq!(stepwise(root, stripped, read, Mode::empty()).is_ok(), found, "{path:?}");
        }
        assert!(regular_at(root, Path::new("a/pipe"), 9).is_err());
        assert!(regular_at(root, Path::new("a/b"), 9).is_err());
        assert_eq!(regular_at(root, Path::new("a/b/f"), 4).unwrap(), b"text");
        let error = regular_at(root, Path::new("a/b/f"), 3).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }
}
