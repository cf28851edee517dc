//! YAML to data; scalars are resolved as the original does.

use fx_formats::yaml::read::{self, Make};

use crate::json::{Json, Object, put};

/// Reads the first document; `None` when it is not YAML.
pub(crate) fn parse(source: &str) -> Option<Json> {
    read::build(source, &mut Data).ok().flatten()
}

/// Makes data.
struct Data;

impl Make for Data {
    type Value = Json;

    fn scalar(&mut self, text: &str, is_plain: bool, _: Option<&str>) -> Result<Json, String> {
        Ok(if is_plain { plain(text) } else { Json::Str(text.into()) })
    }

    /// A key is its text, whatever it looks like.
    fn key(&mut self, text: &str, _: bool, _: Option<&str>) -> Result<Json, String> {
        Ok(Json::Str(text.into()))
    }

    fn list(&mut self, items: Vec<Json>) -> Json {
        Json::Array(items)
    }

    fn map(&mut self, pairs: Vec<(Json, Json)>, _: Option<&str>) -> Result<Json, String> {
        let mut object = Object::new();
        for (key, value) in pairs {
            put(&mut object, key.primitive().unwrap_or_default(), value);
        }
        Ok(Json::Object(object))
    }

    /// The original knows no aliases.
    fn alias(&mut self, _: Json) -> Json {
        Json::Null
    }
}

fn plain(text: &str) -> Json {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Json::Null,
        "y" | "Y" | "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => {
            Json::Bool(true)
        }
        "n" | "N" | "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => {
            Json::Bool(false)
        }
        _ => {
            // A number may be followed by what follows one in JSON: `200 300` is 200.
            if let (Ok(number), _) = crate::json::number(text) {
                return number;
            }
            Json::Str(text.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_become_data() {
        let json = parse("---\n- a\n- 1\n- 2.5\n- true\n- {x: ~}\n- '1'\n").expect("valid");
        assert_eq!(json.compact(), r#"["a",1,2.5000,true,{"x":null},"1"]"#);
        assert_eq!(parse("a: [1"), None);
    }
}
