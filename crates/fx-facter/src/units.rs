//! Amounts for people, rounded as Facter rounds them.

/// `0 bytes`, `4.00 KiB`, `23.54 GiB`.
pub(super) fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
    if count < 1024 {
        return format!("{count} bytes");
    }
    let mut amount = count as f64;
    let mut unit = 0;
    // An amount that would round up to 1024 belongs to the next unit.
    while unit + 1 < UNITS.len() && (amount * 100.0).round() / 100.0 >= 1024.0 {
        amount /= 1024.0;
        unit += 1;
    }
    format!("{amount:.2} {}", UNITS[unit])
}

/// `22.44%`; an empty whole counts as used up.
pub(super) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "100%".to_owned();
    }
    if part == 0 {
        return "0%".to_owned();
    }
    format!("{:.2}%", part as f64 * 100.0 / whole as f64)
}

/// `2.45 GHz` from megahertz.
pub(super) fn hertz(mhz: f64) -> String {
    if mhz >= 1000.0 { format!("{:.2} GHz", mhz / 1000.0) } else { format!("{mhz:.2} MHz") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_rounded_as_the_original_does() {
        // Recorded from facter 4.3.0.
        let table = [
            (0, "0 bytes"),
            (4096, "4.00 KiB"),
            (25_274_793_984, "23.54 GiB"),
            (1_057_566_720, "1008.57 MiB"),
            (274_877_906_944, "256.00 GiB"),
        ];
        for (count, expected) in table {
            assert_eq!(bytes(count), expected);
        }
        assert_eq!(percent(21_896_941_568, 21_896_941_568 + 75_675_807_744), "22.44%");
        assert_eq!((percent(0, 5), percent(0, 0)), ("0%".to_owned(), "100%".to_owned()));
        assert_eq!(hertz(2449.998), "2.45 GHz");
    }
}
