//! Moments and spans read from text and written by formats. Names of days and months are
//! English, as in the original.

use fx_formats::strftime::translate;

use super::Evaluated;
use super::error::Flow;

const SECOND: i128 = 1_000_000_000;
const STAMP_FORMATS: [&str; 10] = [
    "%FT%T.%N %Z",
    "%FT%T %Z",
    "%F %T.%N %Z",
    "%F %T %Z",
    "%F %Z",
    "%FT%T.%N",
    "%FT%T",
    "%F %T.%N",
    "%F %T",
    "%F",
];
const SPAN_FORMATS: [&str; 8] = [
    "%D-%H:%M:%S.%-N",
    "%H:%M:%S.%-N",
    "%M:%S.%-N",
    "%S.%-N",
    "%D-%H:%M:%S",
    "%H:%M:%S",
    "%D-%H:%M",
    "%S",
];
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn number(&mut self, most: usize) -> Option<i64> {
        let digits = self.rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
        let number = self.rest[..digits].parse().ok()?;
        self.rest = &self.rest[digits..];
        Some(number)
    }

    fn fraction(&mut self) -> Option<i128> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let kept = &self.rest[..digits.min(9)];
        let number: i128 = kept.parse().ok()?;
        self.rest = &self.rest[digits..];
        Some(number * 10_i128.pow(9 - kept.len() as u32))
    }

    fn word(&mut self) -> String {
        let letters = self.rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let word = self.rest[..letters].to_ascii_lowercase();
        self.rest = &self.rest[letters..];
        word
    }

    fn literal(&mut self, c: char) -> Option<()> {
        if c.is_whitespace() {
            self.rest = self.rest.trim_start();
            return Some(());
        }
        self.rest = self.rest.strip_prefix(c)?;
        Some(())
    }
}

fn expanded(format: &str) -> String {
    format
        .replace("%F", "%Y-%m-%d")
        .replace("%T", "%H:%M:%S")
        .replace("%R", "%H:%M")
        .replace("%X", "%H:%M:%S")
        .replace("%c", "%a %b %e %H:%M:%S %Y")
}

fn stamp(text: &str, format: &str) -> Option<i128> {
    let mut reader = Reader { rest: text };
    let (mut year, mut month, mut day) = (1970, 1, 1);
    let (mut hour, mut minute, mut second, mut nanos, mut offset) = (0, 0, 0, 0_i128, 0_i64);
    let mut afternoon = None;
    let format = expanded(format);
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            reader.literal(c)?;
            continue;
        }
        let mut letter = chars.next()?;
        while matches!(letter, '-' | '0' | '^' | '_') || letter.is_ascii_digit() {
            letter = chars.next()?;
        }
        match letter {
            'Y' => year = reader.number(4)?,
            'y' => year = 2000 + reader.number(2)?,
            'm' => month = reader.number(2)?,
            'd' | 'e' => {
                reader.rest = reader.rest.trim_start();
                day = reader.number(2)?;
            }
            'H' | 'k' | 'I' | 'l' => hour = reader.number(2)?,
            'M' => minute = reader.number(2)?,
            'S' => second = reader.number(2)?,
            'L' | 'N' => nanos = reader.fraction()?,
            's' => return Some(i128::from(reader.number(12)?) * SECOND),
            'b' | 'B' | 'h' => {
                let word = reader.word();
                month = MONTHS.iter().position(|name| word.starts_with(name))? as i64 + 1;
            }
            'a' | 'A' => {
                reader.word();
            }
            'p' | 'P' => afternoon = Some(reader.word() == "pm"),
            'Z' | 'z' => {
                if let Some(sign) = reader.rest.chars().next().filter(|c| matches!(c, '+' | '-')) {
                    reader.rest = &reader.rest[1..];
                    let hours = reader.number(2)?;
                    reader.rest = reader.rest.trim_start_matches(':');
                    let minutes = reader.number(2).unwrap_or(0);
                    offset = (hours * 3600 + minutes * 60) * if sign == '-' { -1 } else { 1 };
                } else {
                    offset = match reader.word().as_str() {
                        "utc" | "gmt" | "z" => 0,
                        "est" => -5 * 3600,
                        "edt" => -4 * 3600,
                        "cst" => -6 * 3600,
                        "cdt" => -5 * 3600,
                        "mst" => -7 * 3600,
                        "mdt" => -6 * 3600,
                        "pst" => -8 * 3600,
                        "pdt" => -7 * 3600,
                        "cet" => 3600,
                        "cest" => 7200,
                        _ => return None,
                    };
                }
            }
            '%' => reader.literal('%')?,
            _ => return None,
        }
    }
    if !reader.rest.is_empty() {
        return None;
    }
    if let Some(afternoon) = afternoon {
        hour = hour % 12 + if afternoon { 12 } else { 0 };
    }
    if !(1..=31).contains(&day) {
        return None;
    }
    // A day that the month does not have is one of the next.
    let first =
        jiff::civil::Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, 1).ok()?;
    let date = first.checked_add(jiff::Span::new().days(day - 1)).ok()?;
    if hour > 24 || minute > 59 || second > 60 {
        return None;
    }
    let midnight = date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_second();
    Some(i128::from(midnight + hour * 3600 + minute * 60 + second - offset) * SECOND + nanos)
}

