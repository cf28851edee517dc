//! Schedules: whether a resource may have its turn now, by period, range and weekday.
//!
//! When a resource last had its turn is kept by [`super::state`].

use fx_puppet::text::interpolated;
use fx_puppet::{Catalog, Resource};
use jiff::Zoned;

use super::attributes::{list, text};

/// Hour, minute and second.
type Clock = [i64; 3];

/// When something may be done.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Schedule {
    period: Option<String>,
    /// Two times differ by hour, day, week or month, not by their distance.
    by_number: bool,
    repeat: i64,
    ranges: Vec<(Clock, Clock)>,
    weekdays: Vec<i64>,
}

/// Schedules that are there without being declared.
const STANDARD: [&str; 6] = ["puppet", "hourly", "daily", "weekly", "monthly", "never"];

impl Schedule {
    /// The schedule of a resource; an error where it names one that is not there.
    pub(super) fn of(catalog: &Catalog, resource: &Resource) -> Result<Option<Schedule>, String> {
        let Some(name) = text(resource, "schedule") else { return Ok(None) };
        if let Some(at) = catalog.find("schedule", &name) {
            return Schedule::read(&catalog.resources[at]).map(Some);
        }
        if !STANDARD.contains(&name.as_str()) {
            return Err(format!("Could not find schedule {name}"));
        }
        Ok(Some(match name.as_str() {
            "puppet" => {
                Schedule { period: Some("hourly".into()), repeat: 2, ..Schedule::default() }
            }
            _ => Schedule { period: Some(name), repeat: 1, ..Schedule::default() },
        }))
    }

    /// A declared schedule.
    pub(super) fn read(resource: &Resource) -> Result<Schedule, String> {
        let failed = |attribute: &str, why: String| {
            format!("Parameter {attribute} failed on {}: {why}", resource.reference())
        };
        let period = text(resource, "period");
        if let Some(period) = &period
            && !["hourly", "daily", "weekly", "monthly", "never"].contains(&period.as_str())
        {
            let why = format!(
                "Invalid value {period:?}. Valid values are hourly, daily, weekly, monthly, never."
            );
            return Err(failed("period", why));
        }
        let repeat = match text(resource, "repeat") {
            Some(number) => match number.parse::<i64>() {
                Ok(number) if number > 0 => number,
                _ => return Err(failed("repeat", "Repeat must be a number".into())),
            },
            None => 1,
        };
        let mut ranges = Vec::new();
        for range in list(resource, "range") {
            let range = interpolated(&range);
            let wrong = || failed("range", format!("Invalid range value '{range}'"));
            let (from, to) = range.split_once('-').ok_or_else(wrong)?;
            match (clock(from), clock(to)) {
                (Some(from), Some(to)) => ranges.push((from, to)),
                _ => return Err(wrong()),
            }
        }
        let mut weekdays = Vec::new();
        for day in list(resource, "weekday") {
            let day = interpolated(&day);
            let Some(number) = weekday(&day) else {
                return Err(failed("weekday", format!("{day} is not a valid day of the week")));
            };
            weekdays.push(number);
        }
        let by_number = text(resource, "periodmatch").as_deref() == Some("number");
        Ok(Schedule { period, by_number, repeat, ranges, weekdays })
    }

    /// Whether it is time, when the last time was then.
    pub(super) fn allows(&self, last: &Zoned, now: &Zoned) -> bool {
        self.in_range(now) && self.in_period(last, now) && self.on_weekday(now)
    }

    fn is_day(&self, day: i64) -> bool {
        self.weekdays.is_empty() || self.weekdays.contains(&day)
    }

    fn on_weekday(&self, now: &Zoned) -> bool {
        !self.ranges.is_empty() || self.is_day(day_of(now))
    }

    fn in_range(&self, now: &Zoned) -> bool {
        let seconds = |[hour, minute, second]: Clock| hour * 3600 + minute * 60 + second;
        let at = seconds([i64::from(now.hour()), i64::from(now.minute()), i64::from(now.second())]);
        let today = day_of(now);
        let holds = |(from, to): &(Clock, Clock)| {
            let (from, to) = (seconds(*from), seconds(*to));
            if from < to {
                (from..=to).contains(&at) && self.is_day(today)
            } else if at >= from {
                self.is_day(today)
            } else {
                // After midnight the day the range began on counts.
                at <= to && self.is_day((today + 6) % 7)
            }
        };
        self.ranges.is_empty() || self.ranges.iter().any(holds)
    }

