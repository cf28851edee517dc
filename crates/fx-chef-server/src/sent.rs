//! A document as it was sent. Large fields are checked and kept as text: nothing looks into them
//! before a search does, and a tree of them costs more than the rest of a request.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::buffers::Buffers;
use crate::context::{Answer, body_of};
use crate::validation::Body;

/// Fields of a document; of the large ones that are objects only the names.
pub(crate) struct Sent<'a> {
    pub(crate) body: Body,
    large: Vec<(String, &'a RawValue)>,
}

impl<'a> Sent<'a> {
    /// Reads a body. What is named as large may be any size and is not looked into.
    pub(crate) fn read(bytes: &'a [u8], large: &[&str]) -> Answer<Sent<'a>> {
        let parts = (!large.is_empty() && is_plain(bytes)).then(|| parts(bytes, large));
        match parts.flatten() {
            Some(sent) => Ok(sent),
            // Whatever is wrong with it is found there.
            None => Ok(Sent { body: body_of(bytes)?, large: Vec::new() }),
        }
    }

    /// The text of a document in the form in which it is kept.
    pub(crate) fn text(&self, body: &Body, buffers: &Buffers) -> Vec<u8> {
        let size: usize = self.large.iter().map(|(_, raw)| raw.get().len()).sum();
        let mut out = buffers.take(size + 512);
        for (name, value) in body {
            out.push(if out.is_empty() { b'{' } else { b',' });
            out.extend_from_slice(Value::from(name.as_str()).to_string().as_bytes());
            out.push(b':');
            match self.large.iter().find(|(known, _)| known == name) {
                Some((_, raw)) => out.extend_from_slice(raw.get().as_bytes()),
                None => out.extend_from_slice(value.to_string().as_bytes()),
            }
        }
        out.push(b'}');
        out
    }
}

fn parts<'a>(bytes: &'a [u8], large: &[&str]) -> Option<Sent<'a>> {
    let Fields(fields) = serde_json::from_slice(bytes).ok()?;
    let mut sent = Sent { body: Body::new(), large: Vec::new() };
    for (name, raw) in fields {
        sent.large.retain(|(known, _)| *known != name);
        let value = if large.contains(&name.as_str()) && raw.get().starts_with('{') {
            sent.large.push((name.clone(), raw));
            Value::Object(Body::new())
        } else {
            serde_json::from_str(raw.get()).ok()?
        };
        sent.body.insert(name, value);
    }
    Some(sent)
}

/// Whether a text that is skipped can also be read: nothing in it is nested deeply, and no half of
/// a pair stands alone, which skipping does not notice.
fn is_plain(bytes: &[u8]) -> bool {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => match after_text(bytes, at) {
                Some(after) => at = after,
                None => return false,
            },
            b'{' | b'[' => {
                depth += 1;
                if depth > 100 {
                    return false;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    true
}

/// Where a text that begins at `at` ends, quote and all, unless there may be half a pair in it.
fn after_text(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let Some(found) = memchr::memchr2(b'"', b'\\', rest) else { return Some(bytes.len()) };
        if rest[found] == b'"' {
            return Some(at + found + 1);
        }
        if matches!(rest.get(found + 1..found + 3), Some([b'u', b'd' | b'D'])) {
            return None;
        }
        at += found + 2;
    }
}

/// The fields of an object in their order, not looked into.
struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Fields<'de>, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Fields<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sent: &str, kept: Option<&str>) {
        let read = Sent::read(sent.as_bytes(), &["normal", "default"]).ok();
        let text = read.map(|sent| sent.text(&sent.body, &Buffers::default()));
        let text = text.map(|text| String::from_utf8(text).unwrap());
        assert_eq!(text.as_deref(), kept, "{sent}");
        // Whatever is kept can be read.
        let back: Option<Value> = kept.map(|text| serde_json::from_str(text).unwrap());
        let direct: Option<Value> = serde_json::from_str(sent).ok();
        assert_eq!(back, direct.filter(Value::is_object), "{sent}");
    }

    #[test]
    fn large_fields_are_kept_as_they_were_sent() {
        check(
            "{\"name\": \"n\", \"normal\": {\"a\":  [1, 2.50]}}",
            Some("{\"name\":\"n\",\"normal\":{\"a\":  [1, 2.50]}}"),
        );
        check("{\"normal\":{\"a\":1},\"normal\":{\"b\":2}}", Some("{\"normal\":{\"b\":2}}"));
        check("{\"normal\":{\"a\":1},\"normal\":7}", Some("{\"normal\":7}"));
        check("{\"\\\"\":{\"normal\":1}}", Some("{\"\\\"\":{\"normal\":1}}"));
        check(
            "{\"normal\":{\"a\":\"\\ud83d\\ude00\"}}",
            Some("{\"normal\":{\"a\":\"\u{1f600}\"}}"),
        );
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for text in [
            "",
            "[]",
            "7",
            "{\"normal\":{\"a\":\"\\ud83d\"}}",
            "{\"normal\":{\"a\":}}",
            "{\"normal\":{}",
        ] {
            check(text, None);
        }
        let deep = format!("{{\"normal\":{{\"a\":{}{}}}}}", "[".repeat(200), "]".repeat(200));
        check(&deep, None);
        assert!(Sent::read(b"{\"normal\":{\"a\":\"\xff\"}}", &["normal"]).is_err());
    }
}
