//! Resource types built in and their parameters. A table; it knows no behaviour.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use crate::regex::Regex;

/// Parameters that every resource has.
pub(crate) const METAPARAMETERS: &[&str] = &[
    "alias",
    "audit",
    "before",
    "loglevel",
    "noop",
    "notify",
    "require",
    "schedule",
    "stage",
    "subscribe",
    "tag",
];

const KINDS: &[(&str, &[&str])] = &[
    (
        "augeas",
        &[
            "changes",
            "context",
            "force",
            "incl",
            "lens",
            "load_path",
            "name",
            "onlyif",
            "provider",
            "returns",
            "root",
            "show_diff",
            "type_check",
        ],
    ),
    ("component", &["name"]),
    (
        "cron",
        &[
            "command",
            "ensure",
            "environment",
            "hour",
            "minute",
            "month",
            "monthday",
            "name",
            "provider",
            "special",
            "target",
            "user",
            "weekday",
        ],
    ),
    (
        "exec",
        &[
            "command",
            "creates",
            "cwd",
            "environment",
            "group",
            "logoutput",
            "onlyif",
            "path",
            "provider",
            "refresh",
            "refreshonly",
            "returns",
            "timeout",
            "tries",
            "try_sleep",
            "umask",
            "unless",
            "user",
        ],
    ),
    (
        "file",
        &[
            "backup",
            "checksum",
            "checksum_value",
            "content",
            "ctime",
            "ensure",
            "force",
            "group",
            "ignore",
            "links",
            "max_files",
            "mode",
            "mtime",
            "owner",
            "path",
            "provider",
            "purge",
            "recurse",
            "recurselimit",
            "replace",
            "selinux_ignore_defaults",
            "selrange",
            "selrole",
            "seltype",
            "seluser",
            "show_diff",
            "source",
            "source_permissions",
            "sourceselect",
            "staging_location",
            "target",
            "type",
            "validate_cmd",
            "validate_replacement",
        ],
    ),
    ("filebucket", &["name", "path", "port", "server"]),
    (
        "group",
        &[
            "allowdupe",
            "attribute_membership",
            "attributes",
            "auth_membership",
            "ensure",
            "forcelocal",
            "gid",
            "ia_load_module",
            "members",
            "name",
            "provider",
            "system",
        ],
    ),
    ("host", &["comment", "ensure", "host_aliases", "ip", "name", "provider", "target"]),
    (
        "mount",
        &[
            "atboot",
            "blockdevice",
            "device",
            "dump",
            "ensure",
            "fstype",
            "name",
            "options",
            "pass",
            "provider",
            "remounts",
            "target",
        ],
    ),
    ("notify", &["message", "name", "withpath"]),
    (
        "package",
        &[
            "adminfile",
            "allow_virtual",
            "allowcdrom",
            "category",
            "command",
            "configfiles",
            "description",
            "enable_only",
            "ensure",
            "flavor",
            "install_only",
            "install_options",
            "instance",
            "mark",
            "name",
            "package_settings",
            "platform",
            "provider",
            "reinstall_on_refresh",
            "responsefile",
            "root",
            "source",
            "status",
            "uninstall_options",
            "vendor",
        ],
    ),
    ("resources", &["name", "purge", "unless_system_user", "unless_uid"]),
    ("schedule", &["name", "period", "periodmatch", "range", "repeat", "weekday"]),
    ("selboolean", &["name", "persistent", "provider", "value"]),
    ("selmodule", &["ensure", "name", "provider", "selmoduledir", "selmodulepath", "syncversion"]),
    (
        "service",
        &[
            "binary",
            "control",
            "enable",
            "ensure",
            "flags",
            "hasrestart",
            "hasstatus",
            "logonaccount",
            "logonpassword",
            "manifest",
            "name",
            "path",
            "pattern",
            "provider",
            "restart",
            "start",
            "status",
            "stop",
            "timeout",
        ],
    ),
    (
        "ssh_authorized_key",
        &[
            "drop_privileges",
            "ensure",
            "key",
            "name",
            "options",
            "provider",
            "target",
            "type",
            "user",
        ],
    ),
    ("sshkey", &["ensure", "host_aliases", "key", "name", "provider", "target", "type"]),
    ("stage", &["name"]),
    (
        "tidy",
        &["age", "backup", "matches", "max_files", "path", "recurse", "rmdirs", "size", "type"],
    ),
    (
        "user",
        &[
            "allowdupe",
            "attribute_membership",
            "attributes",
            "auth_membership",
            "auths",
            "comment",
            "ensure",
            "expiry",
            "forcelocal",
            "gid",
            "groups",
            "home",
            "ia_load_module",
            "iterations",
            "key_membership",
            "keys",
            "loginclass",
            "managehome",
            "membership",
            "name",
            "password",
            "password_max_age",
            "password_min_age",
            "password_warn_days",
            "profile_membership",
            "profiles",
            "project",
            "provider",
            "purge_ssh_keys",
            "role_membership",
            "roles",
            "salt",
            "shell",
            "system",
            "uid",
        ],
    ),
    ("whit", &["name"]),
    (
        "yumrepo",
        &[
            "assumeyes",
            "bandwidth",
            "baseurl",
            "cost",
            "deltarpm_metadata_percentage",
            "deltarpm_percentage",
            "descr",
            "enabled",
            "enablegroups",
            "ensure",
            "exclude",
            "failovermethod",
            "failure_on_error",
            "gpgcakey",
            "gpgcheck",
            "gpgkey",
            "http_caching",
            "include",
            "includepkgs",
            "keepalive",
            "metadata_expire",
            "metalink",
            "mirrorlist",
            "mirrorlist_expire",
            "module_hotfixes",
            "name",
            "password",
            "payload_gpgcheck",
            "priority",
            "protect",
            "provider",
            "proxy",
            "proxy_password",
            "proxy_username",
            "repo_gpgcheck",
            "retries",
            "s3_enabled",
            "skip_if_unavailable",
            "sslcacert",
            "sslclientcert",
            "sslclientkey",
            "sslverify",
            "target",
            "throttle",
            "timeout",
            "username",
        ],
    ),
];

