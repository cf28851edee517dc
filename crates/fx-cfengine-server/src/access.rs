//! Who gets what: entries by name, and for paths the longest one that covers a request.

use std::collections::BTreeMap;

use fx_cfengine::regex;

use crate::address::matches_address;

/// Variables of policy that stand for the peer of a connection.
const ADDRESS: &str = "$(connection.ip)";
const NAME: &str = "$(connection.hostname)";
const KEY: &str = "$(connection.key)";

/// Whom a request comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peer {
    pub address: String,
    /// His name by reverse lookup, where policy needs it.
    pub name: Option<String>,
    /// The digest of his key.
    pub key: String,
    /// As whom he comes; it proves nothing.
    pub user: String,
}

impl Peer {
    /// The peer as policy writes him with variables.
    fn as_variables(&self) -> Peer {
        Peer {
            address: ADDRESS.to_owned(),
            name: Some(NAME.to_owned()),
            key: KEY.to_owned(),
            user: self.user.clone(),
        }
    }

    /// A text with what the peer is in the place of variables.
    pub fn expand(&self, text: &str) -> String {
        let text = text.replace(ADDRESS, &self.address).replace(KEY, &self.key);
        match &self.name {
            Some(name) => text.replace(NAME, name),
            None => text,
        }
    }

    /// A path with variables in the place of what the peer is, if it holds any of that.
    fn abstracted(&self, path: &str) -> Option<String> {
        let mut text = path.to_owned();
        let parts =
            [(Some(&self.address), ADDRESS), (self.name.as_ref(), NAME), (Some(&self.key), KEY)];
        for (value, variable) in parts {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                text = text.replace(value.as_str(), variable);
            }
        }
        (text != path).then_some(text)
    }
}

/// Addresses, names and keys of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Who {
    pub addresses: Vec<String>,
    pub names: Vec<String>,
    pub keys: Vec<String>,
}

impl Who {
    fn includes(&self, peer: &Peer) -> bool {
        self.addresses.iter().any(|known| matches_address(known, &peer.address))
            || self.keys.contains(&peer.key)
            || peer
                .name
                .as_ref()
                .is_some_and(|name| self.names.iter().any(|known| matches_name(known, name)))
    }

    /// The old lists, in which anything may stand.
    pub fn add_mixed(&mut self, entry: &str) {
        if entry.starts_with("SHA=") || entry.starts_with("MD5=") {
            self.keys.push(entry.to_owned());
        } else if entry == NAME {
            self.names.push(entry.to_owned());
        } else if entry == ADDRESS || entry.bytes().all(is_of_address) {
            self.addresses.push(entry.to_owned());
        } else if let Some(domain) = entry.strip_prefix(".*\\.") {
            self.names.push(format!(".{domain}"));
        } else if let Some(domain) = entry.strip_prefix(".*") {
            self.names.push(format!(".{domain}"));
        } else if !entry.contains(['*', '+', '(', '[', '\\', '^', '$']) {
            self.names.push(entry.to_owned());
        }
    }

    fn extend(&mut self, other: &Who) {
        self.addresses.extend_from_slice(&other.addresses);
        self.names.extend_from_slice(&other.names);
        self.keys.extend_from_slice(&other.keys);
    }
}

fn is_of_address(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f') || b".:/[-]*()\\".contains(&byte)
}

fn matches_name(known: &str, name: &str) -> bool {
    if known == name {
        return true;
    }
    if known.starts_with('.') && known != ".*" {
        return name.ends_with(known);
    }
    regex::full(known, name)
}

/// Who may have one thing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    pub admit: Who,
    pub deny: Who,
    /// Users of a role.
    pub users: Vec<String>,
    /// Only over encrypted requests of the old form.
    pub only_encrypted: bool,
}

impl Entry {
    /// Who is denied is denied, whoever admits him.
    fn admits(&self, peer: &Peer) -> bool {
        self.admit.includes(peer) && !self.deny.includes(peer)
    }
}

