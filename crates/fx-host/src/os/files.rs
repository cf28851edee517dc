//! Files of the real machine: each operation is a safe walk, a look at the stage, and one
//! call on a directory descriptor.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, XattrFlags};
use rustix::io::{Errno, retry_on_intr};

use super::OsHost;
use super::attributes::{self, grown, timestamps};
use super::content::{FromStart, New, read_up_to, refill};
use super::path::{Intent, Leaf, Place, open_short, place, resolve};
use super::pour::pour;
use super::temp::Temp;
use crate::in_place::{InPlace, Opening};
use crate::{
    Directory, Edits, Entry, Files, FsSpace, HostError, Kind, Meta, Pieces, Reader, Result, Time,
    WriteOptions, limits,
};

/// Opens a name in a held directory.
pub(super) fn open_in(place: &Place, flags: OFlags) -> Result<OwnedFd, Errno> {
    retry_on_intr(|| rustix::fs::openat(&place.dir, &place.name, flags, Mode::empty()))
}

fn failed(op: &'static str, path: &Path) -> impl Fn(Errno) -> HostError {
    move |errno| HostError::io(op, path, errno)
}

impl OsHost {
    /// The file waiting for this name, as a descriptor of its own.
    fn staged(&self, place: &Place) -> Option<OwnedFd> {
        let file = self.stage.borrow().find(&place.dir, &place.name)?.try_clone().ok()?;
        Some(file.into())
    }

    /// Finds where a file is to be written.
    fn place_to_write(&self, path: &Path) -> Result<Place> {
        let beside = self.stage.borrow().beside(path);
        beside.map_or_else(|| place(path, Leaf::Itself, Intent::Change), Ok)
    }

    /// What the file is that waits for a name.
    fn staged_meta(&self, place: &Place) -> Option<Stat> {
        rustix::fs::fstat(self.stage.borrow().find(&place.dir, &place.name)?).ok()
    }

    /// Whether anything waits; the common answer is no and saves the look.
    fn has_staged(&self) -> bool {
        !self.stage.borrow().is_empty()
    }

    /// Whether a file may wait for the name a path ends in.
    fn may_be_staged(&self, path: &Path) -> bool {
        let stage = self.stage.borrow();
        !stage.is_empty() && path.file_name().is_none_or(|name| stage.awaits(name))
    }

    /// What is known of the file written to this very path and waiting for its name.
    fn staged_stat(&self, path: &Path) -> Option<Stat> {
        rustix::fs::fstat(self.stage.borrow().written_to(path)?).ok()
    }

    fn meta(&self, op: &'static str, path: &Path, leaf: Leaf) -> Result<Meta> {
        if let Some(stat) = self.staged_stat(path) {
            return Ok(to_meta(&stat));
        }
        if !self.may_be_staged(path) {
            let nofollow = if leaf == Leaf::Itself { OFlags::NOFOLLOW } else { OFlags::empty() };
            if let Some(fd) = open_short(path, OFlags::PATH | nofollow, op)? {
                return rustix::fs::fstat(&fd).map(|stat| to_meta(&stat)).map_err(failed(op, path));
            }
        }
        let place = place(path, leaf, Intent::Read)?;
        let stat = match self.staged_meta(&place) {
            Some(stat) => Ok(stat),
            None => rustix::fs::statat(&place.dir, &place.name, AtFlags::SYMLINK_NOFOLLOW),
        };
        stat.map(|stat| to_meta(&stat)).map_err(failed(op, path))
    }

