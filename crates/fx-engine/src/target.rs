//! What a change is about: a thing on the machine that two languages would name alike.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;
use std::rc::Rc;

/// The kinds of things that more than one language knows, and a language's own.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum TargetKind {
    /// Anything with a path: file, directory, link, device.
    File,
    Package,
    Service,
    User,
    Group,
    /// One entry of a crontab.
    Cron,
    Mount,
    /// A line of the hosts file.
    HostEntry,
    Sysctl,
    Process,
    /// A command that policy runs.
    Command,
    /// What one language alone knows.
    Other(Cow<'static, str>),
}

impl TargetKind {
    /// The word in reports.
    pub fn word(&self) -> &str {
        match self {
            TargetKind::File => "file",
            TargetKind::Package => "package",
            TargetKind::Service => "service",
            TargetKind::User => "user",
            TargetKind::Group => "group",
            TargetKind::Cron => "cron",
            TargetKind::Mount => "mount",
            TargetKind::HostEntry => "host_entry",
            TargetKind::Sysctl => "sysctl",
            TargetKind::Process => "process",
            TargetKind::Command => "command",
            TargetKind::Other(word) => word,
        }
    }
}

/// The kind of this word; what is not known here is a language's own.
impl From<&str> for TargetKind {
    fn from(word: &str) -> TargetKind {
        const KNOWN: [TargetKind; 11] = [
            TargetKind::File,
            TargetKind::Package,
            TargetKind::Service,
            TargetKind::User,
            TargetKind::Group,
            TargetKind::Cron,
            TargetKind::Mount,
            TargetKind::HostEntry,
            TargetKind::Sysctl,
            TargetKind::Process,
            TargetKind::Command,
        ];
        let known = KNOWN.into_iter().find(|kind| kind.word() == word);
        known.unwrap_or_else(|| TargetKind::Other(word.to_owned().into()))
    }
}

/// Kind and name. Names are bytes, because a path need not be text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Target {
    /// What it is.
    pub kind: TargetKind,
    /// The path, package name, account name, command line.
    pub name: Rc<OsStr>,
}

impl Target {
    /// A thing of this kind and name.
    pub fn new(kind: TargetKind, name: impl AsRef<OsStr>) -> Target {
        Target { kind, name: Rc::from(name.as_ref()) }
    }

    /// What has this path.
    pub fn file(path: impl AsRef<Path>) -> Target {
        Target::new(TargetKind::File, path.as_ref())
    }

    /// What only one language knows, by that language's word.
    pub fn other(kind: impl Into<Cow<'static, str>>, name: impl AsRef<OsStr>) -> Target {
        Target::new(TargetKind::Other(kind.into()), name)
    }

    /// The name for a reader; what is not text is shown by a replacement mark.
    pub fn name(&self) -> Cow<'_, str> {
        self.name.to_string_lossy()
    }
}

macro_rules! named {
    ($($name:ident $kind:ident;)*) => {
        impl Target {
            $(
                #[doc = concat!("The ", stringify!($name), " of this name.")]
                pub fn $name(name: impl AsRef<OsStr>) -> Target {
                    Target::new(TargetKind::$kind, name)
                }
            )*
        }
    };
}

named! {
    package Package;
    service Service;
    user User;
    group Group;
    cron Cron;
    mount Mount;
    host_entry HostEntry;
    sysctl Sysctl;
    process Process;
    command Command;
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}[{}]", self.kind.word(), fx_source::visible_name(&self.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_found_by_its_word() {
        for word in ["file", "package", "host_entry", "command", "yumrepo"] {
            assert_eq!(TargetKind::from(word).word(), word);
        }
        assert_eq!(TargetKind::from("sysctl"), TargetKind::Sysctl);
        assert_eq!(Target::file("/a\nb").to_string(), "file[/a\\nb]");
    }
}
