//! Percent encoding: paths as segments, queries and forms as pairs. Each is decoded once.

/// What is wrong with a path or a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Bad {
    #[error("Invalid relative path (.. or .)")]
    Relative,
    #[error("the path is not well formed")]
    Malformed,
}

/// The segments of a path, decoded. None of them is `.` or `..`, and none has a slash or a zero
/// byte: an encoded slash divides like a plain one, so that who is allowed what and what is
/// served are decided on the same segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segments(Vec<String>);

impl Segments {
    pub fn parse(path: &str) -> Result<Segments, Bad> {
        let rest = path.strip_prefix('/').ok_or(Bad::Malformed)?;
        let decoded = percent_decoded(rest, false).ok_or(Bad::Malformed)?;
        let text = String::from_utf8(decoded).map_err(|_| Bad::Malformed)?;
        if text.contains('\0') {
            return Err(Bad::Malformed);
        }
        let segments: Vec<String> = text.split('/').map(str::to_owned).collect();
        if segments.iter().any(|segment| matches!(segment.as_str(), "." | "..")) {
            return Err(Bad::Relative);
        }
        Ok(Segments(segments))
    }

    pub fn as_slice(&self) -> &[String] {
        &self.0
    }
}

impl std::fmt::Display for Segments {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "/{}", self.0.join("/"))
    }
}

/// Names and values of a query or a form, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairs(Vec<(String, String)>);

impl Pairs {
    /// Reads a form; `None` where it is not text in UTF-8.
    pub fn parse(text: &str) -> Option<Pairs> {
        let mut pairs = Vec::new();
        for part in text.split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let decoded = |text: &str| String::from_utf8(percent_decoded(text, true)?).ok();
            pairs.push((decoded(name)?, decoded(value)?));
        }
        Some(Pairs(pairs))
    }

    /// The last value of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// All values of a name, in order.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }
}

/// A text with all but letters, digits and `-._~` as percent signs and digits.
pub fn percent_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ => {
                out.push('%');
                let digits = [byte >> 4, byte & 15].map(|half| char::from_digit(half.into(), 16));
                out.extend(digits.into_iter().flatten().map(|digit| digit.to_ascii_uppercase()));
            }
        }
    }
    out
}

/// The bytes that a text stands for; `None` where a `%` is not followed by two digits. In forms
/// `+` is a blank.
pub fn percent_decoded(text: &str, is_form: bool) -> Option<Vec<u8>> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'%' => {
                let digit = |at: usize| {
                    let digit = char::from(*bytes.get(at)?).to_digit(16)?;
                    u8::try_from(digit).ok()
                };
                out.push(digit(at + 1)? << 4 | digit(at + 2)?);
                at += 2;
            }
            b'+' if is_form => out.push(b' '),
            other => out.push(*other),
        }
        at += 1;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_decoded_once() {
        let segments = |path: &str| Segments::parse(path).map(|found| found.0);
        assert_eq!(
            segments("/puppet/v3/a%20b+c"),
            Ok(vec!["puppet".into(), "v3".into(), "a b+c".into()])
        );
        assert_eq!(segments("/a%2Fb"), Ok(vec!["a".into(), "b".into()]));
        assert_eq!(segments("/a/%252e%252e/b").unwrap()[1], "%2e%2e");
        for path in ["/a/../b", "/a/%2e%2e/b", "/a%2F..%2Fb", "/..", "/a/%2E", "/a/.%2e/b"] {
            assert_eq!(segments(path), Err(Bad::Relative), "{path}");
        }
        for path in ["", "a", "/%", "/%2", "/%zz", "/%00", "/a%ff", "*"] {
            assert_eq!(segments(path), Err(Bad::Malformed), "{path}");
        }
    }

    #[test]
    fn forms_are_pairs() {
        let form = Pairs::parse("a=1&b=x+y%2B&ignore=.git&ignore=CVS&c&=z&a=2").unwrap();
        assert_eq!(
            (form.get("a"), form.get("b"), form.get("c")),
            (Some("2"), Some("x y+"), Some(""))
        );
        assert_eq!(form.all("ignore").collect::<Vec<_>>(), [".git", "CVS"]);
        assert_eq!(form.get("nothing"), None);
        assert_eq!(Pairs::parse("a=%zz"), None);
        assert_eq!(Pairs::parse("a=%ff"), None);
    }
}