    /// A readable descriptor. Never blocks on a pipe without a writer.
    fn open_file(&self, path: &Path) -> Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::NONBLOCK;
        let written = self.stage.borrow().written_to(path).map(File::try_clone);
        if let Some(Ok(file)) = written {
            return Ok(file);
        }
        if !self.may_be_staged(path)
            && let Some(fd) = open_short(path, flags, "read")?
        {
            return Ok(File::from(fd));
        }
        let place = place(path, Leaf::Followed, Intent::Read)?;
        match self.staged(&place) {
            Some(fd) => Ok(File::from(fd)),
            None => open_in(&place, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC)
                .map(File::from)
                .map_err(failed("read", path)),
        }
    }

    /// Gives a file that waits for its name other content; whether one waits. Nobody has
    /// seen it yet, so it needs no new one, and its owner and mode stay.
    fn rewrite(&self, path: &Path, content: &[u8]) -> Result<bool> {
        let mut stage = self.stage.borrow_mut();
        let Some(file) = stage.written_to(path) else { return Ok(false) };
        let io = |error: io::Error| HostError::io("write", path, error);
        if let Err(error) = refill_waiting(file, content) {
            // What has neither the old nor the new content gets no name.
            stage.discard_written_to(path);
            return Err(io(error));
        }
        stage.rewritten(path, content.len() as u64);
        let full = stage.is_full();
        drop(stage);
        if full {
            self.settle()?;
        }
        Ok(true)
    }

    /// Walks to what is about to change, with everything written before in place, and
    /// remembers which file system to sync.
    fn change(&self, path: &Path) -> Result<Place> {
        if self.has_staged() {
            self.settle()?;
        }
        self.touch(path)
    }

    fn touch(&self, path: &Path) -> Result<Place> {
        let place = place(path, Leaf::Itself, Intent::Change)?;
        self.stage
            .borrow_mut()
            .touch(&place.dir)
            .map_err(|error| HostError::io("change", path, error))?;
        Ok(place)
    }

    /// A descriptor of what is about to change: the waiting file, or the file itself for
    /// as long as it is no link.
    fn change_fd(&self, op: &'static str, path: &Path) -> Result<OwnedFd> {
        let place = self.touch(path)?;
        if let Some(fd) = self.staged(&place) {
            return Ok(fd);
        }
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        open_in(&place, flags).map_err(failed(op, path))
    }

    /// An extended-attribute call by path: through the descriptor's name in /proc, since
    /// the calls on descriptors refuse files we may not open.
    fn with_proc_path<T>(
        &self,
        path: &Path,
        intent: Intent,
        call: impl FnOnce(&Path) -> Result<T, Errno>,
    ) -> Result<T> {
        use std::os::fd::AsRawFd;
        let place = place(path, Leaf::Itself, intent)?;
        let fd = match self.staged(&place) {
            Some(fd) => fd,
            None => open_in(&place, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC)
                .map_err(failed("read attributes of", path))?,
        };
        let name = PathBuf::from(format!("/proc/self/fd/{}", fd.as_raw_fd()));
        call(&name).map_err(failed("access attributes of", path))
    }

    /// Makes `path` a regular file with new content, in one moment.
    fn replace(
        &self,
        path: &Path,
        options: &WriteOptions,
        new: &New<'_>,
        copy_of: Option<&Path>,
    ) -> Result<()> {
        let place = self.place_to_write(path)?;
        let io = |error: io::Error| HostError::io("write", path, error);
        let old = match self.staged_meta(&place) {
            Some(stat) => Some(stat),
            None => match rustix::fs::statat(&place.dir, &place.name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => Some(stat),
                Err(Errno::NOENT) => None,
                Err(errno) => return Err(io(errno.into())),
            },
        };
        match old.as_ref().map(|stat| FileType::from_raw_mode(stat.st_mode)) {
            Some(FileType::Directory) => return Err(io(Errno::ISDIR.into())),
            // A file in the place of `/dev/null` would break the machine.
            Some(FileType::CharacterDevice | FileType::Fifo) => {
                self.settle()?;
                return new.with_reader(|reader| pour(&place, reader)).map_err(io);
            }
            Some(FileType::BlockDevice | FileType::Socket) => {
                let text = "is no regular file, and is not replaced by one";
                return Err(io(io::Error::new(io::ErrorKind::InvalidInput, text)));
            }
            _ => {}
        }
        let replaces_link =
            old.as_ref().is_some_and(|stat| FileType::from_raw_mode(stat.st_mode).is_symlink());
        let kept = old.filter(|stat| FileType::from_raw_mode(stat.st_mode).is_file());
        let temp = match Temp::new(&place.dir) {
            // Files that wait for their names hold the descriptors.
            Err(error) if is_out_of_descriptors(&error) && self.has_staged() => {
                self.settle()?;
                Temp::new(&place.dir)
            }
            result => result,
        };
        let temp = temp.map_err(io)?;
        let bytes = new.fill(&temp.file).map_err(io)?;
        attributes::dress(&temp.file, &place, kept.as_ref(), options).map_err(io)?;
        if kept.is_some() && is_mount_point(&place) {
            // A bind-mounted file cannot be replaced, only refilled; its new content is
            // whole on disk first.
            self.settle()?;
            rustix::fs::fsync(&temp.file).map_err(failed("write", path))?;
            return new.with_reader(|reader| refill(&place, reader)).map_err(io);
        }
        let mut stage = self.stage.borrow_mut();
        stage.add(place, path.to_owned(), temp, bytes, copy_of).map_err(io)?;
        let full = stage.is_full();
        drop(stage);
        // An old link would still lead walks elsewhere while the file waits for its name.
        if full || replaces_link { self.settle() } else { Ok(()) }
    }
}

