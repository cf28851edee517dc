//! What the server and a process that compiles for it say to each other: a kind, a length, bytes.

use std::io::{Read, Result, Write};

/// What a frame is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// To the compiler: what to do, as JSON.
    Job,
    /// From it: the result, as text.
    Text,
    /// From it, after the text: what the node exports, as JSON.
    Exported,
    /// From it, instead of both: why there is no result.
    Failed,
    /// From it, meanwhile: a query about other nodes, as JSON.
    Query,
    /// To it: the rows that were found, as JSON.
    Found,
    /// To it: why the query has no answer.
    Unanswered,
    /// From it, meanwhile: a line for the log.
    Log,
}

const KINDS: &[Kind] = &[
    Kind::Job,
    Kind::Text,
    Kind::Exported,
    Kind::Failed,
    Kind::Query,
    Kind::Found,
    Kind::Unanswered,
    Kind::Log,
];

/// No catalog is larger.
const MOST: usize = 1 << 30;

fn invalid(text: &str) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidData, text)
}

pub(super) fn write(to: &mut impl Write, kind: Kind, bytes: &[u8]) -> Result<()> {
    let length = u32::try_from(bytes.len()).ok().filter(|_| bytes.len() <= MOST);
    let length = length.ok_or_else(|| invalid("a message is too long"))?;
    let kind = KINDS.iter().position(|known| *known == kind).unwrap_or(0);
    let mut head = [0; 5];
    head[0] = u8::try_from(kind).unwrap_or(0);
    head[1..].copy_from_slice(&length.to_le_bytes());
    to.write_all(&head)?;
    to.write_all(bytes)?;
    to.flush()
}

pub(super) fn read(from: &mut impl Read) -> Result<(Kind, Vec<u8>)> {
    let mut head = [0; 5];
    from.read_exact(&mut head)?;
    let kind = KINDS.get(usize::from(head[0])).ok_or_else(|| invalid("no such kind of message"))?;
    let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
    if length > MOST {
        return Err(invalid("a message is too long"));
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    Ok((*kind, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back_the_same() {
        for kind in KINDS {
            let mut bytes = Vec::new();
            write(&mut bytes, *kind, b"content").unwrap();
            assert_eq!(read(&mut bytes.as_slice()).unwrap(), (*kind, b"content".to_vec()));
            assert!(read(&mut &bytes[..bytes.len() - 1]).is_err());
        }
        assert!(read(&mut [99u8, 0, 0, 0, 0].as_slice()).is_err());
        assert!(read(&mut [0u8, 255, 255, 255, 255].as_slice()).is_err());
    }
}
