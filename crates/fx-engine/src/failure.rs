//! What went wrong with the machine, as data. Words are made from it at the edge.

use std::path::PathBuf;

use fx_host::{Exit, HostError, Kind};

/// What kind of trouble a failure is; decides which outcome it becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// Anything not listed below.
    Other,
    /// Permission refused.
    Denied,
    /// Time limit reached.
    TimedOut,
    /// Told to stop.
    Interrupted,
    /// An invariant of ours broke: a defect of fixpoint, not of the machine.
    Internal,
}

/// Why a program cannot be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoProgram {
    /// There is no such file.
    Missing,
    /// It is a directory.
    Directory,
    /// Nobody may execute it.
    NotExecutable,
}

/// Trouble with the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The machine refused a request.
    Host(HostError),
    /// A command ended in another way than it had to.
    Command {
        /// The command line, or a name for it.
        command: String,
        /// How it ended.
        exit: Exit,
        /// What it printed, without the last line break.
        output: String,
    },
    /// There is no such user.
    NoUser(String),
    /// There is no such group.
    NoGroup(String),
    /// There is no such service.
    NoService(String),
    /// The directory that is to hold something is not there.
    NoParent(PathBuf),
    /// A program cannot be started.
    NoProgram {
        /// As it was named.
        program: String,
        /// What is wrong with it.
        why: NoProgram,
    },
    /// Nothing on this machine can act for things of this kind.
    NoProvider(String),
    /// None of the sources that content may come from is there.
    NoSource(Vec<String>),
    /// A web server did not hand out what was requested.
    HttpStatus {
        /// The address, without credentials.
        url: String,
        /// The number of its answer.
        status: u16,
        /// The text of its answer.
        body: String,
    },
    /// Content does not have the digest that it must have.
    WrongDigest {
        /// Of which file.
        path: PathBuf,
        /// The digest it has, with its algorithm.
        found: String,
        /// The one it must have.
        wanted: String,
    },
    /// Something of another kind is there and must stay.
    InTheWay {
        /// Where.
        path: PathBuf,
        /// What it is.
        kind: Kind,
    },
    /// A check of new content refused it.
    RefusedContent {
        /// Of which file.
        path: PathBuf,
        /// How the check ended.
        check: Box<Failure>,
    },
    /// Code of policy raised this, in its own words.
    Raised(String),
    /// The run was stopped from outside.
    Interrupted,
    /// An invariant of ours broke.
    Internal(String),
    /// A failure whose details are a secret.
    Hidden {
        /// What kind it was.
        kind: FailureKind,
        /// What may be said.
        message: String,
    },
    /// Anything else: one line that names the item, lower case, no full stop.
    Other(String),
}

