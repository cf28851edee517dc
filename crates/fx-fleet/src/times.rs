//! Times as queries write them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Milliseconds since 1970 of a time, written as ISO 8601 or nearly so.
pub fn parse(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time.as_millisecond());
    }
    let zoned =
        |civil: jiff::civil::DateTime| Some(civil.to_zoned(TimeZone::UTC).ok()?.timestamp());
    let time = match text.parse::<jiff::civil::DateTime>() {
        Ok(civil) => zoned(civil),
        Err(_) => zoned(
            text.parse::<jiff::civil::Date>().ok()?.to_datetime(jiff::civil::Time::midnight()),
        ),
    };
    Some(time?.as_millisecond())
}

/// `2026-01-10T10:00:00.000Z`.
pub fn shown(milliseconds: i64) -> String {
    at(milliseconds).strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

fn at(milliseconds: i64) -> jiff::Zoned {
    Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::MAX).to_zoned(TimeZone::UTC)
}

/// Words of PostgreSQL's templates; a longer one comes before what it begins with.
const WORDS: &[(&str, &str)] = &[
    ("YYYY", "%Y"),
    ("YY", "%y"),
    ("MONTH", "%B"),
    ("MON", "%b"),
    ("MM", "%m"),
    ("MI", "%M"),
    ("MS", "%3f"),
    ("DAY", "%A"),
    ("DDD", "%j"),
    ("DD", "%d"),
    ("DY", "%a"),
    ("D", "%w"),
    ("HH24", "%H"),
    ("HH12", "%I"),
    ("HH", "%I"),
    ("SS", "%S"),
    ("IW", "%V"),
    ("AM", "%p"),
    ("PM", "%p"),
    ("FM", ""),
];

/// A time by a template of PostgreSQL's `to_char`.
pub(crate) fn by_template(milliseconds: i64, template: &str) -> String {
    let time = at(milliseconds);
    let (mut rest, mut shown) = (template, String::new());
    while let Some(first) = rest.chars().next() {
        match WORDS.iter().find(|(word, _)| rest.starts_with(word)) {
            Some((word, form)) => {
                let part = time.strftime(form).to_string();
                shown.push_str(&if matches!(*word, "DAY" | "MONTH" | "DY" | "MON") {
                    part.to_uppercase()
                } else {
                    part
                });
                rest = &rest[word.len()..];
            }
            None => {
                shown.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_written() {
        for (text, wanted) in [
            ("2026-01-10T10:00:00.123Z", "2026-01-10T10:00:00.123Z"),
            ("2026-01-10T10:00:00+02:00", "2026-01-10T08:00:00.000Z"),
            ("2026-01-10T10:00:00.123456789Z", "2026-01-10T10:00:00.123Z"),
            ("2026-01-10T10:00:00", "2026-01-10T10:00:00.000Z"),
            ("2026-01-10", "2026-01-10T00:00:00.000Z"),
        ] {
            assert_eq!(parse(text).map(shown).as_deref(), Some(wanted), "{text}");
        }
        assert_eq!(parse("soon"), None);
        let time = parse("2026-01-10T17:05:00Z").unwrap_or_default();
        assert_eq!(by_template(time, "YYYY-MM-DD HH24:MI, FMDAY"), "2026-01-10 17:05, SATURDAY");
    }
}
