//! The `os` fact: distributions as Facter distinguishes them, each by the files it keeps.
//!
//! `lsb_release` is not run; where it is installed, what it would say is taken from os-release.

use fx_facts::Facts;
use fx_host::Look;
use fx_value::Value;

use super::{map, read, selinux, text_of};

/// Distributions that keep their version in a place of their own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Debian,
    Ubuntu,
    Mint,
    Devuan,
    RedHat,
    Amazon,
    /// Like Red Hat, with the version in the first line of a file.
    RedHatBy(&'static str),
    Suse,
    /// The version is what the file holds.
    By(&'static str),
    /// The version stands in the first line of a file.
    FirstLineOf(&'static str),
    /// The version follows a word in a file.
    After(&'static str, &'static str),
    Other,
}

const KINDS: &[(&str, Kind)] = &[
    ("debian", Kind::Debian),
    ("elementary", Kind::Debian),
    ("raspbian", Kind::Debian),
    ("ubuntu", Kind::Ubuntu),
    ("linuxmint", Kind::Mint),
    ("devuan", Kind::Devuan),
    ("rhel", Kind::RedHat),
    ("fedora", Kind::RedHat),
    ("centos", Kind::RedHat),
    ("scientific", Kind::RedHat),
    ("amzn", Kind::Amazon),
    ("ol", Kind::RedHatBy("/etc/oracle-release")),
    ("oel", Kind::RedHatBy("/etc/enterprise-release")),
    ("ovs", Kind::RedHatBy("/etc/ovs-release")),
    ("meego", Kind::RedHatBy("/etc/meego-release")),
    ("sles", Kind::Suse),
    ("sled", Kind::Suse),
    ("opensuse", Kind::Suse),
    ("alpine", Kind::By("/etc/alpine-release")),
    ("openwrt", Kind::By("/etc/openwrt_version")),
    ("gentoo", Kind::FirstLineOf("/etc/gentoo-release")),
    ("photon", Kind::After("/etc/lsb-release", "DISTRIB_RELEASE=\"")),
    ("slackware", Kind::After("/etc/slackware-version", "Slackware ")),
    ("mageia", Kind::After("/etc/mageia-release", "Mageia release ")),
    ("mariner", Kind::After("/etc/mariner-release", "CBL-Mariner ")),
];

/// Families by words that may stand anywhere in what a distribution says it is like.
const FAMILIES: &[(&str, &[&str])] = &[
    (
        "RedHat",
        &[
            "redhat",
            "rhel",
            "fedora",
            "centos",
            "scientific",
            "ascendos",
            "cloudlinux",
            "psbm",
            "oraclelinux",
            "ovs",
            "oel",
            "amazon",
            "xenserver",
            "xcp-ng",
            "virtuozzo",
            "photon",
            "mariner",
        ],
    ),
    ("Debian", &["debian", "ubuntu", "huaweios", "linuxmint", "devuan", "kde"]),
    ("Suse", &["sles", "sled", "suse"]),
    ("Gentoo", &["gentoo"]),
    ("Archlinux", &["arch", "manjaro"]),
    ("Mandrake", &["mandrake", "mandriva", "mageia"]),
];

/// The machine's files about its distribution.
struct Files<'a> {
    host: &'a dyn Look,
    release: &'a [(String, String)],
}

impl Files<'_> {
    /// A value of os-release.
    fn value(&self, key: &str) -> Option<&str> {
        self.release.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    fn id(&self) -> String {
        let id = self.value("ID").unwrap_or_default().to_lowercase();
        if id.contains("opensuse") { "opensuse".to_owned() } else { id }
    }

    /// The version, which always has a point.
    fn version(&self) -> Option<String> {
        let version = self.value("VERSION_ID")?;
        Some(if version.contains('.') { version.to_owned() } else { format!("{version}.0") })
    }

    fn kind(&self) -> Kind {
        let of = |id: &str| KINDS.iter().find(|(known, _)| *known == id).map(|(_, kind)| *kind);
        if self.host.exists("/etc/devuan_version".as_ref()).unwrap_or(false) {
            return Kind::Devuan;
        }
        let like = self.value("ID_LIKE").unwrap_or_default();
        of(&self.id()).or_else(|| like.split(' ').find_map(of)).unwrap_or_else(|| {
            // Without os-release, distributions like Red Hat are known by the file they have.
            if self.release.is_empty() && read(self.host, "/etc/redhat-release").is_some() {
                Kind::RedHat
            } else {
                Kind::Other
            }
        })
    }

    fn family(&self, kind: Kind) -> String {
        match kind {
            Kind::RedHat | Kind::RedHatBy(_) | Kind::Amazon => return "RedHat".to_owned(),
            Kind::Suse => return "Suse".to_owned(),
            _ => {}
        }
        let id = self.id();
        let like = self.value("ID_LIKE").unwrap_or(&id).to_lowercase();
        FAMILIES
            .iter()
            .find(|(_, words)| words.iter().any(|word| like.contains(word)))
            .map_or_else(|| capitalized(&like), |(family, _)| (*family).to_owned())
    }

    fn name(&self, kind: Kind) -> Option<String> {
        if kind == Kind::Mint {
            return Some(capitalized(&self.id()));
        }
        let Some(name) = self.value("NAME") else {
            let line = read(self.host, "/etc/redhat-release")?;
            return Some(words_of(&line).into_iter().take(2).collect());
        };
        let lower = name.to_lowercase();
        let begins = |words: &[&str]| words.iter().any(|word| lower.starts_with(word));
        let first = if begins(&["red", "oracle", "arch", "manjaro"]) {
            name.split(' ').take(2).collect()
        } else if lower.ends_with("mariner") {
            name.rsplit(' ').next().unwrap_or(name).to_owned()
        } else {
            name.split(' ').next().unwrap_or(name).to_owned()
        };
        Some(match () {
            () if begins(&["arch", "manjaro"]) => capitalized(&first),
            () if begins(&["virtuozzo"]) => format!("{first}Linux"),
            () => first,
        })
    }

    /// The version as the distribution itself writes it, in parts.
    fn release(&self, kind: Kind) -> Value {
        let file = |path: &str| read(self.host, path).filter(|text| !text.is_empty());
        let whole =
            |version: Option<String>| version.or_else(|| self.version()).as_deref().map(parts);
        let found = match kind {
            Kind::Debian => return self.debian(),
            Kind::Ubuntu | Kind::Other => {
                let version = Value::from(self.version());
                return [("full", version.clone()), ("major", version)].into_iter().collect();
            }
            Kind::Mint => whole(
                file("/etc/linuxmint/info")
                    .and_then(|text| after(&text, "RELEASE="))
                    .map(|number| number.split('.').next().unwrap_or_default().to_owned()),
            ),
            Kind::Devuan => whole(file("/etc/devuan_version")),
            Kind::RedHat => whole(file("/etc/redhat-release").and_then(|text| version_of(&text))),
            Kind::Amazon => whole(file("/etc/system-release").and_then(|text| first_line(&text))),
            Kind::RedHatBy(path) | Kind::FirstLineOf(path) => {
                whole(file(path).and_then(|text| first_line(&text)))
            }
            Kind::Suse => self.version().as_deref().map(parts),
            Kind::By(path) => whole(file(path)),
            Kind::After(path, word) => whole(file(path).and_then(|text| after(&text, word))),
        };
        found.unwrap_or_default()
    }

    /// Debian's own file, in which a month may have a leading zero.
    fn debian(&self) -> Value {
        let Some(full) = read(self.host, "/etc/debian_version") else { return Value::Undef };
        let mut numbers = full.split('.');
        let major = numbers.next().unwrap_or_default();
        let minor = numbers.next().map(|minor| match minor.strip_prefix('0') {
            Some(rest) if rest.starts_with(|c: char| ('1'..='9').contains(&c)) => rest,
            _ => minor,
        });
        map([("full", text_of(&full)), ("major", text_of(major)), ("minor", minor.into())])
    }

    /// What the Linux Standard Base calls the distribution.
    fn distro(&self, kind: Kind) -> Value {
        let host = self.host;
        match kind {
            Kind::Debian | Kind::Ubuntu | Kind::Mint | Kind::Devuan => {
                let release = match kind {
                    Kind::Debian => self.debian(),
                    Kind::Devuan if !has_lsb(host) => Value::Undef,
                    Kind::Devuan => self.value("VERSION_ID").map(parts).unwrap_or_default(),
                    _ => self.release(Kind::Ubuntu),
                };
                map([
                    ("codename", self.codename().into()),
                    ("description", self.value("PRETTY_NAME").into()),
                    ("id", capitalized(&self.id()).into()),
                    ("release", release),
                ])
            }
            Kind::RedHat | Kind::RedHatBy(_) => {
                let line = read(host, "/etc/redhat-release");
                map([
                    ("codename", line.as_deref().and_then(in_brackets).into()),
                    ("description", line.as_deref().into()),
                    ("id", line.as_deref().map(|line| words_of(line).concat()).into()),
                    ("release", self.release(Kind::RedHat)),
                ])
            }
            Kind::Amazon => {
                let line = read(host, "/etc/system-release");
                let codename = line.as_deref().map(|line| in_brackets(line).unwrap_or("n/a"));
                map([
                    ("codename", codename.into()),
                    ("description", line.as_deref().into()),
                    ("id", line.as_deref().map(|line| words_of(line).concat()).into()),
                    ("release", self.release(kind)),
                ])
            }
            Kind::Suse => {
                let codename = self.value("VERSION_CODENAME").filter(|name| !name.is_empty());
                let old = self.version().is_some_and(|version| version.starts_with("12"));
                map([
                    ("codename", text_of(codename.unwrap_or("n/a"))),
                    ("description", self.value("PRETTY_NAME").into()),
                    ("id", text_of(if old { "SUSE LINUX" } else { "SUSE" })),
                    ("release", self.release(kind)),
                ])
            }
            _ if has_lsb(host) => map([
                ("codename", self.value("VERSION_CODENAME").unwrap_or("n/a").into()),
                ("description", self.value("PRETTY_NAME").into()),
                ("id", self.name(kind).into()),
                ("release", self.value("VERSION_ID").map(parts).unwrap_or_default()),
            ]),
            _ => Value::Undef,
        }
    }

    /// Debian's code name, from the words of the version where it has no line of its own.
    fn codename(&self) -> Option<String> {
        if let Some(name) = self.value("VERSION_CODENAME") {
            return Some(name.to_owned());
        }
        let version = self.value("VERSION")?;
        if let Some(name) = in_brackets(version).filter(|_| version.ends_with(')')) {
            return Some(name.to_owned());
        }
        let is_word = |word: &&str| word.chars().all(|c| c.is_ascii_alphabetic());
        version.split(' ').find(is_word).map(str::to_lowercase)
    }
}

/// Whether the program of the Linux Standard Base is there.
pub(super) fn has_lsb(host: &dyn Look) -> bool {
    ["/usr/bin/lsb_release", "/bin/lsb_release"]
        .iter()
        .any(|path| host.exists(path.as_ref()).unwrap_or(false))
}

fn capitalized(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    first + &chars.as_str().to_lowercase()
}

/// Whole, major and minor of a version.
fn parts(version: &str) -> Value {
    let mut numbers = version.split('.');
    map([
        ("full", text_of(version)),
        ("major", text_of(numbers.next().unwrap_or_default())),
        ("minor", numbers.next().into()),
    ])
}

/// The words before `release` that are not `Linux`.
fn words_of(line: &str) -> Vec<&str> {
    let before = line.split("release").next().unwrap_or(line);
    before.split_whitespace().filter(|word| !word.eq_ignore_ascii_case("linux")).collect()
}

/// The word after `release`.
fn version_of(line: &str) -> Option<String> {
    line.split("release").nth(1)?.split_whitespace().next().map(str::to_owned)
}

fn in_brackets(line: &str) -> Option<&str> {
    let (from, to) = (line.rfind('(')? + 1, line.rfind(')')?);
    line.get(from..to).filter(|name| !name.is_empty())
}

/// The number after `release`, or after Amazon's name in its oldest form.
fn first_line(text: &str) -> Option<String> {
    if text.ends_with("Rawhide") {
        return Some("Rawhide".to_owned());
    }
    after(text, if text.contains("release") { "release " } else { "Amazon Linux " })
}

/// The digits and points after a word.
fn after(text: &str, word: &str) -> Option<String> {
    text.match_indices(word).find_map(|(at, _)| {
        let rest = &text[at + word.len()..];
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number = rest[..end].trim_end_matches('.');
        number.starts_with(|c: char| c.is_ascii_digit()).then(|| number.to_owned())
    })
}

pub(super) fn os(host: &dyn Look, facts: &Facts<'_>) -> Value {
    let files = Files { host, release: &facts.os().release };
    let kind = files.kind();
    let machine = facts.kernel().machine.as_str();
    let debian = matches!(kind, Kind::Debian | Kind::Ubuntu | Kind::Mint | Kind::Devuan);
    let architecture = match machine {
        "x86_64" if debian => "amd64",
        "i386" | "i486" | "i586" | "i686" => "i386",
        machine => machine,
    };
    map([
        ("architecture", text_of(architecture)),
        ("distro", files.distro(kind)),
        ("family", files.family(kind).into()),
        ("hardware", text_of(machine)),
        ("name", files.name(kind).into()),
        ("release", files.release(kind)),
        ("selinux", selinux::selinux(host)),
    ])
}

#[cfg(test)]
mod tests {
    use fx_host::MemoryHost;

    use super::*;

    /// The parts in which distributions differ: name, family, release, distro.
    fn told(release: &str, files: &[(&str, &str)]) -> String {
        let host = MemoryHost::new();
        host.put("/etc/os-release", release);
        for (path, text) in files {
            host.put(path, text);
        }
        let os = os(&host, &Facts::new(&host));
        let part = |name: &str| os.dig(&[name]).unwrap_or_default().to_json();
        format!("{} {} {} {}", part("name"), part("family"), part("release"), part("distro"))
    }

    /// Recorded from Facter 4.3 on machines with these files.
    #[test]
    fn distributions_are_named_by_their_own_files() {
        /// A distribution, its files, and what it is taken for.
        type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str);
        let table: &[Row<'_>] = &[
            (
                "NAME=\"Red Hat Enterprise Linux\"\nID=\"rhel\"\nID_LIKE=\"fedora\"\nVERSION_ID=\"9.3\"\n",
                &[("/etc/redhat-release", "Red Hat Enterprise Linux release 9.3 (Plow)\n")],
                r#""RedHat" "RedHat" {"full":"9.3","major":"9","minor":"3"} {"codename":"Plow","description":"Red Hat Enterprise Linux release 9.3 (Plow)","id":"RedHatEnterprise","release":{"full":"9.3","major":"9","minor":"3"}}"#,
            ),
            (
                "NAME=\"CentOS Linux\"\nID=\"centos\"\nID_LIKE=\"rhel fedora\"\nVERSION_ID=\"7\"\n",
                &[("/etc/redhat-release", "CentOS Linux release 7.9.2009 (Core)\n")],
                r#""CentOS" "RedHat" {"full":"7.9.2009","major":"7","minor":"9"} {"codename":"Core","description":"CentOS Linux release 7.9.2009 (Core)","id":"CentOS","release":{"full":"7.9.2009","major":"7","minor":"9"}}"#,
            ),
            (
                "NAME=\"Rocky Linux\"\nID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\nVERSION_ID=\"8.9\"\n",
                &[("/etc/redhat-release", "Rocky Linux release 8.9 (Green Obsidian)\n")],
                r#""Rocky" "RedHat" {"full":"8.9","major":"8","minor":"9"} {"codename":"Green Obsidian","description":"Rocky Linux release 8.9 (Green Obsidian)","id":"Rocky","release":{"full":"8.9","major":"8","minor":"9"}}"#,
            ),
            (
                "NAME=\"Oracle Linux Server\"\nID=\"ol\"\nID_LIKE=\"fedora\"\nVERSION_ID=\"8.8\"\n",
                &[
                    ("/etc/redhat-release", "Red Hat Enterprise Linux release 8.8 (Ootpa)\n"),
                    ("/etc/oracle-release", "Oracle Linux Server release 8.8\n"),
                ],
                r#""OracleLinux" "RedHat" {"full":"8.8","major":"8","minor":"8"} {"codename":"Ootpa","description":"Red Hat Enterprise Linux release 8.8 (Ootpa)","id":"RedHatEnterprise","release":{"full":"8.8","major":"8","minor":"8"}}"#,
            ),
            (
                "NAME=\"Amazon Linux\"\nID=\"amzn\"\nID_LIKE=\"centos rhel fedora\"\nVERSION_ID=\"2\"\n",
                &[("/etc/system-release", "Amazon Linux release 2 (Karoo)\n")],
                r#""Amazon" "RedHat" {"full":"2","major":"2"} {"codename":"Karoo","description":"Amazon Linux release 2 (Karoo)","id":"Amazon","release":{"full":"2","major":"2"}}"#,
            ),
            (
                "NAME=\"SLES\"\nVERSION_ID=\"15.4\"\nPRETTY_NAME=\"SUSE Linux Enterprise Server 15 SP4\"\nID=\"sles\"\nID_LIKE=\"suse\"\n",
                &[],
                r#""SLES" "Suse" {"full":"15.4","major":"15","minor":"4"} {"codename":"n/a","description":"SUSE Linux Enterprise Server 15 SP4","id":"SUSE","release":{"full":"15.4","major":"15","minor":"4"}}"#,
            ),
            (
                "PRETTY_NAME=\"Ubuntu 22.04.3 LTS\"\nNAME=\"Ubuntu\"\nVERSION_ID=\"22.04\"\nVERSION_CODENAME=jammy\nID=ubuntu\nID_LIKE=debian\n",
                &[("/etc/debian_version", "bookworm/sid\n")],
                r#""Ubuntu" "Debian" {"full":"22.04","major":"22.04"} {"codename":"jammy","description":"Ubuntu 22.04.3 LTS","id":"Ubuntu","release":{"full":"22.04","major":"22.04"}}"#,
            ),
            (
                "PRETTY_NAME=\"Debian GNU/Linux 10 (buster)\"\nNAME=\"Debian GNU/Linux\"\nVERSION=\"10 (buster)\"\nID=debian\n",
                &[("/etc/debian_version", "10.13\n")],
                r#""Debian" "Debian" {"full":"10.13","major":"10","minor":"13"} {"codename":"buster","description":"Debian GNU/Linux 10 (buster)","id":"Debian","release":{"full":"10.13","major":"10","minor":"13"}}"#,
            ),
            (
                "NAME=\"Linux Mint\"\nID=linuxmint\nID_LIKE=\"ubuntu debian\"\nPRETTY_NAME=\"Linux Mint 21.2\"\nVERSION_ID=\"21.2\"\nVERSION_CODENAME=victoria\n",
                &[("/etc/linuxmint/info", "RELEASE=21.2\n")],
                r#""Linuxmint" "Debian" {"full":"21","major":"21"} {"codename":"victoria","description":"Linux Mint 21.2","id":"Linuxmint","release":{"full":"21.2","major":"21.2"}}"#,
            ),
            (
                "NAME=\"Arch Linux\"\nID=arch\n",
                &[],
                r#""Archlinux" "Archlinux" {"full":null,"major":null} null"#,
            ),
            (
                "NAME=\"Alpine Linux\"\nID=alpine\nVERSION_ID=3.18.4\n",
                &[("/etc/alpine-release", "3.18.4\n")],
                r#""Alpine" "Alpine" {"full":"3.18.4","major":"3","minor":"18"} null"#,
            ),
            (
                "NAME=Gentoo\nID=gentoo\nVERSION_ID=\"2.14\"\n",
                &[("/etc/gentoo-release", "Gentoo Base System release 2.14\n")],
                r#""Gentoo" "Gentoo" {"full":"2.14","major":"2","minor":"14"} null"#,
            ),
            (
                "NAME=\"NixOS\"\nID=nixos\nVERSION_ID=\"23.05\"\n",
                &[],
                r#""NixOS" "Nixos" {"full":"23.05","major":"23.05"} null"#,
            ),
        ];
        for (release, files, expected) in table {
            assert_eq!(told(release, files), *expected, "{release}");
        }
    }
}
