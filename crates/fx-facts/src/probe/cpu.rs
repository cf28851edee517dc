//! Processors, from /proc/cpuinfo.

use fx_host::Look;
use fx_value::Value;

use super::{fields, number};
use crate::text::{colon_value, read};

/// The processors of the machine.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Cpu {
    /// Model of each logical processor, in order.
    pub models: Vec<String>,
    /// Number of sockets.
    pub sockets: u64,
    /// Number of cores over all sockets.
    pub cores: u64,
    /// Clock of the first, in MHz, as stated.
    pub mhz: Option<f64>,
    /// Maker, such as `GenuineIntel`.
    pub vendor: Option<String>,
    /// Flags of the first, as the kernel names them.
    pub flags: Vec<String>,
    /// The rest of what the kernel says of the first: family, model number, stepping, cache.
    pub first: Vec<(String, String)>,
}

pub(crate) fn probe(host: &dyn Look) -> Cpu {
    let text = read(host, "/proc/cpuinfo").unwrap_or_default();
    let blocks: Vec<&str> =
        text.split("\n\n").filter(|block| colon_value(block, "processor").is_some()).collect();
    let pairs = |keys: &[&str]| {
        let ids = blocks
            .iter()
            .map(|block| keys.iter().map(|key| colon_value(block, key)).collect::<Vec<_>>());
        let mut ids: Vec<_> = ids.collect();
        ids.sort();
        ids.dedup();
        ids.len() as u64
    };
    let first = blocks.first().copied().unwrap_or_default();
    Cpu {
        models: blocks.iter().map(|block| model(block).to_owned()).collect(),
        sockets: pairs(&["physical id"]).max(1),
        cores: if colon_value(first, "core id").is_some() {
            pairs(&["physical id", "core id"])
        } else {
            blocks.len() as u64
        },
        mhz: colon_value(first, "cpu MHz").and_then(|text| text.parse().ok()),
        vendor: colon_value(first, "vendor_id").map(str::to_owned),
        flags: colon_value(first, "flags")
            .or_else(|| colon_value(first, "Features"))
            .unwrap_or_default()
            .split_whitespace()
            .map(str::to_owned)
            .collect(),
        first: first
            .lines()
            .filter_map(|line| line.split_once(':'))
            .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
            .collect(),
    }
}

fn model(block: &str) -> &str {
    colon_value(block, "model name")
        .or_else(|| colon_value(block, "cpu model"))
        .unwrap_or("unknown")
}

impl Cpu {
    pub(crate) fn to_value(&self) -> Value {
        fields([
            ("count", number(self.models.len() as u64)),
            ("cores", number(self.cores)),
            ("sockets", number(self.sockets)),
            ("model", self.models.first().map(String::as_str).into()),
            ("vendor", self.vendor.as_deref().into()),
            ("mhz", self.mhz.into()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sockets_with_two_cores_of_two_threads() {
        let host = fx_host::MemoryHost::new();
        let block = |n: u32| {
            format!(
                "processor\t: {n}\nmodel name\t: Fast\ncpu MHz\t: 2000.5\nphysical id\t: {}\ncore id\t: {}\n",
                n / 4,
                n % 4 / 2
            )
        };
        let text: Vec<String> = (0..8).map(block).collect();
        host.put("/proc/cpuinfo", text.join("\n").as_bytes());
        let cpu = probe(&host);
        assert_eq!((cpu.models.len(), cpu.sockets, cpu.cores, cpu.mhz), (8, 2, 4, Some(2000.5)));
    }
}