impl Files for OsHost {
    fn stat(&self, path: &Path) -> Result<Meta> {
        self.meta("look at", path, Leaf::Followed)
    }

    fn lstat(&self, path: &Path) -> Result<Meta> {
        self.meta("look at", path, Leaf::Itself)
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>> {
        Ok(self.read_with_meta(path)?.1)
    }

    fn read_with_meta(&self, path: &Path) -> Result<(Meta, Vec<u8>)> {
        let file = self.open_file(path)?;
        let meta =
            rustix::fs::fstat(&file).map(|stat| to_meta(&stat)).map_err(failed("read", path))?;
        let content = read_up_to(&file, meta.size, limits::WHOLE, path)?;
        Ok((meta, content))
    }

    fn read_limited(&self, path: &Path, limit: u64) -> Result<Vec<u8>> {
        let file = self.open_file(path)?;
        let size = rustix::fs::fstat(&file).map_err(failed("read", path))?.st_size as u64;
        read_up_to(&file, size, limit, path)
    }

    fn check_trusted(&self, path: &Path) -> Result<()> {
        self.judge(path)
    }

    fn read_trusted_up_to(&self, path: &Path, limit: u64) -> Result<Vec<u8>> {
        self.read_judged(path, limit)
    }

    fn refused(&self) -> Option<String> {
        self.refusal()
    }

    fn open(&self, path: &Path) -> Result<Reader<'_>> {
        let file = self.open_file(path)?;
        Ok(Box::new(FromStart { file, at: 0 }))
    }

    fn read_link(&self, path: &Path) -> Result<PathBuf> {
        if self.has_staged() {
            self.settle()?;
        }
        let place = place(path, Leaf::Itself, Intent::Read)?;
        let target = rustix::fs::readlinkat(&place.dir, &place.name, Vec::new())
            .map_err(failed("read link", path))?;
        Ok(OsString::from_vec(target.into_bytes()).into())
    }

    fn list(&self, path: &Path) -> Result<Vec<Entry>> {
        if self.has_staged() {
            self.settle()?;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = match open_short(path, flags, "list")? {
            Some(fd) => fd,
            None => {
                let place = place(path, Leaf::Followed, Intent::Read)?;
                open_in(&place, flags | OFlags::NOFOLLOW).map_err(failed("list", path))?
            }
        };
        let mut entries = Vec::new();
        for entry in rustix::fs::Dir::new(fd).map_err(failed("list", path))? {
            let entry = entry.map_err(failed("list", path))?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                let kind = to_kind(entry.file_type());
                entries.push(Entry { name: name.to_owned(), kind });
            }
        }
        entries.sort();
        Ok(entries)
    }

