//! Which distribution it is, in ohai's names: os-release, and on machines without it the files
//! that distributions had before.

use fx_facts::Facts;
use fx_host::Look;
use serde_json::{Map, Value as J, json};

use super::{exists, text};

/// What ohai calls a distribution that names itself otherwise.
const NAMES: [(&str, &str); 10] = [
    ("alinux", "alibabalinux"),
    ("amzn", "amazon"),
    ("archarm", "arch"),
    ("cumulus-linux", "cumulus"),
    ("ol", "oracle"),
    ("opensuse-leap", "opensuseleap"),
    ("rhel", "redhat"),
    ("sles_sap", "suse"),
    ("sles", "suse"),
    ("xenenterprise", "xenserver"),
];

/// Families, by what is found in the name; the first that fits.
const FAMILIES: &[(&str, &[&str])] = &[
    ("debian", &["ubuntu", "debian", "linuxmint", "raspbian", "cumulus", "kali", "pop"]),
    (
        "rhel",
        &[
            "centos",
            "redhat",
            "oracle",
            "almalinux",
            "rocky",
            "scientific",
            "enterpriseenterprise",
            "xenserver",
            "xcp-ng",
            "cloudlinux",
            "alibabalinux",
            "sangoma",
            "clearos",
            "parallels",
            "ibm_powerkvm",
            "nexus_centos",
            "bigip",
            "virtuozzo",
        ],
    ),
    ("amazon", &["amazon"]),
    ("suse", &["suse", "sles", "sled", "sle-", "sle_"]),
    ("fedora", &["fedora", "arista_eos"]),
    ("wrlinux", &["nexus", "ios_xr"]),
    ("gentoo", &["gentoo"]),
    ("arch", &["arch", "manjaro"]),
    ("exherbo", &["exherbo"]),
    ("alpine", &["alpine"]),
    ("clearlinux", &["clearlinux"]),
    ("mandriva", &["mangeia"]),
    ("slackware", &["slackware"]),
];

pub(super) fn add(host: &dyn Look, facts: &Facts<'_>, out: &mut Map<String, J>) {
    let release = text(host, "/etc/os-release");
    let lsb = lsb(host, facts);
    let (platform, version) = match &release {
        Some(release) => by_os_release(host, facts, release),
        None => by_other_files(host, &lsb).unwrap_or_default(),
    };
    let family =
        FAMILIES.iter().find(|(_, names)| names.iter().any(|name| platform.contains(name)));
    out.insert("os".into(), json!("linux"));
    out.insert("platform".into(), json!(platform));
    out.insert("platform_version".into(), json!(version));
    out.insert("platform_family".into(), json!(family.map(|(family, _)| family)));
    out.insert("lsb".into(), J::Object(lsb));
    out.insert("os_release".into(), os_release(&release.unwrap_or_default()));
}

/// A value of os-release, as far as its first space.
fn value(release: &str, wanted: &str) -> Option<String> {
    let mut words = release.split_whitespace().filter_map(|word| word.split_once('='));
    let found = words.rfind(|(key, _)| *key == wanted);
    found.map(|(_, value)| unquoted(value.split('=').next().unwrap_or_default()))
}

fn unquoted(value: &str) -> String {
    let value = value.strip_prefix('"').unwrap_or(value);
    value.strip_suffix('"').unwrap_or(value).to_owned()
}

fn by_os_release(host: &dyn Look, facts: &Facts<'_>, release: &str) -> (String, String) {
    let id = value(release, "ID").unwrap_or_default();
    let lower = id.to_lowercase();
    let known = NAMES.iter().find(|(name, _)| *name == lower);
    let platform = known.map_or(lower, |(_, name)| (*name).to_owned());
    let kernel = || facts.kernel().release.clone();
    let stated = value(release, "VERSION_ID");
    let version = match id.as_str() {
        "centos" => text(host, "/etc/redhat-release").and_then(|line| version_in(&line)),
        "debian" => stated.or_else(|| first_line(host, "/etc/debian_version")),
        _ => stated,
    };
    (platform, version.unwrap_or_else(kernel))
}

/// The first number behind a space, with its points.
fn version_in(line: &str) -> Option<String> {
    let at = line
        .match_indices(' ')
        .map(|(at, _)| at + 1)
        .find(|at| line[*at..].starts_with(|c: char| c.is_ascii_digit() || c == '.'))?;
    let end = line[at..].find(|c: char| !c.is_ascii_digit() && c != '.');
    Some(line[at..end.map_or(line.len(), |end| at + end)].to_owned())
}

