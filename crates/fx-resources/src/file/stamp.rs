//! Dates for backup names, without a locale and without a time zone of the process.

use fx_host::Time;

/// A moment taken apart.
pub(super) struct Civil {
    pub(super) year: i64,
    pub(super) month: u32,
    pub(super) day: u32,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
}

/// The date and time at an offset from UTC in seconds.
pub(super) fn civil(time: Time, offset: i32) -> Civil {
    let secs = time.secs + i64::from(offset);
    let days = secs.div_euclid(86_400);
    let rest = secs.rem_euclid(86_400);
    // Counting years from March makes the leap day the last of its year.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let month = (month_from_march + 2) % 12 + 1;
    Civil {
        year: year_of_era + era * 400 + i64::from(month <= 2),
        month: month as u32,
        day: (day_of_year - (153 * month_from_march + 2) / 5 + 1) as u32,
        hour: rest / 3_600,
        minute: rest % 3_600 / 60,
        second: rest % 60,
    }
}

/// Digits only, to the microsecond: `20260101000000.000000`.
pub(super) fn compact(time: Time, offset: i32) -> String {
    let Civil { year, month, day, hour, minute, second, .. } = civil(time, offset);
    let micros = time.nanos / 1_000;
    format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}.{micros:06}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let at = |secs| compact(Time::from_secs(secs), 0);
        assert_eq!(at(0), "19700101000000.000000");
        assert_eq!(at(951_827_696), "20000229123456.000000");
        assert_eq!(at(1_767_225_599), "20251231235959.000000");
        assert_eq!(at(-1), "19691231235959.000000");
        assert_eq!(compact(Time::from_secs(0), 3600), "19700101010000.000000");
        let time = Time { secs: 1_767_225_600, nanos: 123_456_789 };
        assert_eq!(compact(time, 0), "20260101000000.123456");
    }
}
