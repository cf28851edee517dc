//! A key that may log in: one line of an `authorized_keys` file, found by its comment.
//!
//! The file lies in a directory its owner can write, so the walk to it follows the host's
//! rules about links; nothing here resolves a path by itself.

use std::path::{Path, PathBuf};

use fx_engine::{Change, Failure, Resource, ResourceId, Target};
use fx_host::{Act, Look, WriteOptions};

use crate::command;
use crate::group::names;
use crate::text;

/// What a key should be.
#[derive(Clone, Debug, Default)]
pub struct Desired {
    /// Its comment, by which it is found.
    pub name: String,
    /// Whether it should not be there.
    pub absent: bool,
    /// Whose key file it stands in.
    pub user: String,
    /// The file; `.ssh/authorized_keys` in the user's home, where not given.
    pub target: Option<PathBuf>,
    /// What kind of key: `ssh-ed25519`, `ssh-rsa`.
    pub kind: String,
    /// The key itself, in base64.
    pub key: String,
    /// Limits on its use, such as `command="/bin/true"`.
    pub options: Vec<String>,
}

// A line taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Line {
    options: Vec<String>,
    kind: String,
    key: String,
    comment: String,
}

/// A key with its desired state.
pub struct SshKey {
    /// What it should be.
    pub desired: Desired,
    seen: Option<Seen>,
}

struct Seen {
    path: PathBuf,
    new: Vec<u8>,
    uid: u32,
    gid: u32,
    fresh: bool,
}

impl SshKey {
    /// A key that should be like this.
    pub fn new(desired: Desired) -> SshKey {
        SshKey { desired, seen: None }
    }

    fn check(&self) -> Result<(), Failure> {
        let desired = &self.desired;
        command::check_name("key", &desired.name)?;
        if desired.absent {
            return Ok(());
        }
        command::check_field("key type", &desired.kind, &[' '])?;
        command::check_field("key", &desired.key, &[' '])?;
        for option in &desired.options {
            command::check_field("key option", option, &[])?;
        }
        if desired.kind.is_empty() || desired.key.is_empty() {
            return Err(Failure::new(format!("key '{}' has no type or no key", desired.name)));
        }
        Ok(())
    }

    // Keys without a comment are named by their file and their number among such keys.
    fn unnamed<'t>(&self, old: &'t [u8], path: &Path) -> Option<&'t [u8]> {
        let start = format!("{}:unnamed-", path.display());
        let number: usize = self.desired.name.strip_prefix(&start)?.parse().ok()?;
        let is_unnamed = |line: &&[u8]| parse(line).is_some_and(|line| line.comment.is_empty());
        text::lines(old).filter(is_unnamed).nth(number.checked_sub(1)?)
    }

    fn is_ours(&self, unnamed: Option<&[u8]>, line: &[u8]) -> bool {
        match unnamed {
            Some(unnamed) => line == unnamed,
            None => parse(line).is_some_and(|line| line.comment == self.desired.name),
        }
    }
}

// Options may hold blanks and commas inside quotes.
fn parse(line: &[u8]) -> Option<Line> {
    let text = String::from_utf8_lossy(line).trim().to_owned();
    if text.is_empty() || text.starts_with('#') {
        return None;
    }
    let is_kind = |word: &str| {
        ["ssh-", "ecdsa-", "sk-ssh-", "sk-ecdsa-"].iter().any(|start| word.starts_with(start))
    };
    let mut options = Vec::new();
    let mut rest = text.as_str();
    if !is_kind(rest) {
        let (mut quoted, mut start, mut escaped) = (false, 0, false);
        let mut end = rest.len();
        for (at, c) in rest.char_indices() {
            match c {
                '"' if !escaped => quoted = !quoted,
                ',' if !quoted => {
                    options.push(rest[start..at].to_owned());
                    start = at + 1;
                }
                ' ' | '\t' if !quoted => {
                    end = at;
                    break;
                }
                _ => {}
            }
            escaped = c == '\\' && !escaped;
        }
        options.push(rest[start..end].to_owned());
        rest = rest[end..].trim_start();
    }
    let mut words = rest.splitn(3, [' ', '\t']);
    let (kind, key) = (words.next()?, words.next()?);
    is_kind(kind).then(|| Line {
        options,
        kind: kind.to_owned(),
        key: key.to_owned(),
        comment: words.next().unwrap_or("").trim().to_owned(),
    })
}

fn render(line: &Line) -> Vec<u8> {
    let mut words = Vec::new();
    if !line.options.is_empty() {
        words.push(line.options.join(","));
    }
    words.extend([line.kind.clone(), line.key.clone(), line.comment.clone()]);
    words.join(" ").into_bytes()
}

impl Resource for SshKey {
    fn id(&self) -> ResourceId {
        ResourceId::new("ssh_authorized_key", self.desired.name.as_str())
    }

    fn target(&self) -> Target {
        Target::other("ssh key", &self.desired.name)
    }

