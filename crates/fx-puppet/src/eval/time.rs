//! Moments and spans read from text and written by formats. Names of days and months are
//! English, as in the original.

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
    let date = jiff::civil::Date::new(
        i16::try_from(year).ok()?,
        i8::try_from(month).ok()?,
        i8::try_from(day).ok()?,
    )
    .ok()?;
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
    let format = format
        .replace("%L", &format!("{:03}", fraction / 1_000_000))
        .replace("%N", &format!("{fraction:09}"))
        .replace("%3N", &format!("{:03}", fraction / 1_000_000));
    let zoned = stamp.to_zoned(zone);
    jiff::fmt::strtime::format(&format, &zoned).map_err(|error| Flow::raw(error.to_string()))
}

/// A span by a format.
pub(crate) fn strfspan(nanos: i128, format: &str) -> Evaluated<String> {
    let has = |letter: char| {
        format.contains(&format!("%{letter}")) || format.contains(&format!("%-{letter}"))
    };
    let magnitude = nanos.unsigned_abs();
    let seconds = (magnitude / SECOND as u128) as u64;
    let fraction = (magnitude % SECOND as u128) as u64;
    let mut rest = seconds;
    let mut take = |used: bool, size: u64| {
        if used {
            let part = rest / size;
            rest %= size;
            part
        } else {
            0
        }
    };
    let days = take(has('D'), 86_400);
    let hours = take(has('H'), 3600);
    let minutes = take(has('M'), 60);
    let seconds = take(true, 1);
    let mut out = String::from(if nanos < 0 { "-" } else { "" });
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut bare = false;
        let mut letter = chars.next().unwrap_or('%');
        if letter == '-' {
            bare = true;
            letter = chars.next().unwrap_or('%');
        }
        let two = |number: u64| if bare { number.to_string() } else { format!("{number:02}") };
        match letter {
            'D' => out.push_str(&days.to_string()),
            'H' => out.push_str(&two(hours)),
            'M' => out.push_str(&two(minutes)),
            'S' => out.push_str(&two(seconds)),
            'L' => out.push_str(&format!("{:03}", fraction / 1_000_000)),
            'N' if bare => {
                let digits = format!("{fraction:09}");
                let digits = digits.trim_end_matches('0');
                out.push_str(if digits.is_empty() { "0" } else { digits });
            }
            'N' => out.push_str(&format!("{fraction:09}")),
            '%' => out.push('%'),
            other => {
                return Err(Flow::raw(format!("Bad format specifier '%{other}' in '{format}'")));
            }
        }
    }
    Ok(out)
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
        assert!(matches!(strfspan(90_061_000_000_000, "%D-%H:%M:%S").as_deref(), Ok("1-01:01:01")));
    }
}
