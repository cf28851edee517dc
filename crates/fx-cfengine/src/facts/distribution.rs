//! The distribution as classes and `sys.flavor`: os-release first, then the files that
//! related distributions keep beside it; a class keeps the tags of whoever defined it
//! first, the flavour is that of the last. Distributions gone for good are not looked for.

use crate::eval::Context;
use crate::eval::value::{DataType, Value};
use crate::eval::vars::Found;
use crate::json::{Json, Object};
use crate::text::{canonify, path};

use super::tags;

const INVENTORY: &str = "inventory,attribute_name=none,source=agent";
const OS_RELEASE: &str = "/etc/os-release";
const REDHAT: &str = "/etc/redhat-release";
const DEBIAN: &str = "/etc/debian_version";
const ISSUE: &str = "/etc/issue";

/// As many links as the kernel follows.
const MAX_LINKS: usize = 40;

/// How the line of redhat-release begins, whose it is, and which edition.
const REDHAT_KIN: &[(&str, &str, &str)] = &[
    ("Red Hat Enterprise Linux ES", "redhat", "es"),
    ("Red Hat Enterprise Linux WS", "redhat", "ws"),
    ("Red Hat Enterprise Linux AS", "redhat", "as"),
    ("Red Hat Linux Advanced Server", "redhat", "as"),
    ("Red Hat Enterprise Linux Server", "redhat", "s"),
    ("Red Hat Enterprise Linux Client", "redhat", "c"),
    ("Red Hat Enterprise Linux Workstation", "redhat", "c"),
    ("Red Hat Enterprise Linux ComputeNode", "redhat", "cn"),
    ("Red Hat Linux", "redhat", ""),
    ("Red Hat Enterprise Linux", "redhat", ""),
    ("White Box Enterprise Linux", "whitebox", ""),
    ("Scientific Linux SL", "scientific", "sl"),
    ("Scientific Linux CERN", "scientific", "cern"),
    ("Scientific Linux", "scientific", "sl"),
    ("CentOS", "centos", ""),
    ("Enterprise Linux Enterprise Linux Server", "oracle", "s"),
];

/// What people call the system, by the first class that is defined.
const NAMES: &[(&str, &str)] = &[
    ("ubuntu", "Ubuntu"),
    ("debian", "Debian"),
    ("centos", "CentOS"),
    ("fedora", "Fedora"),
    ("redhat", "RHEL"),
    ("opensuse", "OpenSUSE"),
    ("suse", "SUSE"),
];