/// Entries of one kind of thing, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    entries: BTreeMap<String, Entry>,
    /// Names in the order of policy.
    order: Vec<String>,
}

impl Access {
    /// Adds to what an entry allows: promises about the same thing add up.
    pub fn add(&mut self, name: &str, entry: &Entry) {
        if !self.entries.contains_key(name) {
            self.order.push(name.to_owned());
        }
        let known = self.entries.entry(name.to_owned()).or_default();
        known.admit.extend(&entry.admit);
        known.deny.extend(&entry.deny);
        known.users.extend_from_slice(&entry.users);
        known.only_encrypted |= entry.only_encrypted;
    }

    /// Names and what they allow, in the order of policy.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.order.iter().filter_map(|name| Some((name.as_str(), self.entries.get(name)?)))
    }

    /// Whether somebody is known by name.
    pub fn needs_names(&self) -> bool {
        self.entries
            .values()
            .any(|entry| !(entry.admit.names.is_empty() && entry.deny.names.is_empty()))
    }

    /// Whether a peer may have a resolved path; a directory ends in a slash. The longest entry
    /// that covers it decides alone.
    pub fn allows_path(&self, path: &str, peer: &Peer) -> bool {
        let direct = self.longest(path).is_some_and(|entry| entry.admits(peer));
        direct
            || peer.abstracted(path).is_some_and(|path| {
                self.longest(&path).is_some_and(|entry| entry.admits(&peer.as_variables()))
            })
    }

    fn longest(&self, path: &str) -> Option<&Entry> {
        if let Some(entry) = self.entries.get(path) {
            return Some(entry);
        }
        let mut rest = path.trim_end_matches('/');
        while let Some(at) = rest.rfind('/') {
            if let Some(entry) = self.entries.get(&rest[..=at]) {
                return Some(entry);
            }
            rest = &rest[..at];
        }
        None
    }

    /// The same by the rules of the old form: the first entry of policy that covers the path,
    /// without keys, and a denial of any that covers it.
    pub fn allows_path_classic(&self, path: &str, peer: &Peer, encrypted: bool) -> bool {
        let keyless = Peer { key: String::new(), ..peer.clone() };
        let covering = |peer: &Peer, path: &str| {
            let mut covering = self.iter().filter(|(name, _)| covers(name, path)).peekable();
            let first = covering.peek().is_some_and(|(_, entry)| {
                entry.admit.includes(peer) && (encrypted || !entry.only_encrypted)
            });
            first && !covering.any(|(_, entry)| entry.deny.includes(peer))
        };
        covering(&keyless, path)
            || keyless.abstracted(path).is_some_and(|path| covering(&keyless.as_variables(), &path))
    }

    /// Whether a peer may have the thing of exactly this name.
    pub fn allows_name(&self, name: &str, peer: &Peer) -> bool {
        self.entries.get(name).is_some_and(|entry| entry.admits(peer))
    }

    /// Whether a peer may have a thing whose name matches patterns of policy. Each one that
    /// matches counts, and one denial is final.
    pub fn allows_match(&self, name: &str, peer: &Peer) -> bool {
        let mut admitted = false;
        for (pattern, entry) in self.iter().filter(|(pattern, _)| regex::full(pattern, name)) {
            let _ = pattern;
            if entry.deny.includes(peer) {
                return false;
            }
            admitted |= entry.admit.includes(peer);
        }
        admitted
    }

    /// Whether a user may define a class: a role of his matches it.
    pub fn allows_role(&self, class: &str, user: &str) -> bool {
        let matching = self.iter().filter(|(pattern, _)| regex::full(pattern, class));
        let mut users = matching.flat_map(|(_, entry)| &entry.users);
        users.any(|known| known == user)
    }
}

