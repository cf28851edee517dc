//! What the system answered, in its own words.

use fx_host::HostError;

/// The kernel's words alone.
pub fn reason(error: &HostError) -> String {
    match error {
        HostError::Io { answer, .. } => answer.to_string(),
        other => other.to_string(),
    }
}

/// The words of the system alone, without what was tried on what.
pub fn bare_reason(error: &HostError) -> String {
    // The library that looks up names puts its own words before those of the system.
    const LOOKUP: &str = "failed to lookup address information: ";
    let why = match error {
        HostError::Command { reason, .. } | HostError::Net { reason, .. } => reason.clone(),
        other => reason(other),
    };
    why.strip_prefix(LOOKUP).map_or(why.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::*;

    #[test]
    fn reasons_are_the_words_of_the_system() {
        let lookup = "failed to lookup address information: Name or service not known";
        let net = HostError::Net { url: "x".to_owned(), reason: lookup.to_owned() };
        assert_eq!(bare_reason(&net), "Name or service not known");
        let command = HostError::Command {
            program: "/bin/x".to_owned(),
            reason: "Exec format error".to_owned(),
            kind: ErrorKind::Other,
        };
        assert_eq!(bare_reason(&command), "Exec format error");
    }
}
