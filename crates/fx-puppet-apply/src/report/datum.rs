//! What a report is made of: data with borrowed texts and known field names, written as YAML or
//! sent as JSON. A report has dozens of fields for each resource; maps of owned keys would cost
//! more than the rest of a small run.

use std::borrow::Cow;

use fx_engine::Secrets;
use fx_formats::yaml::emit::Node;
use fx_formats::yaml::psych;
use serde_json::Value as Json;

/// A part of a report.
pub(super) enum Datum<'a> {
    Null,
    Flag(bool),
    Integer(i64),
    Float(f64),
    Text(Cow<'a, str>),
    List(Vec<Datum<'a>>),
    /// Names are words of the format: they stand bare in YAML.
    Fields(Vec<(&'static str, Datum<'a>)>),
    /// Data that was JSON before.
    Data(Json),
}

impl<'a> Datum<'a> {
    pub(super) fn texts(texts: impl IntoIterator<Item = &'a str>) -> Datum<'a> {
        Datum::List(texts.into_iter().map(Datum::from).collect())
    }

    pub(super) fn json(self) -> Json {
        match self {
            Datum::Null => Json::Null,
            Datum::Flag(flag) => Json::from(flag),
            Datum::Integer(number) => Json::from(number),
            Datum::Float(number) => Json::from(number),
            Datum::Text(text) => Json::from(text.into_owned()),
            Datum::List(items) => items.into_iter().map(Datum::json).collect(),
            Datum::Fields(fields) => {
                fields.into_iter().map(|(name, value)| (name.to_owned(), value.json())).collect()
            }
            Datum::Data(data) => data,
        }
    }

    pub(super) fn node(&self) -> Node<'_> {
        match self {
            Datum::Null => psych::null(),
            Datum::Flag(flag) => psych::flag(*flag),
            Datum::Integer(number) => psych::integer(*number),
            Datum::Float(number) => psych::float(*number),
            Datum::Text(text) => psych::text(&**text),
            Datum::List(items) => psych::list(items.iter().map(Datum::node)),
            Datum::Fields(fields) => {
                psych::fields(fields.iter().map(|(name, value)| (*name, value.node())))
            }
            Datum::Data(data) => psych::data(data),
        }
    }

    /// Replaces the texts of secrets.
    pub(super) fn hide(&mut self, secrets: &Secrets) {
        match self {
            Datum::Text(text) => {
                if let Cow::Owned(shown) = secrets.shown(text) {
                    *text = Cow::Owned(shown);
                }
            }
            Datum::List(items) => items.iter_mut().for_each(|item| item.hide(secrets)),
            Datum::Fields(fields) => fields.iter_mut().for_each(|(_, value)| value.hide(secrets)),
            Datum::Data(data) => hide(data, secrets),
            Datum::Null | Datum::Flag(_) | Datum::Integer(_) | Datum::Float(_) => {}
        }
    }
}

/// Replaces the texts of secrets in JSON.
fn hide(data: &mut Json, secrets: &Secrets) {
    match data {
        Json::String(text) => {
            if let Cow::Owned(shown) = secrets.shown(text) {
                *text = shown;
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| hide(item, secrets)),
        Json::Object(fields) => fields.values_mut().for_each(|value| hide(value, secrets)),
        _ => {}
    }
}

impl<'a> From<&'a str> for Datum<'a> {
    fn from(text: &'a str) -> Datum<'a> {
        Datum::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Datum<'_> {
    fn from(text: String) -> Self {
        Datum::Text(Cow::Owned(text))
    }
}

impl From<bool> for Datum<'_> {
    fn from(flag: bool) -> Self {
        Datum::Flag(flag)
    }
}

impl From<u32> for Datum<'_> {
    fn from(number: u32) -> Self {
        Datum::Integer(number.into())
    }
}

impl From<usize> for Datum<'_> {
    fn from(number: usize) -> Self {
        Datum::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Datum<'_> {
    fn from(number: f64) -> Self {
        Datum::Float(number)
    }
}

impl From<Json> for Datum<'_> {
    fn from(data: Json) -> Self {
        Datum::Data(data)
    }
}

impl<'a, T: Into<Datum<'a>>> From<Option<T>> for Datum<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Datum::Null, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_of_a_datum_is_the_yaml_of_its_json() {
        let whole = Datum::Fields(vec![
            ("title", "yes".into()),
            ("line", Datum::from(Some(3_u32))),
            ("file", Datum::from(None::<&str>)),
            ("took", 0.5.into()),
            ("changed", false.into()),
            ("count", 2_usize.into()),
            ("tags", Datum::texts(["notify", "n: 1", ""])),
            ("none", Datum::List(Vec::new())),
            ("metrics", serde_json::json!({"total": {"a": [1, null]}}).into()),
        ]);
        let yaml = psych::written(&whole.node());
        assert_eq!(yaml, psych::document(&whole.json()));
    }
}
