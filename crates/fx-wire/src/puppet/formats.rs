//! Which form of an answer the client takes.

/// A form of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON with a type beside each value that JSON has no type for.
    RichJson,
    Json,
    Pson,
    Binary,
}

/// Names of the forms, media types and short names.
const NAMES: &[(&str, Format)] = &[
    ("application/vnd.puppet.rich+json", Format::RichJson),
    ("rich_data_json", Format::RichJson),
    ("application/json", Format::Json),
    ("text/json", Format::Json),
    ("json", Format::Json),
    ("text/pson", Format::Pson),
    ("pson", Format::Pson),
    ("application/octet-stream", Format::Binary),
    ("binary", Format::Binary),
];

impl Format {
    /// The form of a body by its media type.
    pub fn of_body(content_type: &str) -> Option<Format> {
        let name = content_type.split(';').next().unwrap_or_default().trim().to_lowercase();
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, format)| *format)
    }

    /// The media type of an answer.
    pub fn content_type(self) -> &'static str {
        match self {
            Format::RichJson => "application/vnd.puppet.rich+json; charset=utf-8",
            Format::Json => "application/json;charset=utf-8",
            Format::Pson => "text/pson",
            Format::Binary => "application/octet-stream",
        }
    }
}

/// The first form that the client names and the server has. The order is the client's; weights
/// are passed over, as the original does. `*/*` is the server's first.
pub fn accepted(accept: &str, offered: &[Format]) -> Option<Format> {
    let names = accept.split(',').map(|part| part.split(';').next().unwrap_or_default().trim());
    for name in names {
        if name == "*/*" {
            return offered.first().copied();
        }
        if let Some(format) = Format::of_body(name).filter(|format| offered.contains(format)) {
            return Some(format);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clients_order_counts() {
        const CATALOG: &[Format] = &[Format::RichJson, Format::Json, Format::Pson];
        for (accept, wanted) in [
            (
                "application/vnd.puppet.rich+json, application/json, text/pson",
                Some(Format::RichJson),
            ),
            ("application/json, text/pson", Some(Format::Json)),
            ("text/pson;q=0.1, application/json;q=1.0", Some(Format::Pson)),
            ("pson", Some(Format::Pson)),
            ("text/html, */*;q=0.1", Some(Format::RichJson)),
            ("text/yaml", None),
            ("", None),
        ] {
            assert_eq!(accepted(accept, CATALOG), wanted, "{accept}");
        }
        assert_eq!(Format::of_body("application/json; charset=utf-8"), Some(Format::Json));
        assert_eq!(Format::of_body("application/x-yaml"), None);
    }
}