fn covers(name: &str, path: &str) -> bool {
    name == path
        || name.strip_suffix('/') == path.strip_suffix('/').or(Some(path))
        || name.ends_with('/') && path.starts_with(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(address: &str) -> Peer {
        Peer { address: address.into(), key: "MD5=1".into(), ..Peer::default() }
    }

    fn admit(address: &str) -> Entry {
        let admit = Who { addresses: vec![address.into()], ..Who::default() };
        Entry { admit, ..Entry::default() }
    }

    fn deny(address: &str) -> Entry {
        let deny = Who { addresses: vec![address.into()], ..Who::default() };
        Entry { deny, ..Entry::default() }
    }

    #[test]
    fn the_longest_path_decides_alone() {
        let mut access = Access::default();
        access.add("/d/", &admit("1.1.1.1"));
        access.add("/d/sub/", &admit("2.2.2.2"));
        access.add("/d/sub/deep/", &admit("1.1.1.1"));
        access.add("/d/file", &deny("1.1.1.1"));
        let table = [
            ("/d/", true),
            ("/d/x", true),
            ("/d/sub/", false),
            ("/d/sub/x", false),
            ("/d/sub/deep/", true),
            ("/d/sub/deep/er/x", true),
            ("/d/file", false),
            ("/d/filex", true),
            ("/dx", false),
            ("/", false),
            ("/d", false),
        ];
        for (path, expected) in table {
            assert_eq!(access.allows_path(path, &peer("1.1.1.1")), expected, "{path}");
        }
    }

    #[test]
    fn a_denial_counts_wherever_it_stands() {
        let mut access = Access::default();
        access.add("/d/", &deny("1.1.1.1"));
        access.add("/d/", &admit("1.1.1.1"));
        access.add("/d/", &admit("2.2.2.2"));
        assert!(!access.allows_path("/d/x", &peer("1.1.1.1")));
        assert!(access.allows_path("/d/x", &peer("2.2.2.2")));
    }

    #[test]
    fn variables_of_a_connection_stand_for_the_peer() {
        let mut access = Access::default();
        access.add("/d/$(connection.ip)/", &admit("$(connection.ip)"));
        access.add("/d/$(connection.ip)/secret", &deny("$(connection.ip)"));
        access.add("/e/$(connection.ip)/", &admit("1.1.1.1"));
        assert!(access.allows_path("/d/1.1.1.1/x", &peer("1.1.1.1")));
        assert!(!access.allows_path("/d/1.1.1.1/secret", &peer("1.1.1.1")));
        assert!(!access.allows_path("/d/1.1.1.1/x", &peer("2.2.2.2")));
        assert!(!access.allows_path("/e/1.1.1.1/x", &peer("1.1.1.1")), "the list has no variable");
        assert!(!access.allows_path("/d/$(connection.ip)/x", &peer("1.1.1.1")));
    }

    #[test]
    fn patterns_and_roles_match_whole_names() {
        let mut access = Access::default();
        access.add("role.*", &Entry { users: vec!["root".into()], ..Entry::default() });
        assert!(access.allows_role("role1", "root"));
        assert!(!access.allows_role("xrole1", "root"));
        assert!(!access.allows_role("role1", "bob"));
        let mut bundles = Access::default();
        bundles.add("bun.*", &admit("1.1.1.1"));
        bundles.add("bundle2", &deny("1.1.1.1"));
        assert!(bundles.allows_match("bundle1", &peer("1.1.1.1")));
        assert!(!bundles.allows_match("bundle2", &peer("1.1.1.1")));
    }

    #[test]
    fn mixed_lists_are_sorted() {
        let mut who = Who::default();
        for entry in ["127.0.0.1", "::1", ".*", "MD5=ab", "host.example", ".*\\.dom", "[a-z]+x"] {
            who.add_mixed(entry);
        }
        assert_eq!(who.addresses, ["127.0.0.1", "::1", ".*"]);
        assert_eq!(who.names, ["host.example", ".dom"]);
        assert_eq!(who.keys, ["MD5=ab"]);
    }
}
