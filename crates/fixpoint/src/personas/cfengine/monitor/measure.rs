//! Promised measurements: a value out of the lines of a file or of a command.

use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::regex;
use fx_cfengine::text::path;
use fx_host::{Commands, Files, OsHost, Spec, limits};

/// Lines of a stream that are looked at.
const MOST_LINES: usize = 100_000;

/// What a measurement gave.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) enum Measured {
    Number(f64),
    Text(String),
    List(Vec<String>),
}

/// What becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum History {
    Weekly,
    Scalar,
    Log,
}

/// One measurement, as policy promises it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Measurement {
    pub(in super::super) handle: String,
    pub(in super::super) history: History,
    promiser: String,
    is_pipe: bool,
    kind: String,
    line: Option<String>,
    number: Option<usize>,
    extract: Option<String>,
    several: Option<String>,
}

impl Measurement {
    /// Reads a promise; what is wrong with it otherwise.
    pub(in super::super) fn read(promise: &Expanded) -> Result<Measurement, &'static str> {
        let text = |name: &str| promise.scalar(name).map(ToString::to_string);
        let handle =
            text("handle").ok_or("The promised measurement has no handle to register it by.")?;
        let history = match text("history_type").as_deref() {
            Some("weekly") => History::Weekly,
            Some("log") => History::Log,
            _ => History::Scalar,
        };
        Ok(Measurement {
            handle,
            history,
            promiser: promise.promiser.to_string(),
            is_pipe: text("stream_type").as_deref() == Some("pipe"),
            kind: text("data_type").unwrap_or_else(|| "int".to_owned()),
            line: text("select_line_matching"),
            number: promise.int("select_line_number").and_then(|at| usize::try_from(at).ok()),
            extract: text("extraction_regex"),
            several: text("select_multiline_policy"),
        })
    }

    /// Takes the measurement.
    pub(in super::super) fn take(&self, host: &OsHost) -> Result<Measured, String> {
        let bytes = if self.is_pipe {
            let ended = host.run(&Spec::shell(self.promiser.clone()));
            ended.map_err(|error| error.to_string())?.stdout
        } else {
            let read = host.read_limited(&path(&self.promiser), limits::DATA);
            read.map_err(|error| error.to_string())?
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(self.judge(text.lines().take(MOST_LINES)))
    }

    fn judge<'a>(&self, lines: impl Iterator<Item = &'a str>) -> Measured {
        let chosen = lines.enumerate().filter(|(at, line)| match (&self.line, self.number) {
            (Some(pattern), _) => regex::full(pattern, line),
            (None, Some(number)) => at + 1 == number,
            (None, None) => true,
        });
        let extracted = chosen.filter_map(|(_, line)| match &self.extract {
            None => Some(line.to_owned()),
            Some(pattern) => group(pattern, line),
        });
        let values: Vec<String> = extracted.collect();
        match self.kind.as_str() {
            "slist" => Measured::List(values),
            "string" => Measured::Text(self.one(&values).cloned().unwrap_or_default()),
            // Without a pattern the original counts nothing.
            "counter" if self.extract.is_none() => Measured::Number(0.0),
            "counter" => Measured::Number(values.len() as f64),
            kind => Measured::Number(self.number_of(&values, kind == "real")),
        }
    }

    fn one<'a>(&self, values: &'a [String]) -> Option<&'a String> {
        match self.several.as_deref() {
            Some("first") => values.first(),
            _ => values.last(),
        }
    }

    fn number_of(&self, values: &[String], is_real: bool) -> f64 {
        let number = |text: &String| text.trim().parse::<f64>().unwrap_or(0.0);
        let count = values.len().max(1) as f64;
        let value = match self.several.as_deref() {
            Some("sum") => values.iter().map(number).sum(),
            Some("average") => values.iter().map(number).sum::<f64>() / count,
            _ => self.one(values).map_or(0.0, number),
        };
        // The original divides these by the number of matches, whatever was chosen.
        if is_real && self.several.as_deref() != Some("average") { value / count } else { value }
    }
}

// The first group of a pattern that matches somewhere in a line.
fn group(pattern: &str, line: &str) -> Option<String> {
    let found = regex::captures(pattern, line)?;
    let text = found.groups.get(1).or_else(|| found.groups.first());
    text.map(|(_, text)| text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measurement(kind: &str, extract: Option<&str>, several: Option<&str>) -> Measurement {
        Measurement {
            handle: "h".into(),
            history: History::Weekly,
            promiser: String::new(),
            is_pipe: false,
            kind: kind.into(),
            line: Some("x=.*".into()),
            number: None,
            extract: extract.map(str::to_owned),
            several: several.map(str::to_owned),
        }
    }

    #[test]
    fn values_are_those_of_the_original() {
        let lines = ["x=4", "y=9", "x=6"];
        let number = Some("x=(\\d+)");
        let table = [
            ("int", number, None, Measured::Number(6.0)),
            ("int", number, Some("first"), Measured::Number(4.0)),
            ("int", number, Some("sum"), Measured::Number(10.0)),
            ("int", number, Some("average"), Measured::Number(5.0)),
            ("real", number, None, Measured::Number(3.0)),
            ("counter", number, None, Measured::Number(2.0)),
            ("counter", None, None, Measured::Number(0.0)),
            ("string", number, None, Measured::Text("6".into())),
            ("slist", number, None, Measured::List(vec!["4".into(), "6".into()])),
        ];
        for (kind, extract, several, expected) in table {
            let measured = measurement(kind, extract, several).judge(lines.into_iter());
            assert_eq!(measured, expected, "{kind} {several:?}");
        }
        let none = measurement("int", number, None).judge(std::iter::empty());
        assert_eq!(none, Measured::Number(0.0));
    }
}
