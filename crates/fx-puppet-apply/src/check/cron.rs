//! Jobs of cron: the times that a crontab takes, and the form in which it has them.

use fx_puppet::text::{inspected, interpolated};
use fx_puppet::{Resource, Value};

use super::{is_digits, list, munging_failed, text};

const DAYS: &[&str] =
    &["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const MONTHS: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Name, least and greatest number, and the names of the numbers from the first that has one.
type Field = (&'static str, u32, u32, &'static [&'static str]);

/// In the order in which they are judged beside a special schedule.
const FIELDS: &[Field] = &[
    ("minute", 0, 59, &[]),
    ("hour", 0, 23, &[]),
    ("weekday", 0, 7, DAYS),
    ("monthday", 1, 31, &[]),
    ("month", 1, 12, MONTHS),
];

const SPECIALS: &[&str] =
    &["reboot", "yearly", "annually", "monthly", "weekly", "daily", "midnight", "hourly", "absent"];

/// What is wrong with the value of one attribute.
pub(super) fn attribute(resource: &Resource, name: &str, value: &Value) -> Result<(), String> {
    match name {
        "special" if !SPECIALS.contains(&interpolated(value).as_str()) => {
            Err(format!("Invalid special schedule {}", inspected(value)))
        }
        "environment" => {
            let all = list(resource, name);
            match all.iter().find(|setting| !is_setting(&interpolated(setting))) {
                Some(setting) => Err(format!("Invalid environment setting {}", inspected(setting))),
                None => Ok(()),
            }
        }
        _ => times(resource, name).map(|_| ()),
    }
}

/// What is wrong with a job that no attribute shows by itself.
pub(super) fn whole(resource: &Resource) -> Result<(), String> {
    if text(resource, "special").is_none_or(|word| word == "absent") {
        return Ok(());
    }
    let is_set = |name: &str| times(resource, name).is_ok_and(|times| times.is_some());
    match FIELDS.iter().find(|(name, ..)| is_set(name)) {
        Some((name, ..)) => Err(format!(
            "{} cannot specify both a special schedule and a value for {name}",
            resource.reference()
        )),
        None => Ok(()),
    }
}

/// A field as a crontab has it; nothing where it is not given or stands for any time.
pub(crate) fn times(resource: &Resource, name: &str) -> Result<Option<String>, String> {
    let Some(field) = FIELDS.iter().find(|(known, ..)| *known == name) else { return Ok(None) };
    let all = list(resource, name);
    let all: Result<Vec<_>, _> = all.iter().map(|value| time(field, value)).collect();
    let all = all?;
    let is_any = all.first().is_none_or(Option::is_none);
    Ok((!is_any).then(|| all.into_iter().flatten().collect::<Vec<_>>().join(",")))
}

fn time((name, least, greatest, names): &Field, value: &Value) -> Result<Option<String>, String> {
    let word = interpolated(value);
    if word == "absent" || word == "*" {
        return Ok(None);
    }
    if is_step_or_range(&word) {
        return Ok(Some(word));
    }
    let number = if is_digits(&word) {
        word.parse().ok().filter(|number| (*least..=*greatest).contains(number)).map(|_| word)
    } else {
        let low = word.to_lowercase();
        let is_meant = |full: &&str| **full == low || low.len() == 3 && full.starts_with(&low);
        names.iter().position(is_meant).map(|at| (at as u32 + least).to_string())
    };
    let why = || format!("{} is not a valid {name}", interpolated(value));
    number.map(Some).ok_or_else(|| munging_failed(name, value, &why()))
}

/// `*/5`, `1-5`, `1-5/2`: taken as they are.
fn is_step_or_range(word: &str) -> bool {
    let (range, step) =
        word.split_once('/').map_or((word, None), |(range, step)| (range, Some(step)));
    let bounds = range.split_once('-').is_some_and(|(from, to)| is_digits(from) && is_digits(to));
    (bounds || range == "*" && step.is_some()) && step.is_none_or(is_digits)
}

fn is_setting(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else { return text == "absent" };
    let name = name.trim();
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, value: impl Into<Value>, expected: Result<&str, &str>) {
        let field = FIELDS.iter().find(|(known, ..)| *known == name).unwrap();
        let value = value.into();
        let found = time(field, &value).map(|time| time.unwrap_or_else(|| "any".to_owned()));
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{name} {value:?}");
    }

    #[test]
    fn times_are_numbers_names_steps_and_ranges() {
        check("hour", Value::Int(7), Ok("7"));
        check("hour", "07", Ok("07"));
        check("minute", "*/70", Ok("*/70"));
        check("hour", "2-26", Ok("2-26"));
        check("monthday", "1-5/2", Ok("1-5/2"));
        check("weekday", "Monday", Ok("1"));
        check("weekday", "sun", Ok("0"));
        check("month", "jan", Ok("1"));
        check("month", "December", Ok("12"));
        check("hour", "*", Ok("any"));
        check("hour", "absent", Ok("any"));
        let wrong = "Munging failed for value 25 in class hour: 25 is not a valid hour";
        check("hour", Value::Int(25), Err(wrong));
        let wrong =
            "Munging failed for value \"Mondy\" in class weekday: Mondy is not a valid weekday";
        check("weekday", "Mondy", Err(wrong));
        let wrong =
            "Munging failed for value \"jan-mar\" in class month: jan-mar is not a valid month";
        check("month", "jan-mar", Err(wrong));
        let wrong = "Munging failed for value 0 in class month: 0 is not a valid month";
        check("month", Value::Int(0), Err(wrong));
        let wrong = "Munging failed for value \"1,2\" in class hour: 1,2 is not a valid hour";
        check("hour", "1,2", Err(wrong));
    }

    #[test]
    fn settings_have_a_name_and_a_value() {
        for good in ["A=b", " PATH = /bin:/sbin ", "EMPTY=", "absent"] {
            assert!(is_setting(good), "{good}");
        }
        for bad in ["foo", "=b", "A B=c", ""] {
            assert!(!is_setting(bad), "{bad}");
        }
    }
}
