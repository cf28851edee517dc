//! What the machine runs in, by Facter's names.

use fx_facts::Facts;
use fx_host::Look;
use fx_value::{Map, Value};

use super::{map, read, text_of};

/// `physical`, or the name of what surrounds the machine. The mark that Docker leaves in the
/// root is not looked at.
pub(super) fn kind<'f>(host: &dyn Look, facts: &'f Facts<'_>) -> &'f str {
    let found = facts.virtualization();
    let grouped = || {
        let groups = read(host, "/proc/1/cgroup").unwrap_or_default();
        let named = read(host, "/proc/1/environ").unwrap_or_default();
        groups.contains("docker") || named.contains("container=")
    };
    let kind = match found.container {
        Some("docker") if !grouped() => found.hypervisor.unwrap_or("physical"),
        Some("systemd-nspawn") => "systemd_nspawn",
        _ => found.kind(),
    };
    let there = |path: &str| host.exists(path.as_ref()).unwrap_or(false);
    // Devices of virtio give KVM away where the firmware says nothing.
    let virtio = || host.list("/sys/bus/virtio/devices".as_ref()).is_ok_and(|all| !all.is_empty());
    match kind {
        "kvm" if firmware(facts, "bios_vendor").contains("Google") => "gce",
        "unknown" if virtio() => "kvm",
        "xen" if there("/dev/xen/evtchn") => "xen0",
        "xen" if there("/proc/xen") => "xenu",
        "xen" => "xenhvm",
        kind => kind,
    }
}

fn firmware(facts: &Facts<'_>, name: &str) -> String {
    facts.dmi_value(name).unwrap_or_default().to_owned()
}

/// The hypervisor, with what is known of it.
pub(super) fn hypervisors(host: &dyn Look, facts: &Facts<'_>) -> Value {
    let only = |name: &str, value: Value| -> Value { [(name, value)].into_iter().collect() };
    let maker = firmware(facts, "sys_vendor");
    match kind(host, facts) {
        "kvm" | "gce" => {
            let cloud = [("Google", "google"), ("OpenStack", "openstack"), ("Amazon", "amazon")]
                .into_iter()
                .find(|(prefix, _)| maker.starts_with(prefix));
            let known = cloud.map(|(_, name)| (name, Value::Bool(true)));
            only("kvm", known.into_iter().collect())
        }
        name @ ("hyperv" | "virtualbox" | "vmware") => only(name, Value::Map(Map::new())),
        name @ ("xen0" | "xenu" | "xenhvm") => {
            let whole = firmware(facts, "product_name").contains("HVM domU");
            let context = text_of(if whole { "hvm" } else { "pv" });
            let privileged = Value::Bool(name == "xen0");
            only("xen", map([("context", context), ("privileged", privileged)]))
        }
        _ => Value::Undef,
    }
}

#[cfg(test)]
mod tests {
    use fx_host::MemoryHost;

    use super::*;

    #[test]
    fn the_firmware_names_the_hypervisor_and_the_cloud() {
        let table = [
            ("QEMU", "Standard PC", "SeaBIOS", "kvm", r#"{"kvm":{}}"#),
            ("Amazon EC2", "t3.micro", "Amazon EC2", "kvm", r#"{"kvm":{"amazon":true}}"#),
            ("Google", "Google Compute Engine", "Google", "gce", r#"{"kvm":{"google":true}}"#),
            ("VMware, Inc.", "VMware7,1", "VMware", "vmware", r#"{"vmware":{}}"#),
            ("Xen", "HVM domU", "Xen", "xenhvm", r#"{"xen":{"context":"hvm","privileged":false}}"#),
            ("Dell Inc.", "PowerEdge R640", "Dell Inc.", "physical", "null"),
        ];
        for (maker, product, bios, virt, expected) in table {
            let host = MemoryHost::linux();
            for (file, text) in
                [("sys_vendor", maker), ("product_name", product), ("bios_vendor", bios)]
            {
                host.put(format!("/sys/class/dmi/id/{file}"), text);
            }
            let facts = Facts::new(&host);
            assert_eq!(kind(&host, &facts), virt, "{maker}");
            assert_eq!(hypervisors(&host, &facts).to_json().to_string(), expected, "{maker}");
        }
    }
}
