//! The Ruby that ships with this crate, by the names it is loaded under.

use fx_ruby::Shipped;

macro_rules! sources {
    ($($name:literal),* $(,)?) => {
        /// Each file with its image.
        pub(crate) static SOURCES: &[Shipped] = &[$(Shipped {
            name: concat!("chef/", $name, ".rb"),
            text: include_str!(concat!("../prelude/", $name, ".rb")),
            image: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".rb")),
        }),*];
    };
}

sources! {
    "action_class",
    "application",
    "attributes",
    "client",
    "collection",
    "config",
    "cookbook",
    "core",
    "cron_shared",
    "data",
    "decorator",
    "definition",
    "delayed",
    "digester",
    "dist",
    "dsl",
    "dsl_more",
    "dump",
    "encrypted",
    "erubis",
    "events",
    "exceptions",
    "file_cache",
    "formatters",
    "gems",
    "guard",
    "handler",
    "handler_more",
    "http",
    "json_compat",
    "log",
    "lwrp",
    "mash",
    "mixin",
    "mixin_more",
    "mixin_shell_out",
    "mixin_template",
    "node",
    "node_map",
    "ohai",
    "params_validate",
    "paths",
    "platform",
    "property",
    "provider",
    "r_apt_package",
    "r_apt_preference",
    "r_apt_repository",
    "r_apt_update",
    "r_archive_file",
    "r_bash",
    "r_breakpoint",
    "r_chef_client_cron",
    "r_chef_gem",
    "r_chef_handler",
    "r_chef_sleep",
    "r_cookbook_file",
    "r_cron",
    "r_cron_access",
    "r_cron_d",
    "r_csh",
    "r_directory",
    "r_dnf_package",
    "r_dpkg_package",
    "r_execute",
    "r_file",
    "r_gem_package",
    "r_git",
    "r_group",
    "r_hostname",
    "r_http_request",
    "r_kernel_module",
    "r_ksh",
    "r_link",
    "r_log",
    "r_mount",
    "r_notify_group",
    "r_ohai",
    "r_ohai_hint",
    "r_package",
    "r_perl",
    "r_python",
    "r_reboot",
    "r_remote_directory",
    "r_remote_file",
    "r_rpm_package",
    "r_ruby",
    "r_ruby_block",
    "r_script",
    "r_service",
    "r_sudo",
    "r_sysctl",
    "r_systemd_unit",
    "r_template",
    "r_timezone",
    "r_user",
    "r_user_linux_user",
    "r_user_ulimit",
    "r_whyrun_safe_ruby_block",
    "r_yum_package",
    "r_yum_repository",
    "r_zypper_package",
    "recipe",
    "resource",
    "role",
    "run_context",
    "run_list",
    "runner",
    "shell_out",
    "stubs",
    "util",
    "utils",
    "version",
}

/// With the `live-prelude` feature the texts come from the directory in
/// `FIXPOINT_CHEF_PRELUDE`, so that Ruby can be worked on without a build.
#[cfg(feature = "live-prelude")]
pub(crate) fn sources(host: &dyn fx_host::Host) -> &'static [Shipped] {
    let Some(dir) = host.var(std::ffi::OsStr::new("FIXPOINT_CHEF_PRELUDE")) else { return SOURCES };
    let dir = std::path::PathBuf::from(dir);
    let mut list = Vec::new();
    for entry in host.list(&dir).unwrap_or_default() {
        let name = entry.name.to_string_lossy().into_owned();
        if !name.ends_with(".rb") {
            continue;
        }
        let text = host.read(&dir.join(&name)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        list.push(Shipped {
            name: Box::leak(format!("chef/{name}").into_boxed_str()),
            text: Box::leak(text.into_boxed_str()),
            image: &[],
        });
    }
    Box::leak(list.into_boxed_slice())
}

/// The texts built in.
#[cfg(not(feature = "live-prelude"))]
pub(crate) fn sources(_: &dyn fx_host::Host) -> &'static [Shipped] {
    SOURCES
}
