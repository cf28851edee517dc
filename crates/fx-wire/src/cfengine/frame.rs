//! Transactions: a header of eight bytes and up to 4088 bytes of payload.

/// The longest payload.
pub const LARGEST: usize = 4088;
const HEADER: usize = 8;

/// One transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Whether more of the same answer follows.
    pub more: bool,
    pub payload: Vec<u8>,
}

/// A header that is none: nothing after it can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("broken transaction")]
pub struct Broken;

/// A transaction as bytes. A payload that is too long is cut: callers keep to the limit.
pub fn encode(more: bool, payload: &[u8], out: &mut Vec<u8>) {
    let payload = &payload[..payload.len().min(LARGEST)];
    let mut header = [0; HEADER];
    let text = format!("{} {}", if more { 'm' } else { 't' }, payload.len());
    header[..text.len()].copy_from_slice(text.as_bytes());
    out.extend_from_slice(&header);
    out.extend_from_slice(payload);
}

/// Reads a header as the original scans it: a letter, perhaps blanks, a number, anything.
fn header(bytes: &[u8]) -> Result<(bool, usize), Broken> {
    let (letter, rest) = bytes.split_first().ok_or(Broken)?;
    let more = match letter {
        b't' => false,
        b'm' => true,
        _ => return Err(Broken),
    };
    let digits = rest.iter().skip_while(|byte| byte.is_ascii_whitespace());
    let digits = digits.take_while(|byte| byte.is_ascii_digit());
    let len = digits.fold(0, |len: usize, digit| len * 10 + usize::from(digit - b'0'));
    if (1..=LARGEST).contains(&len) { Ok((more, len)) } else { Err(Broken) }
}

/// What has come from the other side and is not read yet.
#[derive(Debug, Default)]
pub struct Frames {
    bytes: Vec<u8>,
    at: usize,
}

impl Frames {
    /// Adds what came.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.at == self.bytes.len() {
            self.bytes.clear();
            self.at = 0;
        } else if self.at > (64 << 10) {
            self.bytes.drain(..self.at);
            self.at = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// How many bytes wait.
    pub fn waiting(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The first bytes that wait, not taken.
    pub fn peek(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    /// The next transaction, if all of it is there.
    pub fn next(&mut self) -> Result<Option<Frame>, Broken> {
        let waiting = &self.bytes[self.at..];
        if waiting.is_empty() {
            return Ok(None);
        }
        if waiting.len() < HEADER {
            // What cannot become a header need not be waited for.
            return if matches!(waiting[0], b't' | b'm') { Ok(None) } else { Err(Broken) };
        }
        let (more, len) = header(&waiting[..HEADER])?;
        let Some(payload) = waiting.get(HEADER..HEADER + len) else { return Ok(None) };
        let frame = Frame { more, payload: payload.to_vec() };
        self.at += HEADER + len;
        Ok(Some(frame))
    }

    /// Up to so many bytes without a frame around them.
    pub fn raw(&mut self, most: usize) -> &[u8] {
        let end = self.at + most.min(self.waiting());
        let start = std::mem::replace(&mut self.at, end);
        &self.bytes[start..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_scanned_as_the_original_does() {
        let table: &[(&[u8], Result<(bool, usize), Broken>)] = &[
            (b"t 31\0\0\0\0", Ok((false, 31))),
            (b"m 4088\0\0", Ok((true, 4088))),
            (b"t 7     ", Ok((false, 7))),
            (b"t7\0\0\0\0\0\0", Ok((false, 7))),
            (b"t 7\0junk", Ok((false, 7))),
            (b"t 0\0\0\0\0\0", Err(Broken)),
            (b"t 4089\0\0", Err(Broken)),
            (b"t 999999", Err(Broken)),
            (b"x 5\0\0\0\0\0", Err(Broken)),
            (b"t -5\0\0\0\0", Err(Broken)),
        ];
        for (bytes, expected) in table {
            assert_eq!(header(bytes), *expected, "{:?}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn what_is_written_is_read_however_it_is_cut() {
        let mut bytes = Vec::new();
        encode(false, b"VERSION", &mut bytes);
        encode(true, &[0; LARGEST], &mut bytes);
        for size in [1, 3, 8, 100, 5000] {
            let (mut frames, mut seen) = (Frames::default(), Vec::new());
            for piece in bytes.chunks(size) {
                frames.feed(piece);
                while let Some(frame) = frames.next().unwrap() {
                    seen.push((frame.more, frame.payload.len()));
                }
            }
            assert_eq!(seen, [(false, 7), (true, LARGEST)], "pieces of {size}");
            assert_eq!(frames.waiting(), 0);
        }
    }

    #[test]
    fn raw_bytes_stand_between_transactions() {
        let mut frames = Frames::default();
        frames.feed(b"hel");
        assert_eq!(frames.raw(6), b"hel");
        let mut bytes = b"lo\n".to_vec();
        encode(false, b"OK:", &mut bytes);
        frames.feed(&bytes);
        assert_eq!(frames.raw(3), b"lo\n");
        assert_eq!(frames.next().unwrap().unwrap().payload, b"OK:");
        frames.feed(b"x");
        assert_eq!(frames.next(), Err(Broken));
    }
}
