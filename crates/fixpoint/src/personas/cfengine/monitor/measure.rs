//! Promised measurements: a value out of the lines of a file or of a command.

use std::fmt;

use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::regex;

/// What a measurement gave.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) enum Measured {
    Number(f64),
    Text(String),
    List(Vec<String>),
}

impl fmt::Display for Measured {
    /// As the other tools read it.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Measured::Number(number) if number.fract() == 0.0 => write!(out, "{number:.0}"),
            Measured::Number(number) => write!(out, "{number:.2}"),
            Measured::Text(text) => out.write_str(text),
            Measured::List(items) => out.write_str(&items.join(",")),
        }
    }
}

/// What becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum History {
    Weekly,
    Scalar,
    Log,
}

/// Where lines come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Source {
    /// The command, or the file.
    pub(in super::super) promiser: String,
    pub(in super::super) is_pipe: bool,
    /// What was read of a file is not read again.
    pub(in super::super) grows: bool,
    /// For so many minutes the lines of the last look are good enough.
    pub(in super::super) minutes: i64,
}

/// One measurement, as policy promises it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Measurement {
    pub(in super::super) handle: String,
    pub(in super::super) history: History,
    pub(in super::super) source: Source,
    pub(in super::super) about: String,
    pub(in super::super) units: String,
    kind: String,
    line: Option<String>,
    number: Option<usize>,
    extract: Option<String>,
    several: Option<String>,
}

/// What is wrong with a promise of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Invalid {
    NoHandle,
    /// The pattern has no group that the value is in, or several.
    NoGroup,
}

impl Measurement {
    /// Reads a promise; what is wrong with it otherwise.
    pub(in super::super) fn read(promise: &Expanded) -> Result<Measurement, Invalid> {
        let text = |name: &str| promise.scalar(name).map(ToString::to_string);
        let handle = text("handle").ok_or(Invalid::NoHandle)?;
        let extract = text("extraction_regex");
        if extract.as_ref().is_some_and(|pattern| regex::groups(pattern) != Some(1)) {
            return Err(Invalid::NoGroup);
        }
        let history = match text("history_type").as_deref() {
            Some("weekly") => History::Weekly,
            Some("log") => History::Log,
            _ => History::Scalar,
        };
        Ok(Measurement {
            handle,
            history,
            source: Source {
                promiser: promise.promiser.to_string(),
                is_pipe: text("stream_type").as_deref() == Some("pipe"),
                grows: promise.bool("track_growing_file").unwrap_or(false),
                minutes: promise.int("ifelapsed").unwrap_or(0),
            },
            about: promise
                .comment
                .as_ref()
                .map_or_else(|| "User defined measure".to_owned(), ToString::to_string),
            units: text("units").unwrap_or_default(),
            kind: text("data_type").unwrap_or_else(|| "int".to_owned()),
            line: text("select_line_matching"),
            number: promise.int("select_line_number").and_then(|at| usize::try_from(at).ok()),
            extract,
            several: text("select_multiline_policy"),
        })
    }

