//! Commands: what to start, under which rules, and how it ended.
//!
//! A program is an argument vector; a shell takes part only when policy asks for one.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::Result;

/// What to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// A program and its arguments, no shell between. Without a slash it is looked up in
    /// the `PATH` the child will have.
    Argv(Vec<OsString>),
    /// A line for a shell, because policy says so; `/bin/sh -c`.
    Shell(OsString),
}

/// What the child reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: end of file at once.
    #[default]
    Closed,
    /// These bytes, then end of file.
    Bytes(Vec<u8>),
    /// What our own process reads, for interactive use only.
    Inherit,
}

/// A command with its rules. `Spec::argv(["ls", "-l"])` is a good start.
#[derive(Clone, Debug)]
pub struct Spec {
    /// What to start.
    pub program: Program,
    /// Where; the root directory when not given, so that no policy depends on our own.
    pub cwd: Option<PathBuf>,
    /// Variables set (`Some`) or removed (`None`), in order, on top of the base.
    pub env: Vec<(OsString, Option<OsString>)>,
    /// Starts from an empty environment instead of our own.
    pub clear_env: bool,
    /// File mode mask of the child.
    pub umask: Option<u32>,
    /// User to become; its groups are taken from the account unless `gid` or `groups` say else.
    pub uid: Option<u32>,
    /// Group to become.
    pub gid: Option<u32>,
    /// Supplementary groups; an empty list clears them. Needed with `uid`.
    pub groups: Option<Vec<u32>>,
    /// Directory that becomes the child's root.
    pub chroot: Option<PathBuf>,
    /// What it reads.
    pub stdin: Stdin,
    /// Standard error joins standard output, in order.
    pub merge_stderr: bool,
    /// Time until TERM, and KILL two seconds later, of the whole process group.
    pub timeout: Option<Duration>,
    /// Most bytes kept of each stream; more is read and dropped, and `truncated` is set.
    pub output_limit: usize,
    /// The command line holds a secret: messages and records show a mark in its place.
    pub sensitive: bool,
}

impl Spec {
    /// A program with arguments.
    pub fn argv<I: IntoIterator<Item = S>, S: Into<OsString>>(argv: I) -> Spec {
        Spec::new(Program::Argv(argv.into_iter().map(Into::into).collect()))
    }

    /// A shell line.
    pub fn shell(line: impl Into<OsString>) -> Spec {
        Spec::new(Program::Shell(line.into()))
    }

    fn new(program: Program) -> Spec {
        Spec {
            program,
            cwd: None,
            env: Vec::new(),
            clear_env: false,
            umask: None,
            uid: None,
            gid: None,
            groups: None,
            chroot: None,
            stdin: Stdin::Closed,
            merge_stderr: false,
            timeout: None,
            output_limit: 16 << 20,
            sensitive: false,
        }
    }

    /// Sets one variable.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Spec {
        self.env.push((name.into(), Some(value.into())));
        self
    }

    /// Sets the time limit.
    pub fn timeout(mut self, limit: Duration) -> Spec {
        self.timeout = Some(limit);
        self
    }

    /// Gives the child these bytes to read.
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Spec {
        self.stdin = Stdin::Bytes(bytes.into());
        self
    }

    /// The command as one line for messages; arguments with blanks are quoted. A mark where it is
    /// a secret.
    pub fn display(&self) -> String {
        if self.sensitive {
            return "[redacted]".to_owned();
        }
        match &self.program {
            Program::Shell(line) => line.to_string_lossy().into_owned(),
            Program::Argv(argv) => {
                let quoted = argv.iter().map(|arg| {
                    let arg = arg.to_string_lossy();
                    let plain = !arg.is_empty()
                        && !arg.contains(|c: char| {
                            c.is_whitespace() || "\"'\\$`;&|<>()*?".contains(c)
                        });
                    if plain {
                        arg.into_owned()
                    } else {
                        format!("'{}'", arg.replace('\'', r"'\''"))
                    }
                });
                quoted.collect::<Vec<_>>().join(" ")
            }
        }
    }
}

/// Which of its outputs a child wrote to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// One line a child wrote, without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Where it came from.
    pub stream: Stream,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// Our time limit ended it.
    TimedOut,
    /// We were stopped from outside and ended it.
    Cancelled,
}

impl Exit {
    /// Whether it ended with code 0.
    pub fn success(self) -> bool {
        self == Exit::Code(0)
    }

    /// The code a shell would show: 128 plus the signal for a killed process.
    pub fn code(self) -> i32 {
        match self {
            Exit::Code(code) => code,
            Exit::Signal(signal) => 128 + signal,
            Exit::TimedOut => 124,
            Exit::Cancelled => 130,
        }
    }
}

/// A command that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// How.
    pub exit: Exit,
    /// What it printed, up to the limit.
    pub stdout: Vec<u8>,
    /// What it complained, up to the limit; empty when merged.
    pub stderr: Vec<u8>,
    /// Whether output was dropped.
    pub truncated: bool,
    /// How long it took.
    pub elapsed: Duration,
    /// The process id it had; 0 where no process was made.
    pub pid: u32,
}

/// A running child that is talked to line by line. Dropping it ends it and its group.
pub trait Child {
    /// Its process id.
    fn pid(&self) -> u32;
    /// Writes bytes to its input.
    fn send(&mut self, bytes: &[u8]) -> Result<()>;
    /// Closes its input.
    fn close_input(&mut self);
    /// The next line of its output without the end; `None` at the end of output.
    fn next_line(&mut self, limit: Duration) -> Result<Option<Vec<u8>>>;
    /// Waits for the end, with the rules of its `Spec`.
    fn wait(&mut self) -> Result<Exit>;
}

/// Programs that are only looked at, or only look themselves.
pub trait Queries {
    /// Where a program would be found along a `PATH`, if it can be executed.
    fn find_program(&self, name: &str) -> Option<PathBuf>;
    /// Runs a program that only reads and prints, such as `dpkg-query`; a rehearsal does it as
    /// well. Never for what policy names: nobody knows what that does.
    fn query(&self, spec: &Spec) -> Result<Ended>;
}

/// Starting commands. Reachable only where a change is made: see [`crate::Act`].
pub trait Commands {
    /// Runs a command to its end, telling each line as it comes. Files changed before are
    /// under their final names when it starts.
    fn run_streaming(&self, spec: &Spec, on_line: &mut dyn FnMut(Line<'_>)) -> Result<Ended>;
    /// Starts a child that is talked to; input and output are piped.
    fn start(&self, spec: &Spec) -> Result<Box<dyn Child>>;
    /// Sends a signal to a process.
    fn signal(&self, pid: i32, signal: i32) -> Result<()>;

    /// Runs a command to its end.
    fn run(&self, spec: &Spec) -> Result<Ended> {
        self.run_streaming(spec, &mut |_| {})
    }
}
