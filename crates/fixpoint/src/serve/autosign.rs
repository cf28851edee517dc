//! Whether a request for a certificate is signed at once: by a list of names, or by a program.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fx_host::{Commands, Files, OsHost, Spec};
use fx_server::Autosign;
use fx_wire::puppet::CertName;

use super::workers::Log;

/// The setting of the original.
pub(crate) struct AutosignSetting {
    how: How,
    log: Log,
}

enum How {
    Always,
    Never,
    /// A list of names, or a program.
    File(PathBuf),
}

/// A program that does not answer has not agreed.
const PATIENCE: Duration = Duration::from_mins(1);

impl AutosignSetting {
    pub(crate) fn new(text: &str, log: Log) -> AutosignSetting {
        let how = match text {
            "true" => How::Always,
            "false" | "" => How::Never,
            path => How::File(path.into()),
        };
        AutosignSetting { how, log }
    }

    fn program_agrees(&self, host: &OsHost, path: &Path, name: &CertName, request: &str) -> bool {
        if let Err(error) = host.check_trusted(path) {
            (self.log)(&format!("autosign: {error}"));
            return false;
        }
        let argv = [path.as_os_str().to_owned(), name.as_str().into()];
        let spec = Spec::argv(argv).timeout(PATIENCE).stdin(request.as_bytes());
        match host.run(&spec) {
            Ok(ended) => {
                let code = ended.exit.code();
                if !ended.exit.success() {
                    (self.log)(&format!(
                        "Autosign command '{}' rejected certificate '{name}' because the exit code was {code}, not zero",
                        path.display()
                    ));
                }
                ended.exit.success()
            }
            Err(error) => {
                (self.log)(&format!("autosign: {error}"));
                false
            }
        }
    }
}

impl Autosign for AutosignSetting {
    fn signs(&self, name: &CertName, request: &str) -> bool {
        let path = match &self.how {
            How::Always => return true,
            How::Never => return false,
            How::File(path) => path,
        };
        let host = OsHost::new();
        let Ok(meta) = host.stat(path) else { return false };
        if meta.is_file() && meta.mode & 0o111 != 0 {
            return self.program_agrees(&host, path, name, request);
        }
        // Who can write the list can sign: it must be nobody else's.
        match host.read_trusted_data(path) {
            Ok(text) => is_listed(&String::from_utf8_lossy(&text), name.as_str()),
            Err(error) => {
                (self.log)(&format!("autosign: {error}"));
                false
            }
        }
    }
}

/// Whether a list has the name, or a pattern for all names of a domain.
fn is_listed(list: &str, name: &str) -> bool {
    let lines = list.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    // A line that is neither a name nor a pattern counts for nothing.
    let mut sound = lines.filter(|line| !line.contains(['#', ' ']));
    sound.any(|line| match line.strip_prefix('*') {
        Some("") => true,
        Some(domain) => {
            let domain = domain.trim_start_matches('.');
            name == domain || name.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
        }
        None => line == name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_domains_are_listed() {
        let list = "# no\nn1\n*.example.com\nn2 n3\nn4#x\n\n";
        for (name, wanted) in [
            ("n1", true),
            ("a.example.com", true),
            ("a.b.example.com", true),
            ("example.com", true),
            ("badexample.com", false),
            ("n2", false),
            ("n4", false),
            ("no", false),
        ] {
            assert_eq!(is_listed(list, name), wanted, "{name}");
        }
        assert!(is_listed("*", "anything"));
    }
}
