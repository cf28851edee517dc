//! All that server policy allows, in one value.

use std::collections::BTreeMap;

use crate::access::{Access, Peer};
use crate::address::matches_address;

/// Settings of `body server control`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Control {
    pub port: u16,
    pub bind: Option<String>,
    pub allow_connects: Vec<String>,
    pub deny_connects: Vec<String>,
    pub allow_all_connects: Vec<String>,
    pub trust_keys_from: Vec<String>,
    pub allow_legacy: Vec<String>,
    pub allow_users: Vec<String>,
    pub run_command: Option<String>,
    pub most_connections: usize,
    pub deny_bad_clocks: bool,
    pub ciphers: Option<String>,
    pub least_tls: Option<String>,
}

impl Default for Control {
    fn default() -> Control {
        Control {
            port: 5308,
            bind: None,
            allow_connects: Vec::new(),
            deny_connects: Vec::new(),
            allow_all_connects: Vec::new(),
            trust_keys_from: Vec::new(),
            allow_legacy: Vec::new(),
            allow_users: Vec::new(),
            run_command: None,
            most_connections: 30,
            deny_bad_clocks: true,
            ciphers: None,
            least_tls: None,
        }
    }
}

fn listed(list: &[String], address: &str) -> bool {
    list.iter().any(|known| matches_address(known, address))
}

/// Why a connection is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    NotAllowed,
    Denied,
    /// The address has one already.
    Second,
}

impl Control {
    /// Whether an address may connect, given how many connections it has.
    pub fn admits(&self, address: &str, open: usize) -> Result<(), Refusal> {
        if !self.allow_connects.is_empty() && !listed(&self.allow_connects, address) {
            return Err(Refusal::NotAllowed);
        }
        if listed(&self.deny_connects, address) {
            return Err(Refusal::Denied);
        }
        if open > 0 && !listed(&self.allow_all_connects, address) {
            return Err(Refusal::Second);
        }
        Ok(())
    }

    pub fn trusts_from(&self, address: &str) -> bool {
        listed(&self.trust_keys_from, address)
    }

    pub fn allows_legacy(&self, address: &str) -> bool {
        listed(&self.allow_legacy, address)
    }
}

/// What a remote run wants besides the command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunWish {
    pub classes: Vec<String>,
    pub bundles: Vec<String>,
}

impl RunWish {
    /// Reads `-Dc1,c2 -b b1,b2`; what is none of these otherwise.
    pub fn parse(arguments: &str) -> Result<RunWish, String> {
        let mut wish = RunWish::default();
        let mut rest = arguments.trim_start();
        while !rest.is_empty() {
            let into = match rest.get(..2) {
                Some("-D") => &mut wish.classes,
                Some("-b") => &mut wish.bundles,
                _ => return Err(rest.to_owned()),
            };
            let after = rest[2..].trim_start_matches([' ', '\t']);
            let end = after.find([' ', '\t']).unwrap_or(after.len());
            into.extend(after[..end].split(',').filter(|item| !item.is_empty()).map(str::to_owned));
            rest = after[end..].trim_start();
        }
        Ok(wish)
    }

    /// What is appended to the command.
    pub fn arguments(&self) -> String {
        let part = |flag: &str, items: &[String]| match items {
            [] => String::new(),
            items => format!(" {flag} {}", items.join(",")),
        };
        part("-D", &self.classes) + &part("--bundlesequence", &self.bundles)
    }
}

fn is_word(item: &str) -> bool {
    item.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':'))
}

/// Settings and access of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    pub control: Control,
    pub paths: Access,
    pub literals: Access,
    pub contexts: Access,
    pub queries: Access,
    pub bundles: Access,
    pub roles: Access,
    /// Names that stand for paths; the first promise counts.
    pub shortcuts: BTreeMap<String, String>,
    /// Classes that hold on the server, for runs that want one.
    pub classes: Vec<String>,
}

