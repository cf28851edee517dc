//! Which package manager and init system the machine uses.

use fx_host::Look;
use fx_value::Value;

use super::fields;
use crate::text::read;

/// Tools that decide how packages and services are managed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Software {
    /// `apt`, `dnf`, `yum`, `zypper`, `apk`, `pacman`, `portage`; `None` if there is none.
    pub package_manager: Option<&'static str>,
    /// `systemd`, `openrc`, `runit`, `sysv`; `None` in a bare container.
    pub init: Option<&'static str>,
}

pub(crate) fn probe(host: &dyn Look) -> Software {
    const MANAGERS: &[(&str, &str)] = &[
        ("apt-get", "apt"),
        ("dnf", "dnf"),
        ("yum", "yum"),
        ("zypper", "zypper"),
        ("apk", "apk"),
        ("pacman", "pacman"),
        ("emerge", "portage"),
    ];
    let manager = MANAGERS.iter().find(|(program, _)| host.find_program(program).is_some());
    Software { package_manager: manager.map(|(_, name)| *name), init: init(host) }
}

fn init(host: &dyn Look) -> Option<&'static str> {
    let exists = |path: &str| host.exists(path.as_ref()).unwrap_or(false);
    let first = read(host, "/proc/1/comm").unwrap_or_default();
    if exists("/run/systemd/system") {
        Some("systemd")
    } else if exists("/run/openrc") {
        Some("openrc")
    } else if first == "runit" {
        Some("runit")
    } else if first == "init" {
        Some("sysv")
    } else {
        None
    }
}

impl Software {
    pub(crate) fn to_value(&self) -> Value {
        fields([("package_manager", self.package_manager.into()), ("init", self.init.into())])
    }
}
