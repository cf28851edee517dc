//! To and from JSON. Secrets come out redacted; bytes that are not text come out as
//! `{"base64": …}` so that nothing is lost or mistaken for text.

use serde_json::{Map as JsonMap, Value as Json};

use crate::{Bytes, REDACTED, Value};

impl Value {
    /// The JSON form, secrets redacted.
    pub fn to_json(&self) -> Json {
        match self {
            Value::Undef => Json::Null,
            Value::Bool(value) => Json::from(*value),
            Value::Int(value) => Json::from(*value),
            Value::Float(value) => Json::from(*value),
            Value::Bytes(bytes) => bytes_to_json(bytes),
            Value::List(items) => Json::Array(items.iter().map(Value::to_json).collect()),
            Value::Map(map) => {
                let pairs =
                    map.iter().map(|(key, value)| (key.to_text().into_owned(), value.to_json()));
                Json::Object(pairs.collect::<JsonMap<_, _>>())
            }
            Value::Sensitive(_) => Json::from(REDACTED),
        }
    }

    /// Reads plain JSON; numbers that fit no 64-bit integer become floats.
    pub fn from_json(json: &Json) -> Value {
        match json {
            Json::Null => Value::Undef,
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(number) => match number.as_i64() {
                Some(int) => Value::Int(int),
                None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Value::from(text.as_str()),
            Json::Array(items) => Value::List(items.iter().map(Value::from_json).collect()),
            Json::Object(map) => {
                map.iter().map(|(key, value)| (key.as_str(), Value::from_json(value))).collect()
            }
        }
    }
}

fn bytes_to_json(bytes: &Bytes) -> Json {
    match std::str::from_utf8(bytes.as_bytes()) {
        Ok(text) => Json::from(text),
        Err(_) => serde_json::json!({ "base64": fx_formats::base64::encode(bytes.as_bytes()) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_json_survives_the_round_trip() {
        let text = r#"{"z":[1,-2.5,true,null],"a":{"ü":"text"}}"#;
        let json: Json = serde_json::from_str(text).unwrap();
        assert_eq!(Value::from_json(&json).to_json().to_string(), text);
    }

    #[test]
    fn bytes_that_are_not_text_come_out_as_base64() {
        let table: [(&[u8], &str); 4] = [
            (b"\xff", "/w=="),
            (b"\xff\xfe", "//4="),
            (b"\xff\xfe\xfd", "//79"),
            (b"\xffabc", "/2FiYw=="),
        ];
        for (bytes, expected) in table {
            assert_eq!(Value::from(bytes).to_json(), serde_json::json!({ "base64": expected }));
        }
    }
}
