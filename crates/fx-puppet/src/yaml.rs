//! YAML to values of the language, as Psych reads it: YAML 1.1 scalars, anchors, merge keys.

use std::rc::Rc;

use fx_formats::yaml::read::{self, Make, Wrong};
use fx_formats::yaml::scalar::{self, Plain};

use crate::value::{Hash, Value};

/// Reads the first document. An empty text is undef.
pub fn parse(source: &str) -> Result<Value, String> {
    build(source, false).map_err(|wrong| match wrong {
        Wrong::Text(_) | Wrong::TooManyAliases(_) => format!("(<unknown>): {wrong}"),
        wrong => wrong.to_string(),
    })
}

/// The same for data files, in which only plain data may stand: no dates, no objects.
pub(crate) fn parse_data(source: &str) -> Result<Value, String> {
    build(source, true).map_err(|wrong| wrong.to_string())
}

fn build(source: &str, is_data: bool) -> Result<Value, Wrong> {
    Ok(read::build(source, &mut Values { is_data })?.unwrap_or(Value::Undef))
}

/// What is wrong with a text of YAML: its line, counted from one, its column, and the words.
pub fn error(source: &str) -> Option<(usize, usize, String)> {
    let found = read::problem(source)?;
    Some((found.line, found.column - 1, found.to_string()))
}

/// Makes values of the language.
struct Values {
    is_data: bool,
}

impl Make for Values {
    type Value = Value;

    fn scalar(&mut self, text: &str, is_plain: bool, tag: Option<&str>) -> Result<Value, String> {
        if let Some(value) = self.tagged(text, tag)? {
            return Ok(value);
        }
        if !is_plain {
            return Ok(Value::from(text));
        }
        Ok(match scalar::plain(text) {
            Plain::Null => Value::Undef,
            Plain::Bool(truth) => Value::Bool(truth),
            // What is too large for the language stays text.
            Plain::Integer(number) => number.to_i64().map_or_else(|| Value::from(text), Value::Int),
            Plain::Float(number) => Value::Float(number),
            // A symbol becomes text on its way into the language.
            Plain::Symbol(name) => Value::from(name),
            Plain::Date if self.is_data => return Err(unspecified("Date")),
            Plain::Time if self.is_data => return Err(unspecified("Time")),
            Plain::Date | Plain::Time | Plain::Text => Value::from(text),
        })
    }

    fn list(&mut self, items: Vec<Value>) -> Value {
        Value::array(items)
    }

    fn map(&mut self, pairs: Vec<(Value, Value)>, tag: Option<&str>) -> Result<Value, String> {
        match tag.map(suffix) {
            Some("set") if self.is_data => return Err(unspecified("Psych::Set")),
            Some(tag) => self.permit(tag)?,
            None => {}
        }
        let mut map = Hash::default();
        for (key, value) in pairs {
            if key.as_str() == Some("<<") {
                merge(&mut map, &value);
            } else {
                map.insert(key, value);
            }
        }
        Ok(Value::Hash(Rc::new(map)))
    }
}

impl Values {
    /// What a tag makes of a scalar; nothing where it says nothing.
    fn tagged(&self, text: &str, tag: Option<&str>) -> Result<Option<Value>, String> {
        let Some(tag) = tag.map(suffix) else { return Ok(None) };
        self.permit(tag)?;
        Ok(Some(match tag {
            "str" => Value::from(text),
            "float" => Value::Float(text.parse().unwrap_or(0.0)),
            "int" => Value::Int(text.parse().unwrap_or(0)),
            "binary" => {
                let bytes = fx_formats::base64::decode_relaxed(text).unwrap_or_default();
                Value::from(String::from_utf8_lossy(&bytes).into_owned())
            }
            _ => return Ok(None),
        }))
    }

    /// Data files make no objects.
    fn permit(&self, tag: &str) -> Result<(), String> {
        match tag.strip_prefix("ruby/object:") {
            Some(class) if self.is_data => Err(unspecified(class)),
            _ => Ok(()),
        }
    }
}

