//! What a server says of a file before its content is fetched.

use serde_json::{Value, json};

/// What lies at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileKind {
    File,
    Directory,
    Link(String),
}

/// A digest or a time by which a client sees whether it has the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checksum {
    /// `sha256`, `ctime` …
    pub kind: String,
    pub value: String,
}

/// A file of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    pub path: String,
    /// The path below `path`; `.` for the root of a tree, nothing for a single file.
    pub relative_path: Option<String>,
    /// `manage` or `follow`.
    pub links: String,
    pub owner: u32,
    pub group: u32,
    pub mode: u32,
    pub checksum: Checksum,
    pub kind: FileKind,
}

impl Metadata {
    pub fn to_json(&self) -> Value {
        let (kind, destination) = match &self.kind {
            FileKind::File => ("file", None),
            FileKind::Directory => ("directory", None),
            FileKind::Link(to) => ("link", Some(to)),
        };
        let Checksum { kind: checksum, value } = &self.checksum;
        json!({
            "path": self.path,
            "relative_path": self.relative_path,
            "links": self.links,
            "owner": self.owner,
            "group": self.group,
            "mode": self.mode,
            "checksum": {"type": checksum, "value": format!("{{{checksum}}}{value}")},
            "type": kind,
            "destination": destination,
        })
    }

    /// Reads what a server says; nothing where it is not what it should be.
    pub fn from_json(data: &Value) -> Option<Metadata> {
        let word = |name: &str| data.get(name).and_then(Value::as_str);
        let number = |name: &str| u32::try_from(data.get(name)?.as_u64()?).ok();
        let checksum = data.get("checksum")?;
        let kind = checksum.get("type")?.as_str()?;
        let value = checksum.get("value")?.as_str()?;
        let value = value.split_once('}').map_or(value, |(_, value)| value);
        Some(Metadata {
            path: word("path")?.to_owned(),
            relative_path: word("relative_path").map(str::to_owned),
            links: word("links").unwrap_or("manage").to_owned(),
            // A server on another system has none.
            owner: number("owner").unwrap_or(0),
            group: number("group").unwrap_or(0),
            mode: number("mode").unwrap_or(0o644),
            checksum: Checksum { kind: kind.to_owned(), value: value.to_owned() },
            kind: match word("type")? {
                "file" => FileKind::File,
                "directory" => FileKind::Directory,
                "link" => FileKind::Link(word("destination")?.to_owned()),
                _ => return None,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_written_as_the_original_does() {
        let checksum = Checksum { kind: "sha256".into(), value: "ab".into() };
        let file = Metadata {
            path: "/m/files/x".into(),
            relative_path: None,
            links: "manage".into(),
            owner: 0,
            group: 7,
            mode: 0o644,
            checksum,
            kind: FileKind::Link("y".into()),
        };
        let wanted = r#"{"path":"/m/files/x","relative_path":null,"links":"manage","owner":0,"group":7,"mode":420,"checksum":{"type":"sha256","value":"{sha256}ab"},"type":"link","destination":"y"}"#;
        assert_eq!(file.to_json().to_string(), wanted);
        assert_eq!(Metadata::from_json(&file.to_json()), Some(file));
        assert_eq!(Metadata::from_json(&json!({"path": "/x", "type": "file"})), None);
    }
}
