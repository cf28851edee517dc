//! `puppet resource`: what the machine has of a type, as code that would make it so.
//!
//! Accounts, files, packages and services are looked at here; types written in Ruby are asked
//! themselves.

use std::path::Path;

use fx_host::{Kind, Look};

use crate::catalogs::CatalogRequest;
use crate::eval::Flow;
use crate::machine::Machine;
use crate::value::Value;

/// A resource as found: its title and its attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Its title.
    pub title: String,
    attributes: Vec<(String, Value)>,
    /// Its text, where its type writes that by itself.
    text: Option<String>,
}

impl Found {
    fn new(title: &str, attributes: &[(&str, Value)]) -> Found {
        let attributes =
            attributes.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        Found { title: title.to_owned(), attributes, text: None }
    }

    /// Leaves only these attributes, and its provider.
    pub fn keep_only(&mut self, names: &[&str]) {
        self.attributes.retain(|(name, _)| {
            matches!(name.as_str(), "provider" | "ensure") || names.contains(&name.as_str())
        });
    }

    /// Its attributes by name, as data.
    pub fn data(&self) -> serde_json::Value {
        let mut rows: Vec<&(String, Value)> =
            self.attributes.iter().filter(|(_, value)| !matches!(value, Value::Undef)).collect();
        rows.sort_by_key(|(name, _)| (name != "ensure", name.clone()));
        let all = rows.iter().map(|(name, value)| (name.clone(), crate::compile::to_json(value)));
        serde_json::Value::Object(all.collect())
    }

    /// Its title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The code that would make it so.
    pub fn code(&self, kind: &str) -> String {
        if let Some(text) = &self.text {
            return text.clone();
        }
        let mut rows: Vec<&(String, Value)> =
            self.attributes.iter().filter(|(_, value)| !matches!(value, Value::Undef)).collect();
        rows.sort_by_key(|(name, _)| (name != "ensure", name.clone()));
        let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let mut out = format!("{kind} {{ '{}':\n", self.title.replace('\'', "\\'"));
        for (name, value) in rows {
            out.push_str(&format!("  {name:<width$} => {},\n", shown(value)));
        }
        out.push_str("}\n");
        out
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(shown).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Int(number) => number.to_string(),
        other => format!("'{}'", crate::eval::interpolated(other).replace('\'', "\\'")),
    }
}

fn lines(host: &dyn Look, path: &str) -> Vec<Vec<String>> {
    let bytes = host.read(Path::new(path)).unwrap_or_default();
    String::from_utf8_lossy(&bytes)
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split(':').map(str::to_owned).collect())
        .collect()
}

fn number(text: Option<&String>) -> Value {
    text.and_then(|text| text.parse().ok()).map_or(Value::Undef, Value::Int)
}

fn text(text: Option<&String>) -> Value {
    text.filter(|text| !text.is_empty()).map_or(Value::Undef, |text| Value::from(text.as_str()))
}

fn users(host: &dyn Look) -> Vec<Found> {
    let shadow = lines(host, "/etc/shadow");
    let groups = lines(host, "/etc/group");
    let all = lines(host, "/etc/passwd");
    all.iter()
        .filter(|row| row.len() >= 7)
        .map(|row| {
            let secret = shadow.iter().find(|known| known.first() == row.first());
            let field = |at: usize| secret.and_then(|secret| secret.get(at));
            let member: Vec<Value> = groups
                .iter()
                .filter(|group| {
                    group.get(3).is_some_and(|list| list.split(',').any(|name| name == row[0]))
                })
                .map(|group| Value::from(group[0].as_str()))
                .collect();
            Found::new(
                &row[0],
                &[
                    ("ensure", "present".into()),
                    ("comment", text(row.get(4))),
                    ("gid", number(row.get(3))),
                    ("groups", if member.is_empty() { Value::Undef } else { Value::array(member) }),
                    ("home", text(row.get(5))),
                    ("password", text(field(1))),
                    ("password_max_age", number(field(4))),
                    ("password_min_age", number(field(3))),
                    ("password_warn_days", number(field(5))),
                    ("provider", "useradd".into()),
                    ("shell", text(row.get(6))),
                    ("uid", number(row.get(2))),
                ],
            )
        })
        .collect()
}

