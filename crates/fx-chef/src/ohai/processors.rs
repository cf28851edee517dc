//! Processors in ohai's shape: the table that `lscpu` makes of the kernel's files, made here.

use fx_facts::Facts;
use fx_host::Look;
use serde_json::{Map, Value as J, json};

use super::{first_line, names};

pub(super) fn add(host: &dyn Look, facts: &Facts<'_>, out: &mut Map<String, J>) {
    let cpu = facts.cpu();
    let said = |key: &str| cpu.first.iter().find(|(name, _)| name == key).map(|(_, value)| value);
    let machine = facts.kernel().machine.as_str();
    let (threads, sockets) = (cpu.models.len() as u64, cpu.sockets.max(1));
    let cores = cpu.cores.max(1);
    let mut flags: Vec<&str> = cpu.flags.iter().map(String::as_str).collect();
    flags.sort_unstable();
    let mut all = Map::new();
    all.insert("architecture".into(), json!(machine));
    if ["x86_64", "i686"].contains(&machine) {
        let modes: &[&str] =
            if flags.contains(&"lm") { &["32-bit", "64-bit"] } else { &["32-bit"] };
        all.insert("cpu_opmodes".into(), json!(modes));
    }
    let order = if cfg!(target_endian = "little") { "little endian" } else { "big endian" };
    all.insert("byte_order".into(), json!(order));
    if let Some(sizes) = said("address sizes") {
        all.insert("address_sizes".into(), json!(sizes.split(", ").collect::<Vec<_>>()));
    }
    all.insert("cpus".into(), json!(threads));
    // Of a machine with one processor none is reported as on line.
    all.insert("cpus_online".into(), json!(if threads == 1 { 0 } else { threads }));
    all.insert("threads_per_core".into(), json!((threads / cores).max(1)));
    all.insert("cores_per_socket".into(), json!(cores / sockets));
    all.insert("sockets".into(), json!(sockets));
    let mut each = Map::new();
    for (name, key) in [
        ("vendor_id", "vendor_id"),
        ("family", "cpu family"),
        ("model", "model"),
        ("model_name", "model name"),
        ("stepping", "stepping"),
        ("bogomips", "bogomips"),
    ] {
        if let Some(value) = said(key) {
            all.insert(name.into(), json!(value));
            each.insert(name.into(), json!(value));
        }
    }
    if let Some(vendor) = hypervisor(facts) {
        all.insert("hypervisor_vendor".into(), json!(vendor));
        all.insert("virtualization_type".into(), json!("full"));
    }
    all.insert("flags".into(), json!(flags));
    let (count, nodes) = numa(host);
    if count > 0 {
        all.insert("numa_nodes".into(), json!(count));
    }
    all.insert("numa_node_cpus".into(), J::Object(nodes));
    all.insert("vulnerability".into(), vulnerabilities(host));
    if let Some(size) = said("cache size") {
        each.insert("cache_size".into(), json!(size));
    }
    each.insert("cores".into(), json!((cores / sockets).to_string()));
    each.insert("flags".into(), json!(flags));
    for number in 0..cpu.models.len() {
        let mut one = each.clone();
        let topology = |file: &str| {
            first_line(host, &format!("/sys/devices/system/cpu/cpu{number}/topology/{file}"))
        };
        let socket = topology("physical_package_id").unwrap_or_else(|| "0".to_owned());
        let core = topology("core_id").unwrap_or_else(|| number.to_string());
        one.insert("physical_id".into(), json!(socket));
        one.insert("core_id".into(), json!(core));
        all.insert(number.to_string(), J::Object(one));
    }
    all.insert("total".into(), json!(threads));
    all.insert("real".into(), json!(sockets));
    all.insert("cores".into(), json!(cores));
    out.insert("cpu".into(), J::Object(all));
}

fn hypervisor(facts: &Facts<'_>) -> Option<&'static str> {
    Some(match facts.virtualization().hypervisor? {
        "kvm" | "qemu" | "firecracker" => "KVM",
        "vmware" => "VMware",
        "xen" => "Xen",
        "hyperv" => "Microsoft",
        "virtualbox" => "Oracle",
        "parallels" => "Parallels",
        _ => return None,
    })
}

/// The parts of memory and the processors next to each.
fn numa(host: &dyn Look) -> (usize, Map<String, J>) {
    let root = "/sys/devices/system/node";
    let nodes = names(host, root).into_iter().filter_map(|name| {
        let number = name.strip_prefix("node")?.parse::<u32>().ok()?;
        let list = first_line(host, &format!("{root}/{name}/cpulist")).unwrap_or_default();
        Some((number.to_string(), json!(numbers(&list))))
    });
    let nodes: Map<String, J> = nodes.collect();
    (nodes.len(), nodes)
}

/// The numbers of a list such as `0-3,8`.
fn numbers(list: &str) -> Vec<u32> {
    let parts = list.split(',').filter_map(|part| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        Some(from.parse::<u32>().ok()?..=to.parse::<u32>().ok()?)
    });
    parts.flatten().take(1 << 16).collect()
}

fn vulnerabilities(host: &dyn Look) -> J {
    let root = "/sys/devices/system/cpu/vulnerabilities";
    let each = names(host, root).into_iter().filter_map(|name| {
        let told = first_line(host, &format!("{root}/{name}"))?;
        // `lscpu` writes the first colon of a mitigation as a semicolon.
        let told = told.replacen("Mitigation: ", "Mitigation; ", 1);
        Some((name, json!(told)))
    });
    J::Object(each.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_numbers_have_ranges() {
        for (list, expected) in
            [("0-3,8", vec![0, 1, 2, 3, 8]), ("0", vec![0]), ("", vec![]), ("a-2,5", vec![5])]
        {
            assert_eq!(numbers(list), expected, "{list}");
        }
    }
}
