//! Memory and swap, from /proc/meminfo.

use fx_host::Look;
use fx_value::Value;

use super::{fields, number};
use crate::text::{colon_value, read};

/// Amounts in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names are those of /proc/meminfo")]
pub struct Memory {
    pub total: u64,
    pub free: u64,
    pub available: u64,
    pub buffers: u64,
    pub cached: u64,
    pub swap_total: u64,
    pub swap_free: u64,
}

pub(crate) fn probe(host: &dyn Look) -> Memory {
    let text = read(host, "/proc/meminfo").unwrap_or_default();
    let bytes = |key| {
        colon_value(&text, key)
            .and_then(|value| value.strip_suffix(" kB")?.parse::<u64>().ok())
            .unwrap_or(0)
            * 1024
    };
    Memory {
        total: bytes("MemTotal"),
        free: bytes("MemFree"),
        available: bytes("MemAvailable"),
        buffers: bytes("Buffers"),
        cached: bytes("Cached"),
        swap_total: bytes("SwapTotal"),
        swap_free: bytes("SwapFree"),
    }
}

impl Memory {
    pub(crate) fn to_value(self) -> Value {
        fields([
            ("total", number(self.total)),
            ("available", number(self.available)),
            ("free", number(self.free)),
            ("buffers", number(self.buffers)),
            ("cached", number(self.cached)),
            ("swap_total", number(self.swap_total)),
            ("swap_free", number(self.swap_free)),
        ])
    }
}
