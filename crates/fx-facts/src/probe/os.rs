//! Which distribution this is: os-release first, the older files where it is missing.

use fx_host::Look;
use fx_value::Value;

use super::fields;
use crate::text::{read, shell_value};

/// A distribution. Empty strings mean that it does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Os {
    /// Lower-case name such as `debian`.
    pub id: String,
    /// Those it is like, nearest first.
    pub like: Vec<String>,
    /// Name for people.
    pub name: String,
    /// Name and version for people.
    pub pretty_name: String,
    /// Version such as `12` or `22.04`.
    pub version: String,
    /// Full version where the distribution keeps it apart, such as Debian's `12.5`.
    pub full_version: String,
    /// Code name such as `bookworm`.
    pub codename: String,
    /// `debian`, `redhat`, `suse`, `arch`, `alpine`, `gentoo`, or the id itself.
    pub family: String,
    /// All pairs of the os-release file as written, without quotes.
    pub release: Vec<(String, String)>,
}

pub(crate) fn probe(host: &dyn Look) -> Os {
    let text = read(host, "/etc/os-release").or_else(|| read(host, "/usr/lib/os-release"));
    let mut os = text.map_or_else(|| from_release_files(host), |text| from_os_release(&text));
    os.full_version = match os.id.as_str() {
        "debian" => read(host, "/etc/debian_version")
            .filter(|text| text.starts_with(|c: char| c.is_ascii_digit())),
        _ => release_number(&read(host, "/etc/redhat-release").unwrap_or_default()),
    }
    .unwrap_or_else(|| os.version.clone());
    os.family = family(&os);
    os
}

fn from_os_release(text: &str) -> Os {
    let value = |key| shell_value(text, key).unwrap_or_default();
    let version = value("VERSION");
    let named =
        version.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map(|(name, _)| name);
    let codename = shell_value(text, "VERSION_CODENAME").or_else(|| named.map(str::to_lowercase));
    Os {
        id: value("ID"),
        like: value("ID_LIKE").split_whitespace().map(str::to_owned).collect(),
        name: value("NAME"),
        pretty_name: value("PRETTY_NAME"),
        version: value("VERSION_ID"),
        codename: codename.unwrap_or_default(),
        release: text
            .lines()
            .filter_map(|line| line.split_once('='))
            .map(|(key, value)| (key.to_owned(), value.trim_matches('"').to_owned()))
            .collect(),
        ..Os::default()
    }
}

fn from_release_files(host: &dyn Look) -> Os {
    let files = [
        ("/etc/redhat-release", "rhel"),
        ("/etc/alpine-release", "alpine"),
        ("/etc/debian_version", "debian"),
    ];
    let found = files.iter().find_map(|(path, id)| Some((read(host, path)?, *id)));
    let Some((text, id)) = found else {
        return Os { id: "linux".into(), name: "Linux".into(), ..Os::default() };
    };
    let id = if text.starts_with("CentOS") { "centos" } else { id };
    let version = release_number(&text).unwrap_or_default();
    Os { id: id.into(), name: text.clone(), pretty_name: text, version, ..Os::default() }
}

/// The first word of a line that looks like a version.
fn release_number(text: &str) -> Option<String> {
    text.split_whitespace()
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))
        .map(str::to_owned)
}

fn family(os: &Os) -> String {
    const FAMILIES: &[(&str, &[&str])] = &[
        ("debian", &["debian", "ubuntu", "raspbian", "linuxmint", "devuan", "kali"]),
        (
            "redhat",
            &[
                "rhel",
                "fedora",
                "centos",
                "rocky",
                "almalinux",
                "ol",
                "amzn",
                "scientific",
                "virtuozzo",
            ],
        ),
        ("suse", &["suse", "sles", "opensuse", "opensuse-leap", "opensuse-tumbleweed", "sled"]),
        ("arch", &["arch", "manjaro", "archarm"]),
        ("alpine", &["alpine"]),
        ("gentoo", &["gentoo"]),
    ];
    let names = std::iter::once(&os.id).chain(&os.like);
    let found = names
        .into_iter()
        .find_map(|id| FAMILIES.iter().find(|(_, ids)| ids.contains(&id.as_str())));
    found.map_or_else(|| os.id.clone(), |(family, _)| (*family).to_owned())
}

impl Os {
    pub(crate) fn to_value(&self) -> Value {
        let text = |text: &str| Value::from(Some(text.to_owned()).filter(|text| !text.is_empty()));
        fields([
            ("id", text(&self.id)),
            ("family", text(&self.family)),
            ("name", text(&self.name)),
            ("pretty_name", text(&self.pretty_name)),
            ("version", text(&self.version)),
            ("full_version", text(&self.full_version)),
            ("codename", text(&self.codename)),
            ("like", Value::List(self.like.iter().map(|id| Value::from(id.as_str())).collect())),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn os_release_is_read_with_and_without_quotes() {
        let os = from_os_release(
            "ID=ubuntu\nID_LIKE=debian\nNAME=\"Ubuntu\"\nVERSION_ID='22.04'\nVERSION=\"22.04.3 LTS (Jammy Jellyfish)\"\n",
        );
        assert_eq!(
            (os.id.as_str(), os.version.as_str(), os.codename.as_str()),
            ("ubuntu", "22.04", "jammy jellyfish")
        );
        assert_eq!(family(&os), "debian");
    }

    #[test]
    fn an_unknown_distribution_belongs_to_what_it_is_like() {
        let os = |id: &str, like: &str| from_os_release(&format!("ID={id}\nID_LIKE=\"{like}\"\n"));
        assert_eq!(family(&os("nobara", "fedora")), "redhat");
        assert_eq!(family(&os("void", "")), "void");
        assert_eq!(family(&os("sle_micro", "suse")), "suse");
    }
}