/// What the compiler must know of a resource type that is not written in the language.
#[derive(Debug, Default)]
pub(crate) struct Kind {
    /// Names of parameters and properties.
    pub(crate) parameters: FxHashSet<Rc<str>>,
    /// What makes one resource differ from another.
    pub(crate) keys: Vec<Rc<str>>,
    /// How a title is taken apart; the whole of it is the key where there is none.
    pub(crate) patterns: Vec<(Regex, Vec<Rc<str>>)>,
    /// Whether two resources with the same key are the same thing.
    pub(crate) isomorphic: bool,
    /// Whether the key is a path, for which slashes at the end mean nothing.
    pub(crate) is_path: bool,
    /// Whether its code is Ruby from a module.
    pub(crate) is_ruby: bool,
}

impl Kind {
    /// The one parameter that is the title where none is given.
    pub(crate) fn namevar(&self) -> &str {
        match self.keys.as_slice() {
            [only] => only,
            _ => "name",
        }
    }

    /// What a title says of parameters; `None` if no pattern fits.
    pub(crate) fn parse_title(&self, title: &str) -> Option<Vec<(Rc<str>, Rc<str>)>> {
        if self.is_path {
            let bare = title.trim_end_matches('/');
            let bare = if bare.is_empty() && !title.is_empty() { "/" } else { bare };
            return Some(vec![("path".into(), bare.into())]);
        }
        if self.patterns.is_empty() {
            return Some(vec![(self.namevar().into(), title.into())]);
        }
        for (pattern, names) in &self.patterns {
            if let Ok(Some(captures)) = pattern.captures(title) {
                return Some(
                    names
                        .iter()
                        .enumerate()
                        .filter_map(|(at, name)| {
                            let text = captures.get(at + 1)?.clone()?;
                            Some((Rc::clone(name), text.into()))
                        })
                        .collect(),
                );
            }
        }
        None
    }
}

/// A type built in, by its name in lower case.
pub(crate) fn built_in(low: &str) -> Option<Kind> {
    let (_, parameters) = KINDS.iter().find(|(name, _)| *name == low)?;
    let keys: &[&str] = match low {
        "file" | "tidy" => &["path"],
        "exec" => &["command"],
        "package" => &["name", "provider"],
        "sshkey" => &["name", "type"],
        _ => &["name"],
    };
    let patterns = match low {
        "package" => vec![(Regex::new(r"(?m)\A(.*)\Z"), vec!["name".into()])],
        _ => Vec::new(),
    };
    Some(Kind {
        parameters: parameters.iter().map(|name| Rc::from(*name)).collect(),
        keys: keys.iter().map(|name| Rc::from(*name)).collect(),
        patterns,
        isomorphic: !matches!(low, "exec" | "notify" | "tidy" | "whit" | "component"),
        is_path: low == "file",
        is_ruby: false,
    })
}

/// Names of all types built in.
pub(crate) fn built_in_names() -> Vec<&'static str> {
    KINDS.iter().map(|(name, _)| *name).collect()
}

/// Whether every resource has this parameter.
pub(crate) fn is_metaparameter(name: &str) -> bool {
    METAPARAMETERS.contains(&name)
}
