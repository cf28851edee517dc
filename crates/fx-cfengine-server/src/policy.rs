//! From evaluated server policy to rules.

use fx_cfengine::eval::Control as Settings;
use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::server::ServerPolicy;

use crate::access::{Entry, Who};
use crate::rules::{Control, Rules};

const BODY: &str = "server";

fn control(settings: &Settings) -> Control {
    let list = |name: &str| settings.list(BODY, name).iter().map(ToString::to_string).collect();
    let text = |name: &str| settings.text(BODY, name).map(ToString::to_string);
    let number = |name: &str| settings.number(BODY, name);
    let default = Control::default();
    Control {
        port: number("port").and_then(|port| u16::try_from(port).ok()).unwrap_or(default.port),
        bind: text("bindtointerface"),
        allow_connects: list("allowconnects"),
        deny_connects: list("denyconnects"),
        allow_all_connects: list("allowallconnects"),
        trust_keys_from: list("trustkeysfrom"),
        allow_legacy: list("allowlegacyconnects"),
        allow_users: list("allowusers"),
        run_command: text("cfruncommand").filter(|command| !command.is_empty()),
        most_connections: number("maxconnections")
            .and_then(|most| usize::try_from(most).ok())
            .unwrap_or(default.most_connections),
        deny_bad_clocks: settings.truth(BODY, "denybadclocks").unwrap_or(default.deny_bad_clocks),
        ciphers: text("allowciphers"),
        least_tls: text("allowtlsversion"),
    }
}

fn who(promise: &Expanded, kind: &str) -> Who {
    let list = |name: &str| -> Vec<String> {
        let items = promise.list(&format!("{kind}{name}")).unwrap_or_default();
        items.iter().map(ToString::to_string).collect()
    };
    let mut who = Who { addresses: list("_ips"), names: list("_hostnames"), keys: list("_keys") };
    list("").iter().for_each(|entry| who.add_mixed(entry));
    who
}

fn entry(promise: &Expanded) -> Entry {
    Entry {
        admit: who(promise, "admit"),
        deny: who(promise, "deny"),
        users: promise
            .list("authorize")
            .unwrap_or_default()
            .iter()
            .map(ToString::to_string)
            .collect(),
        only_encrypted: promise.bool("ifencrypted").unwrap_or(false),
    }
}

/// Makes rules of policy. `canonical` gives a path with its links resolved and whether it is a
/// directory; nothing where it does not exist. `say` gets what is wrong with promises.
pub fn from_policy(
    policy: &ServerPolicy,
    settings: &Settings,
    canonical: &dyn Fn(&str) -> Option<(String, bool)>,
    say: &mut dyn FnMut(&str),
) -> Rules {
    let mut rules = Rules { control: control(settings), ..Rules::default() };
    for promise in &policy.roles {
        rules.roles.add(&promise.promiser, &entry(promise));
    }
    for promise in &policy.access {
        let (name, entry) = (&*promise.promiser, entry(promise));
        match promise.scalar("resource_type").map_or("path", |kind| &**kind) {
            "literal" | "variable" => {
                let handle = promise.scalar("handle").map_or(name, |handle| &**handle);
                rules.literals.add(handle, &entry);
            }
            "context" => rules.contexts.add(name, &entry),
            "query" => rules.queries.add(name, &entry),
            "bundle" => rules.bundles.add(name, &entry),
            _ => {
                let Some(path) = path(name, canonical) else {
                    say(&format!(
                        "PATH access promises must be absolute, ignoring promise: '{name}'"
                    ));
                    continue;
                };
                rules.paths.add(&path, &entry);
                if let Some(shortcut) = promise.scalar("shortcut") {
                    if shortcut.contains('/') {
                        say(&format!("slashes are forbidden in ACL shortcut: {shortcut}"));
                        continue;
                    }
                    let target = path.trim_end_matches('/').to_owned();
                    let target = if target.is_empty() { "/".to_owned() } else { target };
                    rules.shortcuts.entry(shortcut.to_string()).or_insert(target);
                }
            }
        }
    }
    rules
}

// A path as requests are compared with it: directories end in a slash.
fn path(name: &str, canonical: &dyn Fn(&str) -> Option<(String, bool)>) -> Option<String> {
    if !name.starts_with('/') {
        return None;
    }
    match canonical(name) {
        Some((real, true)) if real.ends_with('/') => Some(real),
        Some((real, true)) => Some(real + "/"),
        Some((real, false)) => Some(real),
        // What is not there yet is taken as it is written.
        None => {
            Some(name.strip_suffix("/.").map_or_else(|| name.to_owned(), |dir| format!("{dir}/")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_compared_as_they_resolve() {
        let canonical = |name: &str| match name {
            "/link" => Some(("/real".to_owned(), true)),
            "/file" => Some(("/file".to_owned(), false)),
            "/" => Some(("/".to_owned(), true)),
            _ => None,
        };
        let table = [
            ("/link", Some("/real/")),
            ("/file", Some("/file")),
            ("/", Some("/")),
            ("/missing", Some("/missing")),
            ("/missing/", Some("/missing/")),
            ("/missing/.", Some("/missing/")),
            ("relative", None),
        ];
        for (name, expected) in table {
            assert_eq!(path(name, &canonical).as_deref(), expected, "{name}");
        }
    }
}