fn span(text: &str, format: &str) -> Option<i128> {
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
    let mut reader = Reader { rest: text };
    let mut total = 0_i128;
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            reader.literal(c)?;
            continue;
        }
        let mut letter = chars.next()?;
        while matches!(letter, '-' | '0' | '_') || letter.is_ascii_digit() {
            letter = chars.next()?;
        }
        total += match letter {
            'D' => i128::from(reader.number(9)?) * 86_400 * SECOND,
            'H' => i128::from(reader.number(9)?) * 3600 * SECOND,
            'M' => i128::from(reader.number(9)?) * 60 * SECOND,
            'S' => i128::from(reader.number(12)?) * SECOND,
            'L' | 'N' => reader.fraction()?,
            '%' => {
                reader.literal('%')?;
                0
            }
            _ => return None,
        };
    }
    reader.rest.is_empty().then_some(if negative { -total } else { total })
}

/// A moment, or a span where `spans`, by the formats given or the usual ones.
pub(crate) fn parse_time(text: &str, formats: &[String], spans: bool) -> Evaluated<i128> {
    let usual: Vec<String> = if spans { SPAN_FORMATS.iter() } else { STAMP_FORMATS.iter() }
        .map(|format| (*format).to_owned())
        .collect();
    let tried = if formats.is_empty() { &usual } else { formats };
    let read = if spans { span } else { stamp };
    if let Some(nanos) = tried.iter().find_map(|format| read(text, format)) {
        return Ok(nanos);
    }
    let shown = match tried {
        [only] => format!("format '{only}'"),
        all => format!("any of the formats {}", all.join(", ")),
    };
    let what = if spans { "timespan" } else { "timestamp" };
    Err(Flow::raw(if spans {
        format!("Unable to parse '{text}' using {shown}")
    } else {
        format!("Unable to parse '{text}' using {shown}").replace("timestamp", what)
    }))
}

/// How far a zone is ahead of UTC, in nanoseconds.
pub(crate) fn zone_offset(zone: &str) -> Evaluated<i128> {
    match stamp(&format!("1970-01-01 {zone}"), "%F %Z") {
        Some(nanos) => Ok(-nanos),
        None => Err(Flow::raw(format!("Illegal timezone '{zone}'"))),
    }
}

/// A moment by a format.
pub(crate) fn strftime(nanos: i128, format: &str, zone: Option<&str>) -> Evaluated<String> {
    let stamp =
        jiff::Timestamp::from_nanosecond(nanos).map_err(|error| Flow::raw(error.to_string()))?;
    let zone = match zone {
        None | Some("UTC" | "utc" | "") => jiff::tz::TimeZone::UTC,
        Some("current") => jiff::tz::TimeZone::system(),
        Some(name) => jiff::tz::TimeZone::get(name)
            .map_err(|_| Flow::raw(format!("Illegal timezone '{name}'")))?,
    };
    let fraction = nanos.rem_euclid(SECOND);
    let format = translate(format, &|directive| {
        let digits = match directive.letter {
            Some('L') => directive.width.unwrap_or(3),
            Some('N') => directive.width.unwrap_or(9),
            Some('c') => return Some("%a %b %e %H:%M:%S %Y".to_owned()),
            Some('x') => return Some("%m/%d/%y".to_owned()),
            Some('X') => return Some("%H:%M:%S".to_owned()),
            Some('Q') => return Some(format!("%{}", directive.text)),
            _ => return None,
        };
        // Ruby writes zeros for digits that are finer than a nanosecond.
        let nanos = format!("{fraction:09}");
        Some(nanos.chars().chain(std::iter::repeat('0')).take(digits.min(99)).collect())
    });
    let zoned = stamp.to_zoned(zone);
    jiff::fmt::strtime::format(&format, &zoned).map_err(|error| Flow::raw(error.to_string()))
}

/// A moment of the machine by a format, in UTC; nothing for one beyond all calendars.
pub fn strftime_of(secs: i64, nanos: u32, format: &str) -> String {
    strftime(i128::from(secs) * SECOND + i128::from(nanos), format, None).unwrap_or_default()
}