fn groups(host: &dyn Look) -> Vec<Found> {
    let row = |row: &Vec<String>| {
        let own = [
            ("ensure", Value::from("present")),
            ("gid", number(row.get(2))),
            ("provider", "groupadd".into()),
        ];
        Found::new(&row[0], &own)
    };
    lines(host, "/etc/group").iter().filter(|row| row.len() >= 3).map(row).collect()
}

fn hosts(host: &dyn Look) -> Vec<Found> {
    let bytes = host.read(Path::new("/etc/hosts")).unwrap_or_default();
    let mut found: Vec<Found> = Vec::new();
    for line in String::from_utf8_lossy(&bytes).lines() {
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        let (Some(ip), Some(name)) = (words.next(), words.next()) else { continue };
        let aliases: Vec<Value> = words.map(Value::from).collect();
        if !found.iter().any(|known| known.title == name) {
            let aliases = if aliases.is_empty() { Value::Undef } else { Value::array(aliases) };
            found.push(Found::new(
                name,
                &[
                    ("ensure", "present".into()),
                    ("host_aliases", aliases),
                    ("ip", ip.into()),
                    ("provider", "parsed".into()),
                    ("target", "/etc/hosts".into()),
                ],
            ));
        }
    }
    found
}

fn packages(host: &dyn Look) -> Result<Vec<Found>, String> {
    let form = "-f=${Package} ${Version} ${db:Status-Status} ${db:Status-Want}\n";
    let spec = fx_host::Spec::argv(["dpkg-query", "-W", form].map(str::to_owned));
    let ended = host.query(&spec).map_err(|error| error.to_string())?;
    let rows = String::from_utf8_lossy(&ended.stdout).into_owned();
    let row = |line: &str| {
        let mut words = line.split_whitespace();
        let (name, version, state) = (words.next()?, words.next()?, words.next()?);
        let mark = if words.next() == Some("hold") { "hold" } else { "none" };
        let own =
            [("ensure", Value::from(version)), ("mark", mark.into()), ("provider", "apt".into())];
        (state == "installed").then(|| Found::new(name, &own))
    };
    Ok(rows.lines().filter_map(row).collect())
}

fn file(host: &dyn Look, path: &str) -> Found {
    let Ok(meta) = host.lstat(Path::new(path)) else {
        return Found::new(path, &[("ensure", "absent".into()), ("provider", "posix".into())]);
    };
    let kind = match meta.kind {
        Kind::Directory => "directory",
        Kind::Symlink => "link",
        _ => "file",
    };
    let time = |time: fx_host::Time| {
        let at = crate::local_time(host, time.secs);
        Value::from(at.strftime("%Y-%m-%d %H:%M:%S %z").to_string())
    };
    let content = (meta.kind == Kind::File)
        .then(|| host.read(Path::new(path)).ok())
        .flatten()
        .map_or(Value::Undef, |bytes| {
            use sha2::Digest;
            let digest = sha2::Sha256::digest(&bytes);
            let hex = fx_formats::hex(digest);
            Value::from(format!("{{sha256}}{hex}"))
        });
    let target = match meta.kind {
        Kind::Symlink => host
            .read_link(Path::new(path))
            .map_or(Value::Undef, |to| Value::from(to.to_string_lossy().into_owned())),
        _ => Value::Undef,
    };
    Found::new(
        path,
        &[
            ("ensure", kind.into()),
            ("content", content),
            ("ctime", time(meta.ctime)),
            ("group", Value::Int(i64::from(meta.gid))),
            ("mode", Value::from(format!("{:04o}", meta.mode & 0o7777))),
            ("mtime", time(meta.mtime)),
            ("owner", Value::Int(i64::from(meta.uid))),
            ("provider", "posix".into()),
            ("target", target),
            ("type", kind.into()),
        ],
    )
}

fn service(host: &dyn Look, name: &str) -> Found {
    let asked = |word: &str| {
        let spec = fx_host::Spec::argv(["systemctl", word, "--", name].map(str::to_owned));
        host.query(&spec).is_ok_and(|ended| ended.exit.success())
    };
    let state = if asked("is-active") { "running" } else { "stopped" };
    let enabled = if asked("is-enabled") { "true" } else { "false" };
    let own =
        [("ensure", state.into()), ("enable", enabled.into()), ("provider", "systemd".into())];
    Found::new(name, &own)
}

