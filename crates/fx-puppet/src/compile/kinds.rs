//! Resource types built in and their parameters. A table; it knows no behaviour.

const META: &[&str] = &[
    "alias", "audit", "before", "loglevel", "noop", "notify", "require", "schedule", "stage", "subscribe", "tag",
];

const KINDS: &[(&str, &[&str])] = &[
    ("augeas", &["changes", "context", "force", "incl", "lens", "load_path", "name", "onlyif", "provider", "returns", "root", "show_diff", "type_check"]),
    ("component", &["name"]),
    ("cron", &["command", "ensure", "environment", "hour", "minute", "month", "monthday", "name", "provider", "special", "target", "user", "weekday"]),
    ("exec", &["command", "creates", "cwd", "environment", "group", "logoutput", "onlyif", "path", "provider", "refresh", "refreshonly", "returns", "timeout", "tries", "try_sleep", "umask", "unless", "user"]),
    ("file", &["backup", "checksum", "checksum_value", "content", "ctime", "ensure", "force", "group", "ignore", "links", "max_files", "mode", "mtime", "owner", "path", "provider", "purge", "recurse", "recurselimit", "replace", "selinux_ignore_defaults", "selrange", "selrole", "seltype", "seluser", "show_diff", "source", "source_permissions", "sourceselect", "staging_location", "target", "type", "validate_cmd", "validate_replacement"]),
    ("filebucket", &["name", "path", "port", "server"]),
    ("group", &["allowdupe", "attribute_membership", "attributes", "auth_membership", "ensure", "forcelocal", "gid", "ia_load_module", "members", "name", "provider", "system"]),
    ("host", &["comment", "ensure", "host_aliases", "ip", "name", "provider", "target"]),
    ("mount", &["atboot", "blockdevice", "device", "dump", "ensure", "fstype", "name", "options", "pass", "provider", "remounts", "target"]),
    ("notify", &["message", "name", "withpath"]),
    ("package", &["adminfile", "allow_virtual", "allowcdrom", "category", "configfiles", "description", "enable_only", "ensure", "flavor", "install_only", "install_options", "instance", "mark", "name", "package_settings", "platform", "provider", "reinstall_on_refresh", "responsefile", "root", "source", "status", "uninstall_options", "vendor"]),
    ("resources", &["name", "purge", "unless_system_user", "unless_uid"]),
    ("schedule", &["name", "period", "periodmatch", "range", "repeat", "weekday"]),
    ("selboolean", &["name", "persistent", "provider", "value"]),
    ("selmodule", &["ensure", "name", "provider", "selmoduledir", "selmodulepath", "syncversion"]),
    ("service", &["binary", "control", "enable", "ensure", "flags", "hasrestart", "hasstatus", "logonaccount", "logonpassword", "manifest", "name", "path", "pattern", "provider", "restart", "start", "status", "stop", "timeout"]),
    ("ssh_authorized_key", &["drop_privileges", "ensure", "key", "name", "options", "provider", "target", "type", "user"]),
    ("sshkey", &["ensure", "host_aliases", "key", "name", "provider", "target", "type"]),
    ("stage", &["name"]),
    ("tidy", &["age", "backup", "matches", "path", "recurse", "rmdirs", "size", "type"]),
    ("user", &["allowdupe", "attribute_membership", "attributes", "auth_membership", "auths", "comment", "ensure", "expiry", "forcelocal", "gid", "groups", "home", "ia_load_module", "iterations", "key_membership", "keys", "loginclass", "managehome", "membership", "name", "password", "password_max_age", "password_min_age", "password_warn_days", "profile_membership", "profiles", "project", "provider", "purge_ssh_keys", "role_membership", "roles", "salt", "shell", "system", "uid"]),
    ("whit", &["name"]),
    ("yumrepo", &["assumeyes", "bandwidth", "baseurl", "cost", "deltarpm_metadata_percentage", "deltarpm_percentage", "descr", "enabled", "enablegroups", "ensure", "exclude", "failovermethod", "failure_on_error", "gpgcakey", "gpgcheck", "gpgkey", "http_caching", "include", "includepkgs", "keepalive", "metadata_expire", "metalink", "mirrorlist", "mirrorlist_expire", "module_hotfixes", "name", "password", "payload_gpgcheck", "priority", "protect", "provider", "proxy", "proxy_password", "proxy_username", "repo_gpgcheck", "retries", "s3_enabled", "skip_if_unavailable", "sslcacert", "sslclientcert", "sslclientkey", "sslverify", "target", "throttle", "timeout", "username"]),
];

/// Parameters of a type built in, by its name in lower case.
pub(crate) fn parameters_of(kind: &str) -> Option<&'static [&'static str]> {
    KINDS.iter().find(|(name, _)| *name == kind).map(|(_, parameters)| *parameters)
}

/// Whether every resource has this parameter.
pub(crate) fn is_metaparameter(name: &str) -> bool {
    META.contains(&name)
}
