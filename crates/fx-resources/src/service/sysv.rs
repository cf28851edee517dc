//! Services through init scripts: the script itself starts, stops and tells the status;
//! links in the run-level directories say whether it starts at boot.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use fx_engine::Failure;
use fx_host::{Act, Look};

use super::Enabled;
use super::backend::{Backend, State, Verb};
use crate::command;

/// Where scripts lie and where run levels link to them, Debian's places first.
const SCRIPTS: [&str; 2] = ["/etc/init.d", "/etc/rc.d/init.d"];
const LEVELS: [&str; 2] = ["/etc/rc{}.d", "/etc/rc.d/rc{}.d"];

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

// Enabled if any multi-user level has a link `S20name`.
fn starts_at_boot(host: &dyn Look, service: &str) -> Result<bool, Failure> {
    for level in ["2", "3", "4", "5"] {
        for pattern in LEVELS {
            let dir = PathBuf::from(pattern.replace("{}", level));
            if host.stat_opt(&dir)?.is_none() {
                continue;
            }
            let linked = host.list(&dir)?.iter().any(|entry| {
                let name = entry.name.as_bytes();
                name.first() == Some(&b'S')
                    && name.get(1..3).is_some_and(|number| number.iter().all(u8::is_ascii_digit))
                    && name.get(3..) == Some(service.as_bytes())
            });
            if linked {
                return Ok(true);
            }
        }
    }
    Ok(false)
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
        let enabled = if starts_at_boot(host, service)? { Enabled::Yes } else { Enabled::No };
        Ok(State { known: true, running, enabled })
    }

    fn act(&self, host: &dyn Act, service: &str, verb: Verb) -> Result<(), Failure> {
        let unknown = || Failure::NoService(service.to_owned());
        let specs = match verb {
            Verb::Start | Verb::Stop | Verb::Restart | Verb::Reload => {
                let script = script(host, service)?.ok_or_else(unknown)?;
                vec![command::changing([script.into_os_string(), verb.word().into()])]
            }
            Verb::Enable | Verb::Disable if host.find_program("update-rc.d").is_some() => {
                // The links must exist before `enable` can switch them.
                let mut specs = vec![command::changing(["update-rc.d", service, verb.word()])];
                if verb == Verb::Enable {
                    specs.insert(0, command::changing(["update-rc.d", service, "defaults"]));
                }
                specs
            }
            Verb::Enable => vec![
                command::changing(["chkconfig", "--add", service]),
                command::changing(["chkconfig", service, "on"]),
            ],
            Verb::Disable => vec![command::changing(["chkconfig", service, "off"])],
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