/// What there is of a type, or the one of a name; that there is none is found, too.
pub fn inspect(
    machine: &Machine,
    request: &CatalogRequest,
    kind: &str,
    name: Option<&str>,
) -> Result<Vec<Found>, String> {
    let host = machine.run.look();
    let (mut all, provider) = match (kind, name) {
        ("file", None) => {
            return Err("Could not run: Listing all file instances is not supported.  Please specify a file or directory, e.g. puppet resource file /etc".into());
        }
        ("file", Some(name)) if !name.starts_with('/') => {
            return Err(format!(
                "Could not run: Parameter path failed on File[{name}]: File paths must be fully qualified, not '{name}'"
            ));
        }
        ("file", Some(name)) => return Ok(vec![file(host, name)]),
        ("service", Some(name)) => return Ok(vec![service(host, name)]),
        // A command has never run, and a message has never been reported.
        ("exec", Some(name)) => {
            let own = [("provider", "posix".into()), ("returns", "notrun".into())];
            return Ok(vec![Found::new(name, &own)]);
        }
        ("exec", None) => {
            return Ok(vec![Found {
                title: String::new(),
                attributes: Vec::new(),
                text: Some("\n".into()),
            }]);
        }
        ("notify" | "schedule" | "stage" | "whit" | "tidy", Some(name)) => {
            return Ok(vec![Found::new(name, &[])]);
        }
        ("user", _) => (users(host), "useradd"),
        ("group", _) => (groups(host), "groupadd"),
        ("host", _) => (hosts(host), "parsed"),
        ("package", _) => (packages(host)?, "apt"),
        _ => {
            let evaluator = crate::tools::evaluator(machine, request, "localhost", Vec::new());
            if evaluator.ruby_is_placeless(kind) {
                let found = evaluator.ruby_manifests(kind, name).map_err(Flow::text)?;
                let found = found.into_iter().map(|(title, text)| Found {
                    title,
                    attributes: Vec::new(),
                    text: Some(text),
                });
                return Ok(found.collect());
            }
            let found = evaluator.ruby_inspect(kind).map_err(Flow::text)?;
            let Some(found) = found else {
                return Err(if crate::compile::built_in(kind).is_some() {
                    match kind {
                        // Types of which nothing can be found on a machine.
                        "schedule" => return Ok(Vec::new()),
                        "notify" | "exec" | "stage" | "whit" | "tidy" | "resources"
                        | "filebucket" => format!(
                            "Could not run: {kind} has no providers and has not overridden 'instances'"
                        ),
                        _ => format!("'puppet resource' of the type '{kind}' is not supported"),
                    }
                } else {
                    format!("Could not run: Could not find type {kind}")
                });
            };
            let found = found
                .into_iter()
                .map(|(title, attributes)| Found { title, attributes, text: None })
                .collect();
            (found, "")
        }
    };
    all.sort_by(|a, b| a.title.cmp(&b.title));
    if let Some(name) = name {
        all.retain(|found| found.title == name);
        if all.is_empty() {
            let provider = if provider.is_empty() { Value::Undef } else { provider.into() };
            let state = if kind == "package" { "purged" } else { "absent" };
            all.push(Found::new(name, &[("ensure", state.into()), ("provider", provider)]));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use fx_engine::Cancel;
    use fx_host::MemoryHost;

    use super::*;

    #[test]
    fn what_is_there_is_shown_as_code() {
        let host = Rc::new(MemoryHost::new());
        host.put("/etc/group", "adm:x:4:bob\nbob:x:1000:\n");
        host.put("/etc/passwd", "bob:x:1000:1000:Bob:/home/bob:/bin/sh\n");
        let machine = Machine::new(host, Cancel::default());
        let request = CatalogRequest::default();
        let told = |kind: &str, name: Option<&str>| {
            let found = inspect(&machine, &request, kind, name).unwrap();
            found.iter().map(|found| found.code(kind)).collect::<String>()
        };
        assert_eq!(
            told("user", Some("bob")),
            "user { 'bob':\n  ensure   => 'present',\n  comment  => 'Bob',\n  gid      => 1000,\n  groups   => ['adm'],\n  home     => '/home/bob',\n  provider => 'useradd',\n  shell    => '/bin/sh',\n  uid      => 1000,\n}\n"
        );
        assert_eq!(
            told("group", Some("none")),
            "group { 'none':\n  ensure   => 'absent',\n  provider => 'groupadd',\n}\n"
        );
        assert!(inspect(&machine, &request, "file", None).is_err());
        assert!(inspect(&machine, &request, "nosuch", None).is_err());
    }
}
