//! The lines that both sides exchange once TLS stands: versions, and who the client is.

/// The highest version that we announce: newer peers step down to it.
pub const VERSION: u8 = 3;

/// The first line of the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Greeting {
    pub version: u8,
}

impl Greeting {
    /// `CFE_v3 cf-serverd 3.21.0`; what stands after the number is free.
    pub fn parse(line: &[u8]) -> Option<Greeting> {
        let rest = line.strip_prefix(b"CFE_v")?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
        let after = rest.get(digits)?;
        (*after == b' ' || *after == b'\n').then_some(Greeting { version: number })
    }

    /// The version that a client speaks with a server of this one, if there is one.
    pub fn common(self, wanted: u8) -> Option<u8> {
        let version = self.version.min(wanted);
        (2..=VERSION).contains(&version).then_some(version)
    }
}

/// The line that names a program and the version it speaks.
pub fn version_line(version: u8, program: &str, release: &str) -> String {
    format!("CFE_v{version} {program} {release}\n")
}

/// The line by which a client names its user.
pub fn identity_line(user: &str) -> String {
    format!("IDENTITY USERNAME={user}\n")
}

/// The user of an identity line: nothing where the line is none or the name could be a path.
pub fn user_of(line: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(line).ok()?;
    let rest = text.strip_prefix("IDENTITY")?.trim_end_matches('\n');
    let word = rest.split(' ').find_map(|word| word.strip_prefix("USERNAME="));
    let name = word.unwrap_or_default();
    (!name.contains(['/', '\\', '\0'])).then(|| name.to_owned())
}

/// Whether the server takes us.
pub fn is_welcome(line: &[u8]) -> bool {
    line.starts_with(b"OK WELCOME")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_agreed_upon() {
        let table: &[(&[u8], Option<u8>)] = &[
            (b"CFE_v3 cf-serverd 3.21.0\n", Some(3)),
            (b"CFE_v5 cf-serverd 3.28.0\n", Some(3)),
            (b"CFE_v2 anything", Some(2)),
            (b"CFE_v1 old\n", None),
            (b"CFE_v x", None),
            (b"HTTP/1.1", None),
            (b"CFE_v300 x", None),
            (b"CFE_v3", None),
        ];
        for (line, expected) in table {
            let common = Greeting::parse(line).and_then(|greeting| greeting.common(VERSION));
            assert_eq!(common, *expected, "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn names_of_users_are_words_and_no_paths() {
        let table = [
            ("IDENTITY USERNAME=root\n", Some("root")),
            ("IDENTITY X=1 USERNAME=me Y=2\n", Some("me")),
            ("IDENTITY\n", Some("")),
            ("IDENTITY USERNAME=../x\n", None),
            ("IDENTITY USERNAME=a\\b\n", None),
            ("HELLO\n", None),
        ];
        for (line, expected) in table {
            assert_eq!(user_of(line.as_bytes()).as_deref(), expected, "{line}");
        }
    }
}
