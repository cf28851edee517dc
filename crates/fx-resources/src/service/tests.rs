//! Services against captured answers of systemctl and of init scripts.

use fx_engine::{Change, Refresh, Resource};
use fx_host::{MemoryHost, Reply};

use super::{Desired, Enabled, Service, detect, named};

const SHOW: &str = "--property=LoadState,ActiveState,UnitFileState";

fn unit(host: &MemoryHost, name: &str, load: &str, active: &str, file: &str) {
    let text = format!("LoadState={load}\nActiveState={active}\nUnitFileState={file}\n");
    host.on(["systemctl", "show", SHOW, "--", name], Reply::prints(text));
}

fn show(changes: &[Change]) -> String {
    let line = |change: &Change| format!("{}: {} -> {}", change.property, change.from, change.to);
    changes.iter().map(line).collect::<Vec<_>>().join(", ")
}

fn check(host: &MemoryHost, manager: &str, desired: Desired, expected: &str, commands: &[&str]) {
    let name = format!("{desired:?}");
    let mut service = Service::new(desired, named(manager).unwrap());
    let changes = service.observe(host).unwrap();
    assert_eq!(show(&changes), expected, "{name}");
    host.clear_calls();
    if !changes.is_empty() {
        service.apply(host, &changes).unwrap();
    }
    assert_eq!(host.call_lines(), commands, "{name}");
}

fn wants(name: &str, running: Option<bool>, enabled: Option<Enabled>) -> Desired {
    Desired { name: name.into(), running, enabled, ..Desired::default() }
}

fn systemd() -> MemoryHost {
    let host = MemoryHost::linux();
    unit(&host, "up", "loaded", "active", "enabled");
    unit(&host, "down", "loaded", "inactive", "disabled");
    unit(&host, "masked", "masked", "inactive", "masked");
    unit(&host, "static", "loaded", "failed", "static");
    unit(&host, "starting", "loaded", "activating", "linked");
    unit(&host, "ghost", "not-found", "inactive", "");
    host.on_any(|_, spec| (!spec.display().contains("show")).then(Reply::default));
    host
}

#[test]
fn units_are_started_stopped_enabled_and_masked_in_a_working_order() {
    let host = systemd();
    let check = |desired, expected, commands: &[&str]| {
        check(&host, "systemd", desired, expected, commands);
    };
    let (yes, no, mask) = (Some(Enabled::Yes), Some(Enabled::No), Some(Enabled::Masked));
    check(wants("up", Some(true), yes), "", &[]);
    check(
        wants("down", Some(true), yes),
        "ensure: stopped -> running, enable: false -> true",
        &["systemctl enable -- down", "systemctl start -- down"],
    );
    check(
        wants("up", Some(false), no),
        "ensure: running -> stopped, enable: true -> false",
        &["systemctl stop -- up", "systemctl disable -- up"],
    );
    check(
        wants("up", Some(false), mask),
        "ensure: running -> stopped, enable: true -> mask",
        &["systemctl stop -- up", "systemctl mask -- up"],
    );
    check(
        wants("masked", Some(true), yes),
        "ensure: stopped -> running, enable: mask -> true",
        &["systemctl unmask -- masked", "systemctl enable -- masked", "systemctl start -- masked"],
    );
    check(wants("static", None, yes), "", &[]);
    check(wants("static", None, no), "", &[]);
    check(wants("masked", None, no), "", &[]);
    check(
        wants("starting", Some(true), None),
        "ensure: stopped -> running",
        &["systemctl start -- starting"],
    );
    check(wants("ghost", Some(false), no), "", &[]);
    let mut ghost = Service::new(wants("ghost", Some(true), None), named("systemd").unwrap());
    let failure = ghost.observe(&host).unwrap_err();
    assert_eq!(failure.to_string(), "could not find service 'ghost'");
    let wanted = Desired { unknown_is_stopped: true, ..wants("ghost", Some(true), None) };
    check(wanted, "ensure: stopped -> running", &["systemctl start -- ghost"]);
    let mut pattern = Service::new(wants("ssh*", Some(true), None), named("systemd").unwrap());
    assert_eq!(pattern.observe(&host).unwrap_err().to_string(), "'ssh*' is not a unit name");
}

#[test]
fn a_refresh_restarts_what_runs() {
    let host = systemd();
    let refresh = |name: &str| {
        host.clear_calls();
        let desired = wants(name, None, None);
        Service::new(desired, named("systemd").unwrap()).refresh(&host).unwrap();
        host.call_lines().split_off(1)
    };
    assert_eq!(refresh("up"), ["systemctl restart -- up"]);
    assert!(refresh("down").is_empty());
}

#[test]
fn init_scripts_tell_their_status_and_links_tell_the_boot() {
    let host = MemoryHost::linux();
    host.put_program("/etc/init.d/web");
    host.put_program("/etc/init.d/db");
    host.put_link("/etc/rc2.d/S01db", "../init.d/db");
    host.put_link("/etc/rc2.d/K01web", "../init.d/web");
    host.on(["/etc/init.d/web", "status"], Reply::exit(3));
    host.on(["/etc/init.d/db", "status"], Reply::exit(0));
    host.on_any(|_, _| Some(Reply::default()));
    let check = |host: &MemoryHost, desired, expected, commands: &[&str]| {
        check(host, "sysv", desired, expected, commands);
    };
    check(&host, wants("db", Some(true), Some(Enabled::Yes)), "", &[]);
    let expected = "ensure: stopped -> running, enable: false -> true";
    check(
        &host,
        wants("web", Some(true), Some(Enabled::Yes)),
        expected,
        &["chkconfig --add web", "chkconfig web on", "/etc/init.d/web start"],
    );
    host.put_program("/usr/sbin/update-rc.d");
    check(
        &host,
        wants("web", Some(true), Some(Enabled::Yes)),
        expected,
        &["update-rc.d web defaults", "update-rc.d web enable", "/etc/init.d/web start"],
    );
    check(
        &host,
        wants("db", Some(false), Some(Enabled::No)),
        "ensure: running -> stopped, enable: true -> false",
        &["/etc/init.d/db stop", "update-rc.d db disable"],
    );
    let mut evil = Service::new(wants("../../bin/sh", Some(true), None), named("sysv").unwrap());
    assert!(evil.observe(&host).is_err());
}

#[test]
fn the_manager_of_the_machine_is_found() {
    let host = MemoryHost::linux();
    assert!(detect(&host).is_err());
    host.put_dir("/etc/init.d", 0o755);
    assert_eq!(detect(&host).unwrap().name(), "sysv");
    host.put_dir("/run/systemd/system", 0o755);
    assert_eq!(detect(&host).unwrap().name(), "systemd");
}
