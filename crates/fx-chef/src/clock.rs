//! Times as the original prints them: in the local zone, to the second or below it.

use std::cell::Cell;

use fx_host::Look;
use fx_ruby::Vm;

/// Year to second and offset of a moment in the local zone.
struct Civil {
    date: String,
    time: String,
    offset: i64,
}

thread_local! {
    /// The quarter of an hour that was asked for last, and the offset in it: offsets change
    /// on such quarters only.
    static LAST: Cell<Option<(i64, i64)>> = const { Cell::new(None) };
}

fn offset_at(vm: &mut Vm, secs: i64) -> i64 {
    let quarter = secs.div_euclid(900);
    match LAST.get() {
        Some((known, offset)) if known == quarter => offset,
        _ => {
            let (offset, _, _) = vm.local_zone(secs);
            LAST.set(Some((quarter, offset)));
            offset
        }
    }
}

fn civil(vm: &mut Vm, secs: i64) -> Civil {
    let offset = offset_at(vm, secs);
    let local = secs + offset;
    let days = local.div_euclid(86_400);
    let rest = local.rem_euclid(86_400);
    // Civil date from days since 1970, by the usual era arithmetic.
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + i64::from(month <= 2);
    Civil {
        date: format!("{year:04}-{month:02}-{day:02}"),
        time: format!("{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60),
        offset,
    }
}

fn zone(offset: i64, colon: &str) -> String {
    let (sign, by) = if offset < 0 { ('-', -offset) } else { ('+', offset) };
    format!("{sign}{:02}{colon}{:02}", by / 3600, by / 60 % 60)
}

/// Now, as a log line begins.
pub(crate) fn stamp(vm: &mut Vm, host: &dyn Look) -> String {
    let at = civil(vm, host.now().secs);
    format!("{}T{}{}", at.date, at.time, zone(at.offset, ":"))
}

/// A moment as the heading of a difference shows it.
pub(crate) fn precise(vm: &mut Vm, (secs, nanos): (i64, u32)) -> String {
    let at = civil(vm, secs);
    format!("{} {}.{nanos:09} {}", at.date, at.time, zone(at.offset, ""))
}

/// A length of time as the last line of a run tells it.
pub(crate) fn elapsed(secs: u64) -> String {
    let (hours, minutes, secs) = (secs / 3600, secs / 60 % 60, secs % 60);
    match (hours, minutes) {
        (0, 0) => format!("{secs:02} seconds"),
        (0, _) => format!("{minutes:02} minutes {secs:02} seconds"),
        _ => format!("{hours:02} hours {minutes:02} minutes {secs:02} seconds"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_name_only_the_units_they_need() {
        for (secs, expected) in [
            (0, "00 seconds"),
            (61, "01 minutes 01 seconds"),
            (3600, "01 hours 00 minutes 00 seconds"),
        ] {
            assert_eq!(elapsed(secs), expected);
        }
    }

    #[test]
    fn offsets_have_a_sign() {
        assert_eq!(zone(-19_800, ":"), "-05:30");
        assert_eq!(zone(7200, ""), "+0200");
    }
}
