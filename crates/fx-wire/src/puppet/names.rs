//! Names that come from the network, as types that hold a sound one only.

/// Why a text is no name of a certificate; the words are the original's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    #[error("Certificate names must be lower case.")]
    UpperCase,
    #[error("Subject contains a wildcard, which is not allowed: {0}")]
    Wildcard(String),
    #[error("Subject hostname format is invalid")]
    Format,
}

/// The name of a node in its certificate: parts of lower case letters, digits, `-` and `_` with
/// dots between them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CertName(String);

/// A common name is not longer.
const MOST: usize = 255;

impl CertName {
    pub fn parse(text: &str) -> Result<CertName, NameError> {
        if text.chars().any(char::is_uppercase) {
            return Err(NameError::UpperCase);
        }
        if text.contains('*') {
            return Err(NameError::Wildcard(text.to_owned()));
        }
        let is_part = |part: &str| {
            !part.is_empty()
                && !part.ends_with('-')
                && part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        };
        if text.len() > MOST || text.starts_with('-') || !text.split('.').all(is_part) {
            return Err(NameError::Format);
        }
        Ok(CertName(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for CertName {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

/// The name of an environment: letters, digits and `_`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Environment(String);

impl Environment {
    pub fn parse(text: &str) -> Option<Environment> {
        let is_word = text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        (!text.is_empty() && text.len() <= MOST && is_word).then(|| Environment(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Environment {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sound_or_refused() {
        for good in ["n1", "node-1.example.com", "_x.y_z", "a", "1.2.3", "a--b"] {
            assert_eq!(CertName::parse(good).map(|name| name.to_string()), Ok(good.to_owned()));
        }
        let wildcard = NameError::Wildcard("*.a".into());
        for (bad, why) in [
            ("Node", NameError::UpperCase),
            ("*.a", wildcard),
            ("", NameError::Format),
            (".", NameError::Format),
            ("..", NameError::Format),
            ("a..b", NameError::Format),
            ("a.", NameError::Format),
            ("-a", NameError::Format),
            ("a-", NameError::Format),
            ("a-.b", NameError::Format),
            ("a/b", NameError::Format),
            ("a b", NameError::Format),
            ("é", NameError::Format),
            ("a\0", NameError::Format),
            ("a\n", NameError::Format),
        ] {
            assert_eq!(CertName::parse(bad), Err(why), "{bad:?}");
        }
        assert_eq!(CertName::parse(&"a".repeat(256)), Err(NameError::Format));
    }

    #[test]
    fn environments_are_words() {
        assert!(Environment::parse("production_2").is_some());
        for bad in ["", "a-b", "../x", "a/b", "a b", "é", "a\n"] {
            assert_eq!(Environment::parse(bad), None, "{bad:?}");
        }
    }
}
