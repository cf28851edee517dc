//! Text that nothing on the machine stands behind: names of temporary files with a fixed date, process ids
//! counted from our own. A message must name what is there.

/// Counting from a process id.
const NEIGHBOURS: &[&str] = &["pid() + ", "pid()) + ", ".pid + ", "getpid + "];

/// The lines with such text, from 1, and what it is.
pub(crate) fn check<'a>(
    code: impl Iterator<Item = (usize, &'a str)>,
) -> impl Iterator<Item = String> {
    code.filter_map(|(number, line)| {
        let what = if is_dated_name(line.as_bytes()) {
            "a temporary name with a fixed date"
        } else if NEIGHBOURS.iter().any(|sum| line.contains(sum)) {
            "a process id that is counted from another"
        } else {
            return None;
        };
        Some(format!("line {}: {what} is invented", number + 1))
    })
}

/// Whether a line has a day and a number, as in `20240101-1`, the beginning of Ruby's temporary names.
fn is_dated_name(line: &[u8]) -> bool {
    line.windows(10).any(|part| {
        let (day, rest) = part.split_at(8);
        day.starts_with(b"20")
            && day.iter().all(u8::is_ascii_digit)
            && rest[0] == b'-'
            && rest[1].is_ascii_digit()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_dates_and_neighbours_of_processes_are_found() {
        let found = |line| check([(6, line)].into_iter()).next();
        assert!(found(r#"format!("{path}20240101-1-abcdef.lock")"#).unwrap().contains("line 7: a"));
        assert!(found("let pid = i64::from(host.pid()) + 1;").is_some());
        assert!(found("status([nil, Process.pid + 1])").is_some());
        assert!(found(r#"format!("{}-{}", day.strftime("%Y%m%d"), look.pid())"#).is_none());
        assert!(found("\"2024-01-01 20240101 12345678-1\"").is_none());
    }
}
