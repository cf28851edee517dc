//! What it costs to start: processor time and resident memory of the release binary.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::tidy::root;
use crate::usage;

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
    for args in [&["--version"][..], &["facts", "kernel"]] {
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

/// Processor milliseconds and peak kilobytes of one run.
///
/// The kernel's account of an ended child counts the memory of the program that started
/// it, so memory is read from /proc while the child waits to write into a full pipe.
fn measure(binary: &Path, args: &[&str]) -> Result<(f64, i64)> {
    let (mut reader, mut writer) = std::io::pipe()?;
    let full = vec![0; PIPE_CAPACITY];
    writer.write_all(&full)?;
    let child = Command::new(binary).args(args).stdout(writer).stderr(Stdio::null()).spawn()?;
    let rss = peak_when_writing(child.id())?;
    let mut output = Vec::new();
    reader.read_to_end(&mut output)?;
    if output.len() == full.len() {
        bail!("{} printed nothing", args.join(" "));
    }
    Ok((usage::wait(child.id())?.cpu_ms, rss))
}

/// What a pipe holds before a writer must wait, on Linux.
const PIPE_CAPACITY: usize = 64 * 1024;

fn peak_when_writing(pid: u32) -> Result<i64> {
    loop {
        let call = std::fs::read_to_string(format!("/proc/{pid}/syscall"))?;
        // System calls 1 and 20 are write and writev.
        if call.starts_with("1 0x1 ") || call.starts_with("20 0x1 ") {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
            let line =
                status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
            return Ok(line.trim().trim_end_matches(" kB").parse()?);
        }
        std::thread::yield_now();
    }
}
