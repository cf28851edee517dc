//! Calendar time in the machine's zone: fields, formatting, and back.

use fx_formats::strftime::translate;
use jiff::civil;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::eval::Context;
use crate::text::{os, path};

fn zone(ctx: &Context<'_>) -> TimeZone {
    ctx.zone.get_or_init(|| find_zone(ctx)).clone()
}

fn find_zone(ctx: &Context<'_>) -> TimeZone {
    let named = ctx
        .host()
        .var(&os("TZ"))
        .map(|name| crate::text::decode(std::os::unix::ffi::OsStrExt::as_bytes(name.as_os_str())));
    let file = match named.as_deref() {
        Some("" | "UTC" | "UTC0" | "GMT") => return TimeZone::UTC,
        Some(name) if name.starts_with('/') => name.to_owned(),
        Some(name) => {
            if let Ok(zone) = TimeZone::posix(name) {
                return zone;
            }
            format!("/usr/share/zoneinfo/{}", name.trim_start_matches(':'))
        }
        None => "/etc/localtime".to_owned(),
    };
    ctx.host()
        .read(&path(&file))
        .ok()
        .and_then(|bytes| TimeZone::tzif("local", &bytes).ok())
        .unwrap_or(TimeZone::UTC)
}

/// A moment in the local zone or in UTC.
pub(crate) fn zoned(ctx: &Context<'_>, secs: i64, utc: bool) -> Option<Zoned> {
    let zone = if utc { TimeZone::UTC } else { zone(ctx) };
    Some(Timestamp::from_second(secs).ok()?.to_zoned(zone))
}

/// Year, month, day, hour, minute, second.
pub(crate) fn fields(ctx: &Context<'_>, secs: i64, utc: bool) -> Option<Vec<i64>> {
    let at = zoned(ctx, secs, utc)?;
    Some(vec![
        i64::from(at.year()),
        i64::from(at.month()),
        i64::from(at.day()),
        i64::from(at.hour()),
        i64::from(at.minute()),
        i64::from(at.second()),
    ])
}

/// The moment of local calendar fields; days and finer may overflow, as mktime(3) allows.
pub(crate) fn local_to_epoch(ctx: &Context<'_>, fields: &[i64]) -> Option<i64> {
    let year = i16::try_from(fields[0]).ok()?;
    let month = i8::try_from(fields[1].clamp(1, 12)).ok()?;
    let start = civil::date(year, month, 1).at(0, 0, 0, 0);
    let days = fields[2].max(1) - 1;
    let seconds = days * 86400 + fields[3] * 3600 + fields[4] * 60 + fields[5];
    let at = start.checked_add(jiff::Span::new().try_seconds(seconds).ok()?).ok()?;
    Some(at.to_zoned(zone(ctx)).ok()?.timestamp().as_second())
}

/// strftime(3) of a moment.
pub fn format(ctx: &Context<'_>, secs: i64, utc: bool, template: &str) -> Option<String> {
    let at = zoned(ctx, secs, utc)?;
    jiff::fmt::strtime::format(posix(template, utc).as_bytes(), &at).ok()
}

// The forms that depend on the language are those of C here, and what strftime(3) does not
// know stays as it is.
fn posix(template: &str, utc: bool) -> String {
    translate(template, &|directive| {
        let text = match directive.letter {
            Some('c') => "%a %b %e %H:%M:%S %Y",
            Some('x') => "%m/%d/%y",
            Some('X') => "%H:%M:%S",
            Some('r') => "%I:%M:%S %p",
            Some('Z') if utc => "GMT",
            Some(known) if "aAbBCdDeFgGhHIjklmMnNpPRsStTuUVwWyYzZ%".contains(known) => return None,
            _ => return Some(format!("%{}", directive.text)),
        };
        Some(text.to_owned())
    })
}