impl Rules {
    /// Whether the name of a peer matters to anything.
    pub fn needs_names(&self) -> bool {
        [&self.paths, &self.literals, &self.contexts, &self.queries, &self.bundles]
            .iter()
            .any(|access| access.needs_names())
    }

    /// A request's path with its shortcut replaced; as it is where it is from the root. Nothing
    /// where the first part is no shortcut.
    pub fn expand(&self, path: &str, peer: &Peer) -> Option<String> {
        if path.starts_with('/') {
            return Some(path.to_owned());
        }
        let (name, rest) = match path.find('/') {
            Some(at) => path.split_at(at),
            None => (path, ""),
        };
        let target = self.shortcuts.get(name)?;
        Some(peer.expand(target) + rest)
    }

    pub fn allows_user(&self, user: &str) -> bool {
        self.control.allow_users.iter().any(|known| known == user)
    }

    /// Whether all classes of a run are roles of the user.
    pub fn allows_classes(&self, classes: &[String], peer: &Peer) -> bool {
        classes.iter().all(|class| is_word(class) && self.roles.allows_role(class, &peer.user))
    }

    /// Whether the peer may have all bundles of a run.
    pub fn allows_bundles(&self, bundles: &[String], peer: &Peer) -> bool {
        bundles.iter().all(|name| is_word(name) && self.bundles.allows_match(name, peer))
    }

    /// Whether one of the wanted classes holds here; each text may have several in it.
    pub fn defines_any(&self, wanted: &[String]) -> bool {
        let words = || wanted.iter().flat_map(|text| text.split_whitespace());
        wanted.is_empty()
            || words().any(|word| {
                self.classes.iter().any(|class| fx_cfengine::regex::full_or_same(word, class))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control() -> Control {
        Control {
            allow_connects: vec!["10.0.0".into()],
            deny_connects: vec!["10.0.0.9".into()],
            allow_all_connects: vec!["10.0.0.1".into()],
            ..Control::default()
        }
    }

    #[test]
    fn connections_are_taken_as_policy_says() {
        let table = [
            ("10.0.0.1", 5, Ok(())),
            ("10.0.0.2", 0, Ok(())),
            ("10.0.0.2", 1, Err(Refusal::Second)),
            ("10.0.0.9", 0, Err(Refusal::Denied)),
            ("11.0.0.1", 0, Err(Refusal::NotAllowed)),
        ];
        for (address, open, expected) in table {
            assert_eq!(control().admits(address, open), expected, "{address}");
        }
        assert_eq!(Control::default().admits("1.2.3.4", 0), Ok(()));
    }

    #[test]
    fn arguments_of_runs_are_read() {
        let wish = RunWish::parse("-Da,b -b c -D d").unwrap();
        assert_eq!(wish.classes, ["a", "b", "d"]);
        assert_eq!(wish.arguments(), " -D a,b,d --bundlesequence c");
        assert_eq!(RunWish::parse("-x y"), Err("-x y".into()));
        assert_eq!(RunWish::parse("").unwrap().arguments(), "");
        assert!(!is_word("a;b") && !is_word("a b") && is_word("ns:b_1"));
    }

    #[test]
    fn shortcuts_stand_for_paths() {
        let mut rules = Rules::default();
        rules.shortcuts.insert("dat".into(), "/srv/$(connection.ip)".into());
        let peer = Peer { address: "1.2.3.4".into(), ..Peer::default() };
        assert_eq!(rules.expand("dat/a", &peer).as_deref(), Some("/srv/1.2.3.4/a"));
        assert_eq!(rules.expand("dat", &peer).as_deref(), Some("/srv/1.2.3.4"));
        assert_eq!(rules.expand("/x", &peer).as_deref(), Some("/x"));
        assert_eq!(rules.expand("nope/x", &peer), None);
        assert_eq!(rules.expand("../x", &peer), None);
    }
}
