//! A document as it was sent. Large fields are checked and kept as text: nothing looks into them
//! before a search does, and a tree of them costs more than the rest of a request.

use serde_json::Value;

use crate::buffers::Buffers;
use crate::context::{Answer, body_of};
use crate::outline::{Field, fields};
use crate::validation::Body;

/// Fields of a document; of the large ones that are objects only the names.
pub(crate) struct Sent<'a> {
    pub(crate) body: Body,
    large: Vec<(&'a str, &'a str)>,
}

impl<'a> Sent<'a> {
    /// Reads a body. What is named as large may be any size and is not looked into.
    pub(crate) fn read(bytes: &'a [u8], large: &[&str]) -> Answer<Sent<'a>> {
        let parts = (!large.is_empty()).then(|| parts(bytes, large));
        match parts.flatten() {
            Some(sent) => Ok(sent),
            // Whatever is wrong with it is found there.
            None => Ok(Sent { body: body_of(bytes)?, large: Vec::new() }),
        }
    }

    /// The text of a document in the form in which it is kept.
    pub(crate) fn text(&self, body: &Body, buffers: &Buffers) -> Vec<u8> {
        let size: usize = self.large.iter().map(|(_, raw)| raw.len()).sum();
        let mut out = buffers.take(size + 512);
        for (name, value) in body {
            out.push(if out.is_empty() { b'{' } else { b',' });
            out.extend_from_slice(Value::from(name.as_str()).to_string().as_bytes());
            out.push(b':');
            match self.large.iter().find(|(known, _)| known == name) {
                Some((_, raw)) => out.extend_from_slice(raw.as_bytes()),
                None => out.extend_from_slice(value.to_string().as_bytes()),
            }
        }
        out.push(b'}');
        out
    }
}

fn parts<'a>(bytes: &'a [u8], large: &[&str]) -> Option<Sent<'a>> {
    let mut sent = Sent { body: Body::new(), large: Vec::new() };
    for Field { name, value: raw } in fields(bytes)? {
        // No field that we know has an escape in its name.
        if name.contains('\\') {
            return None;
        }
        sent.large.retain(|(known, _)| *known != name);
        let value = if large.contains(&name) && raw.starts_with('{') {
            sent.large.push((name, raw));
            Value::Object(Body::new())
        } else {
            serde_json::from_str(raw).ok()?
        };
        sent.body.insert(name.to_owned(), value);
    }
    Some(sent)
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
            "{\"normal\":{\"a\":1e999}}",
        ] {
            check(text, None);
        }
        let deep = format!("{{\"normal\":{{\"a\":{}{}}}}}", "[".repeat(200), "]".repeat(200));
        check(&deep, None);
        assert!(Sent::read(b"{\"normal\":{\"a\":\"\xff\"}}", &["normal"]).is_err());
    }
}
