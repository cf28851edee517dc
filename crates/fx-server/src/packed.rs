//! Answers in fewer bytes, for clients that take gzip.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::Bytes;

use crate::message::{Head, Reply};

/// Less is not worth the work.
const LEAST: usize = 1400;

/// Whether a client takes gzip.
fn takes(accept: &str) -> bool {
    accept.split(',').any(|one| {
        let (name, more) = one.split_once(';').unwrap_or((one, ""));
        let quality = more.trim().strip_prefix("q=").map_or(1.0, |q| q.parse().unwrap_or(0.0));
        matches!(name.trim(), "gzip" | "x-gzip" | "*") && quality > 0.0
    })
}

/// The bytes packed, where that is worth it.
pub(crate) fn gzip(plain: &[u8]) -> Option<Bytes> {
    if plain.len() < LEAST {
        return None;
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // Writing into memory does not fail; what is not packed is as good.
    encoder.write_all(plain).ok()?;
    encoder.finish().ok().map(Bytes::from)
}

/// The same answer, packed where the client takes that and it is worth it.
pub(crate) fn packed(head: &Head, mut reply: Reply) -> Reply {
    let is_taken = head.field("accept-encoding").is_some_and(takes);
    if !is_taken || reply.content.is_some() {
        return reply;
    }
    let at_hand = reply.packed.take().map(|bytes| *bytes);
    let Some(bytes) = at_hand.or_else(|| gzip(&reply.body)) else { return reply };
    reply.body = bytes;
    reply.with("content-encoding", "gzip").with("vary", "Accept-Encoding, User-Agent")
}

#[cfg(test)]
mod tests {
    use super::takes;

    #[test]
    fn clients_say_what_they_take() {
        for (accept, wanted) in [
            ("gzip;q=1.0,deflate;q=0.6,identity;q=0.3", true),
            ("gzip", true),
            ("deflate, gzip", true),
            ("*", true),
            ("gzip;q=0", false),
            ("identity", false),
            ("", false),
        ] {
            assert_eq!(takes(accept), wanted, "{accept}");
        }
    }
}
