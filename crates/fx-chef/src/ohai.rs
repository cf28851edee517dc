//! Facts of the machine in ohai's shape: the attributes that cookbooks read. What ohai asks other
//! programs for is read from where they have it.

mod memory;
mod network;
mod platform;
mod processors;
mod software;
mod storage;

use std::path::Path;

use fx_facts::Facts;
use fx_host::Look;
use serde_json::{Map, Value as J, json};

/// What `minimal_ohai` leaves: names, platform and kernel.
pub(crate) fn minimal(host: &dyn Look) -> J {
    let mut out = basics(host, &Facts::new(host));
    out.remove("os_release");
    J::Object(out)
}

fn basics(host: &dyn Look, facts: &Facts<'_>) -> Map<String, J> {
    let mut out = Map::new();
    platform::add(host, facts, &mut out);
    kernel(host, facts, &mut out);
    network::add_names(facts, &mut out);
    let now = host.now();
    out.insert("ohai_time".into(), json!(now.secs as f64 + f64::from(now.nanos) / 1e9));
    out.insert("init_package".into(), json!(init_package(host)));
    out
}

/// The automatic attributes. `optional` names plug-ins that only run when asked for.
pub fn automatic(host: &dyn Look, optional: &[String]) -> J {
    let facts = Facts::new(host);
    let mut out = basics(host, &facts);
    network::add(host, &facts, &mut out);
    memory::add(host, &mut out);
    processors::add(host, &facts, &mut out);
    storage::add(host, &facts, &mut out);
    software::add(host, &mut out);
    firmware(&facts, &mut out);
    virtualization(&facts, &mut out);
    times(host, &facts, &mut out);
    keys(host, &mut out);
    rest(host, &mut out);
    if optional.iter().any(|name| name.eq_ignore_ascii_case("passwd")) {
        accounts(host, &facts, &mut out);
    }
    J::Object(out)
}

fn text(host: &dyn Look, path: &str) -> Option<String> {
    let bytes = host.read_opt(Path::new(path)).ok().flatten()?;
    Some(
        String::from_utf8(bytes)
            .unwrap_or_else(|other| String::from_utf8_lossy(other.as_bytes()).into_owned()),
    )
}

fn first_line(host: &dyn Look, path: &str) -> Option<String> {
    Some(text(host, path)?.lines().next()?.trim().to_owned()).filter(|line| !line.is_empty())
}

fn exists(host: &dyn Look, path: &str) -> bool {
    host.exists(Path::new(path)).unwrap_or(false)
}

fn names(host: &dyn Look, folder: &str) -> Vec<String> {
    let list = host.list(Path::new(folder)).unwrap_or_default();
    list.into_iter().map(|entry| entry.name.to_string_lossy().into_owned()).collect()
}

fn kernel(host: &dyn Look, facts: &Facts<'_>, out: &mut Map<String, J>) {
    let uname = facts.kernel();
    let table = text(host, "/proc/modules").unwrap_or_default();
    let modules = table.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (name, size, count) = (words.next()?, words.next()?, words.next()?);
        let mut one = json!({"size": size, "refcount": count});
        if let Some(version) = first_line(host, &format!("/sys/module/{name}/version")) {
            one["version"] = json!(version);
        }
        Some((name.to_owned(), one))
    });
    let modules: Map<String, J> = modules.collect();
    // `uname -p` of the distributions of Red Hat's and SUSE's kin knows it, Debian's does not.
    let family = out.get("platform_family").and_then(J::as_str).unwrap_or_default();
    let knows = ["rhel", "fedora", "amazon", "suse"].contains(&family);
    let processor = if knows { uname.machine.as_str() } else { "unknown" };
    out.insert("os_version".into(), json!(uname.release));
    out.insert(
        "kernel".into(),
        json!({"name": uname.sysname, "release": uname.release, "version": uname.version, "machine": uname.machine, "processor": processor, "os": "GNU/Linux", "modules": modules}),
    );
}

fn firmware(facts: &Facts<'_>, out: &mut Map<String, J>) {
    let mut dmi = Map::new();
    for (name, value) in facts.dmi() {
        let (group, name) = match *name {
            name if name.starts_with("bios") => ("bios", name.trim_start_matches("bios_")),
            name if name.starts_with("board") => ("base_board", name.trim_start_matches("board_")),
            name if name.starts_with("chassis") => ("chassis", name.trim_start_matches("chassis_")),
            name => ("system", name),
        };
        let name = match (group, name) {
            ("bios", "date") => "release_date",
            ("bios", "vendor") => "vendor",
            (_, "sys_vendor" | "vendor" | "manufacturer") => "manufacturer",
            (_, "name") => "product_name",
            (_, "product_version") => "version",
            (_, "serial" | "product_serial") => "serial_number",
            (_, "uuid" | "product_uuid") => "uuid",
            (_, other) => other,
        };
        dmi.entry(group).or_insert_with(|| json!({}))[name] = json!(value);
    }
    out.insert("dmi".into(), J::Object(dmi));
}

