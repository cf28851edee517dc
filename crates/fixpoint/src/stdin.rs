//! Policy and data that are given on standard input: read as a whole, up to the size of a file
//! of their kind.

use std::io::{self, Read};

use fx_host::limits;

/// The whole input, or an error if it is larger than policy may be or cannot be read.
pub(crate) fn policy() -> io::Result<Vec<u8>> {
    up_to(&mut io::stdin().lock(), limits::POLICY)
}

/// The same for data, as a catalog.
pub(crate) fn data() -> io::Result<Vec<u8>> {
    up_to(&mut io::stdin().lock(), limits::DATA)
}

/// One line, as somebody types it.
pub(crate) fn line() -> io::Result<String> {
    let mut text = String::new();
    io::BufRead::read_line(&mut io::stdin().lock().take(4096), &mut text)?;
    Ok(text)
}

fn up_to(input: &mut dyn Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    input.take(limit + 1).read_to_end(&mut text)?;
    if text.len() as u64 > limit {
        let message = format!("standard input is larger than {} MiB", limit >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_larger_than_the_limit_is_refused_without_reading_it_all() {
        assert_eq!(up_to(&mut &b"abc"[..], 3).unwrap(), b"abc");
        let mut endless = io::repeat(0);
        assert_eq!(up_to(&mut endless, 3).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}
