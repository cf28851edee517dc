//! Providers of the types that are there without any module: their names, and which one acts.

use fx_host::Look;

/// The provider that acts for a type where none is given.
pub fn default_provider(host: &dyn Look, low: &str) -> Option<String> {
    let name = match low {
        "file" | "exec" => "posix",
        "user" => "useradd",
        "package" => return fx_resources::package::detect(host).ok().map(|one| one.name().into()),
        "service" => {
            let found = fx_resources::service::detect(host).ok()?;
            return Some(if found.name() == "sysv" { "init" } else { found.name() }.into());
        }
        "group" => "groupadd",
        "cron" => "crontab",
        "augeas" => "augeas",
        "yumrepo" => "inifile",
        "host" | "mount" | "ssh_authorized_key" | "sshkey" => "parsed",
        _ => return None,
    };
    Some(name.to_owned())
}

/// Providers of the original, by type.
const PROVIDERS: &[(&str, &[&str])] = &[
    ("exec", &["posix", "shell", "windows"]),
    ("file", &["posix", "windows"]),
    ("group", &["aix", "directoryservice", "groupadd", "ldap", "pw", "windows_adsi"]),
    (
        "package",
        &[
            "aix",
            "appdmg",
            "apple",
            "apt",
            "aptitude",
            "aptrpm",
            "blastwave",
            "dnf",
            "dnfmodule",
            "dpkg",
            "fink",
            "freebsd",
            "gem",
            "hpux",
            "macports",
            "nim",
            "openbsd",
            "opkg",
            "pacman",
            "pip",
            "pip2",
            "pip3",
            "pkg",
            "pkgdmg",
            "pkgin",
            "pkgng",
            "pkgutil",
            "portage",
            "ports",
            "portupgrade",
            "puppet_gem",
            "puppetserver_gem",
            "rpm",
            "rug",
            "sun",
            "sunfreeware",
            "tdnf",
            "up2date",
            "urpmi",
            "windows",
            "yum",
            "zypper",
            "apk",
        ],
    ),
    (
        "service",
        &[
            "base",
            "bsd",
            "daemontools",
            "debian",
            "freebsd",
            "gentoo",
            "init",
            "launchd",
            "openbsd",
            "openrc",
            "openwrt",
            "rcng",
            "redhat",
            "runit",
            "service",
            "smf",
            "src",
            "systemd",
            "upstart",
            "windows",
        ],
    ),
    (
        "user",
        &[
            "aix",
            "directoryservice",
            "hpuxuseradd",
            "ldap",
            "openbsd",
            "pw",
            "user_role_add",
            "useradd",
            "windows_adsi",
        ],
    ),
];

/// Providers of a type, in the order of their names.
pub fn providers(low: &str) -> Vec<&'static str> {
    let known = PROVIDERS.iter().find(|(kind, _)| *kind == low);
    let mut names = known.map(|(_, names)| names.to_vec()).unwrap_or_default();
    names.sort_unstable();
    names
}