    fn directory<'a>(&'a self, path: &Path) -> Result<Box<dyn Directory + 'a>> {
        super::directory::hold(self, path)
    }

    fn real_path(&self, path: &Path) -> Result<PathBuf> {
        if self.has_staged() {
            self.settle()?;
        }
        resolve(path, Intent::Read)
    }

    fn real_path_to_change(&self, path: &Path) -> Result<PathBuf> {
        if self.has_staged() {
            self.settle()?;
        }
        resolve(path, Intent::Change)
    }

    fn space(&self, path: &Path, limit: Duration) -> Result<FsSpace> {
        // The call cannot be interrupted on a dead network file system, so it is made by a
        // thread that is left behind when the limit is over.
        let (sender, receiver) = std::sync::mpsc::channel();
        let asked = path.to_owned();
        std::thread::spawn(move || sender.send(rustix::fs::statvfs(&asked)));
        let answer = receiver.recv_timeout(limit).unwrap_or(Err(Errno::TIMEDOUT));
        let space = answer.map_err(failed("measure", path))?;
        Ok(FsSpace {
            total: space.f_blocks * space.f_frsize,
            free: space.f_bfree * space.f_frsize,
            available: space.f_bavail * space.f_frsize,
            inodes: space.f_files,
            inodes_free: space.f_ffree,
        })
    }

    fn xattrs(&self, path: &Path) -> Result<Vec<OsString>> {
        self.with_proc_path(path, Intent::Read, |name| {
            let names = match grown(|buffer| rustix::fs::listxattr(name, buffer)) {
                Err(Errno::OPNOTSUPP) => Vec::new(),
                result => result?,
            };
            let parts = names.split(|byte| *byte == 0).filter(|part| !part.is_empty());
            let mut names: Vec<OsString> =
                parts.map(|part| OsStr::from_bytes(part).to_owned()).collect();
            names.sort();
            Ok(names)
        })
    }

    fn xattr(&self, path: &Path, attribute: &str) -> Result<Option<Vec<u8>>> {
        self.with_proc_path(path, Intent::Read, |name| {
            match grown(|buffer| rustix::fs::getxattr(name, attribute, buffer)) {
                Err(Errno::NODATA | Errno::OPNOTSUPP) => Ok(None),
                result => result.map(Some),
            }
        })
    }
}

impl Edits for OsHost {
    fn write(&self, path: &Path, content: &[u8], options: &WriteOptions) -> Result<()> {
        if *options == WriteOptions::default() && self.rewrite(path, content)? {
            return Ok(());
        }
        self.replace(path, options, &New::Bytes(content), None)
    }

    fn write_pieces(&self, path: &Path, pieces: Pieces<'_>, options: &WriteOptions) -> Result<()> {
        self.replace(path, options, &New::Pieces(pieces), None)
    }

    fn copy_file(&self, from: &Path, to: &Path, options: &WriteOptions) -> Result<()> {
        let source = self.open_file(from)?;
        let stat = rustix::fs::fstat(&source).map_err(failed("copy", from))?;
        if !FileType::from_raw_mode(stat.st_mode).is_file() {
            let text = "it is no regular file";
            let error = io::Error::new(io::ErrorKind::InvalidInput, text);
            return Err(HostError::io("copy", from, error));
        }
        self.replace(to, options, &New::CopyOf(&source), Some(from))
    }

    fn append(&self, path: &Path, content: &[u8], mode: u32) -> Result<()> {
        let place = self.change(path)?;
        let flags = OFlags::WRONLY
            | OFlags::APPEND
            | OFlags::CREATE
            | OFlags::NOFOLLOW
            | OFlags::NONBLOCK
            | OFlags::CLOEXEC
            | OFlags::NOCTTY;
        let fd = rustix::fs::openat(&place.dir, &place.name, flags, Mode::from_raw_mode(mode))
            .map_err(failed("append to", path))?;
        File::from(fd).write_all(content).map_err(|error| HostError::io("append to", path, error))
    }