impl Failure {
    /// A failure that nothing else is to be known of than its sentence.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure::Other(message.into())
    }

    /// What kind of trouble it is.
    pub fn kind(&self) -> FailureKind {
        match self {
            Failure::Host(error) => match error.kind() {
                std::io::ErrorKind::PermissionDenied => FailureKind::Denied,
                std::io::ErrorKind::TimedOut => FailureKind::TimedOut,
                _ => FailureKind::Other,
            },
            Failure::Command { exit: Exit::TimedOut, .. } => FailureKind::TimedOut,
            Failure::Command { exit: Exit::Cancelled, .. } | Failure::Interrupted => {
                FailureKind::Interrupted
            }
            Failure::RefusedContent { check, .. } => check.kind(),
            Failure::Internal(_) => FailureKind::Internal,
            Failure::Hidden { kind, .. } => *kind,
            _ => FailureKind::Other,
        }
    }

    /// What the failing command printed, if one failed and printed something.
    pub fn output(&self) -> Option<&str> {
        match self {
            Failure::Command { output, .. } => {
                Some(output.as_str()).filter(|text| !text.is_empty())
            }
            Failure::RefusedContent { check, .. } => check.output(),
            _ => None,
        }
    }

    /// The failure of a command that ended badly; `None` when it ended well.
    pub fn of_command(display: &str, exit: Exit, output: &[u8]) -> Option<Failure> {
        if exit == Exit::Code(0) {
            return None;
        }
        let output = String::from_utf8_lossy(output).trim_end().to_owned();
        Some(Failure::Command { command: display.to_owned(), exit, output })
    }

    /// The same with every text passed through `show`; for whoever hides secrets.
    pub fn map_text(self, show: &dyn Fn(&str) -> String) -> Failure {
        match self {
            Failure::Command { command, exit, output } => {
                Failure::Command { command: show(&command), exit, output: show(&output) }
            }
            Failure::RefusedContent { path, check } => {
                Failure::RefusedContent { path, check: Box::new(check.map_text(show)) }
            }
            Failure::NoUser(name) => Failure::NoUser(show(&name)),
            Failure::NoGroup(name) => Failure::NoGroup(show(&name)),
            Failure::NoService(name) => Failure::NoService(show(&name)),
            Failure::NoProgram { program, why } => {
                Failure::NoProgram { program: show(&program), why }
            }
            Failure::NoSource(all) => Failure::NoSource(all.iter().map(|one| show(one)).collect()),
            Failure::HttpStatus { url, status, body } => {
                Failure::HttpStatus { url: show(&url), status, body: show(&body) }
            }
            Failure::Raised(text) => Failure::Raised(show(&text)),
            Failure::Internal(text) => Failure::Internal(show(&text)),
            Failure::Other(text) => Failure::Other(show(&text)),
            Failure::Hidden { kind, message } => Failure::Hidden { kind, message: show(&message) },
            other => {
                let text = other.to_string();
                let shown = show(&text);
                if shown == text {
                    other
                } else {
                    Failure::Hidden { kind: other.kind(), message: shown }
                }
            }
        }
    }
}

impl From<HostError> for Failure {
    fn from(error: HostError) -> Failure {
        Failure::Host(error)
    }
}

/// One line that names the item, for our own reports; a language words it anew.
impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Host(error) => error.fmt(f),
            Failure::Command { command, exit, .. } => match exit {
                Exit::Code(code) => write!(f, "'{command}' returned {code}"),
                Exit::Signal(signal) => write!(f, "'{command}' was killed by signal {signal}"),
                Exit::TimedOut => write!(f, "'{command}' ran into its time limit"),
                Exit::Cancelled => write!(f, "'{command}' was interrupted"),
            },
            Failure::NoUser(name) => write!(f, "could not find user {name}"),
            Failure::NoGroup(name) => write!(f, "could not find group {name}"),
            Failure::NoService(name) => write!(f, "could not find service '{name}'"),
            Failure::NoParent(path) => {
                write!(f, "the directory '{}' does not exist", path.display())
            }
            Failure::NoProgram { program, why } => match why {
                NoProgram::Missing => write!(f, "could not find program '{program}'"),
                NoProgram::Directory => write!(f, "program '{program}' is a directory"),
                NoProgram::NotExecutable => write!(f, "program '{program}' is not executable"),
            },
            Failure::NoProvider(kind) => write!(f, "no provider for {kind} works on this machine"),
            Failure::NoSource(all) => write!(f, "could not find any of {}", all.join(", ")),
            Failure::HttpStatus { url, status, .. } => write!(f, "'{url}' answered {status}"),
            Failure::WrongDigest { path, found, wanted } => {
                write!(
                    f,
                    "new content of '{}' has the digest {found}, not {wanted}",
                    path.display()
                )
            }
            Failure::InTheWay { path, kind } => {
                write!(f, "'{}' is a {} and is not replaced", path.display(), kind.word())
            }
            Failure::RefusedContent { path, check } => {
                write!(f, "new content of '{}' was refused: {check}", path.display())
            }
            Failure::Interrupted => f.write_str("the run was told to stop"),
            Failure::Internal(text) => write!(f, "internal error: {text}"),
            Failure::Hidden { message: text, .. }
            | Failure::Raised(text)
            | Failure::Other(text) => f.write_str(text),
        }
    }
}