    fn observe(&mut self, host: &dyn Look) -> Result<Vec<Change>, Failure> {
        self.seen = None;
        self.check()?;
        let desired = &self.desired;
        let Some(user) = host.user(&desired.user)? else {
            if desired.absent {
                return Ok(Vec::new());
            }
            return Err(Failure::new(format!("could not find user '{}'", desired.user)));
        };
        let path = desired.target.clone();
        let path = path.unwrap_or_else(|| user.home.join(".ssh/authorized_keys"));
        let content = host.read_opt(&path)?;
        let fresh = content.is_none();
        let old = content.unwrap_or_default();
        let unnamed = self.unnamed(&old, &path);
        let is_ours = |line: &[u8]| self.is_ours(unnamed, line);
        let found = text::lines(&old).filter(|line| is_ours(line)).find_map(parse);
        let mut seen = Seen { path, new: Vec::new(), uid: user.uid, gid: user.gid, fresh };
        let mut changes = Vec::new();
        if desired.absent {
            changes.extend(found.map(|_| Change::of(self.target(), "ensure", "present", "absent")));
            seen.new = text::delete(&old, &is_ours);
        } else {
            let wanted = Line {
                options: desired.options.clone(),
                kind: desired.kind.clone(),
                key: desired.key.clone(),
                comment: desired.name.clone(),
            };
            match &found {
                None => changes.push(Change::of(self.target(), "ensure", "absent", "present")),
                Some(found) => {
                    for (property, from, to) in
                        [("type", &found.kind, &wanted.kind), ("key", &found.key, &wanted.key)]
                    {
                        if from != to {
                            changes.push(Change::of(
                                self.target(),
                                property,
                                from.as_str(),
                                to.as_str(),
                            ));
                        }
                    }
                    if found.options != wanted.options {
                        let (from, to) = (names(&found.options), names(&wanted.options));
                        changes.push(Change::of(self.target(), "options", from, to));
                    }
                }
            }
            seen.new = text::ensure_line(&old, &render(&wanted), &is_ours);
        }
        self.seen = Some(seen);
        Ok(changes)
    }

    fn apply(&mut self, host: &dyn Act, _changes: &[Change]) -> Result<(), Failure> {
        let Some(seen) = self.seen.take() else {
            return Err(Failure::new("key was not observed before it was applied"));
        };
        let (uid, gid) = (Some(seen.uid), Some(seen.gid));
        if let Some(dir) = seen.path.parent()
            && self.desired.target.is_none()
            && host.stat_opt(dir)?.is_none()
        {
            host.make_dir(dir, 0o700)?;
            host.set_owner(dir, uid, gid)?;
        }
        let options = if seen.fresh {
            WriteOptions { mode: Some(0o600), uid, gid, mtime: None }
        } else {
            WriteOptions::default()
        };
        Ok(host.write(&seen.path, &seen.new, &options)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fx_host::MemoryHost;

    fn converge(host: &MemoryHost, desired: Desired) -> String {
        let mut key = SshKey::new(desired);
        let changes = key.observe(host).unwrap();
        if !changes.is_empty() {
            key.apply(host, &changes).unwrap();
        }
        assert_eq!(key.observe(host).unwrap(), []);
        let line = |c: &Change| format!("{}: {} -> {}", c.property, c.from, c.to);
        changes.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn ann() -> Desired {
        Desired {
            name: "ann@desk".into(),
            user: "ann".into(),
            kind: "ssh-ed25519".into(),
            key: "AAAAC3Nz".into(),
            ..Desired::default()
        }
    }

    fn machine() -> MemoryHost {
        let host = MemoryHost::linux();
        host.put("/etc/passwd", "ann:x:7:8::/home/ann:/bin/sh\n");
        host.put_dir("/home/ann", 0o755);
        host
    }

    #[test]
    fn the_first_key_makes_a_private_directory_of_its_owner() {
        let host = machine();
        assert_eq!(converge(&host, ann()), "ensure: absent -> present");
        let snapshot = host.snapshot();
        assert!(snapshot.contains("/home/ann/.ssh dir 0700 7:8"), "{snapshot}");
        let file = "authorized_keys file 0600 7:8 ssh-ed25519 AAAAC3Nz ann@desk\\n";
        assert!(snapshot.contains(file), "{snapshot}");
    }

    #[test]
    fn keys_with_options_are_found_changed_and_removed() {
        let host = machine();
        let path = "/home/ann/.ssh/authorized_keys";
        let other = "# note\nssh-rsa BBBB bob@x\n";
        let line = r#"no-pty,command="echo \"a, b\" c" ssh-rsa OLD ann@desk"#;
        host.put(path, format!("{other}{line}\n"));
        let expected = "type: ssh-rsa -> ssh-ed25519\nkey: OLD -> AAAAC3Nz\n\
            options: [\"no-pty\",\"command=\\\"echo \\\\\\\"a, b\\\\\\\" c\\\"\"] -> [\"from=\\\"10.*\\\"\"]";
        let desired = Desired { options: vec!["from=\"10.*\"".into()], ..ann() };
        assert_eq!(converge(&host, desired), expected);
        let line = "from=\"10.*\" ssh-ed25519 AAAAC3Nz ann@desk\n";
        assert_eq!(host.text(path), format!("{other}{line}"));
        converge(&host, Desired { absent: true, ..ann() });
        assert_eq!(host.text(path), other);
    }

    #[test]
    fn a_key_without_a_comment_is_named_by_its_file_and_number() {
        let host = machine();
        let path = "/home/ann/.ssh/authorized_keys";
        host.put(path, "ssh-rsa AAAA\nssh-rsa BBBB bob@x\nssh-rsa CCCC\n");
        let name = format!("{path}:unnamed-2");
        let mut key = SshKey::new(Desired { name, absent: true, ..ann() });
        let changes = key.observe(&host).unwrap();
        key.apply(&host, &changes).unwrap();
        assert_eq!(host.text(path), "ssh-rsa AAAA\nssh-rsa BBBB bob@x\n");
    }

    #[test]
    fn what_would_add_a_line_is_refused() {
        let host = machine();
        let bad = [
            Desired { key: "A\nssh-rsa EVIL".into(), ..ann() },
            Desired { name: "a\nb".into(), ..ann() },
            Desired { options: vec!["x\ny".into()], ..ann() },
            Desired { key: String::new(), ..ann() },
            Desired { user: "ghost".into(), ..ann() },
        ];
        for desired in bad {
            assert!(SshKey::new(desired.clone()).observe(&host).is_err(), "{desired:?}");
        }
    }
}
