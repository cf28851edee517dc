//! What the kernel and the configuration say of SELinux.

use fx_host::Look;
use fx_value::Value;

use super::{map, read, text_of};

pub(super) fn selinux(host: &dyn Look) -> Value {
    let mounts = read(host, "/proc/self/mounts").unwrap_or_default();
    let place = mounts
        .lines()
        .find(|line| line.contains("selinuxfs"))
        .and_then(|line| line.split_whitespace().nth(1));
    let config = read(host, "/etc/selinux/config").unwrap_or_default();
    let (Some(place), false) = (place, config.is_empty()) else {
        return map([("enabled", Value::Bool(false))]);
    };
    let value = |key: &str| -> Value {
        let last = config.lines().rev().find_map(|line| line.strip_prefix(key));
        last.map(|value| value.rsplit('=').next().unwrap_or(value).trim()).into()
    };
    let enforced = read(host, &format!("{place}/enforce")).as_deref() == Some("1");
    map([
        ("config_mode", value("SELINUX=")),
        ("config_policy", value("SELINUXTYPE=")),
        ("current_mode", text_of(if enforced { "enforcing" } else { "permissive" })),
        ("enabled", Value::Bool(true)),
        ("enforced", Value::Bool(enforced)),
        ("policy_version", read(host, &format!("{place}/policyvers")).into()),
    ])
}

#[cfg(test)]
mod tests {
    use fx_host::MemoryHost;

    use super::*;

    #[test]
    fn it_is_on_where_its_file_system_is_mounted_and_configured() {
        let host = MemoryHost::linux();
        assert_eq!(selinux(&host).to_json(), serde_json::json!({"enabled": false}));
        host.put("/proc/self/mounts", "selinuxfs /sys/fs/selinux selinuxfs rw 0 0\n");
        assert_eq!(selinux(&host).to_json(), serde_json::json!({"enabled": false}));
        host.put("/etc/selinux/config", "# mode\nSELINUX=enforcing\nSELINUXTYPE=targeted\n");
        host.put("/sys/fs/selinux/enforce", "1");
        host.put("/sys/fs/selinux/policyvers", "33");
        assert_eq!(
            selinux(&host).to_json(),
            serde_json::json!({
                "config_mode": "enforcing", "config_policy": "targeted",
                "current_mode": "enforcing", "enabled": true, "enforced": true,
                "policy_version": "33",
            })
        );
    }
}