    fn open_in_place(&self, path: &Path, how: &Opening) -> Result<Box<dyn InPlace>> {
        super::in_place::open(self, path, how)
    }

    fn make_dir(&self, path: &Path, mode: u32) -> Result<()> {
        let op = "create directory";
        let place = self.change(path)?;
        rustix::fs::mkdirat(&place.dir, &place.name, Mode::from_raw_mode(0o700))
            .map_err(failed(op, path))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = open_in(&place, flags).map_err(failed(op, path))?;
        rustix::fs::fchmod(fd, Mode::from_raw_mode(mode)).map_err(failed(op, path))
    }

    fn make_fifo(&self, path: &Path, mode: u32) -> Result<()> {
        let op = "create pipe";
        let place = self.change(path)?;
        rustix::fs::mknodat(&place.dir, &place.name, FileType::Fifo, Mode::from_raw_mode(0o600), 0)
            .map_err(failed(op, path))?;
        self.set_mode(path, mode)
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        // A link to a directory: what was written through it is to be found where it is. And
        // a copy of the file may be its backup.
        let waits = {
            let stage = self.stage.borrow();
            stage.holds_below(path) || stage.holds_copy_of(path)
        };
        if waits {
            self.settle()?;
        }
        let place = self.touch(path)?;
        let waited = self.stage.borrow_mut().discard(&place.dir, &place.name);
        match rustix::fs::unlinkat(&place.dir, &place.name, AtFlags::empty()) {
            Err(Errno::NOENT) if waited => Ok(()),
            result => result.map_err(failed("remove", path)),
        }
    }

    fn remove_dir(&self, path: &Path) -> Result<()> {
        let place = self.change(path)?;
        rustix::fs::unlinkat(&place.dir, &place.name, AtFlags::REMOVEDIR)
            .map_err(failed("remove directory", path))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let old = self.change(from)?;
        let new = self.touch(to)?;
        rustix::fs::renameat(&old.dir, &old.name, &new.dir, &new.name)
            .map_err(failed("rename", from))
    }

    fn symlink(&self, target: &Path, path: &Path) -> Result<()> {
        let place = self.change(path)?;
        rustix::fs::symlinkat(target, &place.dir, &place.name).map_err(failed("create link", path))
    }

    fn hard_link(&self, existing: &Path, path: &Path) -> Result<()> {
        let old = self.change(existing)?;
        let new = self.touch(path)?;
        rustix::fs::linkat(&old.dir, &old.name, &new.dir, &new.name, AtFlags::empty())
            .map_err(failed("create hard link", path))
    }

    fn set_mode(&self, path: &Path, mode: u32) -> Result<()> {
        let op = "set the mode of";
        let mode = Mode::from_raw_mode(mode);
        match self.change_fd(op, path) {
            Ok(fd) => rustix::fs::fchmod(fd, mode).map_err(failed(op, path)),
            // Files we own but may not read are changed through their name in /proc.
            Err(error)
                if error.kind() == io::ErrorKind::PermissionDenied
                    || error.errno() == Some(Errno::NXIO.raw_os_error()) =>
            {
                if self.lstat(path)?.is_symlink() {
                    return Err(HostError::io(op, path, Errno::LOOP));
                }
                self.with_proc_path(path, Intent::Change, |name| rustix::fs::chmod(name, mode))
            }
            Err(error) => Err(error),
        }
    }

    fn set_owner(&self, path: &Path, uid: Option<u32>, gid: Option<u32>) -> Result<()> {
        let op = "set the owner of";
        let place = self.touch(path)?;
        let fd = match self.staged(&place) {
            Some(fd) => fd,
            None => open_in(&place, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC)
                .map_err(failed(op, path))?,
        };
        attributes::hand_over(&fd, uid, gid).map_err(failed(op, path))
    }

