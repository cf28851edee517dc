//! Services without a manager: commands that the resource gives, and the table of processes.

use fx_engine::Failure;
use fx_host::{Act, Look, Spec};
use fx_resources::exec::Rules;
use fx_resources::service::backend::{Backend, State, Verb};
use fx_resources::service::{Commands, Enabled};

/// The provider `base`.
pub(super) struct Base {
    /// What a line of the process table must match.
    pub(super) pattern: String,
    /// The program to start, where no command says so.
    pub(super) binary: Option<String>,
    /// Commands of the resource.
    pub(super) commands: Commands,
}

impl Base {
    fn rules(&self) -> Rules {
        Rules { sensitive: self.commands.sensitive, ..Rules::default() }
    }

    /// The process whose line in the table matches, if there is one.
    fn process(&self, host: &dyn Look) -> Result<Option<String>, Failure> {
        let ended = host.query(&Spec::argv(["ps", "-ef"]))?;
        let regex = fx_puppet::Regex::new(&self.pattern);
        let table = String::from_utf8_lossy(&ended.stdout).into_owned();
        let line = table.lines().find(|line| regex.is_match(line).unwrap_or(false));
        Ok(line.and_then(|line| line.split_whitespace().nth(1)).map(str::to_owned))
    }
}

impl Backend for Base {
    fn name(&self) -> &'static str {
        "base"
    }

    fn state(&self, host: &dyn Look, _service: &str) -> Result<State, Failure> {
        let running = self.commands.status.is_none() && self.process(host)?.is_some();
        Ok(State { known: true, running, enabled: Enabled::No })
    }

    fn act(&self, host: &dyn Act, _service: &str, verb: Verb) -> Result<(), Failure> {
        self.take(host, verb)
    }
}

impl Base {
    fn take(&self, host: &dyn Act, verb: Verb) -> Result<(), Failure> {
        let run = |words: Vec<String>| {
            let shown = words.join(" ");
            let ended = host.run(&Spec::argv(words))?;
            match Failure::of_command(&shown, ended.exit, &[]) {
                None => Ok(()),
                Some(failure) => Err(failure),
            }
        };
        match verb {
            Verb::Start => match &self.binary {
                Some(binary) => run(vec!["/bin/sh".into(), "-c".into(), binary.clone()]),
                None => Err(Failure::new("Services must specify a start command or a binary")),
            },
            Verb::Stop => match self.process(host)? {
                Some(pid) => run(vec!["kill".into(), pid]),
                None => Ok(()),
            },
            Verb::Restart => {
                let own = |program: &Option<fx_host::Program>, verb| match program {
                    Some(program) => {
                        let spec = self.rules().spec(host, program)?;
                        fx_resources::command::succeed(host, &spec).map(drop)
                    }
                    None => self.take(host, verb),
                };
                own(&self.commands.stop, Verb::Stop)?;
                own(&self.commands.start, Verb::Start)
            }
            _ => Err(Failure::new(format!("Provider base cannot {} a service", verb.word()))),
        }
    }
}
