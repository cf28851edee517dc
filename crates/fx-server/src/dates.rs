//! Times in the forms of the protocol.

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use jiff::tz::TimeZone;

/// `2026-11-16T02:37:05UTC`.
pub(crate) fn certificate_time(seconds: u64) -> String {
    shown(seconds, "%Y-%m-%dT%H:%M:%SUTC")
}

/// As HTTP writes times: `Sun, 06 Nov 1994 08:49:37 GMT`.
pub(crate) fn http_time(seconds: u64) -> String {
    shown(seconds, "%a, %d %b %Y %H:%M:%S GMT")
}

fn shown(seconds: u64, template: &str) -> String {
    let time = i64::try_from(seconds).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    let time = time.unwrap_or(Timestamp::MAX).to_zoned(TimeZone::UTC);
    time.strftime(template).to_string()
}

/// Seconds since 1970 of such a time.
pub(crate) fn parse_http_time(text: &str) -> Option<u64> {
    let parsed = rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
    u64::try_from(parsed.as_second()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_and_read() {
        assert_eq!(certificate_time(1_794_796_625), "2026-11-16T02:37:05UTC");
        assert_eq!(http_time(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(parse_http_time("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(parse_http_time("yesterday"), None);
    }
}
