//! Commands of the fake machine: answered from a script, never run.
//!
//! A command without an answer does not exist, as far as the caller can tell. An answer
//! may change the fake machine the way the real command would.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use super::tree::{Errno, Last};
use super::{MemoryHost, State};
use crate::{
    Child, Commands, Ended, Env, Exit, HostError, Line, Operation, Program, Queries, Result,
};
use crate::{Spec, Stream};

type Effect = Rc<dyn Fn(&MemoryHost, &Spec)>;
type Answerer = Rc<dyn Fn(&MemoryHost, &Spec) -> Option<Reply>>;
type Dialogue = Rc<dyn Fn(&[u8]) -> Vec<u8>>;

/// What a scripted command answers.
#[derive(Clone)]
pub struct Reply {
    exit: Exit,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    elapsed: Duration,
    effect: Option<Effect>,
    dialogue: Option<Dialogue>,
}

impl Default for Reply {
    fn default() -> Reply {
        Reply::exit(0)
    }
}

impl Reply {
    /// Ends with this code and prints nothing.
    pub fn exit(code: i32) -> Reply {
        Reply::ending(Exit::Code(code))
    }

    /// Ends this way and prints nothing.
    pub fn ending(exit: Exit) -> Reply {
        Reply {
            exit,
            stdout: Vec::new(),
            stderr: Vec::new(),
            elapsed: Duration::ZERO,
            effect: None,
            dialogue: None,
        }
    }

    /// Ends with code 0 and prints this.
    pub fn prints(stdout: impl Into<Vec<u8>>) -> Reply {
        Reply { stdout: stdout.into(), ..Reply::default() }
    }

    /// Prints this.
    pub fn stdout(mut self, stdout: impl Into<Vec<u8>>) -> Reply {
        self.stdout = stdout.into();
        self
    }

    /// Complains with this.
    pub fn stderr(mut self, stderr: impl Into<Vec<u8>>) -> Reply {
        self.stderr = stderr.into();
        self
    }

    /// Takes this long by the fake clocks.
    pub fn takes(mut self, elapsed: Duration) -> Reply {
        self.elapsed = elapsed;
        self
    }

    /// Changes the machine as the real command would.
    pub fn effect(mut self, effect: impl Fn(&MemoryHost, &Spec) + 'static) -> Reply {
        self.effect = Some(Rc::new(effect));
        self
    }

    /// For a child that is talked to: what it prints for each piece it is sent.
    pub fn dialogue(mut self, answer: impl Fn(&[u8]) -> Vec<u8> + 'static) -> Reply {
        self.dialogue = Some(Rc::new(answer));
        self
    }
}

/// Answers by argument vector, then answerers in the order they were added.
#[derive(Clone, Default)]
pub(super) struct Script {
    replies: Vec<(Vec<OsString>, VecDeque<Reply>)>,
    answerers: Vec<Answerer>,
    pub(super) calls: Vec<Spec>,
    pub(super) signals: Vec<(i32, i32)>,
}

/// A command as the argument vector it is known by in the script.
fn key(spec: &Spec) -> Vec<OsString> {
    match &spec.program {
        Program::Argv(argv) => argv.clone(),
        Program::Shell(line) => vec!["/bin/sh".into(), "-c".into(), line.clone()],
    }
}

impl MemoryHost {
    /// Scripts a command. Said twice, the first answer is given once, then the next; the
    /// last one stays. A shell line is scripted as `["/bin/sh", "-c", line]`.
    pub fn on<I: IntoIterator<Item = S>, S: Into<OsString>>(&self, argv: I, reply: Reply) {
        let argv: Vec<OsString> = argv.into_iter().map(Into::into).collect();
        let replies = &mut self.state.borrow_mut().script.replies;
        match replies.iter_mut().find(|(known, _)| *known == argv) {
            Some((_, queue)) => queue.push_back(reply),
            None => replies.push((argv, VecDeque::from([reply]))),
        }
    }

    /// Scripts commands by rule, asked when no exact answer is there.
    pub fn on_any(&self, answer: impl Fn(&MemoryHost, &Spec) -> Option<Reply> + 'static) {
        self.state.borrow_mut().script.answerers.push(Rc::new(answer));
    }

    /// Every command asked for so far, also those that do not exist.
    pub fn calls(&self) -> Vec<Spec> {
        self.state.borrow().script.calls.clone()
    }

    /// Every command asked for so far, each as one line.
    pub fn call_lines(&self) -> Vec<String> {
        self.state.borrow().script.calls.iter().map(Spec::display).collect()
    }

    /// Forgets the commands asked for so far.
    pub fn clear_calls(&self) {
        self.state.borrow_mut().script.calls.clear();
    }

    /// Every signal sent so far, as process and signal number.
    pub fn signals(&self) -> Vec<(i32, i32)> {
        self.state.borrow().script.signals.clone()
    }

