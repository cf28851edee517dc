//! Facter's view of the neutral facts: its names, shapes, units and roundings.
//!
//! What only a Ruby installation has (`ruby`) is left out: Deviation(D-003).
//! Looks at the machine and changes nothing; knows neither Puppet nor Ruby.

#![forbid(unsafe_code)]

mod augeas;
mod dhcp;
mod legacy;
mod network;
mod os;
mod partitions;
mod print;
mod selinux;
mod ssh;
mod units;
mod virt;

use fx_facts::Facts;
use fx_host::Look;
use fx_value::Value;

pub use legacy::{is_legacy_name, legacy};
pub use print::{Format, all_text, answers_text};

/// Version of the program whose answers these are.
pub const VERSION: &str = "4.3.0";

/// Whether a fact is one that Facter has and not every machine does.
#[must_use]
pub fn may_be_absent(name: &str) -> bool {
    const NAMES: [&str; 30] = [
        "aio_agent_version",
        "augeas",
        "az_metadata",
        "bios_release_date",
        "bios_vendor",
        "bios_version",
        "boardassettag",
        "boardmanufacturer",
        "boardproductname",
        "boardserialnumber",
        "chassisassettag",
        "chassistype",
        "cloud",
        "dmi",
        "domain",
        "ec2_metadata",
        "ec2_userdata",
        "gce",
        "hypervisors",
        "manufacturer",
        "memory.swap",
        "networking.dhcp",
        "networking.domain",
        "os.distro.specification",
        "partitions",
        "productname",
        "ruby",
        "serialnumber",
        "ssh",
        "xen",
    ];
    NAMES.iter().any(|known| {
        name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// Whether a name may be one of Facter's own facts. Those that have the name of an interface or a disk in them are left out.
#[must_use]
pub fn may_be_name(name: &str) -> bool {
    const STRUCTURED: [&str; 19] = [
        "augeas",
        "disks",
        "dmi",
        "facterversion",
        "filesystems",
        "fips_enabled",
        "hypervisors",
        "identity",
        "interfaces",
        "load_averages",
        "memory",
        "mountpoints",
        "networking",
        "os",
        "partitions",
        "processors",
        "ssh",
        "system_uptime",
        "timezone",
    ];
    STRUCTURED.contains(&name) || is_legacy_name(name)
}

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
pub fn facts(host: &dyn Look, facts: &Facts<'_>) -> Value {
    let mut all: Vec<(&'static str, Value)> = vec![
        ("augeas", augeas::augeas(host)),
        ("disks", disks(facts)),
        ("dmi", dmi(facts)),
        ("facterversion", text_of(VERSION)),
        ("filesystems", Value::from(filesystems(host))),
        (
            "fips_enabled",
            Value::Bool(read(host, "/proc/sys/crypto/fips_enabled").as_deref() == Some("1")),
        ),
        ("identity", identity(facts)),
        ("hypervisors", virt::hypervisors(host, facts)),
        ("is_virtual", Value::Bool(virt::kind(host, facts) != "physical")),
        ("kernel", text_of(&facts.kernel().sysname)),
        ("kernelmajversion", Value::from(kernel_major(&facts.kernel().release))),
        ("kernelrelease", text_of(&facts.kernel().release)),
        ("kernelversion", text_of(facts.kernel().release.split('-').next().unwrap_or_default())),
        ("load_averages", load(host)),
        ("memory", memory(facts)),
        ("mountpoints", mountpoints(facts)),
        ("networking", network::networking(host, facts)),
        ("os", os::os(host, facts)),
        ("partitions", partitions::partitions(host, facts)),
        ("path", host.var("PATH".as_ref()).map(|path| path.to_string_lossy().into_owned()).into()),
        ("processors", processors(facts)),
        ("ssh", ssh::ssh(host)),
        ("system_uptime", uptime(facts)),
        ("timezone", text_of(&facts.timezone().abbreviation)),
        ("virtual", text_of(virt::kind(host, facts))),
    ];
    all.retain(|(_, value)| {
        !matches!(value, Value::Undef) && !matches!(value, Value::Map(map) if map.is_empty())
    });
    all.into_iter().collect()
}

fn read(host: &dyn Look, path: &str) -> Option<String> {
    let bytes = host.read(path.as_ref()).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

fn kernel_major(release: &str) -> String {
    release.split('.').take(2).collect::<Vec<_>>().join(".")
}

fn filesystems(host: &dyn Look) -> String {
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

fn load(host: &dyn Look) -> Value {
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
