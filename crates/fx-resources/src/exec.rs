//! A command that policy asks for, with guards that say whether it is needed.
//!
//! The guards are the desired state: when they say so, nothing is out of order. A command
//! without guards is always needed. Guards are run while observing, also in a rehearsal,
//! as all originals do.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use fx_engine::{Change, Failure, FailureKind, Refresh, Resource, ResourceId, Target};
use fx_host::{Act, Ended, Exit, Line, Look, Program, Spec};
use fx_value::Value;

use crate::account::{self, Account};

/// What to run and when.
#[derive(Clone, Debug, Default)]
pub struct Desired {
    /// What reports call it; the command itself, where empty.
    pub name: String,
    /// The command.
    pub command: Option<Program>,
    /// The rules it runs under.
    pub rules: Rules,
    /// Not needed once one of these is there.
    pub creates: Vec<PathBuf>,
    /// Needed only if all of these succeed.
    pub only_if: Vec<Guard>,
    /// Not needed if one of these succeeds.
    pub unless: Vec<Guard>,
    /// Codes that mean success; zero, where empty.
    pub returns: Vec<i32>,
    /// Runs when refreshed, never for itself.
    pub refresh_only: bool,
    /// What a refresh runs instead.
    pub refresh: Option<Program>,
    /// How often it is tried; once, where zero.
    pub tries: u32,
    /// Time between tries.
    pub try_sleep: Duration,
    /// Keeps the command line and output out of all reports.
    pub sensitive: bool,
}

/// The rules a command runs under.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Where; the root directory, where not given.
    pub cwd: Option<PathBuf>,
    /// Variables set or, with `None`, removed.
    pub env: Vec<(OsString, Option<OsString>)>,
    /// User to become.
    pub user: Option<Account>,
    /// Group to become.
    pub group: Option<Account>,
    /// File mode mask.
    pub umask: Option<u32>,
    /// Time until it is ended.
    pub timeout: Option<Duration>,
    /// Standard error joins standard output.
    pub merge_stderr: bool,
    /// The command line, or that of a guard, holds a secret.
    pub sensitive: bool,
}

/// A question to the machine, answered by a command's code: zero is yes.
#[derive(Clone, Debug)]
pub struct Guard {
    /// The command.
    pub program: Program,
    /// Its rules; those of the guarded command, where not given.
    pub rules: Option<Rules>,
}

impl Guard {
    /// A guard under the rules of the command it guards.
    pub fn new(program: Program) -> Guard {
        Guard { program, rules: None }
    }
}

impl Rules {
    /// The command under these rules. An unknown user or group is a failure.
    pub fn spec(&self, host: &dyn Look, program: &Program) -> Result<Spec, Failure> {
        let mut spec = match program {
            Program::Argv(argv) => Spec::argv(argv.iter().cloned()),
            Program::Shell(line) => Spec::shell(line.clone()),
        };
        spec.cwd.clone_from(&self.cwd);
        spec.env.clone_from(&self.env);
        spec.umask = self.umask;
        spec.timeout = self.timeout;
        spec.merge_stderr = self.merge_stderr;
        spec.sensitive = self.sensitive;
        spec.uid = self.user.as_ref().map(|user| account::known_user(host, user)).transpose()?;
        spec.gid =
            self.group.as_ref().map(|group| account::known_group(host, group)).transpose()?;
        Ok(spec)
    }
}

