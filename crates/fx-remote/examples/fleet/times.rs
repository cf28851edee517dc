//! How long things took.

use std::time::Duration;

/// Median, the slowest hundredth and the slowest of all, in milliseconds.
pub(crate) fn shown(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |part: f64| {
        let place = (times.len() as f64 * part) as usize;
        times.get(place.min(times.len().saturating_sub(1))).copied().unwrap_or_default()
    };
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    format!("p50 {:.1} ms, p99 {:.1} ms, most {:.1} ms", ms(at(0.5)), ms(at(0.99)), ms(at(1.0)))
}

/// Memory of a process now, in MB.
pub(crate) fn memory(pid: usize) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kb| kb.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}
