//! Requests of a client, as they stand in the payload of a transaction.

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    Version,
    /// What a path stands for; the time is the client's clock.
    Stat {
        time: i64,
        path: Vec<u8>,
    },
    List {
        path: Vec<u8>,
    },
    /// Whether the content differs from this digest.
    Compare {
        path: Vec<u8>,
        digest: Vec<u8>,
    },
    Get {
        path: Vec<u8>,
    },
    Variable {
        name: Vec<u8>,
    },
    Context {
        pattern: Vec<u8>,
    },
    Query {
        name: Vec<u8>,
        whole: Vec<u8>,
    },
    Cookie,
    CallCollect,
    Execute {
        arguments: Vec<u8>,
    },
}

/// Why a payload is no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bad {
    /// Nothing was said, and nothing is answered.
    Empty,
    /// An unknown word, or one without what belongs to it.
    Unknown,
}

const GET_BUFFER: usize = 2048;

/// `word` followed by a blank or by nothing.
fn after<'a>(payload: &'a [u8], word: &str) -> Option<&'a [u8]> {
    let rest = payload.strip_prefix(word.as_bytes())?;
    match rest.first() {
        None => Some(rest),
        Some(b' ') => Some(rest),
        Some(_) => None,
    }
}

fn trimmed(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(bytes.len());
    &bytes[start..]
}

/// The rest up to the end of the line, which must not be empty.
fn line(bytes: &[u8]) -> Result<Vec<u8>, Bad> {
    let bytes = trimmed(bytes);
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    if end == 0 { Err(Bad::Unknown) } else { Ok(bytes[..end].to_vec()) }
}

/// A number and what stands after it.
fn number(bytes: &[u8]) -> Result<(i64, &[u8]), Bad> {
    let bytes = trimmed(bytes);
    let sign = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    let digits = bytes[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let text = std::str::from_utf8(&bytes[..sign + digits]).map_err(|_| Bad::Unknown)?;
    let value = text.parse().map_err(|_| Bad::Unknown)?;
    Ok((value, &bytes[sign + digits..]))
}

impl Request {
    /// Reads the payload of a transaction.
    pub fn parse(payload: &[u8]) -> Result<Request, Bad> {
        let end = payload.iter().position(|byte| *byte == 0).unwrap_or(payload.len());
        let (text, behind) = payload.split_at(end);
        if text.is_empty() {
            return Err(Bad::Empty);
        }
        if after(text, "VERSION").is_some() {
            return Ok(Request::Version);
        }
        if let Some(rest) = after(text, "SYNCH") {
            let (time, rest) = number(rest)?;
            let rest = trimmed(rest).strip_prefix(b"STAT").ok_or(Bad::Unknown)?;
            return Ok(Request::Stat { time, path: line(rest)? });
        }
        if let Some(rest) = after(text, "OPENDIR") {
            return Ok(Request::List { path: line(rest)? });
        }
        if let Some(rest) = after(text, "MD5") {
            // Two zero bytes stand before the digest.
            let digest = behind.get(2..).unwrap_or_default().to_vec();
            return Ok(Request::Compare { path: line(rest)?, digest });
        }
        if let Some(rest) = after(text, "GET") {
            let (size, rest) = number(rest)?;
            if !(1..=4096).contains(&size) {
                return Err(Bad::Unknown);
            }
            return Ok(Request::Get { path: line(rest)? });
        }
        if let Some(rest) = after(text, "VAR") {
            return Ok(Request::Variable { name: cut(line(rest)?, 255) });
        }
        if let Some(rest) = after(text, "CONTEXT") {
            return Ok(Request::Context { pattern: cut(line(rest)?, 255) });
        }
        if let Some(rest) = after(text, "QUERY") {
            let whole = cut(line(rest)?, 255);
            let end = whole.iter().position(u8::is_ascii_whitespace).unwrap_or(whole.len());
            return Ok(Request::Query { name: cut(whole[..end].to_vec(), 127), whole });
        }
        if after(text, "COOKIE").is_some() {
            return Ok(Request::Cookie);
        }
        if after(text, "SCALLBACK").is_some() {
            return Ok(Request::CallCollect);
        }
        if let Some(rest) = after(text, "EXEC") {
            return Ok(Request::Execute { arguments: trimmed(rest).to_vec() });
        }
        Err(Bad::Unknown)
    }

    /// The payload of the request.
    pub fn payload(&self) -> Vec<u8> {
        let of = |word: &str, rest: &[u8]| [word.as_bytes(), rest].concat();
        match self {
            Request::Version => b"VERSION".to_vec(),
            Request::Stat { time, path } => of(&format!("SYNCH {time} STAT "), path),
            Request::List { path } => of("OPENDIR ", path),
            Request::Compare { path, digest } => [b"MD5 ", &**path, b"\0\0", digest].concat(),
            Request::Get { path } => of(&format!("GET {GET_BUFFER} "), path),
            Request::Variable { name } => of("VAR ", name),
            Request::Context { pattern } => of("CONTEXT ", pattern),
            Request::Query { whole, .. } => of("QUERY ", whole),
            Request::Cookie => b"COOKIE".to_vec(),
            Request::CallCollect => b"SCALLBACK".to_vec(),
            Request::Execute { arguments } if arguments.is_empty() => b"EXEC".to_vec(),
            Request::Execute { arguments } => of("EXEC ", arguments),
        }
    }
}

fn cut(mut bytes: Vec<u8>, most: usize) -> Vec<u8> {
    bytes.truncate(most);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_written_and_read() {
        let path = b"/srv/a b".to_vec();
        let all = [
            Request::Version,
            Request::Stat { time: 1_794_881_877, path: path.clone() },
            Request::List { path: path.clone() },
            Request::Compare { path: path.clone(), digest: vec![0; 16] },
            Request::Get { path },
            Request::Variable { name: b"x".to_vec() },
            Request::Context { pattern: b".*".to_vec() },
            Request::Query { name: b"full".to_vec(), whole: b"full 17".to_vec() },
            Request::Cookie,
            Request::CallCollect,
            Request::Execute { arguments: b"-Da -b c".to_vec() },
            Request::Execute { arguments: Vec::new() },
        ];
        for request in all {
            assert_eq!(Request::parse(&request.payload()), Ok(request));
        }
    }

    #[test]
    fn what_is_no_request_is_refused() {
        let table: &[(&[u8], Bad)] = &[
            (b"", Bad::Empty),
            (b"\0GET", Bad::Empty),
            (b"STAT /x", Bad::Unknown),
            (b"SYNCH x STAT /x", Bad::Unknown),
            (b"SYNCH 5 LIST /x", Bad::Unknown),
            (b"SYNCH 5 STAT ", Bad::Unknown),
            (b"GET 0 /x", Bad::Unknown),
            (b"GET 4097 /x", Bad::Unknown),
            (b"GET /x", Bad::Unknown),
            (b"OPENDIR", Bad::Unknown),
            (b"GETX 1 /x", Bad::Unknown),
            (b"get 1 /x", Bad::Unknown),
            (b"SGET 1 /x", Bad::Unknown),
        ];
        for (payload, bad) in table {
            let shown = String::from_utf8_lossy(payload);
            assert_eq!(Request::parse(payload), Err(*bad), "{shown}");
        }
    }
}
