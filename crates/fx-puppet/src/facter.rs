//! Facter's view of the neutral facts: its names, shapes, units and roundings.
//!
//! What only a Ruby installation has (`ruby`, `augeas`) is left out: Deviation(D-003).

mod legacy;
mod network;
mod print;
mod units;

use fx_facts::Facts;
use fx_host::Host;
use fx_value::Value;

pub(crate) use legacy::is_legacy_name;
pub use legacy::legacy;
pub use print::{query_text, text};

/// Version of the program whose answers these are.
pub const VERSION: &str = "4.3.0";

fn map<const N: usize>(pairs: [(&'static str, Value); N]) -> Value {
    pairs.into_iter().filter(|(_, value)| *value != Value::Undef).collect()
}

fn text_of(value: &str) -> Value {
    Value::from(value)
}

fn int(count: u64) -> Value {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}

/// All facts, by name in byte order.
pub fn facts(host: &dyn Host, facts: &Facts<'_>) -> Value {
    let mut all: Vec<(&'static str, Value)> = vec![
        ("disks", disks(facts)),
        ("dmi", dmi(facts)),
        ("facterversion", text_of(VERSION)),
        ("filesystems", Value::from(filesystems(host))),
        (
            "fips_enabled",
            Value::Bool(read(host, "/proc/sys/crypto/fips_enabled").as_deref() == Some("1")),
        ),
        ("identity", identity(facts)),
        ("hypervisors", hypervisors(host, facts)),
        ("is_virtual", Value::Bool(virtual_kind(host, facts) != "physical")),
        ("kernel", text_of(&facts.kernel().sysname)),
        ("kernelmajversion", Value::from(kernel_major(&facts.kernel().release))),
        ("kernelrelease", text_of(&facts.kernel().release)),
        ("kernelversion", text_of(facts.kernel().release.split('-').next().unwrap_or_default())),
        ("load_averages", load(host)),
        ("memory", memory(facts)),
        ("mountpoints", mountpoints(facts)),
        ("networking", network::networking(facts)),
        ("os", os(facts)),
        ("path", host.var("PATH".as_ref()).map(|path| path.to_string_lossy().into_owned()).into()),
        ("processors", processors(facts)),
        ("ssh", ssh(host)),
        ("system_uptime", uptime(facts)),
        ("timezone", text_of(&facts.timezone().abbreviation)),
        ("virtual", text_of(virtual_kind(host, facts))),
    ];
    all.retain(|(_, value)| {
        !matches!(value, Value::Undef) && !matches!(value, Value::Map(map) if map.is_empty())
    });
    all.into_iter().collect()
}

fn read(host: &dyn Host, path: &str) -> Option<String> {
    let bytes = host.read(path.as_ref()).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

/// What the machine runs in. The mark that Docker leaves in the root is not looked at.
fn virtual_kind<'f>(host: &dyn Host, facts: &'f Facts<'_>) -> &'f str {
    let found = facts.virtualization();
    let grouped = || {
        let groups = read(host, "/proc/1/cgroup").unwrap_or_default();
        let named = read(host, "/proc/1/environ").unwrap_or_default();
        groups.contains("docker") || named.contains("container=")
    };
    let kind = match found.container {
        Some("docker") if !grouped() => found.hypervisor.unwrap_or("physical"),
        _ => found.kind(),
    };
    // Devices of virtio give KVM away where the firmware says nothing.
    let virtio = || host.list("/sys/bus/virtio/devices".as_ref()).is_ok_and(|all| !all.is_empty());
    if kind == "unknown" && virtio() { "kvm" } else { kind }
}

fn hypervisors(host: &dyn Host, facts: &Facts<'_>) -> Value {
    match virtual_kind(host, facts) {
        "kvm" => [("kvm", Value::Map(fx_value::Map::new()))].into_iter().collect(),
        _ => Value::Undef,
    }
}

fn kernel_major(release: &str) -> String {
    release.split('.').take(2).collect::<Vec<_>>().join(".")
}

fn filesystems(host: &dyn Host) -> String {
    let text = read(host, "/proc/filesystems").unwrap_or_default();
    let mut names: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("nodev"))
        .map(str::trim)
        .filter(|name| *name != "fuseblk")
        .collect();
    names.sort_unstable();
    names.join(",")
}

fn disks(facts: &Facts<'_>) -> Value {
    let disk = |disk: &fx_facts::Disk| {
        let kind = disk.rotational.map(|turns| if turns { "hdd" } else { "ssd" });
        let value = map([
            ("model", disk.model.as_deref().into()),
            ("serial", disk.serial.as_deref().into()),
            ("size", Value::from(units::bytes(disk.size))),
            ("size_bytes", int(disk.size)),
            ("type", kind.into()),
            ("vendor", disk.vendor.as_deref().into()),
        ]);
        (disk.name.clone(), value)
    };
    facts.disks().iter().map(disk).collect()
}

fn dmi(facts: &Facts<'_>) -> Value {
    let value = |name: &str| Value::from(facts.dmi_value(name));
    let part = |pairs: Vec<(&'static str, Value)>| -> Value {
        let known: Vec<_> = pairs.into_iter().filter(|(_, value)| *value != Value::Undef).collect();
        if known.is_empty() { Value::Undef } else { known.into_iter().collect() }
    };
    part(vec![
        (
            "bios",
            part(vec![
                ("release_date", value("bios_date")),
                ("vendor", value("bios_vendor")),
                ("version", value("bios_version")),
            ]),
        ),
        (
            "board",
            part(vec![
                ("asset_tag", value("board_asset_tag")),
                ("manufacturer", value("board_vendor")),
                ("product", value("board_name")),
                ("serial_number", value("board_serial")),
            ]),
        ),
        (
            "chassis",
            part(vec![("asset_tag", value("chassis_asset_tag")), ("type", chassis(facts))]),
        ),
        ("manufacturer", value("sys_vendor")),
        (
            "product",
            part(vec![
                ("name", value("product_name")),
                ("serial_number", value("product_serial")),
                ("uuid", value("product_uuid")),
                ("version", value("product_version")),
            ]),
        ),
    ])
}

/// The firmware's number for the kind of case, as words.
fn chassis(facts: &Facts<'_>) -> Value {
    const KINDS: [&str; 24] = [
        "Other",
        "Unknown",
        "Desktop",
        "Low Profile Desktop",
        "Pizza Box",
        "Mini Tower",
        "Tower",
        "Portable",
        "Laptop",
        "Notebook",
        "Hand Held",
        "Docking Station",
        "All in One",
        "Sub Notebook",
        "Space-Saving",
        "Lunch Box",
        "Main System Chassis",
        "Expansion Chassis",
        "SubChassis",
        "Bus Expansion Chassis",
        "Peripheral Chassis",
        "Storage Chassis",
        "Rack Mount Chassis",
        "Sealed-Case PC",
    ];
    let number = facts.dmi_value("chassis_type").and_then(|text| text.parse::<usize>().ok());
    number.and_then(|number| KINDS.get(number.wrapping_sub(1)).copied()).into()
}

fn identity(facts: &Facts<'_>) -> Value {
    let me = facts.identity();
    map([
        ("gid", me.gid.into()),
        ("group", me.group.as_deref().into()),
        ("privileged", Value::Bool(me.uid == 0)),
        ("uid", me.uid.into()),
        ("user", me.user.as_deref().into()),
    ])
}

fn load(host: &dyn Host) -> Value {
    let text = read(host, "/proc/loadavg").unwrap_or_default();
    let mut figures = text.split(' ').map(|figure| Value::from(figure.parse::<f64>().ok()));
    let (one, five, fifteen) = (figures.next(), figures.next(), figures.next());
    map([
        ("15m", fifteen.unwrap_or_default()),
        ("1m", one.unwrap_or_default()),
        ("5m", five.unwrap_or_default()),
    ])
}

fn amounts(total: u64, available: u64) -> Value {
    let used = total.saturating_sub(available);
    map([
        ("available", Value::from(units::bytes(available))),
        ("available_bytes", int(available)),
        ("capacity", Value::from(units::percent(used, total))),
        ("total", Value::from(units::bytes(total))),
        ("total_bytes", int(total)),
        ("used", Value::from(units::bytes(used))),
        ("used_bytes", int(used)),
    ])
}

fn memory(facts: &Facts<'_>) -> Value {
    let memory = facts.memory();
    let swap = if memory.swap_total > 0 {
        amounts(memory.swap_total, memory.swap_free)
    } else {
        Value::Undef
    };
    map([("swap", swap), ("system", amounts(memory.total, memory.available))])
}

fn mountpoints(facts: &Facts<'_>) -> Value {
    let shown = facts.mounts().iter().filter(|mount| {
        let hidden = mount.path.starts_with("/proc") || mount.path.starts_with("/sys");
        (!hidden || mount.kind == "tmpfs") && mount.kind != "autofs"
    });
    let point = |mount: &fx_facts::Mount| {
        let space = mount.space;
        let (size, free, available) =
            space.map_or((0, 0, 0), |space| (space.total, space.free, space.available));
        let used = size.saturating_sub(free);
        let value = map([
            ("available", Value::from(units::bytes(available))),
            ("available_bytes", int(available)),
            ("capacity", Value::from(units::percent(used, used + available))),
            ("device", text_of(&mount.device)),
            ("filesystem", text_of(&mount.kind)),
            ("options", Value::List(mount.options.iter().map(|option| text_of(option)).collect())),
            ("size", Value::from(units::bytes(size))),
            ("size_bytes", int(size)),
            ("used", Value::from(units::bytes(used))),
            ("used_bytes", int(used)),
        ]);
        (mount.path.to_string_lossy().into_owned(), value)
    };
    let mut points: Vec<(String, Value)> = Vec::new();
    for (path, value) in shown.map(point) {
        // A later mount on the same place hides the earlier one.
        points.retain(|(known, _)| *known != path);
        points.push((path, value));
    }
    points.sort_by(|a, b| a.0.cmp(&b.0));
    points.into_iter().collect()
}

/// Facter's names of distributions and their families.
fn names(id: &str, family: &str) -> (&'static str, &'static str) {
    const NAMES: &[(&str, &str)] = &[
        ("debian", "Debian"),
        ("ubuntu", "Ubuntu"),
        ("raspbian", "Debian"),
        ("linuxmint", "LinuxMint"),
        ("rhel", "RedHat"),
        ("centos", "CentOS"),
        ("fedora", "Fedora"),
        ("rocky", "Rocky"),
        ("almalinux", "AlmaLinux"),
        ("ol", "OracleLinux"),
        ("amzn", "Amazon"),
        ("scientific", "Scientific"),
        ("sles", "SLES"),
        ("sled", "SLED"),
        ("opensuse-leap", "OpenSuSE"),
        ("opensuse-tumbleweed", "OpenSuSE"),
        ("opensuse", "OpenSuSE"),
        ("arch", "Archlinux"),
        ("manjaro", "Manjarolinux"),
        ("alpine", "Alpine"),
        ("gentoo", "Gentoo"),
        ("devuan", "Devuan"),
        ("kali", "Kali"),
        ("virtuozzo", "VirtuozzoLinux"),
    ];
    const FAMILIES: &[(&str, &str)] = &[
        ("debian", "Debian"),
        ("redhat", "RedHat"),
        ("suse", "Suse"),
        ("arch", "Archlinux"),
        ("gentoo", "Gentoo"),
        ("alpine", "Linux"),
    ];
    let pick = |table: &[(&str, &'static str)], key: &str| {
        table.iter().find(|(known, _)| *known == key).map(|(_, name)| *name)
    };
    (pick(NAMES, id).unwrap_or("Linux"), pick(FAMILIES, family).unwrap_or("Linux"))
}

fn os(facts: &Facts<'_>) -> Value {
    let os = facts.os();
    let (name, family) = names(&os.id, &os.family);
    let full = os.full_version.as_str();
    let mut parts = full.split('.');
    let (major, minor) = (parts.next().unwrap_or_default(), parts.next());
    // Ubuntu counts its major versions with the month.
    let release = if name == "Ubuntu" {
        map([("full", text_of(&os.version)), ("major", text_of(&os.version))])
    } else {
        map([("full", text_of(full)), ("major", text_of(major)), ("minor", minor.into())])
    };
    let machine = facts.kernel().machine.as_str();
    let architecture = match (family, machine) {
        ("Debian", "x86_64") => "amd64",
        ("Debian", "aarch64") => "arm64",
        (_, machine) => machine,
    };
    let codename = Value::from(Some(os.codename.as_str()).filter(|name| !name.is_empty()));
    let distro = map([
        ("codename", codename),
        ("description", text_of(&os.pretty_name)),
        ("id", text_of(name)),
        ("release", release.clone()),
    ]);
    map([
        ("architecture", text_of(architecture)),
        ("distro", distro),
        ("family", text_of(family)),
        ("hardware", text_of(machine)),
        ("name", text_of(name)),
        ("release", release),
        ("selinux", map([("enabled", Value::Bool(false))])),
    ])
}

fn processors(facts: &Facts<'_>) -> Value {
    let cpu = facts.cpu();
    let count = cpu.models.len() as u64;
    let per_socket = cpu.cores / cpu.sockets.max(1);
    let threads = count.checked_div(cpu.cores).unwrap_or(1);
    map([
        ("cores", int(per_socket.max(1))),
        ("count", int(count)),
        ("isa", text_of("unknown")),
        ("models", Value::List(cpu.models.iter().map(|model| text_of(model)).collect())),
        ("physicalcount", int(cpu.sockets)),
        ("speed", cpu.mhz.map(units::hertz).into()),
        ("threads", int(threads.max(1))),
    ])
}

/// Public host keys, by kind.
fn ssh(host: &dyn Host) -> Value {
    let keys = ["dsa", "ecdsa", "ed25519", "rsa"].into_iter().filter_map(|kind| {
        let line = read(host, &format!("/etc/ssh/ssh_host_{kind}_key.pub"))?;
        let mut words = line.split_whitespace();
        let (name, key) = (words.next()?.to_owned(), words.next()?.to_owned());
        Some((kind, map([("key", Value::from(key)), ("type", Value::from(name))])))
    });
    keys.collect()
}

fn uptime(facts: &Facts<'_>) -> Value {
    let seconds = facts.uptime().seconds;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600, seconds / 60);
    let words = match days {
        0 => format!("{}:{:02} hours", hours % 24, minutes % 60),
        1 => "1 day".to_owned(),
        days => format!("{days} days"),
    };
    map([
        ("days", int(days)),
        ("hours", int(hours)),
        ("seconds", int(seconds)),
        ("uptime", Value::from(words)),
    ])
}