type Watch = Box<dyn FnMut(Line<'_>)>;
type Follow = Box<dyn Fn(Moment<'_>)>;

/// Which guard decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decider {
    /// It runs when refreshed only.
    RefreshOnly,
    /// A path that is there.
    Creates,
    /// A command that must fail.
    Unless,
    /// A command that must succeed.
    OnlyIf,
}

/// What happens while a command is considered and run, in order.
#[derive(Clone, Copy, Debug)]
pub enum Moment<'a> {
    /// A path is looked for.
    Looks(&'a std::path::Path),
    /// A guard is about to run.
    Asks(&'a Program),
    /// A guard ended.
    Answered(Decider, &'a Ended),
    /// A guard decided against the command.
    NotNeeded(Decider),
    /// The command is about to run for this time, of so many at most.
    Tries(&'a Program, u32, u32),
}

/// A command with its guards.
pub struct Exec {
    /// What to run and when.
    pub desired: Desired,
    /// How the last run of the command ended, with its output.
    pub ended: Option<Ended>,
    watch: Option<Watch>,
    follow: Option<Follow>,
    /// What the guards answered.
    is_wanted: bool,
}

impl Exec {
    /// A command that should have been run.
    pub fn new(desired: Desired) -> Exec {
        Exec { desired, ended: None, watch: None, follow: None, is_wanted: true }
    }

    /// Tells each line of output as it comes.
    pub fn watch(&mut self, watch: impl FnMut(Line<'_>) + 'static) {
        self.watch = Some(Box::new(watch));
    }

    /// Reports each moment as it comes.
    pub fn follow(&mut self, follow: impl Fn(Moment<'_>) + 'static) {
        self.follow = Some(Box::new(follow));
    }

    fn report(&self, moment: Moment<'_>) {
        if let Some(follow) = &self.follow {
            follow(moment);
        }
    }

    /// Whether the guards say that the command is needed.
    pub fn is_needed(&self, host: &dyn Act) -> Result<bool, Failure> {
        let decider = self.decider(host)?;
        if let Some(decider) = decider {
            self.report(Moment::NotNeeded(decider));
        }
        Ok(decider.is_none())
    }

    /// The guard that says that the command is not needed, if one does.
    fn decider(&self, host: &dyn Act) -> Result<Option<Decider>, Failure> {
        let desired = &self.desired;
        for path in &desired.creates {
            self.report(Moment::Looks(path));
            if host.stat_opt(path)?.is_some() {
                return Ok(Some(Decider::Creates));
            }
        }
        for guard in &desired.unless {
            if self.holds(host, guard, Decider::Unless)? {
                return Ok(Some(Decider::Unless));
            }
        }
        for guard in &desired.only_if {
            if !self.holds(host, guard, Decider::OnlyIf)? {
                return Ok(Some(Decider::OnlyIf));
            }
        }
        Ok(None)
    }

    fn holds(&self, host: &dyn Act, guard: &Guard, kind: Decider) -> Result<bool, Failure> {
        let rules = guard.rules.as_ref().unwrap_or(&self.desired.rules);
        let spec = rules.spec(host, &guard.program)?;
        self.report(Moment::Asks(&guard.program));
        let ended = match host.run(&spec) {
            Ok(ended) => ended,
            // A guard that cannot be found says no, as a shell's 127 would.
            Err(error) if error.is_not_found() => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        self.report(Moment::Answered(kind, &ended));
        match ended.exit {
            Exit::TimedOut | Exit::Cancelled => Err(self.explain(&spec, &ended)),
            exit => Ok(exit.success()),
        }
    }

    fn explain(&self, spec: &Spec, ended: &Ended) -> Failure {
        let failure = crate::command::failure(spec, ended)
            .unwrap_or_else(|| Failure::new(format!("'{}' returned 0", spec.display())));
        if self.desired.sensitive {
            return Failure::Command {
                command: self.label(),
                exit: ended.exit,
                output: String::new(),
            };
        }
        failure
    }

    fn label(&self) -> String {
        let desired = &self.desired;
        match &desired.command {
            _ if !desired.name.is_empty() => desired.name.clone(),
            _ if desired.sensitive => fx_value::REDACTED.to_owned(),
            Some(Program::Argv(argv)) => Spec::argv(argv.iter().cloned()).display(),
            Some(Program::Shell(line)) => line.to_string_lossy().into_owned(),
            None => String::new(),
        }
    }

    fn expected(&self) -> &[i32] {
        if self.desired.returns.is_empty() { &[0] } else { &self.desired.returns }
    }

    fn run(&mut self, host: &dyn Act, program: &Program) -> Result<(), Failure> {
        let spec = self.desired.rules.spec(host, program)?;
        let tries = self.desired.tries.max(1);
        for number in 1..=tries {
            self.report(Moment::Tries(program, number, tries));
            let ended = self.run_once(host, &spec)?;
            let good = matches!(ended.exit, Exit::Code(code) if self.expected().contains(&code));
            let failure = (!good).then(|| self.explain(&spec, &ended));
            self.ended = Some(ended);
            match failure {
                None => return Ok(()),
                Some(failure) if number == tries || is_final(&failure) => return Err(failure),
                Some(_) => host.sleep(self.desired.try_sleep),
            }
        }
        Ok(())
    }

    // Whatever it returns is right.
    fn run_for_refresh(&mut self, host: &dyn Act, program: &Program) -> Result<(), Failure> {
        let spec = self.desired.rules.spec(host, program)?;
        self.report(Moment::Tries(program, 1, 1));
        let ended = self.run_once(host, &spec)?;
        match ended.exit {
            Exit::Code(_) => Ok(()),
            _ => Err(self.explain(&spec, &ended)),
        }
    }

    fn run_once(&mut self, host: &dyn Act, spec: &Spec) -> Result<Ended, Failure> {
        let mut ignore = |_: Line<'_>| {};
        let on_line: &mut dyn FnMut(Line<'_>) = match &mut self.watch {
            Some(watch) => watch,
            None => &mut ignore,
        };
        host.run_streaming(spec, on_line).map_err(|error| {
            let failure = Failure::from(error);
            if self.desired.sensitive {
                let message = format!("cannot run '{}'", self.label());
                Failure::Hidden { kind: failure.kind(), message }
            } else {
                failure
            }
        })
    }
}

// Who has taken too long once is not tried again.
fn is_final(failure: &Failure) -> bool {
    matches!(failure.kind(), FailureKind::Interrupted | FailureKind::TimedOut)
}

impl Resource for Exec {
    fn id(&self) -> ResourceId {
        ResourceId::new("exec", self.label())
    }

    fn target(&self) -> Target {
        Target::command(self.label())
    }

    fn open_ended(&self) -> bool {
        true
    }

    fn ask_guards(&mut self, act: &dyn Act) -> Result<(), Failure> {
        if self.desired.refresh_only {
            self.report(Moment::NotNeeded(Decider::RefreshOnly));
        }
        self.is_wanted = self.desired.refresh_only || self.is_needed(act)?;
        Ok(())
    }

    fn observe(&mut self, _look: &dyn Look) -> Result<Vec<Change>, Failure> {
        self.ended = None;
        if self.desired.command.is_none() {
            return Err(Failure::new(format!("exec '{}' has no command", self.label())));
        }
        if self.desired.refresh_only || !self.is_wanted {
            return Ok(Vec::new());
        }
        let codes = self.expected().iter().map(|code| Value::from(*code)).collect::<Vec<_>>();
        Ok(vec![Change::of(self.target(), "returns", "notrun", codes)])
    }

    fn apply(&mut self, host: &dyn Act, _changes: &[Change]) -> Result<(), Failure> {
        match self.desired.command.clone() {
            Some(program) => self.run(host, &program),
            None => Ok(()),
        }
    }
}

impl Refresh for Exec {
    /// Runs the refresh command, or the command again, unless the guards say no.
    fn refresh(&mut self, host: &dyn Act) -> Result<(), Failure> {
        self.ended = None;
        if !self.is_needed(host)? {
            return Ok(());
        }
        if let Some(program) = self.desired.refresh.clone() {
            return self.run_for_refresh(host, &program);
        }
        self.desired.command.clone().map_or(Ok(()), |program| self.run(host, &program))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fx_host::{MemoryHost, Reply};

    fn shell(line: &str) -> Program {
        Program::Shell(line.into())
    }

    fn exec(desired: Desired) -> Exec {
        Exec::new(Desired { command: Some(shell("make")), ..desired })
    }

    fn on(host: &MemoryHost, line: &str, reply: Reply) {
        host.on(["/bin/sh", "-c", line], reply);
    }

    #[test]
    fn guards_decide_whether_it_is_needed() {
        let host = MemoryHost::linux();
        on(&host, "true", Reply::exit(0));
        on(&host, "false", Reply::exit(1));
        let yes = || vec![Guard::new(shell("true"))];
        let no = || vec![Guard::new(shell("false"))];
        let missing = || vec![Guard::new(shell("nonesuch"))];
        let table = [
            (Desired::default(), true),
            (Desired { only_if: yes(), ..Desired::default() }, true),
            (Desired { only_if: no(), ..Desired::default() }, false),
            (Desired { only_if: [yes(), no()].concat(), ..Desired::default() }, false),
            (Desired { only_if: missing(), ..Desired::default() }, false),
            (Desired { unless: no(), ..Desired::default() }, true),
            (Desired { unless: [no(), yes()].concat(), ..Desired::default() }, false),
            (Desired { creates: vec!["/etc".into()], ..Desired::default() }, false),
            (Desired { creates: vec!["/none".into()], ..Desired::default() }, true),
            (Desired { refresh_only: true, ..Desired::default() }, false),
        ];
        for (desired, needed) in table {
            let text = format!("{desired:?}");
            let mut exec = exec(desired);
            exec.ask_guards(&host).unwrap();
            assert_eq!(!exec.observe(&host).unwrap().is_empty(), needed, "{text}");
        }
    }

    #[test]
    fn codes_tries_and_output_are_kept() {
        let host = MemoryHost::linux();
        on(&host, "make", Reply::exit(1).stderr("not yet\n"));
        on(&host, "make", Reply::exit(2));
        let mut exec = exec(Desired {
            returns: vec![2],
            tries: 3,
            try_sleep: Duration::from_secs(5),
            ..Desired::default()
        });
        exec.apply(&host, &[]).unwrap();
        assert_eq!(exec.ended.as_ref().unwrap().exit, Exit::Code(2));
        assert_eq!(host.call_lines().len(), 2);
        exec.desired.returns = vec![0];
        exec.desired.tries = 0;
        let failure = exec.apply(&host, &[]).unwrap_err();
        assert_eq!(failure.to_string(), "'make' returned 2");
    }

    #[test]
    fn a_secret_command_line_stays_out_of_failures_and_names() {
        let host = MemoryHost::linux();
        on(&host, "make", Reply::exit(3).stderr("make: hunter2"));
        let mut exec = exec(Desired { sensitive: true, ..Desired::default() });
        let failure = exec.apply(&host, &[]).unwrap_err();
        assert_eq!(format!("{} {failure:?}", exec.id()).matches("make").count(), 0);
        exec.desired.command = Some(shell("nonesuch"));
        let failure = exec.apply(&host, &[]).unwrap_err();
        assert!(!failure.to_string().contains("nonesuch"));
    }

    #[test]
    fn the_rules_reach_the_command() {
        let host = MemoryHost::linux();
        on(&host, "make", Reply::exit(0));
        let rules = Rules {
            cwd: Some("/tmp".into()),
            env: vec![("A".into(), Some("b".into()))],
            user: Some(Account::parse("nobody")),
            group: Some(Account::parse("4")),
            umask: Some(0o27),
            timeout: Some(Duration::from_secs(9)),
            ..Rules::default()
        };
        let mut exec = exec(Desired { rules, ..Desired::default() });
        exec.apply(&host, &[]).unwrap();
        let call = &host.calls()[0];
        assert_eq!((call.uid, call.gid, call.umask), (Some(65534), Some(4), Some(0o27)));
        assert_eq!(call.timeout, Some(Duration::from_secs(9)));
        exec.desired.rules.user = Some(Account::parse("ghost"));
        assert_eq!(exec.apply(&host, &[]).unwrap_err().to_string(), "could not find user ghost");
    }

    #[test]
    fn a_refresh_runs_its_own_command_and_heeds_guards() {
        let host = MemoryHost::linux();
        on(&host, "make again", Reply::exit(0));
        let refresh = Some(shell("make again"));
        let mut exec = exec(Desired { refresh_only: true, refresh, ..Desired::default() });
        exec.refresh(&host).unwrap();
        assert_eq!(host.call_lines(), ["make again"]);
        exec.desired.creates = vec!["/etc".into()];
        exec.refresh(&host).unwrap();
        assert_eq!(host.call_lines().len(), 1);
    }

    #[test]
    fn what_the_command_of_a_refresh_returns_does_not_matter() {
        let host = MemoryHost::linux();
        on(&host, "make again", Reply::exit(4));
        on(&host, "make again", Reply::ending(Exit::TimedOut));
        let refresh = Some(shell("make again"));
        let mut exec = exec(Desired { refresh, tries: 3, ..Desired::default() });
        exec.refresh(&host).unwrap();
        assert_eq!(host.call_lines(), ["make again"]);
        assert_eq!(exec.refresh(&host).unwrap_err().kind(), FailureKind::TimedOut);
    }

    #[test]
    fn a_refresh_that_does_nothing_has_no_output() {
        let host = MemoryHost::linux();
        on(&host, "make", Reply::prints("made\n"));
        let mut exec = exec(Desired::default());
        exec.apply(&host, &[]).unwrap();
        assert!(exec.ended.is_some());
        exec.desired.creates = vec!["/etc".into()];
        exec.refresh(&host).unwrap();
        assert!(exec.ended.is_none());
    }

    #[test]
    fn a_command_that_took_too_long_is_not_tried_again() {
        let host = MemoryHost::linux();
        on(&host, "make", Reply::ending(Exit::TimedOut));
        let mut exec = exec(Desired { tries: 3, ..Desired::default() });
        assert_eq!(exec.apply(&host, &[]).unwrap_err().kind(), FailureKind::TimedOut);
        assert_eq!(host.call_lines(), ["make"]);
    }
}
