//! Times as the original prints them: in the local zone, to the second or below it.

use std::cell::Cell;

use fx_host::Look;
use fx_ruby::Vm;
use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

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

/// A moment in the local zone, in this form of `strftime`.
fn local(vm: &mut Vm, (secs, nanos): (i64, u32), form: &str) -> String {
    let offset = offset_at(vm, secs);
    shown((secs, nanos), offset, form).unwrap_or_default()
}

fn shown((secs, nanos): (i64, u32), offset: i64, form: &str) -> Option<String> {
    let zone = TimeZone::fixed(Offset::from_seconds(i32::try_from(offset).ok()?).ok()?);
    let at = Timestamp::new(secs, i32::try_from(nanos).ok()?).ok()?.to_zoned(zone);
    jiff::fmt::strtime::format(form, &at).ok()
}

/// Now, as a log line begins.
pub(crate) fn stamp(vm: &mut Vm, host: &dyn Look) -> String {
    let now = host.now();
    local(vm, (now.secs, 0), "%Y-%m-%dT%H:%M:%S%:z")
}

/// A moment as the heading of a difference shows it.
pub(crate) fn precise(vm: &mut Vm, moment: (i64, u32)) -> String {
    local(vm, moment, "%Y-%m-%d %H:%M:%S.%9f %z")
}

/// A length of time as the last line of a run prints it.
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
    fn moments_have_the_offset_of_their_zone() {
        let form = "%Y-%m-%d %H:%M:%S.%9f %z";
        for (moment, offset, expected) in [
            ((0, 0), 0, "1970-01-01 00:00:00.000000000 +0000"),
            ((951_782_400, 5), -19_800, "2000-02-28 18:30:00.000000005 -0530"),
            ((-1, 0), 7200, "1970-01-01 01:59:59.000000000 +0200"),
        ] {
            assert_eq!(shown(moment, offset, form).as_deref(), Some(expected));
        }
        let stamp = shown((0, 0), -3600, "%Y-%m-%dT%H:%M:%S%:z");
        assert_eq!(stamp.as_deref(), Some("1969-12-31T23:00:00-01:00"));
    }
}