/// A span by a format. Each unit takes what larger ones in the format leave.
pub(crate) fn strfspan(nanos: i128, format: &str) -> Evaluated<String> {
    let parts = span_parts(format)?;
    let units: Vec<(char, u128)> = vec![
        ('D', 86_400_000_000_000),
        ('H', 3_600_000_000_000),
        ('M', 60_000_000_000),
        ('S', 1_000_000_000),
    ];
    let has = |letter: char| {
        parts.iter().any(|part| matches!(part, SpanPart::Field { letter: l, .. } if *l == letter))
    };
    let mut rest = nanos.unsigned_abs();
    let mut taken: Vec<(char, u128)> = Vec::new();
    for (letter, size) in units {
        if has(letter) {
            taken.push((letter, rest / size));
            rest %= size;
        }
    }
    let below_seconds = !taken.is_empty();
    let mut out = String::from(if nanos < 0 { "-" } else { "" });
    for part in &parts {
        match part {
            SpanPart::Text(text) => out.push_str(text),
            SpanPart::Field { letter, pad, width } => {
                let value =
                    taken.iter().find(|(known, _)| known == letter).map(|(_, value)| *value);
                let filled = |number: u128, usual: usize| {
                    let width = width.unwrap_or(usual);
                    match pad {
                        Some('-') => number.to_string(),
                        Some('_') => format!("{number:>width$}"),
                        _ => format!("{number:0>width$}"),
                    }
                };
                match (letter, value) {
                    ('D', Some(value)) => out.push_str(&filled(value, 1)),
                    (_, Some(value)) => out.push_str(&filled(value, 2)),
                    ('L', _) => out.push_str(&fraction(rest, below_seconds, 3, *pad, *width)),
                    _ => out.push_str(&fraction(
                        rest,
                        below_seconds,
                        width.unwrap_or(9),
                        *pad,
                        *width,
                    )),
                }
            }
        }
    }
    Ok(out)
}

enum SpanPart {
    Text(String),
    Field { letter: char, pad: Option<char>, width: Option<usize> },
}

fn span_parts(format: &str) -> Evaluated<Vec<SpanPart>> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut chars = format.chars().peekable();
    let mut at = 0;
    while let Some(c) = chars.next() {
        let start = at;
        at += 1;
        if c != '%' {
            text.push(c);
            continue;
        }
        let pad = chars.next_if(|c| matches!(c, '-' | '_' | '0'));
        let mut digits = String::new();
        while let Some(digit) = chars.next_if(char::is_ascii_digit) {
            digits.push(digit);
        }
        at += usize::from(pad.is_some()) + digits.len() + 1;
        match chars.next() {
            Some('%') => text.push('%'),
            Some(letter @ ('D' | 'H' | 'M' | 'S' | 'L' | 'N')) => {
                parts.push(SpanPart::Text(std::mem::take(&mut text)));
                let width = digits.parse().ok().filter(|width| *width < 1000);
                parts.push(SpanPart::Field { letter, pad, width });
            }
            _ => {
                let shown: String = format.chars().skip(start).take(at - start - 1).collect();
                return Err(Flow::raw(format!(
                    "Bad format specifier '{shown}' in '{format}', at position {}",
                    at - 1
                )));
            }
        }
    }
    parts.push(SpanPart::Text(text));
    Ok(parts)
}

/// What is left below a second, or all of the span where nothing larger is in the format.
fn fraction(
    nanos: u128,
    below_seconds: bool,
    digits: usize,
    pad: Option<char>,
    width: Option<usize>,
) -> String {
    let digits = digits.clamp(1, 9);
    let number = nanos / 10_u128.pow(9 - digits as u32);
    if !below_seconds {
        return number.to_string();
    }
    let text = format!("{number:0digits$}");
    if pad == Some('-') && width.is_none() {
        let short = text.trim_end_matches('0');
        return if short.is_empty() { "0".into() } else { short.into() };
    }
    text
}

/// The local time of a moment.
pub fn local_time(host: &dyn fx_host::Look, secs: i64) -> jiff::Zoned {
    let rules = match host.var("TZ".as_ref()) {
        Some(name) => {
            let name = name.to_string_lossy().trim_start_matches(':').to_owned();
            let zones = std::path::Path::new("/usr/share/zoneinfo");
            if name.contains("..") { None } else { host.read(&zones.join(name)).ok() }
        }
        None => host.read(std::path::Path::new("/etc/localtime")).ok(),
    };
    let zone = rules
        .and_then(|rules| jiff::tz::TimeZone::tzif("localtime", &rules).ok())
        .unwrap_or(jiff::tz::TimeZone::UTC);
    jiff::Timestamp::from_second(secs).unwrap_or_default().to_zoned(zone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_spans_are_read_and_written() {
        let stamp = parse_time("2016-01-02T03:04:05.678 UTC", &[], false);
        assert!(matches!(stamp, Ok(1_451_703_845_678_000_000)), "{stamp:?}");
        assert!(matches!(parse_time("10:20", &["%H:%M".to_owned()], true), Ok(37_200_000_000_000)));
        assert!(matches!(strftime(0, "%F %L", None).as_deref(), Ok("1970-01-01 000")));
        assert!(matches!(strftime(0, "%%L %2N", None).as_deref(), Ok("%L 00")));
        assert!(matches!(strfspan(90_061_000_000_000, "%D-%H:%M:%S").as_deref(), Ok("1-01:01:01")));
    }
}