fn first_line(host: &dyn Look, path: &str) -> Option<String> {
    text(host, path)?.lines().next().map(str::to_owned)
}

fn by_other_files(host: &dyn Look, lsb: &Map<String, J>) -> Option<(String, String)> {
    let distributor = lsb.get("id").and_then(J::as_str).unwrap_or_default().to_owned();
    let release = || lsb.get("release").and_then(J::as_str).unwrap_or_default().to_owned();
    for file in ["/etc/oracle-release", "/etc/enterprise-release"] {
        if let Some(line) = first_line(host, file) {
            return Some(("oracle".into(), version_in(&line).unwrap_or_default()));
        }
    }
    if let Some(version) = first_line(host, "/etc/debian_version") {
        let is_ubuntu = distributor.to_lowercase().contains("ubuntu");
        let found = if is_ubuntu { ("ubuntu", release()) } else { ("debian", version) };
        return Some((found.0.into(), found.1));
    }
    for file in ["/etc/redhat-release", "/etc/system-release"] {
        if let Some(line) = first_line(host, file) {
            let first = line.split(|c: char| !c.is_alphanumeric() && c != '_').next();
            let first = first.unwrap_or_default().to_lowercase();
            let red_hat = line.to_lowercase().starts_with("red hat");
            let platform = if red_hat { "redhat".to_owned() } else { first };
            return Some((platform, version_in(&line).unwrap_or_default()));
        }
    }
    if let Some(all) = text(host, "/etc/SuSE-release") {
        return Some(old_suse(&all));
    }
    if let Some(line) = first_line(host, "/etc/slackware-version") {
        let version = line.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
        return Some(("slackware".into(), version));
    }
    (!distributor.is_empty()).then(|| (distributor.to_lowercase(), release()))
}

fn old_suse(all: &str) -> (String, String) {
    let number = |key: &str| {
        all.lines()
            .find_map(|line| line.strip_prefix(key)?.trim().strip_prefix("= ").map(str::trim))
    };
    let major = number("VERSION").unwrap_or_default();
    let whole = !major.is_empty() && major.chars().all(|c| c.is_ascii_digit());
    let version = match number("PATCHLEVEL").filter(|_| whole) {
        Some(level) => format!("{major}.{level}"),
        None => major.to_owned(),
    };
    let leap = version.split('.').next().and_then(|major| major.parse().ok()).unwrap_or(0) >= 42;
    let platform = match (all.starts_with("openSUSE"), leap) {
        (true, true) => "opensuseleap",
        (true, false) => "opensuse",
        (false, _) => "suse",
    };
    (platform.into(), version)
}

fn os_release(release: &str) -> J {
    let mut out = Map::new();
    for line in release.lines() {
        let mut parts = line.split('=');
        let (Some(key), Some(value)) = (parts.next(), parts.next()) else { continue };
        let value = unquoted(value);
        let value = match key {
            "ID_LIKE" => json!(value.split_whitespace().collect::<Vec<_>>()),
            _ => json!(value),
        };
        out.insert(key.to_lowercase(), value);
    }
    J::Object(out)
}

/// What `lsb_release` would say, where it is installed; it is not run.
fn lsb(host: &dyn Look, facts: &Facts<'_>) -> Map<String, J> {
    let mut out = Map::new();
    if !exists(host, "/usr/bin/lsb_release") {
        return out;
    }
    let own = text(host, "/etc/lsb-release").unwrap_or_default();
    let os = facts.os();
    let codename = if os.codename.is_empty() { "n/a" } else { &os.codename };
    let id = match os.id.as_str() {
        "rhel" => "RedHatEnterprise",
        "ol" => "OracleServer",
        _ => os.name.split_whitespace().next().unwrap_or_default(),
    };
    for (key, name, fallback) in [
        ("DISTRIB_ID=", "id", id),
        ("DISTRIB_DESCRIPTION=", "description", &os.pretty_name),
        ("DISTRIB_RELEASE=", "release", &os.version),
        ("DISTRIB_CODENAME=", "codename", codename),
    ] {
        let given = own.lines().find_map(|line| line.strip_prefix(key)).map(unquoted);
        out.insert(name.into(), json!(given.unwrap_or_else(|| fallback.to_owned())));
    }
    out
}