    /// The value in these lines; what is wrong with them otherwise. A number that is not there
    /// is zero.
    pub(in super::super) fn judge<'a>(
        &self,
        lines: impl Iterator<Item = &'a str>,
    ) -> Result<Measured, Vec<String>> {
        let chosen = lines.enumerate().filter(|(at, line)| match (&self.line, self.number) {
            (Some(pattern), _) => regex::full(pattern, line),
            (None, Some(number)) => at + 1 == number,
            (None, None) => false,
        });
        let chosen: Vec<&str> = chosen.map(|(_, line)| line).collect();
        let is_text = matches!(self.kind.as_str(), "string" | "slist");
        if chosen.is_empty() && (is_text || self.history == History::Log) {
            let stream = &self.source.promiser;
            return Err(vec![format!("Promiser '{stream}' found no matching line.")]);
        }
        if is_text || self.history == History::Log {
            let mut found = chosen.iter().filter_map(|line| self.extracted(line));
            return Ok(match self.kind.as_str() {
                "slist" => Measured::List(found.collect()),
                _ => Measured::Text(found.next().unwrap_or_default()),
            });
        }
        if self.extract.is_none() {
            return Ok(Measured::Number(0.0));
        }
        self.number_of(&chosen).map(Measured::Number)
    }

    fn extracted(&self, line: &str) -> Option<String> {
        let Some(pattern) = &self.extract else { return Some(line.to_owned()) };
        let found = regex::captures(pattern, line)?;
        found.groups.get(1).map(|(_, text)| text.to_string())
    }

    fn number_of(&self, matching: &[&str]) -> Result<f64, Vec<String>> {
        let lines = match self.several.as_deref() {
            Some("first") => matching.get(..1).unwrap_or_default(),
            Some("sum" | "average") => matching,
            _ if self.kind == "counter" => matching,
            _ => &matching[matching.len().saturating_sub(1)..],
        };
        let mut values = Vec::with_capacity(lines.len());
        for line in lines {
            let Some(text) = self.extracted(line) else {
                if self.kind == "counter" {
                    continue;
                }
                return Err(vec![format!(
                    "Unable to extract a value from the matched line '{line}'"
                )]);
            };
            values.push(text.trim().parse::<f64>().map_err(|_| {
                vec![
                    format!("Failed to parse real number: {text}"),
                    format!("Error in double conversion from string value: {text}"),
                ]
            })?);
        }
        // The sum of nothing is a negative zero.
        let sum = values.iter().sum::<f64>() + 0.0;
        Ok(match (self.kind.as_str(), self.several.as_deref()) {
            ("counter", _) => values.len() as f64,
            (_, Some("average")) => sum / values.len().max(1) as f64,
            (_, Some("first")) => sum,
            // The original divides reals by the number of matching lines, whatever was chosen.
            ("real", _) => sum / matching.len().max(1) as f64,
            _ => sum,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measurement(kind: &str, extract: Option<&str>, several: Option<&str>) -> Measurement {
        Measurement {
            handle: "h".into(),
            history: History::Weekly,
            source: Source { promiser: "/log".into(), is_pipe: false, grows: false, minutes: 0 },
            about: String::new(),
            units: String::new(),
            kind: kind.into(),
            line: Some("x.*".into()),
            number: None,
            extract: extract.map(str::to_owned),
            several: several.map(str::to_owned),
        }
    }

    #[test]
    fn values_are_those_of_the_original() {
        let lines = ["x=12", "y=9", "x=13", "x=14"];
        let group = Some("x=(\\d+)");
        let table = [
            ("int", group, None, Measured::Number(14.0)),
            ("int", group, Some("first"), Measured::Number(12.0)),
            ("int", group, Some("last"), Measured::Number(14.0)),
            ("int", group, Some("sum"), Measured::Number(39.0)),
            ("int", group, Some("average"), Measured::Number(13.0)),
            ("int", None, None, Measured::Number(0.0)),
            ("real", group, Some("first"), Measured::Number(12.0)),
            ("real", group, Some("last"), Measured::Number(14.0 / 3.0)),
            ("real", group, Some("sum"), Measured::Number(13.0)),
            ("real", group, Some("average"), Measured::Number(13.0)),
            ("counter", group, None, Measured::Number(3.0)),
            ("counter", group, Some("first"), Measured::Number(1.0)),
            ("counter", None, None, Measured::Number(0.0)),
            ("string", group, Some("last"), Measured::Text("12".into())),
            ("slist", group, None, Measured::List(["12", "13", "14"].map(Into::into).into())),
        ];
        for (kind, extract, several, expected) in table {
            let measured = measurement(kind, extract, several).judge(lines.into_iter());
            assert_eq!(measured, Ok(expected), "{kind} {several:?}");
        }
        let none = measurement("int", group, None).judge(std::iter::empty());
        assert_eq!(none, Ok(Measured::Number(0.0)));
    }

    #[test]
    fn a_line_that_is_chosen_by_its_number_gives_its_value() {
        let mut third = measurement("int", Some("(\\d+)"), None);
        (third.line, third.number) = (None, Some(3));
        let lines = ["10", "11", "12", "13"];
        assert_eq!(third.judge(lines.into_iter()), Ok(Measured::Number(12.0)));
        third.number = Some(9);
        assert_eq!(third.judge(lines.into_iter()), Ok(Measured::Number(0.0)));
    }

    #[test]
    fn what_cannot_be_measured_is_an_error_in_the_words_of_the_original() {
        let table = [
            (
                "int",
                "x(=)",
                vec![
                    "Failed to parse real number: =",
                    "Error in double conversion from string value: =",
                ],
            ),
            ("int", "(7)", vec!["Unable to extract a value from the matched line 'x=12'"]),
        ];
        for (kind, extract, expected) in table {
            let measured = measurement(kind, Some(extract), None).judge(["x=12"].into_iter());
            assert_eq!(measured.unwrap_err(), expected);
        }
        let none = measurement("string", None, None).judge(std::iter::empty());
        assert_eq!(none.unwrap_err(), ["Promiser '/log' found no matching line."]);
    }
}
