//! Whether a hypervisor or container surrounds us, and which.

use fx_host::Look;
use fx_value::Value;

use super::fields;
use crate::Facts;
use crate::text::read;

/// What surrounds us; `None` on bare metal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Virtualization {
    /// `docker`, `podman`, `lxc`, `systemd-nspawn`, `openvz`, `kubernetes`.
    pub container: Option<&'static str>,
    /// `kvm`, `vmware`, `virtualbox`, `xen`, `hyperv`, `qemu`, `firecracker`, `unknown`.
    pub hypervisor: Option<&'static str>,
}

impl Virtualization {
    /// The innermost surrounding, `physical` without one.
    pub fn kind(&self) -> &'static str {
        self.container.or(self.hypervisor).unwrap_or("physical")
    }

    pub(crate) fn to_value(&self) -> Value {
        fields([
            ("kind", Value::from(self.kind())),
            ("container", self.container.into()),
            ("hypervisor", self.hypervisor.into()),
        ])
    }
}

pub(crate) fn probe(host: &dyn Look, facts: &Facts<'_>) -> Virtualization {
    Virtualization { container: container(host), hypervisor: hypervisor(host, facts) }
}

fn container(host: &dyn Look) -> Option<&'static str> {
    let exists = |path: &str| host.exists(path.as_ref()).unwrap_or(false);
    let named = read(host, "/run/systemd/container").or_else(|| {
        let environment = read(host, "/proc/1/environ")?;
        environment.split('\0').find_map(|pair| pair.strip_prefix("container=")).map(str::to_owned)
    });
    let known = ["docker", "podman", "lxc", "systemd-nspawn", "openvz"];
    if let Some(name) = named {
        return Some(known.into_iter().find(|known| *known == name).unwrap_or("other"));
    }
    let groups = read(host, "/proc/1/cgroup").unwrap_or_default();
    let by_group =
        [("/docker", "docker"), ("/lxc", "lxc"), ("libpod", "podman"), ("kubepods", "kubernetes")];
    if exists("/.dockerenv") {
        Some("docker")
    } else if exists("/run/.containerenv") {
        Some("podman")
    } else if exists("/proc/vz") && !exists("/proc/bc") {
        Some("openvz")
    } else {
        by_group.iter().find(|(mark, _)| groups.contains(mark)).map(|(_, name)| *name)
    }
}

fn hypervisor(host: &dyn Look, facts: &Facts<'_>) -> Option<&'static str> {
    const BY_FIRMWARE: &[(&str, &str)] = &[
        ("VMware", "vmware"),
        ("VirtualBox", "virtualbox"),
        ("innotek", "virtualbox"),
        ("Xen", "xen"),
        ("Microsoft Corporation", "hyperv"),
        ("Amazon EC2", "kvm"),
        ("Google", "kvm"),
        ("OpenStack", "kvm"),
        ("RHEV", "kvm"),
        ("KVM", "kvm"),
        ("QEMU", "kvm"),
        ("Bochs", "kvm"),
        ("Parallels", "parallels"),
    ];
    if read(host, "/sys/hypervisor/type").as_deref() == Some("xen") {
        return Some("xen");
    }
    let firmware = ["sys_vendor", "product_name", "bios_vendor", "board_vendor"];
    let texts: Vec<&str> = firmware.iter().filter_map(|name| facts.dmi_value(name)).collect();
    // Hyper-V shares its maker with real hardware; its product is always a virtual machine.
    let matches = |mark: &str| {
        texts.iter().any(|text| text.contains(mark))
            && (mark != "Microsoft Corporation"
                || texts.iter().any(|text| text.contains("Virtual Machine")))
    };
    if let Some((_, name)) = BY_FIRMWARE.iter().find(|(mark, _)| matches(mark)) {
        return Some(name);
    }
    let virtual_cpu = facts.cpu().flags.iter().any(|flag| flag == "hypervisor");
    virtual_cpu.then(|| {
        if facts.cpu().models.first().is_some_and(|model| model.contains("QEMU")) {
            return "kvm";
        }
        // A machine without firmware to speak of still offers its guests a clock.
        let clocks = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
        let clocks = read(host, clocks).unwrap_or_default();
        let by_clock = [("kvm-clock", "kvm"), ("hyperv", "hyperv"), ("xen", "xen")];
        by_clock.iter().find(|(clock, _)| clocks.contains(clock)).map_or("unknown", |(_, it)| it)
    })
}