fn virtualization(facts: &Facts<'_>, out: &mut Map<String, J>) {
    let found = facts.virtualization();
    let name = |kind: &str| match kind {
        "systemd-nspawn" => "nspawn".to_owned(),
        "virtualbox" => "vbox".to_owned(),
        "kubernetes" => "docker".to_owned(),
        "qemu" | "firecracker" => "kvm".to_owned(),
        other => other.to_owned(),
    };
    let mut told = json!({"systems": {}});
    let around = [found.hypervisor, found.container].into_iter().flatten();
    for kind in around.filter(|kind| *kind != "unknown") {
        told["systems"][name(kind)] = json!("guest");
        told["system"] = json!(name(kind));
        told["role"] = json!("guest");
    }
    out.insert("virtualization".into(), told);
}

/// A length of time in ohai's words.
fn spell(secs: u64) -> String {
    let (days, hours, minutes, rest) = (secs / 86_400, secs / 3600 % 24, secs / 60 % 60, secs % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{rest:02} seconds"),
        (0, 0, _) => format!("{minutes} minutes {rest:02} seconds"),
        (0, _, _) => format!("{hours} hours {minutes:02} minutes {rest:02} seconds"),
        (1, _, _) => format!("1 day {hours:02} hours {minutes:02} minutes {rest:02} seconds"),
        _ => format!("{days} days {hours:02} hours {minutes:02} minutes {rest:02} seconds"),
    }
}

fn times(host: &dyn Look, facts: &Facts<'_>, out: &mut Map<String, J>) {
    out.insert("time".into(), json!({"timezone": facts.timezone().abbreviation}));
    let Some(line) = first_line(host, "/proc/uptime") else { return };
    let mut numbers = line.split_whitespace().filter_map(|word| word.parse::<f64>().ok());
    for name in ["uptime", "idletime"] {
        if let Some(secs) = numbers.next() {
            let secs = secs as u64;
            out.insert(format!("{name}_seconds"), json!(secs));
            out.insert(name.into(), json!(spell(secs)));
        }
    }
}

fn keys(host: &dyn Look, out: &mut Map<String, J>) {
    let mut ssh = Map::new();
    for kind in ["dsa", "rsa", "ecdsa", "ed25519"] {
        if let Some(line) = first_line(host, &format!("/etc/ssh/ssh_host_{kind}_key.pub")) {
            let mut words = line.split_whitespace();
            if let (Some(sort), Some(key)) = (words.next(), words.next()) {
                ssh.insert(format!("host_{kind}_public"), json!(key));
                if kind == "ecdsa" {
                    ssh.insert(format!("host_{kind}_type"), json!(sort));
                }
            }
        }
    }
    out.insert("keys".into(), json!({"ssh": ssh}));
}

fn init_package(host: &dyn Look) -> String {
    // In a copy of the machine the first process is another; systemd leaves a sign.
    if exists(host, "/run/systemd/system") {
        return "systemd".to_owned();
    }
    first_line(host, "/proc/1/comm").unwrap_or_else(|| "init".to_owned())
}

fn rest(host: &dyn Look, out: &mut Map<String, J>) {
    out.insert("command".into(), json!({"ps": "ps -ef"}));
    out.insert("cloud".into(), J::Null);
    out.insert("root_group".into(), json!("root"));
    let id = ["/etc/machine-id", "/var/lib/dbus/machine-id"];
    if let Some(id) = id.iter().find_map(|path| first_line(host, path)) {
        out.insert("machine_id".into(), json!(id));
    }
    let fips = first_line(host, "/proc/sys/crypto/fips_enabled").is_some_and(|on| on == "1");
    out.insert("fips".into(), json!({"kernel": {"enabled": fips}}));
    if let Some(list) = text(host, "/etc/shells") {
        let shells: Vec<&str> = list.lines().filter(|line| line.starts_with('/')).collect();
        out.insert("shells".into(), json!(shells));
    }
}

fn accounts(host: &dyn Look, facts: &Facts<'_>, out: &mut Map<String, J>) {
    let mut users = Map::new();
    for user in host.users().unwrap_or_default() {
        users.entry(&user.name).or_insert_with(|| {
            json!({"dir": user.home.to_string_lossy(), "gid": user.gid, "uid": user.uid, "shell": user.shell.to_string_lossy(), "gecos": user.comment})
        });
    }
    let mut groups = Map::new();
    for group in host.groups().unwrap_or_default() {
        groups.insert(group.name.clone(), json!({"gid": group.gid, "members": group.members}));
    }
    out.insert("etc".into(), json!({"passwd": users, "group": groups}));
    out.insert("current_user".into(), json!(facts.identity().user));
}

#[cfg(test)]
mod tests;
