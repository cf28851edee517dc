//! Bytes of files: read whole up to a limit, written and copied with their holes.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fd::AsFd;
use rustix::fs::{OFlags, SeekFrom};
use rustix::io::Errno;

use super::files::open_in;
use super::path::Place;
use crate::{HostError, Pieces, Result};

/// What a file is to hold.
pub(super) enum New<'a> {
    Bytes(&'a [u8]),
    /// The content of a regular file, of any size.
    CopyOf(&'a File),
    /// What is handed out piece by piece.
    Pieces(Pieces<'a>),
}

impl New<'_> {
    /// Puts it into an empty file; how many bytes were written.
    pub(super) fn fill(&self, file: &File) -> io::Result<u64> {
        match self {
            New::Bytes(bytes) => {
                write_with_holes(file, bytes, 0)?;
                Ok(bytes.len() as u64)
            }
            New::CopyOf(source) => copy(source, file),
            New::Pieces(pieces) => {
                let mut out = BufWriter::with_capacity(BUFFER, Sparse { file, at: 0 });
                pieces(&mut out)?;
                let written = out.into_inner().map_err(io::IntoInnerError::into_error)?.at;
                // The last bytes may be a hole.
                file.set_len(written)?;
                Ok(written)
            }
        }
    }

    /// Hands it to a writer as a stream.
    pub(super) fn with_reader<T>(
        &self,
        write: impl FnOnce(&mut dyn Read) -> io::Result<T>,
    ) -> io::Result<T> {
        match self {
            New::Bytes(bytes) => write(&mut &**bytes),
            New::CopyOf(source) => write(&mut FromStart { file: source.try_clone()?, at: 0 }),
            // Into a device or a file that is mounted: rare enough to be held as a whole.
            New::Pieces(pieces) => {
                let mut whole = Vec::new();
                pieces(&mut whole)?;
                write(&mut &*whole)
            }
        }
    }
}

/// Writes from the start of a file, leaving out blocks of zeros.
struct Sparse<'a> {
    file: &'a File,
    at: u64,
}

impl Write for Sparse<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        write_with_holes(self.file, bytes, self.at)?;
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How much of a file is held at a time.
const BUFFER: usize = 256 * 1024;

/// Copies what a file holds, skipping its holes: a sparse file costs what it holds, not the
/// size it claims.
fn copy(source: &File, file: &File) -> io::Result<u64> {
    let size = rustix::fs::fstat(source)?.st_size as u64;
    if size <= BUFFER as u64 {
        let mut content = Vec::with_capacity(size as usize + 1);
        FromStart { file: source.try_clone()?, at: 0 }
            .take(BUFFER as u64)
            .read_to_end(&mut content)?;
        write_with_holes(file, &content, 0)?;
        return Ok(content.len() as u64);
    }
    let mut buffer = vec![0; BUFFER];
    let (mut at, mut written) = (0, 0);
    loop {
        let data = match rustix::fs::seek(source, SeekFrom::Data(at)) {
            Ok(data) => data,
            Err(Errno::NXIO) => break,
            // A file system that does not know its holes.
            Err(Errno::INVAL) => at,
            Err(errno) => return Err(errno.into()),
        };
        let end = rustix::fs::seek(source, SeekFrom::Hole(data)).unwrap_or(u64::MAX);
        at = data;
        while at < end {
            let room =
                usize::try_from(end - at).map_or(buffer.len(), |left| left.min(buffer.len()));
            let count = source.read_at(&mut buffer[..room], at)?;
            if count == 0 {
                break;
            }
            write_with_holes(file, &buffer[..count], at)?;
            at += count as u64;
            written += count as u64;
        }
        if at < end {
            break;
        }
    }
    // The last bytes may be a hole.
    file.set_len(size)?;
    Ok(written)
}

/// Reads a staged or opened file from its start, leaving the shared position alone.
pub(super) struct FromStart {
    pub(super) file: File,
    pub(super) at: u64,
}

impl Read for FromStart {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = match self.file.read_at(buffer, self.at) {
            // Pipes and terminals have no positions.
            Err(error) if error.raw_os_error() == Some(Errno::SPIPE.raw_os_error()) => {
                self.file.read(buffer)?
            }
            result => result?,
        };
        self.at += count as u64;
        Ok(count)
    }
}

/// Zeros over a whole block of this size are left out where a file is written: a copy of a disk
/// image takes no more room than the image.
const HOLE: usize = 4096;

fn write_with_holes(file: &File, content: &[u8], base: u64) -> io::Result<()> {
    let empty = |block: &[u8]| block.len() == HOLE && block.iter().all(|byte| *byte == 0);
    if !content.chunks(HOLE).any(empty) {
        return file.write_all_at(content, base);
    }
    let mut at = 0;
    while at < content.len() {
        let blocks = content[at..].chunks(HOLE);
        let holes = blocks.clone().take_while(|block| empty(block)).count() * HOLE;
        let start = at + holes;
        let filled: usize =
            content[start..].chunks(HOLE).take_while(|block| !empty(block)).map(<[u8]>::len).sum();
        file.write_all_at(&content[start..start + filled], base + start as u64)?;
        at = start + filled;
    }
    file.set_len(base + content.len() as u64)
}

/// The content of an open file, unless it is larger than the limit: a file of somebody else may
/// claim any size.
pub(super) fn read_up_to(file: &File, size: u64, limit: u64, path: &Path) -> Result<Vec<u8>> {
    let too_large = || HostError::TooLarge { path: path.to_owned(), limit };
    if size > limit {
        return Err(too_large());
    }
    let content =
        read_bytes(file, size, limit).map_err(|error| HostError::io("read", path, error))?;
    content.ok_or_else(too_large)
}

/// `None` where there is more than the limit in a file that did not say so.
fn read_bytes(file: &File, size: u64, limit: u64) -> io::Result<Option<Vec<u8>>> {
    // One byte more than the size shows the end of file in the same call.
    // Files of the kernel say they are empty and are not.
    let mut content = vec![0; if size == 0 { 4096 } else { size as usize + 1 }];
    let mut filled = 0;
    loop {
        let count = match file.read_at(&mut content[filled..], filled as u64) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            // Pipes and terminals have no positions.
            Err(error) if error.raw_os_error() == Some(Errno::SPIPE.raw_os_error()) => {
                content.truncate(filled);
                file.take(limit.saturating_add(1)).read_to_end(&mut content)?;
                return Ok(Some(content).filter(|content| content.len() as u64 <= limit));
            }
            result => result?,
        };
        filled += count;
        if filled as u64 > limit {
            return Ok(None);
        }
        if count == 0 || (size > 0 && filled == size as usize) {
            content.truncate(filled);
            return Ok(Some(content));
        }
        if filled == content.len() {
            content.resize(content.len().max(4096) * 2, 0);
        }
    }
}

/// Writes into a file that cannot be replaced.
pub(super) fn refill(place: &Place, content: &mut dyn Read) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(open_in(place, flags)?);
    io::copy(content, &mut file)?;
    Ok(rustix::fs::fsync(file.as_fd())?)
}
