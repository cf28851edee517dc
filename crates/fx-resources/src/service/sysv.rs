//! Services through init scripts: the script itself starts, stops and reports the status;
//! links in the run-level directories say whether it starts at boot.

use std::path::{Path, PathBuf};

use fx_engine::Failure;
use fx_host::{Act, Look};

use super::Enabled;
use super::backend::{Backend, State, Verb};
use super::boot::{self, Dialect, Tool};
use crate::command;

/// Where scripts lie, Debian's place first.
const SCRIPTS: [&str; 2] = ["/etc/init.d", "/etc/rc.d/init.d"];
/// The levels with several users.
const LEVELS: [&str; 4] = ["2", "3", "4", "5"];

pub(super) struct Sysv;

fn script(host: &dyn Look, service: &str) -> Result<Option<PathBuf>, Failure> {
    for dir in SCRIPTS {
        let path = Path::new(dir).join(service);
        if host.stat_opt(&path)?.is_some_and(|meta| meta.is_file()) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

impl Backend for Sysv {
    fn name(&self) -> &'static str {
        "sysv"
    }

    fn state(&self, host: &dyn Look, service: &str) -> Result<State, Failure> {
        let Some(script) = script(host, service)? else {
            return Ok(State { known: false, running: false, enabled: Enabled::No });
        };
        let spec = command::tool([script.into_os_string(), "status".into()]);
        let running = command::ask(host, &spec)?.exit.success();
        let starts = boot::links(host, service, &LEVELS)?.iter().any(|link| link.starts);
        let enabled = if starts { Enabled::Yes } else { Enabled::No };
        Ok(State { known: true, running, enabled })
    }

    fn act(&self, host: &dyn Act, service: &str, verb: Verb) -> Result<(), Failure> {
        let unknown = || Failure::NoService(service.to_owned());
        let specs = match verb {
            Verb::Start | Verb::Stop | Verb::Restart => {
                let script = script(host, service)?.ok_or_else(unknown)?;
                vec![command::changing([script.into_os_string(), verb.word().into()])]
            }
            Verb::Enable | Verb::Disable => {
                let debian = host.find_program("update-rc.d").is_some();
                let tool = if debian { Tool::UpdateRcD } else { Tool::Chkconfig };
                let on = verb == Verb::Enable;
                let commands = boot::switch(tool, &Dialect::Puppet, service, on);
                commands.into_iter().map(command::changing).collect()
            }
            Verb::Mask | Verb::Unmask => {
                let text = format!("init scripts cannot {} service '{service}'", verb.word());
                return Err(Failure::new(text));
            }
        };
        specs.iter().try_for_each(|spec| command::succeed(host, spec).map(drop))
    }

    fn check_name(&self, service: &str) -> Result<(), Failure> {
        if service.contains('/') || service.starts_with('.') {
            let text = format!("'{}' is not the name of an init script", service.escape_debug());
            return Err(Failure::new(text));
        }
        Ok(())
    }
}
