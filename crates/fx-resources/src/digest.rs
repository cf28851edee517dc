//! Digests of files as reports show them, and whether files hold the same. Computed only when
//! something differs.

use std::io::{self, Read};
use std::path::Path;

pub use fx_crypto::digest::Algorithm;
use fx_host::{HostError, Look, limits};

/// How much of a stream is held at a time.
const BUFFER: usize = 16 * 1024;

/// The digest of a file of any size, in lower-case hexadecimal.
pub fn hex_of_file(
    algorithm: Algorithm,
    host: &dyn Look,
    path: &Path,
) -> Result<String, HostError> {
    let mut content = host.open(path)?;
    algorithm.hex_of(&mut content).map_err(|error| HostError::io("read", path, error))
}

/// The label of a file as reports show it. One that is too large to be read just for that is
/// shown by its size.
pub fn label_of_file(
    algorithm: Algorithm,
    host: &dyn Look,
    path: &Path,
) -> Result<String, HostError> {
    let size = host.stat(path)?.size;
    if size > limits::DIGEST {
        return Ok(format!("{size} bytes"));
    }
    Ok(format!("{{{}}}{}", algorithm.name(), hex_of_file(algorithm, host, path)?))
}

/// Whether two files hold the same bytes, whatever their size.
pub fn same_content(host: &dyn Look, one: &Path, other: &Path) -> Result<bool, HostError> {
    let (size, other_size) = (host.stat(one)?.size, host.stat(other)?.size);
    // Files of the kernel say they are empty and are not.
    if size != other_size && size != 0 && other_size != 0 {
        return Ok(false);
    }
    let (mut left, mut right) = (host.open(one)?, host.open(other)?);
    let same = same_bytes(&mut left, &mut right);
    same.map_err(|error| HostError::io("compare", one, error))
}

/// Whether two streams give the same bytes.
pub(crate) fn same_bytes(one: &mut dyn Read, other: &mut dyn Read) -> io::Result<bool> {
    let (mut left, mut right) = ([0; BUFFER], [0; BUFFER]);
    loop {
        let (count, others) = (fill(one, &mut left)?, fill(other, &mut right)?);
        if left[..count] != right[..others] {
            return Ok(false);
        }
        if count == 0 {
            return Ok(true);
        }
    }
}

// A stream may give less than there is room for; only its end gives less here.
fn fill(stream: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match stream.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