impl Context<'_> {
    pub(super) fn discover_distribution(&mut self, release: &fx_facts::Os) {
        if self.starts_with_systemd() {
            self.put_hard("systemd", &tags(INVENTORY));
        }
        self.read_os_release(release);
        if self.is_there("/etc/fedora-release") {
            self.fedora();
        } else if self.is_there(REDHAT) {
            self.redhat();
        }
        if self.is_there("/etc/oracle-release") {
            self.oracle();
        }
        if self.is_there("/etc/SuSE-release") {
            self.old_suse();
        }
        self.amazon();
        self.slackware();
        if self.is_there(DEBIAN) {
            self.debian();
        }
        if self.is_there("/usr/bin/aptitude") {
            self.put_hard("have_aptitude", &tags(INVENTORY));
        }
        self.alpine();
        for (file, flavor) in
            [("/etc/gentoo-release", "gentoo"), ("/etc/arch-release", "archlinux")]
        {
            if self.is_there(file) {
                self.flavor(flavor);
            }
        }
        self.xen();
        self.name_for_people();
        self.places();
    }

    /// Where tables of cron and pages of the web lie.
    fn places(&mut self) {
        let user = self.host().user_by_id(self.host().euid()).ok().flatten();
        let user = user.map_or_else(|| "root".to_owned(), |user| user.name);
        let cron = match () {
            () if self.hard.contains_key("SUSE") => "/var/spool/cron/tabs",
            () if self.hard.contains_key("redhat") => "/var/spool/cron",
            () => "/var/spool/cron/crontabs",
        };
        self.sys("crontab", format!("{cron}/{user}"));
        let pages =
            [("debian", "/var/www"), ("SUSE", "/srv/www/htdocs"), ("redhat", "/var/www/html")];
        if let Some((_, place)) = pages.iter().find(|(class, _)| self.hard.contains_key(*class)) {
            self.sys("doc_root", *place);
        }
    }

    /// Whether the first process is systemd, behind whatever links its name has. In a copy of the
    /// machine that is another; systemd leaves a sign.
    fn starts_with_systemd(&self) -> bool {
        if self.is_there("/run/systemd/system") {
            return true;
        }
        let Ok(bytes) = self.host().read(&path("/proc/1/cmdline")) else { return false };
        let text = crate::text::decode(&bytes);
        let mut program = path(text.split(['\0', '\n']).next().unwrap_or_default());
        for _ in 0..MAX_LINKS {
            let Ok(target) = self.host().read_link(&program) else { break };
            program = program.parent().map_or_else(|| target.clone(), |at| at.join(&target));
        }
        program.is_absolute() && program.file_name().is_some_and(|name| name == "systemd")
    }

    fn is_there(&self, file: &str) -> bool {
        self.host().stat(&path(file)).is_ok()
    }

    fn first_line(&self, file: &str) -> Option<String> {
        let bytes = self.host().read(&path(file)).ok()?;
        crate::text::decode(&bytes).lines().next().map(str::to_owned)
    }

    fn class_of(&mut self, name: &str, file: &str) {
        self.put_hard(name, &tags(&format!("{INVENTORY},derived-from-file={file}")));
    }

    fn flavor(&mut self, flavor: &str) {
        self.put_hard(flavor, &tags(&format!("{INVENTORY},derived-from=sys.flavor")));
        self.sys("flavour", flavor);
        self.sys_tagged("flavor", flavor, "inventory,source=agent,attribute_name=none");
    }

    /// A class for the name and for each part of the version.
    fn versions(&mut self, id: &str, version: &str, file: &str) {
        let whole = format!("{id}_{version}");
        let mut name = whole.as_str();
        self.class_of(name, file);
        while let Some((shorter, _)) = name.rsplit_once('_') {
            self.class_of(shorter, file);
            name = shorter;
        }
    }

    fn read_os_release(&mut self, release: &fx_facts::Os) {
        if release.release.is_empty() {
            return;
        }
        let file = if self.is_there(OS_RELEASE) { OS_RELEASE } else { "/usr/lib/os-release" };
        let mut object = Object::new();
        for (key, value) in &release.release {
            object.insert(key.as_str().into(), Json::str(value));
        }
        self.vars.put(
            "sys",
            "os_release",
            DataType::Data,
            Value::Data(std::rc::Rc::new(Json::Object(object))),
            &tags(&format!("{INVENTORY},derived-from-file={file}")),
        );
        let value = |key: &str| release.release.iter().find(|(name, _)| name == key);
        let Some(id) = value("ID").map(|(_, id)| canonify(id)) else { return };
        let alias = match id.as_str() {
            "rhel" => Some("redhat"),
            "opensuse" | "sles" => Some("suse"),
            _ => None,
        };
        if let Some((_, version)) = value("VERSION_ID") {
            let version = canonify(version);
            let major = version.split('_').next().unwrap_or_default();
            self.flavor(&format!("{id}_{major}"));
            self.versions(&id, &version, file);
            if let Some(alias) = alias {
                self.versions(alias, &version, file);
            }
        } else {
            self.class_of(&id, file);
            if let Some(alias) = alias {
                self.class_of(alias, file);
            }
        }
    }

    fn fedora(&mut self) {
        self.put_hard("redhat", &tags(INVENTORY));
        self.put_hard("fedora", &tags(INVENTORY));
        let Some(line) = self.first_line("/etc/fedora-release") else { return };
        let major = line.split_once("release ").and_then(|(_, rest)| numbers(rest).0);
        if let Some(major) = major.filter(|_| line.starts_with("Fedora")) {
            self.flavor(&format!("fedora_{major}"));
        }
    }

    fn redhat(&mut self) {
        self.class_of("redhat", REDHAT);
        let Some(line) = self.first_line(REDHAT) else { return };
        let kin = REDHAT_KIN.iter().find(|(begin, ..)| line.starts_with(begin));
        let Some((_, vendor, edition)) = kin else { return };
        let lower = line.to_ascii_lowercase();
        let Some((_, rest)) = lower.split_once("release ") else { return };
        let (Some(major), minor) = numbers(rest) else { return };
        self.class_of(vendor, REDHAT);
        let with_edition = format!("{vendor}_{edition}");
        let named = [with_edition.as_str()].into_iter().filter(|_| !edition.is_empty());
        for name in named {
            self.class_of(name, REDHAT);
            self.class_of(&format!("{name}_{major}"), REDHAT);
            if let Some(minor) = minor {
                self.class_of(&format!("{name}_{major}_{minor}"), REDHAT);
            }
        }
        if edition.is_empty() {
            self.class_of(&format!("{vendor}_{major}"), REDHAT);
        }
        self.flavor(&format!("{vendor}_{major}"));
        if let Some(minor) = minor {
            self.class_of(&format!("{vendor}_{major}_{minor}"), REDHAT);
        }
    }

    fn oracle(&mut self) {
        self.put_hard("oracle", &tags(INVENTORY));
        let Some(line) = self.first_line("/etc/oracle-release") else { return };
        let rest = line.split_once("release ").filter(|_| line.starts_with("Oracle Linux Server"));
        if let Some((_, rest)) = rest
            && let (Some(major), Some(minor)) = numbers(rest)
        {
            self.flavor(&format!("oracle_{major}"));
            self.put_hard(&format!("oracle_{major}_{minor}"), &tags(INVENTORY));
        }
    }

    /// The file that SUSE had before os-release, with lines for version and patch level.
    fn old_suse(&mut self) {
        for name in ["SUSE", "suse", "SuSE"] {
            self.put_hard(name, &tags(INVENTORY));
        }
        let Ok(bytes) = self.host().read(&path("/etc/SuSE-release")) else { return };
        let text = crate::text::decode(&bytes);
        let first = text.lines().next().unwrap_or_default().to_ascii_lowercase();
        let number = |key: &str| {
            let rest = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
            rest.and_then(|rest| numbers(rest).0)
        };
        for (begin, name) in [("server", "SLES"), ("desktop", "SLED")] {
            let rest = first.strip_prefix(&format!("suse linux enterprise {begin} "));
            if let Some(version) = rest.and_then(|rest| numbers(rest).0) {
                self.put_hard(&format!("{name}{version}"), &tags(INVENTORY));
            }
        }
        let after = ["linux ", "opensuse"].iter().find_map(|word| first.split_once(word));
        let point = after.map(|(_, rest)| rest).filter(|rest| rest.contains('.'));
        let found = match point {
            Some(rest) => {
                let at = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
                numbers(&rest[at..])
            }
            None => (number("VERSION"), number("PATCHLEVEL")),
        };
        let (Some(major), Some(minor)) = found else { return };
        let names: &[&str] = if point.is_some() { &["SUSE", "SuSE"] } else { &["SLES"] };
        self.flavor(&format!("SUSE_{major}"));
        self.put_hard(&format!("SuSE_{major}"), &tags("source=agent"));
        for name in names {
            self.put_hard(name, &tags(INVENTORY));
            self.put_hard(&format!("{name}_{major}"), &tags(INVENTORY));
            self.put_hard(&format!("{name}_{major}_{minor}"), &tags(INVENTORY));
        }
    }

    fn amazon(&mut self) {
        const FILE: &str = "/etc/system-release";
        let Some(line) = self.first_line(FILE).filter(|line| line.contains("Amazon")) else {
            return;
        };
        self.class_of("amazon_linux", FILE);
        // `Amazon Linux AMI release 2016.09`: the version was the fifth word when this was made.
        if let Some(version) = line.split_whitespace().nth(4) {
            self.class_of(&format!("amazon_linux_{}", canonify(version)), FILE);
        }
        self.flavor("AmazonLinux");
    }

    fn slackware(&mut self) {
        let Some(line) = self.first_line("/etc/slackware-version") else { return };
        self.put_hard("slackware", &tags(INVENTORY));
        let version = line.strip_prefix("Slackware ").unwrap_or_default();
        let mut name = "slackware".to_owned();
        for part in version.split('.').take(3) {
            let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
            if digits.is_empty() {
                break;
            }
            name = format!("{name}_{digits}");
            self.put_hard(&name, &tags(INVENTORY));
        }
    }

    fn debian(&mut self) {
        self.class_of("debian", DEBIAN);
        let Some(line) = self.first_line(DEBIAN) else { return };
        let (major, minor) = numbers(&line);
        match (major, minor) {
            (Some(major), minor) => {
                if let Some(minor) = minor {
                    self.class_of(&format!("debian_{major}_{minor}"), DEBIAN);
                }
                self.flavor(&format!("debian_{major}"));
            }
            (None, _) => {
                let version = line.split('/').next().unwrap_or_default();
                if !version.is_empty() {
                    self.class_of(&format!("debian_{version}"), DEBIAN);
                }
            }
        }
        let Some(issue) = self.first_line(ISSUE) else { return };
        let issue = without_escapes(&issue);
        let mut words = issue.split_whitespace();
        match words.next() {
            Some("Debian") => {
                // After two words, up to the first point or slash.
                let rest = issue.split_whitespace().skip(2).collect::<Vec<_>>().join(" ");
                let version = rest.split(['.', '/']).next().unwrap_or_default();
                self.class_of("debian", ISSUE);
                self.flavor(&format!("debian_{version}"));
            }
            Some("Ubuntu") => {
                let version = words.next().unwrap_or_default();
                let (major, rest) = version.split_once('.').unwrap_or((version, ""));
                self.flavor(&format!("ubuntu_{major}"));
                self.class_of("ubuntu", ISSUE);
                if minor.is_some() {
                    self.class_of(&format!("ubuntu_{major}_{rest}"), ISSUE);
                }
            }
            _ => {}
        }
    }

    fn alpine(&mut self) {
        const FILE: &str = "/etc/alpine-release";
        let Some(line) = self.first_line(FILE) else { return };
        self.class_of("alpine_linux", FILE);
        if let Some(version) = line.split_whitespace().next() {
            self.class_of(&format!("alpine_linux_{}", canonify(version)), FILE);
        }
        self.flavor("alpinelinux");
    }

    fn xen(&mut self) {
        let Ok(bytes) = self.host().read(&path("/proc/xen/capabilities")) else { return };
        let label = tags("inventory,attribute_name=Virtual host,source=agent");
        let host = crate::text::decode(&bytes).contains("control_d");
        self.put_hard("xen", &label);
        self.put_hard(if host { "xen_dom0" } else { "xen_domu_pv" }, &label);
    }

    fn name_for_people(&mut self) {
        let name = NAMES.iter().find(|(class, _)| self.hard.contains_key(*class));
        match name {
            Some((class, name)) => self.sys_tagged(
                "os_name_human",
                *name,
                &format!("source=agent,derived-from={class}"),
            ),
            None => self.sys("os_name_human", "Unknown"),
        }
        let flavor = self.vars.get("sys", "flavor").and_then(Found::scalar).unwrap_or_default();
        let from = flavor.find(|c: char| c.is_ascii_digit());
        let major = from.and_then(|at| numbers(&flavor[at..]).0).map(|major| major.to_string());
        match major {
            Some(major) => {
                self.sys_tagged("os_version_major", major, "source=agent,derived-from=flavor");
            }
            None => self.sys("os_version_major", "Unknown"),
        }
    }
}