    fn reply(&self, operation: Operation, spec: &Spec) -> Result<Reply> {
        let argv = key(spec);
        let program = argv.first().map(|name| name.to_string_lossy().into_owned());
        let program = program.unwrap_or_default();
        let refused = |errno: Errno| {
            let source = std::io::Error::from_raw_os_error(errno);
            let text = source.to_string();
            let reason = text.split(" (os error").next().unwrap_or(&text).to_owned();
            HostError::Command { program: program.clone(), reason, kind: source.kind() }
        };
        let mut state = self.state.borrow_mut();
        state.script.calls.push(spec.clone());
        if let Some(errno) = state.faults.check(operation) {
            return Err(refused(errno));
        }
        let exact = state.script.replies.iter_mut().find(|(known, _)| *known == argv);
        let exact = exact.and_then(|(_, queue)| {
            if queue.len() > 1 { queue.pop_front() } else { queue.front().cloned() }
        });
        let answerers = state.script.answerers.clone();
        drop(state);
        // Answerers and effects run with nothing borrowed: they use the machine.
        let reply = exact.or_else(|| answerers.iter().find_map(|answer| answer(self, spec)));
        let reply = reply.ok_or_else(|| refused(libc::ENOENT))?;
        self.advance(reply.elapsed);
        if let Some(effect) = &reply.effect {
            effect(self, spec);
        }
        Ok(reply)
    }
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    (!bytes.is_empty()).then(|| body.split(|byte| *byte == b'\n')).into_iter().flatten()
}

/// The process id of every command of a fake machine.
const MEMORY_PID: u32 = 4242;

struct MemoryChild {
    reply: Reply,
    waiting: VecDeque<Vec<u8>>,
}

impl Child for MemoryChild {
    fn pid(&self) -> u32 {
        MEMORY_PID
    }

    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        if let Some(answer) = &self.reply.dialogue {
            self.waiting.extend(lines(&answer(bytes)).map(<[u8]>::to_vec));
        }
        Ok(())
    }

    fn close_input(&mut self) {}

    fn next_line(&mut self, _limit: Duration) -> Result<Option<Vec<u8>>> {
        Ok(self.waiting.pop_front())
    }

    fn wait(&mut self) -> Result<Exit> {
        Ok(self.reply.exit)
    }
}

impl State {
    fn is_program(&self, path: &Path) -> bool {
        self.find(path, Last::Follow).is_ok_and(|ino| {
            let meta = self.tree.meta(ino);
            meta.is_file() && meta.mode & 0o111 != 0
        })
    }
}

impl Commands for MemoryHost {
    fn run_streaming(&self, spec: &Spec, on_line: &mut dyn FnMut(Line<'_>)) -> Result<Ended> {
        let reply = self.reply(Operation::Run, spec)?;
        let (mut stdout, mut stderr) = (reply.stdout, reply.stderr);
        if spec.merge_stderr {
            stdout.append(&mut stderr);
        }
        let mut truncated = false;
        for stream in [&mut stdout, &mut stderr] {
            truncated |= stream.len() > spec.output_limit;
            stream.truncate(spec.output_limit);
        }
        for line in lines(&stdout) {
            on_line(Line { stream: Stream::Stdout, bytes: line });
        }
        for line in lines(&stderr) {
            on_line(Line { stream: Stream::Stderr, bytes: line });
        }
        let pid = MEMORY_PID;
        Ok(Ended { exit: reply.exit, stdout, stderr, truncated, elapsed: reply.elapsed, pid })
    }

    fn start(&self, spec: &Spec) -> Result<Box<dyn Child>> {
        let reply = self.reply(Operation::Start, spec)?;
        let waiting = lines(&reply.stdout).map(<[u8]>::to_vec).collect();
        Ok(Box::new(MemoryChild { reply, waiting }))
    }

    // A process is a directory in the fake /proc; TERM and KILL take it away.
    fn signal(&self, pid: i32, signal: i32) -> Result<()> {
        let mut state = self.state.borrow_mut();
        let path = PathBuf::from(format!("/proc/{pid}"));
        let fail =
            |errno| Err(HostError::io("signal", &path, std::io::Error::from_raw_os_error(errno)));
        if let Some(errno) = state.faults.check(Operation::Signal) {
            return fail(errno);
        }
        if state.find(&path, Last::Follow).is_err() {
            return fail(libc::ESRCH);
        }
        state.script.signals.push((pid, signal));
        drop(state);
        if signal == libc::SIGKILL || signal == libc::SIGTERM {
            self.forget(&path);
        }
        Ok(())
    }
}

impl Queries for MemoryHost {
    fn find_program(&self, name: &str) -> Option<PathBuf> {
        let path = self.var("PATH".as_ref()).unwrap_or_else(|| "/usr/bin:/bin".into());
        let state = self.state.borrow();
        if name.contains('/') {
            return state.is_program(Path::new(name)).then(|| name.into());
        }
        let dirs = path.as_bytes().split(|byte| *byte == b':');
        let mut candidates =
            dirs.map(|dir| PathBuf::from(OsString::from_vec(dir.to_vec())).join(name));
        candidates.find(|candidate| state.is_program(candidate))
    }

    fn query(&self, spec: &Spec) -> Result<Ended> {
        self.run(spec)
    }
}
