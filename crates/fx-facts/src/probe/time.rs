//! Since when the machine runs, and in which time zone.

use std::path::Path;

use fx_host::Look;
use fx_value::Value;

use super::{fields, number};
use crate::text::read;

/// How long the machine has been running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Uptime {
    /// Seconds since boot.
    pub seconds: u64,
    /// The moment of boot, in seconds since 1970.
    pub boot: i64,
}

/// The machine's time zone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timezone {
    /// Name such as `Europe/Oslo`, where it has one.
    pub name: Option<String>,
    /// Short name in force now, such as `CET`.
    pub abbreviation: String,
    /// Seconds east of Greenwich in force now.
    pub offset: i32,
}

pub(crate) fn uptime(host: &dyn Look) -> Uptime {
    let text = read(host, "/proc/uptime").unwrap_or_default();
    let seconds = text.split('.').next().and_then(|whole| whole.parse().ok()).unwrap_or(0);
    Uptime { seconds, boot: host.now().secs - i64::try_from(seconds).unwrap_or(0) }
}

pub(crate) fn timezone(host: &dyn Look) -> Timezone {
    let zoneinfo = Path::new("/usr/share/zoneinfo");
    let by_variable = host
        .var("TZ".as_ref())
        .map(|name| name.to_string_lossy().trim_start_matches(':').to_owned());
    let by_link = || {
        let target = host.read_link(Path::new("/etc/localtime")).ok()?;
        let target = target.to_string_lossy().into_owned();
        target.split_once("zoneinfo/").map(|(_, name)| name.to_owned())
    };
    let by_file = || read(host, "/etc/timezone").filter(|name| !name.is_empty());
    let explicit = by_variable.clone().filter(|name| !name.is_empty() && !name.contains(".."));
    let name = explicit.clone().or_else(by_link).or_else(by_file);
    let rules = match &explicit {
        Some(name) => host.read(&zoneinfo.join(name)).ok(),
        None => host.read(Path::new("/etc/localtime")).ok(),
    };
    let zone = rules.and_then(|rules| {
        jiff::tz::TimeZone::tzif(name.as_deref().unwrap_or("localtime"), &rules).ok()
    });
    let zone = zone.unwrap_or(jiff::tz::TimeZone::UTC);
    let now = jiff::Timestamp::from_second(host.now().secs).unwrap_or_default();
    let info = zone.to_offset_info(now);
    Timezone { name, abbreviation: info.abbreviation().to_owned(), offset: info.offset().seconds() }
}

impl Uptime {
    pub(crate) fn to_value(self) -> Value {
        fields([("seconds", number(self.seconds)), ("boot", Value::Int(self.boot))])
    }
}

impl Timezone {
    pub(crate) fn to_value(&self) -> Value {
        fields([
            ("name", self.name.as_deref().into()),
            ("abbreviation", Value::from(self.abbreviation.as_str())),
            ("offset", Value::Int(i64::from(self.offset))),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_any_file_it_is_utc() {
        let zone = timezone(&fx_host::MemoryHost::new());
        assert_eq!((zone.abbreviation.as_str(), zone.offset), ("UTC", 0));
    }
}