    fn set_times(&self, path: &Path, atime: Option<Time>, mtime: Option<Time>) -> Result<()> {
        let op = "set the times of";
        let place = self.touch(path)?;
        let times = timestamps(atime, mtime);
        if let Some(fd) = self.staged(&place) {
            return rustix::fs::futimens(fd, &times).map_err(failed(op, path));
        }
        // A file named later in this directory would stamp it again.
        self.settle()?;
        rustix::fs::utimensat(&place.dir, &place.name, &times, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(failed(op, path))
    }

    fn set_xattr(&self, path: &Path, attribute: &str, value: Option<&[u8]>) -> Result<()> {
        drop(self.touch(path)?);
        self.with_proc_path(path, Intent::Change, |name| match value {
            Some(value) => rustix::fs::setxattr(name, attribute, value, XattrFlags::empty()),
            None => match rustix::fs::removexattr(name, attribute) {
                Err(Errno::NODATA) => Ok(()),
                result => result,
            },
        })
    }

    fn lock(&self, path: &Path, patience: Duration) -> Result<Option<crate::Lock>> {
        crate::Lock::wait(path, patience)
    }

    fn settle(&self) -> Result<()> {
        let settled = self.stage.borrow_mut().settle();
        settled.map_err(|(path, error)| HostError::io("put in place", path, error))?;
        self.tell_settled();
        Ok(())
    }

    fn commit(&self) -> Result<()> {
        let settled = self.settle();
        if let Some((path, error)) = self.stage.borrow_mut().take_lost() {
            return Err(HostError::io("put in place", path, error));
        }
        settled?;
        self.stage.borrow_mut().sync().map_err(|error| HostError::io("sync", "/", error))
    }
}

fn refill_waiting(file: &File, content: &[u8]) -> io::Result<()> {
    let old = rustix::fs::fstat(file)?;
    if old.st_size > 0 {
        file.set_len(0)?;
    }
    file.write_all_at(content, 0)?;
    // Writing may have cleared the set-user bits.
    if old.st_mode & 0o6000 != 0 {
        rustix::fs::fchmod(file, Mode::from_raw_mode(old.st_mode & 0o7777))?;
    }
    Ok(())
}

fn is_out_of_descriptors(error: &io::Error) -> bool {
    let full = [Errno::MFILE.raw_os_error(), Errno::NFILE.raw_os_error()];
    error.raw_os_error().is_some_and(|number| full.contains(&number))
}

/// Whether a file is itself a mount point, as a container's /etc/hosts is.
fn is_mount_point(place: &Place) -> bool {
    use rustix::fs::{StatxAttributes, StatxFlags, statx};
    let found = statx(&place.dir, &place.name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::TYPE);
    found.is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

fn to_kind(kind: FileType) -> Option<Kind> {
    Some(match kind {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Symlink,
        FileType::Fifo => Kind::Fifo,
        FileType::Socket => Kind::Socket,
        FileType::CharacterDevice => Kind::CharDevice,
        FileType::BlockDevice => Kind::BlockDevice,
        FileType::Unknown => return None,
    })
}

pub(super) fn to_meta(stat: &Stat) -> Meta {
    let kind = to_kind(FileType::from_raw_mode(stat.st_mode)).unwrap_or(Kind::File);
    let time = |secs, nanos| Time { secs, nanos: nanos as u32 };
    Meta {
        kind,
        mode: stat.st_mode & 0o7777,
        uid: stat.st_uid,
        gid: stat.st_gid,
        size: stat.st_size as u64,
        dev: stat.st_dev,
        ino: stat.st_ino,
        // A file that waits for its name has none yet, but is as good as named.
        nlink: stat.st_nlink.max(1),
        rdev: stat.st_rdev,
        blocks: stat.st_blocks as u64,
        atime: time(stat.st_atime, stat.st_atime_nsec),
        mtime: time(stat.st_mtime, stat.st_mtime_nsec),
        ctime: time(stat.st_ctime, stat.st_ctime_nsec),
    }
}
