//! Connections of known services, as lists for people to read, and how evenly they are spread.

use std::collections::BTreeMap;
use std::path::Path;

use fx_host::{Edits, Files, HostError, OsHost, WriteOptions};

use super::ports::Ports;
use super::slots::SERVICES;

/// A list that is longer than the new one is kept for so long, in seconds.
const KEPT: i64 = 40 * 60;
/// What the original says of packets that it does not look at.
const UNSEEN: [&str; 2] = ["entropy_misc_in_low", "entropy_misc_out_low"];
const HIGH: f64 = 0.9;
const LOW: f64 = 0.2;

const DIRECTIONS: [(&str, &str, usize); 2] = [("incoming", "in", 0), ("outgoing", "out", 1)];

fn private() -> WriteOptions {
    WriteOptions { mode: Some(0o600), ..WriteOptions::default() }
}

/// Empties all lists: what an earlier monitor saw is no news.
pub(in super::super) fn begin(host: &OsHost, state: &Path) -> Result<(), HostError> {
    for (name, ..) in SERVICES {
        for (stem, ..) in DIRECTIONS {
            host.write(&state.join(format!("cf_{stem}.{name}")), b"", &private())?;
        }
    }
    host.write(&state.join("cf_users"), b"", &private())
}

/// Saves what is longer than the list before, or what follows one that is old; classes that say
/// how evenly addresses are spread in what was saved.
pub(in super::super) fn save(
    host: &OsHost,
    state: &Path,
    ports: &Ports,
    now: i64,
) -> Result<Vec<String>, HostError> {
    let mut classes = Vec::new();
    for (stem, word, offset) in DIRECTIONS {
        for (name, _, slot) in SERVICES {
            let lines = ports.connections.get(&(slot + offset)).map_or(&[][..], Vec::as_slice);
            let file = state.join(format!("cf_{stem}.{name}"));
            let old = host.stat_opt(&file)?;
            let size: usize = lines.iter().map(String::len).sum();
            // Ends of lines do not count in the new list, so that one as long as the old is shorter.
            let is_smaller = |old: &fx_host::Meta| (size as u64) < old.size;
            if old.is_some_and(|old| is_smaller(&old) && now < old.mtime.secs + KEPT) {
                continue;
            }
            let spread = level(entropy(lines.iter().map(|line| cut_address(line))));
            classes.push(format!("entropy_{}_{word}_{spread}", name.replace('-', "_")));
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            host.write(&file, text.as_bytes(), &private())?;
        }
    }
    classes.extend(UNSEEN.map(str::to_owned));
    Ok(classes)
}

// The address that the original takes from a line of the kernel's table: the second word, which is
// the local one, without its last digits and what stands before them.
fn cut_address(line: &str) -> &str {
    let word = line.split_ascii_whitespace().nth(1).unwrap_or_default();
    let rest = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let end = if rest.is_empty() { usize::from(!word.is_empty()) } else { rest.len() };
    word.get(..end.saturating_sub(1)).unwrap_or_default()
}

// 0 where all are the same, 1 where none is preferred.
fn entropy<'a>(items: impl Iterator<Item = &'a str>) -> f64 {
    let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
    for item in items {
        *counts.entry(item).or_default() += 1.0;
    }
    if counts.len() < 2 {
        return 0.0;
    }
    let sum: f64 = counts.values().sum();
    let spread: f64 = counts.values().map(|count| -(count / sum) * (count / sum).ln()).sum();
    spread / (counts.len() as f64).ln()
}

fn level(entropy: f64) -> &'static str {
    if entropy > HIGH {
        "high"
    } else if entropy < LOW {
        "low"
    } else {
        "medium"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Lines of the lists that cf-monitord 3.21 saved, and the classes that it set with them.
    #[test]
    fn addresses_are_spread_as_the_original_says() {
        let listens = "   0: 00000000:0016 00000000:0000 0A 00000000:00000000";
        let line = |local: &str| format!("  13: {local} 0200007F:CB2D 01 00000000:00000000");
        let incoming = |count: usize| {
            let others = (0..count).map(|_| line("0100007F:0016"));
            std::iter::once(listens.to_owned()).chain(others).collect::<Vec<_>>()
        };
        let outgoing = ["0200007F:CB2D", "0300007F:B841", "0400007F:B923"].map(line).to_vec();
        let table = [
            (Vec::new(), "low"),
            (incoming(0), "low"),
            (incoming(3), "medium"),
            (incoming(30), "medium"),
            (incoming(40), "low"),
            (outgoing, "high"),
        ];
        for (lines, expected) in table {
            let found = level(entropy(lines.iter().map(|line| cut_address(line))));
            assert_eq!(found, expected, "{lines:?}");
        }
        assert_eq!(cut_address(&line("0200007F:CB2D")), "0200007F:CB2");
        assert_eq!(cut_address(&line("0200007F:1F90")), "0200007F:1");
        assert_eq!(cut_address(listens), "00000000");
        assert_eq!(cut_address("x"), "");
    }
}
