//! Memory in ohai's shape, from the kernel's own table.

use fx_host::Look;
use serde_json::{Map, Value as J, json};

use super::text;

/// Lines of `/proc/meminfo` that ohai names, with its own names.
const NAMES: [(&str, &str); 24] = [
    ("MemTotal", "total"),
    ("MemFree", "free"),
    ("MemAvailable", "available"),
    ("Buffers", "buffers"),
    ("Cached", "cached"),
    ("Active", "active"),
    ("Inactive", "inactive"),
    ("Dirty", "dirty"),
    ("Writeback", "writeback"),
    ("AnonPages", "anon_pages"),
    ("Mapped", "mapped"),
    ("Slab", "slab"),
    ("SReclaimable", "slab_reclaimable"),
    ("SUnreclaim", "slab_unreclaim"),
    ("PageTables", "page_tables"),
    ("NFS_Unstable", "nfs_unstable"),
    ("Bounce", "bounce"),
    ("CommitLimit", "commit_limit"),
    ("Committed_AS", "committed_as"),
    ("VmallocTotal", "vmalloc_total"),
    ("VmallocUsed", "vmalloc_used"),
    ("VmallocChunk", "vmalloc_chunk"),
    ("Hugepagesize", "hugepage_size"),
    ("Hugetlb", "hugetlb"),
];

pub(super) fn add(host: &dyn Look, out: &mut Map<String, J>) {
    let info = text(host, "/proc/meminfo").unwrap_or_default();
    let rows: Vec<(&str, String)> = info
        .lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(key, rest)| (key, rest.split_whitespace().collect()))
        .collect();
    let group = |names: &[(&str, &str)]| -> Map<String, J> {
        let known = names.iter().filter_map(|(name, ours)| {
            let (_, value) = rows.iter().find(|(key, _)| key == name)?;
            Some(((*ours).to_owned(), json!(value)))
        });
        known.collect()
    };
    let mut memory = group(&NAMES);
    for (name, names) in [
        ("swap", &[("SwapCached", "cached"), ("SwapTotal", "total"), ("SwapFree", "free")][..]),
        (
            "hugepages",
            &[
                ("HugePages_Total", "total"),
                ("HugePages_Free", "free"),
                ("HugePages_Rsvd", "reserved"),
                ("HugePages_Surp", "surplus"),
            ],
        ),
        ("directmap", &[("DirectMap4k", "4k"), ("DirectMap2M", "2M"), ("DirectMap1G", "1G")]),
    ] {
        memory.insert(name.into(), J::Object(group(names)));
    }
    out.insert("memory".into(), J::Object(memory));
}
