//! Directories that a site serves beside its modules, by `fileserver.conf`.

use std::path::{Path, PathBuf};

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) name: String,
    /// `%h`, `%H` and `%d` stand for the client's short name, name and domain.
    path: String,
}

/// All of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mounts(Vec<Mount>);

impl Mounts {
    pub(crate) fn read(file: &Path, text: &str) -> Result<Mounts, String> {
        let mut mounts: Vec<Mount> = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |why: &str| Err(format!("{}:{}: {why}", file.display(), at + 1));
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                let name = name.trim();
                if name.is_empty()
                    || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
                {
                    return wrong("a mount has letters, digits, '-' and '_' in its name");
                }
                if mounts.iter().any(|known| known.name == name) {
                    return wrong(&format!("the mount '{name}' is there twice"));
                }
                mounts.push(Mount { name: name.to_owned(), path: String::new() });
                continue;
            }
            let (key, value) = line.split_once([' ', '\t', '=']).unwrap_or((line, ""));
            let value = value.trim().trim_start_matches('=').trim();
            let Some(mount) = mounts.last_mut() else {
                return wrong("this is before any [mount]; put it below one");
            };
            match key {
                "path" if !value.starts_with('/') => return wrong("the path must begin with '/'"),
                "path" => value.clone_into(&mut mount.path),
                // The original takes no notice of them: rules are in auth.conf.
                "allow" | "deny" | "allow_ip" | "deny_ip" => {}
                other => return wrong(&format!("'{other}' is not known; remove it")),
            }
        }
        // Those of modules and plug-ins are always there and have no path.
        mounts.retain(|mount| !mount.path.is_empty());
        Ok(Mounts(mounts))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Mount> {
        self.0.iter().find(|mount| mount.name == name)
    }
}

impl Mount {
    /// The directory for a client. A name that is no name of a host stands for nobody's directory.
    pub(crate) fn dir(&self, client: &str) -> Option<PathBuf> {
        if !self.path.contains('%') {
            return Some(PathBuf::from(&self.path));
        }
        if client.is_empty() || client.contains(['/', '\0']) || client.starts_with('.') {
            return None;
        }
        let (short, domain) = client.split_once('.').unwrap_or((client, ""));
        // One pass: what is put in is not looked through again.
        let mut out = String::new();
        let mut rest = self.path.as_str();
        while let Some(at) = rest.find('%') {
            out += &rest[..at];
            let (text, length) = match rest.get(at + 1..at + 2) {
                Some("h") => (short, 2),
                Some("H") => (client, 2),
                Some("d") => (domain, 2),
                Some("%") => ("%", 2),
                _ => ("%", 1),
            };
            out += text;
            rest = &rest[at + length..];
        }
        Some(PathBuf::from(out + rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Mounts, String> {
        Mounts::read(Path::new("f"), text)
    }

    #[test]
    fn mounts_are_directories_of_a_client() {
        let mounts =
            read("# c\n[files]\n path /srv/%h/%H/%d/%%\n allow *\n[modules]\nallow *\n").unwrap();
        let dir = mounts.get("files").unwrap();
        assert_eq!(dir.dir("a.b.c"), Some("/srv/a/a.b.c/b.c/%".into()));
        assert_eq!(dir.dir("../x"), None);
        assert_eq!(dir.dir(""), None);
        assert_eq!(mounts.get("modules"), None);
    }

    #[test]
    fn what_is_not_understood_is_named_with_its_line() {
        for (text, wanted) in [
            ("path /x\n", "f:1: this is before any [mount]; put it below one"),
            ("[a]\npth /x\n", "f:2: 'pth' is not known; remove it"),
            ("[a]\npath x\n", "f:2: the path must begin with '/'"),
            ("[a]\npath /x\n[a]\n", "f:3: the mount 'a' is there twice"),
            ("[a/b]\n", "f:1: a mount has letters, digits, '-' and '_' in its name"),
        ] {
            assert_eq!(read(text), Err(wanted.to_owned()), "{text}");
        }
    }
}
