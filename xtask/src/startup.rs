//! What it costs to start: processor time and resident memory of the release binary.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::tidy::root;

/// Processor time and memory a start may cost, and the size of the binary.
const MAX_CPU_MS: f64 = 5.0;
const MAX_RSS_KB: i64 = 8 * 1024;
const MAX_BINARY: u64 = 25 << 20;

const ROUNDS: usize = 50;

pub(crate) fn run() -> Result<()> {
    let target =
        std::env::var("CARGO_TARGET_DIR").map_or_else(|_| root().join("target"), Into::into);
    let binary = target.join("release/fixpoint");
    let size = std::fs::metadata(&binary)
        .with_context(|| format!("{}: build it with cargo build --release", binary.display()))?
        .len();
    println!("binary: {:.1} MB (limit {} MB)", size as f64 / 1e6, MAX_BINARY >> 20);
    let mut good = size <= MAX_BINARY;
    for args in [&["--version"][..], &["facts", "kernel"], &["cf-agent", "--version"]] {
        let mut samples = Vec::new();
        for _ in 0..ROUNDS {
            samples.push(measure(&binary, args)?);
        }
        samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (cpu, rss) =
            (samples[ROUNDS / 2].0, samples.iter().map(|(_, rss)| *rss).max().unwrap_or(0));
        println!(
            "fixpoint {}: {cpu:.2} ms processor time (median of {ROUNDS}, limit {MAX_CPU_MS}), {:.1} MB resident (most, limit {})",
            args.join(" "),
            rss as f64 / 1024.0,
            MAX_RSS_KB / 1024
        );
        good &= cpu < MAX_CPU_MS && rss < MAX_RSS_KB;
    }
    if !good {
        bail!("over a limit");
    }
    Ok(())
}

/// Processor milliseconds and peak kilobytes of one run, as the kernel counted them.
fn measure(binary: &std::path::Path, args: &[&str]) -> Result<(f64, i64)> {
    let child = Command::new(binary).args(args).stdout(std::process::Stdio::null()).spawn()?;
    wait4(child.id())
}

#[expect(unsafe_code, reason = "the standard library does not tell what a child used")]
fn wait4(pid: u32) -> Result<(f64, i64)> {
    let mut status = 0;
    // SAFETY: the structure is plain numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers outlive the call, and the child is ours and not waited for.
    let done = unsafe { libc::wait4(pid as i32, &raw mut status, 0, &raw mut usage) };
    if done < 0 || status != 0 {
        bail!("the program failed");
    }
    let ms = |time: libc::timeval| time.tv_sec as f64 * 1e3 + time.tv_usec as f64 / 1e3;
    Ok((ms(usage.ru_utime) + ms(usage.ru_stime), usage.ru_maxrss))
}