/// The two numbers a text begins with; the second only after the first and a point.
fn numbers(text: &str) -> (Option<u32>, Option<u32>) {
    let number = |text: &str| -> Option<u32> {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        text[..end].parse().ok()
    };
    let text = text.trim_start();
    let first = number(text);
    let second = text.split_once('.').filter(|(whole, _)| whole.parse::<u32>().is_ok());
    (first, second.and_then(|(_, rest)| number(rest)))
}

/// A line of /etc/issue without what `getty` would fill in.
fn without_escapes(line: &str) -> String {
    let mut out = String::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\\' || c == '@' {
            chars.next();
        } else {
            out.push(c);
        }
    }
    out.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_as_far_as_it_is_numbers() {
        for (text, expected) in [
            ("7.9.2009 (Core)", (Some(7), Some(9))),
            ("39 (Thirty Nine)", (Some(39), None)),
            ("3 (x 1.2)", (Some(3), None)),
            ("12.11", (Some(12), Some(11))),
            ("trixie/sid", (None, None)),
            ("5.x", (Some(5), None)),
        ] {
            assert_eq!(numbers(text), expected, "{text}");
        }
    }

    #[test]
    fn an_issue_loses_what_getty_fills_in() {
        assert_eq!(without_escapes("Debian GNU/Linux 12 \\n \\l"), "Debian GNU/Linux 12");
    }
}