    fn in_period(&self, last: &Zoned, now: &Zoned) -> bool {
        let Some(period) = self.period.as_deref() else { return true };
        let distance = now.timestamp().as_second() - last.timestamp().as_second();
        if self.by_number {
            return match period {
                "hourly" => now.hour() != last.hour(),
                "daily" => now.day() != last.day(),
                "weekly" => day_of(last) > day_of(now) || distance > 7 * 86400,
                "monthly" => now.month() != last.month(),
                _ => false,
            };
        }
        let scale = match period {
            "hourly" => 3600,
            "daily" => 86400,
            "weekly" => 604_800,
            "monthly" => 2_592_000,
            _ => return false,
        };
        distance >= scale / self.repeat
    }
}

/// Days from Sunday on.
fn day_of(time: &Zoned) -> i64 {
    i64::from(time.weekday().to_sunday_zero_offset())
}

/// `4`, `4:30` or `4:30:10`.
fn clock(text: &str) -> Option<Clock> {
    let mut out = [0; 3];
    let mut count = 0;
    for (at, part) in text.trim().split(':').enumerate() {
        *out.get_mut(at)? = part.parse().ok()?;
        count += 1;
    }
    ((1..=3).contains(&count) && (0..24).contains(&out[0]) && (0..60).contains(&out[1]))
        .then_some(out)
}

fn weekday(text: &str) -> Option<i64> {
    const NAMES: [(&str, &str); 7] = [
        ("sun", "sunday"),
        ("mon", "monday"),
        ("tue", "tuesday"),
        ("wed", "wednesday"),
        ("thu", "thursday"),
        ("fri", "friday"),
        ("sat", "saturday"),
    ];
    if let Ok(number @ 0..=6) = text.parse() {
        return Some(number);
    }
    let low = text.to_lowercase();
    let is_day = |(short, long): &(&str, &str)| low.starts_with(short) && long.starts_with(&low);
    NAMES.iter().position(is_day).map(|at| at as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Zoned {
        let time: jiff::Timestamp = text.parse().unwrap();
        time.to_zoned(jiff::tz::TimeZone::UTC)
    }

    fn check(schedule: &Schedule, last: &str, now: &str, expected: bool) {
        assert_eq!(schedule.allows(&at(last), &at(now)), expected, "{schedule:?} {last} {now}");
    }

    #[test]
    fn periods_are_distances_divided_by_repeat_or_numbers() {
        let mut plan = Schedule { period: Some("hourly".into()), repeat: 2, ..Schedule::default() };
        check(&plan, "2026-01-01T10:00:00Z", "2026-01-01T10:29:59Z", false);
        check(&plan, "2026-01-01T10:00:00Z", "2026-01-01T10:30:00Z", true);
        plan.by_number = true;
        check(&plan, "2026-01-01T10:59:00Z", "2026-01-01T11:00:00Z", true);
        plan.period = Some("never".into());
        check(&plan, "1970-01-01T00:00:00Z", "2026-01-01T11:00:00Z", false);
        plan.period = Some("weekly".into());
        check(&plan, "2026-01-03T10:00:00Z", "2026-01-04T10:00:00Z", true);
        check(&plan, "2026-01-04T10:00:00Z", "2026-01-05T10:00:00Z", false);
    }

    #[test]
    fn ranges_may_cross_midnight_and_belong_to_the_day_they_began_on() {
        let night = Schedule {
            repeat: 1,
            ranges: vec![([22, 0, 0], [4, 0, 0])],
            weekdays: vec![6],
            ..Schedule::default()
        };
        let last = "2026-01-01T00:00:00Z";
        check(&night, last, "2026-01-03T23:00:00Z", true);
        check(&night, last, "2026-01-04T02:00:00Z", true);
        check(&night, last, "2026-01-03T02:00:00Z", false);
        check(&night, last, "2026-01-03T12:00:00Z", false);
    }

    #[test]
    fn clocks_and_days_are_read_as_written() {
        assert_eq!(clock(" 4:30 "), Some([4, 30, 0]));
        assert_eq!(clock("24"), None);
        assert_eq!(weekday("Tues"), Some(2));
        assert_eq!(weekday("6"), Some(6));
        assert_eq!(weekday("noday"), None);
    }
}