/// The name of a tag without what it begins with.
fn suffix(tag: &str) -> &str {
    tag.strip_prefix("tag:yaml.org,2002:").unwrap_or_else(|| tag.trim_start_matches('!'))
}

fn unspecified(class: &str) -> String {
    format!("Tried to load unspecified class: {class}")
}

/// `<<: *other`: all its keys; of several the first has the last word.
fn merge(map: &mut Hash, value: &Value) {
    match value {
        Value::Hash(other) => {
            for (key, value) in &**other {
                map.insert(key.clone(), value.clone());
            }
        }
        Value::Array(items) => items.iter().rev().for_each(|item| merge(map, item)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::program_text;

    #[test]
    fn scalars_are_read_as_psych_reads_them() {
        let check = |text: &str, expected: &str| {
            assert_eq!(program_text(&parse(text).unwrap()), expected, "{text}");
        };
        check("a: 017", "{'a' => 15}");
        check("a: 0o17", "{'a' => '0o17'}");
        check("a: 1:30", "{'a' => 5400}");
        check("a: 12:30:45", "{'a' => 45045}");
        check("a: -1:30", "{'a' => -1800}");
        check(
            "b: &b {x: 1}\nk: {z: 1, <<: [*b, {y: 2, z: 3}]}",
            "{'b' => {'x' => 1}, 'k' => {'z' => 3, 'y' => 2, 'x' => 1}}",
        );
        check("a: 1,000", "{'a' => 1000}");
        check("a: 1e3", "{'a' => '1e3'}");
        check("a: 1.5e3", "{'a' => '1.5e3'}");
        check("a: 123456789012345678901", "{'a' => '123456789012345678901'}");
        check("a: 2026-11-17", "{'a' => '2026-11-17'}");
        check("a: yes", "{'a' => true}");
        check("a: y", "{'a' => 'y'}");
        check("a: 10.0.0.1", "{'a' => '10.0.0.1'}");
        check("a: '17'", "{'a' => '17'}");
        check("a: -3", "{'a' => -3}");
        check("a: 1.5", "{'a' => 1.5}");
        check("a: ~", "{'a' => undef}");
        check(
            "x: &x {k: 1}\ny:\n  <<: *x\n  z: 2",
            "{'x' => {'k' => 1}, 'y' => {'k' => 1, 'z' => 2}}",
        );
    }

    #[test]
    fn what_psych_writes_reads_back_the_same() {
        #[rustfmt::skip]
        const PIECES: &[&str] = &[
            "a", "é", "→", "€", "😀", "\u{85}", "\u{2028}", "\u{feff}", "\u{7f}", "\u{9b}", "\0",
            "\t", "\r", "\n", " ", "  ", "- ", ": ", " #", "'", "\"", "\\", "{", "[", "|", ">", "%",
            "@", "`", "&", "*", "!", "?", "~", "null", "yes", "0x1", "1e5", "2026-01-01", "12:30",
            "\u{a0}", "\u{300}", "\u{202e}", "漢字", "ß", "...", "---",
            "word word word word word word word word word word ",
        ];
        let mut random = fx_fuzz::Random::new(7);
        let mut text = || {
            let count = random.below(12);
            (0..count).map(|_| PIECES[random.below(PIECES.len())]).collect::<String>()
        };
        for _ in 0..5_000 {
            let value = serde_json::json!({text(): text(), "list": [text(), {text(): [text()]}]});
            let written = fx_formats::yaml::psych::document(&value);
            let read = parse(&written).map(|read| crate::compile::to_json(&read));
            assert_eq!(read.as_ref(), Ok(&value), "{written}");
        }
    }

    #[test]
    fn data_files_make_no_objects() {
        for (text, class) in [
            ("a: 2026-11-17", "Date"),
            ("a: 2026-11-17 12:00:00", "Time"),
            ("a: !ruby/object:Foo {}", "Foo"),
            ("a: !!set {b}", "Psych::Set"),
        ] {
            let refused = format!("Tried to load unspecified class: {class}");
            assert_eq!(parse_data(text), Err(refused), "{text}");
        }
        assert!(parse_data("a: !!str 2026-11-17").is_ok());
    }
}
